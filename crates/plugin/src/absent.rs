//! What a user may look for and not find: names of the field that are not modelled yet.
//!
//! A scenario that names one of them is told so, instead of being shown the nearest name that there is. The table is asked
//! only where no plug-in and no word of that name exists, so an entry does no harm when its thing is built;
//! `crates/world/tests/all/absent.rs` then says which line to delete.
//! `docs/not-modelled.md` lists every name; a test compares the two.

use crate::spelling;

/// Names of one kind that are not modelled.
#[derive(Debug, Clone, Copy)]
pub struct Absent {
    /// What messages call one of them: a registry's noun, that of a scenario's words, or `key`.
    pub noun: &'static str,
    /// The names, as users spell them; case, `-`, `_` and spaces are no difference.
    pub names: &'static [&'static str],
}

/// What is asked for in other words: noun, name, and what to write instead.
pub const INSTEAD: &[(&str, &str, &str)] = &[
    ("congestion control", "sack", "loss recovery is a key of its own: recovery = \"sack\""),
    ("congestion control", "prr", "it is a key of transport: prr = true"),
    ("congestion control", "rack", "it is a key of transport: rack = true"),
    ("congestion control", "hystart", "it is a key of transport: hystart = true"),
    ("recovery", "prr", "it is a key of transport: prr = true"),
    ("recovery", "rack", "it is a key of transport: rack = true"),
    ("recovery", "tlp", "it is a key of transport: tlp = true"),
    ("recovery", "f-rto", "it is a key of transport: undo = \"f-rto\""),
    ("recovery", "eifel", "it is a key of transport: undo = \"eifel\""),
    ("standard", "802.11e", "EDCA is a key of radio, with any standard: access = \"edca\""),
    ("queue discipline", "taildrop", "it is called \"drop-tail\""),
    ("traffic model", "voip", "it is { model = \"cbr\", rate = \"64 kb/s\" } over UDP"),
];

/// What is not there.
pub const ABSENT: &[Absent] = &[
    Absent {
        noun: "standard",
        names: &[
            "802.11n", "802.11ac", "802.11ax", "802.11be", "802.11ad", "802.11ah", "802.11p", "802.11s", "HT", "VHT",
            "HE", "EHT", "Wi-Fi 4", "Wi-Fi 5", "Wi-Fi 6", "Wi-Fi 7",
        ],
    },
    Absent {
        noun: "congestion control",
        names: &[
            "bbr2",
            "bbr3",
            "dctcp",
            "cdg",
            "nv",
            "lp",
            "ledbat",
            "copa",
            "vivace",
            "prague",
            "nj+",
            "santa-cruz",
            "adaptive-westwood",
            "atl-tcp",
            "wtcp-wan",
            "freeze-tcp",
        ],
    },
    Absent { noun: "recovery", names: &["fack"] },
    Absent { noun: "receiver", names: &["tack", "ack-rate-request"] },
    Absent {
        noun: "rate control",
        names: &["minstrel", "minstrel-ht", "arf", "aarf", "cara", "rraa", "onoe", "samplerate", "ideal"],
    },
    Absent {
        noun: "router",
        names: &["aodv", "olsr", "dsr", "dsdv", "hwmp", "batman", "babel", "rip", "ospf", "bdp-route", "mtm"],
    },
    Absent {
        noun: "queue discipline",
        names: &["cobalt", "cake", "pie", "fq_pie", "fq", "sfq", "wfq", "prio", "dualpi2"],
    },
    Absent { noun: "transport protocol", names: &["quic", "sctp", "dccp", "mptcp", "tfrc", "rtp"] },
    Absent { noun: "traffic model", names: &["web", "video", "trace", "pareto"] },
    Absent { noun: "propagation model", names: &["cost231", "okumura-hata", "ray-tracing", "buildings"] },
    Absent { noun: "fading model", names: &["nakagami", "rice", "rician", "jakes"] },
    Absent {
        noun: "scheme",
        names: &[
            "retry-limit",
            "snack-snoop",
            "wtcp-bs",
            "dawl",
            "airmail",
            "tulip",
            "metp",
            "ilc-tcp",
            "atcp",
            "tp-lda",
            "split-withheld",
            "pep",
            "fastack",
            "hack",
            "ack-filter",
            "zhuge",
            "abc",
        ],
    },
    Absent {
        noun: "key",
        names: &[
            "bandwidth",
            "channel_width",
            "channel_number",
            "mcs",
            "spatial_streams",
            "guard_interval",
            "aggregation",
            "ampdu",
            "amsdu",
            "block_ack",
            "beacon_interval",
            "association",
            "roaming",
            "handoff",
            "mobility",
            "velocity",
            "power_save",
            "encryption",
            "fast_open",
            "keep_alive",
            "mtu",
            "ipv6",
            "vlan",
        ],
    },
];

/// What to say of a thing of this kind that is not modelled, or has another name; `None` of any other.
pub fn message(noun: &str, text: &str) -> Option<String> {
    let is = |name: &&str| spelling::is_same(name, text);
    if let Some((.., instead)) = INSTEAD.iter().find(|(n, name, _)| *n == noun && is(name)) {
        return Some(format!("no {noun} {}; {instead}", spelling::quote(text)));
    }
    let found = ABSENT.iter().any(|absent| absent.noun == noun && absent.names.iter().any(is));
    found.then(|| format!("{noun} {} is not modelled yet, see docs/not-modelled.md", spelling::quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_in_any_spelling() {
        let said = "standard \"802.11AC\" is not modelled yet, see docs/not-modelled.md";
        assert_eq!(message("standard", "802.11AC").as_deref(), Some(said));
        assert!(message("queue discipline", "FQ-PIE").is_some());
        assert_eq!(message("standard", "bbr2"), None);
        assert_eq!(message("congestion control", "venno"), None);
    }

    #[test]
    fn what_has_another_name_is_told_it() {
        let said = message("congestion control", "sack").unwrap_or_default();
        assert_eq!(said, "no congestion control \"sack\"; loss recovery is a key of its own: recovery = \"sack\"");
    }

    #[test]
    fn no_name_stands_twice() {
        for absent in ABSENT {
            for (i, name) in absent.names.iter().enumerate() {
                assert!(!absent.names[..i].iter().any(|other| spelling::is_same(other, name)), "{name}");
                assert!(!INSTEAD.iter().any(|(noun, other, _)| *noun == absent.noun && other == name), "{name}");
            }
        }
    }
}
