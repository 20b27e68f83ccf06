//! Reports of the MAC in the order in which a receiver hands up: what its reorder buffer may still hold is told later.
//!
//! For schemes that take a delivered segment for one that its receiver has. Under block acknowledgment MPDUs are acknowledged out of
//! order, and a receiver hands up in order. @80211-2020 10.25.6.6

use mac::{Fate, InOrder, TxReport};
use std::collections::{BTreeMap, VecDeque};
use units::NodeId;
use wire::Packet;

/// A report, and the packet it is about.
type Told = (Packet, TxReport);

/// Reports that wait for those of older numbers, by receiver and TID.
///
/// Call order: [`Reports::hears`] for each report, then [`Reports::next`] until it is `None`.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// By rising number; links without any are left out.
    waits: BTreeMap<(NodeId, u8), VecDeque<Told>>,
    /// Those that can be told now, in order.
    ready: VecDeque<Told>,
}

impl Reports {
    /// Takes a report. Returns the fate, if it can be told at once, before anything else.
    ///
    /// One that came so late that its receiver may have dropped it counts as given up.
    #[inline]
    pub fn hears(&mut self, packet: &Packet, report: &TxReport) -> Option<Fate> {
        match report.in_order {
            None => Some(report.fate),
            Some(place) => self.put(packet, report, place),
        }
    }

    #[inline(never)]
    fn put(&mut self, packet: &Packet, report: &TxReport, place: InOrder) -> Option<Fate> {
        let fate = if report.fate == Fate::Delivered && place.is_late { Fate::GivenUp } else { report.fate };
        let report = TxReport { fate, ..*report };
        let key = (report.to, place.tid);
        let Some(waits) = self.waits.get_mut(&key) else {
            if place.is_handed_up() {
                return Some(fate);
            }
            self.waits.insert(key, VecDeque::from([(packet.clone(), report)]));
            return None;
        };
        let is_newer = |(_, other): &Told| other.in_order.is_some_and(|other| place.is_before(other.seq));
        let at = waits.iter().rposition(|other| !is_newer(other)).map_or(0, |at| at + 1);
        waits.insert(at, (packet.clone(), report));
        let is_due = |(_, other): &Told| other.in_order.is_some_and(|other| other.is_before(place.open));
        while waits.front().is_some_and(is_due) {
            let first = waits.pop_front();
            self.ready.extend(first.map(|(packet, first)| (packet, TxReport { done: report.done, ..first })));
        }
        if waits.is_empty() {
            self.waits.remove(&key);
        }
        None
    }

    /// The next that can be told.
    pub fn next(&mut self) -> Option<Told> {
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{OUT, data, report};

    /// Reports of numbers with the oldest that is open behind each. Returns those that are told, after each.
    fn told(reports: &[(u16, u16)]) -> Vec<Vec<u16>> {
        let mut all = Reports::default();
        let tell = |(seq, open): &(u16, u16)| {
            let in_order = Some(InOrder { tid: 0, seq: *seq, open: *open, is_late: false });
            let at_once = all.hears(&data(OUT, 1..2), &TxReport { in_order, ..report(Fate::Delivered) });
            let mut told: Vec<u16> = at_once.map(|_| *seq).into_iter().collect();
            told.extend(std::iter::from_fn(|| all.next()).map(|(_, report)| report.in_order.unwrap().seq));
            told
        };
        reports.iter().map(tell).collect()
    }

    #[test]
    fn what_overtakes_waits_for_what_it_has_overtaken() {
        // 0 is lost; 1, 2 come; 0 comes; 4 comes before 3.
        let none = Vec::new;
        assert_eq!(
            told(&[(1, 0), (2, 0), (0, 3), (4, 3), (3, 5), (5, 6)]),
            [none(), none(), vec![0, 1, 2], none(), vec![3, 4], vec![5]]
        );
    }

    #[test]
    fn a_gap_that_closes_in_part_sets_free_what_stands_before_the_next() {
        // 4095 and 1 are lost, 0 and 2 come.
        assert_eq!(told(&[(0, 4095), (2, 4095), (4095, 1), (1, 3)]), [vec![], vec![], vec![4095, 0], vec![1, 2]]);
    }

    #[test]
    fn the_msdus_of_an_a_msdu_are_told_in_their_order_with_one_number() {
        assert_eq!(told(&[(1, 0), (1, 0), (0, 2)]), [vec![], vec![], vec![0, 1, 1]]);
    }

    #[test]
    fn what_came_late_counts_as_given_up_and_keeps_its_place() {
        let mut all = Reports::default();
        let late = |seq, open| TxReport {
            in_order: Some(InOrder { tid: 0, seq, open, is_late: true }),
            ..report(Fate::Delivered)
        };
        assert_eq!(all.hears(&data(OUT, 1..2), &late(7, 8)), Some(Fate::GivenUp));
        assert_eq!(all.hears(&data(OUT, 1..2), &late(9, 8)), None);
        assert_eq!(all.hears(&data(OUT, 1..2), &report(Fate::Delivered)), Some(Fate::Delivered), "no agreement");
        assert_eq!(all.hears(&data(OUT, 1..2), &late(8, 10)), None);
        let fates: Vec<Fate> = std::iter::from_fn(|| all.next()).map(|(_, report)| report.fate).collect();
        assert_eq!(fates, [Fate::GivenUp; 2]);
    }
}
