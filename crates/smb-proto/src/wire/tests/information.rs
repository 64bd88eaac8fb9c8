//! QUERY_DIRECTORY, QUERY_INFO and SET_INFO, with what they carry (MS-FSCC).

use super::{FILE, Sample, TIMES, sample};
use crate::wire::{
    AllInformation, BasicInformation, DirectoryRecord, DirectoryRecords, DispositionInformation,
    EndOfFileInformation, FsAttributeInformation, FsFullSizeInformation, Message as _,
    QueryDirectoryRequest, QueryDirectoryResponse, QueryInfoRequest, QueryInfoResponse,
    RenameInformation, SetInfoRequest, SetInfoResponse, StandardInformation, StreamInformation,
    utf16,
};

pub(super) fn samples() -> Vec<Sample> {
    let mut all = directory_samples();
    all.extend(query_samples());
    all.extend(set_samples());
    all.extend(file_samples());
    all.extend(file_system_samples());
    all
}

fn directory_samples() -> Vec<Sample> {
    let record = DirectoryRecord {
        times: TIMES,
        size: 5,
        allocation: 6,
        attributes: 0x400,
        ea_size_or_reparse_tag: 0xA000_000C,
        file_id: 7,
        name: b"n\0a\0m\0",
    };
    let records = DirectoryRecords {
        records: vec![
            record.clone(),
            DirectoryRecord {
                name: b".\0",
                ..record
            },
        ],
    };
    let folder = QueryDirectoryRequest {
        class: 0x26,
        flags: 1,
        file: FILE,
        pattern: b"*\0",
        bytes_max: 65536,
    };
    vec![
        sample(&folder),
        sample(&QueryDirectoryResponse { data: b"entries" }),
        Sample {
            may_be_empty: true,
            ..sample(&records)
        },
    ]
}

fn query_samples() -> Vec<Sample> {
    let query = QueryInfoRequest {
        kind: 1,
        class: 5,
        bytes_max: 9,
        additional: 0,
        file: FILE,
        input: b"",
    };
    vec![
        sample(&query),
        sample(&QueryInfoRequest {
            input: b"input",
            ..query
        }),
        sample(&QueryInfoResponse {
            data: b"information",
        }),
    ]
}

fn set_samples() -> Vec<Sample> {
    let set = SetInfoRequest {
        kind: 1,
        class: 20,
        additional: 0,
        file: FILE,
        data: &[8; 8],
    };
    vec![sample(&set), sample(&SetInfoResponse)]
}

fn file_samples() -> Vec<Sample> {
    let standard = StandardInformation {
        allocation: 1,
        size: 2,
        links: 3,
        delete_pending: true,
        folder: false,
    };
    vec![
        sample(&BasicInformation {
            times: TIMES,
            attributes: 0x20,
        }),
        sample(&standard),
        sample(&EndOfFileInformation { size: 1 << 33 }),
        sample(&DispositionInformation { delete: true }),
        sample(&RenameInformation {
            replace: true,
            name: b"x\0y\0",
        }),
        sample(&AllInformation {
            path: "\\a\\写真".to_owned(),
        }),
        sample(&StreamInformation {
            names: vec!["::$DATA".to_owned(), ":写真:$DATA".to_owned()],
        }),
    ]
}

fn file_system_samples() -> Vec<Sample> {
    let size = FsFullSizeInformation {
        total_units: 1,
        caller_available_units: 2,
        available_units: 3,
        sectors_per_unit: 4,
        bytes_per_sector: 5,
    };
    vec![
        sample(&size),
        sample(&FsAttributeInformation {
            attributes: FsAttributeInformation::BLOCK_REFERENCE_COUNTING,
            name_length_max: 255,
            name: b"R\0e\0F\0S\0",
        }),
    ]
}

#[test]
fn a_name_that_is_no_unicode_is_told_from_one_that_looks_like_it() {
    let ill_formed = |name: &[u8]| {
        let record = DirectoryRecord {
            times: TIMES,
            size: 0,
            allocation: 0,
            attributes: 0,
            ea_size_or_reparse_tag: 0,
            file_id: 0,
            name,
        };
        record.to_entry().ill_formed
    };
    let half = [0x41, 0x00, 0x00, 0xD8];
    assert_eq!(ill_formed(&half).as_deref(), Some(&[0x41, 0xD800][..]));
    assert_eq!(ill_formed(&utf16::encode("a\u{FFFD}")), None);
    assert_eq!(ill_formed(&utf16::encode("häß𝄞")), None);
}

#[test]
fn a_new_name_of_one_letter_is_padded() {
    let renamed = RenameInformation {
        replace: false,
        name: b"x\0",
    };
    let mut bytes = Vec::new();
    renamed.encode(&mut bytes);
    assert_eq!(bytes.len(), 24);
    assert_eq!(RenameInformation::decode(&bytes), Ok(renamed));
}
