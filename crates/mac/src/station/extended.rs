//! Data frames with MAC options, and which neighbours answer them. @KLI06 section 4.4.3
//!
//! Such a frame has a reserved subtype. A station that does not know it drops the frame and answers nothing, so the sender finds
//! out on the air: an MSDU's first data frame to a neighbour of whom nothing is known goes with options, the next one without. An
//! answer makes the neighbour *able*. One that did not answer is asked again from time to time, since its silence may have been a loss.

use crate::msdu::Msdu;
use units::{Dur, NodeId, SimTime};

/// A station's knowledge of its neighbours.
#[derive(Debug)]
pub(super) struct Extended {
    /// Between two questions to a neighbour that has not answered.
    probe_every: Dur,
    peers: Vec<Peer>,
}

#[derive(Debug, Clone, Copy)]
struct Peer {
    is_able: bool,
    ask_again: SimTime,
}

impl Extended {
    pub fn new(probe_every: Dur, stations: usize) -> Extended {
        Extended { probe_every, peers: vec![Peer { is_able: false, ask_again: SimTime::ZERO }; stations] }
    }

    /// Gives the next data frame of an MSDU its format, and with it its length.
    pub fn shape(&self, now: SimTime, msdu: &mut Msdu) {
        let wants = msdu.options_room > 0
            && self.peers.get(msdu.to.index()).is_some_and(|peer| peer.is_able || peer.ask_again <= now);
        msdu.extend(wants);
    }

    /// A data frame with options went out.
    pub fn asked(&mut self, now: SimTime, to: NodeId) {
        if let Some(peer) = self.peers.get_mut(to.index())
            && !peer.is_able
        {
            peer.ask_again = now + self.probe_every;
        }
    }

    /// One was acknowledged.
    pub fn answered(&mut self, by: NodeId) {
        if let Some(peer) = self.peers.get_mut(by.index()) {
            peer.is_able = true;
        }
    }

    /// An MSDU was given up whose data frame went out with options: the neighbour may be one that does not know them. It is unknown
    /// again, and asked with the next MSDU.
    pub fn gave_up(&mut self, to: NodeId) {
        if let Some(peer) = self.peers.get_mut(to.index()) {
            *peer = Peer { is_able: false, ask_again: SimTime::ZERO };
        }
    }
}
