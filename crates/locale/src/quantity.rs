//! Quantities that sentences speak of, as people read them.

/// A line rate as it stands on the box: `1 Gbit/s`, `2.5 Gbit/s`, `100 Mbit/s`.
#[must_use]
pub fn line_rate(bits_per_second: u64) -> String {
    let bits = bits_per_second as f64;
    let (number, unit) = match bits {
        bits if bits >= 1e9 => (bits / 1e9, "Gbit/s"),
        bits if bits >= 1e6 => (bits / 1e6, "Mbit/s"),
        bits => (bits / 1e3, "kbit/s"),
    };
    format!("{} {unit}", trimmed(number, 2))
}

/// A size in memory or of a file: `1 MiB`, `2 GiB`, `512 bytes`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let count = bytes as f64;
    match bytes {
        // What somebody chose in the units of disks stays in them.
        whole if whole >= 1_000_000_000 && whole % 100_000_000 == 0 && whole % (1 << 20) != 0 => {
            format!("{} GB", trimmed(count / 1e9, 1))
        }
        whole if whole >= 1_000_000 && whole % 1_000_000 == 0 && whole % (1 << 20) != 0 => {
            format!("{} MB", whole / 1_000_000)
        }
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", trimmed(count / 1024.0, 1)),
        0x10_0000..0x4000_0000 => format!("{} MiB", trimmed(count / 1_048_576.0, 1)),
        _ => format!("{} GiB", trimmed(count / 1_073_741_824.0, 1)),
    }
}

/// Fixed digits, and no `-0.0`.
#[must_use]
pub fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// At most so many digits behind the point, and no zeros at its end.
#[must_use]
pub fn trimmed(number: f64, decimals: usize) -> String {
    let text = fixed(number, decimals);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
