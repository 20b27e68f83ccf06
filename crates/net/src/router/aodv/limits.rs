//! Bounded memories: messages in one second, requests seen, neighbours until a time.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use units::{Dur, NodeId, SimTime};

const SECOND: Dur = Dur::from_secs(1);

/// A limit of so many messages in any one second.
#[derive(Debug)]
pub struct Rate {
    most: usize,
    sent: VecDeque<SimTime>,
}

impl Rate {
    pub fn new(most: usize) -> Rate {
        Rate { most, sent: VecDeque::new() }
    }

    /// The time from which one more may be sent.
    pub fn free_at(&mut self, now: SimTime) -> SimTime {
        while self.sent.front().is_some_and(|at| *at + SECOND <= now) {
            self.sent.pop_front();
        }
        if self.sent.len() < self.most { now } else { self.sent[0] + SECOND }
    }

    /// Counts one, if it may be sent now.
    pub fn take(&mut self, now: SimTime) -> bool {
        let may = self.free_at(now) <= now;
        if may {
            self.sent.push_back(now);
        }
        may
    }
}

/// Requests that are remembered at most.
pub const MOST_SEEN: usize = 4096;

/// The requests that were seen. @RFC3561 sec. 6.3, 6.5
#[derive(Debug, Default)]
pub struct Seen {
    until: BTreeMap<(Ipv4Addr, u32), SimTime>,
    order: VecDeque<(Ipv4Addr, u32)>,
}

impl Seen {
    /// Remembers a request until a time. Returns false if it was seen before.
    pub fn insert(&mut self, now: SimTime, request: (Ipv4Addr, u32), until: SimTime) -> bool {
        let is_over = |seen: &Seen, request: &(Ipv4Addr, u32)| seen.until.get(request).is_none_or(|until| *until <= now);
        while let Some(first) = self.order.front().copied()
            && (is_over(self, &first) || self.order.len() >= MOST_SEEN)
        {
            self.order.pop_front();
            self.until.remove(&first);
        }
        if !is_over(self, &request) {
            return false;
        }
        if self.until.insert(request, until).is_none() {
            self.order.push_back(request);
        }
        true
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }
}

/// Neighbours, each until a time.
#[derive(Debug, Default)]
pub struct Timed(BTreeMap<NodeId, SimTime>);

impl Timed {
    pub fn set(&mut self, node: NodeId, until: SimTime) {
        self.0.insert(node, until);
    }

    pub fn remove(&mut self, node: NodeId) {
        self.0.remove(&node);
    }

    /// True if the time of this neighbour is to come.
    pub fn holds(&mut self, now: SimTime, node: NodeId) -> bool {
        self.0.retain(|_, until| *until > now);
        self.0.contains_key(&node)
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.0.contains_key(&node)
    }

    /// Takes those whose time has come.
    pub fn take_due(&mut self, now: SimTime) -> Vec<NodeId> {
        let due: Vec<NodeId> = self.0.iter().filter(|(_, until)| **until <= now).map(|(node, _)| *node).collect();
        self.0.retain(|_, until| *until > now);
        due
    }

    pub fn first(&self) -> SimTime {
        self.0.values().min().copied().unwrap_or(SimTime::NEVER)
    }
}
