//! `--set PATH=VALUE`: replaces values of the tree before anything is checked.

use crate::{InputError, Transport};
use plugin::suggest::{self, quote};
use toml::Value;

/// Deeper than any key lies.
const MOST_STEPS: usize = 12;

/// The arrays of tables of a file; the path of one inside another is without its index.
const ARRAYS: [&str; 9] =
    ["node", "link", "flow", "scheme", "event", "window", "channel.pair", "channel.further", "channel.further.pair"];

/// The last step of a path whose value becomes one more entry of an array of tables.
const ANOTHER: &str = "+";

/// Replaces the value at `path` (`node.ap.position`, `flow.0.transport.datagram`), or creates the key; `*` stands for
/// every entry of an array (`flow.*.transport.datagram`), but for flows whose transport has no such key; `+`, as the
/// last step, appends an entry (`flow.+`).
pub(crate) fn apply(tree: &mut toml::Table, path: &str, text: &str) -> Result<(), InputError> {
    // The spelling of error messages, flow[0].name, is as good as flow.0.name.
    let spelled = path.trim().replace('[', ".").replace(']', "");
    let steps: Vec<&str> = spelled.split('.').collect();
    if steps.iter().any(|step| step.is_empty()) || steps.len() > MOST_STEPS {
        let shown = if path.chars().count() > 100 { quote(path) } else { path.to_owned() };
        let message = "not a path; write it like radio.data_rate or node.ap.position";
        return Err(InputError::new(if shown.is_empty() { "\"\"".to_owned() } else { shown }, message));
    }
    let mut value = value(text).map_err(|message| InputError::new(path, message))?;
    if let (["scheme"], Value::String(words)) = (&steps[..], &value) {
        value = schemes(tree, words).map_err(|message| InputError::new(path, message))?;
    }
    if let Some(nth) = steps.iter().position(|step| *step == ANOTHER) {
        check_appended(&steps, nth, &value).map_err(|message| InputError::new(path, message))?;
    }
    let (first, rest) = steps.split_first().unwrap_or((&"", &[]));
    set_in_table(tree, first, rest, "", value).map_err(|message| InputError::new(path, message))
}

/// The `[[scheme]]` tables that words stand for: `none`, or schemes with their parameters, as `NAME,OTHER` and
/// `NAME:key=value;key=value`. A scheme that the file has keeps what the file says of it.
fn schemes(tree: &toml::Table, words: &str) -> Result<Value, String> {
    if words.trim() == "none" {
        return Ok(Value::Array(Vec::new()));
    }
    let own = tree.get("scheme").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut found = Vec::new();
    for part in split(words, ',') {
        let (name, parameters) = part.split_once(':').map_or((part, ""), |(name, rest)| (name.trim(), rest));
        let name = name.trim();
        if name.is_empty() {
            return Err(format!("an empty name in {}; write none, a scheme, or several with commas", quote(words)));
        }
        let is_it = |table: &&Value| table.get("name").and_then(Value::as_str) == Some(name);
        let mut tables: Vec<Value> = own.iter().filter(is_it).cloned().collect();
        if tables.is_empty() {
            tables.push(Value::Table([("name".to_owned(), Value::from(name))].into_iter().collect()));
        }
        for parameter in split(parameters, ';').into_iter().filter(|one| !one.trim().is_empty()) {
            let Some((key, set)) = parameter.split_once('=') else {
                let example = "key=value is in NAME:key=value";
                return Err(format!("{} is no parameter, as {example}", quote(parameter.trim())));
            };
            let set = value(set)?;
            for table in tables.iter_mut().filter_map(Value::as_table_mut) {
                table.insert(key.trim().to_owned(), set.clone());
            }
        }
        found.extend(tables);
    }
    Ok(Value::Array(found))
}

/// The parts of a list, where brackets and quotes keep theirs together.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0i32, None);
    for (i, c) in text.char_indices() {
        match (quoted, c) {
            (Some(by), _) => quoted = Some(by).filter(|by| *by != c),
            (None, '"' | '\'') => quoted = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, _) if c == separator && depth == 0 => {
                parts.push(&text[begin..i]);
                begin = i + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// TOML where it is TOML, otherwise text: `"0 B"` and `0 B` are the same.
fn value(text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    match trimmed.parse::<Value>() {
        Ok(value) => Ok(value),
        Err(error) if trimmed.starts_with(['[', '{', '"', '\'']) => {
            Err(format!("{} is not TOML: {}", quote(trimmed), error.message().trim()))
        }
        Err(_) => Ok(Value::String(trimmed.to_owned())),
    }
}

/// Checks that `+`, the step `nth`, ends the path of an array of tables, and that a table is appended.
fn check_appended(steps: &[&str], nth: usize, value: &Value) -> Result<(), String> {
    let (before, after) = (steps.get(..nth).unwrap_or_default(), steps.get(nth + 1..).unwrap_or_default());
    let at = before.join(".");
    if !is_array_of_tables(&at) {
        return Err(format!("{} is no array of tables; {}", quote(&at), suggest::hint(&at, &ARRAYS)));
    }
    if !after.is_empty() {
        return Err(format!("+ is the last step: {at}.+ = {{ {} = … }}", after.join(".")));
    }
    if !value.is_table() {
        return Err(crate::item::wrong(format_args!("a table such as {{ {} }}", example(&at)), value));
    }
    Ok(())
}

/// True of `flow` and of `channel.further[0].pair`: the index does not matter, nor does a name in its place.
fn is_array_of_tables(at: &str) -> bool {
    let mut steps: Vec<&str> = at.split('.').map(|step| step.split('[').next().unwrap_or(step)).collect();
    if steps.len() == 4 && steps.starts_with(&["channel", "further"]) {
        steps.remove(2);
    }
    ARRAYS.contains(&steps.join(".").as_str())
}

/// The keys that an entry of an array of tables begins with.
fn example(at: &str) -> &'static str {
    match at {
        "node" => "name = \"sta9\"",
        "flow" => "from = \"sta1\", to = \"ap\"",
        "scheme" => "name = \"NAME\"",
        "event" => "at = \"1 s\"",
        "window" => "to = \"1 s\"",
        "channel.further" => "name = \"far\"",
        _ => "between = [\"sta1\", \"ap\"]",
    }
}

fn set_in_table(table: &mut toml::Table, step: &str, rest: &[&str], at: &str, value: Value) -> Result<(), String> {
    let Some((next, below)) = rest.split_first() else {
        table.insert(step.to_owned(), value);
        return Ok(());
    };
    let at = if at.is_empty() { step.to_owned() } else { format!("{at}.{step}") };
    if !table.contains_key(step) && is_array_of_tables(&at) {
        if *next != ANOTHER {
            return Err(format!("there is no [[{at}]] to change"));
        }
        table.insert(step.to_owned(), Value::Array(Vec::new()));
    }
    let child = table.entry(step).or_insert_with(|| Value::Table(toml::Table::new()));
    set(child, next, below, &at, value)
}

fn set(child: &mut Value, step: &str, rest: &[&str], at: &str, value: Value) -> Result<(), String> {
    match child {
        Value::Table(table) => set_in_table(table, step, rest, at, value),
        Value::Array(entries) if step == ANOTHER => {
            entries.push(value);
            Ok(())
        }
        Value::Array(entries) if step == "*" && !entries.is_empty() => {
            let can_have = |entry: &Value| match (at, rest) {
                ("flow", ["transport", key, ..]) => Transport::may_have(entry.get("transport"), key),
                _ => true,
            };
            let takers: Vec<usize> = (0..entries.len()).filter(|index| can_have(&entries[*index])).collect();
            if takers.is_empty() {
                return Err(format!("no {at} has {}: its transport is another", rest.join(".")));
            }
            takers.into_iter().try_for_each(|index| set_entry(entries, index, rest, at, value.clone()))
        }
        Value::Array(entries) => {
            let index = index_of(entries, step, at)?;
            set_entry(entries, index, rest, at, value)
        }
        other => Err(format!("{at} is {}, which has no \"{step}\"", crate::item::describe(other))),
    }
}

fn set_entry(entries: &mut [Value], index: usize, rest: &[&str], at: &str, value: Value) -> Result<(), String> {
    let entry = &mut entries[index];
    match rest.split_first() {
        None => {
            *entry = value;
            Ok(())
        }
        Some((next, below)) => set(entry, next, below, &format!("{at}[{index}]"), value),
    }
}

/// An entry of an array by its number or its name.
fn index_of(entries: &[Value], step: &str, at: &str) -> Result<usize, String> {
    if step.bytes().all(|b| b.is_ascii_digit()) {
        return match (step.parse::<usize>(), entries.len()) {
            (Ok(index), count) if index < count => Ok(index),
            (_, 0) => Err(format!("{at} has no entries")),
            (_, 1) => Err(format!("{at} has one entry, {at}.0")),
            (_, count) => Err(format!("{at} has {count} entries, {at}.0 to {at}.{}", count - 1)),
        };
    }
    let name_of = |entry: &Value| entry.get("name").and_then(Value::as_str).map(str::to_owned);
    let names: Vec<Option<String>> = entries.iter().map(name_of).collect();
    let mut named = names.iter().enumerate().filter(|(_, name)| name.as_deref() == Some(step));
    match (named.next(), named.next()) {
        (Some((index, _)), None) => Ok(index),
        (Some((i, _)), Some((k, _))) => {
            Err(format!("{at}[{i}] and {at}[{k}] are both called \"{step}\"; take the index"))
        }
        _ => {
            let known: Vec<String> = names.into_iter().flatten().collect();
            Err(format!("{at} has no entry called {}; {}", quote(step), suggest::hint(step, &known)))
        }
    }
}
