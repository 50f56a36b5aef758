//! Rust's own types as values, where no type of serde's is needed for that.

use bytes::Bytes;
use hookless::{Array, Boxed, Value};

/// What can be an argument, an item or a result as it is; [`hookless::to_value`] makes values of all types of serde's.
pub trait IntoValue {
    /// The value that is sent.
    fn into_value(self) -> Value;
}

macro_rules! values {
    ($($type:ty, $name:pat => $made:expr;)*) => {
        $(impl IntoValue for $type {
            fn into_value(self) -> Value {
                let $name = self;
                $made
            }
        })*
    };
}

values! {
    Value, value => value;
    (), () => Value::None;
    bool, value => Value::Bool(value);
    i64, value => Value::Int(value.into());
    i32, value => Value::Int(i64::from(value).into());
    u32, value => Value::Int(u64::from(value).into());
    u64, value => Value::Int(value.into());
    f64, value => Value::Float(value);
    &str, value => Value::from(value);
    String, value => Value::Str(value);
    // Its memory is sent.
    Vec<u8>, value => Value::Bytes(value);
    // So is this one's, where nobody else holds a part of it; otherwise it is copied.
    Bytes, value => Value::Bytes(Vec::from(value));
    Array, value => Value::Array(Boxed::new(value));
}

/// `None` for none.
impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::None, T::into_value)
    }
}
