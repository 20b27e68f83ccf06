//! Snoop: the base station keeps copies of what the mobile has not acknowledged and repeats them over the radio itself.
//!
//! - **Source** seed 000, section 2.3 (Balakrishnan et al. 1995); data towards the mobile only.
//! - **Realism** no oracle; reads TCP headers and keeps packets of others.
//! - **Departs** duplicates are all absorbed while a local repetition is under way, not counted against those expected.
//! - **Checked** tests below.

use mac::Fate;
use schemes::{Agent, Cx, Info, Key, Kind, Param, Params, PeerEvent, Place, Port, Signal, Site, Toward, Value};
use std::collections::{BTreeMap, VecDeque};
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Pkt, Seq, SeqRange, Tcp};

pub const INFO: Info = Info {
    id: "snoop",
    summary: "local retransmission at the base station, duplicate ACKs absorbed",
    source: "seed 000 section 2.3",
    sits: &[Place::ToAir, Place::FromAir],
    reads: &[Signal::TcpHeader],
    turns: &[Port::Packets],
    params: &[
        Param {
            key: "cached_segments",
            kind: Kind::Int { min: 1, max: 4096 },
            default: Value::Int(64),
            doc: "Segments kept of a flow at most; what finds no room is not recovered locally.",
        },
        Param {
            key: "min_timeout",
            kind: Kind::Time,
            default: Value::Time(Dur::from_ms(50)),
            doc: "The local timer's least value; otherwise it is twice the smoothed RTT of the radio side.",
        },
    ],
};

pub fn build(site: &Site, params: &Params) -> Option<Box<dyn Agent>> {
    let (limit, min_timeout) = (params.int("cached_segments") as usize, params.time("min_timeout"));
    let snoop = Snoop { flows: BTreeMap::new(), limit, min_timeout, repeats: 0 };
    (site.has_air && site.forwards).then(|| Box::new(snoop) as Box<dyn Agent>)
}

#[derive(Debug)]
struct Copy {
    range: SeqRange,
    pkt: Pkt,
    sent: SimTime,
    /// Repeated here: measures no RTT, and its duplicates are ours to absorb.
    is_repeated: bool,
    /// Sent again by the source: it knows of the loss, and its duplicates pass.
    is_known_lost: bool,
}

#[derive(Debug)]
struct Flow {
    copies: VecDeque<Copy>,
    mobile: NodeId,
    /// Number and window of the last ACK.
    last: Option<(Seq, u16)>,
    srtt: Option<Dur>,
}

#[derive(Debug)]
struct Snoop {
    flows: BTreeMap<FlowId, Flow>,
    limit: usize,
    min_timeout: Dur,
    repeats: u64,
}

impl Snoop {
    /// Twice the radio side's RTT, not below the least.
    fn set_timer(&self, flow: FlowId, cx: &mut Cx) {
        let Some(f) = self.flows.get(&flow) else { return };
        let timeout = f.srtt.map_or(self.min_timeout, |srtt| (srtt * 2).max(self.min_timeout));
        let oldest = f.copies.front().map_or(SimTime::NEVER, |_| cx.now + timeout);
        cx.timer(Key(u64::from(flow.0)), oldest);
    }

    fn keep(&mut self, pkt: &Pkt, cx: &mut Cx) {
        let packet = cx.get(pkt);
        let (flow, now, Some(mobile)) = (packet.flow, cx.now, cx.peer) else { return };
        let (Some(_), Some(range)) = (packet.tcp_data(), packet.tcp_range()) else { return };
        let new = || Flow { copies: VecDeque::new(), mobile, last: None, srtt: None };
        let f = self.flows.entry(flow).or_insert_with(new);
        f.mobile = mobile;
        if let Some(known) = f.copies.iter_mut().find(|copy| copy.range.start == range.start) {
            known.is_known_lost = true;
        } else if f.copies.len() < self.limit {
            let pkt = cx.copy(pkt);
            let at = f.copies.iter().take_while(|copy| copy.range.start.lt(range.start)).count();
            f.copies.insert(at, Copy { range, pkt, sent: now, is_repeated: false, is_known_lost: false });
        }
        if f.copies.len() == 1 {
            self.set_timer(flow, cx);
        }
    }

    /// Sends the oldest copy again.
    fn repeat(&mut self, flow: FlowId, cx: &mut Cx) {
        let Some(f) = self.flows.get_mut(&flow) else { return };
        let Some(copy) = f.copies.front_mut() else { return };
        copy.is_repeated = true;
        self.repeats += 1;
        let again = cx.copy(&copy.pkt);
        cx.inject(again, Toward::Air(f.mobile));
        self.set_timer(flow, cx);
    }

    /// Whether this ACK goes on to the source.
    fn passes(&mut self, flow: FlowId, ack: &Tcp, cx: &mut Cx) -> bool {
        let Some(f) = self.flows.get_mut(&flow) else { return true };
        let is_duplicate = f.last == Some((ack.ack, ack.window));
        f.last = Some((ack.ack, ack.window));
        if is_duplicate {
            let missing = f.copies.front().filter(|copy| copy.range.start == ack.ack);
            let (is_repeated, is_ours) = missing.map_or((false, false), |c| (c.is_repeated, !c.is_known_lost));
            if is_ours && !is_repeated {
                self.repeat(flow, cx);
            }
            return !is_ours;
        }
        let acked = f.copies.iter().take_while(|copy| copy.range.end.le(ack.ack)).count();
        for copy in f.copies.drain(..acked) {
            if !copy.is_repeated && !copy.is_known_lost {
                let sample = cx.now - copy.sent;
                f.srtt = Some(f.srtt.map_or(sample, |srtt| (srtt * 7 + sample) / 8));
            }
            cx.drop(copy.pkt, DropWhy::CopyDone);
        }
        self.set_timer(flow, cx);
        true
    }

    fn forget(&mut self, of: impl Fn(&Flow) -> bool, why: DropWhy, cx: &mut Cx) {
        for f in self.flows.values_mut().filter(|f| of(f)) {
            f.copies.drain(..).for_each(|copy| cx.drop(copy.pkt, why));
        }
    }
}

impl Agent for Snoop {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        if at == Place::ToAir {
            self.keep(&pkt, cx);
            return Some(pkt);
        }
        let packet = cx.get(&pkt);
        let (flow, Some(&ack)) = (packet.flow.reverse(), packet.pure_ack()) else { return Some(pkt) };
        if self.passes(flow, &ack, cx) {
            return Some(pkt);
        }
        cx.drop(pkt, DropWhy::Suppressed);
        None
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        self.repeat(FlowId(key.0 as u32), cx);
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, cx: &mut Cx) {
        if event == PeerEvent::Down {
            self.forget(|f| f.mobile == node, DropWhy::CopyDone, cx);
        }
    }

    fn release(&mut self, cx: &mut Cx) {
        self.forget(|_| true, DropWhy::NodeDown, cx);
    }

    fn held(&self) -> u64 {
        self.flows.values().map(|f| f.copies.len() as u64).sum()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("local_retransmissions", self.repeats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemes::testing::{Bench, HERE, OUT, THERE, ack, data};

    const BACK: FlowId = OUT.reverse();

    fn bench() -> Bench {
        Bench::new(build(&crate::access_point(), &Params::defaults(INFO.params)).unwrap())
    }

    /// Four segments of 1000 bytes go to the mobile.
    fn four(bench: &mut Bench) {
        for i in 0..4 {
            bench.send(data(OUT, 1 + i * 1000..1001 + i * 1000), Fate::Delivered);
        }
    }

    #[test]
    fn one_loss_costs_one_local_repetition_and_the_source_sees_none_of_three_duplicates() {
        let mut bench = bench();
        four(&mut bench);
        assert_eq!(bench.held(), 4);
        assert!(bench.pass(Place::FromAir, ack(BACK, 1001, 5000)).is_some());
        // The second segment, 1001..2001, is lost: the third and fourth and one more bring duplicates of 1001.
        let passed = (0..3).filter_map(|_| bench.pass(Place::FromAir, ack(BACK, 1001, 5000))).count();
        assert_eq!(passed, 0, "three would have been a fast retransmit");
        let injected = bench.take_injected();
        assert_eq!(injected.len(), 1);
        assert_eq!((injected[0].0.tcp().unwrap().seq, injected[0].1), (Seq(1001), Toward::Air(THERE)));
        assert!(bench.pass(Place::FromAir, ack(BACK, 4001, 5000)).is_some());
        assert_eq!((bench.held(), bench.counter("local_retransmissions")), (0, 1));
    }

    #[test]
    fn the_local_timer_repeats_after_twice_the_radio_rtt() {
        let mut bench = bench();
        bench.send(data(OUT, 1..1001), Fate::Delivered);
        bench.now += Dur::from_ms(40);
        bench.pass(Place::FromAir, ack(BACK, 1001, 5000));
        bench.send(data(OUT, 1001..2001), Fate::Delivered);
        assert!(bench.next_timer());
        assert_eq!(bench.now, SimTime::ZERO + Dur::from_ms(40 + 80));
        assert_eq!(bench.take_injected()[0].0.tcp().unwrap().seq, Seq(1001));
    }

    #[test]
    fn duplicates_for_what_the_source_sent_again_or_was_never_kept_pass() {
        let mut bench = bench();
        four(&mut bench);
        bench.pass(Place::FromAir, ack(BACK, 1001, 5000));
        bench.send(data(OUT, 1001..2001), Fate::Delivered);
        assert!(bench.pass(Place::FromAir, ack(BACK, 1001, 5000)).is_some());
        bench.pass(Place::FromAir, ack(BACK, 4001, 5000));
        assert!(bench.pass(Place::FromAir, ack(BACK, 4001, 5000)).is_some());
        assert!(bench.take_injected().is_empty());
    }

    #[test]
    fn a_window_update_is_no_duplicate() {
        let mut bench = bench();
        four(&mut bench);
        bench.pass(Place::FromAir, ack(BACK, 1001, 0));
        assert!(bench.pass(Place::FromAir, ack(BACK, 1001, 5000)).is_some());
        assert!(bench.take_injected().is_empty());
    }

    #[test]
    fn a_mobile_that_leaves_and_a_node_that_dies_leave_no_copies_behind() {
        for (gone, kept) in [(THERE, 0), (HERE, 4)] {
            let mut bench = bench();
            four(&mut bench);
            bench.peer(gone, PeerEvent::Down);
            assert_eq!(bench.held(), kept);
            bench.release();
            assert_eq!(bench.held(), 0);
        }
    }
}
