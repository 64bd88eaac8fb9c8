//! What a command gives up before it reads bytes of strangers.

use std::path::{Path, PathBuf};

use os::sandbox::Rules;

use crate::args::LoginArguments;
use crate::failure::{CommandError, Kind};
use crate::stop;

/// Where a password is typed.
const TERMINAL: &str = "/dev/tty";
/// Names other files with the configuration of Kerberos, with `:` between them.
const KERBEROS_VARIABLE: &str = "KRB5_CONFIG";

/// What a command that speaks to a server as this user needs beside its own files.
pub fn for_login(login: &LoginArguments) -> Rules {
    let kerberos = std::env::var(KERBEROS_VARIABLE).unwrap_or_default();
    let files = kerberos
        .split(':')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let lab = PathBuf::from(lab::CREDENTIALS_IN_HOST);
    Rules {
        keeps_user: true,
        network: true,
        reads: files
            .chain(login.credentials.clone())
            .chain([lab])
            .collect(),
        writes: vec![PathBuf::from(TERMINAL)],
    }
}

/// Gives up all but that, for good. To be called before any thread is started; the one that hears of Ctrl-C
/// is started here.
pub fn to(rules: &Rules) -> Result<(), CommandError> {
    let confined = os::sandbox::confine(rules);
    let failed = |error| {
        CommandError::caused(
            Kind::Refused,
            "cannot give up rights that are not needed",
            &error,
        )
    };
    confined.map(drop).map_err(failed)?;
    stop::end_cleanly()
}

/// Gives up all but reading these files, and making that one, for good.
pub fn to_files(reads: &[&Path], writes: Option<&Path>) -> Result<(), CommandError> {
    let made_in = writes.map(|path| existing(path.parent().unwrap_or(path)));
    to(&Rules {
        // The files may be readable by this user only.
        keeps_user: true,
        network: false,
        reads: reads.iter().map(|path| (*path).to_owned()).collect(),
        writes: made_in.into_iter().collect(),
    })
}

/// The folder that is there already in which something is to be made: the path itself, or what is above it.
pub fn existing(path: &Path) -> PathBuf {
    // The parent of a bare name is an empty path, which is no folder to the system.
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = full.ancestors().find(|folder| folder.is_dir());
    there.map_or(full.clone(), Path::to_owned)
}
