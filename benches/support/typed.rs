//! The values of the benches against other formats of serde: types of Rust, since that is what those formats take.

use serde::{Deserialize, Serialize};

use crate::Rng;

/// A record of W1 and W2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what there is to say")]
pub struct Record {
    pub id: i64,
    pub token: String,
    pub name: String,
    pub email: String,
    pub age: u8,
    pub visits: u32,
    pub score: f64,
    pub balance: f64,
    pub active: bool,
    pub referrer: Option<u16>,
}

/// So many records, the same on each run.
pub fn records(count: i64) -> Vec<Record> {
    let mut rng = Rng(0x7e57);
    let one = |id| Record {
        id,
        token: format!("{:016x}{:016x}", rng.next(), rng.next()),
        name: ["Zoë Müller", "Bruno Berg", "Keiko Ito"][rng.below(3) as usize].to_owned(),
        email: format!("{}@{}.example", rng.word(4, 10), rng.word(4, 8)),
        age: rng.below(64) as u8,
        visits: rng.below(1 << 20) as u32,
        score: rng.unit(),
        balance: 1e6 * rng.unit() - 5e5,
        active: rng.below(10) < 7,
        referrer: (rng.below(10) < 4).then(|| rng.below(1 << 16) as u16),
    };
    (0..count).map(one).collect()
}

/// The ints of W3: a quarter each of 7, 16, 31 and 62 bits, 5 % negative.
pub fn ints(count: u64) -> Vec<i64> {
    let mut rng = Rng(0x7e58);
    let one = |_| {
        let bits = [7, 16, 31, 62][rng.below(4) as usize];
        let value = (rng.next() >> (64 - bits)).cast_signed();
        if rng.below(20) == 0 { -value } else { value }
    };
    (0..count).map(one).collect()
}
