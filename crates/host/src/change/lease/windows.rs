//! Leases on Windows.
//!
//! All of one is one key of the registry, where only administrators write: whoever could put a file
//! where a task of the system looks for it could run anything. The value `armed` in it decides, because
//! it can be deleted only once. The task stays over a restart, as the change does, and takes it back
//! then at once. Time is that of the processor's counter, which nobody sets.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Answer, Undo, printable};
use crate::exec::shell::{powershell_encoded, powershell_line, powershell_literal};
use crate::exec::{Command, Output};

/// Modules are loaded and a task is started, which may take long when it is for the first time.
const LIMIT: Duration = Duration::from_secs(60);

/// What all scripts begin with, behind `$name`.
const COMMON: &str = r#"
$all = 'SOFTWARE\linerate\leases'; $task = "linerate-lease-$name"
$machine = [Microsoft.Win32.Registry]::LocalMachine
function Get-End($seconds) { [string]([Diagnostics.Stopwatch]::GetTimestamp() + $seconds * [Diagnostics.Stopwatch]::Frequency) }
function Remove-Lease($name) {
  Unregister-ScheduledTask -TaskName "linerate-lease-$name" -Confirm:$false -ErrorAction SilentlyContinue
  $machine.DeleteSubKeyTree("$all\$name", $false)
  try { $machine.DeleteSubKey($all); $machine.DeleteSubKey('SOFTWARE\linerate') } catch { }
}
"#;

/// Waits as a task of the system. Whoever started it a second time finds that there was a first one,
/// and that is over: the machine was restarted.
const WAIT: &str = r#"
$key = $machine.OpenSubKey("$all\$name", $true)
if ($null -eq $key) { Remove-Lease $name; exit }
$again = $null -ne $key.GetValue('waiter')
$key.SetValue('waiter', [string]$PID)
try {
  while ($null -ne $key.GetValue('armed')) {
    if ($again -or [Diagnostics.Stopwatch]::GetTimestamp() -ge [long]$key.GetValue('until')) {
      $undo = $key.GetValue('undo'); $mode = 'back'
      $key.DeleteValue('armed', $true)
      & ([scriptblock]::Create($undo)) | Out-Null
      Remove-Lease $name
      exit
    }
    Start-Sleep -Seconds 1
  }
} catch { }
"#;

/// Arms a lease; `$own`, `$seconds`, `$holder`, `$undo` and `$wait` are set. What another linerate has
/// left behind without a task that could take it back is removed.
const ARM: &str = r#"
$key = $machine.CreateSubKey("$all\$name")
try {
  $key.SetValue('holder', $holder); $key.SetValue('since', (Get-End 60))
  foreach ($other in $machine.OpenSubKey($all).GetSubKeyNames()) {
    $theirs = $machine.OpenSubKey("$all\$other")
    if ($other.StartsWith($own) -or $null -eq $theirs) { continue }
    $waits = Get-ScheduledTask -TaskName "linerate-lease-$other" -ErrorAction SilentlyContinue
    if ($waits -and [string]$waits.State -ne 'Running') { $waits | Start-ScheduledTask }
    if ($waits -or [Diagnostics.Stopwatch]::GetTimestamp() -lt [long]$theirs.GetValue('since')) {
      $text = $theirs.GetValue('holder'); Remove-Lease $name; "held $text"; return
    }
    Remove-Lease $other
  }
  $key.SetValue('undo', $undo); $key.SetValue('until', (Get-End $seconds)); $key.SetValue('armed', '1')
  $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument "-NoProfile -NonInteractive -EncodedCommand $wait"
  $who = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount -RunLevel Highest
  $how = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -ExecutionTimeLimit ([TimeSpan]::Zero)
  $start = New-ScheduledTaskTrigger -AtStartup
  Register-ScheduledTask -TaskName $task -Action $action -Principal $who -Settings $how -Trigger $start -Force | Out-Null
  Start-ScheduledTask -TaskName $task
  for ($try = 0; $null -eq $key.GetValue('waiter'); $try++) {
    if ($try -ge 120) { throw 'nothing waits there' }
    Start-Sleep -Milliseconds 250
  }
  $key.SetValue('until', (Get-End $seconds))
  'armed'
} catch { Remove-Lease $name; throw }
"#;

/// Writes down how the settings look, unless the lease is over; see [`undo_script`].
const NOTE: &str = r#"
try {
  $key = $machine.OpenSubKey("$all\$name", $true); $mode = 'note'
  if ($null -eq $key.GetValue('armed')) { 'over'; return }
} catch { 'over'; return }
& ([scriptblock]::Create($key.GetValue('undo'))) | Out-Null
'noted'
"#;

/// A sign of life; `$seconds` is set.
const RENEW: &str = r#"
try {
  $key = $machine.OpenSubKey("$all\$name", $true)
  if ($null -eq $key.GetValue('armed')) { 'over'; return }
  $key.SetValue('until', (Get-End $seconds))
  if ($null -eq $key.GetValue('armed')) { 'over' } else { 'renewed' }
} catch { 'over' }
"#;

/// The change stays, or is back already.
const DISARM: &str = r#"
try { $machine.OpenSubKey("$all\$name", $true).DeleteValue('armed', $true) } catch { 'over'; return }
Stop-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue
Remove-Lease $name
'disarmed'
"#;

/// A script that begins with the lease's name.
fn script(id: &str, rest: &str) -> String {
    format!("$name = {}{COMMON}{rest}", powershell_literal(id))
}

fn command(script: String) -> Command {
    Command::powershell(script).with_timeout(LIMIT).as_root()
}

pub(super) fn arm(owner: &str, id: &str, length: Duration, holder: &str, undo: &[Undo]) -> Command {
    let own = powershell_literal(&format!("{owner}."));
    let seconds = length.as_secs();
    let holder = powershell_literal(holder);
    let undo = powershell_literal(&undo_script(undo));
    let wait = powershell_encoded(&script(id, WAIT));
    command(script(
        id,
        &format!(
            "$own = {own}; $seconds = {seconds}; $holder = {holder}; $undo = {undo}; \
             $wait = '{wait}'{ARM}"
        ),
    ))
}

pub(super) fn renew(id: &str, length: Duration) -> Command {
    let seconds = length.as_secs();
    command(script(id, &format!("$seconds = {seconds}{RENEW}")))
}

pub(super) fn disarm(id: &str) -> Command {
    command(script(id, DISARM))
}

/// Each setting in its turn, whatever became of the one before. Where `$mode` is `note` the script writes
/// down in `$key` how the settings look; otherwise it leaves alone what looks otherwise by then: that is
/// somebody else's.
fn undo_script(undo: &[Undo]) -> String {
    let mut script = "$ErrorActionPreference = 'Stop'\n".to_owned();
    for (at, setting) in undo.iter().enumerate() {
        let look = setting.print_value.as_ref();
        let look = look.map_or_else(|| "throw".to_owned(), powershell_line);
        let back = setting.restore.iter();
        let back =
            back.map(|command| format!("try {{ {} }} catch {{ }}", powershell_line(command)));
        let back: Vec<String> = back.collect();
        // Writing to a string cannot fail.
        writeln!(
            script,
            "$place = 'after.{at}'; $look = {{ {look} }}; $now = $null\n\
             try {{ $now = @(& $look) -join ' ' }} catch {{ }}\n\
             if ($mode -eq 'note') {{ if ($null -ne $now) {{ $key.SetValue($place, $now) }} }}\n\
             elseif ($null -eq $key.GetValue($place) -or $key.GetValue($place) -ceq $now) {{\n{}\n}}",
            back.join("\n")
        )
        .ok();
    }
    script
}

pub(super) fn note(id: &str) -> Command {
    command(script(id, NOTE))
}

/// Scripts have no exit status to choose, so the last line says it.
pub(super) fn answer(output: &Output) -> Answer {
    let Some(said) = output.text() else {
        return Answer::Failed(printable(&String::from_utf8_lossy(&output.stderr)));
    };
    let last = said.trim().lines().next_back().unwrap_or_default().trim();
    match last.split_once(' ').unwrap_or((last, "")) {
        ("armed" | "noted" | "renewed" | "disarmed", "") => Answer::Done,
        ("held", holder) => Answer::Held(printable(holder)),
        ("over", "") => Answer::Over,
        _ => Answer::Failed(printable(last)),
    }
}
