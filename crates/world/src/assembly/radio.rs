//! Radio, MAC and channel out of a scenario.

use super::{Result, all, modes};
use crate::scenario::{self as sc, InputError, Scenario};
use engine::{Purpose, Streams};
use mac::{Config, ControlModes, DscpMap, Edca, ErrorsAt, Protection, TxopLimits};
use phy::format::DSSS;
use phy::medium::{Sinr, SinrConfig};
use phy::propagation::{NoiseFloor, shadowing};
use phy::{ErrorModel, Errors, Hit, Medium, Mode, Preamble, Standard};
use units::{BitRate, ChannelId, Db, Dbm, Dur, NodeId};

/// A channel of a scenario, and the nodes that have a radio on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuned<'a> {
    pub scenario: &'a Scenario,
    pub id: ChannelId,
    pub channel: &'a sc::Channel,
    /// Of draws on this channel.
    pub streams: Streams,
}

impl<'a> Tuned<'a> {
    /// All channels of a scenario. The first draws from the streams of the run, each other from its own.
    pub fn all(scenario: &'a Scenario, streams: &Streams) -> impl Iterator<Item = Tuned<'a>> {
        let streams = *streams;
        (0..).map(ChannelId).zip(scenario.channels.iter()).map(move |(id, channel)| {
            let own = if id.0 == 0 { streams } else { streams.within(Purpose::Channel, u64::from(id.0)) };
            Tuned { scenario, id, channel, streams: own }
        })
    }

    /// True if `node` has a radio on it.
    pub fn has(self, node: NodeId) -> bool {
        self.scenario.nodes[node.index()].is_on(self.id)
    }
}

/// The one mode of that rate.
fn rate(radio: &sc::Radio, bit_rate: BitRate) -> Mode {
    radio.standard.mode(bit_rate).expect("the reader of scenarios has checked every rate")
}

/// The rates of a node's data frames.
fn rates_of(node: &sc::Node) -> impl Iterator<Item = BitRate> {
    [node.data_rate].into_iter().chain(node.entry.data_rates().iter().map(|(_, rate)| *rate))
}

/// The parameters on which all stations of the scenario agree, as those of one BSS would.
struct Bss {
    /// BSSBasicRateSet, slowest first.
    basic: Vec<Mode>,
    /// The lowest mandatory rate: of the ACK inside EIFS.
    lowest: Mode,
    /// The frames that go before OFDM data.
    protection: Option<Protection>,
}

impl Bss {
    /// The basic rates are those that the scenario says, or all mandatory rates that all stations have. 802.11g without a single station
    /// that sends DSSS frames is a network of OFDM alone: its rates are 6, 12, 24 Mb/s.
    fn of(scenario: &Scenario) -> Bss {
        let radio = &scenario.radio;
        let is_ofdm = |rate: &Mode| rate.format != &DSSS;
        let mut radios = scenario.nodes.iter().filter(|node| node.has_radio);
        let is_ofdm_alone =
            radio.standard == Standard::G && radios.all(|node| rates_of(node).all(|it| is_ofdm(&rate(radio, it))));
        let has_b = scenario.nodes.iter().any(|node| node.is_non_erp(radio));
        let has_older = scenario.nodes.iter().any(|node| node.has_radio && node.standard != radio.standard);
        let is_known = |mode: &Mode| if has_b { !is_ofdm(mode) } else { !is_ofdm_alone || is_ofdm(mode) };
        let mandatory: Vec<Mode> = radio.standard.mandatory().filter(is_known).collect();
        let lowest = mandatory[0];
        let stated = radio.basic_rate_set.as_deref().or(radio.basic_rate.as_ref().map(std::slice::from_ref));
        let mut basic = stated.map_or(mandatory, |rates| rates.iter().map(|it| rate(radio, *it)).collect());
        basic.sort_by_key(|mode| mode.bit_rate());
        let protection = match radio.protection {
            sc::Protection::Auto if has_b || has_older => Some(Protection::CtsToSelf),
            sc::Protection::Auto | sc::Protection::None => None,
            sc::Protection::CtsToSelf => Some(Protection::CtsToSelf),
            sc::Protection::RtsCts => Some(Protection::RtsCts),
        };
        Bss { basic, lowest, protection }
    }
}

/// The MAC of each node as the scenario has it.
pub(crate) fn macs(scenario: &Scenario) -> Result<Vec<Config>> {
    let bss = Bss::of(scenario);
    let mac = |node: &sc::Node| {
        let config = mac_config(scenario, &bss, node);
        // What a scenario says of a category meets the standard's own values here only.
        config.edca.as_ref().map_or(Ok(()), Edca::check).map_err(|message| {
            let path = format!("node[{}].edca", node.index);
            InputError::new(path, message)
        })?;
        Ok(config)
    };
    all(scenario.nodes.iter().map(mac))
}

/// The rates to those who do not know `mode`: the highest they know that is not above it.
fn slower(scenario: &Scenario, mode: Mode) -> impl Iterator<Item = (NodeId, Mode)> {
    let radios = ids(scenario).zip(&scenario.nodes).filter(|(_, node)| node.is_non_erp(&scenario.radio));
    radios.filter_map(move |(id, node)| {
        let known = || node.standard.modes().iter();
        let not_above = known().rev().find(|it| it.bit_rate() <= mode.bit_rate());
        (!known().any(|it| *it == mode)).then(|| (id, *not_above.unwrap_or(&node.standard.modes()[0])))
    })
}

fn mac_config(scenario: &Scenario, bss: &Bss, node: &sc::Node) -> Config {
    let radio = &scenario.radio;
    let mut config = Config::of(node.standard, rate(radio, node.data_rate));
    if sc::has_mcs(node.standard) {
        modes::give(scenario, node, &mut config);
    } else {
        config.data_rate_to = slower(scenario, config.data_rate).collect();
        config.data_rate_to.extend(node.entry.data_rates().iter().map(|(to, it)| (*to, rate(radio, *it))));
    }
    if radio.slot == Some(sc::Slot::Long) {
        config.timing.slot = Dur::from_us(20); // @80211-2020 18.4.4
    }
    (config.basic_rate, config.lowest_rate) = (bss.basic[0], bss.lowest);
    config.control_modes = ControlModes::of(&config.modes, &bss.basic);
    if let sc::ControlRate::Fixed(fixed) = radio.control_rate {
        let fixed = rate(radio, fixed);
        config.control_modes = config.control_modes.with_responses(fixed).with_rts(fixed);
    }
    if let Some(rts) = radio.rts_rate {
        config.control_modes = config.control_modes.with_rts(rate(radio, rts));
    }
    config.protection = bss.protection;
    radio.set(&mut config);
    if node.access == sc::Access::Edca {
        let edca = edca(radio, node, &config.timing);
        config = config.with_edca(edca);
        radio.set(&mut config); // EDCA has defaults of its own
    }
    config.with_preamble(preamble(radio))
}

/// The medium of each channel: the reach of every pair, or its gain.
pub(super) fn media(scenario: &Scenario, places: &[[f64; 2]], streams: &Streams) -> Vec<Medium> {
    Tuned::all(scenario, streams).map(|on| medium(on, places)).collect()
}

fn medium(on: Tuned<'_>, places: &[[f64; 2]]) -> Medium {
    match (&on.channel.powers, &on.scenario.radio.levels) {
        (Some(powers), Some(thresholds)) => Medium::Sinr(Box::new(levels(on, powers, thresholds, places))),
        _ => reach(on, places),
    }
}

fn ids(scenario: &Scenario) -> impl Iterator<Item = NodeId> + use<> {
    (0..scenario.nodes.len() as u32).map(NodeId)
}

/// A pair is in reach or not.
fn reach(on: Tuned<'_>, places: &[[f64; 2]]) -> Medium {
    let nodes = on.scenario.nodes.len();
    let mut medium = Medium::new(nodes);
    if on.channel.range.is_some() || !ids(on.scenario).all(|node| on.has(node)) {
        ids(on.scenario).for_each(|from| in_range(on, places, from, &mut medium));
    }
    for pair in &on.channel.pair {
        for (from, to) in pair.ends.directions() {
            if let Some(in_reach) = pair.reach {
                medium.set_reach(from, to, in_reach);
            }
        }
    }
    medium
}

/// Sets who hears and who senses `from`, by distance.
fn in_range(on: Tuned<'_>, places: &[[f64; 2]], from: NodeId, medium: &mut Medium) {
    let channel = on.channel;
    let is_within = |range: Option<sc::Metres>, to| range.is_none_or(|range| distance_m(places, from, to) <= range.0);
    medium.set_reaches(from, |to| on.has(from) && on.has(to) && is_within(channel.range, to));
    if channel.sense_range.is_some() {
        medium.set_locks_on_sensed(channel.sense_eifs);
        medium.set_senses(from, |to| on.has(from) && on.has(to) && is_within(channel.sense_range, to));
    }
}

/// Sets who hears `from`, and how loud, as the nodes stand now and radio links are `cut`. `from` does not transmit.
pub(super) fn heard(
    on: Tuned<'_>,
    places: &[[f64; 2]],
    is_cut: impl Fn(NodeId, NodeId) -> bool,
    from: NodeId,
    medium: &mut Medium,
) {
    let nothing = Db(f64::NEG_INFINITY);
    match (medium, &on.channel.powers) {
        (Medium::Sinr(levels), Some(it)) => {
            let own = |to| {
                if to == from || is_cut(from, to) { nothing } else { mean_gain(on, it, places, from, to) }
            };
            levels.set_gains(from, |to, _| own(to));
        }
        (medium, _) => {
            in_range(on, places, from, medium);
            let stated =
                on.channel.pair.iter().flat_map(|pair| pair.ends.directions().map(|ends| (ends, pair.reach)));
            for ((_, to), reach) in stated.filter(|((own, _), _)| *own == from) {
                reach.into_iter().for_each(|in_reach| medium.set_reach(from, to, in_reach));
            }
            ids(on.scenario).filter(|to| is_cut(from, *to)).for_each(|to| medium.set_reach(from, to, false));
        }
    }
}

/// The distance below the noise up to which a signal counts as interference (docs/design/air.md, Powers).
const FLOOR: Db = Db(10.0);

/// A pair has a gain: what `channel.pair` says, or path loss and shadowing.
fn levels(on: Tuned<'_>, it: &sc::Propagation, thresholds: &sc::Levels, places: &[[f64; 2]]) -> Sinr {
    let scenario = on.scenario;
    let config = SinrConfig {
        power: Dbm(0.0), // each node has its own, below
        noise: noise(scenario, it),
        floor: FLOOR,
        cca_ed: thresholds.cca_ed,
        cca_preamble_latency: thresholds.cca_preamble_latency,
        preamble_sinr: thresholds.preamble_sinr,
        capture: thresholds.capture.relock.map(|it| it.rule(thresholds.preamble_sinr)),
        interference: thresholds.capture.interference,
        curve: phy::ln_survival,
        fading: it.fading_model(scenario.radio.standard),
    };
    let mut levels = Sinr::new(scenario.nodes.len(), &config, &on.streams);
    for (node, spec) in ids(scenario).zip(&scenario.nodes) {
        levels.set_power(node, spec.tx_power);
    }
    for from in ids(scenario) {
        let own = |to| mean_gain(on, it, places, from, to);
        levels.set_gains(from, |to, _| if to == from { Db(f64::NEG_INFINITY) } else { own(to) });
    }
    levels
}

/// The noise of 20 MHz.
pub(super) fn noise(scenario: &Scenario, it: &sc::Propagation) -> Dbm {
    let floor = match it.noise {
        sc::Noise::Level(level) => NoiseFloor::Constant(level),
        sc::Noise::Figure(noise_figure) => {
            let bandwidth = phy::curves::bandwidth(scenario.radio.standard);
            NoiseFloor::Thermal { bandwidth, noise_figure }
        }
    };
    floor.level()
}

/// The gain from one node to another, as the run begins.
pub(super) fn mean_gain(on: Tuned<'_>, it: &sc::Propagation, places: &[[f64; 2]], from: NodeId, to: NodeId) -> Db {
    gain_with(on, it, from, to, distance_m(places, from, to), || of_pair(on, it, from, to))
}

/// The gain from one node to another that is so far away, by which neighbours and access points are chosen. Shadowing that changes along
/// the way is not in it.
pub(super) fn gain_at(on: Tuned<'_>, it: &sc::Propagation, from: NodeId, to: NodeId, distance_m: f64) -> Db {
    let shadowing = || if it.shadowing_decorrelation.is_some() { Db(0.0) } else { of_pair(on, it, from, to) };
    gain_with(on, it, from, to, distance_m, shadowing)
}

/// The shadowing of a pair, as the run begins.
fn of_pair(on: Tuned<'_>, it: &sc::Propagation, from: NodeId, to: NodeId) -> Db {
    if it.shadowing.0 > 0.0 { shadowing(&on.streams, from, to, it.shadowing) } else { Db(0.0) }
}

/// The gain from one node to another that is so far away, with this shadowing unless the scenario states the gain.
pub(super) fn gain_with(
    on: Tuned<'_>,
    it: &sc::Propagation,
    from: NodeId,
    to: NodeId,
    distance_m: f64,
    shadowing: impl FnOnce() -> Db,
) -> Db {
    if !(on.has(from) && on.has(to)) {
        return Db(f64::NEG_INFINITY);
    }
    let pair = on.channel.pair.iter().find(|pair| pair.ends.directions().any(|d| d == (from, to)));
    let by_distance = || {
        let mean = it.propagation.gain(distance_m)?;
        Some(Db(mean.0 + shadowing().0))
    };
    pair.and_then(|pair| pair.gain).or_else(by_distance).unwrap_or(Db(f64::NEG_INFINITY))
}

/// Of DSSS rates; 802.11a has none.
pub(super) fn preamble(radio: &sc::Radio) -> Preamble {
    if radio.preamble == Some(sc::Preamble::Short) { Preamble::Short } else { Preamble::Long }
}

/// The categories of a node: the standard's, of a station or of an access point, and what the scenario says instead. TXOP limits are zero unless stated, as
/// in the experiments of the papers.
fn edca(radio: &sc::Radio, node: &sc::Node, timing: &phy::Timing) -> Edca {
    let mut edca = Edca::standard(node.standard, timing, TxopLimits::Zero);
    edca.dscp_map = radio.dscp_map.unwrap_or(DscpMap::Rfc8325);
    if node.entry.role == sc::Role::Ap {
        edca = edca.at_access_point(timing);
    }
    edca.categories.iter_mut().zip(&node.categories).for_each(|(category, stated)| stated.set(category));
    edca
}

pub(super) fn distance_m(places: &[[f64; 2]], from: NodeId, to: NodeId) -> f64 {
    let [a, b] = [from, to].map(|node| places[node.index()]);
    libm::hypot(a[0] - b[0], a[1] - b[1])
}

/// The noise of each pair.
pub(super) fn errors(on: Tuned<'_>) -> Errors {
    let of = |from: NodeId, to: NodeId| -> sc::ErrorSpec {
        let own = |pair: &&sc::Pair| pair.ends.directions().any(|d| d == (from, to)) && pair.errors.is_some();
        let pair = on.channel.pair.iter().find(own);
        pair.and_then(|pair| pair.errors).unwrap_or(on.channel.errors)
    };
    Errors::new(on.scenario.nodes.len(), &on.streams, |from, to| model(&of(from, to)))
}

/// The unit that errors strike on each channel, an attempt or an MSDU: the same on the whole of it.
pub(crate) fn errors_at(scenario: &Scenario) -> Result<Vec<ErrorsAt>> {
    let at = |(id, channel): (ChannelId, &sc::Channel)| {
        let mut at = at_of(&channel.errors);
        for (i, pair) in channel.pair.iter().enumerate() {
            let own = pair.errors.as_ref().and_then(at_of);
            if at.is_some() && own.is_some() && at != own {
                let path = format!("{}.pair[{i}].errors.at", sc::Channels::path(id));
                let message = "errors strike attempts or MSDUs, the same on the whole channel".to_owned();
                return Err(InputError::new(path, message));
            }
            at = at.or(own);
        }
        Ok(at.unwrap_or(ErrorsAt::Attempt))
    };
    all((0..).map(ChannelId).zip(scenario.channels.iter()).map(at))
}

fn at_of(spec: &sc::ErrorSpec) -> Option<ErrorsAt> {
    match spec {
        sc::ErrorSpec::None => None,
        sc::ErrorSpec::Packet { at, .. } | sc::ErrorSpec::Bit { at, .. } | sc::ErrorSpec::TwoState { at, .. } => {
            Some(*at)
        }
    }
}

fn model(spec: &sc::ErrorSpec) -> ErrorModel {
    match *spec {
        sc::ErrorSpec::None => ErrorModel::One(Hit::NEVER),
        sc::ErrorSpec::Packet { per, control_per, .. } => ErrorModel::One(Hit::Packet { per, control_per }),
        sc::ErrorSpec::Bit { ber, control, .. } => ErrorModel::One(Hit::Bit { ber, control }),
        sc::ErrorSpec::TwoState { good, bad, sojourn, shared, control, .. } => ErrorModel::Two {
            good: state(good, control),
            bad: state(bad, control),
            sojourn,
            shared: shared == sc::Shared::Link,
        },
    }
}

fn state(error: sc::StateError, control: bool) -> Hit {
    match error {
        sc::StateError::Per(per) => Hit::Packet { per, control_per: if control { per } else { 0.0 } },
        sc::StateError::Ber(ber) => Hit::Bit { ber, control },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_point_has_edca_defaults_of_its_own_and_what_a_file_says_goes_before_them() {
        let of = |radio: &str| {
            let text = format!(
                "scenario = {{ duration = '1 s' }}\n[radio]\nstandard = '802.11a'\naccess = 'edca'\n{radio}\n[[node]]\nname = 'ap'\n\
                 role = 'ap'\n[[node]]\nname = 'sta'\n[[flow]]\nfrom = 'sta'\nto = 'ap'\n"
            );
            let blueprint = crate::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
            let of = |config: &Config| {
                let edca = config.edca.as_ref().expect("access is edca");
                edca.categories.iter().map(|it| (it.aifsn, it.cw_max)).collect::<Vec<_>>()
            };
            blueprint.shared().macs.iter().map(of).collect::<Vec<_>>()
        };
        let station = [(7, 1023), (3, 1023), (2, 15), (2, 7)];
        assert_eq!(of(""), [[(7, 1023), (3, 63), (1, 15), (1, 7)], station]);
        let stated = of("[radio.edca]\nbe = { cw_max = 1023 }\nvi = { aifsn = 2 }\nvo = { aifsn = 2 }");
        assert_eq!(stated, [station; 2]);
    }

    /// The MAC configuration of each node of a cell of one access point at 54 Mb/s and one station at 11 Mb/s: its RTS before its
    /// data, its ACK of data at 54 and at 11 Mb/s, and its broadcasts; in units of 100 kb/s.
    fn rates(radio: &str) -> Vec<[u64; 4]> {
        let text = format!(
            "scenario = {{ duration = '1 s' }}\n[radio]\nstandard = '802.11g'\n{radio}\n[[node]]\nname = 'ap'\n\
             [[node]]\nname = 'sta'\ndata_rate = '11 Mb/s'\n[[flow]]\nfrom = 'sta'\nto = 'ap'\n"
        );
        let blueprint = crate::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let of = |config: &Config| {
            let modes = &config.control_modes;
            let all = [
                modes.rts_before(config.data_rate),
                modes.response_to(Mode::erp_ofdm(7)),
                modes.response_to(Mode::dsss(3)),
                config.basic_rate,
            ];
            all.map(|mode| mode.bit_rate().bps() / 100_000)
        };
        blueprint.shared().macs.iter().map(of).collect()
    }

    #[test]
    fn basic_rate_set_are_a_list_and_rts_may_go_at_another_rate_than_responses() {
        assert_eq!(rates(""), [[240, 240, 110, 10], [110, 240, 110, 10]]);
        assert_eq!(rates("basic_rate_set = ['12 Mb/s', '2 Mb/s']"), [[120, 120, 20, 20], [20, 120, 20, 20]]);
        // The set has no OFDM: mandatory rates of OFDM for responses; RTS at the basic rate that all know.
        assert_eq!(rates("basic_rate = '1 Mb/s'"), [[10, 240, 10, 10], [10, 240, 10, 10]]);
        assert_eq!(rates("rts_rate = '2 Mb/s'"), [[20, 240, 110, 10], [20, 240, 110, 10]]);
        assert_eq!(rates("control_rate = '6 Mb/s'"), [[60, 60, 60, 10], [60, 60, 60, 10]]);
        assert_eq!(rates("control_rate = '6 Mb/s'\nrts_rate = '1 Mb/s'"), [[10, 60, 60, 10], [10, 60, 60, 10]]);
    }
}
