//! What a cause hands over: why it is thought of, how far that proves it, and what is done about it.

use locale::{Message, say};
use record::{HostFacts, KnobId, Rung, Setting, ShareAddress, System, Target, Value};

use stats::Estimate;

/// Whether a cause can be what was lost on the path that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// It is on that path.
    OnPath,
    /// It is on that path and on any other one of a host.
    OfHost,
    /// It is on a pair of NICs that several connections use and one alone does not.
    OfChannels,
    /// It is on a pair of NICs that is not used, or one connection does not notice it.
    OffPath,
}

impl Reach {
    /// Whether one connection feels it on the path that was measured.
    pub(super) const fn is_on_path(self) -> bool {
        matches!(self, Self::OnPath | Self::OfHost)
    }
}

/// Why a cause is thought of.
pub(super) struct Finding {
    /// What is the matter.
    pub(super) text: Message,
    pub(super) basis: Basis,
    pub(super) reach: Reach,
    /// The most that could be gained, as a ratio; 1 where it costs nothing that was measured.
    pub(super) gain_max: f64,
    /// The part of the measured time that a counter puts down to it; none where no counter says how much.
    pub(super) taken: Option<f64>,
    /// Whether nothing speaks for it but that nothing else was seen.
    pub(super) is_by_elimination: bool,
    /// Whether it costs programs only, and not what the system's own client can.
    pub(super) is_of_programs: bool,
    /// Whether it is at the far end, where no intervention on our own connections changes it.
    pub(super) is_far: bool,
    pub(super) advice: Advice,
}

/// How far that proves it.
pub(super) enum Basis {
    /// By a fact or a counter that has one meaning only.
    Counter,
    /// Not at all: what decides.
    Suspicion(Decider),
    /// Not from here: what would be needed.
    OutOfSight(&'static str),
}

/// The one measurement that decides whether a suspicion is true.
pub(super) enum Decider {
    /// An intervention on our own connections, which a longer check makes.
    Probe,
    /// Raw TCP, for which the server has to answer.
    RawTcp,
    /// A look at the server.
    Server,
    /// The remedy, tried by `tune`.
    Tune,
    /// The same check by another address.
    Elsewhere,
    /// A measurement by hand, of this id.
    Hand(&'static str),
}

impl Decider {
    pub(super) const fn message(&self) -> Message {
        say(match self {
            Self::Probe => "decide.probe",
            Self::RawTcp => "decide.raw-tcp",
            Self::Server => "decide.server",
            Self::Tune => "decide.tune",
            Self::Elsewhere => "decide.elsewhere",
            Self::Hand(id) => id,
        })
    }
}

impl Finding {
    /// Proven by a counter.
    pub(super) fn counted(text: Message, advice: Advice) -> Self {
        Self::new(text, Basis::Counter, advice)
    }

    /// Only suspected.
    pub(super) fn suspected(text: Message, decider: Decider, advice: Advice) -> Self {
        Self::new(text, Basis::Suspicion(decider), advice)
    }

    pub(super) fn new(text: Message, basis: Basis, advice: Advice) -> Self {
        let gain_max = advice.predicted.as_ref().map_or(1.0, |gain| gain.value);
        Self {
            text,
            basis,
            reach: Reach::OnPath,
            gain_max,
            taken: None,
            is_by_elimination: false,
            is_of_programs: false,
            is_far: false,
            advice,
        }
    }

    /// The same where a counter says what part of the measured time it took.
    pub(super) fn takes(self, taken: Option<f64>) -> Self {
        Self { taken, ..self }
    }

    /// The same where nothing speaks for it but that nothing else was seen.
    pub(super) fn by_elimination(self) -> Self {
        Self {
            is_by_elimination: true,
            ..self
        }
    }

    /// The same where it costs what is measured at a rung of the system's own client.
    pub(super) fn at(self, rung: Rung) -> Self {
        Self {
            is_of_programs: rung == Rung::SystemProgram,
            ..self
        }
    }

    /// The same where it is at the far end or not.
    pub(super) fn far_if(self, is_far: bool) -> Self {
        Self { is_far, ..self }
    }

    /// The same where it costs nothing of what was measured.
    pub(super) fn off_path(self) -> Self {
        Self {
            reach: Reach::OffPath,
            ..self
        }
    }

    /// The same where all paths of a host have it.
    pub(super) fn of_host(self) -> Self {
        Self {
            reach: Reach::OfHost,
            ..self
        }
    }

    /// The same where only several channels feel it.
    pub(super) fn of_channels(self) -> Self {
        Self {
            reach: Reach::OfChannels,
            ..self
        }
    }

    pub(super) fn off_path_if(self, is_off: bool) -> Self {
        match is_off {
            true => self.off_path(),
            false => self,
        }
    }
}

/// What to do about a cause, as settings and as commands that help to do it.
pub(super) struct Advice {
    pub(super) text: Message,
    pub(super) predicted: Option<Estimate>,
    /// What all of it together was measured to gain.
    pub(super) measured: Option<Estimate>,
    /// Whether it takes away more than the one cause, so that what that gains is not what it gains.
    pub(super) is_for_several: bool,
    pub(super) settings: Vec<Setting>,
    pub(super) commands: Vec<String>,
    pub(super) elsewhere: Option<ShareAddress>,
}

impl Advice {
    pub(super) const fn new(text: Message) -> Self {
        Self {
            text,
            predicted: None,
            measured: None,
            is_for_several: false,
            settings: Vec::new(),
            commands: Vec::new(),
            elsewhere: None,
        }
    }

    /// Advice without arguments.
    pub(super) const fn of(id: &'static str) -> Self {
        Self::new(say(id))
    }

    pub(super) fn gains(self, predicted: Option<Estimate>) -> Self {
        Self { predicted, ..self }
    }

    pub(super) fn gained(self, measured: Option<Estimate>) -> Self {
        Self { measured, ..self }
    }

    pub(super) fn for_several(self, is_for_several: bool) -> Self {
        Self {
            is_for_several,
            ..self
        }
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

/// The MTU of a NIC.
pub(super) fn nic_mtu(host: Option<&HostFacts>, nic: &str, mtu: u32) -> Option<Setting> {
    let value = Value::Integer(i64::from(mtu));
    setting(host, Target::Nic(nic.into()), "nic.mtu", value)
}
