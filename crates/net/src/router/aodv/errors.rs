//! Links that are lost, routes that end with them, and the neighbours that are told. @RFC3561 sec. 6.10 to 6.13

use super::message::{Error, MOST_UNREACHABLE, Message};
use super::number::Number;
use super::table::Neighbour;
use super::{Aodv, ONE_HOP, Order, Orders};
use std::net::Ipv4Addr;
use units::{NodeId, SimTime};
use wire::{Content, Packet};

impl Aodv {
    /// A neighbour is out of reach: the MAC gave `packet` to it up, or it was silent. @RFC3561 sec. 6.10, 6.11 case (i)
    pub(super) fn link_lost(&mut self, now: SimTime, to: Neighbour, packet: Option<&Packet>, orders: &mut Orders) {
        if self.settings.is_ns3 && !self.listed.remove(&to.1) {
            return;
        }
        self.counters.link_failures += u64::from(packet.is_some());
        if let Some(packet) = packet.filter(|packet| Aodv::is_control(packet) && !self.settings.is_ns3)
            && let Content::Bytes(bytes) = &packet.payload.content
            && let Some(Message::Reply(_)) = Message::read(bytes)
        {
            self.blacklist(now, to.1);
        }
        self.greeted.remove(to.1);
        if self.settings.is_ns2 {
            let data = packet.filter(|packet| !Aodv::is_control(packet));
            if data.is_some_and(|packet| self.repairs_halfway(now, to, packet, orders)) {
                return;
            }
        }
        let lost = self.table.over(now, to);
        lost.iter().for_each(|destination| self.table.end(now, *destination, None));
        if !lost.is_empty() {
            self.clear(to, orders);
        }
        let mut told = lost;
        let saves = !self.settings.is_ns2 && !self.settings.is_ns3;
        if let Some(packet) = packet.filter(|packet| saves && !Aodv::is_control(packet)) {
            self.saves(now, packet, &mut told, orders);
        }
        if self.settings.is_ns2 {
            self.tell_of_all(now, &told, orders);
        } else {
            self.tell(now, &told, false, orders);
        }
    }

    /// Packets that are queued for a neighbour that has gone seek another way. ns-2 drops them, ns-3 sends them to it all the same.
    fn clear(&self, (interface, to): Neighbour, orders: &mut Orders) {
        match (self.settings.is_ns2, self.settings.is_ns3) {
            (true, _) => orders.push(Order::Flush(interface, to)),
            (_, true) => {}
            _ => orders.push(Order::Recall(interface, to)),
        }
    }

    /// ns-2's choice: a route is repaired here if the packet has come farther than it has to go. What is queued stays, and no other
    /// route ends. Returns whether the packet is saved.
    fn repairs_halfway(&mut self, now: SimTime, to: Neighbour, packet: &Packet, orders: &mut Orders) -> bool {
        let (destination, source) = (packet.ip.dst, packet.ip.src);
        if self.searches.get(&destination).is_some_and(|search| search.repairs.is_some()) {
            orders.push(Order::Hold(packet.clone()));
            return true;
        }
        let ahead = self.table.active(now, destination).filter(|route| route.next == to).map(|route| route.hops);
        let behind = self.table.at(now, source).map_or(0, |route| route.hops);
        if !self.settings.local_repair || self.is_own(source) || ahead.is_none_or(|ahead| behind <= ahead) {
            return false;
        }
        self.table.end(now, destination, None);
        let is_sought = self.repair(now, destination, source, orders);
        if is_sought {
            orders.push(Order::Hold(packet.clone()));
        }
        is_sought
    }

    /// Keeps a packet that the MAC gave up, if this node sent it or repairs its route, which is then not among those told of.
    fn saves(&mut self, now: SimTime, packet: &Packet, lost: &mut Vec<Ipv4Addr>, orders: &mut Orders) {
        let (destination, source) = (packet.ip.dst, packet.ip.src);
        if self.is_own(source) {
            // Another route may stand already, found since the packet was queued.
            let is_there = self.table.active(now, destination).is_some();
            if is_there || self.search(now, destination, orders) {
                orders.push(Order::Hold(packet.clone()));
            }
            if is_there {
                orders.push(Order::Found(destination));
            }
            return;
        }
        if !self.settings.local_repair || self.is_silent(now) {
            return;
        }
        let farthest = self.settings.max_repair_ttl;
        let life = self.settings.active_route_timeout;
        // The others are repaired when a packet comes for them. @RFC3561 sec. 6.12
        let mut is_repairable = |destination: &Ipv4Addr| {
            let route = self.table.at(now, *destination).filter(|route| u64::from(route.hops) <= farthest);
            route.is_some_and(|route| {
                route.is_repairable = !route.precursors.is_empty();
                route.is_repairable
            })
        };
        lost.retain(|destination| !is_repairable(destination));
        let is_flagged = self.table.at(now, destination).is_some_and(|route| route.is_repairable);
        let is_repaired = self.searches.get(&destination).is_some_and(|search| search.repairs.is_some());
        if is_repaired || is_flagged && self.repair(now, destination, source, orders) {
            self.table.extend(now, destination, now + life);
            orders.push(Order::Hold(packet.clone()));
        }
    }

    /// A repair has failed: those before it are told. @RFC3561 sec. 6.12
    pub(super) fn not_repaired(&mut self, now: SimTime, destination: Ipv4Addr, orders: &mut Orders) {
        self.tell(now, &[destination], false, orders);
    }

    /// A repair has succeeded: those before it are told if the way is longer now. @RFC3561 sec. 6.12
    pub(super) fn repaired(&mut self, now: SimTime, destination: Ipv4Addr, before: u8, hops: u8, orders: &mut Orders) {
        if hops > before {
            self.tell(now, &[destination], true, orders);
        }
    }

    /// A packet came from a neighbour, and there is no route for it. @RFC3561 sec. 6.11 case (ii)
    pub(super) fn refuse(&mut self, now: SimTime, destination: Ipv4Addr, from: NodeId, orders: &mut Orders) {
        let number = self.table.at(now, destination).and_then(|route| route.number);
        // It came by radio: over the interface on which the neighbour is known, or the only one.
        let known = self.table.at(now, crate::address(from)).filter(|route| route.next.1 == from);
        let Some(interface) = known.map(|route| route.next.0).or_else(|| self.interfaces.first().copied()) else {
            return;
        };
        let to = (interface, from);
        if let Some(route) = self.table.at(now, destination) {
            route.precede(to);
            let destinations = [destination];
            self.tell(now, &destinations, false, orders);
        } else {
            let unreachable = vec![(destination, number.unwrap_or_default())];
            self.send_errors(now, false, &unreachable, &[to], orders);
        }
    }

    /// ns-3's choice: the error goes to the next hop towards the packet's source, which need not be the neighbour that sent it here; to all
    /// if there is no route to the source.
    pub(super) fn refuse_to_source(
        &mut self,
        now: SimTime,
        destination: Ipv4Addr,
        source: Ipv4Addr,
        orders: &mut Orders,
    ) {
        let number = self.table.at(now, destination).and_then(|route| route.number).unwrap_or_default();
        let to = self.table.active(now, source).map(|route| route.next);
        let error = Error { no_delete: false, unreachable: vec![(destination, number)] };
        self.send(now, &Message::Error(error), ONE_HOP, to, orders);
    }

    /// The same after a reboot: everybody is told, and the wait begins anew. @RFC3561 sec. 6.13
    pub(super) fn refuse_while_silent(&mut self, now: SimTime, destination: Ipv4Addr, orders: &mut Orders) {
        self.silent_until = now + self.settings.delete_period;
        let number = self.table.at(now, destination).and_then(|route| route.number).unwrap_or_default();
        if self.errors.take(now) {
            let error = Error { no_delete: false, unreachable: vec![(destination, number)] };
            self.send(now, &Message::Error(error), ONE_HOP, None, orders);
        }
    }

    /// Errors of a neighbour. @RFC3561 sec. 6.11 case (iii)
    pub(super) fn told_of_errors(&mut self, now: SimTime, error: &Error, from: Neighbour, orders: &mut Orders) {
        if self.is_silent(now) {
            return;
        }
        self.hear(now, from, None, self.settings.active_route_timeout, orders);
        let mut told = Vec::new();
        for (destination, number) in &error.unreachable {
            // The sender is not told to be out of its own reach: it was just heard.
            let also_ended = self.settings.is_ns3;
            let over = self.table.at(now, *destination).filter(|it| it.next == from && (it.is_valid || also_ended));
            if over.is_none() || *destination == crate::address(from.1) {
                continue;
            }
            if !error.no_delete {
                self.table.end(now, *destination, Some(*number));
            }
            told.push(*destination);
        }
        if told.is_empty() {
            return;
        }
        if !error.no_delete {
            self.clear(from, orders);
        }
        self.tell(now, &told, error.no_delete, orders);
    }

    /// Tells the precursors of routes that have ended, or are longer now.
    fn tell(&mut self, now: SimTime, destinations: &[Ipv4Addr], no_delete: bool, orders: &mut Orders) {
        let (mut unreachable, mut neighbours): (Vec<(Ipv4Addr, Number)>, Vec<Neighbour>) = (Vec::new(), Vec::new());
        for destination in destinations {
            let Some(route) = self.table.at(now, *destination).filter(|route| !route.precursors.is_empty()) else {
                continue;
            };
            unreachable.push((*destination, route.number.unwrap_or_default()));
            neighbours.extend(&route.precursors);
            if !no_delete && !self.settings.is_ns3 {
                route.precursors.clear();
            }
        }
        neighbours.sort_unstable();
        neighbours.dedup();
        self.send_errors(now, no_delete, &unreachable, &neighbours, orders);
    }

    /// ns-2's choice: of each route that a lost link has ended all are told, also where nobody is known to use it.
    fn tell_of_all(&mut self, now: SimTime, destinations: &[Ipv4Addr], orders: &mut Orders) {
        let mut unreachable = Vec::new();
        for destination in destinations {
            if let Some(route) = self.table.at(now, *destination) {
                route.precursors.clear();
                unreachable.push((*destination, route.number.unwrap_or_default()));
            }
        }
        for part in unreachable.chunks(MOST_UNREACHABLE) {
            let error = Message::Error(Error { no_delete: false, unreachable: part.to_vec() });
            self.send(now, &error, ONE_HOP, None, orders);
        }
    }

    /// Sends errors: to one neighbour alone, to several by broadcast. @RFC3561 sec. 6.11
    fn send_errors(
        &mut self,
        now: SimTime,
        no_delete: bool,
        unreachable: &[(Ipv4Addr, Number)],
        to: &[Neighbour],
        orders: &mut Orders,
    ) {
        for part in unreachable.chunks(MOST_UNREACHABLE) {
            if !self.errors.take(now) {
                return;
            }
            let error = Message::Error(Error { no_delete, unreachable: part.to_vec() });
            match to {
                [] => {}
                // ns-2 tells all, at once.
                _ if self.settings.is_ns2 => self.send(now, &error, ONE_HOP, None, orders),
                [only] => self.send(now, &error, ONE_HOP, Some(*only), orders),
                _ => self.send_later(now, error, ONE_HOP, orders),
            }
        }
    }
}
