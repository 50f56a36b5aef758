//! What a child gives up before it runs foreign code.
//!
//! [`Lockdown::apply`] is called once, in the child, while it has one thread and no foreign code. The order is fixed: a later layer
//! would forbid what an earlier one needs.
//!
//! | layer | module | what it takes away |
//! |---|---|---|
//! | capabilities | `privileges` | what root may do beyond a user |
//! | `no_new_privs` | `privileges` | what a set-user-id program would give back |
//! | rlimits | `resources` | memory, processor time, file size, descriptors, threads past a bound |
//! | landlock | `files` | every file that is not listed |
//! | seccomp | `calls` | every system call that is not listed |
#![forbid(unsafe_code)]

mod calls;
mod files;
mod privileges;
mod resources;

use std::fmt;
use std::path::PathBuf;

pub use resources::Resources;

/// What to give up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lockdown {
    /// Bounds that are always set.
    pub resources: Resources,
    /// The barriers around files and system calls; none leaves the process what its user may do.
    pub barriers: Option<Barriers>,
}

/// The barriers around foreign code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Barriers {
    /// Files and folders that may be read; one that is not there is passed over.
    pub readable: Vec<PathBuf>,
    /// Folders that may be read, and have to be there.
    pub required: Vec<PathBuf>,
    /// Folders that may be written, and have to be there.
    pub writable: Vec<PathBuf>,
    /// Take what the kernel offers, and report what it does not; otherwise that is an error.
    pub best_effort: bool,
}

/// A layer that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name, such as `landlock`.
    pub name: &'static str,
    /// What it does here, in words for a reader.
    pub detail: String,
}

/// A layer that could not be put in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockdownError {
    /// Its name.
    pub layer: &'static str,
    /// What stood in the way.
    pub reason: String,
}

impl LockdownError {
    fn new(layer: &'static str, reason: impl fmt::Display) -> Self {
        LockdownError { layer, reason: reason.to_string() }
    }
}

impl fmt::Display for LockdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "isolation layer {} could not be put in force: {}", self.layer, self.reason)
    }
}

impl std::error::Error for LockdownError {}

/// What [`Lockdown::apply`] came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Layers in force, in the order in which they were put there.
    pub layers: Vec<Layer>,
    /// Layers that are not, with [`Barriers::best_effort`].
    pub missing: Vec<LockdownError>,
}

impl Applied {
    fn take(&mut self, layer: Result<Layer, LockdownError>, best_effort: bool) -> Result<(), LockdownError> {
        match layer {
            Ok(layer) => self.layers.push(layer),
            Err(missing) if best_effort => self.missing.push(missing),
            Err(missing) => return Err(missing),
        }
        Ok(())
    }
}

impl Lockdown {
    /// Gives everything up, for this process and what it starts, for good.
    ///
    /// # Errors
    /// The first layer that cannot be put in force, or a second thread: layers bind the thread that applies them. Those that came
    /// before stay in force.
    pub fn apply(&self) -> Result<Applied, LockdownError> {
        let mut applied = Applied::default();
        let Some(barriers) = &self.barriers else {
            applied.take(privileges::no_new(), false)?;
            applied.take(self.resources.apply(), false)?;
            return Ok(applied);
        };
        alone()?;
        let best_effort = barriers.best_effort;
        applied.take(privileges::drop_all(), best_effort)?;
        applied.take(privileges::no_new(), best_effort)?;
        applied.take(self.resources.apply(), best_effort)?;
        applied.take(files::restrict(barriers), best_effort)?;
        applied.take(calls::restrict(), best_effort)?;
        Ok(applied)
    }
}

/// Landlock and seccomp bind the calling thread only, so there must be no other.
fn alone() -> Result<(), LockdownError> {
    let threads = std::fs::read_dir("/proc/self/task").map(Iterator::count);
    match threads {
        // Without /proc it cannot be asked; the bootstrap starts no thread.
        Err(_) | Ok(1) => Ok(()),
        Ok(count) => Err(LockdownError::new("threads", format!("{count} threads run already"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_layer() {
        let text = LockdownError::new("seccomp", "no").to_string();
        assert_eq!(text, "isolation layer seccomp could not be put in force: no");
    }

    #[test]
    fn a_missing_layer_is_an_error_or_is_reported() {
        let missing = || Err(LockdownError::new("landlock", "not there"));
        let mut applied = Applied::default();
        assert!(applied.take(missing(), false).is_err());
        assert!(applied.take(missing(), true).is_ok());
        assert_eq!(applied.missing.len(), 1);
    }

    #[test]
    fn other_threads_are_an_error() {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || receiver.recv());
        let refused = Lockdown { barriers: Some(Barriers::default()), ..Lockdown::default() }.apply();
        assert_eq!(refused.unwrap_err().layer, "threads");
        drop(sender);
        assert!(other.join().unwrap().is_err());
    }
}
