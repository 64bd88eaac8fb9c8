//! Copies on a server whose file system lets files share storage.

use std::fs;

use smb::copy::{self, Job, Options, Place, Progress, Source};
use smb::{Policy, Stop};

use crate::lan::{Lan, SHARE};
use crate::samba::{connect, write_pattern};

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
