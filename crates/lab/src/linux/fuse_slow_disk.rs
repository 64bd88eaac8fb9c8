//! A disk whose every access takes a while, or that sleeps until the first one: a file that the kernel
//! asks us for (FUSE, `linux/fuse.h`), below a loop device. What it holds is in memory that ends with
//! the supervisor, and when that ends every access fails at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use super::namespace_exec::Namespace;
use crate::Error;

/// Most bytes of one access, and of one message of the kernel with its headers.
const ACCESS_BYTES_MAX: u32 = 1 << 20;
const MESSAGE_BYTES_MAX: usize = (ACCESS_BYTES_MAX as usize) + 4096;
/// Accesses that the kernel has under way at once without waiting.
const ACCESSES_MAX: u16 = 128;
/// The version that is spoken: 7.31.
const VERSION: (u32, u32) = (7, 31);
/// `FUSE_ASYNC_READ`, `FUSE_BIG_WRITES`, `FUSE_ASYNC_DIO` and `FUSE_MAX_PAGES`.
const FLAGS: u32 = 1 | 1 << 5 | 1 << 15 | 1 << 22;
/// What the kernel may take for granted of the file: for ever, in seconds.
const FOR_EVER: u64 = 1 << 31;
const PAGE_BYTES: u32 = 4096;
/// A regular file of root, `rw-------`.
const MODE: u32 = 0o100_600;
/// Lengths of the headers of a question and of an answer.
const QUESTION_BYTES: usize = 40;
const ANSWER_BYTES: u32 = 16;
/// Length of the header of a read and of a write.
const ACCESS_HEADER_BYTES: usize = 40;

/// A disk that is served until its file is unmounted.
#[derive(Debug)]
pub(crate) struct Disk {
    slow: Arc<AtomicBool>,
}

/// How slow a disk is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// What each access takes, however many there are.
    pub(crate) delay: Duration,
    /// What the first one takes.
    pub(crate) wakes: Duration,
}

impl Disk {
    /// Puts the file of a disk in the place of a file of a host. It is fast until [`Disk::slow_down`].
    pub(crate) fn serve(
        namespace: &Namespace,
        path: &str,
        bytes: u64,
        pace: Pace,
    ) -> Result<Self, Error> {
        let failed = |source| Error::System {
            action: say("error-lab.serve-disk"),
            subject: path.into(),
            source,
        };
        let made = || {
            let content = memfd_create("disk", MemfdFlags::CLOEXEC)?;
            ftruncate(&content, bytes)?;
            io::Result::Ok(content)
        };
        let content = made().map_err(failed)?;
        let kernel = attach(namespace, path).map_err(failed)?;
        let slow = Arc::new(AtomicBool::new(false));
        let (answers, due) = mpsc::channel();
        let writer = kernel.try_clone().map_err(failed)?;
        let server = Server {
            kernel,
            content: content.into(),
            bytes,
            pace,
            slow: Arc::clone(&slow),
            awake: None,
            answers,
        };
        thread::spawn(move || server.run());
        thread::spawn(move || answer_in_time(writer, &due));
        Ok(Self { slow })
    }

    /// From now on it is as slow as it is meant to be.
    pub(crate) fn slow_down(&self) {
        self.slow.store(true, Ordering::Relaxed);
    }
}

/// Mounts in the host's own view of files, on a thread that has it and ends.
fn attach(namespace: &Namespace, path: &str) -> io::Result<File> {
    let files = File::open(format!("/proc/{}/ns/mnt", namespace.holder()))?;
    let work = || {
        unshare(CloneFlags::CLONE_FS)?;
        setns(files, CloneFlags::CLONE_NEWNS)?;
        let mut options = OpenOptions::new();
        let kernel = options.read(true).write(true).open("/dev/fuse")?;
        let options = format!(
            "fd={},rootmode={:o},user_id=0,group_id=0,max_read={ACCESS_BYTES_MAX}",
            kernel.as_raw_fd(),
            MODE & 0o170_000
        );
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount(
            Some("disk"),
            Path::new(path),
            Some("fuse"),
            flags,
            Some(options.as_str()),
        )?;
        Ok(kernel)
    };
    let joined = thread::scope(|scope| scope.spawn(work).join());
    joined.unwrap_or_else(|_| Err(io::Error::other("the thread among the host's files ended")))
}

/// An answer, and when it is due.
type Due = (Instant, Vec<u8>);

fn answer_in_time(mut kernel: File, due: &Receiver<Due>) {
    for (at, answer) in due {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        // One that was given up needs no answer.
        kernel.write_all(&answer).ok();
    }
}

struct Server {
    kernel: File,
    content: File,
    bytes: u64,
    pace: Pace,
    slow: Arc<AtomicBool>,
    /// When it is awake, once an access has woken it.
    awake: Option<Instant>,
    answers: Sender<Due>,
}

impl Server {
    fn run(mut self) {
        let mut message = vec![0; MESSAGE_BYTES_MAX];
        loop {
            let length = match self.kernel.read(&mut message) {
                Ok(length) => length,
                // The question was taken back, or we were interrupted.
                Err(error) if is_passing(&error) => continue,
                // It was unmounted.
                Err(_) => return,
            };
            if let Some(question) = message.get(..length).and_then(Question::parse) {
                self.answer(&question);
            }
        }
    }

    fn answer(&mut self, question: &Question<'_>) {
        let answer = match question.code {
            // Forgotten, interrupted: nothing is expected.
            2 | 36 | 42 => return,
            26 => Ok(greeting()),
            3 | 4 => Ok(self.attributes()),
            14 => Ok(vec![0; 16]),
            15 => self.read(question),
            16 => self.write(question),
            17 => Ok(vec![0; 80]),
            // Released, synchronized, flushed, gone.
            18 | 20 | 25 | 38 => Ok(Vec::new()),
            _ => Err(io::Error::from_raw_os_error(nix::libc::ENOSYS)),
        };
        let answer = framed(question.number, answer);
        let is_access = matches!(question.code, 15 | 16 | 20);
        if is_access && self.slow.load(Ordering::Relaxed) {
            let now = Instant::now();
            let awake = *self.awake.get_or_insert(now + self.pace.wakes);
            self.answers
                .send((awake.max(now) + self.pace.delay, answer))
                .ok();
        } else {
            self.kernel.write_all(&answer).ok();
        }
    }

    fn read(&self, question: &Question<'_>) -> io::Result<Vec<u8>> {
        let (offset, size) = question.access()?;
        let left = self.bytes.saturating_sub(offset);
        let size = size.min(u32::try_from(left).unwrap_or(u32::MAX));
        let mut data = vec![0; size as usize];
        self.content.read_exact_at(&mut data, offset)?;
        Ok(data)
    }

    fn write(&self, question: &Question<'_>) -> io::Result<Vec<u8>> {
        let (offset, size) = question.access()?;
        let data = question.rest.get(ACCESS_HEADER_BYTES..);
        let data = data.and_then(|data| data.get(..size as usize));
        let end = offset.checked_add(size.into());
        let fits = end.is_some_and(|end| end <= self.bytes);
        let data = data.filter(|_| fits).ok_or(io::ErrorKind::InvalidInput)?;
        self.content.write_all_at(data, offset)?;
        Ok([size.to_ne_bytes(), [0; 4]].concat())
    }

    /// `struct fuse_attr_out`.
    fn attributes(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let blocks = self.bytes.div_ceil(512);
        for number in [FOR_EVER, 0, 1, self.bytes, blocks, 0, 0, 0] {
            text.extend(number.to_ne_bytes());
        }
        for number in [0, 0, 0, MODE, 1, 0, 0, 0, PAGE_BYTES, 0] {
            text.extend(number.to_ne_bytes());
        }
        text
    }
}

/// Whether a read of the next question failed without meaning.
fn is_passing(error: &io::Error) -> bool {
    use nix::libc::{EAGAIN, EINTR, ENOENT};
    error
        .raw_os_error()
        .is_some_and(|code| [EAGAIN, EINTR, ENOENT].contains(&code))
}

/// `struct fuse_init_out`.
fn greeting() -> Vec<u8> {
    let (major, minor) = VERSION;
    let mut text = Vec::new();
    for number in [major, minor, ACCESS_BYTES_MAX, FLAGS] {
        text.extend(number.to_ne_bytes());
    }
    for number in [ACCESSES_MAX, ACCESSES_MAX] {
        text.extend(number.to_ne_bytes());
    }
    // Largest write, and times exact to a nanosecond.
    for number in [ACCESS_BYTES_MAX, 1] {
        text.extend(number.to_ne_bytes());
    }
    let pages = u16::try_from(ACCESS_BYTES_MAX / PAGE_BYTES).unwrap_or(u16::MAX);
    text.extend(pages.to_ne_bytes());
    text.resize(64, 0);
    text
}

/// An answer with its header.
fn framed(number: u64, answer: io::Result<Vec<u8>>) -> Vec<u8> {
    let (error, body) = match answer {
        Ok(body) => (0, body),
        Err(error) => (-error.raw_os_error().unwrap_or(nix::libc::EIO), Vec::new()),
    };
    let length = u32::try_from(body.len()).unwrap_or(0) + ANSWER_BYTES;
    let mut text = length.to_ne_bytes().to_vec();
    text.extend(error.to_ne_bytes());
    text.extend(number.to_ne_bytes());
    text.extend(body);
    text
}

struct Question<'a> {
    code: u32,
    number: u64,
    rest: &'a [u8],
}

impl<'a> Question<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        Some(Self {
            code: u32::from_ne_bytes(message.get(4..8)?.try_into().ok()?),
            number: u64::from_ne_bytes(message.get(8..16)?.try_into().ok()?),
            rest: message.get(QUESTION_BYTES..)?,
        })
    }

    /// Offset and size of a read or write.
    fn access(&self) -> io::Result<(u64, u32)> {
        let parse = || {
            let offset = self.rest.get(8..16)?.try_into().ok()?;
            let size = self.rest.get(16..20)?.try_into().ok()?;
            let size = u32::from_ne_bytes(size);
            (size <= ACCESS_BYTES_MAX).then_some((u64::from_ne_bytes(offset), size))
        };
        parse().ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}
