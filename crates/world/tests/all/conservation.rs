//! Conservation on random scenarios: what was written arrives once and in order or is accounted for, every MSDU ends
//! somewhere, no packet is lost from the books, no station does two things at once and time does not go back.
//!
//! `world::run` itself fails if the books of packets and MSDUs do not balance (`RunError::Books`), and debug assertions
//! of the layers are on; a payload that arrives out of its place in the stream is one of them.

use crate::cells::recorded as run;
use crate::writes::{READERS, STOP_MS, Writes};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;
use units::{Dur, SimTime};
use world::{Record, Run};

/// The losses of the channel.
const ERRORS: [&str; 8] = [
    "{ model = \"none\" }",
    "{ model = \"none\" }",
    "{ model = \"packet\", per = 0.3 }",
    "{ model = \"packet\", per = 0.2, control_per = 0.2 }",
    "{ model = \"bit\", ber = 2e-5, control = true }",
    "{ model = \"two-state\", good = { per = 0.0 }, bad = { per = 0.9 }, mean_good = \"200 ms\", mean_bad = \"50 ms\", unit = \"time\", shared = \"link\", control = true }",
    "{ model = \"two-state\", good = { per = 0.05 }, bad = { ber = 1e-4 }, mean_good = 50, mean_bad = 5, unit = \"frame\", shared = \"direction\", control = false }",
    // Of whole MSDUs; not mixed with the others on one channel.
    "{ model = \"packet\", per = 0.05, at = \"msdu\" }",
];

const RADIOS: [&str; 6] = [
    "standard = \"802.11b\"",
    "standard = \"802.11b\"\npreamble = \"short\"\nrts_threshold = \"500 B\"",
    "standard = \"802.11\"\nrts_threshold = \"0 B\"\nrts_for = \"all\"",
    "standard = \"802.11a\"",
    "standard = \"802.11g\"\nrts_threshold = \"0 B\"",
    "standard = \"802.11g\"\nslot = \"long\"\ndata_rate = \"11 Mb/s\"",
];

#[derive(Debug, Clone)]
struct Flow {
    from: usize,
    /// Added to `from`, less one, modulo the number of the others.
    to: usize,
    start_ms: u64,
    /// The forward and the backward direction; `None` behind: UDP.
    writes: (Writes, Option<Writes>),
    reader: &'static str,
    tcp: String,
}

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    nodes: usize,
    radio: &'static str,
    max_attempts: u32,
    queue: String,
    errors: &'static str,
    /// For each ordered pair: whether it is out of reach, and whether it has errors of its own.
    pairs: Vec<(bool, Option<&'static str>)>,
    host_delay_us: Vec<u64>,
    flows: Vec<Flow>,
    scheme: Option<&'static str>,
    kills: Vec<(usize, u64)>,
}

fn flow() -> impl Strategy<Value = Flow> {
    let udp = prop::sample::select(vec![Writes::Saturated, Writes::Poisson, Writes::Cbr]);
    let writes = || {
        prop_oneof![
            4 => (1u64..60_000).prop_map(Writes::Bulk),
            1 => Just(Writes::Chunks),
            1 => Just(Writes::Poisson),
            1 => Just(Writes::Cbr),
        ]
    };
    let back = prop_oneof![2 => Just(Writes::Nothing), 1 => writes()];
    let both = prop_oneof![
        2 => udp.prop_map(|forward| (forward, None)),
        5 => (writes(), back).prop_map(|(forward, back)| (forward, Some(back))),
    ];
    let options = (
        prop::sample::select(vec!["tahoe", "reno", "newreno"]),
        prop::sample::select(vec!["every", "delayed-ack", "dynamic-delayed-ack"]),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        prop::sample::select(vec!["\"off\"", "0", "3"]),
        prop::sample::select(vec!["\"off\"", "\"linux\"", "13"]),
        prop::sample::select(vec![2_000u32, 8_000, 65_535]),
        prop::sample::select(vec![600u32, 1500]),
        prop::sample::select(vec![0u32, 4_294_960_000]),
    );
    let tcp = options.prop_map(|(congestion, receiver, (stamps, sack, nagle), scale, small, buffer, datagram, sequence)| {
        format!(
            "congestion = \"{congestion}\", receiver = \"{receiver}\", timestamps = {stamps}, sack = {sack}, nagle = {nagle}, window_scale = {scale}, small_queue = {small}, receive_buffer = \"{buffer} B\", datagram = \"{datagram} B\", initial_sequence = {sequence}, min_rto = \"200 ms\", max_rto = \"3 s\""
        )
    });
    (0usize..6, 0usize..5, 0u64..800, both, prop::sample::select(READERS.to_vec()), tcp)
        .prop_map(|(from, to, start_ms, writes, reader, tcp)| Flow { from, to, start_ms, writes, reader, tcp })
}

fn case() -> impl Strategy<Value = Case> {
    let errors = prop::sample::select(ERRORS.to_vec());
    let own = prop_oneof![4 => Just(None), 1 => prop::sample::select(ERRORS[..7].to_vec()).prop_map(Some)];
    let pairs = prop::collection::vec((prop::bool::weighted(0.12), own), 30);
    let queue = prop_oneof![
        2 => prop::sample::select(vec![1u32, 2, 5]).prop_map(|n| format!("{{ packets = {n} }}")),
        2 => Just("{ packets = 100 }".to_owned()),
        1 => Just("{ bytes = \"4 kB\" }".to_owned()),
        2 => prop::sample::select(vec!["drop-tail", "codel", "fq-codel", "drr", "mac80211"])
            .prop_map(|id| format!("{{ per = \"receiver\", packets = 5, discipline = \"{id}\" }}")),
        1 => prop::sample::select(vec!["aql = \"off\"", "aql = \"none\"", "aql = \"none\", airtime = false"])
            .prop_map(|keys| format!("{{ packets = 20, discipline = \"mac80211\", {keys} }}")),
    ];
    let schemes = vec![
        None,
        Some("strategy = \"follow\""),
        Some("strategy = \"every\""),
        Some("strategy = \"delayed-ack\"\nsack = \"keep\""),
    ];
    let radio = (prop::sample::select(RADIOS.to_vec()), 1u32..9, queue, errors, pairs);
    let delays = prop::collection::vec(prop::sample::select(vec![0u64, 0, 0, 50, 3_000]), 6);
    let kills = prop::collection::vec((0usize..6, 1u64..2_000), 0..3);
    let kills = prop_oneof![1 => Just(Vec::new()), 1 => kills];
    let flows = prop::collection::vec(flow(), 1..5);
    let schemes = prop::sample::select(schemes);
    (any::<u32>(), 2usize..7, radio, delays, flows, schemes, kills).prop_map(
        |(seed, nodes, (radio, max_attempts, queue, errors, pairs), host_delay_us, flows, scheme, kills)| Case {
            seed: u64::from(seed),
            nodes,
            radio,
            max_attempts,
            queue,
            errors,
            pairs,
            host_delay_us,
            flows,
            scheme,
            kills,
        },
    )
}

impl Case {
    fn ends(&self, flow: &Flow) -> (usize, usize) {
        let from = flow.from % self.nodes;
        (from, (from + 1 + flow.to % (self.nodes - 1)) % self.nodes)
    }

    fn is_msdu(&self) -> bool {
        self.errors.contains("msdu")
    }

    /// Ordered pairs with what they have of their own.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, bool, Option<&'static str>)> {
        let ids = (0..self.nodes).flat_map(|a| (0..self.nodes).map(move |b| (a, b))).filter(|(a, b)| a != b);
        ids.zip(&self.pairs).map(|((a, b), (deaf, errors))| (a, b, *deaf, errors.filter(|_| !self.is_msdu())))
    }

    fn text(&self, duration: &str) -> String {
        let mut text = format!(
            "[scenario]\nduration = \"{duration}\"\n[radio]\n{}\nmax_attempts = {}\nmax_attempts_long = {}\nqueue = {}\n[channel]\nerrors = {}\n",
            self.radio,
            self.max_attempts,
            self.max_attempts.min(4),
            self.queue,
            self.errors
        );
        for (a, b, deaf, errors) in self.pairs() {
            if deaf || errors.is_some() {
                _ = writeln!(text, "[[channel.pair]]\nfrom = \"n{a}\"\nto = \"n{b}\"\nreach = {}", !deaf);
                if let Some(errors) = errors {
                    _ = writeln!(text, "errors = {errors}");
                }
            }
        }
        for node in 0..self.nodes {
            _ = writeln!(text, "[[node]]\nname = \"n{node}\"\nhost_delay = \"{} us\"", self.host_delay_us[node]);
        }
        // Seven SYNs, three seconds apart, can all meet bad spells, as they once did.
        let patience = if self.is_hopeful() { ", syn_retries = 30" } else { "" };
        for flow in &self.flows {
            let (from, to) = self.ends(flow);
            let (forward, back) = flow.writes;
            _ = writeln!(text, "[[flow]]\nfrom = \"n{from}\"\nto = \"n{to}\"\nstart = \"{} ms\"", flow.start_ms);
            _ = writeln!(text, "traffic = {}", forward.text());
            let is_timed = |writes| !matches!(writes, Writes::Nothing | Writes::Bulk(_));
            if is_timed(forward) || back.is_some_and(is_timed) {
                _ = writeln!(text, "stop = \"{STOP_MS} ms\"");
            }
            match back {
                None => _ = writeln!(text, "transport = {{ protocol = \"udp\", datagram = \"900 B\" }}"),
                Some(back) => {
                    _ = writeln!(text, "reverse = {}\nreader = {}", back.text(), flow.reader);
                    _ = writeln!(
                        text,
                        "transport = {{ protocol = \"tcp\", preset = \"rfc\", {}{patience} }}",
                        flow.tcp
                    );
                }
            }
        }
        if let Some(params) = self.scheme {
            _ = writeln!(text, "[[scheme]]\nname = \"lle-tcp\"\n{params}");
        }
        for (node, at_ms) in &self.kills {
            _ = writeln!(text, "[[event]]\nat = \"{at_ms} ms\"\nkill = \"n{}\"", node % self.nodes);
        }
        text
    }

    /// True if a TCP flow must get all of its bytes across: everybody lives and hears everybody, and the MAC repeats often enough
    /// that TCP does not starve.
    fn is_hopeful(&self) -> bool {
        self.kills.is_empty() && self.max_attempts >= 5 && self.pairs().all(|(_, _, deaf, _)| !deaf)
    }
}

fn count(run: &Run, flow: usize, name: &str) -> u64 {
    run.flow(flow, name).unwrap_or_else(|| panic!("no column {name}")) as u64
}

/// The laws that hold of one flow whatever happened.
fn check_flow(case: &Case, run: &Run, index: usize, is_over: bool) -> Result<(), TestCaseError> {
    let flow = &case.flows[index];
    let delivered = count(run, index, "delivered_bytes_total");
    let Some(back) = flow.writes.1 else {
        let (sent, got) = (count(run, index, "datagrams_sent_total"), count(run, index, "delivered_packets"));
        prop_assert!(got <= sent, "flow {index}: {got} of {sent} datagrams");
        prop_assert_eq!(delivered, got * 872);
        return Ok(());
    };
    let acknowledged = count(run, index, "acked_bytes_total");
    let back_delivered = count(run, index, "reverse_delivered_bytes_total");
    for (writes, delivered) in [(flow.writes.0, delivered), (back, back_delivered)] {
        if let Some(written) = writes.at_most() {
            prop_assert!(delivered <= written, "flow {index}: {delivered} B of {written} B");
        }
    }
    let undelivered =
        ["acked_undelivered_bytes", "reverse_acked_undelivered_bytes"].map(|name| count(run, index, name));
    // An ACK can speak for bytes that no host has only where a scheme makes it: for a while, or if its station dies. Or
    // if the TCP above it has given up: the station acknowledges what then comes, and the host answers a reset. So it
    // may where the MAC repeats little: retransmission timers that run in step at two stations, to the nanosecond,
    // collide each time if there is no second attempt to draw a backoff for.
    let gives_up = case.max_attempts < 3 || delivered + back_delivered == 0;
    if case.scheme.is_none() || is_over && case.kills.is_empty() && !gives_up {
        prop_assert_eq!(undelivered, [0, 0], "flow {}", index);
        prop_assert!(acknowledged <= delivered, "flow {index}: {acknowledged} B acknowledged of {delivered} B");
    }
    if is_over && case.is_hopeful() {
        prop_assert_eq!(acknowledged, delivered, "flow {}", index);
        for (writes, delivered) in [(flow.writes.0, delivered), (back, back_delivered)] {
            if let Writes::Bulk(bytes) = writes {
                // A reverse direction that had not connected when its flow was stopped has written nothing.
                prop_assert!(delivered == bytes || delivered == 0 && is_stopped(flow), "flow {index}: {delivered} B");
            }
        }
    }
    Ok(())
}

fn is_stopped(flow: &Flow) -> bool {
    let is_timed = |writes| !matches!(writes, Writes::Nothing | Writes::Bulk(_));
    is_timed(flow.writes.0) || flow.writes.1.is_some_and(is_timed)
}

fn check_nodes(run: &Run) -> Result<(), TestCaseError> {
    let count = |row: &world::Row, name: &str| Run::number(row, name).unwrap() as u64;
    prop_assert!(run.books.balance(), "{:?}", run.books);
    for row in run.nodes.iter() {
        let ended: u64 = ["delivered", "given_up", "refused", "queued"]
            .iter()
            .map(|end| count(row, &format!("msdus_{end}")))
            .sum();
        let offered = count(row, "msdus_offered");
        // What died with its node is the difference; `Books` has it on its own.
        let is_dead = count(row, "is_dead") == 1;
        prop_assert!(if is_dead { ended <= offered } else { ended == offered }, "{:?}", row);
        prop_assert!(count(row, "data_frames_retried") <= count(row, "data_frames_sent"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_and_every_msdu_is_accounted_for(case in case()) {
        let text = case.text("400 s");
        let run = run(&text, case.seed, &Record::default());
        for flow in 0..case.flows.len() {
            check_flow(&case, &run, flow, true).inspect_err(|_| eprintln!("seed {}\n{text}", case.seed))?;
        }
        check_nodes(&run)?;
        if case.is_hopeful() {
            let queued: f64 = run.nodes.iter().map(|row| Run::number(row, "msdus_queued").unwrap()).sum();
            prop_assert_eq!(queued, 0.0, "all is over");
            prop_assert_eq!(run.books.live, 0);
        }
    }

    /// Cut off in the middle of whatever goes on.
    #[test]
    fn the_books_balance_at_any_instant(case in case(), at_ms in 1u64..1_500) {
        // Flows and deaths begin before the end.
        let mut case = case;
        case.flows.iter_mut().for_each(|flow| flow.start_ms = flow.start_ms.min(at_ms - 1));
        case.kills.iter_mut().for_each(|kill| kill.1 = kill.1.min(at_ms));
        let text = case.text(&format!("{at_ms} ms")).replace(&format!("stop = \"{STOP_MS} ms\"\n"), "");
        let run = run(&text, case.seed, &Record::default());
        for flow in 0..case.flows.len() {
            check_flow(&case, &run, flow, false)?;
        }
        check_nodes(&run)?;
    }
}

/// True if a captured frame is from or for a node. CTS and ACK do not say from whom they are.
fn is_own(frame: &[u8], node: usize) -> bool {
    use wire::dot11::{BlockAck, BlockAckReq, Data, Frame, MacAddr, Rts};
    let own = MacAddr::of_node(units::NodeId(node as u32));
    match Frame::parse(frame).unwrap() {
        Frame::Data(Data { header, .. }) => [header.addr1, header.addr2].contains(&own),
        Frame::Rts(Rts { ra, ta, .. })
        | Frame::BlockAck(BlockAck { ra, ta, .. })
        | Frame::BlockAckReq(BlockAckReq { ra, ta, .. }) => [ra, ta].contains(&own),
        Frame::Cts(_) | Frame::Ack(_) | Frame::CfEnd(_) => true,
        Frame::Beacon(_) => false,
    }
}

/// A folder of its own, removed when done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Read off the captures: each holds what a station sent and what was for it, with the instant the first bit was on
    /// the air (radiotap) and the instant the last one was (pcapng).
    #[test]
    fn no_station_does_two_things_at_once_and_time_does_not_go_back(case in case()) {
        let folder = Folder(std::env::temp_dir().join(format!("interlayer-conservation-{}", std::process::id())));
        let text = case.text("2500 ms");
        let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
        let run = run(&text, case.seed, &record);
        for node in 0..case.nodes {
            let file = std::fs::read(folder.0.join(format!("n{node}-{}.pcapng", case.seed))).unwrap();
            let capture = wire::pcapng::Capture::read(&file).unwrap();
            let mut last = SimTime::ZERO;
            for (i, packet) in capture.packets.iter().enumerate() {
                let (radio, frame) = wire::radiotap::Radiotap::parse(packet.bytes).unwrap();
                prop_assert!(is_own(frame, node), "node {}, frame {} is between others", node, i + 1);
                // Whole microseconds, rounded down; the end is exact.
                let start = SimTime::ZERO + Dur::from_us(radio.tsft_us.unwrap());
                prop_assert!(last < start + Dur::from_us(1), "node {}, frame {}: {} < {}", node, i + 1, start, last);
                prop_assert!(start < packet.at, "node {}, frame {}", node, i + 1);
                last = packet.at;
            }
            prop_assert!(last <= SimTime::ZERO + Dur::from_ms(2500));
            let sent = Run::number(&run.nodes[node], "data_frames_sent").unwrap() as usize;
            prop_assert!(capture.packets.len() >= sent.saturating_sub(1), "the last one may be in the air");
        }
    }
}
