//! `linerate set`: knobs of one host, all of them or none.

use std::process::ExitCode;
use std::time::Duration;

use host::Host;
use host::change::{self, Change, Item, Typed};
use host::exec::Command;
use host::journal::{self, Journal, SummarySetting};
use host::knob::{self, KNOBS, TargetKind};
use locale::{said, say, text};
use measure::Stop;
use record::{HostName, KnobId, Target};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::SetArguments;
use crate::changes::{hint, style};
use crate::failure::{CommandError, Kind};
use crate::host_command_json::HostCommand;
use crate::hosts::Named;
use crate::profiles::{self, Judged, JudgedProfile};
use crate::{ctrl_c, hosts, ssh_lockout, stdout_and_stderr};

/// Who the journal says made the change.
const RUN: &str = "set";

/// What `set --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetResult<'a> {
    /// Whether nothing was set, and only said what would be.
    dry_run: bool,
    /// Id of the change, for `linerate undo ID`; null where nothing was changed.
    change: Option<&'a str>,
    /// What the profile came to; null without one.
    profile: Option<JudgedProfile>,
    /// What was set, or would be.
    settings: Vec<SummarySetting>,
    /// The commands that set it.
    commands: Vec<HostCommand<'a>>,
}

/// Runs `set`.
pub fn run(arguments: &SetArguments) -> Result<ExitCode, CommandError> {
    let typed: Vec<Typed> = arguments
        .settings
        .iter()
        .map(|text| parse(text))
        .collect::<Result<_, _>>()?;
    let named = hosts::parse(&arguments.host)?;
    let host = hosts::open(&named)?;
    let hosts = std::slice::from_ref(&host);
    let profile = profiles::asked(&arguments.profile)?;
    let judge = |profile| Judged::on_host(profile, &host, arguments);
    let plan = || {
        let judged = profile.as_ref().map(judge).transpose()?;
        let mut settings = match &judged {
            Some(judged) => judged.settings(),
            None => change::understand(&host, &typed)?,
        };
        if arguments.persist {
            settings.extend(change::kept(hosts, &settings)?);
        }
        let change = Change::plan(hosts, &settings, RUN)?;
        let change = change.with_lease(Duration::from_secs(arguments.lease));
        if let (Some(judged), false) = (&judged, arguments.json) {
            judged.show();
        }
        let rules = judged.as_ref().map(Judged::json);
        Ok::<_, CommandError>((change, rules))
    };
    if arguments.dry_run {
        let (change, rules) = plan()?;
        show(arguments, change.items(), &change.commands(), (None, rules));
        for host in change.leased_hosts().filter(|_| !arguments.json) {
            let sentence = say("told-change.lease").with("host", host.to_string());
            stdout_and_stderr::print(&said(&sentence.count("seconds", arguments.lease)));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let stop = ctrl_c::listen()?;
    // Before anything is read, so that nobody changes it between the look and the change.
    let journal = Journal::open(&journal::state_folder()?, RUN)?;
    let (change, rules) = plan()?;
    let commands = change.commands();
    if change.is_empty() {
        show(arguments, change.items(), &commands, (None, rules));
        return Ok(ExitCode::SUCCESS);
    }
    let (id, items) = make(arguments, (&named, &host), (&journal, change), &stop)?;
    let lasts = |item: &Item| {
        let knob = knob::find(host.system, item.knob.as_str());
        knob.is_some_and(|knob| knob.survives_reboot)
    };
    let outlives = arguments.persist || items.iter().all(lasts);
    let made = (Some((id.as_str(), outlives)), rules);
    show(arguments, &items, &commands, made);
    Ok(ExitCode::SUCCESS)
}

/// Makes a change, and keeps it unless it has cut off the session that makes it: its id, and what it set.
fn make(
    arguments: &SetArguments,
    (named, host): (&Named, &Host),
    (journal, change): (&Journal, Change),
    stop: &Stop,
) -> Result<(String, Vec<Item>), CommandError> {
    let at_risk = match named {
        Named::Local => ssh_lockout::at_risk(host, &change)?,
        Named::Lab { .. } | Named::Ssh(_) => None,
    };
    if let Some(nic) = &at_risk {
        ssh_lockout::check_terminal(nic)?;
    }
    let mut open = journal.begin(change)?;
    open.apply().map_err(|error| explain(arguments, error))?;
    let limit = Duration::from_secs(arguments.lease);
    let is_alive = at_risk.is_none() || ssh_lockout::is_alive(limit, stop);
    if stop.is_asked() {
        open.close()?;
        return Err(ctrl_c::interrupted());
    }
    if !is_alive {
        open.close()?;
        return Err(CommandError::new(
            Kind::Refused,
            say("error-change.session-dead"),
        ));
    }
    let items = open.items().to_vec();
    Ok((open.keep()?, items))
}

/// One knob that a driver refuses need not keep a profile from the rest.
fn explain(arguments: &SetArguments, error: host::Error) -> CommandError {
    let refused = match &error {
        host::Error::Apply { restored: true, .. } => arguments.profile.profile.as_ref(),
        _ => None,
    };
    let error = CommandError::from(error);
    match refused {
        Some(_) => error.hint(say("hint-change.without")),
        None => error,
    }
}

/// Reads `ID=VALUE`, `ID@NIC=VALUE` and `ID@SHARE=VALUE`.
pub fn parse(text: &str) -> Result<Typed, CommandError> {
    let wrong = || {
        let sentence = say("error-change.sets-nothing").with("text", text);
        CommandError::new(Kind::Usage, sentence).hint(say("hint-change.setting-as"))
    };
    let knob = text.split(['@', '=']).next().unwrap_or_default();
    // What mounts a share has such signs in it, and few folders have.
    let parted = match is_of(knob, TargetKind::Mount) {
        true => text.split_once('='),
        false => text.rsplit_once('='),
    };
    let (place, value) = parted.ok_or_else(wrong)?;
    let (id, target) = match place.split_once('@') {
        Some((id, name)) if is_of(id, TargetKind::Share) => (id, Target::Share(name.to_owned())),
        Some((id, name)) if is_of(id, TargetKind::Mount) => (id, Target::Mount(name.to_owned())),
        Some((id, name)) => (id, Target::Nic(name.to_owned())),
        None => (place, Target::Host),
    };
    let whole = !id.is_empty() && !value.is_empty() && !place.ends_with('@');
    if !whole || id.contains('=') {
        return Err(wrong());
    }
    Ok(Typed {
        target,
        knob: KnobId::new(id),
        value: value.to_owned(),
    })
}

fn is_of(id: &str, on: TargetKind) -> bool {
    let mut knobs = KNOBS.iter();
    knobs.any(|knob| knob.id == id && knob.on == on)
}

/// What was set, or would be; `change` is the id of what was, and whether it outlives a restart;
/// `rules` is what a profile came to.
fn show(
    arguments: &SetArguments,
    items: &[Item],
    commands: &[(HostName, Command)],
    (change, rules): (Option<(&str, bool)>, Option<JudgedProfile>),
) {
    if arguments.json {
        let settings = items.iter().cloned().map(SummarySetting::from);
        stdout_and_stderr::print_json(&SetResult {
            dry_run: arguments.dry_run,
            change: change.map(|(id, _)| id),
            profile: rules,
            settings: settings.collect(),
            commands: HostCommand::all(commands),
        });
        return;
    }
    let rows = items.iter().map(|item| {
        let [before, after] = [&item.before, &item.after].map(ToString::to_string);
        vec![
            item.host.to_string(),
            format!("{} {}", item.knob, item.target),
            before,
            after,
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let now = match arguments.dry_run {
        true => "told-change.column-would-be",
        false => "told-change.column-now",
    };
    let headings = [
        "told-change.column-host",
        "told-change.column-setting",
        "told-change.column-before",
        now,
    ];
    let headings = headings.map(text);
    let headings = headings.each_ref().map(String::as_str);
    stdout_and_stderr::print_drawn(&report::table(&headings, &rows, style()));
    match change {
        Some((id, true)) => {
            stdout_and_stderr::print(&hint(say("hint-change.stays").with("id", id)));
        }
        Some((id, false)) => {
            stdout_and_stderr::print(&hint(say("hint-change.stays-until-reboot").with("id", id)));
        }
        None if commands.is_empty() => stdout_and_stderr::print(&text("told-change.so-already")),
        None => {
            stdout_and_stderr::print(&text("told-change.would-run"));
            for (host, command) in commands {
                stdout_and_stderr::print(&format!("  {host}: {}", knob::shown(command)));
            }
            stdout_and_stderr::print(&text("told-change.nothing-was-changed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_belong_to_the_host_or_to_an_interface() {
        let typed = parse("nic.mtu@eth0=9000").expect("a setting");
        assert_eq!(typed.target, Target::Nic("eth0".into()));
        assert_eq!(
            (typed.knob.as_str(), typed.value.as_str()),
            ("nic.mtu", "9000")
        );
        let typed = parse("tcp.congestion_control=cubic").expect("a setting");
        assert_eq!(typed.target, Target::Host);
        let typed = parse("smb.server.sendfile@my share=on").expect("a setting");
        assert_eq!(typed.target, Target::Share("my share".into()));
        // The kernel allows these in the name of an interface.
        let typed = parse("nic.mtu@a=b@c=9000").expect("a setting");
        assert_eq!(typed.target, Target::Nic("a=b@c".into()));
        let line = "//nas/media /mnt/my\\040nas cifs guest,vers=3.1.1 0 0";
        let typed = parse(&format!("smb.client.fstab_entry@/mnt/my nas={line}"));
        let typed = typed.expect("a setting");
        assert_eq!(typed.target, Target::Mount("/mnt/my nas".into()));
        assert_eq!(typed.value, line);
        for wrong in [
            "",
            "nic.mtu",
            "=1",
            "nic.mtu=",
            "nic.mtu@=1",
            "@eth0=1",
            "a=b=c",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
