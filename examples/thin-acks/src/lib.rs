//! Plug-ins for Interlayer, outside its repository.

pub mod thin_acks;

use plugin::Refused;
use world::Registries;

/// The registries with what this crate adds. A second part is a second line.
pub fn add(mut all: Registries) -> Result<Registries, Refused> {
    all.schemes.add(&thin_acks::INFO, thin_acks::install)?;
    Ok(all)
}

#[cfg(feature = "python")]
interlayer_py::module!(add);
