//! TCP-aware dynamic ARQ: an access point repeats in the order of TCP's retransmission timers.
//!
//! - **Source** @MFHA07: Mahmoodi, Friderikos, Holland & Aghvami, "Cross-Layer Design to Improve Wireless TCP Performance with Link-Layer
//!   Adaptation", IEEE VTC Fall 2007, section III, algorithm 1. Passive RTTs: timestamps as @VLL05; self-clocking as the thesis of
//!   Jaiswal (its reference 17) tells it, which was not at hand.
//! - **Realism** no oracle: IP and TCP headers that pass, the MAC's failures. Fails if TCP headers are encrypted.
//! - **Departs**
//!   (a) RTO is read as the value of the timer, as equation 2 is printed (`rto = "value"`), or as the time that is left of it since the packet
//!   came to this node (`"left"`); the sender's timer began a little earlier, which nobody here can see.
//!   (b) As printed RTO = RTT + 4 D has no minimum, which every TCP has (`min_rto`). With one of a second the 2 RTT rule of "value" never fires.
//!   (c) n counts reattempts: what has failed once waits in Q1, and after the third reattempt it is given up: four transmissions. Algorithm 1
//!   drops at a weight of 30000, the text "after the third retransmission attempt"; both hold if n is counted so.
//!   (d) The text orders retransmissions ("Retransmission starts from Q1 and is followed by Q2, and then Q3") and does not say where packets
//!   stand that were never sent: `fresh`. In Q1 by their RTO (`"beside"`: "Every non-ACK packet is categorized in a priority queue", and n is
//!   0); before all that is repeated (`"first"`: by "the number of transmission attempts" they are alone in Q1); behind Q1 (`"behind"`) or Q2
//!   (`"behind-q2"`), where "the same packet will not be retransmitted continuously"; or behind all of it (`"last"`: steps 8 to 10 repeat
//!   what the queues hold before anything else is sent).
//!   (e) The 2 RTT rule tests Q2 and Q3 (text) or Q1 too (algorithm 1): `urgent`. Of several urgent heads that with the least RTO goes.
//!   (f) Q1, then Q2, then Q3, each until it is empty (`service = "strict"`), or one of each in turn (`"round"`): line 10 can be read as both.
//!   (g) What is no data of TCP stays outside the queues, in its place among fresh data, and takes turns with Q1 where those stand in that.
//!   (h) "Avoids wasted retransmissions after the timer has expired" is claimed and no step of the algorithm: `drop_expired`.
//!   (i) A weight is computed when a packet enters a queue. Before the first sample RTO is @RFC6298's second.
//!   (j) Self-clocking takes the first new data behind an ACK for what that set free. Its reference keeps a replica of the sender's window, which
//!   tells what was on the wire already; without it the estimate is short by up to the wire's round trip.
//! - **Checked** `tests/all/tcp_aware_arq.rs`; `every_scheme`; `world/tests/all/tcp_aware_arq.rs`.

mod estimate;
mod queues;

use crate::{Agent, Cx, Info, Key, Kind, Param, Params, Place, Refusal, Site, Value};
use mac::Around;
use estimate::{Estimates, How};
use queues::{Ordered, Rules};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Dur, FlowId, SimTime};
use wire::Pkt;

/// Its declaration.
pub const INFO: Info = Info {
    id: "tcp-aware-arq",
    summary: "the access point repeats what it has for stations in the order of TCP's timers",
    source: "MFHA07",
    params: PARAMS,
};

const PARAMS: &[Param] = &[
    Param {
        key: "rtt",
        kind: Kind::Choice(&["timestamps", "self-clocking"]),
        default: Value::Choice("timestamps"),
        doc: "how round trips are measured: by echoes of timestamps, or by the data that an ACK sets free",
    },
    Param {
        key: "rto",
        kind: Kind::Choice(&["value", "left"]),
        default: Value::Choice("value"),
        doc: "RTO is the timer's value, or what is left of it since the packet came here",
    },
    Param {
        key: "min_rto",
        kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(60) },
        default: Value::Time(Dur::ZERO),
        doc: "least RTO; the paper has none",
    },
    Param {
        key: "retransmissions",
        kind: Kind::Int { min: 1, max: 100 },
        default: Value::Int(3),
        doc: "reattempts after which a packet is given up",
    },
    Param {
        key: "unit",
        kind: Kind::Choice(&["fragment", "msdu"]),
        default: Value::Choice("fragment"),
        doc: "whose reattempts are counted, where MSDUs go in fragments",
    },
    Param {
        key: "fresh",
        kind: Kind::Choice(&["beside", "first", "behind", "behind-q2", "last"]),
        default: Value::Choice("behind"),
        doc: "where data stand that were never sent: in Q1 by their RTO, before it, behind it, behind Q2, or behind all three",
    },
    Param {
        key: "urgent",
        kind: Kind::Choice(&["retried", "all", "none"]),
        default: Value::Choice("retried"),
        doc: "which queues' heads go first if their RTO is below 2 RTT: Q2 and Q3 (text), all (algorithm 1), or none",
    },
    Param {
        key: "service",
        kind: Kind::Choice(&["strict", "round"]),
        default: Value::Choice("strict"),
        doc: "each queue until it is empty, or one packet of each in turn",
    },
    Param {
        key: "drop_expired",
        kind: Kind::Bool,
        default: Value::Bool(false),
        doc: "whether data is dropped whose RTO has passed since it came",
    },
    Param {
        key: "cw",
        kind: Kind::Choice(&["station", "frame"]),
        default: Value::Choice("station"),
        doc: "whether the contention window stays doubled for whatever is sent next, or follows the failures of that",
    },
    Param {
        key: "idle",
        kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1_000_000) },
        default: Value::Time(Dur::from_secs(60)), // our choice
        doc: "after how long without a packet a connection is forgotten",
    },
];

/// At nodes that forward by radio. See [`crate::Install`].
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !site.node.forwards {
        return Ok(());
    }
    site.excludes_block_ack("it repeats in an order of its own, which a reorder buffer would undo");
    site.reads_tcp();
    if params.choice("cw") == "frame" {
        site.radio().mac.cw_by_frame = true;
    }
    let how = if params.choice("rtt") == "timestamps" { How::Timestamps } else { How::SelfClocking };
    let estimates = Rc::new(RefCell::new(Estimates::new(how, params.time("min_rto"))));
    let rules = Rules {
        is_left: params.choice("rto") == "left",
        reattempts: params.int("retransmissions") as u32,
        by_fragment: params.choice("unit") == "fragment",
        fresh_beside: params.choice("fresh") == "beside",
        order: queues::order(params.choice("fresh")),
        urgent_from: match params.choice("urgent") {
            "all" => 0,
            "retried" => 1,
            _ => queues::QUEUES,
        },
        in_turn: params.choice("service") == "round",
        drops_expired: params.bool("drop_expired"),
    };
    let (limit, mtu) = (site.node.queue, site.node.mtu);
    let counted = Rc::new(RefCell::new(queues::Counted::default()));
    let (of_queue, told) = (Rc::clone(&estimates), Rc::clone(&counted));
    site.wrap_queue(move |inner| {
        let own = Ordered::new(rules, (limit, mtu), Rc::clone(&of_queue), Rc::clone(&told));
        Box::new(Around::new(inner, own))
    });
    let agent = Watcher { estimates, counted, idle: params.time("idle"), sweeps: false };
    site.agent(agent).listen([Place::ToAir, Place::FromAir]);
    Ok(())
}

/// Watches packets pass and keeps what they tell of round trips.
#[derive(Debug)]
struct Watcher {
    estimates: Rc<RefCell<Estimates>>,
    counted: Rc<RefCell<queues::Counted>>,
    idle: Dur,
    /// The timer runs that forgets idle connections.
    sweeps: bool,
}

const SWEEP: Key = Key(0);

impl Agent for Watcher {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        if packet.tcp().is_some() {
            self.estimates.borrow_mut().saw(cx.now, packet, at == Place::ToAir);
            if !self.sweeps {
                self.sweeps = true;
                cx.timer(SWEEP, cx.now + self.idle);
            }
        }
        Some(pkt)
    }

    fn timer(&mut self, _: Key, cx: &mut Cx) {
        self.sweeps = self.estimates.borrow_mut().forget_before(cx.now - self.idle);
        let next = if self.sweeps { cx.now + self.idle } else { SimTime::NEVER };
        cx.timer(SWEEP, next);
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        self.estimates.borrow_mut().forget(flow);
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let estimates = self.estimates.borrow();
        out("rtt_samples", estimates.samples);
        out("rtt_sum_us", estimates.sum_us);
        out("connections_known", estimates.known());
        let queues::Counted { reordered, urgent, expired } = *self.counted.borrow();
        out("reattempts_out_of_order", reordered);
        out("urgent_first", urgent);
        out("expired", expired);
    }
}
