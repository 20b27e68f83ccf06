//! Many routers of one protocol, their links, and packets that cross them: no MAC, no world. After each event a loop is looked for.

use crate::bench::{RADIO, Tested, data, ip, router};
use engine::{Purpose, Stream, Streams};
use net::{Hop, Order, Orders};
use plugin::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use units::{Dur, InterfaceId, NodeId, SimTime};
use wire::Packet;

/// A protocol whose routers talk to each other.
pub trait Airborne: Tested {
    /// The words of a control packet; of data none.
    type Said;
    /// The proof of a loop.
    type Loop: Debug + PartialEq;

    fn is_control(packet: &Packet) -> bool;

    fn said(packet: &Packet) -> Self::Said;

    /// A packet that is sent shows a loop.
    fn loop_of_packet(_packet: &Packet) -> Option<Self::Loop> {
        None
    }

    /// The routes that all nodes know make a loop.
    fn loop_of_routes(_air: &mut Air<Self>) -> Option<Self::Loop> {
        None
    }
}

/// The time that a frame takes.
const FRAME: Dur = Dur::from_ms(1);

/// Attempts of a frame to one neighbour.
const ATTEMPTS: u32 = 4;

#[derive(Debug)]
enum Event {
    Timer(usize),
    Arrives { to: usize, from: usize, packet: Packet },
    Failed { from: usize, to: usize, packet: Packet },
    Offer { from: u32, to: u32, every: Dur, until: SimTime },
    Break(usize, usize),
    Heal(usize, usize),
    Die(usize),
    Rise(usize),
    Appear(usize),
}

/// A frame that was sent.
#[derive(Debug, Clone)]
pub struct Frame<S> {
    pub at: SimTime,
    pub from: usize,
    pub said: S,
}

#[derive(Debug)]
struct Member<R> {
    router: R,
    waiting: Vec<Packet>,
    is_dead: bool,
    timer: SimTime,
}

/// The network.
pub struct Air<R: Airborne> {
    members: Vec<Member<R>>,
    /// True for nodes that hear each other.
    links: Vec<Vec<bool>>,
    agenda: BTreeMap<(SimTime, u64), Event>,
    serial: u64,
    pub now: SimTime,
    /// Probability that a frame, or its acknowledgement, is lost.
    pub loss: f64,
    draws: Stream,
    pub frames: Vec<Frame<R::Said>>,
    /// Deliveries: the time, and the two ends.
    pub delivered: Vec<(SimTime, u32, u32)>,
    looped: Option<R::Loop>,
}

impl<R: Airborne> Air<R> {
    pub fn new(nodes: usize, seed: u64, set: &[(&str, Value)]) -> Air<R> {
        let member = |id| Member {
            router: router(id as u32, nodes, set),
            waiting: Vec::new(),
            is_dead: false,
            timer: SimTime::NEVER,
        };
        Air {
            members: (0..nodes).map(member).collect(),
            links: vec![vec![false; nodes]; nodes],
            agenda: BTreeMap::new(),
            serial: 0,
            now: SimTime::ZERO,
            loss: 0.0,
            draws: Streams::new(seed).get(Purpose::Routing, 1 << 40),
            frames: Vec::new(),
            delivered: Vec::new(),
            looped: None,
        }
    }

    /// Nodes in a row.
    pub fn string(nodes: usize, set: &[(&str, Value)]) -> Air<R> {
        let mut air = Air::new(nodes, 1, set);
        (1..nodes).for_each(|i| air.set_link(i - 1, i, true));
        air
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn router(&mut self, node: usize) -> &mut R {
        &mut self.members[node].router
    }

    pub fn is_dead(&self, node: usize) -> bool {
        self.members[node].is_dead
    }

    pub fn set_link(&mut self, a: usize, b: usize, is_up: bool) {
        (self.links[a][b], self.links[b][a]) = (is_up, is_up);
    }

    fn push(&mut self, at: SimTime, event: Event) {
        self.serial += 1;
        self.agenda.insert((at, self.serial), event);
    }

    pub fn offer(&mut self, at: SimTime, from: u32, to: u32, every: Dur, until: SimTime) {
        self.push(at, Event::Offer { from, to, every, until });
    }

    pub fn break_at(&mut self, at: SimTime, a: usize, b: usize) {
        self.push(at, Event::Break(a, b));
    }

    pub fn heal_at(&mut self, at: SimTime, a: usize, b: usize) {
        self.push(at, Event::Heal(a, b));
    }

    /// The node is dead between these times.
    pub fn die(&mut self, at: SimTime, until: SimTime, node: usize) {
        self.push(at, Event::Die(node));
        self.push(until, Event::Rise(node));
    }

    /// The node is there from this time on, for the first time: nobody knows of it.
    pub fn start_at(&mut self, at: SimTime, node: usize) {
        self.members[node].is_dead = true;
        self.push(at, Event::Appear(node));
    }

    /// Runs to a time, or to the first loop. Returns the loop.
    pub fn run(&mut self, until: SimTime) -> Option<R::Loop> {
        while let Some(entry) = self.agenda.first_entry()
            && entry.key().0 <= until
        {
            let ((at, _), event) = entry.remove_entry();
            self.now = at;
            self.happens(event);
            let found = self.looped.take().or_else(|| R::loop_of_routes(self));
            if found.is_some() {
                return found;
            }
        }
        self.now = until;
        None
    }

    fn happens(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Timer(node) => {
                if self.members[node].timer == now {
                    self.members[node].timer = SimTime::NEVER;
                    if !self.members[node].is_dead {
                        self.ask(node, |router, orders| router.timer(now, orders));
                    }
                }
            }
            Event::Arrives { to, from, packet } => self.arrives(to, from, packet),
            Event::Failed { from, to, packet } => {
                if !self.members[from].is_dead {
                    self.ask(from, |router, orders| {
                        router.link_failed(now, RADIO, NodeId(to as u32), &packet, orders);
                    });
                }
            }
            Event::Offer { from, to, every, until } => {
                if !self.members[from as usize].is_dead {
                    self.moves(from as usize, None, data(from, to));
                }
                if now + every <= until {
                    self.push(now + every, Event::Offer { from, to, every, until });
                }
            }
            Event::Break(a, b) => self.set_link(a, b, false),
            Event::Heal(a, b) => self.set_link(a, b, true),
            Event::Appear(node) => self.members[node].is_dead = false,
            Event::Die(node) => {
                self.members[node].is_dead = true;
                self.members[node].timer = SimTime::NEVER;
                self.members[node].waiting.clear();
            }
            Event::Rise(node) => {
                self.members[node].is_dead = false;
                self.ask(node, |router, orders| router.restart(now, orders));
            }
        }
    }

    fn arrives(&mut self, to: usize, from: usize, mut packet: Packet) {
        if self.members[to].is_dead {
            return;
        }
        let (now, neighbour) = (self.now, NodeId(from as u32));
        let is_mine = packet.ip.dst == ip(to as u32) || packet.ip.dst.is_broadcast();
        if is_mine && R::is_control(&packet) {
            self.ask(to, |router, orders| router.control(now, &packet, RADIO, neighbour, orders));
        } else if is_mine {
            self.ask(to, |router, orders| router.arrived(now, &mut packet, Some(neighbour), orders));
            assert_eq!(packet, Packet { ip: packet.ip, ..data(0, 0) }, "it arrives as it was sent");
            let source = net::node_of(packet.ip.src, self.members.len()).expect("ours");
            self.delivered.push((now, source.0, to as u32));
        } else if packet.ip.ttl > 1 {
            packet.ip.ttl -= 1;
            self.moves(to, Some(neighbour), packet);
        }
    }

    /// A packet leaves a node, or waits there, or ends.
    fn moves(&mut self, node: usize, from: Option<NodeId>, mut packet: Packet) {
        let now = self.now;
        let mut hop = self.members[node].router.next(now, &packet, from);
        if hop.is_none() {
            self.ask(node, |router, orders| hop = router.prepare(now, &mut packet, from, orders));
        }
        match hop {
            Some(Hop::Air(_, to)) => self.transmit(node, Some(to.index()), packet),
            Some(Hop::Wire(..)) => panic!("no wires"),
            None => {
                let mut waits = false;
                self.ask(node, |router, orders| waits = router.seek(now, &packet, from, orders));
                if waits && self.members[node].waiting.len() < 64 {
                    self.members[node].waiting.push(packet);
                }
            }
        }
    }

    fn ask(&mut self, node: usize, what: impl FnOnce(&mut R, &mut Orders)) {
        let mut orders = Orders::default();
        what(&mut self.members[node].router, &mut orders);
        for order in orders.drain() {
            match order {
                Order::Send(packet, at, to) => {
                    assert_eq!(at, InterfaceId(0));
                    self.transmit(node, (to != NodeId::BROADCAST).then_some(to.index()), packet);
                }
                Order::Found(address) => {
                    let waiting = std::mem::take(&mut self.members[node].waiting);
                    let (go, stay) = waiting.into_iter().partition(|packet: &Packet| packet.ip.dst == address);
                    self.members[node].waiting = stay;
                    let go: Vec<Packet> = go;
                    go.into_iter().for_each(|packet| self.moves(node, None, packet));
                }
                Order::Unreachable(address) => {
                    self.members[node].waiting.retain(|packet| packet.ip.dst != address);
                }
                Order::Hold(packet) => self.members[node].waiting.push(packet),
                // No transmit queue: a frame is on the air at once.
                Order::Recall(..) | Order::Flush(..) | Order::Weigh(..) => {}
            }
        }
        let at = self.members[node].router.next_wakeup();
        if at != self.members[node].timer {
            self.members[node].timer = at;
            if at != SimTime::NEVER {
                self.push(at.max(self.now), Event::Timer(node));
                self.members[node].timer = at.max(self.now);
            }
        }
    }

    fn is_lost(&mut self) -> bool {
        self.loss > 0.0 && self.draws.chance(self.loss)
    }

    fn transmit(&mut self, from: usize, to: Option<usize>, packet: Packet) {
        let (at, now) = (self.now + FRAME, self.now);
        self.looped = self.looped.take().or_else(|| R::loop_of_packet(&packet));
        self.frames.push(Frame { at: now, from, said: R::said(&packet) });
        match to {
            None => {
                for to in 0..self.members.len() {
                    if self.links[from][to] && !self.is_lost() {
                        self.push(at, Event::Arrives { to, from, packet: packet.clone() });
                    }
                }
            }
            Some(to) => {
                let (mut arrives, mut is_acknowledged) = (false, false);
                for _ in 0..ATTEMPTS {
                    if self.links[from][to] && !self.members[to].is_dead && !is_acknowledged {
                        let got = !self.is_lost();
                        arrives |= got;
                        is_acknowledged = got && !self.is_lost();
                    }
                }
                if arrives {
                    self.push(at, Event::Arrives { to, from, packet: packet.clone() });
                }
                if !is_acknowledged {
                    self.push(at, Event::Failed { from, to, packet });
                }
            }
        }
    }
}
