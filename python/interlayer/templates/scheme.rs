//! my-scheme: counts the TCP data segments that a node puts on the air, and drops every n-th if asked to.
//!
//! - **Source** none yet: the paper, by its key in `docs/references.bib`.
//! - **Realism** no oracle; a node reads TCP headers.
//! - **Departs** CHANGE: where it differs from its source. "None" is a claim and needs a test.
//! - **Bound** CHANGE: what it cannot do.
//! - **Checked** its test.

// It works as it stands. What to change is marked CHANGE; docs/design/contract.md has everything that a scheme may ask for.
use crate::{Agent, Cx, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use wire::{DropWhy, Pkt};

/// Its declaration.
pub const INFO: Info = Info {
    id: "my-scheme",
    // CHANGE: one line for `interlayer list schemes`.
    summary: "counts the data segments that a node puts on the air, and drops every n-th if asked to",
    // CHANGE: the key of the paper in docs/references.bib.
    source: "none",
    // CHANGE: its keys in a scenario. A key has a range and a default; the reader of scenarios checks both.
    params: &[Param {
        key: "drop_every",
        kind: Kind::Int { min: 0, max: 20 },
        default: Value::Int(0),
        doc: "which data segment is dropped, by its number; 0: none",
    }],
};

/// Called once for each node of the scenario. Who asks `site` for nothing does not sit at that node.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    // CHANGE: where it sits. `site.node` tells what the node is: `forwards`, `starts_flows`, `access_point`, ...
    if !site.node.has_air {
        return Ok(());
    }
    let agent = Counter { drop_every: params.int("drop_every") as u64, seen: 0, dropped: 0 };
    // CHANGE: where on a packet's way it is asked, and what it may do. Debug builds panic if it does more.
    site.agent(agent).listen([Place::ToAir]).makes_packets();
    site.reads_tcp();
    Ok(())
}

/// CHANGE: what one node remembers. Nodes share nothing but what travels in packets.
#[derive(Debug)]
struct Counter {
    drop_every: u64,
    seen: u64,
    dropped: u64,
}

impl Agent for Counter {
    /// `Some(pkt)` lets a packet pass. `None` is for one that was dropped, or kept: see `held` and `release` of [`Agent`].
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        if cx.get(&pkt).tcp_data().is_none() {
            return Some(pkt);
        }
        self.seen += 1;
        if self.drop_every > 0 && self.seen.is_multiple_of(self.drop_every) {
            self.dropped += 1;
            cx.drop(pkt, DropWhy::Scheme);
            return None;
        }
        Some(pkt)
    }

    // CHANGE: `timer`, `report`, `peer` and others are asked if it wants them.

    /// What the results say of it, node by node.
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("segments_seen", self.seen);
        out("segments_dropped", self.dropped);
    }
}
