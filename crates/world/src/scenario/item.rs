//! A decoded table: every value checked against its key's description, defaults filled in.

use schemes::Value as ParamValue;
use units::{BitRate, Bytes, Db, Dbm, Dur, Hertz};

/// A value of the kind its key asks for.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Bool(bool),
    Int(i64),
    Num(f64),
    Text(String),
    /// A word of the description.
    Word(&'static str),
    Time(Dur),
    Rate(BitRate),
    Size(Bytes),
    Gain(Db),
    Level(Dbm),
    Frequency(Hertz),
    List(Vec<Item>),
    Table(Fields),
    /// Parameter of a scheme.
    Param(ParamValue),
}

/// The keys of one table, those with defaults always among them.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub entries: Vec<(&'static str, Item)>,
    /// The word that chose the keys, in a tagged table; the scheme's name in `[[scheme]]`.
    pub tag: &'static str,
}

/// How a field is taken out as a Rust value.
pub(super) trait Take<'a>: Sized {
    fn take(item: &'a Item) -> Option<Self>;
}

impl Fields {
    /// The value of a key that may be absent.
    ///
    /// # Panics
    /// If the builder asks for another type than the key's description says: a mistake in this module, found by the
    /// test that reads every key.
    pub fn opt<'a, T: Take<'a>>(&'a self, key: &str) -> Option<T> {
        let (_, item) = self.entries.iter().find(|(name, _)| *name == key)?;
        Some(T::take(item).unwrap_or_else(|| panic!("key \"{key}\" holds {item:?}")))
    }

    /// The value of a key that is required or has a default.
    ///
    /// # Panics
    /// As [`Fields::opt`].
    pub fn get<'a, T: Take<'a>>(&'a self, key: &str) -> T {
        self.opt(key).unwrap_or_else(|| panic!("key \"{key}\" is neither required nor has it a default"))
    }

    /// The tables of an array, none when it is absent.
    pub fn tables<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Fields> {
        self.opt::<&[Item]>(key).unwrap_or_default().iter().filter_map(|item| match item {
            Item::Table(fields) => Some(fields),
            _ => None,
        })
    }
}

macro_rules! take {
    ($($type:ty: $item:pat => $value:expr),* $(,)?) => {$(
        impl<'a> Take<'a> for $type {
            fn take(item: &'a Item) -> Option<$type> {
                match item {
                    $item => $value,
                    _ => None,
                }
            }
        }
    )*};
}

take! {
    bool: Item::Bool(on) => Some(*on),
    u8: Item::Int(int) => u8::try_from(*int).ok(),
    u16: Item::Int(int) => u16::try_from(*int).ok(),
    u32: Item::Int(int) => u32::try_from(*int).ok(),
    u64: Item::Int(int) => u64::try_from(*int).ok(),
    f64: Item::Num(num) => Some(*num),
    Dur: Item::Time(dur) => Some(*dur),
    BitRate: Item::Rate(rate) => Some(*rate),
    Bytes: Item::Size(bytes) => Some(*bytes),
    Db: Item::Gain(gain) => Some(*gain),
    Dbm: Item::Level(level) => Some(*level),
    Hertz: Item::Frequency(frequency) => Some(*frequency),
    &'a Fields: Item::Table(fields) => Some(fields),
    &'a [Item]: Item::List(items) => Some(items.as_slice()),
}

impl<'a> Take<'a> for &'a Item {
    fn take(item: &'a Item) -> Option<&'a Item> {
        Some(item)
    }
}

impl<'a> Take<'a> for &'a str {
    fn take(item: &'a Item) -> Option<&'a str> {
        match item {
            Item::Text(text) => Some(text.as_str()),
            Item::Word(word) => Some(word),
            _ => None,
        }
    }
}
