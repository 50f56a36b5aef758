//! What a child gives up before it runs foreign code.
//!
//! [`Lockdown::apply`] is called once, in the child, before any foreign code and any thread. This first form sets `no_new_privs` and
//! resource limits; Landlock and seccomp join it here.
#![forbid(unsafe_code)]

use std::fmt;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What to give up. Each limit lowers the soft and the hard value, and never raises one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lockdown {
    /// The largest file that may be written, in bytes.
    pub file_size: u64,
    /// The most descriptors that may be open.
    pub open_files: u64,
    /// Address space in bytes; none leaves it as it is, since NumPy and BLAS reserve far more than they touch.
    pub address_space: Option<u64>,
    /// Processor seconds; none leaves it as it is.
    pub cpu_seconds: Option<u64>,
}

impl Default for Lockdown {
    fn default() -> Self {
        Lockdown { file_size: 1 << 30, open_files: 256, address_space: None, cpu_seconds: None }
    }
}

/// A layer that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name, such as `no_new_privs`.
    pub name: &'static str,
    /// What it does here, in words for a reader.
    pub detail: String,
}

/// A layer that could not be put in force.
#[derive(Debug)]
pub struct LockdownError {
    /// Its name.
    pub layer: &'static str,
    /// What the kernel answered.
    pub source: io::Error,
}

impl fmt::Display for LockdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "isolation layer {} could not be put in force: {}", self.layer, self.source)
    }
}

impl std::error::Error for LockdownError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Lockdown {
    /// Gives everything up, for this process and what it starts, for good.
    ///
    /// # Errors
    /// The first layer that the kernel refuses; those before it stay in force.
    pub fn apply(&self) -> Result<Vec<Layer>, LockdownError> {
        let refused = |layer| move |error: rustix::io::Errno| LockdownError { layer, source: error.into() };
        rustix::thread::set_no_new_privs(true).map_err(refused("no_new_privs"))?;
        let privileges =
            Layer { name: "no_new_privs", detail: "set-user-id programs gain nothing".to_owned() };
        let mut shown = Vec::new();
        for (name, resource, most) in self.resources() {
            lower(resource, most).map_err(refused("rlimits"))?;
            shown.push(format!("{name} {most}"));
        }
        Ok(vec![privileges, Layer { name: "rlimits", detail: shown.join(", ") }])
    }

    fn resources(&self) -> impl Iterator<Item = (&'static str, Resource, u64)> {
        [
            ("core", Resource::Core, Some(0)),
            ("fsize", Resource::Fsize, Some(self.file_size)),
            ("nofile", Resource::Nofile, Some(self.open_files)),
            ("as", Resource::As, self.address_space),
            ("cpu", Resource::Cpu, self.cpu_seconds),
        ]
        .into_iter()
        .filter_map(|(name, resource, most)| Some((name, resource, most?)))
    }
}

/// Lowers both values of a limit to `most`, unless they are lower already.
fn lower(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let least = |value: Option<u64>| Some(value.map_or(most, |value| value.min(most)));
    setrlimit(resource, Rlimit { current: least(now.current), maximum: least(now.maximum) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_lowered_and_stay_lowered() {
        lower(Resource::Core, 4096).unwrap();
        lower(Resource::Core, 1 << 20).unwrap();
        let now = getrlimit(Resource::Core);
        assert!(now.current.is_some_and(|soft| soft <= 4096));
        assert!(now.maximum.is_some_and(|hard| hard <= 4096));
    }

    #[test]
    fn an_error_names_the_layer() {
        let source = io::Error::from_raw_os_error(1);
        let text = LockdownError { layer: "no_new_privs", source }.to_string();
        assert!(text.starts_with("isolation layer no_new_privs could not be put in force"), "{text}");
    }
}
