//! Workers against bytes: a host that is written by hand.

use hookless::frame::FrameKind;
use hookless::session::Role;
use hookless::{Code, Limits, Value};
use hookless_tokio::{Error, Host, Settings, Worker};
use support::by_hand::{Peer, control, frame, hello, pair};
use tokio::io::duplex;

fn code(error: &Error) -> Code {
    match error {
        Error::Protocol(error) => error.code(),
        other => panic!("{other:?}"),
    }
}

/// A worker, and the host's end of its stream, which have greeted.
async fn served(worker: Worker) -> (tokio::task::JoinHandle<Result<(), Error>>, Peer) {
    let (ours, mut peer) = pair(1 << 20);
    peer.say(&hello(Role::Host, Limits::default())).await;
    let serving = tokio::spawn(worker.serve(ours));
    peer.expect(FrameKind::Hello, 0).await;
    (serving, peer)
}

fn called(id: u64, verb: i64) -> Vec<u8> {
    let kwargs = Value::Dict(Vec::new());
    let list = vec![verb.into(), "f".into(), Value::None, Value::Tuple(Vec::new()), kwargs];
    frame(FrameKind::Call, id, Value::List(list))
}

#[tokio::test]
async fn a_worker_refuses_a_host_that_breaks_a_rule() {
    let cases = [
        (called(2, 0), Code::UnknownCall),
        (frame(FrameKind::Result, 1, Value::None), Code::UnexpectedFrame),
        (control(FrameKind::Cancel, 1, b"\x90"), Code::UnknownCall),
        (frame(FrameKind::Call, 1, Value::None), Code::BadCall),
        (hello(Role::Host, Limits::default()), Code::UnexpectedFrame),
        (b"\x80\x04".to_vec(), Code::BadMagic),
    ];
    for (bytes, wanted) in cases {
        let (serving, mut peer) = served(Worker::new()).await;
        peer.say(&bytes).await;
        assert_eq!(code(&serving.await.unwrap().unwrap_err()), wanted);
    }
    let (serving, mut peer) = served(Worker::new()).await;
    peer.say(&called(1, 0)[..40]).await;
    drop(peer.stream);
    assert_eq!(code(&serving.await.unwrap().unwrap_err()), Code::Truncated);
}

#[tokio::test]
async fn a_worker_cancels_waits_for_credit_and_ends_in_order() {
    let worker = Worker::new().stream("f", |_, _, mut items| async move {
        for number in 0..3u32 {
            items.send(number).await?;
        }
        Ok(())
    });
    let (serving, mut peer) = served(worker).await;
    peer.say(&called(1, 2)).await;
    peer.say(&control(FrameKind::Credit, 1, b"\x91\x02")).await;
    assert_eq!(peer.expect(FrameKind::Item, 1).await, Value::from(0));
    assert_eq!(peer.expect(FrameKind::Item, 1).await, Value::from(1));
    peer.say(&control(FrameKind::Cancel, 1, b"\x90")).await;
    peer.expect(FrameKind::Cancelled, 1).await;
    // A stream that is asked for a result, and one that is left to the end.
    peer.say(&called(2, 0)).await;
    peer.expect(FrameKind::Error, 2).await;
    peer.say(&called(3, 2)).await;
    peer.say(&control(FrameKind::Shutdown, 0, b"\x90")).await;
    peer.say(&control(FrameKind::Credit, 3, b"\x91\x05")).await;
    for number in 0..3 {
        assert_eq!(peer.expect(FrameKind::Item, 3).await, Value::from(number));
    }
    peer.expect(FrameKind::Result, 3).await;
    assert!(peer.hear().await.is_none(), "it ends its stream");
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn s8_a_result_that_cannot_be_encoded_is_an_encode_error() {
    let worker = Worker::new().function("f", |_, _| async {
        let twice = vec![(Value::from(1), Value::None), (Value::from(true), Value::None)];
        Ok(Value::Dict(twice))
    });
    let (ours, theirs) = duplex(1 << 20);
    let serving = tokio::spawn(worker.serve(theirs));
    let host = Host::attach(ours, Settings::default()).await.unwrap();
    let Err(Error::Remote(error)) = host.call("f", [], []).await else { panic!() };
    assert!(error.matches("hookless.EncodeError") && error.matches("TypeError"), "{error}");
    host.close().await;
    serving.await.unwrap().unwrap();
}
