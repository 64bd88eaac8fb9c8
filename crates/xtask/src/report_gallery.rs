//! `xtask gallery`: a page for each hand-made run of the tests, for looking at; run files are drawn as well.

#[path = "../../report/tests/it/handmade_runs.rs"]
mod handmade_runs;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::lab_and_program::Result;

/// What is drawn, and where it goes.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder of the pages
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Run files to draw as well
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
}

pub fn run(
    Arguments {
        folder,
        runs: files,
    }: &Arguments,
) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut runs: Vec<(String, analysis::RunAnalysis)> = handmade_runs::all()
        .into_iter()
        .map(|(name, run)| (name.to_owned(), run))
        .collect();
    for path in files {
        let run = record::Run::read(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        runs.push((format!("run-{name}"), analysis::analyze(&run)));
    }
    for (name, run) in runs {
        fs::write(folder.join(format!("{name}.html")), report::html(&run))?;
        let style = report::Style::new(100, report::Colour::Ansi);
        fs::write(
            folder.join(format!("{name}.txt")),
            report::page(&run, style),
        )?;
    }
    let (check, tune) = (
        handmade_runs::check_one_link_of_two(),
        handmade_runs::tune_demo(),
    );
    let story = report::html_story("two links, one share", &handmade_runs::story(&check, &tune));
    Ok(fs::write(folder.join("story.html"), story)?)
}
