//! Queue disciplines: the order of service, and the choice of packets to drop or mark.
//!
//! A discipline is a file with an `INFO` and a `make`, and a line of the list below. It orders the places of packets ([`Queued`])
//! and holds no packets: [`Queue`](crate::Queue) does, counts them and gives them back.

mod fifo;

use crate::{Arrival, Limit, Mark, Queued, Slot};
use plugin::Params;
use units::{Bytes, Dur, SimTime};

/// The admission of a packet that arrives, room apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is taken in if it fits.
    Pass,
    /// The same, and marked.
    Mark,
    /// It is dropped.
    Drop,
}

/// A queue discipline.
///
/// Call order: for each arrival [`Discipline::arrival`], then, if the packet does not fit, [`Discipline::full`], then, if it is taken in,
/// [`Discipline::push`]. Times never go back. What a discipline drops ([`Queued::drop`]) is counted and told by the queue.
pub trait Discipline {
    /// A packet arrives.
    fn arrival(&mut self, _now: SimTime, _packet: &Arrival, _queued: &Queued) -> Admission {
        Admission::Pass
    }

    /// It does not fit. Returns whether it is taken in all the same, because something has been dropped for it, or will be when it
    /// is pushed.
    fn full(&mut self, _now: SimTime, _packet: &Arrival, _queued: &mut Queued) -> bool {
        false
    }

    /// Takes a packet in.
    fn push(&mut self, now: SimTime, slot: Slot, queued: &mut Queued);

    /// Takes out the packet whose turn it is, and whether it is to be marked. It may drop others on the way. Asked only if there is
    /// one.
    fn pop(&mut self, now: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)>;

    /// A packet was asked for and there is none.
    fn idle(&mut self) {}

    /// Takes out a packet that its owner wants out of turn.
    fn remove(&mut self, now: SimTime, slot: Slot, queued: &mut Queued);

    /// The first packet of which `is_it` holds: the oldest, or flow by flow in the order of their turns.
    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot>;

    /// The packet that goes if another queue that shares the limit needs the room: the oldest, unless the discipline would lose
    /// another to a full queue. `None`: there is none.
    fn surplus(&self, queued: &Queued) -> Option<Slot> {
        self.find(queued, &mut |_| true)
    }

    /// True if all that it does is to refuse what finds no room: it tells no flows apart, marks nothing, and drops nothing that it has
    /// taken in. It is then not asked about arrivals. Asked once.
    fn only_refuses(&self) -> bool {
        false
    }

    /// The turns of the receivers of a radio, where each has a discipline of its own ([`Outlet::is_of_receiver`]). Asked once.
    fn turns(&self) -> Turns {
        Turns::Round
    }

    /// An average length, in packets, or in bytes if the limit is; 0 if there is none.
    fn average(&self) -> f64 {
        0.0
    }
}

units::debug_by_name!(Discipline);

/// The outgoing link and queue that a discipline is made for.
#[derive(Debug)]
pub struct Outlet {
    /// The capacity of the queue.
    pub limit: Limit,
    /// Size of a full packet.
    pub mtu: Bytes,
    /// The time that a full packet takes on the outgoing link.
    pub packet_time: Dur,
    /// True if it is that of one receiver of a radio, beside others.
    pub is_of_receiver: bool,
    /// A random stream of its own.
    pub draws: engine::Stream,
}

/// The reason why a discipline is not defined with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {why}")]
pub struct Unsound {
    /// The parameter.
    pub key: &'static str,
    /// The fault.
    pub why: String,
}

impl Unsound {
    /// An error about this parameter.
    pub fn new(key: &'static str, why: impl Into<String>) -> Unsound {
        Unsound { key, why: why.into() }
    }
}

/// Makes a discipline for one queue.
pub type Make = fn(&Params, Outlet) -> Result<Box<dyn Discipline>, Unsound>;

plugin::registry! { "queue discipline", Make:
    "codel" => codel,
    "congestion-warning" => congestion_warning,
    "drop-tail" => drop_tail,
    "drr" => drr,
    "fq-codel" => fq_codel,
    "mac80211" => mac80211,
    "red" => red,
}

pub use mac80211::{Below, Turns};
pub use red::Red;

/// The discipline of a queue that does not name one.
pub const DEFAULT: &str = "drop-tail";

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};

    #[test]
    fn every_discipline_is_in_its_place_and_is_made() {
        assert_eq!(NAMES, registry().ids());
        assert!(find(DEFAULT).is_some());
        for entry in &registry() {
            let mut chosen = entry.chosen();
            chosen.params = Params::sample(entry.info.params);
            let draws = Streams::new(1).get(Purpose::Queue, 0);
            let outlet = Outlet {
                limit: Limit::Packets(9),
                mtu: Bytes(1500),
                packet_time: Dur::from_ms(1),
                is_of_receiver: true,
                draws,
            };
            let made = (chosen.plugin)(&chosen.params, outlet);
            assert!(made.is_ok(), "{}: {:?}", entry.info.id, made.err());
        }
    }
}
