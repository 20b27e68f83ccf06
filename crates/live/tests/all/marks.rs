//! Congestion marks of a queue in packets that nobody has read.

use crate::packets::{AP, CELL, PHONE, gate, headed, ms, sealed, six, udp};
use net::address6;
use units::Dur;

#[test]
fn marks_of_a_queue_arrive_in_packets_that_are_not_read() {
    // Each 1400 B take 400 us of the air at 54 Mb/s with what goes with them: what comes every 200 us waits longer and longer.
    let queue = "queue = { discipline = \"codel\", packets = 1000, ecn = true, ce_threshold = \"20 ms\" }";
    let mut gate = gate(&CELL.replace("\"802.11g\" }", &format!("\"802.11g\", {queue} }}")));
    let capable = |mut bytes: Vec<u8>| {
        match bytes[0] >> 4 {
            4 => bytes[1] = 0xB8 | 2,
            _ => (bytes[0], bytes[1]) = (0x6B, 0x8F | 2 << 4),
        }
        bytes
    };
    let fragment = {
        let mut bytes = capable(udp(AP, PHONE, [1, 2], 1372));
        bytes[6] = 0x20;
        headed(bytes)
    };
    let sent =
        [fragment, sealed(capable(udp(AP, PHONE, [1, 2], 1372))), capable(six(AP, address6(PHONE), 17, &[5; 1360]))];
    let mut found = [[0; 2]; 3];
    for i in 0..600 {
        let at = ms(0) + Dur::from_us(200 * i);
        gate.drive().advance(at).unwrap();
        gate.enter(AP, &sent[i as usize % 3], at);
    }
    gate.drive().advance(ms(1000)).unwrap();
    gate.leave(PHONE, |_, bytes| {
        let kind = if bytes[0] >> 4 == 6 { 2 } else { usize::from(bytes[6] & 0x20 == 0) };
        let is_marked = bytes != sent[kind];
        let mut marked = sent[kind].clone();
        match kind {
            2 => marked[1] |= 3 << 4,
            _ => marked[1] |= 3,
        }
        let marked = if kind == 2 { marked } else { headed(marked) };
        assert_eq!(bytes, if is_marked { &marked } else { &sent[kind] }, "the mark, and nothing else");
        found[kind][usize::from(is_marked)] += 1;
    });
    assert!(found.iter().flatten().all(|count| *count > 10), "{found:?}");
    assert_eq!(found.iter().flatten().sum::<u64>(), 600);
}
