//! Node names, and the nodes that they lead to.

use crate::at::At;
use crate::item::{Mistake, wrong};
use crate::node::MOST_OF_A_GROUP;
use crate::{InputError, Result};
use plugin::suggest;
use std::collections::{BTreeMap, BTreeSet};
use toml::Value;
use units::NodeId;

/// The nodes of a file by name. An entry with a `count` is a group: `sta` with a count of 2 makes `sta1` and `sta2`.
#[derive(Debug, Default)]
pub struct Directory {
    ids: BTreeMap<String, NodeId>,
    groups: BTreeMap<String, Vec<NodeId>>,
    /// In the order of the file, for suggestions.
    entries: Vec<String>,
    /// Names that links use.
    at_links: Vec<String>,
    /// Names that two nodes have.
    pub(crate) clash: Vec<InputError>,
}

impl Directory {
    /// The nodes that `tree` names. What is wrong with an entry itself is found when the entry is read.
    pub(crate) fn new(tree: &toml::Table) -> Directory {
        let entries = |key| tree.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text = |entry: &Value, key| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut found = Directory::default();
        // Which entry each node is of, and the groups with theirs.
        let (mut entry_of, mut groups) = (Vec::new(), Vec::new());
        for (i, entry) in entries("node").iter().enumerate() {
            let name = text(entry, "name");
            let count = entry.get("count").and_then(Value::as_integer).and_then(|count| u32::try_from(count).ok());
            let members = match count.filter(|count| *count <= MOST_OF_A_GROUP) {
                None => vec![name.clone()],
                Some(count) => (1..=count).map(|nth| format!("{name}{nth}")).collect(),
            };
            let first = entry_of.len() as u32;
            for name in members {
                let id = NodeId(entry_of.len() as u32);
                entry_of.push(i);
                if let Some(first) = found.ids.insert(name.clone(), id) {
                    let message = format!("node[{}] is called \"{name}\" already", entry_of[first.index()]);
                    found.clash.push(InputError::new(format!("node[{i}].name"), message));
                }
            }
            if entry.get("count").is_some() {
                groups.push((i, name.clone(), (first..entry_of.len() as u32).map(NodeId).collect()));
            }
            found.entries.push(name);
        }
        for (i, name, members) in groups {
            if found.groups.insert(name.clone(), members).is_some() || found.ids.contains_key(&name) {
                let message = format!("another entry is called \"{name}\"");
                found.clash.push(InputError::new(format!("node[{i}].name"), message));
            }
        }
        for link in entries("link") {
            for end in ["between", "from", "to"].into_iter().filter_map(|key| link.get(key)) {
                let names = end.as_array().map_or(core::slice::from_ref(end), Vec::as_slice);
                found.at_links.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
            }
        }
        found.at_links.sort_unstable();
        found
    }

    /// Whether a link names the entry of that name.
    pub fn is_at_a_link(&self, name: &str) -> bool {
        self.at_links.binary_search_by(|link| link.as_str().cmp(name)).is_ok()
    }

    /// The node of that name; the message if there is none.
    fn find(&self, name: &str) -> Result<NodeId, String> {
        match self.ids.get(name) {
            Some(id) => Ok(*id),
            None if self.groups.contains_key(name) => {
                Err(format!("\"{name}\" are several nodes; write \"{name}1\" for the first of them"))
            }
            None => Err(suggest::no_such("node", name, &self.entries)),
        }
    }
}

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
    /// Whether the name is that of an entry with a `count`, or there is a list of names.
    pub has_count: bool,
}

/// The nodes whose name, or whose group's name, stands at `at`.
pub(crate) fn group(name: &str, at: &At) -> Group {
    let members = at.cx.nodes.groups.get(name);
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
