//! @RFC3561 sec. 5 and 9: the bytes of messages, as the figures of the text have them.

use crate::aodv_bench::{error, reply, request};
use net::router::aodv::{Error, Message, Number, Reply};

#[test]
fn rfc3561_5_1_a_request_has_24_bytes() {
    // Type 1, flags G and D at bits 2 and 3 behind J and R, hop count 3; RREQ ID; destination; its number; originator; its number.
    let Message::Request(mut asked) = request(1, 0x0102_0304, 7, 3, 2, Some(0x0a0b_0c0d)) else { unreachable!() };
    (asked.gratuitous, asked.destination_only) = (true, true);
    let bytes = [1, 0x30, 0, 3, 0, 0, 0, 7, 10, 1, 0, 3, 0x0a, 0x0b, 0x0c, 0x0d, 10, 1, 0, 2, 0x01, 0x02, 0x03, 0x04];
    assert_eq!(Message::Request(asked.clone()).bytes(), bytes);
    assert_eq!(Message::read(&bytes), Some(Message::Request(asked)));
}

#[test]
fn rfc3561_5_1_the_u_flag_stands_for_an_unknown_number() {
    let bytes = request(1, 5, 7, 3, 2, None).bytes();
    assert_eq!((bytes[1], &bytes[12..16]), (0x08, &[0; 4][..]));
    assert_eq!(Message::read(&bytes), Some(request(1, 5, 7, 3, 2, None)));
}

#[test]
fn rfc3561_5_2_a_reply_has_20_bytes() {
    let Message::Reply(it) = reply(2, 9, 4, 1) else { unreachable!() };
    let it = Reply { wants_ack: true, prefix: 17, ..it };
    let bytes = [2, 0x40, 17, 4, 10, 1, 0, 3, 0, 0, 0, 9, 10, 1, 0, 2, 0, 0, 0x17, 0x70];
    assert_eq!(Message::Reply(it.clone()).bytes(), bytes);
    assert_eq!(Message::read(&bytes), Some(Message::Reply(it)));
}

#[test]
fn rfc3561_5_3_an_error_has_4_bytes_and_8_for_each_destination() {
    let bytes = [3, 0x80, 0, 2, 10, 1, 0, 3, 0, 0, 0, 9, 10, 1, 0, 4, 0, 0, 0, 8];
    let Message::Error(it) = error(&[(2, 9), (3, 8)]) else { unreachable!() };
    let it = Message::Error(Error { no_delete: true, ..it });
    assert_eq!(it.bytes(), bytes);
    assert_eq!(Message::read(&bytes), Some(it));
    assert_eq!(Message::read(&[3, 0, 0, 0]), None, "DestCount is at least 1");
}

#[test]
fn rfc3561_5_4_an_acknowledgement_has_2_bytes() {
    assert_eq!(Message::ReplyAck.bytes(), [4, 0]);
    assert_eq!(Message::read(&[4, 0]), Some(Message::ReplyAck));
}

#[test]
fn rfc3561_5_reserved_bits_are_ignored_on_reception() {
    let mut bytes = request(1, 5, 7, 3, 2, Some(4)).bytes();
    (bytes[1], bytes[2]) = (bytes[1] | 0xc7, 0xff);
    assert_eq!(Message::read(&bytes), Some(request(1, 5, 7, 3, 2, Some(4))));
    assert_eq!(Message::read(&[4, 0xff]), Some(Message::ReplyAck));
}

#[test]
fn rfc3561_9_1_the_hello_interval_is_an_extension_of_6_bytes() {
    let Message::Reply(it) = reply(1, 9, 0, 1) else { unreachable!() };
    let it = Message::Reply(Reply { hello_interval_ms: Some(500), ..it });
    let bytes = it.bytes();
    assert_eq!(bytes[20..], [1, 4, 0, 0, 1, 0xf4]);
    assert_eq!(Message::read(&bytes), Some(it));
}

#[test]
fn rfc3561_9_extensions_below_128_are_skipped_and_others_are_not() {
    let plain = reply(1, 9, 0, 1);
    let with = |extension: &[u8]| [&plain.bytes()[..], extension].concat();
    assert_eq!(Message::read(&with(&[127, 3, 1, 2, 3])), Some(plain.clone()));
    assert_eq!(Message::read(&with(&[128, 0])), None);
    for cut in [&[7][..], &[7, 3, 1]] {
        assert_eq!(Message::read(&with(cut)), None);
    }
}

#[test]
fn a_message_that_is_cut_anywhere_is_none() {
    for whole in [request(1, 5, 7, 3, 2, None), reply(2, 9, 4, 1), error(&[(2, 9), (3, 8)]), Message::ReplyAck] {
        let bytes = whole.bytes();
        (0..bytes.len()).for_each(|len| assert_eq!(Message::read(&bytes[..len]), None));
    }
    assert_eq!(Message::read(&[5, 0]), None, "an unknown type");
    assert_eq!(Number(u32::MAX).next(), Number(0));
}
