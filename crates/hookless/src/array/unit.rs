//! Units of datetime64 and timedelta64: A5.

use std::fmt;

use crate::array::dtype::MAX_SIZE;

/// Units of datetime64 and timedelta64, by wire number (A5).
pub const UNITS: [&str; 14] =
    ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/// A5: a unit number and its count, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unit {
    number: u8,
    count: u32,
}

impl Unit {
    /// A unit by wire number, and how many of them make one step.
    pub fn new(number: u8, count: u32) -> Option<Unit> {
        let known = usize::from(number) < UNITS.len();
        let counted = if number == 0 { count == 1 } else { (1..=MAX_SIZE).contains(&count) };
        (known && counted).then_some(Unit { number, count })
    }

    /// A unit by NumPy's name, as `numpy.datetime_data` gives it.
    pub fn by_name(name: &str, count: u32) -> Option<Unit> {
        let number = UNITS.iter().position(|unit| *unit == name)?;
        Unit::new(u8::try_from(number).ok()?, count)
    }

    /// NumPy's name, and the count.
    pub fn name(self) -> (&'static str, u32) {
        (UNITS.get(usize::from(self.number)).copied().unwrap_or_default(), self.count)
    }

    /// The wire number.
    pub fn number(self) -> u8 {
        self.number
    }

    /// How many units make one step.
    pub fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for Unit {
    /// `[25s]`, `[D]`, or nothing for the generic unit, as in NumPy's `dtype.str`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            ("generic", _) => Ok(()),
            (unit, 1) => write!(f, "[{unit}]"),
            (unit, count) => write!(f, "[{count}{unit}]"),
        }
    }
}
