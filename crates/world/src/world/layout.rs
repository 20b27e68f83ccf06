//! The table of timers: which slot belongs to whom.

use engine::Slot;
use units::{ChannelId, InterfaceId, LinkId, NodeId};

/// The owners of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next entry of the agenda.
    Agenda,
    /// Contention for a channel is won by somebody.
    Grant(ChannelId),
    /// Stations on a channel may drop a NAV.
    NavCheck(ChannelId),
    /// The frame of an interface leaves the air.
    AirEnd(InterfaceId),
    /// The MAC of an interface.
    Station(InterfaceId),
    /// The preamble of an interface's frame is over: nodes that cannot decode it sense it now.
    Sensed(InterfaceId),
    /// A node: its agents, its router, packets on their way to its transport (`host_delay`).
    Node(NodeId),
    /// Packets arrive at the end of a wire.
    Wire(LinkId),
    /// Nodes begin legs, meet and part.
    Motion,
    /// One end of a TCP connection.
    Tcp(u32, u8),
    /// Writes of one end's application.
    Source(u32, u8),
    /// Reads of one end's application.
    Sink(u32, u8),
}

/// The first slot of each kind of timer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// The first slots of the timers of interfaces, nodes and wires, and of the flows of the scenario.
    interfaces: u32,
    nodes: u32,
    wires: u32,
    flows: u32,
    /// Flows of the scenario.
    stated: u32,
}

impl Layout {
    pub const AGENDA: Slot = Slot(0);
    /// Timers of a channel, and of an interface.
    const PER_CHANNEL: u32 = 2;
    const PER_INTERFACE: u32 = 3;
    /// Timers of the ends of a flow.
    pub const PER_FLOW: usize = 2;

    pub fn new(channels: usize, interfaces: usize, nodes: usize, wires: usize, stated_flows: usize) -> Layout {
        let first = 1 + Layout::PER_CHANNEL * channels as u32;
        let of_nodes = first + Layout::PER_INTERFACE * interfaces as u32;
        let of_wires = of_nodes + nodes as u32;
        let of_flows = of_wires + wires as u32 + 1;
        Layout { interfaces: first, nodes: of_nodes, wires: of_wires, flows: of_flows, stated: stated_flows as u32 }
    }

    /// The event of each slot.
    pub fn events(self) -> Vec<Event> {
        let mut events = vec![Event::Agenda];
        let channels = (0..(self.interfaces - 1) / Layout::PER_CHANNEL).map(ChannelId);
        events.extend(channels.flat_map(|id| [Event::Grant(id), Event::NavCheck(id)]));
        let interfaces = (0..(self.nodes - self.interfaces) / Layout::PER_INTERFACE).map(InterfaceId);
        events.extend(interfaces.flat_map(|id| [Event::AirEnd(id), Event::Station(id), Event::Sensed(id)]));
        events.extend((0..self.wires - self.nodes).map(|node| Event::Node(NodeId(node))));
        events.extend((0..self.flows - self.wires - 1).map(|link| Event::Wire(LinkId(link))));
        events.push(Event::Motion);
        let stated = || 0..self.stated;
        events.extend(stated().flat_map(|flow| [0, 1].map(|end| Event::Source(flow, end))));
        events.extend(stated().flat_map(|flow| [0, 1].map(|end| Event::Sink(flow, end))));
        events.extend(stated().flat_map(Layout::events_of));
        events
    }

    /// The events of the slots of a flow's ends. They come last in the table: more can be added, for flows that a user opens.
    /// Those have no others.
    pub fn events_of(flow: u32) -> [Event; Layout::PER_FLOW] {
        [0, 1].map(|end| Event::Tcp(flow, end))
    }

    pub fn grant(id: ChannelId) -> Slot {
        Slot(1 + Layout::PER_CHANNEL * id.0)
    }

    pub fn nav(id: ChannelId) -> Slot {
        Slot(2 + Layout::PER_CHANNEL * id.0)
    }

    pub fn air(self, id: InterfaceId) -> Slot {
        Slot(self.interfaces + Layout::PER_INTERFACE * id.0)
    }

    pub fn station(self, id: InterfaceId) -> Slot {
        Slot(self.interfaces + 1 + Layout::PER_INTERFACE * id.0)
    }

    pub fn sensed(self, id: InterfaceId) -> Slot {
        Slot(self.interfaces + 2 + Layout::PER_INTERFACE * id.0)
    }

    pub fn node(self, node: NodeId) -> Slot {
        Slot(self.nodes + node.0)
    }

    pub fn wire(self, link: LinkId) -> Slot {
        Slot(self.wires + link.0)
    }

    pub fn motion(self) -> Slot {
        Slot(self.flows - 1)
    }

    /// `kind` counts sources, sinks and ends.
    fn flow(self, kind: u32, flow: u32, end: u8) -> Slot {
        Slot(self.flows + 2 * kind * self.stated + 2 * flow + u32::from(end))
    }

    /// Of a flow of the scenario.
    pub fn source(self, flow: u32, end: u8) -> Slot {
        debug_assert!(flow < self.stated);
        self.flow(0, flow, end)
    }

    /// Of a flow of the scenario.
    pub fn sink(self, flow: u32, end: u8) -> Slot {
        debug_assert!(flow < self.stated);
        self.flow(1, flow, end)
    }

    pub fn tcp(self, flow: u32, end: u8) -> Slot {
        self.flow(2, flow, end)
    }

    /// All timers of one end of a flow.
    pub fn of_end(self, flow: u32, end: u8) -> impl Iterator<Item = Slot> {
        let stated = flow < self.stated;
        let application = stated.then(|| [self.source(flow, end), self.sink(flow, end)]);
        application.into_iter().flatten().chain([self.tcp(flow, end)])
    }
}
