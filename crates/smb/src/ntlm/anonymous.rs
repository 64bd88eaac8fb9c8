//! NTLM without a user, without SPNEGO around it: every server takes both forms.

use super::message::SIGNATURE;

/// The exchange of an anonymous login.
pub(crate) enum AnonymousExchange {
    Begin,
    Challenged,
    Done,
}

impl AnonymousExchange {
    pub(crate) fn step(&mut self) -> Vec<u8> {
        match self {
            Self::Begin => {
                *self = Self::Challenged;
                negotiate()
            }
            Self::Challenged => {
                *self = Self::Done;
                authenticate()
            }
            Self::Done => Vec::new(),
        }
    }
}

/// UNICODE, REQUEST_TARGET, NTLM, ANONYMOUS, ALWAYS_SIGN, EXTENDED_SESSIONSECURITY, 128.
const FLAGS: u32 = 0x2008_8A05;

/// NEGOTIATE_MESSAGE (MS-NLMP 2.2.1.1) without domain and workstation.
fn negotiate() -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend(1_u32.to_le_bytes());
    message.extend((FLAGS & !0x800).to_le_bytes());
    message.extend([0; 16]);
    message
}

/// AUTHENTICATE_MESSAGE (MS-NLMP 2.2.1.3, 3.2.5.1.2): no name, no answer, and one zero byte in the
/// place of the LM response.
fn authenticate() -> Vec<u8> {
    const HEADER_BYTES: u32 = 64;
    let mut message = SIGNATURE.to_vec();
    message.extend(3_u32.to_le_bytes());
    let field = |bytes: u16, offset: u32| {
        let mut field = [0; 8];
        field[..2].copy_from_slice(&bytes.to_le_bytes());
        field[2..4].copy_from_slice(&bytes.to_le_bytes());
        field[4..].copy_from_slice(&offset.to_le_bytes());
        field
    };
    message.extend(field(1, HEADER_BYTES));
    for _ in 0..5 {
        message.extend(field(0, HEADER_BYTES + 1));
    }
    message.extend(FLAGS.to_le_bytes());
    message.push(0);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anonymous_answer_has_no_name() {
        let message = authenticate();
        assert_eq!(message.len(), 65);
        assert_eq!(message[12..20], [1, 0, 1, 0, 64, 0, 0, 0]);
        assert_eq!(message[60..64], FLAGS.to_le_bytes());
    }
}
