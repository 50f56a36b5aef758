//! Wire to Python objects, straight away: no tree in between.

use hookless::array::{ArrayHead, Shape};
use hookless::wire::{
    ArrayParts, Build, BytesKind, Characters, Data, EntryParts, MapKind, MaskedParts, RecordNames,
    SequenceKind, SetKind, StringParts,
};
use hookless::{Code, Dtype, Error, RecordKind, Result, ScalarKind, Standard, TextRef, TypeCode};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::failure;
use crate::ffi::fallible::Unsigned;
use crate::ffi::ndarray;
use crate::ffi::sequence::Unfilled;
use crate::ffi::targets::Targets;
use crate::ffi::{chars, make};
use crate::keys::Spent;
use crate::scalar::Scalar;
use crate::standard;
use crate::warm::{Loaded, Numpy, Warm};
use crate::{flat, masked, scalars};

mod array;
mod known;
mod record;
mod table;

use known::KnownKeys;
pub(crate) use table::{Map, Set};

/// Where the bytes of region entries come from.
pub(crate) enum Source<'a, 'py> {
    /// They are put into memory of the values' own, later.
    Fill(&'a mut Targets),
    /// Arrays are read-only views of `region`, which `owner` keeps alive; bytes are copied as in `Fill`.
    View { owner: Bound<'py, PyAny>, region: &'a [u8], targets: &'a mut Targets },
}

/// Builds Python objects.
pub(crate) struct PyBuilder<'a, 'py> {
    py: Python<'py>,
    warm: &'py Warm,
    numpy: Option<&'py Numpy>,
    source: Source<'a, 'py>,
    known: KnownKeys,
    /// Puts the host's decimal context right afterwards; there once a decimal is in a key.
    _calm: Option<standard::Calm<'py>>,
    /// What the keys of its tables have cost.
    spent: Spent,
    /// A KeyboardInterrupt, or another exception of a signal handler, that ends the decoding.
    pub(crate) interrupted: Option<PyErr>,
    /// Whether other threads may run for a moment, now and then.
    pub(crate) yields: bool,
}

impl<'a, 'py> PyBuilder<'a, 'py> {
    /// A builder, with everything imported that it may need.
    #[inline]
    pub(crate) fn new(py: Python<'py>, loaded: Loaded<'py>, source: Source<'a, 'py>) -> Self {
        let Loaded { warm, numpy } = loaded;
        PyBuilder {
            py,
            warm,
            numpy,
            source,
            known: KnownKeys::default(),
            _calm: None,
            spent: Spent::default(),
            interrupted: None,
            yields: false,
        }
    }

    fn targets(&mut self) -> &mut Targets {
        match &mut self.source {
            Source::Fill(targets) | Source::View { targets, .. } => targets,
        }
    }

    /// A deque or slice of its items.
    #[cold]
    fn finish_rare(&self, kind: SequenceKind, items: Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let py = self.py;
        let made = match kind {
            SequenceKind::List | SequenceKind::Tuple => Ok(items),
            SequenceKind::Slice => items
                .extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)>()
                .and_then(|parts| py.get_type::<PySlice>().call1(parts)),
            SequenceKind::Deque(maxlen) => standard::shelf(py)
                .and_then(|shelf| shelf.deque.bind(py).call1((items, maxlen.map(Unsigned)))),
        };
        made.map_err(|error| scalars::table_error(py, &error))
    }
}

impl<'py> Build for PyBuilder<'_, 'py> {
    type Value = Bound<'py, PyAny>;
    type Sequence = Unfilled<'py>;
    type Map = Map<'py>;
    type Set = Set<'py>;

    /// Python's equality of keyable values is that of K4–K7, but for what the reader calls odd.
    const OWN_KEYS: bool = true;
    const BY_PARTS: bool = true;

    fn none(&mut self) -> Result<Self::Value> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn bool(&mut self, value: bool) -> Result<Self::Value> {
        Ok(pyo3::types::PyBool::new(self.py, value).to_owned().into_any())
    }

    #[inline]
    fn unsigned(&mut self, value: u64) -> Result<Self::Value> {
        match i64::try_from(value) {
            Ok(value) => make::signed(self.py, value),
            Err(_) => make::unsigned(self.py, value),
        }
    }

    #[inline]
    fn negative(&mut self, value: i64) -> Result<Self::Value> {
        make::signed(self.py, value)
    }

    fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> Result<Self::Value> {
        self.spent.longest = self.spent.longest.max(magnitude.len() as u64);
        scalars::big_int(self.py, negative, magnitude)
    }

    #[inline]
    fn float(&mut self, value: f64) -> Result<Self::Value> {
        make::float(self.py, value)
    }

    fn complex(&mut self, re: f64, im: f64) -> Result<Self::Value> {
        make::complex(self.py, re, im)
    }

    #[inline(always)]
    fn text(&mut self, text: Characters<'_>, key: bool) -> Result<Self::Value> {
        match text {
            Characters::Ascii(bytes) if key => self.known.key(self.py, bytes),
            Characters::Ascii(bytes) => chars::ascii(self.py, bytes),
            Characters::Utf8(text) => chars::text(self.py, text),
            Characters::Surrogates(bytes) => chars::utf8(self.py, bytes),
        }
    }

    #[inline(always)]
    fn known_key(&mut self, bytes: &[u8]) -> Option<Self::Value> {
        self.known.find(self.py, bytes)
    }

    fn bytes(&mut self, kind: BytesKind, data: Data<'_>) -> Result<Self::Value> {
        let py = self.py;
        match (data, kind) {
            (Data::Inline(bytes), BytesKind::Bytes) => make::bytes(py, bytes),
            (Data::Inline(bytes), BytesKind::ByteArray) => make::bytearray(py, bytes),
            (Data::Region { len, .. }, kind) => self.targets().reserve_bytes(py, kind, len),
        }
    }

    fn array(&mut self, head: ArrayHead, data: Data<'_>) -> Result<Self::Value> {
        self.build_array(head, data)
    }

    #[inline]
    fn numbers(&mut self, dtype: &Dtype, shape: &[u64], data: Data<'_>) -> Result<Self::Value> {
        self.build_numbers(dtype, shape, data)
    }

    fn typed_array(&mut self, code: TypeCode, data: Data<'_>) -> Result<Self::Value> {
        let py = self.py;
        standard::typed_array(py, code, data, self.targets())
    }

    fn decimal_key(&mut self) -> Result<()> {
        if !self.spent.decimals {
            self._calm = standard::calm(self.py).map_err(|error| scalars::table_error(self.py, &error))?;
        }
        self.spent.decimals = true;
        Ok(())
    }

    fn standard(&mut self, value: Standard) -> Result<Self::Value> {
        if let Standard::Fraction(number) = &value {
            let terms = number.numerator().len().max(number.denominator().len());
            self.spent.longest = self.spent.longest.max(terms as u64);
        }
        standard::from_standard(self.py, &value)
    }

    fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<Self::Value> {
        match self.numpy {
            Some(numpy) => scalars::from_payload(self.py, numpy, kind, payload),
            None => Scalar::of(self.py, kind, payload),
        }
    }

    fn element(&mut self, dtype: Dtype, bytes: &[u8]) -> Result<Self::Value> {
        match self.numpy {
            Some(numpy) => ndarray::scalar(&numpy.descr(self.py, &dtype)?, bytes),
            None => Scalar::of_element(self.py, dtype, bytes),
        }
    }

    fn masked(&mut self, parts: MaskedParts<'_>) -> Result<Self::Value> {
        let data = self.array(parts.data.head, parts.data.data)?;
        let mut part =
            |part: Option<ArrayParts<'_>>| part.map(|part| self.array(part.head, part.data)).transpose();
        let (mask, fill_value) = (part(parts.mask)?, part(parts.fill_value)?);
        masked::made(self.numpy, data, mask, fill_value, parts.hard_mask)
    }

    fn strings(&mut self, parts: StringParts<'_>) -> Result<Self::Value> {
        flat::strings(self.py, self.numpy, parts)
    }

    #[inline]
    fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<Self::Sequence> {
        Unfilled::new(self.py, kind, len)
    }

    #[inline]
    fn push(&mut self, sequence: &mut Self::Sequence, item: Self::Value) -> Result<()> {
        sequence.push(item);
        Ok(())
    }

    #[inline]
    fn push_plain(&mut self, sequence: &mut Self::Sequence, item: Self::Value) -> Result<()> {
        sequence.push_plain(item);
        Ok(())
    }

    #[inline]
    fn finish_sequence(&mut self, sequence: Self::Sequence) -> Result<Self::Value> {
        match sequence.kind() {
            SequenceKind::List | SequenceKind::Tuple => Ok(sequence.finish()),
            kind => self.finish_rare(kind, sequence.finish()),
        }
    }

    fn finish_objects(&mut self, sequence: Self::Sequence, shape: Shape) -> Result<Self::Value> {
        flat::objects(self.numpy, sequence.finish(), shape)
    }

    fn map(&mut self, kind: MapKind, len: usize) -> Result<Self::Map> {
        self.open_map(kind, len)
    }

    #[inline(always)]
    fn insert(&mut self, map: &mut Self::Map, key: Self::Value, value: Self::Value) -> Result<bool> {
        self.put(map, key, value)
    }

    #[inline]
    fn insert_int(
        &mut self,
        map: &mut Self::Map,
        key: Self::Value,
        number: i128,
        value: Self::Value,
    ) -> Result<bool> {
        self.put_int(map, key, number, value)
    }

    #[inline]
    fn finish_map(&mut self, map: Self::Map) -> Result<Self::Value> {
        Ok(map.dict.into_any())
    }

    fn set(&mut self, kind: SetKind, len: usize) -> Result<Self::Set> {
        self.open_set(kind, len)
    }

    fn add(&mut self, set: &mut Self::Set, member: Self::Value) -> Result<bool> {
        self.put_member(set, &member)
    }

    fn finish_set(&mut self, set: Self::Set) -> Result<Self::Value> {
        Ok(set.set)
    }

    fn record(
        &mut self,
        kind: RecordKind,
        names: RecordNames<'_>,
        fields: Vec<(TextRef<'_>, Self::Value)>,
    ) -> Result<Self::Value> {
        self.build_record(kind, names, fields)
    }

    fn enum_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Self::Value,
    ) -> Result<Self::Value> {
        self.build_member(names, name, value)
    }

    fn report(&mut self, entries: Vec<EntryParts<'_, Self::Value>>) -> Result<Self::Value> {
        let py = self.py;
        let mut table = |pairs: Vec<(Self::Value, Self::Value)>| {
            let mut map = self.map(MapKind::Dict, pairs.len())?;
            // X9: the reader has seen that no name comes twice.
            pairs.into_iter().try_for_each(|(name, value)| self.insert(&mut map, name, value).map(drop))?;
            Ok(map.dict)
        };
        let failure = failure::from_entries(py, entries, &mut table)?;
        let error = self.warm.error_of.bind(self.py).call1((failure,));
        error.map_err(|error| scalars::table_error(self.py, &error))
    }

    fn pulse(&mut self) -> Result<()> {
        if self.yields {
            self.py.detach(|| {});
        }
        self.py.check_signals().map_err(|interrupt| {
            self.interrupted = Some(interrupt);
            Error::new(Code::OutOfMemory).note("interrupted")
        })
    }
}
