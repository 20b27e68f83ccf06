//! DCF+ at one station: who is asked, who is granted, and how often. The frames on the air are in `mac/tests/all/edca/reply.rs`.

use mac::exchange::Job;
use mac::frame::ACK;
use mac::{Config, Frame, Kind, Plan, Solicited};
use phy::Standard;
use schemes::dcf_plus::INFO;
use schemes::testing::{self, Bench, HERE, THERE, node};
use schemes::{Capability, PeerEvent};
use units::{BitRate, Bytes, Dur, NodeId};

const ELSEWHERE: NodeId = NodeId(2);

/// 802.11b at 11 Mb/s, long preamble: an ACK at 11 Mb/s takes 192 + 11 µs.
fn config() -> Config {
    Config::of(Standard::B, Standard::B.mode(BitRate::from_kbps(11_000)).unwrap())
}

fn frame(kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Frame {
    let len = if kind == Kind::Data { Bytes(1536) } else { ACK };
    testing::frame(kind, (from, to), config().data_rate, len, Dur::from_us(duration))
}

/// A TCP ACK for a neighbour at the head of the line: 76 B, 192 + 56 µs.
fn job(to: NodeId) -> Job {
    let (mode, solicits) = (config().data_rate, Solicited::ACK);
    let (asks_rts, spares_rts, is_protected) = (false, false, true);
    Job { to, psdu: Bytes(76), mode, code: None, solicits, asks_rts, spares_rts, is_protected }
}

/// A station on its bench, its plan, and the neighbour that has it too.
fn station() -> (Bench, Box<dyn Plan>) {
    let mut bench = testing::bench("dcf-plus", node(HERE, 3), &[]).unwrap();
    let plan = bench.stack.plan();
    bench.pair();
    (bench, plan)
}

/// `from` sends data that announces `duration`. What our ACK, if it asks for the medium, announces.
fn hears_data(plan: &mut dyn Plan, from: NodeId, duration: u64, waiting: NodeId) -> Option<Dur> {
    let response = plan.respond(&config(), &frame(Kind::Data, from, HERE, duration), true).unwrap();
    assert_eq!(response.kind, Kind::Ack);
    let answer = Frame { duration: response.duration, ..frame(Kind::Ack, HERE, from, 0) };
    let reply = if waiting == from { plan.reply(&config(), &answer, &job(waiting)) } else { None };
    reply.map(|exchange| exchange.step().duration)
}

/// SIFS and the ACK of data: what data alone announces.
const ALONE: u64 = 213;

#[test]
fn the_ack_asks_for_what_the_waiting_packet_takes_and_only_of_a_neighbour_that_has_it() {
    let (mut bench, mut plan) = station();
    // SIFS CTS SIFS data SIFS ACK: 10 + 203 + 10 + 248 + 10 + 203.
    assert_eq!(hears_data(&mut *plan, THERE, ALONE, THERE), Some(Dur::from_us(684)));
    assert_eq!(hears_data(&mut *plan, ELSEWHERE, ALONE, ELSEWHERE), None, "it has not announced anything");
    bench.peer(THERE, PeerEvent::Down);
    assert_eq!(hears_data(&mut *plan, THERE, ALONE, THERE), None, "gone");
    bench.peer(THERE, PeerEvent::Up(&[Capability { scheme: "other", detail: 0 }]));
    assert_eq!(hears_data(&mut *plan, THERE, ALONE, THERE), None, "back without it");
    bench.peer(THERE, PeerEvent::Up(&[Capability { scheme: INFO.id, detail: 0 }]));
    assert!(hears_data(&mut *plan, THERE, ALONE, THERE).is_some());
    assert_eq!((bench.counter("requests"), bench.counter("grants")), (2, 0));
}

#[test]
fn data_that_announces_a_further_exchange_is_not_the_last_and_its_ack_asks_for_nothing() {
    let (_, mut plan) = station();
    assert_eq!(hears_data(&mut *plan, THERE, ALONE + 500, THERE), None);
    assert!(hears_data(&mut *plan, THERE, ALONE, THERE).is_some());
}

#[test]
fn a_cts_to_an_rts_is_no_reply() {
    let (_, mut plan) = station();
    let response = plan.respond(&config(), &frame(Kind::Rts, THERE, HERE, 2000), true).unwrap();
    let answer = Frame { duration: Dur::ZERO, ..frame(response.kind, HERE, THERE, 0) };
    assert!(plan.reply(&config(), &answer, &job(THERE)).is_none());
}

#[test]
fn a_request_is_granted_to_a_partner_while_the_nav_is_idle_and_the_data_behind_it_asks_for_nothing_more() {
    let (bench, mut plan) = station();
    let request = frame(Kind::Ack, THERE, HERE, 684);
    assert!(plan.respond(&config(), &request, false).is_none(), "the NAV is set");
    assert!(plan.respond(&config(), &frame(Kind::Ack, ELSEWHERE, HERE, 684), true).is_none());
    let cts = plan.respond(&config(), &request, true).unwrap();
    assert_eq!((cts.kind, cts.duration), (Kind::Cts, Dur::from_us(684 - 213)));
    assert_eq!(bench.counter("grants"), 1);
    assert_eq!(hears_data(&mut *plan, THERE, ALONE, THERE), None, "no endless exchange of replies");
    assert!(hears_data(&mut *plan, THERE, ALONE, THERE).is_some(), "what is contended for is");
}

#[test]
fn returned_data_that_has_no_reply_waiting_costs_the_next_contended_exchange_nothing() {
    let (_, mut plan) = station();
    plan.respond(&config(), &frame(Kind::Ack, THERE, HERE, 684), true).unwrap();
    // The returned data is answered, and nothing is at the head of the line for its sender.
    assert_eq!(hears_data(&mut *plan, THERE, ALONE, ELSEWHERE), None);
    assert!(hears_data(&mut *plan, THERE, ALONE, THERE).is_some());
    // Returned data that never came, and an exchange of our own since.
    plan.respond(&config(), &frame(Kind::Ack, THERE, HERE, 684), true).unwrap();
    plan.exchange(&config(), &job(THERE));
    assert!(hears_data(&mut *plan, THERE, ALONE, THERE).is_some());
}

#[test]
fn a_reply_leaves_nothing_behind_in_the_next_exchange_of_the_same_packet() {
    let (_, mut plan) = station();
    let config = config();
    assert_eq!(plan.exchange(&config, &job(THERE)).step().kind, Kind::Data);
    let ack = frame(Kind::Ack, HERE, THERE, 0);
    assert_eq!(plan.reply(&config, &ack, &job(THERE)).unwrap().step().kind, Kind::Ack);
    // The CTS did not come: the same job is contended for, data first.
    let exchange = plan.exchange(&config, &job(THERE));
    assert_eq!((exchange.step().kind, exchange.length()), (Kind::Data, Dur::from_us(248 + 213)));
}
