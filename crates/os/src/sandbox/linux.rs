//! Linux: another user, landlock and seccomp.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, path_beneath_rules,
};
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Confined, Enforced, Rules};

/// User and group that own nothing: `nobody`, the overflow user of the kernel.
const NOBODY: u32 = 65_534;
/// The newest rights over files that are asked for; older kernels know fewer.
const FILE_RIGHTS: ABI = ABI::V5;
/// What programs and libraries need of a system: themselves, how names are looked up, what the kernel says.
const SYSTEM_PATHS: [&str; 16] = [
    "/bin",
    "/dev/null",
    "/dev/urandom",
    "/dev/zero",
    "/etc",
    "/lib",
    "/lib64",
    "/nix/store",
    "/proc",
    "/run/resolvconf",
    "/run/samba",
    "/run/systemd/resolve",
    "/sbin",
    "/sys",
    "/usr",
    "/var/cache/samba",
];
/// `TIOCSTI` and `TIOCLINUX` of `ioctl_tty(2)`.
const TYPING: [u64; 2] = [0x5412, 0x541c];
/// What may still be written to where no file may be.
const SINKS: [&str; 1] = ["/dev/null"];

pub(super) fn confine(rules: &Rules) -> io::Result<Confined> {
    prctl::set_no_new_privs()?;
    let files = confine_files(rules)?;
    if !rules.keeps_user {
        drop_root()?;
    }
    let system_calls = filter_system_calls(rules.network)?;
    Ok(Confined {
        unprivileged: !Uid::effective().is_root(),
        files,
        system_calls,
    })
}

/// Root becomes nobody, and its capabilities go with it (`capabilities(7)`, "Effect of user ID changes").
/// A user namespace that has no such user leaves us what we are, which [`Confined`] says.
fn drop_root() -> io::Result<()> {
    if !Uid::effective().is_root() {
        return Ok(());
    }
    let (group, user) = (Gid::from_raw(NOBODY), Uid::from_raw(NOBODY));
    let dropped = setgroups(&[])
        .and_then(|()| setresgid(group, group, group))
        .and_then(|()| setresuid(user, user, user));
    match dropped {
        Err(nix::Error::EINVAL) => Ok(()),
        dropped => Ok(dropped?),
    }
}

fn confine_files(rules: &Rules) -> io::Result<Enforced> {
    let (all, read) = (
        AccessFs::from_all(FILE_RIGHTS),
        AccessFs::from_read(FILE_RIGHTS),
    );
    let system = SYSTEM_PATHS.iter().map(Path::new);
    let reads: Vec<&Path> = system
        .chain(rules.reads.iter().map(PathBuf::as_path))
        .collect();
    let sinks = SINKS.iter().map(Path::new);
    let writes: Vec<&Path> = sinks
        .chain(rules.writes.iter().map(PathBuf::as_path))
        .collect();
    let enforced = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(reads, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(writes, all)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(io::Error::other)?;
    Ok(match enforced.ruleset {
        RulesetStatus::FullyEnforced => Enforced::Fully,
        RulesetStatus::PartiallyEnforced => Enforced::Partly,
        RulesetStatus::NotEnforced => Enforced::No,
    })
}

/// Lets through what a program needs that only computes, talks over sockets and reads files; all else is
/// "function not implemented", as with an older kernel, so that libraries fall back where they can.
fn filter_system_calls(network: bool) -> io::Result<bool> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(false);
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in CALLS.iter().chain(OLD_CALLS) {
        rules.insert(*call, Vec::new());
    }
    rules.insert(libc::SYS_clone, vec![threads_only()?]);
    rules.insert(libc::SYS_ioctl, vec![no_typing()?]);
    let families: &[libc::c_int] = match network {
        true => &[
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_UNIX,
            libc::AF_NETLINK,
        ],
        false => &[libc::AF_UNIX],
    };
    let families: Result<_, _> = families.iter().map(|family| family_is(*family)).collect();
    rules.insert(libc::SYS_socket, families?);
    let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, architecture)
        .map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    match seccompiler::apply_filter_all_threads(&program) {
        Ok(()) => Ok(true),
        // A kernel without it.
        Err(seccompiler::Error::Seccomp(error)) if error.raw_os_error() == Some(libc::EINVAL) => {
            Ok(false)
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

type Rule = Result<SeccompRule, io::Error>;

fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, io::Error> {
    let length = SeccompCmpArgLen::Dword;
    SeccompCondition::new(argument, length, operator, value).map_err(io::Error::other)
}

/// A thread of this process, and no process of its own. The flags of `clone3` lie in memory, where no filter
/// sees them; without it the C library takes `clone`.
fn threads_only() -> Rule {
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let condition = rule(0, SeccompCmpOp::MaskedEq(thread), thread)?;
    SeccompRule::new(vec![condition]).map_err(io::Error::other)
}

/// Any question to a device but those that put characters into the terminal of whoever started us.
fn no_typing() -> Rule {
    let conditions: Result<_, _> = TYPING
        .iter()
        .map(|request| rule(1, SeccompCmpOp::Ne, *request))
        .collect();
    SeccompRule::new(conditions?).map_err(io::Error::other)
}

fn family_is(family: libc::c_int) -> Rule {
    let condition = rule(0, SeccompCmpOp::Eq, u64::from(family.unsigned_abs()))?;
    SeccompRule::new(vec![condition]).map_err(io::Error::other)
}

/// System calls that every architecture has.
const CALLS: &[i64] = &[
    // memory
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mincore,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    // threads, time and this process
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getcpu,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getresuid,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_nanosleep,
    libc::SYS_prctl,
    libc::SYS_prlimit64,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_sysinfo,
    libc::SYS_tgkill,
    libc::SYS_times,
    libc::SYS_umask,
    libc::SYS_uname,
    // descriptors
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_write,
    libc::SYS_writev,
    // files, as far as landlock and the user let it
    libc::SYS_copy_file_range,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fdatasync,
    libc::SYS_fgetxattr,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_linkat,
    libc::SYS_lseek,
    libc::SYS_mkdirat,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_readlinkat,
    libc::SYS_renameat2,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_symlinkat,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
    // sockets, of the families that are let through
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_listen,
    libc::SYS_recvfrom,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_socketpair,
];

/// Those that newer architectures have no more.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[i64] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_chmod,
    libc::SYS_dup2,
    libc::SYS_epoll_wait,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_open,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_symlink,
    libc::SYS_time,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[i64] = &[];
