//! What was named against what is wrong, and the figures that should be reached.

use std::fmt::Write;

use lab::Lesson;
use serde_json::{Value, json};

/// What is written where no cause was named.
pub const NOTHING: &str = "none";
/// Faults of which one may be missed.
const LIBRARY: usize = 18;
/// Of that many faults, how many have to be named without looking at the server.
const FROM_ONE_END: usize = 12;
/// How long a check may take.
const SECONDS_MAX: f64 = 60.0;

/// What one check said.
pub struct Checked {
    pub with_server: bool,
    /// With the usual repetitions.
    pub full: bool,
    pub named: String,
    pub headline: Option<String>,
    pub seconds: f64,
}

impl Checked {
    pub fn is_right(&self, causes: &[String]) -> bool {
        if causes.is_empty() {
            return self.named == NOTHING;
        }
        causes.contains(&self.named)
    }
}

/// All checks of one scenario.
pub struct Row {
    pub name: &'static str,
    pub lesson: Lesson,
    pub checks: Vec<Checked>,
}

impl Row {
    fn is_healthy(&self) -> bool {
        self.lesson.causes.is_empty()
    }

    /// How many of the checks from both ends or from one were right, and how many there were.
    fn right(&self, with_server: bool) -> (usize, usize) {
        let mut of = self
            .checks
            .iter()
            .filter(|check| check.with_server == with_server);
        let all = of.clone().count();
        let right = of
            .by_ref()
            .filter(|check| check.is_right(&self.lesson.causes));
        (right.count(), all)
    }

    /// What was named, each once, with how often.
    fn named(&self, with_server: bool) -> String {
        let mut names: Vec<(&str, usize)> = Vec::new();
        let checks = self.checks.iter();
        for check in checks.filter(|check| check.with_server == with_server) {
            match names.iter_mut().find(|(name, _)| *name == check.named) {
                Some((_, count)) => *count += 1,
                None => names.push((&check.named, 1)),
            }
        }
        let names = names.into_iter().map(|(name, count)| match count {
            1 => name.to_owned(),
            _ => format!("{name} x{count}"),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn slowest(&self) -> f64 {
        let seconds = self.checks.iter().map(|check| check.seconds);
        seconds.fold(0.0, f64::max)
    }

    fn mark(&self, with_server: bool) -> &'static str {
        match self.right(with_server) {
            (_, 0) => "-",
            (right, all) if right == all => "yes",
            (0, _) => "NO",
            _ => "PARTLY",
        }
    }

    pub fn json(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            json!({
                "with_server": check.with_server,
                "full": check.full,
                "named": check.named,
                "right": check.is_right(&self.lesson.causes),
                "headline": check.headline,
                "seconds": check.seconds,
            })
        });
        json!({
            "scenario": self.name,
            "title": self.lesson.title,
            "injected": self.lesson.causes,
            "asked_without_server": self.lesson.without_server,
            "checks": checks.collect::<Vec<_>>(),
        })
    }
}

/// One table for people.
pub fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 7]| {
        let [name, injected, with, right, without, right_without, seconds] = cells;
        writeln!(
            text,
            "{name:23} | {injected:22} | {with:28} | {right:6} | {without:26} | {right_without:6} | {seconds:>7}"
        )
        .expect("a String has room");
    };
    line([
        "scenario",
        "injected",
        "named with server",
        "right",
        "named without server",
        "right",
        "seconds",
    ]);
    for row in rows {
        let injected = match row.lesson.causes.as_slice() {
            [] => "nothing".to_owned(),
            causes => causes.join(" or "),
        };
        line([
            row.name,
            &injected,
            &row.named(true),
            row.mark(true),
            &row.named(false),
            row.mark(false),
            &format!("{:.1}", row.slowest()),
        ]);
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
    if !broken.is_empty() {
        figures.push(named(&broken, true, |all| all - (all + 1) / LIBRARY));
        let least = |all: usize| (all * FROM_ONE_END).div_ceil(LIBRARY);
        figures.push(named(&broken, false, least));
    }
    if !healthy.is_empty() {
        let checks = || healthy.iter().flat_map(|row| &row.checks);
        let wrong = checks().filter(|check| check.named != NOTHING).count();
        figures.push(Figure {
            what: "causes that were named where nothing is wrong".into(),
            found: format!("{wrong} in {} checks", checks().count()),
            wanted: "none".into(),
            reached: wrong == 0,
        });
    }
    let full = rows.iter().flat_map(|row| &row.checks);
    let slowest = full.map(|check| check.seconds).fold(0.0, f64::max);
    if slowest > 0.0 {
        figures.push(Figure {
            what: "time of the slowest check".into(),
            found: format!("{slowest:.1} s"),
            wanted: format!("under {SECONDS_MAX:.0} s"),
            reached: slowest < SECONDS_MAX,
        });
    }
    figures
}

/// Scenarios whose every check was right.
fn named(rows: &[&Row], with_server: bool, least: impl Fn(usize) -> usize) -> Figure {
    let asked = rows.iter().filter(|row| row.right(with_server).1 > 0);
    let all = asked.clone().count();
    let right = asked.filter(|row| {
        let (right, all) = row.right(with_server);
        right == all
    });
    let (right, least) = (right.count(), least(all));
    let ends = if with_server {
        "from both ends"
    } else {
        "from one end"
    };
    Figure {
        what: format!("scenarios whose fault was named first each time, {ends}"),
        found: format!("{right} of {all}"),
        wanted: format!("{least} of {all}"),
        reached: right >= least,
    }
}
