//! The losses that SACK blocks tell of, and the blocks that tell nothing. @RFC6675 sec. 4, 5

use super::sack::{PEER, sack, ten_out};
use super::script::connected;
use tcp::Config;

#[test]
fn three_duplicates_begin_recovery_though_too_little_is_sacked() {
    // Step 1: DupThresh duplicates, each of 300 bytes of news.
    let small = Config { mss: 1000, ..sack() };
    let mut script = connected(small, PEER);
    script.run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         1    write 300
         1    > P. 1001:1301(300) ack 1
         1    write 300
         1    > P. 1301:1601(300) ack 1
         1    write 300
         1    > P. 1601:1901(300) ack 1
         1.1  < . 1:1(0) ack 1 <sack 1001:1301>
         1.1  < . 1:1(0) ack 1 <sack 1001:1601>
         1.1  is recovery=false
         1.1  < . 1:1(0) ack 1 <sack 1001:1901>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is recovery=true",
    );
}

#[test]
fn one_ack_that_sacks_more_than_two_segments_begins_recovery() {
    // Step 2: IsLost(HighACK + 1). The other ACKs were lost.
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is dup-acks=1 recovery=true cwnd=5000 pipe=7000",
    );
}

#[test]
fn two_segments_sacked_are_reordering() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.11 < . 1:1(0) ack 3001
         1.11 > . 12001:13001(1000) ack 1
         1.11 > . 13001:14001(1000) ack 1
         1.11 is retransmissions=0 recovery=false cwnd=11000 pipe=11000",
    );
}

#[test]
fn three_ranges_make_a_loss_however_small() {
    // IsLost: DupThresh discontiguous ranges.
    let mut script = connected(sack(), PEER);
    let mut text = String::new();
    for i in 0..8 {
        text += &format!("1 write 100\n1 > P. {}:{}(100) ack 1\n", i * 100 + 1, i * 100 + 101);
    }
    script.run(&text).run(
        "1.1  < . 1:1(0) ack 1 <sack 101:201>
         1.1  < . 1:1(0) ack 1 <sack 301:401, sack 101:201>
         1.1  is recovery=false
         1.2  < . 1:1(0) ack 1 <sack 501:601, sack 301:401, sack 101:201>
         1.2  > . 1:101(100) ack 1 again
         // The third has two ranges beyond it, and the pipe has room for it: NextSeg (3). So has the fifth.
         1.2  > . 201:301(100) ack 1 again
         1.2  > . 401:501(100) ack 1 again
         1.2  > P. 701:801(100) ack 1 again          // the rescue, NextSeg (4)
         1.2  is recovery=true",
    );
}

#[test]
fn blocks_of_what_is_acknowledged_or_was_never_sent_say_nothing() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 3001
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.1  > . 12001:13001(1000) ack 1
         1.1  > . 13001:14001(1000) ack 1
         1.2  < . 1:1(0) ack 3001 <sack 14001:18001>
         1.2  < . 1:1(0) ack 3001 <sack 1001:2001>
         1.2  < . 1:1(0) ack 3001 <sack 12001:15001>
         1.2  is recovery=false pipe=11000 retransmissions=0",
    );
}

#[test]
fn a_block_counts_for_the_segments_it_covers_wholly() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1501:3501>
         1.1  > . 10001:11001(1000) ack 1
         1.1  is pipe=10000 flight=11000
         1.2  < . 1:1(0) ack 1 <sack 1501:4001>
         1.2  > . 11001:12001(1000) ack 1
         1.2  is pipe=10000 flight=12000",
    );
}

#[test]
fn duplicates_without_blocks_tell_nothing() {
    // Sec. 2: a duplicate is an ACK with news in its blocks.
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1
         1.1  < . 1:1(0) ack 1
         1.1  < . 1:1(0) ack 1
         1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  is recovery=false retransmissions=0",
    );
}

#[test]
fn an_ack_of_new_data_starts_the_count_of_duplicates_anew() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         1.1  > . 11001:12001(1000) ack 1
         1.2  < . 1:1(0) ack 3001 <sack 4001:5001>
         1.2  > . 12001:13001(1000) ack 1
         1.2  > . 13001:14001(1000) ack 1
         1.2  > . 14001:15001(1000) ack 1
         1.2  is recovery=false",
    );
}

#[test]
fn an_ack_of_new_data_may_tell_of_a_loss_too() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 2001 <sack 3001:6001>
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  is recovery=true ssthresh=4000 cwnd=4000 pipe=5000",
    );
}

#[test]
fn a_higher_threshold_needs_more_beyond() {
    ten_out(Config { dup_ack_threshold: 5, ..sack() }).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:5001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.1  > . 12001:13001(1000) ack 1
         1.1  > . 13001:14001(1000) ack 1
         1.1  is recovery=false
         1.2  < . 1:1(0) ack 1 <sack 1001:6001>
         1.2  > . 1:1001(1000) ack 1 again
         1.2  is recovery=true cwnd=5000",
    );
}
