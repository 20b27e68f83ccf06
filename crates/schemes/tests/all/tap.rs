//! TAP by hand and on a real interface's parameters.

use mac::{Category, Config, Edca, TxopLimits};
use phy::Standard;
use schemes::tap::{INFO, build};
use schemes::testing::{HERE, OUT, THERE, ack, data, segment, site};
use schemes::{Agent, Params, Setup, Site, Value};
use units::{BitRate, Bytes, Dbm, Dur};
use wire::{Flags, L4, Packet, Seq, Udp};

fn access_point() -> Site {
    Site { forwards: true, ..site(HERE, 3) }
}

fn tap(acks: i64, access: &'static str) -> Box<dyn Agent> {
    let mut params = Params::defaults(INFO.params);
    params.set("acks", Value::Int(acks));
    params.set("access", Value::Choice(access));
    build(&access_point(), &params).unwrap()
}

/// 802.11a with the standard's categories.
fn config() -> Config {
    let config = Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).unwrap());
    let edca = Edca::standard(Standard::A, &config.timing, TxopLimits::Zero);
    config.with_edca(edca)
}

fn configure(agent: &mut dyn Agent, mac: Config) -> Result<Category, String> {
    let mut setup =
        Setup { node: HERE, mac, tx_power: Dbm(16.0), access_point: None, has_powers: false, powers: None };
    agent.configure(&mut setup)?;
    let edca = setup.mac.edca.unwrap();
    edca.check()?;
    Ok(edca.categories.last().unwrap().clone())
}

#[test]
fn the_category_of_acks_has_a_difs_no_backoff_and_four_or_eight_exchanges() {
    let mut with_rts = config();
    with_rts.rts.threshold = Some(Bytes(500));
    for (acks, config, exchanges) in [(0, config(), 4), (0, with_rts.clone(), 8), (6, with_rts, 6), (1, config(), 1)]
    {
        let own = configure(&mut *tap(acks, "difs"), config.clone()).unwrap();
        assert_eq!((own.aifs(&config.timing), own.cw_min, own.cw_max), (Dur::from_us(34), 0, 0), "a DIFS of 802.11a");
        assert_eq!((own.txop_exchanges, own.txop_limit), (exchanges, Dur::ZERO));
    }
    let own = configure(&mut *tap(0, "backoff"), config()).unwrap();
    assert_eq!((own.aifsn, own.cw_min, own.cw_max), (2, 15, 1023));
}

#[test]
fn without_categories_it_says_what_to_write() {
    let config = Config::of(Standard::A, Standard::A.modes()[0]);
    let error = configure(&mut *tap(0, "difs"), config).unwrap_err();
    assert!(error.contains("access = \"edca\""), "{error}");
}

#[test]
fn tcp_acks_alone_are_in_it_and_nothing_else_ever_is() {
    let mut agent = tap(0, "difs");
    configure(&mut *agent, config()).unwrap();
    let mut classifier = agent.classifier().unwrap();
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
    let params = Params::defaults(INFO.params);
    assert!(build(&site(HERE, 3), &params).is_none());
    assert!(build(&Site { has_air: false, ..access_point() }, &params).is_none());
}
