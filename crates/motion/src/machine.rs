//! The machine: all nodes' legs, and a queue of what changes next.

use crate::{Leg, Model, Point, crossing};
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{NodeId, SimTime};

/// A change of motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// A node begins another leg: this one has ended.
    Leg(NodeId, Leg),
    /// Two nodes have come within a radius of each other, or left it.
    Pair {
        /// The radius, by its index.
        range: usize,
        /// The nodes, the lower id first.
        pair: [NodeId; 2],
        /// True if they are within it now.
        is_near: bool,
    },
}

/// Two nodes, one of which moves, and a radius.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Metres; infinite if nobody asks.
    radius: f64,
    /// Their next crossing.
    at: SimTime,
    is_near: bool,
}

/// An entry of the queue: its time; a leg (0) before pairs (1); the node, or the place of the pair.
type Entry = Reverse<(SimTime, u8, u64)>;

/// The motion of all nodes.
///
/// Call order: [`Motion::advance`] at [`Motion::next_wakeup`], again and again until it returns `None`. At one instant legs begin before
/// pairs meet or part, in order of node and pair. Between two wakeups nothing changes but places, which are asked for
/// ([`Motion::place`]). A leg that ends costs one look at each other node, a pair one event for each crossing.
#[derive(Debug)]
pub struct Motion {
    legs: Vec<Leg>,
    /// `None` of a node that stands for good.
    models: Vec<Option<Box<dyn Model>>>,
    /// Nodes that move, in order of id; and the place of each node among them.
    movers: Vec<NodeId>,
    row: Vec<u32>,
    ranges: usize,
    /// Of each mover with each node, for each range. A pair of two movers stands in the row of the lower id.
    pairs: Vec<Pair>,
    queue: BinaryHeap<Entry>,
}

const NO_ROW: u32 = u32::MAX;

impl Motion {
    /// Nodes that stand at these places, and those with a model, at the start of a run. `radius` says for each of so many ranges at what
    /// distance a pair changes; `None` if nobody asks.
    pub fn new(
        places: &[Point],
        models: Vec<Option<Box<dyn Model>>>,
        ranges: usize,
        radius: impl Fn(usize, NodeId, NodeId) -> Option<f64>,
    ) -> Motion {
        let mut models = models;
        let legs: Vec<Leg> = places
            .iter()
            .zip(&mut models)
            .map(|(at, model)| match model {
                Some(model) => model.first(),
                None => Leg::rest(SimTime::ZERO, *at),
            })
            .collect();
        let nodes = legs.len();
        let movers: Vec<NodeId> =
            (0..).map(NodeId).zip(&models).filter(|(_, model)| model.is_some()).map(|(node, _)| node).collect();
        let mut row = vec![NO_ROW; nodes];
        (0..).zip(&movers).for_each(|(place, node)| row[node.index()] = place);
        let unasked = Pair { radius: f64::INFINITY, at: SimTime::NEVER, is_near: true };
        let pairs = vec![unasked; movers.len() * nodes * ranges];
        let mut motion = Motion { legs, models, movers, row, ranges, pairs, queue: BinaryHeap::new() };
        for place in 0..motion.movers.len() {
            let one = motion.movers[place];
            let ends = motion.legs[one.index()].ends;
            motion.queue.push(Reverse((ends, 0, u64::from(one.0))));
            for other in (0..nodes as u32).map(NodeId).filter(|other| *other != one) {
                if motion.row[other.index()] != NO_ROW && other < one {
                    continue;
                }
                for range in 0..ranges {
                    let at = motion.place_of(one, other, range);
                    if let Some(radius) = radius(range, one.min(other), one.max(other)) {
                        let is_near = motion.distance(one, other, SimTime::ZERO) <= radius;
                        motion.pairs[at] = Pair { radius, at: SimTime::NEVER, is_near };
                        motion.look(at, one, other, SimTime::ZERO);
                    }
                }
            }
        }
        motion
    }

    /// The memory in bytes that so many nodes take, of which some move, at most.
    pub const fn bytes(movers: usize, nodes: usize, ranges: usize) -> usize {
        movers * nodes * ranges * (size_of::<Pair>() + size_of::<Entry>()) + nodes * size_of::<Leg>()
    }

    /// The place of a pair in the table. `mover` moves.
    fn place_of(&self, mover: NodeId, other: NodeId, range: usize) -> usize {
        let is_row_of = |node: NodeId| self.row[node.index()] != NO_ROW;
        let (one, other) = if is_row_of(other) && other < mover { (other, mover) } else { (mover, other) };
        (self.row[one.index()] as usize * self.legs.len() + other.index()) * self.ranges + range
    }

    /// The pair at a place of the table, and the range.
    fn pair_at(&self, at: usize) -> (NodeId, NodeId, usize) {
        let (pair, range) = (at / self.ranges, at % self.ranges);
        (self.movers[pair / self.legs.len()], NodeId((pair % self.legs.len()) as u32), range)
    }

    /// Looks when a pair changes next.
    fn look(&mut self, at: usize, one: NodeId, other: NodeId, now: SimTime) {
        let pair = &mut self.pairs[at];
        if pair.radius == f64::INFINITY {
            return;
        }
        let (a, b) = (&self.legs[one.index()], &self.legs[other.index()]);
        pair.at = crossing(a, b, pair.radius, pair.is_near, now);
        if pair.at != SimTime::NEVER {
            self.queue.push(Reverse((pair.at, 1, at as u64)));
        }
    }

    /// The time of the next change; [`SimTime::NEVER`] if there is none.
    pub fn next_wakeup(&mut self) -> SimTime {
        // What a leg's end has put off stands in the queue until its time comes, or until it would be first.
        while let Some(Reverse((at, kind, what))) = self.queue.peek().copied() {
            if kind == 0 || self.pairs[what as usize].at == at {
                return at;
            }
            self.queue.pop();
        }
        SimTime::NEVER
    }

    /// The next change that is due at `now`, made; `None` if there is none (any more).
    pub fn advance(&mut self, now: SimTime) -> Option<Change> {
        if self.next_wakeup() > now {
            return None;
        }
        let Reverse((at, kind, what)) = self.queue.pop()?;
        if kind == 0 {
            let node = NodeId(what as u32);
            let ended = self.legs[node.index()];
            self.turn(node);
            return Some(Change::Leg(node, ended));
        }
        let place = what as usize;
        let (one, other, range) = self.pair_at(place);
        let pair = &mut self.pairs[place];
        pair.is_near = !pair.is_near;
        let is_near = pair.is_near;
        self.look(place, one, other, at);
        Some(Change::Pair { range, pair: [one.min(other), one.max(other)], is_near })
    }

    /// A node's leg has ended.
    fn turn(&mut self, node: NodeId) {
        let Some(model) = &mut self.models[node.index()] else { return };
        let ended = self.legs[node.index()];
        let leg = model.next(&ended);
        debug_assert!(leg.begins == ended.ends && leg.ends > leg.begins, "legs follow each other");
        self.legs[node.index()] = leg;
        if leg.ends != SimTime::NEVER {
            self.queue.push(Reverse((leg.ends, 0, u64::from(node.0))));
        }
        for other in (0..self.legs.len() as u32).map(NodeId).filter(|other| *other != node) {
            for range in 0..self.ranges {
                let place = self.place_of(node, other, range);
                self.look(place, node, other, leg.begins);
            }
        }
    }

    /// Puts a node that stands for good elsewhere. Who is near it now is so at once, without a change that tells it.
    pub fn put(&mut self, node: NodeId, at: Point, now: SimTime) {
        if self.row[node.index()] != NO_ROW {
            return;
        }
        self.legs[node.index()] = Leg::rest(now, at);
        for mover in self.movers.clone() {
            let distance = self.distance(mover, node, now);
            for range in 0..self.ranges {
                let place = self.place_of(mover, node, range);
                let pair = &mut self.pairs[place];
                pair.is_near = distance <= pair.radius;
                self.look(place, mover, node, now);
            }
        }
    }

    /// The leg of a node now.
    pub fn leg(&self, node: NodeId) -> &Leg {
        &self.legs[node.index()]
    }

    /// The place of a node, within its leg.
    pub fn place(&self, node: NodeId, now: SimTime) -> Point {
        self.legs[node.index()].place(now)
    }

    /// Nodes that move, in order of id.
    pub fn movers(&self) -> &[NodeId] {
        &self.movers
    }

    /// True if two nodes, one of which moves, are within their radius of that range.
    pub fn is_near(&self, range: usize, one: NodeId, other: NodeId) -> bool {
        let mover = if self.row[one.index()] == NO_ROW { (other, one) } else { (one, other) };
        self.pairs[self.place_of(mover.0, mover.1, range)].is_near
    }

    /// Metres between two nodes.
    pub fn distance(&self, one: NodeId, other: NodeId, now: SimTime) -> f64 {
        let (a, b) = (self.place(one, now), self.place(other, now));
        libm::hypot(a[0] - b[0], a[1] - b[1])
    }
}
