//! Fields of a workload that a plan may vary.

use record::{Demands, Dialect, Place, Signing, Value, Workload};

/// The fields, each with what it takes, for people.
pub const FIELDS: &str = "channels, streams, block, depth, threads, file_size, signing (required, \
     if-required, data-unsigned), encryption (on, off), dialect (2.0.2 to 3.1.1)";

/// Sets one field.
///
/// # Errors
/// In a sentence, where this workload has no such field or not that value.
pub fn apply(workload: &mut Workload, field: &str, value: &Value) -> Result<(), String> {
    let text = value.to_string();
    let number = || {
        let number: Option<u32> = text.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| format!("`{field}` takes a number and not `{text}`"))
    };
    let size = || {
        let size = record::parse_bytes(&text).filter(|size| size.get() > 0);
        size.ok_or_else(|| format!("`{field}` takes a size such as `64 KiB` and not `{text}`"))
    };
    let unknown = || format!("`{field}` is no field of this workload; there are: {FIELDS}");
    match workload {
        Workload::Job(_) => return Err(unknown()),
        Workload::Tcp(tcp) => match field {
            "streams" | "channels" => tcp.streams = number()?,
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
            ("signing" | "encryption" | "dialect", Place::Share { demands, .. }) => {
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
            ("signing" | "encryption" | "dialect", _) => demand(&mut share.demands, field, &text)?,
            _ => return Err(unknown()),
        },
    }
    Ok(())
}

/// Signing, encryption or dialect of a session.
fn demand(demands: &mut Demands, field: &str, text: &str) -> Result<(), String> {
    match (field, text) {
        ("signing", "required") => demands.signing = Signing::Required,
        ("signing", "if-required") => demands.signing = Signing::IfRequired,
        ("signing", "data-unsigned") => demands.signing = Signing::DataUnsigned,
        ("encryption", "on") => demands.encrypted = true,
        ("encryption", "off") => demands.encrypted = false,
        ("dialect", version) => {
            let dialect = match version {
                "2.0.2" => Dialect::Smb202,
                "2.1" => Dialect::Smb210,
                "3.0" => Dialect::Smb300,
                "3.0.2" => Dialect::Smb302,
                "3.1.1" => Dialect::Smb311,
                _ => return Err(format!("there is no dialect `{version}`")),
            };
            (demands.dialect_min, demands.dialect_max) = (dialect, dialect);
        }
        _ => return Err(format!("`{field}` does not take `{text}`")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use record::{Bytes, Direction, Nanoseconds, ShareAddress, ShareWorkload, TcpWorkload, Timing};

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
        })
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
        });
        assert!(apply(&mut tcp, "block", &Value::Text("1 MiB".into())).is_err());
        assert_eq!(apply(&mut tcp, "streams", &Value::Text("4".into())), Ok(()));
    }
}
