//! Arrays: NumPy's, or inert ones for a host without it.

use hookless::array::{ArrayClass, ArrayHead};
use hookless::wire::{BytesKind, Data};
use hookless::{Code, Dtype, Error, Letter, Order, Result};
use pyo3::prelude::*;

use super::{PyBuilder, Source};
use crate::array::Array;
use crate::ffi::make;
use crate::ffi::ndarray::{self, Form};

impl<'py> PyBuilder<'_, 'py> {
    pub(super) fn build_array(&mut self, head: ArrayHead, data: Data<'_>) -> Result<Bound<'py, PyAny>> {
        let py = self.py;
        let Some(numpy) = self.numpy else {
            let bytes = match data {
                Data::Inline(bytes) => make::bytes(py, bytes)?,
                Data::Region { len, .. } => self.targets().reserve_bytes(py, BytesKind::Bytes, len)?,
            };
            return Array::of(head, bytes);
        };
        if head.dtype().itemsize() == 0 && head.dtype().letter() != Letter::Void {
            return numpy.zero_width(py, &head);
        }
        let descr = numpy.descr(py, head.dtype())?;
        let class = match head.class() {
            ArrayClass::Plain => None,
            ArrayClass::Record => Some(numpy.recarray.bind(py)),
        };
        let (shape, order) = (head.shape().dimensions(), head.shape().order());
        let form = Form { descr: &descr, class, dtype: head.dtype(), shape, order, nbytes: head.nbytes() };
        self.formed(&form, data)
    }

    /// An array of numbers in C order; of most of them, without a head.
    #[inline]
    pub(super) fn build_numbers(
        &mut self,
        dtype: &Dtype,
        shape: &[u64],
        data: Data<'_>,
    ) -> Result<Bound<'py, PyAny>> {
        let Some(descr) = self.numpy.and_then(|numpy| numpy.number(self.py, dtype)) else {
            return self.build_array(ArrayHead::of_parts(dtype, shape)?, data);
        };
        let nbytes = match data {
            Data::Inline(bytes) => bytes.len() as u64,
            Data::Region { len, .. } => len,
        };
        self.formed(&Form { descr, class: None, dtype, shape, order: Order::C, nbytes }, data)
    }

    /// An array of NumPy's.
    #[inline]
    fn formed(&mut self, form: &Form<'_, 'py>, data: Data<'_>) -> Result<Bound<'py, PyAny>> {
        match (data, &mut self.source) {
            (Data::Inline(bytes), _) => ndarray::copy(form, bytes),
            (Data::Region { .. }, Source::Fill(targets)) => ndarray::reserve(form, targets),
            (Data::Region { offset, len }, Source::View { owner, region, targets }) => {
                // The plan counts this entry too; nothing needs to be put in.
                targets.skip()?;
                let part = usize::try_from(offset)
                    .ok()
                    .zip(usize::try_from(len).ok())
                    .and_then(|(from, len)| region.get(from..from.checked_add(len)?));
                ndarray::view(form, part.ok_or_else(|| Error::new(Code::Truncated))?, owner)
            }
        }
    }
}
