//! Whatever is asked of a queue, its books balance: against a model that keeps every entry and remembers every event.

use engine::{Purpose, Streams};
use plugin::{Params, Value};
use proptest::prelude::*;
use queue::{Arrival, FlowKey, Limit, Mark, Queue, Refused, Space, Spec, Stats};
use std::collections::BTreeSet;
use units::{Bytes, Dur, SimTime};

const MTU: Bytes = Bytes(1500);

#[derive(Debug, Clone, Copy)]
enum Op {
    Push {
        size: u64,
        is_ect: bool,
        flow: u8,
    },
    Pop,
    /// The entry at this place, if there is one.
    Withdraw(usize),
    Drain,
    /// Room is needed elsewhere.
    Shed,
}

fn ops() -> impl Strategy<Value = Vec<(u64, Op)>> {
    let push = (40..=1500u64, any::<bool>(), 0..3u8).prop_map(|(size, is_ect, flow)| Op::Push { size, is_ect, flow });
    let op = prop_oneof![30 => push, 20 => Just(Op::Pop), 5 => (0..6usize).prop_map(Op::Withdraw), 1 => Just(Op::Drain), 2 => Just(Op::Shed)];
    prop::collection::vec((0..3_000_000u64, op), 1..400)
}

/// A discipline by its id, and what is set of its parameters.
type Chosen = (&'static str, Vec<(&'static str, Value)>);

fn red() -> impl Strategy<Value = Chosen> {
    let shares = (0.01..=1.0f64, 0.001..=1.0f64);
    // In packets; the test scales them to bytes where the limit is.
    (0.0..6.0f64, 0.5..10.0f64, shares, any::<bool>(), any::<bool>()).prop_map(
        |(min_th, above, (max_p, weight), gentle, ecn)| {
            let floats = [("min_th", min_th), ("max_th", min_th + above), ("max_p", max_p), ("weight", weight)];
            let bools = [("gentle", gentle), ("ecn", ecn)].map(|(key, on)| (key, Value::Bool(on)));
            ("red", floats.map(|(key, value)| (key, Value::Float(value))).into_iter().chain(bools).collect())
        },
    )
}

/// Times of the order of those between two operations, so that packets are dropped and marked.
fn codel() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    (1..20u64, 1..100u64, any::<bool>(), 0..3u64).prop_map(|(target, above, ecn, threshold)| {
        let time = |ms| Value::Time(Dur::from_ms(ms));
        let interval = ("interval", time(target + above));
        vec![("target", time(target)), interval, ("ecn", Value::Bool(ecn)), ("ce_threshold", time(threshold * 10))]
    })
}

fn fq_codel() -> impl Strategy<Value = Chosen> {
    (codel(), 40..3000u64, prop_oneof![Just(1i64), Just(2), Just(64)], 1..9i64, 0..9000u64).prop_map(
        |(mut set, quantum, flows, batch, memory)| {
            set.extend([("quantum", Value::Size(Bytes(quantum))), ("flows", Value::Int(flows))]);
            set.extend([("drop_batch", Value::Int(batch)), ("memory_limit", Value::Size(Bytes(memory)))]);
            ("fq-codel", set)
        },
    )
}

fn spec() -> impl Strategy<Value = Spec> {
    let limit = prop_oneof![
        (1..20u32).prop_map(Limit::Packets),
        (100..20_000u64).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
    ];
    let list = prop_oneof![Just(("drop-tail", vec![])), Just(("drr", vec![])), red()];
    let discipline = prop_oneof![3 => list, 1 => codel().prop_map(|set| ("codel", set)), 2 => fq_codel()];
    (limit, discipline).prop_map(|(limit, (id, set))| {
        let mut chosen = queue::find(id).expect("it is in the list");
        for (key, value) in set {
            let is_bytes = key.ends_with("_th") && matches!(limit, Limit::Bytes(_));
            let scaled = match value {
                Value::Float(packets) if is_bytes => Value::Float(packets * 700.0),
                other => other,
            };
            chosen.params.set(key, scaled);
        }
        Spec::new(limit, chosen)
    })
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Inside {
    serial: usize,
    size: u64,
    since: SimTime,
    flow: u8,
}

/// The state known without a queue: every entry that is in, the oldest first, and the sums.
#[derive(Default)]
struct Model {
    inside: Vec<Inside>,
    stats: Stats,
    now: SimTime,
}

impl Model {
    fn bytes(&self) -> u64 {
        self.inside.iter().map(|entry| entry.size).sum()
    }

    fn bytes_of(&self, flow: u8) -> u64 {
        self.inside.iter().filter(|entry| entry.flow == flow).map(|entry| entry.size).sum()
    }

    fn take(&mut self, serial: usize) -> Option<Inside> {
        let place = self.inside.iter().position(|entry| entry.serial == serial)?;
        Some(self.inside.remove(place))
    }

    fn put(&mut self, entry: Inside) {
        self.inside.push(entry);
        self.stats.max_entries = self.stats.max_entries.max(self.inside.len() as u32);
    }

    fn later(&mut self, dur: u64) {
        self.stats.entry_time += u128::from(dur) * self.inside.len() as u128;
        self.now += Dur::from_ns(dur);
    }

    fn fits(&self, limit: Limit, size: u64) -> bool {
        match limit {
            Limit::Packets(n) => self.inside.len() < n as usize,
            Limit::Bytes(most) => self.bytes() + size <= most.0,
        }
    }

    fn space(&self, limit: Limit) -> Space {
        let free = match limit {
            Limit::Packets(n) => MTU * (u64::from(n) - self.inside.len() as u64),
            Limit::Bytes(most) => Bytes(most.0 - self.bytes()),
        };
        Space { free, used: Bytes(self.bytes()), entries: self.inside.len() as u32 }
    }
}

/// Bytes that still fit; more than anything for a limit in packets, of which one that leaves makes room for one.
fn space_left(model: &Model, limit: Limit) -> u64 {
    match limit {
        Limit::Packets(_) => u64::from(u32::MAX),
        Limit::Bytes(most) => most.0 - model.bytes(),
    }
}

/// True if two flows have the same bytes queued: which of them is the longest is the queue's choice.
fn tied(model: &Model) -> bool {
    let bytes: Vec<u64> = (0..3).map(|flow| model.bytes_of(flow)).collect();
    bytes[0] == bytes[1] || bytes[1] == bytes[2] || bytes[0] == bytes[2]
}

/// True of the oldest entry of its flow, and of all where there is one list: that one leaves first.
fn is_oldest(model: &Model, serial: usize, by_flow: bool) -> bool {
    let flow = model.inside.iter().find(|entry| entry.serial == serial).map(|entry| entry.flow);
    let oldest = model.inside.iter().find(|entry| !by_flow || Some(entry.flow) == flow);
    oldest.map(|entry| entry.serial) == Some(serial)
}

proptest! {
    #[test]
    fn the_books_of_any_queue_balance_after_any_history(spec in spec(), ops in ops(), seed in any::<u64>()) {
        let mut queue = Queue::new(&spec, MTU, Streams::new(seed).get(Purpose::Queue, 0));
        let mut model = Model::default();
        let id = spec.discipline.info.id;
        let (is_drr, is_fq, is_codel) = (id == "drr", id == "fq-codel", id == "codel" || id == "fq-codel");
        let may_mark = is_codel || id == "red";
        let ecn = may_mark && (spec.discipline.params.bool("ecn") || is_codel);
        for (serial, (wait, op)) in ops.into_iter().enumerate() {
            model.later(wait);
            let now = model.now;
            match op {
                Op::Push { size, is_ect, flow } => {
                    model.stats.offered += 1;
                    model.stats.bytes_offered += Bytes(size);
                    let fits = model.fits(spec.limit, size);
                    let own = Inside { serial, size, since: now, flow };
                    let arrival = Arrival { size: Bytes(size), is_ect, flow: FlowKey::from_bits(u128::from(flow)) };
                    let longest = (0..3).map(|flow| model.bytes_of(flow)).max();
                    match queue.push(now, serial, arrival) {
                        Ok(mark) if is_fq => {
                            prop_assert_eq!(mark, Mark::None);
                            model.inside.push(own);
                            let mut lost = 0;
                            while let Some(other) = queue.dropped() {
                                lost += 1;
                                prop_assert!(model.take(other).is_some(), "{} was not queued", other);
                            }
                            model.stats.dropped_full += lost;
                            model.stats.max_entries = model.stats.max_entries.max(model.inside.len() as u32);
                            let memory = spec.discipline.params.size("memory_limit");
                            prop_assert!(!fits || lost == 0 || memory > Bytes::ZERO, "there was room");
                            prop_assert!(memory == Bytes::ZERO || Bytes(model.bytes()) <= memory);
                        }
                        Ok(mark) => {
                            if let Some(lost) = queue.dropped() {
                                prop_assert!(!fits && is_drr);
                                model.stats.dropped_full += 1;
                                let other = model.inside.iter().find(|entry| entry.serial == lost).copied();
                                let Some(other) = other else { panic!("{lost} was not queued") };
                                prop_assert_eq!(Some(model.bytes_of(other.flow)), longest);
                                prop_assert!(longest > Some(model.bytes_of(flow) + size));
                                let newest = model.inside.iter().rev().find(|entry| entry.flow == other.flow);
                                prop_assert_eq!(newest, Some(&other));
                                model.take(lost);
                            } else {
                                prop_assert!(fits);
                            }
                            prop_assert_eq!(queue.newest(), Some(&serial));
                            model.put(own);
                            if mark == Mark::Ce {
                                prop_assert!(is_ect && ecn && !is_codel);
                                model.stats.marked += 1;
                            }
                        }
                        Err((lost, Refused::Full)) => {
                            prop_assert!(!fits && lost == serial && !is_fq);
                            model.stats.dropped_full += 1;
                            let newest = |flow| model.inside.iter().rev().find(|entry| entry.flow == flow);
                            let mut longer = (0..3).filter(|other| {
                                Some(model.bytes_of(*other)) == longest && longest > Some(model.bytes_of(flow) + size)
                            });
                            let room = |other| newest(other).is_some_and(|entry| entry.size + space_left(&model, spec.limit) >= size);
                            prop_assert!(!is_drr || !longer.any(room) || tied(&model), "somebody had to make room");
                        }
                        Err((lost, Refused::Early)) => {
                            prop_assert_eq!((lost, id), (serial, "red"));
                            model.stats.dropped_early += 1;
                        }
                    }
                }
                Op::Pop => {
                    let had = model.inside.len();
                    let popped = queue.pop(now);
                    let mut lost = 0;
                    while let Some(other) = queue.dropped() {
                        prop_assert!(is_codel && is_oldest(&model, other, is_fq), "{}", other);
                        model.take(other);
                        lost += 1;
                    }
                    model.stats.dropped_early += lost as u64;
                    prop_assert_eq!(popped.is_none(), had == lost);
                    if let Some((serial, mark)) = popped {
                        prop_assert!(is_oldest(&model, serial, is_drr || is_fq));
                        let Some(Inside { size, since, .. }) = model.take(serial) else { panic!("{serial} was not queued") };
                        model.stats.departed += 1;
                        model.stats.bytes_departed += Bytes(size);
                        model.stats.wait += now - since;
                        model.stats.marked += u64::from(mark == Mark::Ce);
                        prop_assert!(mark == Mark::None || is_codel && ecn);
                    }
                }
                Op::Withdraw(place) => {
                    let known = (place < model.inside.len()).then(|| model.inside.remove(place).serial);
                    prop_assert_eq!(queue.withdraw(now, |serial| Some(*serial) == known), known);
                    model.stats.withdrawn += u64::from(known.is_some());
                }
                Op::Drain => {
                    let left: Vec<usize> = model.inside.drain(..).map(|entry| entry.serial).collect();
                    model.stats.abandoned += left.len() as u64;
                    let mut drained = queue.drain(now);
                    if is_drr || is_fq {
                        drained.sort_unstable();
                    }
                    prop_assert_eq!(drained, left);
                }
                Op::Shed => {
                    prop_assert_eq!(queue.shed(now), !model.inside.is_empty());
                    let (lost, more) = (queue.dropped(), queue.dropped());
                    let known = lost.and_then(|lost| model.take(lost));
                    prop_assert!(known.is_some() == lost.is_some() && more.is_none());
                    model.stats.dropped_full += u64::from(lost.is_some());
                    let longest = (0..3).map(|flow| model.bytes_of(flow)).max();
                    let of_flow = known.filter(|_| is_drr);
                    prop_assert!(of_flow.is_none_or(|it| Some(model.bytes_of(it.flow) + it.size) >= longest), "of the longest");
                }
            }
            prop_assert_eq!(queue.stats(now), model.stats);
            prop_assert_eq!((queue.len(), queue.is_empty()), (model.inside.len(), model.inside.is_empty()));
            prop_assert_eq!(queue.space(), model.space(spec.limit));
            let stats = queue.stats(now);
            let gone = stats.departed + stats.dropped() + stats.abandoned;
            prop_assert_eq!(stats.offered, gone + queue.len() as u64);
            prop_assert!(queue.average().is_finite() && queue.average() >= 0.0);
        }
    }
}

/// Every discipline of the registry, of which nothing is known but that it is one.
fn registered() -> impl Strategy<Value = Spec> {
    let all: Vec<_> = queue::registry().iter().map(|entry| entry.with(Params::sample(entry.info.params))).collect();
    let limit = prop_oneof![
        (1..20u32).prop_map(Limit::Packets),
        (100..20_000u64).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
    ];
    let spec = (limit, prop::sample::select(all)).prop_map(|(limit, discipline)| Spec::new(limit, discipline));
    spec.prop_filter("its parameters fit", |spec| spec.check(true).is_ok())
}

proptest! {
    // A new line in the registry is tested by being there.
    #[test]
    fn whatever_a_discipline_does_each_entry_comes_out_once_and_is_counted(
        spec in registered(), ops in ops(), seed in any::<u64>()
    ) {
        let mut queue = Queue::sharing(&spec, MTU, Streams::new(seed).get(Purpose::Queue, 0));
        let (mut inside, mut ect, mut now) = (BTreeSet::new(), BTreeSet::new(), SimTime::ZERO);
        let mut seen = Stats::default();
        for (serial, (wait, op)) in ops.into_iter().enumerate() {
            now += Dur::from_ns(wait);
            let mut lost = 0;
            match op {
                Op::Push { size, is_ect, flow } => {
                    seen.offered += 1;
                    if is_ect {
                        ect.insert(serial);
                    }
                    let arrival = Arrival { size: Bytes(size), is_ect, flow: FlowKey::from_bits(u128::from(flow)) };
                    match queue.push(now, serial, arrival) {
                        Ok(mark) => {
                            inside.insert(serial);
                            prop_assert!(mark == Mark::None || is_ect);
                        }
                        Err((back, _)) => {
                            prop_assert_eq!(back, serial);
                            lost += 1;
                        }
                    }
                }
                Op::Pop => {
                    if let Some((out, mark)) = queue.pop(now) {
                        prop_assert!(inside.remove(&out), "{} was not queued", out);
                        prop_assert!(mark == Mark::None || ect.contains(&out));
                        seen.departed += 1;
                    }
                }
                Op::Withdraw(place) => {
                    let wanted = inside.iter().nth(place).copied();
                    prop_assert_eq!(queue.withdraw(now, |serial| Some(*serial) == wanted), wanted);
                    seen.withdrawn += u64::from(wanted.is_some_and(|serial| inside.remove(&serial)));
                }
                Op::Drain => {
                    let drained: BTreeSet<usize> = queue.drain(now).into_iter().collect();
                    seen.abandoned += drained.len() as u64;
                    prop_assert_eq!(&drained, &inside);
                    inside.clear();
                }
                Op::Shed => prop_assert_eq!(queue.shed(now), !inside.is_empty()),
            }
            while let Some(other) = queue.dropped() {
                prop_assert!(inside.remove(&other), "{} was not queued", other);
                lost += 1;
            }
            seen.dropped_full += lost;
            let stats = queue.stats(now);
            prop_assert_eq!(
                (stats.offered, stats.departed, stats.dropped() - stats.withdrawn, stats.withdrawn, stats.abandoned),
                (seen.offered, seen.departed, seen.dropped_full, seen.withdrawn, seen.abandoned)
            );
            prop_assert_eq!((queue.len(), queue.space().entries), (inside.len(), inside.len() as u32));
            prop_assert!(queue.average().is_finite() && queue.average() >= 0.0);
        }
    }
}
