//! `i-tcp` on its bench, between a mobile and a wired host that are TCP machines: what each of the three sees, what it
//! costs when the base station dies, and that the stream survives whatever the two paths do.

mod net;
mod random;

use net::{FIXED, MOBILE, Net, Over, WIRE};
use schemes::testing::{self, Bench, HERE, THERE, node, segment};
use schemes::{NodeFacts, PeerEvent, Place, Toward, Value};
use tcp::{Config, Input, State, Why};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Flags, Seq};

fn secs(n: u64) -> SimTime {
    SimTime::ZERO + Dur::from_secs(n)
}

fn bench(set: &[(&str, Value)]) -> Bench {
    let mut bench = testing::bench("i-tcp", NodeFacts { forwards: true, ..node(HERE, 3) }, set).unwrap();
    bench.peer(THERE, PeerEvent::Up(&[]));
    bench
}

/// A mobile whose numbers begin at 2,000,000,000 and a fixed host whose begin at 3,000,000,000.
fn configs() -> [Config; 2] {
    let from = |n| Config { initial_sequence: Seq(n), ..Config::default() };
    [from(2_000_000_000), from(3_000_000_000)]
}

fn net(opener: usize) -> Net {
    Net::new(bench(&[]), configs(), opener)
}

#[test]
fn it_sits_where_packets_are_forwarded_by_radio() {
    for (forwards, has_air, sits) in [(true, true, true), (false, true, false), (true, false, false)] {
        let node = NodeFacts { forwards, has_air, ..node(HERE, 3) };
        assert_eq!(testing::bench("i-tcp", node, &[]).is_some(), sits);
    }
}

#[test]
fn either_side_opens_and_is_answered_when_the_other_has_answered() {
    for opener in [MOBILE, FIXED] {
        let mut net = net(opener);
        net.run_until(secs(1));
        let states = [MOBILE, FIXED].map(|end| net.ends[end].conn.state());
        assert_eq!(states, [State::Established; 2]);
        assert_eq!(net.bench.counter("connections_split"), 1);
        let syn_acks: Vec<_> = net
            .log
            .iter()
            .filter(|seen| seen.tcp().flags.has(Flags::SYN | Flags::ACK))
            .map(|seen| (seen.end, seen.is_from_end))
            .collect();
        assert_eq!(syn_acks, [(1 - opener, true), (opener, false)]);
        // Each side's numbers are the two ends' that speak on it: those of the other end never cross.
        for seen in &net.log {
            let (own, others) = ([20, 30][seen.end], [30, 20][seen.end]);
            let number = seen.tcp().seq.0 / 100_000_000;
            assert!(if seen.is_from_end { number == own } else { number != others }, "{seen:?}");
        }
    }
}

#[test]
fn a_refusal_stays_a_refusal() {
    for opener in [MOBILE, FIXED] {
        let mut net = net(opener);
        net.ends[1 - opener].conn.handle(SimTime::ZERO, Input::Abort); // nobody listens: a closed port answers
        net.run_until(secs(1));
        assert_eq!(net.ends[opener].over, Some(Over::Failed(Why::Refused)));
        let counters = ["connections_failed", "acked_lost_bytes"].map(|name| net.bench.counter(name));
        assert_eq!(counters, [1, 0]);
    }
}

#[test]
fn a_lost_syn_is_repeated_by_the_base_station() {
    let mut net = net(FIXED);
    net.lose_next_to(MOBILE, 1);
    net.run_until(secs(2));
    // The opener's own timer of 1 s runs out as well: its repetition is taken, and goes no further.
    let syns = |end, is_from_end| {
        let seen = net.log.iter().filter(|s| s.end == end && s.is_from_end == is_from_end);
        seen.filter(|s| s.tcp().flags == Flags::SYN).count()
    };
    assert_eq!((syns(FIXED, true), syns(MOBILE, false)), (2, 2));
    assert_eq!((net.ends[FIXED].conn.state(), net.bench.counter("connections_split")), (State::Established, 1));
}

#[test]
fn a_connection_nobody_answers_is_given_up_by_its_opener() {
    let mut net = net(FIXED);
    net.cut(MOBILE);
    // A SYN and six repetitions; the waits double from 1 s up to 60 s: 1 + 2 + … + 32 + 60 = 123 s.
    net.run_until(secs(122));
    assert_eq!(net.ends[FIXED].over, None);
    net.run_until(secs(123));
    assert_eq!(net.ends[FIXED].over, Some(Over::Failed(Why::TimedOut)));
}

#[test]
fn each_half_has_its_own_segment_size_and_numbers() {
    let [mobile, fixed] = configs();
    let mobile = Config { mss: 500, ..mobile };
    let mut net = Net::new(bench(&[]), [mobile, fixed], FIXED);
    net.write(FIXED, 100_000);
    net.write(MOBILE, 30_000);
    net.run_until(secs(10));
    assert_eq!((net.ends[MOBILE].read, net.ends[FIXED].read), (100_000, 30_000));
    assert_eq!(net.bench.counter("forwarded_bytes"), 130_000);
    let largest = |end| net.log.iter().filter(|s| s.end == end).map(|s| s.packet.payload.len).max();
    assert_eq!((largest(FIXED), largest(MOBILE)), (Some(1460), Some(500)));
    for name in ["acked_not_delivered_bytes", "wired_retransmissions", "wireless_retransmissions"] {
        assert_eq!(net.bench.counter(name), 0, "{name}");
    }
}

#[test]
fn options_are_agreed_with_each_host_for_itself() {
    let [mobile, fixed] = configs();
    let fixed = Config { timestamps: true, sack: true, window_scale: Some(7), ..fixed };
    for opener in [MOBILE, FIXED] {
        let mut net = Net::new(bench(&[]), [mobile.clone(), fixed.clone()], opener);
        net.write(FIXED, 5_000);
        net.run_until(secs(1));
        // What the opener offers is offered to the other; the mobile offers and takes nothing.
        let has = |end, is_from_end| {
            let mut data = net.log.iter().filter(|s| s.end == end && s.is_from_end == is_from_end);
            data.any(|s| s.packet.payload.len > 0 && s.tcp().options.timestamps().is_some())
        };
        assert_eq!((has(FIXED, true), has(MOBILE, false)), (opener == FIXED, false));
        assert_eq!(net.ends[MOBILE].read, 5_000);
        let offers = |end| {
            let syn = net.log.iter().find(|s| s.end == end && s.tcp().flags.has(Flags::SYN)).unwrap().tcp().options;
            (syn.timestamps().is_some(), syn.sack_permitted(), syn.window_scale().is_some())
        };
        assert_eq!(offers(1 - opener), offers(opener));
        assert_eq!(offers(opener), [(false, false, false), (true, true, true)][opener]);
    }
}

#[test]
fn a_congestion_mark_is_the_business_of_the_half_it_was_set_on() {
    for mobile_has_ecn in [true, false] {
        let [mobile, fixed] = configs();
        let configs = [Config { ecn: mobile_has_ecn, ..mobile }, Config { ecn: true, ..fixed }];
        let mut net = Net::new(bench(&[]), configs, FIXED);
        net.write(FIXED, 200_000);
        net.run_until(SimTime::ZERO + Dur::from_ms(200));
        net.mark_next(FIXED, true);
        net.mark_next(MOBILE, false);
        net.run_until(secs(10));
        let [mobile, fixed] = [MOBILE, FIXED].map(|end| *net.ends[end].conn.counters());
        // On the wire the server cuts once; on the radio the mobile hears of the mark and the server does not.
        assert_eq!((net.ends[MOBILE].read, fixed.ecn_cuts), (200_000, 1));
        assert_eq!(mobile.ecn_marks_received, u64::from(mobile_has_ecn));
        let cwr = net.log.iter().filter(|s| s.end == MOBILE && s.tcp().flags.has(Flags::CWR | Flags::ACK)).count();
        assert_eq!(cwr, usize::from(mobile_has_ecn), "the wireless half cuts and says so");
        let syns = net.log.iter().filter(|s| s.tcp().flags.has(Flags::SYN));
        assert!(syns.clone().count() == 4 && syns.clone().all(|s| !s.packet.ip.is_ect()));
    }
}

#[test]
fn a_loss_on_the_radio_is_repaired_there_and_the_fixed_host_hears_nothing_of_it() {
    let mut net = net(FIXED);
    net.write(FIXED, 200_000);
    net.run_until(SimTime::ZERO + Dur::from_ms(200));
    net.lose_next_to(MOBILE, 1);
    net.run_until(secs(10));
    assert_eq!(net.ends[MOBILE].read, 200_000);
    let fixed = net.ends[FIXED].conn.counters();
    assert_eq!((fixed.dup_acks_received, fixed.retransmissions, fixed.timeouts), (0, 0, 0));
    let bench = ["wireless_retransmissions", "wireless_timeouts", "wired_retransmissions"];
    assert_eq!(bench.map(|name| net.bench.counter(name)), [1, 0, 0]);
    assert!(net.ends[MOBILE].conn.counters().out_of_order_segments > 2, "it was a fast retransmit");
}

#[test]
fn the_controller_of_the_wireless_half_is_the_one_asked_for() {
    // Three neighbours lost from one window: NewReno repeats one for each partial ACK; Reno leaves recovery at the first
    // and has to wait for its timer. @RFC6582 sec. 1
    for (name, timeouts) in [("newreno", 0), ("reno", 1)] {
        let mut net = Net::new(bench(&[("congestion", Value::Choice(name))]), configs(), FIXED);
        net.write(FIXED, 200_000);
        net.run_until(SimTime::ZERO + Dur::from_ms(200));
        net.lose_next_to(MOBILE, 3);
        net.run_until(secs(10));
        assert_eq!(net.ends[MOBILE].read, 200_000);
        assert_eq!(net.bench.counter("wireless_timeouts"), timeouts, "{name}");
    }
}

#[test]
fn a_loss_of_the_mobiles_data_is_the_mobiles_to_repair_and_the_wires_to_hear_nothing_of() {
    let mut net = net(MOBILE);
    net.write(MOBILE, 200_000);
    net.run_until(SimTime::ZERO + Dur::from_ms(100));
    net.lose_next_from(MOBILE, 1);
    net.run_until(secs(10));
    assert_eq!(net.ends[FIXED].read, 200_000);
    assert_eq!(net.ends[MOBILE].conn.counters().retransmissions, 1);
    assert_eq!(net.ends[FIXED].conn.counters().out_of_order_segments, 0, "one hole, on the radio only");
}

#[test]
fn a_radio_that_fails_for_a_while_costs_timeouts_at_the_base_station_only() {
    for (set, timeouts) in [(Dur::from_secs(1), 2), (Dur::from_ms(200), 4)] {
        let mut net = Net::new(bench(&[("min_rto", Value::Time(set))]), configs(), FIXED);
        net.run_until(secs(1));
        net.cut(MOBILE);
        net.write(FIXED, 3_000);
        net.run_until(secs(4));
        net.mend(MOBILE);
        net.run_until(secs(20));
        // Down from 1 s to 4 s. RTO 1 s: repeated at 2 s (in vain) and at 4 s, just in time; 0.2 s: at 1.2, 1.6, 2.4, 4.0.
        assert_eq!(net.bench.counter("wireless_timeouts"), timeouts, "{set}");
        assert_eq!(net.ends[MOBILE].read, 3_000);
        assert_eq!(net.ends[FIXED].conn.counters().timeouts, 0);
    }
}

#[test]
fn a_slow_reader_closes_the_window_of_a_fast_sender() {
    let [mobile, fixed] = configs();
    let mobile = Config { receive_buffer: Bytes(10_000), ..mobile };
    let mut net = Net::new(bench(&[("buffer", Value::Size(Bytes(30_000)))]), [mobile, fixed], FIXED);
    net.ends[MOBILE].is_reading = false;
    net.write(FIXED, 1_000_000);
    net.run_until(secs(30));
    // 10,000 B in the mobile, 15,000 B to be sent, 15,000 B received: the sender has heard of all of these, less what
    // silly-window avoidance keeps closed (under a segment at each of the two windows).
    let acked = net.ends[FIXED].conn.acknowledged();
    assert!((40_000 - 2 * 1460..=40_000).contains(&acked), "{acked}");
    assert!(net.ends[FIXED].conn.rwnd() < Bytes(1460));
    let owed = net.bench.counter("acked_not_delivered_bytes");
    assert_eq!(owed, acked - net.ends[MOBILE].conn.counters().delivered_bytes);
    assert_eq!(net.bench.counter("highest_acked_not_delivered_bytes"), owed);
    net.read_all(MOBILE);
    net.run_until(secs(120));
    assert_eq!(net.ends[MOBILE].read, 1_000_000);
    assert!(net.bench.counter("highest_acked_not_delivered_bytes") <= 30_000);
    assert_eq!(net.bench.counter("acked_not_delivered_bytes"), 0);
}

#[test]
fn a_large_buffer_is_told_with_a_scaled_window() {
    let [mobile, fixed] = configs();
    let fixed = Config { window_scale: Some(0), ..fixed };
    let mut net = Net::new(bench(&[("buffer", Value::Size(Bytes(400_000)))]), [mobile, fixed], FIXED);
    net.write(FIXED, 1_000_000);
    net.run_until(secs(1));
    // Half of it is the receive buffer: 200,000 B at a shift of 2, as 65,535 · 2 = 131,070 < 200,000.
    assert!(net.ends[FIXED].conn.rwnd() > Bytes(131_070), "{:?}", net.ends[FIXED].conn.rwnd());
}

#[test]
fn either_side_may_close_first_and_the_other_still_sends() {
    for first in [MOBILE, FIXED] {
        let mut net = net(MOBILE);
        net.write(first, 20_000);
        net.close(first);
        net.run_until(secs(5));
        let other = &net.ends[1 - first];
        assert!(other.peer_closed && other.read == 20_000 && net.ends[first].over.is_none());
        assert_eq!(other.conn.state(), State::CloseWait);
        net.write(1 - first, 50_000);
        net.close(1 - first);
        net.run_until(secs(10));
        assert!(net.ends[first].peer_closed && net.ends[first].read == 50_000);
        assert_eq!((net.ends[first].conn.state(), net.ends[1 - first].over), (State::TimeWait, Some(Over::Closed)));
        net.run_until(secs(100));
        assert_eq!(net.ends[first].over, Some(Over::Closed));
        assert_eq!(net.bench.counter("connections_failed"), 0);
    }
}

#[test]
fn a_reset_goes_through_from_either_side() {
    for who in [MOBILE, FIXED] {
        let mut net = net(MOBILE);
        net.write(MOBILE, 20_000);
        net.run_until(secs(5));
        let now = net.bench.now;
        net.ends[who].conn.handle(now, Input::Abort);
        net.run_until(secs(6));
        assert_eq!(net.ends[1 - who].over, Some(Over::Failed(Why::Reset)));
        let counters = ["connections_failed", "acked_lost_bytes"].map(|name| net.bench.counter(name));
        assert_eq!(counters, [1, 0], "all of it had arrived");
    }
}

#[test]
fn an_opener_that_takes_its_syn_back_resets_the_other_end() {
    let mut net = net(MOBILE);
    // Gone between its SYN and our SYN-ACK, which meets a closed port. A way takes 5 ms by radio, 20 ms by wire.
    net.run_until(SimTime::ZERO + Dur::from_ms(30));
    net.ends[MOBILE].conn.handle(net.bench.now, Input::Abort);
    net.run_until(secs(1));
    assert_eq!(net.ends[FIXED].over, Some(Over::Failed(Why::Reset)));
}

#[test]
fn what_was_acknowledged_is_lost_with_the_base_station() {
    let mut net = net(FIXED);
    net.run_until(secs(1));
    net.cut(MOBILE);
    net.write(FIXED, 30_000);
    net.close(FIXED);
    net.run_until(secs(2));
    // The sender has been told that all of it has arrived, and the mobile has none of it.
    assert_eq!((net.ends[FIXED].conn.acknowledged(), net.ends[MOBILE].read), (30_000, 0));
    assert_eq!(net.bench.counter("acked_not_delivered_bytes"), 30_000);
    net.bench.release();
    net.mend(MOBILE);
    net.run_until(secs(600));
    assert_eq!(net.ends[MOBILE].read, 0, "nobody sends it again");
    let names = ["connections_failed", "acked_lost_bytes", "acked_not_delivered_bytes"];
    assert_eq!(names.map(|name| net.bench.counter(name)), [1, 30_000, 0]);
    assert_eq!(net.bench.held(), 0);
}

#[test]
fn a_mobile_that_stays_away_loses_the_connection_and_what_was_acknowledged() {
    let mut net = net(FIXED);
    net.run_until(secs(1));
    net.cut(MOBILE);
    net.write(FIXED, 10_000);
    net.run_until(secs(3000));
    // R2: 15 repetitions in vain; then the sender, which has nothing in flight, is reset.
    assert_eq!(net.ends[FIXED].over, Some(Over::Failed(Why::Reset)));
    assert_eq!(net.bench.counter("acked_lost_bytes"), 10_000);
    // The mobile comes back and speaks: it is answered as by a closed port.
    net.mend(MOBILE);
    net.write(MOBILE, 100);
    net.run_until(secs(3001));
    assert_eq!(net.ends[MOBILE].over, Some(Over::Failed(Why::Reset)));
    assert_eq!(net.ends[FIXED].read, 0);
}

#[test]
fn a_late_fin_is_answered_in_time_wait_and_a_closed_connection_like_a_closed_port() {
    let mut net = net(MOBILE);
    net.close(FIXED);
    net.close(MOBILE);
    net.run_until(secs(5));
    let fin = net.log.iter().rfind(|s| s.is_from_end && s.tcp().flags.has(Flags::FIN)).unwrap();
    let (end, fin) = (fin.end, fin.packet.clone());
    for (at, flags) in [(secs(6), Flags::ACK), (secs(200), Flags::RST)] {
        net.run_until(at);
        let seen = net.log.len();
        net.put_in(end, fin.clone());
        net.run_until(at + Dur::from_ms(100));
        let answer = net.log[seen..].iter().find(|s| !s.is_from_end && s.end == end).unwrap();
        assert_eq!(answer.tcp().flags, flags);
        assert!(net.log[seen..].iter().all(|s| s.end == end), "nothing goes through");
    }
}

#[test]
fn the_same_ports_may_be_used_again() {
    let mut net = net(MOBILE);
    net.write(MOBILE, 10_000);
    net.close(MOBILE);
    net.close(FIXED);
    net.run_until(secs(5));
    net.reopen(configs(), MOBILE);
    net.write(MOBILE, 7_000);
    net.run_until(secs(10));
    assert_eq!((net.ends[FIXED].read, net.bench.counter("connections_split")), (7_000, 2));
    assert_eq!(net.bench.counter("forwarded_bytes"), 17_000);
}

#[test]
fn connections_that_do_not_cross_from_radio_to_wire_are_left_alone() {
    const OTHER: NodeId = NodeId(7);
    let syn = segment(FlowId(0), Flags::SYN, Seq(5), 0, Seq(0), 65_535);
    let data = segment(FlowId(0), Flags::ACK, Seq(6), 1000, Seq(9), 65_535);
    let from_air = (Place::FromAir, Some(THERE));
    let (to_air, to_wire) = ((Place::Transit, Some(OTHER)), (Place::Transit, Some(WIRE)));
    for (way, passes) in [
        (vec![from_air, to_air], true),
        (vec![to_wire], true),
        (vec![from_air, to_wire], false),
        (vec![to_air], false),
    ] {
        let mut bench = bench(&[]);
        bench.peer(OTHER, PeerEvent::Up(&[]));
        for packet in [&syn, &data] {
            let passed = bench.relay(&way, packet.clone());
            assert_eq!(passed.as_ref(), passes.then_some(packet), "{way:?}");
        }
        assert_eq!(bench.take_injected().is_empty(), passes);
    }
}

#[test]
fn a_neighbour_that_has_gone_is_no_way_to_the_radio() {
    let mut bench = bench(&[]);
    bench.peer(THERE, PeerEvent::Down);
    let syn = segment(FlowId(0), Flags::SYN, Seq(5), 0, Seq(0), 65_535);
    assert!(bench.relay(&[(Place::Transit, Some(THERE))], syn).is_some());
}

#[test]
fn what_it_makes_goes_where_its_address_leads_with_the_hosts_own_addresses() {
    let mut bench = bench(&[]);
    let syn = segment(FlowId(0), Flags::SYN, Seq(5), 0, Seq(0), 65_535);
    assert!(bench.relay(&[(Place::Transit, Some(THERE))], syn.clone()).is_none());
    let made = bench.take_injected();
    let [(again, Toward::Route)] = &made[..] else { panic!("{made:?}") };
    assert_eq!((again.ip.src, again.ip.dst, again.flow), (syn.ip.src, syn.ip.dst, syn.flow));
    let ports = |packet: &wire::Packet| packet.tcp().map(|tcp| (tcp.src_port, tcp.dst_port, tcp.flags));
    assert_eq!(ports(again), ports(&syn));
}

#[test]
fn segments_of_a_connection_it_never_saw_open_pass() {
    let mut bench = bench(&[]);
    for flags in [Flags::ACK, Flags::SYN | Flags::ACK, Flags::FIN | Flags::ACK, Flags::RST] {
        let packet = segment(FlowId(1), flags, Seq(5), 100, Seq(7), 65_535);
        assert_eq!(bench.relay(&[(Place::Transit, Some(THERE))], packet.clone()), Some(packet));
    }
}

#[test]
fn segments_of_no_flow_pass() {
    let mut bench = bench(&[]);
    let packet = segment(FlowId::NONE, Flags::SYN, Seq(5), 0, Seq(0), 65_535);
    assert_eq!(bench.relay(&[(Place::Transit, Some(THERE))], packet.clone()), Some(packet));
}

#[test]
fn data_of_another_stream_is_refused_and_not_acknowledged() {
    let mut net = net(FIXED);
    net.run_until(secs(1));
    let last = net.log.iter().rfind(|s| s.end == FIXED && s.is_from_end).unwrap().packet.clone();
    // Where the next byte is number 0 of the stream, these claim to begin with number 7, or bring bytes of their own.
    let bytes = wire::Content::Bytes(vec![1, 2, 3].into());
    for content in [wire::Content::Virtual { offset: 7 }, bytes] {
        let seen = net.log.len();
        net.put_in(FIXED, wire::Packet { payload: wire::Payload::new(3, content), ..last.clone() });
        net.run_until(net.bench.now + Dur::from_secs(1));
        assert_eq!(net.log.len(), seen + 1);
    }
    assert_eq!(["segments_refused", "forwarded_bytes"].map(|name| net.bench.counter(name)), [2, 0]);
}
