//! Block Acks with a load: their airtime, the Durations that cover it, and what goes up.
//!
//! Radios and times as in `block_ack`: 802.11a at 54 Mb/s, control frames at 24. A Block Ack of 32 B with a load of n bytes lasts
//! 20 + 4 · ⌈(22 + 8 · (32 + n)) / 96⌉ µs: 32 without one, 36 with 12 B, 40 with 24 B.

use crate::edca::harness::{
    A, ACK, AIFS, B, BE, Build, C, D, NOBODY, Net, QOS, SIFS, SLOT, backoffs, category, edca, frame, tos,
};
use mac::{AfterSilence, Aggregation, Config, Cue, Delivery, Frame, Kind, Load, MacOptions, MpduSet, Piggyback};
use queue::Limit;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Dur, FlowId, NodeId};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

const TWO: u64 = 480;
const THREE: u64 = 708;
const REQUEST: u64 = 32;
const PLAIN: u64 = 32;
const WITH_12: u64 = 36;
const WITH_24: u64 = 40;

/// The packet of a load, by its flow.
const RIDER: u32 = 7_000;

/// A question to the recipient: kind of the frame, room, cue.
type Asked = (Kind, u64, Option<Cue>);

/// Both ends: a neighbour's Block Ack may have `room` bytes more; an own one gets `len` of them if they fit, with a packet.
#[derive(Debug, Clone)]
struct End {
    room: u64,
    len: u64,
    asked: Rc<RefCell<Vec<Asked>>>,
}

impl Piggyback for End {
    fn room(&self, _: NodeId) -> Bytes {
        Bytes(self.room)
    }

    fn cue(&self, _: NodeId, more_data: bool) -> Option<Cue> {
        Some(Cue { more_data, number: 9 })
    }

    fn load(&mut self, frame: &Frame, got: &MpduSet, room: Bytes, all: &mut Packets) -> Option<Load> {
        let heard = got.iter().find_map(|place| frame.psdu.mpdus()[place].data());
        self.asked.borrow_mut().push((frame.kind, room.0, heard.and_then(|data| data.cue)));
        if self.len == 0 || self.len > room.0 {
            return None;
        }
        let (ip, l4) = (Ipv4::default(), L4::Udp(Udp::default()));
        let pkt = all.put(Packet { ip, l4, payload: Payload::EMPTY, flow: FlowId(RIDER) });
        let packet = all.share(&pkt);
        all.free(pkt, DropWhy::Delivered);
        Some(Load { bytes: vec![0; self.len as usize].into(), packets: [packet].into() })
    }

    fn unload(&mut self, frame: &Frame, all: &mut Packets, up: &mut dyn FnMut(Delivery)) {
        let packets = frame.psdu.mpdus()[0].load().map_or(&[][..], |load| &load.packets);
        for packet in packets {
            up(Delivery { pkt: all.copy_shared(packet), from: frame.from, options: MacOptions::within(0) });
        }
    }
}

/// Four stations, of which A expects loads of `room` bytes and B has loads of `len`. As in `block_ack`, a frame of C's is over at 348.
struct Cell {
    net: Net,
    start: u64,
    asked: Rc<RefCell<Vec<Asked>>>,
}

fn cell(own: Aggregation, msdus: usize, (room, len): (u64, u64)) -> Cell {
    cell_of(&Config { aggregation: Some(own), ..edca(|_| ()) }, msdus, (room, len))
}

fn cell_of(config: &Config, msdus: usize, (room, len): (u64, u64)) -> Cell {
    let configs = [0; 4].map(|_| config.clone());
    let mut net = Net::build(&Build { limit: Limit::Packets(1000), ..Build::of(&configs) });
    let asked = Rc::default();
    let end = End { room, len: 0, asked: Rc::clone(&asked) };
    net.stations[A.index()].load_by(Box::new(end.clone()));
    net.stations[B.index()].load_by(Box::new(End { room: 0, len, ..end }));
    net.air(100, frame(Kind::Data, C, NOBODY, 0));
    (0..msdus).for_each(|_| _ = net.offer(200, A, B, tos(BE)));
    let slots = u64::from(backoffs(A, BE).below(16)) * SLOT;
    Cell { net, start: 100 + 248 + AIFS[1] + slots, asked }
}

impl Cell {
    fn run(&mut self) -> &mut Cell {
        self.net.run_out(2_000_000);
        self
    }

    /// Frames of A and B: kind, start, airtime, Duration.
    fn sent(&self) -> Vec<(Kind, u64, u64, u64)> {
        self.net.sent_by(&[A, B])
    }

    /// Times at which packets of loads went up at A.
    fn up(&self) -> Vec<u64> {
        let up = self.net.delivered.iter().filter(|it| (it.node, it.from, it.nth) == (A, B, RIDER));
        up.map(|it| it.when).collect()
    }
}

const HT: Aggregation = Aggregation::HT;

#[test]
fn the_duration_of_data_covers_the_longest_load_and_a_block_ack_is_longer_by_its_own() {
    // 40 µs hold 57 B: a room of 25 for one of 24 that was announced.
    for (len, lasts) in [(24, WITH_24), (12, WITH_12), (0, PLAIN), (26, PLAIN)] {
        let mut cell = cell(HT, 2, (24, len));
        let (start, end) = (cell.start, cell.start + TWO);
        cell.run();
        assert_eq!(
            cell.sent(),
            [(Kind::Data, start, TWO, SIFS + WITH_24), (Kind::BlockAck, end + SIFS, lasts, WITH_24 - lasts),],
            "{len}"
        );
        let is_loaded = lasts > PLAIN;
        assert_eq!(cell.up(), if is_loaded { vec![end + SIFS + lasts] } else { vec![] }, "{len}");
        let data: Vec<_> = cell.net.delivered.iter().filter(|it| it.node == B).map(|it| it.when).collect();
        assert_eq!(data, [end; 2]);
        let cue = Some(Cue { more_data: false, number: 9 });
        assert_eq!(*cell.asked.borrow(), [(Kind::Data, 25, cue)]);
    }
}

#[test]
fn a_third_station_waits_for_the_end_that_was_announced() {
    // C is handed something while the data last. What B leaves of its room is lost to C.
    for (room, len, reserved) in [(24, 24, WITH_24), (24, 12, WITH_24), (0, 12, PLAIN)] {
        let mut cell = cell(HT, 2, (room, len));
        let end = cell.start + TWO;
        cell.net.offer(end - 10, C, D, tos(BE));
        cell.run();
        let slots = u64::from(backoffs(C, BE).below(16)) * SLOT;
        assert_eq!(cell.net.data_starts(C)[1..], [end + SIFS + reserved + AIFS[1] + slots], "{room} {len}");
    }
}

#[test]
fn a_load_is_lost_with_its_block_ack_and_comes_again_with_the_next() {
    // A hears C in the middle of the Block Ack: longer than that without a load, so beyond its end.
    let mut cell = cell(HT, 2, (24, 24));
    let (start, end) = (cell.start, cell.start + TWO);
    cell.net.air(end + SIFS + PLAIN + 2, frame(Kind::Ack, C, NOBODY, 0));
    cell.run();
    let sent = cell.sent();
    let kinds: Vec<Kind> = sent.iter().map(|it| it.0).collect();
    assert_eq!(kinds, [Kind::Data, Kind::BlockAck, Kind::Data, Kind::BlockAck]);
    assert_eq!((sent[0].1, sent[1].2, sent[3].2), (start, WITH_24, WITH_24));
    assert_eq!(cell.up(), [sent[3].1 + WITH_24], "once");
}

#[test]
fn a_load_that_never_goes_out_is_given_back() {
    // B dies in the gap before its Block Ack.
    let mut cell = cell(HT, 2, (24, 24));
    let end = cell.start + TWO;
    cell.net.kill(end + 5, B);
    cell.run();
    assert_eq!((cell.up(), cell.net.of(B, Kind::BlockAck).len(), cell.asked.borrow().len()), (vec![], 0, 1));
}

#[test]
fn a_request_covers_a_load_too() {
    let mut cell = cell(Aggregation { after_silence: AfterSilence::Request, ..HT }, 2, (24, 12));
    let end = cell.start + TWO;
    cell.net.air(end + SIFS + 2, frame(Kind::Ack, C, NOBODY, 0));
    cell.run();
    let sent = cell.sent();
    let asked = sent[2].1;
    assert_eq!(
        sent[2..],
        [
            (Kind::BlockAckReq, asked, REQUEST, SIFS + WITH_24),
            (Kind::BlockAck, asked + REQUEST + SIFS, WITH_12, WITH_24 - WITH_12),
        ]
    );
    assert_eq!(cell.up(), [asked + REQUEST + SIFS + WITH_12]);
    assert_eq!(cell.asked.borrow()[1], (Kind::BlockAckReq, 25, None));
}

#[test]
fn an_mpdu_alone_gets_an_ack_without_a_load_and_says_its_cue() {
    let mut cell = cell(HT, 1, (24, 24));
    let start = cell.start;
    cell.run();
    assert_eq!(cell.sent(), [(Kind::Data, start, QOS, SIFS + ACK), (Kind::Ack, start + QOS + SIFS, ACK, 0)]);
    assert_eq!(*cell.asked.borrow(), [(Kind::Data, 0, Some(Cue { more_data: false, number: 9 }))]);
    assert_eq!(cell.up(), []);
}

#[test]
fn a_cue_says_that_more_waits_for_the_same_receiver_and_tid() {
    let mut cell = cell(Aggregation { mpdus: 2, ..HT }, 5, (24, 0));
    // For others, and of another category.
    (0..4).for_each(|_| _ = cell.net.offer(200, A, C, tos(BE)));
    cell.run();
    let more: Vec<_> = cell.asked.borrow().iter().map(|(.., cue)| cue.map(|cue| cue.more_data)).collect();
    assert_eq!(more, [Some(true), Some(true), Some(false)]);
}

#[test]
fn what_failed_and_waits_again_is_more_data_too() {
    // The window is two: the first of four is lost, and goes alone before the last two.
    let mut cell = cell(Aggregation { buffer: 2, ..HT }, 4, (24, 0));
    let start = cell.start;
    cell.net.air(start + 100, frame(Kind::Ack, D, NOBODY, 0));
    cell.run();
    let more: Vec<_> = cell.asked.borrow().iter().map(|(.., cue)| cue.map(|cue| cue.more_data)).collect();
    assert_eq!(more, [Some(true), Some(true), Some(false)]);
}

#[test]
fn an_opportunity_has_room_for_the_load() {
    // 756 µs hold three MPDUs and a plain Block Ack; with what a load may take, two.
    let limited = |room| {
        let mut config = Config { aggregation: Some(HT), ..edca(|_| ()) };
        category(&mut config, BE).txop_limit = Dur::from_us(THREE + SIFS + PLAIN);
        let mut cell = cell_of(&config, 3, (room, 0));
        cell.run();
        cell.net.of(A, Kind::Data).iter().map(|it| it.end - it.start).collect::<Vec<_>>()
    };
    assert_eq!(limited(0), [THREE]);
    assert_eq!(limited(24), [TWO, QOS]);
}

#[test]
fn an_rts_reserves_the_load() {
    let config = Config { aggregation: Some(HT), rts: mac::Rts { threshold: Some(Bytes(2000)) }, ..edca(|_| ()) };
    let mut cell = cell_of(&config, 2, (24, 12));
    cell.run();
    let rts = cell.net.of(A, Kind::Rts)[0].frame.duration.ns() / 1000;
    assert_eq!(rts, SIFS + ACK + SIFS + TWO + SIFS + WITH_24, "a CTS is as long as an Ack");
}
