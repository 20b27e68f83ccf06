//! The steady state of a run allocates nothing: a run that lasts longer asks the allocator for as much as a short one. What
//! a run asks for in all is what was told beforehand.

use std::sync::atomic::AtomicBool;
use testkit::alloc::{self, Counting};
use world::Record;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Stations that send to one of them.
fn star(stations: u32, seconds: u32, radio: &str, rest: &str) -> String {
    let mut text =
        format!("[scenario]\nname = 'star'\nduration = '{seconds} s'\n[radio]\n{radio}\n[[node]]\nname = 'sink'\n");
    for i in 0..stations {
        text += &format!("[[node]]\nname = 's{i}'\n[[flow]]\nfrom = 's{i}'\nto = 'sink'\n");
        text +=
            "transport = { protocol = 'tcp', preset = 'rfc', datagram = '576 B' }\ntraffic = { model = 'bulk' }\n";
    }
    text + rest
}

/// A server behind two wires and an access point; each of three stations loads from it, and sends to it.
fn behind_wires(seconds: u32, wire: &str, radio: &str, rest: &str) -> String {
    let mut text = format!(
        "[scenario]\nname = 'wires'\nduration = '{seconds} s'\n[radio]\n{radio}\n[[node]]\nname = 'server'\n\
         [[node]]\nname = 'router'\nradio = false\n[[node]]\nname = 'ap'\nrole = 'ap'\n\
         [[link]]\nbetween = ['server', 'router']\nrate = '100 Mb/s'\ndelay = '2 ms'\n\
         [[link]]\nbetween = ['router', 'ap']\n{wire}\n"
    );
    for i in 0..3 {
        text += &format!("[[node]]\nname = 's{i}'\n");
        for (from, to) in [("server", &*format!("s{i}")), (&*format!("s{i}"), "server")] {
            text += &format!("[[flow]]\nfrom = '{from}'\nto = '{to}'\ntraffic = {{ model = 'bulk' }}\n");
            text += "transport = { protocol = 'tcp', preset = 'rfc', datagram = '576 B', ecn = true }\n";
        }
    }
    text + rest
}

fn calls(text: &str, seconds: u32) -> u64 {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let before = alloc::calls();
    let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance");
    assert!(run.exchanges > u64::from(seconds) * 200, "the scene is busy");
    alloc::calls() - before
}

#[test]
fn eighteen_more_seconds_ask_the_allocator_for_nothing() {
    let b = "standard = '802.11b'\nbasic_rate = '1 Mb/s'";
    let a = "standard = '802.11a'";
    let retried = "[channel]\nerrors = { model = 'packet', per = 0.1 }\n";
    // What the MAC gives up TCP recovers.
    let lossy = "[channel]\nerrors = { model = 'packet', per = 0.02, at = 'msdu' }\n";
    let lle = "[[scheme]]\nname = 'lle-tcp'\n";
    for (name, stations, radio, rest, most) in [
        ("one LLE-TCP flow", 1, b, lle.to_owned(), 0),
        ("one LLE-TCP flow, frames retried", 1, b, format!("{retried}{lle}"), 0),
        ("six TCP uploads", 6, a, String::new(), 0),
        ("six TCP uploads, frames retried", 6, a, retried.to_owned(), 0),
        // Lists of holes (the receiver's, the sender's scoreboard, LLE-TCP's of frames it answers for) double when a
        // worse burst comes than any before; they are as long as a window at most: three doublings of 4 entries each.
        ("one LLE-TCP flow, segments lost", 1, b, format!("{lossy}{lle}"), 9),
        ("six TCP uploads, segments lost", 6, a, lossy.to_owned(), 9),
    ] {
        // 2 s see slow start to its end and every buffer to its size.
        let [short, long] = [2, 20].map(|seconds| calls(&star(stations, seconds, radio, &rest), seconds));
        println!("{name}: {short} calls in a run of 2 s, {long} in one of 20 s");
        assert!(long <= short + most, "{name}: {short} in 2 s, {long} in 20 s");
    }
}

#[test]
fn neither_do_rate_controls() {
    let retried = "[channel]\nerrors = { model = 'packet', per = 0.1 }\n";
    for control in mac::rate::NAMES {
        let radio = format!("standard = '802.11a'\nrate_control = '{control}'");
        let [short, long] = [2, 12].map(|seconds| calls(&star(6, seconds, &radio, retried), seconds));
        println!("{control}: {short} calls in a run of 2 s, {long} in one of 12 s");
        // Slow modes collide for longer, and MSDUs are given up: lists of holes, as above, of seven nodes.
        assert!(long <= short + 30, "{control}: {short} in 2 s, {long} in 12 s");
    }
}

#[test]
fn neither_do_packets_that_cross_two_wires_and_the_air() {
    let a = "standard = '802.11a'";
    let red = "rate = '10 Mb/s'\nqueue = { discipline = 'red', packets = 100, min_th = 3, max_th = 15, ecn = true }";
    for (name, wire, radio, rest, most) in [
        ("the air is narrow", "rate = '100 Mb/s'", "standard = '802.11b'", "", 0),
        ("frames are retried", "rate = '20 Mb/s'", a, "[channel]\nerrors = { model = 'packet', per = 0.1 }\n", 0),
        // Each of three queues doubles as it fills.
        (
            "receivers have queues of their own, frames are retried",
            "rate = '20 Mb/s'",
            "standard = '802.11a'\nqueue = { per = 'receiver', discipline = 'fq-codel', packets = 99 }",
            "[channel]\nerrors = { model = 'packet', per = 0.1 }\n",
            30,
        ),
        // Lists that a worse burst makes longer, as above; from 24 to 100 s none of these asked for more than once.
        ("the wire marks", red, a, "", 9),
        ("the wire serves flows in turn", "rate = '5 Mb/s'\nqueue = { discipline = 'drr', packets = 20 }", a, "", 9),
        ("the wire drops at the head", "rate = '5 Mb/s'\nqueue = { discipline = 'codel', packets = 99 }", a, "", 9),
        ("the wire drops by flow", "rate = '5 Mb/s'\nqueue = { discipline = 'fq-codel', packets = 99 }", a, "", 9),
        ("the wire loses", "rate = '20 Mb/s'\nloss = 0.002", a, "", 9),
        ("the wire is narrow and drops", "rate = '5 Mb/s'\nqueue = { packets = 20 }", a, "", 9),
        ("the wire is long, the queue of the air drops", "rate = '1 Gb/s'\ndelay = '30 ms'", a, "", 9),
    ] {
        let [short, long] = [4, 24].map(|seconds| calls(&behind_wires(seconds, wire, radio, rest), seconds));
        println!("{name}: {short} calls in a run of 4 s, {long} in one of 24 s");
        assert!(long <= short + most, "{name}: {short} in 4 s, {long} in 24 s");
    }
}

#[test]
fn neither_does_what_is_handed_in_from_outside_and_taken_out_again() {
    let text = star(2, 100, "standard = '802.11b'", "").replace("traffic = { model = 'bulk' }", "start = '90 s'");
    let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut drive = world::Drive::new(&scenario, 1, &Record::default()).expect("it can be built");
    let [sink, station] = [0, 1].map(units::NodeId);
    let flow = drive.open(station, sink).expect("there is room");
    let mut sent_in = |ms: std::ops::Range<u64>| {
        let before = alloc::calls();
        let mut came = 0;
        for ms in ms {
            let ip = wire::Ipv4 { src: net::address(station), dst: net::address(sink), ..wire::Ipv4::default() };
            let l4 = wire::L4::Udp(wire::Udp { src_port: 1, dst_port: 2 });
            let packet = wire::Packet { ip, l4, payload: wire::Payload::stream(0, 100), flow };
            let at = units::SimTime::from_ns(ms * 1_000_000);
            drive.inject(station, packet, at).expect("it is as it should be");
            drive.advance(at).expect("time goes on");
            came += drive.drain(sink).count();
        }
        (alloc::calls() - before, came)
    };
    sent_in(0..2_000);
    let (calls, came) = sent_in(2_000..20_000);
    assert!(calls == 0 && came > 17_900, "{calls} calls, {came} packets");
}

/// Of many nodes the squares decide: from 150 to 300 nodes a run grows by most of what the forecast grows by, and is never beyond it.
#[test]
fn a_run_takes_the_memory_that_was_forecast() {
    let a = "standard = '802.11a'";
    let edca = "standard = '802.11a'\naccess = 'edca'";
    let levels = "[channel]\npropagation = { model = 'log-distance', exponent = 3.5 }\n";
    let errors = "[channel]\nerrors = { model = 'packet', per = 0.01 }\n";
    let states = "[channel]\nerrors = { model = 'two-state', good = { per = 0 }, bad = { per = 1 }, \
                  mean_good = '90 ms', mean_bad = '10 ms' }\n";
    for (name, radio, rest) in [
        ("in reach", a, ""),
        ("EDCA", edca, ""),
        ("with levels", a, levels),
        ("routes are searched", a, "[layout]\nmodel = 'line'\nspacing = '1 m'\n[channel]\nrange = '180 m'\n"),
        ("errors", a, errors),
        ("states", a, states),
        ("a scheme", a, "[[scheme]]\nname = 'lle-tcp'\n"),
    ] {
        let [few, many] = [150, 300].map(|nodes| {
            let text = star(nodes - 1, 1, radio, rest).replace("'1 s'", "'20 ms'");
            let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            let (run, peak) = alloc::peak(|| world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)));
            run.expect("books in balance");
            (peak as f64, scenario.run_bytes() as f64)
        });
        println!("{name}: {:.1} MB of {:.1}; {:.1} of {:.1}", few.0 / 1e6, few.1 / 1e6, many.0 / 1e6, many.1 / 1e6);
        assert!(few.0 <= few.1 && many.0 <= many.1, "{name}: {few:?} {many:?} bytes were taken and forecast");
        let (grown, forecast) = (many.0 - few.0, many.1 - few.1);
        assert!(grown >= 0.5 * forecast, "{name}: {grown} bytes more were taken, {forecast} forecast");
    }
}

/// A server and as many clients, each with one user.
fn users(clients: u32, seconds: u32, model: &str, rest: &str) -> String {
    format!(
        "[scenario]\nduration = '{seconds} s'\n[[node]]\nname = 's'\n[[node]]\nname = 'c'\ncount = {clients}\n\
         [[link]]\nbetween = ['s', 'c']\nrate = '100 Mb/s'\ndelay = '5 ms'\n[[flow]]\nname = 'u'\nfrom = 's'\nto = 'c'\n\
         traffic = {model}\ntransport = {{ protocol = 'tcp', preset = 'linux' }}\n{rest}"
    )
}

fn peak_of(text: &str) -> (world::Run, usize) {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let (run, peak) = alloc::peak(|| world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)));
    (run.expect("books in balance"), peak)
}

#[test]
fn ten_thousand_connections_take_the_memory_of_a_thousand() {
    let email = "{ model = 'email', every = '200 ms' }";
    let sum = |run: &world::Run, name| (0..20).filter_map(|i| run.flow(i, name)).sum::<f64>();
    // On a wire, and behind an access point whose Snoop keeps what it knows of each connection.
    let air = |seconds| {
        users(20, seconds, email, "[[node]]\nname = 'ap'\nrole = 'ap'\n[[link]]\nfrom = 's'\nto = 'ap'")
            .replace("between = ['s', 'c']", "between = ['s', 'ap']")
            .replace("[[link]]\nfrom = 's'\nto = 'ap'", "[[scheme]]\nname = 'snoop'\n[radio]\nstandard = '802.11a'")
    };
    let wire = |seconds| users(20, seconds, email, "");
    for (name, text) in [("wire", &wire as &dyn Fn(u32) -> String), ("snoop", &air)] {
        let [(few, small), (many, large)] = [12, 120].map(|seconds| peak_of(&text(seconds)));
        let opened = [sum(&few, "connections_total"), sum(&many, "connections_total")];
        println!("{name}: {opened:?} connections, {small} and {large} bytes at most");
        assert!(opened[0] > 1_000.0 && opened[1] > 10_000.0, "{opened:?}");
        // Not a byte of a connection stays: what is open at once differs by a few segments in flight.
        assert!(large as f64 <= small as f64 + (opened[1] - opened[0]), "{name}");
    }
}

/// Both ends together, with all that traffic and the world keep for a connection. docs/design/traffic.md has the table.
#[test]
fn a_live_connection_takes_so_many_bytes() {
    // Every client opens so many connections at once and keeps them: pages of very many objects on parallel connections.
    let model = |connections, size| {
        format!(
            "{{ model = 'http', objects = 10000, object_size = '{size}', connections = {connections}, page_every = '1000 s' }}"
        )
    };
    for (name, preset, size, most) in [
        ("a segment at a time", "rfc", "20 B", 2_000.0),
        ("a segment at a time", "linux", "20 B", 2_900.0),
        ("a window at a time", "rfc", "50 kB", 2_700.0),
        ("a window at a time", "linux", "50 kB", 6_000.0),
    ] {
        let text = |connections| users(20, 2, &model(connections, size), "").replace("linux", preset);
        let [(few, small), (many, large)] = [1, 33].map(|connections| peak_of(&text(connections)));
        let open = |run: &world::Run| (0..20).filter_map(|i| run.flow(i, "connections_open_most_total")).sum::<f64>();
        let each = (large - small) as f64 / (open(&many) - open(&few));
        println!("{name}, {preset}: {} and {} connections, {each:.0} bytes each", open(&few), open(&many));
        assert!(open(&many) > 600.0 && each < most, "{name}, {preset}: {each} bytes");
    }
}
