//! What each error says.

use std::fmt;
use std::io;

use locale::{Language, Message, say};

use super::Error;

impl Error {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Usage { reason } => say("error-measure.usage").with("reason", reason.clone()),
            Self::Input { column } => say("error-measure.input").count("column", *column),
            Self::Stopped => say("error-measure.stopped"),
            Self::Recipe { name, reason, .. } => say("error-measure.recipe")
                .with("name", name)
                .with("reason", reason.clone()),
            Self::System { action, .. } => action.clone(),
            Self::Share(error) => error.message(),
            Self::Host(error) => error.message(),
            _ => self.of_connection(),
        }
    }

    /// The same, of a connection and what came by it.
    fn of_connection(&self) -> Message {
        match self {
            Self::Connect { address, .. } => {
                say("error-measure.connect").with("address", address.to_string())
            }
            Self::Nic { nic, .. } => say("error-measure.nic").with("nic", nic),
            Self::NotAgreed {
                server,
                agreed,
                demanded,
            } => by("error-measure.not-agreed", server)
                .with("agreed", agreed)
                .with("demanded", demanded),
            Self::Connection { action, server, .. } => {
                action.clone().with("server", server.to_string())
            }
            Self::Silence { server, counted } => {
                by("error-measure.silence", server).with("counted", format!("{counted:?}"))
            }
            Self::TooSlow { server, limit } => {
                by("error-measure.too-slow", server).with("limit", format!("{limit:?}"))
            }
            Self::Disagreement { server, far, ours } => by("error-measure.disagreement", server)
                .with("far", far.to_string())
                .with("ours", ours.to_string()),
            _ => self.of_program(),
        }
    }

    /// The same, of iperf3 and fio.
    fn of_program(&self) -> Message {
        match self {
            Self::Busy { server } => by("error-measure.busy", server),
            Self::Server {
                server,
                code,
                system,
            } => {
                let system = (*system != 0).then(|| io::Error::from_raw_os_error(*system));
                by("error-measure.server", server)
                    .with("code", code.to_string())
                    .with_known("system", system.map(|error| error.to_string()))
            }
            Self::Ended { server } => by("error-measure.ended", server),
            Self::Protocol { server, reason } => {
                by("error-measure.protocol", server).with("reason", reason.clone())
            }
            Self::NoIperf => say("error-measure.no-iperf"),
            Self::FarServer { reason } => {
                say("error-measure.far-server").with("reason", reason.clone())
            }
            Self::NoFio => say("error-measure.no-fio"),
            Self::Fio { reason } => say("error-measure.fio").with("reason", reason.clone()),
            _ => self.of_file(),
        }
    }

    /// The same, of the files that a trial makes or finds.
    fn of_file(&self) -> Message {
        match self {
            Self::NoSpace {
                share,
                needed,
                available,
            } => on("error-measure.no-space", share)
                .with("needed", needed.to_string())
                .with("available", available.to_string()),
            Self::TestFile { folder, .. } => {
                say("error-measure.test-file").with("folder", folder.display().to_string())
            }
            Self::SecondMount { share, reason, .. } => {
                on("error-measure.second-mount", share).with("reason", reason.clone())
            }
            // A limit that no file reaches is none.
            Self::NoFile { share, least, most } if i64::try_from(*most).is_err() => {
                on("error-measure.no-file", share).count("least", megabytes(*least))
            }
            Self::NoFile { share, least, most } => on("error-measure.no-file-up-to", share)
                .count("least", megabytes(*least))
                .count("most", megabytes(*most)),
            Self::NothingToRead { share, least, .. } => {
                on("error-measure.nothing-to-read", share).count("least", megabytes(*least))
            }
            // All others are said above.
            other => format!("{other:?}").into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// About a server.
fn by(id: &'static str, server: &impl ToString) -> Message {
    say(id).with("server", server.to_string())
}

/// About something on a share.
fn on(id: &'static str, share: &str) -> Message {
    say(id).with("share", share)
}

const fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

/// What a cause says, in any language where it is an error of this crate or of those below it.
pub fn message_of(cause: &(dyn std::error::Error + 'static)) -> Message {
    macro_rules! ours {
        ($($kind:ty),*) => {
            $(
                let boxed = cause.downcast_ref::<Box<$kind>>().map(|error| &**error);
                if let Some(error) = cause.downcast_ref::<$kind>().or(boxed) {
                    return error.message();
                }
            )*
        };
    }
    ours!(Error, host::Error);
    smb::message_of(cause)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use locale::Kept;

    use super::*;

    #[test]
    fn a_failure_says_in_every_language_what_each_of_its_causes_says() {
        let refused = Error::Share(smb::Error::OnlySmb1 {
            server: "nas".to_owned(),
        });
        let nothing = Error::NothingToRead {
            share: "smb://nas/data".to_owned(),
            least: 32 << 20,
            source: Box::new(refused),
        };
        let failure = nothing.failure();
        assert_eq!(
            failure.chain[0],
            "there is no file of 34 MB or more on `smb://nas/data` that could be read, \
             and none can be made"
        );
        assert_eq!(failure.chain.len(), 2, "{failure:?}");
        let kept: Vec<Message> = failure.messages.iter().filter_map(Kept::message).collect();
        let said: Vec<String> = kept
            .iter()
            .map(|kept| Language::English.say(kept))
            .collect();
        let mut texts = failure.chain.iter().chain(&failure.hint);
        assert!(texts.all(|text| said.contains(text)), "{said:?}");
    }

    #[test]
    fn a_cause_that_others_hold_too_is_one_of_ours() {
        let lost = smb::ProtocolError::Transport(Arc::new(smb::Error::Stopped));
        let cause = std::error::Error::source(&lost).unwrap();
        assert_eq!(message_of(cause), smb::Error::Stopped.message());
    }

    #[test]
    fn an_error_of_iperf3_is_said_with_that_of_its_system() {
        let reports = |system| Error::Server {
            server: ([127, 0, 0, 1], 5201).into(),
            code: 103,
            system,
        };
        let said = "the iperf3 server `127.0.0.1:5201` reports its error 103";
        assert_eq!(reports(0).to_string(), said);
        let refused = io::Error::from_raw_os_error(13);
        assert_eq!(reports(13).to_string(), format!("{said} ({refused})"));
    }

    #[test]
    fn sizes_of_files_are_in_megabytes() {
        let sought = |most| Error::NoFile {
            share: "smb://nas/data".to_owned(),
            least: 32 << 20,
            most,
        };
        let rest = "on `smb://nas/data` that could be read";
        assert_eq!(
            sought(64 << 20).to_string(),
            format!("there is no file of 34 to 68 MB {rest}")
        );
        assert_eq!(
            sought(u64::MAX).to_string(),
            format!("there is no file of 34 MB or more {rest}")
        );
    }
}
