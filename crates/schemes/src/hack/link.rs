//! One link as its two ends have it: what the one holds back and loads, what the other has taken out and expects.

use mac::{Cue, Delivery, Frame, Kind, Load, MacOptions, MpduSet, Piggyback};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Packet, Packets, Pkt, Seq};

/// Bytes before the ACKs: the number of the first, their count, what is left behind in units of [`UNIT`].
pub(super) const HEADER: usize = 3;
/// The unit of what is left behind.
pub(super) const UNIT: usize = 4;
/// ACKs of a load at most: a number of 8 bits tells so many apart.
const MOST: usize = 255;
/// The number of the last ACK that has arrived, while none has.
const NONE: u8 = u8::MAX;
/// ACKs taken out of loads that are known again. More than can be in doubt.
const KNOWN: usize = 2 * MOST;
/// The time after which a packet that nobody reported on is no longer taken to be in the MAC. Our choice: twice the life of an MSDU.
const LOST_SIGHT: Dur = Dur::from_secs(1);

/// The parameters that both ends need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub compressed_ack: usize,
    pub most: usize,
}

impl Rule {
    /// Bytes of a compressed ACK.
    pub fn size(self, packet: &Packet) -> usize {
        self.compressed_ack + sack_offsets(packet).map(sack_len).sum::<usize>()
    }

    /// True if a load can carry one of this size at all.
    pub fn fits(self, size: usize) -> bool {
        HEADER + size <= self.most
    }

    /// Appends what stands for an ACK: context, low bits of what changes, SACK blocks. As long as compression would make it; what is in it
    /// beyond that is ours.
    fn write(self, packet: &Packet, out: &mut Vec<u8>) {
        let Some(tcp) = packet.pure_ack() else { return };
        let ([.., ack_1, ack_0], [_, id]) = (tcp.ack.0.to_be_bytes(), packet.ip.id.to_be_bytes());
        let fixed = [packet.flow.0 as u8, ack_1, ack_0, id];
        out.extend(fixed.into_iter().chain(std::iter::repeat(0)).take(self.compressed_ack));
        for offset in sack_offsets(packet) {
            // A discriminator in the highest bits, as long as it takes.
            match sack_len(offset) {
                2 => out.extend((offset as u16).to_be_bytes()),
                3 => out.extend(&(offset | 0x80_0000).to_be_bytes()[1..]),
                4 => out.extend((offset | 0xC000_0000).to_be_bytes()),
                _ => {
                    out.push(0xFF);
                    out.extend(offset.to_be_bytes());
                }
            }
        }
    }
}

/// The numbers of SACK blocks as differences: the start of each from the ACK, its end from its start. @RFC6846, `sack_var_length_enc`
fn sack_offsets(packet: &Packet) -> impl Iterator<Item = u32> {
    packet.pure_ack().into_iter().flat_map(|tcp| {
        tcp.options.sack_blocks().flat_map(|block| [since(block.start, tcp.ack), since(block.end, block.start)])
    })
}

fn since(number: Seq, base: Seq) -> u32 {
    number.0.wrapping_sub(base.0)
}

/// Octets of such a difference. @RFC6846, `sack_var_length_enc`
fn sack_len(offset: u32) -> usize {
    match offset {
        0..0x8000 => 2,
        0x8000..0x40_0000 => 3,
        0x40_0000..0x2000_0000 => 4,
        _ => 5,
    }
}

/// An ACK that is held back.
#[derive(Debug)]
pub(super) struct Held {
    pub pkt: Pkt,
    pub flow: FlowId,
    pub size: usize,
    pub since: SimTime,
}

/// A flow whose ACKs go to the other end.
#[derive(Debug, Default, Clone, Copy)]
struct Flow {
    /// The other end has its context: an ACK of it has arrived alone.
    has_context: bool,
    /// Packets of it in this node's MAC.
    in_mac: u32,
}

/// A link to a neighbour.
#[derive(Debug)]
pub(super) struct Link {
    // The end that loads.
    /// ACKs held back, oldest first; the first `loaded` have been in a Block Ack.
    pub held: VecDeque<Held>,
    loaded: usize,
    /// The number of the first.
    first: u8,
    /// That number is right: what went alone after it was loaded has made it doubtful.
    is_in_step: bool,
    /// ACKs that have arrived, to be ended.
    pub arrived: Vec<Pkt>,
    /// The last data frame said More Data.
    pub more_data: bool,
    flows: BTreeMap<FlowId, Flow>,
    /// Packets of these flows in this node's MAC.
    alone: VecDeque<(u64, FlowId, SimTime)>,

    // The end that unloads.
    /// The number of the last ACK that arrived.
    has: u8,
    /// ACKs that arrived in loads, by flow and IP identification, and when; `None`: they are on their way up from there.
    known: VecDeque<(FlowId, u16, Option<SimTime>)>,
    /// Segments delivered since the last Block Ack.
    pub delivered: u32,
    /// Bytes that the last load left behind.
    left: u32,
    /// Bytes of ACKs for so many segments, as last seen.
    cost: (u32, u32),
}

impl Default for Link {
    fn default() -> Link {
        Link {
            held: VecDeque::new(),
            loaded: 0,
            first: 0,
            is_in_step: true,
            arrived: Vec::new(),
            more_data: false,
            flows: BTreeMap::new(),
            alone: VecDeque::new(),
            has: NONE,
            known: VecDeque::new(),
            delivered: 0,
            left: 0,
            cost: (0, 0),
        }
    }
}

impl Link {
    /// True if ACKs of this flow have been seen.
    pub fn has_acks(&self, flow: FlowId) -> bool {
        self.flows.contains_key(&flow)
    }

    /// True if an ACK of this flow may wait for a Block Ack: one will come, the other end can read it, and nothing of the flow is before it.
    pub fn may_hold(&mut self, flow: FlowId, now: SimTime) -> bool {
        while let Some((_, gone, _)) = self.alone.front().copied().filter(|(.., since)| now.since(*since) > LOST_SIGHT) {
            self.alone.pop_front();
            self.leaves_mac(gone);
        }
        let known = self.flows.get(&flow).is_some_and(|flow| flow.has_context && flow.in_mac == 0);
        self.more_data && known
    }

    /// A packet of a flow of ACKs goes to the MAC as it is.
    pub fn goes_alone(&mut self, serial: u64, flow: FlowId, now: SimTime) {
        self.flows.entry(flow).or_default().in_mac += 1;
        self.alone.push_back((serial, flow, now));
    }

    fn leaves_mac(&mut self, flow: FlowId) {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.in_mac = flow.in_mac.saturating_sub(1);
        }
    }

    /// The MAC is done with a packet.
    pub fn has_left(&mut self, serial: u64, is_context: bool) {
        let Some(place) = self.alone.iter().position(|(other, ..)| *other == serial) else { return };
        let Some((_, flow, _)) = self.alone.remove(place) else { return };
        self.leaves_mac(flow);
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.has_context |= is_context;
        }
    }

    /// The connection is over.
    pub fn closed(&mut self, flow: FlowId) {
        for flow in [flow, flow.reverse()] {
            self.flows.remove(&flow);
        }
    }

    /// Contexts are void.
    pub fn forget_flows(&mut self) {
        self.flows.clear();
        self.alone.clear();
    }

    /// Takes all that is held, to go another way.
    pub fn let_go(&mut self) -> impl Iterator<Item = Held> + use<> {
        // What was loaded may have arrived: the numbers go on when a data frame has said.
        self.is_in_step &= self.loaded == 0;
        self.loaded = 0;
        std::mem::take(&mut self.held).into_iter()
    }

    /// A data frame says what has arrived.
    fn hears(&mut self, cue: Cue) {
        self.more_data = cue.more_data;
        let arrived = usize::from(cue.number.wrapping_sub(self.first).wrapping_add(1));
        if self.is_in_step && arrived <= self.loaded {
            self.arrived.extend(self.held.drain(..arrived).map(|held| held.pkt));
            self.loaded -= arrived;
        }
        // Where they were in step it is so already.
        (self.first, self.is_in_step) = (cue.number.wrapping_add(1), true);
    }

    /// The load of a Block Ack with this room.
    fn load(&mut self, room: usize, rule: Rule, counted: &mut Counted, all: &mut Packets) -> Option<Load> {
        if !self.more_data || !self.is_in_step {
            return None;
        }
        let (mut n, mut len) = (0, HEADER);
        for held in self.held.iter().take(MOST) {
            if len + held.size > room.min(rule.most) {
                break;
            }
            (n, len) = (n + 1, len + held.size);
        }
        let left: usize = self.held.iter().skip(n).map(|held| held.size).sum();
        if left > rule.most {
            // Too many for the next one too.
            self.more_data = false;
        }
        if n == 0 {
            return None;
        }
        let mut bytes = Vec::with_capacity(len);
        bytes.extend([self.first, n as u8, left.div_ceil(UNIT).min(MOST) as u8]);
        let mut packets = Vec::with_capacity(n);
        for held in self.held.iter().take(n) {
            rule.write(all.get(&held.pkt), &mut bytes);
            packets.push(all.share(&held.pkt));
        }
        debug_assert_eq!(bytes.len(), len);
        let again = n.min(self.loaded);
        self.loaded = self.loaded.max(n);
        counted.carried += (n - again) as u64;
        counted.again += again as u64;
        counted.bytes += len as u64;
        Some(Load { bytes: bytes.into(), packets: packets.into() })
    }

    /// The bytes by which the next Block Ack may grow.
    fn room(&self, rule: Rule) -> usize {
        if self.delivered == 0 && self.left == 0 {
            return 0;
        }
        let (bytes, segments) = if self.cost.1 == 0 { (rule.compressed_ack as u32, 1) } else { self.cost };
        let expected = (u64::from(self.delivered) * u64::from(bytes)).div_ceil(u64::from(segments)) as usize;
        // One more than expected, to hear of those for which there is no room.
        (HEADER + self.left as usize + expected + rule.compressed_ack).min(rule.most)
    }

    /// A Block Ack came.
    fn unload(&mut self, load: Option<&Load>, all: &mut Packets, mut up: impl FnMut(Pkt)) -> u64 {
        let mut news = 0;
        let mut fresh_bytes = 0;
        let left_before = std::mem::take(&mut self.left);
        if let Some(load) = load
            && let [first, _, left, acks @ ..] = &*load.bytes
        {
            let n = load.packets.len();
            let old = usize::from(self.has.wrapping_add(1).wrapping_sub(*first)).min(n);
            for packet in &load.packets[old..] {
                let it = all.read(packet);
                self.known.push_back((it.flow, it.ip.id, None));
                if self.known.len() > KNOWN {
                    self.known.pop_front();
                }
                up(all.copy_shared(packet));
            }
            if n > old {
                self.has = first.wrapping_add(n as u8).wrapping_sub(1);
            }
            news = (n - old) as u64;
            self.left = u32::from(*left) * UNIT as u32;
            fresh_bytes = (acks.len() * (n - old)).checked_div(n).unwrap_or(0) as u32 + self.left;
        }
        if self.delivered > 0 {
            self.cost = (fresh_bytes.saturating_sub(left_before), self.delivered);
        }
        self.delivered = 0;
        news
    }

    /// True of an ACK that comes up for the first time: out of a load, or as a frame of its own.
    pub fn is_news(&mut self, flow: FlowId, id: u16, now: SimTime) -> bool {
        let known = self.known.iter_mut().rev().find(|(a, b, _)| (*a, *b) == (flow, id));
        // Identifications come round.
        known.is_none_or(|(.., came)| came.replace(now).is_none_or(|came| now.since(came) > LOST_SIGHT))
    }
}

/// Counts of a node.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counted {
    pub carried: u64,
    pub bytes: u64,
    pub again: u64,
    pub sent_alone: u64,
    pub handed_up: u64,
}

/// The state that the agent and the MAC's part share.
#[derive(Debug)]
pub(super) struct Shared {
    pub rule: Rule,
    /// Neighbours that have the scheme too, by id.
    pub partners: Vec<bool>,
    /// Those with which there was something to do.
    pub links: BTreeMap<NodeId, Link>,
    pub counted: Counted,
}

impl Shared {
    pub fn new(rule: Rule, nodes: usize) -> Shared {
        Shared { rule, partners: vec![false; nodes], links: BTreeMap::new(), counted: Counted::default() }
    }

    pub fn is_partner(&self, node: NodeId) -> bool {
        self.partners.get(node.index()).is_some_and(|is_partner| *is_partner)
    }
}

/// The part in the MAC.
#[derive(Debug)]
pub(super) struct Loads(pub Rc<RefCell<Shared>>);

impl Piggyback for Loads {
    fn room(&self, to: NodeId) -> Bytes {
        let shared = self.0.borrow();
        let link = shared.links.get(&to).filter(|_| shared.is_partner(to));
        Bytes(link.map_or(0, |link| link.room(shared.rule)) as u64)
    }

    fn cue(&self, to: NodeId, more_data: bool) -> Option<Cue> {
        let shared = self.0.borrow();
        let number = shared.links.get(&to).map_or(NONE, |link| link.has);
        shared.is_partner(to).then_some(Cue { more_data, number })
    }

    fn load(&mut self, frame: &Frame, got: &MpduSet, room: Bytes, all: &mut Packets) -> Option<Load> {
        let shared = &mut *self.0.borrow_mut();
        if !shared.is_partner(frame.from) {
            return None;
        }
        let link = shared.links.entry(frame.from).or_default();
        if frame.kind == Kind::Data {
            let mpdus = frame.psdu.mpdus();
            let cue = got.iter().find_map(|place| mpdus.get(place)?.data()?.cue);
            let Some(cue) = cue else {
                link.more_data = false;
                return None;
            };
            link.hears(cue);
        }
        link.load(room.0 as usize, shared.rule, &mut shared.counted, all)
    }

    fn unload(&mut self, frame: &Frame, all: &mut Packets, up: &mut dyn FnMut(Delivery)) {
        let shared = &mut *self.0.borrow_mut();
        let from = frame.from;
        if !shared.is_partner(from) {
            return;
        }
        let link = shared.links.entry(from).or_default();
        let load = frame.psdu.mpdus().first().and_then(mac::Mpdu::load);
        shared.counted.handed_up += link.unload(load, all, |pkt| {
            up(Delivery { pkt, from, options: MacOptions::within(0) });
        });
    }
}
