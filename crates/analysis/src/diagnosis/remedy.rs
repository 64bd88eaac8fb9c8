//! What is done about each cause: by which means, what that disturbs, and how sure it is to help.

use record::{HostFacts, KnobId, Level, Setting, ShareAddress, System, Target, Value};

use crate::{Estimate, Fix, Trust};

/// How a cause is put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// By settings that linerate makes and takes back, so that `tune` proves them.
    Settings,
    /// By hand, and why linerate does not try it.
    Hand(&'static str),
    /// By giving up protection, or by another way to protect. It has a price and is never tried unasked.
    Protection(&'static str),
    /// Not known: the cause says where something is lost and not why.
    Unknown(&'static str),
}

/// What is known of putting a cause right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Id of the cause.
    pub cause: &'static str,
    /// Id of the fix; none where none is known.
    pub fix: Option<&'static str>,
    /// By which means.
    pub means: Means,
    /// What it disturbs while it is made.
    pub disturbs: &'static str,
    /// How sure it is that the cause is what costs speed.
    pub trust: Trust,
}

const NOTHING: &str =
    "nothing: new connections have it, and those that are there keep what they had";
const LINK: &str = "the link, for a moment: many drivers reset the NIC";
const SERVER: &str =
    "nothing: the server reads it at once, and sessions that begin afterwards have it";
const SESSIONS: &str = "every session of the server, which must be started again";
const HANDS: &str = "whatever uses the link while somebody works on it";

/// Everything that may be named, in the order of the way from the NICs to the disk.
pub const REMEDIES: [Remedy; 27] = [
    by_hand(
        "path-mtu-black-hole",
        "mtu-of-switch",
        "no share can be measured over it, so there is nothing to compare with",
        LINK,
        Trust::Measured,
    ),
    by_hand(
        "wifi-used",
        "use-cable",
        "what else uses the Wi-Fi, and where a cable could lie, only you know",
        "whatever uses the Wi-Fi at that moment",
        Trust::Computed,
    ),
    by_hand(
        "tunnel-used",
        "around-tunnel",
        "a tunnel protects what is sent, and what must go through it only you know",
        "whatever uses the tunnel while its routes change",
        Trust::Computed,
    ),
    by_hand(
        "slow-link",
        "cable",
        "it takes another cable or port",
        HANDS,
        Trust::Computed,
    ),
    by_hand(
        "faster-way-unused",
        "faster-way",
        "the server has to be called by another address, or the routes changed: check it that way and compare",
        "nothing where only the name stands for another address; routes that change, for a moment",
        Trust::Computed,
    ),
    by_hand(
        "two-nics-one-subnet",
        "own-subnets",
        "which addresses are free only you know",
        "everything that uses the address that changes",
        Trust::Computed,
    ),
    by_settings("mtu-differs", "same-mtu", LINK, Trust::Computed),
    by_settings("offloads-off", "offloads-on", LINK, Trust::Computed),
    by_hand(
        "segments-lost",
        "lost-packets",
        "it takes another cable, port or switch",
        HANDS,
        Trust::Measured,
    ),
    by_settings(
        "receive-buffer-small",
        "receive-buffer",
        NOTHING,
        Trust::Computed,
    ),
    by_settings("send-buffer-small", "send-buffer", NOTHING, Trust::Computed),
    by_hand(
        "client-processor",
        "processor-limit",
        "how much each may have is decided outside of it",
        "whatever shares the processors with it",
        Trust::Measured,
    ),
    by_hand(
        "server-processor",
        "processor-limit",
        "how much each may have is decided outside of it",
        "whatever shares the processors with it",
        Trust::Measured,
    ),
    Remedy {
        cause: "old-dialect",
        fix: Some("newer-dialect"),
        means: Means::Protection(
            "which dialects a server speaks is part of its protection, and linerate leaves it alone",
        ),
        disturbs: SERVER,
        trust: Trust::Measured,
    },
    by_settings("few-credits", "more-credits", SERVER, Trust::Measured),
    by_settings("small-requests", "larger-requests", SERVER, Trust::Measured),
    Remedy {
        cause: "encryption",
        fix: Some("cheaper-cipher"),
        means: Means::Protection("it protects what is sent, and linerate leaves it alone"),
        disturbs: SERVER,
        trust: Trust::Computed,
    },
    Remedy {
        cause: "signing",
        fix: Some("cheaper-signing"),
        means: Means::Protection("it protects what is sent, and linerate leaves it alone"),
        disturbs: SERVER,
        trust: Trust::Computed,
    },
    by_settings("asynchronous-io", "asynchronous", SERVER, Trust::Computed),
    by_hand(
        "server-disk",
        "faster-disk",
        "it takes a look at the disks themselves",
        "whatever else uses the disks",
        Trust::Computed,
    ),
    by_hand(
        "local-disk",
        "faster-local-disk",
        "which disk a copy goes to only you know",
        "whatever else uses the disk",
        Trust::Measured,
    ),
    by_hand(
        "port-blocked",
        "open-port",
        "a firewall protects, and linerate leaves it alone",
        "nothing: it lets more through",
        Trust::Measured,
    ),
    by_settings(
        "multichannel-off",
        "multichannel-on",
        SERVER,
        Trust::Measured,
    ),
    by_hand(
        "advertised-wrong",
        "true-advertisement",
        "the server reads its list of interfaces only when it starts",
        SESSIONS,
        Trust::Computed,
    ),
    unknown("measured-above-ceiling"),
    unknown("tcp-slower-than-ceiling"),
    unknown("share-slower-than-tcp"),
];

const fn by_settings(
    cause: &'static str,
    fix: &'static str,
    disturbs: &'static str,
    trust: Trust,
) -> Remedy {
    Remedy {
        cause,
        fix: Some(fix),
        means: Means::Settings,
        disturbs,
        trust,
    }
}

const fn by_hand(
    cause: &'static str,
    fix: &'static str,
    because: &'static str,
    disturbs: &'static str,
    trust: Trust,
) -> Remedy {
    Remedy {
        cause,
        fix: Some(fix),
        means: Means::Hand(because),
        disturbs,
        trust,
    }
}

const fn unknown(cause: &'static str) -> Remedy {
    Remedy {
        cause,
        fix: None,
        means: Means::Unknown(
            "it says where something is lost, and nothing that is known explains it",
        ),
        disturbs: "nothing",
        trust: Trust::Measured,
    }
}

/// What is done about a cause.
pub(super) fn of(cause: &str) -> Option<&'static Remedy> {
    REMEDIES.iter().find(|remedy| remedy.cause == cause)
}

/// Whether a fix has a price other than speed.
pub(super) fn is_protection(fix: &Fix) -> bool {
    REMEDIES.iter().any(|remedy| {
        remedy.fix == Some(fix.id.as_str()) && matches!(remedy.means, Means::Protection(_))
    })
}

/// What to do about a cause, in words, as settings and as commands that help to do it.
#[derive(Default)]
pub(super) struct Advice {
    pub(super) text: String,
    pub(super) predicted: Option<Estimate>,
    pub(super) settings: Vec<Setting>,
    pub(super) commands: Vec<String>,
    pub(super) elsewhere: Option<ShareAddress>,
}

impl Advice {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub(super) fn gains(self, predicted: Option<Estimate>) -> Self {
        Self { predicted, ..self }
    }

    pub(super) fn sets(self, settings: impl IntoIterator<Item = Setting>) -> Self {
        Self {
            settings: settings.into_iter().collect(),
            ..self
        }
    }

    pub(super) fn commands(self, commands: impl IntoIterator<Item = String>) -> Self {
        Self {
            commands: commands.into_iter().collect(),
            ..self
        }
    }

    pub(super) fn elsewhere(self, elsewhere: Option<ShareAddress>) -> Self {
        Self { elsewhere, ..self }
    }

    /// The fix of a cause; none where the table knows of none.
    pub(super) fn fix(self, cause: &str) -> Option<Fix> {
        let remedy = of(cause)?;
        let id = remedy.fix?;
        let blocked = match remedy.means {
            Means::Settings if !self.settings.is_empty() => None,
            Means::Settings => Some(
                "it is set where linerate may not run commands, or has no setting for it: name that host \
                 with `--server`, or do it there by hand"
                    .to_owned(),
            ),
            Means::Hand(because) | Means::Protection(because) | Means::Unknown(because) => {
                Some(because.to_owned())
            }
        };
        let mut commands = set_commands(&self.settings);
        commands.extend(self.commands);
        Some(Fix {
            id: id.into(),
            text: self.text,
            level: Level {
                name: id.into(),
                settings: if blocked.is_none() {
                    self.settings
                } else {
                    Vec::new()
                },
            },
            predicted: self.predicted,
            disturbs: remedy.disturbs.into(),
            blocked,
            commands,
            elsewhere: self.elsewhere,
            trust: remedy.trust,
        })
    }
}

/// A setting of a host, where linerate has it.
pub(super) fn setting(
    host: Option<&HostFacts>,
    target: Target,
    id: &str,
    value: Value,
) -> Option<Setting> {
    let host = host.filter(|host| host.system == System::Linux)?;
    Some(Setting::Knob {
        host: host.name.clone(),
        target,
        id: KnobId::new(id),
        value,
    })
}

/// A word of a command as a POSIX shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "/:.@_-+=,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// One `linerate set` for each host.
fn set_commands(settings: &[Setting]) -> Vec<String> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for setting in settings {
        let Setting::Knob {
            host,
            target,
            id,
            value,
        } = setting
        else {
            continue;
        };
        let at = match target {
            Target::Host => String::new(),
            other => format!("@{other}"),
        };
        let word = format!(" {}", quoted(&format!("{id}{at}={value}")));
        let host = host.as_str();
        match commands.iter_mut().find(|(known, _)| *known == host) {
            Some((_, command)) => command.push_str(&word),
            None => commands.push((host, format!("linerate set {}{word}", quoted(host)))),
        }
    }
    commands.into_iter().map(|(_, command)| command).collect()
}
