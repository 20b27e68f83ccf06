//! Carrier sense by energy (−62 dBm) and by preamble (4 dB over the noise, 4 µs after its start).

use super::*;

/// Instants at which R turns busy and idle, in µs.
fn sensed(config: &SinrConfig, levels: &[(NodeId, f64)], all: &[Tx]) -> Vec<(char, u64)> {
    let mut medium = medium(config, levels);
    play(&mut medium, all).sensed_at_r()
}

fn a6() -> Mode {
    rate(Standard::A, 6)
}

#[test]
fn energy_is_sensed_at_once_a_preamble_after_the_latency_and_less_never() {
    let mut config = config(None);
    for (level, latency, expected) in [
        (-61.9, 4, vec![('+', 10), ('-', 100)]),
        (-62.1, 4, vec![('+', 14), ('-', 100)]),
        (-62.1, 16, vec![('+', 26), ('-', 100)]),
        (-105.9, 4, vec![('+', 14), ('-', 100)]),
        // An exposed station no longer: 3.9 dB over the noise.
        (-106.1, 4, vec![]),
    ] {
        config.cca_preamble_latency = Dur::from_us(latency);
        assert_eq!(sensed(&config, &[(X, level)], &[tx(X, 10, 100, a6())]), expected, "{level} dBm");
    }
}

#[test]
fn no_latency_is_the_shortest_time_there_is() {
    let config = SinrConfig { cca_preamble_latency: Dur::ZERO, ..config(None) };
    let mut medium = medium(&config, &[(X, -80.0)]);
    let said = play(&mut medium, &[tx(X, 10, 100, a6())]);
    assert_eq!(said.sensed[0], (us(10) + Dur::from_ns(1), R, true));
}

#[test]
fn a_hidden_stations_collision_is_sensed_by_energy_or_not_at_all() {
    // Equal preambles of one instant: nobody is locked, nothing detected. −64.9 twice is −61.9 dBm.
    let all = [tx(X, 10, 100, a6()), tx(Y, 10, 200, a6())];
    assert_eq!(sensed(&config(None), &[(X, -64.9), (Y, -64.9)], &all), [('+', 10), ('-', 100)]);
    assert_eq!(sensed(&config(None), &[(X, -65.1), (Y, -65.1)], &all), []);
}

#[test]
fn who_detected_a_preamble_is_busy_to_the_end_of_its_frame() {
    // Y spoils X and goes on; its own preamble was not detected under X.
    let all = [tx(X, 0, 100, a6()), tx(Y, 50, 200, a6())];
    assert_eq!(sensed(&config(None), &[(X, -80.0), (Y, -80.0)], &all), [('+', 4), ('-', 100)]);
    // 12 dB stronger, Y is turned to where capture is on: busy to the end of both.
    assert_eq!(sensed(&config(CAPTURE), &[(X, -80.0), (Y, -68.0)], &all), [('+', 4), ('-', 200)]);
    let all = [tx(X, 0, 300, a6()), tx(Y, 50, 200, a6())];
    assert_eq!(sensed(&config(CAPTURE), &[(X, -80.0), (Y, -68.0)], &all), [('+', 4), ('-', 300)]);
}

#[test]
fn energy_that_goes_leaves_the_detected_frame_standing() {
    // −63 and −68 dBm are −61.8 together: busy at once when Y joins at 2. X, 5 dB over Y, is detected at 4, so the end of Y's
    // energy at 50 changes nothing.
    let levels = [(X, -63.0), (Y, -68.0)];
    let all = [tx(X, 0, 100, a6()), tx(Y, 2, 50, a6())];
    assert_eq!(sensed(&config(None), &levels, &all), [('+', 2), ('-', 100)]);
}

#[test]
fn own_transmissions_hide_preambles_but_not_energy() {
    for (level, expected) in [(-61.0, vec![('-', 100)]), (-70.0, vec![('-', 50)])] {
        // R transmits from 0 to 50, X from 10 to 100: afterwards R senses X's energy, and never its preamble.
        let all = [tx(R, 0, 50, a6()), tx(X, 10, 100, a6())];
        assert_eq!(sensed(&config(None), &[(X, level)], &all), expected, "{level} dBm");
    }
    // One that begins to transmit while a preamble lasts has not detected it either.
    let all = [tx(X, 0, 100, a6()), tx(R, 3, 50, a6())];
    assert_eq!(sensed(&config(None), &[(X, -70.0)], &all), [('-', 50)]);
}

#[test]
fn sensing_is_due_once_for_each_frame_that_somebody_can_sense_late() {
    for (level, is_due) in [(-61.0, false), (-70.0, true)] {
        let mut medium = medium(&config(None), &[(X, level)]);
        medium.start(us(7), X);
        let due = medium.arrive(us(7), &Ppdu::whole(X, R, a6().into(), Dur::from_us(100)), |_| {});
        assert_eq!(due, if is_due { us(11) } else { SimTime::NEVER });
    }
}

#[test]
fn a_frame_may_have_a_power_of_its_own() {
    let mut medium = medium(&config(None), &[(X, -70.0)]);
    const OWN: TxPower = TxPower::OWN;
    let mut broken = |at: u64, power| {
        medium.start(us(at), X);
        let ppdu = Ppdu::whole(X, R, TxVector { power, ..TxVector::from(a6()) }, Dur::from_us(50));
        let mut by_energy = false;
        medium.arrive(us(at), &ppdu, |_| by_energy = true);
        medium.stop(us(at + 50), X);
        medium.leave(us(at + 50), &ppdu, |_| {});
        by_energy
    };
    // 10 dBm − 70 dB is above −62 dBm; 0 dBm, the transmitter's own power, is not.
    assert_eq!([broken(0, OWN), broken(100, TxPower::of(Dbm(10.0))), broken(200, OWN)], [false, true, false]);
}

#[test]
fn a_frame_shorter_than_the_latency_is_never_sensed() {
    let config = SinrConfig { cca_preamble_latency: Dur::from_us(16), ..config(None) };
    assert_eq!(sensed(&config, &[(X, -70.0)], &[tx(X, 0, 10, a6())]), []);
}

#[test]
fn who_is_heard_is_not_decoded_at_every_rate() {
    // At 6 dB over the noise a preamble is locked on and payloads up to 11 Mb/s survive; 13 dB do for 24 Mb/s, 23 dB for all.
    let rates = [rate(Standard::A, 6), rate(Standard::A, 24), rate(Standard::A, 54)];
    for (level, decoded) in
        [(-107.0, [false; 3]), (-104.0, [true, false, false]), (-97.0, [true, true, false]), (-87.0, [true; 3])]
    {
        let mut medium = Medium::Sinr(Box::new(Sinr::new(2, &config(None), &Streams::new(1))));
        medium.set_gain(X, R, Db(level));
        assert_eq!(rates.map(|rate| medium.decodes(R, X, rate)), decoded, "{level}");
        assert!(!medium.decodes(X, R, rates[0]), "the other direction has no gain");
        assert_eq!(medium.hears(R, X), level > -106.0);
    }
}

#[test]
fn nine_tenths_of_a_thousand_bytes_make_the_sensitivity() {
    // Of 8000 bits that each survive with probability q, q^8000 = 0.9 at q = exp(ln 0.9 / 8000) = exp(-1.317e-5).
    fn lossy(_: Mode, part: Part, sinr: f64, bits: f64) -> f64 {
        if part == Part::Payload { -sinr * bits } else { 0.0 }
    }
    for (per_bit, decodes) in [(1.316e-5, true), (1.318e-5, false)] {
        // The curve is absurd: a SINR of 10^-5 is its loss. So the threshold of the preamble is lower still.
        let config = SinrConfig { curve: lossy, preamble_sinr: Db(-60.0), ..config(None) };
        let mut medium = Medium::Sinr(Box::new(Sinr::new(2, &config, &Streams::new(1))));
        medium.set_gain(X, R, Db(10.0 * libm::log10(per_bit) - 110.0));
        assert_eq!(medium.decodes(R, X, rate(Standard::A, 54)), decodes, "{per_bit}");
    }
}
