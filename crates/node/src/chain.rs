//! The agents of one node, in the order of the scenario's file: the first stands next to the host (and to wires), the last
//! next to the air. Packets that go out by radio meet them in that order, all others in reverse. A member that does not sit at a place
//! is not asked there.

use schemes::{Agent, Capability, Claims, Key, Member, Place, Port, Signal};
use units::SimTime;

/// The chain of a node.
#[derive(Debug, Default)]
pub struct Chain {
    pub(crate) members: Vec<Member>,
    /// Packets that each member took or made and has neither passed on nor ended, as counted from outside.
    taken: Vec<i64>,
    /// The node's announcements.
    capabilities: Vec<Capability>,
    timers: Vec<(u8, Key, SimTime)>,
    /// The members that sit at each place, in the order they are asked there.
    at: [Vec<u8>; Place::COUNT],
    reads_reports: Vec<u8>,
    reads_attempts: Vec<u8>,
    reads_wire_losses: Vec<u8>,
    has_options: bool,
}

impl Chain {
    /// A chain of these agents, in the order of the file, of a node that announces these capabilities.
    pub fn new(members: Vec<Member>, capabilities: Vec<Capability>) -> Chain {
        let those = |keep: &dyn Fn(&Claims) -> bool| -> Vec<u8> {
            members.iter().enumerate().filter(|(_, m)| keep(&m.claims)).map(|(i, _)| i as u8).collect()
        };
        let at = Place::ALL.map(|place| those(&|claims| claims.sits_at(place)));
        let reads_reports = those(&|claims| claims.reads(Signal::TxReport));
        let reads_attempts = those(&|claims| claims.reads(Signal::TxAttempt));
        let reads_wire_losses = those(&|claims| claims.reads(Signal::WireLoss));
        let has_options = members.iter().any(|member| member.claims.turns(Port::MacOptions));
        let (timers, taken) = (Vec::new(), vec![0; members.len()]);
        Chain {
            members,
            taken,
            capabilities,
            timers,
            at,
            reads_reports,
            reads_attempts,
            reads_wire_losses,
            has_options,
        }
    }

    /// The node's announcements to its neighbours.
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    /// True if anybody sits at `place`.
    pub fn sits(&self, place: Place) -> bool {
        !self.at[place as usize].is_empty()
    }

    /// The next member to ask at `place`, given who was asked last there (or injected from there). `outward`: the packet
    /// moves towards the air.
    pub fn next(&self, place: Place, after: Option<u8>, outward: bool) -> Option<u8> {
        let mut list = self.at[place as usize].iter().copied();
        match (after, outward) {
            (None, true) => list.next(),
            (None, false) => list.next_back(),
            (Some(last), true) => list.find(|&i| i > last),
            (Some(last), false) => list.rfind(|&i| i < last),
        }
    }

    /// Members that read the final reports of the MAC, in order.
    pub fn reads_reports(&self) -> &[u8] {
        &self.reads_reports
    }

    /// Members that read reports on failed attempts, in order.
    pub fn reads_attempts(&self) -> &[u8] {
        &self.reads_attempts
    }

    /// Members that are told of losses on wires, in order.
    pub fn reads_wire_losses(&self) -> &[u8] {
        &self.reads_wire_losses
    }

    /// True if anybody writes MAC options.
    pub fn has_options(&self) -> bool {
        self.has_options
    }

    /// Members that write MAC options.
    pub fn writes_options(&self) -> impl Iterator<Item = &dyn Agent> {
        self.members.iter().filter(|m| m.claims.turns(Port::MacOptions)).map(|m| &*m.agent)
    }

    /// Its members, in the order of the file.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// A member has taken in so many packets more than it let go.
    pub fn note_taken(&mut self, member: u8, more: i64) {
        self.taken[usize::from(member)] += more;
    }

    /// Members that do not hold what they took: the scheme, and how many packets more it took than it says it holds.
    pub fn unaccounted(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let missing = |member: &Member, taken: &i64| *taken - member.agent.held() as i64;
        let all = self.members.iter().zip(&self.taken);
        all.map(move |(member, taken)| (member.claims.scheme, missing(member, taken))).filter(|(_, more)| *more != 0)
    }

    /// Sets, replaces or (`NEVER`) clears a timer of a member.
    pub fn set_timer(&mut self, member: u8, key: Key, at: SimTime) {
        let found = self.timers.iter().position(|(m, k, _)| (*m, *k) == (member, key));
        match (found, at) {
            (Some(i), SimTime::NEVER) => _ = self.timers.swap_remove(i),
            (Some(i), at) => self.timers[i].2 = at,
            (None, SimTime::NEVER) => {}
            (None, at) => self.timers.push((member, key, at)),
        }
    }

    /// Makes due now, after the death of its node, whatever fell due meanwhile.
    pub fn wake(&mut self, now: SimTime) {
        self.timers.iter_mut().for_each(|timer| timer.2 = timer.2.max(now));
    }

    /// The time of the next timer.
    pub fn next_timer(&self) -> SimTime {
        self.timers.iter().map(|t| t.2).min().unwrap_or(SimTime::NEVER)
    }

    /// Takes one timer that is due, the first by (member, key).
    pub fn take_due(&mut self, now: SimTime) -> Option<(u8, Key)> {
        let due = self.timers.iter().enumerate().filter(|(_, t)| t.2 <= now);
        let (i, _) = due.min_by_key(|(_, t)| (t.0, t.1))?;
        let (member, key, _) = self.timers.swap_remove(i);
        Some((member, key))
    }
}
