//! Writes a page for each hand-made run of the tests into a folder, for looking at:
//! `cargo run -p report --example gallery FOLDER [RUN...]`; run files are drawn as well.

#[path = "../tests/it/fixtures.rs"]
mod fixtures;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    std::fs::create_dir_all(&folder)?;
    let mut runs: Vec<(String, analysis::RunAnalysis)> = fixtures::all()
        .into_iter()
        .map(|(name, run)| (name.to_owned(), run))
        .collect();
    for path in std::env::args_os().skip(2).map(PathBuf::from) {
        let run = record::Run::read(&path).map_err(std::io::Error::other)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        runs.push((format!("run-{name}"), analysis::analyze(&run)));
    }
    for (name, run) in runs {
        std::fs::write(folder.join(format!("{name}.html")), report::html(&run))?;
        let style = report::Style::new(100, report::Colour::Ansi);
        std::fs::write(
            folder.join(format!("{name}.txt")),
            report::page(&run, style),
        )?;
    }
    let (check, tune) = (fixtures::check_one_link_of_two(), fixtures::tune_demo());
    let story = report::html_story("two links, one share", &fixtures::story(&check, &tune));
    std::fs::write(folder.join("story.html"), story)
}
