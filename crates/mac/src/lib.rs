//! Medium access: contention, frame exchanges, retransmission. IEEE 802.11-2020 clause 10.3 (DCF).
//!
//! Models carrier sense (physical and virtual), DIFS and EIFS, backoff with post-backoff, immediate access, RTS/CTS with
//! NAV and its reset, short and long retry counters, CW rules, the duplicate filter and frames to groups. Leaves out, for
//! now: EDCA, fragments, power save, management frames.

pub mod channel;
mod config;
pub mod contention;
pub mod exchange;
pub mod frame;
mod msdu;
mod station;

pub use channel::{Channel, ErrorsAt, FRAME_CLASSES, LOSS_CAUSES, Loss, Reception, Tally, losses_by_cause};
pub use config::{AfterTimeout, Config, Rts};
pub use contention::{Access, ContenderId, Contention, Outcome};
pub use exchange::{Dcf, Plan};
pub use frame::{Class, Frame, Kind};
pub use msdu::{Classifier, Fate, Fifo, MacOptions, Msdu, Next, TxQueue, TxReport};
pub use station::{Counters, Input, Output, Station};
