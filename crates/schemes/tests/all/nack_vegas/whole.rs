//! Both ends and the station between them: a repetition that a negative ACK asks for is of what did not arrive, as far as the MAC
//! can know, and the connection's data arrives once and in order.

use super::*;
use mac::{Fate, TxReport};
use proptest::prelude::*;
use schemes::testing::{IN, THERE, segment as packet_of};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use tcp::{Ack, Config, Connection, FlowFacts, Input, Loss, Output, SenderHook, recovery};
use units::{Dur, SimTime};
use wire::{Flags, L4, SeqRange, Tcp};

/// The losses and delays of the world.
#[derive(Debug, Clone)]
struct Weather {
    /// Of a hundred segments, so many the MAC discards, so many it discards though they were delivered, so many are lost behind the
    /// next hop.
    discarded: u64,
    ambiguous: u64,
    lost: u64,
    /// Of a hundred ACKs.
    acks_lost: u64,
    /// To the station and from it, in µs; nothing where the sender is the station.
    near: u64,
    far: u64,
    /// Of each passage of an ACK, in µs.
    jitter: u64,
    queue: usize,
    recovery: &'static str,
    rack: bool,
    seed: u64,
}

/// The fate of the latest copy of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copy {
    UnderWay,
    Lost,
    Delivered,
    /// Delivered, but its MAC ACKs were lost.
    Ambiguous,
}

enum Event {
    /// Data reaches the station; its ACK does; the ACK reaches the sender.
    AtStation(Packet),
    Served,
    AtReceiver(Packet),
    AckAtStation(Packet),
    AtSender(Packet),
}

/// The sender's hook, and the numbers that it has asked to be sent again. A number that it does not believe may come with an ACK by
/// which TCP repeats the same segment for reasons of its own.
struct Overheard {
    hook: Box<dyn SenderHook>,
    asked: Rc<RefCell<Vec<Seq>>>,
}

impl SenderHook for Overheard {
    fn on_segment(&mut self, tcp: &Tcp, facts: &FlowFacts) {
        self.asked.borrow_mut().clear();
        self.hook.on_segment(tcp, facts);
    }

    fn on_ack(&mut self, ack: &Ack, facts: &FlowFacts) {
        self.hook.on_ack(ack, facts);
    }

    fn on_timeout(&mut self, facts: &FlowFacts) {
        self.asked.borrow_mut().clear();
        self.hook.on_timeout(facts);
    }

    fn loss(&mut self, verdict: Loss, range: SeqRange, facts: &FlowFacts) -> Loss {
        self.hook.loss(verdict, range, facts)
    }

    fn resent(&mut self, range: SeqRange, now: SimTime, facts: &FlowFacts) {
        self.hook.resent(range, now, facts);
    }

    fn corrupted(&mut self, facts: &FlowFacts) -> Option<SeqRange> {
        let asked = self.hook.corrupted(facts);
        self.asked.borrow_mut().extend(asked.map(|range| range.start));
        asked
    }

    fn in_repair(&mut self, range: SeqRange, facts: &FlowFacts) -> Option<Seq> {
        self.hook.in_repair(range, facts)
    }
}

struct World {
    weather: Weather,
    ends: [Connection; 2],
    /// Numbers for which the sender has asked at the segment at hand.
    asked: Rc<RefCell<Vec<Seq>>>,
    station: Bench,
    is_own: bool,
    queue: VecDeque<(Packet, u64)>,
    events: BTreeMap<(SimTime, u64), Event>,
    made: u64,
    now: SimTime,
    dice: u64,
    fates: BTreeMap<u32, Copy>,
    readable: u64,
    /// Repetitions for a number: of what was lost, and of what had arrived though the MAC discarded it.
    repairs: u64,
    needless: u64,
}

const BYTES: u64 = 150_000;

impl World {
    fn new(weather: Weather) -> World {
        let config = Config {
            mss: 1000,
            initial_window_segments: 4,
            nagle: false,
            recovery: recovery::find(weather.recovery),
            sack: weather.recovery == "sack",
            rack: weather.rack,
            initial_sequence: Seq(u32::MAX - 30_000),
            min_rto: Dur::from_ms(200),
            max_retries: 40,
            ..Config::default()
        };
        let is_own = weather.near == 0;
        let host = || bench("nack-vegas", node(HERE, 3), &[]).unwrap();
        let (station, hook) = if is_own {
            let mut own = host();
            let hook = own.stack.sender_hook(OUT).unwrap();
            (own, hook)
        } else {
            (relay(&[]), host().stack.sender_hook(OUT).unwrap())
        };
        let mut ends = [Connection::open(config.clone(), 1, 2), Connection::listen(config, 2, 1)];
        let asked = Rc::new(RefCell::new(Vec::new()));
        ends[0].set_hook(Box::new(Overheard { hook, asked: Rc::clone(&asked) }));
        World {
            dice: weather.seed,
            weather,
            ends,
            asked,
            station,
            is_own,
            queue: VecDeque::new(),
            events: BTreeMap::new(),
            made: 0,
            now: SimTime::ZERO,
            fates: BTreeMap::new(),
            readable: 0,
            repairs: 0,
            needless: 0,
        }
    }

    /// SplitMix64.
    fn roll(&mut self) -> u64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.dice;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn after(&mut self, us: u64, event: Event) {
        self.made += 1;
        self.events.insert((self.now + Dur::from_us(us), self.made), event);
    }

    fn jitter(&mut self) -> u64 {
        self.roll() % (self.weather.jitter + 1)
    }

    /// Fetches what the ends want.
    fn poll(&mut self) {
        let asked = self.asked.borrow().clone();
        while let Some(output) = self.ends[0].poll(self.now) {
            match output {
                Output::Segment { tcp, payload, retransmission, .. } => {
                    if payload.len > 0 {
                        let fate = self.fates.insert(tcp.seq.0, Copy::UnderWay);
                        if retransmission && asked.contains(&tcp.seq) {
                            self.repairs += 1;
                            self.needless += u64::from(fate == Some(Copy::Ambiguous));
                            let known = matches!(fate, Some(Copy::Lost | Copy::Ambiguous));
                            assert!(known, "{} is {fate:?}, repeated for {asked:?} at {:?}", tcp.seq, self.now);
                        }
                    }
                    let packet =
                        Packet { l4: L4::Tcp(tcp), payload, ..packet_of(OUT, tcp.flags, tcp.seq, 0, tcp.ack, 0) };
                    self.after(self.weather.near, Event::AtStation(packet));
                }
                Output::Connected => {
                    self.ends[0].handle(self.now, Input::Write(BYTES));
                    self.ends[0].handle(self.now, Input::Close);
                }
                Output::Failed(why) => panic!("{why:?}"),
                _ => {}
            }
        }
        while let Some(output) = self.ends[1].poll(self.now) {
            match output {
                Output::Segment { tcp, payload, .. } => {
                    let packet =
                        Packet { l4: L4::Tcp(tcp), payload, ..packet_of(IN, tcp.flags, tcp.seq, 0, tcp.ack, 0) };
                    let is_lost = tcp.flags == Flags::ACK && self.roll() % 100 < self.weather.acks_lost;
                    let wait = self.weather.far + self.jitter();
                    if !is_lost {
                        self.after(wait, Event::AckAtStation(packet));
                    }
                }
                Output::Readable { offset, len } => {
                    assert_eq!(offset, self.readable, "once and in order");
                    self.readable += u64::from(len);
                    self.ends[1].handle(self.now, Input::Read(u64::from(len)));
                }
                _ => {}
            }
        }
    }

    fn report(&mut self, packet: &Packet, serial: u64, fate: Fate) {
        let now = self.now;
        let (enqueued, head, first, done) = (now, now, now, now);
        let (airtime, category) = (Dur::ZERO, 0);
        let report = TxReport {
            fate,
            serial,
            to: THERE,
            category,
            attempts: 7,
            ppdu: None,
            in_order: None,
            enqueued,
            head,
            first,
            done,
            airtime,
        };
        self.station.now = now;
        self.station.report_with(packet, &report);
    }

    /// The station's MAC is done with the first of its queue.
    fn serve(&mut self) {
        let Some((packet, serial)) = self.queue.pop_front() else { return };
        let (seq, is_data) = (packet.tcp().unwrap().seq.0, packet.tcp_data().is_some());
        let Weather { discarded, ambiguous, lost, far, .. } = self.weather;
        let die = if is_data { self.roll() % 100 } else { 100 };
        let (fate, copy) = if die < discarded {
            (Fate::GivenUp, Copy::Lost)
        } else if die < discarded + ambiguous {
            (Fate::GivenUp, Copy::Ambiguous)
        } else if die < discarded + ambiguous + lost {
            (Fate::Delivered, Copy::Lost)
        } else {
            (Fate::Delivered, Copy::Delivered)
        };
        // A later copy may wait behind this one: its fate is open.
        let is_latest = !self.queue.iter().any(|(other, _)| other.tcp().unwrap().seq.0 == seq);
        if is_data && is_latest {
            self.fates.insert(seq, copy);
        }
        self.report(&packet, serial, fate);
        if copy != Copy::Lost {
            self.after(far, Event::AtReceiver(packet));
        }
        self.next();
    }

    /// The next service: longer if it will be in vain is all one here.
    fn next(&mut self) {
        if !self.queue.is_empty() {
            let service = 500 + self.roll() % 3000;
            self.after(service, Event::Served);
        }
    }

    fn happens(&mut self, event: Event) {
        self.station.now = self.now;
        let (out, up) = if self.is_own { (Place::FromHost, Place::ToHost) } else { (Place::Transit, Place::Transit) };
        match event {
            Event::AtStation(packet) => {
                let packet = self.station.pass(out, packet).unwrap();
                let serial = self.station.serial;
                if self.queue.len() == self.weather.queue {
                    if packet.tcp_data().is_some() {
                        self.fates.insert(packet.tcp().unwrap().seq.0, Copy::Lost);
                    }
                    return self.report(&packet, serial, Fate::QueueFull);
                }
                self.queue.push_back((packet, serial));
                if self.queue.len() == 1 {
                    self.next();
                }
            }
            Event::Served => self.serve(),
            Event::AtReceiver(packet) => self.hand(1, &packet),
            Event::AckAtStation(packet) => {
                let packet = self.station.pass(up, packet).unwrap();
                if self.is_own {
                    return self.hand(0, &packet);
                }
                let wait = self.weather.near + self.jitter();
                self.after(wait, Event::AtSender(packet));
            }
            Event::AtSender(packet) => self.hand(0, &packet),
        }
    }

    fn hand(&mut self, end: usize, packet: &Packet) {
        let tcp: &Tcp = packet.tcp().unwrap();
        self.ends[end].handle(self.now, Input::Segment { tcp, payload: &packet.payload, ce: false });
        self.poll();
    }

    fn run(mut self) -> World {
        self.poll();
        for step in 0.. {
            assert!(step < 200_000, "it does not end");
            if self.readable == BYTES && self.ends[0].acknowledged() == BYTES {
                break;
            }
            let wakeups = [self.ends[0].next_wakeup(), self.ends[1].next_wakeup()];
            let next = self.events.first_key_value().map_or(SimTime::NEVER, |((at, _), _)| *at);
            let timer = wakeups[0].min(wakeups[1]);
            assert!(timer.min(next) < SimTime::NEVER, "stuck");
            self.now = self.now.max(timer.min(next));
            if timer < next {
                self.ends[usize::from(wakeups[0] != timer)].handle(self.now, Input::Timer);
                self.poll();
            } else if let Some((_, event)) = self.events.pop_first() {
                self.happens(event);
                self.poll();
            }
        }
        assert_eq!(self.ends[1].counters().delivered_bytes, BYTES);
        self
    }
}

fn weather() -> impl Strategy<Value = Weather> {
    let losses = (0u64..20, prop_oneof![Just(0u64), 0u64..10], prop_oneof![Just(0u64), 0u64..5], 0u64..20);
    let path = (prop_oneof![Just(0u64), 1u64..40_000], 1u64..20_000, prop_oneof![Just(0u64), 0u64..3000], 2usize..60);
    let sender = prop::sample::select(vec![
        ("reno", false),
        ("newreno", false),
        ("tahoe", false),
        ("sack", false),
        ("sack", true),
    ]);
    (losses, path, sender, any::<u64>()).prop_map(|(losses, path, (recovery, rack), seed)| {
        let ((discarded, ambiguous, lost, acks_lost), (near, far, jitter, queue)) = (losses, path);
        // An ACK that is held back for longer than the least RTT may tell of an original after its copy has left.
        let jitter = jitter.min((near + far) / 2);
        Weather { discarded, ambiguous, lost, acks_lost, near, far, jitter, queue, recovery, rack, seed }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The assertion on each repetition is in [`World::poll`].
    #[test]
    fn what_is_repeated_for_a_number_did_not_arrive_or_the_mac_could_not_know(weather in weather()) {
        World::new(weather).run();
    }
}

#[test]
fn before_a_round_trip_is_known_a_late_number_is_not_taken_for_that_of_the_copy() {
    // The first window is lost or times out, so that nothing has been timed; two ACKs of the copy overtake each other, and the one that comes
    // late has the numbers of the originals, whose copies have left for the other one. Found by the property above, one of 10,000 cases.
    let seed = 214_226_192_504_361_608;
    let losses = Weather {
        discarded: 5,
        ambiguous: 0,
        lost: 0,
        acks_lost: 0,
        near: 3899,
        far: 1957,
        jitter: 2928,
        queue: 4,
        recovery: "reno",
        rack: false,
        seed,
    };
    World::new(losses).run();
}

#[test]
fn copies_of_a_whole_window_are_told_from_originals_that_wait_before_them() {
    // A timeout sends 22 copies into a queue in which their originals wait.
    let losses = Weather {
        discarded: 3,
        ambiguous: 4,
        lost: 0,
        acks_lost: 18,
        near: 0,
        far: 757,
        jitter: 0,
        queue: 45,
        recovery: "sack",
        rack: true,
        seed: 1_866_607_458_882_442_108,
    };
    World::new(losses).run();
}

#[test]
fn a_repetition_for_another_reason_is_not_for_the_number_that_comes_with_its_cause() {
    // A recovery begins by the ACK that tells 75000, whose copy is under way already: the sender takes the number for that of the
    // original, and TCP repeats the first segment once more. Found by the property above, one of 400,000 cases.
    let losses = Weather {
        discarded: 19,
        ambiguous: 0,
        lost: 0,
        acks_lost: 10,
        near: 21_988,
        far: 5220,
        jitter: 0,
        queue: 8,
        recovery: "sack",
        rack: true,
        seed: 10_108_800_444_124_177_468,
    };
    World::new(losses).run();
}

#[test]
fn repairs_are_made_and_only_lost_mac_acks_make_needless_ones() {
    for recovery in ["reno", "newreno", "tahoe", "sack"] {
        let weather = |discarded, ambiguous| Weather {
            discarded,
            ambiguous,
            lost: 0,
            acks_lost: 0,
            near: 10_000,
            far: 1000,
            jitter: 0,
            queue: 100,
            recovery,
            rack: false,
            seed: 7,
        };
        let clean = World::new(weather(5, 0)).run();
        assert!(clean.repairs > 3 && clean.needless == 0, "{recovery}: {} repairs", clean.repairs);
        let unsure = World::new(weather(5, 5)).run();
        assert!(unsure.repairs > unsure.needless, "{recovery}: {} of {}", unsure.needless, unsure.repairs);
        assert_eq!(World::new(weather(0, 0)).run().repairs, 0);
    }
}
