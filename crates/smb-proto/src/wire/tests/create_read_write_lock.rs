//! CREATE, CLOSE, FLUSH, READ, WRITE and LOCK.

use super::{FILE, GUID, Sample, TIMES, sample};
use crate::error::Defect;
use crate::wire::{
    CloseRequest, CloseResponse, CreateContext, CreateRequest, CreateResponse, FlushRequest,
    FlushResponse, LOCK_EXCLUSIVE, LockRequest, LockResponse, Message as _, ReadRequest,
    ReadResponse, WriteRequest, WriteResponse,
};

pub(super) fn samples() -> Vec<Sample> {
    let mut all = create_samples();
    all.extend(close_samples());
    all.extend(data_samples());
    all.extend(lock_samples());
    all
}

fn create_samples() -> Vec<Sample> {
    let create = CreateRequest {
        oplock_level: 0,
        access: 1,
        attributes: 2,
        share_access: 3,
        disposition: 4,
        options: 5,
        name: b"a\0b\0c\0",
        contexts: vec![
            CreateContext {
                name: b"AlSi",
                data: &[1; 8],
            },
            CreateContext {
                name: b"MxAc",
                data: &[],
            },
            CreateContext {
                name: &GUID,
                data: b"odd",
            },
        ],
    };
    let created = CreateResponse {
        oplock_level: 0,
        action: 2,
        times: TIMES,
        allocation: 4096,
        size: 10,
        attributes: 0x80,
        file: FILE,
        contexts: vec![CreateContext {
            name: b"QFid",
            data: &[3; 32],
        }],
    };
    vec![
        sample(&create),
        sample(&CreateRequest {
            name: b"",
            ..create.clone()
        }),
        sample(&CreateRequest {
            contexts: Vec::new(),
            ..create.clone()
        }),
        sample(&CreateRequest {
            name: b"",
            contexts: Vec::new(),
            ..create
        }),
        sample(&created),
        sample(&CreateResponse {
            contexts: Vec::new(),
            ..created
        }),
    ]
}

fn close_samples() -> Vec<Sample> {
    let closed = CloseResponse {
        flags: 1,
        times: TIMES,
        allocation: 1,
        size: 2,
        attributes: 3,
    };
    vec![
        sample(&CloseRequest {
            flags: 1,
            file: FILE,
        }),
        sample(&closed),
    ]
}

fn data_samples() -> Vec<Sample> {
    vec![
        sample(&FlushRequest { file: FILE }),
        sample(&FlushResponse),
        sample(&ReadRequest {
            length: 1 << 20,
            offset: 1 << 40,
            file: FILE,
        }),
        sample(&ReadResponse {
            data_offset: 80,
            data: b"data",
        }),
        sample(&ReadResponse {
            data_offset: 200,
            data: b"further back",
        }),
        sample(&WriteRequest {
            offset: 1 << 40,
            file: FILE,
            flags: 1,
            data: b"data",
        }),
        sample(&WriteRequest {
            offset: 0,
            file: FILE,
            flags: 0,
            data: b"",
        }),
        sample(&WriteResponse { count: 1 << 20 }),
    ]
}

fn lock_samples() -> Vec<Sample> {
    vec![
        sample(&LockRequest {
            file: FILE,
            offset: 0x1_0000_0000,
            length: 512,
            flags: LOCK_EXCLUSIVE,
        }),
        sample(&LockResponse),
    ]
}

#[test]
fn offsets_before_the_data_are_errors() {
    let mut bytes = Vec::new();
    ReadResponse {
        data_offset: 80,
        data: b"data",
    }
    .encode(&mut bytes);
    for offset in [79, 0] {
        bytes[2] = offset;
        let malformed = ReadResponse::decode(&bytes).expect_err("it lies before the data");
        assert_eq!(malformed.defect, Defect::OutOfBounds("DataOffset"));
    }
}

#[test]
fn the_next_context_begins_behind_this_one_and_aligned() {
    const CONTEXTS_AT: usize = 88;
    let context = CreateContext {
        name: b"QFid",
        data: &[3; 32],
    };
    let mut bytes = Vec::new();
    CreateResponse {
        oplock_level: 0,
        action: 2,
        times: TIMES,
        allocation: 4096,
        size: 10,
        attributes: 0x80,
        file: FILE,
        contexts: vec![context, context],
    }
    .encode(&mut bytes);
    assert_eq!(bytes[CONTEXTS_AT], 56, "the first one's `Next`");
    // Neither a name nor data, so that only the distance can be wrong.
    bytes[CONTEXTS_AT + 4..CONTEXTS_AT + 16].fill(0);
    for (next, defect) in [
        (8, Defect::Invalid("Next")),
        (12, Defect::Invalid("Next")),
        (20, Defect::Invalid("Next")),
        (200, Defect::OutOfBounds("Next")),
    ] {
        bytes[CONTEXTS_AT] = next;
        let malformed = CreateResponse::decode(&bytes).expect_err("it leads nowhere");
        assert_eq!(malformed.defect, defect, "{next}");
    }
}
