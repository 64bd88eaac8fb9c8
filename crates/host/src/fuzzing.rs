//! What fuzz targets reach of this crate: the parser of what a host behind SSH says. No interface; see
//! `fuzz/`.

use crate::exec::ssh::remote_script;

/// How many outputs a batch has that a host answers like this, whatever `token` it was given.
///
/// # Panics
/// When there are more or fewer standard errors than commands, or an output is none of what was said.
#[must_use]
pub fn heard_over_ssh(token: &str, stdout: &[u8], stderr: &[u8], commands: usize) -> usize {
    let (frames, errors, output) = remote_script::understand(token, stdout, stderr, commands);
    assert_eq!(errors.len(), commands, "each command has its own");
    let output = output.unwrap_or_default();
    assert!(stdout.ends_with(&output), "nothing is invented");
    frames
}
