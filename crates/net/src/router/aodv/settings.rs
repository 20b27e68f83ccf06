//! The constants of the protocol. @RFC3561 sec. 10

use crate::router::settings::{SOME_TIME, ms, param, with_preset};
use plugin::{Kind, Param, Params, Value};
use units::Dur;

/// The constants, each as a scenario may set it.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The ways of ns-2's agent, where they differ from the RFC's.
    pub(super) is_ns2: bool,
    /// The ways of ns-3's.
    pub(super) is_ns3: bool,
    pub(super) active_route_timeout: Dur,
    pub(super) allowed_hello_loss: u64,
    pub(super) blacklist_timeout: Dur,
    pub(super) counts_up: bool,
    pub(super) delete_period: Dur,
    pub(super) hello_interval: Dur,
    pub(super) hello: bool,
    pub(super) local_repair: bool,
    pub(super) local_add_ttl: u64,
    pub(super) max_repair_ttl: u64,
    /// 0: the last hop count known.
    pub(super) min_repair_ttl: u64,
    pub(super) my_route_timeout: Dur,
    pub(super) net_diameter: u8,
    pub(super) net_traversal_time: Dur,
    pub(super) next_hop_wait: Dur,
    pub(super) node_traversal_time: Dur,
    pub(super) path_discovery_time: Dur,
    pub(super) rerr_ratelimit: usize,
    pub(super) rreq_ratelimit: usize,
    pub(super) rreq_retries: u32,
    pub(super) timeout_buffer: u64,
    pub(super) ttl_start: u8,
    pub(super) ttl_increment: u8,
    pub(super) ttl_threshold: u8,
    pub(super) gratuitous_rrep: bool,
    pub(super) destination_only: bool,
    pub(super) rrep_ack: bool,
    pub(super) jitter: Dur,
    pub(super) buffer: usize,
    pub(super) buffer_time: Dur,
}

const ANY_TIME: Kind = Kind::Time { min: Dur::ZERO, max: Dur::from_secs(3600) };
const TTL: Kind = Kind::Int { min: 1, max: 254 };
const UP_TO_TTL: Kind = Kind::Int { min: 0, max: 254 };
const RATE: Kind = Kind::Int { min: 1, max: 10_000 };

/// ns-2: the longest wait of a search, and the silence after one in vain (MAX_RREQ_TIMEOUT); the life of a reverse route.
pub(super) const NS2_LONGEST_WAIT: Dur = Dur::from_secs(10);
pub(super) const NS2_REVERSE_ROUTE_LIFE: Dur = Dur::from_secs(6);

/// Declared: the names of section 10 in small letters, and what the text leaves open.
pub const PARAMS: &[Param] = &[
    param("preset", Kind::Choice(&["rfc", "ns2", "ns3"]), Value::Choice("rfc"), "Values of all that is not set, and ns-2's or ns-3's ways."),
    param("active_route_timeout", SOME_TIME, ms(3000), "Life of a route that is used."),
    param("allowed_hello_loss", Kind::Int { min: 1, max: 100 }, Value::Int(2), "Hello intervals until a link is lost."),
    param(
        "blacklist_timeout",
        ANY_TIME,
        ms(0),
        "Time for which requests of a neighbour that a reply did not reach are ignored; \
         0 s: rreq_retries times net_traversal_time.",
    ),
    param(
        "counts_up",
        Kind::Bool,
        Value::Bool(true),
        "The number of a route that ends counts up (RFC 3561 6.1, 6.11). Without it loops form: ns-3 3.37 keeps the number.",
    ),
    param(
        "delete_period",
        ANY_TIME,
        ms(0),
        "Time for which a route that has ended is remembered; \
         0 s: five times the longer of active_route_timeout and hello_interval.",
    ),
    param("hello_interval", SOME_TIME, ms(1000), "Time between Hello messages."),
    param("hello", Kind::Bool, Value::Bool(false), "Says Hello, and takes a neighbour's silence for a lost link."),
    param("local_repair", Kind::Bool, Value::Bool(false), "The node before a broken link seeks another way."),
    param("local_add_ttl", TTL, Value::Int(2), "Hops added to the TTL of a repair."),
    param(
        "max_repair_ttl",
        UP_TO_TTL,
        Value::Int(0),
        "Hops to the farthest destination that is repaired; 0: 0.3 times net_diameter.",
    ),
    param(
        "min_repair_ttl",
        UP_TO_TTL,
        Value::Int(0),
        "Least TTL of a repair, before the addition; 0: the last hop count to the destination.",
    ),
    param(
        "my_route_timeout",
        ANY_TIME,
        ms(0),
        "Life of a route that its destination grants; 0 s: twice active_route_timeout.",
    ),
    param("net_diameter", TTL, Value::Int(35), "Hops of the longest way, and TTL of a search of the whole network."),
    param(
        "net_traversal_time",
        ANY_TIME,
        ms(0),
        "Time to cross the network both ways; 0 s: twice node_traversal_time times net_diameter.",
    ),
    param(
        "next_hop_wait",
        ANY_TIME,
        ms(0),
        "Time until an acknowledgement of a reply is missed; 0 s: node_traversal_time and 10 ms.",
    ),
    param("node_traversal_time", SOME_TIME, ms(40), "Time to cross one hop, queues included."),
    param(
        "path_discovery_time",
        ANY_TIME,
        ms(0),
        "Time for which a request is known again; 0 s: twice net_traversal_time.",
    ),
    param("rerr_ratelimit", RATE, Value::Int(10), "Errors in one second."),
    param("rreq_ratelimit", RATE, Value::Int(10), "Requests of its own in one second."),
    param(
        "rreq_retries",
        Kind::Int { min: 0, max: 16 },
        Value::Int(2),
        "Further requests after the first to the whole network.",
    ),
    param("timeout_buffer", UP_TO_TTL, Value::Int(2), "Hops added to a ring when its time is reckoned."),
    param("ttl_start", TTL, Value::Int(1), "TTL of the first ring."),
    param("ttl_increment", TTL, Value::Int(2), "Hops that the next ring is wider."),
    param("ttl_threshold", TTL, Value::Int(7), "TTL of the widest ring; then the whole network is searched."),
    param("gratuitous_rrep", Kind::Bool, Value::Bool(true), "Asks a relay that answers to tell the destination."),
    param("destination_only", Kind::Bool, Value::Bool(false), "Asks relays not to answer."),
    param("rrep_ack", Kind::Bool, Value::Bool(false), "Asks for an acknowledgement of replies, beside the MAC's."),
    param(
        "jitter",
        Kind::Time { min: Dur::ZERO, max: Dur::from_secs(1) },
        ms(10),
        "Longest random wait before a broadcast is passed on.",
    ),
    param("buffer", Kind::Int { min: 0, max: 100_000 }, Value::Int(64), "Packets that wait for routes."),
    param("buffer_time", SOME_TIME, ms(30_000), "Longest wait of a packet for a route."),
];

/// The constants of ns-2.35's agent, and that it knows no limits of rates. Its waits carry no buffer.
const NS2: &[(&str, Value)] = &[
    ("active_route_timeout", ms(10_000)),
    ("local_repair", Value::Bool(true)),
    ("max_repair_ttl", Value::Int(254)),
    ("my_route_timeout", ms(10_000)),
    ("net_diameter", Value::Int(30)),
    ("node_traversal_time", ms(30)),
    ("path_discovery_time", ms(6000)),
    ("rerr_ratelimit", Value::Int(10_000)),
    ("rreq_ratelimit", Value::Int(10_000)),
    ("rreq_retries", Value::Int(3)),
    ("timeout_buffer", Value::Int(0)),
    ("ttl_start", Value::Int(5)),
];

/// The constants of ns-3 3.37's agent: numbers that stay, no limit of errors, and a first flood that counts among those tried again.
const NS3: &[(&str, Value)] = &[
    ("counts_up", Value::Bool(false)),
    ("rerr_ratelimit", Value::Int(10_000)),
    ("rreq_retries", Value::Int(1)),
];

impl Settings {
    /// As a scenario sets them.
    pub fn of(params: &Params) -> Settings {
        let (is_ns2, is_ns3) = (params.choice("preset") == "ns2", params.choice("preset") == "ns3");
        let params = &with_preset(params, "ns2", NS2);
        let params = &with_preset(params, "ns3", NS3);
        let count = |key| u64::try_from(params.int(key)).unwrap_or(0);
        let hops = |key| u8::try_from(params.int(key)).unwrap_or(u8::MAX);
        let or = |key, derived: Dur| Some(params.time(key)).filter(|time| *time > Dur::ZERO).unwrap_or(derived);
        let net_diameter = hops("net_diameter");
        let node_traversal_time = params.time("node_traversal_time");
        let (active_route_timeout, hello_interval) = (params.time("active_route_timeout"), params.time("hello_interval"));
        let net_traversal_time = or("net_traversal_time", node_traversal_time * (2 * u64::from(net_diameter)));
        let rreq_retries = count("rreq_retries") as u32;
        // @RFC3561 sec. 10: 0.3 NET_DIAMETER; K = 5.
        let max_repair_ttl = match count("max_repair_ttl") {
            0 => 3 * u64::from(net_diameter) / 10,
            ttl => ttl,
        };
        Settings {
            is_ns2,
            is_ns3,
            active_route_timeout,
            allowed_hello_loss: count("allowed_hello_loss"),
            blacklist_timeout: or("blacklist_timeout", net_traversal_time * u64::from(rreq_retries)),
            counts_up: params.bool("counts_up"),
            delete_period: or("delete_period", active_route_timeout.max(hello_interval) * 5),
            hello_interval,
            hello: params.bool("hello"),
            local_repair: params.bool("local_repair"),
            local_add_ttl: count("local_add_ttl"),
            max_repair_ttl,
            min_repair_ttl: count("min_repair_ttl"),
            my_route_timeout: or("my_route_timeout", active_route_timeout * 2),
            net_diameter,
            net_traversal_time,
            next_hop_wait: or("next_hop_wait", node_traversal_time + Dur::from_ms(10)),
            node_traversal_time,
            path_discovery_time: or("path_discovery_time", net_traversal_time * 2),
            rerr_ratelimit: count("rerr_ratelimit") as usize,
            rreq_ratelimit: count("rreq_ratelimit") as usize,
            rreq_retries,
            timeout_buffer: count("timeout_buffer"),
            ttl_start: hops("ttl_start"),
            ttl_increment: hops("ttl_increment"),
            ttl_threshold: hops("ttl_threshold"),
            gratuitous_rrep: params.bool("gratuitous_rrep"),
            destination_only: params.bool("destination_only"),
            rrep_ack: params.bool("rrep_ack"),
            jitter: params.time("jitter"),
            buffer: count("buffer") as usize,
            buffer_time: params.time("buffer_time"),
        }
    }

    /// Time to wait for an answer from within a ring. @RFC3561 sec. 10, RING_TRAVERSAL_TIME
    pub fn ring_traversal_time(&self, ttl: u8) -> Dur {
        self.node_traversal_time * (2 * (u64::from(ttl) + self.timeout_buffer))
    }
}
