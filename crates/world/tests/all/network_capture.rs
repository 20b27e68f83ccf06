//! Captures of wires and of an infrastructure cell, read by tshark: every packet is sound, frames say between whom and
//! through whom they go, and of a TCP stream seen at its sender's wire tshark finds what our TCP says of itself.
//!
//! Without tshark the tests print that they were skipped; with `INTERLAYER_REQUIRE_TSHARK=1` they fail.

use crate::tshark::{Captured, DATA, Frame, capture, mac_of, tshark_is_here};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use testkit::tshark::{Folder, sources};

const SERVER: usize = 0;
const ROUTER: usize = 1;
const AP: usize = 2;
const MOBILE: usize = 3;
const OTHER: usize = 4;

/// A server behind a router, an access point, two stations; TCP down and up, UDP from station to station.
fn scenario(radio: &str, errors: &str, wire: &str, tcp: &str, scheme: &str) -> String {
    format!(
        r#"
[scenario]
duration = "40 s"
[radio]
{radio}
queue = {{ packets = 300 }}
[channel]
errors = {errors}
[[node]]
name = "server"
[[node]]
name = "router"
radio = false
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "mobile"
[[node]]
name = "other"
[[link]]
name = "backbone"
between = ["server", "router"]
rate = "100 Mb/s"
delay = "1 ms"
[[link]]
name = "access"
between = ["router", "ap"]
rate = "20 Mb/s"
delay = "3 ms"
{wire}
[[flow]]
from = "server"
to = "mobile"
traffic = {{ model = "bulk", bytes = "120 kB" }}
transport = {{ protocol = "tcp", preset = "rfc", {tcp} }}
[[flow]]
from = "other"
to = "server"
start = "100 ms"
traffic = {{ model = "bulk", bytes = "60 kB" }}
transport = {{ protocol = "tcp", preset = "rfc", {tcp} }}
[[flow]]
from = "mobile"
to = "other"
stop = "1 s"
transport = {{ protocol = "udp", datagram = "777 B" }}
traffic = {{ model = "poisson", rate = "200 kb/s" }}
{scheme}
"#
    )
}

const NO_ERRORS: &str = "{ model = \"none\" }";
const ATTEMPTS: &str = "{ model = \"packet\", per = 0.1, control_per = 0.05 }";
const MSDUS: &str = "{ model = \"packet\", per = 0.03, at = \"msdu\" }";
const LOSSY: &str = "loss = 0.03";
const ECN: &str =
    "queue = { discipline = \"red\", packets = 100, min_th = 0, max_th = 5, max_p = 0.5, weight = 0.5, ecn = true }";

fn is_wired(frame: &Frame) -> bool {
    ["backbone", "access"].contains(&frame.text("frame.interface_name"))
}

/// Of values one behind the other the first: ICMP quotes a second IP header.
fn outer(values: &str) -> &str {
    values.split(',').next().unwrap()
}

/// The node of an address such as 10.1.0.3.
fn node_of(ip: &str) -> usize {
    ip.rsplit('.').next().unwrap().parse::<usize>().unwrap() - 1
}

/// tshark has nothing to say against any packet of any capture.
fn is_sound(captured: &Captured) {
    for (node, frames) in captured.frames.iter().enumerate() {
        for (i, frame) in frames.iter().enumerate() {
            let at = || format!("node {node}, frame {}: {frame:?}", i + 1);
            assert_eq!(frame.text("_ws.malformed"), "", "{}", at());
            assert_eq!(frame.text("wlan.fcs.status"), if is_wired(frame) { "" } else { "1" }, "{}", at());
            for status in ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "icmp.checksum.status"]
            {
                // 1 is good. A quoted segment has no checksum tshark could work out, and none that is wrong.
                let good = ["", "1", "1,1"].contains(&frame.text(status));
                let is_quoted = !frame.text("icmp.type").is_empty() && status == "tcp.checksum.status";
                assert!(good || is_quoted && frame.text(status) == "2", "{status}: {}", at());
            }
            // Expert severity 8388608 is an error.
            assert!(!frame.text("_ws.expert.severity").split(',').any(|s| s == "8388608"), "{}", at());
        }
    }
}

/// Every frame with a packet goes to the access point or comes from it, and says who sent the packet and whom it is for.
fn is_infrastructure(captured: &Captured) {
    let mut seen = [0, 0];
    for (node, frames) in captured.frames.iter().enumerate() {
        for frame in frames.iter().filter(|frame| frame.is(DATA) && !frame.text("ip.src").is_empty()) {
            let is_up = frame.to(AP);
            seen[usize::from(is_up)] += 1;
            // ICMP quotes a second IP header, listed behind the first.
            let [src, dst] = ["ip.src", "ip.dst"].map(|field| node_of(frame.text(field).split(',').next().unwrap()));
            // To DS is bit 0, From DS bit 1. @80211-2020 table 9-30
            assert_eq!(frame.text("wlan.fc.ds"), if is_up { "1" } else { "2" }, "node {node}: {frame:?}");
            assert!(is_up != frame.from(AP), "{frame:?}");
            let [sa, da, bssid] = ["wlan.sa", "wlan.da", "wlan.bssid"].map(|field| frame.text(field));
            assert_eq!((sa, da, bssid), (&*mac_of(src), &*mac_of(dst), &*mac_of(AP)), "{frame:?}");
            // The station sent it itself; the access point forwards it, and what is from the server the router did before.
            let hops = match (is_up, src == SERVER) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 1,
            };
            if frame.text("icmp.type").is_empty() {
                assert_eq!(frame.number("ip.ttl"), Some(64 - hops), "{frame:?}");
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

/// Packets in the capture of a node on one of its links, on their way to the server or away from it.
fn on_link(captured: &Captured, node: usize, link: &str, is_up: bool, is_it: impl Fn(&Frame) -> bool) -> u64 {
    captured.count(node, |frame| {
        frame.text("frame.interface_name") == link
            && is_up == (node_of(outer(frame.text("ip.dst"))) == SERVER)
            && is_it(frame)
    })
}

fn queue(captured: &Captured, id: &str, name: &str) -> u64 {
    let is_it = |row: &&world::Row| row[0] == ("id", world::Cell::Text(id.to_owned()));
    world::Run::number(captured.run.queues.iter().find(is_it).unwrap(), name).unwrap() as u64
}

/// The packets on wires and on the air are those that the results count: what was put on a wire and neither dropped nor lost came out.
fn counts_agree(captured: &Captured) {
    for (id, link, from, to) in [
        ("server->router", "backbone", SERVER, ROUTER),
        ("router->server", "backbone", ROUTER, SERVER),
        ("router->ap", "access", ROUTER, AP),
        ("ap->router", "access", AP, ROUTER),
    ] {
        let is_up = to < from;
        let [put, got] = [from, to].map(|node| on_link(captured, node, link, is_up, |_| true));
        assert!(put > 20, "{id}: {put}");
        assert_eq!(put, queue(captured, id, "offered_packets"), "{id}");
        assert_eq!(got, put - queue(captured, id, "dropped_packets") - queue(captured, id, "lost_packets"), "{id}");
    }
    for node in [AP, MOBILE, OTHER] {
        let sent = captured.count(node, |frame| frame.is(DATA) && frame.from(node));
        assert_eq!(sent, captured.node(node, "data_frames_sent"), "node {node}");
        let heard = captured.count(node, |frame| frame.is(DATA) && frame.to(node) && !frame.from(node));
        assert_eq!(heard, captured.node(node, "msdus_received") + captured.node(node, "duplicates"), "node {node}");
    }
}

/// The segments that tshark takes for retransmissions at the sender of a flow are those that TCP says it sent again.
fn retransmissions_agree(captured: &Captured, flow: usize, sender: usize) -> u64 {
    let port = (49_152 + flow).to_string();
    let again = |frame: &&Frame| {
        frame.is_tcp_retransmission() || !frame.text("tcp.analysis.spurious_retransmission").is_empty()
    };
    let own = captured.frames[sender].iter().filter(|frame| frame.text("tcp.srcport") == port);
    let found: Vec<&Frame> = own.filter(again).collect();
    assert_eq!(found.len() as u64, captured.flow(flow, "retransmissions_total"), "flow {flow}: {found:#?}");
    found.len() as u64
}

/// A run whose captures are what they should be. Returns how often each of the two senders of TCP sent again.
fn sound(radio: &str, errors: &str, wire: &str, tcp: &str, scheme: &str) -> (Captured, [u64; 2]) {
    let captured = capture(&scenario(radio, errors, wire, tcp, scheme));
    is_sound(&captured);
    is_infrastructure(&captured);
    counts_agree(&captured);
    assert_eq!([0, 1].map(|flow| captured.flow(flow, "delivered_bytes_total")), [120_000, 60_000]);
    let again = [(0, SERVER), (1, OTHER)].map(|(flow, sender)| retransmissions_agree(&captured, flow, sender));
    (captured, again)
}

#[test]
fn a_cell_behind_wires_is_captured_as_an_infrastructure_bss() {
    if !tshark_is_here() {
        return;
    }
    let tcp = "timestamps = true, sack = true";
    let (captured, again) = sound("standard = \"802.11b\"", ATTEMPTS, "", tcp, "");
    assert!(captured.node(AP, "data_frames_retried") > 10);
    assert_eq!(again, [0, 0], "the MAC repairs all");
}

#[test]
fn what_wires_and_air_lose_tshark_finds_sent_again_at_its_senders() {
    if !tshark_is_here() {
        return;
    }
    let radio = "standard = \"802.11g\"\nrts_threshold = \"500 B\"";
    let (captured, again) = sound(radio, MSDUS, LOSSY, "window_scale = 3", "");
    assert!(again.iter().all(|n| *n >= 2), "{again:?} show little");
    assert!(queue(&captured, "router->ap", "lost_packets") + queue(&captured, "ap->router", "lost_packets") > 2);
}

#[test]
fn a_mark_of_a_wires_queue_arrives_in_the_header() {
    if !tshark_is_here() {
        return;
    }
    let (captured, _) = sound("standard = \"802.11a\"", NO_ERRORS, ECN, "ecn = true", "");
    for (id, node, is_up) in [("router->ap", AP, false), ("ap->router", ROUTER, true)] {
        let marked = queue(&captured, id, "marked_packets");
        // CE is 3. @RFC3168 sec. 5
        let is_marked = |frame: &Frame| outer(frame.text("ip.dsfield.ecn")) == "3";
        assert_eq!(on_link(&captured, node, "access", is_up, is_marked), marked, "{id}");
        println!("{id}: {marked}");
        assert!(is_up || marked >= 4, "{id}: {marked}");
    }
}

#[test]
fn a_loss_notice_is_a_reserved_bit_that_tshark_sees() {
    if !tshark_is_here() {
        return;
    }
    let scheme = "[[scheme]]\nname = \"eln\"";
    let (captured, again) = sound("standard = \"802.11b\"", MSDUS, "", "min_rto = \"200 ms\"", scheme);
    assert!(again[0] > 0);
    // At the server only what the access point has marked.
    let bits = on_link(&captured, SERVER, "backbone", true, |frame| {
        frame.tcp_flags().is_some_and(|flags| flags >> 8 & 0xe != 0)
    });
    assert!(bits > 0);
    let marked = captured.run.scheme("eln", "acks_marked") as u64;
    assert!(bits <= marked, "{bits} of {marked}, which went to the station too");
}

#[test]
fn a_notice_of_a_failed_attempt_is_an_icmp_message_about_a_segment() {
    if !tshark_is_here() {
        return;
    }
    let scheme = "[[scheme]]\nname = \"ebsn\"";
    let (captured, _) = sound("standard = \"802.11b\"", ATTEMPTS, "", "min_rto = \"200 ms\"", scheme);
    let is_notice = |frame: &Frame| frame.text("icmp.type") == "253";
    let notices = on_link(&captured, SERVER, "backbone", true, is_notice);
    assert!(notices > 10, "{notices}");
    assert_eq!(notices, captured.run.scheme("ebsn", "notices") as u64, "all are for the server");
    assert_eq!(captured.count(OTHER, is_notice), 0);
    // The access point is its source, the router alone forwards it.
    let is_one_hop_old = |frame: &Frame| is_notice(frame) && outer(frame.text("ip.ttl")) == "63";
    assert_eq!(on_link(&captured, SERVER, "backbone", true, is_one_hop_old), notices);
}

/// Of a segment that a node forwards both interfaces have a copy. In one file the second would pass for sent again.
#[test]
fn each_interface_has_its_file_in_which_tshark_counts_our_retransmissions_and_finds_the_names_of_nodes() {
    if !tshark_is_here() {
        return;
    }
    let losses = "{ model = \"packet\", per = 0.1, at = \"msdu\" }";
    let text = scenario("standard = \"802.11b\"", losses, "", "min_rto = \"200 ms\"", "");
    let parsed = world::parse(&text, &[]).unwrap();
    let folder = Folder::new();
    let record = world::Record { pcap_dir: Some(folder.0.clone()), ..world::Record::default() };
    let run = world::run(&parsed, 7, &record, &AtomicBool::new(false)).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let (on_the_way, ends) = (
        ["ap.air-7", "ap.wire-7", "router.wire.access-7", "router.wire.backbone-7", "server-7"],
        ["mobile-7", "other-7"],
    );
    let mut expected: Vec<String> = on_the_way.iter().chain(&ends).map(|name| format!("{name}.pcapng")).collect();
    expected.sort();
    assert_eq!(names, expected);

    // The wires lose nothing, so that all that the server sends again has passed every one of these before.
    let again = run.flow(0, "retransmissions_total").unwrap() as usize;
    assert!(again >= 5, "{again}");
    for name in on_the_way {
        let file = folder.0.join(format!("{name}.pcapng"));
        let fields = ["tcp.srcport", "tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
        let frames = testkit::tshark::fields(&file, &fields, &["wlan.retransmitted:FALSE"]);
        let is_it = |frame: &&std::collections::BTreeMap<&str, String>| {
            frame[fields[0]] == "49152" && fields[1..].iter().any(|field| !frame[field].is_empty())
        };
        assert_eq!(frames.iter().filter(is_it).count(), again, "{name}");
    }
    for name in on_the_way.iter().chain(&ends) {
        let file = folder.0.join(format!("{name}.pcapng"));
        let found: BTreeSet<String> = sources(&file).into_iter().collect();
        assert!(found.len() >= 2, "{name}: {found:?}");
        assert!(found.iter().all(|source| ["server", "mobile", "other"].contains(&&**source)), "{name}: {found:?}");
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(wire::pcapng::Capture::read(&bytes).unwrap().interfaces.len(), 1, "{name}");
    }
}
