//! Frame sequences as data: what a station sends, step by step, and what it expects in between. @80211-2020 annex G
//!
//! A scheme that changes the sequence (an ACK that works as an RTS, a negative ACK, fragments) builds another list. The station
//! walks whatever list it is given.

mod basic;
mod block_ack_request;
mod burst;
mod cts_to_self;
mod group;
mod reply;
mod rts_cts;
mod txop;

pub(crate) use block_ack_request::block_ack_request;
pub use burst::burst;
pub use reply::reply;
pub use txop::Txop;

use crate::ack::Solicited;
use crate::frame::{Kind, block_ack};
use crate::psdu::{Body, Frame};
use crate::{Config, Protection};
use phy::format::DSSS;
use phy::{BlockCode, Mode, airtime_coded};
use units::{Bytes, Dur, NodeId};

/// The retry counter, of two, that a failed step increments. @80211-2020 10.3.4.4
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Of RTS and of frames not longer than the RTS threshold.
    Short,
    /// Of frames longer than it, and of all data behind an RTS (our choice, see `rts_cts`).
    Long,
}

/// The response a step waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Awaited {
    /// Its kind.
    pub kind: Kind,
    /// From the end of the step: if no preamble has begun by then, the step has failed.
    pub timeout: Dur,
}

/// One transmission of the initiator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Kind of the frame that is sent.
    pub kind: Kind,
    /// Its mode.
    pub mode: Mode,
    /// Length of its PSDU.
    pub psdu: Bytes,
    /// Its time on the air.
    pub airtime: Dur,
    /// Its Duration field.
    pub duration: Dur,
    /// Gap before it. Nothing for the first: contention grants it.
    pub gap: Dur,
    /// The response that must come; `None`: none.
    pub response: Option<Awaited>,
    /// The retry counter that its failure increments.
    pub counter: Counter,
}

/// Steps of an exchange at most; a longer sequence (a TXOP) is several exchanges.
pub const MAX_STEPS: usize = 3;

/// A sequence, and where a station stands in it.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    steps: [Step; MAX_STEPS],
    len: u8,
    at: u8,
}

/// The facts that an exchange is built from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// Receiver.
    pub to: NodeId,
    /// Length of the PSDU that carries the data.
    pub psdu: Bytes,
    /// Its mode.
    pub mode: Mode,
    /// The block code over it, if any.
    pub code: Option<BlockCode>,
    /// The response that it solicits, if it is for one receiver.
    pub solicits: Solicited,
    /// RTS/CTS precedes it, whatever its length.
    pub asks_rts: bool,
    /// RTS/CTS never precedes it, whatever asks for one.
    pub spares_rts: bool,
    /// An earlier frame of the same transmit opportunity has set the NAVs for it: it needs no RTS.
    pub is_protected: bool,
}

/// A station's response, a SIFS after a frame for it.
#[derive(Debug)]
pub struct Response {
    /// Its kind.
    pub kind: Kind,
    /// Its mode.
    pub mode: Mode,
    /// Its time on the air.
    pub airtime: Dur,
    /// Its Duration field.
    pub duration: Dur,
    /// Its length.
    pub len: Bytes,
    /// Its contents beyond its addresses and Duration.
    pub body: Body,
}

impl Response {
    /// A control frame in response to a frame in this mode that announced `duration`: at the highest basic rate not above
    /// it. It announces what was announced, less the gap and itself; nothing beyond an ACK. @80211-2020 9.2.5, 10.6.6.5.2
    // In line: most have no body, and write none.
    #[inline(always)]
    pub fn to(config: &Config, mode: Mode, duration: Dur, kind: Kind, body: Body) -> Response {
        let len = match &body {
            Body::Bitmap(bitmap) => block_ack(bitmap.width()),
            Body::Loaded(loaded) => block_ack(loaded.bitmap.width()) + Bytes(loaded.load.bytes.len() as u64),
            _ => kind.control_len(),
        };
        let (mode, airtime) = config.control_modes.response(mode, len);
        let duration = duration.saturating_sub(config.timing.sifs + airtime);
        Response { kind, mode, airtime, duration, len, body }
    }
}

/// Sequences that a station conducts, and its responses to those of others. A scheme may bring its own.
pub trait Plan {
    /// The sequence that delivers a data frame. Asked whenever one is about to begin, or to be announced: the same job has
    /// the same sequence.
    fn exchange(&mut self, config: &Config, job: &Job) -> Exchange;
    /// The response to a frame addressed to this station, after a SIFS. `nav_is_idle`: its virtual carrier sense. Also asked
    /// about the frame that ended an exchange of its own, if that announces more than the exchange did: a response to it ends
    /// the opportunity.
    fn respond(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response>;
    /// A response is about to go out, and this station has an MSDU (`job`) for the same neighbour at the head of its line.
    /// A sequence that begins with the response and delivers the MSDU without contention; or `None`, and it goes alone. Asked
    /// of the highest category first, and only while the NAV of this station is idle. Only if it [`Plan::replies`].
    fn reply(&mut self, _config: &Config, _response: &Frame, _job: &Job) -> Option<Exchange> {
        None
    }
    /// True if it may have such a sequence. Asked once.
    fn replies(&self) -> bool {
        false
    }
    /// True if it grants the reverse direction, and takes grants. Asked once; without it none of the four that follow is asked.
    /// @80211-2020 10.29
    fn reverses(&self) -> bool {
        false
    }
    /// True if this neighbour does so too: QoS data to it have an HT Control field.
    fn reverses_with(&self, _to: NodeId) -> bool {
        false
    }
    /// The initiator: the time that an A-MPDU to this neighbour leaves free behind its Block Ack, within the opportunity. Without room for that
    /// much an opportunity does not go on.
    fn keeps_free(&self, _to: NodeId) -> Dur {
        Dur::ZERO
    }
    /// The initiator: an A-MPDU to this neighbour goes out. The part of what is left of the opportunity behind its Block Ack, `left`, that is
    /// the neighbour's; nothing: no grant.
    fn grant(&mut self, _to: NodeId, _left: Dur) -> Dur {
        Dur::ZERO
    }
    /// The responder: a Block Ack is about to go out that answers data with a grant, and this station has `job` for the same neighbour.
    /// The sequence that begins with the Block Ack and delivers the data within the grant; `None`: the Block Ack goes alone. Asked of the
    /// highest category first.
    fn burst(&mut self, _config: &Config, _block_ack: &Frame, _job: &Job) -> Option<Exchange> {
        None
    }
}

units::debug_by_name!(Plan);

/// The plan of DCF: data alone to a group, behind RTS and CTS if rate control or the threshold asks for that, behind what protects it if it must be, else
/// data and ACK.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dcf;

impl Plan for Dcf {
    fn exchange(&mut self, config: &Config, job: &Job) -> Exchange {
        if job.to == NodeId::BROADCAST {
            group::build(config, job)
        } else if config.rts.covers(job) && !job.is_protected {
            rts_cts::build(config, job)
        } else {
            // Those who cannot read the data cannot read either what it announces: each exchange of an opportunity is protected.
            let protection = config.protection.filter(|_| job.mode.format != &DSSS);
            match protection {
                None => basic::build(config, job),
                Some(Protection::CtsToSelf) => cts_to_self::build(config, job),
                Some(Protection::RtsCts) => rts_cts::build(config, job),
            }
        }
    }

    fn respond(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response> {
        let kind = match frame.kind {
            Kind::Data => Kind::Ack,
            // @80211-2020 10.3.2.9
            Kind::Rts if nav_is_idle => Kind::Cts,
            Kind::BlockAckReq => Kind::BlockAck,
            Kind::Rts | Kind::Cts | Kind::Ack | Kind::BlockAck | Kind::CfEnd | Kind::Nack => return None,
        };
        Some(Response::to(config, frame.tx.mode, frame.duration, kind, Body::Nothing))
    }
}

impl Exchange {
    /// A sequence of these steps.
    pub fn of<const N: usize>(list: [Step; N]) -> Exchange {
        const { assert!(N > 0 && N <= MAX_STEPS) };
        let mut steps = [list[0]; MAX_STEPS];
        steps[..N].copy_from_slice(&list);
        Exchange { steps, len: N as u8, at: 0 }
    }

    /// The step that is to be sent or has been sent last.
    pub fn step(&self) -> &Step {
        &self.steps[usize::from(self.at)]
    }

    /// Begins again.
    pub fn restart(&mut self) {
        self.at = 0;
    }

    /// Goes on to the next step; `None` if that was the last.
    pub fn advance(&mut self) -> Option<&Step> {
        if self.at + 1 == self.len {
            return None;
        }
        self.at += 1;
        Some(self.step())
    }

    /// Its duration, as its first frame announces: up to the end of its last response.
    pub fn length(&self) -> Dur {
        self.steps[0].airtime + self.steps[0].duration
    }
}

/// The retry counter that the failure of a data frame increments. @80211-2020 10.3.4.4
fn counter_of(config: &Config, job: &Job) -> Counter {
    if config.rts.is_above_threshold(job.psdu) { Counter::Long } else { Counter::Short }
}

/// The step that carries the data. Its Duration covers the response. @80211-2020 9.2.5.2
fn data_step(config: &Config, job: &Job, gap: Dur, counter: Counter) -> Step {
    let (mode, response) = config.control_modes.response(job.mode, job.solicits.len);
    Step {
        kind: Kind::Data,
        mode: job.mode,
        psdu: job.psdu,
        airtime: airtime_coded(job.mode, job.psdu, job.code),
        duration: config.timing.sifs + response,
        gap,
        response: Some(Awaited { kind: job.solicits.kind, timeout: config.response_timeout(mode) }),
        counter,
    }
}
