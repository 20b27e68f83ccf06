//! Two and three signals at one receiver: who is received.

use super::*;

/// Order in which X and Y meet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meeting {
    /// X is in reception, past its preamble, when Y begins.
    SenderFirst,
    /// Y is in reception and clean when X begins.
    SenderLastClear,
    /// Y is in reception and was spoilt by a third signal, gone by now, when X begins.
    SenderLastGarbled,
    /// Both begin at one instant.
    OneSlot,
    /// Y begins while X's preamble lasts.
    InPreamble,
}

use Meeting::{InPreamble, OneSlot, SenderFirst, SenderLastClear, SenderLastGarbled};

/// SIR of a frame that is received at no SIR tried.
const NEVER: i32 = 99;

/// Both frames at so many Mb/s, capture off or on: X is received from so many dB of SIR (X over Y) on, Y from so many dB
/// over X on, and the rule (docs/design/air.md, "Lock, capture, loss") that says so. Payloads need 5,
/// 12 and 22 dB, a preamble 4, capture 10 over a clear frame and 15 over a garbled one. With noise on top, a SIR of just the
/// threshold is not enough: one dB more is.
const TABLE: [(Meeting, bool, u64, i32, i32, &str); 30] = [
    // "Sender-first survives little interference at 54 Mb/s but much at 6 Mb/s."
    (SenderFirst, false, 6, 6, NEVER, "goes on: its own SINR decides; a locked receiver does not hear the second"),
    (SenderFirst, false, 24, 13, NEVER, "goes on"),
    (SenderFirst, false, 54, 23, NEVER, "goes on"),
    (SenderFirst, true, 6, 6, 11, "re-locks 10 dB over a frame that could still be decoded; the first is lost"),
    (SenderFirst, true, 24, 13, 13, "the same; then the second needs its own 12 dB"),
    (SenderFirst, true, 54, 23, 23, "the same; 22 dB"),
    // "Sender-last needs a message-in-message receiver and about 10 dB over a decodable interferer …"
    (SenderLastClear, false, 6, NEVER, 6, "capture off: never; the first lives by its SINR"),
    (SenderLastClear, false, 24, NEVER, 13, "capture off: never"),
    (SenderLastClear, false, 54, NEVER, 23, "capture off: never"),
    (SenderLastClear, true, 6, 11, 6, "re-locks from 10 dB on"),
    (SenderLastClear, true, 24, 13, 13, "re-locks from 10 dB on, lives from 12 on"),
    (SenderLastClear, true, 54, 23, 23, "re-locks from 10 dB on, lives from 22 on"),
    // "… 15–25 dB over a garbled one."
    (SenderLastGarbled, false, 6, NEVER, NEVER, "capture off: never; the first was spoilt before"),
    (SenderLastGarbled, false, 24, NEVER, NEVER, "capture off: never"),
    (SenderLastGarbled, false, 54, NEVER, NEVER, "capture off: never"),
    (SenderLastGarbled, true, 6, 16, NEVER, "re-locks from 15 dB on"),
    (SenderLastGarbled, true, 24, 16, NEVER, "re-locks from 15 dB on"),
    (SenderLastGarbled, true, 54, 23, NEVER, "re-locks from 15 dB on, lives from 22 on"),
    // "Lock the stronger if its preamble SINR suffices, else none; the payload then lives by its own SINR."
    (OneSlot, false, 6, 6, 6, "the stronger from 4 dB on, lives from 5 on"),
    (OneSlot, false, 24, 13, 13, "the stronger, lives from 12 on"),
    (OneSlot, false, 54, 23, 23, "the stronger, lives from 22 on"),
    (OneSlot, true, 6, 6, 6, "no frame is in reception that could be captured from"),
    (OneSlot, true, 24, 13, 13, "no frame is in reception"),
    (OneSlot, true, 54, 23, 23, "no frame is in reception"),
    // "While the preamble lasts, a further signal reopens the question."
    (InPreamble, false, 6, 6, 6, "as in one slot"),
    (InPreamble, false, 24, 13, 13, "as in one slot"),
    (InPreamble, false, 54, 23, 23, "as in one slot"),
    (InPreamble, true, 6, 6, 6, "as in one slot"),
    (InPreamble, true, 24, 13, 13, "as in one slot"),
    (InPreamble, true, 54, 23, 23, "as in one slot"),
];

fn meet(meeting: Meeting, capture: bool, mbps: u64, sir: i32, is_reversed: bool) -> [Verdict; 2] {
    let rate = rate(Standard::A, mbps);
    let config = config(if capture { CAPTURE } else { None });
    let mut medium = medium(&config, &[(X, f64::from(sir) - 60.0), (Y, -60.0), (Z, -60.0)]);
    let mut all = match meeting {
        SenderFirst => vec![tx(X, 0, 1000, rate), tx(Y, 100, 1100, rate)],
        SenderLastClear => vec![tx(Y, 0, 1000, rate), tx(X, 100, 1100, rate)],
        SenderLastGarbled => vec![tx(Y, 0, 1000, rate), tx(Z, 50, 80, rate), tx(X, 100, 1100, rate)],
        OneSlot => vec![tx(X, 0, 1000, rate), tx(Y, 0, 1000, rate)],
        InPreamble => vec![tx(X, 0, 1000, rate), tx(Y, 3, 1003, rate)],
    };
    if is_reversed {
        all.reverse();
    }
    let said = play(&mut medium, &all);
    [said.verdict(R, X), said.verdict(R, Y)]
}

#[test]
fn who_is_received_of_two_follows_the_table_at_every_sir() {
    let mut wrong = Vec::new();
    for (meeting, capture, mbps, x_from, y_from, rule) in TABLE {
        for sir in -20..=30 {
            let expected = [sir >= x_from, -sir >= y_from];
            let received = [false, true].map(|is_reversed| {
                meet(meeting, capture, mbps, sir, is_reversed).map(|verdict| verdict == Verdict::Clear)
            });
            if received != [expected; 2] {
                wrong.push(format!("{meeting:?}, capture {capture}, {mbps} Mb/s, {sir} dB: {received:?} ({rule})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn of_two_equal_signals_capture_saves_neither() {
    for meeting in [SenderFirst, SenderLastClear, SenderLastGarbled, OneSlot, InPreamble] {
        for mbps in [6, 24, 54] {
            let off = meet(meeting, false, mbps, 0, false);
            assert_eq!(off, meet(meeting, true, mbps, 0, false), "{meeting:?} at {mbps} Mb/s");
            assert!(!off.contains(&Verdict::Clear));
        }
    }
}

/// X at −60 dBm, Y and Z weaker by so much, all at 24 Mb/s: what becomes of X.
fn three(weaker: f64, starts: [u64; 3], capture: Option<Capture>) -> Said {
    let mut medium = medium(&config(capture), &[(X, -60.0), (Y, -60.0 - weaker), (Z, -60.0 - weaker)]);
    let rate = rate(Standard::A, 24);
    let all: Vec<Tx> = [X, Y, Z].into_iter().zip(starts).map(|(from, at)| tx(from, at, at + 500, rate)).collect();
    let said = play(&mut medium, &all);
    let reversed: Vec<Tx> = all.iter().rev().copied().collect();
    let mut again = super::medium(&config(capture), &[(X, -60.0), (Y, -60.0 - weaker), (Z, -60.0 - weaker)]);
    let other = play(&mut again, &reversed);
    for from in [X, Y, Z] {
        assert_eq!(said.verdict(R, from), other.verdict(R, from), "the order of calls decides");
    }
    said
}

#[test]
fn two_interferers_add_up() {
    // 13 dB over one of them is more than the 12 dB needed; over both it is 13 − 3.01.
    assert_eq!(three(13.0, [0, 100, 700], None).verdict(R, X), Verdict::Clear);
    assert_eq!(three(13.0, [0, 100, 200], None).verdict(R, X), Verdict::Spoilt);
    assert_eq!(three(15.1, [0, 100, 200], None).verdict(R, X), Verdict::Clear);
}

#[test]
fn the_strongest_of_three_preambles_must_be_stronger_than_the_others_together() {
    // 6.5 dB over each is 3.49 over both: below 4, nobody is locked. 7.5 gives 4.49: locked, and lost for want of 12.
    let said = three(6.5, [0, 0, 0], None);
    assert_eq!([X, Y, Z].map(|from| said.verdict(R, from)), [Verdict::NotLocked; 3]);
    assert!(said.heard.iter().all(|(_, _, heard)| !heard.is_locked));
    let said = three(7.5, [0, 2, 3], None);
    assert_eq!(
        [X, Y, Z].map(|from| said.verdict(R, from)),
        [Verdict::Spoilt, Verdict::NotLocked, Verdict::NotLocked]
    );
}

#[test]
fn two_that_would_capture_alone_do_not_when_they_begin_together() {
    // Y is in reception at −80; X and Z begin at one instant at −60 and −66: X is 6 dB over Z and Y, not 10.
    let levels = [(X, -60.0), (Y, -80.0), (Z, -66.0)];
    let rate = rate(Standard::A, 6);
    let all = [tx(Y, 0, 400, rate), tx(X, 100, 500, rate), tx(Z, 100, 500, rate)];
    let mut verdicts = Vec::new();
    for all in [[all[0], all[1], all[2]], [all[0], all[2], all[1]]] {
        let mut medium = medium(&config(CAPTURE), &levels);
        let said = play(&mut medium, &all);
        verdicts.push([X, Y, Z].map(|from| said.verdict(R, from)));
        assert_eq!(medium.relocks(), 0);
    }
    assert_eq!(verdicts, [[Verdict::NotLocked, Verdict::Spoilt, Verdict::NotLocked]; 2]);
}

#[test]
fn a_frame_that_was_left_is_spoilt_and_ends_without_an_error_to_report() {
    let rate = rate(Standard::A, 6);
    let mut medium = medium(&config(CAPTURE), &[(X, -40.0), (Y, -60.0)]);
    let said = play(&mut medium, &[tx(Y, 0, 1000, rate), tx(X, 100, 400, rate)]);
    let heard: Vec<(NodeId, Verdict, bool)> =
        said.heard.iter().map(|(_, by, h)| (*by, h.verdict, h.is_locked)).collect();
    assert_eq!(heard, [(X, Verdict::Clear, true), (Y, Verdict::Spoilt, false)]);
    assert_eq!(medium.relocks(), 1);
    // So is one that ends while the other's preamble lasts.
    let said = play(&mut medium, &[tx(Y, 2000, 2102, rate), tx(X, 2100, 2400, rate)]);
    assert_eq!([X, Y].map(|from| said.verdict(R, from)), [Verdict::Clear, Verdict::Spoilt]);
    assert_eq!(medium.relocks(), 2);
}

#[test]
fn who_transmits_is_deaf_to_a_preamble_it_missed_and_to_what_it_was_receiving() {
    let rate = rate(Standard::A, 6);
    // R begins at the instant of X, or in the middle of it, or ends after X has begun.
    for (start, end) in [(0, 100), (500, 600), (200, 2000)] {
        for is_reversed in [false, true] {
            let mut medium = medium(&config(CAPTURE), &[(X, -50.0)]);
            let mut all = [tx(X, 0, 1000, rate), tx(R, start, end, rate)];
            if is_reversed {
                all.reverse();
            }
            assert_eq!(play(&mut medium, &all).verdict(R, X), Verdict::HalfDuplex);
        }
    }
    // What ends at the instant X begins is no hindrance.
    let mut medium = medium(&config(None), &[(X, -50.0)]);
    let all = [tx(R, 0, 100, rate), tx(X, 100, 1000, rate)];
    assert_eq!(play(&mut medium, &all).verdict(R, X), Verdict::Clear);
}

#[test]
fn a_signal_too_weak_for_its_preamble_is_lost_to_noise() {
    let rate = rate(Standard::A, 6);
    // 3 dB over the noise, 4 needed; 4.5 locks, and the payload needs 5; 5.5 is received.
    for (level, verdict, is_locked) in
        [(-107.0, Verdict::Noise, false), (-105.5, Verdict::Noise, true), (-104.5, Verdict::Clear, true)]
    {
        let mut medium = medium(&config(None), &[(X, level)]);
        let said = play(&mut medium, &[tx(X, 0, 100, rate)]);
        assert_eq!((said.verdict(R, X), said.heard[0].2.is_locked), (verdict, is_locked), "{level} dBm");
    }
    // Below the floor, 10 dB under the noise, X is not there.
    let medium = medium(&config(None), &[(X, -120.5), (Y, -119.5)]);
    assert_eq!((medium.listeners(X), medium.listeners(Y)), (vec![], vec![R]));
    assert!(!medium.hears(R, Y), "heard as noise only");
}

#[test]
fn a_frame_that_began_under_another_is_not_locked_on_later() {
    // Y's frame is in reception until 102; X begins at 100, 5 dB stronger: no preamble for a receiver that is locked. At 103
    // Z, which changes nothing, asks the question again while X's preamble would last.
    let rate = rate(Standard::A, 6);
    let mut medium = medium(&config(None), &[(X, -60.0), (Y, -65.0), (Z, -90.0)]);
    let said = play(&mut medium, &[tx(Y, 0, 102, rate), tx(X, 100, 500, rate), tx(Z, 103, 500, rate)]);
    assert_eq!(said.verdict(R, X), Verdict::NotLocked);
}

#[test]
fn equal_preambles_lock_nobody_even_where_less_than_equality_would_do() {
    let rate = rate(Standard::A, 6);
    let config = SinrConfig { preamble_sinr: Db(-3.0), ..config(None) };
    let all = [tx(X, 0, 500, rate), tx(Y, 0, 500, rate)];
    let mut equal = medium(&config, &[(X, -60.0), (Y, -60.0)]);
    assert_eq!([X, Y].map(|from| play(&mut equal, &all).verdict(R, from)), [Verdict::NotLocked; 2]);
    let mut stronger = medium(&config, &[(X, -60.0), (Y, -61.0)]);
    assert_eq!(play(&mut stronger, &all).verdict(R, X), Verdict::Spoilt, "1 dB over the other: locked");
}

#[test]
fn the_last_start_is_that_of_the_last_frame_locked_on() {
    let rate = rate(Standard::A, 6);
    let mut medium = medium(&config(CAPTURE), &[(X, -60.0), (Y, -65.0), (Z, -45.0)]);
    let all = [tx(X, 10, 500, rate), tx(Y, 100, 900, rate)];
    let is_last =
        |medium: &Medium, at| medium.has_heard_since(at, R) && !medium.has_heard_since(at + Dur::from_ns(1), R);
    play(&mut medium, &all);
    assert!(is_last(&medium, us(10)));
    let more = [tx(X, 1010, 1500, rate), tx(Z, 1100, 1200, rate)];
    play(&mut medium, &more);
    assert!(is_last(&medium, us(1100)));
    play(&mut medium, &[tx(Y, 2000, 2100, rate)]);
    assert!(is_last(&medium, us(2000)));
    // At once, not when its preamble is over.
    medium.arrive(us(3000), &Ppdu::whole(X, R, rate.into(), Dur::from_us(100)), |_| {});
    assert!(is_last(&medium, us(3000)));
}

#[test]
fn the_end_of_another_signal_frees_nobody_who_waits_for_the_end_of_a_frame() {
    // R follows X to 500; Y, which it never locked on, ends at 300 and frees nobody who waits for the end of X.
    let rate = rate(Standard::A, 6);
    let mut medium = medium(&config(None), &[(X, -60.0), (Y, -75.0)]);
    let said = play(&mut medium, &[tx(X, 0, 500, rate), tx(Y, 100, 300, rate)]);
    let free: Vec<(NodeId, bool)> = said.heard.iter().map(|(_, from, heard)| (*from, heard.is_free)).collect();
    assert_eq!(free, [(Y, false), (X, true)]);
}
