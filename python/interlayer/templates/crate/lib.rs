//! Plug-ins for Interlayer, outside its repository.

pub mod my_part;

use plugin::Refused;
use world::Registries;

/// The registries with what this crate adds. A second part is a second line.
pub fn add(mut all: Registries) -> Result<Registries, Refused> {
    all.REGISTRY.add(&my_part::INFO, my_part::MAKE)?;
    Ok(all)
}

#[cfg(feature = "python")]
interlayer_py::module!(add);
