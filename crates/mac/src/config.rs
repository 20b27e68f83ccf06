//! A station's MAC parameters.

use crate::contention::{Access, AccessInGap, Countdown};
use crate::edca::Edca;
use crate::exchange::Job;
use crate::frame::{self, Class};
use engine::{Purpose, Stream, Streams};
use phy::{Preamble, Rate, Timing, airtime};
use units::{BitRate, Bytes, Dur, NodeId, SimTime};

/// When RTS/CTS precedes a data frame. dot11RTSThreshold, @80211-2020 10.3.2.9
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rts {
    /// MPDU length above which it does; `None`: never.
    pub threshold: Option<Bytes>,
    /// Only for MSDUs that carry payload: TCP ACKs and handshakes go without, whatever their length.
    pub for_payload_only: bool,
}

impl Rts {
    /// Never.
    pub const OFF: Rts = Rts { threshold: None, for_payload_only: false };

    /// Whether a frame of this length is a long one.
    pub fn is_above_threshold(&self, mpdu: Bytes) -> bool {
        self.threshold.is_some_and(|threshold| mpdu > threshold)
    }

    /// Whether RTS/CTS precedes this frame.
    pub fn covers(&self, job: &Job) -> bool {
        let spared = self.for_payload_only && !matches!(job.class, Class::TcpData | Class::Udp);
        !spared && self.is_above_threshold(job.mpdu)
    }
}

/// When a station whose frame was not answered counts its next backoff down. The standard asks for "a DIFS of idle" and
/// does not say whether one that has passed while the station waited for the answer counts.
/// @80211-2020 10.3.4.3, 10.3.4.4
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterTimeout {
    /// From the timeout, if a DIFS of idle has passed by then: the letter. Ahead of the listeners, who wait an EIFS.
    #[default]
    Letter,
    /// A DIFS after the timeout, as ns-3 does.
    FreshIfs,
    /// An EIFS after the end of the frame, together with the listeners: what Bianchi's T_c assumes.
    Eifs,
}

/// MAC parameters of a station.
#[derive(Debug, Clone)]
pub struct Config {
    /// Slot, SIFS, contention window.
    pub timing: Timing,
    /// Of DSSS rates.
    pub preamble: Preamble,
    /// Rate of data frames.
    pub data_rate: Rate,
    /// Lowest rate of the basic rate set: group frames.
    pub basic_rate: Rate,
    /// Lowest mandatory rate of the PHY, whatever the basic rate set: the ACK inside EIFS. @80211-2020 10.3.7
    pub lowest_rate: Rate,
    /// Rates of control answers, slowest first: the highest not above the answered frame's is taken.
    /// @80211-2020 10.6.6.5.2
    pub control_rates: Vec<Rate>,
    /// When RTS/CTS is used.
    pub rts: Rts,
    /// Transmissions in all of a frame not longer than the RTS threshold, and of an RTS. dot11ShortRetryLimit counts the
    /// same way: 7 by default. @80211-2020 annex C
    pub max_attempts: u8,
    /// Transmissions in all of a longer frame. dot11LongRetryLimit: 4.
    pub max_attempts_long: u8,
    /// When the backoff after an unanswered frame begins to count.
    pub after_timeout: AfterTimeout,
    /// The access categories of a QoS station; `None`: DCF. [`Config::with_edca`] sets it with the next two.
    pub edca: Option<Edca>,
    /// When a backoff counts.
    pub countdown: Countdown,
    /// Whether a frame queued in an interframe space draws a backoff.
    pub access_in_gap: AccessInGap,
}

impl Config {
    /// The rate of a control frame that answers, or announces, a frame at `rate`.
    pub fn control_rate(&self, rate: Rate) -> Rate {
        let not_above = self.control_rates.iter().rev().find(|r| r.bit_rate <= rate.bit_rate);
        not_above.or(self.control_rates.first()).copied().unwrap_or(self.basic_rate)
    }

    /// SIFS + slot + aRxPHYStartDelay: how long after the end of a frame the preamble of its answer must have begun.
    /// @80211-2020 10.3.2.11
    pub fn answer_timeout(&self, answer_rate: Rate) -> Dur {
        self.timing.sifs + self.timing.slot + answer_rate.rx_phy_start_delay(self.preamble)
    }

    /// The earliest start of the countdown of a backoff drawn at `now`, because the answer to a frame that ended
    /// `waited` ago did not come; `access` is the contender's.
    pub fn countdown_after_timeout(&self, access: &Access, now: SimTime, waited: Dur) -> SimTime {
        match self.after_timeout {
            AfterTimeout::Letter => now,
            AfterTimeout::FreshIfs => now + access.ifs,
            AfterTimeout::Eifs => (now - waited + access.eifs).max(now),
        }
    }

    /// EIFS with the ACK at the lowest rate. @80211-2020 10.3.7
    pub fn eifs(&self) -> Dur {
        self.timing.eifs(airtime(self.lowest_rate, frame::ACK, self.preamble))
    }

    /// How long after the end of an RTS a station that set its NAV by it may conclude that no CTS came.
    /// @80211-2020 10.3.2.4
    pub fn rts_nav_patience(&self, rts_rate: Rate) -> Dur {
        let rate = self.control_rate(rts_rate);
        let cts = airtime(rate, frame::CTS, self.preamble);
        self.timing.sifs * 2 + cts + rate.rx_phy_start_delay(self.preamble) + self.timing.slot * 2
    }

    /// How many categories it has; 0 under DCF.
    pub fn categories(&self) -> u8 {
        self.edca.as_ref().map_or(0, |edca| edca.categories.len() as u8)
    }

    /// The station's contenders: one under DCF, one for each category under EDCA, lowest first.
    pub fn accesses(&self) -> Vec<Access> {
        let Timing { slot, cw_min, cw_max, .. } = self.timing;
        let (difs, eifs, countdown, in_gap) = (self.timing.difs(), self.eifs(), self.countdown, self.access_in_gap);
        let dcf = Access { ifs: difs, eifs, slot, cw_min, cw_max, countdown, in_gap };
        let Some(edca) = &self.edca else { return vec![dcf] };
        let of = |category: &crate::Category| {
            let ifs = category.aifs(&self.timing);
            // @80211-2020 10.23.2.4 b)
            let eifs = eifs - difs + ifs;
            Access { ifs, eifs, cw_min: category.cw_min, cw_max: category.cw_max, ..dcf }
        };
        edca.categories.iter().map(of).collect()
    }

    /// [`Config::accesses`] with a stream for each, for [`crate::Contention::new`]. A category more changes nobody's draws.
    pub fn contenders(&self, streams: &Streams, node: NodeId) -> Vec<(Access, Stream)> {
        let entity = |category: usize| (category as u64) << 32 | u64::from(node.0);
        let draws = |(i, access)| (access, streams.get(Purpose::Backoff, entity(i)));
        self.accesses().into_iter().enumerate().map(draws).collect()
    }

    /// The same station under EDCA, with the defaults of that access method: [`Countdown::Edca`] (@80211-2020 10.23.2.4)
    /// and [`AccessInGap::EdcaLetter`] (10.23.2.2).
    #[must_use]
    pub fn with_edca(self, edca: Edca) -> Config {
        let (countdown, access_in_gap) = (Countdown::Edca, AccessInGap::EdcaLetter);
        Config { edca: Some(edca), countdown, access_in_gap, ..self }
    }

    /// A standard's own values at `data_rate`, under DCF, without RTS/CTS. The countdown is that of @80211-2020 10.3.4.3,
    /// immediate access that of 10.3.4.2.
    pub fn of(standard: phy::Standard, data_rate: Rate) -> Config {
        let of_kbps = |&kbps: &u64| standard.rate(BitRate::from_kbps(kbps));
        let control_rates: Vec<Rate> = standard.mandatory_kbps().iter().filter_map(of_kbps).collect();
        Config {
            timing: standard.timing(),
            preamble: Preamble::Long,
            data_rate,
            basic_rate: standard.rates()[0],
            lowest_rate: standard.rates()[0],
            control_rates,
            rts: Rts::OFF,
            max_attempts: 7,
            max_attempts_long: 4,
            after_timeout: AfterTimeout::Letter,
            edca: None,
            countdown: Countdown::Dcf,
            access_in_gap: AccessInGap::DcfLetter,
        }
    }
}
