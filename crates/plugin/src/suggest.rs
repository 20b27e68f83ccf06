//! Messages about words: quotations, lists, and the nearest of the words that would have done.

use crate::absent;
use crate::spelling::fold;
pub use crate::spelling::quote;

/// `text` as part of one line: control characters are written as escapes.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// `"a", "b" or "c"`; when there are many, the first and how many more.
pub fn list<S: AsRef<str>>(words: &[S]) -> String {
    join(words, "or")
}

/// `"a", "b" and "c"`.
pub fn list_all<S: AsRef<str>>(words: &[S]) -> String {
    join(words, "and")
}

fn join<S: AsRef<str>>(words: &[S], last_by: &str) -> String {
    const MOST: usize = 40;
    let mut quoted: Vec<String> = words.iter().take(MOST).map(|w| quote(w.as_ref())).collect();
    if words.len() > MOST {
        return format!("{} {last_by} {} more", quoted.join(", "), words.len() - MOST);
    }
    match quoted.pop() {
        None => "nothing".to_owned(),
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} {last_by} {last}", quoted.join(", ")),
    }
}

/// `did you mean "x"?`, or the list of what there is when nothing is near.
pub fn hint<S: AsRef<str>>(text: &str, words: &[S]) -> String {
    let near = nearest(text, words);
    match (near.is_empty(), words.len()) {
        (false, _) => format!("did you mean {}?", list(&near)),
        (true, 0) => "there are none".to_owned(),
        (true, 1) => format!("there is {}", list(words)),
        (true, _) => format!("there are {}", list_all(words)),
    }
}

/// `no congestion control "venno"; did you mean "veno"?`, or that it is not modelled.
pub fn no_such<S: AsRef<str>>(noun: &str, text: &str, known: &[S]) -> String {
    if let Some(message) = absent::message(noun, text) {
        return message;
    }
    format!("no {noun} {}; {}", quote(text), hint(text, known))
}

/// The words at the least distance from `text`, if that is small: usually one.
pub fn nearest<'w, S: AsRef<str>>(text: &str, words: &'w [S]) -> Vec<&'w str> {
    let wanted = fold(text);
    let mut best = most_edits(&wanted);
    let mut found = Vec::new();
    for word in words {
        let folded = fold(word.as_ref());
        // A word of which nothing is left is another word.
        let most = best.min(wanted.len().max(folded.len()).saturating_sub(1));
        let Some(edits) = distance(&wanted, &folded, most) else { continue };
        if edits < best {
            found.clear();
        }
        best = edits;
        if !found.contains(&word.as_ref()) {
            found.push(word.as_ref());
        }
    }
    // As near as many others is not near.
    if found.len() > 3 { Vec::new() } else { found }
}

fn most_edits(wanted: &[char]) -> usize {
    match wanted.len() {
        0 => 0,
        1..=5 => 1,
        6..=9 => 2,
        _ => 3,
    }
}

/// Damerau-Levenshtein distance (optimal string alignment), if it is at most `most`.
fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = last;
        last = row;
    }
    last.last().copied().filter(|edits| *edits <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> Option<usize> {
        distance(&fold(a), &fold(b), 9)
    }

    #[test]
    fn a_dropped_doubled_or_swapped_letter_is_one_edit() {
        assert_eq!(edits("veno", "veno"), Some(0));
        assert_eq!(edits("vno", "veno"), Some(1));
        assert_eq!(edits("venno", "veno"), Some(1));
        assert_eq!(edits("vneo", "veno"), Some(1));
        assert_eq!(edits("cubic", "veno"), Some(5));
        assert_eq!(distance(&fold("cubic"), &fold("veno"), 4), None);
    }

    #[test]
    fn the_nearest_words_are_suggested_and_far_ones_are_listed() {
        assert_eq!(hint("venno", &["reno", "veno"]), "did you mean \"veno\"?");
        assert_eq!(hint("er", &["ber", "model", "per"]), "did you mean \"ber\" or \"per\"?");
        assert_eq!(hint("RTS-Threshold", &["rts_threshold"]), "did you mean \"rts_threshold\"?");
        assert_eq!(hint("xyz", &["reno", "veno"]), "there are \"reno\" and \"veno\"");
        assert_eq!(hint("d", &["a", "bd"]), "did you mean \"bd\"?");
        assert_eq!(hint("d", &["a", "b"]), "there are \"a\" and \"b\"");
        assert_eq!(hint("ab", &["ac", "ad", "ae", "af"]), "there are \"ac\", \"ad\", \"ae\" and \"af\"");
        assert_eq!(hint("xyz", &["reno"]), "there is \"reno\"");
        assert_eq!(hint::<&str>("xyz", &[]), "there are none");
        assert_eq!(no_such("queue", "rde", &["drop-tail", "red"]), "no queue \"rde\"; did you mean \"red\"?");
    }

    #[test]
    fn a_quotation_is_one_short_line() {
        assert_eq!(one_line("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(quote(&"é".repeat(70)).chars().count(), 65);
    }
}
