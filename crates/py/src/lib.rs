//! The core for Python: texts in, columns out. Conversion only; decides nothing.
//!
//! [`module!`] makes a module of it. `crates/module` makes `interlayer._core`; a crate outside the workspace makes one that has
//! its own plug-ins besides.

#[cfg(target_os = "linux")]
mod live;
mod parts;
mod scene;
mod story;
mod timeline;

use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use world::scenario::InputError as WorldInputError;
use world::{Blueprint, Cell, Registries, Row, Run, RunError};

pub use world;

create_exception!(
    interlayer._core,
    InputError,
    PyValueError,
    "What the user gave is wrong: one line, and the path of the key."
);

/// The line of the first mistake; its path, and path and line of all of them, as attributes.
fn input_error(py: Python<'_>, error: &WorldInputError) -> PyErr {
    let raised = InputError::new_err(error.to_string());
    let all: Vec<(&str, String)> = error.all().map(|one| (&*one.path, one.to_string())).collect();
    let value = raised.value(py);
    match value.setattr("path", &error.path).and_then(|()| value.setattr("mistakes", all)) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

create_exception!(
    interlayer._core,
    PartError,
    PyException,
    "Code of a part in Python has failed: which; the cause is what it raised."
);

/// Returns the error that names the part, with the exception that the part's Python code raised as its cause.
fn part_error(py: Python<'_>, failure: plugin::Failure) -> PyErr {
    let raised = PartError::new_err(failure.message);
    if let Ok(cause) = failure.cause.downcast::<PyErr>() {
        raised.set_cause(py, Some(*cause));
    }
    raised
}

/// A scenario that has been parsed and checked whole; immutable, cheap to share between runs.
#[pyclass(frozen, module = "interlayer._core")]
struct Scenario {
    blueprint: Blueprint,
    // What it was read from, for a copy in another process.
    text: String,
    overrides: Vec<(String, String)>,
    /// Parts in Python that it uses: name, kind, hash of the source.
    parts: Vec<(String, String, Option<String>)>,
}

impl Scenario {
    fn described(&self) -> &world::scenario::Scenario {
        self.blueprint.scenario()
    }
}

#[pymethods]
impl Scenario {
    /// The text and overrides that it was read from; see the type stub.
    #[getter]
    fn source(&self) -> (&str, Vec<(String, String)>) {
        (&self.text, self.overrides.clone())
    }

    /// The scenario with every default of its own filled in, as JSON.
    fn to_json(&self) -> String {
        self.described().to_json().to_string()
    }

    /// The same with what presets decide written out; see the type stub.
    fn effective_json(&self) -> String {
        self.blueprint.effective().to_json().to_string()
    }

    /// TCP flows of Linux without its small queues; see the type stub.
    fn brimming_flows(&self) -> Vec<&str> {
        let flows = self.described().flows.iter();
        let brimming = flows.filter(|flow| flow.entry.transport.tcp().is_some_and(|tcp| tcp.fills_its_host()));
        brimming.map(|flow| flow.name.as_str()).collect()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.described().name
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.described().duration.as_secs_f64()
    }

    #[getter]
    fn warmup_s(&self) -> f64 {
        self.described().warmup.as_secs_f64()
    }

    /// The memory in bytes that one run takes at most.
    #[getter]
    fn run_bytes(&self) -> usize {
        self.blueprint.run_bytes()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.described().seed
    }

    /// The schemes that need our own TCP ends, with their nodes; see the type stub.
    fn bound_to_own_tcp(&self, py: Python<'_>, seed: u64) -> PyResult<Vec<(String, &'static str)>> {
        let found = self.blueprint.bound_to_own_tcp(seed).map_err(|error| input_error(py, &error))?;
        let name = |node: units::NodeId| self.described().nodes[node.index()].name.clone();
        Ok(found.into_iter().map(|(node, scheme)| (name(node), scheme)).collect())
    }

    #[getter]
    fn parts(&self) -> Vec<(String, String, Option<String>)> {
        self.parts.clone()
    }

    /// Notes: no mistakes, but other than a reader of the file may think, a line each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.described().notes()
    }

    #[getter]
    fn flows(&self) -> Vec<String> {
        self.described().flows.iter().map(|flow| flow.name.clone()).collect()
    }

    #[getter]
    fn nodes(&self) -> Vec<String> {
        self.described().nodes.iter().map(|node| node.name.clone()).collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Scenario \"{}\": {} nodes, {} flows>",
            self.described().name,
            self.described().nodes.len(),
            self.described().flows.len()
        )
    }
}

/// Runs made in the background; see the type stub.
#[pyclass(frozen, module = "interlayer._core")]
struct Runner {
    // Nobody holds it for longer than a patience, or waits for it with the interpreter's lock in hand.
    inner: Mutex<world::Runner>,
    in_python: parts::Threads,
}

/// The longest time that a call waits for a run before it looks at signals.
const PATIENCE: Duration = Duration::from_millis(5);

impl Runner {
    /// With the runner, without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut world::Runner) -> T + Send) -> T {
        py.detach(|| act(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl Runner {
    #[new]
    #[pyo3(signature = (*, jobs = 0, pcap_dir = None, series = false, timeline = None, scene = false, fingerprint = false))]
    fn new(
        jobs: usize,
        pcap_dir: Option<PathBuf>,
        series: bool,
        timeline: Option<(u64, u64)>,
        scene: bool,
        fingerprint: bool,
    ) -> Runner {
        let timeline = timeline.map(timeline::window);
        let record = world::Record { pcap_dir, series, timeline, scene, fingerprint };
        Runner { inner: Mutex::new(world::Runner::new(jobs, record)), in_python: parts::Threads::default() }
    }

    /// The number of runs that are made at a time.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> usize {
        self.with(py, |runner| runner.jobs())
    }

    /// The number of runs that were submitted and have not come back.
    #[getter]
    fn pending(&self, py: Python<'_>) -> usize {
        self.with(py, |runner| runner.pending())
    }

    /// Ask for a run; see the type stub.
    fn submit(&self, py: Python<'_>, scenario: &Scenario, seed: u64) -> PyResult<u64> {
        let blueprint = scenario.blueprint.clone();
        let around = (!scenario.parts.is_empty()).then(|| self.in_python.around());
        Ok(self.with(py, |runner| runner.submit_with(blueprint, seed, around))?)
    }

    /// Wait for the next run that finishes; see the type stub.
    #[pyo3(signature = (patience_s = None))]
    fn next<'py>(&self, py: Python<'py>, patience_s: Option<f64>) -> PyResult<Option<(u64, Bound<'py, PyAny>)>> {
        let mut looks = patience_s.map(|s| (s / PATIENCE.as_secs_f64()).ceil() as u64);
        loop {
            py.check_signals()?;
            let (done, pending) = self.with(py, |runner| (runner.next(PATIENCE), runner.pending()));
            let Some(done) = done else {
                looks = looks.map(|n| n.saturating_sub(1));
                match (pending, looks) {
                    (0, _) | (_, Some(0)) => return Ok(None),
                    _ => continue,
                }
            };
            let found = match done.result {
                Ok(run) => run_dict(py, &run, done.blueprint.scenario())?.into_any(),
                Err(RunError::Input(error)) => return Err(input_error(py, &error)),
                Err(RunError::Capture(error)) => return Err(error.into()),
                Err(RunError::Plugin(failure)) => part_error(py, failure).into_value(py).into_bound(py).into_any(),
                Err(error) => PyString::new(py, &error.to_string()).into_any(),
            };
            return Ok(Some((done.task, found)));
        }
    }

    /// The simulated time in s that each pending run has reached, by its number.
    fn reached_s(&self, py: Python<'_>) -> Vec<(u64, f64)> {
        self.with(py, |runner| runner.reached().map(|(number, at)| (number, at.as_secs_f64())).collect())
    }

    /// The threads that make runs with parts in Python; see the type stub.
    fn threads(&self) -> Vec<u64> {
        self.in_python.idents()
    }

    /// Stop what is under way and forget the rest; see the type stub.
    fn stop(&self, py: Python<'_>) {
        self.with(py, world::Runner::stop);
    }
}

/// The longest time that a dropped runner waits for threads in parts in Python, after they were told to stop.
const MOST_WAIT: Duration = Duration::from_secs(5);

/// Threads may wait for the interpreter's lock in a part in Python. So their waiter must not hold it.
impl Drop for Runner {
    fn drop(&mut self) {
        Python::attach(|py| {
            self.with(py, world::Runner::stop);
            let mut waited = Duration::ZERO;
            while !self.in_python.idents().is_empty() && waited < MOST_WAIT {
                py.detach(|| std::thread::sleep(PATIENCE));
                waited += PATIENCE;
            }
        });
    }
}

fn row_dict<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, cell) in row {
        match cell {
            Cell::Text(text) => dict.set_item(name, text)?,
            Cell::Count(n) => dict.set_item(name, n)?,
            Cell::Real(x) => dict.set_item(name, x)?,
        }
    }
    Ok(dict)
}

fn table<'py>(py: Python<'py>, rows: &[Row]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    rows.iter().try_for_each(|row| list.append(row_dict(py, row)?))?;
    Ok(list)
}

fn run_dict<'py>(py: Python<'py>, run: &Run, of: &world::scenario::Scenario) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seed", run.seed)?;
    dict.set_item("sim_s", run.sim_s)?;
    dict.set_item("simulated_s", run.simulated.as_secs_f64())?;
    dict.set_item("warmup_s", of.warmup.as_secs_f64())?;
    dict.set_item("events", run.events)?;
    dict.set_item("exchanges", run.exchanges)?;
    dict.set_item("flows", table(py, &run.flows)?)?;
    dict.set_item("nodes", table(py, &run.nodes)?)?;
    dict.set_item("queues", table(py, &run.queues)?)?;
    dict.set_item("frames", table(py, &run.frames)?)?;
    dict.set_item("schemes", table(py, &run.schemes)?)?;
    // Runs of older radios are as they were.
    if !run.links.is_empty() {
        dict.set_item("links", table(py, &run.links)?)?;
    }
    dict.set_item("windows", table(py, &run.windows)?)?;
    dict.set_item("summary", row_dict(py, &run.summary)?)?;
    let prints = match run.fingerprint {
        None => py.None(),
        Some(prints) => {
            let named = PyDict::new(py);
            for (layer, print) in ["phy", "mac", "tcp"].into_iter().zip(prints) {
                named.set_item(layer, format!("{print:016x}"))?;
            }
            named.into_any().unbind()
        }
    };
    dict.set_item("fingerprint", prints)?;
    let series = match &run.series {
        None => py.None(),
        Some(columns) => {
            let named = PyDict::new(py);
            for column in columns {
                let one = PyDict::new(py);
                one.set_item("t_s", PyArray1::from_slice(py, &column.t_s))?;
                one.set_item("value", PyArray1::from_slice(py, &column.value))?;
                named.set_item(&column.name, one)?;
            }
            named.into_any().unbind()
        }
    };
    dict.set_item("series", series)?;
    // Runs in which nobody moves are as they were.
    if let Some(paths) = run.motion.as_ref().filter(|paths| !paths.legs.is_empty()) {
        dict.set_item("legs", legs(py, &paths.legs, of)?)?;
        dict.set_item("meetings", meetings(py, &paths.meetings, of)?)?;
    }
    let timeline = run.timeline.as_ref().map(|timeline| timeline::dict(py, timeline, of)).transpose()?;
    dict.set_item("timeline", timeline)?;
    if let Some(scene) = &run.scene {
        let meetings = run.motion.as_ref().map_or(&[][..], |paths| &paths.meetings);
        dict.set_item("scene", scene::dict(py, scene, meetings, of)?)?;
    }
    if let Some(story) = &run.story {
        dict.set_item("story", story::dict(py, story)?)?;
    }
    Ok(dict)
}

/// Columns of a table: the names of nodes, then numbers.
fn legs<'py>(py: Python<'py>, all: &[world::Walked], of: &world::scenario::Scenario) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names: Vec<&str> = all.iter().map(|leg| of.nodes[leg.node.index()].name.as_str()).collect();
    dict.set_item("node", names)?;
    let column = |value: fn(&world::Walked) -> f64| all.iter().map(value).collect::<Vec<f64>>();
    dict.set_item("begins_s", column(|leg| leg.begins.as_secs_f64()))?;
    dict.set_item("ends_s", column(|leg| leg.ends.as_secs_f64()))?;
    dict.set_item("from_x_m", column(|leg| leg.from[0]))?;
    dict.set_item("from_y_m", column(|leg| leg.from[1]))?;
    dict.set_item("to_x_m", column(|leg| leg.to[0]))?;
    dict.set_item("to_y_m", column(|leg| leg.to[1]))?;
    Ok(dict)
}

/// Columns of a table: when two nodes became neighbours on a channel, or were so no more.
fn meetings<'py>(
    py: Python<'py>,
    all: &[world::Meeting],
    of: &world::scenario::Scenario,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let channels: Vec<&str> = of.channels.names().collect();
    dict.set_item("t_s", all.iter().map(|it| it.at.as_secs_f64()).collect::<Vec<f64>>())?;
    dict.set_item("channel", all.iter().map(|it| channels[it.channel.index()]).collect::<Vec<&str>>())?;
    for (place, name) in ["one", "other"].into_iter().enumerate() {
        let names = all.iter().map(|it| of.nodes[it.pair[place].index()].name.as_str());
        dict.set_item(name, names.collect::<Vec<&str>>())?;
    }
    dict.set_item("is_up", all.iter().map(|it| it.is_up).collect::<Vec<bool>>())?;
    Ok(dict)
}

/// A parameter and its default, as scenarios spell them.
fn parameter(param: &plugin::Param) -> String {
    match param.default {
        plugin::Value::Unset => format!("{} (required)", param.key),
        value => format!("{} = {value}", param.key),
    }
}

fn row(info: &plugin::Info) -> [&'static str; 3] {
    [info.id, info.summary, info.source]
}

/// Schemes, with what each asks of the nodes where it sits, and whether it is refused beside block acknowledgment: found out by
/// installing it.
fn schemes<'py>(py: Python<'py>, registry: &plugin::Registry<schemes::Install>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for entry in registry {
        let claims = schemes::survey(entry);
        let dict = PyDict::new(py);
        for (name, value) in ["id", "summary", "source"].into_iter().zip(row(entry.info)) {
            dict.set_item(name, value)?;
        }
        dict.set_item("sits", words(claims.places()))?;
        dict.set_item("reads", words(claims.signals()))?;
        dict.set_item("turns", words(claims.ports()))?;
        let refused = schemes::refusal_beside_block_ack(entry);
        dict.set_item("block_ack", refused.map_or_else(|| "works".to_owned(), |why| format!("refused: {why}")))?;
        list.append(dict)?;
    }
    Ok(list)
}

/// `from-host to-air`, as scenarios spell words.
fn words<T: std::fmt::Debug>(all: impl Iterator<Item = T>) -> String {
    let spelt = all.map(|one| {
        let camel = format!("{one:?}");
        let small = camel.char_indices().map(|(i, c)| match c.is_uppercase() && i > 0 {
            true => format!("-{}", c.to_ascii_lowercase()),
            false => c.to_ascii_lowercase().to_string(),
        });
        small.collect::<String>()
    });
    spelt.collect::<Vec<_>>().join(" ")
}

/// Returns the message about a name that is not modelled; `None` of any other.
#[pyfunction]
fn absent(noun: &str, name: &str) -> Option<String> {
    plugin::absent::message(noun, name)
}

/// Every metric of results; see the type stub.
#[pyfunction]
fn metrics(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for (table, metric) in world::metrics() {
        let dict = PyDict::new(py);
        dict.set_item("table", table)?;
        dict.set_item("name", metric.name())?;
        dict.set_item("unit", metric.unit())?;
        dict.set_item("summary", metric.summary)?;
        dict.set_item("support", metric.support.name())?;
        list.append(dict)?;
    }
    Ok(list)
}

/// A crate outside the workspace that a module is made of.
#[derive(Debug, Clone, Copy)]
pub struct Outside {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The names that scenarios may use. Its methods are the functions of the module.
#[pyclass(frozen, module = "interlayer._core")]
struct Core {
    known: Registries,
    listed: Registries,
}

#[pymethods]
impl Core {
    /// Read a scenario; see the type stub.
    #[pyo3(signature = (text, overrides = Vec::new(), parts = Vec::new()))]
    fn parse(
        &self,
        py: Python<'_>,
        text: &str,
        overrides: Vec<(String, String)>,
        parts: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Scenario> {
        let registries = parts::registered(self.known.clone(), &parts)?.map_err(|error| input_error(py, &error))?;
        // Schemes are tried once: a part in Python that fails then ends the attempt as it ends a run.
        let parsed = world::try_plugins(|| world::parse_with(text, &overrides, registries));
        let blueprint = match parsed {
            Ok(parsed) => parsed.map_err(|error| input_error(py, &error))?,
            Err(failure) => return Err(part_error(py, failure)),
        };
        let parts = parts::used(blueprint.scenario(), &parts)?;
        Ok(Scenario { blueprint, text: text.to_owned(), overrides, parts })
    }

    /// The tables of a scenario's text after overrides, as JSON; see the type stub.
    #[pyo3(signature = (text, overrides = Vec::new()))]
    fn overridden(&self, py: Python<'_>, text: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
        world::scenario::overridden(text, &overrides).map_err(|error| input_error(py, &error))
    }

    /// The registered plug-ins of a kind: `id`, `summary`, `source`, of schemes also `sits`, `reads`, `turns`, `block_ack`, of
    /// queue disciplines and traffic models `parameters`; sorted by id.
    fn registry<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyList>> {
        let registries = &self.listed;
        if kind == "schemes" {
            return schemes(py, &registries.schemes);
        }
        let rows: Vec<[&str; 3]> = match kind {
            "congestion" => registries.congestion.iter().map(|entry| row(entry.info)).collect(),
            "receivers" => registries.receivers.iter().map(|entry| row(entry.info)).collect(),
            "recovery" => registries.recoveries.iter().map(|entry| row(entry.info)).collect(),
            "rate-controls" => registries.rate_controls.iter().map(|entry| row(entry.info)).collect(),
            "queues" => registries.queues.iter().map(|entry| row(entry.info)).collect(),
            "traffic" => registries.traffic.iter().map(|entry| row(entry.info)).collect(),
            "routing" => registries.routers.iter().map(|entry| row(entry.info)).collect(),
            "route-metrics" => registries.route_metrics.iter().map(|entry| row(entry.info)).collect(),
            other => {
                let message = format!(
                    "no list of \"{other}\"; there are schemes, congestion, receivers, recovery, rate-controls, queues, routing, route-metrics, traffic"
                );
                return Err(input_error(py, &WorldInputError::new("list".to_owned(), message)));
            }
        };
        let list = PyList::empty(py);
        for row in rows {
            let dict = PyDict::new(py);
            for (name, value) in ["id", "summary", "source"].into_iter().zip(row) {
                dict.set_item(name, value)?;
            }
            let info = match kind {
                "queues" => registries.queues.find(row[0]).map(|entry| entry.info),
                "traffic" => registries.traffic.find(row[0]).map(|entry| entry.info),
                "route-metrics" => registries.route_metrics.find(row[0]).map(|entry| entry.info),
                _ => None,
            };
            if let Some(info) = info {
                let params: Vec<String> = info.params.iter().map(parameter).collect();
                dict.set_item("parameters", params.join(", "))?;
            }
            list.append(dict)?;
        }
        Ok(list)
    }

    /// The JSON Schema of a scenario.
    fn schema(&self) -> String {
        world::schema(&self.listed)
    }
}

/// Fills a Python module with the core. Scenarios may name the plug-ins of `known`; lists and the schema have those of `listed`. See
/// [`module!`].
///
/// # Errors
/// Python's own.
pub fn fill(
    module: &Bound<'_, PyModule>,
    known: Registries,
    listed: &Registries,
    outside: Option<Outside>,
) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let added = listed.beyond(&Registries::builtin());
    module.add("outside", outside.map(|of| (of.name, of.version, added)))?;
    module.add("interface", include_str!("../../../python/interlayer/_core.pyi"))?;
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add("PartError", module.py().get_type::<PartError>())?;
    module.add_class::<parts::Ack>()?;
    module.add_class::<parts::RateSample>()?;
    module.add_class::<parts::Window>()?;
    module.add_class::<parts::Node>()?;
    module.add_class::<parts::Packet>()?;
    module.add_class::<parts::Report>()?;
    module.add_class::<Scenario>()?;
    module.add_class::<Runner>()?;
    #[cfg(target_os = "linux")]
    {
        module.add_class::<live::Live>()?;
        module.add_function(wrap_pyfunction!(live::replay, module)?)?;
    }
    module.add_function(wrap_pyfunction!(absent, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    let core = Bound::new(module.py(), Core { known, listed: listed.clone() })?;
    for name in ["overridden", "parse", "registry", "schema"] {
        module.add(name, core.getattr(name)?)?;
    }
    Ok(())
}

/// The Python module `_core` of a crate outside the workspace. `$add` is a function `fn(Registries) -> Result<Registries, Refused>`
/// that adds the crate's plug-ins to those of the workspace. The module tells the crate's name and version.
///
/// ```text
/// interlayer_py::module!(add);
/// ```
#[macro_export]
macro_rules! module {
    ($add:path) => {
        /// The core of Interlayer with the plug-ins of this crate.
        #[::pyo3::pymodule]
        fn _core(module: &::pyo3::Bound<'_, ::pyo3::types::PyModule>) -> ::pyo3::PyResult<()> {
            let all = $add($crate::world::Registries::builtin())
                .map_err(|refused| ::pyo3::exceptions::PyImportError::new_err(refused.to_string()))?;
            let outside = $crate::Outside { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };
            $crate::fill(module, all.clone(), &all, Some(outside))
        }
    };
}
