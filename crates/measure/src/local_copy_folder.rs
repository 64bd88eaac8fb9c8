//! The folder of this machine that a trial copies from or to. The process that has the user's rights makes
//! and removes it; the one that speaks to the server works in it, and reaches no other.

use std::path::{Path, PathBuf};

use locale::say;
use record::{Bytes, Job, JobWorkload, Storage, Task, Workload};
use smb::copy::Place;

use crate::scratch_folder::ScratchFolder;
use crate::share_workload::SPARE_SHARE;
use crate::test_file_in_folder::{NO_DISK, elsewhere, file_system, whole};
use crate::{Error, Stop};

/// Where files are in memory.
const MEMORY: &str = "/dev/shm";

/// Whether a trial copies from or to this machine.
pub(crate) fn is_needed(workload: &Workload) -> bool {
    match workload {
        Workload::Task(workload) => matches!(workload.task, Task::Copy(_)),
        Workload::Job(workload) => matches!(workload.job, Job::Copy { .. }),
        Workload::Tcp(_) | Workload::Share(_) | Workload::Folder(_) => false,
    }
}

/// Makes the folder, where the trial needs one.
pub(crate) fn make(workload: &Workload, stop: &Stop) -> Result<Option<ScratchFolder>, Error> {
    match workload {
        Workload::Task(workload) => {
            let Task::Copy(task) = &workload.task else {
                return Ok(None);
            };
            let bytes = task.bytes().get();
            let parent = Place::Local(in_memory(bytes));
            ScratchFolder::make(parent, bytes, task.files, stop).map(Some)
        }
        Workload::Job(JobWorkload {
            job: Job::Copy {
                folder, bytes_max, ..
            },
            ..
        }) => on_a_disk(folder.as_deref(), bytes_max.get(), stop).map(Some),
        _ => Ok(None),
    }
}

/// In memory, if that has enough room, so that the path to the target is measured and not a disk of the client.
fn in_memory(bytes: u64) -> PathBuf {
    let needed = bytes.saturating_add(bytes / SPARE_SHARE);
    let room = os::file_system::free_bytes(Path::new(MEMORY)).unwrap_or(0);
    let free = os::machine::system_file("/proc/meminfo");
    let free = free.map_or(0, |text| memory_available(&text).get());
    match needed <= room && needed <= free / 2 {
        true => PathBuf::from(MEMORY),
        false => std::env::temp_dir(),
    }
}

/// What `/proc/meminfo` says may still be used.
fn memory_available(text: &str) -> Bytes {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let number = line.and_then(|rest| rest.trim().strip_suffix("kB"));
    let number: Option<u64> = number.and_then(|number| number.trim().parse().ok());
    Bytes::new(number.unwrap_or(0).saturating_mul(1024))
}

/// In the folder that was asked for, or else in the first that will do. How large the file is that comes there
/// is not known yet: only the first choice depends on it.
fn on_a_disk(asked: Option<&str>, bytes_max: u64, stop: &Stop) -> Result<ScratchFolder, Error> {
    let within = |folder: &Path, bytes: u64| {
        let held_by = file_system(folder)?;
        match held_by.is_network {
            true => Err(elsewhere(NO_DISK, folder, &held_by)),
            false => ScratchFolder::make(Place::Local(folder.to_owned()), bytes, 1, stop),
        }
    };
    if let Some(asked) = asked {
        return within(Path::new(asked), 0);
    }
    // The top of a system is no place for files of a user.
    let current = std::env::current_dir().ok();
    let current = current.filter(|folder| folder.parent().is_some());
    let folders: Vec<PathBuf> = current.into_iter().chain([std::env::temp_dir()]).collect();
    let mut failure = Error::Stopped;
    for bytes in [bytes_max, 0] {
        for folder in &folders {
            match within(folder, bytes) {
                Ok(scratch) => return Ok(scratch),
                Err(error) => failure = error,
            }
        }
    }
    Err(failure)
}

/// Whoever does the trial was not given the folder.
pub(crate) fn no_near() -> Error {
    let reason = say("error-measure.usage-no-near");
    Error::Usage { reason }
}

/// What holds the folder, where it was not asked for.
pub(crate) fn storage(near: &Path, asked: bool) -> Result<Storage, Error> {
    let held_by = file_system(near)?;
    let path = whole(near);
    let parent = path.parent().map(|parent| parent.display().to_string());
    Ok(Storage {
        file_system: held_by.name,
        network: held_by.is_network,
        direct: false,
        folder: parent.filter(|_| !asked),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_found() {
        let text = "MemTotal:       24683880 kB\nMemAvailable:   21666816 kB\n";
        assert_eq!(memory_available(text).get(), 21_666_816 * 1024);
        for odd in ["", "MemAvailable: x kB", "MemAvailable: 5 MB"] {
            assert_eq!(memory_available(odd).get(), 0, "{odd}");
        }
    }
}
