//! CHALLENGE_MESSAGE of NTLM (MS-NLMP 2.2.1.2). Whatever a server says, an answer has all of its parts inside of
//! it, one after the other, and names the server that is meant once, whatever names the challenge has.

use smb::fuzzing;

const HEADER_BYTES: usize = 88;
/// Where NTProofStr and the fixed part of the blob after it end (MS-NLMP 2.2.2.7, 2.2.2.8).
const PAIRS_AT: usize = 16 + 28;
const CHANNEL_BINDINGS: u16 = 10;
const TARGET_NAME: u16 = 9;
const FLAGS: u16 = 6;

/// Takes one input; panics where what must hold does not.
pub fn run(challenge: &[u8]) {
    let Ok(answer) = fuzzing::ntlm_answer(challenge, "nas.lab.example") else {
        return;
    };
    assert!(answer.starts_with(b"NTLMSSP\0\x03\0\0\0"));
    let mut end = HEADER_BYTES;
    // LM and NT answer, domain, user, workstation, key.
    let parts = [12, 20, 28, 36, 44, 52].map(|at| {
        let (length, from) = (number(&answer, at), number(&answer, at + 4));
        assert_eq!(from, end, "one after the other");
        end = from + length;
        &answer[from..end]
    });
    assert_eq!(end, answer.len());
    let mut pairs = &parts[1][PAIRS_AT..];
    let mut found = Vec::new();
    while pairs[0] | pairs[1] != 0 {
        let id = u16::from_le_bytes([pairs[0], pairs[1]]);
        let length = number(pairs, 2);
        found.push((id, &pairs[4..4 + length]));
        pairs = &pairs[4 + length..];
    }
    assert_eq!(pairs, [0; 8], "the end of the pairs, and of the blob");
    let of = |id: u16| {
        let found: Vec<_> = found.iter().filter(|pair| pair.0 == id).collect();
        assert_eq!(found.len(), 1, "{id}");
        found[0].1
    };
    let target: Vec<u8> = "cifs/nas.lab.example"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(of(TARGET_NAME), target);
    assert_eq!(of(CHANNEL_BINDINGS), [0; 16]);
    assert_eq!(of(FLAGS)[0] & 2, 2, "it has a check sum");
}

fn number(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}
