//! The POSIX extensions, and links.

use super::{Sample, TIMES, sample};
use crate::session::Posix;
use crate::wire::{
    LinkKind, LinkTarget, ModeDescriptor, PosixCreateRequest, PosixCreateResponse,
    PosixInformation, PosixRecord, PosixRecords,
};

pub(super) fn samples() -> Vec<Sample> {
    // S-1-22-1-60123, and S-1-0-0
    let owner = [1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0, 0xDB, 0xEA, 0, 0];
    let group = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let posix = PosixCreateResponse {
        file: Posix {
            mode: 0o100_640,
            links: 2,
            reparse_tag: 0xA000_000C,
        },
        owner: &owner,
        group: &group,
    };
    let about = PosixInformation {
        times: TIMES,
        size: 10,
        allocation: 4096,
        attributes: 0x20,
        file_id: 77,
        device: 8,
        posix,
    };
    let record = |name| PosixRecord { about, name };
    let records = PosixRecords {
        records: vec![record(&b"a\0:\0b\0"[..]), record(&b"\\\0"[..]), record(&[])],
    };
    let link = |kind| LinkTarget {
        kind,
        path: b"a\0/\0b\0",
    };
    vec![
        sample(&PosixCreateRequest { mode: 0o640 }),
        sample(&posix),
        sample(&about),
        Sample {
            may_be_empty: true,
            ..sample(&records)
        },
        sample(&ModeDescriptor { mode: 0o751 }),
        sample(&link(LinkKind::Relative)),
        sample(&link(LinkKind::Absolute)),
        sample(&link(LinkKind::Nfs)),
    ]
}
