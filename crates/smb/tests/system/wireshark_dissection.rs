//! What we send, as somebody else reads it: Wireshark's dissector over captured sessions.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use smb::{
    Access, Dialect, EncryptionPolicy, Error, FileTimes, NtStatus, OpenOptions, Policy, Proof,
    Replace, Session, SigningPolicy, SmallFile, Stop,
};
use smb_proto::session::{Durable, Lease};
use smb_proto::wire::lease_state;
use tempfile::TempDir;

use crate::samba::{connect, login_with, to_write, write_pattern};
use crate::samba_lan::{Lan, SHARE, USER};

/// Nobody listens there; what is sent to it only marks a place in the capture.
const DISCARD_PORT: u16 = 9;
const MARK: &[u8] = b"all of it was captured";
/// Longest time until the capture has what was sent.
const SOON: Duration = Duration::from_secs(20);

/// A capture of everything in this thread's network. It ends with its guard.
struct Capture {
    dumpcap: Child,
    folder: TempDir,
}

impl Capture {
    fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut dumpcap = Command::new("dumpcap")
            .args(["-q", "-i", "any", "-w"])
            .arg(folder.path().join("capture"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("`dumpcap` is installed");
        let said = dumpcap.stderr.take().expect("it was asked for");
        let capture = Self { dumpcap, folder };
        // It names its file once it captures.
        let mut lines = BufReader::new(said).lines();
        let begun = lines.any(|line| line.expect("UTF-8").starts_with("File: "));
        assert!(begun, "`dumpcap` captures");
        capture
    }

    /// Waits until everything is in the file, and gives it.
    fn end(&self, lan: &Lan) -> PathBuf {
        let file = self.folder.path().join("capture");
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a free port");
        let begun = Instant::now();
        loop {
            // Again and again: it writes what it has when more comes.
            socket
                .send_to(MARK, (lan.server().name.as_str(), DISCARD_PORT))
                .expect("there is a way");
            let captured = fs::read(&file).expect("it is there");
            if captured.windows(MARK.len()).any(|bytes| bytes == MARK) {
                return file;
            }
            assert!(begun.elapsed() < SOON, "the capture has no end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.dumpcap.kill().ok();
        self.dumpcap.wait().ok();
    }
}

/// The packets that match a filter, a line each with these fields.
fn decode(file: &Path, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-r"]).arg(file);
    tshark.args(["-Y", filter, "-T", "fields"]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("`tshark` is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    lines.lines().map(str::to_owned).collect()
}

/// Does everything once that makes the client send another kind of message.
fn work(session: &Session) {
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "big", 1, std::iter::once(0..300_000));
    let lease = Lease {
        key: [7; 16],
        state: lease_state::READ | lease_state::HANDLE,
    };
    let options = OpenOptions {
        allocation_bytes: Some(4096),
        disk_id: true,
        lease: Some(lease),
        durable: Some(Durable::Request {
            create_guid: [9; 16],
            timeout_ms: 10_000,
        }),
        ..OpenOptions::open(Access::ReadWrite)
    };
    let file = tree.open("big", &options).expect("it was written");
    for piece in file.read_ranges(std::iter::once(0..300_000), &Stop::new()) {
        piece.expect("it can be read");
    }
    file.flush().expect("it is open");
    file.set_size(1000).expect("it is open");
    file.set_times(FileTimes {
        write: 133_000_000_000_000_000,
        ..FileTimes::default()
    })
    .expect("it is open");
    assert_eq!(file.size().expect("it is open"), 1000);
    file.close().expect("it is open");
    tree.write_small(SmallFile {
        path: "small".to_owned(),
        temporary: "small.part".to_owned(),
        replace: Replace::Existing,
        content: b"a few bytes"[..].into(),
        times: FileTimes::default(),
        attributes: 0,
        mode: None,
    })
    .expect("it is new");
    assert_eq!(
        tree.read_small("small").expect("it was written").bytes,
        b"a few bytes"
    );
    tree.status("small").expect("it was written");
    tree.create_folder("folder").expect("it is new");
    tree.rename("small", "folder/moved", Replace::Never)
        .expect("it exists");
    tree.list("folder").expect("it exists");
    tree.free_space().expect("the server knows");
    tree.remove_file("folder/moved").expect("it exists");
    tree.remove_folder("folder").expect("it is empty");
    let missing = tree.open("missing", &OpenOptions::open(Access::Read));
    assert!(missing.is_err(), "an error reply is decoded too");
    drop(tree.open("fleeting", &to_write()));
}

#[test]
fn wireshark_finds_nothing_wrong_with_what_we_send() {
    let lan = Lan::new("");
    let capture = Capture::begin();
    let of = |dialect, signing| Policy {
        dialects: vec![dialect],
        signing,
        block_bytes: 64 << 10,
        ..Policy::default()
    };
    for policy in [
        Policy::default(),
        of(Dialect::Smb311, SigningPolicy::Required),
        of(Dialect::Smb300, SigningPolicy::Required),
        of(Dialect::Smb202, SigningPolicy::IfRequired),
        Policy {
            encryption: EncryptionPolicy::Required,
            ..Policy::default()
        },
    ] {
        let session = connect(&lan, &policy);
        session.add_channels(2, &lan.nics());
        work(&session);
    }
    let file = capture.end(&lan);

    // What TCP does is its own affair: a segment that it sends again, as where the receiver's window was full, overlaps what
    // is there, and that counts as malformed.
    let wrong = "(_ws.malformed and not tcp.analysis.out_of_order and not tcp.analysis.retransmission) or \
                 _ws.unreassembled or _ws.short or smb or ((smb2 or nbss) and _ws.expert.severity >= \"Warning\" \
                 and not tcp.analysis.flags and not tcp.options.sack.dsack)";
    let fields = ["frame.number", "smb2.cmd", "_ws.expert.message"];
    assert_eq!(decode(&file, wrong, &fields), [""; 0]);

    let from_us = "smb2.flags.response == 0 or smb2.header.transform.flags.encrypted == 1";
    let binding = "smb2.ses_req_flags.session_binding";
    let requests = decode(&file, from_us, &["smb2.cmd", binding]);
    let sealed = requests.iter().filter(|line| line.trim().is_empty());
    assert!(sealed.count() > 20, "encrypted ones have no command");
    assert!(
        requests.iter().any(|line| line == "1\t1"),
        "a channel is bound"
    );
    // Several messages may stand in one segment.
    let commands = requests.iter().filter_map(|line| line.split('\t').next());
    let commands = commands.flat_map(|several| several.split(','));
    let sent: BTreeSet<&str> = commands.filter(|command| !command.is_empty()).collect();
    // All but CANCEL, which we never send, LOCK, which only a benchmark does, and ECHO, for which nothing was slow enough.
    let expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 16, 17].map(|code| code.to_string());
    let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
    assert_eq!(sent, expected);
}

#[test]
fn wireshark_reads_the_target_of_an_ntlm_answer() {
    let lan = Lan::new("");
    let capture = Capture::begin();
    let session = connect(&lan, &Policy::default());
    assert_eq!(session.proof(), Proof::Ntlm);
    session.tree(SHARE).expect("its key signs");
    let wrong = login_with("a wrong password");
    let refused = Session::connect(&lan.server(), None, &wrong, &Policy::default()).err();
    let Some(Error::LoginRefused { source, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(source.status(), Some(NtStatus::LOGON_FAILURE));
    let file = capture.end(&lan);
    // AUTHENTICATE_MESSAGE (MS-NLMP 2.2.1.3).
    let answers = decode(
        &file,
        "ntlmssp.messagetype == 3",
        &[
            "ntlmssp.auth.username",
            "ntlmssp.ntlmv2_response.target_name",
            "ntlmssp.ntlmv2_response.channel_bindings",
            "ntlmssp.ntlmv2_response.flags",
            "ntlmssp.authenticate.mic",
        ],
    );
    assert_eq!(answers.len(), 2, "{answers:?}");
    let (target, zeros) = (format!("cifs/{}", lan.server().name), "0".repeat(32));
    for answer in answers {
        let found: Vec<&str> = answer.split('\t').collect();
        let [user, named, bindings, flags, sum] = found[..] else {
            panic!("{answer}");
        };
        let expected = (USER, target.as_str(), zeros.as_str(), "0x00000002");
        assert_eq!((user, named, bindings, flags), expected);
        assert!(sum.len() == zeros.len() && sum != zeros, "{sum}");
    }
}
