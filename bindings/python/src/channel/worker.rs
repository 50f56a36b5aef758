//! What the worker's end sends, and how it listens while foreign code runs.

use hookless::frame::FrameKind;
use hookless::session::{EMPTY_BODY, End as Ending, Log, Progress};
use hookless::{Code, Error};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::thread::gettid;

use super::Channel;
use super::machine::End;
use crate::errors::decode_error;
use crate::ffi::descriptor::borrow;
use crate::ffi::fallible::{self, Str, Unsigned};

/// Numbers of Linux that neither rustix nor Python's `fcntl` names, but for the last.
const F_SETOWN_EX: u64 = 15;
const F_OWNER_TID: i32 = 0;
const F_SETSIG: u64 = 10;
const SIGURG: u64 = 23;
const O_ASYNC: u32 = 0o20_000;

impl Channel {
    /// Sends a frame with a value, and waits until it is gone. EncodeError: nothing has changed, and nothing was written.
    fn send_value(
        &self,
        value: &Bound<'_, PyAny>,
        kind: FrameKind,
        assign: &mut dyn FnMut(&mut End) -> hookless::Result<Option<u64>>,
    ) -> PyResult<()> {
        let py = value.py();
        self.check_process(py)?;
        match self.post_value(value, kind, &mut Vec::new(), assign)? {
            Some(posted) => self.see_off(py, posted),
            None => Ok(()),
        }
    }

    /// The same without a value.
    fn send_control(
        &self,
        py: Python<'_>,
        kind: FrameKind,
        body: hookless::Result<Vec<u8>>,
        assign: &mut dyn FnMut(&mut End) -> hookless::Result<Option<u64>>,
    ) -> PyResult<()> {
        self.check_process(py)?;
        let body = body.map_err(|error| decode_error(py, &error))?;
        match self.post_control(py, kind, &body, assign)? {
            Some(posted) => self.see_off(py, posted),
            None => Ok(()),
        }
    }

    pub(super) fn send_item(&self, call_id: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut assign = |end: &mut End| end.worker()?.item(call_id).map(|()| Some(call_id));
        self.send_value(value, FrameKind::Item, &mut assign)
    }

    pub(super) fn answer(&self, call_id: u64, kind: FrameKind, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let how = if kind == FrameKind::Error { Ending::Error } else { Ending::Result };
        let mut assign = |end: &mut End| end.worker()?.end_call(call_id, how).map(|()| Some(call_id));
        self.send_value(value, kind, &mut assign)
    }

    pub(super) fn acknowledge(&self, py: Python<'_>, call_id: u64) -> PyResult<()> {
        let mut assign =
            |end: &mut End| end.worker()?.end_call(call_id, Ending::Cancelled).map(|()| Some(call_id));
        self.check_process(py)?;
        match self.post_control(py, FrameKind::Cancelled, EMPTY_BODY, &mut assign)? {
            Some(posted) => self.see_off(py, posted),
            None => Ok(()),
        }
    }

    pub(super) fn send_progress(
        &self,
        py: Python<'_>,
        call_id: u64,
        done: u64,
        total: Option<u64>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let text = plain(text)?;
        let body = Progress { done, total, text: text.to_str()? }.to_body();
        let mut assign = |end: &mut End| end.worker()?.check_open(call_id).map(|()| Some(call_id));
        self.send_control(py, FrameKind::Progress, body, &mut assign)
    }

    pub(super) fn send_log(
        &self,
        py: Python<'_>,
        call_id: u64,
        level: u16,
        created: f64,
        line: u32,
        texts: [&Bound<'_, PyAny>; 4],
    ) -> PyResult<()> {
        let [logger, message, path, function] = texts;
        let (logger, message, path, function) =
            (plain(logger)?, plain(message)?, plain(path)?, plain(function)?);
        let log = Log {
            level,
            logger: logger.to_str()?,
            message: message.to_str()?,
            created,
            path: path.to_str()?,
            line,
            function: function.to_str()?,
        };
        let mut assign = |end: &mut End| {
            let worker = end.worker()?;
            match call_id {
                0 if worker.is_closed() => {
                    Err(Error::new(Code::UnexpectedFrame).note("LOG in a closed session"))
                }
                0 => Ok(Some(0)),
                id => worker.check_open(id).map(|()| Some(id)),
            }
        };
        self.send_control(py, FrameKind::Log, log.to_body(), &mut assign)
    }

    /// F_SETOWN_EX and F_SETSIG, by the standard library: the sandbox forbids both later on.
    pub(super) fn set_up_signals(&self, py: Python<'_>) -> PyResult<()> {
        let descriptor = Unsigned(self.fileno(py)?.unsigned_abs().into());
        let fcntl = py.import(Str("fcntl"))?.getattr(Str("fcntl"))?;
        let mut owner = [0; 8];
        owner[..4].copy_from_slice(&F_OWNER_TID.to_ne_bytes());
        owner[4..].copy_from_slice(&gettid().as_raw_nonzero().get().to_ne_bytes());
        fcntl.call1((descriptor, Unsigned(F_SETOWN_EX), fallible::bytes(py, &owner)?))?;
        fcntl.call1((descriptor, Unsigned(F_SETSIG), Unsigned(SIGURG)))?;
        Ok(())
    }

    pub(super) fn set_signals(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        let descriptor = self.fileno(py)?;
        let set = || {
            let borrowed = borrow(&descriptor);
            let mut flags = match self.flags.get() {
                Some(flags) => *flags,
                None => {
                    let flags = fcntl_getfl(borrowed)?;
                    *self.flags.get_or_init(|| flags)
                }
            };
            flags.set(OFlags::from_bits_retain(O_ASYNC), on);
            fcntl_setfl(borrowed, flags)
        };
        set().map_err(|error| PyOSError::new_err((error.raw_os_error(), error.to_string())))
    }
}

/// A text in UTF-8: surrogates that stand alone become escapes.
fn plain<'py>(text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let given = text.cast::<PyString>()?;
    if given.to_str().is_ok() {
        return Ok(given.clone());
    }
    let bytes = given.call_method1(Str("encode"), (Str("utf-8"), Str("backslashreplace")))?;
    Ok(bytes.call_method1(Str("decode"), (Str("utf-8"),))?.cast_into::<PyString>()?)
}
