//! SPNEGO (RFC 4178) as far as one mechanism needs it: who offers no choice has nothing to negotiate, so that
//! an attacker on the path cannot make us take a weaker one.

use locale::{Message, say};

use crate::der::{self, ENUMERATED, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, explicit};

/// Kerberos (RFC 4121, section 1).
pub(crate) const KERBEROS: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02];
/// Kerberos by the number that Windows 2000 gave it (MS-SPNG 3.1.5.2), with which servers may answer.
const KERBEROS_OF_WINDOWS: &[u8] = &[0x2A, 0x86, 0x48, 0x82, 0xF7, 0x12, 0x01, 0x02, 0x02];

const SPNEGO: &[u8] = &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x02];
/// Tag of a mechanism's first token (RFC 2743, section 3.1).
const INITIAL_TOKEN: u8 = 0x60;
const REJECT: u8 = 2;

/// MechTypeList with one mechanism (RFC 4178, section 4.1).
pub(crate) fn mechanisms(mechanism: &[u8]) -> Vec<u8> {
    der::write(SEQUENCE, &[&der::write(OBJECT_IDENTIFIER, &[mechanism])])
}

/// The first token: NegTokenInit with a mechanism's own one (RFC 4178, section 4.2.1).
pub(crate) fn begin(mechanism: &[u8], token: &[u8]) -> Vec<u8> {
    let types = der::write(explicit(0), &[&mechanisms(mechanism)]);
    let token = der::write(explicit(2), &[&der::write(OCTET_STRING, &[token])]);
    let begin = der::write(SEQUENCE, &[&types, &token]);
    let name = der::write(OBJECT_IDENTIFIER, &[SPNEGO]);
    der::write(INITIAL_TOKEN, &[&name, &der::write(explicit(0), &[&begin])])
}

/// A further token: NegTokenResp with the mechanism's (RFC 4178, section 4.2.2), and proof that the list of
/// mechanisms is ours.
pub(crate) fn go_on(token: &[u8], proof: Option<&[u8]>) -> Vec<u8> {
    let mut parts = der::write(explicit(2), &[&der::write(OCTET_STRING, &[token])]);
    if let Some(proof) = proof {
        let proof = der::write(OCTET_STRING, &[proof]);
        parts.extend(der::write(explicit(3), &[&proof]));
    }
    der::write(explicit(1), &[&der::write(SEQUENCE, &[&parts])])
}

/// What a server answers (NegTokenResp).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// The mechanism's token.
    pub(crate) token: Option<&'a [u8]>,
    /// Its proof of the list of mechanisms.
    pub(crate) proof: Option<&'a [u8]>,
}

/// Reads an answer to an offer of one mechanism. What follows it is ignored: its length is the server's
/// own statement in the message around it.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn answer<'a>(bytes: &'a [u8], mechanism: &[u8]) -> Result<Answer<'a>, Message> {
    const MALFORMED: Message = say("error-auth.token-no-response");
    let fields = der::read_tagged(explicit(1), bytes)
        .and_then(|(content, _)| der::read_tagged(SEQUENCE, content));
    let (mut fields, _) = fields.ok_or(MALFORMED)?;
    let mut answer = Answer::default();
    while !fields.is_empty() {
        let (tag, content, rest) = der::read(fields).ok_or(MALFORMED)?;
        fields = rest;
        let inside = |tag| der::read_tagged(tag, content).ok_or(MALFORMED);
        match tag.checked_sub(explicit(0)) {
            Some(0) if inside(ENUMERATED)?.0 == [REJECT] => {
                return Err(say("error-auth.token-refuses"));
            }
            Some(1) => {
                let chosen = inside(OBJECT_IDENTIFIER)?.0;
                let same = mechanism == KERBEROS && chosen == KERBEROS_OF_WINDOWS;
                if chosen != mechanism && !same {
                    return Err(say("error-auth.token-not-offered"));
                }
            }
            Some(2) => answer.token = Some(inside(OCTET_STRING)?.0),
            Some(3) => answer.proof = Some(inside(OCTET_STRING)?.0),
            _ => {}
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use locale::Language;

    use super::*;

    fn refusal(token: &[u8], mechanism: &[u8]) -> String {
        Language::English.say(&answer(token, mechanism).expect_err("it is refused"))
    }

    #[test]
    fn the_first_token_is_as_rfc_4178_draws_it() {
        let wanted = [
            &[0x60, 0x20, 0x06, 0x06][..],
            SPNEGO,
            &[0xA0, 0x16, 0x30, 0x14, 0xA0, 0x0D, 0x30, 0x0B, 0x06, 0x09],
            KERBEROS,
            &[0xA2, 0x03, 0x04, 0x01, 0x2A],
        ];
        assert_eq!(begin(KERBEROS, &[0x2A]), wanted.concat());
    }

    #[test]
    fn an_answer_is_read_and_every_prefix_of_it_is_refused() {
        let token = go_on(b"token", Some(b"proof"));
        let read = answer(&token, KERBEROS).expect("whole");
        let (token_found, proof) = (Some(&b"token"[..]), Some(&b"proof"[..]));
        assert_eq!((read.token, read.proof), (token_found, proof));
        for end in 0..token.len() {
            assert!(answer(&token[..end], KERBEROS).is_err(), "{end}");
        }
        // As Windows writes it: accept-completed, its own number of Kerberos, a token.
        let state = [0xA0, 0x03, 0x0A, 0x01, 0x00];
        let chosen = der::write(0xA1, &[&der::write(6, &[KERBEROS_OF_WINDOWS])]);
        let token = [0xA2, 0x03, 0x04, 0x01, 0x2A];
        let fields = der::write(0x30, &[&state, &chosen, &token]);
        let token = der::write(0xA1, &[&fields]);
        let read = answer(&token, KERBEROS).expect("whole");
        assert_eq!((read.token, read.proof), (Some(&[0x2A][..]), None));
        assert_eq!(
            refusal(&token, SPNEGO),
            "it chooses a mechanism that was not offered"
        );
    }

    #[test]
    fn a_refusal_is_one() {
        let state = der::write(0xA0, &[&[0x0A, 0x01, REJECT]]);
        let token = der::write(0xA1, &[&der::write(0x30, &[&state])]);
        assert_eq!(refusal(&token, KERBEROS), "it refuses the mechanism");
        assert_eq!(refusal(b"\x60\0", KERBEROS), "it is no NegTokenResp");
    }
}
