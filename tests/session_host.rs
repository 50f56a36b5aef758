//! The host's side of a session, step by step: S1, S3, S5, S6, S9, S11 to S17.

use hookless::frame::{FrameKind, Head};
use hookless::limits::{CREDIT, OPEN_CALLS};
use hookless::session::{EMPTY_BODY, Hello, Host, HostEvent, Log, Progress, Role, Verb};
use hookless::{Code, Error, Limits, Result};

fn head(kind: FrameKind, call_id: u64) -> Head {
    Head { kind, call_id, body_len: 1, data_len: 0 }
}

fn hello(role: Role) -> Vec<u8> {
    Hello::of(role, Limits::default()).to_body().unwrap()
}

fn new() -> Host {
    Host::new(Limits::default())
}

fn ready() -> Host {
    let mut host = new();
    let said = hello(Role::Worker);
    assert_eq!(host.handle(&head(FrameKind::Hello, 0), &said), Ok(HostEvent::Ready));
    host
}

/// A frame as the driver shows it: its first byte, its head, all of it.
fn arrives<'b>(host: &mut Host, kind: FrameKind, id: u64, body: &'b [u8]) -> Result<HostEvent<'b>> {
    host.frame_begins();
    host.check_head(&head(kind, id))?;
    host.handle(&head(kind, id), body)
}

fn code(result: Result<HostEvent<'_>>) -> Code {
    result.unwrap_err().code()
}

#[test]
fn s1_hello_comes_first_and_once() {
    for kind in FrameKind::ALL.iter().copied().filter(|kind| *kind != FrameKind::Hello) {
        let mut host = new();
        let error = host.check_head(&head(kind, 0)).unwrap_err();
        assert_eq!(error.code(), Code::UnexpectedFrame);
        assert!(host.is_closed());
    }
    let again = code(arrives(&mut ready(), FrameKind::Hello, 0, &hello(Role::Worker)));
    assert_eq!(again, Code::UnexpectedFrame);
}

#[test]
fn s3_roles_and_versions_are_checked() {
    let own = code(arrives(&mut new(), FrameKind::Hello, 0, &hello(Role::Host)));
    assert_eq!(own, Code::BadRole);
    let future = Hello { min_version: 2, max_version: 9, ..Hello::of(Role::Worker, Limits::default()) };
    let body = future.to_body().unwrap();
    assert_eq!(code(arrives(&mut new(), FrameKind::Hello, 0, &body)), Code::VersionMismatch);
}

#[test]
fn s5_s6_each_call_has_one_answer_in_any_order() {
    let mut host = ready();
    for id in 1..=3 {
        assert_eq!(host.begin_call(Verb::Function), Ok(id));
    }
    assert_eq!(arrives(&mut host, FrameKind::Error, 2, b"\xc0"), Ok(HostEvent::Failed(2)));
    assert_eq!(arrives(&mut host, FrameKind::Result, 3, b"\xc0"), Ok(HostEvent::Returned(3)));
    assert_eq!((host.open(), host.is_open(1), host.is_open(2)), (1, true, false));
    assert_eq!(code(arrives(&mut host, FrameKind::Result, 2, b"\xc0")), Code::UnknownCall);
    assert_eq!(host.begin_call(Verb::Function).unwrap_err().code(), Code::UnexpectedFrame);
    assert_eq!((host.open(), host.is_closed()), (0, true));
}

#[test]
fn l11_so_many_calls_are_open_at_once() {
    let mut host = ready();
    for _ in 0..OPEN_CALLS {
        host.begin_call(Verb::Stream).unwrap();
    }
    assert_eq!(host.begin_call(Verb::Function).unwrap_err().code(), Code::OpenCallLimit);
    assert_eq!(arrives(&mut host, FrameKind::Result, 9, b"\xc0"), Ok(HostEvent::Returned(9)));
    assert_eq!(host.begin_call(Verb::Function), Ok(1025));
}

#[test]
fn s5_an_unsent_call_leaves_its_id_to_the_next() {
    let mut host = ready();
    assert_eq!((host.begin_call(Verb::Function), host.begin_call(Verb::Function)), (Ok(1), Ok(2)));
    assert!(!host.cancel_unsent(1), "bytes of a later call have left");
    assert!(host.cancel_unsent(2) && !host.cancel_unsent(2));
    assert_eq!(host.begin_call(Verb::Function), Ok(2));
    arrives(&mut host, FrameKind::Result, 2, b"\xc0").unwrap();
    assert!(!host.cancel_unsent(2), "it was answered");
    assert_eq!(host.begin_call(Verb::Function), Ok(3));
}

#[test]
fn s11_what_began_before_its_call_is_no_answer() {
    let mut host = ready();
    host.begin_call(Verb::Function).unwrap();
    host.frame_begins();
    host.begin_call(Verb::Function).unwrap();
    assert_eq!(host.check_head(&head(FrameKind::Result, 2)).unwrap_err().code(), Code::UnexpectedFrame);

    // The id of a call that was never sent.
    let mut host = ready();
    host.begin_call(Verb::Function).unwrap();
    host.frame_begins();
    assert!(host.cancel_unsent(1));
    host.begin_call(Verb::Function).unwrap();
    assert_eq!(host.check_head(&head(FrameKind::Result, 1)).unwrap_err().code(), Code::UnexpectedFrame);

    // A frame of an earlier call may be under way.
    let mut host = ready();
    host.begin_call(Verb::Function).unwrap();
    host.frame_begins();
    host.begin_call(Verb::Function).unwrap();
    let first = head(FrameKind::Result, 1);
    assert_eq!(host.check_head(&first), Ok(()));
    assert_eq!(host.handle(&first, b"\xc0"), Ok(HostEvent::Returned(1)));
    assert_eq!(arrives(&mut host, FrameKind::Result, 2, b"\xc0"), Ok(HostEvent::Returned(2)));
}

#[test]
fn s12_s13_items_are_of_streams_and_take_credit() {
    let mut host = ready();
    host.begin_call(Verb::Stream).unwrap();
    assert_eq!((host.credit(1, 2), host.credit(7, 2)), (Ok(true), Ok(false)));
    assert_eq!(arrives(&mut host, FrameKind::Item, 1, b"\xc0"), Ok(HostEvent::Item(1)));
    assert_eq!(arrives(&mut host, FrameKind::Item, 1, b"\xc0"), Ok(HostEvent::Item(1)));
    assert_eq!(code(arrives(&mut host, FrameKind::Item, 1, b"\xc0")), Code::NoCredit);

    let mut host = ready();
    host.begin_call(Verb::Function).unwrap();
    assert_eq!(host.credit(1, 1).unwrap_err().code(), Code::UnexpectedFrame);
    assert_eq!(code(arrives(&mut host, FrameKind::Item, 1, b"\xc0")), Code::UnexpectedFrame);
}

#[test]
fn l12_credit_is_bounded() {
    let mut host = ready();
    host.begin_call(Verb::Stream).unwrap();
    assert_eq!(host.credit(1, 0).unwrap_err().code(), Code::UnexpectedFrame);
    assert_eq!((host.credit(1, CREDIT - 1), host.credit(1, 1)), (Ok(true), Ok(true)));
    assert_eq!(host.credit(1, 1).unwrap_err().code(), Code::UnexpectedFrame);
    assert_eq!(arrives(&mut host, FrameKind::Item, 1, b"\xc0"), Ok(HostEvent::Item(1)));
    assert_eq!((host.credit(1, 1), host.credit_of(1)), (Ok(true), CREDIT));
}

#[test]
fn s14_cancelled_comes_after_cancel_alone_and_any_answer_stands() {
    let mut host = ready();
    for _ in 0..3 {
        host.begin_call(Verb::Function).unwrap();
    }
    assert!(host.cancel(1) && host.cancel(2) && !host.cancel(1) && !host.cancel(9));
    assert_eq!(arrives(&mut host, FrameKind::Cancelled, 1, EMPTY_BODY), Ok(HostEvent::Cancelled(1)));
    assert_eq!(arrives(&mut host, FrameKind::Result, 2, b"\xc0"), Ok(HostEvent::Returned(2)));
    assert!(!host.cancel(2));
    assert_eq!(code(arrives(&mut host, FrameKind::Cancelled, 3, EMPTY_BODY)), Code::UnexpectedFrame);
}

#[test]
fn s15_progress_is_of_a_call_and_log_of_one_or_none() {
    let mut host = ready();
    let progress = Progress { done: 1, total: Some(2), text: "half" };
    let log = Log { level: 30, logger: "a", message: "b", created: 1.5, path: "", line: 0, function: "" };
    let (told, logged) = (progress.to_body().unwrap(), log.to_body().unwrap());
    assert_eq!(arrives(&mut host, FrameKind::Log, 0, &logged), Ok(HostEvent::Log(0, log)));
    host.begin_call(Verb::Script).unwrap();
    assert_eq!(arrives(&mut host, FrameKind::Log, 1, &logged), Ok(HostEvent::Log(1, log)));
    assert_eq!(arrives(&mut host, FrameKind::Progress, 1, &told), Ok(HostEvent::Progress(1, progress)));
    assert_eq!(code(arrives(&mut host, FrameKind::Log, 2, &logged)), Code::UnknownCall);
}

#[test]
fn s16_shutdown_comes_when_no_call_is_open() {
    assert_eq!(new().shutdown().unwrap_err().code(), Code::UnexpectedFrame);
    let mut host = ready();
    host.begin_call(Verb::Function).unwrap();
    assert_eq!(host.shutdown().unwrap_err().code(), Code::UnexpectedFrame);
    arrives(&mut host, FrameKind::Result, 1, b"\xc0").unwrap();
    assert_eq!(host.shutdown(), Ok(()));
    assert_eq!(host.shutdown().unwrap_err().code(), Code::UnexpectedFrame);
    assert_eq!(host.begin_call(Verb::Function).unwrap_err().code(), Code::UnexpectedFrame);
    assert!(!host.is_closed());
}

#[test]
fn s17_the_smaller_limit_holds_and_an_error_says_whose_it_is() {
    let mut host = new();
    let own = Limits { memory: 100, depth: 9, ..Limits::default() };
    assert_eq!(host.peer_limits(&own), own, "nothing has been said");
    let theirs = Limits { memory: 200, depth: 5, ..Limits::default() };
    let said = Hello::of(Role::Worker, theirs).to_body().unwrap();
    host.handle(&head(FrameKind::Hello, 0), &said).unwrap();
    assert_eq!(host.peer_limits(&own), Limits { memory: 100, depth: 5, ..Limits::default() });
    let found = |code| host.blame(&own, Error::new(code).note("6 asked for, 5 allowed")).message();
    assert!(found(Code::DepthLimit).ends_with("6 asked for, 5 allowed, by the peer's limit `depth`"));
    assert!(found(Code::MemoryLimit).ends_with(": 6 asked for, 5 allowed"));
    assert!(found(Code::Mutated).ends_with(": 6 asked for, 5 allowed"));
}
