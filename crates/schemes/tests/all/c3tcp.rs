//! C³TCP on the bench: three nodes that hand each other options, times worked by hand.

use mac::{Fate, MacOptions, TxReport};
use net::LinkSample;
use proptest::prelude::*;
use schemes::testing::{Bench, Ground, OUT, ack, data, dcf, node, scheme, segment};
use schemes::{Chosen, Install, NodeFacts, Place, Value};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Flags, Packet, Seq};

/// The content of an option: bandwidth, delay there, delay back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    bytes_per_s: u32,
    there_us: u32,
    back_us: u32,
}

const KIND: u8 = 0xc3;

impl Path {
    fn read(options: &MacOptions) -> Option<Path> {
        let ([bandwidth, there, back], []) = options.get(KIND)?.as_chunks() else { return None };
        let [bytes_per_s, there_us, back_us] = [bandwidth, there, back].map(|word| u32::from_be_bytes(*word));
        Some(Path { bytes_per_s, there_us, back_us })
    }
}

const BACK: FlowId = OUT.reverse();
const SENDER: NodeId = NodeId(10);
const RELAY: NodeId = NodeId(11);
const RECEIVER: NodeId = NodeId(12);
/// The id in a relay's arena of the packet it forwards.
const FORWARDED: u64 = 77;

/// A node, and how many packets its bench has been shown: a packet's serial is its number among them.
struct Hop {
    bench: Bench,
    shown: u64,
}

impl Hop {
    fn pass(&mut self, at: Place, packet: &Packet) -> Packet {
        self.shown += 1;
        self.bench.pass(at, packet.clone()).unwrap()
    }

    /// Comes from its transport and goes out after so long in the queue and in contention.
    fn send(&mut self, packet: &Packet, (queued_us, access_us): (u64, u64)) -> MacOptions {
        let passed = self.pass(Place::FromHost, packet);
        self.bench.options_out(&passed, &attempt(self.shown, RELAY, queued_us, access_us))
    }

    fn receive(&mut self, packet: &Packet, options: &MacOptions) -> Packet {
        self.bench.options_in(packet, self.shown + 1, options);
        self.pass(Place::ToHost, packet)
    }

    fn forward(&mut self, packet: &Packet, to: NodeId, options: &MacOptions, waits: (u64, u64)) -> MacOptions {
        self.bench.options_in(packet, FORWARDED, options);
        self.bench.options_out(packet, &attempt(FORWARDED, to, waits.0, waits.1))
    }
}

/// A data frame goes out: its packet was queued at zero.
fn attempt(serial: u64, to: NodeId, queued_us: u64, access_us: u64) -> TxReport {
    let head = SimTime::ZERO + Dur::from_us(queued_us);
    let done = head + Dur::from_us(access_us);
    let (fate, airtime, enqueued, ppdu) = (Fate::Attempt, Dur::ZERO, SimTime::ZERO, None);
    TxReport {
        fate,
        serial,
        to,
        category: 0,
        attempts: 1,
        ppdu,
        in_order: None,
        enqueued,
        head,
        first: done,
        done,
        airtime,
    }
}

fn c3tcp(set: &[(&str, Value)]) -> Chosen<Install> {
    scheme("c3tcp", set)
}

fn bench(set: &[(&str, Value)]) -> Bench {
    let station = NodeFacts { standard: phy::Standard::Dsss, ..node(SENDER, 13) };
    let mut ground = Ground::new(station).with_mac(dcf(phy::Standard::Dsss));
    assert!(ground.install(&c3tcp(set)).unwrap());
    Bench::new(ground.stack)
}

/// Sender, relay, receiver at 2 Mb/s with control frames at 2 Mb/s. There T_tr of 1500 B is 192 + 8 * 1553 / 2 + 10 + 192 + 8 * 14 / 2 +
/// 50 = 6712 us, and of 40 B 872 us.
fn chain_with(set: &[(&str, Value)]) -> [Hop; 3] {
    [(), (), ()].map(|()| Hop { bench: bench(set), shown: 0 })
}

fn chain() -> [Hop; 3] {
    chain_with(&[])
}

/// Data goes down the chain, its ACK comes back: the ACK as the sender's TCP sees it.
fn round_trip([s, r, d]: &mut [Hop; 3], data: &Packet, ack: &Packet) -> Packet {
    let first = s.send(data, (3_000, 288)); // 1500 B in 10 ms, 7 ms without the queue
    assert_eq!(Path::read(&first), Some(Path { bytes_per_s: 150_000, there_us: 7_000, back_us: 0 }));
    let second = r.forward(data, RECEIVER, &first, (5_000, 3_288)); // in 15 ms, 10 ms without
    assert_eq!(Path::read(&second), Some(Path { bytes_per_s: 100_000, there_us: 17_000, back_us: 0 }));
    d.receive(data, &second);
    let third = d.send(ack, (100, 28)); // 1 ms with the queue
    let fourth = r.forward(ack, SENDER, &third, (1_000, 128)); // 2 ms with the queue
    assert_eq!(Path::read(&fourth), Some(Path { bytes_per_s: 100_000, there_us: 17_000, back_us: 3_000 }));
    assert_eq!(fourth.bytes().len(), 14);
    s.receive(ack, &fourth)
}

fn window(packet: &Packet) -> u16 {
    packet.tcp().unwrap().window
}

#[test]
fn the_window_is_the_least_bandwidth_times_the_sum_of_delays() {
    // min(150, 100) kB/s x (7 + 10 + 1 + 2) ms = 2000 B, at the very first packet
    let mut chain = chain();
    let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
    assert_eq!(window(&seen), 2_000);
    // A duplicate keeps the window it repeats, though it came with none: else it would be none.
    let duplicate = chain[0].pass(Place::ToHost, &ack(BACK, 1461, 65_535));
    assert_eq!(window(&duplicate), 2_000);
    let counted = |name| chain[0].bench.counter(name);
    let sums = ["samples", "bandwidth_sum_bytes_per_s", "delay_sum_us"];
    assert_eq!(sums.map(counted), [1, 100_000, 20_000]);
}

#[test]
fn the_delay_of_the_window_is_of_both_ways_or_of_the_forward_one() {
    // Sections 4.4.2 and 4.4.4: 100 kB/s x (7 + 10) ms = 1700 B, whatever the ACK took; 4.4.4's example adds its 3 ms.
    for (delay, bytes) in [("forward", 1_700), ("both", 2_000)] {
        let mut chain = chain_with(&[("delay", Value::Choice(delay))]);
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
        assert_eq!(window(&seen), bytes, "{delay}");
        // What is measured is the same: 20 ms both ways, 17 of them there.
        let counted = |name| chain[0].bench.counter(name);
        assert_eq!(["delay_sum_us", "delay_there_sum_us"].map(counted), [20_000, 17_000]);
        // An ACK that waits 100 ms more at the relay: 100 kB/s x 120 ms both ways, and the same forward.
        let [s, r, d] = &mut chain;
        let late = data(OUT, 1461..2921);
        let first = s.send(&late, (3_000, 288));
        let second = r.forward(&late, RECEIVER, &first, (5_000, 3_288));
        d.receive(&late, &second);
        let back = ack(BACK, 2921, 65_535);
        let third = d.send(&back, (100, 28));
        let fourth = r.forward(&back, SENDER, &third, (101_000, 128));
        assert_eq!(window(&s.receive(&back, &fourth)), if delay == "both" { 12_000 } else { 1_700 }, "{delay}");
    }
}

#[test]
fn the_slips_of_the_print_are_parameters() {
    // T_tr without DIFS: 6662; from the head of the queue: the 3 ms before it do not count.
    let packet = data(OUT, 1..1461);
    let of = |set: &[(&str, Value)], attempts: &[(u64, u64)]| {
        let mut sender = Hop { bench: bench(set), shown: 0 };
        let sent = sender.pass(Place::FromHost, &packet);
        let mut last = None;
        for (queued, access) in attempts {
            last = Path::read(&sender.bench.options_out(&sent, &attempt(1, RELAY, *queued, *access)));
        }
        last.map(|path| (path.bytes_per_s, path.there_us)).unwrap()
    };
    assert_eq!(of(&[("difs", Value::Bool(false))], &[(3_000, 338)]), (150_000, 7_000));
    assert_eq!(of(&[("t_in", Value::Choice("head"))], &[(5_000, 788)]), (200_000, 7_500));
    let twice = [(3_000, 288), (3_000, 5_288)];
    assert_eq!(of(&[], &twice), (100_000, 12_000));
    assert_eq!(of(&[("t_out", Value::Choice("first"))], &twice), (150_000, 7_000));
    // Control frames at 1 Mb/s beside data at 2: 8 * 14 = 112 us instead of 56.
    let mut ground = Ground::new(NodeFacts { standard: phy::Standard::Dsss, ..node(SENDER, 13) });
    let mut mac = dcf(phy::Standard::Dsss);
    mac.control_modes = mac::ControlModes::of(&mac.modes, &[mac.lowest_rate]);
    ground = ground.with_mac(mac);
    ground.install(&c3tcp(&[("ack_rate", Value::Choice("control"))])).unwrap();
    let mut sender = Hop { bench: Bench::new(ground.stack), shown: 0 };
    let path = Path::read(&sender.send(&packet, (3_000, 232))).unwrap();
    assert_eq!((path.bytes_per_s, path.there_us), (150_000, 7_000));
}

#[test]
fn the_router_is_handed_what_a_data_packet_measured_once_its_neighbour_has_acknowledged_it() {
    let packet = data(OUT, 1..1461);
    let fate = |fate, packet: &Packet, waits: (u64, u64)| {
        let mut hop = Hop { bench: bench(&[]), shown: 0 };
        hop.send(packet, waits);
        hop.bench.report_with(packet, &TxReport { fate, ..attempt(1, RELAY, waits.0, waits.1) });
        hop.bench.measured
    };
    // As above: 1500 B in 10 ms, 7 ms without the queue.
    let sample = LinkSample { delay: Dur::from_ms(7), bytes_per_s: 150_000 };
    assert_eq!(fate(Fate::Delivered, &packet, (3_000, 288)), [(RELAY, sample)]);
    assert_eq!(fate(Fate::GivenUp, &packet, (3_000, 288)), []);
    assert_eq!(fate(Fate::Delivered, &ack(BACK, 1461, 65_535), (100, 28)), [], "an ACK takes another time");
    // To a neighbour at 1 Mb/s beside others at 2: 192 + 8 * 1553 + 10 + 192 + 112 + 50 = 12980 us of T_tr.
    let mut mac = dcf(phy::Standard::Dsss);
    mac.data_rate_to = vec![(RELAY, mac.lowest_rate)];
    let mut ground = Ground::new(NodeFacts { standard: phy::Standard::Dsss, ..node(SENDER, 13) }).with_mac(mac);
    assert!(ground.install(&c3tcp(&[])).unwrap());
    let mut hop = Hop { bench: Bench::new(ground.stack), shown: 0 };
    let path = Path::read(&hop.send(&packet, (0, 20))).unwrap();
    assert_eq!((path.bytes_per_s, path.there_us), (115_384, 13_000)); // 1500 B / 13 ms
}

#[test]
fn every_attempt_and_every_repetition_by_tcp_carries_its_own_measurement() {
    let [mut sender, ..] = chain();
    let packet = data(OUT, 1..1461);
    let of = |options| Path::read(&options).map(|path| (path.bytes_per_s, path.there_us));
    assert_eq!(of(sender.send(&packet, (3_000, 288))), Some((150_000, 7_000)));
    let again = attempt(1, RELAY, 3_000, 5_288); // the MAC's retry, 5 ms later: 15 ms, 12 without the queue
    assert_eq!(of(sender.bench.options_out(&packet, &again)), Some((100_000, 12_000)));
    assert_eq!(of(sender.send(&packet, (0, 788))), Some((200_000, 7_500))); // TCP's
    sender.bench.report_with(&packet, &TxReport { fate: Fate::GivenUp, ..again });
    assert_eq!(of(sender.bench.options_out(&packet, &again)), None, "nothing is kept of what has left");
    assert!(of(sender.bench.options_out(&packet, &attempt(2, RELAY, 0, 788))).is_some());
}

#[test]
fn it_is_never_above_the_receivers_nor_below_one_segment() {
    let mut chain = chain();
    let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 1_900));
    assert_eq!(window(&seen), 1_900);
    let closed = round_trip(&mut chain, &data(OUT, 1461..2921), &ack(BACK, 2921, 0));
    assert_eq!(window(&closed), 0);
    chain[0].bench.set_facts(BACK, facts(Bytes(4_000)));
    let floor = round_trip(&mut chain, &data(OUT, 2921..4381), &ack(BACK, 4381, 65_535));
    assert_eq!(window(&floor), 4_000);
}

#[test]
fn the_field_is_shifted_by_the_scale_of_the_receivers_syn() {
    // 2000 B in units of 4 B; not scaled; MSS 4000 B in units of 128 B, rounded up: 31.25
    for (scale, mss, field) in [(Some(2), 1460, 500), (None, 1460, 2_000), (Some(7), 4_000, 32)] {
        let mut chain = chain();
        chain[0].bench.set_facts(BACK, facts(Bytes(mss)));
        let mut syn = segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535);
        syn.tcp_mut().unwrap().options.push_window_scale(5);
        chain[0].pass(Place::FromHost, &syn);
        let mut syn_ack = segment(BACK, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 65_535);
        scale.map(|shift| syn_ack.tcp_mut().unwrap().options.push_window_scale(shift));
        assert_eq!(chain[0].pass(Place::ToHost, &syn_ack), syn_ack);
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
        assert_eq!(window(&seen), field);
    }
}

#[test]
fn flows_of_one_node_share_if_they_are_told_to() {
    let mut chain = chain_with(&[("flows", Value::Choice("shared"))]);
    let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
    assert_eq!(window(&seen), 2_000, "alone");
    let other = FlowId(2);
    round_trip(&mut chain, &data(other, 1..1461), &ack(other.reverse(), 1461, 65_535));
    let seen = round_trip(&mut chain, &data(OUT, 1461..2921), &ack(BACK, 2921, 65_535));
    assert_eq!(window(&seen), 1_000, "half of 2000 B");
}

#[test]
fn an_ack_echoes_the_last_data_that_it_acknowledges() {
    let [mut s, mut r, mut d] = chain();
    let mut arrive = |range: std::ops::Range<u32>, access| {
        let packet = data(OUT, range);
        let options = s.send(&packet, (0, access));
        let options = r.forward(&packet, RECEIVER, &options, (0, 0));
        d.receive(&packet, &options);
    };
    arrive(1..1461, 288); // 7 ms over the first hop
    arrive(1461..2921, 3_288); // 10 ms
    arrive(2921..4381, 8_288); // 15 ms
    let echoed = |d: &mut Hop, number| Path::read(&d.send(&ack(BACK, number, 65_535), (0, 0))).unwrap().there_us;
    assert_eq!(echoed(&mut d, 2921), 10_000 + 6_712, "not of the first, nor of what it does not acknowledge");
    assert_eq!(echoed(&mut d, 2921), 10_000 + 6_712, "a duplicate the same");
    assert_eq!(echoed(&mut d, 4381), 15_000 + 6_712);
}

#[test]
fn it_is_refused_beside_whoever_makes_acks_in_a_receivers_name() {
    let mut ground = Ground::new(NodeFacts { receiver: Some("every"), ..node(SENDER, 13) });
    ground.install(&scheme("lle-tcp", &[])).unwrap();
    let refusal = ground.install(&c3tcp(&[])).unwrap_err();
    assert!(refusal.contains("lle-tcp"), "{refusal}");
}

proptest! {
    /// Options of any content: nothing panics, and the window stays between one segment and the receiver's.
    #[test]
    fn malformed_and_stale_options_are_harmless(
        entries in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..4),
        advertised in any::<u16>(),
        number in any::<u32>(),
    ) {
        let mut options = MacOptions::within(31);
        for (kind, content) in &entries {
            options.set(if kind % 2 == 0 { KIND } else { *kind }, content);
        }
        let [mut sender, mut relay, mut receiver] = chain();
        sender.bench.set_facts(BACK, facts(Bytes(1460)));
        let back = ack(BACK, number, advertised);
        let seen = sender.receive(&back, &options);
        prop_assert!(window(&seen) <= advertised);
        prop_assert!(window(&seen) >= advertised.min(1460));
        receiver.receive(&data(OUT, 1..1461), &options);
        receiver.send(&back, (1, 1));
        relay.forward(&back, SENDER, &options, (u64::from(u32::MAX) * 2, 0));
    }
}

/// Facts of a flow of which only the MSS matters.
fn facts(mss: Bytes) -> tcp::FlowFacts {
    tcp::FlowFacts {
        snd_una: Seq(1),
        snd_nxt: Seq(1),
        snd_max: Seq(1),
        rcv_nxt: Seq(1),
        cwnd: mss,
        ssthresh: mss,
        flight_size: Bytes::ZERO,
        inflation: Bytes::ZERO,
        mss,
        snd_wnd: mss,
        rcv_wnd: mss,
        srtt: None,
        rttvar: Dur::ZERO,
        rto: Dur::from_secs(1),
        dup_acks: 0,
        in_recovery: false,
        frozen: false,
        unsent: Bytes::ZERO,
    }
}
