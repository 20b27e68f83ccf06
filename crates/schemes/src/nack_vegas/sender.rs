//! At the sender: the history of corrupted numbers.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use tcp::{Ack, FlowFacts, Loss, SenderHook};
use units::{Dur, SimTime};
use wire::tcp::MOST_NEGATIVE_ACKS;
use wire::{Seq, SeqRange, Tcp};

/// The counters of one node's senders.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Numbers believed.
    heard: Cell<u64>,
    /// Numbers of data that is acknowledged, was never sent, or was sent again since.
    stale: Cell<u64>,
    /// Segments sent again for a number.
    repairs: Cell<u64>,
    /// Segments not sent again, since a window's worth was in this round trip.
    refused: Cell<u64>,
}

impl Counts {
    pub fn tell(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("numbers_heard", self.heard.get());
        out("numbers_stale", self.stale.get());
        out("repairs", self.repairs.get());
        out("repairs_refused", self.refused.get());
    }
}

fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

/// A corrupted segment.
#[derive(Debug, Clone, Copy)]
struct Entry {
    number: Seq,
    /// SND.MAX before its copy was sent, if a copy is under way.
    sent: Option<Seq>,
}

/// The hook of one sender.
#[derive(Debug)]
pub(super) struct Sender {
    retransmits: bool,
    /// The latest corrupted numbers, the oldest first. @CDC11 sec. 3.2, "circular queue"
    history: VecDeque<Entry>,
    most: usize,
    /// Numbers of the segment at hand, from `next` to `end`.
    due: [Seq; MOST_NEGATIVE_ACKS],
    next: usize,
    end: usize,
    /// SND.MAX at the last timeout, until an ACK of new data comes.
    timed_out: Option<Seq>,
    /// Numbers sent again within the last least RTT for another reason than a negative ACK, with the time.
    repeated: VecDeque<(Seq, SimTime)>,
    /// The end of the round trip that lasts, and the bytes repeated in it.
    round: Option<Seq>,
    spent: u64,
    now: SimTime,
    least_rtt: Option<Dur>,
    counts: Rc<Counts>,
}

impl Sender {
    pub fn new(most: usize, retransmits: bool, counts: Rc<Counts>) -> Sender {
        Sender {
            retransmits,
            history: VecDeque::with_capacity(most),
            most,
            due: [Seq(0); MOST_NEGATIVE_ACKS],
            next: 0,
            end: 0,
            timed_out: None,
            repeated: VecDeque::new(),
            round: None,
            spent: 0,
            now: SimTime::ZERO,
            least_rtt: None,
            counts,
        }
    }

    fn entry(&self, number: Seq) -> Option<&Entry> {
        self.history.iter().find(|entry| entry.number == number)
    }

    fn record(&mut self, number: Seq, sent: Option<Seq>) {
        match self.history.iter_mut().find(|entry| entry.number == number) {
            Some(entry) => entry.sent = sent.or(entry.sent),
            None => {
                if self.history.len() == self.most {
                    self.history.pop_front();
                }
                self.history.push_back(Entry { number, sent });
            }
        }
    }

    /// The least RTT, or what the handshake has shown as long as no data was timed: after a timeout of the first window nothing has been.
    fn rtt(&self, facts: &FlowFacts) -> Dur {
        self.least_rtt.or(facts.srtt).unwrap_or(Dur::ZERO)
    }

    /// True if a number is about an older copy than the one sent last.
    fn is_stale(&self, number: Seq, facts: &FlowFacts) -> bool {
        let in_flight = facts.snd_una.le(number) && number.lt(facts.snd_nxt);
        let before_timeout = self.timed_out.is_some_and(|sent| number.lt(sent));
        let rtt = self.rtt(facts);
        let is_recent = |at: SimTime| self.now.since(at) < rtt;
        let before_repetition = self.repeated.iter().any(|(repeated, at)| *repeated == number && is_recent(*at));
        !in_flight || before_timeout || before_repetition
    }

    /// Counts one more segment as repeated in this round trip. Returns false once that would be more than a window.
    fn take_repeat(&mut self, facts: &FlowFacts) -> bool {
        let lasts = self.round.is_some_and(|end| facts.snd_una.lt(end) && end.le(facts.snd_nxt));
        if !lasts {
            (self.round, self.spent) = (Some(facts.snd_nxt), 0);
        }
        let may = self.spent + facts.mss.0 <= facts.cwnd.0.max(facts.mss.0);
        self.spent += if may { facts.mss.0 } else { 0 };
        may
    }
}

impl SenderHook for Sender {
    fn on_segment(&mut self, tcp: &Tcp, _: &FlowFacts) {
        (self.next, self.end) = (0, 0);
        for number in tcp.options.negative_acks().take(MOST_NEGATIVE_ACKS) {
            self.due[self.end] = number;
            self.end += 1;
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &FlowFacts) {
        self.now = ack.now;
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if !ack.duplicate {
            self.timed_out = None;
            self.history.retain(|entry| ack.number.le(entry.number));
        }
    }

    fn on_timeout(&mut self, facts: &FlowFacts) {
        self.history.clear();
        self.timed_out = Some(facts.snd_max);
    }

    fn corrupted(&mut self, facts: &FlowFacts) -> Option<SeqRange> {
        while self.next < self.end {
            let number = self.due[self.next];
            self.next += 1;
            if self.is_stale(number, facts) {
                count(&self.counts.stale);
                continue;
            }
            count(&self.counts.heard);
            let repeats = self.retransmits && self.take_repeat(facts);
            self.record(number, repeats.then_some(facts.snd_max));
            if repeats {
                count(&self.counts.repairs);
                return Some(SeqRange::new(number, facts.mss.0 as u32));
            }
            if self.retransmits {
                count(&self.counts.refused);
            }
        }
        None
    }

    fn in_repair(&mut self, range: SeqRange, _: &FlowFacts) -> Option<Seq> {
        self.entry(range.start).and_then(|entry| entry.sent)
    }

    fn loss(&mut self, verdict: Loss, range: SeqRange, _: &FlowFacts) -> Loss {
        if self.entry(range.start).is_some() {
            return Loss::Corruption;
        }
        verdict
    }

    fn resent(&mut self, range: SeqRange, now: SimTime, facts: &FlowFacts) {
        // For a number of the segment at hand; its next discard is another one's.
        if self.due[..self.next].contains(&range.start)
            && self.entry(range.start).is_some_and(|entry| entry.sent.is_some())
        {
            return;
        }
        let rtt = self.rtt(facts);
        while self.repeated.front().is_some_and(|(_, at)| rtt <= now.since(*at)) {
            self.repeated.pop_front();
        }
        self.repeated.push_back((range.start, now));
    }
}
