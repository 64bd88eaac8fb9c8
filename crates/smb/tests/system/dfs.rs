//! Folders that a share only refers to (MS-DFSC).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use smb::copy::{self, Options, Place, Progress, Summary};
use smb::{Error, Policy, Referrals, Session, SigningPolicy, Stop, Tree};

use crate::samba::{connect, job, on};
use crate::samba_lan::{Lan, SHARE};

/// The server under its other address, which for a client is another server, and the one that it is connected to.
const OTHER: &str = r"10.94.1.2\data";
const SAME: &str = r"10.94.0.2\dfs";
/// The client itself, where no referral may lead.
const CLOSED: &str = r"10.94.0.1\data";
/// Where a share is not.
const WRONG: &str = r"10.94.1.2\nothing";

fn begin() -> (Lan, Session) {
    let lan = Lan::with_dfs();
    for folder in ["deep", "deep/er"] {
        let folder = lan.on_server(folder);
        fs::create_dir(&folder).expect("the share is there");
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).expect("it is ours");
    }
    fs::write(lan.on_server("deep/er/film"), "behind the link").expect("there is room");
    let session = connect(&lan, &Policy::default());
    (lan, session)
}

fn located(session: &Session, path: &str) -> Result<(Tree, String), Error> {
    session.locate("dfs", path, Referrals::Follow)
}

fn read(session: &Session, path: &str) -> String {
    let (tree, path) = located(session, path).unwrap_or_else(|error| panic!("{path}: {error:?}"));
    let content = tree.read_small(&path).expect("it is there").bytes;
    String::from_utf8(content).expect("plain text")
}

fn servers(session: &Session) -> Vec<String> {
    let channels = session.channels().into_iter();
    channels
        .map(|channel| channel.remote.ip().to_string())
        .collect()
}

#[test]
fn a_link_is_followed_to_the_first_server_that_has_it() {
    let (lan, session) = begin();
    fs::write(lan.on_server("root/plain"), "in the root").expect("there is room");
    lan.refer("link", &[OTHER]);
    lan.refer("within", &[&format!(r"{OTHER}\deep")]);
    lan.refer("second", &[CLOSED, WRONG, OTHER]);
    lan.refer("again", &[&format!(r"{SAME}\within")]);
    assert_eq!(read(&session, "plain"), "in the root");
    assert_eq!(servers(&session), ["10.94.0.2"], "no login elsewhere");
    for path in [
        "link/deep/er/film",
        "within/er/film",
        "second/deep/er/film",
        "again/er/film",
    ] {
        assert_eq!(read(&session, path), "behind the link", "{path}");
    }
    let (tree, path) = session
        .locate("proxy", "deep", Referrals::Follow)
        .expect("it refers");
    assert_eq!((tree.share(), path.as_str()), (SHARE, "deep"));
    assert_eq!(
        servers(&session),
        ["10.94.0.2", "10.94.1.2"],
        "one login for all of it"
    );
    // What is not there yet is at the end of the link as well.
    let (tree, path) = located(&session, "within/new/file").expect("it is followed");
    assert_eq!((tree.share(), path.as_str()), (SHARE, "deep/new/file"));

    let error = session
        .locate("dfs", "within/er", Referrals::Name)
        .expect_err("only named");
    let Error::Elsewhere { targets, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(targets[..], ["smb://10.94.1.2/data/deep/er"]);
    let error = session
        .locate("none", "x", Referrals::Follow)
        .expect_err("there is none");
    let Error::NoSuchShare { there, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(there.iter().any(|share| share == "dfs"), "{there:?}");
}

#[test]
fn a_referral_to_an_address_of_the_client_is_refused_by_rule() {
    let (lan, session) = begin();
    for (link, target) in [
        ("own", CLOSED),
        ("beside", r"10.94.1.1\data"),
        ("loopback", r"127.0.0.1\data"),
        ("any", r"0.0.0.0\data"),
    ] {
        lan.refer(link, &[target]);
        let error = located(&session, link).expect_err(link);
        let Error::NoTarget { source, .. } = &error else {
            panic!("{link}: {error:?}");
        };
        assert!(matches!(**source, Error::ReferredHere { .. }), "{error:?}");
        let told = source.to_string();
        assert!(
            told.contains("as a rule no server may refer to it"),
            "{told}"
        );
    }
    assert_eq!(servers(&session), ["10.94.0.2"], "no login elsewhere");
}

#[test]
fn referrals_without_end_are_not_followed() {
    let (lan, session) = begin();
    lan.refer("loop", &[&format!(r"{SAME}\loop")]);
    lan.refer("here", &[&format!(r"{SAME}\there")]);
    lan.refer("there", &[&format!(r"{SAME}\here")]);
    for link in 0..20 {
        let next = format!(r"{SAME}\chain{}", link + 1);
        lan.refer(&format!("chain{link}"), &[&next]);
    }
    lan.refer("chain20", &[OTHER]);
    let each = |link: u8| format!(r"{SAME}\tree{}", link + 1);
    for link in 0..20 {
        let next = each(link);
        lan.refer(
            &format!("tree{link}"),
            &[&next, &format!(r"{next}\a"), &format!(r"{next}\b")],
        );
    }
    let begun = Instant::now();
    for path in ["loop", "loop/a/b", "here", "chain0", "tree0"] {
        let error = located(&session, path).expect_err(path);
        let Error::NoTarget { source, .. } = &error else {
            panic!("{path}: {error:?}");
        };
        assert!(
            matches!(**source, Error::EndlessReferrals),
            "{path}: {error:?}"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(servers(&session), ["10.94.0.2"]);
    // Eight are not without end.
    assert!(located(&session, "chain12").is_err());
    let (tree, _) = located(&session, "chain13").expect("eight referrals");
    assert_eq!(tree.share(), SHARE);
}

#[test]
fn a_login_goes_on_with_no_weaker_protection() {
    let (lan, session) = begin();
    lan.refer("link", &[OTHER]);
    let (tree, _) = located(&session, "link").expect("it is followed");
    assert!(!tree.is_protected(), "it was not asked for");
    drop((tree, session));
    let signed = Policy {
        signing: SigningPolicy::Required,
        ..Policy::default()
    };
    let session = connect(&lan, &signed);
    let (tree, _) = located(&session, "link").expect("it is followed");
    assert!(tree.is_protected());
}

fn copied(from: Place, to: Place, options: Options) -> Summary {
    let job = job(from, to, options);
    let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
    assert_eq!(summary.failed, 0, "{summary:?}");
    assert!(summary.ended_by.is_none(), "{summary:?}");
    summary
}

#[test]
fn a_tree_is_copied_with_what_is_on_other_servers() {
    let (lan, session) = begin();
    fs::create_dir_all(lan.on_server("root/sub")).expect("the share is there");
    fs::write(lan.on_server("root/sub/plain"), "in the root").expect("there is room");
    lan.refer("sub/link", &[CLOSED, &format!(r"{OTHER}\deep")]);
    lan.refer("up", &[&format!(r"{SAME}\sub")]);
    let (top, path) = located(&session, "").expect("it is there");
    let here = tempfile::tempdir().expect("a temporary folder");
    copied(
        on(&top, &path),
        Place::Local(here.path().join("a")),
        Options::default(),
    );
    let content = |path: &str| fs::read_to_string(here.path().join(path)).expect(path);
    assert_eq!(content("a/sub/plain"), "in the root");
    for path in ["a/sub/link/er/film", "a/up/link/er/film"] {
        assert_eq!(content(path), "behind the link", "{path}");
    }

    // And back: what is new goes to the server that the link leads to.
    fs::write(here.path().join("a/sub/link/er/new"), "also behind it").expect("there is room");
    fs::remove_dir_all(here.path().join("a/up")).expect("it is there");
    let options = || Options {
        existing: copy::Existing::Update,
        delete: true,
        ..Options::default()
    };
    let back = |options| copied(Place::Local(here.path().join("a")), on(&top, ""), options);
    let summary = back(options());
    assert_eq!(summary.files, 1, "{summary:?}");
    let stored = fs::read_to_string(lan.on_server("deep/er/new")).expect("it went there");
    assert_eq!(stored, "also behind it");

    // A link that the source lacks stays, with all that it leads to.
    fs::remove_dir_all(here.path().join("a/sub/link")).expect("it is there");
    let summary = back(options());
    assert_eq!((summary.deleted, summary.skipped), (0, 2), "{summary:?}");
    assert!(lan.on_server("root/sub/link").is_symlink());
    assert!(lan.on_server("deep/er/film").exists());
}
