//! The worker's side of a session, step by step: S2, S4, S5, S9, S12 to S14, S16.

use hookless::frame::{FrameKind, Head};
use hookless::limits::{CREDIT, OPEN_CALLS};
use hookless::session::{Credit, EMPTY_BODY, End, Hello, Role, Worker, WorkerEvent};
use hookless::{Code, Limits, Result};

const FUNCTION: &[u8] = b"\x95\x00";
const STREAM: &[u8] = b"\x95\x02";

fn head(kind: FrameKind, call_id: u64) -> Head {
    Head { kind, call_id, body_len: 1, data_len: 0 }
}

fn ready() -> Worker {
    let mut worker = Worker::new(Limits::default());
    let hello = Hello::of(Role::Host, Limits::default()).to_body().unwrap();
    assert_eq!(worker.handle(&head(FrameKind::Hello, 0), &hello), Ok(WorkerEvent::Ready));
    worker
}

/// One whose calls are open.
fn with(calls: &[&[u8]]) -> Worker {
    let mut worker = ready();
    for (id, body) in (1..).zip(calls) {
        assert_eq!(worker.handle(&head(FrameKind::Call, id), body), Ok(WorkerEvent::Call(id)));
    }
    worker
}

fn refused<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.unwrap_err().code()
}

fn credit(items: u32) -> Vec<u8> {
    Credit { items }.to_body().unwrap()
}

#[test]
fn s5_call_ids_rise_by_one() {
    let mut worker = with(&[FUNCTION, STREAM]);
    assert_eq!(worker.end_call(2, End::Result), Ok(()));
    assert_eq!(refused(worker.end_call(2, End::Error)), Code::UnknownCall);
    assert_eq!(refused(worker.handle(&head(FrameKind::Call, 4), FUNCTION)), Code::UnknownCall);
    assert_eq!(refused(worker.handle(&head(FrameKind::Call, 3), FUNCTION)), Code::UnexpectedFrame);
    assert_eq!(refused(worker.end_call(1, End::Result)), Code::UnexpectedFrame);
}

#[test]
fn s4_a_call_says_what_it_is() {
    for body in [&b"\x95\x03"[..], b"\x94\x00", b"\x95", b"", b"\x95\xcc\x00"] {
        assert_eq!(refused(ready().handle(&head(FrameKind::Call, 1), body)), Code::BadCall, "{body:?}");
    }
}

#[test]
fn l11_a_call_too_many_is_unexpected() {
    let mut worker = with(&[FUNCTION; OPEN_CALLS]);
    assert_eq!((worker.open(), worker.is_open(1024)), (1024, true));
    assert_eq!(worker.end_call(77, End::Error), Ok(()));
    assert_eq!(worker.handle(&head(FrameKind::Call, 1025), FUNCTION), Ok(WorkerEvent::Call(1025)));
    assert_eq!(refused(worker.handle(&head(FrameKind::Call, 1026), FUNCTION)), Code::UnexpectedFrame);
}

#[test]
fn s12_s13_an_item_takes_a_credit_of_a_stream() {
    let mut worker = with(&[STREAM, FUNCTION]);
    assert_eq!(refused(worker.item(1)), Code::NoCredit);
    let (first, second) = (head(FrameKind::Credit, 1), head(FrameKind::Credit, 2));
    assert_eq!(worker.handle(&first, &credit(1)), Ok(WorkerEvent::Credit(1)));
    assert_eq!((worker.credit(1), worker.credit(2)), (1, 0));
    assert_eq!((worker.item(1), worker.credit(1)), (Ok(()), 0));
    assert_eq!(refused(worker.item(1)), Code::NoCredit);
    assert_eq!(refused(worker.item(2)), Code::UnexpectedFrame);
    assert_eq!(refused(worker.item(3)), Code::UnknownCall);
    assert_eq!(refused(worker.handle(&second, &credit(1))), Code::UnexpectedFrame);
}

#[test]
fn l12_credit_past_the_most_is_unexpected() {
    let mut worker = with(&[STREAM]);
    let more = head(FrameKind::Credit, 1);
    assert_eq!(worker.handle(&more, &credit(CREDIT)), Ok(WorkerEvent::Credit(1)));
    assert_eq!(worker.item(1), Ok(()));
    assert_eq!(worker.handle(&more, &credit(1)), Ok(WorkerEvent::Credit(1)));
    assert_eq!(refused(worker.handle(&more, &credit(1))), Code::UnexpectedFrame);
}

#[test]
fn s14_cancel_of_a_call_that_is_over_is_ignored() {
    let mut worker = with(&[FUNCTION, STREAM]);
    assert_eq!(refused(worker.end_call(1, End::Cancelled)), Code::UnexpectedFrame);
    assert_eq!(worker.handle(&head(FrameKind::Cancel, 1), EMPTY_BODY), Ok(WorkerEvent::Cancel(1)));
    assert_eq!(worker.handle(&head(FrameKind::Cancel, 1), EMPTY_BODY), Ok(WorkerEvent::Ignored));
    assert_eq!((worker.is_cancelled(1), worker.is_cancelled(2)), (true, false));
    assert_eq!(worker.end_call(1, End::Cancelled), Ok(()));
    assert_eq!(worker.end_call(2, End::Result), Ok(()));
    for id in [1, 2] {
        assert_eq!(worker.handle(&head(FrameKind::Cancel, id), EMPTY_BODY), Ok(WorkerEvent::Ignored));
        assert_eq!(worker.handle(&head(FrameKind::Credit, id), &credit(9)), Ok(WorkerEvent::Ignored));
    }
    assert_eq!(refused(worker.handle(&head(FrameKind::Cancel, 3), EMPTY_BODY)), Code::UnknownCall);
    let mut worker = ready();
    assert_eq!(refused(worker.handle(&head(FrameKind::Credit, 1), &credit(1))), Code::UnknownCall);
}

#[test]
fn s16_after_shutdown_calls_run_to_their_end_and_none_begins() {
    let mut worker = with(&[STREAM]);
    assert_eq!(worker.handle(&head(FrameKind::Shutdown, 0), EMPTY_BODY), Ok(WorkerEvent::Shutdown));
    assert_eq!(worker.handle(&head(FrameKind::Credit, 1), &credit(1)), Ok(WorkerEvent::Credit(1)));
    assert_eq!((worker.item(1), worker.end_call(1, End::Result)), (Ok(()), Ok(())));
    assert!(worker.is_ending() && !worker.is_closed());
    assert_eq!(refused(worker.handle(&head(FrameKind::Call, 2), FUNCTION)), Code::UnexpectedFrame);
    let mut worker = ready();
    worker.handle(&head(FrameKind::Shutdown, 0), EMPTY_BODY).unwrap();
    let again = worker.handle(&head(FrameKind::Shutdown, 0), EMPTY_BODY);
    assert_eq!(refused(again), Code::UnexpectedFrame);
}

#[test]
fn s2_a_control_body_comes_before_the_turn_and_s9_before_both() {
    let mut worker = Worker::new(Limits::default());
    assert_eq!(refused(worker.handle(&head(FrameKind::Cancel, 1), b"\xc0")), Code::BadControl);
    assert_eq!(refused(worker.handle(&head(FrameKind::Cancel, 1), b"\xc0")), Code::UnexpectedFrame);
    let mut worker = Worker::new(Limits::default());
    assert_eq!(refused(worker.handle(&head(FrameKind::Cancel, 1), EMPTY_BODY)), Code::UnexpectedFrame);
}
