//! One direction of a wired link.
//!
//! Nobody else talks on a wire, so its queue is worked off lazily: what has begun to leave by now is found when somebody
//! asks, at the exact instants it began. A packet costs one timer, its arrival.

use engine::{Stream, Streams};
use phy::errors::{ErrorModel, Errors};
use queue::{Arrival as Queued, Mark, Queue, Spec};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Dur, NodeId, SimTime};
use wire::{Packets, Pkt};

/// The description of a wire.
#[derive(Debug, Clone)]
pub struct WireConfig {
    /// The node where packets come from.
    pub from: NodeId,
    /// The node where they go.
    pub to: NodeId,
    /// The rate of IP bytes.
    pub rate: BitRate,
    /// The time from the end of a packet's transmission to its arrival.
    pub delay: Dur,
    /// Probability that a packet is lost on the way, independent of all others.
    pub loss: f64,
    /// The queue in front of the transmitter.
    pub queue: Spec,
    /// Size of a full packet.
    pub mtu: Bytes,
}

/// The counters of a wire, its queue apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireStats {
    /// Packets whose transmission began.
    pub sent: u64,
    /// Their IP bytes.
    pub sent_bytes: Bytes,
    /// Packets lost on the way, and those that a break took: on the way, queued, or sent while it lasted.
    pub lost: u64,
}

impl WireStats {
    /// Returns the counts after `then`.
    #[must_use]
    pub fn since(&self, then: &WireStats) -> WireStats {
        WireStats {
            sent: self.sent - then.sent,
            sent_bytes: self.sent_bytes - then.sent_bytes,
            lost: self.lost - then.lost,
        }
    }
}

/// The end of a packet's way over a wire.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A packet, at the far end.
    Whole(Pkt),
    /// A packet that was lost on the way, when it should have arrived: the caller ends it.
    Lost(Pkt),
}

/// A packet under way.
#[derive(Debug)]
struct Flying {
    arrives: SimTime,
    pkt: Pkt,
    is_lost: bool,
    /// The queue marked it when it left.
    is_marked: bool,
}

/// The ends of a wire, as the model of its errors numbers them.
const HERE: NodeId = NodeId(0);
/// See [`HERE`].
const THERE: NodeId = NodeId(1);
/// No errors.
const NEVER: ErrorModel = ErrorModel::One(phy::errors::Hit::NEVER);

/// One direction of a wired link: a queue, a transmitter, a delay.
///
/// Call order: after [`Wire::offer`] and [`Wire::arrive`] set its timer to [`Wire::next_event`]; when that goes off call
/// [`Wire::arrive`] until it returns `None`. Call [`Wire::settle`] before looking at the queue. After each of them ask
/// [`Wire::dropped`] until there is none.
#[derive(Debug)]
pub struct Wire {
    config: WireConfig,
    queue: Queue<(Pkt, Bytes)>,
    loss: Stream,
    /// Losses that depend on length or state, if there are any.
    errors: Option<Errors>,
    /// The time when the transmitter is, or was last, done.
    free_at: SimTime,
    flying: VecDeque<Flying>,
    /// Of those, the first so many have left the transmitter, and this was told; `None` if nobody asks.
    told: Option<usize>,
    is_broken: bool,
    stats: WireStats,
}

impl Wire {
    /// An idle wire, with the streams that its losses and its queue draw from.
    pub fn new(config: WireConfig, loss: Stream, queue: Stream) -> Wire {
        Wire {
            queue: Queue::new(&config.queue, config.mtu, queue),
            config,
            loss,
            errors: None,
            free_at: SimTime::ZERO,
            flying: VecDeque::with_capacity(64),
            told: None,
            is_broken: false,
            stats: WireStats::default(),
        }
    }

    /// The same with packets lost by this model too. Its bits are those of IP packets; a state that lasts for a number of frames
    /// lasts for a number of packets; an instant is that at which a packet's transmission begins.
    #[must_use]
    pub fn with_errors(mut self, model: ErrorModel, streams: &Streams) -> Wire {
        let errors = Errors::new(2, streams, |from, _| if from == HERE { model } else { NEVER });
        self.errors = (!errors.is_none()).then_some(errors);
        self
    }

    /// The same, and its timer goes off when a packet leaves the transmitter, too: watched packets are told then.
    #[must_use]
    pub fn with_departures(mut self) -> Wire {
        self.told = Some(0);
        self
    }

    /// Its description.
    pub fn config(&self) -> &WireConfig {
        &self.config
    }

    /// Its counters.
    pub fn stats(&self) -> &WireStats {
        &self.stats
    }

    /// Its queue. Up to date after [`Wire::settle`].
    pub fn queue(&self) -> &Queue<(Pkt, Bytes)> {
        &self.queue
    }

    /// Packets in its care: queued, and under way.
    pub fn backlog(&self) -> u64 {
        (self.queue.len() + self.flying.len()) as u64
    }

    /// A packet is to be sent. It may be marked by the queue.
    ///
    /// # Errors
    /// Gives it back if it is lost. Of a broken wire see [`Wire::is_broken`].
    pub fn offer(&mut self, now: SimTime, pkt: Pkt, packets: &mut Packets) -> Result<(), Pkt> {
        if self.is_broken {
            self.stats.lost += 1;
            return Err(pkt);
        }
        self.settle(now);
        let packet = packets.get(&pkt);
        let (size, flow) = (packet.ip_len(), self.queue.flow_key(|| packet.five_tuple()));
        match self.queue.push(now, (pkt, size), Queued { size, is_ect: packet.ip.is_ect(), flow }) {
            Ok(Mark::None) => {}
            Ok(Mark::Ce) => {
                if let Some((newest, _)) = self.queue.newest() {
                    packets.get_mut(newest).ip.mark_ce();
                }
            }
            Err(((pkt, _), _)) => return Err(pkt),
        }
        // An idle transmitter takes it at once.
        self.free_at = self.free_at.max(now);
        self.settle(now);
        Ok(())
    }

    /// Takes the packets out of the queue that have begun to leave by now.
    pub fn settle(&mut self, now: SimTime) {
        while self.free_at <= now
            && let Some(((pkt, size), mark)) = self.queue.pop(self.free_at)
        {
            let begins = self.free_at;
            self.free_at += size / self.config.rate;
            let mut is_lost = self.loss.chance(self.config.loss);
            if let Some(errors) = &mut self.errors {
                is_lost |= errors.hits(begins, HERE, THERE, size, false);
            }
            self.stats.sent += 1;
            self.stats.sent_bytes += size;
            self.stats.lost += u64::from(is_lost);
            let (arrives, is_marked) = (self.free_at + self.config.delay, mark == Mark::Ce);
            self.flying.push_back(Flying { arrives, pkt, is_lost, is_marked });
        }
    }

    /// Takes the oldest packet that the queue has dropped after it had taken it in. It is the caller's again.
    pub fn dropped(&mut self) -> Option<Pkt> {
        self.queue.dropped().map(|(pkt, _)| pkt)
    }

    /// The time when the next packet arrives, lost ones included.
    pub fn next_arrival(&self) -> SimTime {
        self.flying.front().map_or(SimTime::NEVER, |packet| packet.arrives)
    }

    /// The time of the next arrival, or of the next departure if those are told.
    pub fn next_event(&self) -> SimTime {
        if self.told.is_none() { self.next_arrival() } else { self.next_arrival().min(self.next_departure()) }
    }

    #[cold]
    fn next_departure(&self) -> SimTime {
        let next = self.told.and_then(|told| self.flying.get(told));
        next.map_or(SimTime::NEVER, |packet| packet.arrives - self.config.delay)
    }

    /// Tells of the watched packets that have left by now.
    #[cold]
    #[inline(never)]
    fn depart(&mut self, now: SimTime, packets: &mut Packets) {
        while self.next_departure() <= now
            && let Some(told) = &mut self.told
        {
            packets.unwatch(&self.flying[*told].pkt);
            *told += 1;
        }
    }

    /// Takes the next packet that has arrived by now.
    pub fn arrive(&mut self, now: SimTime, packets: &mut Packets) -> Option<Arrival> {
        self.settle(now);
        if self.told.is_some() {
            self.depart(now, packets);
        }
        if self.next_arrival() > now {
            return None;
        }
        let packet = self.flying.pop_front()?;
        if let Some(told) = &mut self.told {
            *told -= 1;
        }
        if packet.is_marked {
            packets.get_mut(&packet.pkt).ip.mark_ce();
        }
        Some(if packet.is_lost { Arrival::Lost(packet.pkt) } else { Arrival::Whole(packet.pkt) })
    }

    /// True while it is broken: packets offered come back, lost.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Breaks the wire. Returns the packets on the way and those that have not begun to leave: they are lost.
    pub fn sever(&mut self, now: SimTime) -> Vec<Pkt> {
        if self.is_broken {
            return Vec::new();
        }
        let mut left = self.cut(now);
        let lost_before = self.flying.iter().filter(|packet| packet.is_lost).count();
        left.extend(self.flying.drain(..).map(|packet| packet.pkt));
        self.told = self.told.map(|_| 0);
        self.stats.lost += (left.len() - lost_before) as u64;
        // The transmitter is free for what follows a repair.
        (self.is_broken, self.free_at) = (true, self.free_at.min(now));
        left
    }

    /// Mends the wire.
    pub fn mend(&mut self) {
        self.is_broken = false;
    }

    /// Takes out everything that has not begun to leave: its sender died.
    pub fn cut(&mut self, now: SimTime) -> Vec<Pkt> {
        self.settle(now);
        self.queue.drain(now).into_iter().map(|(pkt, _)| pkt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};
    use queue::Limit;
    use units::FlowId;
    use wire::{DropWhy, Ipv4, L4, Packet, Payload, Udp};

    const RATE: BitRate = BitRate::from_kbps(8000); // 1 B a µs

    fn wire(loss: f64, packets: u32) -> Wire {
        let queue = Spec::drop_tail(Limit::Packets(packets));
        let (from, to, delay, mtu) = (NodeId(0), NodeId(1), Dur::from_ms(2), Bytes(1500));
        let streams = Streams::new(1);
        let config = WireConfig { from, to, rate: RATE, delay, loss, queue, mtu };
        Wire::new(config, streams.get(Purpose::Link, 0), streams.get(Purpose::Queue, 0))
    }

    fn datagram(packets: &mut Packets, len: u32) -> Pkt {
        let l4 = L4::Udp(Udp::default());
        packets.put(Packet { ip: Ipv4::default(), l4, payload: Payload::stream(0, len - 28), flow: FlowId(0) })
    }

    fn at(us: u64) -> SimTime {
        SimTime::ZERO + Dur::from_us(us)
    }

    #[test]
    fn packets_leave_one_after_the_other_and_arrive_a_delay_later() {
        let (mut wire, mut packets) = (wire(0.0, 10), Packets::default());
        for len in [1000, 500] {
            let pkt = datagram(&mut packets, len);
            assert!(wire.offer(at(100), pkt, &mut packets).is_ok());
        }
        // 1000 B take 1000 µs: away at 1100, there at 3100; 500 B more: away at 1600, there at 3600.
        assert_eq!((wire.queue().len(), wire.backlog(), wire.next_arrival()), (1, 2, at(3100)));
        assert_eq!(wire.arrive(at(3099), &mut packets), None);
        let Some(Arrival::Whole(first)) = wire.arrive(at(3100), &mut packets) else { panic!("the first is due") };
        assert_eq!(packets.free(first, DropWhy::Delivered).ip_len(), Bytes(1000));
        assert_eq!((wire.arrive(at(3100), &mut packets), wire.next_arrival()), (None, at(3600)));
        let Some(Arrival::Whole(second)) = wire.arrive(at(3600), &mut packets) else { panic!("the second is due") };
        assert_eq!(packets.free(second, DropWhy::Delivered).ip_len(), Bytes(500));
        assert_eq!((wire.backlog(), wire.stats().sent, wire.stats().sent_bytes), (0, 2, Bytes(1500)));
        // The transmitter has been idle since 1600: nothing is owed to the time in between.
        let third = datagram(&mut packets, 100);
        assert!(wire.offer(at(5000), third, &mut packets).is_ok());
        assert_eq!(wire.next_arrival(), at(5000 + 100 + 2000));
    }

    #[test]
    fn the_queue_holds_its_limit_beside_the_packet_in_transmission() {
        let (mut wire, mut packets) = (wire(0.0, 2), Packets::default());
        let mut offer = |wire: &mut Wire, us: u64| {
            let pkt = datagram(&mut packets, 1000);
            wire.offer(at(us), pkt, &mut packets).is_ok()
        };
        assert!(offer(&mut wire, 0) && offer(&mut wire, 0) && offer(&mut wire, 0));
        assert!(!offer(&mut wire, 999), "one in transmission, two queued");
        assert!(offer(&mut wire, 1000), "at 1000 µs the second begins to leave");
        // What waited: the second 1000 µs, the third and fourth still do at 1000.
        assert_eq!(wire.queue().stats(at(1000)).wait, Dur::from_ms(1));
    }

    #[test]
    fn a_lost_packet_takes_its_time_and_does_not_arrive() {
        let (mut wire, mut packets) = (wire(0.25, 100_000), Packets::default());
        for _ in 0..40_000 {
            let pkt = datagram(&mut packets, 1000);
            assert!(wire.offer(at(0), pkt, &mut packets).is_ok());
        }
        let (mut whole, mut lost) = (0u64, 0u64);
        while let Some(arrival) = wire.arrive(at(1_000_000_000), &mut packets) {
            match arrival {
                Arrival::Whole(pkt) => {
                    whole += 1;
                    packets.free(pkt, DropWhy::Delivered);
                }
                Arrival::Lost(pkt) => {
                    lost += 1;
                    packets.free(pkt, DropWhy::LinkLoss);
                }
            }
        }
        // Binomial: 10 000 expected, standard deviation sqrt(40 000 · 1/4 · 3/4) = 86.6; five of them.
        assert_eq!((whole + lost, wire.stats().lost), (40_000, lost));
        assert!(lost.abs_diff(10_000) < 433, "{lost}");
    }

    /// Offers `n` packets of `len` at once; the numbers of those lost.
    fn lost(model: ErrorModel, n: u64, len: u32) -> Vec<u64> {
        let mut packets = Packets::default();
        let mut wire = wire(0.0, 1_000_000).with_errors(model, &Streams::new(3));
        for _ in 0..n {
            let pkt = datagram(&mut packets, len);
            assert!(wire.offer(at(0), pkt, &mut packets).is_ok());
        }
        let mut lost = Vec::new();
        for i in 0..n {
            match wire.arrive(SimTime::ZERO + Dur::from_secs(10_000), &mut packets) {
                Some(Arrival::Whole(pkt)) => _ = packets.free(pkt, DropWhy::Delivered),
                Some(Arrival::Lost(pkt)) => {
                    lost.push(i);
                    packets.free(pkt, DropWhy::LinkLoss);
                }
                None => panic!("all have arrived"),
            }
        }
        assert_eq!(wire.stats().lost, lost.len() as u64);
        lost
    }

    #[test]
    fn errors_follow_the_length_or_the_state() {
        use phy::errors::{Hit, Sojourn};
        assert_eq!(lost(NEVER, 1000, 1000), []);
        // (1 - 1e-5)^8000: 7.688 % are lost; four standard errors of 40,000 draws are 0.53 %.
        let bit = lost(ErrorModel::One(Hit::Bit { ber: 1e-5, control: false }), 40_000, 1000).len();
        assert!((bit as f64 / 4e4 - 0.07688).abs() < 0.0053, "{bit}");
        // In bad states of 4 packets after good ones of 36 everything is lost: a tenth, in runs of 4 on the mean. The
        // deviation of a run is below 4, so four standard errors of some 4,000 runs are 0.25.
        let bad = Hit::Packet { per: 1.0, control_per: 0.0 };
        let sojourn = Sojourn::Frame { good: 36.0, bad: 4.0, step: phy::Step::All };
        let two = lost(ErrorModel::Two { good: Hit::NEVER, bad, sojourn, shared: false }, 160_000, 1000);
        let runs = 1 + two.windows(2).filter(|pair| pair[0] + 1 < pair[1]).count();
        assert!((two.len() as f64 / 1.6e5 - 0.1).abs() < 0.01, "{}", two.len());
        assert!((two.len() as f64 / runs as f64 - 4.0).abs() < 0.25, "{} in {runs}", two.len());
    }

    #[test]
    fn a_broken_wire_loses_what_is_on_it_what_waits_and_what_comes_until_it_is_mended() {
        let (mut wire, mut packets) = (wire(0.0, 10), Packets::default());
        for _ in 0..3 {
            let pkt = datagram(&mut packets, 1000);
            assert!(wire.offer(at(0), pkt, &mut packets).is_ok());
        }
        // At 1500 us the first is away, the second is being sent, the third waits.
        let left = wire.sever(at(1500));
        assert_eq!((left.len(), wire.backlog(), wire.stats().lost, wire.is_broken()), (3, 0, 3, true));
        assert_eq!(wire.next_arrival(), SimTime::NEVER);
        left.into_iter().for_each(|pkt| _ = packets.free(pkt, DropWhy::LinkLoss));
        assert!(wire.sever(at(1600)).is_empty(), "it is broken already");
        let late = datagram(&mut packets, 1000);
        let Err(late) = wire.offer(at(1700), late, &mut packets) else { panic!("it is broken") };
        packets.free(late, DropWhy::LinkLoss);
        wire.mend();
        // Sent at once, though the transmission that the break cut off would have lasted until 2000: there at 1800 + 500 + 2000 us.
        let again = datagram(&mut packets, 500);
        assert!(wire.offer(at(1800), again, &mut packets).is_ok());
        assert_eq!(wire.next_arrival(), at(4300));
        let Some(Arrival::Whole(pkt)) = wire.arrive(at(4300), &mut packets) else { panic!("it is due") };
        packets.free(pkt, DropWhy::Delivered);
        assert_eq!((wire.stats().lost, packets.live()), (4, 0));
    }

    #[test]
    fn a_wire_whose_sender_dies_gives_back_what_has_not_begun_to_leave() {
        let (mut wire, mut packets) = (wire(0.0, 10), Packets::default());
        for _ in 0..3 {
            let pkt = datagram(&mut packets, 1000);
            assert!(wire.offer(at(0), pkt, &mut packets).is_ok());
        }
        let left = wire.cut(at(1500));
        assert_eq!((left.len(), wire.backlog()), (1, 2), "the second is being sent");
        left.into_iter().for_each(|pkt| _ = packets.free(pkt, DropWhy::NodeDown));
    }

    #[test]
    fn what_codel_drops_on_a_wire_is_told_and_what_it_marks_arrives_marked() {
        for (tos, dropped) in [(wire::ecn::NOT_ECT, 1), (wire::ecn::ECT_0, 0)] {
            let mut codel = queue::find("codel").expect("it is in the list");
            codel.params.set("ecn", plugin::Value::Bool(true));
            let mut packets = Packets::default();
            let mut wire = wire(0.0, 99);
            let draws = Streams::new(1).get(Purpose::Queue, 0);
            wire.queue = Queue::new(&Spec::new(Limit::Packets(99), codel), Bytes(1000), draws);
            // 1 ms each: the seventh leaves after 6 ms and is the first to have waited too long; 100 ms later the first is dropped.
            for _ in 0..99 {
                let (ip, l4) = (Ipv4 { tos, ..Ipv4::default() }, L4::Udp(Udp::default()));
                let pkt = packets.put(Packet { ip, l4, payload: Payload::stream(0, 972), flow: FlowId(0) });
                assert!(wire.offer(at(0), pkt, &mut packets).is_ok());
            }
            for ms in 1..=20 {
                let (ip, l4) = (Ipv4 { tos, ..Ipv4::default() }, L4::Udp(Udp::default()));
                let pkt = packets.put(Packet { ip, l4, payload: Payload::stream(0, 972), flow: FlowId(0) });
                assert!(wire.offer(at(ms * 1000), pkt, &mut packets).is_ok());
            }
            let mut marked = 0;
            while let Some(Arrival::Whole(pkt)) = wire.arrive(at(116_000), &mut packets) {
                let packet = packets.free(pkt, DropWhy::Delivered);
                marked += u64::from(packet.ip.tos == wire::ecn::CE);
            }
            let lost: Vec<Pkt> = std::iter::from_fn(|| wire.dropped()).collect();
            assert_eq!((lost.len() as u64, marked), (dropped, 1 - dropped));
            lost.into_iter().for_each(|pkt| _ = packets.free(pkt, DropWhy::QueueFull));
            assert_eq!(packets.live(), wire.backlog());
        }
    }
}
