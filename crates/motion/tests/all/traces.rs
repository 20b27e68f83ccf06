//! Traces: what setdest and BonnMotion write, CSV, and what is wrong with others.

use crate::s;
use motion::model::Given;
use motion::trace::{Format, Index, Player, ReadAt, Unusable};
use motion::{Leg, Model, Spec};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use units::SimTime;

fn names(nodes: usize) -> Vec<String> {
    (0..nodes).map(|i| format!("sta{}", i + 1)).collect()
}

fn read(text: &'static str, format: Format, nodes: usize) -> Result<Index, String> {
    let mut source = text.as_bytes();
    Index::read(&mut source, format, &names(nodes)).map_err(|error| match error {
        Unusable::Line(error) => error.to_string(),
        Unusable::Io(error) => panic!("{error}"),
    })
}

/// The models of all nodes of a trace.
fn models(source: Box<dyn ReadAt>, index: Index, nodes: usize) -> Vec<Box<dyn Model>> {
    let player = Rc::new(RefCell::new(Player::new(Arc::new(index), source, &names(nodes))));
    let draws = || engine::Streams::new(1).get(engine::Purpose::Mobility, 0);
    let spec = Spec::Trace { file: String::new() };
    let given = |node| Given { place: Some([9.0, 9.0]), draws: draws(), trace: Some((Rc::clone(&player), node)) };
    (0..nodes).map(|node| spec.make(given(node))).collect()
}

fn of(text: &'static str, format: Format, nodes: usize) -> Vec<Box<dyn Model>> {
    let index = read(text, format, nodes).unwrap_or_else(|error| panic!("{error}"));
    models(Box::new(text.as_bytes()), index, nodes)
}

/// Places of a model at these seconds.
fn places(model: &mut dyn Model, at: &[f64]) -> Vec<[f64; 2]> {
    let mut leg: Leg = model.first();
    let place = |now: &f64| {
        while leg.ends <= s(*now) {
            leg = model.next(&leg);
        }
        leg.place(s(*now)).map(|x| (x * 1e6).round() / 1e6)
    };
    at.iter().map(place).collect()
}

/// As setdest writes it: places, God's distances, then commands in order of time; speed 0 is a pause where the node is.
const SETDEST: &str = r#"#
# nodes: 2, pause: 2.00, max speed: 5.00, max x: 100.00, max y: 100.00
#
$node_(0) set X_ 10.000000000000
$node_(0) set Y_ 20.000000000000
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 50.000000000000
$node_(1) set Y_ 50.000000000000
$node_(1) set Z_ 0.000000000000
$god_ set-dist 0 1 1
$ns_ at 2.000000000000 "$node_(0) setdest 10.000000000000 40.000000000000 4.000000000000"
$ns_ at 2.000000000000 "$node_(1) setdest 90.000000000000 50.000000000000 1.000000000000"
$ns_ at 5.500000000000 "$god_ set-dist 0 1 2"
$ns_ at 7.000000000000 "$node_(0) setdest 10.000000000000 40.000000000000 0.000000000000"
$ns_ at 9.000000000000 "$node_(0) setdest 50.000000000000 40.000000000000 2.000000000000"
$ns_ at 12.000000000000 "$node_(1) setdest 60.000000000000 90.000000000000 4.000000000000"
"#;

#[test]
fn a_trace_of_setdest_is_followed_and_a_new_leg_replaces_the_one_under_way() {
    let mut models = of(SETDEST, Format::Ns2, 2);
    // Node 0: 20 m north at 4 m/s, there at 7 s; stands to 9 s; east at 2 m/s, 40 m to 29 s.
    assert_eq!(
        places(&mut *models[0], &[0.0, 2.0, 4.5, 7.0, 8.0, 10.0, 29.0, 500.0]),
        [
            [10.0, 20.0],
            [10.0, 20.0],
            [10.0, 30.0],
            [10.0, 40.0],
            [10.0, 40.0],
            [12.0, 40.0],
            [50.0, 40.0],
            [50.0, 40.0]
        ]
    );
    // Node 1: east at 1 m/s is at (60, 50) at 12 s and has 30 m to go; then north at 4 m/s, 40 m to 22 s.
    assert_eq!(
        places(&mut *models[1], &[7.0, 12.0, 17.0, 22.0, 30.0]),
        [[55.0, 50.0], [60.0, 50.0], [60.0, 70.0], [60.0, 90.0], [60.0, 90.0]]
    );
}

/// As BonnMotion's NSFile writes it: node by node.
const BONNMOTION: &str = r#"$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$ns_ at 0.0 "$node_(0) setdest 10.0 0.0 1.0"
$ns_ at 20.0 "$node_(0) setdest 0.0 0.0 2.0"
$node_(1) set X_ 0.0
$node_(1) set Y_ 5.0
$ns_ at 1.0 "$node_(1) setdest 0.0 15.0 5.0"
$ns_ at 30.0 "$node_(1) setdest 30.0 15.0 3.0"
$node_(2) set X_ 7.0
$node_(2) set Y_ 7.0"#;

#[test]
fn a_trace_may_stand_node_by_node_and_its_last_line_may_have_no_end() {
    let mut models = of(BONNMOTION, Format::Ns2, 4);
    assert_eq!(places(&mut *models[0], &[5.0, 15.0, 22.0, 26.0]), [[5.0, 0.0], [10.0, 0.0], [6.0, 0.0], [0.0, 0.0]]);
    assert_eq!(places(&mut *models[1], &[2.0, 29.0, 35.0]), [[0.0, 10.0], [0.0, 15.0], [15.0, 15.0]]);
    // Without a command it stays; without a word in the trace it is where the scenario has it.
    assert_eq!(places(&mut *models[2], &[99.0]), [[7.0, 7.0]]);
    assert_eq!(places(&mut *models[3], &[99.0]), [[9.0, 9.0]]);
}

#[test]
fn csv_says_where_a_node_is_and_it_goes_straight_between() {
    let text = "time,node,x,y\n1, sta1, 0, 0\n1, 1, 5, 5\n3, 0, 4, 2\n# a comment\n\n4,sta1,4,2\n5,sta1,0,2\n";
    let mut models = of(text, Format::Csv, 2);
    assert_eq!(
        places(&mut *models[0], &[0.0, 1.0, 2.0, 3.5, 4.5, 99.0]),
        [[0.0, 0.0], [0.0, 0.0], [2.0, 1.0], [4.0, 2.0], [2.0, 2.0], [0.0, 2.0]]
    );
    assert_eq!(places(&mut *models[1], &[0.0, 99.0]), [[5.0, 5.0]; 2]);
}

#[test]
fn what_is_wrong_has_line_and_column() {
    let ns2 = |text| read(text, Format::Ns2, 2).expect_err(text);
    let csv = |text| read(text, Format::Csv, 2).expect_err(text);
    assert_eq!(
        ns2("# a\n$node_(2) set X_ 1\n"),
        "line 2, column 8: no node 2: 2 nodes of the scenario follow this trace, from 0 on"
    );
    assert_eq!(
        ns2(
            "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$ns_ at 5.0 \"$node_(0) setdest 2 2 1\"\n$ns_ at 3.0 \"$node_(0) setdest 2 2 1\"\n"
        ),
        "line 4, column 9: time runs back: 3 s after 5 s, of the same node"
    );
    let go = |speed: &str| -> String {
        let text =
            format!("$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$ns_ at 5.0 \"$node_(0) setdest 20 2 {speed}\"\n");
        ns2(Box::leak(text.into_boxed_str()))
    };
    assert_eq!(go("0"), "line 3, column 37: a speed of 0 m/s: a node that goes somewhere has one above zero");
    assert_eq!(go("-1.5"), "line 3, column 37: a speed of -1.5 m/s: a node that goes somewhere has one above zero");
    assert_eq!(go("301"), "line 3, column 37: 301 m/s is too fast; 300 m/s is the most");
    assert_eq!(go("fast"), "line 3, column 37: expected a speed in metres a second, a number, got \"fast\"");
    assert_eq!(go("nan"), "line 3, column 37: expected a speed in metres a second, a number, got \"nan\"");
    assert_eq!(ns2("$ns_ at -1 \"$node_(0) setdest 2 2 1\""), "line 1, column 9: -1 s is before the run begins");
    assert_eq!(ns2("$node_(0) set W_ 1"), "line 1, column 15: expected X_, Y_ or Z_, got \"W_\"");
    assert_eq!(ns2("$node_(x) set X_ 1"), "line 1, column 8: expected a node's number, got \"x\"");
    assert_eq!(ns2("hello"), "line 1, column 1: expected $node_(, got \"hello\"");
    assert_eq!(ns2("$node_(0) set X_ 1\n"), "line 1, column 1: node 0 has X_ and no Y_");
    assert_eq!(
        csv("1,sta3,0,0"),
        "line 1, column 3: no node \"sta3\": 2 nodes of the scenario follow this trace, from 0 on"
    );
    assert_eq!(csv("1,0,0,0\n1,0,1,1"), "line 2, column 1: time runs back: 1 s after 1 s, of the same node");
    assert_eq!(csv("1,0,0,0\n2,0,400,0"), "line 2, column 5: 400.0 m/s since the row before; 300 m/s is the most");
    assert_eq!(csv("1,0,0"), "line 1, column 6: expected ,, got the end of the line");
    assert_eq!(csv("1,0,zero,0"), "line 1, column 5: expected a coordinate in metres, a number, got \"zero\"");
}

/// A trace that nobody holds: every line is made when it is read. Lines have 64 bytes.
#[derive(Debug)]
struct Endless {
    lines: u64,
    /// The line that is wrong.
    wrong: u64,
}

const WIDTH: u64 = 64;

impl Endless {
    fn line(i: u64) -> String {
        let (node, at) = (i % 50, i / 50);
        let text = format!("$ns_ at {at} \"$node_({node}) setdest {} {} 1.5\"", at % 90, (at + node) % 90);
        format!("{text:<63}\n")
    }
}

impl ReadAt for Endless {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        assert!(into.len() <= 16_384, "a buffer of fixed size");
        let mut read = 0;
        while read < into.len() && (offset + read as u64) / WIDTH < self.lines {
            let (line, from) = ((offset + read as u64) / WIDTH, ((offset + read as u64) % WIDTH) as usize);
            let text = if line == self.wrong { format!("{:<63}\n", "$ns_ at noon") } else { Endless::line(line) };
            let n = (into.len() - read).min(text.len() - from);
            into[read..read + n].copy_from_slice(&text.as_bytes()[from..from + n]);
            read += n;
        }
        Ok(read)
    }
}

#[test]
fn a_hundred_megabytes_are_read_in_pieces_and_a_mistake_at_their_end_is_found() {
    // 1.6 million lines in release; a twentieth of them where every check is compiled in.
    let lines = if cfg!(debug_assertions) { 80_000 } else { 1_600_000 };
    let names = names(50);
    let source = |wrong| Endless { lines, wrong };
    let index = Index::read(&mut source(u64::MAX), Format::Ns2, &names).expect("it is well formed");
    let wrong = Index::read(&mut source(lines - 1), Format::Ns2, &names).expect_err("its last line is wrong");
    assert_eq!(
        wrong.to_string(),
        format!("line {lines}, column 9: expected a time in seconds, a number, got \"noon\"")
    );
    // Followed to its end, it is read once more.
    let mut models = models(Box::new(source(u64::MAX)), index, 50);
    let mut legs: Vec<Leg> = models.iter_mut().map(|model| model.first()).collect();
    let mut turns = 0;
    while let Some(i) = (0..50).filter(|i| legs[*i].ends != SimTime::NEVER).min_by_key(|i| legs[*i].ends) {
        legs[i] = models[i].next(&legs[i]);
        turns += 1;
    }
    assert!(turns >= lines - 50, "{turns}");
}
