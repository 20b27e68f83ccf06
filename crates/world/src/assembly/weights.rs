//! The weights of hops, by the scenario's metric of routes.

use super::network::Exchange;
use super::transport::chosen;
use crate::registries::Registries;
use crate::scenario::{self as sc, Scenario};
use crate::shared::Shared;
use mac::Config;
use mac::frame;
use net::measured::{known, unmeasured};
use net::{Hop, Link, LinkSample, Links, Measured, RouteMetric, Weighed};
use phy::{Medium, Mode, airtime};
use plugin::Chosen;
use units::{Bytes, Dur, InterfaceId, NodeId, SimTime};

/// The metric of computed routes.
pub(super) fn route_metric(scenario: &Scenario, registries: &Registries) -> Chosen<net::metric::Make> {
    match &scenario.route_metric {
        Some(plug) => chosen(&registries.route_metrics, plug),
        None => net::metric::find(net::metric::DEFAULT).expect("the default is registered"),
    }
}

/// True if the scenario's metric learns from what schemes measure.
pub(crate) fn learns(scenario: &Scenario, registries: &Registries) -> bool {
    let metric = route_metric(scenario, registries);
    (metric.plugin)(&metric.params).learning().is_some()
}

/// The metric, and what schemes have measured for it.
#[derive(Debug)]
pub(super) struct Weights {
    /// `None`: hops are counted.
    metric: Option<Box<dyn RouteMetric>>,
    measured: Option<Measured>,
}

impl Weights {
    /// As a run begins.
    pub fn new(shared: &Shared) -> Weights {
        let chosen = route_metric(&shared.scenario, &shared.registries);
        if chosen.info.id == net::metric::DEFAULT {
            return Weights { metric: None, measured: None };
        }
        let metric = (chosen.plugin)(&chosen.params);
        let measured = metric.learning().map(Measured::new);
        Weights { metric: Some(metric), measured }
    }

    /// Takes a scheme's measurement of a link. Returns true if routes are to be found anew.
    pub fn take(&mut self, now: SimTime, from: NodeId, to: NodeId, sample: LinkSample) -> bool {
        self.measured.as_mut().is_some_and(|measured| measured.take(now, from, to, sample))
    }

    /// The costs of ways; `None` if hops are counted.
    pub fn costs<'a>(&'a self, shared: &'a Shared, media: &[&'a Medium]) -> Option<Weighed<'a, Standing<'a>>> {
        let metric = self.metric.as_deref()?;
        let exchanges = media.iter().map(|medium| Exchange::new(shared, medium)).collect();
        let channels = shared.scenario.interfaces().map(|(_, channel)| channel.index()).collect();
        Some(Weighed { metric, links: Standing { shared, measured: self.measured.as_ref(), exchanges, channels } })
    }
}

/// The hops of a network as it stands.
pub(super) struct Standing<'a> {
    shared: &'a Shared,
    measured: Option<&'a Measured>,
    /// Of each channel.
    exchanges: Vec<Exchange<'a>>,
    /// The channel of each interface.
    channels: Vec<usize>,
}

impl Standing<'_> {
    fn medium_time(&self, from: NodeId, at: InterfaceId, to: NodeId) -> Dur {
        let mode = self.exchanges[self.channels[at.index()]].best(from, to);
        medium_time(&self.shared.macs[from.index()], mode, self.shared.mtu)
    }
}

impl Links for Standing<'_> {
    fn link(&self, from: NodeId, hop: Hop) -> Link {
        let packet = self.shared.mtu;
        match (hop, self.measured) {
            (Hop::Air(at, to), Some(measured)) => measured.link(from, to, self.medium_time(from, at, to), packet),
            (Hop::Air(at, to), None) => unmeasured(net::Unmeasured::Medium, self.medium_time(from, at, to), packet),
            // Nothing of a wire is to be found out: its rate and delay are what they are called.
            (Hop::Wire(wire, _), _) => {
                let scenario = &self.shared.scenario;
                let mut wires = scenario.links.iter().flat_map(|link| link.ends.directions().map(move |_| link));
                let link = wires.nth(wire.index()).expect("each direction of a link is a wire");
                let time = packet / link.rate;
                known(time, time + mean(link.delay), packet)
            }
        }
    }
}

/// The delay of a wire; of one that is drawn, the mean without its ends.
fn mean(delay: sc::Delay) -> Dur {
    match delay {
        sc::Delay::Fixed(time) => time,
        sc::Delay::Drawn(sc::Distribution::Uniform { low, high }) => (low + high) / 2,
        sc::Delay::Drawn(sc::Distribution::Exponential { mean } | sc::Distribution::Normal { mean, .. }) => mean,
    }
}

/// The time that a packet alone takes on the medium in this mode: DIFS, the mean of the first backoff, RTS and CTS if they precede it, the
/// frame, its ACK, and the gaps. @AHR06
pub(super) fn medium_time(mac: &Config, mode: Mode, packet: Bytes) -> Dur {
    let timing = &mac.timing;
    let qos = if mac.edca.is_some() { frame::QOS_CONTROL } else { Bytes::ZERO };
    let psdu = frame::DATA_HEADER + qos + frame::LLC_SNAP + packet + frame::FCS;
    let contention = timing.difs() + timing.slot * u64::from(timing.cw_min) / 2;
    let (_, ack) = mac.control_modes.response(mode, frame::ACK);
    let own = airtime(mode, psdu) + timing.sifs + ack;
    if !mac.rts.is_above_threshold(psdu) {
        return contention + own;
    }
    let rts = mac.control_modes.rts_before(mode);
    let (_, cts) = mac.control_modes.response(rts, frame::CTS);
    contention + airtime(rts, frame::RTS) + timing.sifs + cts + timing.sifs + own
}

#[cfg(test)]
mod tests {
    use super::*;
    use phy::Standard;
    use units::BitRate;

    #[test]
    fn medium_times_worked_by_hand() {
        let modes = Standard::B.modes();
        let mode = |kbps: u64| *modes.iter().find(|mode| mode.bit_rate() == BitRate::from_kbps(kbps)).unwrap();
        let mut mac = Config::of(Standard::B, mode(11_000));
        mac.control_modes = mac::ControlModes::of(modes, &modes[..1]);
        let time = |mac: &Config, kbps| medium_time(mac, mode(kbps), Bytes(1500));
        // DIFS 50, 15.5 slots 310, preamble 192, 1536 B, SIFS 10, ACK at 1 Mb/s 304.
        assert_eq!(time(&mac, 11_000), Dur::from_us(50 + 310 + 192 + 1118 + 10 + 304)); // 12288 bits / 11 = 1117.1
        assert_eq!(time(&mac, 1_000), Dur::from_us(50 + 310 + 192 + 12_288 + 10 + 304));
        // RTS 192 + 160, CTS 192 + 112, two SIFS.
        mac.rts = mac::Rts { threshold: Some(Bytes::ZERO) };
        assert_eq!(time(&mac, 11_000), Dur::from_us(1984 + 352 + 304 + 20));
    }
}
