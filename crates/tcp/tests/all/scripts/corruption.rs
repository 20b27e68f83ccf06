//! Segments that a hook knows to be corrupted: sent again at once, without a cut, by every recovery. @CDC11 sec. 3.2

use super::script::{Script, config, out};
use tcp::{Config, FlowFacts, Loss, SenderHook, Seq, SeqRange, recovery};
use wire::Tcp;

const PEER: &str = "65535 <mss 1000, sackOK>";

/// Has everything sent again that a segment's option names, and knows of it from then on.
#[derive(Debug, Default)]
struct Believer {
    due: Vec<Seq>,
    /// And how far was sent when the copy was asked for.
    known: Vec<(Seq, Seq)>,
}

impl SenderHook for Believer {
    fn on_segment(&mut self, tcp: &Tcp, _: &FlowFacts) {
        self.due = tcp.options.negative_acks().collect();
    }

    fn corrupted(&mut self, facts: &FlowFacts) -> Option<SeqRange> {
        let number = self.due.pop()?;
        self.known.push((number, facts.snd_max));
        Some(SeqRange::new(number, facts.mss.0 as u32))
    }

    fn in_repair(&mut self, range: SeqRange, _: &FlowFacts) -> Option<Seq> {
        self.known.iter().find(|(number, _)| *number == range.start).map(|(_, sent)| *sent)
    }

    fn loss(&mut self, verdict: Loss, range: SeqRange, _: &FlowFacts) -> Loss {
        if self.known.iter().any(|(number, _)| *number == range.start) { Loss::Corruption } else { verdict }
    }

    fn on_timeout(&mut self, _: &FlowFacts) {
        self.known.clear();
    }
}

/// Ten segments are out at 1 s, `bytes` are written.
fn ten_of(bytes: u32, config: Config) -> Script {
    let config = Config { initial_window_segments: 10, ..config };
    out(config, PEER, 10, bytes).hook(Believer::default())
}

/// Ten segments are out at 1 s, more is waiting.
fn ten_out(config: Config) -> Script {
    ten_of(40_000, config)
}

fn by(recovery: &str) -> Config {
    Config { recovery: recovery::find(recovery), ..config() }
}

#[test]
fn a_corrupted_segment_is_sent_again_at_once_and_three_duplicates_neither_repeat_nor_halve() {
    for recovery in ["newreno", "reno", "tahoe"] {
        ten_of(14_000, by(recovery)).run(
            "1.1  < . 1:1(0) ack 1 <nack 1>
             1.1  > . 1:1001(1000) ack 1 again
             1.11 < . 1:1(0) ack 1
             1.12 < . 1:1(0) ack 1
             // Three have left the network: as many go on.
             1.12 > . 10001:11001(1000) ack 1
             1.12 > . 11001:12001(1000) ack 1
             1.12 > . 12001:13001(1000) ack 1
             1.12 is cwnd=10000 recovery=true retransmissions=1 fast-retransmits=0
             1.13 < . 1:1(0) ack 1
             1.13 > P. 13001:14001(1000) ack 1
             1.2  < . 1:1(0) ack 14001
             1.2  is recovery=false timeouts=0 retransmissions=1",
        );
    }
}

#[test]
fn what_left_after_the_copy_is_not_missing_when_the_copy_is_acknowledged() {
    ten_of(14_000, by("newreno")).run(
        "1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.11 < . 1:1(0) ack 1001 <nack 1001>
         1.11 > . 1001:2001(1000) ack 1 again
         1.12 < . 1:1(0) ack 1001
         1.13 < . 1:1(0) ack 1001
         1.13 > . 12001:13001(1000) ack 1
         1.13 > P. 13001:14001(1000) ack 1
         // All that left before the copy has arrived; what left after it is on its way.
         1.22 < . 1:1(0) ack 12001
         1.22 is recovery=false retransmissions=1 cwnd=11000 inflation=0
         // And what is lost of it is found by three duplicates as any other loss.
         1.23 < . 1:1(0) ack 12001
         1.24 < . 1:1(0) ack 12001
         1.25 < . 1:1(0) ack 12001
         1.25 > . 12001:13001(1000) ack 1 again
         1.25 is recovery=true cwnd=2000",
    );
}

#[test]
fn by_the_scoreboard_the_copy_takes_the_place_of_the_original_in_the_pipe() {
    for rack in [false, true] {
        ten_out(Config { sack: true, rack, ..config() }).run(
            "1.1  < . 1:1(0) ack 1 <sack 1001:2001, nack 1>
             1.1  > . 1:1001(1000) ack 1 again
             1.1  > . 10001:11001(1000) ack 1
             1.1  is pipe=10000 cwnd=10000 recovery=false
             1.11 < . 1:1(0) ack 1 <sack 1001:3001>
             1.11 > . 11001:12001(1000) ack 1
             1.12 < . 1:1(0) ack 1 <sack 1001:4001>
             1.12 > . 12001:13001(1000) ack 1
             1.13 < . 1:1(0) ack 1 <sack 1001:5001>
             1.13 > . 13001:14001(1000) ack 1
             1.13 is pipe=10000 cwnd=10000 recovery=false retransmissions=1 fast-retransmits=0",
        );
    }
}

#[test]
fn another_loss_beside_it_is_congestion_and_leaves_the_copy_alone() {
    // 2001 is lost too, and nobody says why.
    ten_out(Config { sack: true, ..config() }).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001, nack 1>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 10001:11001(1000) ack 1
         1.12 < . 1:1(0) ack 1 <sack 3001:7001, sack 1001:2001>
         1.12 > . 2001:3001(1000) ack 1 again
         1.12 is cwnd=5000 recovery=true retransmissions=2",
    );
    // NewReno finds it at the partial ACK, and cuts there.
    ten_out(by("newreno")).run(
        "1.1  < . 1:1(0) ack 1 <nack 1>
         1.1  > . 1:1001(1000) ack 1 again
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 10001:11001(1000) ack 1
         1.12 > . 11001:12001(1000) ack 1
         1.12 > . 12001:13001(1000) ack 1
         1.2  < . 1:1(0) ack 2001
         1.2  > . 2001:3001(1000) ack 1 again
         1.2  is cwnd=5000 retransmissions=2 recovery=true",
    );
}

#[test]
fn of_two_corrupted_segments_the_second_is_not_repeated_at_the_partial_ack() {
    ten_of(14_000, by("newreno")).run(
        "1.1  < . 1:1(0) ack 1 <nack 1>
         1.1  > . 1:1001(1000) ack 1 again
         1.11 < . 1:1(0) ack 1 <nack 3001>
         1.11 > . 3001:4001(1000) ack 1 again
         1.12 < . 1:1(0) ack 1
         1.12 > . 10001:11001(1000) ack 1
         1.12 > . 11001:12001(1000) ack 1
         1.12 > . 12001:13001(1000) ack 1
         1.2  < . 1:1(0) ack 3001
         1.2  > P. 13001:14001(1000) ack 1
         1.2  is recovery=true cwnd=10000 retransmissions=2
         1.3  < . 1:1(0) ack 14001
         1.3  is recovery=false retransmissions=2",
    );
}

#[test]
fn a_copy_that_is_corrupted_too_is_sent_again_without_waiting() {
    for sack in [false, true] {
        ten_out(Config { sack, ..config() }).run(
            "1.1  < . 1:1(0) ack 1 <nack 1>
             1.1  > . 1:1001(1000) ack 1 again
             1.105 < . 1:1(0) ack 1 <nack 1>
             1.105 > . 1:1001(1000) ack 1 again
             1.105 is cwnd=10000 recovery=false retransmissions=2 pipe=10000",
        );
    }
}

#[test]
fn a_copy_that_is_lost_to_congestion_waits_for_the_timer_and_with_rack_for_what_left_after_it() {
    ten_out(by("newreno")).run(
        "1.1  < . 1:1(0) ack 1 <nack 1>
         1.1  > . 1:1001(1000) ack 1 again
         // The timer is that of the copy: 1 s from 1.1 s.
         2.1  > . 1:1001(1000) ack 1 again
         2.1  is cwnd=1000 timeouts=1",
    );
    ten_of(11_000, Config { sack: true, rack: true, ..config() }).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001, nack 1>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > P. 10001:11001(1000) ack 1
         1.11 < . 1:1(0) ack 1 <sack 1001:10001>
         1.11 is recovery=false pipe=2000
         1.2  < . 1:1(0) ack 1 <sack 1001:11001>
         1.2  > . 1:1001(1000) ack 1 again
         1.2  is recovery=true cwnd=10000",
    );
}

#[test]
fn what_is_forged_or_stale_sends_nothing() {
    for sack in [false, true] {
        let text = "1.05 < . 1:1(0) ack 1001
                    1.05 > . 10001:11001(1000) ack 1
                    1.05 > . 11001:12001(1000) ack 1
                    // Acknowledged; never sent; half a circle away.
                    1.06 < . 1:1(0) ack 1001 <nack 1>
                    1.06 < . 1:1(0) ack 1001 win 65534 <nack 12001>
                    1.06 < . 1:1(0) ack 1001 win 65533 <nack 2147480000>
                    // The ACK itself is of what was never sent.
                    1.07 < . 1:1(0) ack 99001 <nack 2001>
                    1.07 > . 12001:12001(0) ack 1
                    1.08 < . 1:1(0) ack 1001 win 65532
                    1.08 is retransmissions=0 cwnd=11000 discarded=1
                    // The peer has taken its window back: only probes may go.
                    1.09 < . 1:1(0) ack 1001 win 0 <nack 2001>
                    1.1  < . 1:1(0) ack 1001 win 1500 <nack 2001>
                    1.1  is retransmissions=0";
        ten_out(Config { sack, ..config() }).run(text);
    }
    // What the receiver has is not sent again.
    ten_out(Config { sack: true, ..config() }).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001, nack 1001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  is retransmissions=0",
    );
}

#[test]
fn a_segment_with_a_fin_goes_again_as_it_was() {
    for sack in [false, true] {
        let config = Config { sack, initial_window_segments: 1, ..config() };
        out(config, PEER, 1, 1_500).hook(Believer::default()).run(
            "1    close
             1.1  < . 1:1(0) ack 1001
             1.1  > FP. 1001:1501(500) ack 1
             1.2  < . 1:1(0) ack 1001 <nack 1001>
             1.2  > FP. 1001:1501(500) ack 1 again",
        );
    }
}
