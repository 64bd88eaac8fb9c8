//! What cannot be estimated is said, and the form of the answer.

use analysis::Verdict;
use analysis::table::{Better, Interactions, Request, Table, analyze};

use crate::{effect, one, warnings};

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
        warnings(&result, "aliased")[0].text,
        "`b=on` cannot be told from `a=on`: they were changed together"
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
    let said: Vec<&str> = warnings(&result, "aliased")
        .iter()
        .map(|warning| warning.text.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "`a:b`, `c:d` are one and the same contrast in these rows",
            "`a:c`, `b:d` are one and the same contrast in these rows",
            "`a:d`, `b:c` are one and the same contrast in these rows",
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
    let said: Vec<&str> = warnings(&result, "aliased")
        .iter()
        .map(|warning| warning.text.as_str())
        .collect();
    assert!(said[0].starts_with("`a:b` cannot be told from"), "{said:?}");
    assert!(said[0].contains("`c=1`"), "{said:?}");
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
        (gap.row, gap.text.as_str()),
        (Some(4), "row 4 has no `y_mb_s` and is left out")
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
    assert_eq!(effect(&result, "a", "1").p, Some(0.0));
    assert_eq!(
        (
            effect(&result, "b", "1").estimate,
            effect(&result, "b", "1").p
        ),
        (Some(0.0), Some(1.0))
    );
    assert_eq!(effect(&result, "b", "1").verdict, Verdict::Equivalent);
}

#[test]
fn a_name_that_says_nothing_is_warned_about() {
    let text = "a,y\n0,10\n1,20\n0,11\n1,21\n";
    let result = one(text, &Request::new(["y"], ["a"]));
    assert_eq!(result.unit, "unknown");
    assert_eq!(warnings(&result, "direction").len(), 1);
}
