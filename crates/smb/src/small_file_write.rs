//! Writing a whole small file.
//!
//! A new one takes one round trip: CREATE, which fails where the name is taken and shares the file
//! with nobody, SET_INFO, WRITE and CLOSE in one frame, which the server does in one go. One that
//! takes the place of another takes two: the other must stay until all of this one is there. A server may
//! write less at once than it is given; the file then gets its name last, too.

use std::sync::Arc;

use smb_proto::session::{
    Access, CreateOptions, Disposition, FileTimes, Information, Posix, QueryInformation, Reply,
    Request, SetInformation,
};
use smb_proto::{FileKey, NtStatus};

use crate::blocking_request::{ask, ask_chain, tell};
use crate::copy::filetime::is_kept as is_time_kept;
use crate::copy::name::printable;
use crate::error::Error;
use crate::single_path_operations::{
    SmallFile, done, is_loss, not_done, opened, remove, rename, retry_if_lost, writable,
};
use crate::tree::{Replace, TimesKept, Tree, as_change};

/// Rights to write a file and set its times (SYNCHRONIZE, read and write attributes, write data,
/// append).
const WRITE_RIGHTS: u32 = 0x0010_0000 | 0x80 | 0x100 | 0x2 | 0x4;
/// The same, and to give it its name (DELETE).
const PART_RIGHTS: u32 = 0x0001_0000 | WRITE_RIGHTS;

/// Whether it was tried before, and nobody knows what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    InDoubt,
}

/// Why times or attributes of a file that was written are not as they should be; none: they are.
pub(crate) type NotKept = Option<Error>;

/// Writes it.
pub(crate) fn write(tree: &Tree, small: &SmallFile, attempt: Attempt) -> Result<NotKept, Error> {
    if small.replace == Replace::Existing {
        return replace(tree, small, Replace::Existing);
    }
    let mut in_doubt = attempt == Attempt::InDoubt;
    retry_if_lost(tree, &small.path, |_| {
        if in_doubt {
            match left_behind(tree, small)? {
                Left::All => {
                    let not_kept = set_late(tree, small)?;
                    let there = tree.status(&small.path)?.posix;
                    return Ok(not_kept.or(tree.keep_mode(&small.path, small.mode, there)?));
                }
                Left::Begin => return replace(tree, small, Replace::Existing),
                Left::NothingOfIt => {}
            }
        }
        in_doubt = true;
        write_new(tree, small)
    })
}

/// Writes one under a name that nothing has.
fn write_new(tree: &Tree, small: &SmallFile) -> Result<NotKept, Error> {
    let (not_kept, posix) = match write_new_with(tree, small, true)? {
        // The file counts, and what the server thinks of its times is only said.
        New::Refused(why) => match write_new_with(tree, small, false)? {
            New::Refused(error) => return Err(error),
            New::Partly => return replace(tree, small, Replace::Never),
            New::Whole { posix, .. } => (Some(why), posix),
        },
        New::Partly => return replace(tree, small, Replace::Never),
        New::Whole {
            as_set: true,
            posix,
        } => (None, posix),
        New::Whole { posix, .. } => (set_late(tree, small)?, posix),
    };
    Ok(not_kept.or(tree.keep_mode(&small.path, small.mode, posix)?))
}

/// What became of a new file.
enum New {
    Whole {
        /// It has its times, as far as that is known.
        as_set: bool,
        /// What the POSIX extensions tell of it.
        posix: Option<Posix>,
    },
    /// The server wrote only some of it at once; it is removed.
    Partly,
    /// The server refused its times or attributes; it is removed.
    Refused(Error),
}

/// The chain that makes a new file, writes and closes it. Where it is not known yet which times the server keeps,
/// it asks for them.
fn chain_of_new(
    tree: &Tree,
    small: &SmallFile,
    sets: bool,
    keeps: Option<TimesKept>,
) -> Vec<Request> {
    let file = FileKey::OF_CHAIN;
    let options = CreateOptions {
        disposition: Disposition::Create,
        attributes: small.attributes,
        share_read: false,
        ..options(small, WRITE_RIGHTS)
    };
    let mut links = vec![tree.create(&small.path, options)];
    // The first files tell whether the server keeps what was set before the WRITE.
    let early = keeps.is_none_or(|keeps| keeps == TimesKept::Early);
    links.extend(content(tree, small, small.attributes, early));
    if !sets {
        links.retain(|link| !matches!(link, Request::Set { .. }));
    }
    if sets && small.times.write != 0 && keeps.is_none() {
        let what = tree.query_of_times();
        links.push(Request::Query { file, what });
    }
    links.push(Request::Close { file });
    links
}

fn write_new_with(tree: &Tree, small: &SmallFile, sets: bool) -> Result<New, Error> {
    let keeps = tree.keeps_times();
    let links = chain_of_new(tree, small, sets, keeps);
    let asks = links
        .iter()
        .any(|link| matches!(link, Request::Query { .. }));
    let set_at = links
        .iter()
        .position(|link| matches!(link, Request::Set { .. }));
    let mut replies = ask_chain(tree.shared(), links, &small.path)?
        .into_iter()
        .enumerate();
    let (_, created) = match replies.next() {
        Some((_, reply)) => opened(tree, &small.path, reply)?,
        None => return Err(tree.shared().odd_answer()),
    };
    // Where nothing but the last word counts, it is in the chain.
    let mut as_set = keeps != Some(TimesKept::Never);
    let mut stored = small.content.len();
    for (place, reply) in replies {
        match reply {
            Ok(Reply::Stored(count)) => stored = count as usize,
            Ok(Reply::Closed { size: Some(size) }) if size != stored as u64 => {
                // What a server loses of one message it loses again.
                let _ = remove(tree, &small.path, false);
                return Err(lost(tree, small, size));
            }
            Ok(Reply::Done | Reply::Closed { .. }) => {}
            Ok(Reply::Information(
                Information::Basic { times, .. } | Information::Posix { times, .. },
            )) => {
                as_set = times.write == small.times.write;
            }
            problem => {
                // It is closed, and nobody else can have made it.
                let _ = remove(tree, &small.path, false);
                let error = not_done(tree, &small.path, problem);
                return match set_at == Some(place) && error.is_refusal() {
                    true => Ok(New::Refused(error)),
                    false => Err(error),
                };
            }
        }
    }
    if stored < small.content.len() {
        remove(tree, &small.path, false)?;
        return Ok(New::Partly);
    }
    if asks && as_set {
        tree.learn_times(TimesKept::Early);
    }
    Ok(New::Whole {
        as_set: as_set || !sets,
        posix: created.posix,
    })
}

fn lost(tree: &Tree, small: &SmallFile, size: u64) -> Error {
    Error::Lost {
        server: tree.shared().server.name.clone(),
        object: printable(&small.path),
        size,
        expected: small.content.len() as u64,
    }
}

/// Sets the times of a file that is closed. Where it is not known yet whether the server keeps those, this
/// one does.
fn set_late(tree: &Tree, small: &SmallFile) -> Result<NotKept, Error> {
    let object = || printable(&small.path);
    if tree.keeps_times() == Some(TimesKept::Never) {
        return Ok(Some(Error::TimeNotKept { object: object() }));
    }
    match set_basic(tree, small, tree.times_as_taken(small.times)) {
        Err(error) if error.is_refusal() => return Ok(Some(error)),
        set => set?,
    }
    if tree.keeps_times().is_none() {
        let is_kept = || {
            let there = tree.status(&small.path)?.times.write;
            Ok::<_, Error>(is_time_kept(small.times.write, there))
        };
        if is_kept()? {
            tree.learn_times(TimesKept::Late);
        } else {
            let set = set_basic(tree, small, as_change(small.times));
            tree.learn_times(match set.is_ok() && is_kept()? {
                true => TimesKept::LateAsChange,
                false => TimesKept::Never,
            });
        }
    }
    match tree.keeps_times() {
        Some(TimesKept::Never) => Ok(Some(Error::TimeNotKept { object: object() })),
        _ => Ok(None),
    }
}

/// What an attempt left of which nobody heard the end.
enum Left {
    All,
    Begin,
    NothingOfIt,
}

fn left_behind(tree: &Tree, small: &SmallFile) -> Result<Left, Error> {
    match tree.read_small(&small.path) {
        Ok(there) if there.bytes.len() as u64 != there.status.size => Ok(Left::NothingOfIt),
        Ok(there) if there.bytes[..] == small.content[..] => Ok(Left::All),
        Ok(there) if small.content.starts_with(&there.bytes) => Ok(Left::Begin),
        Ok(_) | Err(Error::NotFound { .. }) => Ok(Left::NothingOfIt),
        Err(error) => Err(error),
    }
}

fn set_basic(tree: &Tree, small: &SmallFile, times: FileTimes) -> Result<(), Error> {
    tree.set_basic(&small.path, times, small.attributes)
}

fn options(small: &SmallFile, rights: u32) -> CreateOptions {
    /// Mode of a new file, less what the server takes from it.
    const NEW_FILE_MODE: u32 = 0o666;
    CreateOptions {
        folder: Some(false),
        share_write: false,
        posix: Some(small.mode.unwrap_or(NEW_FILE_MODE)),
        ..CreateOptions::open(Access::Mask(rights))
    }
}

/// Its bytes, times and attributes. A time that was set through a handle is not touched by what is
/// written through that handle later (MS-FSA 2.1.5.15.2), and so costs the server least: `early`
/// where it does so.
fn content(tree: &Tree, small: &SmallFile, attributes: u32, early: bool) -> Vec<Request> {
    let file = FileKey::OF_CHAIN;
    let mut links = vec![set(tree, small, attributes, file)];
    if !small.content.is_empty() {
        let place = if early { links.len() } else { 0 };
        let store = Request::Store {
            file,
            offset: 0,
            bytes: Arc::clone(&small.content),
        };
        links.insert(place, store);
    }
    links
}

fn set(tree: &Tree, small: &SmallFile, attributes: u32, file: FileKey) -> Request {
    let times = tree.times_as_taken(small.times);
    let what = SetInformation::Basic { times, attributes };
    Request::Set { file, what }
}

/// A file that was written and does not have its name yet.
struct Part {
    file: FileKey,
    path: String,
    /// The server's number for it; zero: it tells none.
    id: u64,
}

/// Writes one that gets its name when all of it is there, and does so if something has that name.
fn replace(tree: &Tree, small: &SmallFile, existing: Replace) -> Result<NotKept, Error> {
    let mut lost: Vec<String> = Vec::new();
    let written = retry_if_lost(tree, &small.path, |attempt| {
        let path = match attempt {
            0 => small.temporary.clone(),
            attempt => format!("{}.{attempt}", small.temporary),
        };
        lost.push(path.clone());
        let (part, not_kept) = write_part(tree, small, path)?;
        let (file, id) = (part.file, part.id);
        let named = name_part(tree, small, part, existing);
        let Err(error) = named else {
            return Ok(not_kept);
        };
        if !is_loss(&error) {
            return Err(error);
        }
        // The session opens it again when it comes back, and what is open cannot be removed.
        tell(tree.shared(), Request::Close { file });
        // it may have its name all the same
        match tree.status(&small.path) {
            Ok(there) if id != 0 && there.file_id == id => Ok(not_kept),
            _ => Err(error),
        }
    });
    lost.pop();
    for path in lost {
        // A part whose answer was lost; perhaps there is none, and perhaps it cannot go yet.
        let _ = remove(tree, &path, false);
    }
    written
}

/// The chain that makes a part, writes it and asks what the server has of it; it stays open.
fn chain_of_part(tree: &Tree, small: &SmallFile, path: &str, attributes: u32) -> Vec<Request> {
    let options = CreateOptions {
        attributes,
        disposition: Disposition::CreateOrTruncate,
        disk_id: true,
        // another program with the same idea must not give its name to what this one writes
        ..options(small, PART_RIGHTS)
    };
    let mut links = vec![tree.create(path, options)];
    // Nobody asks here whether the server keeps what was set before the WRITE.
    let early = tree.keeps_times() == Some(TimesKept::Early);
    links.extend(content(tree, small, attributes, early));
    for what in [QueryInformation::Standard, tree.query_of_times()] {
        let file = FileKey::OF_CHAIN;
        links.push(Request::Query { file, what });
    }
    links
}

/// Writes it all under another name, with its times. It is not read-only yet: if it does not get its
/// name, nobody could remove or overwrite it.
fn write_part(tree: &Tree, small: &SmallFile, path: String) -> Result<(Part, NotKept), Error> {
    let attributes = writable(small.attributes);
    let links = chain_of_part(tree, small, &path, attributes);
    let set_at = links
        .iter()
        .position(|link| matches!(link, Request::Set { .. }));
    let mut replies = ask_chain(tree.shared(), links, &small.path)?
        .into_iter()
        .enumerate();
    let (file, created) = match replies.next() {
        Some((_, reply)) => opened(tree, &small.path, reply)?,
        None => return Err(tree.shared().odd_answer()),
    };
    let id = created.disk_id.map_or(0, |(file, _)| file);
    let part = Part { file, path, id };
    let mut stored = small.content.len();
    let mut size = stored as u64;
    let (mut written, mut not_kept, mut kept) = (Ok(()), None, true);
    for (place, reply) in replies {
        match reply {
            Ok(Reply::Stored(count)) => stored = count as usize,
            Ok(Reply::Done) => {}
            Ok(Reply::Information(Information::Standard { size: there, .. })) => size = there,
            Ok(Reply::Information(
                Information::Basic { times, .. } | Information::Posix { times, .. },
            )) => {
                kept = small.times.write == 0 || is_time_kept(small.times.write, times.write);
            }
            // The first one says most.
            _ if written.is_err() => {}
            problem => match not_done(tree, &small.path, problem) {
                error if set_at == Some(place) && error.is_refusal() => not_kept = Some(error),
                error => written = Err(error),
            },
        }
    }
    if written.is_ok() && size != stored as u64 {
        written = Err(self::lost(tree, small, size));
    }
    if written.is_ok() && stored < small.content.len() {
        written = write_rest(tree, small, file, stored, attributes);
    }
    if written.is_ok() && not_kept.is_none() && !kept {
        not_kept = set_as_change(tree, small, file, attributes)?;
    }
    if written.is_ok() && not_kept.is_none() {
        not_kept = tree.keep_mode(&part.path, small.mode, created.posix)?;
    }
    match written {
        Ok(()) => Ok((part, not_kept)),
        Err(error) => {
            discard(tree, &part);
            Err(error)
        }
    }
}

/// Sets the times of an open file once more, as some servers take them that kept nothing at first.
fn set_as_change(
    tree: &Tree,
    small: &SmallFile,
    file: FileKey,
    attributes: u32,
) -> Result<NotKept, Error> {
    let times = as_change(small.times);
    let what = SetInformation::Basic { times, attributes };
    let set = ask(tree.shared(), Request::Set { file, what }, &small.path);
    let asked = Request::Query {
        file,
        what: tree.query_of_times(),
    };
    let there = match ask(tree.shared(), asked, &small.path)? {
        Reply::Information(Information::Basic { times, .. } | Information::Posix { times, .. }) => {
            times.write
        }
        _ => return Err(tree.shared().odd_answer()),
    };
    let kept = set.is_ok() && is_time_kept(small.times.write, there);
    let object = printable(&small.path);
    Ok((!kept).then_some(Error::TimeNotKept { object }))
}

/// Goes on where a WRITE ended that wrote only some of it. Where the server lacks the room, it says so
/// to this one.
fn write_rest(
    tree: &Tree,
    small: &SmallFile,
    file: FileKey,
    stored: usize,
    attributes: u32,
) -> Result<(), Error> {
    let mut offset = stored;
    while let Some(rest @ [_, ..]) = small.content.get(offset..) {
        let store = Request::Store {
            file,
            offset: offset as u64,
            bytes: rest.into(),
        };
        match ask(tree.shared(), store, &small.path)? {
            Reply::Stored(count) => offset += count as usize,
            _ => return Err(tree.shared().odd_answer()),
        }
    }
    // They may have been set before this was written.
    match ask(
        tree.shared(),
        set(tree, small, attributes, file),
        &small.path,
    )? {
        Reply::Done => Ok(()),
        _ => Err(tree.shared().odd_answer()),
    }
}

/// Gives it its name and closes it.
fn name_part(tree: &Tree, small: &SmallFile, part: Part, existing: Replace) -> Result<(), Error> {
    let file = part.file;
    let mut rename = rename(&small.path, existing);
    if let Request::Set { file: about, .. } = &mut rename {
        *about = file;
    }
    let mut links = vec![rename];
    if writable(small.attributes) != small.attributes {
        links.push(set(tree, small, small.attributes, file));
    }
    links.push(Request::Close { file });
    let mut replies = ask_chain(tree.shared(), links, &small.path)?.into_iter();
    let Some(renamed) = replies.next() else {
        return Err(tree.shared().odd_answer());
    };
    if let Err(error) = done(tree, &small.path, renamed) {
        // It is closed, under the name that it has.
        let _ = remove(tree, &part.path, false);
        return Err(error);
    }
    for reply in replies {
        match reply {
            Ok(Reply::Done | Reply::Closed { .. }) => {}
            // Linux's own server relates a CLOSE to a CREATE only. The session asks once more, for the CLOSE alone.
            Err(error) if error.status() == Some(NtStatus::INVALID_PARAMETER) => {}
            other => return Err(not_done(tree, &small.path, other)),
        }
    }
    Ok(())
}

/// Removes what was written, as far as the server still listens; the first error says more.
fn discard(tree: &Tree, part: &Part) {
    let file = part.file;
    let what = SetInformation::DeleteOnClose(true);
    let links = vec![Request::Set { file, what }, Request::Close { file }];
    tell(tree.shared(), Request::Chain(links));
}
