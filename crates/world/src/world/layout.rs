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
    /// The preamble of a node's frame is over: who hears no more of it than that senses it now.
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
}

impl Layout {
    pub const AGENDA: Slot = Slot(0);
    pub const GRANT: Slot = Slot(1);
    pub const NAV: Slot = Slot(2);
    /// Timers of a flow.
    pub const PER_FLOW: usize = 6;

    pub fn of(nodes: usize, wires: usize) -> Layout {
        Layout { nodes, wires }
    }

    /// What each slot stands for.
    pub fn events(self, flows: usize) -> Vec<Event> {
        let ids = || (0..self.nodes as u32).map(NodeId);
        let mut events = vec![Event::Agenda, Event::Grant, Event::NavCheck];
        events.extend(ids().map(Event::AirEnd));
        events.extend(ids().map(Event::Station));
        events.extend(ids().map(Event::Node));
        events.extend(ids().map(Event::Sensed));
        events.extend((0..self.wires as u32).map(|link| Event::Wire(LinkId(link))));
        (0..flows as u32).for_each(|flow| events.extend(Layout::events_of(flow)));
        events
    }

    /// What the slots of a flow stand for. Flows come last in the table: more can be added.
    pub fn events_of(flow: u32) -> [Event; Layout::PER_FLOW] {
        let (tcp, source) = (|end| Event::Tcp(flow, end), |end| Event::Source(flow, end));
        [tcp(0), tcp(1), source(0), source(1), Event::Sink(flow, 0), Event::Sink(flow, 1)]
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

    fn flow(self, flow: u32, which: u32) -> Slot {
        Slot((3 + 4 * self.nodes + self.wires) as u32 + Layout::PER_FLOW as u32 * flow + which)
    }

    pub fn tcp(self, flow: u32, end: u8) -> Slot {
        self.flow(flow, u32::from(end))
    }

    pub fn source(self, flow: u32, end: u8) -> Slot {
        self.flow(flow, 2 + u32::from(end))
    }

    pub fn sink(self, flow: u32, end: u8) -> Slot {
        self.flow(flow, 4 + u32::from(end))
    }
}
