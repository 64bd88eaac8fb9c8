//! A share that Linux's own client mounts a second time, with other options, for as long as a trial takes: what the user
//! has mounted stays as it is.
//!
//! It is mounted over that mount, but where nobody else sees it: in mounts that only this thread and the programs that
//! it starts have. They end with them, however that happens, and the second mount with them.

use std::time::Duration;

use host::exec::{Command, Exec as _, Local};
use locale::{Message, say};
use record::SecondMount;
use smb::Login;

use crate::Error;

/// How long `mount.cifs` may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Mounts it for the calling thread, which never leaves it again.
///
/// # Errors
/// When this user may not mount, or the share cannot be mounted so.
pub(crate) fn mount(mount: &SecondMount, login: &Login) -> Result<(), Error> {
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
    let Some((identity, password)) = identity(login) else {
        return Err(failed(say("error-measure.second-mount-user")));
    };
    let options = [&identity[..], std::slice::from_ref(&mount.options)].concat();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    // A password in its arguments or environment could be read by others. A line break would be part of it.
    let words = [
        "env",
        "PASSWD_FD=0",
        "mount.cifs",
        &mount.source,
        &mount.folder,
        "-o",
        &options.join(","),
    ];
    let mut command = Command::new(words).with_stdin(password);
    command.timeout = LIMIT;
    let outputs = Local::new().run(&[command])?;
    match outputs.first() {
        Some(output) if output.status == 0 => Ok(()),
        Some(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or_default().trim();
            Err(failed(
                say("error-measure.second-mount-status")
                    .with("status", output.status.to_string())
                    .with("said", said),
            ))
        }
        None => Err(failed(say("error-measure.second-mount-user"))),
    }
}

/// Who mounts, as options of `mount.cifs`, and the password; none where it has no way to say that.
fn identity(login: &Login) -> Option<(Vec<String>, &str)> {
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
        let (options, password) = identity(&login).unwrap();
        assert_eq!(options, ["username=利用者", "domain=WORK"]);
        assert_eq!(password, "a,uid=0");
        for (name, domain) in [("a,uid=0", ""), ("a", "b,exec"), ("a\nb", "")] {
            assert!(
                identity(&user(name, domain, "x")).is_none(),
                "{name} {domain}"
            );
        }
    }
}
