//! Copying files between the target and the client: by the engine of `linerate copy`, or by the programs that people use.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use host::exec::{Command, Exec, Local};
use record::{CopyProgram, CopyTask};
use smb::copy::{Job, Options, Place, Progress, Source};

use super::{Done, Reached, Work};
use crate::Error;
use crate::interval_sampling::Meter;
use crate::local_copy_folder::no_near;
use crate::scratch_folder::ScratchFolder;
use crate::stop_request::{meanwhile, stoppable, wait_unless_asked};

/// What is copied, in the folder of our own.
const FILE: &str = "file.bin";
const TREE: &str = "tree";
/// How often it is looked whether the first byte has come.
const LOOK: Duration = Duration::from_millis(1);
/// How long a program may copy. The whole trial has less on all but the slowest of shares.
const LIMIT: Duration = Duration::from_secs(3600);

impl Work<'_> {
    /// Copies them, and counts from the login until all is at its target.
    pub(super) fn copy(&self, task: &CopyTask) -> Result<Done, Error> {
        let near = self.near.ok_or_else(no_near)?;
        self.make(task, near)?;
        let what = if task.folders == 0 { FILE } else { TREE };
        if self.is_read() {
            self.carry(near.top(), self.scratch.top(), what, &mut None)?;
            self.scratch.forget()?;
            // For its copy to have its room.
            match task.folders {
                0 => near.remove_file(FILE)?,
                _ => near.remove_folder(TREE)?,
            }
        }
        near.sync(near.top(), None)?;
        let cpu_before = os::ended_programs_cpu();
        let meter = Meter::start();
        let begin = Instant::now();
        let reached = Reached::connect(self.workload, self.login)?;
        let far = match (self.scratch.top(), reached.place(self.workload)?) {
            (Place::Share { path, .. }, Place::Share { tree, .. }) => Place::Share {
                tree,
                path: path.clone(),
            },
            (top, _) => top.clone(),
        };
        let (from, to) = match self.is_read() {
            true => (&far, near.top()),
            false => (near.top(), &far),
        };
        let connected = begin.elapsed();
        let mut first = None;
        match task.by {
            CopyProgram::Linerate => self.carry(from, to, what, &mut first)?,
            by => self.carry_by(by, near, what, &mut first)?,
        }
        let target = if self.is_read() { near } else { self.scratch };
        target.sync(to, (task.folders == 0).then_some(FILE))?;
        let mut sample = meter.finish(task.bytes());
        // What a program used is a part of it; of our own copies there is none.
        if let Some((before, after)) = cpu_before.zip(os::ended_programs_cpu()) {
            sample.cpu = sample.cpu + after.saturating_sub(before).into();
        }
        Ok(Done {
            sample,
            latency: None,
            first_byte: first.map(|first| connected + first),
            playback: None,
            connections: reached.connections(&[], self.workload.direction),
            session: reached.agreed(),
        })
    }

    /// Makes the files.
    fn make(&self, task: &CopyTask, near: &ScratchFolder) -> Result<(), Error> {
        if task.folders > 0 {
            near.make_folder(TREE)?;
        }
        for number in 0..task.folders {
            near.make_folder(&format!("{TREE}/folder-{number:04}"))?;
        }
        for number in 0..task.files {
            let name = match number.checked_rem(task.folders) {
                None => FILE.to_owned(),
                Some(folder) => format!("{TREE}/folder-{folder:04}/file-{number:06}.bin"),
            };
            self.go_on()?;
            self.write(near, &name, number, task.size_of(number).get())?;
        }
        Ok(())
    }

    /// Has a program copy all of it between two folders, and says when the first byte of it had come, where that is seen: one
    /// file that comes to the client.
    fn carry_by(
        &self,
        by: CopyProgram,
        near: &ScratchFolder,
        what: &str,
        first: &mut Option<Duration>,
    ) -> Result<(), Error> {
        let folders = [near, self.scratch].map(ScratchFolder::entrance_of_programs);
        let [Some(near), Some(far)] = folders else {
            return Err(no_near());
        };
        let command = match self.is_read() {
            true => copy_command(by, &far.join(what), &near),
            false => copy_command(by, &near.join(what), &far),
        };
        let begin = Instant::now();
        let process = Local::new().spawn(&command)?;
        let look = || {
            if self.is_read() && first.is_none() && holds_bytes(&near) {
                *first = Some(begin.elapsed());
            }
        };
        let output = meanwhile(LOOK, look, || wait_unless_asked(process, LIMIT, self.stop))??;
        output.checked(&command)?;
        Ok(())
    }

    /// Copies all of it, and says when the first byte of it had come.
    fn carry(
        &self,
        from: &Place,
        to: &Place,
        what: &str,
        first: &mut Option<Duration>,
    ) -> Result<(), Error> {
        let job = Job {
            sources: vec![Source {
                place: from.join(what),
                content: false,
                name: None,
            }],
            destination: to.clone(),
            into: true,
            options: Options::default(),
        };
        let (progress, begin) = (Progress::default(), Instant::now());
        let look = || {
            if first.is_none() && progress.moved() > 0 {
                *first = Some(begin.elapsed());
            }
        };
        let mut summary = stoppable(self.stop, LOOK, look, |halt| {
            smb::copy::run(&job, &progress, halt, &|_| {})
        })?;
        let failure = summary.failures.pop().map(|failure| failure.error);
        match summary.ended_by.take().or(failure) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

/// How a program copies a file, or a folder with all that is in it, into another folder.
fn copy_command(by: CopyProgram, source: &Path, target: &Path) -> Command {
    let words: &[&str] = match by {
        // It is no program.
        CopyProgram::Linerate => &[],
        CopyProgram::Cp => &["cp", "-r", "--"],
        CopyProgram::Rsync => &["rsync", "-r", "--"],
        // Without the user's configuration.
        CopyProgram::Rclone => &["rclone", "copy", "--config=", "--"],
    };
    // `rclone` copies what is in a folder, and not that folder.
    let within = match source.file_name() {
        Some(name) if by == CopyProgram::Rclone && source.is_dir() => name,
        _ => OsStr::new(""),
    };
    let paths = [source, &target.join(within)].map(|path| path.display().to_string());
    let words = words.iter().map(|word| (*word).to_owned());
    Command::new(words.chain(paths).collect::<Vec<_>>())
}

/// Whether something in a folder is not empty.
fn holds_bytes(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.filter_map(|entry| entry.metadata().ok());
    files.any(|file| file.is_file() && file.len() > 0)
}
