//! Order of access among categories: AIFS, CW, internal collisions. @80211-2020 10.23.2.3, 10.23.2.4

use super::harness::*;
use mac::{Category, Fate, Kind};
use units::Dur;

/// D holds the medium from 100 µs on; it is idle again at this time.
const IDLE: u64 = 100 + PLAIN;

#[test]
fn with_no_backoff_to_count_each_category_starts_an_aifs_after_the_medium_turns_idle() {
    for category in [BK, BE, VI, VO] {
        let mut net = net_of(&[edca_cw(0), edca_cw(0), dcf(), dcf()]);
        net.air(100, frame(Kind::Data, D, NOBODY, 0)).offer(200, A, B, tos(category)).run(9000);
        assert_eq!(data(&net, A), [(IDLE + AIFS[usize::from(category)], category)]);
        assert_eq!(done(&net, A), [(category, Fate::Delivered, 1)]);
    }
}

#[test]
fn after_a_frame_in_error_each_category_waits_sifs_and_the_slowest_ack_more() {
    for category in [BK, BE, VI, VO] {
        let mut net = net_of(&[edca_cw(0), edca_cw(0), dcf(), dcf()]);
        net.errors(0, D, A, HIT).air(100, frame(Kind::Data, D, NOBODY, 0)).offer(200, A, B, tos(category)).run(9000);
        // EIFS - DIFS + AIFS: 60 more than the AIFS. @80211-2020 10.23.2.4 b)
        assert_eq!(net.data_starts(A), [IDLE + 60 + AIFS[usize::from(category)]]);
    }
}

#[test]
fn the_shorter_aifs_goes_first_and_the_longer_one_begins_anew_after_its_exchange() {
    // Station A has voice, B best effort, D is a DCF station; nobody counts slots. D's DIFS equals voice's AIFS: A and D
    // collide; so D comes in a second run without A.
    let mut plain = dcf();
    plain.timing.cw_min = 0;
    let configs = [edca_cw(0), edca_cw(0), edca_cw(0), plain, dcf()];
    let other = Shown { from: units::NodeId(4), ..frame(Kind::Data, D, NOBODY, 0) };
    let mut net = net_of(&configs);
    net.air(100, other).offer(150, B, C, tos(BE)).offer(200, A, C, tos(VO)).run(9000);
    let second = IDLE + 34 + EXCHANGE + 43;
    assert_eq!((data(&net, A), data(&net, B)), (vec![(IDLE + 34, VO)], vec![(second, BE)]));
    let mut net = net_of(&configs);
    net.air(100, other).offer(150, B, C, tos(BE)).offer(200, D, C, tos(BE)).run(9000);
    // D sends plain data: 248 µs.
    let second = IDLE + 34 + PLAIN + SIFS + ACK + 43;
    assert_eq!((data(&net, D), data(&net, B)), (vec![(IDLE + DIFS, 7)], vec![(second, BE)]));
}

#[test]
fn of_two_categories_granted_at_one_instant_the_higher_transmits_and_the_lower_draws_from_a_doubled_window() {
    let mut net = net_of(&[edca_cw(0), edca_cw(0), dcf(), dcf()]);
    net.air(100, frame(Kind::Data, D, NOBODY, 0)).offer(150, A, B, tos(VI)).offer(200, A, B, tos(VO)).run(9000);
    let mut draws = backoffs(A, VI);
    assert_eq!(draws.below(1), 0);
    // From CW 1 now: the slots count from the end of AIFS after the exchange of voice.
    let slots = u64::from(draws.below(2));
    let voice = IDLE + 34;
    assert_eq!(data(&net, A), [(voice, VO), (voice + EXCHANGE + 34 + slots * SLOT, VI)]);
    // It was never on the air before: no retry bit, one attempt, and nobody was told of a failed one.
    assert!(net.sent.iter().all(|sent| !sent.frame.is_retry));
    assert_eq!(done(&net, A), [(VO, Fate::Delivered, 1), (VI, Fate::Delivered, 1)]);
    assert_eq!(net.said.len(), 2);
    let counters: Vec<_> = net.stations[0].category_counters().copied().collect();
    assert_eq!([2, 3].map(|i: usize| (counters[i].internal_collisions, counters[i].failures)), [(1, 0), (0, 0)]);
    assert_eq!([2, 3].map(|i: usize| (counters[i].txops, counters[i].exchanges)), [(1, 1), (1, 1)]);
    assert_eq!(net.stations[0].counters().internal_collisions, 1);
}

#[test]
fn an_internal_collision_uses_up_one_of_the_attempts() {
    let mut config = edca_cw(0);
    config.max_attempts = 1;
    let mut net = net_of(&[config, edca_cw(0), dcf(), dcf()]);
    net.air(100, frame(Kind::Data, D, NOBODY, 0)).offer(150, A, B, tos(VI)).offer(200, A, B, tos(VO)).run(9000);
    assert_eq!(data(&net, A), [(IDLE + 34, VO)]);
    assert_eq!(done(&net, A), [(VI, Fate::GivenUp, 0), (VO, Fate::Delivered, 1)]);
}

#[test]
fn a_category_stands_back_while_another_of_its_station_waits_for_an_ack_and_an_aifs_after_the_timeout() {
    // B's ACKs are lost on A alone: voice ends at E and times out at E + 50. Best effort would have started at E + 43.
    let mut config = edca_cw(0);
    category(&mut config, VO).cw_min = 255;
    category(&mut config, VO).cw_max = 255;
    let mut draws = backoffs(A, VO);
    // Nothing to count before the first transmission: the medium is idle when it is queued. 34 + 8 · 9 is the first slot
    // boundary after 100.
    let slots = u64::from(draws.below(256));
    let end = 106 + QOS;
    // The first boundary at which voice can count is the first one after the timeout: E + 34 + 2 · 9 = E + 52.
    let again = end + 52 + slots * SLOT;
    let best_effort = end + TIMEOUT + 43;
    assert!(again > best_effort, "the seed lets best effort go first: {slots} slots");
    // Queued while voice is on the air; or while it waits for its ACK, the medium being idle.
    for queued in [200, end + 20] {
        let mut net = net_of(&[config.clone(), edca_cw(0), dcf(), dcf()]);
        net.errors(0, A, B, HIT).errors(end, A, B, CLEAN).offer(100, A, B, tos(VO)).offer(queued, A, B, tos(BE));
        net.run(best_effort + 50);
        assert_eq!(data(&net, A), [(106, VO), (best_effort, BE)]);
    }
}

#[test]
fn the_other_category_may_follow_an_ack_that_came_before_the_timeout_would_have_passed() {
    // The ACK ends at E + 44, before the timeout at E + 50: best effort waits an AIFS from its end.
    let mut config = edca_cw(0);
    category(&mut config, VO).cw_min = 255;
    let mut net = net_of(&[config, edca_cw(0), dcf(), dcf()]);
    net.offer(100, A, B, tos(VO)).offer(200, A, B, tos(BE)).run(9000);
    assert_eq!(data(&net, A), [(106, VO), (106 + EXCHANGE + 43, BE)]);
}

#[test]
fn a_fifth_category_goes_before_voice() {
    let five = || {
        edca(|edca| {
            let name = "control".to_owned();
            edca.categories.iter_mut().for_each(|category| category.cw_min = 0);
            let txop_limit = Dur::ZERO;
            edca.categories.push(Category {
                name,
                aifsn: 1,
                cw_min: 0,
                cw_max: 0,
                txop_limit,
                txop_exchanges: 1,
                user_priority: 7,
            });
            edca.of_priority[7] = 4;
        })
    };
    let mut net = net_of(&[five(), five(), five(), dcf()]);
    let other = frame(Kind::Data, D, NOBODY, 0);
    // TOS 0xe0 is priority 7, which leads to the fifth; voice proper is priority 6, of which there is none here.
    net.air(100, other).offer(150, A, C, tos(VI)).offer(200, B, C, tos(VO)).run(9000);
    assert_eq!(data(&net, B), [(IDLE + SIFS + SLOT, 4)]);
    assert_eq!(data(&net, A), [(IDLE + SIFS + SLOT + EXCHANGE + 34, VI)]);
}
