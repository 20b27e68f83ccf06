//! Frames of QoS stations: two bytes more, a user priority, sequence numbers of each receiver and TID; and the category that a packet
//! finds. @80211-2020 9.2.4.5, 10.2.3.2, 10.3.2.14

use super::harness::*;
use mac::{Classifier, Fate, Kind, Qos};
use units::{Bytes, NodeId};

#[test]
fn data_carries_qos_control_between_stations_that_both_have_categories_and_nowhere_else() {
    // A and B have categories, C has not.
    for (from, to, mpdu, carried) in [(A, B, 1538, qos(VO)), (A, C, 1536, None), (C, A, 1536, None)] {
        let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
        net.offer(100, from, to, tos(VO)).run(9000);
        let sent = net.sent[0].frame;
        assert_eq!((sent.mpdu, sent.qos), (Bytes(mpdu), carried), "{from} to {to}");
        assert_eq!(net.sent[1].frame.qos, None, "an ACK has none");
        assert_eq!(net.delivered.len(), 1);
    }
    // Nor does what is for a group.
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), edca(|_| ())]);
    net.offer(100, A, NodeId::BROADCAST, tos(VO)).run(9000);
    assert_eq!((net.sent[0].frame.mpdu, net.sent[0].frame.qos), (Bytes(1536), None));
    assert_eq!(done(&net, A), [(VO, Fate::Delivered, 1)]);
}

#[test]
fn a_packets_tos_field_chooses_its_category() {
    for category in [BK, BE, VI, VO] {
        let mut net = net_of(&[edca(|_| ()), edca(|_| ())]);
        net.offer(100, A, B, tos(category)).run(9000);
        assert_eq!(net.sent[0].frame.qos, qos(category));
        let offered: Vec<u64> = net.stations[0].category_counters().map(|c| c.msdus_offered).collect();
        assert_eq!(offered.iter().sum::<u64>(), 1);
        assert_eq!(offered[usize::from(category)], 1);
    }
}

#[derive(Debug)]
struct Fixed(u8);

impl Classifier for Fixed {
    fn category(&mut self, _: &wire::Packet, _: NodeId, _: u8) -> u8 {
        self.0
    }
}

#[test]
fn a_classifier_overrules_the_tos_field_and_its_frames_take_a_user_priority_of_their_category() {
    // 9 is beyond the last: the highest there is. Best effort's packet in voice goes as priority 7.
    for (says, qos) in [(0, (0, 1)), (1, (1, 0)), (2, (2, 5)), (3, (3, 7)), (9, (3, 7))] {
        let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
        net.stations[0].classify_by(Box::new(Fixed(says)));
        net.offer(100, A, B, tos(BE)).run(9000);
        assert_eq!(net.sent[0].frame.qos, Some(Qos { category: qos.0, user_priority: qos.1, ht_control: None }));
        assert_eq!(done(&net, A), [(qos.0, Fate::Delivered, 1)]);
    }
    // A station without categories asks nobody.
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
    net.stations[2].classify_by(Box::new(Fixed(3)));
    net.offer(100, C, B, tos(BE)).run(9000);
    assert_eq!(done(&net, C), [(0, Fate::Delivered, 1)]);
}

#[test]
fn a_retry_is_a_duplicate_only_of_its_own_tid() {
    let data = |seq, qos, is_retry| Shown { seq, qos, is_retry, ..frame(Kind::Data, C, B, SIFS + ACK) };
    let frames = [
        (data(5, qos(BE), false), true),
        (data(5, qos(VO), true), true),
        (data(5, None, true), true),
        (data(5, qos(BE), true), false),
        (data(5, qos(VO), true), false),
        (data(5, None, true), false),
        (data(6, qos(BE), true), true),
    ];
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), edca(|_| ())]);
    for (i, (frame, _)) in frames.iter().enumerate() {
        net.air(1000 * (i as u64 + 1), *frame);
    }
    net.run(20_000);
    let expected: Vec<_> = frames.iter().filter(|(_, is_new)| *is_new).map(|(frame, _)| (B, Some(*frame))).collect();
    let delivered: Vec<_> = net.delivered.iter().map(|it| (it.node, it.frame)).collect();
    assert_eq!(delivered, expected);
    assert_eq!(net.stations[1].counters().duplicates, 3);
}

#[test]
fn each_receiver_and_tid_has_numbers_of_its_own() {
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
    for (i, (to, category)) in [(B, VO), (B, BE), (C, VO), (B, VO), (C, BE), (B, BE)].into_iter().enumerate() {
        net.offer(10_000 * (i as u64 + 1), A, to, tos(category));
    }
    net.run(90_000);
    let data = net.sent.iter().filter(|sent| sent.frame.kind == Kind::Data);
    let numbers: Vec<(u8, u16)> =
        data.map(|sent| (sent.frame.qos.map_or(7, |qos| qos.category), sent.frame.seq)).collect();
    // What goes without QoS Control has one space for all categories: its receiver knows no others.
    assert_eq!(numbers, [(VO, 0), (BE, 0), (7, 0), (VO, 1), (7, 1), (BE, 1)]);
}

#[test]
fn a_receiver_takes_no_new_msdu_for_an_old_one_though_4095_went_to_others_meanwhile() {
    // With one counter for all receivers D's second MSDU would have the number of its first; its first attempt is lost, so it
    // comes as a retry, and would be acknowledged and dropped.
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), edca(|_| ()), edca(|_| ())]);
    net.offer(100, A, D, tos(VO));
    let others = 4095;
    for i in 0..others {
        net.offer(1000 * (i + 1), A, B, tos(VO));
    }
    let last = 1000 * (others + 1);
    // The first attempt is over before the response timeout; AIFS and EXCHANGE are less than 400 us.
    net.errors(last, A, D, HIT).errors(last + 400, A, D, CLEAN).offer(last, A, D, tos(VO));
    net.run(last + 20_000);
    let to_d: Vec<(u16, bool)> = net
        .of(A, Kind::Data)
        .iter()
        .filter(|sent| sent.frame.to == D)
        .map(|sent| (sent.frame.seq, sent.frame.is_retry))
        .collect();
    assert_eq!(to_d, [(0, false), (1, false), (1, true)]);
    assert_eq!(net.delivered.iter().filter(|it| it.node == D).count(), 2);
    assert_eq!(net.stations[3].counters().duplicates, 0);
}

#[test]
fn each_category_has_a_queue_of_its_own_and_the_books_of_all_add_up() {
    // Queues hold nine each; one more is in service. Twelve of best effort, two are refused; voice is not.
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
    for _ in 0..12 {
        net.offer(100, A, B, tos(BE));
    }
    net.offer(101, A, B, tos(VO)).run(100);
    let queued: Vec<u32> = net.stations[0].queues().map(|queue| queue.space().entries).collect();
    assert_eq!((queued, net.stations[0].backlog()), (vec![0, 9, 0, 0], 10));
    assert_eq!(net.stations[0].queue().space().entries, 9, "the queue that is asked for by default is best effort's");
    net.run(200_000);
    let of: Vec<_> = net.stations[0].category_counters().copied().collect();
    assert_eq!((of[1].msdus_offered, of[1].msdus_refused, of[1].msdus_delivered), (12, 2, 10));
    assert_eq!((of[3].msdus_offered, of[3].msdus_refused, of[3].msdus_delivered), (1, 0, 1));
    let all = net.stations[0].counters();
    assert_eq!((all.msdus_offered, all.msdus_refused, all.msdus_delivered), (13, 2, 11));
    assert_eq!(all.airtime, of.iter().fold(units::Dur::ZERO, |sum, category| sum + category.airtime));
    assert_eq!(net.stations[0].backlog(), 0);
}

#[test]
fn a_node_that_dies_gives_up_what_all_its_categories_hold() {
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
    for category in [BK, BE, BE, VI, VO] {
        net.offer(100, A, B, tos(category));
    }
    net.run(100);
    let left = net.stations[0].kill(at(101), &mut net.channel.at(A), &mut net.packets);
    assert_eq!((left.len(), net.stations[0].backlog()), (5, 0));
    assert_eq!(net.channel.contention.next_grant(), units::SimTime::NEVER);
    left.into_iter().for_each(std::mem::forget);
}
