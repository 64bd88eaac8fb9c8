//! One list of all messages drives these tests.

mod create_contexts;
mod create_read_write_lock;
mod dce_rpc;
mod dfs;
mod echo_cancel_break_error;
mod header_negotiate_session;
mod information;
mod ioctl;
mod posix_extensions;

use super::*;
use crate::session::FileTimes;

struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    recode: fn(&[u8]) -> Result<Vec<u8>, Malformed>,
    /// Bytes behind it are padding; lists that fill their buffer have none.
    may_be_empty: bool,
}

fn sample<'a, M: Message<'a>>(message: &M) -> Sample {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    let codec = CODECS
        .iter()
        .find(|codec| codec.name == M::NAME)
        .expect("it is in the list");
    Sample {
        name: M::NAME,
        bytes,
        recode: codec.recode,
        may_be_empty: false,
    }
}

const FILE: FileId = FileId {
    persistent: 0x1122_3344_5566_7788,
    volatile: 0x99AA_BBCC_DDEE_FF00,
};
const TIMES: FileTimes = FileTimes {
    creation: 1,
    access: 2,
    write: 3,
    change: 4,
};
const GUID: [u8; 16] = *b"0123456789abcdef";

fn samples() -> Vec<Sample> {
    let mut all = header_negotiate_session::samples();
    all.extend(create_contexts::samples());
    all.extend(dfs::samples());
    all.extend(create_read_write_lock::samples());
    all.extend(information::samples());
    all.extend(ioctl::samples());
    all.extend(echo_cancel_break_error::samples());
    all.extend(posix_extensions::samples());
    all.extend(dce_rpc::samples());
    all
}

#[test]
fn every_message_has_a_sample() {
    let samples = samples();
    for codec in CODECS {
        assert!(
            samples.iter().any(|sample| sample.name == codec.name),
            "{}",
            codec.name
        );
    }
}

#[test]
fn every_message_survives_a_round_trip() {
    for sample in samples() {
        assert_eq!(
            (sample.recode)(&sample.bytes).as_ref(),
            Ok(&sample.bytes),
            "{}",
            sample.name
        );
    }
}

#[test]
fn every_prefix_of_every_message_is_an_error() {
    for sample in samples() {
        // without what version 2 adds, a lease is one of version 1
        let lease_1 = (sample.name == LeaseContext::NAME).then_some(32);
        let ends = usize::from(sample.may_be_empty)..sample.bytes.len();
        for end in ends.filter(|end| Some(*end) != lease_1) {
            let prefix = &sample.bytes[..end];
            let recoded = (sample.recode)(prefix);
            assert!(
                recoded.is_err(),
                "{} cut to {end}: {recoded:02x?}",
                sample.name
            );
        }
    }
}

#[test]
fn padding_behind_a_message_is_ignored() {
    for sample in samples() {
        let mut padded = sample.bytes.clone();
        padded.extend([0xEE; 16]);
        assert_eq!(
            (sample.recode)(&padded).as_ref(),
            Ok(&sample.bytes),
            "{}",
            sample.name
        );
    }
}

#[test]
fn a_wrong_structure_size_is_an_error() {
    // in structures of MS-FSCC the first bytes are something else
    let without = [
        "FileIdBothDirectoryInformation",
        "FileBasicInformation",
        "FileStandardInformation",
        "FileEndOfFileInformation",
        "FileDispositionInformation",
        "FileRenameInformation",
        "FileFsFullSizeInformation",
        "NETWORK_INTERFACE_INFO",
        "VALIDATE_NEGOTIATE_INFO Request",
        "VALIDATE_NEGOTIATE_INFO Response",
        "SMB2_CREATE_QUERY_MAXIMAL_ACCESS_RESPONSE",
        "SMB2_CREATE_QUERY_ON_DISK_ID",
        "SMB2_CREATE_REQUEST_LEASE",
        "SMB2_CREATE_DURABLE_HANDLE_REQUEST_V2",
        "SMB2_CREATE_DURABLE_HANDLE_RESPONSE_V2",
        "SMB2_CREATE_DURABLE_HANDLE_RECONNECT_V2",
        "SRV_REQUEST_RESUME_KEY",
        "SRV_COPYCHUNK_COPY",
        "SRV_COPYCHUNK_RESPONSE",
        "FILE_ALLOCATED_RANGE_BUFFER",
        "DUPLICATE_EXTENTS_DATA",
        "FileFsAttributeInformation",
        "FileAllInformation",
        "NetrShareEnum Request",
        "NetrFileEnum Request",
        "NetrShareGetInfo Request",
        "REQ_GET_DFS_REFERRAL",
        "RESP_GET_DFS_REFERRAL",
        "SMB2_CREATE_POSIX Request",
        "SMB2_CREATE_POSIX Response",
        "FilePosixInformation",
        "FilePosixInformation Entry",
    ];
    for mut sample in samples()
        .into_iter()
        .filter(|sample| !without.contains(&sample.name))
    {
        sample.bytes[0] ^= 0x40;
        let malformed = (sample.recode)(&sample.bytes).expect_err(sample.name);
        let command = sample.name.split(' ').next();
        if (0..=Command::OPLOCK_BREAK.0).any(|number| command == Some(Command(number).name())) {
            let defect = Defect::Invalid("StructureSize");
            assert_eq!((malformed.message, malformed.defect), (sample.name, defect));
        }
    }
}

#[test]
fn text_of_the_peer_never_fails() {
    assert_eq!(utf16::decode(&utf16::encode("häß𝄞")), "häß𝄞");
    assert_eq!(utf16::decode(&[0x00, 0xD8, 0x41, 0x00, 0x42]), "\u{FFFD}A");
}
