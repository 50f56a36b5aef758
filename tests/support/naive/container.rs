//! Lists, nodes and maps: V13–V17, K2, K3, D15–D17.

use serde_json::{Value as Json, json};

use super::body::{Body, Head, Kind, Read, Verdict, jsons, refuse};
use super::key::Form;

impl Body<'_> {
    pub(super) fn list(&mut self, head: Head, key: bool) -> Verdict<Read> {
        if key {
            return refuse("not_keyable", head.at);
        }
        self.open(head.at, |body| {
            body.announce(head.len as u64, head.at)?;
            body.charge(88, head.at)?;
            body.owed += head.len as u64;
            let items = body.items(head.len, false)?;
            Ok(Read::keyless(json!(["list", jsons(items)])))
        })
    }

    pub(super) fn items(&mut self, count: usize, key: bool) -> Verdict<Vec<Read>> {
        (0..count).map(|_| self.item(key)).collect()
    }

    /// V13, V14: a node. Its marker is one of the elements that it announces.
    pub(super) fn node(&mut self, head: Head, kind: u8, key: bool) -> Verdict<Read> {
        let (marker, at) = (self.at, head.at);
        if !matches!(kind, 1..=6 | 8 | 11 | 16..=24) {
            return refuse("unknown_kind", marker);
        }
        // K2
        if key && !matches!(kind, 1 | 3 | 20..=22) {
            return refuse("not_keyable", at);
        }
        self.at += 3;
        let count = head.len - 1;
        self.owed += count as u64;
        match kind {
            1 => self.open(at, |body| {
                body.announce(count as u64, at)?;
                body.charge(88, at)?;
                let items = body.items(count, key)?;
                let form = items.iter().map(|item| item.form.clone()).collect::<Option<_>>().map(Form::Tuple);
                Ok(Read { json: json!(["tuple", jsons(items)]), form })
            }),
            2 | 3 => self.open(at, |body| {
                body.announce(count as u64, at)?;
                body.charge(240 + 160 * count as u64, at)?;
                body.members(kind, count, key)
            }),
            4 => self.deque(at, count),
            5 | 6 => self.ordered(at, kind, count),
            8 => {
                if count != 3 {
                    return refuse("bad_arity", at);
                }
                self.open(at, |body| {
                    body.announce(3, at)?;
                    body.charge(88, at)?;
                    Ok(Read::keyless(json!(["slice", jsons(body.items(3, false)?)])))
                })
            }
            20..=22 => self.record(at, kind, count, key),
            24 => self.exception(at, count),
            _ => self.array_node(at, kind, count),
        }
    }

    /// V15, K3: the members of a set.
    fn members(&mut self, kind: u8, count: usize, key: bool) -> Verdict<Read> {
        let outer = (!key).then(|| std::mem::take(&mut self.table));
        let (mut found, mut forms, mut last) = (Vec::new(), std::collections::BTreeSet::new(), None);
        for _ in 0..count {
            let start = self.at;
            let member = self.item(true)?;
            let encoded = &self.bytes[start..self.at];
            match last.map(|last: &[u8]| last.cmp(encoded)) {
                Some(std::cmp::Ordering::Greater) => return refuse("unordered_set", start),
                Some(std::cmp::Ordering::Equal) => return refuse("duplicate_key", start),
                _ => last = Some(encoded),
            }
            self.compound(&member, start)?;
            if !forms.insert(member.form.expect("a key has a form")) {
                return refuse("duplicate_key", start);
            }
            found.push(member.json);
        }
        if let Some(outer) = outer {
            self.table = outer;
        }
        let name = if kind == 2 { "set" } else { "frozenset" };
        Ok(Read { json: json!([name, found]), form: (kind == 3).then_some(Form::FrozenSet(forms)) })
    }

    /// The charge for a compound key.
    fn compound(&mut self, key: &Read, start: usize) -> Verdict<()> {
        match key.form {
            Some(Form::Tuple(_) | Form::FrozenSet(_) | Form::Record(..)) => {
                self.charge(8 * (self.at - start) as u64, start)
            }
            _ => Ok(()),
        }
    }

    /// V16, K3: the pairs of a map; D17 for a Counter.
    pub(super) fn pairs(&mut self, head: &Head, counter: bool) -> Verdict<Vec<Json>> {
        self.owed += 2 * head.len as u64;
        let outer = std::mem::take(&mut self.table);
        let (mut found, mut forms) = (Vec::new(), std::collections::BTreeSet::new());
        for _ in 0..head.len {
            let start = self.at;
            let key = self.item(true)?;
            self.compound(&key, start)?;
            self.owed -= 1;
            let value = self.form()?;
            let counts = matches!(value.kind, Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Ext(2));
            if counter && !counts {
                return refuse("bad_type", value.at);
            }
            self.arrived(&value)?;
            let table = std::mem::take(&mut self.table);
            let value = self.of(value, false)?;
            self.table = table;
            if !forms.insert(key.form.expect("a key has a form")) {
                return refuse("duplicate_key", start);
            }
            found.push(json!([key.json, value.json]));
        }
        self.table = outer;
        Ok(found)
    }

    /// D16
    fn deque(&mut self, at: usize, count: usize) -> Verdict<Read> {
        if count == 0 {
            return refuse("bad_arity", at);
        }
        self.owed -= 1;
        let head = self.form()?;
        let maxlen = match head.kind {
            Kind::Nil => None,
            Kind::Int(value @ 0..) if value < 1 << 63 => Some(value as u64),
            Kind::Int(0..) => return refuse("bad_number", head.at),
            _ => return refuse("bad_type", head.at),
        };
        let items = count - 1;
        if maxlen.is_some_and(|most| items as u64 > most) {
            return refuse("bad_arity", at);
        }
        self.open(at, |body| {
            body.announce(items as u64, at)?;
            body.charge(1056, at)?;
            Ok(Read::keyless(json!(["deque", maxlen, jsons(body.items(items, false)?)])))
        })
    }

    /// D17
    fn ordered(&mut self, at: usize, kind: u8, count: usize) -> Verdict<Read> {
        if count != 1 {
            return refuse("bad_arity", at);
        }
        self.owed -= 1;
        let head = self.form()?;
        if head.kind != Kind::Map {
            return refuse("bad_type", head.at);
        }
        self.arrived(&head)?;
        let (name, own, each) = if kind == 5 { ("OrderedDict", 208, 304) } else { ("Counter", 112, 160) };
        self.open(at, |body| {
            body.announce(2 * head.len as u64, at)?;
            body.charge(own + each * head.len as u64, at)?;
            Ok(Read::keyless(json!([name, body.pairs(&head, kind == 6)?])))
        })
    }
}
