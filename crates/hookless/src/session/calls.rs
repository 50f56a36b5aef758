//! The calls that are open: S5, S12, S13.

use crate::error::{Code, Error, Result};
use crate::limits::{CREDIT, OPEN_CALLS, over};
use crate::memory;
use crate::session::Verb;
use crate::wire::wide;

/// One open call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: u64,
    pub(crate) verb: Verb,
    /// S14: CANCEL was said.
    pub(crate) cancelled: bool,
    /// S13: items that it may send and has not sent.
    pub(crate) credit: u32,
}

/// All calls that are open, and the id of the last that began.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// In the order of their ids, as they began.
    open: Vec<Call>,
    last: u64,
}

impl Calls {
    /// The id of the call that began last; 0 for none.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// S5, L11: whether one more may be open.
    pub(crate) fn check_room(&self) -> Result<()> {
        if self.open.len() < OPEN_CALLS {
            return Ok(());
        }
        Err(over(Code::OpenCallLimit, wide(self.open.len()).saturating_add(1), wide(OPEN_CALLS)))
    }

    /// Opens the next call: its id. Nothing has changed where there is no memory for it.
    pub(crate) fn begin(&mut self, verb: Verb) -> Result<u64> {
        let id = self.last.saturating_add(1);
        memory::push(&mut self.open, Call { id, verb, cancelled: false, credit: 0 })?;
        self.last = id;
        Ok(id)
    }

    /// Takes back the call that began last, of which nothing was sent; false where that is another, or over.
    pub(crate) fn undo(&mut self, id: u64) -> bool {
        let latest = id == self.last && self.open.last().is_some_and(|call| call.id == id);
        if latest {
            self.open.pop();
            self.last = id.saturating_sub(1);
        }
        latest
    }

    fn place(&self, id: u64) -> Option<usize> {
        self.open.binary_search_by_key(&id, |call| call.id).ok()
    }

    /// An open call.
    pub(crate) fn get(&self, id: u64) -> Option<&Call> {
        self.open.get(self.place(id)?)
    }

    /// An open call.
    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Call> {
        let place = self.place(id)?;
        self.open.get_mut(place)
    }

    /// S6: the call is over.
    pub(crate) fn end(&mut self, id: u64) {
        if let Some(place) = self.place(id) {
            self.open.remove(place);
        }
    }

    /// S9: none is open any more.
    pub(crate) fn clear(&mut self) {
        self.open = Vec::new();
    }
}

impl Call {
    /// S13: allows more items.
    ///
    /// # Errors
    /// `unexpected_frame` for what is no stream, and past L12.
    pub(crate) fn allow(&mut self, items: u32) -> Result<()> {
        self.check_stream("CREDIT")?;
        match self.credit.checked_add(items).filter(|credit| *credit <= CREDIT) {
            Some(credit) => self.credit = credit,
            None => {
                return Err(Error::new(Code::UnexpectedFrame).note(format_args!(
                    "CREDIT of {items} for call {}, which has {} of at most {CREDIT}",
                    self.id, self.credit
                )));
            }
        }
        Ok(())
    }

    /// S12, S13: whether it may send an item.
    ///
    /// # Errors
    /// `unexpected_frame` for what is no stream, `no_credit`.
    pub(crate) fn check_item(&self) -> Result<()> {
        self.check_stream("ITEM")?;
        if self.credit == 0 {
            return Err(Error::new(Code::NoCredit).note(format_args!("ITEM of call {}", self.id)));
        }
        Ok(())
    }

    /// S14: whether it may end so.
    ///
    /// # Errors
    /// `unexpected_frame`.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.cancelled {
            return Ok(());
        }
        Err(Error::new(Code::UnexpectedFrame)
            .note(format_args!("CANCELLED for call {}, which was not cancelled", self.id)))
    }

    fn check_stream(&self, what: &str) -> Result<()> {
        if self.verb == Verb::Stream {
            return Ok(());
        }
        Err(Error::new(Code::UnexpectedFrame)
            .note(format_args!("{what} for call {}, which is no stream", self.id)))
    }
}

/// S6: the error for a call that is not open.
#[cold]
pub(crate) fn unknown(what: &str, id: u64, last: u64) -> Error {
    Error::new(Code::UnknownCall)
        .note(format_args!("{what} for call {id}, which is not open; {last} was the last"))
}
