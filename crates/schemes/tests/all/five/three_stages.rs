//! A rate control whose chain has three stages, the last one behind an RTS.
//!
//! **Source** none; the shape of what Minstrel gives to mac80211.
//! **Realism** as any rate control that has made up its mind before the first attempt.
//! **Departs** from Minstrel: it learns nothing.
//! **Bound** 802.11a.
//! **Checked** by the tests below: each attempt by itself, with numbers worked by hand.

use std::cell::RefCell;
use std::rc::Rc;

use mac::{AckPolicy, Body, Chain, Head, Kind as Sort, Msdu, PsduReport, RateControl, SoFar, Stage};
use phy::Mode;
use schemes::testing::{Ground, HERE, THERE, node, with};
use schemes::{Info, NodeFacts, Params, Refusal, Site};
use units::{Dur, NodeId, SimTime};

use super::hand::{Hand, mode};

/// Its declaration.
pub const INFO: Info = Info {
    id: "three-stages",
    summary: "54 Mb/s twice, 24 Mb/s once, then 6 Mb/s behind RTS",
    source: "none",
    params: &[],
};

/// At every node with a radio.
pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        site.rate_control(|_| Box::new(ThreeStages::default()));
    }
    Ok(())
}

/// Stage, attempt of it, mode in Mb/s, whether it went out, MPDUs, places of those acknowledged: of an attempt.
type Told = (u8, u8, u64, bool, usize, Vec<usize>);

#[derive(Debug, Default, Clone)]
struct ThreeStages {
    asked: Rc<RefCell<Vec<(NodeId, u64, u8)>>>,
    told: Rc<RefCell<Vec<Told>>>,
}

impl RateControl for ThreeStages {
    fn chain(&mut self, _: SimTime, head: &Head, chain: &mut Chain) {
        self.asked.borrow_mut().push((head.link.to, head.mpdu.0, head.attempts));
        let short = Dur::from_us(600);
        chain.set([
            Stage::of(mode(54)).tries(2).at_most(short),
            Stage::of(mode(24)).tries(1).at_most(short),
            Stage::of(mode(6)).tries(3).behind_rts(),
        ]);
    }

    fn expected(&self, _: NodeId) -> Mode {
        mode(54)
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        let acknowledged = (0..report.mpdus).filter(|place| report.acknowledged.contains(*place)).collect();
        let mbps = report.mode.bit_rate().bps() / 1_000_000;
        let told = (report.stage, report.nth, mbps, report.ppdu.is_some(), report.mpdus, acknowledged);
        self.told.borrow_mut().push(told);
    }
}

/// Up to eight MPDUs, acknowledged at once.
#[derive(Debug)]
struct Eight;

impl AckPolicy for Eight {
    fn admits(&mut self, so_far: &SoFar, _: &Msdu, _: Mode) -> bool {
        so_far.mpdus < 8
    }
}

/// A station with this rate control, and what that notes.
fn station() -> (Hand, ThreeStages) {
    let (mut hand, rates) = (Hand::new(), ThreeStages::default());
    hand.station.rates_by(Box::new(rates.clone()));
    (hand, rates)
}

// 1536 B are 12310 bits with service and tail: 57 symbols at 54 Mb/s, 129 at 24, 513 at 6, of 4 µs behind 20 µs. An RTS
// takes 52 µs at 6 Mb/s, CTS and Ack 44; an Ack at 24 Mb/s takes 28. A SIFS is 16 µs.
const RTS: (u64, u64) = (52, 3 * 16 + 44 + 2072 + 44);

#[test]
fn attempts_walk_along_the_chain_and_the_last_stage_goes_behind_rts() {
    let (mut hand, rates) = station();
    hand.enqueue(2);
    for (start, sent) in [
        (1000, (Sort::Data, 54, 1000, 248, 44, 1)),
        (2000, (Sort::Data, 54, 2000, 248, 44, 1)),
        (3000, (Sort::Data, 24, 3000, 536, 44, 1)),
        (5000, (Sort::Rts, 6, 5000, RTS.0, RTS.1, 1)),
    ] {
        assert_eq!(hand.grant(start).0, sent);
        hand.timeout();
    }
    // The RTS is answered, the data are not; then both are.
    for (start, is_acknowledged) in [(6000, false), (9000, true)] {
        let (rts, end) = hand.grant(start);
        assert_eq!(rts, (Sort::Rts, 6, start, RTS.0, RTS.1, 1));
        let over = hand.answer(end, Sort::Cts, Body::Nothing, 6);
        assert_eq!(over, start + 52 + 16 + 44);
        let (data, end) = hand.after_sifs(over);
        assert_eq!(data, (Sort::Data, 6, over + 16, 2072, 60, 1));
        if is_acknowledged {
            hand.answer(end, Sort::Ack, Body::Nothing, 6);
        } else {
            hand.timeout();
        }
    }
    let none = || Vec::new();
    assert_eq!(
        *rates.told.borrow(),
        [
            (0, 1, 54, true, 1, none()),
            (0, 2, 54, true, 1, none()),
            (1, 1, 24, true, 1, none()),
            (2, 1, 6, false, 1, none()),
            (2, 2, 6, true, 1, none()),
            (2, 3, 6, true, 1, vec![0]),
        ]
    );
    // The next MSDU begins with the first stage of its own chain.
    let (data, end) = hand.grant(20_000);
    assert_eq!(data, (Sort::Data, 54, 20_000, 248, 44, 1));
    hand.answer(end, Sort::Ack, Body::Nothing, 24);
    assert_eq!(*rates.asked.borrow(), [(THERE, 1536, 0); 2]);
    assert_eq!(hand.said.len(), 2, "both were delivered");
}

#[test]
fn a_chain_that_is_used_up_is_followed_by_another_one() {
    let (mut hand, rates) = station();
    hand.enqueue(1);
    // Seven attempts fail: three at data, four at RTS, all counted as short.
    let sent: Vec<u64> = (1..8)
        .map(|i| {
            let rate = hand.grant(i * 10_000).0.1;
            hand.timeout();
            rate
        })
        .collect();
    assert_eq!(sent, [54, 54, 24, 6, 6, 6, 54]);
    assert_eq!(*rates.asked.borrow(), [(THERE, 1536, 0), (THERE, 1536, 6)]);
    assert_eq!(hand.station.counters().msdus_given_up, 1);
}

#[test]
fn data_behind_an_rts_count_as_long_so_that_the_cts_does_not_have_them_tried_for_ever() {
    let (mut hand, _) = station();
    hand.enqueue(1);
    for i in 1..4 {
        hand.grant(i * 10_000);
        hand.timeout();
    }
    // The chain has three tries behind RTS and then begins anew: 54, 54 and 24 Mb/s, and the fourth behind RTS.
    let rates: Vec<u64> = (4..11)
        .map(|i| {
            let (sent, end) = hand.grant(i * 10_000);
            if sent.0 == Sort::Rts {
                let over = hand.answer(end, Sort::Cts, Body::Nothing, 6);
                hand.after_sifs(over);
            }
            hand.timeout();
            sent.1
        })
        .collect();
    assert_eq!(rates, [6, 6, 6, 54, 54, 24, 6]);
    assert_eq!(hand.station.counters().msdus_given_up, 1, "four long failures");
}

#[test]
fn an_aggregate_is_no_longer_on_the_air_than_its_stage_allows() {
    let (mut hand, rates) = station();
    hand.station.acknowledged_by(Box::new(Eight));
    hand.enqueue(6);
    // Of 1540 B each: two take 480 µs at 54 Mb/s, three 708. At 24 Mb/s two take 1048.
    for (start, sent) in [
        (10_000, (Sort::Data, 54, 10_000, 480, 44, 2)),
        (20_000, (Sort::Data, 54, 20_000, 480, 44, 2)),
        (30_000, (Sort::Data, 24, 30_000, 536, 44, 1)),
    ] {
        assert_eq!(hand.grant(start).0, sent);
        hand.timeout();
    }
    // Behind RTS there is no limit: all six, of 9240 B or 73942 bits, 3081 symbols.
    let (_, end) = hand.grant(40_000);
    let over = hand.answer(end, Sort::Cts, Body::Nothing, 6);
    let (data, end) = hand.after_sifs(over);
    assert_eq!((data.3, data.5), (12_344, 6));
    hand.answer(end, Sort::Ack, Body::Nothing, 6);
    assert_eq!(rates.told.borrow()[3], (2, 1, 6, true, 6, (0..6).collect()));
    assert_eq!(rates.asked.borrow().len(), 1);
}

#[test]
fn it_takes_the_seat_of_the_rate_control_at_nodes_with_a_radio() {
    for has_air in [false, true] {
        let mut ground = Ground::new(NodeFacts { has_air, ..node(HERE, 2) });
        assert_eq!(ground.install(&with(&INFO, install, &[])), Ok(has_air));
        let rates = ground.stack.rate_control(Box::new(mac::Fixed::new(mode(6))));
        assert_eq!(rates.expected(THERE), mode(if has_air { 54 } else { 6 }));
    }
}
