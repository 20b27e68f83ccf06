//! The air: grants, transmissions, what stations ask for, what the MAC reports.

use super::{Job, World};
use engine::Class;
use mac::{Body, Data, Delivery, Fate, Input, Kind, MacOptions, Mpdu, Msdus, Output, TxReport};
use node::Input as NodeInput;
use units::{NodeId, SimTime};
use wire::{DropWhy, Pkt, Shared};

impl World {
    pub(super) fn grant(&mut self, now: SimTime) {
        self.grant_at = SimTime::NEVER;
        let mut winners = std::mem::take(&mut self.winners);
        winners.clear();
        self.channel.contention.winners(now, &mut winners);
        for id in &winners {
            let node = self.channel.contention.node(*id);
            self.station(now, node, Input::Granted);
        }
        self.winners = winners;
    }

    /// The frame that `from` has loaded goes on the air. Not inlined, as [`World::carry_out`].
    #[inline(never)]
    fn transmit(&mut self, now: SimTime, from: NodeId) {
        if self.nodes[from.index()].chain().has_options() {
            self.write_options(now, from);
        }
        let sensed_at = self.channel.start(now, from);
        let Some(frame) = self.channel.frame(from) else { return };
        let end = now + frame.airtime;
        self.frames.starts(frame);
        if sensed_at != SimTime::NEVER {
            self.timers.set(self.layout().sensed(from), sensed_at, Class::Between);
        }
        self.timers.set(self.layout().air(from), end, Class::End);
    }

    /// MAC options are written when the frame goes out, at each attempt.
    fn write_options(&mut self, now: SimTime, node: NodeId) {
        let mpdus =
            self.channel.frame(node).filter(|frame| frame.kind == Kind::Data).map_or(0, |it| it.psdu.mpdus().len());
        for place in 0..mpdus {
            let station = &self.stations[node.index()];
            let Some(msdu) = station.psdu().nth(place).filter(|msdu| msdu.is_extended) else { continue };
            let report = msdu.report(now, Fate::Attempt, Some(station.in_ppdu(place)));
            let packet = self.packets.get(&msdu.pkt).clone();
            let mut written = MacOptions::within(msdu.options_room);
            self.node(now, node, |node, packets, host| {
                node.write_options(now, &packet, &report, &mut written, packets, host);
            });
            let mpdu = self.channel.frame_mut(node).and_then(|frame| frame.psdu.mpdus_mut().get_mut(place));
            if let Some(Mpdu { body: Body::Data(Data { msdus: Msdus::One(carried), .. }), .. }) = mpdu {
                carried.options = written;
            }
        }
    }

    pub(super) fn air_end(&mut self, now: SimTime, node: NodeId) {
        let mut receptions = self.receptions.take().unwrap_or_default();
        let fate = self.channel.end(now, node, &mut receptions);
        let Some(frame) = self.channel.unload(node) else { return };
        self.frames.ends(&frame, fate, self.channel.first_overlap(node));
        self.taps.frame(now, &frame, fate, &receptions, &self.channel, &self.packets);
        if self.topology.as_ref().is_some_and(|topology| topology.is_stale()) {
            self.settle_air(now);
        }
        if self.stations[node.index()].is_sending() {
            self.station(now, node, Input::Sent);
        }
        for reception in receptions.iter() {
            self.station(now, reception.node, Input::Ended(&frame, reception.got));
        }
        frame.release(&mut self.packets);
        self.receptions = Some(receptions);
    }

    /// The run is over: a timeline is told what is still in the air.
    pub(super) fn cut_air(&mut self) {
        for node in (0..self.stations.len() as u32).map(NodeId) {
            if let Some(frame) = self.channel.frame(node) {
                let end = self.timers.at(self.layout().air(node));
                self.taps.cut(end, frame, &self.channel, &self.packets);
            }
        }
    }

    /// Tells a station something and carries out what it asks for.
    pub(super) fn station(&mut self, now: SimTime, node: NodeId, input: Input<'_>) {
        let World { stations, channel, packets, outputs, .. } = self;
        let station = &mut stations[node.index()];
        // A timer that went off is set no more.
        let set = if matches!(input, Input::Timer) { SimTime::NEVER } else { station.next_wakeup().0 };
        let mut air = channel.at(node);
        station.handle(now, input, &mut air, packets, outputs);
        let transmits = air.transmits;
        let (at, class) = station.next_wakeup();
        if at != set {
            self.timers.set(self.layout.station(node), at, class);
        }
        // Most calls say nothing, and most of the others one thing.
        match self.outputs.len() {
            0 => {}
            1 => {
                if let Some(output) = self.outputs.pop() {
                    self.carry_out(now, node, output);
                }
            }
            _ => self.carry_all_out(now, node),
        }
        if transmits {
            self.transmit(now, node);
        }
    }

    #[cold]
    fn carry_all_out(&mut self, now: SimTime, node: NodeId) {
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            self.carry_out(now, node, output);
        }
        self.outputs = outputs;
    }

    /// Not inlined: there is one output as a rule, and what the compiler would prepare ahead of a loop over them costs more than
    /// the calls.
    #[inline(never)]
    fn carry_out(&mut self, now: SimTime, node: NodeId, output: Output) {
        match output {
            Output::Deliver(delivery) => self.receive(now, node, delivery),
            Output::Attempt(packet, report) => self.attempted(now, node, packet, &report),
            Output::Done(pkt, report) => self.done(now, node, pkt, &report),
        }
    }

    fn receive(&mut self, now: SimTime, node: NodeId, delivery: Delivery) {
        let Delivery { pkt, from, options } = delivery;
        if options.bytes().is_empty() {
            self.nodes[node.index()].receive(pkt, from);
            self.jobs.push(Job::Step(node));
        } else {
            self.tell(now, node, NodeInput::FromAir(pkt, from, options));
        }
    }

    fn attempted(&mut self, now: SimTime, node: NodeId, shared: Shared, report: &TxReport) {
        let packet = &self.packets.read(&shared).clone();
        self.tell(now, node, NodeInput::Attempt(packet, report));
        self.packets.release(shared);
    }

    fn done(&mut self, now: SimTime, node: NodeId, pkt: Pkt, report: &TxReport) {
        let why = match (self.is_dead(node), report.fate) {
            (true, _) => DropWhy::NodeDown,
            (false, Fate::QueueFull) => DropWhy::QueueFull,
            (false, _) => DropWhy::MacDone,
        };
        self.taps.mac(now, node, report);
        let packet = self.packets.free(pkt, why);
        let segment = packet.tcp().filter(|_| why == DropWhy::QueueFull).map(|tcp| (packet.flow, tcp.seq));
        if self.nodes[node.index()].wants(report) {
            let packet = packet.clone();
            self.tell(now, node, NodeInput::Report(&packet, report));
        }
        if let Some((flow, seq)) = segment {
            self.refused(now, node, flow, seq);
        }
        if report.fate != Fate::QueueFull {
            self.refill(now, node);
        } else if self.stations[node.index()].backlog() == 0 {
            self.refill_later(now, node);
        }
    }
}
