//! `interlayer._core`: the core with the plug-ins of this workspace.

#[cfg(debug_assertions)]
mod fault;

use interlayer_py::{fill, world::Registries};
use pyo3::prelude::*;

/// The compiled core of Interlayer.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let listed = Registries::builtin();
    #[cfg(debug_assertions)]
    let known = fault::add(listed.clone());
    #[cfg(not(debug_assertions))]
    let known = listed.clone();
    fill(module, known, &listed, None)
}
