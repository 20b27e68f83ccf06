//! TCP-aware dynamic ARQ: what failed waits in one of three queues by attempts, each in the order of TCP's timeout.
//!
//! - **Source** @MFHA07 section III: equations 1 and 2, algorithm 1.
//! - **Realism** RTT is seen passively, from timestamps that pass in both directions; without them no packet is urgent.
//! - **Departs** (a) fresh MSDUs stand in Q1 beside those that failed once, since neither has been *re*transmitted; (b)
//!   what has no estimate (no TCP, no timestamps) counts as RTO 1 s, @RFC6298; (c) whole MSDUs, no fragments; CW is the
//!   MAC's affair.
//! - **Checked** tests below.

use mac::{Around, Msdu, Next, RaTid, TxQueue, Wrap};
use queue::{Limit, Space};
use schemes::{Agent, Cx, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{Bytes, Dur, FlowId, SimTime};
use wire::{Packets, Pkt};

pub static INFO: Info = Info {
    id: "tcp-aware-arq",
    summary: "retransmissions in the order of attempts and of TCP's timeout",
    source: "MFHA07",
    params: &[Param {
        key: "rto",
        kind: Kind::Choice(&["timer", "left"]),
        default: Value::Choice("left"),
        doc: "RTO as the timer's value, or as what is left of it since the packet was queued.",
    }],
};

/// Transmissions in all: one, and three retransmissions.
const TRANSMISSIONS: u8 = 4;
const UNKNOWN_RTO: Dur = Dur::from_secs(1);

pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.has_air && site.node.forwards {
        let (clocks, counts_down) = (Clocks::default(), params.choice("rto") == "left");
        let (limit, mtu) = (site.node.queue, site.node.mtu);
        site.reads_tcp();
        site.agent(Arq { clocks: Rc::clone(&clocks) }).listen([Place::Transit]);
        site.wrap_queue(move |inner| {
            let clocks = Rc::clone(&clocks);
            let own = Queues { clocks, counts_down, limit, mtu, used: Bytes::ZERO, queues: Default::default() };
            Box::new(Around::new(inner, own))
        });
    }
    Ok(())
}

/// What one connection's timestamps have told. A passing packet's TSval comes back as TSecr after the half of the round
/// trip that lies on that side of this node.
#[derive(Debug, Default)]
struct Clock {
    /// TSvals not yet echoed, with the instant each was first seen; by direction.
    waiting: [VecDeque<(u32, SimTime)>; 2],
    halves: [Option<Dur>; 2],
    rtt: Option<(Dur, Dur)>,
}

impl Clock {
    fn passes(&mut self, now: SimTime, flow: FlowId, (tsval, tsecr): (u32, u32)) {
        let (here, there) = ((flow.0 % 2) as usize, (flow.reverse().0 % 2) as usize);
        if self.waiting[here].back().is_none_or(|(last, _)| *last != tsval) {
            self.waiting[here].push_back((tsval, now));
        }
        let Some(echoed) = self.waiting[there].iter().position(|(waiting, _)| *waiting == tsecr) else { return };
        let Some((_, seen)) = self.waiting[there].drain(..=echoed).next_back() else { return };
        self.halves[there] = Some(now - seen);
        if let [Some(one), Some(other)] = self.halves {
            self.sample(one + other);
        }
    }

    /// Jacobson's filter: mean and deviation.
    fn sample(&mut self, sample: Dur) {
        self.rtt = Some(self.rtt.map_or((sample, sample / 2), |(rtt, dev)| {
            let off = sample.max(rtt) - sample.min(rtt);
            ((rtt * 7 + sample) / 8, (dev * 3 + off) / 4)
        }));
    }

    /// RTO = RTT + 4 D. @MFHA07 eq. 2
    fn rto(&self) -> Option<Dur> {
        self.rtt.map(|(rtt, dev)| rtt + dev * 4)
    }
}

type Clocks = Rc<RefCell<BTreeMap<usize, Clock>>>;

#[derive(Debug)]
struct Arq {
    clocks: Clocks,
}

impl Agent for Arq {
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        if let Some(stamps) = packet.tcp().and_then(|tcp| tcp.options.timestamps()) {
            let mut clocks = self.clocks.borrow_mut();
            clocks.entry(packet.flow.connection()).or_default().passes(cx.now, packet.flow, stamps);
        }
        Some(pkt)
    }
}

/// Around what stood there: that admits, drops what expires and keeps its own order until something is to be sent.
#[derive(Debug)]
struct Queues {
    clocks: Clocks,
    counts_down: bool,
    limit: Limit,
    mtu: Bytes,
    /// By what was taken out of it, or came back.
    used: Bytes,
    /// Q1, Q2, Q3: retransmitted never, once, twice. Ordered by RTO, then age, when one is taken: the RTO moves.
    queues: [Vec<Msdu>; 3],
}

impl Queues {
    /// RTO in the chosen reading, and whether it is under twice the RTT.
    fn rto(&self, now: SimTime, msdu: &Msdu, all: &Packets) -> (Dur, bool) {
        let clocks = self.clocks.borrow();
        let clock = clocks.get(&all.get(&msdu.pkt).flow.connection());
        let timer = clock.and_then(Clock::rto).unwrap_or(UNKNOWN_RTO);
        let rto = if self.counts_down { timer.saturating_sub(now - msdu.enqueued) } else { timer };
        (rto, clock.and_then(|c| c.rtt).is_some_and(|(rtt, _)| rto < rtt * 2))
    }

    /// The head of one queue: its place, RTO and urgency.
    fn head(&self, now: SimTime, queue: &[Msdu], all: &Packets) -> Option<(usize, Dur, bool)> {
        let weighed = queue.iter().enumerate().map(|(at, msdu)| (at, self.rto(now, msdu, all)));
        weighed.min_by_key(|(at, (rto, _))| (*rto, queue[*at].enqueued)).map(|(at, (rto, urgent))| (at, rto, urgent))
    }
}

impl Wrap for Queues {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        // What waits here takes room of the inner queue's.
        let (space, size) = (self.space(inner), all.get(&msdu.pkt).ip_len());
        let fits = match self.limit {
            Limit::Packets(most) => space.entries < most,
            Limit::Bytes(most) => space.used + size <= most,
        };
        if fits { inner.push(now, msdu, all) } else { Err(msdu) }
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        while let Some(msdu) = inner.pop(now, all) {
            self.used += all.get(&msdu.pkt).ip_len();
            self.queues[0].push(msdu);
        }
        let heads =
            [0, 1, 2].map(|q| self.head(now, &self.queues[q], all).map(|(at, rto, urgent)| (q, at, rto, urgent)));
        let urgent = heads.iter().flatten().filter(|(.., urgent)| *urgent).min_by_key(|(_, _, rto, _)| *rto);
        let &(q, at, ..) = urgent.or(heads.iter().flatten().next())?;
        let msdu = self.queues[q].remove(at);
        self.used -= all.get(&msdu.pkt).ip_len();
        Some(msdu)
    }

    /// The algorithm's own number of transmissions, whatever the MAC's limit.
    fn failed(&mut self, _: &mut dyn TxQueue, _: SimTime, msdu: Msdu, _is_last: bool, all: &Packets) -> Next {
        if msdu.attempts >= TRANSMISSIONS {
            return Next::GiveUp(msdu);
        }
        self.used += all.get(&msdu.pkt).ip_len(); // may pass the limit: it was admitted once
        self.queues[usize::from(msdu.attempts.saturating_sub(1))].push(msdu);
        Next::Yield
    }

    /// In its own order alone: no PSDU of several.
    fn peek<'q>(&'q mut self, _: &'q mut dyn TxQueue, _: SimTime, _: RaTid, _: &mut Packets) -> Option<&'q Msdu> {
        None
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        let (inner, own) = (inner.space(), self.queues.iter().map(Vec::len).sum::<usize>() as u32);
        let free = match self.limit {
            Limit::Packets(most) => self.mtu * u64::from(most.saturating_sub(inner.entries + own)),
            Limit::Bytes(most) => most.saturating_sub(inner.used + self.used),
        };
        Space { free, used: inner.used + self.used, entries: inner.entries + own }
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.used = Bytes::ZERO;
        let mut all: Vec<Msdu> = self.queues.iter_mut().flat_map(|q| q.drain(..)).collect();
        all.extend(inner.drain(now));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemes::NodeFacts;
    use schemes::testing::{Bench, Ground, THERE, data, with};
    use wire::{DropWhy, Packet};

    const FAST: FlowId = FlowId::forward(0);
    const SLOW: FlowId = FlowId::forward(1);

    /// A queue and the agent that feeds it, driven as a MAC would.
    struct Ap {
        bench: Bench,
        queue: Box<dyn TxQueue>,
        packets: Packets,
    }

    /// The buffer of section IV: 32 kB.
    const BUFFER: Limit = Limit::Bytes(Bytes(32_000));

    fn ap(rto: &'static str, limit: Limit) -> Ap {
        let mut ground = Ground::new(NodeFacts { queue: limit, ..crate::five::access_point() });
        assert!(ground.install(&with(&INFO, install, &[("rto", Value::Choice(rto))])).unwrap());
        let queue = ground.queue();
        Ap { bench: Bench::new(ground.stack), queue, packets: Packets::default() }
    }

    fn stamped(flow: FlowId, tsval: u32, tsecr: u32) -> Packet {
        let mut packet = data(flow, 1..1001);
        assert!(packet.tcp_mut().unwrap().options.push_timestamps(tsval, tsecr));
        packet
    }

    impl Ap {
        /// Two round trips of `wired` + `radio` pass.
        fn round_trips(&mut self, flow: FlowId, wired: Dur, radio: Dur) {
            for trip in 1..=2 {
                self.bench.pass(Place::Transit, stamped(flow, 10 * trip, 10 * trip - 9));
                self.bench.now += radio;
                self.bench.pass(Place::Transit, stamped(flow.reverse(), 10 * trip + 1, 10 * trip));
                self.bench.now += wired;
            }
        }

        /// Whether it was taken in.
        fn push(&mut self, flow: FlowId) -> bool {
            let pkt = self.packets.put(data(flow, 1..1001));
            let msdu = Msdu::new(self.bench.now, pkt, &self.packets, THERE, 0);
            self.queue.push(self.bench.now, msdu, &mut self.packets).is_ok()
        }

        fn pop(&mut self) -> Msdu {
            self.queue.pop(self.bench.now, &mut self.packets).unwrap()
        }

        fn flow(&self, msdu: &Msdu) -> FlowId {
            self.packets.get(&msdu.pkt).flow
        }

        /// Transmits what the queue pops and fails. Whose it was, and whether it was given up.
        fn fail(&mut self) -> (FlowId, bool) {
            let mut msdu = self.pop();
            msdu.attempts += 1;
            let flow = self.flow(&msdu);
            match self.queue.failed(self.bench.now, msdu, false, &self.packets) {
                Next::Yield => (flow, false),
                Next::GiveUp(msdu) => {
                    self.packets.free(msdu.pkt, DropWhy::MacDone);
                    (flow, true)
                }
                Next::Again(_) => panic!("it always yields"),
            }
        }
    }

    /// Slow: RTT 200 ms. Fast: RTT 40 ms. After two samples D is 3/8 of it, so RTO = 2.5 RTT: 500 ms and 100 ms.
    fn learned(rto: &'static str) -> Ap {
        let mut ap = ap(rto, BUFFER);
        ap.round_trips(SLOW, Dur::from_ms(180), Dur::from_ms(20));
        ap.round_trips(FAST, Dur::from_ms(30), Dur::from_ms(10));
        ap
    }

    #[test]
    fn fewer_attempts_go_first_then_the_sooner_timeout_and_four_transmissions_are_all() {
        let mut ap = learned("timer");
        assert!(ap.push(SLOW) && ap.push(FAST));
        let order: Vec<_> = (0..8).map(|_| ap.fail()).collect();
        let (q1, q2) = ([(FAST, false), (FAST, false), (SLOW, false), (SLOW, false)], [(FAST, false), (SLOW, false)]);
        assert_eq!((&order[..4], &order[4..6]), (&q1[..], &q2[..]));
        assert_eq!(order[6..], [(FAST, true), (SLOW, true)]);
        assert_eq!((ap.packets.live(), ap.queue.space().used), (0, Bytes::ZERO));
    }

    #[test]
    fn a_packet_with_less_than_two_rtt_left_jumps_ahead_of_fewer_attempts() {
        for (waited_ms, first) in [(10, SLOW), (30, FAST)] {
            let mut ap = learned("left");
            assert!(ap.push(FAST));
            (0..3).for_each(|_| assert_eq!(ap.fail(), (FAST, false))); // in Q3 now
            ap.bench.now += Dur::from_ms(waited_ms); // 90 ms left, or 70: 2 RTT are 80 ms
            assert!(ap.push(SLOW));
            let next = ap.pop();
            assert_eq!(ap.flow(&next), first);
        }
    }

    #[test]
    fn what_exceeds_the_interfaces_limit_is_refused_and_what_was_admitted_returns() {
        // 30 x 1040 B = 31.2 kB of 32 kB
        for (limit, free) in [(BUFFER, Bytes(800)), (Limit::Packets(30), Bytes::ZERO)] {
            let mut ap = ap("left", limit);
            assert!((0..30).all(|_| ap.push(FAST)));
            assert_eq!(ap.queue.space(), Space { free, used: Bytes(31_200), entries: 30 });
            assert!(!ap.push(SLOW));
            assert_eq!(ap.fail(), (FAST, false));
            assert_eq!((ap.queue.space().entries, ap.queue.drain(ap.bench.now).len()), (30, 30));
        }
    }
}
