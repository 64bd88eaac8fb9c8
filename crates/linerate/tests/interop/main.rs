//! `linerate copy` and `ls` against servers of other makers, each as its registry hands it out.
//!
//! Without `LINERATE_INTEROP`, some jobs on three servers. With `LINERATE_INTEROP=all`, every job on every
//! server, the table `docs/interop.md` and `target/interop/summary.json`; with words in place of `all`,
//! the jobs and servers whose names contain one of them.

mod copy_and_ls_jobs;
mod file_trees;
mod job_environment;
mod posix_extension_jobs;
mod results_table;
mod servers;
mod slow_or_cut_proxy;
mod two_links_against_one;

use std::io::Write as _;
use std::time::{Duration, Instant};

use copy_and_ls_jobs::{JOBS, Job};
use job_environment::Stage;
use results_table::Row;
use servers::{SERVERS, Server};

/// The most that the jobs of `make test` may take.
const BUDGET: Duration = Duration::from_secs(180);

/// Each job ends well, or with a refusal that names what was not copied, and that is known of that server.
#[test]
fn no_server_loses_anything() {
    let begun = Instant::now();
    let wanted = std::env::var("LINERATE_INTEROP").ok();
    let words: Vec<&str> = wanted.iter().flat_map(|it| it.split(' ')).collect();
    let named = |name: &str| {
        words
            .iter()
            .any(|word| *word == "all" || name.contains(word))
    };
    let no_server = !SERVERS.iter().any(|it| named(it.name));
    let no_job = !JOBS.iter().any(|it| named(it.name));
    let servers = SERVERS.iter().filter(|it| match wanted {
        Some(_) => named(it.name) || no_server,
        None => it.always,
    });
    let jobs: Vec<&Job> = (JOBS.iter())
        .filter(|it| match wanted {
            Some(_) => named(it.name) || no_job,
            None => it.always,
        })
        .collect();
    let mut rows = Vec::new();
    for server in servers {
        rows.extend(run(server, &jobs));
    }
    let text = results_table::text(&rows);
    say(&text);
    if wanted.as_deref() == Some("all") {
        results_table::write(&rows);
    }
    let seconds = begun.elapsed().as_secs();
    say(&format!(
        "{} jobs in {seconds} s; the budget is {} s",
        rows.len(),
        BUDGET.as_secs()
    ));
    let wrong: Vec<String> = rows
        .iter()
        .filter(|it| !it.is_known())
        .map(Row::shown)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        wanted.is_some() || begun.elapsed() < BUDGET,
        "the jobs of `make test` took {seconds} s"
    );
}

/// A server that speaks nothing newer is named as such, with what to do.
#[test]
fn a_server_of_smb_1_is_named() {
    std::thread::scope(|scope| {
        let on_server = scope.spawn(|| {
            let running = servers::SMB_1.start();
            let stage = Stage::new(&running, "smb 1");
            let said = stage.run(&["ls", &stage.url("")]);
            assert_eq!(said.code, Some(65), "{}", said.stderr);
            for words in ["speaks SMB 1 only", "turn on SMB 2 or 3"] {
                assert!(said.stderr.contains(words), "{}", said.stderr);
            }
        });
        on_server.join().expect("its panic says why");
    });
}

/// Prints a line at once, also where tests are heard only when they fail.
fn say(line: &str) {
    // Whoever does not listen misses nothing that fails a test.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// On a thread of its own, which is in the server's network from then on.
fn run(server: &'static Server, jobs: &[&'static Job]) -> Vec<Row> {
    std::thread::scope(|scope| {
        let on_server = scope.spawn(|| {
            let mut running = server.start();
            let mut rows = Vec::new();
            for job in jobs.iter().filter(|it| it.fits(server)) {
                // A kernel that has met a fault of its own is no server any more.
                let has_fault = running.kernel_fault().is_some();
                if has_fault || (job.links > 1 && !rows.is_empty()) {
                    drop(running);
                    running = server.start();
                }
                if server.links() > 1 {
                    running.settle();
                }
                let begun = Instant::now();
                let outcome = (job.run)(&Stage::new(&running, job.name));
                let row = Row::new(server, running.version(), job, outcome);
                say(&format!(
                    "{} ({:.1} s)",
                    row.shown(),
                    begun.elapsed().as_secs_f64()
                ));
                if let Some(fault) = running.kernel_fault() {
                    say(&format!("{}: its kernel after that: {fault}", server.name));
                }
                rows.push(row);
            }
            rows
        });
        on_server.join().expect("its panic says why")
    })
}
