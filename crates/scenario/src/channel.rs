//! `[channel]` and `[[link]]`: what is between nodes.

use crate::Result;
use crate::at::At;
use crate::errors::{ErrorSpec, LinkErrors};
use crate::group::{self, Group};
use crate::item::{About, Mistake, wrong};
use crate::queues::Queue;
use crate::scalar::{Metres, MetresPerSecond, PROBABILITY, SOME_TIME, Text};
use crate::shape::{Powered, Via};
use core::ops::RangeInclusive;
use serde_json::json;
use toml::Value;
use units::{BitRate, ChannelId, Db, Dbm, Dur, Hertz, NodeId};

table! {
    /// The channels of a scenario: one, or several that hear nothing of each other.
    pub struct Channels {
        /// The name by which channels of a node choose it.
        name: Option<String>, in Text::Name, or "main",
        /// The channel of every node that names no other.
        first => Channel,
        /// A further channel: its medium, its contention and its noise are its own.
        further: Option<Vec<Further>>, in 0..=MOST_CHANNELS - 1, or "none",
    }
}

/// The most channels of a scenario: each keeps the state of every node. Our choice: the 20 MHz channels of the 5 GHz band are 25
/// (@80211-2020 annex E).
pub(crate) const MOST_CHANNELS: usize = 32;

impl Channels {
    /// The first channel, then the others in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Channel> {
        [&self.first].into_iter().chain(self.others().iter().map(|further| &further.channel))
    }

    fn others(&self) -> &[Further] {
        self.further.as_deref().unwrap_or_default()
    }

    /// The channel of this id, which is its place in [`Channels::iter`].
    pub fn get(&self, id: ChannelId) -> &Channel {
        id.index().checked_sub(1).map_or(&self.first, |place| &self.others()[place].channel)
    }

    /// The names of all, in the same order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let first = self.name.as_deref().unwrap_or("main");
        [first].into_iter().chain(self.others().iter().map(|further| further.name.as_str()))
    }

    /// True if signals have powers on one of them.
    pub fn have_powers(&self) -> bool {
        self.iter().any(|channel| channel.powers.is_some())
    }

    /// The path of a channel in the file.
    pub fn path(id: ChannelId) -> String {
        id.index().checked_sub(1).map_or_else(|| "channel".to_owned(), |place| format!("channel.further[{place}]"))
    }
}

table! {
    /// A further channel.
    pub struct Further {
        /// The name by which channels of a node choose it.
        name: String, in Text::Name,
        /// The reach of nodes there, and the quality of their links.
        channel => Channel,
    }
}

/// Names of channels, no name twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelNames(pub Vec<String>);

const CHANNEL_NAMES: &str = "names of channels such as [\"main\", \"backhaul\"]";

scalar! {
    ChannelNames, (), (),
    |value, (), at| {
        let values = value.as_array().ok_or(Mistake::Unexpected)?;
        let mut names: Vec<String> = Vec::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let at = at.index(i);
            let name = value.as_str().ok_or_else(|| at.error(wrong("the name of a channel", value)))?;
            if names.iter().any(|known| known == name) {
                return Err(at.error(format!("\"{name}\" is here twice: a node has one interface on a channel")).into());
            }
            names.push(name.to_owned());
        }
        if names.is_empty() {
            return Err(format!("expected {CHANNEL_NAMES}; a node without a radio has radio = false").into());
        }
        Ok(ChannelNames(names))
    },
    |(), _| {
        let schema = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
        About::new(CHANNEL_NAMES, schema)
    },
    |it, _| Some(json!(it.0))
}

table! {
    /// A channel: the reach of nodes, and the quality of their links.
    pub struct Channel {
        /// Reach of every station; not with propagation.
        range: Option<Metres>, or "everyone hears everyone",
        /// The distance up to which a signal makes the medium busy and spoils others, at least range; needs range.
        sense_range: Option<Metres>, or "range",
        /// True if a signal that is sensed and not decoded was received in error, so that an EIFS follows (as in ns-2); with sense_range.
        sense_eifs: bool = true,
        /// Path loss, fading and noise; `None`: a pair is in reach or not.
        powers => Option<Propagation> as Powered<Propagation>,
        /// The losses of frames to noise; with propagation on top of what the SINR loses ([the air](design/air.md)).
        errors: ErrorSpec = { model = "none" },
        /// An exception for one pair of nodes.
        pair: Vec<Pair>, or "none" => Vec::new(),
    }
}

table! {
    /// The powers of signals between antennas.
    pub struct Propagation {
        /// Powers decide who hears whom, and what becomes of frames that overlap.
        propagation: phy::PathLoss, or "none: a pair is in reach or not"
            => unreachable!("with it there are powers, and without it none"),
        /// Standard deviation of log-normal shadowing by pair; needs propagation.
        shadowing: Db, or "0 dB" => Db(0.0),
        /// The way of its ends over which a pair's shadowing falls to a correlation of 1/e; needs shadowing.
        shadowing_decorrelation: Option<Metres>, or "the shadowing of a pair stays, wherever it goes",
        /// The variation of gains with time; needs propagation.
        fading: Fading, or "none" => Fading::None,
        /// At receivers.
        noise => Noise as NoiseKeys,
    }
}

/// The middle of a usual channel: 36 at 5 GHz, 6 at 2.4 GHz. @80211-2020 annex E, 15.4.4.3
fn carrier(standard: phy::Standard) -> Hertz {
    Hertz(if standard.band() == phy::Band::Ghz5 { 5.18e9 } else { 2.437e9 })
}

tagged! { impl phy::PathLoss [at], by "model", noun "propagation model" {
    /// Friis: the square of the distance.
    "free-space" => FreeSpace {
        /// Of the carrier.
        frequency: Hertz, or "5.18 GHz for 802.11a, n, ac and ax, 2.437 GHz for the others" => carrier(at.cx.standard),
    },
    /// A power of the distance.
    "log-distance" => LogDistance {
        /// Of the distance.
        exponent: f64 = 3.0, in 0.0..=20.0,
        /// Within it the loss is constant.
        reference_m as "reference_distance": f64 as Metres => (|it| it.0, Metres) = "1 m",
        /// Loss at the reference distance.
        reference_loss_db as "reference_loss": f64 as Db => (|it| it.0, Db) = "46.6777 dB",
    },
    /// As free space, beyond the cross-over distance the fourth power.
    "two-ray-ground" => TwoRayGround {
        /// Of the carrier.
        frequency: Hertz, or "5.18 GHz for 802.11a, n, ac and ax, 2.437 GHz for the others" => carrier(at.cx.standard),
        /// Of all antennas over the ground.
        heights_m as "height": (f64, f64) as Metres => (|it| (it.0, it.0), |it| Metres(it.0)) = "1.5 m",
    },
    /// The gains of channel.pair; pairs that are not listed do not hear each other.
    "matrix" => Matrix,
} }

tagged! {
    /// The variation of gains with time.
    #[derive(Copy)]
    pub enum Fading, by "model", noun "fading model" {
        /// Gains do not change.
        "none" => None,
        /// Exponential power of mean 1, drawn anew for each pair and coherence time.
        "rayleigh" => Rayleigh {
            /// The time that a gain lasts.
            coherence: Dur, in SOME_TIME,
        },
        /// Exponential power of mean 1, correlated in time as that of a receiver that moves among scatterers all round it; a frame keeps the gain of its start.
        "jakes" => Jakes {
            /// The maximum Doppler shift, 100 kHz at most. Either this or speed.
            doppler: Option<Hertz>, in SHIFTS, or "speed over wavelength",
            /// Of the receiver against the scatterers. Either this or doppler.
            speed: Option<MetresPerSecond>, or "doppler times wavelength",
        },
    }
}

/// Doppler shifts: of what moves by less than 6 km/s at 5 GHz.
const SHIFTS: RangeInclusive<Hertz> = RangeInclusive::new(Hertz(f64::MIN_POSITIVE), Hertz(1e5));

impl Propagation {
    /// The law of fading, if there is any. A speed is of a carrier at the frequency of the propagation, or in the middle of the standard's band.
    pub fn fading_model(&self, standard: phy::Standard) -> Option<phy::FadingModel> {
        let carrier = match self.propagation {
            phy::PathLoss::FreeSpace { frequency } | phy::PathLoss::TwoRayGround { frequency, .. } => frequency,
            _ => carrier(standard),
        };
        match self.fading {
            Fading::None => None,
            Fading::Rayleigh { coherence } => Some(phy::FadingModel::Block(coherence)),
            Fading::Jakes { doppler, speed } => {
                let of_speed = speed.map_or(0.0, |speed| speed.0 / carrier.wavelength_m());
                Some(phy::FadingModel::Doppler(doppler.unwrap_or(Hertz(of_speed))))
            }
        }
    }
}

/// Noise at receivers. `phy::NoiseFloor` also has the bandwidth, which the standard's curves know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Thermal, and what the receiver adds.
    Figure(Db),
    /// As stated.
    Level(Dbm),
}

table! {
    /// The keys of [`Noise`].
    pub struct NoiseKeys {
        /// Of receivers, over thermal noise; needs propagation.
        noise_figure: Option<Db>, or "7 dB",
        /// Noise at receivers; needs propagation.
        noise: Option<Dbm>, or "thermal noise and noise_figure",
    }
}

impl Via<NoiseKeys> for Noise {
    fn from_keys(keys: NoiseKeys, _: &At) -> Result<Noise> {
        // What receivers of the time add; ns-3's default too.
        let figure = keys.noise_figure.unwrap_or(Db(7.0));
        Ok(keys.noise.map_or(Noise::Figure(figure), Noise::Level))
    }

    fn to_keys(&self) -> NoiseKeys {
        match *self {
            Noise::Figure(figure) => NoiseKeys { noise_figure: Some(figure), noise: None },
            Noise::Level(level) => NoiseKeys { noise_figure: None, noise: Some(level) },
        }
    }
}

table! {
    /// An exception for one pair of nodes.
    pub struct Pair {
        /// The transmitter and the receiver.
        ends => Ends as PairEnds,
        /// True if the receiver hears the transmitter; if not, it does not sense it either.
        reach: Option<bool>, or "as range says",
        /// Between their antennas; needs channel.propagation.
        gain: Option<Db>, or "as propagation says",
        /// The losses of frames between them to noise.
        errors: Option<ErrorSpec>, or "the channel's",
    }
}

table! {
    /// A wire, or one for each node of a group.
    pub struct LinkEntry {
        /// Its name in overrides and events; with a group name1, name2, …
        name: String, in Text::Name, or "link<index>" => String::new(),
        /// The sender and the receiver.
        ends => GroupEnds as LinkEnds,
        /// Of IP bytes; no link-layer framing is added.
        rate: BitRate,
        /// From the end of a packet's transmission to its arrival: a time, or a distribution that it is drawn from for each link and
        /// run, the same both ways.
        delay: Delay = "0 s",
        /// Probability that a packet is lost on the way.
        loss: f64 = 0.0, in PROBABILITY,
        /// Losses that depend on a packet's length, or on a state that each direction has of its own. In place of loss.
        errors: LinkErrors = { model = "none" },
        /// Of each direction, beside the packet in transmission.
        queue: Queue = { packets = 100 },
    }
}

/// A wire: what its entry says, and what it has of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Unique.
    pub name: String,
    /// The sender and the receiver.
    pub ends: Ends,
    /// Of IP bytes; no link-layer framing is added.
    pub rate: BitRate,
    /// From the end of a packet's transmission to its arrival, the same both ways.
    pub delay: Delay,
    /// Probability that a packet is lost on the way.
    pub loss: f64,
    /// Losses that depend on a packet's length, or on a state of each direction.
    pub errors: LinkErrors,
    /// Of each direction, beside the packet in transmission.
    pub queue: Queue,
    /// The index of its entry in the file.
    pub index: usize,
}

impl Link {
    /// The entry that a file would have for this link alone.
    pub(crate) fn written(&self, nodes: &[String]) -> LinkEntry {
        let one = |node: NodeId| {
            let name = nodes.get(node.index()).cloned().unwrap_or_default();
            Group { name, nodes: vec![node], has_count: false }
        };
        let Ends { from, to, both_ways } = self.ends;
        LinkEntry {
            name: self.name.clone(),
            ends: GroupEnds { from: one(from), to: one(to), both_ways },
            rate: self.rate,
            delay: self.delay,
            loss: self.loss,
            errors: self.errors,
            queue: self.queue.clone(),
        }
    }
}

/// The time that a packet is under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// So long.
    Fixed(Dur),
    /// As long as is drawn for the link.
    Drawn(Distribution),
}

tagged! {
    /// A distribution of times.
    #[derive(Copy)]
    pub enum Distribution, by "draw", noun "distribution" {
        /// Equally likely everywhere between two times.
        "uniform" => Uniform {
            /// The least.
            low: Dur,
            /// The greatest.
            high: Dur,
        },
        /// Normal, drawn again until it lies within its ends.
        "normal" => Normal {
            /// Of the whole distribution, ends left aside.
            mean: Dur,
            /// Standard deviation of the whole distribution.
            deviation: Dur, in SOME_TIME,
            /// The least.
            low: Dur = "0 s",
            /// The greatest.
            high: Option<Dur>, or "no end",
        },
        /// Exponential.
        "exponential" => Exponential {
            /// Its mean.
            mean: Dur,
        },
    }
}

scalar! {
    Delay, (), (),
    |value, (), at| match value {
        Value::Table(_) => Ok(Delay::Drawn(Distribution::read(value, &(), at)?)),
        Value::String(_) => Ok(Delay::Fixed(Dur::read(value, &Dur::ANY, at)?)),
        _ => Err(Mistake::Unexpected),
    },
    |(), names| {
        let (time, drawn) = (Dur::about(&Dur::ANY, names).schema, Distribution::about(&(), names).schema);
        let example = "a string such as \"20 ms\", or a distribution such as { draw = \"uniform\", low = \"10 ms\", high = \"50 ms\" }";
        About::new(example, json!({ "anyOf": [time, drawn] }))
    },
    |it, nodes| match it {
        Delay::Fixed(time) => time.write(nodes),
        Delay::Drawn(distribution) => distribution.write(nodes),
    }
}

/// Two nodes, or a group and a node: a link each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupEnds {
    /// The one that sends.
    pub from: Group,
    /// The one that receives.
    pub to: Group,
    /// Written with `between`: it holds for the other direction too.
    pub both_ways: bool,
}

/// Two names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between([Group; 2]);

const TWO_NAMES: &str = "two names of nodes such as [\"a\", \"b\"]";

scalar! {
    Between, (), (),
    |value, (), at| {
        let names = value.as_array().ok_or(Mistake::Unexpected)?;
        let [a, b] = &names[..] else {
            return Err(format!("expected {TWO_NAMES}, got an array of {}", names.len()).into());
        };
        let one = |i: usize, name: &Value| match name.as_str() {
            Some(name) => Ok(group::group(name, &at.index(i))),
            None => Err(at.index(i).error(wrong("the name of a node", name))),
        };
        Ok(Between([one(0, a)?, one(1, b)?]))
    },
    |(), _| {
        let schema = json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 });
        About::new(TWO_NAMES, schema)
    },
    |it, _| Some(it.0.iter().map(|group| json!(group.name)).collect())
}

table! {
    /// The ends of a [`LinkEntry`].
    pub struct LinkEnds {
        /// Two nodes: the same both ways. One of them may be a group: a link for each of its nodes.
        between: Option<Between>, or "one direction, given by from and to",
        /// The sender, or a group of them.
        from: Option<Group>, or "both directions, given by between",
        /// The receiver, or a group of them.
        to: Option<Group>, or "both directions, given by between",
    }
}

impl Via<LinkEnds> for GroupEnds {
    fn from_keys(keys: LinkEnds, at: &At) -> Result<GroupEnds> {
        let (from, to, both_ways) = match (keys.between, keys.from, keys.to) {
            (Some(Between([from, to])), None, None) => (from, to, true),
            (None, Some(from), Some(to)) => (from, to, false),
            _ => {
                at.later("give either between (both ways), or from and to (one way)");
                let nobody = || Group { name: String::new(), nodes: Vec::new(), has_count: false };
                (nobody(), nobody(), true)
            }
        };
        Ok(GroupEnds { from, to, both_ways })
    }

    fn to_keys(&self) -> LinkEnds {
        let (from, to) = (self.from.clone(), self.to.clone());
        if self.both_ways {
            return LinkEnds { between: Some(Between([from, to])), from: None, to: None };
        }
        LinkEnds { between: None, from: Some(from), to: Some(to) }
    }
}

/// Two nodes, and whether what is said of them holds in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The one that sends.
    pub from: NodeId,
    /// The one that receives; another.
    pub to: NodeId,
    /// Written with `between`: it holds for the other direction too.
    pub both_ways: bool,
}

impl Ends {
    fn new(between: Option<&[NodeId]>, from: Option<NodeId>, to: Option<NodeId>, at: &At) -> Ends {
        // Stands for nodes that are not there; the mistake is noted.
        let nobody = Ends { from: NodeId::BROADCAST, to: NodeId::BROADCAST, both_ways: true };
        match (between, from, to) {
            (Some([from, to]), None, None) => Ends { from: *from, to: *to, both_ways: true },
            (None, Some(from), Some(to)) => Ends { from, to, both_ways: false },
            (Some(_), None, None) => {
                at.key("between").later("expected two nodes");
                nobody
            }
            _ => {
                at.later("give either between (both ways), or from and to (one way)");
                nobody
            }
        }
    }

    /// The directions: from, to.
    pub fn directions(&self) -> impl Iterator<Item = (NodeId, NodeId)> + use<> {
        [(self.from, self.to)].into_iter().chain(self.both_ways.then_some((self.to, self.from)))
    }
}

table! {
    /// The ends of a [`Pair`].
    pub struct PairEnds {
        /// Two nodes: the exception holds both ways.
        between: Option<Vec<NodeId>>, in 2..=2, or "one direction, given by from and to",
        /// The transmitter.
        from: Option<NodeId>, or "both directions, given by between",
        /// The receiver.
        to: Option<NodeId>, or "both directions, given by between",
    }
}

impl Via<PairEnds> for Ends {
    fn from_keys(keys: PairEnds, at: &At) -> Result<Ends> {
        Ok(Ends::new(keys.between.as_deref(), keys.from, keys.to, at))
    }

    fn to_keys(&self) -> PairEnds {
        let one_way = |node: NodeId| (!self.both_ways).then_some(node);
        let between = self.both_ways.then(|| vec![self.from, self.to]);
        PairEnds { between, from: one_way(self.from), to: one_way(self.to) }
    }
}
