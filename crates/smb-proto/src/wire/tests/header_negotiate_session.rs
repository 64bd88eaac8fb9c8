//! Headers, NEGOTIATE, SESSION_SETUP and TREE_CONNECT.

use super::{GUID, Sample, sample};
use crate::error::NtStatus;
use crate::wire::{
    Command, Header, LogoffRequest, LogoffResponse, NegotiateContext, NegotiateRequest,
    NegotiateResponse, SessionSetupRequest, SessionSetupResponse, TransformHeader,
    TreeConnectRequest, TreeConnectResponse, TreeDisconnectRequest, TreeDisconnectResponse, flags,
    frame_length, frame_prefix,
};

pub(super) fn samples() -> Vec<Sample> {
    let mut all = header_samples();
    all.extend(negotiate_samples());
    all.extend(session_samples());
    all
}

fn header_samples() -> Vec<Sample> {
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
    vec![sample(&header), sample(&transform)]
}

fn negotiate_samples() -> Vec<Sample> {
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
    vec![
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
    ]
}

fn session_samples() -> Vec<Sample> {
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

#[test]
fn frame_prefixes() {
    assert_eq!(frame_prefix(0x01_0203), [0, 1, 2, 3]);
    assert_eq!(frame_length([0, 1, 2, 3]), Ok(0x01_0203));
    assert!(frame_length([1, 0, 0, 0]).is_err());
}
