//! What a setting will be after a restart: each knob of Linux and macOS that a restart resets, and that the
//! system's own configuration can set again, has a twin here.
//!
//! A twin's value is what linerate has told the system to set, or `unset`. It writes one file of its
//! own for each setting, where whoever sets the interface up reads it; which that is, the host tells.

mod config_files;

use std::sync::LazyLock;

use locale::{Message, say};
use record::{System, Target, Value};

use super::ethtool::Ethtool;
use super::ip_link::Link;
use super::journal_validation::is_script;
use super::macos::Mac;
use super::routing_and_arp::Route;
use super::safe_argument::{is_text, is_word};
use super::{
    Allowed, Before, Disturbance, KNOBS, Kind, Knob, KnobBackend, Refusal, Seen, State, TargetKind,
    answer, command, usual_restore,
};
use crate::exec::{Command, Output};
use config_files::properties;

/// Behind the id of a knob, the id of its twin.
const SUFFIX: &str = ".at_start";
/// In front of what a file of ours keeps: `nic.mtu@eth0 = 9000`.
const KEEPS: &str = "# linerate keeps: ";
/// Where `udev` looks for files that are not the system's own.
const UDEV: &str = "/etc/systemd/network/";
const NOTE: &str = "# `linerate undo` takes this file away.\n";
/// Exit status of the look where there is no such interface.
const STATUS_NO_NIC: i32 = 3;

/// Tells who sets an interface up, and what we keep for it. Argument: the interface, or nothing.
const LOOK: &str = r#"nic=$1
grep -Hs '^# linerate keeps: ' /etc/sysctl.d/99-zz-linerate-* /etc/netplan/90-linerate-* \
    /etc/network/if-up.d/linerate-* /etc/NetworkManager/dispatcher.d/90-linerate-* \
    /etc/systemd/network/*.link.d/90-linerate-*
grep -s '^[^#;]*=' /etc/sysctl.conf | sed 's/^/late /'
[ -n "$nic" ] || exit 0
[ -e "/sys/class/net/$nic" ] || exit 3
netplan=$(netplan get "ethernets.$nic" 2>/dev/null)
uuid=$(nmcli -g GENERAL.CON-UUID device show "$nic" 2>/dev/null)
if [ -n "$netplan" ] && [ "$netplan" != null ]; then
    echo 'manager netplan'
elif [ -n "$uuid" ]; then
    echo "manager networkmanager $uuid"
    nmcli -t connection show "$uuid" 2>/dev/null | grep '^802-3-ethernet.mtu:\|^ethtool\.' | sed 's/^/property /'
elif ifquery "$nic" >/dev/null 2>&1; then
    echo 'manager ifupdown'
elif [ -e /run/udev/control ]; then
    echo 'manager udev'
    udevadm info -q property "/sys/class/net/$nic" | while IFS= read -r line; do
        case $line in
        ID_PATH=*) echo "path ${line#*=}" ;;
        ID_NET_LINK_FILE=*)
            echo "link ${line#*=}"
            sed -n '/^\[Link\]/,/^\[[^L]/p' "${line#*=}" | grep '^[A-Za-z0-9]*=' | sed 's/^/option /'
            ;;
        esac
    done
    network=$(sed -n 's/^NETWORK_FILE=//p' "/run/systemd/netif/links/$(cat "/sys/class/net/$nic/ifindex")" 2>/dev/null)
    [ -z "$network" ] || grep -qs '^MTUBytes=' "$network" && echo "mtu $network"
fi
exit 0
"#;

/// The same on a Mac, where `launchd` does it.
const LOOK_ON_A_MAC: &str = r"grep -Hs '^# linerate keeps: ' /Library/LaunchDaemons/linerate.*
exit 0
";

/// Writes a file, whole or not at all. Arguments: its path, its mode, its text, and, where it only adds
/// to another file that is ours as well, the other's path and text. `netplan` has to understand it.
const KEEP: &str = r#"set -eu
umask 022
put() {
    mkdir -p "${1%/*}"
    new=$(mktemp "${1%/*}/.linerate.XXXXXX")
    trap 'rm -f -- "$new"' EXIT
    printf '%s' "$3" >"$new"
    chmod "$2" "$new"
    case $1 in
    *.yaml)
        root=$(mktemp -d)
        trap 'rm -rf -- "$new" "$root"' EXIT
        mkdir -p "$root/etc/netplan"
        cp /etc/netplan/*.yaml "$root/etc/netplan/" 2>/dev/null || :
        cp "$new" "$root/etc/netplan/${1##*/}"
        netplan generate --root-dir "$root" >&2
        rm -rf -- "$root"
        ;;
    esac
    sync "$new"
    mv -f -- "$new" "$1"
}
[ $# -lt 5 ] || [ -e "$4" ] || put "$4" 644 "$5"
put "$1" "$2" "$3"
"#;
/// Takes it away again, and the other file with the last that adds to it.
const DROP: &str = r#"rm -f -- "$1"
if [ $# -gt 1 ] && { [ ! -e "${1%/*}" ] || rmdir "${1%/*}" 2>/dev/null; }; then rm -f -- "$2"; fi
[ ! -e "$1" ]
"#;

/// The twin of a knob.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    of: &'static Knob,
}

/// Who sets an interface up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigManager {
    /// `sysctl`, for what is no interface's.
    Sysctl,
    /// `launchd`, for all of a Mac.
    Launchd,
    Netplan,
    /// `NetworkManager`, with the id of the interface's connection.
    NetworkManager(String),
    Ifupdown,
    /// `udev`, with the path and the text of a file for the interface, to which settings are added.
    Udev {
        file: String,
        text: String,
    },
}

/// The twins.
static TWINS: LazyLock<Vec<Knob>> = LazyLock::new(|| {
    let own = KNOBS.iter().filter(|knob| can_be_kept(knob));
    own.map(|knob| Knob {
        id: format!("{}{SUFFIX}", knob.id).leak(),
        disturbs: Disturbance::Nothing,
        survives_reboot: true,
        values: "what is to be set at the start, or unset",
        kind: Kind::Keep(Keep { of: knob }),
        ..*knob
    })
    .collect()
});

/// The twin of this id.
pub(super) fn find(system: System, id: &str) -> Option<&'static Knob> {
    id.ends_with(SUFFIX).then_some(())?;
    TWINS
        .iter()
        .find(|knob| knob.system == system && knob.id == id)
}

/// All twins of one part of a host.
pub(crate) fn of_target(system: System, target: &Target) -> impl Iterator<Item = &'static Knob> {
    let on = TargetKind::of(target);
    TWINS
        .iter()
        .filter(move |knob| knob.system == system && knob.on == on)
}

/// The knob that keeps what another one sets.
///
/// # Errors
/// When there is no way to keep it.
pub(crate) fn persistent_of(knob: &Knob) -> Result<&'static Knob, Refusal> {
    find(knob.system, &id_of(knob.id)).ok_or_else(|| {
        Refusal::new(say("error-knob.no-place-at-start")).hint(say("hint-host.no-persist"))
    })
}

/// Whether the knob of this id keeps what another one sets.
pub(crate) fn keeps(id: &str) -> bool {
    id.ends_with(SUFFIX)
}

/// The id of the knob that keeps what the knob of this id sets.
pub(crate) fn id_of(id: &str) -> String {
    format!("{id}{SUFFIX}")
}

/// The command as people read it: files are shown with what is written into them.
pub(super) fn shown(argv: &[String]) -> Option<String> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let [_, _, script, _, path, rest @ ..] = words.as_slice() else {
        return None;
    };
    let file = |path: &str, content: &str| {
        let lines = content.lines().map(|line| format!("\n    {line}"));
        format!("write `{path}`:{}", lines.collect::<String>())
    };
    match (*script, rest) {
        (KEEP, [_, content]) => Some(file(path, content)),
        (KEEP, [_, content, main, text]) => Some(format!(
            "{}\n  and, where it is not there, {}",
            file(path, content),
            file(main, text)
        )),
        (DROP, _) => Some(format!("remove `{path}`")),
        _ => None,
    }
}

fn can_be_kept(knob: &Knob) -> bool {
    use Ethtool::{Adaptive, Channels, Coalesce, Eee, Feature, Pause, RingRx, RingTx};
    if let Kind::Mac(backend) = &knob.kind {
        return match backend {
            // They are there only while a share is mounted.
            Mac::Sysctl(key, _) => !key.starts_with("net.smb."),
            Mac::Capability(..) => true,
            _ => false,
        };
    }
    knob.system == System::Linux
        && match &knob.kind {
            Kind::Sysctl(_) | Kind::Link(_) => true,
            Kind::Route(backend) => matches!(backend, Route::Number(..) | Route::Switch(_)),
            Kind::Ethtool(backend) => matches!(
                backend,
                Adaptive(_)
                    | Channels
                    | Coalesce(_)
                    | Eee
                    | Feature { .. }
                    | Pause
                    | RingRx
                    | RingTx
            ),
            _ => false,
        }
}

impl KnobBackend for Keep {
    fn read(&self, name: &str) -> Vec<Command> {
        let look = match self.of.system {
            System::Macos => LOOK_ON_A_MAC,
            _ => LOOK,
        };
        vec![command(&["sh", "-c", look, "sh", name])]
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        if outputs
            .first()
            .is_some_and(|output| output.status == STATUS_NO_NIC)
        {
            return Err(Refusal::no_interface(name));
        }
        let said = answer(outputs.first(), "coreutils")?;
        let place = self.place(name);
        let mut kept = said.lines().filter_map(|line| {
            let (file, kept) = line.split_once(':')?;
            let (own, value) = kept.strip_prefix(KEEPS)?.split_once(" = ")?;
            (own == place && self.is_own(name, file)).then_some((file, value))
        });
        let (file, value) = kept.next().unzip();
        let file = file.map(str::to_owned);
        let mut value = value.map_or(Value::Unset, |value| Value::Text(value.to_owned()));
        let manager = self.manager(name, &said);
        let because = match &manager {
            Err(refusal) => Some(refusal.reason.clone()),
            Ok(manager) => self.why_not(manager, &said),
        };
        if let (Ok(ConfigManager::NetworkManager(_)), Value::Unset) = (&manager, &value) {
            value = self.property_value(&said);
        }
        let state = State::new(value, Allowed::AsRead).unset(Value::Unset);
        let manager = manager.ok();
        Ok(state.seen(Seen::Kept { manager, file }).fixed_if(because))
    }

    fn could_be(&self, value: &Value) -> bool {
        let of = self.of.backend();
        *value == Value::Unset
            || is_text(value, |text| {
                let number = text.parse().ok().map(Value::Integer);
                let number = number.filter(|number| number.to_string() == text);
                let switch = ["on", "off"].contains(&text).then_some(Value::Switch(true));
                // Connections of `NetworkManager` may have words that we would not set.
                is_word(text)
                    || of.could_be(value)
                    || number.is_some_and(|value| of.could_be(&value))
                    || switch.is_some_and(|value| of.could_be(&value))
            })
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        match argv {
            ["sh", "-c", script, "sh", file, ..] => {
                is_script(script, &[KEEP, DROP]) && self.is_own(name, file)
            }
            ["nmcli", "connection", "modify", "uuid", ..] => self.property().is_some(),
            _ => false,
        }
    }

    /// What sets up the interface may be another program by now: the file goes from where it is.
    fn restore(
        &self,
        name: &str,
        state: &State,
        to: &Value,
        _: &Before<'_>,
    ) -> Result<Command, Refusal> {
        match (&state.seen, to) {
            (
                Seen::Kept {
                    file: Some(file), ..
                },
                Value::Unset,
            ) => {
                let mut drop = command(&["sh", "-c", DROP, "sh", file]);
                let main = file.split_once(".d/90-linerate-").map(|(main, _)| main);
                let main = main.filter(|main| main.ends_with(".link"));
                drop.argv.extend(main.map(str::to_owned));
                Ok(drop)
            }
            _ => usual_restore(self, name, state, to),
        }
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let Seen::Kept {
            manager: Some(manager),
            ..
        } = &state.seen
        else {
            return Err(Refusal::none_such());
        };
        let text = match to {
            Value::Unset => None,
            Value::Text(text) => Some(text.as_str()),
            _ => return Err(Refusal::none_such()),
        };
        if let (ConfigManager::NetworkManager(uuid), Some(property)) = (manager, self.property()) {
            let pairs = properties(property, text).ok_or_else(Refusal::none_such)?;
            let mut modify = command(&["nmcli", "connection", "modify", "uuid", uuid]);
            modify
                .argv
                .extend(pairs.into_iter().flat_map(|(key, value)| [key, value]));
            return Ok(modify);
        }
        let path = self.path(name, manager);
        let main = match manager {
            ConfigManager::Udev { file, text } => Some((file, text)),
            _ => None,
        };
        let Some(text) = text else {
            let mut drop = command(&["sh", "-c", DROP, "sh", &path]);
            drop.argv.extend(main.map(|(file, _)| file.clone()));
            return Ok(drop);
        };
        let content = self.content(name, manager, text)?;
        let mut keep = command(&["sh", "-c", KEEP, "sh", &path, self.mode(manager), &content]);
        if let Some((file, text)) = main {
            keep.argv.extend([file.clone(), text.clone()]);
        }
        Ok(keep)
    }
}

impl Keep {
    fn is_sysctl(&self) -> bool {
        matches!(self.of.kind, Kind::Sysctl(_) | Kind::Route(_))
    }

    /// The setting as a file of ours names it.
    fn place(&self, nic: &str) -> String {
        match nic {
            "" => self.of.id.to_owned(),
            nic => format!("{}@{nic}", self.of.id),
        }
    }

    fn manager(&self, nic: &str, said: &str) -> Result<ConfigManager, Refusal> {
        if self.is_sysctl() {
            return Ok(ConfigManager::Sysctl);
        }
        if self.of.system == System::Macos {
            return Ok(ConfigManager::Launchd);
        }
        let word = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
        let manager = word("manager ").unwrap_or_default();
        match manager.split_once(' ').unwrap_or((manager, "")) {
            ("netplan", _) => Ok(ConfigManager::Netplan),
            ("networkmanager", uuid) => Ok(ConfigManager::NetworkManager(uuid.to_owned())),
            ("ifupdown", _) => Ok(ConfigManager::Ifupdown),
            ("udev", _) => udev(nic, word("path "), word("link "), said),
            _ => Err(Refusal::new(say("error-linux.no-manager"))),
        }
    }

    /// Why the manager cannot, or would not have the last word.
    fn why_not(&self, manager: &ConfigManager, said: &str) -> Option<Message> {
        let late = |key: &str| {
            let mut keys = said.lines().filter_map(|line| {
                let key = line.strip_prefix("late ")?.split('=').next()?;
                Some(key.trim().trim_start_matches('-').replace('/', "."))
            });
            keys.any(|other| other == key)
        };
        let last_word = |file: &str| say("knob-fixed.last-word").with("file", file);
        let no_setting = |program: &str| say("knob-fixed.no-setting").with("program", program);
        match (manager, &self.of.kind) {
            (ConfigManager::Sysctl, Kind::Sysctl(sysctl)) if late(sysctl.key()) => {
                Some(last_word("/etc/sysctl.conf"))
            }
            (ConfigManager::Netplan, _) if self.netplan().is_none() => Some(no_setting("netplan")),
            (ConfigManager::Udev { .. }, Kind::Link(Link::Mtu)) => {
                let file = said.lines().find_map(|line| line.strip_prefix("mtu "))?;
                Some(last_word(file))
            }
            (ConfigManager::Udev { .. }, _)
                if self.link("on").is_none() && self.link("1").is_none() =>
            {
                Some(no_setting("udev"))
            }
            _ => None,
        }
    }

    /// Whether a file is where one of the managers has this setting.
    fn is_own(&self, nic: &str, file: &str) -> bool {
        let fixed = [
            ConfigManager::Sysctl,
            ConfigManager::Launchd,
            ConfigManager::Netplan,
            ConfigManager::NetworkManager(String::new()),
            ConfigManager::Ifupdown,
        ];
        let folder = file
            .strip_prefix(UDEV)
            .and_then(|rest| rest.split_once(".d/"))
            .map(|(main, _)| main)
            .filter(|main| main.ends_with(".link") && !main.contains('/'));
        let udev = folder.map(|main| ConfigManager::Udev {
            file: format!("{UDEV}{main}"),
            text: String::new(),
        });
        let mut all = fixed.iter().chain(&udev);
        all.any(|manager| self.path(nic, manager) == file)
    }

    fn path(&self, nic: &str, manager: &ConfigManager) -> String {
        let nic = plain(nic);
        let name = match nic.as_str() {
            "" => self.of.id.to_owned(),
            nic => format!("{}-{nic}", self.of.id),
        };
        match manager {
            ConfigManager::Sysctl => format!("/etc/sysctl.d/99-zz-linerate-{name}.conf"),
            ConfigManager::Launchd => format!("/Library/LaunchDaemons/linerate.{name}.plist"),
            ConfigManager::Netplan => format!("/etc/netplan/90-linerate-{name}.yaml"),
            ConfigManager::NetworkManager(_) => {
                format!("/etc/NetworkManager/dispatcher.d/90-linerate-{name}")
            }
            // `run-parts` passes over names with dots.
            ConfigManager::Ifupdown => {
                format!("/etc/network/if-up.d/linerate-{}", name.replace('.', "-"))
            }
            ConfigManager::Udev { file, .. } => {
                let file = file.rsplit('/').next().unwrap_or_default();
                format!("{UDEV}{file}.d/90-linerate-{name}.conf")
            }
        }
    }
}

/// A name of an interface as a part of a file's name.
fn plain(nic: &str) -> String {
    let letters = nic.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '-' => letter.to_string(),
        other => format!("_{:x}_", u32::from(other)),
    });
    letters.collect()
}

/// A file of the interface's own: what `udev` reads for it may count for others as well, so what stands
/// there is said again.
fn udev(
    nic: &str,
    path: Option<&str>,
    link: Option<&str>,
    said: &str,
) -> Result<ConfigManager, Refusal> {
    let name = format!("10-linerate-{}.link", plain(nic));
    let file = format!("{UDEV}{name}");
    let link = link.unwrap_or_default();
    if link
        .rsplit('/')
        .next()
        .is_some_and(|other| !other.is_empty() && other < name.as_str())
    {
        let reason = say("error-linux.read-before").with("file", link);
        return Err(Refusal::new(reason));
    }
    let which = match path {
        Some(path) => format!("Path={path}"),
        None => format!("OriginalName={nic}"),
    };
    let options = said
        .lines()
        .filter_map(|line| line.strip_prefix("option "))
        .map(|option| format!("{option}\n"));
    let options: String = options.collect();
    let text = format!(
        "# Written by linerate for what is in `{file}.d`; `linerate undo` takes it away.\n\
         [Match]\n{which}\n\n[Link]\n{options}"
    );
    Ok(ConfigManager::Udev { file, text })
}
