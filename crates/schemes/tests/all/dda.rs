//! Delayed duplicate ACKs on a bench: what a receiver holds and for how long, and what a base station sends again.

use mac::{Msdu, Next, Sought};
use queue::Limit;
use schemes::testing::{Bench, Ground, HERE, IN, OUT, THERE, ack, bench, data, dcf, node, scheme};
use schemes::{NodeFacts, Place, Toward, Value};
use units::{Bytes, Dur, SimTime};
use wire::{DropWhy, L4, Packet, Packets};

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// A receiver that holds duplicates for 100 ms.
fn receiver() -> Bench {
    bench("dda", node(HERE, 2), &[]).unwrap()
}

/// The receiver's TCP sends this ACK; whether it passes.
fn sends(bench: &mut Bench, number: u32) -> bool {
    bench.pass(Place::FromHost, ack(OUT, number, 9)).is_some()
}

#[test]
fn third_and_later_duplicates_are_held_and_dropped_if_the_gap_fills() {
    let mut bench = receiver();
    // The ACK itself, two duplicates, then three that are held.
    let passed = [1, 1, 1, 1, 1, 1].map(|number| sends(&mut bench, number));
    assert_eq!(passed, [true, true, true, false, false, false]);
    assert_eq!((bench.held(), bench.next_wakeup()), (3, at(100)));
    assert!(sends(&mut bench, 5001));
    assert_eq!((bench.held(), bench.next_wakeup(), bench.take_injected()), (0, SimTime::NEVER, vec![]));
    // The next gap counts anew.
    assert!(sends(&mut bench, 5001) && sends(&mut bench, 5001) && !sends(&mut bench, 5001));
    assert_eq!((bench.counter("duplicates_held"), bench.counter("duplicates_dropped")), (4, 3));
}

#[test]
fn if_it_does_not_fill_they_go_out_together_after_d_and_later_ones_at_once() {
    let mut bench = receiver();
    [1, 1, 1].iter().for_each(|number| assert!(sends(&mut bench, *number)));
    for ms in [20, 50, 119] {
        bench.now = at(ms);
        assert!(!sends(&mut bench, 1));
    }
    assert_eq!(bench.next_wakeup(), at(120), "counted from the first that is held");
    assert!(bench.next_timer());
    let gone = bench.take_injected();
    assert_eq!(gone.len(), 3);
    assert!(gone.iter().all(|(packet, toward)| {
        *packet == ack(OUT, 1, 9) && *toward == Toward::Onward(Place::FromHost, Some(THERE))
    }));
    assert!(sends(&mut bench, 1), "the sender repeats already");
    assert_eq!((bench.counter("duplicates_released"), bench.held()), (3, 0));
}

#[test]
fn what_is_no_duplicate_passes() {
    let mut bench = receiver();
    [1, 1, 1].iter().for_each(|number| assert!(sends(&mut bench, *number)));
    // Another window, data, another flow, another protocol: none of them is held.
    let mut udp = ack(OUT, 1, 9);
    udp.l4 = L4::Opaque;
    for packet in [ack(OUT, 1, 8), data(OUT, 1..101), ack(OUT.reverse(), 1, 8), udp] {
        assert_eq!(bench.pass(Place::FromHost, packet.clone()), Some(packet));
    }
    assert_eq!(bench.held(), 0);
    // A duplicate has the window that was told last, here by the data; what is held goes when the node dies.
    assert!(sends(&mut bench, 1), "9 is no longer that window");
    assert_eq!(bench.pass(Place::FromHost, ack(OUT, 1, 9)), None);
    assert_eq!(bench.held(), 1);
    bench.release();
    assert_eq!(bench.held(), 0);
}

/// A base station whose MAC gives up after two attempts.
fn station(limit: Limit, set: &[(&str, Value)]) -> Ground {
    let relay = NodeFacts { forwards: true, starts_flows: false, ends_flows: false, queue: limit, ..node(HERE, 2) };
    let mut ground = Ground::new(relay).with_mac(mac::Config { max_attempts: 2, ..dcf(phy::Standard::B) });
    ground.install(&scheme("dda", set)).unwrap();
    ground
}

/// Packets of which no layer knows the header: encrypted.
fn sealed(from: u32) -> Packet {
    Packet { l4: L4::Opaque, ..data(IN, from..from + 1000) }
}

#[test]
fn what_the_mac_gave_up_on_stands_aside_and_goes_again_while_others_overtake_it() {
    let mut ground = station(Limit::Packets(3), &[("rounds", Value::Int(2))]);
    let (mut queue, mut all) = (ground.queue(), Packets::default());
    for from in [0, 1000, 2000] {
        let msdu = Msdu::new(at(0), all.put(sealed(from)), &all, THERE, 0);
        queue.push(at(0), msdu, &mut all).unwrap();
    }
    let mut msdu = queue.pop(at(0), &mut all).unwrap();
    let first = msdu.serial;
    msdu.failures.0 = 1;
    let Next::Again(mut msdu) = queue.failed(at(1), msdu, false, &all) else { panic!("one attempt is left") };
    msdu.failures.0 = 2;
    assert!(matches!(queue.failed(at(2), msdu, true, &all), Next::Yield), "a round is over");
    let space = queue.space();
    assert_eq!(
        (space.entries, space.free, space.used),
        (3, Bytes(0), Bytes(3 * 1000)),
        "it has its place in the queue"
    );
    let full = Msdu::new(at(2), all.put(sealed(3000)), &all, THERE, 0);
    let refused = queue.push(at(2), full, &mut all).unwrap_err();
    all.free(refused.pkt, DropWhy::MacDone);
    // Aside until 12 ms: the second overtakes it, the third does not.
    let second = queue.pop(at(11), &mut all).unwrap();
    assert_eq!((second.serial, queue.next_wakeup()), (first + 1, at(12)));
    let mut msdu = queue.pop(at(12), &mut all).unwrap();
    assert_eq!((msdu.serial, msdu.failures), (first, (2, 0)));
    // Its second round of two attempts and its third; then it is given up.
    let mut fates = Vec::new();
    for failures in 3..=6 {
        msdu.failures.0 = failures;
        let (fate, next) = match queue.failed(at(20), msdu, true, &all) {
            Next::Again(msdu) => ("again", msdu),
            Next::Yield => ("aside", queue.pop(at(40), &mut all).unwrap()),
            Next::GiveUp(msdu) => ("given up", msdu),
        };
        fates.push(fate);
        msdu = next;
    }
    assert_eq!(fates, ["again", "aside", "again", "given up"]);
    for msdu in [msdu, second].into_iter().chain(queue.drain(at(50))) {
        all.free(msdu.pkt, DropWhy::MacDone);
    }
    assert_eq!(all.live(), 0);
}

#[test]
fn what_stands_aside_is_withdrawn_and_given_up_with_the_rest_of_the_queue() {
    let mut ground = station(Limit::Bytes(Bytes(4000)), &[]);
    let (mut queue, mut all) = (ground.queue(), Packets::default());
    let mut aside = |queue: &mut Box<dyn mac::TxQueue>| {
        let mut msdu = Msdu::new(at(0), all.put(sealed(0)), &all, THERE, 0);
        let serial = msdu.serial;
        msdu.failures.0 = 2;
        assert!(matches!(queue.failed(at(0), msdu, true, &all), Next::Yield), "also one that was never queued here");
        serial
    };
    let (one, _) = (aside(&mut queue), aside(&mut queue));
    assert_eq!((queue.space().entries, queue.space().free), (2, Bytes(4000 - 2 * 1000)));
    let withdrawn = queue.withdraw(at(0), Sought::Serial(one), &all).unwrap();
    assert_eq!((withdrawn.serial, queue.space().entries), (one, 1));
    let left = queue.drain(at(0));
    assert_eq!((left.len(), queue.space().entries, queue.space().free), (1, 0, Bytes(4000)));
    left.into_iter().chain([withdrawn]).for_each(|msdu| _ = all.free(msdu.pkt, DropWhy::MacDone));
    assert_eq!(all.live(), 0);
}

#[test]
fn the_link_is_at_base_stations_and_the_receiver_at_stations() {
    let sits = |node: NodeFacts<'static>, set: &[(&str, Value)]| {
        let mut ground = Ground::new(node);
        ground.install(&scheme("dda", set)).unwrap().then(|| {
            let claims = ground.stack.claims[0];
            (claims.turns(schemes::Port::TxQueue), claims.reads(schemes::Signal::TcpHeader))
        })
    };
    let station = node(HERE, 2);
    let relay = NodeFacts { forwards: true, ..station };
    let silent = NodeFacts { starts_flows: false, ends_flows: false, ..station };
    assert_eq!(sits(station, &[]), Some((false, true)));
    assert_eq!(sits(relay, &[]), Some((true, false)), "it reads no header");
    assert_eq!((sits(silent, &[]), sits(NodeFacts { has_air: false, ..relay }, &[])), (None, None));
}

#[test]
fn zero_turns_either_half_off() {
    let mut bench = bench("dda", node(HERE, 2), &[("d", Value::Time(Dur::ZERO))]).unwrap();
    assert!((0..9).all(|_| sends(&mut bench, 1)));
    let mut ground = station(Limit::Packets(3), &[("rounds", Value::Int(0))]);
    let (mut queue, mut all) = (ground.queue(), Packets::default());
    let mut msdu = Msdu::new(at(0), all.put(sealed(0)), &all, THERE, 0);
    msdu.failures.0 = 2;
    let Next::GiveUp(msdu) = queue.failed(at(0), msdu, true, &all) else { panic!("as the MAC says") };
    all.free(msdu.pkt, DropWhy::MacDone);
}
