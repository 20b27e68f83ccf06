//! `interlayer._core`: texts in, columns out. Conversion only; decides nothing.

mod timeline;

use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use world::scenario::InputError as WorldInputError;
use world::{Blueprint, Cell, Registries, Row, Run, RunError};

create_exception!(_core, InputError, PyValueError, "What the user gave is wrong: one line, and the path of the key.");

/// The one line, and the path as an attribute.
fn input_error(py: Python<'_>, error: &WorldInputError) -> PyErr {
    let raised = InputError::new_err(error.to_string());
    match raised.value(py).setattr("path", &error.path) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// A scenario that has been parsed and checked whole; immutable, cheap to share between runs.
#[pyclass(frozen, module = "interlayer._core")]
struct Scenario {
    blueprint: Blueprint,
}

impl Scenario {
    fn of(&self) -> &world::scenario::Scenario {
        self.blueprint.scenario()
    }
}

#[pymethods]
impl Scenario {
    /// Read a scenario; see the type stub.
    #[staticmethod]
    #[pyo3(signature = (text, overrides = Vec::new()))]
    fn parse(py: Python<'_>, text: &str, overrides: Vec<(String, String)>) -> PyResult<Scenario> {
        let blueprint = world::parse(text, &overrides).map_err(|error| input_error(py, &error))?;
        Ok(Scenario { blueprint })
    }

    /// The scenario with every default of its own filled in, as JSON.
    fn to_json(&self) -> String {
        self.of().to_json().to_string()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.of().name
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.of().duration.as_secs_f64()
    }

    #[getter]
    fn warmup_s(&self) -> f64 {
        self.of().warmup.as_secs_f64()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.of().seed
    }

    #[getter]
    fn flows(&self) -> Vec<String> {
        self.of().flows.iter().map(|flow| flow.name.clone()).collect()
    }

    #[getter]
    fn nodes(&self) -> Vec<String> {
        self.of().nodes.iter().map(|node| node.name.clone()).collect()
    }

    fn __repr__(&self) -> String {
        format!("<Scenario \"{}\": {} nodes, {} flows>", self.of().name, self.of().nodes.len(), self.of().flows.len())
    }
}

/// What a batch gave: one entry a task in the order given; `None` where it did not run.
#[pyclass(frozen, module = "interlayer._core")]
struct Batch {
    #[pyo3(get)]
    runs: Py<PyList>,
    #[pyo3(get)]
    interrupted: bool,
}

/// How long the calling thread sleeps between looks at signals and progress.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(5);

/// Run each (scenario, seed), `jobs` at a time, without the interpreter's lock; see the type stub.
#[pyfunction]
#[pyo3(signature = (tasks, *, jobs = 0, pcap_dir = None, series = false, timeline = None, fingerprint = false, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn run_batch(
    py: Python<'_>,
    tasks: Vec<(PyRef<'_, Scenario>, u64)>,
    jobs: usize,
    pcap_dir: Option<PathBuf>,
    series: bool,
    timeline: Option<(u64, u64)>,
    fingerprint: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Batch> {
    let blueprints: Vec<(Blueprint, u64)> =
        tasks.iter().map(|(scenario, seed)| (scenario.blueprint.clone(), *seed)).collect();
    drop(tasks);
    let record = world::Record { pcap_dir, series, timeline: timeline.map(timeline::window), fingerprint };
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (results, failure) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let tasks: Vec<_> = blueprints.iter().map(|(blueprint, seed)| (blueprint, *seed)).collect();
            world::run_batch(&tasks, jobs, &record, &stop, |n| done.store(n, Ordering::Relaxed))
        });
        // Signals and the callback belong to the thread that called; the lock is released while it sleeps.
        let mut failure = None;
        let mut told = 0;
        while !worker.is_finished() {
            py.detach(|| std::thread::sleep(LOOK_EVERY));
            let now = done.load(Ordering::Relaxed);
            let news = progress.as_ref().filter(|_| now != told && failure.is_none());
            told = now;
            let outcome =
                py.check_signals().and_then(|()| news.map_or(Ok(()), |tell| tell.call1(py, (now,)).map(drop)));
            if let Err(error) = outcome {
                stop.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
        }
        let results = worker.join().map_err(|_| PyRuntimeError::new_err("a run panicked: a mistake of the program"));
        (results, failure)
    });
    let interrupted = match failure {
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => true,
        Some(error) => return Err(error),
        None => false,
    };
    if let Some(tell) = progress.filter(|_| !interrupted) {
        tell.call1(py, (blueprints.len(),))?;
    }
    let runs = PyList::empty(py);
    for (result, (blueprint, _)) in results?.into_iter().zip(&blueprints) {
        match result {
            Ok(run) => runs.append(run_dict(py, &run, blueprint.scenario())?)?,
            Err(RunError::Interrupted) => runs.append(py.None())?,
            Err(RunError::Input(error)) => return Err(input_error(py, &error)),
            Err(RunError::Capture(error)) => {
                let error = WorldInputError { path: "pcap".to_owned(), message: error.to_string() };
                return Err(input_error(py, &error));
            }
            Err(error @ RunError::Books(_)) => return Err(PyRuntimeError::new_err(error.to_string())),
        }
    }
    Ok(Batch { runs: runs.unbind(), interrupted })
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
    let timeline = run.timeline.as_ref().map(|timeline| timeline::dict(py, timeline, of)).transpose()?;
    dict.set_item("timeline", timeline)?;
    Ok(dict)
}

fn row(info: &plugin::Info) -> [&'static str; 3] {
    [info.id, info.summary, info.source]
}

/// Schemes, with what each asks of the nodes where it sits: found out by installing it.
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

/// The registered plug-ins of a kind: `id`, `summary`, `source`, of schemes also `sits`, `reads`, `turns`; sorted by id.
#[pyfunction]
fn registry<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyList>> {
    let registries = Registries::builtin();
    if kind == "schemes" {
        return schemes(py, &registries.schemes);
    }
    let rows: Vec<[&str; 3]> = match kind {
        "congestion" => registries.congestion.iter().map(|entry| row(entry.info)).collect(),
        "receivers" => registries.receivers.iter().map(|entry| row(entry.info)).collect(),
        "recovery" => registries.recoveries.iter().map(|entry| row(entry.info)).collect(),
        "rate-controls" => registries.rate_controls.iter().map(|entry| row(entry.info)).collect(),
        "routing" => registries.routers.iter().map(|entry| row(entry.info)).collect(),
        other => {
            let message = format!(
                "no list of \"{other}\"; there are schemes, congestion, receivers, recovery, rate-controls, routing"
            );
            return Err(input_error(py, &WorldInputError { path: "list".to_owned(), message }));
        }
    };
    let list = PyList::empty(py);
    for row in rows {
        let dict = PyDict::new(py);
        for (name, value) in ["id", "summary", "source"].into_iter().zip(row) {
            dict.set_item(name, value)?;
        }
        list.append(dict)?;
    }
    Ok(list)
}

/// What to say of a name that is not modelled; `None` of any other.
#[pyfunction]
fn absent(noun: &str, name: &str) -> Option<String> {
    plugin::absent::message(noun, name)
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    world::schema()
}

/// The compiled core of Interlayer.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add_class::<Scenario>()?;
    module.add_class::<Batch>()?;
    module.add_function(wrap_pyfunction!(run_batch, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(absent, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}
