//! The contract between a cross-layer scheme and the node it runs at. docs/design/contract.md tells why it is so.

use crate::{Cx, Info, Place, Setup};
use mac::{Classifier, MacOptions, Plan, Transmit, TxQueue, TxReport};
use tcp::SenderHook;
use units::{Bytes, FlowId, NodeId};
use wire::{Packet, Pkt};

/// Where an injected packet goes. It continues from its injector's position in the chain of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// To this node's own transport.
    Host,
    /// To this neighbour, by radio.
    Air(NodeId),
    /// Wherever its destination address leads: this node's transport, the radio, a wire.
    Route,
    /// On from where the agent kept it, as if it had let it pass then: a packet held at this place, on its way to (or
    /// from) this neighbour.
    Onward(Place, Option<NodeId>),
}

/// Which of an agent's timers. Setting one again replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub u64);

/// What a node tells its neighbours that it can do, in the name of one of its schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// The scheme that speaks.
    pub scheme: &'static str,
    /// What it says; the scheme knows how to read it.
    pub detail: u32,
}

/// What becomes of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerEvent<'a> {
    /// It can be reached (it associated, or the network starts) and can do this.
    Up(&'a [Capability]),
    /// It has gone (it left, or handed over).
    Down,
}

/// One scheme at one node. Two nodes share nothing but what travels in packets, MAC options and capabilities.
///
/// An agent is shown packets only at the places its [`Info`] names and reports only if it declares to read them; what it
/// does not declare costs it nothing and everybody else nothing. It is never re-entered: what it asks for through
/// [`Cx`] happens after its method has returned, in the order it asked.
pub trait Agent: std::fmt::Debug {
    /// Its declaration: the scheme's `INFO`, or a narrower one of the same id where two kinds of agent share a scheme.
    fn info(&self) -> &'static Info;

    /// A packet passes. Return it, changed or not, to let it pass on; `None` if it was kept or given to [`Cx::drop`].
    fn packet(&mut self, _at: Place, pkt: Pkt, _cx: &mut Cx) -> Option<Pkt> {
        Some(pkt)
    }

    /// The MAC reports on a packet it was given. Unless the fate is [`mac::Fate::Attempt`] it has left the MAC for good.
    /// `report.serial` is the one [`Cx::serial`] gave for it.
    fn report(&mut self, _packet: &Packet, _report: &TxReport, _cx: &mut Cx) {}

    /// One of its timers went off.
    fn timer(&mut self, _key: Key, _cx: &mut Cx) {}

    /// A neighbour came or went.
    fn peer(&mut self, _node: NodeId, _event: PeerEvent<'_>, _cx: &mut Cx) {}

    /// Bytes of MAC options it wants in the frame of `packet` to `to`, [`MacOptions::OVERHEAD`] included. Asked when the
    /// packet is queued: airtime and NAV count them. Claims [`crate::Port::MacOptions`].
    fn mac_room(&self, _packet: &Packet, _to: NodeId) -> u8 {
        0
    }

    /// Writes its MAC options into a frame that goes out now: asked at each attempt, with what is known of it so far.
    /// Claims [`crate::Port::MacOptions`].
    fn write_options(&mut self, _packet: &Packet, _attempt: &TxReport, _options: &mut MacOptions, _cx: &mut Cx) {}

    /// Reads the MAC options of a received frame, before its packet (`serial`) is shown. Needs
    /// [`crate::Signal::MacOptions`].
    fn read_options(&mut self, _packet: &Packet, _serial: u64, _options: &MacOptions, _cx: &mut Cx) {}

    /// What its node tells neighbours.
    fn capability(&self) -> Option<Capability> {
        None
    }

    /// Changes the radio of its node before the run: in the file's order, so that a later scheme sees what earlier ones did.
    /// Claims [`crate::Port::Parameters`].
    ///
    /// # Errors
    /// What the node lacks for it and what to write instead: an input error.
    fn configure(&mut self, _setup: &mut Setup<'_>) -> Result<(), String> {
        Ok(())
    }

    /// Its say in interframe space, rate and power of each frame. Claims [`crate::Port::Transmit`].
    fn transmit(&mut self) -> Option<Box<dyn Transmit>> {
        None
    }

    /// Its own transmit queue, in place of the interface's, whose limit and full packet size these are. Claims
    /// [`crate::Port::TxQueue`].
    fn tx_queue(&mut self, _limit: queue::Limit, _mtu: Bytes) -> Option<Box<dyn TxQueue>> {
        None
    }

    /// A queue of its own around the interface's, which keeps its discipline: asked of who claims [`crate::Port::TxQueue`]
    /// and brings no [`Agent::tx_queue`].
    fn around_queue(&mut self, queue: Box<dyn TxQueue>) -> Box<dyn TxQueue> {
        queue
    }

    /// Its own choice of access category. Claims [`crate::Port::Classifier`].
    fn classifier(&mut self) -> Option<Box<dyn Classifier>> {
        None
    }

    /// Its own frame sequences and answers. Claims [`crate::Port::Exchange`].
    fn plan(&mut self) -> Option<Box<dyn Plan>> {
        None
    }

    /// Its say in how the TCP sender of `flow`, whose end is at this node, measures and loses. Asked once for each
    /// direction that starts here, when the world is built. Claims
    /// [`crate::Port::LossResponse`] or [`crate::Port::RttSample`].
    fn sender_hook(&mut self, _flow: FlowId) -> Option<Box<dyn SenderHook>> {
        None
    }

    /// Gives up every packet it holds ([`Cx::drop`], with [`wire::DropWhy::NodeDown`]): its node died.
    fn release(&mut self, _cx: &mut Cx) {}

    /// Packets it holds, for the books. A copy that may go out again is held as a [`Pkt`]; what is only read, such as a
    /// header to answer, may be a cloned [`Packet`].
    fn held(&self) -> u64 {
        0
    }

    /// Its counters, by name. A name that ends in `_bytes` or `_s` has that unit.
    fn counters(&self, _out: &mut dyn FnMut(&'static str, u64)) {}
}
