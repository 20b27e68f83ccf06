//! Shares of airtime of two receivers behind one access point.

use units::NodeId;
use world::{FrameClass, Run};

/// An access point with more for each of two stations than the air takes: the second one is at `rate`, and its frames are lost
/// with `per`. Returns the run, and the seconds of airtime of data for each of the two, in the second half of the run.
fn downloads(scheme: &str, rate: &str, per: f64) -> (Run, [f64; 2]) {
    let (run, timeline) = four::run(&format!(
        r#"
        scenario = {{ duration = "4 s" }}
        radio = {{ standard = "802.11a", queue = {{ per = "receiver", discipline = "drop-tail", packets = 100 }} }}
        channel = {{ pair = [{{ between = ["ap", "far"], errors = {{ model = "packet", per = {per} }} }}] }}
        node = [
            {{ name = "ap", role = "ap", data_rate_to = {{ far = "{rate}" }} }},
            {{ name = "near" }},
            {{ name = "far" }},
        ]
        flow = [
            {{ from = "ap", to = "near", traffic = {{ model = "poisson", rate = "40 Mb/s" }}, transport = {{ protocol = "udp" }} }},
            {{ from = "ap", to = "far", traffic = {{ model = "poisson", rate = "40 Mb/s" }}, transport = {{ protocol = "udp" }} }},
        ]
        {scheme}
        "#
    ));
    let airtime = |to: u32| {
        let data =
            timeline.transmissions.iter().filter(|sent| sent.class == FrameClass::Udp && sent.to == NodeId(to));
        data.filter(|sent| sent.start.as_secs_f64() > 2.0).map(|sent| sent.airtime.as_secs_f64()).sum::<f64>()
    };
    let shares = [airtime(1), airtime(2)];
    (run, shares)
}

const TURNS: &str = r#"scheme = [{ name = "airtime-turns", penalty = 4, at = ["ap"] }]"#;

#[test]
fn a_slow_receiver_gets_as_much_air_as_a_fast_one_and_not_as_many_frames() {
    // 1536 bytes last 20 + 4 · 513 = 2072 µs at 6 Mb/s, 20 + 4 · 57 = 248 µs at 54 Mb/s.
    let (_, [near, far]) = downloads("", "6 Mb/s", 0.0);
    assert!((8.0..8.7).contains(&(far / near)), "frame by frame: {near} s and {far} s");
    let (run, [near, far]) = downloads(TURNS, "6 Mb/s", 0.0);
    // Acks are charged too: 28 µs for each of eight frames, against 44 for one.
    assert!((1.0..1.12).contains(&(far / near)), "by airtime: {near} s and {far} s");
    assert_eq!(run.scheme("airtime-turns", "attempts_in_vain"), 0.0);
    assert!(run.scheme("airtime-turns", "attempts_told") > 1000.0);
}

#[test]
fn a_receiver_that_acknowledges_nothing_gets_the_share_that_the_penalty_leaves_it() {
    let (run, [near, far]) = downloads(TURNS, "54 Mb/s", 1.0);
    // Charged for each frame: 248 + 28 µs where it is acknowledged, 4 · 248 where it is not.
    let expected = (248.0 + 28.0) / (4.0 * 248.0);
    assert!((far / near / expected - 1.0).abs() < 0.05, "{near} s and {far} s");
    let [told, in_vain] = ["attempts_told", "attempts_in_vain"].map(|name| run.scheme("airtime-turns", name));
    assert!((in_vain / told - expected / (1.0 + expected)).abs() < 0.02, "{in_vain} of {told}");
    assert_eq!(run.flow(1, "goodput_bps"), Some(0.0));
}
