//! PPDUs whose receiver judges each MPDU by itself, with powers. Node R hears X at −60 dBm over noise of −110 dBm.

use super::*;
use crate::Span;

const AIRTIME: Dur = Dur::from_us(320);

/// Three MPDUs of 100 µs behind 20 µs of preamble and header.
fn spans() -> [Span; 3] {
    [0, 1, 2].map(|i| Span { from: Dur::from_us(20 + 100 * i), until: Dur::from_us(120 + 100 * i) })
}

/// Report of a receiver on a PPDU.
#[derive(Debug)]
struct Said {
    mpdus: Vec<usize>,
    front: u64,
    clear: u64,
    spoilt: u64,
}

/// Returns the report of R on such a PPDU of X, beginning at 0, while Y stands at `level` from and until these instants.
fn heard(level: f64, other: (u64, u64), front: Dur) -> Said {
    let mut medium = medium(&config(None), &[(X, -60.0), (Y, level)]);
    let (mpdus, mode) = (spans(), rate(Standard::A, 6));
    let whole = Ppdu { parts: Some(Parts { mpdus: &mpdus, front }), ..Ppdu::whole(X, R, mode.into(), AIRTIME) };
    let overlap = Ppdu::whole(Y, R, mode.into(), Dur::from_us(other.1 - other.0));
    let mut events = [(0, 1, whole), (320, 0, whole), (other.0, 1, overlap), (other.1, 0, overlap)];
    events.sort_by_key(|(at, class, _)| (*at, *class));
    let mut said = None;
    for (at, class, ppdu) in events {
        if class == 1 {
            medium.start(us(at), ppdu.from);
            let sense_at = medium.arrive(us(at), &ppdu, |_| {});
            medium.sense(sense_at, ppdu.from, |_| {});
        } else {
            medium.stop(us(at), ppdu.from);
            medium.leave(us(at), &ppdu, |heard| {
                if ppdu.from == X && heard.nodes(heard.listeners).contains(R) {
                    let mpdus = heard.mpdus.map_or(Vec::new(), |set| set.iter().collect());
                    said = Some(Said { mpdus, front: heard.front, clear: heard.clear, spoilt: heard.spoilt });
                }
            });
        }
    }
    said.expect("R listens")
}

#[test]
fn each_mpdu_lives_by_the_sinr_of_its_own_span() {
    // 6 Mb/s needs 5 dB here: a signal 2 dB weaker spoils what it meets, one 20 dB weaker nothing.
    for (level, other, received) in [
        (-62.0, (130, 150), &[0, 2][..]),
        (-62.0, (130, 250), &[0]),
        (-62.0, (219, 221), &[0]),
        (-80.0, (130, 250), &[0, 1, 2]),
        (-62.0, (400, 500), &[0, 1, 2]),
    ] {
        let said = heard(level, other, Dur::from_us(20));
        assert_eq!((&said.mpdus[..], said.clear != 0), (received, true), "{level} dBm, {other:?}");
        assert_eq!((said.front, said.spoilt), (1, 0));
    }
}

#[test]
fn without_its_front_nothing_of_a_ppdu_is_received() {
    // From 5 µs on, past the preamble's detection: the PHY header falls.
    let said = heard(-62.0, (5, 19), Dur::from_us(20));
    assert_eq!((said.mpdus.len(), said.front, said.clear, said.spoilt), (0, 0, 0, 1));
}

#[test]
fn a_frame_of_one_mpdu_says_whether_its_beginning_was_read_by_the_draw_that_decides_of_all() {
    // ln survival 10⁻³ a bit at any SINR. At 1 Mb/s: 192 bits before, 208 of MAC header, 808 behind. Received: e^−1.208 =
    // 29.9 %; front only: e^−0.4 − e^−1.208 = 37.2 %.
    fn even(_: Mode, _: Part, _: f64, bits: f64) -> f64 {
        -1e-3 * bits
    }
    let config = SinrConfig { curve: even, ..config(None) };
    let (mut asked, mut not_asked) = (medium(&config, &[(X, -60.0)]), medium(&config, &[(X, -60.0)]));
    let (mut received, mut front_only) = (0u32, 0u32);
    for i in 0..40_000 {
        let at = us(10_000 * i);
        let plain = Ppdu::whole(X, R, rate(Standard::B, 1).into(), Dur::from_us(1208));
        let ppdu = Ppdu { parts: Some(Parts { mpdus: &[], front: Dur::from_us(400) }), ..plain };
        let mut verdicts = Vec::new();
        for (medium, ppdu) in [(&mut asked, ppdu), (&mut not_asked, plain)] {
            medium.start(at, X);
            medium.arrive(at, &ppdu, |_| {});
            medium.stop(at + ppdu.airtime, X);
            medium.leave(at + ppdu.airtime, &ppdu, |heard| verdicts.push((heard.clear, heard.front)));
        }
        assert_eq!(verdicts[0].0, verdicts[1].0, "asking changes no verdict");
        received += u32::from(verdicts[0].0 != 0);
        front_only += u32::from(verdicts[0].0 == 0 && verdicts[0].1 != 0);
    }
    // Four standard errors: 0.92 % and 0.97 %.
    assert!((f64::from(received) / 4e4 - 0.2988).abs() < 0.0092, "{received}");
    assert!((f64::from(front_only) / 4e4 - 0.3715).abs() < 0.0097, "{front_only}");
}

#[test]
fn the_span_of_an_mpdu_follows_from_its_place_in_the_psdu() {
    // 54 Mb/s: 20 µs, 16 service bits, then bytes 0 … 99 and 100 … 299.
    let mode = rate(Standard::A, 54);
    let span = |at, len| Span::of(mode, units::Bytes(at), units::Bytes(len));
    let ns = |bits: u64| 20_000 + bits * 1000 / 54;
    assert_eq!(span(0, 100), Span { from: Dur::from_ns(ns(16)), until: Dur::from_ns(ns(816)) });
    assert_eq!(span(100, 200), Span { from: Dur::from_ns(ns(816)), until: Dur::from_ns(ns(2416)) });
    // 11 Mb/s: 192 µs, no service bits.
    let mode = rate(Standard::B, 11);
    assert_eq!(Span::of(mode, units::Bytes(0), units::Bytes(11)).until, Dur::from_us(200));
}
