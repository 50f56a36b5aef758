//! To wait for events, and to send meanwhile.

use std::collections::VecDeque;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hookless::frame::{FrameKind, Want};
use hookless::{Code, Error};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rustix::io::Errno;

use super::Channel;
use super::event::{Event, Kind};
use super::gate::{Inside, Purpose, Taken, locked};
use super::io::{Io, Turn, Wish, turn};
use super::link::{Pushed, TURN};
use super::packet::Packet;
use super::post::control;
use crate::errors::{decode_error, raise};
use crate::inbox::Failed;

impl Channel {
    /// Waits for the next event; none when the wish is over.
    pub(super) fn step_with(&self, py: Python<'_>, wish: &mut Wish) -> PyResult<Option<Event>> {
        let inside = self.enter(py)?;
        let mut io = locked(&self.io);
        let stepped = self.run(py, &mut io, wish);
        self.depart(py, inside, io);
        stepped
    }

    /// Sends what is queued; false when the wish is over before that.
    pub(super) fn flush_with(&self, py: Python<'_>, wish: &mut Wish) -> PyResult<bool> {
        wish.until_sent = true;
        let inside = self.enter(py)?;
        let mut io = locked(&self.io);
        let flushed = self.run(py, &mut io, wish);
        let sent = io.current.is_none() && locked(&self.shared.outbox).queue.is_empty();
        self.depart(py, inside, io);
        flushed.map(|_| sent)
    }

    /// HELLO, once: sends this end's and waits for the peer's.
    pub(super) fn greet(&self, py: Python<'_>, until: Option<Instant>) -> PyResult<()> {
        let inside = self.enter(py)?;
        let mut io = locked(&self.io);
        let greeted = self.greet_inside(py, &mut io, until);
        self.depart(py, inside, io);
        greeted
    }

    fn greet_inside(&self, py: Python<'_>, io: &mut Io, until: Option<Instant>) -> PyResult<()> {
        self.check_open(py, io)?;
        if self.agreed.get().is_some() {
            return Err(decode_error(
                py,
                &Error::new(Code::UnexpectedFrame).note("HELLO a second time in this session"),
            ));
        }
        if !io.greeted {
            let body = locked(&self.shared.end).hello().map_err(|error| decode_error(py, &error))?;
            let mut frame = control(FrameKind::Hello, 0, &body).map_err(|error| decode_error(py, &error))?;
            io.greeted = true;
            self.post_inside(py, io, &mut frame, &[], false, &mut |_| Ok(Some(0)))?;
        }
        loop {
            let event = self.run(py, io, &mut Wish::any(until))?;
            // HELLO is handed on as it comes (L10).
            self.shared.released.fetch_add(event.as_ref().map_or(0, Event::own_cost), Ordering::SeqCst);
            match event.map(|event| event.kind) {
                Some(Kind::Ready) => return Ok(()),
                Some(Kind::Eof) => {
                    let note = "the peer closed the stream before HELLO";
                    return Err(decode_error(py, &Error::new(Code::Truncated).note(note)));
                }
                // Woken: nothing else comes before HELLO.
                Some(_) => {}
                None => return Err(raise(py, "DeadlineExceeded", "the deadline is over")),
            }
        }
    }

    /// Comes inside to wait; a second thread may not, nor this one from within.
    fn enter(&self, py: Python<'_>) -> PyResult<Inside<'_>> {
        self.check_process(py)?;
        loop {
            match self.shared.gate.enter(Purpose::Step) {
                Ok(inside) => return Ok(inside),
                Err(Taken::Within | Taken::Stepping) => {
                    return Err(decode_error(py, &Error::new(Code::Busy)));
                }
                Err(Taken::Sending) => {
                    py.detach(|| self.shared.gate.wait(|| false));
                    py.check_signals()?;
                }
            }
        }
    }

    fn check_open(&self, py: Python<'_>, io: &Io) -> PyResult<()> {
        if io.link.is_none() || self.shared.closing.load(Ordering::SeqCst) {
            return Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note("the channel is closed")));
        }
        if locked(&self.shared.end).is_closed() {
            let note = "the session is closed";
            return Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note(note)));
        }
        Ok(())
    }

    /// Goes on until there is an event, all is sent, or the wish is over.
    pub(super) fn run(&self, py: Python<'_>, io: &mut Io, wish: &mut Wish) -> PyResult<Option<Event>> {
        loop {
            if !wish.until_sent
                && let Some(event) = io.ready.pop_front()
            {
                self.shared.released.fetch_add(event.own_cost(), Ordering::SeqCst);
                return Ok(Some(event));
            }
            self.check_open(py, io)?;
            if self.settle(py, io, wish.yields)? {
                continue;
            }
            let turned = py.detach(|| turn(&self.shared, io, wish, self.stall));
            io.spent = None;
            match turned {
                Ok(Turn::Build | Turn::Freed) => {}
                Ok(Turn::Sent | Turn::TimeUp) => return Ok(None),
                Ok(Turn::Output(index, bytes)) => return Event::output(py, index, &bytes).map(Some),
                // S10: nothing more can come.
                Ok(Turn::Eof) => {
                    locked(&self.shared.end).close();
                    return Ok(Some(Event::plain(Kind::Eof)));
                }
                Ok(Turn::Woken) if wish.until_sent => {}
                Ok(Turn::Woken) => return Ok(Some(Event::plain(Kind::Woken))),
                Ok(Turn::Interrupted) | Err(Errno::INTR) => py.check_signals()?,
                Ok(Turn::Closing) => self.check_open(py, io)?,
                Ok(Turn::Stalled) => {
                    self.end_session();
                    let text = format!("a frame made no progress for {} s", self.stall.as_secs_f64());
                    return Err(raise(py, "Stalled", &text));
                }
                Ok(Turn::Broken(error)) => return Err(self.broken(py, &error)),
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Builds, checks and hands out what is there; whether there was anything. An error of the wire or of the session closes that (S9); what
    /// Python raises on its own account (Ctrl-C) does not, for no byte is lost by it.
    fn settle(&self, py: Python<'_>, io: &mut Io, yields: bool) -> PyResult<bool> {
        let mut found = false;
        while let Want::Build | Want::Check { .. } | Want::Done = io.inbox.assembler.want() {
            io.inbox.assembler.release(self.shared.released.swap(0, Ordering::SeqCst));
            let settled = io.inbox.settle(py, yields);
            let arrived = match settled {
                Ok(None) => continue,
                Ok(Some(arrived)) => arrived,
                Err(Failed::Python(raised)) => return Err(raised),
                Err(Failed::Wire(error)) => return Err(self.broken(py, &error)),
            };
            let told = locked(&self.shared.end).handle(&arrived.head, &arrived.body);
            let told = told.map_err(|error| self.broken(py, &error))?;
            let kept = Event::of(py, &told, &arrived);
            let kept = kept.and_then(|event| match io.ready.try_reserve(1) {
                Ok(()) => Ok(event),
                Err(_) => Err(decode_error(py, &Error::new(Code::OutOfMemory))),
            });
            match kept {
                Ok(Some(event)) => {
                    if event.kind == Kind::Ready {
                        let limits = locked(&self.shared.end).peer_limits(&self.limits);
                        let _ = self.agreed.set(limits);
                    }
                    found = true;
                    io.ready.push_back(event);
                }
                Ok(None) => {
                    self.shared.released.fetch_add(arrived.cost, Ordering::SeqCst);
                }
                // It is lost, and the session with it.
                Err(raised) => {
                    self.end_session();
                    return Err(raised);
                }
            }
        }
        Ok(found)
    }

    /// S11: takes in what has come so far, before a call begins that none of it can answer. Waits for nothing.
    pub(super) fn take(&self, py: Python<'_>, io: &mut Io) -> PyResult<()> {
        // What is there after the first bytes. A peer that goes on sending would keep the caller from its call, and from its deadline.
        let mut left = None;
        // S9: no later frame is read, and none again that was wrong.
        while !locked(&self.shared.end).is_closed() {
            self.settle(py, io, false)?;
            if io.is_ahead() {
                io.use_ahead(&self.shared.end).map_err(|error| self.broken(py, &error))?;
                continue;
            }
            if io.link.is_none() || io.eof || left == Some(0) {
                return Ok(());
            }
            match io.receive(left.unwrap_or(TURN)) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Ok(count) => {
                    left = Some(left.map_or_else(|| io.waiting(), |left| left.saturating_sub(count)));
                    io.fed(&self.shared.end, count).map_err(|error| self.broken(py, &error))?;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(())
    }

    /// Leaves: what was queued meanwhile is tried to be sent, and a channel that was closed meanwhile lets its descriptors go.
    pub(super) fn depart<'a>(&'a self, py: Python<'_>, mut inside: Inside<'a>, mut io: MutexGuard<'a, Io>) {
        loop {
            let over = locked(&self.shared.end).is_closed();
            let closing = self.shared.closing.load(Ordering::SeqCst);
            if io.current.is_none() && !over && !closing {
                self.push_queued(py, &mut io);
            }
            self.pending.store(io.missing(), Ordering::SeqCst);
            self.ready.store(io.ready.len() as u64, Ordering::SeqCst);
            // S9: nothing follows a part of a frame, or what was wrong.
            let unsent = (over || closing).then(|| (io.current.take(), self.unsent()));
            let link = io.link.take_if(|_| closing);
            if link.is_some() {
                self.shared.alarm.close();
            }
            let (blocked, is_open) = (io.current.is_some(), io.link.is_some());
            drop(io);
            drop(inside);
            // Python objects may go with them.
            drop((link, unsent));
            let more = !blocked && !locked(&self.shared.outbox).queue.is_empty();
            if !(is_open && (more || self.shared.closing.load(Ordering::SeqCst))) {
                return;
            }
            let Ok(again) = self.shared.gate.enter(Purpose::Send) else { return };
            inside = again;
            io = locked(&self.io);
        }
    }

    /// Sends of the queue what is taken at once.
    pub(super) fn push_queued(&self, py: Python<'_>, io: &mut Io) {
        let mut most = TURN;
        loop {
            if io.current.is_none() && locked(&self.shared.outbox).queue.is_empty() {
                return;
            }
            let pushed = py.detach(|| io.send(&self.shared, &mut most));
            match pushed {
                Ok(_) if io.spent.take().is_some() => {}
                Ok(Pushed::All | Pushed::Gone | Pushed::Blocked | Pushed::Spent) => return,
                Err(error) => return drop(self.failed(error)),
            }
        }
    }

    /// S9: an error of the wire or of the session.
    #[cold]
    pub(super) fn broken(&self, py: Python<'_>, error: &Error) -> PyErr {
        self.end_session();
        decode_error(py, error)
    }

    /// What the system refused.
    #[cold]
    pub(super) fn failed(&self, error: Errno) -> PyErr {
        self.end_session();
        PyOSError::new_err((error.raw_os_error(), error.to_string()))
    }

    /// Takes away what is queued: none of it will be sent.
    fn unsent(&self) -> VecDeque<Packet> {
        let mut outbox = locked(&self.shared.outbox);
        self.shared.sent.store(outbox.accepted, Ordering::SeqCst);
        std::mem::take(&mut outbox.queue)
    }

    fn end_session(&self) {
        locked(&self.shared.end).close();
    }
}

/// A time from now on; none where it is past what clocks can hold.
pub(super) fn from_now(wait: Duration) -> Option<Instant> {
    Instant::now().checked_add(wait)
}
