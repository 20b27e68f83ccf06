//! How long a frame occupies the air.

use crate::BlockCode;
use crate::tx_vector::{Format, Mode, Preamble};
use units::{Bytes, Dur};

/// Airtime of a PSDU (of one MPDU: its header to its FCS) in this mode: TXTIME.
///
/// DSSS: preamble + header + 8 · bytes / rate, the body rounded up to whole µs. @80211-2020 16.3.4.
/// OFDM: 16 + 4 + 4 · ⌈(16 + 8 · bytes + 6) / N_DBPS⌉ µs. @80211-2020 eq. 17-29; ERP-OFDM adds 6 µs, eq. 18-1.
pub fn airtime(mode: Mode, psdu: Bytes) -> Dur {
    time_of_bits(mode, psdu.bits())
}

/// The same with a block code over the PSDU: the coded bits take the place of its own.
pub fn airtime_coded(mode: Mode, psdu: Bytes, code: Option<BlockCode>) -> Dur {
    time_of_bits(mode, code.map_or(psdu.bits(), |code| code.bits(psdu)))
}

fn time_of_bits(mode: Mode, bits: u64) -> Dur {
    match mode.format {
        Format::Dsss => {
            let front = match mode.preamble {
                Preamble::Short => 72 + 24,
                Preamble::Long => 144 + 48,
            };
            let body_us = (bits * 1_000_000).div_ceil(mode.bit_rate().bps());
            Dur::from_us(front + body_us)
        }
        Format::Ofdm => Dur::from_us(20 + symbols_us(bits, mode)),
        Format::ErpOfdm => Dur::from_us(26 + symbols_us(bits, mode)),
    }
}

/// 16 service bits before and 6 tail bits behind the PSDU, in symbols of 4 µs. @80211-2020 17.3.5.3, 17.3.5.4
fn symbols_us(bits: u64, mode: Mode) -> u64 {
    4 * (16 + bits + 6).div_ceil(mode.data_bits_per_symbol())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Standard;
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
