//! A station under DCF: its queue, the exchange it conducts, and its answers to those of others. @80211-2020 10.3
//!
//! Call order: [`Station::handle`] with what happened, then carry out the outputs in order, then ask
//! [`Station::next_wakeup`] and set the station's one timer to it. At one instant a station hears the end of its own
//! frame ([`Input::Sent`]) before the ends of others' frames are told to anybody.

use crate::Config;
use crate::channel::Channel;
use crate::contention::{ContenderId, Outcome};
use crate::exchange::{Counter, Exchange, Job, Plan, Response};
use crate::frame::{Frame, Kind};
use crate::msdu::{Fate, Msdu, Next, TxQueue, TxReport};
use engine::Class as When;
use units::{Dur, NodeId, SimTime};
use wire::{Packet, Packets};

/// What happens to a station.
#[derive(Debug)]
pub enum Input {
    /// The upper layer hands down a packet.
    Enqueue(Msdu),
    /// Contention is won: transmit now.
    Granted,
    /// The station's own frame has left the air.
    Sent,
    /// A frame addressed to it, or to all, has been received.
    Received(Frame),
    /// A frame has ended that the station waited out instead of its answer.
    WaitedOut,
    /// The station's timer went off.
    Timer,
}

/// What a station asks of its driver.
#[derive(Debug)]
pub enum Output {
    /// Put this frame into the air now.
    Transmit(Frame),
    /// Hand the MSDU of this frame up: the sender's copy is still in its care.
    Deliver(Frame),
    /// An attempt of this packet has failed; whether another follows is told by what comes next.
    Attempt(Packet, TxReport),
    /// The MAC is done with an MSDU. It is to be freed once everybody has read the report.
    Done(Msdu, TxReport),
}

/// Where the station stands in the exchange it conducts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// None under way: contending, or nothing to send.
    Idle,
    /// A step is in the air.
    Sending,
    /// A step is over; its answer must begin before the timer goes off.
    Awaiting,
    /// A preamble has begun in time: what it turns out to be decides.
    Hearing,
    /// The answer came; the next step goes out when the timer goes off.
    Gap,
}

/// Counters of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// MSDUs handed down.
    pub msdus_offered: u64,
    /// MSDUs acknowledged, or sent to a group.
    pub msdus_delivered: u64,
    /// MSDUs dropped after the last attempt.
    pub msdus_given_up: u64,
    /// MSDUs refused by the queue: full, or RED's early drops.
    pub msdus_refused: u64,
    /// MSDUs that died with their node.
    pub msdus_abandoned: u64,
    /// Data frames sent, retries included.
    pub data_frames_sent: u64,
    /// Of those, with the retry bit.
    pub data_frames_retried: u64,
    /// RTS sent.
    pub rts_sent: u64,
    /// Exchanges begun, and those that failed.
    pub exchanges: u64,
    /// Steps that were not answered.
    pub failures: u64,
    /// MSDUs received, duplicates not counted.
    pub msdus_received: u64,
    /// Data frames received again.
    pub duplicates: u64,
    /// Time its frames have spent on the air.
    pub airtime: Dur,
}

/// Which sequence numbers of one transmitter have been received: the newest, and which of the 64 before it. More than
/// the one the standard asks for, since a queue that yields lets MSDUs overtake each other.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    newest: Option<u16>,
    before: u64,
}

impl Seen {
    /// Notes a sequence number. Returns whether the frame is a duplicate: a retry of one that was received.
    fn is_duplicate(&mut self, seq: u16, is_retry: bool) -> bool {
        let Some(newest) = self.newest else {
            self.newest = Some(seq);
            return false;
        };
        // Sequence numbers count modulo 4096; the shorter way tells ahead from behind.
        let ahead = seq.wrapping_sub(newest) % 4096;
        if ahead == 0 {
            return is_retry;
        }
        if ahead < 2048 {
            self.before = self.before.checked_shl(u32::from(ahead)).unwrap_or(0);
            if let Some(bit) = 1u64.checked_shl(u32::from(ahead) - 1) {
                self.before |= bit;
            }
            self.newest = Some(seq);
            return false;
        }
        let Some(bit) = 1u64.checked_shl(u32::from(4096 - ahead) - 1) else { return false };
        let was_seen = self.before & bit != 0;
        self.before |= bit;
        was_seen && is_retry
    }
}

impl Counters {
    /// What was counted after `then`.
    #[must_use]
    pub fn since(&self, then: &Counters) -> Counters {
        Counters {
            msdus_offered: self.msdus_offered - then.msdus_offered,
            msdus_delivered: self.msdus_delivered - then.msdus_delivered,
            msdus_given_up: self.msdus_given_up - then.msdus_given_up,
            msdus_refused: self.msdus_refused - then.msdus_refused,
            msdus_abandoned: self.msdus_abandoned - then.msdus_abandoned,
            data_frames_sent: self.data_frames_sent - then.data_frames_sent,
            data_frames_retried: self.data_frames_retried - then.data_frames_retried,
            rts_sent: self.rts_sent - then.rts_sent,
            exchanges: self.exchanges - then.exchanges,
            failures: self.failures - then.failures,
            msdus_received: self.msdus_received - then.msdus_received,
            duplicates: self.duplicates - then.duplicates,
            airtime: self.airtime - then.airtime,
        }
    }
}

/// A station's MAC.
#[derive(Debug)]
pub struct Station {
    node: NodeId,
    contender: ContenderId,
    config: Config,
    queue: Box<dyn TxQueue>,
    plan: Box<dyn Plan>,
    current: Option<Msdu>,
    exchange: Exchange,
    state: State,
    /// The answer to be sent when the timer goes off, or on the air.
    answer: Option<Frame>,
    is_answering: bool,
    wakeup: (SimTime, When),
    /// When its last step ended.
    sent_at: SimTime,
    next_seq: u16,
    /// Sequence numbers received from each station. @80211-2020 10.3.2.14
    seen: Vec<Seen>,
    reports_attempts: bool,
    is_dead: bool,
    counters: Counters,
}

impl Station {
    /// The MAC of `node` in a network of `nodes`.
    pub fn new(
        node: NodeId,
        nodes: usize,
        contender: ContenderId,
        config: Config,
        queue: Box<dyn TxQueue>,
        plan: Box<dyn Plan>,
    ) -> Station {
        Station {
            node,
            contender,
            exchange: Exchange::EMPTY,
            config,
            queue,
            plan,
            current: None,
            state: State::Idle,
            answer: None,
            is_answering: false,
            wakeup: (SimTime::NEVER, When::Between),
            sent_at: SimTime::ZERO,
            next_seq: 0,
            seen: vec![Seen::default(); nodes],
            reports_attempts: false,
            is_dead: false,
            counters: Counters::default(),
        }
    }

    /// Report each failed attempt too; off unless somebody listens.
    pub fn report_attempts(&mut self) {
        self.reports_attempts = true;
    }

    /// Its counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Its parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its queue.
    pub fn queue(&self) -> &dyn TxQueue {
        &*self.queue
    }

    /// The MSDU in service.
    pub fn current(&self) -> Option<&Msdu> {
        self.current.as_ref()
    }

    /// The MSDU in service, to write its MAC options.
    pub fn current_mut(&mut self) -> Option<&mut Msdu> {
        self.current.as_mut()
    }

    /// MSDUs in its care: queued, and the one in service.
    pub fn backlog(&self) -> u64 {
        u64::from(self.queue.space().entries) + u64::from(self.current.is_some())
    }

    /// When it wants [`Input::Timer`], and in which class of that instant.
    pub fn next_wakeup(&self) -> (SimTime, When) {
        let held = if self.current.is_none() { self.queue.next_wakeup() } else { SimTime::NEVER };
        if held < self.wakeup.0 { (held, When::Between) } else { self.wakeup }
    }

    /// The node dies: the MAC falls silent and lets go of everything in its care. A frame in the air ends in its time.
    pub fn kill(&mut self, now: SimTime, channel: &mut Channel) -> Vec<Msdu> {
        self.is_dead = true;
        channel.contention.silence(self.contender);
        self.wakeup = (SimTime::NEVER, When::Between);
        (self.state, self.answer) = (State::Idle, None);
        let mut left = self.queue.drain(now);
        // The one in service stays readable while its frame is in the air; the books count it as queued.
        if channel.on_air(self.node).is_none() {
            left.extend(self.current.take());
        }
        self.counters.msdus_abandoned += left.len() as u64;
        left
    }

    /// Something happened. Outputs are appended to `out`.
    pub fn handle(
        &mut self,
        now: SimTime,
        input: Input,
        channel: &mut Channel,
        all: &mut Packets,
        out: &mut Vec<Output>,
    ) {
        if self.is_dead {
            if let Input::Enqueue(msdu) = input {
                self.counters.msdus_offered += 1;
                self.counters.msdus_abandoned += 1;
                let report = msdu.report(now, Fate::GivenUp);
                out.push(Output::Done(msdu, report));
            }
            return;
        }
        match input {
            Input::Enqueue(msdu) => self.enqueue(now, msdu, channel, all, out),
            Input::Granted => self.begin(now, channel, out),
            Input::Sent => self.sent(now, channel, all, out),
            Input::Received(frame) => self.received(now, frame, channel, all, out),
            Input::WaitedOut => {
                if self.state == State::Hearing {
                    self.fail(now, channel, all, out);
                }
            }
            Input::Timer => self.timer(now, channel, all, out),
        }
    }

    fn enqueue(&mut self, now: SimTime, msdu: Msdu, channel: &mut Channel, all: &mut Packets, out: &mut Vec<Output>) {
        self.counters.msdus_offered += 1;
        if let Err(msdu) = self.queue.push(now, msdu, all) {
            self.counters.msdus_refused += 1;
            let report = msdu.report(now, Fate::QueueFull);
            out.push(Output::Done(msdu, report));
            return;
        }
        if self.current.is_none() && self.take_next(now, all, out) {
            channel.contention.want(now, self.contender);
        }
    }

    /// Takes the next MSDU into service, after the queue has dropped what expired. Returns whether there was one.
    fn take_next(&mut self, now: SimTime, all: &Packets, out: &mut Vec<Output>) -> bool {
        while let Some(msdu) = self.queue.expired(now, all) {
            self.counters.msdus_given_up += 1;
            let report = msdu.report(now, Fate::Expired);
            out.push(Output::Done(msdu, report));
        }
        self.current = self.queue.pop(now, all);
        let Some(msdu) = &mut self.current else { return false };
        if msdu.attempts == 0 {
            msdu.head = now;
        }
        let rate = if msdu.to == NodeId::BROADCAST { self.config.basic_rate } else { self.config.data_rate };
        let job = Job { to: msdu.to, mpdu: msdu.mpdu, rate, class: msdu.class };
        self.plan.exchange(&self.config, &job, &mut self.exchange);
        true
    }

    /// The first step of the exchange goes out.
    fn begin(&mut self, now: SimTime, channel: &mut Channel, out: &mut Vec<Output>) {
        debug_assert!(self.state == State::Idle && self.answer.is_none(), "granted while {:?}", self.state);
        let msdu = self.current.as_mut().expect("a contender that wants has an MSDU in service");
        if msdu.seq.is_none() {
            msdu.seq = Some(self.next_seq);
            self.next_seq = (self.next_seq + 1) % 4096;
            msdu.first = now;
            msdu.is_doomed = channel.dooms(now, self.node, msdu.to, msdu.mpdu);
        }
        msdu.attempts = msdu.attempts.saturating_add(1);
        self.counters.exchanges += 1;
        self.exchange.restart();
        self.send_step(out);
    }

    fn send_step(&mut self, out: &mut Vec<Output>) {
        let step = *self.exchange.step();
        let msdu = self.current.as_mut().expect("an exchange under way has its MSDU");
        msdu.airtime += step.airtime;
        self.counters.airtime += step.airtime;
        let is_retry = step.kind == Kind::Data && msdu.data_sent;
        match step.kind {
            Kind::Data => {
                msdu.data_sent = true;
                self.counters.data_frames_sent += 1;
                self.counters.data_frames_retried += u64::from(is_retry);
            }
            Kind::Rts => self.counters.rts_sent += 1,
            Kind::Cts | Kind::Ack => {}
        }
        let frame = Frame {
            kind: step.kind,
            from: self.node,
            to: msdu.to,
            rate: step.rate,
            mpdu: step.mpdu,
            airtime: step.airtime,
            duration: step.duration,
            seq: msdu.seq.unwrap_or_default(),
            is_retry,
            is_doomed: msdu.is_doomed && step.kind == Kind::Data,
            class: msdu.class,
        };
        self.state = State::Sending;
        out.push(Output::Transmit(frame));
    }

    fn sent(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if std::mem::take(&mut self.is_answering) {
            self.answer = None;
            return;
        }
        match self.exchange.step().answer {
            Some(answer) => {
                self.state = State::Awaiting;
                self.sent_at = now;
                self.wakeup = (now + answer.timeout, When::Between);
            }
            None => self.succeed(now, channel, all, out),
        }
    }

    fn received(&mut self, now: SimTime, frame: Frame, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if matches!(self.state, State::Awaiting | State::Hearing) {
            let step = self.exchange.step();
            let from_peer = self.current.as_ref().is_some_and(|msdu| msdu.to == frame.from);
            if from_peer && frame.to == self.node && step.answer.is_some_and(|answer| answer.kind == frame.kind) {
                self.answered(now, frame, channel, all, out);
                return;
            }
            // Another frame instead of the answer: the exchange has failed. @80211-2020 10.3.2.11
            self.fail(now, channel, all, out);
        }
        let nav_is_idle = channel.contention.nav(self.node) <= now;
        if frame.to == self.node
            && let Some(response) = self.plan.answer(&self.config, &frame, nav_is_idle)
        {
            self.answer_with(now, &frame, &response);
        }
        if frame.kind != Kind::Data {
            return;
        }
        // Duplicates are acknowledged and filtered. @80211-2020 10.3.2.14
        if self.seen[frame.from.index()].is_duplicate(frame.seq, frame.is_retry) {
            self.counters.duplicates += 1;
            return;
        }
        self.counters.msdus_received += 1;
        out.push(Output::Deliver(frame));
    }

    fn answer_with(&mut self, now: SimTime, to: &Frame, response: &Response) {
        debug_assert!(self.answer.is_none(), "two answers at once");
        self.answer = Some(Frame {
            kind: response.kind,
            from: self.node,
            to: to.from,
            rate: response.rate,
            mpdu: response.kind.control_len(),
            airtime: response.airtime,
            duration: response.duration,
            seq: 0,
            is_retry: false,
            is_doomed: false,
            class: to.class,
        });
        self.wakeup = (now + self.config.timing.sifs, When::Start);
    }

    fn answered(&mut self, now: SimTime, frame: Frame, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if let Some(msdu) = &mut self.current {
            msdu.airtime += frame.airtime;
        }
        let Some(gap) = self.exchange.advance().map(|step| step.gap) else {
            self.succeed(now, channel, all, out);
            return;
        };
        // A CTS resets the short counter: the reservation worked. @80211-2020 10.3.4.4
        if let Some(msdu) = &mut self.current {
            msdu.failures.0 = 0;
        }
        self.state = State::Gap;
        self.wakeup = (now + gap, When::Start);
    }

    fn timer(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if now < self.wakeup.0 {
            // The queue held something back until now.
            if self.current.is_none() && self.take_next(now, all, out) {
                channel.contention.want(now, self.contender);
            }
            return;
        }
        self.wakeup = (SimTime::NEVER, When::Between);
        if let Some(frame) = self.answer {
            self.is_answering = true;
            self.counters.airtime += frame.airtime;
            out.push(Output::Transmit(frame));
            return;
        }
        match self.state {
            State::Gap => self.send_step(out),
            State::Awaiting if channel.wait_for_end(self.node) => self.state = State::Hearing,
            State::Awaiting => self.fail(now, channel, all, out),
            State::Idle | State::Sending | State::Hearing => {}
        }
    }

    fn succeed(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        self.counters.msdus_delivered += 1;
        self.conclude(now, Fate::Delivered, Outcome::Success, channel, all, out);
    }

    /// The step was not answered.
    fn fail(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        self.counters.failures += 1;
        let counter = self.exchange.step().counter;
        let mut msdu = self.current.take().expect("an exchange under way has its MSDU");
        let is_last = match counter {
            Counter::Short => {
                msdu.failures.0 = msdu.failures.0.saturating_add(1);
                msdu.failures.0 >= self.config.max_attempts
            }
            Counter::Long => {
                msdu.failures.1 = msdu.failures.1.saturating_add(1);
                msdu.failures.1 >= self.config.max_attempts_long
            }
        };
        if self.reports_attempts {
            out.push(Output::Attempt(all.get(&msdu.pkt).clone(), msdu.report(now, Fate::Attempt)));
        }
        let next = self.queue.failed(now, msdu, is_last, all);
        match next {
            Next::Again(msdu) => {
                self.current = Some(msdu);
                self.exchange.restart();
                self.rest(now, Outcome::Failure, true, channel);
            }
            Next::Yield => {
                let wants = self.take_next(now, all, out);
                self.rest(now, Outcome::Failure, wants, channel);
            }
            Next::GiveUp(msdu) => {
                self.current = Some(msdu);
                self.counters.msdus_given_up += 1;
                self.conclude(now, Fate::GivenUp, Outcome::Discard, channel, all, out);
            }
        }
    }

    /// The MSDU in service is done with; the next comes into service.
    fn conclude(
        &mut self,
        now: SimTime,
        fate: Fate,
        outcome: Outcome,
        channel: &mut Channel,
        all: &Packets,
        out: &mut Vec<Output>,
    ) {
        let msdu = self.current.take().expect("an exchange under way has its MSDU");
        let report = msdu.report(now, fate);
        let wants = self.take_next(now, all, out);
        self.rest(now, outcome, wants, channel);
        out.push(Output::Done(msdu, report));
    }

    /// Back to contention.
    fn rest(&mut self, now: SimTime, outcome: Outcome, wants: bool, channel: &mut Channel) {
        self.state = State::Idle;
        self.wakeup = (SimTime::NEVER, When::Between);
        let not_before = match outcome {
            Outcome::Success => now,
            Outcome::Failure | Outcome::Discard => self.config.countdown_after_timeout(now, now.since(self.sent_at)),
        };
        channel.contention.finish(self.contender, outcome, wants, not_before);
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn a_retry_of_what_was_received_is_a_duplicate_also_when_others_came_between() {
        let mut seen = Seen::default();
        assert!(!seen.is_duplicate(4095, false));
        assert!(!seen.is_duplicate(0, false), "the number wraps");
        assert!(seen.is_duplicate(4095, true) && seen.is_duplicate(0, true));
        assert!(!seen.is_duplicate(3, true), "a retry whose first attempts were all lost");
        assert!(!seen.is_duplicate(2, true), "overtaken and not received yet");
        assert!(seen.is_duplicate(2, true) && seen.is_duplicate(3, true) && !seen.is_duplicate(1, true));
        assert!(!seen.is_duplicate(80, false) && !seen.is_duplicate(3, true), "too long ago to be known");
    }
}
