//! Access points keep the newest pure ACKs of each flow in their transmit queues.
//!
//! **Source** @RFC3449 sec. 5.2.1, ACK filtering.
//! **Realism** a queue that reads TCP headers; it needs nothing from anybody else.
//! **Departs** nothing is rebuilt behind the bottleneck, so a sender sees stretched ACKs.
//! **Bound** an ACK that is on its way to the air (in service, or given back after a failure) stays. ACKs that wait here are not seen
//! by the queue around which this one stands: RED drops none of them.
//! **Checked** by the tests below.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use mac::{Msdu, Next, RaTid, TxQueue};
use queue::{Limit, Space};
use schemes::testing::{Ground, HERE, IN, OUT, THERE, ack, data, edca, node, with};
use schemes::{Agent, Info, Kind, NodeFacts, Param, Params, Refusal, Site, Value};
use units::{Bytes, FlowId, SimTime};
use wire::{Flags, Packet, Packets, Seq, SeqRange};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ack-thinning",
    summary: "access points keep only the newest pure ACKs of each flow in their transmit queues",
    source: "@RFC3449",
    params: &[Param {
        key: "keep",
        kind: Kind::Int { min: 1, max: 8 },
        default: Value::Int(1),
        doc: "pure ACKs of a flow that may wait",
    }],
};

/// At access points: who forwards by radio and is nobody's station.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !(site.node.forwards && site.node.has_air && site.node.access_point.is_none()) {
        return Ok(());
    }
    let (keep, room) = (params.int("keep") as usize, (site.node.queue, site.node.mtu));
    let books = Rc::new(RefCell::new(Books::default()));
    site.agent(Teller(Rc::clone(&books)));
    site.reads_tcp();
    site.wrap_queue(move |inner| Box::new(Thinning::new(inner, keep, room, Rc::clone(&books))));
    Ok(())
}

#[derive(Debug, Default)]
struct Books {
    thinned: u64,
    thinned_bytes: u64,
    duplicates_spared: u64,
    sacks_spared: u64,
}

/// Tells the counters of all queues of the node.
#[derive(Debug)]
struct Teller(Rc<RefCell<Books>>);

impl Agent for Teller {
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let books = self.0.borrow();
        out("acks_thinned", books.thinned);
        out("acks_thinned_bytes", books.thinned_bytes);
        out("duplicates_spared", books.duplicates_spared);
        out("sacks_spared", books.sacks_spared);
    }
}

/// The latest ACK of a flow: its number and window.
type Latest = (Seq, u16);

/// What a packet is to this queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    /// A pure ACK that a later one may cover.
    Plain(FlowId, Seq, Flags),
    /// It repeats the flow's latest ACK.
    Duplicate(FlowId, Seq),
    Sack,
    Other,
}

/// A place in the line.
#[derive(Debug)]
enum Waiting {
    /// In the inner queue.
    Inner(RaTid),
    /// Here.
    Ack(Ack),
}

#[derive(Debug)]
struct Ack {
    msdu: Msdu,
    len: Bytes,
    flow: FlowId,
    number: Seq,
    flags: Flags,
    /// A duplicate of it has come. Without this one, the first duplicate would be none.
    is_repeated: bool,
}

#[derive(Debug)]
struct Thinning {
    inner: Box<dyn TxQueue>,
    keep: usize,
    limit: Limit,
    /// A full packet: what a free place is worth if the limit counts packets.
    mtu: Bytes,
    line: VecDeque<Waiting>,
    /// What `expired` hands out.
    covered: VecDeque<(Msdu, Bytes)>,
    latest: BTreeMap<FlowId, Latest>,
    books: Rc<RefCell<Books>>,
}

impl Thinning {
    fn new(
        inner: Box<dyn TxQueue>,
        keep: usize,
        (limit, mtu): (Limit, Bytes),
        books: Rc<RefCell<Books>>,
    ) -> Thinning {
        let (line, covered, latest) = (VecDeque::new(), VecDeque::new(), BTreeMap::new());
        Thinning { inner, keep, limit, mtu, line, covered, latest, books }
    }

    fn role(&self, packet: &Packet) -> Role {
        let Some(tcp) = packet.pure_ack() else { return Role::Other };
        if self.latest.get(&packet.flow) == Some(&(tcp.ack, tcp.window)) {
            Role::Duplicate(packet.flow, tcp.ack)
        } else if tcp.options.sack_blocks().next().is_some() {
            Role::Sack
        } else {
            Role::Plain(packet.flow, tcp.ack, tcp.flags)
        }
    }

    fn remember(&mut self, packet: &Packet) {
        if let Some(tcp) = packet.pure_ack() {
            let latest = self.latest.entry(packet.flow).or_insert((tcp.ack, tcp.window));
            if latest.0.le(tcp.ack) {
                *latest = (tcp.ack, tcp.window);
            }
        }
    }

    /// The ACKs that wait here.
    fn acks(&self) -> impl Iterator<Item = &Ack> {
        self.line.iter().filter_map(|w| if let Waiting::Ack(ack) = w { Some(ack) } else { None })
    }

    /// What it holds itself: entries and bytes.
    fn own(&self) -> (u32, u64) {
        let lens = self.acks().map(|a| a.len).chain(self.covered.iter().map(|(_, len)| *len));
        lens.fold((0, 0), |(entries, bytes), len| (entries + 1, bytes + len.0))
    }

    fn has_room(&self, len: Bytes) -> bool {
        let space = self.space();
        match self.limit {
            Limit::Packets(n) => space.entries < n,
            Limit::Bytes(bytes) => space.used.0 + len.0 <= bytes.0,
        }
    }

    /// The place of the ACK that has to go when one more of this kind waits, if it is one too many.
    fn victim(&self, flow: FlowId, flags: Flags, to: RaTid) -> Option<usize> {
        let mut alike = 0;
        let mut oldest: Option<(usize, Seq)> = None;
        for (i, waiting) in self.line.iter().enumerate() {
            let Waiting::Ack(ack) = waiting else { continue };
            if ack.flow == flow && ack.flags == flags && RaTid::of(&ack.msdu) == to && !ack.is_repeated {
                alike += 1;
                if oldest.is_none_or(|(_, number)| ack.number.lt(number)) {
                    oldest = Some((i, ack.number));
                }
            }
        }
        oldest.filter(|_| alike > self.keep).map(|(i, _)| i)
    }

    /// The inner queue has handed out an MSDU for `of`.
    fn forget_inner(&mut self, of: RaTid) {
        if let Some(i) = self.line.iter().position(|w| matches!(w, Waiting::Inner(to) if *to == of)) {
            self.line.remove(i);
        }
    }

    fn take(&mut self, i: usize) -> Option<Ack> {
        match self.line.remove(i) {
            Some(Waiting::Ack(ack)) => Some(ack),
            _ => None,
        }
    }
}

impl TxQueue for Thinning {
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let (role, len, to) = (self.role(packet), packet.ip_len(), RaTid::of(&msdu));
        let packet = packet.clone();
        if let Role::Plain(flow, number, flags) = role {
            self.line.push_back(Waiting::Ack(Ack { msdu, len, flow, number, flags, is_repeated: false }));
            if let Some(i) = self.victim(flow, flags, to) {
                let victim = self.take(i).expect("a victim is an ACK");
                let mut books = self.books.borrow_mut();
                books.thinned += 1;
                books.thinned_bytes += victim.len.0;
                self.covered.push_back((victim.msdu, victim.len));
            } else {
                let Some(ack) = self.take(self.line.len() - 1) else { unreachable!("just pushed") };
                if !self.has_room(len) {
                    return Err(ack.msdu);
                }
                self.line.push_back(Waiting::Ack(ack));
            }
        } else {
            if !self.has_room(len) {
                return Err(msdu);
            }
            self.inner.push(now, msdu, all)?;
            self.line.push_back(Waiting::Inner(to));
        }
        match role {
            Role::Duplicate(repeats, of) => {
                for waiting in &mut self.line {
                    if let Waiting::Ack(ack) = waiting {
                        ack.is_repeated |= ack.flow == repeats && ack.number == of;
                    }
                }
                self.books.borrow_mut().duplicates_spared += 1;
            }
            Role::Sack => self.books.borrow_mut().sacks_spared += 1,
            Role::Plain(..) | Role::Other => {}
        }
        self.remember(&packet);
        Ok(())
    }

    fn pop(&mut self, now: SimTime, all: &Packets) -> Option<Msdu> {
        if !matches!(self.line.front(), Some(Waiting::Ack(_)))
            && let Some(msdu) = self.inner.pop(now, all)
        {
            self.forget_inner(RaTid::of(&msdu));
            return Some(msdu);
        }
        // The first that waits is an ACK, or the inner queue holds back what it has.
        let first = self.line.iter().position(|w| matches!(w, Waiting::Ack(_)))?;
        self.take(first).map(|ack| ack.msdu)
    }

    fn peek(&self, of: RaTid) -> Option<&Msdu> {
        self.line.iter().find_map(|waiting| match waiting {
            Waiting::Inner(to) if *to == of => Some(self.inner.peek(of)),
            Waiting::Ack(ack) if RaTid::of(&ack.msdu) == of => Some(Some(&ack.msdu)),
            _ => None,
        })?
    }

    fn pop_for(&mut self, now: SimTime, of: RaTid, all: &Packets) -> Option<Msdu> {
        let first = self.line.iter().position(|waiting| match waiting {
            Waiting::Inner(to) => *to == of,
            Waiting::Ack(ack) => RaTid::of(&ack.msdu) == of,
        })?;
        if matches!(self.line[first], Waiting::Ack(_)) {
            return self.take(first).map(|ack| ack.msdu);
        }
        let msdu = self.inner.pop_for(now, of, all)?;
        self.line.remove(first);
        Some(msdu)
    }

    fn expired(&mut self, now: SimTime, all: &Packets) -> Option<Msdu> {
        if let Some((msdu, _)) = self.covered.pop_front() {
            return Some(msdu);
        }
        let msdu = self.inner.expired(now, all)?;
        self.forget_inner(RaTid::of(&msdu));
        Some(msdu)
    }

    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        let of = RaTid::of(&msdu);
        let next = self.inner.failed(now, msdu, is_last, all);
        if matches!(next, Next::Yield) {
            self.line.push_front(Waiting::Inner(of));
        }
        next
    }

    fn next_wakeup(&self) -> SimTime {
        self.inner.next_wakeup()
    }

    fn space(&self) -> Space {
        let inner = self.inner.space();
        let (entries, bytes) = self.own();
        let taken = match self.limit {
            Limit::Packets(_) => u64::from(entries) * self.mtu.0,
            Limit::Bytes(_) => bytes,
        };
        Space {
            free: Bytes(inner.free.0.saturating_sub(taken)),
            used: Bytes(inner.used.0 + bytes),
            entries: inner.entries + entries,
        }
    }

    fn drain(&mut self, now: SimTime) -> Vec<Msdu> {
        let mut all: Vec<Msdu> = self.covered.drain(..).map(|(msdu, _)| msdu).collect();
        for waiting in self.line.drain(..) {
            if let Waiting::Ack(ack) = waiting {
                all.push(ack.msdu);
            }
        }
        all.extend(self.inner.drain(now));
        all
    }

    fn stats(&self, now: SimTime) -> Option<queue::Stats> {
        self.inner.stats(now)
    }
}

/// A transmit queue of an access point, and the arena of its packets.
struct Bed {
    queue: Box<dyn TxQueue>,
    all: Packets,
}

const NOW: SimTime = SimTime::ZERO;

impl Bed {
    /// As the scheme's `install` makes it.
    fn new(set: &[(&'static str, Value)], limit: Limit) -> Bed {
        let mut ground = Ground::new(NodeFacts { queue: limit, ..super::access_point() });
        assert!(ground.install(&with(&INFO, install, set)).unwrap());
        Bed { queue: ground.queue(), all: Packets::with_capacity(64) }
    }

    fn push(&mut self, packet: Packet) -> bool {
        let pkt = self.all.put(packet);
        let msdu = Msdu::new(NOW, pkt, &self.all, THERE, 0);
        match self.queue.push(NOW, msdu, &mut self.all) {
            Ok(()) => true,
            Err(msdu) => {
                self.all.free(msdu.pkt, wire::DropWhy::Scheme);
                false
            }
        }
    }

    /// Numbers of ACKs, or where data starts.
    fn number(&mut self, msdu: Msdu) -> u32 {
        let packet = self.all.free(msdu.pkt, wire::DropWhy::Scheme);
        packet.pure_ack().map_or_else(|| packet.tcp_range().unwrap().start.0, |tcp| tcp.ack.0)
    }

    fn expired(&mut self) -> Vec<u32> {
        let gone: Vec<Msdu> = std::iter::from_fn(|| self.queue.expired(NOW, &self.all)).collect();
        gone.into_iter().map(|msdu| self.number(msdu)).collect()
    }

    fn popped(&mut self) -> Vec<u32> {
        let sent: Vec<Msdu> = std::iter::from_fn(|| self.queue.pop(NOW, &self.all)).collect();
        sent.into_iter().map(|msdu| self.number(msdu)).collect()
    }
}

fn with_sack(number: u32, from: u32) -> Packet {
    let mut packet = ack(IN, number, 1000);
    let block = SeqRange { start: Seq(from), end: Seq(from + 100) };
    packet.tcp_mut().unwrap().options.push_sack(&[block]);
    packet
}

const ROOMY: Limit = Limit::Packets(50);

#[test]
fn the_newest_ack_of_a_flow_stays() {
    let mut bed = Bed::new(&[], ROOMY);
    for number in [1000, 2000, 3000] {
        assert!(bed.push(ack(IN, number, 1000)));
    }
    assert_eq!((bed.expired(), bed.popped()), (vec![1000, 2000], vec![3000]));
}

#[test]
fn it_keeps_as_many_as_it_was_told() {
    let mut bed = Bed::new(&[("keep", Value::Int(3))], ROOMY);
    for number in [1, 2, 3, 4, 5] {
        assert!(bed.push(ack(IN, number * 1000, 1000)));
    }
    assert_eq!((bed.expired(), bed.popped()), (vec![1000, 2000], vec![3000, 4000, 5000]));
}

#[test]
fn flows_do_not_cover_each_other_and_data_stays_in_order() {
    let mut bed = Bed::new(&[], ROOMY);
    bed.push(ack(IN, 1000, 1000));
    bed.push(data(OUT, 7..107));
    bed.push(ack(OUT, 500, 1000));
    bed.push(data(OUT, 107..207));
    bed.push(ack(IN, 2000, 1000));
    assert_eq!((bed.expired(), bed.popped()), (vec![1000], vec![7, 500, 107, 2000]));
}

#[test]
fn duplicates_pass_and_so_does_what_they_repeat() {
    let mut bed = Bed::new(&[], ROOMY);
    for number in [1000, 1000, 1000, 1000, 2000] {
        bed.push(ack(IN, number, 1000));
    }
    assert_eq!((bed.expired(), bed.popped()), (vec![], vec![1000, 1000, 1000, 1000, 2000]));
    // A duplicate of an ACK that has left the queue is one too.
    for number in [2000, 2000, 3000] {
        bed.push(ack(IN, number, 1000));
    }
    assert_eq!((bed.expired(), bed.popped()), (vec![], vec![2000, 2000, 3000]));
}

#[test]
fn another_window_makes_no_duplicate() {
    let mut bed = Bed::new(&[], ROOMY);
    bed.push(ack(IN, 1000, 1000));
    bed.push(ack(IN, 1000, 2000));
    assert_eq!((bed.expired(), bed.popped()), (vec![1000], vec![1000]));
}

#[test]
fn sack_blocks_pass() {
    let mut bed = Bed::new(&[], ROOMY);
    bed.push(with_sack(1000, 3000));
    bed.push(with_sack(2000, 4000));
    bed.push(ack(IN, 5000, 1000));
    assert_eq!((bed.expired(), bed.popped()), (vec![], vec![1000, 2000, 5000]));
}

#[test]
fn what_is_in_service_is_left_alone() {
    let mut bed = Bed::new(&[], ROOMY);
    bed.push(ack(IN, 1000, 1000));
    let served = bed.queue.pop(NOW, &bed.all).unwrap();
    bed.push(ack(IN, 2000, 1000));
    assert_eq!(bed.expired(), [0; 0]);
    let Next::Again(served) = bed.queue.failed(NOW, served, false, &bed.all) else { panic!("it may try again") };
    assert_eq!((bed.number(served), bed.popped()), (1000, vec![2000]));
}

/// An inner queue that takes back what failed, in front of all others.
#[derive(Debug, Default)]
struct TakesBack(VecDeque<Msdu>);

impl TxQueue for TakesBack {
    fn push(&mut self, _: SimTime, msdu: Msdu, _: &mut Packets) -> Result<(), Msdu> {
        self.0.push_back(msdu);
        Ok(())
    }

    fn pop(&mut self, _: SimTime, _: &Packets) -> Option<Msdu> {
        self.0.pop_front()
    }

    fn failed(&mut self, _: SimTime, msdu: Msdu, _: bool, _: &Packets) -> Next {
        self.0.push_front(msdu);
        Next::Yield
    }

    fn space(&self) -> Space {
        Space { free: Bytes(1_000_000), used: Bytes(0), entries: self.0.len() as u32 }
    }

    fn drain(&mut self, _: SimTime) -> Vec<Msdu> {
        self.0.drain(..).collect()
    }

    fn stats(&self, _: SimTime) -> Option<queue::Stats> {
        None
    }
}

#[test]
fn what_the_inner_queue_takes_back_goes_first_and_is_not_thinned() {
    let queue = Thinning::new(Box::<TakesBack>::default(), 1, (ROOMY, Bytes(1500)), Rc::default());
    let mut bed = Bed { queue: Box::new(queue), all: Packets::with_capacity(64) };
    bed.push(ack(IN, 1000, 1000));
    let served = bed.queue.pop(NOW, &bed.all).unwrap();
    bed.push(ack(IN, 2000, 1000));
    assert!(matches!(bed.queue.failed(NOW, served, false, &bed.all), Next::Yield));
    bed.push(ack(IN, 3000, 1000));
    assert_eq!((bed.expired(), bed.popped()), (vec![2000], vec![1000, 3000]));
}

#[test]
fn the_room_is_the_interfaces_and_a_newer_ack_always_fits() {
    let mut bed = Bed::new(&[], Limit::Packets(3));
    assert!(bed.push(data(OUT, 0..100)) && bed.push(data(OUT, 100..200)) && bed.push(ack(IN, 1000, 1000)));
    assert_eq!((bed.queue.space().entries, bed.queue.space().used), (3, Bytes(3 * 40 + 200)));
    assert_eq!(bed.queue.space().free, Bytes(0));
    assert!(!bed.push(data(OUT, 200..300)) && !bed.push(ack(OUT, 1, 1000)));
    assert!(bed.push(ack(IN, 2000, 1000)));
    assert_eq!((bed.expired(), bed.queue.space().entries), (vec![1000], 3));
    assert_eq!(bed.popped(), [0, 100, 2000]);
    assert_eq!((bed.queue.space().entries, bed.queue.space().used), (0, Bytes(0)));
}

#[test]
fn a_node_that_dies_gives_up_everything() {
    let mut bed = Bed::new(&[], ROOMY);
    for packet in [ack(IN, 1000, 1000), ack(IN, 2000, 1000), data(OUT, 0..100)] {
        bed.push(packet);
    }
    let all = bed.queue.drain(NOW);
    assert_eq!((all.len(), bed.queue.space().entries), (3, 0));
}

#[test]
fn an_msdu_can_be_taken_for_its_receiver() {
    let mut bed = Bed::new(&[], ROOMY);
    bed.push(ack(IN, 1000, 1000));
    bed.push(data(OUT, 0..100));
    let to = RaTid::of(bed.queue.peek(RaTid { to: THERE, tid: None }).unwrap());
    let numbers: Vec<u32> = std::iter::from_fn(|| {
        let serial = bed.queue.peek(to)?.serial;
        let msdu = bed.queue.pop_for(NOW, to, &bed.all).unwrap();
        assert_eq!(msdu.serial, serial);
        Some(bed.number(msdu))
    })
    .collect();
    assert_eq!(numbers, [1000, 0]);
}

#[test]
fn it_counts() {
    let books = Rc::new(RefCell::new(Books::default()));
    let inner = Ground::new(super::access_point()).queue();
    let queue = Box::new(Thinning::new(inner, 1, (ROOMY, Bytes(1500)), Rc::clone(&books)));
    let mut bed = Bed { queue, all: Packets::with_capacity(64) };
    for packet in [ack(IN, 1, 9), ack(IN, 2, 9), ack(IN, 3, 9), ack(IN, 3, 9), with_sack(4, 6)] {
        bed.push(packet);
    }
    let mut counters = Vec::new();
    Teller(books).counters(&mut |name, value| counters.push((name, value)));
    let expected = [("acks_thinned", 2), ("acks_thinned_bytes", 80), ("duplicates_spared", 1), ("sacks_spared", 1)];
    assert_eq!(counters, expected);
}

#[test]
fn stations_and_wired_nodes_have_none() {
    for facts in [node(HERE, 3), NodeFacts { has_air: false, ..super::access_point() }] {
        let mut ground = Ground::new(facts);
        assert_eq!(ground.install(&with(&INFO, install, &[])), Ok(false));
    }
    for categories in [1, 4] {
        let config = if categories == 4 {
            edca(super::access_point().standard)
        } else {
            schemes::testing::dcf(super::access_point().standard)
        };
        let mut ground = Ground::new(super::access_point()).with_mac(config);
        assert_eq!(ground.install(&with(&INFO, install, &[])), Ok(true));
    }
}
