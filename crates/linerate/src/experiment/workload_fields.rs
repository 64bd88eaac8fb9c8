//! Fields of a workload that a plan may vary.

use locale::{Message, say};
use record::{
    Demands, Dialect, FileUse, Level, Place, SecondMount, Setting, Signing, SocketOptions, Value,
    Workload,
};

/// Those of a session that protect it.
const DEMANDS: [&str; 5] = [
    "signing",
    "signing_algorithm",
    "encryption",
    "cipher",
    "dialect",
];
/// Those of sockets.
const SOCKETS: [&str; 5] = [
    "source",
    "receive_buffer",
    "send_buffer",
    "segment",
    "congestion_control",
];

/// A workload with the fields that a level names.
pub fn workload(workload: &Workload, level: &Level) -> Result<Workload, Message> {
    let mut workload = workload.clone();
    for setting in &level.settings {
        if let Setting::Workload { field, value } = setting {
            apply(&mut workload, field, value)?;
        }
    }
    Ok(workload)
}

/// Sets one field.
///
/// # Errors
/// In a sentence, where this workload has no such field or not that value.
pub fn apply(workload: &mut Workload, field: &str, value: &Value) -> Result<(), Message> {
    let text = value.to_string();
    let number = || {
        let number: Option<u32> = text.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| of_value("error-plan.field-number", field, &text))
    };
    let size = || {
        let size = record::parse_bytes(&text).filter(|size| size.get() > 0);
        size.ok_or_else(|| of_value("error-plan.field-size", field, &text))
    };
    let unknown = || say("error-plan.no-field").with("field", field);
    if field == SecondMount::FIELD {
        return vary_mount(workload, &text);
    }
    match workload {
        Workload::Job(_) => return Err(unknown()),
        Workload::Tcp(tcp) => match field {
            "streams" | "channels" => tcp.streams = number()?,
            field if SOCKETS.contains(&field) => make_socket(&mut tcp.socket, field, &text)?,
            _ => return Err(unknown()),
        },
        Workload::Folder(folder) => match field {
            "block" => folder.block = size()?,
            "depth" => folder.depth = number()?,
            "threads" => folder.operations.threads = number()?,
            "file_size" => folder.file_size = size()?,
            _ => return Err(unknown()),
        },
        Workload::Task(work) => match (field, &mut work.place) {
            ("channels", Place::Share { .. }) => work.channels = number()?,
            (field, Place::Share { demands, .. }) if DEMANDS.contains(&field) => {
                demand(demands, field, &text)?;
            }
            _ => return Err(unknown()),
        },
        Workload::Share(share) => match (field, &mut share.operations) {
            ("channels", _) => share.channels = number()?,
            ("block", _) => share.block = size()?,
            ("depth", _) => share.depth = number()?,
            ("file_size", _) => share.file_size = size()?,
            ("threads", Some(operations)) => operations.threads = number()?,
            ("sessions", _) => share.sessions = number()?,
            ("file", _) => {
                share.file = match text.as_str() {
                    "whole" => FileUse::Whole,
                    "sparse" => FileUse::Sparse,
                    "one-block" => FileUse::OneBlock,
                    _ => return Err(not_taken(field, &text)),
                }
            }
            (field, _) if DEMANDS.contains(&field) => demand(&mut share.demands, field, &text)?,
            (field, _) if SOCKETS.contains(&field) => {
                make_socket(&mut share.socket, field, &text)?;
            }
            _ => return Err(unknown()),
        },
    }
    Ok(())
}

/// Mounts with other options what a trial mounts.
fn vary_mount(workload: &mut Workload, options: &str) -> Result<(), Message> {
    let mount = match workload {
        Workload::Folder(folder) => folder.second_mount.as_mut(),
        Workload::Task(work) => work.second_mount.as_mut(),
        Workload::Share(_) | Workload::Tcp(_) | Workload::Job(_) => None,
    };
    let mount = mount.ok_or_else(|| say("error-plan.mount-options"))?;
    *mount = mount.varied(options).map_err(|option| {
        say("error-plan.mount-option")
            .with("option", option)
            .with("known", SecondMount::VARIED.join(", "))
    })?;
    Ok(())
}

fn not_taken(field: &str, text: &str) -> Message {
    of_value("error-plan.field-value", field, text)
}

fn of_value(id: &'static str, field: &str, text: &str) -> Message {
    say(id).with("field", field).with("value", text)
}

/// A word that a run file has for something.
fn word<T: serde::de::DeserializeOwned>(field: &str, text: &str) -> Result<T, Message> {
    let known = serde_json::from_value(text.into()).ok();
    known.ok_or_else(|| not_taken(field, text))
}

/// How the sockets of a workload are made.
fn make_socket(socket: &mut SocketOptions, field: &str, text: &str) -> Result<(), Message> {
    let not_taken = || not_taken(field, text);
    let size = || record::parse_bytes(text).ok_or_else(not_taken);
    match field {
        "source" => socket.source = Some(text.parse().ok().ok_or_else(not_taken)?),
        "receive_buffer" => socket.receive_buffer = Some(size()?),
        "send_buffer" => socket.send_buffer = Some(size()?),
        "segment" => socket.segment = Some(text.parse().ok().ok_or_else(not_taken)?),
        _ => socket.congestion_control = Some(word(field, text)?),
    }
    Ok(())
}

/// What protects a session, or its dialect.
fn demand(demands: &mut Demands, field: &str, text: &str) -> Result<(), Message> {
    match (field, text) {
        ("signing", "required") => demands.signing = Signing::Required,
        ("signing", "if-required") => demands.signing = Signing::IfRequired,
        ("signing", "data-unsigned") => demands.signing = Signing::DataUnsigned,
        ("encryption", "on") => demands.encrypted = true,
        ("encryption", "off") => demands.encrypted = false,
        ("signing_algorithm", name) => demands.signing_algorithm = Some(word(field, name)?),
        ("cipher", name) => demands.cipher = Some(word(field, name)?),
        ("dialect", version) => {
            let dialect = match version {
                "2.0.2" => Dialect::Smb202,
                "2.1" => Dialect::Smb210,
                "3.0" => Dialect::Smb300,
                "3.0.2" => Dialect::Smb302,
                "3.1.1" => Dialect::Smb311,
                _ => return Err(say("error-plan.no-dialect").with("dialect", version)),
            };
            (demands.dialect_min, demands.dialect_max) = (dialect, dialect);
        }
        _ => return Err(not_taken(field, text)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use record::{
        Bytes, Direction, FolderKind, FolderWorkload, Nanoseconds, Operations, ShareAddress,
        ShareWorkload, TcpWorkload, Timing,
    };

    use super::*;

    const TIMING: Timing = Timing {
        warm_up: Nanoseconds::new(0),
        measured: Nanoseconds::new(1),
        interval: Nanoseconds::new(1),
    };

    fn share() -> Workload {
        Workload::Share(ShareWorkload {
            share: ShareAddress {
                server: "nas".into(),
                port: 445,
                share: "data".into(),
                path: String::new(),
            },
            direction: Direction::Read,
            channels: 1,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(1 << 26),
            demands: Demands::default(),
            operations: None,
            timing: TIMING,
            sessions: 1,
            connections: 1,
            file: record::FileUse::default(),
            socket: record::SocketOptions::default(),
        })
    }

    #[test]
    fn options_of_a_mount_are_those_of_the_mount_that_a_trial_makes() {
        let mut workload = Workload::Folder(FolderWorkload {
            folder: "/mnt/media/films".into(),
            kind: FolderKind::Mount,
            second_mount: Some(SecondMount {
                source: "//nas/media".into(),
                folder: "/mnt/media".into(),
                options: "vers=3.1.1,nosharesock".into(),
            }),
            direction: Direction::Read,
            block: Bytes::new(1 << 20),
            depth: 8,
            file_size: Bytes::new(1 << 26),
            operations: Operations::SEQUENTIAL,
            timing: TIMING,
        });
        let value = Value::Text("vers=3.1.1,multichannel".into());
        apply(&mut workload, "mount_options", &value).expect("it is mounted");
        let mount = workload.second_mount().expect("it is mounted");
        assert_eq!(mount.options, "vers=3.1.1,multichannel,nosharesock");
        // What is mounted stays as it is.
        let refused = apply(&mut share(), "mount_options", &value).expect_err("nothing is mounted");
        assert_eq!(refused.id, "error-plan.mount-options");
    }

    #[test]
    fn fields_of_a_share_are_set() {
        let mut workload = share();
        let values = [
            ("channels", "2"),
            ("block", "64 KiB"),
            ("depth", "4"),
            ("dialect", "2.0.2"),
            ("signing", "required"),
            ("encryption", "on"),
            ("cipher", "AES-128-CCM"),
            ("signing_algorithm", "AES-128-CMAC"),
            ("sessions", "2"),
            ("file", "one-block"),
            ("source", "10.0.0.7"),
            ("receive_buffer", "64 KiB"),
            ("send_buffer", "1 MiB"),
            ("segment", "536"),
            ("congestion_control", "reno"),
        ];
        for (field, value) in values {
            apply(&mut workload, field, &Value::Text(value.into())).unwrap();
        }
        let Workload::Share(share) = workload else {
            panic!()
        };
        assert_eq!(
            (share.channels, share.block.get(), share.depth),
            (2, 65_536, 4)
        );
        assert_eq!((share.sessions, share.file), (2, FileUse::OneBlock));
        let socket = SocketOptions {
            source: Some([10, 0, 0, 7].into()),
            receive_buffer: Some(Bytes::new(64 << 10)),
            send_buffer: Some(Bytes::new(1 << 20)),
            segment: Some(536),
            congestion_control: Some(record::CongestionControl::Reno),
        };
        assert_eq!(share.socket, socket);
        assert_eq!(
            (share.demands.cipher, share.demands.signing_algorithm),
            (
                Some(record::Cipher::Aes128Ccm),
                Some(record::SigningAlgorithm::AesCmac)
            )
        );
        let demands = share.demands;
        assert_eq!(
            (demands.dialect_min, demands.dialect_max),
            (Dialect::Smb202, Dialect::Smb202)
        );
        assert!(demands.encrypted && demands.signing == Signing::Required);
    }

    #[test]
    fn fields_and_values_that_are_none_are_refused() {
        for (field, value) in [
            ("channels", "0"),
            ("block", "big"),
            ("dialect", "1"),
            ("mtu", "9000"),
            ("threads", "2"),
        ] {
            assert!(
                apply(&mut share(), field, &Value::Text(value.into())).is_err(),
                "{field}={value}"
            );
        }
        let mut tcp = Workload::Tcp(TcpWorkload {
            server: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 1,
            direction: Direction::Read,
            streams: 1,
            nic: None,
            timing: TIMING,
            socket: record::SocketOptions::default(),
        });
        assert!(apply(&mut tcp, "block", &Value::Text("1 MiB".into())).is_err());
        assert_eq!(apply(&mut tcp, "streams", &Value::Text("4".into())), Ok(()));
    }
}
