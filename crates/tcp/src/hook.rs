//! The influence of a scheme at the sender's node on a connection.

use crate::{Ack, FlowFacts};
use units::{Bytes, Dur, SimTime};
use wire::{Seq, SeqRange, Tcp};

/// The response to a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Retransmit and tell the controller.
    Congestion,
    /// Retransmit only: the window is not cut. The retransmission timer still backs off.
    Corruption,
}

/// The RTT that one ACK tells, on its way to those who read it. `None`: nothing was measured for that reader, or a hook before has
/// discarded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RttSample {
    /// The time when the ACK came: the measurement began one RTT before.
    pub now: SimTime,
    /// Its number.
    pub ack: Seq,
    /// For the retransmission timer: SRTT, RTTVAR and RTO. By timestamp, or of the timed segment. @RFC6298, @RFC7323
    pub timer: Option<Dur>,
    /// For the congestion control: [`Ack::rtt`], and HyStart. The timer's, unless the sender keeps records of segments.
    pub controller: Option<Dur>,
}

/// A scheme's ear and voice inside a sender. Every method has a default that changes nothing. Called within
/// [`crate::Connection::handle`], so it must not call back; requests go through [`SenderCommand`]. Several are asked in turn,
/// as a [`Vec`]: each gets what the one before it said.
pub trait SenderHook {
    /// A segment passed the checks of its sequence number and is about to be processed: for header bits and options
    /// TCP itself does not read.
    fn on_segment(&mut self, _tcp: &Tcp, _facts: &FlowFacts) {}

    /// An ACK, new or duplicate, is about to be acted upon. `facts` are those before it.
    fn on_ack(&mut self, _ack: &Ack, _facts: &FlowFacts) {}

    /// Returns the RTTs that the timer and the controller get of the one that an ACK told. Asked before
    /// [`SenderHook::on_ack`], of duplicates too if they tell one. [`crate::Counters`], RACK and the delivery rate keep
    /// the measured one. The controller reads none of the handshake's sample; its initial RTT is the one that the timer
    /// made of it.
    fn rtt_sample(&mut self, sample: RttSample, _facts: &FlowFacts) -> RttSample {
        sample
    }

    /// Returns the number of duplicate ACKs that make a loss: `configured`, unless a scheme knows better. Asked at each
    /// duplicate outside of recovery, after [`SenderHook::on_ack`].
    fn dup_ack_threshold(&mut self, configured: u32, _facts: &FlowFacts) -> u32 {
        configured
    }

    /// The retransmission timer has expired, with something in flight. Asked before [`SenderHook::loss`] is, which cannot
    /// tell a timeout from duplicates.
    fn on_timeout(&mut self, _facts: &FlowFacts) {}

    /// The segment `range` is taken for lost: at the third duplicate ACK, by RACK, at a partial ACK, at a timeout. `verdict` is
    /// [`Loss::Congestion`], or what a hook before this one said.
    fn loss(&mut self, verdict: Loss, _range: SeqRange, _facts: &FlowFacts) -> Loss {
        verdict
    }

    /// A segment leaves that begins with what was sent before, for whatever reason.
    fn resent(&mut self, _range: SeqRange, _now: SimTime, _facts: &FlowFacts) {}

    /// Returns a segment that never arrived, for another reason than congestion: it is sent again now, without a window
    /// cut. Asked after the ACK field of each segment was acted upon, until it returns `None`. Data that is acknowledged,
    /// SACKed, not in flight or beyond the peer's window is left out. With a scoreboard the whole segment that holds the
    /// first number is sent, and counts as lost; without one, the numbers given.
    fn corrupted(&mut self, _facts: &FlowFacts) -> Option<SeqRange> {
        None
    }

    /// Returns the `snd_max` of its facts when [`SenderHook::corrupted`] asked for a copy of the segment `range`, while
    /// that copy is under way. Asked where duplicate or partial ACKs alone say that the segment is lost: it is then
    /// neither sent again nor answered with a cut. Duplicates go on to tell what has left the network.
    fn in_repair(&mut self, _range: SeqRange, _facts: &FlowFacts) -> Option<Seq> {
        None
    }
}

units::debug_by_name!(SenderHook);

impl SenderHook for Vec<Box<dyn SenderHook>> {
    fn on_segment(&mut self, tcp: &Tcp, facts: &FlowFacts) {
        self.iter_mut().for_each(|hook| hook.on_segment(tcp, facts));
    }

    fn on_ack(&mut self, ack: &Ack, facts: &FlowFacts) {
        self.iter_mut().for_each(|hook| hook.on_ack(ack, facts));
    }

    fn rtt_sample(&mut self, sample: RttSample, facts: &FlowFacts) -> RttSample {
        self.iter_mut().fold(sample, |sample, hook| hook.rtt_sample(sample, facts))
    }

    fn dup_ack_threshold(&mut self, configured: u32, facts: &FlowFacts) -> u32 {
        self.iter_mut().fold(configured, |threshold, hook| hook.dup_ack_threshold(threshold, facts))
    }

    fn on_timeout(&mut self, facts: &FlowFacts) {
        self.iter_mut().for_each(|hook| hook.on_timeout(facts));
    }

    fn loss(&mut self, verdict: Loss, range: SeqRange, facts: &FlowFacts) -> Loss {
        self.iter_mut().fold(verdict, |verdict, hook| hook.loss(verdict, range, facts))
    }

    fn resent(&mut self, range: SeqRange, now: SimTime, facts: &FlowFacts) {
        self.iter_mut().for_each(|hook| hook.resent(range, now, facts));
    }

    fn corrupted(&mut self, facts: &FlowFacts) -> Option<SeqRange> {
        self.iter_mut().find_map(|hook| hook.corrupted(facts))
    }

    fn in_repair(&mut self, range: SeqRange, facts: &FlowFacts) -> Option<Seq> {
        self.iter_mut().find_map(|hook| hook.in_repair(range, facts))
    }
}

/// A command of a scheme to a sender, between two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderCommand {
    /// Send these numbers again, now and whatever the window; no window cut. Parts that are acknowledged or were never
    /// sent are left out.
    Retransmit(SeqRange),
    /// Keep no more than this in flight. Replaces the last bound; `Bytes(u64::MAX)` lifts it. Below one segment
    /// no full segment is sent: a stop.
    Bound(Bytes),
    /// Send no data and let no retransmission or persist timer run. Acknowledgments still go out.
    Freeze,
    /// End a freeze: timers start afresh, windows are what they were.
    Thaw,
    /// Start the retransmission timer anew with the current RTO, if it runs.
    RearmRto,
    /// Take everything before this number as acknowledged, as if the peer had said so without changing its window. No
    /// RTT is measured. Ignored unless it lies in what is in flight.
    LocalAck(Seq),
}
