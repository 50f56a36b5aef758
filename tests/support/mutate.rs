//! Small damages to good frames.

/// A deterministic source of numbers (SplitMix64), so that a failure can be replayed by its seed.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }
}

/// Bytes that mean much to a MessagePack reader.
const TELLING: [u8; 24] = [
    0x00, 0x7f, 0x80, 0x81, 0x90, 0x91, 0x92, 0xa0, 0xa1, 0xc0, 0xc1, 0xc3, 0xc4, 0xc7, 0xca, 0xcb, 0xcc,
    0xcf, 0xd3, 0xd4, 0xd8, 0xdc, 0xdf, 0xff,
];

/// Damages a frame in one to four places; most often in the body, whose length in the head is then put right, so that the reader
/// sees the damage and not only the head does.
pub fn mutate(frame: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = frame.to_vec();
    for _ in 0..=dice.below(4) {
        let start = if dice.below(10) == 0 { 0 } else { 32.min(bytes.len()) };
        let at = start + dice.below((bytes.len() - start).min(4096));
        match dice.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 if at < bytes.len() => bytes[at] = TELLING[dice.below(TELLING.len())],
            2 if at < bytes.len() => bytes[at] = dice.roll() as u8,
            3 => bytes.insert(at.min(bytes.len()), TELLING[dice.below(TELLING.len())]),
            4 if at < bytes.len() => {
                bytes.remove(at);
            }
            5 if at < bytes.len() => bytes.truncate(at),
            _ => {
                let from = start + dice.below((bytes.len() - start).max(1));
                let end = (from + 1 + dice.below(12)).min(bytes.len());
                let piece = bytes.get(from..end).unwrap_or_default().to_vec();
                let at = at.min(bytes.len());
                bytes.splice(at..at, piece);
            }
        }
    }
    if bytes.len() > 32 && dice.below(5) != 0 && bytes[24..32] == [0; 8] {
        let body = (bytes.len() - 32) as u64;
        bytes[16..24].copy_from_slice(&body.to_be_bytes());
    }
    bytes
}
