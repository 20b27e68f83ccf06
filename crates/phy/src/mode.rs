//! Modes: what a PPDU's modulation and coding come to, one row of a format's table each.

use crate::Format;
use crate::curves::Part;
pub use crate::curves::awgn::Coding;
use crate::ldpc::Ldpc;
use core::fmt;
use core::num::NonZeroU64;
use core::ops::Deref;
use units::{BitRate, Dur, Hertz};

/// Length of the DSSS preamble. OFDM has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preamble {
    /// 144 µs, then a header of 48 µs at 1 Mb/s. @80211-2020 16.2.2.2
    Long,
    /// 72 µs, then a header of 24 µs at 2 Mb/s; not for 1 Mb/s. @80211-2020 16.2.2.3
    Short,
}

/// A row of a format's table: all that follows from format, MCS, streams, width, guard interval and preamble. It is worked out
/// once, so that the airtime of a frame is one division.
#[derive(Debug)]
pub struct Row {
    /// FORMAT, and with it the modulation class. @80211-2020 10.6.9
    pub format: &'static Format,
    /// MCS as the standard counts, HT from 0 to 31; in formats without one the number of the rate, the slowest 0.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// CH_BANDWIDTH.
    pub bandwidth: Hertz,
    /// The part of its power in the primary channel of 20 MHz: 1, or 1/2, 1/4, 1/8 where it is wider.
    pub primary_share: f64,
    /// FEC_CODING; `None`: DSSS and CCK.
    pub coding: Option<Coding>,
    /// The guard interval before each symbol; zero where there is none.
    pub guard_interval: Dur,
    /// PREAMBLE_TYPE, of DSSS; long for all others.
    pub preamble: Preamble,
    /// The same behind the other preamble, where there is a choice.
    pub twin: Option<Mode>,
    /// Nominal bit rate, as the standard's tables print it: other modes may have the same.
    pub bit_rate: BitRate,
    /// The mode whose class control frames before and after it have, and whose rate they are not above: itself, or the mode of the
    /// non-HT reference rate. @80211-2020 10.6.6.5.2, 10.6.11
    pub reference: Mode,
    /// Preamble and header.
    pub front: Front,
    /// From the start of the PPDU to PHY-RXSTART.indication. aRxPHYStartDelay
    pub rx_phy_start_delay: Dur,
    /// Behind the front: service bits, the PSDU, tail and pad bits.
    pub symbols: Symbols,
    /// Silence behind the last symbol, which counts as airtime: the signal extension of OFDM in the 2.4 GHz band. @80211-2020
    /// 18.3.2.4
    pub signal_extension: Dur,
}

/// A field of a PPDU before its first data symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The standard's word for it; of several equal ones in a row one word.
    pub name: &'static str,
    /// The part it belongs to.
    pub part: Part,
    /// Its length.
    pub lasts: Dur,
}

impl Field {
    /// A field of so many µs.
    pub const fn us(name: &'static str, part: Part, us: u64) -> Field {
        Field { name, part, lasts: Dur::from_us(us) }
    }
}

/// The beginning of a PPDU, before its first data symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Front {
    /// Its fields, in order.
    pub fields: &'static [Field],
    /// Synchronisation.
    pub preamble: Dur,
    /// Rate of bits in it; 0: it carries none.
    pub preamble_rate: BitRate,
    /// The fields that say how the rest is to be read: the PLCP header, SIGNAL, L-SIG and HT-SIG.
    pub header: Dur,
    /// Rate of bits in them.
    pub header_rate: BitRate,
    /// Training behind the header, without bits: HT-STF and HT-LTFs.
    pub training: Dur,
}

impl Front {
    /// That of these fields, which are in order of their parts, and the rates of bits in preamble and header.
    pub const fn of(fields: &'static [Field], preamble_rate: BitRate, header_rate: BitRate) -> Front {
        let (mut preamble, mut header, mut training) = (0, 0, 0);
        let mut i = 0;
        while i < fields.len() {
            let ns = fields[i].lasts.ns();
            match fields[i].part {
                Part::Preamble => preamble += ns,
                Part::Header => header += ns,
                Part::Training => training += ns,
                Part::Payload => panic!("the payload is no field of the front"),
            }
            i += 1;
        }
        Front {
            fields,
            preamble: Dur::from_ns(preamble),
            preamble_rate,
            header: Dur::from_ns(header),
            header_rate,
            training: Dur::from_ns(training),
        }
    }

    /// All of it.
    pub const fn lasts(&self) -> Dur {
        Dur::from_ns(self.preamble.ns() + self.header.ns() + self.training.ns())
    }
}

/// Data symbols of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbols {
    /// T_SYM, guard interval included.
    pub lasts: Dur,
    /// 2 N_DBPS: data bits in two of them. Two, since 5.5 Mb/s has eleven bits in 2 µs.
    pub bits_in_two: NonZeroU64,
    /// Service bits before the PSDU.
    pub service: u64,
    /// Tail bits behind it.
    pub tail: u64,
    /// Airtime counts them in whole ones of these, silence behind the last symbol included: 4 µs where the guard interval is short
    /// (@80211-2020 19.4.3, 21.4.3). Zero: it counts symbols.
    pub rounded_to: Dur,
    /// LDPC may need a symbol more than the bits.
    pub ldpc: Option<Ldpc>,
}

impl Symbols {
    /// Symbols of this length with so many data bits in two.
    ///
    /// # Panics
    /// With 0 bits: when the table is compiled, if it is a `static`.
    pub const fn new(lasts: Dur, bits_in_two: u64, service: u64, tail: u64) -> Symbols {
        let bits_in_two = NonZeroU64::new(bits_in_two).expect("symbols carry bits");
        Symbols { lasts, bits_in_two, service, tail, rounded_to: Dur::ZERO, ldpc: None }
    }

    /// Duration of the symbols of a PSDU of so many bits.
    pub fn time_of(&self, psdu_bits: u64) -> Dur {
        let bits = self.service + psdu_bits + self.tail;
        let mut symbols = (2 * bits).div_ceil(self.bits_in_two.get());
        if let Some(ldpc) = &self.ldpc {
            symbols += ldpc.extra_symbols(bits, symbols);
        }
        let lasts = self.lasts * symbols;
        if self.rounded_to == Dur::ZERO {
            return lasts;
        }
        self.rounded_to * lasts.ns().div_ceil(self.rounded_to.ns())
    }
}

/// Modulation and coding of a PSDU: a row of its format's table ([`Row`], whose fields it has). Two are equal if they are the
/// same row; equal bit rates are not enough for that.
#[derive(Clone, Copy)]
pub struct Mode(&'static Row);

impl Mode {
    /// The mode that a row describes. Rows are `static`: each is a mode of its own.
    pub const fn of(row: &'static Row) -> Mode {
        Mode(row)
    }

    /// The same with this preamble, where there is a choice: DSSS above 1 Mb/s.
    #[must_use]
    pub fn with_preamble(self, preamble: Preamble) -> Mode {
        if self.preamble == preamble { self } else { self.twin.unwrap_or(self) }
    }

    /// Nominal bit rate.
    pub fn bit_rate(self) -> BitRate {
        self.0.bit_rate
    }
}

impl Deref for Mode {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.0
    }
}

impl PartialEq for Mode {
    fn eq(&self, other: &Mode) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Mode {}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { format, mcs, streams, bandwidth, guard_interval, bit_rate, .. } = self.0;
        write!(f, "{} MCS {mcs} ({bit_rate}, streams: {streams}, {} MHz", format.name, bandwidth.0 / 1e6)?;
        if *guard_interval > Dur::ZERO {
            write!(f, ", guard interval {guard_interval}")?;
        }
        if self.coding == Some(Coding::Ldpc) {
            f.write_str(", LDPC")?;
        }
        f.write_str(if self.preamble == Preamble::Short { ", short preamble)" } else { ")" })
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Reason for which a bit rate names no mode of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoSuchMode {
    /// No mode has it; the rates of those that there are, in the table's order.
    None(BitRate, Vec<BitRate>),
    /// Several modes have it.
    Several(BitRate, Vec<Mode>),
}

impl core::error::Error for NoSuchMode {}

impl fmt::Display for NoSuchMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSuchMode::None(rate, all) => write!(f, "no mode has {rate}; there are {}", listed(all)),
            NoSuchMode::Several(rate, all) => write!(f, "{rate} is the rate of {}", listed(all)),
        }
    }
}

fn listed(all: &[impl fmt::Display]) -> String {
    let words: Vec<String> = all.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}

/// The one mode of a table with this bit rate.
///
/// # Errors
/// No mode has it, or several have.
pub fn mode_at(table: &[Mode], rate: BitRate) -> Result<Mode, NoSuchMode> {
    let found: Vec<Mode> = table.iter().copied().filter(|mode| mode.bit_rate() == rate).collect();
    match found[..] {
        [mode] => Ok(mode),
        [] => Err(NoSuchMode::None(rate, table.iter().map(|mode| mode.bit_rate()).collect())),
        _ => Err(NoSuchMode::Several(rate, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Standard;

    #[test]
    fn one_megabit_has_no_short_preamble_and_ofdm_has_no_choice() {
        assert_eq!(Mode::dsss(0).with_preamble(Preamble::Short), Mode::dsss(0));
        assert_eq!(Mode::erp_ofdm(7).with_preamble(Preamble::Short), Mode::erp_ofdm(7));
        for mcs in 1..4 {
            let (long, short) = (Mode::dsss(mcs), Mode::dsss(mcs).with_preamble(Preamble::Short));
            assert_eq!((short.preamble, short.mcs, short.bit_rate()), (Preamble::Short, mcs, long.bit_rate()));
            assert_eq!((short.with_preamble(Preamble::Long), short.with_preamble(Preamble::Short)), (long, short));
        }
    }

    #[test]
    fn modes_are_the_rows_of_their_tables_and_nothing_else() {
        let all: Vec<Mode> =
            [Standard::G, Standard::A].iter().flat_map(|standard| standard.modes()).copied().collect();
        for (i, mode) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == mode), Some(i));
        }
        assert_ne!(Mode::ofdm(7), Mode::erp_ofdm(7), "equal rates of two formats");
    }

    #[test]
    fn a_bit_rate_that_names_no_mode_is_told_why() {
        let rate = BitRate::from_kbps;
        assert_eq!(mode_at(Standard::B.modes(), rate(5500)), Ok(Mode::dsss(2)));
        let none = mode_at(Standard::B.modes(), rate(6000)).unwrap_err().to_string();
        assert_eq!(none, "no mode has 6 Mb/s; there are 1 Mb/s, 2 Mb/s, 5.5 Mb/s and 11 Mb/s");
        let several = mode_at(&[Mode::ofdm(0), Mode::erp_ofdm(0)], rate(6000)).unwrap_err().to_string();
        assert_eq!(
            several,
            "6 Mb/s is the rate of OFDM MCS 0 (6 Mb/s, streams: 1, 20 MHz, guard interval 800 ns) and ERP-OFDM MCS 0 (6 Mb/s, \
             streams: 1, 20 MHz, guard interval 800 ns)"
        );
    }
}
