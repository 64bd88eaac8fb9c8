//! Two links against one: what `copy` makes of a second way to a server.

use std::fmt::Write as _;
use std::process::Command;

use super::stage::{Outcome, Stage};
use super::tree;

/// The least that two links must carry of what one does. A guest by software alone did not reach it on two processors
/// that others wanted too: 1.80 and 1.87.
const RATIO_MIN: f64 = 1.95;
/// Of one link and two, in turn.
const PAIRS: usize = 6;

/// The most of a link in MB/s, in both directions: 1 Gbit/s, or a tenth of it where the guest runs by software alone.
const LINK_MAX: [f64; 2] = [125.0, 12.5];
/// So many times one link must go by both where neither is shaped, so that a link is what is measured.
const HEADROOM: f64 = 4.0;
/// What is copied takes one link so long.
const SECONDS: f64 = 16.0;

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Read,
    Write,
}

/// The middle of the rates in MB/s by one link and by two, and of the ratio of each pair.
struct Figure {
    one: f64,
    two: f64,
    ratio: f64,
}

/// Both directions, each in pairs of one link and two.
pub fn two(stage: &Stage<'_>) -> Outcome {
    match figures(stage) {
        Ok((said, ratio)) if ratio >= RATIO_MIN => Outcome::Measured(said),
        Ok((said, _)) => Outcome::Failed(said),
        Err(outcome) => outcome,
    }
}

/// What is said, and the smaller ratio.
fn figures(stage: &Stage<'_>) -> Result<(String, f64), Outcome> {
    let most = LINK_MAX[usize::from(stage.is_slow())];
    tree::write(&stage.here("film"), 64 << 20, 3);
    let mut alone = f64::INFINITY;
    for direction in [Direction::Write, Direction::Read] {
        alone = alone.min(rate(stage, direction, 2)?);
    }
    let link = (alone / HEADROOM).min(most);
    tree::write(&stage.here("film"), (link * SECONDS * 1e6) as usize, 3);
    shape(link);
    let measured = [Direction::Write, Direction::Read].map(|direction| measure(stage, direction));
    free();
    let mut said = format!(
        "unsigned; not shaped {alone:.1} MB/s; each link shaped to {:.1} Mbit/s by tbf; middle of {PAIRS} pairs",
        link * 8.0
    );
    let mut least = f64::INFINITY;
    for (figure, name) in measured.into_iter().zip(["write", "read"]) {
        let Figure { one, two, ratio } = figure?;
        let _ = write!(
            said,
            "; {name} {one:.2} MB/s by one and {two:.2} by two, {ratio:.3} times as much"
        );
        least = least.min(ratio);
    }
    Ok((said, least))
}

fn measure(stage: &Stage<'_>, direction: Direction) -> Result<Figure, Outcome> {
    let mut pairs = Vec::new();
    for number in 0..PAIRS {
        // Whichever is first is so in every second pair.
        let mut order = [1, 2];
        order.rotate_left(number % 2);
        let mut rates = [0.0; 2];
        for links in order {
            rates[links - 1] = rate(stage, direction, links)?;
        }
        pairs.push(rates);
    }
    let middle = |of: &dyn Fn(&[f64; 2]) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        f64::midpoint(values[(PAIRS - 1) / 2], values[PAIRS / 2])
    };
    Ok(Figure {
        one: middle(&|it| it[0]),
        two: middle(&|it| it[1]),
        ratio: middle(&|it| it[1] / it[0]),
    })
}

/// What one copy makes in MB/s. The share is in the server's memory, and what is read is thrown away: neither disk counts.
fn rate(stage: &Stage<'_>, direction: Direction, links: usize) -> Result<f64, Outcome> {
    let (here, there) = (stage.at("film"), stage.in_memory("film"));
    let back = stage.at("back");
    let ends = match direction {
        Direction::Write => [&*here, &*there],
        Direction::Read => [&*there, &*back],
    };
    let links = links.to_string();
    // What the guest needs for signatures would be measured in place of the links.
    let words = ["--force", "--allow-unsigned", "--channels", &links];
    let said = stage.copy(&[&ends[..], &words].concat());
    let rate = said.json["mb_s"].as_f64();
    let used = said.json["channels"].as_array().map_or(0, Vec::len);
    match rate {
        Some(rate) if said.code == Some(0) && used.to_string() == links => Ok(rate),
        _ => Err(Outcome::Failed(format!(
            "exit code {:?}, {used} channels and not {links}: {} {}",
            said.code,
            said.reason(),
            said.json["rejected_channels"]
        ))),
    }
}

/// Both links, at what goes to the guest and at what it sends.
fn shape(link: f64) {
    let bits = link * 8e6;
    for nic in NICS {
        tc(&format!(
            "qdisc add dev {nic} root tbf rate {bits:.0}bit burst 32kb latency 200ms"
        ));
    }
}

fn free() {
    for nic in NICS {
        tc(&format!("qdisc del dev {nic} root"));
    }
}

const NICS: [&str; 4] = ["t1", "b1", "t2", "b2"];

fn tc(words: &str) {
    let status = Command::new("tc").args(words.split(' ')).status();
    assert!(status.is_ok_and(|it| it.success()), "tc {words}");
}
