//! A lab that goes away with its guard, and the program under test.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use jsonschema::{Retrieve, Uri};
use serde_json::Value;
use tempfile::TempDir;

/// All that knobs can move, and what could move with it.
const PICTURE: &str = r#"sysctl -a -r '^net\.(core|ipv4\.tcp)' 2>/dev/null
for nic in lan1 lan2; do
    ethtool -k "$nic"; ip -d -o link show dev "$nic"; ip -o addr show dev "$nic"
    tc qdisc show dev "$nic"; tc class show dev "$nic"
    cat /sys/class/net/"$nic"/queues/*/[rx]ps_cpus
done
cat /etc/samba/smb.conf 2>/dev/null; ls /etc/samba /run/linerate.leases 2>&1 || true"#;

/// The program under test: the one that was built for it, or another that the environment names, as a released one.
pub fn path() -> PathBuf {
    let named = std::env::var_os("LINERATE_UNDER_TEST").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_linerate")))
}

/// A command that runs it, with a state folder that nobody else uses unless a test names one.
pub fn linerate() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(path());
    command
        .env_remove("LINERATE_PASSWORD")
        .env("LC_ALL", "C")
        .env("LINERATE_STATE_DIR", state_of_this_process());
    command
}

fn state_of_this_process() -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("state-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("room on the disk");
    folder
}

/// A copy of the program that another user may run.
pub fn program_for_everybody() -> tempfile::TempPath {
    let file = tempfile::Builder::new()
        .prefix("linerate-")
        .tempfile_in("/tmp")
        .expect("a file in /tmp");
    fs::copy(path(), file.path()).expect("room on the disk");
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o755)).expect("our own file");
    file.into_temp_path()
}

/// The schemas of what commands print with `--json`.
pub fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")
}

/// Finds the schemas that others name.
struct Beside;

impl Retrieve for Beside {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let name = uri.path().as_str().trim_start_matches('/');
        Ok(serde_json::from_slice(&fs::read(schemas().join(name))?)?)
    }
}

/// What a command printed with `--json`, which must be as its schema says.
pub fn json(command: &str, printed: &[u8]) -> Value {
    let printed = String::from_utf8_lossy(printed);
    let value = serde_json::from_str(&printed);
    let value: Value = value.unwrap_or_else(|error| panic!("{command}: {error}: {printed}"));
    let schema = fs::read(schemas().join(format!("{command}.json"))).expect("its schema");
    let schema = serde_json::from_slice(&schema).expect("JSON");
    let options = jsonschema::options().with_retriever(Beside);
    let validator = options.build(&schema).expect("a schema");
    let errors = validator.iter_errors(&value);
    let errors = errors.map(|error| format!("{}: {error}", error.instance_path()));
    let errors: Vec<String> = errors.collect();
    assert!(errors.is_empty(), "{command}: {errors:#?}");
    value
}

/// The demo's topology.
pub fn topology() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/two-links.toml")
}

/// A LAN of one link, which has these keys beside its ends, and a share in memory.
pub fn one_link(keys: &str) -> String {
    format!(
        r#"
[[host]]
name = "client"

[[host]]
name = "server"

[[link]]
from = {{ host = "client", nic = "lan1", address = "10.77.1.1/24" }}
to = {{ host = "server", nic = "lan1", address = "10.77.1.2/24" }}
{keys}

[samba]
host = "server"

[[samba.share]]
name = "media"
medium = "memory"
size = "1GiB"
"#
    )
}

/// A run file of the first version.
pub fn run_fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/fixtures/run-version-1.jsonl")
}

const FACTS: &str = r#"sysctl net.ipv4.tcp_congestion_control
for nic in lan1 lan2; do
    ip -o addr show dev "$nic"; cat /sys/class/net/"$nic"/mtu
    ethtool -k "$nic"; tc class show dev "$nic"
done"#;

/// A running lab of the demo's topology; taken down when dropped.
pub struct Lab {
    name: String,
    folder: TempDir,
}

impl Lab {
    /// Builds it under a name that no other test process uses.
    pub fn up(name: &str) -> Self {
        Self::of(name, &topology())
    }

    /// Builds the LAN of another topology file.
    pub fn of(name: &str, topology: &Path) -> Self {
        let lab = Self {
            name: format!("{name}-{}", std::process::id()),
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        lab.linerate()
            .args(["lab", "up", "--name", &lab.name])
            .arg(topology)
            .assert()
            .success();
        lab
    }

    /// Builds the LAN that a topology describes.
    pub fn described(name: &str, topology: &str) -> Self {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), topology).expect("room on the disk");
        Self::of(name, file.path())
    }

    /// The lab's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A folder of the test's own.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A command with a state folder of the test's own.
    pub fn linerate(&self) -> assert_cmd::Command {
        let mut command = linerate();
        command.env("LINERATE_STATE_DIR", self.folder.path().join("state"));
        command
    }

    /// `lab://LAB/HOST`.
    pub fn host(&self, host: &str) -> String {
        format!("lab://{}/{host}", self.name)
    }

    /// Both hosts, as arguments of most commands.
    pub fn ends(&self) -> [String; 4] {
        [
            "--client".into(),
            self.host("client"),
            "--server".into(),
            self.host("server"),
        ]
    }

    /// What a command on a host prints.
    pub fn run(&self, host: &str, argv: &[&str]) -> String {
        let output = self
            .linerate()
            .args(["lab", "run", &self.host(host), "--"])
            .args(argv)
            .output();
        let output = output.expect("linerate starts");
        assert!(
            output.status.success(),
            "{argv:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Everything that knobs of both hosts can change, as the system's own tools show it.
    pub fn facts(&self) -> String {
        let of = |host| self.run(host, &["sh", "-ec", FACTS]);
        let facts = ["client", "server"].map(of).concat();
        // An address that is still being tested for duplicates is the same address.
        facts.replace(" tentative", "")
    }

    /// All that knobs of both hosts can move, and what could move with it.
    pub fn picture(&self) -> String {
        let of = |host| self.run(host, &["sh", "-c", PICTURE]);
        let pictures = ["client", "server"].map(of).concat();
        // An address that is still being tested for duplicates is the same address.
        pictures.replace(" tentative", "")
    }

    /// Starts `tune` of the share with these arguments, and waits until it says a word that begins a
    /// part of it; where it never does, what it said instead comes with it.
    pub fn tune_until(&self, run: &str, arguments: &[&str], word: &str) -> (Child, Option<String>) {
        let mut tune = Command::new(path());
        tune.args(["tune", "smb://10.77.1.2/media"])
            .args(arguments)
            .args(self.ends())
            .arg("--run")
            .arg(self.folder().join(run))
            .env("LINERATE_STATE_DIR", self.folder().join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = tune.spawn().expect("linerate starts");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut heard = Vec::new();
        let begun = said.by_ref().map_while(Result::ok).any(|line| {
            let begins = line.contains(word);
            heard.push(line);
            begins
        });
        // What else it says must find a reader.
        std::thread::spawn(move || said.for_each(drop));
        (child, (!begun).then(|| heard.join("\n")))
    }

    /// Names of the files on the share.
    pub fn files_of_the_share(&self) -> String {
        let list = "smbclient -A /run/linerate/credentials //10.77.1.2/media -c 'recurse; ls' | grep -v -e blocks -e '^ *\\.' -e '^$' || true";
        self.run("client", &["sh", "-c", list])
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        drop(self.linerate().args(["lab", "down", &self.name]).output());
    }
}

/// Trials tell how long the server's processors worked for them, and that is not for ever.
pub fn costs_of_the_server_were_seen(run: &Path) {
    let text = fs::read_to_string(run).expect("the run file");
    let records = text.lines().map(serde_json::from_str::<Value>);
    let records: Vec<Value> = records.map_while(Result::ok).collect();
    let counted = |one: &&Value| {
        one["kind"] == "trial"
            && one["stage"]["discarded"] == false
            && !one["outcome"]["measured"].is_null()
    };
    let trials: Vec<&Value> = records.iter().filter(counted).collect();
    let mut seen = 0;
    for trial in &trials {
        let load = &trial["loads"][0];
        // On a machine with much to do, a look may come too late to say anything.
        if let (Some(served), Some(duration)) = (load["served"].as_u64(), load["duration"].as_u64())
        {
            assert!(served > 0 && served < 64 * duration, "{load}");
            seen += 1;
        }
    }
    assert!(seen > 0, "none of {} trials", trials.len());
}
