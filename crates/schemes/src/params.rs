//! Parameters that a scheme declares and a scenario sets.

use units::{Bytes, Dur};

/// One key a scheme accepts in its `[[scheme]]` table.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// The key as the scenario spells it.
    pub key: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is when the scenario is silent.
    pub default: Value,
    /// One sentence.
    pub doc: &'static str,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds, both included.
    Int {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A number within bounds, both included.
    Float {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// A time such as `"20 ms"`.
    Time,
    /// A size such as `"1500 B"`.
    Size,
    /// One of these words.
    Choice(&'static [&'static str]),
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
    /// Of [`Kind::Choice`].
    Choice(&'static str),
}

/// The values of all parameters of one scheme: what the scenario set, and defaults.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: Vec<(&'static str, Value)>,
}

impl Params {
    /// The defaults of `declared`.
    pub fn defaults(declared: &[Param]) -> Params {
        Params { values: declared.iter().map(|p| (p.key, p.default)).collect() }
    }

    /// Sets a declared parameter. The scenario's reader has checked key and kind.
    pub fn set(&mut self, key: &str, value: Value) {
        if let Some(entry) = self.values.iter_mut().find(|(k, _)| *k == key) {
            entry.1 = value;
        }
    }

    /// All of them in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.values.iter().copied()
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the scheme reads a key it did not declare: a mistake in the scheme's file, found by its first test.
    pub fn get(&self, key: &str) -> Value {
        let found = self.values.iter().find(|(k, _)| *k == key);
        found.map(|(_, v)| *v).unwrap_or_else(|| panic!("the scheme declares no parameter \"{key}\""))
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
}
