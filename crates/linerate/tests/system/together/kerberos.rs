//! Logging in at a real domain controller. One lab for everything, because making a domain takes
//! seconds.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::lab_and_program::{self, Lab, path};

pub(super) const CREDENTIALS: &str = "/run/linerate/credentials";
pub(super) const FILE: &str = "smb://dc.lab.example/media/file";

pub(super) struct Domain {
    lab: Lab,
}

impl Domain {
    pub(super) fn up(name: &str) -> Self {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/domain.toml");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let topology = folder.path().join("domain.toml");
        // The server says by which mechanism each of its users came.
        let text = fs::read_to_string(example).expect("the example")
            + "\n[samba.global]\n\"log level\" = \"1 auth_audit:5\"\n";
        fs::write(&topology, text).expect("room on the disk");
        Self {
            lab: Lab::of(name, &topology),
        }
    }

    /// What a shell on the client does.
    pub(super) fn shell(&self, script: &str) -> Output {
        let client = self.lab.host("client");
        let words = ["lab", "run", &client, "--", "sh", "-c", script];
        self.lab.linerate().args(words).output().expect("it starts")
    }

    /// What a shell on the client prints.
    pub(super) fn client(&self, script: &str) -> String {
        self.lab.run("client", &["sh", "-ec", script])
    }

    /// Runs `linerate copy` on the client; `words` go to a shell.
    fn copy(&self, words: &str) -> Output {
        self.shell(&format!("{} copy --json {words}", path().display()))
    }

    fn copied(&self, words: &str) -> Value {
        let output = self.copy(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {said}");
        lab_and_program::json("copy", &output.stdout)
    }

    /// What is said, and the exit code, where it must fail.
    fn refused(&self, words: &str) -> (i32, String) {
        let output = self.copy(words);
        let code = output.status.code().expect("it ends by itself");
        assert_ne!(code, 0, "{words}");
        (code, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// How often the server let somebody in by a mechanism, by its own account.
    pub(super) fn logins_by(&self, mechanism: &str) -> usize {
        let log = self
            .lab
            .run("dc", &["sh", "-c", "cat /run/linerate/samba/log*"]);
        let entry = format!("AuthZ: [SMB2,{mechanism}] user [LAB]\\[linerate]");
        log.lines().filter(|line| line.contains(&entry)).count()
    }
}

#[test]
fn a_user_logs_in_by_kerberos_at_a_real_domain_controller() {
    let domain = Domain::up("test-domain");
    let client = |words: &str| domain.lab.run("client", &["sh", "-c", words]);
    client("head -c 5000000 /dev/urandom > /run/file");

    // `krb5.conf` of the hosts knows the realm, so nothing has to be asked for.
    let up = domain.copied(&format!("--credentials {CREDENTIALS} /run/file {FILE}"));
    assert_eq!(up["servers"][0]["login"], "kerberos");
    assert_eq!(up["channels"].as_array().map(Vec::len), Some(2), "{up}");
    assert_eq!(
        (domain.logins_by("krb5"), domain.logins_by("NTLMSSP")),
        (2, 0)
    );
    // A machine that is told the KDC, one that finds it by the realm's name in DNS, and another
    // way to write the user.
    let alone = "--channels 1 --force";
    client(
        "sed -e s/=linerate/=linerate@lab.example/ -e /domain/d /run/linerate/credentials > /run/upn",
    );
    for (number, how) in [
        "--credentials /run/linerate/credentials --kdc 10.78.2.2",
        "--credentials /run/upn --kerberos",
    ]
    .into_iter()
    .enumerate()
    {
        client("mv /etc/krb5.conf /etc/krb5.away");
        let down = domain.copied(&format!("{how} {alone} {FILE} /run/back"));
        assert_eq!(down["servers"][0]["login"], "kerberos", "{how}");
        client("mv /etc/krb5.away /etc/krb5.conf; cmp /run/file /run/back; rm /run/back");
        assert_eq!(domain.logins_by("krb5"), 3 + number);
    }
    let ntlm = domain.copied(&format!(
        "--credentials {CREDENTIALS} --ntlm {alone} {FILE} /run/back"
    ));
    assert_eq!(ntlm["servers"][0]["login"], "ntlm");
    assert_eq!(domain.logins_by("NTLMSSP"), 1);

    // A user who could have had a ticket reads why there is none.
    let by_address = FILE.replace("dc.lab.example", "10.78.1.2");
    let output = domain.copy(&format!(
        "--credentials {CREDENTIALS} {alone} {by_address} /run/back"
    ));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("not Kerberos: `10.78.1.2` is an address"),
        "{said}"
    );

    check_refusals(&domain);
    assert_eq!(domain.logins_by("NTLMSSP"), 2, "nothing fell back to NTLM");
}

fn check_refusals(domain: &Domain) {
    let wrong = "printf 'username=%s\\npassword=Wrong-1\\ndomain=LAB\\n' ann > /run/wrong; \
                 printf 'username=%s\\npassword=Wrong-1\\ndomain=LAB\\n' bob > /run/nobody; \
                 chmod 600 /run/wrong /run/nobody";
    domain.lab.run("client", &["sh", "-c", wrong]);
    let by_address = FILE.replace("dc.lab.example", "10.78.1.2");
    let cases = [
        (
            format!("--credentials /run/wrong {FILE} /run/x"),
            65,
            "the password is wrong",
        ),
        (
            format!("--credentials /run/nobody {FILE} /run/x"),
            65,
            "no such user",
        ),
        (
            format!("--credentials {CREDENTIALS} --kerberos {by_address} /run/x"),
            65,
            "no server of this name",
        ),
        (
            format!("--credentials {CREDENTIALS} --kdc 10.78.1.1 {FILE} /run/x"),
            69,
            "no KDC of `LAB.EXAMPLE` answers",
        ),
    ];
    for (words, code, expected) in cases {
        let (status, said) = domain.refused(&words);
        assert_eq!(status, code, "{words}: {said}");
        assert!(said.contains(expected) && said.contains("hint: "), "{said}");
        assert!(!said.contains("Wrong-1"), "{said}");
    }
    // The KDC away while the file server stays: an error, and never NTLM instead.
    let other_kdc = ["sed", "-i", "s/dc.lab.example/10.78.1.1/", "/etc/krb5.conf"];
    domain.lab.run("client", &other_kdc);
    let (status, said) = domain.refused(&format!("--credentials {CREDENTIALS} {FILE} /run/x"));
    assert_eq!(status, 69, "{said}");
    assert!(said.contains("no KDC of `LAB.EXAMPLE` answers"), "{said}");
}
