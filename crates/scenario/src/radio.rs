//! `[radio]`: what all radios have in common.

use crate::at::{At, Context};
use crate::edca::{Access, CONTENTION_WINDOW, Edca};
use crate::modes::Modes;
use crate::plug::{Plug, RateControls};
use crate::queues::{Queue, RadioQueue};
use crate::scalar::{Metres, SOME_TIME};
use crate::shape::{Powered, Via};
use crate::{Result, shape};
use core::ops::RangeInclusive;
use units::{BitRate, Bytes, Db, Dbm, Dur};

words! { impl phy::Standard, noun "standard" {
    "802.11" => Dsss,
    "802.11b" => B,
    "802.11a" => A,
    "802.11g" => G,
    "802.11n" => N,
    "802.11n-2.4" => N2_4,
    "802.11ac" => Ac,
    "802.11ax" => Ax,
} }

words! {
    /// The preamble before data.
    pub enum Preamble, noun "preamble" {
        /// Of DSSS and CCK: 144 us.
        "long" => Long,
        /// Of DSSS and CCK: 72 us.
        "short" => Short,
        /// Of 802.11n, ac and ax: airtimes counted as ns-3 counts them.
        "ns3" => Ns3,
    }
}

/// True of a standard with MCSs, aggregation and block acknowledgment: 802.11n, ac, ax.
pub fn has_mcs(standard: phy::Standard) -> bool {
    matches!(standard, phy::Standard::N | phy::Standard::N2_4 | phy::Standard::Ac | phy::Standard::Ax)
}

words! { impl mac::AfterTimeout, noun "reading" { "letter" => Letter, "fresh-ifs" => FreshIfs, "eifs" => Eifs } }

words! { impl mac::AccessInGap, noun "reading" {
    "dcf-letter" => DcfLetter,
    "edca-letter" => EdcaLetter,
    "always-draw" => AlwaysDraw,
} }

words! { impl mac::TxopProtection, noun "protection" {
    "single" => Single,
    "multiple" => Multiple,
    "multiple-cf-end" => MultipleCfEnd,
} }

words! { impl mac::Countdown, noun "reading" { "dcf" => Dcf, "edca" => Edca } }

words! { impl mac::DscpMap, noun "DSCP map" { "rfc8325" => Rfc8325, "precedence" => Precedence } }

words! {
    /// The MSDUs that may be preceded by RTS/CTS.
    pub enum RtsFor, noun "class of frames" {
        /// Any above the threshold.
        "all" => All,
        /// Those that carry TCP or UDP payload.
        "data" => Data,
    }
}

words! {
    /// Packets that wait at the access point that a station leaves.
    pub enum HandoffQueue, noun "fate" {
        /// They are lost.
        "drop" => Drop,
        /// They go on by the new routes.
        "forward" => Forward,
    }
}

words! {
    /// Slot time of 802.11g.
    pub enum Slot, noun "slot" {
        /// 9 us.
        "short" => Short,
        /// 20 us, as 802.11b.
        "long" => Long,
    }
}

words! {
    /// The protection of OFDM data of 802.11g where stations of 802.11b listen.
    pub enum Protection, noun "protection" {
        /// CTS-to-self if a station of 802.11b is in the scenario, otherwise nothing.
        "auto" => Auto,
        /// Nothing.
        "none" => None,
        /// A CTS to the station itself.
        "cts-to-self" => CtsToSelf,
        /// RTS and CTS.
        "rts-cts" => RtsCts,
    }
}

words! {
    /// Rate of ACK and CTS.
    pub enum ControlRate {
        /// The highest basic rate not above that of the frame they answer.
        "basic" => Basic,
        else
        /// This one, always.
        Fixed(BitRate),
    }
}

words! {
    /// Size of the longest data MPDU to one receiver.
    pub enum FragmentationThreshold {
        /// Any size: MSDUs go whole.
        "off" => Off,
        else
        /// This one: a longer MSDU goes in fragments.
        Above(Bytes),
    }
}

or_none! { FragmentationThreshold, Off | Above(Bytes) }

words! {
    /// Size of the MPDU above which RTS/CTS is used.
    pub enum RtsThreshold {
        /// No size: never.
        "off" => Off,
        else
        /// Above this one.
        Above(Bytes),
    }
}

or_none! { RtsThreshold, Off | Above(Bytes) }

/// The access method of a standard's stations if nothing is said: those with MCSs are QoS stations. @80211-2020 4.3.14
pub(crate) fn default_access(standard: phy::Standard) -> Access {
    if has_mcs(standard) { Access::Edca } else { Access::Dcf }
}

/// The queue of a standard's stations if nothing is said: a FIFO, of 1000 packets where a window of block acknowledgment is 64 or 256 MPDUs
/// and an aggregate takes what waits for one receiver; as many as Linux's txqueuelen.
fn default_queue(standard: phy::Standard) -> RadioQueue {
    let packets = if has_mcs(standard) { 1000 } else { 50 };
    let fifo = queue::find(queue::DEFAULT).expect("a discipline of the registry");
    let queue = Queue { limit: queue::Limit::Packets(packets), discipline: Plug::new(fifo.info, fifo.params) };
    RadioQueue { per: None, queue }
}

/// The bit rates of a standard, slowest first.
pub(crate) fn bit_rates(standard: phy::Standard) -> impl DoubleEndedIterator<Item = BitRate> {
    standard.modes().iter().map(|mode| mode.bit_rate())
}

pub(crate) fn highest(standard: phy::Standard) -> BitRate {
    bit_rates(standard).next_back().unwrap_or_default()
}

/// 40 mW, ns-3's default (16.0206 dBm).
pub(crate) const TX_POWER: Dbm = Dbm(16.0);

const ATTEMPTS: RangeInclusive<u8> = RangeInclusive::new(1, 255);

table! {
    /// The parameters that all radios have in common.
    pub struct Radio sets mac::Config {
        /// The amendment whose rates and timing all radios follow.
        standard: phy::Standard,
        /// Rate of data frames; 802.11n, ac and ax have mcs in place of it.
        data_rate: BitRate, or "the standard's highest" => highest(standard),
        /// The rate control that chooses the rate of each data frame; see `interlayer list rate-controls`.
        rate_control: Option<Plug<RateControls>>, or "fixed",
        /// The only basic rate: of broadcasts, and of RTS, CTS and ACK whose modulation it has.
        basic_rate: Option<BitRate>, or "all mandatory rates that all stations have (of 802.11g without DSSS data: 6, 12, 24 Mb/s)",
        /// Several basic rates, in place of basic_rate; broadcasts go at the lowest.
        basic_rate_set: Option<Vec<BitRate>>, in 1..=12, or "basic_rate alone",
        /// Rate of ACK and CTS: the highest basic rate of the modulation of the frame they answer and not above its rate (a
        /// mandatory rate, if there is none), or one rate always.
        control_rate: ControlRate = "basic",
        /// Rate of RTS, and of the CTS that protects.
        rts_rate: Option<BitRate>, or "control_rate if that is one rate, else the highest basic rate not above that of the data",
        /// PHY preamble of DSSS and CCK rates (short: 802.11b and 802.11g only). Of 802.11n, ac and ax: ns3 counts airtimes as ns-3 does.
        preamble: Option<Preamble>, or "long; the standard's own for 802.11n, ac and ax" => (standard != phy::Standard::A && !has_mcs(standard)).then_some(Preamble::Long),
        /// Modes and aggregation of 802.11n, ac and ax.
        modes => Modes,
        /// Size of the MPDU above which RTS/CTS is used; "0 B": always.
        rts_threshold: RtsThreshold = "off", sets rts.threshold,
        /// Size of the longest data MPDU to one receiver, 256 B to 8000 B: a longer MSDU goes in fragments.
        fragmentation_threshold: FragmentationThreshold = "off", sets fragmentation,
        /// The MSDUs that may use RTS/CTS: all, or those that carry TCP or UDP payload.
        rts_for: RtsFor = "all",
        /// Silence of a station that goes over from one access point to another.
        handoff_time: Option<Dur>, in SOME_TIME, or "50 ms",
        /// Fate of the packets that wait for such a station at the access point that it leaves: they are lost (drop), or go on by the new routes
        /// (forward).
        handoff_queue: Option<HandoffQueue>, or "drop",
        /// Transmissions in all of a frame up to the RTS threshold. What is acknowledged in blocks has aggregation.lifetime, or its attempts.
        max_attempts: u8 = 7, in ATTEMPTS, sets max_attempts,
        /// Transmissions in all of a frame above the RTS threshold, once its RTS was answered.
        max_attempts_long: u8 = 4, in ATTEMPTS, sets max_attempts_long,
        /// The time at which the backoff after an unanswered frame counts down: at the timeout, a DIFS later, or an EIFS after the frame.
        after_timeout: mac::AfterTimeout = "letter", sets after_timeout,
        /// Transmit power, antenna gains included; needs channel.propagation.
        tx_power: Option<Dbm>, or "16 dBm",
        /// Thresholds; `None` where signals have no powers.
        levels => Option<Levels> as Powered<Levels>,
        /// Of all stations.
        access: Option<Access>, or "edca of 802.11n, ac and ax, dcf of the others" => Some(default_access(standard)),
        /// Parameters of the access categories.
        edca: Option<Edca>, or "the standard's, for access points apart",
        /// The user priority, and with it the access category, of a packet by its DSCP: as RFC 8325 and Linux since 2023 (EF is voice), or its
        /// precedence, as before.
        dscp_map: Option<mac::DscpMap>, or "rfc8325",
        /// The rule by which a frame queued in an interframe gap draws a backoff: DCF's, EDCA's, or always.
        access_in_gap: Option<mac::AccessInGap>, or "the letter of the access method", sets access_in_gap,
        /// The time that the Duration fields of a transmit opportunity with a limit reserve: the exchange that follows (single), all until the
        /// limit (multiple), or that with a CF-End that gives back what is left (multiple-cf-end).
        txop_protection: Option<mac::TxopProtection>, or "single", sets txop_protection,
        /// The slots by which a backoff counts down: the boundary that ends AIFS counts too (edca), or only whole idle slots (dcf).
        countdown: Option<mac::Countdown>, or "that of the access method", sets countdown,
        /// Least contention window in slots.
        cw_min: Option<u16>, in CONTENTION_WINDOW, or "the standard's", sets timing.cw_min,
        /// Greatest contention window in slots.
        cw_max: Option<u16>, in CONTENTION_WINDOW, or "the standard's", sets timing.cw_max,
        /// Slot time of 802.11g: 9 us, or the 20 us of 802.11b.
        slot: Option<Slot>, or "for 802.11g short, long beside stations of 802.11b; fixed for the others",
        /// The protection of OFDM data of 802.11g, sent at the rate of an RTS: with auto a CTS-to-self, if a station of 802.11b is there.
        protection: Protection = "auto",
        /// Interface queue of every station, one for each access category, limited in packets or in bytes.
        queue: RadioQueue, or "50 packets; of 802.11n, ac and ax 1000" => default_queue(standard),
    }
}

impl Radio {
    /// The way in which airtimes are counted.
    pub fn tx_time(&self) -> phy::TxTime {
        if self.preamble == Some(Preamble::Ns3) { phy::TxTime::Ns3 } else { phy::TxTime::Standard }
    }
}

/// The standard that a file states; 802.11b if it states none.
pub(crate) fn stated_standard(tree: &toml::Table) -> phy::Standard {
    let word = tree.get("radio").and_then(|radio| radio.get("standard")).and_then(toml::Value::as_str);
    word.and_then(crate::words::find).unwrap_or(phy::Standard::B)
}

/// The radio of a scenario without radios: what 802.11b has where nothing is said.
pub(crate) fn silent(cx: &Context) -> Radio {
    let standard = phy::Standard::B;
    let table = toml::Table::from_iter([("standard".to_owned(), crate::words::Words::word(standard).into())]);
    shape::read(&table, &At::root(cx)).expect("a standard is all that a radio needs")
}

table! {
    /// Thresholds of radios where signals have powers.
    #[derive(Copy)]
    pub struct Levels {
        /// Energy at which the medium is busy at once; needs channel.propagation.
        cca_ed: Dbm, or "-62 dBm" => Dbm(-62.0), // @80211-2020 17.3.10.6
        /// Time until a preamble below cca_ed is sensed; needs channel.propagation.
        cca_preamble_latency: Dur, or "4 us" => Dur::from_us(4), // @80211-2020 17.3.10.6
        /// Least SINR of a preamble to lock on; needs channel.propagation.
        preamble_sinr: Db, or "4 dB" => Db(4.0),
        /// A gain is computed anew when one of its ends has moved so far since; needs channel.propagation.
        move_step: Option<Metres>, or "0.1 m",
        /// Excess of the mean power of another access point with which a mobile station goes over to it; needs channel.propagation.
        handoff_hysteresis: Option<Db>, or "8 dB",
        /// The fate of two frames at one receiver.
        capture => Capture as CaptureKeys,
    }
}

impl Radio {
    /// `handoff_time`: 50 ms unless it is set, our choice: authentication and association without a scan.
    pub fn handoff_lasts(&self) -> Dur {
        self.handoff_time.unwrap_or(Dur::from_ms(50))
    }
}

impl Levels {
    /// `move_step`: 0.1 m unless it is set. At 2.4 GHz that is less than a wavelength of 0.125 m: no path loss is finer.
    pub fn step(&self) -> Metres {
        self.move_step.unwrap_or(Metres(0.1))
    }

    /// `handoff_hysteresis`: 8 dB unless it is set, our choice: shadowing alone does not move a station that stands between two.
    pub fn hysteresis(&self) -> Db {
        self.handoff_hysteresis.unwrap_or(Db(8.0))
    }
}

words! { impl phy::Interference, noun "measure of interference" { "noise" => Noise, "modem" => Modem } }

/// The least excess of power for which a receiver turns to a later frame; `None`: that of a preamble, `preamble_sinr`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relock {
    /// Over a frame that could be decoded.
    pub clear: Option<Db>,
    /// Over a frame that could not.
    pub garbled: Option<Db>,
}

impl Relock {
    /// The rule of the medium.
    pub fn rule(self, preamble_sinr: Db) -> phy::Capture {
        let [clear, garbled] = [self.clear, self.garbled].map(|stated| stated.unwrap_or(preamble_sinr));
        phy::Capture { clear, garbled }
    }
}

/// The fate of two frames at one receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capture {
    /// Power of noise that a frame counts as at a receiver of another.
    pub interference: phy::Interference,
    /// Conditions on which a locked receiver turns to a later frame; `None`: it never does.
    pub relock: Option<Relock>,
}

table! {
    /// The keys of a [`Capture`].
    pub struct CaptureKeys {
        /// Power of noise that a frame counts as at a receiver of another: its own (noise), or what the project's modem measured of two OFDM frames,
        /// MCS 0 to 7 with BCC (modem; [the air](design/air.md)); needs channel.propagation.
        interference: phy::Interference, or "noise" => phy::Interference::Noise,
        /// A much stronger frame takes a locked receiver; needs channel.propagation.
        capture: bool, or "false" => false,
        /// The least excess over a frame that could be decoded.
        capture_clear: Option<Db>, or "10 dB; preamble_sinr with interference = modem",
        /// The least excess over a frame that could not.
        capture_garbled: Option<Db>, or "15 dB; preamble_sinr with interference = modem",
    }
}

impl Via<CaptureKeys> for Capture {
    fn from_keys(keys: CaptureKeys, _: &At) -> Result<Capture> {
        // About 10 dB over a frame that can be decoded, 15 to 25 over a garbled one; the modem asks no more than a preamble does
        // (docs/design/air.md).
        let usual = |db: f64| (keys.interference == phy::Interference::Noise).then_some(Db(db));
        let clear = keys.capture_clear.or(usual(10.0));
        let garbled = keys.capture_garbled.or(usual(15.0));
        let relock = keys.capture.then_some(Relock { clear, garbled });
        Ok(Capture { interference: keys.interference, relock })
    }

    fn to_keys(&self) -> CaptureKeys {
        CaptureKeys {
            interference: self.interference,
            capture: self.relock.is_some(),
            capture_clear: self.relock.and_then(|it| it.clear),
            capture_garbled: self.relock.and_then(|it| it.garbled),
        }
    }
}
