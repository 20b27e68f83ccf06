//! The receivers of a station: the modes that each knows, and the state that a rate control keeps of each.

use phy::Mode;
use std::rc::Rc;
use units::NodeId;

/// The modes in which a station may send data to each receiver. Receivers that know the same share a table.
#[derive(Debug, Clone)]
pub struct Supported {
    /// Each in order of rate, and never empty.
    tables: Vec<Rc<[Mode]>>,
    /// The table of each node; of nodes behind its end the first.
    of: Vec<u8>,
}

impl Supported {
    /// The same modes, slowest first, by all receivers.
    ///
    /// # Panics
    /// Without a mode.
    pub fn by_all(modes: &[Mode]) -> Supported {
        assert!(!modes.is_empty(), "a radio has a mode");
        Supported { tables: vec![modes.into()], of: Vec::new() }
    }

    /// The same but for this receiver, which has modes of its own, slowest first. More than 256 tables are not kept apart: the receiver
    /// then has the first.
    ///
    /// # Panics
    /// Without a mode.
    #[must_use]
    pub fn but(mut self, to: NodeId, modes: &[Mode]) -> Supported {
        assert!(!modes.is_empty(), "a receiver knows a mode");
        let known = self.tables.iter().position(|table| **table == *modes);
        let table = known.unwrap_or_else(|| {
            self.tables.push(modes.into());
            self.tables.len() - 1
        });
        if self.of.len() <= to.index() {
            self.of.resize(to.index() + 1, 0);
        }
        self.of[to.index()] = u8::try_from(table).unwrap_or(0);
        self
    }

    /// Those of one receiver, slowest first.
    pub fn to(&self, to: NodeId) -> &[Mode] {
        &self.tables[self.table(to)]
    }

    /// The number of its table.
    pub(super) fn table(&self, to: NodeId) -> usize {
        self.of.get(to.index()).map_or(0, |table| usize::from(*table))
    }

    /// All tables, by number.
    pub(super) fn tables(&self) -> impl Iterator<Item = &[Mode]> {
        self.tables.iter().map(|table| &**table)
    }
}

/// The modes of a table between which a control steps that knows "faster" and "slower" alone: more rate for less robustness. Streams share
/// no power here, so more of them at the same modulation cost nothing, and of 802.11n and later a step has as many as there are.
pub(super) fn ladder(table: &[Mode]) -> Vec<Mode> {
    let streams = table.iter().map(|mode| mode.streams).max().unwrap_or(1);
    let newest = |mode: &&Mode| is_mcs(**mode) && mode.streams == streams;
    let found: Vec<Mode> = table.iter().filter(newest).copied().collect();
    if found.is_empty() { table.to_vec() } else { found }
}

/// True of a mode of 802.11n and later.
pub(super) fn is_mcs(mode: Mode) -> bool {
    mode.reference != mode
}

/// State of each receiver, made when it is first sent to.
#[derive(Debug)]
pub(super) struct Receivers<S>(Vec<Option<Box<S>>>);

impl<S> Receivers<S> {
    /// Of nobody yet.
    pub fn new() -> Receivers<S> {
        Receivers(Vec::new())
    }

    /// That of a receiver, if it has been sent to.
    pub fn get(&self, to: NodeId) -> Option<&S> {
        self.0.get(to.index())?.as_deref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, to: NodeId) -> Option<&mut S> {
        self.0.get_mut(to.index())?.as_deref_mut()
    }

    /// That of a receiver, made if there is none.
    pub fn of(&mut self, to: NodeId, make: impl FnOnce() -> S) -> &mut S {
        if self.0.len() <= to.index() {
            self.0.resize_with(to.index() + 1, || None);
        }
        self.0[to.index()].get_or_insert_with(|| Box::new(make()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phy::{Standard, Waveform};

    #[test]
    fn receivers_that_know_the_same_share_a_table() {
        let all = Standard::A.modes();
        let supported = Supported::by_all(all).but(NodeId(2), &all[..3]).but(NodeId(5), &all[..3]);
        let known = [0, 2, 3, 5, 9].map(|to| supported.to(NodeId(to)).len());
        assert_eq!((known, supported.tables().count()), ([8, 3, 8, 3, 8], 2));
    }

    #[test]
    fn a_ladder_of_802_11n_has_the_mcs_in_all_streams_and_no_legacy_mode() {
        let table = Standard::N.radio_modes(2, Waveform::PLAIN).expect("the standard has it");
        let steps: Vec<(u8, u8)> = ladder(&table).iter().map(|mode| (mode.mcs, mode.streams)).collect();
        assert_eq!(steps, [8, 9, 10, 11, 12, 13, 14, 15].map(|mcs| (mcs, 2)));
        assert_eq!(ladder(Standard::B.modes()), Standard::B.modes());
    }
}
