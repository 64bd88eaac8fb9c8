//! A share that Linux's own client mounts a second time, with other options, for as long as a trial takes: what the user
//! has mounted stays as it is.
//!
//! It is mounted over that mount, but where nobody else sees it: in mounts that only this thread and the programs that
//! it starts have. They end with them, however that happens, and the second mount with them.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

use host::exec::{Command, Exec as _, Local, Output};
use locale::{Message, say};
use os::file::enter_named;
use record::SecondMount;
use rustix::fs::fstat;
use smb::Login;

use crate::stop_request::{STOP_POLL, meanwhile};
use crate::test_file_in_folder::{NO_MOUNT, elsewhere, file_system};
use crate::{Error, Stop};

/// How long `mount.cifs` may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Mounts it for the calling thread, which never leaves it again.
///
/// # Errors
/// When this user may not mount, or the share cannot be mounted so.
pub(crate) fn mount(mount: &SecondMount, login: &Login, stop: &Stop) -> Result<(), Error> {
    let failed = |reason: Message| Error::SecondMount {
        share: mount.source.clone(),
        reason,
    };
    if !os::is_root() {
        return Err(failed(say("error-measure.second-mount-root")));
    }
    os::own_mounts().map_err(|source| Error::System {
        action: say("error-measure.own-mounts"),
        source,
    })?;
    let Some((identity, password)) = identity(login, &mount.options) else {
        return Err(failed(say("error-measure.second-mount-user")));
    };
    // Another user may put a link in the place of a folder above: root follows none of theirs, and `mount.cifs` all.
    let held = hold(&mount.folder)?;
    let entrance = format!("/proc/{}/fd/{}", std::process::id(), held.as_raw_fd());
    let (name, _) = file_system(Path::new(&entrance))?;
    if !matches!(name.as_str(), "cifs" | "smb3") {
        return Err(elsewhere(NO_MOUNT, Path::new(&mount.folder), &name));
    }
    let options = [&identity[..], std::slice::from_ref(&mount.options)].concat();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    // A password in its arguments or environment could be read by others. A line break would be part of it.
    let words = [
        "env",
        "-u",
        "PASSWD",
        // It gives up the rights to come here by itself.
        "-C",
        &entrance,
        "PASSWD_FD=0",
        "mount.cifs",
        "-n",
        &mount.source,
        ".",
        "-o",
        &options.join(","),
    ];
    let output = run(&Command::new(words).with_stdin(password), stop)?;
    if output.status != 0 {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default().trim();
        return Err(failed(
            say("error-measure.second-mount-status")
                .with("status", output.status.to_string())
                .with("said", said),
        ));
    }
    // Otherwise the first one would be measured.
    match device(&held)? == device(&hold(&mount.folder)?)? {
        true => Err(failed(say("error-measure.second-mount-elsewhere"))),
        false => Ok(()),
    }
}

/// Runs a program until it ends, takes too long or `stop` is asked for.
fn run(command: &Command, stop: &Stop) -> Result<Output, Error> {
    let process = Local::new().spawn(command)?;
    let ender = process.ender();
    let look = || {
        if stop.is_asked() {
            ender.end();
        }
    };
    let output = meanwhile(STOP_POLL, look, || process.wait(LIMIT))??;
    match stop.is_asked() {
        true => Err(Error::Stopped),
        false => Ok(output),
    }
}

/// Holds a folder to which no link of another user leads.
fn hold(folder: &str) -> Result<OwnedFd, Error> {
    enter_named(Path::new(folder)).map_err(|source| Error::TestFile {
        folder: folder.into(),
        source,
    })
}

fn device(folder: &OwnedFd) -> Result<u64, Error> {
    let status = fstat(folder).map_err(|source| Error::System {
        action: say("error-measure.file-system"),
        source: source.into(),
    })?;
    Ok(status.st_dev)
}

/// Who mounts, as options of `mount.cifs`, and the password; none where it has no way to say that, or the mount's other
/// options want another kind of login.
fn identity<'a>(login: &'a Login, options: &str) -> Option<(Vec<String>, &'a str)> {
    let mut options = options.split(',');
    let wants_ticket = options.any(|option| option.starts_with("sec=krb5"));
    if wants_ticket != matches!(login, Login::Ticket { .. }) {
        return None;
    }
    let said = |key: &str, value: &str| {
        // A comma would begin another option.
        let is_plain = !value.contains([',', '\n']);
        is_plain.then(|| format!("{key}={value}"))
    };
    match login {
        Login::User {
            user,
            domain,
            password,
            ..
        } => {
            let mut identity = vec![said("username", user)?];
            if !domain.is_empty() {
                identity.push(said("domain", domain)?);
            }
            Some((identity, password.as_str()))
        }
        Login::Guest { user } => Some((vec![said("username", user)?], "")),
        // `sec=krb5` is one of the mount's own options.
        Login::Ticket { .. } => Some((Vec::new(), "")),
        Login::Anonymous => Some((vec!["sec=none".to_owned()], "")),
        Login::Brokered(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(user: &str, domain: &str, password: &str) -> Login {
        Login::User {
            user: user.to_owned(),
            domain: domain.to_owned(),
            password: password.to_owned().into(),
            mechanism: smb::Mechanism::Automatic,
        }
    }

    #[test]
    fn no_name_sets_an_option_and_no_password_is_an_option() {
        let login = user("利用者", "WORK", "a,uid=0");
        let (options, password) = identity(&login, "uid=0").unwrap();
        assert_eq!(options, ["username=利用者", "domain=WORK"]);
        assert_eq!(password, "a,uid=0");
        for (name, domain) in [("a,uid=0", ""), ("a", "b,exec"), ("a\nb", "")] {
            assert!(
                identity(&user(name, domain, "x"), "").is_none(),
                "{name} {domain}"
            );
        }
        // A mount by tickets and a login by password are two users, and the other way round.
        let ticket = Login::Ticket {
            user: "ann@EXAMPLE".to_owned(),
        };
        assert!(identity(&login, "uid=0,sec=krb5i").is_none());
        assert!(identity(&ticket, "uid=0").is_none());
        assert!(identity(&ticket, "sec=krb5").is_some());
    }
}
