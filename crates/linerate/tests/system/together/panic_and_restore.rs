//! A panic at each command of a change, forced from outside on the program as it is: a debugger stops it where it begins
//! the command and goes on in the function that an overflow calls. The stack unwinds as from any other panic, and both
//! hosts are as before without `undo`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::lab_and_program::{self, Lab};

/// Where each command of a host of this machine begins.
const COMMAND: &str = "<host::exec::local::Local as host::exec::Exec>::run";
/// What a sum calls that does not fit; it takes the place in the source.
const PANIC: &str = "core::panicking::panic_const::panic_const_add_overflow";
/// What that says.
const SAID: &str = "attempt to add with overflow";
/// The register of a function's first argument.
const ARGUMENT: &str = if cfg!(target_arch = "aarch64") {
    "$x0"
} else {
    "$rdi"
};
/// What gdb 13 needs on a processor with more registers than it knows (AMX), in C.
const WHOLE_REGISTER_SETS: &str = include_str!("../../../../lab/src/linux/whole_register_sets.c");
/// More commands than any such change has.
const COMMANDS_MAX: u32 = 200;
/// Commands of the change that is panicked in: of fewer, the test would mean nothing.
const COMMANDS_MIN: u32 = 5;

/// Where a function lies in the program, from its first byte.
fn offset(symbols: &str, name: &str) -> u64 {
    let line = symbols.lines().find(|line| line.ends_with(name));
    let line = line.unwrap_or_else(|| panic!("the program has no `{name}`"));
    let offset = line.split(' ').next().expect("an address");
    u64::from_str_radix(offset, 16).expect("an address")
}

fn symbols() -> String {
    let listed = Command::new("nm")
        .arg("-C")
        .arg(lab_and_program::path())
        .output();
    String::from_utf8(listed.expect("`nm` starts").stdout).expect("names of Rust")
}

/// What a debugger does to panic at a command of that number, from 1 on. Signals and children are none of its business.
fn script(symbols: &str, number: u32) -> String {
    let (command, panic) = (offset(symbols, COMMAND), offset(symbols, PANIC));
    let before = number - 1;
    format!(
        "set language c
set confirm off
set pagination off
set debuginfod enabled off
unset environment LD_PRELOAD
set detach-on-fork on
handle all nostop noprint pass
starti
python
inferior = gdb.selected_inferior()
maps = open('/proc/%d/maps' % inferior.pid)
path = gdb.current_progspace().filename
base = next(int(line.split('-')[0], 16) for line in maps if line.rstrip().endswith(path))
gdb.execute('set $base = %d' % base)
end
break *($base + {command})
ignore 1 {before}
continue
python
if not inferior.pid:
    gdb.execute('quit 0')
end
delete
set $place = ((long (*)(long)) malloc)(64)
set {{long}}$place = $place + 32
set {{long}}($place + 8) = 7
set {{int}}($place + 16) = 1
set {{int}}($place + 20) = 1
set {{char[7]}}($place + 32) = \"forced\"
set {ARGUMENT} = $place
set $pc = $base + {panic}
continue
"
    )
}

/// The library that is made of [`WHOLE_REGISTER_SETS`].
fn library(lab: &Lab) -> PathBuf {
    let (source, made) = ["registers.c", "registers.so"]
        .map(|name| lab.folder().join(name))
        .into();
    fs::write(&source, WHOLE_REGISTER_SETS).expect("room on the disk");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]);
    let compiled = compiler.arg(&made).arg(&source).status();
    assert!(compiled.expect("`cc` starts").success());
    made
}

/// The program with these arguments, panicking at its command of that number, if it has so many.
fn panicking(
    lab: &Lab,
    (symbols, library): (&str, &Path),
    number: u32,
    arguments: &[&str],
) -> Output {
    let file = lab.folder().join("panic.gdb");
    fs::write(&file, script(symbols, number)).expect("room on the disk");
    Command::new("gdb")
        .args(["-nx", "-batch", "-readnever", "-return-child-result", "-x"])
        .arg(&file)
        .arg("--args")
        .arg(lab_and_program::path())
        .args(arguments)
        .env("LINERATE_STATE_DIR", lab.folder().join("state"))
        .env("LD_PRELOAD", library)
        .output()
        .expect("gdb starts")
}

#[test]
fn a_panic_at_any_command_of_a_change_puts_everything_back() {
    let lab = Lab::up("panics");
    let before = lab.picture();
    let (symbols, library) = (symbols(), library(&lab));
    let server = lab.host("server");
    let arguments = [
        "set",
        &server,
        "nic.mtu@lan2=3000",
        "nic.gro@lan2=on",
        "tcp.sack=off",
    ];
    let mut panicked = 0;
    for number in 1..=COMMANDS_MAX {
        let output = panicking(&lab, (&symbols, &library), number, &arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_whole = output.status.success();
        assert_eq!(said.contains(SAID), !is_whole, "{number}: {output:?}");
        let open = lab.linerate().arg("changes").output().expect("it starts");
        if is_whole {
            // So it had no such command: the change is made, and kept.
            assert_eq!(open.status.code(), Some(1), "{open:?}");
            lab.linerate().arg("undo").assert().success();
            break;
        }
        panicked += 1;
        assert_eq!(open.status.code(), Some(0), "{number}: {open:?} {said}");
        assert!(lab.picture() == before, "command {number} leaves {said}");
    }
    assert!(panicked >= COMMANDS_MIN, "{panicked}");
    assert!(panicked < COMMANDS_MAX, "{panicked}");
    assert!(lab.picture() == before, "undone");
}
