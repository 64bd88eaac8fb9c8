//! `copy` and `ls`.

use clap::{Args, ValueEnum};

use super::{LoginArguments, VerboseArguments};

/// What to do with symbolic links.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LinksArgument {
    /// Copy as links, to and from a server with the POSIX extensions of SMB, those that are relative and stay below the
    /// folder that is copied; leave out the others
    Keep,
    /// Leave them out
    Skip,
    /// Copy what they lead to
    Follow,
}

/// `copy`.
#[derive(Debug, Args)]
pub struct CopyArguments {
    /// Files and folders, also as `smb://host/share/file`
    ///
    /// of a folder that ends in `/`, what is in it
    #[arg(required = true)]
    pub sources: Vec<String>,
    /// A folder to copy into, or the name of one file's copy
    pub destination: String,
    #[command(flatten)]
    pub login: LoginArguments,
    /// Most channels [default: one for each pair of NICs, up to four and eight in all where both have queues (RSS)]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub channels: Option<u32>,
    /// Most sessions with one server, for very large files and where there are many: with each, one more
    /// of its processors can work, as with Samba
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub sessions: u8,
    /// Say what would be copied, and copy nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Overwrite files that exist
    #[arg(long)]
    pub force: bool,
    /// Overwrite older files and equally old ones of other size
    #[arg(long, conflicts_with = "force")]
    pub update: bool,
    /// Go on with what an earlier run left
    ///
    /// skip what it copied, continue what it began
    #[arg(long)]
    pub resume: bool,
    /// Read every copy back and compare its hash
    ///
    /// before it gets its name: against errors of network and server, and, where the session is signed or encrypted,
    /// against whoever is on the path
    #[arg(long)]
    pub verify: bool,
    /// Do not ask for signing: it is asked for where a user logs in, unless `--sign` says otherwise,
    /// since else whoever is on the path can change what is copied
    #[arg(long, conflicts_with = "sign")]
    pub allow_unsigned: bool,
    /// Remove from the destination what the source folder does not have
    #[arg(long)]
    pub delete: bool,
    /// Copy only files like this, as `*.jpg` or `raw/**`
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Leave out files and folders like this, as `*.tmp`
    ///
    /// or `cache/`
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// What to do with symbolic links in the folders that are copied: those of this machine, and of a server with
    /// the POSIX extensions of SMB; those of other servers are left out where the server shows them
    #[arg(long, value_enum, default_value_t = LinksArgument::Keep)]
    pub links: LinksArgument,
    /// Put stand-ins for letters that a share cannot have in a name, as macOS does, and take them
    /// back on the way home
    #[arg(long)]
    pub map_names: bool,
    /// Do not use the POSIX extensions of SMB 3.1.1, by which a server that has them keeps names as they are, modes
    /// and links: what is copied looks to others as if Windows had made it
    #[arg(long)]
    pub no_posix: bool,
    /// List each file whose times, mode or attributes the server does not take, and say how the server differs
    /// from the protocol, whether its POSIX extensions are used, and what of the sandbox this system lacks
    #[arg(short, long)]
    pub verbose: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `ls`.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// A server as `smb://[user@]host`, or a share or folder of it
    pub place: String,
    #[command(flatten)]
    pub login: LoginArguments,
    #[command(flatten)]
    pub verbose: VerboseArguments,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
