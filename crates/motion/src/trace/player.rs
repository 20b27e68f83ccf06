//! A trace as a run goes on.

use super::lines::{Lines, ReadAt};
use super::parse::{self, Format, Line};
use super::{Index, Step};
use crate::{Leg, Model, Point};
use core::cmp::Reverse;
use std::cell::RefCell;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use units::SimTime;

/// A trace that nodes follow: it reads ahead no farther than they ask.
#[derive(Debug)]
pub struct Player {
    index: Arc<Index>,
    source: Box<dyn ReadAt>,
    names: Vec<String>,
    parts: Vec<(Lines, Option<(usize, Step)>)>,
    /// The next step of each part.
    queue: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// Steps of each node that others had to pass.
    waiting: Vec<VecDeque<Step>>,
    /// Steps of each node that have not been read.
    left: Vec<u64>,
}

impl Player {
    /// A trace at its start: the `source` and the `names` that the index was read with.
    pub fn new(index: Arc<Index>, source: Box<dyn ReadAt>, names: &[String]) -> Player {
        let parts = index.parts.iter().map(|(begin, end)| (Lines::new(*begin, *end), None)).collect();
        let left: Vec<u64> = index.nodes.iter().map(|node| node.steps).collect();
        let waiting = vec![VecDeque::new(); left.len()];
        let names = names.to_vec();
        let mut player = Player { index, source, names, parts, queue: BinaryHeap::new(), waiting, left };
        (0..player.parts.len()).for_each(|part| player.read(part));
        player
    }

    /// Reads on in a part to its next step. A file that has changed since it was checked ends there.
    fn read(&mut self, part: usize) {
        let (lines, next) = &mut self.parts[part];
        *next = None;
        while let Ok(Some((_, _, text))) = lines.next(&mut *self.source) {
            match parse::line(self.index.format, text, &self.names) {
                Ok(Line::Step { node, step, .. }) => {
                    *next = Some((node, step));
                    self.queue.push(Reverse((step.at, part)));
                    return;
                }
                Ok(Line::Nothing | Line::Place { .. }) => {}
                Err(_) => return,
            }
        }
    }

    /// The next step of a node; `None` if there is none any more.
    fn step(&mut self, node: usize) -> Option<Step> {
        if let Some(step) = self.waiting[node].pop_front() {
            return Some(step);
        }
        while self.left[node] > 0 {
            let Reverse((_, part)) = self.queue.pop()?;
            let (of, step) = self.parts[part].1?;
            self.read(part);
            self.left[of] -= 1;
            if of == node {
                return Some(step);
            }
            self.waiting[of].push_back(step);
        }
        None
    }
}

/// A node that follows a trace.
#[derive(Debug)]
pub(crate) struct Replay {
    player: Rc<RefCell<Player>>,
    node: usize,
    format: Format,
    place: Point,
    next: Option<Step>,
}

impl Replay {
    /// A node of a trace, by its number there, and where it is if the trace does not say.
    pub fn new(player: Rc<RefCell<Player>>, node: usize, place: Point) -> Replay {
        let (format, place) = {
            let index = &player.borrow().index;
            (index.format, index.place(node).unwrap_or(place))
        };
        Replay { player, node, format, place, next: None }
    }

    fn read(&mut self) {
        self.next = self.player.borrow_mut().step(self.node);
    }

    fn go(&mut self, now: SimTime, at: Point) -> Leg {
        let mut due = None;
        // Of several commands at one instant the last holds.
        while let Some(step) = self.next.filter(|step| step.at <= now) {
            due = Some(step);
            self.read();
        }
        match (self.format, due, self.next) {
            (Format::Csv, _, Some(next)) => Leg::until(now, next.at, at, next.to),
            (Format::Ns2, Some(step), next) if step.speed > 0.0 && step.to != at => {
                let leg = Leg::between(now, at, step.to, step.speed);
                next.map_or(leg, |next| leg.cut(next.at))
            }
            (_, _, Some(next)) => Leg::until(now, next.at, at, at),
            (_, _, None) => Leg::rest(now, at),
        }
    }
}

impl Model for Replay {
    fn first(&mut self) -> Leg {
        self.read();
        self.go(SimTime::ZERO, self.place)
    }

    fn next(&mut self, ended: &Leg) -> Leg {
        self.go(ended.ends, ended.to())
    }
}
