//! Recorded truth: Microsoft's published handshake, and conversations with a real Samba.
//!
//! Each data file says where it comes from.

use smb_proto::sealing::SealingKeys;
use smb_proto::session::{Cipher, Dialect, SigningAlgorithm};
use smb_proto::signing_and_keys::{self, PreauthHash, Signer};
use smb_proto::wire::{CODECS, Command, Header, Message as _, TransformHeader, flags};
use smb_proto::{NtStatus, wire};

const MICROSOFT: &str = include_str!("../data/microsoft-3.1.1-preauth.txt");
const MICROSOFT_SEALED: [&str; 3] = [
    include_str!("../data/microsoft-3.0-aes128ccm.txt"),
    include_str!("../data/microsoft-3.1.1-aes128gcm.txt"),
    include_str!("../data/microsoft-3.1.1-aes128ccm.txt"),
];
const SAMBA: [&str; 4] = [
    include_str!("../data/samba-3.1.1-aesgmac.txt"),
    include_str!("../data/samba-3.1.1-aescmac.txt"),
    include_str!("../data/samba-3.1.1-hmacsha256.txt"),
    include_str!("../data/samba-3.0.2-aescmac.txt"),
];

fn lines(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = file
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').expect("a name and a value"))
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn value(file: &'static str, name: &str) -> &'static str {
    lines(file)
        .find(|line| line.0 == name)
        .expect("it is in the file")
        .1
}

fn key_from(preauth: &PreauthHash, session_key: &str) -> Vec<u8> {
    let key = signing_and_keys::session_key(&hex(session_key));
    signing_and_keys::signing_key(Dialect::Smb311, &key, preauth).to_vec()
}

#[test]
fn the_handshake_that_microsoft_published() {
    let mut preauth = PreauthHash::new();
    let mut messages = 0;
    for (name, text) in lines(MICROSOFT) {
        match name {
            "message" => {
                preauth.add(&hex(text));
                messages += 1;
            }
            "hash" => assert_eq!(preauth.bytes(), hex(text), "after message {messages}"),
            _ => {}
        }
    }
    assert_eq!(messages, 5);
    let key = key_from(&preauth, value(MICROSOFT, "session_key"));
    assert_eq!(key, hex(value(MICROSOFT, "signing_key")));
}

#[test]
fn the_encrypted_messages_that_microsoft_published() {
    for file in MICROSOFT_SEALED {
        let dialect = match value(file, "dialect") {
            "3.0" => Dialect::Smb300,
            "3.1.1" => Dialect::Smb311,
            other => panic!("{other}"),
        };
        let cipher = match value(file, "cipher") {
            "Aes128Gcm" => Cipher::Aes128Gcm,
            "Aes128Ccm" => Cipher::Aes128Ccm,
            other => panic!("{other}"),
        };
        // before 3.1.1 there is none
        let published = lines(file).find(|line| line.0 == "preauth");
        let preauth = published.map_or(vec![0; 64], |line| hex(line.1));
        let preauth = PreauthHash::from_bytes(preauth.try_into().expect("64 bytes"));
        let exported = hex(value(file, "session_key"));
        let signing_key = signing_and_keys::signing_key(
            dialect,
            &signing_and_keys::session_key(&exported),
            &preauth,
        );
        assert_eq!(signing_key.to_vec(), hex(value(file, "signing_key")));
        let keys = signing_and_keys::cipher_keys(dialect, cipher, &exported, &preauth);
        let published = ["to_server_key", "to_client_key"].map(|name| hex(value(file, name)));
        assert_eq!(keys.map(|key| key.to_vec()), published, "{cipher:?}");

        let client = SealingKeys::client(dialect, cipher, &exported, &preauth).expect("keys");
        let server = SealingKeys::server(dialect, cipher, &exported, &preauth).expect("keys");
        let (mut plain, mut opened) = (Vec::new(), 0);
        for (name, text) in lines(file) {
            let receiver = match name {
                "client_plain" | "server_plain" => {
                    plain = hex(text);
                    continue;
                }
                "client_sealed" => &server,
                "server_sealed" => &client,
                _ => continue,
            };
            let sealed = hex(text);
            let (head, message) = sealed.split_at(TransformHeader::LENGTH);
            let header = TransformHeader::decode(head).expect("a header");
            assert_eq!(header.to_bytes(), head, "it comes out as it went in");
            let mut message = message.to_vec();
            assert!(receiver.open(&header, &mut message), "{cipher:?} {name}");
            assert_eq!(message, plain, "{cipher:?} {name}");
            opened += 1;
        }
        assert!(opened >= 3, "{cipher:?}");
    }
}

struct Recording {
    dialect: Dialect,
    algorithm: SigningAlgorithm,
    messages: Vec<Vec<u8>>,
}

fn recording(file: &'static str) -> Recording {
    let dialect = match value(file, "dialect") {
        "3.1.1" => Dialect::Smb311,
        "3.0.2" => Dialect::Smb302,
        other => panic!("{other}"),
    };
    let algorithm = match value(file, "algorithm") {
        "AesGmac" => SigningAlgorithm::AesGmac,
        "AesCmac" => SigningAlgorithm::AesCmac,
        "HmacSha256" => SigningAlgorithm::HmacSha256,
        other => panic!("{other}"),
    };
    let messages = lines(file).filter(|(name, _)| matches!(*name, "client" | "server"));
    Recording {
        dialect,
        algorithm,
        messages: messages.map(|(_, text)| hex(text)).collect(),
    }
}

#[test]
fn samba_signs_as_we_do() {
    for file in SAMBA {
        let Recording {
            dialect,
            algorithm,
            mut messages,
        } = recording(file);
        let mut preauth = PreauthHash::new();
        for message in &messages {
            let header = Header::decode(message).expect("a header");
            let handshake = matches!(header.command, Command::NEGOTIATE | Command::SESSION_SETUP);
            let last_word = header.has(flags::RESPONSE)
                && header.command == Command::SESSION_SETUP
                && header.status == NtStatus::SUCCESS;
            if handshake && !last_word {
                preauth.add(message);
            }
        }
        let session_key = signing_and_keys::session_key(&hex(value(file, "session_key")));
        let key = signing_and_keys::signing_key(dialect, &session_key, &preauth);
        assert_eq!(
            key.to_vec(),
            hex(value(file, "signing_key")),
            "{dialect:?} {algorithm:?}"
        );

        let signer = Signer::new(algorithm, &key).expect("a signer");
        let (mut from_client, mut from_server) = (0, 0);
        for message in &mut messages {
            let header = Header::decode(message).expect("a header");
            if !header.has(flags::SIGNED) {
                continue;
            }
            assert!(signer.verify(message).expect("verifies"), "{header:?}");
            let signed = message.clone();
            signer.sign(message).expect("signs");
            assert_eq!(*message, signed, "our signature is theirs");
            let count = if header.has(flags::RESPONSE) {
                &mut from_server
            } else {
                &mut from_client
            };
            *count += 1;
        }
        assert!(
            from_client >= 8 && from_server >= 8,
            "{from_client} and {from_server} signed"
        );
    }
}

/// Decodes the body of a recorded message and encodes it again.
fn recode(header: &Header, body: &[u8]) -> Vec<u8> {
    let reply = header.has(flags::RESPONSE);
    let refused = reply
        && !matches!(
            header.status,
            NtStatus::SUCCESS | NtStatus::MORE_PROCESSING_REQUIRED
        );
    let name = match (refused, reply) {
        (true, _) => "ERROR Response".to_owned(),
        (_, true) => format!("{} Response", header.command.name()),
        (_, false) => format!("{} Request", header.command.name()),
    };
    let codec = CODECS
        .iter()
        .find(|codec| codec.name == name)
        .expect("we know it");
    let first = (codec.recode)(body).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((codec.recode)(&first).as_ref(), Ok(&first), "{name}");
    first
}

#[test]
fn every_message_of_a_conversation_is_understood() {
    let mut seen = std::collections::BTreeSet::new();
    for file in SAMBA {
        for message in recording(file).messages {
            let mut rest = &message[..];
            loop {
                let header = Header::decode(rest).expect("a header");
                let next = usize::try_from(header.next_command).expect("small");
                let end = if next == 0 { rest.len() } else { next };
                let again = recode(&header, &rest[64..end]);
                seen.insert((header.command.name(), header.has(flags::RESPONSE)));
                // what has no freedom in its layout, comes out as it went in
                if matches!(
                    header.command,
                    Command::READ | Command::CLOSE | Command::TREE_CONNECT
                ) && header.status == NtStatus::SUCCESS
                    && header.has(flags::RESPONSE)
                {
                    assert_eq!(again[..], rest[64..end], "{}", header.command.name());
                }
                if next == 0 {
                    break;
                }
                rest = &rest[next..];
            }
        }
    }
    for command in [
        "NEGOTIATE",
        "SESSION_SETUP",
        "TREE_CONNECT",
        "CREATE",
        "READ",
        "WRITE",
        "CLOSE",
        "QUERY_DIRECTORY",
        "QUERY_INFO",
        "IOCTL",
    ] {
        assert!(
            seen.contains(&(command, true)) && seen.contains(&(command, false)),
            "{command}"
        );
    }
}

#[test]
fn what_samba_said_reads_right() {
    let messages = recording(SAMBA[0]).messages;
    let find = |command| {
        let is = |message: &&Vec<u8>| {
            let header = Header::decode(message).expect("a header");
            header.command == command && header.has(flags::RESPONSE)
        };
        &messages.iter().find(is).expect("it is recorded")[64..]
    };
    let negotiated = wire::NegotiateResponse::decode(find(Command::NEGOTIATE)).expect("sound");
    assert_eq!(
        (negotiated.dialect, negotiated.read_bytes_max),
        (0x0311, 8 << 20)
    );
    let signing = wire::NegotiateContext::Signing(vec![2]);
    assert!(
        negotiated.contexts.contains(&signing),
        "{:?}",
        negotiated.contexts
    );
    let read = wire::ReadResponse::decode(find(Command::READ)).expect("sound");
    assert_eq!((read.data_offset, read.data.len()), (80, 200));
}
