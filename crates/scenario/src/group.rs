//! Values that are names of nodes, or of groups of them.

use crate::Result;
use crate::at::At;
use crate::item::{Mistake, wrong};
use std::collections::BTreeSet;
use toml::Value;
use units::NodeId;

/// Stands for a node that is not there; the mistake is noted.
pub(crate) const NOBODY: NodeId = NodeId::BROADCAST;

/// The node whose name stands at `at`.
pub(crate) fn node(name: &str, at: &At) -> NodeId {
    at.cx.nodes.find(name).unwrap_or_else(|message| {
        at.later(message);
        NOBODY
    })
}

/// The nodes that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The name, as the file spells it.
    pub name: String,
    /// Its nodes: one, unless `has_count`.
    pub nodes: Vec<NodeId>,
    /// True if the name is that of an entry with a `count`, or there is a list of names.
    pub has_count: bool,
}

/// The nodes whose name, or whose group's name, stands at `at`.
pub(crate) fn group(name: &str, at: &At) -> Group {
    let members = at.cx.nodes.group(name);
    let nodes = members.cloned().unwrap_or_else(|| vec![node(name, at)]);
    Group { name: name.to_owned(), nodes, has_count: members.is_some() }
}

/// The nodes of a name, or of an array of names.
pub(crate) fn one_or_list(value: &Value, at: &At) -> Result<Group, Mistake> {
    let Some(values) = value.as_array() else {
        return Ok(group(value.as_str().ok_or(Mistake::Unexpected)?, at));
    };
    if values.is_empty() {
        return Err("expected the name of a node, or an array with one at least".to_owned().into());
    }
    let nodes = list(values, at)?;
    let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    Ok(Group { name: names.join(", "), nodes, has_count: true })
}

/// The nodes of an array of names; no node twice.
pub(crate) fn list(values: &[Value], at: &At) -> Result<Vec<NodeId>> {
    let mut found = Vec::with_capacity(values.len());
    let mut seen = BTreeSet::new();
    for (i, value) in values.iter().enumerate() {
        let at = at.index(i);
        let name = value.as_str().ok_or_else(|| at.error(wrong("the name of a node", value)))?;
        let group = group(name, &at);
        for id in group.nodes {
            if !seen.insert(id) {
                at.later(format!("\"{}\" is here twice", group.name));
            }
            found.push(id);
        }
    }
    Ok(found)
}
