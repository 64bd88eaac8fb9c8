//! JSON that several commands print. `docs/schema` is made of these types and of those beside each command.

use host::exec::Command;
use record::HostName;
use schemars::JsonSchema;
use serde::Serialize;

/// A command that a host runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HostCommand<'a> {
    /// The host.
    host: &'a HostName,
    /// The program and its arguments.
    argv: &'a [String],
}

impl<'a> HostCommand<'a> {
    /// Those of a plan, in their order.
    pub fn all(commands: &'a [(HostName, Command)]) -> Vec<Self> {
        let commands = commands.iter();
        let commands = commands.map(|(host, command)| Self {
            host,
            argv: &command.argv,
        });
        commands.collect()
    }
}
