//! Capabilities, and the promise to gain none.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use crate::{Layer, LockdownError};

/// Set-user-id programs and file capabilities give nothing any more.
pub(crate) fn no_new() -> Result<Layer, LockdownError> {
    set_no_new_privs(true).map_err(|error| LockdownError::new("no_new_privs", error))?;
    Ok(Layer { name: "no_new_privs", detail: "set-user-id programs gain nothing".to_owned() })
}

/// Empties every set. Root is then a user that owns root's files, and no more.
pub(crate) fn drop_all() -> Result<Layer, LockdownError> {
    let refused = |error: Errno| LockdownError::new("capabilities", error);
    let bounding = empty_bounding_set().map_err(refused)?;
    match clear_ambient_capability_set() {
        // Kernels before 4.3 have none.
        Ok(()) | Err(Errno::INVAL) => {}
        Err(error) => return Err(refused(error)),
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(refused)?;
    let detail = if bounding { "none, and none can be gained" } else { "none" };
    Ok(Layer { name: "capabilities", detail: detail.to_owned() })
}

/// Whether the bounding set is empty now. Only a process with CAP_SETPCAP can empty it; to another one, which has no capability and is
/// about to set `no_new_privs`, it gives nothing.
fn empty_bounding_set() -> Result<bool, Errno> {
    for bit in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(one) {
            Ok(false) => continue,
            Ok(true) => {}
            // Past the last capability that this kernel knows.
            Err(Errno::INVAL) => break,
            Err(error) => return Err(error),
        }
        match remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            Err(Errno::PERM) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
