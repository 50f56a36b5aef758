//! What hostile frames cost: peak memory is counted, and stays within the promise of `proto/limits.md`.
use hookless::frame::Decoder;
use hookless::{ByteOrder, Code, Dtype, Field, Letter, Limits, StructureFlags, Text, decode};
use support::allocator::{Counting, peak};
use support::vectors::{reject, wrap};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: i64 = 1 << 20;

fn promised(frame: &[u8], limits: &Limits) -> i64 {
    (80 * frame.len() as i64).min(limits.memory as i64) + 8 * MIB
}

fn repeated(piece: &[u8], times: usize, tail: &[u8]) -> Vec<u8> {
    let mut body = piece.repeat(times);
    body.extend_from_slice(tail);
    wrap(&body, &[])
}

/// A large array or map head, and so many elements behind it.
fn container(head: u8, announced: u32, element: &[u8], count: usize) -> Vec<u8> {
    let mut body = vec![head];
    body.extend(announced.to_be_bytes());
    body.extend(element.repeat(count));
    wrap(&body, &[])
}

/// A node of kind 18 or 19: what comes before its shape, and so many items.
fn flat(kind: u8, before: &[u8], count: u32, item: &[u8]) -> Vec<u8> {
    let mut body = vec![0xdd];
    body.extend((count + 2 + before.len() as u32).to_be_bytes());
    body.extend([0xd4, 1, kind]);
    body.extend(before);
    body.extend([0x91, 0xce]);
    body.extend(count.to_be_bytes());
    body.extend(item.repeat(count as usize));
    wrap(&body, &[])
}

/// Fields over each other are looked at at most sixteen times as often as bytes arrive (A14).
#[test]
fn a14_fields_over_each_other_are_bounded() {
    let field = |name: u32| {
        let text = Text::Str(format!("f{name}"));
        let dtype = Dtype::new(Letter::Bool, ByteOrder::None, 1, None).unwrap();
        Field { name: text, title: None, offset: 0, shape: vec![1000], dtype }
    };
    let structure = |count| {
        let fields = (0..count).map(field).collect();
        Dtype::structure(1000, StructureFlags::default(), fields)
    };
    assert!(structure(16).is_ok());
    assert_eq!(structure(17).unwrap_err().code(), Code::BadDtype);
    // Nested ones are counted with what they hold.
    let twice = |inner: Dtype| {
        let fields = [0, 1].map(|name| Field { shape: vec![], dtype: inner.clone(), ..field(name) });
        Dtype::structure(1000, StructureFlags::default(), fields.into())
    };
    assert!(twice(structure(8).unwrap()).is_ok());
    assert_eq!(twice(structure(9).unwrap()).unwrap_err().code(), Code::BadDtype);
}

fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let keys: Vec<u8> = (0u32..300_000)
        .flat_map(|n| [vec![0xce], (n + 0x1_0000).to_be_bytes().to_vec(), vec![0xc0]].concat())
        .collect();
    let mut distinct = vec![0xdf];
    distinct.extend(300_000u32.to_be_bytes());
    distinct.extend(keys);
    let record = [0x93, 0xd4, 1, 20, 0xa1, b'm', 0xa1, b'Q'];
    let field = [0x95, 0xd4, 1, 21, 0xa1, b'm', 0xa1, b'Q', 0xa1, b'x', 0xc0];
    let member = [0x95, 0xd4, 1, 22, 0xa1, b'm', 0xa1, b'Q', 0xc0, 0xc0];
    // 70 000 names of three letters.
    let letter = |n: u32| b'0' + (n % 42) as u8;
    let names: Vec<u8> =
        (0u32..70_000).flat_map(|n| [0xa3, letter(n), letter(n / 42), letter(n / 1764), 0xc0]).collect();
    let mut wide = vec![0xdd];
    wide.extend(140_003u32.to_be_bytes());
    wide.extend([0xd4, 1, 20, 0xa1, b'm', 0xa1, b'Q']);
    wide.extend(names);
    vec![
        ("empty records", container(0xdd, 300_000, &record, 300_000)),
        ("records of one field", container(0xdd, 300_000, &field, 300_000)),
        ("enum members", container(0xdd, 300_000, &member, 300_000)),
        (
            "nested records",
            repeated(&[0x95, 0xd4, 1, 20, 0xa1, b'm', 0xa1, b'Q', 0xa1, b'x'], 100_000, &[0xc0]),
        ),
        ("a record of many fields", wrap(&wide, &[])),
        ("nested arrays", repeated(&[0x91], 1_000_000, &[0xc0])),
        ("nested maps", repeated(&[0x81, 0xa1, 0x61], 500_000, &[0xc0])),
        ("nested tuples", repeated(&[0x92, 0xd4, 1, 1], 500_000, &[0xc0])),
        ("nested exts", repeated(&[0xc7, 0xff, 5], 100_000, &[])),
        ("heads that each pass", repeated(&[0xdc, 0xff, 0xff], 24_000, &[])),
        ("map heads that each pass", repeated(&[0xde, 0xff, 0xff], 24_000, &[])),
        ("a length with nothing behind", container(0xdd, u32::MAX, &[], 0)),
        ("a map with nothing behind", container(0xdf, u32::MAX, &[], 0)),
        ("a string with nothing behind", container(0xdb, u32::MAX, &[], 0)),
        ("a million empty maps", container(0xdd, 1_000_000, &[0x80], 1_000_000)),
        ("a million empty lists", container(0xdd, 1_000_000, &[0x90], 1_000_000)),
        ("a million nils", container(0xdd, 1_000_000, &[0xc0], 1_000_000)),
        ("a million one-pair maps", container(0xdd, 1_000_000, &[0x81, 1, 0xc0], 1_000_000)),
        ("half a million empty sets", container(0xdd, 500_000, &[0x91, 0xd4, 1, 2], 500_000)),
        ("a million one-letter strings", container(0xdd, 1_000_000, &[0xa1, 0x61], 1_000_000)),
        ("a million numpy bools", container(0xdd, 1_000_000, &[0xd4, 32, 1], 1_000_000)),
        ("many small dicts with odd keys", container(0xdd, 300_000, &[0x81, 0xd4, 33, 1, 0xc0], 300_000)),
        ("a dict of distinct keys", wrap(&distinct, &[])),
        ("a million objects", flat(18, &[0], 1_000_000, &[0xc0])),
        ("a million short texts", flat(19, &[0xc2, 0xc3, 0], 1_000_000, &[0xa1, 0x61])),
        ("a million empty texts", flat(19, &[0xc2, 0xc3, 0], 1_000_000, &[0xa0])),
        ("a million missing texts", flat(19, &[0xc0, 0xc3, 0], 1_000_000, &[0xc0])),
        ("objects with nothing behind", flat(18, &[0], 0, &[])),
        ("many arrays without objects", container(0xdd, 200_000, &[0x93, 0xd4, 1, 18, 0, 0x91, 0], 200_000)),
        ("nested arrays of objects", repeated(&[0x94, 0xd4, 1, 18, 0, 0x91, 1], 100_000, &[0xc0])),
        (
            "many scalars of ml_dtypes",
            container(0xdd, 200_000, &[0x93, 0xd4, 1, 23, 0xd6, 8, b'x', b'<', 1, 0, 0xc4, 2, 0, 0], 200_000),
        ),
        (
            "many empty arrays",
            container(
                0xdd,
                200_000,
                &[0x95, 0xd4, 1, 16, 0xd6, 8, b'u', b'|', 0, 1, 0, 0x91, 0, 0xc4, 0],
                200_000,
            ),
        ),
    ]
}

#[test]
fn l4_peak_memory_is_as_promised() {
    let limits = Limits::default();
    let mut named: Vec<(String, Vec<u8>)> =
        hostile().into_iter().map(|(name, frame)| (name.to_owned(), frame)).collect();
    named.extend(reject().into_iter().map(|vector| (vector.name, vector.frame)));
    assert!(named.len() > 100);
    for (name, frame) in named {
        let most = promised(&frame, &limits);
        // A frame that is there as a whole has its region in it; one copy of that is made.
        let (_, whole) = peak(|| decode(&frame, &limits));
        assert!(whole <= most, "{name}: {whole} bytes for a frame of {}, promised {most}", frame.len());
        // The chunks are small, so that the decoder grows as they come; its own buffers are part of the promise.
        let (_, pushed) = peak(|| {
            let mut decoder = Decoder::new(limits.clone());
            frame.chunks(4096).all(|chunk| decoder.feed(chunk).is_ok())
        });
        assert!(
            pushed <= most,
            "{name}, pushed: {pushed} bytes for a frame of {}, promised {most}",
            frame.len()
        );
    }
}

/// The limits stop what the bytes would pay for.
#[test]
fn l4_l5_budgets_stop_what_is_too_much() {
    for (name, value, code) in [("memory", 1 << 20, Code::MemoryLimit), ("nodes", 1000, Code::NodeLimit)] {
        let limits = Limits::default().with(name, value).unwrap();
        let frame = container(0xdd, 1_000_000, &[0x90], 1_000_000);
        assert_eq!(decode(&frame, &limits).unwrap_err().code(), code);
    }
}

/// A frame that announces much and stops costs what has arrived.
#[test]
fn f7_f9_announced_lengths_reserve_nothing() {
    let limits = Limits::default();
    let mut head = wrap(&[0xc0], &[])[..32].to_vec();
    head[16..24].copy_from_slice(&limits.body.to_be_bytes());
    head[24..32].copy_from_slice(&limits.region.to_be_bytes());
    let (decoder, held) = peak(|| {
        let mut decoder = Decoder::new(limits.clone());
        decoder.feed(&head).unwrap();
        decoder.feed(&[0x91; 1000]).unwrap();
        decoder
    });
    assert!(decoder.finish().is_err());
    assert!(held < MIB, "{held} bytes for 1032");
}
