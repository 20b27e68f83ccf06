//! Hosts: transport ends, and the applications that write and read.

use super::{Job, World};
use crate::flow::{Owner, Transport};
use crate::scenario::Traffic;
use engine::Class;
use tcp::{Input as TcpInput, Output as TcpOutput};
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload, Pkt, SeqRange, Udp, ecn};

/// After which a saturated source offers again what an empty queue refused. Our choice: about a frame's time.
const REFUSED_AGAIN: Dur = Dur::from_ms(1);

impl World {
    pub(super) fn tcp(&mut self, now: SimTime, flow: u32, end: u8, input: TcpInput<'_>) {
        let it = &mut self.flows[flow as usize];
        if self.nodes[it.ends[usize::from(end)].index()].is_dead() {
            return;
        }
        if let Transport::Tcp(ends) = &mut it.transport {
            ends[usize::from(end)].handle(now, input);
            self.jobs.push(Job::Pump(flow, end));
        }
    }

    /// The transmit queue of `node` has refused the segment with these numbers: a connection that has its end here is told, if it asks.
    pub(super) fn refused(&mut self, now: SimTime, node: NodeId, id: FlowId, range: SeqRange) {
        let Some(flow) = self.flows.get(id) else { return };
        let end = u8::from(id.is_reverse());
        let asks = |connection: &tcp::Connection| connection.config().local_congestion;
        if flow.ends[usize::from(end)] == node && flow.connection(usize::from(end)).is_some_and(asks) {
            self.tcp(now, id.connection() as u32, end, TcpInput::Refused(range));
        }
    }

    /// Connections hear which of their packets have left the queues of their hosts.
    #[cold]
    pub(super) fn tell_left(&mut self, now: SimTime) {
        while let Some((id, bytes)) = self.packets.take_left() {
            let end = u8::from(id.is_reverse());
            let Some(flow) = self.flows.get_mut(id) else { continue };
            if let Transport::Tcp(ends) = &mut flow.transport {
                ends[usize::from(end)].handle(now, TcpInput::Left(bytes));
                self.jobs.push(Job::Pump(id.connection() as u32, end));
            }
        }
    }

    /// Fetches all outputs of one end and sets its timer. Where the connection minds its host's queue, each segment of data goes through
    /// the node to the queue before the next is fetched: that may refuse it, or be full enough.
    pub(super) fn pump(&mut self, now: SimTime, index: u32, end: u8) {
        let mut arrived = 0;
        while let Some(pkt) = self.pump_until_offered(now, index, end, &mut arrived) {
            self.offer_segment(now, index, usize::from(end), pkt);
        }
    }

    /// A segment of a connection that minds its host's queue goes to it.
    #[inline(never)]
    fn offer_segment(&mut self, now: SimTime, index: u32, end: usize, pkt: Pkt) {
        let flow = &mut self.flows[index as usize];
        let node = flow.ends[end];
        if let Transport::Tcp(ends) = &mut flow.transport
            && ends[end].config().counts_queued()
        {
            let own = self.interfaces.get(self.nodes[node.index()].interface().index());
            let by_radio = own.is_some_and(|own| own.node == node);
            let bytes = self.packets.get(&pkt).payload.len;
            ends[end].handle(now, TcpInput::Queued { bytes, by_radio });
            self.packets.watch(&pkt);
        }
        self.nodes[node.index()].send(pkt);
        self.step(now, node);
        if self.packets.has_left() {
            self.tell_left(now);
        }
    }

    /// As [`World::pump`], up to a segment that is to be offered to the queue first. What has `arrived` for a user is told
    /// when all is fetched.
    fn pump_until_offered(&mut self, now: SimTime, index: u32, end: u8, arrived: &mut u64) -> Option<Pkt> {
        let e = usize::from(end);
        let forward = self.flows.id(index);
        let layout = self.layout();
        if forward == FlowId::NONE {
            return None; // A user's connection that has closed at this very instant.
        }
        let flow = &mut self.flows[index as usize];
        let Transport::Tcp(ends) = &mut flow.transport else { return None };
        let node = flow.ends[e];
        if self.nodes[node.index()].is_dead() {
            return None;
        }
        let owner = &mut flow.owner;
        let connection = &mut ends[e];
        while let Some(output) = connection.poll(now) {
            match output {
                TcpOutput::Segment { tcp, payload, ect, .. } => {
                    flow.ip_id[e] = flow.ip_id[e].wrapping_add(1);
                    let ip = Ipv4 {
                        src: net::address(flow.ends[e]),
                        dst: net::address(flow.ends[1 - e]),
                        tos: flow.tos | if ect { ecn::ECT_0 } else { ecn::NOT_ECT },
                        id: flow.ip_id[e],
                        ..Ipv4::default()
                    };
                    let id = if e == 0 { forward } else { forward.reverse() };
                    let pkt = self.packets.put(Packet { ip, l4: L4::Tcp(tcp), payload, flow: id });
                    let packet = self.packets.get(&pkt);
                    self.taps.tcp(now, packet, false);
                    owner.note_leaving(now, e, packet);
                    if packet.payload.len > 0 && connection.minds_host() {
                        return Some(pkt);
                    }
                    self.nodes[node.index()].send(pkt);
                    self.jobs.push(Job::Step(node));
                }
                TcpOutput::Closed => {}
                TcpOutput::Failed(_) => flow.has_failed = true,
                said => {
                    let does = owner.hear(now, e, &said);
                    *arrived += does.arrived;
                    if does.write > 0 {
                        connection.handle(now, TcpInput::Write(does.write));
                    }
                    if does.read > 0 {
                        connection.handle(now, TcpInput::Read(does.read));
                    }
                    if does.closes {
                        connection.handle(now, TcpInput::Close);
                    }
                    if let Some((user, conn)) = does.connected {
                        self.news.push((user, traffic::Input::Connected(conn)));
                    }
                    if let Some(at) = does.next_write {
                        self.timers.set(layout.source(index, end), at, Class::Between);
                    }
                    if let Some(at) = does.next_read {
                        self.timers.set(layout.sink(index, end), at, Class::Between);
                    }
                }
            }
        }
        // Every ACK puts the retransmission timer off. A timer that stands too early is left: it goes off in vain once an
        // RTO, which is harmless (`tcp::Input::Timer`), and is set anew then.
        let (slot, at) = (layout.tcp(index, end), connection.next_wakeup());
        if at < self.timers.at(slot) {
            self.timers.set(slot, at, Class::Between);
        }
        if let Owner::User(_) = owner {
            self.of_user(now, index, e, *arrived);
            self.settle_user(now, index);
        }
        None
    }

    pub(super) fn start_flow(&mut self, now: SimTime, index: u32) {
        let flow = &mut self.flows[index as usize];
        let node = flow.ends[0];
        let Owner::Scenario(stated) = &mut flow.owner else { return };
        stated.is_started = true;
        match flow.transport {
            Transport::Tcp(_) => self.jobs.push(Job::Pump(index, 0)),
            Transport::Udp { .. } if stated.sources[0].is_timed() => {
                stated.sources[0].next = now;
                self.source(now, index, 0);
            }
            Transport::Udp { .. } => self.refill_all(now, node),
            Transport::User(_) => self.user(now, index, traffic::Input::Start),
            Transport::Outside | Transport::Closed => {}
        }
    }

    pub(super) fn stop_flow(&mut self, now: SimTime, index: u32) {
        if let Transport::User(_) = self.flows[index as usize].transport {
            self.user(now, index, traffic::Input::Stop);
            return;
        }
        let Some(stated) = self.flows[index as usize].stated_mut() else { return };
        for source in &mut stated.sources {
            source.is_done = true;
            source.next = SimTime::NEVER;
        }
        for end in 0..2 {
            let slot = self.layout().source(index, end);
            self.timers.set(slot, SimTime::NEVER, Class::Between);
            self.tcp(now, index, end, TcpInput::Close);
        }
    }

    /// The node of this end was dead and is there again: what the clock of its application would have brought in the meantime is not
    /// made up for.
    pub(super) fn resume(&mut self, now: SimTime, index: u32, end: u8) {
        let layout = self.layout();
        if let Some(stated) = self.flows[index as usize].stated_mut() {
            let (source, sink) = (&mut stated.sources[usize::from(end)], &stated.sinks[usize::from(end)]);
            if !source.is_done && source.is_timed() && source.next != SimTime::NEVER {
                source.next = source.next.max(now);
                self.timers.set(layout.source(index, end), source.next, Class::Between);
            }
            if sink.next != SimTime::NEVER {
                self.timers.set(layout.sink(index, end), sink.next.max(now), Class::Between);
            }
        }
        match self.flows[index as usize].transport {
            // Its timers went on: what was due meanwhile is due now.
            Transport::Tcp(_) => self.tcp(now, index, end, TcpInput::Timer),
            Transport::Udp { .. } if end == 0 => self.refill_all(now, self.flows[index as usize].ends[0]),
            _ => {}
        }
    }

    /// An application writes by the clock.
    pub(super) fn source(&mut self, now: SimTime, index: u32, end: u8) {
        if let Transport::User(_) = self.flows[index as usize].transport {
            self.user(now, index, traffic::Input::Timer);
            return;
        }
        let e = usize::from(end);
        let flow = &mut self.flows[index as usize];
        let (node, is_udp) = (flow.ends[e], matches!(flow.transport, Transport::Udp { .. }));
        let Some(stated) = flow.stated_mut() else { return };
        let source = &mut stated.sources[e];
        if self.nodes[node.index()].is_dead() || source.is_done {
            return;
        }
        if source.traffic == Traffic::Saturated {
            self.refill_all(now, node);
            return;
        }
        let unit = stated.datagram.0 - if is_udp { 28 } else { 40 };
        let n = source.timed(unit);
        let next = source.next;
        if is_udp {
            self.datagram(now, index);
        } else {
            self.tcp(now, index, end, TcpInput::Write(n));
        }
        self.timers.set(self.layout().source(index, end), next, Class::Between);
    }

    /// An application reads by the clock.
    pub(super) fn sink(&mut self, now: SimTime, index: u32, end: u8) {
        let Some(stated) = self.flows[index as usize].stated_mut() else { return };
        let sink = &mut stated.sinks[usize::from(end)];
        let n = sink.tick(now);
        let next = sink.next;
        self.timers.set(self.layout().sink(index, end), next, Class::Between);
        if n > 0 {
            self.tcp(now, index, end, TcpInput::Read(n));
        }
    }

    /// One UDP datagram leaves the first end of a flow.
    fn datagram(&mut self, now: SimTime, index: u32) {
        let id = self.flows.id(index);
        let flow = &mut self.flows[index as usize];
        let (Transport::Udp { sent }, Owner::Scenario(stated)) = (&mut flow.transport, &mut flow.owner) else {
            return;
        };
        let len = (stated.datagram.0 - 28) as u32;
        let payload = Payload::stream(*sent * u64::from(len), len);
        *sent += 1;
        stated.latency.leaves(now, *sent * u64::from(len));
        flow.ip_id[0] = flow.ip_id[0].wrapping_add(1);
        let [src, dst] = flow.ends.map(net::address);
        let ip = Ipv4 { src, dst, tos: flow.tos, id: flow.ip_id[0], ..Ipv4::default() };
        let l4 = L4::Udp(Udp { src_port: flow.ports[0], dst_port: flow.ports[1] });
        let pkt = self.packets.put(Packet { ip, l4, payload, flow: id });
        let node = flow.ends[0];
        self.nodes[node.index()].send(pkt);
        self.jobs.push(Job::Step(node));
    }

    /// The queue of an interface refused a datagram though nothing waits in it: RED remembers a long one. No departure will ask the
    /// saturated sources for more, so they ask again themselves.
    pub(super) fn refill_later(&mut self, now: SimTime, id: InterfaceId) {
        if self.is_dead(self.interfaces[id.index()].node) {
            return;
        }
        for i in 0..self.saturators[id.index()].len() {
            let slot = self.layout().source(self.saturators[id.index()][i], 0);
            self.timers.set(slot, now + REFUSED_AGAIN, Class::Between);
        }
    }

    /// Saturated sources see to it that the queue of an interface holds the next datagram.
    pub(super) fn refill(&mut self, now: SimTime, id: InterfaceId) {
        if self.saturators[id.index()].is_empty() || self.is_dead(self.interfaces[id.index()].node) {
            return;
        }
        let saturators = self.saturators[id.index()].len();
        let station = &self.interfaces[id.index()].station;
        let (plenty, backlog) = (station.plenty(), station.backlog());
        if plenty == 2 {
            // The first that runs has all of the room.
            for i in 0..saturators {
                let missing = plenty.saturating_sub(self.interfaces[id.index()].station.backlog());
                self.offer(now, self.saturators[id.index()][i], missing);
            }
            return;
        }
        // By turns, as far as the queue has room: an aggregate is made of several.
        let room = station.queue().space().free.0 / 1500;
        let missing = plenty.saturating_sub(backlog).min(room);
        for i in 0..saturators as u64 {
            let share = missing / saturators as u64 + u64::from(i < missing % saturators as u64);
            self.offer(now, self.saturators[id.index()][i as usize], share);
        }
    }

    /// So many datagrams of a saturated source, if it runs.
    fn offer(&mut self, now: SimTime, flow: u32, datagrams: u64) {
        let Some(stated) = self.flows[flow as usize].stated() else { return };
        if stated.is_started && now < stated.stop {
            (0..datagrams).for_each(|_| self.datagram(now, flow));
        }
    }

    /// As [`World::refill`], of every interface of a node.
    fn refill_all(&mut self, now: SimTime, node: NodeId) {
        let mut id = self.nodes[node.index()].interface();
        while self.interfaces.get(id.index()).is_some_and(|interface| interface.node == node) {
            self.refill(now, id);
            id.0 += 1;
        }
    }
}
