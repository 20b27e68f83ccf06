//! The reverse direction: grants, bursts, and what becomes of an opportunity when either is lost. @80211-2020 10.29
//!
//! Radios and times as in `block_ack`: 802.11a at 54 Mb/s, control frames at 24. HT Control makes an MPDU of 1538 B one of 1542 B; two of them
//! are an A-MPDU of 3094 B: 20 + 4 · ⌈(22 + 8 · 3094) / 216⌉ = 480 µs, three 4642 B: 712. A Block Ack in its wrapper has 38 B:
//! 20 + 4 · ⌈(22 + 8 · 38) / 96⌉ = 36; a CF-End 20 B: 28.

use crate::block_ack::{Cell, cell_in};
use crate::edca::harness::{A, AIFS, B, BE, Build, C, D, Net, SIFS, SLOT, backoffs, category, edca, tos};
use mac::exchange::{self, Exchange, Job, Response};
use mac::{Aggregation, Config, Dcf, Fate, Frame, HtControl, Kind, Plan};
use queue::Limit;
use units::{Dur, NodeId};

const TWO: u64 = 480;
const THREE: u64 = 712;
const BLOCK_ACK: u64 = 32;
const WRAPPED: u64 = 36;
const CF_END: u64 = 28;
const GRANT: u64 = 1000;

/// Grants `most` behind each A-MPDU to these neighbours, and takes grants.
#[derive(Debug)]
pub struct Reversing {
    pub most: Dur,
    pub with: &'static [NodeId],
}

impl Plan for Reversing {
    fn exchange(&mut self, config: &Config, job: &Job) -> Exchange {
        Dcf.exchange(config, job)
    }

    fn respond(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response> {
        Dcf.respond(config, frame, nav_is_idle)
    }

    fn reverses(&self) -> bool {
        true
    }

    fn reverses_with(&self, to: NodeId) -> bool {
        self.with.contains(&to)
    }

    fn keeps_free(&self, to: NodeId) -> Dur {
        if self.reverses_with(to) { self.most } else { Dur::ZERO }
    }

    fn grant(&mut self, to: NodeId, left: Dur) -> Dur {
        self.keeps_free(to).min(left)
    }

    fn burst(&mut self, config: &Config, block_ack: &Frame, job: &Job) -> Option<Exchange> {
        exchange::burst(config, block_ack, job)
    }
}

/// Four stations, of which A and B reverse; an opportunity lasts `limit`. The rest is as in `block_ack`.
fn cell_with(own: Aggregation, limit: u64, grant: u64, msdus: usize) -> Cell {
    cell_of(&[A, B], own, limit, grant, msdus)
}

fn cell_of(with: &'static [NodeId], own: Aggregation, limit: u64, grant: u64, msdus: usize) -> Cell {
    let configs = [0; 4].map(|_| {
        let mut config = Config { aggregation: Some(own), ..edca(|_| ()) };
        category(&mut config, BE).txop_limit = Dur::from_us(limit);
        config
    });
    let plan = |node: NodeId| -> Box<dyn Plan> {
        let most = Dur::from_us(grant);
        if with.contains(&node) { Box::new(Reversing { most, with }) } else { Box::new(Dcf) }
    };
    let net = Net::build(&Build { limit: Limit::Packets(1000), plan: &plan, ..Build::of(&configs) });
    cell_in(net, msdus)
}

fn cell(msdus: usize) -> Cell {
    cell_with(Aggregation::HT, 4000, GRANT, msdus)
}

impl Cell {
    /// B gets so many for A while A's first A-MPDU is in the air.
    fn back(&mut self, msdus: usize) -> &mut Cell {
        (0..msdus).for_each(|_| _ = self.net.offer(self.start + 100, B, A, tos(BE)));
        self
    }

    /// The frames of a node, by kind.
    fn kinds(&self, node: NodeId) -> Vec<Kind> {
        self.net.sent.iter().filter(|it| it.from == node).map(|it| it.kind).collect()
    }

    /// Times at which packets went up at a node.
    fn handed_up(&self, node: NodeId) -> Vec<u64> {
        self.net.delivered.iter().filter(|it| it.node == node).map(|it| it.when).collect()
    }

    /// RDG/More PPDU of the data frames of a node.
    fn grants(&self, node: NodeId) -> Vec<Option<bool>> {
        let data = self.net.of(node, Kind::Data);
        data.iter().map(|it| it.frame.qos?.ht_control.map(|it| it.more_ppdu)).collect()
    }
}

/// A burst behind data of two MPDUs that end at `end`, of `data`, in a grant of `grant`.
fn burst(end: u64, grant: u64, data: u64) -> [(Kind, u64, u64, u64); 3] {
    let (block_ack, left) = (end + SIFS, BLOCK_ACK + grant - WRAPPED);
    let begins = block_ack + WRAPPED + SIFS;
    let left_behind = left - SIFS - data;
    [
        (Kind::BlockAck, block_ack, WRAPPED, left),
        (Kind::Data, begins, data, left_behind),
        (Kind::BlockAck, begins + data + SIFS, BLOCK_ACK, left_behind - SIFS - BLOCK_ACK),
    ]
}

#[test]
fn the_whole_burst_to_the_microsecond_and_what_is_left_is_given_back() {
    let mut cell = cell(2);
    let (start, end) = (cell.start, cell.start + TWO);
    cell.back(2).run();
    let burst = burst(end, GRANT, TWO);
    let over = burst[2].1 + BLOCK_ACK;
    let first = (Kind::Data, start, TWO, SIFS + BLOCK_ACK + GRANT);
    let last = (Kind::CfEnd, over + SIFS, CF_END, 0);
    assert_eq!(cell.sent(), [&[first], &burst[..], &[last]].concat());
    assert_eq!([cell.handed_up(B), cell.handed_up(A)], [[end; 2], [burst[1].1 + TWO; 2]]);
    assert_eq!([cell.grants(A), cell.grants(B)], [[Some(true)], [Some(false)]]);
    assert_eq!([cell.net.done(A), cell.net.done(B)], [[(Fate::Delivered, 1); 2]; 2]);
    let counters = cell.net.stations[1].counters();
    assert_eq!((counters.exchanges, counters.failures, counters.data_frames_sent), (1, 0, 2));
}

#[test]
fn a_third_station_waits_for_the_grant_or_for_the_frame_that_gives_it_back() {
    // C is handed something while A's data last: it has drawn, and counts down from the end of the CF-End.
    for back in [0, 2] {
        let mut cell = cell(2);
        let end = cell.start + TWO;
        cell.net.offer(end - 10, C, D, tos(BE));
        cell.back(back).run();
        let over = if back == 0 { end + SIFS + BLOCK_ACK } else { burst(end, GRANT, TWO)[2].1 + BLOCK_ACK };
        let slots = u64::from(backoffs(C, BE).below(16)) * SLOT;
        assert_eq!(cell.net.data_starts(C)[1..], [over + SIFS + CF_END + AIFS[1] + slots], "{back}");
    }
}

#[test]
fn without_anything_to_say_a_plain_block_ack_goes_and_the_opportunity_goes_on() {
    // Windows of two, four MSDUs.
    let mut cell = cell_with(Aggregation { mpdus: 2, ..Aggregation::HT }, 4000, GRANT, 4);
    let (start, further) = (cell.start, TWO + SIFS + BLOCK_ACK + SIFS);
    cell.run();
    let one = |start| {
        [(Kind::Data, start, TWO, SIFS + BLOCK_ACK + GRANT), (Kind::BlockAck, start + TWO + SIFS, BLOCK_ACK, GRANT)]
    };
    let end = (Kind::CfEnd, start + 2 * further, CF_END, 0);
    assert_eq!(cell.sent(), [&one(start)[..], &one(start + further), &[end]].concat());
}

#[test]
fn the_opportunity_goes_on_behind_a_burst() {
    let mut cell = cell_with(Aggregation { mpdus: 2, ..Aggregation::HT }, 4000, GRANT, 4);
    let end = cell.start + TWO;
    cell.back(2).run();
    let over = burst(end, GRANT, TWO)[2].1 + BLOCK_ACK;
    assert_eq!(cell.net.data_starts(A), [cell.start, over + SIFS]);
    assert_eq!(cell.kinds(B), [Kind::BlockAck, Kind::Data, Kind::BlockAck]);
}

#[test]
fn what_comes_while_the_opportunity_is_lent_goes_behind_the_burst_without_contention() {
    let mut cell = cell(2);
    let end = cell.start + TWO;
    let [_, data, answer] = burst(end, GRANT, TWO);
    (0..2).for_each(|_| _ = cell.net.offer(data.1 + 10, A, B, tos(BE)));
    cell.back(2).run();
    assert_eq!(cell.net.data_starts(A), [cell.start, answer.1 + BLOCK_ACK + SIFS]);
}

#[test]
fn a_burst_ends_within_its_grant() {
    // Room for the wrapper, three MPDUs and their Block Ack; a microsecond less leaves two.
    let room = (WRAPPED - BLOCK_ACK) + SIFS + THREE + SIFS + BLOCK_ACK;
    for (grant, data) in [(room, THREE), (room - 1, TWO)] {
        let mut cell = cell_with(Aggregation::HT, 4000, grant, 2);
        let end = cell.start + TWO;
        cell.back(3).run();
        assert_eq!(cell.sent()[1..4], burst(end, grant, data), "{grant}");
    }
    // Not even one: all go by contention.
    let mut cell = cell_with(Aggregation::HT, 4000, 100, 2);
    cell.back(3).run();
    assert_eq!((cell.sent()[1].2, cell.net.of(B, Kind::Data).len()), (BLOCK_ACK, 1));
    let given_back = cell.start + TWO + SIFS + BLOCK_ACK + SIFS + CF_END;
    assert!(cell.net.data_starts(B)[0] >= given_back + AIFS[1]);
}

#[test]
fn an_a_mpdu_leaves_its_grant_free() {
    // 16 MSDUs fill an opportunity of 2 ms: room for 1952 µs of a PPDU, eight MPDUs, or with a grant of 1000 for 952, four.
    let lengths = |grant| {
        let mut cell = cell_with(Aggregation::HT, 2000, grant, 16);
        cell.run();
        let data = cell.net.of(A, Kind::Data);
        (data[0].end - data[0].start, data[0].frame.duration.ns() / 1000)
    };
    assert_eq!(lengths(0), (1856, SIFS + BLOCK_ACK));
    assert_eq!(lengths(GRANT), (940, SIFS + BLOCK_ACK + GRANT));
}

#[test]
fn a_lost_block_ack_loses_the_burst_nothing() {
    let mut cell = cell(2);
    let end = cell.start + TWO;
    cell.jam(end + SIFS + 2).back(2).run();
    let [lost, data, answer] = burst(end, GRANT, TWO);
    assert_eq!(cell.sent()[1..4], [lost, data, answer], "A answers what it can read");
    assert_eq!([cell.net.done(A), cell.net.done(B)], [[(Fate::Delivered, 2); 2], [(Fate::Delivered, 1); 2]]);
    assert_eq!([cell.handed_up(A).len(), cell.handed_up(B).len()], [2, 2], "once each");
}

#[test]
fn a_lost_burst_ends_the_opportunity_and_is_tried_again_by_contention() {
    let mut cell = cell_with(Aggregation { mpdus: 2, ..Aggregation::HT }, 6000, GRANT, 4);
    let end = cell.start + TWO;
    let [_, data, answer] = burst(end, GRANT, TWO);
    // Both MPDUs: from the first to the second.
    (0..9).for_each(|i| _ = cell.jam(data.1 + 30 + i * 40));
    cell.back(2).run();
    assert!(cell.net.data_starts(A)[1] > answer.1 + AIFS[1], "A contends again");
    let attempts: Vec<_> = cell.net.done(B);
    assert_eq!(attempts, [(Fate::Delivered, 2); 2]);
    assert_eq!([cell.handed_up(A).len(), cell.handed_up(B).len()], [2, 4]);
}

#[test]
fn a_burst_that_does_not_come_costs_a_timeout() {
    // B dies in the gap before its data. The timeout is a SIFS, a slot and the start of a preamble: 50 µs behind the Block Ack.
    let mut cell = cell_with(Aggregation { mpdus: 2, ..Aggregation::HT }, 6000, GRANT, 4);
    let end = cell.start + TWO;
    let [block_ack, ..] = burst(end, GRANT, TWO);
    cell.net.kill(block_ack.1 + WRAPPED + 5, B);
    cell.back(2).run();
    let over = block_ack.1 + WRAPPED + 50;
    let slots: Vec<u64> = {
        let mut draws = backoffs(A, BE);
        (0..2).map(|_| u64::from(draws.below(16)) * SLOT).collect()
    };
    let next = cell.net.data_starts(A)[1];
    assert!((over + slots[1]..=over + AIFS[1] + SLOT + slots[1]).contains(&next), "{next} {over} {slots:?}");
}

#[test]
fn one_mpdu_in_either_direction() {
    // An Ack grants nothing and takes no grant; a burst of one MPDU is answered by an Ack.
    let mut cell = cell(1);
    cell.back(2).run();
    assert_eq!(cell.kinds(A)[0], Kind::Data);
    assert_eq!((cell.kinds(B)[0], cell.grants(A)), (Kind::Ack, vec![Some(false)]));
    let mut cell = self::cell(2);
    cell.back(1).run();
    assert_eq!(cell.kinds(B), [Kind::BlockAck, Kind::Data]);
    assert_eq!(cell.kinds(A), [Kind::Data, Kind::Ack, Kind::CfEnd]);
}

#[test]
fn a_neighbour_without_it_gets_no_ht_control_and_no_grant() {
    let mut cell = cell(0);
    (0..2).for_each(|_| _ = cell.net.offer(200, A, C, tos(BE)));
    cell.run();
    let data = cell.net.of(A, Kind::Data)[0];
    assert_eq!(
        (data.frame.qos.and_then(|it| it.ht_control), data.frame.duration.ns() / 1000),
        (None, SIFS + BLOCK_ACK)
    );
    let granted = HtControl { more_ppdu: true };
    assert!(cell.net.sent.iter().all(|it| it.frame.qos.and_then(|it| it.ht_control) != Some(granted)));
}

#[test]
fn other_categories_of_the_initiator_stand_back_while_it_yields() {
    // AC_VO has something when the burst is due, and its AIFS is shorter than the timeout.
    let mut cell = cell_with(Aggregation { mpdus: 2, ..Aggregation::HT }, 6000, GRANT, 4);
    let end = cell.start + TWO;
    let [block_ack, data, answer] = burst(end, GRANT, TWO);
    cell.net.offer(block_ack.1, A, D, tos(3));
    cell.back(2).run();
    assert_eq!(cell.sent()[1..4], [block_ack, data, answer]);
}

#[test]
fn the_nav_that_the_initiator_has_set_in_the_exchange_before_stops_no_burst() {
    // The first A-MPDU, for C, reserves 1000 µs that C has nothing for; the second, for B, follows in the same opportunity.
    let mut cell = cell_of(&[A, B, C], Aggregation { mpdus: 2, ..Aggregation::HT }, 6000, GRANT, 0);
    (0..2).for_each(|_| _ = cell.net.offer(200, A, C, tos(BE)));
    (0..2).for_each(|_| _ = cell.net.offer(200, A, B, tos(BE)));
    (0..2).for_each(|_| _ = cell.net.offer(cell.start + 100, B, A, tos(BE)));
    let second = cell.start + TWO + SIFS + BLOCK_ACK + SIFS;
    cell.run();
    assert_eq!(cell.net.data_starts(A), [cell.start, second]);
    assert_eq!(cell.sent()[2..5], burst(second + TWO, GRANT, TWO));
}
