//! Networks worked by hand: when a datagram is where, by serialisation, delay, interframe spaces and airtime; how many hops
//! it has left; what dies with a node; what queues count. Instants are read off the captures, which are exact to the
//! nanosecond.

pub(crate) mod seen;

use crate::cells::run;
use seen::{Seen, watched};
use std::fmt::Write;
use world::{Row, Run};

/// One server, one access point and two stations without links and flows. Without backoff nothing is random.
const CELL: &str = r#"
[radio]
standard = "802.11b"
basic_rate = "1 Mb/s"
cw_min = 0
cw_max = 0
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "one"
[[node]]
name = "other"
"#;

/// At 8 Mb/s a byte takes a microsecond.
const WIRE: &str = "[[link]]\nbetween = [\"server\", \"ap\"]\nrate = \"8 Mb/s\"\ndelay = \"2 ms\"\n";

/// A datagram of 1000 B and headers of 28 B, once: the next would follow after a second.
fn one_datagram(from: &str, to: &str, start_us: u64) -> String {
    format!(
        "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"{start_us} us\"\ntransport = {{ protocol = \"udp\", datagram = \"1028 B\" }}\ntraffic = {{ model = \"cbr\", rate = \"8 kb/s\" }}\n"
    )
}

/// One every ten milliseconds, from the start on.
fn a_hundred_a_second(from: &str, to: &str) -> String {
    one_datagram(from, to, 0).replace("8 kb/s", "800 kb/s")
}

fn lasting(duration: &str, rest: &str) -> String {
    format!("[scenario]\nduration = \"{duration}\"\n{rest}")
}

fn refusal(text: &str) -> String {
    world::parse(text, &[]).map(|_| ()).expect_err(text).to_string()
}

fn named<'r>(rows: &'r [Row], id: &str) -> &'r Row {
    let is_it = |row: &&Row| row.iter().any(|(n, c)| *n == "id" && *c == world::Cell::Text(id.to_owned()));
    rows.iter().find(is_it).unwrap_or_else(|| panic!("no row {id}"))
}

fn count(row: &Row, name: &str) -> u64 {
    Run::number(row, name).unwrap_or_else(|| panic!("no column {name}")) as u64
}

/// The times at which data was at a node, in nanoseconds: departures onto a wire; by radio, ends of frames received or sent.
fn instants(seen: &[Seen]) -> Vec<u64> {
    seen.iter().map(|seen| seen.at.ns()).collect()
}

fn ttls(seen: &[Seen]) -> Vec<u8> {
    seen.iter().map(|seen| seen.packet.ip.ttl).collect()
}

#[test]
fn a_datagram_passes_a_wire_and_the_air_in_the_time_worked_out_by_hand() {
    let text = lasting("500 ms", &format!("{CELL}{WIRE}{}", one_datagram("server", "one", 10_000)));
    let watched = watched(&text);
    // 1028 B at 8 Mb/s take 1028 µs, the delay 2 ms. The medium has been idle for longer than a DIFS: it is sent at once,
    // 192 µs of preamble and header, 24 + 8 + 1028 + 4 = 1064 B at 11 Mb/s in 773.8, rounded up to 774 µs.
    assert_eq!(instants(&watched["server"]), [10_000_000]);
    assert_eq!(instants(&watched["ap"]), [13_028_000, 13_028_000 + 966_000]);
    assert_eq!(instants(&watched["one"]), [13_994_000]);
    assert!(watched["other"].is_empty(), "it overheard it");
}

#[test]
fn the_next_datagram_waits_for_the_answer_and_a_difs() {
    let both = one_datagram("server", "one", 0) + &one_datagram("server", "other", 0);
    let watched = watched(&lasting("500 ms", &format!("{CELL}{WIRE}{both}")));
    // On the wire one behind the other: they arrive at 3.028 and 4.056 ms. The first frame ends at 3.994; after SIFS its
    // ACK, 14 B at 1 Mb/s behind 192 µs, ends at 3.994 + 0.010 + 0.304 = 4.308. The second was queued meanwhile and is
    // sent a DIFS of 50 µs later, since there is no slot to draw: it ends at 4.308 + 0.050 + 0.966 = 5.324.
    assert_eq!(instants(&watched["server"]), [0, 0]);
    assert_eq!(instants(&watched["one"]), [3_994_000]);
    assert_eq!(instants(&watched["other"]), [5_324_000]);
}

#[test]
fn between_two_stations_a_datagram_crosses_the_air_twice() {
    let watched = watched(&lasting("500 ms", &format!("{CELL}{WIRE}{}", one_datagram("one", "other", 1_000))));
    // The first frame ends at 1 + 0.966 ms, its ACK 0.314 later. In the gap the access point found the medium idle, but the
    // DIFS was not over when its own ACK began: it draws, of one slot, and sends a DIFS after the ACK.
    let [first, second] = [1_966_000, 1_966_000 + 314_000 + 50_000 + 966_000];
    assert_eq!(instants(&watched["one"]), [first]);
    assert_eq!(instants(&watched["ap"]), [first, second]);
    assert_eq!(instants(&watched["other"]), [second]);
    assert!(watched["server"].is_empty());
    let [up, down] = [0, 1].map(|i| watched["ap"][i].air.unwrap());
    let [ap, one, other] = [1, 2, 3].map(|node| wire::dot11::MacAddr::of_node(units::NodeId(node)));
    assert_eq!((up.bssid(), up.sa(), up.da()), (ap, one, other));
    assert_eq!((down.bssid(), down.sa(), down.da()), (ap, one, other));
    assert_eq!((up.addr1, up.addr2, down.addr1, down.addr2), (ap, one, other, ap));
    assert_eq!(ttls(&watched["ap"]), [64, 63]);
}

#[test]
fn each_forwarding_node_takes_a_hop_off() {
    let text = format!(
        "{}[[node]]\nname = \"router\"\n{}{}",
        CELL,
        "[[link]]\nfrom = \"server\"\nto = \"router\"\nrate = \"10 Mb/s\"\ndelay = \"1 ms\"\n\
         [[link]]\nfrom = \"router\"\nto = \"ap\"\nrate = \"2 Mb/s\"\ndelay = \"500 us\"\n\
         [[link]]\nbetween = [\"ap\", \"server\"]\nrate = \"8 Mb/s\"\ndelay = \"3 ms\"\n",
        one_datagram("server", "one", 0) + &one_datagram("one", "server", 100_000)
    );
    // The direct wire is nearer than the two: only what it does not lead to takes them.
    let direct = watched(&lasting("300 ms", &text));
    assert!(direct["router"].is_empty());
    assert_eq!(ttls(&direct["one"]), [63, 64]);
    assert_eq!(ttls(&direct["server"]), [64, 63]);
    // Without its way there, out over the router and back directly.
    let detour = text.replace("between = [\"ap\", \"server\"]", "from = \"ap\"\nto = \"server\"");
    let detour = watched(&lasting("300 ms", &detour));
    // 1028 B at 10 Mb/s are 822.4 µs, at 2 Mb/s 4112 µs; the frame takes 966 µs.
    let [at_router, at_ap] = [1_822_400, 1_822_400 + 4_112_000 + 500_000];
    assert_eq!(instants(&detour["router"]), [at_router, at_router]);
    // The router got it whole with 64 and sent it with 63, the access point with 62.
    assert_eq!(ttls(&detour["router"]), [64, 63]);
    assert_eq!((instants(&detour["one"])[0], ttls(&detour["one"])), (at_ap + 966_000, vec![62, 64]));
    // Back: a frame from 100 ms on, then 1028 µs and 3 ms.
    assert_eq!(instants(&detour["server"]), [0, 100_000_000 + 966_000 + 1_028_000 + 3_000_000]);
    assert_eq!(ttls(&detour["server"]), [64, 63]);
}

/// Nodes on a string of wires, a datagram from the first to the last.
fn string(nodes: usize) -> String {
    let mut text = one_datagram("n0", &format!("n{}", nodes - 1), 0);
    for i in 0..nodes {
        _ = writeln!(text, "[[node]]\nname = \"n{i}\"\nradio = false");
    }
    for i in 1..nodes {
        _ = writeln!(text, "[[link]]\nbetween = [\"n{}\", \"n{i}\"]\nrate = \"8 Mb/s\"", i - 1);
    }
    lasting("500 ms", &text)
}

#[test]
fn a_datagram_lives_for_sixty_three_forwarders_and_no_longer() {
    let watched = watched(&string(65));
    assert_eq!(ttls(&watched["n64"]), [1]);
    // 64 wires of 1028 µs each, without delay.
    assert_eq!(instants(&watched["n64"]), [64 * 1_028_000]);
    let run = run(&string(66), 1);
    assert_eq!(run.flow(0, "delivered_packets"), Some(0.0));
    assert_eq!(count(named(&run.queues, "n63->n64"), "offered_packets"), 1);
    assert_eq!(count(named(&run.queues, "n64->n65"), "offered_packets"), 0, "the 64th forwarder ends it");
    assert_eq!((run.books.made, run.books.live), (1, 0));
}

#[test]
fn the_two_directions_of_a_link_may_differ() {
    let wires = "[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mb/s\"\ndelay = \"2 ms\"\n\
                 [[link]]\nfrom = \"b\"\nto = \"a\"\nrate = \"1 Mb/s\"\ndelay = \"7 ms\"\n";
    let flows = one_datagram("a", "b", 0) + &one_datagram("b", "a", 0);
    let nodes = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";
    let watched = watched(&lasting("500 ms", &format!("{nodes}{wires}{flows}")));
    // 1028 µs and 2 ms there; 8224 µs and 7 ms back.
    assert_eq!(instants(&watched["b"]), [0, 3_028_000]);
    assert_eq!(instants(&watched["a"]), [0, 15_224_000]);
}

#[test]
fn tcp_needs_no_radio_and_a_lone_transfer_takes_its_round_trips() {
    let text = lasting(
        "10 s",
        r#"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "8 Mb/s"
delay = "2 ms"
[[flow]]
from = "a"
to = "b"
transport = { preset = "rfc" }
traffic = { model = "bulk", bytes = "2920 B" }
"#,
    );
    let run = run(&text, 1);
    // SYN and SYN-ACK with the MSS option, 44 B each, take 44 µs and 2 ms a way. Then both segments of the initial window,
    // the first with the ACK of the handshake: 2 · 2.044 + 2 · 1.500 + 2 ms.
    assert_eq!(run.flow(0, "finish_time_s"), Some(0.009_088));
    assert_eq!(run.exchanges, 0);
    assert!(run.nodes.iter().all(|row| Run::number(row, "msdus_offered").is_none()), "no radio, no MSDUs");
    assert_eq!(run.queues.len(), 2);
}

#[test]
fn who_is_out_of_reach_of_the_access_point_has_no_way() {
    let text = lasting("1 s", &format!("{CELL}{WIRE}{}", one_datagram("server", "one", 0)));
    let deaf =
        |from: &str, to: &str| format!("{text}[[channel.pair]]\nfrom = \"{from}\"\nto = \"{to}\"\nreach = false\n");
    // Both must hear each other.
    for text in [deaf("ap", "one"), deaf("one", "ap")] {
        assert_eq!(refusal(&text), "flow[0]: no way leads from \"server\" to \"one\"");
    }
    let other = text.replace("to = \"one\"", "to = \"other\"");
    assert!(world::parse(&other, &[]).is_ok());
    // Two stations that hear each other and no access point do not talk: their cell is its.
    let stations = deaf("ap", "one").replace("from = \"server\"", "from = \"other\"");
    assert_eq!(refusal(&stations), "flow[0]: no way leads from \"other\" to \"one\"");
    // A wire of one direction leads one way.
    let one_way = text.replace("between = [\"server\", \"ap\"]", "from = \"ap\"\nto = \"server\"");
    assert_eq!(refusal(&one_way), "flow[0]: no way leads from \"server\" to \"one\"");
}

#[test]
fn nothing_keeps_the_queue_of_a_wire_full() {
    let text = lasting("1 s", &format!("{CELL}{WIRE}{}", one_datagram("server", "one", 0)));
    let saturated = text.replace("model = \"cbr\", rate = \"8 kb/s\"", "model = \"saturated\"");
    for from in ["server", "ap"] {
        let text = saturated.replace("from = \"server\"", &format!("from = \"{from}\""));
        let text = if from == "ap" { text.replace("to = \"one\"", "to = \"server\"") } else { text };
        assert_eq!(
            refusal(&text),
            format!(
                "flow[0].traffic.model: \"saturated\" keeps the queue of a radio full, and the way from \"{from}\" begins with a wire"
            )
        );
    }
    let upward = saturated.replace("from = \"server\"\nto = \"one\"", "from = \"one\"\nto = \"server\"");
    assert!(run(&upward, 1).flow(0, "delivered_packets").unwrap() > 500.0);
}

#[test]
fn a_saturated_source_is_not_silenced_by_a_queue_that_remembers_others() {
    let flow = |traffic: &str| one_datagram("one", "other", 0).replace("model = \"cbr\", rate = \"8 kb/s\"", traffic);
    let burst = flow("model = \"poisson\", rate = \"50 Mb/s\"").replace("start =", "stop = \"5 s\"\nstart =");
    let red =
        "queue = { discipline = \"red\", packets = 200, min_th = 5, max_th = 15, weight = 0.0005, gentle = false }";
    let text = format!(
        "[radio]\nstandard = \"802.11b\"\n{red}\n[[node]]\nname = \"one\"\n[[node]]\nname = \"other\"\n{burst}{}",
        flow("model = \"saturated\"")
    );
    // When the burst ends the queue runs empty with an average above its upper threshold, and all is dropped until that has
    // faded. Then the medium is the saturated source's alone: a frame of 0.966 ms, 10 µs, the ACK at 2 Mb/s of 0.248, a DIFS
    // of 50 µs and 15.5 slots of 20 µs on average make 1.584 ms; 14 s of them, less one in twenty for what came before.
    let delivered = run(&lasting("20 s", &text), 1).flow(1, "delivered_packets").unwrap();
    assert!(delivered > 0.95 * 14.0 / 1.584e-3, "{delivered}");
}

#[test]
fn of_two_ways_of_one_length_the_first_in_the_file_is_taken() {
    let nodes: String = ["a", "b", "left", "right"].map(|name| format!("[[node]]\nname = \"{name}\"\n")).concat();
    let link = |a: &str, b: &str| format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"8 Mb/s\"\n");
    let left = link("a", "left") + &link("left", "b");
    let right = link("a", "right") + &link("right", "b");
    for (links, taken, idle) in [(left.clone() + &right, "left", "right"), (right + &left, "right", "left")] {
        let text = format!("{nodes}{links}{}", one_datagram("a", "b", 0));
        let watched = watched(&lasting("500 ms", &text));
        assert_eq!((watched[taken].len(), watched[idle].len()), (2, 0));
    }
}

#[test]
fn a_dead_access_point_delivers_nothing_more() {
    let flows = a_hundred_a_second("server", "one") + &a_hundred_a_second("other", "server");
    let text = lasting("1 s", &format!("{CELL}{WIRE}{flows}[[event]]\nat = \"500 ms\"\nkill = \"ap\"\n"));
    let run = run(&text, 1);
    // Down: sent at 0, 10 … 490 ms, at "one" 3.994 ms later, or one exchange later: 50 before the end. Up: a frame of
    // 0.966 ms, then 3.028 ms of wire: all 50 were on the wire, which carries what is on it.
    for flow in [0, 1] {
        assert_eq!(run.flow(flow, "delivered_packets"), Some(50.0), "flow {flow}");
        assert_eq!(run.flow(flow, "datagrams_sent_total"), Some(100.0), "its source lives");
    }
    assert_eq!(count(named(&run.nodes, "ap"), "is_dead"), 1);
    // The wire to it carries on; what the station sends is given up, but for what it still tries.
    assert_eq!(count(named(&run.queues, "server->ap"), "departed_packets"), 100);
    assert_eq!(count(named(&run.queues, "ap->server"), "offered_packets"), 50);
    let other = named(&run.nodes, "other");
    assert_eq!((count(other, "msdus_delivered"), count(other, "msdus_offered")), (50, 100));
    assert_eq!(count(other, "msdus_given_up") + count(other, "msdus_queued"), 50);
}

#[test]
fn of_a_dead_servers_packets_those_on_the_wire_arrive() {
    let flows: String = (0..5).map(|_| one_datagram("server", "one", 0)).collect();
    let text = lasting("500 ms", &format!("{CELL}{WIRE}{flows}[[event]]\nat = \"2 ms\"\nkill = \"server\"\n"));
    let run = run(&text, 1);
    // 1028 µs each: at 2 ms the first is gone, the second half out, three wait.
    let delivered: f64 = (0..5).map(|flow| run.flow(flow, "delivered_packets").unwrap()).sum();
    assert_eq!(delivered, 2.0);
    let wire = named(&run.queues, "server->ap");
    let names = ["offered_packets", "departed_packets", "dropped_packets"];
    assert_eq!(names.map(|name| count(wire, name)), [5, 2, 0]);
    assert_eq!((run.books.live, run.books.made), (0, 5 + 2), "two were copied by the air");
}

#[test]
fn a_drop_tail_queue_counts_what_it_refuses_and_how_long_the_others_waited() {
    let nodes = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";
    let wire = "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mb/s\"\nqueue = { packets = 3 }\n";
    let flows: String = (0..10).map(|_| one_datagram("a", "b", 0)).collect();
    let run = |duration| run(&lasting(duration, &format!("{nodes}{wire}{flows}")), 1);
    // Of ten at once one goes out, three wait, six are refused.
    let all = run("100 ms");
    let row = named(&all.queues, "a->b");
    let names =
        ["offered_packets", "departed_packets", "dropped_packets", "dropped_early_packets", "max_packets_total"];
    assert_eq!(names.map(|name| count(row, name)), [10, 4, 6, 0, 3]);
    assert_eq!(count(row, "sent_bytes"), 4 * 1028);
    // They wait for none, one, two and three services of 1.028 ms: 6 / 4 on average. Over 100 ms those are 6.168
    // packet·ms.
    assert_eq!(Run::number(row, "mean_wait_s"), Some(0.001_542));
    assert!((Run::number(row, "mean_packets").unwrap() - 0.061_68).abs() < 1e-12);
    // At 2.5 ms two have left, one is on its way out, and one waits.
    let row = run("2500 us");
    let row = named(&row.queues, "a->b");
    assert_eq!(names.map(|name| count(row, name)), [10, 3, 6, 0, 3]);
    assert_eq!(Run::number(row, "mean_wait_s"), Some(0.001_028));
    // (0 + 1.028 + 2.056 of those that left, 2.5 of the one that waits) / 2.5.
    assert!((Run::number(row, "mean_packets").unwrap() - 5.584 / 2.5).abs() < 1e-12);
}

#[test]
fn what_a_wire_loses_is_what_does_not_arrive() {
    let nodes = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";
    let wire = "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"80 Mb/s\"\nloss = 0.1\n";
    let flow = a_hundred_a_second("a", "b").replace("800 kb/s", "8 Mb/s");
    let run = run(&lasting("20 s", &format!("{nodes}{wire}{flow}")), 1);
    let lost = count(named(&run.queues, "a->b"), "lost_packets");
    assert_eq!(run.flow(0, "delivered_packets"), Some(20_000.0 - lost as f64));
    // Binomial: 2000 expected, standard deviation sqrt(20 000 · 0.1 · 0.9) = 42.4; five of them.
    assert!(lost.abs_diff(2000) < 212, "{lost}");
}

/// Student's t, 99.9 % both sides, 7 degrees of freedom.
const T_7: f64 = 5.408;

/// Mean and half width of the interval of eight replications.
fn interval(of: [f64; 8]) -> (f64, f64) {
    let mean = of.iter().sum::<f64>() / 8.0;
    let variance = of.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 7.0;
    (mean, T_7 * (variance / 8.0).sqrt())
}

/// Kleinrock, "Queueing Systems", vol. 1, 1975, eq. 5.61 and Little's law.
#[test]
fn a_wire_under_poisson_arrivals_is_the_m_d_1_queue() {
    let nodes = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";
    // 1028 B at 8.224 Mb/s: a service of one millisecond.
    let wire = "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"8224 kb/s\"\nqueue = { packets = 100000 }\n";
    for (load, kbps) in [(0.5, 4000), (0.8, 6400)] {
        let flow = one_datagram("a", "b", 0)
            .replace("model = \"cbr\", rate = \"8 kb/s\"", &format!("model = \"poisson\", rate = \"{kbps} kb/s\""));
        let text = format!("[scenario]\nduration = \"105 s\"\nwarmup = \"5 s\"\n{nodes}{wire}{flow}");
        let rows: Vec<Row> = (1..=8).map(|seed| named(&run(&text, seed).queues, "a->b").clone()).collect();
        let of = |name: &str| interval(std::array::from_fn(|i| Run::number(&rows[i], name).unwrap()));
        let wait_s = load / (2.0 * (1.0 - load)) * 1e-3;
        let waiting = load * wait_s * 1e3;
        let busy = load * 100.0 * 1028e3;
        for (name, expected) in [("mean_wait_s", wait_s), ("mean_packets", waiting), ("sent_bytes", busy)] {
            let (mean, half_width) = of(name);
            println!("load {load}: {name} {mean} ± {half_width}, in theory {expected}");
            assert!(half_width < 0.1 * expected, "{name}: ± {half_width} shows nothing");
            assert!((mean - expected).abs() < half_width, "{name}: {mean} ± {half_width}, not {expected}");
        }
        assert!(rows.iter().all(|row| count(row, "dropped_packets") == 0));
    }
}
