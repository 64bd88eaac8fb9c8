//! A host or switch: a process that holds its namespaces, and files of its own.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use host::exec::{Command, Exec, Local, Process};
use locale::{Message, say};

use super::krb5_and_resolv_conf;
use super::namespace_exec::{Namespace, child_of};
use super::share_user::{Account, USER_ID, random_bytes, with_entry};
use super::supervisor_event::Event;
use crate::topology::USER;
use crate::{Error, Topology};

/// Folder of a host's own files, in memory.
pub(crate) const FOLDER: &str = "/run/linerate";
/// What becomes the first process of a host. `cat` ignores the news that a child has ended, so the
/// kernel reaps what is orphaned there; and it ends with its input, so with us, in the moments in
/// which the signal of a dying parent is not armed yet.
const HOLDER: [&str; 15] = [
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--net",
    "--mount",
    "--uts",
    "--ipc",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "env",
    "--ignore-signal=CHLD",
    "cat",
];
/// Folders of the machine in which programs of a host could leave something behind.
const MASKED: [&str; 4] = [
    "/dev/shm",
    "/var/lib/samba",
    "/var/cache/samba",
    "/var/log/samba",
];
/// How long a holder that did not come up may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long the processes of a host may take to end when they are killed.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How long a copy of `/etc` may take.
const COPY_LIMIT: Duration = Duration::from_secs(30);

/// A running host or switch. Dropping it ends every process in it; its namespaces, interfaces and
/// files go with them.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) namespace: Namespace,
    /// The holder, and its input, whose end ends it. Only missing while this is dropped.
    life: Option<(Process, Box<dyn Write + Send>)>,
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some((holder, lifeline)) = self.life.take() {
            drop(lifeline);
            // The holder is the last to go: it is reaped when all others in there are. One that
            // does not go by itself is killed.
            holder.wait(END_LIMIT).ok();
        }
    }
}

impl Node {
    /// Makes the namespaces. To be called on the main thread: the kernel ends the holder together
    /// with the thread that started it. Its end is told to `events`.
    pub(crate) fn start(
        name: &str,
        prefix: &[String],
        events: &Sender<Event>,
    ) -> Result<Self, Error> {
        let run_error = Error::running(say("error-lab.make-namespaces"), name);
        let system_error = |source| Error::System {
            action: say("error-lab.make-namespaces"),
            subject: name.into(),
            source,
        };
        let command = Command::new(HOLDER);
        let mut holder = Local::new().spawn(&command).map_err(&run_error)?;
        let pipes = (holder.take_stdin(), holder.take_stdout());
        let (Some(mut lifeline), Some(mut echo)) = pipes else {
            return Err(system_error(io::Error::other("it has no pipes")));
        };
        // What `cat` sends back proves that everything before it is done. Without it the holder
        // is about to tell why, so a broken pipe is no news.
        let asked = lifeline.write_all(b"up?\n").and_then(|()| lifeline.flush());
        let mut line = String::new();
        echo.read_line(&mut line).map_err(system_error)?;
        if line.is_empty() || asked.is_err() {
            let output = holder.wait(LAST_WORDS).map_err(&run_error)?;
            output.checked(&command).map_err(&run_error)?;
            return Err(system_error(io::Error::other("it ended at once")));
        }
        let leader = holder.id().ok_or(io::ErrorKind::NotFound.into());
        let namespace = leader
            .and_then(child_of)
            .and_then(|pid| Namespace::of(pid, prefix))
            .map_err(system_error)?;
        let events = events.clone();
        thread::spawn(move || {
            io::copy(&mut echo, &mut io::sink()).ok();
            events.send(Event::Lost).ok();
        });
        Ok(Self {
            name: name.to_owned(),
            namespace,
            life: Some((holder, lifeline)),
        })
    }

    /// Runs commands in it one after another; each must end well.
    pub(crate) fn run(&self, action: Message, commands: &[Command]) -> Result<(), Error> {
        let run_error = Error::running(action, self.name.as_str());
        for command in commands {
            host::exec::run_one(&self.namespace, command).map_err(&run_error)?;
        }
        Ok(())
    }

    /// Gives it a view of its own network under `/sys`: all a switch needs.
    pub(crate) fn isolate(&self) -> Result<(), Error> {
        let mount = "mount -t sysfs -o nosuid,nodev,noexec sysfs /sys";
        self.run(say("error-lab.separate-files"), &[words(mount)])
    }

    /// Gives it folders of its own wherever a host writes, a name, and the share user.
    pub(crate) fn furnish(&self, topology: &Topology, account: &Account) -> Result<(), Error> {
        let etc = format!("{FOLDER}/etc");
        let name = Command::new(["tee", "/proc/sys/kernel/hostname"]);
        let mut commands = vec![
            words("mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run"),
            words("mkdir -p -m 755 /run/lock /run/samba").with_timeout(LAST_WORDS),
            Command::new(["mkdir", FOLDER]),
            Command::new(["cp", "-a", "/etc", &etc]).with_timeout(COPY_LIMIT),
            Command::new(["mount", "--bind", &etc, "/etc"]),
            name.with_stdin(format!("{}\n", self.name)),
        ];
        let masked = MASKED.iter().filter(|folder| fs::metadata(folder).is_ok());
        commands.extend(masked.map(|folder| {
            Command::new([
                "mount",
                "-t",
                "tmpfs",
                "-o",
                "nosuid,nodev",
                "tmpfs",
                folder,
            ])
        }));
        self.run(say("error-lab.separate-files"), &commands)?;
        self.write("/etc/hostname", 0o644, &format!("{}\n", self.name))?;
        self.write("/etc/hosts", 0o644, &hosts_file(topology))?;
        for (path, text) in krb5_and_resolv_conf::files(topology, &self.name) {
            self.write(path, 0o644, &text)?;
        }
        self.write("/etc/machine-id", 0o444, &machine_id()?)?;
        self.add_user()?;
        self.write(&format!("{FOLDER}/topology.toml"), 0o644, topology.text())?;
        self.write(
            &format!("{FOLDER}/credentials"),
            0o600,
            &account.credentials(),
        )
    }

    fn add_user(&self) -> Result<(), Error> {
        let entries = [
            (
                "/etc/passwd",
                0o644,
                format!("{USER}:x:{USER_ID}:{USER_ID}::/nonexistent:/usr/sbin/nologin"),
            ),
            ("/etc/group", 0o644, format!("{USER}:x:{USER_ID}:")),
            ("/etc/shadow", 0o600, format!("{USER}:!:20000::::::")),
        ];
        for (path, mode, entry) in entries {
            // From the machine's own file, of which the host has a copy: a link in the copy would
            // lead us astray.
            let before = match fs::read_to_string(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                read => read.map_err(|source| Error::System {
                    action: say("error-lab.read"),
                    subject: path.into(),
                    source,
                })?,
            };
            self.write(path, mode, &with_entry(&before, &entry))?;
        }
        Ok(())
    }

    /// Writes a file of the host from outside. It replaces what was there and follows no link,
    /// which would lead to a file of the machine.
    pub(crate) fn write(&self, path: &str, mode: u32, text: &str) -> Result<(), Error> {
        let outside = self.namespace.path(path);
        let removed = match fs::remove_file(&outside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        let create = || {
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(&outside)?;
            file.write_all(text.as_bytes())
        };
        removed
            .and_then(|()| create())
            .map_err(|source| Error::System {
                action: say("error-lab.write"),
                subject: outside.display().to_string().into(),
                source,
            })
    }
}

/// A command without special characters.
pub(crate) fn words(line: &str) -> Command {
    Command::new(line.split_whitespace())
}

fn hosts_file(topology: &Topology) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    let ends = topology.links.iter().flat_map(|link| &link.ends);
    for end in ends {
        if let Some(address) = end.address {
            let domain = topology
                .domain()
                .filter(|(samba, _)| samba.host == end.node);
            let full_name =
                domain.map(|(samba, domain)| format!("{}.{} ", samba.host, domain.dns_name()));
            // Writing to a string cannot fail.
            writeln!(
                text,
                "{} {}{}",
                address.ip,
                full_name.unwrap_or_default(),
                end.node
            )
            .ok();
        }
    }
    text
}

fn machine_id() -> Result<String, Error> {
    let number = u128::from_ne_bytes(random_bytes::<16>()?);
    Ok(format!("{number:032x}\n"))
}
