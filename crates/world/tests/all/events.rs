//! Links that break and heal, nodes that move: what arrives, over whom, and what becomes of the rest, worked by hand.

use crate::cells;
use crate::network::seen::watched;
use plugin::{Info, Params};
use schemes::{Agent, Cx, PeerEvent, Refusal, Site};
use std::sync::atomic::AtomicBool;
use units::NodeId;
use world::{Record, Registries, Row, Run};

fn run(text: &str) -> Run {
    cells::run(text, 1)
}

fn count(row: &Row, name: &str) -> u64 {
    Run::number(row, name).unwrap_or_else(|| panic!("no column {name}")) as u64
}

fn queue<'r>(run: &'r Run, id: &str) -> &'r Row {
    let is_it = |row: &&Row| row.iter().any(|(n, c)| *n == "id" && *c == world::Cell::Text(id.to_owned()));
    run.queues.iter().find(is_it).unwrap_or_else(|| panic!("no row {id}"))
}

fn event(at_us: u64, what: &str) -> String {
    format!("[[event]]\nat = \"{at_us} us\"\n{what}\n")
}

/// A datagram of 1028 B every 10 ms from `from`.
fn flow(from: &str, to: &str) -> String {
    format!(
        "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"udp\", datagram = \"1028 B\" }}\n\
         traffic = {{ model = \"cbr\", rate = \"800 kb/s\" }}\n"
    )
}

const HEAD: &str = "[scenario]\nduration = \"100 ms\"\n";

/// The TTL of each datagram where it arrived, by the time when it was sent, in units of 10 ms: it arrives before the next is sent.
fn hops(text: &str, at: &str) -> Vec<(u64, u8)> {
    let seen = &watched(text)[at];
    seen.iter().map(|seen| (seen.at.ns() / 10_000_000, seen.packet.ip.ttl)).collect()
}

fn sent(all: &[u64], ttl: u8) -> Vec<(u64, u8)> {
    all.iter().map(|at| (*at, ttl)).collect()
}

#[test]
fn what_is_on_a_wire_when_it_breaks_is_lost_and_what_follows_has_no_way_until_it_heals() {
    let nodes = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";
    let wire = "[[link]]\nname = \"only\"\nbetween = [\"a\", \"b\"]\nrate = \"8 Mb/s\"\ndelay = \"2 ms\"\n";
    for (broken, healed) in [("\"only\"", "[\"b\", \"a\"]"), ("[\"a\", \"b\"]", "\"only\"")] {
        // The datagram of 20 ms arrives at 23.028; the break takes it. Those of 30 to 60 ms find no way.
        let events = event(21_000, &format!("break = {broken}")) + &event(65_000, &format!("heal = {healed}"));
        let text = format!("{HEAD}{nodes}{wire}{}{events}", flow("a", "b"));
        assert_eq!(hops(&text, "b"), sent(&[0, 1, 7, 8, 9], 64));
        let run = run(&text);
        assert_eq!(count(queue(&run, "a->b"), "lost_packets"), 1);
        assert_eq!(count(queue(&run, "a->b"), "offered_packets"), 6);
        assert_eq!((run.books.made, run.books.live, run.flow(0, "delivered_packets")), (10, 0, Some(5.0)));
        // Also what waits: at 1 Mb/s a datagram takes 8.2 ms, and three leave at once.
        let burst = flow("a", "b").repeat(3);
        let slow = format!(
            "{HEAD}{nodes}{}{burst}{}",
            wire.replace("8 Mb/s", "1 Mb/s"),
            event(1_000, &format!("break = {broken}"))
        );
        let run = self::run(&slow);
        assert_eq!((count(queue(&run, "a->b"), "lost_packets"), run.books.live), (3, 0));
        assert_eq!(run.books.made, 30);
    }
}

#[test]
fn traffic_takes_another_way_while_a_wire_is_broken() {
    let nodes = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[node]]\nname = \"c\"\n";
    let wire = |a: &str, b: &str| format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"8 Mb/s\"\n");
    let wires = wire("a", "b") + &wire("a", "c") + &wire("c", "b");
    let events = event(25_000, "break = \"link0\"") + &event(55_000, "heal = \"link0\"");
    let text = format!("{HEAD}{nodes}{wires}{}{events}", flow("a", "b"));
    let expected = [sent(&[0, 1, 2], 64), sent(&[3, 4, 5], 63), sent(&[6, 7, 8, 9], 64)].concat();
    assert_eq!(hops(&text, "b"), expected);
    assert_eq!(run(&text).flow(0, "delivered_packets"), Some(10.0));
}

/// Three stations that all hear each other, `channel` permitting.
fn triangle(channel: &str, rest: &str) -> String {
    let nodes: String = [("a", 0), ("b", 100), ("c", 50)]
        .map(|(name, x)| format!("[[node]]\nname = \"{name}\"\nposition = [{x}, 0]\n"))
        .concat();
    format!(
        "{HEAD}[radio]\nstandard = \"802.11b\"\nbasic_rate = \"1 Mb/s\"\n[channel]\n{channel}\n{nodes}{}{rest}",
        flow("a", "b")
    )
}

/// At 100 m 12.9 dB over the noise, enough for 11 Mb/s; at 200 m 5.4 dB, which is not.
const POWERS: &str = "propagation = { model = \"log-distance\", exponent = 2.5 }";

#[test]
fn a_radio_link_breaks_and_heals_as_a_wire_does() {
    let events = event(25_000, "break = [\"b\", \"a\"]") + &event(55_000, "heal = [\"a\", \"b\"]");
    for channel in ["", "range = \"100 m\"", "range = \"100 m\"\nsense_range = \"200 m\"", POWERS] {
        let expected = [sent(&[0, 1, 2], 64), sent(&[3, 4, 5], 63), sent(&[6, 7, 8, 9], 64)].concat();
        assert_eq!(hops(&triangle(channel, &events), "b"), expected, "{channel}");
    }
}

#[test]
fn who_moves_is_reached_over_others_or_not_at_all_and_again_when_it_is_back() {
    // b is at 200 m from a and 150 m from c, out of reach of all, and where it was. The datagrams of 50 and 60 ms are repeated until it is
    // back.
    let moves = |places: [i32; 3]| {
        let at = [25_000, 45_000, 65_000];
        at.iter().zip(places).map(|(at, x)| event(*at, &format!("move = \"b\"\nto = [{x}, 0]"))).collect::<String>()
    };
    let all = [sent(&[0, 1, 2], 64), sent(&[3, 4], 63), sent(&[6, 6, 7, 8, 9], 64)].concat();
    assert_eq!(hops(&triangle("range = \"150 m\"", &moves([200, 10_000, 100])), "b"), all);
    let run = run(&triangle(POWERS, &moves([10_000, 10_000, 100])));
    // Away from 25 to 65 ms: the first in vain is given up or repeated for long, all later ones wait behind it.
    let delivered = run.flow(0, "delivered_packets").unwrap();
    assert!((3.0..=10.0).contains(&delivered), "{delivered}");
    assert!(count(&run.nodes[0], "failures") > 3);
}

#[test]
fn a_relay_that_moves_in_joins_two_that_are_apart() {
    let text = triangle("range = \"60 m\"", &event(45_000, "move = \"c\"\nto = [5000, 0]"));
    // Over c while it stands in the middle. What a sends then is sent in vain.
    assert_eq!(hops(&text, "b"), sent(&[0, 1, 2, 3, 4], 63));
    // It comes: what waits for a hop to b is given up, seven attempts each; then all goes over c.
    let text = text.replace("position = [50, 0]", "position = [5000, 0]").replace("to = [5000, 0]", "to = [50, 0]");
    let seen = hops(&text.replace("duration = \"100 ms\"", "duration = \"1 s\""), "b");
    assert!(seen.len() >= 50 && seen.iter().all(|(at, ttl)| *at >= 4 && *ttl == 63), "{seen:?}");
    assert_eq!(seen.last(), Some(&(99, 63)));
}

#[test]
fn a_frame_in_the_air_ends_where_it_began() {
    // Everything saturated, events all the time, of all kinds: no station is left with a medium that never turns idle.
    for channel in ["range = \"120 m\"", "range = \"120 m\"\nsense_range = \"250 m\"", POWERS] {
        let mut text = triangle(channel, "").replace("100 ms", "3 s");
        text = text.replace("{ model = \"cbr\", rate = \"800 kb/s\" }", "{ model = \"saturated\" }");
        for (from, to) in [("b", "c"), ("c", "a")] {
            text += &flow(from, to).replace("{ model = \"cbr\", rate = \"800 kb/s\" }", "{ model = \"saturated\" }");
        }
        for i in 0..300u64 {
            let at = 3_000 + i * 4_777;
            text += &match i % 4 {
                0 => event(at, "break = [\"a\", \"b\"]"),
                1 => event(at, &format!("move = \"c\"\nto = [{}, 7]", (i * 37) % 400)),
                2 => event(at, "heal = [\"a\", \"b\"]"),
                _ => event(at, "move = \"c\"\nto = [50, 0]"),
            };
        }
        // After the last event, at 1.43 s, all is as it was: each flow carries a third, for 1.5 s.
        text += &event(1_500_000, "move = \"c\"\nto = [50, 0]");
        text += &event(1_500_000, "heal = [\"a\", \"b\"]");
        let text = text.replace("duration = \"3 s\"", "duration = \"3 s\"\nwarmup = \"1600 ms\"");
        let run = run(&text);
        for i in 0..3 {
            let mbps = run.flow(i, "goodput_bps").unwrap() / 1e6;
            assert!(mbps > 1.0, "{channel}: flow {i} has {mbps} Mb/s");
        }
    }
}

/// Counts neighbours that come and go.
#[derive(Debug, Default)]
struct Meets {
    ups: u64,
    downs: u64,
    known: Vec<NodeId>,
}

static MEETS: Info = Info { id: "meets", summary: "counts neighbours", source: "none", params: &[] };

impl Agent for Meets {
    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        match event {
            PeerEvent::Up(_) => {
                assert_eq!(event.announced(MEETS.id), Some(u32::from(b'm')));
                assert!(!self.known.contains(&node), "it is one already");
                self.known.push(node);
                self.ups += 1;
            }
            PeerEvent::Down => {
                assert!(self.known.contains(&node), "it was none");
                self.known.retain(|known| *known != node);
                self.downs += 1;
            }
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("ups", self.ups);
        out("downs", self.downs);
    }
}

fn meets(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    site.announce(u32::from(b'm'));
    site.agent(Meets::default());
    Ok(())
}

#[test]
fn agents_are_told_of_neighbours_that_come_and_go() {
    let registries = Registries::builtin();
    let registries = Registries { schemes: registries.schemes.clone().with(&MEETS, meets).unwrap(), ..registries };
    let of = |channel: &str, events: &str| {
        let text = triangle(channel, &format!("[[scheme]]\nname = \"meets\"\n{events}"));
        let blueprint = world::parse_with(&text, &[], registries.clone()).unwrap_or_else(|error| panic!("{error}"));
        let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
        ["ups", "downs"].map(|name| run.scheme("meets", name))
    };
    let range = "range = \"100 m\"";
    assert_eq!(of(range, ""), [6.0, 0.0], "each of three has two");
    let event = |what: &str| event(40_000, what);
    // Both ends part, and meet again.
    assert_eq!(of(range, &event("break = [\"a\", \"b\"]")), [6.0, 2.0]);
    let healed = event("break = [\"a\", \"b\"]") + &event("heal = [\"a\", \"b\"]").replace("40000", "60000");
    assert_eq!(of(range, &healed), [8.0, 2.0]);
    assert_eq!(of(range, &event("heal = [\"a\", \"b\"]")), [6.0, 0.0], "it was not broken");
    // c leaves two, and b remains the neighbour of a.
    for channel in [range, POWERS] {
        assert_eq!(of(channel, &event("move = \"c\"\nto = [100000, 0]")), [6.0, 4.0], "{channel}");
    }
    // The dead hear of nobody.
    let killed = event("kill = \"a\"") + &event("break = [\"a\", \"b\"]");
    assert_eq!(of(range, &killed), [6.0, 1.0]);
}

#[test]
fn a_station_that_walks_from_one_access_point_to_another_takes_its_traffic_along() {
    let text = format!(
        "[scenario]\nduration = \"200 ms\"\n[radio]\nstandard = \"802.11b\"\n[channel]\nrange = \"60 m\"\n\
         [[node]]\nname = \"server\"\n[[node]]\nname = \"west\"\nrole = \"ap\"\nposition = [0, 0]\n\
         [[node]]\nname = \"east\"\nrole = \"ap\"\nposition = [100, 0]\n[[node]]\nname = \"sta\"\nposition = [10, 0]\n\
         [[link]]\nbetween = [\"server\", \"west\"]\nrate = \"8 Mb/s\"\n\
         [[link]]\nbetween = [\"server\", \"east\"]\nrate = \"8 Mb/s\"\n{}{}{}",
        flow("server", "sta"),
        event(45_000, "move = \"sta\"\nto = [90, 0]"),
        event(145_000, "move = \"sta\"\nto = [500, 0]"),
    );
    let run = run(&text);
    let [west, east] = ["server->west", "server->east"].map(|id| count(queue(&run, id), "offered_packets"));
    assert_eq!((west, east), (5, 10), "0 to 40 ms, 50 to 140 ms");
    // Beyond both nobody knows the way.
    assert_eq!(run.flow(0, "delivered_packets"), Some(15.0));
}

#[test]
fn a_sender_that_comes_back_after_its_timer_was_due_goes_on_at_once() {
    let flow =
        "[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = { protocol = \"tcp\" }\ntraffic = { model = \"bulk\" }\n";
    let events = event(1_000_000, "kill = \"a\"") + &event(4_000_000, "restart = \"a\"");
    let text = |seconds: u32, events: &str| {
        format!(
            "[scenario]\nduration = \"{seconds} s\"\n[radio]\nstandard = \"802.11b\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n{flow}{events}"
        )
    };
    let delivered = |text: &str| run(text).flow(0, "delivered_bytes_total").unwrap();
    // A timeout of 200 ms at least was under way and is over: a second is enough to carry a quarter of the first.
    let (first, both) = (delivered(&text(1, "")), delivered(&text(5, &events)));
    assert!(both > 1.25 * first && both < 2.1 * first, "{first} {both}");
}
