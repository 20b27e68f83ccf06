//! Transmit opportunities. @80211-2020 10.23.2.8, 10.23.2.9; Duration fields: 9.2.5.2

use super::harness::*;
use mac::{Config, Fate, Kind, TxopProtection};
use units::{Bytes, Dur};

/// Three exchanges of QoS data a SIFS apart: 3 · 296 + 2 · 16.
const THREE: u64 = 3 * EXCHANGE + 2 * SIFS;

fn limited(us: u64) -> Config {
    let mut config = edca_cw(0);
    for i in [BE, VO] {
        category(&mut config, i).txop_limit = Dur::from_us(us);
    }
    config
}

fn durations(net: &Net, kind: Kind) -> Vec<u64> {
    net.sent.iter().filter(|sent| sent.frame.kind == kind).map(|sent| sent.frame.duration.ns() / 1000).collect()
}

#[test]
fn exchanges_follow_each_other_by_sifs_while_they_fit_and_their_durations_cover_the_next() {
    assert_eq!(THREE, 920);
    // A microsecond less, and the third waits for an opportunity of its own.
    for (limit, third) in [(THREE, 106 + 2 * (EXCHANGE + SIFS)), (THREE - 1, 106 + 2 * EXCHANGE + SIFS + 34)] {
        let mut net = net_of(&[limited(limit), limited(0), dcf()]);
        net.offer(100, A, B, tos(VO)).offer(101, A, B, tos(VO)).offer(102, A, B, tos(VO)).run(9000);
        assert_eq!(net.data_starts(A), [106, 106 + EXCHANGE + SIFS, third]);
        assert_eq!(done(&net, A), [(VO, Fate::Delivered, 1); 3]);
        // SIFS and ACK; and the SIFS, data, SIFS, ACK of the next if it is announced.
        let (alone, announcing) = (SIFS + ACK, SIFS + ACK + SIFS + EXCHANGE);
        let second = if limit == THREE { announcing } else { alone };
        assert_eq!(durations(&net, Kind::Data), [announcing, second, alone]);
        // An ACK's covers what is left of it.
        let left = |duration: u64| duration - SIFS - ACK;
        assert_eq!(durations(&net, Kind::Ack), [announcing, second, alone].map(left));
        let voice = *net.stations[0].category_counters().nth(3).expect("voice");
        assert_eq!((voice.txops, voice.exchanges), (if limit == THREE { 1 } else { 2 }, 3));
    }
}

#[test]
fn with_a_limit_of_zero_or_too_short_for_one_exchange_each_is_contended_for() {
    for limit in [0, 1, EXCHANGE] {
        let mut net = net_of(&[limited(limit), limited(0), dcf()]);
        net.offer(100, A, B, tos(VO)).offer(101, A, B, tos(VO)).run(9000);
        assert_eq!(net.data_starts(A), [106, 106 + EXCHANGE + 34], "limit {limit}");
        assert_eq!(durations(&net, Kind::Data), [SIFS + ACK; 2]);
    }
}

#[test]
fn the_opportunity_is_one_categorys_and_no_other_of_its_station_or_of_another_comes_between() {
    // Best effort has three; voice of A and of C wait from the first on.
    let mut net = net_of(&[limited(THREE), limited(0), limited(0), dcf()]);
    net.offer(100, A, B, tos(BE)).offer(101, A, B, tos(BE)).offer(102, A, B, tos(BE));
    net.offer(150, A, B, tos(VO)).offer(700, C, B, tos(VI)).run(9000);
    // 43 + 7 · 9 = 106 is a boundary of best effort as well.
    let first = 106;
    let step = EXCHANGE + SIFS;
    let over = first + THREE;
    assert_eq!(data(&net, A)[..4], [(first, BE), (first + step, BE), (first + 2 * step, BE), (over + 34, VO)]);
    // C's video drew 0 from CW 0: it collides with A's voice, and no more is claimed here.
    assert_eq!(data(&net, C)[0], (over + 34, VI));
}

#[test]
fn a_failed_exchange_ends_the_opportunity_and_is_recovered_by_backoff_before_what_follows_it() {
    // The second frame is lost. CW 0 becomes 1.
    let second = 106 + EXCHANGE + SIFS;
    let lost = second + QOS;
    let mut net = net_of(&[limited(10 * THREE), limited(0), dcf()]);
    net.errors(second - 1, A, B, HIT).errors(lost + 1, A, B, CLEAN);
    net.offer(100, A, B, tos(VO)).offer(101, A, B, tos(VO)).offer(102, A, B, tos(VO)).run(9000);
    let mut draws = backoffs(A, VO);
    // The backoff drawn at the failure counts from the first boundary after the timeout: 52 µs after the frame.
    let slots = u64::from(draws.below(2));
    let again = lost + 52 + slots * SLOT;
    assert_eq!(net.data_starts(A), [106, second, again, again + EXCHANGE + SIFS]);
    let retries: Vec<_> = net.sent.iter().filter(|s| s.from == A).map(|s| (s.frame.seq, s.frame.is_retry)).collect();
    assert_eq!(retries, [(0, false), (1, false), (1, true), (2, false)], "the third stays behind the second");
    assert_eq!(done(&net, A), [(VO, Fate::Delivered, 1), (VO, Fate::Delivered, 2), (VO, Fate::Delivered, 1)]);
}

#[test]
fn what_is_queued_while_the_last_frame_is_on_the_air_still_goes_in_the_same_opportunity() {
    // It came too late for the Duration field; the opportunity is not over all the same.
    let mut net = net_of(&[limited(THREE), limited(0), dcf()]);
    net.offer(100, A, B, tos(VO)).offer(106 + 100, A, B, tos(VO)).run(9000);
    assert_eq!(net.data_starts(A), [106, 106 + EXCHANGE + SIFS]);
    assert_eq!(durations(&net, Kind::Data), [SIFS + ACK; 2]);
}

#[test]
fn rts_and_cts_precede_the_first_exchange_and_durations_protect_the_others() {
    let mut config = limited(2000);
    config.rts.threshold = Some(Bytes(0));
    let mut net = net_of(&[config, limited(0), dcf()]);
    net.offer(100, A, B, tos(VO)).offer(101, A, B, tos(VO)).run(9000);
    let kinds: Vec<Kind> = net.sent.iter().map(|sent| sent.frame.kind).collect();
    assert!(net.sent.iter().all(|sent| sent.frame.qos.is_some() == (sent.frame.kind == Kind::Data)));
    assert_eq!(kinds, [Kind::Rts, Kind::Cts, Kind::Data, Kind::Ack, Kind::Data, Kind::Ack]);
    // RTS: SIFS, CTS (28), SIFS, data, SIFS, ACK; the data frame announces the next exchange.
    assert_eq!(durations(&net, Kind::Rts), [SIFS + 28 + SIFS + EXCHANGE]);
    assert_eq!(durations(&net, Kind::Data), [SIFS + ACK + SIFS + EXCHANGE, SIFS + ACK]);
    assert_eq!(done(&net, A), [(VO, Fate::Delivered, 1); 2]);
}

#[test]
fn a_group_frame_is_followed_by_the_next_without_an_ack() {
    let config = limited(THREE);
    let mut net = net_of(&[config, limited(0), dcf()]);
    net.offer(100, A, units::NodeId::BROADCAST, tos(VO)).offer(101, A, B, tos(VO)).run(9000);
    // 1536 B at 6 Mb/s: 20 + 4 · ⌈(22 + 12288) / 24⌉ = 20 + 4 · 513 = 2072: over the limit, so alone; then AIFS.
    assert_eq!(net.data_starts(A), [106, 106 + 2072 + 34]);
    let mut net = net_of(&[limited(4000), limited(0), dcf()]);
    net.offer(100, A, units::NodeId::BROADCAST, tos(VO)).offer(101, A, B, tos(VO)).run(9000);
    assert_eq!(net.data_starts(A), [106, 106 + 2072 + SIFS]);
    assert_eq!(durations(&net, Kind::Data), [SIFS + EXCHANGE, SIFS + ACK]);
}

#[test]
fn what_was_taken_out_of_the_queue_for_a_duration_stays_in_the_books() {
    // Three of voice: the first is on the air, the second is announced in it, the third is queued.
    let mut net = net_of(&[limited(THREE), limited(0), dcf()]);
    net.offer(100, A, B, tos(VO)).offer(101, A, B, tos(VO)).offer(102, A, B, tos(VO)).run(200);
    assert_eq!((net.stations[0].queues().nth(3).expect("voice").space().entries, net.stations[0].backlog()), (1, 3));
    // The one on the air stays with the station until its frame has ended.
    let left = net.stations[0].kill(at(200), &mut net.channel.at(A), &mut net.packets);
    assert_eq!((left.len(), net.stations[0].backlog()), (3, 0), "the frame on the air keeps what it carries");
    left.into_iter().for_each(std::mem::forget);
}

#[test]
fn an_opportunity_that_is_reserved_whole_holds_others_back_to_its_limit_unless_a_cf_end_gives_it_back() {
    // A has one frame; B's voice comes meanwhile, and draws 0 of CW 0. The CF-End: 20 B at 24 Mb/s.
    let (limit, cf_end) = (10 * THREE, 28);
    let over = 106 + EXCHANGE;
    for (protection, covered, begins) in [
        (TxopProtection::Single, over, over + 34),
        (TxopProtection::Multiple, 106 + limit, 106 + limit + 34),
        (TxopProtection::MultipleCfEnd, 106 + limit, over + SIFS + cf_end + 34),
    ] {
        let config = Config { txop_protection: protection, ..limited(limit) };
        let mut net = net_of(&[config, limited(0), limited(0)]);
        net.offer(100, A, C, tos(VO)).offer(200, B, C, tos(VO)).run(11_000);
        assert_eq!(net.data_starts(B), [begins], "{protection:?}");
        assert_eq!(durations(&net, Kind::Data)[0], covered - (106 + QOS));
        assert_eq!(durations(&net, Kind::Ack)[0], covered - over);
        let ends: Vec<(u64, u64)> = net.of(A, Kind::CfEnd).iter().map(|sent| (sent.start, sent.end)).collect();
        let given_back = (over + SIFS, over + SIFS + cf_end);
        assert_eq!(ends, if protection == TxopProtection::MultipleCfEnd { vec![given_back] } else { vec![] });
    }
}

#[test]
fn a_cf_end_waits_for_the_last_exchange_and_is_left_out_where_it_would_not_fit() {
    let with = |limit| Config { txop_protection: TxopProtection::MultipleCfEnd, ..limited(limit) };
    // Behind two exchanges there is room for SIFS, CF-End and a microsecond; or for no microsecond more.
    let two = 2 * EXCHANGE + SIFS;
    for (room, ends) in [(SIFS + 29, vec![106 + two + SIFS]), (SIFS + 28, vec![])] {
        let mut net = net_of(&[with(two + room), limited(0), dcf()]);
        net.offer(100, A, B, tos(VO)).offer(101, A, B, tos(VO)).run(9000);
        assert_eq!(net.data_starts(A), [106, 106 + EXCHANGE + SIFS]);
        let sent: Vec<u64> = net.of(A, Kind::CfEnd).iter().map(|sent| sent.start).collect();
        assert_eq!(sent, ends, "{room}");
    }
    // An RTS reserves all of it too.
    let mut config = with(4000);
    config.rts.threshold = Some(Bytes(0));
    let mut net = net_of(&[config, limited(0), dcf()]);
    net.offer(100, A, B, tos(VO)).run(9000);
    assert_eq!(durations(&net, Kind::Rts), [4000 - 28]);
    assert_eq!(net.of(A, Kind::CfEnd).len(), 1);
}
