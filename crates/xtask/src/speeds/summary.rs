//! From single runs to the figures that people and programs read.

use report::Style;
use serde::Serialize;
use serde_json::{Value, json};

use crate::lab_and_program::median;
use crate::speeds::compared_programs::{Cost, ENGINES, Engine};
use crate::speeds::workload::Workload;

/// One run that counts.
#[derive(Debug, Serialize)]
pub struct Run {
    /// What was measured.
    pub workload: &'static str,
    /// What the rate counts, in its unit.
    pub counted: f64,
    /// Round, from 1.
    pub round: usize,
    /// Who did it.
    pub engine: Engine,
    /// What it gave.
    #[serde(flatten)]
    pub cost: Cost,
    /// Time of the server's processes on cores, where it is known.
    pub server_cpu_seconds: Option<f64>,
}

impl Run {
    fn rate(&self) -> f64 {
        self.counted / self.cost.seconds
    }
}

/// One engine at one workload.
struct Line<'a> {
    workload: &'a str,
    unit: &'static str,
    engine: Engine,
    runs: Vec<&'a Run>,
    /// This engine's rate divided by smbclient's, the median of all rounds.
    times_smbclient: Option<f64>,
}

fn lines<'a>(workloads: &[&'a Workload], runs: &'a [Run]) -> Vec<Line<'a>> {
    let of = |workload: &Workload, engine| -> Vec<&Run> {
        let these = |run: &&Run| run.workload == workload.name && run.engine == engine;
        runs.iter().filter(these).collect()
    };
    let mut lines = Vec::new();
    for workload in workloads {
        let smbclient = of(workload, Engine::Smbclient);
        for engine in ENGINES {
            let runs = of(workload, engine);
            if runs.is_empty() {
                continue;
            }
            let ratios = runs.iter().filter_map(|run| {
                let other = smbclient.iter().find(|other| other.round == run.round)?;
                Some(run.rate() / other.rate())
            });
            let times_smbclient = median(ratios.collect());
            lines.push(Line {
                workload: workload.name,
                unit: workload.counts(0).1,
                engine,
                runs,
                times_smbclient,
            });
        }
    }
    lines
}

impl Line<'_> {
    fn rates(&self) -> [f64; 3] {
        let rates: Vec<f64> = self.runs.iter().map(|run| run.rate()).collect();
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        [least, median(rates).unwrap_or(0.0), most]
    }

    fn memory_bytes_max(&self) -> u64 {
        let most = self.runs.iter().map(|run| run.cost.memory_bytes).max();
        most.unwrap_or(0)
    }

    /// Seconds for each GB; nothing where no payload is moved.
    fn per_gigabyte(&self, seconds: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        let costs = self.runs.iter().filter(|run| run.cost.bytes > 0);
        let costs = costs.filter_map(|run| Some(seconds(run)? / (run.cost.bytes as f64 / 1e9)));
        median(costs.collect())
    }

    fn client_cpu(&self) -> Option<f64> {
        self.per_gigabyte(|run| Some(run.cost.cpu_seconds))
    }

    fn server_cpu(&self) -> Option<f64> {
        self.per_gigabyte(|run| run.server_cpu_seconds)
    }

    /// In how many runs a GB cost the server much more than in the cheapest one, and of how many that is known.
    fn dear(&self) -> Option<(usize, usize)> {
        let costs = self.runs.iter().filter(|run| run.cost.bytes > 0);
        let costs = costs.filter_map(|run| Some(run.server_cpu_seconds? / run.cost.bytes as f64));
        let costs: Vec<f64> = costs.collect();
        let least = costs.iter().copied().reduce(f64::min)?;
        let dear = costs.iter().filter(|cost| **cost > DEAR_FACTOR * least);
        Some((dear.count(), costs.len()))
    }

    fn dear_text(&self) -> Option<String> {
        let (dear, known) = self.dear()?;
        Some(format!("{dear} of {known}"))
    }
}

/// A run is dear to the server from so many times the cheapest one of its row on: it has spent its time on memory that
/// the host of this machine had to find first. Runs beside each other differ by a tenth or two without that.
const DEAR_FACTOR: f64 = 1.5;
const MIB: f64 = 1_048_576.0;

fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (number * scale).round() / scale
}

/// The summary as programs read it.
pub fn json(workloads: &[&Workload], runs: &[Run]) -> Value {
    let line = |line: Line<'_>| {
        let [min, median, max] = line.rates().map(|rate| rounded(rate, 1));
        json!({
            "workload": line.workload, "engine": line.engine, "unit": line.unit,
            "min": min, "median": median, "max": max,
            "client_cpu_s_per_gb": line.client_cpu().map(|cpu| rounded(cpu, 4)),
            "server_cpu_s_per_gb": line.server_cpu().map(|cpu| rounded(cpu, 4)),
            "dear_runs": line.dear().map(|(dear, _)| dear),
            "memory_mib_max": rounded(line.memory_bytes_max() as f64 / MIB, 1),
        })
    };
    Value::Array(lines(workloads, runs).into_iter().map(line).collect())
}

/// The summary as BENCHMARKS.md shows it.
pub fn markdown(workloads: &[&Workload], runs: &[Run]) -> String {
    let mut text = "| workload | engine | rate | min | max | CPU s/GB | server s/GB | dear runs | times smbclient | MiB |\n\
        |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut shown = "";
    for line in lines(workloads, runs) {
        let [min, median, max] = line.rates().map(|rate| format!("{rate:.0}"));
        let or_nothing =
            |number: Option<f64>| number.map_or(String::new(), |it| format!("{it:.2}"));
        let workload = match line.workload {
            again if again == shown => String::new(),
            workload => format!("`{workload}`"),
        };
        shown = line.workload;
        text.push_str(&format!(
            "| {workload} | {} | {median} {} | {min} | {max} | {} | {} | {} | {} | {:.0} |\n",
            line.engine.name(),
            line.unit,
            or_nothing(line.client_cpu()),
            or_nothing(line.server_cpu()),
            line.dear_text().unwrap_or_default(),
            or_nothing(line.times_smbclient),
            line.memory_bytes_max() as f64 / MIB,
        ));
    }
    text
}

/// The summary as people read it.
pub fn table(workloads: &[&Workload], runs: &[Run]) -> String {
    let headers = [
        "workload",
        "engine",
        "rate",
        "min",
        "max",
        "CPU s/GB",
        "server s/GB",
        "dear runs",
        "times smbclient",
        "MiB",
    ];
    let row = |line: Line<'_>| {
        let [min, median, max] = line.rates().map(|rate| format!("{rate:.0}"));
        let ratio = line
            .times_smbclient
            .map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let (workload, engine) = (line.workload.to_owned(), line.engine.name().to_owned());
        let dear = line.dear_text().unwrap_or_else(|| "-".to_owned());
        let seconds = |cpu: Option<f64>| cpu.map_or("-".to_owned(), |cpu| format!("{cpu:.3}"));
        vec![
            workload,
            engine,
            format!("{median} {}", line.unit),
            min,
            max,
            seconds(line.client_cpu()),
            seconds(line.server_cpu()),
            dear,
            ratio,
            format!("{:.0}", line.memory_bytes_max() as f64 / MIB),
        ]
    };
    let rows: Vec<Vec<String>> = lines(workloads, runs).into_iter().map(row).collect();
    report::table(&headers, &rows, Style::default())
}
