//! The only place that builds shell text: one quoting function for each shell.

use std::fmt::Write as _;

use super::{Command, POWERSHELL};

/// A word that a POSIX shell takes for exactly these characters, whatever they are. A shell cannot
/// take NUL; [`super::Ssh`] refuses it before it comes here.
#[must_use]
pub fn posix_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+:,./_-".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command line of such words, as it can be copied into a terminal.
#[must_use]
pub fn posix_words(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| posix_word(word)).collect();
    words.join(" ")
}

/// A line that runs a command with its input; `prefix` keeps a shell from taking the program for a
/// word of its own.
pub(crate) fn posix_line(prefix: &str, command: &Command) -> String {
    let argv = posix_words(&command.argv);
    if command.stdin.is_empty() {
        return format!("{prefix} {argv}");
    }
    let format = posix_printf_format(&command.stdin);
    format!("printf {format} | {prefix} {argv}")
}

/// A format for `printf` that makes exactly these bytes, any of the 256 among them.
fn posix_printf_format(bytes: &[u8]) -> String {
    let mut format = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b" @+:,./_={}\"".contains(&byte) {
            format.push(char::from(byte));
        } else {
            // Writing to a string cannot fail. Always three digits, because a digit may follow.
            write!(format, "\\{byte:03o}").ok();
        }
    }
    format!("'{format}'")
}

/// A literal that PowerShell takes for exactly these characters. It knows five kinds of single
/// quotation marks, and all of them end a literal.
#[must_use]
pub fn powershell_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    for letter in text.chars() {
        if matches!(letter, '\'' | '\u{2018}'..='\u{201b}') {
            literal.push(letter);
        }
        literal.push(letter);
    }
    literal.push('\'');
    literal
}

/// A line of PowerShell that runs a command; a script in it cannot end more than itself.
pub(crate) fn powershell_line(command: &Command) -> String {
    match command.argv.as_slice() {
        [program @ .., text] if program == POWERSHELL => {
            format!("& ([scriptblock]::Create({}))", powershell_literal(text))
        }
        [program, arguments @ ..] => {
            let program = powershell_literal(program);
            let arguments = powershell_literal(&windows_arguments(arguments));
            format!("[Diagnostics.Process]::Start({program}, {arguments}).WaitForExit()")
        }
        [] => String::new(),
    }
}

/// The command line from which a Windows program reads exactly these arguments, by the rules of
/// Microsoft's C runtime. PowerShell 5.1 has rules of its own and loses quotation marks, so programs
/// are started with this instead of with its operators.
#[must_use]
pub fn windows_arguments(arguments: &[String]) -> String {
    let quoted: Vec<String> = arguments
        .iter()
        .map(|text| windows_argument(text))
        .collect();
    quoted.join(" ")
}

fn windows_argument(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    let mut backslashes = 0;
    quoted.push('"');
    for letter in text.chars() {
        // Backslashes are only special in front of a quotation mark.
        if letter == '"' {
            quoted.extend(std::iter::repeat_n('\\', backslashes + 1));
        }
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
        quoted.push(letter);
    }
    quoted.extend(std::iter::repeat_n('\\', backslashes));
    quoted.push('"');
    quoted
}

/// What `powershell.exe -EncodedCommand` takes: base64 of UTF-16, low byte first.
#[must_use]
pub fn powershell_encoded(script: &str) -> String {
    let bytes: Vec<u8> = script.encode_utf16().flat_map(u16::to_le_bytes).collect();
    base64(&bytes)
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let letter = usize::try_from(bits >> (18 - 6 * index) & 63).unwrap_or(0);
            let used = index <= group.len();
            text.push(if used {
                char::from(ALPHABET[letter])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;

    use super::super::{Exec, Local};
    use super::*;

    /// Everything that means something to some shell.
    const SPECIAL: &str =
        "'\"\\$`!*?[]{}()<>|&;#~=%^-+,. \t\n\r\u{1b}\u{7f}\u{1}\u{2018}\u{2019}aZ0é漢";

    fn words() -> impl Strategy<Value = Vec<String>> {
        let letter = prop_oneof![
            3 => proptest::sample::select(SPECIAL.chars().collect::<Vec<_>>()),
            1 => proptest::char::any().prop_filter("no shell takes NUL", |letter| *letter != '\0'),
        ];
        let word = proptest::collection::vec(letter, 0..12);
        let word = word.prop_map(|letters| letters.into_iter().collect());
        proptest::collection::vec(word, 1..8)
    }

    /// One shell for all cases, because starting it takes most of the time.
    fn check_shell(shell: &str) {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let mut cases = Vec::new();
        let (mut script, mut expected) = (String::new(), Vec::new());
        for _ in 0..400 {
            let case = words().new_tree(&mut runner).unwrap().current();
            writeln!(script, "printf '%s\\0' {}", posix_words(&case)).unwrap();
            let bytes = case.concat().into_bytes();
            writeln!(
                script,
                "printf {} ; printf '\\0'",
                posix_printf_format(&bytes)
            )
            .unwrap();
            for word in &case {
                expected.extend_from_slice(word.as_bytes());
                expected.push(0);
            }
            expected.extend_from_slice(&bytes);
            expected.push(0);
            cases.push(case);
        }
        let every_byte: Vec<u8> = (0..=u8::MAX).collect();
        writeln!(script, "printf {}", posix_printf_format(&every_byte)).unwrap();
        expected.extend_from_slice(&every_byte);
        let command = Command::new(shell.split(' ')).with_stdin(script);
        let output = Local::new().run(&[command]).unwrap().remove(0);
        assert_eq!(
            output.status,
            0,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let split = |bytes: &[u8]| -> Vec<String> {
            let parts = bytes.split(|&byte| byte == 0);
            parts
                .map(|part| String::from_utf8_lossy(part).into_owned())
                .collect()
        };
        assert_eq!(split(&output.stdout), split(&expected), "{shell}");
        assert!(output.stdout == expected);
    }

    #[test]
    fn posix_shells_take_words_for_what_they_are() {
        for shell in ["sh", "dash", "bash", "bash --posix"] {
            check_shell(shell);
        }
    }

    /// What PowerShell makes of a literal, by its language specification, section 2.3.5.2.
    fn powershell_reads(literal: &str) -> Option<String> {
        let is_mark = |letter: char| matches!(letter, '\'' | '\u{2018}'..='\u{201b}');
        let inner: Vec<char> = literal.chars().collect();
        let (first, rest) = inner.split_first()?;
        let (last, inner) = rest.split_last()?;
        if !is_mark(*first) || !is_mark(*last) {
            return None;
        }
        let mut letters = inner.iter().peekable();
        let mut text = String::new();
        while let Some(letter) = letters.next() {
            if is_mark(*letter) {
                // One alone would have ended the literal. The second of two is the one that counts.
                text.push(*letters.next().filter(|next| is_mark(**next))?);
            } else {
                text.push(*letter);
            }
        }
        Some(text)
    }

    /// A command line, split as Microsoft documents it for programs written in C.
    fn program_reads(line: &str) -> Vec<String> {
        let letters: Vec<char> = line.chars().collect();
        let (mut words, mut word, mut quoted, mut at) = (Vec::new(), None, false, 0);
        while at < letters.len() {
            let slashes = letters[at..]
                .iter()
                .take_while(|letter| **letter == '\\')
                .count();
            at += slashes;
            let next = letters.get(at).copied();
            let kept = if next == Some('"') {
                slashes / 2
            } else {
                slashes
            };
            if slashes > 0 {
                let word = word.get_or_insert_with(String::new);
                word.extend(std::iter::repeat_n('\\', kept));
            }
            match next {
                Some('"') if slashes % 2 == 0 => {
                    quoted = !quoted;
                    word.get_or_insert_with(String::new);
                }
                Some(' ' | '\t') if !quoted => words.extend(word.take()),
                Some(letter) => word.get_or_insert_with(String::new).push(letter),
                None => {}
            }
            at += 1;
        }
        words.extend(word);
        words
    }

    fn base64_reads(text: &str) -> Vec<u8> {
        let output = Local::new()
            .run(&[Command::new(["base64", "-d"]).with_stdin(text)])
            .unwrap()
            .remove(0);
        assert_eq!(output.status, 0, "{text}");
        output.stdout
    }

    #[test]
    fn powershell_takes_literals_and_arguments_for_what_they_are() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..2_000 {
            let case = words().new_tree(&mut runner).unwrap().current();
            let line = windows_arguments(&case);
            assert_eq!(program_reads(&line), case, "{line}");
            let literal = powershell_literal(&line);
            assert_eq!(powershell_reads(&literal), Some(line), "{literal}");
        }
    }

    #[test]
    fn an_encoded_command_is_base64_of_utf_16() {
        assert_eq!(powershell_encoded("dir"), "ZABpAHIA");
        for text in [
            "",
            "a",
            "ab",
            "Get-NetAdapter | ConvertTo-Json # 有効 \u{1f600}",
        ] {
            let units: Vec<u16> = base64_reads(&powershell_encoded(text))
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            assert_eq!(String::from_utf16(&units).unwrap(), text);
        }
    }
}
