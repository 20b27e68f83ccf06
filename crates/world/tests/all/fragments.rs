//! MSDUs in fragments over a whole network: what they cost, and that tshark puts them together again.

use crate::tshark::tshark_is_here;
use std::sync::atomic::AtomicBool;
use testkit::tshark::{Folder, fields};
use world::{Record, Run};

/// Saturated UDP of 1500 B over 802.11a at 6 Mb/s, fragments of so many bytes.
fn cell(threshold: &str, rest: &str) -> String {
    format!(
        r#"
[scenario]
duration = "3 s"
[radio]
standard = "802.11a"
data_rate = "6 Mb/s"
fragmentation_threshold = "{threshold}"
{rest}
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
transport = {{ protocol = "udp", datagram = "1500 B" }}
traffic = {{ model = "saturated" }}
"#
    )
}

fn goodput(text: &str) -> f64 {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run: Run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
    run.flow(0, "goodput_bps").unwrap()
}

/// TXTIME of 802.11a at 6 Mb/s: 24 bits a symbol of 4 us, 16 bits of service and 6 of tail. @80211-2020 17.4.3
fn txtime(bytes: u64) -> f64 {
    20.0 + 4.0 * (16.0 + 8.0 * bytes as f64 + 6.0) / 24.0
}

/// In whole symbols.
fn symbols(bytes: u64) -> f64 {
    20.0 + 4.0 * ((16.0 + 8.0 * bytes as f64 + 6.0) / 24.0).ceil()
}

#[test]
fn a_burst_costs_its_frames_gaps_and_acks() {
    assert!(symbols(14) >= txtime(14));
    for (threshold, frames) in
        [("off", vec![1536]), ("320 B", vec![320, 320, 320, 320, 320, 76]), ("348 B", vec![348, 348, 348, 348, 256])]
    {
        let ack = symbols(14);
        let burst: f64 = frames.iter().map(|bytes| symbols(*bytes) + 16.0 + ack).sum();
        let gaps = 16.0 * (frames.len() - 1) as f64;
        // DIFS 34, and 7.5 slots of 9 us on average.
        let cycle = 34.0 + 7.5 * 9.0 + burst + gaps;
        let expected = 1472.0 * 8.0 / cycle * 1e6;
        let found = goodput(&cell(threshold, ""));
        assert!((found / expected - 1.0).abs() < 0.005, "{threshold}: {found}, by hand {expected}");
    }
}

#[test]
fn noise_that_spoils_long_frames_costs_less_with_fragments() {
    let noisy = "[channel]\nerrors = { model = \"bit\", ber = 2e-4 }";
    let [whole, cut] = ["off", "320 B"].map(|threshold| goodput(&cell(threshold, noisy)));
    assert!(cut > 2.0 * whole, "{cut} beside {whole}");
}

#[test]
fn tshark_reassembles_what_was_delivered() {
    if !tshark_is_here() {
        return;
    }
    let text = cell("320 B", "[channel]\nerrors = { model = \"packet\", per = 0.1, control_per = 0.1 }")
        .replace("{ model = \"saturated\" }", "{ model = \"cbr\", rate = \"1 Mb/s\" }");
    let scenario = world::parse(&text, &[]).unwrap();
    let folder = Folder::new();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    let run = world::run(&scenario, 1, &record, &AtomicBool::new(false)).unwrap();
    let names = ["_ws.malformed", "wlan.fcs.status", "udp.length", "udp.checksum.status", "wlan.fc.frag"];
    let frames = fields(&folder.0.join("b-1.pcapng"), &names, &["wlan.defragment:TRUE", "wlan.retransmitted:FALSE"]);
    let with = |name: &str, value: &str| frames.iter().filter(|frame| frame[name] == value).count();
    assert_eq!((with("_ws.malformed", ""), with("wlan.fcs.status", "1")), (frames.len(), frames.len()));
    // Of each MSDU the last fragment shows the whole datagram; of fragments whose end was given up nothing.
    let whole = with("udp.length", "1480");
    assert_eq!(
        (whole, with("udp.checksum.status", "1")),
        (run.flow(0, "delivered_packets").unwrap() as usize, whole)
    );
    assert!(whole > 200 && with("wlan.fc.frag", "1") > 5 * whole, "{whole}");
}
