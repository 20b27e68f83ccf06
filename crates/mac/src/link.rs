//! Links: what an interface knows of each neighbour and traffic identifier. @80211-2020 10.3.2.14, 10.25
//!
//! A link is made with the first frame to or from a neighbour. A neighbour without traffic takes [`NEIGHBOUR`] bytes, since there is one
//! for each pair of stations.

use crate::ack::Solicited;
use crate::aggregation::{Aggregation, Agreement};
use crate::block_ack::{Inbound, ahead, is_before};
use crate::duplicates::{Counted, Received};
use crate::frame::{Kind, block_ack};
use crate::msdu::Msdu;
use crate::psdu::Bitmap;
use crate::report::InOrder;
use crate::tx_queue::RaTid;
use std::rc::Rc;
use units::{Dur, NodeId, SimTime};

/// Numbers of a sequence number field. @80211-2020 9.2.4.4.2
pub(crate) const NUMBERS: u16 = 4096;

/// The memory in bytes of a neighbour without traffic, and of a link at most.
pub(crate) const NEIGHBOUR: usize = size_of::<Neighbour>();
/// See [`NEIGHBOUR`].
pub(crate) const LINK: usize = size_of::<Link>();

/// One neighbour and TID.
#[derive(Debug)]
pub(crate) struct Link {
    /// `None`: of frames without QoS Control.
    tid: Option<u8>,
    /// The next link of the same neighbour.
    next: u32,
    /// Number of the next MSDU to it. Of frames without QoS Control all links count together. @80211-2020 10.3.2.14.2, table 10-5
    next_seq: u16,
    /// Numbers that came from it. @80211-2020 10.3.2.14.3
    received: Received,
    /// Agreements of block acknowledgment.
    agreed: Option<Box<Agreed>>,
}

/// The agreements with a neighbour for a TID. @80211-2020 10.25.2
#[derive(Debug)]
pub(crate) struct Agreed {
    /// This station is the originator; `None`: it started none.
    pub outbound: Option<Agreement>,
    /// The gaps of which the recipient could not be told: it holds what is behind until its window or its patience has passed them.
    untold: Option<Untold>,
    /// It is the recipient.
    pub inbound: Option<Inbound>,
    sent: Sent,
}

/// PPDUs with data that went to a neighbour under agreements of block acknowledgment, repetitions included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// PPDUs.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// PPDUs that would have had more MPDUs, had the window let them.
    pub stalled: u64,
    /// Time on the air.
    pub airtime: Dur,
}

impl Sent {
    fn with(self, other: Sent) -> Sent {
        Sent {
            ppdus: self.ppdus + other.ppdus,
            mpdus: self.mpdus + other.mpdus,
            stalled: self.stalled + other.stalled,
            airtime: self.airtime + other.airtime,
        }
    }

    /// The part of it that came after `then`.
    #[must_use]
    pub fn since(self, then: Sent) -> Sent {
        Sent {
            ppdus: self.ppdus - then.ppdus,
            mpdus: self.mpdus - then.mpdus,
            stalled: self.stalled - then.stalled,
            airtime: self.airtime - then.airtime,
        }
    }
}

/// Numbers that were given up without their recipient's knowledge: the oldest, and the newest.
#[derive(Debug, Clone, Copy)]
struct Untold {
    oldest: u16,
    newest: u16,
    /// The last time that the link was heard of.
    since: SimTime,
}

impl Untold {
    /// True if the recipient has passed them: all between them and `first`, some of which it held, was acknowledged.
    fn has_passed(self, now: SimTime, first: u16, agreement: &Agreement) -> bool {
        let by = ahead(first, self.newest);
        is_before(self.newest, first) && (by > agreement.window || by > 1 && self.since + agreement.patience <= now)
    }
}

/// The order of an agreement while the MPDUs of a PSDU are sorted out, one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    tid: u8,
    open: Option<u16>,
    /// An MSDU first sent before that is late.
    late: SimTime,
}

impl Order {
    /// The number of this MSDU stays open.
    pub fn stops_at(&mut self, msdu: &Msdu) {
        let earlier = |open: u16, seq: u16| if is_before(seq, open) { seq } else { open };
        self.open = self.open.zip(msdu.seq).map(|(open, seq)| earlier(open, seq)).or(self.open).or(msdu.seq);
    }

    /// The place of an MSDU that is settled, as are all before it that did not stay open.
    pub fn place(self, msdu: &Msdu) -> Option<InOrder> {
        let seq = msdu.seq?;
        let open = self.open.unwrap_or((seq + 1) % NUMBERS);
        Some(InOrder { tid: self.tid, seq, open, is_late: msdu.first < self.late })
    }
}

impl Link {
    /// The agreement in which this station is the recipient.
    pub fn inbound(&mut self) -> Option<&mut Inbound> {
        self.agreed.as_mut()?.inbound.as_mut()
    }

    fn counted(&self) -> Counted {
        if self.tid.is_some() { Counted::Alone } else { Counted::Together }
    }

    /// True if a frame with this number is a repetition of one that was received; nothing is noted.
    pub fn has(&self, now: SimTime, seq: u16, is_retry: bool) -> bool {
        self.received.has(now, self.counted(), seq, is_retry)
    }

    /// Notes a number. Returns whether the frame is a duplicate: a retry of one that was received.
    pub fn is_duplicate(&mut self, now: SimTime, seq: u16, is_retry: bool) -> bool {
        let counted = self.counted();
        self.received.is_duplicate(now, counted, seq, is_retry)
    }
}

#[derive(Debug, Clone, Copy)]
struct Neighbour {
    /// Its first link.
    first: u32,
    /// Its access categories; 0 under DCF.
    categories: u8,
}

/// No link.
const NONE: u32 = u32::MAX;

/// A link, by its place among those of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkId(pub u32);

/// All links of an interface.
#[derive(Debug)]
pub(crate) struct Links {
    neighbours: Vec<Neighbour>,
    links: Vec<Link>,
    /// Number of the next MSDU without QoS Control, whoever it is for. @80211-2020 table 10-5: SNS1
    next_seq: u16,
    /// This station's part in aggregation, and what each of its neighbours has announced of its own; none of legacy stations.
    own: Option<Aggregation>,
    announced: Rc<[Option<Aggregation>]>,
}

impl Links {
    /// To stations with so many access categories each; 0 under DCF.
    pub fn to(categories: &[u8]) -> Links {
        let neighbours = categories.iter().map(|&categories| Neighbour { first: NONE, categories }).collect();
        Links { neighbours, links: Vec::new(), next_seq: 0, own: None, announced: Rc::new([]) }
    }

    /// Block acknowledgment, as `own` and each neighbour's part in it have it.
    pub fn agree(&mut self, own: Option<Aggregation>, announced: Rc<[Option<Aggregation>]>) {
        debug_assert!(self.links.is_empty(), "links that stand have agreed");
        (self.own, self.announced) = (own, announced);
    }

    /// True if there may be agreements.
    pub fn aggregates(&self) -> bool {
        self.own.is_some()
    }

    /// The agreement of this link in which this station is the originator.
    pub fn agreement(&mut self, of: RaTid) -> Option<Agreement> {
        if self.own.is_none() || of.tid.is_none() || of.to == NodeId::BROADCAST {
            return None;
        }
        let id = self.find_or_add(of.to, of.tid);
        self.links[id.0 as usize].agreed.as_ref().and_then(|agreed| agreed.outbound)
    }

    /// The order of the agreement in which this station is the originator, of which `first` is the oldest number that it still
    /// sends.
    pub fn order(&mut self, now: SimTime, of: RaTid, first: u16) -> Option<Order> {
        let (agreement, tid) = (self.agreement(of)?, of.tid?);
        let agreed = self.agreed_mut(of)?;
        agreed.untold = agreed.untold.filter(|gaps| !gaps.has_passed(now, first, &agreement));
        agreed.untold = agreed.untold.map(|gaps| Untold { since: now, ..gaps });
        let late = SimTime::ZERO + (now - SimTime::ZERO).saturating_sub(agreement.patience);
        Some(Order { tid, open: agreed.untold.map(|gap| gap.oldest), late })
    }

    /// This number was given up, and its recipient knows nothing of it.
    #[cold]
    pub fn abandon(&mut self, now: SimTime, of: RaTid, seq: u16) {
        if self.agreement(of).is_some()
            && let Some(agreed) = self.agreed_mut(of)
        {
            let Untold { oldest, newest, .. } =
                agreed.untold.unwrap_or(Untold { oldest: seq, newest: seq, since: now });
            let (oldest, newest) = (
                if is_before(seq, oldest) { seq } else { oldest },
                if is_before(newest, seq) { seq } else { newest },
            );
            agreed.untold = Some(Untold { oldest, newest, since: now });
        }
    }

    /// The recipient was told that everything before this number is settled.
    #[cold]
    pub fn told(&mut self, of: RaTid, start: u16) -> Option<Order> {
        let agreed = self.agreed_mut(of)?;
        agreed.untold = agreed.untold.filter(|gaps| !is_before(gaps.newest, start));
        Some(Order { tid: of.tid?, open: Some(start), late: SimTime::ZERO })
    }

    fn agreed_mut(&mut self, of: RaTid) -> Option<&mut Agreed> {
        let id = self.find_or_add(of.to, of.tid);
        self.links[id.0 as usize].agreed.as_deref_mut()
    }

    /// A PPDU with so many MPDUs goes out, fewer than there were if the window has kept some out.
    #[inline(never)]
    pub fn note_sent(&mut self, of: RaTid, mpdus: usize, airtime: Dur, is_stalled: bool) {
        if of.to == NodeId::BROADCAST {
            return;
        }
        if let Some(agreed) = self.agreed_mut(of) {
            agreed.sent =
                agreed.sent.with(Sent { ppdus: 1, mpdus: mpdus as u64, stalled: u64::from(is_stalled), airtime });
        }
    }

    /// PPDUs that went to this neighbour under agreements.
    pub fn sent_to(&self, neighbour: NodeId) -> Sent {
        let mut at = self.neighbours[neighbour.index()].first;
        let mut all = Sent::default();
        while let Some(link) = self.links.get(at as usize) {
            all = all.with(link.agreed.as_ref().map_or(Sent::default(), |agreed| agreed.sent));
            at = link.next;
        }
        all
    }

    /// The Block Ack that a PSDU of several MPDUs for this receiver and TID asks for.
    pub fn block_ack(&mut self, of: RaTid) -> Solicited {
        let window = self.agreement(of).map_or(64, |agreement| usize::from(agreement.window));
        Solicited { kind: Kind::BlockAck, len: block_ack(Bitmap::width_for(window)) }
    }

    /// Number of the next MSDU of a link that counts for itself.
    pub fn next_number(&mut self, of: RaTid) -> u16 {
        let id = self.find_or_add(of.to, of.tid);
        self.links[id.0 as usize].next_seq
    }

    /// MSDUs in all reorder buffers.
    pub fn held(&self) -> u64 {
        let inbound = self.links.iter().filter_map(|link| link.agreed.as_ref()?.inbound.as_ref());
        inbound.map(|inbound| inbound.reorder.msdus()).sum()
    }

    /// The longest time that an MPDU was in a reorder buffer.
    pub fn longest_hold(&self) -> Dur {
        let inbound = self.links.iter().filter_map(|link| link.agreed.as_ref()?.inbound.as_ref());
        inbound.map(|inbound| inbound.reorder.longest()).max().unwrap_or_default()
    }

    /// Neighbours to or from which data went.
    pub fn partners(&self) -> impl Iterator<Item = NodeId> {
        let all = (0..).map(NodeId).zip(&self.neighbours);
        all.filter(|(_, neighbour)| neighbour.first != NONE).map(|(id, _)| id)
    }

    /// All agreements in which this station is the recipient.
    pub fn inbound(&mut self) -> impl Iterator<Item = &mut Inbound> {
        self.links.iter_mut().filter_map(|link| link.agreed.as_mut()?.inbound.as_mut())
    }

    /// True if QoS data may be sent to this station: it has categories, and is no group. @80211-2020 10.2.3.2
    pub fn has_qos(&self, to: NodeId) -> bool {
        self.neighbours.get(to.index()).is_some_and(|neighbour| neighbour.categories > 0)
    }

    /// The number of stations.
    pub fn neighbours(&self) -> usize {
        self.neighbours.len()
    }

    /// The number of a new MSDU.
    pub fn number(&mut self, of: RaTid) -> u16 {
        let next = match of.tid {
            None => &mut self.next_seq,
            Some(_) => {
                let link = self.find_or_add(of.to, of.tid);
                &mut self.links[link.0 as usize].next_seq
            }
        };
        let seq = *next;
        *next = (seq + 1) % NUMBERS;
        seq
    }

    /// The link of a neighbour and TID, which is made the first time.
    pub fn find_or_add(&mut self, neighbour: NodeId, tid: Option<u8>) -> LinkId {
        let first = self.neighbours[neighbour.index()].first;
        let mut at = first;
        while let Some(link) = self.links.get(at as usize) {
            if link.tid == tid {
                return LinkId(at);
            }
            at = link.next;
        }
        self.add(neighbour, tid, first)
    }

    #[cold]
    fn add(&mut self, neighbour: NodeId, tid: Option<u8>, next: u32) -> LinkId {
        let id = self.links.len() as u32;
        let agreed = self.own.zip(tid).and_then(|(own, tid)| self.agreed(own, neighbour, tid));
        self.links.push(Link { tid, next, next_seq: 0, received: Received::default(), agreed });
        self.neighbours[neighbour.index()].first = id;
        LinkId(id)
    }

    fn agreed(&self, own: Aggregation, neighbour: NodeId, tid: u8) -> Option<Box<Agreed>> {
        let other = self.announced.get(neighbour.index()).copied().flatten()?;
        let inbound = other.agreed(&own, tid).map(|it| Inbound::new(it.window, own.patience));
        Some(Box::new(Agreed { outbound: own.agreed(&other, tid), untold: None, inbound, sent: Sent::default() }))
    }

    /// A link of this interface.
    pub fn get_mut(&mut self, id: LinkId) -> &mut Link {
        &mut self.links[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_neighbour_and_tid_counts_for_itself_and_frames_without_qos_control_count_together() {
        let mut links = Links::to(&[4, 4, 0]);
        let [a, b, c] = [0, 1, 2].map(NodeId);
        assert_eq!([a, b, c, NodeId::BROADCAST].map(|to| links.has_qos(to)), [true, true, false, false]);
        let mut number = |to, tid| links.number(RaTid { to, tid });
        assert_eq!([number(a, Some(0)), number(a, Some(0)), number(b, Some(0)), number(a, Some(5))], [0, 1, 0, 0]);
        assert_eq!([number(c, None), number(a, None), number(NodeId::BROADCAST, None)], [0, 1, 2]);
        assert_eq!((number(a, Some(0)), number(b, Some(0))), (2, 1));
        let beyond = (0..4095).map(|_| number(c, None)).last();
        assert_eq!((beyond, number(c, None)), (Some(1), 2), "4096 numbers");
    }

    #[test]
    fn links_of_a_neighbour_keep_their_places() {
        let mut links = Links::to(&[4, 4]);
        let asked = [(0, Some(0)), (1, Some(0)), (0, Some(7)), (0, None), (0, Some(7)), (1, Some(0)), (0, Some(0))];
        let places = asked.map(|(node, tid)| links.find_or_add(NodeId(node), tid).0);
        assert_eq!(places, [0, 1, 2, 3, 2, 1, 0]);
    }
}
