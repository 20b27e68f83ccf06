//! Users: files, pages and messages over connections that come and go.
#![allow(clippy::unwrap_used)] // In a test a panic is the report.

use crate::cells;
use schemes::{Agent, Cx, Info, Params, Place, Refusal, Site};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use units::FlowId;
use wire::Pkt;
use world::{Record, Registries, Run};

/// A client `c` and a server `s` on a wire of 10 Mb/s and 10 ms, and these flows.
fn scenario(seconds: u32, link: &str, flows: &str) -> String {
    format!(
        "scenario = {{ duration = \"{seconds} s\" }}\n[[node]]\nname = \"s\"\n[[node]]\nname = \"c\"\n\
         [[link]]\nbetween = [\"s\", \"c\"]\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\n{link}\n{flows}"
    )
}

fn user(model: &str) -> String {
    format!(
        "[[flow]]\nfrom = \"s\"\nto = \"c\"\ntraffic = {model}\n\
         transport = {{ protocol = \"tcp\", preset = \"rfc\", receiver = \"every\" }}\n"
    )
}

fn run(text: &str) -> Run {
    cells::run(text, 1)
}

fn number(run: &Run, name: &str) -> f64 {
    run.flow(0, name).unwrap_or_else(|| panic!("there is no {name}"))
}

#[test]
fn a_message_takes_a_handshake_a_request_and_its_segments() {
    // 40 B take 32 us at 10 Mb/s, and each way 10 ms. SYN and SYN-ACK: 20.064 ms; the request of 340 B with the ACK of the handshake: 32
    // + 272 us, 10 ms; a
    // message of 2000 B in two segments, 1500 + 580 B: 1.664 ms and 10 ms. In all 42.032 ms; the initial window has room for both. With
    // Nagle's algorithm the
    // second waits for the ACK of the first: 20.032 ms more.
    let text = scenario(1000, "", &user("{ model = \"email\", every = \"1 s\" }"));
    let nagle = number(&run(&text), "transfer_time_mean_s");
    let run = run(&text.replace("\"rfc\"", "\"rfc\", nagle = false"));
    assert!((nagle - 0.062064).abs() < 1e-4, "{nagle}");
    let (mean, p95) = (number(&run, "transfer_time_mean_s"), number(&run, "transfer_time_p95_s"));
    assert!((mean - 0.042032).abs() < 1e-4 && (p95 - 0.042).abs() < 0.005, "{mean} {p95}");
    // A Poisson process of 1000, give or take five deviations.
    let messages = number(&run, "transfers");
    assert!((messages - 1000.0).abs() < 160.0, "{messages}");
    assert_eq!((number(&run, "connections_total"), number(&run, "connections_lost_total")), (messages, 0.0));
    assert_eq!(number(&run, "delivered_bytes_total"), 2000.0 * messages);
    assert_eq!(number(&run, "reverse_delivered_bytes_total"), 300.0 * messages);
    assert_eq!((number(&run, "segments_sent"), number(&run, "retransmissions")), (2.0 * messages, 0.0));
    // The next may be opened while the last one closes.
    assert_eq!(number(&run, "transfer_bytes"), 2000.0 * messages);
    assert!(number(&run, "connections_open_most_total") <= 2.0);
}

#[test]
fn files_back_to_back_fill_the_wire_but_for_their_slow_starts() {
    let run = run(&scenario(100, "", &user("{ model = \"ftp\", size = \"4 MB\" }")));
    let (files, rate) = (number(&run, "transfers"), number(&run, "goodput_bps"));
    // 4 MB of payload take 3.288 s at 10 Mb/s less headers; a connection's beginning some tens of ms more.
    assert!((28.0..=30.0).contains(&files) && rate > 9.3e6 && rate < 9.74e6, "{files} {rate}");
    assert!(number(&run, "transfer_time_mean_s") > 3.288, "{}", number(&run, "transfer_time_mean_s"));
    // 32 Mb over the mean time: what a connection carries while it is there, whatever pauses lie between.
    let while_there = 32e6 / number(&run, "transfer_time_mean_s");
    assert!((number(&run, "transfer_rate_bps") - while_there).abs() < 1.0, "{}", number(&run, "transfer_rate_bps"));
    assert_eq!(number(&run, "connections_total"), files + 1.0);
}

#[test]
fn four_connections_bring_a_page_sooner_than_one_and_one_for_each_object_later() {
    let time = |more: &str| {
        let model = format!("{{ model = \"http\", page_every = \"5 s\", objects = 12{more} }}");
        let run = run(&scenario(2000, "", &user(&model)));
        (number(&run, "transfer_time_mean_s"), number(&run, "transfers"), number(&run, "transfer_bytes"))
    };
    let (one, four, each) = (time(""), time(", connections = 4"), time(", persistent = false"));
    assert!(four.0 < 0.6 * one.0 && one.0 < 0.7 * each.0, "{one:?} {four:?} {each:?}");
    // The same pages were drawn.
    assert!(one.1 > 300.0 && (one.1, one.2) == (four.1, four.2) && (one.1, one.2) == (each.1, each.2));
}

#[test]
fn connections_survive_losses_and_one_that_cannot_be_had_is_given_up() {
    let lossy = run(&scenario(500, "loss = 0.02", &user("{ model = \"email\", every = \"500 ms\" }")));
    assert!(number(&lossy, "transfers") > 800.0 && number(&lossy, "retransmissions") > 5.0);
    assert!(number(&lossy, "transfer_time_p99_s") > 0.2, "a SYN that is lost costs a second");
    // From 100 s on the server is dead: a SYN is sent four times, which takes 1 + 2 + 4 + 8 s, then the user tries what is due next.
    let killed = format!(
        "{}[[event]]\nat = \"100 s\"\nkill = \"s\"\n",
        scenario(
            200,
            "",
            &user("{ model = \"email\", every = \"2 s\" }").replace("\"rfc\"", "\"rfc\", syn_retries = 3")
        )
    );
    let dead = run(&killed);
    let (lost, all) = (number(&dead, "connections_lost_total"), number(&dead, "connections_total"));
    assert!((5.0..=7.0).contains(&lost) && number(&dead, "transfers") + lost <= all, "{lost} {all}");
    assert!(number(&dead, "connections_open_most_total") <= 2.0);
}

#[test]
fn a_user_stops_with_its_flow_and_counts_after_warm_up() {
    let text = scenario(100, "", &user("{ model = \"email\", every = \"100 ms\" }"));
    let whole = run(&text);
    let half =
        run(&text.replace("from = \"s\"\nto = \"c\"\ntraffic", "from = \"s\"\nto = \"c\"\nstop = \"50 s\"\ntraffic"));
    let warm = run(&text.replace("duration = \"100 s\"", "duration = \"100 s\", warmup = \"50 s\""));
    let (all, first, second) = (number(&whole, "transfers"), number(&half, "transfers"), number(&warm, "transfers"));
    assert!((all - first - second).abs() <= 1.0 && first > 400.0 && second > 400.0, "{all} {first} {second}");
    assert_eq!(number(&warm, "connections_total"), number(&whole, "connections_total"));
    assert!((number(&warm, "segments_sent") - 2.0 * second).abs() <= 2.0);
    assert_eq!(number(&warm, "delivered_bytes_total"), number(&whole, "delivered_bytes_total"));
}

/// Knows every connection that it has seen and of which it has not been told that it is over.
#[derive(Debug, Default)]
struct Knows {
    open: BTreeSet<FlowId>,
    most: u64,
    closed: u64,
}

static KNOWS: Info = Info { id: "knows", summary: "knows connections", source: "none", params: &[] };

fn knows(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    site.agent(Knows::default()).listen([Place::FromHost]);
    Ok(())
}

impl Agent for Knows {
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        self.open.insert(cx.get(&pkt).flow.opened());
        self.most = self.most.max(self.open.len() as u64);
        Some(pkt)
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        assert!(self.open.remove(&flow.opened()), "{flow} is over, and was never seen, or twice");
        self.closed += 1;
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("most", self.most);
        out("left", self.open.len() as u64);
        out("closed", self.closed);
    }
}

#[test]
fn agents_are_told_of_every_connection_that_is_over_once() {
    let Registries { schemes, .. } = Registries::builtin();
    let schemes = schemes.with(&KNOWS, knows).unwrap();
    let text = scenario(1000, "loss = 0.01", &user("{ model = \"email\", every = \"200 ms\" }"))
        + "[[scheme]]\nname = \"knows\"\n";
    let blueprint = world::parse_with(&text, &[], Registries { schemes, ..Registries::builtin() }).unwrap();
    let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
    // At both ends; told five seconds after the end, of which some 25 connections are left at the end of the run: 60 at most are known at once.
    let (all, told) = (number(&run, "connections_total"), run.scheme("knows", "closed"));
    assert!(all > 4500.0 && (2.0 * all - told) == run.scheme("knows", "left"), "{all} {told}");
    assert!(run.scheme("knows", "left") < 120.0 && run.scheme("knows", "most") < 240.0);
}

#[test]
fn users_begin_at_drawn_instants_and_one_more_changes_nothing_for_the_others() {
    let flows = |count: u32| {
        let many = format!("from = \"s\"\nto = \"c\"\ncount = {count}\nname = \"u\"\ntraffic");
        user("{ model = \"ftp\", size = \"100 B\", files = 1, spread = \"60 s\" }")
            .replace("from = \"s\"\nto = \"c\"\ntraffic", &many)
    };
    let starts = |count| {
        let run = run(&scenario(100, "", &flows(count)));
        let times: Vec<f64> = (0..count).map(|i| run.flow(i as usize, "transfer_time_mean_s").unwrap()).collect();
        (times, run.flows.len())
    };
    let (three, four) = (starts(3), starts(4));
    assert_eq!((three.1, four.1), (3, 4), "connections have no rows");
    assert_eq!(three.0, four.0[..3]);
}

#[test]
fn what_makes_no_sense_for_a_user_is_said() {
    for (old, new, line) in [
        (
            "traffic =",
            "reverse = { model = \"bulk\" }\ntraffic =",
            "flow[0].reverse: has no effect with model \"ftp\", which has connections of its own",
        ),
        (
            "traffic =",
            "reader = { model = \"rate\", rate = \"1 Mb/s\" }\ntraffic =",
            "flow[0].reader: has no effect with model \"ftp\", which has connections of its own",
        ),
        (
            "protocol = \"tcp\", preset = \"rfc\", receiver = \"every\"",
            "protocol = \"udp\"",
            "flow[0].traffic.model: \"ftp\" is not for UDP; take cbr, poisson or saturated",
        ),
        (
            "model = \"ftp\"",
            "model = \"ftq\"",
            "flow[0].traffic.model: no traffic model \"ftq\"; did you mean \"ftp\"?",
        ),
        (
            "model = \"ftp\"",
            "model = \"ftp\", files = -1",
            "flow[0].traffic.files: expected a whole number from 0 to 1000000000, got integer -1",
        ),
    ] {
        let text = scenario(10, "", &user("{ model = \"ftp\" }")).replace(old, new);
        assert_eq!(world::parse(&text, &[]).unwrap_err().to_string(), line);
    }
}

#[test]
fn a_cell_of_users_runs_with_every_scheme_and_its_books_balance() {
    for name in schemes::NAMES {
        let text = format!(
            "scenario = {{ duration = \"20 s\" }}\nradio = {{ standard = \"802.11a\", data_rate = \"6 Mb/s\", access = \"edca\" }}\n\
             [channel]\npropagation = {{ model = \"log-distance\", exponent = 3.5 }}\nerrors = {{ model = \"packet\", per = 0.1 }}\n\
             [[node]]\nname = \"s\"\nradio = false\n[[node]]\nname = \"ap\"\nrole = \"ap\"\n[[node]]\nname = \"c\"\ncount = 3\nposition = [5, 0]\n\
             [[link]]\nbetween = [\"s\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"5 ms\"\n\
             [[flow]]\nfrom = \"s\"\nto = \"c1\"\ntraffic = {{ model = \"ftp\", size = \"100 kB\" }}\n\
             [[flow]]\nfrom = \"s\"\nto = \"c2\"\ntraffic = {{ model = \"http\", page_every = \"1 s\", connections = 4 }}\n\
             [[flow]]\nfrom = \"s\"\nto = \"c3\"\ntraffic = {{ model = \"email\", every = \"100 ms\" }}\n\
             [[scheme]]\nname = \"{name}\"\n"
        );
        let blueprint = match world::parse(&text, &[]) {
            Ok(blueprint) => blueprint,
            // A scheme that does not sit in such a network says so.
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
        assert!(run.books.balance(), "{name}");
        let done: Vec<f64> = (0..3).map(|i| run.flow(i, "transfers").unwrap()).collect();
        assert!(done[0] > 10.0 && done[1] > 5.0 && done[2] > 50.0, "{name}: {done:?}");
    }
}

/// The access point numbers its MSDUs to all stations in one counter. While one station reads a page, thousands go to its neighbour: the
/// number that the next page begins with may look like one that was received a round ago.
#[test]
fn a_page_beside_a_busy_neighbour_loses_nothing_that_the_mac_has_acknowledged() {
    let pages = |scheme: &str, seed: u64| {
        let flow = |to: &str, traffic: &str| {
            format!(
                "[[flow]]\nfrom = \"server\"\nto = \"{to}\"\ntransport = {{ protocol = \"tcp\", preset = \"rfc\" }}\ntraffic = {traffic}\n"
            )
        };
        let text = format!(
            "scenario = {{ duration = \"40 s\" }}\n\
             radio = {{ standard = \"802.11g\", data_rate = \"54 Mb/s\", queue = {{ packets = 50 }} }}\n\
             channel = {{ errors = {{ model = \"packet\", per = 0.1 }} }}\n\
             node = [{{ name = \"ap\", role = \"ap\" }}, {{ name = \"busy\" }}, {{ name = \"reader\" }}, {{ name = \"server\" }}]\n\
             link = [{{ between = [\"server\", \"ap\"], rate = \"1 Gb/s\", delay = \"10 ms\" }}]\n{scheme}{}{}",
            flow("busy", "{ model = \"bulk\" }"),
            flow(
                "reader",
                "{ model = \"http\", page_every = \"4 s\", objects = 7, object_size = \"50 kB\", connections = 6 }"
            ),
        );
        let blueprint = world::parse(&text, &[]).unwrap();
        let run = world::run(&blueprint, seed, &Record::default(), &AtomicBool::new(false)).unwrap();
        (run.flow(1, "transfers").unwrap(), run.flow(1, "connections_lost_total").unwrap())
    };
    for seed in 1..=4 {
        let (plain, lle) = (pages("", seed), pages("scheme = [{ name = \"lle-tcp\" }]\n", seed));
        assert!(plain.0 > 4.0 && plain.1 == 0.0, "seed {seed}: {plain:?}");
        // A connection of LLE-TCP repeats nothing that was acknowledged: one MSDU lost behind the MAC stalls it for good.
        assert!(lle.0 >= plain.0 - 2.0 && lle.1 == 0.0, "seed {seed}: {lle:?}, without the scheme {plain:?}");
    }
}
