//! The one way in which an input is wrong.

use plugin::suggest;

/// What is wrong in a scenario, and where: always one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct InputError {
    /// The key as the file spells it (`flow[1].transport.congestion`), an override's path, or `line 3, column 7`.
    pub path: String,
    /// What is wrong, and what would do.
    pub message: String,
}

/// What reading gives.
pub type Result<T, E = InputError> = core::result::Result<T, E>;

impl InputError {
    pub(crate) fn new(path: impl ToString, message: impl ToString) -> InputError {
        InputError { path: suggest::one_line(&path.to_string()), message: suggest::one_line(&message.to_string()) }
    }
}

/// What the TOML parser could not read.
pub(crate) fn syntax(text: &str, error: &toml::de::Error) -> InputError {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
    // Characters, not bytes: every byte that does not continue a UTF-8 sequence starts one.
    let column = before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
    InputError::new(format!("line {line}, column {column}"), error.message().trim())
}
