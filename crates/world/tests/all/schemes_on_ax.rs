//! All schemes of the registry on a radio that aggregates: what docs/schemes/block-acknowledgment.md says of each is so.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use world::Record;

const PAGE: &str = include_str!("../../../../docs/schemes/block-acknowledgment.md");

/// The keys that keep block acknowledgment away.
const NO_BLOCK_ACK: &str = "block_ack = [] in [radio.aggregation]";

/// The rows of the page: scheme, verdict, why.
fn rows() -> Vec<[&'static str; 3]> {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| cells(line).try_into().unwrap_or_else(|_| panic!("three cells: {line}"))).collect()
}

/// A second of a server, its access point and two stations: TCP both ways, UDP, a tenth of all MPDUs lost.
fn cell(scheme: &str, keys: &str, aggregation: &str) -> String {
    let mut text = format!(
        r#"
[scenario]
duration = "1 s"
[radio]
standard = "802.11ax"
mcs = 7
[radio.aggregation]
{aggregation}
[channel]
propagation = {{ model = "log-distance" }}
errors = {{ model = "packet", per = 0.1, control_per = 0.02 }}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "near"
position = [2, 0]
[[node]]
name = "far"
position = [0, 9]
[[link]]
between = ["server", "ap"]
rate = "1 Gb/s"
delay = "2 ms"
[[scheme]]
name = "{scheme}"
{keys}
"#
    );
    for (from, to) in [("server", "near"), ("near", "server"), ("far", "server"), ("server", "far")] {
        _ = write!(text, "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"tcp\" }}\n");
    }
    text += "[[flow]]\nfrom = \"server\"\nto = \"far\"\ntraffic = { model = \"cbr\", rate = \"2 Mb/s\" }\n";
    text += "transport = { protocol = \"udp\" }\n";
    text
}

/// The second is run; `run` itself fails if a packet is unaccounted for. All flows go on.
fn runs(scheme: &str, keys: &str, aggregation: &str) {
    let blueprint =
        world::parse(&cell(scheme, keys, aggregation), &[]).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false));
    let run = run.unwrap_or_else(|error| panic!("{scheme}: {error}"));
    let goodputs: Vec<f64> = (0..5).filter_map(|flow| run.flow(flow, "goodput_bps")).collect();
    assert!(goodputs.len() == 5 && goodputs.iter().all(|goodput| *goodput > 1e5), "{scheme}: {goodputs:?}");
}

#[test]
fn the_page_has_each_scheme_once() {
    let named: Vec<&str> = rows().iter().map(|[scheme, ..]| scheme.trim_matches('`')).collect();
    assert_eq!(named, schemes::NAMES);
}

#[test]
fn the_list_of_schemes_says_what_the_page_says() {
    for [scheme, verdict, why] in rows() {
        let registry = schemes::registry();
        let refused = schemes::refusal_beside_block_ack(registry.find(scheme.trim_matches('`')).expect(scheme));
        assert_eq!(refused.as_deref(), (verdict == "refused").then_some(why), "{scheme}");
    }
}

#[test]
fn a_scheme_that_works_does_and_one_that_is_refused_says_that_line() {
    for [scheme, verdict, why] in rows() {
        let scheme = scheme.trim_matches('`');
        if verdict == "works" {
            runs(scheme, "", "");
            continue;
        }
        assert_eq!(verdict, "refused", "{scheme}");
        let line = world::parse(&cell(scheme, "", ""), &[]).expect_err(scheme).to_string();
        let at = |node: &str| format!("scheme[0].name: {scheme} at \"{node}\": {why}; write {NO_BLOCK_ACK}");
        assert_eq!(line, at("ap"), "{scheme}");
        runs(scheme, "", "block_ack = []");
    }
}

#[test]
fn other_parameters_and_categories_decide_too() {
    runs("dda", "rounds = 0", "");
    runs("hybrid-arq", "type = \"0\"", "");
    let voice = "block_ack = [\"vo\"]";
    let line = world::parse(&cell("tap", "", voice), &[]).expect_err("tap").to_string();
    assert_eq!(
        line,
        "scheme[0].name: tap at \"ap\": its ACKs share the user priority of another queue, and an agreement numbers what one queue \
         sends; write block_ack = [\"bk\", \"be\", \"vi\"] in [radio.aggregation]"
    );
}

#[test]
fn fragments_are_refused_beside_block_acknowledgment() {
    let fragments = |aggregation| {
        let text =
            cell("ewa", "", aggregation).replace("mcs = 7\n", "mcs = 7\nfragmentation_threshold = \"800 B\"\n");
        world::parse(&text, &[]).map(|_| ()).map_err(|error| error.to_string())
    };
    let line = "radio.fragmentation_threshold: \"ap\" is a station of 802.11ax, and what block acknowledgment is for goes whole; \
                write \"off\", or block_ack = [] in [radio.aggregation]";
    assert_eq!(fragments(""), Err(line.to_owned()));
    assert_eq!(fragments("block_ack = []"), Ok(()));
}
