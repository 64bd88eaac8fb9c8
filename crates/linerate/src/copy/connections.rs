//! The sessions of a copy, and how they are protected.

use locale::{Message, said, say};
use record::{Credentials, Demands, Identity, ShareAddress, Signing, SmbSession};
use smb::copy::Place;
use smb::{
    ChannelStatus, ChannelsMax, NoKerberos, Policy, Proof, Referrals, Server, Session, Stop, Tree,
};

use super::{End, explain};
use crate::args::CopyArguments;
use crate::changes::hint;
use crate::credentials::{Client, Found, OfFile};
use crate::failure::CommandError;
use crate::share::TypedShare;
use crate::{credentials, stdout_and_stderr};

/// One session for each server and user.
pub(super) struct Connections<'a> {
    arguments: &'a CopyArguments,
    stop: &'a Stop,
    of_file: &'a OfFile,
    demands: Demands,
    pub(super) sessions: Vec<Connected>,
    /// Whether it has been said what a session without keys means.
    warned: bool,
}

/// What keeps others on the path from changing what is copied, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Protection {
    /// Nothing does.
    Nothing,
    /// All data is signed or encrypted.
    Keys,
}

impl Protection {
    fn of(tree: &Tree) -> Self {
        match tree.is_protected() {
            true => Self::Keys,
            false => Self::Nothing,
        }
    }
}

pub(super) struct Connected {
    pub(super) share: TypedShare,
    pub(super) session: Session,
    /// What was agreed, once a share of it is connected.
    pub(super) agreed: Option<SmbSession>,
    /// Why there are not more channels, until it stands in `agreed`.
    rejected: Option<Vec<Message>>,
    /// With so many channels nobody asks why there are not more.
    enough: usize,
    /// The POSIX extensions are used, for one of its shares at least.
    pub(super) posix: bool,
    /// The weakest of its shares that were located: one may demand encryption, and another one not.
    protection: Option<Protection>,
}

impl Connected {
    fn has_enough(&self) -> bool {
        let channels = self.session.channels();
        let own = channels.iter().filter(|it| it.session == 0 && it.alive);
        own.count() >= self.enough
    }
}

impl<'a> Connections<'a> {
    pub(super) fn new(
        arguments: &'a CopyArguments,
        stop: &'a Stop,
        of_file: &'a OfFile,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            arguments,
            stop,
            of_file,
            demands: credentials::demands(&arguments.login)?,
            sessions: Vec::new(),
            warned: false,
        })
    }

    pub(super) fn place(&mut self, end: &End) -> Result<Place, CommandError> {
        match end {
            End::Here(_, path) => Ok(Place::Local(path.clone())),
            End::Share(share) => {
                let connected = self.connected(share)?;
                let ShareAddress {
                    share: name, path, ..
                } = &share.address;
                let found = connected.session.locate(name, path, Referrals::Follow);
                let (tree, path) = found.map_err(explain)?;
                if let Some(rejected) = connected.rejected.take() {
                    connected.agreed = measure::agreed(&connected.session, &tree, &rejected);
                }
                let protection = Protection::of(&tree);
                let weakest = connected
                    .protection
                    .map_or(protection, |it| it.min(protection));
                connected.protection = Some(weakest);
                if tree.is_posix() && !std::mem::replace(&mut connected.posix, true) {
                    say_posix(&share.address.server, self.arguments);
                }
                if protection == Protection::Nothing {
                    self.warn(share);
                }
                Ok(Place::Share { tree, path })
            }
        }
    }

    fn connected(&mut self, share: &TypedShare) -> Result<&mut Connected, CommandError> {
        let known = self.sessions.iter().position(|connected| {
            let known = &connected.share;
            known.user == share.user
                && known.address.server == share.address.server
                && known.address.port == share.address.port
        });
        let index = if let Some(index) = known {
            index
        } else {
            let login = &self.arguments.login;
            let found = credentials::find(login, share, Client::Here, self.of_file)?;
            let demands = self.demands_of(&found.credentials);
            let mut policy = measure::demanded(&demands);
            policy.posix = os::HAS_POSIX_FILES && !self.arguments.no_posix;
            let session = connect(share, &found, &policy)?;
            session.obey(self.stop);
            let (enough, rejected) = add_channels(&session, self.arguments.channels)?;
            self.sessions.push(Connected {
                share: share.clone(),
                session,
                agreed: None,
                rejected: Some(rejected),
                enough,
                posix: false,
                protection: None,
            });
            self.sessions.len() - 1
        };
        Ok(&mut self.sessions[index])
    }

    /// What is copied as a user is signed unless that was declined: whoever is on the path could change
    /// it, and nothing would show that. Guests have no key to sign with.
    fn demands_of(&self, credentials: &Credentials) -> Demands {
        let declined = self.arguments.allow_unsigned || self.arguments.login.demands.sign.is_some();
        let mut demands = self.demands;
        if !declined && credentials.identity == Identity::User {
            demands.signing = Signing::Required;
        }
        demands
    }

    /// Says once what it means that a session has no keys.
    fn warn(&mut self, share: &TypedShare) {
        if self.warned || self.arguments.allow_unsigned {
            return;
        }
        self.warned = true;
        let unsigned = say("told-copy.unsigned").with("server", &share.address.server);
        stdout_and_stderr::say(&said(&unsigned));
        stdout_and_stderr::say(&hint(say("hint-copy.unsigned")));
    }

    /// The weakest protection of all shares.
    pub(super) fn protection(&self) -> Protection {
        let protected = |connected: &Connected| connected.protection == Some(Protection::Keys);
        match self.sessions.iter().all(protected) {
            true => Protection::Keys,
            false => Protection::Nothing,
        }
    }

    /// Why there are not more channels. What was found while the copy ran counts.
    pub(super) fn rejected(&self) -> Vec<Message> {
        let short = self.sessions.iter().filter(|it| !it.has_enough());
        let agreed = short.filter_map(|it| it.agreed.as_ref());
        let messages = agreed.flat_map(|agreed| {
            let reasons = agreed.rejected_channels.iter();
            reasons.map(move |reason| agreed.rejection(reason))
        });
        messages.collect()
    }

    /// The server that it is tried to get back to, if there is one.
    pub(super) fn reconnecting(&self) -> Option<&str> {
        let mut sessions = self.sessions.iter();
        let lost = sessions.find(|connected| connected.session.reconnecting().is_some());
        lost.map(|connected| connected.share.address.server.as_str())
    }

    pub(super) fn channels(&self) -> Vec<ChannelStatus> {
        let sessions = self.sessions.iter();
        sessions
            .flat_map(|connected| connected.session.channels())
            .collect()
    }
}

/// Says what a server with the POSIX extensions keeps.
fn say_posix(server: &str, arguments: &CopyArguments) {
    if arguments.verbose {
        stdout_and_stderr::say(&said(&say("told-copy.posix-server").with("server", server)));
    }
}

/// Logs in at the server of a share.
pub fn connect(
    share: &TypedShare,
    found: &Found,
    policy: &Policy,
) -> Result<Session, CommandError> {
    let server = Server {
        name: share.address.server.clone(),
        port: share.address.port,
    };
    let login = measure::login(Some(&found.credentials));
    let session = Session::connect(&server, None, &login, policy).map_err(explain)?;
    if session.proof() == Proof::Ntlm
        && let Some((text, next)) = without_ticket(session.no_kerberos(), &server.name, found)
    {
        stdout_and_stderr::say(&said(&text));
        stdout_and_stderr::say(&hint(next));
    }
    Ok(session)
}

/// Why a user of a domain, or one with tickets, did not log in by Kerberos, and what to do about it.
fn without_ticket(
    why: Option<NoKerberos>,
    server: &str,
    found: &Found,
) -> Option<(Message, Message)> {
    let missed = found.no_ticket.as_ref();
    let missed = missed.filter(|error| error.is_surprising());
    let of_cache = missed.map(|error| (error.message(), measure::ticket_hint(error)));
    let of_password = why.map(|why| without_kdc(why, server, &found.credentials));
    let (reason, also, next) = match (of_password, of_cache) {
        (Some((reason, _)), Some((also, next))) => (reason, Some(also), next),
        (Some((reason, next)), None) | (None, Some((reason, next))) => (reason, None, next),
        (None, None) => return None,
    };
    let text = say("told-copy.by-ntlm").with("reason", reason);
    Some((text.with_known("also", also), next))
}

/// Why a password does not get a ticket, and what to do about it.
fn without_kdc(why: NoKerberos, server: &str, credentials: &Credentials) -> (Message, Message) {
    match why {
        NoKerberos::Address => (
            say("told-copy.ticket-for-address").with("server", server),
            say("hint-copy.name-of-domain"),
        ),
        NoKerberos::UnknownRealm => (
            say("told-copy.no-kdc").with("user", smb::copy::printable(&credentials.user)),
            say("hint-copy.find-kdc"),
        ),
    }
}

/// One channel for each pair of NICs, several where both have several queues, or as many as the user
/// wants; further ones when there are ways for them. Those that cannot be had are no error: the copy
/// goes on without them. Gives how many are enough, and why there are less than there could be.
fn add_channels(
    session: &Session,
    wanted: Option<u32>,
) -> Result<(usize, Vec<Message>), CommandError> {
    let nics = smb::local_nics().map_err(explain)?;
    let (most, enough) = match wanted.map(usize::try_from) {
        Some(count) => {
            let count = count.unwrap_or(usize::MAX);
            (ChannelsMax::Count(count), count)
        }
        // Where every NIC has its channel, addresses that have none are what anybody expects.
        None => (ChannelsMax::Automatic, nics.len().max(1)),
    };
    let rejected = session.add_channels(most.of(&nics), &nics);
    session.seek_channels(most).map_err(explain)?;
    Ok((enough, rejected))
}
