//! Users: their connections are opened, asked on and closed.

use super::{Job, World};
use crate::flow::{Delivered, Flow, Owner, Transport};
use crate::users::Child;
use engine::Class;
use tcp::Input as TcpInput;
use traffic::{Conn, Input, Output};
use units::{Dur, FlowId, NodeId, SimTime};

/// Both from the dynamic range (RFC 6335): no dissector takes the payload for a protocol of its own.
const PORTS: [u16; 2] = [49_152, 57_344];
/// Ports of either.
const PORTS_OF_EACH: u64 = 8_192;

impl Flow {
    /// A connection that the user of this flow, at `place`, opens: from its second end to its first.
    fn connection_of_user(&mut self, place: u32, conn: Conn) -> Option<Flow> {
        let [server, client]: [NodeId; 2] = self.ends;
        let Transport::User(user) = &mut self.transport else { return None };
        // A port for each of its connections, until they come round.
        let ports = [user.opened(), u64::from(place)].map(|n| (n % PORTS_OF_EACH) as u16);
        let ports = [PORTS[0] + ports[0], PORTS[1] + ports[1]];
        Some(Flow {
            ends: [client, server],
            ports,
            ip_id: [0; 2],
            tos: self.tos,
            has_failed: false,
            transport: Transport::Tcp(user.open(ports)),
            owner: Owner::User(Child { user: place, conn: Some(conn), request: 0, response: 0, missing: 0 }),
        })
    }
}

/// The time between the end of a connection and the call that tells agents of it: until then late repetitions of its segments may
/// pass them, and would leave state that they keep for ever. Our choice: more than a packet spends in any queue that is not a
/// mistake.
const LINGER: Dur = Dur::from_secs(5);

impl World {
    /// Something happened to the user of a flow.
    pub(super) fn user(&mut self, now: SimTime, place: u32, input: Input) {
        let flow = &mut self.flows[place as usize];
        let Transport::User(user) = &mut flow.transport else { return };
        if self.nodes[flow.ends[1].index()].is_dead() {
            return;
        }
        let mut wishes = std::mem::take(&mut self.wishes);
        user.model.handle(now, input, &mut wishes);
        let at = user.model.next_wakeup();
        for wish in wishes.drain(..) {
            self.grant_wish(now, place, wish);
        }
        self.wishes = wishes;
        self.timers.set(self.layout().source(place, 1), at, Class::Between);
    }

    fn grant_wish(&mut self, now: SimTime, place: u32, wish: Output) {
        let flow = &mut self.flows[place as usize];
        match wish {
            Output::Open(conn) => {
                let Some(connection) = flow.connection_of_user(place, conn) else { return };
                let opened = self.open_flow(|_| connection);
                let Transport::User(user) = &mut self.flows[place as usize].transport else { return };
                match opened {
                    Some(id) => {
                        user.set(conn, id);
                        self.jobs.push(Job::Pump(id.connection() as u32, 0));
                    }
                    None => {
                        user.closed(true);
                        self.news.push((place, Input::Lost(conn)));
                    }
                }
            }
            Output::Ask { conn, request, response } => {
                let Transport::User(user) = &flow.transport else { return };
                let id = user.conns.get(conn.index()).copied().unwrap_or(FlowId::NONE);
                let Some(child) = self.flows.get_mut(id).and_then(Flow::child_mut) else { return };
                (child.request, child.response, child.missing) = (request.0, response.0, response.0);
                self.tcp(now, id.connection() as u32, 0, TcpInput::Write(request.0));
            }
            Output::Close(conn) => {
                let Transport::User(user) = &mut flow.transport else { return };
                let id = user.take(conn);
                if let Some(child) = self.flows.get_mut(id).and_then(Flow::child_mut) {
                    child.conn = None;
                    self.tcp(now, id.connection() as u32, 0, TcpInput::Close);
                }
            }
            Output::Done { began, bytes } => {
                let Transport::User(user) = &mut flow.transport else { return };
                user.done(now - began, bytes);
            }
        }
    }

    /// Payload of a user's connection has arrived in order at one of its ends; `len` may be nothing.
    pub(super) fn of_user(&mut self, now: SimTime, index: u32, end: usize, len: u64) {
        let flow = &mut self.flows[index as usize];
        let Some(child) = flow.child_mut() else { return };
        let user = child.user;
        let left = if end == 1 { &mut child.request } else { &mut child.missing };
        let was = std::mem::replace(left, left.saturating_sub(len));
        let is_whole = was > 0 && *left == 0;
        let (response, conn) = (child.response, child.conn);
        if let Some(delivered) = self.delivered_of_user(user, end) {
            delivered.payload += len;
        }
        match (is_whole, end, conn) {
            (true, 1, _) => self.tcp(now, index, 1, TcpInput::Write(response)),
            (true, _, Some(conn)) => self.news.push((user, Input::Got(conn))),
            _ => {}
        }
    }

    /// After a connection of a user was asked for its outputs: it may be over, and its user is told what is new.
    pub(super) fn settle_user(&mut self, now: SimTime, index: u32) {
        let flow = &mut self.flows[index as usize];
        if flow.is_over() {
            let Owner::User(child) = flow.owner else { return };
            let has_failed = flow.has_failed;
            let id = self.flows.id(index);
            self.close_flow(id);
            self.ended.push_back((now, id));
            if let Transport::User(user) = &mut self.flows[child.user as usize].transport {
                user.closed(has_failed);
                if let Some(conn) = child.conn {
                    user.take(conn);
                    self.news.push((child.user, Input::Lost(conn)));
                }
            }
        }
        self.tell_of_ended(now);
        while !self.news.is_empty() {
            let (user, what) = self.news.remove(0);
            self.user(now, user, what);
        }
    }

    /// Agents are told of connections that ended a while ago.
    pub(super) fn tell_of_ended(&mut self, now: SimTime) {
        while self.ended.front().is_some_and(|(at, _)| *at + LINGER <= now) {
            let Some((_, id)) = self.ended.pop_front() else { break };
            for node in (0..self.nodes.len() as u32).map(NodeId) {
                if !self.nodes[node.index()].chain().members().is_empty() {
                    self.tell(now, node, node::Input::Closed(id));
                }
            }
        }
    }

    /// A packet of a user's connection has brought new payload to one of its ends.
    pub(super) fn packet_of_user(&mut self, user: u32, end: usize, ip_len: u64) {
        if let Some(delivered) = self.delivered_of_user(user, end) {
            delivered.packet(ip_len);
        }
    }

    /// The deliveries of a user's flow, whose first end is the server's, in the direction to this end of a connection of theirs,
    /// whose first end is the client's.
    fn delivered_of_user(&mut self, user: u32, end: usize) -> Option<&mut Delivered> {
        self.flows[user as usize].stated_mut().map(|stated| &mut stated.delivered[1 - end])
    }
}
