//! The scenario a user writes: its keys, their checks, and the plain data they become.
//!
//! - **Parses** TOML (spec 1.0), with overrides (`--set PATH=VALUE`) applied to the tree before anything is checked.
//! - **Declares** each key once, in the module of its table (`radio`, `channel`, `node`, `flow` …): from that come the field,
//!   the decoder with its suggestions, the encoder, the JSON Schema and the reference page. `docs/design/scenario.md` shows
//!   how to add one.
//! - **Checks** everything that can be known without building the world: keys, words, units, ranges, references.
//!   All mistakes of a kind are reported together: what is wrong with the shape of the file, in its order, and names of
//!   nodes that lead nowhere; if there are none, keys that contradict each other.
//! - **Leaves out** files, registries (the caller hands in [`Names`]) and every default that belongs to another crate:
//!   those stay `None`.

#[macro_use]
mod macros;
#[macro_use]
mod sets;

mod aggregation;
mod at;
mod channel;
mod check;
mod check_mcs;
mod connection;
mod directory;
mod edca;
mod error;
mod errors;
mod file;
mod flow;
mod group;
mod item;
mod mobility;
mod modes;
mod node;
mod notes;
mod overrides;
mod plug;
mod queues;
mod radio;
mod resolve;
mod scalar;
mod shape;
mod words;

pub use aggregation::{Aggregation, CategoryName};
pub use channel::{
    Channel, ChannelNames, Channels, Delay, Distribution, Ends, Fading, Further, Link, LinkEntry, Noise, Pair,
    Propagation,
};
pub use connection::{ByteCounting, Ssthresh, Tcp, UserTimeout, WindowScale};
pub use edca::{Access, Category, Edca};
pub use error::{InputError, Mistakes, Result};
pub use errors::{ErrorSpec, LinkErrors, Shared, StateError};
pub use file::{Cut, EventKind, Layout, Redraw, SchemeUse, TimeWindow, TimedEvent};
pub use flow::{Flow, FlowEntry, Hops, Protocol, Reader, Traffic, Transport, Writes};
pub use group::Group;
pub use mobility::{Area, Mobility, Points, Speeds};
pub use modes::{Mcs, Modes};
pub use node::{Node, NodeEntry, Prefixes, Role};
pub use plug::{
    Congestion, Disciplines, Plug, RateControls, Receivers, Recoveries, Registered, RouteMetrics, Routers, Schemes,
    Users,
};
pub use queues::{Per, Queue, RadioQueue};
pub use radio::{
    Capture, ControlRate, FragmentationThreshold, HandoffQueue, Levels, Preamble, Protection, Radio, RtsFor,
    RtsThreshold, Slot, has_mcs,
};
pub use resolve::Scenario;
pub use scalar::{Metres, MetresPerSecond};
pub use words::Words;

use plugin::Registry;

/// The registered plug-ins that a scenario may name.
#[derive(Debug, Clone)]
pub struct Names {
    /// Congestion controls.
    pub congestion: Registry<()>,
    /// Acknowledgement policies of TCP receivers.
    pub receivers: Registry<()>,
    /// Loss recoveries of TCP senders.
    pub recoveries: Registry<()>,
    /// Routers.
    pub routers: Registry<()>,
    /// Metrics of computed routes.
    pub route_metrics: Registry<()>,
    /// Rate controls of stations.
    pub rate_controls: Registry<()>,
    /// Queue disciplines. The reader tries their parameters.
    pub queues: Registry<queue::Make>,
    /// Traffic models of users.
    pub traffic: Registry<()>,
    /// Schemes.
    pub schemes: Registry<()>,
}

impl Default for Names {
    /// None, but for queue disciplines: a scenario has the first of them without naming it.
    fn default() -> Names {
        Names {
            congestion: Registry::new("congestion control"),
            receivers: Registry::new("receiver"),
            recoveries: Registry::new("recovery"),
            routers: Registry::new("router"),
            route_metrics: Registry::new("route metric"),
            rate_controls: Registry::new("rate control"),
            queues: queue::registry(),
            traffic: Registry::new("traffic model"),
            schemes: Registry::new("scheme"),
        }
    }
}

/// Reads a scenario from the text of a TOML file, after replacing what `overrides` (path, value) say, in their order.
///
/// # Errors
/// Every mistake in a line that names the key as the file spells it, and suggests what was meant.
pub fn parse(text: &str, overrides: &[(String, String)], names: &Names) -> Result<Scenario> {
    let mut tree = toml::from_str::<toml::Table>(text).map_err(|error| error::syntax(text, &error))?;
    let mut mistakes = Mistakes::default();
    for (path, value) in overrides {
        mistakes.take(overrides::apply(&mut tree, path, value));
    }
    mistakes.into_result()?;
    let cx = at::Context::new(&tree, names, radio::stated_standard(&tree), file::places);
    let file = match shape::read::<file::File>(&tree, &at::At::root(&cx)) {
        Ok(file) => file,
        Err(error) => {
            cx.note(error.clone());
            return Err(cx.into_mistakes().into_result().err().unwrap_or(error));
        }
    };
    let silent = radio::silent(&cx);
    let at_links = |entry: &node::NodeEntry| cx.nodes.is_at_a_link(&entry.name);
    let has_radio: Vec<bool> = file.node.iter().map(|entry| entry.has_radio(at_links(entry))).collect();
    let mut mistakes = Mistakes::default();
    resolve::check_radio(&file, &has_radio, &mut mistakes);
    mistakes.take(cx.into_mistakes().into_result());
    mistakes.into_result()?;
    let scenario = resolve::resolve(file, &has_radio, silent)?;
    check::check(&scenario, names)?;
    Ok(scenario)
}

/// The tables of a file as JSON, after replacing what `overrides` say. No key is checked.
///
/// # Errors
/// A text that is no TOML, and every override whose path or value is wrong.
pub fn overridden(text: &str, overrides: &[(String, String)]) -> Result<String> {
    let mut tree = toml::from_str::<toml::Table>(text).map_err(|error| error::syntax(text, &error))?;
    let mut mistakes = Mistakes::default();
    for (path, value) in overrides {
        mistakes.take(overrides::apply(&mut tree, path, value));
    }
    mistakes.into_result()?;
    serde_json::to_string(&tree).map_err(|error| InputError::new("", error.to_string()))
}

/// The JSON Schema (draft 2020-12) of a scenario file, of any congestion controls, receivers, routers and schemes.
pub fn json_schema() -> String {
    json_schema_for(&Names::default())
}

/// The same, with the registered names listed and the parameters of each spelled out. A registry that is empty allows any
/// name.
pub fn json_schema_for(names: &Names) -> String {
    let mut schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Interlayer scenario",
        "description": "A scenario file of Interlayer, as TOML or its equivalent in JSON.",
    });
    shape::merge(&mut schema, shape::Shape::of::<file::File>(names).schema(names));
    format!("{schema:#}\n")
}
