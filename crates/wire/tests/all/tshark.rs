//! Captures read by tshark: nothing malformed, every checksum right, every field the value we meant.
//!
//! Truth here is another program's dissectors. Frames with spoiled checksums are in the capture too, so that a tshark
//! which checks nothing would fail the test. Without tshark the tests print that they were skipped; with
//! `INTERLAYER_REQUIRE_TSHARK=1` they fail.

mod aggregates;
mod record;

use record::*;
use std::net::Ipv4Addr;
use testkit::tshark::{dissect, is_here, plain};
use units::{BitRate, Dbm, Dur, SimTime};
use wire::dot11::{
    self, Ack, AckPolicy, Beacon, BlockAck, Body, Capability, Cts, Data, DataHeader, DurationField, Frame,
    FrameFlags, HtControl, MacAddr, QosControl, Rts, SequenceControl, element,
};
use wire::radiotap::{Channel, Radiotap, RadiotapFlags};
use wire::{Echo, Flags, Ipv4, L4, Notice, NoticeKind, Payload, Quote, Seq, SeqRange, Tcp, TcpOptions, Udp};

/// The fields in which tshark says that a checksum is right.
const STATUS: [&str; 4] = ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "wlan.fcs.status"];

/// The error level in `_ws.expert.severity`.
const EXPERT_ERROR: &str = "8388608";

/// Asked of every packet, besides what its expectations name.
const ALWAYS: [&str; 4] = ["_ws.malformed", "_ws.expert.severity", "frame.protocols", "icmp.checksum.status"];

/// A handshake, data with timestamps, an ACK with SACK blocks, an ECN echo and a FIN.
fn tcp(record: &mut Record) {
    let mut syn = TcpOptions::default();
    assert!(syn.push_mss(1460) && syn.push_sack_permitted() && syn.push_timestamps(100, 0));
    assert!(syn.push_window_scale(7));
    let mut stamps = TcpOptions::default();
    assert!(stamps.push_timestamps(101, 0xFFFF_FFFF));
    let mut sack = stamps;
    let (a, b) = (SeqRange::new(Seq(3_000), 500), SeqRange::new(Seq(4_294_967_000), 100));
    assert_eq!(sack.push_sack(&[a, b]), 2);
    let of_syn = [
        ("tcp.options.mss_val", "1460"),
        ("tcp.options.wscale.shift", "7"),
        ("tcp.options.sack_perm", "0402"),
        ("tcp.options.timestamp.tsval", "100"),
        ("tcp.options.timestamp.tsecr", "0"),
    ];
    let of_stamps = [("tcp.options.timestamp.tsval", "101"), ("tcp.options.timestamp.tsecr", "4294967295")];
    let of_sack = [("tcp.options.sack_le", "3000,4294967000"), ("tcp.options.sack_re", "3500,4294967100")];
    let of_data = [of_stamps.as_slice(), &[("tcp.payload", "f9fa00010203")]].concat();
    let of_ack = [of_stamps.as_slice(), &of_sack].concat();
    let data = Flags::ACK | Flags::PSH;
    let urgent = Tcp { urgent: 3, ..segment(data | Flags::URG, 11, 5_001, stamps) };
    for (tcp, payload, more) in [
        (segment(Flags::SYN | Flags::ECE | Flags::CWR, 4, 0, syn), Payload::EMPTY, of_syn.as_slice()),
        (segment(Flags::SYN | Flags::ACK, 5_000, 5, syn), Payload::EMPTY, &of_syn),
        (segment(data, 5, 5_001, stamps), Payload::stream(249, 6), &of_data),
        (urgent, Payload::stream(0, 1_200), &[("tcp.urgent_pointer", "3")]),
        (segment(Flags::ACK, 5_001, 1_211, sack), Payload::EMPTY, &of_ack),
        (segment(Flags::ACK | Flags::FIN, 1_211, 5_001, TcpOptions::default()), Payload::EMPTY, &[]),
    ] {
        let expected = with(&tcp_fields(&tcp, payload.len), more);
        record.packet(&packet(L4::Tcp(tcp), payload), &expected);
    }
}

/// Negative ACKs: one, three beside timestamps and a SACK block, nine alone. An option for experiments with an identifier.
fn negative_acks(record: &mut Record) {
    let mut beside = TcpOptions::default();
    assert!(beside.push_timestamps(101, 102) && beside.push_sack(&[SeqRange::new(Seq(3_000), 500)]) == 1);
    let (alone, numbers) = (TcpOptions::default(), [Seq(0x0102_0304); 9]);
    for (mut options, n, data) in [
        (alone, 1, "01020304"),
        (beside, 3, "010203040102030401020304"),
        (alone, 9, "010203040102030401020304010203040102030401020304010203040102030401020304"),
    ] {
        assert_eq!(options.push_negative_acks(&numbers[..n]), n);
        let tcp = segment(Flags::ACK, 5_001, 1_211, options);
        let of_option = [("tcp.options.experimental.exid", "0x4e41"), ("tcp.options.experimental.data", data)];
        record.packet(&packet(L4::Tcp(tcp), Payload::EMPTY), &with(&tcp_fields(&tcp, 0), &of_option));
    }
}

/// The four bits between data offset and flags, and ICMP messages that quote a segment. Which of a notice's types tshark
/// dissects the quote of is its own affair; an experiment's it shows as data.
fn reserved_bits_and_notices(record: &mut Record) {
    let none = TcpOptions::default();
    // `tcp.flags` holds all twelve bits; `tcp.flags.res` says whether one of the three reserved ones is set.
    for (more, res) in [(Flags::LOSS_NOTICE, "1"), (Flags::AE, "0"), (Flags(0x600), "1")] {
        let tcp = segment(Flags::ACK | more, 5_001, 1_211, none);
        let expected = with(&tcp_fields(&tcp, 0), &[("tcp.flags.res", res)]);
        record.packet(&packet(L4::Tcp(tcp), Payload::EMPTY), &expected);
    }
    let [server, station] = [Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 0, 7)];
    let ip = Ipv4 { src: server, dst: station, id: 0x1234, ..Ipv4::default() };
    let quote = Quote { ip, ip_len: 1_500, src_port: 50_001, dst_port: 50_002, seq: Seq(0x0102_0304) };
    let message = |kind, code| L4::Notice(Notice { kind, code, word: 0, quote });
    // Both IP headers of the message, outer and quoted.
    let of_quote = [
        ("icmp.checksum.status", GOOD),
        ("ip.src", "10.0.0.1,10.0.1.1"),
        ("ip.dst", "10.0.0.2,10.0.0.7"),
        ("ip.id", "0xbeef,0x1234"),
        ("ip.len", "56,1500"),
        ("ip.checksum.status", "1,1"),
        ("tcp.srcport", "50001"),
        ("tcp.dstport", "50002"),
        ("tcp.seq", "16909060"),
    ];
    for (kind, code, number) in [
        (NoticeKind::Unreachable, 1, ["3", "1"]),
        (NoticeKind::SourceQuench, 0, ["4", "0"]),
        (NoticeKind::TimeExceeded, 1, ["11", "1"]),
    ] {
        let expected = with(&fields(&of_quote), &[("icmp.type", number[0]), ("icmp.code", number[1])]);
        record.packet(&packet(message(kind, code), Payload::EMPTY), &expected);
    }
    for (kind, number) in [(NoticeKind::Experiment1, "253"), (NoticeKind::Experiment2, "254")] {
        let more = [("icmp.type", number), ("icmp.code", "7"), ("icmp.checksum.status", GOOD)];
        record.packet(&packet(message(kind, 7), Payload::stream(0, 6)), &with(&ip_fields(), &more));
    }
}

/// UDP and ICMP echo, and payloads of every length up to 40: odd and even sums.
fn udp_echo_and_lengths(record: &mut Record) {
    let udp = L4::Udp(Udp { src_port: 40_003, dst_port: 40_004 });
    let of_udp =
        [("udp.srcport", "40003"), ("udp.dstport", "40004"), ("udp.length", "12"), ("data.data", "01020304")];
    let good = with(&ip_fields(), &[("udp.checksum.status", GOOD)]);
    record.packet(&packet(udp, Payload::stream(1, 4)), &with(&good, &of_udp));
    let of_echo = [("icmp.code", "0"), ("icmp.ident", "258"), ("icmp.seq", "772"), ("icmp.checksum.status", GOOD)];
    for (reply, kind) in [(false, "8"), (true, "0")] {
        let echo = packet(L4::Echo(Echo { reply, id: 0x0102, seq: 0x0304 }), Payload::stream(0, 56));
        record.packet(&echo, &with(&with(&ip_fields(), &of_echo), &[("icmp.type", kind)]));
    }
    for len in 0..=40 {
        let payload = Payload::stream(1_000_000_007 * u64::from(len), len);
        record.packet(&packet(udp, payload.clone()), &good);
        let tcp = segment(Flags::ACK, len, len, TcpOptions::default());
        record.packet(&packet(L4::Tcp(tcp), payload), &tcp_fields(&tcp, len));
    }
}

/// RTS, CTS, Ack, QoS data both ways through an access point, a fragment.
fn control_and_data(record: &mut Record) {
    let us = |us| DurationField::covering(Dur::from_us(us));
    let (ra, ta, flags) = (node(0x0203), node(1), FrameFlags::NONE);
    let addresses = [("wlan.ra", "02:00:00:00:02:03"), ("wlan.ta", "02:00:00:00:00:01")];
    let good = fields(&[("wlan.fcs.status", GOOD)]);
    record.frame(
        &emitted(&Frame::Rts(Rts { flags: FrameFlags::RETRY, duration: us(1_234), ra, ta })),
        with(
            &with(&good, &addresses),
            &[("wlan.fc.type_subtype", "27"), ("wlan.duration", "1234"), ("wlan.fc.retry", "1")],
        ),
    );
    record.frame(
        &emitted(&Frame::Cts(Cts { flags, duration: DurationField::MAX, ra })),
        with(&with(&good, &addresses[..1]), &[("wlan.fc.type_subtype", "28"), ("wlan.duration", "32767")]),
    );
    record.frame(
        &emitted(&Frame::Ack(Ack { flags, duration: us(0), ra })),
        with(&with(&good, &addresses[..1]), &[("wlan.fc.type_subtype", "29"), ("wlan.duration", "0")]),
    );
    let bitmap = [0xFF; 32];
    let written = "ff".repeat(32);
    for (octets, fragment) in [(8, "0"), (32, "4")] {
        let bitmap = &bitmap[..octets];
        record.frame(
            &emitted(&Frame::BlockAck(BlockAck {
                flags,
                duration: us(0),
                ht_control: None,
                ra,
                ta,
                tid: 6,
                start: 4_000,
                bitmap,
                behind: &[],
            })),
            with(
                &with(&good, &addresses),
                &[
                    ("wlan.fc.type_subtype", "25"),
                    ("wlan.ba.control.ba_type", "0x0002"),
                    ("wlan.ba.basic.tidinfo", "0x0006"),
                    ("wlan.fixed.ssc.sequence", "4000"),
                    ("wlan.fixed.ssc.fragment", fragment),
                    ("wlan.ba.bm", &written[..2 * octets]),
                ],
            ),
        );
    }
    let echo = packet(L4::Echo(Echo::default()), Payload::stream(0, 8));
    let (ap, sta, server) = (node(10), node(11), node(12));
    let ends =
        |sa: &'static str, da: &'static str| [("wlan.bssid", "02:00:00:00:00:0a"), ("wlan.sa", sa), ("wlan.da", da)];
    let (up, down) = (ends("02:00:00:00:00:0b", "02:00:00:00:00:0c"), ends("02:00:00:00:00:0c", "02:00:00:00:00:0b"));
    for (header, ends, ds) in
        [(DataHeader::to_ap(ap, sta, server), up, "0x01"), (DataHeader::from_ap(sta, ap, server), down, "0x02")]
    {
        let header = DataHeader {
            flags: header.flags | FrameFlags::MORE_DATA,
            duration: us(44),
            sequence: SequenceControl::new(4_095, 0),
            qos: Some(QosControl::new(6, AckPolicy::NoAck)),
            ..header
        };
        let mut bytes = Vec::new();
        header.emit_packet(&echo, &mut bytes).unwrap();
        let more = [
            ("wlan.fc.type_subtype", "40"),
            ("wlan.fc.ds", ds),
            ("wlan.fc.moredata", "1"),
            ("wlan.seq", "4095"),
            ("wlan.frag", "0"),
            ("wlan.qos.tid", "6"),
            ("wlan.qos.ack", "1"),
            ("wlan.duration", "44"),
        ];
        let expected = with(&with(&with(&ip_fields(), &[("icmp.checksum.status", GOOD)]), &ends), &more);
        record.frame(&bytes, with(&expected, &[("wlan.fcs.status", GOOD)]));
    }
    let (start, bitmap, behind, ht_control) = (4_000, &bitmap[..8], &[][..], Some(HtControl::ht(false, true)));
    record.frame(
        &emitted(&Frame::BlockAck(BlockAck {
            flags,
            duration: us(0),
            ht_control,
            ra,
            ta,
            tid: 6,
            start,
            bitmap,
            behind,
        })),
        with(
            &with(&good, &addresses),
            &[("wlan.fc.type_subtype", "23,25"), ("wlan.htc", "0x8000fe00"), ("wlan.htc.rdg_more_ppdu", "1")],
        ),
    );
    // Each variant, in QoS data.
    for (control, shown) in [
        (HtControl::ht(false, true), ("0x8000fe00", ("wlan.htc.vht", "0"), ("wlan.htc.rdg_more_ppdu", "1"))),
        (HtControl::ht(true, true), ("0x8000fe01", ("wlan.htc.vht", "1"), ("wlan.htc.rdg_more_ppdu", "1"))),
        (HtControl::he(true), ("0x0000009b", ("wlan.htc.he", "1"), ("wlan.htc.he.a_control.cci.rdg_more_ppdu", "1"))),
    ] {
        let header = DataHeader::to_ap(ap, sta, server);
        let (flags, qos) = (header.flags | FrameFlags::HTC, Some(QosControl::new(0, AckPolicy::Normal)));
        let mut bytes = Vec::new();
        DataHeader { flags, qos, ht_control: Some(control), ..header }.emit_packet(&echo, &mut bytes).unwrap();
        let more = [("wlan.fc.order", "1"), ("wlan.htc", shown.0), shown.1, shown.2];
        let expected = with(&with(&ip_fields(), &[("icmp.checksum.status", GOOD)]), &more);
        record.frame(&bytes, with(&expected, &[("wlan.fcs.status", GOOD)]));
    }
    let header = DataHeader { sequence: SequenceControl::new(9, 1), ..data_header() };
    record.frame(
        &emitted(&Frame::Data(Data { header, options: None, body: Body::Raw(&[1, 2, 3]) })),
        with(
            &good,
            &[
                ("wlan.seq", "9"),
                ("wlan.frag", "1"),
                ("wlan.fc.type_subtype", "32"),
                ("wlan.bssid", "06:00:00:00:00:07"),
                ("wlan.fc.ds", "0x00"),
            ],
        ),
    );
}

/// A beacon under a full radiotap header, with a comment.
fn beacon(record: &mut Record) {
    let rates =
        [1_000, 2_000, 5_500, 11_000].map(|kbps| dot11::rate(BitRate::from_kbps(kbps), kbps < 5_000).unwrap());
    let mut elements = Vec::new();
    element::push(element::DSSS_PARAMETER_SET, &[6], &mut elements).unwrap();
    element::push(element::EXTENDED_RATES, &[0x6c], &mut elements).unwrap();
    let beacon = Beacon {
        flags: FrameFlags::NONE,
        duration: DurationField::ZERO,
        da: MacAddr::BROADCAST,
        sa: node(10),
        bssid: node(10),
        sequence: SequenceControl::new(3, 0),
        timestamp_us: 0x0102_0304_0506_0708,
        interval_tu: 100,
        capability: Capability::ESS | Capability::SHORT_SLOT_TIME,
        ssid: b"interlayer",
        rates: &rates,
        elements: &elements,
    };
    let mut bytes = Vec::new();
    Radiotap {
        flags: Some(RadiotapFlags::FCS_AT_END | RadiotapFlags::SHORT_PREAMBLE),
        channel: Some(Channel { frequency_mhz: 2_437, flags: Channel::CCK_2GHZ }),
        ..Radiotap::default()
    }
    .with_time(SimTime::from_ns(987_654_321_000))
    .with_rate(BitRate::from_kbps(5_500))
    .with_signal(Dbm(-61.0))
    .emit(&mut bytes);
    bytes.extend(emitted(&Frame::Beacon(beacon)));
    let expected = fields(&[
        ("radiotap.length", "23"),
        ("radiotap.mactime", "987654321"),
        ("radiotap.flags.preamble", "1"),
        ("radiotap.flags.fcs", "1"),
        ("radiotap.flags.badfcs", "0"),
        ("radiotap.datarate", "5.5"),
        ("radiotap.channel.freq", "2437"),
        ("radiotap.channel.flags", "0x00a0"),
        ("radiotap.dbm_antsignal", "-61"),
        ("wlan.fcs.status", GOOD),
        ("wlan.fc.type_subtype", "8"),
        ("wlan.da", "ff:ff:ff:ff:ff:ff"),
        ("wlan.fixed.timestamp", "72623859790382856"),
        ("wlan.fixed.beacon", "100"),
        ("wlan.fixed.capabilities.ess", "1"),
        ("wlan.fixed.capabilities.ibss", "0"),
        ("wlan.fixed.capabilities.short_slot_time", "1"),
        ("wlan.ssid", "696e7465726c61796572"), // "interlayer", in hexadecimal
        ("wlan.supported_rates", "130,132,11,22"),
        ("wlan.ds.current_channel", "6"),
        ("wlan.extended_supported_rates", "108"),
    ]);
    record.write(record.air, &bytes, Some("a beacon, für alle"), expected);
}

/// Damage that tshark must see, or its silence about the rest says nothing.
fn controls(record: &mut Record) {
    let mut bytes = Vec::new();
    data_header().emit_packet(&packet(L4::Echo(Echo::default()), Payload::stream(0, 8)), &mut bytes).unwrap();
    dot11::fcs::spoil(&mut bytes);
    record.frame(&bytes, fields(&[("wlan.fcs.status", BAD)]));
    bytes.clear();
    let tcp = segment(Flags::ACK, 1, 1, TcpOptions::default());
    packet(L4::Tcp(tcp), Payload::stream(0, 8)).emit(&mut bytes).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    record.write(record.cable, &bytes, None, fields(&[("ip.checksum.status", GOOD), ("tcp.checksum.status", BAD)]));
    bytes[8] ^= 1;
    record.write(record.cable, &bytes, None, fields(&[("ip.checksum.status", BAD), ("tcp.checksum.status", BAD)]));
}

#[test]
fn tshark_reads_every_packet_as_we_meant_it_and_finds_nothing_malformed() {
    if !is_here() {
        return;
    }
    let mut record = Record::new();
    tcp(&mut record);
    negative_acks(&mut record);
    reserved_bits_and_notices(&mut record);
    udp_echo_and_lengths(&mut record);
    control_and_data(&mut record);
    beacon(&mut record);
    aggregates::request(&mut record);
    aggregates::a_msdu(&mut record);
    aggregates::modulations(&mut record);
    aggregates::a_mpdus(&mut record);
    let sound = record.expected.len();
    controls(&mut record);
    let Record { writer, expected, .. } = record;

    let mut asked: Vec<&'static str> = ALWAYS.into_iter().chain(STATUS).collect();
    asked.extend(expected.iter().flatten().map(|(field, _)| *field));
    asked.sort_unstable();
    asked.dedup();
    let found = dissect(&writer.finish().unwrap(), &asked);

    assert_eq!(found.len(), expected.len(), "packets that tshark saw");
    let mut bad = Vec::new();
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let at = format!("packet {}, {}", i + 1, found["frame.protocols"]);
        for (field, value) in expected {
            if plain(&found[field]) != plain(value) {
                bad.push(format!("{at}: {field} is {:?}, we meant {value:?}", found[field]));
            }
        }
        if i < sound {
            assert_eq!(found["_ws.malformed"], "", "{at}");
            let severity = &found["_ws.expert.severity"];
            assert!(!severity.split(',').any(|level| level == EXPERT_ERROR), "{at}: expert severity {severity}");
            for field in STATUS.into_iter().chain(["icmp.checksum.status"]) {
                // One for each header of its kind: a notice has two IP headers.
                let all_good = plain(&found[field]).split(',').all(|status| ["", GOOD].contains(&status));
                assert!(all_good, "{at}: {field} {}", found[field]);
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    println!("tshark agrees on {} packets and {} fields", expected.len(), expected.iter().flatten().count());
}
