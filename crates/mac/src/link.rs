//! Links: what an interface knows of each neighbour and traffic identifier. @80211-2020 10.3.2.14, 10.25
//!
//! A link is made with the first frame to or from a neighbour. A neighbour without traffic takes [`NEIGHBOUR`] bytes, since there is one
//! for each pair of stations.

use crate::ack::Solicited;
use crate::aggregation::{Aggregation, Agreement};
use crate::block_ack::Inbound;
use crate::duplicates::{Counted, Received};
use crate::frame::{Kind, block_ack};
use crate::psdu::Bitmap;
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
    /// It is the recipient.
    pub inbound: Option<Inbound>,
}

impl Link {
    /// The agreement in which this station is the recipient.
    pub fn inbound(&mut self) -> Option<&mut Inbound> {
        self.agreed.as_mut()?.inbound.as_mut()
    }

    fn counted(&self) -> Counted {
        if self.tid.is_some() { Counted::Alone } else { Counted::Together }
    }

    /// Whether a frame with this number is a repetition of one that was received; nothing is noted.
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
        let id = self.of(of.to, of.tid);
        self.links[id.0 as usize].agreed.as_ref().and_then(|agreed| agreed.outbound)
    }

    /// The Block Ack that a PSDU of several MPDUs for this receiver and TID asks for.
    pub fn block_ack(&mut self, of: RaTid) -> Solicited {
        let window = self.agreement(of).map_or(64, |agreement| usize::from(agreement.window));
        Solicited { kind: Kind::BlockAck, len: block_ack(Bitmap::width_for(window)) }
    }

    /// Number of the next MSDU of a link that counts for itself.
    pub fn next_number(&mut self, of: RaTid) -> u16 {
        let id = self.of(of.to, of.tid);
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

    /// Whether QoS data may be sent to this station: it has categories, and is no group. @80211-2020 10.2.3.2
    pub fn has_qos(&self, to: NodeId) -> bool {
        self.neighbours.get(to.index()).is_some_and(|neighbour| neighbour.categories > 0)
    }

    /// How many stations there are.
    pub fn neighbours(&self) -> usize {
        self.neighbours.len()
    }

    /// The number of a new MSDU.
    pub fn number(&mut self, of: RaTid) -> u16 {
        let next = match of.tid {
            None => &mut self.next_seq,
            Some(_) => {
                let link = self.of(of.to, of.tid);
                &mut self.links[link.0 as usize].next_seq
            }
        };
        let seq = *next;
        *next = (seq + 1) % NUMBERS;
        seq
    }

    /// The link of a neighbour and TID.
    pub fn of(&mut self, neighbour: NodeId, tid: Option<u8>) -> LinkId {
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
        Some(Box::new(Agreed { outbound: own.agreed(&other, tid), inbound }))
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
        let places = asked.map(|(node, tid)| links.of(NodeId(node), tid).0);
        assert_eq!(places, [0, 1, 2, 3, 2, 1, 0]);
    }
}
