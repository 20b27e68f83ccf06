//! A scheme that sees what became of each MPDU of an A-MPDU.
//!
//! **Source** none.
//! **Realism** a sender knows what its Block Acks said, and nothing else.
//! **Departs** from nothing.
//! **Bound** PPDUs that a station sends, in order: one is told before the next goes out.
//! **Checked** by the tests below.

use std::collections::BTreeMap;

use mac::{AckPolicy, Bitmap, Body, Chain, Fate, Frame, Head, Kind as Sort, MpduSet, Msdu, Outcome};
use mac::{Output, RaTid, RateControl, SoFar, Solicited, Stage, TxReport};
use phy::Mode;
use schemes::testing::{Bench, HERE, THERE, bench_of, node, with};
use schemes::{Agent, Cx, Info, Params, Refusal, Site};
use units::{NodeId, SimTime};
use wire::{DropWhy, Packet};

use super::hand::{Hand, mode};

/// Its declaration.
pub const INFO: Info =
    Info { id: "mpdu-fates", summary: "counts what became of each MPDU of a PPDU", source: "none", params: &[] };

/// At every node with a radio.
pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        site.agent(Fates::default()).reports().attempts();
    }
    Ok(())
}

/// The facts about a PPDU.
#[derive(Debug, Default)]
struct Seen {
    acknowledged: u64,
    lost: u64,
    /// Of those acknowledged, behind one in the same PPDU that was lost.
    behind_a_loss: u64,
}

#[derive(Debug, Default)]
struct Fates {
    ppdus: BTreeMap<u32, Seen>,
    without_ppdu: u64,
}

impl Agent for Fates {
    fn report(&mut self, _: &Packet, report: &TxReport, _: &mut Cx) {
        let Some(ppdu) = report.ppdu else {
            self.without_ppdu += 1;
            return;
        };
        let seen = self.ppdus.entry(ppdu.number).or_default();
        match report.fate {
            Fate::Delivered => {
                seen.acknowledged += 1;
                seen.behind_a_loss += u64::from(seen.lost > 0);
            }
            Fate::Attempt => seen.lost += 1,
            // Told after the attempt that was its last.
            Fate::GivenUp | Fate::Expired | Fate::QueueFull => {}
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let sum = |part: fn(&Seen) -> u64| self.ppdus.values().map(part).sum();
        out("ppdus", self.ppdus.len() as u64);
        out("mpdus_acknowledged", sum(|seen| seen.acknowledged));
        out("mpdus_lost", sum(|seen| seen.lost));
        out("mpdus_behind_a_loss", sum(|seen| seen.behind_a_loss));
        out("without_ppdu", self.without_ppdu);
    }
}

/// Up to three MPDUs to `THERE`, acknowledged by a bitmap; one by an Ack.
#[derive(Debug)]
struct Three;

impl AckPolicy for Three {
    fn admits(&mut self, so_far: &SoFar, next: &Msdu, _: Mode) -> bool {
        so_far.mpdus < 3 && RaTid::of(next).to == THERE
    }

    fn solicits(&self, of: RaTid, n: usize) -> Solicited {
        assert_eq!(of, RaTid { to: THERE, tid: None });
        let kind = if n > 1 { Sort::BlockAck } else { Sort::Ack };
        Solicited { kind, len: kind.control_len() }
    }

    fn judge(&mut self, of: RaTid, seqs: &[u16], response: &Frame, acknowledged: &mut MpduSet) -> Option<Outcome> {
        assert_eq!(of, RaTid { to: THERE, tid: None });
        match &response.psdu.mpdus()[0].body {
            Body::Bitmap(bitmap) => acknowledged.extend(bitmap.places(seqs)),
            _ => acknowledged.set_first(seqs.len()),
        }
        Some(Outcome::Success)
    }
}

/// 54 Mb/s, the second attempt behind an RTS.
#[derive(Debug)]
struct ThenRts;

impl RateControl for ThenRts {
    fn chain(&mut self, _: SimTime, _: &Head, chain: &mut Chain) {
        chain.set([Stage::of(mode(54)).tries(1), Stage::of(mode(24)).behind_rts()]);
    }

    fn expected(&self, _: NodeId) -> Mode {
        mode(54)
    }
}

/// Fate, PPDU, place, MPDUs, rate in Mb/s.
type Line = (Fate, u32, u16, u16, u64);

/// Tells the scheme what the station has said since, and returns that.
fn tell(hand: &mut Hand, bench: &mut Bench) -> Vec<Option<Line>> {
    let mut lines = Vec::new();
    for output in std::mem::take(&mut hand.said) {
        let (packet, report) = match output {
            Output::Done(pkt, report) => (hand.packets.free(pkt, DropWhy::MacDone).clone(), report),
            Output::Attempt(shared, report) => {
                let packet = hand.packets.read(&shared).clone();
                hand.packets.release(shared);
                (packet, report)
            }
            Output::Deliver(_) => panic!("nothing was sent to it"),
        };
        bench.report_with(&packet, &report);
        let line = |ppdu: mac::InPpdu| {
            (report.fate, ppdu.number, ppdu.place, ppdu.mpdus, ppdu.mode.bit_rate().bps() / 1_000_000)
        };
        lines.push(report.ppdu.map(line));
    }
    lines
}

fn counted(bench: &Bench) -> [u64; 5] {
    ["ppdus", "mpdus_acknowledged", "mpdus_lost", "mpdus_behind_a_loss", "without_ppdu"]
        .map(|name| bench.counter(name))
}

#[test]
fn each_mpdu_of_each_ppdu_is_told_with_its_place_and_its_mode() {
    let mut hand = Hand::new();
    hand.station.report_attempts();
    hand.station.acknowledged_by(Box::new(Three));
    let mut bench = bench_of(&with(&INFO, install, &[]), node(HERE, 3)).unwrap();
    hand.enqueue(4);
    let bitmap = |start, seqs: &[u16]| {
        let mut bitmap = Bitmap::new(start, 64);
        seqs.iter().for_each(|seq| bitmap.insert(*seq));
        Body::Bitmap(bitmap)
    };

    // Numbers 0, 1, 2: the one in the middle is lost.
    let (_, end) = hand.grant(1000);
    hand.answer(end, Sort::BlockAck, bitmap(0, &[0, 2]), 24);
    use Fate::{Attempt, Delivered};
    assert_eq!(
        tell(&mut hand, &mut bench),
        [Some((Delivered, 1, 0, 3, 54)), Some((Attempt, 1, 1, 3, 54)), Some((Delivered, 1, 2, 3, 54))]
    );
    // Numbers 1 and 3: the first is lost again.
    let (_, end) = hand.grant(3000);
    hand.answer(end, Sort::BlockAck, bitmap(1, &[3]), 24);
    assert_eq!(tell(&mut hand, &mut bench), [Some((Attempt, 2, 0, 2, 54)), Some((Delivered, 2, 1, 2, 54))]);
    // Number 1 alone: nobody answers, then it arrives.
    hand.grant(5000);
    hand.timeout();
    assert_eq!(tell(&mut hand, &mut bench), [Some((Attempt, 3, 0, 1, 54))]);
    let (_, end) = hand.grant(7000);
    hand.answer(end, Sort::Ack, Body::Nothing, 24);
    assert_eq!(tell(&mut hand, &mut bench), [Some((Delivered, 4, 0, 1, 54))]);
    assert_eq!(counted(&bench), [4, 4, 3, 2, 0]);
}

/// Whatever the queue has, up to 256 MPDUs, as an agreement of HE allows.
#[derive(Debug)]
struct Wide;

impl AckPolicy for Wide {
    fn window(&self, _: RaTid) -> usize {
        256
    }

    fn admits(&mut self, _: &SoFar, _: &Msdu, _: Mode) -> bool {
        true
    }

    fn solicits(&self, _: RaTid, _: usize) -> Solicited {
        Solicited { kind: Sort::BlockAck, len: mac::frame::block_ack(256) }
    }

    fn judge(&mut self, _: RaTid, seqs: &[u16], response: &Frame, acknowledged: &mut MpduSet) -> Option<Outcome> {
        let Body::Bitmap(bitmap) = &response.psdu.mpdus()[0].body else { return None };
        acknowledged.extend(bitmap.places(seqs));
        Some(Outcome::Success)
    }
}

#[test]
fn a_psdu_is_as_wide_as_the_agreement_and_its_bitmap_too() {
    let mut hand = Hand::new();
    hand.station.report_attempts();
    hand.station.acknowledged_by(Box::new(Wide));
    let mut bench = bench_of(&with(&INFO, install, &[]), node(HERE, 3)).unwrap();
    hand.enqueue(300);
    let bitmap = |start: u16, lost: &[u16]| {
        let mut bitmap = Bitmap::new(start, 256);
        (start..start + 256).filter(|seq| !lost.contains(seq)).for_each(|seq| bitmap.insert(seq));
        Body::Bitmap(bitmap)
    };
    // 256 of 300; of these the last, and one on either side of a word's end, are lost. They go again before the other 44. The Block
    // Ack has 56 B: 470 bits, 5 symbols at 24 Mb/s, 40 µs with preamble and header.
    let (sent, end) = hand.grant(1000);
    assert_eq!((sent.4, sent.5), (16 + 40, 256));
    hand.answer(end, Sort::BlockAck, bitmap(0, &[63, 64, 255]), 24);
    let told = tell(&mut hand, &mut bench);
    let lost = told.iter().flatten().filter(|line| line.0 == Fate::Attempt).map(|line| (line.2, line.3));
    assert_eq!((told.len(), lost.collect::<Vec<_>>()), (256, vec![(63, 256), (64, 256), (255, 256)]));
    let (sent, end) = hand.grant(900_000);
    assert_eq!(sent.5, 3 + 44);
    hand.answer(end, Sort::BlockAck, bitmap(63, &[]), 24);
    // Numbers 63 to 318: all of them.
    assert_eq!(tell(&mut hand, &mut bench).len(), 47);
    assert_eq!(counted(&bench), [2, 300, 3, 253 - 63, 0]);
}

#[test]
fn an_rts_in_vain_carried_nothing_and_the_mode_is_that_of_the_attempt() {
    let mut hand = Hand::new();
    hand.station.report_attempts();
    hand.station.rates_by(Box::new(ThenRts));
    let mut bench = bench_of(&with(&INFO, install, &[]), node(HERE, 3)).unwrap();
    hand.enqueue(1);
    for start in [1000, 3000] {
        hand.grant(start);
        hand.timeout();
    }
    let (_, end) = hand.grant(5000);
    let over = hand.answer(end, Sort::Cts, Body::Nothing, 24);
    let (_, end) = hand.after_sifs(over);
    hand.answer(end, Sort::Ack, Body::Nothing, 24);
    assert_eq!(
        tell(&mut hand, &mut bench),
        [Some((Fate::Attempt, 1, 0, 1, 54)), None, Some((Fate::Delivered, 2, 0, 1, 24))]
    );
    assert_eq!(counted(&bench), [2, 1, 1, 0, 1]);
}

#[test]
fn what_is_given_up_names_the_ppdu_that_was_the_last() {
    let mut hand = Hand::new();
    let mut bench = bench_of(&with(&INFO, install, &[]), node(HERE, 3)).unwrap();
    hand.enqueue(1);
    for start in 1..8 {
        hand.grant(start * 10_000);
        hand.timeout();
    }
    assert_eq!(tell(&mut hand, &mut bench), [Some((Fate::GivenUp, 7, 0, 1, 54))]);
}
