//! Loss-adaptive retries: the limit after a history of losses and quiet, worked by hand.

use mac::{Msdu, Next};
use schemes::testing::{Bench, Ground, HERE, OUT, THERE, ack, data, dcf, heard, node, scheme};
use schemes::{NodeFacts, Value};
use tcp::{Ack, Config, Connection, FlowFacts, Loss, SenderHook};
use units::{Dur, SimTime};
use wire::{DropWhy, Packet, Packets, Seq, SeqRange};

fn ms(n: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(n)
}

/// A sender with its queue: limits from 4 to 32, a second of patience, a smoothed RTT of 100 ms. The MAC's limit is 7.
struct Station {
    ground: Ground,
    hook: Box<dyn SenderHook>,
    facts: FlowFacts,
}

fn station() -> Station {
    let mut ground = Ground::new(node(HERE, 2)).with_mac(dcf(phy::Standard::B));
    assert!(ground.install(&scheme("loss-adaptive-retry", &[("most", Value::Int(32))])).unwrap());
    let hook = ground.stack.sender_hook(OUT).unwrap();
    let facts = Connection::listen(Config::default(), 1, 2).facts();
    Station { ground, hook, facts: FlowFacts { srtt: Some(Dur::from_ms(100)), ..facts } }
}

impl Station {
    fn acked(&mut self, at: u64) {
        let ack = Ack { now: ms(at), ..heard(1001, 1000) };
        self.hook.on_ack(&ack, &self.facts);
    }

    /// A loss found by an ACK at this instant.
    fn loses(&mut self, at: u64) {
        self.acked(at);
        let verdict = self.hook.loss(Loss::Congestion, SeqRange::new(Seq(1001), 1000), &self.facts);
        assert_eq!(verdict, Loss::Congestion, "it judges nothing");
    }
}

/// The transmissions of `packet` if every attempt fails; the MAC would say 7.
fn transmissions(ground: &mut Ground, packet: &Packet) -> u32 {
    let (mut all, now) = (Packets::default(), SimTime::ZERO);
    let mut queue = ground.queue();
    let mut msdu = Msdu::new(now, all.put(packet.clone()), &all, THERE, 0);
    for n in 1..=100 {
        msdu.failures.0 += 1;
        msdu = match queue.failed(now, msdu, n >= 7, &all) {
            Next::Again(msdu) => msdu,
            Next::GiveUp(msdu) => {
                all.free(msdu.pkt, DropWhy::MacDone);
                return n;
            }
            Next::Yield => panic!("drop-tail takes nothing back"),
        };
    }
    100
}

#[test]
fn a_loss_doubles_the_limit_once_a_round_trip_and_quiet_takes_one_a_second() {
    let mut station = station();
    let mut limits = Vec::new();
    let mut step = |station: &mut Station| limits.push(transmissions(&mut station.ground, &data(OUT, 1..1001)));
    step(&mut station); // as the MAC: 7
    station.loses(1000);
    step(&mut station); // 14
    station.loses(1099);
    step(&mut station); // within the round trip: 14
    station.loses(1100);
    step(&mut station); // 28
    station.loses(1300);
    station.loses(1500);
    step(&mut station); // 32 is the most
    station.acked(2499);
    step(&mut station); // 999 ms after the last loss: 32
    station.acked(2500);
    station.acked(3400);
    step(&mut station); // one second: 31
    (4..=60).for_each(|s| station.acked(s * 1000));
    step(&mut station); // 4 is the least
    assert_eq!(limits, [7, 14, 14, 28, 32, 32, 31, 4]);
    let bench = Bench::new(station.ground.stack);
    assert_eq!((bench.counter("raises"), bench.counter("lowers")), (3, 28));
}

#[test]
fn what_is_not_data_of_that_flow_keeps_the_macs_limit() {
    let mut station = station();
    station.loses(1000);
    for packet in [ack(OUT, 1, 9), data(OUT.reverse(), 1..1001)] {
        assert_eq!(transmissions(&mut station.ground, &packet), 7);
    }
    assert_eq!(transmissions(&mut station.ground, &data(OUT, 1..1001)), 14);
}

#[test]
fn a_most_below_the_least_is_an_input_error_that_says_what_to_write() {
    let mut ground = Ground::new(node(HERE, 2));
    let set = [("least", Value::Int(40)), ("most", Value::Int(32))];
    let refusal = ground.install(&scheme("loss-adaptive-retry", &set)).unwrap_err();
    assert_eq!(
        refusal,
        "loss-adaptive-retry at \"node\": most = 32 is less than least = 40; write most = 40 or more"
    );
}

#[test]
fn it_sits_at_stations_with_an_end_of_flows() {
    let sits = |node: NodeFacts<'static>| Ground::new(node).install(&scheme("loss-adaptive-retry", &[])).unwrap();
    let relay = NodeFacts { starts_flows: false, ends_flows: false, ..node(HERE, 2) };
    assert!(sits(node(HERE, 2)) && sits(NodeFacts { ends_flows: true, ..relay }));
    assert!(!sits(relay) && !sits(NodeFacts { has_air: false, ..node(HERE, 2) }));
}
