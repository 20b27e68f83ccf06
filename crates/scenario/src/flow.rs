//! `[[flow]]`: connections, streams of datagrams, and the applications at their ends.

use crate::Names;
use crate::Result;
use crate::at::At;
use crate::connection::Tcp;
use crate::directory::MOST_OF_A_GROUP;
use crate::group::Group;
use crate::item::{About, Item, Mistake};
use crate::plug::{Plug, Users};
use crate::scalar::{SOME_BYTES, SOME_TIME, Text};
use crate::shape::{Keys, Object, Read, Shape, Variant};
use core::ops::RangeInclusive;
use serde_json::json;
use std::sync::Arc;
use toml::Value;
use units::{BitRate, Bytes, Dur, NodeId};

tagged! {
    /// The transport protocol, and its keys.
    #[allow(clippy::large_enum_variant, reason = "one for each flow, read once")]
    pub enum Protocol, by "protocol" = "tcp", noun "transport protocol" {
        /// One connection.
        "tcp" => Tcp(Tcp),
        /// Datagrams.
        "udp" => Udp,
    }
}

table! {
    /// The transport of a flow.
    pub struct Transport {
        /// By which protocol.
        protocol => Protocol,
        /// IP datagram of a full segment or message, all headers and TCP options included.
        datagram: Bytes = "1500 B", in SOME_BYTES,
    }
}

impl FlowEntry {
    /// The same with these keys of a connection.
    pub fn set_tcp(&mut self, tcp: Tcp) {
        self.transport.protocol = Protocol::Tcp(tcp);
    }
}

impl Transport {
    /// The connection's keys; `None` for UDP.
    pub fn tcp(&self) -> Option<&Tcp> {
        match &self.protocol {
            Protocol::Tcp(tcp) => Some(tcp),
            Protocol::Udp => None,
        }
    }

    /// True if a file's `table` of a transport can have this key. One that no transport has is for the reader to refuse.
    pub(crate) fn may_have(table: Option<&Value>, key: &str) -> bool {
        let shape = Shape::of::<Transport>(&Names::default());
        let Some(tagged) = shape.tagged else { return true };
        let word = table.and_then(|table| table.get(tagged.tag)?.as_str()).or(tagged.first);
        let has_it = |variant: &Variant| variant.keys.iter().any(|own| own.name == key);
        let others = tagged.variants.iter().any(has_it);
        !others || tagged.variants.iter().any(|variant| Some(variant.word) == word && has_it(variant))
    }

    /// `value`, where there is a connection.
    fn if_tcp<T>(&self, value: T) -> Option<T> {
        self.tcp().map(|_| value)
    }
}

tagged! {
    /// The data that an application writes.
    #[derive(Copy)]
    pub enum Traffic, by "model", noun "traffic model" {
        /// Nothing.
        "none" => None,
        /// TCP: as much as the connection takes.
        "bulk" => Bulk {
            /// After so many the connection closes.
            bytes: Option<Bytes>, in SOME_BYTES, or "without end",
        },
        /// At equal intervals.
        "cbr" => Cbr {
            /// Of UDP payload or TCP bytes.
            rate: BitRate,
        },
        /// At exponential intervals.
        "poisson" => Poisson {
            /// Of UDP payload or TCP bytes.
            rate: BitRate,
        },
        /// At equal intervals while it is on, and not at all while it is off; both last as long as is drawn from an exponential distribution.
        "on-off" => OnOff {
            /// Of UDP payload or TCP bytes, while it is on.
            rate: BitRate,
            /// The mean time that it is on. A burst has one datagram or segment at least.
            on: Dur, in SOME_TIME,
            /// The mean time that it is off.
            off: Dur, in SOME_TIME,
        },
        /// UDP: two MSDUs wait at every departure, so the interface queue never runs empty where a PSDU has one.
        "saturated" => Saturated,
        /// TCP: writes of one size at equal intervals.
        "chunks" => Chunks {
            /// Of one write.
            size: Bytes, in SOME_BYTES,
            /// Interval between writes.
            every: Dur, in SOME_TIME,
        },
    }
}

/// The data that goes over a flow: a stream on one connection, or what a user asks for on connections of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Writes {
    /// An application writes.
    Stream(Traffic),
    /// A user asks.
    User(Plug<Users>),
}

/// The words of both, with the keys that each has.
impl Keys for Writes {
    fn describe(shape: &mut Shape, names: &Names) {
        Traffic::describe(shape, names);
        let users = Shape::of::<Plug<Users>>(names).tagged.into_iter().flat_map(|tagged| tagged.variants);
        if let Some(tagged) = &mut shape.tagged {
            tagged.variants.extend(users);
        }
    }

    fn take(read: &mut Read, at: &At) -> Result<Writes> {
        match at.cx.names.traffic.find(read.word) {
            Some(_) => Plug::take(read, at).map(Writes::User),
            None => Traffic::take(read, at).map(Writes::Stream),
        }
    }

    fn put(&self, out: &mut Object) {
        match self {
            Writes::Stream(traffic) => traffic.put(out),
            Writes::User(plug) => plug.put(out),
        }
    }
}

tagged! {
    /// The reading of an application from TCP's receive buffer.
    #[derive(Copy)]
    pub enum Reader, by "model", noun "reader" {
        /// Everything at once.
        "instant" => Instant,
        /// At a constant rate.
        "rate" => Rate {
            /// Bytes read per time.
            rate: BitRate,
        },
        /// Instantly for a while, then not at all for a while.
        "on-off" => OnOff {
            /// The time for which it reads.
            on: Dur, in SOME_TIME,
            /// The time for which it does not.
            off: Dur, in SOME_TIME,
        },
    }
}

/// The most hops that a packet lives for: each forwarder takes one off its TTL of 64.
const MOST_HOPS: RangeInclusive<u32> = RangeInclusive::new(1, 64);

/// The distance between the ends of a drawn flow, in hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hops {
    /// Some way leads from one to the other.
    Any,
    /// So many hops at least, and so many at most.
    Between(u32, u32),
}

impl Hops {
    /// True if ends that far apart will do.
    pub fn allow(self, hops: u32) -> bool {
        match self {
            Hops::Any => true,
            Hops::Between(least, most) => (least..=most).contains(&hops),
        }
    }
}

impl core::fmt::Display for Hops {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Hops::Any => f.write_str("any number of hops"),
            Hops::Between(1, 1) => f.write_str("1 hop"),
            Hops::Between(least, most) if least == most => write!(f, "{least} hops"),
            Hops::Between(least, most) => write!(f, "{least} to {most} hops"),
        }
    }
}

fn hops(value: &Value, at: &At) -> Result<Hops, Mistake> {
    match value {
        Value::String(word) if word == "any" => Ok(Hops::Any),
        Value::Integer(_) => Ok(u32::read(value, &MOST_HOPS, at).map(|hops| Hops::Between(hops, hops))?),
        Value::Array(ends) if ends.len() == 2 => {
            let [least, most] = [0, 1].map(|i| u32::read(&ends[i], &MOST_HOPS, &at.index(i)));
            match (least?, most?) {
                (least, most) if least <= most => Ok(Hops::Between(least, most)),
                (least, most) => {
                    Err(format!("[{least}, {most}] begins above its end; write [{most}, {least}]").into())
                }
            }
        }
        _ => Err(Mistake::Unexpected),
    }
}

scalar! {
    Hops, (), (), |value, (), at| hops(value, at),
    |(), names| {
        let number = u32::about(&MOST_HOPS, names).schema;
        let both = json!({ "type": "array", "items": number, "minItems": 2, "maxItems": 2 });
        let schema = json!({ "anyOf": [number, both, { "type": "string", "enum": ["any"] }] });
        About::new("a number of hops such as 2, two such as [2, 3], or \"any\"", schema)
    },
    |it, _| Some(match it {
        Hops::Any => json!("any"),
        Hops::Between(least, most) if least == most => json!(least),
        Hops::Between(least, most) => json!([least, most]),
    })
}

table! {
    /// A flow, or one for each node of a group.
    pub struct FlowEntry {
        /// Its name in results and overrides.
        name: Option<String>, in Text::Name, or "flow<index>",
        /// The node that opens the connection and sends. A name with a count: a flow each. Two groups, as many nodes in each: the first sends to
        /// the first, the second to the second.
        from: Group,
        /// The other end.
        to: Group,
        /// With it both ends are drawn, for each run anew, one among from and one among to: a pair that static routes join by so many hops, or
        /// by any number. No pair of nodes is drawn twice in a run.
        hops: Option<Hops>, or "from and to are the ends",
        /// So many flows: name1, name2, …; 0: none. They go round the nodes of a group.
        count: Option<u32>, in 0..=MOST_OF_A_GROUP, or "one, or one for each node of a group",
        /// Differentiated services code point; radio.dscp_map says which access category it leads to.
        dscp: u8 = 0, in 0..=63,
        /// The time of its start.
        start: Dur = "0 s",
        /// The delay of each further flow of a group behind the one before.
        stagger: Option<Dur> = "0 s",
        /// The end of its writes; later than the end means the end.
        stop: Option<Dur>, in SOME_TIME, or "the end of the run",
        /// The transport that carries it.
        transport: Transport = { protocol = "tcp" },
        /// The data that the application at from writes, or the user at to asks for.
        traffic: Option<Writes>, or "bulk for TCP; UDP needs it" => transport.if_tcp(Writes::Stream(Traffic::Bulk { bytes: None })),
        /// TCP: what the application at to writes.
        reverse: Option<Traffic>, or "none" => transport.if_tcp(Traffic::None),
        /// TCP: how the application at to reads.
        reader: Option<Reader>, or "instant" => transport.if_tcp(Reader::Instant),
        /// TCP: whether results say how ACKs are spaced where they leave and arrive.
        ack_gaps: Option<bool>, or "false" => transport.if_tcp(false),
    }
}

/// A flow: what its entry says, and what it has of its own.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// Opens the connection and sends. Of a flow with `hops` any of those it is drawn among, until it is drawn.
    pub from: NodeId,
    /// Another node.
    pub to: NodeId,
    /// Before the end of the run.
    pub start: Dur,
    /// After `start`, at most the run's duration.
    pub stop: Dur,
    /// The entry of the file.
    pub entry: Arc<FlowEntry>,
    /// The index of that entry.
    pub index: usize,
}

impl Flow {
    /// The data that the application at `from` writes: traffic that the transport can carry; nothing for a user.
    pub fn traffic(&self) -> Traffic {
        match self.entry.traffic {
            Some(Writes::Stream(traffic)) => traffic,
            Some(Writes::User(_)) | None => Traffic::None,
        }
    }

    /// The user at `to` who opens connections, if there is one.
    pub fn user(&self) -> Option<&Plug<Users>> {
        match &self.entry.traffic {
            Some(Writes::User(plug)) => Some(plug),
            _ => None,
        }
    }

    /// The data that the application at `to` writes; nothing for UDP.
    pub fn reverse(&self) -> Traffic {
        self.entry.reverse.unwrap_or(Traffic::None)
    }

    /// The reading of the application at `to`.
    pub fn reader(&self) -> Reader {
        self.entry.reader.unwrap_or(Reader::Instant)
    }

    /// The entry that a file would have for this flow alone.
    pub(crate) fn written(&self, nodes: &[String]) -> FlowEntry {
        let one = |node: NodeId| {
            let name = nodes.get(node.index()).cloned().unwrap_or_default();
            Group { name, nodes: vec![node], has_count: false }
        };
        let among = |group: &Group| {
            let names: Vec<&str> =
                group.nodes.iter().filter_map(|node| nodes.get(node.index())).map(String::as_str).collect();
            Group { name: names.join(", "), nodes: group.nodes.clone(), has_count: true }
        };
        let is_drawn = self.entry.hops.is_some();
        FlowEntry {
            name: Some(self.name.clone()),
            from: if is_drawn { among(&self.entry.from) } else { one(self.from) },
            to: if is_drawn { among(&self.entry.to) } else { one(self.to) },
            count: None,
            start: self.start,
            stagger: None,
            stop: Some(self.stop),
            ..FlowEntry::clone(&self.entry)
        }
    }
}
