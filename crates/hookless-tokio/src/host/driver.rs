//! Moves the bytes of one session, and ends its child. One task for each host; it alone touches the stream.

use std::future::{Future, poll_fn};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::{Context, Poll};
use std::time::Duration;

use hookless::Code;
use hookless::frame::Whole;
use hookless::session::HostEvent;
use rustix::process::Signal;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};

use crate::error::{Death, Error};
use crate::host::event::Event;
use crate::host::mailbox::Ended;
use crate::host::output::Outputs;
use crate::host::post::{Closing, Shared};
use crate::host::process::Process;
use crate::link::{Link, Received};

/// Bytes that are received before a call begins although more goes on coming (S11): far more than a socket holds.
const TAKEN: u64 = 64 << 20;

/// Bytes and reads of one turn of the task, before others have theirs.
const TURN: u64 = 4 << 20;
const READS: usize = 256;

/// How long a child has to end by itself once its stream has ended, and once SIGTERM asked it to.
const PATIENCE: Duration = Duration::from_secs(2);
const ASKED: Duration = Duration::from_secs(1);

/// After which a child that has not ended a cancelled call is nudged, again and again: the signal of a frame may have come just before
/// its code began to wait.
const NUDGE: Duration = Duration::from_millis(100);

/// How long frames and cancelled calls may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) stall: Duration,
    pub(crate) grace: Duration,
}

/// How the conversation ended.
#[derive(Debug)]
enum Over {
    /// The child ended its stream.
    End,
    /// The child is to be stopped for this.
    Stop(Error),
    /// The host has said goodbye, or could not.
    Closed,
    /// Nobody wants it any more.
    Dropped,
}

/// One session.
pub(crate) struct Driver<S> {
    link: Link<S>,
    shared: Shared,
    outputs: Outputs,
    process: Option<Process>,
    life: Option<AsyncFd<OwnedFd>>,
    times: Times,
    timer: Pin<Box<Sleep>>,
    received: u64,
    nudged: Instant,
    /// When an orderly end has to be over.
    goodbye: Option<Instant>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Driver<S> {
    pub(crate) fn new(stream: S, shared: Shared, times: Times) -> Driver<S> {
        let limits = shared.lock().limits.clone();
        Driver {
            link: Link::new(stream, limits),
            shared,
            outputs: Outputs::default(),
            process: None,
            life: None,
            times,
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            received: 0,
            nudged: Instant::now(),
            goodbye: None,
        }
    }

    /// The same with a process of its own.
    pub(crate) fn with_process(mut self, process: Process, outputs: Outputs) -> std::io::Result<Driver<S>> {
        self.life = Some(process.life()?);
        self.process = Some(process);
        self.outputs = outputs;
        Ok(self)
    }

    /// Runs the session to its end, and the child to its own. Whoever waits is told, however this ends.
    pub(crate) async fn run(mut self) -> Option<ExitStatus> {
        let told = Told(self.shared.clone());
        let over = poll_fn(|cx| self.poll(cx)).await;
        let Driver { link, shared, outputs, process, life, times, .. } = self;
        // Nothing of what is under way is of use any more, and the child sees the end of its stream.
        drop(link);
        let (patience, asked) = match &over {
            Over::End | Over::Closed => (PATIENCE, ASKED),
            Over::Stop(Error::Unresponsive(_)) => (Duration::ZERO, ASKED.min(times.grace)),
            Over::Stop(_) | Over::Dropped => (Duration::ZERO, Duration::ZERO),
        };
        let status = match (process, life) {
            (Some(process), Some(life)) => {
                Ending { process, life, outputs, shared: shared.clone() }.end(patience, asked).await
            }
            _ => None,
        };
        let mut post = shared.lock();
        let verdict = match over {
            _ if post.closing.is_some() => Error::Closed,
            Over::End => Error::Died(Death { status, output: post.kept.iter().copied().collect() }),
            Over::Stop(error) => error,
            Over::Closed | Over::Dropped => Error::Closed,
        };
        post.conclude(verdict);
        drop(post);
        drop(told);
        status
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Over> {
        let closing = {
            let mut post = self.shared.lock();
            post.heed(cx);
            post.closing
        };
        if closing == Some(Closing::Dropped) {
            return Poll::Ready(Over::Dropped);
        }
        self.outputs.poll_drain(cx, &self.shared);
        // Asked before the stream is read: what was said before the end is not missed.
        let ended = self.life.as_ref().is_some_and(|life| life.poll_read_ready(cx).is_ready());
        let is_dry = match self.receive(cx) {
            Ok(is_dry) => is_dry,
            Err(over) => return Poll::Ready(over),
        };
        if ended && is_dry {
            return Poll::Ready(Over::End);
        }
        self.begin(is_dry);
        let Driver { link, shared, .. } = self;
        let is_blocked = link.poll_send(cx, || shared.lock().outbox.pop_front()).is_pending();
        if closing.is_some() && self.say_goodbye() {
            return Poll::Ready(Over::Closed);
        }
        if !is_dry {
            cx.waker().wake_by_ref();
        }
        self.poll_times(cx, is_blocked)
    }

    /// Takes what has come; whether there is no more of it for now.
    fn receive(&mut self, cx: &mut Context<'_>) -> Result<bool, Over> {
        let start = self.received;
        for _ in 0..READS {
            match self.link.poll_receive(cx) {
                Poll::Pending => return Ok(true),
                Poll::Ready(Ok(Received::Bytes(count))) => {
                    self.received = self.received.saturating_add(count as u64);
                    self.feed(count).map_err(|error| Over::Stop(Error::Protocol(error)))?;
                }
                Poll::Ready(Ok(Received::End)) => return Err(self.end_of_stream()),
                Poll::Ready(Err(error)) => return Err(Over::Stop(Error::Protocol(error))),
            }
            if self.received.saturating_sub(start) >= TURN {
                break;
            }
        }
        Ok(false)
    }

    /// S10: how a process has ended says more than that it was in the midst of a frame.
    fn end_of_stream(&self) -> Over {
        if self.link.intake.is_idle() || self.process.is_some() {
            return Over::End;
        }
        let error = hookless::Error::at(Code::Truncated, self.link.intake.received());
        Over::Stop(Error::Protocol(error))
    }

    /// Puts received bytes to use.
    fn feed(&mut self, count: usize) -> hookless::Result<()> {
        let intake = &mut self.link.intake;
        {
            let mut post = self.shared.lock();
            intake.release(std::mem::take(&mut post.released));
            if intake.is_idle() {
                post.machine.frame_begins();
            }
        }
        let had_head = intake.head().is_some();
        intake.advance(count)?;
        if let (false, Some(head)) = (had_head, intake.head()) {
            self.shared.lock().machine.check_head(&head)?;
        }
        if intake.is_done() {
            let whole = intake.take()?;
            self.take(whole)?;
        }
        Ok(())
    }

    /// Hands a frame on.
    fn take(&mut self, whole: Whole) -> hookless::Result<()> {
        let Whole { head, body, value, cost } = whole;
        let told = self.shared.lock().machine.handle(&head, &body)?;
        if let HostEvent::Returned(_) | HostEvent::Failed(_) | HostEvent::Cancelled(_) = told {
            self.outputs.drain_now(&self.shared);
        }
        let mut post = self.shared.lock();
        match told {
            HostEvent::Ready => {
                post.is_ready = true;
                post.release(cost);
                post.wake_starter();
            }
            HostEvent::Returned(id) => post.put_answer(id, Ended::Returned(value), cost),
            HostEvent::Failed(id) => post.put_answer(id, Ended::Failed(value), cost),
            HostEvent::Cancelled(id) => post.put_answer(id, Ended::Cancelled, cost),
            HostEvent::Item(id) => post.put_item(id, value, cost),
            HostEvent::Progress(id, told) => post.put_event(id, Event::progress(told), cost),
            HostEvent::Log(id, told) => post.put_event(id, Event::log(told), cost),
        }
        Ok(())
    }

    /// S11: calls begin when what had come before them is taken.
    fn begin(&mut self, is_dry: bool) {
        let mut post = self.shared.lock();
        while post.is_ready
            && let Some(mut waiting) = post.waiting.pop_front()
        {
            let since = *waiting.since.get_or_insert(self.received);
            if !is_dry && self.received.saturating_sub(since) < TAKEN {
                post.waiting.push_front(waiting);
                return;
            }
            post.begin(waiting);
        }
    }

    /// Ends the session in order; whether there is nothing to wait for.
    fn say_goodbye(&mut self) -> bool {
        let mut post = self.shared.lock();
        if self.goodbye.is_none() {
            self.goodbye = later(Instant::now(), PATIENCE);
            post.cancel_all();
        }
        if post.machine.open() == 0 {
            post.shut_down();
        }
        !post.is_ready
    }

    /// What is late by now, and a timer for what will be next.
    fn poll_times(&mut self, cx: &mut Context<'_>, is_blocked: bool) -> Poll<Over> {
        loop {
            let (next, over) = self.look(is_blocked);
            if let Some(over) = over {
                return Poll::Ready(over);
            }
            let Some(next) = next else { return Poll::Pending };
            self.timer.as_mut().reset(next);
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// When something will be late next, and what is so by now.
    fn look(&mut self, is_blocked: bool) -> (Option<Instant>, Option<Over>) {
        let (now, post) = (Instant::now(), self.shared.lock());
        let Times { stall, grace } = self.times;
        let coming = !self.link.intake.is_idle();
        // A worker at work on another call may have its reasons for not reading.
        let is_call = self.link.current.as_ref().is_some_and(|packet| packet.is_call);
        let going = is_blocked && self.link.current.is_some() && post.machine.open() <= usize::from(is_call);
        let stalls = [coming.then_some(self.link.moved_in), going.then_some(self.link.moved_out)];
        let stalls = stalls.into_iter().flatten().filter_map(|since| later(since, stall)).min();
        let first = post.owed.values().min().copied();
        let unresponsive = first.and_then(|since| later(since, grace));
        let is_past = |time: Option<Instant>| time.is_some_and(|time| time <= now);
        let over = if is_past(self.goodbye) {
            Some(Over::Closed)
        } else if is_past(stalls) {
            Some(Over::Stop(Error::Stalled(stall)))
        } else if is_past(unresponsive) {
            Some(Over::Stop(Error::Unresponsive(grace)))
        } else {
            None
        };
        let mut nudge = first.and_then(|since| later(since.max(self.nudged), NUDGE));
        if let (Some(process), true) = (&self.process, is_past(nudge)) {
            process.nudge(Signal::URG);
            self.nudged = now;
            nudge = later(now, NUDGE);
        }
        let nudge = nudge.filter(|_| self.process.is_some());
        let next = [self.goodbye, stalls, unresponsive, nudge].into_iter().flatten().min();
        (next, over)
    }
}

/// Tells whoever waits, also if the task ends before its time, with its runtime.
struct Told(Shared);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.lock().conclude(Error::Closed);
    }
}

/// A child whose stream has ended.
struct Ending {
    process: Process,
    life: AsyncFd<OwnedFd>,
    outputs: Outputs,
    shared: Shared,
}

impl Ending {
    /// Makes the child end, and reaps it. Its status, unless it had to be stopped.
    async fn end(mut self, patience: Duration, asked: Duration) -> Option<ExitStatus> {
        let by_itself = self.wait(patience).await;
        if !by_itself && !asked.is_zero() {
            self.process.signal(Signal::TERM);
            self.wait(asked).await;
        }
        self.process.signal(Signal::KILL);
        // Killed is not yet gone: gigabytes of memory take a moment to be freed.
        self.wait(Duration::from_secs(10)).await;
        self.outputs.drain_now(&self.shared);
        let Ending { process, life, .. } = self;
        drop(life);
        let reaped = tokio::task::spawn_blocking(move || {
            let status = process.reap();
            drop(process.take_scratch());
            status
        });
        reaped.await.ok().flatten().filter(|_| by_itself)
    }

    /// Waits for the end of the process, and drains what it writes: it may wait for that.
    async fn wait(&mut self, most: Duration) -> bool {
        let ended = poll_fn(|cx| {
            if self.shared.lock().closing == Some(Closing::Dropped) {
                self.process.signal(Signal::KILL);
            }
            self.shared.lock().heed(cx);
            self.outputs.poll_drain(cx, &self.shared);
            self.life.poll_read_ready(cx).map(drop)
        });
        tokio::time::timeout(most, ended).await.is_ok()
    }
}

/// A time from another one on; none where it is past what clocks can hold.
fn later(since: Instant, after: Duration) -> Option<Instant> {
    since.checked_add(after)
}
