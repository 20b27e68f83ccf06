//! The notices of a base station to a sender, on a whole network: a server, a wire, an access point, a mobile over 802.11b.
//!
//! Figures behind the bounds: docs/schemes/eln.md and ebsn.md. Each bound leaves at least a third to spare.

use crate::cells::{SERVER_AP_MOBILE, parsed};
use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// A bulk flow between `from` and `to`; all else as the words say.
fn scenario(from: &str, to: &str, radio: &str, errors: &str, wire: &str, scheme: &str) -> world::Blueprint {
    let text = format!(
        r#"
scenario = {{ duration = "30 s" }}
radio = {{ standard = "802.11b", data_rate = "11 Mb/s", {radio} }}
channel = {{ errors = {errors} }}
{SERVER_AP_MOBILE}{wire}
delay = "2 ms"
[[flow]]
from = "{from}"
to = "{to}"
transport = {{ protocol = "tcp", preset = "rfc", min_rto = "200 ms" }}
{scheme}
"#
    );
    parsed(&text)
}

fn run(scenario: &world::Blueprint, seed: u64) -> Run {
    let record = Record { fingerprint: true, ..Record::default() };
    world::run(scenario, seed, &record, &AtomicBool::new(false)).unwrap()
}

/// The sum of a number of the flow over three seeds.
fn sum(scenario: &world::Blueprint, name: &str) -> f64 {
    (1..=3).map(|seed| run(scenario, seed).flow(0, name).unwrap()).sum()
}

const FAST_WIRE: &str = "rate = \"100 Mb/s\"";
const ELN: &str = "[[scheme]]\nname = \"eln\"";
const EBSN: &str = "[[scheme]]\nname = \"ebsn\"";

#[test]
fn a_sender_that_is_told_of_radio_losses_keeps_its_window_in_both_directions() {
    let errors = r#"{ model = "packet", per = 0.05, at = "msdu" }"#;
    for (from, to) in [("mobile", "server"), ("server", "mobile")] {
        let [untold, told] =
            ["", ELN].map(|scheme| scenario(from, to, "queue = { packets = 50 }", errors, FAST_WIRE, scheme));
        let goodput = [&untold, &told].map(|scenario| sum(scenario, "goodput_bps"));
        assert!(goodput[1] > 1.6 * goodput[0], "from the {from}: {goodput:?}"); // 2.6 times
        let timeouts = [&untold, &told].map(|scenario| sum(scenario, "timeouts"));
        assert!(timeouts[1] < 0.6 * timeouts[0], "from the {from}: {timeouts:?}"); // a third
    }
}

#[test]
fn without_radio_losses_nothing_is_marked_and_every_bit_is_as_without_the_scheme() {
    let none = r#"{ model = "none" }"#;
    // Towards the mobile the access point's own queue overflows; from it, that of a slow wire behind it.
    for (from, to, radio, wire) in [
        ("server", "mobile", "queue = { packets = 10 }", FAST_WIRE),
        ("mobile", "server", "queue = { packets = 100 }", "rate = \"1 Mb/s\"\nqueue = { packets = 5 }"),
    ] {
        let [without, with] = ["", ELN].map(|scheme| run(&scenario(from, to, radio, none, wire, scheme), 1));
        assert!(without.flow(0, "fast_retransmits").unwrap() > 10.0, "the queue overflows");
        assert_eq!(with.scheme("eln", "acks_marked"), 0.0, "from the {from}");
        assert_eq!(with.fingerprint, without.fingerprint, "from the {from}");
    }
}

#[test]
fn a_source_that_is_told_of_failed_attempts_does_not_time_out_in_a_bad_state() {
    let errors = r#"{ model = "two-state", bad = { per = 1.0 }, mean_good = "2 s", mean_bad = "300 ms" }"#;
    // Where the link does not give up before the bad state is over, no timeout is left, and nothing is sent in vain.
    let [untold, told] =
        ["", EBSN].map(|scheme| scenario("server", "mobile", "max_attempts = 64", errors, FAST_WIRE, scheme));
    assert!(sum(&untold, "timeouts") > 15.0);
    assert_eq!(sum(&told, "timeouts"), 0.0);
    assert!(sum(&told, "retransmissions") * 10.0 < sum(&untold, "retransmissions"));
    // An 802.11 MAC does give up: what it drops is TCP's to repeat, and some of it only the timer finds.
    let [untold, told] =
        ["", EBSN].map(|scheme| scenario("server", "mobile", "max_attempts = 7", errors, FAST_WIRE, scheme));
    let timeouts = [&untold, &told].map(|scenario| sum(scenario, "timeouts"));
    assert!(timeouts[1] < 0.5 * timeouts[0], "{timeouts:?}");
}
