//! The stories of frames: what each frame of a window carried, how its station came to send it, and what became of its MSDUs.
//!
//! Kept beside a [`Scene`](super::Scene) with a timeline alone. Whatever can be told from the rows of the timeline is not here:
//! frames that overlapped, the response to a frame, its further attempts.

use super::Window;
use mac::{Body, Channel, Fate, Frame, TxReport, Wait};
use units::{ChannelId, Dur, FlowId, NodeId, SimTime};
use wire::{Flags, Packet, Packets};

/// An MSDU, or a fragment of one, in a data frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    /// Begin of the frame.
    pub start: SimTime,
    /// Transmitter of the frame.
    pub from: NodeId,
    /// Place of its MPDU in the PSDU, the first 0.
    pub place: u16,
    /// Sequence number of the MPDU.
    pub seq: u16,
    /// Fragment number; 0 of what is whole.
    pub fragment: u8,
    /// The attempt of its MSDU, counted from 1.
    pub attempt: u8,
    /// The serial of its packet at the transmitter.
    pub serial: u64,
    /// The flow and its direction; [`FlowId::NONE`] for what belongs to none.
    pub flow: FlowId,
    /// Payload of its transport, in bytes.
    pub payload: u32,
    /// Sequence and acknowledgment number of a TCP segment.
    pub tcp: Option<(u32, u32)>,
    /// Its control bits.
    pub flags: Flags,
}

/// An MSDU that has left its MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// The station that had it.
    pub node: NodeId,
    /// The serial of its packet there.
    pub serial: u64,
    /// Its fate.
    pub fate: Fate,
    /// Exchanges begun for it.
    pub attempts: u8,
    /// Time at which it was queued.
    pub enqueued: SimTime,
    /// Time at which it first came to the head of the queue.
    pub head: SimTime,
    /// Time at which its fate was known.
    pub done: SimTime,
}

impl Settled {
    /// True if it was acknowledged, or sent to a group; false if it was given up or its queue has dropped it.
    pub fn is_delivered(&self) -> bool {
        self.fate == Fate::Delivered
    }
}

/// A TCP segment that has reached its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The instant.
    pub at: SimTime,
    /// The flow and its direction.
    pub flow: FlowId,
    /// Sequence and acknowledgment number.
    pub tcp: (u32, u32),
    /// Payload in bytes.
    pub payload: u32,
}

/// A period for which the medium was busy for a contender that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// Slots that remained.
    pub slots: u32,
    /// The instant from which the medium was idle again, NAV included.
    pub until: SimTime,
    /// The part of it, at its end, in which NAV alone held the contender back.
    pub nav: Dur,
}

/// The grant of a contender whose station then sent a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Begin of the frame: the instant of the grant.
    pub start: SimTime,
    /// Its transmitter.
    pub from: NodeId,
    /// Contention window of the backoff.
    pub cw: u16,
    /// The instant at which the last countdown began: the interframe space was over.
    pub counts_from: SimTime,
    /// Slots of the last countdown.
    pub slots: u32,
    /// The last periods for which the medium was busy since the contender was granted before.
    pub stops: Vec<Stop>,
    /// Earlier ones.
    pub left_out: u32,
}

/// The waits of a contender since it was last granted.
#[derive(Debug, Clone, Default, PartialEq)]
struct Waiting {
    stops: Vec<Stop>,
    left_out: u32,
}

impl Waiting {
    /// The medium is busy for this contender at the end of a frame, or NAV holds it back, or it was busy until now.
    fn held(&mut self, now: SimTime, wait: &Wait) {
        let until = wait.idle_from.unwrap_or(now);
        let stop = Stop { slots: wait.slots, until, nav: until.since(now) };
        match self.stops.last_mut() {
            Some(last) if last.slots == stop.slots => *last = stop,
            Some(last) if last.slots > stop.slots => {
                if self.stops.len() == Story::STOPS {
                    self.stops.remove(0);
                    self.left_out += 1;
                }
                self.stops.push(stop);
            }
            // More slots than before: another backoff has been drawn.
            _ => *self = Waiting { stops: vec![stop], left_out: 0 },
        }
    }
}

/// The stories of the frames of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    window: Window,
    /// Contents of data frames, in the order in which these left the air.
    pub portions: Vec<Portion>,
    /// Grants, in the same order.
    pub accesses: Vec<Access>,
    /// MSDUs that were in service within the window, in the order in which they left their MACs.
    pub settled: Vec<Settled>,
    /// TCP segments that reached their ends from the begin of the window on.
    pub arrivals: Vec<Arrival>,
    /// By channel, then by contender.
    waiting: Vec<Vec<Waiting>>,
}

impl Story {
    /// The most entries of each list that are kept, twenty times the frames that a page has: at most some 75 MB, two thirds of it stops.
    /// Later ones are not.
    pub const LIMIT: usize = 200_000;
    /// Stops of a wait that are kept.
    pub const STOPS: usize = 8;
    /// The time before the window from which waits are followed: a hundred data frames of 802.11b. Of a longer wait the first stops are missing.
    const LEAD: Dur = Dur::from_ms(200);
    /// The time after the window for which arrivals are noted: a packet's repetitions and a wire across the world. Later ones are not told.
    const TAIL: Dur = Dur::from_ms(1000);

    /// One in which nothing has happened.
    pub(crate) fn new(window: Window) -> Story {
        let (portions, accesses, settled) = (Vec::new(), Vec::new(), Vec::new());
        Story { window, portions, accesses, settled, arrivals: Vec::new(), waiting: Vec::new() }
    }

    fn is_in_window(&self, start: SimTime, end: SimTime) -> bool {
        start < self.window.until && end > self.window.from
    }

    /// A frame has left the air of a channel.
    pub(super) fn frame(&mut self, now: SimTime, frame: &Frame, on: ChannelId, channel: &Channel, packets: &Packets) {
        let start = now - frame.airtime;
        if start >= self.window.until || now + Story::LEAD < self.window.from {
            return;
        }
        self.follow(now, frame, on, channel);
        self.carried(now, frame, packets);
    }

    /// Notes the contents of a frame that ends at `end`, reached or not.
    pub(super) fn carried(&mut self, end: SimTime, frame: &Frame, packets: &Packets) {
        let start = end - frame.airtime;
        if !self.is_in_window(start, end) {
            return;
        }
        for (place, mpdu) in (0..).zip(frame.psdu.mpdus()) {
            let Body::Data(data) = &mpdu.body else { continue };
            for msdu in data.msdus.each() {
                let packet = packets.read(&msdu.packet);
                push(
                    &mut self.portions,
                    Portion {
                        start,
                        from: frame.from,
                        place,
                        seq: data.seq,
                        fragment: data.fragment,
                        attempt: data.attempt,
                        serial: packets.shared_serial(&msdu.packet),
                        flow: packet.flow,
                        payload: packet.payload.len,
                        tcp: packet.tcp().map(|tcp| (tcp.seq.0, tcp.ack.0)),
                        flags: packet.tcp().map_or(Flags::default(), |tcp| tcp.flags),
                    },
                );
            }
        }
    }

    /// Follows the waits of a channel at the end of a frame.
    fn follow(&mut self, now: SimTime, frame: &Frame, on: ChannelId, channel: &Channel) {
        let start = now - frame.airtime;
        let is_told = self.is_in_window(start, now);
        if self.waiting.len() <= on.index() {
            self.waiting.resize_with(on.index() + 1, Vec::new);
        }
        let waiting = &mut self.waiting[on.index()];
        for (i, wait) in channel.contention.waits().enumerate() {
            if waiting.len() <= i {
                waiting.push(Waiting::default());
            }
            let known = &mut waiting[i];
            match wait {
                None => *known = Waiting::default(),
                Some(wait) if wait.is_granted => {
                    if wait.node != frame.from {
                        continue;
                    }
                    let Waiting { stops, left_out } = std::mem::take(known);
                    // The later frames of an exchange had no grant of their own.
                    if is_told && wait.granted_at == start {
                        let Wait { cw, counts_from, slots, .. } = wait;
                        let access = Access { start, from: frame.from, cw, counts_from, slots, stops, left_out };
                        push(&mut self.accesses, access);
                    }
                }
                Some(wait) if wait.idle_from.is_none_or(|from| from >= now) => known.held(now, &wait),
                Some(_) => {}
            }
        }
    }

    /// The MAC has reported on an MSDU.
    pub(super) fn mac(&mut self, node: NodeId, report: &TxReport) {
        let TxReport { serial, fate, attempts, enqueued, head, first, done, .. } = *report;
        if attempts > 0 && first < self.window.until && done > self.window.from {
            push(&mut self.settled, Settled { node, serial, fate, attempts, enqueued, head, done });
        }
    }

    /// A TCP segment reaches its end.
    pub(super) fn arrives(&mut self, now: SimTime, packet: &Packet) {
        let is_told = now >= self.window.from && now.since(self.window.until) < Story::TAIL;
        if let (true, Some(tcp)) = (is_told, packet.tcp()) {
            let (flow, payload) = (packet.flow, packet.payload.len);
            push(&mut self.arrivals, Arrival { at: now, flow, tcp: (tcp.seq.0, tcp.ack.0), payload });
        }
    }
}

/// Adds an entry to a list that has room.
fn push<T>(list: &mut Vec<T>, entry: T) {
    if list.len() < Story::LIMIT {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mac::ContenderId;

    fn at(us: u64) -> SimTime {
        SimTime::ZERO + Dur::from_us(us)
    }

    /// A contender with these slots left, whose medium is idle from `idle_us` on, if at all.
    fn wait(slots: u32, idle_us: Option<u64>) -> Wait {
        let (id, node, is_granted, cw) = (ContenderId(0), NodeId(0), false, 31);
        let (counts_from, granted_at) = (SimTime::ZERO, SimTime::ZERO);
        Wait { id, node, is_granted, slots, cw, counts_from, granted_at, idle_from: idle_us.map(at) }
    }

    #[test]
    fn a_stop_lasts_until_the_medium_is_idle_and_nav_is_told_apart() {
        let mut waiting = Waiting::default();
        waiting.held(at(100), &wait(7, Some(400))); // data: its Duration holds NAV for 300 us
        waiting.held(at(400), &wait(7, Some(400))); // the ACK was heard as well
        waiting.held(at(900), &wait(4, Some(1200))); // a CTS of a hidden exchange: NAV alone
        waiting.held(at(1300), &wait(2, None)); // another frame is still in the air
        let [stop, hidden, last] = waiting.stops[..] else { panic!("{waiting:?}") };
        assert_eq!(stop, Stop { slots: 7, until: at(400), nav: Dur::ZERO });
        assert_eq!(hidden, Stop { slots: 4, until: at(1200), nav: Dur::from_us(300) });
        assert_eq!(last, Stop { slots: 2, until: at(1300), nav: Dur::ZERO });
    }

    #[test]
    fn more_slots_than_before_are_another_backoff_and_long_waits_are_cut() {
        let mut waiting = Waiting::default();
        waiting.held(at(100), &wait(3, Some(100)));
        (0..20).for_each(|i| waiting.held(at(200 + i), &wait(30 - i as u32, Some(200 + i))));
        assert_eq!(waiting.left_out, 20 - Story::STOPS as u32);
        let slots: Vec<u32> = waiting.stops.iter().map(|stop| stop.slots).collect();
        assert_eq!(slots, [18, 17, 16, 15, 14, 13, 12, 11]);
    }
}
