//! Whatever the tools of a host print, every knob of every system and a look at the host end with an
//! answer or an error. A line of four dashes parts the outputs of one knob's commands; where there are
//! too few, they come round again.

use std::sync::Arc;

use host::exec::{Exec, Output, Replay};
use host::knob::{KNOBS, Knob, TargetKind};
use host::{Host, facts, mounts, share_mount, shares};
use record::{HostName, Target};

const PART: &[u8] = b"\n----\n";
/// What `uname -s` says.
const SYSTEMS: [&[u8]; 3] = [b"Linux", b"Darwin", b"MINGW64_NT"];

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let parts = parts(data);
    for knob in KNOBS {
        understand(knob, &parts);
    }
    for system in SYSTEMS {
        look(system, parts.clone());
    }
}

fn parts(mut data: &[u8]) -> Vec<Output> {
    let mut parts = Vec::new();
    while let Some(at) = data.windows(PART.len()).position(|window| window == PART) {
        parts.push(said(&data[..at]));
        data = &data[at + PART.len()..];
    }
    parts.push(said(data));
    parts
}

fn said(bytes: &[u8]) -> Output {
    Output {
        status: 0,
        stdout: bytes.to_vec(),
        stderr: Vec::new(),
    }
}

/// Reads a knob; what it could be set to then is planned or refused.
fn understand(knob: &Knob, parts: &[Output]) {
    let target = match knob.on {
        TargetKind::Host => Target::Host,
        TargetKind::Nic => Target::Nic("eth0".into()),
        TargetKind::Share => Target::Share("media".into()),
        TargetKind::Mount => Target::Mount("/mnt/media".into()),
    };
    let commands = knob.read(&target).expect("it is for such a target");
    let outputs: Vec<Output> = parts.iter().cycle().take(commands.len()).cloned().collect();
    let Ok(state) = knob.parse(&target, &outputs) else {
        return;
    };
    for typed in ["1", "on", "9000", "4096 65536 8388608"] {
        drop(knob.plan(&target, &state, &state.allowed.value_of(typed)));
    }
}

/// A host that answers each command with the next part.
fn look(system: &'static [u8], parts: Vec<Output>) {
    let mut next = parts.into_iter().cycle();
    let exec: Arc<dyn Exec> = Arc::new(Replay::model(move |command| {
        Ok(match command.argv.as_slice() {
            [name, option] if name == "uname" && option == "-s" => said(system),
            _ => next.next().expect("there is at least one"),
        })
    }));
    let host = Host::new(HostName::new("fuzzed"), exec).expect("a known system");
    drop((facts(&host), shares(&host), mounts(&host)));
    drop(share_mount(&host, "/mnt/media/rushes"));
}
