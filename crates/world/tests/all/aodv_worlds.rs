//! AODV among nodes that move, with MACs and collisions: no loops, ever; and routes that heal.

use crate::aodv_watched::{Graph, registries, take_graph};
use engine::{Purpose, Stream, Streams};
use proptest::prelude::*;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use units::{Dur, SimTime};
use world::{Record, Run, Window};

/// Settings of the router at random, most of them the RFC's; some routes live as long as `life`.
fn routing(name: &str, life: &str, draws: &mut Stream) -> String {
    let mut text = format!("routing = {{ name = \"{name}\"");
    for key in ["hello", "local_repair", "rrep_ack", "destination_only"] {
        if draws.chance(0.25) {
            write!(text, ", {key} = true").unwrap();
        }
    }
    for (share, pair) in [
        (0.5, "gratuitous_rrep = false".to_owned()),
        (0.5, format!("active_route_timeout = \"{life}\"")),
        (0.5, "ttl_start = 7".to_owned()),
    ] {
        if draws.chance(share) {
            write!(text, ", {pair}").unwrap();
        }
    }
    text + " }\n"
}

fn event(text: &mut String, at_ms: u32, what: &str) {
    write!(text, "[[event]]\nat = \"{at_ms} ms\"\n{what}\n").unwrap();
}

/// Two different nodes.
fn pair(draws: &mut Stream, nodes: u32) -> [u32; 2] {
    let one = draws.below(nodes);
    [one, (one + 1 + draws.below(nodes - 1)) % nodes]
}

/// Datagrams from one node to another, at random until `most_ms`.
fn flow(text: &mut String, draws: &mut Stream, nodes: u32, most_ms: u32) {
    let [from, to] = pair(draws, nodes);
    let start = draws.below(most_ms * 2 / 3);
    let stop = start + 1 + draws.below(most_ms / 2);
    // 128 B of payload a datagram: one each 50 to 2000 ms.
    let rate = 128 * 8 * 1000 / (50 + draws.below(1950));
    write!(
        text,
        "[[flow]]\nfrom = \"n{from}\"\nto = \"n{to}\"\nstart = \"{start} ms\"\nstop = \"{stop} ms\"\n\
         transport = {{ protocol = \"udp\", datagram = \"156 B\" }}\ntraffic = {{ model = \"cbr\", rate = \"{rate} b/s\" }}\n"
    )
    .unwrap();
}

/// A minute of four to eleven nodes that move, each in its own way, in frames that are lost, with nodes that begin later or die and begin
/// anew, links that break and heal, and flows that come and go.
fn restless(seed: u64, router: &str) -> String {
    let mut draws = Streams::new(seed).get(Purpose::Layout, 1 << 40);
    let draws = &mut draws;
    let nodes = 4 + draws.below(8);
    let mut text = routing(router, "10 s", draws);
    let loss = ["0.0", "0.1", "0.3", "0.5"][draws.below(4) as usize];
    let sense = ["100 m", "150 m", "220 m"][draws.below(3) as usize];
    write!(
        text,
        "scenario = {{ duration = \"60 s\" }}\nradio = {{ standard = \"802.11b\" }}\n\
         channel = {{ range = \"100 m\", sense_range = \"{sense}\", errors = {{ model = \"packet\", per = {loss} }} }}\n"
    )
    .unwrap();
    let side = 150 + draws.below(200);
    let fastest = 5 + draws.below(35);
    for node in 0..nodes {
        let area = format!(
            "width = \"{side} m\", height = \"{side} m\", min_speed = \"1 m/s\", max_speed = \"{fastest} m/s\""
        );
        let mobility = match draws.below(3) {
            0 => format!("model = \"walk\", {area}, time = \"4 s\""),
            1 => format!("model = \"waypoint\", {area}, pause_max = \"5 s\""),
            _ => format!("model = \"waypoint\", {area}"),
        };
        write!(text, "[[node]]\nname = \"n{node}\"\nmobility = {{ {mobility} }}\n").unwrap();
        if draws.chance(0.3) {
            event(&mut text, 0, &format!("kill = \"n{node}\""));
            event(&mut text, 1 + draws.below(5000), &format!("restart = \"n{node}\""));
        }
    }
    for _ in 0..draws.below(3) {
        let (node, dies) = (draws.below(nodes), 6000 + draws.below(40_000));
        event(&mut text, dies, &format!("kill = \"n{node}\""));
        event(&mut text, dies + 1 + draws.below(5000), &format!("restart = \"n{node}\""));
    }
    for _ in 0..draws.below(30) {
        let ([a, b], breaks) = (pair(draws, nodes), draws.below(50_000));
        event(&mut text, breaks, &format!("break = [\"n{a}\", \"n{b}\"]"));
        event(&mut text, breaks + 1 + draws.below(9000), &format!("heal = [\"n{a}\", \"n{b}\"]"));
    }
    for _ in 0..4 + draws.below(12) {
        flow(&mut text, draws, nodes, 60_000);
    }
    text
}

fn run(text: &str, seed: u64, record: &Record) -> (Run, Graph) {
    let blueprint = world::parse_with(text, &[], registries()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    take_graph();
    let run = world::run(&blueprint, seed, record, &AtomicBool::new(false));
    (run.unwrap_or_else(|error| panic!("{error}\n{text}")), take_graph())
}

/// The beginning of the part of a healing run in which nobody moves.
const ARRIVED_MS: u32 = 40_000;

/// Three to eight nodes that cross each other for 40 s and end as a string, whose first then sends to its last: 20 m short of the
/// reach apart, so that a path stands from then on at the latest. No frame is lost to noise and no node dies. All sense all. Routes live
/// for 3 s at most: with the D flag a relay's old route ends a reply of the same number (6.7), for MY_ROUTE_TIMEOUT, twice that time.
fn gathers(seed: u64, end_ms: u32) -> String {
    let mut draws = Streams::new(seed).get(Purpose::Layout, 1 << 40);
    let draws = &mut draws;
    let nodes = 3 + draws.below(6);
    let mut text = routing("watched", "2500 ms", draws);
    write!(
        text,
        "scenario = {{ duration = \"{end_ms} ms\" }}\nradio = {{ standard = \"802.11b\" }}\n\
         channel = {{ range = \"100 m\", sense_range = \"10 km\" }}\n"
    )
    .unwrap();
    for node in 0..nodes {
        let mut point = || [f64::from(draws.below(300)), f64::from(draws.below(300)) - 150.0];
        let mut points: Vec<[f64; 2]> = (0..4).map(|_| point()).collect();
        points.push([f64::from(node) * 80.0, 0.0]);
        let length: f64 = points.windows(2).map(|leg| (leg[0][0] - leg[1][0]).hypot(leg[0][1] - leg[1][1])).sum();
        // A little faster than would bring it there at the last moment.
        let speed = length / (f64::from(ARRIVED_MS) / 1000.0 - 1.0);
        write!(
            text,
            "[[node]]\nname = \"n{node}\"\nposition = {:?}\nmobility = {{ model = \"line\", through = {:?}, speed = \"{speed} m/s\" }}\n",
            points[0],
            &points[1..]
        )
        .unwrap();
    }
    for _ in 0..draws.below(4) {
        flow(&mut text, draws, nodes, ARRIVED_MS);
    }
    write!(
        text,
        "[[flow]]\nname = \"late\"\nfrom = \"n0\"\nto = \"n{}\"\nstart = \"{ARRIVED_MS} ms\"\n\
         transport = {{ protocol = \"udp\", datagram = \"156 B\" }}\ntraffic = {{ model = \"cbr\", rate = \"10240 b/s\" }}\n",
        nodes - 1
    )
    .unwrap();
    text
}

fn at(ms: u32) -> SimTime {
    SimTime::ZERO + Dur::from_ms(u64::from(ms))
}

proptest! {
    // `make validate` has 10 000 cases: PROPTEST_CASES.
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn aodv_worlds_form_no_loop_at_any_event(seed: u64) {
        let (_, graph) = run(&restless(seed, "watched"), seed, &Record::default());
        prop_assert_eq!(graph.found, None);
    }

    #[test]
    fn a_route_heals_in_a_world_once_a_path_stands_while_its_source_keeps_offering(seed: u64) {
        // 1.92 s of rings in vain and 4 * NET_TRAVERSAL_TIME; up to 100 ms to the next packet; 7 hops of 10 ms of jitter for a
        // request, and 21 frames, of which each waits for at most 31 slots of 20 us, and for others that have as much to send.
        let end_ms = ARRIVED_MS + 13_200 + 100 + 7 * 10 + 21 * 5;
        let window = Window { from: at(ARRIVED_MS), until: at(end_ms) };
        let record = Record { timeline: Some(window), ..Record::default() };
        let (run, graph) = run(&gathers(seed, end_ms), seed, &record);
        prop_assert_eq!(graph.found, None);
        let late = run.flows.len() - 1;
        let arrived = run.flow(late, "delivered_packets").unwrap() >= 1.0;
        // Two that draw the same slot lose their frames, which the bound does not reckon with.
        let frames = run.timeline.as_ref().unwrap();
        prop_assert_eq!(frames.missed, 0);
        let overlaps = frames.transmissions.windows(2).any(|two| two[1].start < two[0].end());
        prop_assume!(arrived || !overlaps);
        prop_assert!(arrived, "nothing arrived");
    }
}

#[test]
fn aodv_worlds_without_sequence_numbers_do_form_loops() {
    let graph = |seed: &u64| run(&restless(*seed, "numberless"), *seed, &Record::default()).1;
    let loops = (0..20).filter(|seed| graph(seed).found.is_some()).count();
    assert!(loops > 0, "no loop is found where there must be some");
}

#[test]
fn a_watched_router_has_every_bit_of_one_that_is_not() {
    let record = Record { fingerprint: true, ..Record::default() };
    for seed in 0..5 {
        let (watched, graph) = run(&restless(seed, "watched"), seed, &record);
        let (bare, nothing) = run(&restless(seed, "aodv"), seed, &record);
        assert_eq!((watched.fingerprint, watched.events), (bare.fingerprint, bare.events));
        assert!(graph.followed > 0 && nothing.followed == 0, "{}", graph.followed);
    }
}
