//! Records and enum members: their names are read inline, their values by the main loop.

use std::collections::HashSet;

use crate::error::{Code, Error, Result};
use crate::limits::charge;
use crate::memory::{self, Steps};
use crate::value::{RecordKind, TextRef};
use crate::wire::{Build, RecordNames};

use super::Reader;
use super::open::{What, push_text};

/// Fields whose names are compared one by one; the names of more are kept in a set.
const FEW: usize = 16;

/// A record or enum member being read.
pub(crate) struct RecordState<'b, V> {
    start: &'b [u8],
    names: RecordNames<'b>,
    kind: Kind<'b, V>,
}

enum Kind<'b, V> {
    Record {
        kind: RecordKind,
        fields: Vec<(TextRef<'b>, V)>,
        /// The field whose value is being read; none while its name is.
        name: Option<TextRef<'b>>,
        seen: HashSet<&'b [u8]>,
    },
    Member {
        name: Option<TextRef<'b>>,
    },
}

impl<V> RecordState<'_, V> {
    /// The step from the record to what is being read: `.x`, or `.names[1]` for a name.
    pub(crate) fn step(&self, path: &mut Steps) {
        match &self.kind {
            Kind::Record { name: Some(name), .. } => push_text(path, name.as_bytes()),
            Kind::Record { fields, .. } => path.add(format_args!(".names[{}]", fields.len())),
            Kind::Member { .. } => path.push_str(".value"),
        }
    }
}

impl<'b, B: Build> Reader<'_, 'b, B> {
    /// R1 to R4 for a record. The marker has been read, and V18 holds for its elements.
    pub(super) fn open_record(
        &mut self,
        kind: RecordKind,
        items: u64,
        below: u64,
    ) -> Result<Option<B::Value>> {
        let Some(elements) = items.checked_sub(2).filter(|elements| elements % 2 == 0) else {
            return Err(Error::new(Code::BadArity)
                .note(format_args!("a record has an even number of elements, two at least, not {items}")));
        };
        let count = elements / 2;
        self.admit(count, charge::record(count))?;
        let (start, mut owed) = (self.at, below.saturating_add(items));
        let names = RecordNames { module: self.name(&mut owed)?, qualname: self.name(&mut owed)? };
        let fields = memory::room(usize::try_from(count).unwrap_or(usize::MAX))?;
        if count == 0 {
            self.at = start;
            return self.build.record(kind, names, fields).map(Some);
        }
        let kind = Kind::Record { kind, fields, name: None, seen: HashSet::new() };
        self.open(elements, below, What::Record(memory::boxed(RecordState { start, names, kind })?))?;
        self.field_name()?;
        Ok(None)
    }

    /// R1 to R3 for an enum member.
    pub(super) fn open_member(&mut self, items: u64, below: u64) -> Result<Option<B::Value>> {
        if items != 4 {
            return Err(
                Error::new(Code::BadArity).note(format_args!("an enum member has 4 elements, not {items}"))
            );
        }
        self.admit(1, charge::MEMBER)?;
        let (start, mut owed) = (self.at, below.saturating_add(items));
        let names = RecordNames { module: self.name(&mut owed)?, qualname: self.name(&mut owed)? };
        let name = match self.peek_nil(&mut owed) {
            true => None,
            false => Some(self.name(&mut owed)?),
        };
        let state = RecordState { start, names, kind: Kind::Member { name } };
        self.open(1, below, What::Record(memory::boxed(state)?))?;
        Ok(None)
    }

    /// R4: reads the name of the next field of the record on top of the stack.
    fn field_name(&mut self) -> Result<()> {
        let Some(top) = self.stack.last() else { return Ok(()) };
        let mut owed = top.below.saturating_add(top.left);
        let found = self.name(&mut owed)?;
        let Some(top) = self.stack.last_mut() else { return Ok(()) };
        top.left = owed.saturating_sub(top.below);
        let What::Record(state) = &mut top.what else { return Ok(()) };
        let Kind::Record { fields, name, seen, .. } = &mut state.kind else { return Ok(()) };
        let bytes = found.as_bytes();
        let new = if fields.len() < FEW {
            fields.iter().all(|(other, _)| other.as_bytes() != bytes)
        } else {
            if seen.is_empty() {
                for (other, _) in fields.iter() {
                    memory::insert(seen, other.as_bytes())?;
                }
            }
            memory::insert(seen, bytes)?
        };
        if !new {
            return Err(Error::new(Code::DuplicateKey));
        }
        *name = Some(found);
        Ok(())
    }

    /// Takes the value that the record on top of the stack was waiting for; the record, when that was the last.
    pub(super) fn deliver_to_record(&mut self, value: B::Value) -> Result<Option<B::Value>> {
        let Some(top) = self.stack.last_mut() else { return Ok(None) };
        top.left = top.left.saturating_sub(1);
        let left = top.left;
        let What::Record(state) = &mut top.what else { return Ok(None) };
        self.in_key = top.in_key;
        match &mut state.kind {
            Kind::Record { fields, name, .. } => {
                if let Some(name) = name.take() {
                    memory::push(fields, (name, value))?;
                }
                if left != 0 {
                    return self.field_name().map(|()| None);
                }
                let Some(What::Record(state)) = self.stack.pop().map(|open| open.what) else {
                    return Ok(None);
                };
                let RecordState { start, names, kind: Kind::Record { kind, fields, .. } } =
                    state.into_inner()
                else {
                    return Ok(None);
                };
                self.at = start;
                self.build.record(kind, names, fields).map(Some)
            }
            Kind::Member { .. } => {
                let Some(What::Record(state)) = self.stack.pop().map(|open| open.what) else {
                    return Ok(None);
                };
                let RecordState { start, names, kind: Kind::Member { name } } = state.into_inner() else {
                    return Ok(None);
                };
                self.at = start;
                self.build.enum_member(names, name, value).map(Some)
            }
        }
    }
}
