//! The answers in `tests/published/README.md`, to the digits printed there.

use fit::table::{Interactions, Request, Table, TableEffect, TableResult, analyze};
use stats::Verdict;

use crate::{effect, one, texts, warnings};

const NIC: &str = include_str!("../published/atto360-nic-parameters.csv");
const OFFLOAD: &str = include_str!("../published/mtu-and-task-offload-iperf.csv");
const MULTICHANNEL: &str = include_str!("../published/smb-multichannel-2x1gbe.csv");
const DIALECT: &str = include_str!("../published/smb1-vs-smb2-100mbit.csv");
const JUMBO: &str = include_str!("../published/jumbo-frames-10gbe.csv");

fn only(mut request: Request, filters: &[(&str, &str)]) -> Request {
    let owned = filters
        .iter()
        .map(|(column, cell)| ((*column).into(), (*cell).into()));
    request.only = owned.collect();
    request
}

fn printed(effect: &TableEffect, decimals: usize) -> String {
    let number = |number: Option<f64>| format!("{:+.decimals$}", number.unwrap());
    format!(
        "{} [{}, {}]",
        number(effect.estimate),
        number(effect.low),
        number(effect.high)
    )
}

fn nic(responses: &[&str], interactions: Interactions) -> Vec<TableResult> {
    let factors = ["smb_signing", "lro", "tso", "flow_control"];
    let mut request = Request::new(responses.iter().copied(), factors);
    request.interactions = interactions;
    // Rows D-1 to D-11 are those of the default profile.
    let request = only(request, &[("profile", "default")]);
    analyze(&Table::from_csv(NIC).unwrap(), &request).unwrap()
}

#[test]
fn nic_parameters_move_what_the_study_says() {
    let results = nic(&["read_mb_s", "write_mb_s"], Interactions::Ignored);
    let [read, write] = results.as_slice() else {
        panic!("two responses")
    };
    assert_eq!((read.n, read.unit.as_str()), (11, "MB/s"));
    assert_eq!(
        printed(effect(read, "lro", "on"), 1),
        "+682.7 [+637.3, +728.2]"
    );
    assert_eq!(
        printed(effect(write, "tso", "on"), 1),
        "+317.1 [+226.9, +407.4]"
    );
    assert_eq!(
        printed(effect(read, "flow_control", "on"), 1),
        "-56.1 [-97.3, -14.8]"
    );
    assert_eq!(
        printed(effect(read, "smb_signing", "on"), 1),
        "+15.4 [-30.1, +60.8]"
    );
    assert_eq!(
        printed(effect(write, "smb_signing", "on"), 1),
        "+30.9 [-68.5, +130.4]"
    );
    assert_eq!(effect(read, "lro", "on").verdict, Verdict::Better);
    assert_eq!(effect(write, "tso", "on").verdict, Verdict::Better);
    assert_eq!(
        effect(read, "smb_signing", "on").verdict,
        Verdict::Undecided
    );
    assert_eq!(
        effect(write, "smb_signing", "on").verdict,
        Verdict::Undecided
    );
    let flow = effect(read, "flow_control", "on");
    assert_eq!(format!("{:.3}", flow.p.unwrap()), "0.016");
    // Third of eight after LRO and TSO: six times.
    assert!((flow.p_holm.unwrap() - 6.0 * flow.p.unwrap()).abs() < 1e-12);
    assert_eq!(flow.verdict, Verdict::Undecided);
    assert_eq!(warnings(read, "unreplicated").len(), 1);
}

/// Asked for one response only, the screened interactions are tests too, and it still does not survive.
#[test]
fn flow_control_does_not_survive_with_interactions_either() {
    let read = nic(&["read_mb_s"], Interactions::Screened).remove(0);
    assert_eq!(read.effects.len(), 4 + 6);
    let flow = effect(&read, "flow_control", "on");
    assert_eq!(printed(flow, 1), "-56.1 [-97.3, -14.8]");
    assert!(flow.p_holm.unwrap() > 0.05);
    assert_eq!(flow.verdict, Verdict::Undecided);
    assert_eq!(effect(&read, "lro", "on").verdict, Verdict::Better);
}

#[test]
fn task_offload_shows_no_difference() {
    let request = Request::new(["throughput_mbit_s"], ["mtu", "task_offload"]);
    let result = one(OFFLOAD, &request);
    assert_eq!((result.n, result.unit.as_str()), (20, "Mbit/s"));
    let [anova, kruskal] = result.tests.as_slice() else {
        panic!("{:?}", result.tests)
    };
    assert_eq!(
        (anova.name.as_str(), kruskal.name.as_str()),
        ("one_way_anova", "kruskal_wallis")
    );
    assert_eq!(
        format!("{:.3} {:.3}", anova.statistic, anova.p),
        "1.674 0.212"
    );
    assert_eq!(
        format!("{:.3} {:.3}", kruskal.statistic, kruskal.p),
        "4.796 0.187"
    );
    assert_eq!(anova.degrees_of_freedom, [3, 16]);
    assert_eq!(kruskal.degrees_of_freedom, [3]);
    let offload = effect(&result, "task_offload", "on");
    assert_eq!(offload.baseline, "off");
    assert_eq!(printed(offload, 2), "-0.35 [-0.69, -0.01]");
    let mean = 19.705;
    assert_eq!(
        format!("{:.1}", 100.0 * offload.estimate.unwrap().abs() / mean),
        "1.8"
    );
    assert!(
        result
            .effects
            .iter()
            .all(|effect| effect.verdict == Verdict::Undecided)
    );
}

fn ratio_of(result: &TableResult, factor: &str, level: &str) -> String {
    format!("{:.2}", effect(result, factor, level).ratio.unwrap())
}

#[test]
fn two_channels_against_one() {
    let cases = [
        ([("workload", "cdm-seq"), ("direction", "read")], "1.88"),
        ([("workload", "cdm-seq"), ("direction", "write")], "1.48"),
        ([("workload", "copy-10gb"), ("direction", "write")], "1.46"),
    ];
    for (filters, expected) in cases {
        let result = one(
            MULTICHANNEL,
            &only(Request::new(["mb_s"], ["channels"]), &filters),
        );
        assert_eq!(ratio_of(&result, "channels", "2"), expected);
        // One row each: a ratio, and no claim.
        let channels = effect(&result, "channels", "2");
        assert_eq!(
            (channels.low, channels.high, channels.p),
            (None, None, None)
        );
        assert_eq!(channels.verdict, Verdict::Undecided);
        assert_eq!(warnings(&result, "no_degrees_of_freedom").len(), 1);
    }
}

#[test]
fn dialects_on_a_slow_link() {
    let ratio = |response: &str| {
        let result = one(DIALECT, &Request::new([response], ["dialect"]));
        assert_eq!(effect(&result, "dialect", "smb2.0").baseline, "smb1");
        ratio_of(&result, "dialect", "smb2.0")
    };
    assert_eq!(ratio("write_mbit_s"), "1.25");
    assert_eq!(ratio("read_mbit_s"), "1.03");
}

#[test]
fn jumbo_frames_are_a_pure_interaction() {
    let result = one(
        JUMBO,
        &Request::new(["seq_read_mb_s"], ["pc_mtu", "nas_mtu"]),
    );
    let both = effect(&result, "pc_mtu:nas_mtu", "9000:9000");
    assert_eq!(both.baseline, "1500:1500");
    assert!((both.estimate.unwrap() - 475.0).abs() < 1e-9);
    assert_eq!(ratio_of(&result, "pc_mtu:nas_mtu", "9000:9000"), "1.73");
    assert_eq!((both.p, both.verdict), (None, Verdict::Undecided));
    assert_eq!(
        texts(&result, "interaction")[0],
        "table-interaction.only-together pair=pc_mtu:nas_mtu one=1.00 other=1.00 both=1.73 \
         better=higher tested=no"
    );
    // Named, it is in the model: nothing alone, all together.
    let named = Request::new(["seq_read_mb_s"], ["pc_mtu", "nas_mtu", "pc_mtu:nas_mtu"]);
    let result = one(JUMBO, &named);
    for factor in ["pc_mtu", "nas_mtu"] {
        let alone = effect(&result, factor, "9000");
        assert_eq!(
            (alone.estimate, ratio_of(&result, factor, "9000").as_str()),
            (Some(0.0), "1.00")
        );
    }
    assert_eq!(ratio_of(&result, "pc_mtu:nas_mtu", "9000:9000"), "1.73");
    assert_eq!(warnings(&result, "conditional").len(), 2);
}
