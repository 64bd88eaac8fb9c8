//! Which hosts, who logs in, and what the session must be.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which hosts, and who logs in.
#[derive(Clone, Debug, Args)]
pub struct PathArguments {
    /// Where the client is: `local`, `lab://LAB/HOST`, or `ssh://[user@]host[:port]` where linerate
    /// is installed
    #[arg(long, value_name = "HOST", default_value = "local")]
    pub client: String,
    /// Where the server is, to look and measure there as well
    ///
    /// `local`, `lab://LAB/HOST` or `ssh://[user@]host[:port]`, if linerate may run commands there
    #[arg(long, value_name = "HOST")]
    pub server: Option<String>,
    #[command(flatten)]
    pub login: LoginArguments,
}

/// Who logs in, and what the session must be.
#[derive(Clone, Debug, Default, Args)]
pub struct LoginArguments {
    /// File with user and password, as mount.cifs reads it
    ///
    /// it has `username=`, `password=` and `domain=` lines; else the password is taken from the
    /// environment variable LINERATE_PASSWORD, or asked for where you have no Kerberos ticket for the
    /// server
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// Log in by Kerberos and nothing else: with a ticket of your own, which is tried first, or a
    /// password; the realm is the user's domain, or what is behind `@`
    #[arg(long, conflicts_with = "ntlm")]
    pub kerberos: bool,
    /// Log in by Kerberos with this KDC, instead of what krb5.conf says
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "ntlm")]
    pub kdc: Option<String>,
    /// Log in by NTLMv2, even where krb5.conf knows the user's domain, which means Kerberos else
    #[arg(long)]
    pub ntlm: bool,
    /// Go in as a guest, without a password
    ///
    /// by the name before the `@` or else as `guest`; such a session can neither be signed nor
    /// encrypted
    #[arg(long, conflicts_with_all = ["credentials", "kerberos", "kdc", "ntlm", "anonymous"])]
    pub guest: bool,
    /// Go in without any name, if the server allows that; likewise without protection
    #[arg(long, conflicts_with_all = ["credentials", "kerberos", "kdc", "ntlm"])]
    pub anonymous: bool,
    #[command(flatten)]
    pub demands: DemandArguments,
}

/// What the session must be.
#[derive(Clone, Debug, Default, Args)]
pub struct DemandArguments {
    /// The oldest dialect that will do [default: 2.0.2]
    #[arg(long, value_enum, value_name = "VERSION")]
    pub dialect_min: Option<DialectArgument>,
    /// The newest dialect to offer [default: 3.1.1]
    #[arg(long, value_enum, value_name = "VERSION")]
    pub dialect_max: Option<DialectArgument>,
    /// What is signed [default: if-required; with `copy` as a user, required]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub sign: Option<SignArgument>,
    /// The client to speak for: what it asks for without options is asked for [default: cifs]
    #[arg(
        long = "as",
        value_enum,
        value_name = "CLIENT",
        conflicts_with = "sign"
    )]
    pub speaks_for: Option<ClientArgument>,
    /// Send and take nothing that is not encrypted; else the server decides
    #[arg(long)]
    pub encrypt: bool,
}

/// A dialect of SMB.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DialectArgument {
    #[value(name = "2.0.2")]
    Smb202,
    #[value(name = "2.1")]
    Smb210,
    #[value(name = "3.0")]
    Smb300,
    #[value(name = "3.0.2")]
    Smb302,
    #[value(name = "3.1.1")]
    Smb311,
}

/// A client of shares, by what it asks of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClientArgument {
    /// Linux: signs where the server insists on it
    Cifs,
    /// macOS: likewise
    Macos,
    /// Windows 10, and Windows 11 up to 23H2: likewise
    #[value(name = "windows-10")]
    Windows10,
    /// Windows 11 from 24H2 on: signs everything, and uses no server that cannot
    #[value(name = "windows-11")]
    Windows11,
}

/// What is signed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SignArgument {
    /// Everything; a server that cannot will not do
    Required,
    /// Everything where the server insists on it
    IfRequired,
    /// Everything but what is in the files, which somebody on the way could then change unnoticed;
    /// that too where the server insists on it
    DataUnsigned,
}
