//! Records and enum members.

use crate::error::Result;
use crate::limits::charge;
use crate::memory;
use crate::value::{RecordKind, TextRef};
use crate::wire::marker::{NIL, Node};
use crate::wire::{RecordNames, wide};

use super::Writer;

impl Writer<'_> {
    /// A record of `fields` fields (R1): for each, [`Writer::field_name`] and its value; closed by [`Writer::end_record`].
    ///
    /// The caller sees to it that no two names are equal (R4).
    pub fn record(&mut self, kind: RecordKind, names: RecordNames<'_>, fields: usize) -> Result<()> {
        self.open(charge::record(wide(fields)), wide(fields))?;
        let node = match kind {
            RecordKind::Record => Node::Record,
            RecordKind::Named => Node::NamedRecord,
        };
        self.node(node, fields.saturating_mul(2).saturating_add(2))?;
        self.record_names(names)
    }

    /// The name of a field (R2, R3); its value follows.
    pub fn field_name(&mut self, name: TextRef<'_>) -> Result<()> {
        self.name(name)
    }

    /// A member of an enum (R1): its value follows, and [`Writer::end_record`].
    pub fn enum_member(&mut self, names: RecordNames<'_>, name: Option<TextRef<'_>>) -> Result<()> {
        self.open(charge::MEMBER, 1)?;
        self.node(Node::EnumMember, 4)?;
        self.record_names(names)?;
        match name {
            Some(name) => self.name(name),
            None => {
                memory::push(&mut self.out, NIL)?;
                Ok(())
            }
        }
    }

    /// Closes a record or an enum member.
    pub fn end_record(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn record_names(&mut self, names: RecordNames<'_>) -> Result<()> {
        // Instances that are not equal can make records that are (R5), so the caller's own tables do not tell.
        self.marks.odd |= self.in_key;
        self.name(names.module)?;
        self.name(names.qualname)
    }

    /// Counts a value that stands in for another one as a level of its own (V17), as `default=` of an encoder needs it: a chain
    /// of stand-ins ends. Closed by [`Writer::end_substitute`].
    pub fn substitute(&mut self) -> Result<()> {
        self.marks.odd |= self.in_key;
        self.open(0, 0)
    }

    /// Closes a [`Writer::substitute`].
    pub fn end_substitute(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
