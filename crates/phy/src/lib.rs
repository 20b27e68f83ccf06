//! The 802.11 radio: rates and airtime, frame errors, and the medium that carries signals between stations.
//!
//! Follows IEEE 802.11-2020: clause 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP), 19 (HT), 21 (VHT), and 802.11ax-2021 clause 27 (HE), the
//! last three to one user. Propagation time (at most 1 µs) is part of the slot and not modelled. A crate of its own may bring another
//! [`Format`].

pub mod airtime;
pub mod code;
pub mod curves;
pub mod errors;
pub mod fading;
pub mod format;
pub mod ldpc;
pub mod medium;
pub mod mode;
mod mpdu_set;
pub mod propagation;
pub mod standard;
pub mod tx_vector;

pub use airtime::{LONGEST_PPDU, airtime, airtime_coded};
pub use code::BlockCode;
pub use curves::interference::Interference;
pub use curves::{Part, ln_survival};
pub use errors::{ErrorModel, Errors, Hit, Sojourn, Step, Struck};
pub use fading::{Fading, FadingModel};
pub use format::{Band, Format, HeLtf, Refusal, TxTime, Waveform, Width};
pub use medium::{
    Blocks, Capture, Curve, Heard, Hearing, Medium, MediumKind, OneBlock, Parts, Pass, Powers, Ppdu, Sinr,
    SinrConfig, Span, Verdict,
};
pub use mode::{Coding, Mode, NoSuchMode, Preamble, mode_at};
pub use mpdu_set::MpduSet;
pub use propagation::{NoiseFloor, PathLoss, Shadow, shadowing};
pub use standard::{Standard, Timing};
pub use tx_vector::{TxPower, TxVector};
