//! What can be set on a host, and how. Pure: commands are built and their outputs understood here,
//! [`crate::exec`] runs them.
//!
//! One knob is one entry of [`KNOBS`], made by a constructor of the tool that knows it; all that
//! people read about it comes from there as well.

mod allowed_values;
mod catalogue;
mod cifs_mount;
mod ethtool;
mod fstab;
mod ip_link;
mod journal_validation;
mod linux_catalogue;
mod macos;
mod persistence;
mod qdisc_and_affinity;
mod reference_page;
mod routing_and_arp;
mod safe_argument;
mod samba;
mod sysctl;
mod target;
mod windows;

use locale::{Message, say};
use record::{System, Target, Value};

use crate::exec::shell::posix_words;
use crate::exec::{Command, Output, POWERSHELL, Privilege, STATUS_NO_PROGRAM};
use crate::fstab_entry::holds_password;
use crate::tool_output::ethtool::Feature;
use crate::{Error, Place};

pub use allowed_values::{Allowed, Limit};
use allowed_values::{check_allowed, is_sizes, range, sensible, words};
pub use catalogue::KNOBS;
pub(crate) use cifs_mount::{mounts_in, show_mounts};
pub(crate) use journal_validation::{Before, Remembered, find_journaled};
pub(crate) use macos::{mounts_in as mac_mounts_in, show_mounts as show_mac_mounts};
pub(crate) use persistence::{
    id_of as persistent_id, keeps, of_target as persistent_of_target, persistent_of,
};
pub use reference_page::{page, reference, unproven};
pub(crate) use samba::{shares_in, show_shares};
pub use target::TargetKind;

/// The id of the knob that stands for all offloads of an interface.
pub(crate) const TOGETHER: &str = "nic.features";
/// Most of a tool's complaint that a reason repeats.
const COMPLAINT_CHARS_MAX: usize = 200;

/// What setting a knob disturbs; the later, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// Nothing: it acts at once.
    Nothing,
    /// Nothing, but only new connections see it.
    NewConnections,
    /// Sessions that are open end.
    Session,
    /// The link may go down for a moment, and every connection over it stalls.
    LinkReset,
}

/// How a knob stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its value.
    pub value: Value,
    /// The values it takes.
    pub allowed: Allowed,
    /// Why it cannot be changed at all, where it cannot.
    pub fixed_because: Option<Message>,
    /// What else there is to know about the value.
    pub remark: Option<Message>,
    /// Its value when nobody sets it, where that can be had.
    pub unset: Option<Value>,
    seen: Seen,
}

/// What was read along the way and is needed for a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    /// Rows of `ethtool -k`.
    Features(Vec<Feature>),
    /// The queues that receive are those that send.
    CombinedQueues,
    /// A line of ours is in the file.
    OwnLine,
    /// Online processors.
    Processors(Vec<u32>),
    /// Queues or interrupts by their names.
    Queues(Vec<String>),
    /// The route to an interface's own network.
    Connected(routing_and_arp::Connected),
    /// The same, with the table that a rule for its address would name.
    Rule {
        route: routing_and_arp::Connected,
        table: u32,
    },
    /// Who sets the interface up, and the file of ours that has the setting.
    Kept {
        manager: Option<persistence::ConfigManager>,
        file: Option<String>,
    },
    /// What a link could agree on, and whether it is offered to the other end.
    Modes(Vec<(String, bool)>),
    /// What Windows told.
    Windows(windows::Seen),
}

impl State {
    fn new(value: Value, allowed: Allowed) -> Self {
        Self {
            value,
            allowed,
            fixed_because: None,
            remark: None,
            unset: None,
            seen: Seen::Nothing,
        }
    }

    fn fixed_if(mut self, because: Option<Message>) -> Self {
        self.fixed_because = because;
        self
    }

    fn unset(mut self, value: Value) -> Self {
        self.unset = Some(value);
        self
    }

    /// The value that it will read as when it is set to `to`.
    pub(crate) fn goal(&self, to: &Value) -> Value {
        match (to, &self.unset) {
            (Value::Unset, Some(value)) => value.clone(),
            _ => to.clone(),
        }
    }

    fn seen(mut self, seen: Seen) -> Self {
        self.seen = seen;
        self
    }
}

/// One command of a plan, with the one that takes it back. The latter names values, not
/// differences, and does no harm when the former never ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Makes the change.
    pub run: Command,
    /// Takes it back.
    pub undo: Command,
    /// What either disturbs.
    pub disturbs: Disturbance,
}

/// Why a knob cannot be read or set as asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The reason.
    pub reason: Message,
    /// What to do instead, where we know it.
    pub hint: Option<Message>,
    /// Whether that is so because the target is not there.
    pub target_is_missing: bool,
    /// Whether nobody can mean that: the value is of another kind or out of range on any host, or the knob
    /// belongs to another part of one.
    pub is_mistaken: bool,
}

/// What is repeated of a value that was refused.
fn without_password(value: Value) -> Value {
    match &value {
        Value::Text(text) if holds_password(text) => Value::Text("...".to_owned()),
        _ => value,
    }
}

impl Refusal {
    fn new(reason: Message) -> Self {
        Self {
            reason,
            hint: None,
            target_is_missing: false,
            is_mistaken: false,
        }
    }

    /// What it is as an error, of setting `to` or of reading.
    pub(crate) fn at(self, place: Place, to: Option<Value>) -> Error {
        Error::Refused {
            place: Box::new(place),
            to: to.map(without_password),
            reason: Box::new(self.reason),
            hint: self.hint,
            is_mistaken: self.is_mistaken,
        }
    }

    fn mistaken(reason: Message) -> Self {
        Self {
            is_mistaken: true,
            ..Self::new(reason)
        }
    }

    fn no_interface(nic: &str) -> Self {
        let refusal = Self::new(say("error-knob.no-interface").with("nic", nic));
        Self {
            target_is_missing: true,
            ..refusal.hint(say("hint-host.nics"))
        }
    }

    fn unreadable(tool: &str) -> Self {
        Self::new(say("error-knob.unreadable").with("tool", tool))
    }

    pub(crate) fn fixed(because: &Message) -> Self {
        Self::new(because.clone())
    }

    pub(crate) fn none_such() -> Self {
        Self::new(say("error-knob.none-such"))
    }

    fn hint(mut self, hint: Message) -> Self {
        self.hint = Some(hint);
        self
    }
}

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its id: `nic.mtu`.
    pub id: &'static str,
    /// The system it is for.
    pub system: System,
    /// A name of a few words.
    pub title: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// The unit of its value, where it has one.
    pub unit: Option<&'static str>,
    /// Which values there are in general; [`State::allowed`] says which are allowed now.
    pub values: &'static str,
    /// What it belongs to.
    pub on: TargetKind,
    /// What setting it disturbs.
    pub disturbs: Disturbance,
    /// Whose rights setting it needs.
    pub needs: Privilege,
    /// Whether a value that we set is still there after a restart.
    pub survives_reboot: bool,
    /// What it is where nobody set it.
    pub default: &'static str,
    /// What to set it to, in a sentence.
    pub rule_of_thumb: &'static str,
    /// Where that is known from.
    pub source: &'static str,
    /// Only read and put back, never set by people.
    pub only_in_snapshots: bool,
    kind: Kind,
}

/// The tools that know how.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Link(ip_link::Link),
    Ethtool(ethtool::Ethtool),
    Sysctl(sysctl::Sysctl),
    File(sysctl::File),
    Queue(qdisc_and_affinity::Queue),
    Route(routing_and_arp::Route),
    Mount(cifs_mount::Mount),
    Fstab(fstab::Fstab),
    Samba(samba::Samba),
    Ksmbd(samba::Ksmbd),
    Windows(windows::Windows),
    Keep(persistence::Keep),
    Mac(macos::Mac),
}

/// How one kind of knob is read and set. `name` is the target's, empty for the host.
trait KnobBackend {
    fn read(&self, name: &str) -> Vec<Command>;

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal>;

    /// See [`Knob::print_value`].
    fn print_value(&self, _: &str) -> Option<Command> {
        None
    }

    /// The command that sets it, absolute.
    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal>;

    /// The command that sets it, and the one that takes that back.
    fn plan(&self, name: &str, state: &State, to: &Value) -> Result<(Command, Command), Refusal> {
        Ok((
            self.set(name, state, to)?,
            self.set(name, state, &state.value)?,
        ))
    }

    /// The command that leaves it to the system, where that is another one than setting the value
    /// that the system chooses.
    fn leave(&self, name: &str, state: &State) -> Result<Command, Refusal> {
        self.set(name, state, &state.goal(&Value::Unset))
    }

    /// Whether it could ever have this value, on any host: what a journal may say of it. Nothing where it
    /// is only looked at.
    fn could_be(&self, value: &Value) -> bool;

    /// Whether version 1 of the journal could hold these arguments for it.
    fn wrote(&self, name: &str, argv: &[&str]) -> bool;

    /// What its value does not tell and belongs to it all the same.
    fn remember(&self, _: &State) -> Option<Remembered> {
        None
    }

    /// The command that sets it to what it was before a change, where the host would not let people set
    /// that as well.
    fn restore(
        &self,
        name: &str,
        state: &State,
        to: &Value,
        _: &Before<'_>,
    ) -> Result<Command, Refusal> {
        usual_restore(self, name, state, to)
    }

    /// The value to put back, where ours is a part of the whole.
    fn merge(&self, before: &Value, after: Option<&Value>, found: &Value) -> Value {
        if after.is_none_or(|after| after == found) {
            before.clone()
        } else {
            found.clone()
        }
    }
}

/// The command that puts back a value beyond which nothing counts: what the system chose is left to it.
fn usual_restore<W: KnobBackend + ?Sized>(
    backend: &W,
    name: &str,
    state: &State,
    to: &Value,
) -> Result<Command, Refusal> {
    match state.unset.as_ref() == Some(to) {
        true => backend.leave(name, state),
        false => Ok(backend.plan(name, state, to)?.0),
    }
}

/// A command of a plan as people read it: one line that can be copied into a terminal, or the file that
/// it writes.
#[must_use]
pub fn shown(command: &Command) -> String {
    match command.argv.as_slice() {
        [program @ .., script] if program == POWERSHELL => script.clone(),
        argv => persistence::shown(argv)
            .or_else(|| fstab::shown(argv))
            .unwrap_or_else(|| posix_words(argv)),
    }
}

/// The knob of this id on this system.
#[must_use]
pub fn find(system: System, id: &str) -> Option<&'static Knob> {
    let own = |knob: &&Knob| knob.system == system && knob.id == id;
    KNOBS
        .iter()
        .find(own)
        .or_else(|| persistence::find(system, id))
}

/// All knobs of one part of a host with this system.
pub fn of_target(system: System, target: &Target) -> impl Iterator<Item = &'static Knob> {
    let on = TargetKind::of(target);
    KNOBS
        .iter()
        .filter(move |knob| knob.system == system && knob.on == on)
}

impl Knob {
    /// What most knobs of Linux have in common; the constructors change the rest.
    const fn linux(on: TargetKind, kind: Kind) -> Self {
        Self::of(System::Linux, on, kind)
    }

    const fn of(system: System, on: TargetKind, kind: Kind) -> Self {
        Self {
            id: "",
            system,
            title: "",
            meaning: "",
            unit: None,
            values: "",
            on,
            disturbs: Disturbance::Nothing,
            needs: Privilege::Root,
            survives_reboot: false,
            default: "",
            rule_of_thumb: "",
            source: "",
            only_in_snapshots: false,
            kind,
        }
    }

    /// The commands that read it. Knobs that one command can read together share it.
    ///
    /// # Errors
    /// When the target is none for this knob.
    pub fn read(&self, target: &Target) -> Result<Vec<Command>, Refusal> {
        Ok(self.backend().read(self.name(target)?))
    }

    /// Understands the outputs of [`Knob::read`]'s commands.
    ///
    /// # Errors
    /// When the host has no such knob.
    pub fn parse(&self, target: &Target, outputs: &[Output]) -> Result<State, Refusal> {
        let name = self.name(target)?;
        if outputs.len() < self.backend().read(name).len() {
            return Err(Refusal::new(say("error-knob.no-answer")));
        }
        self.backend().parse(name, outputs)
    }

    /// The command that prints its value and nothing that others could change, where there is one that
    /// prints the same for the same value.
    pub(crate) fn print_value(&self, target: &Target) -> Option<Command> {
        self.backend().print_value(self.name(target).ok()?)
    }

    /// The steps that set it to a value; none where it has that value.
    ///
    /// # Errors
    /// When it cannot or must not be set so.
    pub fn plan(&self, target: &Target, state: &State, to: &Value) -> Result<Vec<Step>, Refusal> {
        let nic = self.name(target)?;
        let goal = state.goal(to);
        if state.value == goal {
            return Ok(Vec::new());
        }
        if let Some(because) = &state.fixed_because {
            return Err(Refusal::fixed(because));
        }
        if *to == Value::Unset && state.unset.is_none() {
            return Err(Refusal::new(say("error-knob.always-set")));
        }
        if goal != Value::Unset {
            check_allowed(&state.allowed, &goal)?;
        }
        let (mut run, undo) = self.backend().plan(nic, state, &goal)?;
        if *to == Value::Unset {
            run = self.backend().leave(nic, state)?;
        }
        let command = |command: Command| Command {
            privilege: self.needs,
            ..command
        };
        Ok(vec![Step {
            run: command(run),
            undo: command(undo),
            disturbs: self.disturbs,
        }])
    }

    /// The value to put back: ours is what the change moved, and only that. Without the value with
    /// the change, everything that differs is taken for ours.
    pub(crate) fn merge(&self, before: &Value, after: Option<&Value>, found: &Value) -> Value {
        self.backend().merge(before, after, found)
    }

    /// Whether setting another knob of the same target can move it.
    pub(crate) fn moves_with_others(&self) -> bool {
        use ethtool::Ethtool::{Feature, Features};
        matches!(
            self.kind,
            Kind::Link(ip_link::Link::Mtu) | Kind::Ethtool(Feature { .. } | Features)
        )
    }

    fn backend(&self) -> &dyn KnobBackend {
        match &self.kind {
            Kind::Link(backend) => backend,
            Kind::Ethtool(backend) => backend,
            Kind::Sysctl(backend) => backend,
            Kind::File(backend) => backend,
            Kind::Queue(backend) => backend,
            Kind::Route(backend) => backend,
            Kind::Mount(backend) => backend,
            Kind::Fstab(backend) => backend,
            Kind::Samba(backend) => backend,
            Kind::Ksmbd(backend) => backend,
            Kind::Windows(backend) => backend,
            Kind::Keep(backend) => backend,
            Kind::Mac(backend) => backend,
        }
    }

    /// The target's name, empty for the host, when the target fits.
    fn name<'a>(&self, target: &'a Target) -> Result<&'a str, Refusal> {
        let kind = TargetKind::of(target);
        if kind != self.on {
            let reason = say("error-knob.other-part").with("own", self.on.message());
            let refusal = Refusal::mistaken(reason.with("other", kind.message()));
            return Err(match kind {
                TargetKind::Host => refusal.hint(say("hint-host.behind-at")),
                _ => refusal,
            });
        }
        target::usable_name(self.system, target)
    }
}

/// The standard output of a command that ended well.
fn answer(output: Option<&Output>, package: &str) -> Result<String, Refusal> {
    let output = output.ok_or_else(|| Refusal::new(say("error-knob.no-answer")))?;
    if output.status == STATUS_NO_PROGRAM {
        let reason = say("error-knob.not-installed").with("package", package);
        let hint = say("hint-host.install-package").with("package", package);
        return Err(Refusal::new(reason).hint(hint));
    }
    output.text().ok_or_else(|| complaint(output))
}

/// What tools say where there is no such interface.
const MISSING: [&str; 4] = [
    "no device matches name",
    "No such device",
    "Cannot find device",
    "does not exist",
];

fn complaint(output: &Output) -> Refusal {
    let said = String::from_utf8_lossy(&output.stderr);
    if MISSING.iter().any(|missing| said.contains(missing)) {
        return Refusal {
            target_is_missing: true,
            ..Refusal::new(say("error-knob.no-such-interface"))
        };
    }
    if said.contains("Operation not supported") {
        return Refusal::new(say("error-knob.driver-unaware"));
    }
    let Some(first) = said.lines().find(|line| !line.trim().is_empty()) else {
        return Refusal::new(say("error-knob.silent"));
    };
    let printable = first.trim().chars().filter(|letter| !letter.is_control());
    let said: String = printable.take(COMPLAINT_CHARS_MAX).collect();
    Refusal::new(said.into())
}

fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// A command with these arguments; the tools' own words come first.
fn command(argv: &[&str]) -> Command {
    Command::new(argv.iter().copied())
}
