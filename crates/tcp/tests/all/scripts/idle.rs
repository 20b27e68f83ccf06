//! The window after an idle time. @RFC5681 sec. 4.1

use super::sack::{PEER, sack};
use super::script::connected;
use tcp::Config;

#[test]
fn after_an_idle_time_the_window_is_the_initial_one_and_the_board_is_empty() {
    let config = Config { initial_window_segments: 2, ..sack() };
    connected(config, PEER).run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 1001
         1.1  < . 1:1(0) ack 2001
         1.1  is cwnd=4000 pipe=0
         3    write 3000
         3    > . 2001:3001(1000) ack 1
         3    > . 3001:4001(1000) ack 1
         3    is cwnd=2000 pipe=2000",
    );
}

#[test]
fn a_window_that_rested_for_less_than_an_rto_is_what_it_was() {
    // RFC 5681 sec. 4.1.
    connected(Config { initial_window_segments: 2, ..sack() }, PEER).run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 1001
         1.1  < . 1:1(0) ack 2001
         1.9  write 4000
         1.9  > . 2001:3001(1000) ack 1
         1.9  > . 3001:4001(1000) ack 1
         1.9  > . 4001:5001(1000) ack 1
         1.9  > P. 5001:6001(1000) ack 1
         1.9  is cwnd=4000",
    );
}

#[test]
fn without_idle_restart_a_window_rests_for_ever() {
    connected(Config { initial_window_segments: 2, idle_restart: false, ..sack() }, PEER).run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 1001
         1.1  < . 1:1(0) ack 2001
         60   write 4000
         60   > . 2001:3001(1000) ack 1
         60   > . 3001:4001(1000) ack 1
         60   > . 4001:5001(1000) ack 1
         60   > P. 5001:6001(1000) ack 1",
    );
}

#[test]
fn a_restart_after_idle_never_opens_the_window() {
    // RW = min(IW, cwnd): a timeout has left less than the initial window of four.
    connected(Config { initial_window_segments: 4, ..sack() }, PEER).run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         2    > P. 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1001
         2.1  is cwnd=2000 ssthresh=2000
         9    write 4000
         9    > . 1001:2001(1000) ack 1
         9    > . 2001:3001(1000) ack 1
         9    is cwnd=2000",
    );
}
