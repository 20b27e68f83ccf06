//! A channel whose medium has powers: who transmits into whom, what is booked, what a second's bits depend on.
//!
//! All transmit with 0 dBm, so that a gain in dB is a level in dBm; noise −100 dBm, energy sensed from −62 dBm on, preambles
//! from 4 dB over the noise, 4 µs late.

use crate::dcf::harness::{self, A, ACK, B, C, D, DIFS, EIFS, NOBODY, Setup, at, config, frame};
use crate::harness::{Ended, Shown};
use engine::Streams;
use mac::{
    Access, AtAddressee, Channel, Contention, ErrorsAt, Got, Kind, Label, Loss, Outcome, Reception, Receptions,
    RtsPatience,
};
use phy::{Capture, ErrorModel, Errors, Hit, Medium, Sinr, SinrConfig};
use units::{Db, Dbm, Dur, NodeId, SimTime};
use wire::Packets;

const CAPTURE: Option<Capture> = Some(Capture { clear: Db(10.0), garbled: Db(15.0) });

/// `level` gives the level from the first to the second in dBm.
fn levels(nodes: usize, capture: Option<Capture>, level: impl Fn(NodeId, NodeId) -> f64) -> Medium {
    let config = SinrConfig {
        power: Dbm(0.0),
        noise: Dbm(-100.0),
        floor: Db(10.0),
        cca_ed: Dbm(-62.0),
        cca_preamble_latency: Dur::from_us(4),
        preamble_sinr: Db(4.0),
        capture,
        interference: phy::Interference::Noise,
        curve: phy::ln_survival,
        fading: None,
    };
    let mut medium = Sinr::new(nodes, &config, &Streams::new(1));
    for from in (0..nodes as u32).map(NodeId) {
        medium.set_gains(from, |to, _| Db(level(from, to)));
    }
    Medium::Sinr(Box::new(medium))
}

/// Four stations of 802.11b without MACs on that medium; backoffs are all 0.
fn channel(medium: Medium) -> Channel {
    let config = config();
    let access = Access { cw_min: 0, cw_max: 0, ..config.accesses()[0] };
    let contention = Contention::new(4, |node| vec![(access, harness::backoffs(node))]);
    let errors = Errors::new(4, &Streams::new(1), |_, _| ErrorModel::One(Hit::NEVER));
    Channel::new(medium, contention, errors, ErrorsAt::Attempt, 4, RtsPatience::always(Dur::from_us(1000)))
}

/// Labels of the frames of these tests.
const DATA: Label = Label(1);
const TCP_ACK: Label = Label(2);
const UDP: Label = Label(3);

/// Data with this label, 1310 µs on the air.
fn data(from: NodeId, to: NodeId, label: Label) -> Shown {
    Shown { label, ..frame(Kind::Data, from, to, 0) }
}

/// Plays frames at their starts in µs; those of one instant in the order given. Returns what became of each, in the order of
/// `frames`.
fn play(channel: &mut Channel, frames: &[(u64, Shown)]) -> Vec<Ended> {
    // At one instant: ends, preambles that are over, starts.
    let mut agenda: Vec<(SimTime, u8, usize)> = Vec::new();
    let (mut packets, mut ended) = (Packets::default(), vec![None; frames.len()]);
    agenda.extend(frames.iter().enumerate().map(|(i, (start, _))| (at(*start), 2, i)));
    while let Some(next) = (0..agenda.len()).min_by_key(|i| agenda[*i]) {
        let (now, class, i) = agenda.remove(next);
        let frame = frames[i].1;
        match class {
            0 => {
                let fate = channel.end(now, frame.from, &mut Receptions::default());
                ended[i] = Some(Ended { frame, fate, overlap: channel.first_overlap(frame.from) });
                channel.unload(frame.from).unwrap().release(&mut packets);
            }
            1 => channel.sense(now, frame.from),
            _ => {
                channel.load(frame.made(&mut packets));
                let (_, sense_at) = channel.start(now, frame.from);
                agenda.push((now + frame.airtime, 0, i));
                if sense_at != SimTime::NEVER {
                    agenda.push((sense_at, 1, i));
                }
            }
        }
    }
    assert_eq!((packets.live(), packets.shared()), (0, 0));
    ended.into_iter().flatten().collect()
}

/// Fates of frames, with the frame that overlapped each first: kind and label.
fn fates(ended: &[Ended]) -> Vec<(AtAddressee, Option<(Kind, Label)>)> {
    ended.iter().map(|it| (it.fate, it.overlap.map(|overlap| (overlap.kind, overlap.label)))).collect()
}

const COLLISION: AtAddressee = AtAddressee::Lost(Loss::Collision);
const NOISE: AtAddressee = AtAddressee::Lost(Loss::Noise);

#[test]
fn a_station_whose_backoff_ends_while_a_preamble_lasts_transmits() {
    // B, idle since 0, may send at 50. A's preamble is detected 4 µs after its start: at 50 it is too late to hold B back.
    for (level, start, is_held) in
        [(-70.0, 45, true), (-70.0, 46, false), (-61.0, 49, true), (-61.0, 50, false), (-97.0, 10, false)]
    {
        let (mut channel, mut packets) = (channel(levels(4, None, |_, _| level)), Packets::default());
        let id = channel.contention.first(B);
        channel.contention.want(at(0), id, false);
        channel.load(frame(Kind::Data, A, C, 0).made(&mut packets));
        let (_, sense_at) = channel.start(at(start), A);
        assert_eq!(sense_at, if level < -62.0 { at(start + 4) } else { SimTime::NEVER });
        if sense_at <= at(50) {
            channel.sense(sense_at, A);
        }
        let expected = if is_held { SimTime::NEVER } else { at(50) };
        assert_eq!(channel.contention.next_grant(), expected, "{level} dBm, {start} µs");
    }
}

#[test]
fn what_overlapped_a_frame_first_at_its_addressee_is_told() {
    let of_data = |label| Some((Kind::Data, label));
    for medium in [Medium::new(4), levels(4, None, |_, _| -60.0)] {
        let mut channel = channel(medium);
        // A's data to D meets B's TCP ACK from 100 on and C's datagram from 200 on; B's and C's met A's first.
        let frames = [(0, data(A, D, DATA)), (100, data(B, D, TCP_ACK)), (200, data(C, D, UDP))];
        let met = [of_data(TCP_ACK), of_data(DATA), of_data(DATA)];
        assert_eq!(fates(&play(&mut channel, &frames)), met.map(|overlap| (COLLISION, overlap)));
        // An RTS and a MAC ACK at one instant; a frame for somebody who transmits; one that is heard by nobody it is for.
        let frames = [
            (9000, frame(Kind::Rts, A, D, 0)),
            (9000, frame(Kind::Ack, B, D, 0)),
            (10_000, data(A, B, TCP_ACK)),
            (10_000, data(B, C, TCP_ACK)),
        ];
        let found = fates(&play(&mut channel, &frames));
        let control = |kind| (COLLISION, Some((kind, Label::default())));
        assert_eq!(found[..2], [control(Kind::Ack), control(Kind::Rts)]);
        // A's TCP ACK finds B transmitting; B's is lost at C to A's.
        assert_eq!(found[2].0, AtAddressee::Lost(Loss::HalfDuplex));
        assert_eq!(found[3], (COLLISION, of_data(TCP_ACK)));
    }
    let mut channel = channel(Medium::new(4));
    assert_eq!(fates(&play(&mut channel, &[(0, data(A, NOBODY, DATA))])), [(AtAddressee::Unheard, None)]);
}

#[test]
fn of_several_that_overlap_from_one_instant_on_the_strongest_is_told() {
    let level = |from: NodeId, _: NodeId| if from == C { -50.0 } else { -60.0 };
    let first = |mut channel: Channel, order: [NodeId; 2]| {
        let of = |from| data(from, D, if from == B { TCP_ACK } else { UDP });
        let ended = play(&mut channel, &[(0, data(A, D, DATA)), (100, of(order[0])), (100, of(order[1]))]);
        ended[0].overlap.map(|overlap| overlap.label)
    };
    for order in [[B, C], [C, B]] {
        assert_eq!(first(channel(levels(4, None, level)), order), Some(UDP));
        // Of equals, the one with the lower id.
        assert_eq!(first(channel(Medium::new(4)), order), Some(TCP_ACK));
    }
}

#[test]
fn a_frame_received_under_another_was_overlapped_unless_that_was_below_the_noise() {
    // At 11 Mb/s 30 dB are plenty.
    for (other, is_overlapped) in [(-80.0, true), (-99.0, true), (-101.0, false)] {
        let mut channel = channel(levels(4, None, |from, _| if from == A { -50.0 } else { other }));
        let ended = play(&mut channel, &[(0, data(A, D, UDP)), (100, data(B, C, UDP))]);
        assert_eq!(
            (ended[0].fate, ended[0].overlap.is_some()),
            (AtAddressee::Received, is_overlapped),
            "{other} dBm"
        );
    }
    let mut channel = channel(levels(4, CAPTURE, |from, _| if from == B { -50.0 } else { -80.0 }));
    let ended = play(&mut channel, &[(0, data(A, D, DATA)), (100, data(B, D, TCP_ACK))]);
    let label = |label| Some((Kind::Data, label));
    assert_eq!(fates(&ended), [(COLLISION, label(TCP_ACK)), (AtAddressee::Received, label(DATA))]);
    // C, which heard the same, turned from A's frame to B's as well; A and B transmitted.
    assert_eq!(channel.relocks(), 2);
}

#[test]
fn too_weak_a_frame_is_lost_to_noise_and_costs_nobody_an_eifs() {
    for (level, noise) in [(-97.0, 1), (-70.0, 0)] {
        let mut channel = channel(levels(4, None, |_, _| level));
        let ended = play(&mut channel, &[(0, data(A, D, UDP))]);
        assert_eq!(ended[0].fate, if noise == 1 { NOISE } else { AtAddressee::Received });
        let id = channel.contention.first(D);
        // D heard nothing of the one, received the other.
        channel.contention.want(at(1310), id, false);
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
        play(&mut channel, &[(0, data(A, C, UDP)), (second, data(B, C, UDP))]);
        assert_eq!(channel.contention.next_grant(), at(1310 + second + space));
    }
}

#[test]
fn a_station_that_waits_for_the_end_of_a_frame_is_told_also_if_its_preamble_was_lost_to_another() {
    let (mut channel, mut packets) = (channel(levels(4, None, |_, _| -70.0)), Packets::default());
    channel.load(data(A, C, UDP).made(&mut packets));
    _ = channel.start(at(0), A);
    assert!(channel.wait_for_end(D), "a preamble has begun");
    channel.load(data(B, C, UDP).made(&mut packets));
    _ = channel.start(at(2), B);
    assert!(!channel.medium.is_locked(D), "two equal preambles");
    let mut receptions = Receptions::default();
    channel.end(at(1310), A, &mut receptions);
    channel.unload(A).unwrap().release(&mut packets);
    assert_eq!(receptions.iter().collect::<Vec<_>>(), [Reception { node: D, got: Got::Nothing }]);
    channel.end(at(1312), B, &mut receptions);
    channel.unload(B).unwrap().release(&mut packets);
    assert_eq!(receptions.iter().count(), 0);
}

#[test]
fn with_equal_powers_capture_changes_no_bit_of_two_saturated_stations() {
    let run = |capture: Option<Capture>, is_hidden: bool| {
        let mut net = Setup::default().net();
        let deaf = |from: NodeId, to: NodeId| is_hidden && from != C && to != C;
        net.channel.medium = levels(3, capture, |from, to| if deaf(from, to) { -300.0 } else { -55.0 });
        for node in [A, B] {
            for _ in 0..50 {
                net.enqueue(0, node, C, 1500);
            }
        }
        net.run(400_000);
        let count = |is_it: &dyn Fn(&Ended) -> bool| net.ended.iter().filter(|it| is_it(it)).count();
        assert!(count(&|it| it.fate == COLLISION) > 0 && net.delivered.len() > 40);
        let captured = count(&|it| it.fate == AtAddressee::Received && it.overlap.is_some());
        assert_eq!((captured, net.channel.relocks()), (0, 0));
        (net.sent, net.delivered, net.ended)
    };
    for is_hidden in [false, true] {
        assert_eq!(run(None, is_hidden), run(CAPTURE, is_hidden));
    }
}

#[test]
fn the_nearer_of_two_hidden_stations_wins_with_capture_by_20_db() {
    // Hidden from each other, A 20 dB stronger at C than B. Whichever begins first, A's frame survives.
    let run = |capture| {
        let mut net = Setup::default().net();
        net.channel.medium = levels(3, capture, |from, to| match (from, to) {
            (A, B) | (B, A) => -300.0,
            (B, C) | (C, B) => -70.0,
            _ => -50.0,
        });
        // B begins first; A's frame comes 300 µs later.
        net.air(100, data(B, C, TCP_ACK)).enqueue(400, A, C, 1500);
        net.run(400 + 1310 + harness::SIFS + ACK);
        net.delivered.iter().map(|it| (it.when, it.node, it.from)).collect::<Vec<_>>()
    };
    assert_eq!(run(None), []);
    assert_eq!(run(CAPTURE), [(400 + 1310, C, A)]);
}

#[test]
fn signals_below_the_noise_are_noise_even_if_they_spoil_a_frame_together_with_it() {
    // 4.5 dB over noise alone, 4 needed: with B's half a dB below the noise, 4.5 − 2.8.
    let mut channel = channel(levels(4, None, |from, _| if from == A { -95.5 } else { -100.5 }));
    let ended = play(&mut channel, &[(0, data(A, D, UDP)), (0, data(B, C, UDP))]);
    // B's own frame, too weak by itself, as well.
    assert_eq!((ended[0].fate, ended[0].overlap, ended[1].fate), (NOISE, None, NOISE));
}

#[test]
fn a_frame_with_a_power_of_its_own_is_heard_as_loud_as_that_and_the_next_one_as_before() {
    // A's data to D stands 10 dB under B's, begun at the same instant; noise is far below.
    let level = |from, _| if from == A { -70.0 } else { -60.0 };
    for (power, is_received) in [(None, false), (Some(Dbm(40.0)), true), (Some(Dbm(10.0)), false)] {
        let mut channel = channel(levels(4, CAPTURE, level));
        let of_a = |power| Shown { power, ..data(A, D, DATA) };
        let mut is_received_of =
            |frames: &[(u64, Shown)]| play(&mut channel, frames)[0].fate == AtAddressee::Received;
        assert_eq!(is_received_of(&[(100, of_a(power)), (100, data(B, C, UDP))]), is_received, "{power:?}");
        // Its next frame has the node's own power again, and fails as it did.
        assert!(!is_received_of(&[(5000, of_a(None)), (5000, data(B, C, UDP))]), "{power:?}");
        assert!(is_received_of(&[(9000, of_a(None))]));
    }
}
