//! The stories of frames, as columns.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::{FlowId, SimTime};
use world::{Access, Arrival, Portion, Settled, Stop, Story};

/// Nothing: in columns of indices and numbers that an entry may lack.
const NONE: i64 = -1;

fn ns(at: SimTime) -> i64 {
    at.ns() as i64
}

/// Columns; see the type stub.
pub fn dict<'py>(py: Python<'py>, story: &Story) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let flow = |flow: FlowId| if flow == FlowId::NONE { NONE } else { flow.connection() as i64 };
    let of = &story.portions;
    let portions = PyDict::new(py);
    put(&portions, "start_ns", of, |it: &Portion| ns(it.start))?;
    put(&portions, "from", of, |it| i64::from(it.from.0))?;
    put(&portions, "place", of, |it| i64::from(it.place))?;
    put(&portions, "seq", of, |it| i64::from(it.seq))?;
    put(&portions, "fragment", of, |it| i64::from(it.fragment))?;
    put(&portions, "attempt", of, |it| i64::from(it.attempt))?;
    put(&portions, "serial", of, |it| it.serial as i64)?;
    put(&portions, "flow", of, |it| flow(it.flow))?;
    put(&portions, "is_reverse", of, |it| it.flow != FlowId::NONE && it.flow.is_reverse())?;
    put(&portions, "payload_bytes", of, |it| i64::from(it.payload))?;
    put(&portions, "tcp_seq", of, |it| it.tcp.map_or(NONE, |(seq, _)| i64::from(seq)))?;
    put(&portions, "tcp_ack", of, |it| it.tcp.map_or(NONE, |(_, ack)| i64::from(ack)))?;
    put(&portions, "tcp_flags", of, |it| it.tcp.map_or(NONE, |_| i64::from(it.flags.0)))?;
    dict.set_item("portions", portions)?;

    let of = &story.settled;
    let settled = PyDict::new(py);
    put(&settled, "node", of, |it: &Settled| i64::from(it.node.0))?;
    put(&settled, "serial", of, |it| it.serial as i64)?;
    put(&settled, "attempts", of, |it| i64::from(it.attempts))?;
    put(&settled, "enqueued_ns", of, |it| ns(it.enqueued))?;
    put(&settled, "head_ns", of, |it| ns(it.head))?;
    put(&settled, "done_ns", of, |it| ns(it.done))?;
    put(&settled, "is_delivered", of, |it| it.is_delivered())?;
    dict.set_item("settled", settled)?;

    let of = &story.arrivals;
    let arrivals = PyDict::new(py);
    put(&arrivals, "at_ns", of, |it: &Arrival| ns(it.at))?;
    put(&arrivals, "flow", of, |it| flow(it.flow))?;
    put(&arrivals, "is_reverse", of, |it| it.flow != FlowId::NONE && it.flow.is_reverse())?;
    put(&arrivals, "tcp_seq", of, |it| i64::from(it.tcp.0))?;
    put(&arrivals, "tcp_ack", of, |it| i64::from(it.tcp.1))?;
    put(&arrivals, "payload_bytes", of, |it| i64::from(it.payload))?;
    dict.set_item("arrivals", arrivals)?;

    let of = &story.accesses;
    let accesses = PyDict::new(py);
    put(&accesses, "start_ns", of, |it: &Access| ns(it.start))?;
    put(&accesses, "from", of, |it| i64::from(it.from.0))?;
    put(&accesses, "cw", of, |it| i64::from(it.cw))?;
    put(&accesses, "counts_from_ns", of, |it| ns(it.counts_from))?;
    put(&accesses, "slots", of, |it| i64::from(it.slots))?;
    put(&accesses, "stops", of, |it| it.stops.len() as i64)?;
    put(&accesses, "stops_left_out", of, |it| i64::from(it.left_out))?;
    dict.set_item("accesses", accesses)?;

    // Those of one grant after those of the other.
    let of: Vec<Stop> = of.iter().flat_map(|access| &access.stops).copied().collect();
    let stops = PyDict::new(py);
    put(&stops, "slots", &of, |it| i64::from(it.slots))?;
    put(&stops, "until_ns", &of, |it| ns(it.until))?;
    put(&stops, "nav_ns", &of, |it| it.nav.ns() as i64)?;
    dict.set_item("stops", stops)?;
    Ok(dict)
}

/// A column of a value of each.
fn put<'py, I, T: Element>(into: &Bound<'py, PyDict>, name: &str, of: &[I], value: impl Fn(&I) -> T) -> PyResult<()> {
    into.set_item(name, PyArray1::from_vec(into.py(), of.iter().map(value).collect()))
}
