//! A transmit queue with what a scheme puts around it, and the arena of its packets. Nothing is sent: MSDUs are popped and end.

use mac::{Msdu, RaTid, TxQueue};
use queue::Limit;
use schemes::testing::{Bench, Ground, HERE, THERE, node, scheme};
use schemes::{NodeFacts, Value};
use units::SimTime;
use wire::{DropWhy, Packet, Packets};

const NOW: SimTime = SimTime::ZERO;

/// The queue, and the agent that tells its counts.
pub struct Bed {
    pub queue: Box<dyn TxQueue>,
    pub all: Packets,
    pub bench: Bench,
}

/// Numbers of ACKs, or where data starts.
fn number(packet: &Packet) -> u32 {
    packet.pure_ack().map_or_else(|| packet.tcp_range().unwrap().start.0, |tcp| tcp.ack.0)
}

impl Bed {
    /// The lowest category of a station, with a scheme installed.
    pub fn new(id: &str, set: &[(&'static str, Value)], limit: Limit) -> Bed {
        let mut ground = Ground::new(NodeFacts { queue: limit, ..node(HERE, 2) });
        assert!(ground.install(&scheme(id, set)).unwrap());
        let queue = ground.queue();
        Bed { queue, all: Packets::with_capacity(64), bench: Bench::new(ground.stack) }
    }

    /// True if the queue took it.
    pub fn push(&mut self, packet: Packet) -> bool {
        let pkt = self.all.put(packet);
        let msdu = Msdu::new(NOW, pkt, &self.all, THERE, 0);
        let serial = msdu.serial;
        match self.queue.push(NOW, msdu, &mut self.all) {
            Ok(()) => true,
            Err(lost) => {
                let is_it = lost.serial == serial;
                self.end(lost);
                !is_it
            }
        }
    }

    fn end(&mut self, msdu: Msdu) -> Packet {
        self.all.free(msdu.pkt, DropWhy::Scheme).clone()
    }

    /// Numbers that the queue lets go of unsent.
    pub fn expired(&mut self) -> Vec<u32> {
        let gone: Vec<Msdu> = std::iter::from_fn(|| self.queue.expired(NOW, &self.all)).collect();
        gone.into_iter().map(|msdu| number(&self.end(msdu))).collect()
    }

    pub fn pop(&mut self) -> Option<Packet> {
        let msdu = self.queue.pop(NOW, &mut self.all)?;
        Some(self.end(msdu))
    }

    /// All that is left, one by one, as numbers.
    pub fn popped(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.pop()).map(|packet| number(&packet)).collect()
    }

    /// All that is left, as an aggregate takes it: the first by itself, the others as they are shown.
    pub fn aggregated(&mut self) -> Vec<u32> {
        let Some(first) = self.queue.pop(NOW, &mut self.all) else { return Vec::new() };
        let of = RaTid::of(&first);
        let mut numbers = vec![number(&self.end(first))];
        while let Some(shown) = self.queue.peek(NOW, of, &mut self.all).map(|msdu| msdu.serial) {
            let msdu = self.queue.pop_for(NOW, of, &mut self.all).unwrap();
            assert_eq!(msdu.serial, shown, "what is shown is what comes");
            numbers.push(number(&self.end(msdu)));
        }
        numbers
    }

    /// Entries, and bytes.
    pub fn space(&self) -> (u32, u64) {
        let space = self.queue.space();
        (space.entries, space.used.0)
    }

    /// The node dies: the number of packets that the queue gives back.
    pub fn drained(&mut self) -> usize {
        let all = self.queue.drain(NOW);
        let n = all.len();
        all.into_iter().for_each(|msdu| _ = self.end(msdu));
        assert_eq!((self.all.live(), self.space().0), (0, 0), "an MSDU is lost");
        n
    }
}
