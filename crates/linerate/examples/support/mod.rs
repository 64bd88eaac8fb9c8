//! What the examples that measure in labs share: the program that stands beside them, and labs that end with them.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use lab::{Launcher, Topology};

/// The program, built by the same profile as this example.
///
/// # Errors
/// When this example does not lie in a target folder.
pub fn program() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let folder = own.ancestors().nth(2);
    let folder = folder.ok_or_else(|| io::Error::other("no target folder"))?;
    Ok(folder.join("linerate"))
}

/// A lab that ends with this.
pub struct Guard(pub lab::Lab);

impl Drop for Guard {
    fn drop(&mut self) {
        lab::down(self.0.name()).ok();
    }
}

/// Brings a lab up, which the program supervises.
///
/// # Errors
/// As those of [`lab::up`].
pub fn up(program: &Path, name: &str, topology: &Topology) -> Result<Guard, lab::Error> {
    let program = program.display().to_string();
    let launcher = Launcher::new([program.as_str(), "lab", "supervise"]);
    lab::up(name, topology, &launcher).map(Guard)
}
