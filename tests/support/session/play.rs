//! What a model and a real session meet: bytes of any origin, taken as decisions.

use std::sync::LazyLock;

use hookless::frame::FrameKind;
use hookless::session::{Hello, Role};
use hookless::{Limits, Value, encode_parts};

use super::model::{Model, State};
use super::real::Real;
use super::{Step, Told, limits};
use crate::vectors;

/// Decisions, drawn from bytes; when they are used up the session ends.
struct Drawn<'a>(&'a [u8]);

impl Drawn<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    fn below(&mut self, bound: usize) -> usize {
        let wide =
            if bound > 256 { u16::from_be_bytes([self.byte(), self.byte()]) } else { self.byte().into() };
        usize::from(wide) % bound.max(1)
    }
}

/// Bodies of small frames without a data region.
struct Pool {
    good: Vec<Vec<u8>>,
    exceptions: Vec<Vec<u8>>,
    calls: Vec<Vec<u8>>,
    bad: Vec<Vec<u8>>,
}

static POOL: LazyLock<Pool> = LazyLock::new(|| {
    let small = |vector: vectors::Vector| {
        let plain = vector.frame.len() > 32 && vector.frame[5] == 1 && vector.frame[24..32] == [0; 8];
        (plain && vector.frame.len() < 600 && vector.limits == Limits::default())
            .then(|| vector.frame[32..].to_vec())
    };
    let good: Vec<_> = vectors::accept().into_iter().filter_map(small).collect();
    let bad: Vec<_> = vectors::reject().into_iter().filter_map(small).collect();
    let exceptions: Vec<_> =
        good.iter().filter(|body| super::bodies::begins_as_exception(body)).cloned().collect();
    assert!(good.len() > 100 && bad.len() > 100 && exceptions.len() > 5, "the vectors are the corpus");
    Pool { good, exceptions, calls: calls(), bad }
});

/// Lists that are CALLs, and lists that are nearly so (S4).
fn calls() -> Vec<Vec<u8>> {
    let dict = |key: Value| Value::Dict(vec![(Value::from("a"), Value::None), (key, Value::from(2))]);
    let choices: [&[Value]; 5] = [
        &[Value::from(0), Value::from(1), Value::from(2), Value::Bool(true)],
        &[Value::from("m:f"), Value::from(""), Value::None],
        &[Value::None, Value::from("result = 1"), Value::from(1)],
        &[Value::Tuple(vec![Value::from(1)]), Value::List(Vec::new()), Value::Set(vec![Value::from(1)])],
        &[Value::Dict(Vec::new()), dict(Value::from("b")), dict(Value::from(1)), Value::None],
    ];
    let mut lists = vec![Vec::new()];
    for choice in choices {
        let longer = |list: &Vec<Value>| {
            let list = list.clone();
            choice
                .iter()
                .map(move |value| [&list[..], std::slice::from_ref(value)].concat())
                .collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists.push(vec![Value::None; 4]);
    let body = |list| {
        let mut region = Vec::new();
        let frame = encode_parts(&Value::List(list), FrameKind::Call, 1, &limits(), &mut region);
        frame.expect("it can be sent")[32..].to_vec()
    };
    lists.into_iter().map(body).collect()
}

/// Any of a pool.
fn any(pool: &[Vec<u8>], drawn: &mut Drawn<'_>) -> Vec<u8> {
    pool[drawn.below(pool.len())].clone()
}

/// A frame before its bytes.
struct Made {
    kind: u8,
    call_id: u64,
    body: Vec<u8>,
}

impl Made {
    fn bytes(&self) -> Vec<u8> {
        let mut frame = [b"HKLS\x01", &[self.kind, 0, 0][..]].concat();
        frame.extend(self.call_id.to_be_bytes());
        frame.extend((self.body.len() as u64).to_be_bytes());
        frame.extend([0; 8]);
        frame.extend(&self.body);
        frame
    }
}

/// The frame that would be taken now.
fn wanted(role: Role, model: &Model, drawn: &mut Drawn<'_>) -> Made {
    let peer = if role == Role::Host { Role::Worker } else { Role::Host };
    let (kind, call_id, body) = match (role, model.state) {
        (_, State::Start) => (2, 0, Hello::of(peer, limits()).to_body().unwrap()),
        (Role::Worker, _) => (3, model.last.wrapping_add(1), POOL.calls[0].clone()),
        (Role::Host, _) if drawn.below(3) == 0 => (5, model.last, any(&POOL.exceptions, drawn)),
        (Role::Host, _) => (4, model.last, any(&POOL.good, drawn)),
    };
    Made { kind, call_id, body }
}

/// A HELLO of any numbers, and of a form that is right or nearly so.
fn hello(drawn: &mut Drawn<'_>) -> Vec<u8> {
    let role = if drawn.below(2) == 0 { Role::Host } else { Role::Worker };
    let [min_version, max_version] = [drawn.byte() % 4, drawn.byte() % 4];
    let [highest_node, highest_leaf] = [drawn.byte(), drawn.byte()];
    let mut body = Hello { min_version, max_version, highest_node, highest_leaf, role, limits: limits() }
        .to_body()
        .unwrap();
    let at = drawn.below(body.len());
    match drawn.below(8) {
        0 => body.truncate(at),
        1 => body.insert(at, drawn.byte()),
        2 => body[at] = drawn.byte(),
        _ => {}
    }
    body
}

/// Bytes of a frame: good, or good but for one thing, or nothing of the kind.
fn frame(role: Role, model: &Model, drawn: &mut Drawn<'_>) -> Vec<u8> {
    let mut made = wanted(role, model, drawn);
    match drawn.below(60) {
        0 => made.kind = drawn.byte() % 16,
        1 => made.call_id = made.call_id.wrapping_add_signed(drawn.below(5) as i64 - 2),
        2 => made.call_id = u64::MAX >> drawn.below(64),
        3 => made.body = any(&POOL.bad, drawn),
        4 => made.body = any(&POOL.good, drawn),
        5 => made.body = any(&POOL.calls, drawn),
        6 => made.body = hello(drawn),
        // A frame of another state: a second HELLO, an answer before a call, a call to the host.
        7 => (made.kind, made.call_id, made.body) = (2, 0, hello(drawn)),
        8 => (made.kind, made.call_id, made.body) = (3, model.last.max(1), any(&POOL.calls, drawn)),
        9 => (made.kind, made.call_id, made.body) = (4, model.last.max(1), any(&POOL.good, drawn)),
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
        _ => {}
    }
    made.bytes()
}

/// Has both ends of a comparison meet what `input` says; gives what they told, alike.
///
/// # Panics
/// Where model and session differ.
pub fn play(input: &[u8], planted: bool) -> Vec<Told> {
    let mut drawn = Drawn(input);
    let role = if drawn.byte() % 4 == 0 { Role::Worker } else { Role::Host };
    let mut ends = (Model::new(role, limits()), Real::new(role, limits(), planted));
    let mut told = Vec::new();
    // Bytes on their way: what a step of the driver's overtakes.
    let mut sent: Vec<u8> = Vec::new();
    // A few frames are read past the end of a session, which has to stay closed.
    let mut past = 0;
    while !drawn.0.is_empty() && past < 3 {
        past += u8::from(ends.0.state == State::Closed);
        let turn = [(Role::Host, State::Idle), (Role::Worker, State::Open)].contains(&(role, ends.0.state));
        let step = match drawn.below(32) {
            0 => Some(Step::Act),
            1 => Some(Step::Undo),
            2 if drawn.below(8) == 0 => Some(Step::Close),
            3..26 if turn => Some(Step::Act),
            _ => None,
        };
        match step {
            Some(step) => same(&mut told, ends.0.step(step), ends.1.step(step), step),
            None => sent.extend(frame(role, &ends.0, &mut drawn)),
        }
        let keep = if drawn.below(3) == 0 { drawn.below(100).min(sent.len()) } else { 0 };
        let arrives: Vec<u8> = sent.drain(..sent.len() - keep).collect();
        let mut rest = &arrives[..];
        while !rest.is_empty() {
            let size = [usize::MAX, 1, 7, 32, 33][drawn.below(5)].min(rest.len());
            let now = rest.split_off(..size).unwrap_or_default();
            let closed = ends.0.state == State::Closed;
            same(&mut told, ends.0.feed(now), ends.1.feed(now), now);
            if closed {
                break;
            }
            if size == 1 && rest.len() > 40 {
                // One byte at a time makes long frames long work: only their first bytes come so.
                let now = rest.split_off(..rest.len() - 1).unwrap_or_default();
                same(&mut told, ends.0.feed(now), ends.1.feed(now), now);
            }
        }
    }
    same(&mut told, Some(ends.0.end()), Some(ends.1.end()), "the end of the stream");
    told
}

/// What a peer says to an end that opens a call, or answers it, whenever it can: what it says first, and then after each CALL.
pub fn peer_parts(role: Role, input: &[u8]) -> Vec<Vec<u8>> {
    let mut drawn = Drawn(input);
    drawn.byte();
    let mut model = Model::new(role, limits());
    let (mut said, mut past) = (vec![Vec::new()], 0);
    while !drawn.0.is_empty() && past < 2 {
        past += u8::from(model.state == State::Closed);
        if (role, model.state) == (Role::Worker, State::Open) {
            model.step(Step::Act);
        }
        if (role, model.state) == (Role::Host, State::Idle) {
            model.step(Step::Act);
            said.push(Vec::new());
        }
        let frame = frame(role, &model, &mut drawn);
        model.feed(&frame);
        said.last_mut().expect("there is one").extend(frame);
    }
    said
}

/// Both told the same.
fn same<T>(told: &mut Vec<Told>, model: T, real: T, of: impl std::fmt::Debug)
where
    T: IntoIterator<Item = Told>,
{
    let (model, real): (Vec<_>, Vec<_>) = (model.into_iter().collect(), real.into_iter().collect());
    assert_eq!(real, model, "session and model differ: {of:02x?}, after {told:?}");
    told.extend(model);
}
