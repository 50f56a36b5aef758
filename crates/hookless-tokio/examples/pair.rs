//! A Rust host of a Rust child: `cargo run --example pair -- PROGRAM`, which is `worker.rs`, built.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hookless::Array;
use hookless_tokio::{Error, Launch, Request};
use ndarray::Array2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let beside = std::env::current_exe()?.with_file_name("worker");
    let program = std::env::args_os().nth(1).map_or(beside, Into::into);
    let host = Launch::program(program).confirm_isolation().start().await?;

    // 32 MB, sent from where they lie.
    let rows = Array2::from_shape_fn((4000, 1000), |(row, _)| row as f64);
    let rows = Array::from_ndarray(&rows).map_err(Error::Refused)?;
    let mean: f64 = host.request(Request::function("example:mean").arg(rows))?.typed().await?;
    println!("mean: {mean}");

    let mut items = host.stream(Request::function("example:count").arg(3u32))?;
    while let Some(item) = items.next_typed::<u32>().await {
        println!("item: {}", item?);
    }
    match host.call("example:peek", ["/etc/passwd".into()], []).await {
        Err(Error::Remote(error)) => println!("the child is held back: {error}"),
        other => println!("the child read it: {other:?}"),
    }
    println!("ended: {:?}", host.close().await.map(|status| status.success()));
    Ok(())
}
