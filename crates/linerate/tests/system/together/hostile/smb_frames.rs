//! Requests and replies of SMB 3.1.1 on a connection, and how a server lets anybody in.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use smb_proto::NtStatus;
use smb_proto::wire::{
    ErrorResponse, HEADER_LENGTH, Header, Message, NegotiateContext, NegotiateResponse,
    PREFIX_LENGTH, SessionSetupResponse, capability, dialect, flags, frame_length, frame_prefix,
    security_mode, session_flags,
};

/// A time in 2020.
pub(super) const MADE_AT: u64 = 132_500_000_000_000_000;

/// Takes the next frame, which is one request or several that belong together.
pub(super) fn read_frame(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut prefix = [0; PREFIX_LENGTH];
    stream.read_exact(&mut prefix)?;
    let length = frame_length(prefix).map_err(|_malformed| io::ErrorKind::InvalidData)?;
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}

/// The requests of a frame, each with what stands behind its header.
pub(super) fn requests(frame: &[u8]) -> io::Result<Vec<(Header, &[u8])>> {
    let mut requests = Vec::new();
    let mut rest = frame;
    while !rest.is_empty() {
        let header = Header::decode(rest).map_err(|_malformed| io::ErrorKind::InvalidData)?;
        let length = match header.next_command as usize {
            0 => rest.len(),
            distance => distance,
        };
        requests.push((header, &rest[HEADER_LENGTH..length]));
        rest = &rest[length..];
    }
    Ok(requests)
}

/// Answers a request, in a frame of its own.
pub(super) fn reply(
    stream: &mut TcpStream,
    request: &Header,
    status: NtStatus,
    body: &[u8],
) -> io::Result<()> {
    let header = Header {
        status,
        flags: request.flags | flags::RESPONSE,
        next_command: 0,
        ..*request
    };
    let mut frame = frame_prefix(HEADER_LENGTH + body.len()).to_vec();
    frame.extend_from_slice(&header.to_bytes());
    frame.extend_from_slice(body);
    stream.write_all(&frame)
}

/// What stands behind the header of a reply that says no.
pub(super) fn refusal() -> Vec<u8> {
    encoded(&ErrorResponse {
        contexts: 0,
        data: &[],
    })
}

pub(super) fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

pub(super) fn negotiated() -> NegotiateResponse<'static> {
    NegotiateResponse {
        security_mode: security_mode::SIGNING_ENABLED,
        dialect: dialect::SMB_3_1_1,
        server_guid: *b"lets anybody in.",
        capabilities: capability::LARGE_MTU,
        transact_bytes_max: 8 << 20,
        read_bytes_max: 8 << 20,
        write_bytes_max: 8 << 20,
        system_time: MADE_AT,
        token: &[],
        contexts: vec![NegotiateContext::Preauth {
            algorithms: vec![NegotiateContext::SHA_512],
            salt: &[0; 32],
        }],
    }
}

pub(super) fn let_in() -> SessionSetupResponse<'static> {
    SessionSetupResponse {
        flags: session_flags::NULL,
        token: &[],
    }
}
