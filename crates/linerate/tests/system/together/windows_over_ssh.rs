//! A Windows host behind `ssh`, whose PowerShell is a table of answers.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::lab_and_program;

/// What the host answers, in the order in which it is looked for.
const ANSWERS: [(&str, &str); 17] = [
    ("Invoke-Program 'uname'", "exit 127"),
    (
        "Invoke-Program 'cmd.exe'",
        "printf '\\r\\nMicrosoft Windows [Version 10.0.26100.2314]\\r\\n'",
    ),
    ("Register-ScheduledTask", "echo armed >>lease; echo armed"),
    ("'disarmed'", "echo disarmed >>lease; echo disarmed"),
    ("'renewed'", "echo renewed"),
    ("'noted'", "echo noted >>lease; echo noted"),
    ("MachineGuid", "echo 6f8b5a4e-0c1d-4e2f-9a3b-1c2d3e4f5a6b"),
    ("LastBootUpTime", "echo 2026-11-21T08:00Z"),
    (
        "Win32_OperatingSystem",
        r#"echo '[{"Version":"10.0.26100","Caption":"Microsoft Windows 11 Pro"}]'"#,
    ),
    (
        "Win32_ComputerSystem",
        r#"echo '{"NumberOfLogicalProcessors":8}'"#,
    ),
    (
        "Get-NetAdapterAdvancedProperty",
        r#"echo '[{"Name":"イーサネット","DisplayName":"フロー制御",
        "RegistryKeyword":"*FlowControl","RegistryValue":["3"],"ValidRegistryValues":["0","3"]}]'"#,
    ),
    (
        "Get-NetAdapter ",
        r#"echo '{"Name":"イーサネット","ifIndex":12,"MtuSize":1500,
        "TransmitLinkSpeed":1000000000,"Status":"Up"}'"#,
    ),
    (
        "Get-NetIPInterface",
        r#"echo '[{"InterfaceAlias":"イーサネット","NlMtu":1500,
        "AddressFamily":"IPv4","InterfaceMetric":25,"AutomaticMetric":"Enabled"}]'"#,
    ),
    (
        "Set-SmbClientConfiguration -EnableLargeMtu $false",
        "echo false >large",
    ),
    (
        "Set-SmbClientConfiguration -EnableLargeMtu $true",
        "echo true >large",
    ),
    (
        "Get-SmbClientConfiguration",
        r#"printf '[{"EnableLargeMtu":%s}]' "$(cat large)""#,
    ),
    ("Invoke-Script ''", "echo knock >>lease"),
];

/// The program with this host as `ssh://windows`.
struct Windows {
    folder: TempDir,
    role: &'static str,
}

impl Windows {
    fn new(role: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let fake = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../host/tests/fixtures/fake-windows-ssh.sh");
        symlink(fake, folder.path().join("ssh")).expect("our own folder");
        for (at, (when, what)) in ANSWERS.iter().enumerate() {
            let file = |ending| folder.path().join(format!("{at:02}.{ending}"));
            fs::write(file("when"), format!("{when}\n")).expect("our own folder");
            fs::write(file("do"), what).expect("our own folder");
        }
        fs::write(folder.path().join("large"), "true").expect("our own folder");
        Self { folder, role }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn run(&self, arguments: &[&str]) -> Assert {
        let path = env::var("PATH").expect("a PATH");
        let path = format!("{}:{path}", self.folder.path().display());
        lab_and_program::linerate()
            .env("PATH", path)
            .env("WINDOWS_ANSWERS", self.folder.path())
            .env("WINDOWS_ROLE", self.role)
            .env("LINERATE_STATE_DIR", self.folder.path().join("state"))
            .args(arguments)
            .assert()
    }

    fn json(&self, arguments: &[&str]) -> Json {
        let output = self.run(arguments).success().get_output().stdout.clone();
        lab_and_program::json(arguments[0], &output)
    }
}

#[test]
fn a_windows_host_is_found_out_and_shown() {
    let windows = Windows::new("1");
    let seen = windows.json(&["inspect", "ssh://windows", "--json"]);
    let host = &seen["hosts"][0];
    assert_eq!(host["facts"]["system"], "windows");
    assert_eq!(host["facts"]["nics"][0]["name"], "イーサネット");
    let settings = host["settings"].as_array().expect("a list");
    let setting = |id: &str| {
        settings
            .iter()
            .find(|setting| setting["knob"] == id)
            .expect("a knob")
    };
    assert_eq!(
        setting("smb.large_mtu")["value"],
        serde_json::json!({ "switch": true })
    );
    assert_eq!(
        setting("nic.flow_control")["value"],
        serde_json::json!({ "text": "rx+tx" })
    );
    // What this host does not answer is not there, and stops nothing.
    assert!(setting("tcp.ecn")["not_there"].is_string());
    windows
        .run(&["inspect", "ssh://windows"])
        .success()
        .stdout(predicate::str::contains(
            "10.0.26100 (Microsoft Windows 11 Pro)",
        ))
        .stderr(predicate::str::contains("never run on a real Windows"));
}

#[test]
fn a_setting_is_made_behind_a_lease_and_undone() {
    let windows = Windows::new("0");
    windows
        .run(&["set", "ssh://windows", "smb.large_mtu=off", "--dry-run"])
        .success()
        .stdout(predicate::str::contains(
            "ssh://windows: Set-SmbClientConfiguration -EnableLargeMtu $false -Force",
        ));
    assert_eq!(
        (windows.read("large").trim(), windows.read("lease")),
        ("true", String::new())
    );
    windows
        .run(&["set", "ssh://windows", "smb.large_mtu=off"])
        .success()
        .stdout(predicate::str::contains("also after a restart"));
    assert_eq!(windows.read("large").trim(), "false");
    assert_eq!(windows.read("lease"), "armed\nnoted\nknock\ndisarmed\n");
    windows
        .run(&["changes"])
        .code(1)
        .stdout(predicate::str::contains("smb.large_mtu"));
    windows.run(&["undo"]).success();
    assert_eq!(windows.read("large").trim(), "true");
    windows.run(&["changes"]).success();
}

#[test]
fn whoever_is_no_administrator_is_told_so() {
    let windows = Windows::new("1");
    windows
        .run(&["set", "ssh://windows", "smb.large_mtu=off"])
        .code(65)
        .stderr(predicate::str::contains("member of `Administrators`"));
    assert_eq!(windows.read("large").trim(), "true");
}
