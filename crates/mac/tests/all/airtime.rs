//! mac80211's queue: receivers in turn by airtime, and what lies below.

use engine::Streams;
use mac::{Links, Msdu, Next, PsduReport, RaTid, Sought, TxQueue};
use phy::{Mode, MpduSet, airtime};
use plugin::Value;
use proptest::prelude::*;
use queue::{Limit, Spec};
use std::collections::BTreeMap;
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Packets, Payload, Udp};

const NOW: SimTime = SimTime::ZERO;

/// A queue with these parameters, and its packets.
struct Fair {
    links: Links,
    all: Packets,
    /// Serial of the last packet.
    pushed: u64,
}

/// OFDM at 6 Mb/s: a packet of 1500 B is 1536 B as an MPDU, ⌈(22 + 8 · 1536) / 24⌉ = 513 symbols of 4 µs and 20 µs before them, 2072 µs.
fn slow() -> Mode {
    phy::Standard::A.modes()[0]
}

impl Fair {
    fn new(set: &[(&str, Value)]) -> Fair {
        let mut chosen = queue::find("mac80211").unwrap();
        set.iter().for_each(|(key, value)| chosen.params.set(key, *value));
        let mut links = Links::new(&Spec::new(Limit::Packets(8192), chosen), Bytes(1500), Streams::new(1));
        links.count_first_by(slow());
        Fair { links, all: Packets::default(), pushed: 0 }
    }

    /// Packets of 1500 B for a receiver, of one flow.
    fn push(&mut self, to: u32, packets: usize) {
        for _ in 0..packets {
            let (ip, l4) = (Ipv4::default(), L4::Udp(Udp { src_port: to as u16, ..Udp::default() }));
            let pkt = self.all.put(Packet { ip, l4, payload: Payload::stream(0, 1472), flow: FlowId(to) });
            let msdu = Msdu::new(NOW, pkt, &self.all, NodeId(to), 0);
            self.pushed = msdu.serial;
            assert!(self.links.push(NOW, msdu, &mut self.all).is_ok());
        }
    }

    /// The receiver of what is sent next, with its MSDU.
    fn pop(&mut self) -> Option<(u32, Msdu)> {
        self.links.pop(NOW, &mut self.all).map(|msdu| (msdu.to.0, msdu))
    }

    /// The attempt for a receiver is over.
    fn over(&mut self, to: u32, lasted: Dur) {
        let link = RaTid { to: NodeId(to), tid: None };
        let (mode, acknowledged) = (slow(), &MpduSet::ONE);
        let report =
            PsduReport { link, ppdu: Some(1), mode, stage: 0, nth: 1, airtime: lasted, mpdus: 1, acknowledged };
        self.links.attempted(NOW, &report);
    }

    /// Receivers in the order in which they are sent to, as long as a packet for each takes so many µs.
    fn order(&mut self, lasts: &[(u32, u64)], packets: usize) -> Vec<u32> {
        let lasts: BTreeMap<u32, u64> = lasts.iter().copied().collect();
        let one = |it: &mut Fair| {
            let (to, msdu) = it.pop()?;
            it.over(to, Dur::from_us(lasts[&to]));
            it.all.free(msdu.pkt, wire::DropWhy::MacDone);
            Some(to)
        };
        (0..packets).map_while(|_| one(self)).collect()
    }
}

fn none() -> (&'static str, Value) {
    ("aql", Value::Choice("none"))
}

#[test]
fn a_receiver_is_sent_to_until_its_account_is_overdrawn_and_waits_until_it_is_paid_back() {
    let mut fair = Fair::new(&[none()]);
    fair.push(1, 9);
    fair.push(2, 9);
    // Accounts in µs, 256 at a visit in vain. Line 1, 2: 1 has 0, is sent to, −600. Visit: −344, to the end. 2 has 0: −100. Visit: 156, to
    // the end. 1: −88, to the end. 2 has 156: sent to, 56; again, −44. Visit: 212, end. 1: 168, end. 2: 212, 112, 12, −88: three packets.
    // Visit: 168, end. 1 has 168: −432.
    let order = fair.order(&[(1, 600), (2, 100)], 8);
    assert_eq!(order, [1, 2, 2, 2, 2, 2, 2, 1]);
}

#[test]
fn airtime_is_shared_and_not_bytes() {
    let mut fair = Fair::new(&[none()]);
    let lasts = [(1, 2000), (2, 300), (3, 150)];
    lasts.iter().for_each(|(to, _)| fair.push(*to, 2500));
    let order = fair.order(&lasts, 2000);
    let shares = lasts.map(|(to, us)| order.iter().filter(|it| **it == to).count() as f64 * us as f64);
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
    let jain = sum * sum / (3.0 * squares);
    // A packet of 2 ms of some 75 ms each: Jain's index of (1, 1, 1.03) is 0.9998.
    assert!(jain > 0.999, "{jain} {shares:?}");
    let bytes =
        order.iter().filter(|it| **it == 3).count() as f64 / order.iter().filter(|it| **it == 1).count() as f64;
    assert!((bytes - 2000.0 / 150.0).abs() < 1.0, "{bytes}");
}

#[test]
fn without_airtime_receivers_take_turns() {
    let mut fair = Fair::new(&[none(), ("airtime", Value::Bool(false))]);
    fair.push(1, 3);
    fair.push(2, 3);
    assert_eq!(fair.order(&[(1, 600), (2, 100)], 9), [1, 2, 1, 2, 1, 2]);
}

#[test]
fn what_is_heard_of_a_station_is_charged_to_it() {
    let mut fair = Fair::new(&[none()]);
    fair.push(1, 9);
    fair.push(2, 9);
    // 1 has sent for 1 ms: it is paid back after 4 visits, ⌈1000 / 256⌉. 2 has 0: −300; visit: −44; 1 −744 …
    fair.links.heard(NodeId(1), Dur::from_ms(1));
    assert_eq!(fair.order(&[(1, 300), (2, 300)], 5), [2, 2, 2, 1, 2]);
}

#[test]
fn a_debt_of_hours_is_paid_back_at_once_where_nobody_else_waits() {
    let mut fair = Fair::new(&[none()]);
    fair.links.heard(NodeId(1), Dur::from_secs(10_000));
    fair.push(1, 2);
    assert_eq!(fair.order(&[(1, 300)], 5), [1, 1]);
}

/// Packets below of each receiver, by what is sent when everything is tried in the order in which it was handed down.
fn below(fair: &mut Fair) -> Vec<(u32, usize)> {
    let mut runs: Vec<(u32, usize)> = Vec::new();
    // What is looked at lies below: a pop hands down, and what another asks for after it was there before.
    while let Some((to, msdu)) = fair.pop() {
        fair.all.free(msdu.pkt, wire::DropWhy::MacDone);
        match runs.last_mut() {
            Some((last, n)) if *last == to => *n += 1,
            _ => runs.push((to, 1)),
        }
        if runs.iter().map(|(_, n)| n).sum::<usize>() == 18 {
            break;
        }
    }
    runs
}

#[test]
fn below_lie_twelve_ms_of_a_receiver_while_all_have_less_than_24_and_five_of_others() {
    let mut fair = Fair::new(&[]);
    assert_eq!(airtime(slow(), Bytes(1536)), Dur::from_us(2072));
    (1..=4).for_each(|to| fair.push(to, 20));
    // 1 gets packets while it has less than 12 ms: six of 2.07 (12.43). 2 likewise: six (all: 24.9). 3 and 4: while they have less than 5:
    // three (6.2).  Nothing of it is over, so no more is handed down before all of that has come into service.
    assert_eq!(below(&mut fair), [(1, 6), (2, 6), (3, 3), (4, 3)]);
}

#[test]
fn nothing_of_the_fair_queue_overtakes_what_lies_below() {
    // A receiver with one packet goes before another's backlog in the fair queue; what was handed down goes before it.
    for (aql, order) in [("none", [1, 2, 1, 1, 1, 1, 1, 1]), ("on", [1, 1, 1, 1, 1, 1, 2, 1])] {
        let mut fair = Fair::new(&[("aql", Value::Choice(aql))]);
        fair.push(1, 20);
        let (to, first) = fair.pop().unwrap();
        fair.push(2, 1);
        fair.all.free(first.pkt, wire::DropWhy::MacDone);
        fair.over(to, Dur::from_us(2072));
        let mut found = vec![to];
        found.extend(fair.order(&[(1, 2072), (2, 2072)], 7));
        assert_eq!(found, order, "aql = {aql}");
    }
}

#[test]
fn a_packet_counts_below_by_what_its_exchanges_take_and_not_by_its_bits_alone() {
    let mut fair = Fair::new(&[]);
    fair.push(1, 30);
    // 4 ms each, where bits take 2.05: 12 ms are three packets, and not six, once what was handed down before is gone. One of the three is
    // over, and the account is overdrawn: another receiver's packet is the third.
    assert_eq!(fair.order(&[(1, 4000)], 12), [1; 12]);
    fair.push(2, 1);
    let order = fair.order(&[(1, 4000), (2, 4000)], 8);
    assert_eq!(order.iter().position(|to| *to == 2), Some(2), "{order:?}");
}

#[test]
fn firmware_takes_64_packets_of_a_receiver_however_long_they_last() {
    let mut fair = Fair::new(&[("aql", Value::Choice("off"))]);
    fair.push(1, 100);
    let (_, first) = fair.pop().unwrap();
    fair.all.free(first.pkt, wire::DropWhy::MacDone);
    fair.push(2, 1);
    fair.over(1, Dur::from_us(2072));
    // 64 were handed down; one is over, and one more of 1 or that of 2 comes behind the other 63.
    let order = fair.order(&[(1, 2072), (2, 2072)], 70);
    let place = order.iter().position(|to| *to == 2);
    assert!(place.is_some_and(|place| (63..=64).contains(&place)), "{order:?}");
}

#[test]
fn what_failed_goes_first_when_its_receiver_is_sent_to_next() {
    let mut fair = Fair::new(&[]);
    fair.push(1, 3);
    let (_, msdu) = fair.pop().unwrap();
    let serial = msdu.serial;
    fair.push(2, 1);
    fair.over(1, Dur::from_us(2072));
    let Next::Yield = fair.links.failed(NOW, msdu, false, &fair.all) else { panic!("it goes back") };
    let (to, again) = fair.pop().unwrap();
    assert_eq!((to, again.serial), (1, serial), "before the two of its receiver that lay below");
    let of_one = RaTid { to: NodeId(1), tid: None };
    let next = fair.links.pop_for(NOW, of_one, &mut fair.all).unwrap();
    assert_eq!(next.serial, serial + 1, "and they go with it, in their order");
    assert_eq!(fair.links.space().entries, 2);
}

#[test]
fn what_is_in_service_for_good_holds_nobody_back() {
    let mut fair = Fair::new(&[]);
    fair.push(1, 40);
    // No attempt is ever told of: 40 packets come out all the same.
    let mut out = 0;
    while let Some((_, msdu)) = fair.pop() {
        fair.all.free(msdu.pkt, wire::DropWhy::MacDone);
        out += 1;
    }
    assert_eq!(out, 40);
}

#[test]
fn a_wire_and_a_queue_for_all_receivers_are_refused_and_airtime_that_does_not_count_bounds_nothing() {
    let with = |key: &str, value: Value| {
        let mut chosen = queue::find("mac80211").unwrap();
        chosen.params.set(key, value);
        Spec::new(Limit::Packets(10), chosen)
    };
    let of_all = with("airtime", Value::Bool(true)).check(false).unwrap_err();
    assert!(of_all.to_string().contains("per = \"receiver\""), "{of_all}");
    let unbounded = with("airtime", Value::Bool(false)).check(true).unwrap_err();
    assert_eq!(unbounded.key, "aql");
    let crossed = with("aql_low", Value::Time(Dur::from_ms(13))).check(true).unwrap_err();
    assert_eq!(crossed.key, "aql_low");
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Push(u32),
    /// A PSDU of up to so many packets goes into service, if none is.
    Pop(usize),
    /// Of the PSDU in service these fail, the others are delivered; before that the attempt is told of, if it was one.
    Conclude(u8, bool),
    Heard(u32),
    Withdraw(usize),
    Drain,
}

proptest! {
    #[test]
    fn each_packet_comes_out_once_and_is_counted_whatever_lies_below(
        aql in prop::sample::select(vec!["on", "off", "none"]),
        counts in any::<bool>(),
        ops in prop::collection::vec(
            prop_oneof![
                30 => (1..4u32).prop_map(Op::Push),
                20 => (1..5usize).prop_map(Op::Pop),
                20 => any::<(u8, bool)>().prop_map(|(which, told)| Op::Conclude(which, told)),
                5 => (1..5u32).prop_map(Op::Heard),
                3 => (0..9usize).prop_map(Op::Withdraw),
                1 => Just(Op::Drain),
            ],
            1..300,
        ),
    ) {
        let airtime = ("airtime", Value::Bool(counts || aql == "on"));
        let mut fair = Fair::new(&[("aql", Value::Choice(aql)), airtime]);
        let (mut inside, mut service) = (BTreeMap::new(), Vec::<Msdu>::new());
        for op in ops {
            match op {
                Op::Push(to) => {
                    fair.push(to, 1);
                    inside.insert(fair.pushed, to);
                }
                Op::Pop(most) if service.is_empty() => {
                    let Some((to, first)) = fair.pop() else {
                        prop_assert!(inside.is_empty(), "{inside:?} waits for nothing");
                        continue;
                    };
                    prop_assert_eq!(inside.remove(&first.serial), Some(to));
                    let of = RaTid::of(&first);
                    service.push(first);
                    for _ in 1..most {
                        let shown = fair.links.peek(NOW, of, &mut fair.all).map(|msdu| msdu.serial);
                        let Some(next) = fair.links.pop_for(NOW, of, &mut fair.all) else {
                            prop_assert_eq!(shown, None);
                            break;
                        };
                        prop_assert_eq!((shown, next.to.0), (Some(next.serial), to));
                        prop_assert_eq!(inside.remove(&next.serial), Some(to));
                        service.push(next);
                    }
                    prop_assert!(service.is_sorted_by_key(|msdu| msdu.serial), "a receiver's packets keep their order");
                }
                Op::Pop(_) => {}
                Op::Conclude(which, is_told) => {
                    if let Some(first) = service.first().filter(|_| is_told) {
                        fair.over(first.to.0, Dur::from_us(2072));
                    }
                    for (place, msdu) in service.drain(..).enumerate() {
                        if which & 1 << place == 0 {
                            fair.all.free(msdu.pkt, wire::DropWhy::MacDone);
                            continue;
                        }
                        inside.insert(msdu.serial, msdu.to.0);
                        prop_assert!(matches!(fair.links.failed(NOW, msdu, false, &fair.all), Next::Yield));
                    }
                }
                Op::Heard(from) => fair.links.heard(NodeId(from), Dur::from_us(2072)),
                Op::Withdraw(place) => {
                    let serial = inside.keys().nth(place).copied();
                    let out = fair.links.withdraw(NOW, Sought::Serial(serial.unwrap_or_default()), &fair.all);
                    prop_assert_eq!(out.as_ref().map(|msdu| msdu.serial), serial);
                    if let Some(msdu) = out {
                        inside.remove(&msdu.serial);
                        fair.all.free(msdu.pkt, wire::DropWhy::Suppressed);
                    }
                }
                Op::Drain => {
                    let mut drained: Vec<u64> = fair.links.drain(NOW).into_iter().map(|msdu| msdu.serial).collect();
                    drained.sort_unstable();
                    prop_assert_eq!(&drained, &inside.keys().copied().collect::<Vec<_>>());
                    inside.clear();
                }
            }
            let space = fair.links.space();
            prop_assert_eq!((space.entries as usize, space.used), (inside.len(), Bytes(1500 * inside.len() as u64)));
        }
    }
}
