//! The one way in which an input is wrong.

use plugin::suggest;

/// A mistake in a scenario, and its place: always one line. Further mistakes are in `more`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct InputError {
    /// The key as the file spells it (`flow[1].transport.congestion`), an override's path, or `line 3, column 7`.
    pub path: String,
    /// The mistake, and the values that would do.
    pub message: String,
    /// The other mistakes that were found at the same time, in the order of the file; these have no `more` of their own.
    pub more: Vec<InputError>,
}

/// The outcome of reading.
pub type Result<T, E = InputError> = core::result::Result<T, E>;

impl InputError {
    /// One mistake. Both texts are made one line each.
    pub fn new(path: impl ToString, message: impl ToString) -> InputError {
        let [path, message] = [path.to_string(), message.to_string()].map(|text| suggest::one_line(&text));
        InputError { path, message, more: Vec::new() }
    }

    /// All mistakes, this one first.
    pub fn all(&self) -> impl Iterator<Item = &InputError> {
        core::iter::once(self).chain(&self.more)
    }
}

/// The mistake that the TOML parser found.
pub(crate) fn syntax(text: &str, error: &toml::de::Error) -> InputError {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
    // Characters, not bytes: every byte that does not continue a UTF-8 sequence starts one.
    let column = before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
    InputError::new(format!("line {line}, column {column}"), error.message().trim())
}

/// The most mistakes of one file that are told at once.
const MOST: usize = 100;

/// Mistakes as they are found: a part of the file that is wrong does not end the search.
#[derive(Debug, Default)]
pub struct Mistakes {
    found: Vec<InputError>,
}

impl Mistakes {
    /// Notes a mistake, with those that it brings. None is noted twice: a table tells that of a key in it once more.
    pub fn note(&mut self, mut error: InputError) {
        let more = core::mem::take(&mut error.more);
        for one in core::iter::once(error).chain(more) {
            if !self.is_full() && !self.found.contains(&one) {
                self.found.push(one);
            }
        }
    }

    /// The value found, unless it is a mistake, which is noted.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.note(error)).ok()
    }

    /// True if no further one is noted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MOST
    }

    /// True if a mistake is in one of these tables.
    pub(crate) fn is_in(&self, tables: &[&str]) -> bool {
        let table_of = |error: &InputError| error.path.split(['.', '[']).next().unwrap_or_default().to_owned();
        self.found.iter().any(|error| tables.contains(&&*table_of(error)))
    }

    /// All of them as one error.
    ///
    /// # Errors
    /// If there is a mistake: the first one, with the others in it.
    pub fn into_result(self) -> Result<()> {
        let mut found = self.found.into_iter();
        match found.next() {
            None => Ok(()),
            Some(first) => Err(InputError { more: found.collect(), ..first }),
        }
    }
}
