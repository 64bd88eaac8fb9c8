//! Recorded results of iperf3 3.12, fio 3.33 and hyperfine 1.15 as arms.

use analysis::Verdict;
use analysis::table::{Request, Table, TableResult, analyze};

use crate::effect;

const IPERF_400M: &str = include_str!("../arms/iperf3-400m.json");
const IPERF_200M: &str = include_str!("../arms/iperf3-200m.json");
const IPERF_REFUSED: &str = include_str!("../arms/iperf3-refused.json");
const FIO: &str = include_str!("../arms/fio-two-processes.json");
const FIO_JOBS: &str = include_str!("../arms/fio-two-jobs.json");
const HYPERFINE: &str = include_str!("../arms/hyperfine-two-commands.json");

fn arms(arms: &[(&str, &str)]) -> Result<(Table, Request), analysis::table::Error> {
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
    let job = effect(result, "job", "true");
    assert_eq!(
        (job.baseline.as_str(), job.verdict),
        ("sleep 0.01", Verdict::Better)
    );
    assert!(
        job.estimate.unwrap() < 0.0 && job.ratio.unwrap() > 1.0,
        "{job:?}"
    );
    assert_eq!(effect(result, "arm", "after").baseline, "before");
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let said = |text: &str| arms(&[("x", text)]).unwrap_err().to_string();
    assert_eq!(said("hello"), "arm `x`: there is no JSON object in it");
    assert_eq!(
        said("{}"),
        "arm `x`: it is no result of iperf3, fio or hyperfine"
    );
    assert_eq!(said("{\"end\":{}}"), "arm `x`: nothing was measured in it");
    assert_eq!(
        said("{\"results\":[{\"times\":[-1]}]}"),
        "arm `x`: it has a value that is negative or no number"
    );
    assert_eq!(said("{\"end\":"), "arm `x`: cannot read the JSON");
    assert_eq!(arms(&[]).unwrap_err().to_string(), "the table has no arms");
}
