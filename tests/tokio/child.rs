//! A child for the tests of crates/hookless-tokio: honest functions, and ways to go wrong.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a child whose output is heard")]
#![expect(clippy::disallowed_methods, reason = "a program that lies, waits and ends as it is told")]

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use hookless::Value;
use hookless::frame::{FrameKind, OwnedParts};
use hookless::session::{Hello, Role};
use hookless_tokio::{Arguments, Context, Error, Failure, Items, Level, Worker};

fn main() -> Result<(), Error> {
    match std::env::args().nth(1).as_deref() {
        Some("raw") => raw(),
        Some("silent") => std::thread::sleep(Duration::from_secs(60)),
        Some("exit") => std::process::exit(7),
        Some("hold") => hold(),
        _ => return honest().run(),
    }
    Ok(())
}

/// Says HELLO, waits for the first frame, and then writes the bytes that its second argument has in hexadecimal.
fn raw() {
    let mut stream = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().expect("a channel"));
    let hello = Hello::of(Role::Worker, hookless::Limits::default()).to_body().expect("a body");
    let hello = OwnedParts::control(FrameKind::Hello, 0, &hello).expect("a frame");
    stream.write_all(&hello.start).expect("a host");
    let mut seen = 0;
    while seen < 200 {
        let mut bytes = [0; 4096];
        seen += stream.read(&mut bytes).expect("a host that calls");
    }
    let hex = std::env::args().nth(2).unwrap_or_default();
    let bytes: Vec<u8> =
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect();
    stream.write_all(&bytes).expect("a host that reads");
    // The host ends it.
    std::thread::sleep(Duration::from_secs(60));
}

/// Leaves a process behind that holds the channel and the pipes, and ends.
fn hold() {
    let channel = std::io::stdin().as_fd().try_clone_to_owned().expect("a channel");
    let sleeper = std::process::Command::new("/bin/sleep").arg("20").stdin(channel).spawn();
    println!("{}", sleeper.expect("a sleeper").id());
}

fn honest() -> Worker {
    Worker::new()
        .function("echo", |_, arguments: Arguments| async move {
            let mut all = arguments.args;
            all.push(Value::Dict(arguments.kwargs));
            Ok(Value::Tuple(all))
        })
        .function("same", |_, mut arguments: Arguments| async move { Ok(arguments.args.remove(0)) })
        .function("sleep", |_, arguments: Arguments| async move {
            let (seconds,): (f64,) = arguments.typed()?;
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            Ok("slept")
        })
        .function("fail", |_, arguments: Arguments| async move {
            let (text,): (String,) = arguments.typed()?;
            Err::<(), _>(Failure::builtin("ValueError", text))
        })
        .function("parse", |_, arguments: Arguments| async move {
            let (text,): (String,) = arguments.typed()?;
            Ok(text.parse::<i64>()?)
        })
        .function("panic", |_, _| async { planned() })
        .blocking("spin", |_, _| -> Result<(), Failure> {
            loop {
                std::thread::sleep(Duration::from_millis(5));
            }
        })
        .blocking("polite", |context: &Context, _| {
            while !context.is_cancelled() {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err::<(), _>(Failure::cancelled())
        })
        .blocking("panic_in_a_thread", |_, _| -> Result<(), Failure> { panic!("planned") })
        .function("say", |_, arguments: Arguments| async move {
            let (out, err): (String, String) = arguments.typed()?;
            print!("{out}");
            std::io::stdout().flush()?;
            eprint!("{err}");
            Ok(())
        })
        .function("flood", |_, arguments: Arguments| async move {
            let (bytes,): (u64,) = arguments.typed()?;
            let line = [b'x'; 4096];
            for _ in 0..bytes / 4096 {
                std::io::stdout().write_all(&line)?;
            }
            Ok(())
        })
        .function("report", |context: Context, _| async move {
            context.progress(1, Some(2), "half");
            context.log(Level::Warning, "child", "odd");
            Ok(())
        })
        .function("exit", |_, arguments: Arguments| async move {
            let (status,): (i32,) = arguments.typed()?;
            eprintln!("last words");
            leave(status)
        })
        .function("abort", |_, _| async { abort() })
        .function("input", |_, _| async {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            Ok(text)
        })
        .stream("count", |_, arguments: Arguments, mut items: Items| async move {
            let (last,): (u32,) = arguments.typed()?;
            for number in 0..last {
                items.send(number).await?;
            }
            Ok("done")
        })
        .stream("break", |_, _, mut items: Items| async move {
            items.send(1u32).await?;
            Err::<(), _>(Failure::builtin("RuntimeError", "broken"))
        })
}

fn leave(status: i32) -> Result<(), Failure> {
    std::process::exit(status)
}

fn abort() -> Result<(), Failure> {
    std::process::abort()
}

fn planned() -> Result<(), Failure> {
    panic!("planned")
}
