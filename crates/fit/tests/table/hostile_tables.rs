//! No text makes the analysis panic, and what it answers can always be written as JSON.

use fit::table::{Better, Interactions, Request, Table, analyze};
use proptest::prelude::*;

/// Whatever comes out has no number that JSON does not know.
fn holds(table: &Table, request: &Request) -> Result<(), TestCaseError> {
    match analyze(table, request) {
        Ok(results) => {
            for result in &results {
                let text = serde_json::to_string(result).unwrap();
                prop_assert!(
                    result.effects.iter().all(|effect| {
                        let numbers = [
                            effect.estimate,
                            effect.low,
                            effect.high,
                            effect.ratio,
                            effect.p,
                        ];
                        numbers.into_iter().flatten().all(f64::is_finite)
                    }),
                    "{text}"
                );
                let probable = |p: Option<f64>| p.is_none_or(|p| (0.0..=1.0).contains(&p));
                prop_assert!(
                    result
                        .effects
                        .iter()
                        .all(|effect| probable(effect.p) && probable(effect.p_holm)),
                    "{text}"
                );
                prop_assert!(
                    result
                        .tests
                        .iter()
                        .all(|test| test.statistic.is_finite() && probable(Some(test.p))),
                    "{text}"
                );
            }
        }
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

/// Small tables with few different cells, so that many of them get past the checks.
fn small_table() -> impl Strategy<Value = String> {
    let cell = prop_oneof![Just("off"), Just("on"), Just("1500"), Just("9000")];
    let number = prop_oneof![
        (0_u32..5).prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        (1.0_f64..1000.0).prop_map(|number| format!("{number:.2}")),
        Just(String::new()),
    ];
    let row = (cell.clone(), cell.clone(), cell, number)
        .prop_map(|(a, b, c, y)| format!("{a},{b},{c},{y}\n"));
    prop::collection::vec(row, 1..24).prop_map(|rows| format!("a,b,c,y\n{}", rows.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        if let Ok(table) = Table::from_csv(&text) {
            let columns: Vec<String> = table.columns().map(str::to_owned).collect();
            let (response, factors) = columns.split_last().expect("a table has a column");
            holds(&table, &Request::new([response.clone()], factors.to_vec()))?;
        }
        let _ = Table::from_arms(&[("a".into(), text)]);
    }

    #[test]
    fn text_like_a_table_is_read_or_refused(text in "([a-c0-9.,;\"#\n -]|1e3|nan|inf|off){0,200}") {
        if let Ok(table) = Table::from_csv(&text) {
            let columns: Vec<String> = table.columns().map(str::to_owned).collect();
            let (response, factors) = columns.split_last().expect("a table has a column");
            holds(&table, &Request::new([response.clone()], factors.to_vec()))?;
        }
    }

    #[test]
    fn any_small_table_is_analysed_or_refused(text in small_table(), blocked: bool, named: bool, screened: bool) {
        let table = Table::from_csv(&text).expect("cells without quotes");
        let mut factors = vec!["a", "b"];
        factors.extend(named.then_some("a:b"));
        factors.extend((!blocked).then_some("c"));
        let mut request = Request::new(vec!["y"], factors);
        request.blocks = blocked.then(|| "c".into());
        request.better = named.then_some(Better::Lower);
        if !screened {
            request.interactions = Interactions::Ignored;
        }
        holds(&table, &request)?;
    }

    #[test]
    fn text_like_json_is_read_or_refused(text in "(\\{|\\}|\"end\":|\"jobs\":|\"results\":|\"times\":|\"read\":|\"sum\":|\"bw\":|\"bits_per_second\":|\\[|\\]|,|1e999|-1|2|null){0,30}") {
        let arms = [("a".to_owned(), text.clone()), ("b".to_owned(), text)];
        if let Ok((table, request)) = Table::from_arms(&arms) {
            holds(&table, &request)?;
        }
    }
}

/// The largest table that is taken, with as many factors as are screened, is done in reasonable time; the
/// bounds are what keeps it so.
#[test]
fn the_largest_table_is_analysed() {
    let factors = 15;
    let names: Vec<String> = (0..factors).map(|factor| format!("f{factor}")).collect();
    let mut text = format!("{},y_mb_s\n", names.join(","));
    let mut state = 1_u64;
    for _ in 0..10_000 {
        for _ in 0..factors {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(if state >> 63 == 0 { "off," } else { "on," });
        }
        text.push_str(&format!("{}\n", 100 + (state >> 40) % 7));
    }
    let table = Table::from_csv(&text).unwrap();
    let result = &analyze(&table, &Request::new(vec!["y_mb_s".to_owned()], names)).unwrap()[0];
    assert_eq!((result.n, result.effects.len()), (10_000, 15 + 105));
    assert!(result.effects.iter().all(|effect| effect.p.is_some()));
}

/// Many rows of a few factors take a moment each, and a factor of many levels is refused before the work
/// is begun.
#[test]
fn many_rows_are_analysed_and_too_much_work_is_refused() {
    let rows = |count: usize, levels: usize| {
        let mut text = String::from("f,g,y_mb_s\n");
        for row in 0..count {
            text.push_str(&format!(
                "{},{},{}\n",
                row % 2,
                row / 2 % levels,
                100 + row % 7
            ));
        }
        Table::from_csv(&text).unwrap()
    };
    let request = Request::new(["y_mb_s"], ["f", "g"]);
    let result = &analyze(&rows(50_000, 2), &request).unwrap()[0];
    assert_eq!((result.n, result.effects.len()), (50_000, 3));
    let named = Request::new(["y_mb_s"], ["f", "g", "f:g"]);
    assert!(analyze(&rows(90_000, 60), &named).is_err());
}
