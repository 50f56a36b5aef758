//! Keys that no dict may hold, found before anything is encoded.

use std::collections::HashSet;

use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::Value;
use crate::wire::{MapKind, Writer, write_value};

/// T5: refuses keys that are not keyable (K2) or equal (K3), as the wire's writer does.
pub(super) fn check(pairs: &[(Value, Value)]) -> Result<()> {
    // Text is equal only to the same text, so that most dicts are done here.
    let names: Option<Vec<&str>> = pairs.iter().map(|(key, _)| text(key)).collect();
    if let Some(names) = names {
        return match first_repeated(&names) {
            Some(index) => Err(at(Error::new(Code::DuplicateKey), index)),
            None => Ok(()),
        };
    }
    Limits::at_ceilings(|limits| check_within(pairs, limits))
}

fn check_within(pairs: &[(Value, Value)], limits: &Limits) -> Result<()> {
    let mut writer = Writer::new(Vec::new(), limits, false)?;
    let mut map = writer.map(MapKind::Dict, pairs.len())?;
    for (index, (key, _)) in pairs.iter().enumerate() {
        writer.key(&mut map);
        // What is in key position never goes to the region.
        write_value(key, &mut writer, &mut Vec::new())
            .and_then(|()| writer.value(&mut map))
            .and_then(|()| writer.none())
            .map_err(|error| at(error, index))?;
    }
    writer.end_map(map);
    Ok(())
}

/// The text of a key that is one.
pub(super) fn text(key: &Value) -> Option<&str> {
    match key {
        Value::Str(text) => Some(text),
        _ => None,
    }
}

fn first_repeated(names: &[&str]) -> Option<usize> {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().position(|name| !seen.insert(*name))
}

fn at(error: Error, index: usize) -> Error {
    error.within(|path| path.push_str(&format!(".keys[{index}]")))
}
