//! A Rust host at one end of a socket, for the Python tests (`bindings/python/tests/test_interop_socket.py`) at the other.
//!
//! `peer SOCKET` connects to a Unix socket. For each accept vector it sends the frame that it encodes of the vector's value, and gets two
//! frames back: how Python describes what arrived, and what Python encodes of it. Both must be what Rust makes of the vector. Its last frame
//! is the number of vectors that it has sent.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a program that talks to a socket")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use hookless::frame::Decoder;
use hookless::{Class, Code, Limits, Value, decode, encode};
use support::describe::describe;
use support::vectors;

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_default();
    match UnixStream::connect(path).map_err(|error| error.to_string()).and_then(|socket| talk(&socket)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn talk(socket: &UnixStream) -> Result<(), String> {
    let (mut reader, mut writer) = (socket, socket);
    let limits = Limits::default();
    let mut decoder = Decoder::new(limits.clone());
    let mut waiting = Vec::new();
    let mut receive = || -> Result<Value, String> {
        while waiting.is_empty() {
            let mut chunk = vec![0; 1 << 16];
            let count = reader.read(&mut chunk).map_err(|error| error.to_string())?;
            let frames = decoder.feed(&chunk[..count]).map_err(|error| error.to_string())?;
            waiting.extend(frames.into_iter().map(|frame| frame.value));
            if count == 0 && waiting.is_empty() {
                return Err("Python has hung up".to_owned());
            }
        }
        Ok(waiting.remove(0))
    };
    let (mut sent, mut lacking) = (0u64, 0u64);
    for vector in vectors::accept() {
        if vector.value.is_none() || !vector.for_decode() || vector.limits != limits {
            continue;
        }
        let refuse = |what: &str| format!("{}: {what}", vector.name);
        let value = decode(&vector.frame, &limits).map_err(|error| refuse(&error.to_string()))?;
        let frame = encode(&value, &limits).map_err(|error| refuse(&error.to_string()))?;
        writer.write_all(&frame).map_err(|error| error.to_string())?;
        let Value::Str(described) = receive()? else { return Err(refuse("no description")) };
        let described: serde_json::Value =
            serde_json::from_str(&described).map_err(|error| error.to_string())?;
        // What this Python cannot hold (a zone that it does not know, say) comes back as the code of its refusal.
        let lacks = |code: &&Code| code.class() == Class::Environment && described == code.as_str();
        if Code::ALL.iter().any(|code| lacks(&code)) {
            (sent, lacking) = (sent + 1, lacking + 1);
            receive()?;
            continue;
        }
        if described != describe(&value) {
            return Err(refuse(&format!("Python has {described}, Rust {}", describe(&value))));
        }
        if receive()? != value {
            return Err(refuse("what Python sends back is another value"));
        }
        sent += 1;
    }
    if lacking * 10 > sent {
        return Err(format!("this Python lacks {lacking} of {sent}"));
    }
    let end = encode(&Value::Int(sent.into()), &limits).map_err(|error| error.to_string())?;
    writer.write_all(&end).map_err(|error| error.to_string())?;
    // This one is answered like all others.
    receive().and_then(|_| receive()).map(|_| ())
}
