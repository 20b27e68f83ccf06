//! Upload fairness by EDCF: TCP's ACKs have a category of their own, with a small AIFS and contention window, and data
//! another with larger ones.
//!
//! - **Source** @LC05: Leith & Clifford, "Using the 802.11e EDCF to achieve TCP upload fairness over WLAN links", IEEE WiOpt
//!   2005, as @SAN14 chapter 5 tells it and its abstract; the paper itself was not at hand.
//! - **Realism** no oracle; a look at TCP headers. Every node must take part: data of a station without it keeps the small
//!   AIFS of best effort.
//! - **Departs** the defaults are assumed: ACKs AIFSN 2 and CWmin 1, so that with data at AIFSN 6 no ACK meets data. What is
//!   neither and asks for the ACKs' category goes with the data: theirs is for them alone. SYN, SYN-ACK and FIN are no ACKs,
//!   as the paper speaks of none. A category keeps its TXOP limit.
//! - **Bound** two categories of one station collide inside; the ratio below is for ACKs at one node and data at others.
//! - **Checked** `tests/all/edcf_ack.rs`; `world/tests/all/ack_priority.rs`: opportunities in the ratio of the windows, @SAN14
//!   figure 5.3 and its cure.

use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Category, Classifier};
use units::NodeId;
use wire::Packet;

/// The categories that have a name in scenarios, lowest first.
const CATEGORIES: &[&str] = &["bk", "be", "vi", "vo"];

const fn window(key: &'static str, default: i64, doc: &'static str) -> Param {
    Param { key, kind: Kind::Int { min: 0, max: 32_767 }, default: Value::Int(default), doc }
}

const fn aifsn(key: &'static str, default: i64, doc: &'static str) -> Param {
    Param { key, kind: Kind::Int { min: 1, max: 15 }, default: Value::Int(default), doc }
}

const fn category(key: &'static str, default: &'static str, doc: &'static str) -> Param {
    Param { key, kind: Kind::Choice(CATEGORIES), default: Value::Choice(default), doc }
}

/// Its declaration.
pub const INFO: Info = Info {
    id: "edcf-ack",
    summary: "TCP's ACKs have a category of their own, with a smaller AIFS and contention window than data",
    source: "LC05",
    params: &[
        Param {
            key: "acks",
            kind: Kind::Choice(&["access-point", "every-node"]),
            default: Value::Choice("access-point"),
            doc: "whose ACKs: those of nodes that forward (uploads, the paper), or of stations too",
        },
        category("ack_category", "vo", "the category of pure ACKs"),
        aifsn("ack_aifsn", 2, "slots of its interframe space beyond SIFS; ours, the paper was not to be had"),
        window("ack_cw_min", 1, "its least contention window in slots; ours, the paper was not to be had"),
        window("ack_cw_max", 31, "its greatest contention window in slots; ours, the paper was not to be had"),
        category("data_category", "be", "the category of data"),
        aifsn("data_aifsn", 6, "slots of its interframe space beyond SIFS; ours, the paper was not to be had"),
        window("data_cw_min", 31, "its least contention window in slots; ours, the paper was not to be had"),
        window("data_cw_max", 1023, "its greatest contention window in slots; ours, the paper was not to be had"),
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let number = |key: &str| params.int(key) as u16;
    let class = |name: &str| Class {
        category: CATEGORIES.iter().position(|own| *own == params.choice(&format!("{name}_category"))).unwrap_or(0),
        aifsn: number(&format!("{name}_aifsn")) as u8,
        cw_min: number(&format!("{name}_cw_min")),
        cw_max: number(&format!("{name}_cw_max")),
    };
    let (acks, data) = (class("ack"), class("data"));
    if acks.category == data.category {
        return Err("ack_category and data_category are the same; ACKs need one of their own".into());
    }
    let moves_acks = params.choice("acks") == "every-node" || site.node.forwards;
    site.reads_tcp();
    site.classify(Sorter { acks: acks.category as u8, data: data.category as u8, moves_acks });
    let Some(edca) = &mut site.radio().mac.edca else { return Ok(()) };
    data.set(&mut edca.categories)?;
    acks.set(&mut edca.categories)
}

/// The category of a kind of packets, and that category's parameters.
#[derive(Debug)]
struct Class {
    category: usize,
    aifsn: u8,
    cw_min: u16,
    cw_max: u16,
}

impl Class {
    fn set(&self, categories: &mut [Category]) -> Result<(), Refusal> {
        let n = categories.len();
        let missing = || Refusal::new(format!("category {} is not among its {n}", CATEGORIES[self.category]));
        let own = categories.get_mut(self.category).ok_or_else(missing)?;
        (own.aifsn, own.cw_min, own.cw_max) = (self.aifsn, self.cw_min, self.cw_max);
        Ok(())
    }
}

/// ACKs to their category, and nothing else.
#[derive(Debug)]
struct Sorter {
    acks: u8,
    data: u8,
    moves_acks: bool,
}

impl Classifier for Sorter {
    fn category(&mut self, packet: &Packet, _: NodeId, default: u8) -> u8 {
        match packet.pure_ack() {
            Some(_) if self.moves_acks => self.acks,
            _ if default == self.acks => self.data,
            _ => default,
        }
    }
}
