//! What is asked of a trial's process: one line of JSON.

use std::io::{self, Read};
use std::path::Path;

use locale::say;
use record::{
    Credentials, KeepInput, Place, SecondMount, Secret, Task, TaskWorkload, TrialInput, Workload,
};
use zeroize::Zeroizing;

use crate::scratch_folder::ScratchFolder;
use crate::{Error, Stop, local_copy_folder, test_file_in_folder};

/// Longest line that is taken as a trial's input.
const INPUT_BYTES_MAX: usize = 64 << 10;

/// What is asked of this process.
#[derive(Clone)]
pub(crate) enum Input {
    Trial(Box<TrialInput>),
    Keep(Box<KeepInput>),
}

impl Input {
    pub(crate) fn credentials(&self) -> Option<&Credentials> {
        match self {
            Self::Trial(input) => input.credentials.as_ref(),
            Self::Keep(input) => input.credentials.as_ref(),
        }
    }

    /// The server that it logs in to; none where there is none.
    pub(crate) fn server(&self) -> &str {
        let place = match self {
            Self::Trial(input) => match &input.workload {
                Workload::Share(workload) => return &workload.share.server,
                Workload::Job(workload) => return &workload.share.server,
                Workload::Task(workload) => &workload.place,
                Workload::Tcp(_) | Workload::Folder(_) => return "",
            },
            Self::Keep(input) => &input.keep.place,
        };
        match place {
            Place::Share { share, .. } => &share.server,
            Place::Folder { .. } => "",
        }
    }

    /// The folder that it works in with the rights of this user, as well as in the one that is made for it.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Trial(input) => match &input.workload {
                Workload::Task(TaskWorkload {
                    place: Place::Folder { folder, .. },
                    ..
                }) => Some(Path::new(folder)),
                _ => None,
            },
            Self::Keep(_) => None,
        }
    }

    /// Makes the folder that it copies from or to.
    pub(crate) fn near(&self, stop: &Stop) -> Result<Option<ScratchFolder>, Error> {
        match self {
            Self::Trial(input) => local_copy_folder::make(&input.workload, stop),
            Self::Keep(_) => Ok(None),
        }
    }

    /// The same folder, for the process that was started in it.
    pub(crate) fn given(&self) -> Result<Option<ScratchFolder>, Error> {
        match self {
            Self::Trial(input) => local_copy_folder::is_needed(&input.workload)
                .then(ScratchFolder::given)
                .transpose(),
            Self::Keep(_) => Ok(None),
        }
    }

    /// What is mounted for it and for no longer.
    pub(crate) fn second_mount(&self) -> Option<&SecondMount> {
        match self {
            Self::Trial(input) => input.workload.second_mount(),
            Self::Keep(_) => None,
        }
    }

    /// The same for a process that works elsewhere and knows no password: what is mounted for it is there already.
    pub(crate) fn for_worker(&self) -> Self {
        let mut input = self.clone();
        if let Self::Trial(trial) = &mut input
            && let Workload::Task(task) = &mut trial.workload
            && let Place::Folder { folder, .. } = &mut task.place
        {
            task.second_mount = None;
            *folder = test_file_in_folder::whole(Path::new(folder))
                .display()
                .to_string();
        }
        let credentials = match &mut input {
            Self::Trial(input) => &mut input.credentials,
            Self::Keep(input) => &mut input.credentials,
        };
        if let Some(credentials) = credentials {
            credentials.password = Secret::new(String::new());
        }
        input
    }

    /// One line of JSON, as [`read_input`] takes it.
    pub(crate) fn to_line(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        let text = match self {
            Self::Trial(input) => serde_json::to_vec(input),
            Self::Keep(input) => serde_json::to_vec(input),
        };
        let mut line = Zeroizing::new(text?);
        line.push(b'\n');
        Ok(line)
    }

    /// Whether it starts a program, or has a file that one works with.
    pub(super) fn starts_programs(&self) -> bool {
        match self {
            Self::Trial(input) => match &input.workload {
                Workload::Folder(_) => true,
                Workload::Task(work) => match &work.task {
                    Task::Copy(copy) => copy.by.program().is_some(),
                    _ => false,
                },
                Workload::Tcp(_) | Workload::Share(_) | Workload::Job(_) => false,
            },
            Self::Keep(input) => matches!(input.keep.place, Place::Folder { .. }),
        }
    }

    /// Whether it leaves something behind when it is ended at once: a file in a folder, a program.
    pub(super) fn tidies(&self) -> bool {
        match self {
            Self::Trial(input) => {
                matches!(
                    input.workload,
                    Workload::Folder(_) | Workload::Task(_) | Workload::Job(_)
                )
            }
            Self::Keep(_) => true,
        }
    }
}

/// Reads up to the first line break. There may be a password in it, so that nothing of it is left
/// behind in memory.
pub(crate) fn read_input(stdin: &mut impl Read) -> Result<Input, Error> {
    let mut line = Zeroizing::new(vec![0; INPUT_BYTES_MAX]);
    let mut filled = 0;
    while filled < line.len() && !line[..filled].contains(&b'\n') {
        match stdin.read(&mut line[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::System {
                    action: say("error-measure.read-input"),
                    source,
                });
            }
        }
    }
    let end = line[..filled]
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(filled);
    let line = &line[..end];
    let trial = serde_json::from_slice(line).map(|input| Input::Trial(Box::new(input)));
    trial.or_else(|error| {
        let keep = serde_json::from_slice(line).map(|input| Input::Keep(Box::new(input)));
        // Which of the two it was meant to be is not known; a trial it is far more often.
        keep.or(Err(Error::Input {
            column: error.column(),
        }))
    })
}
