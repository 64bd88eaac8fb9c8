//! What cannot be estimated is said, and the form of the answer.

use fit::table::{Better, Interactions, Request, Table, analyze};
use stats::Verdict;

use crate::{effect, flat, one, texts, warnings};

#[test]
fn the_answer_serialises_to_the_agreed_names() {
    let text = "nic,read_mb_s\na,100\na,101\nb,150\nb,151\n";
    let result = one(text, &Request::new(["read_mb_s"], ["nic"]));
    let json = serde_json::to_value(&result).unwrap();
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(keys(&json), "effects n response tests unit warnings");
    assert_eq!(
        keys(&json["effects"][0]),
        "baseline estimate factor high level low p p_holm ratio verdict"
    );
    assert_eq!(json["effects"][0]["verdict"], "better");
    let none = one(
        "nic,read_mb_s\na,100\nb,150\n",
        &Request::new(["read_mb_s"], ["nic"]),
    );
    let json = serde_json::to_value(&none).unwrap();
    assert_eq!(keys(&json["warnings"][0]), "kind row text");
    assert!(json["warnings"][0]["row"].is_null() && json["effects"][0]["low"].is_null());
}

#[test]
fn factors_that_were_changed_together_are_estimated_as_neither() {
    let text = "a,b,c,y_mb_s\noff,off,1,10\non,on,1,20\noff,off,2,11\non,on,2,22\noff,off,1,10.5\n";
    let result = one(text, &Request::new(["y_mb_s"], ["a", "b", "c"]));
    for factor in ["a", "b"] {
        let aliased = effect(&result, factor, "on");
        assert_eq!(
            (aliased.estimate, aliased.p, aliased.ratio),
            (None, None, None)
        );
        assert_eq!(aliased.verdict, Verdict::Undecided);
    }
    assert!(effect(&result, "c", "2").estimate.is_some());
    assert_eq!(
        texts(&result, "aliased")[0],
        "table-alias.changed-together effects=(plain text=`a=on`) effect=`b=on`"
    );
}

/// In half a 2^4 design of resolution IV each interaction is one with another.
#[test]
fn interactions_of_a_half_fraction_are_named_in_pairs() {
    let mut text = "a,b,c,d,y_mb_s\n".to_owned();
    let noise = [0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 0.0, -0.1];
    for (run, noise) in noise.into_iter().enumerate() {
        let [a, b, c] = [run & 1, run >> 1 & 1, run >> 2];
        let d = (a + b + c) % 2;
        text.push_str(&format!(
            "{a},{b},{c},{d},{}\n",
            100.0 + 10.0 * a as f64 + 7.0 * (a * b) as f64 + noise
        ));
    }
    let result = one(&text, &Request::new(["y_mb_s"], ["a", "b", "c", "d"]));
    let said = texts(&result, "aliased");
    assert_eq!(
        said,
        [
            "table-alias.one-contrast pairs=`a:b`,`c:d`",
            "table-alias.one-contrast pairs=`a:c`,`b:d`",
            "table-alias.one-contrast pairs=`a:d`,`b:c`",
        ]
    );
    assert!(effect(&result, "a:b", "1:1").estimate.is_none());
    let both = result
        .tests
        .iter()
        .find(|test| test.over == ["a:b", "c:d"])
        .unwrap();
    assert!(both.p < 0.01 && both.p_holm.unwrap() > both.p, "{both:?}");
}

#[test]
fn an_interaction_that_is_a_main_effect_is_said_to_be_one() {
    let text =
        "a,b,c,y_mb_s\n0,0,1,10\n1,0,0,12\n0,1,0,13\n1,1,1,19\n0,0,1,11\n1,1,1,18\n0,1,0,12\n";
    let result = one(text, &Request::new(["y_mb_s"], ["a", "b", "c"]));
    let said = texts(&result, "aliased");
    assert!(said[0].starts_with("table-alias.pair "), "{said:?}");
    assert!(said[0].contains("`c=1`"), "{said:?}");
    assert!(said[0].ends_with(" pair=a:b"), "{said:?}");
}

#[test]
fn the_band_decides_what_is_equivalent() {
    let text = "a,y_mb_s\noff,100\noff,100.1\noff,99.9\non,100.5\non,100.6\non,100.4\n";
    let mut request = Request::new(["y_mb_s"], ["a"]);
    assert_eq!(
        effect(&one(text, &request), "a", "on").verdict,
        Verdict::Equivalent
    );
    request.band = 0.001;
    assert_eq!(
        effect(&one(text, &request), "a", "on").verdict,
        Verdict::Better
    );
    request.better = Some(Better::Lower);
    let lower = one(text, &request);
    assert_eq!(effect(&lower, "a", "on").verdict, Verdict::Worse);
    assert!(effect(&lower, "a", "on").ratio.unwrap() < 1.0);
    request.band = 2.0;
    let error = analyze(&Table::from_csv(text).unwrap(), &request).unwrap_err();
    assert!(error.to_string().starts_with("the band of equivalence"));
}

#[test]
fn baselines_filters_and_gaps_are_obeyed() {
    let text = "nic,os,y_mb_s\nx,l,10\ny,l,20\nx,l,11\ny,l,\nz,w,90\ny,l,21\n";
    let mut request = Request::new(["y_mb_s"], ["nic"]);
    request.baselines = vec![("nic".into(), "y".into())];
    request.only = vec![
        ("nic".into(), "x".into()),
        ("nic".into(), "y".into()),
        ("os".into(), "l".into()),
    ];
    let result = one(text, &request);
    assert_eq!(result.n, 4);
    let nic = effect(&result, "nic", "x");
    assert_eq!(
        (nic.baseline.as_str(), nic.estimate.unwrap().round()),
        ("y", -10.0)
    );
    let gap = warnings(&result, "missing")[0];
    assert_eq!(
        (gap.row, flat(&gap.text).as_str()),
        (Some(4), "table-missing row=4 column=y_mb_s")
    );
    request.only = vec![("nic".into(), "q".into())];
    let error = analyze(&Table::from_csv(text).unwrap(), &request).unwrap_err();
    assert_eq!(error.to_string(), "column `nic` has no `q`");
}

/// Blocks that differ by 50 hide an effect of 5 until they are part of the model.
#[test]
fn blocks_take_their_own_differences_out() {
    let mut text = "a,day,y_mb_s\n".to_owned();
    for (day, noise) in [0.1, -0.2, 0.2, -0.1, 0.15].into_iter().enumerate() {
        let base = 100.0 + 50.0 * day as f64;
        text.push_str(&format!(
            "off,{day},{}\non,{day},{}\n",
            base + noise,
            base + 5.0 - noise
        ));
    }
    let mut request = Request::new(["y_mb_s"], ["a"]);
    request.interactions = Interactions::Ignored;
    assert_eq!(
        effect(&one(&text, &request), "a", "on").verdict,
        Verdict::Undecided
    );
    request.blocks = Some("day".into());
    let result = one(&text, &request);
    assert_eq!(effect(&result, "a", "on").verdict, Verdict::Better);
    assert!(result.effects.iter().all(|effect| effect.factor == "a"));
    // Neither knows of blocks.
    assert!(result.tests.is_empty());
}

#[test]
fn figures_without_noise_are_said_to_be_so() {
    let text = "a,b,y_mb_s\n0,0,10\n1,0,20\n0,1,10\n1,1,20\n0,0,10\n";
    let result = one(text, &Request::new(["y_mb_s"], ["a", "b"]));
    assert_eq!(warnings(&result, "exact_fit").len(), 1);
    for (factor, estimate) in [("a", 10.0), ("b", 0.0)] {
        let effect = effect(&result, factor, "1");
        assert!(
            (effect.estimate.unwrap() - estimate).abs() < 1e-9,
            "{effect:?}"
        );
        assert_eq!((effect.low, effect.p), (None, None));
        assert_eq!(effect.verdict, Verdict::Undecided);
    }
    assert!(result.tests.iter().all(|test| test.name != "one_way_anova"));
}

#[test]
fn a_name_that_says_nothing_is_warned_about() {
    let text = "a,y\n0,10\n1,20\n0,11\n1,21\n";
    let result = one(text, &Request::new(["y"], ["a"]));
    assert_eq!(result.unit, "unknown");
    assert_eq!(warnings(&result, "direction").len(), 1);
    let shown = effect(&result, "a", "1");
    assert!(shown.p_holm.unwrap() < 0.05 && shown.verdict == Verdict::Undecided);
    let mut request = Request::new(["y"], ["a"]);
    request.better = Some(Better::Lower);
    let result = one(text, &request);
    assert!(warnings(&result, "direction").is_empty());
    assert_eq!(effect(&result, "a", "1").verdict, Verdict::Worse);
}

/// Means 101.33 and 107, deviation 5.40: t = 1.285. Of 18 rows t would be 2.23 and 2.12 is asked; these
/// find (2.776 + 0.842) times the error of 4.41.
#[test]
fn what_cannot_be_told_has_a_number_of_rows_that_would() {
    let text = "a,read_mb_s\n0,100\n0,108\n0,96\n1,106\n1,112\n1,103\n";
    let mut request = Request::new(["read_mb_s"], ["a"]);
    assert_eq!(
        texts(&one(text, &request), "power"),
        ["table-power.about needed=18 effect=a=1 rows=6 found=16 %"]
    );
    // That there is no difference takes a narrow interval.
    let alike = text.replace("112", "101").replace("106", "102");
    let said = one(&alike, &request);
    assert!(texts(&said, "power")[0].contains(" rows=6 "));
    request.band = 0.0;
    let said = one(&alike, &request);
    assert!(
        texts(&said, "power")[0].starts_with("table-power.more-than needed=600 "),
        "{:?}",
        said.warnings
    );
    // What is settled needs no more, and what nobody asked for gets no advice.
    let text =
        "a,b,read_mb_s\n0,0,100\n0,1,151\n1,0,201\n1,1,248\n0,0,102\n0,1,148\n1,0,198\n1,1,252\n";
    let request = Request::new(["read_mb_s"], ["a", "b"]);
    let settled = one(text, &request);
    assert!(
        texts(&settled, "power").is_empty(),
        "{:?}",
        settled.warnings
    );
    let open = |effect: &&fit::table::TableEffect| effect.verdict == Verdict::Undecided;
    let pair = settled.effects.iter().find(open).unwrap();
    assert!(pair.factor == "a:b" && !request.asks(pair));
    assert!(Request::new(["read_mb_s"], ["a", "b", "b:a"]).asks(pair));
    assert!(request.asks(effect(&settled, "a", "1")));
}

/// A time that halves is twice as good, in the table and in words.
#[test]
fn ratios_of_times_point_one_way() {
    let text =
        "a,b,time_s\n0,0,10\n0,1,10.1\n1,0,10.05\n1,1,5\n0,0,10.1\n0,1,10.0\n1,0,10.0\n1,1,5.1\n";
    let result = one(text, &Request::new(["time_s"], ["a", "b"]));
    assert!(effect(&result, "a:b", "1:1").ratio.unwrap() > 1.0);
    assert_eq!(
        texts(&result, "interaction"),
        [
            "table-interaction.only-together pair=a:b one=1.00 other=1.00 both=1.99 better=lower \
             tested=yes"
        ]
    );
}

/// As many blocks as an experiment may have; what is changed only between them is said to be.
#[test]
fn blocks_may_be_many_or_one() {
    let table = |blocks: usize| {
        let mut text = "a,day,noon,y_mb_s\n".to_owned();
        for day in 0..blocks {
            let (base, noon) = (100.0 + (day * 7 % 13) as f64, day % 2);
            let noise = (day * 5 % 11) as f64 / 10.0;
            text.push_str(&format!("off,{day},{noon},{}\n", base + noise));
            text.push_str(&format!("on,{day},{noon},{}\n", base + 6.0 - noise));
            text.push_str(&format!("on,{day},{noon},{}\n", base + 4.0 + noise));
        }
        text
    };
    let mut request = Request::new(["y_mb_s"], ["a", "noon"]);
    request.blocks = Some("day".into());
    let many = one(&table(1000), &request);
    let found = effect(&many, "a", "on");
    assert!((found.estimate.unwrap() - 4.5).abs() < 0.1, "{found:?}");
    assert_eq!(found.verdict, Verdict::Better);
    assert_eq!(effect(&many, "noon", "1").estimate, None);
    assert_eq!(
        texts(&many, "aliased")[0],
        "table-alias.by-block effect=`noon=1`"
    );
    let single = one(&table(1), &request);
    assert_eq!((single.n, single.effects.len()), (3, 1));
    request.blocks = None;
    request.factors.truncate(1);
    assert_eq!(one(&table(1), &request).effects, single.effects);
}

#[test]
fn what_has_nothing_to_say_is_left_out_and_takes_nothing_with_it() {
    let text = "a,b,y_mb_s,retransmits,z_mb_s\n\
                0,x,10,0,\n1,x,20,0,\n0,x,11,0,\n1,x,21,0,\n0,x,10.5,0,\n";
    let table = Table::from_csv(text).unwrap();
    let request = Request::new(["y_mb_s", "retransmits", "z_mb_s"], ["a", "b", "a:b"]);
    let results = analyze(&table, &request).unwrap();
    assert_eq!((results.len(), results[0].effects.len()), (1, 1));
    assert_eq!(effect(&results[0], "a", "1").verdict, Verdict::Better);
    assert_eq!(
        texts(&results[0], "left_out"),
        [
            "table-left-out reason=(error-table.all-equal response=retransmits value=0)",
            "table-left-out reason=(error-table.no-rows response=z_mb_s)",
            "table-left-out reason=(error-table.one-level factor=b level=x rows=5)",
        ]
    );
    let nothing = Request::new(["retransmits", "z_mb_s"], ["a"]);
    let error = analyze(&table, &nothing).unwrap_err().to_string();
    assert!(error.starts_with("every row of `retransmits`"), "{error}");
}

/// Half of a 2^3 design leaves no row over, and still it is known what hides behind what.
#[test]
fn a_saturated_fraction_says_what_hides_behind_what() {
    let text = "a,b,c,y_mb_s\n0,0,1,10\n1,0,0,12\n0,1,0,13\n1,1,1,19\n";
    let result = one(text, &Request::new(["y_mb_s"], ["a", "b", "c"]));
    let said = texts(&result, "aliased");
    assert_eq!(
        said,
        [
            "table-alias.of-pairs effects=(plain text=`a=1`) pairs=`b:c`",
            "table-alias.of-pairs effects=(plain text=`b=1`) pairs=`a:c`",
            "table-alias.of-pairs effects=(plain text=`c=1`) pairs=`a:b`",
        ]
    );
    assert_eq!(warnings(&result, "interactions_skipped").len(), 1);
}

/// Three against three rows can be arranged in twenty ways, of which two are as far apart as this.
#[test]
fn ranks_of_few_rows_are_counted_out() {
    let text = "a,y_mb_s\n0,1\n0,2\n0,3\n1,4\n1,5\n1,6.5\n";
    let result = one(text, &Request::new(["y_mb_s"], ["a"]));
    let kruskal = &result.tests[1];
    assert_eq!(format!("{:.3}", kruskal.statistic), "3.857");
    assert!((kruskal.p - 0.1).abs() < 1e-12, "{kruskal:?}");
}

/// Eight factors have 28 pairs, which together weigh no more than the eight.
#[test]
fn interactions_that_nobody_named_take_little_from_what_was_asked() {
    let mut text = "a,b,c,d,e,f,g,h,y_mb_s\n".to_owned();
    for run in 0_u32..64 {
        let bits: Vec<u32> = (0..6).map(|bit| run >> bit & 1).collect();
        let more = [bits[0] ^ bits[1] ^ bits[2], bits[2] ^ bits[3] ^ bits[4]];
        let noise = f64::from(run * 37 % 64) / 16.0 + f64::from(run * run % 29) / 10.0;
        for bit in bits.iter().chain(&more) {
            text.push_str(&format!("{bit},"));
        }
        text.push_str(&format!("{}\n", 100.0 + f64::from(bits[0]) + noise));
    }
    let factors = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let result = one(&text, &Request::new(["y_mb_s"], factors));
    let tested = result.effects.iter().filter(|effect| effect.p.is_some());
    let least = tested.min_by(|one, other| one.p.unwrap().total_cmp(&other.p.unwrap()));
    let (least, times) = least
        .map(|least| (least, least.p_holm.unwrap() / least.p.unwrap()))
        .unwrap();
    assert!(result.effects.len() == 8 + 28 && !least.factor.contains(':'));
    assert!((times - 16.0).abs() < 1e-9, "{times}: {least:?}");
}

/// As where all trials of a level failed.
#[test]
fn a_factor_without_its_baseline_is_left_out_alone() {
    let text = "a,b,y_mb_s\n0,x,\n0,y,10\n1,y,20\n0,z,11\n1,z,21\n0,y,10.5\n";
    let mut request = Request::new(["y_mb_s"], ["a", "b"]);
    request.baselines = vec![("b".into(), "x".into())];
    let result = one(text, &request);
    assert_eq!(result.effects.len(), 1);
    assert_eq!(effect(&result, "a", "1").verdict, Verdict::Better);
    assert_eq!(
        texts(&result, "left_out")[0],
        "table-left-out reason=(error-table.no-baseline response=y_mb_s factor=b level=x)"
    );
}
