//! One file of the journal: how it is written, and what of it is believed.
//!
//! It holds settings and values, and no commands. Those of version 1 held the commands as well; they are
//! compared with what the knobs of that time wrote, and never run.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use locale::{Argument, Message, say};
use os::file::{self, Folder};
use record::bounded_read::Unfit;
use record::sanitized_text::{excerpt, of_a_line};
use record::{HostName, KnobId, System, Target, Value};
use serde::{Deserialize, Serialize};

use crate::change::settings_before_and_after::{Entry, HostIdentity, Item};
use crate::knob::{self, Knob};
use crate::{Error, Place};

/// The `format` of every file.
const FORMAT: &str = "linerate-change";
/// The newest version this program writes.
const VERSION: u32 = 2;
/// The last version that held commands.
const VERSION_WITH_COMMANDS: u32 = 1;
/// Longest line; a change of all offloads of three hundred interfaces fits.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of hints that are read. What comes after them is as good as not written.
const HINT_BYTES_MAX: u64 = 64 << 20;
/// Letters of a name that are shown.
const NAME_LETTERS_MAX: usize = 200;
const SUFFIX: &str = ".jsonl";
/// While it is being written.
const DRAFT: &str = ".draft";

/// The first line of a file. It suffices by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// What wrote it, for whom cannot read it; none of before that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    pub(crate) id: String,
    /// Which run made the change.
    pub(crate) run: String,
    pub(crate) opened: jiff::Timestamp,
    pub(crate) hosts: Vec<HostIdentity>,
    pub(crate) items: Vec<Item>,
    /// The knobs of the change and those that could move with them, as they were before.
    pub(crate) snapshot: Vec<Entry>,
}

/// A later line of a file: a hint, which may be missing. Later versions may have more kinds of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub(crate) enum Mark {
    /// The change was made, and this is how the hosts were then.
    Applied { snapshot: Vec<Entry> },
    /// It is to stay until somebody undoes it.
    Kept,
    /// From a newer program.
    #[serde(other)]
    Unknown,
}

/// One knob of one part of a host.
type Spot<'a> = (&'a HostName, &'a Target, &'a KnobId);

/// What the later lines come to.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The snapshot with the change, as it was last.
    pub(crate) after: Option<Vec<Entry>>,
    pub(super) kept: bool,
}

/// What is looked at before anything else of the first line.
#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u32>,
    program: Option<String>,
}

/// The commands of a first line of version 1.
#[derive(Deserialize)]
struct Commands {
    items: Vec<CommandsOfItem>,
}

#[derive(Deserialize)]
struct CommandsOfItem {
    #[serde(default)]
    steps: Vec<StepOfItem>,
}

#[derive(Deserialize)]
struct StepOfItem {
    run: WrittenCommand,
    undo: WrittenCommand,
}

#[derive(Deserialize)]
struct WrittenCommand {
    argv: Vec<String>,
}

/// The name of a change's file.
pub(super) fn name(id: &str) -> String {
    format!("{id}{SUFFIX}")
}

/// The number and the id of the change of a file.
pub(super) fn id_of(name: &str) -> Option<(u64, String)> {
    let id = name.strip_suffix(SUFFIX)?;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let number = id.split_once('-')?.0.parse().ok()?;
    id.chars().all(fits).then(|| (number, id.to_owned()))
}

impl Opened {
    pub(super) fn new(
        id: String,
        run: String,
        hosts: Vec<HostIdentity>,
        items: Vec<Item>,
        snapshot: Vec<Entry>,
    ) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            program: Some(record::PROGRAM.to_owned()),
            id,
            run,
            opened: jiff::Timestamp::now(),
            hosts,
            items,
            snapshot,
        }
    }

    /// Writes it into a folder, under its own name only once it is whole and on the disk. What undo would
    /// refuse is not begun.
    pub(super) fn write(&self, folder: &Folder) -> Result<(), Error> {
        let path = folder.path().join(name(&self.id));
        let failed = |source| journal_error("write", &path, source);
        self.check()
            .map_err(|reason| failed(Unfit::error(io::ErrorKind::Other, reason)))?;
        let line = line(self).map_err(failed)?;
        let draft = format!("{}{DRAFT}", self.id);
        let written = folder.create(&draft).and_then(|mut file| {
            let written = file.write_all(&line).and_then(|()| file.sync_all());
            written.map_err(|source| file::Error::System {
                action: "write",
                path: path.clone(),
                source,
            })?;
            folder.rename(&draft, folder, &name(&self.id))?;
            folder.sync()
        });
        written.map_err(|error| {
            // It may not even be there.
            folder.remove(&draft).ok();
            of_state(error)
        })
    }

    /// Whether knobs of the catalogue could have made all of it.
    fn check(&self) -> Result<(), Message> {
        let names = self.hosts.iter().map(|host| host.name.as_str());
        let mut texts = names.chain([self.run.as_str()]);
        if let Some(odd) = texts.find(|text| text.contains(char::is_control)) {
            let odd = odd.escape_default().to_string();
            return Err(say("error-journal.no-name").with("text", odd));
        }
        let befores = self.befores();
        let mut items = BTreeMap::new();
        for (at, item) in self.items.iter().enumerate() {
            let wrong = |reason: Message| of_setting(at, item, reason);
            let spot = (&item.host, &item.target, &item.knob);
            self.check_item(item, befores.get(&spot).copied())
                .map_err(wrong)?;
            if items.insert(spot, item).is_some() {
                return Err(wrong(say("error-journal.set-repeatedly")));
            }
        }
        for entry in &self.snapshot {
            let item = items.get(&(&entry.host, &entry.target, &entry.knob));
            self.check_entry(entry, item.copied())?;
        }
        Ok(())
    }

    /// What was read before the change.
    fn befores(&self) -> BTreeMap<Spot<'_>, &Value> {
        let entries = self.snapshot.iter();
        entries
            .map(|entry| ((&entry.host, &entry.target, &entry.knob), &entry.value))
            .collect()
    }

    fn knob(
        &self,
        host: &HostName,
        knob: &KnobId,
        target: &Target,
    ) -> Result<&'static Knob, Message> {
        let host = self.hosts.iter().find(|identity| identity.name == *host);
        let host = host.ok_or_else(|| say("error-journal.host-not-listed"))?;
        let known = knob::find_journaled(host.system, knob.as_str());
        let known = known
            .ok_or_else(|| say("error-journal.no-knob").with("system", system_name(host.system)))?;
        let checked = known.check_target(target);
        checked.map_err(|refusal| refusal.reason)?;
        Ok(known)
    }

    fn check_item(&self, item: &Item, before: Option<&Value>) -> Result<(), Message> {
        let knob = self.knob(&item.host, &item.knob, &item.target)?;
        if before != Some(&item.before) {
            return Err(say("error-journal.other-before"));
        }
        if item.before == item.after {
            return Ok(());
        }
        if knob.only_in_snapshots {
            return Err(say("error-journal.never-set"));
        }
        for value in [&item.before, &item.after] {
            check_value(knob, value)?;
        }
        match &item.remembered {
            Some(remembered) if !remembered.is_sound() => Err(say("error-journal.unsound")),
            _ => Ok(()),
        }
    }

    fn check_entry(&self, entry: &Entry, item: Option<&Item>) -> Result<(), Message> {
        let wrong = |reason: Message| {
            say("error-journal.snapshot")
                .with("place", shown(&entry.place()))
                .with("reason", reason)
        };
        let knob = self.knob(&entry.host, &entry.knob, &entry.target);
        let knob = knob.map_err(wrong)?;
        match item {
            // Only looked at, and never put back.
            Some(item) if item.before == item.after => Ok(()),
            None if !knob.moves_with_others() => Err(wrong(say("error-journal.not-moved"))),
            _ => check_value(knob, &entry.value).map_err(wrong),
        }
    }

    /// Whether these knobs of the journal's version 1 wrote these commands.
    fn check_commands(&self, commands: &Commands) -> Result<(), Message> {
        for (at, (item, written)) in self.items.iter().zip(&commands.items).enumerate() {
            let all = written
                .steps
                .iter()
                .flat_map(|step| [&step.run, &step.undo]);
            let mut all = all.map(|command| &command.argv);
            let knob = self.knob(&item.host, &item.knob, &item.target)?;
            let odd = match self.version {
                VERSION_WITH_COMMANDS => all.find(|argv| !knob.wrote(&item.target, argv)),
                _ => all.next(),
            };
            if let Some(argv) = odd {
                let line = argv.join(" ").escape_default().to_string();
                let line: String = line.chars().take(80).collect();
                let reason = say("error-journal.other-command").with("command", line);
                return Err(of_setting(at, item, reason));
            }
        }
        Ok(())
    }

    /// Knobs that had other names in earlier versions get those of now.
    fn rename_knobs(&mut self) {
        let systems: Vec<_> = self
            .hosts
            .iter()
            .map(|host| (host.name.clone(), host.system))
            .collect();
        let rename = |host: &HostName, id: &mut KnobId| {
            let own = systems.iter().find(|(name, _)| name == host);
            let knob = own.and_then(|(_, system)| knob::find_journaled(*system, id.as_str()));
            if let Some(knob) = knob {
                *id = KnobId::new(knob.id);
            }
        };
        for item in &mut self.items {
            rename(&item.host, &mut item.knob);
        }
        for entry in &mut self.snapshot {
            rename(&entry.host, &mut entry.knob);
        }
    }
}

fn shown(place: &Place) -> Message {
    let mut message = place.message();
    for (_, argument) in &mut message.arguments {
        if let Argument::Text(text) = argument {
            // A name of a hostile file must not speak to a terminal.
            *text = text
                .chars()
                .flat_map(|letter| match letter.is_control() {
                    true => letter.escape_default().collect::<Vec<_>>(),
                    false => vec![letter],
                })
                .take(NAME_LETTERS_MAX)
                .collect();
        }
    }
    message
}

/// What is wrong with a setting, by its number from 0.
fn of_setting(at: usize, item: &Item, reason: Message) -> Message {
    say("error-journal.setting")
        .count("number", at + 1)
        .with("place", shown(&item.place()))
        .with("reason", reason)
}

/// What is wrong with a line, by its number from 1.
fn of_line(number: usize, reason: Message) -> Message {
    say("error-journal.line")
        .count("line", number)
        .with("reason", reason)
}

fn system_name(system: System) -> &'static str {
    match system {
        System::Linux => "Linux",
        System::Macos => "macOS",
        System::Windows => "Windows",
    }
}

fn check_value(knob: &Knob, value: &Value) -> Result<(), Message> {
    if knob.could_be(value) {
        return Ok(());
    }
    let shown = value.to_string().escape_default().to_string();
    let shown: String = shown.chars().take(80).collect();
    let never = say(match value {
        Value::Text(_) => "error-journal.never-text",
        Value::Integer(_) => "error-journal.never-number",
        Value::Unset | Value::Switch(_) => "error-journal.never-value",
    });
    Err(never.with("value", shown))
}

/// A value as a line.
pub(super) fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    if u64::try_from(line.len()).is_ok_and(|length| length > LINE_BYTES_MAX) {
        let reason = say("error-journal.too-long").count("most", LINE_BYTES_MAX >> 20);
        return Err(Unfit::error(io::ErrorKind::Other, reason));
    }
    Ok(line)
}

/// How each later line begins.
const MARK: &[u8] = b"{\"mark\":";

/// A later line. One that was torn when its program ended is as good as not written.
fn mark(line: &[u8]) -> serde_json::Result<Mark> {
    // Where a line could not be written to its end, earlier versions wrote the next one right behind it.
    let mut begins = line.windows(MARK.len());
    let last = begins.rposition(|begin| begin == MARK).unwrap_or(0);
    let (torn, whole) = line.split_at(last);
    let is_torn = torn
        .iter()
        .zip(MARK)
        .all(|(byte, expected)| byte == expected);
    match serde_json::from_slice(if is_torn { whole } else { line }) {
        Err(_) if !line.ends_with(b"\n") => Ok(Mark::Unknown),
        mark => mark,
    }
}

/// Reads the file of a change. The first line must be whole; the last one may be torn. What no linerate could
/// have written is refused, with the number of its line.
pub(super) fn read(folder: &Folder, id: &str) -> Result<(Opened, Hints), Error> {
    let path = folder.path().join(name(id));
    let file = match folder.read(&name(id)) {
        Err(file::Error::Unsafe { reason, hint, .. }) => {
            return Err(Error::JournalDamaged {
                path,
                reason,
                hint: Some(hint),
            });
        }
        other => other.map_err(of_state)?,
    };
    let mut reader = BufReader::new(file.take(LINE_BYTES_MAX + HINT_BYTES_MAX));
    let mut lines = Lines {
        reader: &mut reader,
        path: &path,
        number: 0,
    };
    let first = lines.next()?.filter(|line| line.ends_with(b"\n"));
    let first = first.ok_or_else(|| damaged(&path, say("error-journal.torn")))?;
    let opened = first_line(&path, &first)?;
    if opened.id != id {
        let reason = of_line(1, say("error-journal.other-change"));
        return Err(damaged(&path, reason));
    }
    let befores = opened.befores();
    let mut hints = Hints::default();
    while let Some(line) = lines.next()? {
        match mark(&line) {
            Ok(Mark::Applied { mut snapshot }) => {
                for entry in &mut snapshot {
                    let knob = opened.knob(&entry.host, &entry.knob, &entry.target);
                    let named = knob.map(|knob| KnobId::new(knob.id));
                    entry.knob = named.unwrap_or_else(|_| entry.knob.clone());
                }
                let known = |entry: &&Entry| {
                    befores.contains_key(&(&entry.host, &entry.target, &entry.knob))
                };
                if let Some(odd) = snapshot.iter().find(|entry| !known(entry)) {
                    let place = shown(&odd.place());
                    let reason = say("error-journal.not-before").with("place", place);
                    return Err(damaged(&path, of_line(lines.number, reason)));
                }
                hints.after = Some(snapshot);
            }
            Ok(Mark::Kept) => hints.kept = true,
            Ok(Mark::Unknown) => {}
            Err(error) => return Err(not_understood(&path, lines.number, &error)),
        }
    }
    drop(befores);
    Ok((opened, hints))
}

fn first_line(path: &Path, line: &[u8]) -> Result<Opened, Error> {
    let odd = |error| not_understood(path, 1, &error);
    let wrong = |reason: Message| damaged(path, of_line(1, reason));
    let head: Head = serde_json::from_slice(line).map_err(odd)?;
    if head.format.as_deref() != Some(FORMAT) {
        return Err(wrong(say("error-journal.no-change")));
    }
    match head.version {
        Some(VERSION_WITH_COMMANDS..=VERSION) => {}
        Some(newer) if newer > VERSION => return Err(newer_than_this(path, head.program)),
        _ => return Err(wrong(say("error-journal.no-version"))),
    }
    let mut opened: Opened = serde_json::from_slice(line).map_err(odd)?;
    let commands: Commands = serde_json::from_slice(line).map_err(odd)?;
    opened.rename_knobs();
    let checked = opened.check();
    let checked = checked.and_then(|()| opened.check_commands(&commands));
    checked.map_err(wrong)?;
    Ok(opened)
}

/// Lines of a file with their numbers.
struct Lines<'a, R> {
    reader: &'a mut R,
    path: &'a Path,
    number: usize,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut line = Vec::new();
        let mut limited = self.reader.by_ref().take(LINE_BYTES_MAX + 1);
        let read = limited.read_until(b'\n', &mut line);
        let length = read.map_err(|source| journal_error("read", self.path, source))?;
        self.number += 1;
        if u64::try_from(length).is_ok_and(|length| length > LINE_BYTES_MAX) {
            let reason = say("error-journal.long-line")
                .count("line", self.number)
                .count("most", LINE_BYTES_MAX >> 20);
            return Err(damaged(self.path, reason));
        }
        Ok((length > 0).then_some(line))
    }
}

fn not_understood(path: &Path, line: usize, error: &serde_json::Error) -> Error {
    let reason = say("error-journal.not-understood")
        .count("line", line)
        .with("reason", of_a_line(error));
    damaged(path, reason)
}

/// Of a version that this program does not know, which names what does.
fn newer_than_this(path: &Path, program: Option<String>) -> Error {
    let reason = match program {
        Some(program) => say("error-journal.newer-program").with("program", excerpt(&program)),
        None => say("error-journal.newer"),
    };
    Error::JournalDamaged {
        path: path.to_owned(),
        reason: of_line(1, reason),
        hint: Some(say("hint-host.newer-journal")),
    }
}

fn damaged(path: &Path, reason: Message) -> Error {
    Error::JournalDamaged {
        path: path.to_owned(),
        reason,
        hint: None,
    }
}

pub(super) fn journal_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Journal {
        action,
        path: PathBuf::from(path),
        source,
    }
}

/// A file or folder of the journal that could not be had.
pub(super) fn of_state(error: file::Error) -> Error {
    match error {
        file::Error::System {
            action,
            path,
            source,
        } => Error::Journal {
            action,
            path,
            source,
        },
        refused @ file::Error::Unsafe { .. } => Error::State { source: refused },
    }
}
