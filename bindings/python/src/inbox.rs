//! Frames of Python values from a stream of bytes: the pure assembler, and the memory of the objects it fills.

use hookless::frame::{Assembler, FrameKind, Head, Want};
use hookless::wire::BytesKind;
use hookless::{Class, Code, Error, Limits};
use pyo3::prelude::*;

use crate::build::{PyBuilder, Source};
use crate::errors::decode_error;
use crate::ffi::targets::Targets;
use crate::warm::Loaded;

/// One stream's frames in the making.
pub(crate) struct Inbox {
    pub(crate) assembler: Assembler,
    pub(crate) targets: Targets,
    pending: Option<Py<PyAny>>,
    /// Whether a session reads the control frames, of which no value is built then.
    in_session: bool,
    /// Whether it is a worker's child that reads.
    in_child: bool,
    /// Whether arrays may have NumPy imported: in a child, by what its host sends.
    imports_numpy: bool,
    /// F14: the length of the one frame, where it is known beforehand.
    exactly: Option<u64>,
}

/// Why no frame came.
pub(crate) enum Failed {
    /// The bytes are at fault: the stream has lost its place.
    Wire(Error),
    /// Python raised on its own account (Ctrl-C): nothing is lost, and the same step can be taken again.
    Python(PyErr),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Wire(error)
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Failed {
        Failed::Python(error)
    }
}

impl Failed {
    /// The exception to be raised.
    #[cold]
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Failed::Wire(error) => decode_error(py, &error),
            Failed::Python(error) => error,
        }
    }
}

/// A frame that is complete.
pub(crate) struct Arrived {
    pub(crate) head: Head,
    /// None for a control frame in a session; for a CALL that the child cannot hold, the DecodeError that says so (S18).
    pub(crate) value: Py<PyAny>,
    /// What the session reads of the body.
    pub(crate) body: Vec<u8>,
    /// L10: what it holds.
    pub(crate) cost: u64,
}

impl Inbox {
    pub(crate) fn new(limits: Limits) -> Inbox {
        Inbox {
            assembler: Assembler::new(limits),
            targets: Targets::default(),
            pending: None,
            in_session: false,
            in_child: false,
            imports_numpy: false,
            exactly: None,
        }
    }

    /// For frames whose control bodies the session reads; in a worker's child or not.
    pub(crate) fn of_session(limits: Limits, in_child: bool) -> Inbox {
        Inbox { in_session: true, in_child, imports_numpy: in_child, ..Inbox::new(limits) }
    }

    /// Imports NumPy before the first large array is built, where that is wanted, so that there is one copy of it and no more. Whether the
    /// body holds one is guessed: where it does not, its bytes look like it, and the import costs time and nothing else.
    fn import_numpy(&mut self, py: Python<'_>) -> PyResult<()> {
        /// The head of an array's node (V4, A1).
        const ARRAY: [u8; 3] = [0xd4, 0x01, 16];
        let wanted = self.imports_numpy
            && self.assembler.head().is_some_and(|head| head.data_len > 0)
            && self.assembler.body().windows(ARRAY.len()).any(|bytes| bytes == ARRAY);
        if !wanted {
            return Ok(());
        }
        self.imports_numpy = false;
        match crate::warm::use_numpy(py) {
            // A child without NumPy: arrays stay `hookless.Array`.
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) => Ok(()),
            imported => imported,
        }
    }

    /// Says that `total` bytes are there, and that they shall be one VALUE frame.
    pub(crate) fn expect_exactly(&mut self, total: u64) {
        self.exactly = Some(total);
    }

    /// The error of a stream that ends now.
    pub(crate) fn truncated(&self) -> Error {
        Error::at(Code::Truncated, self.assembler.received())
    }

    /// Takes bytes until a frame is complete or they are used up.
    pub(crate) fn feed(&mut self, py: Python<'_>, bytes: &mut &[u8]) -> Result<Option<Arrived>, Failed> {
        loop {
            match self.assembler.want() {
                Want::Bytes if bytes.is_empty() => return Ok(None),
                Want::Bytes => {
                    let space = self.assembler.space()?;
                    let count = space.len().min(bytes.len());
                    space[..count].copy_from_slice(&bytes[..count]);
                    *bytes = &bytes[count..];
                    self.advance(count)?;
                }
                Want::Slot { .. } if bytes.is_empty() => return Ok(None),
                Want::Slot { index, from, len } => {
                    let count = usize::try_from(len - from).unwrap_or(usize::MAX).min(bytes.len());
                    self.targets.put(index, usize::try_from(from).unwrap_or(usize::MAX), &bytes[..count]);
                    *bytes = &bytes[count..];
                    self.assembler.advance_slot(count as u64);
                }
                Want::Build | Want::Check { .. } | Want::Done => {
                    if let Some(arrived) = self.settle(py, false)? {
                        return Ok(Some(arrived));
                    }
                }
            }
        }
    }

    /// Whether the session reads the body of the frame under way.
    fn is_control(&self) -> bool {
        self.in_session && self.assembler.head().is_some_and(|head| !head.kind.carries_value())
    }

    /// Says that `count` bytes are in the assembler's space.
    pub(crate) fn advance(&mut self, count: usize) -> hookless::Result<()> {
        let had_head = self.assembler.head().is_some();
        self.assembler.advance(count)?;
        if let (false, Some(head), Some(total)) = (had_head, self.assembler.head(), self.exactly) {
            check_whole(&head, total)?;
        }
        Ok(())
    }

    /// Does what needs no more bytes: builds, checks, hands out. A build that `yields` lets other threads run now and then.
    pub(crate) fn settle(&mut self, py: Python<'_>, yields: bool) -> Result<Option<Arrived>, Failed> {
        match self.assembler.want() {
            Want::Build if self.is_control() => {
                self.assembler.skip_build()?;
                Ok(None)
            }
            Want::Build => {
                self.targets.clear();
                self.import_numpy(py)?;
                let mut builder = PyBuilder::new(py, Loaded::now(py)?, Source::Fill(&mut self.targets));
                builder.yields = yields;
                let built = self.assembler.build(&mut builder);
                if let Some(interrupt) = builder.interrupted.take() {
                    return Err(Failed::Python(interrupt));
                }
                self.pending = Some(match built {
                    Err(error) if self.can_answer(&error) => self.refuse(py, &error)?,
                    built => built?.unbind(),
                });
                Ok(None)
            }
            Want::Check { index } => {
                self.assembler.check_slot(self.targets.full(index))?;
                Ok(None)
            }
            Want::Done => {
                let Some(head) = self.assembler.head() else {
                    return Err(Error::new(Code::UnexpectedFrame).into());
                };
                let value = self.pending.take().unwrap_or_else(|| py.None());
                let body = copied(self.assembler.told_to_session())?;
                self.targets.complete(py)?;
                let cost = self.assembler.reset();
                Ok(Some(Arrived { head, value, body, cost }))
            }
            Want::Bytes | Want::Slot { .. } => Ok(None),
        }
    }

    /// S18: whether the frame under way is answered with this error, if nothing else is wrong with it. Where memory has run out there may be
    /// none for the answer.
    fn can_answer(&self, error: &Error) -> bool {
        let is_call = self.assembler.head().is_some_and(|head| head.kind == FrameKind::Call);
        let is_lacking = error.code().class() == Class::Environment && error.code() != Code::OutOfMemory;
        self.in_child && is_call && is_lacking
    }

    /// S18: reads the body again, for the rules alone, and gives the error in place of the value. The data region is received and checked
    /// like that of any frame, and then let go.
    #[cold]
    fn refuse(&mut self, py: Python<'_>, error: &Error) -> hookless::Result<Py<PyAny>> {
        self.targets.clear();
        self.assembler.check_body()?;
        for slot in self.assembler.slots() {
            self.targets.reserve_bytes(py, BytesKind::Bytes, slot.len)?;
        }
        Ok(decode_error(py, error).into_value(py).into_any())
    }
}

/// A copy that can be refused.
pub(crate) fn copied(bytes: &[u8]) -> hookless::Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// F14 for a frame whose bytes are all there; it has to be VALUE.
fn check_whole(head: &Head, total: u64) -> hookless::Result<()> {
    let end = head.frame_len();
    if total < end {
        return Err(Error::at(Code::Truncated, total));
    }
    if total > end {
        return Err(Error::at(Code::TrailingBytes, end).note(format!("{} bytes", total - end)));
    }
    check_value(head)
}

/// The one kind that `loads` and `decode` take.
#[inline]
pub(crate) fn check_value(head: &Head) -> hookless::Result<()> {
    if head.kind == FrameKind::Value { Ok(()) } else { Err(no_value(head)) }
}

#[cold]
fn no_value(head: &Head) -> Error {
    Error::at(Code::UnknownFrameKind, 5).note(format!("{} is not VALUE", head.kind.name()))
}
