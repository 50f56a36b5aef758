//! A call that is open, and a stream of items, as their owner holds them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hookless::{RemoteError, Value, from_value};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, Sleep};

use crate::error::Error;
use crate::host::event::Event;
use crate::host::mailbox::{Ended, Mailbox};
use crate::host::post::Shared;

/// A call that was made. Awaiting it gives its result.
///
/// It needs nobody to poll it, but for its deadline: the session goes on by itself, and keeps what comes within its limits (L10).
///
/// # Cancel safety
/// The call is this object, not a future of it: dropping it before it has ended cancels the call (S14), and the session goes on. The
/// futures of its methods may be dropped at any time and lose nothing. To await it by reference in a `select!` loses nothing either.
#[derive(Debug)]
#[must_use = "a call that is dropped is cancelled"]
pub struct Call {
    shared: Shared,
    ticket: u64,
    deadline: Option<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
    is_late: bool,
    /// An end that was found before it was asked for.
    is_over: bool,
}

impl Call {
    pub(crate) fn new(shared: Shared, ticket: u64, deadline: Option<Duration>) -> Call {
        let sleep = deadline.and_then(|after| Instant::now().checked_add(after));
        let sleep = sleep.map(|until| Box::pin(tokio::time::sleep_until(until)));
        Call { shared, ticket, deadline, sleep, is_late: false, is_over: false }
    }

    /// Asks the child to end the call. Its answer is still to be awaited: [`Error::Cancelled`], or what came first.
    pub fn cancel(&mut self) {
        self.shared.lock().cancel(self.ticket);
    }

    /// The result as a type of serde's.
    ///
    /// # Errors
    /// Those of the call, and [`Error::Mismatch`].
    ///
    /// # Cancel safety
    /// Dropping the future drops the call, which cancels it.
    pub async fn typed<T: DeserializeOwned>(self) -> Result<T, Error> {
        from_value(self.await?).map_err(Error::Mismatch)
    }

    /// The next of what came while the call was open, for a request with [`events`](crate::Request::events); none once it has ended.
    ///
    /// # Cancel safety
    /// Dropping the future loses no event.
    pub async fn next_event(&mut self) -> Option<Event> {
        poll_fn(|cx| {
            self.poll_deadline(cx);
            self.poll_event(cx)
        })
        .await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_box(cx, |mailbox| {
            let (event, cost) = mailbox.events.pop_front()?;
            Some((Some(event), cost))
        })
    }

    /// Cancels the call when its time is over.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) {
        if self.sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
            self.sleep = None;
            self.is_late = true;
            self.cancel();
        }
    }

    /// Takes something of the box, or waits; ready without anything once the call has ended.
    fn poll_box<T>(
        &mut self,
        cx: &mut Context<'_>,
        take: impl FnOnce(&mut Mailbox) -> Option<(Option<T>, u64)>,
    ) -> Poll<Option<T>> {
        let mut post = self.shared.lock();
        let Some(mailbox) = post.mailbox(self.ticket) else { return Poll::Ready(None) };
        if let Some((taken, cost)) = take(mailbox) {
            post.release(cost);
            post.wake_driver();
            return Poll::Ready(taken);
        }
        if mailbox.end.is_some() {
            return Poll::Ready(None);
        }
        mailbox.wait(cx);
        Poll::Pending
    }

    /// How it ended; asked once it has.
    fn outcome(&mut self, ended: Ended) -> Result<Value, Error> {
        self.is_over = true;
        let late = |acknowledged| {
            let after = self.deadline.unwrap_or_default();
            Err(Error::DeadlineExceeded { after, acknowledged })
        };
        match ended {
            Ended::Broken(error) if self.is_late && error.ends_session() => late(false),
            Ended::Broken(error) => Err(error),
            _ if self.is_late => late(true),
            Ended::Returned(value) => Ok(value),
            Ended::Cancelled => Err(Error::Cancelled),
            Ended::Failed(value) => Err(match RemoteError::from_value(value) {
                Ok(error) => Error::Remote(error),
                // S7: the decoder lets nothing else through.
                Err(_) => Error::Protocol(hookless::Error::new(hookless::Code::BadType)),
            }),
        }
    }
}

impl Future for Call {
    type Output = Result<Value, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Value, Error>> {
        if self.is_over {
            return Poll::Ready(Err(Error::Closed));
        }
        self.poll_deadline(cx);
        let ended = self.poll_box(cx, |mailbox| {
            let (ended, cost) = mailbox.end.take()?;
            Some((Some(ended), cost))
        });
        match ended {
            Poll::Ready(ended) => {
                let outcome = self.outcome(ended.unwrap_or(Ended::Broken(Error::Closed)));
                self.shared.lock().abandon(self.ticket);
                Poll::Ready(outcome)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.shared.lock().abandon(self.ticket);
    }
}

/// The items of a stream, in order; then what its generator returned.
///
/// # Cancel safety
/// Dropping it before its end cancels the call, and the session goes on. The futures of its methods may be dropped at any time: no item
/// is lost.
#[derive(Debug)]
#[must_use = "a stream that is dropped is cancelled"]
pub struct Stream {
    call: Call,
    returned: Option<Value>,
    /// Whether an item is being waited for, so that the deadline runs.
    is_asked: bool,
}

impl Stream {
    pub(crate) fn new(call: Call) -> Stream {
        Stream { call, returned: None, is_asked: true }
    }

    /// The next item; none after the last one. An error is the last thing that comes.
    ///
    /// # Cancel safety
    /// Dropping the future loses no item.
    pub async fn next(&mut self) -> Option<Result<Value, Error>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// The next item as a type of serde's.
    ///
    /// # Cancel safety
    /// Dropping the future loses no item.
    pub async fn next_typed<T: DeserializeOwned>(&mut self) -> Option<Result<T, Error>> {
        let item = self.next().await?;
        Some(item.and_then(|value| from_value(value).map_err(Error::Mismatch)))
    }

    /// What the generator returned, after the last item.
    pub fn returned(&mut self) -> Option<Value> {
        self.returned.take()
    }

    /// See [`Call::next_event`].
    ///
    /// # Cancel safety
    /// Dropping the future loses no event.
    pub async fn next_event(&mut self) -> Option<Event> {
        // The deadline is that of items that are asked for.
        poll_fn(|cx| self.call.poll_event(cx)).await
    }

    /// See [`Call::cancel`].
    pub fn cancel(&mut self) {
        self.call.cancel();
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Value, Error>>> {
        if self.call.is_over {
            return Poll::Ready(None);
        }
        if !self.is_asked {
            self.is_asked = true;
            let until = self.call.deadline.and_then(|after| Instant::now().checked_add(after));
            if let (Some(sleep), Some(until)) = (&mut self.call.sleep, until) {
                sleep.as_mut().reset(until);
            }
        }
        let is_late = self.call.is_late;
        let item = self.call.poll_box(cx, |mailbox| {
            // What comes after the deadline is not wanted.
            let (item, cost) = mailbox.items.pop_front()?;
            Some(((!is_late).then_some(item), cost))
        });
        if let Poll::Ready(Some(item)) = item {
            self.is_asked = false;
            self.call.shared.lock().allow(self.call.ticket);
            return Poll::Ready(Some(Ok(item)));
        }
        match Pin::new(&mut self.call).poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(error))),
            Poll::Ready(Ok(value)) => {
                self.returned = Some(value);
                Poll::Ready(None)
            }
        }
    }
}

impl futures_core::Stream for Stream {
    type Item = Result<Value, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_item(cx)
    }
}
