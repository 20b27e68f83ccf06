//! The air: grants, transmissions, what stations ask for, what the MAC reports.

use super::{Job, World};
use crate::interface::Interface;
use engine::Class;
use mac::{Body, Data, Delivery, Fate, Input, Kind, MacOptions, Mpdu, Msdus, Output, TxReport};
use node::Input as NodeInput;
use units::{ChannelId, InterfaceId, NodeId, SimTime};
use wire::{DropWhy, Pkt, Shared};

impl World {
    pub(super) fn grant(&mut self, now: SimTime, channel: ChannelId) {
        let World { airs, winners, .. } = self;
        let air = &mut airs[channel.index()];
        air.grant_at = SimTime::NEVER;
        winners.clear();
        air.channel.contention.winners(now, winners);
        for i in 0..self.winners.len() {
            let air = &self.airs[channel.index()];
            let id = air.interface(air.channel.contention.node(self.winners[i]));
            self.station(now, id, Input::Granted);
        }
    }

    /// The frame that an interface has loaded goes on the air. Not inlined, as [`World::carry_out`].
    #[inline(never)]
    fn transmit(&mut self, now: SimTime, id: InterfaceId) {
        let Interface { node: from, channel, .. } = self.interfaces[id.index()];
        if self.nodes[from.index()].chain().has_options() {
            self.write_options(now, id);
        }
        if self.renews_gains {
            self.renew_gains(now, channel, from);
        }
        let (frame, sensed_at) = self.airs[channel.index()].channel.start(now, from);
        let end = now + frame.airtime;
        self.frames.starts(frame);
        if sensed_at != SimTime::NEVER {
            self.timers.set(self.layout.sensed(id), sensed_at, Class::Between);
        }
        self.timers.set(self.layout.air(id), end, Class::End);
    }

    /// The gains from a transmitter are what they have become since nodes have moved.
    #[cold]
    fn renew_gains(&mut self, now: SimTime, channel: ChannelId, from: NodeId) {
        if let Some(topology) = &mut self.topology {
            topology.renew(now, channel, from, &mut self.airs[channel.index()].channel.medium);
        }
    }

    /// MAC options are written when the frame goes out, at each attempt.
    fn write_options(&mut self, now: SimTime, id: InterfaceId) {
        let Interface { node, channel, .. } = self.interfaces[id.index()];
        let frame = self.airs[channel.index()].channel.frame(node);
        let mpdus = frame.filter(|frame| frame.kind == Kind::Data).map_or(0, |it| it.psdu.mpdus().len());
        for place in 0..mpdus {
            let station = &self.interfaces[id.index()].station;
            let Some(msdu) = station.psdu().nth(place).filter(|msdu| msdu.is_extended) else { continue };
            let report = msdu.report(now, Fate::Attempt, Some(station.in_ppdu(place)));
            let packet = self.packets.get(&msdu.pkt).clone();
            let mut written = MacOptions::within(msdu.options_room);
            self.node(now, node, |node, packets, host| {
                node.write_options(now, &packet, &report, &mut written, packets, host);
            });
            let frame = self.airs[channel.index()].channel.frame_mut(node);
            let mpdu = frame.and_then(|frame| frame.psdu.mpdus_mut().get_mut(place));
            if let Some(Mpdu { body: Body::Data(Data { msdus: Msdus::One(carried), .. }), .. }) = mpdu {
                carried.options = written;
            }
        }
    }

    pub(super) fn air_end(&mut self, now: SimTime, id: InterfaceId) {
        let mut receptions = self.receptions.take().unwrap_or_default();
        let Interface { node, channel: on, ref station } = self.interfaces[id.index()];
        let is_sending = station.is_sending();
        let channel = &mut self.airs[on.index()].channel;
        let fate = channel.end(now, node, &mut receptions);
        // Read where it is: to take it out of its option would move it once more.
        let unloaded = channel.unload(node);
        let Some(frame) = &unloaded else { return };
        self.frames.ends(frame, fate, channel.first_overlap(node));
        self.taps.frame(now, frame, fate, &receptions, (on, channel), &self.packets);
        if self.topology.as_ref().is_some_and(|topology| topology.is_stale()) {
            self.settle_air(now);
        }
        if is_sending {
            self.station(now, id, Input::Sent);
        }
        for reception in receptions.iter() {
            let id = self.airs[on.index()].interface(reception.node);
            self.station(now, id, Input::Ended(frame, reception.got));
        }
        unloaded.into_iter().for_each(|frame| frame.release(&mut self.packets));
        self.receptions = Some(receptions);
    }

    /// The run is over: a timeline is told what is still in the air.
    pub(super) fn cut_air(&mut self) {
        for (id, Interface { node, channel, .. }) in (0..).map(InterfaceId).zip(&self.interfaces) {
            let channel = &self.airs[channel.index()].channel;
            if let Some(frame) = channel.frame(*node) {
                let end = self.timers.at(self.layout.air(id));
                self.taps.cut(end, frame, channel, &self.packets);
            }
        }
    }

    /// Tells the station of an interface something and carries out what it asks for.
    // In line, as `Station::handle`: each caller's input is known, so the others cost it nothing.
    #[inline(always)]
    pub(super) fn station(&mut self, now: SimTime, id: InterfaceId, input: Input<'_>) {
        let World { interfaces, airs, packets, outputs, .. } = self;
        let Interface { node, channel, station } = &mut interfaces[id.index()];
        let node = *node;
        // A timer that went off is set no more.
        let set = if matches!(input, Input::Timer) { SimTime::NEVER } else { station.next_wakeup().0 };
        let mut air = airs[channel.index()].channel.at(node);
        station.handle(now, input, &mut air, packets, outputs);
        let transmits = air.transmits;
        let (at, class) = station.next_wakeup();
        if at != set {
            self.timers.set(self.layout.station(id), at, class);
        }
        // Most calls say nothing, and most of the others one thing.
        match self.outputs.len() {
            0 => {}
            1 => {
                if let Some(output) = self.outputs.pop() {
                    self.carry_out(now, id, node, output);
                }
            }
            _ => self.carry_all_out(now, id, node),
        }
        if transmits {
            self.transmit(now, id);
        }
    }

    /// The station of an interface falls silent on its way to another access point, or is there.
    #[cold]
    pub(super) fn roams(&mut self, now: SimTime, id: InterfaceId, is_there: bool) {
        let World { interfaces, airs, packets, outputs, .. } = self;
        let Interface { node, channel, station } = &mut interfaces[id.index()];
        let node = *node;
        let air = &mut airs[channel.index()].channel.at(node);
        if is_there {
            station.join(now, air, packets, outputs)
        } else {
            station.leave(now, air, packets, outputs)
        }
        let (at, class) = station.next_wakeup();
        self.timers.set(self.layout.station(id), at, class);
        self.carry_all_out(now, id, node);
    }

    #[cold]
    fn carry_all_out(&mut self, now: SimTime, id: InterfaceId, node: NodeId) {
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            self.carry_out(now, id, node, output);
        }
        self.outputs = outputs;
    }

    /// Not inlined: there is one output as a rule, and what the compiler would prepare ahead of a loop over them costs more than
    /// the calls.
    #[inline(never)]
    fn carry_out(&mut self, now: SimTime, id: InterfaceId, node: NodeId, output: Output) {
        match output {
            Output::Deliver(delivery) => self.receive(now, id, node, delivery),
            Output::Attempt(packet, report) => self.attempted(now, node, packet, &report),
            Output::Done(pkt, report) => self.done(now, id, node, pkt, &report),
        }
    }

    fn receive(&mut self, now: SimTime, id: InterfaceId, node: NodeId, delivery: Delivery) {
        let Delivery { pkt, from, options } = delivery;
        if options.bytes().is_empty() {
            self.nodes[node.index()].receive(pkt, id, from);
            self.jobs.push(Job::Step(node));
        } else {
            self.tell(now, node, NodeInput::FromAir(pkt, id, from, options));
        }
    }

    fn attempted(&mut self, now: SimTime, node: NodeId, shared: Shared, report: &TxReport) {
        let packet = &self.packets.read(&shared).clone();
        self.tell(now, node, NodeInput::Attempt(packet, report));
        self.packets.release(shared);
    }

    fn done(&mut self, now: SimTime, id: InterfaceId, node: NodeId, pkt: Pkt, report: &TxReport) {
        let why = match (self.is_dead(node), report.fate) {
            (true, _) => DropWhy::NodeDown,
            (false, Fate::QueueFull) => DropWhy::QueueFull,
            (false, _) => DropWhy::MacDone,
        };
        self.taps.mac(now, node, report);
        let packet = self.packets.free(pkt, why);
        // What has been on the air was not refused, though its queue has dropped it since.
        let was_refused = why == DropWhy::QueueFull && report.attempts == 0;
        let segment = packet.tcp_range().filter(|_| was_refused).map(|range| (packet.flow, range));
        if self.nodes[node.index()].wants(report) {
            let packet = packet.clone();
            self.tell(now, node, NodeInput::Report(id, &packet, report));
            self.tell_left(now);
        }
        if let Some((flow, range)) = segment {
            self.refused(now, node, flow, range);
        }
        if report.fate != Fate::QueueFull {
            self.refill(now, id);
        } else if self.interfaces[id.index()].station.backlog() == 0 {
            self.refill_later(now, id);
        }
    }
}
