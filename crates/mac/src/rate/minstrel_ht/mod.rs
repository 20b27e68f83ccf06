//! Minstrel-HT, Linux's rate control: the rates of best expected throughput, found by statistics and probes.
//!
//! Statistics of each rate are closed by the report of an attempt once 50 ms have passed; there is no timer. A probability is averaged by a
//! low-pass filter of second order with a period of 16 windows. Throughput is `min(p, 0.9)` over the time of an average packet of 1200 B and its share of the
//! overhead of an average A-MPDU; nothing below p = 0.1. The chain is the best rate, the second best, and that of the highest
//! probability (the fastest with p > 0.75), the last two behind an RTS. In each as many tries as 6 ms hold, from 2 to 7, and 2
//! where p < 0.2. Once in 20 ms a probe of one frame and one try goes first. Arithmetic is the kernel's, in integers: probabilities in 4096ths.
//!
//! - **Source** @FIE21: Linux, net/mac80211/rc80211_minstrel_ht.c, as since 5.12 (commit 80d55154b2f8), with the correction of 1236af327af4: a
//!   probe waits until its time has come, not until it has passed. `sampling = "counted"`: as before, and as in ns-3.
//! - **Realism** it runs on HT and VHT radios whose drivers leave rates to mac80211, and on those of 802.11a and g. Where the firmware chooses, on
//!   HE radios above all, no Linux runs it: the groups of HE are ours.
//! - **Departs** (a) statistics count attempts as they end, not MSDUs as they leave; (b) asked once for each PSDU, so `counted`
//!   counts these, as ns-3 does; (c) a rate that waits for a probe and may still have it is kept, where the kernel loses one of
//!   them; (d) no limit of the A-MSDU; (e) durations are not rounded to 16 bits; (f) `counted` counts every slow rate that comes up and
//!   lets two pass in a window, as ns-3 does: the kernel counted those skipped 20 times alone, and let three pass. By (b) it probes up to
//!   64 times as rarely as the kernel did, which counted down by MSDU.
//! - **Checked** the traces below; `crates/world/tests/all/rates.rs`; `validation/ns3/rates.py`.

mod groups;
mod sampling;

use super::receivers::Receivers;
use super::{Chain, Given, Head, RateControl, Stage, Supported, Unfit};
use crate::report::PsduReport;
use groups::Table;
use phy::Mode;
use plugin::{Info, Kind, Param, Params, Value};
use sampling::{Columns, Counted, InUse, NONE, Paced};
use units::{Dur, NodeId, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "minstrel-ht",
    summary: "Minstrel-HT, Linux's: the rates of best expected throughput, by statistics and probes",
    source: "FIE21",
    params: &[
        Param {
            key: "sampling",
            kind: Kind::Choice(&["paced", "counted"]),
            default: Value::Choice("paced"),
            doc: "Probes: \"paced\", one in a probe interval, since Linux 5.12; \"counted\", one in 16 frames and more, before, \
                  with an average of 3/4 old and 1/4 new.",
        },
        Param {
            key: "window",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(10) },
            default: Value::Time(Dur::from_ms(50)),
            doc: "Time after which the report of an attempt closes the statistics.",
        },
        Param {
            key: "probe_interval",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(10) },
            default: Value::Time(Dur::from_ms(20)),
            doc: "Time from probe to probe, of \"paced\".",
        },
        Param {
            key: "segment",
            kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(1) },
            default: Value::Time(Dur::from_ms(6)),
            doc: "Time that the tries in one rate may take, contention included.",
        },
        Param {
            key: "most_tries",
            kind: Kind::Int { min: 2, max: 20 },
            default: Value::Int(7),
            doc: "Tries in one rate at most.",
        },
        Param {
            key: "cap",
            kind: Kind::Float { min: 0.1, max: 1.0 },
            default: Value::Float(0.9),
            doc: "Probability above which losses are taken for collisions: expected throughput rises no further.",
        },
    ],
};

/// For a station with these parameters.
///
/// # Errors
/// Its radio has DSSS alone.
pub fn make(params: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    Ok(Box::new(MinstrelHt::new(params, given)?))
}

/// Scale of probabilities: 12 bits.
const SCALE: u32 = 12;
/// Certainty.
const ONE: i32 = 1 << SCALE;

/// A probability in the kernel's integers.
const fn scaled(p: f64) -> i32 {
    (p * ONE as f64) as i32
}

/// Coefficients of the filter, scaled: a₁ = exp(−π √2 / 16), −a₁² and 2 a₁ cos(√2 · 2π / 16) as the kernel has rounded them.
const OLDER: i32 = -0x92e;
const OLD: i32 = 0x1499;
const NEW: i32 = ONE - OLD - OLDER;

/// The best rates that are kept.
const BEST: usize = 4;
/// Attempts in a window from which on a rate may be left before its end.
const EARLY: u32 = 30;
/// Contention windows as the kernel assumes them.
const CW: (u64, u64) = (15, 1023);
/// And its slot, µs.
const SLOT_US: u64 = 9;

/// The parameters of a station.
#[derive(Debug, Clone, Copy)]
struct Rules {
    is_paced: bool,
    window: Dur,
    probe_interval: Dur,
    segment_us: u64,
    most_tries: u8,
    cap: i32,
}

/// The rate control of a station.
#[derive(Debug)]
struct MinstrelHt {
    rules: Rules,
    supported: Supported,
    /// By table of `supported`.
    tables: Vec<Table>,
    columns: Columns,
    receivers: Receivers<Receiver>,
}

impl MinstrelHt {
    fn new(params: &Params, given: Given<'_>) -> Result<MinstrelHt, Unfit> {
        let Given { config, supported, mut draws } = given;
        if config.modes.iter().all(|mode| mode.coding.is_none()) {
            let why = "it has no groups of 802.11b; choose \"arf\", \"aarf\" or \"cara\" there";
            return Err(Unfit(why.to_owned()));
        }
        let us = |key: &str| params.time(key).ns() / 1000;
        let rules = Rules {
            is_paced: params.choice("sampling") == "paced",
            window: params.time("window"),
            probe_interval: params.time("probe_interval"),
            segment_us: us("segment"),
            most_tries: params.int("most_tries") as u8,
            cap: scaled(params.float("cap")),
        };
        let supported = supported();
        let tables = supported.tables().map(|modes| Table::of(modes, config)).collect();
        let columns = Columns::draw(&mut draws);
        Ok(MinstrelHt { rules, supported, tables, columns, receivers: Receivers::new() })
    }
}

impl RateControl for MinstrelHt {
    fn chain(&mut self, now: SimTime, head: &Head, chain: &mut Chain) {
        let MinstrelHt { rules, supported, tables, columns, receivers } = self;
        let to = head.link.to;
        let table = &tables[supported.table(to)];
        let receiver = receivers.of(to, || Receiver::new(now, rules, table, columns));
        chain.set(receiver.stages);
        let probe = receiver.probe(now, rules, table, columns);
        if probe != NONE {
            // One frame, and alone also where it is repeated.
            let first = Stage::of(table.rates[usize::from(probe)].mode).tries(1);
            let [_, second, third] = receiver.stages;
            chain.set([first, second, third].map(|stage| stage.at_most(Dur::ZERO)));
        }
    }

    fn expected(&self, to: NodeId) -> Mode {
        let table = &self.tables[self.supported.table(to)];
        self.receivers.get(to).map_or(table.rates[0].mode, |receiver| receiver.stages[0].mode)
    }

    fn has_timer(&self) -> bool {
        false
    }

    fn attempted(&mut self, now: SimTime, report: &PsduReport<'_>) {
        let MinstrelHt { rules, supported, tables, columns, receivers } = self;
        let to = report.link.to;
        if let Some(receiver) = receivers.get_mut(to) {
            receiver.attempted(now, report, rules, &tables[supported.table(to)], columns);
        }
    }
}

/// Statistics of a rate.
#[derive(Debug, Clone, Copy, Default)]
struct Stats {
    /// MPDUs sent since statistics were closed.
    attempts: u32,
    /// Of those, acknowledged.
    successes: u32,
    /// It has been tried at some time.
    was_tried: bool,
    /// Averaged probability, scaled; and the one before.
    prob: i32,
    prob_before: i32,
    /// Windows without an attempt.
    skipped: u8,
}

impl Stats {
    /// Closes a window.
    fn close(&mut self, is_paced: bool) {
        if self.attempts == 0 {
            self.skipped = self.skipped.saturating_add(1);
            return;
        }
        let now = ((u64::from(self.successes) << SCALE) / u64::from(self.attempts)) as i32;
        if is_paced {
            (self.prob, self.prob_before) = filtered(self.prob, self.prob_before, now);
        } else {
            self.prob = if self.was_tried { mixed(self.prob, now) } else { now };
        }
        (self.attempts, self.successes, self.was_tried, self.skipped) = (0, 0, true, 0);
    }
}

/// The output of the filter with this input, and the one before it.
fn filtered(old: i32, older: i32, new: i32) -> (i32, i32) {
    let new = new.max(1);
    if old == 0 {
        return (new, new);
    }
    let sum = (NEW * new + OLD * old + OLDER * older) >> SCALE;
    let out = if sum < 0 { 1 } else { sum.min(ONE) };
    (out, old)
}

/// An average of 96 parts of 128 old and 32 new.
fn mixed(old: i32, new: i32) -> i32 {
    old + 32 * (new - old) / 128
}

/// State of a group.
#[derive(Debug, Clone, Copy)]
struct BestOf {
    tp: [u16; BEST],
    max_prob: u16,
}

/// The probes of a receiver.
#[derive(Debug)]
enum Probes {
    Paced(Paced),
    Counted(Counted),
}

/// State of one receiver.
#[derive(Debug)]
struct Receiver {
    stats: Vec<Stats>,
    groups: Vec<BestOf>,
    /// The rates of the highest throughput, best first.
    tp: [u16; BEST],
    max_prob: u16,
    /// Mean length of an A-MPDU, scaled.
    mean_len: i32,
    /// MPDUs and PPDUs of this window.
    mpdus: u64,
    ppdus: u64,
    closed: SimTime,
    probes: Probes,
    /// The chain without a probe.
    stages: [Stage; 3],
    /// The rate of the last report.
    last: usize,
}

impl Receiver {
    fn new(now: SimTime, rules: &Rules, table: &Table, columns: &Columns) -> Receiver {
        let groups = table.groups.len();
        let best = |group: &groups::Group| BestOf { tp: [group.first as u16; BEST], max_prob: group.first as u16 };
        let probes = if rules.is_paced {
            Probes::Paced(Paced::new(groups, now))
        } else {
            Probes::Counted(Counted::new(groups))
        };
        let mut receiver = Receiver {
            stats: vec![Stats::default(); table.rates.len()],
            groups: table.groups.iter().map(best).collect(),
            tp: [0; BEST],
            max_prob: 0,
            mean_len: ONE,
            mpdus: 0,
            ppdus: 0,
            closed: now,
            probes,
            stages: [Stage::of(table.rates[0].mode); 3],
            last: 0,
        };
        if let Probes::Paced(paced) = &mut receiver.probes {
            paced.refill(now, table, InUse { tp0: 0, tp1: 0, max_prob: 0 }, columns, |_| 0);
        }
        receiver.stages = receiver.chain(rules, table);
        receiver
    }

    fn in_use(&self) -> InUse {
        let [tp0, tp1, max_prob] = [self.tp[0], self.tp[1], self.max_prob].map(usize::from);
        InUse { tp0, tp1, max_prob }
    }

    fn len(&self) -> u64 {
        (self.mean_len >> SCALE) as u64
    }

    #[inline]
    fn probe(&mut self, now: SimTime, rules: &Rules, table: &Table, columns: &Columns) -> u16 {
        let used = self.in_use();
        let Receiver { probes, stats, .. } = self;
        match probes {
            Probes::Paced(paced) => paced.probe(now, rules.probe_interval),
            Probes::Counted(counted) => {
                counted.probe(table, used, columns, |rate| (stats[rate].prob, stats[rate].skipped))
            }
        }
    }

    /// Expected throughput of a rate with this probability: the kernel's unit, of use for comparison alone.
    fn throughput(&self, rules: &Rules, table: &Table, rate: usize, prob: i32) -> u64 {
        if prob < scaled(0.1) {
            return 0;
        }
        let len = if table.aggregates { self.len() } else { 1 };
        let ns = 1000 * table.overhead[0] / len + table.rates[rate].duration;
        let per_ns = prob.min(rules.cap) as u64 * 1_000_000 / ns;
        (100 * per_ns) >> SCALE
    }

    fn throughput_now(&self, rules: &Rules, table: &Table, rate: u16) -> u64 {
        self.throughput(rules, table, usize::from(rate), self.stats[usize::from(rate)].prob)
    }

    /// An attempt is over.
    fn attempted(
        &mut self,
        now: SimTime,
        report: &PsduReport<'_>,
        rules: &Rules,
        table: &Table,
        columns: &Columns,
    ) {
        if table.rates[self.last].mode != report.mode {
            let found = table.rates.iter().position(|rate| rate.mode == report.mode);
            let Some(rate) = found else { return };
            self.last = rate;
        }
        let stats = &mut self.stats[self.last];
        // An RTS that was not answered is a try of the rate behind it, as in the hardware that mac80211 drives.
        stats.attempts += report.mpdus as u32;
        stats.successes += report.acknowledged.len() as u32;
        (self.mpdus, self.ppdus) = (self.mpdus + report.mpdus as u64, self.ppdus + 1);
        let len = self.len();
        if let Probes::Counted(counted) = &mut self.probes {
            counted.attempted(len);
        }
        let is_early = self.leaves_early(table);
        let is_due = now >= self.closed + rules.window;
        if is_due {
            self.close(now, rules, table, columns);
        }
        if is_early || is_due {
            self.stages = self.chain(rules, table);
        }
    }

    /// Streams that have died are left before the window ends: for the best rate of a group with no more of them.
    fn leaves_early(&mut self, table: &Table) -> bool {
        let mut leaves = false;
        for i in 0..2 {
            let rate = usize::from(self.tp[i]);
            let Stats { attempts, successes, .. } = self.stats[rate];
            if attempts > EARLY && successes < attempts / 4 {
                leaves = true;
                let own = table.rates[rate].group;
                let slower = (0..own).rev().find(|group| table.groups[*group].streams <= table.groups[own].streams);
                if let Some(group) = slower {
                    self.tp[i] = self.groups[group].tp[i];
                }
            }
        }
        leaves
    }

    /// Closes the statistics, and chooses anew.
    #[inline(never)]
    fn close(&mut self, now: SimTime, rules: &Rules, table: &Table, columns: &Columns) {
        if let Some(len) = (self.mpdus << SCALE).checked_div(self.ppdus) {
            self.mean_len = mixed(self.mean_len, len as i32);
            (self.mpdus, self.ppdus) = (0, 0);
        }
        self.closed = now;
        let mut tp = [0; BEST];
        for (number, group) in table.groups.iter().enumerate() {
            let mut own = [group.first as u16; BEST];
            let mut fastest = 0;
            for rate in group.rates().rev() {
                let stats = &mut self.stats[rate];
                stats.close(rules.is_paced);
                // What was never tried is as good as the best of the faster ones.
                if stats.was_tried {
                    fastest = fastest.max(stats.prob);
                } else if rules.is_paced {
                    stats.prob = stats.prob.max(fastest);
                }
                let prob = stats.prob;
                if self.throughput(rules, table, rate, prob) > 0 {
                    self.sort_in(rules, table, rate as u16, &mut tp);
                    self.sort_in(rules, table, rate as u16, &mut own);
                }
            }
            self.groups[number].tp = own;
        }
        self.tp = tp;
        self.choose_max_prob(rules, table);
        let used = self.in_use();
        let Receiver { probes, stats, .. } = self;
        match probes {
            Probes::Paced(paced) => paced.refill(now, table, used, columns, |rate| stats[rate].prob),
            Probes::Counted(counted) => counted.refill(table.groups.len()),
        }
    }

    /// A rate takes its place among the best: by throughput, then by probability.
    fn sort_in(&self, rules: &Rules, table: &Table, rate: u16, list: &mut [u16; BEST]) {
        let worth = |rate: u16| (self.throughput_now(rules, table, rate), self.stats[usize::from(rate)].prob);
        let own = worth(rate);
        let place = list.iter().rposition(|other| own <= worth(*other)).map_or(0, |last| last + 1);
        if place < BEST {
            list.copy_within(place..BEST - 1, place + 1);
            list[place] = rate;
        }
    }

    /// The rate of the highest probability: the one of the best throughput among those above 3/4, and one of fewer streams than the best
    /// rate has, if there is one.
    fn choose_max_prob(&mut self, rules: &Rules, table: &Table) {
        let prob = |stats: &[Stats], rate: u16| stats[usize::from(rate)].prob;
        let duration = |rate: u16| table.rates[usize::from(rate)].duration;
        let tp0 = self.tp[0];
        let mut overall = 0;
        for (number, group) in table.groups.iter().enumerate() {
            let mut own = group.first as u16;
            for rate in group.rates().map(|rate| rate as u16) {
                let (stats, here) = (&self.stats, prob(&self.stats, rate));
                if duration(tp0) > duration(rate) && here < prob(stats, tp0) {
                    continue;
                }
                for best in [&mut overall, &mut own] {
                    let is_better = if here > scaled(0.75) {
                        self.throughput_now(rules, table, rate) > self.throughput_now(rules, table, *best)
                    } else {
                        here > prob(stats, *best)
                    };
                    if is_better {
                        *best = rate;
                    }
                }
            }
            self.groups[number].max_prob = own;
        }
        let streams = |rate: u16| table.groups[table.rates[usize::from(rate)].group].streams;
        let mut most = 0;
        for (number, group) in table.groups.iter().enumerate() {
            let rate = self.groups[number].max_prob;
            let throughput = self.throughput_now(rules, table, rate);
            if table.aggregates && group.streams < streams(tp0) && throughput > most {
                (overall, most) = (rate, throughput);
            }
        }
        self.max_prob = overall;
    }

    /// The chain without a probe, as statistics are now.
    fn chain(&self, rules: &Rules, table: &Table) -> [Stage; 3] {
        let stage = |rate: u16, is_first: bool| {
            let rate = usize::from(rate);
            let stage = Stage::of(table.rates[rate].mode).tries(self.tries(rules, table, rate, !is_first));
            if is_first { stage } else { stage.behind_rts() }
        };
        [stage(self.tp[0], true), stage(self.tp[1], false), stage(self.max_prob, false)]
    }

    /// The tries in a rate, each with its mean contention, that fit into a segment; two at least.
    fn tries(&self, rules: &Rules, table: &Table, rate: usize, is_behind_rts: bool) -> u8 {
        if self.stats[rate].prob < scaled(0.2) {
            return 2;
        }
        let data = table.rates[rate].duration * if table.aggregates { self.len() } else { 1 } / 1000;
        let mut cw = CW.0;
        let mut contention = || {
            let mean = SLOT_US * cw / 2;
            cw = (2 * cw + 1).min(CW.1);
            mean
        };
        // The kernel counts both at once, and the tries with RTS no further than those without.
        let mut spent = table.overhead.map(|_| 0);
        let mut tries = [2, 2];
        let first = contention() + contention();
        for (spent, overhead) in spent.iter_mut().zip(table.overhead) {
            *spent = first + 2 * (overhead + data);
        }
        loop {
            let waits = contention();
            for (spent, overhead) in spent.iter_mut().zip(table.overhead) {
                *spent += waits + overhead + data;
            }
            if spent[1] < rules.segment_us {
                tries[1] += 1;
            }
            if spent[0] >= rules.segment_us {
                break;
            }
            tries[0] += 1;
            if tries[0] >= rules.most_tries {
                break;
            }
        }
        tries[usize::from(is_behind_rts)]
    }
}

#[cfg(test)]
mod tests;
