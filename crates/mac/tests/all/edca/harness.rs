//! 802.11a at 54 Mb/s, ACK at 24 Mb/s, each station with a configuration of its own: SIFS 16, slot 9, DIFS 34, ACK 28, ACK
//! timeout 16 + 9 + 25 = 50. A datagram of 1500 B is 1536 B of plain data, 248 µs, and 1538 B of QoS data:
//! ⌈(22 + 12304) / 216⌉ = 58 symbols, 252 µs. EIFS - DIFS is SIFS and an ACK at 6 Mb/s: 16 + 44 = 60.

pub use crate::harness::{A, B, Build, C, CLEAN, D, HIT, NOBODY, Net, Shown, at, backoffs_of as backoffs};
use mac::{Category, Config, Edca, Fate, Kind, Plan, Qos, TxopLimits};
use phy::Standard;
use units::{BitRate, NodeId};

pub const SIFS: u64 = 16;
pub const SLOT: u64 = 9;
pub const DIFS: u64 = 34;
pub const ACK: u64 = 28;
pub const TIMEOUT: u64 = 50;
pub const PLAIN: u64 = 248;
pub const QOS: u64 = 252;
/// AIFS of BK, BE, VI, VO.
pub const AIFS: [u64; 4] = [79, 43, 34, 34];
pub const EXCHANGE: u64 = QOS + SIFS + ACK;

pub const BK: u8 = 0;
pub const BE: u8 = 1;
pub const VI: u8 = 2;
pub const VO: u8 = 3;

/// TOS field of packets in a category.
pub const fn tos(category: u8) -> u8 {
    [0x20, 0x00, 0xa0, 0xe0][category as usize]
}

pub fn dcf() -> Config {
    Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).expect("a rate of 802.11a"))
}

/// The standard's categories without TXOP limits, changed by `change`.
pub fn edca(change: impl FnOnce(&mut Edca)) -> Config {
    let config = dcf();
    let mut edca = Edca::standard(Standard::A, &config.timing, TxopLimits::Zero);
    change(&mut edca);
    edca.check().expect("parameters that can be");
    config.with_edca(edca)
}

/// The same, every backoff drawn from 0 … `cw` at first.
pub fn edca_cw(cw: u16) -> Config {
    edca(|edca| edca.categories.iter_mut().for_each(|category| category.cw_min = cw))
}

pub fn category(config: &mut Config, i: u8) -> &mut Category {
    &mut config.edca.as_mut().expect("a QoS station").categories[usize::from(i)]
}

/// A net of these stations.
pub fn net_of(configs: &[Config]) -> Net {
    Net::build(&Build::of(configs))
}

/// Stations with frame sequences of their own.
pub fn net_with_plans(configs: &[Config], seed: u64, plan: impl Fn(NodeId) -> Box<dyn Plan>) -> Net {
    Net::build(&Build { seed, plan: &plan, ..Build::of(configs) })
}

/// A frame of a station without a MAC.
pub fn frame(kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Shown {
    crate::harness::frame_of(&dcf(), kind, from, to, duration)
}

/// Starts of the data frames of `node`, each with its category (7: without QoS Control).
pub fn data(net: &Net, node: NodeId) -> Vec<(u64, u8)> {
    net.of(node, Kind::Data).iter().map(|sent| (sent.start, sent.frame.qos.map_or(7, |qos| qos.category))).collect()
}

/// Final fates of the MSDUs of `node`: category, fate, attempts.
pub fn done(net: &Net, node: NodeId) -> Vec<(u8, Fate, u8)> {
    let done = net.said.iter().filter(|said| said.node == node && said.fate != Fate::Attempt);
    done.map(|said| (said.report.category, said.fate, said.attempts)).collect()
}

/// QoS Control of a category with its own user priority.
pub fn qos(category: u8) -> Option<Qos> {
    Some(Qos { category, user_priority: tos(category) >> 5, ht_control: None })
}
