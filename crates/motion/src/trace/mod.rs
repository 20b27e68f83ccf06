//! Traces of motion: files of ns-2's kind, as `setdest` and BonnMotion write them, and CSV.
//!
//! A trace is read twice. The first time ([`Index::read`]) every line is checked, and nothing is kept but a few words for each node and for
//! each part of the file in which time does not run back: `setdest` writes one such part, BonnMotion one for each node. The second time a
//! [`Player`] merges the parts as the run goes on. Memory holds one buffer for each part, and what other nodes do between two commands
//! of one node.

mod lines;
mod parse;
mod player;

pub use lines::{LONGEST_LINE, ReadAt};
pub use parse::Format;
pub use player::Player;
pub(crate) use player::Replay;

use crate::{Leg, Point};
use core::fmt;
use lines::Lines;
use parse::Line;
use units::SimTime;

/// The fastest that a node moves, in metres a second: what is faster is a mistake of units.
pub const FASTEST: f64 = 300.0;

/// The distance in metres from where a node stands up to which a command of speed 0, with which `setdest` writes a pause, is one.
const A_PAUSE: f64 = 1.0;

/// A mistake in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// Its line, counted from 1.
    pub line: u64,
    /// Its column, counted from 1.
    pub column: usize,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl core::error::Error for TraceError {}

/// The reason why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// A line is wrong.
    #[error(transparent)]
    Line(#[from] TraceError),
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A command of a trace to one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Its time.
    pub at: SimTime,
    /// The point to which the node goes from then on, or where it is then (CSV).
    pub to: Point,
    /// Metres a second; of no meaning in CSV.
    pub speed: f64,
}

/// One node of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Known {
    /// Its place at the start, if the trace has one.
    place: Option<Point>,
    steps: u64,
}

/// A trace that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    format: Format,
    nodes: Vec<Known>,
    /// Begin and end of each part.
    parts: Vec<(u64, u64)>,
}

/// A node as the first reading goes on.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    x: Option<f64>,
    y: Option<f64>,
    last: Option<(SimTime, Leg)>,
}

impl Index {
    /// Reads a trace of as many nodes as `names` has; CSV may call them so.
    ///
    /// # Errors
    /// The first line that is wrong, or what stops the reading.
    pub fn read(source: &mut dyn ReadAt, format: Format, names: &[String]) -> Result<Index, Unusable> {
        let mut index = Index { format, nodes: vec![Known::default(); names.len()], parts: Vec::new() };
        let mut seen = vec![Seen::default(); names.len()];
        let mut lines = Lines::new(0, u64::MAX);
        let (mut begun, mut last) = (0, SimTime::ZERO);
        let most_parts = 4 * names.len() + 1000;
        while let Some((offset, number, text)) = lines.next(source)? {
            let place = |column: usize, message: String| TraceError { line: number, column, message };
            let line = parse::line(format, text, names).map_err(|(column, message)| place(column, message))?;
            let (node, columns, step) = match line {
                Line::Nothing => continue,
                Line::Place { node, axis, value } => {
                    match axis {
                        0 => seen[node].x = Some(value),
                        1 => seen[node].y = Some(value),
                        _ => {}
                    }
                    continue;
                }
                Line::Step { node, columns, step } => (node, columns, step),
            };
            index.check(&mut seen[node], node, step).map_err(|(which, message)| place(columns[which], message))?;
            if step.at < last {
                index.parts.push((begun, offset));
                begun = offset;
                if index.parts.len() > most_parts {
                    let message = "commands stand neither in order of time nor node by node".to_owned();
                    return Err(place(columns[0], message).into());
                }
            }
            last = step.at;
        }
        index.parts.push((begun, lines.offset()));
        for (node, seen) in seen.iter().enumerate() {
            if let (Some(x), Some(y)) = (seen.x, seen.y) {
                index.nodes[node].place = Some([x, y]);
            } else if seen.x.is_some() != seen.y.is_some() {
                let (has, lacks) = if seen.x.is_some() { ("X_", "Y_") } else { ("Y_", "X_") };
                let message = format!("node {node} has {has} and no {lacks}");
                return Err(TraceError { line: lines.number(), column: 1, message }.into());
            }
        }
        Ok(index)
    }

    /// Checks a step beside those before it of the same node. A mistake is of its time (0), its point (1) or its speed (2).
    fn check(&mut self, seen: &mut Seen, node: usize, step: Step) -> Result<(), (usize, String)> {
        let known = &mut self.nodes[node];
        known.steps += 1;
        let back = |last: SimTime| {
            let (at, last) = (step.at.as_secs_f64(), last.as_secs_f64());
            (0, format!("time runs back: {at} s after {last} s, of the same node"))
        };
        if self.format == Format::Csv {
            if let Some((last, leg)) = seen.last {
                if step.at <= last {
                    return Err(back(last));
                }
                let leg = Leg::until(last, step.at, leg.from, step.to);
                if leg.speed() > FASTEST {
                    return Err((
                        1,
                        format!("{:.1} m/s since the row before; {FASTEST} m/s is the most", leg.speed()),
                    ));
                }
            } else {
                known.place = Some(step.to);
            }
            seen.last = Some((step.at, Leg::rest(step.at, step.to)));
            return Ok(());
        }
        if let Some((last, _)) = seen.last
            && step.at < last
        {
            return Err(back(last));
        }
        let stated = seen.x.zip(seen.y).map(|(x, y)| [x, y]);
        let at = seen.last.map_or(stated, |(_, leg)| Some(leg.place(step.at)));
        let is_pause = at.is_some_and(|at| libm::hypot(at[0] - step.to[0], at[1] - step.to[1]) <= A_PAUSE);
        if step.speed <= 0.0 && !(step.speed == 0.0 && is_pause) {
            return Err((2, format!("a speed of {} m/s: a node that goes somewhere has one above zero", step.speed)));
        }
        let leg = match at {
            Some(at) if step.speed > 0.0 => Leg::between(step.at, at, step.to, step.speed),
            _ => Leg::rest(step.at, at.unwrap_or(step.to)),
        };
        seen.last = Some((step.at, leg));
        Ok(())
    }

    /// The memory in bytes that following it takes, beside what waits of other nodes.
    pub fn bytes(&self) -> usize {
        self.parts.len() * 2 * LONGEST_LINE
    }

    /// The place of a node at the start, if the trace has one.
    pub fn place(&self, node: usize) -> Option<Point> {
        self.nodes[node].place
    }
}
