//! Queues of radios and of wires.

use core::ops::RangeInclusive;
use units::Bytes;

/// A size that is not nothing.
pub(crate) const SOME_BYTES: RangeInclusive<Bytes> = RangeInclusive::new(Bytes(1), Bytes(1_000_000_000_000));
pub(crate) const PROBABILITY: RangeInclusive<f64> = RangeInclusive::new(0.0, 1.0);
/// Of RED: more than any queue holds.
const THRESHOLD: RangeInclusive<f64> = RangeInclusive::new(0.0, 1e12);

one_of! { impl queue::Limit {
    /// Packets it holds.
    packets => Packets(u32), in 1..=1_000_000, or "limited in bytes",
    /// Bytes of IP datagrams it holds.
    bytes => Bytes(Bytes), in SOME_BYTES, or "limited in packets",
} }

tagged! {
    /// What becomes of packets before a queue is full. `queue::Discipline` also has the time of a packet on the outgoing
    /// link, which no key states.
    ///
    /// Defaults of RED: Floyd, "RED: Discussions of Setting Parameters", 1997, and gentle as she recommended in 2000.
    #[derive(Copy)]
    pub enum Discipline, by "discipline" = "drop-tail", noun "queue discipline" {
        /// What finds it full is dropped.
        "drop-tail" => DropTail,
        /// Random early detection: dropped, or marked, by the average length.
        "red" => Red {
            /// Average below which nothing happens, in the limit's unit.
            min_th: f64 = 5.0, in THRESHOLD,
            /// Average at which max_p is reached, in the limit's unit.
            max_th: f64 = 15.0, in THRESHOLD,
            /// Greatest probability between the thresholds.
            max_p: f64 = 0.1, in PROBABILITY,
            /// Of a new length in the average.
            weight: f64 = 0.002, in PROBABILITY,
            /// From max_p to 1 between max_th and twice that.
            gentle: bool = true,
            /// Packets of ECN-capable transports are marked, not dropped.
            ecn: bool = false,
        },
        /// A queue for each flow, served by deficit round robin, a full packet's bytes a turn; what is full takes from the longest.
        "drr" => Drr,
    }
}

table! {
    /// A queue.
    #[derive(Copy)]
    pub struct Queue {
        /// What it holds.
        limit => queue::Limit,
        /// What becomes of packets before it is full.
        discipline => Discipline,
    }
}
