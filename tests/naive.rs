//! The naive parser, which was written from `proto/` alone, says of every vector what the vector says.

use support::describe::normal;
use support::naive::judge;
use support::vectors::{Vector, accept, reject};

fn all(vectors: Vec<Vector>, check: impl Fn(&Vector) -> Result<(), String>) {
    let wrong: Vec<_> = vectors
        .iter()
        .filter(|vector| vector.for_decode())
        .filter_map(|vector| check(vector).err().map(|why| format!("{}: {why}", vector.name)))
        .collect();
    assert!(wrong.is_empty(), "{} of {} vectors\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

#[test]
fn accept_vectors_are_their_values() {
    all(accept(), |vector| match (judge(&vector.frame, &vector.limits), &vector.value) {
        (Err(refusal), _) => Err(format!("refused: {refusal:?}")),
        (Ok(found), Some(wanted)) if found != normal(wanted) => {
            Err(format!("{found}, not {}", normal(wanted)).chars().take(2000).collect())
        }
        (Ok(_), _) => Ok(()),
    });
}

#[test]
fn reject_vectors_have_code_and_offset() {
    all(reject(), |vector| {
        let wanted = vector.error.as_ref().map(|(code, at)| (code.as_str(), *at));
        let found = judge(&vector.frame, &vector.limits).err();
        if found == wanted { Ok(()) } else { Err(format!("{found:?}, not {wanted:?}")) }
    });
}
