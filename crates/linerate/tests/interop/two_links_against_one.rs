//! Two links against one, by what `bench` counts while data flows.

use std::process::Command;

use serde_json::Value;

use super::job_environment::{Outcome, Stage};

/// The least that two links must carry of what one does.
const RATIO_MIN: f64 = 1.95;
/// Of one link and two, in turn.
const PAIRS: usize = 6;
/// Counted seconds of each trial.
const SECONDS: &str = "8";

/// The most of a link in MB/s, in both directions: 1 Gbit/s, or a tenth of it where the guest runs by software alone.
const LINK_MAX: [f64; 2] = [125.0, 12.5];
/// So many times one link must go by both where neither is shaped, so that a link is what is measured.
const HEADROOM: f64 = 4.0;

const DIRECTIONS: [&str; 2] = ["write", "read"];

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
    let alone = rates(stage, 2)?.into_iter().fold(f64::INFINITY, f64::min);
    let link = (alone / HEADROOM).min(most);
    shape(link);
    let pairs = pairs(stage);
    free();
    let pairs = pairs?;
    let said = format!(
        "unsigned; not shaped {alone:.1} MB/s; each link shaped to {:.1} Mbit/s by tbf; median of {PAIRS} pairs",
        link * 8.0
    );
    let measured = DIRECTIONS.iter().enumerate().map(|(at, direction)| {
        let one = median(pairs.iter().map(|it| it[0][at]));
        let two = median(pairs.iter().map(|it| it[1][at]));
        let ratio = median(pairs.iter().map(|it| it[1][at] / it[0][at]));
        let said = format!(
            "; {direction} {one:.2} MB/s by one and {two:.2} by two, {ratio:.3} times as much"
        );
        (said, ratio)
    });
    let (all, ratios): (Vec<String>, Vec<f64>) = measured.unzip();
    let least = ratios.into_iter().fold(f64::INFINITY, f64::min);
    Ok((said + &all.concat(), least))
}

/// Of each pair the rates by one link and by two, of each direction.
fn pairs(stage: &Stage<'_>) -> Result<Vec<[[f64; 2]; 2]>, Outcome> {
    let pair = |number: usize| {
        // Whichever is first is so in every second pair.
        let mut order = [1, 2];
        order.rotate_left(number % 2);
        let mut pair = [[0.0; 2]; 2];
        for links in order {
            pair[links - 1] = rates(stage, links)?;
        }
        Ok(pair)
    };
    (0..PAIRS).map(pair).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    stats::median_of_sorted(&values).expect("there were pairs")
}

/// MB/s of each direction. The share is in the server's memory, and what is read is thrown away: no disk counts. Nothing
/// is signed: what a guest needs for signatures would be measured in place of the links.
fn rates(stage: &Stage<'_>, links: usize) -> Result<[f64; 2], Outcome> {
    let (share, channels) = (stage.in_memory(""), links.to_string());
    let words = [
        "bench",
        &share,
        "--json",
        "--repetitions",
        "1",
        "--seconds",
        SECONDS,
    ];
    stage.settle();
    let said = stage.run(&[&words[..], &["--channels", &channels]].concat());
    let rate = |direction: &str| {
        let bench = said.json["bench"].as_array()?;
        let of = |it: &&Value| it["workload"]["direction"] == direction;
        let bytes = bench.iter().find(of)?["rates"][0].as_f64()?;
        Some(bytes / 1e6)
    };
    let sessions = said.json["sessions"].as_array();
    let fits = sessions.is_some_and(|all| all.iter().all(|it| it["channels"] == links));
    match DIRECTIONS.map(rate) {
        [Some(write), Some(read)] if said.code == Some(0) && fits => Ok([write, read]),
        _ => Err(Outcome::Failed(format!(
            "exit code {:?}, not {links} channels, or no rate: {} {} {}",
            said.code,
            said.reason(),
            said.json["sessions"],
            said.json["bench"]
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
