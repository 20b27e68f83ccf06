//! RTT correction: the time that this node's radio spends on link recovery is taken out of the RTT that the congestion control
//! sees, and stays in the timer's.
//!
//! - **Source** @DSDK14 section 5, outcome 4: "a corrective mechanism that makes RTT unaffected from link recovery attempts", which must
//!   not let the sender time out early. The paper builds none. T_ARQ is that of its eq. 2, the RTT that of eq. 3.
//! - **Realism** no oracle: a sender and the MAC of its own node. Reads sequence and ACK numbers of its own host, which even
//!   encryption below IP leaves readable there.
//! - **Departs** what the paper leaves open:
//!   (a) T_ARQ of an MSDU lasts from the end of its first failed attempt (the ACK or CTS timeout) to its delivery or giving up: n further
//!   attempts with the contention before each, n (t' + T_CONT).
//!   (b) `scope`: of which MSDUs. "queue" is the paper's eq. 2, where T_ARQ delays the *following* packets: whatever this node's radio
//!   recovered between the instant from which the RTT counts and the delivery of the data that the ACK tells of, each instant
//!   once. "own" is what was spent on these data alone.
//!   (c) `corrects`: the controller alone, or the timer too, which is what the paper warns of.
//!   (d) `floor`: no corrected RTT is below the least that was measured on the connection. RTT_0 + d_c of eq. 3 cannot be, but a
//!   correction can: see *Bound*. One such sample poisons every sender that keeps the least RTT for its path's.
//!   (e) Data that an ACK tells of are what it newly acknowledges, and what its first SACK block newly reports (@RFC2018 sec. 4).
//! - **Bound** Uploads only: the MAC's reports are local. Where an MSDU came through and its MAC ACK was lost, what follows is counted
//!   though it delayed nothing: a correction can be too large by all of it. An MSDU that is still under way when its ACK of TCP comes
//!   is not counted. Recovery at other nodes, that of the TCP ACK included, stays in the RTT.
//! - **Checked** `tests/all/rtt_correct.rs`; `every_scheme`; `world/tests/all/rtt_correct.rs`; figures in docs/schemes/rtt-correct.md.

use crate::{Agent, Cx, Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Fate, TxReport};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::rc::Rc;
use tcp::{Ack, FlowFacts, RttSample, SenderHook};
use units::{Dur, FlowId, SimTime};
use wire::{Packet, SeqRange, Tcp};

/// Its declaration.
pub const INFO: Info = Info {
    id: "rtt-correct",
    summary: "time spent in link recovery is taken out of the RTT that the controller sees, not out of the timer's",
    source: "DSDK14 section 5",
    params: &[
        Param {
            key: "scope",
            kind: Kind::Choice(&["queue", "own"]),
            default: Value::Choice("queue"),
            doc: "whose recovery: that of all packets at this node while the segment waited and was sent, or the segment's own",
        },
        Param {
            key: "corrects",
            kind: Kind::Choice(&["controller", "both"]),
            default: Value::Choice("controller"),
            doc: "who gets the corrected RTT: the congestion control, or the retransmission timer too (what the paper warns of)",
        },
        Param {
            key: "floor",
            kind: Kind::Choice(&["least", "none"]),
            default: Value::Choice("least"),
            doc: "what no corrected RTT lies below: the least RTT measured on the connection, or nothing",
        },
    ],
};

/// Recovery that ended so long ago is in no RTT any more.
const HORIZON: Dur = Dur::from_secs(64);

/// At a node with a radio and an end of flows.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !(site.node.starts_flows || site.node.ends_flows) {
        return Ok(());
    }
    let memory = Rc::new(RefCell::new(Memory::default()));
    let (of_queue, timer_too) = (params.choice("scope") == "queue", params.choice("corrects") == "both");
    // A nanosecond is left of an RTT that is all recovery.
    let least = [if params.choice("floor") == "least" { Dur::MAX } else { Dur::from_ns(1) }; 2];
    site.reads_tcp();
    let address = site.node.address;
    site.agent(Watch { address, memory: Rc::clone(&memory) }).reports().attempts();
    site.hook_sender(move |flow| {
        let memory = Rc::clone(&memory);
        Some(Box::new(Correct { flow, of_queue, timer_too, least, told: Vec::new(), memory }))
    });
    Ok(())
}

/// The time that an MSDU was in link recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: SimTime,
    until: SimTime,
}

impl Span {
    /// The part of it within these times.
    fn within(self, from: SimTime, until: SimTime) -> Dur {
        self.until.min(until).since(self.from.max(from))
    }
}

/// A segment of this host with which the MAC is done.
#[derive(Debug, Clone, Copy)]
struct Done {
    range: SeqRange,
    at: SimTime,
    recovery: Option<Span>,
}

/// The MAC's reports, for the hooks.
#[derive(Debug, Default)]
struct Memory {
    /// The MSDUs in recovery, by serial, with the time it began.
    open: BTreeMap<u64, SimTime>,
    /// The times at which this node's radio was in recovery, in order and without overlap.
    spans: VecDeque<Span>,
    /// The segments of each flow that were not acknowledged when the flow was last heard of.
    done: BTreeMap<FlowId, VecDeque<Done>>,
    segments_recovered: u64,
    samples_corrected: u64,
}

impl Memory {
    /// Notes that a recovery is over. Under EDCA those of several categories overlap.
    fn recovered(&mut self, mut span: Span) {
        while let Some(last) = self.spans.back().copied().filter(|last| span.from <= last.until) {
            span = Span { from: span.from.min(last.from), until: span.until.max(last.until) };
            self.spans.pop_back();
        }
        self.spans.push_back(span);
        while self.spans.front().is_some_and(|first| first.until + HORIZON < span.until) {
            self.spans.pop_front();
        }
    }

    /// The time in recovery within these times.
    fn recovery(&self, from: SimTime, until: SimTime) -> Dur {
        let recent = self.spans.iter().rev().take_while(|span| from < span.until);
        recent.fold(Dur::ZERO, |sum, span| sum + span.within(from, until))
    }
}

/// Listens to the MAC.
#[derive(Debug)]
struct Watch {
    address: Ipv4Addr,
    memory: Rc<RefCell<Memory>>,
}

impl Agent for Watch {
    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        let mut memory = self.memory.borrow_mut();
        if report.fate == Fate::Attempt {
            memory.open.entry(report.serial).or_insert(report.done);
            return;
        }
        let recovery = memory.open.remove(&report.serial).map(|from| Span { from, until: report.done });
        if let Some(span) = recovery {
            memory.recovered(span);
        }
        if let (Some(range), true) = (packet.tcp_range(), packet.ip.src == self.address)
            && packet.tcp_data().is_some()
        {
            memory.segments_recovered += u64::from(recovery.is_some());
            memory.done.entry(packet.flow).or_default().push_back(Done { range, at: report.done, recovery });
        }
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        let done = &mut self.memory.borrow_mut().done;
        for way in [flow, flow.reverse()] {
            done.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let memory = self.memory.borrow();
        out("segments_recovered", memory.segments_recovered);
        out("samples_corrected", memory.samples_corrected);
    }
}

/// A sender's hook: corrects its RTT samples.
#[derive(Debug)]
struct Correct {
    flow: FlowId,
    of_queue: bool,
    timer_too: bool,
    /// The floor of a corrected RTT: the least measured so far, or 1 ns for none. The controller's and the timer's, which
    /// a timestamp's tick makes coarser.
    least: [Dur; 2],
    /// The segments that the ACK at hand newly reports.
    told: Vec<Done>,
    memory: Rc<RefCell<Memory>>,
}

impl Correct {
    /// T_ARQ within an RTT that ends `now`.
    fn recovery(&self, now: SimTime, rtt: Dur) -> Dur {
        let from = SimTime::from_ns((now - SimTime::ZERO).saturating_sub(rtt).ns());
        if self.of_queue {
            let delivered = self.told.iter().map(|done| done.at).max();
            return delivered.map_or(Dur::ZERO, |until| self.memory.borrow().recovery(from, until));
        }
        // Of one flow the MSDUs in recovery follow each other, unless its classifier spreads them over categories.
        let own = self.told.iter().filter_map(|done| done.recovery).map(|span| span.within(from, now));
        own.fold(Dur::ZERO, |sum, recovery| sum + recovery).min(rtt)
    }
}

impl SenderHook for Correct {
    fn on_segment(&mut self, tcp: &Tcp, facts: &FlowFacts) {
        self.told.clear();
        let mut memory = self.memory.borrow_mut();
        let Some(done) = memory.done.get_mut(&self.flow) else { return };
        // What was never sent nobody can acknowledge. @RFC5961 sec. 5.2
        if !tcp.flags.has(wire::Flags::ACK) || facts.snd_max.lt(tcp.ack) {
            return;
        }
        while let Some(first) = done.front().copied().filter(|first| first.range.end.le(tcp.ack)) {
            self.told.push(first);
            done.pop_front();
        }
        let Some(block) = tcp.options.sack_blocks().next() else { return };
        done.retain(|segment| {
            let SeqRange { start, end } = segment.range;
            let is_told = end.le(tcp.ack) || block.start.le(start) && end.le(block.end);
            if is_told {
                self.told.push(*segment);
            }
            !is_told
        });
    }

    fn rtt_sample(&mut self, sample: RttSample, _: &FlowFacts) -> RttSample {
        for (least, rtt) in self.least.iter_mut().zip([sample.controller, sample.timer]) {
            *least = rtt.map_or(*least, |rtt| rtt.min(*least));
        }
        let correct = |rtt: Dur, floor: Dur| rtt.saturating_sub(self.recovery(sample.now, rtt)).max(floor).min(rtt);
        let controller = sample.controller.map(|rtt| correct(rtt, self.least[0]));
        let timer = sample.timer.map(|rtt| if self.timer_too { correct(rtt, self.least[1]) } else { rtt });
        self.memory.borrow_mut().samples_corrected += u64::from(controller != sample.controller);
        RttSample { timer, controller, ..sample }
    }

    fn on_ack(&mut self, ack: &Ack, _: &FlowFacts) {
        // A scheme's ACK has no header.
        if ack.local
            && let Some(done) = self.memory.borrow_mut().done.get_mut(&self.flow)
        {
            done.retain(|segment| ack.number.lt(segment.range.end));
        }
    }
}
