//! Arrays and NumPy scalars.

use crate::array::{ArrayHead, Order, ScalarKind};
use crate::error::{Code, Error, Result};
use crate::limits::{REGION_THRESHOLD, charge};
use crate::wire::marker::{NIL, Node, leaf};
use crate::wire::{raw, size, wide};

use super::{Placed, Writer};

impl Writer<'_> {
    /// An array (A1), in the order that A12 chooses: its bytes follow by [`Writer::array_data`] when this says [`Placed::Inline`].
    pub fn array(&mut self, head: &ArrayHead) -> Result<Placed> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        let (shape, nbytes) = (head.shape().dimensions(), head.nbytes());
        let placed = if nbytes < REGION_THRESHOLD { Placed::Inline } else { Placed::Region };
        let inline = if placed == Placed::Inline { nbytes } else { 0 };
        self.open(charge::array(wide(shape.len()), inline), 0)?;
        self.depth = self.depth.saturating_sub(1);
        self.node(Node::Array, 4)?;
        let (dtype, len) = head.dtype().payload();
        raw::ext(&mut self.out, leaf::DTYPE, dtype.get(..len).unwrap_or_default());
        raw::unsigned(&mut self.out, u64::from(head.shape().order() == Order::F));
        self.array_head(shape.len())?;
        shape.iter().for_each(|&extent| raw::unsigned(&mut self.out, extent));
        match placed {
            Placed::Region => {
                self.region.next(nbytes)?;
                self.out.push(NIL);
            }
            Placed::Inline => {
                let len = u32::try_from(nbytes).map_err(|_| Error::new(Code::BodyLimit))?;
                self.room(size(len).saturating_add(8))?;
                raw::bin_head(&mut self.out, len);
            }
        }
        Ok(placed)
    }

    /// The next bytes of an array that is inline; all together exactly as many as its head says.
    pub fn array_data(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// A NumPy scalar of its wire payload (A9), which the caller has made right.
    pub fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<()> {
        if self.in_key && !kind.is_keyable() {
            return Err(Error::new(Code::NotKeyable));
        }
        self.budget.charge(charge::scalar(wide(payload.len()), kind == ScalarKind::Str))?;
        self.check_length(payload.len())?;
        self.room(payload.len().saturating_add(8))?;
        self.odd |= self.in_key;
        raw::ext(&mut self.out, kind.ext(), payload);
        Ok(())
    }
}
