//! Cells whose routes are sought on demand, and what every router of that kind has in them.

use crate::cells::{parsed, run};
use crate::network::seen::{Folder, Seen, watched};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use testkit::tshark::{captures_of, fields};
use units::NodeId;
use wire::dot11::MacAddr;
use world::{Cell, Record, Registries, Run};

/// The head of a cell whose nodes send at 11 Mb/s and reach 250 m.
pub fn head(seconds: u32, routing: &str) -> String {
    format!(
        "routing = {routing}\n[scenario]\nduration = \"{seconds} s\"\n\
         [radio]\nstandard = \"802.11b\"\ndata_rate = \"11 Mb/s\"\n[channel]\nrange = \"250 m\"\n"
    )
}

/// 1000 B every so many ms from 1 s on.
pub fn cbr(from: &str, to: &str, every_ms: u32) -> String {
    format!(
        "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"1 s\"\n\
         transport = {{ protocol = \"udp\", datagram = \"1028 B\" }}\n\
         traffic = {{ model = \"cbr\", rate = \"{} kb/s\" }}\n",
        8000 / every_ms
    )
}

/// A string of nodes n1, n2, … which hear their neighbours alone; the last of them is the destination of the first.
pub fn string(nodes: usize, seconds: u32, every_ms: u32, routing: &str) -> String {
    let layout =
        format!("[layout]\nmodel = \"line\"\nspacing = \"200 m\"\n[[node]]\nname = \"n\"\ncount = {nodes}\n");
    head(seconds, routing) + &layout + &cbr("n1", &format!("n{nodes}"), every_ms)
}

/// A link breaks, and heals.
fn broken(from: &str, until: &str, ends: [&str; 2]) -> String {
    let event = |at, what| format!("[[event]]\nat = \"{at}\"\n{what} = {ends:?}\n");
    event(from, "break") + &event(until, "heal")
}

/// A counter of all nodes.
pub fn count(run: &Run, name: &str) -> u64 {
    let of = |record| Run::number(record, name).unwrap_or_else(|| panic!("no column {name}")) as u64;
    run.nodes.iter().map(of).sum()
}

/// A column of the frames that carry control packets.
pub fn routing_frames<'r>(run: &'r Run, name: &str) -> f64 {
    let is_it = |row: &&'r world::Row| row.contains(&("class", Cell::Text("routing".to_owned())));
    run.frames.iter().find(is_it).and_then(|row| Run::number(row, name)).unwrap_or(0.0)
}

/// The frames of a node's capture that it sent itself.
pub fn sent(seen: &[Seen], node: u32) -> Vec<&Seen> {
    let own = MacAddr::of_node(NodeId(node));
    seen.iter().filter(|seen| seen.air.as_ref().is_some_and(|header| header.addr2 == own)).collect()
}

/// Times in ms at which packets reach the last of three nodes; the relay between is dead from 2 to 4 s.
pub fn arrives_over_one_that_restarts(seconds: u32, routing: &str, is_it: impl Fn(&Seen) -> bool) -> Vec<u64> {
    let events = "[[event]]\nat = \"2 s\"\nkill = \"n2\"\n[[event]]\nat = \"4 s\"\nrestart = \"n2\"\n";
    let text = string(3, seconds, 100, routing) + events;
    let arrived: Vec<u64> =
        watched(&text)["n3"].iter().filter(|seen| is_it(seen)).map(|seen| seen.at.ns() / 1_000_000).collect();
    assert!(arrived.iter().any(|at| *at < 2000));
    arrived
}

/// Frames of the router in a string with noise and another flow: they are lost to both. Returns those sent, and their airtime in s.
pub fn noisy_frames(routing: &str) -> (f64, f64) {
    let mut text = string(4, 20, 100, routing);
    text = text.replace("range = \"250 m\"", "range = \"250 m\"\nerrors = { model = \"packet\", per = 0.3 }");
    text += "[[flow]]\nfrom = \"n4\"\nto = \"n1\"\ntransport = { protocol = \"udp\", datagram = \"1028 B\" }\n\
             traffic = { model = \"poisson\", rate = \"3 Mb/s\" }\n";
    let run = run(&text, 1);
    // A broadcast has no addressee that could have lost it: losses are those of replies and errors.
    let [sent, noise, collided, airtime] =
        ["sent", "lost_to_noise", "lost_to_collision", "airtime_s"].map(|name| routing_frames(&run, name));
    assert!(sent > 50.0 && noise > 0.0 && collided > 0.0, "{sent} {noise} {collided}");
    (sent, airtime)
}

/// The router `watched` of these registries delivers more than so many of 110 packets over a link that breaks for a second, and as many as
/// the router that it watches.
pub fn finds_its_way_as(routing: &str, registries: Registries, least: f64) {
    let text = string(4, 12, 100, "\"watched\"") + &broken("2 s", "3 s", ["n2", "n3"]);
    let scenario = world::parse_with(&text, &[], registries).unwrap();
    let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
    assert!(run.flow(0, "delivered_packets").unwrap() > least);
    let same = self::run(&text.replace("\"watched\"", routing), 1);
    assert_eq!(same.flow(0, "delivered_packets"), run.flow(0, "delivered_packets"));
}

/// TCP crosses a string.
pub fn carries_tcp(routing: &str) {
    let text = string(4, 10, 100, routing)
        .replace("protocol = \"udp\", datagram = \"1028 B\"", "protocol = \"tcp\"")
        .replace("model = \"cbr\", rate = \"80 kb/s\"", "model = \"bulk\"");
    let run = run(&text, 1);
    // A string of three hops carries about a third of one hop's 5 Mb/s.
    assert!(run.flow(0, "goodput_bps").unwrap() > 5e5, "{:?}", run.flow(0, "goodput_bps"));
}

/// Access points, wires and saturated sources are refused in one line.
pub fn refuses_what_it_cannot_route(routing: &str) {
    let text = string(3, 3, 100, routing);
    let ap = text.clone() + "[[node]]\nname = \"ap\"\nrole = \"ap\"\n";
    let wire = text.clone()
        + "[[node]]\nname = \"far\"\n[[link]]\nname = \"cable\"\nbetween = [\"n1\", \"far\"]\nrate = \"1 Mb/s\"\n\
                              delay = \"1 ms\"\n";
    let saturated = text.replace("model = \"cbr\", rate = \"80 kb/s\"", "model = \"saturated\"");
    for (text, message) in [
        (ap, format!("routing: {routing} is for a network without access points, and \"ap\" is one")),
        (wire, format!("routing: {routing} finds ways by radio, and \"cable\" is a wire")),
        (
            saturated,
            format!(
                "flow[0].traffic.model: \"saturated\" keeps the queue of a radio full, and {routing} may know no way"
            ),
        ),
    ] {
        assert_eq!(world::parse(&text, &[]).unwrap_err().to_string(), message);
    }
}

/// Runs a string of five whose third link breaks and heals, and looks at these fields of all frames that tshark finds in the captures. None
/// is malformed.
pub fn dissected(
    routing: &str,
    names: &[&'static str],
    mut look: impl FnMut(&BTreeMap<&'static str, String>),
) -> Run {
    let text = string(5, 8, 100, routing) + &broken("3 s", "5 s", ["n3", "n4"]);
    let folder = Folder::new();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    let run = world::run(&parsed(&text), 1, &record, &AtomicBool::new(false)).unwrap();
    let names = [&["_ws.malformed"], names].concat();
    for node in 1..=5 {
        for file in captures_of(&folder.0, &format!("n{node}"), 1) {
            for frame in fields(&file, &names, &[]) {
                assert_eq!(frame["_ws.malformed"], "", "{frame:?}");
                look(&frame);
            }
        }
    }
    run
}
