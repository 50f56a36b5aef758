//! A2–A5, A13–A15, A17–A19: dtypes.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::body::{Body, Head, Kind, Verdict, refuse};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plain {
    pub(super) letter: u8,
    pub(super) order: u8,
    pub(super) size: u64,
    /// Of `g G x`: the number of the format or type.
    pub(super) number: u8,
    /// As NumPy writes it.
    pub(super) name: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    name: Vec<u8>,
    title: Option<Vec<u8>>,
    pub(super) offset: u64,
    shape: Vec<u64>,
    pub(super) dtype: Dtype,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Dtype {
    Plain(Plain),
    Structure { size: u64, flags: u64, fields: Vec<Field> },
}

/// Names of A19's table with itemsize and largest byte.
const NUMBERED: [(&str, u64, u8); 20] = [
    ("bfloat16", 2, 255),
    ("float8_e3m4", 1, 255),
    ("float8_e4m3", 1, 255),
    ("float8_e4m3b11fnuz", 1, 255),
    ("float8_e4m3fn", 1, 255),
    ("float8_e4m3fnuz", 1, 255),
    ("float8_e5m2", 1, 255),
    ("float8_e5m2fnuz", 1, 255),
    ("float8_e8m0fnu", 1, 255),
    ("float6_e2m3fn", 1, 63),
    ("float6_e3m2fn", 1, 63),
    ("float4_e2m1fn", 1, 15),
    ("int1", 1, 1),
    ("uint1", 1, 1),
    ("int2", 1, 3),
    ("uint2", 1, 3),
    ("int4", 1, 15),
    ("uint4", 1, 15),
    ("complex32", 4, 255),
    ("bcomplex32", 4, 255),
];

/// A5: how NumPy writes a unit.
pub(super) fn unit(number: u8, count: u32) -> Option<String> {
    let names = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];
    let name = names.get(usize::from(number))?;
    match (number, count) {
        (_, 0 | 0x8000_0000..) => None,
        (0, 1) => Some(String::new()),
        (0, _) => None,
        (_, 1) => Some(format!("[{name}]")),
        _ => Some(format!("[{count}{name}]")),
    }
}

impl Plain {
    /// Bools, little-endian code points: what D18 and A21 need.
    pub(super) fn simple(letter: u8, size: u64) -> Plain {
        let order = if letter == b'b' { b'|' } else { b'<' };
        let name = format!("{}{}{size}", char::from(order), char::from(letter));
        Plain { letter, order, size, number: 0, name }
    }

    pub(super) fn largest(&self) -> Option<u8> {
        NUMBERED.get(usize::from(self.number).checked_sub(1)?).map(|row| row.2)
    }

    /// A2–A5, A18, A19; the payload of an ext 8.
    fn parse(payload: &[u8]) -> Result<Plain, &'static str> {
        let &[letter, order, ref rest @ ..] = payload else { return Err("bad_payload") };
        let wanted = match letter {
            b'b' | b'i' | b'u' | b'f' | b'c' | b'g' | b'G' | b'x' => 4,
            b'S' | b'U' | b'V' | b'm' | b'M' => 8,
            // Nothing has such a letter; a length that no letter has is said first.
            _ if payload.len() == 4 || payload.len() == 8 => return Err("bad_dtype"),
            _ => 0,
        };
        if payload.len() != wanted {
            return Err("bad_payload");
        }
        let (mut number, mut shown) = (0, None);
        let (size, fine) = match letter {
            b'g' | b'G' => {
                number = rest[0];
                let each = if number == 4 { 12 } else { 16 };
                let name = ["", "x87", "binary128", "double-double", "x87-12"].get(usize::from(number));
                shown = name.map(|name| format!("{}[{name}]", char::from(letter)));
                (if letter == b'G' { 2 * each } else { each }, (1..=4).contains(&number) && rest[1] == 0)
            }
            b'x' => {
                number = rest[0];
                let row = usize::from(number).checked_sub(1).and_then(|index| NUMBERED.get(index));
                shown = row.map(|row| row.0.to_owned());
                (row.map_or(0, |row| row.1), row.is_some() && rest[1] == 0)
            }
            b'm' | b'M' => {
                let count = u32::from_be_bytes(rest[2..6].try_into().expect("four bytes"));
                let unit = unit(rest[0], count);
                shown = unit.as_ref().map(|unit| format!("{}8{unit}", char::from(letter)));
                (8, unit.is_some() && rest[1] == 0)
            }
            b'S' | b'U' | b'V' => {
                let size = u32::from_be_bytes(rest[2..6].try_into().expect("four bytes"));
                (size.into(), rest[..2] == [0, 0] && size < 1 << 31 && (letter != b'U' || size % 4 == 0))
            }
            _ => {
                let size = u64::from(u16::from_be_bytes([rest[0], rest[1]]));
                let sizes: &[u64] = match letter {
                    b'b' => &[1],
                    b'i' | b'u' => &[1, 2, 4, 8],
                    b'f' => &[2, 4, 8],
                    _ => &[8, 16],
                };
                (size, sizes.contains(&size))
            }
        };
        let none = matches!(letter, b'b' | b'S' | b'V') || matches!(letter, b'i' | b'u' | b'x') && size == 1;
        let ordered = if none { order == b'|' } else { matches!(order, b'<' | b'>') };
        if !fine || !ordered {
            return Err("bad_dtype");
        }
        let units = if letter == b'U' { size / 4 } else { size };
        let shown = shown.unwrap_or_else(|| format!("{}{units}", char::from(letter)));
        Ok(Plain { letter, order, size, number, name: format!("{}{shown}", char::from(order)) })
    }

    /// A15
    fn alignment(&self) -> u64 {
        match self.letter {
            b'i' | b'u' | b'f' | b'm' | b'M' => self.size,
            b'c' => self.size / 2,
            b'U' => 4,
            b'g' | b'G' => {
                if self.number == 4 {
                    4
                } else {
                    16
                }
            }
            b'x' if self.size > 1 => 2,
            _ => 1,
        }
    }
}

impl Field {
    /// Elements of it in one element of its structure.
    pub(super) fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    /// None when it takes 2^31 bytes or more.
    fn bytes(&self) -> Option<u64> {
        let count = self.shape.iter().try_fold(1u64, |count, &size| count.checked_mul(size))?;
        count.checked_mul(self.dtype.size()).filter(|&size| size < 1 << 31)
    }
}

impl Dtype {
    pub(super) fn size(&self) -> u64 {
        match self {
            Dtype::Plain(plain) => plain.size,
            Dtype::Structure { size, .. } => *size,
        }
    }

    pub(super) fn fields(&self) -> Option<&[Field]> {
        match self {
            Dtype::Plain(_) => None,
            Dtype::Structure { fields, .. } => Some(fields),
        }
    }

    pub(super) fn json(&self) -> Json {
        let Dtype::Structure { size, flags, fields } = self else {
            let Dtype::Plain(plain) = self else { unreachable!("one of two") };
            return json!(plain.name);
        };
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let fields: Vec<_> = fields
            .iter()
            .map(|field| {
                let title = field.title.as_ref().map(text);
                json!([text(&field.name), title, field.offset, field.shape, field.dtype.json()])
            })
            .collect();
        json!({ "itemsize": size, "flags": flags, "fields": fields })
    }

    fn alignment(&self) -> u64 {
        match self {
            Dtype::Plain(plain) => plain.alignment(),
            Dtype::Structure { flags: 1, fields, .. } => {
                fields.iter().map(|field| field.dtype.alignment()).max().unwrap_or(1)
            }
            Dtype::Structure { .. } => 1,
        }
    }

    /// A14: the weight; of what has no fields it is the itemsize.
    fn weight(&self) -> u128 {
        let Dtype::Structure { fields, .. } = self else { return self.size().into() };
        fields
            .iter()
            .map(|field| u128::from(field.count()) * u128::from(field.dtype.size()).max(field.dtype.weight()))
            .sum()
    }

    /// Whether it has bytes that A16 or A18 want to be zero.
    fn has_zeros(&self) -> bool {
        match self {
            Dtype::Plain(plain) => {
                matches!(plain.letter, b'g' | b'G') && (plain.number == 1 || plain.number == 4)
            }
            Dtype::Structure { size, fields, .. } => {
                let mut spans: Vec<_> = fields.iter().filter_map(Field::span).collect();
                spans.sort_unstable();
                let end =
                    spans.iter().fold(0, |end, &(from, to)| if from <= end { end.max(to) } else { end });
                end < *size
                    || spans.iter().any(|&(from, _)| from > end)
                    || fields.iter().any(|field| field.span().is_some() && field.dtype.has_zeros())
            }
        }
    }

    /// A21: the dtype of the mask of data with fields.
    pub(super) fn is_mask_of(&self, data: &Dtype) -> bool {
        match (self, data) {
            (Dtype::Plain(mask), Dtype::Plain(_)) => mask.letter == b'b',
            (Dtype::Structure { size, fields: ours, .. }, Dtype::Structure { fields: theirs, .. }) => {
                let mut end = 0;
                ours.len() == theirs.len()
                    && ours.iter().zip(theirs).all(|(ours, theirs)| {
                        let packed = ours.offset == end;
                        end += ours.bytes().unwrap_or_default();
                        packed
                            && (&ours.name, &ours.title, &ours.shape)
                                == (&theirs.name, &theirs.title, &theirs.shape)
                            && ours.dtype.is_mask_of(&theirs.dtype)
                    })
                    && end == *size
            }
            _ => false,
        }
    }
}

impl Field {
    /// The bytes that it takes, if any.
    fn span(&self) -> Option<(u64, u64)> {
        let bytes = self.bytes().filter(|&bytes| bytes > 0)?;
        Some((self.offset, self.offset + bytes))
    }
}

impl Body<'_> {
    /// The next element, a dtype; of these the type comes before the bytes.
    pub(super) fn dtype(&mut self) -> Verdict<Dtype> {
        self.dtype_within(0, &mut 0)
    }

    fn dtype_within(&mut self, depth: u64, count: &mut u64) -> Verdict<Dtype> {
        self.owed -= 1;
        let head = self.form()?;
        if head.kind == Kind::Ext(8) {
            self.arrived(&head)?;
            return Plain::parse(self.payload(&head)).map(Dtype::Plain).or_else(|code| refuse(code, head.at));
        }
        self.plain(&head)?;
        if head.len != 3 {
            return refuse("bad_arity", head.at);
        }
        // A17
        if depth == self.limits.dtype_depth {
            return refuse("dtype_limit", head.at);
        }
        self.owed += 3;
        let size = self.bounded(1 << 31, "bad_number")?;
        let flags = self.bounded(4, "bad_number")?;
        let fields = self.plain_array()?;
        *count += fields.len as u64;
        if *count > self.limits.dtype_fields {
            return refuse("dtype_limit", fields.at);
        }
        self.owed += fields.len as u64;
        let fields = (0..fields.len).map(|_| self.field(depth, count)).collect::<Verdict<Vec<_>>>()?;
        check(size, flags, &fields).or_else(|code| refuse(code, head.at))?;
        Ok(Dtype::Structure { size, flags, fields })
    }

    /// A14
    fn field(&mut self, depth: u64, count: &mut u64) -> Verdict<Field> {
        let head = self.plain_array()?;
        if head.len != 5 {
            return refuse("bad_arity", head.at);
        }
        self.charge(640, head.at)?;
        self.owed += 5;
        let name = self.name()?.bytes;
        let title = self.text_or_nil()?.ok();
        if let Some(title) = title.as_ref().filter(|title| title.bytes.is_empty()) {
            return refuse("bad_name", title.at);
        }
        let title = title.map(|title| title.bytes);
        let offset = self.bounded(1 << 31, "bad_number")?;
        let shape = self.plain_array()?;
        self.owed += shape.len as u64;
        let shape =
            (0..shape.len).map(|_| self.bounded(1 << 31, "bad_number")).collect::<Verdict<Vec<_>>>()?;
        let dtype = self.dtype_within(depth + 1, count)?;
        Ok(Field { name, title, offset, shape, dtype })
    }

    /// The next element, a plain array.
    pub(super) fn plain_array(&mut self) -> Verdict<Head> {
        self.owed -= 1;
        let head = self.form()?;
        self.plain(&head)?;
        Ok(head)
    }

    /// That a head is of an array, that V18 holds, and that the array is no node.
    fn plain(&self, head: &Head) -> Verdict<()> {
        if head.kind != Kind::Array {
            return refuse("bad_type", head.at);
        }
        self.arrived(head)?;
        if self.is_node(head) { refuse("bad_type", head.at) } else { Ok(()) }
    }

    /// The next element, an unsigned int below a bound.
    pub(super) fn bounded(&mut self, bound: i128, code: &'static str) -> Verdict<u64> {
        self.owed -= 1;
        let head = self.form()?;
        match head.kind {
            Kind::Int(value @ 0..) if value < bound => Ok(value as u64),
            Kind::Int(0..) => refuse(code, head.at),
            _ => refuse("bad_type", head.at),
        }
    }
}

/// A14, A15: what needs the whole structure.
fn check(size: u64, flags: u64, fields: &[Field]) -> Result<(), &'static str> {
    let mut names = BTreeSet::new();
    if !fields
        .iter()
        .flat_map(|field| [Some(&field.name), field.title.as_ref()])
        .flatten()
        .all(|name| names.insert(name))
    {
        return Err("duplicate_key");
    }
    let fine = fields.iter().all(|field| {
        let fits = |bytes: u64| field.offset.checked_add(bytes).is_some_and(|end| end <= size);
        field.shape.len() <= 64 && field.bytes().is_some_and(fits)
    });
    let whole = Dtype::Structure { size, flags, fields: fields.to_vec() };
    if !fine || whole.weight() > 16 * u128::from(size) || overlapping(fields) {
        return Err("bad_dtype");
    }
    if flags & 1 != 0 {
        let largest = fields.iter().map(|field| field.dtype.alignment()).max().unwrap_or(1);
        let aligned = fields.iter().all(|field| field.offset.is_multiple_of(field.dtype.alignment()));
        if !aligned || !size.is_multiple_of(largest) {
            return Err("bad_dtype");
        }
    }
    Ok(())
}

/// A14: fields over one that has bytes which must be zero.
fn overlapping(fields: &[Field]) -> bool {
    fields.iter().enumerate().any(|(index, one)| {
        fields[..index].iter().any(|other| {
            let over = one.span().zip(other.span()).is_some_and(|(a, b)| a.0 < b.1 && b.0 < a.1);
            over && (one.dtype.has_zeros() || other.dtype.has_zeros())
        })
    })
}
