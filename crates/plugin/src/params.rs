//! Parameters that a plug-in declares and a scenario sets.

use core::any::Any;
use core::fmt;
use units::{Bytes, Dbm, Dur};

/// A key that a plug-in accepts in a scenario.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// The key as the scenario spells it.
    pub key: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// The value when the scenario is silent: of its kind, and within its bounds. [`Value::Unset`]: a scenario must say it.
    pub default: Value,
    /// One sentence.
    pub doc: &'static str,
}

/// The values that a parameter may have. Bounds are included.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A number.
    Float {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// A time such as `"20 ms"`.
    Time {
        /// The shortest.
        min: Dur,
        /// The longest.
        max: Dur,
    },
    /// A size such as `"1500 B"`.
    Size {
        /// The smallest.
        min: Bytes,
        /// The largest.
        max: Bytes,
    },
    /// A power such as `"16 dBm"`.
    Power {
        /// The least.
        min: Dbm,
        /// The greatest.
        max: Dbm,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// True if a parameter of this kind may be `value`.
    pub fn allows(&self, value: Value) -> bool {
        match (self, value) {
            (Kind::Bool, Value::Bool(_)) => true,
            (Kind::Int { min, max }, Value::Int(int)) => (*min..=*max).contains(&int),
            (Kind::Float { min, max }, Value::Float(num)) => (*min..=*max).contains(&num),
            (Kind::Time { min, max }, Value::Time(dur)) => (*min..=*max).contains(&dur),
            (Kind::Size { min, max }, Value::Size(bytes)) => (*min..=*max).contains(&bytes),
            (Kind::Power { min, max }, Value::Power(level)) => (*min..=*max).contains(&level),
            (Kind::Choice(words), Value::Choice(word)) => words.contains(&word),
            _ => false,
        }
    }
}

/// A parameter's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Int`].
    Int(i64),
    /// Of [`Kind::Float`].
    Float(f64),
    /// Of [`Kind::Time`].
    Time(Dur),
    /// Of [`Kind::Size`].
    Size(Bytes),
    /// Of [`Kind::Power`].
    Power(Dbm),
    /// Of [`Kind::Choice`].
    Choice(&'static str),
    /// None: the default of a parameter that a scenario must set.
    Unset,
}

/// As a scenario spells it; nothing for [`Value::Unset`].
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(on) => write!(f, "{on}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x}"),
            Value::Time(dur) => write!(f, "\"{dur}\""),
            Value::Size(bytes) => write!(f, "\"{bytes}\""),
            Value::Power(level) => write!(f, "\"{level}\""),
            Value::Choice(word) => write!(f, "\"{word}\""),
            Value::Unset => Ok(()),
        }
    }
}

/// The context that a program registers a plug-in with; see [`crate::Registry::with_context`].
pub type Context = &'static (dyn Any + Send + Sync);

/// The values of all parameters of one plug-in: what the scenario sets, and defaults.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: Vec<(&'static str, Value)>,
    /// A bit for each value that was set, and is no default.
    given: u64,
    context: Option<Context>,
}

/// Parameters are equal if their values are. Which of them were set is told apart by [`Params::given`]: a preset has values of its
/// own in place of the others.
impl PartialEq for Params {
    fn eq(&self, other: &Params) -> bool {
        self.values == other.values
    }
}

impl Params {
    /// The greatest number of parameters of a plug-in.
    pub const MOST: usize = 64;

    /// The defaults of `declared`.
    pub fn defaults(declared: &[Param]) -> Params {
        Params { values: declared.iter().map(|p| (p.key, p.default)).collect(), given: 0, context: None }
    }

    /// The same parameters for a plug-in that was registered with `context`.
    pub(crate) fn in_context(mut self, context: Option<Context>) -> Params {
        self.context = context;
        self
    }

    /// The context that the plug-in was registered with, if it is a `T`.
    pub fn context<T: Any>(&self) -> Option<&'static T> {
        self.context.and_then(|context| context.downcast_ref())
    }

    /// Returns values that a scenario may set, for tests that take every plug-in of a registry. A parameter without a
    /// default gets its least value, and one more for each such parameter before it.
    pub fn sample(declared: &[Param]) -> Params {
        let mut n = 0;
        let value = |param: &Param| {
            if param.default != Value::Unset {
                return (param.key, param.default);
            }
            n += 1;
            let value = match param.kind {
                Kind::Bool => Value::Bool(true),
                Kind::Int { min, max } => Value::Int((min + n).min(max)),
                Kind::Float { min, max } => Value::Float((min + n as f64).min(max)),
                Kind::Time { min, max } => Value::Time((min + Dur::from_ms(n as u64)).min(max)),
                Kind::Size { min, max } => Value::Size((min + Bytes(n as u64)).min(max)),
                Kind::Power { min, .. } => Value::Power(min),
                Kind::Choice(words) => Value::Choice(words[0]),
            };
            (param.key, value)
        };
        Params { values: declared.iter().map(value).collect(), given: u64::MAX, context: None }
    }

    /// Sets a declared parameter. The scenario's reader has checked key and kind.
    pub fn set(&mut self, key: &str, value: Value) {
        if let Some(place) = self.values.iter().position(|(k, _)| *k == key) {
            self.values[place].1 = value;
            self.given |= 1 << place;
        }
    }

    /// The parameters that were set, in the order of declaration.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.values.iter().enumerate().filter(|(place, _)| self.given >> place & 1 == 1).map(|(_, value)| *value)
    }

    /// Returns these parameters over `others` of the same plug-in: a parameter that was not set here is as it is there.
    pub fn over(&self, others: &Params) -> Params {
        let mut found = others.clone();
        self.given().for_each(|(key, value)| found.set(key, value));
        found.in_context(self.context)
    }

    /// All parameters in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.values.iter().copied()
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the plug-in reads a key that it did not declare: a mistake in the plug-in's file, found by its first test.
    pub fn get(&self, key: &str) -> Value {
        let found = self.values.iter().find(|(k, _)| *k == key);
        found.map(|(_, v)| *v).unwrap_or_else(|| panic!("there is no parameter \"{key}\""))
    }

    /// A word among the declared ones; see [`Params::get`].
    pub fn choice(&self, key: &str) -> &'static str {
        match self.get(key) {
            Value::Choice(word) => word,
            other => panic!("parameter \"{key}\" is {other:?}, not a word"),
        }
    }

    /// A truth value; see [`Params::get`].
    pub fn bool(&self, key: &str) -> bool {
        match self.get(key) {
            Value::Bool(on) => on,
            other => panic!("parameter \"{key}\" is {other:?}, not true or false"),
        }
    }

    /// A time; see [`Params::get`].
    pub fn time(&self, key: &str) -> Dur {
        match self.get(key) {
            Value::Time(dur) => dur,
            other => panic!("parameter \"{key}\" is {other:?}, not a time"),
        }
    }

    /// A whole number; see [`Params::get`].
    pub fn int(&self, key: &str) -> i64 {
        match self.get(key) {
            Value::Int(n) => n,
            other => panic!("parameter \"{key}\" is {other:?}, not a whole number"),
        }
    }

    /// A number; see [`Params::get`].
    pub fn float(&self, key: &str) -> f64 {
        match self.get(key) {
            Value::Float(x) => x,
            other => panic!("parameter \"{key}\" is {other:?}, not a number"),
        }
    }

    /// A size; see [`Params::get`].
    pub fn size(&self, key: &str) -> Bytes {
        match self.get(key) {
            Value::Size(bytes) => bytes,
            other => panic!("parameter \"{key}\" is {other:?}, not a size"),
        }
    }

    /// A power; see [`Params::get`].
    pub fn power(&self, key: &str) -> Dbm {
        match self.get(key) {
            Value::Power(level) => level,
            other => panic!("parameter \"{key}\" is {other:?}, not a power"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: [Param; 2] = [
        Param { key: "a", kind: Kind::Bool, default: Value::Bool(false), doc: "" },
        Param { key: "b", kind: Kind::Int { min: 0, max: 9 }, default: Value::Int(1), doc: "" },
    ];

    #[test]
    fn what_was_set_stands_over_others_even_where_it_is_the_default() {
        let mut others = Params::defaults(&DECLARED);
        others.set("a", Value::Bool(true));
        others.set("b", Value::Int(2));
        let mut mine = Params::defaults(&DECLARED);
        assert_eq!(mine.over(&others), others);
        mine.set("b", Value::Int(1));
        mine.set("c", Value::Int(3));
        assert_eq!(mine.given().collect::<Vec<_>>(), [("b", Value::Int(1))]);
        let both = mine.over(&others);
        assert_eq!((both.bool("a"), both.int("b")), (true, 1));
    }
}
