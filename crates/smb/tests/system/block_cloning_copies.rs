//! Copies on a server whose file system lets files share storage, and have more data streams than one.

use std::fs;

use smb::copy::{self, Job, Options, Place, Progress, Source};
use smb::{Access, Disposition, OpenOptions, Policy, Stop};

use crate::samba::{connect, job, on, write_pattern};
use crate::samba_lan::{Lan, SHARE};

const MIB: u64 = 1 << 20;

#[test]
fn a_file_system_that_can_share_storage_copies_nothing() {
    let lan = Lan::on_btrfs();
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let bytes = 40 * MIB + 70_001;
    write_pattern(&tree, "there", 1, std::iter::once(0..bytes));
    let place = |path: &str| Place::Share {
        tree: tree.clone(),
        path: path.to_owned(),
    };
    let job = Job {
        sources: vec![Source {
            place: place("there"),
            content: true,
            name: None,
        }],
        destination: place("copy"),
        into: false,
        options: Options::default(),
    };
    let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
    assert_eq!(summary.on_server_bytes, bytes, "{summary:?}");
    let content = |path| fs::read(lan.on_server(path)).expect("it is there");
    assert!(content("copy") == content("there"), "it differs");
    // One clone of whole clusters, and one chunk of what is left.
    let log = lan.log();
    let asked = |control: &str| log.matches(&format!("ctl_code[{control}]")).count();
    assert_eq!((asked("0x00098344"), asked("0x001480f2")), (1, 1));
}

#[test]
fn a_file_whose_alternate_data_streams_are_not_copied_is_counted() {
    let lan = Lan::on_btrfs();
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    tree.create_folder("all").expect("it is new");
    for (path, bytes) in [
        ("all/large", 3 * MIB),
        ("all/medium", 100_000),
        ("all/plain", 70),
        ("all/small", 80),
    ] {
        write_pattern(&tree, path, 1, std::iter::once(0..bytes));
    }
    let options = OpenOptions {
        disposition: Disposition::Create,
        ..OpenOptions::open(Access::ReadWrite)
    };
    for path in ["all/large", "all/medium", "all/small"] {
        let stream = tree.open(&format!("{path}:note"), &options);
        let stream = stream.expect("the server has streams");
        stream.write_at(0, b"words").expect("there is room");
        stream.close().expect("it is open");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for to in [Place::Local(folder.path().to_owned()), on(&tree, "copy")] {
        let job = job(on(&tree, "all"), to, Options::default());
        let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
        assert_eq!((summary.files, summary.failed), (4, 0), "{summary:?}");
        assert_eq!(summary.with_streams, 3, "{summary:?}");
        let first = summary.first_stream.expect("there are some");
        assert_eq!(first.name, ":note:$DATA");
        assert_ne!(first.path, "plain");
    }
}
