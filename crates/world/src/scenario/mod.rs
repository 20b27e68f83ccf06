//! The scenario a user writes: its keys, their checks, and the plain data they become.
//!
//! - **Parses** TOML (spec 1.0), with overrides (`--set PATH=VALUE`) applied to the tree before anything is checked.
//! - **Checks** everything that can be known without building the world: keys, words, units, ranges, references. One
//!   mistake is reported, the first in the order of the file within a pass: shapes first, then what keys say together.
//! - **Leaves out** files, registries (the caller hands in [`Names`]) and every default that belongs to another crate:
//!   those stay `None`.
//!
//! What may be written is stated once, in `keys.rs`: the decoder, the suggestions and [`json_schema`] read it there.

mod build;
mod check;
mod decode;
mod error;
mod item;
mod json;
mod key;
mod keys;
mod overrides;
mod scalar;
mod schema;
mod types;

pub use error::InputError;
pub use schema::{json_schema, json_schema_for};
pub use types::*;

use schemes::Param;

/// The registered names a scenario may use, in the order they are listed to the user.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'a> {
    /// Congestion controls.
    pub congestion: &'a [&'a str],
    /// Acknowledgement policies of TCP receivers.
    pub receivers: &'a [&'a str],
    /// Schemes, each with the parameters it declares.
    pub schemes: &'a [(&'static str, &'static [Param])],
}

/// Reads a scenario from the text of a TOML file, after replacing what `overrides` (path, value) say, in their order.
///
/// # Errors
/// One line that names the key as the file spells it, and suggests what was meant.
pub fn parse(text: &str, overrides: &[(String, String)], names: &Names) -> Result<Scenario, InputError> {
    let mut tree = toml::from_str::<toml::Table>(text).map_err(|error| error::syntax(text, &error))?;
    for (path, value) in overrides {
        overrides::apply(&mut tree, path, value)?;
    }
    let fields = decode::root(&tree, names)?;
    let scenario = build::scenario(&fields, names)?;
    check::check(&scenario)?;
    Ok(scenario)
}
