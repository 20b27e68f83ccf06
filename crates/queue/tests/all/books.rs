//! Whatever is asked of a queue, its books balance: against a model that keeps every entry and remembers every event.

use engine::{Purpose, Streams};
use proptest::prelude::*;
use queue::{Discipline, Limit, Mark, Queue, Red, Refused, Space, Spec, Stats};
use units::{Bytes, Dur, SimTime};

const MTU: Bytes = Bytes(1500);

#[derive(Debug, Clone, Copy)]
enum Op {
    Push {
        size: u64,
        is_ect: bool,
    },
    Pop,
    /// The entry at this place, if there is one.
    Withdraw(usize),
    Drain,
}

fn ops() -> impl Strategy<Value = Vec<(u64, Op)>> {
    let push = (40..=1500u64, any::<bool>()).prop_map(|(size, is_ect)| Op::Push { size, is_ect });
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
    (limit, proptest::option::of(red())).prop_map(|(limit, red)| {
        let unit = if matches!(limit, Limit::Bytes(_)) { 700.0 } else { 1.0 };
        let discipline = red.map_or(Discipline::DropTail, |red| {
            Discipline::Red(Red { min_th: red.min_th * unit, max_th: red.max_th * unit, ..red })
        });
        Spec { limit, discipline }
    })
}

/// What is known without a queue: every entry that is in, and the sums.
#[derive(Default)]
struct Model {
    inside: Vec<(usize, u64, SimTime)>,
    stats: Stats,
    now: SimTime,
}

impl Model {
    fn bytes(&self) -> u64 {
        self.inside.iter().map(|(_, size, _)| size).sum()
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

proptest! {
    #[test]
    fn the_books_of_any_queue_balance_after_any_history(spec in spec(), ops in ops(), seed in any::<u64>()) {
        let mut queue = Queue::new(spec, MTU, Streams::new(seed).get(Purpose::Queue, 0));
        let mut model = Model::default();
        for (serial, (wait, op)) in ops.into_iter().enumerate() {
            model.later(wait);
            let now = model.now;
            match op {
                Op::Push { size, is_ect } => {
                    model.stats.offered += 1;
                    model.stats.bytes_offered += Bytes(size);
                    let fits = model.fits(spec.limit, size);
                    match queue.push(now, serial, Bytes(size), is_ect) {
                        Ok(mark) => {
                            prop_assert!(fits);
                            model.inside.push((serial, size, now));
                            model.stats.max_entries = model.stats.max_entries.max(model.inside.len() as u32);
                            prop_assert_eq!(queue.newest(), Some(&serial));
                            if mark == Mark::Ce {
                                prop_assert!(is_ect && matches!(spec.discipline, Discipline::Red(red) if red.ecn));
                                model.stats.marked += 1;
                            }
                        }
                        Err((entry, why)) => {
                            prop_assert_eq!(entry, serial);
                            if why == Refused::Full {
                                prop_assert!(!fits);
                                model.stats.dropped_full += 1;
                            } else {
                                prop_assert!(spec.discipline != Discipline::DropTail);
                                model.stats.dropped_early += 1;
                            }
                        }
                    }
                }
                Op::Pop => {
                    let first = (!model.inside.is_empty()).then(|| model.inside.remove(0));
                    prop_assert_eq!(queue.pop(now), first.map(|(serial, ..)| serial));
                    if let Some((_, size, since)) = first {
                        model.stats.departed += 1;
                        model.stats.bytes_departed += Bytes(size);
                        model.stats.wait += now - since;
                    }
                }
                Op::Withdraw(place) => {
                    let known = (place < model.inside.len()).then(|| model.inside.remove(place).0);
                    prop_assert_eq!(queue.withdraw(now, |serial| Some(*serial) == known), known);
                    model.stats.withdrawn += u64::from(known.is_some());
                }
                Op::Drain => {
                    let left: Vec<usize> = model.inside.drain(..).map(|(serial, ..)| serial).collect();
                    model.stats.abandoned += left.len() as u64;
                    prop_assert_eq!(queue.drain(now), left);
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
