//! The bodies of control frames but HELLO: S2, S13, S15.
//!
//! Each is positional, and is taken in its one form alone: the cursor of the wire knows no other than the shortest. Texts are borrowed
//! from the body, so that nothing is allocated for what is refused.

use crate::error::{Code, Error, Result};
use crate::frame::HEAD_LEN;
use crate::limits::CREDIT;
use crate::memory;
use crate::wire::{Cursor, Head, raw, wide};

/// The body of CANCEL, CANCELLED and SHUTDOWN: the empty array.
pub const EMPTY_BODY: &[u8] = b"\x90";

/// S15: `created` of LOG is below this, the first second of the year 10000.
pub const CREATED_END: f64 = 253_402_300_800.0;

/// S15: the most bytes of UTF-8 in the texts of control frames.
#[derive(Debug, Clone, Copy)]
pub struct TextLimits;

impl TextLimits {
    /// `text` of PROGRESS.
    pub const PROGRESS: usize = 1024;
    /// `logger` of LOG.
    pub const LOGGER: usize = 256;
    /// `message` of LOG.
    pub const MESSAGE: usize = 32_768;
    /// `path` of LOG.
    pub const PATH: usize = 4096;
    /// `function` of LOG.
    pub const FUNCTION: usize = 256;
}

/// The body of CREDIT (S13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// Items that may be sent beside those allowed before, from 1 to [`CREDIT`](crate::limits::CREDIT).
    pub items: u32,
}

/// The body of PROGRESS (S15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'b> {
    /// What has been done, in units of the call's own.
    pub done: u64,
    /// What there is to do; none where it is not known.
    pub total: Option<u64>,
    /// For people: at most [`TextLimits::PROGRESS`] bytes.
    pub text: &'b str,
}

/// The body of LOG (S15).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Log<'b> {
    /// The level, as Python's logging numbers it.
    pub level: u16,
    /// The logger's name: at most [`TextLimits::LOGGER`] bytes.
    pub logger: &'b str,
    /// The message: at most [`TextLimits::MESSAGE`] bytes.
    pub message: &'b str,
    /// Seconds since 1970: at least 0, and below [`CREATED_END`].
    pub created: f64,
    /// The source file: at most [`TextLimits::PATH`] bytes.
    pub path: &'b str,
    /// The line in it; 0 where it is not known.
    pub line: u32,
    /// The function: at most [`TextLimits::FUNCTION`] bytes.
    pub function: &'b str,
}

#[cold]
fn bad(note: &'static str) -> Error {
    Error::at(Code::BadControl, wide(HEAD_LEN)).note(note)
}

/// Checks the body of a frame that says all by its kind.
///
/// # Errors
/// `bad_control`.
pub(crate) fn check_empty(body: &[u8]) -> Result<()> {
    if body == EMPTY_BODY { Ok(()) } else { Err(bad("an empty list, in its one form")) }
}

impl Credit {
    /// The body of its frame.
    ///
    /// # Errors
    /// `out_of_memory`; `bad_control` for a number out of its range.
    pub fn to_body(self) -> Result<Vec<u8>> {
        if !(1..=CREDIT).contains(&self.items) {
            return Err(Error::new(Code::BadControl).note(format_args!("credit of {} items", self.items)));
        }
        let mut out = memory::room(6)?;
        raw::array(&mut out, 1)?;
        raw::unsigned(&mut out, u64::from(self.items))?;
        Ok(out)
    }

    /// Reads the body of a CREDIT frame, in its one form.
    ///
    /// # Errors
    /// `bad_control`.
    pub fn parse(body: &[u8]) -> Result<Credit> {
        let read = |mut parts: Parts<'_>| {
            let items = u32::try_from(parts.number()?).ok().filter(|items| (1..=CREDIT).contains(items))?;
            parts.end(Credit { items })
        };
        Parts::of(body, 1)
            .and_then(read)
            .ok_or_else(|| bad("a list of the items, 1 to 65536, in its one form"))
    }
}

impl<'b> Progress<'b> {
    /// The body of its frame. A text that is too long is cut between two characters.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn to_body(&self) -> Result<Vec<u8>> {
        let text = cut(self.text, TextLimits::PROGRESS);
        let mut out = memory::room(text.len().saturating_add(22))?;
        raw::array(&mut out, 3)?;
        raw::unsigned(&mut out, self.done)?;
        match self.total {
            Some(total) => raw::unsigned(&mut out, total)?,
            None => raw::nil(&mut out)?,
        }
        raw::str(&mut out, text)?;
        Ok(out)
    }

    /// Reads the body of a PROGRESS frame, in its one form.
    ///
    /// # Errors
    /// `bad_control`.
    pub fn parse(body: &'b [u8]) -> Result<Progress<'b>> {
        let read = |mut parts: Parts<'b>| {
            let done = parts.number()?;
            let total = parts.number_or_nil()?;
            let text = parts.text(TextLimits::PROGRESS)?;
            parts.end(Progress { done, total, text })
        };
        Parts::of(body, 3)
            .and_then(read)
            .ok_or_else(|| bad("a list of done, total and text, in its one form"))
    }
}

impl<'b> Log<'b> {
    /// The body of its frame. Texts that are too long are cut between two characters; a time out of its range is written as 0.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn to_body(&self) -> Result<Vec<u8>> {
        let logger = cut(self.logger, TextLimits::LOGGER);
        let message = cut(self.message, TextLimits::MESSAGE);
        let path = cut(self.path, TextLimits::PATH);
        let function = cut(self.function, TextLimits::FUNCTION);
        let texts = logger.len().saturating_add(message.len()).saturating_add(path.len());
        let mut out = memory::room(texts.saturating_add(function.len()).saturating_add(38))?;
        raw::array(&mut out, 7)?;
        raw::unsigned(&mut out, u64::from(self.level))?;
        raw::str(&mut out, logger)?;
        raw::str(&mut out, message)?;
        raw::float(&mut out, if is_time(self.created) { self.created } else { 0.0 })?;
        raw::str(&mut out, path)?;
        raw::unsigned(&mut out, u64::from(self.line))?;
        raw::str(&mut out, function)?;
        Ok(out)
    }

    /// Reads the body of a LOG frame, in its one form.
    ///
    /// # Errors
    /// `bad_control`.
    pub fn parse(body: &'b [u8]) -> Result<Log<'b>> {
        let read = |mut parts: Parts<'b>| {
            let level = u16::try_from(parts.number()?).ok()?;
            let logger = parts.text(TextLimits::LOGGER)?;
            let message = parts.text(TextLimits::MESSAGE)?;
            let created = parts.float().filter(|created| is_time(*created))?;
            let path = parts.text(TextLimits::PATH)?;
            let line = u32::try_from(parts.number()?).ok()?;
            let function = parts.text(TextLimits::FUNCTION)?;
            parts.end(Log { level, logger, message, created, path, line, function })
        };
        let note = "a list of level, logger, message, created, path, line and function, in its one form";
        Parts::of(body, 7).and_then(read).ok_or_else(|| bad(note))
    }
}

/// Zero has one form here as well.
fn is_time(created: f64) -> bool {
    (0.0..CREATED_END).contains(&created) && created.is_sign_positive()
}

/// As much of a text as `most` bytes hold.
fn cut(text: &str, most: usize) -> &str {
    (0..=most.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// The elements of a positional body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'b>(Cursor<'b>);

impl<'b> Parts<'b> {
    /// Those of a body of so many; none for any other.
    pub(crate) fn of(body: &'b [u8], len: u32) -> Option<Self> {
        let mut parts = Parts(Cursor::new(body, wide(HEAD_LEN)));
        (parts.array()? == len).then_some(parts)
    }

    pub(crate) fn array(&mut self) -> Option<u32> {
        match self.0.head() {
            Ok(Head::Array(len)) => Some(len),
            _ => None,
        }
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        match self.0.head() {
            Ok(Head::Unsigned(number)) => Some(number),
            _ => None,
        }
    }

    fn number_or_nil(&mut self) -> Option<Option<u64>> {
        match self.0.head() {
            Ok(Head::Unsigned(number)) => Some(Some(number)),
            Ok(Head::Nil) => Some(None),
            _ => None,
        }
    }

    fn float(&mut self) -> Option<f64> {
        match self.0.head() {
            Ok(Head::Float(bits)) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(crate) fn text(&mut self, most: usize) -> Option<&'b str> {
        let Ok(Head::Str(len)) = self.0.head() else { return None };
        let bytes = self.0.take(len).ok().filter(|bytes| bytes.len() <= most)?;
        std::str::from_utf8(bytes).ok()
    }

    /// What was read, where nothing follows.
    pub(crate) fn end<T>(self, read: T) -> Option<T> {
        self.0.rest.is_empty().then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log<'static> {
        Log { level: 65_535, logger: "a", message: "b", created: 1.0, path: "c", line: 7, function: "d" }
    }

    #[test]
    fn s2_each_body_has_one_form() {
        let progress = Progress { done: 300, total: None, text: "é" };
        let credit = Credit { items: 65_536 };
        let bodies = [credit.to_body(), progress.to_body(), log().to_body()].map(Result::unwrap);
        assert_eq!(Credit::parse(&bodies[0]), Ok(credit));
        assert_eq!(Progress::parse(&bodies[1]), Ok(progress));
        assert_eq!(Log::parse(&bodies[2]), Ok(log()));
        type Check = fn(&[u8]) -> Result<()>;
        let checks: [Check; 3] = [
            |body| Credit::parse(body).map(|_| ()),
            |body| Progress::parse(body).map(|_| ()),
            |body| Log::parse(body).map(|_| ()),
        ];
        for (body, check) in bodies.iter().zip(checks) {
            for cut in 0..body.len() {
                let error = check(&body[..cut]).unwrap_err();
                assert_eq!((error.code(), error.offset()), (Code::BadControl, Some(32)), "{body:?} {cut}");
            }
            assert!(check(&[body, &b"\xc0"[..]].concat()).is_err());
            assert!(check(&[b"\xdc\x00", &body[..1], &body[1..]].concat()).is_err());
        }
        assert!(
            check_empty(b"\x90").is_ok() && check_empty(b"\x90\x90").is_err() && check_empty(b"").is_err()
        );
    }

    #[test]
    fn s13_credit_is_of_1_to_65536_items() {
        for (body, good) in [
            (&b"\x91\x00"[..], false),
            (b"\x91\x01", true),
            (b"\x91\xce\x00\x01\x00\x00", true),
            (b"\x91\xce\x00\x01\x00\x01", false),
        ] {
            assert_eq!(Credit::parse(body).is_ok(), good, "{body:?}");
        }
        assert!(Credit { items: 0 }.to_body().is_err() && Credit { items: 65_537 }.to_body().is_err());
    }

    #[test]
    fn s15_texts_are_cut_by_the_sender_and_refused_past_their_length() {
        let long = "é".repeat(40_000);
        let fitting = Log { message: &long[..32_768], path: &long[..4096], ..log() };
        let cut = Log { message: &long, path: &long[..4098], ..log() };
        assert_eq!(cut.to_body(), fitting.to_body());
        let odd = format!("x{long}");
        let body = Progress { done: 0, total: Some(0), text: &odd }.to_body().unwrap();
        assert_eq!(Progress::parse(&body).unwrap().text, &odd[..1023]);
        let past = |len: usize| {
            [&b"\x93\x00\xc0\xda"[..], &[(len >> 8) as u8, len as u8], &b"x".repeat(len)].concat()
        };
        assert!(Progress::parse(&past(1024)).is_ok() && Progress::parse(&past(1025)).is_err());
    }

    #[test]
    fn s15_a_time_can_be_shown() {
        for (created, good) in [
            (0.0, true),
            (CREATED_END.next_down(), true),
            (CREATED_END, false),
            (-0.0, false),
            (-1.0, false),
            (f64::NAN, false),
            (f64::INFINITY, false),
        ] {
            let mut body = log().to_body().unwrap();
            body[9..17].copy_from_slice(&f64::to_be_bytes(created));
            assert_eq!(Log::parse(&body).is_ok(), good, "{created}");
            let sent = Log { created, ..log() }.to_body().unwrap();
            assert_eq!(Log::parse(&sent).unwrap().created, if good { created } else { 0.0 });
        }
    }
}
