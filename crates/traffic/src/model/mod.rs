//! Traffic models: a file each, and a line of the list below.

mod single;

use crate::{Given, Model};
use engine::Stream;
use plugin::{Kind, Param, Value};
use units::{Bytes, Dur};

/// Makes a user.
pub type Make = fn(Given<'_>) -> Box<dyn Model>;

plugin::registry! { "traffic model", Make:
    "email" => email,
    "ftp" => ftp,
    "http" => http,
}

const MOST_TIME: Dur = Dur::from_secs(1_000_000);
const MOST_SIZE: Bytes = Bytes(1_000_000_000_000);

/// A size that is not nothing.
const fn size(key: &'static str, default: u64, doc: &'static str) -> Param {
    let kind = Kind::Size { min: Bytes(1), max: MOST_SIZE };
    Param { key, kind, default: Value::Size(Bytes(default)), doc }
}

/// A time, that may be none.
const fn time(key: &'static str, default: Dur, doc: &'static str) -> Param {
    Param { key, kind: Kind::Time { min: Dur::ZERO, max: MOST_TIME }, default: Value::Time(default), doc }
}

/// A mean time between two of something.
const fn every(key: &'static str, default: Dur, doc: &'static str) -> Param {
    Param { key, kind: Kind::Time { min: Dur::from_us(1), max: MOST_TIME }, default: Value::Time(default), doc }
}

const REQUEST: Param = size("request", 300, "Of what the client writes to ask for something.");
const SPREAD: Param = time("spread", Dur::ZERO, "The user begins within so long after start, at any instant alike.");

/// An exponential time with this mean.
fn exponential_time(draws: &mut Stream, mean: Dur) -> Dur {
    Dur::from_ns((draws.exponential() * mean.ns() as f64) as u64)
}

/// A time up to this.
fn uniform_time(draws: &mut Stream, most: Dur) -> Dur {
    Dur::from_ns((draws.unit() * most.ns() as f64) as u64)
}

/// An exponential size with this mean, a byte at least.
fn exponential_size(draws: &mut Stream, mean: Bytes) -> Bytes {
    Bytes((draws.exponential() * mean.0 as f64) as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};
    use plugin::Params;

    #[test]
    fn every_model_is_in_its_place_and_is_made_of_its_defaults() {
        assert_eq!(NAMES, registry().ids());
        for entry in &registry() {
            let params = Params::defaults(entry.info.params);
            let made = (entry.plugin)(Given { params: &params, draws: Streams::new(1).get(Purpose::Traffic, 0) });
            assert_eq!(made.next_wakeup(), units::SimTime::NEVER, "{}: it has not begun", entry.info.id);
            for key in ["request", "spread"] {
                assert!(entry.info.params.iter().any(|param| param.key == key), "{}: {key}", entry.info.id);
            }
        }
    }
}
