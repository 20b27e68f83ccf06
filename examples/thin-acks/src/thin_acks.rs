//! thin-acks: of the pure ACKs that a node puts on the air, only every n-th of a flow leaves it.
//!
//! - **Source** the idea is that of ACK filtering (@RFC3449), without its look at the queue.
//! - **Realism** no oracle; the node reads TCP headers.
//! - **Departs** it counts, and does not ask whether ACKs wait in the queue.
//! - **Bound** a duplicate ACK counts like any other, so a loss is found later. A last ACK that it drops waits for the sender's timer.
//! - **Checked** `tests/python/test_outside.py`.

use schemes::{Agent, Cx, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use std::collections::BTreeMap;
use units::FlowId;
use wire::{DropWhy, Pkt};

/// Its declaration.
pub const INFO: Info = Info {
    id: "thin-acks",
    summary: "of the pure ACKs that a node puts on the air only every n-th leaves it",
    source: "RFC3449",
    params: &[Param {
        key: "n",
        kind: Kind::Int { min: 1, max: 100 },
        default: Value::Int(2),
        doc: "which ACK leaves: every n-th of a flow",
    }],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        let agent = ThinAcks { n: params.int("n") as u64, seen: BTreeMap::new(), dropped: 0 };
        site.agent(agent).listen([Place::ToAir]).makes_packets();
        site.reads_tcp();
    }
    Ok(())
}

#[derive(Debug)]
struct ThinAcks {
    n: u64,
    seen: BTreeMap<FlowId, u64>,
    dropped: u64,
}

impl Agent for ThinAcks {
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        if packet.pure_ack().is_none() {
            return Some(pkt);
        }
        let seen = self.seen.entry(packet.flow).or_default();
        *seen += 1;
        if seen.is_multiple_of(self.n) {
            return Some(pkt);
        }
        self.dropped += 1;
        cx.drop(pkt, DropWhy::Suppressed);
        None
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        self.seen.remove(&flow);
        self.seen.remove(&flow.reverse());
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("acks_seen", self.seen.values().sum());
        out("acks_dropped", self.dropped);
    }
}
