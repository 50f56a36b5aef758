//! What joins a check to libFuzzer. A target is one line: `fuzz::target!(check)`, or `fuzz::target!(check, mutator)`.
//!
//! Built by `tools/fuzz.py`, or by cargo-fuzz, a target is a libFuzzer program. Built by plain cargo it replays the files named to it, one after the other:
//! `cargo run -p hookless-fuzz --bin value -- FILE…`.
//!
//! With `HOOKLESS_PLANTED` set in the environment each check looks at a decoder with a planted bug, and has to find it: see
//! [`planted`].

pub use support;

/// Whether the check is to look at a decoder with a planted bug. `tools/fuzz.py --smoke` sees each target find its own.
pub fn planted() -> bool {
    static PLANTED: std::sync::LazyLock<bool> =
        std::sync::LazyLock::new(|| std::env::var_os("HOOKLESS_PLANTED").is_some());
    *PLANTED
}

/// Runs a check over the files named on the command line.
#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that replays files")]
pub fn replay(check: impl Fn(&[u8])) {
    for name in std::env::args_os().skip(1) {
        let bytes = std::fs::read(&name).unwrap_or_else(|error| panic!("{}: {error}", name.display()));
        check(&bytes);
        println!("{}: {} bytes, nothing found", name.display(), bytes.len());
    }
}

/// The program of one target. The mutator is `fn(&[u8], usize, u32) -> Vec<u8>`: a damaged input of at most so many bytes, by a seed.
#[macro_export]
macro_rules! target {
    ($check:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|input: &[u8]| { $check(input) });
        #[cfg(not(fuzzing))]
        fn main() {
            $crate::replay($check);
        }
    };
    ($check:path, $mutator:path) => {
        $crate::target!($check);
        const _: fn(&[u8], usize, u32) -> Vec<u8> = $mutator;
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            // One in four is left to libFuzzer, which knows the constants that the code compares with.
            if seed % 4 == 0 {
                return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            }
            let made = $mutator(&data[..size], max_size, seed);
            let len = made.len().min(max_size);
            data[..len].copy_from_slice(&made[..len]);
            len
        });
    };
}
