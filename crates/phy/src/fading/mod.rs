//! Rayleigh fading: the power of a pair is multiplied by a number of mean 1, the square of a Rayleigh amplitude (@RAP02 eq. 5.49). In
//! [`block`] it lasts a coherence time and is then drawn anew, in [`doppler`] it changes as a moving receiver's does.
//!
//! The factor is a pure function of (seed, pair, time), not the next number of a stream: it is the same whoever asks first, how
//! often, and however long nobody asks, so that neither the order of events nor a medium that looks less often changes anybody's channel. A
//! frame keeps the factor of its start to its end: what changes within a frame, and what a receiver's channel estimation makes of it, is left out.
//! So is line of sight (Rice).

pub mod block;
pub mod doppler;

use crate::fading::block::Block;
use crate::fading::doppler::Doppler;
use engine::Streams;
use units::{Dur, Hertz, NodeId, SimTime};

/// The law of a channel's fading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FadingModel {
    /// Constant for so long, then drawn anew.
    Block(Dur),
    /// Correlated by Clarke's spectrum with this maximum Doppler shift.
    Doppler(Hertz),
}

impl FadingModel {
    /// Bytes for a pair, beside those of a [`Fading`].
    pub const fn bytes(self) -> usize {
        match self {
            FadingModel::Block(_) => 0,
            FadingModel::Doppler(_) => size_of::<Doppler>(),
        }
    }
}

/// The fading of one unordered pair.
#[derive(Debug, Clone)]
pub enum Fading {
    /// In blocks.
    Block(Block),
    /// By Doppler.
    Doppler(Box<Doppler>),
}

impl Fading {
    /// The fading of a pair, the same in both directions.
    pub fn of_pair(streams: &Streams, one: NodeId, other: NodeId, model: FadingModel) -> Fading {
        match model {
            FadingModel::Block(coherence) => Fading::Block(Block::of_pair(streams, one, other, coherence)),
            FadingModel::Doppler(shift) => Fading::Doppler(Box::new(Doppler::of_pair(streams, one, other, shift))),
        }
    }

    /// The factor on the power of a frame that begins now, and the instant from which another holds.
    pub fn power(&self, now: SimTime) -> (f64, SimTime) {
        match self {
            Fading::Block(block) => {
                let interval = block.interval(now);
                (block.power(interval), block.ends(interval))
            }
            Fading::Doppler(doppler) => {
                let [re, im] = doppler.gain(now);
                (re * re + im * im, SimTime::from_ns(now.ns().saturating_add(1)))
            }
        }
    }
}
