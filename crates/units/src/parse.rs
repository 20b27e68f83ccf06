//! Quantities as a scenario spells them: a number, a space, a unit.

use crate::{BitRate, Bytes, Db, Dbm, Dur, Hertz};
use core::str::FromStr;

/// The reason why a text is not the quantity it should be. The message is one line and says what would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No number in front.
    #[error("\"{text}\" does not start with a number; write it like \"{example}\"")]
    NoNumber {
        /// The text given.
        text: String,
        /// One that would do.
        example: &'static str,
    },
    /// A unit of another quantity, or none.
    #[error("\"{text}\": {problem}; write it like \"{example}\"")]
    Unit {
        /// The text given.
        text: String,
        /// The fault of its unit.
        problem: String,
        /// One that would do.
        example: &'static str,
    },
    /// Negative, infinite or beyond the range of the type.
    #[error("\"{text}\" is {problem}")]
    Range {
        /// The text given.
        text: String,
        /// The bound it breaks.
        problem: &'static str,
    },
}

struct Kind {
    units: &'static [(&'static str, f64)],
    example: &'static str,
    signed: bool,
}

const TIME: Kind = Kind {
    units: &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)],
    example: "20 ms",
    signed: false,
};
const RATE: Kind = Kind {
    units: &[
        ("b/s", 1.0),
        ("kb/s", 1e3),
        ("Mb/s", 1e6),
        ("Gb/s", 1e9),
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
    ],
    example: "11 Mb/s",
    signed: false,
};
const SIZE: Kind = Kind {
    units: &[("B", 1.0), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)],
    example: "1500 B",
    signed: false,
};
const LEVEL: Kind = Kind { units: &[("dBm", 1.0)], example: "-62 dBm", signed: true };
const FREQUENCY: Kind =
    Kind { units: &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)], example: "2.4 GHz", signed: false };
const RATIO: Kind = Kind { units: &[("dB", 1.0)], example: "10 dB", signed: true };

/// The value in the kind's base unit.
fn quantity(text: &str, kind: &Kind) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || "+-.eE_".contains(c))).unwrap_or(trimmed.len());
    // An exponent's letter belongs to the number only if a digit or sign follows it.
    let (mut number, mut unit) = trimmed.split_at(end);
    if number.ends_with(['e', 'E']) {
        (number, unit) = trimmed.split_at(end - 1);
    }
    let no_number = || UnitError::NoNumber { text: text.to_owned(), example: kind.example };
    let value: f64 = number.replace('_', "").parse().map_err(|_| no_number())?;
    let unit = unit.trim();
    let Some((_, scale)) = kind.units.iter().find(|(name, _)| *name == unit) else {
        let known: Vec<&str> = kind.units.iter().map(|(name, _)| *name).filter(|n| n.is_ascii()).collect();
        let problem = if unit.is_empty() {
            format!("the unit is missing ({})", known.join(", "))
        } else {
            format!("\"{unit}\" is none of {}", known.join(", "))
        };
        return Err(UnitError::Unit { text: text.to_owned(), problem, example: kind.example });
    };
    let value = value * scale;
    if !value.is_finite() || (!kind.signed && value > 9e18) {
        return Err(UnitError::Range { text: text.to_owned(), problem: "too large" });
    }
    if value < 0.0 && !kind.signed {
        return Err(UnitError::Range { text: text.to_owned(), problem: "negative" });
    }
    Ok(value)
}

impl FromStr for Dur {
    type Err = UnitError;
    /// `"20 ms"`; `ns`, `us`, `µs`, `ms`, `s`, `min`; rounded to whole nanoseconds.
    fn from_str(text: &str) -> Result<Dur, UnitError> {
        quantity(text, &TIME).map(|ns| Dur::from_ns(ns.round() as u64))
    }
}

impl FromStr for BitRate {
    type Err = UnitError;
    /// `"5.5 Mb/s"`; `b/s`, `kb/s`, `Mb/s`, `Gb/s`; rounded to whole bit/s.
    fn from_str(text: &str) -> Result<BitRate, UnitError> {
        quantity(text, &RATE).map(|bps| BitRate::from_bps(bps.round() as u64))
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    /// `"1500 B"`; `B`, `kB`, `MB`, `GB` in powers of 1000; a fraction of a byte is an error.
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        let bytes = quantity(text, &SIZE)?;
        if bytes.fract() != 0.0 {
            return Err(UnitError::Range { text: text.to_owned(), problem: "not a whole number of bytes" });
        }
        Ok(Bytes(bytes as u64))
    }
}

impl FromStr for Dbm {
    type Err = UnitError;
    /// `"-62 dBm"`.
    fn from_str(text: &str) -> Result<Dbm, UnitError> {
        quantity(text, &LEVEL).map(Dbm)
    }
}

impl FromStr for Db {
    type Err = UnitError;
    /// `"10 dB"`.
    fn from_str(text: &str) -> Result<Db, UnitError> {
        quantity(text, &RATIO).map(Db)
    }
}

impl FromStr for Hertz {
    type Err = UnitError;
    /// `"2.4 GHz"`; `Hz`, `kHz`, `MHz`, `GHz`.
    fn from_str(text: &str) -> Result<Hertz, UnitError> {
        quantity(text, &FREQUENCY).map(Hertz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_a_scenario_are_read() {
        assert_eq!("20 ms".parse(), Ok(Dur::from_ms(20)));
        assert_eq!("1.5s".parse(), Ok(Dur::from_ms(1500)));
        assert_eq!("9 µs".parse(), Ok(Dur::from_us(9)));
        assert_eq!("5.5 Mb/s".parse(), Ok(BitRate::from_kbps(5500)));
        assert_eq!("1500 B".parse(), Ok(Bytes(1500)));
        assert_eq!("2 MB".parse(), Ok(Bytes(2_000_000)));
        assert_eq!("-62 dBm".parse(), Ok(Dbm(-62.0)));
        assert_eq!("2.5 GHz".parse(), Ok(Hertz(2.5e9)));
        assert_eq!("22 MHz".parse(), Ok(Hertz(22e6)));
        assert_eq!("1e3 b/s".parse(), Ok(BitRate::from_kbps(1)));
    }

    #[test]
    fn a_wrong_unit_names_the_right_ones() {
        let error = "20 Mb".parse::<Dur>().unwrap_err().to_string();
        assert_eq!(error, "\"20 Mb\": \"Mb\" is none of ns, us, ms, s, min; write it like \"20 ms\"");
        let error = "20".parse::<BitRate>().unwrap_err().to_string();
        assert!(error.contains("the unit is missing"), "{error}");
    }

    #[test]
    fn negative_infinite_and_fractional_values_are_refused() {
        for text in ["-1 ms", "1e400 s", "-0.5 s", "1e30 s"] {
            assert!(matches!(text.parse::<Dur>(), Err(UnitError::Range { .. })), "{text}");
        }
        assert!("0.5 B".parse::<Bytes>().is_err());
        assert!("fast".parse::<BitRate>().is_err());
        assert!("".parse::<BitRate>().is_err());
        assert!("NaN b/s".parse::<BitRate>().is_err());
    }
}
