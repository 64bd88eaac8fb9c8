//! What the SMB client shall do for a workload, and which workloads make no sense.

use locale::{Message, say};
use record::{Demands, Dialect, Direction, FileUse, ShareWorkload, Signing};
use smb::{EncryptionPolicy, Policy, SigningPolicy};

use crate::{Error, queue_depth_and_latency, socket_options};

/// Bytes of one request that make sense: a sector, and what servers take at most.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 512..=8 << 20;
/// Largest operation of its own; it takes several requests.
const OPERATION_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one request of a larger operation.
pub(super) const REQUEST_BYTES: u64 = 1 << 20;
/// Most requests in flight on one channel.
const DEPTH_MAX: u32 = 512;
/// Most sessions of their own, and most connections of each by the same addresses.
const SESSIONS_MAX: u32 = 8;
/// Most memory for blocks of all sessions.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Blocks for each request in flight: one on the path, one that waits its turn behind it.
const BLOCKS_PER_REQUEST: u64 = 2;

/// What the engine shall do, once it is known to make sense.
pub(crate) fn policy(workload: &ShareWorkload) -> Result<Policy, Error> {
    check_ranges(workload)?;
    let usage = |reason: Message| Err(Error::Usage { reason });
    let (block, depth) = requests(workload)?;
    let (sessions, connections) = (workload.sessions, workload.connections);
    // One request of each connection is the least that there can be.
    let each = sessions.saturating_mul(connections);
    let wrong = [
        ("sessions", sessions, sessions),
        ("connections", connections, each),
    ];
    let wrong = wrong
        .into_iter()
        .find(|(_, number, least)| !(1..=SESSIONS_MAX).contains(number) || *least > depth);
    if let Some((of, number, _)) = wrong {
        return usage(
            say("error-measure.usage-sessions")
                .with("of", of)
                .count("number", number)
                .count("depth", depth)
                .count("most", SESSIONS_MAX),
        );
    }
    let depth = depth / sessions / connections;
    let blocks =
        u64::from(workload.connections_of_session()) * u64::from(depth) * BLOCKS_PER_REQUEST;
    if blocks * block * u64::from(sessions) > MEMORY_BYTES_MAX {
        let memory = blocks * block * u64::from(sessions);
        return usage(say("error-measure.usage-memory").with("memory", memory.to_string()));
    }
    let demands = &workload.demands;
    if demands.dialect_min > demands.dialect_max {
        return usage(say("error-measure.usage-dialects"));
    }
    if let Some(reason) = senseless(workload) {
        return usage(reason);
    }
    Ok(Policy {
        sockets: socket_options::options(&workload.socket)?,
        block_bytes: u32::try_from(block).unwrap_or(u32::MAX),
        depth: depth as usize,
        depth_fixed: true,
        blocks: usize::try_from(blocks).unwrap_or(usize::MAX),
        ..unbroken(demands)
    })
}

/// Refuses numbers that are not possible, each for itself.
fn check_ranges(workload: &ShareWorkload) -> Result<(), Error> {
    let usage = |reason: Message| Err(Error::Usage { reason });
    let (block, depth, channels) = (workload.block.get(), workload.depth, workload.channels);
    let (least, most) = match &workload.operations {
        Some(_) => (*BLOCK_BYTES.start(), OPERATION_BYTES_MAX),
        None => (*BLOCK_BYTES.start(), *BLOCK_BYTES.end()),
    };
    if !(least..=most).contains(&block) {
        return usage(
            say("error-measure.usage-request")
                .with("bytes", block.to_string())
                .count("least", least)
                .count("most", most),
        );
    }
    if !(1..=DEPTH_MAX).contains(&depth) {
        return usage(
            say("error-measure.usage-depth")
                .count("depth", depth)
                .count("most", DEPTH_MAX),
        );
    }
    if channels == 0 || channels as usize > smb::CHANNELS_MAX {
        return usage(
            say("error-measure.usage-channels")
                .count("channels", channels)
                .count("most", smb::CHANNELS_MAX),
        );
    }
    if workload.file_size.get() < block {
        let size = workload.file_size.get();
        return usage(
            say("error-measure.usage-file-below-request").with("bytes", size.to_string()),
        );
    }
    Ok(())
}

/// Bytes of one request, and how many requests are in flight: a larger operation takes several.
fn requests(workload: &ShareWorkload) -> Result<(u64, u32), Error> {
    let (block, depth) = (workload.block.get(), workload.depth);
    Ok(match &workload.operations {
        Some(operations) => {
            let request = block.min(REQUEST_BYTES);
            let requests = u64::from(queue_depth_and_latency::in_flight(operations, depth)?)
                * block.div_ceil(request);
            (
                request,
                u32::try_from(requests).unwrap_or(DEPTH_MAX).min(DEPTH_MAX),
            )
        }
        None => (block, depth),
    })
}

/// What a trial's engine shall do: a measurement with a hole in it is none.
pub(crate) fn unbroken(demands: &Demands) -> Policy {
    Policy {
        reconnect: None,
        ..demanded(demands)
    }
}

/// How the SMB client takes demands.
#[must_use]
pub fn demanded(demands: &Demands) -> Policy {
    let dialects = [
        (Dialect::Smb311, smb::Dialect::Smb311),
        (Dialect::Smb302, smb::Dialect::Smb302),
        (Dialect::Smb300, smb::Dialect::Smb300),
        (Dialect::Smb210, smb::Dialect::Smb210),
        (Dialect::Smb202, smb::Dialect::Smb202),
    ];
    let range = demands.dialect_min..=demands.dialect_max;
    let offered = dialects.iter().filter(|(ours, _)| range.contains(ours));
    Policy {
        dialects: offered.map(|(_, dialect)| *dialect).collect(),
        signing: match demands.signing {
            Signing::Required => SigningPolicy::Required,
            Signing::IfRequired => SigningPolicy::IfRequired,
            Signing::DataUnsigned => SigningPolicy::DataUnsigned,
        },
        encryption: match demands.encrypted {
            true => EncryptionPolicy::Required,
            false => EncryptionPolicy::IfRequired,
        },
        ..algorithms(demands)
    }
}

/// The algorithms that are offered: all, or the one that is demanded.
pub(super) fn algorithms(demands: &Demands) -> Policy {
    let all = Policy::default();
    Policy {
        signing_algorithms: match demands.signing_algorithm {
            None => all.signing_algorithms.clone(),
            Some(one) => vec![match one {
                record::SigningAlgorithm::HmacSha256 => smb::SigningAlgorithm::HmacSha256,
                record::SigningAlgorithm::AesCmac => smb::SigningAlgorithm::AesCmac,
                record::SigningAlgorithm::AesGmac => smb::SigningAlgorithm::AesGmac,
            }],
        },
        ciphers: match demands.cipher {
            None => all.ciphers.clone(),
            Some(one) => vec![match one {
                record::Cipher::Aes128Ccm => smb::Cipher::Aes128Ccm,
                record::Cipher::Aes128Gcm => smb::Cipher::Aes128Gcm,
                record::Cipher::Aes256Ccm => smb::Cipher::Aes256Ccm,
                record::Cipher::Aes256Gcm => smb::Cipher::Aes256Gcm,
            }],
        },
        ..all
    }
}

/// Why a workload whose numbers are possible makes no sense all the same.
fn senseless(workload: &ShareWorkload) -> Option<Message> {
    let demands = &workload.demands;
    let newest = demands.dialect_max;
    let algorithm = demands.signing_algorithm.filter(|one| match one {
        record::SigningAlgorithm::AesGmac => newest < Dialect::Smb311,
        record::SigningAlgorithm::AesCmac => newest < Dialect::Smb300,
        record::SigningAlgorithm::HmacSha256 => {
            (Dialect::Smb300..Dialect::Smb311).contains(&newest)
        }
    });
    let cipher = demands.cipher.filter(|one| match one {
        record::Cipher::Aes128Ccm => newest < Dialect::Smb300,
        _ => newest < Dialect::Smb311,
    });
    if algorithm.is_some() || cipher.is_some() {
        return Some(say("error-measure.usage-algorithm"));
    }
    if workload.operations.is_some()
        && (workload.sessions > 1 || workload.file != FileUse::default())
    {
        return Some(say("error-measure.usage-operations"));
    }
    (workload.file == FileUse::Sparse && workload.direction == Direction::Write)
        .then(|| say("error-measure.usage-sparse"))
}

#[cfg(test)]
mod tests {
    use record::Bytes;

    use super::*;
    use crate::share_workload::tests::workload;

    #[test]
    fn workloads_that_make_no_sense_are_refused() {
        let good = workload();
        let policy = policy(&good).unwrap();
        assert_eq!(
            (policy.block_bytes, policy.depth, policy.blocks),
            (1 << 20, 8, 16)
        );
        let changes: [fn(&mut ShareWorkload); 12] = [
            |it| it.channels = 0,
            |it| it.channels = 33,
            |it| it.depth = 0,
            |it| it.depth = 513,
            |it| it.block = Bytes::new(0),
            |it| it.block = Bytes::new(u64::MAX),
            |it| it.file_size = Bytes::new((1 << 20) - 1),
            |it| (it.channels, it.depth) = (32, 512),
            |it| (it.sessions, it.depth) = (9, 512),
            |it| it.connections = 0,
            |it| (it.connections, it.depth) = (9, 512),
            |it| (it.sessions, it.connections) = (3, 3),
        ];
        for change in changes {
            let mut bad = good.clone();
            change(&mut bad);
            let refused = super::policy(&bad);
            assert!(matches!(refused, Err(Error::Usage { .. })), "{bad:?}");
        }
    }
}
