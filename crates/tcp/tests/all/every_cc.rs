//! The laws of every registered congestion control, under random histories.

use plugin::{Entry, Info, Kind, Param, Params, Value};
use proptest::prelude::*;
use tcp::cc::{self, Congestion, CongestionControl, Probe, Window};
use tcp::{Ack, Seq, ack};
use units::{Bytes, Dur, SimTime};
use wire::Flags;

#[derive(Debug, Clone, Copy)]
enum Event {
    Ack { segments: u64, rtt_ms: u64 },
    Duplicate,
    Loss(Congestion),
    Recovered,
    Idle,
    Undo,
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => (1u64..5, 0u64..2000).prop_map(|(segments, rtt_ms)| Event::Ack { segments, rtt_ms }),
        2 => Just(Event::Duplicate),
        1 => Just(Event::Loss(Congestion::FastRetransmit)),
        1 => Just(Event::Loss(Congestion::EcnMark)),
        1 => any::<bool>().prop_map(|repeated| Event::Loss(Congestion::Rto { repeated })),
        1 => Just(Event::Recovered),
        1 => Just(Event::Idle),
        1 => Just(Event::Undo),
    ]
}

fn make(entry: &Entry<cc::Make>) -> Box<dyn CongestionControl> {
    (entry.plugin)(&Params::defaults(entry.info.params))
}

struct Finite;

impl Probe for Finite {
    fn gauge(&mut self, name: &'static str, unit: &'static str, value: f64) {
        assert!(value.is_finite() && !unit.is_empty(), "{name} is {value}");
    }
}

/// Runs a history; returns cwnd and ssthresh after each event. After the event `undone` tells, a cut is made and undone at once.
fn run(
    cc: &mut dyn CongestionControl,
    mss: u64,
    history: &[Event],
    flights: &[u64],
    undone: Option<(usize, Congestion)>,
) -> Vec<(Bytes, Bytes)> {
    let mut win = Window::new(Bytes(mss), 2, None);
    let mut recovering = false;
    let mut now = SimTime::ZERO;
    let mut seen = Vec::new();
    let mut una = 0;
    let owns = cc.owns_window(); // a loss is no reason for it
    for (i, (event, flight)) in history.iter().zip(flights.iter().cycle()).enumerate() {
        // What is in flight never exceeds cwnd.
        let flight = Bytes((flight * mss).min(win.cwnd.0));
        let mut ack = Ack {
            now,
            number: Seq(una as u32),
            acked: Bytes(0),
            counted: Bytes(0),
            prior_flight: flight,
            rtt: None,
            duplicate: true,
            local: false,
            flags: Flags::ACK,
            sacked: Bytes(0),
            lost: Bytes(0),
            rate: None,
            timestamps: None,
        };
        now += Dur::from_ms(7);
        let recovers = matches!(event, Event::Recovered) && recovering;
        recovering = match event {
            Event::Loss(why) => *why == Congestion::FastRetransmit,
            Event::Recovered => false,
            _ => recovering,
        };
        win.observe(flight, recovering);
        let before = win.clone();
        match *event {
            Event::Ack { segments, rtt_ms } => {
                ack.acked = Bytes(segments * mss);
                ack.counted = ack.acked;
                ack.prior_flight = flight.max(ack.acked);
                una += segments * mss;
                ack.number = Seq(una as u32);
                ack.rtt = (rtt_ms > 0).then(|| Dur::from_ms(rtt_ms));
                ack.duplicate = false;
                cc.on_ack(&ack, &mut win);
                cc.on_sent(now, Bytes(mss), &mut win);
                assert!(!recovering || owns || win.cwnd <= before.cwnd, "grows in recovery");
            }
            Event::Duplicate => cc.on_dup_ack(&ack, &mut win),
            Event::Loss(why) => {
                cc.on_congestion(why, &mut win);
                assert!(win.cwnd <= before.cwnd.max(Bytes(2 * mss)), "grows by a loss");
                assert!(why != Congestion::EcnMark || owns || win.cwnd <= before.cwnd, "grows by a mark");
                assert!(win.ssthresh >= Bytes(2 * mss), "RFC 5681 eq. 4: {}", win.ssthresh);
            }
            Event::Recovered if recovers => cc.on_recovered(&mut win),
            Event::Recovered => {}
            Event::Idle => cc.on_idle_restart(&mut win),
            Event::Undo => cc.on_undo(&mut win),
        }
        assert!(win.cwnd >= Bytes(mss), "cwnd {} below a segment", win.cwnd);
        assert!(win.cwnd.0 <= 1 << 40, "cwnd {} runs away", win.cwnd);
        if let Some((_, why)) = undone.filter(|(at, _)| *at == i && !recovering) {
            let before = win.clone();
            cc.on_congestion(why, &mut win);
            win = before;
            cc.on_undo(&mut win);
        }
        cc.probe(&mut Finite);
        seen.push((win.cwnd, win.ssthresh));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cwnd_stays_in_bounds_and_a_replay_equals_itself(
        mss in 64u64..9000,
        history in prop::collection::vec(events(), 1..400),
        flights in prop::collection::vec(0u64..300, 1..50),
    ) {
        for entry in &cc::registry() {
            let first = run(make(entry).as_mut(), mss, &history, &flights, None);
            prop_assert_eq!(first, run(make(entry).as_mut(), mss, &history, &flights, None));
        }
    }

    #[test]
    fn a_cut_that_is_undone_leaves_no_trace(
        mss in 64u64..9000,
        history in prop::collection::vec(events(), 1..200),
        flights in prop::collection::vec(0u64..300, 1..50),
        at in 0usize..200,
        timeout in any::<bool>(),
    ) {
        let why = if timeout { Congestion::Rto { repeated: false } } else { Congestion::FastRetransmit };
        // Of the history's own, none follows the cut that it would be of.
        let history: Vec<Event> = history.into_iter().filter(|event| !matches!(event, Event::Undo)).collect();
        // BBR forgets with an undo that the pipe is full, and takes back the first of several cuts, as Linux: a trace it is meant to leave.
        for entry in cc::registry().iter().filter(|entry| !make(entry).owns_window()) {
            let without = run(make(entry).as_mut(), mss, &history, &flights, None);
            let with = run(make(entry).as_mut(), mss, &history, &flights, Some((at, why)));
            prop_assert_eq!(without, with, "{}", entry.info.id);
        }
    }
}

#[test]
fn a_timeout_leaves_one_segment() {
    // RFC 5681 sec. 3.1: the loss window.
    for entry in &cc::registry() {
        let mut win = Window::new(Bytes(1000), 10, None);
        win.observe(Bytes(10_000), false);
        make(entry).on_congestion(Congestion::Rto { repeated: false }, &mut win);
        assert_eq!(win.cwnd, Bytes(1000), "{}", entry.info.id);
    }
}

#[test]
fn a_mark_lowers_the_window_but_never_below_a_segment() {
    // RFC 3168 sec. 6.1.2: as a loss, but bounded by one segment, where eq. 4 of RFC 5681 stops at two.
    for entry in cc::registry().iter().filter(|entry| !make(entry).owns_window()) {
        let name = entry.info.id;
        for (cwnd, least, most) in [(10_000, 1000, 9000), (3000, 1000, 2999), (1000, 1000, 1000)] {
            let mut win = Window::new(Bytes(1000), 1, None);
            win.cwnd = Bytes(cwnd);
            win.observe(Bytes(cwnd), false);
            make(entry).on_congestion(Congestion::EcnMark, &mut win);
            assert!((least..=most).contains(&win.cwnd.0), "{name}: from {cwnd} to {}", win.cwnd);
            assert!(win.ssthresh >= Bytes(2000) && win.ssthresh < Bytes(u64::MAX), "{name}: {}", win.ssthresh);
        }
    }
}

#[test]
fn the_registries_are_sorted_and_name_what_they_hold() {
    assert_eq!(cc::NAMES, cc::registry().ids());
    assert_eq!(ack::NAMES, ack::registry().ids());
    assert!(cc::find("venno").is_none() && ack::find("sometimes").is_none());
}

/// A controller that is not of this crate: cuts to a share of the flight.
#[derive(Debug)]
struct Cuts(f64);

static CUTS: Info = Info {
    id: "cuts",
    summary: "cuts to a share of the flight",
    source: "none",
    params: &[Param {
        key: "share",
        kind: Kind::Float { min: 0.1, max: 1.0 },
        default: Value::Float(0.5),
        doc: "Of the flight.",
    }],
};

impl CongestionControl for Cuts {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn on_congestion(&mut self, _: Congestion, win: &mut Window) {
        win.cut_flight_to(self.0);
    }
}

#[test]
fn a_program_adds_a_controller_with_parameters_to_the_registry() {
    let registry = cc::registry().with(&CUTS, |params| Box::new(Cuts(params.float("share")))).unwrap();
    let mut names = [cc::NAMES, &["cuts"]].concat();
    names.sort_unstable();
    assert_eq!(registry.ids(), names);
    let entry = registry.find("cuts").unwrap();
    let mut params = Params::defaults(entry.info.params);
    params.set("share", Value::Float(0.8));
    for (chosen, cwnd) in [(entry.chosen(), 5_000), (entry.with(params), 8_000)] {
        let mut win = Window::new(Bytes(1000), 10, None);
        win.observe(Bytes(10_000), false);
        (chosen.plugin)(&chosen.params).on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!(win.cwnd, Bytes(cwnd));
    }
    assert!(registry.with(&CUTS, |_| Box::new(Cuts(1.0))).is_err(), "it is there already");
}

#[test]
fn the_page_has_a_row_for_each() {
    let page = include_str!("../../../../docs/senders.md");
    for name in cc::NAMES {
        assert!(page.contains(&format!("\n| `{name}` | ")), "docs/senders.md: {name}");
    }
}
