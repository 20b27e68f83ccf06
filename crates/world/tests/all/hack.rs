//! HACK in whole cells of 802.11ac and ax: hardly an ACK contends, all of them arrive, and Block Acks are as long as they say.

use crate::cells::{downloads, fingerprinted, run};
use crate::tshark;
use proptest::prelude::*;
use world::{Cell, Run};

/// A server, an access point and `n` stations at 80 MHz, each with a download; keys of `[radio]`, of `[channel]`, of the scenario, of the flows,
/// and a scheme.
pub fn cell(n: usize, [radio, channel, duration, flow, scheme]: [&str; 5]) -> String {
    let queue = "queue = { packets = 2000 }";
    let head = format!(
        "[scenario]\n{duration}\n[radio]\nwidth = \"80 MHz\"\nstreams = 2\n{queue}\n{radio}\n[channel]\n{channel}"
    );
    downloads(n, [&head, "rate = \"10 Gb/s\"\ndelay = \"1 ms\"\nqueue = { packets = 5000 }", scheme, "", flow])
}

pub const AC: &str = "standard = \"802.11ac\"\nmcs = 9";
pub const AX: &str = "standard = \"802.11ax\"\nmcs = 11";
pub const LONG: &str = "duration = \"3 s\"\nwarmup = \"1 s\"";
const HACK: &str = "[[scheme]]\nname = \"hack\"";
const LLE: &str = "[[scheme]]\nname = \"lle-tcp\"";

pub fn goodput(run: &Run) -> f64 {
    Run::number(&run.summary, "goodput_bps").unwrap()
}

/// A counter of all stations and the access point.
fn count(run: &Run, name: &str) -> f64 {
    run.scheme("hack", name)
}

/// That of one node.
fn count_at(run: &Run, node: &str, name: &str) -> f64 {
    let id = Cell::Text(format!("hack@{node}"));
    let row = run.schemes.iter().find(|row| row[0].1 == id).unwrap();
    Run::number(row, name).unwrap()
}

/// A column of a node.
fn node(run: &Run, name: &str, column: &str) -> f64 {
    let id = Cell::Text(name.to_owned());
    let row = run.nodes.iter().find(|row| row[0].1 == id).unwrap();
    Run::number(row, column).unwrap()
}

/// The same with UDP in place of TCP, more than the radio carries: neither ACKs nor a window.
fn udp(n: usize, radio: &str) -> String {
    let tcp = "transport = { protocol = \"tcp\", preset = \"linux\", small_queue = \"off\", congestion = \"cubic\" }";
    let udp = format!(
        "traffic = {{ model = \"cbr\", rate = \"{} Mb/s\" }}\ntransport = {{ protocol = \"udp\", datagram = \"1500 B\" }}",
        1200 / n
    );
    cell(n, [radio, "", LONG, "", ""]).replace(tcp, &udp)
}

#[test]
fn hardly_an_ack_contends_and_goodput_lies_between_that_without_it_and_what_the_radio_carries() {
    for (n, radio) in [(1, AC), (3, AC), (1, AX)] {
        let [none, hack] = ["", HACK].map(|scheme| run(&cell(n, [radio, "", LONG, "", scheme]), 1));
        // A datagram carries 1472 B, a segment with timestamps 1448.
        let ceiling = goodput(&run(&udp(n, radio), 1)) * 1448.0 / 1472.0;
        let share = |of: &Run| (0..n).map(|i| node(of, &format!("s{i}"), "msdus_delivered")).sum::<f64>();
        let alone = share(&hack) / share(&none);
        let (gain, of_ceiling) = (goodput(&hack) / goodput(&none), goodput(&hack) / ceiling);
        println!(
            "{n} {radio:?}: {alone:.4} of the ACKs contend; goodput {gain:.3} of {:.0}, {of_ceiling:.3} of {ceiling:.0}",
            goodput(&none)
        );
        // Of the time after the warm-up: slow start, where the access point's queue runs empty, is over.
        assert!(alone < 0.02, "{n} {radio}: {alone}");
        // Block Acks of 32 ACKs for 64 MPDUs last 44 µs longer, of 128 for 256 MPDUs 176: 4 to 6 % of an exchange.
        assert!(gain > 1.04 && of_ceiling > 0.92 && of_ceiling < 0.99, "{n} {radio}: {gain} {of_ceiling}");
        // Without losses nothing is loaded twice, and all that was loaded has arrived but what the last Block Ack carried.
        let [carried, again, up] = ["acks_carried", "carried_again", "acks_handed_up"].map(|name| count(&hack, name));
        assert!(carried - up <= 255.0 && again == 0.0, "{carried} {up} {again}");
        assert!(carried > 0.85 * (carried + count(&hack, "acks_sent_alone")), "of the whole run");
        // 3 B a load and 4 B an ACK: no SACK blocks but in what was lost at the end of slow start.
        let bytes = count(&hack, "bytes_carried");
        assert!(bytes > 4.0 * carried && bytes < 4.3 * carried, "{bytes} {carried}");
    }
}

#[test]
fn connections_end_whole_whatever_is_lost() {
    // A tenth, a third and a half of all MPDUs, and as much or less of the responses.
    let flow = "traffic = { model = \"bulk\", bytes = \"3 MB\" }";
    let (mut again, mut carried) = (0.0, 0.0);
    for (i, (per, control)) in (1..).zip([(0.1, 0.05), (0.1, 0.3), (0.3, 0.3), (0.5, 0.2), (0.1, 0.5)]) {
        let errors = format!("errors = {{ model = \"packet\", per = {per}, control_per = {control} }}");
        for (radio, keys) in
            [(AC, ""), (AX, "aggregation = { after_silence = \"request\" }"), (AC, "aggregation = { attempts = 3 }")]
        {
            let radio = format!("{radio}\n{keys}");
            let run = run(&cell(2, [&radio, &errors, "duration = \"300 s\"", flow, HACK]), i);
            for of in 0..2 {
                let [total, acked] = ["delivered_bytes_total", "acked_bytes_total"].map(|name| run.flow(of, name));
                assert_eq!((total, acked), (Some(3e6), Some(3e6)), "{radio} {per} {control}");
                assert_eq!(run.flow(of, "acked_undelivered_bytes"), Some(0.0), "{radio} {per} {control}");
            }
            again += count(&run, "carried_again");
            carried += count(&run, "acks_carried");
            assert!(count(&run, "acks_handed_up") <= count(&run, "acks_carried"));
        }
    }
    println!("{carried} ACKs rode, {again} times again");
    assert!(carried > 1000.0 && again > 100.0, "{carried} {again}");
}

#[test]
fn uploads_ride_too_and_both_ways_at_once() {
    let tcp = r#"protocol = "tcp", preset = "linux", small_queue = "off", congestion = "cubic""#;
    let upload = format!("[[flow]]\nfrom = \"s0\"\nto = \"server\"\ntransport = {{ {tcp} }}\n");
    let run = run(&(cell(1, [AC, "", LONG, "", HACK]) + &upload), 1);
    for name in ["ap", "s0"] {
        let [carried, up] = ["acks_carried", "acks_handed_up"].map(|column| count_at(&run, name, column));
        println!("{name}: {carried} {up}");
        assert!(carried > 100.0 && up > 100.0, "{name}: {carried} {up}");
    }
    assert!((0..2).all(|flow| run.flow(flow, "goodput_bps") > Some(50e6)));
}

#[test]
fn no_ack_is_lost_where_stations_leave_or_die() {
    // `world::run` fails if a packet is unaccounted for.
    let events = "[[event]]\nat = \"400 ms\"\nbreak = [\"ap\", \"s0\"]\n[[event]]\nat = \"700 ms\"\nheal = [\"ap\", \"s0\"]\n\
                  [[event]]\nat = \"500 ms\"\nkill = \"s1\"\n[[event]]\nat = \"900 ms\"\nkill = \"ap\"\n\
                  [[event]]\nat = \"1100 ms\"\nrestart = \"ap\"\n";
    let run = run(&(cell(3, [AC, "", "duration = \"3 s\"", "", HACK]) + events), 1);
    assert!(run.flow(0, "delivered_bytes_total") > Some(1e6) && run.flow(2, "delivered_bytes_total") > Some(1e6));
    assert!(count(&run, "acks_carried") > 1000.0);
}

#[test]
fn a_run_repeats_itself_and_a_neighbour_without_it_gets_plain_block_acks() {
    let text = cell(2, [AC, "", "duration = \"500 ms\"", "", HACK]);
    let [one, other] = [1, 1].map(|seed| fingerprinted(&text, seed));
    assert_eq!(one.fingerprint, other.fingerprint);
    assert!(count(&one, "acks_carried") > 100.0);
    let plain = fingerprinted(&cell(2, [AC, "", "duration = \"500 ms\"", "", ""]), 1);
    // At the access point alone, or at the stations alone, it changes nothing.
    for at in ["[\"ap\"]", "[\"s0\", \"s1\"]"] {
        let alone = fingerprinted(&cell(2, [AC, "", "duration = \"500 ms\"", "", &format!("{HACK}\nat = {at}")]), 1);
        assert_eq!(alone.fingerprint, plain.fingerprint, "{at}");
    }
}

#[test]
fn bad_input_is_one_line() {
    let line = |text: &str| world::parse(text, &[]).expect_err("refused").to_string();
    let refused = "scheme[0].name: hack at \"ap\": it loads Block Acks, and this radio gets none; write standard = \"802.11n\" or later in \
                   [radio], and no block_ack = [] in [radio.aggregation]";
    let cell_of = |radio: &str| cell(1, [radio, "", LONG, "", HACK]);
    let legacy = |radio: &str| line(&cell_of(radio).replace("width = \"80 MHz\"\nstreams = 2\n", ""));
    assert_eq!(legacy("standard = \"802.11a\""), refused);
    assert_eq!(legacy("standard = \"802.11g\"\naccess = \"edca\""), refused);
    assert_eq!(line(&cell_of(&format!("{AC}\naggregation = {{ block_ack = [] }}"))), refused);
    let two = line(&cell(1, [AC, "", LONG, "", &format!("{LLE}\n{HACK}")]));
    assert_eq!(two, "scheme[1].name: lle-tcp and hack both claim the TCP ACKs of \"ap\"");
}

#[test]
fn block_acks_in_a_capture_are_longer_by_what_was_loaded() {
    let errors = "errors = { model = \"packet\", per = 0.1, control_per = 0.1 }";
    let text = cell(1, [AC, errors, "duration = \"120 ms\"", "", HACK]);
    let captured = tshark::capture(&text);
    // The station's Block Acks, as it sent them: 32 B and radiotap's header without a load.
    let lens: Vec<u64> = captured.frames[2]
        .iter()
        .filter(|frame| frame.is(tshark::BLOCK_ACK) && frame.from(2))
        .filter_map(|frame| frame.number("frame.len"))
        .collect();
    let plain = *lens.iter().min().unwrap();
    let more: u64 = lens.iter().map(|len| len - plain).sum();
    println!("{} Block Acks, {more} B", lens.len());
    assert!(more > 100);
    assert_eq!(more as f64, count(&captured.run, "bytes_carried"));
    // tshark reads them like any other: nothing is malformed, and each FCS is right.
    for frame in captured.frames.iter().flatten() {
        assert_eq!(frame.text("_ws.malformed"), "", "{frame:?}");
        assert!(frame.text("wlan.fc.type_subtype").is_empty() || frame.text("wlan.fcs.status") == "1", "{frame:?}");
    }
    // The access point's data frames say that more follows.
    let of_ap = |frame: &&tshark::Frame| frame.is(tshark::QOS_DATA) && frame.from(1);
    let said = captured.frames[1].iter().filter(of_ap).filter(|frame| frame.text("wlan.fc.moredata") == "1").count();
    assert!(said > 100, "{said}");
}

/// Radios, some with what makes a difference to Block Acks: requests, gaps that are told or not, few attempts, A-MSDUs, small windows,
/// opportunities, RTS, slow control frames.
const RADIOS: [&str; 8] = [
    AC,
    AX,
    "standard = \"802.11ac\"\nmcs = 3\naggregation = { after_silence = \"request\", attempts = 4 }",
    "standard = \"802.11ax\"\nmcs = 7\naggregation = { amsdu = \"4 kB\", tells_gaps = false, attempts = 5 }",
    "standard = \"802.11ac\"\nmcs = 7\naggregation = { mpdus = 4, window = 16 }\nedca = { be = { txop_limit = \"2 ms\" } }",
    "standard = \"802.11ac\"\nmcs = 5\nrts_threshold = \"2 kB\"\naggregation = { lifetime = \"50 ms\" }",
    "standard = \"802.11ax\"\nmcs = 0\nbasic_rate = \"6 Mb/s\"",
    "standard = \"802.11ac\"\nmcs = 9\npreamble = \"ns3\"\naggregation = { block_ack = [\"be\"] }",
];
const QUEUES: [&str; 5] = [
    "packets = 2000",
    "packets = 60",
    "discipline = \"fq-codel\", packets = 500",
    "discipline = \"mac80211\", packets = 1000",
    "packets = 300, per = \"receiver\"",
];
const KEYS: [&str; 4] = [
    "",
    "most = \"64 B\"",
    "patience = \"3 ms\"\ncompressed_ack = \"12 B\"",
    "most = \"2048 B\"\ncompressed_ack = \"2 B\"",
];

#[derive(Debug, Clone)]
struct Case {
    seed: u32,
    radio: &'static str,
    queue: &'static str,
    keys: &'static str,
    /// Of MPDUs, and of control frames.
    losses: (f64, f64),
    flow: &'static str,
    host_delay_us: u32,
    /// By download, upload.
    flows: Vec<bool>,
}

fn case() -> impl Strategy<Value = Case> {
    let of = |all: &'static [&'static str]| prop::sample::select(all);
    let losses = prop::sample::select(vec![(0.0, 0.0), (0.1, 0.1), (0.1, 0.5), (0.3, 0.2), (0.5, 0.3)]);
    let flow = of(&[
        "receiver = \"every\"",
        "receiver = \"delayed-ack\", sack = false",
        "congestion = \"newreno\", timestamps = false",
        "",
    ]);
    let delays = prop::sample::select(vec![0u32, 0, 80, 3000]);
    let flows = prop::collection::vec(prop::bool::weighted(0.7), 1..4);
    (any::<u32>(), of(&RADIOS), of(&QUEUES), of(&KEYS), losses, flow, delays, flows).prop_map(
        |(seed, radio, queue, keys, losses, flow, host_delay_us, flows)| Case {
            seed,
            radio,
            queue,
            keys,
            losses,
            flow,
            host_delay_us,
            flows,
        },
    )
}

impl Case {
    fn text(&self, duration: &str, bytes: u32, more: &str) -> String {
        let Case { radio, queue, keys, losses: (per, control), flow, host_delay_us, flows, .. } = self;
        let errors = format!("errors = {{ model = \"packet\", per = {per}, control_per = {control} }}");
        let of = |i: usize| {
            let (from, to) =
                if flows[i] { ("server".into(), format!("s{i}")) } else { (format!("s{i}"), "server".into()) };
            let comma = if flow.is_empty() { "" } else { ", " };
            format!(
                "[[node]]\nname = \"s{i}\"\nhost_delay = \"{host_delay_us} us\"\n[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 traffic = {{ model = \"bulk\", bytes = \"{bytes} B\" }}\n\
                 transport = {{ protocol = \"tcp\", preset = \"linux\"{comma}{flow} }}\n"
            )
        };
        let flows: String = (0..flows.len()).map(of).collect();
        let scheme = format!("{HACK}\n{keys}");
        let text = cell(0, [radio, &errors, &format!("duration = \"{duration}\""), "", &scheme]);
        text.replace("packets = 2000", queue) + &flows + more
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_lost_every_byte_arrives(case in case()) {
        let run = run(&case.text("3000 s", 400_000, ""), u64::from(case.seed));
        for flow in 0..case.flows.len() {
            let of = ["delivered_bytes_total", "acked_bytes_total"].map(|name| run.flow(flow, name));
            prop_assert_eq!(of, [Some(400_000.0); 2], "flow {} of {:?}", flow, case);
        }
    }

    /// `run` fails if a packet is unaccounted for: at any instant, and where a station has left or died.
    #[test]
    fn the_books_balance_at_any_instant(case in case(), at_ms in 1u32..1500, event in 0usize..4, when_ms in 1u32..1000) {
        let what = ["kill = \"s0\"", "kill = \"ap\"", "break = [\"ap\", \"s0\"]"].get(event);
        let event = what.map_or(String::new(), |what| format!("[[event]]\nat = \"{} ms\"\n{what}\n", when_ms.min(at_ms)));
        let run = run(&case.text(&format!("{at_ms} ms"), 100_000_000, &event), u64::from(case.seed));
        prop_assert!(count(&run, "acks_handed_up") <= count(&run, "acks_carried"));
        prop_assert!(run.books.balance());
    }
}
