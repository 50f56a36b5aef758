//! A child that is written in Rust. It is started by a host, as its standard input: by `pair.rs`, or by Python:
//!
//! ```python
//! ours, theirs = socket.socketpair()
//! subprocess.Popen(["target/debug/examples/worker"], stdin=theirs.fileno())
//! theirs.close()
//! with hookless.Worker.attach(ours) as worker:
//!     worker.call("example:mean", numpy.arange(10.0))
//! ```

use hookless_tokio::{Arguments, Context, Error, Failure, Items, Worker};
use ndarray::ArrayD;
use serde::Deserialize;

/// An argument that is an array.
#[derive(Deserialize)]
struct Rows(#[serde(with = "hookless::nd")] ArrayD<f64>);

/// The mean of an array of float64.
fn mean(_: &Context, arguments: Arguments) -> Result<f64, Failure> {
    let (Rows(rows),): (Rows,) = arguments.typed()?;
    rows.mean().ok_or_else(|| Failure::builtin("ValueError", "the mean of nothing"))
}

/// The numbers below the first argument, one by one; what is left of it is returned.
async fn count(context: Context, arguments: Arguments, mut items: Items) -> Result<i64, Failure> {
    let (last,): (u32,) = arguments.typed()?;
    for number in 0..last {
        context.progress(number.into(), Some(last.into()), "counting");
        items.send(number).await?;
    }
    Ok(0)
}

/// Tries to open a file, which the sandbox does not allow.
async fn peek(_: Context, arguments: Arguments) -> Result<u64, Failure> {
    let (path,): (String,) = arguments.typed()?;
    Ok(std::fs::read(path)?.len() as u64)
}

fn main() -> Result<(), Error> {
    let worker = Worker::new()
        .blocking("example:mean", mean)
        .stream("example:count", count)
        .function("example:peek", peek);
    // Before any thread starts, it gives up nearly everything, unless it is told not to.
    let is_open = std::env::args().nth(1).as_deref() == Some("--open");
    if is_open { worker.run() } else { worker.strict().run() }
}
