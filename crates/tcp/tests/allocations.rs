//! In the steady state nothing is allocated: neither without loss nor while losses are repaired.

use tcp::{Config, Connection, Input, Output, Undo, cc};
use testkit::alloc::{Counting, calls};
use units::{Bytes, Dur, SimTime};
use wire::{Payload, Tcp};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sends what `from` has to send, except every `lose`-th segment.
fn pump(from: &mut Connection, now: SimTime, wire: &mut Vec<(Tcp, Payload)>, sent: &mut u64, lose: u64) {
    while let Some(output) = from.poll(now) {
        match output {
            Output::Segment { tcp, payload, .. } => {
                *sent += 1;
                if !sent.is_multiple_of(lose) {
                    wire.push((tcp, payload));
                }
            }
            Output::Readable { len, .. } => from.handle(now, Input::Read(u64::from(len))),
            _ => {}
        }
    }
}

/// Allocations of `rounds` round trips after as many to warm up, and the segments delivered in them.
fn allocations(config: Config, lose: u64, rounds: u32) -> (u64, u64) {
    let mut sender = Connection::open(config.clone(), 1, 2);
    let mut receiver = Connection::listen(config, 2, 1);
    sender.handle(SimTime::ZERO, Input::Write(u64::MAX / 2));
    let (mut forth, mut back) = (Vec::with_capacity(100), Vec::with_capacity(100));
    let (mut now, mut sent) = (SimTime::ZERO, 0);
    let mut before = (0, 0);
    for round in 0..2 * rounds {
        if round == rounds {
            before = (calls(), receiver.counters().delivered_segments);
        }
        for end in [&mut sender, &mut receiver] {
            if end.next_wakeup() <= now {
                end.handle(now, Input::Timer);
            }
        }
        pump(&mut sender, now, &mut forth, &mut sent, lose);
        pump(&mut receiver, now, &mut back, &mut 0, u64::MAX);
        now += Dur::from_ms(5);
        for (tcp, payload) in forth.drain(..) {
            receiver.handle(now, Input::Segment { tcp: &tcp, payload: &payload, ce: false });
            pump(&mut receiver, now, &mut back, &mut 0, u64::MAX);
        }
        now += Dur::from_ms(5);
        for (tcp, payload) in back.drain(..) {
            sender.handle(now, Input::Segment { tcp: &tcp, payload: &payload, ce: false });
            pump(&mut sender, now, &mut forth, &mut sent, lose);
        }
    }
    (calls() - before.0, receiver.counters().delivered_segments - before.1)
}

/// One test, so that no other thread counts.
#[test]
fn the_steady_state_allocates_nothing() {
    let sack = Config { receive_buffer: Bytes(30 * 1460), sack: true, ..Config::default() };
    let newreno = Config { recovery: tcp::recovery::find("newreno"), ..sack.clone() };
    let all =
        Config { prr: true, rack: true, tlp: true, undo: Undo::All, hystart: true, timestamps: true, ..sack.clone() };
    let bbr = Config { congestion: tcp::cc::find("bbr").expect("it is registered"), ..all.clone() };
    for (name, config) in [("newreno", newreno), ("sack", sack), ("all of it", all), ("bbr", bbr)] {
        for lose in [u64::MAX, 97] {
            // Its pacing timer runs once per round trip here: hardly a segment each.
            let rounds = if name == "bbr" { 13_000 } else { 2000 };
            let (allocations, segments) = allocations(config.clone(), lose, rounds);
            assert!(segments > 10_000, "{name}: {segments} segments");
            assert_eq!(allocations, 0, "{name}, losing every {lose}th");
        }
    }
    let plain = Config { receive_buffer: Bytes(30 * 1460), timestamps: true, ..Config::default() };
    for name in cc::NAMES {
        let config = Config { congestion: cc::find(name).expect("it is registered"), ..plain.clone() };
        let rounds = if *name == "bbr" { 13_000 } else { 2000 };
        let (allocations, segments) = allocations(config, 97, rounds);
        assert!(segments > 5_000, "{name}: {segments} segments");
        assert_eq!(allocations, 0, "{name}");
    }
}
