//! A share that Linux's own client mounts for as long as a trial or a check takes: what the user has mounted stays as it is.
//!
//! It is mounted over that mount or over another folder, in a mount namespace that only this thread and the programs that
//! it starts have (`mount_namespaces(7)`). The namespace ends with them, also when they are killed, and the mount with it.

use std::path::Path;
use std::time::Duration;

use host::exec::{Command, Exec as _, Local, STATUS_NO_PROGRAM};
use locale::{Message, say};
use os::folder_in_world_writable::Shared;
use record::SecondMount;
use smb::{Login, Mechanism};

use crate::stop_request::wait_unless_asked;
use crate::test_file_in_folder::{NO_MOUNT, elsewhere, file_system, not_made};
use crate::{Error, Stop};

/// Options of all mounts of ours: what is on a server starts no program here, and is no device.
pub const UNTRUSTED: [&str; 3] = ["nosuid", "nodev", "noexec"];
/// What `mount.cifs` says where a login is refused (`EACCES`).
const LOGIN_REFUSED: &str = "mount error(13)";
/// How long `mount.cifs` may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Mounts a share over the one that is mounted there, in a mount namespace of the calling thread, which stays in it until
/// it ends.
///
/// # Errors
/// When this user may not mount, or the share cannot be mounted so.
pub(crate) fn mount(mount: &SecondMount, login: &Login, stop: &Stop) -> Result<(), Error> {
    mount_over(mount, login, stop, |entrance| {
        let found = file_system(entrance)?;
        match found.is_smb {
            true => Ok(()),
            false => Err(elsewhere(NO_MOUNT, Path::new(&mount.folder), &found)),
        }
    })
}

/// Mounts a share over any folder, in a mount namespace of the calling thread, which stays in it until it ends: all threads
/// and programs that it starts from then on see the share there, and no others.
///
/// # Errors
/// When this user may not mount, or the share cannot be mounted so.
pub fn mount_for_this_thread(mount: &SecondMount, login: &Login, stop: &Stop) -> Result<(), Error> {
    mount_over(mount, login, stop, |_| Ok(()))
}

fn mount_over(
    mount: &SecondMount,
    login: &Login,
    stop: &Stop,
    check: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |reason: Message| Error::SecondMount {
        share: mount.source.clone(),
        reason,
        is_login: false,
    };
    // `mount.cifs` makes options of share and folder, and a comma begins another one.
    if mount.source.contains([',', '\n']) {
        return Err(failed(say("error-measure.second-mount-comma")));
    }
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
    // Another user may put a link in the place of a folder above: no link of theirs is followed here, but `mount.cifs`
    // follows all.
    let held = hold(&mount.folder)?;
    let entrance = held.entrance_of_programs();
    check(&entrance)?;
    let entrance = entrance.display().to_string();
    let own = identity.iter().map(String::as_str);
    let options = own.chain([mount.options.as_str()]).chain(UNTRUSTED);
    let options: Vec<&str> = options.filter(|option| !option.is_empty()).collect();
    let command = mount_command(&entrance, &mount.source, &options.join(","));
    let process = Local::new().spawn(&command.with_stdin(password))?;
    let output = wait_unless_asked(process, LIMIT, stop)?;
    if output.status == STATUS_NO_PROGRAM {
        return Err(failed(say("error-measure.second-mount-missing")));
    }
    if output.status != 0 {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default().trim();
        return Err(Error::SecondMount {
            share: mount.source.clone(),
            reason: say("error-measure.second-mount-status")
                .with("status", output.status.to_string())
                .with("said", said),
            is_login: said.contains(LOGIN_REFUSED),
        });
    }
    // Otherwise the first one would be measured.
    match device(&held)? == device(&hold(&mount.folder)?)? {
        true => Err(failed(say("error-measure.second-mount-elsewhere"))),
        false => Ok(()),
    }
}

/// What mounts a share on a folder that is entered by this path. It takes the password from standard input: in its
/// arguments or environment it could be read by others. A line break would be part of it.
fn mount_command(entrance: &str, source: &str, options: &str) -> Command {
    Command::new([
        "env",
        "-u",
        "PASSWD",
        // `mount.cifs` drops the capabilities that entering this folder takes.
        "-C",
        entrance,
        "PASSWD_FD=0",
        "mount.cifs",
        "-n",
        source,
        ".",
        "-o",
        options,
    ])
}

/// Holds a folder to which no link of another user leads.
fn hold(folder: &str) -> Result<Shared, Error> {
    let folder = Path::new(folder);
    Shared::pass(folder).map_err(|source| not_made(folder, source))
}

fn device(folder: &Shared) -> Result<u64, Error> {
    folder.device().map_err(|source| Error::System {
        action: say("error-measure.file-system"),
        source,
    })
}

/// The user as options of `mount.cifs`, and the password; none where these options cannot express the login, or the
/// mount's other options require another kind of login.
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
        // `mount.cifs` knows no Kerberos by password.
        Login::User {
            mechanism: Mechanism::Kerberos { .. },
            ..
        } => None,
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
    fn no_place_on_a_server_sets_an_option() {
        for source in ["//nas/media/Films, old", "//nas/a,sec=none", "//nas/a\nb"] {
            let mount = SecondMount {
                source: source.to_owned(),
                folder: "/nowhere".to_owned(),
                options: String::new(),
            };
            let refused = mount_for_this_thread(&mount, &Login::Anonymous, &Stop::new());
            let Err(Error::SecondMount { reason, .. }) = refused else {
                panic!("{source}: {refused:?}")
            };
            assert_eq!(reason.id, "error-measure.second-mount-comma");
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
        // `mount.cifs` would log in by NTLM.
        let mut by_kerberos = user("ann", "WORK", "x");
        if let Login::User { mechanism, .. } = &mut by_kerberos {
            *mechanism = Mechanism::Kerberos { kdc: None };
        }
        assert!(identity(&by_kerberos, "").is_none());
        // A mount by Kerberos ticket and a login by password may be two users, and vice versa.
        let ticket = Login::Ticket {
            user: "ann@EXAMPLE".to_owned(),
        };
        assert!(identity(&login, "uid=0,sec=krb5i").is_none());
        assert!(identity(&ticket, "uid=0").is_none());
        assert!(identity(&ticket, "sec=krb5").is_some());
    }
}
