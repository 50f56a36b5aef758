//! Writes the frames of the vectors into `DIR/accept` and `DIR/reject`, one file each: what fuzzing begins with.
#![expect(clippy::disallowed_methods, reason = "a program that writes files")]

use std::fs;
use std::path::Path;

use support::vectors::{accept, reject};

/// Larger frames make fuzzing slow, and say no more.
const MOST: usize = 40_000;

fn main() {
    let folder = std::env::args_os().nth(1).expect("usage: seeds DIR");
    for (name, vectors) in [("accept", accept()), ("reject", reject())] {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder).expect("a folder that can be made");
        for (index, vector) in vectors.iter().filter(|vector| vector.frame.len() <= MOST).enumerate() {
            fs::write(folder.join(format!("{index:04}")), &vector.frame).expect("a file that can be written");
        }
    }
}
