//! Memory that is refused, at every allocation in turn: `out_of_memory`, nothing leaks, and the process goes on.
//!
//! An allocation that the library does not ask for ends the process. So the work is done in a child, which says first what it is about
//! to do; where it ends before its time, it is asked again about that case alone, and then names the allocation.

use std::io::Write as _;
use std::process::Command;

use hookless::frame::{Decoder, FrameKind, Head};
use hookless::session::{Credit, End, Hello, Host, Log, Progress, Role, Verb, Worker};
use hookless::{
    Array, Code, Error, Limits, RemoteError, Value, decode, encode, encode_parts, from_slice, to_value,
    to_vec,
};
use serde::{Deserialize, Serialize};
use support::allocator::{Counting, Refuse, Spent, peak, refusing};
use support::vectors::{accept, reject};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Set in the child: the case that it is to run, or nothing for all of them.
const CASE: &str = "HOOKLESS_OUT_OF_MEMORY";

/// Work that allocates more often than this, or more than so many bytes in all its runs, is refused its allocations at steps, the first
/// ones aside.
const EACH: u64 = 300;
const BYTES: u64 = 2_000_000;
const LEAST: u64 = 10;

/// Some work that answers with a code, or with none where it succeeded as it does with enough memory.
type Work<'w> = &'w dyn Fn() -> Result<(), Code>;

struct Cases {
    only: Option<String>,
    run: u64,
}

impl Cases {
    /// Refuses every allocation of some work in turn. The code is that with enough memory, where the work is to fail.
    fn check(&mut self, name: &str, usual: Result<(), Code>, work: Work<'_>) {
        if self.only.as_ref().is_some_and(|only| only != name) {
            return;
        }
        self.say(name);
        let ((found, Spent { calls, held }), bytes) = peak(|| refusing(Refuse::Nothing, work, |found| found));
        assert_eq!((found, held), (usual, 0), "{name} with enough memory");
        let runs = (BYTES / (bytes as u64).max(1)).clamp(LEAST, EACH) / 2;
        let step = (calls.saturating_sub(runs) / runs).max(1) as usize;
        for call in (1..=calls.min(runs)).chain((runs + 1..=calls).step_by(step)) {
            for which in [Refuse::Only(call), Refuse::From(call)] {
                if self.only.is_some() {
                    self.say(&format!("  {which:?} of {calls}"));
                }
                let (found, spent) = refusing(which, work, |found| found);
                let right = found == Err(Code::OutOfMemory) || found == usual;
                assert!(right, "{name}, {which:?} of {calls}: {found:?}");
                assert_eq!(spent.held, 0, "{name}, {which:?} of {calls} leaks");
                self.run += 1;
            }
        }
    }

    fn say(&self, what: &str) {
        writeln!(std::io::stdout(), "{what}").expect("standard output");
    }
}

fn code<T>(result: Result<T, Error>) -> Result<(), Code> {
    result.map(|_| ()).map_err(|error| error.code())
}

#[test]
fn an_allocation_refused_is_out_of_memory_and_no_more() {
    if let Ok(only) = std::env::var(CASE) {
        let mut cases = Cases { only: Some(only).filter(|only| !only.is_empty()), run: 0 };
        vectors(&mut cases);
        typed(&mut cases);
        sessions(&mut cases);
        errors(&mut cases);
        assert!(cases.only.is_some() || cases.run > 20_000, "{} refusals", cases.run);
        return;
    }
    let (ended, shown) = child("");
    if ended {
        return;
    }
    let last = shown.lines().rfind(|line| !line.starts_with("  ")).unwrap_or_default().to_owned();
    let (_, again) = child(&last);
    panic!("the child ended at: {last}\n{shown}\nand by itself:\n{again}");
}

/// Whether the child ended well, and the end of what it wrote.
fn child(case: &str) -> (bool, String) {
    let test = "an_allocation_refused_is_out_of_memory_and_no_more";
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CASE, case)
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("this test once more");
    let shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let from = shown.len().saturating_sub(3000);
    (output.status.success(), shown.chars().skip(from).collect())
}

/// Decoding, whole and in pieces, of every vector; encoding of what that gives.
fn vectors(cases: &mut Cases) {
    for vector in accept().into_iter().chain(reject()) {
        let usual = match &vector.error {
            Some((code, _)) => Err(*Code::ALL.iter().find(|one| one.as_str() == code).expect("a code")),
            None => Ok(()),
        };
        let limits = &vector.limits;
        if vector.for_decode() {
            cases.check(&format!("decode {}", vector.name), usual, &|| code(decode(&vector.frame, limits)));
        }
        if vector.for_push() {
            cases.check(&format!("push {}", vector.name), usual, &|| push(&vector.frame, limits));
        }
        if vector.error.is_none() && vector.for_decode() {
            let value = decode(&vector.frame, limits).expect("an accept vector");
            cases.check(&format!("encode {}", vector.name), Ok(()), &|| code(encode(&value, limits)));
            cases.check(&format!("parts {}", vector.name), Ok(()), &|| {
                code(encode_parts(&value, FrameKind::Value, 0, limits, &mut Vec::new()))
            });
            cases.check(&format!("to_value {}", vector.name), Ok(()), &|| code(to_value(&value)));
            cases.check(&format!("typed {}", vector.name), Ok(()), &|| {
                code(from_slice::<Value>(&vector.frame, limits))
            });
        }
    }
}

/// In three pieces, and what the decoder says of its end.
fn push(frame: &[u8], limits: &Limits) -> Result<(), Code> {
    let mut decoder = Decoder::new(limits.clone());
    let piece = frame.len().div_ceil(3).max(1);
    let fed = frame.chunks(piece).try_for_each(|piece| decoder.feed(piece).map(|_| ()));
    match fed {
        Ok(()) => code(decoder.finish()),
        Err(error) => {
            // Dead, and it says so again: with the same code where there is memory for it.
            let again = decoder.feed(&[0]).expect_err("a dead decoder").code();
            assert!(again == error.code() || [again, error.code()].contains(&Code::OutOfMemory));
            Err(error.code())
        }
    }
}

/// A type that allocates nothing but what it is handed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fit {
    name: String,
    range: (i8, u128, i128),
    weights: [f32; 3],
    kind: Kind,
    letter: char,
    note: Option<String>,
    held: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kind {
    Plain,
    Scaled { by: f64 },
    Pair(bool, ()),
}

fn typed(cases: &mut Cases) {
    let limits = &Limits::default();
    let kinds = [Kind::Plain, Kind::Scaled { by: 0.5 }, Kind::Pair(true, ())];
    let bytes = Value::Bytes(vec![7; 20_000]);
    for (index, kind) in kinds.into_iter().enumerate() {
        let fit = Fit {
            name: "a name that is long enough for memory of its own".to_owned(),
            range: (-1, u128::MAX, i128::MIN),
            weights: [0.5, f32::NAN, -0.0],
            kind,
            letter: 'ü',
            note: Some("\u{1b}".to_owned()),
            held: Value::List(vec![bytes.clone(), 1.into(), "two".into(), bytes.clone()]),
        };
        let frame = to_vec(&fit, limits).expect("a value");
        cases.check(&format!("from_slice {index}"), Ok(()), &|| code(from_slice::<Fit>(&frame, limits)));
        cases.check(&format!("to_vec {index}"), Ok(()), &|| code(to_vec(&fit, limits)));
        let wrong = Err(Code::TypeMismatch);
        cases.check(&format!("mismatch {index}"), wrong, &|| code(from_slice::<(u8, Fit)>(&frame, limits)));
        cases.check(&format!("variant {index}"), wrong, &|| code(from_slice::<Kind>(&frame, limits)));
    }
    for (name, frame) in [("text", to_vec("x", limits)), ("array", to_vec(&[1u8; 3], limits))] {
        let frame = frame.expect("a value");
        cases.check(&format!("no array: {name}"), Err(Code::TypeMismatch), &|| {
            code(from_slice::<Array>(&frame, limits))
        });
    }
}

/// HELLO of both ends, calls, their answers and all that comes between, and every step out of turn.
fn sessions(cases: &mut Cases) {
    let head = |kind, call_id| Head { kind, call_id, body_len: 1, data_len: 0 };
    let hello = |role| Hello::of(role, Limits::default());
    let new = || (Host::new(Limits::default()), Worker::new(Limits::default()));
    cases.check("session", Ok(()), &|| {
        let (mut host, mut worker) = new();
        let (asks, answers) = (hello(Role::Host).to_body(), hello(Role::Worker).to_body());
        let (Ok(asks), Ok(answers)) = (asks, answers) else { return Err(Code::OutOfMemory) };
        code(worker.handle(&head(FrameKind::Hello, 0), &asks))?;
        code(host.handle(&head(FrameKind::Hello, 0), &answers))?;
        for _ in 0..9 {
            let id = host.begin_call(Verb::Stream).map_err(|error| error.code())?;
            code(worker.handle(&head(FrameKind::Call, id), b"\x95\x02"))?;
        }
        code(host.credit(1, 1))?;
        let credit = Credit { items: 1 }.to_body().map_err(|error| error.code())?;
        code(worker.handle(&head(FrameKind::Credit, 1), &credit))?;
        code(worker.item(1))?;
        code(host.handle(&head(FrameKind::Item, 1), &[]))?;
        let (text, total) = ("half of it", Some(2));
        let progress = Progress { done: 1, total, text }.to_body().map_err(|error| error.code())?;
        code(host.handle(&head(FrameKind::Progress, 1), &progress))?;
        let (logger, message, path, function) = ("root", "a message", "/a/b.py", "f");
        let log = Log { level: 30, logger, message, created: 1.0, path, line: 1, function };
        let log = log.to_body().map_err(|error| error.code())?;
        code(host.handle(&head(FrameKind::Log, 0), &log))?;
        code(worker.end_call(1, End::Result))?;
        code(host.handle(&head(FrameKind::Result, 1), &[]))?;
        code(host.begin_call(Verb::Function))
    });
    for kind in FrameKind::ALL.iter().copied().filter(|kind| *kind != FrameKind::Hello) {
        let wanted = if kind.carries_value() { Code::UnexpectedFrame } else { Code::BadControl };
        let unexpected = Err(Code::UnexpectedFrame);
        cases.check(&format!("host {kind:?}"), unexpected, &|| code(new().0.check_head(&head(kind, 0))));
        cases.check(&format!("worker {kind:?}"), Err(wanted), &|| code(new().1.handle(&head(kind, 0), &[])));
    }
    let future = Hello { min_version: 200, max_version: 255, ..hello(Role::Worker) }.to_body().unwrap();
    let own = hello(Role::Host).to_body().unwrap();
    let bad = [
        (&future[..], Code::VersionMismatch),
        (&own, Code::BadRole),
        (&own[1..], Code::BadControl),
        (b"\x96\x01\x01\x18\x32\xa4hos", Code::BadControl),
    ];
    for (number, (body, wanted)) in bad.into_iter().enumerate() {
        let head = head(FrameKind::Hello, 0);
        cases.check(&format!("hello {number}"), Err(wanted), &|| code(new().0.handle(&head, body)));
    }
}

/// Writes into memory that is there.
struct Shown([u8; 4096], usize);

impl std::fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes().take(self.0.len().saturating_sub(self.1)) {
            self.0[self.1] = byte;
            self.1 += 1;
        }
        Ok(())
    }
}

/// What is shown is the whole text where it is shown at once, and less or nothing where it is asked for as a String.
fn errors(cases: &mut Cases) {
    let show = |what: &dyn std::fmt::Display| {
        let mut shown = Shown([0; 4096], 0);
        std::fmt::write(&mut shown, format_args!("{what}")).expect("Shown takes everything");
        assert!(shown.1 > 0);
    };
    let frame = encode(&Value::List(vec!["x".into(); 3]), &Limits::default()).unwrap();
    let error = decode(&frame[..36], &Limits::default()).unwrap_err();
    let whole = error.message();
    cases.check("an error", Ok(()), &|| {
        show(&error);
        let message = error.message();
        assert!(message.is_empty() || message == whole);
        let copy = error.clone();
        if copy.code() == Code::OutOfMemory { Err(Code::OutOfMemory) } else { Ok(()) }
    });
    for vector in accept() {
        let Some(value) = Some(&vector).filter(|vector| vector.for_decode()) else { continue };
        let Ok(Value::Exception(report)) = decode(&value.frame, &value.limits) else { continue };
        let remote = RemoteError::new(report.into_inner());
        let (name, traceback) = (remote.type_name(), remote.traceback());
        cases.check(&format!("a remote error: {}", vector.name), Ok(()), &|| {
            show(&remote);
            show(&format_args!("{remote:?}"));
            assert!(!remote.matches("no.such"));
            let told = remote.traceback();
            assert!(told.is_empty() || told == traceback);
            let named = remote.type_name();
            assert!(named.is_empty() || named == name);
            Ok(())
        });
    }
}
