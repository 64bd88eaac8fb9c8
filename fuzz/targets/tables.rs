//! Tables, and outputs of benchmarks that make one: each is analysed or refused.
#![no_main]

use analysis::table::{Request, Table, analyze};
use libfuzzer_sys::fuzz_target;

/// Columns of a table that are analysed: time is short.
const COLUMNS_TRIED: usize = 3;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = str::from_utf8(data) {
        table(text);
        arms(text);
    }
});

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
