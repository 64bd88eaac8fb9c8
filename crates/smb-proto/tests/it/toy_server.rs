//! A toy server that is strict with its client and, if told so, a liar. The model of `smb` has it, too.

use std::collections::BTreeSet;

use smb_proto::NtStatus;
use smb_proto::sealing::{Sealer, SealingKeys};
use smb_proto::session::{Cipher, Dialect, FileTimes, Posix, SigningAlgorithm};
use smb_proto::signing_and_keys::{self, PreauthHash, Signer};
use smb_proto::wire::{
    self, Command, CopyChunks, CopyChunksDone, CreateResponse, DirectoryRecord, DirectoryRecords,
    DiskId, DurableGrant, DurableReconnect, DurableRequest, ErrorResponse, FileId,
    FsFullSizeInformation, HEADER_LENGTH, Header, InterfaceRecord, IoctlRequest, IoctlResponse,
    LeaseBreakAcknowledgement, LeaseContext, Message, NegotiateContext, NegotiateRequest,
    NegotiateResponse, NetworkInterfaces, POSIX_EXTENSIONS_AVAILABLE, POSIX_TAG,
    PosixCreateRequest, PosixCreateResponse, ReadRequest, ReadResponse, SessionSetupRequest,
    SessionSetupResponse, SetInfoRequest, StandardInformation, TransformHeader,
    TreeConnectResponse, ValidateNegotiateRequest, ValidateNegotiateResponse, WriteRequest,
    WriteResponse, capability, context, control, flags, frame_prefix, security_mode, utf16,
};

use super::seeded_random::Random;

pub(crate) const FILE: FileId = FileId {
    persistent: 3,
    volatile: 4,
};
pub(crate) const SESSION_ID: u64 = 0x1000_0000_0000_0007;
pub(crate) const TREE_ID: u32 = 9;
const MIB: u32 = 1 << 20;

/// What the server does to its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    ReadLonger,
    ReadEmpty,
    ReadOffsetBeyond,
    FrameTooLong,
    FrameTooShort,
    FrameNotSmb,
    FrameEncrypted,
    FrameRequest,
    SignatureWrong,
    SignatureMissing,
    AnswerRepeated,
    MessageIdUnknown,
    CommandOther,
    Chained,
    PendingWithoutId,
    WriteCountTooLarge,
    WriteCountZero,
    /// What a sealed READ is answered with: in plain, with a bit changed, for another session,
    /// sealed twice, and with another length in its transform header.
    SealedNot,
    SealedWrong,
    SealedForAnother,
    SealNested,
    SealedLonger,
    /// What stands behind the first reply of a chain: not at a multiple of eight, nowhere, where
    /// the first one is, not whole, with a wrong signature, the first one again, for a request that
    /// was not made, about something else.
    LinkUnaligned,
    LinkBeyond,
    LinkAtOnce,
    LinkCutOff,
    LinkSignatureWrong,
    LinkRepeated,
    LinkUnknown,
    LinkOther,
    /// The first reply of a chain, alone, for a session that is gone, with the distance to a next one.
    LinkOfNoSession,
    Silence,
    Disconnect,
}

/// What the server insists on having encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encrypts {
    Nothing,
    Share,
    Session,
}

#[derive(Debug, Clone)]
pub(crate) struct Behaviour {
    pub(crate) dialect: Dialect,
    pub(crate) algorithm: Option<SigningAlgorithm>,
    pub(crate) signing_required: bool,
    pub(crate) guest: bool,
    /// What it encrypts with, if its client can.
    pub(crate) cipher: Option<Cipher>,
    /// Its share, or all of it, must be encrypted.
    pub(crate) encrypts: Encrypts,
    pub(crate) multichannel: bool,
    pub(crate) large_mtu: bool,
    pub(crate) short: bool,
    pub(crate) interims: bool,
    pub(crate) breaks: bool,
    /// Replies after an interim take so long; zero: some milliseconds.
    pub(crate) slow_seconds: u64,
    /// Signs of life that are asked for are only put off.
    pub(crate) puts_off_echoes: bool,
    /// Where READs put their data, at random from 80 up.
    pub(crate) gaps: bool,
    /// Any failure in a chain, and not only that of its CREATE, is that of all that follows.
    pub(crate) chains_end: bool,
    /// Most credits a connection ever has.
    pub(crate) credits_max: u32,
    pub(crate) login_status: Option<NtStatus>,
    pub(crate) bind_status: Option<NtStatus>,
    /// Of the second and further connections.
    pub(crate) bind_guid: [u8; 16],
    pub(crate) validate_status: NtStatus,
    pub(crate) validate_tampered: bool,
    pub(crate) preauth_hash: u16,
    pub(crate) last_word_unsigned: bool,
    pub(crate) transfer_status: Option<NtStatus>,
    /// Replays are put off at random, as while older copies of them are not done.
    pub(crate) not_ready: bool,
    pub(crate) lie: Option<(Lie, usize)>,
    pub(crate) size_max: u32,
    /// It keeps handles when connections are lost.
    pub(crate) durable: bool,
    /// It notices late that a connection was lost: so many times it does not give back the handle that it keeps, which
    /// no open by path goes beside.
    pub(crate) notices_late: Option<usize>,
    /// It gives no handle back, and has it in the way of whoever logs in next for as long as that lasts.
    pub(crate) withholds: bool,
    /// It is in the way of those alone who do not share the file.
    pub(crate) shares_withheld: bool,
    /// What a file that is opened again is refused with.
    pub(crate) reopen_status: Option<NtStatus>,
    /// Whoever logs in again finds the session expired at once.
    pub(crate) expires_always: bool,
    /// It signs each reply of a chain before it adds the padding to the next one, as go-smb2 does.
    pub(crate) chains_unpadded: bool,
    /// The signature of a READ that it refuses is made over what stands before it as well.
    pub(crate) refusals_behind: bool,
    /// A refusal of a share has something behind it that is not signed.
    pub(crate) refusals_trail: bool,
    /// An ECHO is answered without a signature.
    pub(crate) echoes_plain: bool,
    /// What it says of its file system and interfaces is cut off.
    pub(crate) facts_cut_off: bool,
    /// On so many of its connections it says that it has the POSIX extensions, also to who did not ask.
    pub(crate) posix_connections: usize,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            dialect: Dialect::Smb311,
            algorithm: Some(SigningAlgorithm::AesGmac),
            signing_required: false,
            guest: false,
            cipher: Some(Cipher::Aes128Gcm),
            encrypts: Encrypts::Nothing,
            multichannel: true,
            large_mtu: true,
            short: false,
            interims: false,
            breaks: false,
            slow_seconds: 0,
            puts_off_echoes: false,
            gaps: false,
            chains_end: false,
            credits_max: 8192,
            login_status: None,
            bind_status: None,
            bind_guid: [1; 16],
            validate_status: NtStatus::SUCCESS,
            validate_tampered: false,
            preauth_hash: 1,
            last_word_unsigned: false,
            transfer_status: None,
            not_ready: false,
            lie: None,
            size_max: 8 * MIB,
            durable: false,
            notices_late: None,
            withholds: false,
            shares_withheld: false,
            reopen_status: None,
            expires_always: false,
            chains_unpadded: false,
            refusals_behind: false,
            refusals_trail: false,
            echoes_plain: false,
            facts_cut_off: false,
            posix_connections: 0,
        }
    }
}

struct Connection {
    received: Vec<u8>,
    preauth: PreauthHash,
    rounds: u32,
    binding: bool,
    signer: Option<Signer>,
    offer: Option<(u32, [u8; 16], u16, Vec<u16>)>,
    next_message_id: u64,
    credits: u32,
    requests: usize,
    silent: bool,
    /// Nanoseconds by which it answers later than others.
    late: u64,
    /// It logs in again in a session that has expired.
    renewing: bool,
}

/// A reply on its way: how long the server takes over it, and its frame; none: it hangs up.
pub(crate) type Sent = (u64, Option<Vec<u8>>);

pub(crate) struct Server {
    pub(crate) behaviour: Behaviour,
    pub(crate) content: Vec<u8>,
    /// What of it is on storage.
    pub(crate) stored: Vec<u8>,
    connections: Vec<Connection>,
    session_signer: Option<Signer>,
    keys: Option<SealingKeys>,
    sealer: Option<Sealer>,
    nonces: BTreeSet<[u8; 16]>,
    pub(crate) sealed_data: usize,
    pub(crate) reads: Vec<usize>,
    pub(crate) writes: Vec<usize>,
    pub(crate) echoes: usize,
    pub(crate) signed_data: usize,
    pub(crate) validations: usize,
    pub(crate) sequences: Vec<u16>,
    /// Open.ChannelSequence of the one file there is.
    sequence: u16,
    /// WRITEs that were done, by offset; those that come again must say so.
    pub(crate) done_writes: BTreeSet<u64>,
    /// How often its client has logged in anew.
    pub(crate) logins: u64,
    /// The handle of the one file there is, in the present session.
    handle: Option<FileId>,
    /// By which a handle may be taken up again: CreateGuid and lease key.
    kept: Option<([u8; 16], [u8; 16])>,
    pub(crate) taken_up: usize,
    /// Nothing is done until somebody logs in again.
    pub(crate) expired: bool,
    pub(crate) renewals: usize,
    /// So many requests with this command are refused so before one is done.
    pub(crate) not_yet: Option<(Command, NtStatus, usize)>,
    pub(crate) reopened: usize,
    /// The number of the file in its file system.
    pub(crate) file_number: u64,
    pub(crate) file_times: FileTimes,
    /// Leases given back: key and what is left.
    pub(crate) breaks_acknowledged: Vec<([u8; 16], u32)>,
    pub(crate) replays: usize,
    pub(crate) put_off: usize,
    /// How many handles there are.
    pub(crate) opens: usize,
    pub(crate) chains: usize,
    /// A request may be about the file of the one before.
    chained: bool,
    lies: usize,
}

fn key_of(token: &[u8]) -> Vec<u8> {
    token.iter().map(|byte| byte ^ 0x55).chain([9; 8]).collect()
}

/// The client's half: two rounds, and a key that both sides compute from the second token.
pub(crate) struct FakeLogin {
    pub(crate) nonce: [u8; 16],
    pub(crate) round: u32,
    pub(crate) fails: bool,
}

impl smb_proto::Authenticator for FakeLogin {
    fn step(
        &mut self,
        server_token: &[u8],
    ) -> Result<smb_proto::Step, Box<dyn std::error::Error + Send + Sync>> {
        self.round += 1;
        let expected: &[u8] =
            [b"mechanisms".as_slice(), b"challenge", b"welcome"][usize::try_from(self.round)? - 1];
        assert_eq!(server_token, expected);
        Ok(match self.round {
            1 => smb_proto::Step {
                token: b"hello".to_vec(),
                session_key: None,
            },
            2 if self.fails => return Err("the clock is wrong".into()),
            2 => smb_proto::Step {
                token: self.nonce.to_vec(),
                session_key: Some(smb_proto::SessionKey::new(key_of(&self.nonce))),
            },
            _ => smb_proto::Step::default(),
        })
    }
}

impl Server {
    pub(crate) fn new(behaviour: Behaviour, content: Vec<u8>) -> Self {
        Self {
            behaviour,
            stored: content.clone(),
            content,
            connections: Vec::new(),
            session_signer: None,
            keys: None,
            sealer: None,
            nonces: BTreeSet::new(),
            sealed_data: 0,
            reads: Vec::new(),
            writes: Vec::new(),
            echoes: 0,
            signed_data: 0,
            validations: 0,
            sequences: Vec::new(),
            sequence: 0,
            done_writes: BTreeSet::new(),
            logins: 0,
            handle: None,
            kept: None,
            taken_up: 0,
            expired: false,
            renewals: 0,
            not_yet: None,
            reopened: 0,
            file_number: 77,
            file_times: FileTimes::default(),
            breaks_acknowledged: Vec::new(),
            replays: 0,
            put_off: 0,
            opens: 0,
            chains: 0,
            chained: false,
            lies: 0,
        }
    }

    pub(crate) fn accept(&mut self) -> usize {
        self.connections.push(Connection {
            received: Vec::new(),
            preauth: PreauthHash::new(),
            rounds: 0,
            binding: false,
            signer: None,
            offer: None,
            next_message_id: 0,
            credits: 1,
            requests: 0,
            silent: false,
            late: 0,
            renewing: false,
        });
        self.reads.push(0);
        self.writes.push(0);
        self.connections.len() - 1
    }

    pub(crate) fn session_id(&self) -> u64 {
        SESSION_ID + self.logins
    }

    fn tree_id(&self) -> u32 {
        TREE_ID + self.logins as u32
    }

    /// The lease of the file, if it was asked for one.
    pub(crate) fn lease_key(&self) -> Option<[u8; 16]> {
        self.kept.map(|(_, key)| key)
    }

    /// Its machine fails: the file keeps its length, and of its content what is on storage.
    pub(crate) fn crash(&mut self) {
        let stored = self.stored.iter().chain(std::iter::repeat(&0));
        let content = stored.take(self.content.len());
        self.content = content.copied().collect();
    }

    /// Never answers again.
    pub(crate) fn mute(&mut self, number: usize) {
        self.connections[number].silent = true;
    }

    /// From now on it answers so many nanoseconds later.
    pub(crate) fn delay(&mut self, number: usize, late: u64) {
        self.connections[number].late = late;
    }

    pub(crate) fn receive(
        &mut self,
        number: usize,
        bytes: &[u8],
        random: &mut Random,
    ) -> Vec<Sent> {
        let late = self.connections[number].late;
        let mut sent = self.received(number, bytes, random);
        sent.iter_mut().for_each(|(delay, _)| *delay += late);
        sent
    }

    fn received(&mut self, number: usize, bytes: &[u8], random: &mut Random) -> Vec<Sent> {
        self.connections[number].received.extend_from_slice(bytes);
        let mut sent = Vec::new();
        loop {
            let received = &mut self.connections[number].received;
            if received.len() < 4 {
                return sent;
            }
            let prefix = received[..4].try_into().expect("four bytes");
            let end = 4 + wire::frame_length(prefix).expect("a frame");
            if received.len() < end {
                return sent;
            }
            let message: Vec<u8> = received.drain(..end).skip(4).collect();
            if !self.connections[number].silent {
                self.request(number, message, random, &mut sent);
            }
        }
    }

    fn request(
        &mut self,
        number: usize,
        mut message: Vec<u8>,
        random: &mut Random,
        sent: &mut Vec<Sent>,
    ) {
        let of_lost_session = TransformHeader::begins(&message)
            && TransformHeader::decode(&message)
                .expect("a header")
                .session_id
                != self.session_id();
        if of_lost_session {
            return;
        }
        let sealed = self.unseal(&mut message);
        let header = Header::decode(&message).expect("a header");
        let login = matches!(header.command, Command::NEGOTIATE | Command::SESSION_SETUP);
        if !login && header.session_id != self.session_id() {
            return;
        }
        if header.command == Command::SESSION_SETUP && self.connections[number].rounds >= 2 {
            self.connections[number].renewing = true;
            self.connections[number].rounds = 0;
        }
        if header.next_command == 0 {
            assert!(!header.has(flags::RELATED), "to nothing");
            self.single(number, &header, message, sealed, random, sent);
        } else {
            self.chain(number, message, sealed, random, sent);
        }
    }

    /// Checks what a server may insist on, and takes the credits.
    fn admit(&mut self, number: usize, header: &Header, message: &mut [u8], sealed: bool) {
        let login = matches!(header.command, Command::NEGOTIATE | Command::SESSION_SETUP);
        let login = login && !self.connections[number].renewing;
        self.check_sealed(header, sealed, login);
        let connection = &mut self.connections[number];
        connection.requests += 1;
        assert_eq!(
            header.message_id, connection.next_message_id,
            "a hole in the MessageIds"
        );
        let charge = u32::from(header.credit_charge);
        let named = self.behaviour.dialect > Dialect::Smb202 || connection.requests == 1;
        assert_eq!(charge > 0, named, "2.0.2 does not name its charge");
        let charge = charge.max(1);
        assert!(
            charge <= connection.credits,
            "{charge} credits were not granted"
        );
        connection.credits -= charge;
        connection.next_message_id += u64::from(charge);
        assert!(header.credits > 0, "asks for nothing");
        if !sealed {
            self.check_signature(number, header, message);
        }
        let counts = self.behaviour.dialect >= Dialect::Smb300;
        assert!(counts || header.status.0 == 0, "2.x counts no channels");
        assert!(counts || !header.has(flags::REPLAY), "2.x has no replays");
        self.sequences.push(header.status.0 as u16);
    }

    fn delay_after_interim(&self, random: &mut Random) -> u64 {
        match self.behaviour.slow_seconds {
            0 => random.below(20_000_000),
            seconds => seconds * 1_000_000_000,
        }
    }

    fn free_credits(&self, number: usize) -> u32 {
        self.behaviour
            .credits_max
            .saturating_sub(self.connections[number].credits)
    }

    fn single(
        &mut self,
        number: usize,
        header: &Header,
        mut message: Vec<u8>,
        sealed: bool,
        random: &mut Random,
        sent: &mut Vec<Sent>,
    ) {
        self.admit(number, header, &mut message, sealed);
        let free = self.free_credits(number);
        let granted = free.min(u32::from(header.credits)) as u16;
        let reply = self.answer(number, header, &message, random);
        let Some((status, body)) = reply else { return };
        let mut granted = if status == NtStatus::MORE_PROCESSING_REQUIRED
            || header.command == Command::NEGOTIATE
        {
            granted.min(1)
        } else {
            granted
        };
        self.connections[number].credits += u32::from(granted);
        let mut delay = random.below(3_000_000);
        if header.command == Command::ECHO && self.behaviour.puts_off_echoes {
            let interim = self.interim(header, granted);
            sent.push((delay, Some(self.seal(interim, sealed))));
            return;
        }
        let data = [Command::READ, Command::WRITE, Command::CREATE].contains(&header.command);
        let slow = self.behaviour.slow_seconds > 0;
        if data && self.behaviour.interims && (slow || random.below(2) == 0) {
            // as Samba does: all credits with the interim, none with the final reply
            let interim = self.interim(header, std::mem::take(&mut granted));
            let interim = self.seal(interim, sealed);
            sent.push((delay, Some(interim)));
            delay += self.delay_after_interim(random);
        }
        if self.behaviour.breaks && random.below(4) == 0 {
            let all = self.behaviour.encrypts == Encrypts::Session;
            let lease_break = self.seal(lease_break(), all);
            sent.push((delay, Some(lease_break)));
        }
        let mut frame = self.reply(number, header, status, granted, &body);
        let (prefix, message) = frame.split_at_mut(4);
        self.sign_behind(number, prefix, message);
        let naked = self.behaviour.lie.is_some_and(|(lie, connection)| {
            lie == Lie::SealedNot && connection == number && header.command == Command::READ
        });
        let frame = self.seal(frame, sealed && !naked);
        self.maybe_lie(number, header, frame, delay, sent);
    }

    /// Answers related requests, in one frame or in several, at once or later.
    fn chain(
        &mut self,
        number: usize,
        mut message: Vec<u8>,
        sealed: bool,
        random: &mut Random,
        sent: &mut Vec<Sent>,
    ) {
        self.chains += 1;
        let mut answers: Vec<(Header, NtStatus, Vec<u8>)> = Vec::new();
        let (mut rest, mut wanted, mut failure) = (&mut message[..], 0, None);
        while !rest.is_empty() {
            let header = Header::decode(rest).expect("a header");
            let length = match header.next_command as usize {
                0 => rest.len(),
                distance => distance,
            };
            assert!(length == rest.len() || length.is_multiple_of(8), "aligned");
            let (part, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            assert_eq!(header.has(flags::RELATED), !answers.is_empty());
            self.admit(number, &header, part, sealed);
            wanted += u32::from(header.credits);
            let (status, body) = match failure {
                Some(status) => (status, error_body()),
                None => self
                    .answer(number, &header, part, random)
                    .expect("it answers"),
            };
            // a failed CREATE ends a chain everywhere, another failure only for some servers
            let ends = self.behaviour.chains_end || header.command == Command::CREATE;
            if status.is_error() && ends {
                failure = Some(status);
            }
            self.chained = true;
            answers.push((header, status, body));
        }
        self.chained = false;
        let mut granted = self.free_credits(number).min(wanted) as u16;
        self.connections[number].credits += u32::from(granted);
        let mut delay = random.below(3_000_000);
        let mut begin = 0;
        if self.behaviour.interims && random.below(2) == 0 {
            begin = random.below(answers.len() as u64) as usize;
            let interim = self.interim(&answers[begin].0, std::mem::take(&mut granted));
            if begin > 0 {
                let frame = self.chained_reply(number, &answers[..begin], 0);
                let frame = self.seal(frame, sealed);
                sent.push((delay, Some(frame)));
            }
            let interim = self.seal(interim, sealed);
            sent.push((delay, Some(interim)));
            delay += self.delay_after_interim(random);
        }
        let together = random.below(3) > 0 || self.behaviour.lie.is_some();
        let per_frame = if together { answers.len() } else { 1 };
        let frames = answers[begin..].chunks(per_frame);
        let last = frames.len() - 1;
        for (position, part) in frames.enumerate() {
            let granted = if position == last { granted } else { 0 };
            let mut frame = self.chained_reply(number, part, granted);
            if let Some((lie, _)) = self.behaviour.lie.filter(|(_, liar)| *liar == number)
                && self.lies == 0
            {
                self.lies += 1;
                lie_about_chain(lie, &mut frame);
            }
            let frame = self.seal(frame, sealed);
            sent.push((delay, Some(frame)));
            delay += random.below(1_000_000);
        }
    }

    fn chained_reply(
        &mut self,
        number: usize,
        answers: &[(Header, NtStatus, Vec<u8>)],
        granted: u16,
    ) -> Vec<u8> {
        let (mut message, mut before) = (Vec::new(), 0);
        for (position, (request, status, body)) in answers.iter().enumerate() {
            let last = position + 1 == answers.len();
            let (mut header, mut body) = (*request, body.clone());
            header.next_command = 0;
            if !last {
                let padded = body.len().next_multiple_of(8);
                header.next_command = (HEADER_LENGTH + padded) as u32;
                if !self.behaviour.chains_unpadded {
                    body.resize(padded, 0);
                }
            }
            let granted = if last { granted } else { 0 };
            let mut frame = self.reply(number, &header, *status, granted, &body);
            let begin = message.len();
            let (prefix, own) = frame.split_at_mut(4);
            let stands_before = if position > 0 {
                &message[before..]
            } else {
                prefix
            };
            self.sign_behind(number, stands_before, own);
            before = begin;
            message.extend_from_slice(&frame[4..]);
            if !last {
                message.resize(message.len().next_multiple_of(8), 0);
            }
        }
        framed(&message)
    }

    /// Signs a refused READ as [`Behaviour::refusals_behind`] says.
    fn sign_behind(&self, number: usize, before: &[u8], message: &mut [u8]) {
        let header = Header::decode(message).expect("our own");
        let refused = header.command == Command::READ && header.status != NtStatus::SUCCESS;
        if !self.behaviour.refusals_behind || !refused || !header.has(flags::SIGNED) {
            return;
        }
        let signer = self.connections[number].signer.as_ref();
        let signature = signer.map(|it| it.signature_behind(before, message));
        let signature = signature.expect("a login").expect("signs");
        message[48..HEADER_LENGTH].copy_from_slice(&signature);
    }

    /// Decrypts what is encrypted; whether it was.
    fn unseal(&mut self, message: &mut Vec<u8>) -> bool {
        if !TransformHeader::begins(message) {
            return false;
        }
        let header = TransformHeader::decode(message).expect("a transform header");
        assert!(self.nonces.insert(header.nonce), "a nonce comes twice");
        assert_eq!(header.session_id, self.session_id());
        message.drain(..TransformHeader::LENGTH);
        assert_eq!(header.message_length as usize, message.len());
        let keys = self.keys.as_ref().expect("a cipher was agreed");
        assert!(keys.open(&header, message), "it cannot be decrypted");
        true
    }

    fn check_sealed(&mut self, header: &Header, sealed: bool, login: bool) {
        let of_share = header.tree_id() == self.tree_id();
        match self.behaviour.encrypts {
            Encrypts::Session => assert_eq!(sealed, !login, "{:?}", header.command),
            Encrypts::Share => assert_eq!(sealed, of_share, "{:?}", header.command),
            Encrypts::Nothing => {}
        }
        let data = [Command::READ, Command::WRITE].contains(&header.command);
        self.sealed_data += usize::from(sealed && data);
        assert!(!sealed || !header.has(flags::SIGNED), "both is too much");
    }

    /// Encrypts a frame, if it is to be.
    fn seal(&mut self, frame: Vec<u8>, sealed: bool) -> Vec<u8> {
        let Some(sealer) = self.sealer.as_mut().filter(|_| sealed) else {
            return frame;
        };
        let mut message = vec![0; TransformHeader::LENGTH];
        message.extend_from_slice(&frame[4..]);
        sealer.seal(&mut message).expect("it encrypts");
        framed(&message)
    }

    fn check_signature(&mut self, number: usize, header: &Header, message: &mut [u8]) {
        let data = [Command::READ, Command::WRITE].contains(&header.command);
        let signer = match header.command {
            Command::NEGOTIATE => None,
            Command::SESSION_SETUP => {
                let binding = message[HEADER_LENGTH + 2] & 1 != 0;
                let renewing = self.connections[number].renewing;
                self.session_signer.as_ref().filter(|_| binding || renewing)
            }
            _ => self.connections[number].signer.as_ref(),
        };
        let Some(signer) = signer else {
            assert!(!header.has(flags::SIGNED), "signed without a key");
            return;
        };
        let must = self.behaviour.signing_required
            || header.command == Command::TREE_CONNECT
            || header.command == Command::SESSION_SETUP && !self.connections[number].renewing;
        assert!(
            !must || header.has(flags::SIGNED),
            "{:?} is not signed",
            header.command
        );
        if header.has(flags::SIGNED) {
            assert!(
                signer.verify(message).expect("verifies"),
                "{:?} signature",
                header.command
            );
            self.signed_data += usize::from(data);
        }
    }

    /// What the server checks before anything that changes a file (3.3.5.2.10).
    fn check_sequence(&mut self, header: &Header, random: &mut Random) -> NtStatus {
        let counted = [Command::WRITE, Command::SET_INFO].contains(&header.command);
        let replay = header.has(flags::REPLAY);
        let known = [Command::CREATE, Command::IOCTL].contains(&header.command);
        assert!(counted || known || !replay);
        self.replays += usize::from(replay);
        let newer = (header.status.0 as u16).wrapping_sub(self.sequence);
        if newer <= 0x7FFF && newer > 0 {
            self.sequence = header.status.0 as u16;
        }
        let not_ready = replay && self.behaviour.not_ready && random.below(2) == 0;
        if counted && (newer > 0x7FFF || not_ready) {
            self.put_off += 1;
            return NtStatus::FILE_NOT_AVAILABLE;
        }
        NtStatus::SUCCESS
    }

    /// Status and body; none: no answer at all.
    fn answer(
        &mut self,
        number: usize,
        header: &Header,
        message: &[u8],
        random: &mut Random,
    ) -> Option<(NtStatus, Vec<u8>)> {
        let body = &message[HEADER_LENGTH..];
        let mut out = Vec::new();
        let free = [Command::NEGOTIATE, Command::SESSION_SETUP, Command::ECHO];
        let mut status = if self.expired && !free.contains(&header.command) {
            NtStatus::NETWORK_SESSION_EXPIRED
        } else {
            self.check_sequence(header, random)
        };
        if let Some((command, refusal, left)) = &mut self.not_yet
            && *command == header.command
            && *left > 0
        {
            *left -= 1;
            status = *refusal;
        }
        match header.command {
            _ if status != NtStatus::SUCCESS => {}
            Command::NEGOTIATE => self.negotiate(number, message, &mut out),
            Command::SESSION_SETUP => status = self.session_setup(number, message, &mut out),
            Command::TREE_CONNECT => {
                TreeConnectResponse {
                    share_type: 1,
                    flags: if self.behaviour.encrypts == Encrypts::Share {
                        TreeConnectResponse::ENCRYPT_DATA
                    } else {
                        0
                    },
                    capabilities: 0,
                    access_max: 1,
                }
                .encode(&mut out);
            }
            Command::CREATE => status = self.create(header, body, &mut out),
            Command::OPLOCK_BREAK => {
                let back = LeaseBreakAcknowledgement::decode(body).expect("a lease given back");
                // Samba takes one without its share for none, and lets others wait for it.
                assert_eq!(header.tree_id(), self.tree_id(), "the share of the lease");
                self.breaks_acknowledged.push((back.key, back.state));
                back.encode(&mut out);
            }
            Command::READ => {
                self.reads[number] += 1;
                status = self.read(body, &mut out, random);
            }
            Command::WRITE => {
                self.writes[number] += 1;
                status = self.write(header, body, &mut out, random);
            }
            Command::IOCTL => status = self.ioctl(number, body, &mut out),
            Command::QUERY_DIRECTORY => status = Self::list(body, &mut out),
            Command::QUERY_INFO => self.query(body, &mut out),
            Command::SET_INFO => {
                let request = SetInfoRequest::decode(body).expect("SET_INFO");
                if request.class == wire::class::FILE_END_OF_FILE {
                    let size = u64::from_le_bytes(request.data.try_into().expect("a size"));
                    self.content.resize(size as usize, 0);
                }
                wire::SetInfoResponse.encode(&mut out);
            }
            Command::CLOSE => status = self.close(body, &mut out),
            Command::ECHO => {
                self.echoes += 1;
                wire::EchoResponse.encode(&mut out);
            }
            Command::FLUSH => {
                self.stored.clone_from(&self.content);
                wire::FlushResponse.encode(&mut out);
            }
            _ => wire::FlushResponse.encode(&mut out), // all empty bodies look the same
        }
        if status != NtStatus::SUCCESS && status != NtStatus::MORE_PROCESSING_REQUIRED {
            out = error_body();
        }
        Some((status, out))
    }

    fn negotiate(&mut self, number: usize, message: &[u8], out: &mut Vec<u8>) {
        let request = NegotiateRequest::decode(&message[HEADER_LENGTH..]).expect("NEGOTIATE");
        let behaviour = &self.behaviour;
        let code = code(behaviour.dialect);
        let mut contexts = vec![NegotiateContext::Preauth {
            algorithms: vec![behaviour.preauth_hash],
            salt: &[7; 32],
        }];
        if let Some(algorithm) = behaviour.algorithm {
            contexts.push(NegotiateContext::Signing(vec![match algorithm {
                SigningAlgorithm::HmacSha256 => 0,
                SigningAlgorithm::AesCmac => 1,
                _ => 2,
            }]));
        }
        if let Some(cipher) = behaviour.cipher {
            contexts.push(NegotiateContext::Encryption(vec![match cipher {
                Cipher::Aes128Ccm => 1,
                Cipher::Aes128Gcm => 2,
                Cipher::Aes256Ccm => 3,
                _ => 4,
            }]));
        }
        if number < behaviour.posix_connections {
            contexts.push(NegotiateContext::Other {
                kind: POSIX_EXTENSIONS_AVAILABLE,
                data: &POSIX_TAG,
            });
        }
        let (token, server_guid) = (
            b"mechanisms",
            if number == 0 {
                [1; 16]
            } else {
                behaviour.bind_guid
            },
        );
        NegotiateResponse {
            security_mode: self.security_mode(),
            dialect: code,
            server_guid,
            capabilities: self.capabilities(),
            transact_bytes_max: behaviour.size_max,
            read_bytes_max: behaviour.size_max,
            write_bytes_max: behaviour.size_max,
            system_time: 0,
            token,
            contexts: if code == 0x0311 { contexts } else { Vec::new() },
        }
        .encode(out);
        let connection = &mut self.connections[number];
        connection.preauth.add(message);
        connection.offer = Some((
            request.capabilities,
            request.client_guid,
            request.security_mode,
            request.dialects,
        ));
    }

    fn security_mode(&self) -> u16 {
        let required = if self.behaviour.signing_required {
            2
        } else {
            0
        };
        security_mode::SIGNING_ENABLED | required
    }

    fn capabilities(&self) -> u32 {
        let large = if self.behaviour.large_mtu {
            capability::LARGE_MTU
        } else {
            0
        };
        let multi = if self.behaviour.multichannel {
            capability::MULTI_CHANNEL
        } else {
            0
        };
        let old = (Dialect::Smb300..=Dialect::Smb302).contains(&self.behaviour.dialect);
        let encryption = if old && self.behaviour.cipher.is_some() {
            capability::ENCRYPTION
        } else {
            0
        };
        let leases = if self.behaviour.durable {
            capability::LEASING
        } else {
            0
        };
        large | multi | encryption | leases
    }

    fn session_setup(&mut self, number: usize, message: &[u8], out: &mut Vec<u8>) -> NtStatus {
        let request = SessionSetupRequest::decode(&message[HEADER_LENGTH..]).expect("SETUP");
        let connection = &mut self.connections[number];
        connection.binding = request.flags & 1 != 0;
        let anew = connection.rounds == 0 && request.previous_session_id != 0;
        if anew {
            assert!(!connection.binding && number > 0);
            self.logins += 1;
            self.session_signer = None;
            self.expired = self.behaviour.expires_always;
            (self.keys, self.sealer, self.handle) = (None, None, None);
            self.opens = 0;
            self.nonces.clear();
        }
        let connection = &mut self.connections[number];
        assert!(
            connection.renewing
                || connection.binding == (number > 0 && self.session_signer.is_some())
                || self.logins > 0 && !connection.binding
        );
        connection.preauth.add(message);
        connection.rounds += 1;
        if connection.rounds == 1 {
            assert_eq!(request.token, b"hello");
            SessionSetupResponse {
                flags: 0,
                token: b"challenge",
            }
            .encode(out);
            return NtStatus::MORE_PROCESSING_REQUIRED;
        }
        let refusal = self.behaviour.bind_status.filter(|_| connection.binding);
        if let Some(status) = refusal.or(self.behaviour.login_status) {
            return status;
        }
        if std::mem::take(&mut connection.renewing) {
            self.expired = self.behaviour.expires_always;
            self.renewals += 1;
            SessionSetupResponse {
                flags: 0,
                token: b"welcome",
            }
            .encode(out);
            return NtStatus::SUCCESS;
        }
        let exported = key_of(request.token);
        let key = signing_and_keys::session_key(&exported);
        if let Some(cipher) = self.behaviour.cipher
            && self.keys.is_none()
            && self.behaviour.dialect >= Dialect::Smb300
        {
            let (dialect, preauth) = (self.behaviour.dialect, &connection.preauth);
            let keys = SealingKeys::server(dialect, cipher, &exported, preauth).expect("keys");
            self.sealer = Some(Sealer::new(keys.clone(), SESSION_ID + self.logins, 0));
            self.keys = Some(keys);
        }
        let key = signing_and_keys::signing_key(self.behaviour.dialect, &key, &connection.preauth);
        let algorithm = match self.behaviour.dialect {
            Dialect::Smb311 => self
                .behaviour
                .algorithm
                .unwrap_or(SigningAlgorithm::AesCmac),
            Dialect::Smb300 | Dialect::Smb302 => SigningAlgorithm::AesCmac,
            _ => SigningAlgorithm::HmacSha256,
        };
        if !self.behaviour.guest {
            let signer = Signer::new(algorithm, &key).expect("a signer");
            if !connection.binding {
                self.session_signer = Some(signer.clone());
            }
            connection.signer = Some(signer);
        }
        let all = self.behaviour.encrypts == Encrypts::Session;
        let flags = u16::from(self.behaviour.guest) | if all { 4 } else { 0 };
        SessionSetupResponse {
            flags,
            token: b"welcome",
        }
        .encode(out);
        NtStatus::SUCCESS
    }

    fn knows(&self, file: FileId) -> bool {
        Some(file) == self.handle || self.chained && file == FileId::NONE
    }

    fn close(&mut self, body: &[u8], out: &mut Vec<u8>) -> NtStatus {
        let request = wire::CloseRequest::decode(body).expect("CLOSE");
        assert!(self.knows(request.file));
        if self.opens == 0 {
            return NtStatus::FILE_CLOSED;
        }
        self.opens -= 1;
        let (times, allocation, size) = (FileTimes::default(), 0, 0);
        wire::CloseResponse {
            flags: 0,
            times,
            allocation,
            size,
            attributes: 0,
        }
        .encode(out);
        NtStatus::SUCCESS
    }

    /// Whether it gives back the handle that is asked for by CreateGuid and lease key.
    fn gives_back(&mut self, by: ([u8; 16], [u8; 16])) -> bool {
        match &mut self.behaviour.notices_late {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => self.kept == Some(by) && !self.behaviour.withholds,
        }
    }

    /// What the file that is opened again by its path is refused with.
    fn refuses_by_path(&self) -> Option<NtStatus> {
        let is_in_the_way = self.behaviour.notices_late.is_some() && self.kept.is_some();
        let is_withheld =
            self.behaviour.withholds && self.logins == 1 && !self.behaviour.shares_withheld;
        let held = (is_in_the_way || is_withheld).then_some(NtStatus::SHARING_VIOLATION);
        self.behaviour.reopen_status.or(held)
    }

    fn create(&mut self, header: &Header, body: &[u8], out: &mut Vec<u8>) -> NtStatus {
        let request = wire::CreateRequest::decode(body).expect("CREATE");
        let name = utf16::decode(request.name);
        let posix = request.contexts.iter().find(|it| it.name == context::POSIX);
        let mode = posix.map(|it| PosixCreateRequest::decode(it.data).expect("a mode").mode);
        let path = match mode {
            Some(_) => "folder/file\\",
            None => "folder\\file",
        };
        if name != path {
            return NtStatus::OBJECT_NAME_NOT_FOUND;
        }
        let find = |name: &[u8]| {
            let mut contexts = request.contexts.iter();
            let found = contexts.find(|context| context.name == name);
            found.map(|context| context.data)
        };
        let lease = find(context::LEASE).map(|data| LeaseContext::decode(data).expect("RqLs"));
        let mut answers: Vec<(&[u8], Vec<u8>)> = Vec::new();
        let encoded = |message: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            message(&mut bytes);
            bytes
        };
        if let Some(mode) = mode {
            let posix = PosixCreateResponse {
                file: Posix {
                    mode: mode | 0o107_000,
                    links: 1,
                    reparse_tag: 0,
                },
                owner: &[1, 0, 0, 0, 0, 0, 0, 0],
                group: &[1, 0, 0, 0, 0, 0, 0, 0],
            };
            answers.push((context::POSIX, encoded(&|out| posix.encode(out))));
        }
        let again = self.logins > 0 && self.handle.is_none();
        if let Some(data) = find(context::DURABLE_RECONNECT) {
            let reconnect = DurableReconnect::decode(data).expect("DH2C");
            let by = (reconnect.create_guid, lease.expect("with its lease").key);
            if !self.gives_back(by) {
                return NtStatus::OBJECT_NAME_NOT_FOUND;
            }
            self.taken_up += 1;
        } else if again {
            assert_eq!(request.disposition, wire::CreateRequest::OPEN);
            if let Some(status) = self.refuses_by_path() {
                return status;
            }
            self.reopened += 1;
        }
        if let Some(data) = find(context::DURABLE_REQUEST)
            && self.behaviour.durable
        {
            let asked = DurableRequest::decode(data).expect("DH2Q");
            let lease = lease.expect("a lease that keeps handles");
            self.kept = Some((asked.create_guid, lease.key));
            let grant = DurableGrant {
                timeout_ms: 60_000,
                flags: 0,
            };
            answers.push((context::LEASE, encoded(&|out| lease.encode(out))));
            answers.push((context::DURABLE_REQUEST, encoded(&|out| grant.encode(out))));
        }
        if find(context::DISK_ID).is_some() {
            let (file, volume) = (self.file_number, 1);
            let id = DiskId { file, volume };
            answers.push((context::DISK_ID, encoded(&|out| id.encode(out))));
        }
        let file = FileId {
            volatile: FILE.volatile + self.logins,
            ..FILE
        };
        if self.handle.replace(file).is_none() {
            self.sequence = header.status.0 as u16;
        }
        let contexts = answers.iter();
        if request.disposition >= wire::CreateRequest::OVERWRITE {
            self.content.clear();
            self.done_writes.clear();
        }
        self.opens += 1;
        CreateResponse {
            oplock_level: 0,
            action: 1,
            times: self.file_times,
            allocation: 0,
            size: self.content.len() as u64,
            attributes: 0x80,
            file,
            contexts: contexts
                .map(|(name, data)| wire::CreateContext { name, data })
                .collect(),
        }
        .encode(out);
        NtStatus::SUCCESS
    }

    fn read(&self, body: &[u8], out: &mut Vec<u8>, random: &mut Random) -> NtStatus {
        let request = ReadRequest::decode(body).expect("READ");
        assert!(request.length <= self.behaviour.size_max && self.knows(request.file));
        if let Some(status) = self.behaviour.transfer_status {
            return status;
        }
        let start = (request.offset as usize).min(self.content.len());
        let mut end = (start + request.length as usize).min(self.content.len());
        if start == end {
            return NtStatus::END_OF_FILE;
        }
        if self.behaviour.short && random.below(3) == 0 {
            end = start + 1 + random.below((end - start) as u64) as usize;
        }
        let gap = if self.behaviour.gaps {
            random.below(176) as u8
        } else {
            0
        };
        ReadResponse {
            data_offset: 80 + gap,
            data: &self.content[start..end],
        }
        .encode(out);
        NtStatus::SUCCESS
    }

    fn write(
        &mut self,
        header: &Header,
        body: &[u8],
        out: &mut Vec<u8>,
        random: &mut Random,
    ) -> NtStatus {
        let request = WriteRequest::decode(body).expect("WRITE");
        assert!(self.knows(request.file));
        if let Some(status) = self.behaviour.transfer_status {
            return status;
        }
        let new = self.done_writes.insert(request.offset);
        let again = header.has(flags::REPLAY);
        assert!(new || again, "written twice as if for the first time");
        let mut length = request.data.len();
        if self.behaviour.short && random.below(3) == 0 {
            length = 1 + random.below(length as u64) as usize;
        }
        let start = request.offset as usize;
        if self.content.len() < start + length {
            self.content.resize(start + length, 0);
        }
        self.content[start..start + length].copy_from_slice(&request.data[..length]);
        WriteResponse {
            count: length as u32,
        }
        .encode(out);
        NtStatus::SUCCESS
    }

    fn ioctl(&mut self, number: usize, body: &[u8], out: &mut Vec<u8>) -> NtStatus {
        let request = IoctlRequest::decode(body).expect("IOCTL");
        let mut output = Vec::new();
        if request.control == control::VALIDATE_NEGOTIATE_INFO {
            self.validations += 1;
            let sent = ValidateNegotiateRequest::decode(request.input).expect("VALIDATE");
            let offer = (
                sent.capabilities,
                sent.client_guid,
                sent.security_mode,
                sent.dialects,
            );
            assert_eq!(Some(offer), self.connections[number].offer);
            ValidateNegotiateResponse {
                capabilities: self.capabilities(),
                server_guid: [1; 16],
                security_mode: self.security_mode(),
                dialect: if self.behaviour.validate_tampered {
                    0x0311
                } else {
                    code(self.behaviour.dialect)
                },
            }
            .encode(&mut output);
            if self.behaviour.validate_status != NtStatus::SUCCESS {
                return self.behaviour.validate_status;
            }
        } else if request.control == control::COPY_CHUNKS {
            let asked = CopyChunks::decode(request.input).expect("COPY_CHUNKS");
            for chunk in &asked.chunks {
                let end = (chunk.to + u64::from(chunk.length)) as usize;
                self.content.resize(self.content.len().max(end), 0);
            }
            CopyChunksDone {
                chunks: asked.chunks.len() as u32,
                chunk_bytes: 0,
                total_bytes: asked.chunks.iter().map(|chunk| chunk.length).sum(),
            }
            .encode(&mut output);
        } else {
            let interface = InterfaceRecord {
                index: u32::MAX,
                capability: 1,
                link_speed: 1_000_000_000,
                address: Some("10.0.0.2".parse().expect("an address")),
            };
            NetworkInterfaces {
                interfaces: vec![interface],
            }
            .encode(&mut output);
            if self.behaviour.facts_cut_off {
                output.truncate(50);
            }
        }
        let (control, file) = (request.control, FileId::NONE);
        IoctlResponse {
            control,
            file,
            output: &output,
        }
        .encode(out);
        NtStatus::SUCCESS
    }

    fn list(body: &[u8], out: &mut Vec<u8>) -> NtStatus {
        let request = wire::QueryDirectoryRequest::decode(body).expect("QUERY_DIRECTORY");
        if request.flags & wire::QueryDirectoryRequest::RESTART_SCANS == 0 {
            return NtStatus::NO_MORE_FILES;
        }
        if request.pattern == utf16::encode("nothing") {
            wire::QueryDirectoryResponse { data: &[] }.encode(out);
            return NtStatus::SUCCESS;
        }
        let names = [utf16::encode("."), utf16::encode("ä.txt")];
        let records = names.iter().map(|name| DirectoryRecord {
            times: FileTimes::default(),
            size: 5,
            allocation: 4096,
            attributes: 0x20,
            ea_size_or_reparse_tag: 77,
            file_id: 8,
            name,
        });
        let mut data = Vec::new();
        DirectoryRecords {
            records: records.collect(),
        }
        .encode(&mut data);
        wire::QueryDirectoryResponse { data: &data }.encode(out);
        NtStatus::SUCCESS
    }

    fn query(&self, body: &[u8], out: &mut Vec<u8>) {
        let request = wire::QueryInfoRequest::decode(body).expect("QUERY_INFO");
        let mut data = Vec::new();
        if request.kind == wire::class::TYPE_FILE_SYSTEM {
            FsFullSizeInformation {
                total_units: 100,
                caller_available_units: 50,
                available_units: 60,
                sectors_per_unit: 8,
                bytes_per_sector: 512,
            }
            .encode(&mut data);
            if self.behaviour.facts_cut_off {
                data.truncate(9);
            }
        } else {
            let size = self.content.len() as u64;
            let (links, delete_pending, folder) = (1, false, false);
            StandardInformation {
                allocation: size,
                size,
                links,
                delete_pending,
                folder,
            }
            .encode(&mut data);
        }
        wire::QueryInfoResponse { data: &data }.encode(out);
    }

    fn interim(&self, header: &Header, granted: u16) -> Vec<u8> {
        let mut interim = *header;
        interim.next_command = 0;
        interim.flags = flags::RESPONSE | flags::ASYNC;
        interim.status = NtStatus::PENDING;
        interim.credits = granted;
        interim.tree_or_async_id = header.message_id;
        interim.signature = [0; 16];
        let mut message = interim.to_bytes().to_vec();
        ErrorResponse {
            contexts: 0,
            data: &[],
        }
        .encode(&mut message);
        framed(&message)
    }

    fn reply(
        &mut self,
        number: usize,
        request: &Header,
        status: NtStatus,
        granted: u16,
        body: &[u8],
    ) -> Vec<u8> {
        let connection = &mut self.connections[number];
        let mut header = *request;
        header.flags = flags::RESPONSE | request.flags & flags::RELATED;
        header.status = status;
        header.credits = granted;
        header.session_id = if request.command == Command::NEGOTIATE {
            0
        } else {
            SESSION_ID + self.logins
        };
        header.signature = [0; 16];
        if request.command == Command::TREE_CONNECT {
            header = header.with_tree(TREE_ID + self.logins as u32);
        }
        let last_word = request.command == Command::SESSION_SETUP && status == NtStatus::SUCCESS;
        let signer = match (request.command, status) {
            (Command::NEGOTIATE, _) => None,
            (Command::ECHO, _) if self.behaviour.echoes_plain => None,
            (Command::SESSION_SETUP, NtStatus::SUCCESS) => connection
                .signer
                .as_ref()
                .filter(|_| !self.behaviour.last_word_unsigned),
            (Command::SESSION_SETUP, _) => {
                let signed = connection.renewing && request.has(flags::SIGNED);
                let signed = signed || connection.binding;
                self.session_signer.as_ref().filter(|_| signed)
            }
            _ => connection
                .signer
                .as_ref()
                .filter(|_| request.has(flags::SIGNED)),
        };
        if signer.is_some() {
            header.flags |= flags::SIGNED;
        }
        let mut message = header.to_bytes().to_vec();
        let refused = request.command == Command::TREE_CONNECT && status != NtStatus::SUCCESS;
        message.extend_from_slice(body);
        if self.behaviour.refusals_trail && refused {
            message.push(0);
        }
        if let Some(signer) = signer {
            signer.sign(&mut message).expect("signs");
        }
        if !last_word {
            connection.preauth.add(&message);
        }
        if self.behaviour.refusals_trail && refused {
            message.extend_from_slice(&[7; 80]);
        }
        framed(&message)
    }

    /// Sends the frame, or something worse when its turn has come.
    fn maybe_lie(
        &mut self,
        number: usize,
        header: &Header,
        mut frame: Vec<u8>,
        delay: u64,
        sent: &mut Vec<Sent>,
    ) {
        let about_writes = matches!(
            self.behaviour.lie,
            Some((Lie::WriteCountTooLarge | Lie::WriteCountZero, _))
        );
        let victim = if about_writes {
            Command::WRITE
        } else {
            Command::READ
        };
        let Some((lie, _)) = self.behaviour.lie.filter(|(_, connection)| {
            *connection == number && header.command == victim && self.lies == 0
        }) else {
            sent.push((delay, Some(frame)));
            return;
        };
        self.lies += 1;
        const BODY: usize = 4 + HEADER_LENGTH;
        match lie {
            Lie::ReadLonger => {
                frame.extend([0; 400]);
                let length = frame.len() - 4;
                frame[..4].copy_from_slice(&frame_prefix(length));
            }
            Lie::ReadEmpty => frame[BODY + 4..BODY + 8].fill(0),
            Lie::ReadOffsetBeyond => frame[BODY + 2] = 255,
            Lie::FrameTooLong => frame[..4].copy_from_slice(&[0, 0xFF, 0xFF, 0xFF]),
            Lie::FrameTooShort => frame[..4].copy_from_slice(&[0, 0, 0, 64]),
            Lie::FrameNotSmb => frame[4..BODY].fill(0x42),
            Lie::FrameEncrypted => frame[4] = 0xFD,
            Lie::FrameRequest => frame[4 + 16] &= !1,
            Lie::SignatureWrong => frame[4 + 50] ^= 1,
            Lie::SignatureMissing => frame[4 + 16] &= !8,
            Lie::AnswerRepeated => sent.push((delay, Some(frame.clone()))),
            Lie::MessageIdUnknown => frame[4 + 24 + 5] ^= 1,
            Lie::CommandOther => frame[4 + 12] = Command::ECHO.0 as u8,
            Lie::Chained => frame[4 + 20] = 80,
            Lie::PendingWithoutId => frame[4 + 8..4 + 12].copy_from_slice(&[3, 1, 0, 0]),
            Lie::WriteCountTooLarge => frame[BODY + 7] = 1,
            Lie::WriteCountZero => frame[BODY + 4..BODY + 8].fill(0),
            Lie::SealedNot
            | Lie::LinkUnaligned
            | Lie::LinkBeyond
            | Lie::LinkAtOnce
            | Lie::LinkCutOff
            | Lie::LinkSignatureWrong
            | Lie::LinkRepeated
            | Lie::LinkUnknown
            | Lie::LinkOther
            | Lie::LinkOfNoSession => {}
            Lie::SealedWrong => frame[BODY] ^= 4,
            Lie::SealedForAnother => frame[4 + 44] ^= 1,
            Lie::SealNested => frame = self.seal(frame, true),
            Lie::SealedLonger => frame[4 + 36] ^= 1,
            Lie::Silence => {
                self.connections[number].silent = true;
                return;
            }
            Lie::Disconnect => {
                self.connections[number].silent = true;
                sent.push((delay, None));
                return;
            }
        }
        sent.push((delay, Some(frame)));
    }
}

fn error_body() -> Vec<u8> {
    let mut body = Vec::new();
    ErrorResponse {
        contexts: 0,
        data: &[],
    }
    .encode(&mut body);
    body
}

/// Damages a frame of at least two replies.
fn lie_about_chain(lie: Lie, frame: &mut Vec<u8>) {
    let distance = u32::from_le_bytes(frame[24..28].try_into().expect("four bytes"));
    let second = 4 + distance as usize;
    assert!(distance > 0, "there are two");
    let tell = |frame: &mut Vec<u8>, distance: u32| {
        frame[24..28].copy_from_slice(&distance.to_le_bytes());
    };
    match lie {
        Lie::LinkUnaligned => tell(frame, distance + 4),
        Lie::LinkBeyond => tell(frame, 1 << 31),
        Lie::LinkAtOnce => tell(frame, 8),
        Lie::LinkCutOff => {
            frame.truncate(second + 40);
            let length = frame.len() - 4;
            frame[..4].copy_from_slice(&frame_prefix(length));
        }
        Lie::LinkSignatureWrong => frame[second + 50] ^= 1,
        Lie::LinkRepeated => frame.copy_within(4 + 24..4 + 32, second + 24),
        Lie::LinkUnknown => frame[second + 24 + 5] ^= 1,
        Lie::LinkOther => frame[second + 12] = Command::ECHO.0 as u8,
        Lie::LinkOfNoSession => {
            let status = NtStatus::USER_SESSION_DELETED;
            frame[12..16].copy_from_slice(&status.0.to_le_bytes());
            frame.truncate(4 + HEADER_LENGTH);
            frame.extend_from_slice(&[9, 0, 0, 0, 0, 0, 0, 0, 0]);
            let length = frame.len() - 4;
            frame[..4].copy_from_slice(&frame_prefix(length));
        }
        _ => {}
    }
}

fn code(dialect: Dialect) -> u16 {
    match dialect {
        Dialect::Smb202 => 0x0202,
        Dialect::Smb210 => 0x0210,
        Dialect::Smb300 => 0x0300,
        Dialect::Smb302 => 0x0302,
        _ => 0x0311,
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut frame = frame_prefix(message.len()).to_vec();
    frame.extend_from_slice(message);
    frame
}

fn lease_break() -> Vec<u8> {
    lease_break_of([4; 16], 1, 0, 1)
}

pub(crate) fn lease_break_of(key: [u8; 16], epoch: u16, flags: u32, new: u32) -> Vec<u8> {
    let mut header = Header::request(Command::OPLOCK_BREAK, u64::MAX);
    header.flags = wire::flags::RESPONSE;
    header.credits = 0;
    let mut message = header.to_bytes().to_vec();
    wire::LeaseBreakNotice {
        epoch,
        flags,
        key,
        current: 7,
        new,
    }
    .encode(&mut message);
    framed(&message)
}
