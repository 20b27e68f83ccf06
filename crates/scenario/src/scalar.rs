//! Single values: numbers, quantities, texts, names of nodes, and the parameters of plug-ins.

use crate::at::At;
use crate::directory::{self, Group};
use crate::item::{About, Codec, Item, wrong};
use crate::{Names, Result};
use core::any::Any;
use core::fmt::{self, Display};
use core::ops::RangeInclusive;
use core::str::FromStr;
use plugin::suggest::{self, quote};
use plugin::{Kind, Param, Value as ParamValue};
use serde_json::{Value as Json, json};
use toml::Value;
use units::{BitRate, Bytes, Db, Dbm, Dur, Hertz, NodeId};

/// The value if it is there, otherwise what was expected and what is there.
pub(crate) fn or_wrong<T>(found: Option<T>, about: impl FnOnce() -> About, value: &Value) -> Result<T, String> {
    found.ok_or_else(|| wrong(about().expected, value))
}

fn about_bool() -> About {
    About::new("true or false", json!({ "type": "boolean" }))
}

scalar! {
    bool, (), (), |value, (), _| or_wrong(value.as_bool(), about_bool, value), |it, _| Some(json!(it)),
    |(), _| about_bool()
}

/// TOML has whole numbers of 64 bits with a sign: `i64::MAX` bounds nothing.
fn about_whole(min: i64, max: i64) -> About {
    if max == i64::MAX {
        return About::new(format!("a whole number of at least {min}"), json!({ "type": "integer", "minimum": min }));
    }
    let schema = json!({ "type": "integer", "minimum": min, "maximum": max });
    About::new(format!("a whole number from {min} to {max}"), schema)
}

fn whole(value: &Value, (min, max): (i64, i64)) -> Result<i64, String> {
    let found = value.as_integer().filter(|int| (min..=max).contains(int));
    or_wrong(found, || about_whole(min, max), value)
}

/// Bounds as TOML knows them.
fn bounds<T: Copy + TryInto<i64>>(within: &RangeInclusive<T>) -> (i64, i64) {
    let bound = |n: &T| (*n).try_into().unwrap_or(i64::MAX);
    (bound(within.start()), bound(within.end()))
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        scalar! {
            $type, RangeInclusive<$type>, RangeInclusive::new(<$type>::MIN, <$type>::MAX),
            |value, within, _| Ok(<$type>::try_from(whole(value, bounds(within))?).unwrap_or_default()),
            |it, _| Some(json!(it)), |within, _| { let (min, max) = bounds(within); about_whole(min, max) }
        }
    )*};
}

whole! { u8 u16 u32 u64 }

fn about_number(within: &RangeInclusive<f64>) -> About {
    let (min, max) = (*within.start(), *within.end());
    let expected = match (min, max) {
        (0.0, 1.0) => "a probability from 0 to 1".to_owned(),
        (_, f64::MAX) => format!("a number of at least {min}"),
        _ => format!("a number from {min} to {max}"),
    };
    About::new(expected, json!({ "type": "number", "minimum": min, "maximum": max }))
}

fn number(value: &Value, within: &RangeInclusive<f64>) -> Result<f64, String> {
    let number = value.as_float().or(value.as_integer().map(|int| int as f64));
    or_wrong(number.filter(|num| within.contains(num)), || about_number(within), value)
}

scalar! {
    f64, RangeInclusive<f64>, RangeInclusive::new(f64::MIN, f64::MAX),
    |value, within, _| number(value, within), |it, _| Some(json!(it)), |within, _| about_number(within)
}

/// A number with a unit; displayed as a file spells it.
trait Quantity: FromStr<Err: Display> + Display + PartialOrd + Copy {
    /// Its units, as alternatives of a regular expression, and one spelling.
    const SPELLING: (&'static str, &'static str);
    /// Whether it counts something: then there is no less than none of it.
    const COUNTS: bool;

    /// What to say of one beyond its bounds.
    fn beyond(self, within: &RangeInclusive<Self>, text: &str) -> String {
        match self > *within.end() {
            _ if !Self::COUNTS => format!("{} is out of range", quote(text)),
            true => format!("{} is too large; {} is the most", quote(text), within.end()),
            false => format!("{} must be more than zero", quote(text)),
        }
    }
}

fn about_quantity<T: Quantity>() -> About {
    let (units, example) = T::SPELLING;
    let pattern = format!("^\\s*[-+.0-9eE_]+\\s*({units})\\s*$");
    let schema = json!({ "type": "string", "pattern": pattern, "examples": [example] });
    About::new(format!("a string such as \"{example}\""), schema)
}

/// The quantity that stands in `value`, and its text. What is longer is no quantity, and no message repeats it.
fn quantity<T: Quantity>(value: &Value) -> Result<(T, &str), String> {
    let text = or_wrong(value.as_str().filter(|text| text.len() <= 60), about_quantity::<T>, value)?;
    Ok((text.parse().map_err(|error: T::Err| error.to_string())?, text))
}

macro_rules! quantity {
    ($type:ty, $counts:literal, $units:literal, $example:literal, $min:expr, $max:expr) => {
        impl Quantity for $type {
            const SPELLING: (&'static str, &'static str) = ($units, $example);
            const COUNTS: bool = $counts;
        }

        scalar! {
            $type, RangeInclusive<$type>, RangeInclusive::new($min, $max),
            |value, within, _| {
                let (quantity, text) = quantity::<$type>(value)?;
                if within.contains(&quantity) { Ok(quantity) } else { Err(quantity.beyond(within, text)) }
            },
            |it, _| Some(json!(it.to_string())), |_, _| about_quantity::<$type>()
        }
    };
}

/// The longest time anything may take: 10⁶ s.
pub const LONGEST: Dur = Dur::from_secs(1_000_000);
const LARGEST: Bytes = Bytes(1_000_000_000_000);
const FASTEST: BitRate = BitRate::from_bps(1_000_000_000_000);
/// Half way round the earth is 2·10⁷ m.
const FARTHEST: Metres = Metres(1e7);

quantity! { Dur, true, "ns|us|µs|μs|ms|s|min", "20 ms", Dur::ZERO, LONGEST }
quantity! { Bytes, true, "B|kB|KB|MB|GB", "1500 B", Bytes::ZERO, LARGEST }
quantity! { BitRate, true, "b/s|kb/s|Mb/s|Gb/s|bit/s|kbit/s|Mbit/s", "11 Mb/s", BitRate::from_bps(1), FASTEST }
quantity! { Db, false, "dB", "-70 dB", Db(-1e3), Db(1e3) }
quantity! { Dbm, false, "dBm", "16 dBm", Dbm(-1e3), Dbm(1e3) }
quantity! { Hertz, false, "Hz|kHz|MHz|GHz", "5.18 GHz", Hertz(f64::MIN_POSITIVE), Hertz(1e12) }
quantity! { Metres, true, "m|km", "22.5 m", Metres(f64::MIN_POSITIVE), FARTHEST }

/// A length in metres.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

impl fmt::Display for Metres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The farthest is told in kilometres; everything else in the unit of the layers.
        if *self == FARTHEST { write!(f, "{} km", self.0 / 1e3) } else { write!(f, "{} m", self.0) }
    }
}

impl FromStr for Metres {
    type Err = String;

    fn from_str(text: &str) -> Result<Metres, String> {
        let like = "write it like \"22.5 m\"";
        let no_unit = || format!("{}: the unit is none of m, km; {like}", quote(text));
        let trimmed = text.trim();
        let in_km = trimmed.strip_suffix("km").map(|number| (number, 1e3));
        let (number, scale) = in_km.or(trimmed.strip_suffix('m').map(|number| (number, 1.0))).ok_or_else(no_unit)?;
        let number: Result<f64, _> = number.trim().parse();
        number
            .map(|number| Metres(number * scale))
            .map_err(|_| format!("{} does not start with a number; {like}", quote(text)))
    }
}

/// What a text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// One line, not empty.
    Line,
    /// What a path can hold and a file can be called by.
    Name,
}

impl Text {
    const fn most(self) -> usize {
        if let Text::Name = self { 64 } else { 200 }
    }

    fn about(&self) -> About {
        let mut schema = json!({ "type": "string", "minLength": 1, "maxLength": self.most() });
        if *self == Text::Line {
            return About::new("a string", schema);
        }
        schema["pattern"] = json!("^(?![0-9]+$)[^.\\[\\]]+$");
        About::new("a name such as \"laptop\"", schema)
    }

    fn read(self, value: &Value) -> Result<String, String> {
        let text = or_wrong(value.as_str(), || self.about(), value)?;
        let (is_name, quoted) = (self == Text::Name, quote(text));
        if text.trim().is_empty() {
            Err("empty; give it a name".to_owned())
        } else if text.chars().count() > self.most() {
            Err(format!("{quoted} is too long; {} characters are the most", self.most()))
        } else if text.chars().any(char::is_control) {
            Err(format!("{quoted} contains a control character"))
        } else if is_name && text.contains(['.', '[', ']']) {
            Err(format!("{quoted} contains a dot or bracket, which separate keys in paths"))
        } else if is_name && text.contains(['/', '\\']) {
            Err(format!("{quoted} contains a slash, and files are called by it"))
        } else if is_name && text.chars().all(|c| c.is_ascii_digit()) {
            Err(format!("{quoted} is a number, which in paths means an index"))
        } else {
            Ok(text.to_owned())
        }
    }
}

scalar! {
    String, Text, Text::Line, |value, within, _| within.read(value),
    // An empty text is one that nobody wrote.
    |it, _| (!it.is_empty()).then(|| json!(it)), |within, _| within.about()
}

/// The text that names a node.
pub(crate) fn name(value: &Value) -> Result<&str, String> {
    or_wrong(value.as_str(), about_name, value)
}

fn about_name() -> About {
    About::new("the name of a node", json!({ "type": "string" }))
}

fn name_of(node: NodeId, nodes: &[String]) -> &str {
    nodes.get(node.index()).map_or("", String::as_str)
}

scalar! {
    NodeId, (), (), |value, (), at| name(value).map(|name| directory::node(name, at)),
    |it, nodes| Some(json!(name_of(*it, nodes))), |(), _| about_name()
}
scalar! {
    Group, (), (), |value, (), at| name(value).map(|name| directory::group(name, at)),
    |it, _| Some(json!(it.name)), |(), _| about_name()
}

/// The array that stands in `value`, if it is as long as it may be.
fn array<'v>(
    value: &'v Value,
    within: &RangeInclusive<usize>,
    about: impl FnOnce() -> About,
) -> Result<&'v [Value], String> {
    match value.as_array() {
        Some(entries) if !within.contains(&entries.len()) => {
            Err(format!("expected {}, got an array of {}", about().expected, entries.len()))
        }
        entries => or_wrong(entries.map(Vec::as_slice), about, value),
    }
}

/// An array of names of nodes. The bounds are those of its length.
impl Item for Vec<NodeId> {
    type Within = RangeInclusive<usize>;
    const ANY: Self::Within = RangeInclusive::new(1, crate::shape::MOST_ENTRIES);

    fn read(value: &Value, within: &Self::Within, at: &At) -> Result<Vec<NodeId>> {
        let entries =
            array(value, within, || Self::about(within, at.cx.names)).map_err(|message| at.error(message))?;
        directory::list(entries, at)
    }

    fn write(&self, nodes: &[String]) -> Option<Json> {
        Some(self.iter().map(|node| name_of(*node, nodes)).collect())
    }

    fn about(within: &Self::Within, _: &Names) -> About {
        let (two, items) = (if *within == (2..=2) { "two " } else { "" }, json!({ "type": "string" }));
        let schema = json!({ "type": "array", "items": items, "minItems": within.start(), "maxItems": within.end() });
        About::new(format!("{two}names of nodes such as [\"a\", \"b\"]"), schema)
    }
}

/// A position: east and north of the origin, in metres. The bounds are those of both numbers.
impl Item for [f64; 2] {
    type Within = RangeInclusive<f64>;
    const ANY: Self::Within = RangeInclusive::new(-1e7, 1e7);

    fn read(value: &Value, within: &Self::Within, at: &At) -> Result<[f64; 2]> {
        let about = || Self::about(within, at.cx.names);
        let entries = array(value, &(2..=2), about).map_err(|message| at.error(message))?;
        Ok([f64::read(&entries[0], within, &at.index(0))?, f64::read(&entries[1], within, &at.index(1))?])
    }

    fn write(&self, _: &[String]) -> Option<Json> {
        Some(json!(self))
    }

    fn about(within: &Self::Within, _: &Names) -> About {
        let items = about_number(within).schema;
        let schema = json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 });
        About::new("two numbers such as [0, 22.5]", schema)
    }
}

/// A parameter with bounds that a message can name.
fn bounded<T: Quantity>(value: &Value, what: &str, min: T, max: T) -> Result<T, String> {
    let (quantity, _) = quantity::<T>(value)?;
    let is_within = (min..=max).contains(&quantity);
    if is_within { Ok(quantity) } else { Err(wrong(format!("{what} {}", from_to(min, max)), value)) }
}

fn from_to<T: Quantity>(min: T, max: T) -> String {
    format!("from {min} to {max}")
}

/// As the file spells a parameter's value.
pub(crate) fn spell(value: ParamValue) -> Json {
    match value {
        ParamValue::Bool(on) => json!(on),
        ParamValue::Int(int) => json!(int),
        ParamValue::Float(num) => json!(num),
        ParamValue::Time(dur) => json!(dur.to_string()),
        ParamValue::Size(bytes) => json!(bytes.to_string()),
        ParamValue::Power(level) => json!(level.to_string()),
        ParamValue::Choice(word) => json!(word),
    }
}

fn parameter(param: &Param, value: &Value) -> Result<ParamValue, String> {
    Ok(match param.kind {
        Kind::Bool => ParamValue::Bool(or_wrong(value.as_bool(), about_bool, value)?),
        Kind::Int { min, max } => ParamValue::Int(whole(value, (min, max))?),
        Kind::Float { min, max } => ParamValue::Float(number(value, &(min..=max))?),
        Kind::Time { min, max } => ParamValue::Time(bounded(value, "a time", min, max)?),
        Kind::Size { min, max } => ParamValue::Size(bounded(value, "a size", min, max)?),
        Kind::Power { min, max } => ParamValue::Power(bounded(value, "a power", min, max)?),
        Kind::Choice(words) => {
            let text = value.as_str().ok_or_else(|| wrong(suggest::list(words), value))?;
            let word = words.iter().find(|word| **word == text);
            ParamValue::Choice(word.ok_or_else(|| suggest::no_such(param.key, text, words))?)
        }
    })
}

/// A parameter is read as a [`plugin::Value`]. It describes itself: its bounds are part of the description.
impl Codec for Param {
    fn read(&self, value: &Value, at: &At) -> Result<Box<dyn Any>> {
        Ok(Box::new(parameter(self, value).map_err(|message| at.error(message))?))
    }

    fn about(&self, _: &Names) -> About {
        let (mut about, bounds) = match self.kind {
            Kind::Bool => (about_bool(), None),
            Kind::Int { min, max } => (about_whole(min, max), None),
            Kind::Float { min, max } => (about_number(&(min..=max)), None),
            Kind::Time { min, max } => (about_quantity::<Dur>(), Some(from_to(min, max))),
            Kind::Size { min, max } => (about_quantity::<Bytes>(), Some(from_to(min, max))),
            Kind::Power { min, max } => (about_quantity::<Dbm>(), Some(from_to(min, max))),
            Kind::Choice(words) => (About::new("", json!({ "type": "string", "enum": words })), None),
        };
        let with_bounds = |bounds| format!("{}; {bounds}", self.doc.trim_end_matches('.'));
        about.schema["description"] = json!(bounds.map_or_else(|| self.doc.to_owned(), with_bounds));
        about.schema["default"] = spell(self.default);
        about
    }
}
