//! Records: what they are called, and the names of their fields as labels.

use hookless::wire::RecordNames;
use hookless::{RecordKind, Result, TextRef};

use super::{Inspector, shown};

impl Inspector<'_, '_> {
    pub(super) fn found_record(
        &mut self,
        kind: RecordKind,
        names: RecordNames<'_>,
        fields: &[(TextRef<'_>, Option<usize>)],
    ) -> Result<Option<usize>> {
        let name = match kind {
            RecordKind::Record => "record",
            RecordKind::Named => "named record",
        };
        for (field, value) in fields {
            if let Some(index) = *value {
                self.nodes[index].5 = format!(".{}", shown(field.as_bytes()));
            }
        }
        self.found(name, || format!("of {}: {}", fields.len(), class(names)))
    }

    pub(super) fn found_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Option<usize>,
    ) -> Result<Option<usize>> {
        if let Some(index) = value {
            self.nodes[index].5 = ".value".to_owned();
        }
        self.found("enum member", || match name {
            Some(name) => format!("{}: {}", class(names), shown(name.as_bytes())),
            None => format!("{} without a name", class(names)),
        })
    }
}

fn class(names: RecordNames<'_>) -> String {
    format!("{}.{}", shown(names.module.as_bytes()), shown(names.qualname.as_bytes()))
}
