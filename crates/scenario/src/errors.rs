//! The losses of frames to noise.

use crate::Result;
use crate::at::At;
use crate::item::{About, Mistake};
use crate::scalar::{PROBABILITY, SOME_TIME};
use crate::shape::Via;
use phy::errors::{Sojourn, Step};
use serde_json::json;
use toml::Value;
use units::Dur;

words! { impl mac::ErrorsAt, noun "place to draw errors" { "attempt" => Attempt, "msdu" => Msdu } }

words! {
    /// The owner of a state in a two-state model.
    pub enum Shared, noun "way to share a state" {
        /// A pair: both directions are good or bad together.
        "link" => Link,
        /// Each direction.
        "direction" => Direction,
    }
}

one_of! {
    /// Losses within one state.
    pub enum StateError {
        /// Probability that a frame is lost.
        per => Per(f64), in PROBABILITY, or "given by ber",
        /// Probability that a bit is wrong.
        ber => Ber(f64), in PROBABILITY, or "given by per",
    }
}

tagged! {
    /// The losses of frames to noise. `phy::ErrorModel` says less: neither how a model was written, nor where it strikes.
    #[derive(Copy)]
    pub enum ErrorSpec, by "model", noun "error model" {
        /// No losses but those that the SINR gives where there is propagation.
        "none" => None,
        /// A fixed probability, whatever the frame's length.
        "packet" => Packet {
            /// Probability that a data frame is lost.
            per: f64, in PROBABILITY,
            /// The same for RTS, CTS and ACK.
            control_per: f64 = 0.0, in PROBABILITY,
            /// Drawn for each transmission, or once for the MSDU, all attempts of which then fail.
            at: mac::ErrorsAt = "attempt",
        },
        /// Independent bit errors.
        "bit" => Bit {
            /// Probability that a bit is wrong.
            ber: f64, in PROBABILITY,
            /// RTS, CTS and ACK are hit too.
            control: bool = true,
            /// Drawn for each transmission, or once for the MSDU, all attempts of which then fail.
            at: mac::ErrorsAt = "attempt",
        },
        /// Gilbert and Elliott's good and bad state.
        "two-state" => TwoState {
            /// Losses in the good state.
            good: StateError = { per = 0.0 },
            /// Losses in the bad state.
            bad: StateError,
            /// The time that a state lasts.
            sojourn => Sojourn as SojournKeys,
            /// One state for both directions of a pair, or one each.
            shared: Shared = "link",
            /// RTS, CTS and ACK are hit too.
            control: bool = true,
            /// Drawn for each transmission, or once for the MSDU, all attempts of which then fail.
            at: mac::ErrorsAt = "attempt",
        },
    }
}

tagged! {
    /// The losses of packets on a wire, beside independent losses of a fixed probability (`loss`).
    #[derive(Copy)]
    pub enum LinkErrors, by "model", noun "error model of a link" {
        /// No losses but those of `loss`.
        "none" => None,
        /// A fixed probability, whatever the packet's length.
        "packet" => Packet {
            /// Probability that a packet is lost.
            per: f64, in PROBABILITY,
        },
        /// Independent bit errors.
        "bit" => Bit {
            /// Probability that a bit of an IP packet is wrong.
            ber: f64, in PROBABILITY,
        },
        /// Gilbert and Elliott's good and bad state, each direction its own.
        "two-state" => TwoState {
            /// Losses in the good state.
            good: StateError = { per = 0.0 },
            /// Losses in the bad state.
            bad: StateError,
            /// The time that a state lasts, or its number of packets of this direction (`unit = "frame"`).
            sojourn => Sojourn as SojournKeys,
        },
    }
}

/// A time if written as text, otherwise a number: [`SojournKeys::unit`] decides which is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mean {
    /// A time.
    Time(Dur),
    /// A number of frames.
    Frames(f64),
}

scalar! {
    Mean, (), (),
    |value, (), at| match value {
        Value::String(_) => Ok(Mean::Time(Dur::read(value, &SOME_TIME, at)?)),
        Value::Integer(_) | Value::Float(_) => Ok(Mean::Frames(f64::read(value, &(1.0..=1e9), at)?)),
        _ => Err(Mistake::Unexpected),
    },
    |(), names| {
        let time = Dur::about(&SOME_TIME, names).schema;
        let schema = json!({ "anyOf": [time, { "type": "number", "minimum": 1 }] });
        About::new("a string such as \"20 ms\", or a number of frames", schema)
    },
    |it, nodes| match it {
        Mean::Time(time) => time.write(nodes),
        Mean::Frames(frames) => frames.write(nodes),
    }
}

words! {
    /// The unit of a state's length.
    pub enum Unit, noun "unit" {
        /// A time.
        "time" => Time,
        /// A number of frames.
        "frame" => Frame,
    }
}

words! { impl Step, noun "kind of frames" { "all" => All, "data" => Data } }

table! {
    /// The keys of a [`Sojourn`].
    pub struct SojournKeys {
        /// Mean stay in the good state.
        mean_good: Mean,
        /// Mean stay in the bad state.
        mean_bad: Mean,
        /// The unit of states' lengths: time, or a number of frames.
        unit: Unit = "time",
        /// The frames that count where unit is frame: all, or those that carry data; RTS, CTS and ACK then meet a state and leave it.
        step: Option<Step>, or "all, where unit is frame",
    }
}

impl Via<SojournKeys> for Sojourn {
    fn from_keys(keys: SojournKeys, at: &At) -> Result<Sojourn> {
        let expected = match keys.unit {
            Unit::Time => "a string such as \"100 ms\", since unit is \"time\"",
            Unit::Frame => "a number of frames such as 100, since unit is \"frame\"",
        };
        if let (Unit::Time, Some(_)) = (keys.unit, keys.step) {
            let message = "has an effect only with unit = \"frame\"; states of unit = \"time\" end by the clock";
            return Err(at.key("step").error(message));
        }
        let step = keys.step.unwrap_or(Step::All);
        let wrong = |key| Err(at.key(key).error(format!("expected {expected}")));
        match (keys.unit, keys.mean_good, keys.mean_bad) {
            (Unit::Time, Mean::Time(good), Mean::Time(bad)) => Ok(Sojourn::Time { good, bad }),
            (Unit::Frame, Mean::Frames(good), Mean::Frames(bad)) => Ok(Sojourn::Frame { good, bad, step }),
            (Unit::Time, Mean::Time(_), _) | (Unit::Frame, Mean::Frames(_), _) => wrong("mean_bad"),
            _ => wrong("mean_good"),
        }
    }

    fn to_keys(&self) -> SojournKeys {
        match *self {
            Sojourn::Time { good, bad } => {
                let (mean_good, mean_bad) = (Mean::Time(good), Mean::Time(bad));
                SojournKeys { mean_good, mean_bad, unit: Unit::Time, step: None }
            }
            Sojourn::Frame { good, bad, step } => {
                let (mean_good, mean_bad) = (Mean::Frames(good), Mean::Frames(bad));
                SojournKeys { mean_good, mean_bad, unit: Unit::Frame, step: Some(step) }
            }
        }
    }
}
