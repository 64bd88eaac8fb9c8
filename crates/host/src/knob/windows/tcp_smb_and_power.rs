//! Settings of the system: TCP, what adapters do for it, the SMB client and server, power.

use locale::say;
use record::Value;

use super::super::{Allowed, Refusal, State, range, sensible, words};
use super::{answer, enabled, known_word, object, said, truth, unreadable, words_with};
use crate::exec::shell::powershell_literal;
use crate::exec::{Command, Output};
use crate::tool_output::windows::{self, Object};

/// Where the file server has its numbers.
pub(super) const SERVER_KEY: &str =
    r"HKLM:\SYSTEM\CurrentControlSet\Services\LanmanServer\Parameters";
/// Where TCP has its numbers.
pub(super) const TCP_KEY: &str = r"HKLM:\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters";
/// The power schemes that every Windows knows.
const SCHEMES: [(&str, &str); 4] = [
    ("381b4222-f694-41f0-9685-ff5bb260df2e", "balanced"),
    ("8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "high-performance"),
    ("a1841308-3541-4fab-bc81-f71556f20b4a", "power-saver"),
    ("e9a42b02-d5df-448d-aa00-03f14749eb61", "ultimate"),
];

/// What there is to the system.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting {
    /// A property of TCP for the template `Internet`, which counts for all connections.
    Tcp(Tcp),
    /// A property of `Get-NetOffloadGlobalSetting`.
    Offload(Offload),
    /// A property of the SMB client's or server's configuration.
    Smb(Smb),
    /// A number in the registry, which is not there where nobody set it.
    Registry(Registry),
    /// The power scheme.
    Scheme,
}

/// A property of TCP, how `netsh` calls it in each language, and how it is told to set it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tcp {
    pub(super) property: &'static str,
    pub(super) labels: &'static [&'static str],
    /// `tcp set global autotuninglevel`.
    pub(super) netsh: &'static str,
    pub(super) form: Form,
}

/// A switch for all adapters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offload {
    pub(super) property: &'static str,
    pub(super) labels: &'static [&'static str],
    /// `tcp set global rss`.
    pub(super) netsh: &'static str,
}

/// A property of SMB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smb {
    pub(super) side: Side,
    pub(super) property: &'static str,
    pub(super) form: Form,
    /// Why it is only looked at: the id of a sentence.
    pub(super) fixed_because: Option<&'static str>,
}

/// Whose configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// A number in the registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registry {
    pub(super) key: &'static str,
    pub(super) name: &'static str,
    pub(super) max: i64,
    /// The service that reads it when it starts.
    pub(super) service: Option<&'static str>,
}

/// What a property is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// True or false.
    Switch,
    /// The same the other way round: the property says that it is off.
    Inverse,
    /// A whole number between two others.
    Number(i64, i64),
    /// One of these words.
    Words(&'static [&'static str]),
}

impl Form {
    /// What a property is and could be; `None` where it is not there.
    fn read(self, object: &Object, property: &str) -> Option<(Value, Allowed)> {
        Some(match self {
            Self::Switch => (Value::Switch(object.switch(property)?), Allowed::Switch),
            Self::Inverse => (Value::Switch(!object.switch(property)?), Allowed::Switch),
            Self::Number(min, max) => {
                let allowed = sensible(min, max);
                (Value::Integer(object.number(property)?), allowed)
            }
            Self::Words(known) => {
                let now = known_word(known, &object.text(property)?);
                let allowed = words_with(known, &now);
                (Value::Text(now), allowed)
            }
        })
    }

    /// A value as a cmdlet takes it.
    fn argument(self, to: &Value) -> Result<String, Refusal> {
        Ok(match (self, to) {
            (Self::Switch, Value::Switch(on)) => truth(*on).to_owned(),
            (Self::Inverse, Value::Switch(on)) => truth(!*on).to_owned(),
            (Self::Number(..), Value::Integer(number)) => number.to_string(),
            (Self::Words(_), Value::Text(word)) => powershell_literal(word),
            _ => return Err(Refusal::none_such()),
        })
    }
}

fn netsh_global() -> Command {
    Command::new(["netsh", "interface", "tcp", "show", "global"])
}

fn offload_setting() -> Command {
    let names = [
        "ReceiveSideScaling",
        "ReceiveSegmentCoalescing",
        "TaskOffload",
    ];
    windows::list(&format!(
        "Get-NetOffloadGlobalSetting | Select-Object {}",
        windows::properties(&[], &names)
    ))
}

impl Side {
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Client => "SmbClientConfiguration",
            Self::Server => "SmbServerConfiguration",
        }
    }
}

/// One command for all properties of a side. What this Windows does not have is nothing in the answer.
fn smb_configuration(side: Side) -> Command {
    let own = super::KNOBS.iter().filter_map(|knob| match knob.kind {
        super::Kind::Windows(super::Windows::System(Setting::Smb(smb))) if smb.side == side => {
            Some((smb.property, matches!(smb.form, Form::Words(_))))
        }
        _ => None,
    });
    let (as_text, plain): (Vec<_>, Vec<_>) = own.partition(|(_, is_word)| *is_word);
    let names = |all: Vec<(&'static str, bool)>| all.into_iter().map(|(name, _)| name).collect();
    let (plain, as_text): (Vec<_>, Vec<_>) = (names(plain), names(as_text));
    windows::list(&format!(
        "Get-{} | Select-Object {}",
        side.noun(),
        windows::properties(&plain, &as_text)
    ))
}

/// All numbers of a key at once.
fn registry(key: &str) -> Command {
    let own = super::KNOBS.iter().filter_map(|knob| match knob.kind {
        super::Kind::Windows(super::Windows::System(Setting::Registry(number)))
            if number.key == key =>
        {
            Some(number.name)
        }
        _ => None,
    });
    let names: Vec<&str> = own.collect();
    windows::list(&format!(
        "Get-ItemProperty -LiteralPath {} | Select-Object {}",
        powershell_literal(key),
        windows::properties(&names, &[])
    ))
}

impl Setting {
    pub(super) fn read(&self) -> Vec<Command> {
        match self {
            Self::Tcp(_) => vec![windows::tcp_setting(), netsh_global()],
            Self::Offload(_) => vec![offload_setting(), netsh_global()],
            Self::Smb(smb) => vec![smb_configuration(smb.side)],
            Self::Registry(number) => vec![registry(number.key)],
            Self::Scheme => vec![Command::new(["powercfg", "/list"])],
        }
    }

    /// Prints its value and nothing else.
    pub(super) fn print_value(&self) -> Command {
        windows::script(match self {
            Self::Tcp(tcp) => {
                format!(
                    "[string](Get-NetTCPSetting -SettingName Internet).{}",
                    tcp.property
                )
            }
            Self::Offload(offload) => {
                format!("[string](Get-NetOffloadGlobalSetting).{}", offload.property)
            }
            Self::Smb(smb) => format!("[string](Get-{}).{}", smb.side.noun(), smb.property),
            Self::Registry(number) => format!(
                "[string](Get-ItemProperty -LiteralPath {}).{}",
                powershell_literal(number.key),
                number.name
            ),
            Self::Scheme => "powercfg /getactivescheme".to_owned(),
        })
    }

    pub(super) fn parse(&self, outputs: &[Output]) -> Result<State, Refusal> {
        match self {
            Self::Tcp(tcp) => parse_tcp(tcp, outputs),
            Self::Offload(offload) => parse_offload(offload, outputs),
            Self::Smb(smb) => {
                let missing = say("error-windows.no-property").with("property", smb.property);
                let all = object(outputs, 0, missing.clone())?;
                let read = smb.form.read(&all, smb.property);
                let (value, allowed) = read.ok_or_else(|| Refusal::new(missing))?;
                Ok(State::new(value, allowed).fixed_if(smb.fixed_because.map(say)))
            }
            Self::Registry(number) => {
                let key = object(outputs, 0, say("error-windows.no-registry-key"))?;
                let value = key.number(number.name).map_or(Value::Unset, Value::Integer);
                let allowed = range(
                    (0, "knob-limit.no-sign"),
                    (number.max, "knob-limit.no-more-sense"),
                );
                Ok(State::new(value, allowed).unset(Value::Unset))
            }
            Self::Scheme => parse_scheme(outputs),
        }
    }

    pub(super) fn set(&self, to: &Value) -> Result<Command, Refusal> {
        let script = match self {
            Self::Tcp(tcp) => set_tcp(tcp, to)?,
            Self::Offload(offload) => {
                let Value::Switch(on) = to else {
                    return Err(Refusal::none_such());
                };
                let word = enabled(*on);
                let cmdlet = format!("Set-NetOffloadGlobalSetting -{} {word}", offload.property);
                or_netsh(&cmdlet, offload.netsh, &word.to_lowercase())
            }
            Self::Smb(smb) => format!(
                "Set-{} -{} {} -Force -Confirm:$false",
                smb.side.noun(),
                smb.property,
                smb.form.argument(to)?
            ),
            Self::Registry(number) => set_registry(number, to),
            Self::Scheme => {
                let Value::Text(scheme) = to else {
                    return Err(Refusal::none_such());
                };
                let known = SCHEMES.iter().find(|(_, name)| name == scheme);
                let scheme = powershell_literal(known.map_or(scheme.as_str(), |(id, _)| id));
                format!("powercfg /setactive {scheme} | Out-Null; {CHECKED}")
            }
        };
        Ok(windows::script(script))
    }
}

/// A program says by its status whether it worked.
const CHECKED: &str = "if ($LASTEXITCODE -ne 0) { throw \"it ended with status $LASTEXITCODE\" }";

/// Some editions of Windows let a cmdlet only look, and `netsh` set all the same.
fn or_netsh(cmdlet: &str, netsh: &str, value: &str) -> String {
    let (words, name) = netsh.rsplit_once(' ').unwrap_or(("", netsh));
    let last = powershell_literal(&format!("{name}={value}"));
    format!("try {{ {cmdlet} }} catch {{ netsh interface {words} {last} | Out-Null; {CHECKED} }}")
}

fn set_tcp(tcp: &Tcp, to: &Value) -> Result<String, Refusal> {
    let value = tcp.form.argument(to)?;
    let cmdlet = format!(
        "Set-NetTCPSetting -SettingName Internet -{} {value}",
        tcp.property
    );
    Ok(or_netsh(&cmdlet, tcp.netsh, &to.to_string()))
}

fn set_registry(number: &Registry, to: &Value) -> String {
    let key = powershell_literal(number.key);
    let name = powershell_literal(number.name);
    let write = match to {
        Value::Integer(value) => format!(
            "New-ItemProperty -LiteralPath {key} -Name {name} -Value {value} -PropertyType DWord \
             -Force | Out-Null"
        ),
        _ => format!(
            "Remove-ItemProperty -LiteralPath {key} -Name {name} -ErrorAction SilentlyContinue"
        ),
    };
    match number.service {
        Some(service) => format!("{write}; Restart-Service -Name {service} -Force"),
        None => write,
    }
}

fn parse_tcp(tcp: &Tcp, outputs: &[Output]) -> Result<State, Refusal> {
    let by_object = said(outputs, 0).ok().and_then(|said| {
        let setting = windows::objects(&said)?.into_iter().next()?;
        let policy = setting.text("AutoTuningLevelEffective").as_deref() == Some("GroupPolicy");
        let because = policy && tcp.property == "AutoTuningLevelLocal";
        let read = tcp.form.read(&setting, tcp.property)?;
        Some((read, because.then_some(say("knob-fixed.policy"))))
    });
    if let Some(((value, allowed), because)) = by_object {
        return Ok(State::new(value, allowed).fixed_if(because));
    }
    let missing = || Refusal::new(say("error-windows.untold"));
    let table = answer(outputs.get(1), "netsh")?;
    let word = windows::labelled(&table, tcp.labels).ok_or_else(missing)?;
    let Form::Words(known) = tcp.form else {
        return Err(missing());
    };
    let now = known_word(known, word);
    let allowed = words_with(known, &now);
    Ok(State::new(Value::Text(now), allowed))
}

fn parse_offload(offload: &Offload, outputs: &[Output]) -> Result<State, Refusal> {
    let by_object = said(outputs, 0).ok().and_then(|said| {
        let setting = windows::objects(&said)?.into_iter().next()?;
        setting.switch(offload.property)
    });
    let on = match by_object {
        Some(on) => on,
        None => {
            let table = answer(outputs.get(1), "netsh")?;
            match windows::labelled(&table, offload.labels) {
                Some("enabled") => true,
                Some("disabled") => false,
                Some(_) => return Err(unreadable()),
                None => return Err(Refusal::new(say("error-windows.untold"))),
            }
        }
    };
    Ok(State::new(Value::Switch(on), Allowed::Switch))
}

fn scheme_name(id: &str) -> String {
    let known = SCHEMES.iter().find(|(known, _)| *known == id);
    known.map_or_else(|| id.to_owned(), |(_, name)| (*name).to_owned())
}

fn parse_scheme(outputs: &[Output]) -> Result<State, Refusal> {
    let table = answer(outputs.first(), "powercfg")?;
    let (all, active) = windows::power_schemes(&table);
    let active = active.ok_or_else(|| Refusal::unreadable("powercfg"))?;
    let names: Vec<String> = all.iter().map(|id| scheme_name(id)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let because = (names.len() < 2).then_some(say("knob-fixed.one-scheme"));
    Ok(State::new(Value::Text(scheme_name(&active)), words(&names)).fixed_if(because))
}
