//! Whether a file is copied, given what is at its destination.

use super::failure_handling::{no_file, obstructed, of_two_sources};
use super::{Engine, FileJob, SMALL_BYTES_MAX};
use crate::copy::entry::{Entry, Kind};
use crate::copy::{Existing, Options, filetime};
use crate::signal::lock;
use crate::std_or_shuttle::atomic::Ordering;

/// Longest file that is made, written and closed by one message.
const ONE_MESSAGE_BYTES_MAX: u64 = crate::single_path_operations::SMALL_BYTES_MAX as u64;

/// What to do with a file, given what is at the destination.
enum Decision {
    Copy {
        replaces: bool,
    },
    Unchanged,
    Newer,
    Obstructed,
    /// No file, so that none may replace it.
    NoFile,
}

impl Engine<'_> {
    /// Queues a single file, unless what is at its destination speaks against it.
    pub(super) fn decide_alone(&self, file: FileJob) {
        // What keeps nothing has nothing to lose.
        let there = match file.to.is_nowhere() {
            true => Ok(None),
            false => file.to.stat(),
        };
        match there {
            Ok(there) => self.decided(file, there.as_ref()),
            Err(error) => self.failed(&file.path, error),
        }
    }

    pub(super) fn decided(&self, mut file: FileJob, there: Option<&Entry>) {
        if self.is_taken_by_another(&file.to) {
            return self.failed_file(&file, of_two_sources(&file.to));
        }
        match decide(&file.found, there, self.options) {
            Decision::Copy { replaces } => {
                file.replaces = replaces;
                self.queue(file);
            }
            Decision::Newer | Decision::Obstructed
                if there.is_some_and(|there| self.may_be_begun(&file, there)) =>
            {
                file.may_be_begun = true;
                self.queue(file);
            }
            Decision::Unchanged => lock(&self.summary).unchanged += 1,
            Decision::Newer => lock(&self.summary).newer += 1,
            Decision::Obstructed => self.failed_file(&file, obstructed(&file.to)),
            Decision::NoFile => self.failed_file(&file, no_file(&file.to)),
        }
    }

    /// Whether what is there may be the begin of this file. Where a server ends in the middle of the one message that
    /// makes a small file, the file is empty or short, and newer than its source.
    fn may_be_begun(&self, file: &FileJob, there: &Entry) -> bool {
        let Options {
            resume,
            existing,
            dry_run,
            verify,
            ..
        } = self.options;
        (*resume || *existing == Existing::Update)
            && !dry_run
            && !verify
            && file.to.is_share()
            && there.kind == Kind::File
            && there.size < file.found.size
            && file.found.size <= ONE_MESSAGE_BYTES_MAX
    }

    fn queue(&self, file: FileJob) {
        self.progress.found(file.found.size);
        if let Some(folder) = &file.folder {
            folder.pending.fetch_add(1, Ordering::AcqRel);
        }
        // A copy that is read back goes the way on which that is done.
        if file.found.size <= SMALL_BYTES_MAX && !self.options.verify {
            self.small.push(file);
        } else {
            self.large.push(file);
        }
    }
}

fn decide(source: &Entry, there: Option<&Entry>, options: &Options) -> Decision {
    let Some(there) = there else {
        return Decision::Copy { replaces: false };
    };
    if matches!(there.kind, Kind::Folder | Kind::Other) {
        return Decision::NoFile;
    }
    let kept = there.kind == Kind::File && filetime::is_kept(source.times.write, there.times.write);
    let same = kept && source.size == there.size;
    match options.existing {
        Existing::Update if same => Decision::Unchanged,
        _ if options.resume && same => Decision::Unchanged,
        Existing::Refuse => Decision::Obstructed,
        Existing::Update if !kept && source.times.write < there.times.write => Decision::Newer,
        Existing::Update | Existing::Replace => Decision::Copy { replaces: true },
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::session::FileTimes;

    use super::*;

    fn file(size: u64, write: u64) -> Entry {
        Entry {
            name: "a".to_owned(),
            kind: Kind::File,
            size,
            allocation: size,
            times: FileTimes {
                write,
                ..FileTimes::default()
            },
            attributes: 0,
            id: 1,
            mode: None,
        }
    }

    fn decision(source: &Entry, there: &Entry, existing: Existing, resume: bool) -> &'static str {
        let options = Options {
            existing,
            resume,
            ..Options::default()
        };
        match decide(source, Some(there), &options) {
            Decision::Copy { replaces: true } => "replace",
            Decision::Copy { replaces: false } => "copy",
            Decision::Unchanged => "unchanged",
            Decision::Newer => "newer",
            Decision::Obstructed => "in the way",
            Decision::NoFile => "no file",
        }
    }

    #[test]
    fn what_is_there_decides() {
        use Existing::{Refuse, Replace, Update};
        let (old, new, other) = (file(5, 100), file(5, 200), file(6, 100));
        for (source, there, existing, resume, expected) in [
            (&old, &old, Refuse, false, "in the way"),
            (&old, &old, Refuse, true, "unchanged"),
            (&old, &new, Refuse, true, "in the way"),
            (&old, &old, Replace, false, "replace"),
            (&old, &old, Replace, true, "unchanged"),
            (&old, &old, Update, false, "unchanged"),
            (&new, &old, Update, false, "replace"),
            (&old, &new, Update, false, "newer"),
            (&old, &other, Update, false, "replace"),
        ] {
            assert_eq!(decision(source, there, existing, resume), expected);
        }
        for kind in [Kind::Folder, Kind::Other] {
            let there = Entry {
                kind,
                ..file(0, 100)
            };
            assert_eq!(decision(&old, &there, Replace, true), "no file");
        }
        let none = decide(&old, None, &Options::default());
        assert!(matches!(none, Decision::Copy { replaces: false }));
    }
}
