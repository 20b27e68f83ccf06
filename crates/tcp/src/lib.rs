//! TCP endpoints as sans-IO machines.
//!
//! [`Connection`] is one end of one connection: it is told what happened ([`Input`]) and says what is to be done
//! ([`Output`]); it has no clock, no socket and no thread. Follows RFC 9293 (with the resets of RFC 5961), RFC 5681
//! and RFC 6582 (congestion and loss recovery), RFC 6298 (timer), RFC 7323 (scale, timestamps), RFC 2018, 2883 and 6675
//! (SACK), RFC 9937 (PRR), RFC 8985 (RACK, TLP), RFC 3042, RFC 3168 (ECN) and RFC 3465 as options.
//!
//! The stream is virtual: a payload is its place in the sender's stream, so a retransmission is a range; a record per
//! segment is kept only where recovery or the controller needs one. Left out: urgent data, Fast Open, path MTU discovery,
//! keep-alive, data on a SYN (dropped; the peer sends it again).
//!
//! Ports (`docs/design`): a [`cc::CongestionControl`] decides the window, an [`ack::AckPolicy`] when to acknowledge, a
//! [`SenderHook`] may judge losses and RTT samples, [`SenderCommand`]s come from the node's schemes.
//!
//! | file | holds |
//! |---|---|
//! | `connection` | the machine: inputs, outputs, timers (@RFC9293 sec. 3.9) |
//! | `connection/arrives` | SEGMENT ARRIVES (@RFC9293 sec. 3.10.7) |
//! | `connection/sender` | what may be sent now (@RFC9293 sec. 3.8.6.2.1, @RFC896) |
//! | `connection/emit` | headers of what goes out |
//! | `connection/acks` | an ACK's way through the sender (@RFC5681 sec. 2, @RFC7323 sec. 4) |
//! | `connection/loss` | fast retransmit, recovery, timeout (@RFC5681 sec. 3.2, @RFC6582) |
//! | `connection/selective` | what the scoreboard tells to send (@RFC6675) |
//! | `connection/undo` | losses that were none (@RFC3522, @RFC3708, @RFC5682) |
//! | `connection/marks` | ECN on the two SYNs and on segments (@RFC3168 sec. 6.1) |
//! | `connection/local` | segments that the own host refuses |
//! | `connection/persist` | zero-window probes (@RFC9293 sec. 3.8.6.1) |
//! | `recovery` | the registry of recoveries |
//! | `scoreboard` | a record per segment (@RFC6675) |
//! | `prr`, `rack` | how much leaves in recovery (@RFC9937); losses by time and probes of the tail (@RFC8985) |
//! | `hystart` | slow start that ends before a loss (@RFC9406) |
//! | `rate` | delivery rate samples (@DRAFT-DRE) |
//! | `ecn` | the receiver's echo of marks, and the sender's news of its cut (@RFC3168 sec. 6.1) |
//! | `rto` | RTT estimator and retransmission timeout (@RFC6298) |
//! | `receiver` | reassembly, offered window (@RFC9293 sec. 3.8.6.2.2) |
//! | `blocks` | SACK blocks (@RFC2018) |
//! | `preset` | a stack's choices under one name |
//! | `options` | negotiation on the SYN, timestamps, PAWS (@RFC7323) |

pub mod ack;
pub mod cc;

pub mod recovery;

mod blocks;
mod config;
mod connection;
mod ecn;
mod facts;
mod hook;
mod hystart;
mod options;
mod preset;
mod prr;
mod rack;
mod rate;
mod receiver;
mod rto;
mod scoreboard;
mod state;
mod timers;

pub use blocks::SackBlocks;
pub use config::{Config, ConfigError, SmallQueue, Undo};
pub use connection::{Connection, Input, Output};
pub use facts::{Ack, Counters, FlowFacts, WindowTime};
pub use hook::{Loss, RttSample, SenderCommand, SenderHook};
pub use preset::{Preset, window_scale};
pub use rate::RateSample;
pub use rto::RttEstimator;
pub use state::{State, Why};
pub use wire::{Seq, SeqRange, SeqSet};
