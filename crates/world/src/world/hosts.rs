//! Hosts: transport ends, and the applications that write and read.

use super::{Job, World};
use crate::flow::Transport;
use crate::scenario::Traffic;
use engine::Class;
use tcp::{Input as TcpInput, Output as TcpOutput};
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{Content, Ipv4, L4, Packet, Payload, Udp, ecn};

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

    /// Fetches all outputs of one end and sets its timer.
    pub(super) fn pump(&mut self, now: SimTime, index: u32, end: u8) {
        let e = usize::from(end);
        let forward = self.flows.id(index);
        let slot = self.layout().tcp(index, end);
        let (source_slot, sink_slot) = (self.layout().source(index, end), self.layout().sink(index, end));
        if forward == FlowId::NONE {
            return; // A user's connection that has closed at this very instant.
        }
        let flow = &mut self.flows[index as usize];
        let Transport::Tcp(ends) = &mut flow.transport else { return };
        let node = flow.ends[e];
        if self.nodes[node.index()].is_dead() {
            return;
        }
        let child = flow.child;
        let mut arrived = 0;
        let connection = &mut ends[e];
        while let Some(output) = connection.poll(now) {
            match output {
                TcpOutput::Segment { tcp, payload, ect, .. } => {
                    if let (0, true, Content::Virtual { offset }) =
                        (e, payload.len > 0 && child.is_none(), &payload.content)
                    {
                        flow.latency.leaves(now, offset + u64::from(payload.len));
                    }
                    flow.ip_id[e] = flow.ip_id[e].wrapping_add(1);
                    let ip = Ipv4 {
                        src: net::address(flow.ends[e]),
                        dst: net::address(flow.ends[1 - e]),
                        tos: flow.tos | if ect { ecn::ECT_0 } else { ecn::NOT_ECT },
                        id: flow.ip_id[e],
                        ..Ipv4::default()
                    };
                    let id = if e == 0 { forward } else { forward.reverse() };
                    let packet = Packet { ip, l4: L4::Tcp(tcp), payload, flow: id };
                    self.taps.tcp(now, &packet, false);
                    if let (1, Some(gaps), true) = (e, &mut flow.ack_gaps, packet.pure_ack().is_some()) {
                        gaps.leaves(now, packet.ip.id);
                    }
                    let pkt = self.packets.put(packet);
                    self.nodes[node.index()].send(pkt);
                    self.jobs.push(Job::Step(node));
                }
                TcpOutput::Connected | TcpOutput::SendSpace => {
                    if let (Some(child), 0, TcpOutput::Connected) = (child, e, &output) {
                        self.news.extend(child.conn.map(|conn| (child.user, traffic::Input::Connected(conn))));
                    }
                    if output == TcpOutput::Connected && flow.sources[e].is_timed() {
                        flow.sources[e].next = now;
                        self.timers.set(source_slot, now, Class::Between);
                    }
                    let n = flow.sources[e].bulk();
                    if n > 0 {
                        connection.handle(now, TcpInput::Write(n));
                    }
                    if flow.sources[e].is_done {
                        connection.handle(now, TcpInput::Close);
                    }
                }
                TcpOutput::Readable { len, .. } if child.is_some() => {
                    flow.delivered[e].payload += u64::from(len);
                    arrived += u64::from(len);
                    connection.handle(now, TcpInput::Read(u64::from(len)));
                }
                TcpOutput::Readable { len, .. } => {
                    flow.delivered[e].payload += u64::from(len);
                    if e == 1 {
                        flow.latency.delivered(now, flow.delivered[1].payload);
                    }
                    if e == 1 && flow.sources[0].total() == Some(flow.delivered[1].payload) {
                        flow.finished = Some(now);
                    }
                    let before = flow.sinks[e].next;
                    let n = flow.sinks[e].arrived(now, u64::from(len));
                    if n > 0 {
                        connection.handle(now, TcpInput::Read(n));
                    }
                    if flow.sinks[e].next != before {
                        self.timers.set(sink_slot, flow.sinks[e].next, Class::Between);
                    }
                }
                // The other application is done: so is this one, unless it has something to write itself.
                TcpOutput::PeerClosed => {
                    if flow.sources[e].traffic == Traffic::None || flow.sources[e].is_done {
                        connection.handle(now, TcpInput::Close);
                    }
                }
                TcpOutput::Closed => {}
                TcpOutput::Failed(_) => flow.failed = Some("connection failed"),
            }
        }
        // Every ACK puts the retransmission timer off. A timer that stands too early is left: it goes off in vain once an
        // RTO, which is harmless (`tcp::Input::Timer`), and is set anew then.
        let at = connection.next_wakeup();
        if at < self.timers.at(slot) {
            self.timers.set(slot, at, Class::Between);
        }
        if child.is_some() {
            self.of_user(now, index, e, arrived);
            self.settle_user(now, index);
        }
    }

    pub(super) fn start_flow(&mut self, now: SimTime, index: u32) {
        let flow = &mut self.flows[index as usize];
        flow.is_started = true;
        let node = flow.ends[0];
        match flow.transport {
            Transport::Tcp(_) => self.jobs.push(Job::Pump(index, 0)),
            Transport::Udp { .. } if flow.sources[0].is_timed() => {
                flow.sources[0].next = now;
                self.source(now, index, 0);
            }
            Transport::Udp { .. } => self.refill(now, node),
            Transport::User(_) => self.user(now, index, traffic::Input::Start),
        }
    }

    pub(super) fn stop_flow(&mut self, now: SimTime, index: u32) {
        if let Transport::User(_) = self.flows[index as usize].transport {
            self.user(now, index, traffic::Input::Stop);
            return;
        }
        let flow = &mut self.flows[index as usize];
        for source in &mut flow.sources {
            source.is_done = true;
            source.next = SimTime::NEVER;
        }
        for end in 0..2 {
            let slot = self.layout().source(index, end);
            self.timers.set(slot, SimTime::NEVER, Class::Between);
            self.tcp(now, index, end, TcpInput::Close);
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
        if self.nodes[flow.ends[e].index()].is_dead() || flow.sources[e].is_done {
            return;
        }
        if flow.sources[e].traffic == Traffic::Saturated {
            let node = flow.ends[e];
            self.refill(now, node);
            return;
        }
        let is_udp = matches!(flow.transport, Transport::Udp { .. });
        let unit = flow.datagram.0 - if is_udp { 28 } else { 40 };
        let n = flow.sources[e].timed(unit);
        let next = flow.sources[e].next;
        if is_udp {
            self.datagram(now, index);
        } else {
            self.tcp(now, index, end, TcpInput::Write(n));
        }
        self.timers.set(self.layout().source(index, end), next, Class::Between);
    }

    /// An application reads by the clock.
    pub(super) fn sink(&mut self, now: SimTime, index: u32, end: u8) {
        let sink = &mut self.flows[index as usize].sinks[usize::from(end)];
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
        let Transport::Udp { sent } = &mut flow.transport else { return };
        let len = (flow.datagram.0 - 28) as u32;
        let payload = Payload::stream(*sent * u64::from(len), len);
        *sent += 1;
        flow.latency.leaves(now, *sent * u64::from(len));
        flow.ip_id[0] = flow.ip_id[0].wrapping_add(1);
        let [src, dst] = flow.ends.map(net::address);
        let ip = Ipv4 { src, dst, tos: flow.tos, id: flow.ip_id[0], ..Ipv4::default() };
        let l4 = L4::Udp(Udp { src_port: flow.ports[0], dst_port: flow.ports[1] });
        let pkt = self.packets.put(Packet { ip, l4, payload, flow: id });
        let node = flow.ends[0];
        self.nodes[node.index()].send(pkt);
        self.jobs.push(Job::Step(node));
    }

    /// A queue refused a datagram though nothing waits in it: RED remembers a long one. No departure will ask the saturated
    /// sources for more, so they ask again themselves.
    pub(super) fn refill_later(&mut self, now: SimTime, node: NodeId) {
        if self.nodes[node.index()].is_dead() {
            return;
        }
        for i in 0..self.saturators[node.index()].len() {
            let slot = self.layout().source(self.saturators[node.index()][i], 0);
            self.timers.set(slot, now + REFUSED_AGAIN, Class::Between);
        }
    }

    /// Saturated sources of a node see to it that its queue holds the next datagram.
    pub(super) fn refill(&mut self, now: SimTime, node: NodeId) {
        if self.saturators[node.index()].is_empty() || self.nodes[node.index()].is_dead() {
            return;
        }
        for i in 0..self.saturators[node.index()].len() {
            let flow = self.saturators[node.index()][i];
            let it = &self.flows[flow as usize];
            let runs = it.is_started && now < it.stop;
            let missing = 2u64.saturating_sub(self.stations[node.index()].backlog());
            for _ in 0..missing.min(if runs { 2 } else { 0 }) {
                self.datagram(now, flow);
            }
        }
    }
}
