//! A run that was recorded is made again, in whatever parts the clock cut it.

use crate::packets::{AP, CELL, NODES, PHONE, SERVER, ms, parse, six, tcp, udp};
use engine::{Purpose, Streams};
use live::{Command, Gate, RecordError, Recorder, ReplayError, replay};
use net::address6;
use std::path::PathBuf;
use units::{Dur, NodeId, SimTime};
use wire::Flags;
use world::{Drive, Record};

/// The cell with everything that hangs on the order of calls: queues by flow, errors, a scheme, a node that dies, a neighbour.
fn busy() -> String {
    let neighbour =
        "[[node]]\nname = \"neighbour\"\nposition = [0, 5]\n[[flow]]\nfrom = \"neighbour\"\nto = \"ap\"\n";
    let radio = "radio = { standard = \"802.11g\", queue = { discipline = \"fq-codel\", packets = 50 } }";
    let errors = "channel = { range = \"30 m\", errors = { model = \"packet\", per = 0.1, at = \"attempt\" } }";
    let death = "[[event]]\nat = \"700 ms\"\nkill = \"phone\"\n[[scheme]]\nname = \"lle-tcp\"\n";
    let text = CELL
        .replace("radio = { standard = \"802.11g\" }\nchannel = { range = \"30 m\" }", &format!("{radio}\n{errors}"));
    format!("{text}{neighbour}{death}")
}

/// A file of this test alone, removed at its end.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("interlayer-{name}-{}.pcapng", std::process::id())))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Does as the loop does, at random instants of a clock: advances, writes out, reads, changes, and records all of it. Returns the recording,
/// and how many packets were given to hosts.
fn recorded(text: &str, seed: u64) -> (Vec<u8>, u64) {
    let blueprint = parse(text);
    let file = File::new(&format!("replay-{seed}"));
    let names: Vec<&str> = blueprint.scenario().nodes.iter().map(|node| node.name.as_str()).collect();
    let mut recorder = Recorder::create(&file.0, seed, &names[..NODES]).unwrap();
    let mut gate = Gate::new(Drive::new(&blueprint, seed, &Record::default()).unwrap(), names.len());
    let mut draws = Streams::new(seed).get(Purpose::Traffic, 3);
    let (mut now, mut given) = (SimTime::ZERO, 0);
    while now < ms(1000) {
        let most = [50, 500, 5_000][draws.below(3) as usize];
        let step = draws.below(most);
        now += Dur::from_us(u64::from(step)) + Dur::from_ns(u64::from(draws.below(1000)));
        gate.drive().advance(now).unwrap();
        for node in 0..NODES {
            gate.leave(NodeId(node as u32), |at, bytes| {
                recorder.got(node, at, bytes).unwrap();
                given += 1;
            });
        }
        if draws.chance(0.01) {
            let text = ["node.phone.position=[50, 0]", "between.server.ap.broken=true", "link.backhaul.broken=false"];
            let text = text[draws.below(3) as usize];
            gate.drive().change(&Command::parse(text, blueprint.scenario()).unwrap().what).unwrap();
            recorder.line(now, text).unwrap();
        }
        // The clock has gone on since; two packets of one read may have one instant.
        let mut at = now + Dur::from_ns(u64::from(1 + draws.below(3_000)));
        for _ in 0..draws.below(4) {
            let ends = [SERVER, AP, PHONE];
            let from = draws.below(3) as usize;
            let to = ends[(from + 1 + draws.below(2) as usize) % 3];
            let from = ends[from];
            let port = draws.below(20) as u16;
            let ports = if from < to { [80, port] } else { [port, 80] };
            let bytes = match draws.below(5) {
                0 => udp(from, to, ports, draws.below(1400)),
                1 => six(from, address6(to), 59, &[7; 500]),
                2 => vec![0x45; 30],
                3 => tcp(from, to, ports, [draws.below(9_000), 1], Flags::ACK, 1000),
                _ => tcp(from, to, ports, [1, draws.below(9_000)], Flags::ACK, 0),
            };
            gate.enter(from, &bytes, at);
            recorder.sent(from.index(), at, &bytes).unwrap();
            at += Dur::from_ns(u64::from(draws.below(2)) * 700);
        }
        now = at;
    }
    let end = gate.drive().now();
    recorder.finish(end).unwrap();
    let conversations: Vec<_> = gate.conversations().cloned().collect();
    let run = gate.into_drive().stop().unwrap();
    let bytes = std::fs::read(&file.0).unwrap();
    let again = replay(&blueprint, &bytes).unwrap();
    assert_eq!((again.recorded, again.same, again.first_other), (given, given, None), "seed {seed}");
    assert!(again.conversations == conversations, "seed {seed}");
    assert_eq!(format!("{:?}", again.run.books), format!("{:?}", run.books));
    assert_eq!(
        (again.run.simulated, again.run.events, again.run.exchanges),
        (run.simulated, run.events, run.exchanges)
    );
    (bytes, given)
}

#[test]
fn a_recorded_run_is_made_again_bit_for_bit_however_the_clock_has_cut_it() {
    let given: u64 = (0..20).map(|seed| recorded(&busy(), seed).1).sum();
    assert!(given > 5_000, "{given}");
}

#[test]
fn a_recorded_run_ends_when_it_did_however_long_the_scenario_is() {
    let (bytes, given) = recorded(&busy(), 77);
    // A neighbour that sends for a day would take hours to simulate.
    let again = replay(&parse(&busy().replace("\"100 s\"", "\"86400 s\"")), &bytes).unwrap();
    assert_eq!(again.same, given);
    assert!(again.run.simulated < Dur::from_secs(2));
}

#[test]
fn a_recording_of_another_scenario_says_what_differs_first() {
    let (bytes, given) = recorded(&busy(), 78);
    let slower = replay(&parse(&busy().replace("802.11g\"", "802.11a\"")), &bytes).unwrap();
    assert!(slower.same < given && slower.recorded == given);
    let (at, _) = slower.first_other.unwrap();
    assert!(at < ms(100), "{at}");
    let other = parse(&busy().replace("\"phone\"", "\"tablet\""));
    assert!(matches!(replay(&other, &bytes), Err(ReplayError::NoNode(name)) if name == "phone"));
}

#[test]
fn a_recording_cut_short_or_of_another_program_is_refused_in_a_line() {
    let blueprint = parse(CELL);
    let (bytes, _) = recorded(CELL, 79);
    let refused = |bytes: &[u8]| {
        let Err(ReplayError::Record(error)) = replay(&blueprint, bytes) else { panic!("{} bytes", bytes.len()) };
        let line = error.to_string();
        assert!(!line.contains('\n'));
        (matches!(error, RecordError::Other(_)), line)
    };
    // Wherever it is cut: within a block it is no capture, between two it has no end.
    let (mut between, mut within) = (0, 0);
    for len in (0..bytes.len().min(3_000)).chain((3_000..bytes.len()).step_by(37)) {
        let (is_whole, _) = refused(&bytes[..len]);
        *(if is_whole { &mut between } else { &mut within }) += 1;
    }
    assert!(between > 5 && within > 1_000, "{between} {within}");
    assert!(refused(&[]).1.contains("pcapng"));
    assert!(refused(b"GET / HTTP/1.1\r\n\r\n").1.contains("pcapng"));
    let other = File::new("other");
    let mut to = wire::pcapng::Writer::new(std::fs::File::create(&other.0).unwrap(), Some("another")).unwrap();
    let air = to.interface(wire::pcapng::Description::new("wlan0", wire::pcapng::LinkType::RAW_IP)).unwrap();
    to.packet(air, ms(1), &udp(SERVER, AP, [1, 2], 9), None).unwrap();
    to.finish().unwrap();
    let (_, line) = refused(&std::fs::read(&other.0).unwrap());
    assert!(line.contains("no recording of `interlayer live`"), "{line}");
}

#[test]
fn any_bytes_for_a_recording_are_an_error_and_no_panic() {
    let blueprint = parse(CELL);
    let (bytes, _) = recorded(CELL, 80);
    let mut draws = Streams::new(5).get(Purpose::Traffic, 4);
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        for _ in 0..=draws.below(8) {
            let at = draws.below(damaged.len() as u32) as usize;
            damaged[at] = draws.below(256) as u8;
        }
        // Bytes of packets and times may be anything: then it is another run, or none.
        if let Ok(again) = replay(&blueprint, &damaged) {
            assert!(again.same <= again.recorded && again.run.books.balance());
        }
    }
}
