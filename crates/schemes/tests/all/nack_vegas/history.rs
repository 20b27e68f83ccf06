//! At the sender.

use super::*;
use proptest::prelude::*;
use tcp::{Config, Connection, Input, Output, SenderHook, recovery};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Payload, Tcp};

/// The hook of a host on its sender.
fn hook(params: &[(&str, Value)]) -> Box<dyn SenderHook> {
    bench("nack-vegas", node(HERE, 2), params).unwrap().stack.sender_hook(OUT).unwrap()
}

/// A real sender with ten segments out, the first of them with number 1.
struct Sender {
    conn: Connection,
    iss: Seq,
    now: SimTime,
}

impl Sender {
    fn new(params: &[(&str, Value)]) -> Sender {
        Sender::with(hook(params), Config::default(), 1_000_000)
    }

    fn with(hook: Box<dyn SenderHook>, config: Config, bytes: u64) -> Sender {
        let config = Config { mss: 1000, initial_window_segments: 10, ..config };
        let iss = config.initial_sequence;
        let mut sender = Sender { conn: Connection::open(config, 1, 2), iss, now: SimTime::ZERO };
        sender.conn.set_hook(hook);
        sender.sends();
        let mut syn_ack = Tcp { flags: Flags::SYN | Flags::ACK, ack: iss + 1, window: WINDOW, ..Tcp::default() };
        syn_ack.options.push_mss(1000);
        syn_ack.options.push_sack_permitted();
        sender.now += Dur::from_ms(100);
        sender.conn.handle(sender.now, Input::Segment { tcp: &syn_ack, payload: &Payload::EMPTY, ce: false });
        sender.conn.handle(sender.now, Input::Write(bytes));
        assert_eq!(sender.sends().len(), 10);
        sender
    }

    /// The numbers of what it sends now, counted from its first.
    fn sends(&mut self) -> Vec<u32> {
        let (now, iss) = (self.now, self.iss);
        let outputs = std::iter::from_fn(|| self.conn.poll(now));
        let number = |output| match output {
            Output::Segment { tcp, .. } => Some(tcp.seq - iss),
            _ => None,
        };
        outputs.filter_map(number).collect()
    }

    /// The segments it sends when this ACK comes, 1 ms after the last, with these negative ACKs.
    fn hears(&mut self, number: u32, corrupted: &[u32]) -> Vec<u32> {
        self.now += Dur::from_ms(1);
        let mut tcp =
            Tcp { flags: Flags::ACK, seq: Seq(1), ack: self.iss + number, window: WINDOW, ..Tcp::default() };
        let corrupted: Vec<Seq> = corrupted.iter().map(|number| self.iss + *number).collect();
        assert_eq!(tcp.options.push_negative_acks(&corrupted), corrupted.len());
        self.conn.handle(self.now, Input::Segment { tcp: &tcp, payload: &Payload::EMPTY, ce: false });
        self.sends()
    }

    fn cuts(&self) -> bool {
        self.conn.ssthresh() < Bytes(u64::MAX)
    }
}

#[test]
fn a_number_is_repeated_at_once_and_three_duplicates_of_it_cut_nothing() {
    let mut sender = Sender::new(&[]);
    assert_eq!(sender.hears(1, &[1]), [1]);
    assert_eq!(sender.hears(1, &[]), []);
    assert_eq!(sender.hears(1, &[]), [10_001, 11_001, 12_001], "as many have left, no repetition");
    assert!(!sender.cuts());
    // Without a negative ACK it is congestion.
    let mut sender = Sender::new(&[]);
    (0..2).for_each(|_| assert_eq!(sender.hears(1, &[]), []));
    assert_eq!(sender.hears(1, &[])[..1], [1]);
    assert!(sender.cuts());
}

#[test]
fn a_copy_that_is_discarded_too_is_repeated_at_once() {
    let mut sender = Sender::new(&[]);
    assert_eq!(sender.hears(1, &[1]), [1]);
    assert_eq!(sender.hears(1, &[1]), [1]);
    assert!(!sender.cuts());
}

#[test]
fn without_repeating_at_once_three_duplicates_repeat_and_cut_nothing() {
    let mut sender = Sender::new(&[("retransmit", Value::Bool(false))]);
    assert_eq!(sender.hears(1, &[1]), []);
    assert_eq!(sender.hears(1, &[]), []);
    assert_eq!(sender.hears(1, &[])[..1], [1]);
    assert!(!sender.cuts());
}

#[test]
fn the_history_is_circular() {
    for (size, is_known) in [(1, false), (2, true)] {
        let mut sender = Sender::new(&[("history", Value::Int(size))]);
        assert_eq!(sender.hears(1, &[1, 3001]), [1, 3001]);
        (0..2).for_each(|_| _ = sender.hears(1, &[]));
        assert_eq!(sender.cuts(), !is_known, "{size}");
    }
}

#[test]
fn a_timeout_is_a_timeout_and_numbers_from_before_it_are_late() {
    let mut sender = Sender::new(&[]);
    assert_eq!(sender.hears(1, &[1]), [1]);
    sender.now = sender.conn.next_wakeup();
    sender.conn.handle(sender.now, Input::Timer);
    assert_eq!((sender.sends(), sender.conn.cwnd(), sender.cuts()), (vec![1], Bytes(1000), true));
    assert_eq!(sender.hears(1, &[1]), [], "of the original");
    // It goes on in slow start; what is discarded from now on is news.
    assert_eq!(sender.hears(1001, &[]), [1001, 2001]);
    assert_eq!(
        sender.hears(1001, &[1001]),
        [],
        "of the original: its copy left 1 ms ago, and the handshake took 100"
    );
    sender.now += Dur::from_ms(99);
    assert_eq!(sender.hears(1001, &[1001]), [1001]);
}

#[test]
fn a_number_that_duplicates_have_repeated_is_late_for_a_round_trip() {
    let mut sender = Sender::new(&[]);
    // An RTT of 99 ms: the handshake's is none of the hook's.
    sender.now += Dur::from_ms(98);
    sender.hears(1001, &[]);
    (0..3).for_each(|_| _ = sender.hears(1001, &[]));
    assert_eq!(sender.conn.counters().retransmissions, 1);
    assert_eq!(sender.hears(1001, &[1001]).first(), None, "the original's");
    sender.now += Dur::from_ms(99);
    assert_eq!(sender.hears(1001, &[1001])[..1], [1001], "the copy's");
}

#[test]
fn what_is_acknowledged_or_was_never_sent_is_not_repeated() {
    let mut sender = Sender::new(&[]);
    sender.hears(2001, &[1, 1001]);
    sender.hears(2001, &[99_001, 1_000_001]);
    assert_eq!(sender.conn.counters().retransmissions, 0);
}

#[test]
fn numbers_wrap_and_old_ones_do_not_come_back() {
    let config = Config { initial_sequence: Seq(u32::MAX - 2500), ..Config::default() };
    let mut sender = Sender::with(hook(&[]), config, 1_000_000);
    assert_eq!(sender.hears(1, &[1, 2001, 3001]), [1, 2001, 3001]);
    sender.hears(2001, &[]);
    assert_eq!(sender.hears(2001, &[2001])[..1], [2001]);
    assert!(!sender.cuts());
}

/// Blind or malicious numbers.
fn forged() -> impl Strategy<Value = (u32, Vec<u32>)> {
    let number = prop_oneof![0u32..40_000, (0u32..40).prop_map(|n| n * 1000 + 1), any::<u32>()];
    (0u32..12, prop::collection::vec(number, 0..9))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever negative ACKs say: nothing leaves outside the window, and no more than a window's worth is repeated for them in a
    /// round trip.
    #[test]
    fn forged_numbers_send_nothing_outside_the_window(
        acks in prop::collection::vec(forged(), 1..60),
        which in 0usize..4,
        iss in any::<u32>(),
    ) {
        let (name, rack) = [("reno", false), ("newreno", false), ("sack", false), ("sack", true)][which];
        let recovery = recovery::find(name);
        let config = Config { recovery, sack: name == "sack", rack, initial_sequence: Seq(iss), ..Config::default() };
        let mut sender = Sender::with(hook(&[]), config, 1_000_000);
        let mut acknowledged = 1;
        // What was repeated since this number began to be waited for.
        let (mut round, mut repeated, mut windows) = (0, 0, [Bytes(10_000); 2]);
        for (advance, numbers) in acks {
            let (before, pipe) = (sender.conn.facts(), sender.conn.pipe());
            // Every other ACK is a duplicate; none covers what was never sent.
            let most = (before.snd_max - sender.iss).saturating_sub(acknowledged) / 1000;
            acknowledged += advance.saturating_sub(6).min(most) * 1000;
            let sent = sender.hears(acknowledged, &numbers);
            let facts = sender.conn.facts();
            let (una, max) = (facts.snd_una - sender.iss, before.snd_max - sender.iss);
            if una > round {
                (round, repeated, windows) = (max, 0, [windows[1], Bytes::ZERO]);
            }
            windows[1] = windows[1].max(before.cwnd).max(facts.cwnd);
            let again = sent.iter().filter(|number| **number < max).count() as u64;
            // One may be for three duplicates or a partial ACK.
            repeated += 1000 * again.saturating_sub(1);
            for number in sent {
                prop_assert!(una <= number && number + 1000 <= una + u32::from(WINDOW) + 1000, "{number} {facts:?}");
            }
            // The hook's round trips begin where the first number is heard, so two of them may touch one of these.
            let most = windows[0] + windows[1];
            prop_assert!(repeated <= most.0, "{repeated} of {most:?} {facts:?}");
            if name == "sack" {
                // What is known to be corrupted goes whatever the window; what had been taken for lost already was no part of the pipe.
                let most = pipe.max(before.cwnd).max(facts.cwnd) + Bytes(1000 * again.max(2));
                prop_assert!(sender.conn.pipe() <= most, "{most:?} {facts:?}");
            }
        }
    }
}
