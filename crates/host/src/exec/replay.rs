//! Recorded commands, played again in tests.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Command, Exec, Output, Process};
use crate::Error;

/// One command with what it left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Exit status.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// Commands in the order in which they ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transcript {
    /// The commands.
    pub exchanges: Vec<Exchange>,
}

type Answer = dyn FnMut(&Command) -> Result<Output, Error> + Send;

/// Answers commands without running anything.
#[derive(Clone)]
pub struct Replay {
    answer: Arc<Mutex<Answer>>,
}

impl fmt::Debug for Replay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Replay")
    }
}

impl Replay {
    /// Plays a recording: each command gets its own answers in their order, the last of them again
    /// and again. A command that was not recorded is an error.
    #[must_use]
    pub fn recorded(transcript: Transcript) -> Self {
        let mut answers: HashMap<Vec<String>, Vec<Exchange>> = HashMap::new();
        for exchange in transcript.exchanges.into_iter().rev() {
            answers
                .entry(exchange.argv.clone())
                .or_default()
                .push(exchange);
        }
        Self::model(move |command| {
            let missing = || Error::NotRecorded {
                argv: command.argv.clone(),
            };
            let left = answers.get_mut(&command.argv).ok_or_else(missing)?;
            let next = if left.len() > 1 {
                left.pop()
            } else {
                left.first().cloned()
            };
            let exchange = next.ok_or_else(missing)?;
            Ok(Output {
                status: exchange.status,
                stdout: exchange.stdout.into_bytes(),
                stderr: exchange.stderr.into_bytes(),
            })
        })
    }

    /// Answers as `answer` says: a model of a host that has a state.
    pub fn model(answer: impl FnMut(&Command) -> Result<Output, Error> + Send + 'static) -> Self {
        Self {
            answer: Arc::new(Mutex::new(answer)),
        }
    }

    fn answer(&self, command: &Command) -> Result<Output, Error> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer(command)
    }
}

impl Exec for Replay {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error> {
        commands
            .iter()
            .map(|command| self.answer(command))
            .collect()
    }

    fn spawn(&self, command: &Command) -> Result<Process, Error> {
        Ok(Process::replayed(
            command.argv.clone(),
            self.answer(command)?,
        ))
    }
}

/// Runs commands through another way and writes down what they left behind. Spawned programs are
/// not recorded.
#[derive(Debug)]
pub struct Recorder {
    inner: Arc<dyn Exec>,
    transcript: Mutex<Transcript>,
}

impl Recorder {
    /// Records what runs through `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Exec>) -> Self {
        Self {
            inner,
            transcript: Mutex::default(),
        }
    }

    /// What was recorded so far.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        self.transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Exec for Recorder {
    fn run(&self, commands: &[Command]) -> Result<Vec<Output>, Error> {
        let outputs = self.inner.run(commands)?;
        let mut transcript = self
            .transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (command, output) in commands.iter().zip(&outputs) {
            transcript.exchanges.push(Exchange {
                argv: command.argv.clone(),
                status: output.status,
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        Ok(outputs)
    }

    fn spawn(&self, command: &Command) -> Result<Process, Error> {
        self.inner.spawn(command)
    }
}
