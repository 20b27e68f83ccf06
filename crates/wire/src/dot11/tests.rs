//! Worked frames, and properties over all frames and over arbitrary bytes.

use super::*;
use crate::{Content, Echo, Ipv4, L4, Packet, Payload};
use proptest::prelude::*;
use units::{BitRate, Dur, FlowId, NodeId};

fn emitted(frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    frame.emit(&mut out).unwrap();
    out
}

fn node(n: u32) -> MacAddr {
    MacAddr::of_node(NodeId(n))
}

fn echo() -> Packet {
    let l4 = L4::Echo(Echo { reply: false, id: 1, seq: 2 });
    Packet { ip: Ipv4::default(), l4, payload: Payload::stream(0, 40), flow: FlowId::NONE }
}

#[test]
fn the_lengths_are_those_of_the_frames() {
    let (flags, duration) = (FrameFlags::NONE, DurationField::ZERO);
    let (ra, ta) = (node(1), node(2));
    assert_eq!(emitted(&Frame::Ack(Ack { flags, duration, ra })).len() as u64, len::ACK.0);
    assert_eq!(emitted(&Frame::Cts(Cts { flags, duration, ra })).len() as u64, len::CTS.0);
    assert_eq!(emitted(&Frame::Rts(Rts { flags, duration, ra, ta })).len() as u64, len::RTS.0);
    let plain = DataHeader::ibss(ra, ta, MacAddr::ibss(1));
    let mut out = Vec::new();
    plain.emit_packet(&echo(), &mut out).unwrap();
    assert_eq!(out.len() as u64, len::DATA_HEADER.0 + len::LLC_SNAP.0 + echo().ip_len().0 + len::FCS.0);
    let qos = DataHeader { qos: Some(QosControl::new(0, AckPolicy::Normal)), ..plain };
    out.clear();
    qos.emit_packet(&echo(), &mut out).unwrap();
    assert_eq!(out.len() as u64, len::QOS_HEADER.0 + len::LLC_SNAP.0 + echo().ip_len().0 + len::FCS.0);
}

#[test]
fn an_rts_byte_by_byte() {
    let duration = DurationField::covering(Dur::from_us(0x0102));
    let rts = Frame::Rts(Rts { flags: FrameFlags::RETRY, duration, ra: node(0x0304), ta: node(5) });
    let bytes = emitted(&rts);
    // Frame Control: version 00, type 01, subtype 1011, sent lowest bit first: b4; retry 08. Duration, low byte first.
    assert_eq!(bytes[..16], [0xb4, 0x08, 0x02, 0x01, 2, 0, 0, 0, 3, 4, 2, 0, 0, 0, 0, 5]);
    assert_eq!(Frame::parse(&bytes), Ok(rts));
    assert_eq!((rts.duration().us(), rts.receiver()), (0x0102, node(0x0304)));
}

#[test]
fn a_block_ack_byte_by_byte_and_its_bitmaps_by_the_fragment_number() {
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(Dur::from_us(44)));
    let bits: Vec<u8> = (0..128).collect();
    // The length is in the lowest four bits of the Starting Sequence Control: 8, 32, 64, 128 octets. Above them 0xABC.
    for (octets, low) in [(8, 0xC0), (32, 0xC4), (64, 0xC8), (128, 0xCA)] {
        let (bitmap, behind) = (&bits[..octets], &[][..]);
        let (ra, ta, ht_control) = (node(1), node(2), None);
        let block_ack = BlockAck { flags, duration, ht_control, ra, ta, tid: 6, start: 0xABC, bitmap, behind };
        let frame = Frame::BlockAck(block_ack);
        let bytes = emitted(&frame);
        // Type 01, subtype 1001. BA Control: compressed in bits 1 to 4, the TID in the upper four.
        assert_eq!(bytes[..4], [0x94, 0, 44, 0]);
        assert_eq!(bytes[16..20], [0x04, 0x60, low, 0xAB]);
        assert_eq!((bytes.len(), &bytes[20..20 + octets]), (24 + octets, bitmap));
        assert_eq!(Frame::parse(&bytes), Ok(frame));
        assert_eq!((frame.duration().us(), frame.receiver()), (44, node(1)));
        let cut = &bytes[..bytes.len() - 5];
        assert_eq!(Frame::parse_without_fcs(cut), Err(FrameError::Truncated("the Block Ack bitmap")));
        // A scheme's load lies between bitmap and FCS.
        let loaded = Frame::BlockAck(BlockAck { behind: &[7, 8, 9], ..block_ack });
        let bytes = emitted(&loaded);
        assert_eq!((bytes.len(), &bytes[20 + octets..23 + octets]), (27 + octets, &[7, 8, 9][..]));
        assert_eq!(Frame::parse(&bytes), Ok(loaded));
    }
    let (ra, ta, bitmap) = (node(1), node(2), &bits[..16]);
    let odd = BlockAck { flags, duration, ht_control: None, ra, ta, tid: 0, start: 0, bitmap, behind: &[] };
    let mut out = vec![1];
    assert!(matches!(Frame::BlockAck(odd).emit(&mut out), Err(EmitError::Unsupported(_))));
    assert_eq!(out, [1]);
}

#[test]
fn a_block_ack_in_a_control_wrapper_byte_by_byte() {
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(Dur::from_us(44)));
    let (ra, ta, ht_control) = (node(1), node(2), Some(HtControl::ht(false, true)));
    let bitmap: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8];
    let frame =
        Frame::BlockAck(BlockAck { flags, duration, ht_control, ra, ta, tid: 6, start: 0xABC, bitmap, behind: &[] });
    let bytes = emitted(&frame);
    // Type 01, subtype 0111. Behind Address 1 the Frame Control that is carried and HT Control; the rest as without a wrapper.
    assert_eq!(bytes[..16], [0x74, 0, 44, 0, 2, 0, 0, 0, 0, 1, 0x94, 0, 0x00, 0xFE, 0x00, 0x80]);
    assert_eq!(bytes[16..26], [2, 0, 0, 0, 0, 2, 0x04, 0x60, 0xC0, 0xAB]);
    assert_eq!(bytes.len(), 38);
    assert_eq!(Frame::parse(&bytes), Ok(frame));
    let with = |at: usize, value| {
        let mut other = bytes[..34].to_vec();
        other[at] = value;
        Frame::parse_without_fcs(&other).unwrap_err().to_string()
    };
    let refused = "a Control Wrapper around anything but a Block Ack with its flags is not modelled";
    assert_eq!([with(10, 0xD4), with(11, 0x08)], [refused; 2]);
    assert_eq!(Frame::parse_without_fcs(&bytes[..14]), Err(FrameError::Truncated("HT Control")));
}

#[test]
fn a_block_ack_request_byte_by_byte() {
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(Dur::from_us(48)));
    let frame = Frame::BlockAckReq(BlockAckReq { flags, duration, ra: node(1), ta: node(2), tid: 6, start: 0xABC });
    let bytes = emitted(&frame);
    // Type 01, subtype 1000. BAR Control: compressed in bits 1 to 4, the TID in the upper four. The number above four zero bits.
    assert_eq!(bytes[..20], [0x84, 0, 48, 0, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x04, 0x60, 0xC0, 0xAB]);
    assert_eq!(bytes.len() as u64, len::BLOCK_ACK_REQ.0);
    assert_eq!(Frame::parse(&bytes), Ok(frame));
    assert_eq!((frame.duration().us(), frame.receiver()), (48, node(1)));
    let with = |at: usize, value| {
        let mut other = bytes[..20].to_vec();
        other[at] = value;
        Frame::parse_without_fcs(&other).unwrap_err().to_string()
    };
    assert_eq!(with(16, 0x06), "a Block Ack Request that is not compressed is not modelled");
    assert_eq!(with(16, 0x05), "BAR Control with an ack policy or a reserved bit is not modelled");
    assert_eq!(with(18, 0xC4), "a Block Ack Request of fragments is not modelled");
    assert_eq!(Frame::parse_without_fcs(&bytes[..17]), Err(FrameError::Truncated("BAR Control")));
    assert_eq!(Frame::parse_without_fcs(&bytes[..21]), Err(FrameError::Trailing(1)));
}

#[test]
fn a_cf_end_byte_by_byte() {
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(Dur::ZERO));
    let frame = Frame::CfEnd(CfEnd { flags, duration, ra: MacAddr::BROADCAST, bssid: node(2) });
    let bytes = emitted(&frame);
    // Type 01, subtype 1110.
    assert_eq!(bytes[..16], [0xE4, 0, 0, 0, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 2]);
    assert_eq!((bytes.len(), Frame::parse(&bytes)), (20, Ok(frame)));
    assert_eq!((frame.duration().us(), frame.receiver()), (0, MacAddr::BROADCAST));
}

#[test]
fn an_a_msdu_byte_by_byte() {
    let datagram = |len| Packet { payload: Payload::stream(0, len), ..echo() };
    let packets = [datagram(1), datagram(40)];
    let header = DataHeader {
        qos: Some(QosControl::new(5, AckPolicy::Normal)),
        ..DataHeader::ibss(node(1), node(2), node(3))
    };
    let mut bytes = Vec::new();
    header.emit_amsdu(packets.iter().map(|packet| (node(7), node(8), packet)), &mut bytes).unwrap();
    // Subtype QoS data; the TID in the lowest bits, the A-MSDU bit above the ack policy.
    assert_eq!((bytes[0], bytes[24], bytes[25]), (0x88, 0x85, 0));
    // DA, SA, and 8 + 20 + 8 + 1 = 37 bytes of MSDU, high byte first; 14 + 37 are 51, so one of padding. The last has none.
    assert_eq!(bytes[26..40], [2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8, 0, 37]);
    assert_eq!(bytes[40..48], LLC_SNAP_IPV4);
    assert_eq!(bytes[77], 0);
    assert_eq!(bytes[78..92], [2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8, 0, 76]);
    assert_eq!(bytes.len(), 26 + 52 + 14 + 76 + 4);
    let Ok(Frame::Data(Data { header: read, body: Body::Raw(body), .. })) = Frame::parse(&bytes) else {
        panic!("no A-MSDU")
    };
    assert!(read.qos.is_some_and(QosControl::amsdu_present));
    let found: Vec<Subframe<'_>> = Amsdu::of(body).map(|it| it.unwrap()).collect();
    for (subframe, packet) in found.iter().zip(&packets) {
        assert_eq!((subframe.da, subframe.sa), (node(7), node(8)));
        let mut ip = Vec::new();
        packet.emit(&mut ip).unwrap();
        assert_eq!(subframe.ip(), Some(ip.as_slice()));
    }
    assert_eq!(found.len(), 2);
    let ends: Vec<bool> = Amsdu::of(&body[..body.len() - 1]).map(|it| it.is_ok()).collect();
    assert_eq!(ends, [true, false], "the second is cut short");
    let without = DataHeader { qos: None, ..header };
    bytes.truncate(1);
    assert!(matches!(without.emit_amsdu(std::iter::empty(), &mut bytes), Err(EmitError::Unsupported(_))));
    assert_eq!(bytes.len(), 1);
}

#[test]
fn a_packet_travels_in_a_frame_and_comes_out() {
    let header = DataHeader {
        sequence: SequenceControl::new(77, 0),
        duration: DurationField::covering(Dur::from_us(44)),
        ..DataHeader::ibss(node(1), node(2), MacAddr::ibss(9))
    };
    let (mut frame, mut ip) = (Vec::new(), Vec::new());
    header.emit_packet(&echo(), &mut frame).unwrap();
    echo().emit(&mut ip).unwrap();
    assert_eq!(frame[24..32], LLC_SNAP_IPV4);
    let data = Data { header, options: None, body: Body::Ip(&ip) };
    assert_eq!(Frame::parse(&frame), Ok(Frame::Data(data)));
    assert_eq!(emitted(&Frame::Data(data)), frame);
}

#[test]
fn addresses_mean_what_the_ds_bits_say() {
    let (ap, sta, server) = (node(1), node(2), node(3));
    let up = DataHeader::to_ap(ap, sta, server);
    assert_eq!((up.addr1, up.da(), up.sa(), up.bssid()), (ap, server, sta, ap));
    let down = DataHeader::from_ap(sta, ap, server);
    assert_eq!((down.addr1, down.da(), down.sa(), down.bssid()), (sta, sta, server, ap));
    let direct = DataHeader::ibss(sta, server, MacAddr::ibss(1));
    assert_eq!((direct.da(), direct.sa(), direct.bssid()), (sta, server, MacAddr::ibss(1)));
}

#[test]
fn formats_we_do_not_have_are_refused_both_ways_and_write_nothing() {
    let plain = DataHeader::ibss(node(1), node(2), MacAddr::ibss(1));
    let four = DataHeader { flags: FrameFlags::TO_DS | FrameFlags::FROM_DS, ..plain };
    let htc = DataHeader { flags: FrameFlags::HTC, qos: Some(QosControl::default()), ..plain };
    for header in [four, htc] {
        let mut out = vec![1];
        let body = Body::Raw(&[]);
        assert!(matches!(
            Frame::Data(Data { header, options: None, body }).emit(&mut out),
            Err(EmitError::Unsupported(_))
        ));
        assert!(matches!(header.emit_packet(&echo(), &mut out), Err(EmitError::Unsupported(_))));
        assert_eq!(out, [1]);
    }
    let bad = Packet { payload: Payload::new(3, Content::Bytes([1u8].as_slice().into())), ..echo() };
    let mut out = vec![1];
    assert!(plain.emit_packet(&bad, &mut out).is_err());
    assert_eq!(out, [1]);
    assert!(matches!(Frame::parse_without_fcs(&[0x48, 0]), Err(FrameError::Unsupported(_)))); // Null
    assert!(matches!(Frame::parse_without_fcs(&[0x09, 0]), Err(FrameError::Unsupported(_)))); // version 1
    assert_eq!(Frame::parse_without_fcs(&[0xd4, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]), Err(FrameError::Trailing(1)));
    let association_id = [0xd4, 0, 0x01, 0xc0, 1, 2, 3, 4, 5, 6];
    assert!(matches!(Frame::parse_without_fcs(&association_id), Err(FrameError::Unsupported(_))));
}

#[test]
fn rates_are_written_in_units_of_500_kbps() {
    assert_eq!(rate(BitRate::from_kbps(1_000), true), Some(0x82));
    assert_eq!(rate(BitRate::from_kbps(5_500), false), Some(11));
    assert_eq!(rate(BitRate::from_kbps(54_000), true), Some(0xec));
    assert_eq!(rate(BitRate::from_kbps(5_600), false), None);
    assert_eq!(rate(BitRate::from_kbps(64_000), false), None);
    assert_eq!(rate(BitRate::from_bps(0), false), None);
}

#[test]
fn a_beacon_whose_elements_break_their_bounds_has_no_bytes() {
    let good = Beacon {
        flags: FrameFlags::NONE,
        duration: DurationField::ZERO,
        da: MacAddr::BROADCAST,
        sa: node(1),
        bssid: node(1),
        sequence: SequenceControl::default(),
        timestamp_us: 1,
        interval_tu: 100,
        capability: Capability::ESS,
        ssid: b"interlayer",
        rates: &[0x82, 0x84],
        elements: &[],
    };
    let mut out = Vec::new();
    for bad in [Beacon { ssid: &[0; 33], ..good }, Beacon { rates: &[], ..good }, Beacon { rates: &[2; 9], ..good }] {
        assert!(matches!(Frame::Beacon(bad).emit(&mut out), Err(EmitError::Element { .. })));
        assert!(out.is_empty());
    }
    assert!(element::push(element::SSID, &[0; 256], &mut out).is_err() && out.is_empty());
    assert_eq!(Frame::parse(&emitted(&Frame::Beacon(good))), Ok(Frame::Beacon(good)));
}

/// A frame with its own storage, since [`Frame`] borrows its body.
#[derive(Debug, Clone)]
struct Owned {
    which: u8,
    fields: (u8, u16, [MacAddr; 3], SequenceControl, Option<QosControl>, u64),
    body: Vec<u8>,
    short: Vec<u8>,
    bitmap: Vec<u8>,
}

impl Owned {
    fn frame(&self) -> Frame<'_> {
        let (flags, duration, [ra, ta, addr3], sequence, qos, number) = self.fields;
        let (flags, duration) = (FrameFlags(flags), DurationField::from_us(duration).unwrap());
        let control = HtControl(number as u32);
        let ht_control = (qos.is_some() && flags.has(FrameFlags::HTC)).then_some(control);
        let header = DataHeader { flags, duration, addr1: ra, addr2: ta, addr3, sequence, qos, ht_control };
        match self.which {
            0 => Frame::Ack(Ack { flags, duration, ra }),
            1 => Frame::Cts(Cts { flags, duration, ra }),
            2 => Frame::Rts(Rts { flags, duration, ra, ta }),
            3 => Frame::Data(Data { header, options: None, body: Body::Ip(&self.body) }),
            4 => Frame::Data(Data { header, options: None, body: Body::Raw(&self.body) }),
            5 => {
                let header = DataHeader { qos: qos.or(Some(QosControl(0))), ht_control: None, ..header };
                Frame::Data(Data { header, options: Some(&self.short), body: Body::Ip(&self.body) })
            }
            6 => {
                let (tid, start) = (number as u8 & 0xF, sequence.number());
                Frame::BlockAckReq(BlockAckReq { flags, duration, ra, ta, tid, start })
            }
            7 => {
                let (tid, start, bitmap) = (number as u8 & 0xF, sequence.number(), &self.bitmap);
                let behind = &self.short;
                let ht_control = (number & 0x10 > 0).then_some(control);
                Frame::BlockAck(BlockAck { flags, duration, ht_control, ra, ta, tid, start, bitmap, behind })
            }
            _ => Frame::Beacon(Beacon {
                flags,
                duration,
                da: ra,
                sa: ta,
                bssid: addr3,
                sequence,
                timestamp_us: number,
                interval_tu: number as u16,
                capability: Capability((number >> 16) as u16),
                ssid: &self.short,
                rates: &[0x82, 0x84, 0x8b, 0x96],
                elements: &self.body,
            }),
        }
    }
}

fn frame() -> impl Strategy<Value = Owned> {
    let addr = || any::<[u8; 6]>().prop_map(MacAddr);
    let fields = (
        any::<u8>(),
        0u16..32_768,
        [addr(), addr(), addr()],
        (any::<u16>(), any::<bool>()).prop_map(|(n, later)| SequenceControl::new(n, if later { n as u8 } else { 0 })),
        proptest::option::of(any::<u16>().prop_map(QosControl)),
        any::<u64>(),
    );
    let bytes = |n: usize| proptest::collection::vec(any::<u8>(), 0..n);
    let bitmap =
        prop::sample::select(vec![8, 32, 64, 128]).prop_flat_map(|n| proptest::collection::vec(any::<u8>(), n));
    (0u8..9, fields, bytes(120), bytes(33), bitmap).prop_map(|(which, fields, body, short, bitmap)| Owned {
        which,
        fields,
        body,
        short,
        bitmap,
    })
}

fn comes_back(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(frame) = Frame::parse(bytes) {
        prop_assert_eq!(emitted(&frame), bytes);
    }
    if let Ok(frame) = Frame::parse_without_fcs(bytes) {
        let mut whole = bytes.to_vec();
        fcs::append(&mut whole, 0);
        prop_assert_eq!(emitted(&frame), whole);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_frame_survives_its_bytes(owned in frame()) {
        let frame = owned.frame();
        let mut bytes = Vec::new();
        match frame.emit(&mut bytes) {
            Err(EmitError::Unsupported(_)) => prop_assert!(bytes.is_empty()),
            done => {
                prop_assert!(done.is_ok());
                let back = Frame::parse(&bytes).unwrap();
                prop_assert_eq!(emitted(&back), bytes.as_slice());
                match (frame, back) {
                    // LLC and SNAP are looked for only where an MSDU begins in the clear.
                    (Frame::Data(Data { body: Body::Ip(_), header, .. }), Frame::Data(Data { body: Body::Raw(_), header: h, .. }))
                        if header == h => {
                        let flagged = header.flags.has(FrameFlags::PROTECTED) || header.qos.is_some_and(QosControl::amsdu_present);
                        prop_assert!(flagged || header.sequence.fragment() != 0);
                    }
                    _ => prop_assert_eq!(back, frame),
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_fail_or_come_back(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), which in 0usize..10) {
        const KINDS: [u8; 9] = [
            kind::BEACON, kind::RTS, kind::CTS, kind::ACK, kind::BLOCK_ACK, kind::BLOCK_ACK_REQ, kind::DATA, kind::QOS_DATA,
            kind::EXTENDED_DATA,
        ];
        if let (Some(first), Some(known)) = (bytes.first_mut(), KINDS.get(which)) {
            *first = *known;
        }
        comes_back(&bytes)?;
    }

    #[test]
    fn every_a_msdu_survives_its_bytes(payloads in proptest::collection::vec(0u32..80, 1..9), cut in any::<prop::sample::Index>()) {
        let packets: Vec<Packet> = payloads.iter().map(|len| Packet { payload: Payload::stream(9, *len), ..echo() }).collect();
        let header = DataHeader { qos: Some(QosControl(0)), ..DataHeader::ibss(node(1), node(2), node(3)) };
        let mut bytes = Vec::new();
        prop_assert_eq!(header.emit_amsdu(packets.iter().map(|packet| (node(4), node(5), packet)), &mut bytes), Ok(()));
        let body = &bytes[26..bytes.len() - 4];
        let found: Result<Vec<Subframe<'_>>, FrameError> = Amsdu::of(body).collect();
        let found = found.unwrap();
        prop_assert_eq!(found.len(), packets.len());
        for (subframe, packet) in found.iter().zip(&packets) {
            let mut ip = Vec::new();
            packet.emit(&mut ip).unwrap();
            prop_assert_eq!(subframe.ip(), Some(ip.as_slice()));
        }
        // Cut anywhere, it ends or fails, and does not go on.
        prop_assert!(Amsdu::of(&body[..cut.index(body.len())]).count() <= packets.len());
    }

    #[test]
    fn damaged_and_cut_frames_fail_or_come_back(
        owned in frame(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        if owned.frame().emit(&mut bytes).is_ok() {
            for (at, value) in damage {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            comes_back(&bytes)?;
            comes_back(&bytes[..cut.index(bytes.len())])?;
        }
    }
}
