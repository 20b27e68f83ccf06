//! Controls that step along a ladder of modes, one attempt after the other: the form that ARF, AARF and CARA have in common.
//!
//! They know frames, not A-MPDUs. A PSDU of several MPDUs is a success here if at least half of them were acknowledged: ours. An RTS
//! that was not answered says nothing of the mode of the data, and is not heeded.

use super::receivers::{Receivers, ladder};
use super::{Chain, Given, Head, RateControl, Stage};
use crate::report::PsduReport;
use phy::Mode;
use plugin::{Kind, Param, Value};
use units::{NodeId, SimTime};

/// A step along the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// To the next faster mode.
    Up,
    /// To the next slower mode, if there is one.
    Down,
    /// None.
    Stay,
}

/// The rule of one receiver.
pub(super) trait Rule: Clone {
    /// An attempt with data is over. `may_rise`: there is a faster mode.
    fn outcome(&mut self, is_success: bool, may_rise: bool) -> Turn;

    /// True if an RTS goes before the next attempt.
    fn asks_rts(&self) -> bool {
        false
    }

    /// True if an RTS of it is to be lost to collisions alone, and so goes at the slowest basic rate.
    const PROBES_BY_RTS: bool = false;
}

/// The successes after which a mode is left for a faster one.
pub(super) const SUCCESSES: Param = Param {
    key: "successes",
    kind: Kind::Int { min: 1, max: 10_000 },
    default: Value::Int(10),
    doc: "Successes in a row after which the next faster mode is tried.",
};

/// The attempts after which the same happens although not all were successes.
pub(super) const TIMER: Param = Param {
    key: "timer",
    kind: Kind::Int { min: 1, max: 10_000 },
    default: Value::Int(15),
    doc: "Attempts after which a success is enough to try the next faster mode.",
};

/// A rule for each receiver, and where it stands.
#[derive(Debug)]
pub(super) struct Stepping<R> {
    supported: super::Supported,
    /// By table of `supported`.
    ladders: Vec<Vec<Mode>>,
    fresh: R,
    states: Receivers<(usize, R)>,
}

impl<R: Rule> Stepping<R> {
    /// For a station; every receiver begins at its slowest mode.
    pub fn new(given: Given<'_>, fresh: R) -> Stepping<R> {
        let supported = (given.supported)();
        let ladders = supported.tables().map(ladder).collect();
        Stepping { supported, ladders, fresh, states: Receivers::new() }
    }
}

impl<R: Rule> RateControl for Stepping<R> {
    fn chain(&mut self, _: SimTime, head: &Head, chain: &mut Chain) {
        let Stepping { supported, ladders, fresh, states } = self;
        let to = head.link.to;
        let (step, rule) = states.of(to, || (0, fresh.clone()));
        let stage = Stage::of(ladders[supported.table(to)][*step]).tries(1);
        chain.set([Stage { rts: rule.asks_rts(), ..stage }]);
    }

    fn expected(&self, to: NodeId) -> Mode {
        self.ladders[self.supported.table(to)][self.states.get(to).map_or(0, |state| state.0)]
    }

    fn has_timer(&self) -> bool {
        false
    }

    fn asks_slowest_rts(&self) -> bool {
        R::PROBES_BY_RTS
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        let to = report.link.to;
        let (Some(_), Some((step, rule))) = (report.ppdu, self.states.get_mut(to)) else { return };
        let top = self.ladders[self.supported.table(to)].len() - 1;
        let is_success = 2 * report.acknowledged.len() >= report.mpdus;
        match rule.outcome(is_success, *step < top) {
            Turn::Up => *step = (*step + 1).min(top),
            Turn::Down => *step = step.saturating_sub(1),
            Turn::Stay => {}
        }
    }
}

/// The steps after each of these outcomes (`s`: success, `f`: failure, `r`: an RTS in vain), and whether an RTS goes before the next.
#[cfg(test)]
pub(super) fn trace(make: super::Make, set: &[(&str, i64)], info: &plugin::Info, outcomes: &str) -> Vec<(u8, bool)> {
    use crate::tx_queue::RaTid;
    use phy::{MpduSet, Standard};
    let mut params = plugin::Params::defaults(info.params);
    set.iter().for_each(|(key, value)| params.set(key, Value::Int(*value)));
    let config = crate::Config::of(Standard::A, Mode::ofdm(7));
    let draws = engine::Streams::new(1).get(engine::Purpose::RateControl, 0);
    let given = Given { config: &config, supported: &|| super::Supported::by_all(Standard::A.modes()), draws };
    let mut rates = make(&params, given).expect("802.11a has modes to step along");
    let link = RaTid { to: NodeId(1), tid: None };
    let mut chain = Chain::of([Stage::of(Mode::ofdm(7))]);
    let mut ask = |rates: &mut Box<dyn RateControl>| {
        rates.chain(SimTime::ZERO, &Head { link, mpdu: units::Bytes(1538), attempts: 0 }, &mut chain);
        assert_eq!((chain.stages().len(), chain.stages()[0].tries), (1, 1));
        assert_eq!(chain.stages()[0].mode, rates.expected(NodeId(1)));
        chain.stages()[0]
    };
    ask(&mut rates);
    let told = |outcome: char| {
        let acknowledged = if outcome == 's' { MpduSet::ONE } else { MpduSet::NONE };
        let Stage { mode, rts, .. } = {
            let ppdu = (outcome != 'r').then_some(1);
            let (airtime, mode) = (units::Dur::ZERO, rates.expected(NodeId(1)));
            let report =
                PsduReport { link, ppdu, mode, stage: 0, nth: 1, airtime, mpdus: 1, acknowledged: &acknowledged };
            rates.attempted(SimTime::ZERO, &report);
            ask(&mut rates)
        };
        (mode.mcs, rts)
    };
    outcomes.chars().map(told).collect()
}

/// The steps of [`trace`], as digits.
#[cfg(test)]
pub(super) fn steps(make: super::Make, set: &[(&str, i64)], info: &plugin::Info, outcomes: &str) -> String {
    trace(make, set, info, outcomes).iter().map(|(step, _)| char::from(b'0' + step)).collect()
}
