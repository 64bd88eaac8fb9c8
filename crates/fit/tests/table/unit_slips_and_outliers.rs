//! Slips of unit and outliers are named with their row, and honest tables are left in peace.

use fit::table::{Better, Request, Table, TableResult, analyze};

use crate::{effect, flat, one, texts, warnings};

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
                // Rows are no remedy for it.
                assert!(warnings(&result, "power").is_empty(), "{factor}");
                let said = flat(&slips[0].text);
                let exact = times < 1000.0 || said.contains(&format!(" times={times} "));
                assert!(exact, "{said}");
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

/// Two of an arm move its mean and the noise alike; and a run that failed has no logarithm.
#[test]
fn two_slips_in_one_arm_do_not_hide_each_other() {
    let named = |text: &str, factors: &[&str]| {
        let result = one(text, &Request::new(["mb_s"], factors.iter().copied()));
        let slips = warnings(&result, "unit_slip").into_iter();
        let mut rows: Vec<usize> = slips.map(|slip| slip.row.unwrap()).collect();
        rows.sort_unstable();
        rows
    };
    let rows = |arm: &str, values: &str| {
        let rows = values.split(' ').map(|value| format!("{arm},{value}\n"));
        rows.collect::<String>()
    };
    let off = rows("off", "100 101 102 103 100 101");
    let on = |values: &str| format!("a,mb_s\n{off}{}", rows("on", values));
    assert_eq!(
        named(&on("110 111 111 112 112000 113000"), &["a"]),
        [11, 12]
    );
    assert_eq!(named(&on("110 111 112000 113000"), &["a"]), [9, 10]);
    assert!(named(&on("110 111 111 112 140 150"), &["a"]).is_empty());
    let of_two = [
        rows("0,0", "100.1 100.2 100.3 100.4 100.5"),
        rows("0,1", "105.1 105.2 105.3 105.4 105.5"),
        rows("1,0", "110.1 110.2 110.3 110.4 110.5"),
        rows("1,1", "115.1 115.2 115.3 115400 115500"),
    ];
    let of_two = format!("a,b,mb_s\n{}", of_two.concat());
    assert_eq!(named(&of_two, &["a", "b"]), [19, 20]);
    let failed = on("110 111 112 113000").replacen(",100\n", ",0\n", 1);
    assert_eq!(named(&failed, &["a"]), [10]);
    let failed = format!(
        "a,mb_s\n{}{}",
        rows("off", "100 101 0"),
        rows("on", "110 113000 111")
    );
    assert_eq!(named(&failed, &["a"]), [5]);
}

/// Nobody writes milliseconds in bits, and a rate in bits is no MiB.
#[test]
fn a_unit_is_mixed_up_with_its_like_only() {
    let said = |response: &str, values: [&str; 8]| {
        let rows = values.iter().enumerate();
        let rows = rows.map(|(row, value)| format!("{},{value}\n", row / 4));
        let text = format!("a,{response}\n{}", rows.collect::<String>());
        let mut request = Request::new([response], ["a"]);
        request.better = Some(Better::Lower);
        let result = one(&text, &request);
        let kinds = ["unit_slip", "outlier"].map(|kind| warnings(&result, kind).len());
        (kinds, texts(&result, "unit_slip").concat())
    };
    let eighth = [
        "1.01", "1.02", "1.00", "1.01", "1.10", "1.11", "1.12", "8.8",
    ];
    assert_eq!(said("latency_ms", eighth).0, [0, 1]);
    assert_eq!(said("read_mb_s", eighth).0, [1, 0]);
    let counts = ["1", "1", "1", "1", "1", "1", "1", "8"];
    assert_eq!(said("retransmits", counts).0, [0, 1]);
    let thousand = [
        "1.01", "1.02", "1.00", "1.01", "1.10", "1.11", "1.12", "1110",
    ];
    let (kinds, text) = said("latency_ms", thousand);
    assert_eq!(kinds, [1, 0]);
    assert!(text.contains(" mixed_up=(table-mixed-up.time) "), "{text}");
    let binary = [
        "100.1", "100.2", "100.3", "100.2", "110.1", "110.2", "110.3", "115.5",
    ];
    assert_eq!(said("read_mb_s", binary).0, [1, 0]);
    assert_eq!(said("read_mbit_s", binary).0, [0, 1]);
}

/// As published: `62` beside `65` and `65` may be 61.5 beside 64.6 and 65.4.
#[test]
fn rounded_figures_are_no_slips_of_a_few_percent() {
    let published = include_str!("../published/smb1-vs-smb2-100mbit.csv");
    let responses = ["read_mbit_s", "write_mbit_s"];
    for result in responses.map(|response| one(published, &Request::new([response], ["dialect"]))) {
        assert!(
            warnings(&result, "unit_slip").is_empty(),
            "{:?}",
            result.warnings
        );
    }
    let text = "a,read_mb_s\n0,62\n0,65\n0,65\n1,81\n1,81\n1,85\n";
    let result = one(text, &Request::new(["read_mb_s"], ["a"]));
    assert!(
        warnings(&result, "unit_slip").is_empty(),
        "{:?}",
        result.warnings
    );
    let text = "a,read_mb_s\n0,21\n0,21\n0,21\n1,22\n1,21\n1,21\n";
    let result = one(text, &Request::new(["read_mb_s"], ["a"]));
    assert!(
        warnings(&result, "outlier").is_empty(),
        "{:?}",
        result.warnings
    );
}

#[test]
fn a_slip_shows_without_repeats_too() {
    let text = "mtu,mb_s\n1500,110\n2000,112\n4000,115\n9000,118000\n";
    let result = one(text, &Request::new(["mb_s"], ["mtu"]));
    let slips = warnings(&result, "unit_slip");
    assert_eq!(slips[0].row, Some(4), "{:?}", result.warnings);
    let said = flat(&slips[0].text);
    assert!(said.starts_with("table-slip.above row=4 "), "{said}");
    assert!(said.contains(" times=1000 "), "{said}");
}

#[test]
fn a_level_in_another_unit_is_named() {
    let text = "tool,speed\na,100\na,101\na,99\nb,800\nb,803\nb,797\n";
    let result = one(text, &Request::new(["speed"], ["tool"]));
    assert_eq!(
        texts(&result, "unit_slip")[0],
        "table-slip.level effect=tool=b times=8"
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

/// A link of 10 Gbit/s is ten times as fast, and what takes eight times as long is no unit.
#[test]
fn what_may_well_differ_so_much_is_in_no_other_unit() {
    let slips = |response: &str, levels: [&str; 2], times: f64| {
        let rows = [100.0, 101.0, 99.0]
            .map(|rate| format!("{},{rate}\n{},{}\n", levels[0], levels[1], rate * times));
        let text = format!("a,{response}\n{}", rows.concat());
        warnings(&one(&text, &Request::new([response], ["a"])), "unit_slip").len()
    };
    assert_eq!(slips("read_mb_s", ["1G", "10G"], 9.9), 0);
    assert_eq!(slips("read_mb_s", ["4K", "1M"], 8.0), 0);
    assert_eq!(slips("read_mb_s", ["1500", "9000"], 8.0), 1);
    assert_eq!(slips("read_mb_s", ["one", "ten"], 9.9), 1);
    assert_eq!(slips("time_s", ["one", "ten"], 8.0), 0);
    assert_eq!(slips("iops", ["one", "ten"], 8.0), 0);
}

#[test]
fn rows_that_only_the_other_one_checks_are_no_outliers() {
    let text = "a,y_mb_s\n0,94.1\n0,94.2\n1,1090\n1,1110\n";
    let result = one(text, &Request::new(["y_mb_s"], ["a"]));
    assert!(
        warnings(&result, "outlier").is_empty(),
        "{:?}",
        result.warnings
    );
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
            .map(|warning| (warning.row, flat(&warning.text)))
            .collect::<Vec<_>>()
    };
    let text = "table-no-rate row=1 value=0 MB/s";
    assert_eq!(named("no_rate"), [(Some(1), text.to_owned())]);
    let text = "table-spelling factor=lro one=On other=on";
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
