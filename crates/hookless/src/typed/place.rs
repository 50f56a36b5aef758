//! How deep a conversion is.

use crate::error::{Code, Error, Result};
use crate::limits::over;
use crate::memory::{self, Steps};
use crate::wire::push_name;

/// T10: how many `Some` and newtypes may stand around one value.
const WRAPPERS: u32 = 32;

/// Whether the keys of dicts are still to be checked (K2, K3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// Here.
    Check,
    /// The wire's reader or writer does it.
    Trust,
}

/// Open containers, and wrappers since the innermost one: together they bound the recursion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    depth: u64,
    most: u64,
    wrappers: u32,
}

impl Place {
    /// Outside of every container, of which `most` may be open at once.
    pub(super) fn within(most: u64) -> Place {
        Place { depth: 0, most, wrappers: 0 }
    }

    /// Inside one more container (V17).
    pub(super) fn inside(self) -> Result<Place> {
        let depth = self.depth.saturating_add(1);
        if depth > self.most {
            return Err(over(Code::DepthLimit, depth, self.most));
        }
        Ok(Place { depth, wrappers: 0, ..self })
    }

    /// Inside one more `Some` or newtype (T10), which leave no trace in the value.
    pub(super) fn wrapped(self) -> Result<Place> {
        let wrappers = self.wrappers.saturating_add(1);
        if wrappers > WRAPPERS {
            return Err(Error::new(Code::DepthLimit)
                .note(format_args!("more than {WRAPPERS} Some and newtypes around one value")));
        }
        Ok(Place { wrappers, ..self })
    }
}

/// The step from a dict to the value of its pair `index`, whose key is this text or no text, as the encoder writes it.
pub(super) fn step(path: &mut Steps, key: Option<&str>, index: usize) {
    match key {
        Some(name) => push_name(path, name),
        None => path.add(format_args!(".values[{index}]")),
    }
}

/// Room for items whose number somebody claims: no more than a few pages of it are taken on his word.
pub(super) fn reserved<T>(len: usize) -> Result<Vec<T>> {
    Ok(memory::room(len.min(1024))?)
}
