//! Every congestion control alone on a clean bottleneck.

use world::{Record, Run};

/// 20 Mb/s, 50 ms, a buffer of two bandwidth-delay products (167 datagrams of 1500 B), SACK; 60 s after 20 s.
const CLEAN: &str = "
    [scenario]
    duration = '80 s'
    warmup = '20 s'
    [[node]]
    name = 'a'
    [[node]]
    name = 'b'
    [[link]]
    from = 'a'
    to = 'b'
    rate = '20 Mb/s'
    delay = '25 ms'
    queue = { packets = 167 }
    [[link]]
    from = 'b'
    to = 'a'
    rate = '20 Mb/s'
    delay = '25 ms'
    [[flow]]
    from = 'a'
    to = 'b'
    [flow.transport]
    protocol = 'tcp'
    preset = 'rfc'
    sack = true
    timestamps = true
    initial_window = 10
    min_rto = '200 ms'
    send_buffer = '8 MB'
    receive_buffer = '4 MB'
    window_scale = 'auto'
";

fn runs(text: &str, names: &[&str], overrides: &[(&str, &str)]) -> Vec<Run> {
    let of = |name: &&str| {
        let mut all = vec![("flow.0.transport.congestion".to_owned(), format!("\"{name}\""))];
        all.extend(overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        world::parse(text, &all).unwrap_or_else(|error| panic!("{error}"))
    };
    let blueprints: Vec<_> = names.iter().map(of).collect();
    let tasks: Vec<_> = blueprints.iter().map(|blueprint| (blueprint, 1)).collect();
    let runs = world::run_batch(&tasks, 0, &Record::default());
    runs.into_iter().collect::<Result<_, _>>().expect("every run ends with its books in balance")
}

/// 95 % of the capacity, Tahoe 90 %.
#[test]
fn alone_on_a_clean_bottleneck_every_sender_fills_it() {
    for (name, run) in tcp::cc::NAMES.iter().zip(runs(CLEAN, tcp::cc::NAMES, &[])) {
        let share = run.flow(0, "datagram_throughput_bps").expect("a column") / 20e6;
        println!("{name}: {:.2} %", 100.0 * share);
        assert!(share >= if *name == "tahoe" { 0.9 } else { 0.95 }, "{name}: {:.2} %", 100.0 * share);
    }
}

/// The bottleneck's queue warns from a fifth of its length on: Jersey and New Jersey heed it, and lose nothing; they fill the
/// path all the same. Without warnings they fill the queue until it drops.
#[test]
fn jersey_with_its_router_loses_nothing() {
    let warns = "{ discipline = \"congestion-warning\", packets = 167, threshold = 33 }";
    let names = ["jersey", "new-jersey"];
    let with = runs(CLEAN, &names, &[("link.0.queue", warns), ("flow.0.transport.ecn", "true")]);
    for ((name, with), without) in names.iter().zip(with).zip(runs(CLEAN, &names, &[])) {
        let (cuts, retransmissions) = ("ecn_cuts", "retransmissions");
        let of = |run: &Run, column| run.flow(0, column).expect("a column");
        assert!(of(&with, cuts) > 0.0 && of(&with, retransmissions) == 0.0, "{name}");
        assert!(of(&without, retransmissions) > 0.0, "{name}");
        let (share, rtt) = (of(&with, "datagram_throughput_bps") / 20e6, of(&with, "rtt_mean_s"));
        println!("{name}: {:.2} %, RTT {:.1} ms", 100.0 * share, 1000.0 * rtt);
        assert!(share > 0.95 && rtt < of(&without, "rtt_mean_s"), "{name}: {share}, {rtt}");
    }
}
