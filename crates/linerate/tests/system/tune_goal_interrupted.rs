//! `tune --goal` that is stopped in the middle: Samba's configuration is the very file it was.

use std::process::{Child, Command};

use crate::lab_and_program::{self, Lab};

/// Starts a search (with a band so wide that its baseline cannot fail on noise) and waits until it says
/// a word that begins a part of it.
fn search_until(lab: &Lab, word: &str) -> Child {
    let mut arguments = vec!["--goal", "read"];
    arguments.extend(["--only", "aio-read-off,sendfile-with-aio-read-off"]);
    arguments.extend(["--seconds", "0.3", "--band", "90"]);
    let (child, instead) = lab.tune_until(&format!("{word}.jsonl"), &arguments, word);
    assert_eq!(instead, None, "no `{word}`");
    child
}

/// Waits until the search has its line in the configuration.
fn wait_for_a_change(lab: &Lab, before: &str) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while configuration(lab) == before {
        assert!(
            std::time::Instant::now() < deadline,
            "nothing is ever changed"
        );
    }
}

fn configuration(lab: &Lab) -> String {
    lab.run("server", &["cat", "/etc/samba/smb.conf"])
}

#[test]
fn a_search_that_is_interrupted_or_killed_leaves_the_configuration_as_it_was() {
    let lab = Lab::described("searches", &lab_and_program::one_link(""));
    let before = configuration(&lab);

    let mut interrupted = search_until(&lab, "screening of");
    wait_for_a_change(&lab, &before);
    let id = interrupted.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("kill starts").success());
    let status = interrupted.wait().expect("our own child");
    assert_eq!(status.code(), Some(130));
    assert_eq!(configuration(&lab), before);
    nothing_is_changed(&lab);

    lab_and_program::costs_of_the_server_were_seen(&lab.folder().join("screening of.jsonl"));

    let mut killed = search_until(&lab, "screening");
    wait_for_a_change(&lab, &before);
    killed.kill().expect("our own child");
    killed.wait().expect("our own child");
    lab.linerate().arg("undo").assert().success();
    assert_eq!(configuration(&lab), before);
    nothing_is_changed(&lab);
}

fn nothing_is_changed(lab: &Lab) {
    let changes = lab.linerate().arg("changes").assert();
    changes.success().stdout("nothing is changed\n");
}
