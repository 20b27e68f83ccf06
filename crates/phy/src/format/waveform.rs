//! Waveforms: the parameters that all modes of a radio of HT, VHT or HE share, and those for which the standard has no mode.

use crate::mode::Coding;
use core::fmt;
use units::{Dur, Hertz};

/// A frequency band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2_4,
    /// 5 GHz.
    Ghz5,
}

/// CH_BANDWIDTH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
}

impl Width {
    /// Its channels of 20 MHz: 1, 2, 4, 8.
    pub const fn channels(self) -> u32 {
        1 << self as u32
    }

    /// The width as a frequency.
    pub fn hertz(self) -> Hertz {
        Hertz(20e6 * f64::from(self.channels()))
    }

    /// Its place in a table by width.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// Length of an HE-LTF symbol without its guard interval. HE_LTF_TYPE, 802.11ax-2021 table 27-1
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeLtf {
    /// 3.2 µs.
    X1,
    /// 6.4 µs.
    X2,
    /// 12.8 µs.
    X4,
}

/// The count of a PPDU's airtime, in which ns-3 departs from the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TxTime {
    /// The standard's TXTIME.
    Standard,
    /// ns-3's: no VHT-SIG-B; each HE-LTF 8 µs; tail bits for LDPC too, and no symbol more for it; symbols with the short guard
    /// interval not rounded up to 4 µs.
    Ns3,
}

/// The parameters that the modes of a radio have in common, beside their format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waveform {
    /// Its band: 2.4 GHz has a signal extension.
    pub band: Band,
    /// CH_BANDWIDTH.
    pub width: Width,
    /// GI_TYPE: 0.4 or 0.8 µs (HT, VHT), 0.8, 1.6 or 3.2 µs (HE).
    pub guard_interval: Dur,
    /// HE_LTF_TYPE. `None`: the one that all HE stations have with this guard interval, 2x with 0.8 and 1.6 µs, 4x with 3.2 µs.
    pub he_ltf: Option<HeLtf>,
    /// FEC_CODING.
    pub coding: Coding,
    /// The count of airtime.
    pub tx_time: TxTime,
}

impl Waveform {
    /// 20 MHz at 5 GHz with a guard interval of 0.8 µs and BCC, by the standard: every HT, VHT and HE station of the band has it.
    pub const PLAIN: Waveform = Waveform {
        band: Band::Ghz5,
        width: Width::Mhz20,
        guard_interval: Dur::from_ns(800),
        he_ltf: None,
        coding: Coding::Bcc,
        tx_time: TxTime::Standard,
    };
}

/// A mode that the standard lacks, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The format has no such MCS; the highest it has.
    Mcs(&'static str, u8, u8),
    /// This number of streams: there are 1 to 4 here.
    Streams(&'static str, u8),
    /// The format has not got this width in this band.
    Width(&'static str, Width, Band),
    /// The format has no such guard interval; those that it has.
    GuardInterval(&'static str, Dur, &'static [Dur]),
    /// HE has no HE-LTF of this length with this guard interval.
    HeLtf(HeLtf, Dur),
    /// The format has no HE-LTF at all.
    NoHeLtf(&'static str),
    /// HE has this width with LDPC alone.
    BccWidth(Width),
    /// HE has this MCS with LDPC alone.
    BccMcs(u8),
    /// The format lacks this MCS at this width with so many streams: N_CBPS or N_DBPS is no whole number for each encoder.
    Bits {
        /// The format.
        format: &'static str,
        /// MCS of each stream.
        mcs: u8,
        /// Streams.
        streams: u8,
        /// Width.
        width: Width,
    },
    /// A standard before 802.11n has no MCS.
    NoMcs,
}

impl Refusal {
    /// True if it is about the MCS: others of the same radio may exist.
    pub(super) fn is_of_mcs(&self) -> bool {
        matches!(self, Refusal::Mcs(..) | Refusal::BccMcs(_) | Refusal::Bits { .. })
    }
}

impl core::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Mcs(format, mcs, most) => write!(f, "{format} has no MCS {mcs}; there are 0 to {most}"),
            Refusal::Streams(format, streams) => {
                write!(f, "{format} with {streams} spatial streams is not modelled; there are 1 to 4")
            }
            Refusal::Width(format, width, band) => write!(f, "{format} has no channels of {width} at {band}"),
            Refusal::GuardInterval(format, asked, has) => {
                let all: Vec<String> = has.iter().map(Dur::to_string).collect();
                write!(f, "{format} has no guard interval of {asked}; there are {}", all.join(", "))
            }
            Refusal::HeLtf(ltf, guard_interval) => {
                write!(f, "HE has no {ltf} HE-LTF with a guard interval of {guard_interval}")
            }
            Refusal::NoHeLtf(format) => write!(f, "{format} has no HE-LTF"),
            Refusal::BccWidth(width) => write!(f, "HE has no BCC at {width}, only LDPC"),
            Refusal::BccMcs(mcs) => write!(f, "HE has no BCC with MCS {mcs}, only LDPC"),
            Refusal::Bits { format, mcs, streams, width } => {
                let s = if *streams == 1 { "" } else { "s" };
                write!(f, "{format} has no MCS {mcs} at {width} with {streams} spatial stream{s}")
            }
            Refusal::NoMcs => f.write_str("only 802.11n, ac and ax have MCSs"),
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Band::Ghz2_4 => "2.4 GHz",
            Band::Ghz5 => "5 GHz",
        })
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MHz", 20 * self.channels())
    }
}

impl fmt::Display for HeLtf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeLtf::X1 => "1x",
            HeLtf::X2 => "2x",
            HeLtf::X4 => "4x",
        })
    }
}
