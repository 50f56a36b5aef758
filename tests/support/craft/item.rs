//! MessagePack items, taken apart and written again.

/// Deeper ones are left alone.
const DEEPEST: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Anything whose size its first byte says; the payload is all of it.
    Atom,
    Str,
    Bin,
    Ext(u8),
    Array,
    Map,
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) payload: Vec<u8>,
    /// Of a map keys and values by turns.
    pub(super) children: Vec<Item>,
    /// How many steps its head is longer than it has to be.
    pub(super) longer: u8,
    /// By how much its length is wrong.
    pub(super) lie: i64,
}

impl Item {
    fn new(kind: Kind, payload: Vec<u8>, children: Vec<Item>) -> Item {
        Item { kind, payload, children, longer: 0, lie: 0 }
    }

    pub(super) fn atom(bytes: Vec<u8>) -> Item {
        Item::new(Kind::Atom, bytes, Vec::new())
    }

    pub(super) fn ext(number: u8, payload: Vec<u8>) -> Item {
        Item::new(Kind::Ext(number), payload, Vec::new())
    }

    /// The first element of a node.
    pub(super) fn marker(kind: u8) -> Item {
        Item::ext(1, vec![kind])
    }

    pub(super) fn array(items: Vec<Item>) -> Item {
        Item::new(Kind::Array, Vec::new(), items)
    }

    pub(super) fn map(items: Vec<Item>) -> Item {
        Item::new(Kind::Map, Vec::new(), items)
    }

    /// The first item of some bytes, and the bytes after it.
    pub(super) fn parse(bytes: &[u8], depth: usize) -> Option<(Item, &[u8])> {
        let (&marker, rest) = bytes.split_first()?;
        let sized = |log: u8| {
            let (len, rest) = rest.split_at_checked(1 << log)?;
            Some((len.iter().fold(0usize, |len, &byte| len << 8 | usize::from(byte)), rest))
        };
        let (kind, (len, rest)) = match marker {
            0x80..=0x8f => (Kind::Map, (usize::from(marker & 15), rest)),
            0x90..=0x9f => (Kind::Array, (usize::from(marker & 15), rest)),
            0xa0..=0xbf => (Kind::Str, (usize::from(marker & 31), rest)),
            0xc4..=0xc6 => (Kind::Bin, sized(marker - 0xc4)?),
            0xc7..=0xc9 => (Kind::Ext(0), sized(marker - 0xc7)?),
            0xd4..=0xd8 => (Kind::Ext(0), (1 << (marker - 0xd4), rest)),
            0xd9..=0xdb => (Kind::Str, sized(marker - 0xd9)?),
            0xdc | 0xdd => (Kind::Array, sized(marker - 0xdb)?),
            0xde | 0xdf => (Kind::Map, sized(marker - 0xdd)?),
            _ => {
                let size = match marker {
                    0xca | 0xce | 0xd2 => 5,
                    0xcb | 0xcf | 0xd3 => 9,
                    0xcc | 0xd0 => 2,
                    0xcd | 0xd1 => 3,
                    _ => 1,
                };
                let (atom, rest) = bytes.split_at_checked(size)?;
                return Some((Item::atom(atom.to_vec()), rest));
            }
        };
        match kind {
            Kind::Array | Kind::Map => Item::parse_children(kind, len, rest, depth),
            Kind::Ext(_) => {
                let (&number, rest) = rest.split_first()?;
                let (payload, rest) = rest.split_at_checked(len)?;
                Some((Item::ext(number, payload.to_vec()), rest))
            }
            _ => {
                let (payload, rest) = rest.split_at_checked(len)?;
                Some((Item::new(kind, payload.to_vec(), Vec::new()), rest))
            }
        }
    }

    fn parse_children(kind: Kind, len: usize, mut rest: &[u8], depth: usize) -> Option<(Item, &[u8])> {
        let count = if kind == Kind::Map { len.checked_mul(2)? } else { len };
        if count > rest.len() || depth == DEEPEST {
            return None;
        }
        let mut children = Vec::new();
        for _ in 0..count {
            let (child, after) = Item::parse(rest, depth + 1)?;
            children.push(child);
            rest = after;
        }
        Some((Item::new(kind, Vec::new(), children), rest))
    }

    /// It and all items below it.
    pub(super) fn count(&self) -> usize {
        1 + self.children.iter().map(Item::count).sum::<usize>()
    }

    /// The item of that number, from front to back.
    pub(super) fn nth(&mut self, number: usize) -> &mut Item {
        let mut left = number;
        if left == 0 {
            return self;
        }
        left -= 1;
        let inside = |child: &&mut Item| {
            let count = child.count();
            let here = left < count;
            if !here {
                left -= count;
            }
            here
        };
        let child = self.children.iter_mut().find(inside).expect("a number below the count");
        child.nth(left)
    }

    pub(super) fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// Puts the members of sets in order, and leaves out those that are said twice.
    pub(super) fn put_in_order(&mut self) {
        self.children.iter_mut().for_each(Item::put_in_order);
        let set = |first: &Item| first.kind == Kind::Ext(1) && matches!(first.payload[..], [2 | 3]);
        if self.kind == Kind::Array && self.children.first().is_some_and(set) {
            self.children[1..].sort_by_cached_key(Item::encoded);
            self.children.dedup_by_key(|child| child.encoded());
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let count = if self.kind == Kind::Map { self.children.len() / 2 } else { self.children.len() };
        let len = (self.payload.len().max(count) as i64 + self.lie).max(0) as u64;
        match self.kind {
            Kind::Atom => (),
            Kind::Str => self.head(out, len, Some((0xa0, 31)), &[0xd9, 0xda, 0xdb], 1),
            Kind::Bin => self.head(out, len, None, &[0xc4, 0xc5, 0xc6], 1),
            Kind::Array => self.head(out, len, Some((0x90, 15)), &[0xdc, 0xdd], 2),
            Kind::Map => self.head(out, len, Some((0x80, 15)), &[0xde, 0xdf], 2),
            Kind::Ext(number) => {
                let fixed =
                    [1, 2, 4, 8, 16].iter().position(|&size| size == len).filter(|_| self.longer == 0);
                match fixed {
                    Some(index) => out.push(0xd4 + index as u8),
                    None => self.head(out, len, None, &[0xc7, 0xc8, 0xc9], 1),
                }
                out.push(number);
            }
        }
        out.extend(&self.payload);
        self.children.iter().for_each(|child| child.write(out));
    }

    /// The shortest head, or one that is longer by some steps.
    fn head(&self, out: &mut Vec<u8>, len: u64, fix: Option<(u8, u64)>, markers: &[u8], smallest: usize) {
        let mut steps = usize::from(self.longer);
        if let Some((marker, most)) = fix.filter(|&(_, most)| len <= most) {
            if steps == 0 {
                return out.push(marker | (len.min(most)) as u8);
            }
            steps -= 1;
        }
        let fits = |index: &usize| len < 1 << (8 * (smallest << index));
        let index =
            ((0..markers.len()).find(fits).unwrap_or(markers.len() - 1) + steps).min(markers.len() - 1);
        let size = smallest << index;
        out.push(markers[index]);
        out.extend(&len.to_be_bytes()[8 - size..]);
    }
}
