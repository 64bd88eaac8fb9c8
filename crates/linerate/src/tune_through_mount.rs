//! `tune` through the system's own client: every trial mounts the share anew, as it is mounted or with better options, where
//! nothing else sees it. What a setting changes holds for connections that are made after it, and what is mounted has had
//! its own since long ago.

use analysis::{Fix, mount_with_cache, same_mount, system_client_workload};
use host::exec::shell::posix_word;
use locale::{Message, say};
use record::{
    Bytes, CopyProgram, Data, FolderKind, Level, Place, SecondMount, Setting, ShareWorkload, Task,
    TaskWorkload, Value, Workload,
};

use crate::share::Mounted;

/// The same work as of a share, through its mount as a level has it.
pub fn workload(mounted: &Mounted, share: &ShareWorkload, level: &Level) -> Workload {
    let folder = mounted.folder.clone();
    let mut workload = system_client_workload(share, folder, share.direction);
    workload.second_mount = Some(second_mount(mounted, level));
    Workload::Folder(workload)
}

/// The same files as those of a share, copied by `cp` through its mount as a level has it.
pub fn files(mounted: &Mounted, work: TaskWorkload, level: &Level) -> Workload {
    let task = match work.task {
        Task::Copy(mut copy) => {
            copy.by = CopyProgram::Cp;
            Task::Copy(copy)
        }
        other => other,
    };
    Workload::Task(TaskWorkload {
        place: Place::Folder {
            folder: mounted.folder.clone(),
            kind: FolderKind::Mount,
        },
        second_mount: Some(second_mount(mounted, level)),
        channels: 1,
        task,
        ..work
    })
}

/// What a program reads or writes of a file, one MiB after the other through the cache of the mount as a level has it.
pub fn program(mounted: &Mounted, share: &ShareWorkload, size: Bytes, level: &Level) -> Workload {
    Workload::Task(TaskWorkload {
        place: Place::Folder {
            folder: mounted.folder.clone(),
            kind: FolderKind::Mount,
        },
        second_mount: Some(second_mount(mounted, level)),
        direction: share.direction,
        channels: 1,
        task: Task::Stream(size),
        data: Data::default(),
        timing: share.timing,
    })
}

fn second_mount(mounted: &Mounted, level: &Level) -> SecondMount {
    let same = same_mount(&mounted.mount);
    match options(level) {
        Some(options) => SecondMount {
            options: options.to_owned(),
            ..same
        },
        None => same,
    }
}

/// The options of a mount as a level has it.
pub fn options_used(mounted: &Mounted, level: &Level) -> String {
    second_mount(mounted, level).options
}

/// The options that a level mounts with, where it says so.
pub fn options(level: &Level) -> Option<&str> {
    level.settings.iter().find_map(|setting| match setting {
        Setting::Workload {
            field,
            value: Value::Text(options),
        } if field == SecondMount::FIELD => Some(options.as_str()),
        _ => None,
    })
}

/// Whether the system's own client would notice a level: it does not notice what linerate's own engine asks for.
pub fn notices(level: &Level) -> bool {
    level.settings.iter().all(|setting| match setting {
        Setting::Knob { .. } => true,
        Setting::Workload { field, .. } => field == SecondMount::FIELD,
    })
}

/// The remedies that the system's own client would notice. Better options of a mount are tried on a second one, so that
/// they need no hand.
pub fn noticed(fixes: Vec<Fix>) -> Vec<Fix> {
    let fixes = fixes.into_iter().filter(|fix| notices(&fix.level));
    let fixes = fixes.map(|fix| match options(&fix.level) {
        Some(_) => Fix {
            blocked: None,
            ..fix
        },
        None => fix,
    });
    fixes.collect()
}

/// The same, with the cache on where it is off and nothing else is known of the mount: whether that is so. A short check
/// does not know what a program loses by it, and a program has to prove it.
pub fn with_cache(mut fixes: Vec<Fix>, mounted: &Mounted) -> (Vec<Fix>, bool) {
    let is_known = fixes.iter().any(|fix| options(&fix.level).is_some());
    let cached = mount_with_cache(&mounted.mount).filter(|_| !is_known);
    let is_added = cached.is_some();
    fixes.extend(cached);
    (fixes, is_added)
}

/// What a user does to have better options of a mount, once they are kept: the id of the remedy, and a note for each
/// command.
pub fn commands(fixes: &[Fix]) -> Vec<(String, Message)> {
    let mounts = fixes.iter().filter(|fix| options(&fix.level).is_some());
    let notes = mounts.flat_map(|fix| {
        let commands = fix.commands.iter();
        commands.map(|command| {
            let note = say("run-note.mount-so").with("command", command);
            (fix.id.clone(), note)
        })
    });
    notes.collect()
}

/// The same where `/etc/fstab` mounts it so from then on.
pub fn written(fixes: &[Fix], mounted: &Mounted) -> Vec<(String, Message)> {
    let folder = &mounted.mount.folder;
    let word = posix_word(folder);
    let mounts = fixes.iter().filter(|fix| options(&fix.level).is_some());
    let notes = mounts.flat_map(|fix| {
        let commands = [format!("sudo umount {word}"), format!("sudo mount {word}")];
        let notes = commands.map(|command| say("run-note.mount-so").with("command", command));
        let at_start = say("run-note.mount-at-start").with("folder", folder);
        let notes = notes.into_iter().chain([at_start]);
        notes.map(|note| (fix.id.clone(), note))
    });
    notes.collect()
}
