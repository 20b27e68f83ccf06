//! Gains of nodes that move, in a medium where signals have powers.

use super::sinr::{Chance, Sinr};
use std::collections::BTreeMap;
use units::{Db, NodeId};

/// Chance on links that nodes have moved out of, by transmitter and receiver: who comes back goes on in its draws.
#[derive(Debug, Default)]
pub(super) struct Kept(BTreeMap<(usize, usize), Chance>);

impl Kept {
    pub fn take(&mut self, from: usize, to: usize) -> Option<Chance> {
        self.0.remove(&(from, to))
    }

    pub fn put(&mut self, from: usize, to: usize, chance: Chance) {
        self.0.insert((from, to), chance);
    }
}

impl Sinr {
    /// Nodes move from now on: draws of a link go on where they were when it comes back.
    pub fn set_moving(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// Sets the gains from `from`, which does not transmit, to some others, before it does. Who comes above the floor or falls below it
    /// makes the lists of listeners anew; other gains are changed in their place.
    pub fn renew(&mut self, from: NodeId, gains: impl Iterator<Item = (NodeId, Db)>) {
        debug_assert!(!self.is_transmitting(from), "a frame ends where it has begun");
        let i = from.index();
        let (mut is_other, mut is_listed) = (false, true);
        for (to, gain) in gains.filter(|(to, _)| *to != from) {
            let own = &mut self.gains[i * self.nodes + to.index()];
            if *own == gain {
                continue;
            }
            (*own, is_other) = (gain, true);
            let ratio = gain.ratio();
            let is_above = self.powers_mw[i] * ratio >= self.floor * self.receivers[to.index()].noise_mw;
            match self.listeners[i].binary_search(&to) {
                Ok(place) if is_above => self.paths[i][place].gain = ratio,
                Err(_) if !is_above => {}
                _ => is_listed = false,
            }
        }
        if !is_listed {
            self.list(i);
        } else if is_other {
            // No frame has this power: the next one sets all.
            self.set_to_mw[i] = f64::NAN;
        }
    }
}
