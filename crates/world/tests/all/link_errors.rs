//! MAC efficiency over a two-state channel counted in frames: one saturated station, one transmission for each MSDU.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// MSDUs delivered of those whose transmission is over, and how many those are, summed over runs of a minute.
fn efficiency(step: &str, mean_good: u32, mean_bad: u32) -> (f64, f64) {
    let text = format!(
        "[scenario]\nduration = '60 s'\n[radio]\nstandard = '802.11b'\nmax_attempts = 1\nmax_attempts_long = 1\n\
         [channel]\nerrors = {{ model = 'two-state', bad = {{ per = 1.0 }}, unit = 'frame', mean_good = {mean_good}, \
         mean_bad = {mean_bad}, control = false{step} }}\n\
         [[node]]\nname = 'a'\n[[node]]\nname = 'b'\n[[flow]]\nfrom = 'a'\nto = 'b'\n\
         transport = {{ protocol = 'udp', datagram = '1500 B' }}\ntraffic = {{ model = 'saturated' }}\n"
    );
    let blueprint = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let (mut delivered, mut over) = (0.0, 0.0);
    for seed in 1..=8 {
        let run = world::run(&blueprint, seed, &Record::default(), &AtomicBool::new(false)).unwrap();
        let of = |name: &str| Run::number(&run.nodes[0], name).unwrap_or_else(|| panic!("no column {name}"));
        // Nothing else sends and no ACK is lost: every loss is the chain's.
        let under_way = of("data_frames_sent") - of("msdus_delivered") - of("msdus_given_up");
        assert!((0.0..=1.0).contains(&under_way) && of("data_frames_retried") == 0.0, "{under_way}");
        delivered += of("msdus_delivered");
        over += of("msdus_delivered") + of("msdus_given_up");
    }
    (delivered / over, over)
}

/// Half the interval of 99.99 % around the share of good frames: a two-state chain's share of n steps has the variance
/// p (1 - p) / n · (1 + r) / (1 - r), r = 1 - 1/good - 1/bad.
fn half(share: f64, n: f64, good: f64, bad: f64) -> f64 {
    let r = 1.0 - 1.0 / good - 1.0 / bad;
    3.89 * (share * (1.0 - share) / n * (1.0 + r) / (1.0 - r)).sqrt()
}

#[test]
fn efficiency_with_one_transmission_is_one_less_the_frame_error_rate_if_data_frames_alone_step() {
    for (good, bad) in [(95, 5), (475, 25), (9, 1)] {
        let (measured, n) = efficiency(", step = 'data'", good, bad);
        let (good, bad) = (f64::from(good), f64::from(bad));
        let fer = bad / (good + bad);
        let half = half(fer, n, good, bad);
        assert!(half < 0.015 && (measured - (1.0 - fer)).abs() < half, "{measured} is not {} ± {half}", 1.0 - fer);
    }
}

#[test]
fn where_acks_step_too_bursts_hold_more_of_the_data_than_of_the_frames() {
    // In the good state an exchange is two frames, in the bad state one, since nobody acknowledges what is lost: of 95 good frames about
    // 47.5 are data, of 5 bad ones nearly all. 5 / 52.5 = 9.5 % of data frames are lost, not 5 %.
    for step in ["", ", step = 'all'"] {
        let (measured, _) = efficiency(step, 95, 5);
        assert!((measured - 0.905).abs() < 0.01, "{measured}");
    }
}
