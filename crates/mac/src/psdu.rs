//! Frames on the air: MPDUs, and the PSDU that a PPDU carries them in. @80211-2020 9.2, 9.3, 9.7
//!
//! A frame holds what it carries. A receiver reads it there and nowhere else, so the sender may drop, deliver or hand over its
//! MSDUs while the frame is in the air. A PSDU of one MPDU allocates nothing.

use crate::frame::{HtControl, Kind, Label, Qos};
use crate::msdu::MacOptions;
use core::mem::ManuallyDrop;
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

/// Two fields of a QoS data MPDU between stations that load their Block Acks ([`crate::Piggyback`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cue {
    /// The More Data bit of Frame Control: the sender has another MSDU for this receiver and TID, which is not in this PSDU.
    /// @80211-2020 9.2.4.1.8
    pub more_data: bool,
    /// A number for the scheme, in the upper byte of QoS Control.
    pub number: u8,
}

/// Contents of a data MPDU beside its addresses. @80211-2020 9.3.2.1
#[derive(Debug)]
pub struct Data {
    /// Sequence number, modulo 4096. @80211-2020 9.2.4.4.2. Its sender counts by receiver and TID; without QoS Control it has one
    /// counter for all receivers, and a receiver sees a gap for each MSDU to another station. @80211-2020 10.3.2.14.2
    pub seq: u16,
    /// Fragment number; 0 of what is whole. @80211-2020 9.2.4.4.3
    pub fragment: u8,
    /// True if further fragments of the same MSDU follow.
    pub more_fragments: bool,
    /// The retry bit.
    pub is_retry: bool,
    /// Number of this attempt of its MSDU, counted from 1. For traces: no frame on the air says it.
    pub attempt: u8,
    /// The MSDU was drawn to be lost: its receiver finds an error in every attempt (`errors.at = "msdu"`).
    pub is_doomed: bool,
    /// Of QoS data: between stations that both have categories.
    pub qos: Option<Qos>,
    /// The words of a scheme that loads Block Acks to its receiver ([`crate::Piggyback::cue`]).
    pub cue: Option<Cue>,
    /// MSDUs that it carries.
    pub msdus: Msdus,
}

/// Sequence numbers from one on, with a place for each: the bitmap of a Block Ack. @80211-2020 9.3.1.8
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    start: u16,
    width: u16,
    tid: u8,
    more_ppdu: bool,
    /// By their distance from the first.
    numbers: MpduSet,
}

impl Bitmap {
    /// Widths that there are formats for: of HT and VHT (@80211-2020 9.3.1.8.2), HE (IEEE Std
    /// 802.11ax-2021 9.3.1.8.2), and two of EHT (802.11be, the same clause).
    pub const WIDTHS: [u16; 4] = [64, 256, 512, 1024];

    /// The narrowest of them for an agreement whose window has so many numbers.
    pub fn width_for(window: usize) -> usize {
        Bitmap::WIDTHS.into_iter().map(usize::from).find(|width| window <= *width).unwrap_or(1024)
    }

    /// No number yet of those from `start` on, in the narrowest format for an agreement whose window has so many.
    pub fn new(start: u16, window: usize) -> Bitmap {
        let width = Bitmap::width_for(window);
        Bitmap { start, width: width as u16, tid: 0, more_ppdu: false, numbers: MpduSet::with_width(width) }
    }

    /// Of this traffic identifier; 0 unless told.
    #[must_use]
    pub fn for_tid(self, tid: u8) -> Bitmap {
        Bitmap { tid, ..self }
    }

    /// In a Control Wrapper whose HT Control says that a PPDU of the same station follows. @80211-2020 9.3.1.9, 10.29
    #[must_use]
    pub fn before_a_ppdu(self) -> Bitmap {
        Bitmap { more_ppdu: true, ..self }
    }

    /// True if its Block Ack stands in a Control Wrapper and a PPDU of the same station follows.
    pub fn is_before_a_ppdu(&self) -> bool {
        self.more_ppdu
    }

    /// Its traffic identifier.
    pub fn tid(&self) -> u8 {
        self.tid
    }

    /// The number of its first place.
    pub fn start(&self) -> u16 {
        self.start
    }

    /// Numbers received, by their distance from the first, in the format for such a window.
    pub fn of(start: u16, window: usize, received: &MpduSet) -> Bitmap {
        let mut bitmap = Bitmap::new(start, window);
        bitmap.numbers.clone_from(received);
        bitmap
    }

    /// The count of numbers that it can name.
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

/// A scheme's load behind the bitmap of a Block Ack. In no standard.
#[derive(Debug)]
pub struct Load {
    /// The bytes: the Block Ack is longer by them.
    pub bytes: Box<[u8]>,
    /// Packets that they stand for.
    pub packets: Box<[Shared]>,
}

/// The content of a Block Ack with a load.
#[derive(Debug)]
pub struct Loaded {
    /// Its bitmap.
    pub bitmap: Bitmap,
    /// The load behind it.
    pub load: Load,
}

/// The content of a Block Ack Request. @80211-2020 9.3.1.7
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Traffic identifier of the agreement.
    pub tid: u8,
    /// Starting sequence number: everything before it is settled, and the Block Ack begins with it.
    pub start: u16,
}

impl Loaded {
    /// The body of that Block Ack.
    pub fn body(bitmap: Bitmap, load: Load) -> Body {
        Body::Loaded(ManuallyDrop::new(Box::new(Loaded { bitmap, load })))
    }

    #[cold]
    #[inline(never)]
    fn release(this: ManuallyDrop<Box<Self>>, all: &mut Packets) {
        let Loaded { load, .. } = *ManuallyDrop::into_inner(this);
        load.packets.into_iter().for_each(|packet| all.release(packet));
    }
}

/// Contents of an MPDU beyond its addresses and Duration.
#[derive(Debug)]
pub enum Body {
    /// Nothing: RTS, CTS, Ack.
    Nothing,
    /// A Block Ack's, or a negative ACK's.
    Bitmap(Bitmap),
    /// A Block Ack's with a load ([`crate::Piggyback`]). Nothing drops it but [`Frame::release`]: frames without loads pay for none.
    Loaded(ManuallyDrop<Box<Loaded>>),
    /// A Block Ack Request's.
    Request(Request),
    /// A data frame's.
    Data(Data),
}

/// One MPDU.
#[derive(Debug)]
pub struct Mpdu {
    /// Length from header to FCS.
    pub len: Bytes,
    /// Its contents.
    pub body: Body,
}

impl Mpdu {
    /// The data, if it is a data MPDU.
    pub fn data(&self) -> Option<&Data> {
        if let Body::Data(data) = &self.body { Some(data) } else { None }
    }

    /// The bitmap, if it has one: of a Block Ack, with a load or without.
    pub fn bitmap(&self) -> Option<&Bitmap> {
        match &self.body {
            Body::Bitmap(bitmap) => Some(bitmap),
            Body::Loaded(loaded) => Some(&loaded.bitmap),
            Body::Nothing | Body::Request(_) | Body::Data(_) => None,
        }
    }

    /// The load of a Block Ack, if it has one.
    pub fn load(&self) -> Option<&Load> {
        if let Body::Loaded(loaded) = &self.body { Some(&loaded.load) } else { None }
    }
}

/// The PSDU of a PPDU.
#[derive(Debug)]
pub enum Psdu {
    /// One MPDU, as it is.
    One(Mpdu),
    /// An A-MPDU: each behind a delimiter, padded to four bytes. @80211-2020 9.7.1
    Many {
        /// Its MPDUs.
        mpdus: Box<[Mpdu]>,
        /// Bytes from the start of an MPDU to that of the next at least: empty delimiters fill them. @80211-2020 10.12.3
        every: Bytes,
    },
}

/// MPDU delimiter. @80211-2020 9.7.1
const DELIMITER: Bytes = Bytes(4);

/// Layout of an A-MPDU as it grows: the start of each MPDU, behind its delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subframes {
    /// Bytes between the starts of two MPDUs at least.
    every: Bytes,
    /// Start of the last one; `None`: there is none yet.
    last: Option<Bytes>,
    /// Length so far, padding behind the last MPDU left out.
    len: Bytes,
}

impl Subframes {
    /// None yet.
    pub const fn new(every: Bytes) -> Subframes {
        Subframes { every, last: None, len: Bytes::ZERO }
    }

    /// Start of the MPDU that comes next.
    pub fn next(&self) -> Bytes {
        let behind = Bytes(self.len.0.next_multiple_of(4)) + DELIMITER;
        // Delimiters are of four bytes, and so is what they fill.
        let spaced = self.last.map_or(Bytes::ZERO, |last| last + Bytes(self.every.0.next_multiple_of(4)));
        behind.max(spaced)
    }

    /// Appends an MPDU. Returns its begin.
    pub fn append(&mut self, mpdu: Bytes) -> Bytes {
        let begin = self.next();
        (self.last, self.len) = (Some(begin), begin + mpdu);
        begin
    }

    /// Length of the A-MPDU.
    pub fn len(&self) -> Bytes {
        self.len
    }
}

/// Length of an A-MPDU with MPDUs of these lengths, whose starts are so many bytes apart at least. @80211-2020 9.7.1, 10.12.3
pub fn a_mpdu_len(lens: impl Iterator<Item = Bytes>, every: Bytes) -> Bytes {
    let mut subframes = Subframes::new(every);
    lens.for_each(|len| _ = subframes.append(len));
    subframes.len()
}

impl Psdu {
    /// True if it is an A-MPDU.
    pub fn is_a_mpdu(&self) -> bool {
        matches!(self, Psdu::Many { .. })
    }

    /// Its MPDUs, in order.
    pub fn mpdus(&self) -> &[Mpdu] {
        match self {
            Psdu::One(one) => std::slice::from_ref(one),
            Psdu::Many { mpdus, .. } => mpdus,
        }
    }

    /// Its MPDUs, to write their options.
    pub fn mpdus_mut(&mut self) -> &mut [Mpdu] {
        match self {
            Psdu::One(one) => std::slice::from_mut(one),
            Psdu::Many { mpdus, .. } => mpdus,
        }
    }

    /// Gives all QoS data in it these words for their receiver.
    #[cold]
    pub(crate) fn give_cue(&mut self, cue: Option<Cue>) {
        for mpdu in self.mpdus_mut() {
            if let Body::Data(Data { qos: Some(_), cue: place, .. }) = &mut mpdu.body {
                *place = cue;
            }
        }
    }

    /// All QoS data in it say that what is left of the Duration is their receiver's.
    #[cold]
    pub(crate) fn grant(&mut self) {
        for mpdu in self.mpdus_mut() {
            if let Body::Data(Data { qos: Some(qos), .. }) = &mut mpdu.body {
                qos.ht_control = Some(HtControl { more_ppdu: true });
            }
        }
    }

    /// Its length.
    pub fn len(&self) -> Bytes {
        match self {
            Psdu::One(one) => one.len,
            Psdu::Many { mpdus, every } => a_mpdu_len(mpdus.iter().map(|mpdu| mpdu.len), *every),
        }
    }

    /// Appends the time on the air of each of its MPDUs to `spans`; nothing for an MPDU alone.
    pub fn spans(&self, mode: Mode, spans: &mut Vec<Span>) {
        if let Psdu::Many { mpdus, every } = self {
            let mut subframes = Subframes::new(*every);
            spans.extend(mpdus.iter().map(|mpdu| Span::of(mode, subframes.append(mpdu.len), mpdu.len)));
        }
    }
}

/// One transmission: a PPDU with what it carries.
#[derive(Debug)]
pub struct Frame {
    /// Kind of its MPDUs.
    pub kind: Kind,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; [`NodeId::BROADCAST`] for all.
    pub to: NodeId,
    /// Mode and power.
    pub tx: TxVector,
    /// Time on the air.
    pub airtime: Dur,
    /// The Duration field of all its MPDUs: how long the exchange goes on after its end. @80211-2020 9.2.5
    pub duration: Dur,
    /// Label of its contents, for the counters of results.
    pub label: Label,
    /// MPDUs that it carries.
    pub psdu: Psdu,
}

impl Frame {
    /// The data of its first MPDU, if it is a data frame.
    pub fn data(&self) -> Option<&Data> {
        self.psdu.mpdus().first().and_then(Mpdu::data)
    }

    /// True if it is a data frame with MAC options, of the reserved subtype.
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
    // In line: of most frames nothing is read but the kind of their contents.
    #[inline(always)]
    pub fn release(self, all: &mut Packets) {
        match self.psdu {
            Psdu::One(Mpdu { body: Body::Data(Data { msdus: Msdus::One(one), .. }), .. }) => all.release(one.packet),
            Psdu::One(Mpdu { body: Body::Data(Data { msdus: Msdus::Many(many), .. }), .. }) => {
                release_each(many, all)
            }
            Psdu::One(Mpdu { body: Body::Loaded(loaded), .. }) => Loaded::release(loaded, all),
            Psdu::One(Mpdu { body: Body::Nothing | Body::Bitmap(_) | Body::Request(_), .. }) => {}
            Psdu::Many { mpdus, .. } => release_mpdus(mpdus, all),
        }
    }
}

/// Gives the packets of an A-MPDU back.
fn release_mpdus(mpdus: Box<[Mpdu]>, all: &mut Packets) {
    for mpdu in mpdus {
        match mpdu.body {
            Body::Data(Data { msdus: Msdus::One(one), .. }) => all.release(one.packet),
            Body::Data(Data { msdus: Msdus::Many(many), .. }) => release_each(many, all),
            Body::Nothing | Body::Bitmap(_) | Body::Loaded(_) | Body::Request(_) => {}
        }
    }
}

/// Gives those of an A-MSDU back.
#[inline(never)]
fn release_each(msdus: Box<[Carried]>, all: &mut Packets) {
    msdus.into_iter().for_each(|one| all.release(one.packet));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_a_mpdu_has_delimiters_and_padding_between_its_mpdus() {
        let len = |lens: &[u64]| a_mpdu_len(lens.iter().map(|len| Bytes(*len)), Bytes::ZERO).0;
        // 4 + 1538 + 2 of padding, twice; 4 + 77 without padding at the end.
        assert_eq!(len(&[1538, 1538, 77]), 2 * 1544 + 81);
        let begins = |every| {
            let mut subframes = Subframes::new(Bytes(every));
            [1538, 77, 77, 1538].map(|mpdu| subframes.append(Bytes(mpdu)).0)
        };
        assert_eq!(begins(0), [4, 1548, 1632, 1716]);
        // 96 B from start to start: the two of 77 take as much with 14 B of padding and delimiters more; 97 B are 100.
        assert_eq!((begins(96), begins(97)), ([4, 1548, 1644, 1740], [4, 1548, 1648, 1748]));
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
