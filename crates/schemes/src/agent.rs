//! An agent: one scheme's part in what happens at a node. docs/design/contract.md tells why it is so.

use crate::Place;
use crate::cx::{Cx, Key};
use mac::{MacOptions, TxReport};
use units::{FlowId, NodeId};
use wire::{Packet, Pkt};

/// A capability that a node announces to its neighbours in the name of one of its schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// The scheme that speaks.
    pub scheme: &'static str,
    /// Its announcement; the scheme knows how to read it.
    pub detail: u32,
}

/// A change in the reachability of a radio neighbour. A node that an event kills is not announced as gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerEvent<'a> {
    /// It can be reached and can do this: the network starts, or an event has healed a link or moved a node.
    Up(&'a [Capability]),
    /// It cannot be reached any more: an event has broken a link or moved a node.
    Down,
}

impl PeerEvent<'_> {
    /// The neighbour's announcement in the name of `scheme`; `None` if it has gone or announced nothing.
    pub fn announced(&self, scheme: &str) -> Option<u32> {
        let PeerEvent::Up(can) = self else { return None };
        can.iter().find(|it| it.scheme == scheme).map(|it| it.detail)
    }
}

/// One scheme at one node, as far as it has something to do while the network runs. Two nodes share nothing but what travels
/// in packets, MAC options and capabilities.
///
/// An agent is asked only what its [`crate::Seat`] asked for; anything else costs it nothing and everybody else nothing.
/// It is never re-entered: what it asks for through [`Cx`] happens after its method has returned, in the order it asked.
pub trait Agent {
    /// A packet passes a place it listens at. Return it, changed or not, to let it pass on; `None` if it was kept or given to
    /// [`Cx::drop`]. What is kept counts in [`Agent::held`] and ends in [`Agent::release`]. A packet that is neither passed on, nor
    /// ended, nor held ends the run, with the names of scheme and node. Packets of [`wire::L4::Opaque`] are not shown.
    fn packet(&mut self, _at: Place, pkt: Pkt, _cx: &mut Cx) -> Option<Pkt> {
        Some(pkt)
    }

    /// The MAC reports on a packet it was given. Unless the fate is [`mac::Fate::Attempt`] it has left the MAC for good.
    /// `report.serial` is the one [`Cx::serial`] gave for it.
    fn report(&mut self, _packet: &Packet, _report: &TxReport, _cx: &mut Cx) {}

    /// A packet that this node put on a wire was lost there (not in its queue), at the instant it should have arrived. `serial` is
    /// the one [`Cx::serial`] gave for it. Asked after [`crate::Seat::wire_losses`].
    fn lost_on_wire(&mut self, _packet: &Packet, _serial: u64, _cx: &mut Cx) {}

    /// One of its timers went off.
    fn timer(&mut self, _key: Key, _cx: &mut Cx) {}

    /// A neighbour came or went.
    fn peer(&mut self, _node: NodeId, _event: PeerEvent<'_>, _cx: &mut Cx) {}

    /// Both ends of a connection have closed some seconds ago, and its number will not come again soon. Told at every node, as housekeeping
    /// and not as knowledge: what is kept under this number can go, and nothing else may follow from it. A connection that vanishes
    /// otherwise is not told; what must not outlive it is forgotten by idle time.
    fn closed(&mut self, _flow: FlowId, _cx: &mut Cx) {}

    /// Bytes of MAC options it wants in the frame of `packet` to `to`, [`MacOptions::OVERHEAD`] included. Asked when the
    /// packet is queued, after the last agent: airtime and NAV count them. Asked after [`crate::Seat::writes_options`].
    fn mac_room(&self, _packet: &Packet, _to: NodeId) -> u8 {
        0
    }

    /// Writes its MAC options into a frame that goes out now: asked at each attempt that carries options, with what is known of it
    /// so far. Which attempts do is the MAC's choice ([`mac::Config::options_probe_every`]). Options that are to survive a relay are
    /// noted under the serial where they come in, and written again where the packet goes out.
    fn write_options(&mut self, _packet: &Packet, _attempt: &TxReport, _options: &mut MacOptions, _cx: &mut Cx) {}

    /// Reads the MAC options of a received frame, before its packet (`serial`) is shown. Asked after
    /// [`crate::Seat::reads_options`].
    fn read_options(&mut self, _packet: &Packet, _serial: u64, _options: &MacOptions, _cx: &mut Cx) {}

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

units::debug_by_name!(Agent);
