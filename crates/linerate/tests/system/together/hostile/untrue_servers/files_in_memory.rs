//! Files and folders in memory, and what requests of SMB do with them: as honest as a server can be.

use std::collections::BTreeMap;

use smb_proto::NtStatus;
use smb_proto::session::FileTimes;
use smb_proto::wire::CreateRequest;

use super::super::smb_frames::MADE_AT;

/// MS-FSCC 2.6
const ATTRIBUTE_FOLDER: u32 = 0x10;
const ATTRIBUTE_NORMAL: u32 = 0x80;
/// MS-SMB2 2.2.14: what a CREATE has done.
const OPENED: u32 = 1;
const MADE: u32 = 2;
const EMPTIED: u32 = 3;
/// When everything is written whose time nobody sets.
const WRITTEN_AT: u64 = MADE_AT + 10_000_000;
/// In a request to set times: this one stays as it is, now and when it is written (MS-FSCC 2.4.7).
const STAYS: u64 = u64::MAX;

/// What was done, or why not.
pub(super) type Done<T> = Result<T, NtStatus>;

/// Paths have `/` between their names; the top has the empty one.
pub(super) struct Disk {
    nodes: BTreeMap<u64, Node>,
    opens: BTreeMap<u64, Open>,
    last_number: u64,
}

/// A file or folder, by its number.
struct Node {
    path: String,
    is_folder: bool,
    content: Vec<u8>,
    times: FileTimes,
    attributes: u32,
}

/// One that somebody has open, by the number of the handle.
#[derive(Default)]
struct Open {
    node: u64,
    has_written: bool,
    /// Its time was set over this handle, so that no WRITE over it changes that (MS-FSA 2.1.5.15.2).
    keeps_time: bool,
    removes: bool,
    is_listed: bool,
}

/// What is known of a file or folder.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) number: u64,
    pub(super) is_folder: bool,
    pub(super) size: u64,
    pub(super) times: FileTimes,
    pub(super) attributes: u32,
}

/// What was known of a handle that is closed.
pub(super) struct Closed {
    /// None: it is removed.
    pub(super) about: Option<About>,
    pub(super) has_written: bool,
}

/// For those who know what must be on it.
impl Disk {
    pub(super) fn new() -> Self {
        let mut disk = Self {
            nodes: BTreeMap::new(),
            opens: BTreeMap::new(),
            last_number: 0,
        };
        disk.make_folder("");
        disk
    }

    pub(super) fn make_folder(&mut self, path: &str) {
        self.make(path, true, ATTRIBUTE_FOLDER);
    }

    pub(super) fn make_file(&mut self, path: &str, content: &[u8]) {
        let number = self.make(path, false, ATTRIBUTE_NORMAL);
        let made = self.nodes.get_mut(&number).expect("it was made");
        made.content = content.to_vec();
    }

    pub(super) fn content(&self, path: &str) -> Option<&[u8]> {
        let node = &self.nodes[&self.number_of(path)?];
        Some(&node.content)
    }

    pub(super) fn write_time(&self, path: &str) -> Option<u64> {
        Some(self.nodes[&self.number_of(path)?].times.write)
    }

    pub(super) fn set_write_time(&mut self, number: u64, time: u64) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.times.write = time;
        }
    }

    /// The names in a folder.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let inside = self.inside(folder);
        inside
            .map(|(_, node)| split(&node.path).1.to_owned())
            .collect()
    }

    /// Drops the second half of a file.
    pub(super) fn cut_to_half(&mut self, number: u64) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.content.truncate(node.content.len() / 2);
        }
    }

    fn make(&mut self, path: &str, is_folder: bool, attributes: u32) -> u64 {
        let number = self.next_number();
        let node = Node {
            path: path.to_owned(),
            is_folder,
            content: Vec::new(),
            times: FileTimes {
                creation: MADE_AT,
                access: MADE_AT,
                write: MADE_AT,
                change: MADE_AT,
            },
            attributes,
        };
        self.nodes.insert(number, node);
        number
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn number_of(&self, path: &str) -> Option<u64> {
        let mut nodes = self.nodes.iter();
        let found = nodes.find(|(_, node)| node.path == path);
        found.map(|(number, _)| *number)
    }

    fn inside<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (u64, &'a Node)> {
        let is_inside = move |path: &str| !path.is_empty() && split(path).0 == folder;
        let nodes = self.nodes.iter();
        nodes
            .filter(move |(_, node)| is_inside(&node.path))
            .map(|(number, node)| (*number, node))
    }

    fn about_number(&self, number: u64) -> Option<About> {
        let node = self.nodes.get(&number)?;
        Some(About {
            number,
            is_folder: node.is_folder,
            size: node.content.len() as u64,
            times: node.times,
            attributes: node.attributes,
        })
    }

    fn check_parent(&self, path: &str) -> Done<()> {
        let parent = self.number_of(split(path).0);
        match parent.is_some_and(|parent| self.nodes[&parent].is_folder) {
            true => Ok(()),
            false => Err(NtStatus::OBJECT_PATH_NOT_FOUND),
        }
    }

    fn opened(&mut self, handle: u64) -> Done<(&mut Open, &mut Node)> {
        let open = self.opens.get_mut(&handle).ok_or(NtStatus::FILE_CLOSED)?;
        let node = self.nodes.get_mut(&open.node);
        Ok((open, node.ok_or(NtStatus::FILE_CLOSED)?))
    }
}

/// For those who ask over the network.
impl Disk {
    /// Opens or makes what a CREATE asks for. Gives the handle, and what was done.
    pub(super) fn open(&mut self, path: &str, asked: &CreateRequest<'_>) -> Done<(u64, u32)> {
        let (node, action) = match self.number_of(path) {
            Some(number) => (number, self.take_up(number, asked)?),
            None => (self.make_as_asked(path, asked)?, MADE),
        };
        let handle = self.next_number();
        let open = Open {
            node,
            removes: asked.options & CreateRequest::DELETE_ON_CLOSE != 0,
            ..Open::default()
        };
        self.opens.insert(handle, open);
        Ok((handle, action))
    }

    /// What is there.
    fn take_up(&mut self, number: u64, asked: &CreateRequest<'_>) -> Done<u32> {
        let node = self.nodes.get_mut(&number).ok_or(NtStatus::FILE_CLOSED)?;
        let wants = |option: u32| asked.options & option != 0;
        if asked.disposition == CreateRequest::CREATE {
            return Err(NtStatus::OBJECT_NAME_COLLISION);
        }
        if wants(CreateRequest::DIRECTORY_FILE) && !node.is_folder {
            return Err(NtStatus::NOT_A_DIRECTORY);
        }
        if wants(CreateRequest::NON_DIRECTORY_FILE) && node.is_folder {
            return Err(NtStatus::FILE_IS_A_DIRECTORY);
        }
        if [CreateRequest::OPEN, CreateRequest::OPEN_IF].contains(&asked.disposition) {
            return Ok(OPENED);
        }
        node.content.clear();
        Ok(EMPTIED)
    }

    /// What is not there.
    fn make_as_asked(&mut self, path: &str, asked: &CreateRequest<'_>) -> Done<u64> {
        self.check_parent(path)?;
        if [CreateRequest::OPEN, CreateRequest::OVERWRITE].contains(&asked.disposition) {
            return Err(NtStatus::OBJECT_NAME_NOT_FOUND);
        }
        let is_folder = asked.options & CreateRequest::DIRECTORY_FILE != 0;
        let attributes = match asked.attributes {
            _ if is_folder => ATTRIBUTE_FOLDER,
            0 => ATTRIBUTE_NORMAL,
            attributes => attributes,
        };
        Ok(self.make(path, is_folder, attributes))
    }

    pub(super) fn about(&mut self, handle: u64) -> Done<About> {
        let number = self.opened(handle)?.0.node;
        self.about_number(number).ok_or(NtStatus::FILE_CLOSED)
    }

    pub(super) fn path(&mut self, handle: u64) -> Done<&str> {
        self.opened(handle).map(|(_, node)| node.path.as_str())
    }

    pub(super) fn read(&mut self, handle: u64, offset: u64, bytes_max: u32) -> Done<&[u8]> {
        let (_, node) = self.opened(handle)?;
        let rest = node.content.get(place(offset)..).unwrap_or(&[]);
        match rest.len().min(bytes_max as usize) {
            0 => Err(NtStatus::END_OF_FILE),
            length => Ok(&rest[..length]),
        }
    }

    pub(super) fn write(&mut self, handle: u64, offset: u64, data: &[u8]) -> Done<()> {
        let (open, node) = self.opened(handle)?;
        let begin = place(offset);
        let end = begin + data.len();
        if node.content.len() < end {
            node.content.resize(end, 0);
        }
        node.content[begin..end].copy_from_slice(data);
        open.has_written = true;
        if !open.keeps_time {
            node.times.write = WRITTEN_AT;
        }
        Ok(())
    }

    pub(super) fn resize(&mut self, handle: u64, size: u64) -> Done<()> {
        let (_, node) = self.opened(handle)?;
        node.content.resize(place(size), 0);
        Ok(())
    }

    /// Zero leaves something as it is.
    pub(super) fn set_basic(&mut self, handle: u64, times: FileTimes, attributes: u32) -> Done<()> {
        let (open, node) = self.opened(handle)?;
        open.keeps_time |= times.write != 0;
        let there = &mut node.times;
        for (time, wanted) in [
            (&mut there.creation, times.creation),
            (&mut there.access, times.access),
            (&mut there.write, times.write),
            (&mut there.change, times.change),
        ] {
            if ![0, STAYS].contains(&wanted) {
                *time = wanted;
            }
        }
        if attributes != 0 {
            node.attributes = attributes | (node.attributes & ATTRIBUTE_FOLDER);
        }
        Ok(())
    }

    pub(super) fn set_removed(&mut self, handle: u64, removes: bool) -> Done<()> {
        let path = self.path(handle)?.to_owned();
        if removes && self.inside(&path).next().is_some() {
            return Err(NtStatus::DIRECTORY_NOT_EMPTY);
        }
        self.opened(handle)?.0.removes = removes;
        Ok(())
    }

    pub(super) fn is_removed(&mut self, handle: u64) -> Done<bool> {
        Ok(self.opened(handle)?.0.removes)
    }

    pub(super) fn rename(&mut self, handle: u64, to: &str, replaces: bool) -> Done<()> {
        let (open, node) = self.opened(handle)?;
        if node.is_folder {
            return Err(NtStatus::NOT_SUPPORTED);
        }
        let number = open.node;
        self.check_parent(to)?;
        match self.number_of(to) {
            Some(there) if there == number => {}
            Some(there) if replaces && !self.nodes[&there].is_folder => {
                self.nodes.remove(&there);
            }
            Some(_) => return Err(NtStatus::OBJECT_NAME_COLLISION),
            None => {}
        }
        to.clone_into(&mut self.opened(handle)?.1.path);
        Ok(())
    }

    /// All entries of a folder at once, as there are few: the first time.
    pub(super) fn list(&mut self, handle: u64, restarts: bool) -> Done<Vec<(String, About)>> {
        let (open, node) = self.opened(handle)?;
        if !node.is_folder {
            return Err(NtStatus::INVALID_PARAMETER);
        }
        if std::mem::replace(&mut open.is_listed, true) && !restarts {
            return Err(NtStatus::NO_MORE_FILES);
        }
        let (number, path) = (open.node, node.path.clone());
        let above = self.number_of(split(&path).0).unwrap_or(number);
        let mut entries = vec![(".".to_owned(), number), ("..".to_owned(), above)];
        for (number, node) in self.inside(&path) {
            entries.push((split(&node.path).1.to_owned(), number));
        }
        let entries = entries.into_iter();
        Ok(entries
            .filter_map(|(name, number)| Some((name, self.about_number(number)?)))
            .collect())
    }

    pub(super) fn close(&mut self, handle: u64) -> Done<Closed> {
        let open = self.opens.remove(&handle).ok_or(NtStatus::FILE_CLOSED)?;
        if open.removes {
            self.nodes.remove(&open.node);
        }
        Ok(Closed {
            about: self.about_number(open.node),
            has_written: open.has_written,
        })
    }
}

/// The folder and the name of a path; both are empty at the top.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A place in a file as one in memory.
fn place(offset: u64) -> usize {
    usize::try_from(offset).expect("what is in memory has places there")
}
