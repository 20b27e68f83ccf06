//! Live runs for Python: the loop without the interpreter's lock, and what may be asked of it meanwhile.

use crate::{Scenario, run_dict};
use ::live::{Command, Conversation, Ended, Gauge, Handle, Histogram, Host, LiveError, Options, Outcome};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use units::{Dur, NodeId};

/// A live run; see the type stub.
#[pyclass(frozen, module = "interlayer._core")]
pub struct Live {
    blueprint: world::Blueprint,
    seed: u64,
    hosts: Mutex<Option<(Vec<Host>, Ended)>>,
    options: Options,
    handle: Handle,
}

fn node(scenario: &world::scenario::Scenario, name: &str) -> PyResult<NodeId> {
    let found = scenario.nodes.iter().position(|node| node.name == name);
    found.map(|at| NodeId(at as u32)).ok_or_else(|| PyValueError::new_err(format!("no node \"{name}\"")))
}

#[pymethods]
impl Live {
    #[new]
    #[pyo3(signature = (scenario, seed, hosts, *, record = None, pcap_dir = None, spin_ns = 0))]
    fn new(
        scenario: &Scenario,
        seed: u64,
        hosts: Vec<(String, RawFd)>,
        record: Option<PathBuf>,
        pcap_dir: Option<PathBuf>,
        spin_ns: u64,
    ) -> PyResult<Live> {
        let own = |(name, fd): (String, RawFd)| {
            // SAFETY: the caller hands its descriptor over, and uses it no more (type stub).
            #[allow(unsafe_code, reason = "a descriptor from another language is a number")]
            let device = unsafe { OwnedFd::from_raw_fd(fd) };
            Ok(Host { node: node(scenario.described(), &name)?, name, device })
        };
        let hosts = hosts.into_iter().map(own).collect::<PyResult<Vec<Host>>>()?;
        let (handle, ended) = Handle::new()?;
        let options = Options { record, captures: pcap_dir, spin: Dur::from_ns(spin_ns) };
        Ok(Live {
            blueprint: scenario.blueprint.clone(),
            seed,
            hosts: Mutex::new(Some((hosts, ended))),
            options,
            handle,
        })
    }

    /// Join the hosts until the scenario ends or `stop` is called; see the type stub.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.hosts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((hosts, ended)) = taken else { return Err(PyRuntimeError::new_err("it has run")) };
        let done = py.detach(|| ::live::run(&self.blueprint, self.seed, &hosts, &self.options, ended));
        drop(hosts);
        match done {
            Ok(outcome) => outcome_dict(py, &outcome, self.blueprint.scenario()),
            Err(LiveError::Record(error)) => Err(PyOSError::new_err(error.to_string())),
            Err(LiveError::Device { what, error }) => Err(PyOSError::new_err(format!("{what}: {error}"))),
            Err(LiveError::Run(error)) => Err(PyRuntimeError::new_err(error.to_string())),
        }
    }

    /// End the run soon.
    fn stop(&self) {
        self.handle.stop();
    }

    /// Change the network while it runs; see the type stub.
    fn change(&self, text: &str) -> PyResult<()> {
        let command =
            Command::parse(text, self.blueprint.scenario()).map_err(|e| PyValueError::new_err(e.to_string()))?;
        if self.handle.change(command) { Ok(()) } else { Err(PyRuntimeError::new_err("it is over")) }
    }

    /// The state of the run, some 100 ms old; see the type stub.
    fn gauge<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Gauge { at, sent, got, looks, late } = self.handle.gauge();
        let dict = PyDict::new(py);
        dict.set_item("t_s", at.as_secs_f64())?;
        dict.set_item("up", sent)?;
        dict.set_item("down", got)?;
        dict.set_item("late_s", late.map(Dur::as_secs_f64).to_vec())?;
        let rows = PyList::empty(py);
        for look in looks {
            let row = PyDict::new(py);
            row.set_item("node", &self.blueprint.scenario().nodes[look.node.index()].name)?;
            row.set_item("backlog", look.backlog)?;
            row.set_item("data_frames", look.data_frames)?;
            row.set_item("retries", look.retries)?;
            row.set_item("given_up", look.given_up)?;
            row.set_item("on_air_s", look.airtime.as_secs_f64())?;
            rows.append(row)?;
        }
        dict.set_item("interfaces", rows)?;
        Ok(dict)
    }
}

fn histogram<'py>(py: Python<'py>, of: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("count", of.count())?;
    for (name, q) in [("p50_s", 0.5), ("p99_s", 0.99), ("p999_s", 0.999)] {
        dict.set_item(name, of.quantile(q).as_secs_f64())?;
    }
    dict.set_item("max_s", of.longest().as_secs_f64())?;
    let rows: Vec<(f64, u64)> = of.rows().map(|(longest, count)| (longest.as_secs_f64(), count)).collect();
    dict.set_item("buckets", rows)?;
    Ok(dict)
}

fn conversations<'py>(
    py: Python<'py>,
    of: &[Conversation],
    scenario: &world::scenario::Scenario,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for it in of {
        let row = PyDict::new(py);
        row.set_item("protocol", it.protocol)?;
        row.set_item("from", &scenario.nodes[it.from.index()].name)?;
        row.set_item("to", &scenario.nodes[it.to.index()].name)?;
        row.set_item("ports", it.ports.to_vec())?;
        row.set_item("sent_packets", it.sent.packets)?;
        row.set_item("sent_bytes", it.sent.bytes)?;
        row.set_item("arrived_packets", it.arrived.packets)?;
        row.set_item("arrived_bytes", it.arrived.bytes)?;
        row.set_item("first_s", it.first.as_secs_f64())?;
        row.set_item("last_s", it.last.as_secs_f64())?;
        list.append(row)?;
    }
    Ok(list)
}

fn outcome_dict<'py>(
    py: Python<'py>,
    of: &Outcome,
    scenario: &world::scenario::Scenario,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("run", run_dict(py, &of.run, scenario)?)?;
    dict.set_item("late", histogram(py, &of.late)?)?;
    dict.set_item("first", histogram(py, &of.first)?)?;
    dict.set_item("answers", histogram(py, &of.answers)?)?;
    dict.set_item("behind", histogram(py, &of.behind)?)?;
    dict.set_item("overloaded", of.is_overloaded())?;
    let fates = PyDict::new(py);
    of.fates.iter().try_for_each(|(fate, count)| fates.set_item(fate.name(), count))?;
    dict.set_item("packets", fates)?;
    dict.set_item("refused", of.refused)?;
    dict.set_item("busy_s", of.busy.as_secs_f64())?;
    dict.set_item("conversations", conversations(py, &of.conversations, scenario)?)?;
    Ok(dict)
}

/// Make a recorded run again in virtual time; see the type stub.
#[pyfunction]
pub fn replay<'py>(py: Python<'py>, scenario: &Scenario, recording: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let of = scenario.described();
    let replayed = py.detach(|| ::live::replay(&scenario.blueprint, recording));
    let replayed = replayed.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let dict = PyDict::new(py);
    dict.set_item("run", run_dict(py, &replayed.run, of)?)?;
    dict.set_item("recorded", replayed.recorded)?;
    dict.set_item("same", replayed.same)?;
    dict.set_item("first_other", replayed.first_other.map(|(at, node)| (at.as_secs_f64(), node)))?;
    dict.set_item("conversations", conversations(py, &replayed.conversations, of)?)?;
    Ok(dict)
}
