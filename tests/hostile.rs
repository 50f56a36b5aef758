//! What hostile frames cost: peak memory is counted, and stays within the promise of `proto/limits.md`.
use hookless::frame::Decoder;
use hookless::{ByteOrder, Code, Dtype, Field, Letter, Limits, StructureFlags, Text, decode};
use support::allocator::{Counting, peak};
use support::root;
use support::vectors::{self, accept, reject, wrap};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: i64 = 1 << 20;

/// Bytes of memory for each byte received, as `proto/limits.md` promises.
const FOR_EACH: i64 = 160;

fn promised(frame: &[u8], limits: &Limits) -> i64 {
    (FOR_EACH * frame.len() as i64).min(limits.memory as i64) + 8 * MIB
}

/// The figure is that of the document, which SECURITY.md repeats.
#[test]
fn the_promise_is_that_of_the_document() {
    for document in ["proto/limits.md", "SECURITY.md"] {
        let text = std::fs::read_to_string(root().join(document)).expect("a document");
        assert!(text.contains(&format!("min({FOR_EACH} × bytes received, ")), "{document}");
    }
}

/// A large array or map head, and so many elements behind it.
fn container(head: u8, announced: u32, element: &[u8], count: usize) -> Vec<u8> {
    let mut body = vec![head];
    body.extend(announced.to_be_bytes());
    body.extend(element.repeat(count));
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

/// Those of the document's folder, and two that its notation cannot say.
fn hostile() -> Vec<(String, Vec<u8>)> {
    let keys: Vec<u8> = (0u32..300_000)
        .flat_map(|n| [vec![0xce], (n + 0x1_0000).to_be_bytes().to_vec(), vec![0xc0]].concat())
        .collect();
    let mut distinct = vec![0xdf];
    distinct.extend(300_000u32.to_be_bytes());
    distinct.extend(keys);
    // 70 000 names of three letters.
    let letter = |n: u32| b'0' + (n % 42) as u8;
    let names: Vec<u8> =
        (0u32..70_000).flat_map(|n| [0xa3, letter(n), letter(n / 42), letter(n / 1764), 0xc0]).collect();
    let mut wide = vec![0xdd];
    wide.extend(140_003u32.to_be_bytes());
    wide.extend([0xd4, 1, 20, 0xa1, b'm', 0xa1, b'Q']);
    wide.extend(names);
    let mut all = vectors::hostile();
    all.push(("a dict of distinct keys".to_owned(), wrap(&distinct, &[])));
    all.push(("a record of many fields".to_owned(), wrap(&wide, &[])));
    all
}

#[test]
fn l4_peak_memory_is_as_promised() {
    let limits = Limits::default();
    let mut named = hostile();
    assert!(named.len() > 30);
    named.extend(reject().into_iter().chain(accept()).map(|vector| (vector.name, vector.frame)));
    assert!(named.len() > 500);
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

/// L10: frames that one feed completes are bounded together. At the limit all of them come; one below, those before it do, and then the error.
#[test]
fn l10_frames_of_one_feed_at_the_limit_and_one_past() {
    let frame = wrap(&[0x92, 0xc0, 0xa1, b'x'], &[]);
    let each = 128 + 88 + 32 + 73;
    let stream = frame.repeat(5);
    let with = |undelivered| Limits::default().with("undelivered", undelivered).unwrap();
    let mut decoder = Decoder::new(with(5 * each));
    for _ in 0..3 {
        // Each feed begins at 0.
        assert_eq!(decoder.feed(&stream).unwrap().len(), 5);
    }
    let mut decoder = Decoder::new(with(5 * each - 1));
    assert_eq!(decoder.feed(&stream).unwrap().len(), 4);
    let error = decoder.feed(&[]).unwrap_err();
    assert_eq!((error.code(), error.offset(), error.path()), (Code::UndeliveredLimit, Some(34), "$[1]"));
    // L4 keeps its code where it is what is met.
    let mut decoder = Decoder::new(with(5 * each).with("memory", each - 129).unwrap());
    assert_eq!(decoder.feed(&stream).unwrap_err().code(), Code::MemoryLimit);
    // What began in an earlier feed counts where it ends.
    let mut decoder = Decoder::new(with(2 * each));
    let (head, rest) = stream.split_at(frame.len() * 2 + 33);
    assert_eq!(decoder.feed(head).unwrap().len(), 2);
    assert_eq!(decoder.feed(rest).unwrap().len(), 2);
    assert_eq!(decoder.feed(&[]).unwrap_err().code(), Code::UndeliveredLimit);
}

/// L10: many frames that are each within their limits take no more memory together than the limit says.
#[test]
fn l10_peak_memory_of_one_feed() {
    let limits = Limits::default().with("undelivered", 16 << 20).unwrap();
    let body = [&[0xdc, 0x03, 0xe8][..], &[0x90; 1000]].concat();
    let stream = wrap(&body, &[]).repeat(2000);
    let feed = |limits: Limits| peak(|| Decoder::new(limits).feed(&stream));
    let (given, held) = feed(limits.clone());
    assert_eq!(given.unwrap().len(), (16 << 20) / (128 + 88 * 1001), "as many as there is room for");
    assert!(held <= 16 * MIB, "{held} bytes");
    let (given, unbounded) = feed(Limits { undelivered: 1 << 40, ..limits });
    assert_eq!(given.unwrap().len(), 2000);
    assert!(unbounded > 32 * MIB, "{unbounded} bytes: the test would not see it");
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
