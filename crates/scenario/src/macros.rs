//! The declarations. One line of `table!` is a key: its name, its type, its bounds, its default and its documentation.
//! Everything else is generated: the field, the decoder, the encoder, the JSON Schema and the reference page.

/// Returns a mistake: its path, what is wrong.
macro_rules! fail {
    ($path:literal, $($message:tt)+) => {
        return Err($crate::InputError::new(format!($path), format!($($message)+)))
    };
}

/// Implements [`crate::item::Item`] for a single value: what its bounds are, how it is read, written (as JSON writes it
/// unless said otherwise) and described.
macro_rules! scalar {
    ($type:ty, $within:ty, $any:expr, $read:expr, $about:expr) => {
        scalar! { $type, $within, $any, $read, $about, |it, _| Some(::serde_json::json!(it)) }
    };
    ($type:ty, $within:ty, $any:expr, $read:expr, $about:expr, $write:expr) => {
        impl $crate::item::Item for $type {
            type Within = $within;
            const ANY: $within = $any;

            fn read(value: &::toml::Value, within: &$within, at: &$crate::at::At) -> $crate::Result<$type> {
                type Read =
                    fn(&::toml::Value, &$within, &$crate::at::At) -> $crate::Result<$type, $crate::item::Mistake>;
                let read: Read = $read;
                let about = || Self::about(within, at.cx.names);
                read(value, within, at).map_err(|mistake| mistake.at(at, value, about))
            }

            fn write(&self, nodes: &[String]) -> Option<::serde_json::Value> {
                let write: fn(&$type, &[String]) -> Option<::serde_json::Value> = $write;
                write(self, nodes)
            }

            fn about(within: &$within, names: &$crate::Names) -> $crate::item::About {
                let about: fn(&$within, &$crate::Names) -> $crate::item::About = $about;
                about(within, names)
            }
        }
    };
}

/// The parts of a key's declaration.
macro_rules! part {
    // Its name: that of its field unless the declaration says otherwise.
    (name $field:ident) => { stringify!($field) };
    (name $field:ident $name:literal) => { $name };
    // The type that is read: that of its field unless the declaration says otherwise.
    (type $type:ty) => { $type };
    (type $type:ty, $via:ty) => { $via };
    (convert $value:expr) => { $value };
    (convert $value:expr, $from:ty => $to:ty, $by:expr) => {{ let convert: fn($from) -> $to = $by; convert($value) }};
    // Its bounds.
    (within $type:ty) => { <$type as $crate::item::Item>::ANY };
    (within $type:ty, $within:expr) => { $within };
    // What it says of its absence; a default is spelt as a file would.
    (need) => { $crate::shape::Need::Required };
    (need = { $($inside:tt)* }) => { $crate::shape::Need::Default(|| $crate::shape::inline(stringify!({ $($inside)* }))) };
    (need = $default:literal) => { $crate::shape::Need::Default(|| ::toml::Value::from($default)) };
    (need or $words:expr) => { $crate::shape::Need::Or($words) };
    // Its value then. Defaults in the file's spelling have been read with the rest.
    (absent) => { unreachable!("the key is required, or has a default") };
    (absent $words:expr) => { None };
    (absent $words:expr => $other:expr) => { $other };
    // The field of a configuration that a key sets.
    (field $config:ident [$($into:ident).+]) => { &mut $config.$($into).+ };
    (shown $config:ident [$($into:ident).+]) => { &$config.$($into).+ };
    // A value that several keys make: taken, and written.
    (take $read:ident, $at:ident, $flat:ty) => { <$flat as $crate::shape::Keys>::take($read, $at)? };
    (take $read:ident, $at:ident, $flat:ty, $keys:ty) => {
        <$flat as $crate::shape::Via<$keys>>::from_keys(<$keys as $crate::shape::Keys>::take($read, $at)?, $at)?
    };
    (put $value:expr, $out:ident, $flat:ty) => { $crate::shape::Keys::put($value, $out) };
    (put $value:expr, $out:ident, $flat:ty, $keys:ty) => {
        $crate::shape::Keys::put(&$crate::shape::Via::<$keys>::to_keys($value), $out)
    };
}

/// A [`crate::shape::Key`].
macro_rules! key {
    ($name:expr, $docs:expr, $type:ty, $need:expr $(, $within:expr)?) => {{
        let codec = const { &$crate::item::Of::<$type>(part!(within $type $(, $within)?)) };
        $crate::shape::Key { name: $name, docs: $docs, need: $need, codec }
    }};
}

/// The keys of a table.
///
/// ```text
/// table! {
///     /// What all radios have in common.
///     pub struct Radio sets mac::Config {
///         /// The amendment whose rates and timing all radios follow.
///         standard: phy::Standard,
///         /// Transmissions in all of a frame up to the RTS threshold.
///         max_attempts: u8 = 7, in 1..=255, sets max_attempts,
///         /// Rate of data frames.
///         data_rate: BitRate, or "the standard's highest" => highest(standard),
///         /// Powers and thresholds.
///         levels => Levels,
///     }
/// }
/// ```
///
/// - `= 7`: the default, as a file spells it: a value, or an inline table.
/// - `in 1..=255`: bounds, where the type's own are too wide.
/// - `or "words" => expression`: what the documentation says of a key that is not written, and its value then, which may
///   depend on the fields above. Without an expression the field is an `Option`, and `None`.
/// - `sets max_attempts`: the field of the layer's configuration that the key sets ([`crate::sets`]). The table names the type
///   (`sets mac::Config`) and has a method `set` for all of them; with `shows` also one that takes them over from there.
/// - `field as "key": Type`: the key is spelt differently from the field.
/// - `field => Type`: no key, but all keys of `Type`, which is a table too. `field => Type as Keys`: all keys of `Keys`,
///   which make a `Type` together ([`crate::shape::Via`]).
macro_rules! table {
    (@sets $Table:ident [] $($key:tt)*) => {};
    (@sets $Table:ident [$Config:ty] $($field:ident $into:tt)+) => {
        impl $Table {
            /// Sets in a configuration what the keys say.
            pub fn set(&self, config: &mut $Config) {
                $($crate::sets::Sets::set(&self.$field, part!(field config $into));)+
            }
        }
    };
    (@shows $Table:ident [] $($key:tt)*) => {};
    (@shows $Table:ident [$Config:ty] $($field:ident $into:tt)+) => {
        impl $Table {
            /// Takes over what a configuration has.
            pub fn show(&mut self, config: &$Config) {
                $(self.$field = $crate::sets::Shows::show(part!(shown config $into));)+
            }
        }
    };
    ($(#[$meta:meta])* pub struct $Table:ident $(sets $Sets:ty)? $(, shows $Shows:ty)? {
        $(
            $(#[doc = $doc:literal])+
            $field:ident $(=> $flat:ty $(as $keys:ty)?)?
            $(
                $(as $key:literal)? : $type:ty $(= $default:tt)? $(, in $within:expr)?
                $(, or $words:expr $(=> $other:expr)?)? $(, sets $($into:ident).+)?
            )?
        ),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Table {
            $($(#[doc = $doc])+ pub $field: $($flat)? $($type)?),+
        }

        table! { @sets $Table [$($Sets)?] $($($($field [$($into).+])?)?)+ }
        table! { @shows $Table [$($Shows)?] $($($($field [$($into).+])?)?)+ }

        impl $crate::shape::Keys for $Table {
            fn describe(shape: &mut $crate::shape::Shape, _names: &$crate::Names) {
                $({
                    const _DOCS: &[&str] = &[$($doc),+];
                    $(<part!(type $flat $(, $keys)?) as $crate::shape::Keys>::describe(shape, _names);)?
                    $(shape.keys.push(key!(
                        part!(name $field $($key)?), _DOCS, $type, part!(need $(= $default)? $(or $words)?) $(, $within)?
                    ));)?
                })+
            }

            fn take(read: &mut $crate::shape::Read, _at: &$crate::at::At) -> $crate::Result<$Table> {
                $(
                    $(let $field = part!(take read, _at, $flat $(, $keys)?);)?
                    $(let $field: $type = match read.take::<$type>(part!(name $field $($key)?)) {
                        Some(item) => item,
                        None => part!(absent $($words $(=> $other)?)?),
                    };)?
                )+
                Ok($Table { $($field),+ })
            }

            fn put(&self, out: &mut $crate::shape::Object) {
                $(
                    $(part!(put &self.$field, out, $flat $(, $keys)?);)?
                    $(out.put::<$type>(part!(name $field $($key)?), &self.$field);)?
                )+
            }
        }
    };
}

/// A table whose keys depend on one word in it. The variants' keys are declared as those of a table.
///
/// ```text
/// tagged! {
///     /// Where nodes stand.
///     pub enum Layout, by "model", noun "layout" {
///         /// On a circle.
///         "star" => Star { /// Of the circle.
///             radius: Metres },
///     }
/// }
/// ```
///
/// `impl` in place of `pub enum` declares the keys of a layer's own type. `by "model" = "star"` says which word is meant if
/// there is none. A variant may hold a table in place of fields: `"tcp" => Tcp(Tcp)`. `field as "key": f64 as
/// Metres => (from, to)` spells the key differently from the field, and reads and writes it as another type.
macro_rules! tagged {
    ($(#[$meta:meta])* pub enum $Enum:ident, by $tag:literal $(= $first:literal)?, noun $noun:literal { $($body:tt)* }) => {
        tagged! { @enum [$(#[$meta])*] $Enum { $($body)* } }
        tagged! { impl $Enum, by $tag $(= $first)?, noun $noun { $($body)* } }
    };
    (@enum [$(#[$meta:meta])*] $Enum:ident {
        $(
            $(#[doc = $vdoc:literal])+
            $word:literal => $Variant:ident $(($table:ty))? $({
                $(
                    $(#[doc = $doc:literal])+
                    $field:ident $(=> $flat:ty $(as $keys:ty)?)?
                    $(: $type:ty $(= $default:tt)? $(, in $within:expr)? $(, or $words:expr $(=> $other:expr)?)?)?
                ),+ $(,)?
            })?
        ),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $Enum {
            $($(#[doc = $vdoc])+ $Variant $(($table))? $({
                $($(#[doc = $doc])+ $field: $($flat)? $($type)?),+
            })?),+
        }
    };
    (impl $Enum:ty $([$at:ident])?, by $tag:literal $(= $first:literal)?, noun $noun:literal {
        $(
            $(#[doc = $vdoc:literal])+
            $word:literal => $Variant:ident $(($table:ty))? $({
                $(
                    $(#[doc = $doc:literal])+
                    $field:ident $(=> $flat:ty $(as $keys:ty)?)?
                    $($(as $key:literal)? : $type:ty $(as $via:ty => ($from:expr, $to:expr))? $(= $default:tt)?
                        $(, in $within:expr)? $(, or $words:expr $(=> $other:expr)?)?)?
                ),+ $(,)?
            })?
        ),+ $(,)?
    }) => {
        impl $crate::shape::Keys for $Enum {
            fn describe(shape: &mut $crate::shape::Shape, _names: &$crate::Names) {
                let mut variants = Vec::new();
                $({
                    let mut _variant = $crate::shape::Shape::default();
                    $(<$table as $crate::shape::Keys>::describe(&mut _variant, _names);)?
                    $($({
                        const _DOCS: &[&str] = &[$($doc),+];
                        $(<part!(type $flat $(, $keys)?) as $crate::shape::Keys>::describe(&mut _variant, _names);)?
                        $(_variant.keys.push(key!(
                            part!(name $field $($key)?), _DOCS, part!(type $type $(, $via)?),
                            part!(need $(= $default)? $(or $words)?) $(, $within)?
                        ));)?
                    })+)?
                    variants.push($crate::shape::Variant { word: $word, docs: &[$($vdoc),+], keys: _variant.keys });
                })+
                let first = [$($first)?].first().copied();
                let (tag, noun, registry) = ($tag, $noun, None);
                shape.tagged = Some($crate::shape::Tagged { tag, noun, first, variants, registry });
            }

            fn take(read: &mut $crate::shape::Read, _at: &$crate::at::At) -> $crate::Result<$Enum> {
                $(let $at = _at;)?
                match read.word {
                    $($word => {
                        $($(
                            $(let $field = part!(take read, _at, $flat $(, $keys)?);)?
                            $(let $field: $type = match read.take::<part!(type $type $(, $via)?)>(
                                part!(name $field $($key)?)
                            ) {
                                Some(item) => part!(convert item $(, $via => $type, $from)?),
                                None => part!(absent $($words $(=> $other)?)?),
                            };)?
                        )+)?
                        Ok(Self::$Variant $((part!(take read, _at, $table)))? $({ $($field),+ })?)
                    })+
                    other => unreachable!("the word is one of the declaration, not {other}"),
                }
            }

            fn put(&self, out: &mut $crate::shape::Object) {
                match self.clone() {
                    $(Self::$Variant $((tagged!(@bind table $table)))? $({ $($field),+ })? => {
                        out.value($tag, $word.into());
                        $(part!(put &table, out, $table);)?
                        $($(
                            $(part!(put &$field, out, $flat $(, $keys)?);)?
                            $(out.put::<part!(type $type $(, $via)?)>(
                                part!(name $field $($key)?), &part!(convert $field $(, $type => $via, $to)?)
                            );)?
                        )+)?
                    })+
                }
            }
        }
    };
    (@bind $name:ident $table:ty) => { $name };
}

/// A value that one of several keys gives: `impl` for a layer's own type.
///
/// ```text
/// one_of! { impl queue::Limit {
///     /// Packets it holds.
///     packets => Packets(u32), in 1..=1_000_000, or "limited in bytes",
///     /// Bytes of IP datagrams it holds.
///     bytes => Bytes(Bytes), in SOME_BYTES, or "limited in packets",
/// } }
/// ```
macro_rules! one_of {
    ($(#[$meta:meta])* pub enum $Enum:ident { $($body:tt)* }) => {
        one_of! { @enum [$(#[$meta])*] $Enum { $($body)* } }
        one_of! { impl $Enum { $($body)* } }
    };
    (@enum [$(#[$meta:meta])*] $Enum:ident {
        $($(#[doc = $doc:literal])+ $key:ident => $Variant:ident($type:ty) $(, in $within:expr)?, or $words:expr),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum $Enum {
            $($(#[doc = $doc])+ $Variant($type)),+
        }
    };
    (impl $Enum:ty {
        $($(#[doc = $doc:literal])+ $key:ident => $Variant:ident($type:ty) $(, in $within:expr)?, or $words:expr),+ $(,)?
    }) => {
        impl $crate::shape::Keys for $Enum {
            fn describe(shape: &mut $crate::shape::Shape, _: &$crate::Names) {
                shape.one_of = [$(stringify!($key)),+].len();
                $(shape.keys.push(key!(
                    stringify!($key), &[$($doc),+], $type, part!(need or $words) $(, $within)?
                ));)+
            }

            fn take(read: &mut $crate::shape::Read, at: &$crate::at::At) -> $crate::Result<$Enum> {
                let mut found = Vec::new();
                $(found.extend(read.take::<$type>(stringify!($key)).map(<$Enum>::$Variant));)+
                let message = || format!("give either {}", [$(stringify!($key)),+].join(" or "));
                if let [only] = found[..] { Ok(only) } else { Err(at.error(message())) }
            }

            fn put(&self, out: &mut $crate::shape::Object) {
                match self {
                    $(Self::$Variant(item) => out.put::<$type>(stringify!($key), item),)+
                }
            }
        }
    };
}

/// An enumeration that a file spells as words: a layer's own (`impl phy::Standard`), or one of this crate (`pub enum`).
///
/// ```text
/// words! { impl phy::Preamble, noun "preamble" { "long" => Long, "short" => Short } }
/// ```
///
/// With `else Variant(type)` other values are read as that type.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $Enum:ident, noun $noun:literal {
        $($(#[doc = $doc:literal])+ $word:literal => $Variant:ident),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Enum {
            $($(#[doc = $doc])+ $Variant),+
        }

        words! { impl $Enum, noun $noun { $($word => $Variant),+ } }
    };
    (impl $Enum:ty, noun $noun:literal { $($word:literal => $Variant:ident),+ $(,)? }) => {
        impl $crate::words::Words for $Enum {
            const NOUN: &'static str = $noun;
            const WORDS: &'static [(&'static str, $Enum)] = &[$(($word, <$Enum>::$Variant)),+];
        }

        scalar! {
            $Enum, (), (), |value, (), _| $crate::words::read(value), |(), _| $crate::words::about::<$Enum>(),
            |it, _| Some($crate::words::Words::word(*it).into())
        }
    };
    ($(#[$meta:meta])* pub enum $Enum:ident {
        $($(#[doc = $doc:literal])+ $word:literal => $Variant:ident,)+
        else $(#[doc = $odoc:literal])+ $Other:ident($type:ty) $(, in $within:expr)? $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Enum {
            $($(#[doc = $doc])+ $Variant,)+
            $(#[doc = $odoc])+ $Other($type),
        }

        words! { impl $Enum { $($word => $Variant,)+ else $Other($type) $(, in $within)? } }
    };
    (impl $Enum:ty { $($word:literal => $Variant:ident,)+ else $Other:ident($type:ty) $(, in $within:expr)? $(,)? }) => {
        scalar! {
            $Enum, <$type as $crate::item::Item>::Within, part!(within $type $(, $within)?),
            |value, within, at| {
                $crate::words::read_or(value, &[$(($word, <$Enum>::$Variant)),+], within, at, <$Enum>::$Other)
            },
            |within, names| {
                $crate::words::about_or::<$Enum, $type>(&[$(($word, <$Enum>::$Variant)),+], within, names)
            },
            |it, nodes| {
                type It = $Enum;
                match it {
                    $(It::$Variant => Some($word.into()),)+
                    It::$Other(item) => $crate::item::Item::write(item, nodes),
                }
            }
        }
    };
}
