//! Node names, and the nodes that they lead to.

use crate::InputError;
use plugin::suggest;
use std::collections::BTreeMap;
use toml::Value;
use units::NodeId;

/// The most nodes of one entry.
pub(crate) const MOST_OF_A_GROUP: u32 = 10_000;

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

    /// True if a link names the entry of that name.
    pub fn is_at_a_link(&self, name: &str) -> bool {
        self.at_links.binary_search_by(|link| link.as_str().cmp(name)).is_ok()
    }

    /// The nodes of the group of that name.
    pub(crate) fn group(&self, name: &str) -> Option<&Vec<NodeId>> {
        self.groups.get(name)
    }

    /// The node of that name; the message if there is none.
    pub(crate) fn find(&self, name: &str) -> Result<NodeId, String> {
        match self.ids.get(name) {
            Some(id) => Ok(*id),
            None if self.groups.contains_key(name) => {
                Err(format!("\"{name}\" are several nodes; write \"{name}1\" for the first of them"))
            }
            None => Err(suggest::no_such("node", name, &self.entries)),
        }
    }
}
