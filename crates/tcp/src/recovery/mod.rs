//! Recoveries: what is done about a loss until it is repaired. One file each.
//!
//! A recovery answers questions; the sender finds losses, sends and counts. How much the window shrinks is the congestion
//! control's business. See `docs/design/recovery.md`.

use crate::cc;
use wire::Seq;

pub use plugin::{Info, Params};

/// Makes a recovery with these parameters: those that its [`Info`] declares.
pub type Make = fn(&Params) -> Box<dyn Recovery>;

/// The evidence by which losses are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Duplicate ACKs, which also tell how much has left the network. @RFC5681 sec. 3.2
    DuplicateAcks,
    /// SACK blocks: each segment is known to have arrived or not. Needs SACK at both ends. @RFC6675
    Scoreboard,
}

/// The response to a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// Back to the first segment not acknowledged, with a window of one segment.
    SlowStart,
    /// Fast recovery: the loss is repaired while new data goes on. @RFC5681 sec. 3.2
    FastRecovery,
}

/// A way to recover.
pub trait Recovery {
    /// The evidence by which losses are found. Asked once, when the connection stands.
    fn evidence(&self) -> Evidence {
        Evidence::DuplicateAcks
    }

    /// The response to a loss.
    fn begins(&self) -> Begins {
        Begins::FastRecovery
    }

    /// Returns true if an ACK of new data, up to `ack`, ends fast recovery. `recover` is one past the highest number that had
    /// been sent when it began. If it does not, the segment at `ack` is sent again.
    fn ends(&mut self, ack: Seq, recover: Seq) -> bool;

    /// True if, after fast recovery, duplicates up to and with `recover` tell of no loss: they may be of its own repairs.
    /// @RFC6582 sec. 3.2 step 2
    fn guards(&self) -> bool {
        false
    }
}

units::debug_by_name!(Recovery);

plugin::registry! { "recovery", Make:
    "newreno" => newreno,
    "reno" => reno,
    "sack" => sack,
    "tahoe" => tahoe,
}

/// The recovery of a controller's sender if the configuration does not say. With SACK agreed on, the scoreboard takes the
/// place of duplicate ACKs, but for Tahoe, which sends again whatever follows a loss.
pub(crate) fn natural(of: cc::Recovery, sack: bool) -> Box<dyn Recovery> {
    match of {
        cc::Recovery::Tahoe => Box::new(tahoe::Tahoe),
        _ if sack => Box::new(sack::Sack),
        cc::Recovery::Reno => Box::new(reno::Reno),
        cc::Recovery::NewReno => Box::new(newreno::NewReno),
    }
}
