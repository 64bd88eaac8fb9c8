//! However a lab ends, nothing of it is left.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lab::{Error, Topology};
use rustix::process::{Pid, Signal, kill_process};

use super::{
    Namespaces, PATIENCE, Traces, Up, eventually, example, have_machine, processes_in, program,
};

pub(super) fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Leaves a daemon and a file in the lab, so that there is something to lose.
fn use_lab(up: &Up) {
    let account = ["smbclient", "-A", lab::CREDENTIALS_IN_HOST];
    let put = ["//10.77.1.2/media", "-c", "put /etc/passwd somebody"];
    up.output("client", &[account.as_slice(), &put].concat());
    up.output("server", &["iperf3", "-s", "-D"]);
}

pub(super) fn assert_gone(name: &str, namespaces: &Namespaces, before: &Traces) {
    eventually("its processes are gone", || {
        processes_in(namespaces).is_empty()
    });
    eventually("its name is free", || {
        let sockets = fs::read_to_string("/proc/net/unix").unwrap();
        !sockets.contains(&format!("@linerate-lab/{name}"))
    });
    assert_eq!(Traces::now(), *before);
    assert!(matches!(lab::find(name), Err(Error::NoSuchLab { .. })));
}

#[test]
fn down_leaves_nothing_and_says_so_when_there_is_nothing() {
    let _machine = have_machine();
    let before = Traces::now();
    let up = Up::example("test-down", "two-links.toml");
    use_lab(&up);
    let namespaces = up.namespaces();
    assert_eq!(namespaces.held.len() + namespaces.mounts.len(), 10);
    assert_eq!(namespaces.grips.len(), 8);
    assert!(!processes_in(&namespaces).is_empty());
    assert_eq!(Traces::now(), before);

    let gone = lab::down("test-down").unwrap();
    assert_eq!((gone.name.as_str(), gone.nodes), ("test-down", 2));
    // Two holders, Samba and the daemon at least.
    assert!(gone.processes >= 4, "{gone:?}");
    assert_eq!(processes_in(&namespaces), [0; 0]);
    assert_gone("test-down", &namespaces, &before);

    let again = lab::down("test-down").unwrap_err();
    assert_eq!(again.to_string(), "there is no lab named `test-down`");
    assert!(again.hint().is_some());
}

#[test]
fn killing_the_supervisor_leaves_nothing() {
    let _machine = have_machine();
    let before = Traces::now();
    let up = Up::example("test-kill", "two-links.toml");
    use_lab(&up);
    let namespaces = up.namespaces();
    kill(up.supervisor());
    assert_gone("test-kill", &namespaces, &before);
}

/// Processes of which the file `name` in their folder under `/proc` fits.
fn processes_with(name: &str, fits: impl Fn(&[u8]) -> bool) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    let numbers = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &u32| {
            let text = fs::read(format!("/proc/{number}/{name}"));
            text.is_ok_and(|text| fits(&text))
        })
        .collect()
}

/// The supervisor of a lab that may still be starting, by its command line.
fn find_supervisor(name: &str) -> Option<u32> {
    let command = format!("{}\0supervise\0{name}\0", program());
    // What it has just forked looks the same until it has become something else, and is younger.
    let found = processes_with("cmdline", |line| line == command.as_bytes());
    found.into_iter().min()
}

/// Processes that come from one start of `up`, by a variable they all inherit: others on this
/// machine may have labs too, and a lab that is not ready does not tell its namespaces.
fn processes_marked(mark: &str) -> Vec<u32> {
    let mark = format!("{MARK}={mark}");
    processes_with("environ", |variables| {
        variables
            .split(|&byte| byte == 0)
            .any(|one| one == mark.as_bytes())
    })
}

const MARK: &str = "LINERATE_LAB_TEST";

#[test]
fn killing_the_supervisor_while_it_starts_leaves_nothing() {
    let _machine = have_machine();
    let before = Traces::now();
    for moment_ms in [0, 20, 60, 120, 200, 300] {
        let name = format!("test-young-{moment_ms}");
        let mut starting = Command::new(program())
            .args(["up", &name])
            .arg(example("two-links.toml"))
            .env(MARK, &name)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the supervisor runs", || find_supervisor(&name).is_some());
        let supervisor = find_supervisor(&name).unwrap();
        std::thread::sleep(Duration::from_millis(moment_ms));
        assert!(processes_marked(&name).contains(&supervisor));
        kill(supervisor);
        starting.wait().unwrap();
        eventually("its processes are gone", || {
            processes_marked(&name).is_empty()
        });
        assert_gone(&name, &Namespaces::default(), &before);
    }
}

#[test]
fn killing_a_host_ends_the_whole_lab() {
    let _machine = have_machine();
    let before = Traces::now();
    let text = fs::read_to_string(example("switch.toml")).unwrap();
    let topology = Topology::parse(&text.replace("9000", "1500")).unwrap();
    let up = Up::new("test-host-killed", &topology);
    use_lab(&up);
    let namespaces = up.namespaces();
    kill(up.lab.namespace("switch").unwrap().holder());
    eventually("the supervisor is gone", || {
        matches!(lab::find("test-host-killed"), Err(Error::NoSuchLab { .. }))
    });
    assert_gone("test-host-killed", &namespaces, &before);
    // Whoever still has the host cannot do anything with it, least of all to the machine.
    let (status, _) = up.run("client", &["true"]);
    assert_ne!(status, 0);
}

#[test]
fn a_lab_that_cannot_come_up_leaves_nothing() {
    let _machine = have_machine();
    let before = Traces::now();
    let text = fs::read_to_string(example("two-links.toml")).unwrap();
    // By then the server runs. The address is taken already.
    let fault = "[[fault]]\non = \"client\"\naddress = { nic = \"lan1\", add = \"10.77.1.1/24\" }";
    let text = format!("{text}\n{fault}\n");
    let topology = Topology::parse(&text).unwrap();
    let error = Up::try_new("test-failing", &topology).err().unwrap();
    let said = error.to_string();
    assert!(
        said.starts_with("the lab `test-failing` did not come up: cannot inject a fault on"),
        "{said}"
    );
    assert!(said.contains("10.77.1.1/24"), "{said}");
    assert!(matches!(
        lab::find("test-failing"),
        Err(Error::NoSuchLab { .. })
    ));
    assert_gone("test-failing", &Namespaces::default(), &before);
}

#[test]
fn a_lab_holds_no_lock_and_no_pipe_of_whoever_started_it() {
    const NAME: &str = "test-descriptors";
    let _machine = have_machine();
    let folder = std::env::temp_dir().join(format!("linerate-descriptors-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let lock = folder.join("lock");
    let script = "exec 9>\"$1\"; flock 9; exec 8>&1; exec \"$0\" up \"$2\" \"$3\"";
    let mut caller = Command::new("sh")
        .args(["-c", script, program()])
        .arg(&lock)
        .arg(NAME)
        .arg(example("two-links.toml"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = caller.stdout.take().unwrap();
    let (sender, closed) = mpsc::channel();
    thread::spawn(move || {
        let mut output = String::new();
        sender.send(pipe.read_to_string(&mut output).map(|_| output))
    });
    let status = caller.wait().unwrap();
    let closed = closed.recv_timeout(PATIENCE);
    let free = Command::new("flock")
        .arg("-n")
        .arg(&lock)
        .arg("true")
        .status();
    let found = lab::find(NAME).map(|lab| lab.name().to_owned());
    lab::down(NAME).ok();
    fs::remove_dir_all(&folder).unwrap();
    assert!(status.success(), "{closed:?}");
    assert_eq!(found.unwrap(), NAME);
    closed.expect("the pipe is closed").unwrap();
    assert!(free.unwrap().success(), "the lock is free");
}
