//! Round trips as a node in the middle sees them.

use crate::rtt::Smoothed;
use std::collections::BTreeMap;
use units::{Dur, FlowId, SimTime};
use wire::{Flags, Packet, Seq};

/// The method of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// A timestamp's way to its echo, on both sides of this node. Of those with one value only the first and its first echo are taken: a
    /// clock that ticks slowly gives a sample a tick. @VLL05
    Timestamps,
    /// From a data packet to the data that its ACK sets free: one packet is followed at a time.
    SelfClocking,
}

/// Before the first sample. @RFC6298 section 2.1
const FIRST_RTO: Dur = Dur::from_secs(1);

/// A timestamp under way, and the newest that was seen: only newer ones are followed.
#[derive(Debug, Clone, Copy, Default)]
struct Half {
    newest: Option<u32>,
    followed: Option<(u32, SimTime)>,
    last: Option<Dur>,
}

impl Half {
    /// Notes a timestamp that leaves.
    fn leaves(&mut self, now: SimTime, tsval: u32) {
        if self.newest.is_none_or(|newest| Seq(newest).lt(Seq(tsval))) {
            self.newest = Some(tsval);
            self.followed.get_or_insert((tsval, now));
        }
    }

    /// Notes an echo that comes back. Returns whether it is a sample.
    fn echoed(&mut self, now: SimTime, tsecr: u32) -> bool {
        match self.followed {
            Some((tsval, since)) if Seq(tsval).le(Seq(tsecr)) => {
                self.followed = None;
                // An echo of a later one says nothing exact of this one.
                if tsval == tsecr {
                    self.last = Some(now.since(since));
                }
                tsval == tsecr
            }
            _ => false,
        }
    }
}

/// The step of self-clocking that is followed.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A packet that ends here; its ACK is awaited.
    Data { end: Seq, since: SimTime },
    /// It was acknowledged: data from here on was set free by that.
    Freed { from: Seq, since: SimTime },
}

/// A flow of data towards the air.
#[derive(Debug, Default)]
struct Flow {
    heard: SimTime,
    highest: Option<Seq>,
    /// Down to the station and back; up to the server and back.
    halves: [Half; 2],
    step: Option<Step>,
    rtt: Smoothed,
}

/// All flows of data towards the air.
#[derive(Debug)]
pub(super) struct Estimates {
    how: How,
    min_rto: Dur,
    flows: BTreeMap<FlowId, Flow>,
    pub samples: u64,
    pub sum_us: u64,
}

impl Estimates {
    pub fn new(how: How, min_rto: Dur) -> Estimates {
        Estimates { how, min_rto, flows: BTreeMap::new(), samples: 0, sum_us: 0 }
    }

    /// RTT, once there is a sample, and RTO of a flow: RTO = RTT + 4 D. @MFHA07 equation 2
    pub fn rtt_and_rto(&self, flow: FlowId) -> (Option<Dur>, Dur) {
        match self.flows.get(&flow).and_then(|flow| flow.rtt.get()) {
            Some((rtt, d)) => (Some(rtt), (rtt + d * 4).max(self.min_rto)),
            None => (None, FIRST_RTO.max(self.min_rto)),
        }
    }

    /// A segment passes, towards the air or from it.
    pub fn saw(&mut self, now: SimTime, packet: &Packet, outward: bool) {
        let (Some(tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return };
        if tcp.flags.any(Flags::SYN | Flags::RST) {
            self.flows.remove(&if outward { packet.flow } else { packet.flow.reverse() });
            return;
        }
        let is_data = packet.payload.len > 0;
        let rtt = if outward {
            if !is_data && !self.flows.contains_key(&packet.flow) {
                return;
            }
            let flow = self.flows.entry(packet.flow).or_default();
            flow.heard = now;
            let is_new = is_data && flow.highest.is_none_or(|highest| highest.le(range.start));
            flow.highest = Some(flow.highest.map_or(range.end, |highest| highest.max(range.end)));
            match self.how {
                How::Timestamps => match tcp.options.timestamps() {
                    Some((tsval, tsecr)) => {
                        if is_data {
                            flow.halves[0].leaves(now, tsval);
                        }
                        let is_sample = flow.halves[1].echoed(now, tsecr);
                        let [there, back] = flow.halves.map(|half| half.last);
                        there.zip(back).filter(|_| is_sample).map(|(there, back)| there + back)
                    }
                    None => None,
                },
                How::SelfClocking => match flow.step {
                    // What is sent again tells nothing of the packet that is followed.
                    _ if is_data && !is_new => {
                        flow.step = None;
                        None
                    }
                    None if is_new => {
                        flow.step = Some(Step::Data { end: range.end, since: now });
                        None
                    }
                    Some(Step::Freed { from, since }) if is_new && from.le(range.start) => {
                        flow.step = Some(Step::Data { end: range.end, since: now });
                        Some(now.since(since))
                    }
                    _ => None,
                },
            }
        } else {
            let Some(flow) = self.flows.get_mut(&packet.flow.reverse()) else { return };
            flow.heard = now;
            if let Some((tsval, tsecr)) = tcp.options.timestamps() {
                flow.halves[0].echoed(now, tsecr);
                flow.halves[1].leaves(now, tsval);
            }
            if let Some(Step::Data { end, since }) = flow.step
                && end.le(tcp.ack)
                && tcp.flags.has(Flags::ACK)
            {
                flow.step = flow.highest.map(|from| Step::Freed { from, since });
            }
            None
        };
        if let (Some(rtt), Some(flow)) = (rtt, self.flows.get_mut(&packet.flow)) {
            flow.rtt.sample(rtt);
            self.samples += 1;
            self.sum_us += rtt.as_us_ceil();
        }
    }

    /// Forgets the flows that were not heard of since. Returns whether any is left.
    pub fn forget_before(&mut self, instant: SimTime) -> bool {
        self.flows.retain(|_, flow| flow.heard > instant);
        !self.flows.is_empty()
    }

    pub fn forget(&mut self, flow: FlowId) {
        self.flows.remove(&flow);
        self.flows.remove(&flow.reverse());
    }

    pub fn known(&self) -> u64 {
        self.flows.len() as u64
    }
}
