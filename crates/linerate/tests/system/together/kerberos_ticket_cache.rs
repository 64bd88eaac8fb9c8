//! Logging in with tickets that the user has already, at a real domain controller, through the system's own library.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::kerberos::{CREDENTIALS, Domain, FILE};
use crate::lab_and_program::{self, path};

/// Where the lab's credentials are out of the way: whoever gives no password is tried with tickets.
const AWAY: &str = "/run/away";

impl Domain {
    /// Puts tickets of the lab's user into a cache.
    fn kinit(&self, cache: &str, options: &str) {
        self.client(&format!("{} >/dev/null", kinit(cache, options)));
    }

    /// What `linerate` reports, in JSON, with this cache.
    fn report(&self, cache: &str, words: &str) -> Value {
        let output = self.shell(&format!("{cache} {} {words}", path().display()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{cache} {words}: {said}");
        let command = words.split(' ').next().unwrap_or_default();
        lab_and_program::json(command, &output.stdout)
    }

    /// That it fails with this code, and says so.
    fn fails(&self, script: &str, code: i32, expected: &[&str]) {
        let output = self.shell(script);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{script}: {said}");
        for words in expected {
            assert!(said.contains(words), "{script}: {words}: {said}");
        }
    }
}

fn kinit(cache: &str, options: &str) -> String {
    format!("sed -n s/^password=//p {AWAY} | {cache} kinit {options} linerate@LAB.EXAMPLE")
}

#[test]
fn tickets_of_the_users_own_let_in_at_a_real_domain_controller() {
    let domain = Domain::up("test-tickets");
    domain.client(&format!(
        "head -c 5000000 /dev/urandom >/run/file; mv {CREDENTIALS} {AWAY}; mkdir -m 700 /run/folder
        sed -i 's:^.libdefaults.$:&\\n\\tdefault_ccache_name = FILE\\:/run/default_%{{uid}}:' /etc/krb5.conf"
    ));
    let linerate = path().display().to_string();
    let asked = format!("{linerate} copy --kerberos {FILE} /run/x");
    let none = [
        "there are no tickets",
        "/run/default_0",
        "`kinit USER@REALM`",
    ];
    domain.fails(&asked, 65, &none);
    // A user without tickets reads nothing about them.
    let output = domain.shell(&format!("{linerate} ls {FILE}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(
        said.contains("no user name is given") && !said.contains("ticket"),
        "{said}"
    );

    // Each channel of a copy, without a user's name.
    domain.kinit("", "");
    let up = domain.report("", &format!("copy --json /run/file {FILE}"));
    assert_eq!(up["servers"][0]["login"], "kerberos");
    assert_eq!(up["channels"].as_array().map(Vec::len), Some(2), "{up}");
    assert_eq!(
        (domain.logins_by("krb5"), domain.logins_by("NTLMSSP")),
        (2, 0)
    );
    let mut logins = 2;
    // Other kinds of caches, and other spellings of the user. A keyring of the session is that of one shell.
    let keyring = "KRB5CCNAME=KEYRING:session:linerate";
    for (cache, user) in [
        ("KRB5CCNAME=FILE:/run/tickets", "linerate"),
        ("KRB5CCNAME=DIR:/run/folder", "linerate@LAB.EXAMPLE"),
        (keyring, "LAB;linerate"),
    ] {
        let file = FILE.replace("://", &format!("://{user}@"));
        let copy = format!("copy --json --channels 1 --force '{file}' /run/back");
        let begin = kinit(cache, "");
        let down = domain.report(&format!("{begin} >/dev/null && {cache}"), &copy);
        assert_eq!(down["servers"][0]["login"], "kerberos", "{cache}");
        domain.client("cmp /run/file /run/back; rm /run/back");
        logins += 1;
        assert_eq!(domain.logins_by("krb5"), logins, "{cache}");
    }
    let listed = domain.report("KRB5CCNAME=FILE:/run/tickets", &format!("ls --json {FILE}"));
    assert_eq!(listed["entries"][0]["name"], "file", "{listed}");
    // Trials, which parse what the server says without rights: their tokens come from a process that has them.
    let measured = domain.report(
        "LINERATE_STATE_DIR=/run/state KRB5CCNAME=FILE:/run/tickets",
        "bench smb://dc.lab.example/media --json --channels 1 --repetitions 2 --seconds 1 --direction read",
    );
    assert!(measured.is_object(), "{measured}");
    assert!(domain.logins_by("krb5") >= logins + 3);
    assert_eq!(domain.logins_by("NTLMSSP"), 0);
    check_refusals(&domain, &asked);
    check_caches(&domain);
    check_passwords(&domain);
}

/// Root's cache in a folder as `/tmp` is: read where it is asked for, by the file that was looked at.
fn check_caches(domain: &Domain) {
    let linerate = path().display().to_string();
    let shared = "KRB5_CONFIG=/run/shared.conf";
    domain.client(
        "mkdir -m 1777 /run/shared; sed s:/run/default_:/run/shared/default_: /etc/krb5.conf >/run/shared.conf",
    );
    domain.kinit(shared, "");
    let passed_over = [
        "`/run/shared/default_0` is not used",
        "`--kerberos` uses it",
    ];
    domain.fails(&format!("{shared} {linerate} ls {FILE}"), 65, &passed_over);
    let listed = domain.report(shared, &format!("ls --json --kerberos {FILE}"));
    assert_eq!(listed["entries"][0]["name"], "file", "{listed}");
    // A file of root's that somebody has moved there, or linked.
    domain.client("ln /run/shared/default_0 /run/shared/other");
    domain.fails(
        &format!("{shared} {linerate} ls --kerberos {FILE}"),
        65,
        &[
            "`/run/shared/default_0` is not read",
            "it has several names",
        ],
    );
    domain.client("rm -r /run/shared");
}

/// What a user reads whose tickets are of no use.
fn check_refusals(domain: &Domain, asked: &str) {
    let linerate = path().display().to_string();
    let of_ann = format!("copy --kerberos {} /run/x", FILE.replace("://", "://ann@"));
    let unknown = FILE.replace("dc.lab", "alias.lab");
    domain.client("echo 10.78.1.2 alias.lab.example >>/etc/hosts");
    domain.fails(
        &format!("{linerate} {of_ann}"),
        65,
        &["the tickets are those of `linerate@LAB.EXAMPLE`"],
    );
    let refused = [
        "there is no ticket for `cifs/alias.lab.example`",
        "use the server's full name",
    ];
    domain.fails(&format!("{linerate} copy {unknown} /run/x"), 65, &refused);

    let library = "$(ls /usr/lib/*/libgssapi_krb5.so.2)";
    domain.fails(
        &format!("unshare -m sh -c 'mount --bind /dev/null {library} && exec {asked}'"),
        65,
        &["`libgssapi_krb5.so.2` cannot be loaded", "libgssapi-krb5-2"],
    );
    domain.client("chown 65534 /run/default_0");
    domain.fails(
        asked,
        65,
        &["`/run/default_0` belongs to another user", "KRB5CCNAME"],
    );
    domain.client("chown 0 /run/default_0");
    let short = "KRB5CCNAME=FILE:/run/short";
    domain.kinit(short, "-l 1s");
    let late = format!("while {short} klist -s; do :; done; {short} {asked}");
    domain.fails(
        &late,
        65,
        &["the tickets have expired", "`kinit USER@REALM`"],
    );
    // The KDC away while the file server stays.
    domain.client("KRB5CCNAME=FILE:/run/tickets kdestroy");
    domain.kinit("KRB5CCNAME=FILE:/run/tickets", "");
    domain.client(
        "cp /etc/krb5.conf /run/krb5.conf; sed -i s/dc.lab.example/10.78.1.1/ /etc/krb5.conf",
    );
    domain.fails(
        &format!("KRB5CCNAME=FILE:/run/tickets {asked}"),
        69,
        &["no KDC can be asked for a ticket for `cifs/dc.lab.example`"],
    );
    // Three that are silent: nobody has the addresses of their NICs.
    domain.client(
        "dev=$(ip -o route get 10.78.1.77 | sed 's/.* dev \\([^ ]*\\).*/\\1/')
        for host in 77 78 79; do
            ip neigh replace 10.78.1.$host lladdr 02:00:00:00:00:$host dev $dev nud permanent
        done
        sed 's/kdc = dc.lab.example/kdc = 10.78.1.77\\n\\t\\tkdc = 10.78.1.78\\n\\t\\tkdc = 10.78.1.79/' \\
            /run/krb5.conf >/etc/krb5.conf",
    );
    let began = Instant::now();
    domain.fails(
        &format!("KRB5CCNAME=FILE:/run/tickets {asked}"),
        69,
        &[
            "no KDC can be asked for a ticket",
            "none has answered for 20 s",
        ],
    );
    let took = began.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    domain.client("cat /run/krb5.conf >/etc/krb5.conf");
}

/// A password that is given counts more, and one that is asked for comes second.
fn check_passwords(domain: &Domain) {
    let linerate = path().display().to_string();
    let ntlm = domain.logins_by("NTLMSSP");
    assert_eq!(ntlm, 0, "nothing fell back");
    let password = format!("LINERATE_PASSWORD=$(sed -n s/^password=//p {AWAY})");
    let named = FILE.replace("://", "://linerate@");
    let copy = format!("copy --json --channels 1 --force {named} /run/back");
    let given = domain.report(&password, &copy);
    assert_eq!(given["servers"][0]["login"], "ntlm");
    assert_eq!(domain.logins_by("NTLMSSP"), 1);
    let unknown = named.replace("dc.lab", "alias.lab");
    let typed = format!(
        "sed -n s/^password=//p {AWAY} | script -qec '{linerate} copy --channels 1 --force {unknown} /run/back' /dev/null"
    );
    let output = domain.shell(&typed);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let first = said.find("no ticket is used: there is no ticket for `cifs/alias.lab.example`");
    let asked = said.find("password of linerate on alias.lab.example");
    assert!(first.is_some() && first < asked, "{said}");
    let reason = "logged in by NTLM, not Kerberos: there is no ticket for `cifs/alias.lab.example`";
    assert!(said.contains(reason), "{said}");
    assert_eq!(domain.logins_by("NTLMSSP"), 2);
}
