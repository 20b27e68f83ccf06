//! Legs, models, traces and the machine, against closed forms.

mod crossings;
mod models;
mod traces;

use motion::{Change, Leg, Model, Motion};
use units::{NodeId, SimTime};

fn s(seconds: f64) -> SimTime {
    SimTime::from_ns((seconds * 1e9).round() as u64)
}

/// Legs that a test states, the last for ever.
#[derive(Debug)]
struct Stated(std::vec::IntoIter<Leg>);

impl Stated {
    fn of(legs: Vec<Leg>) -> Option<Box<dyn Model>> {
        Some(Box::new(Stated(legs.into_iter())))
    }
}

impl Model for Stated {
    fn first(&mut self) -> Leg {
        self.0.next().expect("a leg")
    }

    fn next(&mut self, _: &Leg) -> Leg {
        self.0.next().expect("the last leg has no end")
    }
}

/// All changes up to an instant.
fn changes(motion: &mut Motion, until: SimTime) -> Vec<(SimTime, Change)> {
    let mut found = Vec::new();
    loop {
        let now = motion.next_wakeup();
        if now > until {
            return found;
        }
        while let Some(change) = motion.advance(now) {
            found.push((now, change));
        }
    }
}

/// The instants at which pairs met (true) and parted, of one range.
fn pairs(motion: &mut Motion, until: SimTime) -> Vec<(SimTime, [NodeId; 2], bool)> {
    let all = changes(motion, until).into_iter();
    all.filter_map(|(at, change)| match change {
        Change::Pair { pair, is_near, .. } => Some((at, pair, is_near)),
        Change::Leg(..) => None,
    })
    .collect()
}
