//! Remote procedure calls on the pipe of the server service (MS-RPCE, MS-SRVS).

use super::{Sample, sample};
use crate::wire::{
    FileEnumArguments, FileEnumResults, OpenFileRecord, RpcBind, RpcBindReply, RpcCall, RpcReply,
    ShareEnumArguments, ShareEnumResults, ShareInfoArguments, ShareInfoResults, ShareRecord,
};

pub(super) fn samples() -> Vec<Sample> {
    let mut all = call_samples();
    all.extend(share_list_samples());
    all.extend(open_file_samples());
    all
}

fn call_samples() -> Vec<Sample> {
    let reply = RpcReply {
        call: 2,
        last: true,
        results: Ok(b"results"),
    };
    let bound = RpcBindReply {
        call: 1,
        accepted: true,
    };
    vec![
        sample(&RpcBind { call: 1 }),
        sample(&bound),
        sample(&RpcBindReply {
            accepted: false,
            ..bound
        }),
        sample(&RpcCall {
            call: 2,
            operation: ShareEnumArguments::OPERATION,
            arguments: b"arguments",
        }),
        sample(&reply),
        sample(&RpcReply {
            last: false,
            ..reply
        }),
        sample(&RpcReply {
            results: Err(0x1C01_0002),
            ..reply
        }),
    ]
}

fn share_list_samples() -> Vec<Sample> {
    let share = |name: &str, kind| ShareRecord {
        name: name.into(),
        kind,
        comment: "what is in it".into(),
    };
    vec![
        sample(&ShareEnumArguments {
            server: "\\\\server".into(),
            resume: 3,
        }),
        sample(&ShareEnumResults {
            shares: vec![
                share("data", 0),
                share("", 1),
                share("IPC$", 3 | ShareRecord::SPECIAL),
            ],
            resume: 4,
            status: ShareEnumResults::MORE_DATA,
        }),
    ]
}

fn open_file_samples() -> Vec<Sample> {
    vec![
        sample(&FileEnumArguments {
            server: "\\\\server".into(),
            bytes_max: 1 << 20,
        }),
        sample(&FileEnumResults {
            files: vec![
                OpenFileRecord {
                    path: "C:\\data\\a.txt".into(),
                    user: "ann".into(),
                },
                OpenFileRecord {
                    path: String::new(),
                    user: String::new(),
                },
            ],
            status: 0,
        }),
        sample(&ShareInfoArguments {
            server: "\\\\server".into(),
            share: "data".into(),
        }),
        sample(&ShareInfoResults {
            path: "C:\\data".into(),
            status: 0,
        }),
    ]
}
