//! `profiles`, `inspect`, `set` and `undo`.

use clap::{Args, ValueEnum};

/// Which profile.
#[derive(Clone, Debug, Default, Args)]
pub struct ProfileArguments {
    /// What a profile says that `linerate profiles` lists, or a file
    ///
    /// `tune` keeps it only if it is proven to be faster, `set` makes it without measuring
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Leave these knobs of the profile alone
    #[arg(long, value_name = "ID", value_delimiter = ',', requires = "profile")]
    pub without: Vec<String>,
    /// Take a profile of your own although it is about signing, encryption or other protections
    #[arg(long, alias = "even-protections", requires = "profile")]
    pub allow_security_settings: bool,
}

/// What a host is on the path.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArgument {
    /// It uses shares
    Client,
    /// It offers shares
    Server,
}

impl From<RoleArgument> for host::profile::Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::Client => Self::Client,
            RoleArgument::Server => Self::Server,
        }
    }
}

/// `profiles`.
#[derive(Debug, Args)]
pub struct ProfilesArguments {
    /// One of them, or a file of your own
    pub name: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// `local`, `ssh://[user@]host[:port]` or `lab://LAB/HOST`; two are both ends
    #[arg(value_name = "HOST", default_value = "local", num_args = 1..=2)]
    pub hosts: Vec<String>,
    /// Tell all about one setting, and look at no host
    #[arg(long, value_name = "ID", conflicts_with = "hosts")]
    pub explain: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `set`.
#[derive(Debug, Args)]
pub struct SetArguments {
    /// `local`, `ssh://[user@]host[:port]` or `lab://LAB/HOST`
    pub host: String,
    /// What to set, as `nic.mtu@eth0=9000`
    ///
    /// `tcp.congestion_control=cubic`, `nic.mtu@eth0=9000` for an interface, or `smb.server.sendfile@media=on` for a share
    #[arg(
        required_unless_present = "profile",
        conflicts_with = "profile",
        value_name = "ID[@NAME]=VALUE"
    )]
    pub settings: Vec<String>,
    #[command(flatten)]
    pub profile: ProfileArguments,
    /// What the host is on the path, for the rules of a profile [default: a server where Samba offers
    /// shares, else a client]
    #[arg(long, value_enum, requires = "profile")]
    pub role: Option<RoleArgument>,
    /// The round trip to the other end, for the rules of a profile: `20ms`
    #[arg(long, value_name = "TIME", requires = "profile")]
    pub round_trip: Option<String>,
    /// The interfaces that a profile is meant for [default: those that are up and have an address]
    #[arg(long, value_name = "NIC", value_delimiter = ',', requires = "profile")]
    pub nic: Vec<String>,
    /// Have the system set it at its next start as well
    ///
    /// by what sets it up there: `sysctl.d`, `netplan`, `NetworkManager`, `ifupdown` or `udev`
    #[arg(long)]
    pub persist: bool,
    /// After so long without a word a host puts itself back
    ///
    /// a host behind `ssh`, while it is being changed
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub lease: u64,
    /// Print the very commands, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `undo`.
#[derive(Debug, Args)]
pub struct UndoArguments {
    /// Id of a change, as `linerate changes` lists it [default: all open ones]
    pub id: Option<String>,
    /// Also overwrite what somebody else has changed since
    #[arg(long)]
    pub force: bool,
    /// Print what would be put back, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
