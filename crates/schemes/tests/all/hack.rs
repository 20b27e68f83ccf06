//! HACK: what rides, what goes alone, and that each ACK arrives once, in its order.

use mac::{Cue, Fate, TxReport};
use phy::Standard;
use proptest::prelude::*;
use schemes::testing::{
    Bench, Ground, HERE, IN, OUT, THERE, ack, aggregating, data, dcf, edca, node, report, scheme, segment,
};
use schemes::{NodeFacts, PeerEvent, Place, Toward, Value};
use std::collections::VecDeque;
use units::{Bytes, Dur, FlowId, SimTime};
use wire::{Flags, Packet, Seq, SeqRange};

/// Bytes before the ACKs of a load, and of an ACK.
const HEADER: usize = 3;
const ACK: usize = 4;
const ROOM: Bytes = Bytes(1000);
const ONWARD: Toward = Toward::Onward(Place::ToAir, Some(THERE));

fn bench(set: &[(&str, Value)]) -> Bench {
    let mut ground =
        Ground::new(NodeFacts { standard: Standard::Ac, ..node(HERE, 2) }).with_mac(aggregating(Standard::Ac));
    assert!(ground.install(&scheme("hack", set)).unwrap());
    let mut bench = Bench::new(ground.stack);
    bench.pair();
    bench
}

/// The `n`-th ACK of the host, which is its IP identification too.
fn nth(n: u16) -> Packet {
    let mut packet = ack(OUT, u32::from(n) * 2896, 65_535);
    packet.ip.id = n;
    packet
}

fn more(number: u8) -> Option<Cue> {
    Some(Cue { more_data: true, number })
}

fn last(number: u8) -> Option<Cue> {
    Some(Cue { more_data: false, number })
}

fn delivered(serial: u64, bench: &Bench) -> TxReport {
    TxReport { serial, done: bench.now, ..report(Fate::Delivered) }
}

/// The first ACK has gone alone and has arrived; another data frame has said that more follows.
fn riding(set: &[(&str, Value)]) -> Bench {
    let mut bench = bench(set);
    assert_eq!(bench.pass(Place::ToAir, nth(0)), Some(nth(0)));
    let report = delivered(bench.serial, &bench);
    bench.report_with(&nth(0), &report);
    assert_eq!(bench.load(more(u8::MAX), ROOM), None);
    bench
}

fn holds(bench: &mut Bench, ids: std::ops::Range<u16>) {
    ids.for_each(|n| assert_eq!(bench.pass(Place::ToAir, nth(n)), None, "{n}"));
}

fn ids(packets: &[Packet]) -> Vec<u16> {
    packets.iter().map(|packet| packet.ip.id).collect()
}

/// The ACKs sent alone since the last look, which went on from where they were held.
fn sent_alone(bench: &mut Bench) -> Vec<u16> {
    let injected = bench.take_injected();
    assert!(injected.iter().all(|(_, toward)| *toward == ONWARD));
    injected.iter().map(|(packet, _)| packet.ip.id).collect()
}

#[test]
fn the_first_ack_of_a_flow_goes_alone_and_the_others_ride_while_more_data_follows() {
    let mut bench = riding(&[]);
    holds(&mut bench, 1..4);
    assert_eq!(bench.held(), 3);
    let (bytes, packets) = bench.load(more(u8::MAX), ROOM).unwrap();
    assert_eq!((bytes.len(), &bytes[..HEADER], ids(&packets)), (HEADER + 3 * ACK, &[0, 3, 0][..], vec![1, 2, 3]));
    let counts =
        ["acks_carried", "bytes_carried", "carried_again", "acks_sent_alone"].map(|name| bench.counter(name));
    assert_eq!(counts, [3, 15, 0, 1]);
    // Another flow has no context yet.
    let other = ack(FlowId(4), 1, 9);
    assert_eq!(bench.pass(Place::ToAir, other.clone()), Some(other));
}

#[test]
fn without_more_data_an_ack_goes_alone_behind_those_that_were_held() {
    let mut bench = riding(&[]);
    holds(&mut bench, 1..3);
    assert_eq!(bench.load(last(u8::MAX), ROOM), None, "nothing follows that would say if it arrived");
    // The first of its segments lets go what was held; the ACK that answers it goes behind.
    let segment = data(IN, 0..1448);
    assert_eq!(bench.pass(Place::FromAir, segment.clone()), Some(segment));
    assert_eq!(sent_alone(&mut bench), [1, 2]);
    assert_eq!(bench.pass(Place::ToAir, nth(3)), Some(nth(3)));
    // If no segment goes up, the next ACK does it.
    let mut bench = riding(&[]);
    holds(&mut bench, 1..3);
    bench.load(last(u8::MAX), ROOM);
    assert_eq!(bench.pass(Place::ToAir, nth(3)), None);
    assert_eq!((sent_alone(&mut bench), bench.held(), bench.counter("acks_sent_alone")), (vec![1, 2, 3], 0, 4));
}

#[test]
fn acks_go_alone_until_the_mac_is_done_with_those_before_them() {
    let mut bench = riding(&[]);
    bench.load(last(u8::MAX), ROOM);
    assert!(bench.pass(Place::ToAir, nth(1)).is_some());
    let serial = bench.serial;
    bench.load(more(u8::MAX), ROOM);
    assert!(bench.pass(Place::ToAir, nth(2)).is_some(), "1 is in the MAC, and would be overtaken");
    let second = bench.serial;
    for (serial, id) in [(serial, 1), (second, 2)] {
        let report = delivered(serial, &bench);
        bench.report_with(&nth(id), &report);
    }
    holds(&mut bench, 3..4);
    // One of which nobody reports, since another scheme has ended it, is in the way for a second.
    let mut bench = riding(&[]);
    bench.load(last(u8::MAX), ROOM);
    assert!(bench.pass(Place::ToAir, nth(1)).is_some());
    bench.load(more(u8::MAX), ROOM);
    bench.now = SimTime::ZERO + Dur::from_ms(1001);
    holds(&mut bench, 2..3);
}

#[test]
fn what_was_loaded_is_loaded_again_until_a_data_frame_says_that_it_arrived() {
    let mut bench = riding(&[]);
    holds(&mut bench, 1..3);
    let first = bench.load(more(u8::MAX), ROOM).unwrap();
    holds(&mut bench, 3..4);
    // A request says nothing; a data frame with the old number that it did not arrive.
    assert_eq!(ids(&bench.load(None, ROOM).unwrap().1), [1, 2, 3]);
    let (bytes, packets) = bench.load(more(u8::MAX), ROOM).unwrap();
    assert_eq!((&bytes[..HEADER], ids(&packets)), (&[0, 3, 0][..], vec![1, 2, 3]));
    assert_eq!((bench.counter("acks_carried"), bench.counter("carried_again"), first.1.len()), (3, 5, 2));
    // Two of three have.
    let (bytes, packets) = bench.load(more(1), ROOM).unwrap();
    assert_eq!((&bytes[..HEADER], ids(&packets)), (&[2, 1, 0][..], vec![3]));
    assert_eq!(bench.load(more(2), ROOM), None);
    // They end when the agent is asked next.
    assert_eq!(bench.held(), 3);
    bench.pass(Place::FromAir, data(IN, 0..1448));
    assert_eq!((bench.held(), sent_alone(&mut bench)), (0, vec![]));
}

#[test]
fn what_a_data_frame_without_more_data_does_not_confirm_goes_alone() {
    let mut bench = riding(&[]);
    holds(&mut bench, 1..4);
    bench.load(more(u8::MAX), ROOM).unwrap();
    assert_eq!(bench.load(last(0), ROOM), None);
    bench.pass(Place::FromAir, data(IN, 0..1448));
    assert_eq!(sent_alone(&mut bench), [2, 3]);
    // The next load begins with what the other end expects.
    let reports: Vec<u64> = (0..100).collect();
    for serial in reports {
        let report = delivered(serial, &bench);
        bench.report_with(&nth(2), &report);
    }
    bench.load(more(0), ROOM);
    holds(&mut bench, 4..5);
    assert_eq!(bench.load(more(0), ROOM).unwrap().0[..HEADER], [1, 1, 0]);
}

#[test]
fn a_request_gets_no_load_while_it_is_not_known_what_has_arrived() {
    let (mut bench, mut other) = (riding(&[]), bench(&[]));
    holds(&mut bench, 1..2);
    // It arrives, and goes alone too, before a segment of its flow.
    assert_eq!(other.unload(bench.load(more(u8::MAX), ROOM)).len(), 1);
    assert_eq!(bench.pass(Place::ToAir, data(OUT, 1..2)), None);
    for serial in bench.injected_serials.clone() {
        let report = delivered(serial, &bench);
        bench.report_with(&nth(1), &report);
    }
    holds(&mut bench, 2..3);
    // Under the old number it would be taken for the one before.
    assert_eq!(bench.load(None, ROOM), None);
    let load = bench.load(other.cue(true), ROOM);
    assert_eq!(ids(&other.unload(load)), [2]);
}

#[test]
fn numbers_go_round() {
    let mut bench = riding(&[]);
    let mut number = u8::MAX;
    for n in 1..600 {
        holds(&mut bench, n..n + 1);
        let (bytes, packets) = bench.load(more(number), ROOM).unwrap();
        assert_eq!((bytes[0], ids(&packets)), (number.wrapping_add(1), vec![n]));
        number = bytes[0];
    }
}

#[test]
fn what_has_no_room_waits_and_the_other_end_hears_how_much_it_is() {
    let mut bench = riding(&[]);
    holds(&mut bench, 1..11);
    let (bytes, packets) = bench.load(more(u8::MAX), Bytes(3 + 4 * 4 + 3)).unwrap();
    assert_eq!((&bytes[..HEADER], ids(&packets)), (&[0, 4, 6][..], vec![1, 2, 3, 4]));
    assert_eq!(bench.load(more(3), Bytes(6)), None, "not even one");
    assert_eq!(ids(&bench.load(more(3), ROOM).unwrap().1), [5, 6, 7, 8, 9, 10]);
}

#[test]
fn sack_blocks_take_what_rohc_tcp_takes() {
    // Offsets below 2^15 take 2 octets, below 2^22 3, below 2^29 4, others 5.
    let with = |blocks: &[(u32, u32)]| {
        let mut packet = nth(1);
        let tcp = packet.tcp_mut().unwrap();
        let base = tcp.ack;
        let blocks: Vec<SeqRange> = blocks.iter().map(|(start, len)| SeqRange::new(base + *start, *len)).collect();
        tcp.options.push_sack(&blocks);
        let mut bench = riding(&[]);
        assert_eq!(bench.pass(Place::ToAir, packet), None);
        bench.load(more(u8::MAX), ROOM).unwrap().0.len() - HEADER - ACK
    };
    assert_eq!(with(&[]), 0);
    assert_eq!(with(&[(1448, 1448)]), 2 + 2);
    assert_eq!(with(&[(0x8000, 0x7fff)]), 3 + 2);
    assert_eq!(with(&[(0x40_0000, 0x3f_ffff), (1, 1)]), 4 + 3 + 2 + 2);
    assert_eq!(with(&[(0x2000_0000, 1)]), 5 + 2);
    // A duplicate ACK says as much as a first.
    let mut bench = riding(&[]);
    let dup = |id| Packet { ip: wire::Ipv4 { id, ..nth(1).ip }, ..nth(1) };
    for id in 1..5 {
        assert_eq!(bench.pass(Place::ToAir, dup(id)), None);
    }
    assert_eq!(bench.load(more(u8::MAX), ROOM).unwrap().1.len(), 4);
}

#[test]
fn an_ack_that_waits_too_long_goes_alone_and_the_other_end_knows_it_if_it_came_before() {
    let (mut bench, mut other) = (riding(&[]), bench(&[]));
    holds(&mut bench, 1..3);
    let load = bench.load(more(u8::MAX), ROOM);
    holds(&mut bench, 3..4);
    for packet in other.unload(load) {
        assert!(other.pass(Place::FromAir, packet).is_some());
    }
    assert_eq!((other.counter("acks_handed_up"), other.cue(true)), (2, more(1)));
    assert_eq!(bench.next_wakeup(), SimTime::ZERO + Dur::from_ms(50));
    assert!(bench.next_timer());
    assert_eq!(sent_alone(&mut bench), [1, 2, 3]);
    // 1 and 2 have arrived in the load.
    let up: Vec<bool> = (1..4).map(|n| other.pass(Place::FromAir, nth(n)).is_some()).collect();
    assert_eq!(up, [false, false, true]);
    // The same identification a second later is another ACK's.
    other.now += Dur::from_ms(1001);
    assert!(other.pass(Place::FromAir, nth(1)).is_some());
    // Nothing rides before a data frame has said what is known.
    assert!(bench.pass(Place::ToAir, nth(4)).is_some());
    assert_eq!(bench.load(None, ROOM), None);
}

#[test]
fn a_load_that_comes_again_is_taken_out_once() {
    let (mut bench, mut other) = (riding(&[]), bench(&[]));
    holds(&mut bench, 1..3);
    assert_eq!(ids(&other.unload(bench.load(more(u8::MAX), ROOM))), [1, 2]);
    holds(&mut bench, 3..5);
    assert_eq!(ids(&other.unload(bench.load(None, ROOM))), [3, 4]);
    assert_eq!(other.unload(bench.load(None, ROOM)), vec![]);
    assert_eq!((other.cue(false), other.counter("acks_handed_up")), (last(3), 4));
}

#[test]
fn the_room_follows_what_segments_took_before() {
    let mut bench = bench(&[]);
    assert_eq!(bench.room(), Bytes(0));
    let segments = |bench: &mut Bench, n: u32| {
        (0..n).for_each(|i| bench.report(&data(OUT, i * 1448..(i + 1) * 1448), Fate::Delivered))
    };
    // An ACK for each segment, and one more.
    segments(&mut bench, 10);
    assert_eq!(bench.room(), Bytes(3 + 10 * 4 + 4));
    // Five came for ten, and nothing is left: 2 B a segment.
    let load = |n: u8, first: u8, left: u8| {
        let packets = (0..u16::from(n)).map(|i| nth(u16::from(first) + i)).collect();
        let mut bytes = vec![first, n, left];
        bytes.resize(HEADER + usize::from(n) * ACK, 0);
        Some((bytes, packets))
    };
    bench.unload(load(5, 0, 0));
    assert_eq!(bench.room(), Bytes(0), "nothing was delivered since");
    segments(&mut bench, 20);
    assert_eq!(bench.room(), Bytes(3 + 20 * 2 + 4));
    // Five of twelve had room: seven are left, 12 for 20 segments, 48 B.
    bench.unload(load(5, 5, 7));
    segments(&mut bench, 10);
    assert_eq!(bench.room(), Bytes(3 + 7 * 4 + 24 + 4));
    // None came: those that come alone need no room.
    bench.unload(None);
    segments(&mut bench, 10);
    assert_eq!(bench.room(), Bytes(3 + 4));
    // Never above the most.
    segments(&mut bench, 1);
    bench.unload(load(1, 10, 255));
    assert_eq!(bench.room(), Bytes(1024));
}

#[test]
fn too_many_go_alone() {
    // 3 + 3 · 4 B are a load at most; four more do not fit into the next.
    let set = [("most", Value::Size(Bytes(16)))];
    let mut bench = riding(&set);
    holds(&mut bench, 1..9);
    assert_eq!(ids(&bench.load(more(u8::MAX), ROOM).unwrap().1), [1, 2, 3]);
    bench.pass(Place::FromAir, data(IN, 0..1448));
    assert_eq!(sent_alone(&mut bench), (1..9).collect::<Vec<_>>());
    // An ACK that no load can carry goes alone at once.
    let mut bench = riding(&[("most", Value::Size(Bytes(16))), ("compressed_ack", Value::Size(Bytes(14)))]);
    assert!(bench.pass(Place::ToAir, nth(1)).is_some());
}

#[test]
fn nothing_but_pure_acks_rides_and_nothing_of_a_flow_overtakes() {
    let with = |flags| segment(OUT, flags, Seq(1), 0, Seq(1), 9);
    for other in [
        with(Flags::SYN),
        with(Flags::FIN | Flags::ACK),
        with(Flags::RST),
        with(Flags::RST | Flags::ACK),
        data(OUT, 1..2),
    ] {
        let mut bench = riding(&[]);
        assert_eq!(bench.pass(Place::ToAir, other.clone()), Some(other.clone()), "{other:?}");
        let mut bench = riding(&[]);
        holds(&mut bench, 1..3);
        assert_eq!(bench.pass(Place::ToAir, other.clone()), None);
        let sent: Vec<Packet> = bench.take_injected().into_iter().map(|(packet, _)| packet).collect();
        assert_eq!(sent, [nth(1), nth(2), other]);
    }
    // Segments of flows without ACKs pass those that are held.
    let mut bench = riding(&[]);
    holds(&mut bench, 1..3);
    assert!(bench.pass(Place::ToAir, data(FlowId(6), 0..1448)).is_some());
    assert_eq!(bench.held(), 2);
}

#[test]
fn what_is_held_follows_its_station_to_another_access_point_and_ends_with_its_node() {
    let mut bench = riding(&[]);
    holds(&mut bench, 1..3);
    bench.peer(THERE, PeerEvent::Down);
    let routed: Vec<_> = bench.take_injected();
    assert!(routed.len() == 2 && routed.iter().all(|(_, toward)| *toward == Toward::Route));
    assert!(bench.pass(Place::ToAir, nth(3)).is_some());
    bench.pair();
    assert!(bench.pass(Place::ToAir, nth(4)).is_some(), "contexts are void");
    let mut bench = riding(&[]);
    holds(&mut bench, 1..3);
    bench.release();
    assert_eq!((bench.held(), bench.take_injected()), (0, vec![]));
}

#[test]
fn a_connection_that_has_closed_is_forgotten() {
    let mut bench = riding(&[]);
    bench.closed(OUT);
    assert!(bench.pass(Place::ToAir, nth(1)).is_some(), "its number may be another's now");
}

#[test]
fn a_node_without_block_acknowledgment_and_a_scheme_that_makes_acks_refuse_it_in_one_line() {
    let at = |mac| Ground::new(node(HERE, 2)).with_mac(mac).install(&scheme("hack", &[]));
    let line = "hack at \"node\": it loads Block Acks, and this radio gets none; write standard = \"802.11n\" or later in [radio], and \
                no block_ack = [] in [radio.aggregation]";
    assert_eq!(at(dcf(Standard::A)), Err(line.to_owned()));
    assert_eq!(at(edca(Standard::A)), Err(line.to_owned()));
    let mut none = aggregating(Standard::Ac);
    none.aggregation = none.aggregation.map(|own| mac::Aggregation { tids: 0, ..own });
    assert_eq!(at(none), Err(line.to_owned()));
    assert_eq!(at(aggregating(Standard::Ac)), Ok(true));
    for (one, two) in [("lle-tcp", "hack"), ("hack", "lle-tcp")] {
        let mut ground = Ground::new(node(HERE, 2)).with_mac(aggregating(Standard::Ac));
        assert_eq!(ground.install(&scheme(one, &[])), Ok(true));
        let line = ground.install(&scheme(two, &[])).unwrap_err();
        assert_eq!(line, format!("{one} and {two} both claim the TCP ACKs of \"node\""));
    }
    let wired = NodeFacts { has_air: false, ..node(HERE, 2) };
    assert_eq!(Ground::new(wired).install(&scheme("hack", &[])), Ok(false));
}

/// One step of a link.
#[derive(Debug, Clone)]
enum Step {
    /// The host sends an ACK, or a segment.
    Sends(bool),
    /// Data, of which the receiver gets nothing, or something, and whose Block Ack is lost or not.
    Data { more: bool, comes: bool, goes_up: bool, answer_comes: bool },
    /// A request.
    Request { answer_comes: bool },
    /// The MAC delivers what it has had longest, or gives it up.
    Alone { is_lost: bool },
    /// So many milliseconds pass.
    Waits(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let often = || prop::bool::weighted(0.7);
    prop_oneof![
        8 => prop::bool::weighted(0.05).prop_map(|is_data| Step::Sends(!is_data)),
        6 => (prop::bool::weighted(0.85), often(), often(), often())
            .prop_map(|(more, comes, goes_up, answer_comes)| Step::Data { more, comes, goes_up, answer_comes }),
        1 => often().prop_map(|answer_comes| Step::Request { answer_comes }),
        4 => prop::bool::weighted(0.05).prop_map(|is_lost| Step::Alone { is_lost }),
        1 => (1u64..60).prop_map(Step::Waits),
    ]
}

/// A host behind `here`, and what goes up at `there`.
struct Pair {
    here: Bench,
    there: Bench,
    in_mac: VecDeque<(Packet, u64)>,
    sent: u16,
    lost: Vec<u16>,
    up: Vec<u16>,
}

impl Pair {
    fn queue(&mut self) {
        let serials = self.here.injected_serials.clone();
        let injected = self.here.take_injected();
        self.in_mac.extend(injected.into_iter().map(|(packet, _)| packet).zip(serials));
    }

    fn goes_up(&mut self, packet: Packet) {
        if let Some(packet) = self.there.pass(Place::FromAir, packet) {
            self.up.push(packet.ip.id);
        }
    }

    fn answered(&mut self, cue: Option<Cue>, comes: bool, answer_comes: bool) {
        let room = self.there.room();
        let load = if comes { self.here.load(cue, room) } else { None };
        assert!(load.as_ref().is_none_or(|(bytes, _)| bytes.len() as u64 <= room.0));
        if comes && answer_comes {
            let up = self.there.unload(load);
            up.into_iter().for_each(|packet| self.goes_up(packet));
            if cue.is_some() {
                (0..4).for_each(|n| self.there.report(&data(OUT, n * 1448..(n + 1) * 1448), Fate::Delivered));
            }
        }
    }

    fn live(&mut self, step: &Step) {
        match *step {
            Step::Sends(is_ack) => {
                self.sent += 1;
                let mut packet = if is_ack { nth(self.sent) } else { data(OUT, 1..2) };
                packet.ip.id = self.sent;
                if let Some(packet) = self.here.pass(Place::ToAir, packet) {
                    self.in_mac.push_back((packet, self.here.serial));
                }
            }
            Step::Data { more, comes, goes_up, answer_comes } => {
                let cue = self.there.cue(more);
                self.answered(cue, comes, answer_comes);
                if comes && goes_up {
                    self.here.pass(Place::FromAir, data(IN, 0..1448));
                }
            }
            Step::Request { answer_comes } => self.answered(None, true, answer_comes),
            Step::Alone { is_lost } => {
                let Some((packet, serial)) = self.in_mac.pop_front() else { return };
                let fate = if is_lost { Fate::GivenUp } else { Fate::Delivered };
                if is_lost {
                    self.lost.push(packet.ip.id);
                } else {
                    self.goes_up(packet.clone());
                }
                let report = TxReport { fate, ..delivered(serial, &self.here) };
                self.here.report_with(&packet, &report);
            }
            Step::Waits(ms) => {
                let until = self.here.now + Dur::from_ms(ms);
                while self.here.next_wakeup() <= until {
                    self.here.next_timer();
                    self.queue();
                }
                (self.here.now, self.there.now) = (until, until);
            }
        }
        self.queue();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn each_ack_arrives_once_and_in_its_order_whatever_is_lost(
        steps in prop::collection::vec(step(), 1..300),
        most in prop::sample::select(vec![16u64, 64, 1024]),
    ) {
        let set = [("most", Value::Size(Bytes(most)))];
        let (in_mac, lost, up) = (VecDeque::new(), Vec::new(), Vec::new());
        let mut pair = Pair { here: bench(&set), there: bench(&set), in_mac, sent: 0, lost, up };
        for step in &steps {
            pair.live(step);
            prop_assert!(pair.up.is_sorted_by(|a, b| a < b), "{:?}", pair.up);
        }
        // The link goes quiet, without losses.
        let quiet = Step::Data { more: false, comes: true, goes_up: true, answer_comes: true };
        [quiet, Step::Waits(60)].iter().for_each(|step| pair.live(step));
        while !pair.in_mac.is_empty() {
            pair.live(&Step::Alone { is_lost: false });
        }
        prop_assert_eq!(pair.here.held(), 0);
        prop_assert!(pair.up.is_sorted_by(|a, b| a < b), "{:?}", pair.up);
        // What the MAC gave up had come in a load before, or is what is missing.
        let missing: Vec<u16> = (1..=pair.sent).filter(|id| !pair.up.contains(id)).collect();
        prop_assert!(missing.iter().all(|id| pair.lost.contains(id)), "{:?} of {:?}", missing, pair.lost);
    }
}
