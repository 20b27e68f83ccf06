//! Hybrid ARQ: which transmissions have the code, and for whom.

use mac::Msdu;
use phy::{BlockCode, Standard, TxVector};
use schemes::testing::{Bench, Ground, HERE, OUT, THERE, data, dcf, node, scheme};
use schemes::{Capability, NodeFacts, PeerEvent, Value};
use units::{NodeId, SimTime};
use wire::Packets;

fn ground(set: &[(&str, Value)]) -> Result<Ground, String> {
    let mut ground = Ground::new(node(HERE, 3)).with_mac(dcf(Standard::B));
    ground.install(&scheme("hybrid-arq", set)).map(|_| ground)
}

/// The codes of the first three transmissions to this node, if the neighbour has the scheme with the same code.
fn codes(kind: &'static str, to: NodeId) -> [Option<BlockCode>; 3] {
    let set = [("type", Value::Choice(kind)), ("n", Value::Int(127)), ("k", Value::Int(64)), ("t", Value::Int(10))];
    let mut ground = ground(&set).unwrap();
    let mut transmit = ground.stack.transmit().unwrap();
    Bench::new(ground.stack).pair();
    let mut all = Packets::default();
    let packet = data(OUT, 1..1001);
    let mut msdu = Msdu::new(SimTime::ZERO, all.put(packet.clone()), &all, to, 0);
    let own = TxVector::from(Standard::B.modes()[3]);
    [0, 1, 2].map(|attempts| {
        msdu.attempts = attempts;
        let tx = transmit.tx_vector(&msdu, &packet, own);
        assert_eq!(TxVector { code: None, ..tx }, own, "mode and power stay");
        tx.code
    })
}

#[test]
fn type_0_codes_nothing_type_i_everything_and_type_ii_what_is_sent_again() {
    let code = BlockCode::new(127, 64, 10);
    assert!(code.is_some());
    assert_eq!(codes("0", THERE), [None, None, None]);
    assert_eq!(codes("I", THERE), [code, code, code]);
    assert_eq!(codes("II", THERE), [None, code, code]);
}

#[test]
fn who_has_not_announced_the_code_and_groups_get_plain_frames() {
    for to in [NodeId(2), NodeId::BROADCAST] {
        assert_eq!(codes("I", to), [None, None, None]);
    }
    // A neighbour with another code cannot decode this one, and one that left knows none.
    let mut ground = ground(&[("type", Value::Choice("I"))]).unwrap();
    let mut transmit = ground.stack.transmit().unwrap();
    let mut bench = Bench::new(ground.stack);
    let packet = data(OUT, 1..1001);
    let mut all = Packets::default();
    let msdu = Msdu::new(SimTime::ZERO, all.put(packet.clone()), &all, THERE, 0);
    let own = TxVector::from(Standard::B.modes()[3]);
    let mut code = || transmit.tx_vector(&msdu, &packet, own).code;
    let detail = bench.announced().unwrap();
    let mut then = |event: PeerEvent<'_>| {
        bench.peer(THERE, event);
        code()
    };
    let of = |detail| Capability { scheme: "hybrid-arq", detail };
    assert_eq!(then(PeerEvent::Up(&[of(detail + 1)])), None);
    assert_eq!(then(PeerEvent::Up(&[of(detail)])), BlockCode::new(255, 223, 4));
    assert_eq!(then(PeerEvent::Down), None);
}

#[test]
fn a_code_that_cannot_be_is_an_input_error() {
    let refusal = |n, k, t| {
        let set = [("n", Value::Int(n)), ("k", Value::Int(k)), ("t", Value::Int(t))];
        ground(&set).err()
    };
    assert_eq!(
        refusal(255, 223, 5).unwrap(),
        "hybrid-arq at \"node\": there is no block code (n, k, t) = (255, 223, 5): n - k check bits cannot tell t errors apart; \
         write a smaller t or k, as in (255, 223, 4)"
    );
    assert!(refusal(100, 101, 0).unwrap().contains("k is more than n"));
    assert_eq!(refusal(4095, 4095, 0), None);
}

#[test]
fn it_sits_at_every_radio_and_nowhere_else() {
    let sits = |node: NodeFacts<'static>| Ground::new(node).install(&scheme("hybrid-arq", &[])).unwrap();
    assert!(sits(node(HERE, 3)) && !sits(NodeFacts { has_air: false, ..node(HERE, 3) }));
}
