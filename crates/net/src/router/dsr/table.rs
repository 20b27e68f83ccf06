//! The route request table: what was sought, and which requests were seen. @RFC4728 sec. 4.3

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use units::SimTime;

/// A target that was sought since it was last found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// The neighbours alone were asked.
    pub has_asked_neighbours: bool,
    /// Requests to the whole network in a row: the waits grow by them.
    pub floods: u32,
    /// Requests to the whole network of this discovery.
    pub tries: u32,
    /// The time before which no request may go.
    pub next_at: SimTime,
    /// The end of the last packet's patience that waits for it. `None`: none waits.
    pub wanted_until: Option<SimTime>,
    used: u64,
}

/// The targets that were sought.
#[derive(Debug, Default)]
pub struct Targets {
    of: BTreeMap<Ipv4Addr, Search>,
    clock: u64,
}

impl Targets {
    /// The search for a target, a new one if there is none. One that nobody waits for makes room; `None` if there is none such.
    pub fn entry(&mut self, now: SimTime, target: Ipv4Addr, room: usize) -> Option<&mut Search> {
        self.clock += 1;
        if !self.of.contains_key(&target) && self.of.len() >= room {
            let idle = self.of.iter().filter(|(_, it)| it.wanted_until.is_none());
            let oldest = idle.min_by_key(|(_, it)| it.used).map(|(target, _)| *target)?;
            self.of.remove(&oldest);
        }
        let new = Search {
            has_asked_neighbours: false,
            floods: 0,
            tries: 0,
            next_at: now,
            wanted_until: None,
            used: 0,
        };
        let search = self.of.entry(target).or_insert(new);
        search.used = self.clock;
        Some(search)
    }

    pub fn get_mut(&mut self, target: Ipv4Addr) -> Option<&mut Search> {
        self.of.get_mut(&target)
    }

    /// A reply gave a route: the next discovery begins anew.
    pub fn found(&mut self, target: Ipv4Addr) {
        self.of.remove(&target);
    }

    /// The targets that packets wait for.
    pub fn wanted(&self) -> impl Iterator<Item = (Ipv4Addr, &Search)> {
        self.of.iter().filter(|(_, it)| it.wanted_until.is_some()).map(|(target, it)| (*target, it))
    }

    pub fn len(&self) -> usize {
        self.of.len()
    }

    pub fn clear(&mut self) {
        self.of.clear();
    }
}

/// The requests of one initiator, the oldest first.
#[derive(Debug, Default)]
struct Of {
    seen: VecDeque<(u16, Ipv4Addr)>,
    used: u64,
}

/// The requests that were seen.
#[derive(Debug, Default)]
pub struct Seen {
    of: BTreeMap<Ipv4Addr, Of>,
    clock: u64,
}

impl Seen {
    /// Remembers a request among so many initiators and so many of each. Returns false if it was seen before.
    pub fn insert(&mut self, initiator: Ipv4Addr, request: (u16, Ipv4Addr), [nodes, ids]: [usize; 2]) -> bool {
        self.clock += 1;
        if !self.of.contains_key(&initiator) && self.of.len() >= nodes {
            let oldest = self.of.iter().min_by_key(|(_, it)| it.used).map(|(initiator, _)| *initiator);
            oldest.and_then(|oldest| self.of.remove(&oldest));
        }
        let it = self.of.entry(initiator).or_default();
        it.used = self.clock;
        if it.seen.contains(&request) {
            return false;
        }
        if it.seen.len() >= ids {
            it.seen.pop_front();
        }
        it.seen.push_back(request);
        true
    }

    /// Requests that are remembered.
    pub fn len(&self) -> usize {
        self.of.values().map(|it| it.seen.len()).sum()
    }

    pub fn clear(&mut self) {
        self.of.clear();
    }
}
