//! The lists of system calls. CPython, NumPy with its BLAS threads, pandas and asyncio work with these; nothing here changes anything
//! outside of the process but the files that Landlock lets it write.

use std::ops::Range;

/// A condition on one argument.
pub(super) struct Check {
    pub(super) argument: u8,
    pub(super) test: Test,
}

pub(super) enum Test {
    /// The argument is one of these.
    OneOf(Vec<u64>),
    /// The bits of the mask are those of the value.
    Bits { mask: u64, value: u64 },
}

/// Numbers that kernels up to 6.16 have given out.
#[cfg(target_arch = "x86_64")]
pub(super) const KNOWN: [Range<i64>; 2] = [0..335, 424..470];
/// Numbers that kernels up to 6.16 have given out.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const KNOWN: [Range<i64>; 2] = [0..295, 424..470];

/// Calls that fail with ENOSYS, because then C libraries take the older call, whose arguments a filter can see.
pub(super) const ABSENT: [i64; 3] = [libc::SYS_clone3, libc::SYS_openat2, libc::SYS_futex_waitv];

/// Calls that pass with any arguments.
pub(super) fn allowed() -> Vec<i64> {
    [FILES, MEMORY, THREADS, TIME, SIGNALS, WAITING, SOCKETS, SELF, LEGACY].concat()
}

/// Files: what may be opened is Landlock's to say. None changes modes, owners, times or attributes, which Landlock does not see.
const FILES: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_umask,
    libc::SYS_flock,
];

/// Memory of this process. No memory file: it would not count as address space.
const MEMORY: &[i64] = &[
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_brk,
    libc::SYS_membarrier,
];

const THREADS: &[i64] = &[
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_sched_yield,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getcpu,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_restart_syscall,
];

const TIME: &[i64] = &[
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
];

/// Handling them; sending them is checked, below.
const SIGNALS: &[i64] = &[
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack,
    libc::SYS_signalfd4,
    libc::SYS_wait4,
    libc::SYS_waitid,
];

const WAITING: &[i64] = &[
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
];

/// For the channel, and for pairs that asyncio wakes itself with. A pair is connected for good: no socket, bind, connect or accept.
const SOCKETS: &[i64] =
    &[libc::SYS_shutdown, libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_getsockopt];

/// What this process is, and what it has used.
const SELF: &[i64] = &[
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getgroups,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_capget,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_getrusage,
    libc::SYS_getpriority,
    libc::SYS_getrandom,
];

/// Older forms of the above, which x86-64 has and C libraries still use.
#[cfg(target_arch = "x86_64")]
const LEGACY: &[i64] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_getdents,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_getpgrp,
    libc::SYS_arch_prctl,
];
/// Older forms of the above: none but this one.
#[cfg(not(target_arch = "x86_64"))]
const LEGACY: &[i64] = &[libc::SYS_renameat];

/// Commands of fcntl. Not among them: F_SETOWN and F_SETSIG, by which the kernel would send any signal to any process of the user; and
/// leases and notifications on others' files.
const FCNTL: &[i32] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_GETPIPE_SZ,
    libc::F_GET_SEALS,
];

/// Requests of ioctl: whether it is a terminal (TCGETS, TCGETS2, TIOCGWINSZ), flags of a descriptor (FIONCLEX, FIOCLEX, FIONBIO), and how
/// much can be read (FIONREAD). FIOASYNC and FIOSETOWN would send signals, TIOCSTI would type.
const IOCTL: &[u64] = &[0x5401, 0x802c_542a, 0x5413, 0x5450, 0x5451, 0x5421, 0x541b];

/// Requests of prctl: the name of a thread and of a mapping, death with the parent, huge pages, and what is in force.
const PRCTL: &[i32] = &[
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_VMA,
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_SET_THP_DISABLE,
    libc::PR_GET_THP_DISABLE,
    libc::PR_GET_DUMPABLE,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_SECCOMP,
    libc::PR_CAPBSET_READ,
];

/// Calls that pass with some arguments only; `pid` is this process.
pub(super) fn checked(pid: u32) -> Vec<(i64, Vec<Check>)> {
    let own = u64::from(pid);
    let thread = number(libc::CLONE_THREAD);
    let out_of_band = number(libc::MSG_OOB);
    vec![
        // A thread, not a process. Its other flags cannot reach further: the kernel refuses namespaces together with this one.
        (libc::SYS_clone, vec![bits(0, thread, thread)]),
        (libc::SYS_kill, vec![one_of(0, [own])]),
        (libc::SYS_tgkill, vec![one_of(0, [own])]),
        (libc::SYS_prlimit64, vec![one_of(0, [0, own])]),
        (libc::SYS_sched_getaffinity, vec![one_of(0, [0, own])]),
        (libc::SYS_sched_setaffinity, vec![one_of(0, [0])]),
        // Streams only: a datagram socket of a pair can still send to any path, such as that of the system's log.
        (
            libc::SYS_socketpair,
            vec![one_of(0, [number(libc::AF_UNIX)]), bits(1, 0xf, number(libc::SOCK_STREAM))],
        ),
        // No out-of-band bytes: nothing here needs them, and the kernel's code for them in Unix sockets has let sandboxed code out before.
        (libc::SYS_sendto, vec![bits(3, out_of_band, 0)]),
        (libc::SYS_recvfrom, vec![bits(3, out_of_band, 0)]),
        (libc::SYS_sendmsg, vec![bits(2, out_of_band, 0)]),
        (libc::SYS_recvmsg, vec![bits(2, out_of_band, 0)]),
        (libc::SYS_sendmmsg, vec![bits(3, out_of_band, 0)]),
        (libc::SYS_recvmmsg, vec![bits(3, out_of_band, 0)]),
        (libc::SYS_fcntl, vec![one_of(1, FCNTL.iter().copied().map(number))]),
        (libc::SYS_ioctl, vec![one_of(1, IOCTL.iter().copied())]),
        (libc::SYS_prctl, vec![one_of(0, PRCTL.iter().copied().map(number))]),
    ]
}

pub(super) fn number(constant: i32) -> u64 {
    u64::from(constant.unsigned_abs())
}

pub(super) fn one_of(argument: u8, values: impl IntoIterator<Item = u64>) -> Check {
    Check { argument, test: Test::OneOf(values.into_iter().collect()) }
}

fn bits(argument: u8, mask: u64, value: u64) -> Check {
    Check { argument, test: Test::Bits { mask, value } }
}
