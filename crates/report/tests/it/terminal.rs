use report::{Colour, Look, table, text};

use crate::fixtures;

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

#[test]
fn pages_at_a_hundred_columns() {
    for (name, run) in fixtures::all() {
        insta::assert_snapshot!(format!("{name}-100"), text(&run, Look::default()));
    }
}

#[test]
fn pages_on_a_narrow_terminal() {
    for (name, run) in [
        ("check-one-link-of-two", fixtures::check_one_link_of_two()),
        ("tune-demo", fixtures::tune_demo()),
        ("bench-share-and-tcp", fixtures::bench()),
    ] {
        insta::assert_snapshot!(
            format!("{name}-50"),
            text(&run, Look::new(50, Colour::Plain))
        );
    }
}

#[test]
fn no_line_of_any_page_is_wider_than_asked() {
    for (name, run) in fixtures::all() {
        for width in [0, 40, 47, 64, 78, 80, 99, 100, 250] {
            let look = Look::new(width, Colour::Plain);
            for line in text(&run, look).lines() {
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
    let run = fixtures::check_hostile();
    let plain = text(&run, Look::default());
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

    let coloured = text(&run, Look::new(100, Colour::Ansi));
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
    for (name, run) in fixtures::all() {
        let plain = text(&run, Look::default());
        let mut stripped = String::new();
        let coloured = text(&run, Look::new(100, Colour::Ansi));
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
    for (name, run) in fixtures::all() {
        let page = text(&run, Look::default());
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
        let text = table(&headers, &rows, Look::new(width, Colour::Plain));
        assert!(!text.contains('\u{1b}'));
        for line in text.lines() {
            assert!(columns(line) <= width, "at {width}: `{line}`");
        }
    }
    insta::assert_snapshot!("table-100", table(&headers, &rows, Look::default()));
}
