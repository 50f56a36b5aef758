//! Bodies are MessagePack: an independent reader takes every accepted body whole.

use support::vectors::accept;

/// V12: nodes and leaves are arrays and exts to any MessagePack tool.
#[test]
fn rmpv_reads_every_accepted_body() {
    let mut read = 0;
    for vector in accept().into_iter().filter(|vector| vector.for_decode()) {
        let frame = &vector.frame;
        let body_len = u64::from_be_bytes(frame[16..24].try_into().unwrap());
        let body = &frame[32..32 + usize::try_from(body_len).unwrap()];
        let mut rest = body;
        rmpv::decode::read_value_ref(&mut rest).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        assert!(rest.is_empty(), "{}: {} bytes left", vector.name, rest.len());
        read += 1;
    }
    assert!(read > 100, "the accept vectors were not found");
}
