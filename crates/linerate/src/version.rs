//! Which build of linerate this is.

use locale::{said, say};
use schemars::JsonSchema;
use serde::Serialize;

/// What `--version` says behind the name.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("LINERATE_BUILT_OF"),
    "\ntarget: ",
    env!("LINERATE_BUILT_FOR"),
    "\nfeatures: ",
    env!("LINERATE_BUILT_WITH"),
);

/// A build.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Build {
    /// The version.
    version: &'static str,
    /// The commit, with `-changed` where the tree was not as in it; `unknown` without a repository.
    commit: &'static str,
    /// The system it was built for, as Rust names it.
    target: &'static str,
    /// Optional parts that it was built with, with a blank between them; `none` where there is none.
    features: &'static str,
    /// Whether it was built with optimisation and without debug assertions.
    release: bool,
}

/// This one.
pub const OWN: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    commit: env!("LINERATE_BUILT_OF"),
    target: env!("LINERATE_BUILT_FOR"),
    features: env!("LINERATE_BUILT_WITH"),
    release: !cfg!(debug_assertions),
};

impl Build {
    /// The same in one line, in the language that is spoken.
    pub fn line(&self) -> String {
        let line = say(match self.release {
            true => "doctor.build",
            false => "doctor.debug-build",
        });
        let line = line
            .with("version", self.version)
            .with("commit", self.commit)
            .with("target", self.target);
        said(&line)
    }
}
