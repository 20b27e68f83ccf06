//! @RFC4728 sec. 6: the bytes of options, as the figures of the text have them.

use crate::dsr_bench::{error, ip, ips, reply, request, route};
use net::router::dsr::{Ack, Choice, Error, ErrorKind, Header, Reply, SourceRoute};

/// The bytes of a header with one option, behind the fixed part.
fn bytes(option: Choice) -> Vec<u8> {
    let header = Header(vec![option]);
    let bytes = header.bytes();
    assert_eq!(Header::read(&bytes), Some(header), "what is written is read");
    bytes[4..].to_vec()
}

#[test]
fn rfc4728_6_1_the_fixed_part_has_the_length_of_the_options_and_no_flag() {
    // Next Header (written with the packet), F and reserved, Payload Length: 4 + 4 * 2 bytes of a source route.
    assert_eq!(Header(vec![Choice::Route(route(&[1, 2], 2, 0))]).bytes()[..4], [0, 0, 0, 12]);
    assert_eq!(Header::default().bytes(), [0, 0, 0, 0]);
    assert_eq!(Header::read(&[59, 0, 0, 0]), Some(Header::default()));
}

#[test]
fn rfc4728_6_2_a_request_has_8_bytes_and_4_for_each_node() {
    // Type 1, 6 + 4 * 2 bytes, identification, target, the nodes.
    let hand = [1, 14, 0x12, 0x34, 10, 1, 0, 10, 10, 1, 0, 2, 10, 1, 0, 3];
    assert_eq!(bytes(request(0x1234, 9, &[1, 2])), hand);
    assert_eq!(bytes(request(7, 9, &[])), [1, 6, 0, 7, 10, 1, 0, 10]);
}

#[test]
fn rfc4728_6_3_a_reply_has_3_bytes_and_4_for_each_node_and_is_padded() {
    // Type 2, 1 + 4 * 2 bytes, no L; then one byte of Pad1.
    let hand = [2, 9, 0, 10, 1, 0, 2, 10, 1, 0, 10, 224];
    assert_eq!(bytes(reply(&[1, 9])), hand);
    let external = Choice::Reply(Reply { is_last_external: true, hops: ips(&[9]) });
    assert_eq!(bytes(external)[..3], [2, 5, 0x80]);
}

#[test]
fn rfc4728_6_4_an_error_has_16_bytes_with_salvage_in_the_low_bits() {
    // Type 3, 10 + 4 bytes, NODE_UNREACHABLE, salvage 5, source, destination, the node.
    let kind = ErrorKind::Unreachable(ip(3));
    let it = Choice::Error(Error { salvage: 5, source: ip(2), destination: ip(0), kind });
    assert_eq!(bytes(it), [3, 14, 1, 5, 10, 1, 0, 3, 10, 1, 0, 1, 10, 1, 0, 4]);
}

#[test]
fn rfc4728_6_4_3_an_option_that_is_not_known_is_told_by_its_type() {
    let it = Error { salvage: 0, source: ip(2), destination: ip(0), kind: ErrorKind::NotSupported(0xc1) };
    // 10 + 1 bytes; three of PadN behind.
    assert_eq!(bytes(Choice::Error(it)), [3, 11, 3, 0, 10, 1, 0, 3, 10, 1, 0, 1, 0xc1, 0, 1, 0]);
}

#[test]
fn rfc4728_6_5_and_6_6_acknowledgements_are_of_types_160_and_32() {
    assert_eq!(bytes(Choice::AckRequest(0x0102)), [160, 2, 1, 2]);
    let it = Choice::Ack(Ack { id: 0x0102, source: ip(1), destination: ip(0) });
    assert_eq!(bytes(it), [32, 10, 1, 2, 10, 1, 0, 2, 10, 1, 0, 1]);
}

#[test]
fn rfc4728_6_7_a_source_route_packs_its_flags_salvage_and_segments_into_16_bits() {
    // F 1, L 0, four reserved, salvage 0b1010, segments left 0b000010: 1000 0010 1000 0010.
    let it = SourceRoute { external: [true, false], salvage: 10, ..SourceRoute::over(&ips(&[1, 2])) };
    assert_eq!(bytes(Choice::Route(it)), [96, 10, 0x82, 0x82, 10, 1, 0, 2, 10, 1, 0, 3]);
    let it = SourceRoute { external: [false, true], ..SourceRoute::over(&[]) };
    assert_eq!(bytes(Choice::Route(it)), [96, 2, 0x40, 0]);
}

#[test]
fn rfc4728_6_8_and_6_9_padding_is_passed_over_wherever_it_stands() {
    let read = |options: &[u8]| Header::read(&[&[59, 0, 0, options.len() as u8], options].concat());
    let want = Some(Header(vec![request(7, 9, &[])]));
    assert_eq!(read(&[224, 0, 2, 0, 0, 224, 1, 6, 0, 7, 10, 1, 0, 10, 0, 0]), want);
}

#[test]
fn rfc4728_6_a_header_is_a_multiple_of_four_bytes() {
    for nodes in 0..9 {
        let all: Vec<u32> = (1..=nodes + 1).collect();
        for options in
            [vec![reply(&all)], vec![reply(&all), reply(&all)], vec![reply(&all), error(1, 2, 3), reply(&all)]]
        {
            assert_eq!(Header(options).bytes().len() % 4, 0);
        }
    }
}

#[test]
fn rfc4728_6_reserved_bits_are_ignored_on_reception() {
    let mut bytes = Header(vec![Choice::Route(route(&[1, 2], 1, 3)), error(1, 2, 3), reply(&[4])]).bytes();
    let want = Header::read(&bytes);
    bytes[1] |= 0x7f;
    bytes[6] |= 0x3c; // the four bits behind F and L
    bytes[4 + 12 + 3] |= 0xf0; // before an error's salvage
    bytes[4 + 12 + 16 + 2] |= 0x7f; // behind a reply's L
    assert!(want.is_some());
    assert_eq!(Header::read(&bytes), want);
}

#[test]
fn rfc4728_7_1_a_header_of_flow_state_is_not_known() {
    assert_eq!(Header::read(&[59, 0x80, 0, 0]), None);
}

#[test]
fn cut_headers_and_contradictions_are_refused() {
    let whole = Header(vec![request(7, 9, &[1, 2])]).bytes();
    (0..whole.len()).for_each(|len| assert_eq!(Header::read(&whole[..len]), None, "{len} bytes"));
    let with = |options: &[u8]| Header::read(&[&[59, 0, 0, options.len() as u8], options].concat());
    assert_eq!(with(&[1, 7, 0, 7, 10, 1, 0, 10, 1]), None, "a request with a quarter of an address");
    assert_eq!(with(&[2, 1, 0]), None, "a reply without a way");
    assert_eq!(with(&[96, 6, 0, 2, 10, 1, 0, 2]), None, "two segments left of one (8.1.5)");
    assert_eq!(with(&[96, 2, 0, 0, 96, 2, 0, 0]), None, "two source routes");
    assert_eq!(with(&[1, 6, 0, 7, 10, 1, 0, 10, 1, 6, 0, 7, 10, 1, 0, 10]), None, "two requests (6.2)");
    assert_eq!(with(&[3, 10, 1, 0, 10, 1, 0, 3, 10, 1, 0, 1]), None, "an error that names no node");
}
