//! Medium access: contention, frame exchanges, retransmission. IEEE 802.11-2020 clauses 10.3 (DCF), 10.23.2 (EDCA).
//!
//! Models carrier sense (physical and virtual), DIFS and EIFS, backoff with post-backoff, immediate access, RTS/CTS with
//! NAV and its reset, short and long retry counters, CW rules, the duplicate filter, frames to groups; access categories with AIFS,
//! CW and transmit opportunities of their own, and internal collisions. Leaves out, for now: fragments (a frame longer than its
//! TXOP limit goes whole), admission control, block acknowledgment, power save, management frames.

pub mod channel;
mod config;
pub mod contention;
mod counters;
mod edca;
pub mod exchange;
pub mod frame;
mod msdu;
mod seen;
mod station;
mod transmit;

pub use channel::{AtAddressee, Channel, ErrorsAt, FRAME_CLASSES, LOSS_CAUSES, Loss, Overlap, Reception, Tally};
pub use channel::{collision_cause, losses_by_cause, tally_index};
pub use config::{AfterTimeout, Config, Rts};
pub use contention::{Access, AccessInGap, ContenderId, Contention, Countdown, Outcome};
pub use counters::{CategoryCounters, Counters};
pub use edca::{Category, Edca, TxopLimits};
pub use exchange::{Dcf, Plan};
pub use frame::{Class, Frame, Kind, Qos};
pub use msdu::{Classifier, Fate, Fifo, MacOptions, Msdu, Next, TxQueue, TxReport};
pub use station::{Input, Output, Station};
pub use transmit::{Sending, Transmit};
