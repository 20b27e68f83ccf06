//! 802.11b at 11 Mb/s with control frames at 1 Mb/s: SIFS 10, slot 20, DIFS 50, ACK and CTS 304, RTS 352, EIFS 364, ACK
//! and CTS timeout 10 + 20 + 192 = 222. A datagram of 1500 B is 1310 on the air. Times are µs.

pub use crate::harness::{A, B, C, D, NOBODY, Net, Shown, at};
use crate::harness::{Build, frame_of};
use engine::Stream;
use mac::{Config, ControlModes, ErrorsAt, Kind};
use phy::{ErrorModel, Hit, Standard};
use units::{BitRate, Bytes, NodeId};

pub const SIFS: u64 = 10;
pub const SLOT: u64 = 20;
pub const DIFS: u64 = 50;
pub const ACK: u64 = 304;
pub const CTS: u64 = 304;
pub const RTS: u64 = 352;
pub const EIFS: u64 = 364;
pub const TIMEOUT: u64 = 222;
/// Airtime of a datagram of 1500 B.
pub const DATA: u64 = 1310;

/// Parameters of a net; the default is 802.11b without RTS, everybody in reach, no errors.
pub struct Setup {
    pub nodes: usize,
    pub rts_threshold: Option<Bytes>,
    pub cw: (u16, u16),
    pub limit: queue::Limit,
    pub errors: ErrorModel,
    pub errors_at: ErrorsAt,
    pub deaf: Vec<(NodeId, NodeId)>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            nodes: 3,
            rts_threshold: None,
            cw: (31, 1023),
            limit: queue::Limit::Packets(50),
            errors: ErrorModel::One(Hit::NEVER),
            errors_at: ErrorsAt::Attempt,
            deaf: Vec::new(),
        }
    }
}

impl Setup {
    pub fn net(&self) -> Net {
        let mut config = config();
        config.rts.threshold = self.rts_threshold;
        (config.timing.cw_min, config.timing.cw_max) = self.cw;
        let configs = vec![config; self.nodes];
        let Setup { limit, errors, errors_at, .. } = *self;
        let mut net = Net::build(&Build { limit, errors, errors_at, ..Build::of(&configs) });
        for (from, to) in &self.deaf {
            net.channel.medium.set_reach(*from, *to, false);
        }
        net
    }
}

pub fn config() -> Config {
    let rate = |kbps| Standard::B.mode(BitRate::from_kbps(kbps)).expect("a rate of 802.11b");
    let mut config = Config::of(Standard::B, rate(11_000));
    config.control_modes = ControlModes::of(&config.modes, &[rate(1000)]);
    config
}

/// A frame of a station without a MAC.
pub fn frame(kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Shown {
    frame_of(&config(), kind, from, to, duration)
}

/// The stream that `node` draws its backoffs from: a test that draws the same knows them beforehand.
pub fn backoffs(node: NodeId) -> Stream {
    crate::harness::backoffs_of(node, 0)
}
