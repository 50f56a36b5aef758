//! One turn of the channel: send what can be sent, receive what is there, else wait.
//!
//! Nothing here touches a Python object, so it runs with the GIL released.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hookless::frame::Want;
use hookless::{Error, Result};
use rustix::io::Errno;

use super::ahead::Ahead;
use super::event::Event;
use super::gate::{Gate, locked};
use super::link::{Alarm, Link, Pushed, TURN};
use super::machine::End;
use super::packet::Packet;
use super::wait::{Looked, Watch, look};
use crate::inbox::Inbox;

/// What any thread may touch, each part under its own short lock: none is held over a wait, or while Python is asked for anything.
pub(super) struct Shared {
    pub(super) end: Mutex<End>,
    pub(super) outbox: Mutex<Outbox>,
    /// Packets of those accepted that are gone.
    pub(super) sent: AtomicU64,
    /// L10: the costs of frames that were handed on since the assembler was last told.
    pub(super) released: AtomicU64,
    pub(super) alarm: Alarm,
    pub(super) gate: Gate,
    pub(super) closing: AtomicBool,
}

/// Frames that wait to be sent, in the order in which they will be.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) queue: VecDeque<Packet>,
    /// Packets that have ever taken a place in the stream.
    pub(super) accepted: u64,
}

/// What only the thread that is inside may touch.
pub(super) struct Io {
    pub(super) link: Option<Link>,
    pub(super) inbox: Inbox,
    /// What has come with the beginning of a frame, and is looked at before the stream is.
    ahead: Ahead,
    /// What has arrived and was not yet asked for.
    pub(super) ready: VecDeque<Event>,
    /// The frame that is being sent.
    pub(super) current: Option<Packet>,
    /// One that is gone, and holds Python objects.
    pub(super) spent: Option<Packet>,
    /// When bytes of a frame last came, and when some last went.
    moved_in: Instant,
    pub(super) moved_out: Instant,
    /// The last thing that was tried was to receive, and there was nothing.
    pub(super) dry: bool,
    /// The peer has ended its stream.
    pub(super) eof: bool,
    /// The peer takes nothing any more.
    pub(super) gone: bool,
    /// Whether HELLO is on its way.
    pub(super) greeted: bool,
}

/// What is waited for, and how long.
pub(super) struct Wish {
    pub(super) watch: Watch,
    /// When to stop; `now` says that nothing is waited for at all.
    pub(super) until: Option<Instant>,
    pub(super) now: bool,
    /// Bytes that may still be moved.
    pub(super) most: usize,
    /// The end of everything is that all that was queued is gone, rather than that something has arrived.
    pub(super) until_sent: bool,
    pub(super) yields: bool,
}

/// What one turn came to.
pub(super) enum Turn {
    /// A frame can be built, or is complete: Python is needed.
    Build,
    /// All that was queued is gone.
    Sent,
    /// Bytes of one of the outputs; none at its end.
    Output(usize, Vec<u8>),
    /// The stream has ended, or the peer's process has and nothing more is there.
    Eof,
    /// A packet with Python objects is gone.
    Freed,
    /// Signals are to be looked at.
    Interrupted,
    /// `wake` was called.
    Woken,
    /// The channel is to be closed.
    Closing,
    /// The time is over, or the bytes are moved that may be.
    TimeUp,
    /// A frame made no progress for too long.
    Stalled,
    /// The bytes break a rule.
    Broken(Error),
}

impl Wish {
    /// To wait for whatever comes, without looking at anything else.
    pub(super) fn any(until: Option<Instant>) -> Wish {
        Wish {
            watch: Watch::default(),
            until,
            now: false,
            most: usize::MAX,
            until_sent: false,
            yields: false,
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

impl Io {
    pub(super) fn new(link: Option<Link>, inbox: Inbox) -> Io {
        let now = Instant::now();
        Io {
            link,
            inbox,
            ahead: Ahead::new(),
            ready: VecDeque::new(),
            current: None,
            spent: None,
            moved_in: now,
            moved_out: now,
            dry: false,
            eof: false,
            gone: false,
            greeted: false,
        }
    }

    /// Bytes of the frame under way that are still missing.
    pub(super) fn missing(&self) -> u64 {
        if self.inbox.assembler.is_idle() {
            return 0;
        }
        let len = self.inbox.assembler.head().map_or(32, |head| head.frame_len());
        len.saturating_sub(self.inbox.assembler.received())
    }

    /// Receives once, when nothing is there any more that came before. Returns how many bytes came, 0 at the stream's end.
    pub(super) fn receive(&mut self, most: usize) -> std::result::Result<usize, Errno> {
        let Some(link) = &self.link else { return Ok(0) };
        let received = link.receive(&mut self.inbox, &mut self.ahead, most);
        match received {
            Ok(0) => self.eof = true,
            Ok(_) => self.moved_in = Instant::now(),
            Err(Errno::CONNRESET | Errno::PIPE) => {
                self.eof = true;
                return Ok(0);
            }
            Err(error) => {
                self.dry = error == Errno::AGAIN;
                return Err(error);
            }
        }
        received
    }

    /// Bytes that could be received without waiting.
    pub(super) fn waiting(&self) -> usize {
        let waiting = self.link.as_ref().map(|link| rustix::io::ioctl_fionread(link.reader()));
        waiting.map_or(0, |waiting| waiting.map_or(TURN, |bytes| usize::try_from(bytes).unwrap_or(TURN)))
    }

    /// Whether bytes have come that were not put to use.
    pub(super) fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Puts `count` received bytes to use.
    pub(super) fn fed(&mut self, end: &Mutex<End>, count: usize) -> Result<()> {
        if self.is_ahead() { self.use_ahead(end) } else { self.placed(end, count) }
    }

    /// Puts to use what has come before, until Python is needed.
    pub(super) fn use_ahead(&mut self, end: &Mutex<End>) -> Result<()> {
        while self.is_ahead() && !self.needs_python() {
            if self.inbox.assembler.is_idle() {
                locked(end).frame_begins();
            }
            let count = self.ahead.move_to(&mut self.inbox)?;
            self.placed(end, count)?;
        }
        Ok(())
    }

    /// Goes on when bytes are in the assembler's space, or in its slot.
    fn placed(&mut self, end: &Mutex<End>, count: usize) -> Result<()> {
        if let Want::Slot { .. } = self.inbox.assembler.want() {
            self.inbox.assembler.advance_slot(count as u64);
        } else {
            let had_head = self.inbox.assembler.head().is_some();
            self.inbox.advance(count)?;
            if let (false, Some(head)) = (had_head, self.inbox.assembler.head()) {
                locked(end).check_head(&head)?;
            }
        }
        while let Want::Check { index } = self.inbox.assembler.want() {
            self.inbox.assembler.check_slot(self.inbox.targets.full(index))?;
        }
        Ok(())
    }

    pub(super) fn needs_python(&self) -> bool {
        matches!(self.inbox.assembler.want(), Want::Build | Want::Done)
    }

    /// Sends what is queued. Stops at a packet that holds Python objects when it is gone.
    pub(super) fn send(&mut self, shared: &Shared, most: &mut usize) -> std::result::Result<Pushed, Errno> {
        loop {
            if self.current.is_none() {
                self.current = locked(&shared.outbox).queue.pop_front();
                self.moved_out = Instant::now();
            }
            let (Some(packet), Some(link)) = (&mut self.current, &self.link) else { return Ok(Pushed::All) };
            let before = *most;
            let pushed = if self.gone { Pushed::Gone } else { packet.push(link, most)? };
            if *most != before {
                self.moved_out = Instant::now();
            }
            match pushed {
                Pushed::All => {}
                Pushed::Gone => self.gone = true,
                Pushed::Blocked | Pushed::Spent => return Ok(pushed),
            }
            let packet = self.current.take();
            shared.sent.fetch_add(1, Ordering::SeqCst);
            shared.gate.tell();
            if packet.as_ref().is_some_and(Packet::holds_objects) {
                self.spent = packet;
                return Ok(pushed);
            }
        }
    }

    /// Whether a frame has made no progress for too long: what is there was `tried` to be received, and the stream is `blocked`.
    fn is_stalled(&self, shared: &Shared, tried: bool, blocked: bool, stall: Duration) -> bool {
        let late = |since: Instant| since.elapsed() >= stall;
        let coming = tried && !self.inbox.assembler.is_idle() && late(self.moved_in);
        let is_call = self.current.as_ref().is_some_and(|packet| packet.is_call);
        coming || blocked && late(self.moved_out) && !locked(&shared.end).may_be_busy(is_call)
    }

    /// When a frame that is under way will have made no progress for too long.
    fn stall_end(&self, shared: &Shared, blocked: bool, stall: Duration) -> Option<Instant> {
        let is_call = self.current.as_ref().is_some_and(|packet| packet.is_call);
        let excused = !blocked || locked(&shared.end).may_be_busy(is_call);
        let coming = (!self.inbox.assembler.is_idle()).then(|| self.moved_in.checked_add(stall)).flatten();
        let going = (!excused).then(|| self.moved_out.checked_add(stall)).flatten();
        [coming, going].into_iter().flatten().min()
    }

    /// Whether what arrives is taken in. One that sends goes on reading, so that two that send do not wait for each other; but it holds no
    /// more than one call that nobody has asked for (L10).
    fn reads(&self, wish: &Wish) -> bool {
        const HELD: usize = 1024;
        let full = || self.ready.len() >= HELD || self.ready.iter().any(Event::is_call);
        !self.eof && (!wish.until_sent || !full())
    }
}

/// Goes on until something happens that needs the caller.
pub(super) fn turn(
    shared: &Shared,
    io: &mut Io,
    wish: &mut Wish,
    stall: Duration,
) -> std::result::Result<Turn, Errno> {
    let (mut ended, mut looked, mut moved) = (false, false, 0_usize);
    loop {
        let mut most = wish.most;
        let pushed = io.send(shared, &mut most)?;
        moved += wish.most - most;
        wish.most = most;
        if io.spent.is_some() {
            return Ok(Turn::Freed);
        }
        let blocked = pushed == Pushed::Blocked;
        if wish.until_sent && pushed == Pushed::All {
            return Ok(Turn::Sent);
        }
        if pushed == Pushed::Spent {
            return Ok(Turn::TimeUp);
        }
        if io.needs_python() {
            return Ok(Turn::Build);
        }
        let reads = io.reads(wish);
        if io.eof && !wish.until_sent {
            return Ok(Turn::Eof);
        }
        if reads && io.is_ahead() {
            if let Err(error) = io.use_ahead(&shared.end) {
                return Ok(Turn::Broken(error));
            }
            continue;
        }
        if wish.most == 0 {
            return Ok(Turn::TimeUp);
        }
        // What has just been found empty is waited for first, where there is time for that.
        let tried = reads && (!std::mem::take(&mut io.dry) || wish.now);
        if tried {
            match io.receive(wish.most) {
                Ok(0) => continue,
                Ok(count) => {
                    wish.most -= count;
                    moved += count;
                    if let Err(error) = io.fed(&shared.end, count) {
                        return Ok(Turn::Broken(error));
                    }
                    if io.needs_python() {
                        return Ok(Turn::Build);
                    }
                    // Looked at here too: a peer that is never silent cannot put the end off.
                    if wish.most == 0 || !wish.now && wish.is_over() {
                        return Ok(Turn::TimeUp);
                    }
                    if moved >= TURN {
                        return Ok(Turn::Interrupted);
                    }
                    continue;
                }
                // What it wrote before it ended has been read.
                Err(Errno::AGAIN) if ended => {
                    io.eof = true;
                    continue;
                }
                // Who does not wait leaves it to the next to wait first.
                Err(Errno::AGAIN) => io.dry = wish.now,
                Err(Errno::INTR) => return Ok(Turn::Interrupted),
                Err(error) => return Err(error),
            }
        }
        if shared.closing.load(Ordering::SeqCst) {
            return Ok(Turn::Closing);
        }
        if shared.alarm.was_woken() {
            return Ok(Turn::Woken);
        }
        if io.is_stalled(shared, tried, blocked, stall) {
            return Ok(Turn::Stalled);
        }
        if wish.is_over() && (looked || wish.now && wish.watch.is_empty()) {
            return Ok(Turn::TimeUp);
        }
        let Some(link) = &io.link else { return Ok(Turn::Closing) };
        let until = [wish.until, io.stall_end(shared, blocked, stall)].into_iter().flatten().min();
        looked = true;
        match look(link, &shared.alarm, &mut wish.watch, reads, blocked, until)? {
            Looked::Channel => {}
            Looked::Rang => shared.alarm.answer(),
            Looked::Ended => ended = true,
            Looked::Interrupted => return Ok(Turn::Interrupted),
            Looked::Output(index, bytes) => return Ok(Turn::Output(index, bytes)),
        }
    }
}
