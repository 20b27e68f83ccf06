//! At a station: which numbers the MAC (or a wire) has discarded, until an ACK tells them.

use super::sender::Counts;
use crate::{Agent, Cx, Key, Place};
use mac::{Fate, TxReport};
use std::collections::BTreeMap;
use std::rc::Rc;
use units::{Dur, FlowId, SimTime};
use wire::{Flags, Packet, Pkt, Seq};

/// The most copies of one flow whose fate is open. After a timeout they wait in the queue behind their originals, and Linux's holds 1000
/// packets (txqueuelen). Of what a wire takes on no fate is heard: an ACK ends it.
const COPIES: usize = 1024;

/// The state of one flow of data that passes here.
#[derive(Debug)]
struct Flow {
    /// Numbers discarded and not told yet, in order.
    missing: Vec<Seq>,
    /// Numbers that passed more than once, with the serial of the latest copy, as long as its fate is open.
    copies: Vec<(Seq, u64)>,
    /// One past the highest number that has passed.
    top: Seq,
    /// The time when a packet of it last passed.
    used: SimTime,
}

impl Flow {
    /// Data from `seq` on passes.
    fn pass(&mut self, seq: Seq, end: Seq, serial: u64) {
        if seq.lt(self.top) {
            self.forget(seq);
            self.copies.retain(|(number, _)| *number != seq);
            if self.copies.len() == COPIES {
                self.copies.remove(0);
            }
            self.copies.push((seq, serial));
        }
        self.top = self.top.max(end);
    }

    /// Forgets `seq`: it is missing no longer, or for another reason.
    fn forget(&mut self, seq: Seq) {
        self.missing.retain(|number| *number != seq);
    }

    /// Forgets everything before `ack`, which has arrived.
    fn acknowledge(&mut self, ack: Seq) {
        self.missing.retain(|number| ack.le(*number));
        self.copies.retain(|(number, _)| ack.le(*number));
    }

    /// Forgets `seq` if the copy `serial`, which has met its fate here, is the latest. Returns true if it was.
    fn forget_if_latest(&mut self, seq: Seq, serial: u64) -> bool {
        let Some(place) = self.copies.iter().position(|(number, _)| *number == seq) else { return true };
        let is_latest = self.copies[place].1 == serial;
        if is_latest {
            self.copies.remove(place);
        }
        is_latest
    }
}

/// The only timer: flows are looked through for those to be forgotten.
const FORGET: Key = Key(0);

/// Takes note of discards and tells them.
#[derive(Debug)]
pub(super) struct Reporter {
    most: usize,
    forget: Dur,
    reports: bool,
    /// The counters of the sender's half at this node, if flows end here.
    own: Option<Rc<Counts>>,
    /// By the flow of the data.
    flows: BTreeMap<FlowId, Flow>,
    is_timed: bool,
    discards: u64,
    wire_losses: u64,
    late: u64,
    told: u64,
    acks: u64,
    no_room: u64,
}

impl Reporter {
    pub fn new(most: usize, forget: Dur, reports: bool, own: Option<Rc<Counts>>) -> Reporter {
        Reporter {
            most,
            forget,
            reports,
            own,
            flows: BTreeMap::new(),
            is_timed: false,
            discards: 0,
            wire_losses: 0,
            late: 0,
            told: 0,
            acks: 0,
            no_room: 0,
        }
    }

    /// Notes data that leaves or is forwarded.
    fn data(&mut self, flow: FlowId, (seq, end): (Seq, Seq), serial: u64, cx: &mut Cx) {
        let new = || Flow { missing: Vec::new(), copies: Vec::new(), top: seq, used: cx.now };
        let flow = self.flows.entry(flow).or_insert_with(new);
        flow.used = cx.now;
        flow.pass(seq, end, serial);
        if !self.is_timed {
            self.is_timed = true;
            cx.timer(FORGET, cx.now + self.forget);
        }
    }

    /// Notes a discarded segment. Returns whether it is to be told.
    fn lost(&mut self, packet: &Packet, serial: u64) -> bool {
        let (Some((seq, _)), Some(flow)) = (numbers(packet), self.flows.get_mut(&packet.flow)) else { return false };
        if !flow.forget_if_latest(seq, serial) {
            self.late += 1;
            return false;
        }
        let place = flow.missing.partition_point(|number| number.lt(seq));
        if flow.missing.get(place) != Some(&seq) {
            flow.missing.insert(place, seq);
            flow.missing.truncate(self.most); // the lowest are what the receiver waits for
        }
        true
    }

    /// Writes as many missing numbers as fit into an ACK of `data` that passes towards the sender.
    fn tell(&mut self, data: FlowId, pkt: &Pkt, cx: &mut Cx) {
        let Some(flow) = self.flows.get_mut(&data).filter(|flow| !flow.missing.is_empty()) else { return };
        let Some(tcp) = cx.get_mut(pkt).tcp_mut() else { return };
        let told = tcp.options.push_negative_acks(&flow.missing);
        flow.missing.drain(..told);
        self.told += told as u64;
        self.acks += u64::from(told > 0);
        self.no_room += u64::from(told == 0);
    }
}

/// The number of a data packet, and the number after it.
fn numbers(packet: &Packet) -> Option<(Seq, Seq)> {
    let tcp = packet.tcp_data()?;
    Some((tcp.seq, tcp.seq + packet.payload.len))
}

impl Agent for Reporter {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(tcp) = packet.tcp() else { return Some(pkt) };
        let (flow, back, flags, ack) = (packet.flow, packet.flow.reverse(), tcp.flags, tcp.ack);
        let (is_pure_ack, numbers) = (packet.pure_ack().is_some(), numbers(packet));
        if flags.has(Flags::RST) {
            self.flows.remove(&flow);
            self.flows.remove(&back);
            return Some(pkt);
        }
        if flags.has(Flags::SYN) {
            self.flows.remove(&flow); // a new connection, or the same SYN again
        }
        if let Some(numbers) = numbers.filter(|_| at != Place::ToHost) {
            self.data(flow, numbers, cx.serial(&pkt), cx);
        }
        if flags.has(Flags::ACK)
            && let Some(data) = self.flows.get_mut(&back)
        {
            data.acknowledge(ack);
            data.used = cx.now;
            if is_pure_ack && at != Place::FromHost {
                self.tell(back, &pkt, cx);
            }
        }
        Some(pkt)
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        let Some((seq, _)) = numbers(packet) else { return };
        if report.fate == Fate::GivenUp {
            let is_told = self.lost(packet, report.serial);
            self.discards += u64::from(is_told);
        } else if let Some(flow) = self.flows.get_mut(&packet.flow)
            && flow.forget_if_latest(seq, report.serial)
        {
            // Delivered; or lost to a queue, and from now on that is why it is missing.
            flow.forget(seq);
        }
    }

    fn lost_on_wire(&mut self, packet: &Packet, serial: u64, _: &mut Cx) {
        let is_told = self.lost(packet, serial);
        self.wire_losses += u64::from(is_told);
    }

    fn timer(&mut self, _: Key, cx: &mut Cx) {
        let (now, forget) = (cx.now, self.forget);
        self.flows.retain(|_, flow| now.since(flow.used) < forget);
        let next = self.flows.values().map(|flow| flow.used + forget).min();
        self.is_timed = next.is_some();
        cx.timer(FORGET, next.unwrap_or(SimTime::NEVER));
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        for way in [flow, flow.reverse()] {
            self.flows.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        if self.reports {
            out("discards", self.discards);
            out("wire_losses", self.wire_losses);
            out("late_discards", self.late);
            out("numbers_told", self.told);
            out("acks_with_numbers", self.acks);
            out("acks_without_room", self.no_room);
        }
        if let Some(own) = &self.own {
            own.tell(out);
        }
    }
}
