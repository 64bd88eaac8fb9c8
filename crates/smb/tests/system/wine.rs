//! A program for Windows in Wine. `scripts/windows` makes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tempfile::TempDir;

const WINE: &str = "/usr/lib/wine/wine64";
const WINE_SERVER: &str = "/usr/lib/wine/wineserver64";

/// Where `scripts/windows` puts what it makes. It is asked once, so that what is tried is made of these very sources.
fn built() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().expect("the repository");
        let made = Command::new(root.join("scripts/windows")).status();
        assert!(made.is_ok_and(|made| made.success()), "see above");
        root.join("target/windows")
    })
}

/// One at a time: they share what Wine keeps.
fn alone() -> MutexGuard<'static, ()> {
    static WINE: Mutex<()> = Mutex::new(());
    // A test that has failed leaves nothing that another one could see.
    WINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program for Windows in a folder with what this Wine lacks.
pub struct Wine {
    #[expect(dead_code, reason = "the program is in it")]
    folder: TempDir,
    program: PathBuf,
    #[expect(dead_code, reason = "it is held")]
    alone: MutexGuard<'static, ()>,
}

impl Drop for Wine {
    fn drop(&mut self) {
        self.end_server();
    }
}

impl Wine {
    pub fn new(program: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in [program, "lacking-in-wine/bcryptprimitives.dll"] {
            let from = built().join(file);
            let name = from.file_name().expect("a file");
            fs::copy(&from, folder.path().join(name)).expect("room on the disk");
        }
        let wine = Self {
            program: folder.path().join(program),
            folder,
            alone: alone(),
        };
        // One that another test has left sees another network.
        wine.end_server();
        wine
    }

    /// Ends what Wine keeps beside its programs.
    pub fn end_server(&self) {
        for option in ["--kill", "--wait"] {
            let mut server = Command::new(WINE_SERVER);
            // There may be none.
            server
                .arg(option)
                .env("WINEPREFIX", Self::prefix())
                .status()
                .expect("Wine is installed");
        }
    }

    /// The folder of its settings, made by the first that needs it: that takes ten seconds.
    fn prefix() -> PathBuf {
        built().join("wine")
    }

    /// The words of a command line that runs the program; its arguments come behind them.
    pub fn words(&self) -> Vec<String> {
        let prefix = format!("WINEPREFIX={}", Self::prefix().display());
        let words = [
            "env",
            "-u",
            "DISPLAY",
            // Wine takes names of files by it.
            "LC_ALL=C.UTF-8",
            "WINEDEBUG=-all",
            "WINEDLLOVERRIDES=mscoree,mshtml=",
            &prefix,
            WINE,
            self.program.to_str().expect("plain letters"),
        ];
        words.map(str::to_owned).into()
    }

    /// A path of this machine as its programs see it.
    pub fn seen(path: &Path) -> String {
        format!("Z:{}", path.to_str().expect("plain letters")).replace('/', r"\")
    }
}
