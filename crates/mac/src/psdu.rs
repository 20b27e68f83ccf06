//! What goes over the air: MPDUs, and the PSDU that a PPDU carries them in. @80211-2020 9.2, 9.3, 9.7
//!
//! A frame holds what it carries. A receiver reads it there and nowhere else, so the sender may drop, deliver or hand over its
//! MSDUs while the frame is in the air. A PSDU of one MPDU allocates nothing.

use crate::frame::{Kind, Label, Qos};
use crate::msdu::MacOptions;
use phy::{Mode, Span, TxVector};
use units::{Bytes, Dur, NodeId};
use wire::{Packets, Shared};

/// One MSDU inside a frame.
#[derive(Debug)]
pub struct Carried {
    /// Its packet.
    pub packet: Shared,
    /// The MAC options that this attempt carries with it.
    pub options: MacOptions,
}

/// The MSDUs of a data MPDU.
#[derive(Debug)]
pub enum Msdus {
    /// One, or a fragment of one.
    One(Carried),
    /// An A-MSDU. @80211-2020 9.3.2.2
    Many(Box<[Carried]>),
}

impl Msdus {
    /// Each of them, in order.
    pub fn each(&self) -> &[Carried] {
        match self {
            Msdus::One(one) => std::slice::from_ref(one),
            Msdus::Many(many) => many,
        }
    }
}

/// What a data MPDU says beside its addresses. @80211-2020 9.3.2.1
#[derive(Debug)]
pub struct Data {
    /// Sequence number, modulo 4096. @80211-2020 9.2.4.4.2. Its sender counts by receiver and TID; without QoS Control it has one
    /// counter for all receivers, and a receiver sees a gap for each MSDU to another station. @80211-2020 10.3.2.14.2
    pub seq: u16,
    /// Fragment number; 0 of what is whole. @80211-2020 9.2.4.4.3
    pub fragment: u8,
    /// Whether further fragments of the same MSDU follow.
    pub more_fragments: bool,
    /// The retry bit.
    pub is_retry: bool,
    /// Which attempt of its MSDU this is, counted from 1. For traces: no frame on the air says it.
    pub attempt: u8,
    /// The MSDU was drawn to be lost: its receiver finds an error in every attempt (`errors.at = "msdu"`).
    pub is_doomed: bool,
    /// Of QoS data: between stations that both have categories.
    pub qos: Option<Qos>,
    /// What it carries.
    pub msdus: Msdus,
}

/// Which of the MPDUs from a sequence number on are meant: the bitmap of a Block Ack. @80211-2020 9.3.1.8
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bitmap {
    /// The sequence number of the lowest bit.
    pub start: u16,
    /// One bit for each number from there on.
    pub bits: u64,
}

impl Bitmap {
    /// Whether a sequence number is in it.
    pub fn contains(&self, seq: u16) -> bool {
        let at = seq.wrapping_sub(self.start) % 4096;
        at < 64 && self.bits & 1 << at != 0
    }
}

/// What an MPDU says beyond its addresses and Duration.
#[derive(Debug)]
pub enum Body {
    /// Nothing: RTS, CTS, Ack.
    Nothing,
    /// A Block Ack's, or a negative ACK's.
    Bitmap(Bitmap),
    /// A data frame's.
    Data(Data),
}

/// One MPDU.
#[derive(Debug)]
pub struct Mpdu {
    /// Length from header to FCS.
    pub len: Bytes,
    /// What it says.
    pub body: Body,
}

impl Mpdu {
    /// The data, if it is a data MPDU.
    pub fn data(&self) -> Option<&Data> {
        if let Body::Data(data) = &self.body { Some(data) } else { None }
    }
}

/// The PSDU of a PPDU.
#[derive(Debug)]
pub enum Psdu {
    /// One MPDU, as it is.
    One(Mpdu),
    /// An A-MPDU: each behind a delimiter, padded to four bytes. @80211-2020 9.7.1
    Many(Box<[Mpdu]>),
}

/// MPDU delimiter. @80211-2020 9.7.1
const DELIMITER: Bytes = Bytes(4);

/// Where the subframes of an A-MPDU lie whose MPDUs have these lengths: begin of each MPDU behind its delimiter.
fn places(lens: impl Iterator<Item = Bytes>) -> impl Iterator<Item = (Bytes, Bytes)> {
    let mut at = 0u64;
    lens.map(move |len| {
        let begin = at.next_multiple_of(4) + DELIMITER.0;
        at = begin + len.0;
        (Bytes(begin), len)
    })
}

/// Length of an A-MPDU that was `len` long so far, with an MPDU of `next` more.
pub(crate) fn appended(len: Bytes, next: Bytes) -> Bytes {
    Bytes(len.0.next_multiple_of(4)) + DELIMITER + next
}

/// Length of an A-MPDU with MPDUs of these lengths. @80211-2020 9.7.1
pub fn a_mpdu_len(lens: impl Iterator<Item = Bytes>) -> Bytes {
    places(lens).last().map_or(Bytes::ZERO, |(at, len)| at + len)
}

impl Psdu {
    /// Its MPDUs, in order.
    pub fn mpdus(&self) -> &[Mpdu] {
        match self {
            Psdu::One(one) => std::slice::from_ref(one),
            Psdu::Many(many) => many,
        }
    }

    /// Its MPDUs, to write their options.
    pub fn mpdus_mut(&mut self) -> &mut [Mpdu] {
        match self {
            Psdu::One(one) => std::slice::from_mut(one),
            Psdu::Many(many) => many,
        }
    }

    /// The set of all of them.
    pub fn all(&self) -> MpduSet {
        match self {
            Psdu::One(_) => MpduSet::ONE,
            Psdu::Many(many) => MpduSet::first(many.len()),
        }
    }

    /// Its length.
    pub fn len(&self) -> Bytes {
        match self {
            Psdu::One(one) => one.len,
            Psdu::Many(many) => a_mpdu_len(many.iter().map(|mpdu| mpdu.len)),
        }
    }

    /// When each of its MPDUs is on the air, appended to `spans`; nothing for one alone.
    pub fn spans(&self, mode: Mode, spans: &mut Vec<Span>) {
        if let Psdu::Many(many) = self {
            spans.extend(places(many.iter().map(|mpdu| mpdu.len)).map(|(at, len)| Span::of(mode, at, len)));
        }
    }
}

/// Some MPDUs of a PSDU, by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MpduSet(pub u64);

impl MpduSet {
    /// How many a PSDU can have: the window of HT and VHT. @80211-2020 10.25.2
    pub const MOST: usize = 64;
    /// None of them.
    pub const NONE: MpduSet = MpduSet(0);
    /// The only MPDU of a PSDU of one.
    pub const ONE: MpduSet = MpduSet(1);

    /// The first `n`.
    pub const fn first(n: usize) -> MpduSet {
        MpduSet(if n >= 64 { u64::MAX } else { (1 << n) - 1 })
    }

    /// Whether the MPDU at this place is one of them.
    pub const fn contains(self, place: usize) -> bool {
        place < 64 && self.0 & 1 << place != 0
    }

    /// The same and the MPDU at this place.
    #[must_use]
    pub const fn with(self, place: usize) -> MpduSet {
        MpduSet(self.0 | 1 << place)
    }

    /// How many they are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// One transmission: a PPDU with what it carries.
#[derive(Debug)]
pub struct Frame {
    /// What its MPDUs are.
    pub kind: Kind,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; [`NodeId::BROADCAST`] for all.
    pub to: NodeId,
    /// How it goes out.
    pub tx: TxVector,
    /// Time on the air.
    pub airtime: Dur,
    /// The Duration field of all its MPDUs: how long the exchange goes on after its end. @80211-2020 9.2.5
    pub duration: Dur,
    /// What it carries, for the counters of results.
    pub label: Label,
    /// What it carries.
    pub psdu: Psdu,
}

impl Frame {
    /// The data of its first MPDU, if it is a data frame.
    pub fn data(&self) -> Option<&Data> {
        self.psdu.mpdus().first().and_then(Mpdu::data)
    }

    /// Whether it is a data frame with MAC options, of the reserved subtype.
    pub fn is_extended(&self) -> bool {
        self.data().and_then(|data| data.msdus.each().first()).is_some_and(|carried| carried.options.room() > 0)
    }

    /// The first packet it carries, if any.
    pub fn packet(&self) -> Option<&Shared> {
        self.data().and_then(|data| data.msdus.each().first()).map(|carried| &carried.packet)
    }

    /// Every packet it carries, in order.
    pub fn packets(&self) -> impl Iterator<Item = &Shared> {
        let data = self.psdu.mpdus().iter().filter_map(Mpdu::data);
        data.flat_map(|data| data.msdus.each()).map(|carried| &carried.packet)
    }

    /// It is off the air, and everybody has taken from it what they wanted: its packets are given back.
    pub fn release(self, all: &mut Packets) {
        let release = |mpdu: Mpdu, all: &mut Packets| match mpdu.body {
            Body::Data(Data { msdus: Msdus::One(one), .. }) => all.release(one.packet),
            Body::Data(Data { msdus: Msdus::Many(many), .. }) => {
                many.into_iter().for_each(|one| all.release(one.packet));
            }
            Body::Nothing | Body::Bitmap(_) => {}
        };
        match self.psdu {
            Psdu::One(mpdu) => release(mpdu, all),
            Psdu::Many(mpdus) => mpdus.into_iter().for_each(|mpdu| release(mpdu, all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_a_mpdu_has_delimiters_and_padding_between_its_mpdus() {
        let len = |lens: &[u64]| a_mpdu_len(lens.iter().map(|len| Bytes(*len))).0;
        // 4 + 1538 + 2 of padding, twice; 4 + 77 without padding at the end.
        assert_eq!(len(&[1538, 1538, 77]), 2 * 1544 + 81);
        let begins: Vec<u64> = places([1538, 1538, 77].into_iter().map(Bytes)).map(|(at, _)| at.0).collect();
        assert_eq!(begins, [4, 1548, 3092]);
        let grown = [1538, 1538, 77].into_iter().fold(Bytes::ZERO, |len, next| appended(len, Bytes(next)));
        assert_eq!(grown.0, len(&[1538, 1538, 77]));
    }

    #[test]
    fn a_bitmap_counts_from_its_start_modulo_4096() {
        let bitmap = Bitmap { start: 4095, bits: 0b101 };
        assert_eq!([4094, 4095, 0, 1, 2].map(|seq| bitmap.contains(seq)), [false, true, false, true, false]);
        assert!(!Bitmap { start: 0, bits: u64::MAX }.contains(64));
    }

    #[test]
    fn a_set_of_mpdus_holds_places() {
        assert_eq!(MpduSet::first(3), MpduSet(0b111));
        assert_eq!(MpduSet::first(64), MpduSet(u64::MAX));
        assert!(MpduSet::NONE.with(63).contains(63) && !MpduSet::ONE.contains(1) && !MpduSet::ONE.contains(64));
    }
}
