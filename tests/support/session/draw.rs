//! Decisions drawn from bytes: steps of an end, and frames that are good or nearly so.

use std::sync::LazyLock;

use hookless::frame::FrameKind;
use hookless::session::{Credit, Hello, Log, Progress, Role};
use hookless::{Limits, Value, encode_parts};

use super::kind::*;
use super::model::{Model, State};
use super::{Step, limits};
use crate::vectors;

/// Bytes that decide; when they are used up the session ends.
#[derive(Debug)]
pub struct Drawn<'a>(pub &'a [u8]);

impl Drawn<'_> {
    /// The next of them.
    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide =
            if bound > 256 { u16::from_be_bytes([self.byte(), self.byte()]) } else { self.byte().into() };
        usize::from(wide) % bound.max(1)
    }

    /// Any of a pool.
    fn any(&mut self, pool: &[Vec<u8>]) -> Vec<u8> {
        pool[self.below(pool.len())].clone()
    }
}

/// Bodies of small frames without a data region.
struct Pool {
    good: Vec<Vec<u8>>,
    exceptions: Vec<Vec<u8>>,
    /// Those of a function, a script and a stream, and then such as are nearly so.
    calls: Vec<Vec<u8>>,
    bad: Vec<Vec<u8>>,
    /// Bodies of control frames that a vector refuses.
    forms: Vec<(u8, Vec<u8>)>,
}

static POOL: LazyLock<Pool> = LazyLock::new(|| {
    let plain = |vector: &vectors::Vector| {
        vector.frame.len() > 32 && vector.frame[24..32] == [0; 8] && vector.frame.len() < 600
    };
    let small = |vector: vectors::Vector| {
        (plain(&vector) && vector.frame[5] == 1 && vector.limits == Limits::default())
            .then(|| vector.frame[32..].to_vec())
    };
    let forms = |vector: vectors::Vector| {
        let wrong = vector.error.as_ref().is_some_and(|(code, _)| code == "bad_control");
        (plain(&vector) && wrong).then(|| (vector.frame[5], vector.frame[32..].to_vec()))
    };
    let good: Vec<_> = vectors::accept().into_iter().filter_map(small).collect();
    let bad: Vec<_> = vectors::reject().into_iter().filter_map(small).collect();
    let forms: Vec<_> = vectors::reject().into_iter().filter_map(forms).collect();
    let exceptions: Vec<_> =
        good.iter().filter(|body| super::bodies::begins_as_exception(body)).cloned().collect();
    assert!(good.len() > 100 && bad.len() > 100 && exceptions.len() > 5, "the vectors are the corpus");
    assert!(forms.len() > 50, "the vectors are the corpus");
    Pool { good, exceptions, calls: calls(), bad, forms }
});

/// Lists that are CALLs, and lists that are nearly so (S4).
fn calls() -> Vec<Vec<u8>> {
    let dict = |key: Value| Value::Dict(vec![(Value::from("a"), Value::None), (key, Value::from(2))]);
    let choices: [&[Value]; 5] = [
        &[Value::from(0), Value::from(1), Value::from(2), Value::from(3), Value::Bool(true)],
        &[Value::from("m:f"), Value::from(""), Value::None],
        &[Value::None, Value::from("result = 1"), Value::from(1)],
        &[Value::Tuple(vec![Value::from(1)]), Value::List(Vec::new()), Value::Set(vec![Value::from(1)])],
        &[Value::Dict(Vec::new()), dict(Value::from("b")), dict(Value::from(1)), Value::None],
    ];
    let good = |verb: usize| {
        let source = &choices[2][usize::from(verb == 1)];
        [&choices[0][verb], &choices[1][0], source, &choices[3][0], &choices[4][0]].map(Value::clone).to_vec()
    };
    let mut lists: Vec<Vec<Value>> = vec![Vec::new()];
    for one in choices {
        let longer = |list: &Vec<Value>| {
            one.iter().map(move |value| [&list[..], std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists.push(vec![Value::None; 4]);
    let body = |list| {
        let mut region = Vec::new();
        let frame = encode_parts(&Value::List(list), FrameKind::Call, 1, &limits(), &mut region);
        frame.expect("it can be sent")[32..].to_vec()
    };
    (0..3).map(good).chain(lists).map(body).collect()
}

/// A frame before its bytes.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its kind.
    pub kind: u8,
    /// Its call.
    pub call_id: u64,
    /// Its body.
    pub body: Vec<u8>,
}

impl Made {
    /// The frame.
    pub fn bytes(&self) -> Vec<u8> {
        let mut frame = [b"HKLS\x01", &[self.kind, 0, 0][..]].concat();
        frame.extend(self.call_id.to_be_bytes());
        frame.extend((self.body.len() as u64).to_be_bytes());
        frame.extend([0; 8]);
        frame.extend(&self.body);
        frame
    }
}

/// The frame of a kind, with a body that is good.
pub fn good(kind: u8, call_id: u64, verb: u8, items: u32, drawn: &mut Drawn<'_>) -> Made {
    let text = ["", "half of it", "é\u{1f600}", "\u{1b}[31m"][drawn.below(4)];
    let body = match kind {
        CALL => POOL.calls[usize::from(verb)].clone(),
        RESULT | ITEM => drawn.any(&POOL.good),
        ERROR => drawn.any(&POOL.exceptions),
        CREDIT => Credit { items }.to_body().expect("in its range"),
        PROGRESS => {
            let (done, total) =
                (u64::MAX >> drawn.below(64), [None, Some(0), Some(u64::MAX)][drawn.below(3)]);
            Progress { done, total, text }.to_body().expect("there is memory")
        }
        LOG => {
            let (level, created, line) =
                (drawn.byte().into(), f64::from(drawn.byte()) / 3.0, drawn.byte().into());
            let log = Log { level, logger: "root", message: text, created, path: text, line, function: "f" };
            log.to_body().expect("there is memory")
        }
        _ => vec![0x90],
    };
    Made { kind, call_id, body }
}

/// Any open call, preferably.
fn some_call(model: &Model, drawn: &mut Drawn<'_>) -> u64 {
    let at = drawn.below(model.calls.len());
    match model.calls.keys().nth(at) {
        Some(id) if drawn.below(16) != 0 => *id,
        _ => drawn.below(model.last as usize + 2) as u64,
    }
}

/// So many items more, mostly few.
fn items(drawn: &mut Drawn<'_>) -> u32 {
    [1, 1, 2, 3, 16, 65_535, 65_536][drawn.below(7)]
}

/// What the driver of an end might do.
pub fn step(model: &Model, drawn: &mut Drawn<'_>) -> Step {
    let id = some_call(model, drawn);
    let stream = model.calls.get(&id).is_some_and(|call| call.verb == 2);
    if model.end == Role::Worker {
        return match drawn.below(16) {
            0..2 => Step::Note(id),
            2..4 => Step::Answer(id, CANCELLED),
            4 => Step::Answer(id, ERROR),
            5..8 => Step::Answer(id, RESULT),
            8 if drawn.below(16) == 0 => Step::Close,
            _ if stream || drawn.below(16) == 0 => Step::Item(id),
            _ => Step::Answer(id, RESULT),
        };
    }
    match drawn.below(16) {
        0 => Step::Unsent(if drawn.below(2) == 0 { model.last } else { id }),
        1..3 => Step::Cancel(id),
        3 if drawn.below(6) == 0 => Step::Shutdown,
        4 if drawn.below(16) == 0 => Step::Close,
        5 if drawn.below(8) == 0 => Step::Credit(id, 0),
        6..11 if stream || drawn.below(16) == 0 => Step::Credit(id, items(drawn)),
        _ => Step::Begin(drawn.below(4).saturating_sub(1) as u8),
    }
}

/// The HELLO of a peer of this end.
fn greeting(model: &Model, drawn: &mut Drawn<'_>) -> Vec<u8> {
    let role = if model.end == Role::Host { Role::Worker } else { Role::Host };
    let said = [Limits::strict(), Limits::default(), limits()];
    Hello::of(role, said[drawn.below(3)].clone()).to_body().expect("there is memory")
}

/// A frame that would be taken now, or nearly always.
fn wanted(model: &Model, drawn: &mut Drawn<'_>) -> Made {
    if model.state == State::Start {
        return Made { kind: HELLO, call_id: 0, body: greeting(model, drawn) };
    }
    let id = some_call(model, drawn);
    let call = model.calls.get(&id);
    let (stream, verb) = (call.is_some_and(|call| call.verb == 2), drawn.below(4).saturating_sub(1) as u8);
    let (kind, id) = match (model.end, drawn.below(16)) {
        (Role::Worker, 0) if drawn.below(16) == 0 => (SHUTDOWN, 0),
        (Role::Worker, 0..4) => (CANCEL, id),
        (Role::Worker, 4..8) if stream => (CREDIT, id),
        (Role::Worker, _) => (CALL, model.last.wrapping_add(1)),
        (Role::Host, 0..2) => (LOG, 0),
        (Role::Host, 2..4) => ([PROGRESS, LOG][drawn.below(2)], id),
        (Role::Host, 4..10) if call.is_some_and(|call| call.verb == 2 && call.credit > 0) => (ITEM, id),
        (Role::Host, 10) => (ERROR, id),
        (Role::Host, 11..14) if call.is_some_and(|call| call.cancelled) => (CANCELLED, id),
        (Role::Host, _) => (if call.is_none() { LOG } else { RESULT }, id),
    };
    let items = items(drawn);
    good(kind, id, verb, items, drawn)
}

/// A HELLO of any numbers, and of a form that is right or nearly so.
fn hello(drawn: &mut Drawn<'_>) -> Vec<u8> {
    let role = if drawn.below(2) == 0 { Role::Host } else { Role::Worker };
    let [min_version, max_version] = [drawn.byte() % 4, drawn.byte() % 4];
    let [highest_node, highest_leaf] = [drawn.byte(), drawn.byte()];
    let said = Hello { min_version, max_version, highest_node, highest_leaf, role, limits: limits() };
    let mut body = said.to_body().expect("there is memory");
    // The limits follow the role, as an array of this head: here they are as many as drawn.
    let head = body.iter().rposition(|byte| *byte == 0x9f).expect("fifteen limits");
    if drawn.below(4) == 0 {
        body.truncate(head);
        let count = drawn.below(70);
        body.extend(if count < 16 { vec![0x90 | count as u8] } else { vec![0xdc, 0, count as u8] });
        body.extend((0..count).map(|_| drawn.byte() & 0x7f));
    }
    let at = drawn.below(body.len());
    match drawn.below(8) {
        0 => body.truncate(at),
        1 => body.insert(at, drawn.byte()),
        2 => body[at] = drawn.byte(),
        _ => {}
    }
    body
}

/// Bytes of a frame for this end: good, or good but for one thing, or nothing of the kind.
pub fn frame(model: &Model, drawn: &mut Drawn<'_>) -> Vec<u8> {
    let mut made = wanted(model, drawn);
    match drawn.below(80) {
        0 => made.kind = drawn.byte() % 16,
        1 => made.call_id = made.call_id.wrapping_add_signed(drawn.below(5) as i64 - 2),
        2 => made.call_id = u64::MAX >> drawn.below(64),
        3 => made.body = drawn.any(&POOL.bad),
        4 => made.body = drawn.any(&POOL.good),
        5 => made.body = drawn.any(&POOL.calls),
        6 => made.body = hello(drawn),
        // A frame of another state or end: a second HELLO, an answer before a call, a call to the host.
        7 => (made.kind, made.call_id, made.body) = (HELLO, 0, hello(drawn)),
        8 => (made.kind, made.call_id, made.body) = (CALL, model.last.max(1), drawn.any(&POOL.calls)),
        9 => made = good(1 + drawn.below(12) as u8, some_call(model, drawn), 0, 1, drawn),
        10 => {
            let mut bytes = made.bytes();
            bytes[drawn.below(32)] ^= 1 << drawn.below(8);
            return bytes;
        }
        11 => {
            let mut bytes = made.bytes();
            let (at, byte) = (drawn.below(bytes.len()), drawn.byte());
            bytes[at] = byte;
            return bytes;
        }
        12 => {
            let mut bytes = made.bytes();
            bytes.truncate(drawn.below(bytes.len()));
            return bytes;
        }
        13 => {
            let count = drawn.below(60);
            return drawn.0.split_off(..count.min(drawn.0.len())).unwrap_or_default().to_vec();
        }
        14 if drawn.below(4) == 0 => made.body = vec![0xc4; 65_000 + drawn.below(6000)],
        15 => (made.kind, made.body) = POOL.forms[drawn.below(POOL.forms.len())].clone(),
        _ => {}
    }
    made.bytes()
}
