//! Queues: one home for those of interfaces, access points and wired links.
//!
//! Limited in packets or in bytes. First in, first out, with drop-tail, RED, which drops early or marks, or a warning of
//! congestion, which marks all beyond a threshold; or a queue for each flow under deficit round robin. What is queued is the
//! caller's (`T`): an MSDU at an interface, a packet on a wire. The packet that is being sent is the caller's too: it left the
//! queue when its service began.
//!
//! Left out: disciplines that act when a packet leaves (CoDel), RED that adapts its parameters.

mod drr;
mod red;
mod stats;

use std::collections::VecDeque;
use units::{Bytes, SimTime};

pub use red::{Red, Unsound};
pub use stats::Stats;

/// How much a queue holds at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many entries, whatever their size.
    Packets(u32),
    /// So many bytes in all.
    Bytes(Bytes),
}

/// What a queue does before it is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Discipline {
    /// Nothing: what finds it full is refused.
    DropTail,
    /// Random early detection. @FJ93
    Red(Red),
    /// A queue for each flow, served by deficit round robin with a quantum of a full packet. When it is full the longest
    /// queue loses its newest entry. @SV96
    Drr,
    /// Every packet that may be marked is, if it finds at least this much queued, in the limit's unit: the routers of TCP Jersey,
    /// as @SAN14 sec. 4.3 describes them. Departs: it is marked when it comes, and not when it leaves; what may not be marked
    /// passes.
    Warning(f64),
}

/// What a queue knows of a packet that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its size.
    pub size: Bytes,
    /// Whether it may be marked: its transport speaks ECN.
    pub is_ect: bool,
    /// Its flow, for a discipline that tells flows apart.
    pub flow: FlowKey,
}

/// By what flows are told apart: the bits of addresses, protocol and ports, as the caller packs them. Equal keys are one flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowKey(u128);

impl FlowKey {
    /// Of these bits.
    pub const fn of(bits: u128) -> FlowKey {
        FlowKey(bits)
    }
}

/// What a queue is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// How much it holds at most.
    pub limit: Limit,
    /// What it does before it is full.
    pub discipline: Discipline,
}

impl Spec {
    /// A drop-tail queue of this limit.
    pub const fn drop_tail(limit: Limit) -> Spec {
        Spec { limit, discipline: Discipline::DropTail }
    }
}

/// What is left of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that still fit. For a limit in packets: as many full-sized packets (`mtu`) as still fit.
    pub free: Bytes,
    /// Bytes queued now.
    pub used: Bytes,
    /// Entries queued now.
    pub entries: u32,
}

/// What the caller has to do with a packet that was taken in.
#[must_use = "a packet to be marked is marked by the caller"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    None,
    /// Set CE in its IP header. @RFC3168 sec. 5
    Ce,
}

/// Why a packet was not taken in. Either way it is a sign of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It did not fit.
    Full,
    /// RED dropped it, by chance or because the average is too high, whether or not it would have fitted.
    Early,
}

#[derive(Debug)]
pub(crate) struct Entry<T> {
    what: T,
    size: Bytes,
    since: SimTime,
}

/// What marks or drops arrivals of a FIFO before it is full. Drop-tail has no stream to draw from.
#[derive(Debug)]
enum Early {
    Nothing,
    Red(red::State),
    Warning(f64),
}

/// What is queued, in its order.
#[derive(Debug)]
enum Store<T> {
    /// First in, first out.
    Fifo(VecDeque<Entry<T>>, Early),
    Drr(drr::Lanes<T>),
}

/// A queue. Times given to its methods never go back.
#[derive(Debug)]
pub struct Queue<T> {
    store: Store<T>,
    bytes: Bytes,
    limit: Limit,
    mtu: Bytes,
    stats: Stats,
    /// Up to when occupancy has been integrated.
    integrated: SimTime,
}

impl<T> Queue<T> {
    /// An empty queue. `mtu` is the size of a full packet, for [`Queue::space`], RED in bytes and DRR's quantum; only RED
    /// draws from `draws`. Memory for a limit in packets is taken at once.
    pub fn new(spec: Spec, mtu: Bytes, draws: engine::Stream) -> Queue<T> {
        let room = match spec.limit {
            Limit::Packets(n) => n.min(4096) as usize,
            Limit::Bytes(_) => 64,
        };
        let store = match spec.discipline {
            Discipline::DropTail => Store::Fifo(VecDeque::with_capacity(room), Early::Nothing),
            Discipline::Red(red) => {
                Store::Fifo(VecDeque::with_capacity(room), Early::Red(red::State::new(red, draws)))
            }
            Discipline::Warning(threshold) => Store::Fifo(VecDeque::with_capacity(room), Early::Warning(threshold)),
            Discipline::Drr => Store::Drr(drr::Lanes::new(mtu)),
        };
        Queue {
            store,
            bytes: Bytes::ZERO,
            limit: spec.limit,
            mtu,
            stats: Stats::default(),
            integrated: SimTime::ZERO,
        }
    }

    /// Takes an entry in.
    ///
    /// RED is asked before room is: what it would drop counts as dropped early in a full queue too.
    ///
    /// # Errors
    /// Gives back what is lost instead: this entry, or under [`Discipline::Drr`] the newest of the longest queue, in whose place
    /// it was taken in.
    pub fn push(&mut self, now: SimTime, entry: T, arrival: Arrival) -> Result<Mark, (T, Refused)> {
        self.integrate(now);
        let Arrival { size, is_ect, flow } = arrival;
        self.stats.offered += 1;
        self.stats.bytes_offered += size;
        let mut mark = Mark::None;
        if let Store::Fifo(entries, early) = &mut self.store {
            let queued = || match self.limit {
                Limit::Packets(_) => (entries.len() as f64, 1.0),
                Limit::Bytes(_) => (self.bytes.0 as f64, size / self.mtu),
            };
            match early {
                Early::Nothing => {}
                Early::Warning(threshold) => {
                    if is_ect && queued().0 >= *threshold {
                        mark = Mark::Ce;
                    }
                }
                Early::Red(red) => {
                    let (queued, share) = queued();
                    match red.arrival(now, queued, share, is_ect) {
                        red::Verdict::Pass => {}
                        red::Verdict::Mark => mark = Mark::Ce,
                        red::Verdict::Drop => {
                            self.stats.dropped_early += 1;
                            return Err((entry, Refused::Early));
                        }
                    }
                }
            }
        }
        let mut pushed_out = None;
        if !self.fits(size) {
            self.stats.dropped_full += 1;
            let short = match self.limit {
                Limit::Packets(_) => Bytes::ZERO,
                Limit::Bytes(most) => (self.bytes + size).saturating_sub(most),
            };
            match &mut self.store {
                Store::Fifo(_, early) => {
                    if let Early::Red(red) = early {
                        red.signalled();
                    }
                    return Err((entry, Refused::Full));
                }
                Store::Drr(lanes) => {
                    let Some(lost) = lanes.push_out(flow, size, short) else {
                        return Err((entry, Refused::Full));
                    };
                    self.bytes -= lost.size;
                    pushed_out = Some(lost.what);
                }
            }
        }
        self.stats.marked += u64::from(mark == Mark::Ce);
        self.bytes += size;
        let entry = Entry { what: entry, size, since: now };
        match &mut self.store {
            Store::Fifo(entries, _) => entries.push_back(entry),
            Store::Drr(lanes) => lanes.push(flow, entry),
        }
        self.stats.max_entries = self.stats.max_entries.max(self.len() as u32);
        match pushed_out {
            None => Ok(mark),
            Some(lost) => Err((lost, Refused::Full)),
        }
    }

    fn fits(&self, size: Bytes) -> bool {
        match self.limit {
            Limit::Packets(n) => self.len() < n as usize,
            Limit::Bytes(most) => self.bytes + size <= most,
        }
    }

    /// Takes the entry whose turn it is.
    pub fn pop(&mut self, now: SimTime) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.integrate(now);
        let entry = match &mut self.store {
            Store::Fifo(entries, _) => entries.pop_front(),
            Store::Drr(lanes) => lanes.pop(),
        }?;
        Some(self.departs(now, entry))
    }

    fn departs(&mut self, now: SimTime, entry: Entry<T>) -> T {
        self.bytes -= entry.size;
        self.stats.departed += 1;
        self.stats.bytes_departed += entry.size;
        self.stats.wait += now - entry.since;
        self.note_if_empty(now);
        entry.what
    }

    /// The first entry of which `is_it` holds: the oldest, or under DRR the oldest of the flow whose turn comes first.
    pub fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        match &self.store {
            Store::Fifo(entries, _) => entries.iter().map(|entry| &entry.what).find(|what| is_it(what)),
            Store::Drr(lanes) => lanes.iter().map(|entry| &entry.what).find(|what| is_it(what)),
        }
    }

    fn remove(&mut self, now: SimTime, is_it: impl Fn(&T) -> bool) -> Option<Entry<T>> {
        // Occupancy is integrated before anything leaves; twice at one instant does no harm.
        self.integrate(now);
        match &mut self.store {
            Store::Fifo(entries, _) => {
                let place = entries.iter().position(|entry| is_it(&entry.what))?;
                entries.remove(place)
            }
            Store::Drr(lanes) => lanes.take(is_it),
        }
    }

    /// Takes out what [`Queue::find`] shows; the others keep their order. Costs a move of those before it.
    pub fn take(&mut self, now: SimTime, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let entry = self.remove(now, is_it)?;
        Some(self.departs(now, entry))
    }

    /// Takes out what [`Queue::find`] shows and counts it as withdrawn: it did not leave to be sent.
    pub fn withdraw(&mut self, now: SimTime, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let Entry { what, size, .. } = self.remove(now, is_it)?;
        self.bytes -= size;
        self.stats.withdrawn += 1;
        self.note_if_empty(now);
        Some(what)
    }

    /// Takes all, in the order in which [`Queue::find`] looks at them: they neither departed nor were dropped, but abandoned.
    pub fn drain(&mut self, now: SimTime) -> Vec<T> {
        self.integrate(now);
        self.stats.abandoned += self.len() as u64;
        self.bytes = Bytes::ZERO;
        let left = match &mut self.store {
            Store::Fifo(entries, _) => entries.drain(..).map(|entry| entry.what).collect(),
            Store::Drr(lanes) => lanes.drain(),
        };
        self.note_if_empty(now);
        left
    }

    /// The entry that was taken in last, if it is still there; `None` under DRR, which marks nothing.
    pub fn newest(&self) -> Option<&T> {
        match &self.store {
            Store::Fifo(entries, _) => entries.back().map(|entry| &entry.what),
            Store::Drr(_) => None,
        }
    }

    /// Entries queued.
    pub fn len(&self) -> usize {
        match &self.store {
            Store::Fifo(entries, _) => entries.len(),
            Store::Drr(lanes) => lanes.len(),
        }
    }

    /// Whether none is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is left.
    pub fn space(&self) -> Space {
        let free = match self.limit {
            Limit::Packets(n) => self.mtu * u64::from(n).saturating_sub(self.len() as u64),
            Limit::Bytes(most) => most.saturating_sub(self.bytes),
        };
        Space { free, used: self.bytes, entries: self.len() as u32 }
    }

    /// RED's average as of the last arrival, in packets, or in bytes if the limit is; 0 for the others.
    pub fn average(&self) -> f64 {
        match &self.store {
            Store::Fifo(_, Early::Red(red)) => red.average(),
            Store::Fifo(..) | Store::Drr(_) => 0.0,
        }
    }

    /// What has been counted up to `now`.
    pub fn stats(&self, now: SimTime) -> Stats {
        let mut stats = self.stats;
        stats.stay(now - self.integrated, self.len(), self.bytes);
        stats
    }

    fn integrate(&mut self, now: SimTime) {
        self.stats.stay(now - self.integrated, self.len(), self.bytes);
        self.integrated = now;
    }

    fn note_if_empty(&mut self, now: SimTime) {
        if let Store::Fifo(entries, Early::Red(red)) = &mut self.store
            && entries.is_empty()
        {
            red.emptied(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};
    use units::Dur;

    fn arrival(size: u64, is_ect: bool) -> Arrival {
        Arrival { size: Bytes(size), is_ect, flow: FlowKey::default() }
    }

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn drop_tail<T>(limit: Limit) -> Queue<T> {
        Queue::new(Spec::drop_tail(limit), Bytes(1500), Streams::new(1).get(Purpose::Queue, 0))
    }

    fn red<T>(limit: Limit, red: Red) -> Queue<T> {
        let spec = Spec { limit, discipline: Discipline::Red(red) };
        Queue::new(spec, Bytes(1000), Streams::new(1).get(Purpose::Queue, 0))
    }

    /// The average is the queue as it is (weight 1), with nothing left to chance: forced from `max_th` on.
    const FORCED_FROM_2: Red = Red {
        min_th: 2.0,
        max_th: 2.0,
        max_p: 1.0,
        weight: 1.0,
        gentle: false,
        ecn: true,
        idle_packet: Dur::from_ms(1),
    };

    #[test]
    fn a_limit_in_packets_counts_packets_and_one_in_bytes_counts_bytes() {
        let now = SimTime::ZERO;
        let mut packets = drop_tail(Limit::Packets(2));
        assert_eq!(packets.push(now, 'a', arrival(1500, false)), Ok(Mark::None));
        assert_eq!(packets.push(now, 'b', arrival(40, true)), Ok(Mark::None));
        assert_eq!(packets.push(now, 'c', arrival(40, true)), Err(('c', Refused::Full)));
        let mut bytes = drop_tail(Limit::Bytes(Bytes(1540)));
        assert_eq!(bytes.push(now, 'a', arrival(1500, false)), Ok(Mark::None));
        assert_eq!(bytes.push(now, 'b', arrival(41, false)), Err(('b', Refused::Full)));
        assert_eq!(bytes.push(now, 'c', arrival(40, false)), Ok(Mark::None));
        assert_eq!(bytes.space(), Space { free: Bytes(0), used: Bytes(1540), entries: 2 });
    }

    #[test]
    fn entries_leave_in_the_order_they_came() {
        let now = SimTime::ZERO;
        let mut queue = drop_tail(Limit::Packets(3));
        for entry in 1..=3 {
            assert_eq!(queue.push(now, entry, arrival(10, false)), Ok(Mark::None));
            assert_eq!(queue.newest(), Some(&entry));
        }
        assert_eq!(queue.pop(now), Some(1));
        assert_eq!(queue.space(), Space { free: Bytes(1500), used: Bytes(20), entries: 2 });
        assert_eq!((queue.pop(now), queue.pop(now), queue.pop(now)), (Some(2), Some(3), None));
    }

    #[test]
    fn occupancy_and_waiting_are_integrated_to_the_nanosecond() {
        // One entry over [10, 70), a second over [30, 100), a third refused at 40, both limits 2: at 120 the integral is
        // 60 + 70 = 130 packet·ns, 60 · 100 + 70 · 200 = 20,000 byte·ns; the departed waited 60 + 70 = 130 ns.
        let mut queue = drop_tail(Limit::Packets(2));
        assert_eq!(queue.push(at(10), 'a', arrival(100, false)), Ok(Mark::None));
        assert_eq!(queue.push(at(30), 'b', arrival(200, false)), Ok(Mark::None));
        assert_eq!(queue.push(at(40), 'c', arrival(300, false)), Err(('c', Refused::Full)));
        let then = queue.stats(at(50));
        assert_eq!((then.entry_time, then.byte_time), (40 + 20, 4_000 + 4_000));
        assert_eq!(queue.pop(at(70)), Some('a'));
        assert_eq!(queue.pop(at(100)), Some('b'));
        let all = queue.stats(at(120));
        let expected = Stats {
            offered: 3,
            bytes_offered: Bytes(600),
            departed: 2,
            bytes_departed: Bytes(300),
            dropped_full: 1,
            max_entries: 2,
            entry_time: 130,
            byte_time: 20_000,
            wait: Dur::from_ns(130),
            ..Stats::default()
        };
        assert_eq!(all, expected);
        assert_eq!(all.mean_wait(), Some(Dur::from_ns(65)));
        assert!((all.mean_entries(Dur::from_ns(130)) - 1.0).abs() < 1e-15);
        // Of 50 … 120: both leave, nothing comes; 70 of the 130 packet·ns.
        let late = all.since(&then);
        assert_eq!((late.offered, late.departed, late.dropped_full, late.entry_time), (0, 2, 0, 70));
    }

    #[test]
    fn what_is_drained_is_abandoned() {
        let mut queue = drop_tail(Limit::Bytes(Bytes(100)));
        assert_eq!(queue.push(at(0), 'a', arrival(60, false)), Ok(Mark::None));
        assert_eq!(queue.push(at(5), 'b', arrival(40, false)), Ok(Mark::None));
        assert_eq!(queue.drain(at(10)), vec!['a', 'b']);
        let stats = queue.stats(at(20));
        assert_eq!((stats.abandoned, stats.departed, stats.entry_time, stats.wait), (2, 0, 15, Dur::ZERO));
        assert_eq!(queue.space(), Space { free: Bytes(100), used: Bytes(0), entries: 0 });
    }

    #[test]
    fn red_drops_early_what_would_have_fitted_and_full_what_it_let_pass() {
        let mut queue = red(Limit::Packets(9), FORCED_FROM_2);
        assert_eq!(queue.push(at(0), 1, arrival(10, true)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), 2, arrival(10, true)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), 3, arrival(10, true)), Err((3, Refused::Early)));
        let mut queue = red(Limit::Packets(1), FORCED_FROM_2);
        assert_eq!(queue.push(at(0), 1, arrival(10, true)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), 2, arrival(10, true)), Err((2, Refused::Full)));
        let stats = queue.stats(at(0));
        assert_eq!((stats.dropped_early, stats.dropped_full, stats.marked), (0, 1, 0));
    }

    #[test]
    fn thresholds_are_bytes_where_the_limit_is() {
        let spec = Red { min_th: 150.0, max_th: 150.0, ..FORCED_FROM_2 };
        let mut queue = red(Limit::Bytes(Bytes(1000)), spec);
        assert_eq!(queue.push(at(0), 1, arrival(149, false)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), 2, arrival(1, false)), Ok(Mark::None), "the average was 149");
        assert_eq!(queue.push(at(0), 3, arrival(1, false)), Err((3, Refused::Early)), "the average is 150");
        assert!((queue.average() - 150.0).abs() < 1e-12);
    }

    #[test]
    fn a_warning_marks_all_that_finds_the_threshold_and_drops_only_what_does_not_fit() {
        let new = |limit, threshold| {
            let spec = Spec { limit, discipline: Discipline::Warning(threshold) };
            Queue::new(spec, Bytes(1000), Streams::new(1).get(Purpose::Queue, 0))
        };
        let mut packets = new(Limit::Packets(4), 2.0);
        let marks: Vec<_> = (0..5).map(|i| packets.push(at(i), i, arrival(10, i != 3))).collect();
        assert_eq!(marks, [Ok(Mark::None), Ok(Mark::None), Ok(Mark::Ce), Ok(Mark::None), Err((4, Refused::Full))]);
        assert_eq!((packets.stats(at(9)).marked, packets.stats(at(9)).dropped_early), (1, 0));
        let mut bytes = new(Limit::Bytes(Bytes(1000)), 150.0);
        assert_eq!(bytes.push(at(0), 0, arrival(149, true)), Ok(Mark::None));
        assert_eq!(bytes.push(at(0), 1, arrival(1, true)), Ok(Mark::None), "149 are queued");
        assert_eq!(bytes.push(at(0), 2, arrival(1, true)), Ok(Mark::Ce), "150 are");
        assert_eq!(bytes.pop(at(1)), Some(0));
        assert_eq!(bytes.push(at(1), 3, arrival(1, true)), Ok(Mark::None), "2 are");
    }

    #[test]
    fn a_queue_is_idle_from_when_its_last_entry_left() {
        // Weight 1/2: an arrival that finds 1 makes the average 1/2. Empty from 5 ms to 7 ms, two packets: 1/2 / 2² = 1/8.
        let mut queue = red(Limit::Packets(9), Red { weight: 0.5, ..FORCED_FROM_2 });
        let ms = |n| SimTime::ZERO + Dur::from_ms(n);
        assert_eq!(queue.push(ms(1), 'a', arrival(10, false)), Ok(Mark::None));
        assert_eq!(queue.push(ms(2), 'b', arrival(10, false)), Ok(Mark::None));
        assert_eq!((queue.pop(ms(3)), queue.pop(ms(5)), queue.pop(ms(6))), (Some('a'), Some('b'), None));
        assert_eq!(queue.push(ms(7), 'c', arrival(10, false)), Ok(Mark::None));
        assert!((queue.average() - 0.125).abs() < 1e-12, "{}", queue.average());
    }

    #[test]
    fn a_packet_lost_to_the_limit_starts_the_count_to_the_next_mark_anew() {
        // Average 1 of 20: p_b = 1/20 and, if the count went on, every 20th arrival at the latest would be dropped early.
        // Begun anew at each, 40 in a row are not with probability 0.95⁴⁰ = 0.13: of 1000 rows some are that long.
        let mut queue = red(Limit::Packets(1), Red { min_th: 0.0, max_th: 20.0, ..FORCED_FROM_2 });
        assert_eq!(queue.push(at(0), 0, arrival(10, false)), Ok(Mark::None));
        let (mut row, mut longest) = (0, 0);
        for n in 0..20_000 {
            row = if queue.push(at(0), n, arrival(10, false)) == Err((n, Refused::Full)) { row + 1 } else { 0 };
            longest = longest.max(row);
        }
        assert!(longest >= 40, "{longest}");
    }

    #[test]
    fn a_certain_mark_is_one_where_ecn_is_spoken_and_a_drop_where_not() {
        // Weight 1, one entry queued, min 0, max 1, gentle: p_b = max_p = 1 at an average of 1; forced only from 2 on.
        let gentle = Red { min_th: 0.0, max_th: 1.0, gentle: true, ..FORCED_FROM_2 };
        let deaf = Red { ecn: false, ..gentle };
        for (spec, is_ect, expected) in [
            (gentle, true, Ok(Mark::Ce)),
            (gentle, false, Err(('b', Refused::Early))),
            (deaf, true, Err(('b', Refused::Early))),
        ] {
            let mut queue = red(Limit::Packets(9), spec);
            assert_eq!(queue.push(at(0), 'a', arrival(10, is_ect)), Ok(Mark::None));
            assert_eq!(queue.push(at(0), 'b', arrival(10, is_ect)), expected);
            let stats = queue.stats(at(0));
            assert_eq!((stats.marked == 1, stats.dropped_early == 1), (expected.is_ok(), expected.is_err()));
        }
    }

    #[test]
    fn a_packet_that_would_be_marked_in_a_full_queue_is_dropped_and_not_counted_as_marked() {
        let gentle = Red { min_th: 0.0, max_th: 1.0, gentle: true, ..FORCED_FROM_2 };
        let mut queue = red(Limit::Packets(1), gentle);
        assert_eq!(queue.push(at(0), 'a', arrival(10, true)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), 'b', arrival(10, true)), Err(('b', Refused::Full)));
        let stats = queue.stats(at(0));
        assert_eq!((stats.marked, stats.dropped_full, stats.dropped_early), (0, 1, 0));
    }

    #[test]
    fn a_full_queue_of_several_flows_takes_the_short_one_in_for_the_newest_of_the_longest() {
        let spec = Spec { limit: Limit::Packets(3), discipline: Discipline::Drr };
        let mut queue = Queue::new(spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
        let of = |flow| Arrival { size: Bytes(100), is_ect: true, flow: FlowKey::of(flow) };
        for entry in ["a1", "a2", "a3"] {
            assert_eq!(queue.push(at(0), entry, of(1)), Ok(Mark::None));
        }
        assert_eq!(queue.push(at(1), "a4", of(1)), Err(("a4", Refused::Full)), "its own is the longest");
        assert_eq!(queue.push(at(2), "b1", of(2)), Err(("a3", Refused::Full)), "b1 is in, in a3's place");
        assert_eq!(queue.push(at(3), "b2", of(2)), Err(("b2", Refused::Full)), "two and two: nobody is longer");
        assert_eq!((queue.pop(at(4)), queue.pop(at(4)), queue.pop(at(4))), (Some("a1"), Some("a2"), Some("b1")));
        let stats = queue.stats(at(4));
        assert_eq!((stats.offered, stats.departed, stats.dropped_full, stats.max_entries), (6, 3, 3, 3));
    }

    #[test]
    fn nobody_is_pushed_out_for_a_packet_that_would_not_fit_even_then() {
        let spec = Spec { limit: Limit::Bytes(Bytes(1000)), discipline: Discipline::Drr };
        let mut queue = Queue::new(spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
        let of = |flow, size| Arrival { size: Bytes(size), is_ect: false, flow: FlowKey::of(flow) };
        assert_eq!(queue.push(at(0), "a1", of(1, 700)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), "a2", of(1, 200)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), "b1", of(2, 400)), Err(("b1", Refused::Full)), "without a2 700 + 400 bytes");
        assert_eq!(queue.push(at(0), "b2", of(2, 300)), Err(("a2", Refused::Full)));
        assert_eq!(queue.space(), Space { free: Bytes(0), used: Bytes(1000), entries: 2 });
    }
}
