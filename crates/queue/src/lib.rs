//! Queues: one home for those of interfaces, access points and wired links.
//!
//! Limited in packets or in bytes. What leaves first, and what is dropped or marked before the queue is full or when it leaves, is a
//! [`Discipline`]'s to say, one file each: drop-tail, RED, a warning of congestion, CoDel in one list; deficit round robin and
//! FQ-CoDel with a queue for each flow. What is queued is the caller's (`T`): an MSDU at an interface, a packet on a wire. The packet
//! that is being sent is the caller's too: it left the queue when its service began.
//!
//! Left out: RED that adapts its parameters, PIE, CAKE.

mod discipline;
mod queued;
mod stats;
#[cfg(test)]
mod testing;

use plugin::Chosen;
use std::collections::VecDeque;
use units::{Bytes, Dur, SimTime};

pub use discipline::{
    Admission, Below, DEFAULT, Discipline, Make, NAMES, Outlet, Red, Turns, Unsound, find, registry,
};
pub use queued::{List, Queued, Slot};
pub use stats::Stats;

/// The capacity of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many entries, whatever their size.
    Packets(u32),
    /// So many bytes in all.
    Bytes(Bytes),
}

/// The facts about an arriving packet that a queue may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its size.
    pub size: Bytes,
    /// True if it may be marked: its transport speaks ECN.
    pub is_ect: bool,
    /// Its flow, for a discipline that tells flows apart.
    pub flow: FlowKey,
}

/// The key by which flows are told apart: the bits of addresses, protocol and ports, as the caller packs them. Equal keys are
/// one flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowKey(u128);

impl FlowKey {
    /// A key of these bits.
    pub const fn from_bits(bits: u128) -> FlowKey {
        FlowKey(bits)
    }
}

/// The description of a queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its capacity.
    pub limit: Limit,
    /// The order of service, and the choice of packets to drop or mark.
    pub discipline: Chosen<Make>,
    /// The time that a full packet takes on the outgoing link.
    pub packet_time: Dur,
}

impl Spec {
    /// A queue with this discipline in front of a link on which a full packet takes 1 ms.
    pub fn new(limit: Limit, discipline: Chosen<Make>) -> Spec {
        Spec { limit, discipline, packet_time: Dur::from_ms(1) }
    }

    /// A drop-tail queue of this limit.
    pub fn drop_tail(limit: Limit) -> Spec {
        Spec::new(limit, find(DEFAULT).expect("it is in the list"))
    }

    /// Checks that the discipline is defined with its parameters in a queue of this limit: in that of one receiver of a radio, or in one
    /// for all.
    ///
    /// # Errors
    /// Names the parameter, and what is wrong with it.
    pub fn check(&self, is_of_receiver: bool) -> Result<(), Unsound> {
        self.tried(is_of_receiver).map(|_| ())
    }

    /// The turns of the receivers of a radio, if each has a queue of this kind.
    ///
    /// # Errors
    /// As of [`Spec::check`].
    pub fn turns(&self) -> Result<Turns, Unsound> {
        self.tried(true).map(|discipline| discipline.turns())
    }

    fn tried(&self, is_of_receiver: bool) -> Result<Box<dyn Discipline>, Unsound> {
        let draws = engine::Streams::new(0).get(engine::Purpose::Queue, 0);
        self.make(Bytes(1500), is_of_receiver, draws)
    }

    fn make(&self, mtu: Bytes, is_of_receiver: bool, draws: engine::Stream) -> Result<Box<dyn Discipline>, Unsound> {
        let Spec { limit, discipline, packet_time } = self;
        let outlet = Outlet { limit: *limit, mtu, packet_time: *packet_time, is_of_receiver, draws };
        (discipline.plugin)(&discipline.params, outlet)
    }
}

/// The room of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that still fit. For a limit in packets: as many full-sized packets (`mtu`) as still fit.
    pub free: Bytes,
    /// Bytes queued now.
    pub used: Bytes,
    /// Entries queued now.
    pub entries: u32,
}

/// The caller's duty towards a packet that was taken in, or that leaves.
#[must_use = "a packet to be marked is marked by the caller"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    None,
    /// Set CE in its IP header. @RFC3168 sec. 5
    Ce,
}

/// The reason why a packet is lost in a queue. Either way it is a sign of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There was no room for it, or for another that the discipline prefers.
    Full,
    /// The discipline dropped it: RED when it came, by chance or because the average is too high; CoDel when it was to leave.
    Early,
}

/// A queue. Times given to its methods never go back.
#[derive(Debug)]
pub struct Queue<T> {
    /// The entries queued, by place.
    entries: Vec<Option<T>>,
    queued: Queued,
    discipline: Box<dyn Discipline>,
    only_refuses: bool,
    /// The entries that the discipline has dropped, until the owner takes them.
    dropped: VecDeque<T>,
    /// The entry taken in last.
    newest: Option<Slot>,
    stats: Stats,
    /// The end of the time over which occupancy has been integrated.
    integrated: SimTime,
}

impl<T> Queue<T> {
    /// An empty queue. `mtu` is the size of a full packet, for [`Queue::space`] and for disciplines; `draws` is the discipline's.
    /// Memory for a limit in packets is taken at once, up to 4096.
    ///
    /// # Panics
    /// If the discipline is not defined with its parameters: see [`Spec::check`].
    pub fn new(spec: &Spec, mtu: Bytes, draws: engine::Stream) -> Queue<T> {
        let made = spec.make(mtu, false, draws);
        let discipline = made.unwrap_or_else(|unsound| panic!("{unsound}; it was not checked"));
        Queue::with(spec.limit, mtu, discipline)
    }

    /// An empty queue with a discipline that is in no list.
    pub fn with(limit: Limit, mtu: Bytes, discipline: Box<dyn Discipline>) -> Queue<T> {
        let room = match limit {
            Limit::Packets(n) => n.min(4096) as usize,
            Limit::Bytes(_) => 64,
        };
        Queue::with_room(limit, mtu, discipline, room)
    }

    /// One of several that share a limit ([`Queue::set_limit`]): memory is taken as it fills.
    ///
    /// # Panics
    /// See [`Queue::new`].
    pub fn sharing(spec: &Spec, mtu: Bytes, draws: engine::Stream) -> Queue<T> {
        let made = spec.make(mtu, true, draws);
        let discipline = made.unwrap_or_else(|unsound| panic!("{unsound}; it was not checked"));
        Queue::with_room(spec.limit, mtu, discipline, 0)
    }

    fn with_room(limit: Limit, mtu: Bytes, discipline: Box<dyn Discipline>, room: usize) -> Queue<T> {
        Queue {
            entries: Vec::with_capacity(room),
            queued: Queued::new(limit, mtu, room),
            only_refuses: discipline.only_refuses(),
            discipline,
            dropped: VecDeque::new(),
            newest: None,
            stats: Stats::default(),
            integrated: SimTime::ZERO,
        }
    }

    /// True if it never drops or marks what it has taken in; [`Discipline::only_refuses`].
    pub fn only_refuses(&self) -> bool {
        self.only_refuses
    }

    /// The key of a packet's flow with these bits, if the discipline tells flows apart; else one for all.
    #[inline]
    pub fn flow_key(&self, bits: impl FnOnce() -> u128) -> FlowKey {
        if self.only_refuses { FlowKey::default() } else { FlowKey::from_bits(bits()) }
    }

    /// Takes an entry in. Others may be dropped for it: ask [`Queue::dropped`] until there is none. So may it itself, then.
    ///
    /// # Errors
    /// Gives it back if it is not taken in.
    // An entry may be large: in line it is moved once. Two kinds of queues of an interface call this.
    #[inline(always)]
    pub fn push(&mut self, now: SimTime, entry: T, arrival: Arrival) -> Result<Mark, (T, Refused)> {
        self.integrate(now);
        let Arrival { size, is_ect, flow } = arrival;
        self.stats.offered += 1;
        self.stats.bytes_offered += size;
        let admission =
            if self.only_refuses { Admission::Pass } else { self.discipline.arrival(now, &arrival, &self.queued) };
        let mark = match admission {
            Admission::Pass => Mark::None,
            Admission::Mark => Mark::Ce,
            Admission::Drop => {
                self.stats.dropped_early += 1;
                return Err((entry, Refused::Early));
            }
        };
        if !self.queued.fits(size) && !self.discipline.full(now, &arrival, &mut self.queued) {
            self.stats.dropped_full += 1;
            return Err((entry, Refused::Full));
        }
        self.note_dropped();
        self.stats.marked += u64::from(mark == Mark::Ce);
        let slot = self.queued.add(size, now, flow, is_ect);
        match self.entries.get_mut(slot.index()) {
            Some(place) => *place = Some(entry),
            None => self.entries.push(Some(entry)),
        }
        self.newest = Some(slot);
        self.discipline.push(now, slot, &mut self.queued);
        self.note_dropped();
        self.stats.max_entries = self.stats.max_entries.max(self.len() as u32);
        Ok(mark)
    }

    /// Takes the entry whose turn it is, and whether it is to be marked. Others may be dropped before it: ask [`Queue::dropped`] until
    /// there is none.
    #[inline(always)] // as `push`
    pub fn pop(&mut self, now: SimTime) -> Option<(T, Mark)> {
        if self.is_empty() {
            self.discipline.idle();
            return None;
        }
        self.integrate(now);
        let popped = self.discipline.pop(now, &mut self.queued);
        self.note_dropped();
        let (slot, mark) = popped?;
        self.stats.marked += u64::from(mark == Mark::Ce);
        self.queued.leave(slot);
        Some((self.departs(now, slot), mark))
    }

    /// Sets another limit in the same unit: where several queues share one, the part that the others leave.
    pub fn set_limit(&mut self, limit: Limit) {
        self.queued.set_limit(limit);
    }

    /// Drops an entry because another queue that shares the limit needs the room: the one that its discipline would lose to a full
    /// queue. [`Queue::dropped`] has it. Returns whether there was one.
    pub fn shed(&mut self, now: SimTime) -> bool {
        self.integrate(now);
        let Some(slot) = self.discipline.surplus(&self.queued) else { return false };
        self.discipline.remove(now, slot, &mut self.queued);
        self.queued.leave(slot);
        self.stats.dropped_full += 1;
        let entry = self.free(slot);
        self.dropped.push_back(entry);
        true
    }

    /// Takes the oldest entry that was dropped after it had been taken in. Entries are dropped while another comes in or goes
    /// out. It is the caller's again.
    pub fn dropped(&mut self) -> Option<T> {
        self.dropped.pop_front()
    }

    /// Counts what the discipline has dropped.
    #[inline]
    fn note_dropped(&mut self) {
        if self.queued.has_dropped() {
            self.count_dropped();
        }
    }

    #[cold]
    fn count_dropped(&mut self) {
        while let Some((slot, why)) = self.queued.next_dropped() {
            match why {
                Refused::Full => self.stats.dropped_full += 1,
                Refused::Early => self.stats.dropped_early += 1,
            }
            let entry = self.free(slot);
            self.dropped.push_back(entry);
        }
    }

    /// The entry of a place, which may be used again.
    fn free(&mut self, slot: Slot) -> T {
        self.newest = self.newest.filter(|newest| *newest != slot);
        self.queued.free(slot);
        self.entries[slot.index()].take().expect("a place that is in use holds an entry")
    }

    #[inline(always)]
    fn departs(&mut self, now: SimTime, slot: Slot) -> T {
        self.stats.departed += 1;
        self.stats.bytes_departed += self.queued.size(slot);
        self.stats.wait += now - self.queued.since(slot);
        self.free(slot)
    }

    fn place(&self, is_it: impl Fn(&T) -> bool) -> Option<Slot> {
        self.discipline.find(&self.queued, &mut |slot| self.entries[slot.index()].as_ref().is_some_and(&is_it))
    }

    /// The first entry of which `is_it` holds: the oldest, or where flows have queues the oldest of the flow whose turn comes first.
    pub fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        self.place(is_it).and_then(|slot| self.entries[slot.index()].as_ref())
    }

    fn remove(&mut self, now: SimTime, is_it: impl Fn(&T) -> bool) -> Option<Slot> {
        // Occupancy is integrated before anything leaves; twice at one instant does no harm.
        self.integrate(now);
        let slot = self.place(is_it)?;
        self.discipline.remove(now, slot, &mut self.queued);
        self.queued.leave(slot);
        Some(slot)
    }

    /// Takes out what [`Queue::find`] shows; the others keep their order.
    pub fn take(&mut self, now: SimTime, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let slot = self.remove(now, is_it)?;
        Some(self.departs(now, slot))
    }

    /// Takes out what [`Queue::find`] shows and counts it as withdrawn: it did not leave to be sent.
    pub fn withdraw(&mut self, now: SimTime, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let slot = self.remove(now, is_it)?;
        self.stats.withdrawn += 1;
        Some(self.free(slot))
    }

    /// Takes all, in the order in which [`Queue::find`] looks at them: they neither departed nor were dropped, but abandoned.
    pub fn drain(&mut self, now: SimTime) -> Vec<T> {
        let mut left = Vec::with_capacity(self.len());
        while let Some(slot) = self.remove(now, |_| true) {
            self.stats.abandoned += 1;
            left.push(self.free(slot));
        }
        left
    }

    /// The entry that was taken in last, if it is still there.
    pub fn newest(&self) -> Option<&T> {
        self.newest.and_then(|slot| self.entries[slot.index()].as_ref())
    }

    /// Entries queued.
    pub fn len(&self) -> usize {
        self.queued.len()
    }

    /// True while none is queued.
    pub fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    /// The room of the queue.
    pub fn space(&self) -> Space {
        let (used, entries) = (self.queued.bytes(), self.len());
        let free = match self.queued.limit() {
            Limit::Packets(n) => self.queued.mtu() * u64::from(n).saturating_sub(entries as u64),
            Limit::Bytes(most) => most.saturating_sub(used),
        };
        Space { free, used, entries: entries as u32 }
    }

    /// The discipline's average as of the last arrival, in packets, or in bytes if the limit is; 0 if it has none.
    pub fn average(&self) -> f64 {
        self.discipline.average()
    }

    /// The counters up to `now`.
    pub fn stats(&self, now: SimTime) -> Stats {
        let mut stats = self.stats;
        stats.stay(now - self.integrated, self.len());
        stats
    }

    fn integrate(&mut self, now: SimTime) {
        self.stats.stay(now - self.integrated, self.len());
        self.integrated = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{arrival_of, queue};
    use engine::{Purpose, Streams};
    use plugin::Value;

    fn arrival(size: u64, is_ect: bool) -> Arrival {
        Arrival { size: Bytes(size), is_ect, flow: FlowKey::default() }
    }

    /// Returns the packet that left, which must be unmarked.
    fn out<T>(popped: Option<(T, Mark)>) -> Option<T> {
        popped.map(|(entry, mark)| {
            assert_eq!(mark, Mark::None);
            entry
        })
    }

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn drop_tail<T>(limit: Limit) -> Queue<T> {
        Queue::new(&Spec::drop_tail(limit), Bytes(1500), Streams::new(1).get(Purpose::Queue, 0))
    }

    fn red<T>(limit: Limit, red: Red) -> Queue<T> {
        Queue::with(limit, Bytes(1000), red.discipline(Streams::new(1).get(Purpose::Queue, 0)))
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
        assert_eq!(out(queue.pop(now)), Some(1));
        assert_eq!(queue.space(), Space { free: Bytes(1500), used: Bytes(20), entries: 2 });
        assert_eq!((out(queue.pop(now)), out(queue.pop(now)), out(queue.pop(now))), (Some(2), Some(3), None));
    }

    #[test]
    fn occupancy_and_waiting_are_integrated_to_the_nanosecond() {
        // One entry over [10, 70), a second over [30, 100), a third refused at 40, both limits 2: at 120 the integral is
        // 60 + 70 = 130 packet·ns; the departed waited 60 + 70 = 130 ns.
        let mut queue = drop_tail(Limit::Packets(2));
        assert_eq!(queue.push(at(10), 'a', arrival(100, false)), Ok(Mark::None));
        assert_eq!(queue.push(at(30), 'b', arrival(200, false)), Ok(Mark::None));
        assert_eq!(queue.push(at(40), 'c', arrival(300, false)), Err(('c', Refused::Full)));
        let then = queue.stats(at(50));
        assert_eq!(then.entry_time, 40 + 20);
        assert_eq!(out(queue.pop(at(70))), Some('a'));
        assert_eq!(out(queue.pop(at(100))), Some('b'));
        let all = queue.stats(at(120));
        let expected = Stats {
            offered: 3,
            bytes_offered: Bytes(600),
            departed: 2,
            bytes_departed: Bytes(300),
            dropped_full: 1,
            max_entries: 2,
            entry_time: 130,
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
        let new =
            |limit, threshold| queue("congestion-warning", &[("threshold", Value::Float(threshold))], limit, 1000);
        let mut packets = new(Limit::Packets(4), 2.0);
        let marks: Vec<_> = (0..5).map(|i| packets.push(at(i), i, arrival(10, i != 3))).collect();
        assert_eq!(marks, [Ok(Mark::None), Ok(Mark::None), Ok(Mark::Ce), Ok(Mark::None), Err((4, Refused::Full))]);
        assert_eq!((packets.stats(at(9)).marked, packets.stats(at(9)).dropped_early), (1, 0));
        let mut bytes = new(Limit::Bytes(Bytes(1000)), 150.0);
        assert_eq!(bytes.push(at(0), 0, arrival(149, true)), Ok(Mark::None));
        assert_eq!(bytes.push(at(0), 1, arrival(1, true)), Ok(Mark::None), "149 are queued");
        assert_eq!(bytes.push(at(0), 2, arrival(1, true)), Ok(Mark::Ce), "150 are");
        assert_eq!(out(bytes.pop(at(1))), Some(0));
        assert_eq!(bytes.push(at(1), 3, arrival(1, true)), Ok(Mark::None), "2 are");
    }

    #[test]
    fn a_warning_by_a_share_of_the_limit_is_one_by_so_many_packets() {
        let set = [("threshold", Value::Float(1.0 / 3.0)), ("unit", Value::Choice("share"))];
        for (limit, first) in [(4, 2), (33, 11), (1, 1)] {
            let mut some = queue("congestion-warning", &set, Limit::Packets(limit), 1000);
            let marks: Vec<_> = (0..limit).map(|i| some.push(at(u64::from(i)), i, arrival(10, true))).collect();
            let found = marks.iter().take_while(|mark| **mark == Ok(Mark::None)).count();
            assert_eq!(found, first, "{limit}: from a third of it on");
        }
    }

    #[test]
    fn a_queue_is_idle_from_when_its_last_entry_left() {
        // Weight 1/2: an arrival that finds 1 makes the average 1/2. Empty from 5 ms to 7 ms, two packets: 1/2 / 2² = 1/8.
        let mut queue = red(Limit::Packets(9), Red { weight: 0.5, ..FORCED_FROM_2 });
        let ms = |n| SimTime::ZERO + Dur::from_ms(n);
        assert_eq!(queue.push(ms(1), 'a', arrival(10, false)), Ok(Mark::None));
        assert_eq!(queue.push(ms(2), 'b', arrival(10, false)), Ok(Mark::None));
        assert_eq!(
            (out(queue.pop(ms(3))), out(queue.pop(ms(5))), out(queue.pop(ms(6)))),
            (Some('a'), Some('b'), None)
        );
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
        let mut queue = queue("drr", &[], Limit::Packets(3), 1500);
        let hundred = |flow| arrival_of(flow, 100);
        for entry in ["a1", "a2", "a3"] {
            assert_eq!(queue.push(at(0), entry, hundred(1)), Ok(Mark::None));
        }
        assert_eq!(queue.push(at(1), "a4", hundred(1)), Err(("a4", Refused::Full)), "its own is the longest");
        assert_eq!(
            (queue.push(at(2), "b1", hundred(2)), queue.dropped()),
            (Ok(Mark::None), Some("a3")),
            "in a3's place"
        );
        assert_eq!(queue.push(at(3), "b2", hundred(2)), Err(("b2", Refused::Full)), "two and two: nobody is longer");
        assert_eq!(
            (out(queue.pop(at(4))), out(queue.pop(at(4))), out(queue.pop(at(4)))),
            (Some("a1"), Some("a2"), Some("b1"))
        );
        let stats = queue.stats(at(4));
        assert_eq!((stats.offered, stats.departed, stats.dropped_full, stats.max_entries), (6, 3, 3, 3));
    }

    #[test]
    fn nobody_is_pushed_out_for_a_packet_that_would_not_fit_even_then() {
        let mut queue = queue("drr", &[], Limit::Bytes(Bytes(1000)), 1500);
        assert_eq!(queue.push(at(0), "a1", arrival_of(1, 700)), Ok(Mark::None));
        assert_eq!(queue.push(at(0), "a2", arrival_of(1, 200)), Ok(Mark::None));
        assert_eq!(
            queue.push(at(0), "b1", arrival_of(2, 400)),
            Err(("b1", Refused::Full)),
            "without a2 700 + 400 bytes"
        );
        assert_eq!((queue.push(at(0), "b2", arrival_of(2, 300)), queue.dropped()), (Ok(Mark::None), Some("a2")));
        assert_eq!(queue.space(), Space { free: Bytes(0), used: Bytes(1000), entries: 2 });
    }
}
