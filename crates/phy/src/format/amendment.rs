//! The modes of HT, VHT and HE: worked out when they are asked for, since there are thousands, and kept for good.

use super::numerology::{MCS, Mcs, N_LTF};
use super::waveform::{Band, Refusal, TxTime, Waveform, Width};
use super::{Format, erp_ofdm};
use crate::ldpc::Ldpc;
use crate::mode::{Coding, Field, Front, Mode, Preamble, Row, Symbols};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use units::{BitRate, Dur};

/// The differences between HT, VHT and HE.
#[derive(Debug)]
pub(crate) struct Amendment {
    /// The standard's word for it.
    pub name: &'static str,
    /// Its format at 5 GHz, and at 2.4 GHz if it has one.
    pub formats: (&'static Format, Option<&'static Format>),
    /// The highest MCS of a stream.
    pub most_mcs: u8,
    /// The MCS counts on from stream to stream: that of two streams begins at 8.
    pub counts_streams: bool,
    /// N_SD at 20, 40, 80 and 160 MHz, as far as it has them.
    pub n_sd: &'static [u32],
    /// N_SD,short of the same, in a quarter of a symbol; 0: symbols are not divided.
    pub n_sd_short: [u32; 4],
    /// Length of a symbol without its guard interval.
    pub symbol: Dur,
    /// Guard intervals that it has.
    pub guard_intervals: &'static [Dur],
    /// N_ES: encoders of BCC, by MCS of a stream, streams, width and N_DBPS.
    pub n_es: fn(u8, u8, Width, u32) -> u32,
    /// N_DBPS may be rounded down. Where it may not, what has no whole number of bits for each encoder does not exist.
    pub rounds_bits: bool,
    /// The bits that LDPC encodes are those of whole symbols.
    pub fills_symbols: bool,
    /// Its further demands; returns the waveform with the choices made that the caller left open.
    pub check: fn(Waveform) -> Result<Waveform, Refusal>,
    /// The fields before the data, for so many LTFs.
    pub fields: fn(u64, &Waveform) -> Vec<Field>,
    /// aRxPHYStartDelay, for so many LTFs.
    pub rx_phy_start_delay: fn(u64) -> Dur,
}

/// Amendment, MCS of a stream, streams and waveform: equal ones are one mode.
type Key = (&'static str, u8, u8, Waveform);

/// All modes that were ever asked for.
static MODES: Mutex<BTreeMap<Key, Mode>> = Mutex::new(BTreeMap::new());

/// The start of every PPDU, which all stations around can read. @80211-2020 19.3.9.3
pub(super) const LEGACY: [Field; 3] = super::ofdm::FIELDS;

impl Amendment {
    /// The mode of an MCS, counted for one stream, in each of so many streams.
    pub fn mode(&self, mcs: u8, streams: u8, waveform: Waveform) -> Result<Mode, Refusal> {
        let waveform = self.checked(streams, waveform)?;
        let mut modes = MODES.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.name, mcs, streams, waveform);
        if let Some(known) = modes.get(&key) {
            return Ok(*known);
        }
        let row = self.row(mcs, streams, waveform)?;
        let mode = Mode::of(Box::leak(Box::new(row)));
        modes.insert(key, mode);
        Ok(mode)
    }

    /// All modes of 1 to so many streams.
    pub fn modes(&self, streams: u8, waveform: Waveform) -> Result<Vec<Mode>, Refusal> {
        self.checked(streams, waveform)?;
        let all = (1..=streams).flat_map(|n| (0..=self.most_mcs).map(move |mcs| self.mode(mcs, n, waveform)));
        all.filter(|mode| !mode.as_ref().is_err_and(Refusal::is_of_mcs)).collect()
    }

    fn format(&self, band: Band) -> Option<&'static Format> {
        match band {
            Band::Ghz5 => Some(self.formats.0),
            Band::Ghz2_4 => self.formats.1,
        }
    }

    /// Checks all that does not depend on the MCS.
    fn checked(&self, streams: u8, waveform: Waveform) -> Result<Waveform, Refusal> {
        let Waveform { band, width, guard_interval, .. } = waveform;
        // The 2.4 GHz band has no channels wider than 40 MHz. @80211-2020 annex E
        let widths = if band == Band::Ghz2_4 { self.n_sd.len().min(2) } else { self.n_sd.len() };
        if self.format(band).is_none() || width.index() >= widths {
            return Err(Refusal::Width(self.name, width, band));
        }
        if !(1..=N_LTF.len()).contains(&usize::from(streams)) {
            return Err(Refusal::Streams(self.name, streams));
        }
        if !self.guard_intervals.contains(&guard_interval) {
            return Err(Refusal::GuardInterval(self.name, guard_interval, self.guard_intervals));
        }
        (self.check)(waveform)
    }

    fn row(&self, mcs: u8, streams: u8, waveform: Waveform) -> Result<Row, Refusal> {
        let Waveform { band, width, guard_interval, coding, tx_time, .. } = waveform;
        if mcs > self.most_mcs {
            return Err(Refusal::Mcs(self.name, mcs, self.most_mcs));
        }
        if mcs > 9 && coding == Coding::Bcc {
            return Err(Refusal::BccMcs(mcs));
        }
        let of_stream: Mcs = MCS[usize::from(mcs)];
        let n_cbps = of_stream.n_cbps(self.n_sd[width.index()], streams);
        let n_dbps = of_stream.n_dbps(n_cbps);
        let n_es = (self.n_es)(mcs, streams, width, n_dbps);
        let is_whole = n_dbps * (of_stream.q + 1) == n_cbps * of_stream.q
            && n_cbps.is_multiple_of(n_es)
            && n_dbps.is_multiple_of(n_es);
        if !(is_whole || self.rounds_bits) {
            return Err(Refusal::Bits { format: self.name, mcs, streams, width });
        }
        let lasts = self.symbol + guard_interval;
        let is_ns3 = tx_time == TxTime::Ns3;
        let has_tail = coding == Coding::Bcc || is_ns3;
        let tail = if has_tail { 6 * u64::from(n_es) } else { 0 };
        let n_cbps_short = of_stream.n_cbps(self.n_sd_short[width.index()], streams);
        let ldpc = Ldpc {
            n_dbps,
            n_cbps,
            q: of_stream.q as u8,
            fills_symbols: self.fills_symbols,
            spare_up_to: 3 * of_stream.n_dbps(n_cbps_short),
        };
        let is_short = guard_interval < Dur::from_ns(800);
        let symbols = Symbols {
            rounded_to: if is_short && !is_ns3 { Dur::from_us(4) } else { Dur::ZERO },
            ldpc: (!has_tail).then_some(ldpc),
            ..Symbols::new(lasts, 2 * u64::from(n_dbps), 16, tail)
        };
        let n_ltf = N_LTF[usize::from(streams) - 1];
        let fields = Vec::leak((self.fields)(n_ltf, &waveform));
        let (reference, signal_extension) = match band {
            Band::Ghz5 => (Mode::ofdm(of_stream.reference), Dur::ZERO),
            Band::Ghz2_4 => (Mode::erp_ofdm(of_stream.reference), erp_ofdm::SIGNAL_EXTENSION),
        };
        Ok(Row {
            format: self.format(band).unwrap_or(self.formats.0),
            mcs: if self.counts_streams { (streams - 1) * (self.most_mcs + 1) + mcs } else { mcs },
            streams,
            bandwidth: width.hertz(),
            primary_share: 1.0 / f64::from(width.channels()),
            coding: Some(coding),
            guard_interval,
            preamble: Preamble::Long,
            twin: None,
            bit_rate: of_stream.bit_rate(n_cbps, lasts),
            reference,
            front: Front::of(fields, BitRate::from_bps(0), BitRate::from_kbps(6000)),
            rx_phy_start_delay: (self.rx_phy_start_delay)(n_ltf),
            symbols,
            signal_extension,
        })
    }
}
