//! Hosts of real children: however a call or a child ends, there is one distinct error, and nothing is left.

use std::path::Path;
use std::time::Duration;

use hookless::frame::{FrameKind, OwnedParts};
use hookless::{Array, Code, Limits, Value};
use hookless_tokio::{Call, Error, Event, Host, IntoValue, Launch, Output, Request};
use ndarray::ArrayD;
use support::vectors::accept;

const CHILD: &str = env!("CARGO_BIN_EXE_tokio_child");

/// Longer than anything here takes; it turns a hang into a failure.
const HANG: Duration = Duration::from_secs(60);

async fn start() -> Host {
    Launch::program(CHILD).start().await.unwrap()
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, work).await.expect("no end in sight")
}

fn call(host: &Host, name: &str, args: impl IntoIterator<Item = Value>) -> Call {
    host.request(Request::function(name).args(args)).unwrap()
}

/// Whether a process is there, be it as one that nobody has reaped.
fn is_there(id: u32) -> bool {
    Path::new(&format!("/proc/{id}")).exists()
}

async fn gone(id: u32) {
    within(async {
        while is_there(id) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// A child that answers the first call by these bytes.
async fn raw(frames: &[u8]) -> Host {
    let hex: String = frames.iter().map(|byte| format!("{byte:02x}")).collect();
    Launch::program(CHILD).arg("raw").arg(hex).stall(Duration::from_millis(300)).start().await.unwrap()
}

/// A call whose frame is large enough to be seen by the child above.
async fn ask(host: &Host) -> Result<Value, Error> {
    within(host.call("x", ["x".repeat(200).into_value()], [])).await
}

fn frame(kind: FrameKind, id: u64, value: Value) -> Vec<u8> {
    OwnedParts::encode(value, kind, id, &Limits::default()).unwrap().start
}

#[tokio::test]
async fn values_come_back_as_they_went() {
    let host = start().await;
    let kwargs = [("order".to_owned(), Value::from(3))];
    let echoed = within(host.call("echo", ["a".into(), true.into()], kwargs)).await.unwrap();
    let named = Value::Dict(vec![("order".into(), 3.into())]);
    assert_eq!(echoed, Value::Tuple(vec!["a".into(), true.into(), named]));
    let (mut seen, mut refused) = (0, 0);
    for vector in accept().into_iter().filter(|vector| vector.for_decode()) {
        let limits = Limits::default();
        let Ok(value) = hookless::decode(&vector.frame, &limits) else { continue };
        if vector.frame.len() > 1 << 20 {
            continue;
        }
        // A call is a list around it.
        let request = Request::function("same").arg(value.clone());
        match host.request(request) {
            Ok(back) => assert_eq!(within(back).await.ok(), Some(value), "{}", vector.name),
            Err(Error::Refused(error)) if error.code() == Code::DepthLimit => refused += 1,
            Err(other) => panic!("{}: {other}", vector.name),
        }
        seen += 1;
    }
    assert!(seen > 300 && refused < 20, "only {seen}, and {refused} refused: were the vectors not found?");
    assert!(within(host.close()).await.is_some_and(|status| status.success()));
}

#[tokio::test]
async fn large_arrays_and_bytes_go_both_ways() {
    let host = start().await;
    let array = ArrayD::from_shape_fn(vec![1000, 1000], |at| (at[0] * 1000 + at[1]) as f64);
    let sent = Array::from_ndarray(&array).unwrap().into_value();
    let Value::Array(back) = within(call(&host, "same", [sent])).await.unwrap() else { panic!("no array") };
    assert_eq!(back.view::<f64>().unwrap(), array);
    let bytes = bytes::Bytes::from(vec![7u8; 3_000_000]);
    let back = within(call(&host, "same", [bytes.clone().into_value()])).await.unwrap();
    assert_eq!(back, Value::Bytes(bytes.to_vec()));
}

#[tokio::test]
async fn failures_name_what_the_child_raised_and_the_session_goes_on() {
    let host = start().await;
    let Err(Error::Remote(error)) = within(host.call("fail", ["so".into()], [])).await else { panic!() };
    assert!(error.matches("ValueError"), "{error}");
    assert_eq!(error.to_string(), "ValueError: so");
    let Err(Error::Remote(error)) = within(host.call("parse", ["x".into()], [])).await else { panic!() };
    assert_eq!(error.type_name(), "core.num.error.ParseIntError");
    for name in ["panic", "panic_in_a_thread"] {
        let Err(Error::Remote(error)) = within(host.call(name, [], [])).await else { panic!("{name}") };
        assert!(error.matches("RuntimeError"), "{error}");
    }
    let Err(Error::Remote(error)) = within(host.call("nothing", [], [])).await else { panic!() };
    assert!(error.matches("LookupError"));
    let script = host.request(Request::script("a.py", "result = 1")).unwrap();
    assert!(matches!(within(script).await, Err(Error::Remote(error)) if error.matches("TypeError")));
    let mismatch = within(call(&host, "same", [1.into()]).typed::<String>()).await;
    assert!(matches!(mismatch, Err(Error::Mismatch(error)) if error.code() == Code::TypeMismatch));
    let wrong = within(call(&host, "count", [1.into()])).await;
    assert!(matches!(wrong, Err(Error::Remote(_))));
    assert_eq!(within(call(&host, "same", [2.into()])).await.unwrap(), 2.into());
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let host = start().await;
    let slow = call(&host, "sleep", [30.0.into()]);
    assert_eq!(within(call(&host, "same", [1.into()])).await.unwrap(), 1.into());
    drop(slow);
    assert_eq!(within(call(&host, "same", [2.into()])).await.unwrap(), 2.into());
}

#[tokio::test]
async fn a_stream_gives_its_items_in_order_and_what_it_returned() {
    let host = start().await;
    let mut items = host.stream(Request::function("count").arg(100u32).window(3)).unwrap();
    for number in 0..100u32 {
        // A future that is dropped, polled or not, loses nothing.
        drop(items.next());
        let _ = tokio::time::timeout(Duration::ZERO, std::future::pending::<()>()).await;
        assert_eq!(within(items.next_typed::<u32>()).await.unwrap().unwrap(), number);
    }
    assert!(within(items.next()).await.is_none());
    assert_eq!(items.returned(), Some("done".into()));
    let mut items = host.stream("break").unwrap();
    assert!(within(items.next()).await.unwrap().is_ok());
    assert!(matches!(within(items.next()).await, Some(Err(Error::Remote(_)))));
    assert!(within(items.next()).await.is_none());
    let mut left = host.stream(Request::function("count").arg(u32::MAX)).unwrap();
    assert!(within(left.next()).await.is_some());
    drop(left);
    assert_eq!(within(call(&host, "same", [1.into()])).await.unwrap(), 1.into());
}

#[tokio::test]
async fn a_deadline_cancels_and_the_session_goes_on() {
    let host = start().await;
    let after = Duration::from_millis(50);
    for name in ["sleep", "polite"] {
        let request = Request::function(name).arg(30.0).deadline(after);
        match within(host.request(request).unwrap()).await {
            Err(Error::DeadlineExceeded { after: told, acknowledged: true }) => assert_eq!(told, after),
            other => panic!("{other:?}"),
        }
    }
    let mut cancelled = call(&host, "polite", []);
    cancelled.cancel();
    assert!(matches!(within(cancelled).await, Err(Error::Cancelled)));
    assert_eq!(within(call(&host, "same", [1.into()])).await.unwrap(), 1.into());
}

#[tokio::test]
async fn code_that_heeds_no_cancel_is_stopped_and_all_calls_are_told() {
    let host = Launch::program(CHILD).grace(Duration::from_millis(200)).start().await.unwrap();
    let id = host.id().unwrap();
    let other = call(&host, "sleep", [30.0.into()]);
    let late = Request::function("spin").deadline(Duration::from_millis(50));
    let late = within(host.request(late).unwrap()).await;
    assert!(matches!(late, Err(Error::DeadlineExceeded { acknowledged: false, .. })), "{late:?}");
    assert!(matches!(within(other).await, Err(Error::Unresponsive(_))));
    assert!(matches!(host.request("same"), Err(Error::Unresponsive(_))));
    gone(id).await;
}

#[tokio::test]
async fn a_death_is_told_with_status_signal_and_last_words() {
    for status in [0, 3] {
        let host = start().await;
        let Err(Error::Died(death)) = within(host.call("exit", [status.into()], [])).await else { panic!() };
        assert_eq!((death.code(), death.signal()), (Some(i32::try_from(status).unwrap()), None));
        assert_eq!(death.output, b"last words\n");
        assert!(matches!(host.request("same"), Err(Error::Died(_))), "a later call is told the same");
        assert!(!is_there(host.id().unwrap()));
    }
    let host = start().await;
    let Err(Error::Died(death)) = within(host.call("abort", [], [])).await else { panic!() };
    assert_eq!((death.code(), death.signal()), (None, Some(6)));
    let Err(Error::Died(death)) = within(Launch::program(CHILD).arg("exit").start()).await else { panic!() };
    assert_eq!(death.code(), Some(7));
    let Err(Error::Io(_)) = within(Launch::program("/nonexistent").start()).await else { panic!() };
}

#[tokio::test]
async fn a_child_that_says_nothing_is_stopped() {
    let launch = Launch::program(CHILD).arg("silent").start_timeout(Duration::from_millis(100));
    assert!(matches!(within(launch.start()).await, Err(Error::DeadlineExceeded { acknowledged: false, .. })));
}

#[tokio::test]
async fn a_child_that_is_not_isolated_is_refused_where_that_is_asked_for() {
    let refused = within(Launch::program(CHILD).confirm_isolation().start()).await;
    assert!(matches!(refused, Err(Error::Isolation)), "{refused:?}");
}

#[tokio::test]
async fn a_child_that_leaves_the_channel_to_another_process_has_ended_nevertheless() {
    let Err(Error::Died(death)) = within(Launch::program(CHILD).arg("hold").start()).await else { panic!() };
    assert_eq!(death.code(), Some(0));
}

#[tokio::test]
async fn a_host_that_is_dropped_kills_and_reaps() {
    let host = start().await;
    let (id, open) = (host.id().unwrap(), call(&host, "spin", []));
    drop(host);
    gone(id).await;
    assert!(matches!(within(open).await, Err(Error::Closed)));
}

#[test]
fn the_end_of_a_runtime_kills_and_reaps() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = runtime.block_on(start());
    let (id, open) = (host.id().unwrap(), call(&host, "spin", []));
    drop(runtime);
    drop(host);
    assert!(!is_there(id), "the last handle reaps it");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(matches!(runtime.block_on(open), Err(Error::Closed)));
}

#[tokio::test]
async fn output_progress_and_logs_are_events_of_the_call() {
    let host = start().await;
    let request = Request::function("say").arg("out").arg("err").events();
    let mut said = host.request(request).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    while let Some(event) = within(said.next_event()).await {
        match event {
            Event::Output(Output::Stdout, bytes) => out.extend(bytes),
            Event::Output(Output::Stderr, bytes) => err.extend(bytes),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(within(said).await.unwrap(), Value::None);
    assert_eq!((&out[..], &err[..]), (&b"out"[..], &b"err"[..]));
    assert!(matches!(&host.output()[..], b"outerr" | b"errout"));
    let mut reported = host.request(Request::function("report").events()).unwrap();
    let Some(Event::Progress { done: 1, total: Some(2), text }) = within(reported.next_event()).await else {
        panic!()
    };
    assert_eq!(text, "half");
    let Some(Event::Log(log)) = within(reported.next_event()).await else { panic!() };
    assert_eq!((log.level, &log.logger[..], &log.message[..]), (30, "child", "odd"));
    assert!(within(reported.next_event()).await.is_none());
}

#[tokio::test]
async fn a_flood_of_output_is_drained_and_the_rest_is_counted_as_dropped() {
    let host = start().await;
    let mut flood = host.request(Request::function("flood").arg(20u64 << 20).events()).unwrap();
    let (mut bytes, mut dropped) = (0, 0);
    while let Some(event) = within(flood.next_event()).await {
        match event {
            Event::Output(_, more) => bytes += more.len(),
            Event::OutputDropped => dropped += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(bytes <= 16 << 20 && dropped == 1, "{bytes} and {dropped}");
    assert!(within(flood).await.is_ok());
    assert_eq!(host.output().len(), 64 << 10);
}

#[tokio::test]
async fn standard_input_of_a_child_is_empty() {
    let host = start().await;
    assert_eq!(within(call(&host, "input", [])).await.unwrap(), "".into());
}

#[tokio::test]
async fn hostile_children_break_their_own_session_only() {
    let good = frame(FrameKind::Result, 1, Value::None);
    let cases = [
        (b"\x80\x04\x95pickle".to_vec(), Code::BadMagic),
        (frame(FrameKind::Result, 2, Value::None), Code::UnknownCall),
        (frame(FrameKind::Item, 1, Value::None), Code::UnexpectedFrame),
        (frame(FrameKind::Call, 1, Value::None), Code::UnexpectedFrame),
        (OwnedParts::control(FrameKind::Cancelled, 1, b"\x90").unwrap().start, Code::UnexpectedFrame),
        ([&good[..32], b"\xc1"].concat(), Code::BadType),
    ];
    for (bytes, code) in cases {
        let host = raw(&bytes).await;
        let id = host.id().unwrap();
        let Err(Error::Protocol(error)) = ask(&host).await else { panic!("{code:?}") };
        if code != Code::BadType {
            assert_eq!(error.code(), code);
        }
        gone(id).await;
    }
    let host = raw(&[&good[..], &good].concat()).await;
    let first = ask(&host).await;
    assert!(first.is_ok(), "what came before the second answer stands: {first:?}");
    within(async {
        while host.error().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(matches!(host.error(), Some(Error::Protocol(error)) if error.code() == Code::UnknownCall));
    // Half a frame, and then nothing.
    let host = raw(&good[..20]).await;
    let stalled = ask(&host).await;
    assert!(matches!(stalled, Err(Error::Stalled(_))), "{stalled:?}");
}

#[tokio::test]
async fn examples_do_what_they_say() {
    let (pair, worker) = (env!("CARGO_BIN_EXE_example_pair"), env!("CARGO_BIN_EXE_example_worker"));
    let ran = std::process::Command::new(pair).arg(worker).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let failed = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{failed}");
    assert!(said.contains("mean: 1999.5\nitem: 0\nitem: 1\nitem: 2\nthe child is held back: "), "{said}");
}
