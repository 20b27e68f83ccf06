//! FastACK in whole networks: a server, a wire, an access point, clients of 802.11ac. What it is worth, what it costs, and what becomes of
//! data that it has acknowledged when access points die or clients move.

use crate::cells::{downloads, fingerprinted, run};
use world::{Cell, Run};

/// `n` downloads over a wire of this delay, with these words on each flow and in `[channel]`.
fn cell([duration, delay, flow, channel, more]: [&str; 5], n: usize) -> String {
    let head = format!(
        "[scenario]\nduration = \"{duration}\"\n[radio]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\nmcs = 7\n[channel]\n{channel}"
    );
    let wire = format!("rate = \"1 Gb/s\"\ndelay = \"{delay}\"\nqueue = {{ packets = 2000 }}");
    downloads(n, [&head, &wire, more, "", flow])
}

const FASTACK: &str = "[[scheme]]\nname = \"fastack\"\n";
fn node(run: &Run, id: &str, name: &str) -> f64 {
    let row = run.nodes.iter().find(|row| row[0].1 == Cell::Text(id.to_owned())).unwrap();
    Run::number(row, name).unwrap()
}

/// Each attempt of an MPDU fails one time in five, and there are three: one segment in 125 is the access point's or TCP's to repair.
const THREE_ATTEMPTS: &str = "mcs = 7\naggregation = { attempts = 3 }";

fn few_attempts(delay: &str, n: usize, more: &str) -> String {
    let errors = "errors = { model = \"packet\", per = 0.2 }";
    cell(["10 s", delay, "", errors, more], n).replace("mcs = 7", THREE_ATTEMPTS)
}

fn goodput(run: &Run) -> f64 {
    Run::number(&run.summary, "goodput_bps").unwrap()
}

#[test]
fn a_download_over_a_long_wire_loses_nothing_to_the_radio_any_more() {
    // CUBIC at a round trip of 100 ms, where a share p = 0.2^3 of all segments is lost: 1.05 (RTT / p)^(3/4) = 7 segments of 1448 B, less
    // than Reno's sqrt(3 / 2p) = 14 (@RFC9438 sec. 5.1, 4.3): 1.6 Mb/s. A VHT radio at 292.5 Mb/s carries far more if TCP sees no loss.
    for seed in 1..=3 {
        let [plain, fast] = ["", FASTACK].map(|more| run(&few_attempts("50 ms", 1, more), seed));
        println!("seed {seed}: {:.2} and {:.2} Mb/s", goodput(&plain) / 1e6, goodput(&fast) / 1e6);
        assert!(goodput(&plain) < 5e6, "{}", goodput(&plain));
        assert!(goodput(&fast) > 60e6, "{}", goodput(&fast));
        assert!(fast.scheme("fastack", "local_retransmissions_report") > 0.9 * node(&fast, "ap", "msdus_given_up"));
    }
}

#[test]
fn the_clients_acks_end_at_the_access_point_and_one_is_made_for_two_segments() {
    let run = run(&cell(["5 s", "10 ms", "", "", FASTACK], 1), 1);
    let count = |name| run.scheme("fastack", name);
    let (made, segments) = (count("fast_acks"), count("segments_acknowledged"));
    // Where a Block Ack is for an odd number, its last segment has an ACK of its own; what closes a hole has one for all behind it.
    assert!(segments > 10_000.0 && (0.45..0.6).contains(&(made / segments)), "{made} for {segments}");
    let (suppressed, passed) = (count("acks_suppressed"), count("acks_passed"));
    assert!(passed < 0.1 * suppressed, "{passed} of {suppressed}");
    // What the client has not acknowledged is no more than the radio holds.
    assert!(count("acked_held_bytes") <= count("highest_copies_bytes"), "{run:?}");
    assert!(count("highest_copies_bytes") < 4e6, "{}", count("highest_copies_bytes"));
}

#[test]
fn where_tcp_loses_nothing_it_changes_little() {
    for delay in ["2 ms", "50 ms"] {
        let mean = |more: &str| {
            (1..=2).map(|seed| goodput(&run(&cell(["6 s", delay, "", "", more], 1), seed))).sum::<f64>() / 2.0
        };
        let gain = mean(FASTACK) / mean("");
        println!("{delay}: {gain:.3}");
        assert!((0.93..1.07).contains(&gain), "{delay}: {gain}");
    }
}

/// Transfers of 3 MB that end.
fn transfers(n: usize, more: &str) -> String {
    let text = few_attempts("10 ms", n, more).replace("10 s", "60 s");
    text.replace("transport = {", "traffic = { model = \"bulk\", bytes = \"3 MB\" }\ntransport = {")
}

#[test]
fn every_byte_arrives_whole() {
    for (seed, memory) in [(1, "3 kB"), (2, "100 kB"), (3, "4 MB")] {
        let run = run(&transfers(3, &format!("{FASTACK}memory = \"{memory}\"\n")), seed);
        for flow in 0..3 {
            for name in ["delivered_bytes_total", "acked_bytes_total"] {
                assert_eq!(run.flow(flow, name), Some(3e6), "{memory}, flow {flow}: {name}");
            }
        }
        assert_eq!(
            [run.scheme("fastack", "acked_held_bytes"), run.scheme("fastack", "packets_held")],
            [0.0; 2],
            "{memory}"
        );
    }
}

#[test]
fn what_dies_with_an_access_point_is_counted_and_it_begins_anew() {
    let dies = "[[event]]\nat = \"1 s\"\nkill = \"ap\"\n[[event]]\nat = \"1500 ms\"\nrestart = \"ap\"\n";
    let run = run(&few_attempts("10 ms", 1, &format!("{FASTACK}{dies}")), 1);
    let (undelivered, lost) =
        (run.flow(0, "acked_undelivered_bytes").unwrap(), run.scheme("fastack", "acked_lost_bytes"));
    assert!(lost > 0.0 && undelivered <= lost, "{undelivered} of {lost}");
    // What the client has of that it has said since: the connection goes on.
    assert!(goodput(&run) > 20e6, "{}", goodput(&run));
}

#[test]
fn what_a_dead_client_has_not_taken_lies_in_a_copy() {
    // Three connections share a reorder buffer: data of one is acknowledged while it stands behind a hole of another.
    let more = "[[flow]]\nfrom = \"server\"\nto = \"s0\"\ntransport = { protocol = \"tcp\", preset = \"linux\" }\n"
        .repeat(2);
    let mut missed = 0;
    for us in (1_000_000..1_200_000).step_by(4000) {
        let dies = format!("[[event]]\nat = \"{us} us\"\nkill = \"s0\"\n");
        let text = few_attempts("2 ms", 1, &format!("{FASTACK}{dies}")).replace("10 s", "1250 ms") + &more;
        let run = run(&text, 1);
        let undelivered: f64 = (0..3).map(|flow| run.flow(flow, "acked_undelivered_bytes").unwrap()).sum();
        let held = run.scheme("fastack", "acked_held_bytes");
        assert!(undelivered <= held, "{us} us: {undelivered} of {held}");
        missed += usize::from(undelivered > 0.0);
    }
    assert!(missed > 0, "a copy was needed at none of these instants");
}

#[test]
fn a_run_repeats_itself() {
    let [one, other] = [1, 1].map(|seed| fingerprinted(&few_attempts("10 ms", 2, FASTACK), seed).fingerprint);
    assert_eq!(one, other);
}

#[test]
fn two_schemes_that_make_acks_are_refused_together() {
    let text = cell(["1 s", "1 ms", "", "", &format!("{FASTACK}[[scheme]]\nname = \"ack-agent\"\n")], 1);
    let error = world::parse(&text, &[]).unwrap_err().to_string();
    assert!(error.contains("fastack") && error.contains("ack-agent"), "{error}");
}
