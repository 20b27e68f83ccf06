//! Frame sequences as data: what a station sends, step by step, and what it expects in between. @80211-2020 annex G
//!
//! A scheme that changes the sequence (an ACK that works as an RTS, several ACKs in one opportunity, fragments) is a file
//! here that builds another list. The station walks whatever list it is given.

mod basic;
mod group;
mod reply;
mod rts_cts;
mod txop;

pub use reply::reply;
pub use txop::Txop;

use crate::Config;
use crate::frame::{Class, Frame, Kind};
use phy::{Rate, airtime};
use units::{Bytes, Dur, NodeId};

/// Which of the two retry counters a failed step increments. @80211-2020 10.3.4.4
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Of RTS and of frames not longer than the RTS threshold.
    Short,
    /// Of frames longer than it.
    Long,
}

/// The answer a step waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Which frame.
    pub kind: Kind,
    /// From the end of the step: if no preamble has begun by then, the step has failed.
    pub timeout: Dur,
}

/// One transmission of the initiator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// What is sent.
    pub kind: Kind,
    /// At which rate.
    pub rate: Rate,
    /// Length of the frame.
    pub mpdu: Bytes,
    /// Its time on the air.
    pub airtime: Dur,
    /// Its Duration field.
    pub duration: Dur,
    /// Gap before it. Nothing for the first: contention grants it.
    pub gap: Dur,
    /// What must come back.
    pub answer: Option<Answer>,
    /// What its failure counts as.
    pub counter: Counter,
}

/// Steps of an exchange at most; a longer sequence (a TXOP) is several exchanges.
pub const MAX_STEPS: usize = 4;

/// A sequence under way.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    steps: [Option<Step>; MAX_STEPS],
    at: usize,
}

/// What an exchange is built from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// Receiver.
    pub to: NodeId,
    /// Length of the data frame, header to FCS.
    pub mpdu: Bytes,
    /// Rate of its body.
    pub rate: Rate,
    /// What it carries.
    pub class: Class,
    /// An earlier frame of the same transmit opportunity has set the NAVs for it: it needs no RTS.
    pub is_protected: bool,
}

/// What a station answers with, a SIFS after a frame for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Response {
    /// Which frame.
    pub kind: Kind,
    /// At which rate.
    pub rate: Rate,
    /// Its time on the air.
    pub airtime: Dur,
    /// Its Duration field.
    pub duration: Dur,
}

/// Which sequences a station conducts and how it answers those of others. A scheme may bring its own.
pub trait Plan: std::fmt::Debug {
    /// Writes the sequence that delivers a data frame. `exchange` holds the last one this plan wrote.
    fn exchange(&mut self, config: &Config, job: &Job, exchange: &mut Exchange);
    /// The answer to a frame addressed to this station, after a SIFS. `nav_is_idle`: its virtual carrier sense. Also asked
    /// about the frame that ended an exchange of its own, if that announces more than the exchange did: an answer to it ends
    /// the opportunity.
    fn answer(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response>;
    /// An answer is about to go out, and this station has an MSDU (`job`) for the same neighbour at the head of its line.
    /// Writes a sequence that begins with the answer and delivers the MSDU without contention, and returns true; or leaves
    /// the answer alone. Asked of the highest category first, and only while the NAV of this station is idle. `exchange` is
    /// then no longer what [`Plan::exchange`] wrote.
    fn reply(&mut self, _config: &Config, _answer: &Frame, _job: &Job, _exchange: &mut Exchange) -> bool {
        false
    }
}

/// The plan of DCF: data alone to a group, behind RTS and CTS above the threshold, else data and ACK.
#[derive(Debug, Default)]
pub struct Dcf {
    /// What the last exchange was built from: most frames of a flow are alike.
    last: Option<Job>,
}

impl Plan for Dcf {
    fn exchange(&mut self, config: &Config, job: &Job, exchange: &mut Exchange) {
        if self.last == Some(*job) {
            exchange.restart();
            return;
        }
        self.last = Some(*job);
        *exchange = if job.to == NodeId::BROADCAST {
            group::build(config, job)
        } else if config.rts.covers(job) && !job.is_protected {
            rts_cts::build(config, job)
        } else {
            basic::build(config, job)
        };
    }

    fn answer(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response> {
        let kind = match frame.kind {
            Kind::Data => Kind::Ack,
            // @80211-2020 10.3.2.9
            Kind::Rts if nav_is_idle => Kind::Cts,
            Kind::Rts | Kind::Cts | Kind::Ack => return None,
        };
        let (rate, airtime) = control(config, kind, frame.rate);
        // What the frame announced, less the gap and this answer; nothing beyond an ACK. @80211-2020 9.2.5
        let duration = frame.duration.saturating_sub(config.timing.sifs + airtime);
        Some(Response { kind, rate, airtime, duration })
    }
}

impl Exchange {
    /// What a station holds before its first MSDU.
    pub const EMPTY: Exchange = Exchange { steps: [None; MAX_STEPS], at: 0 };

    /// A sequence of these steps.
    pub fn of<const N: usize>(list: [Step; N]) -> Exchange {
        const { assert!(N > 0 && N <= MAX_STEPS) };
        let mut steps = [None; MAX_STEPS];
        for (slot, step) in steps.iter_mut().zip(list) {
            *slot = Some(step);
        }
        Exchange { steps, at: 0 }
    }

    /// The step that is to be sent or has been sent last.
    pub fn step(&self) -> &Step {
        self.steps[self.at].as_ref().expect("an exchange stands at one of its steps")
    }

    /// Goes on to the next step; `None` if that was the last.
    pub fn advance(&mut self) -> Option<&Step> {
        let next = self.steps.get(self.at + 1)?.as_ref()?;
        self.at += 1;
        Some(next)
    }

    /// How long it takes, as its first frame announces: up to the end of its last answer.
    pub fn length(&self) -> Dur {
        self.steps[0].map_or(Dur::ZERO, |first| first.airtime + first.duration)
    }

    /// At which step it stands.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// To a step it stood at before.
    pub(crate) fn go_to(&mut self, place: usize) {
        self.at = place;
    }

    /// From the beginning again.
    pub fn restart(&mut self) {
        self.at = 0;
    }
}

/// How long a control frame of `kind` answering a frame at `rate` takes, and at which rate it goes.
pub(crate) fn control(config: &Config, kind: Kind, rate: Rate) -> (Rate, Dur) {
    let rate = config.control_rate(rate);
    (rate, airtime(rate, kind.control_len(), config.preamble))
}

/// The step that carries the data. Its Duration covers the ACK. @80211-2020 9.2.5.2
fn data_step(config: &Config, job: &Job, gap: Dur, counter: Counter) -> Step {
    let (ack_rate, ack) = control(config, Kind::Ack, job.rate);
    Step {
        kind: Kind::Data,
        rate: job.rate,
        mpdu: job.mpdu,
        airtime: airtime(job.rate, job.mpdu, config.preamble),
        duration: config.timing.sifs + ack,
        gap,
        answer: Some(Answer { kind: Kind::Ack, timeout: config.answer_timeout(ack_rate) }),
        counter,
    }
}
