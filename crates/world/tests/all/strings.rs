//! Strings and grids of stations that forward for each other: how much they carry, and that nothing which a scheme acknowledges is lost.

use crate::cells::run;
use proptest::prelude::*;
use std::fmt::Write;

/// Goodput of saturated UDP over so many hops of 200 m, 1500 B at 2 Mb/s, as a part of that over one. @LBCLM01
fn share(hops: usize, sensed: &str) -> f64 {
    let goodput = |hops: usize| {
        let text = format!(
            r#"
[scenario]
duration = "15 s"
warmup = "3 s"
[radio]
standard = "802.11b"
data_rate = "2 Mb/s"
basic_rate = "1 Mb/s"
control_rate = "1 Mb/s"
[channel]
range = "250 m"
{sensed}
[layout]
model = "line"
spacing = "200 m"
[[node]]
name = "n"
count = {}
[[flow]]
from = "n1"
to = "n{}"
transport = {{ protocol = "udp", datagram = "1500 B" }}
traffic = {{ model = "saturated" }}
"#,
            hops + 1,
            hops + 1
        );
        (1..=4).map(|seed| run(&text, seed).flow(0, "goodput_bps").unwrap()).sum::<f64>() / 4.0
    };
    goodput(hops) / goodput(1)
}

#[test]
fn saturated_udp_over_a_string_is_where_the_literature_has_it() {
    let far = "sense_range = \"550 m\"";
    let mut found = String::new();
    let mut all_within = true;
    for (sensed, bands) in [
        ("", [(2, 0.45, 0.55), (3, 0.29, 0.37), (4, 0.20, 0.34), (6, 0.20, 0.34), (8, 0.20, 0.34)]),
        (far, [(2, 0.45, 0.55), (3, 0.29, 0.37), (4, 0.12, 0.27), (6, 0.12, 0.27), (8, 0.12, 0.27)]),
    ] {
        for (hops, low, high) in bands {
            let share = share(hops, sensed);
            all_within &= (low..=high).contains(&share);
            _ = writeln!(found, "{hops} hops {sensed}: {share:.3} of {low} to {high}");
        }
    }
    assert!(all_within, "\n{found}");
}

/// The parameters of cases.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    /// Rows and columns; a string has one row. From the first node to the last.
    shape: (usize, usize),
    schemes: &'static str,
    errors: &'static str,
    queue: u32,
    receiver: &'static str,
    sack: bool,
    two_way: bool,
    bytes: u32,
    event: Event,
    /// In milliseconds.
    at: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    None,
    /// A node in the middle dies.
    Kill,
    /// The link next to it breaks, and heals after two seconds.
    Break,
    BreakForGood,
}

fn case() -> impl Strategy<Value = Case> {
    let lle = "[[scheme]]\nname = \"lle-tcp\"\n";
    let cc = "[[scheme]]\nname = \"lle-cc\"\nbuffer = 5\nmax_timeouts = 6\n";
    let both = "[[scheme]]\nname = \"lle-tcp\"\n[[scheme]]\nname = \"lle-cc\"\nmax_timeouts = 6\n";
    let c3 = "[[scheme]]\nname = \"c3tcp\"\n";
    let c3_and_cc = "[[scheme]]\nname = \"lle-cc\"\nmax_timeouts = 6\n[[scheme]]\nname = \"c3tcp\"\n";
    let schemes = prop::sample::select(vec!["", lle, cc, both, c3, c3_and_cc]);
    let errors = prop::sample::select(vec![
        "{ model = \"none\" }",
        "{ model = \"packet\", per = 0.2, control_per = 0.2 }",
        "{ model = \"packet\", per = 0.03, at = \"msdu\" }",
    ]);
    let shape = prop_oneof![(1usize..=1, 3usize..=6), (2usize..=3, 2usize..=3)];
    let event = prop::sample::select(vec![Event::None, Event::Kill, Event::Break, Event::BreakForGood]);
    let receiver = prop::sample::select(vec!["every", "delayed-ack"]);
    let small = (prop::sample::select(vec![2u32, 5, 50]), 20_000u32..150_000, 10u32..2500);
    let how = (receiver, any::<bool>(), any::<bool>());
    (any::<u32>(), shape, schemes, errors, how, event, small).prop_map(
        |(seed, shape, schemes, errors, (receiver, sack, two_way), event, (queue, bytes, at))| {
            let seed = u64::from(seed);
            Case { seed, shape, schemes, errors, queue, receiver, sack, two_way, bytes, event, at }
        },
    )
}

impl Case {
    fn nodes(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    /// True if there is a way to the end again when all has happened.
    fn has_way(&self) -> bool {
        match self.event {
            Event::None | Event::Break => true,
            // Routes are computed anew for a link that breaks, and not for a node that dies.
            Event::BreakForGood => self.shape.0 > 1,
            Event::Kill => false,
        }
    }

    fn text(&self) -> String {
        let Case { errors, queue, schemes, bytes, receiver, sack, at, .. } = self;
        let last = self.nodes();
        let reverse = if self.two_way {
            format!("{{ model = \"bulk\", bytes = \"{bytes} B\" }}")
        } else {
            "{ model = \"none\" }".into()
        };
        let mut text = format!(
            r#"
[scenario]
duration = "400 s"
[radio]
standard = "802.11b"
rts_threshold = "0 B"
queue = {{ packets = {queue} }}
[channel]
range = "22.5 m"
errors = {errors}
{schemes}
[[flow]]
from = "n1"
to = "n{last}"
traffic = {{ model = "bulk", bytes = "{bytes} B" }}
reverse = {reverse}
transport = {{ protocol = "tcp", preset = "rfc", receiver = "{receiver}", sack = {sack}, user_timeout = "60 s", min_rto = "200 ms", max_rto = "4 s" }}
"#
        );
        for i in 0..last {
            let (row, column) = (i / self.shape.1, i % self.shape.1);
            _ = writeln!(text, "[[node]]\nname = \"n{}\"\nposition = [{}, {}]", i + 1, 20 * column, 20 * row);
        }
        let middle = last.div_ceil(2);
        match self.event {
            Event::None => {}
            Event::Kill => _ = writeln!(text, "[[event]]\nat = \"{at} ms\"\nkill = \"n{middle}\""),
            Event::Break | Event::BreakForGood => {
                // The link of the first node in its own row: all rows have one.
                _ = writeln!(text, "[[event]]\nat = \"{at} ms\"\nbreak = [\"n1\", \"n2\"]");
                if self.event == Event::Break {
                    _ = writeln!(text, "[[event]]\nat = \"{} ms\"\nheal = [\"n1\", \"n2\"]", at + 2000);
                }
            }
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 0, ..ProptestConfig::default() })]

    /// The sender's data arrives once and in order, or the connection fails visibly.
    #[test]
    fn what_is_acknowledged_on_the_way_arrives_or_the_connection_fails(case in case()) {
        let run = run(&case.text(), case.seed);
        let of = |name: &str| run.flow(0, name).unwrap_or_else(|| panic!("no column {name}"));
        let delivered = of("delivered_bytes_total") as u64;
        let (bytes, has_failed) = (u64::from(case.bytes), of("failed") > 0.0);
        prop_assert!(delivered <= bytes);
        if case.has_way() {
            prop_assert!(!has_failed, "{}", case.text());
        }
        if !has_failed {
            prop_assert_eq!(delivered, bytes, "{}", case.text());
            prop_assert_eq!(of("acked_undelivered_bytes"), 0.0);
            let back = if case.two_way { bytes } else { 0 };
            prop_assert_eq!(of("reverse_delivered_bytes_total") as u64, back);
            prop_assert_eq!(of("reverse_acked_undelivered_bytes"), 0.0);
        }
    }
}
