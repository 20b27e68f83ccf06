//! Schemes in Python: an agent that is shown packets and reports at its node, and may drop or delay packets.

use super::Part;
use plugin::Params;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use schemes::{Agent, Cx, Key, Place, Refusal, Site, Toward};
use std::collections::BTreeMap;
use std::fmt;
use units::{Dur, FlowId, NodeId};
use wire::{DropWhy, Flags, L4, Pkt};

/// The node where a scheme sits; see the type stub.
#[pyclass(frozen, get_all, module = "interlayer._core")]
#[derive(Debug)]
pub struct Node {
    id: u32,
    name: String,
    address: String,
    has_radio: bool,
    forwards: bool,
    is_access_point: bool,
    access_point: Option<u32>,
    starts_flows: bool,
    ends_flows: bool,
    seed: u64,
}

/// A packet as it was when it was shown; see the type stub.
#[pyclass(frozen, module = "interlayer._core")]
#[derive(Debug)]
pub struct Packet {
    inner: wire::Packet,
    serial: u64,
    neighbour: Option<u32>,
}

#[pymethods]
impl Packet {
    #[getter]
    fn protocol(&self) -> &'static str {
        match &self.inner.l4 {
            L4::Tcp(_) => "tcp",
            L4::Udp(_) => "udp",
            L4::Echo(_) | L4::Notice(_) => "icmp",
            L4::Nothing | L4::Opaque => "other",
        }
    }

    #[getter]
    fn src(&self) -> String {
        self.inner.ip.src.to_string()
    }

    #[getter]
    fn dst(&self) -> String {
        self.inner.ip.dst.to_string()
    }

    #[getter]
    fn size(&self) -> u64 {
        self.inner.ip_len().0
    }

    #[getter]
    fn payload(&self) -> u32 {
        self.inner.payload.len
    }

    #[getter]
    fn flow(&self) -> Option<usize> {
        (self.inner.flow != FlowId::NONE).then(|| self.inner.flow.connection())
    }

    #[getter]
    fn is_reverse(&self) -> bool {
        self.inner.flow != FlowId::NONE && self.inner.flow.is_reverse()
    }

    #[getter]
    fn serial(&self) -> u64 {
        self.serial
    }

    #[getter]
    fn neighbour(&self) -> Option<u32> {
        self.neighbour
    }

    #[getter]
    fn seq(&self) -> Option<u32> {
        self.inner.tcp().map(|tcp| tcp.seq.0)
    }

    #[getter]
    fn ack(&self) -> Option<u32> {
        self.inner.tcp().filter(|tcp| tcp.flags.has(Flags::ACK)).map(|tcp| tcp.ack.0)
    }

    #[getter]
    fn window(&self) -> Option<u16> {
        self.inner.tcp().map(|tcp| tcp.window)
    }

    #[getter]
    fn syn(&self) -> bool {
        self.has(Flags::SYN)
    }

    #[getter]
    fn fin(&self) -> bool {
        self.has(Flags::FIN)
    }

    #[getter]
    fn rst(&self) -> bool {
        self.has(Flags::RST)
    }

    #[getter]
    fn ece(&self) -> bool {
        self.has(Flags::ECE)
    }

    #[getter]
    fn is_pure_ack(&self) -> bool {
        self.inner.pure_ack().is_some()
    }

    fn __repr__(&self) -> String {
        let (protocol, flow) = (self.protocol(), self.inner.flow);
        format!("<Packet {protocol} {} B, flow {}, serial {}>", self.size(), flow.connection(), self.serial)
    }
}

impl Packet {
    fn has(&self, flag: Flags) -> bool {
        self.inner.tcp().is_some_and(|tcp| tcp.flags.has(flag))
    }
}

/// The MAC's report on a packet; see the type stub.
#[pyclass(frozen, module = "interlayer._core")]
#[derive(Debug)]
pub struct Report(mac::TxReport);

#[pymethods]
impl Report {
    #[getter]
    fn fate(&self) -> &'static str {
        match self.0.fate {
            mac::Fate::Delivered => "delivered",
            mac::Fate::Attempt => "attempt",
            mac::Fate::GivenUp => "given-up",
            mac::Fate::Expired => "expired",
            mac::Fate::QueueFull => "queue-full",
        }
    }

    #[getter]
    fn to(&self) -> u32 {
        self.0.to.0
    }

    #[getter]
    fn category(&self) -> u8 {
        self.0.category
    }

    #[getter]
    fn attempts(&self) -> u8 {
        self.0.attempts
    }

    #[getter]
    fn ppdu(&self) -> Option<u32> {
        self.0.ppdu.map(|ppdu| ppdu.number)
    }

    #[getter]
    fn place(&self) -> Option<u16> {
        self.0.ppdu.map(|ppdu| ppdu.place)
    }

    #[getter]
    fn mpdus(&self) -> Option<u16> {
        self.0.ppdu.map(|ppdu| ppdu.mpdus)
    }

    #[getter]
    fn rate_bps(&self) -> Option<u64> {
        self.0.ppdu.map(|ppdu| ppdu.mode.bit_rate().bps())
    }

    #[getter]
    fn enqueued_ns(&self) -> u64 {
        self.0.enqueued.ns()
    }

    #[getter]
    fn head_ns(&self) -> u64 {
        self.0.head.ns()
    }

    #[getter]
    fn first_ns(&self) -> u64 {
        self.0.first.ns()
    }

    #[getter]
    fn done_ns(&self) -> u64 {
        self.0.done.ns()
    }

    #[getter]
    fn airtime_ns(&self) -> u64 {
        self.0.airtime.ns()
    }
}

/// The word for a place.
fn word(place: Place) -> &'static str {
    match place {
        Place::FromHost => "from-host",
        Place::ToHost => "to-host",
        Place::Transit => "transit",
        Place::ToAir => "to-air",
        Place::FromAir => "from-air",
    }
}

/// A packet that is delayed: the packet, its place, and the neighbour that it comes from or goes to.
type Waiting = (Pkt, Place, Option<NodeId>);

/// A Python object's decision on a packet.
enum Wish {
    Pass,
    Drop,
    Delay(Dur),
}

/// The longest delay, in seconds: more is a mistake in the unit.
const LONGEST_S: f64 = 3600.0;

impl Wish {
    fn of(answer: &Bound<'_, PyAny>) -> PyResult<Wish> {
        if answer.is_none() {
            return Ok(Wish::Pass);
        }
        if let Ok(word) = answer.extract::<String>() {
            return match word.as_str() {
                "pass" => Ok(Wish::Pass),
                "drop" => Ok(Wish::Drop),
                other => Err(PyValueError::new_err(format!(
                    "packet returned \"{other}\": expected \"pass\", \"drop\", a delay in seconds, or None"
                ))),
            };
        }
        let is_bool = answer.is_instance_of::<pyo3::types::PyBool>();
        let seconds = answer.extract::<f64>().ok().filter(|_| !is_bool).ok_or_else(|| {
            let said = answer.repr().map(|repr| repr.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!(
                "packet returned {said}: expected \"pass\", \"drop\", a delay in seconds, or None"
            ))
        })?;
        if (0.0..=LONGEST_S).contains(&seconds) {
            return Ok(Wish::Delay(Dur::from_ns((seconds * 1e9) as u64)));
        }
        Err(PyValueError::new_err(format!("packet returned a delay of {seconds} s: from 0 to {LONGEST_S} s")))
    }
}

/// A Python object at one node.
struct InPython {
    part: &'static Part,
    object: Py<PyAny>,
    packet: Option<Py<PyAny>>,
    report: Option<Py<PyAny>>,
    waiting: BTreeMap<u64, Waiting>,
    seen: u64,
    dropped: u64,
    delayed: u64,
}

impl fmt::Debug for InPython {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPython").field("part", &self.part.info.id).finish_non_exhaustive()
    }
}

fn facts(site: &Site) -> Node {
    let node = &site.node;
    let mut draws = site.stream(0);
    let seed = u64::from(draws.below(1 << 31)) << 31 | u64::from(draws.below(1 << 31));
    Node {
        id: node.id.0,
        name: node.name.to_owned(),
        address: node.address.to_string(),
        has_radio: node.has_air,
        forwards: node.forwards,
        is_access_point: node.has_air && node.forwards && node.access_point.is_none(),
        access_point: node.access_point.map(|id| id.0),
        starts_flows: node.starts_flows,
        ends_flows: node.ends_flows,
        seed,
    }
}

/// Installs the scheme at each node where the class says that it sits.
pub(super) fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    let part: &'static Part = params.context().expect("parts are registered with themselves");
    let facts = facts(site);
    let made = Python::attach(|py| {
        let node = Bound::new(py, facts)?;
        if part.has("sits") && !part.class.bind(py).call_method1("sits", (&node,))?.is_truthy()? {
            return Ok(None);
        }
        let object = part.make(py, params, Some(&node))?;
        let method = |name: &str| part.has(name).then(|| object.getattr(name).map(Bound::unbind)).transpose();
        let (packet, report) = (method("packet")?, method("report")?);
        let (waiting, object) = (BTreeMap::new(), object.unbind());
        PyResult::Ok(Some(InPython { part, object, packet, report, waiting, seen: 0, dropped: 0, delayed: 0 }))
    });
    let agent = match made {
        Ok(None) => return Ok(()),
        Ok(Some(agent)) => agent,
        Err(error) => part.fail("__init__", error),
    };
    let (listens, reports) = (agent.packet.is_some(), agent.report.is_some());
    let mut seat = site.agent(agent);
    if listens {
        seat = seat.listen(part.places.iter().copied()).makes_packets();
    }
    if reports {
        seat = seat.reports();
        if part.attempts {
            seat.attempts();
        }
    }
    Ok(())
}

impl Agent for InPython {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let Some(method) = &self.packet else { return Some(pkt) };
        self.seen += 1;
        let (inner, serial) = (cx.get(&pkt).clone(), cx.serial(&pkt));
        let shown = Packet { inner, serial, neighbour: cx.peer.map(|id| id.0) };
        let now = cx.now.ns();
        let wish = Python::attach(|py| Wish::of(&method.bind(py).call1((word(at), shown, now))?));
        match wish.unwrap_or_else(|error| self.part.fail("packet", error)) {
            Wish::Pass => return Some(pkt),
            Wish::Drop => {
                self.dropped += 1;
                cx.drop(pkt, DropWhy::Scheme);
            }
            Wish::Delay(dur) => {
                let key = self.delayed;
                self.delayed += 1;
                self.waiting.insert(key, (pkt, at, cx.peer));
                cx.timer(Key(key), cx.now + dur);
            }
        }
        None
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        if let Some((pkt, at, peer)) = self.waiting.remove(&key.0) {
            cx.inject(pkt, Toward::Onward(at, peer));
        }
    }

    fn report(&mut self, packet: &wire::Packet, report: &mac::TxReport, _: &mut Cx) {
        let Some(method) = &self.report else { return };
        let shown = Packet { inner: packet.clone(), serial: report.serial, neighbour: Some(report.to.0) };
        let told = Python::attach(|py| method.bind(py).call1((shown, Report(*report))).map(drop));
        told.unwrap_or_else(|error| self.part.fail("report", error));
    }

    fn release(&mut self, cx: &mut Cx) {
        for (pkt, ..) in std::mem::take(&mut self.waiting).into_values() {
            cx.drop(pkt, DropWhy::NodeDown);
        }
    }

    fn held(&self) -> u64 {
        self.waiting.len() as u64
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("packets_seen", self.seen);
        out("packets_dropped", self.dropped);
        out("packets_delayed", self.delayed);
        let read = Python::attach(|py| {
            for name in &self.part.counters {
                out(name, self.object.bind(py).getattr(*name)?.extract()?);
            }
            PyResult::Ok(())
        });
        read.unwrap_or_else(|error| self.part.fail("counters", error));
    }
}
