//! A test file that is there for several trials and gone when nobody keeps it.

use std::path::Path;
use std::thread;

use record::{Bytes, Direction, KeepInput, Nanoseconds, Place, ShareWorkload, Timing, TrialLine};

use smb::Login;

use crate::fio_folder::direct_bytes;
use crate::share_workload;
use crate::stop_request::STOP_POLL;
use crate::test_file_in_folder::TestFile;
use crate::{Error, Stop};

/// Makes the file, says that it is there, and removes it once `stop` is asked for.
pub(crate) fn run(
    input: &KeepInput,
    login: &Login,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<(), Error> {
    let keep = &input.keep;
    let mut wait = |file: String, direct: Option<u64>| {
        let direct = direct.map(Bytes::new);
        emit(&TrialLine::Kept { file, direct });
        while !stop.is_asked() {
            thread::sleep(STOP_POLL);
        }
    };
    match &keep.place {
        Place::Folder { folder, kind } => {
            let folder = Path::new(folder);
            let file = TestFile::create(folder, *kind, keep.file_size.get(), keep.data, stop)?;
            let path = file.path();
            let direct = direct_bytes(Path::new(&path));
            wait(path, direct);
            Ok(())
        }
        Place::Share { share, demands } => {
            let span = Nanoseconds::new(1_000_000_000);
            let workload = ShareWorkload {
                share: share.clone(),
                direction: Direction::Read,
                channels: 1,
                block: keep.file_size,
                depth: 1,
                file_size: keep.file_size,
                demands: *demands,
                operations: None,
                timing: Timing {
                    warm_up: Nanoseconds::new(0),
                    measured: span,
                    interval: span,
                },
                sessions: 1,
                connections: 1,
                file: record::FileUse::default(),
                socket: record::SocketOptions::default(),
            };
            share_workload::keep(&workload, keep.data, login, stop, &mut |file| {
                wait(file, None)
            })
        }
    }
}
