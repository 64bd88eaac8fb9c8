//! Ratios of blocks, medians and verdicts: by hand, and on simulated experiments.

use locale::Message;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stats::{
    Estimate, PairedRatios, Unit, Verdict, alarm, blocks_min, computed, detectable_shift, median,
    quotient, verdict,
};

use crate::standard_normal_draw;

const SEED: u64 = 20_261_121;

fn said(caveats: &[Message]) -> Vec<String> {
    caveats.iter().map(locale::said).collect()
}

proptest::proptest! {
    /// A over B is B over A turned round, whatever the numbers: nothing favours an arm.
    #[test]
    fn swapping_the_arms_turns_everything_round(
        logs in proptest::collection::vec(-0.2_f64..0.2, 1..30),
        band in 0.0_f64..0.05,
    ) {
        let one = ratios(&logs);
        let two = PairedRatios::new((0..).zip(&logs).map(|(block, log)| (block, log.exp(), 1.0)));
        let (ratio, other) = (one.ratio(0.02, 0.95).expect("blocks"), two.ratio(0.02, 0.95).expect("blocks"));
        close(ratio.value * other.value, 1.0);
        let swapped = match verdict(&other, band, 0.95) {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            same => same,
        };
        proptest::prop_assert_eq!(verdict(&ratio, band, 0.95), swapped);
        proptest::prop_assert_eq!(alarm(&ratio, band, 0.95), alarm(&other, band, 0.95));
        if let (Some([low, high]), Some([other_low, other_high])) = (ratio.interval, other.interval) {
            close(low * other_high, 1.0);
            close(high * other_low, 1.0);
            proptest::prop_assert!(low <= ratio.value && ratio.value <= high);
        }
    }
}

/// Of these the first end that is refused lies on a step of the rounded scores.
#[test]
fn nothing_favours_an_arm_where_rounding_could() {
    let logs = [
        -0.1835060070850143,
        0.19243885240895653,
        -0.1285812641499767,
        -0.1636684285440073,
        -0.06630033964916011,
        -0.12075590689072513,
        -0.09376121284112984,
        -0.10697897970161004,
        0.15365158413371688,
        0.11920789166151455,
        -0.057317338894576256,
        0.14742412028746785,
        0.06688485924342444,
        0.08263633993622636,
        -0.15697241112477683,
        -0.15972584600097806,
        -0.14388410565982987,
    ];
    let one = ratios(&logs).ratio(0.02, 0.95).expect("blocks");
    let swapped = (0..).zip(&logs).map(|(block, log)| (block, log.exp(), 1.0));
    let two = PairedRatios::new(swapped)
        .ratio(0.02, 0.95)
        .expect("blocks");
    let [[low, high], [other_low, other_high]] =
        [one, two].map(|ratio| ratio.interval.expect("an interval"));
    close(low * other_high, 1.0);
    close(high * other_low, 1.0);
}

fn ratios(logs: &[f64]) -> PairedRatios {
    PairedRatios::new((0..).zip(logs).map(|(block, log)| (block, 1.0, log.exp())))
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

/// Seven differences; the median of their 28 pairwise means is 0.021. Of the 128 ways to give the
/// differences from a shift their signs (python3, itertools) 6 are as one-sided as just below 0.007
/// or just above 0.031, and 8 or more from any shift between.
#[test]
fn seven_blocks_by_hand() {
    let logs = [0.031, -0.004, 0.022, 0.018, 0.027, 0.009, 0.035];
    let ratio = ratios(&logs).ratio(0.02, 0.95).expect("seven blocks");
    close(ratio.value.ln(), 0.021);
    let [low, high] = ratio.interval.expect("an interval");
    assert!((low.ln() - 0.007).abs() < 1e-9, "{low}");
    assert!((high.ln() - 0.031).abs() < 1e-9, "{high}");
    close(ratio.confidence.expect("a confidence"), 1.0 - 6.0 / 128.0);
    assert_eq!((ratio.n, ratio.unit), (7, Unit::Ratio));
    assert_eq!(ratio.caveats, []);
}

/// One block of ten has somebody else on the link: that trial tells nothing, and the others still
/// show what they show.
#[test]
fn a_trial_that_stands_apart_hides_no_effect() {
    let a = [
        0.00, 0.01, -0.01, 0.02, 0.00, -0.02, 0.01, 0.00, -0.01, 0.01,
    ];
    let b = [0.04, 0.03, 0.05, 0.03, 0.02, 0.04, 0.03, 0.05, 0.04, 0.02];
    let judged = |a: [f64; 10], b: [f64; 10]| {
        let pairs = (0..)
            .zip(a)
            .zip(b)
            .map(|((block, a), b)| (block, a.exp(), b.exp()));
        verdict(
            &PairedRatios::new(pairs).ratio(0.02, 0.95).expect("ten"),
            0.02,
            0.95,
        )
    };
    assert_eq!(judged(a, b), Verdict::Better);
    for block in 0..10 {
        let mut slow = b;
        slow[block] -= 0.3;
        assert_eq!(judged(a, slow), Verdict::Better, "block {block}");
        // What was slow at both was not the change.
        let mut busy = a;
        busy[block] -= 0.3;
        assert_eq!(judged(busy, slow), Verdict::Better, "block {block}");
        assert_eq!(judged(slow, busy), Verdict::Worse, "block {block}");
    }
}

/// From `scipy.stats.binom.cdf(k - 1, n, 0.5)`.
#[test]
fn median_intervals_reach_these_confidences() {
    let known = [
        (6, 1, 0.968_75),
        (9, 2, 0.960_937_5),
        (10, 2, 0.978_515_625),
        (15, 4, 0.964_843_75),
    ];
    for (n, order, reached) in known {
        let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
        let median = median(&values, 0.02, 0.95, Unit::BytesPerSecond).expect("values");
        close(median.value, f64::from(n + 1) / 2.0);
        let order = f64::from(order);
        assert_eq!(median.interval, Some([order, f64::from(n) + 1.0 - order]));
        close(median.confidence.expect("a confidence"), reached);
    }
}

#[test]
fn too_few_blocks_claim_no_more_than_their_orders_allow() {
    // Two or three of five blocks begin with A: 20 orders, two of which are as one-sided as can be.
    let firsts = [true, false, true, false, true];
    let steps = [0.10_f64, 0.11, 0.12, 0.13, 0.14];
    let blocks = (0..).zip(steps).zip(firsts);
    let five = PairedRatios::in_order(
        blocks.map(|((block, step), a_first)| (block, 1.0, step.exp(), Some(a_first))),
    );
    let alone = five.ratio(0.02, 0.95).expect("five blocks");
    close(alone.confidence.expect("a confidence"), 0.9375);
    let halves = five.drawn_in_halves().ratio(0.02, 0.95);
    let halves = halves.expect("five blocks");
    close(halves.confidence.expect("a confidence"), 0.90);
    assert_eq!(halves.interval, alone.interval);
}

#[test]
fn too_few_blocks_give_their_widest_interval_and_no_verdict() {
    // Five blocks, all clearly better: 1 - 2/32 is all that five signs can give.
    let five = ratios(&[0.10, 0.11, 0.12, 0.13, 0.14]);
    let ratio = five.ratio(0.02, 0.95).expect("five blocks");
    close(ratio.confidence.expect("a confidence"), 0.9375);
    let [low, high] = ratio.interval.expect("an interval");
    close(low.ln(), 0.10);
    close(high.ln(), 0.14);
    assert_eq!(
        said(&ratio.caveats),
        ["5 blocks reach 93.8 % confidence at most; 95 % needs 6"]
    );
    assert_eq!(verdict(&ratio, 0.02, 0.95), Verdict::Undecided);
    assert_eq!(verdict(&ratio, 0.02, 0.90), Verdict::Better);
    assert_eq!(five.smallest_detectable(0.95), None);
    assert_eq!(five.blocks_to_settle(0.02, 0.95), Some(6));

    let one = ratios(&[0.1]).ratio(0.02, 0.95).expect("one block");
    assert_eq!((one.interval, one.confidence), (None, None));
    assert_eq!(verdict(&one, 0.02, 0.95), Verdict::Undecided);
    assert_eq!(ratios(&[]).ratio(0.02, 0.95), None);
    assert_eq!(median(&[f64::NAN], 0.02, 0.95, Unit::Ratio), None);
    assert_eq!([0.9, 0.95, 0.99, 0.999].map(blocks_min), [5, 6, 8, 11]);
}

#[test]
fn the_verdict_rule() {
    let judge = |low: f64, high: f64| {
        let estimate = Estimate {
            value: (low * high).sqrt(),
            interval: Some([low, high]),
            confidence: Some(0.96),
            n: 6,
            unit: Unit::Ratio,
            caveats: Vec::new(),
        };
        let verdict = verdict(&estimate, 0.02, 0.95);
        (verdict, alarm(&estimate, 0.02, 0.95))
    };
    assert_eq!(judge(1.03, 1.06), (Verdict::Better, true));
    assert_eq!(judge(1.001, 1.06), (Verdict::Better, false));
    assert_eq!(judge(1.001, 1.019), (Verdict::Equivalent, false));
    assert_eq!(judge(0.985, 1.019), (Verdict::Equivalent, false));
    assert_eq!(judge(0.985, 1.021), (Verdict::Undecided, false));
    assert_eq!(judge(1.0, 1.06), (Verdict::Undecided, false));
    assert_eq!(judge(0.90, 0.999), (Verdict::Worse, false));
    // The band is as wide below as above: 1 / 1.02 = 0.980392.
    assert_eq!(judge(0.9803, 0.99), (Verdict::Worse, false));
    assert_eq!(judge(0.9804, 0.99), (Verdict::Equivalent, false));
    assert_eq!(judge(0.90, 0.98), (Verdict::Worse, true));
}

#[test]
fn ties_and_hostile_numbers_do_no_harm() {
    let same = ratios(&[0.0; 6]).ratio(0.02, 0.95).expect("six blocks");
    assert_eq!(same.interval, Some([1.0, 1.0]));
    assert_eq!(verdict(&same, 0.02, 0.95), Verdict::Equivalent);
    assert_eq!(ratios(&[0.0; 6]).blocks_to_settle(0.02, 0.95), Some(7));
    let odd = [
        (0, 0.0, 1.0),
        (1, 1.0, f64::INFINITY),
        (2, -1.0, -1.0),
        (3, f64::NAN, 1.0),
        (4, 1e300, 1e-300),
    ];
    assert!(PairedRatios::new(odd).is_empty());
    for confidence in [f64::NAN, -3.0, 0.0, 1.0, 7.0, f64::INFINITY] {
        let ratio = ratios(&[0.1, 0.2])
            .ratio(0.02, confidence)
            .expect("two blocks");
        assert!(ratio.interval.is_some());
    }
    let many: Vec<f64> = (0..1_500).map(|index| f64::from(index % 7)).collect();
    let ratio = ratios(&many).ratio(0.02, 0.95).expect("many blocks");
    close(ratio.value.ln(), 3.0);
    assert!(ratio.confidence.is_some_and(|reached| reached >= 0.949));
}

/// Rates as a table prints them, the same in each block. All of the two ways to the power of ten to
/// exchange the arms but two are less one-sided than what speaks against any other ratio.
#[test]
fn blocks_that_agree_but_for_rounding_are_as_sure_as_their_number_allows() {
    for rates in [[117.7e6, 234.9e6], [0.3, 0.1], [941.0, 941.0]] {
        let blocks = (0..10).map(|block| {
            // The disturbance of a block multiplies both, and is gone from their quotient but for rounding.
            let both = 1.0 + 0.013 * f64::from(block);
            (block, both * rates[0], both * rates[1])
        });
        let blocks = PairedRatios::new(blocks);
        let ratio = blocks.ratio(0.02, 0.95).expect("ten blocks");
        close(ratio.value, rates[1] / rates[0]);
        close(ratio.confidence.expect("it has one"), 1.0 - 2.0 / 1024.0);
        let [low, high] = ratio.interval.expect("it has one");
        close(low, high);
        let expected = match rates[0] == rates[1] {
            true => Verdict::Equivalent,
            false if rates[1] > rates[0] => Verdict::Better,
            false => Verdict::Worse,
        };
        assert_eq!(verdict(&ratio, 0.02, 0.95), expected);
        assert!(ratio.caveats.is_empty(), "{:?}", ratio.caveats);
    }
}

#[test]
fn outliers_and_drift_are_named_and_kept() {
    let logs = [0.001, 0.002, -0.001, 0.0, -0.15, 0.001, 0.0];
    let ratio = ratios(&logs).ratio(0.02, 0.95).expect("seven blocks");
    assert_eq!(ratio.n, 7);
    assert_eq!(
        said(&ratio.caveats),
        ["block 5 (-13.9 %) stands apart and is kept"]
    );
    // Median 0.03, Theil-Sen slope 0.01, so exp(6 * 0.01) - 1 = 6.18 %.
    let rising = [0.00, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06];
    let ratio = ratios(&rising).ratio(0.02, 0.95).expect("seven blocks");
    assert_eq!(
        said(&ratio.caveats),
        ["the ratio rises from block to block, by 6.2 % in all; it may depend on time"]
    );
    // 5 of 97.5.
    let falling = [100.0, 99.0, 98.0, 97.0, 96.0, 95.0];
    let median = median(&falling, 0.02, 0.95, Unit::BytesPerSecond).expect("six values");
    assert_eq!(
        said(&median.caveats),
        ["the values fall from trial to trial, by 5.1 % in all"]
    );
}

#[test]
fn many_that_stand_apart_are_counted() {
    let mut values = vec![100.0; 20];
    for (index, value) in values.iter_mut().enumerate().step_by(3) {
        *value = 50.0 + index as f64;
    }
    let found = median(&values, 0.02, 0.95, Unit::BytesPerSecond).expect("twenty values");
    assert_eq!(
        said(&found.caveats),
        [
            "trials 1 (-50.0 %), 4 (-47.0 %), 7 (-44.0 %), 10 (-41.0 %), 13 (-38.0 %) and \
             2 more stand apart and are kept"
        ]
    );
}

/// A quiet machine: the others differ by a thousandth of a percent, so everything is far off.
#[test]
fn what_is_inside_the_band_is_not_named_however_quiet_the_others_are() {
    let quiet = |odd: f64| [0.0, 1e-5, -1e-5, 0.0, odd, 1e-5, -1e-5, 0.0];
    let named = |odd: f64, band: f64| {
        let ratio = ratios(&quiet(odd)).ratio(band, 0.95).expect("eight blocks");
        !ratio.caveats.is_empty()
    };
    // The edge is the band's: ln 1.02 = 0.0198, as wide below as above.
    for (odd, is_named) in [
        (0.0002, false),
        (0.0197, false),
        (0.0199, true),
        (-0.0197, false),
        (-0.0199, true),
    ] {
        assert_eq!(named(odd, 0.02), is_named, "{odd}");
        assert!(named(odd, 0.0), "{odd} is far from the others");
    }
    let rates = quiet(0.0002).map(|log| 117.4e6 * log.exp());
    let median = |band| median(&rates, band, 0.95, Unit::BytesPerSecond).expect("rates");
    assert_eq!(median(0.02).caveats, []);
    assert_eq!(
        said(&median(0.0).caveats),
        ["trial 5 (+0.0 %) stands apart and is kept"]
    );
    // Each block a tenth of a percent more: certain, and 0.9 % in all.
    let slow: Vec<f64> = (0..10).map(|block| 0.001 * f64::from(block)).collect();
    let drifting = |band| ratios(&slow).ratio(band, 0.95).expect("ten blocks").caveats;
    assert_eq!(drifting(0.02), []);
    assert_eq!(drifting(0.005).len(), 1);
    // Noise as wide as the values is no outlier, however large it is.
    let loud = [-0.3, 0.2, -0.1, 0.35, 0.0, -0.2, 0.25, 0.1];
    let loud = ratios(&loud).ratio(0.02, 0.95).expect("eight blocks");
    assert_eq!(loud.caveats, []);
}

#[test]
fn a_rate_of_nothing_stands_apart() {
    let rates = [100.0, 100.1, 99.9, 0.0, 100.0, 100.2];
    let found = median(&rates, 0.02, 0.95, Unit::BytesPerSecond).expect("six values");
    assert_eq!(
        said(&found.caveats),
        ["trial 4 (-100.0 %) stands apart and is kept"]
    );
}

/// The noise is 1.3 % of a block's ratio, and one block of ten lost a third: by the plain standard
/// deviation nothing under 14 % would be found, and it is found from 1.5 % on.
#[test]
fn one_block_that_stands_apart_makes_no_other_noise_floor() {
    let noise = [0.9, -1.2, 0.4, 1.5, -0.6, -1.7, 0.2, 1.1, -0.3, -0.8];
    let shared = [0.3, -0.4, 1.2, 0.1, -0.9, 0.6, -0.2, 0.8, -1.1, 0.5];
    let blocks = |effect: f64, lost: f64| {
        let pairs = (0..)
            .zip(noise)
            .zip(shared)
            .map(move |((block, noise), shared)| {
                let lost = if block == 4 { lost } else { 0.0 };
                let [a, b]: [f64; 2] =
                    [shared - noise, shared + noise].map(|percent| 0.0065 * percent);
                (block, a.exp(), (b + effect + lost).exp())
            });
        PairedRatios::new(pairs)
    };
    let quiet = blocks(0.0, 0.0)
        .smallest_detectable(0.95)
        .expect("ten blocks");
    let odd = blocks(0.0, -0.4)
        .smallest_detectable(0.95)
        .expect("ten blocks");
    assert!(odd < 1.5 * quiet && odd < 0.025, "{odd} {quiet}");
    // So large a difference is indeed found.
    let found = blocks(odd.ln_1p(), -0.4)
        .ratio(0.0, 0.95)
        .expect("ten blocks");
    assert_eq!(verdict(&found, 0.0, 0.95), Verdict::Better, "{found:?}");
    // Half of it is settled by some blocks more, not by hundreds.
    let more = blocks(0.008, -0.4).blocks_to_settle(0.0, 0.95);
    assert!(more.is_some_and(|more| more < 60), "{more:?}");
}

/// What is said to be found four times out of five is, by the interval that decides.
#[test]
fn the_smallest_detectable_difference_is_found_four_times_out_of_five() {
    for n in [6, 8, 10, 16] {
        let shift = detectable_shift(n, 0.95).expect("enough");
        let effect = (0.02 * 2.0_f64.sqrt() * shift).exp_m1();
        let better = simulate(u32::try_from(n).expect("few"), 0.02, effect, 300).better;
        assert!((0.74..=0.88).contains(&better), "n = {n}: {better}");
    }
}

/// At the confidence of the interval both say the same, and less is left the farther it is off.
#[test]
fn probabilities_agree_with_intervals() {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for n in [6, 7, 9, 12, 15] {
        for _ in 0..40 {
            let pairs = (0..n).map(|block| {
                let [a, b] = [0, 0].map(|_| 0.02 * standard_normal_draw(&mut random));
                (block, a.exp(), (b + 0.02).exp())
            });
            let blocks = PairedRatios::new(pairs);
            let ratio = blocks.ratio(0.02, 0.95).expect("blocks");
            let at = |wanted: f64| {
                blocks
                    .probability(&ratio, wanted, 0.95)
                    .expect("it is known")
            };
            let [low, high] = ratio.interval.expect("an interval");
            for wanted in [1.0, 0.98, 1.02, 1.05] {
                let inside = (low..=high).contains(&wanted);
                assert_eq!(at(wanted) > 0.05, inside, "{wanted} {ratio:?}");
            }
            assert!(at(0.5) <= at(low * 0.99), "{ratio:?}");
            assert!(at(0.5) < 0.001, "{ratio:?}");
        }
    }
}

#[test]
fn a_share_of_two_estimates_is_as_sure_as_both_together() {
    let part = median(&[95.0, 96.0, 97.0], 0.02, 0.95, Unit::BytesPerSecond).expect("values");
    let whole = median(&[99.0, 100.0, 101.0], 0.02, 0.95, Unit::BytesPerSecond).expect("values");
    let share = quotient(&part, &whole).expect("a share");
    close(share.value, 0.96);
    assert_eq!(share.interval, Some([95.0 / 101.0, 97.0 / 99.0]));
    close(share.confidence.expect("a confidence"), 0.5);
    let ceiling = computed(100.0, Unit::BytesPerSecond, Vec::new());
    let share = quotient(&part, &ceiling).expect("a share");
    assert_eq!((share.interval, share.n), (Some([0.95, 0.97]), 3));
    close(share.confidence.expect("a confidence"), 0.75);
    assert_eq!(
        quotient(&part, &computed(0.0, Unit::BytesPerSecond, Vec::new())),
        None
    );
}

/// What simulated experiments conclude: how often the interval holds the truth, and the verdicts.
struct Tally {
    covered: f64,
    better: f64,
    called: f64,
}

/// `count` experiments of n blocks; every trial varies by `noise`, both arms of a block share a
/// disturbance of 10 %, and B has `effect`.
fn simulate(n: u32, noise: f64, effect: f64, count: u32) -> Tally {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let (mut covered, mut better, mut called) = (0_u32, 0_u32, 0_u32);
    for _ in 0..count {
        let pairs: Vec<(u32, f64, f64)> = (0..n)
            .map(|block| {
                let shared = 0.1 * standard_normal_draw(&mut random);
                let a = shared + noise * standard_normal_draw(&mut random);
                let b = shared + noise * standard_normal_draw(&mut random);
                (block, a.exp(), b.exp() * (1.0 + effect))
            })
            .collect();
        let ratio = PairedRatios::new(pairs).ratio(0.02, 0.95).expect("blocks");
        let [low, high] = ratio.interval.expect("an interval");
        covered += u32::from((low..=high).contains(&(1.0 + effect)));
        let verdict = verdict(&ratio, 0.02, 0.95);
        better += u32::from(verdict == Verdict::Better);
        called += u32::from(matches!(verdict, Verdict::Better | Verdict::Worse));
    }
    let share = |hits: u32| f64::from(hits) / f64::from(count);
    Tally {
        covered: share(covered),
        better: share(better),
        called: share(called),
    }
}

#[test]
fn intervals_of_95_percent_cover_93_to_97_percent_of_truths() {
    for n in [7, 10, 20] {
        for effect in [0.0, 0.03] {
            let covered = simulate(n, 0.02, effect, 500).covered;
            // 500 simulated experiments tell it to two percent.
            assert!((0.93..=0.98).contains(&covered), "n = {n}: {covered}");
        }
    }
    // Six blocks cannot have 95 %; they have, and say, 96.9 %.
    let covered = simulate(6, 0.02, 0.0, 2_000).covered;
    assert!((covered - 0.968_75).abs() < 0.01, "{covered}");
}

#[test]
fn the_same_against_itself_is_called_different_at_most_5_percent_of_the_time() {
    for n in [6, 10, 20] {
        for noise in [0.005, 0.02, 0.10] {
            let called = simulate(n, noise, 0.0, 500).called;
            assert!(called <= 0.06, "n = {n}, noise {noise}: {called}");
        }
    }
}

#[test]
fn three_percent_under_two_percent_of_noise_is_found_in_ten_blocks() {
    let better = simulate(10, 0.02, 0.03, 500).better;
    assert!(better >= 0.80, "{better}");
}
