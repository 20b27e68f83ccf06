//! The attempts of a chain of three stages, on the air and as they are told.

use std::collections::BTreeMap;
use world::{FrameClass, Run, Timeline, Transmission};

const MBPS: u64 = 1_000_000;

/// One sender and its receiver over 802.11a (6, 9, 12, 18, 24, 36, 48, 54 Mb/s), whose data frames are lost with `per`.
fn scenario(per: f64, tables: &str) -> (Run, Timeline) {
    four::run(&format!(
        r#"
        scenario = {{ duration = "1 s" }}
        channel = {{ errors = {{ model = "packet", per = {per} }} }}
        node = [{{ name = "ap", role = "ap" }}, {{ name = "laptop" }}]
        flow = [{{ from = "laptop", to = "ap", traffic = {{ model = "saturated" }}, transport = {{ protocol = "udp" }} }}]
        {tables}
        "#
    ))
}

/// The rates of each MSDU's attempts on the air, in Mb/s and in order.
fn attempts(timeline: &Timeline) -> Vec<Vec<u64>> {
    let mut all: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for sent in data(timeline) {
        let packet = sent.packet.as_ref().expect("data carries a packet");
        all.entry(packet.serial).or_default().push(sent.rate.bps() / MBPS);
    }
    all.into_values().collect()
}

fn data(timeline: &Timeline) -> impl Iterator<Item = &Transmission> {
    timeline.transmissions.iter().filter(|sent| sent.class == FrameClass::Udp)
}

#[test]
fn attempts_walk_along_the_stages_and_begin_again_when_all_tries_are_used_up() {
    for (tries, expected) in
        [(1, [54, 24, 6, 54, 24, 6, 54]), (2, [54, 54, 24, 24, 6, 6, 54]), (3, [54, 54, 54, 24, 24, 24, 6])]
    {
        let radio = format!(
            r#"radio = {{ standard = "802.11a", rate_control = {{ name = "step-down", tries = {tries} }} }}"#
        );
        let (_, timeline) = scenario(1.0, &radio);
        let all = attempts(&timeline);
        let (_, whole) = all.split_last().expect("something was sent");
        assert!(whole.len() > 20, "{}", whole.len());
        for msdu in whole {
            assert_eq!(msdu, &expected, "{tries} tries");
        }
    }
}

#[test]
fn a_stage_behind_rts_counts_as_long_and_its_cts_resets_the_short_counter() {
    // Short failures: four, none after the CTS, four again. Long ones: two, and two more, which are all (max_attempts_long).
    let radio = r#"radio = { standard = "802.11a", rate_control = { name = "step-down", rts = true } }"#;
    let (_, timeline) = scenario(1.0, radio);
    let all = attempts(&timeline);
    let (_, whole) = all.split_last().expect("something was sent");
    assert!(whole.len() > 10, "{}", whole.len());
    for msdu in whole {
        assert_eq!(msdu, &[54, 54, 24, 24, 6, 6, 54, 54, 24, 24, 6, 6]);
    }
    let with_cts = timeline
        .transmissions
        .windows(2)
        .filter(|pair| pair[1].class == FrameClass::Udp && pair[0].class == FrameClass::Cts);
    let slow = data(&timeline).filter(|sent| sent.rate.bps() == 6 * MBPS).count();
    assert_eq!(with_cts.count(), slow);
}

#[test]
fn each_attempt_is_told_with_its_stage() {
    let tables = r#"
        radio = { standard = "802.11a" }
        scheme = [{ name = "step-down-counted", tries = 1, at = ["laptop"] }]
    "#;
    let (run, timeline) = scenario(0.5, tables);
    let told = |name: &str| run.scheme("step-down-counted", name);
    let on_air = |mbps: u64| data(&timeline).filter(|sent| sent.rate.bps() == mbps * MBPS).count() as f64;
    let stages = ["attempts_in_stage_1", "attempts_in_stage_2", "attempts_in_stage_3"].map(told);
    for (stage, mbps) in stages.into_iter().zip([54, 24, 6]) {
        assert!((stage - on_air(mbps)).abs() <= 1.0, "{stage} told, {} sent at {mbps} Mb/s", on_air(mbps)); // one under way
    }
    // An attempt is lost with probability 1/2, so each stage has half the attempts of the one before.
    for (more, fewer) in [(stages[0], stages[1]), (stages[1], stages[2])] {
        assert!((0.4..0.6).contains(&(fewer / more)), "{stages:?}");
    }
    let share = told("acknowledged") / stages.iter().sum::<f64>();
    assert!((0.45..0.55).contains(&share), "{share}");
    assert_eq!((told("attempts_beyond_tries"), told("rts_unanswered")), (0.0, 0.0));
}
