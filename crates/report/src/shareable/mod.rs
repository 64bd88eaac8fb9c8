//! A run that does not say whose machines it was measured on, so that it can be shown to strangers.
//!
//! Names and addresses are replaced in the records themselves, before anything is computed from them: all
//! that is said of the run then agrees with itself, and no sentence has to be known here.

mod addresses;
mod names;

use std::collections::BTreeMap;

use locale::{Language, Message};
use record::{Header, Record, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use addresses::{Addresses, found_at};
use names::{Class, Names};

/// What stands in place of a text to see whether any text may stand there.
const PROBE: &str = "\u{1}any text";
/// More names are in no honest run.
const NAMES_MAX: usize = 1000;
/// Words of this program that name what is set or measured; all of it goes by them.
const KEYS_OF_OURS: [&str; 4] = ["id", "field", "format", "program"];
/// The options whose words are a host, and a file that has a password.
const KDC_OPTION: &str = "--kdc";
const FILE_OPTION: &str = "--credentials";
/// Schemes of what names a host of the user's. Others lead to what all may read.
const SCHEMES: [&str; 7] = ["smb", "cifs", "ssh", "tcp", "lab", "sftp", "nfs"];
/// What a user's name stands behind in a sentence of ours.
const BEFORE_USERS: [&str; 4] = ["let `", "log in as `", "takes `", "the user `"];
/// What a user's name stands behind in a path.
const BEFORE_HOMES: [&str; 4] = ["/home/", "/Users/", "\\Users\\", "/export/home/"];

/// A run without names and addresses of its own.
#[derive(Debug)]
pub struct Shareable {
    run: Run,
    names: Names,
}

impl Shareable {
    /// Replaces names of hosts, shares, users and domains, and addresses of IP and of hardware: the same
    /// one by the same one wherever it stands, and in no other run by a telling one.
    ///
    /// # Errors
    /// When there are more than 1000 names, or a record cannot be written in JSON and read back, which is
    /// how it is gone through.
    pub fn of(run: Run) -> Result<Self, serde_json::Error> {
        let found = StandIns::of(&run)?;
        let mut header: Header = cleared(&serde_json::to_value(&run.header)?, &found)?;
        for facts in &mut header.facts {
            facts.machine = None;
            facts.boot = None;
        }
        leave_out_files(&mut header.login_options);
        // One by one: a run is large, and in this form several times as large.
        let records = run.records.into_iter();
        let records = records.map(|record| cleared(&serde_json::to_value(&record)?, &found));
        let run = Run {
            header,
            records: records.collect::<Result<Vec<Record>, serde_json::Error>>()?,
            warnings: run.warnings.iter().map(|one| found.cleared(one)).collect(),
        };
        let names = found.names;
        Ok(Self { run, names })
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// A page of it, gone through once more: none of the names that cannot be anything else is in its
    /// text, whatever brought it there.
    #[must_use]
    pub fn page(&self, page: &str) -> String {
        // Text stands between tags, but for the style in front of it.
        let (style, body) = match page.split_once("</style>") {
            Some((style, body)) => (format!("{style}</style>"), body),
            None => (String::new(), page),
        };
        let mut cleared = style;
        for part in body.split_inclusive(['<', '>']) {
            match part.ends_with('>') {
                true => cleared += part,
                false => {
                    cleared += &replaced_by(part, |text, at| self.names.long_found_at(text, at))
                }
            }
        }
        cleared
    }
}

/// What takes the place of what.
#[derive(Debug, Default)]
struct StandIns {
    names: Names,
    addresses: Addresses,
}

impl StandIns {
    /// Learns all that a run tells.
    fn of(run: &Run) -> Result<Self, serde_json::Error> {
        let mut found = Self::default();
        for facts in &run.header.facts {
            let own = facts.nics.iter().flat_map(|nic| &nic.addresses);
            own.for_each(|one| found.addresses.subnet(one.address, one.prefix));
            found.learn_place(facts.name.as_str());
        }
        let mut options = run.header.login_options.iter();
        while let Some(option) = options.next() {
            if option == KDC_OPTION {
                found.learn_host(options.next().map_or("", String::as_str));
            }
        }
        found.learn("", &serde_json::to_value(&run.header)?);
        found.is_bounded()?;
        for record in &run.records {
            found.learn("", &serde_json::to_value(record)?);
            found.is_bounded()?;
        }
        for warning in &run.warnings {
            found.learn_text(&Language::English.say(warning));
        }
        found.is_bounded()?;
        Ok(found)
    }

    fn is_bounded(&self) -> Result<(), serde_json::Error> {
        if self.names.count() <= NAMES_MAX {
            return Ok(());
        }
        let text = format!("it has more than {NAMES_MAX} names of hosts, shares and users");
        Err(serde::de::Error::custom(text))
    }

    /// Learns all that a part of a record tells, by the name of its field and by how it is written.
    fn learn(&mut self, key: &str, value: &Value) {
        match value {
            Value::String(text) => {
                match key {
                    "server" | "kdc" => self.learn_host(text),
                    "share" => self.names.learn(Class::Share, text),
                    "user" => self.learn_user(text),
                    "domain" => self.names.learn(Class::Domain, text),
                    "host" | "target" => self.learn_place(text),
                    "options" => self.learn_mount_options(text),
                    _ => {}
                }
                self.learn_text(text);
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn(key, value)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.learn(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Learns who is logged in at a mount.
    fn learn_mount_options(&mut self, options: &str) {
        for option in options.split(',') {
            match option.split_once('=') {
                Some(("username", user)) => self.learn_user(user),
                Some(("domain", domain)) => self.names.learn(Class::Domain, domain),
                _ => {}
            }
        }
    }

    fn learn_text(&mut self, text: &str) {
        for (at, _) in text.char_indices() {
            if let Some((_, found)) = found_at(text, at) {
                self.addresses.learn(found);
            }
        }
        for (at, _) in text.match_indices("://") {
            let is_letter = |letter: &char| letter.is_ascii_alphabetic();
            let scheme = text[..at].chars().rev().take_while(is_letter).count();
            if SCHEMES.contains(&&text[at - scheme..at]) {
                self.learn_place(within_text(&text[at - scheme..]));
            }
        }
        for mark in ["\\\\", "//"] {
            for (at, _) in text.match_indices(mark) {
                let before = text[..at].chars().next_back();
                if before.is_none_or(|before| " `\"'(=".contains(before)) {
                    self.learn_authority(within_text(&text[at + 2..]));
                }
            }
        }
        for (before, end) in (BEFORE_USERS.iter().map(|before| (before, &['`'][..]))).chain(
            BEFORE_HOMES
                .iter()
                .map(|before| (before, &['/', '\\', ' ', '`', '"'][..])),
        ) {
            for (at, _) in text.match_indices(before) {
                let name = text[at + before.len()..].split(end).next();
                self.names.learn(Class::User, name.unwrap_or_default());
            }
        }
    }

    /// A target, a host or a share as one types it.
    fn learn_place(&mut self, typed: &str) {
        let place = (typed.split_once("://").map(|(_, place)| place))
            .or_else(|| typed.strip_prefix("//"))
            .or_else(|| typed.strip_prefix("\\\\"));
        if let Some(place) = place {
            if let Some((lab, host)) = typed
                .strip_prefix("lab://")
                .and_then(|rest| rest.split_once('/'))
            {
                self.learn_host(lab);
                self.learn_host(host);
            } else {
                self.learn_authority(place);
            }
        }
    }

    /// `[user@]host[:port][/share]`.
    fn learn_authority(&mut self, place: &str) {
        let mut parts = place.splitn(3, ['/', '\\']);
        let authority = parts.next().unwrap_or_default();
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                self.learn_user(user);
                host
            }
            None => authority,
        };
        self.learn_host(host);
        self.names
            .learn(Class::Share, parts.next().unwrap_or_default());
    }

    /// `DOMAIN;user`, `DOMAIN\user`, `user@realm` or `user`.
    fn learn_user(&mut self, typed: &str) {
        let (domain, user) = match (typed.split_once([';', '\\']), typed.split_once('@')) {
            (Some((domain, user)), _) => (domain, user),
            (None, Some((user, domain))) => (domain, user),
            (None, None) => ("", typed),
        };
        self.names.learn(Class::Domain, domain);
        self.names.learn(Class::User, user);
    }

    /// A host with its port or without. Of one with a domain both are names of their own as well.
    fn learn_host(&mut self, typed: &str) {
        let is_address = |typed: &str| typed.parse::<std::net::IpAddr>().is_ok();
        if typed.starts_with('[') || is_address(typed) {
            return;
        }
        let host = typed
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_end_matches('.');
        if is_address(host) {
            return;
        }
        self.names.learn(Class::Host, host);
        if let Some((first, domain)) = host.split_once('.') {
            self.names.learn(Class::Host, first);
            self.names.learn(Class::Domain, domain);
        }
    }

    /// A message without what it names; where it names anything, in English alone.
    fn cleared(&self, message: &Message) -> Message {
        let text = Language::English.say(message);
        let replaced = self.replaced(&text);
        match replaced == text {
            true => message.clone(),
            false => replaced.into(),
        }
    }

    fn replaced(&self, text: &str) -> String {
        let mut pieces = String::new();
        let mut rest = 0;
        for (at, _) in text.char_indices() {
            let found = (at >= rest).then(|| found_at(text, at)).flatten();
            let Some((end, stand_in)) =
                found.and_then(|(end, found)| Some((end, self.addresses.replaced(found)?)))
            else {
                continue;
            };
            pieces += &text[rest..at];
            pieces += &stand_in;
            rest = end;
        }
        pieces += &text[rest..];
        replaced_by(&pieces, |text, at| self.names.found_at(text, at))
    }
}

fn replaced_by<'n>(
    text: &str,
    found_at: impl Fn(&[char], usize) -> Option<(usize, &'n str)>,
) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut replaced = String::new();
    let mut at = 0;
    while at < letters.len() {
        match found_at(&letters, at) {
            Some((length, stand_in)) => {
                replaced += stand_in;
                at += length;
            }
            None => {
                replaced.push(letters[at]);
                at += 1;
            }
        }
    }
    replaced
}

/// The part of a text that belongs to a name with slashes.
fn within_text(text: &str) -> &str {
    let ends = |letter: char| letter.is_whitespace() || "`\"'(),;<>|".contains(letter);
    text.split(ends).next().unwrap_or_default()
}

/// Paths of files with passwords name the one who has them.
fn leave_out_files(options: &mut [String]) {
    for place in 1..options.len() {
        if options[place - 1] == FILE_OPTION {
            "FILE".clone_into(&mut options[place]);
        }
    }
}

/// A record with all its texts replaced, but for those that may only be certain words.
fn cleared<T: Serialize + DeserializeOwned>(
    value: &Value,
    stand_ins: &StandIns,
) -> Result<T, serde_json::Error> {
    let mut cleared = value.clone();
    let mut free = Free {
        whole: value,
        holds: |value, pointer| holds_probe::<T>(value, pointer),
        known: BTreeMap::new(),
    };
    clear("", "", &mut cleared, stand_ins, &mut free);
    serde_json::from_value(cleared)
}

/// Finds out where any text may stand in a record.
struct Free<'v> {
    whole: &'v Value,
    holds: fn(Value, &str) -> bool,
    known: BTreeMap<String, bool>,
}

impl Free<'_> {
    /// Whether a text may be another one: in a name it may, in a word that stands for a kind it may not.
    fn text(&mut self, pointer: &str) -> bool {
        let place = without_places(pointer);
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let mut probed = self.whole.clone();
        let is_free = match probed.pointer_mut(pointer) {
            Some(text) => {
                *text = PROBE.into();
                (self.holds)(probed, pointer)
            }
            None => false,
        };
        self.known.insert(place, is_free);
        is_free
    }

    /// The same of the name of a field.
    fn key(&mut self, parent: &str, key: &str) -> bool {
        // What holds for a field of a map holds for all of them.
        let place = format!("{}/", without_places(parent));
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let is_free = self.is_free_key(parent, key);
        self.known.insert(place, is_free);
        is_free
    }

    fn is_free_key(&self, parent: &str, key: &str) -> bool {
        let mut probed = self.whole.clone();
        let fields = probed.pointer_mut(parent).and_then(Value::as_object_mut);
        let value = fields.and_then(|fields| Some((fields.remove(key)?, fields)));
        let Some((value, fields)) = value else {
            return false;
        };
        fields.insert(PROBE.to_owned(), value);
        (self.holds)(probed, &format!("{parent}/{PROBE}"))
    }
}

/// Where something stands in all the members of a list.
fn without_places(pointer: &str) -> String {
    let is_place = |step: &&str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = pointer
        .split('/')
        .map(|step| if is_place(&step) { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

/// Whether the text that is looked for is still there after the record was read.
fn holds_probe<T: Serialize + DeserializeOwned>(value: Value, pointer: &str) -> bool {
    let read: Result<T, _> = serde_json::from_value(value);
    let written = read.and_then(serde_json::to_value);
    written.is_ok_and(|written| match written.pointer(pointer) {
        Some(Value::String(text)) => text == PROBE,
        Some(_) => pointer.ends_with(PROBE),
        None => false,
    })
}

fn clear(pointer: &str, key: &str, value: &mut Value, stand_ins: &StandIns, free: &mut Free<'_>) {
    match value {
        Value::String(text) => {
            let is_address = text.parse::<std::net::IpAddr>().is_ok()
                || text.parse::<std::net::SocketAddr>().is_ok();
            let replaced = stand_ins.replaced(text);
            let is_ours = KEYS_OF_OURS.contains(&key) && is_word_of_ours(text);
            if replaced != *text && (is_address || !is_ours && free.text(pointer)) {
                *text = replaced;
            }
        }
        Value::Array(values) => {
            for (place, value) in values.iter_mut().enumerate() {
                clear(&format!("{pointer}/{place}"), key, value, stand_ins, free);
            }
        }
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                let own = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                clear(&own, &key, &mut value, stand_ins, free);
                let replaced = stand_ins.replaced(&key);
                let is_free = replaced != key && free.key(pointer, &key);
                fields.insert(if is_free { replaced } else { key }, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The id of a knob, the field of a workload, the program with its version.
fn is_word_of_ours(text: &str) -> bool {
    let plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '.' | '_' | '-' | ' ');
    text.chars().all(plain)
}
