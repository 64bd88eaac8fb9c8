//! Recorded results of iperf3 3.12, fio 3.33 and hyperfine 1.15 as arms.

use fit::table::{Request, Table, TableResult, analyze};
use locale::Language;
use stats::Verdict;

use crate::{effect, flat, texts, warnings};

const IPERF_400M: &str = include_str!("../arms/iperf3-400m.json");
const IPERF_200M: &str = include_str!("../arms/iperf3-200m.json");
const IPERF_REFUSED: &str = include_str!("../arms/iperf3-refused.json");
const FIO: &str = include_str!("../arms/fio-two-processes.json");
const FIO_MEANWHILE: &str = include_str!("../arms/fio-status-interval.json");
const FIO_RAMP: &str = include_str!("../arms/fio-status-interval-ramp.json");
const FIO_JOBS: &str = include_str!("../arms/fio-two-jobs.json");
const BIDIR_20M: &str = include_str!("../arms/iperf3-bidir-20m.json");
const BIDIR_10M: &str = include_str!("../arms/iperf3-bidir-10m.json");
const BIDIR_SERVER: &str = include_str!("../arms/iperf3-bidir-20m-server.json");
const HYPERFINE_FAILED: &str = include_str!("../arms/hyperfine-failed-runs.json");
const HYPERFINE: &str = include_str!("../arms/hyperfine-two-commands.json");

fn arms(arms: &[(&str, &str)]) -> Result<(Table, Request), fit::table::Error> {
    let arms: Vec<(String, String)> = arms
        .iter()
        .map(|(arm, text)| ((*arm).to_owned(), (*text).to_owned()))
        .collect();
    Table::from_arms(&arms)
}

fn analysed(given: &[(&str, &str)]) -> Vec<TableResult> {
    let (table, request) = arms(given).unwrap();
    analyze(&table, &request).unwrap()
}

#[test]
fn iperf3_runs_are_rows_and_the_first_arm_is_the_baseline() {
    let results = analysed(&[("shaped to 400", IPERF_400M), ("shaped to 200", IPERF_200M)]);
    let rate = &results[0];
    assert_eq!(
        (rate.response.as_str(), rate.unit.as_str(), rate.n),
        ("throughput_mbit_s", "Mbit/s", 6)
    );
    let slower = effect(rate, "arm", "shaped to 200");
    assert_eq!(
        (slower.baseline.as_str(), slower.verdict),
        ("shaped to 400", Verdict::Worse)
    );
    assert!((slower.ratio.unwrap() - 0.5).abs() < 0.01, "{slower:?}");
    assert!((slower.estimate.unwrap() + 200.0).abs() < 1.0, "{slower:?}");
}

#[test]
fn a_failed_run_is_no_measurement() {
    let error = arms(&[("a", IPERF_400M), ("b", IPERF_REFUSED)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arm `b`: the run failed: unable to connect to server: Connection refused"
    );
}

#[test]
fn fio_groups_are_rows_and_their_directions_columns() {
    let (table, request) = arms(&[("a", FIO), ("b", FIO)]).unwrap();
    assert_eq!(
        table.columns().collect::<Vec<_>>(),
        ["arm", "read_iops", "read_mb_s", "write_iops", "write_mb_s"]
    );
    assert_eq!(request.factors, ["arm"]);
    // One job reads and the other writes: no response has both, so the job is no factor.
    let (table, request) = arms(&[
        ("a", FIO_JOBS),
        ("b", &FIO_JOBS.replace("1398101333", "699050666")),
    ])
    .unwrap();
    assert_eq!(request.factors, ["arm"]);
    assert_eq!(request.responses, ["read_mb_s"]);
    let result = analyze(&table, &request).unwrap().remove(0);
    assert_eq!((result.n, result.unit.as_str()), (2, "MB/s"));
    let half = effect(&result, "arm", "b");
    assert!((half.ratio.unwrap() - 0.5).abs() < 1e-6, "{half:?}");
    assert_eq!(half.p, None);
}

/// What fio wrote with `--status-interval=1`: a document for each second, all of the same run.
#[test]
fn what_fio_says_of_a_run_that_goes_on_is_no_repetition() {
    let each: Vec<&str> = FIO_MEANWHILE.split_inclusive("\n}\n").collect();
    let (last, earlier) = each.split_last().unwrap();
    assert!(earlier.len() > 1, "{}", each.len());
    let slower = last.replace("\"bw_bytes\" : ", "\"bw_bytes\" : 1");
    let results = analysed(&[("all", FIO_MEANWHILE), ("end", &slower)]);
    let result = &results[0];
    assert_eq!(result.n, 2);
    let warning = &result.warnings[0];
    assert_eq!(warning.kind, "unfinished_runs");
    let (count, all) = (earlier.len(), each.len());
    assert_eq!(
        flat(&warning.text),
        format!("table-arm.unfinished arm=all left_out={count} all={all}")
    );
    // What came before it began to count is no run of its own either.
    let slower = FIO_RAMP.replace("\"bw_bytes\" : ", "\"bw_bytes\" : 1");
    for ramp in [FIO_RAMP, &FIO_RAMP.replace(" 983040,", " 9830400,")] {
        let results = analysed(&[("all", ramp), ("end", &slower)]);
        assert_eq!(results[0].n, 2);
    }
    // The last one is what counts.
    let (whole, _) = arms(&[("all", FIO_MEANWHILE), ("end", &slower)]).unwrap();
    let (alone, _) = arms(&[("all", last), ("end", &slower)]).unwrap();
    assert_eq!(
        format!("{whole:?}").split("warnings").next(),
        format!("{alone:?}").split("warnings").next()
    );
}

#[test]
fn runs_of_fio_one_after_the_other_are_repetitions() {
    let rows = |text: &str| {
        let (table, _) = arms(&[("one", FIO), ("many", text)]).unwrap();
        let table = format!("{table:?}");
        let cells = table.split("warnings").next().expect("the cells");
        cells.matches("many").count()
    };
    let later = FIO.replace("1795254079632", "1795254080700");
    assert_eq!(rows(&[FIO, &later].concat()), 2);
    assert_eq!(rows(&[later.as_str(), FIO].concat()), 2);
    // Newer versions say when a job began.
    let began = |text: &str, when: &str| {
        let with = format!("\"groupid\" : 0,\n \"job_start\" : {when},");
        text.replace("\"groupid\" : 0,", &with)
    };
    let together = [began(FIO, "17"), began(&later, "17")].concat();
    assert_eq!(rows(&together), 1);
    let soon = FIO.replace("1795254079632", "1795254079633");
    assert_eq!(rows(&[FIO, &soon].concat()), 1);
    assert_eq!(rows(&[began(FIO, "17"), began(&soon, "18")].concat()), 2);
    assert_eq!(
        rows(&[FIO, &soon.replace("\"seq\"", "\"other\"")].concat()),
        2
    );
}

#[test]
fn hyperfine_commands_are_jobs_and_shorter_is_better() {
    let slower = HYPERFINE
        .replace("0.01136504", "0.02136504")
        .replace("0.0122", "0.0222");
    let results = analysed(&[("before", HYPERFINE), ("after", &slower)]);
    let result = &results[0];
    assert_eq!(
        (result.response.as_str(), result.unit.as_str(), result.n),
        ("time_s", "s", 16)
    );
    let job = effect(result, "job", "sleep 0.01");
    assert_eq!(
        (job.baseline.as_str(), job.verdict),
        ("true", Verdict::Worse)
    );
    assert!(
        job.estimate.unwrap() > 0.0 && job.ratio.unwrap() < 1.0,
        "{job:?}"
    );
    assert_eq!(effect(result, "arm", "after").baseline, "before");
}

#[test]
fn runs_of_hyperfine_that_failed_are_left_out_and_named() {
    let results = analysed(&[("all", HYPERFINE_FAILED)]);
    let result = &results[0];
    assert_eq!(result.n, 9);
    let warning = &result.warnings[0];
    assert_eq!(warning.kind, "failed_runs");
    let text = flat(&warning.text);
    assert!(
        text.starts_with("table-arm.failed arm=all left_out=3 all=6 command=sh -c")
            && text.ends_with(" how=(error-table.exit-code codes=1)"),
        "{text}"
    );
    let (all, signals) = (
        HYPERFINE_FAILED.replacen("        0,\n        1", "        2,\n        1", 1),
        HYPERFINE_FAILED.replacen("        0,\n        1", "        null,\n        1", 1),
    );
    let said = |text: &str| flat(&analysed(&[("all", text)])[0].warnings[0].text);
    let all = said(&all);
    assert!(all.contains(" left_out=4 all=6 "), "{all}");
    assert!(
        all.ends_with(" how=(error-table.exit-codes codes=1,2)"),
        "{all}"
    );
    let signals = said(&signals);
    assert!(
        signals.ends_with(" how=(error-table.exit-code-or-signal codes=1)"),
        "{signals}"
    );
}

#[test]
fn commands_of_hyperfine_that_only_failed_are_refused() {
    let said = |text: &str| arms(&[("x", text)]).unwrap_err().to_string();
    let failed = "{\"results\":[{\"command\":\"make\",\"times\":[1,2],\"exit_codes\":[2,2]}]}";
    assert_eq!(
        said(failed),
        "arm `x`: no run of `make` ended well: exit code 2"
    );
    // Which of the runs it was is not known.
    assert_eq!(
        said(&failed.replace("[1,2]", "[1,2,3]")),
        "arm `x`: no run of `make` ended well: exit code 2"
    );
}

#[test]
fn both_ways_of_iperf3_at_once_are_two_responses() {
    let given = [("20", BIDIR_20M), ("10", BIDIR_10M)];
    let (_, request) = arms(&given).unwrap();
    assert_eq!(request.responses, ["download_mbit_s", "upload_mbit_s"]);
    let halved = BIDIR_20M.replace(
        "20965901.138494886,\n   \"sender\": false",
        "5e6,\n   \"sender\": false",
    );
    let results = analysed(&[("both", BIDIR_20M), ("slow download", &halved)]);
    let download = &results[0];
    assert_eq!(
        (download.response.as_str(), download.unit.as_str()),
        ("download_mbit_s", "Mbit/s")
    );
    let slow = effect(download, "arm", "slow download");
    assert!((slow.estimate.unwrap() + 15.966).abs() < 0.001, "{slow:?}");
    assert_eq!(results.len(), 1, "the upload is the same in both");
    for result in analysed(&given) {
        let half = effect(&result, "arm", "10");
        assert!((half.ratio.unwrap() - 0.5).abs() < 0.01, "{half:?}");
    }
    // A server knows what it got of the one way and what it sent of the other.
    let (_, request) = arms(&[("20", BIDIR_SERVER), ("10", BIDIR_10M)]).unwrap();
    assert_eq!(request.responses, ["download_mbit_s", "upload_mbit_s"]);
    for result in analysed(&[("20", BIDIR_SERVER), ("10", BIDIR_10M)]) {
        let half = effect(&result, "arm", "10");
        assert!((half.ratio.unwrap() - 0.5).abs() < 0.01, "{half:?}");
    }
    let error = arms(&[("one way", IPERF_400M), ("both", BIDIR_20M)]).unwrap_err();
    assert!(error.to_string().contains("arm `one way` has"), "{error}");
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let said = |text: &str| arms(&[("x", text)]).unwrap_err().to_string();
    let unknown = "arm `x`: it is no result file of CrystalDiskMark, ATTO, DiskSpd, robocopy, iperf3, fio or hyperfine";
    assert_eq!(said("hello"), unknown);
    assert_eq!(said("rates = {1, 2}\nmore {}"), unknown);
    assert_eq!(
        said("{}"),
        "arm `x`: it is no result of iperf3, fio or hyperfine"
    );
    assert_eq!(said("{\"end\":{}}"), "arm `x`: nothing was measured in it");
    assert_eq!(said(" \n"), "arm `x`: the file is empty");
    assert_eq!(
        said("{\"start\":{},\"intervals\":[]}"),
        "arm `x`: iperf3 was stopped before it wrote a result"
    );
    assert_eq!(
        said("{\"event\":\"start\",\"data\":{}}"),
        "arm `x`: it is a stream of events, and no single result of iperf3"
    );
    assert_eq!(
        said(&FIO_JOBS.replacen("\"error\" : 0", "\"error\" : 5", 1)),
        "arm `x`: job `one` of fio failed with error 5"
    );
    assert_eq!(
        said("{\"results\":[{\"times\":[-1]}]}"),
        "arm `x`: it has a value that is negative or no number"
    );
    assert_eq!(
        said("a note\n{\"end\":"),
        "arm `x`: cannot read the JSON (line 2): EOF while parsing a value"
    );
    assert_eq!(arms(&[]).unwrap_err().to_string(), "the table has no arms");
}

#[test]
fn arms_without_anything_in_common_are_refused() {
    let said = |given: &[(&str, &str)]| {
        let error = arms(given).unwrap_err();
        (error.to_string(), Language::English.say(&error.hint()))
    };
    let (text, hint) = said(&[("a", IPERF_400M), ("b", HYPERFINE)]);
    assert_eq!(
        text,
        "arm `b` has `time_s`, and arm `a` has `retransmits`, `throughput_mbit_s`"
    );
    assert_eq!(hint, "compare the same measurement by the same program");
    let (text, hint) = said(&[("a", IPERF_400M)]);
    assert_eq!(
        text,
        "arm `a` stands alone: there is nothing to compare it with"
    );
    assert!(hint.starts_with("give two arms or more"));
}

#[test]
fn jobs_count_only_where_one_arm_has_several() {
    let (_, request) = arms(&[("only", HYPERFINE)]).unwrap();
    assert_eq!(request.factors, ["job"]);
    let result = analysed(&[("only", HYPERFINE)]).remove(0);
    assert_eq!(effect(&result, "job", "sleep 0.01").baseline, "true");
    // Each arm has one command of its own: its name says nothing that the arm does not.
    let one = |command: &str| {
        format!(r#"{{"results":[{{"command":"{command}","times":[1.0,1.1,1.2]}}]}}"#)
    };
    let (_, request) = arms(&[("a", &one("cp x y")), ("b", &one("rsync x y"))]).unwrap();
    assert_eq!(request.factors, ["arm"]);
}

/// A benchmark that reads in two ways and writes in one: writing has one job, and is answered all the same.
#[test]
fn a_job_that_alone_measures_something_is_analysed_too() {
    let run = |read: f64, write: f64| {
        let job = |(group, (name, way, rate)): (usize, (&str, &str, f64))| {
            format!(
                r#"{{"jobname":"{name}","groupid":{group},"{way}":{{"bw_bytes":{}}}}}"#,
                rate * 1e6
            )
        };
        let jobs = [
            ("seqread", "read", read),
            ("randread", "read", read / 5.0),
            ("seqwrite", "write", write),
        ];
        let jobs: Vec<String> = jobs.into_iter().enumerate().map(job).collect();
        format!(r#"{{"jobs":[{}]}}"#, jobs.join(","))
    };
    let [first, second] = [run(110.0, 90.0), run(111.0, 90.5)];
    let [third, fourth] = [run(112.0, 45.0), run(113.0, 45.2)];
    let results = analysed(&[
        ("before", &first),
        ("before", &second),
        ("after", &third),
        ("after", &fourth),
    ]);
    let [read, write] = results.as_slice() else {
        panic!("{results:?}")
    };
    assert_eq!((read.n, write.n), (8, 4));
    assert_eq!(effect(write, "arm", "after").verdict, Verdict::Worse);
    assert_eq!(effect(read, "job", "randread").baseline, "seqread");
    assert!(
        warnings(write, "missing").is_empty(),
        "{:?}",
        write.warnings
    );
    assert_eq!(
        texts(write, "left_out"),
        ["table-left-out reason=(error-table.one-level factor=job level=seqwrite rows=4)"]
    );
    // Alone, it has nothing to be compared with.
    let results = analysed(&[("only", &first), ("only", &second)]);
    assert_eq!(results.len(), 1);
    assert_eq!(
        texts(&results[0], "left_out"),
        ["table-left-out.response response=write_mb_s \
             reason=(error-table.one-level factor=job level=seqwrite rows=2)"]
    );
    // Each way has a first job of its own to compare with.
    let both = [&first, &third].map(|text| {
        text.replace(
            "randread\",\"groupid\":1,\"read",
            "randwrite\",\"groupid\":1,\"write",
        )
    });
    let results = analysed(&[("before", &both[0]), ("after", &both[1])]);
    let write = results.iter().find(|one| one.response == "write_mb_s");
    assert_eq!(
        effect(write.unwrap(), "job", "seqwrite").baseline,
        "randwrite"
    );
}

/// Programs know their units: what is eight times as fast there is so.
#[test]
fn results_of_programs_have_no_slips_of_unit() {
    let run = |rate: f64| format!(r#"{{"end":{{"sum_received":{{"bits_per_second":{rate}}}}}}}"#);
    let runs = |times: f64| [200e6, 201e6, 199e6].map(|rate| run(rate * times)).concat();
    let once = [runs(1.0), run(1600e6)].concat();
    for other in [runs(8.0), once] {
        let result = analysed(&[("slow", &runs(1.0)), ("other", &other)]).remove(0);
        let slips = warnings(&result, "unit_slip");
        assert!(slips.is_empty(), "{slips:?}");
    }
}

/// TCP on a dead path, and UDP as clients told it that did not hear from their server.
#[test]
fn what_never_arrived_is_no_throughput() {
    let rate = |text: &str| {
        let good = r#"{"end":{"sum_received":{"bits_per_second":7e6}}}"#;
        let result = analysed(&[("good", good), ("other", text)]).remove(0);
        effect(&result, "arm", "other").estimate.unwrap() + 7.0
    };
    let near = |text: &str, expected: f64| assert!((rate(text) - expected).abs() < 1e-9, "{text}");
    let dead = r#""end":{"sum_sent":{"bits_per_second":3e6},"sum_received":{"bits_per_second":0}}"#;
    near(&format!(r#"{{"start":{{}},{dead}}}"#), 0.0);
    // A server that sent knows no more.
    near(
        &format!(r#"{{"start":{{"accepted_connection":{{}}}},{dead}}}"#),
        3.0,
    );
    let half = r#"{"end":{"sum":{"bits_per_second":1e8,"lost_percent":50},
        "sum_sent":{"bits_per_second":1e8,"lost_percent":0},
        "sum_received":{"bits_per_second":0,"lost_percent":0}}}"#;
    near(half, 50.0);
}

/// UDP through a filter that takes everything, as new and old versions tell it.
#[test]
fn packets_that_were_lost_did_not_arrive() {
    let sent = r#""sum_sent":{"bits_per_second":1e9,"lost_percent":0}"#;
    let new = |rate: f64, lost: f64| {
        format!(
            r#"{{"end":{{{sent},"sum":{{"bits_per_second":1e9,"lost_percent":{lost}}},
            "sum_received":{{"bits_per_second":{rate},"lost_percent":{lost}}}}}}}"#
        )
    };
    let old = |lost: f64| {
        format!(r#"{{"end":{{"sum":{{"bits_per_second":1e9,"lost_percent":{lost}}}}}}}"#)
    };
    for [before, after] in [[new(0.0, 100.0), new(9e8, 10.0)], [old(100.0), old(10.0)]] {
        let arms = [("before".to_owned(), before), ("after".to_owned(), after)];
        let (table, request) = Table::from_arms(&arms).unwrap();
        let result = &analyze(&table, &request).unwrap()[0];
        let change = effect(result, "arm", "after").estimate.unwrap();
        assert!((change - 900.0).abs() < 1e-9, "{change}");
    }
}
