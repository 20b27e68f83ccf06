//! The Internet checksum: sums, pseudo-headers, incremental update. @RFC1071, @RFC1624

use std::net::Ipv4Addr;

/// A running sum of 16-bit words in ones' complement, not yet folded. @RFC1071 sec. 1
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes as big-endian words. An odd last byte counts as the high half of a word, so only the last piece of a
    /// message may be odd. @RFC1071 sec. 1 (1)
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Sum {
        // Four words at once, as two of 32 bits: the sum is the same modulo 2^16 - 1, and nonzero where it was. @RFC1071 sec. 2 (C)
        // 2^31 pieces until a u64 overflows: longer than any packet.
        let pieces = bytes.chunks_exact(8);
        let words = pieces.remainder().chunks_exact(2);
        let odd = words.remainder().first().map_or(0, |last| u64::from(*last) << 8);
        let four = |piece: &[u8]| {
            let half =
                |at: usize| u64::from(u32::from_be_bytes([piece[at], piece[at + 1], piece[at + 2], piece[at + 3]]));
            half(0) + half(4)
        };
        let sum = pieces.fold(self.0 + odd, |sum, piece| sum + four(piece));
        Sum(words.fold(sum, |sum, word| sum + u64::from(u16::from_be_bytes([word[0], word[1]]))))
    }

    /// Adds one word.
    #[must_use]
    pub fn word(self, word: u16) -> Sum {
        Sum(self.0 + u64::from(word))
    }

    /// The checksum: the complement of the folded sum. @RFC1071 sec. 1 (2)
    ///
    /// Over a message that includes its right checksum it is zero. A message that is not all zeros never has the
    /// checksum 0xFFFF.
    pub fn checksum(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        !(sum as u16)
    }
}

/// The checksum of a whole message whose checksum field is zero.
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::default().bytes(bytes).checksum()
}

/// The sum of the pseudo-header that TCP and UDP cover: addresses, protocol, `len` bytes of transport header and
/// payload. @RFC9293 sec. 3.1, @RFC768
pub fn pseudo_header(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, len: u16) -> Sum {
    Sum::default().bytes(&src.octets()).bytes(&dst.octets()).word(u16::from(protocol)).word(len)
}

/// The checksum after one word of the message changed from `old` to `new`: HC' = ~(~HC + ~m + m'). @RFC1624 eqn. 3
///
/// Equals the recomputed one unless the message became all zeros, which no IP or TCP header is. A UDP checksum of zero
/// means "none": the caller must leave it alone, and must write a result of zero as 0xFFFF. @RFC768
#[must_use]
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    Sum::default().word(!checksum).word(!old).word(new).checksum()
}

/// The same for a stretch of bytes that began at an even offset of the message; what is longer on one side counts
/// against zeros. @RFC1624 eqn. 3
#[must_use]
pub fn update_bytes(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    Sum::default().word(!checksum).word(self::checksum(old)).bytes(new).checksum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // sec. 3: words 0001 f203 f4f5 f6f7; 2ddf0 after addition, folded ddf2, complement 220d.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0x220d);
    }

    #[test]
    fn an_odd_byte_is_the_high_half_of_a_word() {
        // 0102 + 0300 = 0402, complement fbfd.
        assert_eq!(checksum(&[1, 2, 3]), 0xfbfd);
    }

    #[test]
    fn a_known_ip_header() {
        // 4500 + 0073 + 0000 + 4000 + 4011 + c0a8 + 0001 + c0a8 + 00c7 = 2479c; 2 + 479c = 479e; complement b861.
        let header: [u8; 20] =
            [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
        assert_eq!(checksum(&header), 0xb861);
    }

    #[test]
    fn the_example_of_rfc_1624_where_rfc_1141_goes_wrong() {
        // sec. 4: HC dd2f, m 5555 becomes 3285: ~HC + ~m + m' = 22d0 + aaaa + 3285 = ffff, so HC' = 0000 and not ffff.
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
        assert_eq!(update_bytes(0xdd2f, &[0x55, 0x55], &[0x32, 0x85]), 0x0000);
    }

    #[test]
    fn the_sum_of_a_message_with_its_checksum_is_zero() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0x22, 0x0d]), 0);
    }

    proptest! {
        #[test]
        fn pieces_of_any_length_sum_as_their_words(message in proptest::collection::vec(any::<u8>(), 0..200)) {
            // Word by word, the odd byte as a high half. @RFC1071 sec. 1
            let word = |pair: &[u8]| (u32::from(pair[0]) << 8) + pair.get(1).map_or(0, |low| u32::from(*low));
            let mut sum: u32 = message.chunks(2).map(word).sum();
            while sum > 0xFFFF {
                sum = (sum & 0xFFFF) + (sum >> 16);
            }
            prop_assert_eq!(checksum(&message), !(sum as u16));
        }

        #[test]
        fn an_update_equals_a_new_computation(
            mut message in proptest::collection::vec(any::<u8>(), 4..64),
            at in any::<prop::sample::Index>(),
            new in proptest::collection::vec(any::<u8>(), 1..9),
        ) {
            message[0] |= 0x40; // as in an IP header, something stays that is not zero
            let at = 2 + 2 * at.index((message.len() - 2) / 2);
            let n = new.len().min(message.len() - at);
            let before = checksum(&message);
            let old = message[at..at + n].to_vec();
            message[at..at + n].copy_from_slice(&new[..n]);
            prop_assert_eq!(update_bytes(before, &old, &new[..n]), checksum(&message));
            if n == 2 {
                let word = |b: &[u8]| u16::from_be_bytes([b[0], b[1]]);
                prop_assert_eq!(update(before, word(&old), word(&new)), checksum(&message));
            }
        }
    }
}
