//! What fuzz targets reach of this crate: parsers of what servers and KDCs say. No interface; see `fuzz/`.

use locale::Message;
use smb_proto::Authenticator;

use crate::auth::{AuthError, Exchange, Login};
use crate::copy::name::Rules;
use crate::copy::{Names, name, resume_record, symbolic_links};
use crate::dfs;
use crate::kdc_client::{self, Configuration, KdcRefusal};
use crate::ntlm;

/// Logs in against a server that answers with these tokens, whatever they are; whether all of them were
/// taken and a key is known.
///
/// # Errors
/// When the login cannot begin; for Kerberos that is where the KDC is asked.
pub fn login(login: &Login, server: &str, tokens: &[&[u8]]) -> Result<bool, AuthError> {
    let mut exchange = Exchange::new(login, server)?;
    let mut key = None;
    for token in [&[][..]].iter().chain(tokens) {
        match exchange.step(token) {
            Ok(step) => key = step.session_key,
            Err(_refused) => return Ok(false),
        }
    }
    Ok(key.is_some())
}

/// Our answer to a challenge of NTLM, as a user `ann` of a domain `LAB`.
///
/// # Errors
/// What is wrong with the challenge.
pub fn ntlm_answer(challenge: &[u8], server: &str) -> Result<Vec<u8>, AuthError> {
    ntlm::answered(challenge, server)
}

/// What a reply of a KDC refuses.
#[must_use]
pub fn kdc_refusal(reply: &[u8]) -> Option<KdcRefusal> {
    kdc_client::refusal(reply)
}

/// The KDCs of a realm by a `krb5.conf`, its default realm where none is named.
#[must_use]
pub fn krb5_conf(text: &str, realm: Option<&str>) -> Vec<String> {
    let mut configuration = Configuration::default();
    configuration.add(text);
    let realm = realm.or(configuration.default_realm());
    let found = realm.and_then(|realm| configuration.realm(realm));
    found.map_or(Vec::new(), |(_, kdcs)| kdcs.to_vec())
}

/// Where a server's answer says that a path is, as `smb://server/share/path`.
#[must_use]
pub fn referred(answer: &[u8], asked: &str) -> Vec<String> {
    dfs::referred(answer, asked)
}

/// The name that an entry of a share gets on this machine; `posix`: of one that has the POSIX extensions.
///
/// # Errors
/// Why it gets none.
pub fn name_for_local(name: &str, names: Names, posix: bool) -> Result<String, Message> {
    name::for_local(name, names, rules(posix))
}

fn rules(posix: bool) -> Rules {
    match posix {
        true => Rules::Posix,
        false => Rules::Windows,
    }
}

/// Whether a link in a folder so deep below what is copied is copied as one.
#[must_use]
pub fn link_stays_below(target: &str, depth: usize) -> bool {
    symbolic_links::stays_below(target, depth)
}

/// The name that a file of this machine gets on a share.
///
/// # Errors
/// Why it gets none.
pub fn name_for_share(name: &str, names: Names, posix: bool) -> Result<String, Message> {
    name::from_here(name, names, rules(posix))
}

/// The names under which a file is written, and what is known of it kept, until it is complete.
#[must_use]
pub fn names_of_part(name: &str) -> [String; 2] {
    [name::of_part(name), name::of_record(name)]
}

/// Whether such a name is one of those.
#[must_use]
pub fn is_of_part(name: &str) -> bool {
    name::is_ours(name)
}

/// What a record beside a part says is complete, written again.
#[must_use]
pub fn record_of_part(text: &[u8]) -> Option<String> {
    resume_record::Record::parse(text).map(resume_record::Record::to_text)
}

/// A record of such content with the check sum that it wants.
#[must_use]
pub fn checked_record(content: &str) -> String {
    let check = blake3::hash(content.as_bytes()).to_hex();
    format!("{content}check {check}\n")
}
