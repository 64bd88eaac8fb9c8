//! Networks of one link each, two unless more are asked for, and a real Samba: everything ends with this process.
//!
//! A network is a namespace that only an open file keeps alive. Samba is the first process of a
//! namespace of its own, so that killing it kills all of it and nothing else.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use smb::{LocalAddress, LocalNic, Server};
use tempfile::TempDir;

/// A user that every system has, who owns nothing and is not root.
pub(crate) const USER: &str = "daemon";
pub(crate) const PASSWORD: &str = "a good password";
pub(crate) const SHARE: &str = "data";
const PREFIX: u8 = 24;
/// Room on the share: enough for every test but the one that fills it.
const SHARE_SIZE: &str = "256m";
/// Longest time Samba may take to start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct Lan {
    links: u8,
    client: File,
    server: File,
    /// Dropped before the folder, in which it would go on to write.
    samba: Mutex<Samba>,
    folder: TempDir,
    /// Samba's own process number as seen from here.
    samba_process: u32,
}

impl Lan {
    /// Builds two networks and starts Samba with these further lines in its `[global]`. The
    /// calling thread, and those it starts, are in the client's network from now on.
    pub(crate) fn new(global: &str) -> Self {
        Self::with_links(2, global)
    }

    /// The same with so many networks.
    pub(crate) fn with_links(links: u8, global: &str) -> Self {
        let share = format!("mount -t tmpfs -o size={SHARE_SIZE},mode=0777 tmpfs share");
        Self::with_share(links, global, &share)
    }

    /// With a share in whose file system files can share storage, and have more data streams than one.
    pub(crate) fn on_btrfs() -> Self {
        let share = format!(
            "truncate -s {SHARE_SIZE} disk && mkfs.btrfs -q disk >/dev/null && \
             mount -o loop disk share && chmod 0777 share"
        );
        let global = "vfs objects = btrfs streams_xattr\nlog level = 0 smb2:10";
        Self::with_share(2, global, &share)
    }

    /// With a folder `disk` on the share whose file system thinks that it has more room than
    /// [`Self::free_space`] gives it: it loses some of what was written, and finds out later.
    pub(crate) fn on_a_disk_that_loses() -> Self {
        let share = format!(
            "mount -t tmpfs -o size={SHARE_SIZE},mode=0777 tmpfs share && mkdir room share/disk && \
             mount -t tmpfs -o size=44m tmpfs room && truncate -s 64m room/disk && \
             mkfs.ext2 -q -F room/disk && fallocate -l 24m room/ballast && \
             mount -o loop room/disk share/disk && chmod 0777 share/disk"
        );
        Self::with_share(2, "", &share)
    }

    /// With a share `dfs` in whose folder [`Self::refer`] puts links, and one that refers to another server as a whole.
    pub(crate) fn with_dfs() -> Self {
        let share = format!(
            "mount -t tmpfs -o size={SHARE_SIZE},mode=0777 tmpfs share && mkdir -m 0777 share/root"
        );
        let target = address(1, 2);
        let global = format!(
            "[dfs]\npath = {{top}}/share/root\nmsdfs root = yes\nread only = no\n\
             [proxy]\npath = {{top}}/share/root\nmsdfs root = yes\nmsdfs proxy = \\{target}\\{SHARE}\n"
        );
        Self::with_share(2, &global, &share)
    }

    /// Makes a link of a distributed file system to these targets, as `server\share\folder`.
    pub(crate) fn refer(&self, link: &str, targets: &[&str]) {
        let link = self.on_server(&format!("root/{link}"));
        std::os::unix::fs::symlink(format!("msdfs:{}", targets.join(",")), link)
            .expect("it is new");
    }

    /// Lets that disk keep what is written from now on.
    pub(crate) fn free_space(&self) {
        fs::remove_file(self.on_server("../room/ballast")).expect("it is there");
    }

    /// With what makes the folder `share`.
    fn with_share(links: u8, global: &str, share: &str) -> Self {
        let (client, server) = (new_network(), new_network());
        let into = format!("/proc/{}/fd/{}", std::process::id(), server.as_raw_fd());
        run(&client, &["ip", "link", "set", "lo", "up"]);
        run(&server, &["ip", "link", "set", "lo", "up"]);
        for link in 0..links {
            let (ours, theirs) = (format!("c{link}"), format!("s{link}"));
            let peer = ["peer", "name", &theirs, "netns", &into];
            run(
                &client,
                &[&["ip", "link", "add", &ours, "type", "veth"], &peer[..]].concat(),
            );
            for (network, nic, host) in [(&client, &ours, 1), (&server, &theirs, 2)] {
                let address = format!("{}/{PREFIX}", address(link, host));
                run(network, &["ip", "address", "add", &address, "dev", nic]);
                run(network, &["ip", "link", "set", nic, "up"]);
            }
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let samba = start_samba(&server, links, &folder, (global, share));
        let samba_process = child_of(samba.0.id());
        move_into_link_name_space(client.as_fd(), Some(LinkNameSpaceType::Network))
            .expect("this runs as root");
        let samba = Mutex::new(samba);
        Self {
            links,
            client,
            server,
            folder,
            samba,
            samba_process,
        }
    }

    pub(crate) fn server(&self) -> Server {
        self.server_over(0)
    }

    /// The same server over another link.
    pub(crate) fn server_over(&self, link: u8) -> Server {
        assert!(link < self.links);
        Server {
            name: address(link, 2).to_string(),
            port: 445,
        }
    }

    /// The client's NICs, as if each had several queues.
    pub(crate) fn nics(&self) -> Vec<LocalNic> {
        let nic = |link| LocalNic {
            name: format!("c{link}"),
            addresses: vec![LocalAddress {
                address: address(link, 1),
                prefix_length: PREFIX,
            }],
            speed_bits_per_second: Some(1_000_000_000),
            rss: true,
        };
        (0..self.links).map(nic).collect()
    }

    /// Where a file of the share is for this process.
    pub(crate) fn on_server(&self, path: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.samba_process));
        let share = self.folder.path().join("share");
        root.join(share.strip_prefix("/").expect("it is absolute"))
            .join(path)
    }

    /// The same where [`Self::enter_server`] was called: `/proc` shows the server's files by a link that has no path
    /// here, and a copy takes no such link.
    pub(crate) fn within_server(&self, path: &str) -> PathBuf {
        self.folder.path().join("share").join(path)
    }

    /// From now on this thread, and those that it starts, sees the files of the server.
    #[expect(deprecated, reason = "what makes it unsafe is another flag, FILES")]
    pub(crate) fn enter_server(&self) {
        let mounts = File::open(format!("/proc/{}/ns/mnt", self.samba_process)).expect("it lives");
        rustix::thread::unshare(UnshareFlags::FS).expect("this runs as root");
        move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))
            .expect("this runs as root");
        // Its `/proc` knows the server's processes only; that of this machine is below.
        rustix::thread::unshare(UnshareFlags::NEWNS).expect("this runs as root");
        unmount("/proc", UnmountFlags::DETACH).expect("the server has one");
    }

    /// What Samba has to say.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).expect("Samba writes it")
    }

    /// Runs a command in the client's network and gives its output.
    pub(crate) fn on_client_run(&self, command: &[&str]) -> String {
        run(&self.client, command)
    }

    /// How many connections the client has to the server.
    pub(crate) fn connections(&self) -> usize {
        let listed =
            self.on_client_run(&["ss", "-Htn", "state", "established", "dport", "=", "445"]);
        listed.lines().count()
    }

    /// Pulls a cable.
    pub(crate) fn cut(&self, link: u8) {
        self.on_client_run(&["ip", "link", "set", &format!("c{link}"), "down"]);
    }

    /// Puts it back.
    pub(crate) fn mend(&self, link: u8) {
        self.on_client_run(&["ip", "link", "set", &format!("c{link}"), "up"]);
    }

    /// What the server says over this link is lost; what is said to it is not.
    pub(crate) fn silence(&self, link: u8) {
        let client = format!("{}/32", address(link, 1));
        run(&self.server, &["ip", "route", "add", "blackhole", &client]);
    }

    /// Limits a link in both directions.
    pub(crate) fn limit(&self, link: u8, rate: &str) {
        let bucket = [
            "root", "tbf", "rate", rate, "burst", "64k", "latency", "50ms",
        ];
        for (network, nic) in [
            (&self.client, format!("c{link}")),
            (&self.server, format!("s{link}")),
        ] {
            run(
                network,
                &[&["tc", "qdisc", "replace", "dev", &nic], &bucket[..]].concat(),
            );
        }
    }

    /// Kills Samba, without any good-bye to its clients, and starts it again with the same share.
    pub(crate) fn restart_samba(&self) {
        self.samba.lock().expect("nobody panics with it").restart();
        let begun = Instant::now();
        while !listens(&self.server, self.links) {
            assert!(begun.elapsed() < START_TIMEOUT, "Samba does not start");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Gives the user another password.
    pub(crate) fn change_password(&self, password: &str) {
        set_password(&self.configuration(), USER, password);
    }

    /// Lets another user of this system in, with the same password.
    pub(crate) fn add_user(&self, user: &str) {
        set_password(&self.configuration(), user, PASSWORD);
    }

    /// Has Samba take a group of this system for the administrators, when one of it logs in.
    pub(crate) fn make_administrators(&self, group: &str) {
        let configuration = self.configuration();
        let configuration = configuration.to_str().expect("plain letters");
        let group = format!("unixgroup={group}");
        run(
            &self.server,
            &[
                "net",
                "-s",
                configuration,
                "groupmap",
                "add",
                "sid=S-1-5-32-544",
                &group,
                "type=builtin",
            ],
        );
    }

    fn configuration(&self) -> PathBuf {
        self.folder.path().join("smb.conf")
    }

    /// Kills all of Samba at once; the networks stay.
    pub(crate) fn kill_samba(&self) {
        self.samba.lock().expect("nobody panics with it").kill();
    }
}

/// Samba's first process, which takes all others with it.
struct Samba(Child);

impl Samba {
    /// The shell ends with its input, the kernel then kills the rest of its namespace, and only
    /// when all of it is gone the child that is waited for ends.
    /// The shell kills all but itself, says so, and starts Samba again.
    fn restart(&mut self) {
        let input = self.0.stdin.as_mut().expect("it runs");
        io::Write::write_all(input, b"again\n").expect("it reads");
        let mut said = [0; 5];
        let output = self.0.stdout.as_mut().expect("it was asked for");
        io::Read::read_exact(output, &mut said).expect("it says so");
        assert_eq!(&said, b"gone\n");
    }

    fn kill(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("it is our child");
    }
}

impl Drop for Samba {
    fn drop(&mut self) {
        self.kill();
    }
}

fn address(link: u8, host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 94, link, host))
}

/// A network of its own. The descriptor keeps it when the program that made it is gone.
fn new_network() -> File {
    let mut maker = Command::new("unshare");
    maker.args(["--net", "sh", "-c", "echo made; read wait"]);
    let mut maker = maker
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`unshare` starts");
    let mut said = String::new();
    let output = maker.stdout.take().expect("it was asked for");
    BufReader::new(output)
        .read_line(&mut said)
        .expect("it says one line");
    assert_eq!(said, "made\n", "this runs as root");
    let network = File::open(format!("/proc/{}/ns/net", maker.id())).expect("it lives");
    drop(maker.stdin.take());
    maker.wait().expect("our own child");
    network
}

/// Starts a program in a network: a child is where the thread that starts it is.
fn spawn(network: &File, command: &mut Command) -> Child {
    let started = thread::scope(|scope| {
        let started = scope.spawn(|| {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
            command.spawn()
        });
        started.join().expect("it does not panic")
    });
    started.expect("the program is installed")
}

fn run(network: &File, command: &[&str]) -> String {
    let mut program = Command::new(command[0]);
    program
        .args(&command[1..])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = spawn(network, &mut program)
        .wait_with_output()
        .expect("it is our child");
    text(command, &output)
}

fn text(command: &[&str], output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn start_samba(
    network: &File,
    links: u8,
    folder: &TempDir,
    (global, share): (&str, &str),
) -> Samba {
    let top = folder.path().display();
    fs::create_dir(folder.path().join("share")).expect("the folder is ours");
    let configuration = folder.path().join("smb.conf");
    fs::write(
        &configuration,
        samba_configuration(links, &top.to_string(), global),
    )
    .expect("the folder is ours");
    set_password(&configuration, USER, PASSWORD);

    // The shell reads until this process ends, however it does; then its namespace ends with it.
    let script = format!(
        "(cd '{top}' && {share}) || exit\n\
         begin() {{\n\
         smbd --foreground --no-process-group --configfile='{top}/smb.conf' \
         </dev/null >/dev/null &\n\
         }}\n\
         begin\n\
         while read again; do kill -9 -1; wait; echo gone; begin; done"
    );
    let mut samba = Command::new("unshare");
    samba
        .args([
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "sh",
            "-c",
            &script,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // When it ends, Samba ends its whole process group, which must not be ours.
        .process_group(0);
    let samba = Samba(spawn(network, &mut samba));
    let begun = Instant::now();
    while !listens(network, links) {
        assert!(begun.elapsed() < START_TIMEOUT, "Samba does not start");
        thread::sleep(Duration::from_millis(10));
    }
    samba
}

fn listens(network: &File, links: u8) -> bool {
    let listening = run(network, &["ss", "-tlnH", "sport", "=", "445"]);
    listening.lines().count() >= usize::from(links)
}

fn samba_configuration(links: u8, top: &str, global: &str) -> String {
    let interfaces: Vec<_> = (0..links)
        .map(|link| {
            format!(
                "\"{}/{PREFIX};speed=1000000000,capability=RSS\"",
                address(link, 2)
            )
        })
        .collect();
    format!(
        "[global]\n\
         netbios name = LAN\n\
         private dir = {top}\n\
         lock directory = {top}\n\
         state directory = {top}\n\
         cache directory = {top}\n\
         ncalrpc dir = {top}/ncalrpc\n\
         pid directory = {top}\n\
         log file = {top}/log\n\
         passdb backend = tdbsam:{top}/passdb.tdb\n\
         bind interfaces only = yes\n\
         interfaces = {}\n\
         server multi channel support = yes\n\
         load printers = no\n\
         disable spoolss = yes\n\
         {}\n\
         [{SHARE}]\n\
         path = {top}/share\n\
         read only = no\n",
        interfaces.join(" "),
        global.replace("{top}", top)
    )
}

fn set_password(configuration: &std::path::Path, user: &str, password: &str) {
    let mut smbpasswd = Command::new("smbpasswd")
        .arg("-c")
        .arg(configuration)
        .args(["-s", "-a", user])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Samba is installed");
    let mut input = smbpasswd.stdin.take().expect("it is piped");
    io::Write::write_all(&mut input, format!("{password}\n{password}\n").as_bytes())
        .expect("it reads");
    drop(input);
    let output = smbpasswd.wait_with_output().expect("it is our child");
    text(&["smbpasswd"], &output);
}

fn child_of(process: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.expect("it runs");
    children.trim().parse().expect("it has one child")
}
