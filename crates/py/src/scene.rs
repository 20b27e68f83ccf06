//! The scene of a run, as columns.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::NodeId;
use world::scenario::Scenario;
use world::{FrameClass, Meeting, Pulse, Scene};

/// Names and columns; see the type stub.
pub fn dict<'py>(
    py: Python<'py>,
    scene: &Scene,
    meetings: &[Meeting],
    of: &Scenario,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("nodes", of.nodes.iter().map(|node| &*node.name).collect::<Vec<&str>>())?;
    dict.set_item("has_radio", of.nodes.iter().map(|node| node.has_radio).collect::<Vec<bool>>())?;
    dict.set_item("channels", of.channels.names().collect::<Vec<&str>>())?;
    dict.set_item("classes", FrameClass::ALL.map(FrameClass::name))?;
    dict.set_item("x_m", scene.places.iter().map(|at| at[0]).collect::<Vec<f64>>())?;
    dict.set_item("y_m", scene.places.iter().map(|at| at[1]).collect::<Vec<f64>>())?;
    let links = PyDict::new(py);
    put(&links, "t_s", meetings, |it: &Meeting| it.at.as_secs_f64())?;
    put(&links, "channel", meetings, |it| it.channel.index() as i64)?;
    put(&links, "one", meetings, |it| i64::from(it.pair[0].0))?;
    put(&links, "other", meetings, |it| i64::from(it.pair[1].0))?;
    put(&links, "is_up", meetings, |it| it.is_up)?;
    dict.set_item("links", links)?;
    dict.set_item("bin_s", scene.bin.as_secs_f64())?;
    let pulses = PyDict::new(py);
    put(&pulses, "bin", &scene.pulses, |it: &Pulse| i64::from(it.bin))?;
    put(&pulses, "from", &scene.pulses, |it| i64::from(it.from.0))?;
    put(&pulses, "to", &scene.pulses, |it| if it.to == NodeId::BROADCAST { -1 } else { i64::from(it.to.0) })?;
    put(&pulses, "class", &scene.pulses, |it| it.class as i64)?;
    put(&pulses, "frames", &scene.pulses, |it| i64::from(it.frames))?;
    put(&pulses, "lost", &scene.pulses, |it| i64::from(it.lost))?;
    dict.set_item("pulses", pulses)?;
    Ok(dict)
}

/// A column of a value of each.
fn put<'py, I, T: Element>(into: &Bound<'py, PyDict>, name: &str, of: &[I], value: impl Fn(&I) -> T) -> PyResult<()> {
    into.set_item(name, PyArray1::from_vec(into.py(), of.iter().map(value).collect()))
}
