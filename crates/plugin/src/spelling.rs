//! Comparison and quotation of words in messages.

/// `text` in quotes, cut when it is long.
pub fn quote(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

/// True if two words differ at most in case, `_`, `-` and spaces.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fold(one) == fold(other)
}

/// Case and the choice between `_`, `-` and a space are no difference.
pub(crate) fn fold(text: &str) -> Vec<char> {
    let lower = text.chars().take(80).flat_map(char::to_lowercase);
    lower.map(|c| if matches!(c, '-' | ' ') { '_' } else { c }).collect()
}
