//! NAVs that frames for somebody else set, and those that fall since no CTS follows their RTS.

use crate::contention::Contention;
use crate::frame::Kind;
use crate::psdu::Frame;
use crate::rts_patience::RtsPatience;
use phy::Medium;
use units::{Dur, Nodes, SimTime};

/// NAVs that rest on an RTS: they fall if no CTS follows.
#[derive(Debug)]
pub(super) struct Navs {
    /// The nodes whose NAV rests on one, by block.
    by_rts: Vec<u64>,
    /// Of those stations, when it ended, and when they may conclude that no CTS came.
    rts_ended: Vec<(SimTime, SimTime)>,
    pub next_check: SimTime,
    /// The time after its end from which they may.
    patience: RtsPatience,
}

impl Navs {
    pub fn new(nodes: usize, patience: RtsPatience) -> Navs {
        Navs {
            by_rts: vec![0; Nodes::blocks(nodes)],
            rts_ended: vec![(SimTime::ZERO, SimTime::ZERO); nodes],
            next_check: SimTime::NEVER,
            patience,
        }
    }

    /// A frame for somebody else sets the NAV of `nodes`. @80211-2020 10.3.2.4
    #[inline(always)]
    pub fn overhear(&mut self, now: SimTime, nodes: Nodes, frame: &Frame, contention: &mut Contention) {
        if frame.duration == Dur::ZERO {
            return;
        }
        let set = contention.set_nav(nodes, now + frame.duration);
        self.by_rts[set.index()] &= !set.bits;
        if frame.kind == Kind::Rts && !set.is_empty() {
            self.by_rts[set.index()] |= set.bits;
            let check = now + self.patience.after(frame.tx.mode);
            self.next_check = self.next_check.min(check);
            set.for_each(|node| self.rts_ended[node.index()] = (now, check));
        }
    }

    /// These stations have heard that what was reserved is free. @80211-2020 10.23.2.10
    #[cold]
    pub fn forget(&mut self, now: SimTime, nodes: Nodes, contention: &mut Contention) {
        self.by_rts[nodes.index()] &= !nodes.bits;
        nodes.for_each(|node| contention.reset_nav(now, node));
    }

    /// Stations that have heard nothing begin since the RTS drop their NAV. @80211-2020 10.3.2.4
    pub fn check(&mut self, now: SimTime, medium: &Medium, contention: &mut Contention) {
        let Navs { by_rts, rts_ended, next_check, .. } = self;
        *next_check = SimTime::NEVER;
        for (block, resting) in (0..).zip(by_rts) {
            for node in (Nodes { block, bits: *resting }) {
                let (rts_end, check) = rts_ended[node.index()];
                if check > now {
                    *next_check = (*next_check).min(check);
                    continue;
                }
                *resting &= !Nodes::from(node).bits;
                if !medium.has_heard_since(rts_end, node) {
                    contention.reset_nav(now, node);
                }
            }
        }
    }
}
