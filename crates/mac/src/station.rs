//! A station: its queues, the exchange it conducts, and its answers to those of others. @80211-2020 10.3 (DCF: one queue),
//! 10.23.2 (EDCA: one for each access category).
//!
//! Call order: [`Station::handle`] with what happened, then carry out the outputs in order, then ask
//! [`Station::next_wakeup`] and set the station's one timer to it. At one instant a station hears the end of its own
//! frame ([`Input::Sent`]) before the ends of others' frames are told to anybody.

use crate::channel::Channel;
use crate::contention::{Access, ContenderId, Countdown, Outcome};
use crate::counters::{CategoryCounters, Counters};
use crate::exchange::{Counter, Exchange, Job, Plan, Response, Step, Txop};
use crate::frame::{Frame, Kind, QOS_CONTROL, Qos};
use crate::msdu::{Classifier, Fate, Msdu, Next, TxQueue, TxReport};
use crate::seen::Seen;
use crate::transmit::{Sending, Transmit};
use crate::{AfterTimeout, Config};
use engine::Class as When;
use units::{Dbm, Dur, NodeId, SimTime};
use wire::{Packet, Packets};

/// What happens to a station.
#[derive(Debug)]
pub enum Input {
    /// The upper layer hands down a packet.
    Enqueue(Msdu),
    /// Contention is won, by one or several of its contenders: transmit now.
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

/// Slots of a DIFS beyond SIFS. @80211-2020 10.3.2.3.5
const DIFS_SLOTS: u8 = 2;

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
    /// The exchange is over; the next one of the transmit opportunity begins when the timer goes off.
    BetweenExchanges,
}

/// One access category of a station: its queue, and what it is about to send. Under DCF there is one.
#[derive(Debug)]
struct Category {
    access: Access,
    aifsn: u8,
    txop_limit: Dur,
    txop_exchanges: u16,
    queue: Box<dyn TxQueue>,
    /// The MSDU in service.
    current: Option<Msdu>,
    /// The one after it, taken out of the queue so that a Duration field could cover it.
    following: Option<Msdu>,
    counters: CategoryCounters,
}

/// Why an exchange, or its beginning, came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// A step was not answered.
    Unanswered,
    /// A higher category of this station was granted at the same instant. @80211-2020 10.23.2.4
    Internal,
}

/// A station's MAC.
#[derive(Debug)]
pub struct Station {
    node: NodeId,
    /// Contender of its lowest category; those of the others follow.
    first: ContenderId,
    config: Config,
    /// By rising priority.
    categories: Vec<Category>,
    /// The category whose exchange is under way, or was last.
    active: usize,
    classifier: Option<Box<dyn Classifier>>,
    plan: Box<dyn Plan>,
    transmit: Option<Box<dyn Transmit>>,
    /// How many categories each station has; 0 under DCF.
    peers: Vec<u8>,
    exchange: Exchange,
    /// Transmit power of its frames, if not the node's own.
    power: Option<Dbm>,
    txop: Txop,
    state: State,
    /// The answer to be sent when the timer goes off, or on the air.
    answer: Option<Frame>,
    is_answering: bool,
    wakeup: (SimTime, When),
    /// When its last step ended.
    sent_at: SimTime,
    /// What that announced: its Duration field.
    announced: Dur,
    /// The next sequence number of each [`Qos::space`]. @80211-2020 10.3.2.14.2
    next_seq: Vec<u16>,
    /// Sequence numbers received from each station, by space. @80211-2020 10.3.2.14.3
    seen: Vec<Seen>,
    /// How many spaces each station has there.
    spaces: usize,
    reports_attempts: bool,
    is_dead: bool,
    counters: Counters,
}

impl Station {
    /// The MAC of `node` in a network of as many stations as `peers`, which tells how many categories each has, see
    /// [`Config::categories`]. `first` is its first contender; `queues` are those of its categories, lowest first.
    pub fn new(
        node: NodeId,
        peers: &[u8],
        first: ContenderId,
        config: Config,
        queues: Vec<Box<dyn TxQueue>>,
        plan: Box<dyn Plan>,
    ) -> Station {
        debug_assert_eq!(queues.len(), config.accesses().len(), "each category has a queue");
        let stated = config.edca.iter().flat_map(|edca| &edca.categories);
        let stated = stated.map(|it| (it.aifsn, it.txop_limit, it.txop_exchanges));
        let stated = stated.chain(std::iter::repeat((DIFS_SLOTS, Dur::ZERO, 1)));
        let category = |((access, queue), (aifsn, txop_limit, txop_exchanges))| {
            let counters = CategoryCounters::default();
            Category { access, aifsn, txop_limit, txop_exchanges, queue, current: None, following: None, counters }
        };
        let categories: Vec<Category> = config.accesses().into_iter().zip(queues).zip(stated).map(category).collect();
        let spaces = 1 + usize::from(peers.iter().copied().max().unwrap_or(0));
        Station {
            node,
            first,
            exchange: Exchange::EMPTY,
            next_seq: vec![0; 1 + categories.len()],
            categories,
            active: 0,
            classifier: None,
            transmit: None,
            power: None,
            config,
            plan,
            peers: peers.to_vec(),
            txop: Txop::default(),
            state: State::Idle,
            answer: None,
            is_answering: false,
            wakeup: (SimTime::NEVER, When::Between),
            sent_at: SimTime::ZERO,
            announced: Dur::ZERO,
            seen: vec![Seen::default(); peers.len() * spaces],
            spaces,
            reports_attempts: false,
            is_dead: false,
            counters: Counters::default(),
        }
    }

    /// Report each failed attempt too; off unless somebody listens.
    pub fn report_attempts(&mut self) {
        self.reports_attempts = true;
    }

    /// Another choice of category than that of the packets' TOS field. Of no effect under DCF.
    pub fn classify_by(&mut self, classifier: Box<dyn Classifier>) {
        self.classifier = Some(classifier);
    }

    /// Another say in how frames go out than its [`Config`]'s.
    pub fn transmit_by(&mut self, transmit: Box<dyn Transmit>) {
        self.transmit = Some(transmit);
    }

    /// Its counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counters of its categories, lowest first.
    pub fn category_counters(&self) -> impl Iterator<Item = &CategoryCounters> {
        self.categories.iter().map(|category| &category.counters)
    }

    /// Its parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its queue: that of best effort (user priority 0), if it has several.
    pub fn queue(&self) -> &dyn TxQueue {
        let category = self.config.edca.as_ref().map_or(0, |edca| edca.of_tos(0).0);
        &*self.categories[usize::from(category)].queue
    }

    /// The queues of its categories, lowest first.
    pub fn queues(&self) -> impl Iterator<Item = &dyn TxQueue> {
        self.categories.iter().map(|category| &*category.queue)
    }

    /// The MSDU in service: of the category whose exchange is under way, or was last.
    pub fn current(&self) -> Option<&Msdu> {
        self.categories[self.active].current.as_ref()
    }

    /// The MSDU in service, to write its MAC options.
    pub fn current_mut(&mut self) -> Option<&mut Msdu> {
        self.categories[self.active].current.as_mut()
    }

    /// MSDUs in its care: queued, and those in service.
    pub fn backlog(&self) -> u64 {
        let of = |category: &Category| {
            let served = u64::from(category.current.is_some()) + u64::from(category.following.is_some());
            u64::from(category.queue.space().entries) + served
        };
        self.categories.iter().map(of).sum()
    }

    /// When it wants [`Input::Timer`], and in which class of that instant.
    pub fn next_wakeup(&self) -> (SimTime, When) {
        let mut wakeup = self.wakeup;
        for category in &self.categories {
            let held = if category.current.is_none() { category.queue.next_wakeup() } else { SimTime::NEVER };
            if held < wakeup.0 {
                wakeup = (held, When::Between);
            }
        }
        wakeup
    }

    /// The node dies: the MAC falls silent and lets go of everything in its care. A frame in the air ends in its time.
    pub fn kill(&mut self, now: SimTime, channel: &mut Channel) -> Vec<Msdu> {
        self.is_dead = true;
        self.wakeup = (SimTime::NEVER, When::Between);
        (self.state, self.answer) = (State::Idle, None);
        let mut left = Vec::new();
        for i in 0..self.categories.len() {
            channel.contention.silence(self.contender(i));
            let category = &mut self.categories[i];
            left.extend(category.queue.drain(now));
            left.extend(category.following.take());
            // The one in service stays readable while its frame is in the air; the books count it as queued.
            if i != self.active || channel.on_air(self.node).is_none() {
                left.extend(category.current.take());
            }
        }
        self.counters.msdus_abandoned += left.len() as u64;
        left
    }

    fn contender(&self, category: usize) -> ContenderId {
        ContenderId(self.first.0 + category as u32)
    }

    fn has_categories(&self) -> bool {
        self.categories.len() > 1
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
            Input::Granted => self.granted(now, channel, all, out),
            Input::Sent => self.sent(now, channel, all, out),
            Input::Received(frame) => self.received(now, frame, channel, all, out),
            Input::WaitedOut => {
                if self.state == State::Hearing {
                    self.fail(now, Failure::Unanswered, channel, all, out);
                }
            }
            Input::Timer => self.timer(now, channel, all, out),
        }
    }

    fn enqueue(
        &mut self,
        now: SimTime,
        mut msdu: Msdu,
        channel: &mut Channel,
        all: &mut Packets,
        out: &mut Vec<Output>,
    ) {
        self.counters.msdus_offered += 1;
        self.classify(&mut msdu, all);
        let i = usize::from(msdu.category);
        let category = &mut self.categories[i];
        category.counters.msdus_offered += 1;
        if let Err(msdu) = category.queue.push(now, msdu, all) {
            self.counters.msdus_refused += 1;
            category.counters.msdus_refused += 1;
            let report = msdu.report(now, Fate::QueueFull);
            out.push(Output::Done(msdu, report));
            return;
        }
        if category.current.is_none() && self.take_next(now, i, channel, all, out) {
            channel.contention.want(now, self.contender(i));
        }
    }

    /// Under EDCA an MSDU goes to the category that its TOS field asks for, or that the classifier says; its frame carries
    /// QoS Control if its receiver has categories too. What is for a group does without, as in any network where some
    /// station may not know it. @80211-2020 10.2.3.2, 9.3.2.1
    fn classify(&mut self, msdu: &mut Msdu, all: &Packets) {
        let Some(edca) = &self.config.edca else { return };
        let packet = all.get(&msdu.pkt);
        let (default, priority) = edca.of_tos(packet.ip.tos);
        let asked = self.classifier.as_mut().map_or(default, |own| own.category(packet, msdu.to, default));
        msdu.category = edca.within(asked);
        if self.peers.get(msdu.to.index()).is_some_and(|categories| *categories > 0) {
            let user_priority = edca.user_priority(msdu.category, priority);
            msdu.qos = Some(Qos { category: msdu.category, user_priority });
            msdu.mpdu += QOS_CONTROL;
        }
    }

    /// Takes the next MSDU of a category into service. Returns whether there was one.
    fn take_next(
        &mut self,
        now: SimTime,
        i: usize,
        channel: &mut Channel,
        all: &Packets,
        out: &mut Vec<Output>,
    ) -> bool {
        self.categories[i].current = if self.categories[i].following.is_some() {
            self.categories[i].following.take()
        } else {
            self.pop(now, i, all, out)
        };
        let Some(msdu) = &mut self.categories[i].current else { return false };
        if msdu.attempts == 0 {
            msdu.head = now;
        }
        self.line_up(now, i, channel, all);
        true
    }

    /// The interframe space of a category is that of the MSDU at the head of its line, if a scheme says so.
    #[inline]
    fn line_up(&mut self, now: SimTime, i: usize, channel: &mut Channel, all: &Packets) {
        let (Some(transmit), Some(msdu)) = (&mut self.transmit, &self.categories[i].current) else { return };
        let own = self.categories[i].aifsn;
        let aifsn = transmit.aifsn(msdu, all.get(&msdu.pkt), own).max(1);
        let contender = self.contender(i);
        let access = &mut self.categories[i].access;
        let ifs = self.config.timing.sifs + self.config.timing.slot * u64::from(aifsn);
        if ifs != access.ifs {
            access.eifs = access.eifs - access.ifs + ifs;
            access.ifs = ifs;
            channel.contention.set_ifs(now, contender, access.ifs, access.eifs);
        }
    }

    /// The next MSDU of a category's queue, after that has dropped what expired.
    #[inline]
    fn pop(&mut self, now: SimTime, i: usize, all: &Packets, out: &mut Vec<Output>) -> Option<Msdu> {
        let category = &mut self.categories[i];
        while let Some(msdu) = category.queue.expired(now, all) {
            self.counters.msdus_given_up += 1;
            category.counters.msdus_given_up += 1;
            let report = msdu.report(now, Fate::Expired);
            out.push(Output::Done(msdu, report));
        }
        category.queue.pop(now, all)
    }

    /// Writes the exchange of the active category's MSDU, as the next of the opportunity.
    fn plan_exchange(&mut self, all: &Packets) {
        let msdu =
            self.categories[self.active].current.as_ref().expect("a contender that wants has an MSDU in service");
        let (job, power) = job(&self.config, &mut self.transmit, msdu, self.txop.exchanges > 0, all);
        self.power = power;
        self.plan.exchange(&self.config, &job, &mut self.exchange);
    }

    /// Contention is won, by several categories perhaps: the highest of them transmits. @80211-2020 10.23.2.4
    fn granted(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        debug_assert!(self.state == State::Idle && self.answer.is_none(), "granted while {:?}", self.state);
        self.txop = Txop::default();
        if self.has_categories() {
            let mut highest = None;
            for i in (0..self.categories.len()).rev() {
                if !channel.contention.is_granted(self.contender(i)) {
                    continue;
                }
                if highest.is_none() {
                    highest = Some(i);
                    continue;
                }
                self.active = i;
                self.plan_exchange(all);
                self.fail(now, Failure::Internal, channel, all, out);
            }
            self.active = highest.expect("one of its contenders was granted");
        }
        let category = &mut self.categories[self.active];
        category.counters.txops += 1;
        self.txop.ends = now + category.txop_limit;
        self.txop.least = category.txop_exchanges;
        self.begin(now, channel, all, out);
    }

    /// The answer that is due becomes the first step of an exchange, if the plan has one for it and virtual carrier sense
    /// would let this station send an RTS. It is an opportunity of one exchange.
    fn reply(
        &mut self,
        now: SimTime,
        answer: &Frame,
        channel: &mut Channel,
        all: &Packets,
        out: &mut Vec<Output>,
    ) -> bool {
        if channel.contention.nav(self.node) > now {
            return false;
        }
        for i in (0..self.categories.len()).rev() {
            let Some(msdu) = self.categories[i].current.as_ref().filter(|msdu| msdu.to == answer.to) else {
                continue;
            };
            let (job, power) = job(&self.config, &mut self.transmit, msdu, true, all);
            if self.plan.reply(&self.config, answer, &job, &mut self.exchange) {
                (self.active, self.power, self.answer) = (i, power, None);
                self.txop = Txop::default();
                channel.contention.seize(self.contender(i));
                self.start_exchange(now, channel, all, out);
                return true;
            }
        }
        false
    }

    /// The next exchange of the opportunity.
    fn begin(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        self.plan_exchange(all);
        self.start_exchange(now, channel, all, out);
    }

    /// The first step of the exchange that is written goes out.
    fn start_exchange(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        self.txop.exchanges += 1;
        self.counters.exchanges += 1;
        let category = &mut self.categories[self.active];
        category.counters.exchanges += 1;
        let msdu = category.current.as_mut().expect("a contender that wants has an MSDU in service");
        if msdu.seq.is_none() {
            let next = &mut self.next_seq[msdu.qos.map_or(0, Qos::space)];
            msdu.seq = Some(*next);
            *next = (*next + 1) % 4096;
            msdu.first = now;
            msdu.is_doomed = channel.dooms(now, self.node, msdu.to, msdu.mpdu);
        }
        msdu.attempts = msdu.attempts.saturating_add(1);
        self.send_step(now, all, out);
    }

    fn send_step(&mut self, now: SimTime, all: &Packets, out: &mut Vec<Output>) {
        let step = *self.exchange.step();
        let is_data = step.kind == Kind::Data;
        let further =
            if is_data && self.txop.may_go_on(now) { self.announce(now, &step, all, out) } else { Dur::ZERO };
        let category = &mut self.categories[self.active];
        let msdu = category.current.as_mut().expect("an exchange under way has its MSDU");
        msdu.airtime += step.airtime;
        self.counters.airtime += step.airtime;
        category.counters.airtime += step.airtime;
        let is_retry = is_data && msdu.data_sent;
        match step.kind {
            Kind::Data => {
                msdu.data_sent = true;
                self.counters.data_frames_sent += 1;
                self.counters.data_frames_retried += u64::from(is_retry);
                category.counters.data_frames_retried += u64::from(is_retry);
            }
            Kind::Rts => self.counters.rts_sent += 1,
            Kind::Cts | Kind::Ack => {}
        }
        let frame = Frame {
            kind: step.kind,
            from: self.node,
            to: msdu.to,
            rate: step.rate,
            power: self.power.filter(|_| matches!(step.kind, Kind::Data | Kind::Rts)),
            mpdu: step.mpdu,
            airtime: step.airtime,
            duration: step.duration + further,
            seq: msdu.seq.unwrap_or_default(),
            is_retry,
            is_doomed: msdu.is_doomed && is_data,
            class: msdu.class,
            qos: msdu.qos.filter(|_| is_data),
        };
        self.state = State::Sending;
        self.announced = frame.duration;
        out.push(Output::Transmit(frame));
    }

    /// What the Duration field of a data frame covers beyond its own exchange: the next one of the opportunity, if there is
    /// one and it fits. @80211-2020 9.2.5.2 (single protection)
    fn announce(&mut self, now: SimTime, step: &Step, all: &Packets, out: &mut Vec<Output>) -> Dur {
        let i = self.active;
        if self.categories[i].following.is_none() {
            self.categories[i].following = self.pop(now, i, all, out);
        }
        let Category { current: Some(current), following: Some(next), .. } = &self.categories[i] else {
            return Dur::ZERO;
        };
        // A plan keeps what it wrote last: after a look at the next exchange it writes the one under way again.
        let is_protected = self.txop.exchanges > 1;
        let (next, _) = job(&self.config, &mut self.transmit, next, true, all);
        let (current, _) = job(&self.config, &mut self.transmit, current, is_protected, all);
        let place = self.exchange.place();
        self.plan.exchange(&self.config, &next, &mut self.exchange);
        let further = self.config.timing.sifs + self.exchange.length();
        self.plan.exchange(&self.config, &current, &mut self.exchange);
        self.exchange.go_to(place);
        let own_end = now + step.airtime + step.duration;
        if self.txop.has_room_until(own_end + further) { further } else { Dur::ZERO }
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
                if self.has_categories() {
                    let frame_end = (self.config.after_timeout == AfterTimeout::Eifs).then_some(now);
                    channel.contention.hold_others(self.contender(self.active), now + answer.timeout, frame_end);
                }
            }
            None => self.succeed(now, channel, all, out),
        }
    }

    fn received(&mut self, now: SimTime, frame: Frame, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if matches!(self.state, State::Awaiting | State::Hearing) {
            let step = self.exchange.step();
            let from_peer = self.current().is_some_and(|msdu| msdu.to == frame.from);
            if from_peer && frame.to == self.node && step.answer.is_some_and(|answer| answer.kind == frame.kind) {
                self.answered(now, frame, channel, all, out);
                return;
            }
            // Another frame instead of the answer: the exchange has failed. @80211-2020 10.3.2.11
            self.fail(now, Failure::Unanswered, channel, all, out);
        }
        self.answer_to(now, &frame, channel);
        if frame.kind != Kind::Data {
            return;
        }
        // Duplicates are acknowledged and filtered. @80211-2020 10.3.2.14
        let space = frame.from.index() * self.spaces + frame.qos.map_or(0, Qos::space);
        if self.seen[space].is_duplicate(frame.seq, frame.is_retry) {
            self.counters.duplicates += 1;
            return;
        }
        self.counters.msdus_received += 1;
        out.push(Output::Deliver(frame));
    }

    fn answer_to(&mut self, now: SimTime, frame: &Frame, channel: &Channel) {
        if let Some(response) = self.response(now, frame, channel) {
            self.answer_with(now, frame, &response);
        }
    }

    fn response(&mut self, now: SimTime, frame: &Frame, channel: &Channel) -> Option<Response> {
        let nav_is_idle = channel.contention.nav(self.node) <= now;
        if frame.to == self.node { self.plan.answer(&self.config, frame, nav_is_idle) } else { None }
    }

    fn answer_with(&mut self, now: SimTime, to: &Frame, response: &Response) {
        debug_assert!(self.answer.is_none(), "two answers at once");
        self.answer = Some(Frame {
            kind: response.kind,
            from: self.node,
            to: to.from,
            rate: response.rate,
            power: None,
            mpdu: response.kind.control_len(),
            airtime: response.airtime,
            duration: response.duration,
            seq: 0,
            is_retry: false,
            is_doomed: false,
            class: to.class,
            qos: None,
        });
        self.wakeup = (now + self.config.timing.sifs, When::Start);
    }

    fn answered(&mut self, now: SimTime, frame: Frame, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if let Some(msdu) = self.current_mut() {
            msdu.airtime += frame.airtime;
        }
        let Some(gap) = self.exchange.advance().map(|step| step.gap) else {
            if self.has_categories() {
                channel.contention.release_others(self.contender(self.active));
            }
            // An answer repeats what is left of the Duration it answers; one that announces more has something to ask.
            let asks = frame.duration > self.announced.saturating_sub(now.since(self.sent_at));
            let response = if asks { self.response(now, &frame, channel) } else { None };
            if response.is_some() {
                // What was asked for goes before the rest of the opportunity.
                self.txop = Txop::default();
            }
            self.succeed(now, channel, all, out);
            if let Some(response) = response {
                self.answer_with(now, &frame, &response);
            }
            return;
        };
        // A CTS resets the short counter: the reservation worked. @80211-2020 10.3.4.4
        if let Some(msdu) = self.current_mut() {
            msdu.failures.0 = 0;
        }
        self.state = State::Gap;
        self.wakeup = (now + gap, When::Start);
    }

    fn timer(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        if now < self.wakeup.0 {
            // A queue held something back until now.
            for i in 0..self.categories.len() {
                if self.categories[i].current.is_none() && self.take_next(now, i, channel, all, out) {
                    channel.contention.want(now, self.contender(i));
                }
            }
            return;
        }
        self.wakeup = (SimTime::NEVER, When::Between);
        if let Some(frame) = self.answer {
            if self.state == State::Idle && self.reply(now, &frame, channel, all, out) {
                return;
            }
            self.is_answering = true;
            self.counters.airtime += frame.airtime;
            out.push(Output::Transmit(frame));
            return;
        }
        match self.state {
            State::Gap => self.send_step(now, all, out),
            State::BetweenExchanges => self.begin(now, channel, all, out),
            State::Awaiting if channel.wait_for_end(self.node) => self.state = State::Hearing,
            State::Awaiting => self.fail(now, Failure::Unanswered, channel, all, out),
            State::Idle | State::Sending | State::Hearing => {}
        }
    }

    /// The MSDU in service is delivered. The next one comes into service: in the same opportunity, if it fits.
    fn succeed(&mut self, now: SimTime, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        self.counters.msdus_delivered += 1;
        let category = &mut self.categories[self.active];
        category.counters.msdus_delivered += 1;
        let msdu = category.current.take().expect("an exchange under way has its MSDU");
        let report = msdu.report(now, Fate::Delivered);
        let wants = self.take_next(now, self.active, channel, all, out);
        if wants && self.txop.may_go_on(now) && self.next_fits(now, all) {
            // No category of this station can be granted before: an AIFS is longer.
            self.state = State::BetweenExchanges;
            self.wakeup = (now + self.config.timing.sifs, When::Start);
        } else {
            self.rest(now, Outcome::Success, now, wants, channel);
        }
        out.push(Output::Done(msdu, report));
    }

    fn next_fits(&mut self, now: SimTime, all: &Packets) -> bool {
        self.plan_exchange(all);
        self.txop.has_room_until(now + self.config.timing.sifs + self.exchange.length())
    }

    /// The step was not answered, or a higher category went first. That counts as if it had collided, but nothing was on the
    /// air: it is no attempt, and none is reported.
    fn fail(&mut self, now: SimTime, why: Failure, channel: &mut Channel, all: &Packets, out: &mut Vec<Output>) {
        let counter = self.exchange.step().counter;
        let category = &mut self.categories[self.active];
        let mut msdu = category.current.take().expect("an exchange under way has its MSDU");
        let not_before = match why {
            Failure::Unanswered => {
                self.counters.failures += 1;
                category.counters.failures += 1;
                if self.reports_attempts {
                    let report = msdu.report(now, Fate::Attempt);
                    out.push(Output::Attempt(all.get(&msdu.pkt).clone(), report));
                }
                let waited = now.since(self.sent_at);
                self.config.countdown_after_timeout(&category.access, now, waited)
            }
            // This slot boundary was spent on the collision. @80211-2020 10.23.2.4
            Failure::Internal => {
                self.counters.internal_collisions += 1;
                category.counters.internal_collisions += 1;
                now + category.access.slot
            }
        };
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
        match category.queue.failed(now, msdu, is_last, all) {
            Next::Again(msdu) => {
                category.current = Some(msdu);
                self.rest(now, Outcome::Failure, not_before, true, channel);
            }
            Next::Yield => {
                let wants = self.take_next(now, self.active, channel, all, out);
                self.rest(now, Outcome::Failure, not_before, wants, channel);
            }
            Next::GiveUp(msdu) => {
                self.counters.msdus_given_up += 1;
                category.counters.msdus_given_up += 1;
                let report = msdu.report(now, Fate::GivenUp);
                let wants = self.take_next(now, self.active, channel, all, out);
                self.rest(now, Outcome::Discard, not_before, wants, channel);
                out.push(Output::Done(msdu, report));
            }
        }
    }

    /// Back to contention. A backoff that may begin at once begins at the next slot boundary.
    fn rest(&mut self, now: SimTime, outcome: Outcome, not_before: SimTime, wants: bool, channel: &mut Channel) {
        self.state = State::Idle;
        self.wakeup = (SimTime::NEVER, When::Between);
        let contender = self.contender(self.active);
        let is_free = not_before == now && self.config.countdown == Countdown::Edca;
        let begin = if is_free { channel.contention.next_boundary(now, contender) } else { not_before };
        channel.contention.finish(contender, outcome, wants, begin);
    }
}

/// What the exchange of an MSDU is built from, and the transmit power of its frames if that is not the node's own.
fn job(
    config: &Config,
    transmit: &mut Option<Box<dyn Transmit>>,
    msdu: &Msdu,
    is_protected: bool,
    all: &Packets,
) -> (Job, Option<Dbm>) {
    let is_group = msdu.to == NodeId::BROADCAST;
    let own = Sending { rate: if is_group { config.basic_rate } else { config.data_rate }, power: None };
    let asked = transmit.as_mut().map_or(own, |it| it.sending(msdu, all.get(&msdu.pkt), own));
    let rate = if is_group { own.rate } else { asked.rate };
    (Job { to: msdu.to, mpdu: msdu.mpdu, rate, class: msdu.class, is_protected }, asked.power)
}
