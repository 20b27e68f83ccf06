//! The table of timers: which slot belongs to whom.

use engine::Slot;
use units::{LinkId, NodeId};

/// What a timer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next entry of the agenda.
    Agenda,
    /// Contention is won by somebody.
    Grant,
    /// Stations may drop a NAV.
    NavCheck,
    /// The frame of a node leaves the air.
    AirEnd(NodeId),
    /// A station's MAC.
    Station(NodeId),
    /// The preamble of a node's frame is over: nodes that cannot decode it sense it now.
    Sensed(NodeId),
    /// A node: its agents, its router, packets on their way to its transport (`host_delay`).
    Node(NodeId),
    /// Packets arrive at the end of a wire.
    Wire(LinkId),
    /// One end of a TCP connection.
    Tcp(u32, u8),
    /// What one end's application writes.
    Source(u32, u8),
    /// What one end's application reads.
    Sink(u32, u8),
}

/// Where the timers of each kind begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    nodes: usize,
    wires: usize,
    /// Flows of the scenario.
    stated: usize,
}

impl Layout {
    pub const AGENDA: Slot = Slot(0);
    pub const GRANT: Slot = Slot(1);
    pub const NAV: Slot = Slot(2);
    /// Timers of the ends of a flow.
    pub const PER_FLOW: usize = 2;

    pub fn of(nodes: usize, wires: usize, stated_flows: usize) -> Layout {
        Layout { nodes, wires, stated: stated_flows }
    }

    /// What each slot stands for.
    pub fn events(self) -> Vec<Event> {
        let ids = || (0..self.nodes as u32).map(NodeId);
        let mut events = vec![Event::Agenda, Event::Grant, Event::NavCheck];
        events.extend(ids().map(Event::AirEnd));
        events.extend(ids().map(Event::Station));
        events.extend(ids().map(Event::Node));
        events.extend(ids().map(Event::Sensed));
        events.extend((0..self.wires as u32).map(|link| Event::Wire(LinkId(link))));
        let stated = || 0..self.stated as u32;
        events.extend(stated().flat_map(|flow| [0, 1].map(|end| Event::Source(flow, end))));
        events.extend(stated().flat_map(|flow| [0, 1].map(|end| Event::Sink(flow, end))));
        events.extend(stated().flat_map(Layout::events_of));
        events
    }

    /// What the slots of a flow's ends stand for. They come last in the table: more can be added, for flows that a user opens. Those have
    /// no others.
    pub fn events_of(flow: u32) -> [Event; Layout::PER_FLOW] {
        [0, 1].map(|end| Event::Tcp(flow, end))
    }

    fn of_node(self, kind: usize, node: NodeId) -> Slot {
        Slot((3 + kind * self.nodes) as u32 + node.0)
    }

    pub fn air(self, node: NodeId) -> Slot {
        self.of_node(0, node)
    }

    pub fn station(self, node: NodeId) -> Slot {
        self.of_node(1, node)
    }

    pub fn node(self, node: NodeId) -> Slot {
        self.of_node(2, node)
    }

    pub fn sensed(self, node: NodeId) -> Slot {
        self.of_node(3, node)
    }

    pub fn wire(self, link: LinkId) -> Slot {
        Slot((3 + 4 * self.nodes) as u32 + link.0)
    }

    /// `kind` counts sources, sinks and ends.
    fn flow(self, kind: usize, flow: u32, end: u8) -> Slot {
        Slot((3 + 4 * self.nodes + self.wires + 2 * kind * self.stated) as u32 + 2 * flow + u32::from(end))
    }

    /// Of a flow of the scenario.
    pub fn source(self, flow: u32, end: u8) -> Slot {
        debug_assert!((flow as usize) < self.stated);
        self.flow(0, flow, end)
    }

    /// Of a flow of the scenario.
    pub fn sink(self, flow: u32, end: u8) -> Slot {
        debug_assert!((flow as usize) < self.stated);
        self.flow(1, flow, end)
    }

    pub fn tcp(self, flow: u32, end: u8) -> Slot {
        self.flow(2, flow, end)
    }

    /// All timers of one end of a flow.
    pub fn of_end(self, flow: u32, end: u8) -> impl Iterator<Item = Slot> {
        let stated = (flow as usize) < self.stated;
        let application = stated.then(|| [self.source(flow, end), self.sink(flow, end)]);
        application.into_iter().flatten().chain([self.tcp(flow, end)])
    }
}
