//! Hosts against bytes: a peer that is written by hand, and a clock that stands still while anything is to be done.

use std::sync::Arc;
use std::time::Duration;

use hookless::frame::{FrameKind, OwnedParts};
use hookless::session::{self, Role};
use hookless::{Code, Limits, Value};
use hookless_tokio::{Error, Event, Host, Request, Settings};
use support::by_hand::{Peer, control, frame, hello, pair};
use support::vectors::{accept, reject};
use tokio::io::AsyncWriteExt;

/// A host, and the worker's end of its stream, which have greeted.
async fn attached(settings: Settings, room: usize) -> (Host, Peer) {
    let (ours, mut peer) = pair(room);
    peer.say(&hello(Role::Worker, Limits::default())).await;
    let host = Host::attach(ours, settings).await.unwrap();
    peer.expect(FrameKind::Hello, 0).await;
    (host, peer)
}

async fn fresh() -> (Host, Peer) {
    attached(Settings::default(), 1 << 20).await
}

fn code(error: &Error) -> Code {
    match error {
        Error::Protocol(error) | Error::Refused(error) => error.code(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s2_each_vector_of_a_hello_is_refused_by_its_code_and_offset() {
    let mut seen = 0;
    for vector in reject().into_iter().filter(|vector| vector.frame.get(5) == Some(&2) && vector.for_push()) {
        let (ours, mut peer) = pair(1 << 20);
        peer.say(&vector.frame).await;
        peer.stream.shutdown().await.unwrap();
        let settings = Settings { limits: vector.limits.clone(), ..Settings::default() };
        let Err(Error::Protocol(error)) = Host::attach(ours, settings).await else {
            panic!("{}", vector.name)
        };
        let found = (error.code().as_str().to_owned(), error.offset().unwrap_or_default());
        assert_eq!(Some(found), vector.error, "{}", vector.name);
        seen += 1;
    }
    assert!(seen > 10, "only {seen}");
}

/// The frame of a VALUE as RESULT of the first call.
fn as_result(frame: &[u8]) -> Option<Vec<u8>> {
    let mut frame = frame.to_vec();
    if frame.len() < 32 || frame[5] != 1 || frame[8..16] != [0; 8] {
        return None;
    }
    frame[5] = FrameKind::Result.number();
    frame[15] = 1;
    Some(frame)
}

#[tokio::test]
async fn each_vector_as_the_result_of_a_call() {
    let mut seen = 0;
    for vector in accept().iter().chain(&reject()).filter(|vector| vector.for_push()) {
        let Some(result) = as_result(&vector.frame).filter(|frame| frame.len() < 1 << 20) else { continue };
        // A host whose limits are too small to say HELLO, or to call, is another matter.
        let settings = Settings { limits: vector.limits.clone(), ..Settings::default() };
        let (ours, mut peer) = pair(4 << 20);
        peer.say(&hello(Role::Worker, Limits::default())).await;
        let Ok(host) = Host::attach(ours, settings).await else { continue };
        peer.expect(FrameKind::Hello, 0).await;
        let Ok(call) = host.request("x") else { continue };
        peer.expect(FrameKind::Call, 1).await;
        peer.say(&result).await;
        peer.stream.shutdown().await.unwrap();
        match (call.await, &vector.error) {
            (Ok(value), None) => {
                assert_eq!(Some(value), hookless::decode(&vector.frame, &vector.limits).ok())
            }
            (Err(Error::Protocol(error)), Some(wanted)) => {
                let found = (error.code().as_str().to_owned(), error.offset().unwrap_or_default());
                assert_eq!(&found, wanted, "{}", vector.name);
            }
            (other, wanted) => panic!("{}: {other:?}, and not {wanted:?}", vector.name),
        }
        seen += 1;
    }
    assert!(seen > 600, "only {seen}: the vectors were not found");
}

#[tokio::test]
async fn an_answer_torn_at_every_byte_arrives_and_one_cut_there_does_not() {
    let parts = OwnedParts::encode(
        Value::List(vec![Value::Bytes(vec![7; 16_384]), "end".into()]),
        FrameKind::Result,
        1,
        &Limits::default(),
    )
    .unwrap();
    let mut bytes = parts.start;
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    bytes.extend(parts.region.concat());
    for cut in (0..200).chain((200..bytes.len()).step_by(911)).chain([bytes.len() - 1]) {
        let (host, mut peer) = fresh().await;
        let call = host.request("x").unwrap();
        peer.expect(FrameKind::Call, 1).await;
        peer.say(&bytes[..cut]).await;
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        peer.say(&bytes[cut..]).await;
        assert!(call.await.is_ok(), "torn at {cut}");

        let (host, mut peer) = fresh().await;
        let call = host.request("x").unwrap();
        peer.expect(FrameKind::Call, 1).await;
        peer.say(&bytes[..cut]).await;
        drop(peer);
        match call.await {
            Err(Error::Died(death)) if cut == 0 => assert!(death.status.is_none()),
            Err(Error::Protocol(error)) => {
                assert_eq!((error.code(), error.offset()), (Code::Truncated, Some(cut as u64)));
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_out_of_turn_closes_the_session() {
    let result = |id| frame(FrameKind::Result, id, Value::None);
    let cases = [
        (hello(Role::Worker, Limits::default()), Code::UnexpectedFrame),
        (result(2), Code::UnknownCall),
        (frame(FrameKind::Item, 1, Value::None), Code::UnexpectedFrame),
        (control(FrameKind::Cancelled, 1, b"\x90"), Code::UnexpectedFrame),
        (control(FrameKind::Shutdown, 0, b"\x90"), Code::UnexpectedFrame),
        (frame(FrameKind::Value, 0, Value::None), Code::BadCallId),
    ];
    for (mut bytes, wanted) in cases {
        if wanted == Code::BadCallId {
            bytes[15] = 1;
        }
        let (host, mut peer) = fresh().await;
        let (call, other) = (host.request("x").unwrap(), host.request("y"));
        peer.expect(FrameKind::Call, 1).await;
        // Calls that are not sent yet are told, too.
        peer.say(&bytes).await;
        if wanted != Code::UnknownCall {
            assert_eq!(code(&call.await.unwrap_err()), wanted);
            assert_eq!(code(&other.unwrap().await.unwrap_err()), wanted);
        }
    }
    let (ours, mut peer) = pair(1024);
    peer.say(&result(1)).await;
    assert_eq!(code(&Host::attach(ours, Settings::default()).await.unwrap_err()), Code::UnexpectedFrame);
}

#[tokio::test]
async fn s11_an_answer_that_was_begun_before_its_call_is_refused() {
    let (host, mut peer) = fresh().await;
    let answer = frame(FrameKind::Result, 1, Value::None);
    peer.say(&answer[..20]).await;
    let call = host.request("x").unwrap();
    peer.expect(FrameKind::Call, 1).await;
    peer.say(&answer[20..]).await;
    assert_eq!(code(&call.await.unwrap_err()), Code::UnexpectedFrame);
    let (host, mut peer) = fresh().await;
    peer.say(&answer).await;
    let call = host.request("x").unwrap();
    assert_eq!(code(&call.await.unwrap_err()), Code::UnknownCall);
}

#[tokio::test]
async fn l11_1024_calls_are_open_and_no_more() {
    let (host, mut peer) = fresh().await;
    let mut calls: Vec<_> = (0..1025).map(|_| host.request("x").unwrap()).collect();
    let past = calls.pop().unwrap().await.unwrap_err();
    assert_eq!((code(&past), past.ends_session()), (Code::OpenCallLimit, false));
    for id in 1..=1024 {
        peer.expect(FrameKind::Call, id).await;
        peer.say(&frame(FrameKind::Result, id, Value::from(1))).await;
    }
    for call in calls {
        assert_eq!(call.await.unwrap(), Value::from(1));
    }
}

#[tokio::test]
async fn l10_answers_that_nobody_takes_are_bounded() {
    for is_taken in [true, false] {
        let settings =
            Settings { limits: Limits { undelivered: 300, ..Limits::default() }, ..Settings::default() };
        let (host, mut peer) = attached(settings, 1 << 20).await;
        let mut kept = Vec::new();
        for id in 1..=3 {
            let Ok(call) = host.request("x") else { break };
            peer.expect(FrameKind::Call, id).await;
            peer.say(&frame(FrameKind::Result, id, Value::None)).await;
            if is_taken {
                call.await.unwrap_or_else(|error| panic!("{id}: {error}"));
            } else {
                kept.push(call);
            }
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(host.error().as_ref().map(code), (!is_taken).then_some(Code::UndeliveredLimit));
    }
}

#[tokio::test]
async fn l10_a_log_of_no_call_is_kept_once_however_many_are_told() {
    let (host, mut peer) = fresh().await;
    let mut calls: Vec<_> = (0..3).map(|_| host.request(Request::function("x").events()).unwrap()).collect();
    for id in 1..=3 {
        peer.expect(FrameKind::Call, id).await;
    }
    let log = session::Log {
        level: 30,
        logger: "x",
        message: "to all",
        created: 1.5,
        path: "",
        line: 0,
        function: "",
    };
    peer.say(&control(FrameKind::Log, 0, &log.to_body().unwrap())).await;
    let mut told = Vec::new();
    for call in &mut calls {
        let Some(Event::Log(log)) = call.next_event().await else { panic!() };
        told.push(log);
    }
    assert_eq!(told[0].message, "to all");
    assert!(told.iter().all(|log| Arc::ptr_eq(log, &told[0])));
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_and_its_late_answer_let_go() {
    let (host, mut peer) = fresh().await;
    // Dropped before it was begun: nothing of it is sent, and the next one takes its id.
    drop(host.request("never").unwrap());
    drop(host.call("never", [], []));
    let mut call = Box::pin(host.call("x", [], []));
    assert!(tokio::time::timeout(Duration::from_millis(1), &mut call).await.is_err());
    peer.expect(FrameKind::Call, 1).await;
    drop(call);
    peer.expect(FrameKind::Cancel, 1).await;
    peer.say(&frame(FrameKind::Result, 1, Value::None)).await;
    let next = host.request("y").unwrap();
    peer.expect(FrameKind::Call, 2).await;
    peer.say(&frame(FrameKind::Result, 2, Value::from(2))).await;
    assert_eq!(next.await.unwrap(), Value::from(2));
}

#[tokio::test]
async fn s13_a_stream_has_credit_for_its_window_and_loses_no_item() {
    let (host, mut peer) = fresh().await;
    let mut items = host.stream(Request::function("x").window(4)).unwrap();
    peer.expect(FrameKind::Call, 1).await;
    let (mut credit, mut sent) = (0, 0);
    for taken in 0..40 {
        while credit == 0 {
            let Value::List(body) = peer.expect(FrameKind::Credit, 1).await else { panic!() };
            credit += hookless::from_value::<u32>(body[0].clone()).unwrap();
            assert!(credit + sent - taken <= 4 + 1, "no more run ahead than the window");
        }
        // Asked for and given up, before it comes and when it is there.
        let _ = tokio::time::timeout(Duration::ZERO, items.next()).await.is_err();
        if sent == taken {
            peer.say(&frame(FrameKind::Item, 1, Value::from(i64::from(sent)))).await;
            sent += 1;
            credit -= 1;
        }
        assert_eq!(items.next_typed::<u32>().await.unwrap().unwrap(), taken);
    }
    peer.say(&frame(FrameKind::Result, 1, "end".into())).await;
    assert!(items.next().await.is_none());
    assert_eq!(items.returned(), Some("end".into()));
}

#[tokio::test]
async fn s13_an_item_without_credit_closes_the_session() {
    let (host, mut peer) = fresh().await;
    let mut items = host.stream("x").unwrap();
    peer.expect(FrameKind::Call, 1).await;
    peer.expect(FrameKind::Credit, 1).await;
    // One has credit; the second comes before that was taken.
    let item = frame(FrameKind::Item, 1, Value::None);
    peer.say(&[&item[..], &item].concat()).await;
    assert!(items.next().await.unwrap().is_ok(), "what came before is handed on");
    assert_eq!(code(&items.next().await.unwrap().unwrap_err()), Code::NoCredit);
    assert!(items.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn half_a_frame_stalls_at_its_time_and_silence_does_not() {
    let settings = Settings { stall: Duration::from_secs(30), ..Settings::default() };
    let (host, mut peer) = attached(settings, 1 << 20).await;
    let call = host.request("x").unwrap();
    peer.expect(FrameKind::Call, 1).await;
    tokio::time::sleep(Duration::from_secs(1000)).await;
    assert!(host.error().is_none());
    peer.say(&frame(FrameKind::Result, 1, Value::None)[..31]).await;
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert!(host.error().is_none());
    assert!(matches!(call.await, Err(Error::Stalled(after)) if after.as_secs() == 30));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_stalls_unless_it_is_at_work() {
    let (host, peer) = attached(Settings::default(), 512).await;
    let large = || Request::function("x").arg(vec![0u8; 100_000]);
    let call = host.request(large()).unwrap();
    assert!(matches!(call.await, Err(Error::Stalled(_))));
    drop(peer);
    let (host, mut peer) = attached(Settings::default(), 512).await;
    let _first = host.request("y").unwrap();
    peer.expect(FrameKind::Call, 1).await;
    let _second = host.request(large()).unwrap();
    tokio::time::sleep(Duration::from_secs(1000)).await;
    assert!(host.error().is_none(), "{:?}", host.error());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_waits_for_the_acknowledgement_and_grace_ends() {
    let second = Duration::from_secs(1);
    let (host, mut peer) = fresh().await;
    let mut call = host.request(Request::function("x").deadline(second)).unwrap();
    peer.expect(FrameKind::Call, 1).await;
    assert!(tokio::time::timeout(second * 2, &mut call).await.is_err(), "it is not over before it is ended");
    peer.expect(FrameKind::Cancel, 1).await;
    peer.say(&control(FrameKind::Cancelled, 1, b"\x90")).await;
    assert!(matches!(call.await, Err(Error::DeadlineExceeded { acknowledged: true, .. })));
    // The same without an answer; another call is told why.
    let (late, other) =
        (host.request(Request::function("x").deadline(second)).unwrap(), host.request("y").unwrap());
    assert!(matches!(late.await, Err(Error::DeadlineExceeded { acknowledged: false, .. })));
    assert!(matches!(other.await, Err(Error::Unresponsive(_))));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_greets_is_given_up() {
    let (ours, _peer) = pair(1024);
    let refused = Host::attach(ours, Settings::default()).await;
    assert!(matches!(refused, Err(Error::DeadlineExceeded { after, .. }) if after.as_secs() == 30));
}

#[tokio::test]
async fn s16_an_orderly_end_says_shutdown_when_no_call_is_open() {
    let (host, mut peer) = fresh().await;
    let call = host.request("x").unwrap();
    peer.expect(FrameKind::Call, 1).await;
    let closing = tokio::spawn(host.close());
    peer.expect(FrameKind::Cancel, 1).await;
    peer.say(&control(FrameKind::Cancelled, 1, b"\x90")).await;
    peer.expect(FrameKind::Shutdown, 0).await;
    drop(peer);
    assert!(closing.await.unwrap().is_none());
    assert!(matches!(call.await, Err(Error::Cancelled)));
}

#[tokio::test]
async fn s17_what_the_peer_does_not_take_is_refused_and_nothing_is_sent() {
    let (ours, mut peer) = pair(1 << 20);
    peer.say(&hello(Role::Worker, Limits { body: 1000, ..Limits::default() })).await;
    let host = Host::attach(ours, Settings::default()).await.unwrap();
    let refused = host.request(Request::function("x").arg("y".repeat(1000))).unwrap_err();
    assert_eq!((code(&refused), refused.ends_session()), (Code::BodyLimit, false));
    assert!(refused.to_string().contains("peer's limit"), "{refused}");
    assert!(host.request("x").is_ok());
}
