//! The part of each station in aggregation, and what is said of parts that do not fit.

use crate::common::{changed, read, refused};
use mac::{AfterSilence, Aggregation, Discard};
use units::{Bytes, Dur};

/// A radio that aggregates, and a station with limits of its own.
const AGGREGATES: &str = r#"
scenario = { duration = "5 s" }
[radio]
standard = "802.11ac"
preamble = "ns3"
mcs = 5
streams = 2
width = "80 MHz"
guard_interval = "400 ns"
coding = "ldpc"
dscp_map = "precedence"
[radio.aggregation]
mpdus = 30
bytes = "50 kB"
time = "4 ms"
amsdu = "3 kB"
largest_mpdu = "7991 B"
window = 40
spacing = "4 us"
block_ack = ["be", "vo"]
attempts = 9
after_silence = "request"
tells_gaps = false
patience = "50 ms"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "sta"
mcs = "best"
mcs_to = { ap = 3 }
streams = 1
width = "40 MHz"
guard_interval = "800 ns"
aggregation = { lifetime = "1 s" }
[[flow]]
from = "ap"
to = "sta"
"#;

#[test]
fn a_station_has_its_standards_limits_then_the_radios_then_its_own() {
    let of = |text: &str, i: usize| {
        let scenario = read(text).unwrap();
        scenario.nodes[i].aggregation(&scenario.radio)
    };
    let ap = of(AGGREGATES, 0).unwrap();
    let limits = (ap.mpdus, ap.buffer, ap.bytes, ap.amsdu, ap.longest_mpdu, ap.time);
    assert_eq!(limits, (30, 40, Bytes(50_000), Bytes(3000), Bytes(7991), Dur::from_ms(4)));
    assert_eq!((ap.tids, ap.discard, ap.after_silence), (0b1100_1001, Discard::Attempts(9), AfterSilence::Request));
    // Its lifetime takes the place of the radio's attempts; all else is the radio's.
    assert_eq!(of(AGGREGATES, 1), Some(Aggregation { discard: Discard::Lifetime(Dur::from_ms(1000)), ..ap }));
    // What the radio says may be more than an older station has.
    let wide = changed(AGGREGATES, "standard = \"802.11ac\"", "standard = \"802.11ax\"");
    let wide = changed(&wide, "guard_interval = \"400 ns\"", "guard_interval = \"800 ns\"");
    let wide = changed(&wide, "mpdus = 30", "mpdus = 200").replace("window = 40", "window = 256");
    let mixed = changed(&wide, "mcs = \"best\"", "mcs = \"best\"\nstandard = \"802.11ac\"");
    let sta = of(&mixed, 1).unwrap();
    assert_eq!((sta.mpdus, sta.buffer), (64, 64));
    assert_eq!(of(&mixed, 0).map(|ap| (ap.mpdus, ap.buffer)), Some((200, 256)));
    let notes = read(&mixed).unwrap().notes();
    assert_eq!(notes, ["\"ap\" offers A-MPDUs of 200 MPDUs, and sends 64 at most to \"sta\": their window"]);
    assert_eq!(read(&wide).unwrap().notes(), [""; 0]);
}

#[test]
fn a_station_that_does_not_aggregate_has_no_part() {
    let dcf = changed(AGGREGATES, "mcs = \"best\"\n", "access = \"dcf\"\nmcs = \"best\"\n");
    refused(
        &dcf,
        "node[1].aggregation: block acknowledgment is of QoS stations, and access is \"dcf\"; take \"edca\"",
    );
    let dcf = changed(&dcf, "aggregation = { lifetime = \"1 s\" }\n", "");
    let scenario = read(&dcf).unwrap();
    assert_eq!(scenario.nodes[1].aggregation(&scenario.radio), None);
}

#[test]
fn silence_is_answered_by_data_and_as_in_ns_3_by_a_request_where_airtimes_are_ns_3s() {
    let asks = |keys: &str| {
        let text = format!(
            "scenario = {{ duration = \"1 s\" }}\n[radio]\nstandard = \"802.11ac\"\n{keys}\n\
             [[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let scenario = read(&text).unwrap();
        scenario.nodes[0].aggregation(&scenario.radio).unwrap().after_silence
    };
    assert_eq!(asks(""), AfterSilence::Data);
    assert_eq!(asks("preamble = \"ns3\""), AfterSilence::Request);
    assert_eq!(asks("preamble = \"ns3\"\naggregation = { after_silence = \"data\" }"), AfterSilence::Data);
}
