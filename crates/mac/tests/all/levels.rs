//! A channel whose medium has powers: who transmits into whom, what is booked, what a second's bits depend on.
//!
//! All transmit with 0 dBm, so that a gain in dB is a level in dBm; noise −100 dBm, energy sensed from −62 dBm on, preambles
//! from 4 dB over the noise, 4 µs late.

use crate::dcf::harness::{self, A, ACK, B, C, D, DIFS, EIFS, Net, Setup, at, config, frame};
use engine::Streams;
use mac::{Access, Channel, Class, Contention, ErrorsAt, Frame, Kind, Outcome, Reception, losses_by_cause};
use phy::{Capture, ErrorModel, Errors, Hit, Levels, LevelsConfig, Medium, Preamble};
use units::{Db, Dbm, Dur, NodeId, SimTime};

const CAPTURE: Option<Capture> = Some(Capture { clear: Db(10.0), garbled: Db(15.0) });

/// `level` gives the level from the first to the second in dBm.
fn levels(nodes: usize, capture: Option<Capture>, level: impl Fn(NodeId, NodeId) -> f64) -> Medium {
    let config = LevelsConfig {
        power: Dbm(0.0),
        noise: Dbm(-100.0),
        floor: Db(10.0),
        cca_ed: Dbm(-62.0),
        cca_preamble_latency: Dur::from_us(4),
        preamble_sinr: Db(4.0),
        capture,
        preamble: Preamble::Long,
        curve: phy::ln_survival,
        coherence: None,
    };
    let mut medium = Levels::new(nodes, &config, &Streams::new(1));
    for from in (0..nodes as u32).map(NodeId) {
        medium.set_gains(from, |to, _| Db(level(from, to)));
    }
    Medium::Levels(Box::new(medium))
}

/// Four stations of 802.11b without MACs on that medium; backoffs are all 0.
fn channel(medium: Medium) -> Channel {
    let config = config();
    let access = Access { cw_min: 0, cw_max: 0, ..config.accesses()[0] };
    let contention = Contention::new(4, |node| vec![(access, harness::backoffs(node))]);
    let errors = Errors::new(4, &Streams::new(1), |_, _| ErrorModel::One(Hit::NEVER));
    Channel::new(medium, contention, errors, ErrorsAt::Attempt, 4, Dur::from_us(1000))
}

/// Data of this class, 1310 µs on the air.
fn data(from: NodeId, to: NodeId, class: Class) -> Frame {
    Frame { class, ..frame(Kind::Data, from, to, 0) }
}

/// Plays frames at their starts in µs; those of one instant in the order given. Returns who was to be told of what ended.
fn play(channel: &mut Channel, frames: &[(u64, Frame)]) -> Vec<(u64, Reception)> {
    // At one instant: ends, preambles that are over, starts.
    let mut agenda: Vec<(SimTime, u8, usize)> = Vec::new();
    let (mut told, mut receptions) = (Vec::new(), Vec::new());
    agenda.extend(frames.iter().enumerate().map(|(i, (start, _))| (at(*start), 2, i)));
    while let Some(next) = (0..agenda.len()).min_by_key(|i| agenda[*i]) {
        let (now, class, i) = agenda.remove(next);
        let frame = frames[i].1;
        match class {
            0 => {
                receptions.clear();
                channel.end(now, frame.from, &mut receptions);
                told.extend(receptions.iter().map(|r| (harness::us(now), *r)));
            }
            1 => channel.sense(now, frame.from),
            _ => {
                let sense_at = channel.start(now, frame);
                agenda.push((now + frame.airtime, 0, i));
                if sense_at != SimTime::NEVER {
                    agenda.push((sense_at, 1, i));
                }
            }
        }
    }
    told
}

/// Where in [`mac::FRAME_CLASSES`].
fn class(name: &str) -> usize {
    mac::FRAME_CLASSES.iter().position(|n| *n == name).expect("a class")
}

#[test]
fn a_station_whose_backoff_ends_while_a_preamble_lasts_transmits() {
    // B, idle since 0, may send at 50. A's preamble is detected 4 µs after its start: at 50 it is too late to hold B back.
    for (level, start, is_held) in
        [(-70.0, 45, true), (-70.0, 46, false), (-61.0, 49, true), (-61.0, 50, false), (-97.0, 10, false)]
    {
        let mut channel = channel(levels(4, None, |_, _| level));
        let id = channel.contention.first(B);
        channel.contention.want(at(0), id);
        let sense_at = channel.start(at(start), frame(Kind::Data, A, C, 0));
        assert_eq!(sense_at, if level < -62.0 { at(start + 4) } else { SimTime::NEVER });
        if sense_at <= at(50) {
            channel.sense(sense_at, A);
        }
        let expected = if is_held { SimTime::NEVER } else { at(50) };
        assert_eq!(channel.contention.next_grant(), expected, "{level} dBm, {start} µs");
    }
}

#[test]
fn losses_are_booked_to_the_first_that_overlapped_at_the_addressee() {
    use Class::{TcpAck, TcpData, Udp};
    for medium in [Medium::new(4), levels(4, None, |_, _| -60.0)] {
        let mut channel = channel(medium);
        // A's data to D meets B's TCP ACK from 100 on and C's datagram from 200 on; B's and C's met A's first.
        let frames = [(0, data(A, D, TcpData)), (100, data(B, D, TcpAck)), (200, data(C, D, Udp))];
        play(&mut channel, &frames);
        let tallies = channel.tallies();
        assert_eq!(tallies[class("tcp-data")].collided_with[class("tcp-ack")], 1);
        assert_eq!(tallies[class("tcp-ack")].collided_with[class("tcp-data")], 1);
        assert_eq!(tallies[class("udp")].collided_with[class("tcp-data")], 1);
        // noise, data-ack, ack-data, data-data, ack-ack, rts, other, transmitter-busy
        assert_eq!(losses_by_cause(tallies), [0, 1, 1, 1, 0, 0, 0, 0]);
        // An RTS and a MAC ACK at one instant; a frame for somebody who transmits; one that is heard by nobody it is for.
        let frames = [
            (9000, frame(Kind::Rts, A, D, 0)),
            (9000, frame(Kind::Ack, B, D, 0)),
            (10_000, data(A, B, TcpAck)),
            (10_000, data(B, C, TcpAck)),
        ];
        play(&mut channel, &frames);
        // A's TCP ACK finds B transmitting; B's is lost at C to A's.
        assert_eq!(losses_by_cause(channel.tallies()), [0, 1, 1, 1, 1, 2, 0, 1]);
        assert!(channel.tallies().iter().all(|t| t.collided_with.iter().sum::<u64>() == t.collision));
    }
}

#[test]
fn of_several_that_overlap_from_one_instant_on_the_strongest_is_booked() {
    let level = |from: NodeId, _: NodeId| if from == C { -50.0 } else { -60.0 };
    for order in [[B, C], [C, B]] {
        let mut channel = channel(levels(4, None, level));
        let of = |from| data(from, D, if from == B { Class::TcpAck } else { Class::Udp });
        play(&mut channel, &[(0, data(A, D, Class::TcpData)), (100, of(order[0])), (100, of(order[1]))]);
        assert_eq!(channel.tallies()[class("tcp-data")].collided_with[class("udp")], 1);
    }
    // Of equals, the one with the lower id.
    for order in [[B, C], [C, B]] {
        let mut channel = channel(Medium::new(4));
        let of = |from| data(from, D, if from == B { Class::TcpAck } else { Class::Udp });
        play(&mut channel, &[(0, data(A, D, Class::TcpData)), (100, of(order[0])), (100, of(order[1]))]);
        assert_eq!(channel.tallies()[class("tcp-data")].collided_with[class("tcp-ack")], 1);
    }
}

#[test]
fn a_frame_received_under_another_counts_as_captured_unless_that_was_below_the_noise() {
    // At 11 Mb/s 30 dB are plenty.
    for (other, captured) in [(-80.0, 1), (-99.0, 1), (-101.0, 0)] {
        let mut channel = channel(levels(4, None, |from, _| if from == A { -50.0 } else { other }));
        play(&mut channel, &[(0, data(A, D, Class::Udp)), (100, data(B, C, Class::Other))]);
        let tally = channel.tallies()[class("udp")];
        assert_eq!((tally.received, tally.captured, tally.collision), (1, captured, 0), "{other} dBm");
    }
    let mut channel = channel(levels(4, CAPTURE, |from, _| if from == B { -50.0 } else { -80.0 }));
    play(&mut channel, &[(0, data(A, D, Class::TcpData)), (100, data(B, D, Class::TcpAck))]);
    assert_eq!(channel.tallies()[class("tcp-ack")].captured, 1);
    assert_eq!(losses_by_cause(channel.tallies()), [0, 1, 0, 0, 0, 0, 0, 0]);
    // C, which heard the same, turned from A's frame to B's as well; A and B transmitted.
    assert_eq!(channel.relocks(), 2);
}

#[test]
fn too_weak_a_frame_is_lost_to_noise_and_costs_nobody_an_eifs() {
    for (level, noise) in [(-97.0, 1), (-70.0, 0)] {
        let mut channel = channel(levels(4, None, |_, _| level));
        play(&mut channel, &[(0, data(A, D, Class::Udp))]);
        assert_eq!(channel.tallies()[class("udp")].noise, noise);
        let id = channel.contention.first(D);
        // D heard nothing of the one, received the other.
        channel.contention.want(at(1310), id);
        assert_eq!(channel.contention.next_grant(), at(1310 + if noise == 1 { 0 } else { DIFS }));
    }
}

#[test]
fn an_eifs_follows_a_frame_that_was_locked_on_and_spoilt_not_one_that_never_was() {
    // Two preambles of one instant: nobody is locked, a DIFS. One 200 µs after the other: locked and in error, an EIFS
    // from its end (1310) on, but idle from 1510 on only: the later of 1510 + 364.
    for (second, space) in [(0, DIFS), (200, EIFS)] {
        let mut channel = channel(levels(4, None, |_, _| -50.0));
        let id = channel.contention.first(D);
        channel.contention.finish(id, Outcome::Success, true, at(0));
        play(&mut channel, &[(0, data(A, C, Class::Udp)), (second, data(B, C, Class::Udp))]);
        assert_eq!(channel.contention.next_grant(), at(1310 + second + space));
    }
}

#[test]
fn who_waits_for_the_end_of_a_frame_is_told_also_if_its_preamble_was_lost_to_another() {
    let mut channel = channel(levels(4, None, |_, _| -70.0));
    channel.start(at(0), data(A, C, Class::Udp));
    assert!(channel.wait_for_end(D), "a preamble has begun");
    channel.start(at(2), data(B, C, Class::Udp));
    assert!(!channel.medium.is_locked(D), "two equal preambles");
    let mut receptions = Vec::new();
    channel.end(at(1310), A, &mut receptions);
    assert_eq!(receptions, [Reception { node: D, is_for_me: false }]);
    receptions.clear();
    channel.end(at(1312), B, &mut receptions);
    assert_eq!(receptions, []);
}

#[test]
fn with_equal_powers_capture_changes_no_bit_of_two_saturated_stations() {
    let run = |capture: Option<Capture>, is_hidden: bool| {
        let mut net = Net::new(&Setup::default());
        let deaf = |from: NodeId, to: NodeId| is_hidden && from != C && to != C;
        net.channel.medium = levels(3, capture, |from, to| if deaf(from, to) { -300.0 } else { -55.0 });
        for node in [A, B] {
            for _ in 0..50 {
                net.enqueue(0, node, C, 1500);
            }
        }
        net.run(400_000);
        let tallies = *net.channel.tallies();
        assert!(tallies[class("udp")].collision > 0 && net.delivered.len() > 40, "{tallies:?}");
        assert_eq!(tallies[class("udp")].captured + net.channel.relocks(), 0);
        (net.sent, net.delivered, tallies)
    };
    for is_hidden in [false, true] {
        assert_eq!(run(None, is_hidden), run(CAPTURE, is_hidden));
    }
}

#[test]
fn the_nearer_of_two_hidden_stations_wins_with_capture_by_20_db() {
    // Hidden from each other, A 20 dB stronger at C than B. Whichever begins first, A's frame survives.
    let run = |capture| {
        let mut net = Net::new(&Setup::default());
        net.channel.medium = levels(3, capture, |from, to| match (from, to) {
            (A, B) | (B, A) => -300.0,
            (B, C) | (C, B) => -70.0,
            _ => -50.0,
        });
        // B begins first; A's frame comes 300 µs later.
        net.air(100, data(B, C, Class::TcpAck)).enqueue(400, A, C, 1500);
        net.run(400 + 1310 + harness::SIFS + ACK);
        net.delivered.iter().map(|(when, node, from)| (*when, *node, *from)).collect::<Vec<_>>()
    };
    assert_eq!(run(None), []);
    assert_eq!(run(CAPTURE), [(400 + 1310, C, A)]);
}

#[test]
fn signals_below_the_noise_are_noise_even_if_they_spoil_a_frame_together_with_it() {
    // 4.5 dB over noise alone, 4 needed: with B's half a dB below the noise, 4.5 − 2.8.
    let mut channel = channel(levels(4, None, |from, _| if from == A { -95.5 } else { -100.5 }));
    play(&mut channel, &[(0, data(A, D, Class::Udp)), (0, data(B, C, Class::Udp))]);
    let tally = channel.tallies()[class("udp")];
    // B's own frame, too weak by itself, as well.
    assert_eq!((tally.noise, tally.collision, tally.collided_with), (2, 0, [0; 8]));
}

#[test]
fn a_frame_with_a_power_of_its_own_is_heard_as_loud_as_that_and_the_next_one_as_before() {
    // A's data to D stands 10 dB under B's, begun at the same instant; noise is far below.
    let level = |from, _| if from == A { -70.0 } else { -60.0 };
    let a = class("tcp-data");
    for (power, received) in [(None, 0), (Some(Dbm(40.0)), 1), (Some(Dbm(10.0)), 0)] {
        let mut channel = channel(levels(4, CAPTURE, level));
        let data = |from, to, power| Frame { power, ..data(from, to, Class::TcpData) };
        play(&mut channel, &[(100, data(A, D, power)), (100, Frame { class: Class::Udp, ..data(B, C, None) })]);
        assert_eq!(channel.tallies()[a].received, received, "{power:?}");
        // Its next frame has the node's own power again, and fails as it did.
        play(&mut channel, &[(5000, data(A, D, None)), (5000, Frame { class: Class::Udp, ..data(B, C, None) })]);
        assert_eq!(channel.tallies()[a].received, received, "{power:?}");
        play(&mut channel, &[(9000, data(A, D, None))]);
        assert_eq!(channel.tallies()[a].received, received + 1);
    }
}
