//! Servers, each in namespaces of its own that end with the guard.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;

pub const USER: &str = "利用者";
pub const PASSWORD: &str = "合言葉 good";
pub const SHARE: &str = "共有";
/// A share whose folders may be on other servers (DFS), where the server can have one.
pub const LINKS: &str = "dfs";
/// A share that is in the server's memory, where there is one.
pub const FAST_SHARE: &str = "速い";
pub const PORT: u16 = 445;
/// The longest that a server may take until it listens: that of a kernel in QEMU, by software alone.
const START_LIMIT: Duration = Duration::from_secs(180);

/// A server that the suite can start.
pub struct Server {
    pub name: &'static str,
    /// `make test` runs some jobs on it.
    pub always: bool,
    make: Make,
    /// It has the POSIX extensions.
    pub posix: bool,
    /// Jobs that smbclient cannot do on it either, with what is said of that.
    pub refuses: &'static [(&'static str, &'static str)],
    /// Rules that it breaks, by job.
    pub breaks: &'static [(&'static str, &'static str)],
}

enum Make {
    /// Lines for `[global]`; from this machine's packages, or from those of backports.
    Samba {
        global: &'static str,
        backports: bool,
    },
    Impacket,
    SmbServer,
    /// A kernel in QEMU, at [`KSMBD`], with two links.
    Ksmbd,
}

/// What a kernel of Linux says of a fault of its own.
const KERNEL_FAULTS: [&str; 4] = [
    "BUG: ",
    "Oops: ",
    "general protection fault",
    "Kernel panic",
];
/// Lines of that which are shown.
const KERNEL_LINES: usize = 30;

/// The guest's end of its first link.
const KSMBD: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 2);

pub const SERVERS: &[Server] = &[
    Server {
        name: "samba",
        always: true,
        make: Make::Samba {
            global: "",
            backports: false,
        },
        posix: false,
        refuses: &[
            (
                "names by case",
                "a share does not tell capitals from small letters; smbclient would replace the first file by the second",
            ),
            (
                "names of the server",
                "of what is no UTF-8 it shows a name that it does not open, and smbclient does not list it; one with `\\` in it smbclient brings home under a stand-in",
            ),
        ],
        breaks: &[],
    },
    Server {
        name: "impacket",
        always: true,
        make: Make::Impacket,
        posix: false,
        refuses: &[
            (
                "names by case",
                "a share does not tell capitals from small letters; smbclient would replace the first file by the second",
            ),
            (
                "names of the server",
                "it hangs up when it meets a name that is no UTF-8, and so it does on smbclient",
            ),
            (
                "read-only",
                "it says that attributes are set, and has none; smbclient's `setmode` changes nothing either",
            ),
            (
                "links of the server",
                "it hangs up when it meets a link to nothing, and so it does on smbclient",
            ),
            ("encrypted", "it cannot encrypt"),
            ("other server", "it has no distributed file system"),
            (
                "listing",
                "it says nothing for longer than 20 s, and smbclient gives up as well",
            ),
        ],
        breaks: &[
            (
                "3.3.5.13",
                "a WRITE beyond the end of the file is not done, and is said to be done",
            ),
            (
                "3.3.5.21.1 (MS-FSCC 2.4.14)",
                "setting the end of file writes a zero as the last byte, and never shortens a file",
            ),
            (
                "3.3.5.21.1 (MS-FSCC 2.4.7)",
                "the time of the last change of data is set as that of the last access, and that of any change in its place",
            ),
            (
                "3.3.5.2.7.2",
                "a related request is about what the connection opened last, whatever the request before it was about",
            ),
            (
                "3.3.5.7",
                "a share that does not exist is STATUS_OBJECT_PATH_NOT_FOUND, not STATUS_BAD_NETWORK_NAME",
            ),
        ],
    },
    Server {
        name: "smb-server",
        always: true,
        make: Make::SmbServer,
        posix: false,
        refuses: &[
            (
                "names by case",
                "a share does not tell capitals from small letters; smbclient would replace the first file by the second",
            ),
            ("other server", "it has no distributed file system"),
        ],
        breaks: &[],
    },
    Server {
        name: "samba catia fruit acl_xattr",
        always: false,
        make: Make::Samba {
            global: "vfs objects = acl_xattr catia fruit streams_xattr\nfruit:encoding = native\n",
            backports: false,
        },
        posix: false,
        refuses: &[
            (
                "names by case",
                "a share does not tell capitals from small letters; smbclient would replace the first file by the second",
            ),
            (
                "names of the server",
                "of what is no UTF-8 it shows a name that it does not open, and smbclient does not list it; one with `\\` in it smbclient brings home under a stand-in",
            ),
        ],
        breaks: &[],
    },
    Server {
        name: "samba backports",
        always: false,
        make: Make::Samba {
            global: "",
            backports: true,
        },
        posix: false,
        refuses: &[
            (
                "names by case",
                "a share does not tell capitals from small letters; smbclient would replace the first file by the second",
            ),
            (
                "names of the server",
                "of what is no UTF-8 it shows a name that it does not open, and smbclient does not list it; one with `\\` in it smbclient brings home under a stand-in",
            ),
        ],
        breaks: &[],
    },
    Server {
        name: "samba backports posix",
        always: false,
        make: Make::Samba {
            global: "smb3 unix extensions = yes\n",
            backports: true,
        },
        posix: true,
        refuses: &[],
        breaks: &[],
    },
    Server {
        name: "ksmbd",
        always: false,
        posix: false,
        make: Make::Ksmbd,
        refuses: &[
            (
                "names of Windows",
                "it has the POSIX extensions and takes `\\` for `/` and `:` for a stream's begin, as it does from smbclient; `names mapped` is how they are kept",
            ),
            (
                "names of the server",
                "it lists `a:b` and does not find it when that is opened, by smbclient either; one with `\\` in it smbclient brings home under a stand-in",
            ),
            (
                "cut up",
                "where a connection broke in the middle of requests, it may answer no login for a minute and longer; smbclient gives up at the first cut",
            ),
            (
                "cut down",
                "where a connection broke in the middle of requests, it may answer no login for a minute and longer; smbclient gives up at the first cut",
            ),
            ("other server", "it has no distributed file system"),
        ],
        breaks: &[
            (
                "2.2.4",
                "its ServerGuid is zero, so that nobody can tell whether two connections lead to the same server; a copy has one session only, and asks for one part of a listing at a time",
            ),
            (
                "3.1.4.1",
                "the signature of a READ that is refused is made over what stands before the reply as well",
            ),
            (
                "3.1.4.1",
                "what is signed of a TREE_CONNECT that is refused is the first 73 bytes of the reply; smbclient takes the reply for a wrong one, and cannot say that a share does not exist",
            ),
            ("3.3.4.1.1", "the reply to an ECHO is not signed"),
            (
                "3.3.5.2.7.2",
                "a related CLOSE is STATUS_INVALID_PARAMETER where the chain does not begin with a CREATE",
            ),
            (
                "3.3.5.2.7.2",
                "a chain for a session that is gone is answered by one reply, with the distance to a next one that is not there",
            ),
            (
                "3.3.5.5",
                "where a connection broke in the middle of requests, a login may get no answer for a minute and longer: in one of three runs, `cut up` and `cut down` failed",
            ),
            (
                "3.3.5.10",
                "a CLOSE may be STATUS_FILE_CLOSED though the file was open until then",
            ),
            (
                "3.3.5.6",
                "a LOGOFF ends the further channels of all other sessions, which are told STATUS_USER_SESSION_DELETED",
            ),
            (
                "3.3.5.18",
                "of two QUERY_DIRECTORY in a chain, the second is STATUS_NO_MORE_FILES where the first has filled the reply, and of two at once, a reply may be malformed",
            ),
        ],
    },
];

/// One that speaks nothing newer than SMB 1.
pub const SMB_1: Server = Server {
    name: "samba of SMB 1",
    always: false,
    make: Make::Samba {
        global: "server min protocol = NT1\nserver max protocol = NT1\n",
        backports: false,
    },
    posix: false,
    refuses: &[],
    breaks: &[],
};

/// One that runs; dropping it ends it.
pub struct Running {
    process: Child,
    folder: TempDir,
    version: String,
    address: Ipv4Addr,
}

impl Server {
    /// Ways to it.
    pub const fn links(&self) -> usize {
        match self.make {
            Make::Ksmbd => 2,
            _ => 1,
        }
    }

    /// Starts it, and moves this thread into its network.
    pub fn start(&self) -> Running {
        let folder = tempfile::tempdir().expect("space on the disk");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("our own");
        let share = folder.path().join("share");
        fs::create_dir(&share).expect("our own folder");
        fs::set_permissions(&share, fs::Permissions::from_mode(0o777)).expect("our own");
        fs::create_dir(folder.path().join(LINKS)).expect("our own folder");
        let (script, version) = self.make.script(folder.path());
        let log = File::create(folder.path().join("log")).expect("our own folder");
        // It ends with this thread, however that ends.
        let mut command = Command::new("setpriv");
        command
            .args([
                "--pdeathsig",
                "KILL",
                "unshare",
                "--net",
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
            ])
            .args(["sh", "-c", &format!("ip link set lo up\n{script}")])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a descriptor"))
            .stderr(log)
            .process_group(0);
        let process = command.spawn().expect("`unshare` is there");
        let mut running = Running {
            process,
            folder,
            version,
            address: self.make.address(),
        };
        running.enter();
        running
    }
}

impl Running {
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where it listens, on [`PORT`].
    pub const fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Waits until it lets somebody in: what one job has broken is no matter of the next.
    pub fn settle(&self) {
        let begun = Instant::now();
        let login = format!("{USER}%{PASSWORD}");
        let share = format!("//{}/{SHARE}", self.address);
        let asked = ["-U", &login, &share, "-c", "exit"];
        let lets_in = || {
            let output = Command::new("smbclient").args(asked).output();
            output
                .expect("`scripts/setup` installs it")
                .status
                .success()
        };
        while !lets_in() {
            let waited = begun.elapsed();
            assert!(waited < START_LIMIT, "nobody was let in for {waited:?}");
        }
    }

    /// What it said of itself since it was started, in this file of its folder.
    pub fn read_file(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap_or_default()
    }

    /// What its kernel said of a fault of its own, where it has a kernel of its own: after that nothing of it is as it
    /// should be.
    pub fn kernel_fault(&self) -> Option<String> {
        let console = self.read_file("console");
        let lines: Vec<&str> = console.lines().collect();
        let is_fault = |line: &&str| KERNEL_FAULTS.iter().any(|words| line.contains(words));
        let from = lines.iter().position(is_fault)?;
        let said = lines[from..].iter().take(KERNEL_LINES);
        Some(said.copied().collect::<Vec<&str>>().join("; "))
    }

    /// The folder that it shares, as this process sees it.
    pub fn share(&self) -> PathBuf {
        self.folder.path().join("share")
    }

    /// The folder of [`LINKS`].
    pub fn links(&self) -> PathBuf {
        self.folder.path().join(LINKS)
    }

    fn enter(&mut self) {
        let ours = fs::read_link("/proc/thread-self/ns/net").expect("procfs");
        let theirs = PathBuf::from(format!("/proc/{}/ns/net", self.process.id()));
        let begun = Instant::now();
        let wait = |running: &mut Self| {
            let ended = running.process.try_wait().expect("our own child");
            let log = || running.read_file("log");
            assert!(ended.is_none(), "the server ended: {}", log());
            assert!(
                begun.elapsed() < START_LIMIT,
                "the server does not start: {}",
                log()
            );
            thread::sleep(Duration::from_millis(20));
        };
        while fs::read_link(&theirs).is_ok_and(|theirs| theirs == ours) {
            wait(self);
        }
        let network = File::open(&theirs).expect("it was there a moment ago");
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
            .expect("this runs as root");
        while TcpStream::connect((self.address, PORT)).is_err() {
            wait(self);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where `scripts/setup` has put the servers that are not of this machine's packages.
fn installed(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/interop")
        .join(path)
}

fn first_line(command: &mut Command) -> String {
    let output = command.output().expect("`scripts/setup` installs it");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

impl Make {
    /// What starts it in its namespaces, and its version.
    fn script(&self, folder: &Path) -> (String, String) {
        let share = folder.join("share").display().to_string();
        match self {
            Self::Samba { global, backports } => samba(folder, global, *backports),
            Self::Impacket => {
                let python = installed("impacket/bin/python").display().to_string();
                let server = installed("impacket/bin/smbserver.py").display().to_string();
                let asked = "import importlib.metadata as m; print(m.version('impacket'))";
                let version = first_line(Command::new(&python).args(["-c", asked]));
                let script = format!(
                    "'{python}' '{server}' -smb2support -username '{USER}' -password '{PASSWORD}' \
                     '{SHARE}' '{share}'"
                );
                (script, version)
            }
            Self::SmbServer => {
                let server = installed("smb-server/debug/interop-smb-server");
                let server = server.display();
                let lock = include_str!("../../../../interop/smb-server/Cargo.lock");
                let after = lock.split("name = \"smb-server\"\nversion = \"").nth(1);
                let version = after
                    .and_then(|it| it.split('"').next())
                    .unwrap_or_default();
                let address = format!("127.0.0.1:{PORT}");
                let script =
                    format!("'{server}' {address} '{USER}' '{PASSWORD}' '{SHARE}' '{share}'");
                (script, version.to_owned())
            }
            Self::Ksmbd => ksmbd(folder),
        }
    }

    const fn address(&self) -> Ipv4Addr {
        match self {
            Self::Ksmbd => KSMBD,
            _ => Ipv4Addr::LOCALHOST,
        }
    }
}

/// The guest reads what differs from run to run in the folder, which is mounted there as `/top`.
fn ksmbd(folder: &Path) -> (String, String) {
    let configuration = format!(
        "[global]\nserver multi channel support = yes\nmap to guest = never\n\
         [{SHARE}]\npath = /top/share\nread only = no\n\
         [{FAST_SHARE}]\npath = /fast\nread only = no\n"
    );
    let users = format!("root:x:0:0::/:/bin/sh\n{USER}:x:60123:60123::/:/bin/false\n");
    for (name, text) in [
        ("ksmbd.conf", configuration.as_str()),
        ("passwd", &users),
        ("user", USER),
        ("password", PASSWORD),
    ] {
        fs::write(folder.join(name), text).expect("our own folder");
    }
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/ksmbd/run");
    let files = installed("ksmbd");
    let script = format!(
        "exec '{}' '{}' '{}'",
        run.display(),
        folder.display(),
        files.display()
    );
    let version = fs::read_to_string(files.join("version"));
    (
        script,
        version
            .expect("`scripts/setup` installs it")
            .trim()
            .to_owned(),
    )
}

/// Samba with a user of a name that this machine does not have.
fn samba(folder: &Path, global: &str, backports: bool) -> (String, String) {
    let top = folder.display();
    let configuration = format!(
        "[global]\n\
         private dir = {top}\nlock directory = {top}\nstate directory = {top}\n\
         cache directory = {top}\nncalrpc dir = {top}/ncalrpc\npid directory = {top}\n\
         log file = {top}/log.smbd\nlog level = 1\nmap to guest = never\nload printers = no\n\
         disable spoolss = yes\n{global}\
         [{SHARE}]\npath = {top}/share\nread only = no\nstore dos attributes = yes\n\
         [{LINKS}]\npath = {top}/{LINKS}\nmsdfs root = yes\n"
    );
    fs::write(folder.join("smb.conf"), configuration).expect("our own folder");
    let users = fs::read_to_string("/etc/passwd").expect("every system has it");
    let users = format!("{users}{USER}:x:60123:60123::/:/bin/false\n");
    fs::write(folder.join("passwd"), users).expect("our own folder");
    let root = installed("samba");
    let (root, libraries) = match backports {
        true => (root.display().to_string(), "usr/lib/x86_64-linux-gnu"),
        false => (String::new(), ""),
    };
    let mut script = format!("mount --bind '{top}/passwd' /etc/passwd || exit\n");
    if backports {
        // Its libraries and modules are expected where Debian puts them.
        for folder in [
            &format!("{libraries}/samba"),
            "usr/libexec/samba",
            "usr/share/samba",
        ] {
            script.push_str(&format!(
                "mkdir -p '/{folder}' && mount --bind '{root}/{folder}' '/{folder}' || exit\n"
            ));
        }
        script.push_str(&format!("export LD_LIBRARY_PATH='{root}/{libraries}'\n"));
    }
    script.push_str(&format!(
        "printf '%s\\n%s\\n' '{PASSWORD}' '{PASSWORD}' | \
         '{root}/usr/bin/smbpasswd' -c '{top}/smb.conf' -a -s '{USER}' || exit\n\
         '{root}/usr/sbin/smbd' --foreground --no-process-group --configfile='{top}/smb.conf'"
    ));
    let mut asked = Command::new(format!("{root}/usr/sbin/smbd"));
    asked.arg("--version");
    if backports {
        let own = format!("{root}/{libraries}");
        asked.env("LD_LIBRARY_PATH", format!("{own}:{own}/samba"));
    }
    let version = first_line(&mut asked);
    (script, version.trim_start_matches("Version ").to_owned())
}
