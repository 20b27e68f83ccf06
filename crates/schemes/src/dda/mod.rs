//! DDA, delayed duplicate ACKs: a receiver holds its third and later duplicates for a while, in which the link repairs the loss.
//!
//! - **Source** @VM02: Vaidya & Mehta, "Delayed Duplicate Acknowledgments: A TCP-Unaware Approach to Improve Performance of TCP over
//!   Wireless", 2002; as @KLI06 section 2.4.1 and @DSDK14 section 2.2.2 tell it. The paper itself was not at hand.
//! - **Realism** no oracle. The base station reads no header of TCP, so it works where those are encrypted; the receiver reads its own.
//! - **Departs**
//!   (a) The paper's base station has link ACKs of its own with numbers of their own. Here these are 802.11's. What the MAC has given up on
//!   is put aside for `pause` and sent again with as many attempts, `rounds` times in all, while others overtake it: nothing is
//!   delivered in order. `rounds = 0` leaves the MAC as it is.
//!   (b) All packets of a base station are repeated so, of whatever protocol: it cannot tell.
//!   (c) When `d` is over, the duplicates held are released, and later ones of the same number pass at once: the sender repeats by then.
//!   (d) A duplicate is a pure ACK with number and window of the one before it (@RFC5681 sec. 2, as far as its sender can tell).
//! - **Bound** Data towards stations. SACK blocks of the first two duplicates, and RACK, tell a sender of the hole at once:
//!   holding the third back then saves nothing. Losses by congestion are repaired later by `d`.
//! - **Checked** `tests/all/dda.rs`; `every_scheme`; `world/tests/all/dda.rs`; figures in docs/schemes/dda.md.

mod link;

use crate::{Agent, Cx, Info, Key, Kind, Param, Params, Place, Refusal, Site, Toward, Value};
use mac::Around;
use std::collections::{BTreeMap, VecDeque};
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Pkt, Seq};

/// Its declaration.
pub const INFO: Info = Info {
    id: "dda",
    summary: "receivers hold third and later duplicate ACKs back while the base station repeats what its MAC gave up on",
    source: "VM02, in KLI06 and DSDK14",
    params: &[
        Param {
            key: "d",
            kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(100) },
            default: Value::Time(Dur::from_ms(100)),
            doc: "how long duplicates are held; zero: not at all",
        },
        Param {
            key: "rounds",
            kind: Kind::Int { min: 0, max: 100 },
            default: Value::Int(4),
            doc: "how often a base station sends again, with as many attempts, what its MAC has given up on",
        },
        Param {
            key: "pause",
            kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(10) },
            default: Value::Time(Dur::from_ms(10)),
            doc: "how long such a packet stands aside before",
        },
    ],
};

/// The link at a node with a radio that forwards; the receiver's half at other nodes with a radio and an end of flows.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let (d, rounds, pause) = (params.time("d"), params.int("rounds") as u32, params.time("pause"));
    if site.node.forwards {
        if rounds > 0 {
            site.excludes_block_ack("what it repeats later is overtaken by others, which a reorder buffer would hold back");
        }
        let (limit, mtu) = (site.node.queue, site.node.mtu);
        let attempts = [site.mac().max_attempts, site.mac().max_attempts_long];
        let how = link::Rounds { rounds, pause, attempts };
        site.wrap_queue(move |inner| Box::new(Around::new(inner, link::Aside::new(how, limit, mtu))));
    } else if site.node.starts_flows || site.node.ends_flows {
        site.reads_tcp();
        let seat = site.agent(Receiver { d, flows: BTreeMap::new(), held: 0, dropped: 0, released: 0 });
        seat.listen([Place::FromHost]).makes_packets();
    }
    Ok(())
}

/// The ACKs of one direction.
#[derive(Debug)]
struct Acks {
    number: Seq,
    window: u16,
    /// The number of ACKs that repeated it.
    duplicates: u32,
    /// Those held back, the oldest first.
    held: VecDeque<Pkt>,
    /// On their way to this neighbour.
    peer: Option<NodeId>,
    /// The time of this number is over.
    is_late: bool,
}

/// The agent of a receiver.
#[derive(Debug)]
struct Receiver {
    d: Dur,
    /// By the flow that the ACKs travel on.
    flows: BTreeMap<FlowId, Acks>,
    held: u64,
    dropped: u64,
    released: u64,
}

impl Agent for Receiver {
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (flow, is_pure) = (packet.flow, packet.pure_ack().is_some());
        let Some(tcp) = packet.tcp().filter(|tcp| tcp.flags.has(wire::Flags::ACK)) else { return Some(pkt) };
        let (number, window) = (tcp.ack, tcp.window);
        let Some(acks) = self.flows.get_mut(&flow) else {
            let (held, peer) = (VecDeque::new(), None);
            self.flows.insert(flow, Acks { number, window, duplicates: 0, held, peer, is_late: false });
            return Some(pkt);
        };
        if acks.number == number {
            if !is_pure || acks.window != window {
                acks.window = window; // data, or an update of the window
                return Some(pkt);
            }
            acks.duplicates += 1;
            if acks.duplicates < 3 || acks.is_late || self.d == Dur::ZERO {
                return Some(pkt);
            }
            if acks.held.is_empty() {
                cx.timer(Key(u64::from(flow.0)), cx.now + self.d);
            }
            acks.peer = cx.peer;
            acks.held.push_back(pkt);
            self.held += 1;
            return None;
        }
        // The gap, or a part of it, has filled: what was held says nothing any more.
        let held = std::mem::take(&mut acks.held);
        (acks.number, acks.window, acks.duplicates, acks.is_late) = (number, window, 0, false);
        if !held.is_empty() {
            cx.timer(Key(u64::from(flow.0)), SimTime::NEVER);
        }
        for duplicate in held {
            self.dropped += 1;
            cx.drop(duplicate, DropWhy::Suppressed);
        }
        Some(pkt)
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let Some(acks) = self.flows.get_mut(&FlowId(key.0 as u32)) else { return };
        acks.is_late = true;
        for duplicate in std::mem::take(&mut acks.held) {
            self.released += 1;
            cx.inject(duplicate, Toward::Onward(Place::FromHost, acks.peer));
        }
    }

    fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        for way in [flow, flow.reverse()] {
            for duplicate in self.flows.remove(&way).map(|acks| acks.held).unwrap_or_default() {
                self.dropped += 1;
                cx.drop(duplicate, DropWhy::Suppressed);
            }
            cx.timer(Key(u64::from(way.0)), SimTime::NEVER);
        }
    }

    fn release(&mut self, cx: &mut Cx) {
        for acks in self.flows.values_mut() {
            for duplicate in std::mem::take(&mut acks.held) {
                cx.drop(duplicate, DropWhy::NodeDown);
            }
        }
    }

    fn held(&self) -> u64 {
        self.flows.values().map(|acks| acks.held.len() as u64).sum()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("duplicates_held", self.held);
        out("duplicates_dropped", self.dropped);
        out("duplicates_released", self.released);
    }
}
