//! Our TCP against scripts in virtual time, without tolerance. The language is `script.rs`.
//!
//! | what | scripts |
//! |---|---|
//! | handshake | `handshake::three_way_handshake_of_the_active_end`, `handshake::three_way_handshake_of_the_passive_end`, `handshake::simultaneous_open` |
//! | lost SYN | `handshake::a_lost_syn_is_repeated_after_1_2_4_seconds_and_leaves_a_window_of_one_segment`, `handshake::an_unanswered_syn_fails_after_its_retries` |
//! | lost SYN-ACK, lost third ACK | `handshake::a_lost_syn_ack_is_repeated_by_timer_and_at_once_for_a_repeated_syn`, `handshake::data_stands_in_for_a_lost_third_ack` |
//! | ACKs of SYN-RECEIVED | `handshake::syn_received_acknowledges_what_it_cannot_accept_at_once_and_not_later` |
//! | PAWS, TS.Recent | `timeout::a_segment_dropped_for_its_ack_number_leaves_ts_recent_alone`, `timeout::paws_forgets_ts_recent_before_the_sign_of_the_clock_turns` |
//! | teardown by this end, by the peer | `teardown::the_active_closer_waits_2_msl`, `teardown::the_passive_closer_is_done_with_the_last_ack` |
//! | teardown by both at once, lost FIN | `teardown::simultaneous_close`, `teardown::a_lost_fin_is_repeated_by_the_timer`, `teardown::a_fin_is_repeated_in_closing_and_last_ack_too` |
//! | TIME-WAIT, a FIN again | `teardown::time_wait_acknowledges_a_repeated_fin_and_starts_anew`, `teardown::time_wait_acknowledges_a_fin_within_the_window_too_and_starts_anew`, `teardown::time_wait_answers_an_empty_segment_at_the_right_edge` |
//! | reset | `handshake::a_reset_refuses_the_active_end_and_returns_the_passive_end_to_listen`, `teardown::a_reset_is_believed_only_at_rcv_nxt`, `teardown::a_reset_at_the_right_edge_is_dropped_in_silence`, `teardown::an_abort_resets_and_later_segments_are_reset_too` |
//! | reset, timestamps | `teardown::a_reset_carries_the_timestamps_of_its_connection` |
//! | throttled ACKs | `teardown::forged_segments_draw_ten_acks_in_five_seconds` |
//! | wrap | `handshake::sequence_numbers_wrap`, `timeout::paws_drops_the_old_and_the_unstamped` (timestamps) |
//! | zero window and probe | `window::a_closed_window_is_probed_with_backoff_and_used_when_it_opens`, `window::a_probe_that_is_taken_counts_as_sent`, `window::a_window_that_stays_shut_is_probed_for_ever_a_silent_peer_is_given_up` |
//! | FIN and window | `window::a_fin_waits_for_a_closed_window_and_probes_it_for_as_long_as_the_peer_answers`, `window::a_fin_does_not_ride_beyond_the_window` |
//! | ACK number, bounds | `window::an_ack_older_than_the_largest_window_takes_its_data_with_it` |
//! | growth of a window that is not full | `window::a_window_that_was_full_grows_though_nothing_follows`, `window::a_window_half_used_does_not_grow_one_more_than_half_used_does`, `window::in_congestion_avoidance_only_a_full_window_grows` |
//! | silly window, sender | `window::the_sender_leaves_a_silly_window_alone_until_the_timer_overrides`, `window::half_the_largest_window_is_worth_sending_to_a_small_peer` |
//! | silly window, receiver; probes answered | `window::a_slow_reader_closes_the_window_and_reopens_it_by_a_segment` |
//! | receive-buffer limit | `window::what_lies_beyond_the_window_is_cut_off`, `window::an_instant_reader_keeps_the_window_open` |
//! | window scale | `handshake::a_scaled_window_is_shifted_both_ways_but_never_on_a_syn`, `handshake::options_are_used_only_if_both_ends_offer_them` |
//! | delayed ACK by count | `receiver::a_delayed_ack_goes_out_with_the_second_segment` |
//! | delayed ACK by timer | `receiver::a_delayed_ack_goes_out_200_ms_after_the_first_segment_that_waits`, `receiver::a_delayed_ack_rides_on_data` |
//! | quick ACKs | `receiver::with_quickack_16_segments_are_acknowledged_at_once_then_the_delay_is_40_ms` |
//! | dynamic delayed ACK | `receiver::dynamic_delayed_acks_thin_out_at_segments_2_5_9` |
//! | timestamps | `timeout::timestamps_measure_every_ack_and_echo_the_first_that_waits`, `timeout::with_timestamps_a_retransmission_gives_a_sample_too` |
//! | Karn | `timeout::the_rto_doubles_and_stays_doubled_until_a_sample`, `recovery::nothing_is_timed_across_a_fast_retransmit` |
//! | RTO backoff | `timeout::the_backoff_stops_at_the_largest_rto`, `timeout::an_ack_of_what_was_sent_again_does_not_end_the_backoff_an_ack_of_new_data_does` |
//! | timeout | `timeout::a_timeout_goes_back_n_in_slow_start_and_skips_what_was_received`, `timeout::ssthresh_is_cut_once_for_a_segment_that_times_out_twice`, `recovery::a_timeout_ends_fast_recovery`, `recovery::a_timeout_in_fast_recovery_never_raises_ssthresh` |
//! | byte counting | `recovery::byte_counting_makes_up_for_delayed_acks`, `timeout::byte_counting_adds_one_segment_per_ack_in_slow_start_after_a_timeout`, `sack::growth_counts_what_was_newly_delivered_if_it_is_told_to` |
//! | user timeout | `timeout::the_user_timeout_ends_a_connection_that_makes_no_progress` |
//! | fast retransmit, Tahoe | `recovery::tahoe_sends_one_segment_and_starts_slowly` |
//! | fast retransmit, Reno | `recovery::reno_inflates_by_the_duplicates_and_deflates_at_the_new_ack` |
//! | Reno, two losses | `recovery::reno_leaves_recovery_at_a_partial_ack_and_needs_three_more_duplicates`, `recovery::reno_cuts_again_from_the_flight_for_a_second_loss_of_one_window` |
//! | fast retransmit, NewReno (partial ACKs) | `recovery::newreno_repairs_a_hole_per_partial_ack`, `recovery::newreno_restarts_its_timer_at_the_first_partial_ack_only` |
//! | DSACK, receiver | `receiver::what_came_twice_is_the_first_block_once`, `receiver::dsack_a_duplicate_segment`, `receiver::dsack_an_out_of_order_segment_and_a_duplicate`, `receiver::dsack_a_duplicate_of_an_out_of_order_segment`, `receiver::dsack_a_part_of_a_segment`, `receiver::dsack_of_two_parts_below_the_ack_the_first_is_told`, `receiver::dsack_of_two_parts_beyond_the_ack_the_first_is_told_and_the_block_it_is_in` |
//! | SACK, one hole; several holes | `sack::one_hole_is_repaired_while_new_data_fills_the_pipe`, `sack::several_holes_are_repaired_in_one_round_trip`, `sack::more_losses_within_a_recovery_are_repaired_without_a_second_cut` |
//! | SACK, what makes a loss | `sack_detection::three_duplicates_begin_recovery_though_too_little_is_sacked`, `sack_detection::one_ack_that_sacks_more_than_two_segments_begins_recovery`, `sack_detection::two_segments_sacked_are_reordering`, `sack_detection::three_ranges_make_a_loss_however_small`, `sack_detection::an_ack_of_new_data_may_tell_of_a_loss_too`, `sack_detection::an_ack_of_new_data_starts_the_count_of_duplicates_anew`, `sack_detection::a_higher_threshold_needs_more_beyond` |
//! | SACK, what leaves next; rescue | `sack::what_may_be_lost_goes_after_new_data`, `sack::the_last_segment_goes_once_more_for_each_recovery` |
//! | SACK, lost retransmission | `sack::a_repair_that_is_lost_waits_for_the_timer`, `rack::a_lost_repair_is_found_by_what_left_after_it`, `sack::several_holes_and_a_lost_repair_wait_for_the_timer_and_then_go_in_order`, `rack::a_repair_may_be_lost_twice` |
//! | SACK, timeout | `sack::after_a_timeout_only_what_is_not_sacked_is_sent_again`, `sack::after_a_timeout_no_recovery_begins_until_all_that_was_out_is_acknowledged`, `sack::a_timeout_in_recovery_ends_it`, `sack::a_timeout_halves_the_flight_though_a_part_of_it_is_sacked`, `sack::a_timeout_in_recovery_lowers_ssthresh_a_second_time`, `sack::a_window_taken_back_is_probed_and_the_blocks_are_forgotten` |
//! | SACK, reneging | `sack::a_receiver_that_has_thrown_away_what_it_sacked_gets_it_again`, `rack::reneging_is_found_at_the_timeout_with_rack_too` |
//! | SACK, blocks | `sack_detection::blocks_of_what_is_acknowledged_or_was_never_sent_say_nothing`, `sack_detection::a_block_counts_for_the_segments_it_covers_wholly`, `sack_detection::duplicates_without_blocks_tell_nothing` |
//! | SACK, end of a recovery; the next | `sack::a_loss_beyond_the_recovery_point_begins_another`, `sack::a_lost_fin_is_repaired_with_its_segment` |
//! | SACK, which recovery | `sack::a_peer_without_sack_gets_newreno`, `sack::a_recovery_that_is_named_does_without_the_blocks`, `sack::tahoe_with_sack_stays_tahoe_and_reno_recovers_by_sack`, `sack::tahoe_recovers_by_sack_if_it_is_told_to` |
//! | SACK and ECN | `sack_ecn::a_mark_in_recovery_cuts_nothing_more`, `sack_ecn::a_mark_on_a_duplicate_cuts_the_window_and_the_loss_after_it_does_not`, `sack_ecn::a_mark_after_recovery_cuts_again` |
//! | idle restart | `idle::after_an_idle_time_the_window_is_the_initial_one_and_the_board_is_empty`, `idle::a_window_that_rested_for_less_than_an_rto_is_what_it_was`, `idle::without_idle_restart_a_window_rests_for_ever`, `idle::a_restart_after_idle_never_opens_the_window` |
//! | SACK and schemes | `sack::a_loss_that_a_scheme_takes_for_none_of_congestion_is_repaired_without_a_cut`, `sack::a_schemes_retransmission_counts_in_the_pipe`, `sack::a_local_ack_leaves_the_scoreboard_right` |
//! | corruption that a scheme knows of | `corruption::a_corrupted_segment_is_sent_again_at_once_and_three_duplicates_neither_repeat_nor_halve`, `corruption::what_left_after_the_copy_is_not_missing_when_the_copy_is_acknowledged`, `corruption::by_the_scoreboard_the_copy_takes_the_place_of_the_original_in_the_pipe`, `corruption::another_loss_beside_it_is_congestion_and_leaves_the_copy_alone`, `corruption::of_two_corrupted_segments_the_second_is_not_repeated_at_the_partial_ack`, `corruption::a_copy_that_is_corrupted_too_is_sent_again_without_waiting`, `corruption::a_copy_that_is_lost_to_congestion_waits_for_the_timer_and_with_rack_for_what_left_after_it`, `corruption::what_is_forged_or_stale_sends_nothing`, `corruption::a_segment_with_a_fin_goes_again_as_it_was` |
//! | PRR, proportional; its end | `prr::above_ssthresh_one_segment_leaves_for_two_that_arrive`, `prr::at_the_end_the_window_is_ssthresh`, `prr::a_timeout_ends_the_reduction`, `prr::a_window_scaled_to_the_reduction_works_for_reno_too` |
//! | PRR, conservative and slow start bounds | `prr::after_a_burst_of_losses_as_much_leaves_as_arrives`, `prr::an_ack_of_new_data_without_further_loss_lets_one_more_leave` |
//! | PRR, SafeACK | `prr::losses_that_were_known_before_do_not_make_an_ack_unsafe`, `prr::an_ack_that_tells_of_a_further_loss_is_not_safe`, `prr::an_ack_that_calls_for_the_rescue_is_not_safe` |
//! | PRR, recovery by time | `prr::a_recovery_that_the_reordering_timer_begins_lets_one_segment_leave`, `prr::above_ssthresh_the_reordering_timer_lets_one_segment_leave_and_the_reduction_is_proportional` |
//! | PRR, application pause | `prr::what_the_application_had_not_written_leaves_when_it_has` |
//! | RACK, reordering window | `rack::three_segments_sacked_beyond_a_hole_leave_it_no_time`, `rack::fewer_leave_it_a_quarter_of_the_least_rtt`, `rack::reordering_within_the_window_costs_nothing` |
//! | RACK, adaptation | `rack::once_reordering_was_seen_three_segments_are_not_enough`, `rack::a_report_of_a_duplicate_widens_the_window`, `rack::what_one_ack_tells_is_no_reordering`, `rack::blocks_of_one_ack_tell_no_order`, `rack::a_window_that_a_duplicate_has_widened_is_narrow_again_after_16_recoveries_by_timeout` |
//! | RACK, timeout; refused without SACK | `rack::a_timeout_takes_for_lost_what_left_long_enough_ago`, `rack::rack_needs_sack_recovery`, `rack::the_ack_of_an_original_tells_nothing_of_its_repair` |
//! | TLP, with loss | `rack::the_probe_is_the_last_segment_if_there_is_nothing_new_and_finds_the_loss_of_the_tail`, `rack::a_probe_that_repairs_the_only_loss_cuts_the_window`, `rack::after_a_probe_the_retransmission_timer_runs` |
//! | TLP, without loss | `rack::the_probe_is_new_data_if_there_is_some`, `rack::a_probe_that_came_twice_was_needless`, `rack::a_second_ack_of_the_same_without_blocks_says_so_too`, `rack::the_probe_is_the_last_segment_if_the_peers_window_holds_no_more` |
//! | TLP, when | `rack::there_is_no_probe_while_something_is_sacked_or_recovery_lasts`, `rack::the_probe_is_never_later_than_the_timeout`, `rack::the_probe_runs_from_the_ack_and_is_bounded_by_the_timer_that_the_ack_has_started`, `rack::without_an_rtt_the_probe_waits_for_a_second` |
//! | Eifel by timestamp | `undo::a_timestamp_older_than_the_repetition_undoes_a_timeout`, `undo::a_timestamp_of_the_repetition_undoes_nothing`, `undo::reordering_taken_for_a_loss_is_undone_by_the_timestamp`, `undo::nothing_is_undone_unless_it_is_asked_for` |
//! | undo by DSACK | `undo::a_report_that_the_repetition_came_twice_undoes_the_cut`, `undo::each_repetition_has_to_be_reported`, `undo::a_report_that_comes_after_recovery_undoes_it_too` |
//! | F-RTO, a delay | `undo::f_rto_two_acks_after_a_timeout_that_go_on_show_that_it_was_a_delay`, `undo::f_rto_with_sack_duplicates_do_not_decide` |
//! | F-RTO, a loss | `undo::f_rto_a_duplicate_after_a_timeout_is_believed`, `undo::f_rto_a_duplicate_after_new_data_is_believed`, `undo::f_rto_without_new_data_the_timeout_is_believed`, `undo::f_rto_an_ack_of_everything_tells_nothing`, `undo::f_rto_a_second_timeout_is_believed`, `undo::f_rto_with_sack_news_of_new_data_alone_are_of_a_true_timeout`, `undo::a_lost_window_is_sent_again_in_order_whatever_may_be_undone` |
//! | pacing | `pace::a_window_is_spread_over_half_a_round_trip_in_slow_start_and_over_most_of_one_after_it`, `pace::repairs_by_the_scoreboard_are_paced_too` |
//! | HyStart++, leaving and resuming | `pace::hystart_leaves_slow_start_when_the_rtt_rises`, `pace::hystart_resumes_slow_start_when_the_rise_was_a_spike`, `pace::without_hystart_slow_start_goes_on`, `pace::hystart_counts_bytes_up_to_eight_segments_per_ack`, `pace::hystart_counts_all_bytes_if_segments_are_paced`, `pace::hystart_is_for_the_first_slow_start` |
//! | delivery rate, application limit | `pace::a_controller_that_asks_for_it_hears_the_delivery_rate`, `pace::samples_of_an_idle_application_are_marked` |
//! | BBR, STARTUP; DRAIN | `bbr::startup_paces_the_initial_window_at_2_885_windows_per_rtt`, `bbr::startup_doubles_the_rate_each_round_until_the_pipe_is_full`, `bbr::drain_empties_the_queue_at_the_inverse_of_the_gain` |
//! | BBR, PROBE_BW | `bbr::probe_bandwidth_cycles_through_its_gains_of_a_round_each` |
//! | BBR, PROBE_RTT | `bbr::probe_rtt_keeps_four_segments_for_200_ms_after_ten_seconds`, `bbr::probe_rtt_before_the_pipe_is_full_goes_back_to_startup` |
//! | BBR, limited by the application; restart from idle | `bbr::an_application_that_pauses_does_not_lower_the_bandwidth`, `bbr::an_application_that_never_fills_the_pipe_stays_in_startup` |
//! | BBR, losses | `bbr::a_loss_does_not_slow_it_down`, `bbr::a_loss_in_recovery_conserves_packets`, `bbr::prr_leaves_its_window_alone`, `bbr::a_timeout_leaves_one_segment_and_the_model` |
//! | what a controller hears | `pace::a_controller_hears_what_was_sacked_and_lost`, `pace::a_controller_hears_the_timestamps` |
//! | limited transmit | `recovery::limited_transmit_sends_two_segments_that_do_not_count`, `recovery::limited_transmit_is_over_with_an_ack_of_new_data` |
//! | Nagle | `window::nagle_holds_a_small_segment_back_while_anything_is_in_flight`, `window::without_nagle_small_segments_go_at_once` |
//! | ECN, negotiation | `ecn::an_offer_and_an_agreement_make_new_data_markable`, `ecn::a_simultaneous_open_agrees_if_every_syn_does` |
//! | ECN, fallback | `ecn::a_peer_that_does_not_agree_or_reflects_the_offer_gets_plain_tcp`, `ecn::a_plain_syn_and_an_end_that_does_without_make_a_plain_syn_ack`, `ecn::a_peer_that_repeats_its_syn_without_the_offer_has_withdrawn_it` |
//! | ECN, echo until CWR | `ecn::a_mark_is_echoed_on_everything_until_cwr`, `ecn::a_mark_waits_for_the_delayed_ack` |
//! | ECN, one cut per window | `ecn::an_echo_halves_the_window_once_per_window_and_the_first_new_data_says_so`, `ecn::a_loss_in_the_window_that_a_mark_has_cut_is_repaired_without_a_second_cut`, `ecn::an_echo_in_fast_recovery_and_of_its_window_cuts_nothing` |
//! | ECN, proportional rate reduction | `ecn::with_prr_an_echo_brings_the_window_down_in_a_round_trip`, `ecn::a_loss_while_a_mark_brings_the_window_down_goes_on_with_the_same_reduction`, `ecn::a_timeout_ends_the_reduction_of_a_mark` |
//! | small queues | `below::no_more_leaves_while_more_than_two_packets_of_two_segments_wait_and_one_leaves_for_each_that_has_left`, `below::by_radio_packets_have_the_data_of_eight_ms_by_wire_of_one`, `below::where_the_round_trip_is_short_packets_are_longer`, `below::a_segment_leaves_whatever_waits_if_no_more_than_one_is_out`, `below::a_repair_leaves_up_to_twice_as_much`, `below::news_of_the_queue_do_not_make_a_refused_segment_leave_again` |
//! | local congestion | `local::a_refused_segment_was_not_sent_and_the_window_comes_down_in_a_round_trip`, `local::a_window_is_cut_once_for_all_that_its_host_refuses`, `local::if_nothing_is_in_flight_a_refused_segment_is_tried_again_after_an_rto`, `local::a_refused_repair_is_due_again_at_the_next_ack`, `local::without_the_key_what_the_host_refuses_is_lost`, `local::without_sack_the_window_is_cut_at_once` |
//! | ECN, a window of one segment | `ecn::an_echo_at_a_window_of_one_segment_holds_new_data_back_for_an_rto` |
//! | ECN, not ECT | `ecn::after_a_timeout_what_is_sent_again_is_not_markable_and_new_data_carries_cwr`, `ecn::a_probe_of_a_closed_window_is_not_markable_and_leaves_cwr_to_new_data`, `ecn::a_fin_without_data_and_a_reset_are_not_markable` |

mod bbr;
mod below;
mod corruption;
mod ecn;
mod handshake;
mod idle;
mod local;
mod pace;
mod prr;
mod rack;
mod receiver;
mod recovery;
mod sack;
mod sack_detection;
mod sack_ecn;
mod schemes;
mod script;
mod teardown;
mod timeout;
mod undo;
mod window;

#[test]
fn the_table_names_scripts_that_exist() {
    let files = [
        ("bbr", include_str!("bbr.rs")),
        ("corruption", include_str!("corruption.rs")),
        ("ecn", include_str!("ecn.rs")),
        ("handshake", include_str!("handshake.rs")),
        ("idle", include_str!("idle.rs")),
        ("below", include_str!("below.rs")),
        ("local", include_str!("local.rs")),
        ("pace", include_str!("pace.rs")),
        ("prr", include_str!("prr.rs")),
        ("rack", include_str!("rack.rs")),
        ("receiver", include_str!("receiver.rs")),
        ("recovery", include_str!("recovery.rs")),
        ("sack", include_str!("sack.rs")),
        ("sack_detection", include_str!("sack_detection.rs")),
        ("sack_ecn", include_str!("sack_ecn.rs")),
        ("teardown", include_str!("teardown.rs")),
        ("timeout", include_str!("timeout.rs")),
        ("undo", include_str!("undo.rs")),
        ("window", include_str!("window.rs")),
    ];
    let rows = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//! |"));
    let names: Vec<&str> =
        rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|name| name.contains("::")).collect();
    assert!(names.len() > 175, "{}", names.len());
    for name in names {
        let (module, script) = name.split_once("::").expect("it has them");
        let text = files.iter().find(|(file, _)| *file == module).unwrap_or_else(|| panic!("{name}: no such file")).1;
        assert!(text.contains(&format!("#[test]\nfn {script}() {{")), "{name}: no such script");
    }
}
