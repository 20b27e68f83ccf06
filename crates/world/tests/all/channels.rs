//! Several channels, and nodes with several radios.

use std::sync::atomic::AtomicBool;
use testkit::tshark::Folder;
use world::{Cell, Record, Row, Run};

/// One exchange of a 1500 B datagram at 11 Mb/s with nobody else on the channel, in seconds: DIFS 50 us, a mean backoff of 15.5 slots of
/// 20 us, long preamble 192 us and 1536 B of MPDU, SIFS 10 us, ACK of 14 B at 11 Mb/s after its preamble. @80211-2020 16.2, 10.3.4
const EXCHANGE: f64 = (50.0 + 15.5 * 20.0 + 192.0 + 1536.0 * 8.0 / 11.0 + 10.0 + 192.0 + 14.0 * 8.0 / 11.0) * 1e-6;
/// Payload of the datagram.
const PAYLOAD_BITS: f64 = 1472.0 * 8.0;
/// UDP payload a second of such a station.
const SATURATED: f64 = PAYLOAD_BITS / EXCHANGE;

fn run_recorded(text: &str, record: &Record) -> Run {
    let blueprint = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let run = world::run(&blueprint, 1, record, &AtomicBool::new(false)).unwrap();
    assert!(run.books.balance());
    run
}

fn run(text: &str) -> Run {
    run_recorded(text, &Record::default())
}

fn refused(text: &str) -> String {
    world::parse(text, &[]).expect_err(text).to_string()
}

fn row<'r>(run: &'r Run, id: &str) -> &'r Row {
    let is_it = |row: &&Row| row.iter().any(|(name, cell)| *name == "id" && *cell == Cell::Text(id.to_owned()));
    run.nodes.iter().find(is_it).unwrap_or_else(|| panic!("no row {id}"))
}

fn count(run: &Run, id: &str, column: &str) -> f64 {
    Run::number(row(run, id), column).unwrap_or_else(|| panic!("no {column} of {id}"))
}

fn saturated(from: &str, to: &str) -> String {
    format!(
        "[[flow]]\nfrom = '{from}'\nto = '{to}'\ntransport = {{ protocol = 'udp', datagram = '1500 B' }}\n\
         traffic = {{ model = 'saturated' }}\n"
    )
}

fn tcp(from: &str, to: &str) -> String {
    format!("[[flow]]\nfrom = '{from}'\nto = '{to}'\ntransport = {{ protocol = 'tcp', datagram = '1500 B' }}\n")
}

const HEAD: &str = "scenario = { duration = '4 s' }\nradio = { standard = '802.11b' }\n";

/// Two cells of three stations, each with a channel of its own that loses frames.
fn cells(flows: &[(&str, &str)]) -> String {
    let mut text = format!(
        "{HEAD}[channel]\nerrors = {{ model = 'packet', per = 0.1 }}\n\
         [[channel.further]]\nname = 'back'\nerrors = {{ model = 'bit', ber = 1e-5 }}\n"
    );
    for name in ["a0", "a1", "a2"] {
        text += &format!("[[node]]\nname = '{name}'\n");
    }
    for name in ["b0", "b1", "b2"] {
        text += &format!("[[node]]\nname = '{name}'\nchannels = ['back']\n");
    }
    text + &flows.iter().map(|(from, to)| saturated(from, to)).collect::<String>()
}

#[test]
fn a_saturated_cell_has_the_bits_that_it_has_without_the_one_on_the_other_channel() {
    let (front, back) = ([("a1", "a0"), ("a2", "a0")], [("b1", "b0"), ("b2", "b0")]);
    let both = run(&cells(&[front, back].concat()));
    let alone = [run(&cells(&front)), run(&cells(&back))];
    for (cell, alone) in [["a0", "a1", "a2"], ["b0", "b1", "b2"]].iter().zip(&alone) {
        for id in cell {
            assert_eq!(row(&both, id), row(alone, id));
        }
        // The two that are there share what one channel has.
        let airtime: f64 = cell.iter().map(|id| count(&both, id, "airtime_s")).sum();
        assert!((3.0..4.0).contains(&airtime), "{airtime}");
    }
    // Nor does it matter that the other channel is there.
    let without = "scenario = { duration = '4 s' }\nradio = { standard = '802.11b' }\n\
                   channel = { errors = { model = 'packet', per = 0.1 } }\n\
                   [[node]]\nname = 'a0'\n[[node]]\nname = 'a1'\n[[node]]\nname = 'a2'\n";
    let without = run(&(without.to_owned() + &saturated("a1", "a0") + &saturated("a2", "a0")));
    assert_eq!(without.nodes[..], both.nodes[..3]);
    // Not as numbers: no flow finishes, and NaN is not itself.
    assert_eq!(format!("{:?}", without.flows), format!("{:?}", &both.flows[..2]));
    // The two channels do not share their draws.
    assert_ne!(count(&both, "a1", "airtime_s"), count(&both, "b1", "airtime_s"));
}

/// A sender, a relay and a receiver in a row, with the relay on `channels`.
fn relay(channels: &str, flows: &str) -> String {
    format!(
        "{HEAD}[[channel.further]]\nname = 'back'\n[[node]]\nname = 'a'\n[[node]]\nname = 'relay'\nchannels = {channels}\n\
         [[node]]\nname = 'b'\nchannels = ['back']\n{flows}"
    )
}

const BOTH: &str = "['main', 'back']";

#[test]
fn a_relay_with_two_radios_passes_on_about_twice_what_it_does_on_one_channel() {
    let run_of_two = run(&relay(BOTH, &saturated("a", "b")));
    let two = run_of_two.flow(0, "goodput_bps").unwrap();
    // Each hop has a channel to itself. The second serves what the first brings, at the same mean rate: now and then it has nothing
    // to send, or its queue of 50 is full, so a little less arrives than either could carry.
    assert!((0.97..1.0).contains(&(two / SATURATED)), "{two} {SATURATED}");
    let (came, went) = (
        count(&run_of_two, "relay.air.main", "msdus_received"),
        count(&run_of_two, "relay.air.back", "msdus_offered"),
    );
    assert_eq!(came, went);
    assert!(row(&run_of_two, "relay").len() == 2 && count(&run_of_two, "relay.air.main", "airtime_s") > 0.0);
    // On one channel every datagram takes two exchanges. Two stations wait for the shorter of two backoffs: between none and one of
    // EXCHANGE. They sense each other, so collisions are those of two stations: some 6 % of exchanges, each as long.
    let shared = format!(
        "{HEAD}channel = {{ range = '30 m', sense_range = '100 m', sense_eifs = false }}\n\
         [[node]]\nname = 'a'\n[[node]]\nname = 'relay'\nposition = [25, 0]\n[[node]]\nname = 'b'\nposition = [50, 0]\n{}",
        saturated("a", "b")
    );
    let one = run(&shared).flow(0, "goodput_bps").unwrap();
    let least = 2.0 * (EXCHANGE - 310e-6) / EXCHANGE;
    assert!((least..2.1).contains(&(two / one)), "{two} {one}, ratio at least {least}");
}

#[test]
fn two_radios_of_a_node_send_at_the_same_time() {
    let run = run(&relay(BOTH, &(saturated("relay", "a") + &saturated("relay", "b"))));
    for flow in [0, 1] {
        let share = run.flow(flow, "goodput_bps").unwrap() / SATURATED;
        assert!((0.99..1.01).contains(&share), "{share}");
    }
    let queues: Vec<_> = run.queues.iter().map(|row| row[0].1.clone()).collect();
    let names = ["a.air", "relay.air.main", "relay.air.back", "b.air"];
    assert_eq!(queues, names.map(|name| Cell::Text(name.to_owned())));
}

#[test]
fn a_connection_over_two_channels_breaks_and_heals_and_its_relay_dies() {
    let break_ = |what: &str| format!("{}{what}", tcp("a", "b"));
    let whole = run(&relay(BOTH, &break_(""))).flow(0, "delivered_bytes").unwrap();
    assert!(whole > 1e6, "{whole}");
    let cut = "[[event]]\nat = '1 s'\nbreak = ['relay', 'b']\n[[event]]\nat = '2 s'\nheal = ['b', 'relay']\n";
    let broken = run(&relay(BOTH, &break_(cut))).flow(0, "delivered_bytes").unwrap();
    assert!((0.2..0.8).contains(&(broken / whole)), "{broken} {whole}");
    let dead = run(&relay(BOTH, &break_("[[event]]\nat = '1 s'\nkill = 'relay'\n")));
    assert!(dead.flow(0, "delivered_bytes").unwrap() < 0.4 * whole);
    assert_eq!(count(&dead, "relay.air.back", "is_dead"), 1.0);
}

#[test]
fn stations_of_an_access_point_with_two_radios_reach_each_other() {
    let text = "[[channel.further]]\nname = 'back'\n[[node]]\nname = 'ap'\nrole = 'ap'\nchannels = ['back', 'main']\n\
                [[node]]\nname = 'near'\n[[node]]\nname = 'far'\nchannels = ['back']\n";
    let run = run(&format!("{HEAD}{text}{}{}", tcp("near", "far"), tcp("far", "near")));
    for flow in [0, 1] {
        assert!(run.flow(flow, "delivered_bytes").unwrap() > 3e5, "{:?}", run.flows);
    }
    assert!(count(&run, "ap.air.back", "msdus_delivered") > 100.0);
}

#[test]
fn a_capture_holds_one_interface_and_is_called_after_it() {
    let folder = Folder::new();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    run_recorded(&relay(BOTH, &tcp("a", "b")), &record);
    let mut files: Vec<String> = std::fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    assert_eq!(files, ["a-1.pcapng", "b-1.pcapng", "relay.air.back-1.pcapng", "relay.air.main-1.pcapng"]);
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    let scheme = |at: &str| relay(BOTH, &format!("{}[[scheme]]\nname = 'snoop'\n{at}", tcp("a", "b")));
    let why = "\"relay\" has several radios, and a scheme sits at a node with one";
    assert_eq!(refused(&scheme("at = ['relay']\n")), format!("scheme[0].at: {why}"));
    assert_eq!(
        refused(&relay("['back']", &tcp("a", "b"))),
        "flow[0]: no way leads from \"a\" to \"b\"",
        "nobody is on both channels"
    );
}
