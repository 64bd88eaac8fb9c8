//! Tables that anybody measured: a CSV file, or result files of other programs given as arms.
//!
//! Such a table has no trials of ours behind it, so nothing is known beyond its cells: least squares
//! over the factors, with what cannot be estimated said instead of guessed.

mod anova_and_kruskal_wallis;
mod bounded_json_list;
mod crystaldiskmark_diskspd_robocopy;
mod csv_table;
mod design_matrix;
mod duplicate_rows_and_drift;
mod effect_estimates;
mod error;
mod factor_levels;
mod gram_schmidt_least_squares;
mod interaction_screening;
mod iperf3_fio_hyperfine_json;
mod pseudoreplication;
mod response_fit;
mod row_selection;
mod split_plot_variance;
mod tail_probabilities;
mod tool_results_as_arms;
mod unit_and_direction;
mod unit_slips_and_outliers;
mod verdicts;

use locale::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

use stats::Verdict;

use csv_table::shown;
pub use csv_table::{TEXT_BYTES_MAX, Table};
pub use error::Error;
pub use tool_results_as_arms::{ARM_BYTES_MAX, Arms, Figure};
pub use unit_and_direction::Better;
pub(crate) use unit_and_direction::better;
pub(crate) use verdicts::{NOT_ADDED, NOT_MULTIPLIED, corrected};

/// Longest cell, in bytes.
const CELL_BYTES_MAX: usize = 1024;
/// Confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;
/// Adjusted probabilities under this call an effect better or worse.
pub(crate) const SIGNIFICANCE: f64 = 1.0 - CONFIDENCE;
/// Band of practical equivalence where none is asked for, as a share of the baseline.
pub const DEFAULT_BAND: f64 = 0.02;

/// Which two-factor interactions are looked at where none is named among the factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interactions {
    /// Each pair on its own, on top of the main effects.
    #[default]
    Screened,
    /// None.
    Ignored,
}

/// What to look for in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Columns with the measured values. Holm's correction runs over all of them.
    pub responses: Vec<String>,
    /// Columns that were varied; `a:b` among them puts the interaction of two into the model.
    pub factors: Vec<String>,
    /// Column that says which rows were measured together.
    pub blocks: Option<String>,
    /// Column that says which rows of a block were measured without changing some of the factors in
    /// between: effects of these are held against how plots differ, not rows.
    pub plots: Option<String>,
    /// Column that says which rows are of one run: its mean is one measurement. Where it is not named,
    /// columns called `run` and the like are, and times that begin anew.
    pub runs: Option<String>,
    /// `(factor, level)`: what to compare with. Where not given: `off`, `default` and the like, the
    /// smallest number, or the first in the alphabet.
    pub baselines: Vec<(String, String)>,
    /// `(column, cell)`: only these rows; several of one column are alternatives.
    pub only: Vec<(String, String)>,
    /// Which interactions.
    pub interactions: Interactions,
    /// Differences within this share of the baseline do not matter.
    pub band: f64,
    /// Whether more is better; where not given the response's name says so, and where that does not
    /// either, nothing is called better or worse.
    pub better: Option<Better>,
}

impl Request {
    /// Asks for these responses and factors, and for the defaults in all else.
    #[must_use]
    pub fn new<S: Into<String>>(
        responses: impl IntoIterator<Item = S>,
        factors: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            responses: responses.into_iter().map(Into::into).collect(),
            factors: factors.into_iter().map(Into::into).collect(),
            blocks: None,
            plots: None,
            runs: None,
            baselines: Vec::new(),
            only: Vec::new(),
            interactions: Interactions::default(),
            band: DEFAULT_BAND,
            better: None,
        }
    }

    /// Whether an effect is of a factor or an interaction that was named, and none that was looked for
    /// besides.
    #[must_use]
    pub fn asks(&self, effect: &TableEffect) -> bool {
        // `b:a` is `a:b`; and a name may contain a colon itself.
        let turned = |name: &str| {
            let mut colons = name.match_indices(':');
            colons.any(|(colon, _)| {
                format!("{}:{}", &name[colon + 1..], &name[..colon]) == effect.factor
            })
        };
        let mut named = self.factors.iter();
        named.any(|name| *name == effect.factor || turned(name))
    }
}

/// What a table says about one response.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableResult {
    /// Which column.
    pub response: String,
    /// Its unit where its name says so for sure, otherwise `unknown`.
    pub unit: String,
    /// Rows behind the numbers.
    pub n: usize,
    /// Main effects, then interactions.
    pub effects: Vec<TableEffect>,
    /// Tests over several effects at once.
    pub tests: Vec<TableTest>,
    /// What a reader must know.
    pub warnings: Vec<TableWarning>,
}

/// What one level does against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableEffect {
    /// The factor, or `a:b` for the part that two do only together.
    pub factor: String,
    /// The level; for an interaction that of both, as `x:y`.
    pub level: String,
    /// What it is compared with.
    pub baseline: String,
    /// Level minus baseline by least squares, in the response's unit (in an experiment over pairs of
    /// the same block: what their ratio makes of the baseline); `None` where the table cannot tell it
    /// from something else.
    pub estimate: Option<f64>,
    /// Lower end of its 95 % interval; `None` where no degree of freedom is left.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How many times the baseline; above 1 is better, also for times and losses. It is the median
    /// over pairs of rows that differ in this factor only (Hodges-Lehmann on logarithms), or the
    /// ratio of the fitted values where there is no such pair. For an interaction: fitted with it
    /// over fitted without it.
    pub ratio: Option<f64>,
    /// Probability of such an estimate if there were no effect.
    pub p: Option<f64>,
    /// The same after Holm's correction over all effects and interactions of all responses, in which
    /// the interactions that were not named weigh at most as much together as what was asked.
    pub p_holm: Option<f64>,
    /// Against the band.
    pub verdict: Verdict,
    /// Whether it is judged by ratios of pairs in the same block, as in an experiment: two factors then
    /// do something only together where their effects do not multiply; otherwise, where they do not
    /// add up.
    #[serde(skip)]
    pub by_ratio: bool,
}

/// A test over several effects at once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableTest {
    /// `one_way_anova`, `kruskal_wallis`, `factor` or `interaction`.
    pub name: String,
    /// Over which factors, or pairs of them.
    pub over: Vec<String>,
    /// F, or H of Kruskal and Wallis.
    pub statistic: f64,
    /// Degrees of freedom: two for F, one for H.
    pub degrees_of_freedom: Vec<usize>,
    /// Probability of such a statistic if there were no difference.
    pub p: f64,
    /// The same after Holm's correction; only interactions are part of its family.
    pub p_holm: Option<f64>,
}

/// What a reader must know.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableWarning {
    /// Row of the data, 1 for the one under the header; `None` where it is about all of them.
    pub row: Option<usize>,
    /// Stable name: `unit_slip`, `outlier`, `aliased`, ...
    pub kind: String,
    /// One sentence.
    pub text: Message,
}

impl TableWarning {
    pub(crate) fn new(kind: &str, text: Message) -> Self {
        Self {
            row: None,
            kind: kind.into(),
            text,
        }
    }

    pub(crate) fn at(row: usize, kind: &str, text: Message) -> Self {
        Self {
            row: Some(row),
            ..Self::new(kind, text)
        }
    }
}

/// Analyses every response asked for, in that order. A response whose rows cannot answer, because
/// all of its values are the same or they are too few, is left out with a warning of the others.
///
/// # Errors
///
/// The table cannot answer the question: a column is missing or no number; or for no response it can:
/// every factor has one level, there are fewer rows than parameters, or every value is the same.
pub fn analyze(table: &Table, request: &Request) -> Result<Vec<TableResult>, Error> {
    if request.responses.is_empty() {
        return Err(Error::NoResponse);
    }
    if !(request.band.is_finite() && (0.0..1.0).contains(&request.band)) {
        return Err(Error::Band(request.band));
    }
    let runs = pseudoreplication::by_run(table, request)?;
    let table = runs.table.as_ref();
    let mut drafts = Vec::new();
    let mut refused = Vec::new();
    for response in &request.responses {
        match response_fit::draft(table, request, response) {
            Ok(draft) => drafts.push(draft),
            Err(error) if error.is_of_rows() => refused.push((response, error)),
            Err(error) => return Err(error),
        }
    }
    // One response says nothing against the others.
    let left_out: Vec<TableWarning> = refused
        .iter()
        .map(|(response, error)| {
            let text = match error {
                // Of the factor, which other responses may have more of.
                Error::OneLevel { .. } => {
                    say("table-left-out.response").with("response", shown(response))
                }
                _ => say("table-left-out"),
            };
            TableWarning::new("left_out", text.with("reason", error.message()))
        })
        .collect();
    if let (true, Some((_, error))) = (drafts.is_empty(), refused.into_iter().next()) {
        return Err(error);
    }
    let mut results = verdicts::judge(drafts, request.band);
    for result in &mut results {
        let of_table = table.warnings.iter().chain(&left_out);
        let of_table = of_table.chain(&runs.warnings);
        result.warnings.splice(0..0, of_table.cloned());
        let suspicion = duplicate_rows_and_drift::suspicion(table, request, &result.response);
        let is_no_rate = result
            .warnings
            .iter()
            .any(|one| one.kind == unit_slips_and_outliers::NO_RATE);
        let is_inconclusive = runs.is_inconclusive || suspicion.is_some() || is_no_rate;
        result.warnings.extend(suspicion);
        if is_inconclusive {
            for effect in &mut result.effects {
                effect.verdict = Verdict::Undecided;
            }
            // More of the same rows would settle nothing.
            result.warnings.retain(|warning| warning.kind != "power");
        }
    }
    Ok(results)
}
