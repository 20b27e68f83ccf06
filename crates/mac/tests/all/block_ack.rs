//! Block acknowledgment as stations agree on it. @80211-2020 10.25
//!
//! 802.11a at 54 Mb/s, control frames at 24, times in µs: what aggregates does not ask for a format. A datagram of 1500 B is an MPDU
//! of 1538 B. Two, three, four of them are A-MPDUs of 3086, 4630, 6174 B: 20 + 4 · ⌈(22 + 8 · 4630) / 216⌉ = 708. A Block Ack of 32 B
//! lasts 20 + 4 · ⌈278 / 96⌉ = 32, a Block Ack Request of 24 B 20 + 4 · ⌈214 / 96⌉ = 32.

use crate::edca::harness::{
    A, ACK, AIFS, B, BE, Build, C, CLEAN, D, HIT, NOBODY, Net, QOS, SIFS, SLOT, VI, backoffs, frame, tos,
};
use mac::{AMpdus, AfterSilence, Aggregation, Config, Discard, Fate, Kind, Rts, Sent};
use queue::Limit;
use units::{Bytes, Dur};

const TWO: u64 = 480;
const THREE: u64 = 708;
const FOUR: u64 = 936;
const BLOCK_ACK: u64 = 32;
const REQUEST: u64 = 32;
/// Inside the first MPDU behind its header (21 … 249), inside the second (249 … 477).
const FIRST: u64 = 100;
const SECOND: u64 = 300;

fn aggregating(own: Aggregation) -> Config {
    Config { aggregation: Some(own), ..crate::edca::harness::edca(|_| ()) }
}

/// Four stations. A frame of C's is over at 348; what A is handed before waits for an AIFS and its first backoff.
pub struct Cell {
    pub net: Net,
    pub start: u64,
    /// Of A's further backoffs, with the first window.
    slots: Vec<u64>,
}

fn cell(own: Aggregation, msdus: usize) -> Cell {
    let configs = [0; 4].map(|_| aggregating(own));
    cell_in(Net::build(&Build { limit: Limit::Packets(1000), ..Build::of(&configs) }), msdus)
}

/// The same in a net of four stations.
pub fn cell_in(mut net: Net, msdus: usize) -> Cell {
    net.air(100, frame(Kind::Data, C, NOBODY, 0));
    for _ in 0..msdus {
        net.offer(200, A, B, tos(BE));
    }
    let mut draws = backoffs(A, BE);
    let slots: Vec<u64> = (0..9).map(|_| u64::from(draws.below(16)) * SLOT).collect();
    Cell { net, start: 100 + 248 + AIFS[1] + slots[0], slots: slots[1..].to_vec() }
}

impl Cell {
    /// 28 µs of D's signal at B.
    pub fn jam(&mut self, when: u64) -> &mut Cell {
        self.net.air(when, frame(Kind::Ack, D, NOBODY, 0));
        self
    }

    pub fn run(&mut self) -> &mut Cell {
        self.net.run_out(2_000_000);
        self
    }

    /// Frames of A and B: kind, start, airtime, Duration.
    pub fn sent(&self) -> Vec<(Kind, u64, u64, u64)> {
        self.net.sent_by(&[A, B])
    }

    /// Kinds of A's frames and their airtimes.
    fn frames(&self) -> Vec<(Kind, u64)> {
        self.net.sent.iter().filter(|sent| sent.from == A).map(|it| (it.kind, it.end - it.start)).collect()
    }

    /// Packets that B handed up: when, and which of them, from 0 on.
    fn up(&self) -> Vec<(u64, u32)> {
        self.net.delivered.iter().map(|it| (it.when, it.nth)).collect()
    }
}

const HT: Aggregation = Aggregation::HT;
/// A window of 64, and nothing else that limits.
const HE_OF_64: Aggregation = Aggregation { mpdus: 64, buffer: 64, time: Dur::from_ms(100), ..Aggregation::HE };

#[test]
fn an_opportunity_is_filled_and_announces_the_aggregate_that_follows() {
    // 900 µs: room for 852 µs of a PPDU, three MPDUs; nothing fits into the 128 that are left. 2 ms: room for 1952 µs of a PPDU, eight
    // MPDUs, 20 + 4 · ⌈(22 + 8 · (7 · 1544 + 1542)) / 216⌉ = 1852.
    let with_limit = |us: u64, msdus: usize| {
        let configs = [0; 4].map(|_| {
            let mut config = aggregating(HT);
            crate::edca::harness::category(&mut config, BE).txop_limit = Dur::from_us(us);
            config
        });
        let mut net = Net::build(&Build { limit: Limit::Packets(1000), ..Build::of(&configs) });
        net.air(100, frame(Kind::Data, C, NOBODY, 0));
        (0..msdus).for_each(|_| _ = net.offer(200, A, B, tos(BE)));
        net.run(1_000_000);
        let data = net.of(A, Kind::Data);
        data.iter().map(|it| (it.end - it.start, it.frame.duration.ns() / 1000)).collect::<Vec<_>>()
    };
    assert_eq!(with_limit(900, 5), [(THREE, SIFS + BLOCK_ACK), (TWO, SIFS + BLOCK_ACK)]);
    assert_eq!(with_limit(2000, 8), [(1852, SIFS + BLOCK_ACK)]);
    // Windows of two: the second A-MPDU follows a SIFS later, and the first announces it.
    let further = SIFS + TWO + SIFS + BLOCK_ACK;
    let configs = [0; 4].map(|_| {
        let mut config = aggregating(Aggregation { mpdus: 2, ..HT });
        crate::edca::harness::category(&mut config, BE).txop_limit = Dur::from_us(1200);
        config
    });
    let mut net = Net::build(&Build { limit: Limit::Packets(1000), ..Build::of(&configs) });
    net.air(100, frame(Kind::Data, C, NOBODY, 0));
    (0..4).for_each(|_| _ = net.offer(200, A, B, tos(BE)));
    net.run(1_000_000);
    let data = net.of(A, Kind::Data);
    assert_eq!(data[1].start - data[0].end, SIFS + BLOCK_ACK + SIFS);
    let durations: Vec<u64> = data.iter().map(|it| it.frame.duration.ns() / 1000).collect();
    assert_eq!(durations, [SIFS + BLOCK_ACK + further, SIFS + BLOCK_ACK]);
}

#[test]
fn the_second_of_three_that_is_lost_goes_again_alone_and_all_go_up_in_order() {
    let mut cell = cell(HT, 3);
    let start = cell.start;
    cell.jam(start + SECOND).run();
    let answered = start + THREE + SIFS + BLOCK_ACK;
    let again = answered + AIFS[1] + cell.slots[0];
    assert_eq!(
        cell.sent(),
        [
            (Kind::Data, start, THREE, SIFS + BLOCK_ACK),
            (Kind::BlockAck, start + THREE + SIFS, BLOCK_ACK, 0),
            (Kind::Data, again, QOS, SIFS + ACK),
            (Kind::Ack, again + QOS + SIFS, ACK, 0),
        ]
    );
    assert_eq!(cell.up(), [(start + THREE, 0), (again + QOS, 1), (again + QOS, 2)]);
    // A: an A-MPDU of three and an MPDU alone. B: the third waited for the second.
    let [a, b] = [A, B].map(|of| cell.net.stations[of.index()].counters());
    let aggregates = AMpdus { sent: 1, mpdus: 3, bytes: Bytes(4630) };
    assert_eq!((a.a_mpdus, a.data_ppdus(), a.data_frames_sent, a.data_frames_retried), (aggregates, 2, 4, 1));
    assert_eq!((b.longest_hold, b.gaps_given_up), (Dur::from_us(again + QOS - start - THREE), 0));
}

/// The stack's answer at once to an A-MPDU is for the most part one to MPDUs that had come up while it lasted.
#[test]
fn what_is_queued_when_an_a_mpdu_ends_draws_a_backoff_and_when_an_mpdu_alone_ends_does_not() {
    for (msdus, lasts, answer) in [(1, QOS, ACK), (3, THREE, BLOCK_ACK)] {
        let mut cell = cell(HT, msdus);
        let end = cell.start + lasts;
        let slots = u64::from(backoffs(B, BE).below(16)) * SLOT;
        assert!(slots > 0);
        cell.net.offer(end, B, A, tos(BE));
        cell.run();
        let free = end + SIFS + answer + AIFS[1];
        assert_eq!(cell.net.data_starts(B), [free + if msdus > 1 { slots } else { 0 }], "{msdus}");
    }
}

#[test]
fn without_a_block_ack_all_go_again_at_once_or_when_a_request_has_been_answered() {
    // A hears C: its signal spoils the Block Ack there. B has had all three.
    let spoilt = |after_silence| {
        let mut cell = cell(Aggregation { after_silence, ..HT }, 3);
        let spoil = cell.start + THREE + SIFS + 2;
        cell.net.air(spoil, frame(Kind::Ack, C, NOBODY, 0));
        cell.run();
        let up: Vec<u32> = cell.up().iter().map(|(_, nth)| *nth).collect();
        assert_eq!((up, cell.net.done(A).len()), (vec![0, 1, 2], 3), "none twice");
        cell
    };
    let data = spoilt(AfterSilence::Data);
    assert_eq!(data.frames(), [(Kind::Data, THREE), (Kind::Data, THREE)]);
    assert_eq!((data.net.stations[1].counters().duplicates, data.net.done(A)[0]), (3, (Fate::Delivered, 2)));
    let request = spoilt(AfterSilence::Request);
    assert_eq!(request.frames(), [(Kind::Data, THREE), (Kind::BlockAckReq, REQUEST)]);
    assert_eq!((request.net.stations[1].counters().duplicates, request.net.done(A)[0]), (0, (Fate::Delivered, 1)));
}

#[test]
fn what_was_lost_goes_again_behind_a_request_and_the_window_is_the_first_again() {
    // D spoils the second MPDU at B, C the Block Ack at A.
    let mut cell = cell(Aggregation { after_silence: AfterSilence::Request, ..HT }, 3);
    let start = cell.start;
    cell.jam(start + SECOND);
    cell.net.air(start + THREE + SIFS + 2, frame(Kind::Ack, C, NOBODY, 0));
    cell.run();
    assert_eq!(cell.frames(), [(Kind::Data, THREE), (Kind::BlockAckReq, REQUEST), (Kind::Data, QOS)]);
    assert_eq!(cell.up().iter().map(|(_, nth)| *nth).collect::<Vec<_>>(), [0, 1, 2]);
    // The window had doubled after what A could not read (60 beyond AIFS), and went back after the answer: 31 and 15 slots.
    let starts = cell.net.sent.iter().filter(|sent| sent.from == A).map(|sent| sent.start).collect::<Vec<_>>();
    assert!(starts[1] <= start + THREE + SIFS + BLOCK_ACK + 60 + AIFS[1] + 31 * SLOT, "{starts:?}");
    assert!(starts[2] - starts[1] - REQUEST - SIFS - BLOCK_ACK <= AIFS[1] + 15 * SLOT, "{starts:?}");
}

#[test]
fn a_window_stalls_until_its_first_mpdu_has_arrived() {
    let mut cell = cell(Aggregation { buffer: 4, ..HT }, 8);
    let start = cell.start;
    cell.jam(start + FIRST).run();
    // 0 … 3 of which 0 is lost; 4 is beyond the window, so 0 goes alone; 4 … 7.
    assert_eq!(cell.frames(), [(Kind::Data, FOUR), (Kind::Data, QOS), (Kind::Data, FOUR)]);
    let up = cell.up();
    assert_eq!(up.iter().map(|(_, nth)| *nth).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(up[0].0, up[3].0, "they waited for the first");
    let airtime = cell.net.of(A, Kind::Data).iter().map(|it| it.frame.airtime).fold(Dur::ZERO, |all, one| all + one);
    let sent = cell.net.stations[A.index()].sent_to(B);
    assert_eq!(sent, Sent { ppdus: 3, mpdus: 9, stalled: 1, airtime });
    assert_eq!(cell.net.stations[B.index()].sent_to(A), Sent::default());
}

#[test]
fn a_request_tells_the_receiver_what_was_given_up() {
    // The second of three is lost twice, and has two attempts.
    let own = Aggregation { discard: Discard::Attempts(2), ..HT };
    let mut cell = cell(own, 3);
    let start = cell.start;
    let again = start + THREE + SIFS + BLOCK_ACK + AIFS[1] + cell.slots[0];
    cell.jam(start + SECOND).jam(again + FIRST).run();
    assert_eq!(cell.frames(), [(Kind::Data, THREE), (Kind::Data, QOS), (Kind::BlockAckReq, REQUEST)]);
    let asked = cell.net.of(A, Kind::BlockAckReq)[0];
    assert_eq!(cell.net.stations[A.index()].counters().block_ack_requests, 1);
    assert_eq!(cell.up(), [(start + THREE, 0), (asked.end, 2)]);
    let fates: Vec<_> = cell.net.done(A);
    assert_eq!(fates, [(Fate::Delivered, 1), (Fate::Delivered, 1), (Fate::GivenUp, 2)]);
}

#[test]
fn a_number_that_no_cts_let_go_out_is_told_too() {
    // The RTS of the first two is lost twice, and they have two attempts; the third is handed down behind them.
    let own = Aggregation { discard: Discard::Attempts(2), ..HT };
    let config = Config { rts: Rts { threshold: Some(Bytes(1600)) }, ..aggregating(own) };
    let mut net = Net::build(&Build { limit: Limit::Packets(1000), ..Build::of(&[0; 4].map(|_| config.clone())) });
    net.errors(0, A, B, HIT).errors(5_000, A, B, CLEAN);
    [100, 100, 10_000].into_iter().for_each(|when| _ = net.offer(when, A, B, tos(BE)));
    net.run(1_000_000);
    assert_eq!(net.of(A, Kind::Rts).len(), 2);
    assert!(!net.of(A, Kind::BlockAckReq).is_empty());
    let up: Vec<_> = net.delivered.iter().map(|it| it.nth).collect();
    assert_eq!(up, [2]);
    assert!(net.delivered[0].when < 12_000, "{:?}", net.delivered);
}

#[test]
fn requests_that_nobody_answers_give_way_to_data() {
    let own = Aggregation { discard: Discard::Attempts(2), after_silence: AfterSilence::Request, ..HT };
    let mut cell = cell(own, 3);
    cell.net.kill(cell.start + 1, B);
    cell.run();
    let kinds: Vec<_> = cell.frames().iter().map(|(kind, _)| *kind).collect();
    let [data, requests] = [[Kind::Data; 1].as_slice(), &[Kind::BlockAckReq; 7]];
    assert_eq!(kinds, [data, requests, data, requests].concat(), "of what is unanswered, then of what is given up");
}

#[test]
fn what_is_first_heard_after_half_of_all_numbers_went_by_unheard_goes_up() {
    let own = Aggregation { discard: Discard::Attempts(1), tells_gaps: false, ..HT };
    let mut net = Net::build(&Build { limit: Limit::Packets(9000), ..Build::of(&[0; 4].map(|_| aggregating(own))) });
    (0..3).for_each(|_| _ = net.offer(100, A, B, tos(BE)));
    net.errors(50_000, A, B, HIT).errors(4_000_000, A, B, CLEAN);
    (0..2500).for_each(|_| _ = net.offer(60_000, A, B, tos(BE)));
    (0..70).for_each(|_| _ = net.offer(5_000_000, A, B, tos(BE)));
    net.run(6_000_000);
    assert_eq!(net.done(A).iter().filter(|(fate, _)| *fate == Fate::GivenUp).count(), 2500);
    let up: Vec<_> = net.delivered.iter().map(|it| it.nth).collect();
    assert_eq!(up, [0, 1, 2].into_iter().chain(2503..2573).collect::<Vec<_>>());
}

#[test]
fn a_window_of_64_stalls() {
    // 63 of 64 have arrived, and 100 others wait: the first goes alone.
    let mut cell = cell(HE_OF_64, 164);
    let start = cell.start;
    cell.jam(start + FIRST).run();
    let sizes: Vec<_> = cell.net.of(A, Kind::Data).iter().map(|it| it.frame.mpdu.0).collect();
    assert_eq!(sizes, [63 * 1544 + 1542, 1538, 63 * 1544 + 1542, 35 * 1544 + 1542]);
}

#[test]
fn without_a_request_a_gap_is_given_up_when_what_stands_behind_it_has_waited_100_ms() {
    let own = Aggregation { discard: Discard::Attempts(1), tells_gaps: false, ..HT };
    let mut cell = cell(own, 3);
    let start = cell.start;
    cell.jam(start + SECOND).run();
    assert_eq!(cell.frames(), [(Kind::Data, THREE)]);
    assert_eq!(cell.up(), [(start + THREE, 0), (start + THREE + 100_000, 2)]);
    let b = cell.net.stations[B.index()].counters();
    assert_eq!((b.gaps_given_up, b.longest_hold), (1, Dur::from_ms(100)));
}

#[test]
fn a_request_that_nobody_answers_is_given_up_like_any_frame() {
    let own = Aggregation { discard: Discard::Attempts(1), ..HT };
    let mut cell = cell(own, 3);
    cell.net.kill(cell.start + 1, B);
    cell.run();
    let requests = [(Kind::BlockAckReq, REQUEST); 7];
    assert_eq!(cell.frames()[0], (Kind::Data, THREE));
    assert_eq!(cell.frames()[1..], requests);
    assert_eq!(cell.net.done(A), [(Fate::GivenUp, 1); 3]);
}

#[test]
fn each_receiver_and_tid_has_a_window_and_numbers_of_its_own() {
    let mut cell = cell(HT, 0);
    for (to, category) in [(B, BE), (C, BE), (B, VI), (B, BE), (C, BE), (B, VI)] {
        cell.net.offer(200, A, to, tos(category));
    }
    cell.run();
    let mut psdus: Vec<_> = cell
        .net
        .of(A, Kind::Data)
        .iter()
        .map(|it| (it.frame.qos.expect("QoS data").category, it.frame.to, it.frame.seq, it.end - it.start))
        .collect();
    psdus.sort_unstable_by_key(|it| (it.0, it.1.0));
    assert_eq!(psdus, [(BE, B, 0, TWO), (BE, C, 0, TWO), (VI, B, 0, TWO)]);
}

#[test]
fn voice_and_what_goes_to_a_station_without_block_acknowledgment_goes_mpdu_by_mpdu() {
    let mut configs = [0; 4].map(|_| aggregating(HT));
    configs[2].aggregation = None;
    let mut net = Net::build(&Build { limit: Limit::Packets(1000), ..Build::of(&configs) });
    for (to, category) in [(B, 0xe0), (C, tos(BE)), (B, 0xe0), (C, tos(BE))] {
        net.offer(200, A, to, category);
    }
    net.run(100_000);
    let airtimes: Vec<u64> = net.of(A, Kind::Data).iter().map(|it| it.end - it.start).collect();
    assert_eq!(airtimes, [QOS; 4]);
}

#[test]
fn two_hundred_and_fifty_six_mpdus_share_a_ppdu_and_a_block_ack_of_56_bytes() {
    let own = Aggregation { time: Dur::from_ms(100), spacing: Dur::ZERO, ..Aggregation::HE };
    let mut cell = cell(own, 300);
    cell.run();
    let lens: Vec<u64> = cell.net.of(A, Kind::Data).iter().map(|it| it.frame.mpdu.0).collect();
    assert_eq!(lens, [255 * 1544 + 1542, 43 * 1544 + 1542]);
    assert!(cell.net.of(B, Kind::BlockAck).iter().all(|it| it.frame.mpdu == Bytes(56)));
    assert_eq!(cell.up().iter().map(|(_, nth)| *nth).collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
}

#[test]
fn time_bytes_and_spacing_bound_an_aggregate() {
    let lens = |own: Aggregation| {
        let mut cell = cell(own, 5);
        cell.run();
        cell.net.of(A, Kind::Data).iter().map(|it| it.frame.mpdu.0).collect::<Vec<_>>()
    };
    assert_eq!(lens(HT), [4 * 1544 + 1542]);
    assert_eq!(lens(Aggregation { time: Dur::from_us(THREE), ..HT }), [4630, 3086]);
    assert_eq!(lens(Aggregation { time: Dur::from_us(THREE - 1), ..HT }), [3086, 3086, 1538]);
    assert_eq!(lens(Aggregation { bytes: Bytes(4630), ..HT }), [4630, 3086]);
    assert_eq!(lens(Aggregation { bytes: Bytes(4629), ..HT }), [3086, 3086, 1538]);
    assert_eq!(lens(Aggregation { mpdus: 2, ..HT }), [3086, 3086, 1538]);
    assert_eq!(lens(Aggregation { longest_mpdu: Bytes(1537), ..HT }), [1538; 5]);
    // 16 µs at 54 Mb/s are 108 B, less than an MPDU; 400 µs are 2700 B from start to start.
    assert_eq!(lens(Aggregation { spacing: Dur::from_us(16), ..HT }), [4 * 1544 + 1542]);
    assert_eq!(lens(Aggregation { spacing: Dur::from_us(400), ..HT }), [4 * 2700 + 1542]);
}

#[test]
fn numbers_wrap_inside_a_window() {
    let mut cell = cell(HT, 0);
    for i in 0..4200 {
        cell.net.offer(200 + 1000 * (i / 3), A, B, tos(BE));
    }
    // Around the MSDU that has number 0 again.
    (0..60).for_each(|i| _ = cell.jam(1_350_000 + 457 * i));
    cell.run();
    assert!(cell.up().iter().map(|(_, nth)| *nth).eq(0..4200));
    assert!(cell.net.stations[0].counters().data_frames_retried > 20);
}

#[test]
fn msdus_share_an_mpdu_and_mpdus_a_ppdu() {
    // Subframes of 14 + 8 + 1500 = 1522 B: two are 1524 + 1522 = 3046 B of A-MSDU, an MPDU of 3076 B; five 4 · 1524 + 1522 = 7618.
    let own = Aggregation { amsdu: Bytes(3839), longest_mpdu: Bytes(11_454), ..HT };
    let mut both = cell(own, 5);
    both.run();
    assert_eq!(both.net.of(A, Kind::Data)[0].frame.mpdu, Bytes(2 * 3080 + 4 + 1538));
    assert_eq!(both.up().iter().map(|(_, nth)| *nth).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let counters = both.net.stations[0].counters();
    assert_eq!((counters.data_frames_sent, counters.msdus_delivered), (3, 5));
    let mut alone = cell(Aggregation { amsdu: Bytes(7935), mpdus: 1, ..own }, 5);
    alone.run();
    assert_eq!(alone.net.of(A, Kind::Data)[0].frame.mpdu, Bytes(30 + 7618));
    assert_eq!(alone.net.of(B, Kind::Ack).len(), 1, "an MPDU alone gets an Ack");
    // One that is lost takes its A-MSDU with it and nothing else: the second of three MPDUs has 2 and 3.
    let mut lossy = cell(own, 6);
    lossy.jam(lossy.start + 600).run();
    let sizes: Vec<_> = lossy.net.of(A, Kind::Data).iter().map(|it| it.frame.mpdu.0).collect();
    assert_eq!((sizes, lossy.net.stations[0].counters().data_frames_retried), (vec![2 * 3080 + 3080, 3076], 1));
    assert_eq!(lossy.up().iter().map(|(_, nth)| *nth).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(lossy.net.done(A).len(), 6);
    // Given up together.
    let mut gone = cell(Aggregation { discard: Discard::Attempts(1), ..own }, 6);
    gone.jam(gone.start + 600).run();
    assert_eq!(gone.up().iter().map(|(_, nth)| *nth).collect::<Vec<_>>(), [0, 1, 4, 5]);
    assert_eq!(gone.net.stations[0].counters().msdus_given_up, 2);
}
