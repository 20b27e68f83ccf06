//! How a key is described. The descriptions themselves are in `keys.rs`.

use plugin::suggest;
use schemes::Param;
use toml::Value;

/// One key of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// One sentence, for the schema.
    pub doc: &'static str,
}

/// What happens when a key is not written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Need {
    /// An error.
    Required,
    /// It is this value.
    Default(Preset),
    /// It is absent; the words say what that means.
    Optional(&'static str),
}

/// A default, as the file would spell it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Preset {
    Text(&'static str),
    Int(i64),
    Num(f64),
    Bool(bool),
    /// One TOML value: `{ model = "none" }`.
    Toml(&'static str),
}

impl Preset {
    pub fn value(self) -> Value {
        match self {
            Preset::Text(text) => Value::String(text.to_owned()),
            Preset::Int(int) => Value::Integer(int),
            Preset::Num(num) => Value::Float(num),
            Preset::Bool(on) => Value::Boolean(on),
            Preset::Toml(text) => text.parse().expect("defaults in keys.rs are TOML; the schema's test parses each"),
        }
    }
}

/// Lists that the caller hands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    Congestion,
    Receivers,
    Schemes,
}

impl Registry {
    pub fn noun(self) -> &'static str {
        match self {
            Registry::Congestion => "congestion control",
            Registry::Receivers => "receiver",
            Registry::Schemes => "scheme",
        }
    }
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Any text of one line, not empty.
    Text,
    /// A name that a path can hold: no dots, not only digits.
    Name,
    /// The name of a node, resolved later.
    NodeRef,
    /// One of these words.
    Word {
        noun: &'static str,
        words: &'static [&'static str],
    },
    /// One of the registered names.
    Registered(Registry),
    Bool,
    Int {
        min: i64,
        max: i64,
    },
    Num {
        min: f64,
        max: f64,
    },
    /// `"20 ms"`; at least as many nanoseconds.
    Time {
        min_ns: u64,
    },
    /// `"11 Mb/s"`, more than zero.
    Rate,
    /// `"1500 B"`.
    Size {
        min: u64,
        max: u64,
    },
    /// `"-70 dB"`.
    Gain,
    /// `"16 dBm"`.
    Level,
    /// `"5.18 GHz"`, more than zero.
    Frequency,
    /// `"22.5 m"`, more than zero.
    Length,
    /// One of these words, or else the other kind.
    WordOr(&'static [&'static str], &'static Kind),
    /// A time when written as text, otherwise a number: which of both a neighbour decides.
    TimeOrNum,
    /// `[a, b]`.
    List {
        of: &'static Kind,
        min: usize,
        max: usize,
    },
    /// `[name]`, or inline.
    Table(&'static Table),
    /// A table whose keys depend on one word in it.
    Tagged(&'static Tagged),
    /// `[[name]]`.
    Entries {
        of: &'static Table,
        min: usize,
    },
}

/// A table's keys.
#[derive(Debug)]
pub(super) struct Table {
    pub keys: &'static [Key],
    /// Keys of the design that this version does not simulate, and what to say.
    pub later: &'static [(&'static str, &'static str)],
    /// The key that names a scheme, whose own parameters are keys here too.
    pub scheme: Option<&'static str>,
    /// Exactly one of the keys is written.
    pub one_of: bool,
}

/// A table whose keys depend on one word in it.
#[derive(Debug)]
pub(super) struct Tagged {
    /// `model`, `protocol`.
    pub tag: &'static str,
    /// What the word names.
    pub noun: &'static str,
    /// The word when none is written.
    pub default: Option<&'static str>,
    pub variants: &'static [Variant],
}

/// The keys that go with one word.
#[derive(Debug)]
pub(super) struct Variant {
    pub word: &'static str,
    pub doc: &'static str,
    pub keys: &'static [Key],
}

/// The most entries of any array of tables.
pub(super) const MOST_ENTRIES: usize = 65_000;

impl Kind {
    /// What a scheme's own parameter may be.
    pub fn of_param(param: &Param) -> Kind {
        match param.kind {
            schemes::Kind::Bool => Kind::Bool,
            schemes::Kind::Int { min, max } => Kind::Int { min, max },
            schemes::Kind::Float { min, max } => Kind::Num { min, max },
            schemes::Kind::Time { min, .. } => Kind::Time { min_ns: min.ns() },
            schemes::Kind::Size { min, max } => Kind::Size { min: min.0, max: max.0 },
            schemes::Kind::Power { .. } => Kind::Level,
            schemes::Kind::Choice(words) => Kind::Word { noun: param.key, words },
        }
    }

    /// What to write, after "expected".
    pub fn expected(self) -> String {
        match self {
            Kind::Text => "a string".to_owned(),
            Kind::Name => "a name such as \"laptop\"".to_owned(),
            Kind::NodeRef => "the name of a node".to_owned(),
            Kind::Word { words, .. } => suggest::list(words),
            Kind::Registered(registry) => format!("the name of a {}", registry.noun()),
            Kind::Bool => "true or false".to_owned(),
            Kind::Int { min, max: i64::MAX } => format!("a whole number of at least {min}"),
            Kind::Int { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Num { min: 0.0, max: 1.0 } => "a probability from 0 to 1".to_owned(),
            Kind::Num { min, max } if max >= f64::MAX => format!("a number of at least {min}"),
            Kind::Num { min, max } => format!("a number from {min} to {max}"),
            Kind::Time { .. } => "a string such as \"20 ms\"".to_owned(),
            Kind::Rate => "a string such as \"11 Mb/s\"".to_owned(),
            Kind::Size { .. } => "a string such as \"1500 B\"".to_owned(),
            Kind::Gain => "a string such as \"-70 dB\"".to_owned(),
            Kind::Level => "a string such as \"16 dBm\"".to_owned(),
            Kind::Frequency => "a string such as \"5.18 GHz\"".to_owned(),
            Kind::Length => "a string such as \"22.5 m\"".to_owned(),
            Kind::WordOr(words, kind) => {
                let words: Vec<String> = words.iter().map(|w| suggest::quote(w)).collect();
                format!("{} or {}", words.join(", "), kind.expected())
            }
            Kind::TimeOrNum => "a string such as \"20 ms\", or a number of frames".to_owned(),
            Kind::List { of: Kind::NodeRef, min: 2, .. } => "two names of nodes such as [\"a\", \"b\"]".to_owned(),
            Kind::List { of: Kind::NodeRef, .. } => "names of nodes such as [\"a\", \"b\"]".to_owned(),
            Kind::List { .. } => "two numbers such as [0, 22.5]".to_owned(),
            Kind::Table(_) | Kind::Tagged(_) => "a table".to_owned(),
            Kind::Entries { .. } => "an array of tables".to_owned(),
        }
    }
}
