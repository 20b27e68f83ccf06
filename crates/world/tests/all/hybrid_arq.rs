//! Hybrid ARQ on a whole link: the throughput of each type is its closed form, and the types cross where that says.

use std::sync::atomic::AtomicBool;
use world::Record;

/// A saturated station of 802.11b at 11 Mb/s, datagrams of 1500 B, ACKs at 1 Mb/s that noise spares, windows of 31 slots at every
/// attempt.
fn goodput(kind: &str, ber: f64) -> f64 {
    let text = format!(
        "
scenario = {{ duration = '30 s' }}
radio = {{ standard = '802.11b', basic_rate = '1 Mb/s', cw_min = 31, cw_max = 31, max_attempts = 255, max_attempts_long = 255 }}
channel = {{ errors = {{ model = 'bit', ber = {ber}, control = false }} }}
[[node]]
name = 'a'
[[node]]
name = 'b'
[[flow]]
from = 'a'
to = 'b'
transport = {{ protocol = 'udp', datagram = '1500 B' }}
traffic = {{ model = 'saturated' }}
[[scheme]]
name = 'hybrid-arq'
type = '{kind}'
"
    );
    let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance");
    run.flow(0, "goodput_bps").unwrap()
}

/// Mean backoff of 15.5 slots, in us.
const BACKOFF: f64 = 310.0;

/// Probability that a frame of 1536 B survives: plain, 12288 bits; as 56 blocks of (255, 223, 4).
fn survival(ber: f64) -> [f64; 2] {
    let power = |x: f64, n: u32| (0..n).fold(1.0, |product, _| product * x);
    // Of 255 bits at most four are wrong: C(255, i) = 1, 255, 32385, 2731135, 172061505.
    let patterns = [1.0, 255.0, 32_385.0, 2_731_135.0, 172_061_505.0];
    let of = |(i, patterns): (u32, f64)| patterns * power(ber, i) * power(1.0 - ber, 255 - i);
    let block: f64 = (0..).zip(patterns).map(of).sum();
    [power(1.0 - ber, 12_288), power(block, 56)]
}

/// Mean time in us that a datagram takes: types 0, I, II.
///
/// An attempt that succeeds: backoff, frame, SIFS 10, ACK 304, DIFS 50. One that fails: backoff, frame, ACK timeout 222 (SIFS, slot,
/// 192); the next backoff begins there. Frames: 192 + ⌈12288 / 11⌉ = 1310 us, coded 192 + ⌈14280 / 11⌉ = 1491 us.
fn times(ber: f64) -> [f64; 3] {
    let [plain, coded] = survival(ber);
    let (right, wrong) = (|frame: f64| BACKOFF + frame + 364.0, |frame: f64| BACKOFF + frame + 222.0);
    // Until one succeeds: 1/s - 1 of them fail before.
    let until = |survival: f64, frame: f64| right(frame) + (1.0 / survival - 1.0) * wrong(frame);
    let both = plain * right(1310.0) + (1.0 - plain) * (wrong(1310.0) + until(coded, 1491.0));
    [until(plain, 1310.0), until(coded, 1491.0), both]
}

/// The bit error ratio at which types 0 and I take as long.
fn crossing() -> f64 {
    let (mut low, mut high) = (1e-7, 1e-4);
    for _ in 0..60 {
        let middle = f64::sqrt(low * high);
        let [zero, one, _] = times(middle);
        if zero < one { low = middle } else { high = middle }
    }
    low
}

#[test]
fn the_types_cross_where_the_binomial_says() {
    // By hand: 181 us more for a coded frame are (1/s - 1) * 1842 us of failures where s = 0.9105, a bit error rate of
    // -ln 0.9105 / 12288 = 7.63e-6; a coded frame is then lost once in 1e14.
    let crossing = crossing();
    assert!((crossing / 7.63e-6 - 1.0).abs() < 0.005, "{crossing:e}");
    for ber in [crossing / 3.0, crossing * 3.0, 1e-3, 3e-3] {
        let expected = times(ber).map(|us| 1472.0 * 8.0 / us * 1e6);
        let measured = ["0", "I", "II"].map(|kind| if kind == "0" && ber > 1e-4 { 0.0 } else { goodput(kind, ber) });
        for (kind, (measured, expected)) in measured.into_iter().zip(expected).enumerate() {
            // Type 0 delivers nothing worth a comparison at 4.6e-6 of its frames and less. Of the others a thousand datagrams at
            // least are delivered, and the time of one spreads by less than its mean: a standard error of 3 % at 3e-3, below 0.5 % else.
            let tolerance = if ber > 2e-3 { 0.1 } else { 0.02 };
            let is_compared = kind != 0 || ber < 1e-4;
            assert!(!is_compared || (measured / expected - 1.0).abs() < tolerance, "{ber:e}: {measured} {expected}");
        }
        let [zero, one, two] = measured;
        if ber < crossing {
            assert!(zero > 1.03 * one && two > 1.03 * one, "{ber:e}: {measured:?}");
        } else {
            assert!(one > 1.05 * two && (ber > 1e-4 || two > 1.02 * zero), "{ber:e}: {measured:?}");
        }
    }
}

#[test]
fn type_0_is_the_mac_as_it_is() {
    let plain = |scheme: &str| {
        let text = format!(
            "
scenario = {{ duration = '2 s' }}
radio = {{ standard = '802.11a' }}
channel = {{ errors = {{ model = 'bit', ber = 2e-5 }} }}
[[node]]
name = 'a'
[[node]]
name = 'b'
[[flow]]
from = 'a'
to = 'b'
transport = {{ protocol = 'tcp' }}
{scheme}"
        );
        let record = Record { fingerprint: true, ..Record::default() };
        let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        world::run(&scenario, 1, &record, &AtomicBool::new(false)).expect("books in balance").fingerprint
    };
    let with = |kind: &str| plain(&format!("[[scheme]]\nname = 'hybrid-arq'\ntype = '{kind}'"));
    assert_eq!(with("0"), plain(""));
    assert_ne!(with("II"), plain(""));
}
