//! The report as people read it, in the language that is spoken.

use locale::{Message, said, say, text};
use report::quantity;

use super::{Interfaces, Part, Program, Report, Sandbox, Settings, State, System};
use crate::exit_codes::Exit;
use crate::failure::Kind;

/// Widest line.
const COLUMNS_MAX: usize = 100;
/// Blanks between the widest label and the texts.
const LABEL_GAP: usize = 2;

impl Report {
    pub(super) fn text(&self) -> String {
        let lacks_ip = self.lacks_ip();
        let without_ip = |failure| match lacks_ip {
            true => text("doctor.without-ip"),
            false => unknown(failure),
        };
        let kinds = |all: &Vec<Interfaces>| all.iter().map(Interfaces::text).collect();
        let used = |all: &Vec<Program>| all.iter().map(Program::text).collect();
        let interfaces = self.interfaces.texts(kinds, without_ip);
        let programs = self.programs.texts(used, unknown);
        let system = self.system.texts(|system| vec![system.text()], without_ip);
        let settings = self.settings.texts(|all| vec![all.text()], without_ip);
        let sandbox = self.sandbox.texts(|sandbox| vec![sandbox.text()], unknown);
        let state = self.state.texts(|state| vec![state.text()], unknown);
        let parts = [
            ("doctor.label-system", system),
            ("doctor.label-interfaces", interfaces),
            ("doctor.label-programs", programs),
            ("doctor.label-settings", settings),
            ("doctor.label-sandbox", sandbox),
            ("doctor.label-state", state),
        ];
        let parts = parts.map(|(id, texts)| (text(id), texts));
        let labels = parts.iter().map(|(label, _)| report::width(label));
        let indent = labels.max().unwrap_or(0) + LABEL_GAP;
        let columns = COLUMNS_MAX - indent;
        let mut lines = vec![self.build.line()];
        for (label, texts) in &parts {
            for text in texts {
                let wrapped = text.lines().map(|line| report::wrap(line, columns));
                let wrapped: Vec<String> = wrapped.collect();
                for (at, line) in wrapped.join("\n").lines().enumerate() {
                    let label = if at == 0 { label.as_str() } else { "" };
                    let gap = indent - report::width(label);
                    lines.push(format!("{label}{:gap$}{line}", ""));
                }
            }
        }
        lines.join("\n")
    }

    /// Whether the program that tells most is not there, or is one that has no version, as BusyBox's.
    fn lacks_ip(&self) -> bool {
        let Part::Known(programs) = &self.programs else {
            return false;
        };
        let ip = programs.iter().find(|program| program.name == "ip");
        ip.is_none_or(|ip| !ip.is_there || ip.version.is_none())
    }
}

impl<T> Part<T> {
    /// Its texts, or what there is instead.
    fn texts(
        &self,
        texts: impl FnOnce(&T) -> Vec<String>,
        failed: impl FnOnce(Kind) -> String,
    ) -> Vec<String> {
        match self {
            Self::Known(part) => texts(part),
            Self::Failed { failure } => vec![failed(*failure)],
        }
    }
}

fn unknown(failure: Kind) -> String {
    let unknown = say("doctor.unknown");
    said(&unknown.with("failure", Exit::from(failure).name()))
}

impl System {
    fn text(&self) -> String {
        let rights = say(match self.is_root {
            true => "doctor.as-root",
            false => "doctor.not-as-root",
        });
        let mounts = (self.mounts_smb == Some(false)).then(|| say("doctor.mounts-no-smb"));
        let waits = (!self.counts_disk_waits).then(|| say("doctor.counts-no-waits"));
        let message = say("doctor.system")
            .with_known("name", self.name.as_ref())
            .with("kernel", &self.kernel)
            .with("architecture", self.architecture)
            .count("processors", self.processors)
            .with_known("memory", self.memory_bytes.map(quantity::size))
            .with("rights", rights)
            .with_known("mounts", mounts)
            .with_known("waits", waits);
        said(&message)
    }
}

impl Interfaces {
    fn text(&self) -> String {
        let like = &self.like;
        let driver: Message = match &like.driver {
            Some(driver) => driver.as_str().into(),
            None => say("doctor.no-driver"),
        };
        let rate = like.bits_per_second.map(record::BitsPerSecond::new);
        let message = say("doctor.interfaces")
            .count("count", self.count)
            .with("driver", driver)
            .with_known("medium", like.medium.map(word))
            .with_known("rate", rate.map(quantity::line_rate))
            .count("mtu", like.mtu)
            .with("state", word(like.state));
        said(&message)
    }
}

/// A word of `InterfaceKind` as people read it.
fn word(of_json: &str) -> Message {
    say(match of_json {
        "cable" => "doctor.cable",
        "wireless" => "doctor.wireless",
        "tunnel" => "doctor.tunnel",
        "bridge" => "doctor.bridge",
        "up" => "told-change.link-up",
        "down" => "told-change.link-down",
        _ => "told-change.link-unknown",
    })
}

impl Program {
    fn text(&self) -> String {
        let state: Message = match (&self.version, self.is_there) {
            (Some(version), true) => version.as_str().into(),
            (None, true) => say("doctor.is-there"),
            (_, false) => say("doctor.not-there"),
        };
        let message = say("doctor.program")
            .with("name", self.name)
            .with("state", state)
            .with("use", &self.used_for);
        said(&message)
    }
}

impl Settings {
    /// What can be read and set, and in a line for each reason what cannot.
    fn text(&self) -> String {
        let counts = say(match os::is_root() {
            true => "doctor.settings",
            false => "doctor.settings-by-root",
        });
        let counts = counts
            .count("read", self.read)
            .count("settable", self.can_be_set);
        let refused = self.refused.iter().map(|(reason, ids)| {
            let refused = say("doctor.refused").with("reason", reason);
            said(&refused.with("ids", ids.join(", ")))
        });
        let lines: Vec<String> = std::iter::once(said(&counts)).chain(refused).collect();
        lines.join("\n")
    }
}

impl Sandbox {
    fn text(&self) -> String {
        let missing = self.missing.join("; ");
        match missing.is_empty() {
            true => text("doctor.sandbox-complete"),
            false => said(&say("doctor.sandbox-incomplete").with("missing", missing)),
        }
    }
}

impl State {
    fn text(&self) -> String {
        let damaged = self.damaged_changes;
        let message = say("doctor.state")
            .with("folder", &self.folder)
            .with_known("runs", self.runs.map(|runs| runs.to_string()))
            .count("changes", self.open_changes)
            .with_known("damaged", (damaged > 0).then(|| damaged.to_string()));
        said(&message)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use locale::Language;

    use super::*;
    use crate::version;

    /// A machine that could not be looked at, with this version of `ip`.
    fn unread(ip: Option<&str>) -> Report {
        let failure = Kind::Refused;
        let ip = Program {
            name: "ip",
            used_for: text("doctor-use.ip"),
            is_there: true,
            version: ip.map(str::to_owned),
        };
        Report {
            build: version::OWN,
            system: Part::Failed { failure },
            interfaces: Part::Failed { failure },
            programs: Part::Known(vec![ip]),
            settings: Part::Failed { failure },
            sandbox: Part::Failed { failure },
            state: Part::Failed { failure },
        }
    }

    #[test]
    fn what_only_ip_tells_is_not_called_refused_where_there_is_none() {
        for language in Language::ALL {
            let counts = language.within(|| {
                let expected = text("doctor.without-ip");
                [None, Some("iproute2-6.1.0")]
                    .map(|ip| unread(ip).text().matches(&expected).count())
            });
            assert_eq!(counts, [3, 0], "{language:?}");
        }
    }

    #[test]
    fn texts_begin_in_one_column_however_wide_the_labels_are() {
        for language in Language::ALL {
            let drawn = language.within(|| unread(None).text());
            let begins = drawn.lines().skip(1).map(|line| {
                let text = line.rsplit("  ").next().unwrap_or_default();
                report::width(line) - report::width(text)
            });
            let begins: BTreeSet<usize> = begins.collect();
            assert_eq!(begins.len(), 1, "{drawn}");
        }
    }
}
