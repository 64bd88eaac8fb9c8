//! Tables, and outputs of benchmarks that make one: each is analysed or refused.

use fit::before_after::{Question, compare};
use fit::table::{Arms, Request, Table, analyze};
use stats::Verdict;

/// Columns of a table that are analysed: time is short.
const COLUMNS_TRIED: usize = 3;

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    // In whatever encoding: most bytes that are no UTF-8 are text of code page 932.
    if let Ok(text) = fit::text_decoding::decode(data) {
        table(&text);
        arms(&text);
        compared(&text);
    }
}

/// The two halves as before and after, as `compare` takes them.
fn compared(text: &str) {
    let half = text.len() / 2;
    let half = (half..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut both = Arms::default();
    let read = ["before", "after"]
        .into_iter()
        .zip([&text[..half], &text[half..]]);
    let question = Question {
        band: 0.02,
        hoped: 0.05,
    };
    if read
        .into_iter()
        .all(|(arm, text)| both.add(arm, text).is_ok())
    {
        for one in compare(&both, question) {
            assert_eq!(one.reason.is_some(), one.verdict == Verdict::Undecided);
        }
    }
}

/// Every column is once the response.
fn table(text: &str) {
    if let Ok(table) = Table::from_csv(text) {
        let columns: Vec<String> = table.columns().map(str::to_owned).collect();
        for (at, response) in columns.iter().enumerate().take(COLUMNS_TRIED) {
            let mut factors = columns.clone();
            factors.remove(at);
            factors.truncate(COLUMNS_TRIED);
            drop(analyze(&table, &Request::new([response.clone()], factors)));
        }
    }
}

/// The same output of both arms, and two different ones.
fn arms(text: &str) {
    let half = text.len() / 2;
    let half = (half..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    for arms in [[text, text], [&text[..half], &text[half..]]] {
        let arms = ["off", "on"].into_iter().zip(arms);
        let arms: Vec<_> = arms.map(|(arm, text)| (arm.into(), text.into())).collect();
        if let Ok((table, request)) = Table::from_arms(&arms) {
            drop(analyze(&table, &request));
        }
    }
}
