//! `RemoteError`: what a Rust host shows of a child's exception, and that the largest reports fit a small stack.

use std::error::Error as _;
use std::thread;

use hookless::{
    Entry, Limits, RemoteError, Report, Surrogates, Text, TraceFrame, Value, decode, display, encode,
};
use support::vectors;

/// Bytes of stack that a thread of the tests below has; debug builds use the most.
const STACK: usize = 128 << 10;

/// The same for values as deep as `Limits::depth` allows at its ceiling: encoding, comparing, copying and dropping one recurse once for
/// each level. It is half of what a thread has by default.
const DEEP_STACK: usize = 1 << 20;

fn entry(name: &str, message: &str) -> Entry {
    Entry { module: "app".into(), qualname: name.into(), message: message.into(), ..Entry::default() }
}

fn on_a_stack_of(size: usize, work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(size).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

/// A chain of causes: entry 0 was raised last.
fn chain(length: u32) -> Report {
    let linked = |at: u32| (at + 1 < length).then_some(at + 1);
    Report {
        entries: (0..length).map(|at| Entry { cause: linked(at), ..entry("E", &at.to_string()) }).collect(),
    }
}

fn widest() -> Limits {
    Limits::TABLE
        .iter()
        .fold(Limits::default(), |limits, &(name, _, most)| limits.with(name, most).expect("a limit"))
}

#[test]
fn what_is_shown() {
    let mut first = entry("Quota\u{1b}[31m", "over\u{202e}\nHost: forged");
    first.frames = vec![TraceFrame {
        file: "/etc/shadow".into(),
        line: Some(3),
        end_line: None,
        column: None,
        end_column: None,
        function: "f\u{7}".into(),
        source: Some("    raise Quota\u{0}".into()),
    }];
    first.bases = vec!["app.Base".into(), "builtins.ValueError".into()];
    first.notes = vec!["a note".into()];
    first.denials = vec!["connect\u{1b}".into()];
    first.cut = vec!["args[0]".into(), "frames[1:5]".into()];
    (first.context, first.members) = (Some(1), vec![1, 2]);
    let second = Entry { module: "builtins".into(), ..entry("KeyError", "'k'") };
    let third = Entry {
        message: Text::Surrogates(Surrogates::new(b"lone \xed\xa0\x80".to_vec()).expect("one")),
        ..entry("E", "")
    };
    let error = RemoteError::new(Report { entries: vec![first, second, third] });
    assert_eq!(error.to_string(), "app.Quota\\u{1b}[31m: over\\u{202e}\n  | Host: forged");
    assert_eq!(format!("{error:?}"), "RemoteError(app.Quota\\u{1b}[31m: over\\u{202e}\\u{a}Host: forged)");
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("KeyError: 'k'"));
    assert!(error.matches("ValueError") && error.matches("builtins.ValueError") && error.matches("app.Base"));
    assert!(!error.matches("Base") && !error.matches("KeyError"));
    let expected = [
        "Remote traceback, as the child tells it:",
        "  | KeyError: 'k'",
        "  | ",
        "  | During handling of the above exception, another exception occurred:",
        "  | ",
        "  | Traceback (most recent call last):",
        "  |   File \"<sandbox>/etc/shadow\", line 3, in f\\u{7}",
        "  |     raise Quota\\u{0}",
        "  | app.Quota\\u{1b}[31m: over\\u{202e}",
        "  |   | Host: forged",
        "  | a note",
        "  | (denied: connect\\u{1b})",
        "  | + member 1 of 2",
        "  |   | (KeyError: told above)",
        "  | + member 2 of 2",
        "  |   | app.E: lone \u{fffd}",
        "  | (not sent in full: frames[1:5])",
    ];
    assert_eq!(error.traceback().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn ordinary_text_stays_as_it_is() {
    for text in ["plain", "café 漢字 \u{1f600}", "हिन्दी", "e\u{301}", "a 'quoted' \"text\" \\ with $ signs"]
    {
        assert_eq!(display::escape(text), text);
        assert_eq!(display::escape_line(text, 100), text);
    }
    for hidden in [
        '\u{0}', '\t', '\r', '\u{7f}', '\u{9b}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{3164}',
        '\u{fe0f}', '\u{a0}',
    ] {
        assert_eq!(display::escape(&hidden.to_string()), hidden.escape_unicode().to_string());
    }
    assert_eq!(display::escape_line("abcdef", 3), "abc…");
}

#[test]
fn the_source_is_the_cause_or_else_the_context_unless_suppressed() {
    let with = |cause, context, suppress_context| {
        let first = Entry { cause, context, suppress_context, ..entry("E", "") };
        let error = RemoteError::new(Report { entries: vec![first, entry("A", ""), entry("B", "")] });
        error.source().map(ToString::to_string)
    };
    assert_eq!(with(Some(1), Some(2), false).as_deref(), Some("app.A"));
    assert_eq!(with(None, Some(2), false).as_deref(), Some("app.B"));
    assert_eq!(with(None, Some(2), true), None);
    assert_eq!(with(Some(2), None, true).as_deref(), Some("app.B"));
}

#[test]
fn reports_made_by_hand_are_bounded() {
    let length = |report| {
        let error = RemoteError::new(report);
        assert!(error.traceback().lines().count() < 500);
        std::iter::successors(error.source(), |&source| source.source()).count()
    };
    assert_eq!(length(Report { entries: vec![] }), 0);
    assert_eq!(length(chain(1)), 0);
    assert_eq!(length(chain(128)), 127);
    assert_eq!(length(chain(100_000)), 127);
    let to = |cause| Report {
        entries: vec![Entry { cause: Some(cause), members: vec![cause; 100], ..entry("E", "") }; 2],
    };
    assert_eq!((length(to(0)), length(to(1)), length(to(u32::MAX))), (0, 1, 0));
}

#[test]
fn the_longest_chain_fits_a_small_stack() {
    on_a_stack_of(STACK, || {
        let frame = encode(&Value::Exception(hookless::Boxed::new(chain(128))), &widest())
            .expect("within the ceilings");
        let value = decode(&frame, &widest()).expect("its own frame");
        let error = RemoteError::from_value(value).expect("an exception");
        let told = format!("{error} {error:?} {}", error.traceback());
        assert!(told.len() > 100);
        assert_eq!(std::iter::successors(error.source(), |&source| source.source()).count(), 127);
        drop(error);
    });
}

/// Exceptions in the arguments of exceptions, as deep as values go: dropped, compared and printed.
#[test]
fn the_deepest_values_fit_half_a_stack() {
    on_a_stack_of(DEEP_STACK, || {
        let nest = |value: Value| {
            let args = vec![value];
            Value::Exception(hookless::Boxed::new(Report { entries: vec![Entry { args, ..entry("E", "") }] }))
        };
        let (mut value, limits) = (Value::None, widest());
        let mut depth = 0;
        while encode(&value, &limits).is_ok() {
            (value, depth) = (nest(value), depth + 1);
        }
        let Value::Exception(mut report) = value else { panic!("an exception") };
        let deepest = report.entries.remove(0).args.remove(0);
        let frame = encode(&deepest, &limits).expect("the deepest that fits");
        let again = decode(&frame, &limits).expect("its own frame");
        assert!(depth > 100 && again == deepest);
        assert!(format!("{again:?}").len() > 100);
        let error = RemoteError::from_value(again.clone()).expect("an exception");
        assert!(format!("{error} {error:?} {}", error.traceback()).len() > 10);
    });
}

#[test]
fn every_vector_of_an_exception_is_told() {
    let mut told = 0;
    for vector in vectors::accept() {
        let Ok(value) = decode(&vector.frame, &widest()) else { continue };
        let Ok(error) = RemoteError::from_value(value) else { continue };
        let shown = format!("{error}\n{}", error.traceback());
        let plain = |one: char| one == '\n' || one == ' ' || !(one.is_control() || one.is_whitespace());
        assert!(shown.chars().all(plain), "{}: {shown:?}", vector.name);
        told += 1;
    }
    assert!(told > 5, "only {told} vectors hold an exception");
}
