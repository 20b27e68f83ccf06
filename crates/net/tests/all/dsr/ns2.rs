//! The preset `ns2`: bounds and waits of ns-2.35's agent (dsr/dsragent.cc, dsr/mobicache.cc; facts in the design page).

use crate::dsr_bench::{AT_ONCE, Bench, Did, control, data};
use plugin::Value;

const NS2: (&str, Value) = ("preset", Value::Choice("ns2"));

fn bench(more: &[(&str, Value)]) -> Bench {
    Bench::new(&[&AT_ONCE[..], &[NS2], more].concat())
}

#[test]
fn ns2_waits_0_5_2_8_and_10_s_between_requests() {
    let mut bench = bench(&[]);
    assert!(bench.seeks(&data(0, 9)));
    let mut sent = Vec::new();
    for ms in 0..60_000 {
        sent.extend(
            bench
                .did()
                .iter()
                .filter_map(|did| if let Did::Sent { ttl, .. } = did { Some((ms, *ttl)) } else { None }),
        );
        bench.passes(1);
    }
    assert_eq!(sent, [(0, 1), (30, 255), (530, 255), (2530, 255), (10_530, 255), (20_530, 255)]);
}

#[test]
fn ns2_keeps_paths_for_ever() {
    let mut bench = bench(&[]);
    bench.learns(&[1, 9]);
    bench.passes(36_000_000);
    assert_eq!(bench.way(9), Some(vec![1, 9]));
}

#[test]
fn ns2_has_16_hops_at_most() {
    let mut bench = bench(&[]);
    let way: Vec<u32> = (20..36).collect();
    bench.learns(&way);
    bench.answered(&(40..57).collect::<Vec<u32>>());
    assert_eq!(bench.way(56), None);
    // Fourteen nodes, this one and the target.
    bench.asked(7, 3, 9, &(60..74).collect::<Vec<u32>>(), 99);
    assert_eq!(bench.did().len(), 1);
    bench.asked(7, 4, 9, &(60..75).collect::<Vec<u32>>(), 99);
    assert_eq!(bench.did(), []);
}

#[test]
fn ns2_knows_no_blacklist() {
    let mut bench = bench(&[]);
    bench.asked(7, 3, 0, &[5], 8);
    let Did::Sent { options, dst, .. } = bench.only() else { panic!("a reply") };
    bench.loses(5, &control(0, dst, 9, options));
    bench.did();
    bench.asked(7, 4, 9, &[5], 8);
    assert_eq!((bench.did().len(), bench.count("blacklisted")), (1, 0));
}

#[test]
fn a_key_beside_the_preset_wins() {
    let mut bench = bench(&[("max_hops", Value::Int(62))]);
    bench.learns(&(20..40).collect::<Vec<u32>>());
}
