//! What runs at the far end, and what comes back from it.
//!
//! The far login shell, whatever it is, only ever sees one constant line. That hands over to
//! `/bin/sh` (or PowerShell), which reads the script from its standard input to the end of it, so
//! that a connection that breaks on the way runs nothing. Before and after each command the script
//! writes a line with a token that nobody can know; all between two of them is output, whatever
//! bytes it has and whatever the login shell greets with.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::shell::{
    posix_line, posix_word, posix_words, powershell_encoded, powershell_literal, windows_arguments,
};
use super::super::{Command, POWERSHELL, Privilege};

/// Understood alike by sh, bash, zsh, ksh, csh, tcsh and fish: single quotation marks, and within
/// them no such mark, no line break and no `!`.
pub(super) const POSIX_BOOTSTRAP: &str = "exec /bin/sh -c 'n=$(printf \"\\nx\"); n=${n%x}; s=; \
    IFS= read -r t; while IFS= read -r l; do if [ \"$l\" = \"$t\" ]; then eval \"$s\"; exit; fi; \
    s=$s$l$n; done; exit 99'";
/// Reads one line of base64, which ends in a full stop when it is whole.
const POWERSHELL_BOOTSTRAP: &str = "$ProgressPreference='SilentlyContinue';\
    $ErrorActionPreference='Stop';[Console]::OutputEncoding=[Text.UTF8Encoding]::new($false);\
    $l=[Console]::In.ReadLine();if(-not $l.EndsWith('.')){exit 99};\
    Invoke-Expression ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String($l.TrimEnd('.'))))";
/// What a shell of Windows needs before it can run commands. Some programs write UTF-8 and some the
/// code page of the console, whatever they are told; what comes here is always UTF-8. A script's
/// objects are texts of any length, which no formatting may cut.
const POWERSHELL_PREAMBLE: &str = r#"
$out = [Console]::OpenStandardOutput(); $err = [Console]::OpenStandardError()
function Write-To($stream, [string]$text) { $b = [Text.Encoding]::UTF8.GetBytes($text); $stream.Write($b, 0, $b.Length); $stream.Flush() }
function Write-Mark($status) { Write-To $out "`n$token $status`n"; Write-To $err "`n$token`n" }
function Invoke-Program([string]$file, [string]$arguments, [string]$stdin) {
  try {
    $info = New-Object Diagnostics.ProcessStartInfo
    $info.FileName = $file; $info.Arguments = $arguments; $info.UseShellExecute = $false
    $info.RedirectStandardInput = $true; $info.RedirectStandardOutput = $true; $info.RedirectStandardError = $true
    $process = [Diagnostics.Process]::Start($info)
  } catch { Write-To $err $_.Exception.Message; Write-Mark 127; return }
  $said = $process.StandardError.ReadToEndAsync()
  $bytes = [Convert]::FromBase64String($stdin)
  try { $process.StandardInput.BaseStream.Write($bytes, 0, $bytes.Length); $process.StandardInput.Close() } catch { }
  $all = New-Object IO.MemoryStream; $process.StandardOutput.BaseStream.CopyTo($all); $process.WaitForExit()
  $oem = [Text.Encoding]::GetEncoding([Globalization.CultureInfo]::CurrentCulture.TextInfo.OEMCodePage)
  try { $text = [Text.UTF8Encoding]::new($false, $true).GetString($all.ToArray()) } catch { $text = $oem.GetString($all.ToArray()) }
  Write-To $out $text; Write-To $err $said.Result; Write-Mark $process.ExitCode
}
function Invoke-Script([string]$text) {
  try { & ([scriptblock]::Create($text)) | ForEach-Object { Write-To $out "$_`n" }; Write-Mark 0 }
  catch [Management.Automation.CommandNotFoundException] { Write-To $err $_.ToString(); Write-Mark 127 }
  catch { Write-To $err $_.ToString(); Write-Mark 1 }
}
"#;

/// What the far login shell is asked to run on Windows.
pub(super) fn powershell_bootstrap() -> String {
    let encoded = powershell_encoded(POWERSHELL_BOOTSTRAP);
    format!("powershell.exe -NoProfile -NonInteractive -EncodedCommand {encoded}")
}

/// A POSIX script with the line that ends it.
pub(super) fn posix_input(token: &str, script: &str) -> Vec<u8> {
    format!("{token}\n{script}\n{token}\n").into_bytes()
}

/// A PowerShell script as its one line.
pub(super) fn powershell_input(script: &str) -> Vec<u8> {
    format!("{}.\n", powershell_encoded(script)).into_bytes()
}

/// Says who answers, and then stays until its input ends: the life of a connection.
pub(super) fn posix_greeting(token: &str) -> String {
    format!("printf '\\n{token} %s\\n' \"$(id -u)\"; exec cat >/dev/null")
}

/// The same on Windows. User 0 is an administrator.
pub(super) fn powershell_greeting(token: &str) -> String {
    format!(
        "$role=[Security.Principal.WindowsBuiltInRole]::Administrator;\
         $me=[Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent();\
         $id=if($me.IsInRole($role)){{0}}else{{1}};\
         [Console]::Out.Write(\"`n{token} $id`n\");[void][Console]::In.ReadToEnd()"
    )
}

const POSIX_ENVIRONMENT: &str =
    "PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin; LC_ALL=C; export PATH LC_ALL";

/// How a command begins, so that a shell takes it neither for a word of its own nor for a builtin.
fn posix_prefix(command: &Command, is_root: bool) -> &'static str {
    if command.privilege == Privilege::Root && !is_root {
        "sudo -n --"
    } else {
        "env"
    }
}

/// Ends everything in the script's process group, also what `sudo` started.
fn posix_kill_group(is_root: bool) -> &'static str {
    if is_root {
        "kill -9 0"
    } else {
        "sudo -n -- kill -9 -- -$$; kill -9 0"
    }
}

/// Runs commands one after another. As long as it runs, another process waits for the end of its
/// input, which is the end of the connection or of our patience, and then ends it.
pub(super) fn posix_batch(commands: &[Command], token: &str, is_root: bool) -> String {
    let kill = posix_kill_group(is_root);
    let mut script = format!(
        "exec 3<&0 </dev/null\n{POSIX_ENVIRONMENT}\n\
         (trap '' HUP TERM; cat <&3; {kill}) >/dev/null 2>&1 &\nw=$!\nexec 3<&-\n\
         m() {{ s=$?; printf '\\n{token} %s\\n' \"$s\"; printf '\\n{token}\\n' >&2; }}\nm\n"
    );
    for command in commands {
        let line = posix_line(posix_prefix(command, is_root), command);
        // Writing to a string cannot fail.
        writeln!(script, "{line}\nm").ok();
    }
    write!(
        script,
        "kill -9 \"$w\" 2>/dev/null\nprintf '\\n{token} end\\n'"
    )
    .ok();
    script
}

/// Runs one program with the connection as its input and output. When the input ends and the
/// program does not, it is ended.
pub(super) fn posix_spawn(command: &Command, token: &str, is_root: bool) -> String {
    let kill = posix_kill_group(is_root);
    let prefix = posix_prefix(command, is_root);
    let argv = posix_words(&command.argv);
    let own_process = posix_word("echo $PPID");
    format!(
        "exec 3<&0\n{POSIX_ENVIRONMENT}\nprintf '\\n{token} start\\n'\n\
         (sh -c {own_process}; cat <&3; exec >&-; sleep 2; {kill}) 2>/dev/null | \
         (IFS= read -r w; exec 3<&-; {prefix} {argv}; s=$?; kill -9 \"$w\" 2>/dev/null; exit \"$s\")"
    )
}

/// Runs commands one after another on Windows: PowerShell's own within this one, others as programs.
pub(super) fn powershell_batch(commands: &[Command], token: &str) -> String {
    let mut script = format!("$token = '{token}'{POWERSHELL_PREAMBLE}Write-Mark 0\n");
    for command in commands {
        // Writing to a string cannot fail.
        match command.argv.as_slice() {
            [program @ .., text] if program == POWERSHELL => {
                writeln!(script, "Invoke-Script {}", powershell_literal(text)).ok();
            }
            [program, arguments @ ..] => {
                let program = powershell_literal(program);
                let arguments = powershell_literal(&windows_arguments(arguments));
                let stdin = super::super::shell::base64(&command.stdin);
                writeln!(script, "Invoke-Program {program} {arguments} '{stdin}'").ok();
            }
            [] => {}
        }
    }
    write!(script, "Write-To $out \"`n$token end`n\"").ok();
    script
}

/// Most bytes that stand behind a token.
const NOTE_BYTES_MAX: usize = 32;
/// Pieces of output that wait to be looked at.
const PIECES_WAITING: usize = 16;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// What stood in front of a token, and the word behind it.
    Frame(Vec<u8>, String),
    /// The output ended.
    Ended,
    /// The time is over.
    Late,
    /// There was more than anybody wants to read.
    TooLong,
}

/// Output, cut at tokens as it comes.
pub(super) struct Frames {
    pieces: Receiver<Vec<u8>>,
    marker: Vec<u8>,
    buffer: Vec<u8>,
    /// In front of this no marker begins.
    searched: usize,
    /// Bytes that may still come.
    room: usize,
}

impl Frames {
    /// Listens on a thread of its own, which ends with the output.
    pub(super) fn new(stdout: Box<dyn BufRead + Send>, token: &str, bytes_max: usize) -> Self {
        let (sender, pieces) = mpsc::sync_channel(PIECES_WAITING);
        thread::spawn(move || {
            let mut stdout = stdout;
            loop {
                let piece = match stdout.fill_buf() {
                    Ok([]) | Err(_) => break,
                    Ok(piece) => piece.to_vec(),
                };
                stdout.consume(piece.len());
                if sender.send(piece).is_err() {
                    break;
                }
            }
        });
        Self {
            pieces,
            marker: format!("\n{token} ").into_bytes(),
            buffer: Vec::new(),
            searched: 0,
            room: bytes_max,
        }
    }

    /// The next frame, for which there is so much time.
    pub(super) fn next(&mut self, limit: Duration) -> Heard {
        let deadline = Instant::now().checked_add(limit);
        loop {
            if let Some(frame) = self.cut() {
                return frame;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let piece = match self.pieces.recv_timeout(left.unwrap_or(Duration::MAX)) {
                Ok(piece) => piece,
                Err(RecvTimeoutError::Timeout) => return Heard::Late,
                Err(RecvTimeoutError::Disconnected) => return Heard::Ended,
            };
            match self.room.checked_sub(piece.len()) {
                Some(room) => self.room = room,
                None => return Heard::TooLong,
            }
            self.buffer.extend_from_slice(&piece);
        }
    }

    fn cut(&mut self) -> Option<Heard> {
        let length = self.marker.len();
        let found = position(self.buffer.get(self.searched..)?, &self.marker);
        let Some(at) = found.map(|at| at + self.searched) else {
            self.searched = self.buffer.len().saturating_sub(length);
            return None;
        };
        self.searched = at;
        let behind = self.buffer.get(at + length..)?;
        let Some(end) = behind
            .iter()
            .take(NOTE_BYTES_MAX)
            .position(|&byte| byte == b'\n')
        else {
            // Not all of it is here yet, or it is none of ours.
            return (behind.len() >= NOTE_BYTES_MAX).then_some(Heard::Ended);
        };
        let note = String::from_utf8_lossy(&behind[..end]).into_owned();
        let rest = self.buffer.split_off(at + length + end + 1);
        let mut frame = std::mem::replace(&mut self.buffer, rest);
        frame.truncate(at);
        self.searched = 0;
        Some(Heard::Frame(frame, note))
    }
}

fn position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Standard errors of a batch: what stands behind the first token, cut at the others. Those behind
/// the end of what was kept are empty.
pub(super) fn cut_errors(stderr: &[u8], token: &str, count: usize) -> Vec<Vec<u8>> {
    let marker = format!("\n{token}\n").into_bytes();
    let mut rest = stderr;
    let mut errors = Vec::new();
    let mut is_greeting = true;
    while errors.len() < count {
        let Some(at) = position(rest, &marker) else {
            if !is_greeting {
                errors.push(rest.to_vec());
            }
            errors.resize(count, Vec::new());
            break;
        };
        if !is_greeting {
            errors.push(rest[..at].to_vec());
        }
        is_greeting = false;
        rest = &rest[at + marker.len()..];
    }
    errors
}

/// Most bytes that a login shell may write before our script begins.
const GREETING_BYTES_MAX: usize = 64 << 10;

/// A program's output without what the far login shell wrote in front of it.
pub(super) struct Skipping {
    inner: Box<dyn BufRead + Send>,
    /// What the last line in front begins with; `None` once it was there.
    marker: Option<Vec<u8>>,
}

impl Skipping {
    pub(super) fn new(inner: Box<dyn BufRead + Send>, token: &str) -> Self {
        let marker = Some(token.as_bytes().to_vec());
        Self { inner, marker }
    }

    fn skip(&mut self) -> io::Result<()> {
        let Some(marker) = self.marker.take() else {
            return Ok(());
        };
        let mut left = GREETING_BYTES_MAX as u64;
        loop {
            let mut line = Vec::new();
            let read = (&mut self.inner).take(left).read_until(b'\n', &mut line)?;
            left = left.saturating_sub(read as u64);
            if line.starts_with(&marker) {
                return Ok(());
            }
            if line.last() != Some(&b'\n') {
                // The connection ended, or the other end talks without end.
                return match self.inner.fill_buf()? {
                    [] => Ok(()),
                    _ => Err(io::ErrorKind::InvalidData.into()),
                };
            }
        }
    }
}

impl Read for Skipping {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.skip()?;
        self.inner.read(buffer)
    }
}

impl BufRead for Skipping {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.skip()?;
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// What a host makes of a batch that it answers like this, and of a program's output: for fuzz targets.
/// How many frames there are, the standard errors of so many commands, and the output.
pub(crate) fn understand(
    token: &str,
    stdout: &[u8],
    stderr: &[u8],
    commands: usize,
) -> (usize, Vec<Vec<u8>>, io::Result<Vec<u8>>) {
    let reader = || Box::new(io::Cursor::new(stdout.to_vec()));
    let mut frames = Frames::new(reader(), token, stdout.len());
    let cut = std::iter::from_fn(|| match frames.next(Duration::MAX) {
        Heard::Frame(output, _) => Some(output),
        _ => None,
    });
    let mut output = Vec::new();
    let read = Skipping::new(reader(), token).read_to_end(&mut output);
    (
        cut.count(),
        cut_errors(stderr, token, commands),
        read.map(|_| output),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "0123abcd";
    const SOON: Duration = Duration::from_secs(10);

    fn frames(bytes: &[u8], bytes_max: usize) -> Frames {
        let stdout = io::BufReader::with_capacity(3, io::Cursor::new(bytes.to_vec()));
        Frames::new(Box::new(stdout), TOKEN, bytes_max)
    }

    proptest! {
        #[test]
        fn frames_are_cut_at_tokens_whatever_is_between(parts in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 0..40), 0_u8..=255), 0..6))
        {
            let mut bytes = Vec::new();
            for (part, status) in &parts {
                bytes.extend_from_slice(part);
                bytes.extend_from_slice(format!("\n{TOKEN} {status}\n").as_bytes());
            }
            let mut frames = frames(&bytes, 10_000);
            for (part, status) in parts {
                prop_assert_eq!(frames.next(SOON), Heard::Frame(part, status.to_string()));
            }
            prop_assert_eq!(frames.next(SOON), Heard::Ended);
        }

        #[test]
        fn garbage_is_bounded_and_no_frame(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let heard = frames(&bytes, 200).next(SOON);
            let expected = if bytes.len() > 200 { Heard::TooLong } else { Heard::Ended };
            prop_assert_eq!(heard, expected);
            cut_errors(&bytes, TOKEN, 3);
        }
    }

    #[test]
    fn a_token_with_too_much_behind_it_is_none() {
        let text = format!("x\n{TOKEN} {}\n", "9".repeat(100));
        assert_eq!(frames(text.as_bytes(), 1000).next(SOON), Heard::Ended);
    }

    #[test]
    fn standard_errors_are_cut_and_what_is_missing_is_empty() {
        let text = format!("hello\n{TOKEN}\none\n{TOKEN}\n\n{TOKEN}\nthr");
        let errors = cut_errors(text.as_bytes(), TOKEN, 5);
        let errors: Vec<&str> = errors
            .iter()
            .map(|error| std::str::from_utf8(error).unwrap())
            .collect();
        assert_eq!(errors, ["one", "", "thr", "", ""]);
        assert_eq!(cut_errors(b"", TOKEN, 2), [b"", b""]);
    }

    #[test]
    fn greetings_in_front_of_a_program_are_skipped_and_bounded() {
        let skipped = |text: String| {
            let mut read = String::new();
            let inner = Box::new(io::Cursor::new(text.into_bytes()));
            Skipping::new(inner, TOKEN)
                .read_to_string(&mut read)
                .map(|_| read)
        };
        let text = format!("welcome\nto us\n{TOKEN} start\n{{\"json\":1}}\n");
        assert_eq!(skipped(text).unwrap(), "{\"json\":1}\n");
        assert_eq!(skipped(String::new()).unwrap(), "");
        assert!(skipped("x".repeat(GREETING_BYTES_MAX + 1)).is_err());
        assert!(skipped("x\n".repeat(GREETING_BYTES_MAX)).is_err());
    }

    #[test]
    fn a_batch_for_windows_quotes_every_argument_and_runs_scripts_within() {
        let commands = [
            Command::powershell("Get-NetAdapter -Name 'x'"),
            Command::new(["netsh", "int ip", "a\"b'c"]).with_stdin("y"),
        ];
        let script = powershell_batch(&commands, TOKEN);
        let lines: Vec<&str> = script.lines().rev().take(4).collect();
        assert_eq!(
            lines,
            [
                "Write-To $out \"`n$token end`n\"",
                "Invoke-Program 'netsh' '\"int ip\" \"a\\\"b''c\"' 'eQ=='",
                "Invoke-Script 'Get-NetAdapter -Name ''x'''",
                "Write-Mark 0",
            ]
        );
        assert!(
            powershell_bootstrap().len() < 8_000,
            "cmd.exe takes 8191 characters"
        );
    }
}
