//! The time that a piece of work takes, for the benches.

use std::time::{Duration, Instant};

/// Prints the nanoseconds that one `unit` of work takes, and how many a second that makes. `work` is called again and again
/// and returns the number of units it has done; the fastest of five rounds of at least 0.5 s counts, after one that is not
/// looked at.
#[allow(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
pub fn fastest(name: &str, unit: &str, mut work: impl FnMut() -> u64) {
    let mut best = f64::INFINITY;
    for round in 0..6 {
        let (start, mut done) = (Instant::now(), 0);
        let mut took = Duration::ZERO;
        while took < Duration::from_millis(500) {
            // The clock is asked after a hundredth of the round, so that it costs nothing beside short work.
            let until = start.elapsed() + Duration::from_millis(5);
            let mut calls = 1;
            while took < until {
                for _ in 0..calls {
                    done += work();
                }
                calls *= 2;
                took = start.elapsed();
            }
        }
        if round > 0 {
            best = best.min(took.as_secs_f64() * 1e9 / done as f64);
        }
    }
    println!("{name:45} {best:12.1} ns for a {unit}, {:.3} million a second", 1e3 / best);
}
