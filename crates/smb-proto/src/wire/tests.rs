//! One list of all messages drives these tests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::*;
use crate::error::NtStatus;
use crate::session::{FileTimes, Posix};

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
    let mut all = connection_samples();
    all.extend(file_samples());
    all.extend(lock_samples());
    all.extend(information_samples());
    all.extend(notice_samples());
    all.extend(context_samples());
    all.extend(copy_samples());
    all.extend(rpc_samples());
    all.extend(referral_samples());
    all.extend(posix_samples());
    all
}

fn connection_samples() -> Vec<Sample> {
    let contexts = vec![
        NegotiateContext::Preauth {
            algorithms: vec![1],
            salt: &[7; 32],
        },
        NegotiateContext::Encryption(vec![2, 4]),
        NegotiateContext::Signing(vec![2, 1, 0]),
        NegotiateContext::Other {
            kind: 99,
            data: b"odd",
        },
        NegotiateContext::NetName(b"n\0"),
    ];
    let header = Header {
        credit_charge: 16,
        status: NtStatus(0x0103),
        command: Command::READ,
        credits: 512,
        flags: flags::SIGNED | flags::RESPONSE,
        next_command: 8,
        message_id: 0x0123_4567_89AB_CDEF,
        tree_or_async_id: 0xFEDC_BA98_7654_3210,
        session_id: 77,
        signature: GUID,
    };
    let transform = TransformHeader {
        tag: GUID,
        nonce: [9; 16],
        message_length: 0x0102_0304,
        reserved: 5,
        session_id: 77,
    };
    let request = NegotiateRequest {
        security_mode: 1,
        capabilities: 0x44,
        client_guid: GUID,
        dialects: vec![0x0302, 0x0311],
        contexts: contexts.clone(),
    };
    let response = NegotiateResponse {
        security_mode: 3,
        dialect: 0x0311,
        server_guid: GUID,
        capabilities: 7,
        transact_bytes_max: 1,
        read_bytes_max: 2,
        write_bytes_max: 3,
        system_time: 4,
        token: b"token",
        contexts,
    };
    let setup = SessionSetupRequest {
        flags: 1,
        security_mode: 1,
        capabilities: 1,
        previous_session_id: 9,
        token: b"client",
    };
    let tree = TreeConnectResponse {
        share_type: 1,
        flags: 0x8000,
        capabilities: 0x10,
        access_max: 5,
    };
    vec![
        sample(&header),
        sample(&transform),
        sample(&request),
        sample(&NegotiateRequest {
            contexts: Vec::new(),
            dialects: vec![0x0302],
            ..request
        }),
        sample(&response),
        sample(&NegotiateResponse {
            contexts: Vec::new(),
            dialect: 0x0302,
            ..response
        }),
        sample(&setup),
        sample(&SessionSetupResponse {
            flags: 1,
            token: b"server",
        }),
        sample(&LogoffRequest),
        sample(&LogoffResponse),
        sample(&TreeConnectRequest { path: b"\\\0\\\0" }),
        sample(&tree),
        sample(&TreeDisconnectRequest),
        sample(&TreeDisconnectResponse),
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

fn file_samples() -> Vec<Sample> {
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
    let closed = CloseResponse {
        flags: 1,
        times: TIMES,
        allocation: 1,
        size: 2,
        attributes: 3,
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
        sample(&CloseRequest {
            flags: 1,
            file: FILE,
        }),
        sample(&closed),
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

fn information_samples() -> Vec<Sample> {
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
    let standard = StandardInformation {
        allocation: 1,
        size: 2,
        links: 3,
        delete_pending: true,
        folder: false,
    };
    let size = FsFullSizeInformation {
        total_units: 1,
        caller_available_units: 2,
        available_units: 3,
        sectors_per_unit: 4,
        bytes_per_sector: 5,
    };
    let query = QueryInfoRequest {
        kind: 1,
        class: 5,
        bytes_max: 9,
        additional: 0,
        file: FILE,
        input: b"",
    };
    let set = SetInfoRequest {
        kind: 1,
        class: 20,
        additional: 0,
        file: FILE,
        data: &[8; 8],
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
        sample(&query),
        sample(&QueryInfoRequest {
            input: b"input",
            ..query
        }),
        sample(&QueryInfoResponse {
            data: b"information",
        }),
        sample(&set),
        sample(&SetInfoResponse),
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
        sample(&size),
    ]
}

fn notice_samples() -> Vec<Sample> {
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
    let ioctl = IoctlRequest {
        control: 1,
        file: FileId::NONE,
        input: b"input",
        output_max: 9,
    };
    let lease = LeaseBreakNotice {
        epoch: 1,
        flags: 1,
        key: GUID,
        current: 7,
        new: 1,
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
        Sample {
            may_be_empty: true,
            ..sample(&interfaces)
        },
        sample(&validate),
        sample(&validated),
        sample(&EchoRequest),
        sample(&EchoResponse),
        sample(&CancelRequest),
        sample(&OplockBreakNotice {
            level: 1,
            file: FILE,
        }),
        sample(&lease),
        sample(&AllInformation {
            path: "\\a\\写真".to_owned(),
        }),
        sample(&ErrorResponse {
            contexts: 0,
            data: b"",
        }),
        sample(&ErrorResponse {
            contexts: 1,
            data: b"symlink",
        }),
    ]
}

fn context_samples() -> Vec<Sample> {
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
        sample(&LeaseBreakAcknowledgement {
            key: GUID,
            state: lease_state::READ,
        }),
    ]
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
        sample(&FsAttributeInformation {
            attributes: FsAttributeInformation::BLOCK_REFERENCE_COUNTING,
            name_length_max: 255,
            name: b"R\0e\0F\0S\0",
        }),
        sample(&FileRange {
            range: 1 << 16..1 << 40,
        }),
    ]
}

fn referral(target: &str) -> Referral {
    Referral {
        version: 4,
        is_root: false,
        time_to_live_seconds: 1800,
        target: target.into(),
    }
}

fn referral_samples() -> Vec<Sample> {
    vec![
        sample(&ReferralRequest {
            version_max: 4,
            path: r"\nas\共有\film".into(),
        }),
        sample(&ReferralResponse {
            path_consumed: 20,
            referrals: vec![referral(r"\fs1\data"), referral(r"\fs2\data\deep")],
        }),
    ]
}

/// Samba 4.17 about `\\10.94.0.2\dfs\sub\link`, which has two targets; of version 3, though 4 was asked for.
#[test]
fn a_referral_of_samba_is_understood() {
    #[rustfmt::skip]
    const HEAD: &[u8] = &[
        0x2e, 0x00, 0x02, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x58, 0x02, 0x00, 0x00,
        0x44, 0x00, 0x74, 0x00, 0xa4, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x03, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x58, 0x02, 0x00, 0x00, 0xa2, 0x00, 0xd2, 0x00, 0x02, 0x01,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];
    const ASKED: &str = r"\10.94.0.2\dfs\sub\link";
    const TARGETS: [&str; 2] = [r"\10.94.0.1\data", r"\10.94.1.2\data\deep"];
    let mut answer = HEAD.to_vec();
    for target in TARGETS {
        for text in [ASKED, ASKED, target] {
            answer.extend(utf16::encode(text));
            answer.extend([0; 2]);
        }
    }
    let read = ReferralResponse::decode(&answer).expect("it is an answer");
    let entry = |target: &str| Referral {
        version: 3,
        is_root: false,
        time_to_live_seconds: 600,
        target: target.to_owned(),
    };
    assert_eq!(usize::from(read.path_consumed), 2 * ASKED.len());
    assert_eq!(read.referrals, TARGETS.map(entry));
}

#[test]
fn a_referral_is_bounded() {
    let mut answer = Vec::new();
    let few = ReferralResponse {
        path_consumed: 0,
        referrals: vec![referral(r"\fs\data"); 100],
    };
    few.encode(&mut answer);
    assert_eq!(
        ReferralResponse::decode(&answer).map(|read| read.referrals.len()),
        Ok(64)
    );
    let domain = [
        &[0, 0, 1, 0, 3, 0, 0, 0, 3, 0, 18, 0, 0, 0, 2, 0][..],
        &[0; 10],
    ];
    let names = ReferralResponse::decode(&domain.concat()).expect("names of domains");
    assert!(names.referrals.is_empty(), "they are no targets");
    let old = [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 10, 0, 0, 0, 0, 0, 0, 0];
    assert!(
        ReferralResponse::decode(&old).is_err(),
        "version 1 was not asked for"
    );
    let long = ReferralResponse {
        path_consumed: 0,
        referrals: vec![referral(&"a".repeat(5000))],
    };
    answer.clear();
    long.encode(&mut answer);
    assert!(
        ReferralResponse::decode(&answer).is_err(),
        "no path is so long"
    );
}

fn rpc_samples() -> Vec<Sample> {
    let share = |name: &str, kind| ShareRecord {
        name: name.into(),
        kind,
        comment: "what is in it".into(),
    };
    let reply = RpcReply {
        call: 2,
        last: true,
        results: Ok(b"results"),
    };
    let bound = RpcBindReply {
        call: 1,
        accepted: true,
    };
    vec![
        sample(&RpcBind { call: 1 }),
        sample(&bound),
        sample(&RpcBindReply {
            accepted: false,
            ..bound
        }),
        sample(&RpcCall {
            call: 2,
            operation: ShareEnumArguments::OPERATION,
            arguments: b"arguments",
        }),
        sample(&reply),
        sample(&RpcReply {
            last: false,
            ..reply
        }),
        sample(&RpcReply {
            results: Err(0x1C01_0002),
            ..reply
        }),
        sample(&ShareEnumArguments {
            server: "\\\\server".into(),
            resume: 3,
        }),
        sample(&ShareEnumResults {
            shares: vec![
                share("data", 0),
                share("", 1),
                share("IPC$", 3 | ShareRecord::SPECIAL),
            ],
            resume: 4,
            status: ShareEnumResults::MORE_DATA,
        }),
        sample(&FileEnumArguments {
            server: "\\\\server".into(),
            bytes_max: 1 << 20,
        }),
        sample(&FileEnumResults {
            files: vec![
                OpenFileRecord {
                    path: "C:\\data\\a.txt".into(),
                    user: "ann".into(),
                },
                OpenFileRecord {
                    path: String::new(),
                    user: String::new(),
                },
            ],
            status: 0,
        }),
        sample(&ShareInfoArguments {
            server: "\\\\server".into(),
            share: "data".into(),
        }),
        sample(&ShareInfoResults {
            path: "C:\\data".into(),
            status: 0,
        }),
    ]
}

fn posix_samples() -> Vec<Sample> {
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
        "folder entries",
        "basic information",
        "standard information",
        "end-of-file information",
        "disposition information",
        "rename information",
        "file system size",
        "interface list",
        "VALIDATE_NEGOTIATE request",
        "VALIDATE_NEGOTIATE reply",
        "maximal access",
        "disk id",
        "lease context",
        "durable handle request",
        "durable handle grant",
        "durable handle reconnect",
        "resume key",
        "COPYCHUNK request",
        "COPYCHUNK reply",
        "range of a file",
        "extents to duplicate",
        "file system attributes",
        "all information of a file",
        "arguments of NetrShareEnum",
        "arguments of NetrFileEnum",
        "arguments of NetrShareGetInfo",
        "REQ_GET_DFS_REFERRAL",
        "RESP_GET_DFS_REFERRAL",
        "POSIX context of a CREATE request",
        "POSIX context of a CREATE reply",
        "POSIX information of a file",
        "folder entries of Unix",
    ];
    for mut sample in samples()
        .into_iter()
        .filter(|sample| !without.contains(&sample.name))
    {
        sample.bytes[0] ^= 0x40;
        assert!((sample.recode)(&sample.bytes).is_err(), "{}", sample.name);
    }
}

#[test]
fn offsets_before_the_data_are_errors() {
    let mut bytes = Vec::new();
    ReadResponse {
        data_offset: 80,
        data: b"data",
    }
    .encode(&mut bytes);
    bytes[2] = 79;
    assert!(ReadResponse::decode(&bytes).is_err());
    bytes[2] = 0;
    assert!(ReadResponse::decode(&bytes).is_err());
}

#[test]
fn frame_prefixes() {
    assert_eq!(frame_prefix(0x01_0203), [0, 1, 2, 3]);
    assert_eq!(frame_length([0, 1, 2, 3]), Ok(0x01_0203));
    assert!(frame_length([1, 0, 0, 0]).is_err());
}

#[test]
fn text_of_the_peer_never_fails() {
    assert_eq!(utf16::decode(&utf16::encode("häß𝄞")), "häß𝄞");
    assert_eq!(utf16::decode(&[0x00, 0xD8, 0x41, 0x00, 0x42]), "\u{FFFD}A");
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
