//! A queue for each link: its books, and what a receiver that is gone costs the others.

use crate::dcf::harness::{self as dcf, ACK, CTS, DATA, RTS};
use crate::harness::{self, A, B, Build, Ears, NOBODY, Net, Told};
use engine::{Purpose, Streams};
use mac::{Around, Config, Edca, Fate, Fifo, Kind, Links, Msdu, Next, RaTid, Sought, TxQueue, TxopLimits};
use phy::{Mode, Standard, airtime};
use plugin::Params;
use proptest::prelude::*;
use queue::{Limit, Spec, Turns};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp, ecn};

const MTU: Bytes = Bytes(1500);

/// A datagram of so many bytes for `to`.
fn msdu(now: SimTime, all: &mut Packets, (to, flow, size, is_ect): (u32, u32, u32, bool)) -> Msdu {
    let tos = if is_ect { ecn::ECT_0 } else { ecn::NOT_ECT };
    let (ip, l4) = (Ipv4 { tos, ..Ipv4::default() }, L4::Udp(Udp { src_port: flow as u16, ..Udp::default() }));
    let pkt = all.put(Packet { ip, l4, payload: Payload::stream(0, size - 28), flow: FlowId(flow) });
    Msdu::new(now, pkt, all, NodeId(to), 0)
}

fn drop_tail(limit: Limit) -> Links {
    Links::new(&Spec::drop_tail(limit), MTU, Streams::new(1))
}

fn serials(all: Vec<Msdu>) -> Vec<u64> {
    all.into_iter().map(|msdu| msdu.serial).collect()
}

const NOW: SimTime = SimTime::ZERO;

/// Links with these MSDUs of 1000 B, by receiver, serials from 1 on.
fn holding(limit: Limit, receivers: &[u32]) -> (Links, Packets) {
    let (mut links, mut all) = (drop_tail(limit), Packets::default());
    for to in receivers {
        let one = msdu(NOW, &mut all, (*to, 0, 1000, false));
        assert!(links.push(NOW, one, &mut all).is_ok());
    }
    (links, all)
}

const ROOMY: Limit = Limit::Packets(99);

#[test]
fn links_take_turns_and_each_keeps_its_order() {
    let (mut links, mut all) = holding(ROOMY, &[1, 1, 1, 2, 3, 2]);
    let popped = std::iter::from_fn(|| links.pop(NOW, &mut all)).collect();
    assert_eq!(serials(popped), [1, 4, 5, 2, 6, 3]);
    assert_eq!((links.space().entries, links.space().used), (0, Bytes::ZERO));
}

#[test]
fn what_failed_goes_back_to_the_head_of_its_link_and_the_next_link_has_its_turn() {
    let (mut links, mut all) = holding(ROOMY, &[1, 1, 2]);
    let mut first = links.pop(NOW, &mut all).unwrap();
    (first.seq, first.attempts) = (Some(7), 3);
    assert!(matches!(links.failed(NOW, first, false, &all), Next::Yield));
    assert_eq!((links.space().entries, links.space().used), (3, Bytes(3000)));
    assert_eq!(links.pop(NOW, &mut all).unwrap().serial, 3);
    let again = links.pop(NOW, &mut all).unwrap();
    assert_eq!((again.serial, again.seq, again.attempts), (1, Some(7), 3));
    let Next::GiveUp(lost) = links.failed(NOW, again, true, &all) else { panic!("it was the last attempt") };
    assert_eq!((lost.serial, links.pop(NOW, &mut all).unwrap().serial), (1, 2));
}

#[test]
fn a_psdu_that_failed_comes_back_in_its_order_before_what_was_only_looked_at() {
    let (mut links, mut all) = holding(ROOMY, &[1, 1, 1, 1, 2]);
    let one = RaTid { to: NodeId(1), tid: None };
    let first = links.pop(NOW, &mut all).unwrap();
    assert_eq!(links.peek(NOW, one, &mut all).unwrap().serial, 2);
    let second = links.pop_for(NOW, one, &mut all).unwrap();
    assert_eq!(links.peek(NOW, one, &mut all).unwrap().serial, 3, "it does not join");
    assert!(links.peek(NOW, RaTid { tid: Some(0), ..one }, &mut all).is_none());
    for msdu in [first, second] {
        assert!(matches!(links.failed(NOW, msdu, false, &all), Next::Yield));
    }
    let popped = std::iter::from_fn(|| links.pop(NOW, &mut all)).collect();
    assert_eq!(serials(popped), [5, 1, 2, 3, 4]);
}

#[test]
fn what_was_taken_ahead_comes_back_behind_what_failed_and_its_link_has_its_turn() {
    let (mut links, mut all) = holding(ROOMY, &[1, 1, 2, 2, 3]);
    let [failed, ahead] = [(); 2].map(|()| links.pop(NOW, &mut all).unwrap());
    assert!(matches!(links.failed(NOW, failed, false, &all), Next::Yield));
    assert!(links.put_back(NOW, ahead, &all).is_none());
    assert_eq!((links.space().entries, links.space().used), (5, Bytes(5000)));
    let popped = std::iter::from_fn(|| links.pop(NOW, &mut all)).collect();
    assert_eq!(serials(popped), [3, 5, 1, 4, 2]);
    // Of one link.
    let (mut links, mut all) = holding(ROOMY, &[1, 1, 1]);
    let [failed, ahead] = [(); 2].map(|()| links.pop(NOW, &mut all).unwrap());
    assert!(
        matches!(links.failed(NOW, failed, false, &all), Next::Yield) && links.put_back(NOW, ahead, &all).is_none()
    );
    let popped = std::iter::from_fn(|| links.pop(NOW, &mut all)).collect();
    assert_eq!(serials(popped), [1, 2, 3]);
}

#[test]
fn in_an_opportunity_of_several_exchanges_no_later_msdu_of_a_link_goes_before_one_that_failed() {
    let edca = Edca::standard(Standard::B, &Standard::B.timing(), TxopLimits::Dot11);
    let config = dcf::config().with_edca(edca);
    let configs = [config.clone(), config];
    let mut net = Net::build(&Build { queue: &harness::links, ..Build::of(&configs) });
    net.errors(0, A, B, harness::HIT).errors(9_000, A, B, harness::CLEAN);
    for _ in 0..4 {
        net.enqueue(1000, A, B, 100);
    }
    net.run(100_000);
    let seqs: Vec<u16> = net.of(A, Kind::Data).iter().map(|sent| sent.frame.seq).collect();
    assert!(seqs.is_sorted() && seqs.iter().filter(|seq| **seq == 0).count() > 1, "{seqs:?}");
    assert_eq!((seqs.last(), net.handed_up), (Some(&3), 4));
}

#[test]
fn what_is_queued_for_a_neighbour_that_has_gone_comes_back_in_its_order_and_what_is_in_service_does_not() {
    type Make = fn(&Spec, Streams) -> Box<dyn TxQueue>;
    for queue in [harness::links as Make, harness::fifo] {
        let configs = [dcf::config(), dcf::config(), dcf::config()];
        let mut net = Net::build(&Build { queue: &queue, ..Build::of(&configs) });
        for to in [0, 1, 0, 1, 0].map(|other| NodeId(B.0 + other)) {
            net.enqueue(1000, A, to, 100);
        }
        net.run(1000);
        let Net { stations, packets, .. } = &mut net;
        let recalled = stations[A.index()].recall(harness::at(1001), B, packets);
        let serials: Vec<u64> = recalled.iter().map(|pkt| packets.serial(pkt)).collect();
        assert!(serials.is_sorted() && serials.len() == 2, "{serials:?}");
        recalled.into_iter().for_each(|pkt| _ = packets.free(pkt, DropWhy::NoRoute));
        let counters = stations[A.index()].counters();
        assert_eq!((counters.msdus_offered, counters.msdus_abandoned), (5, 2));
        net.run(100_000);
        assert_eq!(net.handed_up, 3);
        assert_eq!(net.stations[A.index()].recall(harness::at(100_001), B, &mut net.packets), []);
    }
}

#[test]
fn the_longest_link_makes_room_for_another_and_refuses_what_is_its_own() {
    let (mut links, mut all) = holding(Limit::Packets(4), &[1, 1, 1, 1]);
    let own = msdu(NOW, &mut all, (1, 0, 1000, false));
    assert_eq!(links.push(NOW, own, &mut all).unwrap_err().serial, 5);
    let other = msdu(NOW, &mut all, (2, 0, 1000, false));
    assert!(links.push(NOW, other, &mut all).is_ok());
    assert_eq!(links.dropped(&all).map(|lost| lost.serial), Some(4), "the tail of the longest");
    let other = msdu(NOW, &mut all, (2, 0, 1000, false));
    assert!(links.push(NOW, other, &mut all).is_ok() && links.dropped(&all).is_some());
    let other = msdu(NOW, &mut all, (2, 0, 1000, false));
    assert_eq!(links.push(NOW, other, &mut all).unwrap_err().serial, 8, "two and two: no link is longer");
    let stats = links.stats(NOW).unwrap();
    assert_eq!((stats.offered, stats.dropped_full, stats.max_entries), (8, 4, 4));
}

/// Every discipline of the registry under which links take turns one after the other.
fn spec() -> impl Strategy<Value = Spec> {
    let all: Vec<_> = queue::registry().iter().map(|entry| entry.with(Params::sample(entry.info.params))).collect();
    let limit = prop_oneof![
        (1..20u32).prop_map(Limit::Packets),
        (1500..20_000u64).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
    ];
    let spec = (limit, prop::sample::select(all)).prop_map(|(limit, discipline)| Spec::new(limit, discipline));
    spec.prop_filter("its parameters fit", |spec| spec.turns() == Ok(Turns::Round))
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Push {
        to: u32,
        flow: u32,
        size: u32,
        is_ect: bool,
    },
    /// A PSDU of up to so many MSDUs goes into service, if none is.
    Pop {
        most: usize,
    },
    /// Looks at a link.
    Peek(u32),
    /// Of the PSDU in service these fail, the others are delivered. The last bit: for the last time.
    Conclude(u8),
    Withdraw(usize),
    Drain,
}

fn ops(links: u32) -> impl Strategy<Value = Vec<(u64, Op)>> {
    let push = (1..=links, 0..3u32, 40..=1500u32, any::<bool>());
    let op = prop_oneof![
        30 => push.prop_map(|(to, flow, size, is_ect)| Op::Push { to, flow, size, is_ect }),
        20 => (1..4usize).prop_map(|most| Op::Pop { most }),
        3 => (1..=links).prop_map(Op::Peek),
        20 => any::<u8>().prop_map(Op::Conclude),
        3 => (0..9usize).prop_map(Op::Withdraw),
        1 => Just(Op::Drain),
    ];
    prop::collection::vec((0..9_000_000u64, op), 1..300)
}

/// The same queue, kept by hand.
#[derive(Default)]
struct Model {
    /// Size and link of what it holds, by serial.
    inside: BTreeMap<u64, (Bytes, u32)>,
    /// Of each link, what goes first, in this order.
    ahead: BTreeMap<u32, VecDeque<u64>>,
    turns: VecDeque<u32>,
    dropped: u64,
}

impl Model {
    fn has(&self, link: u32) -> bool {
        self.inside.values().any(|(_, to)| *to == link)
    }

    fn awaits_turn(&mut self, link: u32) {
        if !self.turns.contains(&link) {
            self.turns.push_back(link);
        }
    }

    fn note_dropped(&mut self, links: &mut Links, all: &mut Packets) {
        while let Some(lost) = links.dropped(all) {
            assert!(self.inside.remove(&lost.serial).is_some(), "it was not queued");
            assert!(!self.ahead.values().flatten().any(|serial| *serial == lost.serial), "it was in service");
            self.dropped += 1;
            all.free(lost.pkt, DropWhy::QueueFull);
        }
    }

    /// It leaves its link, as the first of those that go first.
    fn leaves(&mut self, msdu: &Msdu) -> u32 {
        let (_, link) = self.inside.remove(&msdu.serial).expect("it was queued");
        if let Some(first) = self.ahead.entry(link).or_default().pop_front() {
            assert_eq!(msdu.serial, first);
        }
        link
    }
}

proptest! {
    #[test]
    fn whatever_discipline_is_inside_each_msdu_comes_out_once_in_turn_and_is_counted(
        spec in spec(), ops in ops(4), seed in any::<u64>()
    ) {
        let mut links = Links::new(&spec, MTU, Streams::new(seed));
        let (mut all, mut now, mut model) = (Packets::default(), NOW, Model::default());
        let (mut service, mut offered): (Vec<Msdu>, u64) = (Vec::new(), 0);
        for (wait, op) in ops {
            now += Dur::from_ns(wait);
            match op {
                Op::Push { to, flow, size, is_ect } => {
                    offered += 1;
                    let one = msdu(now, &mut all, (to, flow, size, is_ect));
                    let (serial, len) = (one.serial, Bytes(u64::from(size)));
                    match links.push(now, one, &mut all) {
                        Ok(()) => {
                            model.inside.insert(serial, (len, to));
                            model.awaits_turn(to);
                        }
                        Err(lost) => {
                            prop_assert_eq!(lost.serial, serial);
                            model.dropped += 1;
                            all.free(lost.pkt, DropWhy::QueueFull);
                        }
                    }
                    model.note_dropped(&mut links, &mut all);
                }
                Op::Pop { most } if service.is_empty() => {
                    let popped = links.pop(now, &mut all);
                    model.note_dropped(&mut links, &mut all);
                    let Some(first) = popped else {
                        prop_assert!(model.inside.is_empty());
                        model.turns.clear();
                        continue;
                    };
                    let of = RaTid::of(&first);
                    // Links before it had nothing, or their disciplines have dropped it.
                    while let Some(link) = model.turns.pop_front().filter(|link| *link != of.to.0) {
                        prop_assert!(!model.has(link), "the turn was {}'s", link);
                    }
                    let link = model.leaves(&first);
                    model.turns.push_back(link);
                    service.push(first);
                    for _ in 1..most {
                        let shown = links.peek(now, of, &mut all).map(|msdu| msdu.serial);
                        let taken = links.pop_for(now, of, &mut all);
                        prop_assert_eq!(shown, taken.as_ref().map(|msdu| msdu.serial));
                        model.note_dropped(&mut links, &mut all);
                        taken.iter().for_each(|msdu| _ = model.leaves(msdu));
                        service.extend(taken);
                    }
                }
                Op::Pop { .. } => {}
                Op::Peek(link) => {
                    let shown = links.peek(now, RaTid { to: NodeId(link), tid: None }, &mut all).map(|msdu| msdu.serial);
                    model.note_dropped(&mut links, &mut all);
                    prop_assert_eq!(shown.is_some(), model.has(link));
                    let ahead = model.ahead.entry(link).or_default();
                    if ahead.is_empty() {
                        ahead.extend(shown);
                    }
                    prop_assert_eq!(ahead.front().copied(), shown);
                }
                Op::Conclude(which) => {
                    let mut back = Vec::new();
                    for (place, msdu) in service.drain(..).enumerate() {
                        if which & 1 << place == 0 {
                            all.free(msdu.pkt, DropWhy::MacDone);
                            continue;
                        }
                        let (serial, size, to) = (msdu.serial, all.get(&msdu.pkt).ip_len(), msdu.to.0);
                        match links.failed(now, msdu, which & 0x80 != 0, &all) {
                            Next::Yield => {
                                model.inside.insert(serial, (size, to));
                                model.awaits_turn(to);
                                back.push((serial, to));
                            }
                            Next::GiveUp(msdu) => _ = all.free(msdu.pkt, DropWhy::MacDone),
                            Next::Again(_) => panic!("the next link has its turn"),
                        }
                    }
                    back.into_iter().rev().for_each(|(serial, to)| model.ahead.entry(to).or_default().push_front(serial));
                }
                Op::Withdraw(place) => {
                    let serial = model.inside.keys().nth(place).copied();
                    let out = links.withdraw(now, Sought::Serial(serial.unwrap_or_default()), &all);
                    prop_assert_eq!(out.as_ref().map(|msdu| msdu.serial), serial);
                    if let Some(msdu) = out {
                        model.inside.remove(&msdu.serial);
                        model.ahead.values_mut().for_each(|ahead| ahead.retain(|it| *it != msdu.serial));
                        all.free(msdu.pkt, DropWhy::Suppressed);
                    }
                }
                Op::Drain => {
                    let mut drained = serials(links.drain(now));
                    drained.sort_unstable();
                    prop_assert_eq!(&drained, &model.inside.keys().copied().collect::<Vec<_>>());
                    (model.inside, model.ahead, model.turns) = Default::default();
                }
            }
            let space = links.space();
            prop_assert_eq!(space.entries as usize, model.inside.len());
            prop_assert_eq!(space.used, model.inside.values().map(|(size, _)| *size).sum::<Bytes>());
            let (mut ahead, mut ahead_bytes) = (0, Bytes::ZERO);
            for serial in model.ahead.values().flatten() {
                (ahead, ahead_bytes) = (ahead + 1, ahead_bytes + model.inside[serial].0);
            }
            let queued = u64::from(space.entries) - ahead;
            let free = match spec.limit {
                Limit::Packets(n) => MTU * (u64::from(n) - queued),
                Limit::Bytes(most) => most - (space.used - ahead_bytes),
            };
            prop_assert_eq!(space.free, free, "what came back takes no room");
            let stats = links.stats(now).unwrap();
            prop_assert_eq!((stats.offered, stats.dropped_full + stats.dropped_early), (offered, model.dropped));
            prop_assert_eq!(stats.offered, stats.departed + stats.dropped() + stats.abandoned + queued);
            if let Limit::Packets(n) = spec.limit {
                prop_assert!(stats.max_entries <= n);
            }
        }
    }

    // With the same draws the two are the same queue, bit by bit.
    #[test]
    fn a_station_with_one_link_has_the_queue_of_an_interface(spec in spec(), ops in ops(1), seed in any::<u64>()) {
        let streams = Streams::new(seed);
        let mut links = Links::new(&spec, MTU, streams);
        let mut fifo = Fifo::new(&spec, MTU, streams.get(Purpose::Queue, 1 << 8));
        let (mut all, mut others, mut now) = (Packets::default(), Packets::default(), NOW);
        for (wait, op) in ops {
            now += Dur::from_ns(wait);
            let (one, other) = match op {
                Op::Push { to, flow, size, is_ect } => {
                    let given = (to, flow, size, is_ect);
                    let (one, other) = (msdu(now, &mut all, given), msdu(now, &mut others, given));
                    (links.push(now, one, &mut all).err(), fifo.push(now, other, &mut others).err())
                }
                Op::Pop { .. } => (links.pop(now, &mut all), fifo.pop(now, &mut others)),
                _ => continue,
            };
            let shown = |msdu: &Msdu, all: &Packets| (msdu.serial, all.get(&msdu.pkt).ip.tos);
            prop_assert_eq!(one.map(|it| shown(&it, &all)), other.map(|it| shown(&it, &others)));
            let lost = std::iter::from_fn(|| links.dropped(&all)).collect();
            prop_assert_eq!(serials(lost), serials(std::iter::from_fn(|| fifo.dropped(&others)).collect()));
            prop_assert_eq!((links.space(), links.stats(now)), (fifo.space(), fifo.stats(now)));
        }
    }
}

/// 802.11b at 11 Mb/s, under DCF or with EDCA's categories.
fn config(is_edca: bool) -> Config {
    let config = Config::of(Standard::B, Mode::dsss(3));
    let edca = Edca::standard(Standard::B, &config.timing, TxopLimits::Zero);
    if is_edca { config.clone().with_edca(edca) } else { config }
}

/// Data frames to [`B`], and to a receiver that is not there, in ten seconds in which [`A`] always has both.
fn beside_nobody(is_edca: bool, is_by_link: bool) -> (Net, [Vec<u64>; 2]) {
    let configs = [config(is_edca), config(is_edca)];
    let queue: &dyn Fn(&Spec, Streams) -> Box<dyn TxQueue> =
        if is_by_link { &harness::links } else { &harness::fifo };
    let mut net = Net::build(&Build { queue, limit: Limit::Packets(20), ..Build::of(&configs) });
    let category = u8::from(is_edca);
    net.saturate(A, B, (category, 0), 1500).saturate(A, NOBODY, (category, 0), 1500).run(10_000_000);
    let to = |to| net.of(A, Kind::Data).iter().filter(|sent| sent.frame.to == to).map(|sent| sent.start).collect();
    let starts = [to(B), to(NOBODY)];
    (net, starts)
}

#[test]
fn in_one_queue_for_all_a_receiver_that_is_gone_takes_seven_attempts_for_each_msdu_of_another() {
    for is_edca in [false, true] {
        let (_, [alive, gone]) = beside_nobody(is_edca, false);
        assert!(gone.len() >= 6 * alive.len(), "{} beside {}", gone.len(), alive.len());
        let (_, [by_link, _]) = beside_nobody(is_edca, true);
        // 7 attempts with windows up to 1023 slots are some 40 ms; one, and the doubled window behind it, 2 ms.
        assert!(by_link.len() > 7 * alive.len(), "{} beside {}", by_link.len(), alive.len());
    }
}

#[test]
fn by_link_it_costs_another_its_attempts_and_the_window_that_they_double_and_nothing_else() {
    for is_edca in [false, true] {
        let (net, [alive, gone]) = beside_nobody(is_edca, true);
        assert!(alive.len().abs_diff(gone.len()) <= 2, "turn by turn: {} and {}", alive.len(), gone.len());
        let given_up = net.done(A).iter().filter(|(fate, _)| *fate == Fate::GivenUp).count();
        assert!(
            net.done(A)
                .iter()
                .all(|(fate, attempts)| matches!((fate, attempts), (Fate::Delivered, 1) | (Fate::GivenUp, 7)))
        );
        // A turn of each: DIFS (AIFS), 31/2 slots, a frame in vain; then a frame and its ACK behind 63/2 slots, or 31/2 where the MSDU
        // before was given up. EDCA counts the slot boundary that ends AIFS, and 1 of 7 windows is a fresh one.
        let config = config(is_edca);
        // The one that is there has categories too, and so QoS Control.
        let [frame, in_qos] =
            [0, if is_edca { 2 } else { 0 }].map(|more| airtime(config.data_rate, Bytes(1536 + more)));
        let timing = config.timing;
        let ack = config.control_modes.response_to(config.data_rate);
        let access = config.accesses()[usize::from(is_edca)];
        let slots = |half_slots: u64| timing.slot * half_slots / 2;
        let in_vain = access.ifs + slots(31) + frame + config.response_timeout(ack);
        let again = (slots(63) * 6 + slots(31)) / 7 + in_qos + timing.sifs + airtime(ack, Bytes(14));
        let expected = 10_000_000.0 / ((in_vain + again).ns() as f64 / 1000.0);
        let off = alive.len() as f64 / expected - 1.0;
        assert!(off.abs() < 0.015, "{} instead of {expected:.0}", alive.len());
        assert!((given_up as f64 * 7.0 / gone.len() as f64 - 1.0).abs() < 0.02);
    }
}

/// An A that notes what its queue is told, beside a B, 802.11b at 11 Mb/s with this RTS threshold.
fn told(rts: Option<Bytes>, script: impl Fn(&mut Net)) -> Vec<Told> {
    let (ears, mut config) = (Ears::default(), dcf::config());
    config.rts.threshold = rts;
    let queue = |spec: &Spec, streams| -> Box<dyn TxQueue> {
        Box::new(Around::new(harness::links(spec, streams), ears.clone()))
    };
    let configs = [config.clone(), config];
    let mut net = Net::build(&Build { queue: &queue, ..Build::of(&configs) });
    script(&mut net);
    net.run(100_000);
    ears.0.take()
}

#[test]
fn a_queue_is_told_of_each_attempt_the_link_the_airtime_and_what_became_of_the_mpdu() {
    let report = |to, airtime, [sent, acknowledged]: [usize; 2]| {
        let link = RaTid { to, tid: None };
        Told { link, airtime, sent, acknowledged: (0..acknowledged).collect() }
    };
    let plain = told(None, |net| _ = net.enqueue(1000, A, B, 1500));
    assert_eq!(plain, [report(B, DATA + ACK, [1, 1])]);
    let behind_rts = told(Some(Bytes(0)), |net| _ = net.enqueue(1000, A, B, 1500));
    assert_eq!(behind_rts, [report(B, RTS + CTS + DATA + ACK, [1, 1])]);
    let in_vain = told(None, |net| _ = net.enqueue(1000, A, NOBODY, 1500));
    assert_eq!(in_vain, vec![report(NOBODY, DATA, [1, 0]); 7]);
    let rts_in_vain = told(Some(Bytes(0)), |net| _ = net.enqueue(1000, A, NOBODY, 1500));
    assert_eq!(rts_in_vain, vec![report(NOBODY, RTS, [0, 0]); 7]);
    // 1536 B at the lowest basic rate, 1 Mb/s.
    let to_all = told(None, |net| _ = net.enqueue(1000, A, NodeId::BROADCAST, 1500));
    assert_eq!(to_all, [report(NodeId::BROADCAST, 192 + 1536 * 8, [1, 0])]);
}

#[test]
fn what_contends_for_its_first_attempt_comes_back_too_and_the_next_takes_its_place() {
    for behind in [0, 1] {
        let configs = [dcf::config(), dcf::config(), dcf::config()];
        let mut net = Net::build(&Build { queue: &harness::fifo, ..Build::of(&configs) });
        let other = NodeId(B.0 + 1);
        for to in [B, B, other].into_iter().take(2 + behind) {
            net.enqueue(1000, A, to, 100);
        }
        // Until the first has arrived: B's acknowledgment ends, and the second contends with its backoff.
        let mut us = 1000;
        while net.stations[A.index()].counters().msdus_delivered == 0 {
            us += 1;
            net.run(us);
        }
        let Net { stations, packets, .. } = &mut net;
        let recalled = stations[A.index()].recall(harness::at(us), B, packets);
        assert_eq!(recalled.len(), 1, "the second");
        recalled.into_iter().for_each(|pkt| _ = packets.free(pkt, DropWhy::NoRoute));
        net.run(us + 50_000);
        assert_eq!(net.handed_up, 1 + behind as u64);
        // Nothing contends in vain, and what comes later is sent.
        net.enqueue(us + 50_000, A, B, 100);
        net.run(us + 100_000);
        assert_eq!(net.handed_up, 2 + behind as u64);
    }
}
