//! Where a file of a share has holes, as far as the server has said.

use std::ops::Range;

/// A shorter hole is read with what is around it: one more request would cost more.
const HOLE_BYTES_MIN: u64 = 64 << 10;

/// What is known about a file, from some place on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AllocatedRanges {
    /// Up to where it is known.
    pub(super) known: u64,
    /// What is no hole, in order; everything else before `known` is one.
    data: Vec<Range<u64>>,
}

impl AllocatedRanges {
    /// There are none in a file of this length.
    pub(super) fn none(size: u64) -> Self {
        Self {
            known: size,
            data: std::iter::once(0..size).collect(),
        }
    }

    /// What the server said about the rest of a file, which may be anything. What it says of other
    /// places counts for nothing, and if the order is wrong there are no holes.
    pub(super) fn of_server(asked: Range<u64>, ranges: &[Range<u64>], more: bool) -> Self {
        let mut data: Vec<Range<u64>> = Vec::new();
        let mut end = 0;
        for range in ranges {
            if range.start < end {
                return Self::none(asked.end);
            }
            end = range.end;
            let range = range.start.max(asked.start)..range.end.min(asked.end);
            match data.last_mut() {
                _ if range.is_empty() => {}
                Some(last) if range.start - last.end < HOLE_BYTES_MIN => last.end = range.end,
                _ => data.push(range),
            }
        }
        // No range at all would say nothing about anything.
        let known = match data.last() {
            Some(last) if more => last.end,
            None if more => return Self::none(asked.end),
            _ => asked.end,
        };
        Self { known, data }
    }

    /// The next range at or after `from` that is no hole; none if there is none as far as is known.
    pub(super) fn next_data(&self, from: u64) -> Option<Range<u64>> {
        let next = self.data.partition_point(|range| range.end <= from);
        let range = self.data.get(next)?;
        Some(range.start.max(from)..range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn data(allocated: &AllocatedRanges, from: u64) -> Vec<Range<u64>> {
        let mut from = from;
        let next = || {
            let range = allocated.next_data(from)?;
            from = range.end;
            Some(range)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn what_is_between_the_ranges_is_a_hole() {
        let ranges = [0..MIB, 3 * MIB..4 * MIB, 4 * MIB + 100..5 * MIB];
        let allocated = AllocatedRanges::of_server(0..9 * MIB, &ranges, false);
        assert_eq!(allocated.known, 9 * MIB);
        assert_eq!(data(&allocated, 0), [0..MIB, 3 * MIB..5 * MIB]);
        assert_eq!(data(&allocated, MIB / 2)[0], MIB / 2..MIB);
        assert!(data(&allocated, 5 * MIB).is_empty());
        let whole_hole = AllocatedRanges::of_server(0..MIB, &[], false);
        assert_eq!((whole_hole.known, whole_hole.next_data(0)), (MIB, None));
    }

    #[test]
    fn what_the_server_left_out_is_asked_for_later() {
        let ranges = [MIB..2 * MIB, 3 * MIB..4 * MIB];
        let allocated = AllocatedRanges::of_server(MIB..9 * MIB, &ranges, true);
        assert_eq!(allocated.known, 4 * MIB);
        assert_eq!(data(&allocated, MIB), ranges);
    }

    #[test]
    fn every_answer_leads_on_and_says_nothing_about_other_places() {
        let asked = 2 * MIB..6 * MIB;
        let answers: [&[(u64, u64)]; 7] = [
            &[],
            &[(0, MIB)],
            &[(0, u64::MAX)],
            &[(7 * MIB, 8 * MIB)],
            &[(3 * MIB, 3 * MIB)],
            &[(4 * MIB, 5 * MIB), (2 * MIB, 3 * MIB)],
            &[(3 * MIB, 5 * MIB), (4 * MIB, 6 * MIB)],
        ];
        let understood = |answer: &[(u64, u64)], more| {
            let ranges: Vec<_> = answer.iter().map(|(start, end)| *start..*end).collect();
            AllocatedRanges::of_server(asked.clone(), &ranges, more)
        };
        for answer in answers {
            for more in [false, true] {
                let allocated = understood(answer, more);
                assert!(allocated.known > asked.start && allocated.known <= asked.end);
                let data = data(&allocated, asked.start);
                let inside = data.iter().all(|range| range.end <= allocated.known);
                assert!(inside, "{answer:?} {more}: {allocated:?}");
            }
        }
        let none = AllocatedRanges::none(6 * MIB);
        assert_eq!(understood(answers[5], false), none);
        assert_eq!(understood(answers[6], false), none);
        assert_eq!(understood(answers[0], true), none);
    }
}
