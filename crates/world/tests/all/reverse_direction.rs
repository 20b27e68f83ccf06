//! The reverse direction in whole cells of 802.11n, ac and ax: ACKs return in the opportunity of their data, nothing is lost on the way, and captures show
//! what was granted.

use crate::cells::{fingerprinted, run};
use crate::hack::{AC, AX, LONG, cell, goodput};
use crate::tshark;
use proptest::prelude::*;
use world::{Cell, Run};

const REVERSE: &str = "[[scheme]]\nname = \"reverse-direction\"";
const LLE: &str = "[[scheme]]\nname = \"lle-tcp\"";
const SHORT: &str = "duration = \"1500 ms\"\nwarmup = \"700 ms\"";
/// Opportunities as long as the scheme's.
const TXOP: &str = "edca = { be = { txop_limit = \"2528 us\" } }";

/// A counter of all nodes.
fn count(run: &Run, name: &str) -> f64 {
    run.scheme("reverse-direction", name)
}

/// That of one node.
fn count_at(run: &Run, node: &str, name: &str) -> f64 {
    let id = Cell::Text(format!("reverse-direction@{node}"));
    let row = run.schemes.iter().find(|row| row[0].1 == id).unwrap();
    Run::number(row, name).unwrap()
}

/// Opportunities for best effort that a node has contended for.
fn txops(run: &Run, node: &str) -> f64 {
    let id = Cell::Text(format!("{node}.air.be"));
    let row = run.queues.iter().find(|row| row[0].1 == id).unwrap();
    Run::number(row, "txops_total").unwrap()
}

#[test]
fn acks_return_in_the_opportunity_of_their_data_and_goodput_lies_between_that_without_it_and_no_acks() {
    for (n, radio) in [(3, AC), (1, AX)] {
        let radio = format!("{radio}\n{TXOP}");
        let [none, reverse, lle] = ["", REVERSE, LLE].map(|scheme| run(&cell(n, [&radio, "", SHORT, "", scheme]), 1));
        let (gain, most) = (goodput(&reverse) / goodput(&none), goodput(&lle) / goodput(&none));
        println!("{n} {radio:?}: {gain:.3} of at most {most:.3}, over {:.0} Mb/s", goodput(&none) / 1e6);
        assert!(gain > 1.02 && gain < most, "{n} {radio}: {gain} {most}");
        // Hosts that answer at once: what an A-MPDU brings is answered behind it. An opportunity is the access point's.
        let txops: f64 = (0..n).map(|i| txops(&reverse, &format!("s{i}"))).sum();
        let bursts = count(&reverse, "bursts");
        assert!(txops < 0.1 * bursts, "{txops} {bursts}");
        assert!(bursts <= count(&reverse, "grants") && count(&reverse, "bytes_returned") > 100.0 * bursts);
    }
}

#[test]
fn connections_end_whole_whatever_is_lost() {
    let flow = "traffic = { model = \"bulk\", bytes = \"3 MB\" }";
    let mut bursts = 0.0;
    for (i, (per, control)) in (1..).zip([(0.1, 0.05), (0.1, 0.3), (0.3, 0.3), (0.5, 0.2), (0.1, 0.5)]) {
        let errors = format!("errors = {{ model = \"packet\", per = {per}, control_per = {control} }}");
        for (radio, keys) in
            [(AC, ""), (AX, "aggregation = { after_silence = \"request\" }"), (AC, "aggregation = { attempts = 3 }")]
        {
            let radio = format!("{radio}\n{keys}");
            let run = run(&cell(2, [&radio, &errors, "duration = \"300 s\"", flow, REVERSE]), i);
            for of in 0..2 {
                let [total, acked] = ["delivered_bytes_total", "acked_bytes_total"].map(|name| run.flow(of, name));
                assert_eq!((total, acked), (Some(3e6), Some(3e6)), "{radio} {per} {control}");
                assert_eq!(run.flow(of, "acked_undelivered_bytes"), Some(0.0), "{radio} {per} {control}");
            }
            bursts += count(&run, "bursts");
        }
    }
    assert!(bursts > 1000.0, "{bursts}");
}

#[test]
fn a_host_that_takes_its_time_returns_the_acks_of_the_ppdu_before() {
    // 100 us are more than a SIFS: what returns is what the A-MPDU before has brought.
    let text =
        cell(1, [AC, "", SHORT, "", REVERSE]).replace("name = \"s0\"", "name = \"s0\"\nhost_delay = \"100 us\"");
    let late = run(&text, 1);
    let [grants, bursts] = ["grants", "bursts"].map(|name| count(&late, name));
    println!("{bursts} of {grants}");
    assert!(bursts > 0.1 * grants, "{bursts} {grants}");
}

#[test]
fn uploads_are_granted_too_and_both_ways_at_once() {
    let tcp = r#"protocol = "tcp", preset = "linux", small_queue = "off", congestion = "cubic""#;
    let upload = format!("[[flow]]\nfrom = \"s0\"\nto = \"server\"\ntransport = {{ {tcp} }}\n");
    let run = run(&(cell(1, [AC, "", SHORT, "", REVERSE]) + &upload), 1);
    for name in ["ap", "s0"] {
        let [grants, bursts] = ["grants", "bursts"].map(|column| count_at(&run, name, column));
        println!("{name}: {grants} {bursts}");
        assert!(grants > 100.0 && bursts > 100.0, "{name}: {grants} {bursts}");
    }
    assert!((0..2).all(|flow| run.flow(flow, "goodput_bps") > Some(50e6)));
}

#[test]
fn nothing_is_unaccounted_for_where_stations_leave_or_die() {
    // `world::run` fails if a packet is unaccounted for.
    let events = "[[event]]\nat = \"400 ms\"\nbreak = [\"ap\", \"s0\"]\n[[event]]\nat = \"700 ms\"\nheal = [\"ap\", \"s0\"]\n\
                  [[event]]\nat = \"500 ms\"\nkill = \"s1\"\n[[event]]\nat = \"900 ms\"\nkill = \"ap\"\n\
                  [[event]]\nat = \"1100 ms\"\nrestart = \"ap\"\n";
    let run = run(&(cell(3, [AC, "", "duration = \"3 s\"", "", REVERSE]) + events), 1);
    assert!(run.flow(0, "delivered_bytes_total") > Some(1e6) && run.flow(2, "delivered_bytes_total") > Some(1e6));
    assert!(count(&run, "bursts") > 100.0);
}

#[test]
fn a_run_repeats_itself_and_a_neighbour_without_it_changes_nothing() {
    let text = |scheme: &str| cell(2, [&format!("{AC}\n{TXOP}"), "", "duration = \"500 ms\"", "", scheme]);
    let [one, other] = [1, 1].map(|seed| fingerprinted(&text(REVERSE), seed));
    assert_eq!(one.fingerprint, other.fingerprint);
    assert!(count(&one, "bursts") > 50.0);
    let plain = fingerprinted(&text(""), 1);
    for at in ["[\"ap\"]", "[\"s0\", \"s1\"]"] {
        let alone = fingerprinted(&text(&format!("{REVERSE}\nat = {at}")), 1);
        assert_eq!(alone.fingerprint, plain.fingerprint, "{at}");
    }
}

#[test]
fn bad_input_is_one_line() {
    let line = |text: &str| world::parse(text, &[]).expect_err("refused").to_string();
    let refused = "scheme[0].name: reverse-direction at \"ap\": it grants time behind A-MPDUs, and this radio makes none; \
                   write standard = \"802.11n\" or later in [radio], and no block_ack = [] in [radio.aggregation]";
    let cell_of = |radio: &str| cell(1, [radio, "", LONG, "", REVERSE]);
    let legacy = |radio: &str| line(&cell_of(radio).replace("width = \"80 MHz\"\nstreams = 2\n", ""));
    assert_eq!(legacy("standard = \"802.11a\""), refused);
    assert_eq!(legacy("standard = \"802.11g\"\naccess = \"edca\""), refused);
    assert_eq!(line(&cell_of(&format!("{AC}\naggregation = {{ block_ack = [] }}"))), refused);
    let hack = "[[scheme]]\nname = \"hack\"";
    let two = line(&cell(1, [AC, "", LONG, "", &format!("{hack}\n{REVERSE}")]));
    assert_eq!(two, "scheme[1].name: hack and reverse-direction both claim the load of Block Acks of \"ap\"");
    let short = line(&cell(1, [AC, "", LONG, "", &format!("{REVERSE}\ngrant = \"10 us\"")]));
    assert!(short.starts_with("scheme[0].grant: ") && short.contains("100 us"), "{short}");
}

#[test]
fn captures_show_grants_and_the_block_acks_that_begin_a_burst() {
    // Each format has its variant of HT Control; tshark names the bit of the HE variant otherwise.
    let ht = "standard = \"802.11n\"\nmcs = 7";
    let bit = "wlan.htc.rdg_more_ppdu";
    for (radio, bit) in [(ht, bit), (AC, bit), (AX, "wlan.htc.he.a_control.cci.rdg_more_ppdu")] {
        let errors = "errors = { model = \"packet\", per = 0.1, control_per = 0.1 }";
        let text = cell(1, [radio, errors, "duration = \"40 ms\"", "", REVERSE])
            .replace("width = \"80 MHz\"", if radio == ht { "width = \"40 MHz\"" } else { "width = \"80 MHz\"" });
        let captured = tshark::capture(&text);
        let run = &captured.run;
        for frame in captured.frames.iter().flatten() {
            assert_eq!(frame.text("_ws.malformed"), "", "{frame:?}");
            assert!(
                frame.text("wlan.fc.type_subtype").is_empty() || frame.text("wlan.fcs.status") == "1",
                "{frame:?}"
            );
        }
        // The access point's own: data that grant; the station's: Block Acks in a wrapper, 6 B longer than the others.
        let granting = |frame: &&tshark::Frame| frame.from(1) && frame.text(bit) == "1";
        let granted = captured.frames[1].iter().filter(granting).count();
        let begins = |frame: &&tshark::Frame| frame.from(2) && frame.is("23,25");
        let wrapped = captured.frames[2].iter().filter(begins).count();
        println!("{radio:?}: {granted} MPDUs grant, {wrapped} Block Acks in a wrapper");
        assert!(granted as f64 > count_at(run, "ap", "grants") && granted > 100);
        assert_eq!(wrapped as f64, count_at(run, "s0", "bursts"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    /// Whatever stands around it, bytes that were acknowledged have arrived, and packets are accounted for.
    #[test]
    fn nothing_acknowledged_is_lost(
        seed in 0u32..1000,
        radio in prop::sample::select(vec![AC, AX, "standard = \"802.11ac\"\nmcs = 5\nrts_threshold = \"2 kB\"",
            "standard = \"802.11ac\"\nmcs = 7\naggregation = { mpdus = 4, window = 16 }\ntxop_protection = \"multiple-cf-end\"",
            "standard = \"802.11ax\"\nmcs = 7\naggregation = { amsdu = \"4 kB\", tells_gaps = false, attempts = 5 }"]),
        queue in prop::sample::select(vec!["packets = 2000", "packets = 60", "discipline = \"mac80211\", packets = 1000"]),
        keys in prop::sample::select(vec!["", "grant = \"100 us\"", "grant = \"2 ms\"", "txop_limit = \"1 ms\""]),
        per in 0.0..0.4f64, control in 0.0..0.4f64, n in 1usize..4,
    ) {
        let errors = format!("errors = {{ model = \"packet\", per = {per}, control_per = {control} }}");
        let text = cell(n, [radio, &errors, "duration = \"400 ms\"", "", &format!("{REVERSE}\n{keys}")]);
        let text = text.replace("packets = 2000", queue);
        let run = run(&text, u64::from(seed));
        for flow in 0..n {
            prop_assert_eq!(run.flow(flow, "acked_undelivered_bytes"), Some(0.0));
        }
    }
}
