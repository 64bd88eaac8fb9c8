//! CSV text to cells. The text is hostile: everything has a bound.

use std::collections::BTreeSet;

use super::error::Error;
use super::{CELL_BYTES_MAX, TableWarning};

/// Most text of a table: a hundred thousand rows of eighty letters.
pub const TEXT_BYTES_MAX: usize = 8 << 20;
const ROWS_MAX: usize = 100_000;
const COLUMNS_MAX: usize = 256;
/// Most cells, of which each takes four bytes besides its text.
const CELLS_MAX: usize = 1 << 21;
/// Cells that mean: not measured.
const MISSING: [&str; 4] = ["", "na", "n/a", "nan"];

/// Named columns of text cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    /// The text of all cells, row after row, and where each ends in it.
    text: String,
    ends: Vec<u32>,
    /// Columns whose numbers are written with a decimal comma.
    commas: BTreeSet<usize>,
    /// Columns in which a point probably stands between thousands.
    thousands: BTreeSet<usize>,
    /// Whether people may have typed it, and no program wrote it.
    pub(super) typed: bool,
    /// Levels to compare with where the request names none.
    pub(super) baselines: Vec<(String, String)>,
    /// What a reader must know of where its rows are from.
    pub(super) warnings: Vec<TableWarning>,
}

impl Table {
    /// Reads comma, semicolon or tab separated text: lines that start with `#` are comments, the first
    /// other line is the header; in front of all may be Excel's `sep=;`. Where no comma separates,
    /// numbers may have decimal commas.
    ///
    /// # Errors
    ///
    /// The text is too large, ragged, or has no header or data.
    pub fn from_csv(text: &str) -> Result<Self, Error> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::too_large("bytes", TEXT_BYTES_MAX));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (named, text) = separator(text);
        let delimiter = named.unwrap_or_else(|| delimiter(text));
        if is_json(text) {
            return Err(Error::Json);
        }
        let mut reader = csv::ReaderBuilder::new()
            .comment((!is_counted(text)).then_some(b'#'))
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        let header = records
            .next()
            .ok_or(Error::Empty("header"))?
            .map_err(Error::Csv)?;
        if header.len() > COLUMNS_MAX {
            return Err(Error::too_large("columns", COLUMNS_MAX).at(line(&header)));
        }
        // Nothing is copied before it is known to be short.
        check_cells(&header, |place| header.get(place), 0, line(&header))?;
        let columns = header.iter().map(str::to_owned).collect();
        let mut table = Self::without_rows(columns)?;
        for record in records {
            let record = record.map_err(Error::Csv)?;
            let (row, line) = (table.rows() + 1, line(&record));
            if record.len() != table.columns.len() {
                return Err(Error::Ragged {
                    row,
                    line,
                    cells: record.len(),
                    columns: table.columns.len(),
                });
            }
            let named = |place: usize| table.columns.get(place).map(String::as_str);
            check_cells(&record, named, row, line)?;
            table.push(&record).map_err(|error| error.at(line))?;
        }
        let mut table = table.with_rows()?;
        table.typed = true;
        if delimiter != b',' {
            let columns = 0..table.columns.len();
            table.commas = columns
                .clone()
                .filter(|column| table.has_commas(*column))
                .collect();
            table.thousands = columns
                .filter(|column| table.has_thousands(*column))
                .collect();
        }
        Ok(table)
    }

    /// Whether all that is there are numbers below a thousand or such with a point in front of their last
    /// three digits, and either the whole ones among them or decimal commas in other columns say what the
    /// point is for.
    fn has_thousands(&self, column: usize) -> bool {
        let [mut whole, mut pointed] = [false; 2];
        for cell in (0..self.rows()).filter_map(|row| self.present(row, column)) {
            let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell);
            let (front, behind) = unsigned.split_once('.').unwrap_or((unsigned, ""));
            let mut bytes = front.bytes().chain(behind.bytes());
            let is_one = matches!(front.len(), 1..=3) && bytes.all(|byte| byte.is_ascii_digit());
            match behind.len() {
                0 if is_one && front.len() == unsigned.len() => whole = true,
                3 if is_one && !front.starts_with('0') => pointed = true,
                _ => return false,
            }
        }
        pointed && (whole || !self.commas.is_empty())
    }

    /// Whether all that is there are whole numbers or such with a decimal comma, and one of these cannot
    /// be a comma between thousands.
    fn has_commas(&self, column: usize) -> bool {
        let cells = (0..self.rows()).filter_map(|row| self.present(row, column));
        let mut sure = false;
        for cell in cells {
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell);
            let (whole, part) = unsigned.split_once(',').unwrap_or((unsigned, "0"));
            if whole.is_empty() || part.is_empty() || !digits(whole) || !digits(part) {
                return false;
            }
            let thousands = part.len() == 3 && whole.len() <= 3 && !whole.starts_with('0');
            sure |= unsigned.contains(',') && !thousands;
        }
        sure
    }

    /// Takes rows of as many cells as there are columns.
    pub(crate) fn new(
        columns: Vec<String>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<Self, Error> {
        let mut table = Self::without_rows(columns)?;
        for row in rows {
            table.push(row.iter().map(String::as_str))?;
        }
        table.with_rows()
    }

    fn with_rows(self) -> Result<Self, Error> {
        match self.rows() {
            0 => Err(Error::Empty("rows of data")),
            _ => Ok(self),
        }
    }

    fn without_rows(columns: Vec<String>) -> Result<Self, Error> {
        let mut seen = BTreeSet::new();
        for column in columns.iter().filter(|column| !column.is_empty()) {
            if !seen.insert(column) {
                return Err(Error::DuplicateColumn(shown(column)));
            }
        }
        Ok(Self {
            columns,
            text: String::new(),
            ends: Vec::new(),
            commas: BTreeSet::new(),
            thousands: BTreeSet::new(),
            typed: false,
            baselines: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// Adds a row, which has a cell for each column.
    fn push<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> Result<(), Error> {
        if self.rows() == ROWS_MAX {
            return Err(Error::too_large("rows", ROWS_MAX));
        }
        if self.ends.len() + self.columns.len() > CELLS_MAX {
            return Err(Error::too_large("cells", CELLS_MAX));
        }
        for cell in cells {
            self.text.push_str(cell);
            let end = u32::try_from(self.text.len()).ok();
            let end = end.filter(|end| *end as usize <= TEXT_BYTES_MAX);
            let too_large = || Error::too_large("bytes in its cells", TEXT_BYTES_MAX);
            self.ends.push(end.ok_or_else(too_large)?);
        }
        Ok(())
    }

    /// Names of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    pub(super) fn rows(&self) -> usize {
        self.ends.len() / self.columns.len().max(1)
    }

    pub(super) fn column(&self, name: &str) -> Result<usize, Error> {
        let found = self
            .columns
            .iter()
            .position(|column| column == name && !name.is_empty());
        found.ok_or_else(|| Error::NoSuchColumn {
            column: shown(name),
            columns: shown(&self.columns.join(", ")),
        })
    }

    /// The different cells of a column, as an error lists them.
    pub(super) fn cells(&self, column: usize) -> String {
        let cells = (0..self.rows()).map(|row| self.cell(row, column));
        let cells: BTreeSet<&str> = cells.collect();
        let cells: Vec<String> = cells
            .iter()
            .take(16)
            .map(|cell| format!("`{cell}`"))
            .collect();
        shown(&cells.join(", "))
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> &str {
        let place = row * self.columns.len() + column;
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin as usize..self.ends[place] as usize]
    }

    /// The cell, unless it says that nothing was measured.
    pub(super) fn present(&self, row: usize, column: usize) -> Option<&str> {
        let cell = self.cell(row, column);
        (!MISSING
            .iter()
            .any(|missing| cell.eq_ignore_ascii_case(missing)))
        .then_some(cell)
    }

    /// Whether a number of this cell may as well be another.
    fn is_ambiguous(&self, cell: &str, column: usize) -> bool {
        self.thousands.contains(&column) && cell.contains('.')
    }

    /// The cell as a number; `None` where nothing was measured.
    pub(super) fn number(&self, row: usize, column: usize) -> Result<Option<f64>, Error> {
        let Some(cell) = self.present(row, column) else {
            return Ok(None);
        };
        let number = match self.commas.contains(&column) {
            true => cell.replace(',', ".").parse::<f64>(),
            false => cell.parse::<f64>(),
        };
        match number {
            Ok(number) if number.is_finite() && !self.is_ambiguous(cell, column) => {
                Ok(Some(number))
            }
            _ => Err(Error::NotANumber {
                row: row + 1,
                column: shown(&self.columns[column]),
                cell: shown(cell),
            }),
        }
    }
}

/// Whether the text is JSON and no table; the name of a column may stand in brackets.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    let in_brackets = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || in_brackets.is_some_and(|text| !text.starts_with(char::is_alphabetic))
}

/// The first line by which Excel is told what separates cells, as `sep=;`, and what comes after it.
fn separator(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    match line.trim_end().strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter @ (b',' | b';' | b'\t')]) => (Some(*delimiter), rest),
        // Spaces at its end are a tab that is the delimiter.
        Some([]) if line.starts_with("sep=\t") => (Some(b'\t'), rest),
        _ => (None, text),
    }
}

/// Whether the first column is called `#`, as that of a running number often is.
fn is_counted(text: &str) -> bool {
    ["#,", "#;", "#\t"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// What separates the cells of the header, which is the first line that is no comment; of two that it has
/// equally often, the one that the line below has as often.
fn delimiter(text: &str) -> u8 {
    let counted = is_counted(text);
    let mut lines = text
        .lines()
        .filter(|line| (counted || !line.starts_with('#')) && !line.trim().is_empty());
    let [header, below] = [lines.next(), lines.next()].map(Option::unwrap_or_default);
    let count = |line: &str, delimiter: u8| line.bytes().filter(|byte| *byte == delimiter).count();
    // The last of equal ones wins, so the comma stands last.
    [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|byte| {
            let often = count(header, *byte);
            (often, often == count(below, *byte))
        })
        .unwrap_or(b',')
}

fn check_cells<'a>(
    cells: &csv::StringRecord,
    named: impl FnOnce(usize) -> Option<&'a str>,
    row: usize,
    line: u64,
) -> Result<(), Error> {
    match cells.iter().position(|cell| cell.len() > CELL_BYTES_MAX) {
        Some(place) => Err(Error::LongCell {
            row,
            line,
            column: shown(named(place).unwrap_or_default()),
        }),
        None => Ok(()),
    }
}

fn line(record: &csv::StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// Text from a table as errors and warnings quote it: never longer than a line or two.
pub(super) fn shown(text: &str) -> String {
    const CHARACTERS: usize = 120;
    let short: String = text.chars().take(CHARACTERS).collect();
    let left_out = if short.len() < text.len() { "…" } else { "" };
    record::sanitized_text::clean(&short) + left_out
}

/// A number as errors and warnings write it, without hundreds of zeros.
pub(super) fn figure(number: f64) -> String {
    if is_handy(number) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

/// The same of one that was computed, whose last digits mean nothing.
pub(super) fn rounded(number: f64) -> String {
    if is_handy(number) {
        format!("{number:.6}")
    } else {
        format!("{number:.3e}")
    }
}

fn is_handy(number: f64) -> bool {
    number == 0.0 || (1e-6..1e15).contains(&number.abs())
}

#[cfg(test)]
mod tests {
    use locale::Language;

    use super::*;

    #[test]
    fn comments_quotes_and_other_delimiters_are_read() {
        let table =
            Table::from_csv("\u{feff}# note, with comma\na;\"b;c\"\n1; x \n# more\n2;y\n").unwrap();
        assert_eq!(table.columns().collect::<Vec<_>>(), ["a", "b;c"]);
        assert_eq!(table.rows(), 2);
        assert_eq!(table.cell(0, 1), "x");
        assert_eq!(table.cell(1, 0), "2");
        assert_eq!(Table::from_csv("a\tb\n1\t2\n").unwrap().cell(0, 1), "2");
    }

    #[test]
    fn brackets_and_commas_in_names_are_no_json_and_no_separators() {
        let columns = |text: &str| {
            let table = Table::from_csv(text).unwrap();
            table.columns().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(columns("[mtu],[mb_s]\n1,2\n"), ["[mtu]", "[mb_s]"]);
        assert_eq!(columns("mtu;read, MB/s\n1500;110\n"), ["mtu", "read, MB/s"]);
        assert_eq!(columns("mtu,a;b\n1500,110\n"), ["mtu", "a;b"]);
        for json in ["{\"a\":1}", " [ {\"a\":1}]", "[1]", "[\"a\"]"] {
            assert!(matches!(Table::from_csv(json), Err(Error::Json)), "{json}");
        }
    }

    /// Written in German: 1110 is `1.110`, and no 1.11.
    #[test]
    fn points_between_thousands_are_no_decimal_points() {
        let last = |text: &str| {
            let table = Table::from_csv(text).unwrap();
            let read = table.number(table.rows() - 1, table.columns.len() - 1);
            read.map_err(|error| (error.to_string(), Language::English.say(&error.hint())))
        };
        let thousands = [
            "a;v\n1;980\n2;1.110\n",
            "a;b;v\n1;1,5;1.980\n2;2,5;1.110\n",
            "a\tv\n1\t-7\n2\t1.110\n",
        ];
        for text in thousands {
            let (error, hint) = last(text).unwrap_err();
            assert_eq!(error, "row 2, column `v`: `1.110` is not a number");
            assert!(hint.contains("point may stand between thousands"), "{hint}");
        }
        let decimals = [
            "a,v\n1,980\n2,1.110\n",
            "a;v\n1;1.980\n2;1.110\n",
            "a;v\n1;980\n1;1.5\n2;1.110\n",
            "a;v\n1;1980\n2;1.110\n",
            "a;b;v\n1;1,5;0.980\n2;2,5;1.110\n",
        ];
        for text in decimals {
            assert_eq!(last(text).unwrap(), Some(1.11), "{text}");
        }
        let hint = |cell: &str| last(&format!("a;v\n1;{cell}\n")).unwrap_err().1;
        assert!(hint("1.980,5").starts_with("write decimals with a point"));
        assert!(hint("1.980.500").starts_with("write decimals with a point"));
        assert!(hint("1e400").contains("larger or smaller unit"));
        assert!(hint("112 MB/s").contains("a unit belongs"));
    }

    #[test]
    fn long_numbers_are_written_short() {
        assert_eq!(figure(112.25), "112.25");
        assert_eq!(figure(1e308), "1e308");
        assert_eq!(figure(-1.5e-12), "-1.5e-12");
        assert_eq!(rounded(0.0), "0.000000");
        assert_eq!(rounded(2.0 / 3.0 * 1e-12), "6.667e-13");
    }

    #[test]
    fn what_is_wrong_is_said_with_row_and_column() {
        let said = |text: &str| Table::from_csv(text).unwrap_err().to_string();
        assert_eq!(said(""), "the table has no header");
        assert_eq!(said("a,b\n"), "the table has no rows of data");
        assert_eq!(
            said("# c\na,b\n1,2\n3\n"),
            "row 2 (line 4) has 1 cells, the header has 2"
        );
        assert_eq!(said("a,a\n1,2\n"), "column `a` occurs twice in the header");
        let long = format!("a,b\n1,{}\n", "x".repeat(CELL_BYTES_MAX + 1));
        assert_eq!(
            said(&long),
            "row 1 (line 2), column `b`: a cell of more than 1024 bytes"
        );
        let wide = "a,".repeat(COLUMNS_MAX);
        assert_eq!(said(&wide), "the table has more than 256 columns (line 1)");
        let tall = "a\n".repeat(ROWS_MAX + 2);
        assert_eq!(
            said(&tall),
            "the table has more than 100000 rows (line 100002)"
        );
    }

    #[test]
    fn numbers_are_finite_or_refused_and_gaps_are_gaps() {
        let table =
            Table::from_csv("v\n1e3\ninf\n1,5\n".replace("1,5", "\"1,5\"").as_str()).unwrap();
        assert_eq!(table.number(0, 0).unwrap(), Some(1000.0));
        assert_eq!(
            table.number(1, 0).unwrap_err().to_string(),
            "row 2, column `v`: `inf` is not a number"
        );
        assert_eq!(
            table.number(2, 0).unwrap_err().to_string(),
            "row 3, column `v`: `1,5` is not a number"
        );
        let table = Table::from_csv("v,w\nNA,1\n,1\n").unwrap();
        assert_eq!(table.number(0, 0).unwrap(), None);
        assert_eq!(table.number(1, 0).unwrap(), None);
    }

    #[test]
    fn tables_of_excel_are_read() {
        let numbers = |text: &str| {
            let table = Table::from_csv(text).unwrap();
            let values: Result<Vec<_>, _> =
                (0..table.rows()).map(|row| table.number(row, 1)).collect();
            values.map_err(|error| error.to_string())
        };
        let expected = Ok(vec![Some(1.5), Some(-1234.0), None, Some(0.25)]);
        let counted = Table::from_csv("#;a,b;v\n1;x;2\n").unwrap();
        assert_eq!(counted.columns().collect::<Vec<_>>(), ["#", "a,b", "v"]);
        let rows = "a;v\nx;1,5\nx;-1234\ny;\ny;0,25\n";
        assert_eq!(numbers(rows), expected);
        assert_eq!(numbers(&format!("\u{feff}sep=;\r\n{rows}")), expected);
        assert_eq!(numbers(&rows.replace(';', "\t")), expected);
        let said = |cell: &str| Err(format!("row 1, column `v`: `{cell}` is not a number"));
        // Thousands, as likely as not; and both ways in one column.
        assert_eq!(numbers("a;v\nx;1,110\ny;980\n"), said("1,110"));
        assert_eq!(numbers("a;v\nx;1,5\ny;9.5\n"), said("1,5"));
        assert_eq!(numbers("a,v\nx,\"1,5\"\n"), said("1,5"));
    }
}
