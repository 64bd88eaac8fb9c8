//! Names of hosts, shares, users and domains, and what takes their place.

use std::collections::BTreeMap;

/// What is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Host,
    Share,
    User,
    Domain,
}

impl Class {
    const fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Share => "share",
            Self::User => "user",
            Self::Domain => "domain",
        }
    }
}

/// Letters from which on a name is looked for within words too: whoever has one so long means it.
const LONG: usize = 6;
/// Names that every machine has.
const COMMON: [&str; 6] = ["local", "localhost", "guest", "ipc$", "admin$", "."];
/// Names that are words of the program or of its readers as well: in a sentence they are that, and names
/// only where they stand as one, as in `smb://server/media`.
const WORDS: [&str; 44] = [
    "admin",
    "administrator",
    "backup",
    "bench",
    "bytes",
    "channels",
    "check",
    "client",
    "copy",
    "data",
    "demo",
    "disk",
    "experiment",
    "file",
    "files",
    "folder",
    "home",
    "homes",
    "host",
    "lab",
    "link",
    "linerate",
    "media",
    "memory",
    "network",
    "path",
    "public",
    "read",
    "report",
    "root",
    "router",
    "samba",
    "server",
    "share",
    "shares",
    "smb",
    "switch",
    "tcp",
    "test",
    "time",
    "trial",
    "tune",
    "user",
    "write",
];

#[derive(Debug)]
struct Name {
    /// Its letters in lower case, as SMB and DNS compare them.
    letters: Vec<char>,
    stand_in: String,
    is_word: bool,
}

/// What takes the place of each name. The same name has the same stand-in wherever it stands.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By their first letters, the longer ones first: one name may hold another.
    known: BTreeMap<char, Vec<Name>>,
    counts: [usize; 4],
}

fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

impl Names {
    /// Learns a name.
    pub(super) fn learn(&mut self, class: Class, name: &str) {
        let name = name.trim();
        let letters: Vec<char> = name.chars().map(lower).collect();
        let plain: String = letters.iter().collect();
        let Some(first) = letters.first() else {
            return;
        };
        let alike = self.known.entry(*first).or_default();
        let is_known = alike.iter().any(|one| one.letters == letters);
        let is_none = !name.chars().any(char::is_alphanumeric);
        if is_none || is_known || COMMON.contains(&plain.as_str()) {
            return;
        }
        let count = &mut self.counts[class as usize];
        *count += 1;
        let longer = |one: &Name| one.letters.len() >= letters.len();
        let place = alike.partition_point(longer);
        let name = Name {
            stand_in: format!("{}-{count}", class.word()),
            is_word: WORDS.contains(&plain.as_str()),
            letters,
        };
        alike.insert(place, name);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The stand-in of the name that begins at this letter of a text, and how many letters it takes.
    pub(super) fn found_at(&self, text: &[char], at: usize) -> Option<(usize, &str)> {
        let mut alike = self.alike(text, at).iter();
        let found = alike.find(|name| name.stands_at(text, at));
        found.map(|name| (name.letters.len(), name.stand_in.as_str()))
    }

    /// The same of names that cannot be anything else.
    pub(super) fn long_found_at(&self, text: &[char], at: usize) -> Option<(usize, &str)> {
        let mut alike = self.alike(text, at).iter();
        let found = alike.find(|name| name.is_telling() && name.is_at(text, at));
        found.map(|name| (name.letters.len(), name.stand_in.as_str()))
    }

    fn alike(&self, text: &[char], at: usize) -> &[Name] {
        let first = text.get(at).map(|first| lower(*first));
        let alike = first.and_then(|first| self.known.get(&first));
        alike.map_or(&[], Vec::as_slice)
    }
}

impl Name {
    fn is_telling(&self) -> bool {
        !self.is_word && self.letters.len() >= LONG
    }

    fn is_at(&self, text: &[char], at: usize) -> bool {
        let own = text.get(at..at + self.letters.len());
        own.is_some_and(|own| {
            own.iter()
                .map(|letter| lower(*letter))
                .eq(self.letters.iter().copied())
        })
    }

    fn stands_at(&self, text: &[char], at: usize) -> bool {
        if !self.is_at(text, at) {
            return false;
        }
        if self.is_telling() {
            return true;
        }
        let before = at.checked_sub(1).map(|place| text[place]);
        let behind = text.get(at + self.letters.len()).copied();
        let in_word = [before, behind]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric);
        if in_word || !self.is_word {
            return !in_word;
        }
        let is_quoted = before == Some('`') && behind == Some('`');
        let is_all = before.is_none() && behind.is_none();
        let is_part = matches!(before, Some('/' | '\\' | '@' | ';'));
        is_all || is_quoted || is_part || matches!(behind, Some('@' | ';'))
    }
}
