//! What a host behind SSH prints around the outputs of commands. It knows the token that marks them, which
//! stands in the script that it was given; whoever greets in front of it does not. A line of four dashes
//! parts its output from its standard error.

use host::fuzzing;

const TOKEN: &str = "0123abcd";
const PART: &[u8] = b"\n----\n";

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let at = data.windows(PART.len()).position(|part| part == PART);
    let (stdout, stderr) = at.map_or((data, data), |at| (&data[..at], &data[at + PART.len()..]));
    let lines = stdout.split(|byte| *byte == b'\n').count();
    assert!(fuzzing::heard_over_ssh(TOKEN, stdout, stderr, 3) <= lines);
}
