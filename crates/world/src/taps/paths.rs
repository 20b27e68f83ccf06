//! The paths of nodes that move, and who was whose neighbour, by motion or by an event.

use motion::{Leg, Point};
use units::{ChannelId, NodeId, SimTime};

/// A leg of a node's path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walked {
    /// The node.
    pub node: NodeId,
    /// Its begin.
    pub begins: SimTime,
    /// Its end, or that of the run.
    pub ends: SimTime,
    /// The node's place at its begin: east and north of the origin, in metres.
    pub from: Point,
    /// The node's place at its end.
    pub to: Point,
}

/// Two nodes that become radio neighbours, or are so no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// The instant; the start of the run for those who are neighbours from the first.
    pub at: SimTime,
    /// The channel.
    pub channel: ChannelId,
    /// The lower id first.
    pub pair: [NodeId; 2],
    /// True if they are neighbours from now on.
    pub is_up: bool,
}

/// The paths of all nodes that move, and the meetings of neighbours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Paths {
    /// In order of their begin.
    pub legs: Vec<Walked>,
    /// Neighbours from the first, and each change of them; in order of time.
    pub meetings: Vec<Meeting>,
    /// The leg that each is on.
    last: Vec<(NodeId, Leg)>,
}

impl Paths {
    pub(super) fn leg(&mut self, node: NodeId, leg: &Leg) {
        let (begins, ends, from) = (leg.begins, leg.ends, leg.from);
        self.legs.push(Walked { node, begins, ends, from, to: leg.to() });
        match self.last.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(place) => self.last[place].1 = *leg,
            Err(place) => self.last.insert(place, (node, *leg)),
        }
    }

    pub(super) fn met(&mut self, at: SimTime, channel: ChannelId, pair: [NodeId; 2], is_up: bool) {
        self.meetings.push(Meeting { at, channel, pair, is_up });
    }

    /// The run is over: legs end with it.
    pub(crate) fn end(mut self, at: SimTime) -> Paths {
        for (node, leg) in std::mem::take(&mut self.last) {
            let own = self.legs.iter_mut().rev().find(|walked| walked.node == node);
            if let Some(walked) = own.filter(|walked| walked.ends > at) {
                (walked.ends, walked.to) = (at, leg.place(at));
            }
        }
        self
    }
}
