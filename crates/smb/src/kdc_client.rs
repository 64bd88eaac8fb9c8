//! Which KDC a user's realm has, and how it is asked: over TCP (RFC 4120, 7.2.2). The exchange
//! itself is made by `sspi`.

use std::env;
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use locale::{Language, Message, say};

use crate::{der, read_with_deadline};

/// Where a KDC listens.
const PORT: u16 = 88;
/// How long one address of a KDC may take to answer at all, and then for each reply.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest reply that is read. The ticket of a user with very many groups has some 60 000 bytes.
const REPLY_BYTES_MAX: usize = 1 << 20;
/// The length in front of each message.
const LENGTH_BYTES: usize = 4;
/// Environment variable with other configuration files, and where they are without it.
const CONFIGURATION_VARIABLE: &str = "KRB5_CONFIG";
const CONFIGURATION_FILE: &str = "/etc/krb5.conf";
/// Largest configuration file that is read.
const CONFIGURATION_BYTES_MAX: u64 = 1 << 20;

/// What this machine knows of realms: `default_realm` and the `kdc` lines of `krb5.conf`. Files
/// that it includes are not read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    default_realm: Option<String>,
    /// Each realm with its KDCs, as `host` or `host:port`.
    realms: Vec<(String, Vec<String>)>,
}

impl Configuration {
    /// As `krb5.conf` of this machine says; a file that cannot be read says nothing.
    pub(crate) fn of_this_machine() -> Self {
        let named = env::var_os(CONFIGURATION_VARIABLE);
        // Elsewhere than on POSIX systems any user might make a file of that name.
        let usual = os::HAS_POSIX_FILES.then(|| CONFIGURATION_FILE.into());
        let mut configuration = Self::default();
        for path in env::split_paths(&named.or(usual).unwrap_or_default()) {
            let mut text = String::new();
            let read = fs::File::open(path)
                .and_then(|file| file.take(CONFIGURATION_BYTES_MAX).read_to_string(&mut text));
            if read.is_ok() {
                configuration.add(&text);
            }
        }
        configuration
    }

    /// Adds what another file says; what is known already counts more.
    pub(crate) fn add(&mut self, text: &str) {
        let mut section = "";
        // Names of the braces that are open.
        let mut open: Vec<&str> = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = line.strip_prefix('[') {
                section = name.split(']').next().unwrap_or_default();
                open.clear();
            } else if line.starts_with('}') {
                open.pop();
            } else if let Some((name, value)) = line.split_once('=') {
                let (name, value) = (name.trim(), value.trim());
                if value.starts_with('{') {
                    open.push(name);
                    if value.ends_with('}') {
                        open.pop();
                    }
                } else {
                    self.set(section, &open, name, value);
                }
            }
        }
    }

    fn set(&mut self, section: &str, open: &[&str], name: &str, value: &str) {
        match (section, open, name) {
            ("libdefaults", [], "default_realm") => {
                self.default_realm.get_or_insert_with(|| value.to_owned());
            }
            ("realms", [realm], "kdc") => {
                let value = value.strip_prefix("tcp/").unwrap_or(value).to_owned();
                let known = self.realms.iter_mut().find(|(known, _)| known == realm);
                match known {
                    Some((_, kdcs)) => kdcs.push(value),
                    None => self.realms.push(((*realm).to_owned(), vec![value])),
                }
            }
            _ => {}
        }
    }

    /// The realm of a user who names none.
    pub(crate) fn default_realm(&self) -> Option<&str> {
        self.default_realm.as_deref()
    }

    /// A realm with its KDCs. A name without a dot is a domain's short one: that is its realm's
    /// first part.
    pub(crate) fn realm(&self, name: &str) -> Option<(&str, &[String])> {
        let is_it = |realm: &str| {
            realm.eq_ignore_ascii_case(name)
                || realm
                    .split('.')
                    .next()
                    .is_some_and(|first| first.eq_ignore_ascii_case(name))
        };
        let exact = |realm: &str| realm.eq_ignore_ascii_case(name);
        let mut realms = self.realms.iter();
        let found = realms
            .clone()
            .find(|(realm, _)| exact(realm))
            .or_else(|| realms.find(|(realm, _)| is_it(realm)))?;
        Some((&found.0, &found.1))
    }
}

/// The domain that a user is of; empty for none.
pub(crate) fn domain_of<'a>(user: &'a str, domain: &'a str) -> &'a str {
    match user.rsplit_once('@') {
        Some((_, suffix)) if domain.is_empty() => suffix,
        _ => domain,
    }
}

/// The KDCs of a user's realm, of which the first that answers is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kdcs {
    /// Host and port of the first one, by which `sspi` means all of them.
    name: String,
    hosts: Vec<String>,
}

/// No KDC has answered: the one that was tried last, and how that failed.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) kdc: String,
    pub(crate) source: io::Error,
}

impl Kdcs {
    /// KDCs as `host`, `host:port`, `[address]` or `[address]:port`, at least one.
    pub(crate) fn new(hosts: Vec<String>) -> Self {
        let (host, port) = split_port(hosts.first().map_or("", String::as_str));
        let name = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        Self { name, hosts }
    }

    /// The first one, with its port.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Sends a request, which begins with its length, and gives the reply, which does too. A KDC
    /// that does not answer is not asked again. A host other than the first is the KDC of another
    /// realm, to which ours has referred us.
    pub(crate) fn ask(
        &mut self,
        host: &str,
        port: Option<u16>,
        request: &[u8],
    ) -> Result<Vec<u8>, NoAnswer> {
        let wanted = format!("{host}:{}", port.unwrap_or(PORT));
        if !wanted.eq_ignore_ascii_case(&self.name) {
            return ask(&wanted, request).map_err(|source| NoAnswer {
                kdc: wanted,
                source,
            });
        }
        loop {
            let Some(kdc) = self.hosts.first().cloned() else {
                let source = io::Error::new(io::ErrorKind::NotFound, "there is none");
                let kdc = String::new();
                return Err(NoAnswer { kdc, source });
            };
            match ask(&kdc, request) {
                Ok(reply) => return Ok(reply),
                Err(source) if self.hosts.len() == 1 => return Err(NoAnswer { kdc, source }),
                Err(_) => drop(self.hosts.remove(0)),
            }
        }
    }
}

fn ask(kdc: &str, request: &[u8]) -> io::Result<Vec<u8>> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "it has no address");
    for address in split_port(kdc).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return exchange(stream, request),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn exchange(mut stream: TcpStream, request: &[u8]) -> io::Result<Vec<u8>> {
    let until = Instant::now() + REPLY_TIMEOUT;
    stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
    stream.write_all(request)?;
    let mut length = [0; LENGTH_BYTES];
    read_with_deadline::read(&stream, &mut length, until)?;
    let bytes = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if bytes > REPLY_BYTES_MAX {
        let text = format!("its reply has {bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut reply = length.to_vec();
    reply.resize(LENGTH_BYTES + bytes, 0);
    read_with_deadline::read(&stream, &mut reply[LENGTH_BYTES..], until)?;
    Ok(reply)
}

fn split_port(kdc: &str) -> (&str, u16) {
    let port = |text: &str| text.parse().ok().filter(|&port: &u16| port != 0);
    if let Some((address, rest)) = kdc.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let given = rest.strip_prefix(':').and_then(port);
        return (address, given.unwrap_or(PORT));
    }
    match kdc.split_once(':') {
        // More than one colon and no brackets: a bare IPv6 address.
        Some((_, rest)) if rest.contains(':') => (kdc, PORT),
        Some((host, given)) => (host, port(given).unwrap_or(PORT)),
        None => (kdc, PORT),
    }
}

/// Why a KDC gives no ticket: its error codes (RFC 4120, 7.5.9), as far as somebody can do
/// something about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KdcRefusal {
    /// It knows no such user.
    UnknownUser,
    /// It knows no such service: the server's name is not the one its domain knows it by.
    UnknownService,
    /// The account is disabled, locked or expired.
    Revoked,
    /// The password has expired.
    PasswordExpired,
    /// The password is wrong.
    WrongPassword,
    /// The clocks differ by more than it allows.
    ClockSkew,
    /// It is the KDC of another realm.
    WrongRealm,
    /// It and we have no encryption in common: we only take AES.
    NoCommonEncryption,
    /// Another error, by its number.
    Other(u32),
}

impl KdcRefusal {
    /// Why, as something that can be said in any language.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            Self::UnknownUser => say("error-auth.kdc-unknown-user"),
            Self::UnknownService => say("error-auth.kdc-unknown-service"),
            Self::Revoked => say("error-auth.kdc-revoked"),
            Self::PasswordExpired => say("error-auth.kdc-password-expired"),
            Self::WrongPassword => say("error-auth.kdc-wrong-password"),
            Self::ClockSkew => say("error-auth.kdc-clock-skew"),
            Self::WrongRealm => say("error-auth.kdc-wrong-realm"),
            Self::NoCommonEncryption => say("error-auth.kdc-no-common-encryption"),
            Self::Other(code) => say("error-auth.kdc-error").count("code", code),
        }
    }
}

impl fmt::Display for KdcRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// That the user must prove himself first: a step on the way, no refusal.
const PREAUTHENTICATION_REQUIRED: u32 = 25;

/// What a reply that begins with its length refuses, if it does.
pub(crate) fn refusal(reply: &[u8]) -> Option<KdcRefusal> {
    Some(match error_code(reply.get(LENGTH_BYTES..)?)? {
        PREAUTHENTICATION_REQUIRED => return None,
        6 => KdcRefusal::UnknownUser,
        7 => KdcRefusal::UnknownService,
        14 => KdcRefusal::NoCommonEncryption,
        1 | 18 => KdcRefusal::Revoked,
        23 => KdcRefusal::PasswordExpired,
        24 => KdcRefusal::WrongPassword,
        37 => KdcRefusal::ClockSkew,
        68 => KdcRefusal::WrongRealm,
        code => KdcRefusal::Other(code),
    })
}

/// The `error-code` of a KRB-ERROR (RFC 4120, 5.9.1); none of another message.
fn error_code(message: &[u8]) -> Option<u32> {
    const KRB_ERROR: u8 = 0x7E;
    const ERROR_CODE: u8 = der::explicit(6);
    const INTEGER: u8 = 0x02;
    let (content, _) = der::read_tagged(KRB_ERROR, message)?;
    let (mut fields, _) = der::read_tagged(der::SEQUENCE, content)?;
    while let Some((tag, content, rest)) = der::read(fields) {
        if tag == ERROR_CODE {
            let (number, _) = der::read_tagged(INTEGER, content)?;
            let number = number.get(number.len().saturating_sub(4)..)?;
            return Some(
                number
                    .iter()
                    .fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
            );
        }
        fields = rest;
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    fn configuration(text: &str) -> Configuration {
        let mut configuration = Configuration::default();
        configuration.add(text);
        configuration
    }

    #[test]
    fn a_file_names_the_kdcs_of_each_realm() {
        let read = configuration(
            "# comment\n[libdefaults]\n default_realm = LAB.EXAMPLE\n\n[realms]\n\
             LAB.EXAMPLE = {\n kdc = dc1.lab.example\n kdc=tcp/dc2.lab.example:8888\n\
             auth_to_local_names = {\n kdc = nobody\n }\n admin_server = x\n }\n\
             OTHER.EXAMPLE = {\n}\n OLD.EXAMPLE = { }\n kdc = nobody\n[domain_realm]\n kdc = nobody\n",
        );
        assert_eq!(read.default_realm(), Some("LAB.EXAMPLE"));
        let kdcs = ["dc1.lab.example", "dc2.lab.example:8888"].map(str::to_owned);
        for name in ["LAB.EXAMPLE", "lab.example", "LAB"] {
            assert_eq!(read.realm(name), Some(("LAB.EXAMPLE", kdcs.as_slice())));
        }
        for name in [
            "",
            "OTHER.EXAMPLE",
            "EXAMPLE",
            "WORKGROUP",
            "LAB.EXAMPLE.COM",
        ] {
            assert_eq!(read.realm(name), None, "{name}");
        }
        assert_eq!(
            configuration("}\n[x\n= {\n[realms]\nkdc = a"),
            Configuration::default()
        );
    }

    #[test]
    fn a_kdc_is_written_with_or_without_its_port() {
        for (text, expected) in [
            ("dc", ("dc", 88)),
            ("dc:750", ("dc", 750)),
            ("10.0.0.1", ("10.0.0.1", 88)),
            ("fd00::1", ("fd00::1", 88)),
            ("[fd00::1]", ("fd00::1", 88)),
            ("[fd00::1]:750", ("fd00::1", 750)),
        ] {
            assert_eq!(split_port(text), expected);
        }
        assert_eq!(Kdcs::new(vec!["fd00::1".to_owned()]).name(), "[fd00::1]:88");
    }

    /// A KDC that answers one request with these bytes, and its name.
    pub(crate) fn kdc_that_says(reply: Vec<u8>) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            let (mut visitor, _) = listener.accept().expect("a visitor");
            let mut length = [0; LENGTH_BYTES];
            visitor.read_exact(&mut length).expect("a length");
            let length = u64::from(u32::from_be_bytes(length));
            let request = io::copy(&mut (&visitor).take(length), &mut io::sink());
            assert_eq!(request.expect("a request"), length);
            visitor.write_all(&reply).expect("it listens");
        });
        address.to_string()
    }

    #[test]
    fn the_next_kdc_is_asked_when_one_does_not_answer() {
        let request = [0, 0, 0, 4, 1, 2, 3, 4];
        let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let dead = closed.local_addr().expect("it is bound").to_string();
        drop(closed);
        let good = kdc_that_says(vec![0, 0, 0, 1, 7]);
        let ask = |kdcs: &[&String]| {
            let mut kdcs = Kdcs::new(kdcs.iter().map(|&kdc| kdc.clone()).collect());
            let (host, port) = split_port(kdcs.name());
            let (host, port) = (host.to_owned(), port);
            kdcs.ask(&host, Some(port), &request)
        };
        assert_eq!(ask(&[&dead, &good]).expect("the second"), [0, 0, 0, 1, 7]);
        assert_eq!(ask(&[&dead]).expect_err("a closed port").kdc, dead);
        for wrong in [vec![], vec![0, 0, 0, 9, 1], vec![0xFF; 4]] {
            assert!(ask(&[&kdc_that_says(wrong)]).is_err());
        }
        let other = kdc_that_says(vec![0, 0, 0, 1, 8]);
        let (host, port) = split_port(&other);
        let referred = Kdcs::new(vec![dead]).ask(host, Some(port), &request);
        assert_eq!(referred.expect("another realm's"), [0, 0, 0, 1, 8]);
    }

    /// A KRB-ERROR with the fields that must be there, and this code.
    fn krb_error(code: u8) -> Vec<u8> {
        let mut fields = vec![0xA0, 3, 2, 1, 5, 0xA1, 3, 2, 1, 30];
        fields.extend([0xA4, 17, 0x18, 15]);
        fields.extend(b"20261121120000Z");
        fields.extend([0xA5, 4, 2, 2, 1, 0, 0xA6, 3, 2, 1, code]);
        let length = u8::try_from(fields.len()).expect("short");
        let mut message = vec![0, 0, 0, length + 5, 0x7E, length + 3, 0x30, 0x81, length];
        message.extend(fields);
        message
    }

    #[test]
    fn a_refusal_is_understood() {
        assert_eq!(refusal(&krb_error(24)), Some(KdcRefusal::WrongPassword));
        assert_eq!(refusal(&krb_error(6)), Some(KdcRefusal::UnknownUser));
        assert_eq!(refusal(&krb_error(7)), Some(KdcRefusal::UnknownService));
        assert_eq!(refusal(&krb_error(99)), Some(KdcRefusal::Other(99)));
        assert_eq!(
            refusal(&krb_error(25)),
            None,
            "that is asked for on the way"
        );
        let whole = krb_error(24);
        for end in 0..whole.len() {
            assert_eq!(refusal(&whole[..end]), None, "{end} bytes");
        }
        assert_eq!(refusal(&[0, 0, 0, 2, 0x6B, 0]), None, "an answer, no error");
    }
}
