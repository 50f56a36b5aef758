//! The numbering of exception entries: X3, X4, X5.

use crate::error::{Code, Error, Result};
use crate::limits::{Limits, over};
use crate::memory::{self, Full};
use crate::wire::{EntryHead, size, wide};

/// Where one entry leads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    cause: Option<u32>,
    context: Option<u32>,
    members: Vec<u32>,
}

impl Links {
    pub(crate) fn of(head: &EntryHead<'_>) -> Result<Links> {
        Ok(Links { cause: head.cause, context: head.context, members: memory::copied(&head.members)? })
    }

    /// All of them, the order of X4 backwards.
    fn backwards(&self) -> impl Iterator<Item = usize> + '_ {
        self.cause.into_iter().chain(self.context).chain(self.members.iter().copied()).map(size)
    }
}

/// Refuses links that X3 and X4 do not allow, and paths longer than X5 allows.
pub(crate) fn check(entries: &[Links], limits: &Limits) -> Result<()> {
    let forward = |at: usize, links: &Links| links.backwards().all(|to| to > at && to < entries.len());
    if !entries.iter().enumerate().all(|(at, links)| forward(at, links)) {
        return Err(Error::new(Code::BadLink).note("links lead to later entries only"));
    }
    if !numbered(entries)? {
        return Err(
            Error::new(Code::BadLink).note("entries are not in reverse postorder, or not all reached")
        );
    }
    depths(entries, limits)
}

/// X4, given that links only lead forward.
fn numbered(entries: &[Links]) -> std::result::Result<bool, Full> {
    let mut seen = memory::filled(entries.len(), false)?;
    let mut expected = entries.len();
    let mut stack = memory::copied(&[(0usize, false)])?;
    while let Some((at, done)) = stack.pop() {
        if done {
            expected = expected.saturating_sub(1);
            if at != expected {
                return Ok(false);
            }
            continue;
        }
        match seen.get_mut(at) {
            Some(flag) if !*flag => *flag = true,
            _ => continue,
        }
        memory::push(&mut stack, (at, true))?;
        if let Some(links) = entries.get(at) {
            // The stack reverses, so what is walked first is pushed last. What has been seen already need not be pushed.
            let unseen = |to: &usize| seen.get(*to) == Some(&false);
            for to in links.backwards().filter(unseen) {
                memory::push(&mut stack, (to, false))?;
            }
        }
    }
    Ok(expected == 0)
}

/// X5, given that links only lead forward.
fn depths(entries: &[Links], limits: &Limits) -> Result<()> {
    let mut chain = memory::filled(entries.len(), 0u64)?;
    let mut groups = memory::filled(entries.len(), 0u64)?;
    for (at, links) in entries.iter().enumerate().rev() {
        let deepest =
            |of: &[u64], to: Option<u32>| to.and_then(|to| of.get(size(to))).copied().unwrap_or_default();
        let length = deepest(&chain, links.cause).max(deepest(&chain, links.context)).saturating_add(1);
        let inside = links.members.iter().map(|&to| deepest(&groups, Some(to)).saturating_add(1)).max();
        let beside = deepest(&groups, links.cause).max(deepest(&groups, links.context));
        let nested = inside.unwrap_or_default().max(beside);
        if length > limits.chain {
            return Err(over(Code::ChainLimit, length, limits.chain));
        }
        if nested > limits.group_depth {
            return Err(over(Code::GroupLimit, nested, limits.group_depth));
        }
        if let (Some(length_at), Some(nested_at)) = (chain.get_mut(at), groups.get_mut(at)) {
            (*length_at, *nested_at) = (length, nested);
        }
    }
    Ok(())
}

/// X1: how many entries there are.
pub(crate) fn check_count(entries: usize, limits: &Limits) -> Result<()> {
    match wide(entries) {
        0 => Err(Error::new(Code::BadArity).note("an exception has at least one entry")),
        count if count > limits.exceptions => Err(over(Code::ExceptionLimit, count, limits.exceptions)),
        _ => Ok(()),
    }
}
