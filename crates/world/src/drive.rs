//! A world that is driven: from instant to instant, with packets that come from outside and packets that leave.
//! docs/driving.md

use crate::assembly;
use crate::blueprint::Blueprint;
use crate::results::Run;
use crate::runner::{self, Record, RunError};
use crate::scenario::EventKind;
use crate::shared::Shared;
use crate::world::{Arrived, World};
use node::{Demux, Numbers};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Content, EmitError, Integrity, Ipv4, L4, Packet, ParseError, Payload, verify};

/// The least MTU of a driven world: that of Ethernet, and of most interfaces whose packets are handed in (IEEE 802.3).
const LEAST_MTU: Bytes = Bytes(1500);

/// Connections by 5-tuple that are known at one time; what was used longest ago makes room. Our choice: more than a host has open.
const MOST_TUPLES: usize = 4096;

/// The reason why a driven world refuses a request. It is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// An instant before the clock's.
    #[error("{at} is past: the clock stands at {now}")]
    Past {
        /// The instant.
        at: SimTime,
        /// The clock.
        now: SimTime,
    },
    /// An instant at which the run is over.
    #[error("nothing happens at {at}: the run ends at {end}")]
    Over {
        /// The instant.
        at: SimTime,
        /// The end of the scenario.
        end: SimTime,
    },
    /// A node that the scenario does not have.
    #[error("no node {node}: the scenario has {nodes}, from n0 on")]
    NoNode {
        /// The node.
        node: NodeId,
        /// The number of nodes.
        nodes: usize,
    },
    /// A node that was killed.
    #[error("node {0} was killed")]
    Dead(NodeId),
    /// A flow that was not opened from outside, or has closed.
    #[error("no flow {0} was opened from outside and is still open")]
    NoFlow(FlowId),
    /// A packet of a flow that leads somewhere else.
    #[error("flow {flow} does not lead from {node} to {to}")]
    Elsewhere {
        /// The flow of the packet.
        flow: FlowId,
        /// The node that was to send it.
        node: NodeId,
        /// Its destination.
        to: Ipv4Addr,
    },
    /// A destination that is no other node of the scenario, nor behind one.
    #[error("{0} is the address of no other node")]
    NoWay(Ipv4Addr),
    /// A packet longer than the MTU.
    #[error("a packet of {len} is longer than the MTU of {mtu}")]
    TooLong {
        /// Its length.
        len: Bytes,
        /// See [`Drive::mtu`].
        mtu: Bytes,
    },
    /// Bytes that are no IPv4 packet.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// Bytes behind the end of a packet: padding is the link layer's to remove.
    #[error("{0} bytes behind the end of the packet")]
    Trailing(usize),
    /// A wrong checksum.
    #[error("the checksum of the {0} is wrong")]
    Checksum(&'static str),
    /// A packet of which no bytes can be made.
    #[error(transparent)]
    Content(#[from] EmitError),
    /// No room for another flow.
    #[error("no room for another flow")]
    Full,
}

type Result<T> = std::result::Result<T, DriveError>;

/// A packet that is handed in when its time has come.
#[derive(Debug)]
struct Pending {
    at: SimTime,
    node: NodeId,
    packet: Packet,
}

/// The state of an interface at an instant; counts are of the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Its node.
    pub node: NodeId,
    /// MSDUs that wait or are in service.
    pub backlog: u64,
    /// Data frames sent, retries included.
    pub data_frames: u64,
    /// Of those, with the retry bit.
    pub retries: u64,
    /// MSDUs dropped after the last attempt.
    pub given_up: u64,
    /// Time that its frames have spent on the air.
    pub airtime: Dur,
}

/// A driven world.
///
/// It stands still until it is told to [advance](Drive::advance), whether or not an event is there at the instant named; in how many parts
/// that is done changes no bit of its results. Packets are [handed in](Drive::inject) at any node, at any instant that is not past; what
/// arrives for an end outside waits to be [drained](Drive::drain). All is counted: [`Drive::finish`] fails if a packet is missing.
///
/// At one instant the world's own events come first, then the packets handed in for it, together and in the order of the calls. What these
/// set in motion happens after that: two stations that are handed packets at one instant may collide. A packet for an instant to which the
/// world was advanced already comes after all that has happened then.
#[derive(Debug)]
pub struct Drive {
    shared: Shared,
    seed: u64,
    world: World,
    /// Connections of packets that were handed in as bytes.
    demux: Demux,
    /// In order of their time, then of the calls.
    pending: VecDeque<Pending>,
}

impl Drive {
    /// A world at its start: nothing has happened yet.
    ///
    /// # Errors
    /// As of [`run`](crate::run()), as far as they come before it begins.
    pub fn new(blueprint: &Blueprint, seed: u64, record: &Record) -> std::result::Result<Drive, RunError> {
        let mut shared = assembly::drawn(blueprint.shared(), seed)?.into_owned();
        shared.leads_everywhere = true;
        let mut world = runner::recorded_world(&shared, seed, record)?;
        world.open_outside();
        Ok(Drive { shared, seed, world, demux: Demux::new(MOST_TUPLES), pending: VecDeque::new() })
    }

    /// The instant at which the world stands.
    pub fn now(&self) -> SimTime {
        self.world.now()
    }

    /// The time of the next event, if nothing more is handed in: a driver may sleep until then. [`SimTime::NEVER`] once the run is over.
    pub fn next_at(&self) -> SimTime {
        if self.is_over() {
            return SimTime::NEVER;
        }
        let pending = self.pending.front().map_or(SimTime::NEVER, |pending| pending.at);
        self.world.next_at().min(pending)
    }

    /// The end of the scenario: the run goes no further.
    pub fn end(&self) -> SimTime {
        SimTime::ZERO + self.shared.scenario.duration
    }

    /// True once the world has reached [`Drive::end`].
    pub fn is_over(&self) -> bool {
        self.world.is_over()
    }

    /// The node of this name; `None` if the scenario has none.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let place = self.shared.scenario.nodes.iter().position(|node| node.name == name)?;
        Some(NodeId(place as u32))
    }

    /// The address of a node; `None` for one that the scenario does not have.
    pub fn address(&self, node: NodeId) -> Option<Ipv4Addr> {
        self.has(node).then(|| net::address(node))
    }

    /// The node at which packets to an address end: its own, or one that the address is behind. `None`: packets to it end nowhere.
    pub fn destination_of(&self, address: Ipv4Addr) -> Option<NodeId> {
        self.world.addresses.node(address)
    }

    /// The longest packet that is taken: 1500 bytes, or the largest datagram of the scenario's flows if that is longer.
    pub fn mtu(&self) -> Bytes {
        self.shared.mtu.max(LEAST_MTU)
    }

    /// Lets everything happen up to `until`, its own events among it; the clock then stands there, whether or not there was one. Beyond
    /// [`Drive::end`] nothing happens, and the clock stays at it.
    ///
    /// # Errors
    /// [`DriveError::Past`].
    pub fn advance(&mut self, until: SimTime) -> Result<()> {
        let now = self.now();
        if until < now {
            return Err(DriveError::Past { at: until, now });
        }
        self.go(until);
        Ok(())
    }

    fn go(&mut self, until: SimTime) {
        while let Some(at) = self.pending.front().map(|pending| pending.at).filter(|at| *at <= until) {
            self.run_to(at);
            while self.pending.front().is_some_and(|pending| pending.at == at) {
                let Some(Pending { node, packet, .. }) = self.pending.pop_front() else { break };
                self.world.inject(node, packet);
            }
        }
        self.run_to(until);
    }

    fn run_to(&mut self, until: SimTime) {
        let (stop, reached) = (AtomicBool::new(false), AtomicU64::new(0));
        // Nobody sets `stop`.
        _ = self.world.advance(until, &stop, &reached);
    }

    /// Opens a flow whose two ends are outside, and returns the direction from `from` to `to`; the other one is its
    /// [reverse](FlowId::reverse). Of packets that come as bytes, [`Drive::inject_bytes`] finds the flow itself.
    ///
    /// # Errors
    /// There is no such node or it was killed, both are one, or there is no room.
    pub fn open(&mut self, from: NodeId, to: NodeId) -> Result<FlowId> {
        self.check_node(from)?;
        self.check_node(to)?;
        if from == to {
            return Err(DriveError::NoWay(net::address(to)));
        }
        self.world.open_between([from, to]).ok_or(DriveError::Full)
    }

    /// Closes a flow that was opened from outside, by either of its directions. Its packets that are still under way end when they arrive.
    ///
    /// # Errors
    /// [`DriveError::NoFlow`].
    pub fn close(&mut self, flow: FlowId) -> Result<()> {
        self.ends(flow)?;
        self.demux.forget(flow);
        self.world.close_between(flow);
        Ok(())
    }

    /// Hands `packet` to `node` at `at`, as if its host had sent it then: it goes past the agents there, into the queue of a radio or of a
    /// wire. Its flow is one that was opened from outside and leads from `node` to its destination, or [`FlowId::NONE`]: such a packet
    /// arrives as well, but schemes that tell connections apart do not know it.
    ///
    /// # Errors
    /// `at` is past or not before the end, there is no such node, it was killed, the flow is not as said, the packet's destination is
    /// neither another node's address nor in a prefix of one's, the packet is longer than [`Drive::mtu`] or contradicts itself.
    pub fn inject(&mut self, node: NodeId, packet: Packet, at: SimTime) -> Result<()> {
        self.check_call(node, at, packet.ip_len())?;
        check_content(&packet)?;
        let to = self.destination(node, packet.ip.dst)?;
        if packet.flow != FlowId::NONE {
            let (flow, [first, second]) = (packet.flow, self.ends(packet.flow)?);
            let own = if flow.is_reverse() { [second, first] } else { [first, second] };
            if own != [node, to] {
                return Err(DriveError::Elsewhere { flow, node, to: packet.ip.dst });
            }
        }
        self.put(Pending { at, node, packet });
        Ok(())
    }

    /// As [`Drive::inject`], of an IPv4 packet in bytes, which arrives with its payload byte by byte. Returns its flow: the first packet of
    /// a 5-tuple (of an echo, its identifier) opens one, and one that answers it is of the reverse direction. What has no ports (fragments,
    /// other protocols) is of [`FlowId::NONE`].
    ///
    /// # Errors
    /// As of [`Drive::inject`]; also bytes that are no IPv4 packet or go on behind it, a wrong checksum, no room for one flow more.
    pub fn inject_bytes(&mut self, node: NodeId, bytes: &[u8], at: SimTime) -> Result<FlowId> {
        self.check_call(node, at, Bytes(bytes.len() as u64))?;
        match verify(bytes)? {
            Integrity::Good | Integrity::HeaderOnly => {}
            Integrity::BadHeader => return Err(DriveError::Checksum("IP header")),
            Integrity::BadTransport => return Err(DriveError::Checksum("transport")),
        }
        let total = bytes.get(2..4).map_or(0, |len| usize::from(u16::from_be_bytes([len[0], len[1]])));
        if bytes.len() > total {
            return Err(DriveError::Trailing(bytes.len() - total));
        }
        let mut packet = Packet::parse(bytes, FlowId::NONE)?;
        let to = self.destination(node, packet.ip.dst)?;
        let mut opening = Opening { world: &mut self.world, ends: [node, to] };
        packet.flow = self.demux.flow_of(at, &packet, &mut opening);
        if packet.flow == FlowId::NONE && matches!(packet.l4, L4::Tcp(_) | L4::Udp(_) | L4::Echo(_)) {
            return Err(DriveError::Full);
        }
        let flow = packet.flow;
        self.put(Pending { at, node, packet });
        Ok(flow)
    }

    /// Hands over bytes that the network carries and does not read, whatever they are: a packet of another protocol, one that is damaged. They
    /// go from `node` to `to`, with `tos` as the TOS field or traffic class that queues and access categories go by, and are of [`FlowId::NONE`].
    ///
    /// # Errors
    /// `at` is past or not before the end, a node is not there or was killed, both are one, there are no bytes or more than [`Drive::mtu`].
    pub fn inject_opaque(&mut self, node: NodeId, to: NodeId, tos: u8, bytes: &[u8], at: SimTime) -> Result<()> {
        self.check_call(node, at, Bytes(bytes.len() as u64))?;
        self.check_node(to)?;
        if node == to {
            return Err(DriveError::NoWay(net::address(to)));
        }
        if bytes.is_empty() {
            return Err(ParseError::Truncated { have: 0 }.into());
        }
        let ip = Ipv4 { src: net::address(node), dst: net::address(to), tos, ..Ipv4::default() };
        let payload = Payload::new(bytes.len() as u32, Content::Bytes(Arc::from(bytes)));
        self.put(Pending { at, node, packet: Packet { ip, l4: L4::Opaque, payload, flow: FlowId::NONE } });
        Ok(())
    }

    /// Changes the network at the instant at which the world stands, as an event of the scenario would: a node dies or stands elsewhere, a
    /// link breaks or heals.
    ///
    /// # Errors
    /// The run is over.
    pub fn change(&mut self, what: &EventKind) -> Result<()> {
        let (at, end) = (self.now(), self.end());
        if self.is_over() {
            return Err(DriveError::Over { at, end });
        }
        if self.world.topology.is_none() {
            self.world.topology = Some(assembly::topology(&self.shared, self.seed));
        }
        self.world.change_now(what);
        Ok(())
    }

    /// The state of each interface, in order, and no more than can be had in a microsecond: to show while the world runs.
    pub fn looks(&self) -> impl Iterator<Item = Look> + '_ {
        self.world.interfaces.iter().map(|interface| {
            let counters = interface.station.counters();
            Look {
                node: interface.node,
                backlog: interface.station.backlog(),
                data_frames: counters.data_frames_sent,
                retries: counters.data_frames_retried,
                given_up: counters.msdus_given_up,
                airtime: counters.airtime,
            }
        })
    }

    /// Takes out what has arrived at `node` for an end outside, the oldest first. What the iterator is not asked for stays. At a node that
    /// the scenario does not have nothing arrives.
    pub fn drain(&mut self, node: NodeId) -> impl Iterator<Item = Arrived> + '_ {
        std::iter::from_fn(move || self.world.outside.take(node))
    }

    /// Runs on to the end and returns the results: those of [`run`](crate::run()), if nothing was handed in.
    ///
    /// # Errors
    /// A capture could not be written, or a packet is unaccounted for: a mistake of the program.
    pub fn finish(mut self) -> std::result::Result<Run, RunError> {
        self.go(SimTime::NEVER);
        runner::results_of(self.world, &self.shared, self.seed, f64::NAN)
    }

    /// Ends the run at the instant at which the world stands, and returns its results: of a run that was meant to last so long. If warm-up
    /// was not over, the whole of it counts.
    ///
    /// # Errors
    /// As of [`Drive::finish`].
    pub fn stop(mut self) -> std::result::Result<Run, RunError> {
        let lasted = self.now().since(SimTime::ZERO);
        self.world.end();
        let scenario = &mut self.shared.scenario;
        scenario.duration = lasted.min(scenario.duration);
        if scenario.warmup >= scenario.duration {
            scenario.warmup = Dur::ZERO;
        }
        runner::results_of(self.world, &self.shared, self.seed, f64::NAN)
    }

    fn has(&self, node: NodeId) -> bool {
        node.index() < self.world.nodes.len()
    }

    fn check_node(&self, node: NodeId) -> Result<()> {
        if !self.has(node) {
            return Err(DriveError::NoNode { node, nodes: self.world.nodes.len() });
        }
        if self.world.is_dead(node) { Err(DriveError::Dead(node)) } else { Ok(()) }
    }

    /// Checks what does not hang on the content of a packet.
    fn check_call(&self, node: NodeId, at: SimTime, len: Bytes) -> Result<()> {
        self.check_node(node)?;
        let (now, end, mtu) = (self.now(), self.end(), self.mtu());
        if at < now {
            return Err(DriveError::Past { at, now });
        }
        if at >= end {
            return Err(DriveError::Over { at, end });
        }
        if len > mtu { Err(DriveError::TooLong { len, mtu }) } else { Ok(()) }
    }

    /// The node at which a packet that `node` sends to an address ends.
    fn destination(&self, node: NodeId, address: Ipv4Addr) -> Result<NodeId> {
        let to = self.world.addresses.node(address).filter(|to| *to != node);
        to.ok_or(DriveError::NoWay(address))
    }

    /// The ends of a flow that was opened from outside.
    fn ends(&self, flow: FlowId) -> Result<[NodeId; 2]> {
        let found = self.world.flows.get(flow).filter(|flow| flow.is_outside());
        found.map(|flow| flow.ends).ok_or(DriveError::NoFlow(flow))
    }

    fn put(&mut self, pending: Pending) {
        let place = self.pending.partition_point(|other| other.at <= pending.at);
        self.pending.insert(place, pending);
    }
}

/// Checks that bytes can be made of a packet, whatever is done to it on its way.
fn check_content(packet: &Packet) -> Result<()> {
    packet.payload.check()?;
    match (&packet.l4, &packet.payload.content) {
        (L4::Opaque, Content::Bytes(bytes)) => _ = verify(bytes)?,
        (L4::Opaque, Content::Virtual { .. }) => {
            return Err(EmitError::Unsupported("an opaque packet without bytes").into());
        }
        (_, Content::Virtual { offset }) if offset.checked_add(u64::from(packet.payload.len)).is_none() => {
            return Err(EmitError::Unsupported("a payload beyond the end of all streams").into());
        }
        _ => {}
    }
    Ok(())
}

/// The flows of packets that come as bytes: the world's own.
struct Opening<'a> {
    world: &'a mut World,
    /// The node at which the packet enters, and that of its destination.
    ends: [NodeId; 2],
}

impl Numbers for Opening<'_> {
    fn open(&mut self, is_forward: bool) -> Option<FlowId> {
        let [from, to] = self.ends;
        self.world.open_between(if is_forward { [from, to] } else { [to, from] })
    }

    fn close(&mut self, flow: FlowId) {
        self.world.close_between(flow);
    }
}
