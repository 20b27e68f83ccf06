//! The air: grants, transmissions, what stations ask for, what the MAC reports.

use super::{Passage, World};
use engine::Class;
use mac::{Delivery, Fate, Frame, Input, Kind, Msdus, Output, TxReport};
use schemes::{Place, Port, Signal};
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

    pub(super) fn transmit(&mut self, now: SimTime, mut frame: Frame) {
        let (from, end) = (frame.from, now + frame.airtime);
        if frame.kind == Kind::Data && self.chains[from.index()].has_options() {
            self.write_options(now, &mut frame);
        }
        self.frames.starts(&frame);
        let sensed_at = self.channel.start(now, frame);
        if sensed_at != SimTime::NEVER {
            self.timers.set(self.layout().sensed(from), sensed_at, Class::Between);
        }
        self.timers.set(self.layout().air(from), end, Class::End);
    }

    /// MAC options are written when the frame goes out, at each attempt.
    fn write_options(&mut self, now: SimTime, frame: &mut Frame) {
        let node = frame.from;
        for (place, mpdu) in frame.psdu.mpdus_mut().iter_mut().enumerate() {
            let Some(msdu) = self.stations[node.index()].psdu().nth(place).filter(|msdu| msdu.options_room > 0)
            else {
                continue;
            };
            let report = msdu.report(now, Fate::Attempt);
            let packet = self.packets.get(&msdu.pkt).clone();
            let mac::Body::Data(mac::Data { msdus: Msdus::One(carried), .. }) = &mut mpdu.body else { continue };
            for member in 0..self.chains[node.index()].members.len() as u8 {
                if self.chains[node.index()].members[usize::from(member)].info.turns(Port::MacOptions) {
                    let options = &mut carried.options;
                    self.ask(node, member, Some(report.to), |agent, cx| {
                        agent.write_options(&packet, &report, options, cx);
                    });
                }
            }
        }
    }

    pub(super) fn air_end(&mut self, now: SimTime, node: NodeId) {
        let mut receptions = std::mem::take(&mut self.receptions);
        receptions.clear();
        let (frame, fate) = self.channel.end(now, node, &mut receptions);
        self.frames.ends(&frame, fate, self.channel.first_overlap(node));
        self.taps.frame(now, &frame, fate, &receptions, &self.channel, &self.packets);
        self.station(now, node, Input::Sent);
        for reception in &receptions {
            self.station(now, reception.node, Input::Ended(&frame, reception.got));
        }
        frame.release(&mut self.packets);
        self.receptions = receptions;
    }

    /// The run is over: whoever keeps a timeline is told what is still in the air.
    pub(super) fn cut_air(&mut self) {
        for node in (0..self.stations.len() as u32).map(NodeId) {
            if let Some(frame) = self.channel.on_air(node) {
                let end = self.timers.at(self.layout().air(node));
                self.taps.cut(end, frame, &self.channel, &self.packets);
            }
        }
    }

    /// Tells a station something and carries out what it asks for.
    pub(super) fn station(&mut self, now: SimTime, node: NodeId, input: Input<'_>) {
        let mut outputs = std::mem::take(&mut self.outputs);
        let station = &mut self.stations[node.index()];
        station.handle(now, input, &mut self.channel, &mut self.packets, &mut outputs);
        let (at, class) = station.next_wakeup();
        let slot = self.layout().station(node);
        if self.timers.at(slot) != at {
            self.timers.set(slot, at, class);
        }
        // Half of all calls ask for nothing.
        if outputs.is_empty() {
            self.outputs = outputs;
            return;
        }
        for output in outputs.drain(..) {
            match output {
                Output::Transmit(frame) => self.transmit(now, frame),
                Output::Deliver(delivery) => self.receive(node, delivery),
                Output::Attempt(packet, report) => self.attempted(node, packet, &report),
                Output::Done(pkt, report) => self.done(now, node, pkt, &report),
            }
        }
        self.outputs = outputs;
    }

    fn receive(&mut self, node: NodeId, delivery: Delivery) {
        let Delivery { pkt, from, options } = delivery;
        if !options.bytes().is_empty() {
            self.read_options(node, from, &pkt, &options);
        }
        self.jobs.push_back(Passage::into(node, pkt, Place::FromAir, Some(from)));
    }

    fn read_options(&mut self, node: NodeId, from: NodeId, pkt: &Pkt, options: &mac::MacOptions) {
        let (packet, serial) = (self.packets.get(pkt).clone(), self.packets.serial(pkt));
        for member in (0..self.chains[node.index()].members.len() as u8).rev() {
            if self.chains[node.index()].members[usize::from(member)].info.reads(Signal::MacOptions) {
                self.ask(node, member, Some(from), |agent, cx| agent.read_options(&packet, serial, options, cx));
            }
        }
    }

    fn attempted(&mut self, node: NodeId, shared: Shared, report: &TxReport) {
        let packet = &self.packets.read(&shared).clone();
        for i in 0..self.chains[node.index()].reads_attempts().len() {
            let member = self.chains[node.index()].reads_attempts()[i];
            self.ask(node, member, Some(report.to), |agent, cx| agent.report(packet, report, cx));
        }
        self.packets.release(shared);
    }

    fn done(&mut self, now: SimTime, node: NodeId, pkt: Pkt, report: &TxReport) {
        let why = match (self.is_dead[node.index()], report.fate) {
            (true, _) => DropWhy::NodeDown,
            (false, Fate::QueueFull) => DropWhy::QueueFull,
            (false, _) => DropWhy::MacDone,
        };
        self.taps.mac(now, node, report);
        let packet = self.packets.free(pkt, why);
        if !self.chains[node.index()].reads_reports().is_empty() {
            let packet = packet.clone();
            for i in 0..self.chains[node.index()].reads_reports().len() {
                let member = self.chains[node.index()].reads_reports()[i];
                self.ask(node, member, Some(report.to), |agent, cx| agent.report(&packet, report, cx));
            }
        }
        if report.fate != Fate::QueueFull {
            self.refill(now, node);
        } else if self.stations[node.index()].backlog() == 0 {
            self.refill_later(now, node);
        }
    }
}
