//! Paths: D13.

use super::bad_value;
use super::fields::{Fields, bad};
use crate::error::Result;
use crate::memory::{self, Full};
use crate::value::{Text, TextRef};

/// Which of four classes of `pathlib`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathClass {
    /// `PurePosixPath`
    PurePosix,
    /// `PureWindowsPath`
    PureWindows,
    /// `PosixPath`
    Posix,
    /// `WindowsPath`
    Windows,
}

impl PathClass {
    /// The wire number.
    pub const fn number(self) -> u8 {
        match self {
            PathClass::PurePosix => 0,
            PathClass::PureWindows => 1,
            PathClass::Posix => 2,
            PathClass::Windows => 3,
        }
    }

    /// The class for a wire number.
    pub const fn from_number(number: u8) -> Option<PathClass> {
        match number {
            0 => Some(PathClass::PurePosix),
            1 => Some(PathClass::PureWindows),
            2 => Some(PathClass::Posix),
            3 => Some(PathClass::Windows),
            _ => None,
        }
    }

    /// The name of the class in Python.
    pub const fn name(self) -> &'static str {
        match self {
            PathClass::PurePosix => "PurePosixPath",
            PathClass::PureWindows => "PureWindowsPath",
            PathClass::Posix => "PosixPath",
            PathClass::Windows => "WindowsPath",
        }
    }

    /// Whether its separator is `\`, and case does not count.
    pub const fn is_windows(self) -> bool {
        matches!(self, PathClass::PureWindows | PathClass::Windows)
    }
}

/// D13: a path in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    class: PathClass,
    drive: Text,
    root: Text,
    parts: Vec<Text>,
}

impl Path {
    /// A path of its drive, its root and the names after them.
    ///
    /// # Errors
    /// `bad_payload` that says which of them D13 forbids.
    pub fn new(class: PathClass, drive: Text, root: Text, parts: Vec<Text>) -> Result<Path> {
        let windows = class.is_windows();
        let (drive_bytes, root_bytes) = (drive.as_bytes(), root.as_bytes());
        let drive_ok = match (windows, drive_bytes) {
            (_, []) => true,
            (false, _) => false,
            (true, [b'\\', b'\\', rest @ ..]) => !rest.contains(&b'/'),
            // One character and a colon: a lone surrogate is a character too.
            (true, [one @ .., b':']) => !one.contains(&b'\\') && !one.contains(&b'/') && characters(one) == 1,
            (true, _) => false,
        };
        if !drive_ok || drive_bytes.contains(&0) {
            return Err(bad_value("no such drive"));
        }
        let root_ok = match root_bytes {
            b"" => true,
            b"/" | b"//" => !windows,
            b"\\" => windows,
            _ => false,
        };
        if !root_ok {
            return Err(bad_value("no such root"));
        }
        for (index, part) in parts.iter().enumerate() {
            let bytes = part.as_bytes();
            let separator = |byte: &u8| *byte == b'/' || *byte == 0 || (windows && *byte == b'\\');
            if bytes.is_empty() || bytes == b"." || bytes.iter().any(separator) {
                return Err(bad(format_args!("part {index} is empty, \".\", or holds a separator or NUL")));
            }
        }
        Ok(Path { class, drive, root, parts })
    }

    /// Which class.
    pub fn class(&self) -> PathClass {
        self.class
    }

    /// Of Windows only, such as `c:`.
    pub fn drive(&self) -> &Text {
        &self.drive
    }

    /// `/`, `//`, `\` or empty.
    pub fn root(&self) -> &Text {
        &self.root
    }

    /// The names, outermost first.
    pub fn parts(&self) -> &[Text] {
        &self.parts
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Path> {
        let number = fields.u8("class")?;
        let class =
            PathClass::from_number(number).ok_or_else(|| bad(format_args!("class {number} is past 3")))?;
        let mut text = |what: &str| {
            let len = fields.len32(what)?;
            Fields::text(fields.take(len, what)?, what)
        };
        let (drive, root) = (text("drive")?, text("root")?);
        let mut parts = Vec::new();
        while !fields.is_empty() {
            let len = fields.len32("part")?;
            memory::push(&mut parts, Fields::text(fields.take(len, "part")?, "part")?)?;
        }
        Path::new(class, drive, root, parts)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        memory::push(out, self.class.number())?;
        for text in [&self.drive, &self.root].into_iter().chain(&self.parts) {
            let bytes = text.as_bytes();
            memory::extend(out, &u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes())?;
            memory::extend(out, bytes)?;
        }
        Ok(())
    }

    /// K7: the same in a class and a case that do not count.
    pub(crate) fn folded(&self) -> std::result::Result<Path, Full> {
        let class = if self.class.is_windows() { PathClass::PureWindows } else { PathClass::PurePosix };
        let fold = |text: &Text| {
            if class == PathClass::PureWindows { lower(text) } else { text.as_ref().try_to_text() }
        };
        let parts = memory::collect(self.parts.iter().map(fold))?;
        Ok(Path { class, drive: fold(&self.drive)?, root: self.root.as_ref().try_to_text()?, parts })
    }
}

/// How many characters generalised UTF-8 holds.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// Lower case, as Python's `str.lower`: surrogates have no case and end a word.
fn lower(text: &Text) -> std::result::Result<Text, Full> {
    let mut out = memory::room(text.as_bytes().len())?;
    for chunk in text.as_bytes().utf8_chunks() {
        lower_valid(chunk.valid(), &mut out)?;
        memory::extend(&mut out, chunk.invalid())?;
    }
    match TextRef::from_generalised(&out) {
        Some(text) => text.try_to_text(),
        None => text.as_ref().try_to_text(),
    }
}

/// The same for text without surrogates.
fn lower_valid(text: &str, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
    if text.contains('Σ') {
        return memory::extend(out, word_end(text)?.as_bytes());
    }
    let mut lower = text.chars().flat_map(char::to_lowercase);
    lower.try_for_each(|one| memory::extend(out, one.encode_utf8(&mut [0; 4]).as_bytes()))
}

/// A capital sigma has another small letter at the end of a word, and only the standard library knows what ends one. It does not ask for
/// the memory that it takes, so that as much is asked for, and given back, before.
#[expect(clippy::disallowed_methods, reason = "the room has just been there")]
fn word_end(text: &str) -> std::result::Result<String, Full> {
    memory::room::<u8>(text.len().saturating_mul(2))?;
    Ok(text.to_lowercase())
}
