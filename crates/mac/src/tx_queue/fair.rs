//! Accounts of receivers by airtime, and of what lies below the fair queue: mac80211's scheduler. The turns are in `links.rs`.
//!
//! - **Airtime** An account is charged with what a receiver's frames took on the air, theirs to this station as well. A receiver whose account is
//!   overdrawn gets `weight` when its turn comes, and goes to the end of the line. What it sends here counts in the category that it is
//!   sent in.
//! - **Below** What is handed down leaves in that order. An aggregate takes along what lies below for the same receiver and TID, as firmware
//!   does, and nothing of the fair queue. A packet counts until the attempt that it is in is over, by the time that its bits would take in
//!   the mode of its receiver's last PPDU, and by its share of what else its exchanges took on the air of late: preambles, RTS, responses.
//! - **Departs** Linux takes that share from a table of rates, and assumes aggregates in all categories but VO; here it is what was seen. Linux bounds `total` over all categories of a device; here it is that of one category.

use crate::msdu::Msdu;
use phy::{Mode, airtime};
use queue::Below;
use units::{Bytes, Dur, NodeId};

/// Airtime that frames to a group may have below. Linux: `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_BC`, 50 ms.
const GROUP: Dur = Dur::from_ms(50);

/// The share of a new exchange in the smoothed overhead. Our choice.
const GAIN: u64 = 8;

/// So much lies below.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    airtime: Dur,
    packets: u32,
}

impl Load {
    fn add(&mut self, airtime: Dur) {
        self.airtime += airtime;
        self.packets += 1;
    }

    fn take(&mut self, other: Load) {
        self.airtime = self.airtime.saturating_sub(other.airtime);
        self.packets = self.packets.saturating_sub(other.packets);
    }
}

/// The account of a receiver.
#[derive(Debug)]
struct Account {
    to: NodeId,
    /// Nanoseconds.
    credit: i64,
    /// Packets that were handed down and are not over, and those of them that are in service.
    below: Load,
    in_service: Load,
    /// Bytes in service.
    serves: Bytes,
    /// That of its last PPDU.
    mode: Option<Mode>,
    /// Airtime of an exchange beside the bits of its packets, for each of them; `None` before the first.
    overhead: Option<Dur>,
}

/// Visits after which an account with this credit is not overdrawn.
fn visits(credit: i64, weight: i64) -> i64 {
    (credit.min(0).unsigned_abs().div_ceil(weight.unsigned_abs())) as i64
}

/// The accounts of all receivers.
#[derive(Debug)]
pub(super) struct Accounts {
    /// Nanoseconds; `None`: airtime does not count.
    weight: Option<i64>,
    below: Below,
    of: Vec<Account>,
    /// Airtime of what lies below of all.
    total: Dur,
    /// The mode of a receiver that nothing was sent to.
    first: Option<Mode>,
}

impl Accounts {
    pub fn new(weight: Option<Dur>, below: Below) -> Accounts {
        let weight = weight.map(|weight| weight.ns() as i64);
        Accounts { weight, below, of: Vec::new(), total: Dur::ZERO, first: None }
    }

    pub fn set_first(&mut self, mode: Mode) {
        self.first = Some(mode);
    }

    /// True if airtime counts: a receiver keeps its turn until its account is overdrawn.
    pub fn counts_airtime(&self) -> bool {
        self.weight.is_some()
    }

    /// True if packets are handed down before they are sent.
    pub fn hands_down(&self) -> bool {
        self.below != Below::Nothing
    }

    /// The account of a receiver.
    pub fn account(&mut self, to: NodeId) -> usize {
        let known = self.of.iter().position(|account| account.to == to);
        known.unwrap_or_else(|| {
            let (below, in_service) = (Load::default(), Load::default());
            let serves = Bytes::ZERO;
            self.of.push(Account { to, credit: 0, below, in_service, serves, mode: None, overhead: None });
            self.of.len() - 1
        })
    }

    /// True if more may be handed down for it.
    pub fn admits(&self, account: usize) -> bool {
        let Account { to, below, .. } = &self.of[account];
        match self.below {
            Below::Nothing => true,
            Below::Frames(most) => below.packets < most,
            Below::Airtime { .. } if *to == NodeId::BROADCAST => below.airtime < GROUP,
            Below::Airtime { low, high, total } => below.airtime < low || below.airtime < high && self.total < total,
        }
    }

    /// Its turn has come: true if it may be used. An account that is overdrawn gets its weight.
    pub fn visit(&mut self, account: usize) -> bool {
        let may = self.admits(account);
        let credit = &mut self.of[account].credit;
        let is_overdrawn = *credit < 0;
        if is_overdrawn {
            *credit += self.weight.unwrap_or_default();
        }
        may && !is_overdrawn
    }

    /// Rounds until one of these that may have more is not overdrawn; `None`: none may.
    pub fn rounds(&self, accounts: impl Iterator<Item = usize>) -> Option<i64> {
        let weight = self.weight?;
        let rounds = |account: usize| visits(self.of[account].credit, weight);
        accounts.filter(|account| self.admits(*account)).map(rounds).min()
    }

    /// So many rounds go by.
    pub fn pass(&mut self, account: usize, rounds: i64) {
        let Some(weight) = self.weight else { return };
        let credit = &mut self.of[account].credit;
        *credit += weight * visits(*credit, weight).min(rounds).max(0);
    }

    /// The time that a packet would take on the air.
    fn lasts(&self, account: usize, msdu: &Msdu) -> Dur {
        let own = &self.of[account];
        let lasts = |mode: Mode| match own.overhead {
            Some(overhead) => msdu.mpdu / mode.bit_rate() + overhead,
            None => airtime(mode, msdu.mpdu),
        };
        own.mode.or(self.first).map_or(Dur::ZERO, lasts)
    }

    /// A packet is handed down: the airtime by which it counts until it is over.
    pub fn handed(&mut self, account: usize, msdu: &Msdu) -> Dur {
        let airtime = self.lasts(account, msdu);
        self.of[account].below.add(airtime);
        self.total += airtime;
        airtime
    }

    /// One that was handed down is taken back, unsent.
    pub fn taken_back(&mut self, account: usize, airtime: Dur) {
        self.of[account].below.take(Load { airtime, packets: 1 });
        self.total = self.total.saturating_sub(airtime);
    }

    /// It comes into service.
    pub fn served(&mut self, account: usize, airtime: Dur, msdu: &Msdu) {
        let own = &mut self.of[account];
        own.in_service.add(airtime);
        own.serves += msdu.mpdu;
    }

    /// An attempt for it is over.
    pub fn attempted(&mut self, account: usize, lasted: Dur, mode: Option<Mode>) {
        self.charge(account, lasted);
        let own = &mut self.of[account];
        if let (Some(mode), packets @ 1..) = (mode, own.in_service.packets) {
            let each = lasted.saturating_sub(own.serves / mode.bit_rate()) / u64::from(packets);
            own.overhead = Some(own.overhead.map_or(each, |old| (old * (GAIN - 1) + each) / GAIN));
        }
        own.mode = mode.or(own.mode);
        self.settle(account);
    }

    /// Its frames took this on the air. Those to a group count for nobody.
    pub fn charge(&mut self, account: usize, lasted: Dur) {
        let own = &mut self.of[account];
        if self.weight.is_some() && own.to != NodeId::BROADCAST {
            own.credit -= lasted.ns() as i64;
        }
    }

    fn settle(&mut self, account: usize) {
        let own = &mut self.of[account];
        let over = std::mem::take(&mut own.in_service);
        own.serves = Bytes::ZERO;
        own.below.take(over);
        self.total = self.total.saturating_sub(over.airtime);
    }

    /// Nothing is in service any more. Returns whether something counted as such.
    pub fn settle_all(&mut self) -> bool {
        let counted = self.of.iter().any(|own| own.in_service.packets > 0);
        (0..self.of.len()).for_each(|account| self.settle(account));
        counted
    }

    /// Nothing is left.
    pub fn clear(&mut self) {
        for own in &mut self.of {
            (own.below, own.in_service, own.serves) = (Load::default(), Load::default(), Bytes::ZERO);
        }
        self.total = Dur::ZERO;
    }
}
