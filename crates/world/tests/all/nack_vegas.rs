//! Negative ACKs on whole networks: a server, a wire, an access point, a mobile; a relay; a wire alone.
//!
//! Figures behind the bounds: docs/schemes/nack-vegas.md. Each bound leaves at least a third to spare.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

const NETWORK: &str = r#"
scenario = { duration = "20 s" }
radio = { standard = "802.11g", data_rate = "54 Mb/s" }
[channel]
errors = { model = "packet", per = 0.02, at = "msdu" }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "mobile"
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "10 ms"
[[flow]]
from = "server"
to = "mobile"
transport = { protocol = "tcp", preset = "rfc", min_rto = "200 ms" }
"#;

const SCHEME: &str = "[[scheme]]\nname = \"nack-vegas\"\n";

fn run(text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = world::parse(text, &set).unwrap();
    let record = Record { fingerprint: true, ..Record::default() };
    world::run(&scenario, seed, &record, &AtomicBool::new(false)).unwrap()
}

fn with(scheme: &str) -> String {
    format!("{NETWORK}{scheme}")
}

const UP: [(&str, &str); 2] = [("flow.0.from", "\"mobile\""), ("flow.0.to", "\"server\"")];

#[test]
fn what_the_mac_discards_is_repeated_without_a_cut_in_both_directions_and_nothing_arrives_twice() {
    for set in [&[][..], &UP] {
        let sum =
            |text: &str, name: &str| -> f64 { (1..=3).map(|seed| run(text, set, seed).flow(0, name).unwrap()).sum() };
        let goodput = [NETWORK, &with(SCHEME)].map(|text| sum(text, "goodput_bps"));
        assert!(goodput[1] > 2.5 * goodput[0], "{set:?}: {goodput:?}"); // five times
        for seed in 1..=3 {
            let told = run(&with(SCHEME), set, seed);
            let flow = |name| told.flow(0, name).unwrap();
            let repairs = told.scheme("nack-vegas", "repairs");
            assert!(repairs > 100.0 && repairs <= told.scheme("nack-vegas", "discards"), "{repairs}");
            // The MAC is never mistaken: an MSDU that fails is never received. A timeout goes back over what was.
            let twice = flow("duplicate_segments");
            assert!(twice == 0.0 || flow("timeouts") > 0.0, "{set:?} {seed}: {twice}");
        }
    }
}

#[test]
fn a_relay_that_discards_tells_on_the_ack_that_it_forwards() {
    let text = r#"
scenario = { duration = "10 s" }
radio = { standard = "802.11g", data_rate = "54 Mb/s" }
[channel]
range = "60 m"
[[channel.pair]]
from = "relay"
to = "far"
errors = { model = "packet", per = 0.02, at = "msdu" }
[[node]]
name = "near"
position = [0, 0]
[[node]]
name = "relay"
position = [50, 0]
[[node]]
name = "far"
position = [100, 0]
[[flow]]
from = "near"
to = "far"
transport = { protocol = "tcp", preset = "rfc" }
[[scheme]]
name = "nack-vegas"
"#;
    let run = run(text, &[], 1);
    let of = |node: &str, name: &str| {
        let is_it = |agent: &&world::Row| agent.contains(&("node", world::Cell::Text(node.to_owned())));
        run.schemes.iter().find(is_it).and_then(|agent| Run::number(agent, name)).unwrap()
    };
    assert!(of("relay", "numbers_told") > 20.0, "{:?}", run.schemes);
    assert!(of("near", "repairs") > 0.8 * of("relay", "numbers_told"));
}

#[test]
fn without_discards_every_bit_is_as_without_the_scheme() {
    let clean = [("channel.errors.per", "0.0")];
    let [plain, told] = [NETWORK, &with(SCHEME)].map(|text| run(text, &clean, 1));
    assert_eq!(plain.fingerprint, told.fingerprint);
    assert!(plain.fingerprint.is_some());
}

#[test]
fn a_sender_that_does_not_know_the_option_is_not_harmed() {
    let deaf = with("[[scheme]]\nname = \"nack-vegas\"\nat = [\"ap\"]\n");
    let mut goodput = [0.0; 2];
    for seed in 1..=8 {
        let [plain, told] = [NETWORK, &deaf].map(|text| run(text, &[], seed));
        assert!(told.scheme("nack-vegas", "numbers_told") > 20.0);
        // The first number rides on an ACK of eight bytes more; from then on the runs are two draws of one chance.
        goodput[0] += plain.flow(0, "goodput_bps").unwrap();
        goodput[1] += told.flow(0, "goodput_bps").unwrap();
    }
    // Of means of eight the deviation is about a tenth.
    assert!((goodput[1] / goodput[0] - 1.0).abs() < 0.4, "{goodput:?}");
}

#[test]
fn with_wires_a_link_reports_what_it_loses_to_the_node_that_sent_it() {
    let text = r#"
scenario = { duration = "20 s" }
[[node]]
name = "a"
[[node]]
name = "router"
[[node]]
name = "b"
[[link]]
between = ["a", "router"]
rate = "100 Mb/s"
delay = "1 ms"
[[link]]
from = "router"
to = "b"
rate = "20 Mb/s"
delay = "10 ms"
errors = { model = "two-state", good = { per = 0.001 }, bad = { per = 0.05 }, mean_good = 20, mean_bad = 10, unit = "frame" }
[[link]]
from = "b"
to = "router"
rate = "20 Mb/s"
delay = "10 ms"
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc" }
[[scheme]]
name = "nack-vegas"
wires = true
"#;
    for at in [[("scheme.0.wires", "true")], [("scheme.0.wires", "false")]] {
        let run = run(text, &at, 1);
        let (lost, told) = (run.scheme("nack-vegas", "wire_losses"), run.scheme("nack-vegas", "numbers_told"));
        if at[0].1 == "false" {
            assert_eq!((lost, told), (0.0, 0.0));
            continue;
        }
        // All that is lost is data; the last may wait for its ACK.
        assert!(lost > 100.0 && told > 0.95 * lost, "{told} of {lost}");
        assert!(run.scheme("nack-vegas", "repairs") > 0.9 * told);
        // A wire's word is never wrong.
        let twice = run.flow(0, "duplicate_segments").unwrap();
        assert!(twice == 0.0 || run.flow(0, "timeouts").unwrap() > 0.0, "{twice}");
        let untold = self::run(text, &[("scheme.0.wires", "false")], 1);
        let goodput = [&untold, &run].map(|run| run.flow(0, "goodput_bps").unwrap());
        assert!(goodput[1] > 1.5 * goodput[0], "{goodput:?}");
    }
}
