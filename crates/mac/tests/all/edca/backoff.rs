//! Slots that count, and events that draw a backoff. @80211-2020 10.3.4.2, 10.3.4.3, 10.23.2.2, 10.23.2.4

use super::harness::*;
use mac::{AccessInGap, AfterTimeout, Config, Countdown, Kind};

fn with(countdown: Countdown, access_in_gap: AccessInGap) -> Config {
    Config { countdown, access_in_gap, ..edca(|_| ()) }
}

#[test]
fn each_access_method_has_the_defaults_of_its_clauses() {
    assert_eq!((dcf().countdown, dcf().access_in_gap), (Countdown::Dcf, AccessInGap::DcfLetter));
    let edca = edca(|_| ());
    assert_eq!((edca.countdown, edca.access_in_gap), (Countdown::Edca, AccessInGap::EdcaLetter));
}

#[test]
fn edca_counts_the_slot_boundary_that_ends_aifs_and_dcf_only_slots_that_were_idle_throughout() {
    let slots = u64::from(backoffs(A, BE).below(16));
    assert!(slots >= 4, "the seed gives A something to freeze: {slots}");
    let idle = 100 + PLAIN;
    // D is heard again: within AIFS; at its end; in the middle of the first slot; at the next boundary; in the third slot.
    // Boundaries are 43, 52, 61 µs after `idle`: how many of them are over is EDCA's count, how many slots between them DCF's.
    for (offset, dcf_count, edca_count) in [(42, 0, 0), (43, 0, 1), (47, 0, 1), (52, 1, 2), (65, 2, 3)] {
        for (countdown, counted) in [(Countdown::Dcf, dcf_count), (Countdown::Edca, edca_count)] {
            let mut net = net_of(&[with(countdown, AccessInGap::EdcaLetter), edca(|_| ()), dcf(), dcf()]);
            net.air(100, frame(Kind::Data, D, NOBODY, 0))
                .offer(200, A, B, tos(BE))
                .air(idle + offset, frame(Kind::Data, D, NOBODY, 0))
                .run(9000);
            let start = idle + offset + PLAIN + 43 + (slots - counted) * SLOT;
            assert_eq!(net.data_starts(A), [start], "{countdown:?}, {offset} µs");
        }
    }
}

#[test]
fn in_one_idle_period_both_countdowns_end_at_the_same_time() {
    let slots = u64::from(backoffs(A, BE).below(16));
    for countdown in [Countdown::Dcf, Countdown::Edca] {
        let mut net = net_of(&[with(countdown, AccessInGap::EdcaLetter), edca(|_| ()), dcf(), dcf()]);
        net.air(100, frame(Kind::Data, D, NOBODY, 0)).offer(200, A, B, tos(BE)).run(9000);
        assert_eq!(net.data_starts(A), [100 + PLAIN + 43 + slots * SLOT]);
    }
}

#[test]
fn a_frame_for_a_medium_long_idle_goes_at_once_under_dcf_and_at_the_next_boundary_under_edca() {
    // Boundaries are at 43 + 9 j: 997 is one (j = 106), 1006 the next.
    for (queued, edca_start) in [(997, 997), (998, 1006), (1006, 1006)] {
        for (countdown, start) in [(Countdown::Dcf, queued), (Countdown::Edca, edca_start)] {
            let mut net = net_of(&[with(countdown, AccessInGap::EdcaLetter), edca(|_| ()), dcf(), dcf()]);
            net.offer(queued, A, B, tos(BE)).run(9000);
            assert_eq!(net.data_starts(A), [start], "{countdown:?}, queued at {queued}");
        }
    }
}

#[test]
fn what_a_responder_queues_in_the_sifs_gap_before_its_ack_draws_by_dcfs_letter_and_not_by_edcas() {
    let slots = u64::from(backoffs(A, BE).below(16));
    assert!(slots > 0);
    // B's data for A ends at `end`; A's ACK begins 16 µs later and ends 28 µs after that.
    let end = 100 + PLAIN;
    let free = end + SIFS + ACK + 43;
    let data = frame(Kind::Data, B, A, SIFS + ACK);
    for (in_gap, start) in [
        (AccessInGap::DcfLetter, free + slots * SLOT),
        (AccessInGap::EdcaLetter, free),
        (AccessInGap::AlwaysDraw, free + slots * SLOT),
    ] {
        for countdown in [Countdown::Dcf, Countdown::Edca] {
            let mut net = net_of(&[with(countdown, in_gap), edca(|_| ()), edca(|_| ())]);
            net.air(100, data).offer(end + 5, A, C, tos(BE)).run(9000);
            assert_eq!(net.data_starts(A), [start], "{in_gap:?}, {countdown:?}");
        }
    }
}

#[test]
fn what_is_queued_within_an_aifs_that_stays_idle_draws_only_where_everything_in_a_gap_does() {
    let slots = u64::from(backoffs(A, BE).below(16));
    let idle = 100 + PLAIN;
    for (in_gap, start) in [
        (AccessInGap::DcfLetter, idle + 43),
        (AccessInGap::EdcaLetter, idle + 43),
        (AccessInGap::AlwaysDraw, idle + 43 + slots * SLOT),
    ] {
        let mut net = net_of(&[with(Countdown::Edca, in_gap), edca(|_| ()), dcf(), dcf()]);
        net.air(100, frame(Kind::Data, D, NOBODY, 0)).offer(idle + 20, A, B, tos(BE)).run(9000);
        assert_eq!(net.data_starts(A), [start], "{in_gap:?}");
    }
}

#[test]
fn nobody_draws_when_the_medium_was_idle_for_an_aifs_and_everybody_when_it_is_busy_or_a_nav_stands() {
    let slots = u64::from(backoffs(A, BE).below(16));
    for in_gap in [AccessInGap::DcfLetter, AccessInGap::EdcaLetter, AccessInGap::AlwaysDraw] {
        let nets = || net_of(&[with(Countdown::Edca, in_gap), edca(|_| ()), dcf(), dcf()]);
        let mut net = nets();
        net.offer(997, A, B, tos(BE)).run(9000);
        assert_eq!(net.data_starts(A), [997], "{in_gap:?}");
        let mut net = nets();
        net.air(100, frame(Kind::Data, D, NOBODY, 0)).offer(200, A, B, tos(BE)).run(9000);
        assert_eq!(net.data_starts(A), [100 + PLAIN + 43 + slots * SLOT], "{in_gap:?}");
        // D's Duration holds the medium for 1000 µs after its end; the frame comes in the middle of them.
        let mut net = nets();
        net.air(100, frame(Kind::Data, D, NOBODY, 1000)).offer(800, A, B, tos(BE)).run(9000);
        assert_eq!(net.data_starts(A), [100 + PLAIN + 1000 + 43 + slots * SLOT], "{in_gap:?}");
    }
}

#[test]
fn post_backoff_is_each_categorys_own() {
    // Voice is sent at 106 and its post-backoff runs; best effort has none to wait for and goes an AIFS after the exchange.
    let end = 106 + EXCHANGE;
    let mut draws = backoffs(A, VO);
    let slots = u64::from(draws.below(4));
    assert!(slots > 0, "the seed gives voice a post-backoff");
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
    net.offer(100, A, B, tos(VO)).offer(end + 1, A, B, tos(BE)).run(9000);
    assert_eq!(data(&net, A), [(106, VO), (end + 43, BE)]);
    let mut net = net_of(&[edca(|_| ()), edca(|_| ()), dcf()]);
    net.offer(100, A, B, tos(VO)).offer(end + 1, A, B, tos(VO)).run(9000);
    assert_eq!(data(&net, A), [(106, VO), (end + 34 + slots * SLOT, VO)]);
}

#[test]
fn a_post_backoff_of_no_slots_is_over_by_edcas_letter_and_still_waits_for_its_interframe_space_by_dcfs() {
    // Voice's post-backoff is 0, the draw after it is not. D interrupts the AIFS after the exchange, and under D's frame the
    // next one is queued: with a timer of 0 and the medium busy it draws (10.23.2.2 a); by DCF's letter the backoff of 0 is
    // still under way.
    let draws = |cw: u16| {
        let mut draws = backoffs(A, VO);
        [draws.below(u32::from(cw) + 1), draws.below(u32::from(cw) + 1)]
    };
    let cw = (1..1024).find(|cw| draws(*cw)[0] == 0 && draws(*cw)[1] > 0).expect("some window draws 0, then more");
    let slots = u64::from(draws(cw)[1]);
    for (in_gap, slots) in
        [(AccessInGap::DcfLetter, 0), (AccessInGap::EdcaLetter, slots), (AccessInGap::AlwaysDraw, slots)]
    {
        let mut config = with(Countdown::Edca, in_gap);
        category(&mut config, VO).cw_min = cw;
        category(&mut config, VO).cw_max = 1023;
        let end = 106 + EXCHANGE;
        let mut net = net_of(&[config, edca(|_| ()), dcf(), dcf()]);
        net.offer(100, A, B, tos(VO))
            .air(end + 10, frame(Kind::Data, D, NOBODY, 0))
            .offer(end + 20, A, B, tos(VO))
            .run(9000);
        assert_eq!(net.data_starts(A), [106, end + 10 + PLAIN + 34 + slots * SLOT], "{in_gap:?}");
    }
}

#[test]
fn with_a_fresh_interframe_space_after_the_timeout_a_category_waits_its_own_aifs() {
    // B's ACK is lost once. The draw after the timeout is from 0 … 31.
    let mut config = with(Countdown::Edca, AccessInGap::EdcaLetter);
    config.after_timeout = AfterTimeout::FreshIfs;
    let slots = u64::from(backoffs(A, BE).below(32));
    let end = 106 + QOS;
    let mut net = net_of(&[config, edca(|_| ()), dcf(), dcf()]);
    net.errors(0, A, B, HIT).errors(end, A, B, CLEAN).offer(100, A, B, tos(BE)).run(9000);
    assert_eq!(net.data_starts(A), [106, end + TIMEOUT + 43 + slots * SLOT]);
}
