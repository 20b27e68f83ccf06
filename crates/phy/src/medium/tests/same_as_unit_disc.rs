//! If every pair is far above all thresholds or not heard at all, and equal powers spoil each other, levels are
//! nothing but reach.

use super::*;
use engine::{Purpose, Stream};

const NODES: usize = 6;

/// Random reach, the same in both media.
fn media(draws: &mut Stream, capture: Option<Capture>) -> [Medium; 2] {
    // With a latency, levels would call two frames that start within it one collision of preambles.
    let config = SinrConfig { cca_preamble_latency: Dur::ZERO, ..config(capture) };
    let levels = Sinr::new(NODES, &config, &Streams::new(1));
    let mut media = [Medium::new(NODES), Medium::Sinr(Box::new(levels))];
    for from in (0..NODES as u32).map(NodeId) {
        for to in (0..NODES as u32).map(NodeId) {
            let in_reach = draws.below(4) > 0;
            media[0].set_reach(from, to, in_reach);
            media[1].set_gain(from, to, Db(if in_reach { -40.0 } else { -300.0 }));
        }
    }
    media
}

/// Every node transmits now and then; with a coarse clock, often at the same instant as others.
fn history(draws: &mut Stream, clock: u64) -> Vec<Tx> {
    let mut all = Vec::new();
    for from in (0..NODES as u32).map(NodeId) {
        let mut at = 0;
        for _ in 0..20 {
            at += clock * u64::from(1 + draws.below(40));
            let end = at + clock * u64::from(1 + draws.below(20));
            // DSSS: a preamble has bits, so that whatever overlaps it is felt.
            all.push(tx(from, at, end, rate(Standard::B, 11)));
            at = end;
        }
    }
    all
}

#[test]
fn levels_far_from_all_thresholds_give_the_verdicts_of_reach() {
    let mut draws = Streams::new(20).get(Purpose::Traffic, 0);
    let (mut seen, mut ties) = ([0u32; 5], 0);
    for run in 0..400 {
        let [mut reach, mut levels] = media(&mut draws, if run % 2 == 0 { CAPTURE } else { None });
        let all = history(&mut draws, if run % 4 < 2 { 10 } else { 1 });
        let (one, other) = (play(&mut reach, &all), play(&mut levels, &all));
        assert_eq!(one.sensed, other.sensed);
        assert_eq!(one.heard.len(), other.heard.len());
        for (i, (&(to, from, mine), &(at, by, theirs))) in one.heard.iter().zip(&other.heard).enumerate() {
            assert_eq!((to, from, mine.turns_idle), (at, by, theirs.turns_idle));
            seen[theirs.verdict as usize] += 1;
            // Of two that start at one instant reach locks on the one it is told of first, levels on neither.
            let starts_too = |tx: &Tx| tx.start == one.starts[i] && tx.from != from && reach.hears(to, tx.from);
            if mine.verdict == Verdict::Spoilt && all.iter().any(starts_too) {
                assert_eq!((theirs.verdict, theirs.is_locked), (Verdict::NotLocked, false));
                ties += 1;
            } else {
                assert_eq!((mine.verdict, mine.is_locked), (theirs.verdict, theirs.is_locked));
            }
        }
    }
    let [half_duplex, not_locked, spoilt, noise, clear] = seen;
    assert!(half_duplex > 1000 && not_locked > 1000 && spoilt > 1000 && clear > 1000 && noise == 0, "{seen:?}");
    assert!(ties > 1000, "{ties}");
}

#[test]
fn the_order_in_which_starts_of_one_instant_are_told_decides_nothing() {
    let mut draws = Streams::new(21).get(Purpose::Traffic, 0);
    let (mut captured, mut noise) = (0, 0);
    for run in 0..400 {
        let curve = if run % 3 == 0 { step } else { crate::ln_survival };
        let config = SinrConfig { curve, ..config(if run % 2 == 0 { CAPTURE } else { None }) };
        let gains: Vec<f64> = (0..NODES * NODES).map(|_| -40.0 - f64::from(draws.below(75))).collect();
        let make = || {
            let mut medium = Sinr::new(NODES, &config, &Streams::new(run));
            for from in 0..NODES {
                medium.set_gains(NodeId(from as u32), |to, _| Db(gains[from * NODES + to.index()]));
            }
            Medium::Sinr(Box::new(medium))
        };
        let mut all = history(&mut draws, 3);
        let (mut one, mut other) = (make(), make());
        let first = play(&mut one, &all);
        for i in (1..all.len()).rev() {
            all.swap(i, draws.below(i as u32 + 1) as usize);
        }
        let second = play(&mut other, &all);
        let sorted = |said: &Said| {
            let mut heard: Vec<_> = said
                .heard
                .iter()
                .zip(&said.starts)
                .map(|((to, from, heard), at)| (*at, *from, *to, *heard))
                .collect();
            heard.sort_by_key(|(at, from, to, _)| (*at, *from, *to));
            // Whether energy is sensed before one's own start at the same instant, or not any more, is all one.
            let starts = |node, at| all.iter().any(|tx| tx.from == node && tx.start == at);
            let mut sensed = said.sensed.clone();
            sensed.retain(|(at, node, _)| !starts(*node, *at));
            sensed.sort_unstable();
            (heard, sensed)
        };
        noise += first.heard.iter().filter(|(_, _, heard)| heard.verdict == Verdict::Noise).count();
        captured += one.relocks();
        let ((heard, sensed), (heard_too, sensed_too)) = (sorted(&first), sorted(&second));
        let differs = heard.iter().zip(&heard_too).find(|(one, other)| one != other);
        assert_eq!(differs, None, "run {run}");
        let differs = sensed.iter().zip(&sensed_too).find(|(one, other)| one != other);
        assert_eq!((differs, sensed.len()), (None, sensed_too.len()), "run {run}");
        assert_eq!(one.relocks(), other.relocks());
    }
    assert!(captured > 1000 && noise > 1000, "{captured}, {noise}");
}
