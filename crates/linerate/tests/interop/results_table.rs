//! What came of all jobs on all servers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::copy_and_ls_jobs::Job;
use super::job_environment::Outcome;
use super::servers::Server;

pub struct Row {
    server: &'static Server,
    version: String,
    job: &'static Job,
    outcome: Outcome,
}

impl Row {
    pub fn new(
        server: &'static Server,
        version: &str,
        job: &'static Job,
        outcome: Outcome,
    ) -> Self {
        Self {
            server,
            version: version.to_owned(),
            job,
            outcome,
        }
    }

    /// It is well, or refused where that is known of the server.
    pub fn is_known(&self) -> bool {
        match &self.outcome {
            Outcome::Ok | Outcome::Measured(_) => true,
            Outcome::Refused(_) => self
                .server
                .refuses
                .iter()
                .any(|(job, _)| *job == self.job.name),
            _ => false,
        }
    }

    pub fn shown(&self) -> String {
        let Self {
            server,
            job,
            outcome,
            ..
        } = self;
        let text = format!(
            "{}: {}: {} {}",
            server.name,
            job.name,
            outcome.word(),
            outcome.reason()
        );
        text.trim_end().to_owned()
    }
}

/// A row for each job, a column for each server, and what lies behind each word that is not `ok`.
pub fn text(rows: &[Row]) -> String {
    let mut servers: Vec<(&str, &str)> = Vec::new();
    let mut jobs: Vec<&Job> = Vec::new();
    for row in rows {
        if !servers.iter().any(|it| it.0 == row.server.name) {
            servers.push((row.server.name, &row.version));
        }
        if !jobs.iter().any(|it| it.name == row.job.name) {
            jobs.push(row.job);
        }
    }
    let mut text = "| job |".to_owned();
    for (name, version) in &servers {
        let _ = write!(text, " {name} {version} |");
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(servers.len()));
    text.push('\n');
    for job in jobs {
        let _ = write!(text, "| {}: {} |", job.name, job.says);
        for (server, _) in &servers {
            let found = rows
                .iter()
                .find(|it| it.server.name == *server && it.job.name == job.name);
            let _ = write!(text, " {} |", found.map_or("", |it| it.outcome.word()));
        }
        text.push('\n');
    }
    text
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes `docs/interop.md` and `target/interop/summary.json`.
pub fn write(rows: &[Row]) {
    let mut page = "# Other servers\n\n\
         `make interop` starts each server as its registry hands it out, does every job on it, and writes this page. \
         *ok*: the copy is the same. *refused*: what was not copied is named, with the reason. *lost*: it was not \
         named. *failed*: the program gave up.\n\n"
        .to_owned();
    page.push_str(&text(rows));
    page.push_str("\n## What is not ok\n\n");
    for row in rows.iter().filter(|it| it.outcome.word() != "ok") {
        let known = row
            .server
            .refuses
            .iter()
            .find(|(job, _)| *job == row.job.name);
        let _ = writeln!(page, "- {}", row.shown());
        if let Some((_, why)) = known {
            let _ = writeln!(page, "  ({why})");
        }
    }
    page.push_str("\n## What was measured\n\n");
    for row in rows {
        if let Outcome::Measured(said) = &row.outcome {
            let _ = writeln!(page, "- {}: {}: {said}", row.server.name, row.job.name);
        }
    }
    page.push_str("\n## Rules of MS-SMB2 that a server breaks\n\n");
    let mut done: Vec<&str> = Vec::new();
    for row in rows {
        if !done.contains(&row.server.name) {
            done.push(row.server.name);
            for (rule, what) in row.server.breaks {
                let _ = writeln!(page, "- {}: {rule}: {what}", row.server.name);
            }
        }
    }
    fs::write(root().join("docs/interop.md"), page).expect("space on the disk");
    let summary: Vec<_> = (rows.iter())
        .map(|it| {
            json!({
                "server": it.server.name, "version": it.version, "job": it.job.name,
                "outcome": it.outcome.word(),
            })
        })
        .collect();
    let summary = serde_json::to_string_pretty(&summary).expect("plain values");
    fs::write(root().join("target/interop/summary.json"), summary).expect("space on the disk");
}
