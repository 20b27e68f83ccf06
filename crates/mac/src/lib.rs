//! Medium access: contention, frame exchanges, retransmission. IEEE 802.11-2020 clauses 10.3 (DCF), 10.23.2 (EDCA).
//!
//! Models carrier sense (physical and virtual), DIFS and EIFS, backoff with post-backoff, immediate access, RTS/CTS with
//! NAV and its reset, CTS-to-self, short and long retry counters, CW rules, the duplicate cache, fragments, frames to groups; access
//! categories with AIFS, CW and transmit opportunities of their own, and internal collisions. Leaves out, for now: fragments for the
//! sake of a TXOP limit (a frame longer than it goes whole), dot11MaxTransmitMSDULifetime, admission control, block acknowledgment as
//! the standard negotiates it ([`AckPolicy`] and [`Recipient`] are its seats), power save, management frames.

pub mod ack;
mod aggregation;
mod air;
mod block_ack;
pub mod channel;
mod config;
pub mod contention;
mod control_modes;
mod counters;
mod duplicates;
mod edca;
pub mod exchange;
pub mod frame;
mod link;
mod msdu;
mod overlaps;
pub mod psdu;
pub mod rate;
mod report;
mod rts_patience;
mod station;
pub mod testing;
mod transmit;
mod tx_queue;

pub use ack::{AckPolicy, Delivery, Piggyback, Recipient, SoFar, Solicited};
pub use aggregation::{AfterSilence, Aggregation, Discard};
pub use air::Air;
pub use channel::{At, AtAddressee, Channel, ErrorsAt, Got, Loss, Reception, Receptions};
pub use config::{AfterTimeout, Config, Protection, Rts, TxopProtection};
pub use contention::{Access, AccessInGap, ContenderId, Contention, Countdown, Outcome, Wait};
pub use control_modes::ControlModes;
pub use counters::{AMpdus, CategoryCounters, Counters};
pub use edca::{Category, DscpMap, Edca, TxopLimits};
pub use exchange::{Dcf, Plan, Response};
pub use frame::{HtControl, Kind, Label, Qos};
pub use link::Sent;
pub use msdu::{MacOptions, Msdu};
pub use overlaps::Overlap;
pub use phy::MpduSet;
pub use psdu::{Bitmap, Body, Carried, Cue, Data, Frame, Load, Loaded, Mpdu, Msdus, Psdu, Request};
pub use rate::{Chain, Fixed, Head, RateControl, Stage};
pub use report::{Fate, InOrder, InPpdu, PsduReport, TxReport};
pub use rts_patience::RtsPatience;
pub use station::{Input, Output, Station};
pub use transmit::Transmit;
pub use tx_queue::{Around, Classifier, Fifo, Links, Next, RaTid, Sought, TxQueue, Wrap};
