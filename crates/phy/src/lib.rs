//! The 802.11 radio: rates and airtime, frame errors, and the medium that carries signals between stations.
//!
//! Follows IEEE 802.11-2020: clause 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP). Propagation time (at most 1 µs) is part
//! of the slot and not modelled. Leaves out everything of clause 19 and later: a crate of its own may bring a [`Format`]; a PPDU of
//! several MPDUs is judged MPDU by MPDU for it.

pub mod airtime;
pub mod code;
pub mod curves;
pub mod errors;
pub mod fading;
pub mod format;
pub mod medium;
pub mod mode;
mod mpdu_set;
pub mod propagation;
pub mod standard;
pub mod tx_vector;

pub use airtime::{airtime, airtime_coded};
pub use code::BlockCode;
pub use curves::{Part, ln_survival};
pub use errors::{ErrorModel, Errors, Hit, Sojourn, Step, Struck};
pub use fading::Fading;
pub use format::Format;
pub use medium::{Capture, Curve, Heard, Hearing, Medium, Parts, Pass, Ppdu, Sinr, SinrConfig, Span, Verdict};
pub use mode::{Mode, NoSuchMode, Preamble, mode_at};
pub use mpdu_set::MpduSet;
pub use propagation::{NoiseFloor, PathLoss, shadowing};
pub use standard::{Standard, Timing};
pub use tx_vector::{TxPower, TxVector};
