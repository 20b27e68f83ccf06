//! The throughput equation and its inverse. @RFC5348 sec. 3.1

use units::{Bytes, Dur};

/// X_Bps: bytes per second of a TCP with segments of `s` at a loss event rate `p`; one segment per ACK (b = 1), t_RTO = 4 R.
/// Infinite if nothing is lost.
pub fn throughput(s: Bytes, rtt: Dur, p: f64) -> f64 {
    if p <= 0.0 {
        return f64::INFINITY;
    }
    let r = rtt.as_secs_f64();
    let root = sqrt(2.0 * p / 3.0);
    let timeouts = 4.0 * r * 3.0 * sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    s.0 as f64 / (r * root + timeouts)
}

/// The loss event rate at which the equation gives `rate` bytes per second, at most 1: how a first loss interval is made.
/// Sec. 6.3.1
pub fn loss_rate(s: Bytes, rtt: Dur, rate: f64) -> f64 {
    let (mut low, mut high) = (1e-10, 1.0);
    if throughput(s, rtt, high) >= rate {
        return high;
    }
    // The rate falls with p, over ten powers of ten: halved on a logarithmic scale.
    for _ in 0..60 {
        let middle = sqrt(low * high);
        if throughput(s, rtt, middle) > rate { low = middle } else { high = middle }
    }
    high
}

/// The square root is exact on every platform (IEEE 754).
fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_at_a_tenth_of_a_second_is_112_kilobytes_per_second() {
        // sqrt(2 * 0.01 / 3) = 0.0816497, times 0.1: 0.00816497. 0.4 * 3 * 0.0612372 * 0.01 * 1.0032 = 0.000737198.
        // 1000 / 0.00890217 = 112332.
        let x = throughput(Bytes(1000), Dur::from_ms(100), 0.01);
        assert!((x - 112_332.0).abs() < 2.0, "{x}");
        // At p = 1: sqrt(2/3) = 0.816497, * 0.1; 1.2 * 0.612372 * 33 = 24.24995: 1000 / 24.33160 = 41.099.
        let x = throughput(Bytes(1000), Dur::from_ms(100), 1.0);
        assert!((x - 41.099).abs() < 1e-3, "{x}");
    }

    #[test]
    fn the_inverse_inverts() {
        for p in [1e-6, 1e-3, 0.02, 0.5] {
            let rate = throughput(Bytes(1460), Dur::from_ms(40), p);
            let got = loss_rate(Bytes(1460), Dur::from_ms(40), rate);
            assert!((got / p - 1.0).abs() < 1e-6, "{p}: {got}");
        }
        assert_eq!(loss_rate(Bytes(1000), Dur::from_ms(100), 1.0), 1.0);
    }
}
