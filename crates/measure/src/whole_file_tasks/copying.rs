//! Copying files between the target and the client, by the engine of `linerate copy`.

use std::time::{Duration, Instant};

use record::CopyTask;
use smb::copy::{Job, Options, Place, Progress, Source};

use super::{Done, Reached, Work};
use crate::Error;
use crate::interval_sampling::Meter;
use crate::local_copy_folder::no_near;
use crate::scratch_folder::ScratchFolder;
use crate::stop_request::stoppable;

/// What is copied, in the folder of our own.
const FILE: &str = "file.bin";
const TREE: &str = "tree";
/// How often it is looked whether the first byte has come.
const LOOK: Duration = Duration::from_millis(1);

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
        self.carry(from, to, what, &mut first)?;
        let target = if self.is_read() { near } else { self.scratch };
        target.sync(to, (task.folders == 0).then_some(FILE))?;
        let sample = meter.finish(task.bytes());
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
