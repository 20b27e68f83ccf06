//! CoDel: drops or marks at the head of a queue whose packets have waited too long for too long.
//!
//! - **Source** @RFC8289: Nichols, Jacobson, McGregor & Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018. The control
//!   law
//!   is sec. 5.5 and 5.6. ECN is @RFC8290 sec. 5.2.6, the threshold of CE sec. 5.2.7.
//! - **Departs** (a) the largest packet (`maxpacket`) is the size of a full packet of the run, and not the largest one seen. (b) the square
//!   root is exact, where sec. 5.7 allows Newton steps. (c) where a packet can be marked the loop of sec. 5.5 ends with it: one mark a
//!   packet. (d) a packet that its owner takes out of turn is no dequeue.
//! - **Checked** tests below; `tests/all/books.rs`; `validation/queue`.

use super::fifo::Fifo;
use super::{Discipline, Outlet, Unsound};
use crate::{List, Mark, Queued, Refused, Slot};
use plugin::{Info, Kind, Param, Params, Value};
use units::{Bytes, Dur, SimTime};

pub(super) const TARGET: Param = Param {
    key: "target",
    kind: Kind::Time { min: Dur::from_us(1), max: Dur::from_secs(1000) },
    default: Value::Time(Dur::from_ms(5)),
    doc: "Time in the queue that is no sign of a standing queue.",
};

pub(super) const INTERVAL: Param = Param {
    key: "interval",
    kind: Kind::Time { min: Dur::from_us(1), max: Dur::from_secs(1000) },
    default: Value::Time(Dur::from_ms(100)),
    doc: "How long it must be exceeded before the first drop: about the longest round trip.",
};

pub(super) const fn ecn(default: bool) -> Param {
    Param {
        key: "ecn",
        kind: Kind::Bool,
        default: Value::Bool(default),
        doc: "Packets of ECN-capable transports are marked, not dropped.",
    }
}

pub(super) const CE_THRESHOLD: Param = Param {
    key: "ce_threshold",
    kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(1000) },
    default: Value::Time(Dur::ZERO),
    doc: "Time in the queue above which every packet of an ECN-capable transport is marked; 0 s: none.",
};

/// Its declaration.
pub static INFO: Info = Info {
    id: "codel",
    summary: "Dropped or marked at the head by the time that packets have waited: controlled delay.",
    source: "RFC8289",
    params: &[TARGET, INTERVAL, ecn(false), CE_THRESHOLD],
};

/// One of them.
///
/// # Errors
/// `target` is not below `interval`.
pub fn make(params: &Params, outlet: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    Ok(Box::new(CoDel { law: Law::new(params, outlet.mtu)?, control: Control::default(), fifo: Fifo::default() }))
}

/// The parameters of the control law.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    target: Dur,
    interval: Dur,
    ecn: bool,
    ce_threshold: Option<Dur>,
    /// No more than this queued is no standing queue: a packet must be sent some time. @RFC8289 sec. 5.6, `maxpacket`
    mtu: Bytes,
}

impl Law {
    pub(super) fn new(params: &Params, mtu: Bytes) -> Result<Law, Unsound> {
        let (target, interval) = (params.time("target"), params.time("interval"));
        if target >= interval {
            return Err(Unsound::new("target", format!("{target} is not below interval, {interval}")));
        }
        let ce_threshold = Some(params.time("ce_threshold")).filter(|threshold| *threshold > Dur::ZERO);
        Ok(Law { target, interval, ecn: params.bool("ecn"), ce_threshold, mtu })
    }

    /// The time of the next drop, after one at `at`, the `count`-th of its row. @RFC8289 sec. 5.6, `control_law`
    fn next(&self, at: SimTime, count: u32) -> SimTime {
        at + Dur::from_ns((self.interval.ns() as f64 / libm::sqrt(f64::from(count))) as u64)
    }

    /// True if a packet is marked where another would be dropped.
    fn marks(&self, slot: Slot, queued: &Queued) -> bool {
        self.ecn && queued.is_ect(slot)
    }
}

/// The state of one queue. @RFC8289 sec. 5.2
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Control {
    /// The time at which packets will have waited too long for an interval; `None`: they do not wait too long.
    first_above: Option<SimTime>,
    drop_next: SimTime,
    /// Drops since the dropping state was entered.
    count: u32,
    /// `count` as it was then.
    last_count: u32,
    is_dropping: bool,
}

impl Control {
    /// Takes the packet out of `list` that is sent, and drops those before it that are not. @RFC8289 sec. 5.5
    pub(super) fn dequeue(
        &mut self,
        law: &Law,
        now: SimTime,
        list: &mut List,
        queued: &mut Queued,
    ) -> Option<(Slot, Mark)> {
        let (mut head, mut may_drop) = self.head(law, now, list, queued);
        if self.is_dropping {
            self.is_dropping = may_drop;
            // So much may be queued that the next drop is due at once, too.
            while let Some(slot) = head.filter(|_| self.is_dropping && now >= self.drop_next) {
                self.count = self.count.saturating_add(1);
                if law.marks(slot, queued) {
                    self.drop_next = law.next(self.drop_next, self.count);
                    return Some((slot, Mark::Ce));
                }
                queued.drop(slot, Refused::Early);
                (head, may_drop) = self.head(law, now, list, queued);
                self.is_dropping = may_drop;
                if may_drop {
                    self.drop_next = law.next(self.drop_next, self.count);
                }
            }
        } else if let Some(slot) = head.filter(|_| may_drop) {
            let is_marked = law.marks(slot, queued);
            if !is_marked {
                queued.drop(slot, Refused::Early);
                (head, _) = self.head(law, now, list, queued);
            }
            self.is_dropping = true;
            // If the last row of drops was a short while ago, the rate at which it ended is a good start.
            let delta = self.count - self.last_count;
            let is_recent = now < self.drop_next || now - self.drop_next < law.interval * 16;
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = law.next(now, self.count);
            self.last_count = self.count;
            if is_marked {
                return Some((slot, Mark::Ce));
            }
        }
        let slot = head?;
        let is_late = law.ce_threshold.is_some_and(|threshold| now - queued.since(slot) > threshold);
        Some((slot, if is_late && queued.is_ect(slot) { Mark::Ce } else { Mark::None }))
    }

    /// A packet was asked for and there was none.
    pub(super) fn idle(&mut self) {
        (self.first_above, self.is_dropping) = (None, false);
    }

    /// Takes out the first packet, and tells whether it may be dropped. @RFC8289 sec. 5.6, `dodequeue`
    fn head(&mut self, law: &Law, now: SimTime, list: &mut List, queued: &mut Queued) -> (Option<Slot>, bool) {
        let Some(slot) = queued.pop_front(list) else {
            self.first_above = None;
            return (None, false);
        };
        if now - queued.since(slot) < law.target || list.bytes() <= law.mtu {
            self.first_above = None;
            return (Some(slot), false);
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + law.interval);
                (Some(slot), false)
            }
            Some(since) => (Some(slot), now >= since),
        }
    }
}

#[derive(Debug)]
struct CoDel {
    law: Law,
    control: Control,
    fifo: Fifo,
}

impl Discipline for CoDel {
    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.fifo.push(slot, queued);
    }

    fn pop(&mut self, now: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        self.control.dequeue(&self.law, now, &mut self.fifo.0, queued)
    }

    fn idle(&mut self) {
        self.control.idle();
    }

    fn remove(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.fifo.remove(slot, queued);
    }

    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        self.fifo.find(queued, is_it)
    }

    fn surplus(&self, _: &Queued) -> Option<Slot> {
        self.fifo.0.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::queue;
    use crate::{Arrival, FlowKey, Limit, Queue};

    const LIMIT: Limit = Limit::Packets(10_000);

    fn ms(n: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(n)
    }

    fn packet(is_ect: bool) -> Arrival {
        Arrival { size: Bytes(1500), is_ect, flow: FlowKey::default() }
    }

    /// A queue that holds so many packets since 0 s.
    fn standing(set: &[(&str, Value)], packets: u64, is_ect: bool) -> Queue<u64> {
        let mut standing = queue("codel", set, LIMIT, 1500);
        for n in 0..packets {
            assert_eq!(standing.push(SimTime::ZERO, n, packet(is_ect)), Ok(Mark::None));
        }
        standing
    }

    /// Returns the times of drops in `from..to`, while one packet a millisecond is taken out.
    fn drops(queue: &mut Queue<u64>, from: u64, to: u64) -> Vec<u64> {
        let mut at = Vec::new();
        for now in from..to {
            queue.pop(ms(now));
            at.extend(core::iter::from_fn(|| queue.dropped()).map(|_| now));
        }
        at
    }

    #[test]
    fn the_first_drop_comes_an_interval_after_the_target_is_exceeded_and_the_next_by_the_square_root_of_their_number()
    {
        // The packet of 5 ms is the first to have waited 5 ms: drops from 105 ms on, at 105 + 100/√1 = 205, then + 100/√2 = 70.7,
        // 57.7, 50, 44.7, 40.8, 37.8: 275.71, 333.45, 383.45, 428.17, 468.99 and 506.79, each at the next packet.
        let mut queue = standing(&[], 2000, false);
        assert_eq!(drops(&mut queue, 1, 500), [105, 205, 276, 334, 384, 429, 469]);
        assert_eq!(queue.stats(ms(500)).dropped_early, 7);
    }

    #[test]
    fn drops_stop_when_the_wait_is_below_the_target_and_resume_where_they_were_if_that_was_a_short_while_ago() {
        let mut control = Control::default();
        let (mut queued, mut list) = (Queued::new(LIMIT, Bytes(1500), 0), List::default());
        let law = Law {
            target: Dur::from_ms(5),
            interval: Dur::from_ms(100),
            ecn: false,
            ce_threshold: None,
            mtu: Bytes(1500),
        };
        let mut run = |since: SimTime, now: SimTime, control: &mut Control| {
            while let Some(slot) = queued.pop_front(&mut list) {
                queued.drop(slot, Refused::Full);
            }
            for _ in 0..9 {
                let slot = queued.add(Bytes(1500), since, FlowKey::default(), false);
                queued.push_back(&mut list, slot);
            }
            control.dequeue(&law, now, &mut list, &mut queued);
            while queued.next_dropped().is_some() {}
            (control.is_dropping, control.count)
        };
        let seen: Vec<(bool, u32)> = (0..500).map(|now| run(ms(0), ms(now), &mut control)).collect();
        // Above the target from 5 ms on; see the test above, one drop earlier each, since its clock begins at 1 ms.
        assert_eq!([seen[104], seen[105], seen[300], seen[499]], [(false, 0), (true, 1), (true, 3), (true, 7)]);
        // Nothing has waited: the dropping state ends. Then it begins again an interval after the wait is too long, and the count goes
        // on from 7 - 1 = 6, since the last drop was due less than 16 intervals ago.
        assert_eq!(run(ms(500), ms(500), &mut control), (false, 7));
        assert_eq!(run(ms(500), ms(505), &mut control), (false, 7));
        assert_eq!(run(ms(500), ms(605), &mut control), (true, 6));
        assert_eq!(control.drop_next, ms(605) + Dur::from_ns(40_824_829), "100 ms / √6");
        // 16 intervals later it begins at 1.
        assert_eq!(run(ms(3000), ms(3000), &mut control), (false, 6));
        assert_eq!(run(ms(3000), ms(3005), &mut control), (false, 6));
        assert_eq!(run(ms(3000), ms(3105), &mut control), (true, 1));
    }

    #[test]
    fn a_full_packet_or_less_that_stays_behind_is_no_standing_queue() {
        // Two packets are there at each time: when one leaves one is left, which is not more than a full packet.
        let mut few = queue("codel", &[], LIMIT, 1500);
        let mut more = queue("codel", &[], LIMIT, 1499);
        for queue in [&mut few, &mut more] {
            assert_eq!(queue.push(ms(0), 0, packet(false)), Ok(Mark::None));
            for n in 1..200 {
                assert_eq!(queue.push(ms(10 * n - 10), n, packet(false)), Ok(Mark::None));
                queue.pop(ms(10 * n));
            }
        }
        assert_eq!(few.stats(ms(2000)).dropped_early, 0);
        assert!(more.stats(ms(2000)).dropped_early > 0);
    }

    #[test]
    fn with_ecn_packets_are_marked_where_others_are_dropped() {
        let ecn = [("ecn", Value::Bool(true))];
        let mut deaf = standing(&ecn, 2000, false);
        assert_eq!(drops(&mut deaf, 1, 300), [105, 205, 276]);
        let mut spoken = standing(&ecn, 2000, true);
        let marked: Vec<u64> = (1..300).filter(|now| matches!(spoken.pop(ms(*now)), Some((_, Mark::Ce)))).collect();
        assert_eq!(marked, [105, 205, 276]);
        assert_eq!((spoken.dropped(), spoken.stats(ms(300)).marked), (None, 3));
    }

    #[test]
    fn above_the_threshold_of_ce_every_packet_that_can_be_is_marked() {
        let set = [("ce_threshold", Value::Time(Dur::from_ms(20)))];
        for is_ect in [true, false] {
            let mut queue = standing(&set, 2000, is_ect);
            let marks: Vec<bool> =
                (1..80).map(|now| queue.pop(ms(now)).map(|(_, mark)| mark) == Some(Mark::Ce)).collect();
            let first = marks.iter().position(|marked| *marked);
            assert_eq!(first, is_ect.then_some(20), "at 21 ms: more than 20 ms");
            assert!(!is_ect || marks[20..].iter().all(|marked| *marked));
        }
    }

    #[test]
    fn a_target_that_is_not_below_the_interval_is_refused() {
        let mut params = Params::defaults(INFO.params);
        params.set("target", Value::Time(Dur::from_ms(100)));
        let refused = Law::new(&params, Bytes(1500)).map(|_| ()).map_err(|unsound| unsound.to_string());
        assert_eq!(refused, Err("target: 100 ms is not below interval, 100 ms".to_owned()));
    }
}
