//! The route table. @RFC3561 sec. 6.2

use super::number::Number;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{Dur, InterfaceId, NodeId, SimTime};

/// The most routes: beyond any network's need. What hostile messages name more pushes out what ends soonest.
pub const MOST_ROUTES: usize = 4096;

/// A neighbour at one interface.
pub type Neighbour = (InterfaceId, NodeId);

/// The route to one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The destination's number, once one is known. It never goes back while the route is remembered.
    pub number: Option<Number>,
    /// Hops to the destination; of a route that has ended, the last known.
    pub hops: u8,
    /// The next hop.
    pub next: Neighbour,
    /// True if packets may take it, unless its time is over.
    pub is_valid: bool,
    /// True if it has ended and may be repaired here. @RFC3561 sec. 6.12
    pub is_repairable: bool,
    /// The end of a valid route, or the time at which one that has ended is forgotten.
    pub until: SimTime,
    /// Neighbours that may send packets this way.
    pub precursors: Vec<Neighbour>,
}

impl Route {
    fn end(&mut self, at: SimTime, number: Option<Number>, delete_period: Dur) {
        self.is_valid = false;
        self.number = number;
        self.until = at + delete_period;
    }

    /// Notes a neighbour that may send packets this way.
    pub fn precede(&mut self, neighbour: Neighbour) {
        if let Err(place) = self.precursors.binary_search(&neighbour) {
            self.precursors.insert(place, neighbour);
        }
    }

    /// True if the destination is the next hop.
    pub fn is_direct(&self, destination: Ipv4Addr) -> bool {
        crate::address(self.next.1) == destination
    }
}

/// News of a route to a destination.
#[derive(Debug, Clone, Copy)]
pub struct Offer {
    pub number: Option<Number>,
    pub hops: u8,
    pub next: Neighbour,
    pub until: SimTime,
}

/// All routes of a node.
#[derive(Debug, Default)]
pub struct Table {
    routes: BTreeMap<Ipv4Addr, Route>,
    delete_period: Dur,
    /// False if a route that ends keeps its number, as ns-3's do.
    counts_up: bool,
    /// Numbers are not compared: a test's means to show what they are for.
    pub ignores_numbers: bool,
}

/// The later of two numbers, or the one that is known.
fn later(one: Option<Number>, other: Option<Number>) -> Option<Number> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

impl Table {
    pub fn new(delete_period: Dur, counts_up: bool) -> Table {
        Table { routes: BTreeMap::new(), delete_period, counts_up, ignores_numbers: false }
    }

    pub fn len(&self) -> usize {
        self.routes.len()
    }

    pub fn clear(&mut self) {
        self.routes.clear();
    }

    /// The route to a destination, valid or not, as it is at this time; see [`Table::age`].
    pub fn at(&mut self, now: SimTime, destination: Ipv4Addr) -> Option<&mut Route> {
        let route = self.routes.get_mut(&destination)?;
        if !Table::age(now, route, self.delete_period, self.counts_up) {
            self.routes.remove(&destination);
            return None;
        }
        self.routes.get_mut(&destination)
    }

    /// The route that packets to a destination may take.
    pub fn active(&mut self, now: SimTime, destination: Ipv4Addr) -> Option<&mut Route> {
        self.at(now, destination).filter(|route| route.is_valid)
    }

    /// Ends a route whose time is over: as one whose link is lost, it counts its number up (@RFC3561 sec. 6.1). Returns false once it
    /// is to be forgotten.
    fn age(now: SimTime, route: &mut Route, delete_period: Dur, counts_up: bool) -> bool {
        if route.is_valid && route.until <= now {
            route.is_repairable = false;
            route.end(route.until, Table::counted(route.number, counts_up), delete_period);
        }
        route.is_valid || route.until > now
    }

    /// The number of a route that ends.
    fn counted(number: Option<Number>, counts_up: bool) -> Option<Number> {
        if counts_up { number.map(Number::next) } else { number }
    }

    /// Takes news of a route if they are fresher, or as fresh and better. Returns true if the route is now as offered.
    ///
    /// @RFC3561 sec. 6.2 and 6.7. An unknown number gives way, but only where no number was ever known: one that is known, whatever
    /// became of its route, is never forgotten for a lower one. News that confirm a route as it is prolong it, and count as taken.
    pub fn offer(&mut self, now: SimTime, destination: Ipv4Addr, offer: Offer) -> bool {
        let ignores_numbers = self.ignores_numbers;
        if let Some(route) = self.at(now, destination) {
            let is_better = match (route.number, offer.number) {
                _ if ignores_numbers => !route.is_valid || offer.hops < route.hops,
                (None, _) => true,
                (Some(_), None) => false,
                (Some(known), Some(new)) => {
                    new.is_after(known) || new == known && (!route.is_valid || offer.hops < route.hops)
                }
            };
            let confirms = route.is_valid && route.number == offer.number && route.hops == offer.hops;
            let is_taken = is_better || confirms && route.next == offer.next;
            if is_taken {
                Table::set(route, offer);
            }
            return is_taken;
        }
        self.make_room(now);
        let Offer { number, hops, next, until } = offer;
        let precursors = Vec::new();
        let route = Route { number, hops, next, is_valid: true, is_repairable: false, until, precursors };
        self.routes.insert(destination, route);
        true
    }

    fn set(route: &mut Route, offer: Offer) {
        let was_valid = std::mem::replace(&mut route.is_valid, true);
        // A route to another next hop or of another number has another end; one that goes on is not cut short.
        let goes_on = was_valid && route.next == offer.next;
        route.until = if goes_on { route.until.max(offer.until) } else { offer.until };
        route.number = offer.number.or(route.number);
        (route.hops, route.next, route.is_repairable) = (offer.hops, offer.next, false);
    }

    /// ns-3's choice: a request leads the route to its originator another way, and one that has ended stays so. Returns false if there is none
    /// that has ended.
    pub fn redirect_ended(&mut self, now: SimTime, destination: Ipv4Addr, offer: Offer) -> bool {
        let Some(route) = self.at(now, destination).filter(|route| !route.is_valid) else { return false };
        route.number = later(route.number, offer.number);
        (route.hops, route.next, route.until) = (offer.hops, offer.next, route.until.max(offer.until));
        true
    }

    /// A neighbour was heard: there is a route of one hop to it, and its number stays as it was known. @RFC3561 sec. 6.2, 6.5, 6.7
    pub fn hear(&mut self, now: SimTime, next: Neighbour, until: SimTime, number: Option<Number>) {
        let destination = crate::address(next.1);
        match self.at(now, destination) {
            Some(route) => {
                let known = later(route.number, number);
                Table::set(route, Offer { number: known, hops: 1, next, until });
            }
            None => _ = self.offer(now, destination, Offer { number, hops: 1, next, until }),
        }
    }

    /// A number was heard of while no route may be taken: it is remembered as that of one that has ended. @RFC3561 sec. 6.13
    pub fn note(&mut self, now: SimTime, destination: Ipv4Addr, offer: Offer) {
        if self.offer(now, destination, offer)
            && let Some(route) = self.routes.get_mut(&destination)
        {
            let number = route.number;
            route.end(now, number, self.delete_period);
        }
    }

    /// A route goes on being used until this time at least; one that has ended is remembered for so much longer.
    pub fn extend(&mut self, now: SimTime, destination: Ipv4Addr, until: SimTime) {
        let delete_period = self.delete_period;
        if let Some(route) = self.at(now, destination) {
            route.until = route.until.max(if route.is_valid { until } else { now + delete_period });
        }
    }

    /// Remembers a route that has ended until this time at least.
    pub fn keep(&mut self, now: SimTime, destination: Ipv4Addr, until: SimTime) {
        if let Some(route) = self.at(now, destination)
            && !route.is_valid
        {
            route.until = route.until.max(until);
        }
    }

    /// Ends a route. Its number counts up, and is no lower than `told`. @RFC3561 sec. 6.11
    pub fn end(&mut self, now: SimTime, destination: Ipv4Addr, told: Option<Number>) {
        let (delete_period, counts_up) = (self.delete_period, self.counts_up);
        if let Some(route) = self.active(now, destination) {
            let number = later(Table::counted(route.number, counts_up), told);
            route.end(now, number, delete_period);
        }
    }

    /// Destinations of the valid routes over a neighbour.
    pub fn over(&mut self, now: SimTime, next: Neighbour) -> Vec<Ipv4Addr> {
        self.age_all(now);
        let routes = self.routes.iter().filter(|(_, route)| route.is_valid && route.next == next);
        routes.map(|(destination, _)| *destination).collect()
    }

    /// True if some route is valid: the node is part of an active route. @RFC3561 sec. 6.9
    pub fn is_any_active(&mut self, now: SimTime) -> bool {
        self.age_all(now);
        self.routes.values().any(|route| route.is_valid)
    }

    /// All routes, as they are at this time.
    pub fn routes(&mut self, now: SimTime) -> impl Iterator<Item = (&Ipv4Addr, &Route)> {
        self.age_all(now);
        self.routes.iter()
    }

    fn age_all(&mut self, now: SimTime) {
        let (delete_period, counts_up) = (self.delete_period, self.counts_up);
        self.routes.retain(|_, route| Table::age(now, route, delete_period, counts_up));
    }

    fn make_room(&mut self, now: SimTime) {
        if self.routes.len() < MOST_ROUTES {
            return;
        }
        self.age_all(now);
        if self.routes.len() >= MOST_ROUTES {
            let ends_first = |(_, route): &(&Ipv4Addr, &Route)| (route.is_valid, route.until);
            if let Some(destination) = self.routes.iter().min_by_key(ends_first).map(|(destination, _)| *destination) {
                self.routes.remove(&destination);
            }
        }
    }
}
