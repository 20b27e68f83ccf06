//! Nanoseconds per data segment, its share of ACKs included, both ends together: `cargo bench -p interlayer-tcp`.
//!
//! Two connections joined by a function call; the world adds the network. Budget: 150 ns.

use std::hint::black_box;
use tcp::{Config, Connection, Input, Output, ack};
use units::{Bytes, Dur, SimTime};
use wire::{Payload, Tcp};

/// Passes on what `from` wants to send; reads at once what became readable.
fn pump(from: &mut Connection, now: SimTime, wire: &mut Vec<(Tcp, Payload)>) {
    while let Some(output) = from.poll(now) {
        match output {
            Output::Segment { tcp, payload, .. } => wire.push((tcp, payload)),
            Output::Readable { len, .. } => from.handle(now, Input::Read(u64::from(len))),
            _ => {}
        }
    }
}

fn deliver(to: &mut Connection, now: SimTime, wire: &mut Vec<(Tcp, Payload)>, back: &mut Vec<(Tcp, Payload)>) {
    for (tcp, payload) in wire.drain(..) {
        to.handle(now, Input::Segment { tcp: &tcp, payload: &payload, ce: false });
        pump(to, now, back);
    }
}

fn measure(name: &str, config: &Config) {
    const SEGMENTS: u64 = 1000;
    let mut sender = Connection::open(config.clone(), 1, 2);
    let mut receiver = Connection::listen(config.clone(), 2, 1);
    sender.handle(SimTime::ZERO, Input::Write(u64::MAX / 2));
    let (mut forth, mut back) = (Vec::new(), Vec::new());
    let mut now = SimTime::ZERO;
    testkit::bench::fastest(name, "data segment", || {
        let before = receiver.counters().delivered_segments;
        while receiver.counters().delivered_segments - before < SEGMENTS {
            pump(&mut sender, now, &mut forth);
            now += Dur::from_us(500);
            deliver(&mut receiver, now, &mut forth, &mut back);
            now += Dur::from_us(500);
            deliver(&mut sender, now, &mut back, &mut forth);
        }
        receiver.counters().delivered_segments - before
    });
    assert_eq!(sender.counters().retransmissions, 0);
    black_box((sender, receiver));
}

fn main() {
    let plain = Config { receive_buffer: Bytes(20 * 1460), ..Config::default() };
    let every = Config { ack_policy: ack::find("every").expect("it is registered"), ..plain.clone() };
    let stamped = Config { timestamps: true, sack: true, ..every.clone() };
    measure("one ACK per segment", &every);
    measure("one ACK per two segments", &plain);
    measure("one ACK per segment, timestamps", &stamped);
}
