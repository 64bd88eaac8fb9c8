//! An experiment over several factors, as people and programs read it.

use analysis::RunAnalysis;
use locale::{Language, Message};
use record::{
    Bytes, Cache, Data, Design, Direction, Factor, Failure, FailureKind, FolderKind,
    FolderWorkload, HostLoad, HostName, Latency, Level, Nanoseconds, Operations, Outcome, Pattern,
    Place, Plan, PublishedFigure, Response, Sample, Stage, StopRule, Task, TaskWorkload, Timing,
    TrialRecord, TrialResult, Workload,
};
use report::{Style, html, page};

use crate::{handmade_runs, json};

const SECOND: Nanoseconds = Nanoseconds::new(1_000_000_000);
const TIMING: Timing = Timing {
    warm_up: Nanoseconds::new(0),
    measured: SECOND,
    interval: SECOND,
};
const PUBLISHED: &str = "x1.88, 113.5 to 213.8 MB/s";
const BLOCKS: u32 = 6;

fn big_file() -> Workload {
    Workload::Folder(FolderWorkload {
        folder: "/mnt".into(),
        kind: FolderKind::Folder,
        second_mount: None,
        direction: Direction::Read,
        block: Bytes::new(1 << 20),
        depth: 1,
        file_size: Bytes::new(1 << 26),
        operations: Operations {
            pattern: Pattern::Sequential,
            threads: 1,
            opposite_percent: 0,
            data: Data::default(),
            cache: Cache::default(),
            write_through: false,
            file: None,
        },
        timing: TIMING,
    })
}

fn opened_files() -> Workload {
    Workload::Task(TaskWorkload {
        place: Place::Folder {
            folder: "/mnt".into(),
            kind: FolderKind::Folder,
        },
        second_mount: None,
        direction: Direction::Read,
        channels: 1,
        task: Task::Open(300),
        data: Data::default(),
        timing: TIMING,
    })
}

fn factor(name: &str, levels: &[&str]) -> Factor {
    let level = |name: &&str| Level {
        name: (*name).into(),
        settings: Vec::new(),
    };
    Factor {
        name: name.into(),
        levels: levels.iter().map(level).collect(),
    }
}

fn design() -> Design {
    let response = |name: &str, workload| Response {
        name: name.into(),
        workload,
    };
    Design {
        name: "design".into(),
        title: "one against two".into(),
        form: "A against B".into(),
        factors: vec![factor("channels", &["1", "2"])],
        aliases: Vec::new(),
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: vec![
            response("big read", big_file()),
            response("open read", opened_files()),
        ],
        arms: vec![vec![0], vec![1]],
        baseline_replicate: None,
        whole_plots: Vec::new(),
        blocks: (0..BLOCKS).map(|_| vec![0, 1]).collect(),
        stop: StopRule {
            budget_seconds: None,
            width: None,
        },
        band: 0.02,
        published: Some("two NICs of 1 GbE".into()),
        figures: vec![PublishedFigure {
            response: "big read".into(),
            factor: "channels".into(),
            level: "2".into(),
            text: PUBLISHED.into(),
        }],
    }
}

fn trial(design: &Design, place: (u32, u32), response: usize) -> TrialRecord {
    let (block, arm) = place;
    let response = &design.responses[response];
    let wobble = u64::from(block % 3) * u64::from(arm + 1);
    let (bytes, operations) = match response.workload {
        Workload::Task(_) => (0, 1000 + 500 * u64::from(arm) + wobble),
        _ => (100_000_000 * u64::from(arm + 1) + 1000 * wobble, 100),
    };
    let each = Nanoseconds::new(SECOND.get() / operations);
    TrialRecord {
        id: 0,
        stage: Stage::Visit {
            block,
            position: arm,
            arm,
            response: response.name.clone(),
            discarded: false,
        },
        workload: response.workload.clone(),
        settings: Vec::new(),
        started: Nanoseconds::new(0),
        ended: SECOND,
        outcome: Outcome::Measured(Box::new(TrialResult {
            samples: vec![Sample {
                at: Nanoseconds::new(0),
                duration: SECOND,
                bytes: Bytes::new(bytes),
                cpu: Nanoseconds::new(1000 + wobble),
                retransmits: None,
            }],
            latency: Some(Latency {
                operations,
                mean: each,
                p50: each,
                p95: each,
                p99: each,
                p999: each,
                max: each,
            }),
            ..TrialResult::default()
        })),
        loads: Vec::new(),
    }
}

fn run() -> RunAnalysis {
    run_with(|_| {})
}

fn run_with(change: impl Fn(&mut TrialRecord)) -> RunAnalysis {
    let design = design();
    let places = (0..BLOCKS).flat_map(|block| [(block, 0), (block, 1)]);
    let trials = places.flat_map(|place| [trial(&design, place, 0), trial(&design, place, 1)]);
    let mut trials: Vec<TrialRecord> = trials.collect();
    trials.iter_mut().for_each(change);
    analysed(&design, &trials)
}

fn analysed(design: &Design, trials: &[TrialRecord]) -> RunAnalysis {
    let plan = Plan::Experiment {
        target: "/mnt".into(),
        title: design.title.clone(),
    };
    RunAnalysis {
        design: Some(fit::design(design, trials)),
        ..handmade_runs::empty(plan)
    }
}

#[test]
fn what_was_published_stands_beside_ours_in_text_page_and_json() {
    let run = run();
    // Lines of the terminal are wrapped.
    let said = page(&run, Style::default());
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let ours = "channels 2 instead of 1: +100";
    for whole in [said, html(&run)] {
        let line = whole.split(ours).nth(1).expect("our own figure");
        let line = line.split("channels 2 instead").next().unwrap_or(line);
        assert!(
            line.contains(&format!("(published: {PUBLISHED})")),
            "{line}"
        );
        assert!(whole.contains("two NICs of 1 GbE"), "{whole}");
        assert_eq!(whole.matches(PUBLISHED).count(), 1);
    }
    let design = &json(&run)["design"];
    assert_eq!(design["design"]["published"], "two NICs of 1 GbE");
    let pairs = design["pairs"].as_array().expect("pairs");
    let of = |response: &str| {
        let mut pairs = pairs.iter();
        pairs.find(|pair| pair["response"] == response).expect("it")
    };
    assert_eq!(of("big read")["published"], PUBLISHED);
    let ratio = of("big read")["ratio"]["value"].as_f64().expect("ours");
    assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
    assert!(of("open read")["published"].is_null());
}

#[test]
fn work_that_moves_no_bytes_is_told_in_operations() {
    let run = run();
    let design = &json(&run)["design"];
    assert_eq!(design["failures"], serde_json::json!([]));
    let samples = design["samples"].as_array().expect("samples");
    let opened = samples
        .iter()
        .find(|one| one["response"] == "open read" && one["arm"] == 1);
    let opened = opened.expect("they were measured");
    assert_eq!(opened["unit"], "operations_per_second");
    assert_eq!(opened["median"]["unit"], "operations_per_second");
    assert_eq!(opened["rates"][0], 1500.0);
    let table = &design["rates"][1];
    assert_eq!(
        (&table["response"], &table["unit"]),
        (&"open read".into(), &"operations/s".into())
    );
    assert_eq!(table["effects"][0]["verdict"], "better");
    // Trials of the other response are not missing here.
    assert!(!table["warnings"].to_string().contains("left out"));
    assert!(page(&run, Style::default()).contains("1502 /s"));
    assert!(html(&run).contains("samples in operations/s"));
}

/// The server worked half of the time for one channel, and a quarter of it for two.
fn look_at_the_server(trial: &mut TrialRecord) {
    let Stage::Visit { block, arm, .. } = trial.stage else {
        return;
    };
    // One look came too late.
    if (block, arm) == (0, 0) {
        return;
    }
    let duration = Nanoseconds::new(SECOND.get() / 2);
    trial.loads = vec![HostLoad {
        host: HostName::new("server"),
        duration,
        processors: Vec::new(),
        resent: None,
        dropped: None,
        pauses: None,
        throttled: None,
        served: Some(Nanoseconds::new(duration.get() / 2 / u64::from(arm + 1))),
        disk_waited: None,
        nics: Vec::new(),
        megahertz: None,
    }];
}

#[test]
fn what_serving_cost_stands_beside_the_client_in_text_page_and_json() {
    let run = run_with(look_at_the_server);
    let said = page(&run, Style::default());
    let rows: Vec<Vec<&str>> = said
        .lines()
        .map(|line| line.split_whitespace().collect())
        .skip_while(|row: &Vec<&str>| row.first() != Some(&"processor,"))
        .take(3)
        .collect();
    let heading = ["processor,", "s", "for", "each", "GB:", "client", "server"];
    assert_eq!(
        rows,
        [
            heading.to_vec(),
            vec!["1", "0.00", "5.00"],
            vec!["2", "0.00", "1.25"]
        ]
    );
    // Opening files moves no bytes.
    assert_eq!(said.matches("s for each GB").count(), 1, "{said}");
    assert_eq!(html(&run).matches("CPU of the server").count(), 1);
    let design = &json(&run)["design"];
    let cost = &design["samples"][0]["server_cpu_per_byte"];
    let value = cost["value"].as_f64().expect("it was seen");
    assert!((value - 5e-9).abs() < 1e-12, "{cost}");
    assert_eq!(cost["n"], BLOCKS - 1);
    let costs = design["costs"].as_array().expect("costs");
    let of_server = |one: &&serde_json::Value| one["response"] == "big read server_cpu_s_per_gb";
    let effects = &costs.iter().find(of_server).expect("its table")["effects"];
    assert_eq!(effects[0]["verdict"], "better", "{effects}");

    let blind = self::run();
    let said = page(&blind, Style::default());
    assert!(
        said.contains("client\n") && !said.contains("  server"),
        "{said}"
    );
    assert!(!html(&blind).contains("CPU of the server"));
    assert!(json(&blind)["design"]["samples"][0]["server_cpu_per_byte"].is_null());
}

/// Two factors in six blocks with a baseline once more; `rate` gives MB/s of `(block, arm)`, where a
/// trial went well.
fn two_factors(rate: impl Fn(u32, u32) -> Option<f64>) -> RunAnalysis {
    let mut design = design();
    design.factors = ["f0", "f1"].map(|name| factor(name, &["off", "on"])).into();
    design.responses.truncate(1);
    design.arms = vec![vec![0, 0], vec![1, 0], vec![0, 1], vec![1, 1], vec![0, 0]];
    design.baseline_replicate = Some(4);
    design.blocks = (0..BLOCKS).map(|_| vec![0, 1, 2, 3, 4]).collect();
    design.figures.clear();
    let mut trials = Vec::new();
    for block in 0..BLOCKS {
        for arm in 0..5 {
            let mut trial = trial(&design, (block, arm), 0);
            trial.outcome = match (rate(block, arm), trial.outcome) {
                (Some(rate), Outcome::Measured(mut result)) => {
                    result.samples[0].bytes = Bytes::new((rate * 1e6) as u64);
                    Outcome::Measured(result)
                }
                _ => Outcome::Failed(Failure::new(FailureKind::Refused, "it broke")),
            };
            trials.push(trial);
        }
    }
    analysed(&design, &trials)
}

/// Rates around 100 MB/s, a few percent apart, in an order without a pattern.
fn noisy(block: u32, arm: u32) -> f64 {
    100.0 + f64::from((block * 31 + arm * 17 + block * arm * 7) % 11) - 5.0
}

fn words(run: &RunAnalysis) -> String {
    let said = page(run, Style::default());
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn decided(run: &RunAnalysis) -> bool {
    run.design.as_ref().expect("a design").is_decided()
}

#[test]
fn what_is_not_decided_is_not_called_no_difference() {
    let open = two_factors(|block, arm| Some(noisy(block, arm)));
    let said = words(&open);
    assert!(said.contains("cannot tell yet: f0 on, f1 on"), "{said}");
    assert!(said.contains("blocks would probably settle it)"), "{said}");
    assert!(!decided(&open));
    let nothing = two_factors(|_, _| None);
    assert!(words(&nothing).contains("nothing was measured: every trial failed"));
    assert!(!decided(&nothing));
    let same = two_factors(|block, arm| Some(100.0 + noisy(block, arm) / 1000.0));
    assert!(words(&same).contains("no difference that matters"));
    assert!(decided(&same));
}

/// The other factor is still told where a level of one never worked.
#[test]
fn a_level_that_always_fails_is_said_to_be_unknown() {
    let run = two_factors(|block, arm| {
        let gain = f64::from(arm % 2) * 40.0;
        (arm != 2 && arm != 3).then(|| gain + noisy(block, arm) / 10.0)
    });
    let said = words(&run);
    assert!(said.contains("f0 on instead of off: big read +"), "{said}");
    assert!(said.contains("never measured: f1 on"), "{said}");
}

/// The baseline differs from itself, by more than half of what `f0` does.
fn with_an_alarm() -> RunAnalysis {
    two_factors(|block, arm| {
        let gain = [0.0, 50.0, 0.0, 50.0, 30.0][arm as usize];
        Some(gain + noisy(block, arm) / 10.0)
    })
}

#[test]
fn when_the_baseline_differs_from_itself_nothing_is_decided() {
    let run = with_an_alarm();
    let said = words(&run);
    assert!(said.contains("nothing here can be believed"), "{said}");
    assert!(!said.contains("is better than"), "{said}");
    assert!(!decided(&run));
    let value = json(&run);
    for effect in value["design"]["rates"][0]["effects"]
        .as_array()
        .expect("effects")
    {
        assert_eq!(effect["verdict"], "undecided");
    }
    assert_eq!(value["design"]["pairs"][0]["verdict"], "undecided");
}

#[test]
fn what_differs_from_itself_in_one_response_is_told_beside_the_others() {
    let mut run = two_factors(|block, arm| {
        let gain = f64::from(arm % 2) * 40.0;
        Some(gain + noisy(block, arm) / 10.0)
    });
    let design = run.design.as_mut().expect("a design");
    let mut other = design.noise[0].clone();
    other.response = "other read".into();
    other.alarm = true;
    design.noise.push(other);
    let said = words(&run);
    assert!(said.contains("f0 on instead of off: big read +"), "{said}");
    let alarm = "the baseline differed from itself in other read, so nothing there can be believed";
    assert!(said.contains(alarm), "{said}");
}

#[test]
fn warnings_and_caveats_are_in_the_language_that_is_spoken_and_in_json_in_english() {
    let run = with_an_alarm();
    let design = run.design.as_ref().expect("a design");
    let warnings = design.rates.iter().flat_map(|table| &table.warnings);
    let texts: Vec<&Message> = warnings
        .map(|warning| &warning.text)
        .chain(&design.caveats)
        .collect();
    for id in ["baseline-differs.alarm", "design-caveat.least-squares"] {
        assert!(texts.iter().any(|text| text.id == id), "{texts:?}");
    }
    // Lines of the terminal are wrapped.
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    for language in Language::ALL {
        let [terminal, browser, program] = language.within(|| {
            let program = json(&run)["design"].to_string();
            [page(&run, Style::default()), html(&run), program]
        });
        for text in &texts {
            let said = language.say(text);
            assert!(bare(&terminal).contains(&bare(&said)), "{said}\n{terminal}");
            assert!(browser.contains(&said), "{said}");
            assert!(program.contains(&Language::English.say(text)), "{program}");
        }
    }
}

/// Four levels of one factor and two of another, which do something together only.
fn four_by_two(blocks: u32) -> RunAnalysis {
    let mut design = design();
    design.factors = vec![
        factor("mtu", &["1500", "9000 here", "9000 there", "9000"]),
        factor("offload", &["on", "off"]),
    ];
    design.responses.truncate(1);
    design.arms = (0..8).map(|arm| vec![arm / 2, arm % 2]).collect();
    design.blocks = (0..blocks).map(|_| (0..8).collect()).collect();
    design.figures.clear();
    let places = (0..blocks).flat_map(|block| (0..8).map(move |arm| (block, arm)));
    let trials = places.map(|(block, arm)| {
        let mut one = trial(&design, (block, arm), 0);
        if let Outcome::Measured(result) = &mut one.outcome {
            let gain = if arm == 7 { 1.73 } else { 1.0 };
            let rate = gain * (100.0 + noisy(block, arm) / 200.0);
            result.samples[0].bytes = Bytes::new((rate * 1e6) as u64);
        }
        one
    });
    let trials: Vec<TrialRecord> = trials.collect();
    let plan = Plan::Experiment {
        target: "/mnt".into(),
        title: design.title.clone(),
    };
    RunAnalysis {
        design: Some(fit::design(&design, &trials)),
        ..handmade_runs::empty(plan)
    }
}

/// Judged one by one in ten blocks, and by a joint test in six.
#[test]
fn factors_of_more_than_two_levels_are_said_to_act_together() {
    for blocks in [6, 10] {
        let said = words(&four_by_two(blocks));
        let together = "mtu and offload act together on big read";
        assert_eq!(said.matches(together).count(), 1, "{blocks} blocks: {said}");
        let pair = "what mtu 9000 does with offload off";
        let line = said.split(pair).nth(1).expect("the pair");
        let line = line.split("what mtu").next().unwrap_or(line);
        assert!(!line.contains("would probably settle it"), "{line}");
    }
    let said = words(&four_by_two(10));
    let together = "`mtu=9000` and `offload=off` together give 7";
    let sentence = said.split(together).nth(1).expect("the sentence");
    assert!(
        sentence.contains("more than their effects multiplied together"),
        "{said}"
    );
    assert!(!said.contains("added up"), "{said}");
}

/// Its own interval excludes no difference in one pair, which is to be expected of that many pairs.
#[test]
fn the_headline_is_corrected_for_how_much_was_asked() {
    // In f0 most pairs differ the same way, by less than the blocks differ among their arms.
    let gain = [
        [5.0, 2.0],
        [8.0, 3.0],
        [9.0, 2.0],
        [-3.0, 8.0],
        [-3.0, 6.0],
        [1.0, -1.0],
    ];
    let run = two_factors(|block, arm| {
        let sign = if arm % 2 == 1 { 1.0 } else { 0.0 };
        Some(100.0 + noisy(block, arm / 2) + sign * gain[block as usize][arm as usize / 2 % 2])
    });
    let design = run.design.as_ref().expect("a design");
    let pair = &design.pairs[0];
    let [low, _] = pair.ratio.interval.expect("an interval");
    assert!(pair.factor == "f0" && low > 1.0, "{pair:?}");
    let effect = &design.rates[0].effects[0];
    assert!(effect.p_holm.expect("it was tested") > 0.05, "{effect:?}");
    assert_eq!(pair.verdict, Some(effect.verdict));
    assert!(
        words(&run).contains("cannot tell yet: f0 on"),
        "{}",
        words(&run)
    );
}

/// One change is named once, with all that it does, and what is open of it with where.
#[test]
fn the_headline_names_a_change_once() {
    let mut design = design();
    design.factors = ["tso", "gro"]
        .map(|name| factor(name, &["off", "on"]))
        .into();
    design.figures.clear();
    let mut third = design.responses[0].clone();
    third.name = "third".into();
    design.responses.push(third);
    design.arms = (0..4).map(|arm| vec![arm / 2, arm % 2]).collect();
    design.blocks = (0..12).map(|_| (0..4).collect()).collect();
    let mut trials = Vec::new();
    for block in 0..12 {
        for (arm, response) in (0..4).flat_map(|arm| (0..3).map(move |response| (arm, response))) {
            let mut one = trial(&design, (block, arm), response);
            if let Outcome::Measured(result) = &mut one.outcome {
                // `tso` does something in all but the third.
                let gain = if response < 2 {
                    40.0 * f64::from(arm / 2)
                } else {
                    0.0
                };
                let rate =
                    gain + noisy(block + 5 * arm, arm + u32::try_from(response).expect("few"));
                result.samples[0].bytes = Bytes::new((rate * 1e6) as u64);
            }
            trials.push(one);
        }
    }
    let said = words(&analysed(&design, &trials));
    let names: Vec<&str> = design
        .responses
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let headline = said.split("A against B").next().expect("a headline");
    assert_eq!(
        headline.matches("tso on instead of off").count(),
        1,
        "{headline}"
    );
    assert!(
        headline.contains(&format!("], {} +", names[1])),
        "{headline}"
    );
    assert!(
        headline.contains("cannot tell yet: gro on (big read, third), tso on (third)"),
        "{headline}"
    );
}

#[test]
fn of_many_arms_a_terminal_lists_the_fastest_by_what_is_changed() {
    let mut design = design();
    // As many as it takes to count the pairs of 15 effects.
    let blocks = 10;
    // Levels of the same name: only their factors tell them apart.
    let names = ["receive buffer", "channels", "frames", "depth", "window"];
    design.factors = names
        .map(|name| factor(name, &["as before", "changed"]))
        .into();
    let arms = 0..1_u32 << names.len();
    design.arms = arms
        .clone()
        .map(|arm| (0..5).map(|factor| arm >> factor & 1).collect())
        .collect();
    design.blocks = (0..blocks).map(|_| arms.clone().collect()).collect();
    design.responses.truncate(1);
    design.figures.clear();
    let places = (0..blocks).flat_map(|block| arms.clone().map(move |arm| (block, arm)));
    let trials: Vec<TrialRecord> = places.map(|place| trial(&design, place, 0)).collect();
    let run = analysed(&design, &trials);
    let said = page(&run, Style::default());
    let lines = said.lines().count();
    assert!(lines < 160, "{lines} lines");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let of_arm = |arm: usize| {
        let changed = (0..5).filter(|factor| arm >> factor & 1 == 1);
        let names = changed.map(|factor| format!("{} changed", names[factor]));
        names.collect::<Vec<_>>().join(", ")
    };
    // Each arm is faster than the one before it: 100 MB/s more.
    for arm in 24..32 {
        let row = format!(" {} {} MB/s", of_arm(arm), 100 * (arm + 1));
        assert!(said.contains(&row), "{row}\n{said}");
    }
    assert!(
        said.contains("the first level of each 100.0 MB/s"),
        "{said}"
    );
    assert!(!said.contains(&format!(" {} 2400", of_arm(23))), "{said}");
    assert!(said.contains("23 other arms, and 80 comparisons"));
    let page = html(&run);
    for arm in 1..32 {
        assert!(page.contains(&format!("<td>{}</td>", of_arm(arm))), "{arm}");
    }
    assert!(page.contains("<summary>with each combination of the others</summary>"));
    let headline = said.split(" one against two ").next().expect("a headline");
    assert!(
        headline.ends_with("; 10 pairs of factors act together on big read"),
        "{headline}"
    );
}

#[test]
fn long_names_of_levels_are_told_whole() {
    let mut design = design();
    let names = [
        "as the vendor ships it, with everything on",
        "without any offload, and with one queue alone",
    ];
    design.factors = vec![factor("channels", &names)];
    let trials = (0..BLOCKS).flat_map(|block| [(block, 0), (block, 1)]);
    let trials: Vec<TrialRecord> = trials.map(|place| trial(&design, place, 0)).collect();
    let run = analysed(&design, &trials);
    let said = page(&run, Style::default());
    let page = html(&run);
    for name in names {
        assert!(said.contains(&format!("  {name}\n")), "{said}");
        assert!(page.contains(&format!("<td>{name}</td>")), "{page}");
    }
}
