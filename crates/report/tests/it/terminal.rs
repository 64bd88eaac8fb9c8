use locale::Language;
use record::{Plan, ShareAddress};
use report::{Colour, Style, details, html, page, table};
use stats::Verdict;

use crate::{handmade_runs, json};

/// Columns as a terminal counts them; the fixtures' wide characters take two.
fn columns(line: &str) -> usize {
    line.chars()
        .map(|character| {
            if ('\u{2e80}'..'\u{a000}').contains(&character) {
                2
            } else {
                1
            }
        })
        .sum()
}

/// Read as a whole by somebody who knows the words of the field there.
#[test]
fn pages_in_japanese() {
    Language::Japanese.within(|| {
        for (name, run) in [
            ("check-share-slow", handmade_runs::check_share_slow()),
            (
                "check-one-link-of-two",
                handmade_runs::check_one_link_of_two(),
            ),
            ("check-two-channels", handmade_runs::check_two_channels()),
            ("tune-demo", handmade_runs::tune_demo()),
            ("tune-undecided", handmade_runs::tune_undecided()),
        ] {
            let page = page(&run, Style::default()) + &details(&run, Style::default());
            for line in page.lines() {
                let columns: usize = line
                    .chars()
                    .map(|one| 1 + usize::from(one > '\u{2e7f}'))
                    .sum();
                assert!(columns <= Style::COLUMNS_MAX, "{line}");
            }
            insta::assert_snapshot!(format!("{name}-ja"), page);
        }
    });
}

#[test]
fn pages_at_a_hundred_columns() {
    for (name, run) in handmade_runs::all() {
        insta::assert_snapshot!(format!("{name}-100"), page(&run, Style::default()));
    }
}

#[test]
fn pages_on_a_narrow_terminal() {
    for (name, run) in [
        (
            "check-one-link-of-two",
            handmade_runs::check_one_link_of_two(),
        ),
        ("tune-demo", handmade_runs::tune_demo()),
        ("bench-share-and-tcp", handmade_runs::bench()),
    ] {
        insta::assert_snapshot!(
            format!("{name}-50"),
            page(&run, Style::new(50, Colour::Plain))
        );
    }
}

#[test]
fn what_each_channel_carried_is_told_and_an_idle_one_on_the_first_page() {
    let run = handmade_runs::check_two_channels();
    let words = |page: String| page.split_whitespace().collect::<Vec<_>>().join(" ");
    let idle = "of 2 channels at once (read): `a1` to `10.77.2.2` carried 11.7 MB/s; its NICs are 9.9 % full";
    let page = words(page(&run, Style::default()));
    assert!(page.contains(idle), "{page}");
    assert!(!page.contains("`a0` to `10.77.1.2` carried"), "{page}");
    let said = words(details(&run, Style::default()));
    for line in [
        "read: all 2 together 128.7 MB/s [128.6, 128.8] in 2 trials, 1.101x [1.100, 1.102] at 46.9 % of one alone (`a0` to \
         `10.77.1.2`, 116.9 MB/s): the same within a tenth",
        "read: `a1` to `10.77.2.2` carried 11.7 MB/s [11.7, 11.7], 9.1 % of the whole; its NICs are 9.9 % full",
        "not measured: what there would be without any other one of them",
        "small files write: 0 sent again by us, congestion control `cubic` at our end and `bbr` set at the server's host",
        "fullest processor 75 %, soft interrupts 25 %), the hosts over the whole trial",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(html(&run).contains("<code>bbr</code> set at the server's host"));
    let several = &json(&run)["diagnosis"]["multichannel"][0];
    assert_eq!(several["alone"]["verdict"], "equivalent");
    assert_eq!(several["channels"][1]["rate"]["value"], 11.7e6);
    assert_eq!(several["channels"][1]["nic"], "a1");
}

#[test]
fn a_sweep_says_median_interval_and_cost_as_far_as_there_is_room() {
    let run = handmade_runs::sweep();
    let row = |columns| {
        let page = page(&run, Style::new(columns, Colour::Plain));
        let mut rows = page.lines().filter(|line| line.contains('█'));
        let row = rows.find(|line| line.contains("115.0 MB/s"));
        row.unwrap_or_else(|| panic!("{page}"))
            .trim_end()
            .to_owned()
    };
    let (known, cost) = ("112.7 MB/s [110.4, 115.0]", "0.21 CPU s/GB");
    let (wide, middle, narrow) = (row(100), row(75), row(50));
    assert!(wide.contains(known) && wide.contains(cost), "{wide}");
    assert!(middle.contains(known) && !middle.contains(cost), "{middle}");
    assert!(!narrow.contains(known), "{narrow}");
    assert!([wide, middle, narrow].iter().all(|row| row.contains('█')));
    let page = page(&run, Style::default());
    let words: Vec<&str> = page.split_whitespace().collect();
    let page = words.join(" ");
    assert!(
        page.contains("write 104.0 MB/s or 99.2 MiB/s, read 115.0 MB/s or 109.7 MiB/s"),
        "{page}"
    );
}

#[test]
fn what_no_link_can_have_carried_is_marked_and_no_headline() {
    let mut run = handmade_runs::sweep();
    run.bench[3].exceeded = Some(106e6);
    let page = page(&run, Style::default());
    let words: Vec<&str> = page.split_whitespace().collect();
    let page = words.join(" ");
    assert!(
        page.contains("`64 KiB` read: more than the 106.0 MB/s that fit through the NICs in use"),
        "{page}"
    );
    assert!(
        page.contains("at most read 31.0 MB/s (4 KiB), write 104.0 MB/s"),
        "{page}"
    );
    assert!(
        page.contains("write 104.0 MB/s or 99.2 MiB/s, read 31.0 MB/s or 29.6 MiB/s"),
        "{page}"
    );
    assert!(html(&run).contains("that fit through the NICs in use"));
    assert_eq!(json(&run)["bench"][3]["more_than_fits"], 106e6);
}

#[test]
fn no_line_of_any_page_is_wider_than_asked() {
    for (name, run) in handmade_runs::all() {
        for width in [0, 40, 47, 64, 78, 80, 99, 100, 250] {
            let style = Style::new(width, Colour::Plain);
            for line in page(&run, style).lines() {
                assert!(
                    columns(line) <= width.clamp(40, 100),
                    "{name} at {width}: `{line}`"
                );
            }
        }
    }
}

#[test]
fn no_name_can_steer_the_terminal() {
    let run = handmade_runs::check_hostile();
    let plain = page(&run, Style::default());
    assert!(
        plain
            .chars()
            .all(|character| character == '\n' || !character.is_control())
    );
    assert!(!plain.contains('\u{202e}'));
    assert!(
        !plain
            .lines()
            .any(|line| line.starts_with("# fake") || line.starts_with("verdict:"))
    );

    let coloured = page(&run, Style::new(100, Colour::Ansi));
    for after in coloured.split('\u{1b}').skip(1) {
        let (code, _) = after
            .split_once('m')
            .expect("every escape sequence is one of ours");
        assert!(
            [
                "[0", "[1", "[2", "[31", "[32", "[33", "[1;31", "[1;32", "[1;33"
            ]
            .contains(&code),
            "{code}"
        );
    }
}

#[test]
fn colour_changes_no_word() {
    for (name, run) in handmade_runs::all() {
        let plain = page(&run, Style::default());
        let mut stripped = String::new();
        let coloured = page(&run, Style::new(100, Colour::Ansi));
        let mut pieces = coloured.split('\u{1b}');
        stripped.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            stripped.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
        }
        assert_eq!(plain, stripped, "{name}");
        assert!(coloured.len() > plain.len(), "{name} has no colour at all");
    }
}

#[test]
fn no_page_prints_what_is_no_number() {
    for (name, run) in handmade_runs::all() {
        let page = page(&run, Style::default());
        for word in page.split(|character: char| !character.is_alphanumeric()) {
            assert!(
                !["NaN", "inf", "nan", "infinity"].contains(&word),
                "{name}: {page}"
            );
        }
    }
}

#[test]
fn tables_keep_the_width_and_clean_their_cells() {
    let long = "y".repeat(300);
    let rows = vec![
        vec![
            "17".into(),
            "lab://demo/client".into(),
            "`nic.mtu` a0 1500 -> 9000".into(),
            "open".into(),
        ],
        vec![
            "18".into(),
            format!("\u{1b}[31m{long}"),
            "写真".repeat(60),
            "a\nb".into(),
        ],
    ];
    let headers = ["change", "host", "what", "state"];
    for width in [40, 60, 80, 100] {
        let text = table(&headers, &rows, Style::new(width, Colour::Plain));
        assert!(!text.contains('\u{1b}'));
        for line in text.lines() {
            assert!(columns(line) <= width, "at {width}: `{line}`");
        }
    }
    insta::assert_snapshot!("table-100", table(&headers, &rows, Style::default()));
}

/// The lines below a heading, up to the next empty line.
fn below<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let mut lines = page.lines().skip_while(|line| *line != heading).skip(1);
    lines.by_ref().take_while(|line| !line.is_empty()).collect()
}

#[test]
fn a_busy_person_gets_six_things_to_know_and_the_report_all_of_them() {
    let mut run = handmade_runs::tune_unsteady();
    let page = page(&run, Style::default());
    let items = |page: &str| {
        let lines = below(page, "to know");
        let items = lines.into_iter().filter(|line| line.starts_with("  - "));
        items.map(str::to_owned).collect::<Vec<_>>()
    };
    let shown = items(&page);
    assert!(shown.len() <= 7, "{shown:?}");
    assert_eq!(shown[0], "  - the second link was down for 2 s");
    assert!(
        shown
            .last()
            .is_some_and(|last| last.ends_with(" more in the report"))
    );
    // An arm is named where its verdict is open, and not where all is decided.
    assert!(
        shown
            .iter()
            .any(|line| line.contains("`both links by multichannel` arm A write"))
    );
    assert!(
        !shown.iter().any(|line| line.contains("`MTU 9000` arm")),
        "{shown:?}"
    );
    let html = report::html(&run);
    assert!(
        html.contains("arm B write (confirm): the values rise"),
        "{html}"
    );
    assert!(html.contains("change <code>1-fbd0</code> was opened, undone"));

    // Nothing but details: they are for the report, and no list.
    run.notes.clear();
    run.experiments.retain(|one| one.experiment == "mtu-9000");
    for effect in &mut run.experiments[0].effects {
        effect.ratio.caveats.clear();
    }
    let page = report::page(&run, Style::default());
    assert!(items(&page).is_empty(), "{page}");
}

#[test]
fn the_headline_of_a_tune_says_what_the_machine_allowed() {
    let headline = |run: &analysis::RunAnalysis| {
        let json = json(run);
        json["headline"].as_str().expect("a headline").to_owned()
    };
    let mut run = handmade_runs::tune_unsteady();
    assert_eq!(
        headline(&run),
        "kept 1 of 3 changes: `MTU 9000` (read 1.05x, write 1.05x); the machine was too unsteady for \
         fine differences, so what was not kept may still help"
    );
    // What could not be told is not claimed.
    run.experiments[2].effects[2].verdict = Verdict::Undecided;
    assert!(headline(&run).contains("`MTU 9000` (read cannot be told, write 1.05x)"));
    run.experiments[2].effects[2].verdict = Verdict::Equivalent;
    assert!(headline(&run).contains("`MTU 9000` (read as before, write 1.05x)"));
    run.untried.clear();
    run.experiments.remove(1);
    assert!(headline(&run).ends_with("; the machine was too unsteady for fine differences"));
    // The band is what counts: what is lost below it does not matter.
    for noise in &mut run.experiments[0].noise {
        noise.smallest_detectable = Some(0.019);
    }
    assert!(!headline(&run).contains("unsteady"));

    run.experiments.truncate(1);
    run.untried = handmade_runs::tune_unsteady().untried;
    assert_eq!(
        headline(&run),
        "nothing was tried; nothing to try: it is so already"
    );
    assert_eq!(
        headline(&handmade_runs::tune_alarm()),
        "nothing was tried: the machine is too unsteady, the same came out different from itself"
    );
}

#[test]
fn a_change_that_did_not_go_back_is_an_alert() {
    let mut run = handmade_runs::tune_unsteady();
    run.changes[0].restored = Some(false);
    let alert = "change `1-fbd0` was undone, but the hosts do not read back";
    assert!(page(&run, Style::default()).contains(alert));
    assert!(report::html(&run).contains("role=\"note\">change <code>1-fbd0</code>"));
}

#[test]
fn ids_and_short_texts_stay_whole_in_tables_as_long_as_they_can() {
    let headers = [
        "host",
        "setting",
        "before -> changed to",
        "reads now",
        "outcome",
    ];
    let rows = [
        [
            "lab://demo/client",
            "net.ipv4.tcp_congestion_control",
            "cubic -> bbr",
            "reno",
            "somebody else has set it meanwhile; `--force` puts it back all the same",
        ],
        [
            "ssh://nas",
            "nic.mtu lan2",
            "1500 -> 9000",
            "1500",
            "put back",
        ],
    ];
    let rows: Vec<Vec<String>> = (rows.iter())
        .map(|row| row.map(str::to_owned).to_vec())
        .collect();
    let at = |columns| {
        let text = table(&headers, &rows, Style::new(columns, Colour::Plain));
        for line in text.lines() {
            assert!(line.chars().count() <= columns, "{line}");
        }
        text
    };
    let all = [120, 80, 60].map(at).join("\n");
    insta::assert_snapshot!("tables-120-80-60", all);
}

/// The next command logs in as this one did.
#[test]
fn suggested_commands_repeat_how_one_logged_in() {
    let mut run = handmade_runs::check_one_link_of_two();
    let login = ["--guest", "--dialect-max", "3.0"];
    run.login_options = login.map(str::to_owned).into();
    run.user = Some("WORK;ann".into());
    let diagnosis = run.diagnosis.as_mut().expect("a diagnosis");
    diagnosis.fixes[2].elsewhere = Some(ShareAddress {
        server: "fd77::2".into(),
        port: 4450,
        share: "data".into(),
        path: "big files".into(),
    });
    let words: Vec<String> = page(&run, Style::default())
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let words = words.join(" ");
    assert!(
        words.contains("lab://demo/server --guest --dialect-max 3.0` tries"),
        "{words}"
    );
    let page = report::html(&run);
    let rest = "--client lab://demo/client --server lab://demo/server --guest --dialect-max 3.0";
    for command in [
        "tune 'smb://WORK;ann@10.77.1.2/data'",
        "check 'smb://WORK;ann@10.77.1.2/data'",
        "check 'smb://WORK;ann@[fd77::2]:4450/data/big files'",
    ] {
        let command = format!("linerate {command} {rest}");
        assert!(page.contains(&command), "`{command}` is not there");
    }
    assert!(!page.contains("cannot be tried here"), "{page}");
}

/// Of an experiment everything is known but where its plan is.
#[test]
fn an_experiment_is_repeated_with_its_own_command() {
    let run = handmade_runs::empty(Plan::Experiment {
        target: "smb://10.77.1.2/data".into(),
        title: "some".into(),
    });
    let command =
        "linerate experiment run PLAN --target smb://10.77.1.2/data --client lab://demo/client";
    assert!(report::html(&run).contains(command));
}
