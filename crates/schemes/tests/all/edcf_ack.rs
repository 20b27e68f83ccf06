//! Which packets take the ACKs' category, and what the two categories become.

use mac::{Config, Edca, TxopLimits};
use phy::Standard;
use schemes::edcf_ack::{INFO, build};
use schemes::testing::{HERE, OUT, THERE, ack, data, segment, site};
use schemes::{Agent, Params, Setup, Site, Value};
use units::{BitRate, Dbm};
use wire::{Flags, L4, Packet, Seq, Udp};

fn agent(forwards: bool, set: &[(&str, Value)]) -> Box<dyn Agent> {
    let mut params = Params::defaults(INFO.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    build(&Site { forwards, ..site(HERE, 2) }, &params).unwrap()
}

/// The categories of 802.11b after `agent` has changed them: AIFSN, CWmin, CWmax.
fn configured(agent: &mut dyn Agent, edca: bool) -> Result<Vec<(u8, u16, u16)>, String> {
    let mut mac = Config::of(Standard::B, Standard::B.mode(BitRate::from_kbps(11_000)).unwrap());
    if edca {
        let categories = Edca::standard(Standard::B, &mac.timing, TxopLimits::Zero);
        mac = mac.with_edca(categories);
    }
    let mut setup =
        Setup { node: HERE, mac, tx_power: Dbm(16.0), access_point: None, has_powers: false, powers: None };
    agent.configure(&mut setup)?;
    Ok(setup.mac.edca.unwrap().categories.iter().map(|c| (c.aifsn, c.cw_min, c.cw_max)).collect())
}

fn category(agent: &mut dyn Agent, packet: &Packet, default: u8) -> u8 {
    agent.classifier().unwrap().category(packet, THERE, default)
}

#[test]
fn the_two_categories_get_their_parameters_and_the_others_keep_theirs() {
    // 802.11b: BK 7/31/1023, VI 2/15/31 by the standard.
    let ours = [(7, 31, 1023), (6, 31, 1023), (2, 15, 31), (2, 1, 31)];
    assert_eq!(configured(&mut *agent(true, &[]), true).unwrap(), ours);
    let set = [
        ("ack_category", Value::Choice("vi")),
        ("ack_aifsn", Value::Int(3)),
        ("ack_cw_min", Value::Int(7)),
        ("ack_cw_max", Value::Int(7)),
        ("data_category", Value::Choice("bk")),
        ("data_cw_min", Value::Int(63)),
    ];
    let ours = [(6, 63, 1023), (3, 31, 1023), (3, 7, 7), (2, 7, 15)];
    assert_eq!(configured(&mut *agent(false, &set), true).unwrap(), ours);
}

#[test]
fn pure_acks_have_their_category_for_themselves() {
    let bare = |flags| segment(OUT, flags, Seq(0), 0, Seq(0), 65_535);
    let datagram = Packet { l4: L4::Udp(Udp::default()), ..data(OUT, 1..1449) };
    let others = [
        data(OUT, 1..1449),
        datagram,
        bare(Flags::SYN),
        bare(Flags::SYN | Flags::ACK),
        bare(Flags::FIN | Flags::ACK),
    ];
    let mut access_point = agent(true, &[]);
    for default in 0..4 {
        assert_eq!(category(&mut *access_point, &ack(OUT, 1, 65_535), default), 3);
        for other in &others {
            assert_eq!(category(&mut *access_point, other, default), [0, 1, 2, 1][usize::from(default)], "{other:?}");
        }
    }
    // A station's ACKs (of downloads) stay with the data, unless the scenario says otherwise.
    assert_eq!(category(&mut *agent(false, &[]), &ack(OUT, 1, 65_535), 1), 1);
    let every = [("acks", Value::Choice("every-node"))];
    assert_eq!(category(&mut *agent(false, &every), &ack(OUT, 1, 65_535), 1), 3);
}

#[test]
fn one_category_for_both_and_none_at_all_are_told() {
    let same = [("ack_category", Value::Choice("be"))];
    assert!(configured(&mut *agent(true, &same), true).unwrap_err().contains("one of their own"));
    assert!(configured(&mut *agent(true, &[]), false).unwrap_err().contains("access = \"edca\""));
}
