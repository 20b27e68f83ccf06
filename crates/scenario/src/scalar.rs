//! Single values: numbers, quantities, texts, names of nodes, and the parameters of plug-ins.

use crate::aggregation::CategoryName;
use crate::at::At;
use crate::group::{self, Group};
use crate::item::{About, Codec, Mistake, wrong};
use crate::shape::MOST_ENTRIES;
use crate::words::Words;
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

fn about_bool() -> About {
    About::new("true or false", json!({ "type": "boolean" }))
}

scalar! { bool, (), (), |value, (), _| value.as_bool().ok_or(Mistake::Unexpected), |(), _| about_bool() }

fn whole<T: TryFrom<i64> + PartialOrd>(value: &Value, within: &RangeInclusive<T>) -> Result<T, Mistake> {
    let number = value.as_integer().and_then(|int| T::try_from(int).ok());
    number.filter(|number| within.contains(number)).ok_or(Mistake::Unexpected)
}

/// TOML has whole numbers of 64 bits with a sign: `i64::MAX` bounds nothing.
fn about_whole<T: Copy + TryInto<i64>>(within: &RangeInclusive<T>) -> About {
    let [min, max] = [within.start(), within.end()].map(|n| (*n).try_into().unwrap_or(i64::MAX));
    if max == i64::MAX {
        return About::new(format!("a whole number of at least {min}"), json!({ "type": "integer", "minimum": min }));
    }
    let schema = json!({ "type": "integer", "minimum": min, "maximum": max });
    About::new(format!("a whole number from {min} to {max}"), schema)
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        scalar! {
            $type, RangeInclusive<$type>, RangeInclusive::new(<$type>::MIN, <$type>::MAX),
            |value, within, _| whole(value, within), |within, _| about_whole(within)
        }
    )*};
}

whole! { u8 u16 u32 u64 }

fn number(value: &Value, within: &RangeInclusive<f64>) -> Result<f64, Mistake> {
    let number = value.as_float().or(value.as_integer().map(|int| int as f64));
    number.filter(|number| within.contains(number)).ok_or(Mistake::Unexpected)
}

fn about_number(within: &RangeInclusive<f64>) -> About {
    let (min, max) = (*within.start(), *within.end());
    let expected = match (min, max) {
        (0.0, 1.0) => "a probability from 0 to 1".to_owned(),
        (_, f64::MAX) => format!("a number of at least {min}"),
        _ => format!("a number from {min} to {max}"),
    };
    About::new(expected, json!({ "type": "number", "minimum": min, "maximum": max }))
}

scalar! {
    f64, RangeInclusive<f64>, RangeInclusive::new(f64::MIN, f64::MAX),
    |value, within, _| number(value, within), |within, _| about_number(within)
}

/// A number with a unit; displayed as a file spells it.
trait Quantity: FromStr<Err: Display> + Display + PartialOrd + Copy {
    /// Its units, as alternatives of a regular expression, and one spelling.
    const SPELLING: (&'static str, &'static str);
    /// True of an amount: there is no less than none of it.
    const IS_AMOUNT: bool;
}

/// The quantity that stands in `value`, and its text. What is longer is no quantity, and no message repeats it.
fn quantity<T: Quantity>(value: &Value) -> Result<(T, &str), Mistake> {
    let text = value.as_str().filter(|text| text.len() <= 60).ok_or(Mistake::Unexpected)?;
    Ok((text.parse().map_err(|error: T::Err| error.to_string())?, text))
}

fn quantity_within<T: Quantity>(value: &Value, within: &RangeInclusive<T>) -> Result<T, Mistake> {
    let (quantity, text) = quantity::<T>(value)?;
    if within.contains(&quantity) {
        return Ok(quantity);
    }
    Err(Mistake::Says(match quantity > *within.end() {
        _ if !T::IS_AMOUNT => format!("{} is out of range", quote(text)),
        true => format!("{} is too large; {} is the most", quote(text), within.end()),
        false => format!("{} must be more than zero", quote(text)),
    }))
}

fn about_quantity<T: Quantity>() -> About {
    let (units, example) = T::SPELLING;
    let pattern = format!("^\\s*[-+.0-9eE_]+\\s*({units})\\s*$");
    let schema = json!({ "type": "string", "pattern": pattern, "examples": [example] });
    About::new(format!("a string such as \"{example}\""), schema)
}

macro_rules! quantity {
    ($type:ty, $is_amount:literal, $units:literal, $example:literal, $min:expr, $max:expr) => {
        impl Quantity for $type {
            const SPELLING: (&'static str, &'static str) = ($units, $example);
            const IS_AMOUNT: bool = $is_amount;
        }

        scalar! {
            $type, RangeInclusive<$type>, RangeInclusive::new($min, $max),
            |value, within, _| quantity_within(value, within), |_, _| about_quantity::<$type>(),
            |it, _| Some(json!(it.to_string()))
        }
    };
}

/// The longest time anything may take: 10⁶ s.
pub const LONGEST: Dur = Dur::from_secs(1_000_000);
const LARGEST: Bytes = Bytes(1_000_000_000_000);
const FASTEST: BitRate = BitRate::from_bps(1_000_000_000_000);

/// A time that is not nothing.
pub(crate) const SOME_TIME: RangeInclusive<Dur> = RangeInclusive::new(Dur::from_ns(1), LONGEST);
/// A size that is not nothing.
pub(crate) const SOME_BYTES: RangeInclusive<Bytes> = RangeInclusive::new(Bytes(1), LARGEST);
pub(crate) const PROBABILITY: RangeInclusive<f64> = RangeInclusive::new(0.0, 1.0);

/// Half way round the earth is 2·10⁷ m.
const FARTHEST: Metres = Metres(1e7);

quantity! { Dur, true, "ns|us|µs|μs|ms|s|min", "20 ms", Dur::ZERO, LONGEST }
quantity! { Bytes, true, "B|kB|KB|MB|GB", "1500 B", Bytes::ZERO, LARGEST }
quantity! { BitRate, true, "b/s|kb/s|Mb/s|Gb/s|bit/s|kbit/s|Mbit/s", "11 Mb/s", BitRate::from_bps(1), FASTEST }
quantity! { Db, false, "dB", "6 dB", Db(-1e3), Db(1e3) }
quantity! { Dbm, false, "dBm", "16 dBm", Dbm(-1e3), Dbm(1e3) }
quantity! { Hertz, false, "Hz|kHz|MHz|GHz", "5.18 GHz", Hertz(f64::MIN_POSITIVE), Hertz(1e12) }
quantity! { Metres, true, "m|km", "22.5 m", Metres(f64::MIN_POSITIVE), FARTHEST }

quantity! { MetresPerSecond, true, "m/s|km/h", "1.5 m/s", MetresPerSecond(f64::MIN_POSITIVE), MetresPerSecond(motion::trace::FASTEST) }

/// A speed in metres a second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MetresPerSecond(pub f64);

impl fmt::Display for MetresPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m/s", self.0)
    }
}

impl FromStr for MetresPerSecond {
    type Err = String;

    fn from_str(text: &str) -> Result<MetresPerSecond, String> {
        let like = "write it like \"1.5 m/s\"";
        let trimmed = text.trim();
        let in_km_h = trimmed.strip_suffix("km/h").map(|number| (number, 3.6));
        let (number, scale) = in_km_h
            .or(trimmed.strip_suffix("m/s").map(|number| (number, 1.0)))
            .ok_or_else(|| format!("{}: the unit is none of m/s, km/h; {like}", quote(text)))?;
        let number: Result<f64, _> = number.trim().parse();
        number
            .map(|number| MetresPerSecond(number / scale))
            .map_err(|_| format!("{} does not start with a number; {like}", quote(text)))
    }
}

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

/// The texts that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// One line, not empty.
    Line,
    /// A text that a path can hold and that can name a file.
    Name,
}

impl Text {
    const fn most(self) -> usize {
        if let Text::Name = self { 64 } else { 200 }
    }

    fn read(self, value: &Value) -> Result<String, Mistake> {
        let text = value.as_str().ok_or(Mistake::Unexpected)?;
        let is_name = self == Text::Name;
        let wrong = if text.trim().is_empty() {
            return Err("empty; give it a name".to_owned().into());
        } else if text.chars().count() > self.most() {
            &format!("is too long; {} characters are the most", self.most())
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else if is_name && text.contains(['.', '[', ']']) {
            "contains a dot or bracket, which separate keys in paths"
        } else if is_name && text.contains(['/', '\\']) {
            "contains a slash, and files are called by it"
        } else if is_name && text.chars().all(|c| c.is_ascii_digit()) {
            "is a number, which in paths means an index"
        } else {
            return Ok(text.to_owned());
        };
        Err(format!("{} {wrong}", quote(text)).into())
    }

    fn about(self) -> About {
        let mut schema = json!({ "type": "string", "minLength": 1, "maxLength": self.most() });
        if self == Text::Line {
            return About::new("a string", schema);
        }
        schema["pattern"] = json!("^(?![0-9]+$)[^.\\[\\]]+$");
        About::new("a name such as \"laptop\"", schema)
    }
}

scalar! {
    String, Text, Text::Line, |value, within, _| within.read(value), |within, _| within.about(),
    // An empty text is one that nobody wrote.
    |it, _| (!it.is_empty()).then(|| json!(it))
}

fn about_name() -> About {
    About::new("the name of a node", json!({ "type": "string" }))
}

fn name_of(node: NodeId, nodes: &[String]) -> &str {
    nodes.get(node.index()).map_or("", String::as_str)
}

scalar! {
    NodeId, (), (), |value, (), at| Ok(group::node(value.as_str().ok_or(Mistake::Unexpected)?, at)),
    |(), _| about_name(), |it, nodes| Some(json!(name_of(*it, nodes)))
}
scalar! {
    Group, (), (), |value, (), at| group::one_or_list(value, at),
    |(), _| {
        let About { expected, schema } = about_name();
        let several = array_schema(schema.clone(), 1, MOST_ENTRIES);
        About::new(expected, json!({ "anyOf": [schema, several] }))
    },
    // Groups are written as their nodes: those have entries of their own then.
    |it, nodes| Some(if it.has_count { it.nodes.iter().map(|node| name_of(*node, nodes)).collect() } else { json!(it.name) })
}

/// The array that stands in `value`, if it is as long as it may be.
fn array<'v>(value: &'v Value, within: &RangeInclusive<usize>, expected: &str) -> Result<&'v [Value], Mistake> {
    let entries = value.as_array().ok_or(Mistake::Unexpected)?;
    if within.contains(&entries.len()) {
        return Ok(entries);
    }
    Err(format!("expected {expected}, got an array of {}", entries.len()).into())
}

fn array_schema(items: Json, min: usize, max: usize) -> Json {
    json!({ "type": "array", "items": items, "minItems": min, "maxItems": max })
}

fn names(within: &RangeInclusive<usize>) -> &'static str {
    if *within == (2..=2) {
        "two names of nodes such as [\"a\", \"b\"]"
    } else {
        "names of nodes such as [\"a\", \"b\"]"
    }
}

const RATES: &str = "bit rates such as [\"1 Mb/s\", \"2 Mb/s\"]";

// An array of bit rates. The bounds are those of its length.
scalar! {
    Vec<BitRate>, RangeInclusive<usize>, RangeInclusive::new(1, MOST_ENTRIES),
    |value, within, at| {
        let entries = array(value, within, RATES)?.iter().enumerate();
        let rates = entries.map(|(i, entry)| BitRate::read(entry, &BitRate::ANY, &at.index(i)));
        Ok(rates.collect::<Result<_>>()?)
    },
    |within, _| {
        About::new(RATES, array_schema(about_quantity::<BitRate>().schema, *within.start(), *within.end()))
    },
    |it, _| Some(it.iter().map(|rate| json!(rate.to_string())).collect())
}

const CATEGORIES: &str = "an array of access categories such as [\"be\", \"vi\"]";

// An array of access categories. The bounds are those of its length.
scalar! {
    Vec<CategoryName>, RangeInclusive<usize>, RangeInclusive::new(0, 4),
    |value, within, at| {
        let entries = array(value, within, CATEGORIES)?.iter().enumerate();
        let names = entries.map(|(i, entry)| CategoryName::read(entry, &CategoryName::ANY, &at.index(i)));
        Ok(names.collect::<Result<_>>()?)
    },
    |within, names| {
        let one = CategoryName::about(&CategoryName::ANY, names).schema;
        About::new(CATEGORIES, array_schema(one, *within.start(), *within.end()))
    },
    |it, _| Some(it.iter().map(|name| json!(Words::word(*name))).collect())
}

// An array of names of nodes. The bounds are those of its length.
scalar! {
    Vec<NodeId>, RangeInclusive<usize>, RangeInclusive::new(1, MOST_ENTRIES),
    |value, within, at| Ok(group::list(array(value, within, names(within))?, at)?),
    |within, _| About::new(names(within), array_schema(json!({ "type": "string" }), *within.start(), *within.end())),
    |it, nodes| Some(it.iter().map(|node| name_of(*node, nodes)).collect())
}

const A_POINT: &str = "two numbers such as [0, 22.5]";

// A position: east and north of the origin, in metres. The bounds are those of both numbers.
scalar! {
    [f64; 2], RangeInclusive<f64>, RangeInclusive::new(-1e7, 1e7),
    |value, within, at| {
        let entries = array(value, &(2..=2), A_POINT)?;
        Ok([f64::read(&entries[0], within, &at.index(0))?, f64::read(&entries[1], within, &at.index(1))?])
    },
    |within, _| About::new(A_POINT, array_schema(about_number(within).schema, 2, 2))
}

/// A parameter with bounds that a message can name.
fn bounded<T: Quantity>(value: &Value, what: &str, min: T, max: T) -> Result<T, Mistake> {
    let (quantity, _) = quantity::<T>(value)?;
    let is_within = (min..=max).contains(&quantity);
    if is_within { Ok(quantity) } else { Err(wrong(format!("{what} from {min} to {max}"), value).into()) }
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
        ParamValue::Unset => Json::Null,
    }
}

fn parameter(param: &Param, value: &Value) -> Result<ParamValue, Mistake> {
    Ok(match param.kind {
        Kind::Bool => ParamValue::Bool(value.as_bool().ok_or(Mistake::Unexpected)?),
        Kind::Int { min, max } => ParamValue::Int(whole(value, &(min..=max))?),
        Kind::Float { min, max } => ParamValue::Float(number(value, &(min..=max))?),
        Kind::Time { min, max } => ParamValue::Time(bounded(value, "a time", min, max)?),
        Kind::Size { min, max } => ParamValue::Size(bounded(value, "a size", min, max)?),
        Kind::Power { min, max } => ParamValue::Power(bounded(value, "a power", min, max)?),
        Kind::Choice(words) => {
            let text = value.as_str().ok_or(Mistake::Unexpected)?;
            let word = words.iter().find(|word| **word == text);
            ParamValue::Choice(word.ok_or_else(|| suggest::no_such(param.key, text, words))?)
        }
    })
}

/// A parameter is read as a [`plugin::Value`]. It describes itself: its bounds are part of the description.
impl Codec for Param {
    fn read(&self, value: &Value, at: &At) -> Result<Box<dyn Any>> {
        let about = || self.about(at.cx.names);
        Ok(Box::new(parameter(self, value).map_err(|mistake| mistake.at(at, value, about))?))
    }

    fn about(&self, _: &Names) -> About {
        let (mut about, bounds) = match self.kind {
            Kind::Bool => (about_bool(), None),
            Kind::Int { min, max } => (about_whole(&(min..=max)), None),
            Kind::Float { min, max } => (about_number(&(min..=max)), None),
            Kind::Time { min, max } => (about_quantity::<Dur>(), Some(format!("from {min} to {max}"))),
            Kind::Size { min, max } => (about_quantity::<Bytes>(), Some(format!("from {min} to {max}"))),
            Kind::Power { min, max } => (about_quantity::<Dbm>(), Some(format!("from {min} to {max}"))),
            Kind::Choice(words) => {
                (About::new(suggest::list(words), json!({ "type": "string", "enum": words })), None)
            }
        };
        let with_bounds = |bounds| format!("{}; {bounds}", self.doc.trim_end_matches('.'));
        about.schema["description"] = json!(bounds.map_or_else(|| self.doc.to_owned(), with_bounds));
        if self.default != ParamValue::Unset {
            about.schema["default"] = spell(self.default);
        }
        about
    }
}
