//! Packets on their way: headers put on, read, and taken off. @RFC4728 sec. 8.1, 8.3.6

use super::options::{Choice, Error, ErrorKind, Header, SourceRoute};
use super::{Dsr, Learned, Orders};
use crate::Hop;
use std::net::Ipv4Addr;
use units::{Dur, NodeId, SimTime};
use wire::{L4, Packet};

/// The salvage count of a packet that a relay sends in another's name: no link leads from its source to the relay, and nobody salvages it.
/// @RFC4728 sec. 8.2.3
const NEVER_SALVAGED: u8 = 15;

impl Dsr {
    /// The hop that a packet will take, as far as that is known before it is sent.
    pub(super) fn looks_ahead(&mut self, now: SimTime, packet: &Packet) -> Option<Hop> {
        let header = packet.routing_header().and_then(Header::read);
        match header.as_ref().and_then(Header::route) {
            Some(route) => {
                let mut ahead = route.clone();
                if route.toward().is_some_and(|hop| self.is_own(hop)) {
                    ahead.left -= 1;
                }
                self.hop(ahead.toward().unwrap_or(packet.ip.dst))
            }
            None => {
                let way = self.cache.find(now, packet.ip.dst, |_| true)?;
                self.hop(*way.first()?)
            }
        }
    }

    /// A packet is to leave: one of this host or of an agent, one that passes, or one that came back from a neighbour that has gone.
    /// Returns its hop; `None` if it has none.
    pub(super) fn passes(
        &mut self,
        now: SimTime,
        packet: &mut Packet,
        from: Option<NodeId>,
        orders: &mut Orders,
    ) -> Option<Hop> {
        let Some(bytes) = packet.routing_header() else {
            return if packet.l4 == L4::Nothing { None } else { self.originate(now, packet) };
        };
        let header = Header::read(bytes);
        let (header, route) = match header.as_ref().map(|header| (header, header.route())) {
            Some((header, Some(route))) if self.is_sound(packet, route, from) => (header, route),
            // One to a neighbour that has gone.
            Some((_, None)) if from.is_none() => return None,
            _ => {
                self.counters.refused += 1;
                return None;
            }
        };
        if route.toward().is_some_and(|hop| self.is_own(hop)) {
            self.relay(now, packet, header, route, from, orders)
        } else {
            self.reroute(now, packet, header, route, orders)
        }
    }

    /// True if a source route is one of nodes of this network, none twice, and this node stands where the packet is: it was sent
    /// here by `from`, or from here.
    fn is_sound(&self, packet: &Packet, route: &SourceRoute, from: Option<NodeId>) -> bool {
        let ends = [packet.ip.dst].into_iter().chain((route.salvage == 0).then_some(packet.ip.src));
        let sender = route.sender().unwrap_or(packet.ip.src);
        let is_here = match route.toward() {
            Some(hop) if self.is_own(hop) => {
                from.is_none_or(|from| self.addresses.node(sender) == Some(from))
            }
            _ => from.is_none() && self.is_own(sender),
        };
        is_here && self.is_plain(route.hops.iter().copied().chain(ends)) && route.external == [false; 2]
    }

    /// A packet that begins here takes the shortest way that is known. @RFC4728 sec. 8.1.1, 8.1.3
    fn originate(&mut self, now: SimTime, packet: &mut Packet) -> Option<Hop> {
        let way = self.cache.find(now, packet.ip.dst, |_| true)?;
        let (_, relays) = way.split_last()?;
        if self.is_own(packet.ip.src) {
            if !relays.is_empty() {
                self.put(packet, &Header(vec![Choice::Route(SourceRoute::over(relays))]));
            }
        } else {
            let hops: Vec<Ipv4Addr> = std::iter::once(self.own).chain(relays.iter().copied()).collect();
            let left = relays.len() as u8;
            let route = SourceRoute { left, salvage: NEVER_SALVAGED, ..SourceRoute::over(&hops) };
            self.put(packet, &Header(vec![Choice::Route(route)]));
        }
        self.hop(way[0])
    }

    /// A packet whose source route leads over this node. @RFC4728 sec. 8.1.4, 8.1.5
    fn relay(
        &mut self,
        now: SimTime,
        packet: &mut Packet,
        header: &Header,
        route: &SourceRoute,
        from: Option<NodeId>,
        orders: &mut Orders,
    ) -> Option<Hop> {
        self.heeds(now, packet, header, from, orders)?;
        let mut onward = route.clone();
        onward.left -= 1;
        let hop = self.hop(onward.toward().unwrap_or(packet.ip.dst))?;
        let header = Header(header.0.iter().filter(|option| !is_left_out(option)).cloned().map(marked).collect());
        self.put(packet, &header.with_route(onward));
        Some(hop)
    }

    /// A packet that came back from a neighbour that has gone. @RFC4728 sec. 3.4.2, 8.3.6
    fn reroute(
        &mut self,
        now: SimTime,
        packet: &mut Packet,
        header: &Header,
        route: &SourceRoute,
        orders: &mut Orders,
    ) -> Option<Hop> {
        let failed = self.addresses.node(route.toward().unwrap_or(packet.ip.dst))?;
        let is_own = self.is_own(packet.ip.src);
        if is_own && packet.l4 != L4::Nothing {
            packet.remove_routing_header();
            return self.originate(now, packet);
        }
        self.complain(now, packet, Some(header), failed, orders);
        // A reply proves the way on which it goes: it takes no other.
        if header.replies().next().is_some() || !is_own && !self.salvage_room(Some(header)) {
            return None;
        }
        let way = self.cache.find(now, packet.ip.dst, |_| true)?;
        let (_, relays) = way.split_last()?;
        let route = if is_own {
            SourceRoute::over(relays)
        } else {
            let hops: Vec<Ipv4Addr> = std::iter::once(self.own).chain(relays.iter().copied()).collect();
            SourceRoute { left: relays.len() as u8, salvage: route.salvage + 1, ..SourceRoute::over(&hops) }
        };
        self.counters.salvaged += 1;
        self.put(packet, &header.with_route(route));
        self.hop(way[0])
    }

    /// Puts a header on a packet, and counts it if that is data.
    fn put(&mut self, packet: &mut Packet, header: &Header) {
        let bytes = header.bytes();
        if packet.l4 == L4::Nothing {
            self.counters.rrep_sent += u64::from(header.replies().next().is_some());
            self.counters.rerr_sent += u64::from(header.errors().next().is_some());
        } else {
            self.counters.headers_sent += 1;
            self.counters.header_bytes += bytes.len() as u64;
        }
        packet.set_routing_header(&bytes);
    }

    /// A packet with data has reached its destination: its header is heeded and taken off. @RFC4728 sec. 8.1.4
    pub(super) fn ends(&mut self, now: SimTime, packet: &mut Packet, from: Option<NodeId>, orders: &mut Orders) {
        let header = packet.routing_header().and_then(Header::read);
        match header.as_ref().filter(|header| header.route().is_none_or(|route| self.is_end(packet, route, from))) {
            Some(header) => _ = self.heeds(now, packet, header, from, orders),
            None => self.counters.refused += 1,
        }
        packet.remove_routing_header();
    }

    /// True if a source route is at its end here, and sound.
    fn is_end(&self, packet: &Packet, route: &SourceRoute, from: Option<NodeId>) -> bool {
        let ends = [packet.ip.dst].into_iter().chain((route.salvage == 0).then_some(packet.ip.src));
        let sender = self.addresses.node(route.sender().unwrap_or(packet.ip.src));
        route.left == 0
            && from.is_none_or(|from| sender == Some(from))
            && self.is_plain(route.hops.iter().copied().chain(ends))
            && route.external == [false; 2]
    }

    /// A packet without data that was sent to this node or to all.
    pub(super) fn hears(&mut self, now: SimTime, packet: &Packet, from: NodeId, orders: &mut Orders) {
        let header = packet.routing_header().and_then(Header::read).filter(|_| from != self.node);
        let is_sound = |header: &Header| match (header.request(), header.route()) {
            (Some(_), None) => packet.ip.dst.is_broadcast(),
            (None, Some(route)) => self.is_end(packet, route, Some(from)),
            (None, None) => self.addresses.node(packet.ip.src) == Some(from) && !packet.ip.dst.is_broadcast(),
            // @RFC4728 sec. 8.2.1 leaves it open, and nobody here sends it.
            (Some(_), Some(_)) => false,
        };
        match header.filter(is_sound) {
            Some(header) => _ = self.heeds(now, packet, &header, Some(from), orders),
            None => self.counters.refused += 1,
        }
    }

    /// Heeds all options of a packet, in their order. `None` if one of them forbids that it goes on. @RFC4728 sec. 8.1.4, 8.1.6
    fn heeds(
        &mut self,
        now: SimTime,
        packet: &Packet,
        header: &Header,
        from: Option<NodeId>,
        orders: &mut Orders,
    ) -> Option<()> {
        let has_ack = header.0.iter().any(|option| matches!(option, Choice::Ack(_)));
        for option in &header.0 {
            match (option, from) {
                (Choice::Request(_), Some(from)) => self.requested(now, packet, header, from, orders),
                (Choice::Request(_), None) => {}
                (Choice::Reply(reply), _) => self.replied(now, packet.ip.dst, reply, orders),
                (Choice::Error(error), _) => self.told_of_error(error),
                (Choice::AckRequest(id), Some(from)) if !has_ack => self.acknowledge(now, *id, from, orders),
                (Choice::AckRequest(_), _) => {}
                (Choice::Ack(ack), _) => self.acknowledged(now, ack, orders),
                (Choice::Route(route), _) => self.learn_route(now, packet, header, route, orders),
                (Choice::Unknown(kind, _), _) => {
                    if kind & 0x80 != 0 && header.request().is_none() {
                        self.knows_not(now, packet, header, *kind, orders);
                    }
                    if kind & 0x60 == 0x60 {
                        self.counters.refused += 1;
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    /// Takes the way of a packet: behind this node as it stands, before it reversed. @RFC4728 sec. 3.3.1, 8.1.4
    fn learn_route(
        &mut self,
        now: SimTime,
        packet: &Packet,
        header: &Header,
        route: &SourceRoute,
        orders: &mut Orders,
    ) {
        let passed = route.passed();
        let come = &route.hops[..passed];
        let source = (route.salvage == 0).then_some(packet.ip.src);
        let back: Vec<Ipv4Addr> = come.iter().rev().copied().chain(source).collect();
        self.learn(now, &back, Learned::Passing);
        // Here the packet is at the node that comes next, or at its end.
        if header.replies().next().is_none() && route.left > 0 {
            let ahead: Vec<Ipv4Addr> = route.hops[passed + 1..].iter().copied().chain([packet.ip.dst]).collect();
            self.learn(now, &ahead, Learned::Passing);
        }
        self.release(now, orders);
    }

    /// Tells a packet's source of an option that is not known. @RFC4728 sec. 8.1.6
    fn knows_not(&mut self, now: SimTime, packet: &Packet, header: &Header, kind: u8, orders: &mut Orders) {
        let destination = packet.ip.src;
        if self.is_own(destination) || self.addresses.node(destination).is_none() {
            return;
        }
        let salvage = header.route().map_or(0, |route| route.salvage);
        let error = Error { salvage, source: self.own, destination, kind: ErrorKind::NotSupported(kind) };
        let way = self.cache.find(now, destination, |_| true);
        if let Some((_, relays)) = way.as_deref().and_then(<[Ipv4Addr]>::split_last) {
            self.send_along(now, Dur::ZERO, destination, relays, Choice::Error(error), orders);
        }
    }
}

/// True for an option that a node which does not know it takes out, and for one that was meant for this hop alone.
fn is_left_out(option: &Choice) -> bool {
    matches!(option, Choice::AckRequest(_)) || matches!(option, Choice::Unknown(kind, _) if kind & 0x60 == 0x20)
}

/// An option as a node passes it on that does not know it.
fn marked(option: Choice) -> Choice {
    match option {
        Choice::Unknown(kind, mut data) if kind & 0x60 == 0x40 => {
            if let Some(first) = data.first_mut() {
                *first |= 0x80;
            }
            Choice::Unknown(kind, data)
        }
        other => other,
    }
}
