//! Experiments over factors: what is said of an effect is said once, and of what was measured.

use fit::table::TableEffect;
use fit::{DesignPair, DesignResult};
use locale::{Argument, Message};
use record::{
    Bytes, ConnectionUse, Demands, Design, Direction, Factor, Level, Nanoseconds, Outcome, Record,
    Response, Sample, ShareAddress, ShareWorkload, Stage, StopRule, Timing, TrialRecord,
    TrialResult, Workload,
};
use stats::Verdict;

fn share() -> ShareAddress {
    ShareAddress {
        server: "10.77.1.2".into(),
        port: 445,
        share: "media".into(),
        path: String::new(),
    }
}

fn timing() -> Timing {
    let second = Nanoseconds::new(1_000_000_000);
    Timing {
        warm_up: second,
        measured: second,
        interval: second,
    }
}

fn share_workload(direction: Direction) -> Workload {
    Workload::Share(ShareWorkload {
        share: share(),
        direction,
        channels: 1,
        block: Bytes::new(1 << 20),
        depth: 8,
        file_size: Bytes::new(1 << 30),
        demands: Demands::default(),
        operations: None,
        timing: timing(),
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    })
}

/// One second at a rate in MB/s over the first link.
fn result(megabytes: f64) -> TrialResult {
    let bytes = Bytes::new((megabytes * 1e6) as u64);
    TrialResult {
        samples: vec![Sample {
            at: Nanoseconds::new(0),
            duration: Nanoseconds::new(1_000_000_000),
            bytes,
            cpu: Nanoseconds::new(50_000_000),
            retransmits: Some(1),
        }],
        connections: vec![ConnectionUse {
            local: "10.77.1.1:40000".parse().expect("an address"),
            remote: "10.77.1.2:445".parse().expect("an address"),
            nic: Some("a0".into()),
            bytes,
            round_trip: None,
            retransmits: None,
            tcp: None,
            congestion_control: None,
            clock: None,
        }],
        far_retransmits: Some(0),
        ..TrialResult::default()
    }
}

fn trial(stage: Stage, workload: Workload, outcome: Outcome) -> Record {
    Record::Trial(Box::new(TrialRecord {
        id: 0,
        stage,
        workload,
        settings: Vec::new(),
        started: Nanoseconds::new(0),
        ended: Nanoseconds::new(1_000_000_000),
        outcome,
        loads: Vec::new(),
    }))
}

/// A design over these factors and levels, all combined, in so many blocks.
fn design(factors: &[(&str, &[&str])], responses: usize, blocks: usize) -> Design {
    let level = |name: &&str| Level {
        name: (*name).into(),
        settings: Vec::new(),
    };
    let mut arms: Vec<Vec<u32>> = vec![Vec::new()];
    for (_, levels) in factors {
        let count = u32::try_from(levels.len()).expect("a few");
        let longer = arms.iter().flat_map(|arm| {
            (0..count).map(move |level| arm.iter().copied().chain([level]).collect())
        });
        arms = longer.collect();
    }
    let row = (0..).zip(&arms).map(|(arm, _)| arm).collect();
    Design {
        name: "design".into(),
        title: "some".into(),
        form: "full factorial".into(),
        factors: factors
            .iter()
            .map(|(name, levels)| Factor {
                name: (*name).into(),
                levels: levels.iter().map(level).collect(),
            })
            .collect(),
        aliases: Vec::new(),
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: (0..responses)
            .map(|place| Response {
                name: format!("test {place}"),
                workload: share_workload(Direction::Read),
            })
            .collect(),
        blocks: vec![row; blocks],
        arms,
        baseline_replicate: None,
        whole_plots: Vec::new(),
        stop: StopRule {
            budget_seconds: None,
            width: None,
        },
        band: 0.02,
        published: None,
        figures: Vec::new(),
    }
}

/// Analyses it with rates in MB/s of `(response, block, arm)`.
fn analysed(design: &Design, rate: impl Fn(usize, u32, u32) -> f64) -> DesignResult {
    let mut trials: Vec<TrialRecord> = Vec::new();
    for (block, row) in (0..).zip(&design.blocks) {
        for (position, arm) in (0..).zip(row) {
            for (place, response) in design.responses.iter().enumerate() {
                let stage = Stage::Visit {
                    block,
                    position,
                    arm: *arm,
                    response: response.name.clone(),
                    discarded: false,
                };
                let measured = Outcome::Measured(Box::new(result(rate(place, block, *arm))));
                let Record::Trial(trial) = trial(stage, response.workload.clone(), measured) else {
                    unreachable!("it is a trial");
                };
                trials.push(*trial);
            }
        }
    }
    fit::design(design, &trials)
}

/// Numbers between -1 and 1 without a pattern, the same for the same place.
fn wobble(response: usize, block: u32, arm: u32) -> f64 {
    let place = u64::from(block) * 64 + u64::from(arm) + 4096 * response as u64 + 1;
    let mut mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    2.0 * (mixed >> 11) as f64 / (1_u64 << 53) as f64 - 1.0
}

fn pair<'r>(found: &'r DesignResult, factor: &str, level: &str) -> &'r DesignPair {
    let mut pairs = found.pairs.iter();
    let wanted =
        |pair: &&DesignPair| pair.factor == factor && pair.level == level && pair.others.is_empty();
    pairs.find(wanted).expect("such a pair")
}

fn effect<'r>(found: &'r DesignResult, factor: &str, level: &str) -> Option<&'r TableEffect> {
    let mut effects = found.rates.iter().flat_map(|table| &table.effects);
    effects.find(|effect| effect.factor == factor && effect.level == level)
}

const TWO: [(&str, &[&str]); 2] = [("f0", &["off", "on"]), ("f1", &["off", "on"])];
const CHANNELS: [(&str, &[&str]); 1] = [("channels", &["1", "2"])];

/// Somebody else was on the link in one trial of twenty: by least squares over the rows, B would be
/// 0.4 MB/s slower, give or take 10.
#[test]
fn one_disturbed_trial_hides_no_effect_and_both_places_say_the_same() {
    let design = design(&CHANNELS, 1, 10);
    let found = analysed(&design, |_, block, arm| match (block, arm) {
        (6, 1) => 60.0,
        (_, arm) => (100.0 + 4.0 * f64::from(arm)) * (1.0 + 0.015 * wobble(0, block, arm)),
    });
    let pair = pair(&found, "channels", "2");
    let effect = effect(&found, "channels", "2").expect("an effect");
    assert_eq!(pair.verdict, Some(Verdict::Better), "{pair:?}");
    assert_eq!(effect.verdict, Verdict::Better, "{effect:?}");
    let [low, high] = pair.ratio.interval.expect("an interval");
    assert!(low > 1.0 && high < 1.06, "{pair:?}");
    assert_eq!(effect.ratio, Some(pair.ratio.value));
    let [estimate, least, most] =
        [effect.estimate, effect.low, effect.high].map(|end| end.expect("it is known"));
    for (end, ratio) in [(estimate, pair.ratio.value), (least, low), (most, high)] {
        assert!((end - 100.0 * (ratio - 1.0)).abs() < 0.1, "{effect:?}");
    }
    let warned = |kind: &str| found.rates[0].warnings.iter().any(|one| one.kind == kind);
    assert!(!warned("robust_errors") && !warned("mean_against_median"));
}

/// Two responses in six blocks: all six speak for it, which is 1 in 32 by counting, and what is asked of
/// the first of two is 1 in 40. What is far beyond the scatter is shown all the same, by least squares.
#[test]
fn what_is_clear_needs_no_more_blocks_because_two_were_asked() {
    let design = design(&CHANNELS, 2, 6);
    let rates = |gain: f64| {
        move |response: usize, block: u32, arm: u32| {
            (100.0 + gain * f64::from(arm)) * (1.0 + 0.01 * wobble(response, block, arm))
        }
    };
    let clear = analysed(&design, rates(50.0));
    assert!(
        clear
            .pairs
            .iter()
            .all(|pair| pair.verdict == Some(Verdict::Better))
    );
    let none = analysed(&design, rates(0.0));
    let called = |pair: &DesignPair| matches!(pair.verdict, Some(Verdict::Better | Verdict::Worse));
    assert!(!none.pairs.iter().any(called), "{:?}", none.pairs);
}

const MTU: (&str, &[&str]) = ("mtu", &["1500", "9000 here", "9000 there", "9000"]);
const OFFLOAD: (&str, &[&str]) = ("offload", &["on", "off"]);

/// Large frames at both ends do something without offloads only; arm = 2 * mtu + offload.
fn only_together(_: usize, block: u32, arm: u32) -> f64 {
    let base = match arm {
        7 => 173.0,
        _ => 100.0,
    };
    base * (1.0 + 0.004 * wobble(0, block, arm))
}

#[test]
fn what_a_factor_of_four_levels_does_with_another_is_decided() {
    for whole_plots in [vec![], vec![0]] {
        let mut design = design(&[MTU, OFFLOAD], 1, 10);
        design.whole_plots = whole_plots;
        let found = analysed(&design, only_together);
        let both = pair(&found, "mtu:offload", "9000:off");
        assert_eq!(both.verdict, Some(Verdict::Better), "{both:?}");
        assert_eq!(both.blocks_to_settle, None);
        let one = pair(&found, "mtu:offload", "9000 here:off");
        assert_eq!(one.verdict, Some(Verdict::Equivalent), "{one:?}");
        let shown = effect(&found, "mtu:offload", "9000:off").expect("an effect");
        assert!(
            (shown.ratio.expect("a ratio") - 1.73).abs() < 0.02,
            "{shown:?}"
        );
        assert!(
            (shown.estimate.expect("it is known") - 73.0).abs() < 2.0,
            "{shown:?}"
        );
    }
}

/// Where there are too few blocks to judge each, nobody says that some more would settle one of them.
#[test]
fn what_nothing_tests_is_not_settled_by_more_blocks() {
    let found = analysed(&design(&[MTU, OFFLOAD], 1, 6), only_together);
    let both = pair(&found, "mtu:offload", "9000:off");
    assert_eq!((both.verdict, both.blocks_to_settle), (None, None));
    let test = found.rates[0]
        .tests
        .iter()
        .find(|test| test.name == "interaction");
    assert!(test.expect("a joint test").p_holm.is_some_and(|p| p < 0.05));
}

/// With the baseline once more; that of the responses named is off by so much.
fn gate(responses: usize, blocks: usize, off: impl Fn(usize) -> f64) -> DesignResult {
    let mut design = design(&CHANNELS, responses, blocks);
    design.arms.push(vec![0]);
    design.baseline_replicate = Some(2);
    design.blocks = vec![vec![0, 1, 2]; blocks];
    analysed(&design, |response, block, arm| {
        let rate = [100.0, 140.0, 100.0 * (1.0 + off(response))][arm as usize];
        rate * (1.0 + 0.01 * wobble(response, block, arm))
    })
}

#[test]
fn an_alarm_holds_back_what_it_is_about_and_nothing_else() {
    let found = gate(3, 8, |response| if response == 1 { 0.3 } else { 0.0 });
    let alarms: Vec<bool> = found.noise.iter().map(|noise| noise.alarm).collect();
    assert_eq!(alarms, [false, true, false]);
    for (place, pair) in found.pairs.iter().enumerate() {
        let verdict = [Verdict::Better, Verdict::Undecided, Verdict::Better][place];
        assert_eq!(pair.verdict, Some(verdict), "{pair:?}");
    }
    assert_eq!(found.pairs[1].blocks_to_settle, None);
    let held: Vec<&str> = found
        .rates
        .iter()
        .chain(&found.costs)
        .filter(|table| table.warnings.iter().any(|one| one.kind == "alarm"))
        .map(|table| table.response.as_str())
        .collect();
    assert!(
        held.iter().all(|name| name.starts_with("test 1")),
        "{held:?}"
    );
    assert!(held.contains(&"test 1"), "{held:?}");
}

/// One response in which the baseline is a little off is to be expected of 42, and is none of one.
#[test]
fn the_gate_is_corrected_for_how_many_responses_were_asked() {
    let off = |response: usize| if response == 0 { 0.04 } else { 0.0 };
    let alone = gate(1, 6, off);
    assert!(alone.noise[0].alarm, "{:?}", alone.noise[0]);
    let needs = |found: &DesignResult| {
        let mut caveats = found.caveats.iter();
        caveats.any(|caveat| {
            caveat.id == "design-caveat.baseline-checked-roughly"
                && caveat.argument("least") == Some(&Argument::Count(11))
        })
    };
    assert!(!needs(&alone));
    let among = gate(42, 6, off);
    assert!(
        among.noise.iter().all(|noise| !noise.alarm),
        "{:?}",
        among.noise[0]
    );
    assert!(needs(&among), "{:?}", among.caveats);
    // What is far off is noticed in so few blocks as well.
    assert!(gate(42, 6, |response| if response == 0 { 0.5 } else { 0.0 }).noise[0].alarm);
}

/// Half as much again by each, and twice as much by both: nothing by differences, and less than
/// 1.5 times 1.5 by ratios, which is what is judged.
#[test]
fn two_factors_are_worded_as_they_are_judged() {
    const FACTORS: [(&str, &[&str]); 2] = [("a", &["0", "1"]), ("b", &["0", "1"])];
    let design = design(&FACTORS, 1, 10);
    let rates = |both: f64| {
        move |_: usize, block: u32, arm: u32| {
            let rate = [100.0, 150.0, 150.0, both][arm as usize];
            rate * (1.0 + 0.004 * wobble(0, block, arm))
        }
    };
    let found = analysed(&design, rates(200.0));
    let both = effect(&found, "a:b", "1:1").expect("an effect");
    assert_eq!((both.verdict, both.by_ratio), (Verdict::Worse, true));
    assert!(
        (both.estimate.expect("it is known") + 25.0).abs() < 1.0,
        "{both:?}"
    );
    // Where differences tell of it too.
    let found = analysed(&design, rates(170.0));
    let warnings = found.rates[0].warnings.iter();
    let mut warnings = warnings.filter(|warning| warning.kind == "interaction");
    let said = &warnings.next().expect("a warning").text;
    assert_eq!(said.id, "table-interaction.not-multiplied");
    assert_eq!(said.argument("pair"), Some(&Argument::from("a:b")));
    let alone = said.argument("one");
    assert!(
        matches!(alone, Some(Argument::Text(times)) if times.starts_with("1.5")),
        "{said:?}"
    );
    // Too few blocks for intervals of pairs: judged by differences.
    let found = analysed(&self::design(&FACTORS, 1, 3), rates(170.0));
    let both = effect(&found, "a:b", "1:1").expect("an effect");
    assert!(!both.by_ratio && both.verdict == Verdict::Worse, "{both:?}");
    let mut warnings = found.rates[0].warnings.iter();
    assert!(warnings.any(|warning| warning.text.id == "table-interaction.not-added"));
}

/// Half of the combinations of four factors: no two arms differ in one factor alone.
fn half(blocks: usize) -> Design {
    let levels: &[&str] = &["0", "1"];
    let mut half = design(&["a", "b", "c", "d"].map(|name| (name, levels)), 1, blocks);
    half.arms.retain(|arm| arm.iter().sum::<u32>() % 2 == 0);
    half.blocks = vec![(0..8).collect(); blocks];
    half
}

/// Trials differ by two percent, and 32 tell of each effect: its error is 0.7 MB/s, or here somewhat less,
/// and its interval about four of these; a difference of nearly four is found.
#[test]
fn a_fraction_says_what_it_can_find_and_ends_when_its_intervals_are_narrow() {
    let of = |blocks: usize, gain: f64| {
        let design = half(blocks);
        let arms = design.arms.clone();
        analysed(&design, move |_, block, arm| {
            let noise: f64 = (0..12).map(|part| wobble(part + 1, block, arm)).sum();
            100.0 + gain * f64::from(arms[arm as usize][0]) + noise
        })
    };
    let power = |found: &DesignResult| {
        let warnings = found.rates[0].warnings.iter();
        let texts = warnings.filter(|warning| warning.kind == "power");
        texts
            .map(|warning| warning.text.clone())
            .collect::<Vec<Message>>()
    };
    let found = of(4, 0.4);
    assert!(found.pairs.is_empty());
    let said = power(&found);
    let has = |texts: &[Message], name: &str, value: &str| {
        let mut texts = texts.iter();
        texts.any(|text| text.argument(name) == Some(&Argument::from(value)))
    };
    assert!(has(&said, "found", "2.1 %"), "{said:?}");
    let clear = of(4, 10.0);
    assert!(!has(&power(&clear), "effect", "a=1"));
    assert!(fit::is_narrow(&clear, 0.04) && !fit::is_narrow(&clear, 0.015));
    assert!(!fit::is_narrow(&fit::design(&half(4), &[]), 0.5));
}

/// Six blocks are too few for eighteen questions, so where each has but one pair the rows are fitted; but
/// in one block of one response it was the other way round, and an interval that says so stands beside
/// the verdict.
#[test]
fn nothing_is_shown_against_the_interval_that_is_printed() {
    let found = analysed(&design(&TWO, 6, 6), |response, block, arm| {
        let is_turned = response == 0 && block == 3;
        let gain = if is_turned { -2.0 } else { 15.0 };
        let both = f64::from(u8::from(arm == 3));
        100.0 + gain * both + wobble(response, block, arm)
    });
    let verdicts = found.rates.iter().map(|table| {
        let effect = table.effects.iter().find(|effect| effect.factor == "f0:f1");
        let effect = effect.expect("an effect");
        assert!(effect.p_holm.is_some_and(|p| p < 0.05), "{effect:?}");
        let mut pairs = found.pairs.iter();
        let pair = pairs.find(|pair| pair.response == table.response && pair.factor == "f0:f1");
        let includes_none = pair
            .and_then(|pair| pair.ratio.interval)
            .is_some_and(|[low, _]| low <= 1.0);
        (effect.verdict, includes_none)
    });
    let verdicts: Vec<(Verdict, bool)> = verdicts.collect();
    assert_eq!(verdicts[0], (Verdict::Undecided, true));
    assert_eq!(verdicts[1..], [(Verdict::Better, false); 5]);
}

/// Holm's first step is 5 % over all effects, and n pairs that all say the same have 2 of 2^n ways.
#[test]
fn a_design_knows_in_how_many_blocks_its_effects_can_be_counted() {
    let of = |design: Design| fit::blocks_counted(&design);
    assert_eq!(of(design(&CHANNELS, 1, 1)), Some(6));
    assert_eq!(of(design(&TWO, 1, 1)), Some(7));
    assert_eq!(of(design(&TWO, 4, 1)), Some(9));
    let levels: &[&str] = &["1500", "4000", "9000"];
    assert_eq!(of(design(&[("mtu", levels), TWO[0]], 1, 1)), Some(8));
    assert_eq!(of(half(1)), None);
    let mut alone = design(&TWO, 1, 1);
    alone.arms.truncate(3);
    assert_eq!(of(alone), Some(7));
}

/// In three blocks each, one trial of a combination is slow: that spoils one pair of three blocks, and not
/// three of the six blocks. What the other factor does to a pair is not held for scatter.
#[test]
fn a_disturbed_trial_spoils_its_pair_and_not_its_block() {
    let found = analysed(&design(&TWO, 1, 6), |response, block, arm| {
        let (one, other) = (f64::from(arm / 2), f64::from(arm % 2));
        let slow = if block < 3 && arm == block { 0.7 } else { 1.0 };
        let rate = 100.0 * (1.0 + 0.05 * one) * (1.0 + other) * (1.0 + 0.3 * one * other);
        slow * rate + wobble(response, block, arm)
    });
    let mut pairs = found.pairs.iter();
    let pair = pairs.find(|pair| pair.factor == "f0" && pair.others.is_empty());
    let pair = pair.expect("a pair");
    assert_eq!(pair.ratio.n, 12);
    assert_eq!(pair.verdict, Some(Verdict::Better));
    let [low, high] = pair.ratio.interval.expect("an interval");
    let truth = 1.05 * 1.3_f64.sqrt();
    assert!(
        low <= truth && truth <= high && high / low < 1.25,
        "{pair:?}"
    );
}
