//! What the owners of calls and the driver share: the session, and a box for each call.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Waker};

use bytes::Bytes;
use hookless::frame::{FrameKind, OwnedParts};
use hookless::session::{Credit, EMPTY_BODY, Host as Machine, Verb};
use hookless::{Limits, Value};
use tokio::time::Instant;

use crate::error::Error;
use crate::host::event::{Event, Output};
use crate::host::mailbox::{Ended, Mailbox};
use crate::packet::Packet;

/// Bytes of output that are kept: the last ones of both streams together.
const KEPT: usize = 64 << 10;

/// A call that has still to be begun: by the driver, once it has taken what had come (S11).
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) ticket: u64,
    pub(crate) verb: Verb,
    pub(crate) parts: OwnedParts,
    /// How many bytes had been received when the driver first saw it.
    pub(crate) since: Option<u64>,
}

/// Why the session is to be ended by its own host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// In order: open calls are cancelled, and the child may finish.
    Orderly,
    /// At once.
    Dropped,
}

/// The part that is locked, never over a wait.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) machine: Machine,
    /// With which the host decodes and encodes.
    pub(crate) limits: Limits,
    pub(crate) is_ready: bool,
    pub(crate) waiting: VecDeque<Waiting>,
    pub(crate) outbox: VecDeque<Packet>,
    boxes: HashMap<u64, Mailbox>,
    /// Tickets by the ids of calls that are open here.
    tickets: HashMap<u64, u64>,
    next_ticket: u64,
    /// Cancelled calls that have not ended, and since when.
    pub(crate) owed: BTreeMap<u64, Instant>,
    /// L10: costs of what was handed on since the driver last looked.
    pub(crate) released: u64,
    pub(crate) closing: Option<Closing>,
    /// Why it is over.
    pub(crate) verdict: Option<Error>,
    /// The last that the child wrote.
    pub(crate) kept: VecDeque<u8>,
    driver: Option<Waker>,
    starter: Option<Waker>,
}

/// A handle of it.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Mutex<Post>>);

impl Shared {
    pub(crate) fn new(limits: Limits) -> Shared {
        Shared(Arc::new(Mutex::new(Post {
            machine: Machine::new(limits.clone()),
            limits,
            is_ready: false,
            waiting: VecDeque::new(),
            outbox: VecDeque::new(),
            boxes: HashMap::new(),
            tickets: HashMap::new(),
            next_ticket: 0,
            owed: BTreeMap::new(),
            released: 0,
            closing: None,
            verdict: None,
            kept: VecDeque::new(),
            driver: None,
            starter: None,
        })))
    }

    /// Nothing that is done under the lock can panic half way: a poisoned one is as good as any.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Post> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Post {
    /// The driver is to be woken when there is something to do.
    pub(crate) fn heed(&mut self, cx: &Context<'_>) {
        self.driver = Some(cx.waker().clone());
    }

    pub(crate) fn wake_driver(&mut self) {
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }

    pub(crate) fn wait_for_start(&mut self, cx: &Context<'_>) {
        self.starter = Some(cx.waker().clone());
    }

    pub(crate) fn wake_starter(&mut self) {
        if let Some(waker) = self.starter.take() {
            waker.wake();
        }
    }

    /// A place in the line of calls: a ticket.
    pub(crate) fn queue(&mut self, verb: Verb, parts: OwnedParts, wants_events: bool, window: u32) -> u64 {
        self.next_ticket += 1;
        let ticket = self.next_ticket;
        self.boxes.insert(ticket, Mailbox::new(wants_events, window));
        self.waiting.push_back(Waiting { ticket, verb, parts, since: None });
        self.wake_driver();
        ticket
    }

    /// Begins a call whose turn it is (S5), and queues its frame.
    pub(crate) fn begin(&mut self, mut waiting: Waiting) {
        let Some(mailbox) = self.boxes.get_mut(&waiting.ticket) else { return };
        match self.machine.begin_call(waiting.verb) {
            Ok(id) => {
                mailbox.id = Some(id);
                self.tickets.insert(id, waiting.ticket);
                waiting.parts.set_call_id(id);
                self.outbox.push_back(Packet::new(waiting.parts, true));
                if waiting.verb == Verb::Stream {
                    // One, until it is known how large its items are.
                    self.grant(id, 1);
                }
            }
            Err(error) => {
                mailbox.end = Some((Ended::Broken(Error::Refused(error)), 0));
                mailbox.wake();
            }
        }
    }

    fn control(&mut self, kind: FrameKind, id: u64, body: &[u8]) {
        if let Ok(parts) = OwnedParts::control(kind, id, body) {
            self.outbox.push_back(Packet::new(parts, false));
            self.wake_driver();
        }
    }

    /// HELLO, which is sent first.
    pub(crate) fn greet(&mut self) -> hookless::Result<()> {
        let parts = OwnedParts::control(FrameKind::Hello, 0, &self.machine.hello().to_body()?)?;
        self.outbox.push_back(Packet::new(parts, false));
        Ok(())
    }

    /// S16.
    pub(crate) fn shut_down(&mut self) -> bool {
        let allowed = self.machine.shutdown().is_ok();
        if allowed {
            self.control(FrameKind::Shutdown, 0, EMPTY_BODY);
        }
        allowed
    }

    /// S14: asks the child to end a call.
    pub(crate) fn cancel(&mut self, ticket: u64) {
        match self.boxes.get(&ticket).and_then(|mailbox| mailbox.id) {
            Some(id) => self.cancel_id(id),
            // Nothing was sent.
            None if self.boxes.contains_key(&ticket) => {
                self.waiting.retain(|waiting| waiting.ticket != ticket);
                self.put_end(ticket, Ended::Cancelled, 0);
            }
            None => {}
        }
    }

    pub(crate) fn cancel_id(&mut self, id: u64) {
        if self.machine.cancel(id) {
            self.owed.insert(id, Instant::now());
            self.control(FrameKind::Cancel, id, EMPTY_BODY);
        }
    }

    pub(crate) fn cancel_all(&mut self) {
        let waiting: Vec<u64> = self.waiting.iter().map(|waiting| waiting.ticket).collect();
        waiting.into_iter().for_each(|ticket| self.cancel(ticket));
        let open: Vec<u64> = self.tickets.keys().copied().collect();
        open.into_iter().for_each(|id| self.cancel_id(id));
    }

    /// Its owner is gone: what has not ended is cancelled, and what comes for it is let go.
    pub(crate) fn abandon(&mut self, ticket: u64) {
        self.waiting.retain(|waiting| waiting.ticket != ticket);
        let Some(mailbox) = self.boxes.remove(&ticket) else { return };
        let end = mailbox.end.as_ref().map_or(0, |(_, cost)| *cost);
        let items: u64 = mailbox.items.iter().map(|(_, cost)| *cost).sum();
        let events: u64 = mailbox.events.iter().map(|(_, cost)| *cost).sum();
        self.release(end.saturating_add(items).saturating_add(events));
        if let Some(id) = mailbox.id {
            self.tickets.remove(&id);
            self.cancel_id(id);
        }
    }

    pub(crate) fn release(&mut self, cost: u64) {
        self.released = self.released.saturating_add(cost);
    }

    pub(crate) fn mailbox(&mut self, ticket: u64) -> Option<&mut Mailbox> {
        self.boxes.get_mut(&ticket)
    }

    /// An item arrived, for whoever still wants it.
    pub(crate) fn put_item(&mut self, id: u64, value: Value, cost: u64) {
        match self.tickets.get(&id).and_then(|ticket| self.boxes.get_mut(ticket)) {
            Some(mailbox) => {
                mailbox.largest = mailbox.largest.max(cost);
                mailbox.items.push_back((value, cost));
                mailbox.wake();
            }
            None => self.release(cost),
        }
    }

    /// The answer of a call arrived.
    pub(crate) fn put_answer(&mut self, id: u64, ended: Ended, cost: u64) {
        self.owed.remove(&id);
        match self.tickets.remove(&id) {
            Some(ticket) => self.put_end(ticket, ended, cost),
            None => self.release(cost),
        }
    }

    fn put_end(&mut self, ticket: u64, ended: Ended, cost: u64) {
        if let Some(mailbox) = self.boxes.get_mut(&ticket) {
            mailbox.end = Some((ended, cost));
            mailbox.wake();
        }
    }

    /// Progress or a log arrived: of one call, or with 0 of none, which all are told.
    pub(crate) fn put_event(&mut self, id: u64, event: Event, cost: u64) {
        let only = self.tickets.get(&id).copied();
        let mut charged = cost;
        let mut released = 0;
        for (ticket, mailbox) in &mut self.boxes {
            if mailbox.wants_events && mailbox.end.is_none() && (id == 0 || only == Some(*ticket)) {
                // Charged once, to the first who keeps it.
                released += mailbox.keep(event.clone(), std::mem::take(&mut charged));
            }
        }
        self.release(released.saturating_add(charged));
    }

    /// The child wrote something: all calls that are open are told.
    pub(crate) fn put_output(&mut self, output: Output, bytes: Bytes) {
        self.kept.extend(&bytes);
        let past = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..past);
        let (len, event) = (bytes.len(), Event::Output(output, bytes));
        let mut released = 0;
        for mailbox in self.boxes.values_mut() {
            if !mailbox.wants_events || mailbox.id.is_none() || mailbox.end.is_some() {
                continue;
            }
            released += mailbox.keep_output(&event, len);
        }
        self.release(released);
    }

    /// S13: allows a stream what it may run ahead.
    pub(crate) fn allow(&mut self, ticket: u64) {
        let streams = self.boxes.values().filter(|mailbox| mailbox.largest > 0).count().max(1);
        let room = self.limits.undelivered / 2 / streams as u64;
        let Some(mailbox) = self.boxes.get(&ticket) else { return };
        let Some(id) = mailbox.id else { return };
        // What may be under way or wait here, by the largest item so far; one at least, or it would stand still.
        let fit = room.checked_div(mailbox.largest).unwrap_or(1).clamp(1, u64::from(mailbox.window));
        let ahead = u64::from(self.machine.credit_of(id)) + mailbox.items.len() as u64;
        // Not one by one, where more are allowed.
        if ahead <= fit / 2 {
            self.grant(id, u32::try_from(fit - ahead).unwrap_or(1));
        }
    }

    fn grant(&mut self, id: u64, items: u32) {
        if let (Ok(true), Ok(body)) = (self.machine.credit(id, items), (Credit { items }).to_body()) {
            self.control(FrameKind::Credit, id, &body);
        }
    }

    /// It is over: everybody is told.
    pub(crate) fn conclude(&mut self, verdict: Error) {
        self.machine.close();
        let verdict = self.verdict.get_or_insert(verdict).clone();
        for mailbox in self.boxes.values_mut().filter(|mailbox| mailbox.end.is_none()) {
            mailbox.end = Some((Ended::Broken(verdict.clone()), 0));
            mailbox.wake();
        }
        self.waiting.clear();
        self.outbox.clear();
        self.tickets.clear();
        self.owed.clear();
        self.wake_starter();
    }
}
