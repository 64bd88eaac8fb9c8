//! `sysctl`, and the few files of `/proc` that are read as they are.

use std::collections::BTreeMap;

use record::{Bytes, TcpFacts};

/// The settings of TCP that are facts; those that a kernel lacks are left out of the output.
pub(crate) const TCP_KEYS: [&str; 6] = [
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_timestamps",
];

/// Reads the output of `sysctl` with [`TCP_KEYS`].
pub(crate) fn tcp(stdout: &str) -> TcpFacts {
    let values: BTreeMap<&str, &str> = stdout
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let value = |key: &str| values.get(key).copied().filter(|value| !value.is_empty());
    let available = value("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    TcpFacts {
        congestion_control: value("net.ipv4.tcp_congestion_control").map(str::to_owned),
        congestion_control_available: available.split_whitespace().map(str::to_owned).collect(),
        receive_buffer: value("net.ipv4.tcp_rmem").and_then(triple),
        send_buffer: value("net.ipv4.tcp_wmem").and_then(triple),
        window_scaling: value("net.ipv4.tcp_window_scaling").and_then(switch),
        timestamps: value("net.ipv4.tcp_timestamps").and_then(switch),
    }
}

fn triple(text: &str) -> Option<[u64; 3]> {
    let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

/// 0 is off; timestamps know 1 and 2, both of them on.
fn switch(text: &str) -> Option<bool> {
    text.parse::<u32>().ok().map(|number| number != 0)
}

/// Memory installed, from `/proc/meminfo`.
pub(crate) fn memory(stdout: &str) -> Option<Bytes> {
    let line = stdout
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024).map(Bytes::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_lacks_or_garbles_is_unknown() {
        let text = "net.ipv4.tcp_rmem = 4096\t131072\nnet.ipv4.tcp_wmem = 1 2 x\n\
            net.ipv4.tcp_timestamps = -\nnet.ipv4.tcp_congestion_control =\nnonsense\n";
        assert_eq!(tcp(text), TcpFacts::default());
        assert_eq!(memory("MemTotal: many kB"), None);
        assert_eq!(memory("MemTotal: 18446744073709551615 kB"), None);
    }
}
