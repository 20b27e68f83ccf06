//! Tables: their keys, and how a table of a file is read and written by them.

use crate::at::{At, Context, Path};
use crate::item::{About, Codec, Item, wrong};
use crate::{InputError, Names, Result};
use core::any::Any;
use core::ops::RangeInclusive;
use plugin::{absent, suggest};
use serde_json::{Map, Value as Json, json};
use toml::Value;

/// The most entries of any array of tables.
pub const MOST_ENTRIES: usize = 65_000;

/// The lines of a documentation comment.
pub type Docs = &'static [&'static str];

/// A key of a table.
pub struct Key {
    /// As the file spells it.
    pub name: &'static str,
    /// Its documentation: one sentence.
    pub docs: Docs,
    /// Its default, or the need to write it.
    pub need: Need,
    /// The codec of its value.
    pub codec: &'static dyn Codec,
}

/// The effect of a key that is not written.
#[derive(Clone, Copy)]
pub enum Need {
    /// It is an error.
    Required,
    /// It has this value.
    Default(fn() -> Value),
    /// These words say what holds then.
    Or(&'static str),
}

/// An inline table as a value: the spelling of a default.
pub(crate) fn inline(text: &str) -> Value {
    text.parse().expect("a default is TOML; the tests read each")
}

/// The keys of a table.
#[derive(Default)]
pub struct Shape {
    /// Those it always has.
    pub keys: Vec<Key>,
    /// Those that depend on one word.
    pub tagged: Option<Tagged>,
    /// Of so many keys one is written.
    pub one_of: usize,
    /// True if the value is an array of such tables.
    is_array: bool,
}

/// Keys that depend on one word.
pub struct Tagged {
    /// The key that holds the word: `model`, `protocol`.
    pub tag: &'static str,
    /// The noun of the thing that the word names.
    pub noun: &'static str,
    /// The word if none is written.
    pub first: Option<&'static str>,
    /// The words.
    pub variants: Vec<Variant>,
    /// The documentation of `tag` if the words are the ids of a registry.
    pub registry: Option<Docs>,
}

/// The keys that go with one word.
pub struct Variant {
    /// The word.
    pub word: &'static str,
    /// Its documentation.
    pub docs: Docs,
    /// Its keys.
    pub keys: Vec<Key>,
}

impl Tagged {
    /// The text after "expected".
    fn expected(&self) -> String {
        match self.registry {
            None => suggest::list(&words_of(&self.variants)),
            Some(_) => format!("the name of a {}", self.noun),
        }
    }

    /// The words that a key goes with; of a registry they differ from program to program, and none is said.
    fn words_with(&self, key: &str) -> Vec<&'static str> {
        let has_key = |variant: &&Variant| self.registry.is_none() && names_of(&variant.keys).any(|name| name == key);
        words_of(self.variants.iter().filter(has_key))
    }

    /// The message for a missing word: the words that go with a key that is there, else all.
    fn missing(&self, entries: &toml::Table) -> String {
        let said = |key: &String| {
            let words = self.words_with(key);
            (!words.is_empty()).then(|| format!("missing; \"{key}\" goes with {}", suggest::list(&words)))
        };
        entries.keys().find_map(said).unwrap_or_else(|| format!("missing; expected {}", self.expected()))
    }
}

fn words_of<'v>(variants: impl IntoIterator<Item = &'v Variant>) -> Vec<&'static str> {
    variants.into_iter().map(|variant| variant.word).collect()
}

fn names_of(keys: &[Key]) -> impl Iterator<Item = &'static str> {
    keys.iter().map(|key| key.name)
}

/// A value that is a table, or some keys of one.
pub trait Keys: Sized + Clone + 'static {
    /// Adds its keys.
    fn describe(shape: &mut Shape, names: &Names);

    /// Takes its fields out of what was read.
    ///
    /// # Errors
    /// Keys that contradict each other.
    fn take(read: &mut Read, at: &At) -> Result<Self>;

    /// Writes its keys.
    fn put(&self, out: &mut Object);

    /// Reads what stands where the table might.
    ///
    /// # Errors
    /// There is nothing shorter than the table, or this is not it.
    fn read_short(value: &Value, at: &At) -> Result<Self> {
        let is_slip = matches!(value, Value::Array(_)) && !matches!(at.path, Path::Index(..));
        // `[[radio]]` is a likely slip. A table with a word in it is usually written inline: there the hint would not fit.
        if is_slip && Shape::of::<Self>(at.cx.names).tagged.is_none() {
            return Err(at.error(format!("expected a table, got an array; write [{}] once", at.path)));
        }
        Err(at.error(wrong("a table", value)))
    }

    /// The value that stands for the table, if all is said with it.
    fn write_short(&self) -> Option<Json> {
        None
    }

    /// Adds to what is said of the table what may stand for it.
    fn about_short(_: &mut About, _: &Names) {}
}

/// A table is what a key holds.
impl<T: Keys> Item for T {
    type Within = ();
    const ANY: () = ();

    fn read(value: &Value, (): &(), at: &At) -> Result<T> {
        match value {
            Value::Table(entries) => read(entries, at),
            _ => T::read_short(value, at),
        }
    }

    fn write(&self, nodes: &[String]) -> Option<Json> {
        self.write_short().or_else(|| {
            let mut out = Object { table: Map::new(), nodes };
            self.put(&mut out);
            Some(Json::Object(out.table))
        })
    }

    fn about((): &(), names: &Names) -> About {
        let mut about = About::new("a table", Shape::of::<T>(names).schema(names));
        T::about_short(&mut about, names);
        about
    }

    fn inside(names: &Names) -> Option<Shape> {
        Some(Shape::of::<T>(names))
    }
}

/// A value that the keys `K` make together, where its type cannot have a field for each.
pub trait Via<K>: Sized {
    /// The table that the keys describe.
    ///
    /// # Errors
    /// Keys that contradict each other.
    fn from_keys(keys: K, at: &At) -> Result<Self>;

    /// The keys that mean it.
    fn to_keys(&self) -> K;
}

/// Keys that speak of powers: they are there, or none of them is, as signals have powers or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Powered<T>(Option<T>);

/// The message for a key that speaks of powers where there are none.
pub(crate) const NEEDS_POWERS: &str = "has an effect only with channel.propagation";

impl<T: Keys> Keys for Powered<T> {
    fn describe(shape: &mut Shape, names: &Names) {
        T::describe(shape, names);
    }

    fn take(read: &mut Read, at: &At) -> Result<Powered<T>> {
        let keys = Shape::of::<T>(at.cx.names).keys;
        let is_written = |key: &&Key| read.values.iter().any(|(name, _)| *name == key.name);
        // A channel speaks for itself, radios for all channels.
        let own = keys.iter().find(|key| key.name == "propagation");
        if own.map_or(at.cx.has_powers, |own| is_written(&own)) {
            return T::take(read, at).map(Some).map(Powered);
        }
        if let Some(key) = keys.iter().find(is_written) {
            at.key(key.name).later(NEEDS_POWERS);
        }
        Ok(Powered(None))
    }

    fn put(&self, out: &mut Object) {
        self.0.iter().for_each(|keys| keys.put(out));
    }
}

impl<T: Clone> Via<Powered<T>> for Option<T> {
    fn from_keys(keys: Powered<T>, _: &At) -> Result<Option<T>> {
        Ok(keys.0)
    }

    fn to_keys(&self) -> Powered<T> {
        Powered(self.clone())
    }
}

/// The values of one table.
pub struct Read {
    values: Vec<(&'static str, Box<dyn Any>)>,
    /// The word that chose the keys; empty where none does.
    pub word: &'static str,
}

impl Read {
    /// The value of a key; `None` if the file does not have it and it has no default in the file's spelling.
    pub fn take<T: 'static>(&mut self, key: &str) -> Option<T> {
        let place = self.values.iter().position(|(name, _)| *name == key)?;
        let value = self.values.swap_remove(place).1.downcast();
        Some(*value.unwrap_or_else(|_| panic!("{key} was read as another type than it is taken as")))
    }
}

/// A table under construction.
pub struct Object<'n> {
    table: Map<String, Json>,
    /// The names of all nodes.
    nodes: &'n [String],
}

impl Object<'_> {
    /// Writes a key.
    pub fn put<T: Item>(&mut self, key: &str, item: &T) {
        self.table.extend(item.write(self.nodes).map(|value| (key.to_owned(), value)));
    }

    /// Writes a key that is no item.
    pub fn value(&mut self, key: &str, value: Json) {
        self.table.insert(key.to_owned(), value);
    }
}

/// Reads the table that stands at `at`.
pub(crate) fn read<T: Keys>(entries: &toml::Table, at: &At) -> Result<T> {
    T::take(&mut Shape::of::<T>(at.cx.names).read(entries, at)?, at)
}

impl Shape {
    /// The keys of `T`.
    pub fn of<T: Keys>(names: &Names) -> Shape {
        let mut shape = Shape::default();
        T::describe(&mut shape, names);
        shape
    }

    /// The entries of a table in the order of the file, then what is missing, then defaults. All mistakes are noted; the first is
    /// what the table is refused with.
    fn read(&self, entries: &toml::Table, at: &At) -> Result<Read> {
        let variant = self.tagged.as_ref().map(|tagged| self.variant(tagged, entries, at)).transpose()?;
        let tag = self.tagged.as_ref().map(|tagged| tagged.tag);
        let keys: Vec<&Key> = self.keys.iter().chain(variant.into_iter().flat_map(|variant| &variant.keys)).collect();
        let mut read = Read { values: Vec::new(), word: variant.map_or("", |variant| variant.word) };
        let mut first = None;
        let mut note = |error: InputError| {
            at.cx.note(error.clone());
            first.get_or_insert(error);
        };
        // Keys that an unknown one may have been meant for: these are not missing besides.
        let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let mut meant: Vec<&str> = Vec::new();
        for (name, written) in entries {
            let at = at.key(name);
            if let Some(key) = keys.iter().find(|key| key.name == name) {
                key.codec.read(written, &at).map_or_else(&mut note, |value| read.values.push((key.name, value)));
            } else if tag != Some(name.as_str()) {
                meant.extend(suggest::nearest(name, &known));
                note(at.error(self.refuse(name, &keys, variant, at.cx)));
            }
        }
        for key in keys.into_iter().filter(|key| !entries.contains_key(key.name) && !meant.contains(&key.name)) {
            let at = at.key(key.name);
            match key.need {
                Need::Or(_) => {}
                Need::Default(value) => {
                    key.codec.read(&value(), &at).map_or_else(&mut note, |value| read.values.push((key.name, value)));
                }
                Need::Required => {
                    let is_array = key.codec.inside(at.cx.names).is_some_and(|shape| shape.is_array);
                    let needed = format!("a scenario needs at least one [[{}]]", at.path);
                    let expected = || format!("expected {}", key.codec.about(at.cx.names).expected);
                    note(at.error(format!("missing; {}", if is_array { needed } else { expected() })));
                }
            }
        }
        first.map_or(Ok(read), Err)
    }

    /// The variant that the table's word chooses.
    fn variant<'t>(&self, tagged: &'t Tagged, entries: &toml::Table, at: &At) -> Result<&'t Variant> {
        let word = match entries.get(tagged.tag) {
            None => tagged.first,
            Some(Value::String(word)) => Some(word.as_str()),
            Some(other) => return Err(at.key(tagged.tag).error(wrong(tagged.expected(), other))),
        };
        if let Some(word) = word {
            let found = tagged.variants.iter().find(|variant| variant.word == word);
            let no_such = || suggest::no_such(tagged.noun, word, &words_of(&tagged.variants));
            return found.ok_or_else(|| at.key(tagged.tag).error(no_such()));
        }
        // The word is missing. Perhaps its key is misspelt. Which keys a registry's words have differs from program to
        // program: there, only a key that is near one of the table's own is taken for a misspelt one.
        let own: Vec<&str> = core::iter::once(tagged.tag).chain(names_of(&self.keys)).collect();
        let all = tagged.variants.iter().flat_map(|variant| names_of(&variant.keys));
        let known: Vec<&str> = own.iter().copied().chain(all).collect();
        let is_meant = |key: &&String| tagged.registry.is_none() || !suggest::nearest(key, &own).is_empty();
        let misspelt = entries.keys().filter(|key| !known.contains(&key.as_str())).find(is_meant);
        Err(match misspelt {
            Some(key) => at.key(key).error(unknown(key, &known, at.cx)),
            None => at.key(tagged.tag).error(tagged.missing(entries)),
        })
    }

    /// The message for a key that the table does not have.
    fn refuse(&self, key: &str, keys: &[&Key], variant: Option<&Variant>, cx: &Context) -> String {
        if let (Some(tagged), Some(variant)) = (&self.tagged, variant) {
            let others = tagged.words_with(key);
            if !others.is_empty() {
                let (tag, word, others) = (tagged.tag, variant.word, suggest::list(&others));
                return format!("no such key with {tag} = \"{word}\"; it goes with {others}");
            }
        }
        let tag = self.tagged.as_ref().map(|tagged| tagged.tag);
        let known: Vec<&str> = tag.into_iter().chain(keys.iter().map(|key| key.name)).collect();
        unknown(key, &known, cx)
    }

    /// The JSON Schema of the table; if it is tagged, one alternative for each word.
    pub(crate) fn schema(&self, names: &Names) -> Json {
        let Some(tagged) = &self.tagged else {
            let mut schema = object(None, &self.keys, &[], names);
            // If there are other keys as well, the reader alone counts.
            if self.one_of > 0 && self.one_of == self.keys.len() {
                merge(&mut schema, json!({ "minProperties": 1, "maxProperties": 1 }));
            }
            return schema;
        };
        if tagged.variants.is_empty() {
            // Nothing is registered: any name with any keys.
            let doc = sentence(tagged.registry.unwrap_or_default());
            let name = json!({ "type": "string", "description": doc });
            let mut schema = object(Some((tagged.tag, name, true)), &self.keys, &[], names);
            schema["additionalProperties"] = json!(true);
            return schema;
        }
        let alternatives = tagged.variants.iter().map(|variant| {
            let word = json!({ "const": variant.word, "description": sentence(variant.docs) });
            object(Some((tagged.tag, word, tagged.first != Some(variant.word))), &self.keys, &variant.keys, names)
        });
        json!({ "oneOf": alternatives.collect::<Vec<_>>() })
    }

    /// The tables in it that have a key of this name, as paths without indices. Parameters of plug-ins do not count.
    pub fn places(&self, wanted: &str, names: &Names) -> Vec<String> {
        let mut found = Vec::new();
        self.search(wanted, "", names, &mut found);
        found
    }

    fn search(&self, wanted: &str, path: &str, names: &Names, places: &mut Vec<String>) {
        let is_registry = self.tagged.as_ref().is_some_and(|tagged| tagged.registry.is_some());
        let variants = self.tagged.iter().filter(|_| !is_registry).flat_map(|tagged| &tagged.variants);
        let place = match path {
            "" => "the top of the file".to_owned(),
            _ if self.is_array => format!("[[{path}]]"),
            _ if self.tagged.is_none() && !path.contains('.') => format!("[{path}]"),
            _ => path.to_owned(),
        };
        let note = |has_it, places: &mut Vec<String>| {
            places.extend((has_it && !places.contains(&place)).then(|| place.clone()));
        };
        // The name of a plug-in is a key like others, unless the plug-in is what another key holds.
        let is_named = |tagged: &Tagged| is_registry && self.is_array && tagged.tag == wanted;
        note(self.tagged.as_ref().is_some_and(is_named), places);
        for key in self.keys.iter().chain(variants.flat_map(|variant| &variant.keys)) {
            note(key.name == wanted, places);
            let below = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            key.codec.inside(names).iter().for_each(|shape| shape.search(wanted, &below, names, places));
        }
    }
}

/// The schema of a table with these keys. `tag` is the key that chose them, its schema, and whether it is required.
fn object(tag: Option<(&str, Json, bool)>, keys: &[Key], more: &[Key], names: &Names) -> Json {
    let all = || keys.iter().chain(more);
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if let Some((tag, schema, is_required)) = tag {
        properties.insert(tag.to_owned(), schema);
        required.extend(is_required.then_some(tag));
    }
    properties.extend(all().map(|key| (key.name.to_owned(), key.schema(names))));
    required.extend(all().filter(|key| matches!(key.need, Need::Required)).map(|key| key.name));
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The lines of a documentation comment as one.
fn sentence(docs: Docs) -> String {
    docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

impl Key {
    fn schema(&self, names: &Names) -> Json {
        let mut schema = self.codec.about(names).schema;
        let doc = sentence(self.docs);
        let more = match self.need {
            // A parameter describes itself.
            _ if doc.is_empty() => return schema,
            Need::Required => json!({ "description": doc }),
            // Every TOML value but a date is one of JSON, and no default is a date.
            Need::Default(value) => json!({ "description": doc, "default": json!(value()) }),
            Need::Or(words) => json!({ "description": format!("{doc} Default: {words}.") }),
        };
        merge(&mut schema, more);
        schema
    }
}

/// Adds the members of one object to another.
pub(crate) fn merge(into: &mut Json, from: Json) {
    if let (Json::Object(into), Json::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// Keys that were called otherwise: the old name and the new.
const RENAMED: &[(&str, &str)] = &[("dup_acks", "dup_ack_threshold")];

/// The message for a key that a table does not have.
fn unknown(key: &str, known: &[&str], cx: &Context) -> String {
    if let Some((_, new)) = RENAMED.iter().find(|(old, new)| *old == key && known.contains(new)) {
        return format!("no such key; it is called \"{new}\" now");
    }
    if let Some(message) = absent::message("key", key) {
        return message;
    }
    let near = suggest::nearest(key, known);
    if !near.is_empty() {
        return format!("no such key; did you mean {}?", suggest::list(&near));
    }
    // `rate` where there is `data_rate`, `rts` where there is `rts_threshold`, `que` where there is `queue`.
    let begins = |known: &str| key.len() > 2 && known.starts_with(key);
    let ends = |known: &str| known.strip_suffix(key).is_some_and(|front| front.ends_with('_'));
    let mut longer: Vec<&str> = known.iter().copied().filter(|known| ends(known)).collect();
    if longer.is_empty() {
        longer = known.iter().copied().filter(|known| begins(known)).collect();
    }
    if !longer.is_empty() {
        return format!("no such key; did you mean {}?", suggest::list(&longer));
    }
    let elsewhere = (cx.places)(key, cx.names);
    if !elsewhere.is_empty() {
        return format!("no such key here; it belongs to {}", elsewhere.join(" or "));
    }
    format!("no such key; known are {}", suggest::list_all(known))
}

/// An array of tables. The bounds are those of its length.
impl<T: Keys> Item for Vec<T> {
    type Within = RangeInclusive<usize>;
    const ANY: Self::Within = RangeInclusive::new(0, MOST_ENTRIES);

    fn read(value: &Value, within: &Self::Within, at: &At) -> Result<Vec<T>> {
        let message = match value {
            Value::Array(entries) if entries.len() < *within.start() => {
                format!("empty; a scenario needs at least one [[{}]]", at.path)
            }
            Value::Array(entries) if entries.len() > *within.end() => {
                format!("{} entries are too many; {} are the most", entries.len(), within.end())
            }
            Value::Array(entries) => {
                let (mut found, mut first) = (Vec::new(), None);
                for (i, entry) in entries.iter().enumerate().take_while(|_| !at.cx.has_enough_mistakes()) {
                    match T::read(entry, &(), &at.index(i)) {
                        Ok(entry) => found.push(entry),
                        Err(error) => {
                            at.cx.note(error.clone());
                            first.get_or_insert(error);
                        }
                    }
                }
                return first.map_or(Ok(found), Err);
            }
            Value::Table(_) => format!("expected an array of tables, got a table; write [[{}]]", at.path),
            _ => wrong("an array of tables", value),
        };
        Err(at.error(message))
    }

    fn write(&self, nodes: &[String]) -> Option<Json> {
        Some(self.iter().filter_map(|table| table.write(nodes)).collect())
    }

    fn about(within: &Self::Within, names: &Names) -> About {
        let (items, [min, max]) = (Shape::of::<T>(names).schema(names), [within.start(), within.end()]);
        let schema = json!({ "type": "array", "items": items, "minItems": min, "maxItems": max });
        About::new("an array of tables", schema)
    }

    fn inside(names: &Names) -> Option<Shape> {
        Some(Shape { is_array: true, ..Shape::of::<T>(names) })
    }
}
