//! The draws of a run: layouts, flows between pairs, delays of links.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use world::{Cell, Record, Run, RunError};

fn run(blueprint: &world::Blueprint, seed: u64) -> Result<Run, RunError> {
    world::run(blueprint, seed, &Record::default(), &AtomicBool::new(false))
}

fn parse(text: &str) -> world::Blueprint {
    world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> String {
    world::parse(text, &[]).map(|_| ()).expect_err(text).to_string()
}

/// The ends of each flow, by the numbers in their names.
fn pairs(run: &Run) -> Vec<(i64, i64)> {
    let number = |row: &world::Row, key: &str| {
        let cell = row.iter().find(|(name, _)| *name == key).map(|(_, cell)| cell);
        let Some(Cell::Text(name)) = cell else { panic!("no {key}") };
        name.trim_start_matches("sta").parse().unwrap()
    };
    run.flows.iter().map(|row| (number(row, "from"), number(row, "to"))).collect()
}

/// Five stations on a line, each of which decodes the next.
fn line(flow: &str) -> String {
    format!(
        "[scenario]\nduration = '100 ms'\n[radio]\nstandard = '802.11b'\n[channel]\nrange = '100 m'\n\
         [layout]\nmodel = 'line'\nspacing = '100 m'\n[[node]]\nname = 'sta'\ncount = 5\n\
         [[flow]]\ntransport = {{ protocol = 'udp' }}\ntraffic = {{ model = 'cbr', rate = '1 Mb/s' }}\n{flow}\n"
    )
}

#[test]
fn ends_that_are_drawn_are_as_many_hops_apart_as_is_asked_for_and_every_pair_comes_up() {
    for (hops, allowed) in [("2", 2..=2), ("[2, 3]", 2..=3), ("'any'", 1..=4)] {
        let blueprint = parse(&line(&format!("from = 'sta'\nto = 'sta'\nhops = {hops}\ncount = 3")));
        let mut seen = BTreeSet::new();
        for seed in 1..=200 {
            let pairs = pairs(&run(&blueprint, seed).unwrap());
            let unordered: BTreeSet<_> = pairs.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
            assert_eq!(unordered.len(), 3, "no pair comes twice: {pairs:?}");
            assert!(pairs.iter().all(|(a, b)| allowed.contains(&(a - b).abs())), "{hops}: {pairs:?}");
            seen.extend(pairs);
        }
        let possible = (1..=5i64).flat_map(|a| (1..=5i64).map(move |b| (a, b)));
        assert_eq!(seen.len(), possible.filter(|(a, b)| allowed.contains(&(a - b).abs())).count(), "{hops}");
    }
}

#[test]
fn a_drawn_pair_is_the_seeds_and_the_same_however_the_scenario_is_written() {
    let three = "name = 'f'\nfrom = 'sta'\nto = ['sta1', 'sta5']\nhops = [1, 3]\ncount = 3";
    let blueprint = parse(&line(three));
    // As it is written: an entry for each flow.
    let one = line("from = ['sta1', 'sta2', 'sta3', 'sta4', 'sta5']\nto = ['sta1', 'sta5']\nhops = [1, 3]");
    let (_, entry) = one.split_once("[[flow]]").unwrap();
    let written = parse(&format!("{one}[[flow]]{entry}[[flow]]{entry}"));
    let of = |blueprint: &world::Blueprint, seed| pairs(&run(blueprint, seed).unwrap());
    for seed in 1..=20 {
        let drawn = of(&blueprint, seed);
        assert_eq!(drawn, of(&blueprint, seed));
        assert_eq!(drawn, of(&written, seed));
        assert!(drawn.iter().all(|(_, to)| [1, 5].contains(to)));
    }
    assert!((2..=20).any(|seed| of(&blueprint, seed) != of(&blueprint, 1)));
}

#[test]
fn what_is_drawn_is_what_runs() {
    // At one hop every datagram arrives soon; the ends of the flow are what the nodes send and receive.
    let run = run(&parse(&line("from = 'sta'\nto = 'sta'\nhops = 1")), 3).unwrap();
    let [(from, to)] = pairs(&run)[..] else { panic!("one flow") };
    let sent = |station: i64, name| Run::number(&run.nodes[station as usize - 1], name).unwrap();
    assert!(sent(from, "msdus_offered") > 5.0 && sent(to, "msdus_received") > 5.0);
    assert!(run.flow(0, "delivered_packets").unwrap() > 5.0);
    let others = (1..=5).filter(|station| ![from, to].contains(station));
    assert!(others.into_iter().all(|station| sent(station, "msdus_offered") == 0.0));
}

#[test]
fn where_no_pair_is_left_the_file_says_so() {
    let of = |keys: &str| refusal(&line(&format!("from = 'sta'\nto = 'sta'\n{keys}")));
    assert_eq!(
        of("hops = 5"),
        "flow[0].hops: no pair of \"sta\" and \"sta\" 5 hops apart is left for \"flow0\" where the nodes stand"
    );
    assert_eq!(
        of("hops = [3, 4]\ncount = 4"),
        "flow[0].hops: no pair of \"sta\" and \"sta\" 3 to 4 hops apart is left for \"flow3\" where the nodes stand"
    );
    // Three pairs are that far apart.
    parse(&line("from = 'sta'\nto = 'sta'\nhops = [3, 4]\ncount = 3"));
}

/// Twenty stations in 100 m by 100 m, of which each decodes 40 m far.
fn square(layout: &str, flow: &str) -> String {
    format!(
        "[scenario]\nduration = '300 ms'\n[radio]\nstandard = '802.11g'\n[channel]\nrange = '40 m'\nsense_range = '85 m'\n\
         [layout]\nmodel = 'rectangle'\nwidth = '100 m'\nheight = '100 m'\n{layout}\n[[node]]\nname = 'sta'\ncount = 20\n\
         [[flow]]\nfrom = 'sta'\nto = 'sta'\n{flow}\n"
    )
}

#[test]
fn a_connected_layout_joins_all_and_takes_no_more_draws_than_it_may() {
    let connected = parse(&square("connected = true", "hops = 'any'\ncount = 9"));
    let loose = parse(&square("", "hops = 'any'\ncount = 9"));
    let (mut hops_needed, mut alike) = (0, 0);
    for seed in 1..=30 {
        let run = run(&connected, seed).unwrap();
        // A SYN that is answered has come through, and its answer.
        let got = (0..9).filter(|flow| run.flow(*flow, "acked_bytes_total").unwrap() > 0.0).count();
        hops_needed += got;
        alike += usize::from(pairs(&run) == pairs(&self::run(&loose, seed).unwrap()));
    }
    // Most of 270 connections have begun within 300 ms, through a crowd; none has no way.
    assert!(hops_needed > 200, "{hops_needed}");
    // A first draw that is connected stays what it is.
    assert!((1..30).contains(&alike), "{alike}");
}

#[test]
fn a_layout_that_is_never_connected_ends_the_run_with_one_line() {
    let text = square("connected = true\ntries = 20", "hops = 'any'").replace("'40 m'", "'4 m'");
    assert_eq!(
        refusal(&text),
        "layout.connected: not so in 20 layouts of seed 1; more nodes, more range or less area would help, or more tries"
    );
    let hops = square("tries = 20", "hops = 60");
    assert_eq!(
        refusal(&hops),
        "flow[0].hops: no pair of \"sta\" and \"sta\" 60 hops apart is left for \"flow0\" in 20 layouts of seed 1"
    );
    // What the seed of the file finds another may not find: its run says so.
    let rare = square("tries = 1", "hops = 5").replace("duration", "seed = 9\nduration");
    let blueprint =
        (1..100).find_map(|seed| world::parse(&rare.replace("seed = 9", &format!("seed = {seed}")), &[]).ok());
    let blueprint = blueprint.expect("five hops are rare, not impossible");
    let refused = (1..40).find_map(|seed| run(&blueprint, seed).err().map(|error| (seed, error.to_string())));
    let (seed, line) = refused.expect("nor are they there in every layout");
    let expected = format!(
        "flow[0].hops: no pair of \"sta\" and \"sta\" 5 hops apart is left for \"flow0\" in the layout of seed {seed}"
    );
    assert_eq!(line, expected);
}

#[test]
fn redrawing_changes_no_run_whose_first_layout_will_do() {
    // The flow of fixed ends reads the same with and without `connected` where the first draw is connected.
    let flow =
        "hops = [1, 2]\ncount = 2\ntransport = { protocol = 'udp' }\ntraffic = { model = 'cbr', rate = '100 kb/s' }";
    let [connected, loose] = ["connected = true", ""].map(|layout| parse(&square(layout, flow)));
    let mut found = BTreeMap::new();
    for seed in 1..=20 {
        let [a, b] = [&connected, &loose].map(|blueprint| run(blueprint, seed).unwrap());
        *found.entry(pairs(&a) == pairs(&b)).or_insert(0) += 1;
        if pairs(&a) == pairs(&b) {
            assert_eq!(a.exchanges, b.exchanges);
        }
    }
    assert_eq!(found.len(), 2, "{found:?}");
}

/// The delays in microseconds of 300 links of servers to a hub, there and back: when the datagrams of 1028 B were there, less 1028 us at 8 Mb/s.
fn delays(delay: &str) -> [Vec<f64>; 2] {
    let text = format!(
        "[scenario]\nduration = '2 s'\n[[node]]\nname = 'server'\ncount = 300\n[[node]]\nname = 'hub'\n\
         [[link]]\nname = 'wan'\nbetween = ['server', 'hub']\nrate = '8 Mb/s'\ndelay = {delay}\n\
         [[flow]]\nfrom = 'server'\nto = 'hub'\ntransport = {{ protocol = 'udp', datagram = '1028 B' }}\n\
         traffic = {{ model = 'cbr', rate = '4 kb/s' }}\n\
         [[flow]]\nfrom = 'hub'\nto = 'server'\ntransport = {{ protocol = 'udp', datagram = '1028 B' }}\n\
         traffic = {{ model = 'cbr', rate = '4 kb/s' }}\n"
    );
    let watched = crate::network::seen::watched(&text);
    let hub = net::address(units::NodeId(300));
    let arrivals = |name: &str, is_mine: &dyn Fn(std::net::Ipv4Addr) -> bool| -> Vec<(std::net::Ipv4Addr, f64)> {
        let got = watched[name].iter().filter(|seen| is_mine(seen.packet.ip.dst));
        got.map(|seen| (seen.packet.ip.src, seen.at.ns() as f64 / 1000.0 - 1028.0)).collect()
    };
    let there: std::collections::BTreeMap<_, _> = arrivals("hub", &|dst| dst == hub).into_iter().collect();
    let back = (1..=300).map(|i| arrivals(&format!("server{i}"), &|dst| dst != hub)[0].1);
    let by_server = (0..300).map(|i| there[&net::address(units::NodeId(i))]);
    [by_server.collect(), back.collect()]
}

#[test]
fn delays_of_a_groups_links_are_drawn_for_each_link_and_the_same_both_ways() {
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let deviation = |all: &[f64]| (all.iter().map(|x| (x - mean(all)) * (x - mean(all))).sum::<f64>() / 299.0).sqrt();
    let of = |delay: &str| {
        let [there, back] = delays(delay);
        assert!(there.iter().zip(&back).all(|(a, b)| (a - b).abs() < 0.01));
        there
    };
    let (ms, root) = (1000.0, 300f64.sqrt());
    // Uniform from 10 to 50 ms: mean 30, deviation 40 / sqrt 12 = 11.547; four standard errors.
    let uniform = of("{ draw = 'uniform', low = '10 ms', high = '50 ms' }");
    assert!(uniform.iter().all(|it| (10.0 * ms..=50.0 * ms).contains(it)));
    assert!((mean(&uniform) - 30.0 * ms).abs() < 4.0 * 11.547 * ms / root);
    assert!((deviation(&uniform) / (11.547 * ms) - 1.0).abs() < 0.12);
    // Exponential of mean 20 ms: deviation 20.
    let exponential = of("{ draw = 'exponential', mean = '20 ms' }");
    assert!((mean(&exponential) - 20.0 * ms).abs() < 4.0 * 20.0 * ms / root);
    let long = exponential.iter().filter(|it| **it > 20.0 * ms).count() as f64 / 300.0;
    assert!((long - libm::exp(-1.0)).abs() < 4.0 * 0.482 / root, "{long}");
    // Normal, cut where it hardly matters; and cut to its upper half, whose mean is 20 + 5 sqrt(2/pi) = 23.99 and deviation 5 sqrt(1 - 2/pi).
    let normal = of("{ draw = 'normal', mean = '20 ms', deviation = '5 ms' }");
    assert!((mean(&normal) - 20.0 * ms).abs() < 4.0 * 5.0 * ms / root);
    assert!((deviation(&normal) / (5.0 * ms) - 1.0).abs() < 0.2);
    let upper = of("{ draw = 'normal', mean = '20 ms', deviation = '5 ms', low = '20 ms' }");
    assert!(upper.iter().all(|it| *it >= 20.0 * ms));
    assert!((mean(&upper) - 23.989 * ms).abs() < 4.0 * 3.014 * ms / root);
    // Ends that are much closer than the deviation: anywhere between them.
    let narrow = of("{ draw = 'normal', mean = '20 ms', deviation = '100 s', low = '19 ms', high = '21 ms' }");
    assert!(narrow.iter().all(|it| (19.0 * ms..=21.0 * ms).contains(it)));
    assert!((mean(&narrow) - 20.0 * ms).abs() < 4.0 * 0.577 * ms / root);
    let alike = of("'20 ms'");
    assert!(alike.iter().all(|it| (it - 20.0 * ms).abs() < 0.01));
}
