//! A Rust host of a Python child: `cargo run --example python_child -- INTERPRETER`, of one that has the package `hookless`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use hookless::Value;
use hookless_tokio::{Error, Launch, Request};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let interpreter = std::env::args_os().nth(1).unwrap_or_else(|| "python3".into());
    let host = Launch::python(interpreter).start().await?;
    println!("sqrt: {:?}", host.call("math:sqrt", [2.0.into()], []).await?);
    println!("{:?}", host.request(Request::function("builtins:len").arg("four"))?.typed::<u32>().await?);
    match host.call("math:sqrt", [Value::from(-1.0)], []).await {
        Err(Error::Remote(error)) => println!("raised: {error}"),
        other => println!("{other:?}"),
    }
    let mut items = host.stream(Request::function("builtins:range").arg(5))?;
    while let Some(item) = items.next().await {
        println!("item: {:?}", item?);
    }
    let late = Request::function("time:sleep").arg(60).deadline(Duration::from_millis(300));
    println!("{}", host.request(late)?.await.unwrap_err());
    println!("ended: {:?}", host.close().await);
    Ok(())
}
