//! Retry limits by class and by TCP's losses, on whole networks.

use crate::cells::{SERVER_AP_MOBILE, parsed};
use world::{Blueprint, Record, Run};

fn runs(blueprints: &[Blueprint], seeds: u64) -> Vec<Vec<Run>> {
    let tasks: Vec<_> = blueprints.iter().flat_map(|it| (1..=seeds).map(move |seed| (it, seed))).collect();
    let mut all =
        world::run_batch(&tasks, 0, &Record::default()).into_iter().map(|run| run.expect("books in balance"));
    blueprints.iter().map(|_| all.by_ref().take(seeds as usize).collect()).collect()
}

fn mean(runs: &[Run], name: &str) -> f64 {
    runs.iter().map(|run| run.flow(0, name).unwrap()).sum::<f64>() / runs.len() as f64
}

/// An upload over a channel that is good for a second and bad for half of one, on average.
fn varying(bad_per: f64, limit: u32, scheme: &str) -> Blueprint {
    let text = format!(
        "
scenario = {{ duration = '65 s', warmup = '5 s' }}
radio = {{ standard = '802.11b', data_rate = '11 Mb/s', queue = {{ packets = 50 }}, max_attempts = {limit}, max_attempts_long = {limit} }}
[channel.errors]
model = 'two-state'
good = {{ per = 0.05 }}
bad = {{ per = {bad_per} }}
mean_good = '1 s'
mean_bad = '500 ms'
{SERVER_AP_MOBILE}rate = '100 Mb/s'
delay = '20 ms'
[[flow]]
from = 'mobile'
to = 'server'
[flow.transport]
protocol = 'tcp'
preset = 'rfc'
min_rto = '200 ms'
sack = true
timestamps = true
undo = 'eifel'
initial_window = 4
receiver = 'every'
{scheme}"
    );
    parsed(&text)
}

#[test]
fn over_a_varying_channel_a_limit_that_follows_tcps_losses_beats_every_fixed_one() {
    const LIMITS: [u32; 8] = [1, 2, 4, 7, 10, 16, 32, 255];
    let adaptive = "[[scheme]]\nname = 'loss-adaptive-retry'";
    // Few repetitions leave losses to TCP, many let its timer expire while the radio still repeats.
    for bad_per in [0.8, 1.0] {
        let mut blueprints: Vec<_> = LIMITS.iter().map(|limit| varying(bad_per, *limit, "")).collect();
        blueprints.push(varying(bad_per, 7, adaptive));
        let mut all = runs(&blueprints, 8);
        let adaptive = all.pop().expect("it is the last");
        for (limit, fixed) in LIMITS.iter().zip(&all) {
            let [it, other] = [&adaptive, fixed].map(|runs| mean(runs, "goodput_bps"));
            let rtt = [&adaptive, fixed].map(|runs| mean(runs, "rtt_mean_s"));
            let timeouts = [&adaptive, fixed].map(|runs| mean(runs, "timeouts"));
            println!("{bad_per} {limit}: {it} {other}, RTT {rtt:?}, timeouts {timeouts:?}");
            assert!(it > other, "{bad_per}, limit {limit}: {it} {other}");
        }
    }
}

/// Downloads to five stations through an access point, each frame lost with 40 %, and how their classes fare: share of pure ACKs given
/// up, mean RTT.
fn classes(scheme: &str) -> [f64; 2] {
    let text = format!(
        "
scenario = {{ duration = '32 s', warmup = '2 s' }}
radio = {{ standard = '802.11b', data_rate = '11 Mb/s', max_attempts = 3, max_attempts_long = 3 }}
channel = {{ errors = {{ model = 'packet', per = 0.4 }} }}
[[node]]
name = 'ap'
role = 'ap'
[[node]]
name = 'mobile'
[[flow]]
from = 'ap'
to = 'mobile'
transport = {{ protocol = 'tcp', preset = 'rfc', min_rto = '200 ms', receiver = 'every' }}
{scheme}"
    );
    let blueprint = parsed(&text);
    let runs = runs(&[blueprint], 4).pop().expect("one");
    let of_mobile = |run: &Run, name: &str| {
        let is_it = |row: &&world::Row| row.iter().any(|(_, cell)| *cell == world::Cell::Text("mobile".to_owned()));
        run.nodes.iter().find(is_it).and_then(|row| Run::number(row, name)).unwrap()
    };
    let sum = |name: &str| runs.iter().map(|run| of_mobile(run, name)).sum::<f64>();
    let lost = sum("msdus_given_up") / (sum("msdus_given_up") + sum("msdus_delivered"));
    [lost, mean(&runs, "rtt_mean_s")]
}

#[test]
fn more_attempts_for_acks_lose_fewer_of_them_and_take_longer() {
    // All that the mobile sends are ACKs, but for a SYN-ACK. Three attempts of 40 % each lose 0.4^3 = 6.4 %, eight 0.4^8 = 0.07 %;
    // collisions with the access point's data, of about 5 % each, come on top.
    let scheme =
        |ack: u32| format!("[[scheme]]\nname = 'class-retry'\ndata = 3\ncontrol = 3\nother = 3\nack = {ack}");
    let [few, many] = [3, 8].map(|ack| classes(&scheme(ack)));
    println!("{few:?} {many:?}");
    assert!((0.055..0.10).contains(&few[0]) && many[0] < 0.005, "{few:?} {many:?}");
    assert!(many[1] > 1.02 * few[1], "{few:?} {many:?}");
    assert_eq!(few, classes(""), "limits as the MAC's own change nothing");
}
