//! First pass: the shape of the file, against the descriptions of `keys.rs`, in the order of the file.

use super::item::{Fields, Item};
use super::key::{Key, Kind, MOST_ENTRIES, Need, Registry, Table, Tagged};
use super::{InputError, Names, keys, scalar};
use plugin::suggest::{self, quote};
use schemes::{Param, Value as ParamValue};
use std::fmt;
use toml::Value;

/// Where a value is: a list from the leaf to the root, written out only when something is wrong.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    pub fn error(&self, message: impl ToString) -> InputError {
        InputError::new(self, message)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Path::Key(parent, key) => {
                if !matches!(parent, Path::Root) {
                    write!(f, "{parent}.")?;
                }
                let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if !key.is_empty() && key.len() <= 60 && key.chars().all(bare) {
                    f.write_str(key)
                } else {
                    f.write_str(&quote(key))
                }
            }
        }
    }
}

type Result<T> = std::result::Result<T, InputError>;

/// The whole file.
pub(super) fn root(tree: &toml::Table, names: &Names) -> Result<Fields> {
    table(tree, &keys::SCENARIO, &Path::Root, names)
}

/// One value of any kind.
pub(super) fn value(value: &Value, kind: Kind, path: &Path, names: &Names) -> Result<Item> {
    match (kind, value) {
        (Kind::Table(of), Value::Table(entries)) => table(entries, of, path, names).map(Item::Table),
        (Kind::Tagged(of), Value::Table(entries)) => tagged(entries, of, path, names).map(Item::Table),
        (Kind::Entries { of, min }, Value::Array(entries)) => {
            if entries.len() < min {
                return Err(path.error(format!("empty; a scenario needs at least one [[{path}]]")));
            }
            if entries.len() > MOST_ENTRIES {
                return Err(
                    path.error(format!("{} entries are too many; {MOST_ENTRIES} are the most", entries.len()))
                );
            }
            let each = entries.iter().enumerate().map(|(i, entry)| {
                let path = Path::Index(path, i);
                self::value(entry, Kind::Table(of), &path, names)
            });
            each.collect::<Result<_>>().map(Item::List)
        }
        (Kind::Entries { .. }, Value::Table(_)) => {
            Err(path.error(format!("expected an array of tables, got a table; write [[{path}]]")))
        }
        (Kind::Table(_), Value::Array(_)) if !matches!(path, Path::Index(..)) => {
            Err(path.error(format!("expected a table, got an array; write [{path}] once")))
        }
        (Kind::List { of, min, max }, Value::Array(entries)) if (min..=max).contains(&entries.len()) => {
            let each = entries.iter().enumerate().map(|(i, entry)| {
                let path = Path::Index(path, i);
                self::value(entry, *of, &path, names)
            });
            each.collect::<Result<_>>().map(Item::List)
        }
        (Kind::List { .. }, Value::Array(entries)) => {
            let count = entries.len();
            Err(path.error(format!("expected {}, got an array of {count}", kind.expected())))
        }
        (Kind::Registered(registry), Value::String(text)) => {
            let known = registered(registry, names);
            match known.iter().find(|name| *name == text) {
                Some(_) => Ok(Item::Text(text.clone())),
                None => Err(path.error(suggest::no_such(registry.noun(), text, &known))),
            }
        }
        _ => scalar::read(value, kind).map_err(|message| path.error(message)),
    }
}

fn registered<'n>(registry: Registry, names: &Names<'n>) -> Vec<&'n str> {
    match registry {
        Registry::Congestion => names.congestion.to_vec(),
        Registry::Receivers => names.receivers.to_vec(),
        Registry::Schemes => names.schemes.iter().map(|(name, _)| *name).collect(),
    }
}

fn table(entries: &toml::Table, of: &'static Table, path: &Path, names: &Names) -> Result<Fields> {
    let Some(tag) = of.scheme else {
        let refuse = |key: &str| match of.later.iter().find(|(later, _)| *later == key) {
            Some((_, why)) => (*why).to_owned(),
            None => unknown(key, &names_of(of.keys)),
        };
        let shape = Shape { keys: of.keys, params: &[], tag: None, refuse: &refuse };
        let read = fields(entries, &shape, path, names)?;
        if of.one_of && read.entries.len() != 1 {
            return Err(path.error(format!("give either {}", names_of(of.keys).join(" or "))));
        }
        return Ok(read);
    };
    // A scheme's name decides which further keys its table has.
    let scheme = entries.get(tag).and_then(Value::as_str);
    let declared = scheme.and_then(|scheme| names.schemes.iter().find(|(name, _)| *name == scheme));
    let Some((scheme, params)) = declared else {
        let known = names_of(of.keys);
        let misspelt = |key: &&String| !known.contains(&key.as_str()) && !suggest::nearest(key, &known).is_empty();
        return Err(match entries.get(tag) {
            Some(name) => {
                let path = Path::Key(path, tag);
                match value(name, Kind::Registered(Registry::Schemes), &path, names) {
                    Err(error) => error,
                    Ok(_) => path.error("is declared twice"),
                }
            }
            None => match entries.keys().find(misspelt) {
                Some(key) => Path::Key(path, key).error(unknown(key, &known)),
                None => Path::Key(path, tag).error("missing; expected the name of a scheme"),
            },
        });
    };
    let mut known = names_of(of.keys);
    known.extend(params.iter().map(|param| param.key));
    let refuse = |key: &str| unknown(key, &known);
    let shape = Shape { keys: of.keys, params, tag: None, refuse: &refuse };
    let mut read = fields(entries, &shape, path, names)?;
    read.tag = scheme;
    Ok(read)
}

fn tagged(entries: &toml::Table, of: &'static Tagged, path: &Path, names: &Names) -> Result<Fields> {
    let word = match entries.get(of.tag) {
        None => of.default,
        Some(Value::String(word)) => Some(word.as_str()),
        Some(other) => {
            let words: Vec<&str> = of.variants.iter().map(|v| v.word).collect();
            let message = format!("expected {}, got {}", suggest::list(&words), scalar::describe(other));
            return Err(Path::Key(path, of.tag).error(message));
        }
    };
    let keys_of_all = || {
        let mut all = vec![of.tag];
        all.extend(of.variants.iter().flat_map(|v| v.keys).map(|k| k.name));
        all
    };
    let Some(word) = word else {
        let known = keys_of_all();
        let words: Vec<&str> = of.variants.iter().map(|v| v.word).collect();
        return Err(match entries.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Path::Key(path, key).error(unknown(key, &known)),
            None => Path::Key(path, of.tag).error(format!("missing; expected {}", suggest::list(&words))),
        });
    };
    let Some(variant) = of.variants.iter().find(|v| v.word == word) else {
        let words: Vec<&str> = of.variants.iter().map(|v| v.word).collect();
        return Err(Path::Key(path, of.tag).error(suggest::no_such(of.noun, word, &words)));
    };
    let refuse = |key: &str| {
        let others = of.variants.iter().filter(|v| v.keys.iter().any(|k| k.name == key));
        let others: Vec<&str> = others.map(|v| v.word).collect();
        if others.is_empty() {
            let mut known = vec![of.tag];
            known.extend(names_of(variant.keys));
            return unknown(key, &known);
        }
        let (tag, word, others) = (of.tag, variant.word, suggest::list(&others));
        format!("no such key with {tag} = \"{word}\"; it goes with {others}")
    };
    let shape = Shape { keys: variant.keys, params: &[], tag: Some(of.tag), refuse: &refuse };
    let mut read = fields(entries, &shape, path, names)?;
    read.tag = variant.word;
    Ok(read)
}

/// The keys that one table may have.
struct Shape<'s> {
    keys: &'static [Key],
    params: &'s [Param],
    /// Read already.
    tag: Option<&'static str>,
    /// What to say of any other key.
    refuse: &'s dyn Fn(&str) -> String,
}

/// The entries of a table in the order of the file, then what is missing, then defaults.
fn fields(entries: &toml::Table, shape: &Shape, path: &Path, names: &Names) -> Result<Fields> {
    let mut read = Fields::default();
    for (name, written) in entries {
        let path = Path::Key(path, name);
        if let Some(key) = shape.keys.iter().find(|key| key.name == name) {
            read.entries.push((key.name, value(written, key.kind, &path, names)?));
        } else if let Some(param) = shape.params.iter().find(|param| param.key == name) {
            let value = parameter(written, param).map_err(|message| path.error(message))?;
            read.entries.push((param.key, Item::Param(value)));
        } else if shape.tag != Some(name.as_str()) {
            return Err(path.error((shape.refuse)(name)));
        }
    }
    for key in shape.keys {
        if entries.contains_key(key.name) {
            continue;
        }
        let path = Path::Key(path, key.name);
        match key.need {
            Need::Optional(_) => {}
            Need::Default(preset) => read.entries.push((key.name, value(&preset.value(), key.kind, &path, names)?)),
            Need::Required => {
                return Err(path.error(match key.kind {
                    Kind::Entries { .. } => format!("missing; a scenario needs at least one [[{path}]]"),
                    kind => format!("missing; expected {}", kind.expected()),
                }));
            }
        }
    }
    Ok(read)
}

/// A scheme's own parameter.
fn parameter(value: &Value, param: &Param) -> std::result::Result<ParamValue, String> {
    match scalar::read(value, Kind::of_param(param))? {
        Item::Bool(on) => Ok(ParamValue::Bool(on)),
        Item::Int(int) => Ok(ParamValue::Int(int)),
        Item::Num(num) => Ok(ParamValue::Float(num)),
        Item::Time(dur) => Ok(ParamValue::Time(dur)),
        Item::Size(bytes) => Ok(ParamValue::Size(bytes)),
        Item::Level(level) => Ok(ParamValue::Power(level)),
        Item::Word(word) => Ok(ParamValue::Choice(word)),
        other => unreachable!("no parameter is read as {other:?}"),
    }
}

fn names_of(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// What to say of a key that this table does not have.
fn unknown(key: &str, known: &[&str]) -> String {
    let near = suggest::nearest(key, known);
    if !near.is_empty() {
        return format!("no such key; did you mean {}?", suggest::list(&near));
    }
    let elsewhere = keys::places_of(key);
    if !elsewhere.is_empty() {
        return format!("no such key here; it belongs to {}", elsewhere.join(" or "));
    }
    match known {
        [] => "no such key; there are none".to_owned(),
        _ => format!("no such key; known are {}", suggest::list_all(known)),
    }
}
