//! Congestion warning: every packet that may be marked is, if it finds a threshold queued.
//!
//! - **Source** the routers of TCP Jersey, as @SAN14 sec. 4.3 describes them.
//! - **Departs** a packet is marked when it comes, and not when it leaves; what may not be marked passes.
//! - **Checked** tests in `lib.rs`.

use super::fifo::Fifo;
use super::{Discipline, Outlet, Unsound, Admission};
use crate::{Arrival, Limit, Mark, Queued, Slot};
use plugin::{Info, Kind, Param, Params, Value};
use units::SimTime;

/// Its declaration.
pub static INFO: Info = Info {
    id: "congestion-warning",
    summary: "Every packet of an ECN-capable transport is marked from a length on: the routers of TCP Jersey.",
    source: "SAN14 sec. 4.3",
    params: &[
        Param {
            key: "threshold",
            kind: Kind::Float { min: 0.0, max: 1e12 },
            default: Value::Unset,
            doc: "Length found from which a packet is marked.",
        },
        Param {
            key: "unit",
            kind: Kind::Choice(&["limit", "share"]),
            default: Value::Choice("limit"),
            doc: "What threshold counts: packets or bytes as the limit does, or a share of the limit.",
        },
    ],
};

/// One of them.
///
/// # Errors
/// The queue never holds so much.
pub fn make(params: &Params, outlet: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    let given = params.float("threshold");
    let (most, unit) = match outlet.limit {
        Limit::Packets(packets) => (f64::from(packets), "packets"),
        Limit::Bytes(bytes) => (bytes.0 as f64, "bytes"),
    };
    let is_share = params.choice("unit") == "share";
    let threshold = if is_share { given * most } else { given };
    if threshold >= most {
        let holds = if is_share { "1 as a share".to_owned() } else { format!("{most} {unit}") };
        return Err(Unsound::new("threshold", format!("{given} is never found: the queue holds {holds}")));
    }
    Ok(Box::new(Warning { fifo: Fifo::default(), threshold }))
}

#[derive(Debug)]
struct Warning {
    fifo: Fifo,
    threshold: f64,
}

impl Discipline for Warning {
    fn arrival(&mut self, _: SimTime, packet: &Arrival, queued: &Queued) -> Admission {
        let found = match queued.limit() {
            Limit::Packets(_) => queued.len() as f64,
            Limit::Bytes(_) => queued.bytes().0 as f64,
        };
        if packet.is_ect && found >= self.threshold { Admission::Mark } else { Admission::Pass }
    }

    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.fifo.push(slot, queued);
    }

    fn pop(&mut self, _: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        Some((self.fifo.pop(queued)?, Mark::None))
    }

    fn remove(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.fifo.remove(slot, queued);
    }

    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        self.fifo.find(queued, is_it)
    }

    fn surplus(&self, _: &Queued) -> Option<Slot> {
        self.fifo.0.last()
    }
}
