//! The waits of contenders, for listeners: nothing is counted or changed by looking.

use super::{ContenderId, Contention, Phase};
use units::{NodeId, SimTime};

/// The wait of a contender, as of the last change of its medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The contender.
    pub id: ContenderId,
    /// Its station.
    pub node: NodeId,
    /// True while it is granted and its exchange not finished.
    pub is_granted: bool,
    /// Slots that remain. Once granted: those that it has counted in the idle period of the grant.
    pub slots: u32,
    /// Its contention window.
    pub cw: u16,
    /// The beginning of its countdown in the current idle period; once granted, in that of the grant.
    pub counts_from: SimTime,
    /// The instant at which it was granted, counted from [`Wait::counts_from`]. Of no meaning before.
    pub granted_at: SimTime,
    /// The instant from which its medium is idle, NAV included; `None` while it is busy.
    pub idle_from: Option<SimTime>,
}

impl Contention {
    /// The wait of each contender, in order of id; `None` for one that has nothing to send and no backoff under way.
    pub fn waits(&self) -> impl Iterator<Item = Option<Wait>> {
        (0..).map(ContenderId).zip(&self.contenders).map(|(id, contender)| {
            if contender.phase == Phase::Off {
                return None;
            }
            let sense = self.sense(contender.node);
            Some(Wait {
                id,
                node: contender.node,
                is_granted: contender.phase == Phase::Granted,
                slots: contender.slots,
                cw: contender.cw,
                counts_from: contender.counts_from,
                granted_at: contender.counts_from + contender.access.slot * u64::from(contender.slots),
                idle_from: (!sense.is_busy).then_some(sense.idle_from),
            })
        })
    }
}
