//! The value of a key: how it is read, written and described.

use crate::at::At;
use crate::shape::Shape;
use crate::{InputError, Names, Result};
use core::any::Any;
use plugin::suggest::quote;
use serde_json::Value as Json;
use toml::Value;

/// A type that a key can hold.
pub trait Item: Sized + Clone + 'static {
    /// The limits that a declaration may set (`in 1..=255`); `()` if none.
    type Within: 'static;
    /// The limits if the declaration sets none.
    const ANY: Self::Within;

    /// Reads the value that stands at `at`.
    fn read(value: &Value, within: &Self::Within, at: &At) -> Result<Self>;

    /// The value as a file spells it; `None` if the key is not to be written.
    fn write(&self, nodes: &[String]) -> Option<Json>;

    /// The values that a key may have.
    fn about(within: &Self::Within, names: &Names) -> About;

    /// The keys of the table that it is, or of each table in the array that it is.
    fn inside(_: &Names) -> Option<Shape> {
        None
    }
}

/// The values that a key may have.
pub struct About {
    /// The text after "expected".
    pub expected: String,
    /// Its JSON Schema.
    pub schema: Json,
}

impl About {
    /// From both.
    pub fn new(expected: impl Into<String>, schema: Json) -> About {
        About { expected: expected.into(), schema }
    }
}

impl<T: Item> Item for Option<T> {
    type Within = T::Within;
    const ANY: T::Within = T::ANY;

    fn read(value: &Value, within: &T::Within, at: &At) -> Result<Option<T>> {
        T::read(value, within, at).map(Some)
    }

    fn write(&self, nodes: &[String]) -> Option<Json> {
        self.as_ref().and_then(|item| item.write(nodes))
    }

    fn about(within: &T::Within, names: &Names) -> About {
        T::about(within, names)
    }

    fn inside(names: &Names) -> Option<Shape> {
        T::inside(names)
    }
}

/// An [`Item`] with its bounds, behind a pointer.
pub trait Codec {
    /// See [`Item::read`].
    fn read(&self, value: &Value, at: &At) -> Result<Box<dyn Any>>;
    /// See [`Item::about`].
    fn about(&self, names: &Names) -> About;
    /// See [`Item::inside`].
    fn inside(&self, _: &Names) -> Option<Shape> {
        None
    }
}

/// The codec of an item within bounds.
pub struct Of<T: Item>(pub T::Within);

impl<T: Item> Codec for Of<T> {
    fn read(&self, value: &Value, at: &At) -> Result<Box<dyn Any>> {
        Ok(Box::new(T::read(value, &self.0, at)?))
    }

    fn about(&self, names: &Names) -> About {
        T::about(&self.0, names)
    }

    fn inside(&self, names: &Names) -> Option<Shape> {
        T::inside(names)
    }
}

/// The value in words, after "got".
pub(crate) fn describe(value: &Value) -> String {
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

pub(crate) fn wrong(expected: impl core::fmt::Display, value: &Value) -> String {
    format!("expected {expected}, got {}", describe(value))
}

/// The reason why a value is not read.
#[derive(Debug)]
pub enum Mistake {
    /// It is not what was expected.
    Unexpected,
    /// This is wrong with it.
    Says(String),
    /// Something in it is wrong.
    Within(InputError),
}

impl From<String> for Mistake {
    fn from(message: String) -> Mistake {
        Mistake::Says(message)
    }
}

impl From<InputError> for Mistake {
    fn from(error: InputError) -> Mistake {
        Mistake::Within(error)
    }
}

impl Mistake {
    /// The mistake at its place, where `about` was expected.
    pub fn at(self, at: &At, value: &Value, about: impl FnOnce() -> About) -> InputError {
        match self {
            Mistake::Unexpected => at.error(wrong(about().expected, value)),
            Mistake::Says(message) => at.error(message),
            Mistake::Within(error) => error,
        }
    }
}
