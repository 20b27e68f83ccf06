//! What goes over the air: MPDUs, and the PSDU that a PPDU carries them in. @80211-2020 9.2, 9.3, 9.7
//!
//! A frame holds what it carries. A receiver reads it there and nowhere else, so the sender may drop, deliver or hand over its
//! MSDUs while the frame is in the air. A PSDU of one MPDU allocates nothing.

use crate::frame::{Kind, Label, Qos};
use crate::msdu::MacOptions;
use phy::{Mode, MpduSet, Span, TxVector};
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

/// Sequence numbers from one on, with a place for each: the bitmap of a Block Ack. @80211-2020 9.3.1.8
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    start: u16,
    width: u16,
    /// By their distance from the first.
    numbers: MpduSet,
}

impl Bitmap {
    /// Widths that there are formats for: of HT and VHT (@80211-2020 9.3.1.8.2), HE (IEEE Std
    /// 802.11ax-2021 9.3.1.8.2), and two of EHT (802.11be, the same clause).
    pub const WIDTHS: [u16; 4] = [64, 256, 512, 1024];

    /// No number yet of those from `start` on, in the narrowest format for an agreement whose window has so many.
    pub fn new(start: u16, window: usize) -> Bitmap {
        let width = Bitmap::WIDTHS.into_iter().find(|width| window <= usize::from(*width)).unwrap_or(1024);
        Bitmap { start, width, numbers: MpduSet::with_width(usize::from(width)) }
    }

    /// The number of its first place.
    pub fn start(&self) -> u16 {
        self.start
    }

    /// How many numbers it can name.
    pub fn width(&self) -> usize {
        usize::from(self.width)
    }

    fn place(&self, seq: u16) -> Option<usize> {
        let place = usize::from(seq.wrapping_sub(self.start) % 4096);
        (place < self.width()).then_some(place)
    }

    /// Adds a sequence number. One that it has no place for is left out.
    pub fn insert(&mut self, seq: u16) {
        self.place(seq).into_iter().for_each(|place| self.numbers.insert(place));
    }

    /// True if a sequence number is in it.
    pub fn contains(&self, seq: u16) -> bool {
        self.place(seq).is_some_and(|place| self.numbers.contains(place))
    }

    /// The places in a PSDU, whose MPDUs have these numbers, of those that are in it.
    pub fn places(&self, seqs: &[u16]) -> impl Iterator<Item = usize> {
        seqs.iter().enumerate().filter(|(_, seq)| self.contains(**seq)).map(|(place, _)| place)
    }

    /// The numbers that are in it, by their distance from its start.
    pub fn numbers(&self) -> &MpduSet {
        &self.numbers
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
    fn a_bitmap_counts_from_its_start_modulo_4096_as_far_as_it_is_wide() {
        let mut bitmap = Bitmap::new(4095, 64);
        [4095, 1, 4094, 63].into_iter().for_each(|seq| bitmap.insert(seq));
        assert_eq!(
            [4094, 4095, 0, 1, 2, 63].map(|seq| bitmap.contains(seq)),
            [false, true, false, true, false, false]
        );
        assert_eq!(bitmap.places(&[4090, 4095, 0, 1]).collect::<Vec<_>>(), [1, 3]);
        for (window, width) in [(1, 64), (64, 64), (65, 256), (256, 256), (257, 512), (513, 1024), (1024, 1024)] {
            let mut bitmap = Bitmap::new(4000, window);
            (0..4096).for_each(|seq| bitmap.insert(seq));
            assert_eq!((bitmap.width(), bitmap.numbers().len()), (width, width), "{window}");
        }
    }
}
