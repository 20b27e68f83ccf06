//! The constants of the protocol. @RFC4728 sec. 9

use super::options::MOST_RECORDED;
use crate::router::settings::{SOME_TIME, ms, param, with_preset};
use plugin::{Kind, Param, Params, Value};
use units::Dur;

/// The constants, each as a scenario may set it.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub(super) blacklist_timeout: Dur,
    pub(super) jitter: Dur,
    pub(super) cached_replies: bool,
    pub(super) discovery_hop_limit: u8,
    pub(super) max_hops: usize,
    pub(super) max_request_period: Dur,
    pub(super) max_request_rexmt: u32,
    pub(super) max_salvage_count: u8,
    pub(super) nonprop_request_timeout: Dur,
    pub(super) own_paths: usize,
    pub(super) passing_paths: usize,
    pub(super) reply_delay: Dur,
    pub(super) request_growth: u32,
    pub(super) request_period: Dur,
    pub(super) request_table_ids: usize,
    pub(super) request_table_size: usize,
    pub(super) ring_zero: bool,
    /// `None`: a path that is not used is never forgotten.
    pub(super) route_cache_timeout: Option<Dur>,
    pub(super) send_buffer: usize,
    pub(super) send_buffer_timeout: Dur,
}

const ANY_TIME: Kind = Kind::Time { min: Dur::ZERO, max: Dur::from_secs(36_000) };
const SHORT: Kind = Kind::Time { min: Dur::ZERO, max: Dur::from_secs(1) };
const SOME: Kind = Kind::Int { min: 1, max: 4096 };

/// Declared: the names of section 9 in small letters, and what the text leaves open.
pub const PARAMS: &[Param] = &[
    param("preset", Kind::Choice(&["rfc", "ns2"]), Value::Choice("rfc"), "Values of all that is not set."),
    param(
        "blacklist_timeout",
        ANY_TIME,
        ms(500),
        "Time for which requests of a neighbour that a reply did not reach are ignored.",
    ),
    param("jitter", SHORT, ms(10), "BroadcastJitter: longest random wait before a request is passed on or a reply is sent."),
    param("cached_replies", Kind::Bool, Value::Bool(true), "Relays answer from their caches."),
    param(
        "discovery_hop_limit",
        Kind::Int { min: 1, max: 255 },
        Value::Int(255),
        "TTL of a request to the whole network.",
    ),
    param(
        "max_hops",
        Kind::Int { min: 1, max: MOST_RECORDED as i64 },
        Value::Int(MOST_RECORDED as i64),
        "Hops of the longest route that is used; 62 is what a request can record.",
    ),
    param("max_request_period", SOME_TIME, ms(10_000), "Longest wait between two requests for one target."),
    param(
        "max_request_rexmt",
        Kind::Int { min: 0, max: 1000 },
        Value::Int(16),
        "Further requests to the whole network after the first.",
    ),
    param("max_salvage_count", Kind::Int { min: 0, max: 15 }, Value::Int(15), "Times that a packet may be salvaged."),
    param("nonprop_request_timeout", SOME_TIME, ms(30), "Wait for an answer of neighbours alone."),
    param("own_paths", SOME, Value::Int(30), "Paths in the cache that came by replies to this node."),
    param("passing_paths", SOME, Value::Int(64), "Paths in the cache that came by packets which passed."),
    param("reply_delay", SHORT, ms(1), "H of 8.2.5: a reply from a cache waits a random time of this for each hop it tells of."),
    param(
        "request_growth",
        Kind::Int { min: 1, max: 16 },
        Value::Int(2),
        "Factor by which the wait grows from request to request for one target.",
    ),
    param("request_period", SOME_TIME, ms(500), "Wait for an answer of the whole network, the first time."),
    param("request_table_ids", SOME, Value::Int(16), "Requests that are remembered of one initiator."),
    param("request_table_size", SOME, Value::Int(64), "Initiators, and targets, that are remembered."),
    param("ring_zero", Kind::Bool, Value::Bool(true), "Neighbours alone are asked first."),
    param(
        "route_cache_timeout",
        ANY_TIME,
        ms(300_000),
        "Time for which a path is remembered that is not used; 0 s: for ever.",
    ),
    param("send_buffer", Kind::Int { min: 0, max: 100_000 }, Value::Int(64), "Packets that wait for routes; a new one drives the oldest out."),
    param("send_buffer_timeout", SOME_TIME, ms(30_000), "Longest wait of a packet for a route."),
];

/// The constants of ns-2.35's agent where they are others. It knows no blacklist, and its waits are 0.5, 2, 8, 10 s.
const NS2: &[(&str, Value)] = &[
    ("blacklist_timeout", ms(0)),
    ("max_hops", Value::Int(16)),
    ("request_growth", Value::Int(4)),
    ("route_cache_timeout", ms(0)),
];

impl Settings {
    /// As a scenario sets them.
    pub fn of(params: &Params) -> Settings {
        let params = &with_preset(params, "ns2", NS2);
        let count = |key| usize::try_from(params.int(key)).unwrap_or(0);
        Settings {
            blacklist_timeout: params.time("blacklist_timeout"),
            jitter: params.time("jitter"),
            cached_replies: params.bool("cached_replies"),
            discovery_hop_limit: count("discovery_hop_limit") as u8,
            max_hops: count("max_hops"),
            max_request_period: params.time("max_request_period"),
            max_request_rexmt: count("max_request_rexmt") as u32,
            max_salvage_count: count("max_salvage_count") as u8,
            nonprop_request_timeout: params.time("nonprop_request_timeout"),
            own_paths: count("own_paths"),
            passing_paths: count("passing_paths"),
            reply_delay: params.time("reply_delay"),
            request_growth: count("request_growth") as u32,
            request_period: params.time("request_period"),
            request_table_ids: count("request_table_ids"),
            request_table_size: count("request_table_size"),
            ring_zero: params.bool("ring_zero"),
            route_cache_timeout: Some(params.time("route_cache_timeout")).filter(|time| *time > Dur::ZERO),
            send_buffer: count("send_buffer"),
            send_buffer_timeout: params.time("send_buffer_timeout"),
        }
    }

    /// The wait after a request to the whole network, of which there were so many in a row. @RFC4728 sec. 4.3, 8.2
    pub(super) fn wait(&self, floods: u32) -> Dur {
        let factor = u64::from(self.request_growth).saturating_pow(floods.saturating_sub(1).min(32));
        let wait = self.request_period.ns().saturating_mul(factor);
        Dur::from_ns(wait.min(self.max_request_period.ns()).max(self.request_period.ns().min(self.max_request_period.ns())))
    }
}
