//! Route maintenance, by what the MAC acknowledges. @RFC4728 sec. 8.3

use super::options::{Ack, Choice, Error, ErrorKind, Header, SourceRoute};
use super::{Dsr, Learned, Order, Orders};
use std::net::Ipv4Addr;
use units::{Dur, InterfaceId, NodeId, SimTime};
use wire::{L4, Packet};

impl Dsr {
    /// The MAC has given up a packet to a neighbour. @RFC4728 sec. 8.3.1
    pub(super) fn link_lost(
        &mut self,
        now: SimTime,
        (at, to): (InterfaceId, NodeId),
        packet: &Packet,
        orders: &mut Orders,
    ) {
        if to == NodeId::BROADCAST {
            return;
        }
        self.counters.link_failures += 1;
        self.cut_own(to);
        let header = packet.routing_header().and_then(Header::read);
        let is_reply = header.as_ref().is_some_and(|header| header.replies().next().is_some());
        if is_reply && self.settings.blacklist_timeout > Dur::ZERO {
            self.counters.blacklisted += 1;
            self.blacklist.insert(to, now + self.settings.blacklist_timeout);
        }
        self.complain(now, packet, header.as_ref(), to, orders);
        let is_own = self.is_own(packet.ip.src);
        let dst = packet.ip.dst;
        let goes_on = match packet.l4 {
            L4::Nothing => false,
            _ => is_own || self.salvage_room(header.as_ref()) && self.cache.knows(now, dst),
        };
        if goes_on {
            // It goes before what is taken back.
            orders.push(Order::Hold(packet.clone()));
            orders.push(Order::Found(dst));
        }
        orders.push(Order::Recall(at, to));
    }

    /// Forgets the link to a neighbour.
    fn cut_own(&mut self, to: NodeId) {
        let addresses = &self.addresses;
        self.cache.cut(|before, hop| before.is_none() && addresses.node(hop) == Some(to));
    }

    /// True if a packet may be salvaged once more.
    pub(super) fn salvage_room(&self, header: Option<&Header>) -> bool {
        let route = header.and_then(Header::route);
        route.is_some_and(|route| route.salvage < self.settings.max_salvage_count)
    }

    /// Tells a packet's source, or the node that salvaged it, that a neighbour is not reached; once an instant. @RFC4728 sec. 8.3.4, 3.4.2
    pub(super) fn complain(
        &mut self,
        now: SimTime,
        packet: &Packet,
        header: Option<&Header>,
        to: NodeId,
        orders: &mut Orders,
    ) {
        let route = header.and_then(Header::route);
        let salvage = route.map_or(0, |route| route.salvage);
        let told = match route {
            Some(route) if route.salvage > 0 => route.hops.first().copied(),
            _ => Some(packet.ip.src),
        };
        let (Some(destination), Some(hop)) = (told, self.failed_hop(packet, route)) else { return };
        if self.is_own(destination) || self.addresses.node(destination).is_none() {
            return;
        }
        if self.told.0 != now {
            self.told = (now, Vec::new());
        }
        if self.told.1.contains(&(destination, to)) {
            return;
        }
        self.told.1.push((destination, to));
        let kind = ErrorKind::Unreachable(hop);
        let error = Choice::Error(Error { salvage, source: self.own, destination, kind });
        // A way that is known, else the one on which it came.
        let way = self.cache.find(now, destination, |_| true).or_else(|| {
            let come = route?.hops.get(..route?.passed().checked_sub(1)?)?;
            let start = come.iter().position(|hop| *hop == destination).map_or(0, |at| at + 1);
            Some(come[start..].iter().rev().copied().chain([destination]).collect())
        });
        let way = way.filter(|way| self.is_plain(way.iter().copied().chain([self.own])));
        if let Some((_, relays)) = way.as_deref().and_then(<[Ipv4Addr]>::split_last) {
            self.send_along(now, Dur::ZERO, destination, relays, error, orders);
        }
    }

    /// The address that a packet was sent to from here.
    fn failed_hop(&self, packet: &Packet, route: Option<&SourceRoute>) -> Option<Ipv4Addr> {
        Some(route.and_then(SourceRoute::toward).unwrap_or(packet.ip.dst))
    }

    /// An error that ends or passes here. @RFC4728 sec. 8.3.5
    pub(super) fn told_of_error(&mut self, error: &Error) {
        if let ErrorKind::Unreachable(hop) = error.kind {
            let (source, hop) = (self.addresses.node(error.source), self.addresses.node(hop));
            let (own, addresses) = (self.own, &self.addresses);
            if source.is_none() || hop.is_none() || self.is_own(error.source) {
                return;
            }
            self.cache.cut(|before, next| {
                addresses.node(before.unwrap_or(own)) == source && addresses.node(next) == hop
            });
            if self.is_own(error.destination) {
                self.to_spread = Some(error.clone());
            }
        }
    }

    /// A neighbour asks for an acknowledgement. @RFC4728 sec. 8.3.3
    pub(super) fn acknowledge(&mut self, now: SimTime, id: u16, from: NodeId, orders: &mut Orders) {
        let destination = crate::address(from);
        let ack = Choice::Ack(Ack { id, source: self.own, destination });
        self.send_along(now, Dur::ZERO, destination, &[], ack, orders);
    }

    /// An acknowledgement of a neighbour: the link is there. @RFC4728 sec. 8.1.4
    pub(super) fn acknowledged(&mut self, now: SimTime, ack: &Ack, orders: &mut Orders) {
        if self.is_own(ack.destination) {
            self.learn(now, &[ack.source], Learned::Passing);
            self.release(now, orders);
        }
    }
}
