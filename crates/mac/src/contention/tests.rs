//! Contention without a channel: `busy` and `idle` are called by hand.

use super::*;
use engine::{Purpose, Streams};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn us(n: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(n)
}

/// 802.11b: DIFS 50, EIFS 364, slot 20 µs. `cw` = 0 makes every draw 0.
fn two(cw: u16) -> Contention {
    let access = Access {
        ifs: Dur::from_us(50),
        eifs: Dur::from_us(364),
        slot: Dur::from_us(20),
        cw_min: cw,
        cw_max: 1023,
        countdown: Countdown::Dcf,
        in_gap: AccessInGap::DcfLetter,
    };
    let streams = Streams::new(1);
    Contention::new(2, |node| vec![(access, streams.get(Purpose::Backoff, u64::from(node.0)))])
}

fn with_slots(contention: &mut Contention, now: SimTime, node: NodeId, slots: u32) {
    let id = contention.first(node);
    contention.finish(id, Outcome::Success, true, now);
    contention.contenders[id.0 as usize].slots = slots;
    contention.recount(node);
}

#[test]
fn an_idle_medium_is_entered_after_difs_without_backoff() {
    let mut contention = two(31);
    let id = contention.first(A);
    // Idle since 0: at 200 µs the space is long over; at 20 µs it lasts until 50.
    contention.want(us(200), id, false);
    assert_eq!(contention.next_grant(), us(200));
    let mut contention = two(31);
    contention.want(us(20), id, false);
    assert_eq!(contention.next_grant(), us(50));
}

#[test]
fn a_medium_that_turns_busy_within_difs_costs_a_backoff() {
    let mut contention = two(31);
    let id = contention.first(A);
    contention.want(us(20), id, false);
    contention.busy(us(40), A);
    assert_eq!(contention.next_grant(), SimTime::NEVER);
    let slots = u64::from(contention.contenders[0].slots);
    contention.note_reception(A, false);
    contention.idle(us(100), A);
    assert_eq!(contention.next_grant(), us(150 + 20 * slots));
    assert!(slots > 0, "seed 1 draws something else than zero");
}

#[test]
fn backoff_freezes_on_busy_and_resumes_after_difs_with_whole_slots_only() {
    let mut contention = two(31);
    with_slots(&mut contention, us(0), A, 5);
    assert_eq!(contention.next_grant(), us(50 + 100));
    // 2.5 slots are over at 100 µs: two count.
    contention.busy(us(100), A);
    contention.note_reception(A, false);
    contention.idle(us(1000), A);
    assert_eq!(contention.next_grant(), us(1000 + 50 + 60));
}

#[test]
fn who_turns_idle_is_counted_when_a_grant_could_come_before_the_next_event() {
    let mut contention = two(31);
    with_slots(&mut contention, us(0), A, 5);
    contention.busy(us(10), A);
    assert_eq!(contention.next_grant(), SimTime::NEVER);
    contention.idle(us(100), A);
    // DIFS, the shortest space here, ends at 150 µs.
    assert!(!contention.has_changed_by(|| us(149)));
    assert!(contention.has_changed_by(|| us(150)));
    // An answer begins in the gap: nothing has been counted, and nothing was to be.
    contention.busy(us(110), A);
    assert!(!contention.has_changed);
    contention.idle(us(200), A);
    assert_eq!(contention.next_grant(), us(200 + 50 + 100));
    assert!(!contention.has_changed_by(|| us(300)), "asked for already");
}

#[test]
fn eifs_follows_a_frame_in_error_until_a_correct_one() {
    let mut contention = two(31);
    with_slots(&mut contention, us(0), A, 5);
    contention.busy(us(10), A);
    contention.note_reception(A, true);
    contention.idle(us(500), A);
    assert_eq!(contention.next_grant(), us(500 + 364 + 100));
    contention.busy(us(600), A);
    contention.note_reception(A, false);
    contention.idle(us(700), A);
    assert_eq!(contention.next_grant(), us(700 + 50 + 100));
}

#[test]
fn a_nav_extends_the_busy_time_and_only_a_later_one_counts() {
    let mut contention = two(31);
    with_slots(&mut contention, us(0), A, 2);
    contention.busy(us(10), A);
    contention.set_nav(A, us(900));
    contention.set_nav(A, us(800));
    contention.note_reception(A, false);
    contention.idle(us(500), A);
    assert_eq!(contention.next_grant(), us(900 + 50 + 40));
    // Something to send that arrives under the NAV finds the medium busy: B draws.
    contention.busy(us(10), B);
    contention.set_nav(B, us(900));
    contention.note_reception(B, false);
    contention.idle(us(500), B);
    let id = contention.first(B);
    contention.want(us(880), id, false);
    assert_eq!(contention.contenders[1].phase, Phase::Backoff);
    contention.reset_nav(us(890), A);
    assert_eq!(contention.grants[0], us(890 + 50 + 40));
}

#[test]
fn winners_of_one_instant_do_not_hear_each_other() {
    let mut contention = two(31);
    with_slots(&mut contention, us(0), A, 3);
    with_slots(&mut contention, us(0), B, 3);
    assert_eq!(contention.next_grant(), us(110));
    // An answer of A starts at the same instant; B's grant stands.
    contention.busy(us(110), B);
    let mut winners = Vec::new();
    contention.winners(us(110), &mut winners);
    assert_eq!(winners, [ContenderId(0), ContenderId(1)]);
}

#[test]
fn another_interframe_space_keeps_the_slots_and_boundaries_of_a_countdown_under_way() {
    for (countdown, in_gap) in [(Countdown::Dcf, AccessInGap::DcfLetter), (Countdown::Edca, AccessInGap::EdcaLetter)]
    {
        let mut contention = two(31);
        let id = contention.first(A);
        (contention.contenders[0].access.countdown, contention.contenders[0].access.in_gap) = (countdown, in_gap);
        with_slots(&mut contention, us(0), A, 5);
        // Inside the space, the new one is waited for.
        contention.set_ifs(us(20), id, Dur::from_us(90), Dur::from_us(404));
        assert_eq!(contention.next_grant(), us(90 + 100));
        contention.set_ifs(us(40), id, Dur::from_us(50), Dur::from_us(364));
        assert_eq!(contention.next_grant(), us(50 + 100));
        // 2.5 slots into the countdown, a shorter or a longer space that is over changes nothing any more ...
        contention.set_ifs(us(100), id, Dur::from_us(30), Dur::from_us(344));
        assert_eq!(contention.next_grant(), us(150));
        // ... one that lasts longer than that is waited for.
        contention.set_ifs(us(100), id, Dur::from_us(190), Dur::from_us(504));
        let counted = if countdown == Countdown::Dcf { 2 } else { 3 };
        assert_eq!(contention.next_grant(), us(190 + 20 * (5 - counted)));
    }
}

#[test]
fn cw_may_follow_the_failures_of_a_frame() {
    let mut contention = two(31);
    let a = contention.first(NodeId(0));
    for (failures, cw) in [(2, 127), (0, 31), (4, 511), (200, 1023), (1, 63)] {
        contention.finish(a, Outcome::Failures(failures), true, SimTime::ZERO);
        assert_eq!(contention.contenders[0].cw, cw);
    }
}

#[test]
fn cw_doubles_on_failure_up_to_its_bound_and_falls_back_on_success_and_discard() {
    let mut contention = two(31);
    let id = contention.first(A);
    for cw in [63, 127, 255, 511, 1023, 1023] {
        contention.finish(id, Outcome::Failure, true, us(0));
        assert_eq!(contention.contenders[0].cw, cw);
    }
    contention.finish(id, Outcome::Discard, true, us(0));
    assert_eq!(contention.contenders[0].cw, 31);
}

#[test]
fn post_backoff_with_nothing_to_send_runs_on_and_frees_the_next_frame_of_its_own() {
    let mut contention = two(31);
    let id = contention.first(A);
    contention.finish(id, Outcome::Success, false, us(0));
    contention.contenders[0].slots = 4;
    assert_eq!(contention.next_grant(), SimTime::NEVER);
    // Inside the countdown: what remains of it. 50 + 80 µs.
    contention.want(us(100), id, false);
    assert_eq!(contention.next_grant(), us(130));
    // Long after: at once.
    contention.winners(us(130), &mut Vec::new());
    contention.finish(id, Outcome::Success, false, us(200));
    contention.contenders[0].slots = 4;
    contention.want(us(5000), id, false);
    assert_eq!(contention.next_grant(), us(5000));
}

#[test]
fn a_timeout_counts_from_itself_when_its_difs_is_over() {
    let mut contention = two(0);
    let id = contention.first(A);
    contention.want(us(100), id, false);
    contention.winners(us(100), &mut Vec::new());
    contention.busy(us(100), A);
    contention.idle(us(1100), A);
    // ACK timeout 222 µs after the end of the frame; a DIFS of idle has passed since.
    contention.finish(id, Outcome::Failure, true, us(1322));
    let slots = u64::from(contention.contenders[0].slots);
    assert_eq!(contention.next_grant(), us(1322 + 20 * slots));
}
