//! Result files of iperf3, fio, hyperfine, CrystalDiskMark, ATTO, DiskSpd and robocopy as arms of a table. One run of a program is one row: its
//! intervals are no repetitions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use locale::{Message, say};

use super::CELL_BYTES_MAX;
use super::bounded_json_list::Bounded;
use super::csv_table::{Table, shown};
use super::error::Error;
use super::factor_levels::LEVELS_MAX;
use super::iperf3_fio_hyperfine_json::{
    Document, FioJob, HyperfineResult, IperfEnd, IperfSum, RUNS_MAX,
};
use super::{Request, TableWarning, crystaldiskmark_diskspd_robocopy};

/// Most text of one file of results: an hour of `iperf3` with eight streams has 11 MB.
pub const ARM_BYTES_MAX: usize = 16 << 20;
const ARMS_MAX: usize = 1000;
/// The column that says which job of a program it was.
pub(super) const JOB: &str = "job";
/// Two runs at the same time may end within fewer milliseconds.
const FORGETS_AFTER: f64 = 500.0;

/// One row before the columns are known.
struct Row {
    arm: Rc<str>,
    job: Rc<str>,
    values: BTreeMap<&'static str, f64>,
}

impl Table {
    /// Reads `(arm, text)`, as [`Arms`] does one after the other.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn from_arms(given: &[(String, String)]) -> Result<(Self, Request), Error> {
        let mut arms = Arms::default();
        for (arm, text) in given {
            arms.add(arm, text)?;
        }
        arms.table()
    }
}

/// Results of iperf3, fio or hyperfine that are compared. The first arm is the baseline; several texts of
/// one arm are repetitions.
#[derive(Default)]
pub struct Arms {
    rows: Vec<Row>,
    warnings: Vec<TableWarning>,
    files: usize,
}

/// The values of one response and one job, of each arm in the order given.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The job or test, where the program has several.
    pub job: String,
    /// What was measured, with its unit: `read_mb_s`.
    pub response: &'static str,
    /// Name of the arm and one value of each of its runs.
    pub arms: Vec<(String, Vec<f64>)>,
}

impl Arms {
    /// What was measured, in the order of the file: each response of each job once.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let mut arms: Vec<&Rc<str>> = Vec::new();
        let mut figures: Vec<Figure> = Vec::new();
        let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for row in &self.rows {
            if !arms.contains(&&row.arm) {
                arms.push(&row.arm);
            }
        }
        for row in &self.rows {
            for (response, value) in &row.values {
                let place = *places.entry((&row.job, response)).or_insert_with(|| {
                    figures.push(Figure {
                        job: row.job.to_string(),
                        response,
                        arms: arms
                            .iter()
                            .map(|arm| (arm.to_string(), Vec::new()))
                            .collect(),
                    });
                    figures.len() - 1
                });
                let arm = arms.iter().position(|arm| **arm == row.arm);
                if let Some(arm) = arm {
                    figures[place].arms[arm].1.push(*value);
                }
            }
        }
        figures
    }

    /// Takes one or more JSON documents, one after the other. Runs that hyperfine saw fail are left out,
    /// and so is what fio said of a run before its end; a warning of every result says so.
    ///
    /// # Errors
    ///
    /// The text is too large, is none of these, or reports a failed run.
    pub fn add(&mut self, arm: &str, text: &str) -> Result<(), Error> {
        self.files += 1;
        if self.files > ARMS_MAX {
            return Err(Error::too_large("arms", ARMS_MAX));
        }
        read(arm, text, &mut self.rows, &mut self.warnings)
    }

    /// The table of all, and a request for what was measured in every arm; a factor `job` is added where
    /// one arm holds several jobs of one kind, and is the only one where there is one arm.
    ///
    /// # Errors
    ///
    /// The arms differ in kind, or there is nothing to compare.
    pub fn table(self) -> Result<(Table, Request), Error> {
        let Self { rows, warnings, .. } = self;
        let Some(first) = rows.first() else {
            return Err(Error::Empty("arms"));
        };
        // Not every response has rows of the first job.
        let mut baselines = vec![("arm", first.arm.to_string())];
        let mut known = BTreeSet::new();
        let jobs = rows.iter().map(|row| &row.job);
        let jobs = jobs.filter(|job| known.insert(*job)).take(LEVELS_MAX);
        baselines.extend(jobs.map(|job| (JOB, job.to_string())));
        let (responses, factors) = question(&rows)?;
        let with_jobs = rows.iter().any(|row| row.job != rows[0].job);
        let measured: BTreeSet<&'static str> = rows
            .iter()
            .flat_map(|row| row.values.keys().copied())
            .collect();
        let mut columns = vec!["arm".to_owned()];
        columns.extend(with_jobs.then(|| JOB.to_owned()));
        columns.extend(measured.iter().map(|response| (*response).to_owned()));
        let cells = rows.iter().map(|row| {
            let mut cells = vec![row.arm.to_string()];
            cells.extend(with_jobs.then(|| row.job.to_string()));
            let value = |response| {
                row.values
                    .get(response)
                    .map_or_else(String::new, f64::to_string)
            };
            cells.extend(measured.iter().map(value));
            cells
        });
        let mut table = Table::new(columns, cells)?;
        table.warnings = warnings;
        let baselines = baselines
            .into_iter()
            .filter(|(factor, _)| factors.contains(factor));
        table.baselines = baselines
            .map(|(factor, level)| (factor.to_owned(), level))
            .collect();
        Ok((table, Request::new(responses, factors)))
    }
}

/// What was measured in every arm, and what was varied.
fn question(rows: &[Row]) -> Result<(Vec<&'static str>, Vec<&'static str>), Error> {
    let mut measured: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let mut jobs: BTreeMap<(&str, &'static str), BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let own = measured.entry(&row.arm).or_default();
        for response in row.values.keys().copied() {
            own.insert(response);
            let jobs = jobs.entry((&row.arm, response)).or_default();
            jobs.insert(&row.job);
        }
    }
    let first = &*rows[0].arm;
    let mut common = measured[first].clone();
    for (arm, own) in &measured {
        common.retain(|response| own.contains(response));
        if common.is_empty() {
            let list = |names: &BTreeSet<&str>| {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                names.join(", ")
            };
            return Err(Error::DifferentArms {
                arm: shown(arm),
                own: list(own),
                first: shown(first),
                others: list(&measured[first]),
            });
        }
    }
    // Where each arm has one job, its name is only another name of the arm.
    let several = |response: &str| {
        let mut jobs = jobs.iter().filter(|((_, own), _)| *own == response);
        jobs.any(|(_, jobs)| jobs.len() > 1)
    };
    let jobs_matter = common.iter().any(|response| several(response));
    // A count that never differs, as no retransmits at all, would refuse the whole request.
    let varied = |response: &str| {
        let mut values = rows.iter().filter_map(|row| row.values.get(response));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let asked = common.iter().copied().filter(|name| varied(name));
    let mut asked: Vec<&'static str> = asked.collect();
    if asked.is_empty() {
        asked = common.into_iter().collect();
    }
    let factors: Vec<&'static str> = [("arm", measured.len() > 1), (JOB, jobs_matter)]
        .into_iter()
        .filter_map(|(factor, varied)| varied.then_some(factor))
        .collect();
    if factors.is_empty() {
        return Err(Error::OneArm(shown(first)));
    }
    Ok((asked, factors))
}

fn read(
    arm: &str,
    text: &str,
    rows: &mut Vec<Row>,
    warnings: &mut Vec<TableWarning>,
) -> Result<(), Error> {
    let refuse = |reason| Error::Arm {
        arm: shown(arm),
        reason,
    };
    if text.len() > ARM_BYTES_MAX {
        let reason = say("error-table.large-file").count("most", ARM_BYTES_MAX >> 20);
        return Err(refuse(reason));
    }
    if text.trim().is_empty() {
        return Err(refuse(say("error-table.empty-file")));
    }
    if !text.trim_start().starts_with(['{', '['])
        && let Some(tests) = crystaldiskmark_diskspd_robocopy::read(text)
    {
        let tests = tests.map_err(refuse)?;
        rows.extend(tests.into_iter().map(|test| Row {
            arm: arm.into(),
            job: test.name.into(),
            values: test.values,
        }));
        return check_runs(rows);
    }
    let start = document(text).ok_or_else(|| refuse(say("error-table.unknown-file")))?;
    let documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Document>();
    let (mut before, mut all, mut left_out) = (None, 0_usize, 0_usize);
    for document in documents {
        let document = document.map_err(|error| unread(arm, &text[..start], &error))?;
        all += 1;
        // With `--status-interval` fio writes a whole document of all that it has done so far again and
        // again: these are no repetitions.
        if let Some(whole) = before.replace(document) {
            match before
                .as_ref()
                .is_some_and(|after| is_of_one_run(&whole, after))
            {
                true => left_out += 1,
                false => rows.extend(measured(arm, whole, warnings)?),
            }
        }
        check_runs(rows)?;
    }
    if let Some(last) = before {
        rows.extend(measured(arm, last, warnings)?);
        check_runs(rows)?;
    }
    if left_out > 0 {
        let text = say("table-arm.unfinished")
            .with("arm", shown(arm))
            .count("left_out", left_out)
            .count("all", all);
        warnings.push(TableWarning::new("unfinished_runs", text));
    }
    Ok(())
}

/// Where the first document begins: fio writes its notes in lines above it.
fn document(text: &str) -> Option<usize> {
    let braces = text.match_indices('{').map(|(place, _)| place);
    braces.into_iter().find(|place| {
        let line = text[..*place].rsplit('\n').next().unwrap_or_default();
        matches!(line.trim(), "" | "[")
    })
}

fn check_runs(rows: &[Row]) -> Result<(), Error> {
    match rows.len() > RUNS_MAX {
        true => Err(Error::too_large("runs", RUNS_MAX)),
        false => Ok(()),
    }
}

/// Where a document cannot be read, as a line of the whole file.
fn unread(arm: &str, notes: &str, error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    Error::ArmJson {
        arm: shown(arm),
        line: error.line() + notes.matches('\n').count(),
        reason: shown(text.strip_suffix(&place).unwrap_or(&text)),
    }
}

/// The rows of one document.
fn measured(
    arm: &str,
    document: Document,
    warnings: &mut Vec<TableWarning>,
) -> Result<Vec<Row>, Error> {
    let refuse = |reason| Error::Arm {
        arm: shown(arm),
        reason,
    };
    if let Some(error) = document.error {
        let reason = say("error-table.failed-run").with("reason", shown(&error));
        return Err(refuse(reason));
    }
    let read = if let Some(Bounded(jobs)) = document.jobs {
        if let Some(failed) = jobs.iter().find(|job| job.error != 0) {
            let reason = say("error-table.failed-job")
                .with("job", shown(&failed.jobname))
                .with("error", failed.error.to_string());
            return Err(refuse(reason));
        }
        fio(arm, jobs)
    } else if let Some(Bounded(results)) = document.results {
        hyperfine(arm, results, warnings)?
    } else if let Some(end) = document.end {
        let is_server = document
            .start
            .is_some_and(|start| start.accepted_connection.is_some());
        iperf(arm, &end, if is_server { End::Server } else { End::Client })
    } else if document.event.is_some() {
        return Err(refuse(say("error-table.stream-of-events")));
    } else if document.intervals.is_some() {
        return Err(refuse(say("error-table.stopped-iperf3")));
    } else {
        return Err(refuse(say("error-table.unknown-json")));
    };
    if read.is_empty() {
        return Err(refuse(say("error-table.nothing-measured")));
    }
    for row in &read {
        let mut values = row.values.values();
        if !values.all(|value| value.is_finite() && *value >= 0.0) {
            return Err(refuse(say("error-table.bad-value")));
        }
        if row.job.len() > CELL_BYTES_MAX {
            let reason = say("error-table.long-job")
                .with("job", shown(&row.job))
                .count("most", CELL_BYTES_MAX);
            return Err(refuse(reason));
        }
    }
    Ok(read)
}

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Client,
    Server,
}

fn iperf(arm: &str, end: &IperfEnd, whose: End) -> Vec<Row> {
    let to_server = [&end.sum_received, &end.sum, &end.sum_sent];
    let to_client = [
        &end.sum_received_bidir_reverse,
        &end.sum_bidir_reverse,
        &end.sum_sent_bidir_reverse,
    ];
    let ways = match to_client.iter().any(|sum| sum.is_some()) {
        true => vec![
            (to_server, "upload_mbit_s", "upload_retransmits"),
            (to_client, "download_mbit_s", "download_retransmits"),
        ],
        false => vec![(to_server, "throughput_mbit_s", "retransmits")],
    };
    let mut values = BTreeMap::new();
    for (sums, rate_name, count_name) in ways {
        let known = || {
            let places = sums.into_iter().enumerate();
            places.filter_map(|(place, sum)| Some((place, sum.as_ref()?)))
        };
        // What arrived counts, not what was handed to the system. Nothing arrived where all was lost, and
        // where TCP says so; but a server that only sent knows no more than that, and older clients do not
        // know what became of UDP.
        let lost = |sum: &IperfSum| sum.lost_percent.unwrap_or(0.0).clamp(0.0, 100.0);
        let is_meant = |sum: &IperfSum| {
            let of_tcp = whose == End::Client && sum.lost_percent.is_none();
            sum.bits_per_second != 0.0 || lost(sum) > 0.0 || of_tcp
        };
        let sum = known().find(|(_, sum)| is_meant(sum));
        let Some((place, sum)) = sum.or_else(|| known().next()) else {
            continue;
        };
        // All but the first are of what was sent.
        let arrived = match place {
            0 => 1.0,
            _ => 1.0 - lost(sum) / 100.0,
        };
        values.insert(rate_name, sum.bits_per_second * arrived / 1e6);
        let retransmits = sums[2].as_ref().and_then(|sent| sent.retransmits);
        values.extend(retransmits.map(|count| (count_name, count as f64)));
    }
    if values.is_empty() {
        return Vec::new();
    }
    vec![Row {
        arm: arm.into(),
        job: "".into(),
        values,
    }]
}

/// Whether two documents, one after the other, are of one run of fio.
fn is_of_one_run(before: &Document, after: &Document) -> bool {
    let (Some(Bounded(one)), Some(Bounded(two))) = (&before.jobs, &after.jobs) else {
        return false;
    };
    let pairs = || one.iter().zip(two);
    let same_jobs = one.len() == two.len()
        && pairs().all(|(one, two)| one.jobname == two.jobname && one.groupid == two.groupid);
    if !same_jobs {
        return false;
    }
    let starts = || pairs().filter_map(|(one, two)| Some((one.job_start?, two.job_start?)));
    if starts().any(|(one, _)| one > 0) {
        return starts().all(|(one, two)| one == two || one == 0);
    }
    let (Some(first), Some(second)) = (before.timestamp_ms, after.timestamp_ms) else {
        return false;
    };
    // Another run begins when the one before it has been told of, so that it is shorter than the time
    // between the two.
    let between = second - first;
    let longest = |of: fn(&FioJob) -> f64| two.iter().map(of).fold(0.0, f64::max);
    let runs = longest(|job| job.done()[1].max(job.done()[3]));
    // Seconds that have begun, of the whole program: also of what it does before it counts.
    let whole = (longest(|job| job.elapsed.unwrap_or_default()) - 1.0) * 1e3;
    // What was done before it counts is forgotten then.
    let grew = pairs().all(|(one, two)| {
        let done = one.done().into_iter().zip(two.done());
        done.into_iter().all(|(one, two)| two >= one)
    });
    match grew {
        true => between >= 0.0 && (between < runs || between <= whole),
        false => between >= FORGETS_AFTER && between <= whole,
    }
}

/// Jobs of one group run together and add up; groups run one after the other.
fn fio(arm: &str, jobs: Vec<FioJob>) -> Vec<Row> {
    let mut groups: BTreeMap<u64, Row> = BTreeMap::new();
    for job in jobs {
        let row = groups.entry(job.groupid).or_insert_with(|| Row {
            arm: arm.into(),
            job: job.jobname.into(),
            values: BTreeMap::new(),
        });
        let directions = [
            (job.read, "read_mb_s", "read_iops"),
            (job.write, "write_mb_s", "write_iops"),
        ];
        for (direction, rate_name, count_name) in directions {
            let Some(direction) = direction else { continue };
            let rate = direction
                .bw_bytes
                .or(direction.bw.map(|kib| kib * 1024.0))
                .unwrap_or(0.0);
            // The direction that was not used is there with zeros.
            if rate == 0.0 {
                continue;
            }
            *row.values.entry(rate_name).or_insert(0.0) += rate / 1e6;
            if let Some(count) = direction.iops {
                *row.values.entry(count_name).or_insert(0.0) += count;
            }
        }
    }
    groups
        .into_values()
        .filter(|row| !row.values.is_empty())
        .collect()
}

fn hyperfine(
    arm: &str,
    results: Vec<HyperfineResult>,
    warnings: &mut Vec<TableWarning>,
) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for result in results {
        let times = result
            .times
            .map_or_else(|| result.mean.into_iter().collect(), |times| times.0);
        let codes = result.exit_codes.map_or_else(Vec::new, |codes| codes.0);
        let failed: BTreeSet<Option<i64>> = codes
            .iter()
            .filter(|code| **code != Some(0))
            .copied()
            .collect();
        let ended_well = |run: &usize| codes.get(*run).is_none_or(|code| *code == Some(0));
        let kept: Vec<f64> = match codes.len() == times.len() {
            true => (0..times.len())
                .filter(ended_well)
                .map(|run| times[run])
                .collect(),
            // Which of them failed is not known.
            false if !failed.is_empty() => Vec::new(),
            false => times.clone(),
        };
        let command = shown(&result.command);
        let (arm_name, job): (Rc<str>, Rc<str>) = (arm.into(), result.command.into());
        let how = how_it_failed(&failed);
        if kept.is_empty() && !failed.is_empty() {
            return Err(Error::Arm {
                arm: shown(arm),
                reason: say("error-table.no-run-ended-well")
                    .with("command", command)
                    .with("how", how),
            });
        }
        if kept.len() < times.len() {
            let text = say("table-arm.failed")
                .with("arm", shown(arm))
                .count("left_out", times.len() - kept.len())
                .count("all", times.len())
                .with("command", command)
                .with("how", how);
            warnings.push(TableWarning::new("failed_runs", text));
        }
        rows.extend(kept.into_iter().map(|time| Row {
            arm: arm_name.clone(),
            job: job.clone(),
            values: BTreeMap::from([("time_s", time)]),
        }));
    }
    Ok(rows)
}

/// `exit codes 1, 127`, or that a signal ended it; a few of them say enough.
fn how_it_failed(codes: &BTreeSet<Option<i64>>) -> Message {
    const LISTED: usize = 5;
    let numbers = codes.iter().flatten().take(LISTED);
    let numbers: Vec<String> = numbers.map(i64::to_string).collect();
    let how = match (numbers.len(), codes.contains(&None)) {
        (0, _) => return say("error-table.by-signal"),
        (1, false) => "error-table.exit-code",
        (1, true) => "error-table.exit-code-or-signal",
        (_, false) => "error-table.exit-codes",
        (_, true) => "error-table.exit-codes-or-signal",
    };
    say(how).with("codes", numbers)
}
