//! Reports tell the truth of the receiver's reorder buffer: all that stands before the oldest open number has been handed up.

use crate::edca::harness::{A, B, BE, Build, Net, VI, edca, tos};
use mac::{AfterSilence, Aggregation, Config, Discard, Fate, TxReport};
use phy::{ErrorModel, Hit};
use proptest::prelude::*;
use queue::Limit;
use std::collections::BTreeMap;
use units::Dur;

/// One MSDU that A was told is acknowledged: its TID and number, and which of the packets it was.
struct Waits {
    tid: u8,
    report: TxReport,
    nth: u32,
}

/// 80 MSDUs of two TIDs, one each 200 µs.
fn run(own: Aggregation, per: f64, control_per: f64, seed: u64) -> Net {
    let configs = [0; 2].map(|_| Config { aggregation: Some(own), ..edca(|_| ()) });
    let errors = ErrorModel::One(Hit::Packet { per, control_per });
    let mut net = Net::build(&Build { limit: Limit::Packets(1000), errors, seed, ..Build::of(&configs) });
    for i in 0..80 {
        net.offer(200 + 200 * i, A, B, tos(if i % 3 == 0 { VI } else { BE }));
    }
    net.run(10_000_000);
    net
}

/// Holds each report of A against what B had handed up by then. Returns how many acknowledged MSDUs waited for others, how many came
/// late, and how many waited to the end.
fn check(net: &Net) -> [usize; 3] {
    let up: BTreeMap<u32, u64> = net.delivered.iter().map(|it| (it.nth, it.when)).collect();
    let done: Vec<_> = net.said.iter().filter(|said| said.node == A && said.fate != Fate::Attempt).collect();
    // Packets have serials in the order in which they were handed down.
    let mut serials: Vec<u64> = done.iter().map(|said| said.report.serial).collect();
    serials.sort_unstable();
    let (mut waits, mut waited, mut late) = (Vec::<Waits>::new(), 0, 0);
    for said in done {
        let Some(told) = said.report.in_order else { continue };
        if said.fate == Fate::Delivered && told.is_late {
            late += 1;
        } else if said.fate == Fate::Delivered {
            waited += usize::from(!told.is_handed_up());
            let nth = serials.binary_search(&said.report.serial).unwrap() as u32;
            waits.push(Waits { tid: told.tid, report: said.report, nth });
        }
        waits.retain(|one| {
            let is_due = one.tid == told.tid && one.report.in_order.unwrap().is_before(told.open);
            if is_due {
                let when = up.get(&one.nth);
                assert!(when.is_some_and(|when| *when <= said.when), "{:?} at {}: {when:?}", one.report, said.when);
            }
            !is_due
        });
    }
    [waited, late, waits.len()]
}

#[test]
fn the_histories_below_hold_msdus_that_wait_that_come_late_and_that_nobody_asks_for() {
    let own = Aggregation { buffer: 8, patience: Dur::from_ms(2), discard: Discard::Attempts(3), ..Aggregation::HT };
    let [waited, late, left] = check(&run(own, 0.4, 0.1, 3));
    assert!(waited > 5 && late > 0, "{waited}, {late}");
    assert_eq!(left, 0, "each gap was told");
    let untold = Aggregation { tells_gaps: false, ..own };
    let [waited, ..] = check(&run(untold, 0.4, 0.1, 3));
    assert!(waited > 5, "{waited}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_before_the_oldest_open_number_has_been_handed_up(
        seed in any::<u32>(),
        (per, control_per) in prop::sample::select(vec![(0.1, 0.0), (0.4, 0.1), (0.7, 0.3), (0.9, 0.0)]),
        buffer in prop::sample::select(vec![2u16, 8, 64]),
        patience_ms in prop::sample::select(vec![1u64, 5, 100]),
        discard in prop::sample::select(vec![
            Discard::Lifetime(Dur::from_ms(3)), Discard::Lifetime(Dur::from_ms(50)), Discard::Attempts(2), Discard::Attempts(7),
        ]),
        requests in any::<bool>(),
        tells_gaps in any::<bool>(),
    ) {
        let after_silence = if requests { AfterSilence::Request } else { AfterSilence::Data };
        let patience = Dur::from_ms(patience_ms);
        let own = Aggregation { buffer, mpdus: buffer, patience, discard, after_silence, tells_gaps, ..Aggregation::HT };
        check(&run(own, per, control_per, u64::from(seed)));
    }
}
