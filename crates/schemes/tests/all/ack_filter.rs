//! CAKE's ACK filter, case by case as `cake_ack_filter` decides them, and what it may never do.

use crate::queue_bed::Bed;
use proptest::prelude::*;
use queue::Limit;
use schemes::testing::{self, HERE, IN, OUT, ack, data, node, segment};
use schemes::{NodeFacts, Value};
use units::FlowId;
use wire::{Flags, Packet, Seq, SeqRange};

fn bed(mode: &'static str) -> Bed {
    Bed::new("ack-filter", &[("mode", Value::Choice(mode))], Limit::Packets(50))
}

/// The numbers that were filtered, and those that are sent, of these packets in order.
fn filter(mode: &'static str, packets: &[Packet]) -> (Vec<u32>, Vec<u32>) {
    let mut bed = bed(mode);
    packets.iter().for_each(|packet| assert!(bed.push(packet.clone())));
    let filtered = bed.expired();
    assert_eq!(bed.bench.counter("acks_filtered"), filtered.len() as u64);
    let sent = bed.popped();
    assert_eq!(bed.drained(), 0);
    (filtered, sent)
}

fn acks(numbers: &[u32]) -> Vec<Packet> {
    numbers.iter().map(|number| ack(OUT, *number, 1000)).collect()
}

/// An ACK of 1000 that has these blocks of 100 bytes beyond a hole.
fn sack(number: u32, starts: &[u32]) -> Packet {
    let mut packet = ack(OUT, number, 1000);
    let blocks: Vec<_> = starts.iter().map(|start| SeqRange::new(Seq(*start), 100)).collect();
    packet.tcp_mut().unwrap().options.push_sack(&blocks);
    packet
}

fn stamped(number: u32, tsval: u32, tsecr: u32) -> Packet {
    let mut packet = ack(OUT, number, 1000);
    packet.tcp_mut().unwrap().options.push_timestamps(tsval, tsecr);
    packet
}

fn flagged(number: u32, flags: Flags) -> Packet {
    segment(OUT, Flags::ACK | flags, Seq(1), 0, Seq(number), 1000)
}

#[test]
fn it_sits_at_radios_with_tcp_alone() {
    let sits = |node: NodeFacts<'static>| testing::bench("ack-filter", node, &[]).is_some();
    let own = node(HERE, 2);
    assert!(
        sits(own) && !sits(NodeFacts { has_air: false, ..own }) && !sits(NodeFacts { carries_tcp: false, ..own })
    );
}

#[test]
fn the_conservative_mode_keeps_two_and_the_aggressive_one() {
    // 3 finds 1 and 2, and 1 goes; 4 finds 2 and 3, and 2 goes.
    assert_eq!(filter("conservative", &acks(&[1, 2, 3, 4])), (vec![1, 2], vec![3, 4]));
    // 2 finds 1 alone, next to it.
    assert_eq!(filter("aggressive", &acks(&[1, 2, 3, 4])), (vec![1, 2, 3], vec![4]));
}

#[test]
fn one_ack_alone_goes_in_the_aggressive_mode_only_if_nothing_of_its_flow_stands_between() {
    let between = [ack(OUT, 1000, 9), data(OUT, 7..107), ack(OUT, 2000, 9)];
    assert_eq!(filter("aggressive", &between), (vec![], vec![1000, 7, 2000]));
    // A segment of another flow stands in another queue of CAKE's.
    let others = [ack(OUT, 1000, 9), data(IN, 7..107), ack(OUT, 2000, 9)];
    assert_eq!(filter("aggressive", &others), (vec![1000], vec![7, 2000]));
}

#[test]
fn data_that_acknowledges_covers_acks_and_is_never_dropped() {
    let data = |number| segment(OUT, Flags::ACK, Seq(1), 100, Seq(number), 1000);
    let packets = [ack(OUT, 1000, 9), ack(OUT, 2000, 9), data(3000), data(4000)];
    // 3000 finds two ACKs, 4000 one, behind which data stands.
    for mode in ["conservative", "aggressive"] {
        let (gone, expected) = if mode == "aggressive" {
            // 2000 drops 1000, 3000 drops 2000.
            (vec![1000, 2000], vec![1, 1])
        } else {
            (vec![1000], vec![2000, 1, 1])
        };
        assert_eq!(filter(mode, &packets), (gone, expected), "{mode}");
    }
}

#[test]
fn duplicates_and_older_numbers_stay() {
    assert_eq!(filter("aggressive", &acks(&[1000, 1000, 1000])), (vec![], vec![1000, 1000, 1000]));
    assert_eq!(filter("aggressive", &acks(&[2000, 1000])), (vec![], vec![2000, 1000]));
    // A later number covers duplicates as any ACK: so does CAKE, which trusts SACK. 2000 finds two and takes the first, 3000 the second.
    assert_eq!(filter("conservative", &acks(&[1000, 1000, 2000, 3000])), (vec![1000, 1000], vec![2000, 3000]));
}

#[test]
fn an_ack_goes_if_the_newer_one_has_its_blocks_and_more() {
    let all = |mode, packets: &[Packet]| filter(mode, packets).0.len();
    // The same number, and one block more: covered.
    assert_eq!(all("aggressive", &[sack(1000, &[2000]), sack(1000, &[3000, 2000])]), 1);
    // The same number and the same blocks: a duplicate.
    assert_eq!(all("aggressive", &[sack(1000, &[2000]), sack(1000, &[2000])]), 0);
    // The same number, and another block.
    assert_eq!(all("aggressive", &[sack(1000, &[2000]), sack(1000, &[3000])]), 0);
    // A newer number without the block.
    assert_eq!(all("aggressive", &[sack(1000, &[3000]), ack(OUT, 2000, 9)]), 0);
    // A newer number with the block, which is no more than that.
    assert_eq!(all("aggressive", &[sack(1000, &[3000]), sack(2000, &[3000])]), 1);
    // A duplicate that tells of a segment that came twice (RFC 2883).
    assert_eq!(all("aggressive", &[sack(1000, &[500]), sack(2000, &[500])]), 0);
    // None, then one: SACKed bytes are more.
    assert_eq!(all("aggressive", &[ack(OUT, 1000, 9), sack(1000, &[2000])]), 1);
}

#[test]
fn timestamps_of_what_goes_are_not_later_than_those_of_the_newer() {
    let gone = |a, b| filter("aggressive", &[a, b]).0.len();
    assert_eq!(gone(stamped(1000, 5, 5), stamped(2000, 5, 5)), 1);
    assert_eq!(gone(stamped(1000, 6, 5), stamped(2000, 5, 5)), 0);
    assert_eq!(gone(stamped(1000, 5, 6), stamped(2000, 5, 5)), 0);
    // A newer one without timestamps counts as of time 0.
    assert_eq!(gone(stamped(1000, 5, 5), ack(OUT, 2000, 9)), 0);
}

#[test]
fn a_change_of_the_echoes_of_congestion_is_news() {
    // The one alone has other echoes than the newer.
    let packets = [flagged(1000, Flags(0)), flagged(2000, Flags::ECE)];
    assert_eq!(filter("aggressive", &packets), (vec![], vec![1000, 2000]));
    // 1000 ends a row of its flags: it stays. 4000 finds 2000 and 3000.
    let packets =
        [flagged(1000, Flags(0)), flagged(2000, Flags::ECE), flagged(3000, Flags::ECE), flagged(4000, Flags::ECE)];
    assert_eq!(filter("conservative", &packets), (vec![2000], vec![1000, 3000, 4000]));
}

#[test]
fn what_is_more_than_an_ack_stays_and_a_syn_covers_nothing() {
    for flags in [Flags::PSH, Flags::URG, Flags::FIN, Flags::RST, Flags::AE, Flags::LOSS_NOTICE] {
        let packets = [flagged(1000, flags), flagged(2000, Flags(0))];
        assert!(filter("aggressive", &packets).0.is_empty(), "{flags:?}");
    }
    let packets = [flagged(1000, Flags(0)), flagged(2000, Flags::SYN)];
    assert!(filter("aggressive", &packets).0.is_empty());
    // An option that it does not know.
    let mut odd = ack(OUT, 1000, 9);
    odd.tcp_mut().unwrap().options.push(253, &[1, 2]);
    assert!(filter("aggressive", &[odd, ack(OUT, 2000, 9)]).0.is_empty());
}

#[test]
fn an_aggregate_gets_what_is_left_and_what_is_in_service_is_not_filtered() {
    let mut bed = bed("aggressive");
    bed.push(ack(OUT, 1000, 9));
    assert_eq!(bed.popped(), [1000]);
    acks(&[2000, 3000, 4000]).into_iter().for_each(|packet| assert!(bed.push(packet)));
    assert_eq!(bed.space(), (3, 120));
    assert_eq!((bed.aggregated(), bed.expired()), (vec![4000], vec![2000, 3000]));
}

#[test]
fn a_full_queue_takes_an_ack_in_place_of_the_one_that_goes_and_gives_all_back() {
    let mut bed = Bed::new("ack-filter", &[("mode", Value::Choice("aggressive"))], Limit::Packets(1));
    assert!(bed.push(ack(OUT, 1000, 9)) && bed.push(ack(OUT, 2000, 9)));
    // A duplicate covers nothing: refused, and 2000 stays.
    assert!(!bed.push(ack(OUT, 2000, 9)) && !bed.push(ack(IN, 5, 9)));
    assert_eq!(bed.drained(), 2);
}

fn any_ack() -> impl Strategy<Value = Packet> {
    let blocks = prop::collection::vec(0u32..6, 0..3);
    let flags = prop_oneof![5 => Just(Flags(0)), 1 => Just(Flags::ECE), 1 => Just(Flags::CWR)];
    (0u32..2, 0u32..6, blocks, proptest::option::of((0u32..4, 0u32..4)), flags, prop::bool::weighted(0.2)).prop_map(
        |(flow, number, starts, stamps, flags, has_data)| {
            let len = if has_data { 100 } else { 0 };
            let number = Seq(u32::MAX - 2000) + 1000 * number;
            let mut packet = segment(FlowId(2 * flow), Flags::ACK | flags, Seq(1), len, number, 1000);
            let options = &mut packet.tcp_mut().unwrap().options;
            if let Some((tsval, tsecr)) = stamps {
                options.push_timestamps(tsval, tsecr);
            }
            let blocks: Vec<_> = starts.iter().map(|start| SeqRange::new(number + 1000 * start, 500)).collect();
            options.push_sack(&blocks);
            packet
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// All that a filtered ACK says is said by what stays: its number by one of its flow, each of its blocks by a block or a number.
    #[test]
    fn what_goes_is_said_by_what_stays(
        packets in prop::collection::vec(any_ack(), 1..40),
        mode in prop::sample::select(vec!["conservative", "aggressive"]),
    ) {
        let mut bed = bed(mode);
        let (mut queued, mut sent) = (Vec::new(), Vec::new());
        for packet in packets {
            if bed.push(packet.clone()) {
                queued.push(packet);
            }
        }
        let gone = bed.expired().len();
        sent.extend(std::iter::from_fn(|| bed.pop()));
        prop_assert_eq!(gone + sent.len(), queued.len());
        for packet in queued {
            let tcp = packet.tcp().unwrap();
            let same = || sent.iter().filter(|it| it.flow == packet.flow).map(|it| it.tcp().unwrap());
            prop_assert!(same().any(|it| tcp.ack.le(it.ack)));
            for block in tcp.options.sack_blocks() {
                let says = |it: &wire::Tcp| {
                    block.end.le(it.ack)
                        || it.options.sack_blocks().any(|own| own.start.le(block.start) && block.end.le(own.end))
                };
                prop_assert!(same().any(says), "{:?}", block);
            }
            prop_assert!(packet.payload.len == 0 || sent.contains(&packet), "data is not dropped");
        }
    }
}
