//! Contexts of CREATE.

use super::{FILE, GUID, Sample, sample};
use crate::wire::{
    DiskId, DurableGrant, DurableReconnect, DurableRequest, LeaseContext, LeaseVersion2,
    MaximalAccess, Message as _, lease_state,
};

pub(super) fn samples() -> Vec<Sample> {
    let lease = LeaseContext {
        key: GUID,
        state: 7,
        flags: LeaseContext::PARENT_KEY_SET,
        version_2: Some(LeaseVersion2 {
            parent_key: [9; 16],
            epoch: 3,
        }),
    };
    vec![
        sample(&MaximalAccess {
            status: 0,
            access: 0x1F_01FF,
        }),
        sample(&DiskId { file: 5, volume: 6 }),
        sample(&lease),
        sample(&DurableRequest {
            timeout_ms: 60_000,
            flags: 0,
            create_guid: GUID,
        }),
        sample(&DurableGrant {
            timeout_ms: 60_000,
            flags: DurableGrant::PERSISTENT,
        }),
        sample(&DurableReconnect {
            file: FILE,
            create_guid: GUID,
            flags: 0,
        }),
    ]
}

#[test]
fn a_lease_of_version_1_is_half_as_long() {
    let lease = LeaseContext {
        key: GUID,
        state: lease_state::READ | lease_state::HANDLE,
        flags: 0,
        version_2: None,
    };
    let mut bytes = Vec::new();
    lease.encode(&mut bytes);
    assert_eq!(bytes.len(), 32);
    assert_eq!(LeaseContext::decode(&bytes), Ok(lease));
}
