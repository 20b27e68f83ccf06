//! Rate controls in cells: beside the best fixed mode at ten distances, under collisions alone, and behind a step of 10 dB.

use crate::cells;
use phy::{Mode, Part};
use units::{Dur, SimTime};
use world::{FrameClass, Record, Run, Timeline, Window};

/// Powers of 802.11a and n: 16.02 dBm, 46.68 dB at 1 m and 30 dB a decade, −93.97 dBm of noise. So the SNR is 63.3 − 30 log₁₀ d dB: 33 dB
/// at 10 m, 10 dB at 60 m.
const CHANNEL: &str = "[channel]\npropagation = { model = 'log-distance' }\n";

/// Saturated senders so many metres from their receiver.
fn cell(stations: usize, radio: &str, distance: f64, seconds: f64) -> String {
    let mut text = format!(
        "[scenario]\nduration = '{seconds} s'\nwarmup = '0.5 s'\n[radio]\nqueue = {{ packets = 200 }}\n{radio}\n{CHANNEL}\
         [[node]]\nname = 'sink'\nposition = [0, 0]\n"
    );
    for i in 0..stations {
        text +=
            &format!("[[node]]\nname = 's{i}'\nposition = [{distance}, 0]\n[[flow]]\nfrom = 's{i}'\nto = 'sink'\n");
        text += "transport = { protocol = 'udp' }\ntraffic = { model = 'saturated' }\n";
    }
    text
}

fn goodput_mbps(run: &Run) -> f64 {
    (0..run.flows.len()).map(|flow| run.flow(flow, "goodput_bps").unwrap()).sum::<f64>() / 1e6
}

fn of(stations: usize, radio: &str, distance: f64) -> f64 {
    goodput_mbps(&cells::run(&cell(stations, radio, distance, 2.0), 1))
}

#[test]
fn ideal_and_minstrel_ht_come_near_the_best_fixed_mode_at_ten_distances() {
    for distance in (1..=10).map(|i| 6.0 * f64::from(i)) {
        let best =
            (0..8).map(|mcs| of(1, &format!("standard = '802.11n'\nmcs = {mcs}"), distance)).fold(0.0, f64::max);
        let shares = ["ideal", "minstrel-ht", "arf", "aarf", "cara"]
            .map(|control| of(1, &format!("standard = '802.11n'\nrate_control = '{control}'"), distance) / best);
        // The aim is 5 %. Minstrel-HT misses it at 30 and 36 m (docs/rates.md), by less than as much again.
        let minstrel = if [30.0, 36.0].contains(&distance) { 0.90 } else { 0.95 };
        assert!(shares[0] >= 0.95 && shares[1] >= minstrel, "{distance} m: {shares:.3?}");
        // ARF loses one PSDU in 11 to its probes, CARA two in 12, AARF fewer than ARF. At 30 m all stay in a mode that loses a third.
        let least = if distance == 30.0 { [2.0 / 3.0; 3] } else { [10.0 / 11.0, 10.0 / 11.0, 10.0 / 12.0] };
        let holds = shares[2..].iter().zip(least).all(|(share, least)| *share >= least - 0.05);
        assert!(holds, "{distance} m: {shares:.3?}");
        // Nobody does much better than the best, either.
        assert!(shares.iter().all(|share| *share <= 1.02), "{distance} m: {shares:.3?}");
    }
}

#[test]
fn under_collisions_alone_arf_falls_and_neither_cara_nor_minstrel_ht_do() {
    // Six stations at 33 dB, where nothing is lost but by collisions: to about 0.29 of exchanges (validation/ns3, six UDP uploads). Ten
    // successes in a row are rare, two failures are not.
    let [fixed, arf, aarf, cara, minstrel] = ["fixed", "arf", "aarf", "cara", "minstrel-ht"]
        .map(|control| of(6, &format!("standard = '802.11a'\nrate_control = '{control}'"), 10.0));
    // The whole cell as at 6 Mb/s: 5 of 29 Mb/s.
    assert!(arf < 0.3 * fixed && aarf < 0.3 * fixed);
    // An RTS before every other frame costs CARA a tenth; probes that collide cost Minstrel-HT less.
    assert!(cara > 0.85 * fixed && minstrel > 0.88 * fixed);
}

fn timeline(text: &str) -> Timeline {
    let window = Window { from: SimTime::ZERO, until: SimTime::NEVER };
    cells::recorded(text, 1, &Record { timeline: Some(window), ..Record::default() })
        .timeline
        .expect("it was asked for")
}

/// Milliseconds after 2 s until 9/10 of what is delivered in the last second are delivered in the 100 ms that follow.
fn follows_after_ms(control: &str, from: f64, to: f64) -> u64 {
    let radio = format!("standard = '802.11n'\nrate_control = {control}");
    let text = cell(1, &radio, from, 5.0) + &format!("[[event]]\nat = '2 s'\nmove = 's0'\nto = [{to}, 0]\n");
    let timeline = timeline(&text);
    let data = timeline.transmissions.iter().filter(|it| it.class == FrameClass::Udp);
    let delivered: Vec<(SimTime, u64)> = data.map(|it| (it.end(), u64::from(it.received().unwrap_or(0)))).collect();
    let within = |from_ms: u64, ms: u64| {
        let from = SimTime::ZERO + Dur::from_ms(from_ms);
        let to = from + Dur::from_ms(ms);
        delivered.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, mpdus)| mpdus).sum::<u64>() as f64
    };
    let settled = within(4000, 1000) / 10.0;
    (0..2000).step_by(5).find(|ms| within(2000 + ms, 100) >= 0.9 * settled).expect("it settles within 2 s")
}

#[test]
fn a_step_of_10_db_is_followed() {
    // 25 and 15 dB: 18.9 and 18.9 · 10^(10 / 30) m.
    let (near, far) = (18.9, 18.9 * libm::cbrt(10.0));
    for (control, down_ms, up_ms) in [
        ("'ideal'", 20, 20),
        // Down: 64 MPDUs a PPDU are lost whole, and more than 30 in a window with less than a quarter received are left before its end
        // where there are fewer streams; with one the window of 50 ms has to be closed. Up: a probe of a faster mode in 20 ms and a window.
        ("'minstrel-ht'", 400, 400),
        // A PPDU and its gaps last 6 ms at most. Down: seven steps of two failures; up: seven of ten successes and a probe.
        ("'arf'", 7 * 2 * 6, 7 * 11 * 6),
        ("'aarf'", 7 * 2 * 6, 7 * 11 * 6),
        ("'cara'", 7 * 2 * 6, 7 * 11 * 6),
    ] {
        let [down, up] = [(near, far), (far, near)].map(|(from, to)| follows_after_ms(control, from, to));
        assert!(down <= down_ms && up <= up_ms, "{control}: {down} and {up} ms");
    }
    // A fixed mode does not follow: nothing arrives.
    let fixed = of(1, "standard = '802.11n'\nmcs = 7", far);
    assert!(fixed < 1.0, "{fixed}");
}

/// The fastest rate of 802.11a, in Mb/s, at which an MSDU of 1500 B and its response at 24 Mb/s or less are lost in a tenth of all cases at most, at
/// the SNR of a distance.
fn fastest(metres: f64) -> u64 {
    let snr = libm::pow(10.0, (16.0206 - 46.6777 - 30.0 * libm::log10(metres) + 93.97) / 10.0);
    let survival = |mode: Mode, bytes: f64| phy::ln_survival(mode, Part::Payload, snr, 8.0 * bytes);
    let holds = |mcs: &u8| {
        let response = Mode::ofdm([0, 0, 2, 2, 4, 4, 4, 4][usize::from(*mcs)]);
        libm::exp(survival(Mode::ofdm(*mcs), 1538.0) + survival(response, 32.0)) >= 0.9
    };
    Mode::ofdm((0..8).rev().find(holds).unwrap_or(0)).bit_rate().bps() / 1_000_000
}

#[test]
fn a_moving_station_has_the_ideal_mode_of_where_it_is() {
    // From 10 m (33 dB) outward at 10 m/s: after 5 s it is at 60 m.
    let text = cell(1, "standard = '802.11a'\nrate_control = 'ideal'", 10.0, 5.0)
        .replace("position = [10, 0]", "position = [10, 0]\nmobility = { model = 'line', velocity = [10.0, 0.0] }");
    let timeline = timeline(&text);
    let mut seen = std::collections::BTreeSet::new();
    for it in timeline.transmissions.iter().filter(|it| it.class == FrameClass::Udp) {
        let metres = 10.0 + 10.0 * it.start.since(SimTime::ZERO).as_secs_f64();
        let rate = it.rate.bps() / 1_000_000;
        // Its gain is computed anew each 0.1 m, when it transmits; the mode was chosen before.
        assert!((fastest(metres + 0.2)..=fastest(metres - 0.2)).contains(&rate), "{metres:.2} m: {rate} Mb/s");
        seen.insert(rate);
    }
    assert!(seen.len() >= 5, "{seen:?}");
}

#[test]
fn minstrel_ht_on_802_11b_is_refused_in_one_line_that_names_the_node() {
    let text = cell(1, "standard = '802.11b'\nrate_control = 'minstrel-ht'", 10.0, 1.0);
    let error = world::parse(&text, &[]).expect_err("it has no groups").to_string();
    let said = "node[0].rate_control: \"minstrel-ht\" does not run here: it has no groups of 802.11b; choose \"arf\", \"aarf\" or \
                \"cara\" there";
    assert_eq!(error, said);
    // The others run on all standards, also beside older stations.
    for standard in ["802.11b", "802.11g", "802.11a", "802.11n", "802.11n-2.4", "802.11ac", "802.11ax"] {
        for control in ["arf", "aarf", "cara", "ideal", "minstrel-ht"] {
            if (standard, control) != ("802.11b", "minstrel-ht") {
                let goodput = of(1, &format!("standard = '{standard}'\nrate_control = '{control}'"), 10.0);
                // Four fifths of what the fastest mode carries alone: 6.1 Mb/s of 11, 29.9 of 54.
                let least = if standard == "802.11b" { 5.0 } else { 24.0 };
                assert!(goodput > least, "{control} on {standard}: {goodput} Mb/s");
            }
        }
    }
}

#[test]
fn each_receiver_gets_a_mode_that_it_knows() {
    // An access point of 802.11ac sends to one of 802.11ac, one of 802.11n and one of 802.11a at once.
    for control in ["arf", "aarf", "cara", "ideal", "minstrel-ht"] {
        let radio = format!("standard = '802.11ac'\nwidth = '40 MHz'\nstreams = 2\nrate_control = '{control}'");
        let mut text = format!(
            "[scenario]\nduration = '2 s'\n[radio]\nqueue = {{ packets = 300, per = 'receiver' }}\n{radio}\n{CHANNEL}\
             [[node]]\nname = 'ap'\nrole = 'ap'\nposition = [0, 0]\n"
        );
        for (name, keys) in [("ac", ""), ("n", "standard = '802.11n'\nstreams = 1"), ("a", "standard = '802.11a'")] {
            text += &format!(
                "[[node]]\nname = '{name}'\nposition = [5, 0]\n{keys}\n[[flow]]\nfrom = 'ap'\nto = '{name}'\n"
            );
            text += "transport = { protocol = 'udp' }\ntraffic = { model = 'cbr', rate = '6 Mb/s' }\n";
        }
        let run = cells::run(&text, 1);
        for flow in 0..3 {
            let goodput = run.flow(flow, "goodput_bps").unwrap() / 1e6;
            assert!(goodput > 5.5, "{control}: flow {flow} has {goodput} Mb/s");
        }
    }
}

#[test]
fn an_access_point_with_mcss_sends_to_a_station_without_them_at_the_rate_that_it_says() {
    let carried = |said: &str| {
        let text = format!(
            "[scenario]\nduration = '3 s'\n[radio]\nstandard = '802.11n-2.4'\naccess = 'edca'\n[[node]]\nname = 'ap'\nrole = 'ap'\n{said}\n\
             [[node]]\nname = 'old'\nstandard = '802.11b'\n[[node]]\nname = 'new'\n[[flow]]\nfrom = 'ap'\nto = 'old'\n\
             transport = {{ protocol = 'udp' }}\ntraffic = {{ model = 'saturated' }}\n"
        );
        cells::run(&text, 1).flow(0, "goodput_bps").unwrap() / 1e6
    };
    // 1500 B and 38 of LLC, MAC header with QoS and FCS last 12304 us behind a preamble of 192; SIFS 10, an ACK of 14 B 304, AIFS 70 and
    // 15.5 slots of 9 or 20 us.
    let (fast, slow) = (carried(""), carried("data_rate_to = { old = '1 Mb/s' }"));
    assert!((0.89..0.92).contains(&slow), "{slow} Mb/s at 1 Mb/s");
    assert!(fast > 5.0 * slow, "{fast} Mb/s at its highest rate");
}
