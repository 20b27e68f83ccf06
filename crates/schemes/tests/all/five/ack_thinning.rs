//! Access points keep the newest pure ACKs of each flow in their transmit queues.
//!
//! **Source** @RFC3449 sec. 5.2.1, ACK filtering.
//! **Realism** a queue that reads TCP headers; it needs nothing from anybody else.
//! **Departs** nothing is rebuilt behind the bottleneck, so a sender sees stretched ACKs.
//! **Bound** an ACK that is on its way to the air (in service, or given back after a failure) stays. A queue around which this one
//! stands and that withdraws nothing is not thinned.
//! **Checked** by the tests below.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use mac::{Around, Msdu, Next, RaTid, Sought, TxQueue, Wrap};
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

/// At access points and, where there are none, at relays: at nodes that forward by radio and are nobody's station.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !(site.node.forwards && site.node.has_air && site.node.access_point.is_none()) {
        return Ok(());
    }
    let keep = params.int("keep") as usize;
    let books = Rc::new(RefCell::new(Books::default()));
    site.agent(Teller(Rc::clone(&books)));
    site.reads_tcp();
    site.wrap_queue(move |inner| Box::new(Around::new(inner, Thinning::new(keep, Rc::clone(&books)))));
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

/// The role of a packet in this queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    /// A pure ACK that a later one may cover.
    Plain(Seq, Flags),
    /// It repeats the flow's latest ACK.
    Duplicate(Seq),
    Sack,
    Other,
}

/// A plain ACK in the inner queue.
#[derive(Debug)]
struct Waiting {
    serial: u64,
    flow: FlowId,
    to: RaTid,
    number: Seq,
    flags: Flags,
    /// A duplicate of it has come. Without this one, the first duplicate would be none.
    is_repeated: bool,
}

#[derive(Debug)]
struct Thinning {
    keep: usize,
    waiting: Vec<Waiting>,
    /// The ACKs that `expired` hands out.
    covered: VecDeque<(Msdu, Bytes)>,
    latest: BTreeMap<FlowId, Latest>,
    books: Rc<RefCell<Books>>,
}

impl Thinning {
    fn new(keep: usize, books: Rc<RefCell<Books>>) -> Thinning {
        Thinning { keep, waiting: Vec::new(), covered: VecDeque::new(), latest: BTreeMap::new(), books }
    }

    fn role(&self, packet: &Packet) -> Role {
        let Some(tcp) = packet.pure_ack() else { return Role::Other };
        if self.latest.get(&packet.flow) == Some(&(tcp.ack, tcp.window)) {
            Role::Duplicate(tcp.ack)
        } else if tcp.options.sack_blocks().next().is_some() {
            Role::Sack
        } else {
            Role::Plain(tcp.ack, tcp.flags)
        }
    }

    /// The serial of the oldest ACK, `new` among them, that has to go if they are more than may wait.
    fn victim(&self, new: &Waiting) -> Option<u64> {
        let key = |it: &Waiting| (it.flow, it.flags, it.to, it.is_repeated);
        let alike: Vec<&Waiting> = self.waiting.iter().chain([new]).filter(|it| key(it) == key(new)).collect();
        let oldest = alike.iter().copied().reduce(|oldest, it| if it.number.lt(oldest.number) { it } else { oldest });
        oldest.filter(|_| alike.len() > self.keep).map(|it| it.serial)
    }

    fn forget(&mut self, serial: u64) {
        self.waiting.retain(|it| it.serial != serial);
    }

    fn cover(&mut self, msdu: Msdu, all: &Packets) {
        let len = all.get(&msdu.pkt).ip_len();
        self.forget(msdu.serial);
        self.covered.push_back((msdu, len));
        let mut books = self.books.borrow_mut();
        books.thinned += 1;
        books.thinned_bytes += len.0;
    }

    fn push_plain(
        &mut self,
        inner: &mut dyn TxQueue,
        now: SimTime,
        msdu: Msdu,
        new: Waiting,
        all: &mut Packets,
    ) -> Result<(), Msdu> {
        let victim = self.victim(&new);
        if victim == Some(msdu.serial) {
            self.cover(msdu, all);
            return Ok(());
        }
        // What is covered makes room.
        let older = victim.and_then(|serial| inner.withdraw(now, Sought::Serial(serial), all));
        if let Err(msdu) = inner.push(now, msdu, all) {
            // RED refused the newer one: the older is still needed.
            if let Some(older) = older
                && let Err(older) = inner.push(now, older, all)
            {
                self.cover(older, all);
            }
            return Err(msdu);
        }
        self.waiting.push(new);
        if let Some(older) = older {
            self.cover(older, all);
        }
        Ok(())
    }
}

impl Wrap for Thinning {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let (role, flow) = (self.role(packet), packet.flow);
        let seen = packet.pure_ack().map(|tcp| (tcp.ack, tcp.window));
        if let Role::Plain(number, flags) = role {
            let (serial, to) = (msdu.serial, RaTid::of(&msdu));
            self.push_plain(inner, now, msdu, Waiting { serial, flow, to, number, flags, is_repeated: false }, all)?;
        } else {
            inner.push(now, msdu, all)?;
        }
        if let Role::Duplicate(of) = role {
            let repeated = self.waiting.iter_mut().filter(|it| (it.flow, it.number) == (flow, of));
            repeated.for_each(|it| it.is_repeated = true);
            self.books.borrow_mut().duplicates_spared += 1;
        }
        self.books.borrow_mut().sacks_spared += u64::from(role == Role::Sack);
        if let Some(seen) = seen {
            let latest = self.latest.entry(flow).or_insert(seen);
            *latest = if latest.0.le(seen.0) { seen } else { *latest };
        }
        Ok(())
    }

    fn dropped(&mut self, inner: &mut dyn TxQueue, all: &Packets) -> Option<Msdu> {
        inner.dropped(all).inspect(|msdu| self.forget(msdu.serial))
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        inner.pop(now, all).inspect(|msdu| self.forget(msdu.serial))
    }

    fn pop_for(&mut self, inner: &mut dyn TxQueue, now: SimTime, of: RaTid, all: &mut Packets) -> Option<Msdu> {
        inner.pop_for(now, of, all).inspect(|msdu| self.forget(msdu.serial))
    }

    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        inner.withdraw(now, sought, all).inspect(|msdu| self.forget(msdu.serial))
    }

    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        if let Some((msdu, _)) = self.covered.pop_front() {
            return Some(msdu);
        }
        inner.expired(now, all).inspect(|msdu| self.forget(msdu.serial))
    }

    /// A covered ACK waits for `expired` alone: it counts among the entries and takes no room.
    fn space(&self, inner: &dyn TxQueue) -> Space {
        let inner = inner.space();
        let covered = self.covered.iter().map(|(_, len)| *len).sum();
        Space { used: inner.used + covered, entries: inner.entries + self.covered.len() as u32, ..inner }
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.waiting.clear();
        let covered = self.covered.drain(..).map(|(msdu, _)| msdu);
        covered.chain(inner.drain(now)).collect()
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
        let sent: Vec<Msdu> = std::iter::from_fn(|| self.queue.pop(NOW, &mut self.all)).collect();
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
    let served = bed.queue.pop(NOW, &mut bed.all).unwrap();
    bed.push(ack(IN, 2000, 1000));
    assert_eq!(bed.expired(), [0; 0]);
    let Next::Again(served) = bed.queue.failed(NOW, served, false, &bed.all) else { panic!("it may try again") };
    assert_eq!((bed.number(served), bed.popped()), (1000, vec![2000]));
}

/// An inner queue that takes back what failed, in front of all others, and refuses one packet.
#[derive(Debug, Default)]
struct TakesBack {
    line: VecDeque<Msdu>,
    refuses: u64,
}

impl TxQueue for TakesBack {
    fn push(&mut self, _: SimTime, msdu: Msdu, _: &mut Packets) -> Result<(), Msdu> {
        if msdu.serial == self.refuses {
            return Err(msdu);
        }
        self.line.push_back(msdu);
        Ok(())
    }

    fn dropped(&mut self, _: &Packets) -> Option<Msdu> {
        None
    }

    fn pop(&mut self, _: SimTime, _: &mut Packets) -> Option<Msdu> {
        self.line.pop_front()
    }

    fn withdraw(&mut self, _: SimTime, sought: Sought, _: &Packets) -> Option<Msdu> {
        let place = self.line.iter().position(|msdu| sought.is(msdu))?;
        self.line.remove(place)
    }

    fn failed(&mut self, _: SimTime, msdu: Msdu, _: bool, _: &Packets) -> Next {
        self.line.push_front(msdu);
        Next::Yield
    }

    fn space(&self) -> Space {
        Space { free: Bytes(1_000_000), used: Bytes(0), entries: self.line.len() as u32 }
    }

    fn drain(&mut self, _: SimTime) -> Vec<Msdu> {
        self.line.drain(..).collect()
    }
}

fn around(inner: TakesBack) -> Bed {
    let queue = Around::new(Box::new(inner), Thinning::new(1, Rc::default()));
    Bed { queue: Box::new(queue), all: Packets::with_capacity(64) }
}

#[test]
fn what_the_inner_queue_takes_back_goes_first_and_is_not_thinned() {
    let mut bed = around(TakesBack::default());
    bed.push(ack(IN, 1000, 1000));
    let served = bed.queue.pop(NOW, &mut bed.all).unwrap();
    bed.push(ack(IN, 2000, 1000));
    assert!(matches!(bed.queue.failed(NOW, served, false, &bed.all), Next::Yield));
    bed.push(ack(IN, 3000, 1000));
    assert_eq!((bed.expired(), bed.popped()), (vec![2000], vec![1000, 3000]));
}

#[test]
fn an_ack_stays_if_the_inner_queue_refuses_the_newer_one() {
    let mut bed = around(TakesBack { refuses: 2, ..TakesBack::default() });
    assert!(bed.push(ack(IN, 1000, 1000)) && !bed.push(ack(IN, 2000, 1000)));
    assert_eq!(bed.expired(), [0; 0]);
    assert!(bed.push(ack(IN, 3000, 1000)));
    assert_eq!((bed.expired(), bed.popped()), (vec![1000], vec![3000]));
}

#[test]
fn of_two_that_came_in_the_wrong_order_the_newer_stays() {
    let mut bed = Bed::new(&[], ROOMY);
    assert!(bed.push(ack(IN, 2000, 1000)) && bed.push(ack(IN, 1000, 1000)));
    assert_eq!((bed.queue.space().entries, bed.expired(), bed.popped()), (2, vec![1000], vec![2000]));
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
    let to = RaTid::of(bed.queue.peek(NOW, RaTid { to: THERE, tid: None }, &mut bed.all).unwrap());
    let numbers: Vec<u32> = std::iter::from_fn(|| {
        let serial = bed.queue.peek(NOW, to, &mut bed.all)?.serial;
        let msdu = bed.queue.pop_for(NOW, to, &mut bed.all).unwrap();
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
    let queue = Box::new(Around::new(inner, Thinning::new(1, Rc::clone(&books))));
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
