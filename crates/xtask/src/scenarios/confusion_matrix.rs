//! What was named against what is wrong: a table, a confusion matrix, and the figures to be reached.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab::{ExpectedState, Lesson};
use serde_json::{Value, json};

use super::diagnosis_judge::{Checked, NOTHING, Verdict, View};

/// How long a check may take.
const SECONDS_MAX: f64 = 120.0;
/// Of the checks whose cause can be proven, how many percent prove it.
const PROVEN_PERCENT: usize = 70;

/// All checks of one scenario.
pub struct Row {
    pub name: String,
    pub lesson: Lesson,
    pub checks: Vec<Checked>,
    /// How long all of it took, with bringing labs up and down.
    pub seconds: f64,
}

impl Row {
    fn is_healthy(&self) -> bool {
        self.lesson.both_ends.causes.is_empty()
    }

    fn from(&self, view: View) -> impl Iterator<Item = &Checked> {
        self.checks.iter().filter(move |check| check.view == view)
    }

    /// What was named, each once, with how often.
    fn named(&self, view: View) -> String {
        let names = counted(self.from(view).map(Checked::named));
        let names = names.into_iter().map(|(name, count)| match count {
            1 => name,
            _ => format!("{name} x{count}"),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn mark(&self, view: View) -> String {
        let verdicts = self.from(view).map(|check| check.verdict(&self.lesson));
        let verdicts = counted(verdicts.map(Verdict::as_str));
        match verdicts.as_slice() {
            [] => "-".to_owned(),
            [(verdict, _)] => (*verdict).to_owned(),
            several => {
                let each = several.iter().map(|(verdict, n)| format!("{n} {verdict}"));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    }

    pub fn json(&self) -> Value {
        let checks = self.checks.iter().map(|check| check.json(&self.lesson));
        let expected = View::ALL.map(|view| {
            let expected = view.expected(&self.lesson);
            json!({
                "view": view.as_str(),
                "causes": expected.causes,
                "state": expected.state.as_str(),
                "not_knowable": expected.not_knowable,
            })
        });
        json!({
            "scenario": self.name,
            "title": self.lesson.title,
            "injected": self.lesson.both_ends.causes,
            "expected": expected,
            "checks": checks.collect::<Vec<_>>(),
            "seconds": self.seconds,
        })
    }
}

/// Each once, in the order of the first, with how often.
fn counted<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for one in all {
        match counts.iter_mut().find(|(known, _)| *known == one) {
            Some((_, count)) => *count += 1,
            None => counts.push((one, 1)),
        }
    }
    counts
}

/// One table for people.
pub fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 7]| {
        let [
            name,
            injected,
            both,
            verdict,
            client,
            client_verdict,
            seconds,
        ] = cells;
        writeln!(
            text,
            "{name:26} | {injected:28} | {both:34} | {verdict:17} | {client:34} | {client_verdict:17} | {seconds:>7}"
        )
        .expect("a String has room");
    };
    line([
        "scenario",
        "injected",
        "first, from both ends",
        "verdict",
        "first, from the client alone",
        "verdict",
        "seconds",
    ]);
    for row in rows {
        line([
            &row.name,
            &injected(&row.lesson),
            &row.named(View::BothEnds),
            &row.mark(View::BothEnds),
            &row.named(View::Client),
            &row.mark(View::Client),
            &format!("{:.1}", row.seconds),
        ]);
    }
    text
}

fn injected(lesson: &Lesson) -> String {
    match lesson.both_ends.causes.as_slice() {
        [] => "nothing".to_owned(),
        causes => causes.join(" or "),
    }
}

/// How often which cause came first, in which state, from which view, for which injected one.
pub fn matrix(rows: &[Row]) -> Value {
    let mut cells: BTreeMap<[String; 4], usize> = BTreeMap::new();
    for row in rows {
        for check in &row.checks {
            let (named, state) = match (&check.causes, check.first()) {
                (None, _) => (Verdict::Failed.as_str(), "-"),
                (_, None) => (NOTHING, "-"),
                (_, Some(first)) => (first.id.as_str(), first.state.as_str()),
            };
            let injected = row.lesson.both_ends.causes.first();
            let injected = injected.map_or("nothing", String::as_str);
            let cell = [check.view.as_str(), injected, named, state].map(str::to_owned);
            *cells.entry(cell).or_default() += 1;
        }
    }
    let cells = cells.into_iter().map(|([view, injected, first, state], count)| {
        json!({ "view": view, "injected": injected, "first": first, "state": state, "count": count })
    });
    Value::Array(cells.collect())
}

/// The matrix for people: what was injected, and below it what came first.
pub fn matrix_text(rows: &[Row]) -> String {
    let mut text = String::new();
    let matrix = matrix(rows);
    let word = |cell: &Value, field: &str| cell[field].as_str().unwrap_or_default().to_owned();
    let mut last = (String::new(), String::new());
    for cell in matrix.as_array().into_iter().flatten() {
        let group = (word(cell, "view"), word(cell, "injected"));
        if group != last {
            writeln!(text, "{}: {}", group.0, group.1).expect("a String has room");
            last = group;
        }
        let (first, state) = (word(cell, "first"), word(cell, "state"));
        let same = if first == last.1 { "=" } else { " " };
        writeln!(text, "  {same} {first:26} {state:12} {:>3}", cell["count"])
            .expect("a String has room");
    }
    text
}

/// Something that was promised, and what came of it.
pub struct Figure {
    pub what: String,
    pub found: String,
    pub wanted: String,
    pub reached: bool,
}

impl Figure {
    pub fn text(&self) -> String {
        let mark = if self.reached { "reached" } else { "MISSED" };
        format!(
            "{mark:7} | {} | {} | wanted: {}",
            self.what, self.found, self.wanted
        )
    }

    pub fn json(&self) -> Value {
        json!({
            "what": self.what,
            "found": self.found,
            "wanted": self.wanted,
            "reached": self.reached,
        })
    }
}

/// What the rows say of what was promised, as far as they say anything of it.
pub fn figures(rows: &[Row]) -> Vec<Figure> {
    let (healthy, broken): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_healthy());
    let mut figures = Vec::new();
    for view in View::ALL {
        figures.extend(right_first(&broken, view));
    }
    let all = || checks(rows.iter());
    if all().next().is_some() {
        let wrong = all().filter(|(check, lesson)| !check.wrong_proven(lesson).is_empty());
        let wrong = wrong.count();
        figures.push(Figure {
            what: "checks that say a wrong cause is proven".into(),
            found: format!("{wrong} of {}", all().count()),
            wanted: "none".into(),
            reached: wrong == 0,
        });
        figures.push(slowest(rows));
    }
    if !healthy.is_empty() {
        let all = || checks(healthy.iter().copied());
        let wrong = all().filter(|(check, lesson)| check.verdict(lesson) != Verdict::Right);
        let wrong = wrong.count();
        figures.push(Figure {
            what: "checks that name a cause, or fail, where nothing is wrong".into(),
            found: format!("{wrong} of {}", all().count()),
            wanted: "none".into(),
            reached: wrong == 0,
        });
    }
    figures.extend(proven(&broken));
    figures
}

fn checks<'a>(
    rows: impl Iterator<Item = &'a Row>,
) -> impl Iterator<Item = (&'a Checked, &'a Lesson)> {
    rows.flat_map(|row| row.checks.iter().map(|check| (check, &row.lesson)))
}

/// How often the right cause came first from one view, and what came instead.
fn right_first(broken: &[&Row], view: View) -> Option<Figure> {
    let verdicts = checks(broken.iter().copied()).filter(|(check, _)| check.view == view);
    let verdicts: Vec<Verdict> = verdicts
        .map(|(check, lesson)| check.verdict(lesson))
        .collect();
    if verdicts.is_empty() {
        return None;
    }
    let all = verdicts.len();
    let right = verdicts.iter().filter(|verdict| verdict.is_right_first());
    let right = right.count();
    let others = Verdict::ALL.into_iter().filter_map(|verdict| {
        let count = verdicts.iter().filter(|one| **one == verdict).count();
        (!verdict.is_right_first() && count > 0).then(|| format!(", {count} {}", verdict.as_str()))
    });
    Some(Figure {
        what: format!("right first, {}", view.as_str()),
        found: format!("{right} of {all}{}", others.collect::<String>()),
        wanted: format!("{all} of {all}"),
        reached: right == all,
    })
}

/// How often a cause that can be proven was.
fn proven(broken: &[&Row]) -> Option<Figure> {
    let provable = checks(broken.iter().copied()).filter(|(check, lesson)| {
        let expected = check.view.expected(lesson);
        !expected.causes.is_empty() && expected.state == ExpectedState::Proven
    });
    let provable: Vec<_> = provable.collect();
    let all = provable.len();
    let proven = provable.iter().filter(|(check, lesson)| {
        let first = check.first();
        check.verdict(lesson) == Verdict::Right
            && first.is_some_and(|first| first.state == "proven")
    });
    let proven = proven.count();
    (all > 0).then(|| Figure {
        what: "right first and proven, where it can be".into(),
        found: format!("{proven} of {all}"),
        wanted: format!("{PROVEN_PERCENT} %"),
        reached: 100 * proven >= PROVEN_PERCENT * all,
    })
}

fn slowest(rows: &[Row]) -> Figure {
    let seconds = checks(rows.iter()).map(|(check, _)| check.seconds);
    let slowest = seconds.fold(0.0, f64::max);
    Figure {
        what: "time of the slowest check".into(),
        found: format!("{slowest:.1} s"),
        wanted: format!("at most {SECONDS_MAX:.0} s"),
        reached: slowest <= SECONDS_MAX,
    }
}
