//! Loss differentiation from MAC reports on whole networks in which every loss has one cause, known from the set-up.

use crate::cells::{SERVER_AP_MOBILE, fingerprinted};
use world::Run;

/// An upload over 802.11b and a wire of 20 ms; 60 s.
fn run(radio: &str, errors: &str, wire: &str, scheme: &str, seed: u64) -> Run {
    let text = format!(
        "
scenario = {{ duration = '60 s' }}
radio = {{ standard = '802.11b', data_rate = '11 Mb/s', queue = {{ packets = 200 }}, {radio} }}
channel = {{ errors = {errors} }}
{SERVER_AP_MOBILE}delay = '20 ms'
{wire}
[[flow]]
from = 'mobile'
to = 'server'
transport = {{ protocol = 'tcp', preset = 'rfc', min_rto = '200 ms' }}
{scheme}"
    );
    fingerprinted(&text, seed)
}

const LDA: &str = "[[scheme]]\nname = 'cross-lda'";
/// 3 % of frames are hit and none is repeated: the radio loses them.
const RADIO: [&str; 3] = ["max_attempts = 1", "{ model = 'packet', per = 0.03 }", "rate = '100 Mb/s'"];
/// The radio loses next to nothing and the wire's queue overflows.
const WIRE: [&str; 3] = ["max_attempts = 16", "{ model = 'none' }", "rate = '2 Mb/s'\nqueue = { packets = 10 }"];

#[test]
fn losses_are_told_apart_by_their_cause() {
    let judged = |[radio, errors, wire]: [&str; 3]| {
        let runs: Vec<Run> = (1..=3).map(|seed| run(radio, errors, wire, LDA, seed)).collect();
        ["corruptions", "congestions"].map(|name| runs.iter().map(|run| run.scheme("cross-lda", name)).sum::<f64>())
    };
    let ([right_radio, wrong_radio], [wrong_wire, right_wire]) = (judged(RADIO), judged(WIRE));
    assert!(right_radio > 200.0 && right_wire > 50.0, "{right_radio} {right_wire}");
    let accuracy = (right_radio + right_wire) / (right_radio + wrong_radio + wrong_wire + right_wire);
    println!("{right_radio} {wrong_radio} {wrong_wire} {right_wire}: {accuracy}");
    assert_eq!(wrong_wire, 0.0, "no congestion is taken for corruption");
    assert!(accuracy > 0.95, "{accuracy}");
}

#[test]
fn a_sender_that_tells_them_apart_keeps_its_window_over_a_bad_radio_and_is_as_it_was_over_a_full_wire() {
    let goodput = |scheme: &str| -> f64 {
        let [radio, errors, wire] = RADIO;
        (1..=3).map(|seed| run(radio, errors, wire, scheme, seed).flow(0, "goodput_bps").unwrap()).sum()
    };
    let (without, with) = (goodput(""), goodput(LDA));
    println!("{without} {with}");
    // By the square-root law a loss of 3 % holds Reno at a window of sqrt(1.5 / 0.03) = 7 segments in 45 ms, 1.8 Mb/s; a sender that
    // does not cut has the radio's 5 Mb/s but for its timeouts. Half of the difference is asked for.
    assert!(with > 1.5 * without, "{without} {with}");
    let [radio, errors, wire] = WIRE;
    assert_eq!(run(radio, errors, wire, LDA, 1).fingerprint, run(radio, errors, wire, "", 1).fingerprint);
}
