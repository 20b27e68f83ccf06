//! `aggregation`: A-MPDUs, A-MSDUs and block acknowledgment of 802.11n and later.

use units::{Bytes, Dur};

words! { impl mac::AfterSilence, noun "reading" { "data" => Data, "request" => Request } }

words! {
    /// An access category, by name.
    pub enum CategoryName, noun "access category" {
        /// Background.
        "bk" => Bk,
        /// Best effort.
        "be" => Be,
        /// Video.
        "vi" => Vi,
        /// Voice.
        "vo" => Vo,
    }
}

impl CategoryName {
    /// Its TIDs, a bit each. @80211-2020 table 10-1
    fn tids(self) -> u8 {
        match self {
            CategoryName::Bk => 0b0000_0110,
            CategoryName::Be => 0b0000_1001,
            CategoryName::Vi => 0b0011_0000,
            CategoryName::Vo => 0b1100_0000,
        }
    }
}

table! {
    /// A-MPDUs, A-MSDUs and block acknowledgment.
    pub struct Aggregation sets mac::Aggregation {
        /// MPDUs of an A-MPDU at most; 1: no A-MPDUs.
        mpdus: Option<u16>, in 1..=1024, or "the window", sets mpdus,
        /// Length of an A-MPDU at most, as sender and as receiver.
        bytes: Option<Bytes>, or "the longest of the standard: 65535 B, 1048575 B (802.11ac), 6500631 B (802.11ax)", sets bytes,
        /// Time on the air of an A-MPDU at most.
        time: Option<Dur>, or "5484 us", sets time,
        /// Length of an A-MSDU at most; 0 B: no A-MSDUs.
        amsdu: Option<Bytes>, or "0 B", sets amsdu,
        /// Length of an MPDU in an A-MPDU at most, as receiver: of 802.11ac and ax 3895 B, 7991 B or 11454 B.
        largest_mpdu: Option<Bytes>, or "4095 B; 11454 B of 802.11ac and ax", sets longest_mpdu,
        /// Frames that its reorder buffers hold: the window of those who send to it.
        window: Option<u16>, in 1..=1024, or "64; 256 of 802.11ax", sets buffer,
        /// Time from the start of one MPDU to that of the next in A-MPDUs for it at least, 16 us at most.
        spacing: Option<Dur>, or "0 s", sets spacing,
        /// The access categories for which it starts a block acknowledgment.
        block_ack: Option<Vec<CategoryName>>, in 0..=4, or "[\"bk\", \"be\", \"vi\"], as mac80211",
        /// Age at which a frame is given up, however often it was sent.
        lifetime: Option<Dur>, or "500 ms",
        /// Transmissions of a frame in all, in place of lifetime.
        attempts: Option<u8>, in 1..=255, or "as many as lifetime lets",
        /// The frame after an A-MPDU that nobody acknowledged: the data again, or a Block Ack Request.
        after_silence: Option<mac::AfterSilence>, or "data; with preamble = \"ns3\" request, as ns-3 does", sets after_silence,
        /// True if a Block Ack Request tells the receiver of frames that were given up.
        tells_gaps: Option<bool>, or "true", sets tells_gaps,
        /// The time for which its reorder buffers hold MPDUs behind a gap.
        patience: Option<Dur>, or "100 ms, as mac80211", sets patience,
    }
}

impl Aggregation {
    /// These keys, and where they are silent the others.
    #[must_use]
    pub(crate) fn or(&self, others: &Aggregation) -> Aggregation {
        // One of the two ends attempts: what is written nearer goes before both.
        let (attempts, lifetime) = match (self.attempts, self.lifetime) {
            (None, None) => (others.attempts, others.lifetime),
            own => own,
        };
        Aggregation {
            mpdus: self.mpdus.or(others.mpdus),
            bytes: self.bytes.or(others.bytes),
            time: self.time.or(others.time),
            amsdu: self.amsdu.or(others.amsdu),
            largest_mpdu: self.largest_mpdu.or(others.largest_mpdu),
            window: self.window.or(others.window),
            spacing: self.spacing.or(others.spacing),
            block_ack: self.block_ack.clone().or_else(|| others.block_ack.clone()),
            lifetime,
            attempts,
            after_silence: self.after_silence.or(others.after_silence),
            tells_gaps: self.tells_gaps.or(others.tells_gaps),
            patience: self.patience.or(others.patience),
        }
    }

    /// All that they say: [`Aggregation::set`], and the keys that a field alone does not hold.
    pub fn apply(&self, to: &mut mac::Aggregation) {
        self.set(to);
        if let Some(names) = &self.block_ack {
            to.tids = names.iter().fold(0, |tids, name| tids | name.tids());
        }
        match (self.attempts, self.lifetime) {
            (Some(attempts), _) => to.discard = mac::Discard::Attempts(attempts),
            (None, Some(lifetime)) => to.discard = mac::Discard::Lifetime(lifetime),
            (None, None) => {}
        }
    }
}
