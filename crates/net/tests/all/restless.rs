//! Networks at random that change all the time, and heal once a way stands.

use crate::air::{Air, Airborne};
use crate::bench::at;
use engine::{Purpose, Stream, Streams};
use plugin::Value;
use proptest::prelude::*;
use units::{Dur, SimTime};

fn ms(draws: &mut Stream, low: u32, high: u32) -> SimTime {
    at(u64::from(low + draws.below(high - low)))
}

/// A link of the network, at random.
fn pair(draws: &mut Stream, nodes: u32) -> (usize, usize) {
    let a = draws.below(nodes);
    let b = (a + 1 + draws.below(nodes - 1)) % nodes;
    (a as usize, b as usize)
}

/// The minute of a network that changes.
pub const MINUTE: SimTime = SimTime::from_ns(60_000_000_000);

/// A network that changes all the time for a minute: nodes that start at different times, links that break and heal, packets between
/// nodes that come and go, and if asked for lost frames and reboots. Its routers are set at random.
pub fn restless<R: Airborne>(
    seed: u64,
    has_losses: bool,
    settings: impl FnOnce(&mut Stream) -> Vec<(&'static str, Value)>,
) -> Air<R> {
    let mut draws = Streams::new(seed).get(Purpose::Routing, 1 << 41);
    let draws = &mut draws;
    let nodes = 3 + draws.below(6);
    let set = settings(draws);
    let mut air = Air::new(nodes as usize, seed, &set);
    if has_losses {
        air.loss = [0.0, 0.1, 0.3, 0.5][draws.below(4) as usize];
        for _ in 0..draws.below(3) {
            let (node, _) = pair(draws, nodes);
            let dies = ms(draws, 0, 50_000);
            air.die(dies, dies + Dur::from_ms(u64::from(1 + draws.below(5000))), node);
        }
    }
    for node in 0..nodes as usize {
        if draws.chance(0.5) {
            air.start_at(ms(draws, 0, 5000), node);
        }
    }
    let density = 0.25 + 0.5 * draws.unit();
    for a in 0..nodes as usize {
        (0..a).for_each(|b| air.set_link(a, b, draws.chance(density)));
    }
    for _ in 0..draws.below(60) {
        let (a, b) = pair(draws, nodes);
        if draws.chance(0.5) {
            air.break_at(ms(draws, 0, 60_000), a, b);
        } else {
            air.heal_at(ms(draws, 0, 60_000), a, b);
        }
    }
    for _ in 0..1 + draws.below(6) {
        let (a, b) = pair(draws, nodes);
        let start = ms(draws, 0, 40_000);
        let every = Dur::from_ms(u64::from(50 + draws.below(2000)));
        air.offer(start, a as u32, b as u32, every, start + Dur::from_ms(u64::from(draws.below(30_000))));
    }
    air
}

/// After its minute all links of a network stand as they do in the end, and a string of all nodes besides: packets that its first sends
/// to its last arrive within a time.
pub fn heals<R: Airborne>(mut air: Air<R>, within: Dur) -> Result<(), TestCaseError> {
    prop_assert_eq!(air.run(MINUTE), None);
    let nodes = air.len();
    (1..nodes).for_each(|i| air.set_link(i - 1, i, true));
    let last = nodes as u32 - 1;
    air.offer(air.now, 0, last, Dur::from_ms(100), MINUTE + Dur::from_secs(20));
    let before = air.delivered.len();
    prop_assert_eq!(air.run(MINUTE + within), None);
    let arrived = air.delivered[before..].iter().any(|(_, from, to)| (*from, *to) == (0, last));
    prop_assert!(arrived, "nothing arrived from 0 at {}", last);
    Ok(())
}
