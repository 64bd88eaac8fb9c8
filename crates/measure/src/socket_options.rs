//! How the sockets of a workload are made.

use std::ops::RangeInclusive;

use locale::{Message, say};
use record::{CongestionControl, SocketOptions};

use crate::Error;

/// Bytes of a segment's payload that Linux takes.
const SEGMENT_BYTES: RangeInclusive<u32> = 88..=32_767;
/// Bytes of a buffer that make sense.
const BUFFER_BYTES: RangeInclusive<u64> = 4 << 10..=1 << 30;

/// What was asked for, once it is known to make sense. The source address is not among it: it belongs to a
/// connection.
pub(crate) fn options(wanted: &SocketOptions) -> Result<os::network::SocketOptions, Error> {
    let usage = |reason: Message| Err(Error::Usage { reason });
    if let Some(segment) = wanted.segment.filter(|it| !SEGMENT_BYTES.contains(it)) {
        let (least, most) = (SEGMENT_BYTES.start(), SEGMENT_BYTES.end());
        return usage(
            say("error-measure.usage-segment")
                .count("bytes", segment)
                .count("least", *least)
                .count("most", *most),
        );
    }
    for bytes in [wanted.receive_buffer, wanted.send_buffer]
        .into_iter()
        .flatten()
    {
        let bytes = bytes.get();
        if !BUFFER_BYTES.contains(&bytes) {
            let (least, most) = (BUFFER_BYTES.start(), BUFFER_BYTES.end());
            return usage(
                say("error-measure.usage-buffer")
                    .with("bytes", bytes.to_string())
                    .count("least", *least)
                    .count("most", *most),
            );
        }
    }
    if let Some(source) = wanted
        .source
        .filter(|it| it.is_unspecified() || it.is_multicast())
    {
        return usage(say("error-measure.usage-source").with("source", source));
    }
    let buffer = |bytes: Option<record::Bytes>| bytes.and_then(|it| usize::try_from(it.get()).ok());
    let congestion_control = wanted.congestion_control.map(|it| match it {
        CongestionControl::Reno => "reno",
        CongestionControl::Cubic => "cubic",
        CongestionControl::Bbr => "bbr",
    });
    Ok(os::network::SocketOptions {
        receive_buffer: buffer(wanted.receive_buffer),
        send_buffer: buffer(wanted.send_buffer),
        segment: wanted.segment,
        congestion_control: congestion_control.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use record::Bytes;

    use super::*;

    #[test]
    fn sockets_that_make_no_sense_are_refused() {
        let bytes = |bytes| Some(Bytes::new(bytes));
        let good = SocketOptions {
            source: Some([10, 0, 0, 1].into()),
            receive_buffer: bytes(64 << 10),
            send_buffer: bytes(1 << 20),
            segment: Some(536),
            congestion_control: Some(CongestionControl::Cubic),
        };
        let made = options(&good).unwrap();
        assert_eq!(
            (made.receive_buffer, made.segment),
            (Some(64 << 10), Some(536))
        );
        assert_eq!(made.congestion_control.as_deref(), Some("cubic"));
        for bad in [
            SocketOptions {
                source: Some([0, 0, 0, 0].into()),
                ..good.clone()
            },
            SocketOptions {
                receive_buffer: bytes(4095),
                ..good.clone()
            },
            SocketOptions {
                send_buffer: bytes((1 << 30) + 1),
                ..good.clone()
            },
            SocketOptions {
                segment: Some(87),
                ..good.clone()
            },
            SocketOptions {
                segment: Some(40_000),
                ..good.clone()
            },
        ] {
            let refused = options(&bad);
            assert!(matches!(refused, Err(Error::Usage { .. })), "{bad:?}");
        }
    }
}
