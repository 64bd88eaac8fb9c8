//! IOCTL and what it carries: interfaces, the check of NEGOTIATE, copies on the server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{FILE, GUID, Sample, sample};
use crate::wire::{
    CopyChunk, CopyChunks, CopyChunksDone, ExtentsToDuplicate, FileId, FileRange, InterfaceRecord,
    IoctlRequest, IoctlResponse, Message as _, NetworkInterfaces, ResumeKey,
    ValidateNegotiateRequest, ValidateNegotiateResponse,
};

pub(super) fn samples() -> Vec<Sample> {
    let mut all = control_samples();
    all.extend(interface_samples());
    all.extend(validation_samples());
    all.extend(copy_samples());
    all
}

fn control_samples() -> Vec<Sample> {
    let ioctl = IoctlRequest {
        control: 1,
        file: FileId::NONE,
        input: b"input",
        output_max: 9,
    };
    vec![
        sample(&ioctl),
        sample(&IoctlRequest {
            input: b"",
            ..ioctl
        }),
        sample(&IoctlResponse {
            control: 1,
            file: FileId::NONE,
            output: b"output",
        }),
    ]
}

fn interface_samples() -> Vec<Sample> {
    let interface = InterfaceRecord {
        index: u32::MAX,
        capability: 1,
        link_speed: 10_000_000_000,
        address: Some(IpAddr::V4(Ipv4Addr::new(10, 77, 1, 2))),
    };
    let interfaces = NetworkInterfaces {
        interfaces: vec![
            interface,
            InterfaceRecord {
                address: Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
                ..interface
            },
            InterfaceRecord {
                address: None,
                ..interface
            },
        ],
    };
    vec![Sample {
        may_be_empty: true,
        ..sample(&interfaces)
    }]
}

fn validation_samples() -> Vec<Sample> {
    let validate = ValidateNegotiateRequest {
        capabilities: 1,
        client_guid: GUID,
        security_mode: 2,
        dialects: vec![0x0302, 0x0300],
    };
    let validated = ValidateNegotiateResponse {
        capabilities: 1,
        server_guid: GUID,
        security_mode: 3,
        dialect: 0x0302,
    };
    vec![sample(&validate), sample(&validated)]
}

fn copy_samples() -> Vec<Sample> {
    let chunk = CopyChunk {
        from: 1 << 40,
        to: 2 << 40,
        length: 1 << 20,
    };
    vec![
        sample(&ResumeKey { key: [7; 24] }),
        sample(&CopyChunks {
            key: [7; 24],
            chunks: vec![chunk, CopyChunk { from: 0, ..chunk }],
        }),
        sample(&CopyChunksDone {
            chunks: 256,
            chunk_bytes: 1 << 20,
            total_bytes: 16 << 20,
        }),
        sample(&ExtentsToDuplicate {
            source: FILE,
            from: 1 << 40,
            to: 2 << 40,
            length: 1 << 30,
        }),
        sample(&FileRange {
            range: 1 << 16..1 << 40,
        }),
    ]
}

#[test]
fn ranges_that_no_file_has_are_errors() {
    let most = i64::MAX as u64;
    for (start, length, good) in [
        (0, most, true),
        (most, 0, true),
        (1, most, false),
        (most + 1, 0, false),
        (1, u64::MAX, false),
    ] {
        let bytes = [u64::to_le_bytes(start), u64::to_le_bytes(length)].concat();
        assert_eq!(FileRange::decode(&bytes).is_ok(), good, "{start} {length}");
    }
}
