//! Data frames with MAC options: what they cost, who answers them, and how a sender finds that out. @KLI06 section 4.4.3
//!
//! 802.11b at 11 Mb/s, times in us. A datagram of 1500 B is an MPDU of 1536 B. With 14 B of options it is 2 B of QoS Control, 1 B of
//! Header Length and 14 B longer: 1553 B, 192 + 1553 * 8 / 11 = 1321.45 rounded up to 1322, where the plain one has 1310.

use crate::dcf::harness::{A, B, DATA, Setup};
use crate::harness::Net;
use mac::{Fate, Kind};
use phy::{ErrorModel, Hit};

const PLAIN: u64 = 1536;
const EXTENDED: u64 = 1553;
const SECOND: u64 = 1_000_000;
const ALWAYS: Hit = Hit::Packet { per: 1.0, control_per: 0.0 };

fn net(extended: &[usize]) -> Net {
    let mut net = Setup { nodes: 2, ..Setup::default() }.net();
    net.options_room = 14;
    extended.iter().for_each(|node| net.stations[*node].extend_frames());
    net
}

/// Length and airtime of each data frame of A.
fn frames(net: &Net) -> Vec<(u64, u64)> {
    net.of(A, Kind::Data).iter().map(|sent| (sent.frame.mpdu.0, sent.end - sent.start)).collect()
}

#[test]
fn between_two_that_know_them_every_frame_has_options_and_costs_their_bytes() {
    let mut net = net(&[0, 1]);
    (0..3).for_each(|i| _ = net.enqueue(1 + i, A, B, 1500));
    net.run(SECOND);
    assert_eq!(frames(&net), [(EXTENDED, 1322); 3]);
    assert_eq!(net.done(A), [(Fate::Delivered, 1); 3]);
    assert_eq!(net.delivered.len(), 3);
}

#[test]
fn one_that_does_not_know_them_stays_silent_and_gets_plain_frames_until_it_is_asked_again() {
    let mut net = net(&[0]);
    (0..3).for_each(|i| _ = net.enqueue(1 + i, A, B, 1500));
    net.enqueue(11 * SECOND, A, B, 1500);
    net.run(12 * SECOND);
    let lengths: Vec<u64> = frames(&net).iter().map(|(len, _)| *len).collect();
    assert_eq!(lengths, [EXTENDED, PLAIN, PLAIN, PLAIN, EXTENDED, PLAIN], "asked at once, and after ten seconds");
    assert_eq!(net.done(A), [(Fate::Delivered, 2), (Fate::Delivered, 1), (Fate::Delivered, 1), (Fate::Delivered, 2)]);
    assert_eq!(net.delivered.len(), 4, "none twice: it dropped what it did not know");
    assert_eq!(net.of(B, Kind::Ack).len(), 4);
}

#[test]
fn a_station_that_does_not_ask_for_them_sends_plain_frames() {
    let mut net = net(&[]);
    net.enqueue(1, A, B, 1500).run(SECOND);
    assert_eq!(frames(&net), [(PLAIN, DATA)]);
}

#[test]
fn a_question_lost_to_noise_is_asked_again_later_and_one_who_answered_stays_able() {
    let lost = ErrorModel::One(ALWAYS);
    let mut net = net(&[0, 1]);
    net.errors(0, A, B, lost).errors(1700, A, B, ErrorModel::One(Hit::NEVER));
    net.enqueue(1, A, B, 1500); // its question is lost
    net.enqueue(2 * SECOND, A, B, 1500); // plain: not asked yet
    net.enqueue(11 * SECOND, A, B, 1500); // asked, answered
    net.errors(12 * SECOND - 1, A, B, lost).errors(12 * SECOND + 1500, A, B, ErrorModel::One(Hit::NEVER));
    net.enqueue(12 * SECOND, A, B, 1500); // its first attempt is lost, the second one has options all the same
    net.run(13 * SECOND);
    let lengths: Vec<u64> = frames(&net).iter().map(|(len, _)| *len).collect();
    assert_eq!(lengths[0], EXTENDED);
    assert_eq!(lengths[1], PLAIN);
    let later: Vec<u64> =
        net.of(A, Kind::Data).iter().filter(|it| it.start >= 2 * SECOND).map(|it| it.frame.mpdu.0).collect();
    assert_eq!(later[..2], [PLAIN, EXTENDED]);
    assert!(later[2..].len() >= 2 && later[2..].iter().all(|len| *len == EXTENDED), "{later:?}");
}

#[test]
fn an_msdu_given_up_makes_the_neighbour_unknown_again() {
    let mut net = net(&[0, 1]);
    net.enqueue(1, A, B, 1500);
    net.errors(SECOND, A, B, ErrorModel::One(ALWAYS)).errors(2 * SECOND, A, B, ErrorModel::One(Hit::NEVER));
    net.enqueue(SECOND + 1, A, B, 1500); // all its attempts are lost
    // It is asked with the next one, and gets the second attempt plain.
    net.errors(3 * SECOND - 1, A, B, ErrorModel::One(ALWAYS)).errors(
        3 * SECOND + 1500,
        A,
        B,
        ErrorModel::One(Hit::NEVER),
    );
    net.enqueue(3 * SECOND, A, B, 1500);
    net.run(4 * SECOND);
    assert_eq!(
        net.done(A).iter().map(|(fate, _)| *fate).collect::<Vec<_>>(),
        [Fate::Delivered, Fate::GivenUp, Fate::Delivered]
    );
    let last: Vec<u64> = frames(&net).iter().rev().map(|(len, _)| *len).take(2).collect();
    assert_eq!(last, [PLAIN, EXTENDED]);
}
