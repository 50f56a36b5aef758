//! Frames: a fixed head, a body, and a data region that the body implies.
//!
//! ```text
//!  0      4  5  6     8               16              24              32
//!  +------+--+--+-----+---------------+---------------+---------------+------+-- - --+-------------+
//!  | HKLS |v |k |flags|    call id    |  body length  |  data length  | body | zeros | data region |
//!  +------+--+--+-----+---------------+---------------+---------------+------+-- - --+-------------+
//! ```

mod assembler;
mod body;
mod decoder;
mod head;
mod intake;
mod kind;
mod owned;
mod region;
mod undelivered;
mod whole;

pub use assembler::{Assembler, Want};
pub use body::read_body;
pub use decoder::{Decoder, Frame};
pub use head::{HEAD_LEN, Head, MAGIC, VERSION};
pub use intake::{Intake, Place, Whole};
pub use kind::FrameKind;
pub use owned::OwnedParts;
pub(crate) use region::RegionCursor;
pub use region::{ALIGNMENT, padding};
pub use whole::{Split, check_region, slice, split};
