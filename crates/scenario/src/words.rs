//! Keys that hold one of a few words.

use crate::at::At;
use crate::item::{About, Item, Mistake};
use crate::{Names, Result};
use plugin::suggest;
use serde_json::json;
use toml::Value;

/// An enumeration that a file spells as words.
pub trait Words: Sized + Copy + PartialEq + 'static {
    /// The noun of the thing that a word names, for messages.
    const NOUN: &'static str;
    /// Each word with its value, in the order of the documentation.
    const WORDS: &'static [(&'static str, Self)];

    /// The word of this value.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

/// The value of a word.
pub(crate) fn find<T: Words>(text: &str) -> Option<T> {
    T::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
}

fn all<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(word, _)| *word).collect()
}

pub(crate) fn read<T: Words>(value: &Value) -> Result<T, Mistake> {
    let text = value.as_str().ok_or(Mistake::Unexpected)?;
    find(text).ok_or_else(|| suggest::no_such(T::NOUN, text, &all(T::WORDS)).into())
}

pub(crate) fn about<T: Words>() -> About {
    let words = all(T::WORDS);
    About::new(suggest::list(&words), json!({ "type": "string", "enum": words }))
}

/// Reads one of `words`, or else what `other` makes of an item.
pub(crate) fn read_or<T: Copy, U: Item>(
    value: &Value,
    words: &[(&'static str, T)],
    within: &U::Within,
    at: &At,
    other: fn(U) -> T,
) -> Result<T, Mistake> {
    let item = || U::read(value, within, at).map(other);
    let Some(text) = value.as_str() else { return item().map_err(|_| Mistake::Unexpected) };
    if let Some((_, word)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*word);
    }
    let all = all(words);
    let near = suggest::nearest(text, &all);
    if !near.is_empty() {
        let message = format!("no such value {}; did you mean {}?", suggest::quote(text), suggest::list(&near));
        return Err(message.into());
    }
    // What starts like a number was meant as one: its own error says more.
    let is_number = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if is_number { Ok(item()?) } else { Err(Mistake::Unexpected) }
}

pub(crate) fn about_or<T, U: Item>(words: &[(&'static str, T)], within: &U::Within, names: &Names) -> About {
    let other = U::about(within, names);
    let quoted: Vec<String> = all(words).iter().map(|word| suggest::quote(word)).collect();
    let schema = json!({ "anyOf": [{ "type": "string", "enum": all(words) }, other.schema] });
    About::new(format!("{} or {}", quoted.join(", "), other.expected), schema)
}
