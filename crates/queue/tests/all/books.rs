//! Whatever is asked of a queue, its books balance: against a model that keeps every entry and remembers every event.

use engine::{Purpose, Streams};
use proptest::prelude::*;
use queue::{Arrival, Discipline, FlowKey, Limit, Mark, Queue, Red, Refused, Space, Spec, Stats};
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
}

fn ops() -> impl Strategy<Value = Vec<(u64, Op)>> {
    let push = (40..=1500u64, any::<bool>(), 0..3u8).prop_map(|(size, is_ect, flow)| Op::Push { size, is_ect, flow });
    let op =
        prop_oneof![30 => push, 20 => Just(Op::Pop), 5 => (0..6usize).prop_map(Op::Withdraw), 1 => Just(Op::Drain)];
    prop::collection::vec((0..3_000_000u64, op), 1..400)
}

fn red() -> impl Strategy<Value = Red> {
    let shares = (0.01..=1.0f64, 0.001..=1.0f64);
    // In packets; the test scales them to bytes where the limit is.
    (0.0..6.0f64, 0.5..10.0f64, shares, any::<bool>(), any::<bool>()).prop_map(
        |(min_th, above, (max_p, weight), gentle, ecn)| Red {
            min_th,
            max_th: min_th + above,
            max_p,
            weight,
            gentle,
            ecn,
            idle_packet: Dur::from_ms(1),
        },
    )
}

fn spec() -> impl Strategy<Value = Spec> {
    let limit = prop_oneof![
        (1..20u32).prop_map(Limit::Packets),
        (100..20_000u64).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
    ];
    let discipline = prop_oneof![Just(Discipline::DropTail), Just(Discipline::Drr), red().prop_map(Discipline::Red),];
    (limit, discipline).prop_map(|(limit, discipline)| match (limit, discipline) {
        (Limit::Bytes(_), Discipline::Red(red)) => {
            let red = Red { min_th: red.min_th * 700.0, max_th: red.max_th * 700.0, ..red };
            Spec { limit, discipline: Discipline::Red(red) }
        }
        _ => Spec { limit, discipline },
    })
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Inside {
    serial: usize,
    size: u64,
    since: SimTime,
    flow: u8,
}

/// What is known without a queue: every entry that is in, the oldest first, and the sums.
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
        self.stats.byte_time += u128::from(dur) * u128::from(self.bytes());
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

/// Whether two flows have the same bytes queued: which of them is the longest is the queue's choice.
fn tied(model: &Model) -> bool {
    let bytes: Vec<u64> = (0..3).map(|flow| model.bytes_of(flow)).collect();
    bytes[0] == bytes[1] || bytes[1] == bytes[2] || bytes[0] == bytes[2]
}

proptest! {
    #[test]
    fn the_books_of_any_queue_balance_after_any_history(spec in spec(), ops in ops(), seed in any::<u64>()) {
        let mut queue = Queue::new(spec, MTU, Streams::new(seed).get(Purpose::Queue, 0));
        let mut model = Model::default();
        let is_drr = spec.discipline == Discipline::Drr;
        for (serial, (wait, op)) in ops.into_iter().enumerate() {
            model.later(wait);
            let now = model.now;
            match op {
                Op::Push { size, is_ect, flow } => {
                    model.stats.offered += 1;
                    model.stats.bytes_offered += Bytes(size);
                    let fits = model.fits(spec.limit, size);
                    let own = Inside { serial, size, since: now, flow };
                    let arrival = Arrival { size: Bytes(size), is_ect, flow: FlowKey::of(u128::from(flow)) };
                    match queue.push(now, serial, arrival) {
                        Ok(mark) => {
                            prop_assert!(fits);
                            model.put(own);
                            if !is_drr {
                                prop_assert_eq!(queue.newest(), Some(&serial));
                            }
                            if mark == Mark::Ce {
                                prop_assert!(is_ect && matches!(spec.discipline, Discipline::Red(red) if red.ecn));
                                model.stats.marked += 1;
                            }
                        }
                        Err((lost, Refused::Full)) => {
                            prop_assert!(!fits);
                            model.stats.dropped_full += 1;
                            let longest = (0..3).map(|flow| model.bytes_of(flow)).max();
                            if lost == serial {
                                let newest = |flow| model.inside.iter().rev().find(|entry| entry.flow == flow);
                                let mut longer = (0..3).filter(|other| {
                                    Some(model.bytes_of(*other)) == longest && longest > Some(model.bytes_of(flow) + size)
                                });
                                let room = |other| newest(other).is_some_and(|entry| entry.size + space_left(&model, spec.limit) >= size);
                                prop_assert!(!is_drr || !longer.any(room) || tied(&model), "somebody had to make room");
                            } else {
                                prop_assert!(is_drr);
                                let other = model.inside.iter().find(|entry| entry.serial == lost).copied();
                                let Some(other) = other else { panic!("{lost} was not queued") };
                                prop_assert_eq!(Some(model.bytes_of(other.flow)), longest);
                                prop_assert!(longest > Some(model.bytes_of(flow) + size));
                                let newest = model.inside.iter().rev().find(|entry| entry.flow == other.flow);
                                prop_assert_eq!(newest, Some(&other));
                                model.take(lost);
                                model.put(own);
                            }
                        }
                        Err((lost, Refused::Early)) => {
                            prop_assert_eq!(lost, serial);
                            prop_assert!(matches!(spec.discipline, Discipline::Red(_)));
                            model.stats.dropped_early += 1;
                        }
                    }
                }
                Op::Pop => {
                    let popped = queue.pop(now);
                    prop_assert_eq!(popped.is_none(), model.inside.is_empty());
                    if let Some(serial) = popped {
                        let flow = model.inside.iter().find(|entry| entry.serial == serial).map(|entry| entry.flow);
                        let oldest = model.inside.iter().find(|entry| !is_drr || Some(entry.flow) == flow);
                        prop_assert_eq!(oldest.map(|entry| entry.serial), Some(serial));
                        let Some(Inside { size, since, .. }) = model.take(serial) else { panic!("{serial} was not queued") };
                        model.stats.departed += 1;
                        model.stats.bytes_departed += Bytes(size);
                        model.stats.wait += now - since;
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
                    if is_drr {
                        drained.sort_unstable();
                    }
                    prop_assert_eq!(drained, left);
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
