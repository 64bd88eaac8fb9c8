//! Bytes of any kind never make a decoder or a channel panic.

use std::task::Waker;

use proptest::prelude::*;
use smb_proto::wire::{CODECS, frame_prefix};
use smb_proto::{
    Authenticator, BlockPool, Channel, ChannelSettings, Session, SessionKey, SessionSettings, Step,
    Time,
};

/// Says something for as long as it is asked.
struct Talkative;

impl Authenticator for Talkative {
    fn step(&mut self, _: &[u8]) -> Result<Step, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Step {
            token: b"token".to_vec(),
            session_key: Some(SessionKey::new(vec![1; 16])),
        })
    }
}

/// Bytes with many small numbers, which pass more checks than random ones.
fn bytes(length: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => Just(0_u8), 2 => 0_u8..130, 1 => any::<u8>()];
    proptest::collection::vec(byte, 0..length)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What decodes, encodes to something that decodes to the same.
    #[test]
    fn decoders_take_anything(number in 0..CODECS.len(), size in any::<Option<u8>>(), mut bytes in bytes(300)) {
        // the right StructureSize gets further
        if let (Some(size), true) = (size, bytes.len() > 1) {
            bytes[0] = size;
            bytes[1] = 0;
        }
        let codec = CODECS[number];
        if let Ok(encoded) = (codec.recode)(&bytes) {
            let again = (codec.recode)(&encoded);
            prop_assert_eq!(again, Ok(encoded), "{}", codec.name);
        }
    }

    #[test]
    fn channels_take_anything(frames in proptest::collection::vec(bytes(200), 1..5), framed: bool) {
        let session = Session::new(SessionSettings::new("server", [1; 16]), BlockPool::new(1, 4096));
        let session = session.expect("good settings");
        let settings = ChannelSettings::new(Waker::noop().clone(), Box::new(Talkative), [3; 32]);
        let now = Time::from_nanos(0);
        let mut channel = Channel::new(&session, settings, now).expect("the first may join");
        for frame in frames {
            let mut stream = if framed { frame_prefix(frame.len() + 64).to_vec() } else { Vec::new() };
            if framed {
                let command = smb_proto::wire::Command::NEGOTIATE;
                let mut header = smb_proto::wire::Header::request(command, 0);
                header.flags = smb_proto::wire::flags::RESPONSE;
                stream.extend(header.to_bytes());
            }
            stream.extend(frame);
            let mut rest = &stream[..];
            while !rest.is_empty() && channel.next_event().is_none() {
                let buffer = channel.receive_buffer();
                let count = buffer.len().min(rest.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                channel.received(count, now);
                rest = &rest[count..];
            }
        }
    }
}
