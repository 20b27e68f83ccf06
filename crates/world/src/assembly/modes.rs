//! The modes of data frames between stations of 802.11n and later: what both ends of a link have, and the MCS that a scenario asks for.

use super::moving;
use super::radio::{Tuned, mean_gain};
use crate::scenario::{self as sc, Scenario};
use crate::shared::Shared;
use engine::Streams;
use mac::Config;
use mac::rate::Supported;
use phy::format::DSSS;
use phy::{Mode, Standard, Waveform};
use units::{Bytes, ChannelId, Db, Dbm, NodeId};

/// The frame whose loss decides on the best MCS: an MSDU of 1500 B in QoS data.
const FRAME: Bytes = Bytes(1538);
/// The loss that it may have.
const MOST_LOSS: f64 = 0.1;

/// The capabilities that two stations share.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Common {
    standard: Standard,
    streams: u8,
    waveform: Waveform,
}

/// Standards of a band by age.
fn age(standard: Standard) -> u8 {
    match standard {
        Standard::Dsss => 0,
        Standard::B => 1,
        Standard::A | Standard::G => 2,
        Standard::N | Standard::N2_4 => 3,
        Standard::Ac => 4,
        Standard::Ax => 5,
    }
}

impl Common {
    /// Of a sender and a receiver. The guard interval is the sender's where it sends its own format, and one that all have elsewhere.
    fn of(radio: &sc::Radio, from: &sc::Node, to: &sc::Node) -> Common {
        let is_own = age(to.standard) >= age(from.standard);
        let standard = if is_own { from.standard } else { to.standard };
        let (own, other) = (from.waveform(radio), to.waveform(radio));
        let guard_interval = if is_own { own.guard_interval } else { Waveform::PLAIN.guard_interval };
        let coding = if is_own { own.coding } else { other.coding };
        let waveform = Waveform { width: own.width.min(other.width), guard_interval, coding, ..own };
        Common { standard, streams: from.modes.streams().min(to.modes.streams()), waveform }
    }

    /// All modes of its newest format, slowest first; of a standard without MCSs all that it has.
    fn modes(&self) -> Vec<Mode> {
        let all = self.standard.radio_modes(self.streams, self.waveform).unwrap_or_default();
        let newest: Vec<Mode> = all.iter().copied().filter(|mode| mode.coding.is_some()).collect();
        if newest.is_empty() { all } else { newest }
    }

    /// The mode of this MCS in all streams, or of the highest below it that there is.
    fn mode(&self, mcs: u8) -> Mode {
        let below = (0..=mcs).rev().find_map(|mcs| self.standard.mcs(mcs, self.streams, self.waveform).ok());
        below.unwrap_or_else(|| self.fastest())
    }

    fn fastest(&self) -> Mode {
        self.modes().last().copied().unwrap_or_else(|| self.standard.modes()[0])
    }
}

/// The modes of a station's radio, those of its data frames as far as no powers are known, and its part in aggregation.
pub(super) fn give(scenario: &Scenario, node: &sc::Node, config: &mut Config) {
    let radio = &scenario.radio;
    let own = Common::of(radio, node, node);
    config.modes = node.standard.radio_modes(own.streams, own.waveform).unwrap_or_default();
    let stated = node.modes.mcs();
    let mode = |common: &Common, mcs: sc::Mcs| mcs.fixed().map_or_else(|| common.fastest(), |mcs| common.mode(mcs));
    config.data_rate = mode(&own, stated);
    for (to, it) in (0..).map(NodeId).zip(&scenario.nodes).filter(|(_, it)| it.has_radio) {
        let common = Common::of(radio, node, it);
        if common != own {
            config.data_rate_to.push((to, mode(&common, stated)));
        }
    }
    for (to, mcs) in node.entry.mcs_to() {
        let common = Common::of(radio, node, &scenario.nodes[to.index()]);
        config.data_rate_to.retain(|(other, _)| other != to);
        config.data_rate_to.push((*to, common.mode(*mcs)));
    }
    // Stations without MCSs.
    for (to, rate) in node.entry.data_rates() {
        let known =
            scenario.nodes[to.index()].standard.mode(*rate).expect("the reader of scenarios has checked every rate");
        config.data_rate_to.retain(|(other, _)| other != to);
        config.data_rate_to.push((*to, known));
    }
    add_missing(config);
    config.aggregation = node.aggregation(radio);
}

/// The modes in which a station may send data to each other one: those that both know. A network of OFDM alone stays that.
pub(super) fn supported(scenario: &Scenario, from: NodeId, config: &Config) -> Supported {
    let radio = &scenario.radio;
    let node = &scenario.nodes[from.index()];
    let is_ofdm_alone = config.lowest_rate.format != &DSSS;
    let to = |to: &sc::Node| -> Vec<Mode> {
        let all = match sc::has_mcs(node.standard) {
            true => Common::of(radio, node, to).modes(),
            false if to.is_non_erp(radio) => to.standard.modes().to_vec(),
            false => node.standard.modes().to_vec(),
        };
        let preamble = super::radio::preamble(radio);
        let known = all.iter().filter(|mode| !is_ofdm_alone || mode.format != &DSSS);
        known.map(|mode| mode.with_preamble(preamble)).collect()
    };
    let others = (0..).map(NodeId).zip(&scenario.nodes).filter(|(_, it)| it.has_radio);
    others.fold(Supported::by_all(&to(node)), |supported, (id, it)| supported.but(id, &to(it)))
}

/// Modes that it sends to older stations are modes of its radio too.
fn add_missing(config: &mut Config) {
    for (_, mode) in &config.data_rate_to {
        if !config.modes.contains(mode) {
            config.modes.push(*mode);
        }
    }
    config.modes.sort_by_key(|mode| mode.bit_rate());
}

/// `mcs = "best"` where signals have powers: to each receiver the fastest mode with which a tenth of all frames is lost at most, at the mean
/// of the power that it receives; the slowest, if it loses more with all.
pub(super) fn choose(on: Tuned<'_>, places: &[[f64; 2]], configs: &mut [Config]) {
    let (scenario, Some(powers)) = (on.scenario, &on.channel.powers) else { return };
    let radio = &scenario.radio;
    let noise = super::radio::noise(scenario, powers);
    for ((from, node), config) in (0..).map(NodeId).zip(&scenario.nodes).zip(configs) {
        let is_best = node.modes.mcs() == sc::Mcs::Best && sc::has_mcs(node.standard);
        if !is_best || !on.has(from) {
            continue;
        }
        let mut last: Option<(Common, Vec<Mode>)> = None;
        let stated = |to| node.entry.mcs_to().iter().any(|(stated, _)| *stated == to);
        for (to, it) in (0..).map(NodeId).zip(&scenario.nodes) {
            if to == from || !on.has(to) || stated(to) {
                continue;
            }
            let power = mean_power(on, powers, places, from, to);
            let common = Common::of(radio, node, it);
            let (_, modes) = match last.take() {
                Some(known) if known.0 == common => last.insert(known),
                _ => last.insert((common, common.modes())),
            };
            let holds = |mode: &&Mode| loss(**mode, power, noise) <= MOST_LOSS;
            let mode = *modes.iter().rev().find(holds).unwrap_or(&modes[0]);
            config.data_rate_to.retain(|(other, _)| *other != to);
            if mode != config.data_rate {
                config.data_rate_to.push((to, mode));
            }
        }
        add_missing(config);
    }
}

/// The mean power that a station receives from another as a run begins.
fn mean_power(on: Tuned<'_>, powers: &sc::Propagation, places: &[[f64; 2]], from: NodeId, to: NodeId) -> Dbm {
    Dbm(on.scenario.nodes[from.index()].tx_power.0 + mean_gain(on, powers, places, from, to).0)
}

/// Mean SNRs of radio links as a run begins.
pub(crate) struct MeanSnr<'a> {
    shared: &'a Shared,
    streams: Streams,
    places: Vec<[f64; 2]>,
}

impl MeanSnr<'_> {
    /// Those of the run with this seed.
    pub fn of(shared: &Shared, seed: u64) -> MeanSnr<'_> {
        let streams = Streams::new(seed);
        let places = moving::begin(shared, &streams);
        MeanSnr { shared, streams, places }
    }

    /// That of frames of this mode, over the whole of its width; `None` where signals have no powers.
    pub fn over(&self, mode: Mode, channel: ChannelId, from: NodeId, to: NodeId) -> Option<Db> {
        let scenario = &self.shared.scenario;
        let on = Tuned::all(scenario, &self.streams).find(|on| on.id == channel)?;
        let powers = on.channel.powers.as_ref()?;
        let power = mean_power(on, powers, &self.places, from, to);
        let noise = super::radio::noise(scenario, powers).0 + 10.0 * libm::log10(mode.bandwidth.0 / 20e6);
        Some(Db(power.0 - noise))
    }
}

/// The share of frames that are lost to noise alone at this power; `noise` is that of 20 MHz.
fn loss(mode: Mode, power: Dbm, noise: Dbm) -> f64 {
    let width = mode.bandwidth.0 / 20e6;
    let snr = libm::pow(10.0, (power.0 - noise.0) / 10.0) / width;
    -libm::expm1(phy::ln_survival(mode, phy::Part::Payload, snr, FRAME.bits() as f64))
}
