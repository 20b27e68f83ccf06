//! Names of the field that are not modelled yet, which a user may look for.
//!
//! A scenario that names one of them is told so, instead of being shown the nearest name that there is. The table is asked
//! only where no plug-in and no word of that name exists, so an entry does no harm when its thing is built;
//! `crates/world/tests/all/absent.rs` then says which line to delete.
//! `docs/not-modelled.md` lists every name; a test compares the two.

use crate::spelling;

/// Names of one kind that are not modelled.
#[derive(Debug, Clone, Copy)]
pub struct Absent {
    /// The noun of messages for one of them: a registry's noun, that of a scenario's words, or `key`.
    pub noun: &'static str,
    /// The names, as users spell them; case, `-`, `_` and spaces are no difference.
    pub names: &'static [&'static str],
    /// The nearest thing of this kind that is there; of a key a key. Empty: nothing is near.
    pub near: &'static str,
}

/// Names of things that are there under other words: noun, name, and the text to write instead.
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
    ("standard", "HT", "it is called \"802.11n\", in the 2.4 GHz band \"802.11n-2.4\""),
    ("standard", "Wi-Fi 4", "it is called \"802.11n\", in the 2.4 GHz band \"802.11n-2.4\""),
    ("standard", "VHT", "it is called \"802.11ac\""),
    ("standard", "Wi-Fi 5", "it is called \"802.11ac\""),
    ("standard", "HE", "it is called \"802.11ax\""),
    ("standard", "Wi-Fi 6", "it is called \"802.11ax\""),
    ("standard", "Wi-Fi 6E", "it is called \"802.11ax\""),
    ("standard", "802.11e", "EDCA is a key of radio, with any standard: access = \"edca\""),
    ("key", "bandwidth", "it is called width = \"80 MHz\""),
    ("key", "channel_width", "it is called width = \"80 MHz\""),
    ("key", "spatial_streams", "it is called streams = 2"),
    ("key", "nss", "it is called streams = 2"),
    ("key", "gi", "it is called guard_interval = \"0.4 us\""),
    ("key", "short_gi", "it is called guard_interval = \"0.4 us\""),
    ("key", "sgi", "it is called guard_interval = \"0.4 us\""),
    ("key", "ampdu", "it is a table: aggregation = { window = 64 }"),
    ("key", "addba", "it is a table: aggregation = { window = 64 }"),
    ("queue discipline", "taildrop", "it is called \"drop-tail\""),
    (
        "traffic model",
        "iperf3",
        "it is a program, which `interlayer live` runs; \"bulk\" is its like in a simulation",
    ),
    ("traffic model", "command", "it is a program, which `interlayer live` runs"),
    ("traffic model", "voip", "it is { model = \"cbr\", rate = \"64 kb/s\" } over UDP"),
];

/// The names that are not modelled.
pub const ABSENT: &[Absent] = &[
    Absent {
        noun: "standard",
        names: &["802.11be", "802.11bn", "EHT", "UHR", "Wi-Fi 7", "Wi-Fi 8"],
        near: "802.11ax",
    },
    Absent { noun: "standard", names: &["802.11ad", "802.11ay", "802.11ah", "802.11p", "802.11s"], near: "802.11a" },
    Absent { noun: "congestion control", names: &["bbr2", "bbr3", "vivace"], near: "bbr" },
    Absent { noun: "congestion control", names: &["dctcp", "prague", "atl-tcp", "freeze-tcp"], near: "newreno" },
    Absent { noun: "congestion control", names: &["cdg", "nv", "lp", "ledbat", "copa", "santa-cruz"], near: "vegas" },
    Absent { noun: "congestion control", names: &["nj+"], near: "new-jersey" },
    Absent { noun: "congestion control", names: &["adaptive-westwood", "wtcp-wan"], near: "westwood+" },
    Absent { noun: "recovery", names: &["fack"], near: "sack" },
    Absent { noun: "receiver", names: &["ack-rate-request"], near: "tack" },
    Absent { noun: "rate control", names: &["minstrel", "rraa", "onoe", "samplerate"], near: "aarf" },
    Absent { noun: "router", names: &["olsr", "dsdv", "hwmp", "batman", "babel", "rip", "ospf"], near: "static" },
    Absent { noun: "queue discipline", names: &["cobalt", "pie", "dualpi2"], near: "codel" },
    Absent { noun: "queue discipline", names: &["cake", "fq_pie"], near: "fq-codel" },
    Absent { noun: "queue discipline", names: &["fq", "sfq", "wfq", "prio"], near: "drr" },
    Absent { noun: "transport protocol", names: &["quic", "sctp", "mptcp"], near: "tcp" },
    Absent { noun: "transport protocol", names: &["dccp", "tfrc", "rtp"], near: "udp" },
    Absent { noun: "traffic model", names: &["web"], near: "http" },
    Absent { noun: "traffic model", names: &["video", "pareto"], near: "on-off" },
    Absent { noun: "traffic model", names: &["trace"], near: "poisson" },
    Absent {
        noun: "propagation model",
        names: &["cost231", "okumura-hata", "ray-tracing", "buildings"],
        near: "log-distance",
    },
    Absent { noun: "fading model", names: &["nakagami", "rice", "rician"], near: "rayleigh" },
    // No layer below the schemes names one (layering.rs), so none is said to be near.
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
            "split-withheld",
            "pep",
            "ilc-tcp",
            "atcp",
            "tp-lda",
            "zhuge",
            "abc",
        ],
        near: "",
    },
    Absent { noun: "width", names: &["320 MHz"], near: "160 MHz" },
    Absent { noun: "key", names: &["channel_number"], near: "standard" },
    Absent {
        noun: "key",
        names: &[
            "ofdma",
            "mu_mimo",
            "mu_edca",
            "twt",
            "bss_color",
            "spatial_reuse",
            "puncturing",
            "mlo",
            "beamforming",
        ],
        near: "",
    },
    Absent { noun: "key", names: &["roaming"], near: "handoff_hysteresis" },
    Absent { noun: "key", names: &["mtu"], near: "datagram" },
    Absent {
        noun: "key",
        names: &[
            "beacon_interval",
            "association",
            "power_save",
            "encryption",
            "fast_open",
            "keep_alive",
            "ipv6",
            "vlan",
        ],
        near: "",
    },
];

/// Returns the message about a thing of this kind that is not modelled, or has another name; `None` of any other.
pub fn message(noun: &str, text: &str) -> Option<String> {
    let is = |name: &&str| spelling::is_same(name, text);
    if let Some((.., instead)) = INSTEAD.iter().find(|(n, name, _)| *n == noun && is(name)) {
        return Some(format!("no {noun} {}; {instead}", spelling::quote(text)));
    }
    let found = ABSENT.iter().find(|absent| absent.noun == noun && absent.names.iter().any(is))?;
    let near =
        if found.near.is_empty() { String::new() } else { format!("; the nearest that is: \"{}\"", found.near) };
    Some(format!("{noun} {} is not modelled yet, see docs/not-modelled.md{near}", spelling::quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_in_any_spelling() {
        let said =
            "standard \"802.11BE\" is not modelled yet, see docs/not-modelled.md; the nearest that is: \"802.11ax\"";
        assert_eq!(message("standard", "802.11BE").as_deref(), Some(said));
        assert!(message("queue discipline", "FQ-PIE").is_some());
        assert!(
            message("key", "vlan").is_some_and(|said| said.ends_with("see docs/not-modelled.md")),
            "nothing is near"
        );
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
