//! Other acknowledgments than an Ack for each MPDU: several MPDUs in a PPDU with a Block Ack and a reorder buffer behind it, and
//! a negative ACK for a frame of which the MAC header alone was read. Written against [`AckPolicy`] and [`Recipient`], as
//! a scheme would be.
//!
//! 802.11b at 11 Mb/s with control frames at 1 Mb/s, times in µs. A datagram of 1500 B is an MPDU of 1536 B. Three of
//! them are an A-MPDU of 3 · (4 + 1536) = 4620 B: 192 + 4620 · 8 / 11 = 3552. The second one is on the air from 192 +
//! 1544 · 8 / 11 = 1315 to 192 + 3080 · 8 / 11 = 2432. A Block Ack of 32 B at 1 Mb/s: 192 + 256 = 448.

use crate::dcf::harness::{
    A, ACK, B, C, D, DATA, DIFS, NOBODY, Net, SIFS, SLOT, Shown, TIMEOUT, backoffs, config, frame,
};
use crate::harness::{Build, Ears, Told, links, us};
use mac::exchange::Response;
use mac::{
    AckPolicy, Around, Bitmap, Body, Chain, Config, Delivery, Fate, Frame, Head, Kind, MpduSet, Msdu, Outcome,
    PsduReport, RaTid, RateControl, Recipient, SoFar, Solicited, Stage, TxQueue,
};
use phy::Mode;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Dur, SimTime};
use wire::{Packets, Pkt};

const PSDU: u64 = 3552;
const BLOCK_ACK: u64 = 448;
/// Start of the jam, counted from the PPDU: inside the second MPDU, long behind the first one's header.
const JAM: u64 = 1400;

/// Up to three MPDUs in a PPDU; a Block Ack for several. A negative ACK means: again, with a window as after a success.
#[derive(Debug)]
struct Policy;

impl AckPolicy for Policy {
    fn admits(&mut self, so_far: &SoFar, next: &Msdu, _: Mode) -> bool {
        so_far.mpdus < 3 && so_far.len + next.mpdu < Bytes(5000)
    }

    fn solicits(&self, _: RaTid, n: usize) -> Solicited {
        // The longest that may come: a negative ACK.
        let kind = if n > 1 { Kind::BlockAck } else { Kind::Ack };
        Solicited { kind, len: Kind::Nack.control_len() }
    }

    fn judge(&mut self, _: RaTid, seqs: &[u16], response: &Frame, acknowledged: &mut MpduSet) -> Option<Outcome> {
        match (&response.psdu.mpdus()[0].body, response.kind) {
            (Body::Bitmap(bitmap), Kind::BlockAck) => acknowledged.extend(bitmap.places(seqs)),
            (_, Kind::Ack) => acknowledged.set_first(seqs.len()),
            (_, Kind::Nack) => {}
            _ => return None,
        }
        Some(Outcome::Success)
    }
}

/// Hands up in order of sequence number; what waits for a gap waits no longer than its patience.
#[derive(Debug)]
struct Reorder {
    next: u16,
    held: Vec<(u16, Delivery)>,
    patience: Dur,
    gives_way: SimTime,
    sends_nacks: bool,
    log: Rc<RefCell<Vec<(u64, u16)>>>,
}

impl Reorder {
    fn release(&mut self, now: SimTime, up: &mut dyn FnMut(Delivery)) {
        while self.held.first().is_some_and(|(seq, _)| *seq == self.next) {
            let (seq, delivery) = self.held.remove(0);
            self.log.borrow_mut().push((us(now), seq));
            self.next = (self.next + 1) % 4096;
            up(delivery);
        }
        self.gives_way = match self.held.is_empty() {
            true => SimTime::NEVER,
            false => self.gives_way.min(now + self.patience),
        };
    }
}

impl Recipient for Reorder {
    fn respond(&mut self, config: &Config, frame: &Frame, got: &MpduSet, proposed: Response) -> Option<Response> {
        let mpdus = frame.psdu.mpdus();
        if mpdus.len() == 1 {
            return Some(proposed);
        }
        let start = mpdus[0].data()?.seq;
        let received = mpdus.iter().enumerate().filter(|(place, _)| got.contains(*place));
        let seqs = received.filter_map(|(_, mpdu)| mpdu.data()).map(|data| data.seq);
        let mut bitmap = Bitmap::new(start, 64);
        seqs.for_each(|seq| bitmap.insert(seq));
        Some(Response::to(config, frame.tx.mode, frame.duration, Kind::BlockAck, Body::Bitmap(bitmap)))
    }

    fn receive(
        &mut self,
        now: SimTime,
        frame: &Frame,
        got: &MpduSet,
        all: &mut Packets,
        up: &mut dyn FnMut(Delivery),
    ) {
        for (_, mpdu) in frame.psdu.mpdus().iter().enumerate().filter(|(place, _)| got.contains(*place)) {
            let Some(data) = mpdu.data() else { continue };
            let ahead = |seq: u16| seq.wrapping_sub(self.next) % 4096;
            if ahead(data.seq) >= 2048 || self.held.iter().any(|(seq, _)| *seq == data.seq) {
                continue;
            }
            let carried = &data.msdus.each()[0];
            let pkt = all.copy_shared(&carried.packet);
            let at = self.held.partition_point(|(seq, _)| ahead(*seq) < ahead(data.seq));
            self.held.insert(at, (data.seq, Delivery { pkt, from: frame.from, options: carried.options }));
        }
        self.release(now, up);
    }

    fn heeds_damage(&self) -> bool {
        self.sends_nacks
    }

    fn damaged(&mut self, config: &Config, frame: &Frame) -> Option<Response> {
        let body = Body::Bitmap(Bitmap::new(frame.data()?.seq, 64));
        Some(Response::to(config, frame.tx.mode, frame.duration, Kind::Nack, body))
    }

    fn next_wakeup(&self) -> SimTime {
        self.gives_way
    }

    fn timer(&mut self, now: SimTime, up: &mut dyn FnMut(Delivery)) {
        if let Some((seq, _)) = self.held.first() {
            (self.next, self.gives_way) = (*seq, SimTime::NEVER);
        }
        self.release(now, up);
    }

    fn held(&self) -> u64 {
        self.held.len() as u64
    }

    fn drain(&mut self) -> Vec<Pkt> {
        self.held.drain(..).map(|(_, delivery)| delivery.pkt).collect()
    }
}

/// A fixed mode that writes down what it is told.
#[derive(Debug)]
struct Listening(Mode, Rc<RefCell<Vec<(usize, usize, bool)>>>);

impl RateControl for Listening {
    fn chain(&mut self, _: SimTime, _: &Head, chain: &mut Chain) {
        chain.set([Stage::of(self.0)]);
    }

    fn expected(&self, _: units::NodeId) -> Mode {
        self.0
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        let acknowledged = (0..report.mpdus).filter(|place| report.acknowledged.contains(*place)).count();
        self.1.borrow_mut().push((report.mpdus, acknowledged, report.ppdu.is_some()));
    }
}

/// A sends to B. C keeps the medium busy from 0 to 1310, so that A's MSDUs, there at 100, wait for one another. D, whom A
/// does not hear, jams what B receives.
struct Link {
    net: Net,
    /// Time at which each packet was handed up, and its sequence number.
    up: Rc<RefCell<Vec<(u64, u16)>>>,
    /// MPDUs sent, acknowledged, whether they went out: of each attempt.
    told: Rc<RefCell<Vec<(usize, usize, bool)>>>,
    /// Start of A's first PPDU, and the slots of its further backoffs, all from CW 31.
    start: u64,
    slots: [u64; 3],
}

fn link(msdus: usize, sends_nacks: bool) -> Link {
    link_with(&Build::of(&vec![config(); 4]), msdus, sends_nacks)
}

fn link_with(build: &Build, msdus: usize, sends_nacks: bool) -> Link {
    let mut net = Net::build(build);
    net.channel.medium.set_reach(D, A, false);
    let (up, told) = (Rc::default(), Rc::default());
    net.stations[0].acknowledged_by(Box::new(Policy));
    net.stations[0].rates_by(Box::new(Listening(build.configs[0].data_rate, Rc::clone(&told))));
    let (patience, gives_way) = (Dur::from_ms(20), SimTime::NEVER);
    let log = Rc::clone(&up);
    net.stations[1].receive_by(Box::new(Reorder {
        next: 0,
        held: Vec::new(),
        patience,
        gives_way,
        sends_nacks,
        log,
    }));
    if net.stations[1].heeds_damage() {
        net.channel.heed_damage(B);
    }
    net.air(0, frame(Kind::Data, C, NOBODY, 0));
    for _ in 0..msdus {
        net.enqueue(100, A, B, 1500);
    }
    let mut draws = backoffs(A);
    let start = DATA + DIFS + u64::from(draws.below(32)) * SLOT;
    let slots = [(); 3].map(|()| u64::from(draws.below(32)));
    Link { net, up, told, start, slots }
}

impl Link {
    /// 304 µs of D's signal at B.
    fn jam(&mut self, when: u64) -> &mut Link {
        self.net.air(when, frame(Kind::Ack, D, NOBODY, 0));
        self
    }

    fn run(&mut self) -> &mut Link {
        self.net.run_out(100_000);
        self
    }

    /// Transmissions of a station: kind, start, airtime, Duration.
    fn sent(&self, from: units::NodeId) -> Vec<(Kind, u64, u64, u64)> {
        self.net.sent_by(&[from])
    }
}

#[test]
fn of_three_mpdus_in_a_ppdu_the_lost_one_goes_again_alone_and_the_receiver_hands_up_in_order() {
    let mut link = link(3, false);
    let start = link.start;
    link.jam(start + JAM).run();
    let answered = start + PSDU + SIFS + BLOCK_ACK;
    let again = answered + DIFS + link.slots[0] * SLOT;
    let announced = SIFS + BLOCK_ACK;
    assert_eq!(link.sent(A), [(Kind::Data, start, PSDU, announced), (Kind::Data, again, DATA, announced)]);
    let (block_ack, ack) = (start + PSDU + SIFS, again + DATA + SIFS);
    assert_eq!(
        link.sent(B),
        [(Kind::BlockAck, block_ack, BLOCK_ACK, 0), (Kind::Ack, ack, ACK, announced - SIFS - ACK)]
    );
    // Only the second, with its number and the retry bit.
    let data = link.net.of(A, Kind::Data);
    assert_eq!([data[0], data[1]].map(|it| (it.frame.seq, it.is_retry)), [(0, false), (1, true)]);
    assert_eq!(*link.up.borrow(), [(start + PSDU, 0), (again + DATA, 1), (again + DATA, 2)]);
    assert_eq!(*link.told.borrow(), [(3, 2, true), (1, 1, true)]);
    let said: Vec<_> = link.net.said.iter().map(|it| (it.when, it.fate, it.attempts)).collect();
    assert_eq!(
        said,
        [
            (answered, Fate::Delivered, 1),
            (answered, Fate::Attempt, 1),
            (answered, Fate::Delivered, 1),
            (again + DATA + SIFS + ACK, Fate::Delivered, 2)
        ]
    );
    // The air is shared by those that were in it.
    let airtime = |i: usize| link.net.said[i].report.airtime.ns() / 1000;
    assert_eq!((airtime(0), airtime(3)), ((PSDU + BLOCK_ACK) / 3, (PSDU + BLOCK_ACK) / 3 + DATA + ACK));
    let counters = link.net.stations[0].counters();
    assert_eq!((counters.data_frames_sent, counters.data_frames_retried), (4, 1));
    assert_eq!((counters.exchanges, counters.failures, counters.msdus_delivered), (2, 0, 3));
    let received = link.net.stations[1].counters();
    assert_eq!((received.msdus_received, received.duplicates), (3, 0));
}

#[test]
fn a_gap_that_nobody_fills_holds_up_what_follows_it_no_longer_than_the_receivers_patience() {
    // Killed as soon as it has its Block Ack: the second MPDU never comes.
    let mut link = link(3, false);
    let start = link.start;
    link.net.kill(start + PSDU + SIFS + BLOCK_ACK + 1, A);
    link.jam(start + JAM).run();
    assert_eq!(*link.up.borrow(), [(start + PSDU, 0), (start + PSDU + 20_000, 2)]);
    assert_eq!(link.net.stations[0].counters().msdus_abandoned, 1);
}

#[test]
fn a_block_ack_that_is_lost_fails_the_whole_ppdu_and_its_mpdus_go_again_as_they_were() {
    let mut link = link(3, false);
    let start = link.start;
    // A hears C: its signal spoils the Block Ack there.
    link.net.air(start + PSDU + SIFS + 100, frame(Kind::Ack, C, NOBODY, 0));
    link.run();
    let data = link.net.of(A, Kind::Data);
    assert_eq!(
        data.iter().map(|it| (it.end - it.start, it.is_retry)).collect::<Vec<_>>(),
        [(PSDU, false), (PSDU, true)]
    );
    assert_eq!(link.up.borrow().iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), [0, 1, 2], "none twice");
    assert_eq!(*link.told.borrow(), [(3, 0, true), (3, 3, true)]);
    assert_eq!(link.net.done(A), [(Fate::Delivered, 2); 3]);
}

#[test]
fn a_receiver_that_read_the_mac_header_alone_asks_for_the_frame_again() {
    let mut link = link(1, true);
    let start = link.start;
    link.jam(start + 1000).run();
    // No timeout, and a backoff as after a success.
    let again = start + DATA + SIFS + BLOCK_ACK + DIFS + link.slots[0] * SLOT;
    let announced = SIFS + BLOCK_ACK;
    assert_eq!(link.sent(A), [(Kind::Data, start, DATA, announced), (Kind::Data, again, DATA, announced)]);
    assert_eq!(link.sent(B)[0], (Kind::Nack, start + DATA + SIFS, BLOCK_ACK, 0));
    assert_eq!(link.net.of(A, Kind::Data)[1].frame.seq, 0);
    assert_eq!(*link.up.borrow(), [(again + DATA, 0)]);
    assert_eq!(
        (link.net.done(A), link.told.borrow().clone()),
        (vec![(Fate::Delivered, 2)], vec![(1, 0, true), (1, 1, true)])
    );
    assert_eq!(link.net.stations[0].counters().failures, 0);
}

#[test]
fn without_the_header_or_a_receiver_that_heeds_it_a_lost_frame_is_found_out_by_timeout() {
    // The header of the first MPDU ends 192 + 26 · 8 / 11 = 211 after the start.
    for (sends_nacks, jam) in [(true, 100), (false, 1000)] {
        let mut link = link(1, sends_nacks);
        let start = link.start;
        link.jam(start + jam).run();
        let mut draws = backoffs(A);
        let _first = draws.below(32);
        let again = start + DATA + TIMEOUT + u64::from(draws.below(64)) * SLOT;
        assert_eq!(link.net.data_starts(A), [start, again], "{sends_nacks}, jam at {jam}");
        assert!(link.net.of(B, Kind::Nack).is_empty());
    }
}

#[test]
fn a_sender_that_is_killed_and_drained_while_its_frame_is_on_the_air_changes_nothing_for_the_receiver() {
    for msdus in [1, 3] {
        let [alive, killed] = [false, true].map(|is_killed| {
            let mut link = link(msdus, false);
            let start = link.start;
            if is_killed {
                link.net.kill(start + 500, A);
            }
            link.run();
            let (up, sent) = (link.up.borrow().clone(), link.sent(B));
            (up, sent, link.net.ended.clone(), link.net.done(A).len())
        });
        assert_eq!((&alive.0, &alive.1, &alive.2), (&killed.0, &killed.1, &killed.2));
        assert_eq!((alive.0.len(), alive.3, killed.3), (msdus, msdus, 0));
    }
}

#[test]
fn an_a_msdu_is_acknowledged_once_and_its_msdus_are_handed_up_in_order_and_not_again() {
    let configs = vec![config(); 3];
    let mut net = Net::build(&Build::of(&configs));
    let a_msdu = Shown { msdus: 3, ..frame(Kind::Data, A, B, SIFS + ACK) };
    let again = 100 + DATA + SIFS + ACK + DIFS;
    net.air(100, a_msdu).air(again, Shown { is_retry: true, ..a_msdu }).run(100_000);
    let up: Vec<_> = net.delivered.iter().map(|it| (it.when, it.node, it.from, it.serial)).collect();
    let first = up[0].3;
    assert_eq!(up, [0, 1, 2].map(|nth| (100 + DATA, B, A, first + nth)));
    let acks: Vec<_> = net.of(B, Kind::Ack).iter().map(|it| it.start).collect();
    assert_eq!(acks, [100 + DATA + SIFS, again + DATA + SIFS]);
    let received = net.stations[1].counters();
    assert_eq!((received.msdus_received, received.duplicates), (3, 1));
    assert_eq!((net.packets.live(), net.packets.shared()), (0, 0), "packets left");
}

#[test]
fn a_queue_by_link_is_told_of_each_mpdu_and_sends_the_lost_one_again_before_what_waits_behind_it() {
    let (ears, configs) = (Ears::default(), vec![config(); 4]);
    let queue = |spec: &queue::Spec, streams| -> Box<dyn TxQueue> {
        Box::new(Around::new(links(spec, streams), ears.clone()))
    };
    let mut link = link_with(&Build { queue: &queue, ..Build::of(&configs) }, 4, false);
    let start = link.start;
    link.jam(start + JAM).run();
    // Three went, and the one in the middle was lost; it goes again together with the fourth.
    let report = |airtime, sent, acknowledged: &[usize]| {
        let link = RaTid { to: B, tid: None };
        Told { link, airtime, sent, acknowledged: acknowledged.to_vec() }
    };
    // Two MPDUs are 2 * 1540 B: 192 + 3080 * 8 / 11 = 2432.
    let [first, second] = [report(PSDU + BLOCK_ACK, 3, &[0, 2]), report(2432 + BLOCK_ACK, 2, &[0, 1])];
    assert_eq!(ears.0.borrow()[..2], [first, second]);
    let handed_up: Vec<u16> = link.up.borrow().iter().map(|(_, seq)| *seq).collect();
    assert_eq!((handed_up, ears.0.borrow().len()), (vec![0, 1, 2, 3], 2));
    let data = link.net.of(A, Kind::Data);
    assert_eq!([data[0], data[1]].map(|it| (it.frame.seq, it.is_retry)), [(0, false), (1, true)]);
}
