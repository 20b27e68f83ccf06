//! Worked packets, and properties over all packets and over arbitrary bytes.

use super::*;
use crate::{Echo, Flags, Ipv4, Notice, NoticeKind, Quote, Seq, SeqRange, Tcp, TcpOptions, Udp};
use proptest::prelude::*;
use std::net::Ipv4Addr;

/// A SYN from 10.0.0.1 port 1234 to 10.0.0.2 port 80, sequence number 1, window 65535, MSS 1460.
///
/// IP: 4500 + 002c + 0007 + 4000 + 4006 + 0a00 + 0001 + 0a00 + 0002 = d93c, complement 26c3.
/// TCP: pseudo 0a00 + 0001 + 0a00 + 0002 + 0006 + 0018 = 1421; header 04d2 + 0050 + 0000 + 0001 + 0000 + 0000 + 6002 +
/// ffff + 0000 = 16524; options 0204 + 05b4 = 07b8; together 180fd; folded 80fe; complement 7f01.
const SYN: [u8; 44] = [
    0x45, 0x00, 0x00, 0x2c, 0x00, 0x07, 0x40, 0x00, 0x40, 0x06, 0x26, 0xc3, 10, 0, 0, 1, 10, 0, 0, 2, // IP
    0x04, 0xd2, 0x00, 0x50, 0, 0, 0, 1, 0, 0, 0, 0, 0x60, 0x02, 0xff, 0xff, 0x7f, 0x01, 0, 0, // TCP
    0x02, 0x04, 0x05, 0xb4, // MSS
];

fn syn() -> Packet {
    let mut options = TcpOptions::default();
    options.push_mss(1460);
    let tcp = Tcp {
        src_port: 1234,
        dst_port: 80,
        seq: Seq(1),
        flags: Flags::SYN,
        window: 65535,
        options,
        ..Tcp::default()
    };
    let ip = Ipv4 { src: Ipv4Addr::new(10, 0, 0, 1), dst: Ipv4Addr::new(10, 0, 0, 2), id: 7, ..Ipv4::default() };
    Packet { ip, l4: L4::Tcp(tcp), payload: Payload::EMPTY, flow: FlowId(0) }
}

fn emitted(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(&mut out).unwrap();
    out
}

fn parsed(bytes: &[u8]) -> Packet {
    Packet::parse(bytes, FlowId(0)).unwrap()
}

/// The same packet with its payload as bytes, as parsing spells it.
fn with_bytes(packet: &Packet) -> Packet {
    let mut bytes = Vec::new();
    packet.payload.emit(&mut bytes).unwrap();
    let content = if bytes.is_empty() { Payload::EMPTY.content } else { Content::Bytes(Arc::from(bytes)) };
    Packet { payload: Payload::new(packet.payload.len, content), ..packet.clone() }
}

#[test]
fn a_syn_worked_by_hand() {
    assert_eq!(emitted(&syn()), SYN);
    assert_eq!(parsed(&SYN), syn());
    assert_eq!(verify(&SYN), Ok(Integrity::Good));
}

#[test]
fn emit_appends() {
    let mut out = vec![9; 3];
    syn().emit(&mut out).unwrap();
    assert_eq!((&out[..3], &out[3..]), ([9u8; 3].as_slice(), SYN.as_slice()));
}

#[test]
fn a_packet_longer_than_its_length_field_has_no_bytes() {
    let mut out = vec![1];
    let packet = Packet { payload: Payload::stream(0, 65_535 - 43), ..syn() };
    assert_eq!(packet.emit(&mut out), Err(EmitError::TooLong(65_536)));
    assert_eq!(out, [1]);
    let most = Packet { payload: Payload::stream(0, 65_535 - 44), ..syn() };
    assert_eq!(emitted(&most).len(), 65_535);
    assert_eq!(parsed(&emitted(&most)), with_bytes(&most));
}

#[test]
fn what_is_no_ipv4_header_is_an_error_with_its_reason() {
    let parse = |bytes: &[u8]| Packet::parse(bytes, FlowId(0)).unwrap_err();
    assert_eq!(parse(&[]), ParseError::Truncated { have: 0 });
    assert_eq!(parse(&SYN[..19]), ParseError::Truncated { have: 19 });
    assert_eq!(parse(&[0x60; 40]), ParseError::Version(6));
    assert_eq!(parse(&SYN[..43]), ParseError::TotalLength { total: 44, have: 43 });
    let with = |at: usize, value: u8| {
        let mut bytes = SYN;
        bytes[at] = value;
        parse(&bytes)
    };
    assert_eq!(with(0, 0x44), ParseError::HeaderLength { header: 16, total: 44 });
    assert_eq!(with(0, 0x4c), ParseError::HeaderLength { header: 48, total: 44 });
    assert_eq!(with(3, 19), ParseError::HeaderLength { header: 20, total: 19 });
}

/// `bytes` after `edit`, with the IP header's checksum made right again.
fn edited(bytes: &[u8], edit: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    edit(&mut bytes);
    let len = usize::from(bytes[0] & 15) * 4;
    bytes[10..12].fill(0);
    let sum = checksum::checksum(&bytes[..len]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn headers_that_cannot_be_represented_are_opaque_and_keep_their_bytes() {
    let tcp_fixed = |at: usize, bits: u8| {
        edited(&SYN, |b| {
            let old = u16::from_be_bytes([b[at & !1], b[at | 1]]);
            b[at] |= bits;
            let new = u16::from_be_bytes([b[at & !1], b[at | 1]]);
            let sum = checksum::update(u16::from_be_bytes([b[36], b[37]]), old, new);
            b[36..38].copy_from_slice(&sum.to_be_bytes());
        })
    };
    let cases: [(&str, Vec<u8>, Integrity); 8] = [
        ("reserved IP flag", edited(&SYN, |b| b[6] |= 0x80), Integrity::Good),
        ("more fragments", edited(&SYN, |b| b[6] = 0x20), Integrity::HeaderOnly),
        ("fragment offset", edited(&SYN, |b| b[7] = 1), Integrity::HeaderOnly),
        ("unknown protocol", edited(&SYN, |b| b[9] = 132), Integrity::HeaderOnly),
        ("trailing byte", [SYN.as_slice(), &[0]].concat(), Integrity::Good),
        ("data offset beyond the end", tcp_fixed(32, 0x80), Integrity::Good),
        (
            "IP option",
            edited(&SYN, |b| {
                b[0] = 0x46;
                b[3] += 4;
                b.splice(20..20, [1, 1, 1, 0]);
            }),
            Integrity::Good,
        ),
        ("damaged transport", edited(&SYN, |b| b[43] ^= 1), Integrity::BadTransport),
    ];
    for (what, bytes, integrity) in cases {
        let packet = parsed(&bytes);
        assert_eq!(packet.l4, L4::Opaque, "{what}");
        assert_eq!(packet.ip_len().0, bytes.len() as u64, "{what}");
        assert_eq!(packet.ip.dst, Ipv4Addr::new(10, 0, 0, 2), "{what}: routable");
        assert_eq!(emitted(&packet), bytes, "{what}");
        assert_eq!(verify(&bytes), Ok(integrity), "{what}");
    }
    let mut damaged = SYN;
    damaged[8] -= 1; // a TTL that somebody lowered without updating the checksum
    assert_eq!(parsed(&damaged).l4, L4::Opaque);
    assert_eq!(verify(&damaged), Ok(Integrity::BadHeader));
}

#[test]
fn the_reserved_bits_of_a_segment_stand_behind_its_data_offset() {
    // Byte 32 is the data offset of six words and the four bits after it. Bit 4 adds 0800 to the sum that made 7f01:
    // 80fe + 0800 = 88fe, complement 7701. The byte after it holds the eight old flags and stays.
    let marked = |flags: Flags| {
        let mut packet = syn();
        packet.tcp_mut().unwrap().flags |= flags;
        emitted(&packet)
    };
    let bytes = marked(Flags::LOSS_NOTICE);
    assert_eq!((bytes[32], bytes[33], &bytes[36..38]), (0x68, 0x02, [0x77, 0x01].as_slice()));
    assert_eq!(parsed(&bytes).tcp().unwrap().flags, Flags::SYN | Flags::LOSS_NOTICE);
    assert_eq!(marked(Flags::AE)[32], 0x61);
    assert_eq!(marked(Flags(0x0600))[32], 0x66);
    // What is no bit of a header does not spill into the data offset.
    assert_eq!(marked(Flags(0xf000)), SYN);
}

/// "A segment failed", from 10.0.0.9 to the source of the SYN.
///
/// IP: 4500 + 0038 + 0000 + 4000 + 4001 + 0a00 + 0009 + 0a00 + 0001 = d943, complement 26bc.
/// ICMP: fd00 + 0000 + 0000 + 0000, the quoted IP header, whose sum with its checksum is ffff, and its first 8 bytes
/// 04d2 + 0050 + 0000 + 0001 = 0523: fd00 + ffff + 0523 = 20222, folded 0224, complement fddb.
const NOTICE: [u8; 56] = [
    0x45, 0x00, 0x00, 0x38, 0x00, 0x00, 0x40, 0x00, 0x40, 0x01, 0x26, 0xbc, 10, 0, 0, 9, 10, 0, 0, 1, // IP
    0xfd, 0x00, 0xfd, 0xdb, 0, 0, 0, 0, // ICMP
    0x45, 0x00, 0x00, 0x2c, 0x00, 0x07, 0x40, 0x00, 0x40, 0x06, 0x26, 0xc3, 10, 0, 0, 1, 10, 0, 0,
    2, // quoted IP
    0x04, 0xd2, 0x00, 0x50, 0, 0, 0, 1, // quoted TCP
];

fn notice() -> Packet {
    syn().notice_of(Ipv4Addr::new(10, 0, 0, 9), NoticeKind::Experiment1, 0).unwrap()
}

#[test]
fn a_notice_worked_by_hand() {
    assert_eq!(emitted(&notice()), NOTICE);
    assert_eq!(Packet::parse(&NOTICE, FlowId(1)), Ok(notice()));
    assert_eq!(verify(&NOTICE), Ok(Integrity::Good));
}

#[test]
fn a_notice_travels_against_the_segment_it_is_about() {
    let notice = notice();
    assert_eq!((notice.flow, notice.ip.dst), (syn().flow.reverse(), syn().ip.src));
    let quote = notice.notice().unwrap().quote;
    assert_eq!((quote.ip, quote.ip_len), (syn().ip, 44));
    assert_eq!((quote.src_port, quote.dst_port, quote.seq), (1234, 80, Seq(1)));
    assert_eq!(udp().notice_of(Ipv4Addr::UNSPECIFIED, NoticeKind::Experiment1, 0), None);
}

#[test]
fn messages_that_quote_what_we_cannot_write_are_opaque_and_keep_their_bytes() {
    let fixed = |edit: &dyn Fn(&mut Vec<u8>)| {
        edited(&NOTICE, |b| {
            edit(b);
            b[22..24].fill(0);
            let sum = checksum::checksum(&b[20..]);
            b[22..24].copy_from_slice(&sum.to_be_bytes());
        })
    };
    let cases: [(&str, Vec<u8>); 6] = [
        ("a type without a quote", fixed(&|b| b[20] = 13)),
        ("a quote of UDP", fixed(&|b| (b[37], b[39]) = (17, b[39] - 11))),
        ("a quote whose own checksum is wrong", fixed(&|b| b[38] ^= 1)),
        ("a quote with options", fixed(&|b| (b[28], b[38]) = (0x46, b[38] - 1))),
        ("a quote of seven bytes", fixed(&|b| (b[3], _) = (b[3] - 1, b.pop()))),
        ("an echo with a code", fixed(&|b| (b[20], b[21]) = (8, 1))),
    ];
    for (what, bytes) in cases {
        assert_eq!(verify(&bytes), Ok(Integrity::Good), "{what}");
        assert_eq!(parsed(&bytes).l4, L4::Opaque, "{what}");
        assert_eq!(emitted(&parsed(&bytes)), bytes, "{what}");
    }
    // The same edits without harm: another type, more of the datagram than 8 bytes.
    let more = fixed(&|b| {
        b[20] = 3;
        b[3] += 4;
        b.extend([0, 0, 0, 0]);
    });
    let packet = parsed(&more);
    assert_eq!(packet.notice().map(|n| n.kind), Some(NoticeKind::Unreachable));
    assert_eq!((packet.payload.len, emitted(&packet)), (4, more));
}

fn udp() -> Packet {
    Packet { l4: L4::Udp(Udp { src_port: 5001, dst_port: 5002 }), payload: Payload::stream(0, 5), ..syn() }
}

#[test]
fn a_udp_packet_without_checksum_is_opaque_and_stays_without() {
    let mut bytes = emitted(&udp());
    assert_eq!(verify(&bytes), Ok(Integrity::Good));
    bytes[26..28].fill(0);
    assert_eq!(parsed(&bytes).l4, L4::Opaque);
    assert_eq!(emitted(&parsed(&bytes)), bytes);
    assert_eq!(verify(&bytes), Ok(Integrity::HeaderOnly));
}

#[test]
fn a_udp_checksum_that_comes_out_as_zero_is_written_as_all_ones() {
    // With its payload's first word zero the datagram's checksum is c; with that word c the sum is ffff, checksum 0.
    let with = |word: [u8; 2]| {
        let content = Content::Bytes(Arc::from(word.as_slice()));
        emitted(&Packet { payload: Payload::new(2, content), ..udp() })
    };
    let zero = with([0, 0]);
    let bytes = with([zero[26], zero[27]]);
    assert_eq!(bytes[26..28], [0xff, 0xff]);
    assert!(matches!(parsed(&bytes).l4, L4::Udp(_)));
    assert_eq!(verify(&bytes), Ok(Integrity::Good));
}

#[test]
fn an_incremental_update_after_a_rewrite_equals_emitting_again() {
    // What a scheme in the live arm does to a window field of a packet it otherwise leaves alone.
    let mut bytes = emitted(&syn());
    let mut packet = syn();
    packet.tcp_mut().unwrap().window = 4096;
    let sum = checksum::update(u16::from_be_bytes([bytes[36], bytes[37]]), 65535, 4096);
    bytes[34..36].copy_from_slice(&4096u16.to_be_bytes());
    bytes[36..38].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(bytes, emitted(&packet));
}

/// Options in well-formed and in any other spelling.
fn options() -> impl Strategy<Value = TcpOptions> {
    let raw = proptest::collection::vec(any::<[u8; 4]>(), 0..=10)
        .prop_map(|words| TcpOptions::from_bytes(&words.concat()).unwrap());
    let one = prop_oneof![
        any::<u16>().prop_map(|mss| (2u8, mss.to_be_bytes().to_vec())),
        (0u8..15).prop_map(|shift| (3, vec![shift])),
        Just((4, vec![])),
        proptest::collection::vec(any::<[u8; 8]>(), 1..=3).prop_map(|blocks| (5, blocks.concat())),
        any::<[u8; 8]>().prop_map(|stamps| (8, stamps.to_vec())),
        (9u8.., proptest::collection::vec(any::<u8>(), 0..12)), // unknown kinds
    ];
    let typed = proptest::collection::vec(one, 0..4).prop_map(|list| {
        let mut options = TcpOptions::default();
        for (kind, value) in list {
            options.push(kind, &value); // what does not fit is left out
        }
        options
    });
    prop_oneof![raw, typed]
}

fn l4() -> impl Strategy<Value = L4> {
    let ports = any::<(u16, u16)>();
    let tcp = (ports, any::<[u32; 2]>(), 0..=Flags::ALL.0, any::<[u16; 2]>(), options()).prop_map(
        |((src_port, dst_port), [seq, ack], flags, [window, urgent], options)| {
            let (seq, ack, flags) = (Seq(seq), Seq(ack), Flags(flags));
            L4::Tcp(Tcp { src_port, dst_port, seq, ack, flags, window, urgent, options })
        },
    );
    let udp = any::<(u16, u16)>().prop_map(|(src_port, dst_port)| L4::Udp(Udp { src_port, dst_port }));
    let echo = any::<(bool, u16, u16)>().prop_map(|(reply, id, seq)| L4::Echo(Echo { reply, id, seq }));
    prop_oneof![3 => tcp, 1 => udp, 1 => echo, 1 => notice_of_anything()]
}

fn notice_of_anything() -> impl Strategy<Value = L4> {
    let kinds = [
        NoticeKind::Unreachable,
        NoticeKind::SourceQuench,
        NoticeKind::TimeExceeded,
        NoticeKind::Experiment1,
        NoticeKind::Experiment2,
    ];
    let numbers = (any::<u8>(), any::<[u32; 2]>(), any::<[u16; 3]>());
    (0..kinds.len(), ip(), numbers).prop_map(move |(kind, ip, (code, [word, seq], [ip_len, src_port, dst_port]))| {
        let quote = Quote { ip, ip_len, src_port, dst_port, seq: Seq(seq) };
        L4::Notice(Notice { kind: kinds[kind], code, word, quote })
    })
}

fn ip() -> impl Strategy<Value = Ipv4> {
    (any::<([u8; 4], [u8; 4])>(), any::<(u8, u8, u16, bool)>()).prop_map(|((src, dst), rest)| {
        let (tos, ttl, id, dont_fragment) = rest;
        Ipv4 { src: src.into(), dst: dst.into(), tos, ttl, id, dont_fragment }
    })
}

fn packet() -> impl Strategy<Value = Packet> {
    let payload = prop_oneof![
        (any::<u64>(), 0u32..1500).prop_map(|(offset, len)| Payload::stream(offset, len)),
        proptest::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| Payload::new(bytes.len() as u32, Content::Bytes(Arc::from(bytes)))),
    ];
    (ip(), l4(), payload).prop_map(|(ip, l4, payload)| Packet { ip, l4, payload, flow: FlowId(0) })
}

/// Checks any bytes: no panic, and if they parse they come back.
fn comes_back(bytes: &[u8]) -> Result<(), TestCaseError> {
    prop_assert_eq!(Packet::parse(bytes, FlowId(0)).err(), verify(bytes).err());
    if let Ok(packet) = Packet::parse(bytes, FlowId(0)) {
        prop_assert_eq!(emitted(&packet), bytes);
        prop_assert_eq!(packet.ip_len().0, bytes.len() as u64);
        if packet.l4 != L4::Opaque {
            prop_assert_eq!(verify(bytes), Ok(Integrity::Good));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_packet_survives_its_bytes(packet in packet()) {
        let bytes = emitted(&packet);
        prop_assert_eq!(bytes.len() as u64, packet.ip_len().0);
        prop_assert_eq!(verify(&bytes), Ok(Integrity::Good));
        let back = parsed(&bytes);
        prop_assert_eq!(&back, &with_bytes(&packet));
        prop_assert_eq!(emitted(&back), bytes);
    }

    #[test]
    fn arbitrary_bytes_fail_or_come_back(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), v4 in any::<bool>()) {
        if v4 && bytes.len() >= 20 {
            bytes[0] = 0x40 | bytes[0] & 0x0f;
            let len = bytes.len() as u16;
            bytes[2..4].copy_from_slice(&len.to_be_bytes());
        }
        comes_back(&bytes)?;
    }

    #[test]
    fn damaged_cut_and_lengthened_packets_fail_or_come_back(
        packet in packet(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        repair in any::<bool>(),
    ) {
        let mut bytes = emitted(&packet);
        for (at, value) in damage {
            let at = at.index(bytes.len().min(64)); // most of what can go wrong is in the headers
            bytes[at] = value;
        }
        if repair && usize::from(bytes[0] & 15) >= 5 && bytes.len() >= 60 {
            bytes = edited(&bytes, |_| ());
        }
        comes_back(&bytes)?;
        comes_back(&bytes[..cut.index(bytes.len())])?;
        bytes.push(0);
        comes_back(&bytes)?;
    }

    #[test]
    fn typed_options_are_read_back_from_bytes(
        stamps in any::<(u32, u32)>(),
        blocks in proptest::collection::vec(any::<(u32, u16)>(), 1..=3),
        shift in 0u8..=14,
    ) {
        let blocks: Vec<SeqRange> = blocks.iter().map(|(s, n)| SeqRange::new(Seq(*s), u32::from(*n))).collect();
        let mut packet = syn();
        let options = &mut packet.tcp_mut().unwrap().options;
        *options = TcpOptions::default();
        options.push_timestamps(stamps.0, stamps.1);
        if blocks.len() < 3 {
            options.push_window_scale(shift);
        }
        prop_assert_eq!(options.push_sack(&blocks), blocks.len());
        let back = parsed(&emitted(&packet));
        let options = back.tcp().unwrap().options;
        prop_assert_eq!(options.timestamps(), Some(stamps));
        prop_assert_eq!(options.sack_blocks().collect::<Vec<_>>(), blocks.clone());
        prop_assert_eq!(options.window_scale(), (blocks.len() < 3).then_some(shift));
    }
}
