//! A queue for each link, and links in turn.
//!
//! - **Order** Links that have something take turns, round robin. A turn is an MSDU, and what shares its PSDU. Of a link that is sent
//!   first which its discipline says.
//! - **After a failure** an MSDU goes back to the head of its link, with its number and attempts, and the next link has its turn. The
//!   contention window stays what it is: it belongs to the EDCAF, or to the station under DCF, and not to a receiver
//!   (@80211-2020 10.3.3, 10.23.2.2).
//! - **Limit** One, shared by all. A packet that does not fit is taken in if another link has more bytes queued than its own: the longest
//!   then loses what its discipline would lose to a full queue, as in @RFC8290 sec. 4.1. So a receiver that is gone takes no room from
//!   others. In its own link it is for the discipline to refuse it, so that a station with one link has the queue of [`super::Fifo`].
//! - **Left out** Shares by airtime; limits by link or by time queued.

use super::{Next, RaTid, Sought, TxQueue};
use crate::msdu::Msdu;
use engine::{Purpose, Streams};
use queue::{Arrival, FlowKey, Limit, Mark, Queue, Space, Spec, Stats};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, NodeId, SimTime};
use wire::Packets;

/// The MSDUs that wait for one receiver and TID.
#[derive(Debug)]
struct Link {
    /// MSDUs that its discipline has let go already: those that came back after a failure, then at most one that was looked at
    /// ([`TxQueue::peek`]). They go first.
    ahead: VecDeque<Msdu>,
    queue: Queue<Msdu>,
    /// True while it is in line for a turn: as long as it has something, and until it is found empty.
    in_turn: bool,
}

/// An interface queue with a discipline for each link. It counts bytes of IP packets. What has left its discipline takes no room of the
/// limit: it is in service, or comes from there.
#[derive(Debug)]
pub struct Links {
    spec: Spec,
    mtu: Bytes,
    streams: Streams,
    of: BTreeMap<(NodeId, Option<u8>), usize>,
    links: Vec<Link>,
    /// Links in the order of their turns. A scheduler by airtime would stand here: [`TxQueue::attempted`] tells what a turn took.
    turns: VecDeque<usize>,
    /// In all disciplines.
    queued: Held,
    /// Ahead of all disciplines.
    ahead: Held,
    max_entries: u32,
    /// MSDUs that disciplines have dropped, until somebody asks.
    dropped: VecDeque<Msdu>,
    /// The link of the PSDU that has failed last, and how many of its MSDUs have come back: they keep their order.
    returned: Option<(usize, usize)>,
}

/// So much is held.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    entries: u32,
    bytes: Bytes,
}

impl Links {
    /// A queue of this kind; `mtu` is the size of a full packet, for [`TxQueue::space`] and disciplines. The discipline of each link has
    /// a random stream of its own.
    pub fn new(spec: &Spec, mtu: Bytes, streams: Streams) -> Links {
        Links {
            spec: spec.clone(),
            mtu,
            streams,
            of: BTreeMap::new(),
            links: Vec::new(),
            turns: VecDeque::new(),
            queued: Held::default(),
            ahead: Held::default(),
            max_entries: 0,
            dropped: VecDeque::new(),
            returned: None,
        }
    }

    /// The place of a link.
    fn link(&mut self, RaTid { to, tid }: RaTid) -> usize {
        match self.of.get(&(to, tid)) {
            Some(at) => *at,
            None => self.open(to, tid),
        }
    }

    #[cold]
    fn open(&mut self, to: NodeId, tid: Option<u8>) -> usize {
        let draws = self.streams.get(Purpose::Queue, u64::from(to.0) << 8 | tid.map_or(0, |tid| u64::from(tid) + 1));
        let queue = Queue::sharing(&self.spec, self.mtu, draws);
        self.links.push(Link { ahead: VecDeque::new(), queue, in_turn: false });
        self.of.insert((to, tid), self.links.len() - 1);
        self.links.len() - 1
    }

    /// Does something with the queue of a link. Totals follow, and what it drops is kept.
    fn with_queue<R>(&mut self, at: usize, act: impl FnOnce(&mut Queue<Msdu>) -> R) -> R {
        let queue = &mut self.links[at].queue;
        let before = queue.space();
        let result = act(queue);
        let after = queue.space();
        self.queued.entries = self.queued.entries - before.entries + after.entries;
        self.queued.bytes = self.queued.bytes - before.used + after.used;
        self.dropped.extend(std::iter::from_fn(|| queue.dropped()));
        result
    }

    /// True if so much more would be beyond the limit.
    fn is_beyond(&self, more: Held) -> bool {
        match self.spec.limit {
            Limit::Packets(n) => self.queued.entries + more.entries > n,
            Limit::Bytes(most) => self.queued.bytes + more.bytes > most,
        }
    }

    fn bytes(&self, at: usize) -> Bytes {
        self.links[at].queue.space().used
    }

    /// The link with the most bytes queued.
    fn longest(&self) -> Option<usize> {
        (0..self.links.len()).max_by_key(|at| self.bytes(*at))
    }

    /// The limit of a link while something comes for it: what the others leave, and `more`.
    fn limit(&self, at: usize, more: Held) -> Limit {
        let own = self.links[at].queue.space();
        match self.spec.limit {
            Limit::Packets(n) => {
                let others = self.queued.entries - own.entries;
                Limit::Packets(n.saturating_sub(others) + more.entries)
            }
            Limit::Bytes(most) => {
                let others = self.queued.bytes - own.used;
                Limit::Bytes(most.saturating_sub(others) + more.bytes)
            }
        }
    }

    fn awaits_turn(&mut self, at: usize) {
        if !std::mem::replace(&mut self.links[at].in_turn, true) {
            self.turns.push_back(at);
        }
    }

    /// The next MSDU of a link: its discipline's, unless something is ahead of that.
    fn take(&mut self, now: SimTime, at: usize, all: &mut Packets) -> Option<Msdu> {
        if let Some(msdu) = self.links[at].ahead.pop_front() {
            self.ahead.entries -= msdu.msdus();
            self.ahead.bytes -= msdu.packet_bytes(all);
            return Some(msdu);
        }
        let (msdu, mark) = self.with_queue(at, |queue| queue.pop(now))?;
        if mark == Mark::Ce {
            all.get_mut(&msdu.pkt).ip.mark_ce();
        }
        Some(msdu)
    }

    fn put_ahead(&mut self, at: usize, place: usize, msdu: Msdu, all: &Packets) {
        self.ahead.entries += msdu.msdus();
        self.ahead.bytes += msdu.packet_bytes(all);
        let ahead = &mut self.links[at].ahead;
        ahead.insert(place.min(ahead.len()), msdu);
    }
}

impl TxQueue for Links {
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let (size, flow) = (packet.ip_len(), FlowKey::from_bits(packet.five_tuple()));
        let arrival = Arrival { size, is_ect: packet.ip.is_ect(), flow };
        let at = self.link(RaTid::of(&msdu));
        let one = Held { entries: 1, bytes: size };
        let another_is_longer =
            self.is_beyond(one) && self.longest().is_some_and(|longest| self.bytes(longest) > self.bytes(at) + size);
        let limit = self.limit(at, if another_is_longer { one } else { Held::default() });
        let pushed = self.with_queue(at, |queue| {
            queue.set_limit(limit);
            queue.push(now, msdu, arrival)
        });
        let mark = pushed.map_err(|(lost, _)| lost)?;
        if let (Mark::Ce, Some(msdu)) = (mark, self.links[at].queue.newest()) {
            all.get_mut(&msdu.pkt).ip.mark_ce();
        }
        self.awaits_turn(at);
        while self.is_beyond(Held::default()) {
            let longest = self.longest();
            if !longest.is_some_and(|longest| self.with_queue(longest, |queue| queue.shed(now))) {
                break;
            }
        }
        self.max_entries = self.max_entries.max(self.queued.entries);
        Ok(())
    }

    fn pop(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        self.returned = None;
        while let Some(at) = self.turns.pop_front() {
            if let Some(msdu) = self.take(now, at, all) {
                self.turns.push_back(at);
                return Some(msdu);
            }
            self.links[at].in_turn = false;
        }
        None
    }

    fn dropped(&mut self, _: &Packets) -> Option<Msdu> {
        self.dropped.pop_front()
    }

    fn peek(&mut self, now: SimTime, RaTid { to, tid }: RaTid, all: &mut Packets) -> Option<&Msdu> {
        let at = *self.of.get(&(to, tid))?;
        self.returned = None;
        if self.links[at].ahead.is_empty() {
            let msdu = self.take(now, at, all)?;
            self.put_ahead(at, 0, msdu, all);
        }
        self.links[at].ahead.front()
    }

    fn pop_for(&mut self, now: SimTime, RaTid { to, tid }: RaTid, all: &mut Packets) -> Option<Msdu> {
        let at = *self.of.get(&(to, tid))?;
        self.returned = None;
        self.take(now, at, all)
    }

    fn withdraw(&mut self, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        for at in 0..self.links.len() {
            let link = &mut self.links[at];
            if let Some(place) = link.ahead.iter().position(|msdu| sought.is(msdu)) {
                let msdu = link.ahead.remove(place)?;
                self.ahead.entries -= msdu.msdus();
                self.ahead.bytes -= msdu.packet_bytes(all);
                return Some(msdu);
            }
            let found = self.with_queue(at, |queue| queue.withdraw(now, |msdu| sought.is(msdu)));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn failed(&mut self, _: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        if is_last {
            return Next::GiveUp(msdu);
        }
        let at = self.link(RaTid::of(&msdu));
        let place = self.returned.filter(|(link, _)| *link == at).map_or(0, |(_, place)| place);
        self.put_ahead(at, place, msdu, all);
        self.returned = Some((at, place + 1));
        self.awaits_turn(at);
        Next::Yield
    }

    /// Behind those of its link that have just failed; that link had its turn and did not use it.
    fn put_back(&mut self, _: SimTime, msdu: Msdu, all: &Packets) -> Option<Msdu> {
        let at = self.link(RaTid::of(&msdu));
        let place = self.returned.filter(|(link, _)| *link == at).map_or(0, |(_, place)| place);
        self.put_ahead(at, place, msdu, all);
        self.links[at].in_turn = true;
        self.turns.retain(|turn| *turn != at);
        self.turns.push_front(at);
        None
    }

    fn space(&self) -> Space {
        let free = match self.spec.limit {
            Limit::Packets(n) => self.mtu * u64::from(n.saturating_sub(self.queued.entries)),
            Limit::Bytes(most) => most.saturating_sub(self.queued.bytes),
        };
        let entries = self.queued.entries + self.ahead.entries;
        Space { free, used: self.queued.bytes + self.ahead.bytes, entries }
    }

    /// Link by link, in the order in which they were made.
    fn drain(&mut self, now: SimTime) -> Vec<Msdu> {
        let mut left = Vec::with_capacity(self.space().entries as usize);
        for link in &mut self.links {
            left.extend(link.ahead.drain(..));
            left.extend(link.queue.drain(now));
            link.in_turn = false;
        }
        self.turns.clear();
        (self.queued, self.ahead, self.returned) = (Held::default(), Held::default(), None);
        left
    }

    /// Sums over all disciplines. An MSDU that left its discipline has departed, also while it waits again after a failure.
    fn stats(&self, now: SimTime) -> Option<Stats> {
        let sum = |sum: Stats, link: &Link| sum.with(&link.queue.stats(now));
        Some(Stats { max_entries: self.max_entries, ..self.links.iter().fold(Stats::default(), sum) })
    }
}
