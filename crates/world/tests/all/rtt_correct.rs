//! RTT correction on whole networks: what it buys those senders that read the RTT, judged by goodput, needless timeouts and the
//! window over the RTT as it was, never by the RTT that the scheme made.

use crate::cells::{SERVER_AP_MOBILE, parsed};
use world::{Blueprint, Record, Run};

/// An upload over a radio that fails for 25 ms in 500, and repeats until that is over; a wire of 20 ms each way.
fn upload(congestion: &str, min_rto: &str, scheme: &str) -> Blueprint {
    let text = format!(
        "
scenario = {{ duration = '65 s', warmup = '5 s' }}
radio = {{ standard = '802.11b', data_rate = '11 Mb/s', max_attempts = 64, max_attempts_long = 64 }}
channel = {{ errors = {{ model = 'two-state', bad = {{ per = 1.0 }}, mean_good = '475 ms', mean_bad = '25 ms' }} }}
{SERVER_AP_MOBILE}rate = '10 Mb/s'
delay = '20 ms'
queue = {{ packets = 100 }}
[[flow]]
from = 'mobile'
to = 'server'
[flow.transport]
protocol = 'tcp'
preset = 'rfc'
congestion = '{congestion}'
min_rto = '{min_rto}'
timestamps = true
timestamp_tick = '1 ms'
sack = true
undo = 'eifel'
initial_window = 4
window_scale = 'auto'
send_buffer = '4 MB'
receive_buffer = '2 MB'
receiver = 'every'
{scheme}"
    );
    parsed(&text)
}

/// Means over five seeds: goodput in Mb/s, spurious losses, window over true RTT in Mb/s.
fn means(blueprints: &[Blueprint]) -> Vec<[f64; 3]> {
    let tasks: Vec<_> = blueprints.iter().flat_map(|it| (1..=5).map(move |seed| (it, seed))).collect();
    let runs: Vec<Run> =
        world::run_batch(&tasks, 0, &Record::default()).into_iter().map(|run| run.unwrap()).collect();
    let of = |runs: &[Run]| {
        let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let flow = |name: &'static str| move |run: &Run| run.flow(0, name).unwrap();
        let rate = |run: &Run| flow("cwnd_mean_bytes")(run) * 8e-6 / flow("rtt_mean_s")(run);
        [mean(&|run| flow("goodput_bps")(run) / 1e6), mean(&flow("spurious_losses")), mean(&rate)]
    };
    runs.chunks(5).map(of).collect()
}

const CORRECT: &str = "[[scheme]]\nname = 'rtt-correct'";

#[test]
fn a_correction_without_a_floor_starves_vegas_and_one_with_it_does_not() {
    // When the MAC ACK is lost at the beginning of a bad state, the data have come through, and what follows is no delay of theirs. Of
    // an RTT of 46 ms (20 + 20, a frame, an ACK) some 25 are taken away: the least RTT is 20 ms or less from then on. Vegas then
    // believes that W (1 - 20/46) = 0.57 W segments are queued, and keeps at most beta = 4 of them: W = 7 segments in 46 ms, 1.8 Mb/s.
    let floor = |floor: &str| upload("vegas", "200 ms", &format!("{CORRECT}\nfloor = '{floor}'"));
    let got = means(&[upload("vegas", "200 ms", ""), floor("none"), floor("least")]);
    println!("{got:?}");
    let [without, none, least] = [got[0], got[1], got[2]];
    assert!(none[0] < 1.8 && without[0] > 4.0, "{got:?}");
    assert!(least[0] > 0.98 * without[0], "{got:?}");
}

#[test]
fn senders_that_read_the_least_rtt_have_nothing_to_gain_and_lose_nothing() {
    // The bottleneck is the radio, which has a queue in front of it whatever the RTT says; and the least RTT of a path, or of a round
    // trip, is that of a segment without recovery, of which 94 % are. So a correction changes next to nothing: 3 % are allowed.
    let senders = ["vegas", "westwood+", "new-jersey", "bbr"];
    let blueprints: Vec<_> =
        senders.iter().flat_map(|name| ["", CORRECT].map(|scheme| upload(name, "200 ms", scheme))).collect();
    for (name, got) in senders.iter().zip(means(&blueprints).chunks(2)) {
        let [without, with] = [got[0], got[1]];
        println!("{name}: {without:?} {with:?}");
        assert!((with[0] / without[0] - 1.0).abs() < 0.03, "{name}, goodput: {got:?}");
        assert!((with[2] / without[2] - 1.0).abs() < 0.06, "{name}, window over RTT: {got:?}");
        assert!(with[1] <= without[1] + 1.0, "{name}, spurious: {got:?}");
    }
}

#[test]
fn a_corrected_timer_expires_while_the_radio_still_repeats() {
    // With no least RTO to hide it. NewReno reads no RTT: what the controller alone gets changes nothing, to the bit.
    let scheme = |corrects: &str| format!("{CORRECT}\ncorrects = '{corrects}'");
    let cases = ["", &scheme("controller"), &scheme("both")].map(|scheme| upload("newreno", "1 ms", scheme));
    let got = means(&cases);
    println!("{got:?}");
    assert_eq!(got[0], got[1]);
    let cases = ["", &scheme("controller"), &scheme("both")].map(|scheme| upload("vegas", "1 ms", scheme));
    let got = means(&cases);
    println!("{got:?}");
    assert!(got[2][1] > got[1][1], "{got:?}");
}
