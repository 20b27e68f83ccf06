//! Wires: packets put on them, packets that come out.

use super::World;
use engine::Class;
use net::Arrival;
use node::Input;
use units::{LinkId, NodeId, SimTime};
use wire::{DropWhy, Pkt};

impl World {
    pub(super) fn put_on_wire(&mut self, now: SimTime, link: LinkId, pkt: Pkt) {
        let wire = &mut self.wires[link.index()];
        self.taps.wire(now, link, wire.config().from, self.packets.get(&pkt));
        let offered = wire.offer(now, pkt, &mut self.packets);
        if let Err(pkt) = offered {
            let why = if wire.is_broken() { DropWhy::LinkLoss } else { DropWhy::QueueFull };
            let node = wire.config().from;
            let packet = self.packets.free(pkt, why);
            let segment = packet.tcp_range().map(|range| (packet.flow, range));
            if let (DropWhy::QueueFull, Some((flow, range))) = (why, segment) {
                self.refused(now, node, flow, range);
            }
        }
        self.free_dropped(link);
        self.await_arrival(link);
    }

    /// Ends the life of packets that the queue of a wire has dropped.
    fn free_dropped(&mut self, link: LinkId) {
        while let Some(pkt) = self.wires[link.index()].dropped() {
            self.packets.free(pkt, DropWhy::QueueFull);
        }
    }

    /// The queues of all wires are as they are now.
    pub(super) fn settle_wires(&mut self, now: SimTime) {
        for link in (0..self.wires.len() as u32).map(LinkId) {
            self.wires[link.index()].settle(now);
            self.free_dropped(link);
        }
    }

    pub(super) fn await_arrival(&mut self, link: LinkId) {
        let at = self.wires[link.index()].next_event();
        let slot = self.layout().wire(link);
        if self.timers.at(slot) != at {
            self.timers.set(slot, at, Class::Between);
        }
    }

    /// The end of a wire: what has arrived goes on through the node there.
    pub(super) fn wire(&mut self, now: SimTime, link: LinkId) {
        let (from, node) = (self.wires[link.index()].config().from, self.wires[link.index()].config().to);
        while let Some(arrival) = self.wires[link.index()].arrive(now, &mut self.packets) {
            match arrival {
                Arrival::Lost(pkt) => self.lost_on_wire(now, [from, node], pkt),
                Arrival::Whole(pkt) => {
                    self.taps.wire(now, link, node, self.packets.get(&pkt));
                    self.tell(now, node, Input::FromWire(pkt, from));
                }
            }
        }
        self.free_dropped(link);
        self.await_arrival(link);
        if self.packets.has_left() {
            self.tell_left(now);
        }
    }

    /// A packet has not come out of a wire: its sender is told, if anybody there wants to know.
    fn lost_on_wire(&mut self, now: SimTime, [from, to]: [NodeId; 2], pkt: Pkt) {
        let serial = self.packets.serial(&pkt);
        let packet = self.packets.free(pkt, DropWhy::LinkLoss);
        let sender = &self.nodes[from.index()];
        if !sender.is_dead() && !sender.chain().reads_wire_losses().is_empty() {
            let packet = packet.clone();
            self.tell(now, from, Input::LostOnWire(&packet, serial, to));
        }
    }
}
