//! A station: its queues, the exchange it conducts, and its responses to those of others. @80211-2020 10.3 (DCF: one queue),
//! 10.23.2 (EDCA: one for each access category).
//!
//! It is put together from the standard's roles: [`edcaf`](self) (an access category), `compose` (what it sends next), `originator` (the exchange it conducts),
//! `requests` (Block Acks and their requests), `recipient` (what it makes of others' frames). Where others have a say there is a trait: [`TxQueue`], [`Plan`],
//! [`RateControl`], [`Transmit`], [`AckPolicy`], [`Recipient`], [`Classifier`].
//!
//! Call order: [`Station::handle`] with what happened, then carry out the outputs in order, then put the frame on the air that it gave
//! to its [`Air`], if any, then ask [`Station::next_wakeup`] and set the station's one timer to it. At one instant a station hears the end of its own
//! frame ([`Input::Sent`]) before the ends of others' frames are told to anybody.

mod announce;
mod compose;
mod edcaf;
mod extended;
mod let_go;
mod line;
mod originator;
mod reassembly;
mod recipient;
mod requests;
mod reverse;

use crate::Config;
use crate::ack::{AckPolicy, Delivery, Piggyback, Recipient};
use crate::aggregation::Aggregation;
use crate::air::Air;
use crate::channel::Got;
use crate::contention::ContenderId;
use crate::counters::{CategoryCounters, Counters};
use crate::exchange::{Exchange, Job, Plan, Txop};
use crate::frame::Qos;
use crate::link::{self, Links, Sent};
use crate::msdu::Msdu;
use crate::psdu::Frame;
use crate::rate::{Fixed, RateControl};
use crate::report::{Fate, InPpdu, TxReport};
use crate::transmit::Transmit;
use crate::tx_queue::{Classifier, TxQueue};
use edcaf::Edcaf;
use engine::Class as When;
use extended::Extended;
use phy::{MpduSet, TxVector};
use reassembly::Reassembly;
use reverse::Reverse;
use std::rc::Rc;
use units::{Dur, NodeId, SimTime};
use wire::{Packets, Pkt, Shared};

/// An event at a station.
#[derive(Debug)]
pub enum Input<'a> {
    /// The upper layer hands down a packet.
    Enqueue(Msdu),
    /// Contention is won, by one or several of its contenders: transmit now.
    Granted,
    /// The station's own frame has left the air. May be left out unless [`Station::is_sending`]: nothing follows a response.
    Sent,
    /// A frame of another has ended that the station is told of: see [`crate::Reception`].
    Ended(&'a Frame, Got<'a>),
    /// The station's timer went off.
    Timer,
}

/// The part that a station takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Here,
    /// Silent, on its way between two access points.
    Away,
    Dead,
}

/// A message of a station to its driver; its frames go to the air ([`Air::transmit`]).
#[derive(Debug)]
pub enum Output {
    /// Hand this up.
    Deliver(Delivery),
    /// An attempt of this packet has failed; whether another follows is told by what comes next. The handle is to be given
    /// back ([`Packets::release`]).
    Attempt(Shared, TxReport),
    /// The MAC is done with an MSDU. Its packet is to be freed once everybody has read the report.
    Done(Pkt, TxReport),
}

/// Slots of a DIFS beyond SIFS. @80211-2020 10.3.2.3.5
const DIFS_SLOTS: u8 = 2;

/// The station's place in the exchange it conducts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// None under way: contending, or nothing to send.
    Idle,
    /// A step is in the air.
    Sending,
    /// A step is over; its response must begin before the timer goes off.
    Awaiting,
    /// A preamble has begun in time: what it turns out to be decides.
    Hearing,
    /// The exchange is over, and its receiver has said that a PPDU of its own follows: that is in the air, or is about to be answered.
    Yielded,
    /// The same: its preamble must begin before the timer goes off.
    Yielding,
    /// The response came; the next step goes out when the timer goes off.
    Gap,
    /// The exchange is over; the next one of the transmit opportunity begins when the timer goes off.
    BetweenExchanges,
    /// The response to its receiver's PPDU is in the air: the opportunity goes on when the timer goes off.
    TakingBack,
}

/// The things that a station works with while it handles an input.
struct Cx<'a, A> {
    now: SimTime,
    air: &'a mut A,
    all: &'a mut Packets,
    out: &'a mut Vec<Output>,
}

/// A station's MAC.
#[derive(Debug)]
pub struct Station {
    node: NodeId,
    /// Contender of its lowest category; those of the others follow.
    first: ContenderId,
    config: Config,
    /// By rising priority.
    edcafs: Vec<Edcaf>,
    /// The category whose exchange is under way, or was last.
    active: usize,
    classifier: Option<Box<dyn Classifier>>,
    /// Its knowledge of the others.
    links: Links,

    plan: Box<dyn Plan>,
    /// The plan may begin an exchange with a response.
    plan_replies: bool,
    /// Grants of the reverse direction, given and taken.
    reverse: Reverse,
    rates: Box<dyn RateControl>,
    /// Rate control is told of attempts.
    rates_heed: bool,
    /// A queue is told of frames that are heard.
    hears_airtime: bool,
    /// Rate control is told of mean SNRs.
    rates_heed_snr: bool,
    transmit: Option<Box<dyn Transmit>>,
    /// `None`: an Ack for each MPDU.
    ack_policy: Option<Box<dyn AckPolicy>>,
    /// Its verdict on the PSDU at hand, and the numbers that it was asked about: memory for the next.
    acknowledged: MpduSet,
    seqs: Vec<u16>,
    /// The exchange under way, or the last one.
    exchange: Option<Exchange>,
    /// The job that it was planned for; `None`: for another reason.
    planned: Option<Job>,
    /// Of the data frame at hand.
    tx: TxVector,
    /// An RTS goes before it, if it is the first of its opportunity.
    asks_rts: bool,
    /// PPDUs with data that it has sent: the number of the last.
    ppdus: u32,
    /// Data frames with MAC options; `None`: it neither sends nor answers them.
    extended: Option<Extended>,
    txop: Txop,
    state: State,
    wakeup: (SimTime, When),
    /// The time at which its last step ended.
    sent_at: SimTime,
    /// The Duration field of that step.
    announced: Dur,

    /// `None`: an Ack for each MPDU, duplicates filtered.
    recipient: Option<Box<dyn Recipient>>,
    /// `None`: nothing rides in Block Acks.
    piggyback: Option<Box<dyn Piggyback>>,
    /// The response to be sent when the timer goes off.
    response: Option<Frame>,
    /// MSDUs of which some fragments have arrived.
    reassembly: Reassembly,
    /// The time at which a gap before what its reorder buffers hold is to be given up; it may have been filled since.
    gaps_due: SimTime,
    /// The end of the last A-MPDU of which an MPDU arrived that others followed.
    taken_in: SimTime,

    reports_attempts: bool,
    /// Rate control or the recipient may have a timer, or a queue has held something back.
    has_timers: bool,
    presence: Presence,
    /// A category may contend with nothing in service: what it contended for was recalled.
    has_recalled: bool,
    /// Counts of none of its categories: what it receives, its responses, what dies with it.
    own: Counters,
}

impl Station {
    /// The MAC of `node` in a network of as many stations as `peers`, which tells how many categories each has, see
    /// [`Config::categories`]. `first` is its first contender; `queues` are those of its categories, lowest first. Its rate
    /// is fixed to [`Config::data_rate`] and [`Config::data_rate_to`], its frame sequences are `plan`'s.
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
        let edcaf = |((access, queue), (aifsn, txop_limit, txop_exchanges))| {
            Edcaf::new(access, aifsn, txop_limit, txop_exchanges, queue, config.data_rate)
        };
        let edcafs: Vec<Edcaf> = config.accesses().into_iter().zip(queues).zip(stated).map(edcaf).collect();
        let hears_airtime = edcafs.iter().any(|edcaf| edcaf.is_heeding);
        Station {
            node,
            first,
            exchange: None,
            planned: None,
            edcafs,
            active: 0,
            classifier: None,
            rates: Box::new(Fixed::of(&config)),
            rates_heed: false,
            hears_airtime,
            rates_heed_snr: false,
            tx: config.data_rate.into(),
            asks_rts: false,
            ppdus: 0,
            extended: None,
            transmit: None,
            ack_policy: None,
            acknowledged: MpduSet::NONE,
            seqs: Vec::new(),
            recipient: None,
            piggyback: None,
            config,
            plan_replies: plan.replies() || plan.reverses(),
            reverse: Reverse::new(plan.reverses()),
            plan,
            links: Links::to(peers),
            txop: Txop::default(),
            state: State::Idle,
            response: None,
            wakeup: (SimTime::NEVER, When::Between),
            sent_at: SimTime::ZERO,
            announced: Dur::ZERO,
            reassembly: Reassembly::default(),
            gaps_due: SimTime::NEVER,
            taken_in: SimTime::NEVER,
            reports_attempts: false,
            has_timers: false,
            presence: Presence::Here,
            has_recalled: false,
            own: Counters::default(),
        }
    }

    /// The memory in bytes that a station takes for each of the others, and for each pair of station and TID with traffic.
    pub const BYTES_A_PEER: usize = link::NEIGHBOUR;
    /// See [`Station::BYTES_A_PEER`].
    pub const BYTES_A_LINK: usize = link::LINK;

    /// Report each failed attempt too; off unless somebody listens.
    pub fn report_attempts(&mut self) {
        self.reports_attempts = true;
    }

    /// Data frames with MAC options, to and from neighbours that answer them; without it such frames are dropped unanswered.
    pub fn extend_frames(&mut self) {
        self.extended = Some(Extended::new(self.config.options_probe_every, self.links.neighbours()));
    }

    /// Another choice of category than that of the packets' TOS field. Of no effect under DCF.
    pub fn classify_by(&mut self, classifier: Box<dyn Classifier>) {
        self.classifier = Some(classifier);
    }

    /// A say in how frames go out, after rate control's.
    pub fn transmit_by(&mut self, transmit: Box<dyn Transmit>) {
        self.transmit = Some(transmit);
    }

    /// Another rate control than a fixed rate.
    pub fn rates_by(&mut self, rates: Box<dyn RateControl>) {
        (self.rates_heed, self.rates_heed_snr) = (rates.heeds_attempts(), rates.heeds_snr());
        if rates.asks_slowest_rts() {
            self.config.control_modes = self.config.control_modes.clone().with_slowest_rts();
        }
        self.has_timers |= rates.has_timer();
        self.rates = rates;
    }

    /// Another acknowledgment of what it sends than an Ack for each MPDU.
    pub fn acknowledged_by(&mut self, policy: Box<dyn AckPolicy>) {
        self.ack_policy = Some(policy);
    }

    /// Block acknowledgment with its neighbours, each of which has announced its part in it, if any. Before it has sent or heard anything.
    pub fn aggregate_with(&mut self, announced: Rc<[Option<Aggregation>]>) {
        self.has_timers |= self.config.aggregation.is_some();
        self.links.agree(self.config.aggregation, announced);
    }

    /// Another treatment of what it receives than an Ack for each MPDU.
    pub fn receive_by(&mut self, recipient: Box<dyn Recipient>) {
        (self.recipient, self.has_timers) = (Some(recipient), true);
    }

    /// Packets in Block Acks, of its own and of others.
    pub fn load_by(&mut self, piggyback: Box<dyn Piggyback>) {
        self.piggyback = Some(piggyback);
    }

    /// True if it is to be told of frames that were lost behind their MAC header: [`crate::Channel::heed_damage`].
    pub fn heeds_damage(&self) -> bool {
        self.recipient.as_ref().is_some_and(|recipient| recipient.heeds_damage())
    }

    /// Its counters.
    pub fn counters(&self) -> Counters {
        let own = Counters { longest_hold: self.links.longest_hold(), ..self.own };
        self.category_counters().fold(own, Counters::with)
    }

    /// Counters of its categories, lowest first.
    pub fn category_counters(&self) -> impl Iterator<Item = &CategoryCounters> {
        self.edcafs.iter().map(|edcaf| &edcaf.counters)
    }

    /// Its parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its queue: that of best effort (user priority 0), if it has several.
    pub fn queue(&self) -> &dyn TxQueue {
        let category = self.config.edca.as_ref().map_or(0, |edca| edca.of_tos(0).0);
        &*self.edcafs[usize::from(category)].queue
    }

    /// The queues of its categories, lowest first.
    pub fn queues(&self) -> impl Iterator<Item = &dyn TxQueue> {
        self.edcafs.iter().map(|edcaf| &*edcaf.queue)
    }

    /// The MSDUs of the PSDU that it is sending, in order: of the category whose exchange is under way, or was last.
    pub fn psdu(&self) -> impl Iterator<Item = &Msdu> {
        self.edcafs[self.active].psdu()
    }

    /// The place of this MSDU of that PSDU in the PPDU that it sends, or has sent last.
    #[inline]
    pub fn in_ppdu(&self, place: usize) -> InPpdu {
        let mpdus = self.edcafs[self.active].in_psdu as u16;
        InPpdu { number: self.ppdus, place: place as u16, mpdus, mode: self.tx.mode }
    }

    /// The stations with which it has exchanged data, in the order of their ids.
    pub fn partners(&self) -> impl Iterator<Item = NodeId> {
        self.links.partners()
    }

    /// PPDUs with data that went to a neighbour under agreements of block acknowledgment.
    pub fn sent_to(&self, neighbour: NodeId) -> Sent {
        self.links.sent_to(neighbour)
    }

    /// MSDUs in its care: queued, in service, held back from the upper layer.
    pub fn backlog(&self) -> u64 {
        self.edcafs.iter().map(Edcaf::backlog).sum()
    }

    /// The MSDUs in its care with which it is never short of one: what is on the air, and as many again.
    pub fn plenty(&self) -> u64 {
        let in_psdu =
            self.config.aggregation.map_or(1, |own| u64::from(own.mpdus) * own.amsdu.0.div_ceil(1500).max(1));
        2 * in_psdu
    }

    /// Packets received that it has not handed up yet.
    pub fn held(&self) -> u64 {
        self.recipient.as_ref().map_or_else(|| self.links.held(), |recipient| recipient.held())
    }

    /// True if a frame of an exchange that it conducts is on the air.
    #[inline]
    pub fn is_sending(&self) -> bool {
        self.state == State::Sending
    }

    /// The time at which it wants [`Input::Timer`], and the class of that instant.
    #[inline]
    pub fn next_wakeup(&self) -> (SimTime, When) {
        if !self.has_timers {
            return self.wakeup;
        }
        let queues = self.edcafs.iter().fold(SimTime::NEVER, |next, edcaf| next.min(edcaf.held_until));
        let recipient = self.recipient.as_ref().map_or(SimTime::NEVER, |recipient| recipient.next_wakeup());
        let others = queues.min(recipient).min(self.rates.next_wakeup()).min(self.gaps_due);
        if others < self.wakeup.0 { (others, When::Between) } else { self.wakeup }
    }

    /// The node dies: the MAC falls silent and lets go of every MSDU in its care. A frame in the air ends in its time, with
    /// what it carries.
    pub fn kill(&mut self, now: SimTime, air: &mut impl Air, all: &mut Packets) -> Vec<Pkt> {
        self.presence = Presence::Dead;
        self.wakeup = (SimTime::NEVER, When::Between);
        (self.state, self.exchange, self.planned) = (State::Idle, None, None);
        self.response.take().into_iter().for_each(|frame| frame.release(all));
        self.reverse.forget();
        let mut left = Vec::new();
        for i in 0..self.edcafs.len() {
            air.silence(self.contender(i));
            let edcaf = &mut self.edcafs[i];
            edcaf.held_until = SimTime::NEVER;
            left.extend(edcaf.queue.drain(now).into_iter().flat_map(Msdu::into_packets));
            left.extend(std::iter::from_fn(|| edcaf.in_service.pop_front()).flat_map(Msdu::into_packets));
        }
        self.own.msdus_abandoned += left.len() as u64;
        left.extend(self.recipient.as_mut().map(|recipient| recipient.drain()).unwrap_or_default());
        self.gaps_due = SimTime::NEVER;
        for inbound in self.links.inbound() {
            inbound.reorder.drain().for_each(|what| what.each(|delivery| left.push(delivery.pkt)));
        }
        left
    }

    /// The node was dead and is there again: its queues are empty.
    pub fn revive(&mut self) {
        self.presence = Presence::Here;
    }

    fn contender(&self, category: usize) -> ContenderId {
        ContenderId(self.first.0 + category as u32)
    }

    fn has_categories(&self) -> bool {
        self.edcafs.len() > 1
    }

    /// Something happened. Outputs are appended to `out`.
    // In line: a driver that knows what happened is compiled with that alone.
    #[inline(always)]
    pub fn handle(
        &mut self,
        now: SimTime,
        input: Input<'_>,
        air: &mut impl Air,
        all: &mut Packets,
        out: &mut Vec<Output>,
    ) {
        let cx = &mut Cx { now, air, all, out };
        // Not `!=`: a derived comparison is a call, over which the compiler does not see at this point that the input is known.
        if !matches!(self.presence, Presence::Here) {
            match input {
                Input::Enqueue(msdu) => self.enqueue_silent(cx, msdu),
                Input::Timer => self.timer_silent(cx),
                Input::Granted | Input::Sent | Input::Ended(..) => {}
            }
            return;
        }
        match input {
            Input::Enqueue(msdu) => self.enqueue(cx, msdu),
            Input::Granted => self.granted(cx),
            Input::Sent => self.sent(cx),
            Input::Ended(frame, Got::Mpdus(got)) => self.received(cx, frame, got),
            Input::Ended(frame, Got::Header) => self.damaged(cx, frame),
            Input::Ended(_, Got::Nothing) => self.waited_out(cx),
            Input::Timer => self.timer(cx),
        }
    }

    fn enqueue(&mut self, cx: &mut Cx<impl Air>, msdu: Msdu) {
        let i = self.admit(cx, msdu);
        if self.edcafs[i].in_service.is_empty() && self.take_next(cx, i) && !self.yields(i) {
            cx.air.want(cx.now, self.contender(i), self.taken_in == cx.now);
        }
    }

    /// An MSDU goes into the queue of its category, if there is room.
    #[inline(always)]
    fn admit(&mut self, cx: &mut Cx<impl Air>, mut msdu: Msdu) -> usize {
        self.classify(&mut msdu, cx.all);
        self.fragment(&mut msdu);
        let i = usize::from(msdu.category);
        let edcaf = &mut self.edcafs[i];
        edcaf.counters.msdus_offered += 1;
        if let Err(msdu) = edcaf.queue.push(cx.now, msdu, cx.all) {
            edcaf.counters.msdus_refused += 1;
            let report = msdu.report(cx.now, Fate::QueueFull, None);
            cx.out.push(Output::Done(msdu.pkt, report));
        }
        self.note_dropped(cx, i);
        i
    }

    /// Under EDCA an MSDU goes to the category that its TOS field asks for, or that the classifier says; its frame carries
    /// QoS Control if its receiver has categories too. What is for a group does without, as in any network where some
    /// station may not know it. @80211-2020 10.2.3.2, 9.3.2.1
    #[inline(always)]
    fn classify(&mut self, msdu: &mut Msdu, all: &Packets) {
        let Some(edca) = &self.config.edca else { return };
        let packet = all.get(&msdu.pkt);
        let (default, priority) = edca.of_tos(packet.ip.tos);
        let asked = self.classifier.as_mut().map_or(default, |own| own.category(packet, msdu.to, default));
        msdu.category = edca.within(asked);
        if self.links.has_qos(msdu.to) {
            let user_priority = edca.user_priority(msdu.category, priority);
            let ht_control = self.ht_control(msdu);
            let qos = Qos { category: msdu.category, user_priority, ht_control };
            (msdu.qos, msdu.mpdu) = (Some(qos), msdu.mpdu + qos.len());
        }
    }

    /// An MSDU for one receiver that is too long for one frame goes in fragments; MAC options and A-MPDUs go with whole ones. @80211-2020
    /// 10.4
    fn fragment(&self, msdu: &mut Msdu) {
        if let Some(threshold) = self.config.fragmentation
            && msdu.to != NodeId::BROADCAST
            && msdu.options_room == 0
            && self.ack_policy.is_none()
        {
            msdu.cut(threshold);
        }
    }

    fn timer(&mut self, cx: &mut Cx<impl Air>) {
        if cx.now < self.wakeup.0 {
            self.others_timer(cx);
            return;
        }
        self.wakeup = (SimTime::NEVER, When::Between);
        if let Some(mut frame) = self.response.take() {
            if self.plan_replies && self.begins_with(cx, &mut frame) {
                return;
            }
            self.own.airtime += frame.airtime;
            cx.air.transmit(frame);
            return;
        }
        match self.state {
            State::Gap => self.send_step(cx),
            State::BetweenExchanges => self.begin(cx),
            // Asked in one place: what is called from two is not compiled in line.
            State::Awaiting | State::Yielding => match (cx.air.is_receiving(), self.state) {
                (true, State::Yielding) => self.state = State::Yielded,
                (true, _) => self.state = State::Hearing,
                (false, State::Yielding) => self.end_yield(cx),
                (false, _) => self.fail(cx, originator::Failure::Unanswered),
            },
            State::TakingBack => self.take_back(cx),
            State::Idle | State::Sending | State::Hearing | State::Yielded => {}
        }
    }

    /// The timer of a queue that held something back, of rate control, or of the recipient.
    #[cold]
    fn others_timer(&mut self, cx: &mut Cx<impl Air>) {
        let now = cx.now;
        for i in 0..self.edcafs.len() {
            if self.edcafs[i].held_until <= now && self.take_next(cx, i) && !self.yields(i) {
                cx.air.want(now, self.contender(i), false);
            }
        }
        if self.gaps_due <= now {
            self.expire_gaps(cx);
        }
        if self.rates.next_wakeup() <= now {
            self.rates.timer(now);
        }
        if let Some(recipient) = self.recipient.as_mut().filter(|recipient| recipient.next_wakeup() <= now) {
            let (counters, out) = (&mut self.own, &mut *cx.out);
            recipient.timer(now, &mut |delivery| {
                counters.msdus_received += 1;
                out.push(Output::Deliver(delivery));
            });
        }
    }
}
