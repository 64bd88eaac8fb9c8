//! What the interventions on linerate's own connections say of the network, of algorithms and of the server's disk.

use record::{Direction, ProbeKind, Rung};

use super::{Evidence, median_of};
use crate::RungName;
use crate::rung_and_probe_verdict::{Loss, MATTERS};

impl Evidence<'_> {
    /// Payload a second that the network carries at least in a direction in which raw TCP was not measured: what the
    /// best of the interventions on the share moved, as the median of its trials.
    pub(in crate::diagnosis) fn network_floor(&self, direction: Direction) -> Option<f64> {
        self.best_arm(direction, is_on_path)
    }

    /// Whether one connection carries as much as fits through the link, so that the network loses nothing.
    pub(in crate::diagnosis) fn network_carries_all(&self, direction: Direction) -> bool {
        let best = self.best_arm(direction, |kind| is_on_path(kind) && !has_several(kind));
        let whole = best.zip(self.ceiling(direction));
        whole.is_some_and(|(floor, ceiling)| floor * MATTERS >= ceiling)
    }

    fn best_arm(&self, direction: Direction, is_meant: fn(ProbeKind) -> bool) -> Option<f64> {
        if self.rate(RungName::Tcp, direction).is_some() {
            return None;
        }
        let arms = self.probes.iter();
        let arms = arms.filter(|arm| (arm.rung, arm.direction) == (Rung::Share, direction));
        let mut rates: Vec<(ProbeKind, Vec<f64>)> = Vec::new();
        for (kind, rate) in arms.filter_map(|arm| Some((arm.changed?, arm.rate?))) {
            match rates.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, rates)) => rates.push(rate),
                None => rates.push((kind, vec![rate])),
            }
        }
        let wanted = rates.into_iter();
        let several = wanted.filter(|(kind, rates)| is_meant(*kind) && rates.len() > 1);
        let medians = several.filter_map(|(_, rates)| median_of(rates.into_iter()));
        medians.max_by(f64::total_cmp)
    }

    /// Whether the algorithm of a session may be what the share loses by: a cheaper one is shown to gain, our own
    /// processor is full, or at least the network is known not to be the reason.
    pub(in crate::diagnosis) fn may_be_algorithm(&self, kind: ProbeKind) -> bool {
        let gains = self.probed_of_share(kind).map(|it| it.loss) == Some(Loss::Loses);
        gains || self.busy_channel().is_some() || self.network_is_known()
    }

    /// Whether the session encrypts by a cipher that costs more than another one that protects as well.
    pub(in crate::diagnosis) fn is_cipher_slow(&self) -> bool {
        let cipher = self
            .session
            .and_then(|session| session.encryption.as_deref());
        cipher.is_some_and(|cipher| cipher.contains("CCM"))
    }

    /// Whether the user wants encryption, which then is no cause.
    pub(in crate::diagnosis) fn is_encryption_asked_for(&self) -> bool {
        self.share.is_some_and(|share| share.demands.encrypted)
    }

    /// Whether a full processor of ours may be full of a slow cipher: the cheaper one has not been shown to gain nothing.
    pub(in crate::diagnosis) fn may_be_filled_by_a_cipher(&self) -> bool {
        let cheaper = self.probed_of_share(ProbeKind::Cipher).map(|it| it.loss);
        self.is_cipher_slow()
            && !self.is_encryption_asked_for()
            && cheaper != Some(Loss::DoesNotLose)
    }

    /// Whether it makes no difference to writes where at the server their bytes land: one block written over and over
    /// is as fast as a file. What is slower so waits for a disk as well, such as for the block to be on it.
    pub(in crate::diagnosis) fn storage_is_indifferent(&self) -> bool {
        let one_block = self.probed_of_share(ProbeKind::OneBlock);
        let interval = one_block.and_then(|it| it.ratio.interval);
        interval.is_some_and(|[low, high]| high < MATTERS && low > 1.0 / MATTERS)
    }
}

/// Whether what an intervention moves takes the path that is measured: what leaves by other NICs tells nothing of it.
const fn is_on_path(kind: ProbeKind) -> bool {
    !matches!(kind, ProbeKind::Channels | ProbeKind::Path)
}

/// Whether an intervention uses more than one connection.
const fn has_several(kind: ProbeKind) -> bool {
    matches!(
        kind,
        ProbeKind::Sessions | ProbeKind::Connections | ProbeKind::AllReliefs
    )
}
