//! A station's MAC parameters.

use crate::aggregation::Aggregation;
use crate::contention::{Access, AccessInGap, Countdown};
use crate::control_modes::ControlModes;
use crate::edca::Edca;
use crate::exchange::Job;
use crate::frame;
use engine::{Purpose, Stream, Streams};
use phy::{Mode, Preamble, Timing, airtime};
use units::{Bytes, Dur, NodeId, SimTime};

/// Condition for RTS/CTS before a data frame. dot11RTSThreshold, @80211-2020 10.3.2.9
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rts {
    /// PSDU length above which it does; `None`: never.
    pub threshold: Option<Bytes>,
}

impl Rts {
    /// Never.
    pub const OFF: Rts = Rts { threshold: None };

    /// True if a frame of this length is a long one.
    pub fn is_above_threshold(&self, psdu: Bytes) -> bool {
        self.threshold.is_some_and(|threshold| psdu > threshold)
    }

    /// True if RTS/CTS precedes this frame.
    pub fn covers(&self, job: &Job) -> bool {
        !job.spares_rts && (job.asks_rts || self.is_above_threshold(job.psdu))
    }
}

/// Protection of data in OFDM where stations listen that know DSSS alone: a frame of DSSS before it sets their NAV.
/// @80211-2020 10.27.2
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// A CTS to the station itself.
    CtsToSelf,
    /// RTS and CTS, whatever the frame's length.
    RtsCts,
}

/// Start of the next backoff's countdown after a frame that was not answered. The standard asks for "a DIFS of idle" and
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

/// The time that the Duration fields of a transmit opportunity with a limit reserve. @80211-2020 9.2.5.2, 10.23.2.10
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TxopProtection {
    /// The exchange at hand and the one that follows it: single protection.
    #[default]
    Single,
    /// All until the limit: multiple protection.
    Multiple,
    /// The same, and a CF-End gives back what is left.
    MultipleCfEnd,
}

/// MAC parameters of a station.
#[derive(Debug, Clone)]
pub struct Config {
    /// The modes of its radio, slowest first.
    pub modes: Vec<Mode>,
    /// Slot, SIFS, contention window.
    pub timing: Timing,
    /// Rate of data frames, where rate control is fixed and says nothing else.
    pub data_rate: Mode,
    /// The same to some receivers.
    pub data_rate_to: Vec<(NodeId, Mode)>,
    /// Lowest rate of the basic rate set: group frames.
    pub basic_rate: Mode,
    /// Lowest mandatory rate of the PHY, whatever the basic rate set: the ACK inside EIFS. @80211-2020 10.3.7
    pub lowest_rate: Mode,
    /// In which mode control responses go.
    pub control_modes: ControlModes,
    /// Condition for RTS/CTS.
    pub rts: Rts,
    /// Frame before data in OFDM, at the rate of an RTS; `None`: nothing.
    pub protection: Option<Protection>,
    /// Transmissions in all of a frame not longer than the RTS threshold, and of an RTS. dot11ShortRetryLimit counts the
    /// same way: 7 by default. @80211-2020 annex C
    pub max_attempts: u8,
    /// Transmissions in all of a longer frame. dot11LongRetryLimit: 4.
    pub max_attempts_long: u8,
    /// Start of the backoff's countdown after an unanswered frame.
    pub after_timeout: AfterTimeout,
    /// The access categories of a QoS station; `None`: DCF. [`Config::with_edca`] sets it with the next two.
    pub edca: Option<Edca>,
    /// Slot boundaries by which a backoff counts down.
    pub countdown: Countdown,
    /// True if a frame queued in an interframe space draws a backoff.
    pub access_in_gap: AccessInGap,
    /// The time that transmit opportunities reserve.
    pub txop_protection: TxopProtection,
    /// The contention window follows the failures of the frame that is sent next, and not those of the station: for queues that send
    /// something else after a failure. @80211-2020 10.3.3 knows one window a station.
    pub cw_by_frame: bool,
    /// Its part in aggregation and block acknowledgment, of QoS data; `None`: none, as before 802.11n.
    pub aggregation: Option<Aggregation>,
    /// Length of the longest data MPDU to one receiver: a longer MSDU goes in fragments. `None`: no limit.
    /// dot11FragmentationThreshold, @80211-2020 10.4
    pub fragmentation: Option<Bytes>,
    /// Interval of tries with a neighbour that has not answered a data frame with MAC options. The first data frame to a neighbour
    /// of which nothing is known carries them, the next does not; an acknowledgment makes it able. A neighbour to which such an MSDU
    /// was given up is asked with the next. A station without options drops such a frame unanswered. @KLI06 section 4.4.3
    pub options_probe_every: Dur,
}

impl Config {
    /// SIFS + slot + aRxPHYStartDelay: how long after the end of a frame the preamble of its response must have begun.
    /// @80211-2020 10.3.2.11
    pub fn response_timeout(&self, response: Mode) -> Dur {
        self.timing.sifs + self.timing.slot + response.rx_phy_start_delay
    }

    /// The earliest start of the countdown of a backoff drawn at `now`, because the response to a frame that ended
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
        self.timing.eifs(airtime(self.lowest_rate, frame::ACK))
    }

    /// Time after the end of an RTS in this mode at which a station that set its NAV by it may conclude that no CTS came. @80211-2020
    /// 10.3.2.4
    pub fn rts_nav_patience(&self, rts: Mode) -> Dur {
        let mode = self.control_modes.response_to(rts);
        self.timing.sifs * 2 + airtime(mode, frame::CTS) + mode.rx_phy_start_delay + self.timing.slot * 2
    }

    /// The number of categories it has; 0 under DCF. The highest is one below; behind a scheme that adds one it is the new one.
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

    /// The same station with this preamble of DSSS frames, in all its rates.
    #[must_use]
    pub fn with_preamble(mut self, preamble: Preamble) -> Config {
        let to_some = self.data_rate_to.iter_mut().map(|(_, mode)| mode);
        for rate in [&mut self.data_rate, &mut self.basic_rate, &mut self.lowest_rate].into_iter().chain(to_some) {
            *rate = rate.with_preamble(preamble);
        }
        self.control_modes = self.control_modes.with_preamble(preamble);
        self
    }

    /// A standard's own values at `data_rate`, under DCF, without RTS/CTS. The countdown is that of @80211-2020 10.3.4.3,
    /// immediate access that of 10.3.4.2.
    pub fn of(standard: phy::Standard, data_rate: Mode) -> Config {
        let (modes, mandatory) = (standard.modes(), standard.mandatory().collect::<Vec<_>>());
        Config {
            modes: modes.to_vec(),
            timing: standard.timing(),
            data_rate,
            data_rate_to: Vec::new(),
            basic_rate: modes[0],
            lowest_rate: modes[0],
            control_modes: ControlModes::of(modes, &mandatory),
            rts: Rts::OFF,
            protection: None,
            max_attempts: 7,
            max_attempts_long: 4,
            after_timeout: AfterTimeout::Letter,
            edca: None,
            countdown: Countdown::Dcf,
            access_in_gap: AccessInGap::DcfLetter,
            txop_protection: TxopProtection::Single,
            cw_by_frame: false,
            aggregation: None,
            fragmentation: None,
            options_probe_every: Dur::from_secs(10), // our choice
        }
    }
}
