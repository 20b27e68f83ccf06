//! The rates that are tried beside the best ones: one probe in 20 ms, as since Linux 5.12, or by columns of a random table, as before.

use super::groups::Table;
use engine::Stream;
use units::{Dur, SimTime};

/// Rates of a kind that wait for their probe, at most.
const WAITING: usize = 5;
/// Columns of the random table.
const COLUMNS: usize = 10;
/// Rates of a group at most: HE has 12, ours; HT and VHT have 8 and 10.
const MOST: usize = 12;
/// No rate.
pub const NONE: u16 = u16::MAX;

/// A kind of probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The next faster rate of a group.
    Inc,
    /// A random faster rate of a group.
    Jump,
    /// A rate between the fastest and the slowest of those in use.
    Slow,
}

/// The order of probes.
const ORDER: [Kind; 6] = [Kind::Inc, Kind::Jump, Kind::Inc, Kind::Jump, Kind::Inc, Kind::Slow];

/// The columns: each a permutation of places in a group.
#[derive(Debug)]
pub struct Columns([[u8; MOST]; COLUMNS]);

impl Columns {
    /// Drawn anew.
    pub fn draw(draws: &mut Stream) -> Columns {
        let mut columns = [[0; MOST]; COLUMNS];
        for column in &mut columns {
            for place in 0..MOST {
                // An inside-out shuffle.
                let other = draws.below(place as u32 + 1) as usize;
                column[place] = column[other];
                column[other] = place as u8;
            }
        }
        Columns(columns)
    }
}

/// The place in the columns at which a group stands.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    column: usize,
    place: usize,
}

impl Cursor {
    fn next(&mut self, columns: &Columns) -> usize {
        let found = columns.0[self.column][self.place];
        self.place += 1;
        if self.place == MOST {
            (self.place, self.column) = (0, (self.column + 1) % COLUMNS);
        }
        usize::from(found)
    }
}

/// Rates of a kind that wait for their probe.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    rates: [u16; WAITING],
    len: usize,
    /// The group looked at last.
    group: usize,
}

impl Waiting {
    fn contains(&self, rate: usize) -> bool {
        self.rates[..self.len].contains(&(rate as u16))
    }

    fn push(&mut self, rate: usize) {
        self.rates[self.len] = rate as u16;
        self.len += 1;
    }

    fn retain(&mut self, holds: impl Fn(usize) -> bool) {
        let mut kept = 0;
        for i in 0..self.len {
            if holds(usize::from(self.rates[i])) {
                self.rates[kept] = self.rates[i];
                kept += 1;
            }
        }
        self.len = kept;
    }

    fn take(&mut self) -> u16 {
        if self.len == 0 {
            return NONE;
        }
        let first = self.rates[0];
        self.rates.copy_within(1.., 0);
        self.len -= 1;
        first
    }
}

/// The rates in use as statistics were last closed.
#[derive(Debug, Clone, Copy)]
pub struct InUse {
    pub tp0: usize,
    pub tp1: usize,
    pub max_prob: usize,
}

/// Probes since Linux 5.12.
#[derive(Debug)]
pub struct Paced {
    /// The next probe is due.
    due: SimTime,
    /// Its number in [`ORDER`].
    turn: usize,
    waiting: [Waiting; 3],
    cursors: Vec<Cursor>,
}

impl Paced {
    pub fn new(groups: usize, now: SimTime) -> Paced {
        Paced { due: now, turn: 0, waiting: [Waiting::default(); 3], cursors: vec![Cursor::default(); groups] }
    }

    /// The rate to be tried now; [`NONE`] as a rule.
    #[inline]
    pub fn probe(&mut self, now: SimTime, every: Dur) -> u16 {
        if now < self.due {
            return NONE;
        }
        self.due = now + every;
        let kind = ORDER[self.turn];
        self.turn = (self.turn + 1) % ORDER.len();
        self.waiting[kind as usize].take()
    }

    /// Statistics were closed: what waits is what the rates in use leave to be tried. `prob` is a rate's probability, scaled.
    pub fn refill(&mut self, now: SimTime, table: &Table, used: InUse, columns: &Columns, prob: impl Fn(usize) -> i32) {
        self.due = now;
        let duration = |rate: usize| table.rates[rate].duration;
        let all = [used.tp0, used.tp1, used.max_prob].map(duration);
        let (fast, slow) = (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0));
        let [incs, jumps, slows] = &mut self.waiting;
        for waiting in [&mut *incs, &mut *jumps] {
            waiting.retain(|rate| duration(rate) < fast);
        }
        slows.retain(|rate| duration(rate) > fast && duration(rate) < slow);
        let groups = table.groups.len();
        let first_below = |group: usize, most: u64| table.groups[group].rates().find(|rate| duration(*rate) < most);
        // One after the other the groups offer their first rate above the best.
        for group in turns(incs.group, groups) {
            if incs.len == WAITING {
                break;
            }
            if let Some(rate) = first_below(group, duration(used.tp0)).filter(|rate| !incs.contains(*rate)) {
                incs.push(rate);
                incs.group = group;
            }
        }
        // And a random one of theirs, until none is found in a whole turn.
        while jumps.len < WAITING {
            let mut found = false;
            for group in turns(jumps.group, groups) {
                let most = if slows.len == WAITING { fast } else { slow };
                let Some(least) = first_below(group, most) else { continue };
                let Some(rate) = random(table, group, least, &mut self.cursors[group], columns) else { continue };
                if duration(rate) < fast {
                    if jumps.contains(rate) {
                        continue;
                    }
                    jumps.push(rate);
                    jumps.group = group;
                    found = true;
                    break;
                }
                let is_new = !slows.contains(rate) && duration(rate) < slow && duration(rate) > fast;
                // What gets through for sure is known.
                if is_new && slows.len < WAITING && prob(rate) <= super::scaled(0.95) {
                    slows.push(rate);
                }
            }
            if !found {
                break;
            }
        }
    }
}

/// All groups, beginning behind this one.
fn turns(after: usize, groups: usize) -> impl Iterator<Item = usize> {
    (1..=groups).map(move |i| (after + i) % groups)
}

/// The next rate of a group in its column that is not below `least`.
fn random(table: &Table, group: usize, least: usize, cursor: &mut Cursor, columns: &Columns) -> Option<usize> {
    let of = &table.groups[group];
    let mut places = (0..MOST).map(|_| of.first + cursor.next(columns));
    places.find(|rate| of.rates().contains(rate) && *rate >= least)
}

/// Probes before Linux 5.12: after so many frames the next place of the table, group after group.
#[derive(Debug)]
pub struct Counted {
    /// Frames until the next probe.
    wait: u64,
    /// Probes that may go now.
    tries: u64,
    /// Probes that are left until statistics are closed.
    left: u64,
    /// Slow rates tried since.
    slow: u64,
    group: usize,
    cursors: Vec<Cursor>,
}

impl Counted {
    pub fn new(groups: usize) -> Counted {
        Counted { wait: 0, tries: 4, left: 16, slow: 0, group: 0, cursors: vec![Cursor::default(); groups] }
    }

    /// Statistics were closed.
    pub fn refill(&mut self, groups: usize) {
        (self.left, self.slow) = (8 * groups as u64, 0);
    }

    /// An attempt is over; `len` is the mean length of an A-MPDU.
    pub fn attempted(&mut self, len: u64) {
        if self.wait == 0 && self.tries == 0 && self.left > 0 {
            (self.wait, self.tries, self.left) = (16 + 2 * len, 1, self.left - 1);
        }
    }

    /// The rate to be tried now; [`NONE`] as a rule. `of` is a rate's probability, scaled, and how often it was skipped.
    pub fn probe(&mut self, table: &Table, used: InUse, columns: &Columns, of: impl Fn(usize) -> (i32, u8)) -> u16 {
        if self.wait > 0 {
            self.wait -= 1;
            return NONE;
        }
        if self.tries == 0 {
            return NONE;
        }
        let group = self.group;
        self.group = (group + 1) % table.groups.len();
        let rate = table.groups[group].first + self.cursors[group].next(columns);
        if !table.groups[group].rates().contains(&rate) || [used.tp0, used.tp1, used.max_prob].contains(&rate) {
            return NONE;
        }
        let (prob, skipped) = of(rate);
        let duration = |rate: usize| table.rates[rate].duration;
        if prob > super::scaled(0.95) {
            return NONE;
        }
        let streams = |rate: usize| table.groups[table.rates[rate].group].streams;
        let is_fast = duration(rate) < duration(used.tp1)
            || streams(rate) < streams(used.tp0) && duration(rate) < duration(used.max_prob);
        if !is_fast {
            self.slow += 1;
            if skipped < 20 || self.slow > 2 {
                return NONE;
            }
        }
        self.tries -= 1;
        rate as u16
    }
}
