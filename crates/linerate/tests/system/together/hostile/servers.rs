//! Servers that let anybody in, and then are silent, put off, trickle, reset, or list without end.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;
use smb_proto::NtStatus;
use smb_proto::session::FileTimes;
use smb_proto::wire::{
    BasicInformation, CloseResponse, Command as Asked, CreateResponse, DirectoryRecord,
    DirectoryRecords, ErrorResponse, FileId, FlushResponse, HEADER_LENGTH, Header, IoctlResponse,
    Message as _, NegotiateContext, NegotiateResponse, PREFIX_LENGTH, QueryDirectoryResponse,
    QueryInfoResponse, ReadResponse, SessionSetupResponse, SetInfoResponse, StandardInformation,
    TreeConnectResponse, WriteResponse, capability, class, dialect, flags, frame_length,
    frame_prefix, security_mode, session_flags, utf16,
};

use crate::support;

/// What is never waited for longer, with what the start of a program takes on a busy machine.
const HANG_MAX: Duration = Duration::from_secs(30);
/// What a program may take at most of memory.
const MEMORY_BYTES_MAX: u64 = 64 << 20;
const FOLDER: u32 = 0x10;
/// MS-SMB2 2.2.13: where the disposition is, and that of whoever makes something that must not be there.
const DISPOSITION_AT: usize = 36;
const MAKE: u8 = 2;
/// MS-SMB2 2.2.37: where the class is of what is asked about a file.
const INFORMATION_AT: usize = 3;
/// MS-SMB2 2.2.33
const RESTART_SCANS: u8 = 1;
const MADE_AT: u64 = 132_500_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evil {
    /// Says nothing once who comes is let in.
    Silent,
    /// Says of each request that it takes longer, and nothing else.
    PutsOff,
    /// The same, without end.
    PutsOffAgain,
    /// Sends a byte of a long reply every second.
    Trickles,
    /// Breaks each connection once who comes is let in.
    Resets,
    /// Lists files without end, their names in ten letters.
    Files,
    /// Lists folders without end.
    Folders,
    /// Lists files without end, each with the longest name that fits.
    LongNames,
    /// Has thousands of folders with the longest names that are taken in each folder, and lets all be removed.
    Deep,
    /// The same with names that a folder of this machine can have.
    DeepSource,
    /// Lists files without end, one every few seconds.
    FewEntries,
    /// Has one file, of which it gives one byte at a time.
    FewBytes,
    /// The same, and each byte takes a while.
    FewBytesLate,
    /// Has one large file, and gives of it all that it is asked for at once.
    Large,
    /// Takes one byte at a time of what is written.
    TakesFewBytes,
    /// Gives what it says about itself one byte at a time.
    FewAboutItself,
    /// The same, and each byte takes a while.
    FewAboutItselfLate,
    /// Of whoever makes a folder it says that it is there, and of whoever opens it that it is not.
    Denies,
}

/// How long a server that trickles takes over an entry, and over a byte.
const PACE_OF_ENTRIES: Duration = Duration::from_secs(3);
const PACE_OF_BYTES: Duration = Duration::from_millis(500);
/// The length of its file.
const FILE_BYTES: u32 = 1 << 20;

/// The length of the large one: more than a copy may hold of it, and enough to be read over several sessions.
const LARGE_BYTES: u64 = 384 << 20;

/// Folders that each folder of [`Evil::Deep`] has.
const DEEP: u64 = 10_000;
/// Letters of their names.
const DEEP_LETTERS: usize = 4_000;

struct Server {
    port: u16,
}

impl Server {
    fn start(evil: Evil) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who comes hangs up at some time.
                thread::spawn(move || Visit::new(stream, evil).serve().ok());
            }
        });
        Self { port }
    }

    fn share(&self) -> String {
        format!("smb://127.0.0.1:{}/media/all/", self.port)
    }

    fn root(&self) -> String {
        format!("smb://127.0.0.1:{}", self.port)
    }

    fn file(&self) -> String {
        format!("smb://127.0.0.1:{}/media/file", self.port)
    }
}

struct Visit {
    stream: TcpStream,
    evil: Evil,
    listed: u64,
    /// What was asked last.
    asked: Vec<u8>,
}

impl Visit {
    fn new(stream: TcpStream, evil: Evil) -> Self {
        Self {
            stream,
            evil,
            listed: 0,
            asked: Vec::new(),
        }
    }

    fn serve(mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        loop {
            let mut prefix = [0; PREFIX_LENGTH];
            self.stream.read_exact(&mut prefix)?;
            let length = frame_length(prefix).map_err(|_malformed| io::ErrorKind::InvalidData)?;
            let mut frame = vec![0; length];
            self.stream.read_exact(&mut frame)?;
            let mut rest = &frame[..];
            while !rest.is_empty() {
                let header =
                    Header::decode(rest).map_err(|_malformed| io::ErrorKind::InvalidData)?;
                let length = match header.next_command as usize {
                    0 => rest.len(),
                    distance => distance,
                };
                let restarts = rest[HEADER_LENGTH..length].get(3) == Some(&RESTART_SCANS);
                if header.command == Asked::QUERY_DIRECTORY && restarts {
                    self.listed = 0;
                }
                self.asked = rest[HEADER_LENGTH..length].to_vec();
                rest = &rest[length..];
                self.answer(header)?;
            }
        }
    }

    fn answer(&mut self, mut header: Header) -> io::Result<()> {
        header.next_command = 0;
        let mut body = Vec::new();
        match header.command {
            Asked::NEGOTIATE => negotiated().encode(&mut body),
            Asked::SESSION_SETUP => {
                header.session_id = 1;
                SessionSetupResponse {
                    flags: session_flags::NULL,
                    token: &[],
                }
                .encode(&mut body);
            }
            _ => match self.evil {
                Evil::Silent => return Ok(()),
                Evil::Resets => {
                    set_socket_linger(&self.stream, Some(Duration::ZERO))?;
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Evil::PutsOff => return self.put_off(header),
                Evil::PutsOffAgain => loop {
                    self.put_off(header)?;
                    thread::sleep(Duration::from_millis(100));
                },
                Evil::Trickles => return self.trickle(),
                Evil::Files
                | Evil::Folders
                | Evil::LongNames
                | Evil::Deep
                | Evil::DeepSource
                | Evil::FewEntries
                | Evil::FewBytes
                | Evil::FewBytesLate
                | Evil::Large
                | Evil::TakesFewBytes
                | Evil::FewAboutItself
                | Evil::FewAboutItselfLate
                | Evil::Denies => {
                    return self.list(header, body);
                }
            },
        }
        self.reply(&header, NtStatus::SUCCESS, &body)
    }

    fn put_off(&mut self, header: Header) -> io::Result<()> {
        let header = Header {
            flags: flags::RESPONSE | flags::ASYNC,
            ..header
        };
        let mut body = Vec::new();
        ErrorResponse {
            contexts: 0,
            data: &[],
        }
        .encode(&mut body);
        self.reply(&header, NtStatus::PENDING, &body)
    }

    fn trickle(&mut self) -> io::Result<()> {
        let frame = [&frame_prefix(1 << 20)[..], &[0; 1 << 10]].concat();
        for byte in frame {
            self.stream.write_all(&[byte])?;
            thread::sleep(Duration::from_secs(1));
        }
        Ok(())
    }

    fn list(&mut self, mut header: Header, mut body: Vec<u8>) -> io::Result<()> {
        match header.command {
            Asked::TREE_CONNECT => {
                header = header.with_tree(1);
                TreeConnectResponse {
                    share_type: 1,
                    flags: 0,
                    capabilities: 0,
                    access_max: 0x1F_01FF,
                }
                .encode(&mut body);
            }
            Asked::CREATE if self.is_denied() => {
                ErrorResponse {
                    contexts: 0,
                    data: &[],
                }
                .encode(&mut body);
                let status = match self.asked[DISPOSITION_AT] {
                    MAKE => NtStatus::OBJECT_NAME_COLLISION,
                    _ => NtStatus::OBJECT_NAME_NOT_FOUND,
                };
                return self.reply(&header, status, &body);
            }
            Asked::CREATE => self.created().encode(&mut body),
            Asked::READ => {
                if matches!(self.evil, Evil::FewBytesLate | Evil::FewAboutItselfLate) {
                    thread::sleep(PACE_OF_BYTES);
                }
                let data = self.content();
                ReadResponse {
                    data_offset: 80,
                    data: &data,
                }
                .encode(&mut body);
            }
            // Whatever is read of it as a length, the packet is longer.
            Asked::IOCTL if self.is_pipe() => IoctlResponse {
                control: u32::from_le_bytes(self.asked[4..8].try_into().expect("four bytes")),
                file: FileId {
                    persistent: 1,
                    volatile: 1,
                },
                output: b"x",
            }
            .encode(&mut body),
            Asked::QUERY_INFO if self.evil == Evil::Large => {
                QueryInfoResponse {
                    data: &self.information(),
                }
                .encode(&mut body);
            }
            Asked::WRITE => WriteResponse { count: 1 }.encode(&mut body),
            Asked::SET_INFO => SetInfoResponse.encode(&mut body),
            Asked::QUERY_DIRECTORY if self.listed >= self.entries_max() => {
                ErrorResponse {
                    contexts: 0,
                    data: &[],
                }
                .encode(&mut body);
                return self.reply(&header, NtStatus::NO_MORE_FILES, &body);
            }
            Asked::QUERY_DIRECTORY => {
                if self.evil == Evil::FewEntries {
                    thread::sleep(PACE_OF_ENTRIES);
                }
                let data = self.entries();
                QueryDirectoryResponse { data: &data }.encode(&mut body);
            }
            Asked::CLOSE => CloseResponse {
                flags: 0,
                times: FileTimes::default(),
                allocation: 0,
                size: 0,
                attributes: 0,
            }
            .encode(&mut body),
            Asked::ECHO | Asked::TREE_DISCONNECT | Asked::LOGOFF => {
                FlushResponse.encode(&mut body);
            }
            _ => {
                ErrorResponse {
                    contexts: 0,
                    data: &[],
                }
                .encode(&mut body);
                return self.reply(&header, NtStatus::NOT_SUPPORTED, &body);
            }
        }
        self.reply(&header, NtStatus::SUCCESS, &body)
    }

    /// All that is asked for of the large file, and a byte of any other.
    fn content(&self) -> Vec<u8> {
        let bytes = u32::from_le_bytes(self.asked[4..8].try_into().expect("four bytes"));
        match self.evil {
            Evil::Large => vec![0; bytes as usize],
            _ => b"x".to_vec(),
        }
    }

    /// What the large file is.
    fn information(&self) -> Vec<u8> {
        let mut data = Vec::new();
        match self.asked[INFORMATION_AT] {
            class::FILE_STANDARD => StandardInformation {
                allocation: LARGE_BYTES,
                size: LARGE_BYTES,
                links: 1,
                delete_pending: false,
                folder: false,
            }
            .encode(&mut data),
            _ => BasicInformation {
                times: FileTimes {
                    write: MADE_AT,
                    ..FileTimes::default()
                },
                attributes: 0x80,
            }
            .encode(&mut data),
        }
        data
    }

    /// The file, the pipe or else a folder.
    fn created(&self) -> CreateResponse<'static> {
        let file = utf16::encode("file");
        let is_file = self.is_pipe() || self.asked.windows(file.len()).any(|name| name == file);
        CreateResponse {
            oplock_level: 0,
            action: if is_file { 2 } else { 1 },
            times: FileTimes {
                write: MADE_AT,
                ..FileTimes::default()
            },
            allocation: 0,
            size: match self.evil {
                Evil::FewBytes | Evil::FewBytesLate if is_file => FILE_BYTES.into(),
                Evil::Large if is_file => LARGE_BYTES,
                _ => 0,
            },
            attributes: if is_file { 0x80 } else { FOLDER },
            file: FileId {
                persistent: 1,
                volatile: 1,
            },
            contexts: Vec::new(),
        }
    }

    fn is_pipe(&self) -> bool {
        matches!(self.evil, Evil::FewAboutItself | Evil::FewAboutItselfLate)
    }

    fn is_denied(&self) -> bool {
        let folder = utf16::encode("denied");
        let mut names = self.asked.windows(folder.len());
        self.evil == Evil::Denies && names.any(|name| name == folder)
    }

    /// How many entries a folder has.
    fn entries_max(&self) -> u64 {
        match self.evil {
            Evil::Deep | Evil::DeepSource => DEEP,
            Evil::FewBytes
            | Evil::FewBytesLate
            | Evil::Large
            | Evil::TakesFewBytes
            | Evil::Denies => 0,
            _ => u64::MAX,
        }
    }

    /// Nearly a MiB of them, or one.
    fn entries(&mut self) -> Vec<u8> {
        let (count, letters) = match self.evil {
            Evil::LongNames => (1, 500_000),
            Evil::Deep => (100, DEEP_LETTERS),
            Evil::DeepSource => (1000, 250),
            Evil::FewEntries => (1, 10),
            _ => (7_000, 10),
        };
        let first = self.listed;
        let names: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                self.listed += 1;
                let number = self.listed.to_string();
                let zeros = "0".repeat(letters - number.len());
                utf16::encode(&(zeros + &number))
            })
            .collect();
        let records = names
            .iter()
            .zip(first..)
            .map(|(name, number)| DirectoryRecord {
                times: FileTimes {
                    write: MADE_AT,
                    ..FileTimes::default()
                },
                size: 0,
                allocation: 0,
                attributes: match self.evil {
                    Evil::Folders | Evil::Deep | Evil::DeepSource => FOLDER,
                    _ => 0x80,
                },
                ea_size_or_reparse_tag: 0,
                file_id: 1 + number,
                name,
            });
        let mut data = Vec::new();
        DirectoryRecords {
            records: records.collect(),
        }
        .encode(&mut data);
        data
    }

    fn reply(&mut self, header: &Header, status: NtStatus, body: &[u8]) -> io::Result<()> {
        let header = Header {
            status,
            flags: header.flags | flags::RESPONSE,
            ..*header
        };
        let mut frame = frame_prefix(HEADER_LENGTH + body.len()).to_vec();
        frame.extend_from_slice(&header.to_bytes());
        frame.extend_from_slice(body);
        self.stream.write_all(&frame)
    }
}

fn negotiated() -> NegotiateResponse<'static> {
    NegotiateResponse {
        security_mode: security_mode::SIGNING_ENABLED,
        dialect: dialect::SMB_3_1_1,
        server_guid: *b"lets anybody in.",
        capabilities: capability::LARGE_MTU,
        transact_bytes_max: 8 << 20,
        read_bytes_max: 8 << 20,
        write_bytes_max: 8 << 20,
        system_time: MADE_AT,
        token: &[],
        contexts: vec![NegotiateContext::Preauth {
            algorithms: vec![NegotiateContext::SHA_512],
            salt: &[0; 32],
        }],
    }
}

/// How a command ended.
struct Ended {
    code: i32,
    said: String,
    took: Duration,
    memory: u64,
    /// It was ended by us, because that was enough.
    cut: bool,
}

impl Ended {
    /// The limit of a listing ended it, which a fast machine reaches before we end it.
    fn reached_limit(&self) -> bool {
        let says = "it lists more than ten million entries in one folder";
        self.code == 70 && self.said.contains(says)
    }
}

/// Runs a command against a server, until it ends or, where that is asked for, for so long.
fn run(arguments: &[&str], enough: Option<Duration>) -> Ended {
    let begun = Instant::now();
    let error = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut child = Command::new(support::path())
        .args(arguments)
        .arg("--anonymous")
        .env("LINERATE_STATE_DIR", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(error.reopen().expect("our own file"))
        .spawn()
        .expect("it starts");
    let mut memory = 0;
    let mut cut = false;
    let status = loop {
        thread::sleep(Duration::from_millis(10));
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
        // Until it has its own name, and while it gets it, it has our memory: `spawn` returns in the middle of
        // `execve`.
        let status = status
            .ok()
            .filter(|status| status.starts_with("Name:\tlinerate\n"));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok());
        memory = memory.max(peak.unwrap_or(0_u64) << 10);
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if enough.is_some_and(|enough| begun.elapsed() > enough) {
            cut = true;
            child.kill().expect("it is our child");
        }
    };
    Ended {
        code: status.code().unwrap_or(-1),
        said: fs::read_to_string(error.path()).expect("our own file"),
        took: begun.elapsed(),
        memory,
        cut,
    }
}

#[test]
fn no_server_makes_a_command_hang() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let evils = [
        Evil::Silent,
        Evil::PutsOff,
        Evil::PutsOffAgain,
        Evil::Trickles,
    ];
    // They mostly wait.
    thread::scope(|scope| {
        for evil in evils {
            let here = &here;
            for command in ["ls", "copy", "up"] {
                scope.spawn(move || {
                    let share = Server::start(evil).share();
                    let ended = match command {
                        "ls" => run(&["ls", &share], None),
                        "copy" => run(&["copy", &share, here], None),
                        _ => run(&["copy", here, &share], None),
                    };
                    let said = format!("{evil:?} {command} {:?}: {}", ended.took, ended.said);
                    assert!(ended.took < HANG_MAX, "{said}");
                    assert_eq!(ended.code, 69, "{said}");
                    assert!(ended.memory < MEMORY_BYTES_MAX, "{said}");
                });
            }
        }
    });
    assert_eq!(fs::read_dir(folder.path()).expect("our folder").count(), 0);
}

#[test]
fn no_server_that_gives_or_takes_a_little_makes_a_command_hang() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("source/file");
    fs::create_dir(folder.path().join("source")).expect("our own folder");
    fs::write(&source, [7; FILE_BYTES as usize]).expect("there is room");
    let to = folder.path().join("to");
    let [source, to] = [source, to].map(|path| path.display().to_string());
    let cases = [
        (Evil::FewEntries, "ls", "entries of a folder in"),
        (Evil::FewEntries, "list", "entries of a folder in"),
        (Evil::FewBytes, "down", "1 bytes where"),
        (Evil::FewBytesLate, "down", "1 bytes where"),
        (Evil::TakesFewBytes, "up", "1 bytes where"),
        (Evil::FewAboutItself, "shares", "bytes about itself in"),
        (Evil::FewAboutItselfLate, "shares", "bytes about itself in"),
    ];
    thread::scope(|scope| {
        for (evil, command, says) in cases {
            let (source, to) = (&source, &to);
            scope.spawn(move || {
                let server = Server::start(evil);
                let (share, file) = (server.share(), server.file());
                let ended = match command {
                    "ls" => run(&["ls", &share], None),
                    "shares" => run(&["ls", &server.root()], None),
                    "list" => run(&["copy", "--dry-run", &share, to], None),
                    "down" => run(&["copy", &file, &format!("{to}-{evil:?}")], None),
                    _ => run(&["copy", "--force", source, &share], None),
                };
                let said = format!("{evil:?} {command} {:?}: {}", ended.took, ended.said);
                assert!(ended.took < HANG_MAX, "{said}");
                assert_eq!(ended.code, 69, "{said}");
                assert!(ended.said.contains(says), "{said}");
            });
        }
    });
}

#[test]
fn no_server_that_resets_is_asked_for_ever() {
    let share = Server::start(Evil::Resets).share();
    let ended = run(&["ls", &share], None);
    assert!(ended.took < HANG_MAX, "{:?}: {}", ended.took, ended.said);
    assert_eq!(ended.code, 69, "{}", ended.said);
}

#[test]
fn a_folder_that_a_server_has_and_has_not_is_not_made_for_ever() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join("denied/in")).expect("our own folder");
    fs::write(folder.path().join("denied/in/file"), "content").expect("there is room");
    let here = format!("{}/", folder.path().display());
    let ended = run(&["copy", &here, &Server::start(Evil::Denies).share()], None);
    assert!(ended.took < HANG_MAX, "{:?}", ended.took);
    assert_eq!(ended.code, 1, "{}", ended.said);
    assert!(
        ended.said.contains("`all/denied` does not exist"),
        "{}",
        ended.said
    );
}

#[test]
fn a_listing_without_end_takes_little_memory_and_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    for (evil, says) in [
        (Evil::Files, "more than a million names"),
        (Evil::Folders, "65,536 folders wait already"),
        (Evil::LongNames, "the server gave a name of 500000 bytes"),
    ] {
        let share = Server::start(evil).share();
        let enough = Duration::from_secs(8);
        let listed = run(&["ls", &share], Some(enough));
        let memory = listed.memory >> 20;
        assert!(memory > 0 && memory < 64, "ls {evil:?}: {memory} MiB");
        assert!(
            listed.cut || listed.reached_limit(),
            "{evil:?}: {}",
            listed.said
        );
        // Nothing of it is kept, so that the limit of the listing itself ends that.
        let enough = (evil == Evil::LongNames).then_some(enough);
        let copied = run(&["copy", "--dry-run", &share, &here], enough);
        let memory = copied.memory >> 20;
        assert!(memory > 0 && memory < 64, "copy {evil:?}: {memory} MiB");
        assert!(copied.cut || copied.said.contains(says), "{}", copied.said);
        assert!(copied.cut || copied.code == 65, "{}", copied.code);
    }
}

#[test]
fn a_mirror_on_a_server_that_lists_without_end_takes_little_memory_and_removes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("file"), "content").expect("there is room");
    let here = format!("{}/", folder.path().display());
    for (evil, options, says) in [
        (Evil::Files, &[][..], "more than a million names"),
        (Evil::Folders, &[], "more than a million names"),
        (
            Evil::Folders,
            &["--include", "file"],
            "more than 400,000 folders",
        ),
    ] {
        let share = Server::start(evil).share();
        let mirror = ["copy", "--update", "--delete", "--dry-run", &here, &share];
        let ended = run(&[&mirror[..], options].concat(), None);
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{evil:?}: {memory} MiB");
        assert!(ended.said.contains(says), "{evil:?}: {}", ended.said);
        assert_eq!(ended.code, 65, "{}", ended.said);
    }
}

#[test]
fn a_copy_to_a_server_that_lists_without_end_takes_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("file"), "content").expect("there is room");
    let here = format!("{}/", folder.path().display());
    for evil in [Evil::Files, Evil::Folders, Evil::LongNames] {
        let share = Server::start(evil).share();
        let enough = Duration::from_secs(8);
        let ended = run(&["copy", "--update", &here, &share], Some(enough));
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{evil:?}: {memory} MiB");
        let good = ended.cut || ended.reached_limit();
        assert!(good, "{evil:?}: {} {}", ended.code, ended.said);
    }
}

/// However fast it comes and however many sessions it comes over: what has come waits for the disk.
#[test]
fn a_large_file_takes_little_memory() {
    for sessions in ["1", "2", "8"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = folder.path().join("file");
        let to = here.display().to_string();
        let file = Server::start(Evil::Large).file();
        // To hash it takes longer than to send it.
        let ended = run(
            &["copy", "--verify", "--sessions", sessions, &file, &to],
            None,
        );
        assert_eq!(ended.code, 0, "{}", ended.said);
        let bytes = fs::metadata(&here).expect("it is copied").len();
        assert_eq!(bytes, LARGE_BYTES);
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{sessions}: {memory} MiB");
    }
}

#[test]
fn long_names_and_long_paths_take_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let share = Server::start(Evil::Deep).share();
    let listed = run(&["ls", &share], None);
    assert_eq!(listed.code, 0, "{}", listed.said);
    let share = Server::start(Evil::DeepSource).share();
    let copied = run(&["copy", "--dry-run", &share, &here], None);
    assert_eq!(copied.code, 65, "{}", copied.said);
    let says = "the folders that wait already have too long paths";
    assert!(copied.said.contains(says), "{}", copied.said);
    for ended in [listed, copied] {
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{memory} MiB: {}", ended.said);
    }
}

#[test]
fn folders_in_folders_without_end_are_removed_in_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = format!("{}/", folder.path().display());
    for dry in [&["--dry-run"][..], &[]] {
        let share = Server::start(Evil::Deep).share();
        let mirror = ["copy", "--update", "--delete", &here, &share];
        let enough = Duration::from_secs(15);
        let ended = run(&[&mirror[..], dry].concat(), Some(enough));
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{memory} MiB: {}", ended.said);
        assert!(ended.cut, "{}: {}", ended.code, ended.said);
    }
}
