//! Delayed duplicate ACKs on a whole network: each half alone, and both.

use crate::cells::{SERVER_AP_MOBILE, parsed};
use world::{Blueprint, Record, Run};

/// A download by NewReno over 802.11b that loses 40 % of frames and gives up after three attempts: 6.4 % of packets.
fn download(scheme: &str) -> Blueprint {
    let text = format!(
        "
scenario = {{ duration = '35 s', warmup = '5 s' }}
radio = {{ standard = '802.11b', data_rate = '11 Mb/s', queue = {{ packets = 100 }}, max_attempts = 3 }}
channel = {{ errors = {{ model = 'packet', per = 0.4 }} }}
{SERVER_AP_MOBILE}rate = '100 Mb/s'
delay = '20 ms'
[[flow]]
from = 'server'
to = 'mobile'
transport = {{ protocol = 'tcp', preset = 'rfc', min_rto = '200 ms', initial_window = 4, receiver = 'every' }}
{scheme}"
    );
    parsed(&text)
}

#[test]
fn both_halves_together_spare_the_sender_what_the_link_repairs_and_either_alone_does_not() {
    let dda = |keys: &str| format!("[[scheme]]\nname = 'dda'\n{keys}");
    let cases = ["", &dda("d = '0 s'"), &dda("rounds = 0"), &dda("")].map(download);
    let tasks: Vec<_> = cases.iter().flat_map(|case| (1..=3).map(move |seed| (case, seed))).collect();
    let runs: Vec<Run> =
        world::run_batch(&tasks, 0, &Record::default()).into_iter().map(|run| run.unwrap()).collect();
    let sum = |name: &str| -> Vec<f64> {
        runs.chunks(3).map(|runs| runs.iter().map(|run| run.flow(0, name).unwrap()).sum()).collect()
    };
    let (goodput, repeated, needless) = (sum("goodput_bps"), sum("retransmissions"), sum("duplicate_segments"));
    println!("{goodput:?} {repeated:?} {needless:?}");
    // The link gives up after 15 attempts: 0.4^15 of packets, none here. So whatever TCP repeats then is needless; without the receiver's
    // half each hole makes it repeat, with it none.
    assert!(repeated[1] > 300.0 && needless[1] > 0.95 * repeated[1], "the link alone: {repeated:?} {needless:?}");
    assert_eq!(repeated[3], 0.0, "both");
    // By the square-root law 6.4 % hold NewReno below sqrt(1.5 / 0.064) = 5 segments in 47 ms, 1.2 Mb/s, timeouts not counted; the
    // link has 1/0.6 attempts a packet at some 2.2 ms, 3.2 Mb/s.
    assert!(goodput[3] > 1.3 * goodput[1] && goodput[1] > 1.5 * goodput[0], "{goodput:?}");
    assert!(goodput[2] < goodput[0], "the receiver alone delays what TCP needs: {goodput:?}");
}
