//! POSIX systems.

use std::io;
use std::path::Path;

use super::FileSystem;

/// File systems by the number that `statfs(2)` of Linux gives, and whether they are beyond a network or a hypervisor.
const FILE_SYSTEMS: [(u64, &str, bool); 18] = [
    (0xEF53, "ext4", false),
    (0x5846_5342, "xfs", false),
    (0x9123_683E, "btrfs", false),
    (0x2FC1_2FC1, "zfs", false),
    (0xF2F5_2010, "f2fs", false),
    (0x794C_7630, "overlayfs", false),
    (0x0102_1994, "tmpfs", false),
    (0xFF53_4D42, "cifs", true),
    (0xFE53_4D42, "smb3", true),
    (0x6969, "nfs", true),
    (0x6573_5546, "fuse", true),
    (0x0102_1997, "9p", true),
    (0x00C3_6400, "ceph", true),
    (0x0BD0_0BD0, "lustre", true),
    (0x4750_4653, "gpfs", true),
    (0x1983_0326, "beegfs", true),
    (0x5346_414F, "afs", true),
    (0x786F_4256, "vboxsf", true),
];

pub(super) fn of(path: &Path) -> io::Result<FileSystem> {
    let found = rustix::fs::statfs(path)?;
    // The number is 32 bits wide and sits in a signed word of another width on each system.
    let kind = found.f_type as u64 & 0xFFFF_FFFF;
    let known = FILE_SYSTEMS.iter().find(|(number, ..)| *number == kind);
    let (name, is_network) = match known {
        Some((_, name, network)) => ((*name).to_owned(), *network),
        None => (format!("file system {kind:#x}"), false),
    };
    Ok(FileSystem {
        is_smb: matches!(&*name, "cifs" | "smb3"),
        is_memory: name == "tmpfs",
        name,
        is_network,
    })
}

pub(super) fn free_bytes(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

pub(super) const fn share_behind_drive(_: &Path) -> Option<String> {
    None
}
