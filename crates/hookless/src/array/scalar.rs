//! NumPy scalars: A9, A20.

use crate::array::{ByteOrder, Dtype, ElementCheck, Unit};
use crate::error::{Code, Error, Result};
use crate::value::TextRef;

macro_rules! kinds {
    ($($variant:ident $ext:literal $dtype:literal $size:expr, $doc:literal;)*) => {
        /// Which NumPy scalar type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ScalarKind {
            $(#[doc = $doc] $variant,)*
        }

        impl ScalarKind {
            /// Every kind, by ext type.
            pub const ALL: &'static [ScalarKind] = &[$(ScalarKind::$variant,)*];

            /// The ext type on the wire.
            pub const fn ext(self) -> u8 {
                match self { $(ScalarKind::$variant => $ext,)* }
            }

            /// The kind of an ext type.
            #[inline]
            pub const fn from_ext(ext: u8) -> Option<ScalarKind> {
                match ext { $($ext => Some(ScalarKind::$variant),)* _ => None }
            }

            /// NumPy's `dtype.str` in little-endian form, without size or unit where the value decides.
            pub const fn dtype(self) -> &'static str {
                match self { $(ScalarKind::$variant => $dtype,)* }
            }

            /// Bytes of the payload, where they are fixed.
            pub const fn size(self) -> Option<usize> {
                match self { $(ScalarKind::$variant => $size,)* }
            }
        }
    };
}

kinds! {
    Bool 32 "|b1" Some(1), "numpy.bool_";
    Int8 33 "|i1" Some(1), "numpy.int8";
    Int16 34 "<i2" Some(2), "numpy.int16";
    Int32 35 "<i4" Some(4), "numpy.int32";
    Int64 36 "<i8" Some(8), "numpy.int64";
    UInt8 37 "|u1" Some(1), "numpy.uint8";
    UInt16 38 "<u2" Some(2), "numpy.uint16";
    UInt32 39 "<u4" Some(4), "numpy.uint32";
    UInt64 40 "<u8" Some(8), "numpy.uint64";
    Float16 41 "<f2" Some(2), "numpy.float16";
    Float32 42 "<f4" Some(4), "numpy.float32";
    Float64 43 "<f8" Some(8), "numpy.float64";
    Complex64 44 "<c8" Some(8), "numpy.complex64";
    Complex128 45 "<c16" Some(16), "numpy.complex128";
    Datetime64 46 "<M8" Some(13), "numpy.datetime64";
    Timedelta64 47 "<m8" Some(13), "numpy.timedelta64";
    Bytes 48 "S" None, "numpy.bytes_";
    Str 49 "U" None, "numpy.str_";
    Void 50 "V" None, "numpy.void, unstructured";
}

impl ScalarKind {
    /// A11: whether it can be a dict key.
    pub const fn is_keyable(self) -> bool {
        !matches!(self, ScalarKind::Datetime64 | ScalarKind::Timedelta64 | ScalarKind::Void)
    }

    /// A9: refuses a payload that no scalar of this kind has.
    pub(crate) fn check(self, payload: &[u8]) -> Result<()> {
        if self.size().is_some_and(|size| size != payload.len()) {
            return Err(Error::new(Code::BadPayload));
        }
        match self {
            ScalarKind::Bool if payload != [0] && payload != [1] => Err(Error::new(Code::BadPayload)),
            ScalarKind::Datetime64 | ScalarKind::Timedelta64 => {
                split_time(payload).map(|_| ()).ok_or_else(|| Error::new(Code::BadDtype))
            }
            ScalarKind::Str if TextRef::from_generalised(payload).is_none() => Err(Error::new(Code::BadUtf8)),
            _ => Ok(()),
        }
    }
}

/// Unit and ticks of the payload of a datetime64 or timedelta64.
pub fn split_time(payload: &[u8]) -> Option<(Unit, i64)> {
    let (&number, rest) = payload.split_first()?;
    let (count, ticks) = rest.split_first_chunk::<4>()?;
    let ticks: [u8; 8] = ticks.try_into().ok()?;
    Some((Unit::new(number, u32::from_be_bytes(*count))?, i64::from_be_bytes(ticks)))
}

/// A NumPy scalar, by its raw bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    kind: ScalarKind,
    payload: Vec<u8>,
}

impl Scalar {
    /// A scalar of its wire payload (big-endian).
    ///
    /// # Errors
    /// `bad_payload`, `bad_dtype` or `bad_utf8`, as A9 says.
    pub fn new(kind: ScalarKind, payload: Vec<u8>) -> Result<Scalar> {
        kind.check(&payload)?;
        Ok(Scalar { kind, payload })
    }

    /// Which scalar type.
    pub fn kind(&self) -> ScalarKind {
        self.kind
    }

    /// The payload as on the wire, big-endian.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Unit and ticks of a datetime64 or timedelta64.
    pub fn time(&self) -> Option<(Unit, i64)> {
        match self.kind {
            ScalarKind::Datetime64 | ScalarKind::Timedelta64 => split_time(&self.payload),
            _ => None,
        }
    }
}

/// A NumPy scalar of a dtype that has no leaf (A20): a void with fields, a long double, a type of ml_dtypes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    dtype: Dtype,
    data: Vec<u8>,
}

impl Element {
    /// A scalar of exactly the bytes of one element.
    ///
    /// # Errors
    /// `not_canonical` for a dtype whose scalars have a leaf or another byte order, `bad_data_length`, `bad_element` (A10, A16, A18, A19).
    pub fn new(dtype: Dtype, data: Vec<u8>) -> Result<Element> {
        Element::check(&dtype, &data)?;
        Ok(Element { dtype, data })
    }

    /// A20, but for the place of an error.
    fn check(dtype: &Dtype, data: &[u8]) -> Result<()> {
        Element::check_dtype(dtype)?;
        if u64::try_from(data.len()).ok() != Some(dtype.itemsize()) {
            return Err(Error::new(Code::BadDataLength));
        }
        match ElementCheck::of(dtype)?.find_bad(data) {
            Some(at) => Err(Error::new(Code::BadElement).note(format_args!("at byte {at} of the data"))),
            None => Ok(()),
        }
    }

    /// Whether scalars of this dtype take this form.
    pub(crate) fn check_dtype(dtype: &Dtype) -> Result<()> {
        let own = dtype.fields().is_some() || dtype.letter().is_numbered();
        if own && dtype.order() != ByteOrder::Big {
            return Ok(());
        }
        Err(Error::new(Code::NotCanonical).note(format_args!("a scalar of {dtype} has another form")))
    }

    /// A scalar of parts that the reader has checked.
    pub(crate) fn trusted(dtype: Dtype, data: Vec<u8>) -> Element {
        Element { dtype, data }
    }

    /// Its type.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Its bytes, as in an array; numbers are little-endian but for those in fields, whose dtype says so.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}
