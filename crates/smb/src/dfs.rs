//! Distributed file systems (MS-DFSC): a server says that a share or a folder is on another one.
//!
//! Whoever may name another server may send a user's login there. So a referral is believed only from a server that
//! has proven itself by the login, over a signed or encrypted message, and leads only to a login that demands at least
//! as much: the same user and mechanism, signing and encryption where the first session has them. All bounds hold for
//! all referrals on the path to one folder together; sessions are opened once for each server.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::{Arc, Weak};

use smb_proto::NtStatus;
use smb_proto::session::{Access, CreateOptions, EncryptionPolicy, Reply, Request, SigningPolicy};
use smb_proto::wire::{Message as _, ReferralResponse};

use crate::auth::{Login, Mechanism, Proof};
use crate::blocking_request::ask;
use crate::copy::name::{joined, printable};
use crate::error::Error;
use crate::list_and_connect_shares::IPC_SHARE;
use crate::session::{Policy, Route, Server, Session, Shared, local_nics};
use crate::signal::lock;
use crate::tree::Tree;

/// Referrals that are asked for on the path to one folder.
const REFERRALS_MAX: usize = 8;
/// Targets of one referral that are tried.
const TARGETS_MAX: usize = 8;
/// Servers that referrals of one session lead to, and addresses of each that are tried.
const SERVERS_MAX: usize = 16;
const ADDRESSES_MAX: usize = 4;
/// Longest names of a host (RFC 1035, 2.3.4) and of a share (MS-SRVS 2.2.2.7).
const HOST_BYTES_MAX: usize = 255;
const SHARE_CHARS_MAX: usize = 80;
/// Where servers listen; a referral names no port.
const PORT: u16 = 445;

/// What to do where a server refers to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referrals {
    /// Log in there as well.
    Follow,
    /// Say where it is: [`Error::Elsewhere`].
    Name,
}

/// Where something is, as `\server\share\path` says it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    server: String,
    share: String,
    /// With `/` between its parts.
    path: String,
}

impl Target {
    /// None where it cannot be the name of anything.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('\\').filter(|part| !part.is_empty());
        let (server, share) = (parts.next()?, parts.next()?);
        let path: Vec<&str> = parts.collect();
        let is_host = |letter: char| letter.is_alphanumeric() || "-._".contains(letter);
        let is_name = |part: &&str| {
            let odd = |letter: char| letter.is_control() || "/:*?\"<>|".contains(letter);
            ![".", ".."].contains(part) && !part.contains(odd)
        };
        let is_fine = server.len() <= HOST_BYTES_MAX
            && server.chars().all(is_host)
            && server.starts_with(char::is_alphanumeric)
            && share.chars().count() <= SHARE_CHARS_MAX
            && path.iter().chain([&share]).all(is_name);
        is_fine.then(|| Self {
            server: server.to_owned(),
            share: share.to_owned(),
            path: path.join("/"),
        })
    }

    /// The same with what follows the part of the path that was referred.
    fn with(mut self, rest: &str) -> Self {
        for part in rest.split('/').filter(|part| !part.is_empty()) {
            self.path = joined(&self.path, part);
        }
        self
    }

    fn at(shared: &Shared, share: &str, path: &str) -> Self {
        Self {
            server: shared.server.name.clone(),
            share: share.to_owned(),
            path: path.to_owned(),
        }
    }

    /// As users read it.
    fn shown(&self) -> String {
        printable(&self.written())
    }

    /// As users write it.
    fn written(&self) -> String {
        let Self {
            server,
            share,
            path,
        } = self;
        let end = if path.is_empty() { "" } else { "/" };
        format!("smb://{server}/{share}{end}{path}")
    }
}

/// Where the targets of an answer are, with the rest of the path that was asked for; what cannot be a target is left out.
fn targets(answer: &ReferralResponse, asked: &str) -> Vec<Target> {
    let units: Vec<u16> = asked.encode_utf16().collect();
    let consumed = usize::from(answer.path_consumed) / 2;
    // It ends at the end of a name.
    let ends = |at: usize| units.get(at).is_none_or(|unit| *unit == u16::from(b'\\'));
    let Some(rest) = units.get(consumed..).filter(|_| {
        let last = consumed.checked_sub(1).and_then(|last| units.get(last));
        ends(consumed) || last == Some(&u16::from(b'\\'))
    }) else {
        return Vec::new();
    };
    let rest = String::from_utf16_lossy(rest).replace('\\', "/");
    let found = answer
        .referrals
        .iter()
        .filter_map(|it| Target::parse(&it.target));
    found.take(TARGETS_MAX).map(|it| it.with(&rest)).collect()
}

/// The same, from bytes and as users write it.
pub(crate) fn referred(answer: &[u8], asked: &str) -> Vec<String> {
    let answer = ReferralResponse::decode(answer);
    let found = answer.map_or(Vec::new(), |answer| targets(&answer, asked));
    found.iter().map(Target::written).collect()
}

impl Session {
    /// Connects to a share and finds a path of it, which need not be there. Where the server says that the share or a
    /// folder on the path is on another server (DFS), the user is logged in there as well, with the same demands, and
    /// the share and the path are those of that server. The session with it ends with this one.
    ///
    /// # Errors
    /// When there is no such share, the user may not use it, or no server that is referred to can be used.
    pub fn locate(
        &self,
        share: &str,
        path: &str,
        referrals: Referrals,
    ) -> Result<(Tree, String), Error> {
        let mut journey = Journey::of(self.shared(), referrals);
        match journey.enter(self.shared(), &Target::at(self.shared(), share, path)) {
            Err(error @ Error::NoSuchShare { .. }) => Err(self.with_shares(error)),
            found => {
                let (tree, path) = found?;
                let path = tree.without_links(path)?;
                Ok((tree, path))
            }
        }
    }

    /// A session with another server for this one.
    fn refer(
        home: &Arc<Shared>,
        server: &Server,
        address: SocketAddr,
        login: &Login,
        policy: &Policy,
    ) -> Result<Self, Error> {
        let route = Route::to(address);
        Self::connect_by(
            &route,
            server,
            login,
            policy,
            home.pool.clone(),
            Arc::default(),
            Some(Arc::downgrade(home)),
        )
    }
}

/// Finds a path where its server has just said that it is on another one.
pub(crate) fn follow(tree: &Tree, path: &str, refusal: Error) -> Result<(Tree, String), Error> {
    let shared = tree.shared();
    let mut journey = Journey::of(shared, Referrals::Follow);
    journey.encrypted = tree.is_encrypted();
    journey.refer(shared, &Target::at(shared, tree.share(), path), refusal)
}

/// Whether a server says so.
fn is_elsewhere(error: &Error) -> bool {
    error.status() == Some(NtStatus::PATH_NOT_COVERED)
}

/// All referrals on the path to one folder.
struct Journey {
    /// The session that the user asked for.
    home: Arc<Shared>,
    referrals: Referrals,
    asked: usize,
    /// What was referred to already.
    seen: BTreeSet<String>,
    /// A share demanded encryption.
    encrypted: bool,
}

impl Journey {
    fn of(shared: &Arc<Shared>, referrals: Referrals) -> Self {
        let home = shared.home.as_ref().and_then(Weak::upgrade);
        Self {
            home: home.unwrap_or_else(|| Arc::clone(shared)),
            referrals,
            asked: 0,
            seen: BTreeSet::new(),
            encrypted: false,
        }
    }

    /// The share and the path there, if they are there, and wherever they are referred to otherwise.
    fn enter(&mut self, at: &Arc<Shared>, target: &Target) -> Result<(Tree, String), Error> {
        let refusal = match Tree::connect(at, &target.share) {
            Ok(tree) => match probe(&tree, &target.path) {
                Ok(()) => return Ok((tree, target.path.clone())),
                Err(refusal) => {
                    self.encrypted |= tree.is_encrypted();
                    refusal
                }
            },
            Err(refusal @ Error::NoSuchShare { .. }) => refusal,
            Err(refusal) if is_elsewhere(&refusal) => refusal,
            Err(error) => return Err(error),
        };
        self.refer(at, target, refusal)
    }

    /// Asks a server that refuses a path where it is, and goes there.
    fn refer(
        &mut self,
        at: &Arc<Shared>,
        from: &Target,
        refusal: Error,
    ) -> Result<(Tree, String), Error> {
        // Of a share that is not there its root is asked for (MS-DFSC 3.1.4.1).
        let asked = match refusal {
            Error::NoSuchShare { .. } => self.ask(at, from, ""),
            _ => self.ask(at, from, &from.path),
        };
        let targets = match asked {
            Ok(targets) if !targets.is_empty() => targets,
            Err(Error::Stopped) => return Err(Error::Stopped),
            // It has no more to say about it, or hangs up at such a question.
            Ok(_) | Err(_) => return Err(refusal),
        };
        let object = from.shown();
        if self.referrals == Referrals::Name || matches!(at.login, Login::Brokered(_)) {
            let targets = targets.iter().map(Target::shown).collect();
            return Err(Error::Elsewhere { object, targets });
        }
        self.asked += 1;
        let mut failure = None;
        for target in &targets {
            let failed = match self.go_to(target) {
                Ok(found) => return Ok(found),
                Err(failed) => failed,
            };
            let goes_on = may_be_better_elsewhere(&failed);
            failure = Some((target, failed));
            if !goes_on {
                break;
            }
        }
        match failure {
            // What it is about is said by the last of them.
            Some((_, error @ (Error::NoTarget { .. } | Error::Stopped))) => Err(error),
            Some((target, error)) => Err(Error::NoTarget {
                object,
                target: target.shown(),
                source: Box::new(error),
            }),
            None => Err(refusal),
        }
    }

    /// Where a server says that something is, by so much of its path.
    fn ask(&self, at: &Arc<Shared>, from: &Target, begin: &str) -> Result<Vec<Target>, Error> {
        let ipc = Tree::connect(at, IPC_SHARE)?;
        let Target { server, share, .. } = from;
        let named = |path: &str| {
            let all = format!("\\{server}\\{share}\\{}", path.replace('/', "\\"));
            all.trim_end_matches('\\').to_owned()
        };
        let asked = named(begin);
        let request = Request::Referrals {
            tree: ipc.key(),
            path: asked.clone(),
        };
        match ask(at, request, &from.shown())? {
            Reply::Referrals(answer) => Ok(targets(&answer, &named(&from.path))),
            _ => Err(at.odd_answer()),
        }
    }

    fn go_to(&mut self, target: &Target) -> Result<(Tree, String), Error> {
        let is_new = self.seen.insert(target.shown().to_lowercase());
        if !is_new || self.asked > REFERRALS_MAX {
            return Err(Error::EndlessReferrals);
        }
        let there = self.session_with(&target.server)?;
        self.enter(&there, target)
    }

    /// The session with a server, the one that is there or a new one.
    fn session_with(&self, server: &str) -> Result<Arc<Shared>, Error> {
        let home = &self.home;
        if home.server.name.eq_ignore_ascii_case(server) {
            return Ok(Arc::clone(home));
        }
        let _one_after_the_other = lock(&home.referred.opening);
        let known = home.referred.each(|session| Arc::clone(session.shared()));
        let is_it = |it: &&Arc<Shared>| it.server.name.eq_ignore_ascii_case(server);
        if let Some(there) = known.iter().find(is_it) {
            return Ok(Arc::clone(there));
        }
        if known.len() >= SERVERS_MAX {
            return Err(Error::EndlessReferrals);
        }
        let session = self.connect(server)?;
        session.obey(&lock(&home.stop));
        if let Some(most) = home.seeks.get() {
            // What cannot be had is done without.
            let nics = local_nics().unwrap_or_default();
            session.add_channels(most.of(&nics), &nics);
            session.seek_channels(*most)?;
        }
        let there = Arc::clone(session.shared());
        lock(&home.referred.sessions).push(session);
        Ok(there)
    }

    /// Logs in there as at home, with no weaker protection.
    fn connect(&self, server: &str) -> Result<Session, Error> {
        let server = Server {
            name: server.to_owned(),
            port: PORT,
        };
        let unknown = |source| Error::UnknownHost {
            name: server.name.clone(),
            source,
        };
        let own = self.home.primary().map(|pair| pair.remote);
        let known = (server.name.as_str(), PORT)
            .to_socket_addrs()
            .map_err(unknown)?;
        let here: Vec<IpAddr> = local_nics()?
            .iter()
            .flat_map(|nic| nic.addresses.iter().map(|address| address.address))
            .collect();
        let (usable, refused): (Vec<SocketAddr>, Vec<SocketAddr>) =
            known.partition(|address| is_of_another_machine(address.ip(), own, &here));
        let policy = protected(&self.home, self.encrypted);
        let login = proven_alike(&self.home);
        let of_here = refused.iter().find(|address| !address.ip().is_multicast());
        let mut failure = match of_here {
            Some(address) => Error::ReferredHere {
                name: server.name.clone(),
                address: address.ip(),
            },
            None => unknown(std::io::ErrorKind::AddrNotAvailable.into()),
        };
        for address in usable.into_iter().take(ADDRESSES_MAX) {
            match Session::refer(&self.home, &server, address, &login, &policy) {
                Err(error @ (Error::Unreachable { .. } | Error::PortClosed { .. })) => {
                    failure = error
                }
                connected => return connected,
            }
        }
        Err(failure)
    }
}

/// Whether a path of a share is there, or nowhere. A server that has it elsewhere says so when it is opened.
pub(crate) fn probe(tree: &Tree, path: &str) -> Result<(), Error> {
    if path.is_empty() || !tree.is_in_dfs() {
        return Ok(());
    }
    match tree.open(path, &CreateOptions::open(Access::Attributes)) {
        Err(error) if is_elsewhere(&error) => Err(error),
        // What else is wrong with it shows when it is used.
        _ => Ok(()),
    }
}

/// Whether the next target may do better. Where a login was refused, the next server would refuse it too, and count it.
const fn may_be_better_elsewhere(error: &Error) -> bool {
    matches!(
        error,
        Error::UnknownHost { .. }
            | Error::ReferredHere { .. }
            | Error::Unreachable { .. }
            | Error::PortClosed { .. }
            | Error::ConnectionLost { .. }
            | Error::NoSuchShare { .. }
            | Error::Credentials { .. }
            | Error::Incompatible { .. }
            | Error::OnlySmb1 { .. }
            | Error::Protocol { .. }
            | Error::NoTarget { .. }
            | Error::EndlessReferrals
    )
}

/// Whether a server may lead us there, by a referral or a list of its interfaces: not to this machine, which has the
/// addresses `here` and takes for its own what else the system sends to itself, unless the server is on it too.
pub(crate) fn is_of_another_machine(address: IpAddr, own: Option<IpAddr>, here: &[IpAddr]) -> bool {
    let is_here = |address: IpAddr| {
        let listed = here.iter().any(|own| own.to_canonical() == address);
        listed || address.is_loopback() || comes_back(address)
    };
    let address = address.to_canonical();
    let is_host = !address.is_unspecified() && !address.is_multicast();
    let is_shared = own.is_some_and(|own| is_here(own.to_canonical()));
    is_host && (!is_here(address) || is_shared)
}

/// Whether the system takes this address for its own, also where it is one of the loopback interface, or of a route to
/// this machine: it would speak to it from the address itself, or lets a program listen there. Nothing is sent for it.
fn comes_back(address: IpAddr) -> bool {
    let of_nobody: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let lets_listen = |address: IpAddr| UdpSocket::bind((address, 0)).is_ok();
    // Where the system lets programs listen at addresses that it does not have, that says nothing (RFC 5737, RFC 3849).
    if lets_listen(address) && !lets_listen(of_nobody) {
        return true;
    }
    let any: SocketAddr = match address {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let from = UdpSocket::bind(any).and_then(|socket| {
        socket.connect((address, PORT))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip().to_canonical() == address)
}

/// The policy of a session that demands what was asked for, and at least what the first one has.
fn protected(home: &Shared, encrypted: bool) -> Policy {
    let mut policy = home.policy.clone();
    if let Some(agreed) = home.protocol.negotiated() {
        if agreed.encryption || encrypted {
            policy.encryption = EncryptionPolicy::Required;
        }
        if agreed.signing && agreed.data_signing {
            policy.signing = SigningPolicy::Required;
        }
    }
    policy
}

/// The login that proves a user as the first one did: who was proven by a ticket gives no other server what a password
/// could be guessed from.
fn proven_alike(home: &Shared) -> Login {
    let mut login = home.login.clone();
    if let Login::User { mechanism, .. } = &mut login
        && *mechanism == Mechanism::Automatic
        && home.proof.get() == Some(&Proof::Kerberos)
    {
        *mechanism = Mechanism::Kerberos { kdc: None };
    }
    login
}

#[cfg(test)]
mod tests {
    use smb_proto::wire::Referral;

    use super::*;

    fn answer(path_consumed: usize, targets: &[&str]) -> ReferralResponse {
        let referral = |target: &&str| Referral {
            version: 4,
            is_root: false,
            time_to_live_seconds: 300,
            target: (*target).to_owned(),
        };
        ReferralResponse {
            path_consumed: u16::try_from(path_consumed).unwrap(),
            referrals: targets.iter().map(referral).collect(),
        }
    }

    fn shown(answer: &ReferralResponse, asked: &str) -> Vec<String> {
        targets(answer, asked).iter().map(Target::shown).collect()
    }

    #[test]
    fn the_rest_of_a_path_follows_each_target() {
        let asked = r"\nas\共有\link\abc\b";
        let to = [r"\fs1\data", r"\\fs2.lab.example\data\deep\"];
        let all = [
            "smb://fs1/data/abc/b",
            "smb://fs2.lab.example/data/deep/abc/b",
        ];
        let link = r"\nas\共有\link".encode_utf16().count();
        assert_eq!(shown(&answer(2 * link, &to), asked), all);
        // Some count the separator.
        assert_eq!(shown(&answer(2 * link + 2, &to), asked), all);
        let whole = 2 * asked.encode_utf16().count();
        assert_eq!(shown(&answer(whole, &to[..1]), asked), ["smb://fs1/data"]);
        for wrong in [2 * link - 2, 2 * link + 4, whole + 2] {
            assert!(shown(&answer(wrong, &to), asked).is_empty(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_target_is_left_out() {
        let asked = r"\nas\dfs";
        let long = format!(r"\{}\data", "a".repeat(HOST_BYTES_MAX + 1));
        let odd = [
            "",
            r"\",
            r"\fs1",
            r"\..\data",
            r"\ann@fs1\data",
            r"\fs1:4450\data",
            r"\-oProxy\data",
            r"\fs1\..\data",
            r"\fs1\data\..\..\x",
            "\\fs1\\da\u{1b}[31mta",
            "\\fs1/x\\data",
            &long,
        ];
        for odd in odd {
            assert!(shown(&answer(16, &[odd]), asked).is_empty(), "{odd}");
        }
        let many = [r"\fs1\data"; 3 * TARGETS_MAX];
        assert_eq!(shown(&answer(16, &many), asked).len(), TARGETS_MAX);
    }

    #[test]
    fn no_referral_leads_to_this_machine_itself() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let (near, far) = (Some(ip("127.0.0.1")), Some(ip("198.51.100.2")));
        let beside = Some(ip("198.51.100.1"));
        let here = ["198.51.100.1", "2001:db8::1"].map(ip);
        for (address, own, is_fine) in [
            ("198.51.100.1", far, false),
            ("::ffff:198.51.100.1", far, false),
            ("2001:db8::1", far, false),
            ("198.51.100.1", None, false),
            ("198.51.100.1", near, true),
            ("127.0.0.1", beside, true),
            ("::", far, false),
            ("::ffff:0.0.0.0", far, false),
            ("10.77.2.2", far, true),
            ("10.77.2.2", near, true),
            ("127.0.0.2", near, true),
            ("127.0.0.1", far, false),
            ("::1", far, false),
            ("::ffff:127.0.0.1", far, false),
            ("127.0.0.1", None, false),
            ("0.0.0.0", far, false),
            ("224.0.0.1", far, false),
        ] {
            assert_eq!(
                is_of_another_machine(ip(address), own, &here),
                is_fine,
                "{address}"
            );
        }
        // What no list of interfaces has is known by where it is spoken to from.
        assert!(comes_back(ip("127.0.0.1")) && !comes_back(ip("198.51.100.2")));
    }
}
