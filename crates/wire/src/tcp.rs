//! The TCP header and its options, typed. @RFC9293 sec. 3.1

use crate::{Seq, SeqRange};
use core::fmt;
use core::ops::{BitOr, BitOrAssign};

/// The header's twelve control bits: the eight flags of @RFC9293 sec. 3.1 and the four bits before them, of which the
/// last is taken (AE, once NS) and three are reserved. What lies above the twelve is no part of a header and is not
/// written. Our own endpoints set no reserved bit and ignore those that come in, as @RFC9293 sec. 3.1 asks.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer is significant.
    pub const URG: Flags = Flags(0x20);
    /// ECN echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN, bit 7 of the header's 13th byte; the nonce sum of @RFC3540 had it before. @RFC9768 sec. 3.1
    pub const AE: Flags = Flags(0x100);
    /// "What this ACK still waits for was lost for another reason than congestion." Bit 4 of the 13th byte: the first of
    /// the three still reserved, and the farthest from those in use. Standards have taken reserved bits from the other
    /// end (CWR, ECE, then NS, now AE), so this one will be the last to clash. @RFC9293 sec. 6, table 8
    pub const LOSS_NOTICE: Flags = Flags(0x800);
    /// All bits that a header has.
    pub const ALL: Flags = Flags(0xfff);

    /// True if all bits of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if any bit of `other` is set.
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// The same with the bits of `other` off.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE", "reserved 6", "reserved 5", "LOSS_NOTICE"];
        let set: Vec<&str> =
            names.iter().enumerate().filter(|(i, _)| self.0 & (1 << i) != 0).map(|(_, n)| *n).collect();
        f.write_str(&set.join("|"))
    }
}

/// Option kinds. @RFC9293 sec. 3.2, @RFC7323, @RFC2018, @RFC4727 sec. 4 (experiments)
pub mod kind {
    #![allow(missing_docs, reason = "the names are the registry's")]
    pub const END: u8 = 0;
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    pub const EXPERIMENT_1: u8 = 253;
}

/// The experiment identifier of negative ACKs: "NA", the first two bytes behind kind and length. Our own choice, in no registry.
/// @RFC6994 sec. 3
pub const NEGATIVE_ACK: u16 = u16::from_be_bytes(*b"NA");

/// The most numbers that negative ACKs of one segment can name: what 40 bytes hold behind kind, length and identifier.
pub const MOST_NEGATIVE_ACKS: usize = 9;

/// The options of one segment, as the bytes they are: order, padding and unknown kinds stay what they were.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions {
    bytes: [u8; 40],
    len: u8,
}

impl Default for TcpOptions {
    fn default() -> TcpOptions {
        TcpOptions { bytes: [0; 40], len: 0 }
    }
}

impl TcpOptions {
    /// Options as they stand in a header. `None` if longer than 40 bytes or no multiple of four.
    pub fn from_bytes(bytes: &[u8]) -> Option<TcpOptions> {
        if bytes.len() > 40 || !bytes.len().is_multiple_of(4) {
            return None;
        }
        let mut options = TcpOptions::default();
        options.bytes[..bytes.len()].copy_from_slice(bytes);
        options.len = bytes.len() as u8;
        Some(options)
    }

    /// The options as they go into the header.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Length in the header, in bytes; a multiple of four.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Each well-formed option as (kind, whole option); stops at the end mark or at the first malformed one.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        let mut rest = self.bytes();
        core::iter::from_fn(move || {
            loop {
                let (&kind, _) = rest.split_first()?;
                match kind {
                    kind::END => return None,
                    kind::NOP => rest = &rest[1..],
                    _ => {
                        let len = usize::from(*rest.get(1)?);
                        if len < 2 || len > rest.len() {
                            return None;
                        }
                        let (option, after) = rest.split_at(len);
                        rest = after;
                        return Some((kind, option));
                    }
                }
            }
        })
    }

    fn find(&self, kind: u8, len: usize) -> Option<&[u8]> {
        if self.is_empty() {
            return None;
        }
        self.iter().find(|(k, option)| *k == kind && option.len() == len).map(|(_, option)| &option[2..])
    }

    /// Maximum segment size, in bytes. @RFC9293 sec. 3.7.1
    pub fn mss(&self) -> Option<u16> {
        self.find(kind::MSS, 4).map(|v| u16::from_be_bytes([v[0], v[1]]))
    }

    /// The window's shift count, not above 14. @RFC7323 sec. 2.3
    pub fn window_scale(&self) -> Option<u8> {
        self.find(kind::WINDOW_SCALE, 3).map(|v| v[0].min(14))
    }

    /// True if the sender of this SYN understands SACK. @RFC2018 sec. 2
    pub fn sack_permitted(&self) -> bool {
        self.find(kind::SACK_PERMITTED, 2).is_some()
    }

    /// TSval and TSecr. @RFC7323 sec. 3.2
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        self.find(kind::TIMESTAMPS, 10).map(|v| (be32(v), be32(&v[4..])))
    }

    /// The SACK blocks, first one first. @RFC2018 sec. 3
    pub fn sack_blocks(&self) -> impl Iterator<Item = SeqRange> {
        self.iter()
            .filter(|(k, option)| *k == kind::SACK && (option.len() - 2).is_multiple_of(8))
            .flat_map(|(_, option)| option[2..].chunks_exact(8))
            .map(|block| SeqRange { start: Seq(be32(block)), end: Seq(be32(&block[4..])) })
    }

    /// Replaces TSval in place. `false` if there are no timestamps.
    pub fn set_tsval(&mut self, tsval: u32) -> bool {
        let start = self.bytes().as_ptr() as usize;
        let Some(value) = self.find(kind::TIMESTAMPS, 10) else { return false };
        let at = value.as_ptr() as usize - start;
        self.bytes[at..at + 4].copy_from_slice(&tsval.to_be_bytes());
        true
    }

    /// Appends one option and pads with NOPs in front of it to a multiple of four. `false`, and nothing written, if it
    /// does not fit into 40 bytes.
    pub fn push(&mut self, kind: u8, value: &[u8]) -> bool {
        let len = value.len() + 2;
        let padded = len.next_multiple_of(4);
        let start = self.len();
        if start + padded > 40 {
            return false;
        }
        let option = start + padded - len;
        self.bytes[start..option].fill(kind::NOP);
        self.bytes[option] = kind;
        self.bytes[option + 1] = len as u8;
        self.bytes[option + 2..start + padded].copy_from_slice(value);
        self.len = (start + padded) as u8;
        true
    }

    /// Replaces every option of `kind` by NOPs: the header keeps its length. Returns whether there was one.
    pub fn blank(&mut self, kind: u8) -> bool {
        let mut found = false;
        let mut at = 0;
        while at < self.len() {
            match self.bytes[at] {
                kind::END => break,
                kind::NOP => at += 1,
                other => {
                    let len = self.bytes.get(at + 1).map_or(0, |l| usize::from(*l));
                    if len < 2 || at + len > self.len() {
                        break;
                    }
                    if other == kind {
                        self.bytes[at..at + len].fill(kind::NOP);
                        found = true;
                    }
                    at += len;
                }
            }
        }
        found
    }

    /// Appends the maximum segment size.
    pub fn push_mss(&mut self, mss: u16) -> bool {
        self.push(kind::MSS, &mss.to_be_bytes())
    }

    /// Appends the window's shift count.
    pub fn push_window_scale(&mut self, shift: u8) -> bool {
        self.push(kind::WINDOW_SCALE, &[shift])
    }

    /// Appends SACK-permitted.
    pub fn push_sack_permitted(&mut self) -> bool {
        self.push(kind::SACK_PERMITTED, &[])
    }

    /// Appends the timestamps.
    pub fn push_timestamps(&mut self, tsval: u32, tsecr: u32) -> bool {
        let mut value = [0; 8];
        value[..4].copy_from_slice(&tsval.to_be_bytes());
        value[4..].copy_from_slice(&tsecr.to_be_bytes());
        self.push(kind::TIMESTAMPS, &value)
    }

    /// Appends as many of `blocks` as fit (four, or three beside timestamps). Returns how many did.
    pub fn push_sack(&mut self, blocks: &[SeqRange]) -> usize {
        let room = (40 - self.len()).saturating_sub(4) / 8;
        let n = blocks.len().min(room);
        let mut value = [0; 32];
        for (block, out) in blocks[..n].iter().zip(value.chunks_exact_mut(8)) {
            out[..4].copy_from_slice(&block.start.0.to_be_bytes());
            out[4..].copy_from_slice(&block.end.0.to_be_bytes());
        }
        if n > 0 && self.push(kind::SACK, &value[..n * 8]) { n } else { 0 }
    }

    /// The numbers that negative ACKs name, first one first: segments that begin there were lost to corruption. Of @CDC11,
    /// which prints no layout: an option for experiments (@RFC6994 sec. 3) with numbers of four bytes behind its identifier.
    pub fn negative_acks(&self) -> impl Iterator<Item = Seq> {
        let id = NEGATIVE_ACK.to_be_bytes();
        self.iter()
            .filter(move |(k, option)| *k == kind::EXPERIMENT_1 && option.get(2..4) == Some(&id))
            .filter(|(_, option)| (option.len() - 4).is_multiple_of(4))
            .flat_map(|(_, option)| option[4..].chunks_exact(4))
            .map(|number| Seq(be32(number)))
    }

    /// Appends as many of `numbers` as fit, in one option: eight bytes for the first, four for each other (nine alone, six
    /// beside timestamps, three beside those and one SACK block). Returns how many did.
    pub fn push_negative_acks(&mut self, numbers: &[Seq]) -> usize {
        let room = (40 - self.len()).saturating_sub(4) / 4;
        let n = numbers.len().min(room).min(MOST_NEGATIVE_ACKS);
        let mut value = [0; 2 + 4 * MOST_NEGATIVE_ACKS];
        value[..2].copy_from_slice(&NEGATIVE_ACK.to_be_bytes());
        for (number, out) in numbers[..n].iter().zip(value[2..].chunks_exact_mut(4)) {
            out.copy_from_slice(&number.0.to_be_bytes());
        }
        if n > 0 && self.push(kind::EXPERIMENT_1, &value[..2 + 4 * n]) { n } else { 0 }
    }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

impl fmt::Debug for TcpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A TCP header. The checksum is made when bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tcp {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number of the first byte of the payload (or of the SYN).
    pub seq: Seq,
    /// Next sequence number the other side waits for, if [`Flags::ACK`] is set.
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// The window field as it stands in the header, unscaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: TcpOptions,
}

impl Tcp {
    /// Length in bytes, options included.
    pub fn header_len(&self) -> usize {
        20 + self.options.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twelve_bits_of_a_header_have_names_of_their_own() {
        let named = [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::URG, Flags::ECE, Flags::CWR];
        let all = named.into_iter().chain([Flags::AE, Flags::LOSS_NOTICE]);
        // Each is one bit, and none is another's: the sum of ten distinct powers of two has ten bits.
        assert!(all.clone().all(|flag| flag.0.is_power_of_two()));
        assert_eq!(all.fold(0, |sum, flag| sum + flag.0), Flags::ALL.0 - 0x600); // two are reserved
        assert_eq!(format!("{:?}", Flags::ACK | Flags::AE | Flags::LOSS_NOTICE), "ACK|AE|LOSS_NOTICE");
    }

    #[test]
    fn options_are_padded_to_words_and_read_back() {
        let mut options = TcpOptions::default();
        assert!(options.push_mss(1460) && options.push_sack_permitted());
        assert!(options.push_timestamps(7, 9) && options.push_window_scale(3));
        assert_eq!(options.len(), 4 + 4 + 12 + 4);
        assert_eq!(options.mss(), Some(1460));
        assert!(options.sack_permitted());
        assert_eq!(options.timestamps(), Some((7, 9)));
        assert_eq!(options.window_scale(), Some(3));
    }

    #[test]
    fn three_sack_blocks_fit_beside_timestamps_and_four_alone() {
        let blocks: Vec<SeqRange> = (0..5).map(|i| SeqRange::new(Seq(i * 100), 50)).collect();
        let mut beside = TcpOptions::default();
        beside.push_timestamps(1, 2);
        assert_eq!(beside.push_sack(&blocks), 3);
        let mut alone = TcpOptions::default();
        assert_eq!(alone.push_sack(&blocks), 4);
        assert_eq!(alone.sack_blocks().collect::<Vec<_>>(), blocks[..4]);
        assert_eq!(alone.len(), 36);
    }

    #[test]
    fn negative_acks_take_eight_bytes_for_the_first_and_four_for_each_other() {
        let numbers: Vec<Seq> = (0..12).map(|i| Seq(u32::MAX - 3000) + i * 1000).collect();
        let mut one = TcpOptions::default();
        assert_eq!(
            (one.push_negative_acks(&numbers[..1]), one.bytes()),
            (1, &[253, 8, b'N', b'A', 255, 255, 244, 71][..])
        );
        let (block, mut full) = (SeqRange::new(Seq(7), 9), TcpOptions::default());
        assert_eq!((full.push_negative_acks(&numbers), full.len()), (9, 40));
        assert_eq!(full.push_negative_acks(&numbers), 0, "never beyond 40 bytes");
        for (blocks, fit) in [(0, 6), (1, 3), (2, 1), (3, 0)] {
            let mut beside = TcpOptions::default();
            beside.push_timestamps(1, 2);
            beside.push_sack(&[block; 3][..blocks]);
            assert_eq!(beside.push_negative_acks(&numbers), fit, "{blocks} blocks");
            assert_eq!(beside.negative_acks().collect::<Vec<_>>(), numbers[..fit]);
            assert_eq!((beside.timestamps(), beside.sack_blocks().count()), (Some((1, 2)), blocks));
        }
        // Another experiment's option, one cut short, and one of an odd length name nothing.
        for value in [&b"NB\0\0\0\x07"[..], b"N", b"NA\0\0\0"] {
            let mut other = TcpOptions::default();
            assert!(other.push(kind::EXPERIMENT_1, value));
            assert_eq!(other.negative_acks().count(), 0, "{value:?}");
        }
    }

    #[test]
    fn blanking_an_option_keeps_the_length_and_the_others() {
        let mut options = TcpOptions::default();
        options.push_mss(536);
        options.push_sack_permitted();
        options.push_window_scale(2);
        let before = options.len();
        assert!(options.blank(kind::SACK_PERMITTED));
        assert!(!options.sack_permitted() && !options.blank(kind::SACK_PERMITTED));
        assert_eq!((options.len(), options.mss(), options.window_scale()), (before, Some(536), Some(2)));
    }

    #[test]
    fn a_tsval_is_replaced_where_it_stands() {
        let mut options = TcpOptions::default();
        assert!(!options.set_tsval(1));
        options.push_window_scale(2);
        options.push_timestamps(7, 9);
        assert!(options.set_tsval(8));
        assert_eq!((options.timestamps(), options.window_scale(), options.len()), (Some((8, 9)), Some(2), 16));
    }

    #[test]
    fn malformed_options_end_the_list_and_never_panic() {
        for bytes in [[2u8, 0, 0, 0], [2, 200, 1, 1], [8, 10, 0, 0], [1, 1, 1, 2]] {
            let options = TcpOptions::from_bytes(&bytes).expect("a word");
            assert_eq!(options.iter().count(), 0);
            assert_eq!(options.mss(), None);
        }
    }
}
