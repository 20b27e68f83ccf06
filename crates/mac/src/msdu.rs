//! MSDUs that a station's MAC is asked to deliver, and its reports of them.

use crate::frame::{DATA_HEADER, FCS, LLC_SNAP, Label, QOS_CONTROL, Qos};
use crate::report::{Fate, InOrder, InPpdu, TxReport};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::{Packets, Pkt};

/// The MAC header's extension that schemes share: entries of kind, length, content. Room is reserved when the MSDU is
/// queued, since airtime and NAV depend on it; content is written at each attempt, into an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacOptions {
    bytes: [u8; 31],
    len: u8,
    room: u8,
}

impl Default for MacOptions {
    fn default() -> MacOptions {
        MacOptions::within(MacOptions::MAX as u8)
    }
}

impl MacOptions {
    /// Bytes there can be at most.
    pub const MAX: usize = 31;
    /// The Header Length byte before them. @KLI06 figure 4.5
    pub const HEADER_LENGTH: Bytes = Bytes(1);
    /// Bytes that an entry takes beside its content.
    pub const OVERHEAD: u8 = 2;

    /// None yet, and no more than `room` bytes of them.
    pub fn within(room: u8) -> MacOptions {
        MacOptions { bytes: [0; 31], len: 0, room: room.min(MacOptions::MAX as u8) }
    }

    /// Bytes reserved for them: zero in a plain data frame.
    pub fn room(&self) -> u8 {
        self.room
    }

    /// All entries, as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The place of the entry of `kind`.
    fn find(&self, kind: u8) -> Option<(usize, usize)> {
        let mut at = 0;
        while let Some([k, len]) = self.bytes().get(at..at + 2) {
            let end = at + 2 + usize::from(*len);
            if *k == kind {
                return Some((at, end));
            }
            at = end;
        }
        None
    }

    /// The content of the entry of `kind`.
    pub fn get(&self, kind: u8) -> Option<&[u8]> {
        self.find(kind).map(|(start, end)| &self.bytes[start + 2..end])
    }

    /// Removes the entry of `kind`.
    pub fn remove(&mut self, kind: u8) {
        if let Some((start, end)) = self.find(kind) {
            self.bytes.copy_within(end..usize::from(self.len), start);
            self.len -= (end - start) as u8;
        }
    }

    /// Writes the entry of `kind`, in place of the one it had. `false`, and nothing changed, if it does not fit
    /// into the room that was reserved.
    pub fn set(&mut self, kind: u8, content: &[u8]) -> bool {
        let mut others = *self;
        others.remove(kind);
        let (start, end) = (usize::from(others.len), usize::from(others.len) + 2 + content.len());
        if end > usize::from(self.room) {
            return false;
        }
        others.bytes[start] = kind;
        others.bytes[start + 1] = content.len() as u8;
        others.bytes[start + 2..end].copy_from_slice(content);
        others.len = end as u8;
        *self = others;
        true
    }
}

/// Header of an A-MSDU subframe: destination, source, length. @80211-2020 9.3.2.2.2
const SUBFRAME_HEADER: Bytes = Bytes(14);

/// The MSDUs behind the first of an A-MSDU. A word, since hardly an MSDU has any, and each is moved from queue to queue.
#[derive(Debug, Default)]
#[expect(clippy::box_collection, reason = "a word")]
pub(crate) struct Mates(Option<Box<Vec<Msdu>>>);

impl Mates {
    pub fn each(&self) -> &[Msdu] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn len(&self) -> usize {
        self.each().len()
    }

    fn push(&mut self, msdu: Msdu) {
        self.0.get_or_insert_default().push(msdu);
    }

    pub fn into_each(self) -> impl Iterator<Item = Msdu> {
        self.0.into_iter().flat_map(|each| *each)
    }

    /// The same; `None` if there are none, and then nothing is left to be given back.
    pub fn some(self) -> Option<impl ExactSizeIterator<Item = Msdu>> {
        self.0.map(|each| each.into_iter())
    }
}

/// A packet in the care of a MAC.
#[must_use = "an MSDU owns its packet"]
#[derive(Debug)]
pub struct Msdu {
    /// The packet.
    pub pkt: Pkt,
    /// Its serial in the arena.
    pub serial: u64,
    /// Receiver on this link.
    pub to: NodeId,
    /// MSDUs that share its MPDU, an A-MSDU: all were handed down after it, and have its fate. @80211-2020 9.3.2.2
    pub(crate) mates: Mates,
    /// Length of its next data frame, header to FCS: with options if `is_extended`, and with QoS Control once a MAC has queued it.
    pub mpdu: Bytes,
    /// Its class for the counters of results.
    pub label: Label,
    /// RTS/CTS never precedes it, whatever its length and whatever rate control asks.
    pub spares_rts: bool,
    /// Its access category, lowest 0; chosen when a MAC queues it.
    pub category: u8,
    /// The content of its QoS Control field, if its frame has one.
    pub qos: Option<Qos>,
    /// Bytes of MAC options that its data frames carry, to a neighbour that knows them.
    pub options_room: u8,
    /// True if its next data frame carries them, or the last one did. Chosen when an exchange is planned.
    pub is_extended: bool,
    /// Fragments acknowledged: the number of the next.
    pub fragment: u8,
    /// Bytes of its body not acknowledged yet, if it goes in fragments; 0 if it goes whole.
    pub unacknowledged: u16,
    /// Sequence number, given in the order of the PSDU when its first exchange begins, RTS included. It keeps it when a queue takes
    /// it back.
    pub seq: Option<u16>,
    /// Exchanges begun for it so far, whether they failed at the RTS or at the data frame.
    pub attempts: u8,
    /// True if its data frame has been on the air: the next one carries the retry bit. @80211-2020 9.2.4.1.6
    pub data_sent: bool,
    /// Failures that counted as short, and as long; of a fragmented MSDU those of the fragment at hand. The MAC's limits count them.
    pub failures: (u8, u8),
    /// It is given up, and stands in its place until its receiver has been told by a Block Ack Request. @80211-2020 10.25.6.4
    pub(crate) is_withdrawn: bool,
    /// Every attempt of it fails at its receiver (`errors.at = "msdu"`); drawn at the first.
    pub is_doomed: bool,
    /// The time at which it was queued.
    pub enqueued: SimTime,
    /// The time at which it came to the head of the queue.
    pub head: SimTime,
    /// The time at which it was first transmitted.
    pub first: SimTime,
    /// Time its frames and their answers have taken on the air.
    pub airtime: Dur,
}

impl Msdu {
    /// A packet of `all` to be sent to `to`, with `options_room` bytes of MAC options behind its header, if `to` knows them.
    pub fn new(now: SimTime, pkt: Pkt, all: &Packets, to: NodeId, options_room: u8) -> Msdu {
        let packet = all.get(&pkt);
        let mpdu = DATA_HEADER + LLC_SNAP + packet.ip_len() + FCS;
        Msdu {
            serial: all.serial(&pkt),
            pkt,
            to,
            mates: Mates::default(),
            mpdu,
            label: Label::default(),
            spares_rts: false,
            category: 0,
            qos: None,
            options_room,
            is_extended: false,
            fragment: 0,
            unacknowledged: 0,
            seq: None,
            attempts: 0,
            data_sent: false,
            failures: (0, 0),
            is_withdrawn: false,
            is_doomed: false,
            enqueued: now,
            head: now,
            first: now,
            airtime: Dur::ZERO,
        }
    }

    /// MSDUs in its MPDU.
    pub fn msdus(&self) -> u32 {
        1 + self.mates.len() as u32
    }

    /// Bytes of their packets.
    pub(crate) fn packet_bytes(&self, all: &Packets) -> Bytes {
        self.mates
            .each()
            .iter()
            .map(|mate| all.get(&mate.pkt).ip_len())
            .fold(all.get(&self.pkt).ip_len(), |sum, len| sum + len)
    }

    /// Length of its body: LLC, SNAP and the packet.
    fn body(&self) -> Bytes {
        self.mpdu - self.overhead()
    }

    /// Length of the MPDU with `next` behind what it carries: each MSDU behind a header of its own, padded to four bytes but the last.
    /// @80211-2020 9.3.2.2.2
    pub(crate) fn joined_by(&self, next: &Msdu) -> Bytes {
        let own = if self.mates.is_empty() { SUBFRAME_HEADER + self.body() } else { self.body() };
        self.overhead() + Bytes(own.0.next_multiple_of(4)) + SUBFRAME_HEADER + next.body()
    }

    /// Length of the A-MSDU that it would be with `next`.
    pub(crate) fn a_msdu_with(&self, next: &Msdu) -> Bytes {
        self.joined_by(next) - self.overhead()
    }

    /// `next` shares its MPDU.
    pub(crate) fn join(&mut self, next: Msdu) {
        self.mpdu = self.joined_by(&next);
        self.mates.push(next);
    }

    /// Its packet and those of its mates.
    pub(crate) fn into_packets(self) -> impl Iterator<Item = Pkt> {
        std::iter::once(self.pkt).chain(self.mates.into_each().map(|mate| mate.pkt))
    }

    /// Bytes that its next data frame has beside its body: header and FCS.
    fn overhead(&self) -> Bytes {
        DATA_HEADER + FCS + self.qos.map_or(Bytes::ZERO, Qos::len)
    }

    /// Cuts it into fragments whose frames have at most `threshold` bytes, if it is longer: all of one even length but the last.
    /// @80211-2020 10.4
    pub(crate) fn cut(&mut self, threshold: Bytes) {
        if self.mpdu > threshold {
            self.unacknowledged = (self.mpdu - self.overhead()).0 as u16;
            let body = threshold.0.saturating_sub(self.overhead().0).max(2) & !1;
            self.mpdu = self.overhead() + Bytes(body);
        }
    }

    /// True if further fragments follow the one that its next data frame carries.
    pub(crate) fn has_further(&self) -> bool {
        self.unacknowledged > 0 && self.is_longer_than_its_frame()
    }

    // Out of line: most MSDUs go whole.
    #[cold]
    #[inline(never)]
    fn is_longer_than_its_frame(&self) -> bool {
        u64::from(self.unacknowledged) > (self.mpdu - self.overhead()).0
    }

    /// Length of the frame of the fragment behind the next.
    pub(crate) fn further(&self) -> Bytes {
        let body = self.mpdu - self.overhead();
        self.overhead() + body.min(Bytes(u64::from(self.unacknowledged)) - body)
    }

    /// The fragment of its next data frame was acknowledged, and further ones follow: a new frame, with attempts of its own.
    pub(crate) fn advance(&mut self) {
        let next = self.further();
        self.unacknowledged -= (self.mpdu - self.overhead()).0 as u16;
        (self.mpdu, self.fragment) = (next, self.fragment + 1);
        (self.data_sent, self.failures) = (false, (0, 0));
    }

    /// Its next data frame carries MAC options, or does not.
    pub(crate) fn extend(&mut self, wanted: bool) {
        if wanted != self.is_extended {
            // A subtype whose top bit is set has QoS Control. @80211-2020 9.2.4.1.3
            let control = if self.qos.is_some() { Bytes::ZERO } else { QOS_CONTROL };
            let header = control + MacOptions::HEADER_LENGTH + Bytes(u64::from(self.options_room));
            self.mpdu = if wanted { self.mpdu + header } else { self.mpdu - header };
            self.is_extended = wanted;
        }
    }

    /// The report of this fate, after an exchange in which this PPDU carried it, if any.
    pub fn report(&self, now: SimTime, fate: Fate, ppdu: Option<InPpdu>) -> TxReport {
        self.report_in_order(now, fate, ppdu, None)
    }

    /// The same, with its place in the order in which its receiver hands up.
    #[inline(always)]
    pub(crate) fn report_in_order(
        &self,
        now: SimTime,
        fate: Fate,
        ppdu: Option<InPpdu>,
        in_order: Option<InOrder>,
    ) -> TxReport {
        TxReport {
            fate,
            serial: self.serial,
            to: self.to,
            category: self.category,
            attempts: self.attempts,
            ppdu,
            in_order,
            enqueued: self.enqueued,
            head: self.head,
            first: self.first,
            done: now,
            airtime: self.airtime,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_have_one_even_length_but_the_last() {
        let mut all = Packets::default();
        let packet = wire::Packet {
            ip: wire::Ipv4::default(),
            l4: wire::L4::Udp(wire::Udp::default()),
            payload: wire::Payload::stream(0, 1472),
            flow: units::FlowId(0),
        };
        let pkt = all.put(packet);
        // 1500 B of IP behind LLC and SNAP: 1508 B of body, 28 B of header and FCS around each part.
        for (threshold, lens) in [
            (1536, vec![1536]),
            (1535, vec![1534, 30]),
            (321, vec![320, 320, 320, 320, 320, 76]),
            (348, vec![348, 348, 348, 348, 256]),
        ] {
            let mut msdu = Msdu::new(SimTime::ZERO, all.copy(&pkt), &all, NodeId(1), 0);
            msdu.cut(Bytes(threshold));
            let mut found = vec![msdu.mpdu.0];
            while msdu.has_further() {
                assert_eq!(usize::from(msdu.fragment) + 1, found.len());
                msdu.advance();
                found.push(msdu.mpdu.0);
            }
            assert_eq!(found, lens, "{threshold}");
            all.free(msdu.pkt, wire::DropWhy::Delivered);
        }
        all.free(pkt, wire::DropWhy::Delivered);
    }

    #[test]
    fn mac_options_of_several_kinds_are_kept_apart_and_replaced() {
        let mut options = MacOptions::default();
        assert!(options.set(1, b"abc") && options.set(2, b"") && options.set(1, b"defg"));
        assert_eq!((options.get(1), options.get(2), options.get(3)), (Some(&b"defg"[..]), Some(&b""[..]), None));
        assert_eq!(options.bytes().len(), 2 + 4 + 2);
        assert!(!options.set(3, &[0; 22]), "8 + 2 + 22 is more than 31");
        assert!(!MacOptions::within(4).set(1, b"abc"), "2 + 3 is more than the room reserved");
        options.remove(1);
        assert_eq!((options.get(1), options.get(2)), (None, Some(&b""[..])));
    }
}
