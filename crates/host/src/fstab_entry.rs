//! Lines of `/etc/fstab` that mount SMB shares (fstab(5), mount.cifs(8)): what they say, and the same with other options,
//! byte for byte otherwise.

use record::fstab_word;

use crate::tool_output::cifs::{self, unescaped};

/// Longest line that is understood; the kernel takes no more of one mount than a page.
const LINE_BYTES_MAX: usize = 8192;
/// What parts the fields of a line.
const BLANKS: [char; 2] = [' ', '\t'];
/// Options by names that say the same: the first is that of this program.
const SAME: [(&str, &[&str]); 3] = [
    ("cache", &["directio", "forcedirectio", "strictcache"]),
    ("sync", &["async"]),
    ("multichannel", &["nomultichannel"]),
];

/// Options that decide how fast a mount is.
const TUNED: [&str; 7] = [
    "vers",
    "cache",
    "sync",
    "rsize",
    "wsize",
    "multichannel",
    "max_channels",
];

/// A line that mounts something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FstabEntry<'a> {
    line: &'a str,
    source: &'a str,
    folder: &'a str,
    kind: &'a str,
    /// Empty where the line ends before them.
    options: &'a str,
    /// Where they begin, or the line ends before them.
    options_at: usize,
}

impl<'a> FstabEntry<'a> {
    /// The knob whose value is such a line.
    pub const KNOB: &'static str = "smb.client.fstab_entry";

    /// The entry that a line is; none where it is a comment, blank, or says too little.
    #[must_use]
    pub fn of(line: &'a str) -> Option<Self> {
        let mut fields = fields(line);
        let [(_, source), (_, folder), (kind_at, kind)] =
            [fields.next()?, fields.next()?, fields.next()?];
        let (options_at, options) = fields.next().unwrap_or((kind_at + kind.len(), ""));
        (!source.starts_with('#')).then_some(Self {
            line,
            source,
            folder,
            kind,
            options,
            options_at,
        })
    }

    /// A line that mounts a share as the options say.
    #[must_use]
    pub fn line(source: &str, folder: &str, options: &str) -> String {
        let [source, folder, options] = [source, folder, options].map(fstab_word);
        format!("{source} {folder} cifs {options} 0 0")
    }

    /// What it mounts.
    #[must_use]
    pub fn source(&self) -> String {
        unescaped(self.source)
    }

    /// Whether it mounts at this folder, however many slashes either is written with.
    #[must_use]
    pub fn is_at(&self, folder: &str) -> bool {
        let parts = |path: &str| {
            let parts = path.split('/').filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect::<Vec<String>>()
        };
        let own = unescaped(self.folder);
        own.starts_with('/') && parts(&own) == parts(folder)
    }

    /// Whether it mounts a share at a folder that has the same last name, and may be the same by a link.
    #[must_use]
    pub fn may_be_at(&self, folder: &str) -> bool {
        let last = |path: &str| {
            path.trim_end_matches('/')
                .rsplit('/')
                .next()
                .map(str::to_owned)
        };
        self.is_share() && last(&unescaped(self.folder)) == last(folder)
    }

    /// Whether it is an SMB share that it mounts.
    #[must_use]
    pub fn is_share(&self) -> bool {
        cifs::KINDS.contains(&self.kind)
    }

    /// Whether a password stands in it.
    #[must_use]
    pub fn has_password(&self) -> bool {
        unescaped(self.options).split(',').any(is_secret) || holds_password(self.line)
    }

    /// Whether it can be written into a journal and back as it is: a share, a single line, and no password.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let odd = |letter: char| (letter.is_control() && letter != '\t') || letter == '\u{fffd}';
        self.is_share()
            && !self.has_password()
            && self.line.len() <= LINE_BYTES_MAX
            && !self.line.contains(odd)
    }

    /// The same line so that it mounts as was wanted, where the mount is as `is` says: with what differs between the two,
    /// and with what decides how fast a mount is as it is wanted, also where the line was not mounted so. All else of it
    /// stays, byte for byte.
    #[must_use]
    pub fn mounting_so(&self, is: &[&str], wanted: &[&str]) -> String {
        let own: Vec<&str> = self.options.split(',').collect();
        let names: Vec<&str> = wanted.iter().map(|option| name_of(option)).collect();
        let is_tuned = |option: &str| TUNED.contains(&name_of(option));
        let differs = |option: &&&str| {
            let of_line = own.iter().filter(|it| name_of(it) == name_of(option));
            !is.contains(option) || (is_tuned(option) && of_line.clone().any(|it| it != *option))
        };
        let set: Vec<&str> = wanted.iter().filter(differs).copied().collect();
        let gone = is.iter().filter(|option| !wanted.contains(option));
        let not_wanted = own
            .iter()
            .filter(|option| is_tuned(option) && !names.contains(&name_of(option)));
        let dropped: Vec<&str> = gone.chain(not_wanted).copied().collect();
        self.with_options(&set, &dropped)
    }

    /// The same line with these options in place of those of the same names, and without those that are dropped; all else of
    /// it stays, byte for byte.
    fn with_options(&self, set: &[&str], dropped: &[&str]) -> String {
        let mut left: Vec<&str> = set.to_vec();
        let own = self.options.split(',').filter(|option| !option.is_empty());
        let mut options: Vec<String> = Vec::new();
        for option in own {
            let name = name_of(option);
            if let Some(at) = left.iter().position(|it| name_of(it) == name) {
                options.push(fstab_word(left.remove(at)));
            } else if !set.iter().chain(dropped).any(|it| name_of(it) == name) {
                options.push(option.to_owned());
            }
        }
        options.extend(left.into_iter().map(fstab_word));
        if options.is_empty() {
            options.push("defaults".to_owned());
        }
        let options = options.join(",");
        let (before, rest) = self.line.split_at(self.options_at);
        let blank = if self.options.is_empty() { " " } else { "" };
        format!("{before}{blank}{options}{}", &rest[self.options.len()..])
    }
}

/// Whether a password stands in a text, also one behind a blank or in a comment, which is no option of a mount.
pub(crate) fn holds_password(text: &str) -> bool {
    let mut words = text.split([' ', '\t', ',']);
    words.any(|word| word.contains('=') && is_secret(word))
}

fn is_secret(option: &str) -> bool {
    let (key, value) = option.split_once('=').unwrap_or((option, ""));
    let key = key.trim().to_ascii_lowercase();
    // `user%password` is an old form of both.
    key.starts_with("pass") || (key.starts_with("user") && value.contains('%'))
}

/// The fields of a line, each with where it begins.
fn fields(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let parts = line.split(BLANKS).map(move |part| {
        let begin = at;
        at += part.len() + 1;
        (begin, part)
    });
    parts.filter(|(_, part)| !part.is_empty())
}

/// What an option is about.
fn name_of(option: &str) -> &str {
    let name = option.split('=').next().unwrap_or_default();
    let same = SAME.iter().find(|(_, others)| others.contains(&name));
    same.map_or(name, |(first, _)| first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(line: &str) -> FstabEntry<'_> {
        FstabEntry::of(line).expect("an entry")
    }

    #[test]
    fn a_line_says_what_it_mounts_and_where() {
        let line = "//nas/my\\040media\t/mnt/\\346\\230\\240\\347\\224\\273/  cifs  credentials=/etc/nas 0 0";
        let found = entry(line);
        assert_eq!(found.source(), "//nas/my media");
        assert!(found.is_at("/mnt/映画") && found.is_at("//mnt/映画/"));
        assert!(!found.is_at("/mnt") && !found.is_at("/mnt/映画/a"));
        assert!(entry("//nas/a /mnt/映画 smb3 guest").is_at("/mnt/映画"));
        // By a link it may be the same folder.
        assert!(found.may_be_at("/srv/映画") && !found.may_be_at("/mnt"));
        assert!(found.is_sound());
        for other in ["", "  ", "# //nas/a /mnt cifs x 0 0", "//nas/a /mnt"] {
            assert_eq!(FstabEntry::of(other), None, "{other}");
        }
        assert!(!entry("nas:/a /mnt nfs defaults 0 0").is_sound());
        assert!(!entry("//nas/a /mnt cifs guest 0 0\r").is_sound());
    }

    #[test]
    fn a_line_with_a_password_is_told() {
        for options in [
            "username=ann,password=secret",
            "user=ann,pass=secret",
            "rw,PASSWD=secret",
            "password2=secret",
            "username=ann%secret",
            "rw,pass\\167ord=secret",
        ] {
            let line = format!("//nas/a /mnt cifs {options} 0 0");
            assert!(entry(&line).has_password(), "{options}");
        }
        for line in [
            "//nas/a /mnt cifs guest, password=secret 0 0",
            "//nas/a /mnt cifs guest 0 0 # password=secret",
        ] {
            assert!(entry(line).has_password(), "{line}");
        }
        for options in ["credentials=/etc/pass%word", "username=ann,uid=1000", ""] {
            let line = format!("//nas/a /mnt cifs {options}");
            assert!(!entry(&line).has_password(), "{options}");
        }
    }

    #[test]
    fn only_the_options_that_are_meant_change() {
        let line = "//nas/a\\040b /mnt\tcifs  credentials=/etc/my\\040nas,vers=2.0,sync,forcedirectio,_netdev   0 0  # ours";
        assert_eq!(
            entry(line).with_options(
                &["vers=3.1.1", "multichannel", "max_channels=2"],
                &["sync", "cache=none"]
            ),
            "//nas/a\\040b /mnt\tcifs  credentials=/etc/my\\040nas,vers=3.1.1,_netdev,multichannel,max_channels=2   0 0  # ours"
        );
        // Twice the same becomes one.
        let line = "//nas/a /mnt cifs rsize=1,rsize=2,nomultichannel";
        assert_eq!(
            entry(line).with_options(&["multichannel", "rsize=3"], &[]),
            "//nas/a /mnt cifs rsize=3,multichannel"
        );
        assert_eq!(
            entry("//nas/a /mnt cifs").with_options(&["vers=3.0"], &[]),
            "//nas/a /mnt cifs vers=3.0"
        );
        assert_eq!(
            entry("//nas/a /mnt cifs cache=none 0 0").with_options(&[], &["cache=none"]),
            "//nas/a /mnt cifs defaults 0 0"
        );
    }

    #[test]
    fn a_new_line_is_read_as_it_was_meant() {
        let line = FstabEntry::line(
            "//nas/a b#c",
            "/mnt/映 画",
            "credentials=/etc/my nas,vers=3.1.1",
        );
        assert_eq!(
            line,
            "//nas/a\\040b\\043c /mnt/映\\040画 cifs credentials=/etc/my\\040nas,vers=3.1.1 0 0"
        );
        assert!(entry(&line).is_sound() && entry(&line).is_at("/mnt/映 画"));
        assert_eq!(entry(&line).source(), "//nas/a b#c");
    }

    proptest! {
        #[test]
        fn options_are_changed_once_and_for_all(line in "[ \t]?//[a-z\\\\04]{1,6}/[a-z] /mnt[ \t]{1,3}cifs[ \t]{0,2}([ \t][a-z=,]{0,12}([ \t]0 0)?)?") {
            if let Some(found) = FstabEntry::of(&line) {
                let changed = found.with_options(&["vers=3.1.1"], &["sync"]);
                let again = FstabEntry::of(&changed).expect("still an entry");
                prop_assert_eq!(again.source(), found.source());
                prop_assert!(again.is_at("/mnt") == found.is_at("/mnt"));
                prop_assert_eq!(again.with_options(&["vers=3.1.1"], &["sync"]), changed.clone());
                let head = line.find("cifs").expect("its kind") + 4;
                prop_assert_eq!(&line[..head], &changed[..head]);
            }
        }
    }
}
