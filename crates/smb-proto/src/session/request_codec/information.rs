//! QUERY_INFO and SET_INFO: what is known of a file or its file system, and what is changed of it.

use super::Prepared;
use super::path_encoding::Paths;
use crate::error::Result;
use crate::session::FileKey;
use crate::session::locked_state::{State, TreeId};
use crate::session::request_types::{FsSize, Information, Posix, QueryInformation, SetInformation};
use crate::wire::{
    AllInformation, BasicInformation, Command, DispositionInformation, EndOfFileInformation,
    FileId, FsAttributeInformation, FsFullSizeInformation, Message as _, ModeDescriptor,
    PosixInformation, QueryInfoRequest, RenameInformation, SetInfoRequest, StandardInformation,
    StreamInformation, class,
};

pub(super) fn query((tree_id, file): (TreeId, FileId), what: QueryInformation) -> Prepared {
    const BYTES_MAX: u32 = 1024;
    /// What one credit pays for.
    const LONG_BYTES_MAX: u32 = 1 << 16;
    let (kind, class) = match what {
        QueryInformation::Standard => (class::TYPE_FILE, class::FILE_STANDARD),
        QueryInformation::Basic => (class::TYPE_FILE, class::FILE_BASIC),
        QueryInformation::FsSize => (class::TYPE_FILE_SYSTEM, class::FS_FULL_SIZE),
        QueryInformation::FsAttributes => (class::TYPE_FILE_SYSTEM, class::FS_ATTRIBUTE),
        QueryInformation::Path => (class::TYPE_FILE, class::FILE_ALL),
        QueryInformation::Streams => (class::TYPE_FILE, class::FILE_STREAM),
        QueryInformation::Posix => (class::TYPE_FILE, class::POSIX),
    };
    let bytes_max = match what {
        QueryInformation::Path | QueryInformation::Streams => LONG_BYTES_MAX,
        _ => BYTES_MAX,
    };
    let (additional, input) = (0, &[][..]);
    let message = QueryInfoRequest {
        kind,
        class,
        bytes_max,
        additional,
        file,
        input,
    };
    Prepared::new(Command::QUERY_INFO, tree_id, &message)
}

/// The answer to a question.
pub(super) fn decoded(what: QueryInformation, data: &[u8]) -> Result<Information> {
    Ok(match what {
        QueryInformation::Standard => {
            let got = StandardInformation::decode(data)?;
            Information::Standard {
                size: got.size,
                allocation: got.allocation,
                folder: got.folder,
                delete_pending: got.delete_pending,
            }
        }
        QueryInformation::Basic => {
            let got = BasicInformation::decode(data)?;
            Information::Basic {
                times: got.times,
                attributes: got.attributes,
            }
        }
        QueryInformation::Path => Information::Path(AllInformation::decode(data)?.path),
        QueryInformation::Streams => {
            let streams = StreamInformation::decode(data)?;
            Information::AlternateStream(streams.first_alternate().map(str::to_owned))
        }
        QueryInformation::Posix => {
            let got = PosixInformation::decode(data)?;
            Information::Posix {
                size: got.size,
                times: got.times,
                posix: got.posix.file,
            }
        }
        QueryInformation::FsAttributes => {
            let attributes = FsAttributeInformation::decode(data)?.attributes;
            let can = |attribute| attributes & attribute != 0;
            Information::FsAttributes {
                clones: can(FsAttributeInformation::BLOCK_REFERENCE_COUNTING),
                streams: can(FsAttributeInformation::NAMED_STREAMS),
            }
        }
        QueryInformation::FsSize => {
            let got = FsFullSizeInformation::decode(data)?;
            let unit = u64::from(got.sectors_per_unit) * u64::from(got.bytes_per_sector);
            Information::FsSize(FsSize {
                total_bytes: got.total_units.saturating_mul(unit),
                available_bytes: got.caller_available_units.saturating_mul(unit),
                free_bytes: got.available_units.saturating_mul(unit),
            })
        }
    })
}

pub(super) fn set(state: &State, file: FileKey, what: &SetInformation) -> Result<Prepared> {
    let paths = Paths::of(state.is_posix(file));
    let (tree_id, file) = place_to_set(state, file, what)?;
    let (class, data) = set_information(what, paths)?;
    let (kind, additional) = match what {
        SetInformation::Mode(_) => (class::TYPE_SECURITY, class::SECURITY_ACCESS),
        _ => (class::TYPE_FILE, 0),
    };
    let message = SetInfoRequest {
        kind,
        class,
        additional,
        file,
        data: &data,
    };
    Ok(Prepared::new(Command::SET_INFO, tree_id, &message))
}

/// Where to set something of a file, if that makes sense whatever of it may be missing.
fn place_to_set(state: &State, file: FileKey, what: &SetInformation) -> Result<(TreeId, FileId)> {
    match what {
        // who gives a name to what was written takes it for complete
        SetInformation::Rename { .. } => state.sure_file(file),
        SetInformation::DeleteOnClose(_) => state.file_to_remove(file),
        SetInformation::EndOfFile(_) | SetInformation::Basic { .. } | SetInformation::Mode(_) => {
            state.file(file)
        }
    }
}

fn set_information(what: &SetInformation, paths: Paths) -> Result<(u8, Vec<u8>)> {
    let mut data = Vec::new();
    let class = match what {
        SetInformation::EndOfFile(size) => {
            EndOfFileInformation { size: *size }.encode(&mut data);
            class::FILE_END_OF_FILE
        }
        SetInformation::Basic { times, attributes } => {
            BasicInformation {
                times: *times,
                attributes: *attributes,
            }
            .encode(&mut data);
            class::FILE_BASIC
        }
        SetInformation::Rename { path, replace } => {
            let name = &paths.bytes(path)?;
            RenameInformation {
                replace: *replace,
                name,
            }
            .encode(&mut data);
            class::FILE_RENAME
        }
        SetInformation::DeleteOnClose(delete) => {
            DispositionInformation { delete: *delete }.encode(&mut data);
            class::FILE_DISPOSITION
        }
        SetInformation::Mode(mode) => {
            let mode = mode & Posix::ACCESS;
            ModeDescriptor { mode }.encode(&mut data);
            // security has no classes
            0
        }
    };
    Ok((class, data))
}
