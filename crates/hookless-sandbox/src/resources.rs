//! Limits on what may be used up. Each lowers what is there, and never raises it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{Layer, LockdownError};

/// The most that may be used; none leaves a limit as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Address space in bytes. The data limit would be nearer to what is in use, but shared and growing mappings, and pages made
    /// read-only once they are full, escape it.
    pub memory: Option<u64>,
    /// Processor seconds of all threads; SIGXCPU comes then, and SIGKILL a second later.
    pub cpu_seconds: Option<u64>,
    /// The largest file that may be written, in bytes.
    pub file_size: Option<u64>,
    /// The most descriptors that may be open.
    pub open_files: Option<u64>,
    /// The most threads and processes of the user, those of other programs included. The kernel exempts root.
    pub processes: Option<u64>,
}

impl Resources {
    pub(crate) fn apply(&self) -> Result<Layer, LockdownError> {
        let mut shown = Vec::new();
        for (name, resource, most) in self.each() {
            let hard = if resource == Resource::Cpu { most.saturating_add(1) } else { most };
            lower(resource, most, hard)
                .map_err(|error| LockdownError::new("rlimits", format!("{name}: {error}")))?;
            shown.push(format!("{name} {most}"));
        }
        Ok(Layer { name: "rlimits", detail: shown.join(", ") })
    }

    fn each(&self) -> impl Iterator<Item = (&'static str, Resource, u64)> {
        [
            ("core", Resource::Core, Some(0)),
            ("fsize", Resource::Fsize, self.file_size),
            ("nofile", Resource::Nofile, self.open_files),
            ("as", Resource::As, self.memory),
            ("cpu", Resource::Cpu, self.cpu_seconds),
            ("nproc", Resource::Nproc, self.processes),
        ]
        .into_iter()
        .filter_map(|(name, resource, most)| Some((name, resource, most?)))
    }
}

/// Lowers a limit to these values, unless it is lower already.
fn lower(resource: Resource, soft: u64, hard: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let least = |value: Option<u64>, most: u64| Some(value.map_or(most, |value| value.min(most)));
    setrlimit(resource, Rlimit { current: least(now.current, soft), maximum: least(now.maximum, hard) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_lowered_and_stay_lowered() {
        lower(Resource::Core, 4096, 4096).unwrap();
        lower(Resource::Core, 1 << 20, 1 << 20).unwrap();
        let now = getrlimit(Resource::Core);
        assert!(now.current.is_some_and(|soft| soft <= 4096));
        assert!(now.maximum.is_some_and(|hard| hard <= 4096));
    }
}
