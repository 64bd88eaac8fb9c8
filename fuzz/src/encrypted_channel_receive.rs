//! The receive path of a channel on which everything is encrypted.
//!
//! The first byte chooses the cipher. The rest becomes replies with plausible headers: encrypted
//! with the right key, which is what a server that lies can do; or damaged, cut, put into another
//! transform header or sent in plain, which is what anybody on the way can do. Nothing panics,
//! nobody but the server is believed, every caller hears exactly once, and every block comes home.

use smb_proto::sealing::{Sealer, SealingKeys};
use smb_proto::session::{Cipher, Dialect, EncryptionPolicy, SigningAlgorithm};
use smb_proto::signing_and_keys::{self, PreauthHash, Signer};
use smb_proto::wire::{
    Command, Message, NegotiateContext, NegotiateResponse, PREFIX_LENGTH, SessionSetupResponse,
    TransformHeader, capability, flags, frame_prefix,
};
use smb_proto::{NtStatus, SessionSettings};

use crate::fake_smb_server::{Peer, SESSION_ID, chosen_reply, pieces, reply_to};

const EXPORTED: [u8; 32] = [7; 32];
const CIPHERS: [(u16, Cipher); 4] = [
    (1, Cipher::Aes128Ccm),
    (2, Cipher::Aes128Gcm),
    (3, Cipher::Aes256Ccm),
    (4, Cipher::Aes256Gcm),
];

/// Agrees on SMB 3.1.1 and a cipher; from then on everything is encrypted.
fn log_in(peer: &mut Peer, (number, cipher): (u16, Cipher)) {
    let mut preauth = PreauthHash::new();
    let mut body = Vec::new();
    NegotiateResponse {
        security_mode: 1,
        dialect: 0x0311,
        server_guid: [1; 16],
        capabilities: capability::LARGE_MTU,
        transact_bytes_max: 1 << 20,
        read_bytes_max: 1 << 20,
        write_bytes_max: 1 << 20,
        system_time: 0,
        token: &[],
        contexts: vec![
            NegotiateContext::Preauth {
                algorithms: vec![NegotiateContext::SHA_512],
                salt: &[5; 32],
            },
            NegotiateContext::Encryption(vec![number]),
        ],
    }
    .encode(&mut body);
    let request = peer.drain().remove(0);
    let reply = reply_to(Command::NEGOTIATE, 0, NtStatus::SUCCESS, 0, &body);
    preauth.add(&request);
    preauth.add(&reply);
    let frame = peer.frame(&reply);
    peer.feed(&frame);

    preauth.add(&peer.drain().remove(0));
    let mut body = Vec::new();
    SessionSetupResponse {
        flags: 0,
        token: &[],
    }
    .encode(&mut body);
    let command = Command::SESSION_SETUP;
    let mut reply = reply_to(command, 1, NtStatus::SUCCESS, flags::SIGNED, &body);
    let key = signing_and_keys::session_key(&EXPORTED);
    let key = signing_and_keys::signing_key(Dialect::Smb311, &key, &preauth);
    let signer = Signer::new(SigningAlgorithm::AesCmac, &key).unwrap();
    signer.sign(&mut reply).unwrap();
    let frame = peer.frame(&reply);
    peer.feed(&frame);
    let keys = SealingKeys::server(Dialect::Smb311, cipher, &EXPORTED, &preauth).unwrap();
    peer.sealer = Some(Sealer::new(keys.clone(), SESSION_ID, 0));
    peer.keys = Some(keys);
}

/// What becomes of a reply on its way.
fn on_the_way(peer: &mut Peer, how: u8, place: u8, reply: &[u8]) -> Vec<u8> {
    let mut frame = peer.frame(reply);
    let place = usize::from(place);
    match how % 8 {
        // Anything in the transform header, or the begin of the message.
        1 => {
            let at = PREFIX_LENGTH + place % (frame.len() - PREFIX_LENGTH);
            frame[at] ^= how | 1;
        }
        // Shorter or longer than the transform header says.
        2 => {
            let cut = frame.len() - place.min(frame.len() - PREFIX_LENGTH);
            frame.truncate(cut);
            frame[..PREFIX_LENGTH].copy_from_slice(&frame_prefix(cut - PREFIX_LENGTH));
        }
        3 => {
            frame.extend(std::iter::repeat_n(how, place));
            let length = frame.len() - PREFIX_LENGTH;
            frame[..PREFIX_LENGTH].copy_from_slice(&frame_prefix(length));
        }
        // Without encryption.
        4 => frame = [&frame_prefix(reply.len())[..], reply].concat(),
        // Encrypted twice.
        5 => frame = peer.frame(&frame[PREFIX_LENGTH..]),
        // Encrypted, and no message at all.
        6 => frame = peer.frame(&reply[..place.min(reply.len())]),
        // A transform header that states any length.
        7 => {
            let at = PREFIX_LENGTH + TransformHeader::LENGTH - 16;
            frame[at..at + 2].copy_from_slice(&[how, u8::try_from(place).unwrap_or(255)]);
        }
        _ => {}
    }
    frame
}

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let Some((cipher, data)) = data.split_first() else {
        return;
    };
    let cipher = CIPHERS[usize::from(*cipher) % CIPHERS.len()];
    let mut settings = SessionSettings::new("server", [1; 16]);
    settings.dialects = vec![Dialect::Smb311];
    settings.encryption = EncryptionPolicy::Required;
    let mut peer = Peer::new(settings, Some(EXPORTED.to_vec()));
    log_in(&mut peer, cipher);
    peer.occupy();
    let mut under_way = peer.requests();
    for ([how, place, choices @ ..], body) in pieces::<6>(data) {
        let reply = chosen_reply(choices, &under_way, body);
        let frame = on_the_way(&mut peer, how, place, &reply);
        peer.feed(&frame);
        under_way.extend(peer.requests());
    }
    peer.end();
}
