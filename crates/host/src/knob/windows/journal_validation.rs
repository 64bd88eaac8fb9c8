//! What a journal may say of Windows, see [`crate::knob::journal_validation`].

use record::Value;

use super::adapter::{Adapter, Seen, halves, set_mtu};
use super::driver_property::{CODE, Codes};
use super::is_called;
use super::tcp_smb_and_power::{Form, Setting};
use crate::exec::Command;
use crate::exec::shell::powershell_literal;
use crate::knob::safe_argument::{is_count, is_text, is_word};
use crate::knob::{Before, Refusal, Remembered, Seen as AnySeen, State};

/// An MTU stands for lengths that may differ from each other and from it.
pub(super) fn remember(state: &State) -> Option<Remembered> {
    let AnySeen::Windows(Seen::Mtu { jumbo, stack }) = &state.seen else {
        return None;
    };
    Some(Remembered::Lengths {
        driver: jumbo.as_ref().and_then(|jumbo| jumbo.value.parse().ok()),
        stack: stack.map(|mtu| mtu.and_then(|mtu| u32::try_from(mtu).ok())),
    })
}

impl Adapter {
    /// The command that puts back what it was before a change.
    pub(super) fn restore(
        &self,
        nic: &str,
        state: &State,
        to: &Value,
        before: &Before<'_>,
    ) -> Result<Command, Refusal> {
        match (&state.seen, before.remembered, &state.value, to) {
            (
                AnySeen::Windows(Seen::Mtu { jumbo, stack: now }),
                Some(Remembered::Lengths { driver, stack }),
                Value::Integer(found),
                Value::Integer(to),
            ) => {
                let driver = driver.map(|length| length.to_string());
                let there = |(now, mtu): (&Option<i64>, &Option<u32>)| now.and(mtu.map(i64::from));
                let mut all = now.iter().zip(stack).map(there);
                let stack = [all.next().flatten(), all.next().flatten()];
                Ok(set_mtu(nic, jumbo.as_ref().zip(driver), stack, to > found))
            }
            _ => Ok(self.plan(nic, state, to)?.0),
        }
    }

    pub(super) fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Mtu | Self::Queues => is_count(value),
            Self::Property(property) => match property.codes {
                Codes::Switch => matches!(value, Value::Switch(_)),
                Codes::Number => matches!(value, Value::Integer(_)),
                Codes::Words(known) => is_text(value, |text| {
                    let code = text.strip_prefix(CODE);
                    known.iter().any(|(_, word)| *word == text)
                        || code.is_some_and(|code| code.parse::<i64>().is_ok())
                }),
            },
            Self::Pair { .. } => halves(value).is_some(),
            Self::Power(_) => matches!(value, Value::Switch(_)),
            Self::Metric => *value == Value::Unset || is_count(value),
            Self::Profile => is_text(value, |text| ["public", "private"].contains(&text)),
            Self::Speed | Self::SmbRss => false,
        }
    }

    /// Whether a script is about this interface, and sets such a thing.
    pub(super) fn wrote(&self, nic: &str, script: &str) -> bool {
        let sets = match self {
            Self::Mtu => "Set-NetIPInterface -NlMtuBytes ",
            Self::Property(_) | Self::Pair { .. } => "Set-NetAdapterAdvancedProperty ",
            Self::Queues => "Set-NetAdapterRss ",
            Self::Power(_) => "Set-NetAdapterPowerManagement ",
            Self::Metric => "Set-NetIPInterface -AutomaticMetric ",
            Self::Profile => "Set-NetConnectionProfile ",
            Self::Speed | Self::SmbRss => return false,
        };
        let keys = ["Name", "InterfaceAlias"];
        let is_own = keys.iter().any(|key| script.contains(&is_called(key, nic)));
        is_own && script.starts_with("for ($try = 0; ") && script.contains(sets)
    }
}

impl Form {
    fn could_be(self, value: &Value) -> bool {
        match self {
            Self::Switch | Self::Inverse => matches!(value, Value::Switch(_)),
            Self::Number(..) => matches!(value, Value::Integer(_)),
            Self::Words(_) => is_text(value, is_word),
        }
    }
}

impl Setting {
    pub(super) fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.form.could_be(value),
            Self::Offload(_) => matches!(value, Value::Switch(_)),
            Self::Smb(smb) => smb.fixed_because.is_none() && smb.form.could_be(value),
            Self::Registry(_) => *value == Value::Unset || is_count(value),
            Self::Scheme => is_text(value, is_word),
        }
    }

    /// Whether a script sets such a thing.
    pub(super) fn wrote(&self, script: &str) -> bool {
        match self {
            Self::Tcp(tcp) => script.starts_with(&format!(
                "try {{ Set-NetTCPSetting -SettingName Internet -{} ",
                tcp.property
            )),
            Self::Offload(offload) => script.starts_with(&format!(
                "try {{ Set-NetOffloadGlobalSetting -{} ",
                offload.property
            )),
            Self::Smb(smb) => {
                script.starts_with(&format!("Set-{} -{} ", smb.side.noun(), smb.property))
            }
            Self::Registry(number) => {
                let place = format!(
                    "-LiteralPath {} -Name {} ",
                    powershell_literal(number.key),
                    powershell_literal(number.name)
                );
                ["New-ItemProperty ", "Remove-ItemProperty "]
                    .iter()
                    .any(|verb| script.starts_with(&format!("{verb}{place}")))
            }
            Self::Scheme => script.starts_with("powercfg /setactive "),
        }
    }
}
