//! A server that lets anybody in, and then is silent, puts off, trickles, resets, or lists without end.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use smb_proto::NtStatus;
use smb_proto::session::FileTimes;
use smb_proto::wire::{
    BasicInformation, CloseResponse, Command, CreateResponse, DirectoryRecord, DirectoryRecords,
    FileId, FlushResponse, Header, IoctlResponse, Message as _, QueryDirectoryResponse,
    QueryInfoResponse, ReadResponse, SetInfoResponse, StandardInformation, TreeConnectResponse,
    WriteResponse, class, flags, frame_prefix, utf16,
};

use super::super::smb_frames::{MADE_AT, let_in, negotiated, read_frame, refusal, reply, requests};

const FOLDER: u32 = 0x10;
/// MS-SMB2 2.2.13: where the disposition is, and that of whoever makes something that must not be there.
const DISPOSITION_AT: usize = 36;
const MAKE: u8 = 2;
/// MS-SMB2 2.2.37: where the class is of what is asked about a file.
const INFORMATION_AT: usize = 3;
/// MS-SMB2 2.2.33: where it is said how long a listing may be.
const LISTING_ROOM_AT: usize = 28;
/// MS-FSCC 2.4.17, with what fills it up to eight bytes: an entry without its name.
const RECORD_BYTES: usize = 112;
/// MS-SMB2 2.2.33
const RESTART_SCANS: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evil {
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
pub(super) const FILE_BYTES: u32 = 1 << 20;

/// The length of the large one: more than a copy may hold of it, and enough to be read over several sessions.
pub(super) const LARGE_BYTES: u64 = 384 << 20;

/// Folders that each folder of [`Evil::Deep`] has.
const DEEP: u64 = 10_000;
/// Letters of their names.
const DEEP_LETTERS: usize = 4_000;
/// Letters of the names of [`Evil::LongNames`], nearly all that an answer may be.
pub(super) const LONG_LETTERS: usize = 125_000;

pub(super) struct Server {
    port: u16,
}

impl Server {
    pub(super) fn start(evil: Evil) -> Self {
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

    pub(super) fn share(&self) -> String {
        format!("smb://127.0.0.1:{}/media/all/", self.port)
    }

    pub(super) fn root(&self) -> String {
        format!("smb://127.0.0.1:{}", self.port)
    }

    pub(super) fn file(&self) -> String {
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
            let frame = read_frame(&mut self.stream)?;
            for (header, body) in requests(&frame)? {
                let restarts = body.get(3) == Some(&RESTART_SCANS);
                if header.command == Command::QUERY_DIRECTORY && restarts {
                    self.listed = 0;
                }
                self.asked = body.to_vec();
                self.answer(header)?;
            }
        }
    }

    fn answer(&mut self, mut header: Header) -> io::Result<()> {
        let mut body = Vec::new();
        match header.command {
            Command::NEGOTIATE => negotiated().encode(&mut body),
            Command::SESSION_SETUP => {
                header.session_id = 1;
                let_in().encode(&mut body);
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
        self.reply(&header, NtStatus::PENDING, &refusal())
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
            Command::TREE_CONNECT => {
                header = header.with_tree(1);
                TreeConnectResponse {
                    share_type: 1,
                    flags: 0,
                    capabilities: 0,
                    access_max: 0x1F_01FF,
                }
                .encode(&mut body);
            }
            Command::CREATE if self.is_denied() => {
                let status = match self.asked[DISPOSITION_AT] {
                    MAKE => NtStatus::OBJECT_NAME_COLLISION,
                    _ => NtStatus::OBJECT_NAME_NOT_FOUND,
                };
                return self.reply(&header, status, &refusal());
            }
            Command::CREATE => self.created().encode(&mut body),
            Command::READ if self.evil == Evil::Large && self.is_behind_the_end() => {
                return self.reply(&header, NtStatus::END_OF_FILE, &refusal());
            }
            Command::READ => {
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
            Command::IOCTL if self.is_pipe() => IoctlResponse {
                control: self.number_asked(4),
                file: FileId {
                    persistent: 1,
                    volatile: 1,
                },
                output: b"x",
            }
            .encode(&mut body),
            Command::QUERY_INFO if self.evil == Evil::Large => {
                QueryInfoResponse {
                    data: &self.information(),
                }
                .encode(&mut body);
            }
            Command::WRITE => WriteResponse { count: 1 }.encode(&mut body),
            Command::SET_INFO => SetInfoResponse.encode(&mut body),
            Command::QUERY_DIRECTORY if self.listed >= self.entries_max() => {
                return self.reply(&header, NtStatus::NO_MORE_FILES, &refusal());
            }
            Command::QUERY_DIRECTORY => {
                if self.evil == Evil::FewEntries {
                    thread::sleep(PACE_OF_ENTRIES);
                }
                let data = self.entries();
                QueryDirectoryResponse { data: &data }.encode(&mut body);
            }
            Command::CLOSE => CloseResponse {
                flags: 0,
                times: FileTimes::default(),
                allocation: 0,
                size: 0,
                attributes: 0,
            }
            .encode(&mut body),
            Command::ECHO | Command::TREE_DISCONNECT | Command::LOGOFF => {
                FlushResponse.encode(&mut body);
            }
            _ => return self.reply(&header, NtStatus::NOT_SUPPORTED, &refusal()),
        }
        self.reply(&header, NtStatus::SUCCESS, &body)
    }

    /// A number of what was asked last, by where it is.
    fn number_asked(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.asked[at..][..4].try_into().expect("four bytes"))
    }

    /// All that is asked for of the large file, and a byte of any other.
    fn content(&self) -> Vec<u8> {
        match self.evil {
            Evil::Large => vec![0; self.number_asked(4) as usize],
            _ => b"x".to_vec(),
        }
    }

    fn is_behind_the_end(&self) -> bool {
        let offset = u64::from_le_bytes(self.asked[8..16].try_into().expect("eight bytes"));
        offset >= LARGE_BYTES
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

    /// As many as there is room for in what was asked for, or one.
    fn entries(&mut self) -> Vec<u8> {
        let letters = match self.evil {
            Evil::LongNames => LONG_LETTERS,
            Evil::Deep => DEEP_LETTERS,
            Evil::DeepSource => 250,
            _ => 10,
        };
        let room = self.number_asked(LISTING_ROOM_AT) as usize;
        let count = match self.evil {
            Evil::LongNames | Evil::FewEntries => 1,
            _ => room / (RECORD_BYTES + 2 * letters),
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
        reply(&mut self.stream, header, status, body)
    }
}
