//! A share that Linux's own client has mounted, in a kernel of its own.

use assert_cmd::Command;

use serde_json::Value;

use crate::lab_and_program::{self, Lab};

/// What `check` says of the mount with these options.
pub(crate) fn check(lab: &Lab, options: &str, how: &[&str]) -> Value {
    let mut command = in_guest(lab, options);
    command.arg(lab_and_program::path());
    said_by(command.args(["check", "/mnt/media"]).args(how))
}

/// What a check says that reads only, and not for long.
fn said_by(check: &mut Command) -> Value {
    check.args(["--json", "--read-only"]);
    check.args(["--repetitions", "4", "--seconds", "0.4"]);
    let output = check.output().expect("linerate starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{told}");
    lab_and_program::json("check", &output.stdout)
}

/// `linerate lab run` on the client with the share mounted; the command is still to be added.
fn in_guest(lab: &Lab, options: &str) -> Command {
    let mut command = lab.linerate();
    command.args(["lab", "run", "--mount", options, &lab.host("client"), "--"]);
    command
}

/// The same with a script, in which `$0` is linerate; its arguments are still to be added.
pub(crate) fn script_in_guest(lab: &Lab, options: &str, script: &str) -> Command {
    let mut command = in_guest(lab, options);
    command.args(["sh", "-c", script]);
    command.arg(lab_and_program::path());
    command
}

/// A rung that reads.
fn rung<'a>(said: &'a Value, name: &str) -> &'a Value {
    let ladder = said["ladder"].as_array().expect("a list");
    let mut rungs = ladder.iter();
    let rung = rungs.find(|rung| rung["rung"] == name && rung["direction"] == "read");
    rung.unwrap_or_else(|| panic!("{name}: {said}"))
}

/// Its bytes a second.
pub(crate) fn rate(said: &Value, name: &str) -> f64 {
    let rate = rung(said, name)["rate"]["value"].as_f64();
    rate.unwrap_or_else(|| panic!("{name}: {said}"))
}

/// What a check with these arguments says, where nothing but the one share is mounted then and that is empty again.
const LEAVES_NOTHING: &str = r#"
said=$("$0" check "$@")
[ "$(grep -c ' cifs ' /proc/mounts)" = 1 ] || exit 99
[ "$(ls -A /mnt) $(ls -A /mnt/media)" = "media " ] || exit 99
printf '%s' "$said"
"#;

#[test]
fn a_share_is_measured_through_the_systems_client_without_being_mounted() {
    let lab = Lab::up("mount-through");
    let options = "vers=3.1.1,multichannel,max_channels=2";
    let mut command = script_in_guest(&lab, options, LEAVES_NOTHING);
    command.args(["//10.77.1.2/media", "--through", "system", "--quick"]);
    let said = said_by(&mut command);
    let mount = &said["look"]["mount"];
    assert_eq!(
        (&mount["own"], &mount["source"]),
        (&true.into(), &"//10.77.1.2/media".into()),
        "{mount}"
    );
    // It is as `mount` makes it: with one connection.
    assert_eq!(
        said["diagnosis"]["first_cause"], "mount-one-connection",
        "{said}"
    );
    let commands = said["diagnosis"]["fixes"][0]["commands"]
        .as_array()
        .expect("a list");
    assert_eq!(commands.len(), 2, "{commands:?}");
    let line = commands[0].as_str().expect("a text");
    assert!(
        line.starts_with("sudo mount -t cifs //10.77.1.2/media FOLDER -o "),
        "{line}"
    );
    assert!(line.contains("max_channels=2"), "{line}");
    let share = rate(&said, "system_client") / rate(&said, "channels");
    assert!((0.4..0.6).contains(&share), "{said}");
}

/// What a command says, where the mount is as before then and empty again.
const LEAVES_THE_MOUNT: &str = r#"
before=$(grep ' cifs ' /proc/mounts)
said=$("$0" "$@") || exit 98
[ "$(grep ' cifs ' /proc/mounts)" = "$before" ] || exit 99
[ "$(ls -A /mnt) $(ls -A /mnt/media)" = "media " ] || exit 99
printf '%s' "$said"
"#;

/// What a command of linerate says in JSON that measures through mounts of its own.
fn said_through_mounts(lab: &Lab, options: &str, name: &str, words: &[&str]) -> Value {
    let mut command = script_in_guest(lab, options, LEAVES_THE_MOUNT);
    let output = command.args(words).output().expect("linerate starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    lab_and_program::json(name, &output.stdout)
}

#[test]
fn better_options_are_proven_through_mounts_of_our_own_and_kept_as_commands() {
    let lab = Lab::up("mount-tune");
    let how = "tune /mnt/media --json --goal read --only mount-again --seconds 0.3 --budget 5m";
    let words: Vec<&str> = how.split(' ').collect();
    let said = said_through_mounts(&lab, "vers=3.1.1,rsize=1048576", "tune", &words);
    let experiments = said["experiments"].as_array().expect("a list");
    let mut tried = experiments.iter();
    let tried = tried.find(|one| one["experiment"] == "mount-again");
    let tried = tried.unwrap_or_else(|| panic!("{said}"));
    assert_eq!(tried["decision"], "kept", "{said}");
    // A second connection, and all else as it was.
    let setting = &tried["question"]["b"]["settings"][0]["workload"];
    assert_eq!(setting["field"], "mount_options", "{tried}");
    let options = setting["value"]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{setting}"));
    for option in ["rsize=1048576", "max_channels=2", "nosharesock"] {
        assert!(options.split(',').any(|it| it == option), "{options}");
    }
    let gain = tried["effects"][0]["ratio"]["value"].as_f64();
    let gain = gain.expect("it was measured");
    assert!((1.7..2.3).contains(&gain), "{tried}");
    let notes = said["notes"].to_string();
    assert!(notes.contains("sudo mount -t cifs"), "{notes}");
}

#[test]
fn a_cache_that_is_off_is_a_candidate_that_a_program_proves() {
    // Three milliseconds each way: who waits for each answer waits long.
    let far = lab_and_program::one_link("rate = \"1Gbit\"\ndelay_ms = 3.0");
    let lab = Lab::described("mount-tune-cache", &far);
    let how = "tune /mnt/media --json --only mount-again --seconds 0.3 --blocks 6";
    let words: Vec<&str> = how.split(' ').collect();
    let said = said_through_mounts(&lab, "vers=3.1.1,cache=none", "tune", &words);
    let experiments = said["experiments"].as_array().expect("a list");
    let mut tried = experiments.iter();
    let tried = tried.find(|one| one["experiment"] == "mount-again");
    let tried = tried.unwrap_or_else(|| panic!("{said}"));
    assert_eq!(tried["decision"], "kept", "{said}");
    let [a, b] = ["a", "b"].map(|arm| &tried["question"][arm]["settings"]);
    let is_off = |settings: &Value| settings.to_string().contains("cache=none");
    assert!(is_off(a) && !is_off(b), "{a} {b}");
    let gain = tried["effects"][0]["ratio"]["value"].as_f64();
    assert!(gain.expect("it was measured") > 1.1, "{tried}");
    let notes = said["notes"].to_string();
    assert!(notes.contains("sudo mount -t cifs"), "{notes}");
}

/// Tunes a mount so that it lasts, where `/etc/fstab` has a line of it without an end: what that file says before, what is
/// printed, and what it says then, and after somebody's undo; the mount is as before all the time.
const LASTS: &str = r#"
mounted=$(grep ' cifs ' /proc/mounts)
printf '# 共有\n//10.77.1.2/media\t/mnt/media/ cifs  credentials=/run/nas,vers=3.1.1,_netdev 0 0' >/etc/fstab
cp /etc/fstab /run/before
"$0" "$@" --dry-run >/run/dry || exit 97
cmp /etc/fstab /run/before || exit 96
"$0" "$@" --json >/run/said || exit 95
cp /etc/fstab /run/during
"$0" changes --json >/run/changes && exit 94
"$0" undo >&2 || exit 93
cmp /etc/fstab /run/before || exit 92
[ "$(grep ' cifs ' /proc/mounts)" = "$mounted" ] || exit 91
[ "$(echo /etc/fstab*)" = /etc/fstab ] || exit 90
# A link, and a password in the line, are refused before anything is measured.
mv /etc/fstab /run/elsewhere && ln -s /run/elsewhere /etc/fstab
"$0" "$@" 2>/run/link && exit 89
rm /etc/fstab
echo '//10.77.1.2/media /mnt/media cifs username=lab,password=secret 0 0' >/etc/fstab
"$0" "$@" 2>/run/password && exit 88
for file in dry during changes link password said; do cat /run/$file; printf '\036'; done
"#;

#[test]
fn what_is_kept_of_a_mount_lasts_in_its_line_of_fstab_until_it_is_undone() {
    let lab = Lab::up("mount-persist");
    let mut command = script_in_guest(&lab, "vers=3.1.1", LASTS);
    command.args(["tune", "/mnt/media", "--only", "mount-again", "--persist"]);
    let output = command.args(["--seconds", "0.3", "--blocks", "6"]).output();
    let output = output.expect("linerate starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?} {stderr}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let parts: Vec<&str> = text.split('\u{1e}').collect();
    let [dry, during, changes, link, password, said, _] = parts[..] else {
        panic!("{text}")
    };
    let line = "//10.77.1.2/media\t/mnt/media/ cifs  credentials=/run/nas,vers=3.1.1,_netdev";
    let made = format!("{line},multichannel,max_channels=2 0 0");
    assert_eq!(during, format!("# 共有\n{made}"));
    for change in [format!("- {line} 0 0"), format!("+ {made}")] {
        assert!(dry.contains(&change), "{change}: {dry}");
    }
    assert!(changes.contains("smb.client.fstab_entry"), "{changes}");
    assert!(link.contains("is a link"), "{link}");
    assert!(
        password.contains("credentials=FILE") && !password.contains("secret"),
        "{password}"
    );
    let said = lab_and_program::json("tune", said.as_bytes());
    assert!(
        said["notes"]
            .to_string()
            .contains("`linerate undo` puts its line back"),
        "{said}"
    );
}

/// A plan that varies the connections of a mount, where the repository's recipe for reading is beside it.
const CONNECTIONS: &str = r#"
title = "connections of a mount"
blocks = 6
noise = false
[workload]
recipe = "one-row.toml"
[[factor]]
name = "connections"
[[factor.level]]
name = "one"
set = ["workload:mount_options=vers=3.1.1"]
[[factor.level]]
name = "two"
set = ["workload:mount_options=vers=3.1.1,multichannel,max_channels=2"]
"#;
#[test]
fn a_plan_varies_the_options_of_a_mount() {
    let lab = Lab::up("mount-plan");
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, CONNECTIONS).expect("a plan");
    let recipe =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/recipes/one-row.toml");
    std::fs::copy(recipe, folder.path().join("one-row.toml")).expect("a recipe");
    let plan = plan.to_str().expect("a path");
    let through = ["--target", "/mnt/media", "--through", "system", "--json"];
    let words = [&["experiment", "run", plan][..], &through].concat();
    let said = said_through_mounts(&lab, "vers=3.1.1", "experiment-run", &words);
    let gain = said["design"]["rates"][0]["effects"][0]["ratio"].as_f64();
    let gain = gain.unwrap_or_else(|| panic!("{said}"));
    assert!((1.7..2.3).contains(&gain), "{said}");
}

#[test]
fn a_mount_is_held_against_our_own_engine() {
    let lab = Lab::up("mount");
    let said = check(&lab, "vers=3.1.1", &[]);
    let mount = &said["look"]["mount"];
    assert_eq!(mount["folder"], "/mnt/media", "{mount}");
    assert_eq!(
        (&mount["channels"], &mount["encrypted"]),
        (&1.into(), &false.into())
    );
    assert_eq!(
        said["diagnosis"]["first_cause"], "mount-one-connection",
        "{said}"
    );
    // A second mount with two connections was twice as fast.
    let cause = &said["diagnosis"]["causes"][0];
    assert_eq!(cause["trust"], "measured", "{cause}");
    let fix = &said["diagnosis"]["fixes"][0];
    assert_eq!(
        (&fix["id"], &fix["trust"]),
        (&"mount-again".into(), &"measured".into())
    );
    let gain = fix["predicted"]["value"].as_f64().expect("it was measured");
    assert!((1.7..2.3).contains(&gain), "{fix}");
    // One connection fills one link, and two fill two.
    let of = |said: &Value| rate(said, "system_client") / rate(said, "channels");
    assert!((0.4..0.6).contains(&of(&said)), "{said}");

    let options = "vers=3.1.1,multichannel,max_channels=2";
    let said = check(&lab, options, &[]);
    assert_eq!(said["look"]["mount"]["channels"], 2, "{said}");
    assert_ne!(
        said["diagnosis"]["first_cause"], "mount-one-connection",
        "{said}"
    );
    assert!((0.85..1.15).contains(&of(&said)), "{said}");
    // What programs and `cp` get of it came over the links and not from the memory of this machine, and judges nothing.
    for name in ["system_program", "system_copy"] {
        let share = rate(&said, name) / rate(&said, "system_client");
        assert!((0.1..1.1).contains(&share), "{name}: {said}");
        assert_eq!(rung(&said, name)["loss"], Value::Null, "{said}");
    }
}

#[test]
fn small_requests_that_cost_programs_alone_are_proven_by_a_second_mount() {
    // Three milliseconds each way, so that who waits for each answer waits long.
    let far = lab_and_program::one_link("rate = \"1Gbit\"\ndelay_ms = 3.0");
    let lab = Lab::described("mount-far", &far);
    let said = check(&lab, "vers=3.1.1,rsize=65536", &["--thorough"]);
    // Several requests at once, past the cache, feel nothing of it; what is read ahead is twice as much as one.
    let client = rate(&said, "system_client");
    assert!(client / rate(&said, "share") > 0.9, "{said}");
    assert!(rate(&said, "system_program") / client < 0.4, "{said}");
    let diagnosis = &said["diagnosis"];
    assert_eq!(diagnosis["first_cause"], "mount-small-requests", "{said}");
    let fix = &diagnosis["fixes"][0];
    assert_eq!(
        (&fix["id"], &fix["trust"]),
        (&"mount-again".into(), &"measured".into())
    );
    let gain = fix["predicted"]["value"].as_f64().expect("it was measured");
    assert!((2.5..10.0).contains(&gain), "{fix}");
}
