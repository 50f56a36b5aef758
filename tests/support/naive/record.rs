//! R1–R5, and texts in fixed places of records and exceptions.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::body::{Body, Kind, Read, Verdict, refuse};
use super::key::Form;

/// A text: where it begins, its description, its bytes.
pub(super) struct Text {
    pub(super) at: usize,
    pub(super) json: Json,
    pub(super) bytes: Vec<u8>,
}

impl Body<'_> {
    /// The next element, which has to be text (R2, X6). Of these the type comes before the bytes.
    pub(super) fn text(&mut self) -> Verdict<Text> {
        match self.text_or_nil()? {
            Ok(text) => Ok(text),
            Err(at) => refuse("bad_type", at),
        }
    }

    /// Text, or where the nil is that stands for it.
    pub(super) fn text_or_nil(&mut self) -> Verdict<Result<Text, usize>> {
        self.owed -= 1;
        let head = self.form()?;
        match head.kind {
            Kind::Str | Kind::Ext(4) => (),
            Kind::Nil => return Ok(Err(head.at)),
            _ => return refuse("bad_type", head.at),
        }
        self.arrived(&head)?;
        if head.len as u64 > self.limits.text {
            return refuse("text_limit", head.at);
        }
        let (json, bytes) = self.text_content(&head)?;
        Ok(Ok(Text { at: head.at, json, bytes }))
    }

    /// Text that is not empty (R3, X10).
    pub(super) fn name(&mut self) -> Verdict<Text> {
        let text = self.text()?;
        if text.bytes.is_empty() { refuse("bad_name", text.at) } else { Ok(text) }
    }

    /// R1, R5
    pub(super) fn record(&mut self, at: usize, kind: u8, count: usize, key: bool) -> Verdict<Read> {
        let fine = if kind == 22 { count == 4 } else { count >= 2 && count.is_multiple_of(2) };
        if !fine {
            return refuse("bad_arity", at);
        }
        self.open(
            at,
            |body| if kind == 22 { body.member(at, key) } else { body.fields(at, kind, count, key) },
        )
    }

    fn fields(&mut self, at: usize, kind: u8, count: usize, key: bool) -> Verdict<Read> {
        let count = (count - 2) / 2;
        self.announce(count as u64, at)?;
        self.charge(256 + 160 * count as u64, at)?;
        let (module, qualname) = (self.name()?, self.name()?);
        let (mut texts, mut forms) = (vec![module.bytes, qualname.bytes], Some(Vec::new()));
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for _ in 0..count {
            let name = self.name()?;
            // R4
            if !seen.insert(name.bytes.clone()) {
                return refuse("duplicate_key", name.at);
            }
            let value = self.item(key)?;
            found.push(json!([name.json, value.json]));
            texts.push(name.bytes);
            forms = forms.zip(value.form).map(|(mut forms, form)| {
                forms.push(form);
                forms
            });
        }
        let name = if kind == 20 { "record" } else { "named record" };
        let json = json!([name, { "module": module.json, "qualname": qualname.json, "fields": found }]);
        Ok(Read { json, form: forms.map(|forms| Form::Record(kind, texts, forms)) })
    }

    fn member(&mut self, at: usize, key: bool) -> Verdict<Read> {
        self.announce(1, at)?;
        self.charge(192, at)?;
        let (module, qualname) = (self.name()?, self.name()?);
        let name = self.text_or_nil()?.ok();
        if let Some(name) = name.as_ref().filter(|name| name.bytes.is_empty()) {
            return refuse("bad_name", name.at);
        }
        let value = self.item(key)?;
        let json = json!(["enum member", {
            "module": module.json,
            "qualname": qualname.json,
            "name": name.as_ref().map(|name| name.json.clone()),
            "value": value.json,
        }]);
        let mut texts = vec![module.bytes, qualname.bytes];
        texts.extend(name.map(|name| name.bytes));
        Ok(Read { json, form: value.form.map(|form| Form::Record(22, texts, vec![form])) })
    }
}
