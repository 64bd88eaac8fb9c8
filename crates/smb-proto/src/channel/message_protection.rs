//! The keys of a channel: how what it sends is protected, and what is demanded of replies.

use locale::say;

use super::send_queue::Protection;
use crate::error::{Error, NtStatus, Operation, Result};
use crate::sealing::{Sealer, SealingKeys};
use crate::session::{ChannelNumber, Login, TreeId};
use crate::signing_and_keys::Signer;
use crate::wire::{Command, HEADER_LENGTH, Header, Message as _, TransformHeader, flags};

/// What a server says that has lost the session, and with it the keys.
pub(super) const LOST_SESSION: [NtStatus; 2] = [
    NtStatus::USER_SESSION_DELETED,
    NtStatus::NETWORK_SESSION_EXPIRED,
];

/// How a message to be sent is protected.
#[derive(Clone)]
pub(super) enum Guard {
    Plain,
    Signed(Signer),
    Sealed,
}

/// None at all before the login, in which other keys and rules hold.
#[derive(Default)]
pub(super) struct Keys {
    /// Channel.SigningKey; none for guests.
    signer: Option<Signer>,
    /// Sign everything, READs and WRITEs perhaps excepted.
    signing: bool,
    /// Sign READs and WRITEs.
    data_signing: bool,
    /// None where no cipher was agreed, and for guests.
    sealer: Option<Sealer>,
    /// For what the server encrypts; there is one whenever there is a sealer, and before that while a channel joins.
    sealing: Option<SealingKeys>,
    /// Encrypt everything.
    encrypting: bool,
}

impl Keys {
    /// Those of a channel that has logged in.
    pub(super) fn new(login: &Login, signer: Option<Signer>, channel: ChannelNumber) -> Self {
        let sealer = |keys| Sealer::new(keys, login.session_id, channel.0);
        Self {
            signer,
            signing: login.negotiated.signing,
            data_signing: login.negotiated.data_signing,
            sealer: login.sealing.clone().map(sealer),
            sealing: login.sealing.clone(),
            encrypting: login.negotiated.encryption,
        }
    }

    /// Those of a channel that is about to join a session: what is encrypted there is so by the session's keys, which all
    /// its channels share (MS-SMB2 3.2.5.1.1). Samba refuses so to let a channel join a session that it requires to be
    /// encrypted.
    pub(super) fn of_binding(login: &Login) -> Self {
        Self {
            sealing: login.sealing.clone(),
            ..Self::default()
        }
    }

    /// Whether anything can be signed.
    pub(super) fn can_sign(&self) -> bool {
        self.signer.is_some()
    }

    /// Whether the server may encrypt.
    pub(super) fn can_open(&self) -> bool {
        self.sealing.is_some()
    }

    /// Whether the content of files is sent as it is.
    pub(super) fn leave_data(&self) -> bool {
        !self.encrypting && !self.data_signing
    }

    /// How to protect a request about a share that is no READ or WRITE.
    pub(super) fn guard(&self, tree_id: TreeId) -> Guard {
        self.encrypt_or_sign(tree_id, self.signing)
    }

    /// How to protect a READ or WRITE.
    pub(super) fn data_guard(&self, tree_id: TreeId) -> Guard {
        self.encrypt_or_sign(tree_id, self.data_signing)
    }

    /// How to protect a request that shows whether somebody has tampered with the login.
    pub(super) fn best_guard(&self, tree_id: TreeId) -> Guard {
        self.encrypt_or_sign(tree_id, true)
    }

    /// Encrypted where it must be, else signed if `sign`.
    fn encrypt_or_sign(&self, tree_id: TreeId, sign: bool) -> Guard {
        let seal = self.encrypting || tree_id.encrypted;
        match &self.signer {
            _ if seal && self.sealer.is_some() => Guard::Sealed,
            Some(signer) if sign => Guard::Signed(signer.clone()),
            _ => Guard::Plain,
        }
    }

    /// What protects a message so.
    pub(super) fn protection<'a>(&'a mut self, guard: &'a Guard) -> Protection<'a> {
        match (guard, &mut self.sealer) {
            (Guard::Sealed, Some(sealer)) => Protection::Sealed(sealer),
            (Guard::Signed(signer), _) => Protection::Signed(signer),
            (Guard::Plain | Guard::Sealed, _) => Protection::Plain,
        }
    }

    pub(super) fn sealer(&mut self) -> Option<&mut Sealer> {
        self.sealer.as_mut()
    }

    /// Decrypts a message in place.
    pub(super) fn unseal(&self, transform: &TransformHeader, message: &mut [u8]) -> Result<Header> {
        let opened = self
            .sealing
            .as_ref()
            .is_some_and(|keys| keys.open(transform, message));
        if !opened {
            return Err(Error::Misbehaving(say("misbehaving.undecryptable")));
        }
        Ok(Header::decode(message)?)
    }

    /// Demands encryption of a reply that is plain, where the request was encrypted or everything is. Linux's own
    /// server knows no session for an ECHO, and so no key; its answer says nothing but that somebody is there.
    pub(super) fn check_plain(&self, header: &Header, request_sealed: bool) -> Result<()> {
        match (self.encrypting || request_sealed) && header.command != Command::ECHO {
            true => Err(unprotected(header, "misbehaving.not-encrypted")),
            false => Ok(()),
        }
    }

    /// Verifies every signature there is, and demands one where the request was signed. `before` is what stands
    /// before the message: the reply before it in its chain, or the length of its frame.
    pub(super) fn check_signature(
        &self,
        header: &Header,
        before: &[u8],
        message: &mut [u8],
        request_signed: bool,
    ) -> Result<Signed> {
        let Some(signer) = &self.signer else {
            return Ok(Signed::Whole);
        };
        match header.has(flags::SIGNED) {
            true if signer.verify(message)? => Ok(Signed::Whole),
            true if header.next_command != 0 && verifies_unpadded(signer, message)? => {
                Ok(Signed::Unpadded)
            }
            true if verifies_behind(signer, header, before, message)? => Ok(Signed::Whole),
            true if verifies_begin(signer, header, message)? => Ok(Signed::Whole),
            true => Err(unprotected(header, "misbehaving.wrong-signature")),
            false if request_signed && header.command != Command::ECHO => {
                Err(unprotected(header, "misbehaving.not-signed"))
            }
            false => Ok(Signed::Whole),
        }
    }
}

/// What a signature that is right was made over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    Whole,
    /// Not the zeros between it and the next reply of its chain, which belong to it (3.1.4.1).
    Unpadded,
}

/// Whether a reply of a chain was signed as if it were alone: without the padding to the next one.
fn verifies_unpadded(signer: &Signer, message: &mut [u8]) -> Result<bool> {
    /// Replies begin at multiples of eight bytes.
    const PADDING_MAX: usize = 7;
    let zeros = message.iter().rev().take_while(|byte| **byte == 0).count();
    for padding in 1..=zeros.min(PADDING_MAX) {
        let end = message.len() - padding;
        if end > HEADER_LENGTH && signer.verify(&mut message[..end])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a READ's refusal was signed together with what stands before it, as Linux's own server does it, which
/// takes that for the refusal and the refusal for the data. The signature proves the message all the same.
fn verifies_behind(
    signer: &Signer,
    header: &Header,
    before: &[u8],
    message: &[u8],
) -> Result<bool> {
    if header.command != Command::READ || header.status == NtStatus::SUCCESS {
        return Ok(false);
    }
    signer.verify_behind(before, message)
}

/// Whether the refusal that a reply to TREE_CONNECT begins with is signed as if nothing stood behind it. Linux's own
/// server leaves the rest of a success there, which nobody reads.
fn verifies_begin(signer: &Signer, header: &Header, message: &mut [u8]) -> Result<bool> {
    /// A refusal without data, behind its header.
    const BODY: [u8; 9] = [9, 0, 0, 0, 0, 0, 0, 0, 0];
    let end = HEADER_LENGTH + BODY.len();
    if header.command != Command::TREE_CONNECT || header.status == NtStatus::SUCCESS {
        return Ok(false);
    }
    match message.get(HEADER_LENGTH..end) {
        Some(body) if body == BODY => signer.verify(&mut message[..end]),
        _ => Ok(false),
    }
}

/// A reply is not protected as it has to be; `id` is that of the sentence about it.
fn unprotected(header: &Header, id: &'static str) -> Error {
    // a server that has lost the session has no key either; believing it only ends the channel
    match LOST_SESSION.contains(&header.status) {
        true => Error::refused(Operation::Request(header.command), header.status),
        false => Error::Misbehaving(say(id).with("command", header.command.name())),
    }
}
