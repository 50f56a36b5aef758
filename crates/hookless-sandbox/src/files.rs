//! Landlock: every file that is not listed is closed.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use crate::{Barriers, Layer, LockdownError};

/// The first version that keeps a file from being truncated (Linux 6.2): without that, reading one is enough to empty it.
const LEAST: ABI = ABI::V3;
/// The newest version that the proofs were run with. What it adds to the least one is taken where it is there: devices' ioctl, TCP,
/// signals and abstract sockets, all of which seccomp denies as well.
const NEWEST: ABI = ABI::V7;

const NEEDED: &str = "Landlock ABI 3 is needed, which Linux 6.2 and newer can have";

const READ_FILE: BitFlags<AccessFs> = make_bitflags!(AccessFs::ReadFile);
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});
/// No Execute, and no device, socket or FIFO can be made.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | RemoveFile | RemoveDir | MakeDir | MakeReg | MakeSym | Refer
});
const DEVICE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile});
/// A device that holds nothing, and takes anything.
const NULL: &str = "/dev/null";

pub(crate) fn restrict(barriers: &Barriers) -> Result<Layer, LockdownError> {
    let failed = |error: &dyn std::fmt::Display| LockdownError::new("landlock", error);
    let status = ruleset(barriers)
        .and_then(|ruleset| ruleset.restrict_self().map_err(|error| error.to_string()))
        .map_err(|error| failed(&format!("{error} ({NEEDED})")))?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => kernel_abi.unwrap_or(effective_abi as i32),
        LandlockStatus::NotEnabled => return Err(failed(&format!("it is not enabled at boot ({NEEDED})"))),
        LandlockStatus::NotImplemented => return Err(failed(&format!("this kernel has none ({NEEDED})"))),
    };
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(failed(&format!("the kernel did not enforce it ({NEEDED})")));
    }
    let count = barriers.readable.iter().filter(|path| path.exists()).count() + barriers.required.len();
    let detail = format!(
        "ABI {version}: {count} places can be read, {} can be written, no other file can be opened",
        barriers.writable.len()
    );
    Ok(Layer { name: "landlock", detail })
}

fn ruleset(barriers: &Barriers) -> Result<RulesetCreated, String> {
    let level = if barriers.best_effort { CompatLevel::BestEffort } else { CompatLevel::HardRequirement };
    let all = || -> Result<RulesetCreated, landlock::RulesetError> {
        Ruleset::default()
            .set_compatibility(level)
            .handle_access(AccessFs::from_all(LEAST))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()
    };
    let mut ruleset = all().map_err(|error| error.to_string())?;
    for path in &barriers.readable {
        if path.exists() {
            ruleset = allow(ruleset, path, READ)?;
        }
    }
    for path in &barriers.required {
        ruleset = allow(ruleset, path, READ)?;
    }
    for path in &barriers.writable {
        ruleset = allow(ruleset, path, WRITE)?;
    }
    allow(ruleset, Path::new(NULL), DEVICE)
}

fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    // A file has no entries to list; the kernel refuses a rule that says so.
    let access = if path.is_dir() || access == DEVICE { access } else { access & READ_FILE };
    let opened = PathFd::new(path).map_err(|error| named(&error))?;
    ruleset.add_rule(PathBeneath::new(opened, access)).map_err(|error| named(&error))
}
