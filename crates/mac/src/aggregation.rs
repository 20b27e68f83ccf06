//! Aggregation and block acknowledgment as a station offers them, and what two stations agree on. @80211-2020 9.7, 10.12, 10.25
//!
//! An agreement stands from the start: ADDBA frames are not sent. The originator clips what it offers to what its peer announced.

use crate::msdu::Msdu;
use phy::{Mode, Standard};
use units::{Bytes, Dur, SimTime};

/// The end of the attempts of an MSDU under an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// Its age since it was handed down: dot11EDCATableMSDULifetime. Attempts are not counted. @80211-2020 10.23.2.12.1
    Lifetime(Dur),
    /// So many attempts, whatever its age, as drivers of Linux count them.
    Attempts(u8),
}

/// The step behind a PSDU of which no Block Ack came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterSilence {
    /// All its MPDUs again, in the next PSDU.
    Data,
    /// A Block Ack Request first: it costs an access, and data that arrived are not sent twice. The data go again when as many requests
    /// as a frame has attempts were not answered. @80211-2020 10.25.6.5
    Request,
}

/// A station's part in aggregation: its limits as an originator, and what it announces as a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    /// MPDUs of a PSDU at most.
    pub mpdus: u16,
    /// The longest A-MPDU, as originator and as recipient: 2^(13 + exponent) − 1 B. @80211-2020 9.4.2.55.3
    pub bytes: Bytes,
    /// The longest PPDU of several MPDUs.
    pub time: Dur,
    /// The longest A-MSDU that it makes; 0: none.
    pub amsdu: Bytes,
    /// The longest MPDU of an A-MPDU that it takes: 4095 B of HT, 3895, 7991 or 11454 B of VHT and later. @80211-2020 table 9-34
    pub longest_mpdu: Bytes,
    /// Its reorder buffer, in MSDUs or A-MSDUs: the window of the agreements in which it is the recipient. 1 … 1024
    pub buffer: u16,
    /// The least time between the starts of two MPDUs that it takes: minimum MPDU start spacing, 0 to 16 µs. @80211-2020 10.12.3
    pub spacing: Dur,
    /// TIDs for which it starts an agreement: a bit each, the lowest TID 0.
    pub tids: u8,
    /// The end of the attempts of an MSDU.
    pub discard: Discard,
    /// The step behind a PSDU of which no Block Ack came.
    pub after_silence: AfterSilence,
    /// True if a Block Ack Request tells the recipient of MSDUs that were given up. @80211-2020 10.25.6.4
    pub tells_gaps: bool,
    /// The time for which a recipient holds what stands behind a gap. Our default is mac80211's 100 ms.
    pub patience: Dur,
}

impl Aggregation {
    /// The longest PPDU: an L-SIG LENGTH of 4095 B at 6 Mb/s, 20 + 4 · ⌈(22 + 8 · 4095) / 24⌉ µs.
    pub const LONGEST_PPDU: Dur = Dur::from_us(5484);
    /// TIDs of BK, BE and VI. mac80211 starts no agreement for TIDs 6 and 7.
    pub const ALL_BUT_VOICE: u8 = 0b0011_1111;

    /// That of HT: windows of 64, A-MPDUs of 65,535 B, MPDUs of 4095 B (@80211-2020 10.25.2, 9.4.2.55.3, table 9-34). An MSDU lives 500 ms, as in
    /// ns-3 (`WifiMacQueue`'s MaxDelay); what stands behind a gap waits mac80211's 100 ms.
    pub const HT: Aggregation = Aggregation {
        mpdus: 64,
        bytes: Bytes(65_535),
        time: Aggregation::LONGEST_PPDU,
        amsdu: Bytes::ZERO,
        longest_mpdu: Bytes(4095),
        buffer: 64,
        spacing: Dur::ZERO,
        tids: Aggregation::ALL_BUT_VOICE,
        discard: Discard::Lifetime(Dur::from_us(500_000)),
        after_silence: AfterSilence::Data,
        tells_gaps: true,
        patience: Dur::from_us(100_000),
    };
    /// That of VHT: A-MPDUs of 1,048,575 B.
    pub const VHT: Aggregation =
        Aggregation { bytes: Bytes(1_048_575), longest_mpdu: Bytes(11_454), ..Aggregation::HT };
    /// That of HE: windows of 256, A-MPDUs of 6,500,631 B.
    pub const HE: Aggregation = Aggregation { mpdus: 256, buffer: 256, bytes: Bytes(6_500_631), ..Aggregation::VHT };

    /// That of a standard; of one before 802.11n that of HT.
    pub fn of(standard: Standard) -> Aggregation {
        match standard {
            Standard::Ac => Aggregation::VHT,
            Standard::Ax => Aggregation::HE,
            _ => Aggregation::HT,
        }
    }

    /// The limits of an MPDU that its standard knows. @80211-2020 table 9-34, 9.4.2.157.2
    pub fn mpdu_lengths(&self) -> &'static [Bytes] {
        if self.longest_mpdu == Bytes(4095) { &[Bytes(4095)] } else { &[Bytes(3895), Bytes(7991), Bytes(11_454)] }
    }

    /// The longest A-MSDU that its standard knows. @80211-2020 table 9-34
    pub fn longest_amsdu(&self) -> Bytes {
        if self.longest_mpdu == Bytes(4095) { Bytes(7935) } else { Bytes(11_398) }
    }

    /// True if it starts any agreement.
    pub fn starts(&self) -> bool {
        self.tids != 0
    }

    /// True if it starts agreements for this TID.
    pub fn starts_for(&self, tid: u8) -> bool {
        self.tids >> tid & 1 != 0
    }

    /// The agreement for this TID with a recipient; `None`: there is none.
    pub(crate) fn agreed(&self, recipient: &Aggregation, tid: u8) -> Option<Agreement> {
        self.starts_for(tid).then(|| Agreement {
            mpdus: self.mpdus.min(recipient.buffer),
            window: recipient.buffer,
            bytes: self.bytes.min(recipient.bytes),
            time: self.time,
            amsdu: self.amsdu,
            longest_mpdu: recipient.longest_mpdu,
            spacing: recipient.spacing,
            discard: self.discard,
            after_silence: self.after_silence,
            tells_gaps: self.tells_gaps,
            patience: recipient.patience,
        })
    }
}

/// An agreement of block acknowledgment with a receiver for a TID, as its originator has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// MPDUs of a PSDU at most.
    pub mpdus: u16,
    /// Numbers from the oldest that is not acknowledged on: WinSize_O.
    pub window: u16,
    pub bytes: Bytes,
    pub time: Dur,
    pub amsdu: Bytes,
    pub longest_mpdu: Bytes,
    pub spacing: Dur,
    pub discard: Discard,
    pub after_silence: AfterSilence,
    pub tells_gaps: bool,
    /// The recipient's.
    pub patience: Dur,
}

impl Agreement {
    /// True if a failed attempt of an MSDU was its last.
    pub fn ends(&self, msdu: &Msdu, now: SimTime) -> bool {
        match self.discard {
            Discard::Lifetime(lifetime) => now.since(msdu.enqueued) >= lifetime,
            Discard::Attempts(most) => msdu.attempts >= most,
        }
    }
}

/// The bytes of a PSDU from the start of an MPDU to that of the next at least, so that `spacing` lies between them. @80211-2020 10.12.3
pub(crate) fn spaced(mode: Mode, spacing: Dur) -> Bytes {
    if spacing == Dur::ZERO {
        return Bytes::ZERO;
    }
    let bits = spacing.ns() * mode.symbols.bits_in_two.get();
    Bytes(bits.div_ceil(2 * 8 * mode.symbols.lasts.ns()))
}

/// The longest PSDU of this mode whose PPDU lasts no longer than `time`.
pub(crate) fn longest_psdu(mode: Mode, time: Dur) -> Bytes {
    let around = mode.front.lasts() + mode.signal_extension;
    let symbols = mode.symbols;
    // What is counted in several symbols at once, fits in whole ones of these.
    let room = time.saturating_sub(around);
    let room = if symbols.rounded_to == Dur::ZERO { room } else { symbols.rounded_to * (room / symbols.rounded_to) };
    let bits = room / symbols.lasts * symbols.bits_in_two.get() / 2;
    Bytes(bits.saturating_sub(symbols.service + symbols.tail) / 8)
}
