//! The best mode by the mean SNR, as if the sender knew it: an upper bound where noise alone loses frames, not a control that a station can run.
//!
//! - **Source** the rule of `mcs = "best"` (docs/scenario-reference.md), asked anew before each MSDU; and the response has to arrive, too.
//!   A Block Ack at 24 Mb/s takes more than MCS 3 with its better decoder, and a mode whose responses are lost is worth nothing.
//! - **Departs** from reality: nobody tells a sender the SNR at the receiver, and a real channel is not its mean. ns-3's
//!   `IdealWifiManager` takes the SNR of the last acknowledgment and a bit error rate instead. The response is judged at the SNR
//!   of the data and by this station's basic rates: where powers or basic rates of the two differ it errs.
//! - **Checked** below; `crates/world/tests/all/rates.rs`.

use super::receivers::{Receivers, is_mcs};
use super::{Chain, Fixed, Given, Head, RateControl, Stage, Supported, Unfit};
use phy::{Mode, Part, ln_survival};
use plugin::{Info, Kind, Param, Params, Value};
use units::{Bytes, NodeId, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ideal",
    summary: "the fastest mode that loses a tenth of all frames or responses at most at the mean SNR, which it is told",
    source: "80211-2020 10.6",
    params: &[Param {
        key: "per",
        kind: Kind::Float { min: 1e-6, max: 0.9 },
        default: Value::Float(0.1),
        doc: "Loss of an MSDU of 1500 B, or of its response, that a mode may have.",
    }],
};

/// The frame whose loss decides: an MSDU of 1500 B in QoS data.
const FRAME: Bytes = Bytes(1538);

/// The longest response that follows: a Block Ack with a bitmap of 8 bytes.
const RESPONSE: Bytes = Bytes(32);

/// For a station with these parameters. Where signals have no powers its modes are those of `fixed`.
pub fn make(params: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    let least = |table: &[Mode]| -> Vec<(f64, Mode)> {
        let has_mcs = table.iter().any(|mode| is_mcs(*mode));
        let own = table.iter().filter(|mode| is_mcs(**mode) || !has_mcs);
        let response = |mode: &Mode| given.config.control_modes.response_to(*mode);
        own.map(|mode| (least_snr(*mode, response(mode), params.float("per")), *mode)).collect()
    };
    let supported = (given.supported)();
    let least = supported.tables().map(least).collect();
    let fixed = Fixed::of(given.config);
    Ok(Box::new(Ideal { supported, least, fixed, best: Receivers::new() }))
}

/// The least SNR over 20 MHz, as a ratio, at which a mode or its response loses no more than that.
fn least_snr(mode: Mode, response: Mode, per: f64) -> f64 {
    let survival = |mode: Mode, snr: f64, len: Bytes| {
        // The power is spread over the width of the mode.
        ln_survival(mode, Part::Payload, snr * 20e6 / mode.bandwidth.0, len.bits() as f64)
    };
    let loss = |snr: f64| -libm::expm1(survival(mode, snr, FRAME) + survival(response, snr, RESPONSE));
    let (mut low, mut high) = (-30.0, 80.0);
    // 2⁻⁴⁰ of 110 dB is below what anything else here resolves.
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if loss(libm::pow(10.0, middle / 10.0)) <= per { high = middle } else { low = middle }
    }
    libm::pow(10.0, high / 10.0)
}

#[derive(Debug)]
struct Ideal {
    supported: Supported,
    /// By table of `supported`: each mode, slowest first, and the least SNR that it takes.
    least: Vec<Vec<(f64, Mode)>>,
    fixed: Fixed,
    /// The SNR of which each receiver was last told, and the mode for it.
    best: Receivers<(f64, Mode)>,
}

impl RateControl for Ideal {
    fn chain(&mut self, _: SimTime, head: &Head, chain: &mut Chain) {
        chain.set([Stage::of(self.expected(head.link.to))]);
    }

    fn expected(&self, to: NodeId) -> Mode {
        self.best.get(to).map_or_else(|| self.fixed.expected(to), |best| best.1)
    }

    fn mean_snr(&mut self, to: NodeId, snr: Option<f64>) {
        let Some(snr) = snr else { return };
        let least = &self.least[self.supported.table(to)];
        let best = self.best.of(to, || (f64::NAN, least[0].1));
        if best.0 != snr {
            let fastest = least.iter().rev().find(|(least, _)| *least <= snr);
            *best = (snr, fastest.unwrap_or(&least[0]).1);
        }
    }

    fn heeds_snr(&self) -> bool {
        true
    }

    fn has_timer(&self) -> bool {
        false
    }

    fn heeds_attempts(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tx_queue::RaTid;
    use phy::Standard;

    #[test]
    fn the_mode_follows_the_snr_and_loses_a_tenth_at_most() {
        let config = crate::Config::of(Standard::A, Mode::ofdm(7));
        let draws = engine::Streams::new(1).get(engine::Purpose::RateControl, 0);
        let supported = &|| Supported::by_all(Standard::A.modes());
        let given = Given { config: &config, supported, draws };
        let mut rates = make(&Params::defaults(INFO.params), given).expect("it runs everywhere");
        let to = NodeId(1);
        assert_eq!(rates.expected(to), Mode::ofdm(7), "nothing is known: the fixed rate");
        let head = Head { link: RaTid { to, tid: None }, mpdu: FRAME, attempts: 0 };
        let mut last = 0;
        for db in 0..35 {
            let snr = libm::pow(10.0, f64::from(db) / 10.0);
            rates.mean_snr(to, Some(snr));
            let mut chain = Chain::of([Stage::of(Mode::ofdm(7))]);
            rates.chain(SimTime::ZERO, &head, &mut chain);
            let mode = chain.stages()[0].mode;
            let loss = |mode: Mode| {
                let response = config.control_modes.response_to(mode);
                let both = [(mode, 8.0 * 1538.0), (response, 8.0 * 32.0)];
                1.0 - libm::exp(both.map(|(mode, bits)| ln_survival(mode, Part::Payload, snr, bits)).iter().sum())
            };
            assert!(loss(mode) <= 0.1 || mode.mcs == 0, "{db} dB: {mode}");
            let faster = (mode.mcs + 1..8).map(Mode::ofdm).find(|faster| loss(*faster) < 0.0999);
            assert!(faster.is_none(), "{db} dB: {mode} though {faster:?} does");
            assert!(mode.mcs >= last);
            last = mode.mcs;
        }
        assert_eq!(last, 7);
    }
}
