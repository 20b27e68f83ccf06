//! A router on demand as a test's own plug-in: it fails if anybody hands it computed routes or neighbours.

use net::{Hop, LinkSample, Orders, Router, RouterFacts};
use units::{Dur, InterfaceId, NodeId, SimTime};
use wire::Packet;

/// The router of a node, at which somebody looks after each call that its node makes.
#[derive(Debug)]
pub struct WithoutOracle<R> {
    node: NodeId,
    pub router: R,
    look: fn(SimTime, NodeId, &mut R),
}

impl<R: Router> WithoutOracle<R> {
    pub fn new(
        facts: RouterFacts,
        make: impl FnOnce(RouterFacts) -> R,
        look: fn(SimTime, NodeId, &mut R),
    ) -> WithoutOracle<R> {
        assert!(facts.least_cost.is_empty(), "it was handed routes");
        WithoutOracle { node: facts.node, router: make(facts), look }
    }

    fn ask<T>(&mut self, now: SimTime, what: impl FnOnce(&mut R) -> T) -> T {
        let answer = what(&mut self.router);
        (self.look)(now, self.node, &mut self.router);
        answer
    }
}

impl<R: Router> Router for WithoutOracle<R> {
    fn neighbour(&mut self, _: SimTime, _: InterfaceId, _: NodeId, _: bool, _: &mut Orders) {
        panic!("it was told of a neighbour");
    }

    fn rerouted(&mut self, _: SimTime, _: &[Option<Hop>], _: &mut Orders) {
        panic!("it was handed routes");
    }

    fn next(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>) -> Option<Hop> {
        self.ask(now, |router| router.next(now, packet, from))
    }

    fn toward(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>) -> Option<Hop> {
        self.ask(now, |router| router.toward(now, packet, from))
    }

    fn prepare(
        &mut self,
        now: SimTime,
        packet: &mut Packet,
        from: Option<NodeId>,
        orders: &mut Orders,
    ) -> Option<Hop> {
        self.ask(now, |router| router.prepare(now, packet, from, orders))
    }

    fn arrived(&mut self, now: SimTime, packet: &mut Packet, from: Option<NodeId>, orders: &mut Orders) {
        self.ask(now, |router| router.arrived(now, packet, from, orders));
    }

    fn seek(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>, orders: &mut Orders) -> bool {
        self.ask(now, |router| router.seek(now, packet, from, orders))
    }

    fn control(&mut self, now: SimTime, packet: &Packet, at: InterfaceId, from: NodeId, orders: &mut Orders) {
        self.ask(now, |router| router.control(now, packet, at, from, orders));
    }

    fn link_failed(&mut self, now: SimTime, at: InterfaceId, to: NodeId, packet: &Packet, orders: &mut Orders) {
        self.ask(now, |router| router.link_failed(now, at, to, packet, orders));
    }

    fn measured(&mut self, now: SimTime, at: InterfaceId, to: NodeId, sample: LinkSample, orders: &mut Orders) {
        self.ask(now, |router| router.measured(now, at, to, sample, orders));
    }

    fn restart(&mut self, now: SimTime, orders: &mut Orders) {
        self.ask(now, |router| router.restart(now, orders));
    }

    fn timer(&mut self, now: SimTime, orders: &mut Orders) {
        self.ask(now, |router| router.timer(now, orders));
    }

    fn is_on_demand(&self) -> bool {
        self.router.is_on_demand()
    }

    fn watches_neighbours(&self) -> bool {
        self.router.watches_neighbours()
    }

    fn port(&self) -> Option<u16> {
        self.router.port()
    }

    fn next_wakeup(&self) -> SimTime {
        self.router.next_wakeup()
    }

    fn may_wait(&self) -> usize {
        self.router.may_wait()
    }

    fn makes_room(&self) -> bool {
        self.router.makes_room()
    }

    fn patience(&self) -> Dur {
        self.router.patience()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.router.counters(out);
    }
}
