//! One word for all choices of a stack.

use crate::{Config, SmallQueue, Undo, cc};
use plugin::{Chosen, Params, Value};
use units::{Bytes, Dur};

/// A stack whose choices a scenario takes as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Linux as it comes (6.x): CUBIC with HyStart, an initial window of 10 (@RFC6928), SACK, PRR, RACK, TLP, all ways to undo,
    /// timestamps, quick ACKs, growth by what was newly delivered, refusals of the own host that are no losses,
    /// small queues, `RTO = SRTT + max(200 ms, 4 RTTVAR)`, window scaling. The buffers are what its tuning ends at by default: a window of 3 MiB (half
    /// of tcp_rmem's 6 MiB) and 4 MiB to send.
    Linux,
    /// ns-2 (2.35, ns-default.tcl, `Agent/TCP/Newreno` with a plain sink): a window of 20 segments at most, which is the first
    /// ssthresh too, an ACK per segment, RTO from 0.2 s with a clock of 10 ms, no handshake that measures.
    Ns2,
    /// All that the RFCs ask for, with nothing optional on: [`Config::default`].
    Rfc,
}

/// `window_` of ns-2, in segments.
const NS2_WINDOW: u32 = 20;

impl Preset {
    /// The configuration of an end with segments of at most `mss`.
    pub fn config(self, mss: u16) -> Config {
        let rfc = Config { mss, ..Config::default() };
        match self {
            Preset::Rfc => rfc,
            Preset::Linux => {
                let mut congestion: Chosen<cc::Make> = Chosen {
                    info: &cc::cubic::INFO,
                    plugin: cc::cubic::make,
                    params: Params::defaults(cc::cubic::INFO.params),
                };
                congestion.params.set("hystart", Value::Bool(true));
                congestion.params.set("linux", Value::Bool(true));
                Config {
                    congestion,
                    prr: true,
                    rack: true,
                    tlp: true,
                    undo: Undo::All,
                    initial_window_segments: 10,
                    send_buffer: Bytes(4 << 20),
                    receive_buffer: Bytes(3 << 20),
                    window_scale: Some(window_scale(Bytes(3 << 20))),
                    // The least variance, not the least RTO: tcp_rto_min.
                    granularity: Dur::from_ms(200),
                    min_rto: Dur::from_ms(200),
                    max_rto: Dur::from_secs(120),
                    quickack: true,
                    timestamps: true,
                    sack: true,
                    limited_transmit: true,
                    byte_counting: Some(u8::MAX),
                    count_delivered: true,
                    local_congestion: true,
                    small_queue: SmallQueue::Linux,
                    ..rfc
                }
            }
            Preset::Ns2 => Config {
                ack_policy: Chosen {
                    info: &crate::ack::every::INFO,
                    plugin: crate::ack::every::make,
                    params: Params::default(),
                },
                max_window_segments: Some(NS2_WINDOW),
                initial_ssthresh: Some(Bytes(u64::from(mss) * u64::from(NS2_WINDOW))),
                min_rto: Dur::from_ms(200),
                initial_rto: Dur::from_secs(3),
                handshake_rtt: false,
                limited_transmit: true,
                idle_restart: false,
                validate_cwnd: false,
                nagle: false,
                ..rfc
            },
        }
    }

    /// True if the window scale follows the receive buffer.
    pub fn scales(self) -> bool {
        self == Preset::Linux
    }
}

/// The least shift that can tell the whole of `buffer`. @RFC7323 sec. 2.3
pub fn window_scale(buffer: Bytes) -> u8 {
    (0..14).find(|shift| buffer.0 >> shift <= 65_535).unwrap_or(14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_configuration() {
        for preset in [Preset::Linux, Preset::Ns2, Preset::Rfc] {
            assert_eq!(preset.config(1460).check(), Ok(()), "{preset:?}");
        }
    }

    #[test]
    fn linux_is_what_linux_is() {
        let linux = Preset::Linux.config(1460);
        assert_eq!((linux.congestion.info.id, linux.congestion.params.bool("hystart")), ("cubic", true));
        assert!(linux.count_delivered && linux.local_congestion);
        // The RTO of a steady RTT of 50 ms is 250 ms: tcp_rto_min bounds the variance.
        let mut rtt = crate::RttEstimator::new(linux.initial_rto, linux.min_rto, linux.max_rto, linux.granularity);
        for _ in 0..100 {
            rtt.sample(Dur::from_ms(50), 1);
        }
        assert_eq!(rtt.rto(), Dur::from_ms(250));
        // 3 MiB: 3145728 >> 6 is 49152.
        assert_eq!(linux.window_scale, Some(6));
        assert_eq!(
            (window_scale(Bytes(65_535)), window_scale(Bytes(65_536)), window_scale(Bytes(1 << 30))),
            (0, 1, 14)
        );
    }
}
