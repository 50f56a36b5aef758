//! The workloads of the Rust benches: of the same make as those of `python/workloads.py`, from a generator of their own.
//!
//! The ids agree, the values do not: compare a time with another of the same language only.

pub mod session;
pub mod typed;

use hookless::{Array, ByteOrder, Dtype, Letter, Order, Value};

/// A value to send.
#[derive(Debug)]
pub struct Workload {
    /// `W1`, `W2` and so on.
    pub id: &'static str,
    /// The value.
    pub value: Value,
}

/// Builds every workload, the same on each run.
///
/// # Errors
/// None in fact: the arrays are well-formed.
pub fn workloads() -> hookless::Result<Vec<Workload>> {
    let mut rng = Rng(0x5eed);
    Ok(vec![
        Workload { id: "W1", value: record(&mut rng, 41) },
        Workload { id: "W2", value: Value::List((0..1000).map(|number| record(&mut rng, number)).collect()) },
        Workload { id: "W3", value: ints(&mut rng) },
        Workload { id: "W6", value: tree(&mut rng, 50_000, 12) },
        Workload { id: "W7", value: floats(&mut rng, 100)? },
        Workload { id: "W8", value: floats(&mut rng, (1 << 20) / 8)? },
    ])
}

/// SplitMix64: small, seeded, and good enough to vary a value.
#[derive(Debug)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn int(&mut self, bits: u32) -> Value {
        Value::from((self.next() >> (64 - bits)).cast_signed())
    }

    /// A float in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from((self.next() >> 32) as u32) / 4_294_967_296.0
    }

    pub(crate) fn word(&mut self, least: u64, most: u64) -> String {
        let length = least + self.below(most - least + 1);
        (0..length).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}

fn record(rng: &mut Rng, number: i64) -> Value {
    let token = format!("{:016x}{:016x}", rng.next(), rng.next());
    let email = format!("{}@{}.example", rng.word(4, 10), rng.word(4, 8));
    let fields = [
        ("id", Value::from(number)),
        ("token", Value::Str(token)),
        ("name", Value::from(["Zoë Müller", "Bruno Berg", "Keiko Ito"][rng.below(3) as usize])),
        ("email", Value::Str(email)),
        ("age", rng.int(6)),
        ("visits", rng.int(20)),
        ("score", Value::from(rng.unit())),
        ("balance", Value::from(1e6 * rng.unit() - 5e5)),
        ("active", Value::from(rng.below(10) < 7)),
        ("referrer", Value::None),
    ];
    Value::Dict(fields.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

/// A quarter each of 7, 16, 31 and 62 bits, 5 % negative.
fn ints(rng: &mut Rng) -> Value {
    let one = |_| {
        let bits = [7, 16, 31, 62][rng.below(4) as usize];
        let value = (rng.next() >> (64 - bits)).cast_signed();
        Value::from(if rng.below(20) == 0 { -value } else { value })
    };
    Value::List((0..1_000_000).map(one).collect())
}

fn scalar(rng: &mut Rng) -> Value {
    let bits = [5, 12, 30, 60][rng.below(4) as usize];
    match rng.below(6) {
        0 | 1 => rng.int(bits),
        2 => Value::from(1e3 * rng.unit()),
        3 => Value::Str(rng.word(3, 12)),
        4 => Value::None,
        _ => Value::from(rng.below(2) == 0),
    }
}

/// About `nodes` nodes, at most `depth` containers deep; the first child gets half of what there is.
fn tree(rng: &mut Rng, nodes: u64, depth: u64) -> Value {
    if nodes <= 2 || depth == 0 {
        return scalar(rng);
    }
    if nodes < 12 && rng.below(7) == 0 {
        // Ascending multiples: the members of a set differ.
        let first = rng.below(1 << 24).cast_signed();
        return Value::Set((1..nodes.cast_signed()).map(|step| Value::from(first * step + step)).collect());
    }
    let children: Vec<Value> = if depth == 1 {
        (1..nodes).map(|_| scalar(rng)).collect()
    } else {
        let others = 1 + rng.below(4);
        let half = (nodes - 1) / 2;
        let shares = std::iter::once(half).chain((0..others).map(|_| half / others));
        shares.map(|share| tree(rng, share, depth - 1)).collect()
    };
    match rng.below(3) {
        0 => Value::List(children),
        1 => Value::Tuple(children),
        _ => {
            let mut key = |at| Value::Str(format!("{}{at}", rng.word(3, 9)));
            Value::Dict(children.into_iter().enumerate().map(|(at, child)| (key(at), child)).collect())
        }
    }
}

/// A one-dimensional float64 array.
fn floats(rng: &mut Rng, length: u64) -> hookless::Result<Value> {
    let dtype = Dtype::new(Letter::Float, ByteOrder::Little, 8, None)?;
    let data = (0..length).flat_map(|_| rng.unit().to_le_bytes()).collect();
    Ok(Value::Array(hookless::Boxed::new(Array::new(dtype, vec![length], Order::C, data)?)))
}
