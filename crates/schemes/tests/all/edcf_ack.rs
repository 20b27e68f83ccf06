//! The packets that take the ACKs' category, and the parameters of the two categories.

use mac::Classifier;
use phy::Standard;
use schemes::testing::{Ground, HERE, OUT, THERE, ack, data, dcf, edca, node, scheme, segment};
use schemes::{NodeFacts, Value};
use wire::{Flags, L4, Packet, Seq, Udp};

/// A node of 802.11b with the scheme, or why it refuses.
fn installed(forwards: bool, set: &[(&str, Value)], is_edca: bool) -> Result<Ground, String> {
    let mac = if is_edca { edca(Standard::B) } else { dcf(Standard::B) };
    let mut ground = Ground::new(NodeFacts { forwards, ..node(HERE, 2) }).with_mac(mac);
    ground.install(&scheme("edcf-ack", set)).map(|_| ground)
}

/// The categories of 802.11b as the scheme leaves them: AIFSN, CWmin, CWmax.
fn configured(forwards: bool, set: &[(&str, Value)]) -> Vec<(u8, u16, u16)> {
    let ground = installed(forwards, set, true).unwrap();
    let categories = ground.stack.radio.mac.edca.unwrap().categories;
    categories.iter().map(|c| (c.aifsn, c.cw_min, c.cw_max)).collect()
}

fn classifier(forwards: bool, set: &[(&str, Value)]) -> Box<dyn Classifier> {
    installed(forwards, set, true).unwrap().stack.classifier().unwrap()
}

#[test]
fn the_two_categories_get_their_parameters_and_the_others_keep_theirs() {
    // 802.11b: BK 7/31/1023, VI 2/15/31 by the standard.
    let ours = [(7, 31, 1023), (6, 31, 1023), (2, 15, 31), (2, 1, 31)];
    assert_eq!(configured(true, &[]), ours);
    let set = [
        ("ack_category", Value::Choice("vi")),
        ("ack_aifsn", Value::Int(3)),
        ("ack_cw_min", Value::Int(7)),
        ("ack_cw_max", Value::Int(7)),
        ("data_category", Value::Choice("bk")),
        ("data_cw_min", Value::Int(63)),
    ];
    let ours = [(6, 63, 1023), (3, 31, 1023), (3, 7, 7), (2, 7, 15)];
    assert_eq!(configured(false, &set), ours);
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
    let mut access_point = classifier(true, &[]);
    for default in 0..4 {
        assert_eq!(access_point.category(&ack(OUT, 1, 65_535), THERE, default), 3);
        for other in &others {
            assert_eq!(access_point.category(other, THERE, default), [0, 1, 2, 1][usize::from(default)], "{other:?}");
        }
    }
    // A station's ACKs (of downloads) stay with the data, unless the scenario says otherwise.
    assert_eq!(classifier(false, &[]).category(&ack(OUT, 1, 65_535), THERE, 1), 1);
    let every = [("acks", Value::Choice("every-node"))];
    assert_eq!(classifier(false, &every).category(&ack(OUT, 1, 65_535), THERE, 1), 3);
}

#[test]
fn one_category_for_both_and_none_at_all_are_told() {
    let same = [("ack_category", Value::Choice("be"))];
    assert!(installed(true, &same, true).unwrap_err().contains("one of their own"));
    assert!(installed(true, &[], false).unwrap_err().contains("access = \"edca\""));
}
