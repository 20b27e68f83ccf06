//! Both byte orders, resolutions, and arbitrary bytes.

use super::*;
use crate::dot11::MacAddr;
use proptest::prelude::*;
use std::net::Ipv4Addr;
use units::SimTime;

fn capture(packets: &[(u64, Vec<u8>, Option<String>)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), None).unwrap();
    let air = writer.interface(Description::new("air", LinkType::RADIOTAP)).unwrap();
    let wire = writer.interface(Description::new("wire0", LinkType::RAW_IP)).unwrap();
    for (i, (at, bytes, comment)) in packets.iter().enumerate() {
        let interface = if i % 2 == 0 { air } else { wire };
        writer.packet(interface, SimTime::from_ns(*at), bytes, comment.as_deref()).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn a_packet_block_byte_by_byte() {
    let start = capture(&[]).len();
    let bytes = capture(&[(0x1_0000_0002, vec![7, 8, 9], Some("hi".into()))]);
    #[rustfmt::skip]
    let expected = [
        6, 0, 0, 0, 48, 0, 0, 0, // enhanced packet, length
        0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, // interface, time
        3, 0, 0, 0, 3, 0, 0, 0, 7, 8, 9, 0, // lengths, packet, padding
        1, 0, 2, 0, b'h', b'i', 0, 0, 0, 0, 0, 0, // comment, end of options
        48, 0, 0, 0,
    ];
    assert_eq!(bytes[start..], expected);
}

#[test]
fn interfaces_say_their_link_type_name_and_nanoseconds() {
    let bytes = capture(&[]);
    let found = Capture::read(&bytes).unwrap();
    let info = |link_type, name: &'static [u8]| InterfaceInfo { link_type, name: Some(name), tsresol: 9 };
    assert_eq!(found.interfaces, [info(LinkType::RADIOTAP, b"air"), info(LinkType::RAW_IP, b"wire0")]);
}

#[test]
fn an_interface_of_another_writer_and_a_long_comment_are_refused_and_write_nothing() {
    let mut other = Writer::new(Vec::new(), None).unwrap();
    other.interface(Description::new("a", LinkType::RAW_IP)).unwrap();
    let second = other.interface(Description::new("b", LinkType::RAW_IP)).unwrap();
    let mut writer = Writer::new(Vec::new(), None).unwrap();
    let first = writer.interface(Description::new("a", LinkType::RAW_IP)).unwrap();
    assert!(writer.packet(second, SimTime::ZERO, &[], None).is_err());
    assert!(writer.packet(first, SimTime::ZERO, &[1], Some(&"x".repeat(65_536))).is_err());
    writer.packet(first, SimTime::ZERO, &[1], None).unwrap();
    let bytes = writer.finish().unwrap();
    assert_eq!(Capture::read(&bytes).unwrap().packets.len(), 1);
}

#[test]
fn names_block_byte_by_byte() {
    let mut writer = Writer::new(Vec::new(), None).unwrap();
    let start = Writer::new(Vec::new(), None).unwrap().finish().unwrap().len();
    let mac = Some(MacAddr([2, 0, 0, 0, 0, 1]));
    writer.names(&[Named { name: "ap", ipv4: Ipv4Addr::new(10, 1, 0, 2), mac }]).unwrap();
    #[rustfmt::skip]
    let expected = [
        4, 0, 0, 0, 44, 0, 0, 0, // name resolution, length
        1, 0, 7, 0, 10, 1, 0, 2, b'a', b'p', 0, 0, // an IPv4 address and its name, padded
        3, 0, 9, 0, 2, 0, 0, 0, 0, 1, b'a', b'p', 0, 0, 0, 0, // an EUI-48
        0, 0, 0, 0, // end of records
        44, 0, 0, 0,
    ];
    let named = |name| Named { name, ipv4: Ipv4Addr::LOCALHOST, mac: None };
    assert!(writer.names(&[named("fine"), named("a\0b")]).is_err());
    assert!(writer.names(&[named(&"x".repeat(65_536))]).is_err());
    assert_eq!(writer.finish().unwrap()[start..], expected);
}

#[test]
fn a_described_interface_and_a_commented_section_byte_by_byte() {
    let mut writer = Writer::new(Vec::new(), Some("why")).unwrap();
    let (ipv4, mac) = (Some(Ipv4Addr::new(10, 1, 0, 2)), Some(MacAddr([2, 0, 0, 0, 0, 1])));
    writer.interface(Description { name: "x", text: "its air", link_type: LinkType::RADIOTAP, ipv4, mac }).unwrap();
    let bytes = writer.finish().unwrap();
    assert_eq!(bytes[24..32], [1, 0, 3, 0, b'w', b'h', b'y', 0]);
    #[rustfmt::skip]
    let expected = [
        127, 0, 0, 0, 0, 0, 0, 0, // radiotap, no limit
        2, 0, 1, 0, b'x', 0, 0, 0, // if_name
        3, 0, 7, 0, b'i', b't', b's', b' ', b'a', b'i', b'r', 0, // if_description
        4, 0, 8, 0, 10, 1, 0, 2, 255, 255, 255, 255, // if_IPv4addr with mask
        6, 0, 6, 0, 2, 0, 0, 0, 0, 1, 0, 0, // if_MACaddr
        9, 0, 1, 0, 9, 0, 0, 0, // if_tsresol: nanoseconds
        0, 0, 0, 0,
    ];
    let end = bytes.len() - 4;
    assert_eq!(bytes[end - expected.len()..end], expected);
    let found = Capture::read(&bytes).unwrap();
    assert_eq!(found.interfaces[0].name, Some(b"x".as_slice()));
}

/// A section of the other byte order, with microseconds by default and a block of a kind we do not know.
fn big_endian() -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let total = (body.len() as u32 + 12).to_be_bytes();
        [&kind.to_be_bytes(), total.as_slice(), body, &total].concat()
    };
    let header = [&BYTE_ORDER_MAGIC.to_be_bytes(), [0u8, 1, 0, 0].as_slice(), &[0xFF; 8]].concat();
    let packet = [[0u8; 11].as_slice(), &[5], &[0, 0, 0, 2], &[0, 0, 0, 9], &[0xA, 0xB, 0, 0]].concat();
    [
        block(block::SECTION_HEADER, &header),
        block(block::INTERFACE_DESCRIPTION, &[0, 127, 0, 0, 0, 0, 0, 0]),
        block(0xBAD, &[1, 2, 3, 4]),
        block(block::ENHANCED_PACKET, &packet),
    ]
    .concat()
}

#[test]
fn sections_of_both_byte_orders_follow_each_other_and_count_their_own_interfaces() {
    let bytes = [capture(&[(3, vec![1], None)]), big_endian()].concat();
    let found = Capture::read(&bytes).unwrap();
    assert_eq!((found.interfaces.len(), found.packets.len()), (3, 2));
    let at = SimTime::from_ns(5_000); // 5 ticks of a microsecond
    let expected = Captured { interface: 2, at, original_len: 9, bytes: &[0xA, 0xB], comment: None };
    assert_eq!(found.packets[1], expected);
}

#[test]
fn times_of_any_resolution_become_nanoseconds() {
    for (tsresol, ticks, ns) in [
        (9u8, 7u64, 7u64),
        (6, 7, 7_000),
        (0, 7, 7_000_000_000),
        (12, 7_999, 7),
        (127, u64::MAX, 0),
        (0x80 | 1, 3, 1_500_000_000),
        (0x80 | 127, u64::MAX, 0),
        (0, u64::MAX, u64::MAX),
    ] {
        let mut bytes = capture(&[(ticks, vec![], None)]);
        let option = bytes.windows(5).position(|w| w == [9, 0, 1, 0, 9]).unwrap();
        bytes[option + 4] = tsresol;
        assert_eq!(Capture::read(&bytes).unwrap().packets[0].at.ns(), ns, "if_tsresol {tsresol:#x}");
    }
}

#[test]
fn errors_say_where() {
    assert_eq!(Capture::read(&[]), Err(PcapngError::NotPcapng));
    assert_eq!(Capture::read(&[0; 32]), Err(PcapngError::NotPcapng));
    let start = capture(&[]).len();
    let mut bytes = capture(&[(0, vec![1; 8], None)]);
    assert_eq!(Capture::read(&bytes[..bytes.len() - 1]), Err(PcapngError::BlockLength { at: start }));
    bytes[start + 8] = 2;
    assert_eq!(Capture::read(&bytes), Err(PcapngError::NoInterface { at: start, id: 2 }));
    bytes[start + 20] = 99;
    assert_eq!(Capture::read(&bytes), Err(PcapngError::Malformed { at: start, what: "enhanced packet" }));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(packets in proptest::collection::vec(
        (any::<u64>(), proptest::collection::vec(any::<u8>(), 0..40), proptest::option::of(".{0,9}")), 0..6)) {
        let bytes = capture(&packets);
        let found = Capture::read(&bytes).unwrap();
        prop_assert_eq!(found.packets.len(), packets.len());
        for (i, (found, (at, bytes, comment))) in found.packets.iter().zip(&packets).enumerate() {
            prop_assert_eq!((found.interface, found.at.ns(), found.bytes), (i % 2, *at, bytes.as_slice()));
            prop_assert_eq!(found.original_len as usize, bytes.len());
            prop_assert_eq!(found.comment, comment.as_ref().map(|c| c.as_bytes()));
        }
    }

    #[test]
    fn arbitrary_and_damaged_bytes_do_not_panic(
        noise in proptest::collection::vec(any::<u8>(), 0..64),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let _ = Capture::read(&noise);
        for mut bytes in [capture(&[(1, noise.clone(), Some("c".into()))]), big_endian()] {
            for (at, value) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            let _ = Capture::read(&bytes);
            let _ = Capture::read(&bytes[..cut.index(bytes.len())]);
        }
    }
}
