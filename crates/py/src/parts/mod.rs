//! Parts of a scenario that are written in Python: congestion controls and schemes. docs/design/python-parts.md says why it is so.
//!
//! The layers know nothing of Python: a part stands in their registries with a context, this [`Part`], which the one function
//! that makes it finds in its parameters.

mod controller;
mod scheme;

pub use controller::{Ack, RateSample, Window};
pub use scheme::{Node, Packet, Report};

use plugin::{Failure, Info, Kind, Param, Params, Registry, Value};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};
use world::scenario::{InputError, Scenario};
use world::{Around, Registries};

/// The threads of a runner that make runs with parts now, as Python numbers them.
///
/// Such a thread stays known to the interpreter while its run lasts: to introduce it again at each call takes longer than the call.
/// The interpreter must not end before it: it would take the thread's state away under the user's code.
#[derive(Debug, Default)]
pub struct Threads(Arc<Mutex<Vec<u64>>>);

impl Threads {
    /// Returns the function that wraps a run with parts: it lists the run's thread while the run lasts.
    pub fn around(&self) -> Around {
        let all = Arc::clone(&self.0);
        let own = |py: Python<'_>| py.import("threading")?.call_method0("get_ident")?.extract::<u64>();
        Arc::new(move |run| {
            Python::attach(|py| {
                let ident = own(py).unwrap_or_default();
                all.lock().unwrap_or_else(PoisonError::into_inner).push(ident);
                py.detach(run);
                all.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != ident);
            });
        })
    }

    /// Their numbers.
    pub fn idents(&self) -> Vec<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An attribute of the user's objects that is read as a number, and its unit.
type Named = Vec<(&'static str, &'static str)>;

/// A part as `interlayer.parts.Part` describes it. It lives as long as the process: a scenario's declarations do.
pub struct Part {
    info: &'static Info,
    kind: String,
    class: Py<PyAny>,
    hash: Option<String>,
    /// The methods that the class defines: the others are not called.
    methods: Vec<String>,
    /// Gauges of a controller with their units.
    gauges: Named,
    /// Their names in the series.
    gauge_names: Vec<&'static str>,
    needs_rate: bool,
    needs_rtt: bool,
    owns_window: bool,
    recovery: tcp::cc::Recovery,
    /// The places where a scheme is shown packets.
    places: Vec<schemes::Place>,
    attempts: bool,
    /// Attributes of a scheme that are counters.
    counters: Vec<&'static str>,
}

/// All parts that were ever registered. Registering the same part again gives the same entry: nothing grows with the number of scenarios.
static PARTS: Mutex<Vec<&'static Part>> = Mutex::new(Vec::new());

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn named(pairs: Vec<(String, String)>) -> Named {
    pairs.into_iter().map(|(name, of)| (leak(name), leak(of))).collect()
}

fn same(pairs: &[(String, String)], known: &Named) -> bool {
    pairs.len() == known.len() && pairs.iter().zip(known).all(|((a, b), (c, d))| a == c && b == d)
}

/// A number or truth value as the default of a parameter.
fn param(key: String, value: &Bound<'_, PyAny>) -> PyResult<Param> {
    let (kind, default) = if let Ok(on) = value.extract::<bool>() {
        (Kind::Bool, Value::Bool(on))
    } else if let Ok(n) = value.extract::<i64>() {
        (Kind::Int { min: i64::MIN, max: i64::MAX }, Value::Int(n))
    } else {
        (Kind::Float { min: f64::MIN, max: f64::MAX }, Value::Float(value.extract()?))
    };
    Ok(Param { key: leak(key), kind, default, doc: "A parameter of a part in Python." })
}

fn is_same(known: &[Param], given: &[(String, Bound<'_, PyAny>)]) -> bool {
    let of = |value: &Bound<'_, PyAny>| param(String::new(), value).map(|param| param.default).ok();
    known.len() == given.len()
        && known.iter().zip(given).all(|(k, (key, value))| k.key == key && Some(k.default) == of(value))
}

fn place(word: &str) -> schemes::Place {
    match word {
        "from-host" => schemes::Place::FromHost,
        "to-host" => schemes::Place::ToHost,
        "transit" => schemes::Place::Transit,
        "from-air" => schemes::Place::FromAir,
        _ => schemes::Place::ToAir,
    }
}

impl Part {
    /// The part that a `Part` of Python describes; its words were checked there.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<&'static Part> {
        let text = |name: &str| given.getattr(name)?.extract::<String>();
        let (id, kind, class) = (text("name")?, text("kind")?, given.getattr("cls")?);
        let hash: Option<String> = given.getattr("source_hash")?.extract()?;
        let params: Vec<(String, Bound<'_, PyAny>)> = given.getattr("params")?.extract()?;
        let gauges: Vec<(String, String)> = given.getattr("gauges")?.extract()?;
        let counters: Vec<String> = given.getattr("counters")?.extract()?;
        let methods: Vec<String> = given.getattr("methods")?.extract()?;
        let settings = given.getattr("settings")?;
        let is = |name: &str| settings.get_item(name)?.is_truthy();
        let words = |name: &str| settings.get_item(name)?.extract::<Vec<String>>();
        let recovery = match settings.get_item("recovery")?.extract::<&str>()? {
            "tahoe" => tcp::cc::Recovery::Tahoe,
            "reno" => tcp::cc::Recovery::Reno,
            _ => tcp::cc::Recovery::NewReno,
        };
        let places: Vec<schemes::Place> = words("places")?.iter().map(|word| place(word)).collect();
        let flags = [is("needs_rate")?, is("needs_rtt")?, is("owns_window")?, is("attempts")?];

        let mut known = PARTS.lock_py_attached(given.py()).unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|part| {
            let of_class = part.class.is(&class) && part.info.id == id && part.kind == kind && part.hash == hash;
            let lists = is_same(part.info.params, &params) && same(&gauges, &part.gauges);
            let rest = part.counters.iter().eq(&counters) && part.methods == methods && part.places == places;
            let own = [part.needs_rate, part.needs_rtt, part.owns_window, part.attempts];
            of_class && lists && rest && own == flags && part.recovery == recovery
        });
        if let Some(found) = found {
            return Ok(found);
        }
        let params = params.into_iter().map(|(key, value)| param(key, &value)).collect::<PyResult<Vec<_>>>()?;
        let gauge_names = gauges.iter().map(|(name, _)| leak(format!("{id}.{name}"))).collect();
        let info = Info {
            id: leak(id),
            summary: leak(text("summary")?),
            source: "none",
            params: Box::leak(params.into_boxed_slice()),
        };
        let [needs_rate, needs_rtt, owns_window, attempts] = flags;
        let part: &'static Part = Box::leak(Box::new(Part {
            info: Box::leak(Box::new(info)),
            kind,
            class: class.unbind(),
            hash,
            methods,
            gauges: named(gauges),
            gauge_names,
            needs_rate,
            needs_rtt,
            owns_window,
            recovery,
            places,
            attempts,
            counters: counters.into_iter().map(leak).collect(),
        }));
        known.push(part);
        Ok(part)
    }

    fn has(&self, method: &str) -> bool {
        self.methods.iter().any(|own| own == method)
    }

    /// A new object of the class, with the scenario's parameters by name.
    fn make<'py>(
        &self,
        py: Python<'py>,
        params: &Params,
        node: Option<&Bound<'py, Node>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let named = PyDict::new(py);
        for (key, value) in params.iter() {
            match value {
                Value::Bool(on) => named.set_item(key, on)?,
                Value::Int(n) => named.set_item(key, n)?,
                Value::Float(x) => named.set_item(key, x)?,
                _ => {}
            }
        }
        match node {
            Some(node) => self.class.bind(py).call((node,), Some(&named)),
            None => self.class.bind(py).call((), Some(&named)),
        }
    }

    /// Ends the run: the user's code has failed in `method`.
    fn fail(&self, method: &str, error: PyErr) -> ! {
        Failure { message: self.named(method), cause: Box::new(error) }.end_run()
    }

    fn named(&self, method: &str) -> String {
        format!("{} \"{}\" in Python, {method}", self.kind, self.info.id)
    }
}

fn refused(part: &Part, why: impl std::fmt::Display) -> InputError {
    InputError::new(format!("parts.{}", part.info.id), why.to_string())
}

/// Returns the names that scenarios may use: `base` and these parts. The outer error is Python's, the inner one tells
/// what is wrong with the parts together.
pub fn registered(base: Registries, given: &[Bound<'_, PyAny>]) -> PyResult<Result<Registries, InputError>> {
    let mut all = base;
    for one in given {
        let part = Part::of(one)?;
        let added = match part.kind.as_str() {
            "scheme" => add(&mut all.schemes, part, scheme::install),
            _ => add(&mut all.congestion, part, controller::make),
        };
        if let Err(error) = added {
            return Ok(Err(error));
        }
    }
    Ok(Ok(all))
}

fn add<T: Clone>(registry: &mut Registry<T>, part: &'static Part, plugin: T) -> Result<(), InputError> {
    let added = registry.clone().with_context(part.info, plugin, part).map_err(|why| refused(part, why))?;
    *registry = added;
    Ok(())
}

/// Returns the parts that a scenario uses: name, kind, hash of the source.
pub fn used(scenario: &Scenario, given: &[Bound<'_, PyAny>]) -> PyResult<Vec<(String, String, Option<String>)>> {
    let mut found = Vec::new();
    for one in given {
        let part = Part::of(one)?;
        let is_used = match part.kind.as_str() {
            "scheme" => scenario.schemes.iter().any(|scheme| scheme.plug.id() == part.info.id),
            _ => scenario.flows.iter().any(|flow| {
                let tcp = flow.entry.transport.tcp();
                tcp.and_then(|tcp| tcp.congestion.as_ref()).is_some_and(|plug| plug.id() == part.info.id)
            }),
        };
        if is_used {
            found.push((part.info.id.to_owned(), part.kind.clone(), part.hash.clone()));
        }
    }
    Ok(found)
}
