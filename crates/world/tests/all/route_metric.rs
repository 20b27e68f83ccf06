//! Metrics of routes in whole cells: a narrow short way and a wide long one.
//!
//! Three stations of 802.11b hear each other. From s to d frames go at 1 Mb/s, from s to r and from r to d at 11 Mb/s.

use crate::cells::{parsed, run};
use std::sync::atomic::AtomicBool;
use world::{Record, Run};

const C3TCP: &str = "[[scheme]]\nname = \"c3tcp\"\n";

/// `direct` is the rate between s and d, `each` that over r.
fn text(metric: &str, (direct, each): (&str, &str), rest: &str) -> String {
    let rate = |to: &str, rate: &str| format!("\"{to}\" = \"{rate} Mb/s\"");
    format!(
        r#"
{metric}
[scenario]
duration = "20 s"
warmup = "10 s"
[radio]
standard = "802.11b"
basic_rate = "1 Mb/s"
control_rate = "1 Mb/s"
[channel]
range = "100 m"
[[node]]
name = "s"
data_rate_to = {{ {}, {} }}
[[node]]
name = "r"
data_rate_to = {{ {}, {} }}
[[node]]
name = "d"
data_rate_to = {{ {}, {} }}
[[flow]]
from = "s"
to = "d"
{rest}
"#,
        rate("r", each),
        rate("d", direct),
        rate("s", each),
        rate("d", each),
        rate("s", direct),
        rate("r", each),
    )
}

const NARROW_AND_WIDE: (&str, &str) = ("1", "11");

/// Packets that the relay has received.
fn relayed(run: &Run) -> f64 {
    Run::number(&run.nodes[1], "msdus_received").unwrap()
}

fn goodput(run: &Run) -> f64 {
    run.flow(0, "goodput_bps").unwrap()
}

#[test]
fn hop_count_takes_the_narrow_short_way_and_mtm_the_wide_long_one() {
    // A packet of 1500 B: 13154 us at 1 Mb/s against twice 1984 us at 11 (assembly/weights.rs). TCP's ACKs cost more.
    let short = run(&text("", NARROW_AND_WIDE, ""), 1);
    let named = run(&text("route_metric = \"hop-count\"", NARROW_AND_WIDE, ""), 1);
    let wide = run(&text("route_metric = \"mtm\"", NARROW_AND_WIDE, ""), 1);
    assert_eq!((relayed(&short), relayed(&named)), (0.0, 0.0));
    assert_eq!(goodput(&short), goodput(&named));
    assert!(relayed(&wide) > 100.0);
    // One packet in 13154 us is 0.91 Mb/s of payload; two hops of 1984 us carry 2.9 Mb/s, less ACKs in both.
    assert!(goodput(&short) < 0.9e6 && goodput(&wide) > 1.5e6, "{} {}", goodput(&short), goodput(&wide));
}

#[test]
fn where_the_short_way_is_wide_mtm_takes_it() {
    let short = run(&text("route_metric = \"mtm\"", ("11", "1"), ""), 1);
    assert_eq!(relayed(&short), 0.0);
    // 2 Mb/s: 192 + 6144 + 674 = 7010 us; twice 5.5 Mb/s: 192 + 2235 + 674 = 3101 us each.
    let wide = run(&text("route_metric = \"mtm\"", ("2", "5.5"), ""), 1);
    assert!(relayed(&wide) > 100.0);
}

#[test]
fn measured_metrics_come_to_the_wide_way_and_carry_what_mtm_carries() {
    let scheme = |metric: &str, ways| run(&text(metric, ways, C3TCP), 1);
    let short = scheme("", NARROW_AND_WIDE);
    let mtm = scheme("route_metric = \"mtm\"", NARROW_AND_WIDE);
    assert_eq!(relayed(&short), 0.0);
    assert!(goodput(&mtm) > 1.5 * goodput(&short));
    for id in ["measured-delay", "measured-bandwidth"] {
        let found = scheme(&format!("route_metric = \"{id}\""), NARROW_AND_WIDE);
        // They begin on the short way, with a packet at least; from 10 s on all goes as by MTM.
        assert!(goodput(&found) > 0.9 * goodput(&mtm), "{id}: {} of {}", goodput(&found), goodput(&mtm));
        let whole = |text: String| run(&text.replace("warmup = \"10 s\"", "warmup = \"0 s\""), 1);
        let back = whole(text(&format!("route_metric = \"{id}\""), ("11", "1"), C3TCP));
        let direct = whole(text("", ("11", "1"), C3TCP));
        assert!(relayed(&back) > 0.0, "{id}: the long way is tried");
        assert!(goodput(&back) > 0.9 * goodput(&direct), "{id}: {} of {}", goodput(&back), goodput(&direct));
    }
}

#[test]
fn the_letter_of_the_product_takes_the_narrow_way() {
    let short = run(&text("", NARROW_AND_WIDE, C3TCP), 1);
    let letter = run(&text("route_metric = \"bdp\"", NARROW_AND_WIDE, C3TCP), 1);
    assert!(goodput(&letter) < 1.1 * goodput(&short), "{} {}", goodput(&letter), goodput(&short));
}

#[test]
fn what_a_scheme_measures_changes_nothing_where_hops_are_counted() {
    let (unasked, named) = (text("", NARROW_AND_WIDE, C3TCP), text("route_metric = \"mtm\"", ("11", "11"), C3TCP));
    assert_eq!(relayed(&run(&unasked, 1)), 0.0);
    assert_eq!(
        goodput(&run(&text("", ("11", "11"), C3TCP), 1)),
        goodput(&run(&named, 1)),
        "the same way, bit for bit"
    );
}

#[test]
fn a_wire_weighs_its_rate() {
    // Over two wires of 100 Mb/s or one of 1 Mb/s: 12 ms of a packet against 0.24.
    let text = |metric: &str| {
        let link = |a, b, rate| {
            format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"{rate} Mb/s\"\ndelay = \"1 ms\"\n")
        };
        let nodes = "[[node]]\nname = \"s\"\n[[node]]\nname = \"r\"\n[[node]]\nname = \"d\"\n";
        let links = [link("s", "d", 1), link("s", "r", 100), link("r", "d", 100)].concat();
        format!("{metric}\n[scenario]\nduration = \"2 s\"\n{nodes}{links}[[flow]]\nfrom = \"s\"\nto = \"d\"\n")
    };
    assert!(goodput(&run(&text(""), 1)) < 1e6);
    assert!(goodput(&run(&text("route_metric = \"mtm\""), 1)) > 10e6);
}

#[test]
fn mistakes_are_told_in_a_line() {
    let mistake = |text: &str| match world::parse(text, &[]) {
        Err(error) => error.to_string(),
        Ok(blueprint) => {
            let made = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false));
            made.expect_err("a mistake").to_string()
        }
    };
    _ = parsed(&text("", NARROW_AND_WIDE, ""));
    let unknown = mistake(&text("route_metric = \"mtn\"", NARROW_AND_WIDE, ""));
    assert!(unknown.contains("route_metric") && unknown.contains("did you mean \"mtm\"?"), "{unknown}");
    let nobody = mistake(&text("route_metric = \"measured-delay\"", NARROW_AND_WIDE, ""));
    assert!(nobody.starts_with("route_metric: \"measured-delay\" learns from what a scheme measures"), "{nobody}");
    let aodv = mistake(&text("routing = \"aodv\"\nroute_metric = \"mtm\"", NARROW_AND_WIDE, ""));
    assert!(aodv.starts_with("route_metric: \"mtm\" weighs computed routes"), "{aodv}");
}
