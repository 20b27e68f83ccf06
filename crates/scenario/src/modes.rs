//! Keys of 802.11n, ac and ax, of all radios and of each: modes of data frames, aggregation.

use crate::aggregation::Aggregation;
use phy::{Coding, Standard, TxTime, Waveform, Width};
use units::Dur;

words! { impl Width, noun "width" {
    "20 MHz" => Mhz20,
    "40 MHz" => Mhz40,
    "80 MHz" => Mhz80,
    "160 MHz" => Mhz160,
} }

words! { impl Coding, noun "coding" { "bcc" => Bcc, "ldpc" => Ldpc } }

words! {
    /// Modulation and coding scheme of data frames.
    pub enum Mcs {
        /// The fastest with which at most a tenth of all frames of 1538 B is lost at the mean SNR.
        "best" => Best,
        else
        /// This one, in each stream.
        Fixed(u8), in 0..=11,
    }
}

impl Mcs {
    /// The MCS, if it is one.
    pub fn fixed(self) -> Option<u8> {
        if let Mcs::Fixed(mcs) = self { Some(mcs) } else { None }
    }
}

table! {
    /// Modes of data frames and aggregation; `None`: as `[radio]` says, or the default.
    #[derive(Default)]
    pub struct Modes {
        /// MCS of data frames in each stream: a number, or the best for each receiver at its mean SNR; of 802.11n, ac and ax.
        mcs: Option<Mcs>, or "best",
        /// Spatial streams; of 802.11n, ac and ax.
        streams: Option<u8>, in 1..=4, or "1",
        /// Channel width; of 802.11n, ac and ax.
        width: Option<Width>, or "20 MHz",
        /// Guard interval: 0.4 or 0.8 us (802.11n and ac), 0.8, 1.6 or 3.2 us (802.11ax).
        guard_interval: Option<Dur>, or "0.8 us",
        /// Forward error correction of data; of 802.11n, ac and ax.
        coding: Option<Coding>, or "ldpc of 802.11ax, bcc of 802.11n and ac",
        /// A-MPDUs, A-MSDUs and block acknowledgment; of 802.11n, ac and ax.
        aggregation: Option<Aggregation>, or "the standard's",
    }
}

impl Modes {
    /// These keys, and where they are silent the others; keys of aggregation one by one.
    #[must_use]
    pub fn or(&self, others: &Modes) -> Modes {
        let aggregation = match (&self.aggregation, &others.aggregation) {
            (Some(own), Some(others)) => Some(own.or(others)),
            (own, others) => own.as_ref().or(others.as_ref()).cloned(),
        };
        Modes {
            mcs: self.mcs.or(others.mcs),
            streams: self.streams.or(others.streams),
            width: self.width.or(others.width),
            guard_interval: self.guard_interval.or(others.guard_interval),
            coding: self.coding.or(others.coding),
            aggregation,
        }
    }

    /// The name of a key that is written.
    pub(crate) fn written(&self) -> Option<&'static str> {
        let keys = [
            ("mcs", self.mcs.is_some()),
            ("streams", self.streams.is_some()),
            ("width", self.width.is_some()),
            ("guard_interval", self.guard_interval.is_some()),
            ("coding", self.coding.is_some()),
            ("aggregation", self.aggregation.is_some()),
        ];
        keys.into_iter().find(|(_, is_written)| *is_written).map(|(key, _)| key)
    }

    /// The MCS, or the best.
    pub fn mcs(&self) -> Mcs {
        self.mcs.unwrap_or(Mcs::Best)
    }

    /// Spatial streams.
    pub fn streams(&self) -> u8 {
        self.streams.unwrap_or(1)
    }

    /// The waveform that all modes of a station of this standard share.
    pub fn waveform(&self, standard: Standard, tx_time: TxTime) -> Waveform {
        let by_standard = if standard == Standard::Ax { Coding::Ldpc } else { Coding::Bcc };
        Waveform {
            width: self.width.unwrap_or(Waveform::PLAIN.width),
            guard_interval: self.guard_interval.unwrap_or(Waveform::PLAIN.guard_interval),
            coding: self.coding.unwrap_or(by_standard),
            tx_time,
            ..Waveform::PLAIN
        }
    }
}
