//! The three messages of NTLM (MS-NLMP 2.2.1) and the pairs that two of them carry.

use locale::{Message, say};

/// What each message begins with, and which it is.
pub(super) const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
const NEGOTIATE: u32 = 1;
const CHALLENGE: u32 = 2;
const AUTHENTICATE: u32 = 3;

/// Flags (MS-NLMP 2.2.2.5).
pub(super) const UNICODE: u32 = 0x0000_0001;
const REQUEST_TARGET: u32 = 0x0000_0004;
const SIGN: u32 = 0x0000_0010;
const NTLM: u32 = 0x0000_0200;
const ALWAYS_SIGN: u32 = 0x0000_8000;
pub(super) const EXTENDED_SESSION_SECURITY: u32 = 0x0008_0000;
const TARGET_INFO: u32 = 0x0080_0000;
const VERSION: u32 = 0x0200_0000;
pub(super) const BITS_128: u32 = 0x2000_0000;
pub(super) const KEY_EXCHANGE: u32 = 0x4000_0000;
const BITS_56: u32 = 0x8000_0000;

/// What we offer: what Windows offers for SMB, without the code pages and keys of LAN Manager.
pub(super) const OFFERED: u32 = UNICODE
    | REQUEST_TARGET
    | SIGN
    | NTLM
    | ALWAYS_SIGN
    | EXTENDED_SESSION_SECURITY
    | VERSION
    | BITS_128
    | KEY_EXCHANGE
    | BITS_56;

/// Ids of pairs (MS-NLMP 2.2.2.1).
const END: u16 = 0;
const FLAGS: u16 = 6;
const TIMESTAMP: u16 = 7;
const TARGET_NAME: u16 = 9;
const CHANNEL_BINDINGS: u16 = 10;
/// Of [`FLAGS`]: the message has a check sum.
const HAS_SUM: u32 = 2;

/// Windows 10 in the only revision that there is. The field serves for debugging only (MS-NLMP 2.2.2.10).
const OUR_VERSION: [u8; 8] = [10, 0, 0x61, 0x4A, 0, 0, 0, 15];
/// Where the check sum of AUTHENTICATE_MESSAGE is, and where its header ends.
const SUM_AT: usize = 72;
const HEADER_BYTES: usize = 88;

/// NEGOTIATE_MESSAGE (MS-NLMP 2.2.1.1) without domain and workstation.
pub(super) fn negotiate() -> Vec<u8> {
    let flags = OFFERED.to_le_bytes();
    [
        SIGNATURE,
        &NEGOTIATE.to_le_bytes()[..],
        &flags,
        &[0; 16],
        &OUR_VERSION,
    ]
    .concat()
}

/// What a server asks (CHALLENGE_MESSAGE, MS-NLMP 2.2.1.2).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge<'a> {
    pub(super) flags: u32,
    pub(super) nonce: [u8; 8],
    /// `TargetInfo`: names and flags of the server, without the pair that ends the list.
    pairs: Vec<(u16, &'a [u8])>,
}

impl<'a> Challenge<'a> {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(message: &'a [u8]) -> Result<Self, Message> {
        const SHORT: Message = say("error-auth.ntlm-too-short");
        let kind = message.get(8..12).ok_or(SHORT)?;
        if !message.starts_with(SIGNATURE) || kind != CHALLENGE.to_le_bytes() {
            return Err(say("error-auth.ntlm-no-challenge"));
        }
        let flags = number(message, 20).ok_or(SHORT)?;
        let nonce = message.get(24..).and_then(<[u8]>::first_chunk);
        let nonce = *nonce.ok_or(SHORT)?;
        // Without it names would be in a code page that the protocol does not name.
        if flags & UNICODE == 0 {
            return Err(say("error-auth.ntlm-no-unicode"));
        }
        let pairs = match flags & TARGET_INFO {
            0 => Vec::new(),
            _ => pairs(field(message, 40).ok_or(say("error-auth.ntlm-fields-outside"))?)?,
        };
        Ok(Self {
            flags,
            nonce,
            pairs,
        })
    }

    /// The time by the server's clock, which answers of both must agree on (MS-NLMP 3.1.5.1.2).
    pub(super) fn time(&self) -> Option<u64> {
        let time = self.pairs.iter().find(|(id, _)| *id == TIMESTAMP)?.1;
        Some(u64::from_le_bytes(time.try_into().ok()?))
    }

    /// What we answer to that (MS-NLMP 3.1.5.1.2): the same, that our message has a check sum, that there is no outer
    /// channel, and the name of the service that we mean, by which a server knows that the answer was meant for
    /// another one.
    pub(super) fn answered(&self, target: &[u8]) -> Result<Vec<u8>, Message> {
        let own = [FLAGS, TARGET_NAME, CHANNEL_BINDINGS];
        let theirs = self.pairs.iter().filter(|(id, _)| !own.contains(id));
        let flags = self.pairs.iter().find(|(id, _)| *id == FLAGS);
        let flags = flags.and_then(|(_, value)| number(value, 0));
        let flags = (flags.unwrap_or(0) | HAS_SUM).to_le_bytes();
        let ours = [
            (FLAGS, &flags[..]),
            (CHANNEL_BINDINGS, &[0; 16]),
            (TARGET_NAME, target),
            (END, &[]),
        ];
        let mut bytes = Vec::new();
        for (id, value) in theirs.chain(&ours) {
            let length = u16::try_from(value.len()).map_err(|_long| TOO_LONG)?;
            bytes.extend(id.to_le_bytes());
            bytes.extend(length.to_le_bytes());
            bytes.extend(*value);
        }
        Ok(bytes)
    }
}

const TOO_LONG: Message = say("error-auth.ntlm-too-long");

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The bytes that the fields `Len`, `MaxLen` and `BufferOffset` at this offset describe (MS-NLMP 2.2.1.2).
fn field(message: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::from(u16::from_le_bytes(*message.get(at..)?.first_chunk()?));
    if length == 0 {
        return Some(&[]);
    }
    let from = usize::try_from(number(message, at + 4)?).ok()?;
    message.get(from..from.checked_add(length)?)
}

/// The pairs of a list, which ends with one of its own or with its bytes.
fn pairs(mut bytes: &[u8]) -> Result<Vec<(u16, &[u8])>, Message> {
    const CUT: Message = say("error-auth.ntlm-names-cut");
    let mut pairs = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_first_chunk::<4>().ok_or(CUT)?;
        let id = u16::from_le_bytes([head[0], head[1]]);
        if id == END {
            break;
        }
        let length = u16::from_le_bytes([head[2], head[3]]);
        let (value, rest) = rest.split_at_checked(length.into()).ok_or(CUT)?;
        pairs.push((id, value));
        bytes = rest;
    }
    Ok(pairs)
}

/// What AUTHENTICATE_MESSAGE holds (MS-NLMP 2.2.1.3). Of the workstation nothing is said.
#[derive(Debug, Default)]
pub(super) struct Authenticate<'a> {
    pub(super) lm: &'a [u8],
    pub(super) nt: &'a [u8],
    pub(super) domain: &'a [u8],
    pub(super) user: &'a [u8],
    pub(super) key: &'a [u8],
    pub(super) flags: u32,
}

impl Authenticate<'_> {
    /// The message, with zeros for its check sum.
    ///
    /// # Errors
    /// When a part is too long for it.
    pub(super) fn write(&self) -> Result<Vec<u8>, Message> {
        let mut message = [SIGNATURE, &AUTHENTICATE.to_le_bytes()[..]].concat();
        let mut payload = Vec::new();
        for part in [self.lm, self.nt, self.domain, self.user, &[], self.key] {
            let length = u16::try_from(part.len()).map_err(|_long| TOO_LONG)?;
            let at = u32::try_from(HEADER_BYTES + payload.len()).map_err(|_long| TOO_LONG)?;
            message.extend(length.to_le_bytes());
            message.extend(length.to_le_bytes());
            message.extend(at.to_le_bytes());
            payload.extend(part);
        }
        message.extend(self.flags.to_le_bytes());
        message.extend(OUR_VERSION);
        message.resize(HEADER_BYTES, 0);
        message.append(&mut payload);
        Ok(message)
    }
}

/// Puts a check sum into an AUTHENTICATE_MESSAGE.
pub(super) fn put_sum(message: &mut [u8], sum: &[u8; 16]) {
    if let Some(place) = message.get_mut(SUM_AT..HEADER_BYTES) {
        place.copy_from_slice(sum);
    }
}

/// The flags of the answer: what both ends can.
pub(super) const fn agreed(theirs: u32) -> u32 {
    (OFFERED | TARGET_INFO) & theirs
}

#[cfg(test)]
pub(super) mod tests {
    use locale::Language;

    use super::*;

    /// CHALLENGE_MESSAGE with these pairs, with bytes as they stand on the wire.
    pub(in crate::ntlm) fn challenge(flags: u32, pairs: &[u8]) -> Vec<u8> {
        let length = u16::try_from(pairs.len()).expect("short").to_le_bytes();
        let nonce = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
        [
            SIGNATURE,
            &CHALLENGE.to_le_bytes()[..],
            &[0; 8],
            &flags.to_le_bytes(),
            &nonce,
            &[0; 8],
            &length,
            &length,
            &56_u32.to_le_bytes(),
            &OUR_VERSION,
            pairs,
        ]
        .concat()
    }

    pub(in crate::ntlm) fn pair(id: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len()).expect("short");
        [&id.to_le_bytes(), &length.to_le_bytes(), value].concat()
    }

    /// MS-NLMP 4.2.4.3 without the target's name: flags and pairs.
    pub(in crate::ntlm) fn challenge_of_the_specification() -> Vec<u8> {
        let utf16 = super::super::keys::utf16;
        let pairs = [
            pair(2, &utf16("Domain")),
            pair(1, &utf16("Server")),
            pair(0, &[]),
        ];
        challenge(0xE28A_8233, &pairs.concat())
    }

    #[test]
    fn a_challenge_is_read_and_every_prefix_of_it_is_refused() {
        let message = challenge_of_the_specification();
        let read = Challenge::read(&message).expect("whole");
        assert_eq!(read.flags, 0xE28A_8233);
        assert_eq!(read.nonce, [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
        assert_eq!(read.pairs.len(), 2);
        assert_eq!(read.time(), None);
        for end in 0..message.len() {
            assert!(Challenge::read(&message[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_no_challenge_is_refused_with_the_reason() {
        let with = |at: usize, bytes: &[u8]| {
            let mut message = challenge_of_the_specification();
            message[at..at + bytes.len()].copy_from_slice(bytes);
            let refused = Challenge::read(&message).map(|_| ()).unwrap_err();
            Language::English.say(&refused)
        };
        assert_eq!(with(0, b"n"), "it holds no NTLM challenge");
        assert_eq!(with(8, &[3]), "it holds no NTLM challenge");
        assert_eq!(with(20, &[0x32]), "its NTLM takes no Unicode");
        for offset in [57_u32, u32::MAX] {
            let refused = with(44, &offset.to_le_bytes());
            assert_eq!(refused, "its NTLM fields lie outside of it");
        }
        assert_eq!(with(58, &[13]), "its list of names is cut off");
        let message = challenge(UNICODE, &[]);
        let read = Challenge::read(&message).expect("old servers say nothing of themselves");
        assert_eq!(read.pairs, []);
    }

    #[test]
    fn the_answer_names_the_target_once_whatever_the_server_says() {
        let time = 0x01D0_0000_0000_0000_u64;
        let theirs = [
            pair(2, b"D\0"),
            pair(FLAGS, &1_u32.to_le_bytes()),
            pair(TARGET_NAME, b"e\0v\0i\0l\0"),
            pair(CHANNEL_BINDINGS, &[7; 16]),
            pair(TIMESTAMP, &time.to_le_bytes()),
            pair(END, &[]),
            pair(2, b"after the end"),
        ];
        let message = challenge(UNICODE | TARGET_INFO, &theirs.concat());
        let read = Challenge::read(&message).expect("whole");
        assert_eq!(read.time(), Some(time));
        let expected = [
            pair(2, b"D\0"),
            pair(TIMESTAMP, &time.to_le_bytes()),
            pair(FLAGS, &3_u32.to_le_bytes()),
            pair(CHANNEL_BINDINGS, &[0; 16]),
            pair(TARGET_NAME, b"n\0a\0s\0"),
            pair(END, &[]),
        ];
        assert_eq!(read.answered(b"n\0a\0s\0"), Ok(expected.concat()));
        assert_eq!(read.answered(&[0; 70_000]), Err(TOO_LONG));
    }

    #[test]
    fn the_parts_of_an_answer_are_where_it_says() {
        let message = Authenticate {
            lm: b"lm",
            nt: b"nt response",
            domain: b"D\0",
            user: b"u\0",
            key: b"key",
            flags: 0x0102_0304,
        };
        let mut message = message.write().expect("short");
        put_sum(&mut message, &[9; 16]);
        let parts = [12, 20, 28, 36, 44, 52].map(|at| field(&message, at).expect("inside"));
        assert_eq!(
            parts,
            [&b"lm"[..], b"nt response", b"D\0", b"u\0", b"", b"key"]
        );
        assert_eq!(number(&message, 60), Some(0x0102_0304));
        assert_eq!(message[SUM_AT..HEADER_BYTES], [9; 16]);
        let long = vec![0; 70_000];
        let message = Authenticate {
            nt: &long,
            ..Authenticate::default()
        };
        assert_eq!(message.write(), Err(TOO_LONG));
    }
}
