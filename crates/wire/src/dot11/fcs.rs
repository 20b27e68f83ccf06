//! The frame check sequence: CRC-32 over MAC header and frame body. @80211-2020 9.2.4.8

use crate::FrameError;

/// The generator polynomial x³² + x²⁶ + x²³ + x²² + x¹⁶ + x¹² + x¹¹ + x¹⁰ + x⁸ + x⁷ + x⁵ + x⁴ + x² + x + 1, lowest
/// power in the highest bit, since the first bit sent is the lowest of its byte. @80211-2020 9.2.4.8
const POLYNOMIAL: u32 = 0xEDB8_8320;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 != 0 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

/// The frame check sequence of a frame without one. On the air its bytes go lowest first.
pub fn fcs(frame: &[u8]) -> u32 {
    !frame.iter().fold(u32::MAX, |crc, byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

/// Appends the frame check sequence of what stands in `out` from `start` on.
pub(super) fn append(out: &mut Vec<u8>, start: usize) {
    let sum = fcs(&out[start..]);
    out.extend(sum.to_le_bytes());
}

/// The frame without its frame check sequence, which must be right.
pub fn strip(bytes: &[u8]) -> Result<&[u8], FrameError> {
    let (frame, found) = bytes.split_last_chunk::<4>().ok_or(FrameError::Truncated("the FCS"))?;
    let (found, computed) = (u32::from_le_bytes(*found), fcs(frame));
    if found == computed { Ok(frame) } else { Err(FrameError::Fcs { found, computed }) }
}

/// Makes the frame check sequence at the end of `frame` wrong, for the capture of a frame that noise or a collision
/// spoiled: which of its bits went wrong is not modelled. Twice makes it right again; fewer than four bytes stay.
///
/// tshark counts such a frame as malformed when told to check (`wlan.check_checksum`), whatever radiotap says.
pub fn spoil(frame: &mut [u8]) {
    if let Some(fcs) = frame.last_chunk_mut::<4>() {
        *fcs = fcs.map(|byte| !byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        // The published check value of CRC-32/ISO-HDLC over the ASCII digits.
        assert_eq!(fcs(b"123456789"), 0xCBF4_3926);
        assert_eq!(fcs(b""), 0);
    }

    #[test]
    fn one_flipped_bit_is_found() {
        let mut frame = b"a frame".to_vec();
        append(&mut frame, 0);
        assert_eq!(strip(&frame), Ok(b"a frame".as_slice()));
        for bit in 0..frame.len() * 8 {
            frame[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(strip(&frame), Err(FrameError::Fcs { .. })), "bit {bit}");
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        spoil(&mut frame);
        assert!(strip(&frame).is_err());
        spoil(&mut frame);
        assert!(strip(&frame).is_ok());
    }
}
