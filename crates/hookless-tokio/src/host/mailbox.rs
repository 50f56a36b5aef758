//! What came for one call.

use std::collections::VecDeque;
use std::task::{Context, Waker};

use hookless::Value;

use crate::error::Error;
use crate::host::event::Event;

/// Events that a call keeps while nobody asks; the oldest go first.
const EVENTS: usize = 1024;

/// Bytes of output that a call is given.
const OUTPUT: usize = 16 << 20;

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Returned(Value),
    Failed(Value),
    Cancelled,
    /// The session is over.
    Broken(Error),
}

/// What came for one call, and is not yet taken.
#[derive(Debug)]
pub(crate) struct Mailbox {
    /// Its id, once it has begun.
    pub(crate) id: Option<u64>,
    pub(crate) wants_events: bool,
    pub(crate) events: VecDeque<(Event, u64)>,
    output_left: usize,
    has_dropped: bool,
    pub(crate) items: VecDeque<(Value, u64)>,
    pub(crate) window: u32,
    /// The largest item so far, by its cost (L10).
    pub(crate) largest: u64,
    /// How it ended, and what that costs until it is taken.
    pub(crate) end: Option<(Ended, u64)>,
    waker: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn new(wants_events: bool, window: u32) -> Mailbox {
        Mailbox {
            id: None,
            wants_events,
            events: VecDeque::new(),
            output_left: OUTPUT,
            has_dropped: false,
            items: VecDeque::new(),
            window,
            largest: 0,
            end: None,
            waker: None,
        }
    }

    /// Keeps what the child wrote, so much in all; gives the costs of events that had to go.
    pub(crate) fn keep_output(&mut self, event: &Event, len: usize) -> u64 {
        if let Some(left) = self.output_left.checked_sub(len) {
            self.output_left = left;
            return self.keep(event.clone(), 0);
        }
        // What is smaller and comes later is no part of it either.
        self.output_left = 0;
        if std::mem::replace(&mut self.has_dropped, true) { 0 } else { self.keep(Event::OutputDropped, 0) }
    }

    pub(crate) fn wait(&mut self, cx: &Context<'_>) {
        self.waker = Some(cx.waker().clone());
    }

    pub(crate) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Keeps an event; gives the costs of those that had to go.
    pub(crate) fn keep(&mut self, event: Event, cost: u64) -> u64 {
        let mut released = 0;
        let replaces = |(last, _): &(Event, u64)| {
            matches!((last, &event), (Event::Progress { .. }, Event::Progress { .. }))
        };
        let is_full = self.events.len() >= EVENTS;
        let gone = match self.events.back().is_some_and(replaces) {
            true => self.events.pop_back(),
            false if is_full => self.events.pop_front(),
            false => None,
        };
        released += gone.map_or(0, |(_, cost)| cost);
        self.events.push_back((event, cost));
        self.wake();
        released
    }
}
