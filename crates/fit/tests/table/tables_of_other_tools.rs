//! Tables and results as people have them, of `tests/cases/index.txt`: each is read or refused with the
//! reason, and none gives a verdict from one run of each arm.

use std::fs;
use std::path::Path;

use fit::before_after::{Question, compare};
use fit::table::{Arms, Request, Table, analyze};
use fit::text_decoding::decode;
use stats::Verdict;

fn read(name: &str) -> Result<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    decode(&bytes).map_err(|line| format!("line {line} is no text"))
}

/// Verdict of the first effect and kinds of the warnings, or why there is none.
fn table(file: &str, question: &str) -> Result<String, String> {
    let parts: Vec<&str> = question.split('|').collect();
    let [response, factors, blocks, runs] = parts[..] else {
        panic!("{question}");
    };
    let table = Table::from_csv(&read(file)?).map_err(|error| error.to_string())?;
    let mut request = Request::new([response], factors.split(','));
    let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    (request.blocks, request.runs) = (named(blocks), named(runs));
    let results = analyze(&table, &request).map_err(|error| error.to_string())?;
    let mut said = match results[0].effects[0].verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
    }
    .to_owned();
    for warning in &results[0].warnings {
        said += &format!(" {}", warning.kind);
    }
    Ok(said)
}

/// How many figures; the first verdict with its response; the id of the first one's reason.
fn compared(files: &str, count: &str) -> Result<String, String> {
    let mut arms = Arms::default();
    for (arm, file) in ["before", "after"].into_iter().zip(files.split(' ')) {
        arms.add(arm, &read(file)?)
            .map_err(|error| error.to_string())?;
    }
    let question = Question {
        band: 0.02,
        hoped: 0.05,
    };
    let compared = compare(&arms, question);
    assert_eq!(compared.len().to_string(), count, "{files}: {compared:#?}");
    let Some(first) = compared.first() else {
        return Ok("nothing in common".into());
    };
    for one in &compared {
        let most = one.runs.iter().min().expect("two");
        assert!(*most >= 4 || one.verdict == Verdict::Undecided, "{one:#?}");
        assert_eq!(one.reason.is_some(), one.verdict == Verdict::Undecided);
        assert_eq!(one.runs_needed.is_some(), one.reason.is_some(), "{one:#?}");
    }
    let changed: Vec<String> = compared
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Better | Verdict::Worse))
        .map(|one| format!("{:?} {}", one.verdict, one.response).to_lowercase())
        .collect();
    let changed = changed
        .first()
        .cloned()
        .unwrap_or_else(|| "undecided".into());
    let reason = first.reason.as_ref().map_or("", |reason| reason.id);
    Ok(format!("{changed}: {reason}"))
}

#[test]
fn tables_of_other_tools_are_read_or_refused_with_the_reason() {
    let index = read("index.txt").expect("text");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(" ; ").collect();
        let [kind, files, question, expected] = cells[..] else {
            panic!("{line}");
        };
        let said = match kind {
            "table" => table(files, question),
            "compare" => compared(files, question),
            _ => panic!("{line}"),
        };
        let fits = match (&said, expected.strip_prefix("refused: ")) {
            (Err(reason), Some(wanted)) => reason.contains(wanted),
            (Ok(said), None) => {
                let (head, tail) = expected.split_once(' ').unwrap_or((expected, ""));
                (said.starts_with(head) || head == "nothing" && said.starts_with(expected))
                    && said.contains(tail)
            }
            _ => false,
        };
        if !fits {
            wrong.push(format!("{line}: {said:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 40, "{count}");
}
