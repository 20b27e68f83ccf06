//! The timeline of the air: every transmission once, agreeing with what the results count, and changing no bit of them.

use crate::cells::recorded;
use std::path::PathBuf;
use units::{Dur, NodeId, SimTime};
use world::{Cell, FrameClass, LossCause, Outcome, Record, Row, Run, Timeline, Transmission, Window};

/// Four stations with TCP and RTS for long frames around a fifth, noise in all frames.
const STAR: &str = r#"
[scenario]
duration = "2 s"
[radio]
standard = "802.11g"
rts_threshold = "700 B"
[channel]
errors = { model = "packet", per = 0.1, control_per = 0.05 }
[[node]]
name = "sink"
[[node]]
name = "s"
count = 4
[[flow]]
from = "s"
to = "sink"
transport = { protocol = "tcp", preset = "rfc", datagram = "600 B", min_rto = "200 ms" }
[[flow]]
from = "sink"
to = "s1"
transport = { protocol = "tcp", preset = "rfc", datagram = "1500 B", min_rto = "200 ms" }
"#;

/// Categories, powers, capture, fading; two stations hidden from each other behind 80 m.
pub(crate) const LEVELS: &str = r#"
[scenario]
duration = "2 s"
[radio]
standard = "802.11a"
access = "edca"
capture = true
edca = { vo = { txop_limit = "2 ms" } }
[channel]
propagation = { model = "log-distance", exponent = 3.5 }
fading = { model = "rayleigh", coherence = "20 ms" }
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "near"
position = [3, 0]
data_rate = "24 Mb/s"
[[node]]
name = "left"
position = [-40, 0]
data_rate = "6 Mb/s"
[[node]]
name = "right"
position = [40, 0]
data_rate = "6 Mb/s"
[[flow]]
from = "near"
to = "ap"
dscp = 48
traffic = { model = "poisson", rate = "2 Mb/s" }
transport = { protocol = "udp", datagram = "500 B" }
[[flow]]
from = "left"
to = "ap"
transport = { protocol = "tcp", preset = "rfc", min_rto = "200 ms" }
[[flow]]
from = "right"
to = "ap"
traffic = { model = "saturated" }
transport = { protocol = "udp", datagram = "800 B" }
"#;

/// A base station with snoop between a server behind a wire and two mobiles that lose MSDUs, one of which dies.
pub(crate) const BASE_STATION: &str = r#"
[scenario]
duration = "2 s"
warmup = "300 ms"
[radio]
standard = "802.11b"
[channel]
errors = { model = "packet", per = 0.02, at = "msdu" }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "mobile"
position = [5, 0]
[[node]]
name = "other"
position = [6, 0]
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "2 ms"
[[flow]]
from = "server"
to = "mobile"
transport = { preset = "rfc" }
[[flow]]
from = "other"
to = "server"
transport = { preset = "rfc" }
[[event]]
at = "1500 ms"
kill = "other"
[[scheme]]
name = "snoop"
"#;

const ALL: [&str; 3] = [STAR, LEVELS, BASE_STATION];
pub(crate) const WHOLE: Window = Window { from: SimTime::ZERO, until: SimTime::NEVER };

fn run(text: &str, record: &Record) -> Run {
    recorded(text, 1, record)
}

fn timeline(text: &str, window: Window) -> (Run, Timeline) {
    let mut run = run(text, &Record { timeline: Some(window), ..Record::default() });
    let timeline = run.timeline.take().unwrap();
    (run, timeline)
}

fn outcome(it: &Transmission) -> &'static str {
    it.outcome().name()
}

fn number(row: &Row, name: &str) -> u64 {
    row.iter().find_map(|(n, cell)| if *n == name { Some(cell) } else { None }).map_or(0, |cell| match cell {
        Cell::Count(n) => *n,
        other => panic!("{name} is {other:?}"),
    })
}

#[test]
fn it_counts_by_class_and_outcome_what_the_results_count() {
    for (text, warmup) in ALL.into_iter().zip([0, 0, 300]) {
        let warmup = SimTime::ZERO + Dur::from_ms(warmup);
        let (run, timeline) = timeline(text, WHOLE);
        assert_eq!(timeline.missed, 0);
        let mut losses = [0; 8];
        let mut classes = 0;
        for class in FrameClass::ALL {
            let name = class.name();
            let of_class = || timeline.transmissions.iter().filter(move |it| it.class == class);
            // Results count a transmission when it begins, and what became of it when it ends.
            let ended = |what: &'static [&str]| {
                of_class().filter(|it| it.end() >= warmup && what.contains(&outcome(it))).count() as u64
            };
            let began = || of_class().filter(|it| it.start >= warmup);
            let row = run.frames.iter().find(|row| row[0].1 == Cell::Text(name.to_owned()));
            let Some(row) = row else {
                assert_eq!(began().count(), 0, "{name}");
                continue;
            };
            classes += 1;
            assert_eq!(number(row, "sent"), began().count() as u64, "{name}");
            assert_eq!(number(row, "received"), ended(&["received", "captured"]), "{name}");
            assert_eq!(number(row, "captured"), ended(&["captured"]), "{name}");
            assert_eq!(number(row, "lost_to_noise"), ended(&["noise"]), "{name}");
            assert_eq!(number(row, "lost_to_collision"), ended(&["collision"]), "{name}");
            assert_eq!(number(row, "lost_to_half_duplex"), ended(&["half-duplex"]), "{name}");
            let airtime: Dur = began().fold(Dur::ZERO, |sum, it| sum + it.airtime);
            assert_eq!(row.last().unwrap(), &("airtime_s", Cell::Real(airtime.as_secs_f64())), "{name}");
            for it in of_class().filter(|it| it.end() >= warmup) {
                if let Some(cause) = it.cause() {
                    losses[cause as usize] += 1;
                }
            }
        }
        assert!(classes >= 3, "{classes} classes");
        let columns: Vec<_> = run.summary.iter().filter(|(name, _)| name.starts_with("lost_")).collect();
        assert_eq!(columns.len(), LossCause::ALL.len());
        for ((cause, found), (column, counted)) in LossCause::ALL.into_iter().zip(losses).zip(columns) {
            let name = cause.name().replace('-', "_");
            assert_eq!(column.trim_start_matches("lost_").trim_start_matches("to_"), name);
            assert_eq!(counted, &Cell::Count(found), "{cause:?}");
        }
        assert!(losses.iter().sum::<u64>() > 20, "{losses:?}");
    }
}

#[test]
fn the_scenes_show_every_outcome_that_a_timeline_has_to_tell() {
    let mut seen = [[0; Outcome::ALL.len()]; ALL.len()];
    for (text, seen) in ALL.into_iter().zip(&mut seen) {
        timeline(text, WHOLE).1.transmissions.iter().for_each(|it| seen[it.outcome() as usize] += 1);
    }
    let [star, levels, base_station] = seen;
    assert!(star[0] > 1000 && star[2] > 100 && star[3] > 20, "{star:?}");
    assert!(levels[..5].iter().all(|n| *n > 10), "captured, noise, collision, busy transmitters: {levels:?}");
    assert!(base_station[0] > 500 && base_station[2] > 5, "{base_station:?}");
}

#[test]
fn a_station_sends_one_frame_at_a_time_in_order_and_an_overlap_is_one_in_the_timeline() {
    for text in ALL {
        let (_, timeline) = timeline(text, WHOLE);
        let all = &timeline.transmissions;
        assert!(all.is_sorted_by_key(|it| (it.start, it.from)));
        let nodes = all.iter().map(|it| it.from.0).max().unwrap() + 1;
        for node in (0..nodes).map(NodeId) {
            let own: Vec<&Transmission> = all.iter().filter(|it| it.from == node).collect();
            assert!(own.windows(2).all(|two| two[0].end() <= two[1].start), "{node:?}");
        }
        let mut overlaps = 0;
        for it in all {
            let Some(by) = it.overlap else { continue };
            overlaps += 1;
            let is_it = |other: &&Transmission| {
                (other.from, other.class) == (by.by, FrameClass::of(by.kind, by.label))
                    && other.start <= by.since
                    && other.end() > by.since
                    && (by.since == it.start || by.since == other.start)
            };
            assert!(by.since >= it.start && by.since < it.end(), "{it:?}");
            assert_eq!(all.iter().filter(is_it).count(), 1, "{it:?}");
        }
        assert!(overlaps > 10 || text == BASE_STATION, "{overlaps}");
    }
}

#[test]
fn data_frames_tell_their_packet_attempt_and_category_and_powers_where_there_are_any() {
    let (_, timeline) = timeline(LEVELS, WHOLE);
    let (mut attempts, mut voice) = (0, 0);
    for it in &timeline.transmissions {
        let is_data = it.class < FrameClass::Rts;
        assert_eq!((it.packet.is_some(), it.seq.is_some(), it.qos.is_some()), (is_data, is_data, is_data));
        assert!(it.power_mw.is_some_and(|mw| (0.0..1.0).contains(&mw)), "{it:?}");
        let Some(packet) = it.packet else { continue };
        assert_eq!(it.is_retry, packet.attempt > 1, "{it:?}");
        let (flow, is_reverse) = packet.of_flow().unwrap();
        assert_eq!((packet.tcp.is_some(), is_reverse), (flow == 1, it.from == NodeId(0)), "{it:?}");
        assert_eq!(it.class == FrameClass::TcpData, packet.tcp.is_some() && packet.payload > 0);
        // QoS data header 26, LLC and SNAP 8, IP 20, TCP 20 or UDP 8, FCS 4; MSS and SACK options on SYN aside.
        if it.class == FrameClass::TcpData {
            assert_eq!(it.mpdu.0, u64::from(packet.payload) + 26 + 8 + 20 + 20 + 4);
        }
        attempts += u64::from(packet.attempt > 1);
        voice += u64::from(it.qos.unwrap().category == 3 && flow == 0);
        assert_eq!(it.qos.unwrap().category == 3, flow == 0, "DSCP 48 is precedence 6: voice");
    }
    assert!(attempts > 50 && voice > 500, "{attempts} retries, {voice} in voice");
    let (_, reach) = self::timeline(STAR, WHOLE);
    assert!(reach.transmissions.iter().all(|it| it.power_mw.is_none() && it.qos.is_none()));
}

#[test]
fn a_window_is_what_the_whole_has_in_the_air_within_it() {
    for text in ALL {
        let (_, whole) = timeline(text, WHOLE);
        let at = |us: u64| SimTime::ZERO + Dur::from_us(us);
        // From the middle of a frame to the begin of another, and the last frame, cut by the end of the run.
        let one = whole.transmissions[700];
        let other = whole.transmissions[760];
        for window in [
            Window { from: at(1_000_000), until: at(1_050_000) },
            Window { from: one.start + one.airtime / 2, until: other.start },
            Window { from: at(1_990_000), until: SimTime::NEVER },
            Window { from: at(5_000_000), until: at(6_000_000) },
        ] {
            let (_, part) = timeline(text, window);
            let is_within = |it: &&Transmission| it.start < window.until && it.end() > window.from;
            let expected: Vec<Transmission> = whole.transmissions.iter().filter(is_within).copied().collect();
            assert_eq!(part.transmissions.is_empty(), window.from == at(5_000_000));
            assert_eq!((part.window, part.missed, part.transmissions), (window, 0, expected));
        }
    }
}

#[test]
fn a_frame_that_the_end_of_the_run_cuts_is_in_the_timeline() {
    // Saturated stations: at most instants something is in the air; of several ends some cut a frame.
    let mut cut = 0;
    for us in (0..20).map(|i| 100_000 + 137 * i) {
        let text = LEVELS.replace("duration = \"2 s\"", &format!("duration = \"{us} us\""));
        let (run, timeline) = timeline(&text, WHOLE);
        let end = SimTime::ZERO + Dur::from_us(us);
        for it in &timeline.transmissions {
            assert_eq!(outcome(it) == "in-the-air", it.end() >= end, "{it:?}");
            cut += u64::from(outcome(it) == "in-the-air");
        }
        let sent: u64 = run.frames.iter().map(|row| number(row, "sent")).sum();
        assert_eq!(sent, timeline.transmissions.len() as u64);
    }
    assert!(cut >= 10, "{cut}");
}

#[test]
fn no_more_than_the_limit_are_kept_and_the_others_counted() {
    // An exchange of 40 B at 54 Mb/s takes 0.16 ms: 500 000 frames are sent within 45 s.
    let text = "[scenario]\nduration = '45 s'\n[radio]\nstandard = '802.11a'\n[[node]]\nname = 'a'\n\
                [[node]]\nname = 'b'\n[[flow]]\nfrom = 'a'\nto = 'b'\ntraffic = { model = 'saturated' }\n\
                transport = { protocol = 'udp', datagram = '40 B' }\n";
    let (run, timeline) = timeline(text, WHOLE);
    let sent: u64 = run.frames.iter().map(|row| number(row, "sent")).sum();
    assert_eq!(timeline.transmissions.len(), Timeline::LIMIT);
    assert!(timeline.missed > 1000, "{sent} sent");
    assert_eq!(timeline.missed, sent - Timeline::LIMIT as u64);
    let last = timeline.transmissions.last().unwrap().end();
    assert!(last < SimTime::ZERO + Dur::from_secs(45), "the first ones are kept: {last:?}");
}

/// A folder of its own, removed when done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Everything of a run but the time it took, what was recorded, and how many timers went off.
fn bits(run: &Run) -> String {
    let Run { seed, simulated, exchanges, flows, nodes, queues, frames, schemes, summary, books, .. } = run;
    let cell = |(name, cell): &(&str, Cell)| match cell {
        Cell::Real(x) => format!("{name} {:016x} ", x.to_bits()),
        other => format!("{name} {other:?} "),
    };
    let text = |rows: &[Row]| rows.iter().flatten().map(cell).collect::<String>();
    let tables = [flows, nodes, queues, frames, schemes].map(|rows| text(rows));
    format!("{seed} {simulated:?} {exchanges} {books:?} {} {tables:?}", text(std::slice::from_ref(summary)))
}

#[test]
fn fingerprints_captures_series_and_timeline_on_or_off_move_no_bit() {
    for (i, text) in ALL.into_iter().enumerate() {
        let bare = bits(&run(text, &Record::default()));
        let name = format!("interlayer-timeline-{}-{i}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let mut prints = None;
        let mut lines = None;
        let mut columns = None;
        let mut captures: Option<Vec<u8>> = None;
        for on in 0..32 {
            let is = |bit: u32| on >> bit & 1 == 1;
            let record = Record {
                fingerprint: is(0),
                pcap_dir: is(1).then(|| folder.0.clone()),
                series: is(2),
                timeline: is(3).then_some(WHOLE),
                scene: is(4),
            };
            let run = run(text, &record);
            assert_eq!(bits(&run), bare, "{record:?}");
            let asked = (run.fingerprint.is_some(), run.series.is_some(), run.timeline.is_some());
            assert_eq!(asked, (is(0), is(2), is(3)));
            assert_eq!(run.story.is_some(), is(3) && is(4), "stories are of the frames of a picture");
            // And what one of them records is the same whatever the others do.
            if let Some(print) = run.fingerprint {
                assert_eq!(*prints.get_or_insert(print), print, "{record:?}");
            }
            if let Some(series) = run.series {
                let of = format!("{series:?}");
                assert_eq!(*columns.get_or_insert_with(|| of.clone()), of, "{record:?}");
            }
            if let Some(timeline) = run.timeline {
                assert!(timeline.transmissions.len() > 700);
                assert!(*lines.get_or_insert_with(|| timeline.clone()) == timeline, "{record:?}");
            }
            if is(1) {
                let capture = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path()).max();
                let capture = std::fs::read(capture.unwrap()).unwrap();
                assert!(capture.len() > 1000);
                assert!(*captures.get_or_insert_with(|| capture.clone()) == capture, "{record:?}");
            }
        }
    }
}
