//! Headers by hand, and properties.

use super::*;
use proptest::prelude::*;
use units::Dur;

fn emitted(header: &Radiotap) -> Vec<u8> {
    let mut out = vec![0xEE; 3]; // alignment counts from the header, not from the buffer
    header.emit(&mut out);
    out.split_off(3)
}

#[test]
fn a_full_header_byte_by_byte() {
    let header = Radiotap {
        flags: Some(RadiotapFlags::FCS_AT_END | RadiotapFlags::SHORT_PREAMBLE),
        channel: Some(Channel { frequency_mhz: 2412, flags: Channel::CCK_2GHZ }),
        ..Radiotap::default()
    }
    .with_time(SimTime::from_ns(258_999))
    .with_rate(BitRate::from_kbps(5_500))
    .with_signal(Dbm(-61.6));
    #[rustfmt::skip]
    let expected = [
        0, 0, 23, 0, 0x2f, 0, 0, 0, // version, padding, length; bits 0 1 2 3 5
        2, 1, 0, 0, 0, 0, 0, 0, // 258 us
        0x12, 11, 0x6c, 0x09, 0xa0, 0x00, 0xc2, // flags, 11 x 500 kb/s, 2412 MHz, 2 GHz CCK, -62 dBm
    ];
    assert_eq!(emitted(&header), expected);
    assert_eq!(Radiotap::parse(&expected), Ok((header, [].as_slice())));
}

#[test]
fn the_channel_stands_at_an_even_offset() {
    let channel = Some(Channel { frequency_mhz: 5180, flags: Channel::OFDM_5GHZ });
    let bytes = emitted(&Radiotap { rate_500kbps: Some(108), channel, ..Radiotap::default() });
    assert_eq!(bytes[8..], [108, 0, 0x3c, 0x14, 0x40, 0x01]);
}

#[test]
fn fields_behind_several_bitmaps_are_found_and_unknown_ones_skipped() {
    // Two bitmaps, so TSFT is aligned from 12 to 16; antenna (bit 11) follows the signal.
    let mut bytes =
        vec![0, 0, 27, 0, 0x21, 0x08, 0, 0x80, 0, 0, 0, 0, 9, 9, 9, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0xd8, 3, 7];
    assert_eq!(bytes.len(), 27);
    bytes.push(0x42);
    let (header, frame) = Radiotap::parse(&bytes).unwrap();
    assert_eq!(header, Radiotap { tsft_us: Some(1), signal_dbm: Some(-40), ..Radiotap::default() });
    assert_eq!(frame, [0x42]);
}

/// The bytes behind the first bitmap.
fn behind(header: &Radiotap) -> Vec<u8> {
    emitted(header).split_off(8)
}

fn of_ppdu(format: Format, mcs: u8, streams: u8, bandwidth_mhz: u16, ns: u64, coding: Coding) -> Radiotap {
    let guard_interval = Dur::from_ns(ns);
    let modulation = Modulation { format, mcs, streams, bandwidth_mhz, guard_interval, coding: Some(coding) };
    Radiotap { modulation: Some(modulation), ..Radiotap::default() }
}

#[test]
fn the_fields_mcs_vht_and_he_byte_by_byte() {
    // MCS 15 at 40 MHz, 0.4 us, LDPC: known bandwidth, MCS, guard interval, format, FEC; 40 MHz is 1, short is 4, LDPC 0x10.
    let ht = of_ppdu(Format::Ht, 15, 2, 40, 400, Coding::Ldpc);
    assert_eq!(emitted(&ht)[4..8], [0, 0, 0x08, 0]); // bit 19
    assert_eq!(behind(&ht), [0x1f, 0x15, 15]);
    // VHT MCS 9, two streams, 80 MHz, 0.4 us: known guard interval and bandwidth; short is 4, 80 MHz 4.
    let vht = of_ppdu(Format::Vht, 9, 2, 80, 400, Coding::Bcc);
    assert_eq!(emitted(&vht)[4..8], [0, 0, 0x20, 0]); // bit 21
    assert_eq!(behind(&vht), [0x44, 0, 4, 4, 0x92, 0, 0, 0, 0, 0, 0, 0]);
    let wide = of_ppdu(Format::Vht, 0, 1, 160, 800, Coding::Ldpc);
    assert_eq!(behind(&wide), [0x44, 0, 0, 11, 0x01, 0, 0, 0, 1, 0, 0, 0]);
    // HE SU MCS 11, two streams, 80 MHz, 1.6 us, LDPC. Known MCS (0x20), coding (0x80), bandwidth (0x4000), guard interval (2).
    let he = of_ppdu(Format::He, 11, 2, 80, 1600, Coding::Ldpc);
    assert_eq!(emitted(&he)[4..8], [0, 0, 0x80, 0]); // bit 23
    assert_eq!(behind(&he), [0xa0, 0x40, 0x02, 0, 0x00, 0x2b, 0, 0, 0x12, 0, 0x02, 0]);
    for header in [ht, vht, wide, he] {
        assert_eq!(Radiotap::parse(&emitted(&header)), Ok((header, [].as_slice())));
    }
}

#[test]
fn a_mpdu_status_is_aligned_and_stands_between_mcs_and_vht() {
    let a_mpdu = |is_last| Some(AmpduStatus { reference: 0x0102_0304, is_last });
    let alone = |is_last| behind(&Radiotap { a_mpdu: a_mpdu(is_last), ..Radiotap::default() });
    assert_eq!(alone(None), [4, 3, 2, 1, 0, 0, 0, 0]);
    assert_eq!(alone(Some(false)), [4, 3, 2, 1, 4, 0, 0, 0]);
    assert_eq!(alone(Some(true)), [4, 3, 2, 1, 12, 0, 0, 0]);
    let flags = Some(RadiotapFlags::FCS_AT_END);
    let ht = of_ppdu(Format::Ht, 7, 1, 20, 800, Coding::Bcc);
    let ht = Radiotap { flags, a_mpdu: a_mpdu(Some(true)), ..ht };
    // Flags, MCS; four bytes, which is a multiple of four already.
    assert_eq!(behind(&ht), [0x10, 0x1f, 0, 7, 4, 3, 2, 1, 12, 0, 0, 0]);
    let vht = of_ppdu(Format::Vht, 7, 1, 20, 800, Coding::Bcc);
    let vht = Radiotap { flags, a_mpdu: a_mpdu(Some(false)), ..vht };
    assert_eq!(behind(&vht), [0x10, 0, 0, 0, 4, 3, 2, 1, 4, 0, 0, 0, 0x44, 0, 0, 0, 0x71, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_modulation_of_others_is_read_if_all_of_it_is_known() {
    let he = of_ppdu(Format::He, 11, 2, 80, 1600, Coding::Ldpc);
    let read = |at: usize, value: u8| {
        let mut bytes = emitted(&he);
        bytes[8 + at] = value;
        Radiotap::parse(&bytes).unwrap().0.modulation
    };
    assert_eq!(read(0, 0xa0), he.modulation);
    // An MU PPDU; MCS, bandwidth, guard interval unknown; an RU; no streams.
    for (at, value) in [(0, 0xa2), (0, 0x80), (1, 0), (2, 0), (8, 0x14), (10, 0)] {
        assert_eq!(read(at, value), None, "byte {at}: {value:#x}");
    }
    assert_eq!(read(0, 0x20).map(|it| it.coding), Some(None));
    // The timestamp (bit 22), at a multiple of 8 from 16 on, lies between antenna (bit 11) and HE.
    let mut bytes = vec![0, 0, 40, 0, 0, 0x08, 0xc0, 0, 7];
    bytes.extend([0xee; 7 + 12]);
    bytes.extend(&emitted(&he)[8..]);
    assert_eq!(Radiotap::parse(&bytes).unwrap().0, he);
}

#[test]
fn what_the_fields_cannot_say_is_held_or_left_out() {
    // 80 MHz and 1.6 us in HT: neither is known.
    let ht = of_ppdu(Format::Ht, 7, 1, 80, 1600, Coding::Bcc);
    assert_eq!(behind(&ht), [0x1a, 0, 7]);

    let none = Radiotap::default();
    assert_eq!(none.with_rate(BitRate::from_kbps(600_000)).rate_500kbps, None);
    assert_eq!(none.with_signal(Dbm(-500.0)).signal_dbm, Some(-128));
    assert_eq!(none.with_signal(Dbm(f64::NAN)).signal_dbm, None);
}

/// Modulations that a field can say.
fn modulation() -> impl Strategy<Value = Modulation> {
    use prop::sample::select;
    let coding = prop_oneof![Just(Coding::Bcc), Just(Coding::Ldpc)];
    let he = (0u8..12, 1u8..9, select(vec![20, 40, 80, 160]), select(vec![800, 1600, 3200]));
    let vht = (0u8..10, 1u8..9, select(vec![20, 40, 80, 160]), select(vec![400, 800]));
    let ht = (0u8..32, Just(0), select(vec![20, 40]), select(vec![400, 800]));
    let of = |format, (mcs, streams, bandwidth_mhz, ns)| {
        let streams = if format == Format::Ht { 1 + mcs / 8 } else { streams };
        Modulation { format, mcs, streams, bandwidth_mhz, guard_interval: Dur::from_ns(ns), coding: None }
    };
    let any = prop_oneof![
        ht.prop_map(move |it| of(Format::Ht, it)),
        vht.prop_map(move |it| of(Format::Vht, it)),
        he.prop_map(move |it| of(Format::He, it)),
    ];
    (any, proptest::option::of(coding)).prop_map(|(it, coding)| {
        // VHT cannot leave it open.
        let coding = if it.format == Format::Vht { coding.or(Some(Coding::Bcc)) } else { coding };
        Modulation { coding, ..it }
    })
}

fn header() -> impl Strategy<Value = Radiotap> {
    use proptest::option::of;
    let a_mpdu = any::<(u32, Option<bool>)>().prop_map(|(reference, is_last)| AmpduStatus { reference, is_last });
    let channel = any::<(u16, u16)>().prop_map(|(frequency_mhz, flags)| Channel { frequency_mhz, flags });
    (of(any::<u64>()), of(any::<u8>()), of(any::<u8>()), of(channel), of(any::<i8>()), of(a_mpdu), of(modulation()))
        .prop_map(|(tsft_us, flags, rate_500kbps, channel, signal_dbm, a_mpdu, modulation)| Radiotap {
            tsft_us,
            flags: flags.map(RadiotapFlags),
            rate_500kbps,
            channel,
            signal_dbm,
            a_mpdu,
            modulation,
        })
}

proptest! {
    #[test]
    fn every_header_survives_its_bytes(header in header(), frame in proptest::collection::vec(any::<u8>(), 0..9)) {
        let bytes = [emitted(&header), frame.clone()].concat();
        prop_assert_eq!(Radiotap::parse(&bytes), Ok((header, frame.as_slice())));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..64), plausible in any::<bool>()) {
        if plausible && bytes.len() >= 4 {
            bytes[0] = 0;
            bytes[3] = 0;
        }
        let _ = Radiotap::parse(&bytes);
    }
}
