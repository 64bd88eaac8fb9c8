//! The options of a mount as one gives them to mount a share like that again, with some of them better.

use record::{Bytes, Direction, SecondMount, ShareMount};

/// What the kernel asks for at once by default (`CIFS_DEFAULT_IOSIZE` of `fs/smb/client/cifsglob.h`,
/// and what it makes of a server's 8 MiB).
pub(crate) const REQUEST_USUAL: u64 = 4 << 20;
/// The option that keeps nothing in memory (`mount.cifs(8)`).
pub(crate) const CACHE_OFF: &str = "cache=none";
/// Options that are set anew.
const REPLACED: [&str; 8] = [
    "vers",
    "rsize",
    "wsize",
    "multichannel",
    "max_channels",
    "sync",
    "username",
    "credentials",
];
/// What the kernel shows of a mount and is its default. All other options say who may do what, or keep data safe, and
/// stay.
const SHOWN: [&str; 18] = [
    "rw",
    "relatime",
    "soft",
    "nounix",
    "noforceuid",
    "noforcegid",
    "serverino",
    "mapposix",
    "bsize",
    "echo_interval",
    "closetimeo",
    "actimeo=1",
    "cache=strict",
    "addr",
    "uid=0",
    "gid=0",
    "file_mode=0755",
    "dir_mode=0755",
];

/// What becomes better about a mount.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Better<'a> {
    /// A newer dialect, as `3.1.1`.
    pub(crate) dialect: Option<&'a str>,
    /// Larger requests for reading, in bytes.
    pub(crate) read_max: Option<u64>,
    /// Larger requests for writing, in bytes.
    pub(crate) write_max: Option<u64>,
    /// More connections.
    pub(crate) channels: Option<u32>,
    /// Whether writes wait no more until the server has written each.
    pub(crate) is_asynchronous: bool,
    /// Whether there is a cache again.
    pub(crate) is_cached: bool,
}

/// What mounts a share again as it is mounted, with a session of its own, where only a trial sees it.
#[must_use]
pub fn same_mount(mount: &ShareMount) -> SecondMount {
    second_mount(mount, &Better::default())
}

/// The same with something better about it.
pub(crate) fn second_mount(mount: &ShareMount, better: &Better<'_>) -> SecondMount {
    let mut options = options(mount, better);
    // The login of the trial has its own domain.
    options.retain(|option| !option.starts_with("domain="));
    // The same address, whatever the server's name resolves to, and a separate session.
    options.extend(mount.option("addr").map(|addr| format!("ip={addr}")));
    options.retain(|option| option != SecondMount::OWN_SESSION);
    options.push(SecondMount::OWN_SESSION.to_owned());
    SecondMount {
        source: mount.source.clone(),
        folder: mount.folder.clone(),
        options: options.join(","),
    }
}

/// The options of a mount with something better; what is its default is left out.
pub(crate) fn options(mount: &ShareMount, better: &Better<'_>) -> Vec<String> {
    let is_kept = |option: &&str| {
        let key = option.split('=').next().unwrap_or_default();
        // What has a comma in it belongs into the file.
        !REPLACED.contains(&key)
            && (*option != CACHE_OFF || !better.is_cached)
            && !SHOWN.iter().any(|shown| shown == option || *shown == key)
            && !option.contains('\\')
    };
    let kept = mount.options.split(',').filter(is_kept);
    let mut options: Vec<String> = kept.map(str::to_owned).collect();
    if mount.has("sync") && !better.is_asynchronous {
        options.push("sync".to_owned());
    }
    options.push(match better.dialect.or_else(|| mount.dialect()) {
        // As mount.cifs calls it.
        Some("3.0.2") => "vers=3.02".to_owned(),
        Some(dialect) => format!("vers={dialect}"),
        None => "vers=3.1.1".to_owned(),
    });
    for (key, direction) in [("rsize", Direction::Read), ("wsize", Direction::Write)] {
        let (own, larger) = match direction {
            Direction::Read => (mount.read_max(), better.read_max),
            Direction::Write => (mount.write_max(), better.write_max),
        };
        // A newer dialect has another default.
        let own = own.map(Bytes::get).filter(|_| better.dialect.is_none());
        let size = larger.or(own.filter(|own| *own != REQUEST_USUAL));
        options.extend(size.map(|size| format!("{key}={size}")));
    }
    let channels = better.channels.map(|count| count.to_string());
    let channels = channels.or_else(|| mount.option("max_channels").map(str::to_owned));
    options.extend(channels.map(|count| format!("multichannel,max_channels={count}")));
    options
}
