//! A split connection in its steady state allocates nothing beyond what its machines do, which is nothing.
#![allow(clippy::unwrap_used, reason = "a test")]

use queue::Space;
use schemes::testing::{Ground, HERE, THERE, node, scheme, segment};
use schemes::{Action, Agent, Cx, Key, Member, NodeFacts, NodeView, PeerEvent, Place};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use tcp::{Config, Connection, FlowFacts, Input, Output};
use testkit::alloc::{Counting, calls};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, L4, Packet, Packets, Seq};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Nothing;

impl NodeView for Nothing {
    fn facts(&self, _: FlowId) -> Option<FlowFacts> {
        None
    }

    fn room(&self) -> Space {
        Space { free: Bytes::ZERO, used: Bytes::ZERO, entries: 0 }
    }

    fn address(&self, _: NodeId) -> Ipv4Addr {
        Ipv4Addr::UNSPECIFIED
    }
}

/// The base station, a wired sender (end 0) and a mobile receiver (end 1).
struct Path {
    member: Member,
    packets: Packets,
    actions: VecDeque<Action>,
    timers: [SimTime; 2],
    ends: [Connection; 2],
    /// Under way to the base station from each end, and back.
    up: [Vec<Packet>; 2],
    down: [Vec<Packet>; 2],
    header: Packet,
    now: SimTime,
    sent: u64,
    lose: u64,
}

impl Path {
    fn ask(&mut self, question: impl FnOnce(&mut dyn Agent, &mut Cx)) {
        let (Member { agent, claims, .. }, packets, actions) =
            (&mut self.member, &mut self.packets, &mut self.actions);
        question(&mut **agent, &mut Cx::new(self.now, HERE, Some(THERE), claims, packets, &Nothing, actions));
        for action in self.actions.drain(..) {
            match action {
                Action::Inject(pkt, _) => {
                    let packet = self.packets.free(pkt, DropWhy::Delivered).clone();
                    let to_mobile = packet.flow == FlowId(0);
                    self.sent += u64::from(to_mobile);
                    if !(to_mobile && self.sent.is_multiple_of(self.lose)) {
                        self.down[usize::from(to_mobile)].push(packet);
                    }
                }
                Action::Timer(Key(key), at) => self.timers[key as usize] = at,
                Action::Command(..) | Action::Measured(..) => unreachable!("it steers no host"),
            }
        }
    }

    fn poll(&mut self, at: usize) {
        while let Some(output) = self.ends[at].poll(self.now) {
            match output {
                Output::Segment { tcp, payload, .. } => {
                    let packet = Packet { l4: L4::Tcp(tcp), payload, flow: FlowId(at as u32), ..self.header.clone() };
                    self.up[at].push(packet);
                }
                Output::Readable { len, .. } => self.ends[at].handle(self.now, Input::Read(u64::from(len))),
                _ => {}
            }
        }
    }

    fn round(&mut self) {
        for at in 0..2 {
            if self.ends[at].next_wakeup() <= self.now {
                self.ends[at].handle(self.now, Input::Timer);
            }
            self.poll(at);
            if self.timers[at] <= self.now {
                self.timers[at] = SimTime::NEVER;
                self.ask(|agent, cx| agent.timer(Key(at as u64), cx));
            }
        }
        self.now += Dur::from_ms(5);
        for at in 0..2 {
            let mut up = std::mem::take(&mut self.up[at]);
            for packet in up.drain(..) {
                let pkt = self.packets.put(packet);
                self.ask(|agent, cx| assert!(agent.packet(Place::Transit, pkt, cx).is_none()));
            }
            self.up[at] = up;
        }
        self.now += Dur::from_ms(5);
        for at in 0..2 {
            let mut down = std::mem::take(&mut self.down[at]);
            for packet in down.drain(..) {
                let input = Input::Segment { tcp: packet.tcp().unwrap(), payload: &packet.payload, ce: false };
                self.ends[at].handle(self.now, input);
                self.poll(at);
            }
            self.down[at] = down;
        }
    }
}

/// Allocations of `rounds` round trips after as many to warm up, and the bytes delivered in them.
fn allocations(lose: u64, rounds: u32) -> (u64, u64) {
    let mut ground = Ground::new(NodeFacts { forwards: true, ..node(HERE, 3) });
    ground.install(&scheme("i-tcp", &[])).unwrap();
    let ends = [Connection::open(Config::default(), 1, 2), Connection::listen(Config::default(), 2, 1)];
    let mut path = Path {
        member: ground.stack.members.pop().unwrap(),
        packets: Packets::default(),
        actions: VecDeque::with_capacity(100),
        timers: [SimTime::NEVER; 2],
        ends,
        up: [(); 2].map(|()| Vec::with_capacity(200)),
        down: [(); 2].map(|()| Vec::with_capacity(200)),
        header: segment(FlowId(0), Flags::ACK, Seq(0), 0, Seq(0), 0),
        now: SimTime::ZERO,
        sent: 0,
        lose,
    };
    path.ask(|agent, cx| agent.peer(THERE, PeerEvent::Up(&[]), cx));
    path.ends[0].handle(SimTime::ZERO, Input::Write(u64::MAX / 2));
    (0..rounds).for_each(|_| path.round());
    let before = (calls(), path.ends[1].counters().delivered_bytes);
    (0..rounds).for_each(|_| path.round());
    (calls() - before.0, path.ends[1].counters().delivered_bytes - before.1)
}

/// One test, so that no other thread counts.
#[test]
fn a_segment_through_a_split_connection_allocates_nothing() {
    for lose in [u64::MAX, 97] {
        let (allocations, bytes) = allocations(lose, 2000);
        assert!(bytes > 10_000_000, "{bytes} B");
        assert_eq!(allocations, 0, "losing every {lose}th");
    }
}
