//! The timeline of the air, as columns.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::{NodeId, SimTime};
use world::scenario::Scenario;
use world::{FrameClass, LossCause, Outcome, Timeline, Transmission, Window};

/// Nobody, nothing: in columns of ids, indices and numbers that a transmission may lack.
const NONE: i64 = -1;

/// A window from two times in ns.
pub fn window((from, until): (u64, u64)) -> Window {
    Window { from: SimTime::from_ns(from), until: SimTime::from_ns(until) }
}

fn node(node: NodeId) -> i64 {
    if node == NodeId::BROADCAST { NONE } else { i64::from(node.0) }
}

fn count(n: Option<u64>) -> i64 {
    n.map_or(NONE, |n| n as i64)
}

/// Names and columns; see the type stub.
pub fn dict<'py>(py: Python<'py>, timeline: &Timeline, of: &Scenario) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("from_s", timeline.window.from.as_secs_f64())?;
    dict.set_item("until_s", timeline.window.until.as_secs_f64())?;
    dict.set_item("missed", timeline.missed)?;
    dict.set_item("nodes", of.nodes.iter().map(|node| &*node.name).collect::<Vec<&str>>())?;
    dict.set_item("has_radio", of.nodes.iter().map(|node| node.has_radio).collect::<Vec<bool>>())?;
    dict.set_item("flows", of.flows.iter().map(|flow| &*flow.name).collect::<Vec<&str>>())?;
    dict.set_item("classes", FrameClass::ALL.map(FrameClass::name))?;
    dict.set_item("outcomes", Outcome::ALL.map(Outcome::name))?;
    dict.set_item("causes", LossCause::ALL.map(LossCause::name))?;
    let lost = |it| timeline.lost(it).map(|place| place.to_string()).collect::<Vec<String>>().join(" ");
    dict.set_item("lost_mpdus", timeline.transmissions.iter().map(lost).collect::<Vec<String>>())?;
    let columns = Columns { into: PyDict::new(py), of: &timeline.transmissions };
    columns.put("start_ns", |it| it.start.ns() as i64)?;
    columns.put("airtime_ns", |it| it.airtime.ns() as i64)?;
    columns.put("from", |it| node(it.from))?;
    columns.put("to", |it| node(it.to))?;
    columns.put("class", |it| it.class as i64)?;
    columns.put("outcome", |it| it.outcome() as i64)?;
    columns.put("cause", |it| count(it.cause().map(|cause| cause as u64)))?;
    columns.put("overlap_from", |it| it.overlap.map_or(NONE, |by| node(by.by)))?;
    columns.put("overlap_class", |it| count(it.overlap.map(|by| FrameClass::of(by.kind, by.label) as u64)))?;
    columns.put("overlap_ns", |it| count(it.overlap.map(|by| by.since.ns())))?;
    columns.put("is_retry", |it| it.is_retry)?;
    columns.put("rate_bps", |it| it.rate.bps() as i64)?;
    columns.put("mpdu_bytes", |it| it.mpdu.0 as i64)?;
    columns.put("mpdus", |it| i64::from(it.mpdus))?;
    columns.put("mpdus_received", |it| count(it.received().map(u64::from)))?;
    columns.put("duration_ns", |it| it.duration.ns() as i64)?;
    columns.put("seq", |it| count(it.seq.map(u64::from)))?;
    columns.put("category", |it| count(it.qos.map(|qos| u64::from(qos.category))))?;
    columns.put("user_priority", |it| count(it.qos.map(|qos| u64::from(qos.user_priority))))?;
    columns.put("tx_power_dbm", |it| it.tx_power.map_or(f64::NAN, |power| power.0))?;
    columns.put("power_mw", |it| it.power_mw.unwrap_or(f64::NAN))?;
    let flow = |it: &Transmission| it.packet.and_then(|packet| packet.of_flow());
    columns.put("flow", |it| count(flow(it).map(|(flow, _)| u64::from(flow))))?;
    columns.put("is_reverse", |it| flow(it).is_some_and(|(_, is_reverse)| is_reverse))?;
    columns.put("serial", |it| count(it.packet.map(|packet| packet.serial)))?;
    columns.put("attempt", |it| count(it.packet.map(|packet| u64::from(packet.attempt))))?;
    columns.put("payload_bytes", |it| count(it.packet.map(|packet| u64::from(packet.payload))))?;
    let tcp = |it: &Transmission| it.packet.and_then(|packet| packet.tcp);
    columns.put("tcp_seq", |it| count(tcp(it).map(|(seq, _)| u64::from(seq))))?;
    columns.put("tcp_ack", |it| count(tcp(it).map(|(_, ack)| u64::from(ack))))?;
    dict.set_item("columns", columns.into)?;
    Ok(dict)
}

/// A column of each transmission's value.
struct Columns<'a, 'py> {
    into: Bound<'py, PyDict>,
    of: &'a [Transmission],
}

impl Columns<'_, '_> {
    fn put<T: Element>(&self, name: &str, value: impl Fn(&Transmission) -> T) -> PyResult<()> {
        self.into.set_item(name, PyArray1::from_vec(self.into.py(), self.of.iter().map(value).collect()))
    }
}
