//! What `tune --persist` writes into `/etc/fstab`: the line of the mount that was measured, with the options that are
//! proven and nothing else changed.

use std::path::PathBuf;

use analysis::same_mount;
use host::change::read_back;
use host::{FstabEntry, Host};
use locale::say;
use record::{KnobId, Level, SecondMount, Setting, ShareMount, Target, Value};

use crate::args::LoginArguments;
use crate::client_to_share_path::SharePath;
use crate::failure::{CommandError, Kind};
use crate::share::Mounted;
use crate::tune_through_mount::options;

/// The line of a mount as it was when it was read.
pub struct FstabLine<'a> {
    client: &'a Host,
    mounted: &'a Mounted,
    /// The file of user and password that a new line names.
    credentials: Option<PathBuf>,
    before: Value,
}

/// The setting that has a level's mount at the next start; none where the level is about no mount.
///
/// # Errors
/// When there is no line that can be made so.
pub fn kept(
    path: &SharePath,
    login: &LoginArguments,
    level: &Level,
) -> Result<Option<Setting>, CommandError> {
    match options(level) {
        Some(_) => FstabLine::read(path, login)?.map_or(Ok(None), |line| line.setting(level)),
        None => Ok(None),
    }
}

impl<'a> FstabLine<'a> {
    /// Reads the line of the mount that is measured; none where none is.
    ///
    /// # Errors
    /// When the share is mounted nowhere, or `/etc/fstab` is none that is changed.
    pub fn read(path: &'a SharePath, login: &LoginArguments) -> Result<Option<Self>, CommandError> {
        let Some(mounted) = &path.mounted else {
            return Ok(None);
        };
        if mounted.mount.own {
            let error = CommandError::new(Kind::Usage, say("error-plan.persist-own-mount"));
            return Err(error.hint(say("hint-plan.persist-own-mount")));
        }
        // A file of ours is none of another client's.
        let is_here = path.client.name.as_str() == "local";
        let file = login.credentials.as_ref().filter(|_| is_here);
        let file = file.and_then(|file| std::path::absolute(file).ok());
        let mut line = Self {
            client: &path.client,
            mounted,
            credentials: file,
            before: Value::Unset,
        };
        line.before = line.now()?;
        Ok(Some(line))
    }

    /// The setting that has the mount of a level at the next start; none where the level is about no mount.
    ///
    /// # Errors
    /// When the line mounts another share, or a new one would need a password.
    pub fn setting(&self, level: &Level) -> Result<Option<Setting>, CommandError> {
        let Some(options) = options(level) else {
            return Ok(None);
        };
        let line = match &self.before {
            Value::Text(line) => self.changed(line, options)?,
            _ => self.added(options)?,
        };
        Ok(Some(self.knob(Value::Text(line))))
    }

    /// The same where the line is still as it was when it was read.
    ///
    /// # Errors
    /// When somebody else has changed it since.
    pub fn setting_unless_changed(&self, level: &Level) -> Result<Option<Setting>, CommandError> {
        let setting = self.setting(level)?;
        if setting.is_some() && self.now()? != self.before {
            let error = self.refused("error-plan.fstab-changed");
            return Err(error.hint(say("hint-plan.fstab-changed")));
        }
        Ok(setting)
    }

    fn now(&self) -> Result<Value, CommandError> {
        let hosts = std::slice::from_ref(self.client);
        let found = read_back(hosts, &[self.knob(Value::Unset)])?.pop();
        Ok(match found {
            Some(Setting::Knob { value, .. } | Setting::Workload { value, .. }) => value,
            None => Value::Unset,
        })
    }

    fn knob(&self, value: Value) -> Setting {
        Setting::Knob {
            host: self.client.name.clone(),
            target: Target::Mount(self.mounted.mount.folder.clone()),
            id: KnobId::new(FstabEntry::KNOB),
            value,
        }
    }

    /// The user's own line with what differs between the mount that is and the one that is proven.
    fn changed(&self, line: &str, options: &str) -> Result<String, CommandError> {
        let mount = &self.mounted.mount;
        let entry = FstabEntry::of(line).filter(|it| is_same_share(&it.source(), &mount.source));
        let Some(entry) = entry else {
            let error = self.refused("error-plan.fstab-other-share");
            return Err(error.hint(say("hint-host.no-persist")));
        };
        let is = same_mount(mount).options;
        let [is, wanted]: [Vec<&str>; 2] = [&is, options].map(|it| it.split(',').collect());
        Ok(entry.mounting_so(&is, &wanted))
    }

    /// A line where there was none.
    fn added(&self, wanted: &str) -> Result<String, CommandError> {
        let mount = &self.mounted.mount;
        // Of the trial's mount alone.
        let is_of_trial = |option: &&str| {
            let address = option.strip_prefix("ip=");
            address.is_some_and(|address| mount.option("addr") == Some(address))
                || (*option == SecondMount::OWN_SESSION && !mount.has(SecondMount::OWN_SESSION))
        };
        let wanted = wanted.split(',').filter(|option| !is_of_trial(option));
        let mut options: Vec<String> = wanted.map(str::to_owned).collect();
        if needs_password(mount) {
            let file = self.credentials.as_ref().and_then(|file| file.to_str());
            let file = file.filter(|file| !file.contains(','));
            let Some(file) = file else {
                let error = self.refused("error-plan.fstab-no-login");
                return Err(error.hint(say("hint-plan.fstab-no-login")));
            };
            options.insert(0, format!("credentials={file}"));
        } else if let Some(domain) = mount.option("domain") {
            options.insert(0, format!("domain={domain}"));
        }
        // A start must not wait for a share, nor fail without it.
        options.extend(["_netdev".to_owned(), "nofail".to_owned()]);
        let options = options.join(",");
        Ok(FstabEntry::line(&mount.source, &mount.folder, &options))
    }

    fn refused(&self, id: &'static str) -> CommandError {
        let text = say(id).with("folder", &self.mounted.mount.folder);
        CommandError::new(Kind::Refused, text)
    }
}

/// Whether whoever mounts it so is asked for a password.
fn needs_password(mount: &ShareMount) -> bool {
    let security = mount.option("sec").unwrap_or_default();
    !security.starts_with("krb5") && security != "none"
}

/// Whether two sources are the same share and the same folder of it, as `//server/share` or with backslashes.
fn is_same_share(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|source| ShareMount {
        source: source.replace('\\', "/"),
        ..ShareMount::default()
    });
    match (one.place(), other.place()) {
        (Some((server, share, folder)), Some(other)) => {
            server.eq_ignore_ascii_case(other.0)
                && share.eq_ignore_ascii_case(other.1)
                && folder == other.2
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "rw,relatime,vers=2.0,sec=ntlmssp,cache=none,username=ann,uid=1000,noforceuid,gid=0,\
        noforcegid,addr=10.77.1.2,file_mode=0755,rsize=65536,wsize=4194304,sync,nosharesock";

    fn mounted(options: &str) -> Mounted {
        Mounted {
            folder: "/mnt/映画/a".into(),
            mount: ShareMount {
                folder: "/mnt/映画".into(),
                source: "//nas/my media".into(),
                options: options.into(),
                ..ShareMount::default()
            },
        }
    }

    /// A level whose mount differs from that one by these words.
    fn level(mounted: &Mounted, less: &[&str], more: &str) -> Level {
        let same = same_mount(&mounted.mount).options;
        let options = same.split(',').filter(|option| !less.contains(option));
        let options: Vec<&str> = options.chain(more.split(',')).collect();
        Level {
            name: "mount-again".into(),
            settings: vec![Setting::Workload {
                field: SecondMount::FIELD.into(),
                value: Value::Text(options.join(",")),
            }],
        }
    }

    fn line(
        mounted: &Mounted,
        before: Option<&str>,
        file: Option<&str>,
        level: &Level,
    ) -> Result<String, CommandError> {
        let client = Host::local().expect("this machine");
        let line = FstabLine {
            client: &client,
            mounted,
            credentials: file.map(PathBuf::from),
            before: before.map_or(Value::Unset, |line| Value::Text(line.into())),
        };
        Ok(match line.setting(level)? {
            Some(Setting::Knob {
                target: Target::Mount(folder),
                value: Value::Text(line),
                ..
            }) if folder == mounted.mount.folder => line,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_line_gets_what_is_proven_and_keeps_all_else() {
        let mounted = mounted(SHOWN);
        let less = ["vers=2.0", "sync", "cache=none", "rsize=65536"];
        let level = level(&mounted, &less, "vers=3.1.1,multichannel,max_channels=2");
        let before = "\\\\\\\\NAS\\\\my\\040media\t/mnt/映画/  cifs credentials=/etc/nas,uid=1000,vers=2.0,\
            forcedirectio,sync,rsize=65536,_netdev,x-systemd.automount 0\t0 # 映画";
        let before = before.replace("\\\\", "\\134");
        let made = line(&mounted, Some(&before), None, &level).expect("it can be made");
        assert_eq!(
            made,
            "\\134\\134NAS\\134my\\040media\t/mnt/映画/  cifs credentials=/etc/nas,uid=1000,vers=3.1.1,\
            _netdev,x-systemd.automount,multichannel,max_channels=2 0\t0 # 映画"
        );
        // What the line has and was not mounted is as it was measured.
        let before = "//nas/my\\040media /mnt/映画 cifs guest,vers=1.0,wsize=8192,cache=loose 0 0";
        let made = line(&mounted, Some(before), None, &level).expect("it can be made");
        assert_eq!(
            made,
            "//nas/my\\040media /mnt/映画 cifs guest,vers=3.1.1,multichannel,max_channels=2 0 0"
        );
        // What is proven for one share is not of another one, nor of another folder of it.
        for source in [
            "//nas/other",
            "//nas/my\\040media/sub",
            "//other/my\\040media",
            "x",
        ] {
            let before = format!("{source} /mnt/映画 cifs guest 0 0");
            let error = line(&mounted, Some(&before), None, &level).expect_err("another share");
            assert!(error.text().contains("mounts another share"), "{error}");
        }
    }

    #[test]
    fn a_new_line_has_no_password_and_nothing_of_the_trial() {
        let with_password = mounted(SHOWN);
        let better = level(&with_password, &["cache=none"], "max_channels=2");
        let error = line(&with_password, None, None, &better).expect_err("no file");
        assert!(
            error.text().contains("a file with user and password"),
            "{error}"
        );
        let made = line(&with_password, None, Some("/etc/my nas"), &better);
        assert_eq!(
            made.expect("it can be made"),
            "//nas/my\\040media /mnt/映画 cifs credentials=/etc/my\\040nas,sec=ntlmssp,uid=1000,sync,\
            vers=2.0,rsize=65536,nosharesock,max_channels=2,_netdev,nofail 0 0"
        );
        line(&with_password, None, Some("/etc/a,b"), &better).expect_err("two options");
        let by_ticket = SHOWN
            .replace("ntlmssp", "krb5")
            .replace(",nosharesock", ",domain=LAB");
        let by_ticket = mounted(&by_ticket);
        let better = level(&by_ticket, &["cache=none"], "max_channels=2");
        let made = line(&by_ticket, None, None, &better).expect("it needs no password");
        assert_eq!(
            made,
            "//nas/my\\040media /mnt/映画 cifs domain=LAB,sec=krb5,uid=1000,sync,vers=2.0,rsize=65536,max_channels=2,_netdev,nofail 0 0"
        );
    }

    #[test]
    fn a_share_is_the_same_however_it_is_written() {
        assert!(is_same_share("\\\\NAS\\a\\", "//nas/A"));
        assert!(!is_same_share("//nas/a", "//nas/b") && !is_same_share("", ""));
    }
}
