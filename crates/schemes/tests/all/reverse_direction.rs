//! The reverse direction at one station: who is granted what, how much is kept free, and whose grants are taken. The frames on the air are in
//! `mac/tests/all/reverse.rs`.

use mac::exchange::Job;
use mac::frame::BLOCK_ACK;
use mac::{Config, Frame, Kind, Plan, Solicited};
use phy::Standard;
use schemes::testing::{self, Bench, Ground, HERE, THERE, aggregating, dcf, node, scheme};
use schemes::{NodeFacts, PeerEvent};
use units::{BitRate, Bytes, Dur, NodeId};

const ELSEWHERE: NodeId = NodeId(2);

/// 802.11a at 54 Mb/s: SIFS 16, an Ack 28, a Block Ack 32 and in its wrapper 36 us, the data of `frame` 252.
fn config() -> Config {
    Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).unwrap())
}

fn ground() -> Ground {
    Ground::new(NodeFacts { standard: Standard::Ac, ..node(HERE, 3) })
}

/// A station on its bench, its plan, and the neighbour that has it too.
fn station() -> (Bench, Box<dyn Plan>) {
    let mut ground = ground().with_mac(aggregating(Standard::Ac));
    assert!(ground.install(&scheme("reverse-direction", &[])).unwrap());
    let mut bench = Bench::new(ground.stack);
    let plan = bench.stack.plan();
    bench.pair();
    (bench, plan)
}

fn frame(kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Frame {
    let len = if kind == Kind::Data { Bytes(1538) } else { BLOCK_ACK };
    testing::frame(kind, (from, to), config().data_rate, len, Dur::from_us(duration))
}

fn us(of: Dur) -> f64 {
    of.ns() as f64 / 1000.0
}

#[test]
fn what_is_kept_free_follows_the_bursts_of_each_neighbour() {
    let (mut bench, mut plan) = station();
    let left = Dur::from_us(700);
    assert_eq!((us(plan.keeps_free(THERE)), plan.keeps_free(ELSEWHERE)), (200.0, Dur::ZERO));
    assert_eq!(
        (plan.grant(ELSEWHERE, left), plan.grant(THERE, Dur::from_us(99))),
        (Dur::ZERO, Dur::ZERO),
        "no partner; too short"
    );
    assert_eq!(plan.grant(THERE, left), left);
    // SIFS, 252, SIFS, Ack, and an eighth more.
    plan.respond(&config(), &frame(Kind::Data, THERE, HERE, 44), true);
    assert_eq!(us(plan.keeps_free(THERE)), 1.125 * (16.0 + 252.0 + 16.0 + 28.0));
    // Data that come by contention are no burst.
    plan.respond(&config(), &frame(Kind::Data, THERE, HERE, 44), true);
    assert_eq!(us(plan.keeps_free(THERE)), 351.0);
    // Of a grant that was not used it hears when it grants again: an eighth less, and after two nothing.
    for kept in [351.0_f64, 307.125, 0.0] {
        assert_eq!((plan.grant(THERE, left), us(plan.keeps_free(THERE)).round()), (left, kept.round()));
    }
    // From then on one A-MPDU in eight grants.
    let grants: Vec<bool> = (0..17).map(|_| plan.grant(THERE, left) == left).collect();
    assert_eq!(grants, (0..17).map(|i| i % 8 == 7).collect::<Vec<_>>());
    assert_eq!(plan.keeps_free(THERE), Dur::ZERO);
    (0..200).for_each(|_| _ = plan.grant(THERE, Dur::from_ms(5)));
    plan.respond(&config(), &frame(Kind::Data, THERE, HERE, 44), true);
    assert_eq!(
        (us(plan.keeps_free(THERE)), us(plan.grant(THERE, Dur::from_ms(5)))),
        (351.0, 2000.0),
        "again at once"
    );
    bench.peer(THERE, PeerEvent::Down);
    assert_eq!((plan.keeps_free(THERE), plan.reverses_with(THERE)), (Dur::ZERO, false));
    assert_eq!(bench.counter("bursts"), 0);
}

#[test]
fn a_grant_is_taken_if_the_data_end_within_it_and_its_giver_has_the_scheme() {
    let (bench, mut plan) = station();
    let mode = config().data_rate;
    let job = |to| Job {
        to,
        psdu: Bytes(1542),
        mode,
        code: None,
        solicits: Solicited::ACK,
        asks_rts: false,
        spares_rts: false,
        is_protected: true,
    };
    // The wrapper is 4 us longer; SIFS, 252, SIFS, Ack follow.
    let needed = 4 + 16 + 252 + 16 + 28;
    let mut takes = |from, duration| plan.burst(&config(), &frame_in_24(from, duration), &job(from)).is_some();
    assert_eq!([takes(THERE, needed), takes(THERE, needed - 1), takes(ELSEWHERE, needed)], [true, false, false]);
    assert_eq!((bench.counter("bursts"), bench.counter("bytes_returned")), (1, 1542));
}

/// Our Block Ack to `to` at 24 Mb/s, 32 us, before a Duration.
fn frame_in_24(to: NodeId, duration: u64) -> Frame {
    let mode = Standard::A.mode(BitRate::from_kbps(24_000)).unwrap();
    testing::frame(Kind::BlockAck, (HERE, to), mode, BLOCK_ACK, Dur::from_us(duration))
}

#[test]
fn categories_that_aggregate_get_a_limit_unless_they_have_one() {
    let limits = |ground: &Ground| {
        let edca = ground.stack.radio.mac.edca.as_ref().unwrap();
        edca.categories.iter().map(|category| us(category.txop_limit)).collect::<Vec<_>>()
    };
    let mut config = aggregating(Standard::Ac);
    config.edca.as_mut().unwrap().categories[2].txop_limit = Dur::from_us(4096);
    let mut ground = ground().with_mac(config);
    assert!(ground.install(&scheme("reverse-direction", &[])).unwrap());
    // BK, BE, VI, VO: agreements are for the first three.
    assert_eq!(limits(&ground), [2528.0, 2528.0, 4096.0, 0.0]);
}

#[test]
fn a_radio_that_makes_no_a_mpdus_is_refused() {
    let refused = ground().with_mac(dcf(Standard::Ac)).install(&scheme("reverse-direction", &[])).unwrap_err();
    assert!(refused.contains("it grants time behind A-MPDUs, and this radio makes none"), "{refused}");
}
