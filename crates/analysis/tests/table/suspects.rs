//! Slips of unit and outliers are named with their row, and honest tables are left in peace.

use analysis::table::{Request, Table, TableResult, analyze};

use crate::{effect, one, warnings};

/// Four arms of four runs each, 0.4 % noise; one row may be multiplied.
fn table(slip: Option<(usize, f64)>) -> String {
    let noise = [
        0.3, -0.5, 0.1, 0.4, -0.2, 0.5, -0.4, 0.0, 0.2, -0.1, -0.3, 0.45, 0.05, -0.45, 0.25, -0.15,
    ];
    let mut text = "# a note\nlro,tso,read_mb_s\n".to_owned();
    for (row, noise) in noise.into_iter().enumerate() {
        let [lro, tso] = [row / 4 % 2, row / 8].map(|bit| ["off", "on"][bit]);
        let value = 100.0 + 40.0 * (row / 4 % 2) as f64 + 5.0 * (row / 8) as f64 + noise;
        let times = slip
            .filter(|(place, _)| *place == row + 1)
            .map_or(1.0, |(_, times)| times);
        text.push_str(&format!("{lro},{tso},{:.4}\n", value * times));
    }
    text
}

fn analysed(text: &str) -> TableResult {
    one(text, &Request::new(["read_mb_s"], ["lro", "tso"]))
}

#[test]
fn an_honest_table_has_no_suspects() {
    let result = analysed(&table(None));
    assert!(result.warnings.is_empty(), "{:?}", result.warnings);
}

#[test]
fn slips_of_unit_are_named_with_their_row() {
    for times in [1000.0, 1024.0, 8.0, 1.048_576] {
        for row in [1, 7, 16] {
            for factor in [times, 1.0 / times] {
                let result = analysed(&table(Some((row, factor))));
                let slips = warnings(&result, "unit_slip");
                assert_eq!(
                    slips.len(),
                    1,
                    "{factor} in row {row}: {:?}",
                    result.warnings
                );
                assert_eq!(slips[0].row, Some(row), "{factor}");
                let exact =
                    times < 1000.0 || slips[0].text.contains(&format!("about {times} times"));
                assert!(exact, "{}", slips[0].text);
            }
        }
    }
}

#[test]
fn one_slip_does_not_hide_another() {
    let text = table(Some((3, 1000.0))).replace(",145.0500", ",1160.4000");
    assert!(text.contains("1160.4000"));
    let result = analysed(&text);
    let rows: Vec<_> = warnings(&result, "unit_slip")
        .iter()
        .map(|warning| warning.row)
        .collect();
    assert_eq!(rows, [Some(3), Some(13)], "{:?}", result.warnings);
}

#[test]
fn a_slip_shows_without_repeats_too() {
    let text = "mtu,mb_s\n1500,110\n2000,112\n4000,115\n9000,118000\n";
    let result = one(text, &Request::new(["mb_s"], ["mtu"]));
    let slips = warnings(&result, "unit_slip");
    assert_eq!(slips[0].row, Some(4), "{:?}", result.warnings);
    assert!(
        slips[0].text.contains("about 1000 times above"),
        "{}",
        slips[0].text
    );
}

#[test]
fn a_level_in_another_unit_is_named() {
    let text = "tool,speed\na,100\na,101\na,99\nb,800\nb,803\nb,797\n";
    let result = one(text, &Request::new(["speed"], ["tool"]));
    assert_eq!(
        warnings(&result, "unit_slip")[0].text,
        "all rows of `tool=b` are about 8 times apart: another unit?"
    );
}

/// Two arms in other units are seldom also equally fast.
#[test]
fn a_level_in_another_unit_is_named_with_room_for_a_difference() {
    let slips = |times: f64| {
        let rows = [100.0, 101.0, 99.0].map(|rate| format!("a,{rate}\nb,{}\n", rate * times));
        let text = format!("tool,speed\n{}", rows.concat());
        warnings(&one(&text, &Request::new(["speed"], ["tool"])), "unit_slip").len()
    };
    for times in [8.44, 6.6, 850.0, 1.0 / 1200.0] {
        assert_eq!(slips(times), 1, "{times}");
    }
    for times in [2.0, 5.0, 20.0, 1.05] {
        assert_eq!(slips(times), 0, "{times}");
    }
}

#[test]
fn an_outlier_is_named_and_kept() {
    let result = analysed(&table(Some((5, 1.3))));
    let outliers = warnings(&result, "outlier");
    assert_eq!(outliers[0].row, Some(5), "{:?}", result.warnings);
    assert_eq!(result.n, 16);
    assert!(effect(&result, "lro", "on").estimate.unwrap() > 41.0);
}

/// In the published table of NIC parameters each combination was measured once.
#[test]
fn a_slip_shows_in_a_published_table() {
    let published = include_str!("../published/atto360-nic-parameters.csv");
    let mut request = Request::new(
        ["write_mb_s"],
        ["smb_signing", "lro", "tso", "flow_control"],
    );
    request.only = vec![("profile".into(), "default".into())];
    assert!(warnings(&one(published, &request), "unit_slip").is_empty());
    for (from, to, row) in [
        (",895.23", ",895230", 8),
        (",583.85", ",0.58385", 11),
        (",715.87", ",5726.96", 2),
    ] {
        let result = one(&published.replace(from, to), &request);
        let slips = warnings(&result, "unit_slip");
        assert_eq!(slips.len(), 1, "{to}: {:?}", result.warnings);
        assert_eq!(slips[0].row, Some(row));
    }
}

#[test]
fn what_is_no_rate_and_what_is_spelled_in_two_ways_is_named() {
    let result = one(
        "lro,read_mb_s\noff,0\noff,100\noff,101\noff,102\non,120\nOn,121\non,122\non,123\n",
        &Request::new(["read_mb_s"], ["lro"]),
    );
    let named = |kind: &str| {
        let found = result
            .warnings
            .iter()
            .filter(|warning| warning.kind == kind);
        found
            .map(|warning| (warning.row, warning.text.clone()))
            .collect::<Vec<_>>()
    };
    let text = "row 1: 0 MB/s is no rate: if the run failed, leave the cell empty or the row out";
    assert_eq!(named("no_rate"), [(Some(1), text.to_owned())]);
    let text = "`lro` has `On` and `on`, taken as two levels: is it one, written in two ways?";
    assert_eq!(named("spelling"), [(None, text.to_owned())]);
}

#[test]
fn a_baseline_of_nothing_has_no_ratio() {
    let on = [119.0, 119.6, 119.4, 119.7, 119.4, 120.7, 119.2, 119.3];
    let rows = on.iter().enumerate().map(|(row, value)| {
        let mtu = ["1500", "9000"][row % 2];
        format!("off,{mtu},0\non,{mtu},{value}\n")
    });
    let text = format!("lro,mtu,read_mb_s\n{}", rows.collect::<String>());
    let table = Table::from_csv(&text).unwrap();
    let result = analyze(&table, &Request::new(["read_mb_s"], ["lro", "mtu"])).unwrap();
    let lro = &result[0].effects[0];
    assert!(lro.estimate.unwrap() > 100.0, "{lro:?}");
    assert_eq!(lro.ratio, None);
}
