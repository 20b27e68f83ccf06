//! Static routes: the next hop to each destination.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{InterfaceId, LinkId, NodeId};

/// A neighbour, and the link that leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// By radio, from this interface.
    Air(InterfaceId, NodeId),
    /// By this direction of a wired link.
    Wire(LinkId, NodeId),
}

impl Hop {
    /// The neighbour.
    pub fn node(self) -> NodeId {
        match self {
            Hop::Air(_, node) | Hop::Wire(_, node) => node,
        }
    }
}

/// The costs by which ways are compared: of two ways the one of less cost is taken.
pub trait Costs {
    /// The cost of a way.
    type Cost: Copy + Ord + std::fmt::Debug;

    /// The cost of a way that is at its end.
    fn none(&self) -> Self::Cost;

    /// The cost of going from `from` over `hop` and on by a way of this cost.
    fn over(&self, from: NodeId, hop: Hop, rest: Self::Cost) -> Self::Cost;

    /// True if every hop makes a way dearer. Otherwise a node takes hops alone that lead nearer to the destination by [`Costs::length`],
    /// so that no loop arises.
    fn grows(&self) -> bool {
        true
    }

    /// The length of a hop, more than zero.
    fn length(&self, _from: NodeId, _hop: Hop) -> u64 {
        1
    }
}

/// Every hop costs one.
#[derive(Debug, Clone, Copy, Default)]
pub struct HopCount;

impl Costs for HopCount {
    type Cost = u64;

    fn none(&self) -> u64 {
        0
    }

    fn over(&self, _: NodeId, _: Hop, rest: u64) -> u64 {
        rest + 1
    }
}

/// The lengths of other costs.
struct Lengths<'a, C>(&'a C);

impl<C: Costs> Costs for Lengths<'_, C> {
    type Cost = u64;

    fn none(&self) -> u64 {
        0
    }

    fn over(&self, from: NodeId, hop: Hop, rest: u64) -> u64 {
        rest.saturating_add(self.0.length(from, hop).max(1))
    }
}

/// A table of next hops, from every node to every destination asked for.
#[derive(Debug, Clone)]
pub struct Routes {
    nodes: usize,
    next: Vec<Option<Hop>>,
}

impl Routes {
    /// Least-cost routes over `hops`, the neighbours of each node, to `destinations`. Of two routes of one cost a node
    /// takes the hop that stands first in its list. (Dijkstra's algorithm from each destination backwards.)
    pub fn least_cost<C: Costs>(
        hops: &[Vec<Hop>],
        destinations: impl IntoIterator<Item = NodeId>,
        metric: &C,
    ) -> Routes {
        let nodes = hops.len();
        let mut routes = Routes { nodes, next: vec![None; nodes * nodes] };
        let back = back(hops);
        for to in destinations {
            routes.find(hops, &back, to, metric);
        }
        routes
    }

    /// Finds least-cost routes over `hops` to some destinations anew; those to others stay. `found` is told each destination and the cost to
    /// reach it from every node, `None` where no route leads.
    pub fn renew<C: Costs>(
        &mut self,
        hops: &[Vec<Hop>],
        destinations: impl IntoIterator<Item = NodeId>,
        metric: &C,
        mut found: impl FnMut(NodeId, Vec<Option<C::Cost>>),
    ) {
        let back = back(hops);
        for to in destinations {
            found(to, self.find(hops, &back, to, metric));
        }
    }

    /// Chooses a node's hop to a destination among those in `list`, where costs to reach it stand.
    pub fn choose<C: Costs>(
        &mut self,
        from: NodeId,
        list: &[Hop],
        to: NodeId,
        costs: &[Option<C::Cost>],
        metric: &C,
    ) {
        let through = |hop: &Hop| costs[hop.node().index()].map(|rest| metric.over(from, *hop, rest));
        let best = list.iter().filter(|hop| through(hop).is_some()).min_by_key(|hop| through(hop));
        self.next[from.index() * self.nodes + to.index()] = best.copied();
    }

    /// Finds the routes to one destination. Returns the cost of each.
    fn find<C: Costs>(
        &mut self,
        hops: &[Vec<Hop>],
        back: &[Vec<(NodeId, Hop)>],
        to: NodeId,
        metric: &C,
    ) -> Vec<Option<C::Cost>> {
        if !metric.grows() {
            return self.find_nearer(hops, back, to, metric);
        }
        let costs = costs(back, to, metric);
        for (from, list) in (0..).map(NodeId).zip(hops).filter(|(from, _)| *from != to) {
            self.choose(from, list, to, &costs, metric);
        }
        costs
    }

    /// Finds the routes to one destination over hops that lead nearer to it, node by node with the nearest first: whatever costs do
    /// along a way, there is no loop.
    fn find_nearer<C: Costs>(
        &mut self,
        hops: &[Vec<Hop>],
        back: &[Vec<(NodeId, Hop)>],
        to: NodeId,
        metric: &C,
    ) -> Vec<Option<C::Cost>> {
        let lengths = costs(back, to, &Lengths(metric));
        let mut nodes: Vec<(u64, NodeId)> =
            (0..).map(NodeId).zip(&lengths).filter_map(|(node, length)| Some(((*length)?, node))).collect();
        nodes.sort_unstable();
        let mut costs: Vec<Option<C::Cost>> = vec![None; hops.len()];
        costs[to.index()] = Some(metric.none());
        for (length, from) in nodes.into_iter().filter(|(_, from)| *from != to) {
            let list = &hops[from.index()];
            let is_nearer = |hop: &&Hop| lengths[hop.node().index()].is_some_and(|rest| rest < length);
            let nearer: Vec<Hop> = list.iter().filter(is_nearer).copied().collect();
            self.choose(from, &nearer, to, &costs, metric);
            let cost = |hop: Hop| costs[hop.node().index()].map(|rest| metric.over(from, hop, rest));
            costs[from.index()] = self.next(from, to).and_then(cost);
        }
        for from in (0..).map(NodeId).take(hops.len()).filter(|from| costs[from.index()].is_none()) {
            self.next[from.index() * self.nodes + to.index()] = None;
        }
        costs
    }

    /// The memory in bytes that a table of so many nodes takes.
    pub const fn bytes(nodes: usize) -> usize {
        nodes * nodes * size_of::<Option<Hop>>()
    }

    /// The memory in bytes that the search takes over so many hops of all nodes together, their lists included.
    pub const fn search_bytes(hops: usize) -> usize {
        hops * (size_of::<Hop>() + size_of::<(NodeId, Hop)>())
    }

    /// The next hop from `from` towards `to`; `None` if there is no route, or `to` was no destination.
    pub fn next(&self, from: NodeId, to: NodeId) -> Option<Hop> {
        self.next[from.index() * self.nodes + to.index()]
    }

    /// The hops from `from` to every node.
    pub fn row(&self, from: NodeId) -> &[Option<Hop>] {
        &self.next[from.index() * self.nodes..][..self.nodes]
    }

    /// Sends what goes from `from` to `to` over `hop`, whatever it costs.
    pub fn set(&mut self, from: NodeId, to: NodeId, hop: Hop) {
        self.next[from.index() * self.nodes + to.index()] = Some(hop);
    }

    /// The nodes between `from` and `to`, in order. Empty without a route.
    pub fn between(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut at = from;
        // Least-cost routes have no loop; the bound is for those that were set by hand.
        while let Some(hop) = self.next(at, to).filter(|hop| hop.node() != to && path.len() < self.nodes) {
            at = hop.node();
            path.push(at);
        }
        path
    }
}

/// The nodes that reach each node in one hop, with that hop.
fn back(hops: &[Vec<Hop>]) -> Vec<Vec<(NodeId, Hop)>> {
    let mut back: Vec<Vec<(NodeId, Hop)>> = vec![Vec::new(); hops.len()];
    for (from, list) in (0u32..).map(NodeId).zip(hops) {
        for hop in list {
            back[hop.node().index()].push((from, *hop));
        }
    }
    back
}

/// The cost to reach `to` from every node; `None` where no route leads. `back`: the nodes that reach a node in one hop,
/// with that hop.
fn costs<C: Costs>(back: &[Vec<(NodeId, Hop)>], to: NodeId, metric: &C) -> Vec<Option<C::Cost>> {
    let mut costs = vec![None; back.len()];
    let mut queue = BinaryHeap::from([Reverse((metric.none(), to))]);
    while let Some(Reverse((cost, node))) = queue.pop() {
        if costs[node.index()].is_some() {
            continue;
        }
        costs[node.index()] = Some(cost);
        let farther = back[node.index()].iter().filter(|(from, _)| costs[from.index()].is_none());
        queue.extend(farther.map(|(from, hop)| Reverse((metric.over(*from, *hop, cost), *from))));
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(id: u32) -> NodeId {
        NodeId(id)
    }

    fn air(to: u32) -> Hop {
        Hop::Air(InterfaceId(0), n(to))
    }

    /// Server 0 and access point 1 on a wire, stations 2 and 3 in the cell.
    fn cell() -> Vec<Vec<Hop>> {
        vec![
            vec![Hop::Wire(LinkId(0), n(1))],
            vec![Hop::Wire(LinkId(1), n(0)), air(2), air(3)],
            vec![air(1)],
            vec![air(1)],
        ]
    }

    #[test]
    fn a_route_leads_from_the_wire_over_the_access_point_into_the_air_and_back() {
        let routes = Routes::least_cost(&cell(), [n(0), n(2), n(3)], &HopCount);
        assert_eq!(routes.next(n(0), n(2)), Some(Hop::Wire(LinkId(0), n(1))));
        assert_eq!(routes.next(n(1), n(2)), Some(air(2)));
        assert_eq!(routes.next(n(2), n(0)), Some(air(1)));
        assert_eq!(routes.next(n(1), n(0)), Some(Hop::Wire(LinkId(1), n(0))));
        assert_eq!((routes.between(n(0), n(2)), routes.between(n(2), n(3))), (vec![n(1)], vec![n(1)]));
        assert_eq!((routes.next(n(2), n(2)), routes.next(n(0), n(1))), (None, None), "no destination of anybody");
    }

    #[test]
    fn without_a_way_there_is_no_route() {
        let mut hops = cell();
        hops[3].clear();
        let routes = Routes::least_cost(&hops, [n(0), n(3)], &HopCount);
        assert_eq!((routes.next(n(3), n(0)), routes.between(n(3), n(0))), (None, vec![]));
        assert_eq!(routes.next(n(1), n(3)), Some(air(3)), "the other direction stands");
    }

    /// Going through node 1 costs one each, the direct wire three.
    #[derive(Debug)]
    struct DirectIsDear;

    impl Costs for DirectIsDear {
        type Cost = u64;

        fn none(&self) -> u64 {
            0
        }

        fn over(&self, from: NodeId, hop: Hop, rest: u64) -> u64 {
            rest + if (from, hop.node()) == (n(0), n(2)) { 3 } else { 1 }
        }
    }

    #[test]
    fn the_metric_decides_and_among_equals_the_first_of_the_list() {
        let (a, b, c) = (Hop::Wire(LinkId(0), n(2)), Hop::Wire(LinkId(1), n(1)), Hop::Wire(LinkId(2), n(3)));
        let hops = vec![vec![a, b, c], vec![Hop::Wire(LinkId(3), n(2))], vec![], vec![Hop::Wire(LinkId(4), n(2))]];
        assert_eq!(Routes::least_cost(&hops, [n(2)], &HopCount).next(n(0), n(2)), Some(a));
        assert_eq!(
            Routes::least_cost(&hops, [n(2)], &DirectIsDear).next(n(0), n(2)),
            Some(b),
            "1 and 3 cost the same"
        );
    }
}
