//! A Rust host of Python children. HOOKLESS_PYTHON names an interpreter that has the package `hookless`: `make test` sets it, and runs these.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "starts the example; says what a kernel lacks"
)]

use std::time::Duration;

use hookless::{Array, Code, Value};
use hookless_tokio::{Call, Error, Event, Host, IntoValue, Isolation, Launch, Request};
use ndarray::ArrayD;
use support::vectors::accept;

const HANG: Duration = Duration::from_secs(60);

fn python() -> std::ffi::OsString {
    std::env::var_os("HOOKLESS_PYTHON")
        .expect("HOOKLESS_PYTHON names no interpreter that has the package hookless")
}

async fn start() -> Host {
    within(Launch::python(python()).isolation(Isolation::Auto).start()).await.unwrap()
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, work).await.expect("no end in sight")
}

fn call(host: &Host, name: &str, args: impl IntoIterator<Item = Value>) -> Call {
    host.request(Request::function(name).args(args)).unwrap()
}

#[tokio::test]
#[ignore = "needs a Python with hookless: make test has one"]
async fn every_vector_goes_to_python_and_back() {
    let host = start().await;
    let script = "def same(value):\n    return value\n";
    let folder = std::env::temp_dir().join(format!("hookless-tokio-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("same.py"), script).unwrap();
    within(host.close()).await;
    let launch = Launch::python(python()).isolation(Isolation::Auto).path(&folder);
    let host = within(launch.start()).await.unwrap();
    let (mut seen, mut lacking) = (0, 0);
    for vector in accept().into_iter().filter(|vector| vector.for_decode() && vector.frame.len() < 1 << 20) {
        let Ok(value) = hookless::decode(&vector.frame, &hookless::Limits::default()) else { continue };
        let Ok(back) = host.request(Request::function("same:same").arg(value.clone())) else {
            lacking += 1;
            continue;
        };
        match within(back).await {
            Ok(back) => assert_eq!(back, value, "{}", vector.name),
            // S18: what this Python cannot hold (a dtype or a zone that it does not know, say) ends the call alone.
            Err(Error::Remote(error)) if error.matches("hookless.DecodeError") => {
                let said = error.to_string();
                let lacks = ["dtype_unsupported", "zone_unknown"].iter().any(|code| said.contains(code));
                assert!(lacks, "{}: {said}", vector.name);
                lacking += 1;
            }
            Err(other) => panic!("{}: {other}", vector.name),
        }
        seen += 1;
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(seen > 300 && lacking * 10 < seen, "{seen}, of which this Python lacks {lacking}");
}

#[tokio::test]
#[ignore = "needs a Python with hookless: make test has one"]
async fn calls_scripts_streams_and_failures() {
    let host = start().await;
    assert_eq!(within(call(&host, "math:sqrt", [4.0.into()]).typed::<f64>()).await.unwrap(), 2.0);
    let Err(Error::Remote(error)) = within(call(&host, "math:sqrt", [(-1.0).into()])).await else { panic!() };
    assert!(error.matches("ValueError"), "{error}");
    let script = Request::script("a.py", "import sys\nprint('said')\nresult = x + 1").kwarg("x", 41u32);
    let mut ran = host.request(script.events()).unwrap();
    let mut said = Vec::new();
    while let Some(event) = within(ran.next_event()).await {
        if let Event::Output(_, bytes) = event {
            said.extend(bytes);
        }
    }
    assert_eq!((within(ran).await.unwrap(), &said[..]), (Value::from(42), &b"said\n"[..]));
    let mut items = host.stream(Request::function("builtins:range").arg(50u32).window(4)).unwrap();
    for number in 0..50u32 {
        assert_eq!(within(items.next_typed::<u32>()).await.unwrap().unwrap(), number);
    }
    assert!(within(items.next()).await.is_none());
    let late = Request::function("time:sleep").arg(60u32).deadline(Duration::from_millis(200));
    let late = within(host.request(late).unwrap()).await;
    assert!(matches!(late, Err(Error::DeadlineExceeded { acknowledged: true, .. })), "{late:?}");
    drop(call(&host, "time:sleep", [60.into()]));
    assert!(within(call(&host, "os:getpid", [])).await.is_ok());
    assert!(within(host.close()).await.is_some_and(|status| status.success()));
}

#[tokio::test]
#[ignore = "needs a Python with hookless: make test has one"]
async fn large_arrays_and_bytes_go_both_ways() {
    let host = start().await;
    let array = ArrayD::from_shape_fn(vec![1000, 100], |at| (at[0] * 100 + at[1]) as f64);
    let sent = Array::from_ndarray(&array).unwrap();
    // Without NumPy it is an array of hookless's own, which goes back as it came.
    let back = within(call(&host, "copy:copy", [sent.clone().into_value()])).await;
    if let Ok(Value::Array(back)) = back {
        assert_eq!(back.view::<f64>().unwrap(), array);
    } else {
        assert!(matches!(back, Err(Error::Remote(_))), "{back:?}");
    }
    let bytes = vec![7u8; 3_000_000];
    let back = within(call(&host, "copy:copy", [bytes.clone().into_value()])).await.unwrap();
    assert_eq!(back, Value::Bytes(bytes));
}

#[tokio::test]
#[ignore = "needs a Python with hookless: make test has one"]
async fn a_strict_child_is_confirmed_by_the_kernel_and_opens_no_file() {
    let python = python();
    let host = match within(Launch::python(&python).start()).await {
        Ok(host) => host,
        Err(Error::Died(death)) => {
            let said = String::from_utf8_lossy(&death.output).into_owned();
            assert!(said.contains("IsolationError"), "{said}");
            eprintln!("NOT RUN: this kernel has not all that a strict child needs: {said}");
            return;
        }
        Err(other) => panic!("{other}"),
    };
    let opened = within(call(&host, "io:open", ["/etc/passwd".into()])).await;
    assert!(matches!(&opened, Err(Error::Remote(error)) if error.matches("PermissionError")), "{opened:?}");
    let refused = within(call(&host, "copy:copy", [Value::List(vec![Value::None; 3])])).await;
    assert!(refused.is_ok());
}

#[tokio::test]
#[ignore = "needs a Python with hookless: make test has one"]
async fn deaths_are_distinct() {
    let host = start().await;
    let Err(Error::Died(death)) = within(call(&host, "os:_exit", [5.into()])).await else { panic!() };
    assert_eq!(death.code(), Some(5));
    let host = start().await;
    let Err(Error::Died(death)) = within(call(&host, "os:abort", [])).await else { panic!() };
    assert_eq!(death.signal(), Some(6));
    let host = start().await;
    let garbage = "import os\nfor fd in range(3, 20):\n    try:\n        os.write(fd, b'\\x80\\x04pickle')\n    \
                   except OSError:\n        pass";
    let Err(Error::Protocol(error)) = within(host.request(Request::script("a.py", garbage)).unwrap()).await
    else {
        panic!()
    };
    assert_eq!(error.code(), Code::BadMagic);
}

#[tokio::test]
#[ignore = "needs a Python with hookless: make test has one"]
async fn the_example_does_what_it_says() {
    let python = python();
    let ran =
        std::process::Command::new(env!("CARGO_BIN_EXE_example_python_child")).arg(python).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("raised: ValueError: ") && said.contains("no answer within 300ms"), "{said}");
}
