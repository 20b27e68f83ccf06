//! Two connections joined by a pipe that loses, delays, reorders, duplicates and marks, in virtual time. Whatever the
//! parameters: each byte arrives once and in order, both ends close, and the same run twice is the same run.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tcp::{Config, Connection, Counters, FlowFacts, Input, Loss, Output, SenderCommand, SenderHook, Seq, SeqRange};
use tcp::{State, Undo, ack, cc, recovery};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Payload, Tcp};

/// SplitMix64: the pipe's dice.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn percent(&mut self, p: u64) -> bool {
        self.roll() % 100 < p
    }
}

#[derive(Debug, Clone)]
struct Path {
    loss: u64,
    /// Of what may be marked.
    mark: u64,
    duplicate: u64,
    /// Of data, by the sender's own host.
    refuse: u64,
    delay_us: u64,
    jitter_us: u64,
}

/// The habits of an application.
#[derive(Debug, Clone)]
struct Habits {
    sends: u64,
    chunk: u64,
    read_every_ms: u64,
    read_at_most: u64,
}

#[derive(Debug, Clone)]
struct Case {
    configs: [Config; 2],
    habits: [Habits; 2],
    path: Path,
    simultaneous: bool,
    /// Commands that schemes give each end, 20 ms apart.
    commands: u32,
    seed: u64,
}

/// A scheme that takes some losses for corruption, and asks for copies of what it names blindly.
#[derive(Debug, Default)]
struct Optimist {
    asked: u64,
    /// RACK names what is lost, the first segment or another.
    by_time: bool,
    /// It said that a copy of the first segment is under way: a loss is then another's.
    in_repair: bool,
}

impl SenderHook for Optimist {
    fn loss(&mut self, _: Loss, range: SeqRange, facts: &FlowFacts) -> Loss {
        assert!(
            // A loss that a tail loss probe repaired is acknowledged already.
            (range.start.le(facts.snd_una) || (self.in_repair || self.by_time) && range.start.lt(facts.snd_max))
                && !range.is_empty()
                && range.end.le(facts.snd_max),
            "{range:?} {facts:?}"
        );
        self.asked += 1;
        if self.asked.is_multiple_of(3) { Loss::Corruption } else { Loss::Congestion }
    }

    /// Now and then, numbers around what is in flight: acknowledged, SACKed, never sent, not a segment's first.
    fn corrupted(&mut self, facts: &FlowFacts) -> Option<SeqRange> {
        self.asked += 1;
        let from = facts.snd_una - 700 + (self.asked * 331 % 9000) as u32;
        self.asked.is_multiple_of(4).then(|| SeqRange::new(from, (self.asked * 97 % 2000) as u32))
    }

    fn in_repair(&mut self, _: SeqRange, facts: &FlowFacts) -> Option<Seq> {
        self.asked += 1;
        self.in_repair = self.asked.is_multiple_of(5);
        self.in_repair.then_some(facts.snd_max - (self.asked % 3000) as u32)
    }
}

/// Things that happen, at a time and in the order they were made.
enum Event {
    Arrival { at: usize, tcp: Tcp, payload: Payload, ce: bool },
    Write { at: usize },
    Read { at: usize },
    Command { at: usize, left: u32 },
}

struct End {
    conn: Connection,
    written: u64,
    readable: u64,
    read: u64,
    all_losses_cut: bool,
    peer_closed: bool,
    over: Option<bool>,
    cuts: Cuts,
}

/// The cuts of a window, as a test sees them.
#[derive(Default)]
struct Cuts {
    /// The highest number sent at the last one.
    sent: Option<Seq>,
    by_mark: bool,
    timeouts: u64,
    fast_retransmits: u64,
    marks: u64,
}

/// Tells an end what happened. A mark cuts the window only if something sent after the last cut is acknowledged: once per
/// window of data (@RFC3168 sec. 6.1.2), and never below a segment nor open.
fn tell(end: &mut End, now: SimTime, input: Input<'_>) {
    let before = end.conn.facts();
    end.conn.handle(now, input);
    let (facts, counters) = (end.conn.facts(), end.conn.counters());
    let cuts = &mut end.cuts;
    let by_mark = counters.ecn_cuts > cuts.marks;
    if by_mark {
        assert!(
            cuts.sent.is_none_or(|sent| sent.lt(facts.snd_una)),
            "twice for one window: {:?} {facts:?}",
            cuts.sent
        );
        assert!(!before.in_recovery || !facts.in_recovery, "in recovery: {facts:?}");
        // Proportional rate reduction keeps cwnd below ssthresh until recovery is over.
        let most = if before.in_recovery { before.cwnd.max(before.ssthresh) } else { before.cwnd };
        assert!(facts.mss <= facts.cwnd && facts.cwnd <= most, "{before:?} {facts:?}");
    }
    // With a scheme, a loss may have been no congestion; with a mark, it may have been answered before.
    let (timeouts, fast_retransmits) = (counters.timeouts, counters.fast_retransmits);
    let answered = cuts.by_mark && cuts.sent.is_some_and(|sent| facts.snd_una.lt(sent));
    // The timeout of a SYN cuts nothing.
    let timed_out = timeouts > cuts.timeouts && end.conn.state().is_synchronized();
    let by_loss = end.all_losses_cut && (timed_out || (fast_retransmits > cuts.fast_retransmits && !answered));
    let sent = if by_mark || by_loss { Some(facts.snd_max) } else { cuts.sent };
    let by_mark = by_mark || (cuts.by_mark && !by_loss);
    *cuts = Cuts { sent, by_mark, timeouts, fast_retransmits, marks: counters.ecn_cuts };
}

fn show(ends: &[End]) -> String {
    let one = |end: &End| format!("{:?} {:?} next {}", end.conn.state(), end.conn.facts(), end.conn.next_wakeup());
    format!("\n{}\n{}", one(&ends[0]), one(&ends[1]))
}

/// Runs a case to its end; returns what both ends counted and when it was over.
fn run(case: &Case) -> ([Counters; 2], SimTime) {
    let mut ends: Vec<End> = (0..2)
        .map(|i| {
            let (config, mine) = (case.configs[i].clone(), [(1, 2), (2, 1)][i]);
            let active = i == 0 || case.simultaneous;
            let make = if active { Connection::open } else { Connection::listen };
            let mut conn = make(config, mine.0, mine.1);
            if case.commands > 0 {
                conn.set_hook(Box::new(Optimist { by_time: case.configs[i].rack, ..Optimist::default() }));
            }
            End {
                conn,
                written: 0,
                readable: 0,
                read: 0,
                all_losses_cut: case.commands == 0,
                peer_closed: false,
                over: None,
                cuts: Cuts::default(),
            }
        })
        .collect();
    let mut dice = Dice(case.seed);
    let mut queue: BTreeMap<(SimTime, u64), Event> = BTreeMap::new();
    let mut made = 0;
    for at in 0..2 {
        for event in [Event::Write { at }, Event::Read { at }, Event::Command { at, left: case.commands }] {
            made += 1;
            queue.insert((SimTime::ZERO, made), event);
        }
    }
    let mut now = SimTime::ZERO;
    for step in 0.. {
        assert!(step < 3_000_000, "it does not end: {}", show(&ends));
        for at in 0..2 {
            while let Some(output) = ends[at].conn.poll(now) {
                let end = &mut ends[at];
                match output {
                    Output::Segment { tcp, payload, retransmission, ect } => {
                        assert!(!ect || (end.conn.ecn() && payload.len > 0 && !retransmission), "{tcp:?}");
                        // Whatever a scheme names: sent before, and not acknowledged.
                        let (until, facts) = (tcp.seq + payload.len, end.conn.facts());
                        let again = retransmission && payload.len > 0;
                        assert!(!again || facts.snd_una.le(tcp.seq) && until.le(facts.snd_max), "{tcp:?} {facts:?}");
                        assert!(ect || !tcp.flags.has(Flags::CWR) || tcp.flags.has(Flags::SYN), "{tcp:?}");
                        if end.conn.config().local_congestion && payload.len > 0 && dice.percent(case.path.refuse) {
                            let cuts = end.conn.counters().local_cuts;
                            end.conn.handle(
                                now,
                                Input::Refused(SeqRange::new(
                                    tcp.seq,
                                    payload.len + u32::from(tcp.flags.has(Flags::FIN)),
                                )),
                            );
                            if end.conn.counters().local_cuts > cuts {
                                (end.cuts.sent, end.cuts.by_mark) = (Some(end.conn.facts().snd_max), true);
                            }
                            continue;
                        }
                        let copies = if dice.percent(case.path.loss) {
                            0
                        } else {
                            1 + usize::from(dice.percent(case.path.duplicate))
                        };
                        for _ in 0..copies {
                            let delay = case.path.delay_us + dice.roll() % (case.path.jitter_us + 1);
                            made += 1;
                            let ce = ect && dice.percent(case.path.mark);
                            let event = Event::Arrival { at: 1 - at, tcp, payload: payload.clone(), ce };
                            queue.insert((now + Dur::from_us(delay), made), event);
                        }
                    }
                    Output::Readable { offset, len } => {
                        assert_eq!(offset, end.readable, "in order, once");
                        end.readable += u64::from(len);
                        if case.habits[at].read_every_ms == 0 {
                            end.read += u64::from(len);
                            end.conn.handle(now, Input::Read(u64::from(len)));
                        }
                    }
                    Output::PeerClosed => {
                        assert_eq!(end.readable, case.habits[1 - at].sends, "all of it");
                        end.peer_closed = true;
                    }
                    Output::Closed => end.over = Some(true),
                    Output::Failed(_) => end.over = Some(false),
                    Output::Connected | Output::SendSpace => {}
                }
            }
            let (conn, facts) = (&ends[at].conn, ends[at].conn.facts());
            assert!(facts.cwnd >= facts.mss || !conn.state().is_synchronized(), "{facts:?}");
            assert!(facts.ssthresh >= facts.mss && facts.rto >= conn.config().min_rto.min(conn.config().initial_rto));
            let outstanding = !facts.frozen && facts.snd_una != facts.snd_nxt && conn.state() != State::Closed;
            assert!(!outstanding || conn.next_wakeup() != SimTime::NEVER, "no timer: {}", show(&ends));
        }
        if ends.iter().all(|end| end.over.is_some()) {
            break;
        }
        let wakeup = [ends[0].conn.next_wakeup(), ends[1].conn.next_wakeup()];
        let next = queue.first_key_value().map_or(SimTime::NEVER, |((time, _), _)| *time);
        let earliest = next.min(wakeup[0]).min(wakeup[1]);
        assert_ne!(earliest, SimTime::NEVER, "stuck: {}", show(&ends));
        assert!(earliest >= now, "a timer in the past: {}", show(&ends));
        now = earliest;
        if next > now {
            let at = usize::from(wakeup[0] != now);
            tell(&mut ends[at], now, Input::Timer);
            continue;
        }
        let (_, event) = queue.pop_first().expect("one is due");
        match event {
            Event::Arrival { at, tcp, payload, ce } => {
                tell(&mut ends[at], now, Input::Segment { tcp: &tcp, payload: &payload, ce });
            }
            Event::Write { at } => {
                let (end, habits) = (&mut ends[at], &case.habits[at]);
                let bytes = habits.chunk.min(habits.sends - end.written);
                end.written += bytes;
                end.conn.handle(now, Input::Write(bytes));
                if end.written == habits.sends {
                    end.conn.handle(now, Input::Close);
                } else {
                    made += 1;
                    queue.insert((now + Dur::from_ms(3), made), Event::Write { at });
                }
            }
            Event::Command { at, left } if left > 0 => {
                let conn = &mut ends[at].conn;
                let from = conn.snd_una() + (dice.roll() % 3000) as u32;
                let command = match dice.roll() % 5 {
                    0 => SenderCommand::Retransmit(SeqRange::new(from - 1000, (dice.roll() % 3000) as u32)),
                    1 => SenderCommand::Bound(Bytes(dice.roll() % 10_000)),
                    2 => SenderCommand::Freeze,
                    3 => SenderCommand::Thaw,
                    _ => SenderCommand::RearmRto,
                };
                conn.handle(now, Input::Command(command));
                made += 1;
                queue.insert((now + Dur::from_ms(20), made), Event::Command { at, left: left - 1 });
            }
            Event::Command { at, .. } => {
                // Whatever was asked for, it is over.
                for command in [SenderCommand::Bound(Bytes(u64::MAX)), SenderCommand::Thaw] {
                    ends[at].conn.handle(now, Input::Command(command));
                }
            }
            Event::Read { at } => {
                let (end, habits) = (&mut ends[at], &case.habits[at]);
                let bytes = (end.readable - end.read).min(habits.read_at_most);
                end.read += bytes;
                end.conn.handle(now, Input::Read(bytes));
                if habits.read_every_ms > 0 && !(end.peer_closed && end.read == end.readable) && end.over.is_none() {
                    made += 1;
                    queue.insert((now + Dur::from_ms(habits.read_every_ms), made), Event::Read { at });
                }
            }
        }
    }
    for at in 0..2 {
        // The last ACK of a close may be lost for good; then one end gives up, with all delivered.
        assert!(ends[at].peer_closed, "{}", show(&ends));
        assert_eq!(ends[at].readable, case.habits[1 - at].sends);
        let counters = ends[at].conn.counters();
        assert_eq!(counters.delivered_bytes, ends[at].readable);
        assert!(counters.bytes_sent >= case.habits[at].sends);
    }
    ([*ends[0].conn.counters(), *ends[1].conn.counters()], now)
}

fn configs() -> impl Strategy<Value = Config> {
    let names = (prop::sample::select(cc::NAMES), prop::sample::select(ack::NAMES));
    let sizes = (200u16..1500, 1u32..11, prop::option::of(2u32..30), 600u64..60_000, 300u64..120_000);
    let flags = (any::<[bool; 8]>(), prop::option::of(0u8..8), prop::option::of(1u8..4));
    // Just before the wrap, where it matters, or anywhere.
    let isn = prop_oneof![(0u32..5000).prop_map(|n| Seq(u32::MAX - n)), any::<u32>().prop_map(Seq)];
    let times = (20u64..1000, 1u32..5, prop::option::of(2000u64..20_000));
    let repairs = (
        prop::option::of(prop::sample::select(recovery::NAMES)),
        any::<[bool; 6]>(),
        prop::sample::select(vec![Undo::None, Undo::Eifel, Undo::FRto, Undo::All]),
    );
    (names, sizes, flags, isn, times, repairs).prop_map(|(names, sizes, flags, initial_sequence, times, repairs)| {
        let (
            [nagle, timestamps, sack, limited_transmit, idle_restart, validate_cwnd, ecn, local_congestion],
            window_scale,
            byte_counting,
        ) = flags;
        let (recovery, [prr, rack, tlp, quickack, hystart, pacing], undo) = repairs;
        let sack = sack || recovery == Some("sack");
        let config = Config {
            congestion: cc::find(names.0).expect("it is registered"),
            ack_policy: ack::find(names.1).expect("it is registered"),
            recovery: recovery.map(|name| recovery::find(name).expect("it is registered")),
            quickack,
            prr,
            rack,
            tlp,
            undo,
            hystart,
            pacing,
            mss: sizes.0,
            initial_window_segments: sizes.1,
            max_window_segments: sizes.2,
            send_buffer: Bytes(sizes.3),
            receive_buffer: Bytes(sizes.4),
            nagle,
            timestamps,
            sack,
            limited_transmit,
            idle_restart,
            validate_cwnd,
            ecn,
            local_congestion,
            count_delivered: local_congestion != nagle,
            window_scale,
            byte_counting,
            initial_sequence,
            min_rto: Dur::from_ms(times.0),
            delayed_ack_count: times.1,
            delayed_ack_timeout: Dur::from_ms(times.0.min(200)),
            initial_ssthresh: times.2.map(Bytes),
            max_rto: Dur::from_secs(5),
            // Loss may be heavy; what is tested is not patience.
            syn_retries: 100,
            max_retries: 40,
            time_wait: Dur::from_secs(600),
            ..Config::default()
        };
        // What needs a scoreboard is on where there is one.
        if config.check().is_ok() {
            config
        } else {
            Config { prr: false, rack: false, tlp: false, undo: Undo::None, ..config }
        }
    })
}

fn habits() -> impl Strategy<Value = Habits> {
    let reads = prop_oneof![Just((0, u64::MAX)), (1u64..40, 100u64..5000)];
    (0u64..40_000, 1u64..20_000, reads).prop_map(|(sends, chunk, (read_every_ms, read_at_most))| Habits {
        sends,
        chunk: chunk.max(sends / 1000),
        read_every_ms,
        read_at_most,
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let path = (0u64..25, 0u64..40, 0u64..10, 0u64..40, 1u64..50_000, 0u64..20_000).prop_map(
        |(loss, mark, duplicate, refuse, delay_us, jitter_us)| Path {
            loss,
            mark,
            duplicate,
            refuse,
            delay_us,
            jitter_us,
        },
    );
    let commands = prop_oneof![2 => Just(0), 1 => 1u32..100];
    ([configs(), configs()], [habits(), habits()], path, any::<bool>(), commands, any::<u64>()).prop_map(
        |(configs, habits, path, simultaneous, commands, seed)| Case {
            configs,
            habits,
            path,
            simultaneous,
            commands,
            seed,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_in_order_and_both_ends_close(case in cases()) {
        let first = run(&case);
        prop_assert_eq!(first, run(&case), "replay equals itself");
    }
}

/// A clean path, no options: nothing is ever sent twice.
#[test]
fn without_loss_nothing_is_sent_twice() {
    for name in cc::NAMES {
        let config = Config { congestion: cc::find(name).unwrap(), ..Config::default() };
        let habits = Habits { sends: 5_000_000, chunk: 5_000_000, read_every_ms: 0, read_at_most: u64::MAX };
        let path = Path { loss: 0, mark: 0, duplicate: 0, refuse: 0, delay_us: 10_000, jitter_us: 0 };
        let case = Case {
            configs: [config.clone(), config],
            habits: [habits.clone(), habits],
            path,
            simultaneous: false,
            commands: 0,
            seed: 1,
        };
        let (counters, _) = run(&case);
        for c in counters {
            assert_eq!((c.retransmissions, c.timeouts, c.duplicate_segments, c.out_of_order_segments), (0, 0, 0, 0));
        }
    }
}

/// Marks alone: every window with a mark is cut, and still nothing is ever sent twice.
#[test]
fn with_marks_alone_windows_are_cut_and_nothing_is_sent_twice() {
    for name in cc::NAMES {
        let config = Config { congestion: cc::find(name).unwrap(), ecn: true, ..Config::default() };
        let habits = Habits { sends: 2_000_000, chunk: 2_000_000, read_every_ms: 0, read_at_most: u64::MAX };
        let path = Path { loss: 0, mark: 2, duplicate: 0, refuse: 0, delay_us: 10_000, jitter_us: 0 };
        let case = Case {
            configs: [config.clone(), config],
            habits: [habits.clone(), Habits { sends: 0, ..habits }],
            path,
            simultaneous: false,
            commands: 0,
            seed: 1,
        };
        let ([sender, receiver], _) = run(&case);
        assert_eq!((sender.retransmissions, receiver.ecn_cuts, sender.ecn_marks_received), (0, 0, 0), "{name}");
        // 1370 segments, one in fifty marked.
        assert!((10..=60).contains(&receiver.ecn_marks_received), "{name}: {}", receiver.ecn_marks_received);
        let chosen = cc::find(name).unwrap();
        if (chosen.plugin)(&chosen.params).owns_window() {
            assert_eq!(sender.ecn_cuts, 0, "{name}");
            continue;
        }
        // Some marks share a window, none is lost.
        assert!((5..=receiver.ecn_marks_received).contains(&sender.ecn_cuts), "{name}: {}", sender.ecn_cuts);
    }
}

/// Every controller with every recovery, by itself and with all that may be switched on: whatever is lost, all arrives, and a
/// replay is the same run.
#[test]
fn every_controller_goes_with_every_recovery() {
    for (name, recovery) in
        cc::NAMES.iter().flat_map(|cc| recovery::NAMES.iter().map(move |recovery| (*cc, *recovery)))
    {
        for (seed, all) in [(1, false), (2, true), (3, false), (4, true)] {
            let sack = recovery == "sack";
            let config = Config {
                congestion: cc::find(name).unwrap(),
                recovery: recovery::find(recovery),
                sack,
                timestamps: seed > 2,
                prr: all && sack,
                rack: all && sack,
                tlp: all && sack,
                undo: if all { Undo::All } else { Undo::None },
                hystart: all,
                pacing: all,
                max_retries: 40,
                min_rto: Dur::from_ms(200),
                ..Config::default()
            };
            let habits = Habits { sends: 300_000, chunk: 300_000, read_every_ms: 0, read_at_most: u64::MAX };
            let path = Path { loss: 5, mark: 0, duplicate: 2, refuse: 0, delay_us: 10_000, jitter_us: 3000 };
            let case = Case {
                configs: [config.clone(), config],
                habits: [habits.clone(), Habits { sends: 0, ..habits }],
                path,
                simultaneous: false,
                commands: 0,
                seed,
            };
            let first = run(&case);
            assert_eq!(first, run(&case), "{name}, {recovery}");
            assert!(first.0[0].retransmissions > 0, "{name}, {recovery}: nothing was lost");
        }
    }
}
