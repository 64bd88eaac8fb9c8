//! Linux: another user, landlock and seccomp.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use rustix::fs::{FsWord, Gid as GroupId, OFlags, Stat, Uid as UserId, fchown, fstatfs};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Confined, Enforced, Rules, User};
use crate::folder_in_world_writable::exchanged;

/// User and group that own nothing: `nobody`, the overflow user of the kernel.
const NOBODY: u32 = 65_534;
/// The number of standard error; whatever is above is no standard stream.
const STANDARD_DESCRIPTOR_MAX: RawFd = 2;
/// What a mode lets others do.
const FOR_OTHERS: u32 = 0o077;
/// Disks whose file systems keep no owners, by the numbers of `statfs(2)`: FAT, exFAT, and NTFS by its two drivers.
const WITHOUT_OWNERS: [FsWord; 4] = [0x4d44, 0x2011_bab0, 0x7366_746e, 0x5346_544e];
/// The newest rights over files that are asked for; older kernels know fewer.
const FILE_RIGHTS: ABI = ABI::V5;
/// What programs and libraries need of a system: themselves, how names are looked up, what the kernel says. Nothing
/// that root alone may read: a process that stays root could read it (`/etc/shadow`, `/proc/kcore`).
const SYSTEM_PATHS: [&str; 39] = [
    "/bin",
    "/dev/null",
    "/dev/urandom",
    "/dev/zero",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/krb5.conf",
    "/etc/krb5.conf.d",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mdns.allow",
    "/etc/networks",
    "/etc/nscd.conf",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/samba/smb.conf",
    "/etc/services",
    "/etc/timezone",
    "/lib",
    "/lib64",
    "/nix/store",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/proc/sys",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/sbin",
    "/sys",
    "/usr",
];
/// Questions to devices that reach beyond this process: `TIOCSTI` and `TIOCLINUX` of `ioctl_tty(2)` put characters
/// into the terminal of whoever started us; `FIOSETOWN` and `SIOCSPGRP` have the kernel signal another process.
const REACHING_OUT: [u64; 4] = [0x5412, 0x541c, 0x8901, 0x8902];
/// What has the kernel send another process a signal of our choice: `F_SETOWN`, `F_SETSIG` and `F_SETOWN_EX` of
/// `fcntl(2)`.
const SIGNALLING: [u64; 3] = [8, 10, 15];
/// Bits of a mode by which a program runs with its owner's rights (`chmod(2)`), and the sticky one.
const SPECIAL_BITS: u64 = 0o7000;
/// What of root's capabilities a copy is made with: any file of the folders that it was given is read, written and
/// replaced.
const TO_COPY: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);
/// What root needs to become another user.
const TO_DROP_ROOT: [i64; 3] = [
    libc::SYS_setgroups,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
];
/// What reads and fills keyrings.
const OF_KEYRINGS: [i64; 3] = [libc::SYS_add_key, libc::SYS_keyctl, libc::SYS_request_key];
/// What may still be written to where no file may be.
const SINKS: [&str; 1] = ["/dev/null"];

pub(super) fn confine(rules: &Rules) -> io::Result<Confined> {
    prctl::set_no_new_privs()?;
    confine_signals()?;
    let files = confine_files(rules)?;
    if rules.user == User::Unprivileged {
        drop_root()?;
    }
    drop_capabilities(rules.user)?;
    let system_calls = filter_system_calls(rules)?;
    Ok(Confined {
        unprivileged: !Uid::effective().is_root(),
        files,
        system_calls,
    })
}

/// Root becomes nobody, and its capabilities go with it (`capabilities(7)`, "Effect of user ID changes").
/// A user namespace that has no such user leaves us what we are, which [`Confined`] says.
pub(super) fn drop_root() -> io::Result<bool> {
    if !Uid::effective().is_root() {
        return Ok(true);
    }
    let (group, user) = (Gid::from_raw(NOBODY), Uid::from_raw(NOBODY));
    let dropped = setgroups(&[])
        .and_then(|()| setresgid(group, group, group))
        .and_then(|()| setresuid(user, user, user));
    match dropped {
        Err(nix::Error::EINVAL) => Ok(false),
        dropped => Ok(dropped.map(|()| true)?),
    }
}

/// What survived `exec` is what has no close-on-exec flag (`execve(2)`); all that this program opens has it.
pub(super) fn close_inherited() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.parse().ok());
        let number: RawFd = number.ok_or(io::ErrorKind::InvalidData)?;
        if number <= STANDARD_DESCRIPTOR_MAX {
            continue;
        }
        let text = fs::read_to_string(entry.path())?;
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        let flags = flags.ok_or(io::ErrorKind::InvalidData)?;
        if flags & OFlags::CLOEXEC.bits() == 0 {
            nix::unistd::close(number)?;
        }
    }
    Ok(())
}

pub(super) fn give(folder: BorrowedFd<'_>, now: &Stat) -> io::Result<()> {
    if !Uid::effective().is_root() {
        return Ok(());
    }
    if now.st_uid != Uid::effective().as_raw() || now.st_mode & FOR_OTHERS != 0 {
        let kept_by = fstatfs(folder)?.f_type;
        // There every folder is another user's, and no link can be.
        return match WITHOUT_OWNERS.contains(&kept_by) {
            true => Ok(()),
            false => Err(exchanged()),
        };
    }
    let (user, group) = (UserId::from_raw(NOBODY), GroupId::from_raw(NOBODY));
    match fchown(folder, Some(user), Some(group)) {
        // A file system without owners, or a user namespace without such a user.
        Err(Errno::PERM | Errno::INVAL) => Ok(()),
        given => Ok(given?),
    }
}

/// The process that is started has the descriptor too, until it starts its program.
pub(super) fn entrance(folder: BorrowedFd<'_>, _: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

pub(super) fn can_work_here() -> io::Result<bool> {
    let owner = fs::metadata(".")?.uid();
    Ok(!Uid::effective().is_root() || owner == NOBODY)
}

/// Takes what no copy needs of the capabilities of whoever keeps any. No program is started any more that could
/// gain others.
fn drop_capabilities(user: User) -> io::Result<()> {
    let kept = match user {
        User::Unprivileged | User::Kept => TO_COPY,
        User::UnprivilegedLater => TO_COPY | CapabilitySet::SETUID | CapabilitySet::SETGID,
    };
    let now = capabilities(None)?;
    let left = CapabilitySets {
        effective: now.effective & kept,
        permitted: now.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, left)?)
}

/// Lets a process signal no other, and speak to none over a socket without a path, where the kernel knows how
/// to (Linux 6.12). What it can do of that elsewhere, the filter of its system calls leaves it.
fn confine_signals() -> io::Result<()> {
    let scoped = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    scoped.map(drop).map_err(io::Error::other)
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
fn filter_system_calls(asked: &Rules) -> io::Result<bool> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(false);
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let later: &[i64] = match asked.user {
        User::UnprivilegedLater => &TO_DROP_ROOT,
        User::Unprivileged | User::Kept => &[],
    };
    let keyrings: &[i64] = match asked.keyrings {
        true => &OF_KEYRINGS,
        false => &[],
    };
    let calls = CALLS.iter().chain(OLD_CALLS);
    for call in calls.chain(later).chain(keyrings) {
        rules.insert(*call, Vec::new());
    }
    rules.insert(libc::SYS_clone, vec![threads_only()?]);
    rules.insert(libc::SYS_ioctl, vec![none_of(1, &REACHING_OUT)?]);
    rules.insert(libc::SYS_fcntl, vec![none_of(1, &SIGNALLING)?]);
    let us = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![is(0, us)?]);
    rules.insert(libc::SYS_prlimit64, vec![is(0, 0)?, is(0, us)?]);
    // Landlock knows no rights to set modes and times: that goes by files that are open only, not by names.
    rules.insert(libc::SYS_utimensat, vec![no_name(1)?]);
    let plain = rule(1, SeccompCmpOp::MaskedEq(SPECIAL_BITS), 0)?;
    rules.insert(libc::SYS_fchmod, vec![all_of(vec![plain])?]);
    if asked.network {
        rules.insert(libc::SYS_socket, sockets()?);
    }
    let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, architecture)
        .map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    match seccompiler::apply_filter_all_threads(&program) {
        Ok(()) => Ok(true),
        // A kernel without filters, or without all of it (`seccomp(2)`), as an emulated one.
        Err(seccompiler::Error::Seccomp(error))
            if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
        {
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

fn all_of(conditions: Vec<SeccompCondition>) -> Rule {
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn is(argument: u8, value: u64) -> Rule {
    all_of(vec![rule(argument, SeccompCmpOp::Eq, value)?])
}

fn none_of(argument: u8, values: &[u64]) -> Rule {
    let differs = |value: &u64| rule(argument, SeccompCmpOp::Ne, *value);
    all_of(values.iter().map(differs).collect::<Result<_, _>>()?)
}

/// A pointer to no name, which is longer than a number.
fn no_name(argument: u8) -> Rule {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0);
    all_of(vec![condition.map_err(io::Error::other)?])
}

/// Streams and datagrams of IP, and of this machine, where names are looked up at services; and of the kernel only
/// what tells of addresses and routes. None that sees or forges what others send.
fn sockets() -> Result<Vec<SeccompRule>, io::Error> {
    let number = |value: libc::c_int| u64::from(value.unsigned_abs());
    let flags = number(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
    let kind = u64::from(u32::MAX) & !flags;
    let mut rules = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX] {
        for wanted in [libc::SOCK_STREAM, libc::SOCK_DGRAM] {
            let of_family = rule(0, SeccompCmpOp::Eq, number(family))?;
            let of_kind = rule(1, SeccompCmpOp::MaskedEq(kind), number(wanted))?;
            rules.push(all_of(vec![of_family, of_kind])?);
        }
    }
    let of_kernel = rule(0, SeccompCmpOp::Eq, number(libc::AF_NETLINK))?;
    let of_routes = rule(2, SeccompCmpOp::Eq, number(libc::NETLINK_ROUTE))?;
    rules.push(all_of(vec![of_kernel, of_routes])?);
    Ok(rules)
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
    libc::SYS_openat2,
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
    libc::SYS_syncfs,
    libc::SYS_unlinkat,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_filters_is_said_and_no_failure() {
        for refusal in [libc::ENOSYS, libc::EINVAL] {
            // A thread of its own: it is never let ask for a filter again.
            let thread = std::thread::spawn(move || {
                let rules = BTreeMap::from([(libc::SYS_seccomp, Vec::new())]);
                let refuse = SeccompAction::Errno(refusal.unsigned_abs());
                let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
                let filter =
                    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap();
                seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
                filter_system_calls(&Rules::default()).unwrap()
            });
            assert!(!thread.join().unwrap(), "{refusal}");
        }
    }
}
