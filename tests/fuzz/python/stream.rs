//! `Decoder` of Python against Rust's: frames of every kind, one after the other, in the same chunks.

use hookless::frame::Decoder;
use hookless::{Error, Limits, encode};
use pyo3::prelude::*;

use super::{Host, Verdict, split};

/// Kind, call id, and the value as a frame of its own.
type Frame = (String, u64, Vec<u8>);

fn of_rust(error: &Error) -> Verdict {
    Verdict::Refused(error.code().as_str().to_owned(), error.offset(), error.path().to_owned())
}

impl Host {
    /// Has both decoders read some bytes, and then those again: the second frame of a stream.
    pub(crate) fn streams(&self, py: Python<'_>, bytes: &[u8]) {
        let python = self.decoder.call0(py).expect("a decoder").into_bound(py);
        let mut rust = Decoder::new(Limits::default());
        for chunk in split(py, &bytes.repeat(2)) {
            let ours = rust.feed(chunk.as_bytes()).map_err(|error| of_rust(&error));
            let theirs = python.call_method1("feed", (&chunk,));
            match (theirs.map_err(|error| self.refused(py, &error)), ours) {
                (Ok(theirs), Ok(ours)) => {
                    let ours: Vec<Frame> = ours.into_iter().map(|frame| self.of(frame)).collect();
                    assert_eq!(self.frames(&theirs), ours, "the frames of Python (left) and Rust differ");
                }
                (Err(theirs), _) if theirs.is_of_this_host() => return,
                (Err(theirs), Err(ours)) => {
                    assert_eq!(theirs, ours, "the streams of Python (left) and Rust differ");
                    // It is dead, and says so with the same error.
                    for step in [python.call_method1("feed", (b"HKLS",)), python.call_method0("finish")] {
                        assert_eq!(self.refused(py, &step.expect_err("it is dead")), ours);
                    }
                    return;
                }
                (theirs, ours) => panic!("Python's stream gives {theirs:?}, and Rust's {ours:?}"),
            }
        }
        let theirs = python.call_method0("finish").map(|_| ()).map_err(|error| self.refused(py, &error));
        assert_eq!(theirs, rust.finish().map_err(|error| of_rust(&error)), "the ends of the streams differ");
    }

    fn of(&self, frame: hookless::frame::Frame) -> Frame {
        let again = encode(&frame.value, &self.limits).expect("what was decoded can be encoded");
        (frame.kind.name().to_owned(), frame.call_id, again)
    }

    fn frames(&self, list: &Bound<'_, PyAny>) -> Vec<Frame> {
        let one = |frame: PyResult<Bound<'_, PyAny>>| {
            let frame = frame?;
            let again = self.dumps.call1(list.py(), (frame.getattr("value")?,))?;
            let kind = frame.getattr("kind")?.extract()?;
            PyResult::Ok((kind, frame.getattr("call_id")?.extract()?, again.extract(list.py())?))
        };
        list.try_iter().and_then(|frames| frames.map(one).collect()).expect("a list of frames")
    }
}
