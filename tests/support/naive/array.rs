//! A1, A6–A8, A20–A24 and D18: nodes that are arrays.

use serde_json::{Value as Json, json};

use super::body::{Body, Kind, Read, Verdict, jsons, refuse};
use super::dtype::{Dtype, Plain};
use super::elements::Check;
use crate::hex;

/// A node of A1, as far as masked arrays look at it.
struct Ndarray {
    at: usize,
    dtype: Dtype,
    order: u64,
    shape: Vec<u64>,
    json: Json,
}

/// A6: the product of the dimensions, zeros taken as 1, and the itemsize, likewise.
fn product(shape: &[u64], size: u64) -> Option<u64> {
    let whole = shape.iter().try_fold(size.max(1), |product, &one| product.checked_mul(one.max(1)));
    whole.filter(|&product| product < 1 << 63)
}

/// A7: whether it makes a difference which index runs fastest.
fn two_orders(shape: &[u64], size: u64) -> bool {
    size > 0 && !shape.contains(&0) && shape.iter().filter(|&&size| size > 1).count() > 1
}

fn order_name(order: u64) -> &'static str {
    if order & 1 == 1 { "F" } else { "C" }
}

impl Body<'_> {
    pub(super) fn array_node(&mut self, at: usize, kind: u8, count: usize) -> Verdict<Read> {
        let fine = match kind {
            11 | 16 | 17 => count == 4,
            18 => count >= 2,
            19 => count >= 4,
            _ => count == 2,
        };
        if !fine {
            return refuse("bad_arity", at);
        }
        let json = self.open(at, |body| match kind {
            11 => body.typed_array(at),
            16 => body.ndarray(at).map(|array| json!(["ndarray", array.json])),
            17 => body.masked(at),
            18 => body.objects(at, count - 2),
            19 => body.strings(at, count - 4),
            _ => body.element(at),
        })?;
        Ok(Read::keyless(json))
    }

    /// A1, A6–A8
    fn ndarray(&mut self, at: usize) -> Verdict<Ndarray> {
        let dtype = self.dtype()?;
        let order_at = self.at;
        let order = self.bounded(4, "bad_order")?;
        let shape = self.shape(dtype.size())?;
        if order & 1 == 1 && !two_orders(&shape, dtype.size()) {
            return refuse("not_canonical", order_at);
        }
        let plain = matches!(dtype, Dtype::Structure { flags, .. } if flags & 2 == 0);
        if order & 2 == 2 && plain {
            return refuse("bad_order", order_at);
        }
        let bytes = shape.iter().product::<u64>() * dtype.size();
        let inline = if bytes < 16_384 { bytes } else { 0 };
        let elements = if bytes == 0 { product(&shape, 1).unwrap_or_default() } else { 0 };
        let cost = 720u64.saturating_add(16 * shape.len() as u64 + inline).saturating_add(elements);
        let data = self.data(bytes, Check::elements(dtype.clone()), cost, at)?;
        let mut json =
            json!({ "dtype": dtype.json(), "shape": shape, "order": order_name(order), "data": data });
        if order & 2 == 2 {
            json["class"] = json!("recarray");
        }
        Ok(Ndarray { at, dtype, order, shape, json })
    }

    /// A6
    fn shape(&mut self, size: u64) -> Verdict<Vec<u64>> {
        let head = self.plain_array()?;
        if head.len > 64 {
            return refuse("bad_shape", head.at);
        }
        self.owed += head.len as u64;
        let shape = (0..head.len).map(|_| self.bounded(i128::MAX, "")).collect::<Verdict<Vec<_>>>()?;
        if product(&shape, size).is_none() { refuse("bad_shape", head.at) } else { Ok(shape) }
    }

    /// A8: so many bytes, in hex. What the node at `at` costs is charged before its place in the region is looked for, or once its bytes
    /// have been checked.
    fn data(&mut self, bytes: u64, check: Check, cost: u64, at: usize) -> Verdict<String> {
        self.owed -= 1;
        let head = self.form()?;
        match head.kind {
            Kind::Nil if bytes >= 16_384 => {
                self.charge(cost, at)?;
                return self.entry(bytes, head.at, check);
            }
            Kind::Nil => return refuse("not_canonical", head.at),
            Kind::Bin => (),
            _ => return refuse("bad_type", head.at),
        }
        self.arrived(&head)?;
        if bytes >= 16_384 {
            return refuse("not_canonical", head.at);
        }
        if head.len as u64 != bytes {
            return refuse("bad_data_length", head.at);
        }
        let start = self.at;
        let data = self.payload(&head);
        if let Some(bad) = check.bad(data) {
            return refuse("bad_element", start + bad);
        }
        let json = hex::of(data);
        self.charge(cost, at)?;
        Ok(json)
    }

    /// D18
    fn typed_array(&mut self, at: usize) -> Verdict<Json> {
        let [code, size, count] =
            [self.bounded(i128::MAX, "")?, self.bounded(i128::MAX, "")?, self.bounded(i128::MAX, "")?];
        let code = u8::try_from(code).unwrap_or(0);
        let sizes: &[u64] = match code {
            b'b' | b'B' => &[1],
            b'u' | b'i' | b'I' if code == b'u' || size <= 4 => &[2, 4],
            b'w' | b'f' => &[4],
            b'h' | b'H' => &[2],
            b'l' | b'L' => &[4, 8],
            b'q' | b'Q' | b'd' => &[8],
            _ => &[],
        };
        if !sizes.contains(&size) {
            return refuse("bad_dtype", at);
        }
        let Some(bytes) = count.checked_mul(size).filter(|&bytes| bytes < 1 << 63) else {
            return refuse("bad_shape", at);
        };
        let inline = if bytes < 16_384 { bytes } else { 0 };
        let points = matches!(code, b'u' | b'w') && size == 4;
        let check = match points {
            true => Check::elements(Dtype::Plain(Plain::simple(b'U', 4))),
            false => Check::anything(),
        };
        let data = self.data(bytes, check, 160 + inline + inline / 8, at)?;
        Ok(json!(["array", char::from(code).to_string(), size, data]))
    }

    /// A node of A1 as a part of a masked array, or where the nil is that stands for it.
    fn part(&mut self) -> Verdict<Result<Ndarray, usize>> {
        self.owed -= 1;
        let head = self.form()?;
        if head.kind == Kind::Nil {
            return Ok(Err(head.at));
        }
        if head.kind != Kind::Array {
            return refuse("bad_type", head.at);
        }
        self.arrived(&head)?;
        if !self.bytes[self.at..].starts_with(&[0xd4, 1, 16]) {
            return refuse("bad_type", head.at);
        }
        if head.len != 5 {
            return refuse("bad_arity", head.at);
        }
        self.at += 3;
        self.owed += 4;
        self.ndarray(head.at).map(Ok)
    }

    /// A21, A22
    fn masked(&mut self, at: usize) -> Verdict<Json> {
        self.charge(1024, at)?;
        let data = match self.part()? {
            Ok(data) => data,
            Err(nil) => return refuse("bad_type", nil),
        };
        let fields = data.dtype.fields().is_some();
        let mask = match self.part()? {
            Ok(mask) => {
                let refused = [
                    (mask.order & 2 != 0, "bad_order"),
                    (mask.shape != data.shape, "bad_shape"),
                    (!mask.dtype.is_mask_of(&data.dtype), "bad_dtype"),
                ];
                first(refused, mask.at)?;
                Some(mask.json)
            }
            Err(nil) if fields => return refuse("bad_type", nil),
            Err(_) => None,
        };
        let fill = match self.part()? {
            Ok(fill) => {
                let fielded = fields || fill.dtype.fields().is_some();
                let refused = [
                    (fill.order & 2 != 0, "bad_order"),
                    (!fill.shape.is_empty(), "bad_shape"),
                    (fielded && fill.dtype != data.dtype, "bad_dtype"),
                ];
                first(refused, fill.at)?;
                Some(fill.json)
            }
            Err(_) => None,
        };
        let hard = self.flag()?;
        Ok(json!(["masked", { "data": data.json, "mask": mask, "fill_value": fill, "hard_mask": hard }]))
    }

    fn flag(&mut self) -> Verdict<bool> {
        self.owed -= 1;
        let head = self.form()?;
        match head.kind {
            Kind::Bool(value) => Ok(value),
            _ => refuse("bad_type", head.at),
        }
    }

    /// Order and shape of A23 and A24, with the number of items and the rest of the charge.
    fn shaped(&mut self, at: usize, items: usize) -> Verdict<(u64, Vec<u64>)> {
        let order_at = self.at;
        let order = self.bounded(2, "bad_order")?;
        let shape = self.shape(16)?;
        if shape.iter().product::<u64>() != items as u64 {
            return refuse("bad_data_length", at);
        }
        if order == 1 && !two_orders(&shape, 16) {
            return refuse("not_canonical", order_at);
        }
        let elements = if items == 0 { product(&shape, 1).unwrap_or_default() } else { 0 };
        self.charge((720 + 16 * shape.len() as u64).saturating_add(elements), at)?;
        Ok((order, shape))
    }

    /// A23
    fn objects(&mut self, at: usize, count: usize) -> Verdict<Json> {
        self.announce(count as u64, at)?;
        self.charge(16 * count as u64, at)?;
        let (order, shape) = self.shaped(at, count)?;
        let items = jsons(self.items(count, false)?);
        Ok(json!(["objects", { "shape": shape, "order": order_name(order), "items": items }]))
    }

    /// A24
    fn strings(&mut self, at: usize, count: usize) -> Verdict<Json> {
        self.announce(count as u64, at)?;
        self.charge(48 * count as u64, at)?;
        self.owed -= 1;
        let head = self.form()?;
        let mut stands = None;
        let missing = match head.kind {
            Kind::Bool(false) => json!(false),
            Kind::Nil => json!(["none"]),
            Kind::Float(bits) if f64::from_bits(bits).is_nan() => json!(["float", format!("{bits:016x}")]),
            Kind::Float(_) => return refuse("bad_number", head.at),
            Kind::Str => {
                self.arrived(&head)?;
                self.charge(2 * head.len as u64, head.at)?;
                let (json, bytes) = self.text_content(&head)?;
                stands = Some(bytes);
                json
            }
            _ => return refuse("bad_type", head.at),
        };
        let coerce = self.flag()?;
        let (order, shape) = self.shaped(at, count)?;
        let mut items = Vec::new();
        for _ in 0..count {
            self.owed -= 1;
            let head = self.form()?;
            match head.kind {
                Kind::Nil if missing != json!(false) => items.push(Json::Null),
                Kind::Str => {
                    self.arrived(&head)?;
                    self.charge(2 * head.len as u64, head.at)?;
                    let (json, bytes) = self.text_content(&head)?;
                    if stands.as_ref() == Some(&bytes) {
                        return refuse("not_canonical", head.at);
                    }
                    items.push(json[1].clone());
                }
                _ => return refuse("bad_type", head.at),
            }
        }
        Ok(json!(["strings", {
            "missing": missing, "coerce": coerce, "shape": shape, "order": order_name(order), "items": items,
        }]))
    }

    /// A20
    fn element(&mut self, at: usize) -> Verdict<Json> {
        let dtype_at = self.at;
        let dtype = self.dtype()?;
        let scalar = match &dtype {
            Dtype::Plain(plain) => matches!(plain.letter, b'g' | b'G' | b'x') && plain.order != b'>',
            Dtype::Structure { .. } => true,
        };
        if !scalar {
            return refuse("not_canonical", dtype_at);
        }
        self.owed -= 1;
        let head = self.form()?;
        if head.kind != Kind::Bin {
            return refuse("bad_type", head.at);
        }
        self.arrived(&head)?;
        if head.len as u64 != dtype.size() {
            return refuse("bad_data_length", head.at);
        }
        let start = self.at;
        let data = self.payload(&head);
        let json = json!(["element", { "dtype": dtype.json(), "data": hex::of(data) }]);
        if let Some(bad) = Check::elements(dtype).bad(data) {
            return refuse("bad_element", start + bad);
        }
        self.charge(720 + 2 * head.len as u64, at)?;
        Ok(json)
    }
}

fn first(refused: [(bool, &'static str); 3], at: usize) -> Verdict<()> {
    match refused.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, code)) => refuse(code, at),
        None => Ok(()),
    }
}
