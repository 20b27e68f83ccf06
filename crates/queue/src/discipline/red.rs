//! Random early detection.
//!
//! - **Source** @FJ93: Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions
//!   on Networking 1(4), 1993, fig. 2 and sec. IV, VI, VII. Gentle: @FLO00, "Recommendation on using the gentle variant of
//!   RED". Marking: @RFC3168 sec. 7.
//! - **Departs** (a) `count` is what sec. VII defines, the packets let pass since the last mark, which makes the distance
//!   between marks uniform on 1 … 1/p_b; fig. 2 counts the arriving packet as well, and never reaches 1/p_b after a mark.
//!   (b) an idle time that an arrival has accounted for is not accounted for again if that arrival was dropped and left
//!   the queue empty. (c) a packet lost to a full queue, which the paper's is not meant to be, counts as marked.
//!   (d) idle time begins when the last packet leaves the queue, which is when its service begins.
//! - **Checked** tests below and in `lib.rs`; `tests/all/books.rs`.

use super::fifo::Fifo;
use super::{Discipline, Outlet, Unsound, Admission};
use crate::{Arrival, Limit, Mark, Queued, Slot};
use engine::Stream;
use plugin::{Info, Kind, Param, Params, Value};
use units::{Dur, SimTime};

/// More than any queue holds.
const THRESHOLD: Kind = Kind::Float { min: 0.0, max: 1e12 };
const PROBABILITY: Kind = Kind::Float { min: 0.0, max: 1.0 };

/// Its declaration. Defaults: Floyd, "RED: Discussions of Setting Parameters", 1997, and gentle as she recommended in 2000.
pub static INFO: Info = Info {
    id: "red",
    summary: "Random early detection: dropped, or marked, by the average length.",
    source: "FJ93",
    params: &[
        Param {
            key: "min_th",
            kind: THRESHOLD,
            default: Value::Float(5.0),
            doc: "Average below which nothing happens, in the limit's unit.",
        },
        Param {
            key: "max_th",
            kind: THRESHOLD,
            default: Value::Float(15.0),
            doc: "Average at which max_p is reached, in the limit's unit.",
        },
        Param {
            key: "max_p",
            kind: PROBABILITY,
            default: Value::Float(0.1),
            doc: "Greatest probability between the thresholds.",
        },
        Param {
            key: "weight",
            kind: PROBABILITY,
            default: Value::Float(0.002),
            doc: "Of a new length in the average.",
        },
        Param {
            key: "gentle",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "From max_p to 1 between max_th and twice that.",
        },
        Param {
            key: "ecn",
            kind: Kind::Bool,
            default: Value::Bool(false),
            doc: "Packets of ECN-capable transports are marked, not dropped.",
        },
    ],
};

/// One of them.
///
/// # Errors
/// `max_th` is not above `min_th`; a probability that must not be is zero.
pub fn make(params: &Params, outlet: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    let red = Red {
        min_th: params.float("min_th"),
        max_th: params.float("max_th"),
        max_p: params.float("max_p"),
        weight: params.float("weight"),
        gentle: params.bool("gentle"),
        ecn: params.bool("ecn"),
        idle_packet: outlet.packet_time,
    };
    if red.max_th <= red.min_th {
        return Err(Unsound::new("max_th", format!("{} is not above min_th, {}", red.max_th, red.min_th)));
    }
    for (key, value) in [("max_p", red.max_p), ("weight", red.weight)] {
        if value <= 0.0 {
            return Err(Unsound::new(key, "must be more than zero"));
        }
    }
    Ok(red.discipline(outlet.draws))
}

/// Parameters of RED. Thresholds are in packets, or in bytes if the queue's limit is in bytes; then the probability is
/// also scaled by the packet's share of the MTU. @FJ93 sec. IV
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Red {
    /// Average below which nothing is marked.
    pub min_th: f64,
    /// Average at which packets are marked with `max_p`, and from which all are dropped unless `gentle`.
    pub max_th: f64,
    /// Probability of a mark at `max_th`, before the packets since the last mark are considered.
    pub max_p: f64,
    /// Weight of the queue found by an arrival in the moving average, `w_q`.
    pub weight: f64,
    /// The probability rises from `max_p` at `max_th` to 1 at twice that, where it would jump to 1. @FLO00
    pub gentle: bool,
    /// Packets that may be are marked where others are dropped, up to the average from which all are dropped, ECT or
    /// not. @RFC3168 sec. 7
    pub ecn: bool,
    /// Time a typical packet takes on the outgoing link: one step of the average in an idle time. @FJ93 fig. 2, `f`
    pub idle_packet: Dur,
}

impl Red {
    /// A queue's discipline with these parameters.
    pub fn discipline(self, draws: Stream) -> Box<dyn Discipline> {
        Box::new(Early { fifo: Fifo::default(), state: State::new(self, draws) })
    }

    /// True if RED is defined with these parameters.
    pub fn is_sound(&self) -> bool {
        let is_share = |x: f64| x > 0.0 && x <= 1.0;
        let thresholds =
            self.min_th >= 0.0 && self.max_th > 0.0 && self.max_th >= self.min_th && self.max_th.is_finite();
        thresholds && is_share(self.max_p) && is_share(self.weight) && self.idle_packet > Dur::ZERO
    }

    /// Probability of a mark at this average, before the packets since the last mark and the size are considered: `p_b`.
    /// @FJ93 sec. IV; above `max_th` @FLO00
    pub fn marking(&self, average: f64) -> f64 {
        if average < self.min_th {
            0.0
        } else if average < self.max_th {
            self.max_p * (average - self.min_th) / (self.max_th - self.min_th)
        } else if average < self.all_from() {
            self.max_p + (1.0 - self.max_p) * (average - self.max_th) / self.max_th
        } else {
            1.0
        }
    }

    /// The average from which every packet is dropped.
    fn all_from(&self) -> f64 {
        if self.gentle { 2.0 * self.max_th } else { self.max_th }
    }
}

/// Probability of marking this packet, `count` having passed since the last mark: `p_a`. @FJ93 sec. VII
fn spread(p_b: f64, count: u32) -> f64 {
    let left = 1.0 - f64::from(count) * p_b;
    if left > p_b { p_b / left } else { 1.0 }
}

/// RED's memory.
#[derive(Debug)]
pub(crate) struct State {
    red: Red,
    draws: Stream,
    average: f64,
    /// Packets let pass since the last mark, or since the average rose above `min_th`.
    count: u32,
    /// The end of the idle time that the average contains.
    idle_since: SimTime,
}

impl State {
    pub(crate) fn new(red: Red, draws: Stream) -> State {
        debug_assert!(red.is_sound(), "{red:?}");
        State { red, draws, average: 0.0, count: 0, idle_since: SimTime::ZERO }
    }

    pub(crate) fn average(&self) -> f64 {
        self.average
    }

    /// A packet of `share` of an MTU (1 if the limit is in packets) arrives and finds so much `queued`. One number is drawn
    /// for each arrival whose fate is open (@FJ93 fig. 2), not one for each mark (fig. 17): the distances are distributed
    /// alike while the average stays, and a change of the average acts at once.
    pub(crate) fn arrival(&mut self, now: SimTime, queued: f64, share: f64, is_ect: bool) -> Admission {
        self.estimate(now, queued);
        if self.average < self.red.min_th {
            self.count = 0;
            return Admission::Pass;
        }
        if self.average >= self.red.all_from() {
            self.count = 0;
            return Admission::Drop;
        }
        let p_b = self.red.marking(self.average) * share;
        if !self.draws.chance(spread(p_b, self.count)) {
            self.count = self.count.saturating_add(1);
            return Admission::Pass;
        }
        self.count = 0;
        if self.red.ecn && is_ect { Admission::Mark } else { Admission::Drop }
    }

    /// The average with what an arrival finds. @FJ93 fig. 2
    fn estimate(&mut self, now: SimTime, queued: f64) {
        let weight = self.red.weight;
        if queued > 0.0 {
            self.average = (1.0 - weight) * self.average + weight * queued;
            return;
        }
        // As if so many typical packets had arrived at an empty queue.
        let steps = (now - self.idle_since).ns() as f64 / self.red.idle_packet.ns() as f64;
        self.average *= libm::pow(1.0 - weight, steps);
        self.idle_since = now;
    }

    /// The queue has become empty.
    pub(crate) fn emptied(&mut self, now: SimTime) {
        self.idle_since = now;
    }

    /// The last arrival was lost to the limit: a signal like a mark.
    pub(crate) fn signalled(&mut self) {
        self.count = 0;
    }
}

/// RED in front of a FIFO.
#[derive(Debug)]
struct Early {
    fifo: Fifo,
    state: State,
}

impl Early {
    fn note_if_empty(&mut self, now: SimTime) {
        if self.fifo.0.is_empty() {
            self.state.emptied(now);
        }
    }
}

impl Discipline for Early {
    /// RED is asked before room is: what it would drop counts as dropped early in a full queue too.
    fn arrival(&mut self, now: SimTime, packet: &Arrival, queued: &Queued) -> Admission {
        let (found, share) = match queued.limit() {
            Limit::Packets(_) => (queued.len() as f64, 1.0),
            Limit::Bytes(_) => (queued.bytes().0 as f64, packet.size / queued.mtu()),
        };
        self.state.arrival(now, found, share, packet.is_ect)
    }

    fn full(&mut self, _: SimTime, _: &Arrival, _: &mut Queued) -> bool {
        self.state.signalled();
        false
    }

    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.fifo.push(slot, queued);
    }

    fn pop(&mut self, now: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        let slot = self.fifo.pop(queued)?;
        self.note_if_empty(now);
        Some((slot, Mark::None))
    }

    fn remove(&mut self, now: SimTime, slot: Slot, queued: &mut Queued) {
        self.fifo.remove(slot, queued);
        self.note_if_empty(now);
    }

    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        self.fifo.find(queued, is_it)
    }

    fn surplus(&self, _: &Queued) -> Option<Slot> {
        self.fifo.0.last()
    }

    fn average(&self) -> f64 {
        self.state.average()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};
    use units::Bytes;

    /// @FJ93 sec. VI's thresholds and weight, with a `max_p` that is easy to work with.
    const RED: Red = Red {
        min_th: 5.0,
        max_th: 15.0,
        max_p: 0.1,
        weight: 0.002,
        gentle: false,
        ecn: true,
        idle_packet: Dur::from_ms(1),
    };
    const GENTLE: Red = Red { gentle: true, ..RED };
    /// The average is what is queued.
    const AS_IS: Red = Red { weight: 1.0, ..RED };

    fn state(red: Red) -> State {
        State::new(red, Streams::new(7).get(Purpose::Queue, 0))
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    fn at(us: u64) -> SimTime {
        SimTime::ZERO + Dur::from_us(us)
    }

    #[test]
    fn the_marking_curve_passes_its_hand_worked_points() {
        // Below 5 nothing; at 10, half way, 0.1 / 2; just under 15, 0.1; from 15 on all, or gently 0.1 + 0.9 (avg − 15)/15.
        for red in [RED, GENTLE] {
            for (average, p_b) in [(0.0, 0.0), (4.999, 0.0), (5.0, 0.0), (7.5, 0.025), (10.0, 0.05), (14.0, 0.09)] {
                assert!(near(red.marking(average), p_b), "{average}");
            }
        }
        for (average, plain, gentle) in [(15.0, 1.0, 0.1), (20.0, 1.0, 0.4), (22.5, 1.0, 0.55), (30.0, 1.0, 1.0)] {
            assert!(near(RED.marking(average), plain) && near(GENTLE.marking(average), gentle), "{average}");
        }
    }

    #[test]
    fn the_distance_between_marks_is_uniform_because_p_a_multiplies_out() {
        // @FJ93 sec. VII: P[X = n] = p_a(n − 1) · Π_{i < n − 1} (1 − p_a(i)) = p_b for n = 1 … 1/p_b.
        for p_b in [0.5, 0.25, 0.05, 0.02] {
            let most = libm::round(1.0 / p_b) as u32;
            let mut left = 1.0;
            for n in 1..=most {
                let p_a = spread(p_b, n - 1);
                assert!((left * p_a - p_b).abs() < 1e-9, "p_b {p_b}, n {n}: {}", left * p_a);
                left *= 1.0 - p_a;
            }
            assert!(left < 1e-9, "after {most} packets one was marked");
        }
        // 1/p_b = 2.5: 0.4, 0.4 / 0.6, then certain, which leaves the rest of 0.2 to the third.
        assert!(near(spread(0.4, 1), 0.4 / 0.6) && near(spread(0.4, 2), 1.0) && near(spread(0.4, 9), 1.0));
    }

    #[test]
    fn drawn_distances_between_marks_are_uniform() {
        // Average 10: p_b = 0.05, distances 1 … 20, mean 10.5. 19 degrees of freedom: chi-square < 43.8 with 0.999.
        let mut red = state(AS_IS);
        let (mut cells, mut distance, mut marks) = ([0u32; 20], 0, 0);
        while marks < 40_000 {
            let verdict = red.arrival(SimTime::ZERO, 10.0, 1.0, true);
            if verdict == Admission::Mark {
                cells[distance] += 1;
                (distance, marks) = (0, marks + 1);
            } else {
                assert_eq!(verdict, Admission::Pass);
                distance += 1;
            }
        }
        let chi: f64 = cells.iter().map(|&n| (f64::from(n) - 2e3) * (f64::from(n) - 2e3) / 2e3).sum();
        assert!(chi < 43.8, "{chi}");
        let mean = cells.iter().enumerate().map(|(i, &n)| (i + 1) as f64 * f64::from(n)).sum::<f64>() / 4e4;
        // The deviation of a uniform distance is √((20² − 1) / 12) = 5.77, that of the mean of 40,000 is 0.029.
        assert!((mean - 10.5).abs() < 4.0 * 0.029, "{mean}");
    }

    #[test]
    fn a_small_packet_is_marked_in_proportion_to_its_share_of_the_mtu() {
        // Average 10, a quarter of an MTU: p_b = 0.05 / 4, distances 1 … 80, mean 40.5, deviation 23.1 / √10,000.
        let mut red = state(AS_IS);
        let (mut marks, mut arrivals) = (0, 0);
        while marks < 10_000 {
            arrivals += 1;
            marks += u32::from(red.arrival(SimTime::ZERO, 10.0, 0.25, true) == Admission::Mark);
        }
        let mean = f64::from(arrivals) / 1e4;
        assert!((mean - 40.5).abs() < 4.0 * 0.231, "{mean}");
    }

    #[test]
    fn the_average_moves_by_the_weight_at_each_arrival() {
        // Weight 1/4: 4 → 1; 8 → 0.75 · 1 + 2 = 2.75; 1 → 0.75 · 2.75 + 0.25 = 2.3125.
        let mut red = state(Red { weight: 0.25, ..RED });
        for (queued, average) in [(4.0, 1.0), (8.0, 2.75), (1.0, 2.3125)] {
            red.arrival(at(0), queued, 1.0, false);
            assert!(near(red.average(), average), "{}", red.average());
        }
    }

    #[test]
    fn an_idle_time_decays_the_average_once() {
        // Weight 1/2, average 8 of a queue of 16. Idle from 10 ms to 13 ms, three packets of 1 ms: 8 / 2³ = 1. That
        // arrival left the queue empty: 1 ms later a half, and half a millisecond later 0.5 · √0.5.
        let mut red = state(Red { weight: 0.5, ..RED });
        red.arrival(at(9_000), 16.0, 1.0, false);
        assert!(near(red.average(), 8.0));
        red.emptied(at(10_000));
        for (us, average) in [(13_000, 1.0), (14_000, 0.5), (14_500, 0.5 * core::f64::consts::FRAC_1_SQRT_2)] {
            red.arrival(at(us), 0.0, 1.0, false);
            assert!(near(red.average(), average), "{}", red.average());
        }
    }

    #[test]
    fn from_the_upper_threshold_on_everything_is_dropped_ect_or_not() {
        let gentle = Red { gentle: true, ..AS_IS };
        for is_ect in [false, true] {
            let mut red = state(AS_IS);
            assert!((0..100).all(|_| red.arrival(SimTime::ZERO, 15.0, 1.0, is_ect) == Admission::Drop));
            let mut red = state(gentle);
            assert!((0..100).all(|_| red.arrival(SimTime::ZERO, 30.0, 1.0, is_ect) == Admission::Drop));
        }
        // At 29, p_b = 0.1 + 0.9 · 14/15 = 0.94: ECT packets are marked or pass, and none is dropped.
        let mut red = state(gentle);
        let verdicts: Vec<Admission> = (0..100).map(|_| red.arrival(SimTime::ZERO, 29.0, 1.0, true)).collect();
        assert!(verdicts.contains(&Admission::Mark) && !verdicts.contains(&Admission::Drop));
    }

    #[test]
    fn below_the_lower_threshold_the_count_starts_anew() {
        // Average 10, p_b = 0.05: the 20th packet is certain to be marked. 19 packets at most pass, then one below 5,
        // and at least one of 200 histories passes more than 20 in a row only if the count was forgotten.
        let passes_twenty = (0..200).any(|entity| {
            let mut red = State::new(AS_IS, Streams::new(3).get(Purpose::Queue, entity));
            let mut pass = |queued| red.arrival(SimTime::ZERO, queued, 1.0, true) == Admission::Pass;
            (0..12).all(|_| pass(10.0)) && pass(4.0) && (0..12).all(|_| pass(10.0))
        });
        assert!(passes_twenty, "P = 0.4² a history");
        // A drop at the limit does the same.
        let mut red = state(AS_IS);
        red.count = 19;
        red.signalled();
        assert_eq!(red.count, 0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert!(RED.is_sound());
        for red in [
            Red { max_th: 4.0, ..RED },
            Red { min_th: -1.0, ..RED },
            Red { max_th: f64::NAN, ..RED },
            Red { max_p: 1.1, ..RED },
            Red { weight: 0.0, ..RED },
            Red { idle_packet: Dur::ZERO, ..RED },
        ] {
            assert!(!red.is_sound(), "{red:?}");
        }
        let made = |key, value| {
            let mut params = Params::defaults(INFO.params);
            params.set(key, Value::Float(value));
            let draws = Streams::new(7).get(Purpose::Queue, 0);
            let outlet = Outlet { limit: Limit::Packets(9), mtu: Bytes(1500), packet_time: Dur::from_ms(1), is_of_receiver: false, draws };
            make(&params, outlet).map(|_| ()).map_err(|unsound| unsound.to_string())
        };
        assert_eq!(made("max_th", 5.5), Ok(()));
        assert_eq!(made("max_th", 5.0), Err("max_th: 5 is not above min_th, 5".to_owned()));
        assert_eq!(made("max_p", 0.0), Err("max_p: must be more than zero".to_owned()));
        assert_eq!(made("weight", 0.0), Err("weight: must be more than zero".to_owned()));
    }
}
