//! TAP by hand and on a real interface's parameters.

use mac::{Category, Config};
use phy::Standard;
use schemes::testing::{Ground, HERE, OUT, THERE, ack, data, dcf, edca, node, scheme, segment};
use schemes::{NodeFacts, Value};
use units::{Bytes, Dur};
use wire::{Flags, L4, Packet, Seq, Udp};

fn access_point() -> NodeFacts<'static> {
    NodeFacts { forwards: true, ..node(HERE, 3) }
}

/// 802.11a with the standard's categories.
fn config() -> Config {
    edca(Standard::A)
}

fn installed(acks: i64, access: &'static str, mac: Config) -> Result<Ground, String> {
    let mut ground = Ground::new(access_point()).with_mac(mac);
    let set = [("acks", Value::Int(acks)), ("access", Value::Choice(access))];
    ground.install(&scheme("tap", &set)).map(|_| ground)
}

/// The category that it adds.
fn added(acks: i64, access: &'static str, mac: Config) -> Category {
    installed(acks, access, mac).unwrap().stack.radio.mac.edca.unwrap().categories.pop().unwrap()
}

#[test]
fn the_category_of_acks_has_a_difs_no_backoff_and_four_or_eight_exchanges() {
    let mut with_rts = config();
    with_rts.rts.threshold = Some(Bytes(500));
    for (acks, config, exchanges) in [(0, config(), 4), (0, with_rts.clone(), 8), (6, with_rts, 6), (1, config(), 1)]
    {
        let own = added(acks, "difs", config.clone());
        assert_eq!((own.aifs(&config.timing), own.cw_min, own.cw_max), (Dur::from_us(34), 0, 0), "a DIFS of 802.11a");
        assert_eq!((own.txop_exchanges, own.txop_limit), (exchanges, Dur::ZERO));
    }
    let own = added(0, "backoff", config());
    assert_eq!((own.aifsn, own.cw_min, own.cw_max), (2, 15, 1023));
}

#[test]
fn without_categories_it_says_what_to_write() {
    let error = installed(0, "difs", dcf(Standard::A)).unwrap_err();
    assert!(error.contains("access = \"edca\""), "{error}");
}

#[test]
fn tcp_acks_alone_are_in_it_and_nothing_else_ever_is() {
    let mut classifier = installed(0, "difs", config()).unwrap().stack.classifier().unwrap();
    let mut category = |packet: &Packet, default| classifier.category(packet, THERE, default);
    assert_eq!(category(&ack(OUT, 1, 65_535), 1), 4);
    assert_eq!(category(&segment(OUT, Flags::ACK | Flags::ECE, Seq(1), 0, Seq(1), 0), 0), 4);
    let bare = |flags| segment(OUT, flags, Seq(0), 0, Seq(0), 65_535);
    let datagram = Packet { l4: L4::Udp(Udp::default()), ..data(OUT, 1..1449) };
    let others = [Flags::SYN, Flags::SYN | Flags::ACK, Flags::FIN | Flags::ACK, Flags::RST | Flags::ACK].map(bare);
    for packet in others.into_iter().chain([data(OUT, 1..1449), datagram]) {
        assert_eq!([0, 1, 2, 3, 4].map(|default| category(&packet, default)), [0, 1, 2, 3, 3]);
    }
}

#[test]
fn it_sits_where_packets_are_forwarded_to_a_radio() {
    for node in [node(HERE, 3), NodeFacts { has_air: false, ..access_point() }] {
        assert_eq!(Ground::new(node).install(&scheme("tap", &[])), Ok(false));
    }
}
