//! Rate controls in cells: beside the best fixed mode at ten distances, under collisions alone, and behind a step of 10 dB.

use crate::cells;
use world::{FrameClass, Record, Run};

/// A saturated sender and its receiver so many metres apart, in a duel of powers: 16.02 dBm, 46.68 dB at 1 m and 30 dB a decade, −93.97 dBm
/// of noise. So the SNR is 63.3 − 30 log₁₀ d dB: 33 dB at 10 m, 6 dB at 80 m.
fn link(radio: &str, distance: f64, seconds: f64) -> String {
    format!(
        "[scenario]\nduration = '{seconds} s'\nwarmup = '0.5 s'\n[radio]\nqueue = {{ packets = 200 }}\n{radio}\n[channel]\n\
         propagation = {{ model = 'log-distance' }}\n\
         [[node]]\nname = 'far'\nposition = [{distance}, 0]\n[[node]]\nname = 'near'\nposition = [0, 0]\n\
         [[flow]]\nfrom = 'far'\nto = 'near'\ntransport = {{ protocol = 'udp' }}\ntraffic = {{ model = 'saturated' }}\n"
    )
}

fn goodput_mbps(run: &Run) -> f64 {
    (0..run.flows.len()).map(|flow| run.flow(flow, "goodput_bps").unwrap()).sum::<f64>() / 1e6
}

fn at(radio: &str, distance: f64) -> f64 {
    goodput_mbps(&cells::run(&link(radio, distance, 2.5), 1))
}

const CONTROLS: [&str; 5] = ["arf", "aarf", "cara", "ideal", "minstrel-ht"];

/// The share of the best fixed mode's goodput that each control reaches, by distance.
fn shares(standard: &str, fixed: &[String], distances: &[f64]) -> Vec<[f64; 5]> {
    let share = |distance: &f64| {
        let of = |keys: &str| at(&format!("standard = '{standard}'\n{keys}"), *distance);
        let best = fixed.iter().map(|keys| of(keys)).fold(0.0, f64::max);
        let shares = CONTROLS.map(|control| of(&format!("rate_control = '{control}'")) / best);
        println!("{standard} {distance:>3} m: best fixed {best:.2} Mb/s; {CONTROLS:?} {shares:.3?}");
        shares
    };
    distances.iter().map(share).collect()
}

#[test]
fn ideal_and_minstrel_ht_come_within_a_twentieth_of_the_best_fixed_mode_at_ten_distances() {
    let mcs: Vec<String> = (0..8).map(|mcs| format!("mcs = {mcs}")).collect();
    let distances = [8.0, 14.0, 18.0, 22.0, 27.0, 33.0, 40.0, 48.0, 57.0, 68.0];
    for (shares, distance) in shares("802.11n", &mcs, &distances).iter().zip(distances) {
        assert!(shares[3] >= 0.95 && shares[4] >= 0.95, "{distance} m: {shares:.3?}");
        assert!(shares.iter().all(|share| *share <= 1.02), "{distance} m: {shares:.3?}");
    }
}
