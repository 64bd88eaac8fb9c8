//! What a job has: a folder here, one on the share, and the program under test.

use std::fs;
use std::io::Read;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::file_trees::{self, Node, Tree};
use super::servers::{FAST_SHARE, LINKS, PASSWORD, Running, SHARE, USER};

/// Whoever needs longer for one command does not end.
const PATIENCE: Duration = Duration::from_secs(300);

/// The server under another name, which makes it another one.
const OTHER: &str = "127.0.0.2";

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As if both ends were one machine.
    Ok,
    /// The same, with what was measured.
    Measured(String),
    /// Something was not copied, and the program said which and why.
    Refused(String),
    /// Something was not copied, and the program did not say so.
    Lost(String),
    /// The program gave up, or did something that it should not.
    Failed(String),
}

pub struct Stage<'a> {
    running: &'a Running,
    /// Below the share.
    name: String,
    here: TempDir,
}

/// What the program said.
#[derive(Debug)]
pub struct Said {
    /// None: it was killed, because it did not end.
    pub code: Option<i32>,
    pub json: Value,
    pub stderr: String,
}

impl<'a> Stage<'a> {
    pub fn new(running: &'a Running, job: &str) -> Self {
        let here = tempfile::tempdir().expect("space on the disk");
        let name = format!("{job} 作業");
        let stage = Self {
            running,
            name,
            here,
        };
        fs::write(
            stage.here.path().join("login"),
            format!("username={USER}\npassword={PASSWORD}\n"),
        )
        .expect("space on the disk");
        let login = stage.here.path().join("login");
        fs::set_permissions(login, fs::Permissions::from_mode(0o600)).expect("our own file");
        fs::create_dir(stage.there("")).expect("our own folder");
        fs::set_permissions(stage.there(""), fs::Permissions::from_mode(0o777)).expect("our own");
        stage
    }

    /// Waits until the server lets somebody in: one that stands still for a while is measured afterwards.
    pub fn settle(&self) {
        self.running.settle();
    }

    /// Another stage of the same server, with its own folder.
    pub fn another(&self, name: &str) -> Self {
        Self::new(self.running, &format!("{} {name}", self.name))
    }

    /// A path of this machine.
    pub fn here(&self, path: &str) -> PathBuf {
        self.here.path().join(path)
    }

    /// The same as an argument.
    pub fn at(&self, path: &str) -> String {
        self.here(path).display().to_string()
    }

    /// A path of the job's folder on the share, as its server's disk has it.
    pub fn there(&self, path: &str) -> PathBuf {
        self.running.share().join(&self.name).join(path)
    }

    /// The same as an argument.
    pub fn url(&self, path: &str) -> String {
        self.url_of(SHARE, &format!("{}/{path}", self.name))
    }

    /// A path of any share of the server.
    pub fn url_of(&self, share: &str, path: &str) -> String {
        format!("smb://{USER}@{}/{share}/{path}", self.address())
    }

    /// Over this port of this machine.
    pub fn url_by(&self, port: u16, path: &str) -> String {
        format!("smb://{USER}@127.0.0.1:{port}/{SHARE}/{}/{path}", self.name)
    }

    /// A file of the share in the server's memory, as an argument.
    pub fn in_memory(&self, path: &str) -> String {
        self.url_of(FAST_SHARE, path)
    }

    /// Whether the server is a guest that no processor helps to run.
    pub fn is_slow(&self) -> bool {
        self.running.read_file("accelerator").trim() == "tcg"
    }

    /// Where the server listens.
    pub const fn address(&self) -> Ipv4Addr {
        self.running.address()
    }

    /// Makes a link of a distributed file system, whose first target is none, to this folder of the share.
    pub fn refer(&self, path: &str, link: &str) {
        let folder = self.running.links().join(&self.name);
        fs::create_dir_all(&folder).expect("our own folder");
        let there = format!("{OTHER}\\{SHARE}\\{}\\{path}", self.name);
        let targets = format!("msdfs:{OTHER}\\nothing,{there}");
        std::os::unix::fs::symlink(targets, folder.join(link)).expect("our own folder");
    }

    /// A path of the folder with such links, as an argument.
    pub fn linked(&self, path: &str) -> String {
        self.url_of(LINKS, &format!("{}/{path}", self.name))
    }

    /// A folder of the share where such a link says that it is.
    pub fn target(&self, path: &str) -> String {
        format!("smb://{OTHER}/{SHARE}/{}/{path}", self.name)
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command
            .args(words)
            .arg("--credentials")
            .arg(self.here.path().join("login"))
            .env_remove("LINERATE_PASSWORD")
            .env("LINERATE_STATE_DIR", self.here.path().join("state"))
            .stdin(Stdio::null());
        command
    }

    /// Copies.
    pub fn copy(&self, words: &[&str]) -> Said {
        self.run(&[&["copy"], words, &["--json"]].concat())
    }

    pub fn run(&self, words: &[&str]) -> Said {
        let mut child = self
            .command(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program under test");
        let stdout = listen(child.stdout.take());
        let stderr = listen(child.stderr.take());
        let code = end(&mut child);
        let [stdout, stderr] = [stdout, stderr].map(|it| it.join().unwrap_or_default());
        let json = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        Said { code, json, stderr }
    }

    /// What became of a copy of this folder or file of this machine to that one of the server's disk, or back.
    pub fn judge(&self, said: &Said, source: &Path, copy: &Path) -> Outcome {
        let read = |path: &Path| match path {
            path if path.is_dir() => file_trees::read(path),
            path if path.exists() => Tree::from([(Vec::new(), file_trees::file(path))]),
            _ => Tree::new(),
        };
        said.judge(&read(source), &read(copy))
    }
}

fn listen<R: Read + Send + 'static>(stream: Option<R>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stream.map(|mut it| it.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn end(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("our own child") {
            return status.code();
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl Said {
    /// Its failures, as path and reason.
    pub fn failures(&self) -> Vec<(String, String)> {
        let failures = self.json["failures"].as_array();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (failures.into_iter().flatten())
            .map(|it| (text(&it["path"]), text(&it["reason"])))
            .collect()
    }

    /// The last line that is for people.
    pub fn reason(&self) -> String {
        match self.failures().first() {
            Some((_, reason)) => reason.clone(),
            None => self.stderr.trim().replace('\n', "; "),
        }
    }

    /// Holds what is there against what should be, and against what was said of it.
    pub fn judge(&self, source: &Tree, copy: &Tree) -> Outcome {
        let Some(code) = self.code else {
            return Outcome::Failed(format!("it does not end: {}", self.reason()));
        };
        let failures = self.failures();
        let mut refused = 0;
        for (path, node) in source {
            let shown = smb::copy::printable(&String::from_utf8_lossy(path));
            if copy.get(path) == Some(node) {
                continue;
            }
            let is_named = |(named, _): &(String, String)| {
                shown == *named
                    || shown.ends_with(&format!("/{named}"))
                    || named.ends_with(&shown)
                    || shown.starts_with(&format!("{named}/"))
            };
            let said = (code == 1 && failures.iter().any(is_named))
                || (code > 1 && !self.stderr.is_empty());
            match copy.get(path) {
                None if said => refused += 1,
                Some(Node::File { .. } | Node::Link(_)) => {
                    let wrong =
                        format!("`{shown}` is another; exit code {code}; {}", self.reason());
                    return Outcome::Lost(wrong);
                }
                _ => {
                    let missing =
                        format!("`{shown}` is missing; exit code {code}; {}", self.reason());
                    return Outcome::Lost(missing);
                }
            }
        }
        if let Some((path, _)) = copy.iter().find(|(path, _)| !source.contains_key(*path)) {
            let path = String::from_utf8_lossy(path);
            return Outcome::Failed(format!("`{path}` should not be there; {}", self.reason()));
        }
        match (code, refused) {
            (0, _) => Outcome::Ok,
            (1 | 65, 0) => Outcome::Refused(format!("all is there: {}", self.reason())),
            (1 | 65 | 69, 1..) => Outcome::Refused(self.reason()),
            _ => Outcome::Failed(format!("exit code {code}: {}", self.reason())),
        }
    }
}

impl Outcome {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Ok | Self::Measured(_) => "ok",
            Self::Refused(_) => "refused",
            Self::Lost(_) => "lost",
            Self::Failed(_) => "failed",
        }
    }

    pub fn reason(&self) -> &str {
        match self {
            Self::Ok => "",
            Self::Measured(said) | Self::Refused(said) | Self::Lost(said) | Self::Failed(said) => {
                said
            }
        }
    }

    /// The other one only where this is well.
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Ok => other(),
            worse => worse,
        }
    }

    /// Well where this holds.
    pub fn of(well: bool, otherwise: impl FnOnce() -> String) -> Self {
        match well {
            true => Self::Ok,
            false => Self::Failed(otherwise()),
        }
    }
}
