//! Real runs, from the file on the disk to everything that people and programs read.

use std::path::Path;

use analysis::{RunAnalysis, analyze};
use record::Run;
use report::{Style, html, page};

use crate::json;

const RUNS: [&str; 4] = ["demo-check", "demo-tune", "busy-check", "busy-tune"];

fn real(name: &str) -> RunAnalysis {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let run = Run::read(&folder.join(format!("{name}.jsonl"))).expect("a run file");
    assert!(run.warnings.is_empty(), "{name}: {:?}", run.warnings);
    analyze(&run)
}

#[test]
fn real_runs_on_the_terminal() {
    for name in RUNS {
        insta::assert_snapshot!(format!("{name}-100"), page(&real(name), Style::default()));
    }
}

#[test]
fn real_runs_as_json() {
    for name in RUNS {
        let mut json = json(&real(name));
        json["facts"] = "as in the run file".into();
        let text = serde_json::to_string_pretty(&json).expect("it is JSON");
        insta::assert_snapshot!(format!("{name}-json"), text);
    }
}

#[test]
fn a_real_run_gives_the_same_bytes_each_time_it_is_read() {
    for name in RUNS {
        let (one, two) = (real(name), real(name));
        assert_eq!(html(&one), html(&two), "{name}");
        assert_eq!(json(&one).to_string(), json(&two).to_string(), "{name}");
        let style = Style::default();
        assert_eq!(page(&one, style), page(&two, style), "{name}");
    }
}

/// Ten seconds: a page that fits on a screen or a little more, however bad the machine was.
#[test]
fn a_real_run_is_read_in_ten_seconds() {
    for name in RUNS {
        let page = page(&real(name), Style::default());
        let lines = page.lines().count();
        assert!(lines <= 45, "{name} has {lines} lines");
        let known = page.split("\nto know\n").nth(1).unwrap_or_default();
        let items = known
            .lines()
            .filter(|line| line.starts_with("  - "))
            .count();
        assert!(items <= 7, "{name} has {items} things to know:\n{known}");
    }
}

#[test]
fn a_tile_of_an_open_effect_says_so_in_words() {
    let page = html(&real("demo-tune"));
    let tile = page
        .split("<span class=\"name\">read, MTU 9000</span>")
        .nth(1);
    let tile = tile.and_then(|rest| rest.split("</div>").next());
    assert!(
        tile.is_some_and(|tile| tile.contains("cannot be told")),
        "{tile:?}"
    );
}
