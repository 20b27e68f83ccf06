//! A rate control that learns from attempts.
//!
//! **Source** none; a small relative of SampleRate and Minstrel.
//! **Realism** a sender knows which of its MPDUs were acknowledged, and nothing else.
//! **Departs** from Minstrel: a chain of two stages at most, and the averages move with each attempt, not by the clock.
//! **Bound** every tenth frame is sent once in a mode that may be worse.
//! **Checked** by the tests below.

use engine::Stream;
use mac::{Chain, Head, MpduSet, PsduReport, RaTid, RateControl, Stage};
use phy::Mode;
use schemes::testing::{Ground, HERE, THERE, node, with};
use schemes::{Info, Kind, NodeFacts, Param, Params, Refusal, Site, Value};
use units::{Bytes, Dur, NodeId, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "learning-rates",
    summary: "a rate control that learns each receiver's best mode from its attempts",
    source: "none",
    params: &[
        Param {
            key: "every",
            kind: Kind::Int { min: 2, max: 1000 },
            default: Value::Int(10),
            doc: "one frame in so many tries another mode",
        },
        Param {
            key: "weight",
            kind: Kind::Float { min: 0.01, max: 1.0 },
            default: Value::Float(0.25),
            doc: "weight of the latest attempt in the success ratio",
        },
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let modes = site.node.standard.modes().to_vec();
    let timing = site.mac().timing;
    let waits = timing.slot * u64::from(2 + timing.cw_min / 2) + timing.sifs * 2;
    let learning = Learning {
        overhead: waits + phy::airtime(modes[0], mac::Kind::Ack.control_len()),
        every: params.int("every") as u64,
        weight: params.float("weight"),
        typical: site.node.mtu,
        receivers: vec![Receiver { ratios: vec![1.0; modes.len()], frames: 0 }; site.node.nodes],
        draws: site.stream(0),
        modes,
    };
    site.rate_control(move |_| Box::new(learning));
    Ok(())
}

/// The statistics of one receiver.
#[derive(Clone, Debug)]
struct Receiver {
    /// Success ratio of each mode; one that was never tried is believed to be perfect.
    ratios: Vec<f64>,
    frames: u64,
}

#[derive(Debug)]
struct Learning {
    every: u64,
    weight: f64,
    typical: Bytes,
    /// The time of an attempt beside its data: DIFS, a mean first backoff, SIFS and an Ack in the slowest mode.
    overhead: Dur,
    modes: Vec<Mode>,
    receivers: Vec<Receiver>,
    draws: Stream,
}

impl Learning {
    /// The index of the mode with the best expected throughput. Of equals the slower one.
    fn best(&self, to: NodeId, mpdu: Bytes) -> usize {
        let throughput = |i: usize| {
            let time = self.overhead + phy::airtime(self.modes[i], mpdu);
            self.receivers[to.index()].ratios[i] / time.as_secs_f64()
        };
        (1..self.modes.len()).fold(0, |best, i| if throughput(i) > throughput(best) { i } else { best })
    }
}

impl RateControl for Learning {
    fn chain(&mut self, _: SimTime, head: &Head, chain: &mut Chain) {
        let best = self.best(head.link.to, head.mpdu);
        let repair = Stage::of(self.modes[best]).tries(1);
        let receiver = &mut self.receivers[head.link.to.index()];
        receiver.frames += u64::from(head.attempts == 0);
        let is_trial = head.attempts == 0 && receiver.frames.is_multiple_of(self.every);
        if self.modes.len() == 1 || !is_trial {
            return chain.set([repair]);
        }
        let other = self.draws.below(self.modes.len() as u32 - 1) as usize;
        chain.set([Stage::of(self.modes[other + usize::from(other >= best)]).tries(1), repair]);
    }

    fn expected(&self, to: NodeId) -> Mode {
        self.modes[self.best(to, self.typical)]
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        let Some(i) = self.modes.iter().position(|m| *m == report.mode) else { return };
        if report.ppdu.is_some() {
            let success = report.acknowledged.len() as f64 / report.mpdus as f64;
            let ratio = &mut self.receivers[report.link.to.index()].ratios[i];
            *ratio += self.weight * (success - *ratio);
        }
    }
}

const MPDU: Bytes = Bytes(1528);

/// The rate control of a station among four nodes, and the modes of its radio.
fn learning(set: &[(&'static str, Value)]) -> (Box<dyn RateControl>, Vec<Mode>) {
    let facts = node(HERE, 4);
    let modes = facts.standard.modes().to_vec();
    let mut ground = Ground::new(facts);
    assert!(ground.install(&with(&INFO, install, set)).unwrap());
    let inner = Box::new(mac::Fixed::new(modes[0]));
    (ground.stack.rate_control(inner), modes)
}

/// One frame to `to`, in one attempt that `succeeds` or not in the mode that was chosen.
fn frame(control: &mut dyn RateControl, to: NodeId, succeeds: impl Fn(Mode) -> bool) -> Mode {
    let mode = chain(control, to, 0).stages()[0].mode;
    tell(control, to, mode, succeeds(mode), true);
    mode
}

fn chain(control: &mut dyn RateControl, to: NodeId, attempts: u8) -> Chain {
    let mut chain = Chain::of([Stage::of(phy::Mode::dsss(0))]);
    control.chain(SimTime::ZERO, &Head { link: RaTid { to, tid: None }, mpdu: MPDU, attempts }, &mut chain);
    chain
}

fn tell(control: &mut dyn RateControl, to: NodeId, mode: Mode, success: bool, went_out: bool) {
    let report = PsduReport {
        link: RaTid { to, tid: None },
        ppdu: went_out.then_some(1),
        mode,
        stage: 0,
        nth: 1,
        airtime: Dur::ZERO,
        mpdus: 1,
        acknowledged: &MpduSet::first(usize::from(success)),
    };
    control.attempted(SimTime::ZERO, &report);
}

#[test]
fn every_tenth_frame_tries_another_mode() {
    let (mut control, modes) = learning(&[]);
    let fastest = *modes.last().unwrap();
    let chosen: Vec<Mode> = (0..400).map(|_| frame(&mut *control, THERE, |_| true)).collect();
    for (i, mode) in chosen.iter().enumerate() {
        assert_eq!(*mode != fastest, (i + 1) % 10 == 0, "frame {i} went in {mode:?}");
    }
    for mode in &modes {
        assert!(chosen.contains(mode), "{mode:?} was never tried");
    }
}

#[test]
fn the_trials_come_from_a_stream_of_its_own() {
    let run = || {
        let (mut control, _) = learning(&[]);
        (0..400).map(|_| frame(&mut *control, THERE, |_| true)).collect::<Vec<Mode>>()
    };
    assert_eq!(run(), run());
    let trials: Vec<Mode> = run().into_iter().skip(9).step_by(10).collect();
    assert!(trials.windows(4).any(|w| w[0] == w[1]), "trials go round instead of being drawn");
}

#[test]
fn a_mode_that_fails_is_left_and_found_again() {
    let (mut control, modes) = learning(&[]);
    let [slower, fastest] = modes[modes.len() - 2..] else { unreachable!() };
    for _ in 0..60 {
        frame(&mut *control, THERE, |mode| mode != fastest);
    }
    assert_eq!(control.expected(THERE), slower);
    for _ in 0..2000 {
        frame(&mut *control, THERE, |_| true);
    }
    assert_eq!(control.expected(THERE), fastest);
}

#[test]
fn throughput_counts_not_success() {
    // 802.11b, 1528 bytes: 11 Mb/s takes 1303 us and 674 us of overhead, 5.5 Mb/s 2415 us and 674 us. So 11 Mb/s is better
    // from a ratio of 0.64 on, and two thirds are more.
    let (mut control, modes) = learning(&[("weight", Value::Float(0.02))]);
    let fastest = *modes.last().unwrap();
    for i in 0..900 {
        let mode = chain(&mut *control, THERE, 0).stages()[0].mode;
        tell(&mut *control, THERE, mode, mode != fastest || i % 3 != 0, true);
    }
    assert_eq!(control.expected(THERE), fastest);
    // A third of it is less.
    for i in 0..900 {
        let mode = chain(&mut *control, THERE, 0).stages()[0].mode;
        tell(&mut *control, THERE, mode, mode != fastest || i % 3 == 0, true);
    }
    assert_ne!(control.expected(THERE), fastest);
}

#[test]
fn receivers_do_not_teach_each_other() {
    let (mut control, modes) = learning(&[]);
    let other = NodeId(3);
    for _ in 0..200 {
        frame(&mut *control, THERE, |mode| mode == modes[0]);
    }
    assert_eq!(control.expected(THERE), modes[0]);
    assert_eq!(control.expected(other), *modes.last().unwrap());
}

#[test]
fn a_frame_that_never_went_out_teaches_nothing() {
    let (mut control, modes) = learning(&[]);
    for _ in 0..200 {
        let mode = chain(&mut *control, THERE, 0).stages()[0].mode;
        tell(&mut *control, THERE, mode, false, false);
    }
    assert_eq!(control.expected(THERE), *modes.last().unwrap());
}

#[test]
fn a_failed_trial_is_repeated_in_the_best_mode() {
    let (mut control, modes) = learning(&[("every", Value::Int(2))]);
    let fastest = *modes.last().unwrap();
    frame(&mut *control, THERE, |_| true);
    let trial = chain(&mut *control, THERE, 0);
    let [first, second] = trial.stages() else { panic!("{trial:?}") };
    assert!(first.mode != fastest && (first.tries, second.mode) == (1, fastest), "{trial:?}");
    // Whatever comes after the two is decided with what they taught.
    assert_eq!(chain(&mut *control, THERE, 2).stages(), [Stage::of(fastest).tries(1)]);
}

#[test]
fn a_node_without_a_radio_has_none() {
    let mut ground = Ground::new(NodeFacts { has_air: false, ..node(HERE, 4) });
    assert_eq!(ground.install(&with(&INFO, install, &[])), Ok(false));
}
