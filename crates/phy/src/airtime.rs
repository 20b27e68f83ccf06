//! Time that a frame occupies the air.

use crate::BlockCode;
use crate::mode::{Mode, Row};
use units::{Bytes, Dur};

/// The longest PPDU: what L-SIG can announce, 4095 bytes at 6 Mb/s, 20 + 4 · ⌈(16 + 8 · 4095 + 6) / 24⌉ µs. aPPDUMaxTime, @80211-2020
/// table 19-25
pub const LONGEST_PPDU: Dur = Dur::from_us(5484);

/// Airtime of a PSDU (of one MPDU: its header to its FCS) in this mode: TXTIME. Preamble and header, whole symbols, and the signal
/// extension: the format's file has the clause.
pub fn airtime(mode: Mode, psdu: Bytes) -> Dur {
    time_of_bits(mode, psdu.bits())
}

/// The same with a block code over the PSDU: the coded bits take the place of its own.
pub fn airtime_coded(mode: Mode, psdu: Bytes, code: Option<BlockCode>) -> Dur {
    time_of_bits(mode, code.map_or(psdu.bits(), |code| code.bits(psdu)))
}

fn time_of_bits(mode: Mode, bits: u64) -> Dur {
    let Row { front, symbols, signal_extension, .. } = &*mode;
    front.lasts() + symbols.time_of(bits) + *signal_extension
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Preamble, Standard};
    use units::BitRate;

    fn us(standard: Standard, kbps: u64, bytes: u64, preamble: Preamble) -> u64 {
        let mode = standard.mode(BitRate::from_kbps(kbps)).expect("a rate of the standard");
        airtime(mode.with_preamble(preamble), Bytes(bytes)).ns() / 1000
    }

    #[test]
    fn airtimes_worked_by_hand() {
        // 1500 B + 36 B at 11 Mb/s: 192 + ⌈12288 / 11⌉ = 192 + 1118 (1117.09…).
        assert_eq!(us(Standard::B, 11_000, 1536, Preamble::Long), 1310);
        // ACK of 14 B at 1 Mb/s: 192 + 112.
        assert_eq!(us(Standard::B, 1_000, 14, Preamble::Long), 304);
        // 1 Mb/s has no short preamble; 2 Mb/s has: 96 + 56.
        assert_eq!(us(Standard::B, 1_000, 14, Preamble::Short), 304);
        assert_eq!(us(Standard::B, 2_000, 14, Preamble::Short), 152);
        // 54 Mb/s: 1536 B: ⌈(22 + 12288) / 216⌉ = 57 symbols: 20 + 228.
        assert_eq!(us(Standard::A, 54_000, 1536, Preamble::Long), 248);
        // ACK at 24 Mb/s: ⌈134 / 96⌉ = 2: 28; at 6 Mb/s: ⌈134 / 24⌉ = 6: 44.
        assert_eq!(us(Standard::A, 24_000, 14, Preamble::Long), 28);
        assert_eq!(us(Standard::A, 6_000, 14, Preamble::Long), 44);
        // A code of (255, 223): 1536 B are 56 blocks, 14280 bits: 192 + 1299 (1298.2), and ⌈(22 + 14280) / 216⌉ = 67 symbols.
        let coded = |standard: Standard, kbps: u64| {
            let mode = standard.mode(BitRate::from_kbps(kbps)).expect("a rate of the standard");
            airtime_coded(mode, Bytes(1536), BlockCode::new(255, 223, 4)).ns() / 1000
        };
        assert_eq!((coded(Standard::B, 11_000), coded(Standard::A, 54_000)), (1491, 288));
        // The same in 802.11g with its signal extension.
        assert_eq!(us(Standard::G, 24_000, 14, Preamble::Long), 34);
    }
}
