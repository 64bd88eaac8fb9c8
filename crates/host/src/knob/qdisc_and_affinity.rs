//! Knobs of what happens to frames between a NIC and the protocol stack: the queueing discipline, and
//! which processors do the work.

use std::collections::BTreeSet;

use locale::say;
use record::Value;
use serde::Deserialize;

use super::journal_validation::is_script;
use super::safe_argument::{is_text, is_word};
use super::{
    Allowed, Disturbance, Kind, Knob, KnobBackend, Refusal, Seen, State, TargetKind, answer,
    command, words,
};
use crate::exec::{Command, Output};

/// Processors that a list may name; no machine has more.
const PROCESSORS_MAX: u32 = 4096;
/// Queueing disciplines that need no options, each with the handle that says that we set it.
const DISCIPLINES: [(&str, &str); 5] = [
    ("fq", "11a1:"),
    ("fq_codel", "11a2:"),
    ("pfifo_fast", "11a3:"),
    ("cake", "11a4:"),
    ("sfq", "11a5:"),
];
/// The handle of what the kernel chose by itself.
const NOBODYS: &str = "0:";
/// Processors that could be there: masks may name those that are off just now.
const POSSIBLE: &str = "/sys/devices/system/cpu/possible";

/// Prints the interrupts of a NIC, each with its processors. Those of a virtio device belong to the
/// device below it.
const SHOW_INTERRUPTS: &str = r#"[ -e "/sys/class/net/$1" ] || exit 3
all=/sys/class/net/$1/device/msi_irqs
[ -d "$all" ] || all=/sys/class/net/$1/device/../msi_irqs
for number in $(ls "$all" 2>/dev/null | sort -n); do
    list=$(cat "/proc/irq/$number/smp_affinity_list" 2>/dev/null) && echo "$number $list"
done
exit 0
"#;
/// Exit status where there is no such interface.
const STATUS_NO_NIC: i32 = 3;
/// Writes each second argument into the file named by the one before.
const WRITE: &str = r#"status=0
while [ $# -ge 2 ]; do
    printf '%s\n' "$2" >"$1" || status=1
    shift 2
done
exit $status
"#;
/// Takes our queueing discipline away, so that the kernel's own comes back.
const NO_DISCIPLINE: &str = r#"tc qdisc del dev "$1" root 2>/dev/null
tc qdisc show dev "$1" | grep -q '^qdisc [^ ]* 0: .*root' || { echo "\`tc\` cannot take it away" >&2; exit 1; }
"#;

/// What is set for the queues of a NIC.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queue {
    /// The queueing discipline at the root, by `tc`.
    Discipline,
    /// The processors to which received packets are passed on (RPS).
    Receive,
    /// The processors that send on a queue (XPS).
    Send,
    /// The processors that take the NIC's interrupts.
    Interrupts,
}

pub(super) const fn queue(queue: Queue) -> Knob {
    let values = match queue {
        Queue::Discipline => "fq, fq_codel, pfifo_fast, cake, sfq, unset for the kernel's own",
        Queue::Receive | Queue::Send => {
            "processors, `0-3,8`, for all queues, or `rx-0=0-1 rx-1=2-3`; off"
        }
        Queue::Interrupts => "processors, `0-3,8`, for all interrupts, or `38=0 39=1`",
    };
    Knob {
        values,
        disturbs: Disturbance::Nothing,
        ..Knob::linux(TargetKind::Nic, Kind::Queue(queue))
    }
}

impl KnobBackend for Queue {
    fn read(&self, name: &str) -> Vec<Command> {
        let possible = command(&["cat", POSSIBLE]);
        let queues = format!("/sys/class/net/{name}/queues");
        match self {
            Self::Discipline => vec![command(&["tc", "-j", "qdisc", "show"])],
            // Some of the files cannot be read, and the others are printed all the same.
            Self::Receive | Self::Send => vec![command(&["grep", "-rsH", "", &queues]), possible],
            Self::Interrupts => vec![
                command(&["sh", "-c", SHOW_INTERRUPTS, "sh", name]),
                possible,
            ],
        }
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        if let Self::Discipline = self {
            return parse_discipline(name, &answer(outputs.first(), "iproute2")?);
        }
        let first = outputs.first();
        let parts = match self {
            Self::Interrupts => {
                if first.is_some_and(|output| output.status == STATUS_NO_NIC) {
                    return Err(Refusal::no_interface(name));
                }
                interrupts(&answer(first, "coreutils")?)
            }
            _ => {
                let said = first.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
                let said = said.unwrap_or_default();
                if said.is_empty() {
                    return Err(Refusal::no_interface(name));
                }
                queues(&said, self.file())
            }
        };
        if parts.is_empty() {
            return Err(Refusal::new(say(match self {
                Self::Interrupts => "error-linux.no-interrupts",
                _ => "error-linux.no-choice",
            })));
        }
        let possible = answer(outputs.get(1), "coreutils")?;
        let possible = processors(possible.trim()).ok_or_else(|| Refusal::unreadable("cat"))?;
        let allowed = Allowed::Processors {
            possible,
            off: !matches!(self, Self::Interrupts),
        };
        let state = State::new(Value::Text(together(&parts)), allowed);
        let state = match self {
            Self::Interrupts => state,
            _ => state.unset(Value::Text(OFF.to_owned())),
        };
        Ok(state.seen(Seen::Queues(
            parts.into_iter().map(|(name, _)| name).collect(),
        )))
    }

    fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Discipline => *value == Value::Unset || is_text(value, is_word),
            Self::Receive | Self::Send | Self::Interrupts => is_text(value, |text| {
                let mut names = text
                    .split_whitespace()
                    .filter_map(|word| word.split_once('='));
                names.all(|(name, _)| is_word(name)) && named_processors(text).is_some()
            }),
        }
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let is_own = |pair: &[&str]| {
            let part = pair.first().and_then(|path| path.rsplit('/').nth(1));
            part.is_some_and(|part| *pair[0] == self.path(name, part))
        };
        match (self, argv) {
            (
                Self::Discipline,
                [
                    "tc",
                    "qdisc",
                    "replace",
                    "dev",
                    nic,
                    "root",
                    "handle",
                    _,
                    kind,
                ],
            ) => *nic == name && DISCIPLINES.iter().any(|(own, _)| own == kind),
            (Self::Discipline, ["sh", "-c", script, "sh", nic]) => {
                is_script(script, &[NO_DISCIPLINE]) && *nic == name
            }
            (Self::Discipline, _) => false,
            (_, ["sh", "-c", script, "sh", pairs @ ..]) => {
                is_script(script, &[WRITE]) && pairs.chunks(2).all(is_own)
            }
            _ => false,
        }
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let to = match (self, to) {
            (Self::Discipline, Value::Unset) => {
                return Ok(command(&["sh", "-c", NO_DISCIPLINE, "sh", name]));
            }
            (_, Value::Text(to)) => to,
            _ => return Err(Refusal::none_such()),
        };
        if let Self::Discipline = self {
            let own = DISCIPLINES.iter().find(|(kind, _)| kind == to);
            let (kind, handle) = own.ok_or_else(Refusal::none_such)?;
            return Ok(command(&[
                "tc", "qdisc", "replace", "dev", name, "root", "handle", handle, kind,
            ]));
        }
        let Seen::Queues(known) = &state.seen else {
            return Err(Refusal::none_such());
        };
        let mut write = command(&["sh", "-c", WRITE, "sh"]);
        for (part, list) in apart(to, known)? {
            write.argv.push(self.path(name, &part));
            write.argv.push(match self {
                Self::Interrupts => list_text(&list),
                _ => mask_text(&list),
            });
        }
        Ok(write)
    }
}

impl Queue {
    const fn file(self) -> &'static str {
        match self {
            Self::Send => "xps_cpus",
            _ => "rps_cpus",
        }
    }

    fn path(self, nic: &str, part: &str) -> String {
        match self {
            Self::Interrupts => format!("/proc/irq/{part}/smp_affinity_list"),
            _ => format!("/sys/class/net/{nic}/queues/{part}/{}", self.file()),
        }
    }
}

#[derive(Deserialize)]
struct RawDiscipline {
    kind: String,
    dev: String,
    #[serde(default)]
    root: bool,
    #[serde(default)]
    handle: String,
}

fn parse_discipline(nic: &str, said: &str) -> Result<State, Refusal> {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(said).map_err(|_error| Refusal::unreadable("tc"))?;
    let rows = rows.into_iter();
    let mut rows = rows.filter_map(|row| serde_json::from_value::<RawDiscipline>(row).ok());
    let root = rows.find(|row| row.root && row.dev == nic);
    let root = root.ok_or_else(|| Refusal::no_interface(nic))?;
    let allowed = words(&DISCIPLINES.map(|(kind, _)| kind));
    if root.handle == NOBODYS {
        let state = State::new(Value::Unset, allowed).unset(Value::Unset);
        let remark = Some(say("knob-remark.discipline").with("kind", root.kind));
        return Ok(State { remark, ..state });
    }
    let ours = DISCIPLINES
        .iter()
        .any(|(kind, handle)| root.kind == *kind && root.handle == *handle);
    let because = (!ours).then_some(say("knob-fixed.discipline"));
    let state = State::new(Value::Text(root.kind), allowed).unset(Value::Unset);
    Ok(state.fixed_if(because))
}

/// A queue or an interrupt with its processors.
type Part = (String, Vec<u32>);

/// Rows of `NUMBER LIST`.
fn interrupts(said: &str) -> Vec<Part> {
    let rows = said.lines().filter_map(|line| {
        let (number, list) = line.split_once(' ')?;
        number.parse::<u32>().ok()?;
        Some((number.to_owned(), processors(list.trim())?))
    });
    rows.collect()
}

/// Rows of `.../queues/rx-0/rps_cpus:f`, by the queues' numbers.
fn queues(said: &str, file: &str) -> Vec<Part> {
    let rows = said.lines().filter_map(|line| {
        let (path, mask) = line.split_once(':')?;
        let (folder, name) = path.rsplit_once('/')?;
        let queue = folder.rsplit_once('/')?.1;
        let number: u32 = queue.split_once('-')?.1.parse().ok()?;
        (name == file).then_some((number, (queue.to_owned(), mask_processors(mask.trim())?)))
    });
    let mut rows: Vec<(u32, Part)> = rows.collect();
    rows.sort();
    rows.into_iter().map(|(_, part)| part).collect()
}

/// The word for no processor at all.
const OFF: &str = "off";

/// One list where all have it, otherwise all of them by name.
fn together(parts: &[Part]) -> String {
    match parts {
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => list_text(first),
        _ => {
            let words = parts
                .iter()
                .map(|(name, list)| format!("{name}={}", list_text(list)));
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

/// The reverse, where what is not named is not touched.
fn apart(text: &str, known: &[String]) -> Result<Vec<Part>, Refusal> {
    let odd = || Refusal::new(say("error-knob.processor-lists"));
    if !text.contains('=') {
        let list = list_of(text).ok_or_else(odd)?;
        return Ok(known
            .iter()
            .map(|name| (name.clone(), list.clone()))
            .collect());
    }
    let parts = text.split_whitespace().map(|word| {
        let (name, list) = word.split_once('=').ok_or_else(odd)?;
        if !known.iter().any(|own| own == name) {
            let reason = say("error-linux.no-part").with("name", name);
            return Err(Refusal::new(reason.with("all", known.join("`, `"))));
        }
        Ok((name.to_owned(), list_of(list).ok_or_else(odd)?))
    });
    parts.collect()
}

/// Every processor that such a value names; `None` where it is no such value.
pub(super) fn named_processors(text: &str) -> Option<BTreeSet<u32>> {
    let lists = text
        .split_whitespace()
        .map(|word| list_of(word.split_once('=').map_or(word, |(_, list)| list)));
    let lists: Option<Vec<Vec<u32>>> = lists.collect();
    let lists = lists.filter(|lists| !lists.is_empty())?;
    Some(lists.into_iter().flatten().collect())
}

fn list_of(text: &str) -> Option<Vec<u32>> {
    match text {
        OFF => Some(Vec::new()),
        list => processors(list),
    }
}

/// `0-3,8` as numbers that grow.
pub(super) fn processors(list: &str) -> Option<Vec<u32>> {
    let mut all = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= PROCESSORS_MAX {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all.into_iter().collect())
}

/// Numbers that grow as `0-3,8`.
fn list_text(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number == *last + 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let words = runs.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let words: Vec<String> = words.collect();
    match words.is_empty() {
        true => OFF.to_owned(),
        false => words.join(","),
    }
}

/// What the kernel shows: groups of 32 bits in hexadecimal, the highest first.
fn mask_processors(mask: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for (group, word) in mask.split(',').rev().enumerate() {
        let bits = u32::from_str_radix(word, 16).ok()?;
        let first = u32::try_from(group).ok()?.checked_mul(32)?;
        if first >= PROCESSORS_MAX {
            return None;
        }
        all.extend(
            (0..32)
                .filter(|bit| bits >> bit & 1 == 1)
                .map(|bit| first + bit),
        );
    }
    Some(all)
}

fn mask_text(numbers: &[u32]) -> String {
    let highest = numbers.last().copied().unwrap_or(0);
    let groups = (0..=highest / 32).rev().map(|group| {
        let bits = numbers.iter().filter(|&&number| number / 32 == group);
        let bits = bits.fold(0_u32, |bits, number| bits | 1 << (number % 32));
        format!("{bits:x}")
    });
    let mut groups: Vec<String> = groups.collect();
    // The kernel takes lower groups with all their digits only.
    for group in groups.iter_mut().skip(1) {
        *group = format!("{group:0>8}");
    }
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_say_the_same() {
        for (list, mask) in [
            ("off", "0"),
            ("0", "1"),
            ("0-3", "f"),
            ("0-1,4,31", "80000013"),
            ("32", "1,00000000"),
            ("0,63-64", "1,80000000,00000001"),
        ] {
            let numbers = list_of(list).unwrap();
            assert_eq!(mask_text(&numbers), mask, "{list}");
            assert_eq!(mask_processors(mask), Some(numbers.clone()), "{mask}");
            assert_eq!(list_text(&numbers), list);
        }
        // As the kernel pads them on a machine of 64 processors.
        assert_eq!(mask_processors("00000000,00000003"), Some(vec![0, 1]));
        for wrong in ["", "-", "3-1", "0-99999999", "a", "1,,2", "+"] {
            assert_eq!(processors(wrong), None, "{wrong:?}");
        }
        assert_eq!(mask_processors("x"), None);
    }

    #[test]
    fn what_differs_is_told_by_name_and_put_back_by_name() {
        let said = "/sys/class/net/a0/queues/rx-10/rps_cpus:2\n\
            /sys/class/net/a0/queues/rx-2/rps_cpus:1\n\
            /sys/class/net/a0/queues/tx-0/xps_cpus:3\nnonsense\n";
        let parts = queues(said, "rps_cpus");
        assert_eq!(together(&parts), "rx-2=0 rx-10=1");
        let known = ["rx-2", "rx-10"].map(str::to_owned);
        assert_eq!(apart("rx-2=0 rx-10=1", &known), Ok(parts));
        assert!(apart("rx-3=0", &known).is_err());
        assert_eq!(together(&queues(said, "xps_cpus")), "0-1");
        assert_eq!(together(&interrupts("38 0-1\n39 0-1\nx\n")), "0-1");
        assert_eq!(together(&interrupts("38 0\n39 1\n")), "38=0 39=1");
        assert_eq!(named_processors("38=0 39=1-2").unwrap().len(), 3);
        assert_eq!(named_processors("38=x"), None);
    }
}
