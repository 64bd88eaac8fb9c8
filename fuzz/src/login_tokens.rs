//! Tokens of a login. The first byte chooses: NTLM in SPNEGO or no user, against a server that says
//! anything; Kerberos against a KDC that says anything; the error of a KDC; `krb5.conf`; questions of the
//! process that speaks to servers. A line of four dashes parts tokens. Whatever is said ends with an answer
//! or an error, and a key only with a login.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock};
use std::thread;

use smb::fuzzing;
use smb::{Login, Mechanism};

const PART: &[u8] = b"\n----\n";
/// How many parts count: a login asks for fewer tokens.
const PARTS_MAX: usize = 8;

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let parts = parts(data);
    match choice % 6 {
        0 => ntlm(&parts),
        1 => drop(fuzzing::login(&Login::Anonymous, "nas", &parts)),
        2 => kerberos(&parts),
        3 => drop(fuzzing::kdc_refusal(data)),
        4 => configuration(&String::from_utf8_lossy(data)),
        _ => {
            let login = user(Mechanism::Ntlm);
            drop(smb::serve_tokens(
                &login,
                "nas",
                data,
                std::io::sink(),
                &|_| None,
            ));
        }
    }
}

fn parts(mut data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some(at) = data.windows(PART.len()).position(|part| part == PART) {
        parts.push(&data[..at]);
        data = &data[at + PART.len()..];
    }
    parts.push(data);
    parts.truncate(PARTS_MAX);
    parts
}

fn user(mechanism: Mechanism) -> Login {
    Login::User {
        user: "ann".to_owned(),
        domain: "LAB.EXAMPLE".to_owned(),
        password: "secret".to_owned().into(),
        mechanism,
    }
}

fn ntlm(tokens: &[&[u8]]) {
    let login = user(Mechanism::Ntlm);
    fuzzing::login(&login, "nas", tokens).expect("nothing from outside yet");
    assert!(
        !fuzzing::login(&login, "nas", &[]).expect("the same again"),
        "no key before a challenge"
    );
}

/// The login begins at the KDC, which says each part in turn, and then hangs up.
fn kerberos(replies: &[&[u8]]) {
    let kdc = kdc();
    let mut said = kdc.said.lock().expect("no thread panicked");
    *said = replies.iter().rev().map(|reply| reply.to_vec()).collect();
    drop(said);
    let mechanism = Mechanism::Kerberos {
        kdc: Some(kdc.address.clone()),
    };
    let begun = fuzzing::login(&user(mechanism), "nas.lab.example", &[]);
    assert!(
        !begun.unwrap_or(false),
        "a key without the password's ticket"
    );
}

struct Kdc {
    address: String,
    /// What it is going to say, the next one last.
    said: Mutex<Vec<Vec<u8>>>,
}

fn kdc() -> &'static Kdc {
    static KDC: OnceLock<Kdc> = OnceLock::new();
    KDC.get_or_init(|| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound").to_string();
        thread::spawn(move || {
            while let Ok((visitor, _)) = listener.accept() {
                // A visitor that is gone already needs no answer.
                answer(visitor).ok();
            }
        });
        let said = Mutex::default();
        Kdc { address, said }
    })
}

fn answer(mut visitor: TcpStream) -> std::io::Result<()> {
    let mut length = [0; 4];
    visitor.read_exact(&mut length)?;
    let mut request = vec![0; u32::from_be_bytes(length) as usize];
    visitor.read_exact(&mut request)?;
    let next = kdc().said.lock().expect("no thread panicked").pop();
    let next = next.unwrap_or_default();
    let length = u32::try_from(next.len()).expect("it is short");
    visitor.write_all(&[&length.to_be_bytes(), &next[..]].concat())
}

fn configuration(text: &str) {
    let named = text.split_whitespace().last();
    for realm in [None, named, Some("LAB.EXAMPLE")] {
        for kdc in fuzzing::krb5_conf(text, realm) {
            assert!(text.contains(&kdc), "nothing is invented");
        }
    }
}
