//! What was asked of a table, as rows, factors and columns of a model.

use std::collections::{BTreeMap, BTreeSet};

use locale::say;

use super::csv_table::{Table, shown};
use super::error::Error;
use super::factor_levels::{LEVELS_MAX, plain, sort_levels};
use super::gram_schmidt_least_squares::Basis;
use super::row_selection::{check_values, chosen_rows, complete};
use super::{Request, TableWarning};

const PARAMETERS_MAX: usize = 256;
/// Cells of the model's matrix, each of which takes some eighty bytes while it is fitted; the work grows
/// with their number times that of the parameters.
const CELLS_MAX: usize = 1 << 19;

/// A column that was varied.
pub(super) struct Factor {
    pub(super) name: String,
    /// The baseline first.
    pub(super) levels: Vec<String>,
    /// Place in `levels` of each row.
    pub(super) of_row: Vec<usize>,
}

impl Factor {
    fn new(table: &Table, name: &str, column: usize, rows: &[usize]) -> Self {
        let found: BTreeSet<&str> = rows.iter().map(|row| table.cell(*row, column)).collect();
        let mut levels: Vec<&str> = found.into_iter().collect();
        sort_levels(&mut levels);
        let places: BTreeMap<&str, usize> = levels.iter().copied().zip(0..).collect();
        Self {
            name: name.into(),
            of_row: rows
                .iter()
                .map(|row| places[table.cell(*row, column)])
                .collect(),
            levels: levels.into_iter().map(str::to_owned).collect(),
        }
    }

    fn of_rows(&self, places: &[usize]) -> Self {
        Self {
            name: self.name.clone(),
            levels: self.levels.clone(),
            of_row: places.iter().map(|place| self.of_row[*place]).collect(),
        }
    }
}

/// What a column of the model stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Main {
        factor: usize,
        level: usize,
    },
    Pair {
        factors: [usize; 2],
        levels: [usize; 2],
    },
}

impl Term {
    pub(super) fn involves(self, factor: usize) -> bool {
        match self {
            Self::Main { factor: own, .. } => own == factor,
            Self::Pair { factors, .. } => factors.contains(&factor),
        }
    }
}

/// The rows of one response that are complete, and the model over them.
pub(super) struct Design {
    pub(super) response: String,
    /// Whether people may have written the figures, which mistake units and programs do not.
    pub(super) typed: bool,
    pub(super) values: Vec<f64>,
    /// Row of the data of each value, from 1.
    pub(super) rows: Vec<usize>,
    pub(super) factors: Vec<Factor>,
    pub(super) block: Option<Factor>,
    /// Plot of each row, counted from 0.
    pub(super) plots: Option<Vec<usize>>,
    /// Interactions that were named.
    pub(super) pairs: Vec<[usize; 2]>,
    /// In the order in which they enter the model.
    pub(super) terms: Vec<Term>,
}

impl Design {
    /// # Errors
    ///
    /// The table cannot answer the question.
    pub(super) fn new(
        table: &Table,
        request: &Request,
        response: &str,
        warnings: &mut Vec<TableWarning>,
    ) -> Result<Self, Error> {
        let (mains, named): (Vec<&String>, Vec<&String>) = request
            .factors
            .iter()
            .partition(|factor| table.column(factor).is_ok() || !factor.contains(':'));
        if mains.is_empty() {
            return Err(Error::NoFactor);
        }
        check_roles(request, &mains)?;
        let place = table.column(response)?;
        let columns = mains
            .iter()
            .map(|factor| table.column(factor))
            .collect::<Result<Vec<_>, _>>()?;
        let block = request
            .blocks
            .as_deref()
            .map(|block| table.column(block))
            .transpose()?;
        let plot = request.plots.as_deref().map(|plot| table.column(plot));
        let plot = plot.transpose()?;
        let chosen = chosen_rows(table, request)?;
        let (rows, values) = complete(
            table,
            &chosen,
            place,
            columns.iter().chain(&block).chain(&plot),
            warnings,
        )?;
        check_values(response, &values)?;
        check_baselines(request, &mains)?;
        let columns: Vec<_> = mains.iter().copied().zip(columns).collect();
        let asked = &request.baselines;
        let (factors, places) = varied((table, response), &columns, &rows, asked, warnings)?;
        let block = block_factor(table, request, block, &rows);
        let plots = plot.map(|column| plots(table, column, &rows, block.as_ref()));
        let pairs = pairs(&named, &mains, &places)?;
        let mut design = Self {
            response: response.into(),
            typed: table.typed,
            values,
            rows: rows.iter().map(|row| row + 1).collect(),
            factors,
            block,
            plots,
            pairs,
            terms: Vec::new(),
        };
        design.terms = design.model()?;
        Ok(design)
    }

    /// The same model of some of the rows, without plots.
    pub(super) fn of_rows(&self, places: &[usize]) -> Self {
        let mut block = self.block.as_ref().map(|block| block.of_rows(places));
        // Every block that is counted has a row.
        let mut known = BTreeMap::new();
        for own in block.iter_mut().flat_map(|block| &mut block.of_row) {
            let next = known.len();
            *own = *known.entry(*own).or_insert(next);
        }
        let factors = self.factors.iter();
        Self {
            response: self.response.clone(),
            typed: self.typed,
            values: places.iter().map(|place| self.values[*place]).collect(),
            rows: places.iter().map(|place| self.rows[*place]).collect(),
            factors: factors.map(|factor| factor.of_rows(places)).collect(),
            block,
            plots: None,
            pairs: self.pairs.clone(),
            terms: self.terms.clone(),
        }
    }

    /// Levels that people may mean as one.
    pub(super) fn spellings(&self) -> Vec<TableWarning> {
        let mut warnings = Vec::new();
        for factor in self.factors.iter().chain(&self.block) {
            let mut known: BTreeMap<String, &String> = BTreeMap::new();
            for level in &factor.levels {
                let Some(other) = known.insert(plain(level), level) else {
                    continue;
                };
                let text = say("table-spelling")
                    .with("factor", shown(&factor.name))
                    .with("one", shown(other))
                    .with("other", shown(level));
                warnings.push(TableWarning::new("spelling", text));
            }
        }
        warnings
    }

    pub(super) const fn len(&self) -> usize {
        self.values.len()
    }

    /// The columns of the interaction of two factors, each at another level than the baseline.
    pub(super) fn pair_terms(&self, factors: [usize; 2]) -> impl Iterator<Item = Term> {
        let [first, second] = factors.map(|factor| self.factors[factor].levels.len());
        (1..first).flat_map(move |one| {
            (1..second).map(move |other| Term::Pair {
                factors,
                levels: [one, other],
            })
        })
    }

    /// Where a term is present, as 0 and 1.
    pub(super) fn column(&self, term: Term) -> Vec<f64> {
        let at =
            |factor: usize, level: usize, row: usize| self.factors[factor].of_row[row] == level;
        (0..self.len())
            .map(|row| match term {
                Term::Main { factor, level } => at(factor, level, row),
                Term::Pair { factors, levels } => {
                    (0..2).all(|place| at(factors[place], levels[place], row))
                }
            })
            .map(|present| if present { 1.0 } else { 0.0 })
            .collect()
    }

    /// Whether a column has one value in each plot.
    pub(super) fn is_between_plots(&self, column: &[f64]) -> bool {
        let mut first: BTreeMap<usize, f64> = BTreeMap::new();
        let plots = self.plots.iter().flatten();
        plots
            .zip(column)
            .all(|(plot, value)| *first.entry(*plot).or_insert(*value) == *value)
    }

    /// The block of each row, from 0; without blocks all rows are one.
    pub(super) fn groups(&self) -> Vec<usize> {
        let block = self.block.as_ref();
        block.map_or_else(|| vec![0; self.len()], |block| block.of_row.clone())
    }

    /// The model's columns, or those that a condition keeps.
    pub(super) fn basis(&self, keep: impl Fn(Term) -> bool) -> Basis {
        let mut basis = Basis::new(self.groups());
        for term in self.terms.iter().filter(|term| keep(**term)) {
            basis.push(&self.column(*term));
        }
        basis
    }

    /// A term as people write it.
    pub(super) fn name(&self, term: Term) -> String {
        match term {
            Term::Main { factor, level } => {
                let factor = &self.factors[factor];
                format!("`{}={}`", factor.name, shown(&factor.levels[level]))
            }
            Term::Pair { factors, .. } => format!("`{}`", self.pair_name(factors)),
        }
    }

    pub(super) fn pair_name(&self, factors: [usize; 2]) -> String {
        factors
            .map(|factor| self.factors[factor].name.as_str())
            .join(":")
    }

    /// Per row: which combination of all factors it is, as places of the levels.
    pub(super) fn arms(&self) -> Vec<Vec<usize>> {
        let arm = |row: usize| {
            self.factors
                .iter()
                .map(|factor| factor.of_row[row])
                .collect()
        };
        (0..self.len()).map(arm).collect()
    }

    fn model(&self) -> Result<Vec<Term>, Error> {
        let levels = |factor: &Factor| factor.levels.len() - 1;
        let blocks = self.block.as_ref().map_or(1, |block| block.levels.len());
        let mains: usize = self.factors.iter().map(levels).sum();
        let pairs = self.pairs.iter();
        let pairs: usize = pairs
            .map(|pair| {
                pair.map(|factor| levels(&self.factors[factor]))
                    .iter()
                    .product::<usize>()
            })
            .sum();
        let columns = 1 + mains + pairs;
        if columns > PARAMETERS_MAX {
            return Err(Error::too_large("parameters", PARAMETERS_MAX));
        }
        if columns * self.len() > CELLS_MAX {
            return Err(Error::too_large("rows times parameters", CELLS_MAX));
        }
        let parameters = blocks + mains + pairs;
        if parameters > self.len() {
            return Err(Error::TooFewRows {
                response: shown(&self.response),
                rows: self.len(),
                parameters,
            });
        }
        let mut terms = Vec::new();
        for (place, factor) in self.factors.iter().enumerate() {
            let levels = 1..factor.levels.len();
            terms.extend(levels.map(|level| Term::Main {
                factor: place,
                level,
            }));
        }
        for pair in &self.pairs {
            terms.extend(self.pair_terms(*pair));
        }
        Ok(terms)
    }
}

fn check_baselines(request: &Request, mains: &[&String]) -> Result<(), Error> {
    for (column, _) in &request.baselines {
        if !mains.contains(&column) {
            return Err(Error::NotAFactor(shown(column)));
        }
    }
    Ok(())
}

/// The blocks as a factor; one block is none.
fn block_factor(
    table: &Table,
    request: &Request,
    column: Option<usize>,
    rows: &[usize],
) -> Option<Factor> {
    let block = match (column, &request.blocks) {
        (Some(column), Some(name)) => Some(Factor::new(table, name, column, rows)),
        _ => None,
    };
    block.filter(|block| block.levels.len() > 1)
}

/// The plot of each row, counted from 0; none goes on in another block.
fn plots(table: &Table, column: usize, rows: &[usize], block: Option<&Factor>) -> Vec<usize> {
    let mut known = BTreeMap::new();
    let plot = |(place, row): (usize, &usize)| {
        let block = block.map(|block| block.of_row[place]);
        let next = known.len();
        *known
            .entry((block, table.cell(*row, column)))
            .or_insert(next)
    };
    rows.iter().enumerate().map(plot).collect()
}

fn check_roles(request: &Request, mains: &[&String]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for name in request
        .responses
        .iter()
        .chain(mains.iter().copied())
        .chain(&request.blocks)
    {
        if !seen.insert(name) {
            return Err(Error::TwoRoles(shown(name)));
        }
    }
    Ok(())
}

/// The factors that were varied in these rows, and of each that was named its place among them.
fn varied(
    (table, response): (&Table, &str),
    columns: &[(&String, usize)],
    rows: &[usize],
    baselines: &[(String, String)],
    warnings: &mut Vec<TableWarning>,
) -> Result<(Vec<Factor>, Vec<Option<usize>>), Error> {
    let (mut factors, mut places) = (Vec::new(), Vec::new());
    let mut refused = None;
    for (name, column) in columns {
        let asked = baselines.iter().find(|(factor, _)| factor == *name);
        // Not each response has rows of each of the table's own.
        let mut own = table.baselines.iter().filter(|(factor, level)| {
            let mut cells = rows.iter().map(|row| table.cell(*row, *column));
            factor == *name && cells.any(|cell| cell == level)
        });
        let baseline = asked.or_else(|| own.next());
        let baseline = baseline.map(|(_, level)| level.as_str());
        match factor((table, response), name, *column, rows, baseline) {
            Ok(factor) => {
                places.push(Some(factors.len()));
                factors.push(factor);
            }
            Err(error @ (Error::OneLevel { .. } | Error::NoBaseline { .. })) => {
                places.push(None);
                let text = say("table-left-out").with("reason", error.message());
                warnings.push(TableWarning::new("left_out", text));
                refused.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    match refused {
        Some(error) if factors.is_empty() => Err(error),
        _ => Ok((factors, places)),
    }
}

fn factor(
    (table, response): (&Table, &str),
    name: &str,
    column: usize,
    rows: &[usize],
    baseline: Option<&str>,
) -> Result<Factor, Error> {
    let mut factor = Factor::new(table, name, column, rows);
    if let [only] = factor.levels.as_slice() {
        return Err(Error::OneLevel {
            factor: shown(name),
            level: shown(only),
            rows: rows.len(),
        });
    }
    if factor.levels.len() > LEVELS_MAX {
        return Err(Error::TooManyLevels {
            factor: shown(name),
        });
    }
    if let Some(baseline) = baseline {
        let Some(place) = factor.levels.iter().position(|level| level == baseline) else {
            if (0..table.rows()).any(|row| table.cell(row, column) == baseline) {
                return Err(Error::NoBaseline {
                    response: shown(response),
                    factor: shown(name),
                    level: shown(baseline),
                });
            }
            return Err(Error::NoSuchLevel {
                column: shown(name),
                cell: shown(baseline),
                cells: table.cells(column),
            });
        };
        factor.levels[..=place].rotate_right(1);
        for own in &mut factor.of_row {
            *own = match (*own).cmp(&place) {
                std::cmp::Ordering::Less => *own + 1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => *own,
            };
        }
    }
    Ok(factor)
}

/// The interactions that were named, of factors that were varied.
fn pairs(
    named: &[&String],
    mains: &[&String],
    places: &[Option<usize>],
) -> Result<Vec<[usize; 2]>, Error> {
    let pairs = named
        .iter()
        .map(|name| pair(name, mains))
        .collect::<Result<BTreeSet<_>, _>>()?
        .into_iter()
        .filter_map(|[one, other]| Some([places[one]?, places[other]?]))
        .collect();
    Ok(pairs)
}

fn pair(name: &str, mains: &[&String]) -> Result<[usize; 2], Error> {
    let place = |name: &str| mains.iter().position(|main| *main == name);
    // A name may contain a colon itself, so every one is tried.
    let split = name.match_indices(':').find_map(|(colon, _)| {
        let [one, other] = [place(&name[..colon])?, place(&name[colon + 1..])?];
        (one != other).then_some([one.min(other), one.max(other)])
    });
    split.ok_or_else(|| Error::BadInteraction(shown(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, responses: &[&str], factors: &[&str]) -> String {
        let table = Table::from_csv(text).unwrap();
        let request = Request::new(responses.iter().copied(), factors.iter().copied());
        super::super::analyze(&table, &request)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let text = "a,b,c,y,z,w\n1,x,1,10,5,q\n2,x,2,11,5,q\n1,x,3,12,5,q\n2,x,4,13,5,q\n";
        assert_eq!(
            refused(text, &["y"], &["b"]),
            "factor `b` has one level, `x`, in all 4 rows"
        );
        assert_eq!(
            refused(text, &["z"], &["a"]),
            "every row of `z` has the same value, 5"
        );
        assert_eq!(
            refused(text, &["w"], &["a"]),
            "row 1, column `w`: `q` is not a number"
        );
        assert_eq!(
            refused(text, &["y"], &["a", "c"]),
            "4 rows of `y` cannot tell 5 parameters apart"
        );
        assert_eq!(refused(text, &["y"], &["d"]), "there is no column `d`");
        assert_eq!(
            refused(text, &["y"], &["y"]),
            "column `y` is asked for twice, as factor, response or block"
        );
        assert_eq!(
            refused(text, &["y"], &["a", "a:b"]),
            "`a:b` is not an interaction of two of the factors"
        );
        assert_eq!(
            refused("a,y\non,1\n", &["y"], &["a"]),
            "1 rows of `y` cannot tell 2 parameters apart"
        );
        assert!(refused(text, &[], &["a"]).starts_with("no response was given"));
        assert!(refused(text, &["y"], &[]).starts_with("no factor was given"));
        let large = "a,y\n1,1e200\n2,2e200\n1,1e200\n";
        assert_eq!(
            refused(large, &["y"], &["a"]),
            "the values of `y` are too large or too small to calculate with"
        );
    }

    #[test]
    fn a_measurement_is_no_factor() {
        let rows: String = (0..80).map(|row| format!("{row}.5,{row}\n")).collect();
        let text = format!("a,y\n{rows}");
        assert!(refused(&text, &["y"], &["a"]).starts_with("factor `a` has more than 64 levels"));
    }
}
