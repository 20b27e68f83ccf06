//! `[[node]]`: stations, access points, wired hosts.

use crate::Result;
use crate::at::At;
use crate::channel::ChannelNames;
use crate::directory::MOST_OF_A_GROUP;
use crate::edca::{Access, Category, Edca};
use crate::group;
use crate::item::{About, Item, Mistake, wrong};
use crate::mobility::Mobility;
use crate::modes::Modes;
use crate::plug::{Plug, RateControls};
use crate::queues::RadioQueue;
use crate::radio::{Radio, has_mcs};
use crate::scalar::Text;
use net::{Prefix, PrefixError};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use toml::Value;
use units::{BitRate, Bytes, ChannelId, Dbm, Dur, NodeId};

words! {
    /// The part that a node plays in its cell.
    pub enum Role, noun "role" {
        /// A station.
        "station" => Station,
        /// An access point: all frames of its stations go to it or come from it.
        "ap" => Ap,
    }
}

/// Bit rates by receiver; no receiver twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateTo(pub Vec<(NodeId, BitRate)>);

const RATE_TO: &str = "a bit rate for each receiver such as { laptop = \"11 Mb/s\" }";

scalar! {
    RateTo, (), (), |value, (), at| by_receiver(value, &BitRate::ANY, "a rate", at).map(RateTo),
    |(), names| {
        let rate = BitRate::about(&BitRate::ANY, names).schema;
        About::new(RATE_TO, json!({ "type": "object", "additionalProperties": rate }))
    },
    |it, nodes| {
        let entry = |(to, rate): &(NodeId, BitRate)| Some((nodes.get(to.index())?.clone(), json!(rate.to_string())));
        Some(Json::Object(it.0.iter().filter_map(entry).collect()))
    }
}

/// MCSs by receiver; no receiver twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McsTo(pub Vec<(NodeId, u8)>);

const MCS_TO: &str = "an MCS for each receiver such as { laptop = 7 }";

/// Values by receiver, under the names of nodes and groups; no receiver twice.
fn by_receiver<T: Item + Copy>(
    value: &Value,
    within: &T::Within,
    noun: &str,
    at: &At,
) -> Result<Vec<(NodeId, T)>, Mistake> {
    let mut found: Vec<(NodeId, T)> = Vec::new();
    for (name, value) in value.as_table().ok_or(Mistake::Unexpected)? {
        let at = at.key(name);
        let item = T::read(value, within, &at)?;
        for node in group::group(name, &at).nodes {
            if found.iter().any(|(to, _)| *to == node) {
                at.later(format!("\"{name}\" has {noun} by its own name and by that of its group"));
            }
            found.push((node, item));
        }
    }
    Ok(found)
}

scalar! {
    McsTo, (), (), |value, (), at| by_receiver(value, &(0..=11), "an MCS", at).map(McsTo),
    |(), names| {
        let mcs = <u8 as Item>::about(&(0..=11), names).schema;
        About::new(MCS_TO, json!({ "type": "object", "additionalProperties": mcs }))
    },
    |it, nodes| {
        let entry = |(to, mcs): &(NodeId, u8)| Some((nodes.get(to.index())?.clone(), json!(mcs)));
        Some(Json::Object(it.0.iter().filter_map(entry).collect()))
    }
}

/// Prefixes of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefixes(pub Vec<Prefix>);

const PREFIXES: &str = "prefixes such as [\"192.0.2.0/24\"], or [\"0.0.0.0/0\"] for all addresses";

scalar! {
    Prefixes, (), (),
    |value, (), at| {
        let prefix = |(i, value): (usize, &Value)| {
            let at = at.index(i);
            let text = value.as_str().ok_or_else(|| at.error(wrong("a prefix such as \"192.0.2.0/24\"", value)))?;
            let prefix: Prefix = text.parse().map_err(|error: PrefixError| at.error(error))?;
            if prefix.is_ipv4() { Ok(prefix) } else { Err(at.error("packets here are IPv4")) }
        };
        let values = value.as_array().ok_or(Mistake::Unexpected)?;
        Ok(Prefixes(values.iter().enumerate().map(prefix).collect::<Result<_>>()?))
    },
    |(), _| About::new(PREFIXES, json!({ "type": "array", "items": { "type": "string", "examples": ["192.0.2.0/24"] } })),
    |it, _| Some(it.0.iter().map(|prefix| json!(prefix.to_string())).collect())
}

table! {
    /// A node, or several.
    pub struct NodeEntry {
        /// Its name in flows, links, pairs, schemes and events.
        name: String, in Text::Name,
        /// So many nodes: name1, name2, …; 0: none, and no flow of theirs.
        count: Option<u32>, in 0..=MOST_OF_A_GROUP, or "one node of that name",
        /// Its transmit power.
        tx_power: Option<Dbm>, or "radio.tx_power",
        /// Its access method.
        access: Option<Access>, or "radio.access",
        /// Its access categories.
        edca: Option<Edca>, or "radio.edca",
        /// East and north of the origin, in metres.
        position: Option<[f64; 2]>, or "as [layout] says",
        /// Its motion from there. A group moves each on its own.
        mobility: Option<Mobility>, or "it stands",
        /// With an access point in the scenario, stations exchange frames with theirs only; it sends no beacons.
        role: Role = "station",
        /// True if it has a radio.
        radio: Option<bool>, or "false for a node at a link that has no position and no channels and is no access point, true otherwise",
        /// The channels that it has a radio on, an interface each. Schemes sit at nodes with one.
        channels: Option<ChannelNames>, or "the first channel",
        /// Its own amendment: 802.11b among stations of 802.11g. It takes frames of OFDM for noise that it senses.
        standard: Option<phy::Standard>, or "radio.standard",
        /// Rate of the data frames it sends.
        data_rate: Option<BitRate>, or "radio.data_rate, or if its standard has not got that the highest it has",
        /// MCS of the data frames it sends to some: one for each name of a node or of a group.
        mcs_to: Option<McsTo>, or "mcs to all",
        /// Its modes and aggregation, where they are not those of `[radio]`.
        modes => Modes,
        /// Rate of the data frames it sends to some: a rate for each name of a node or of a group. Where it has MCSs, of stations that have none.
        data_rate_to: Option<RateTo>, or "data_rate to all; to stations of 802.11b their highest rate not above it",
        /// The rate control that chooses the rate of each data frame it sends.
        rate_control: Option<Plug<RateControls>>, or "radio.rate_control",
        /// Its interface queue, one for each access category.
        queue: Option<RadioQueue>, or "radio.queue",
        /// Addresses behind it: packets for them that a driver hands in end here. 0.0.0.0/0 is the default route ([driving](driving.md)).
        prefixes: Option<Prefixes>, or "none",
        /// Time between reception and the stack's answer.
        host_delay: Dur = "0 s",
    }
}

impl NodeEntry {
    /// The prefixes that it stands for beside its own address.
    pub fn prefixes(&self) -> &[Prefix] {
        self.prefixes.as_ref().map_or(&[], |prefixes| &prefixes.0)
    }

    /// The MCSs of its data frames to some receivers.
    pub fn mcs_to(&self) -> &[(NodeId, u8)] {
        self.mcs_to.as_ref().map_or(&[], |all| &all.0)
    }

    /// The rates of its data frames to some receivers.
    pub fn data_rates(&self) -> &[(NodeId, BitRate)] {
        self.data_rate_to.as_ref().map_or(&[], |rates| &rates.0)
    }

    /// True if its nodes have a radio: a node at a link is a wired host unless something about it speaks of a radio.
    pub(crate) fn has_radio(&self, is_at_a_link: bool) -> bool {
        let speaks_of_one = self.position.is_some() || self.channels.is_some() || self.role == Role::Ap;
        self.radio.unwrap_or(speaks_of_one || !is_at_a_link)
    }
}

/// A node: what its entry says, and what it has of its own or from `[radio]`.
#[derive(Debug, Clone)]
pub struct Node {
    /// Unique.
    pub name: String,
    /// Transmit power, antenna gains included.
    pub tx_power: Dbm,
    /// The method by which it accesses the medium.
    pub access: Access,
    /// BK, BE, VI, VO under EDCA.
    pub categories: [Category; 4],
    /// True if it has a radio.
    pub has_radio: bool,
    /// The channels it has a radio on, in the order of the file; none without one.
    pub channels: Vec<ChannelId>,
    /// Its amendment.
    pub standard: phy::Standard,
    /// Of the data frames it sends; of 802.11n and later those to older stations.
    pub data_rate: BitRate,
    /// Its modes and aggregation: its own, and where they are silent those of `[radio]`.
    pub modes: Modes,
    /// The rate control that chooses their rate; `None`: it is fixed.
    pub rate_control: Option<Plug<RateControls>>,
    /// In front of its radio, one for each access category.
    pub queue: RadioQueue,
    /// The entry of the file.
    pub entry: Arc<NodeEntry>,
    /// The index of that entry.
    pub index: usize,
}

impl Node {
    /// True if it has an interface on this channel.
    pub fn is_on(&self, channel: ChannelId) -> bool {
        self.channels.contains(&channel)
    }

    /// Its part in aggregation: its standard's, what `[radio]` says and what it says itself, no more than its standard has. `None` of a
    /// station that does not aggregate.
    pub fn aggregation(&self, radio: &Radio) -> Option<mac::Aggregation> {
        if !self.has_radio || self.access != Access::Edca || !has_mcs(self.standard) {
            return None;
        }
        let most = mac::Aggregation::of(self.standard);
        let mut own = most;
        if radio.tx_time() == phy::TxTime::Ns3 {
            own.after_silence = mac::AfterSilence::Request;
        }
        self.modes.aggregation.iter().for_each(|keys| keys.apply(&mut own));
        let stated = self.modes.aggregation.as_ref().and_then(|keys| keys.mpdus);
        let has = |largest: &Bytes| most.mpdu_lengths().contains(largest);
        Some(mac::Aggregation {
            mpdus: stated.unwrap_or(own.buffer).min(most.buffer),
            buffer: own.buffer.min(most.buffer),
            bytes: own.bytes.min(most.bytes),
            amsdu: own.amsdu.min(most.longest_amsdu()),
            longest_mpdu: Some(own.longest_mpdu).filter(has).unwrap_or(most.longest_mpdu),
            ..own
        })
    }

    /// The waveform that the modes of its data frames share, where its standard has MCSs.
    pub fn waveform(&self, radio: &Radio) -> phy::Waveform {
        // A guard interval of all is that of the stations of the newest format: an older one has its own. HT ends at 40 MHz. @80211-2020
        // table 19-1
        let is_older = self.standard != radio.standard;
        let own = &self.entry.modes;
        let guard_interval = if is_older { own.guard_interval } else { self.modes.guard_interval };
        let is_ht = matches!(self.standard, phy::Standard::N | phy::Standard::N2_4);
        let widest = if is_ht { phy::Width::Mhz40 } else { phy::Width::Mhz160 };
        let width = own.width.or(self.modes.width.map(|width| width.min(widest)));
        Modes { guard_interval, width, ..self.modes.clone() }.waveform(self.standard, radio.tx_time())
    }

    /// True of a station of 802.11b in a cell of 802.11g.
    pub fn is_non_erp(&self, radio: &Radio) -> bool {
        let is_2_4 = matches!(radio.standard, phy::Standard::G | phy::Standard::N2_4);
        self.has_radio && is_2_4 && self.standard == phy::Standard::B
    }

    /// The entry that a file would have for this node, `id`, alone.
    pub(crate) fn written(&self, id: NodeId, has_powers: bool, radio: &Radio) -> NodeEntry {
        let [bk, be, vi, vo] = self.categories.map(Some);
        // A member of a group with a rate to that group has none to itself.
        let others = self.entry.data_rates().iter().copied().filter(|(to, _)| *to != id);
        NodeEntry {
            name: self.name.clone(),
            count: None,
            tx_power: has_powers.then_some(self.tx_power),
            access: Some(self.access),
            edca: Some(Edca { bk, be, vi, vo }),
            radio: Some(self.has_radio),
            standard: Some(self.standard),
            data_rate: Some(self.data_rate),
            data_rate_to: self.entry.data_rate_to.as_ref().map(|_| RateTo(others.collect())),
            mcs_to: self
                .entry
                .mcs_to
                .as_ref()
                .map(|of| McsTo(of.0.iter().copied().filter(|(to, _)| *to != id).collect())),
            rate_control: self.rate_control.clone(),
            queue: Some(self.queue.clone()).filter(|own| *own != radio.queue),
            ..NodeEntry::clone(&self.entry)
        }
    }
}
