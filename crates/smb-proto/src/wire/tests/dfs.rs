//! Referrals of distributed file systems (MS-DFSC).

use super::{Sample, sample};
use crate::wire::{Message as _, Referral, ReferralRequest, ReferralResponse, utf16};

fn referral(target: &str) -> Referral {
    Referral {
        version: 4,
        is_root: false,
        time_to_live_seconds: 1800,
        target: target.into(),
    }
}

pub(super) fn samples() -> Vec<Sample> {
    vec![
        sample(&ReferralRequest {
            version_max: 4,
            path: r"\nas\共有\film".into(),
        }),
        sample(&ReferralResponse {
            path_consumed: 20,
            referrals: vec![referral(r"\fs1\data"), referral(r"\fs2\data\deep")],
        }),
    ]
}

/// Samba 4.17 about `\\10.94.0.2\dfs\sub\link`, which has two targets; of version 3, though 4 was asked for.
#[test]
fn a_referral_of_samba_is_understood() {
    #[rustfmt::skip]
    const HEAD: &[u8] = &[
        0x2e, 0x00, 0x02, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x58, 0x02, 0x00, 0x00,
        0x44, 0x00, 0x74, 0x00, 0xa4, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x03, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x58, 0x02, 0x00, 0x00, 0xa2, 0x00, 0xd2, 0x00, 0x02, 0x01,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];
    const ASKED: &str = r"\10.94.0.2\dfs\sub\link";
    const TARGETS: [&str; 2] = [r"\10.94.0.1\data", r"\10.94.1.2\data\deep"];
    let mut answer = HEAD.to_vec();
    for target in TARGETS {
        for text in [ASKED, ASKED, target] {
            answer.extend(utf16::encode(text));
            answer.extend([0; 2]);
        }
    }
    let read = ReferralResponse::decode(&answer).expect("it is an answer");
    let entry = |target: &str| Referral {
        version: 3,
        is_root: false,
        time_to_live_seconds: 600,
        target: target.to_owned(),
    };
    assert_eq!(usize::from(read.path_consumed), 2 * ASKED.len());
    assert_eq!(read.referrals, TARGETS.map(entry));
}

#[test]
fn a_referral_is_bounded() {
    let mut answer = Vec::new();
    let few = ReferralResponse {
        path_consumed: 0,
        referrals: vec![referral(r"\fs\data"); 100],
    };
    few.encode(&mut answer);
    assert_eq!(
        ReferralResponse::decode(&answer).map(|read| read.referrals.len()),
        Ok(64)
    );
    let domain = [
        &[0, 0, 1, 0, 3, 0, 0, 0, 3, 0, 18, 0, 0, 0, 2, 0][..],
        &[0; 10],
    ];
    let names = ReferralResponse::decode(&domain.concat()).expect("names of domains");
    assert!(names.referrals.is_empty(), "they are no targets");
    let old = [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 10, 0, 0, 0, 0, 0, 0, 0];
    assert!(
        ReferralResponse::decode(&old).is_err(),
        "version 1 was not asked for"
    );
    let long = ReferralResponse {
        path_consumed: 0,
        referrals: vec![referral(&"a".repeat(5000))],
    };
    answer.clear();
    long.encode(&mut answer);
    assert!(
        ReferralResponse::decode(&answer).is_err(),
        "no path is so long"
    );
}
