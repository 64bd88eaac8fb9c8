//! The right to send: what the server granted, and how much to ask for (3.2.4.1.2, 3.2.4.1.5).

/// Asked for at first; Windows clients ask for 128, which is too little for a fast link.
const TARGET_FIRST: u32 = 512;
/// Asked for at most; servers grant 8192 at most.
const TARGET_MAX: u32 = 8192;
/// Kept back from READs and WRITEs, for anything small.
const RESERVE: u32 = 8;
/// What one credit pays for.
pub(super) const CREDIT_BYTES: u32 = 1 << 16;

#[derive(Debug)]
pub(super) struct Credits {
    balance: u32,
    /// Asked for in requests that have no answer yet.
    requested: u32,
    target: u32,
}

impl Credits {
    /// A new connection may send one request.
    pub(super) fn new() -> Self {
        Self {
            balance: 1,
            requested: 0,
            target: TARGET_FIRST,
        }
    }

    pub(super) fn balance(&self) -> u32 {
        self.balance
    }

    /// What READs and WRITEs may use; all of it when none of them is under way.
    pub(super) fn for_data(&self, under_way: usize) -> u32 {
        let without_reserve = self.balance.saturating_sub(RESERVE);
        if without_reserve == 0 && under_way == 0 {
            self.balance
        } else {
            without_reserve
        }
    }

    /// Pays for a request; gives how many credits to ask for in it.
    pub(super) fn spend(&mut self, charge: u16) -> u16 {
        debug_assert!(self.balance >= u32::from(charge));
        self.balance = self.balance.saturating_sub(u32::from(charge));
        let wanted = self
            .target
            .saturating_sub(self.balance.saturating_add(self.requested))
            .max(1);
        let asked = u16::try_from(wanted).unwrap_or(u16::MAX);
        self.requested += u32::from(asked);
        asked
    }

    /// An answer came, interim or final. `asked` is what its request asked for, the first time.
    pub(super) fn answered(&mut self, asked: u16, granted: u16) {
        self.requested = self.requested.saturating_sub(u32::from(asked));
        self.balance = self.balance.saturating_add(u32::from(granted));
    }

    /// There was work that credits did not suffice for.
    pub(super) fn starved(&mut self) {
        self.target = (self.target * 2).min(TARGET_MAX);
    }
}

/// What a request costs (3.2.4.1.5).
pub(super) fn charge(payload: u32, large_mtu: bool) -> u16 {
    if !large_mtu || payload == 0 {
        return 1;
    }
    u16::try_from(payload.div_ceil(CREDIT_BYTES)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges() {
        assert_eq!(charge(0, true), 1);
        assert_eq!(charge(65536, true), 1);
        assert_eq!(charge(65537, true), 2);
        assert_eq!(charge(8 << 20, true), 128);
        assert_eq!(charge(8 << 20, false), 1);
    }

    #[test]
    fn asks_once_for_what_is_lacking_and_then_keeps_the_level() {
        let mut credits = Credits::new();
        let asked = credits.spend(1);
        assert_eq!((asked, credits.balance()), (512, 0));
        credits.answered(asked, 512);
        let first = credits.spend(16);
        let second = credits.spend(16);
        assert_eq!((first, second, credits.balance()), (16, 16, 480));
        credits.answered(first, 0); // interim or not: the server grants nothing
        assert_eq!(
            credits.spend(1),
            17,
            "what was not granted is asked for again"
        );
    }

    #[test]
    fn the_target_grows_when_starved() {
        let mut credits = Credits::new();
        (0..10).for_each(|_| credits.starved());
        assert_eq!(credits.spend(1), 8192);
    }

    #[test]
    fn data_leaves_a_reserve_unless_nothing_else_could_go_on() {
        let mut credits = Credits::new();
        assert_eq!((credits.for_data(0), credits.for_data(1)), (1, 0));
        credits.answered(0, 13);
        assert_eq!((credits.for_data(0), credits.for_data(1)), (6, 6));
    }
}
