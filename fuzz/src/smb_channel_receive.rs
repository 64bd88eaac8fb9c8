//! The receive path of a channel, from a stranger's first byte to replies to READs and WRITEs.
//!
//! An odd first byte: the rest is what the peer says from the start. An even one: the channel is
//! logged in as a guest, has requests of every kind under way, and the rest becomes replies with
//! plausible headers. Whatever is said, nothing panics, every caller hears exactly once when the
//! channel is gone, and every block comes home.

use smb_proto::SessionSettings;
use smb_proto::session::{Dialect, Identity};
use smb_proto::wire::{NegotiateResponse, SessionSetupResponse, capability, session_flags};

use crate::fake_smb_server::{Peer, chosen_reply, pieces};

/// A session without keys, because the server calls us a guest.
fn log_in(peer: &mut Peer) {
    peer.answer(&NegotiateResponse {
        security_mode: 1,
        dialect: 0x0302,
        server_guid: [1; 16],
        capabilities: capability::LARGE_MTU,
        transact_bytes_max: 1 << 20,
        read_bytes_max: 1 << 20,
        write_bytes_max: 1 << 20,
        system_time: 0,
        token: &[],
        contexts: Vec::new(),
    });
    peer.answer(&SessionSetupResponse {
        flags: session_flags::GUEST,
        token: &[],
    });
}

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else {
        return;
    };
    let mut settings = SessionSettings::new("server", [1; 16]);
    settings.identity = Identity::Guest;
    if kind % 2 == 0 {
        settings.dialects = vec![Dialect::Smb302];
    }
    let mut peer = Peer::new(settings, None);
    if kind % 2 == 0 {
        log_in(&mut peer);
        peer.occupy();
        let mut under_way = peer.requests();
        for (choices, body) in pieces(data) {
            let frame = peer.frame(&chosen_reply(choices, &under_way, body));
            peer.feed(&frame);
            under_way.extend(peer.requests());
        }
    } else {
        peer.feed(data);
        peer.drain();
    }
    peer.end();
}
