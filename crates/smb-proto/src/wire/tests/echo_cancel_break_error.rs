//! ECHO, CANCEL, breaks of oplocks and leases, and errors.

use super::{FILE, GUID, Sample, sample};
use crate::wire::{
    BreakNotice, CancelRequest, EchoRequest, EchoResponse, ErrorResponse,
    LeaseBreakAcknowledgement, LeaseBreakNotice, Message as _, OplockBreakNotice, lease_state,
};

pub(super) fn samples() -> Vec<Sample> {
    let lease = LeaseBreakNotice {
        epoch: 1,
        flags: 1,
        key: GUID,
        current: 7,
        new: 1,
    };
    vec![
        sample(&EchoRequest),
        sample(&EchoResponse),
        sample(&CancelRequest),
        sample(&OplockBreakNotice {
            level: 1,
            file: FILE,
        }),
        sample(&lease),
        sample(&ErrorResponse {
            contexts: 0,
            data: b"",
        }),
        sample(&ErrorResponse {
            contexts: 1,
            data: b"symlink",
        }),
        sample(&LeaseBreakAcknowledgement {
            key: GUID,
            state: lease_state::READ,
        }),
    ]
}

#[test]
fn breaks_are_told_apart() {
    let (mut oplock, mut lease) = (Vec::new(), Vec::new());
    OplockBreakNotice {
        level: 0,
        file: FILE,
    }
    .encode(&mut oplock);
    LeaseBreakNotice {
        epoch: 1,
        flags: 1,
        key: GUID,
        current: 7,
        new: 1,
    }
    .encode(&mut lease);
    assert!(matches!(
        BreakNotice::decode(&oplock),
        Ok(BreakNotice::Oplock(_))
    ));
    assert!(matches!(
        BreakNotice::decode(&lease),
        Ok(BreakNotice::Lease(_))
    ));
}
