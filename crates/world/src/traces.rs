//! The traces of motion that a scenario names: files, checked once for all runs.

use crate::scenario::{InputError, Mobility, Scenario};
use motion::trace::{Format, Index, ReadAt, Unusable};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use units::NodeId;

/// A trace that nodes of a scenario follow.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub file: String,
    pub index: Arc<Index>,
    /// Its nodes, by their numbers there.
    pub nodes: Vec<NodeId>,
    pub names: Arc<[String]>,
}

/// A file that is read from anywhere.
#[derive(Debug)]
pub(crate) struct OnDisk(pub File);

impl ReadAt for OnDisk {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.seek(SeekFrom::Start(offset))?;
        self.0.read(into)
    }
}

/// Nodes with a mobility.
pub(crate) fn mobilities(scenario: &Scenario) -> impl Iterator<Item = (NodeId, &Mobility)> {
    let nodes = (0..).map(NodeId).zip(&scenario.nodes);
    nodes.filter_map(|(id, node)| Some((id, node.entry.mobility.as_ref()?)))
}

/// True if a mobility follows this trace.
pub(crate) fn is_trace_of(mobility: &Mobility, name: &str) -> bool {
    matches!(mobility, Mobility::Trace { file } if file == name)
}

/// Reads and checks the traces that a scenario names.
///
/// # Errors
/// A file that cannot be read, or a line of it that is wrong.
pub(crate) fn traces(scenario: &Scenario) -> Result<Vec<Trace>, InputError> {
    let mut found: Vec<Trace> = Vec::new();
    for (id, mobility) in mobilities(scenario) {
        let Mobility::Trace { file } = mobility else { continue };
        if found.iter().any(|trace| trace.file == *file) {
            continue;
        }
        let nodes: Vec<NodeId> =
            mobilities(scenario).filter(|(_, it)| is_trace_of(it, file)).map(|(node, _)| node).collect();
        let names: Vec<String> = nodes.iter().map(|node| scenario.nodes[node.index()].name.clone()).collect();
        let wrong = |why: String| {
            let path = format!("node[{}].mobility.file", scenario.nodes[id.index()].index);
            InputError::new(path, format!("{file}: {why}"))
        };
        let mut source = OnDisk(File::open(file).map_err(|error| wrong(error.to_string()))?);
        let index = Index::read(&mut source, format_of(file), &names).map_err(|why| match why {
            Unusable::Line(error) => wrong(error.to_string()),
            Unusable::Io(error) => wrong(error.to_string()),
        })?;
        found.push(Trace { file: file.clone(), index: Arc::new(index), nodes, names: names.into() });
    }
    Ok(found)
}

fn format_of(file: &str) -> Format {
    if file.to_ascii_lowercase().ends_with(".csv") { Format::Csv } else { Format::Ns2 }
}
