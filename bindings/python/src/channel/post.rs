//! To send: at once where nobody is inside and nothing waits, and otherwise by whoever is inside.

use std::sync::atomic::Ordering;
use std::time::Instant;

use hookless::frame::{FrameKind, OwnedParts};
use hookless::session::Credit;
use hookless::{Code, Error};
use pyo3::prelude::*;

use super::Channel;
use super::gate::{Purpose, Taken, locked};
use super::io::Io;
use super::link::{Pushed, TURN};
use super::machine::End;
use super::packet::{Cursor, Entries, Packet, Parts, name};
use crate::codec::{Encoding, with_encoded};
use crate::errors::{decode_error, encode_error};

/// Bytes that are sent without letting other threads run.
const SMALL: usize = 1 << 16;

/// Gives a frame its place in the stream, and moves the session on: the call that it is of; none where it is not to be sent.
pub(super) type Assign<'a> = dyn FnMut(&mut End) -> hookless::Result<Option<u64>> + 'a;

/// A frame that has taken its place.
#[derive(Clone, Copy)]
pub(super) struct Posted {
    pub(super) call_id: u64,
    /// Which of the packets it is: it is gone when so many are.
    pub(super) ticket: u64,
}

impl Channel {
    /// Encodes a value as a frame and sends it, and the frame that `follows`, which is taken away then, by the same system call where there
    /// is no data region between them. EncodeError: nothing has changed.
    pub(super) fn post_value(
        &self,
        value: &Bound<'_, PyAny>,
        kind: FrameKind,
        follows: &mut Vec<u8>,
        assign: &mut Assign<'_>,
    ) -> PyResult<Option<Posted>> {
        let blame = |error: Error| match self.agreed.get() {
            Some(_) => locked(&self.shared.end).blame(&self.limits, error),
            None => error,
        };
        let limits = self.agreed.get().unwrap_or(&self.limits);
        // The id is known when the frame takes its place, which no other call shall take meanwhile.
        let how = Encoding { kind, call_id: 0, limits, default: None, blame: &blame };
        with_encoded(value, &how, |frame, region| {
            if region.is_empty() && frame.try_reserve(follows.len()).is_ok() {
                frame.append(follows);
            }
            Ok(self.post(value.py(), frame, region, kind == FrameKind::Call, assign))
        })?
    }

    /// Sends a frame whose body is no value.
    pub(super) fn post_control(
        &self,
        py: Python<'_>,
        kind: FrameKind,
        body: &[u8],
        assign: &mut Assign<'_>,
    ) -> PyResult<Option<Posted>> {
        let mut frame = control(kind, 0, body).map_err(|error| decode_error(py, &error))?;
        self.post(py, &mut frame, &[], false, assign)
    }

    fn post(
        &self,
        py: Python<'_>,
        frame: &mut Vec<u8>,
        region: &[Bound<'_, PyAny>],
        is_call: bool,
        assign: &mut Assign<'_>,
    ) -> PyResult<Option<Posted>> {
        match self.shared.gate.enter(Purpose::Send) {
            Ok(inside) => {
                let mut io = locked(&self.io);
                let posted = self.post_inside(py, &mut io, frame, region, is_call, assign);
                self.depart(py, inside, io);
                posted
            }
            Err(_) => {
                let posted = self.queue(py, frame, region, is_call, assign)?;
                self.kick(py);
                Ok(posted)
            }
        }
    }

    /// Has what is queued sent. Whoever is inside looks at the queue once more when it has left, and may have left just now.
    pub(super) fn kick(&self, py: Python<'_>) {
        match self.shared.gate.enter(Purpose::Send) {
            Ok(inside) => {
                let io = locked(&self.io);
                self.depart(py, inside, io);
            }
            Err(Taken::Stepping) => self.shared.alarm.ring(),
            Err(Taken::Within | Taken::Sending) => {}
        }
    }

    pub(super) fn post_inside(
        &self,
        py: Python<'_>,
        io: &mut Io,
        frame: &mut Vec<u8>,
        region: &[Bound<'_, PyAny>],
        is_call: bool,
        assign: &mut Assign<'_>,
    ) -> PyResult<Option<Posted>> {
        if is_call {
            self.take(py, io)?;
        }
        if io.current.is_some() {
            self.push_queued(py, io);
        }
        let entries = Entries::of(frame.len(), region).map_err(|error| encode_error(py, &error, None))?;
        let posted = {
            let mut outbox = locked(&self.shared.outbox);
            if io.current.is_some() || !outbox.queue.is_empty() {
                drop(outbox);
                return self.queue_packet(py, frame, entries, is_call, assign);
            }
            // From here on nobody else takes a place before this frame, for whoever is not inside queues.
            let assigned = assign(&mut locked(&self.shared.end));
            if let Ok(Some(call_id)) = assigned {
                outbox.accepted += 1;
                Ok(Some(Posted { call_id, ticket: outbox.accepted }))
            } else {
                assigned.map(|_| None)
            }
        };
        let Some(posted) = posted.map_err(|error| decode_error(py, &error))? else { return Ok(None) };
        name(frame, posted.call_id);
        self.push_now(py, io, frame, entries, is_call, posted)?;
        Ok(Some(posted))
    }

    /// Sends as much as is taken from where the frame lies; only what is left becomes a packet.
    fn push_now(
        &self,
        py: Python<'_>,
        io: &mut Io,
        frame: &mut Vec<u8>,
        mut entries: Entries,
        is_call: bool,
        posted: Posted,
    ) -> PyResult<()> {
        let (mut cursor, mut most) = (Cursor::default(), TURN);
        let pushed = match &io.link {
            Some(link) if !io.gone => {
                let at_once = entries.is_empty() && frame.len() <= SMALL;
                let parts = Parts { frame, entries: &mut entries };
                let push = || link.push(parts, &mut cursor, &mut most);
                if at_once { push() } else { py.detach(push) }
            }
            _ => Ok(Pushed::Gone),
        };
        match pushed.map_err(|error| self.failed(error))? {
            Pushed::Blocked | Pushed::Spent => {}
            gone => {
                io.gone |= gone == Pushed::Gone;
                self.shared.sent.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
        }
        io.moved_out = Instant::now();
        match Packet::rest(frame, entries, cursor, is_call) {
            Ok(packet) => io.current = Some(packet),
            Err(error) => {
                self.shared.sent.fetch_add(1, Ordering::SeqCst);
                let undone = most == TURN && is_call && locked(&self.shared.end).undo(posted.call_id);
                return Err(if undone { decode_error(py, &error) } else { self.broken(py, &error) });
            }
        }
        Ok(())
    }

    /// Puts a frame behind those that wait.
    fn queue(
        &self,
        py: Python<'_>,
        frame: &mut Vec<u8>,
        region: &[Bound<'_, PyAny>],
        is_call: bool,
        assign: &mut Assign<'_>,
    ) -> PyResult<Option<Posted>> {
        let entries = Entries::of(frame.len(), region).map_err(|error| encode_error(py, &error, None))?;
        self.queue_packet(py, frame, entries, is_call, assign)
    }

    fn queue_packet(
        &self,
        py: Python<'_>,
        frame: &mut Vec<u8>,
        entries: Entries,
        is_call: bool,
        assign: &mut Assign<'_>,
    ) -> PyResult<Option<Posted>> {
        let packet = Packet::rest(frame, entries, Cursor::default(), is_call);
        let mut packet = packet.map_err(|error| encode_error(py, &error, None))?;
        let mut outbox = locked(&self.shared.outbox);
        let assigned = match outbox.queue.try_reserve(1) {
            Ok(()) => assign(&mut locked(&self.shared.end)),
            Err(_) => Err(Error::new(Code::OutOfMemory)),
        };
        let Ok(Some(call_id)) = assigned else {
            drop(outbox);
            return assigned.map(|_| None).map_err(|error| decode_error(py, &error));
        };
        packet.name(call_id);
        outbox.accepted += 1;
        let ticket = outbox.accepted;
        outbox.queue.push_back(packet);
        Ok(Some(Posted { call_id, ticket }))
    }

    /// Worker: waits until a frame is gone. Not where this thread is inside already, further out: then it is sent there.
    pub(super) fn see_off(&self, py: Python<'_>, posted: Posted) -> PyResult<()> {
        let is_gone = || self.shared.sent.load(Ordering::SeqCst) >= posted.ticket;
        while !is_gone() {
            match self.shared.gate.enter(Purpose::Send) {
                Ok(inside) => {
                    let mut io = locked(&self.io);
                    let mut wish = super::io::Wish::any(None);
                    wish.until_sent = true;
                    let sent = self.run(py, &mut io, &mut wish);
                    self.depart(py, inside, io);
                    sent?;
                }
                Err(Taken::Within) => return Ok(()),
                Err(Taken::Stepping | Taken::Sending) => {
                    py.detach(|| self.shared.gate.wait(is_gone));
                    py.check_signals()?;
                }
            }
        }
        Ok(())
    }
}

/// The CREDIT that follows a CALL; empty for what cannot be granted, which the session says when the call begins.
pub(super) fn first_credit(items: u32) -> hookless::Result<Vec<u8>> {
    let body = Credit { items }.to_body();
    match body.and_then(|body| control(FrameKind::Credit, 0, &body)) {
        Err(error) if error.code() != Code::OutOfMemory => Ok(Vec::new()),
        made => made,
    }
}

/// A whole frame that has no data region.
pub(super) fn control(kind: FrameKind, call_id: u64, body: &[u8]) -> hookless::Result<Vec<u8>> {
    Ok(OwnedParts::control(kind, call_id, body)?.start)
}
