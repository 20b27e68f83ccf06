//! Single values: words, numbers and quantities.

use super::item::Item;
use super::key::Kind;
use plugin::suggest::{self, quote};
use std::str::FromStr;
use toml::Value;
use units::{BitRate, Bytes, Db, Dbm, Dur, Hertz};

/// The longest time anything may take: 10⁶ s.
const LONGEST: Dur = Dur::from_secs(1_000_000);
const FASTEST: BitRate = BitRate::from_bps(1_000_000_000_000);
/// Metres: half way round the earth is 2·10⁷.
const FARTHEST: f64 = 1e7;

/// Reads a value that is neither a table nor an array; the error is the message.
pub(super) fn read(value: &Value, kind: Kind) -> Result<Item, String> {
    match (kind, value) {
        (Kind::Bool, Value::Boolean(on)) => Ok(Item::Bool(*on)),
        (Kind::Int { min, max }, Value::Integer(int)) if (min..=max).contains(int) => Ok(Item::Int(*int)),
        (Kind::Num { .. }, Value::Integer(int)) => number(value, kind, *int as f64),
        (Kind::Num { .. }, Value::Float(num)) => number(value, kind, *num),
        (Kind::TimeOrNum, Value::String(_)) => read(value, Kind::Time { min_ns: 1 }),
        (Kind::TimeOrNum, Value::Integer(_) | Value::Float(_)) => read(value, Kind::Num { min: 1.0, max: 1e9 }),
        (Kind::WordOr(words, other), _) => word_or(value, words, other),
        (_, Value::String(text)) => from_text(value, kind, text),
        _ => Err(wrong(value, kind)),
    }
}

/// What a value is, after "got".
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("string {}", quote(text)),
        Value::Integer(int) => format!("integer {int}"),
        Value::Float(num) => format!("float {num:?}"),
        Value::Boolean(on) => format!("boolean {on}"),
        Value::Datetime(_) => "a date or time of day".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

fn wrong(value: &Value, kind: Kind) -> String {
    format!("expected {}, got {}", kind.expected(), describe(value))
}

fn number(value: &Value, kind: Kind, num: f64) -> Result<Item, String> {
    match kind {
        Kind::Num { min, max } if num.is_finite() && (min..=max).contains(&num) => Ok(Item::Num(num)),
        _ => Err(wrong(value, kind)),
    }
}

fn word_or(value: &Value, words: &'static [&'static str], other: &'static Kind) -> Result<Item, String> {
    if let Value::String(text) = value {
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Ok(Item::Word(word));
        }
        let near = suggest::nearest(text, words);
        if !near.is_empty() {
            return Err(format!("no such value {}; did you mean {}?", quote(text), suggest::list(&near)));
        }
        // What starts like a number was meant as one: its own error says more.
        if text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            return read(value, *other);
        }
    } else if let Ok(item) = read(value, *other) {
        return Ok(item);
    }
    Err(wrong(value, Kind::WordOr(words, other)))
}

fn from_text(value: &Value, kind: Kind, text: &str) -> Result<Item, String> {
    match kind {
        Kind::Text | Kind::Name => name(kind, text).map(|()| Item::Text(text.to_owned())),
        Kind::NodeRef => Ok(Item::Text(text.to_owned())),
        Kind::Word { noun, words } => match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Item::Word(word)),
            None => Err(suggest::no_such(noun, text, words)),
        },
        Kind::Time { .. }
        | Kind::Rate
        | Kind::Size { .. }
        | Kind::Gain
        | Kind::Level
        | Kind::Frequency
        | Kind::Length
            if text.len() > 60 =>
        {
            Err(wrong(value, kind))
        }
        Kind::Time { min_ns } => Ok(Item::Time(within(text, Dur::from_ns(min_ns), LONGEST)?)),
        Kind::Rate => Ok(Item::Rate(within(text, BitRate::from_bps(1), FASTEST)?)),
        Kind::Size { min, max } => Ok(Item::Size(within(text, Bytes(min), Bytes(max))?)),
        Kind::Gain => {
            let gain: Db = text.parse().map_err(|error: units::UnitError| error.to_string())?;
            if gain.0.abs() <= 1000.0 {
                Ok(Item::Gain(gain))
            } else {
                Err(format!("{} is out of range", quote(text)))
            }
        }
        Kind::Level => {
            let level: Dbm = text.parse().map_err(|error: units::UnitError| error.to_string())?;
            if level.0.abs() <= 1000.0 {
                Ok(Item::Level(level))
            } else {
                Err(format!("{} is out of range", quote(text)))
            }
        }
        Kind::Frequency => {
            let frequency: Hertz = text.parse().map_err(|error: units::UnitError| error.to_string())?;
            if frequency.0 > 0.0 && frequency.0 <= 1e12 {
                Ok(Item::Frequency(frequency))
            } else {
                Err(format!("{} is out of range", quote(text)))
            }
        }
        Kind::Length => metres(text).map(Item::Num),
        _ => Err(wrong(value, kind)),
    }
}

/// A quantity that is at least `min` (zero or the least above it) and at most `max`.
fn within<T: FromStr<Err = units::UnitError> + PartialOrd + std::fmt::Display>(
    text: &str,
    min: T,
    max: T,
) -> Result<T, String> {
    let quantity: T = text.parse().map_err(|error: units::UnitError| error.to_string())?;
    if quantity < min {
        return Err(format!("{} must be more than zero", quote(text)));
    }
    if quantity > max {
        return Err(format!("{} is too large; {max} is the most", quote(text)));
    }
    Ok(quantity)
}

/// `"22.5 m"` or `"1.2 km"`.
fn metres(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match (trimmed.strip_suffix("km"), trimmed.strip_suffix('m')) {
        (Some(number), _) => (number, 1000.0),
        (None, Some(number)) => (number, 1.0),
        (None, None) => return Err(format!("{}: the unit is none of m, km; write it like \"22.5 m\"", quote(text))),
    };
    let Ok(number) = number.trim().parse::<f64>() else {
        return Err(format!("{} does not start with a number; write it like \"22.5 m\"", quote(text)));
    };
    let metres = number * scale;
    if metres.is_nan() || metres <= 0.0 {
        return Err(format!("{} must be more than zero", quote(text)));
    }
    if metres > FARTHEST {
        return Err(format!("{} is too large; 10000 km is the most", quote(text)));
    }
    Ok(metres)
}

/// Texts that go into reports and paths.
fn name(kind: Kind, text: &str) -> Result<(), String> {
    let most = if matches!(kind, Kind::Name) { 64 } else { 200 };
    if text.trim().is_empty() {
        return Err("empty; give it a name".to_owned());
    }
    if text.chars().count() > most {
        return Err(format!("{} is too long; {most} characters are the most", quote(text)));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("{} contains a control character", quote(text)));
    }
    if matches!(kind, Kind::Name) {
        if text.contains(['.', '[', ']']) {
            return Err(format!("{} contains a dot or bracket, which separate keys in paths", quote(text)));
        }
        if text.contains(['/', '\\']) {
            return Err(format!("{} contains a slash, and files are called by it", quote(text)));
        }
        if text.chars().all(|c| c.is_ascii_digit()) {
            return Err(format!("{} is a number, which in paths means an index", quote(text)));
        }
    }
    Ok(())
}
