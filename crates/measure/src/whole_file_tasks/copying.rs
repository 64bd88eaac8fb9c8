//! Copying files between the target and the client: by the engine of `linerate copy`, or by the programs that people use.

use std::path::{Path, PathBuf};
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
            self.scratch.sync(self.scratch.top(), None)?;
            self.scratch.forget();
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
        match &reached.0 {
            Some(_) => self.carry(from, to, what, &mut first)?,
            None => self.carry_by(task.by, [from, to], what, &mut first)?,
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

    /// Has a program copy all of it from one folder to another, and says when the first byte of it had come, where that is
    /// seen: one file that comes to the client.
    fn carry_by(
        &self,
        by: CopyProgram,
        [from, to]: [&Place; 2],
        what: &str,
        first: &mut Option<Duration>,
    ) -> Result<(), Error> {
        let near = self.near.and_then(entrance);
        let (Some(near), Some(far)) = (near, entrance(self.scratch)) else {
            return self.carry(from, to, what, first);
        };
        let (source, target) = match self.is_read() {
            true => (far.join(what), near.clone()),
            false => (near.join(what), far),
        };
        let Some(command) = command(by, &source, &target) else {
            return self.carry(from, to, what, first);
        };
        let begin = Instant::now();
        let process = Local::new().spawn(&command)?;
        let look = || {
            if self.is_read() && first.is_none() && holds_bytes(&near) {
                *first = Some(begin.elapsed());
            }
        };
        let output = meanwhile(LOOK, look, || wait_unless_asked(process, LIMIT, self.stop))??;
        match output.status {
            0 => Ok(()),
            status => Err(Error::Host(host::Error::Status {
                argv: command.argv,
                status,
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            })),
        }
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

/// What copies a file, or a folder with all that is in it, into a folder; none where that is no program.
fn command(by: CopyProgram, source: &Path, target: &Path) -> Option<Command> {
    let program = by.program()?;
    let [source_text, target_text] = [source, target].map(|path| path.display().to_string());
    let options: &[&str] = match by {
        CopyProgram::Linerate => return None,
        CopyProgram::Cp | CopyProgram::Rsync => &["-r", "--"],
        // Without a configuration of whoever runs this. It copies what is in a folder, and not that folder.
        CopyProgram::Rclone => &["copy", "--config=", "--"],
    };
    let target_text = match (by, source.is_dir(), source.file_name()) {
        (CopyProgram::Rclone, true, Some(name)) => target.join(name).display().to_string(),
        _ => format!("{target_text}/"),
    };
    let words = std::iter::once(program).chain(options.iter().copied());
    let words = words.map(str::to_owned).chain([source_text, target_text]);
    Some(Command::new(words.collect::<Vec<_>>()))
}

/// The path by which another program reaches a folder of ours, while this one runs.
fn entrance(folder: &ScratchFolder) -> Option<PathBuf> {
    let own = folder.entrance()?;
    let below = own.strip_prefix("/proc/self").ok();
    let of_us = below.map(|below| {
        Path::new("/proc")
            .join(std::process::id().to_string())
            .join(below)
    });
    Some(of_us.unwrap_or(own))
}

/// Whether something in a folder is not empty.
fn holds_bytes(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.filter_map(|entry| entry.metadata().ok());
    files.any(|file| file.is_file() && file.len() > 0)
}
