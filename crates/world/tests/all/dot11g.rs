//! Cells of 802.11g in which frames of DSSS and of OFDM meet.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// Saturated uploads of 1500 B to an access point of 802.11g, one for each station.
fn uploads(radio: &str, ap: &str, stations: &[&str]) -> Run {
    let mut text = format!(
        "[scenario]\nname = 'cell'\nduration = '10 s'\nwarmup = '1 s'\n[radio]\nstandard = '802.11g'\n{radio}\n\
         [[node]]\nname = 'ap'\nrole = 'ap'\n{ap}\n"
    );
    for (i, station) in stations.iter().enumerate() {
        text += &format!("[[node]]\nname = 'sta{i}'\n{station}\n");
    }
    for i in 0..stations.len() {
        text += &format!(
            "[[flow]]\nfrom = 'sta{i}'\nto = 'ap'\n\
             transport = {{ protocol = 'udp', datagram = '1500 B' }}\ntraffic = {{ model = 'saturated' }}\n"
        );
    }
    let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance")
}

/// Goodput of each flow, in Mb/s.
fn shares(run: &Run) -> Vec<f64> {
    run.flows.iter().map(|row| Run::number(row, "goodput_bps").expect("a column") / 1e6).collect()
}

const TWO: [&str; 2] = ["data_rate = '11 Mb/s'", "data_rate = '54 Mb/s'"];

#[test]
fn stations_at_11_and_54_mb_share_evenly_where_nothing_but_chance_divides_them() {
    // With a window of 1023 two stations collide once in 500 exchanges: equal frames and equal chances, whatever they last. When
    // the AP responded to 11 Mb/s with an OFDM ACK that announced 153 µs more, the station at 54 Mb/s waited for nothing.
    let shares = shares(&uploads("cw_min = 1023", "", &TWO));
    assert!((shares[0] / shares[1] - 1.0).abs() < 0.03, "{shares:?}");
}

#[test]
fn after_a_collision_the_station_at_54_mb_is_ahead_by_the_timeout_of_a_dsss_ack_and_by_nothing_else() {
    // Both start together. The frame at 11 Mb/s ends last. Its station waits SIFS + slot + 192 µs for an ACK of DSSS, the other
    // one a DIFS from its end on: ahead by 10 + 20 + 192 - 50 = 172 µs, 9 slots of 20 µs or, with 10 + 9 + 192 - 28 = 183 µs, 20
    // of 9 µs. (Before, the shares were 6.94 to 1.89 with long slots, and 8.04 to 0 with short ones.)
    for (slot, least, most) in [("long", 1.05, 1.25), ("short", 1.15, 1.4)] {
        let shares = shares(&uploads(&format!("slot = '{slot}'"), "", &TWO));
        assert!((least..most).contains(&(shares[1] / shares[0])), "{slot}: {shares:?}");
    }
    // With ACKs at 6 Mb/s for both, which no standard allows, the timeouts are the same, and so are the shares.
    let shares = shares(&uploads("slot = 'long'\ncontrol_rate = '6 Mb/s'", "", &TWO));
    assert!((shares[0] - 5.46).abs() < 0.1 && (shares[1] - 5.59).abs() < 0.1, "{shares:?}");
}

#[test]
fn an_access_point_serves_each_station_at_a_rate_of_its_own() {
    let text = "[scenario]\nduration = '10 s'\nwarmup = '1 s'\n[radio]\nstandard = '802.11g'\n\
                [[node]]\nname = 'ap'\nrole = 'ap'\ndata_rate_to = { far = '11 Mb/s' }\n\
                [[node]]\nname = 'near'\n[[node]]\nname = 'far'\n\
                [[flow]]\nfrom = 'ap'\nto = 'near'\ntransport = { protocol = 'udp' }\ntraffic = { model = 'saturated' }\n\
                [[flow]]\nfrom = 'ap'\nto = 'far'\ntransport = { protocol = 'udp' }\ntraffic = { model = 'saturated' }\n";
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance");
    // One sender, so no collision, and frames in turn. An exchange: DIFS 28, 7.5 slots of 9, data, SIFS 10, ACK. At 54 Mb/s 28 +
    // 67.5 + 254 + 10 + 34 = 393.5 µs; at 11 Mb/s 28 + 67.5 + 1310 + 10 + 203 = 1618.5. 1472 B each in 2012 µs: 5.853 Mb/s.
    for share in shares(&run) {
        assert!((share / 5.853 - 1.0).abs() < 0.01, "{share}");
    }
}

#[test]
fn a_station_of_802_11b_makes_a_cell_of_802_11g_slow_though_it_is_silent() {
    // One sender at 54 Mb/s, so no collision. Long slots: DIFS 50, 7.5 slots of 20, data 254, SIFS 10, ACK 34: 498 µs for 1472 B.
    // A CTS-to-self at 11 Mb/s and its gap are 213 µs more; at 1 Mb/s 314; RTS and CTS with their gaps 207 + 203 + 20.
    let silent = "[[node]]\nname = 'old'\nstandard = '802.11b'";
    for (radio, us) in [
        ("protection = 'none'", 498),
        ("", 498 + 213),
        ("rts_rate = '1 Mb/s'", 498 + 314),
        ("protection = 'rts-cts'", 498 + 430),
    ] {
        let text = format!(
            "[scenario]\nduration = '10 s'\nwarmup = '1 s'\n[radio]\nstandard = '802.11g'\n{radio}\n\
             [[node]]\nname = 'ap'\nrole = 'ap'\n[[node]]\nname = 'new'\n{silent}\n\
             [[flow]]\nfrom = 'new'\nto = 'ap'\ntransport = {{ protocol = 'udp' }}\ntraffic = {{ model = 'saturated' }}\n"
        );
        let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance");
        let expected = 1472.0 * 8.0 / f64::from(us);
        assert!((shares(&run)[0] / expected - 1.0).abs() < 0.01, "{radio}: {:?}, {expected}", shares(&run));
    }
}
