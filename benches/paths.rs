//! Runs one path of the codec so many times and says nothing: for programs that count, as `python/instructions.py` does.
//!
//! ```text
//! paths decode W2 3       the third argument: how many times, after the value has been made
//! paths                   the names, one path a line
//! ```

use std::hint::black_box;
use std::io::Write as _;

use hookless::frame::Decoder;
use hookless::{Limits, Value, decode, encode};
use hookless_benches::session::Pair;
use hookless_benches::workloads;

/// What can be counted: path and value.
const PATHS: [(&str, &str); 10] = [
    ("encode", "W1"),
    ("decode", "W1"),
    ("encode", "W2"),
    ("decode", "W2"),
    ("encode", "W6"),
    ("decode", "W6"),
    ("encode", "W8"),
    ("decode", "W8"),
    ("stream", "W2"),
    ("call", "W1"),
];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, id, times] = &arguments[..] else {
        let names = PATHS.map(|(path, id)| format!("{path} {id}\n")).concat();
        return Ok(std::io::stdout().write_all(names.as_bytes())?);
    };
    let found = workloads()?.into_iter().find(|one| one.id == id).ok_or("there is no such value")?;
    run(path, &found.value, times.parse()?)
}

fn run(path: &str, value: &Value, times: u32) -> Result<(), Failure> {
    let limits = Limits::default();
    let frame = encode(value, &limits)?;
    let mut pair = Pair::new()?;
    for _ in 0..times {
        match path {
            "encode" => drop(black_box(encode(black_box(value), &limits)?)),
            "decode" => drop(black_box(decode(black_box(&frame), &limits)?)),
            "stream" => {
                let mut decoder = Decoder::new(limits.clone());
                for piece in black_box(&frame).chunks(4096) {
                    drop(black_box(decoder.feed(piece)?));
                }
            }
            "call" => drop(black_box(pair.call(black_box(value))?)),
            _ => return Err("there is no such path".into()),
        }
    }
    Ok(())
}
