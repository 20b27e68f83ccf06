//! The scene of a run, for pictures that move: places, links of every cause, frames counted in bins.

use crate::determinism::run;
use units::{Dur, NodeId};
use world::{FrameClass, Record, Run};

fn with_scene(text: &str) -> Run {
    let blueprint = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&blueprint, 1, &Record { scene: true, ..Record::default() })
}

const EVENTS: &str = r#"
scenario = { duration = "8 s" }
radio = { standard = "802.11b" }
channel = { range = "40 m" }
[[node]]
name = "a"
position = [0, 0]
[[node]]
name = "b"
position = [20, 0]
[[node]]
name = "c"
position = [200, 0]
[[flow]]
from = "a"
to = "b"
start = "500 ms"
transport = { protocol = "udp", datagram = "100 B" }
traffic = { model = "cbr", rate = "576 b/s" }
[[event]]
at = "2 s"
break = ["a", "b"]
[[event]]
at = "4 s"
heal = ["a", "b"]
[[event]]
at = "5 s"
move = "c"
to = [0, 30]
"#;

#[test]
fn links_that_events_make_and_cut_are_in_it() {
    let run = with_scene(EVENTS);
    let (scene, paths) = (run.scene.unwrap(), run.motion.unwrap());
    assert_eq!(scene.places, [[0.0, 0.0], [20.0, 0.0], [200.0, 0.0]]);
    let links: Vec<_> =
        paths.meetings.iter().map(|it| (it.at.as_secs_f64(), it.pair.map(|node| node.0), it.is_up)).collect();
    // c, then 30 m from a and 36.1 m from b, comes into reach of both.
    let met = [(5.0, [0, 2], true), (5.0, [1, 2], true)];
    assert_eq!(links, [&[(0.0, [0, 1], true), (2.0, [0, 1], false), (4.0, [0, 1], true)][..], &met].concat());
}

#[test]
fn frames_are_counted_in_the_bin_in_which_they_end() {
    let scene = with_scene(EVENTS).scene.unwrap();
    assert_eq!(scene.bin, Dur::from_ms(10));
    // A datagram of 100 B a second (72 B of payload at 576 b/s), from 0.5 s on, each acknowledged. Of those of 2.5 and 3.5 s none arrives.
    let of = |class: FrameClass| scene.pulses.iter().filter(move |it| it.class == class);
    let received: Vec<u32> = of(FrameClass::Udp).filter(|it| it.lost == 0).map(|it| it.bin).collect();
    assert_eq!(received, [50, 150, 450, 550, 650, 750]);
    assert!(of(FrameClass::Udp).all(|it| (it.from, it.to) == (NodeId(0), NodeId(1))));
    let answers: Vec<_> = of(FrameClass::Ack).map(|it| (it.bin, it.from, it.to, it.frames, it.lost)).collect();
    let wanted: Vec<_> = received.iter().map(|bin| (*bin, NodeId(1), NodeId(0), 1, 0)).collect();
    assert_eq!(answers, wanted);
}
