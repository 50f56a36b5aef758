//! seccomp: every system call that is not listed is denied.
//!
//! Two filters, since each has one answer. The first is the allowlist: what it does not allow fails with ENOSYS, which C libraries take
//! as "this kernel is older" and do without; so do numbers that nobody knows yet and those of the x32 ABI. The second turns that into
//! EPERM for the calls that are known to be forbidden, so that people see "Operation not permitted". Where both deny, the kernel takes the answer
//! of the filter that came last; where one denies, it is denied. A call by another architecture's ABI (`int 0x80`) ends the process.

mod table;

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use crate::{Layer, LockdownError};
use table::{Check, Test};

/// Rules by the number of a system call; no rule means any arguments.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(crate) fn restrict() -> Result<Layer, LockdownError> {
    let failed = |error: &dyn std::fmt::Display| LockdownError::new("seccomp", error);
    let [first, second] = programs(std::process::id()).map_err(|error| failed(&error))?;
    apply_filter(&first).map_err(|error| failed(&error))?;
    apply_filter(&second).map_err(|error| failed(&error))?;
    let detail = format!(
        "allowlist of {} system calls, {} of them with some arguments only ({} instructions)",
        table::allowed().len() + table::checked(0).len(),
        table::checked(0).len(),
        first.len() + second.len()
    );
    Ok(Layer { name: "seccomp", detail })
}

/// The two filters, for the process of this id.
fn programs(pid: u32) -> Result<[BpfProgram; 2], BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let errno = |number: i32| SeccompAction::Errno(number.unsigned_abs());
    let allow = SeccompFilter::new(allowed(pid)?, errno(libc::ENOSYS), SeccompAction::Allow, arch)?;
    let deny = SeccompFilter::new(denied(pid)?, SeccompAction::Allow, errno(libc::EPERM), arch)?;
    Ok([allow.try_into()?, deny.try_into()?])
}

/// What passes: the listed calls, those with checks once per way to meet all of them. Also the two calls that put the second filter in
/// force, which denies them from then on.
fn allowed(pid: u32) -> Result<Rules, BackendError> {
    let mut rules: Rules = table::allowed().into_iter().map(|call| (call, Vec::new())).collect();
    for (call, checks) in table::checked(pid) {
        let mut ways: Vec<Vec<SeccompCondition>> = vec![Vec::new()];
        for check in &checks {
            let met = check.met()?;
            ways = ways
                .iter()
                .flat_map(|way| met.iter().map(|one| [&way[..], std::slice::from_ref(one)].concat()))
                .collect();
        }
        rules.insert(call, ways.into_iter().map(SeccompRule::new).collect::<Result<_, _>>()?);
    }
    let no_new_privs = table::one_of(0, [table::number(libc::PR_SET_NO_NEW_PRIVS)]).met()?;
    rules.entry(libc::SYS_prctl).or_default().push(SeccompRule::new(no_new_privs)?);
    rules.insert(libc::SYS_seccomp, Vec::new());
    Ok(rules)
}

/// What is known and does not pass: every number that kernels have given out and that is not allowed, and the failed checks.
fn denied(pid: u32) -> Result<Rules, BackendError> {
    let mut rules: Rules = table::KNOWN.into_iter().flatten().map(|call| (call, Vec::new())).collect();
    for call in table::allowed().into_iter().chain(table::ABSENT) {
        rules.remove(&call);
    }
    for (call, checks) in table::checked(pid) {
        let mut failures = Vec::new();
        for check in &checks {
            for way in check.failed()? {
                failures.push(SeccompRule::new(way)?);
            }
        }
        rules.insert(call, failures);
    }
    Ok(rules)
}

impl Check {
    fn when(&self, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
        // Every argument that is checked is an int or a word of flags below 2^32, of which the kernel reads the lower half.
        SeccompCondition::new(self.argument, SeccompCmpArgLen::Dword, operator, value)
    }

    /// The ways to meet it.
    fn met(&self) -> Result<Vec<SeccompCondition>, BackendError> {
        match &self.test {
            Test::OneOf(values) => values.iter().map(|&value| self.when(SeccompCmpOp::Eq, value)).collect(),
            Test::Bits { mask, value } => Ok(vec![self.when(SeccompCmpOp::MaskedEq(*mask), *value)?]),
        }
    }

    /// The ways to fail it, each of which is a list of conditions.
    fn failed(&self) -> Result<Vec<Vec<SeccompCondition>>, BackendError> {
        match &self.test {
            Test::OneOf(values) => {
                let none = values.iter().map(|&value| self.when(SeccompCmpOp::Ne, value));
                Ok(vec![none.collect::<Result<_, _>>()?])
            }
            Test::Bits { mask, value } => (0..u64::BITS)
                .map(|bit| 1 << bit)
                .filter(|bit| mask & bit != 0)
                .map(|bit| Ok(vec![self.when(SeccompCmpOp::MaskedEq(bit), !value & bit)?]))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_compile_and_are_not_empty() {
        let [allow, deny] = programs(7).unwrap();
        assert!(allow.len() > 500 && deny.len() > 500, "{} {}", allow.len(), deny.len());
    }

    #[test]
    fn no_call_is_in_two_lists() {
        let mut all = table::allowed();
        all.extend(table::checked(7).into_iter().map(|(call, _)| call));
        all.extend(table::ABSENT);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn what_must_never_be_allowed_is_not() {
        let (allowed, denied) = (allowed(7).unwrap(), denied(7).unwrap());
        for call in [
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_open,
            libc::SYS_pidfd_getfd,
            libc::SYS_pidfd_send_signal,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_tkill,
            libc::SYS_fchmod,
            libc::SYS_fchmodat,
            libc::SYS_fchown,
            libc::SYS_fchownat,
            libc::SYS_utimensat,
            libc::SYS_setxattr,
            libc::SYS_fsetxattr,
            libc::SYS_io_uring_setup,
            libc::SYS_bpf,
            libc::SYS_userfaultfd,
            libc::SYS_perf_event_open,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_shmget,
            libc::SYS_msgget,
            libc::SYS_mq_open,
            libc::SYS_memfd_create,
            libc::SYS_mount,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_sethostname,
            libc::SYS_setpriority,
            libc::SYS_ioprio_set,
            libc::SYS_sched_setscheduler,
            libc::SYS_move_pages,
            libc::SYS_process_madvise,
            libc::SYS_kcmp,
            libc::SYS_open_by_handle_at,
            libc::SYS_inotify_add_watch,
            libc::SYS_setsockopt,
        ] {
            assert!(!allowed.contains_key(&call), "{call} is allowed");
            assert!(denied[&call].is_empty(), "{call} is denied for some arguments only");
        }
        assert!(!allowed.contains_key(&libc::SYS_clone3) && !denied.contains_key(&libc::SYS_clone3));
        assert!(denied[&libc::SYS_seccomp].is_empty(), "a third filter can be added");
        // With other arguments than these they reach other processes: there must be rules.
        let checked =
            [libc::SYS_clone, libc::SYS_kill, libc::SYS_tgkill, libc::SYS_prlimit64, libc::SYS_fcntl];
        // With MSG_OOB they reach code of the kernel that is better left alone.
        for call in checked.into_iter().chain([libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_recvfrom]) {
            assert!(!allowed[&call].is_empty(), "{call} is not checked");
        }
    }
}
