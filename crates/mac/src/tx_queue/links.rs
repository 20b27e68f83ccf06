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
//! - **mac80211** Where the discipline says so ([`queue::Turns`]), turns go by airtime: a link keeps its turn until its receiver's account is
//!   overdrawn (`fair.rs`). What its turn allows may be handed down, out of the discipline's reach; what lies below leaves in the order
//!   in which it came there, and an aggregate takes along what lies there for its link. What failed goes first when its link is sent next.
//! - **Left out** Limits by link or by time queued.

use super::fair::Accounts;
use super::{Next, RaTid, Sought, TxQueue};
use crate::msdu::Msdu;
use crate::report::PsduReport;
use engine::{Purpose, Streams};
use phy::Mode;
use queue::{Arrival, FlowKey, Limit, Mark, Queue, Space, Spec, Stats, Turns};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::Packets;

/// The MSDUs that wait for one receiver and TID.
#[derive(Debug)]
struct Link {
    /// MSDUs that its discipline has let go already: those that came back after a failure, then at most one that was looked at
    /// ([`TxQueue::peek`]). They go first.
    ahead: VecDeque<Msdu>,
    queue: Queue<Msdu>,
    /// Those that were handed down, with their numbers in the order of all and the airtime that they count for.
    below: VecDeque<(u64, Dur, Msdu)>,
    /// Its receiver's, where turns go by accounts.
    account: usize,
    /// True while it is in line for a turn: as long as it has something, and until it is found empty.
    in_turn: bool,
}

impl Link {
    /// True if it has something for a turn. What has failed goes with what lies below, if there is any.
    fn awaits_turn(&self) -> bool {
        !self.queue.is_empty() || !self.ahead.is_empty() && self.below.is_empty()
    }
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
    /// Links in the order of their turns.
    turns: VecDeque<usize>,
    /// The accounts of receivers, where turns go by them.
    accounts: Option<Accounts>,
    /// Packets that were handed down, by number and link, in that order. Those that left with one before them are passed over.
    handed: VecDeque<(u64, usize)>,
    handed_ever: u64,
    /// In all disciplines.
    queued: Held,
    /// Ahead of all disciplines, or handed down.
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
    ///
    /// # Panics
    /// If the discipline is not defined with its parameters: see [`Spec::check`].
    pub fn new(spec: &Spec, mtu: Bytes, streams: Streams) -> Links {
        let accounts = match spec.turns().unwrap_or_else(|unsound| panic!("{unsound}; it was not checked")) {
            Turns::Round => None,
            Turns::Mac80211 { weight, below } => Some(Accounts::new(weight, below)),
        };
        Links {
            spec: spec.clone(),
            mtu,
            streams,
            of: BTreeMap::new(),
            links: Vec::new(),
            turns: VecDeque::new(),
            accounts,
            handed: VecDeque::new(),
            handed_ever: 0,
            queued: Held::default(),
            ahead: Held::default(),
            max_entries: 0,
            dropped: VecDeque::new(),
            returned: None,
        }
    }

    /// The mode by which a packet counts below for a receiver that nothing was sent to: the lowest, as in Linux.
    pub fn count_first_by(&mut self, mode: Mode) {
        if let Some(accounts) = &mut self.accounts {
            accounts.set_first(mode);
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
        let account = self.accounts.as_mut().map_or(0, |accounts| accounts.account(to));
        let (ahead, below) = (VecDeque::new(), VecDeque::new());
        self.links.push(Link { ahead, queue, below, account, in_turn: false });
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
        self.take_queued(now, at, all)
    }

    fn take_queued(&mut self, now: SimTime, at: usize, all: &mut Packets) -> Option<Msdu> {
        let (msdu, mark) = self.with_queue(at, |queue| queue.pop(now))?;
        if mark == Mark::Ce {
            all.get_mut(&msdu.pkt).ip.mark_ce();
        }
        Some(msdu)
    }

    /// The link whose turn it is by the accounts, at the head of the line. `None`: none has anything, or none may hand down more.
    fn next_by_account(&mut self) -> Option<usize> {
        let Links { accounts: Some(accounts), turns, links, .. } = self else { return None };
        let (mut visits, mut barred) = (0, 0);
        while let Some(at) = turns.front().copied() {
            let link = &mut links[at];
            if !link.awaits_turn() {
                link.in_turn = false;
                turns.pop_front();
                (visits, barred) = (0, 0);
                continue;
            }
            if visits == turns.len() {
                // A whole round in vain: of the rounds until an account is paid back all but the last go by at once.
                let rounds = accounts.rounds(turns.iter().map(|at| links[*at].account))?;
                turns.iter().for_each(|at| accounts.pass(links[*at].account, rounds - 1));
                visits = 0;
            }
            let account = links[at].account;
            barred = if accounts.admits(account) { 0 } else { barred + 1 };
            if accounts.visit(account) {
                return Some(at);
            }
            turns.rotate_left(1);
            visits += 1;
            if barred == turns.len() {
                return None;
            }
        }
        None
    }

    /// A link has had its turn: the next one has it, unless that ends when the account is overdrawn.
    fn end_turn(&mut self) {
        if self.accounts.as_ref().is_some_and(|accounts| !accounts.counts_airtime()) && !self.turns.is_empty() {
            self.turns.rotate_left(1);
        }
    }

    /// Hands down what may lie below.
    fn hand_down(&mut self, now: SimTime, all: &mut Packets) {
        while let Some(at) = self.next_by_account() {
            let account = self.links[at].account;
            let admits = |it: &Links| it.accounts.as_ref().is_some_and(|accounts| accounts.admits(account));
            // What has failed goes before all else of its link. Where something of that lies below, it goes with it.
            if self.links[at].below.is_empty() {
                while let Some(msdu) = self.links[at].ahead.pop_front() {
                    self.put_below(at, msdu);
                }
            }
            while admits(self) {
                let Some(msdu) = self.take_queued(now, at, all) else { break };
                self.ahead.entries += msdu.msdus();
                self.ahead.bytes += msdu.packet_bytes(all);
                self.put_below(at, msdu);
            }
            self.end_turn();
        }
    }

    fn put_below(&mut self, at: usize, msdu: Msdu) {
        let Some(accounts) = &mut self.accounts else { return };
        self.handed_ever += 1;
        let link = &mut self.links[at];
        let lasts = accounts.handed(link.account, &msdu);
        link.below.push_back((self.handed_ever, lasts, msdu));
        self.handed.push_back((self.handed_ever, at));
    }

    /// Takes what goes next of a link from below: what has failed, or else the oldest.
    fn take_from_below(&mut self, at: usize, all: &Packets) -> Option<Msdu> {
        let link = &mut self.links[at];
        let accounts = self.accounts.as_mut()?;
        let (lasts, msdu) = match link.ahead.pop_front() {
            Some(msdu) => (accounts.handed(link.account, &msdu), msdu),
            None => link.below.pop_front().map(|(_, lasts, msdu)| (lasts, msdu))?,
        };
        accounts.served(link.account, lasts, &msdu);
        self.ahead.entries -= msdu.msdus();
        self.ahead.bytes -= msdu.packet_bytes(all);
        Some(msdu)
    }

    /// [`TxQueue::pop`] where turns go by accounts.
    fn pop_by_account(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        if !self.hands_down() {
            while let Some(at) = self.next_by_account() {
                let msdu = self.take(now, at, all);
                self.end_turn();
                if msdu.is_some() {
                    return msdu;
                }
            }
            return None;
        }
        loop {
            self.hand_down(now, all);
            while let Some((number, at)) = self.handed.front().copied() {
                if self.links[at].below.front().is_some_and(|(oldest, ..)| *oldest <= number) {
                    return self.take_from_below(at, all);
                }
                self.handed.pop_front();
            }
            // What is in service holds back nothing once that is all there is.
            if !self.accounts.as_mut().is_some_and(Accounts::settle_all) {
                return None;
            }
        }
    }

    fn hands_down(&self) -> bool {
        self.accounts.as_ref().is_some_and(Accounts::hands_down)
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
        if self.accounts.is_some() {
            return self.pop_by_account(now, all);
        }
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
        if self.hands_down() {
            let link = &self.links[at];
            return link.ahead.front().or_else(|| link.below.front().map(|(.., msdu)| msdu));
        }
        if self.links[at].ahead.is_empty() {
            let msdu = self.take(now, at, all)?;
            self.put_ahead(at, 0, msdu, all);
        }
        self.links[at].ahead.front()
    }

    fn pop_for(&mut self, now: SimTime, RaTid { to, tid }: RaTid, all: &mut Packets) -> Option<Msdu> {
        let at = *self.of.get(&(to, tid))?;
        self.returned = None;
        if self.hands_down() {
            return self.take_from_below(at, all);
        }
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
            if let Some(place) = link.below.iter().position(|(.., msdu)| sought.is(msdu)) {
                let (_, lasts, msdu) = link.below.remove(place)?;
                if let Some(accounts) = &mut self.accounts {
                    accounts.taken_back(link.account, lasts);
                }
                self.ahead.entries -= msdu.msdus();
                self.ahead.bytes -= msdu.packet_bytes(all);
                self.awaits_turn(at);
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
            left.extend(link.below.drain(..).map(|(.., msdu)| msdu));
            left.extend(link.queue.drain(now));
            link.in_turn = false;
        }
        self.turns.clear();
        self.handed.clear();
        if let Some(accounts) = &mut self.accounts {
            accounts.clear();
        }
        (self.queued, self.ahead, self.returned) = (Held::default(), Held::default(), None);
        left
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        if let Some(accounts) = &mut self.accounts {
            let account = accounts.account(report.link.to);
            accounts.attempted(account, report.airtime, report.ppdu.map(|_| report.mode));
        }
    }

    fn heard(&mut self, from: NodeId, airtime: Dur) {
        if let Some(accounts) = &mut self.accounts {
            let account = accounts.account(from);
            accounts.charge(account, airtime);
        }
    }

    fn heeds_attempts(&self) -> bool {
        self.accounts.is_some()
    }

    /// Sums over all disciplines. An MSDU that left its discipline has departed, also while it waits again after a failure.
    fn stats(&self, now: SimTime) -> Option<Stats> {
        let sum = |sum: Stats, link: &Link| sum.with(&link.queue.stats(now));
        Some(Stats { max_entries: self.max_entries, ..self.links.iter().fold(Stats::default(), sum) })
    }
}
