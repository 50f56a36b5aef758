//! Nothing is left of a host: no descriptor, no process, no folder. Alone in its program, so that nobody else opens any.
#![expect(clippy::disallowed_methods, reason = "looks at /proc")]

use std::fs;
use std::path::Path;

use hookless::Value;
use hookless_tokio::{Host, Launch, Request};

async fn start() -> Host {
    Launch::program(env!("CARGO_BIN_EXE_tokio_child")).start().await.unwrap()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn nothing_is_left_of_a_host_closed_or_broken() {
    start().await.close().await;
    let before = descriptors();
    for round in 0..6 {
        let host = start().await;
        let id = host.id().unwrap();
        let folder = fs::read_link(format!("/proc/{id}/cwd")).unwrap();
        assert!(folder.file_name().unwrap().to_string_lossy().starts_with("hookless-"));
        let called = host.request(Request::function("same").arg(1u32)).unwrap().await;
        assert_eq!(called.unwrap(), Value::from(1));
        if round % 2 == 0 {
            assert!(host.call("exit", [3.into()], []).await.is_err());
        }
        host.close().await;
        assert!(!folder.exists() && !Path::new(&format!("/proc/{id}")).exists());
    }
    assert_eq!(descriptors(), before);
}
