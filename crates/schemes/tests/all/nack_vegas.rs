//! Negative ACKs on a bench: which ACKs tell of which discards, and what a sender makes of them.
//!
//! HERE forwards data of `OUT` to its radio neighbour, whose ACKs are of `IN`. A segment has 1000 B; the first has number 1.

mod history;
mod reports;
mod whole;

use schemes::testing::{Bench, HERE, OUT, ack, bench, data, node};
use schemes::{NodeFacts, Place, Value};
use units::FlowId;
use wire::{Packet, Seq};

const WINDOW: u16 = 65_535;

/// A station on the way, no end of flows.
fn relay(params: &[(&str, Value)]) -> Bench {
    let node = NodeFacts { forwards: true, starts_flows: false, ends_flows: false, ..node(HERE, 3) };
    bench("nack-vegas", node, params).unwrap()
}

/// The segment at `number` of `flow`.
fn segment(flow: FlowId, number: u32) -> Packet {
    let mut packet = data(flow, 0..1000);
    packet.tcp_mut().unwrap().seq = Seq(number);
    packet
}

/// Data passes on its way out. Nothing of it may change. Its serial.
fn passes(bench: &mut Bench, number: u32) -> u64 {
    let packet = segment(OUT, number);
    assert_eq!(bench.pass(Place::Transit, packet.clone()), Some(packet));
    bench.serial
}

/// The numbers in an ACK of `IN` that passes `at`. Nothing else of it may change.
fn told_at(bench: &mut Bench, at: Place, packet: Packet) -> Vec<u32> {
    let mut passed = bench.pass(at, packet.clone()).unwrap();
    let told = passed.tcp().unwrap().options.negative_acks().map(|number| number.0).collect();
    let before = packet.tcp().unwrap().options;
    let options = &mut passed.tcp_mut().unwrap().options;
    assert_eq!(options.bytes()[..before.len()], *before.bytes());
    *options = before;
    assert_eq!(passed, packet);
    told
}

fn told(bench: &mut Bench, number: u32) -> Vec<u32> {
    told_at(bench, Place::Transit, ack(schemes::testing::IN, number, WINDOW))
}
