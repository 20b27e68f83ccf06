//! Hooks and commands: what a cross-layer scheme may do to a sender.

use super::script::{Script, config, connected, out};
use std::cell::RefCell;
use std::rc::Rc;
use tcp::{Config, Connection, FlowFacts, Loss, RttSample, SenderHook, SeqRange};
use units::{Dur, SimTime};

/// Says of every loss that it was the radio's, and of every RTT that it was 40 ms.
#[derive(Debug)]
struct Radio;

impl SenderHook for Radio {
    fn loss(&mut self, _: Loss, range: SeqRange, facts: &FlowFacts) -> Loss {
        assert_eq!((range.start, range.len()), (facts.snd_una, 1000));
        Loss::Corruption
    }

    fn rtt_sample(&mut self, sample: RttSample, _: &FlowFacts) -> RttSample {
        RttSample { timer: Some(Dur::from_ms(40)), ..sample }
    }
}

fn four_out() -> Script {
    let mut script = connected(Config { initial_window_segments: 4, ..config() }, "65535 <mss 1000>");
    script.run(
        "1    write 40000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1",
    );
    script
}

#[test]
fn a_corruption_is_repaired_without_a_cut() {
    four_out().hook(Radio).run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         // The window goes on: three have left the network.
         1.12 > . 4001:5001(1000) ack 1
         1.12 > . 5001:6001(1000) ack 1
         1.12 > . 6001:7001(1000) ack 1
         1.12 is cwnd=4000 fast-retransmits=1
         1.22 < . 1:1(0) ack 4001
         1.22 > . 7001:8001(1000) ack 1
         1.22 is cwnd=4000 inflation=0",
    );
}

/// Knows of every loss at its first duplicate.
#[derive(Debug)]
struct Told;

impl SenderHook for Told {
    fn dup_ack_threshold(&mut self, configured: u32, facts: &FlowFacts) -> u32 {
        assert_eq!((configured, facts.dup_acks, facts.in_recovery), (3, 0, false));
        1
    }
}

#[test]
fn a_hook_may_take_the_first_duplicate_for_a_loss() {
    // Flight 4000: the cut is to 2000, and the one duplicate lets in one segment, not three. The others inflate the
    // window by one each and repeat nothing: 2000 + 3 * 1000 is 1000 more than is out.
    four_out().hook(Told).run(
        "1.1  < . 1:1(0) ack 1
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is cwnd=2000 inflation=1000 fast-retransmits=1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 4001:5001(1000) ack 1
         1.12 is cwnd=2000 inflation=3000 fast-retransmits=1 retransmissions=1",
    );
}

#[test]
fn a_timeout_by_corruption_repeats_one_segment_and_backs_off() {
    four_out().hook(Radio).run(
        "2    > . 1:1001(1000) ack 1 again
         2    is cwnd=4000 rto=2s flight=4000
         2.1  < . 1:1(0) ack 4001
         2.1  > . 4001:5001(1000) ack 1
         2.1  > . 5001:6001(1000) ack 1
         2.1  > . 6001:7001(1000) ack 1
         2.1  > . 7001:8001(1000) ack 1
         2.1  > . 8001:9001(1000) ack 1",
    );
}

/// Answers with a cut what comes after a timeout, and with none what comes before.
#[derive(Debug, Default)]
struct Patient {
    timed_out: bool,
}

impl SenderHook for Patient {
    fn on_timeout(&mut self, facts: &FlowFacts) {
        assert_eq!(facts.rto, Dur::from_secs(2), "the timer has backed off");
        self.timed_out = true;
    }

    fn loss(&mut self, _: Loss, _: SeqRange, _: &FlowFacts) -> Loss {
        if self.timed_out { Loss::Congestion } else { Loss::Corruption }
    }
}

#[test]
fn a_hook_hears_of_a_timeout_before_it_judges_the_loss() {
    four_out().hook(Patient::default()).run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.12 > . 4001:5001(1000) ack 1
         1.12 > . 5001:6001(1000) ack 1
         1.12 > . 6001:7001(1000) ack 1
         1.12 is cwnd=4000
         2.12 > . 1:1001(1000) ack 1 again
         2.12 is cwnd=1000 timeouts=1",
    );
}

#[test]
fn a_hook_may_rewrite_the_rtt_that_the_timer_gets() {
    // 100 ms from the SYN; then SRTT 7/8 * 100 + 1/8 * 40.
    four_out().hook(Radio).run(
        "1.5  < . 1:1(0) ack 4001
         1.5  > . 4001:5001(1000) ack 1
         1.5  > . 5001:6001(1000) ack 1
         1.5  > . 6001:7001(1000) ack 1
         1.5  > . 7001:8001(1000) ack 1
         1.5  > . 8001:9001(1000) ack 1
         1.5  is srtt=92500us",
    );
}

/// Takes up to this from what the controller gets, and notes what it was asked and what controllers are told.
#[derive(Debug, Default)]
struct Shortens {
    by: Dur,
    asked: Rc<RefCell<Vec<RttSample>>>,
    told: Rc<RefCell<Vec<Option<Dur>>>>,
}

impl SenderHook for Shortens {
    fn rtt_sample(&mut self, sample: RttSample, _: &FlowFacts) -> RttSample {
        self.asked.borrow_mut().push(sample);
        let least = Dur::from_ms(100);
        let controller = sample.controller.map(|rtt| rtt.saturating_sub(self.by).max(least));
        RttSample { controller, ..sample }
    }

    fn on_ack(&mut self, ack: &tcp::Ack, _: &FlowFacts) {
        self.told.borrow_mut().push(ack.rtt);
    }
}

/// A sample of an ACK at this millisecond, in milliseconds.
fn sample(at: u64, ack: u32, timer: Option<u64>, controller: Option<u64>) -> RttSample {
    let (now, ack) = (SimTime::ZERO + Dur::from_ms(at), Config::default().initial_sequence + ack);
    RttSample { now, ack, timer: timer.map(Dur::from_ms), controller: controller.map(Dur::from_ms) }
}

#[test]
fn what_the_controller_gets_of_an_rtt_leaves_the_timer_alone() {
    let hook = Shortens { by: Dur::from_ms(370), ..Shortens::default() };
    let (asked, told) = (Rc::clone(&hook.asked), Rc::clone(&hook.told));
    // SRTT 7/8 * 100 + 1/8 * 500, as without the hook; the controller is told 500 - 370.
    four_out().hook(hook).run(
        "1.5  < . 1:1(0) ack 4001
         1.5  > . 4001:5001(1000) ack 1
         1.5  > . 5001:6001(1000) ack 1
         1.5  > . 6001:7001(1000) ack 1
         1.5  > . 7001:8001(1000) ack 1
         1.5  > . 8001:9001(1000) ack 1
         1.5  is srtt=150ms rtt-samples=2",
    );
    assert_eq!(*asked.borrow(), [sample(1500, 4001, Some(500), Some(500))]);
    assert_eq!(*told.borrow(), [Some(Dur::from_ms(130))]);
}

#[test]
fn a_controller_that_listens_to_delay_hears_what_a_hook_left_of_it() {
    // Vegas: the first ACK begins a round trip and lets slow start grow, from 4 to 5. The second ends it, with twice the least
    // RTT: 5 (1 - 100/200) = 2.5 are queued, more than gamma, so slow start ends at 5 * 100/200 + 1. Of 100 ms nothing is queued;
    // slow start pauses in this round trip.
    for (by, outcome) in [(0, "cwnd=3500 ssthresh=3500"), (100, "cwnd=5000 ssthresh=18446744073709551615")] {
        let hook = Shortens { by: Dur::from_ms(by), ..Shortens::default() };
        let asked = Rc::clone(&hook.asked);
        let vegas = Config {
            initial_window_segments: 4,
            congestion: tcp::cc::find("vegas").expect("it is there"),
            ..config()
        };
        let mut script = out(vegas, "65535 <mss 1000>", 4, 40_000).hook(hook);
        let more = if by == 0 { "" } else { "1.2  > . 7001:8001(1000) ack 1\n1.2  > . 8001:9001(1000) ack 1" };
        script.run(&format!(
            "1.1  < . 1:1(0) ack 1001
             1.1  > . 4001:5001(1000) ack 1
             1.1  > . 5001:6001(1000) ack 1
             1.2  < . 1:1(0) ack 4001
             1.2  > . 6001:7001(1000) ack 1
             {more}
             1.2  is {outcome} srtt=100ms",
        ));
        // The first segment was timed; the second ACK covers none that is.
        let both = [sample(1100, 1001, Some(100), Some(100)), sample(1200, 4001, None, Some(200))];
        assert_eq!(*asked.borrow(), both);
    }
}

#[test]
fn a_duplicate_with_a_sack_block_tells_the_controller_an_rtt_and_the_timer_none() {
    let hook = Shortens { by: Dur::from_ms(30), ..Shortens::default() };
    let (asked, told) = (Rc::clone(&hook.asked), Rc::clone(&hook.told));
    let sack = Config { initial_window_segments: 4, sack: true, ..config() };
    out(sack, "65535 <mss 1000,sackOK>", 4, 4000).hook(hook).run(
        "1.15 < . 1:1(0) ack 1 <sack 1001:2001>
         1.15 is srtt=100ms rtt-samples=1 dup-acks=1",
    );
    assert_eq!(*asked.borrow(), [sample(1150, 1, None, Some(150))]);
    assert_eq!(*told.borrow(), [Some(Dur::from_ms(120))]);
}

#[test]
fn retransmit_sends_what_is_out_again_and_cuts_nothing() {
    four_out().run(
        "1.1  retransmit 1001:3501
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  > . 3001:3501(500) ack 1 again
         1.1  is cwnd=4000 retransmissions=3
         1.2  < . 1:1(0) ack 2001
         1.2  > . 4001:5001(1000) ack 1
         1.2  > . 5001:6001(1000) ack 1
         1.2  > . 6001:7001(1000) ack 1
         1.3  retransmit 1:1001          // acknowledged
         1.3  retransmit 9001:10001      // never sent
         1.3  is retransmissions=3",
    );
}

#[test]
fn bound_caps_what_is_in_flight() {
    four_out().run(
        "1.05 bound 3000
         1.1  < . 1:1(0) ack 1001
         1.2  < . 1:1(0) ack 3001
         1.2  > . 4001:5001(1000) ack 1
         1.2  > . 5001:6001(1000) ack 1
         1.2  is flight=3000
         1.3  bound 18446744073709551615
         1.3  > . 6001:7001(1000) ack 1
         1.3  > . 7001:8001(1000) ack 1
         1.3  > . 8001:9001(1000) ack 1",
    );
}

#[test]
fn a_frozen_sender_keeps_its_window_and_its_peace() {
    four_out().run(
        "1.1  freeze
         1.2  < . 1:1(0) ack 2001
         9    < . 1:101(100) ack 2001     // the other direction goes on
         9    > . 4001:4001(0) ack 101
         9    is cwnd=5000 flight=2000 timeouts=0
         9.5  thaw
         9.5  > . 4001:5001(1000) ack 101
         9.5  > . 5001:6001(1000) ack 101
         9.5  > . 6001:7001(1000) ack 101
         10.5 > . 2001:3001(1000) ack 101 again",
    );
}

#[test]
fn rearm_starts_the_timer_anew() {
    four_out().run(
        "1.8  rearm
         2.8  > . 1:1001(1000) ack 1 again",
    );
}

#[test]
fn a_local_ack_moves_the_window_and_the_real_one_later_is_no_duplicate() {
    four_out().run(
        "1.01 local-ack 2001
         1.01 > . 4001:5001(1000) ack 1
         1.01 > . 5001:6001(1000) ack 1
         1.01 > . 6001:7001(1000) ack 1
         1.01 is cwnd=5000 rtt-samples=1
         1.1  < . 1:1(0) ack 1001
         1.1  < . 1:1(0) ack 2001
         1.1  is dup-acks=0
         1.1  < . 1:1(0) ack 2001
         1.1  is dup-acks=1
         1.1  local-ack 1001
         1.1  local-ack 99001
         1.1  is flight=5000",
    );
}

/// Passes on what the one before it said, and counts.
#[derive(Debug)]
struct Witness {
    says: u32,
    heard: Rc<RefCell<Vec<String>>>,
}

impl SenderHook for Witness {
    fn on_ack(&mut self, ack: &tcp::Ack, _: &FlowFacts) {
        self.heard.borrow_mut().push(format!("{}: ack {}", self.says, ack.number.0));
    }

    fn dup_ack_threshold(&mut self, configured: u32, _: &FlowFacts) -> u32 {
        self.heard.borrow_mut().push(format!("{}: {configured} duplicates", self.says));
        configured.min(self.says)
    }

    fn loss(&mut self, verdict: Loss, _: SeqRange, _: &FlowFacts) -> Loss {
        self.heard.borrow_mut().push(format!("{}: {verdict:?}", self.says));
        if self.says == 2 { Loss::Corruption } else { verdict }
    }

    fn rtt_sample(&mut self, sample: RttSample, _: &FlowFacts) -> RttSample {
        let more = Dur::from_ms(u64::from(self.says));
        RttSample {
            timer: sample.timer.map(|rtt| rtt + more),
            controller: sample.controller.map(|rtt| rtt + more * 10),
            ..sample
        }
    }
}

#[test]
fn of_several_hooks_each_gets_what_the_one_before_it_said() {
    let heard = Rc::<RefCell<Vec<String>>>::default();
    let witness = |says| Box::new(Witness { says, heard: Rc::clone(&heard) }) as Box<dyn SenderHook>;
    // Two duplicates are enough for the first, and the loss is corruption for it: retransmitted, no cut.
    four_out().hook(vec![witness(2), witness(3)]).run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.11 > . 1:1001(1000) ack 1 again
         1.11 > . 4001:5001(1000) ack 1
         1.11 > . 5001:6001(1000) ack 1
         1.12 is cwnd=4000",
    );
    let heard = heard.borrow();
    let of = |text: &str| heard.iter().filter(|said| said.contains(text)).cloned().collect::<Vec<_>>();
    assert_eq!(of("ack 1"), ["2: ack 1", "3: ack 1", "2: ack 1", "3: ack 1"]);
    assert_eq!(of("duplicates")[..2], ["2: 3 duplicates", "3: 2 duplicates"]);
    assert_eq!(heard[heard.len() - 2..], ["2: Congestion", "3: Corruption"]);
    // A sample passes both: 2 ms and 3 ms more for the timer, 20 ms and 30 ms for the controller.
    let (mut chain, facts) = (vec![witness(2), witness(3)], Connection::listen(Config::default(), 1, 2).facts());
    let rtt = chain.rtt_sample(sample(1500, 1001, Some(40), Some(60)), &facts);
    assert_eq!(rtt, sample(1500, 1001, Some(45), Some(110)));
}
