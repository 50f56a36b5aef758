//! X1–X10: exceptions.

use serde_json::{Value as Json, json};

use super::body::{Body, Head, Kind, Read, Verdict, refuse};

/// X6: the report being read: where it begins, and what was owed to the containers around it (V18).
#[derive(Clone, Copy, Default)]
pub(super) struct Report {
    at: usize,
    around: u64,
}

/// X3: the links of one entry.
#[derive(Default)]
struct Links {
    cause: Option<usize>,
    context: Option<usize>,
    members: Vec<usize>,
}

impl Body<'_> {
    pub(super) fn exception(&mut self, at: usize, count: usize) -> Verdict<Read> {
        // X1
        if count == 0 {
            return refuse("bad_arity", at);
        }
        if count as u64 > self.limits.exceptions {
            return refuse("exception_limit", at);
        }
        self.open(at, |body| {
            body.announce(count as u64, at)?;
            let report = Report { at, around: body.owed - count as u64 };
            let outer = std::mem::replace(&mut body.report, report);
            body.measure()?;
            let (mut entries, mut links) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let (entry, linked) = body.exception_entry(count)?;
                entries.push(entry);
                links.push(linked);
            }
            body.report = outer;
            body.check_links(at, &links)?;
            Ok(Read::keyless(json!(["exception", entries])))
        })
    }

    /// X6: what has been read of the report, and what it is still owed.
    fn measure(&self) -> Verdict<()> {
        let Report { at, around } = self.report;
        let len = (self.at - at) as u64 + (self.owed - around);
        if len > self.limits.descriptor { refuse("descriptor_limit", at) } else { Ok(()) }
    }

    /// An array in a fixed place.
    fn fixed_array(&mut self) -> Verdict<Head> {
        let head = self.plain_array()?;
        self.owed += head.len as u64;
        self.measure()?;
        Ok(head)
    }

    /// An argument, or the value of a field.
    fn measured_item(&mut self) -> Verdict<Json> {
        let item = self.item(false)?;
        self.measure()?;
        Ok(item.json)
    }

    fn texts(&mut self, named: bool) -> Verdict<Vec<Json>> {
        let head = self.fixed_array()?;
        (0..head.len).map(|_| if named { self.name() } else { self.text() }.map(|text| text.json)).collect()
    }

    /// X2
    fn exception_entry(&mut self, count: usize) -> Verdict<(Json, Links)> {
        let head = self.fixed_array()?;
        if head.len != 14 {
            return refuse("bad_arity", head.at);
        }
        self.charge(768, head.at)?;
        let module = self.name()?.json;
        let qualname = self.name()?.json;
        let bases = self.texts(true)?;
        let message = self.text()?.json;
        let (notes, denials, cut) = (self.texts(false)?, self.texts(false)?, self.texts(false)?);
        let frames = self.frames()?;
        self.owed -= 1;
        let suppress = self.form()?;
        let Kind::Bool(suppress_context) = suppress.kind else { return refuse("bad_type", suppress.at) };
        let (cause, context) = (self.link(count, true)?, self.link(count, true)?);
        let members = self.fixed_array()?;
        let members: Vec<usize> = (0..members.len)
            .map(|_| self.link(count, false))
            .map(|link| link.map(Option::unwrap_or_default))
            .collect::<Verdict<_>>()?;
        // X9
        let args = self.fixed_array()?;
        self.announce(args.len as u64, args.at)?;
        let args = (0..args.len).map(|_| self.measured_item()).collect::<Verdict<Vec<_>>>()?;
        let fields = self.exception_fields()?;
        let json = json!({
            "module": module, "qualname": qualname, "bases": bases, "message": message, "notes": notes,
            "denials": denials, "cut": cut, "frames": frames, "suppress_context": suppress_context,
            "cause": cause, "context": context, "members": members, "args": args, "fields": fields,
        });
        Ok((json, Links { cause, context, members }))
    }

    /// X9: the attributes, by text.
    fn exception_fields(&mut self) -> Verdict<Vec<Json>> {
        self.owed -= 1;
        let head = self.form()?;
        if head.kind != Kind::Map {
            return refuse("bad_type", head.at);
        }
        self.arrived(&head)?;
        self.owed += 2 * head.len as u64;
        self.measure()?;
        self.announce(head.len as u64, head.at)?;
        let (mut found, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
        for _ in 0..head.len {
            let name = self.text()?;
            let value = self.item(false)?;
            if !seen.insert(name.bytes) {
                return refuse("duplicate_key", name.at);
            }
            self.measure()?;
            found.push(json!([name.json, value.json]));
        }
        Ok(found)
    }

    /// X7, X8
    fn frames(&mut self) -> Verdict<Vec<Json>> {
        let head = self.fixed_array()?;
        if head.len as u64 > self.limits.frames {
            return refuse("frame_limit", head.at);
        }
        let mut found = Vec::new();
        for _ in 0..head.len {
            let frame = self.fixed_array()?;
            if frame.len != 7 {
                return refuse("bad_arity", frame.at);
            }
            self.charge(192, frame.at)?;
            let file = self.text()?.json;
            let mut numbers = Vec::new();
            for _ in 0..4 {
                numbers.push(self.index("bad_number", 1 << 31, true)?);
            }
            let function = self.text()?.json;
            let source = self.text_or_nil()?.ok().map(|text| text.json);
            let [line, end_line, column, end_column] = numbers[..] else { unreachable!("four of them") };
            found.push(json!([file, line, end_line, column, end_column, function, source]));
        }
        Ok(found)
    }

    /// X3: an index of an entry.
    fn link(&mut self, count: usize, or_nil: bool) -> Verdict<Option<usize>> {
        Ok(self.index("bad_link", count as i128, or_nil)?.map(|link| link as usize))
    }

    /// An unsigned int below a bound, or nil.
    fn index(&mut self, code: &'static str, bound: i128, or_nil: bool) -> Verdict<Option<u64>> {
        self.owed -= 1;
        let head = self.form()?;
        match head.kind {
            Kind::Nil if or_nil => Ok(None),
            Kind::Int(value @ 0..) if value < bound => Ok(Some(value as u64)),
            Kind::Int(0..) => refuse(code, head.at),
            _ => refuse("bad_type", head.at),
        }
    }

    /// X4, X5
    fn check_links(&self, at: usize, links: &[Links]) -> Verdict<()> {
        let forward = |(index, entry): (usize, &Links)| {
            entry.cause.iter().chain(&entry.context).chain(&entry.members).all(|&next| next > index)
        };
        if !links.iter().enumerate().all(forward) {
            return refuse("bad_link", at);
        }
        let mut post = Vec::new();
        walk(0, links, &mut vec![false; links.len()], &mut post);
        let wanted: Vec<usize> = (0..links.len()).rev().collect();
        if post != wanted {
            return refuse("bad_link", at);
        }
        // Links lead forward: from the last entry on, what follows each is known.
        let (mut chain, mut groups) = (vec![1u64; links.len()], vec![0u64; links.len()]);
        for (index, entry) in links.iter().enumerate().rev() {
            for &next in entry.cause.iter().chain(&entry.context) {
                chain[index] = chain[index].max(1 + chain[next]);
                groups[index] = groups[index].max(groups[next]);
            }
            for &next in &entry.members {
                groups[index] = groups[index].max(1 + groups[next]);
            }
        }
        if chain.into_iter().max() > Some(self.limits.chain) {
            return refuse("chain_limit", at);
        }
        if groups.into_iter().max() > Some(self.limits.group_depth) {
            return refuse("group_limit", at);
        }
        Ok(())
    }
}

/// X4: the walk that numbers the entries.
fn walk(from: usize, links: &[Links], seen: &mut [bool], post: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[from], true) {
        return;
    }
    let entry = &links[from];
    for &next in entry.members.iter().rev().chain(&entry.context).chain(&entry.cause) {
        walk(next, links, seen, post);
    }
    post.push(from);
}
