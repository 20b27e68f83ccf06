//! A recorded run again, in virtual time.

use crate::gate::Gate;
use crate::record::{Event, RecordError, Recorded};
use crate::set::{Command, SetError};
use std::collections::VecDeque;
use units::{NodeId, SimTime};
use world::{Blueprint, Drive, DriveError, Record, Run, RunError};

/// The reason why a recorded run cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is none.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A host of the recording that the scenario does not have.
    #[error("the recording has a host \"{0}\", and the scenario has no such node")]
    NoNode(String),
    /// A change that this scenario cannot have.
    #[error(transparent)]
    Set(#[from] SetError),
    /// The world refused: the scenario is another one, or shorter.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A recorded run that was made again.
#[derive(Debug)]
pub struct Replayed {
    /// Its results.
    pub run: Run,
    /// The conversations of hosts.
    pub conversations: Vec<crate::Conversation>,
    /// Packets that hosts were given, in the recording.
    pub recorded: u64,
    /// Of those: given again at the same time, byte for byte, in the same order.
    pub same: u64,
    /// The first that differs: its time and node.
    pub first_other: Option<(SimTime, String)>,
}

/// Makes the run of a recording again with `blueprint`, and compares what hosts were given, bit for bit. It ends when the recorded run did,
/// however long the scenario lasts.
///
/// # Errors
/// [`ReplayError`].
pub fn replay(blueprint: &Blueprint, bytes: &[u8]) -> Result<Replayed, ReplayError> {
    let Recorded { seed, end, events } = Recorded::read(bytes)?;
    let scenario = blueprint.scenario();
    let node = |name: &str| -> Result<NodeId, ReplayError> {
        let found = scenario.nodes.iter().position(|node| node.name == name);
        found.map(|at| NodeId(at as u32)).ok_or_else(|| ReplayError::NoNode(name.to_owned()))
    };
    let mut gate = Gate::new(Drive::new(blueprint, seed, &Record::default())?, scenario.nodes.len());
    let mut given: Vec<VecDeque<(SimTime, Vec<u8>)>> = vec![VecDeque::new(); scenario.nodes.len()];
    let (mut recorded, mut same, mut first_other) = (0, 0, None);
    for (at, event) in events {
        match event {
            Event::Sent(name, bytes) => _ = gate.enter(node(name)?, bytes, at),
            Event::Line(text) => {
                advance(&mut gate, at)?;
                gate.drive().change(&Command::parse(text, scenario)?.what)?;
            }
            Event::Got(name, bytes) => {
                let to = node(name)?;
                advance(&mut gate, at)?;
                gate.leave(to, |at, bytes| given[to.index()].push_back((at, bytes.to_vec())));
                recorded += 1;
                if given[to.index()].pop_front().is_some_and(|(then, again)| then == at && again == bytes) {
                    same += 1;
                } else if first_other.is_none() {
                    first_other = Some((at, name.to_owned()));
                }
            }
        }
    }
    advance(&mut gate, end)?;
    let conversations = gate.conversations().cloned().collect();
    Ok(Replayed { run: gate.into_drive().stop()?, conversations, recorded, same, first_other })
}

/// Arrivals stand in the order in which hosts were served, not in that of their times.
fn advance(gate: &mut Gate, at: SimTime) -> Result<(), DriveError> {
    let at = at.max(gate.drive().now());
    gate.drive().advance(at)
}
