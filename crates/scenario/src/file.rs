//! The whole file.

use crate::at::At;
use crate::channel::{Channels, LinkEntry};
use crate::flow::FlowEntry;
use crate::item::{About, Mistake};
use crate::node::NodeEntry;
use crate::plug::{Plug, RouteMetrics, Routers, Schemes};
use crate::radio::Radio;
use crate::scalar::{Metres, SOME_TIME, Text};
use crate::shape::{MOST_ENTRIES, Shape, Via};
use crate::{Names, Result};
use core::ops::RangeInclusive;
use serde_json::json;
use toml::Value;
use units::{Dur, NodeId};

/// TOML has no number beyond it.
const SEED: RangeInclusive<u64> = RangeInclusive::new(0, i64::MAX as u64);

table! {
    /// A scenario file.
    pub struct File {
        /// The run: its length and its seed.
        scenario: RunKeys,
        /// The parameters that all radios have in common.
        radio: Option<Radio>, or "no node has a radio",
        /// The reach of nodes, and the quality of their links.
        channel: Channels = {},
        /// A node: a station, an access point, a wired host.
        node: Vec<NodeEntry>, in 1..=MOST_ENTRIES,
        /// A wired link, or one for each node of a group.
        link: Vec<LinkEntry>, or "none" => Vec::new(),
        /// The method by which nodes find the way to a destination.
        routing: Option<Plug<Routers>>, or "\"static\"",
        /// The weight of ways, of which computed routes take the least.
        route_metric: Option<Plug<RouteMetrics>>, or "\"hop-count\"",
        /// A connection or a stream of datagrams.
        flow: Vec<FlowEntry>, in 1..=MOST_ENTRIES,
        /// A cross-layer system in use.
        scheme: Vec<SchemeUse>, or "none" => Vec::new(),
        /// The positions of nodes that have none of their own.
        layout: Option<Layout>, or "[0, 0]",
        /// Something that happens at one instant.
        event: Vec<TimedEvent>, or "none" => Vec::new(),
        /// A part of the run that is measured on its own.
        window: Vec<TimeWindow>, or "none" => Vec::new(),
    }
}

table! {
    /// The run: its length and its seed.
    pub struct RunKeys {
        /// The name of the scenario in reports.
        name: Option<String>, or "the name of the file",
        /// Length of the whole run, warm-up included.
        duration: Dur, in SOME_TIME,
        /// Rates and counters are taken after it; counters of schemes are of the whole run.
        warmup: Dur = "0 s",
        /// Fixes every random draw of the first run.
        seed: u64 = 1, in SEED,
        /// Between two samples of the time series.
        series_every: Dur = "50 ms", in SOME_TIME,
    }
}

table! {
    /// A part of the run that is measured on its own: the results have a row of it for each flow and each queue.
    pub struct TimeWindow {
        /// Its name in the results: `rush` begins the rows `rush.download` and `rush.ap.air`.
        name: String, in Text::Name, or "window<index>" => String::new(),
        /// Its beginning.
        from: Dur = "0 s",
        /// Its end, after `from`.
        to: Dur,
        /// Length of the buckets that the greatest value, the variation and the share of empty ones are taken over.
        every: Dur = "1 s", in SOME_TIME,
    }
}

tagged! {
    /// The positions of nodes.
    #[derive(Copy)]
    pub enum Layout, by "model", noun "layout" {
        /// On a circle, equally far from each other; access points in its centre.
        "star" => Star {
            /// Of the circle.
            radius: Metres,
        },
        /// On a square grid around its centre, where access points are.
        "grid" => Grid {
            /// Between neighbours.
            spacing: Metres,
        },
        /// Anywhere on a disc, uniform over its area, drawn anew for each run; access points in its centre.
        "disc" => Disc {
            /// Of the disc.
            radius: Metres,
            /// The condition under which it is drawn anew.
            redraw => Redraw,
        },
        /// Anywhere in a rectangle, uniform over its area, drawn anew for each run; the origin and access points in its centre.
        "rectangle" => Rectangle {
            /// From west to east.
            width: Metres,
            /// From south to north.
            height: Metres,
            /// The condition under which it is drawn anew.
            redraw => Redraw,
        },
        /// On a line, in the order of the file.
        "line" => Line {
            /// Between neighbours.
            spacing: Metres,
        },
    }
}

table! {
    /// The condition under which a layout is drawn once more: the layouts of chance remain that have what is asked for.
    #[derive(Copy)]
    pub struct Redraw {
        /// True if all nodes must find a way to each other, over several hops and wires if need be.
        connected: bool = false,
        /// The most draws until it is connected, if it must be, and flows with hops find their pairs.
        tries: u32 = 1000, in 1..=1_000_000,
    }
}

table! {
    /// A cross-layer system in use.
    pub struct SchemeUse {
        /// Which, with which parameters.
        plug => Plug<Schemes>,
        /// The nodes that run it.
        at: Option<Vec<NodeId>>, or "wherever the scheme sits",
    }
}

/// A change at an instant of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// The node falls silent: radio, wires, stack, timers.
    Kill(NodeId),
    /// The node is there again, if it was killed; its router knows nothing. One that lives falls silent first.
    Restart(NodeId),
    /// Everything between two nodes breaks.
    Break(Cut),
    /// It stands again.
    Heal(Cut),
    /// The node stands elsewhere, in metres.
    Move(NodeId, [f64; 2]),
}

/// The thing that breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// The link of that name, both ways if it has two.
    Link(String),
    /// All links between two nodes; if there is none, what they hear of each other.
    Between(NodeId, NodeId),
}

const A_CUT: &str = "the name of a link, or two names of nodes such as [\"a\", \"b\"]";

scalar! {
    Cut, (), (),
    |value, (), at| match value {
        Value::String(name) => Ok(Cut::Link(name.clone())),
        Value::Array(_) => match Vec::<NodeId>::read(value, &(2..=2), at)?[..] {
            [a, b] => Ok(Cut::Between(a, b)),
            // A group of other than two is no pair of nodes.
            _ => Err(Mistake::Unexpected),
        },
        _ => Err(Mistake::Unexpected),
    },
    |(), names| {
        let pair = Vec::<NodeId>::about(&(2..=2), names).schema;
        About::new(A_CUT, json!({ "anyOf": [{ "type": "string" }, pair] }))
    },
    |it, nodes| match it {
        Cut::Link(name) => Some(json!(name)),
        Cut::Between(a, b) => vec![*a, *b].write(nodes),
    }
}

table! {
    /// Something that happens at one instant.
    pub struct TimedEvent {
        /// The time of the event.
        at: Dur,
        /// The change.
        what => EventKind as EventKeys,
    }
}

table! {
    /// The keys of an [`EventKind`].
    pub struct EventKeys {
        /// The node that falls silent: radio, wires, stack, timers.
        kill: Option<NodeId>, or "nobody",
        /// The node that is there again after a kill, with empty queues and a router that knows nothing. One that lives falls silent
        /// first. Its connections and sources go on from where they stood.
        restart: Option<NodeId>, or "nobody",
        /// The thing that breaks: a link by its name, or everything between two nodes, links or, if there are none, the radio
        /// link. Packets on a broken link are lost; static routes are computed anew.
        broken as "break": Option<Cut>, or "nothing",
        /// The thing that stands again, written as the one that broke.
        heal: Option<Cut>, or "nothing",
        /// The node that stands elsewhere from now on; static routes are computed anew.
        moved as "move": Option<NodeId>, or "nobody",
        /// The new position: east and north of the origin, in metres; with move.
        to: Option<[f64; 2]>, or "not moved",
    }
}

impl Via<EventKeys> for EventKind {
    fn from_keys(keys: EventKeys, at: &At) -> Result<EventKind> {
        if keys.moved.is_none() && keys.to.is_some() {
            return Err(at.key("to").error("has an effect only with move"));
        }
        match (keys.kill, keys.restart, keys.broken, keys.heal, keys.moved) {
            (Some(node), None, None, None, None) => Ok(EventKind::Kill(node)),
            (None, Some(node), None, None, None) => Ok(EventKind::Restart(node)),
            (None, None, Some(cut), None, None) => Ok(EventKind::Break(cut)),
            (None, None, None, Some(cut), None) => Ok(EventKind::Heal(cut)),
            (None, None, None, None, Some(node)) => {
                let missing = || at.key("to").error("missing; expected two numbers such as [0, 22.5]");
                Ok(EventKind::Move(node, keys.to.ok_or_else(missing)?))
            }
            _ => Err(at.error("give one of kill, restart, break, heal and move")),
        }
    }

    fn to_keys(&self) -> EventKeys {
        let none = EventKeys { kill: None, restart: None, broken: None, heal: None, moved: None, to: None };
        match self.clone() {
            EventKind::Kill(node) => EventKeys { kill: Some(node), ..none },
            EventKind::Restart(node) => EventKeys { restart: Some(node), ..none },
            EventKind::Break(cut) => EventKeys { broken: Some(cut), ..none },
            EventKind::Heal(cut) => EventKeys { heal: Some(cut), ..none },
            EventKind::Move(node, to) => EventKeys { moved: Some(node), to: Some(to), ..none },
        }
    }
}

/// The tables of a file that have a key of this name.
pub(crate) fn places(key: &str, names: &Names) -> Vec<String> {
    Shape::of::<File>(names).places(key, names)
}
