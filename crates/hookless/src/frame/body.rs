//! The body of a frame, read as its kind wants it.

use crate::error::Result;
use crate::frame::Head;
use crate::limits::Limits;
use crate::session::check_shape;
use crate::wire::{Build, Plan, read};

/// Reads the body of a frame of any kind: F10.
///
/// A control frame is held to its one form first, so what is wrong with it is `bad_control`, and F7 alone limits it: what a host allows
/// values to be must not shut out every worker.
///
/// # Errors
/// All of [`read`], `bad_control` (S2), `bad_call` (S4).
pub fn read_body<B: Build>(
    body: &[u8],
    head: &Head,
    limits: &Limits,
    build: &mut B,
) -> Result<(B::Value, Plan)> {
    if head.kind.carries_value() {
        let built = read(body, head, limits, build)?;
        check_shape(head.kind, body)?;
        return Ok(built);
    }
    check_shape(head.kind, body)?;
    read(body, head, &Limits::ceilings(), build)
}

#[cfg(test)]
mod tests {
    use crate::Code;
    use crate::frame::{Decoder, FrameKind, Head};
    use crate::limits::Limits;
    use crate::session::{Hello, Role};

    fn pushed(body: &[u8], limits: Limits) -> Result<usize, (Code, Option<u64>)> {
        let head = Head { kind: FrameKind::Hello, call_id: 0, body_len: body.len() as u64, data_len: 0 };
        let frame = [&head.to_bytes(), body].concat();
        let fed = Decoder::new(limits).feed(&frame);
        fed.map(|frames| frames.len()).map_err(|error| (error.code(), error.offset()))
    }

    #[test]
    fn s2_whatever_is_no_hello_is_bad_control_at_its_first_byte() {
        let good = Hello::of(Role::Worker, Limits::default()).to_body().unwrap();
        assert_eq!(pushed(&good, Limits::default()), Ok(1));
        let longer = [&good[..], &[0xc0]].concat();
        let wide = [&[0xdc, 0, 6], &good[1..]].concat();
        let wide_int = [&[0x96, 0xcc, 1], &good[2..]].concat();
        for bad in [&longer[..], &wide, &wide_int, &good[..11], b"\xc1", b"\xc0", b"\xd9", b"\x91\x91"] {
            assert_eq!(pushed(bad, Limits::default()), Err((Code::BadControl, Some(32))), "{bad:02x?}");
        }
    }

    #[test]
    fn f7_no_other_limit_is_for_control_frames() {
        let good = Hello::of(Role::Worker, Limits::default()).to_body().unwrap();
        for name in ["depth", "memory", "nodes", "int_bytes", "text", "region"] {
            let limits = Limits::default().with(name, 0).unwrap();
            assert_eq!(pushed(&good, limits), Ok(1), "{name}");
        }
        let limits = Limits::default().with("body", good.len() as u64 - 1).unwrap();
        assert_eq!(pushed(&good, limits), Err((Code::BodyLimit, Some(16))));
    }
}
