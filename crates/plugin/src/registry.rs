//! Lists of plug-ins, by id.

use crate::{Context, Param, Params, Value};
use core::fmt;

/// The declaration of a plug-in.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Its name in a scenario.
    pub id: &'static str,
    /// Its purpose, in one line.
    pub summary: &'static str,
    /// Key of its source in the bibliography (`docs/references.bib`), and a place in it: `CRS07, in SAN14 chapter 5`. Lists
    /// show author and year.
    pub source: &'static str,
    /// Its own keys in a scenario.
    pub params: &'static [Param],
}

/// The keys of a table that are not a plug-in's to declare: the plug-in's name, and the nodes that run it.
const RESERVED: [&str; 2] = ["name", "at"];

impl Info {
    /// Checks the declaration.
    fn check(&self) -> Result<(), String> {
        if self.params.len() > Params::MOST {
            return Err(format!("{} parameters are more than {}", self.params.len(), Params::MOST));
        }
        for (i, param) in self.params.iter().enumerate() {
            if RESERVED.contains(&param.key) || self.params[..i].iter().any(|other| other.key == param.key) {
                return Err(format!("parameter \"{}\" is there already", param.key));
            }
            if param.default != Value::Unset && !param.kind.allows(param.default) {
                return Err(format!("parameter \"{}\": the default is not what it may be", param.key));
            }
        }
        Ok(())
    }
}

/// The reason why a registry does not take a plug-in: its id is taken, or its parameters contradict themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Refused {}

/// A registered plug-in: `T` is what its layer needs to make one.
#[derive(Debug, Clone, Copy)]
pub struct Entry<T> {
    /// Its declaration.
    pub info: &'static Info,
    /// The means by which its layer makes one.
    pub plugin: T,
    context: Option<Context>,
}

impl<T> Entry<T> {
    /// One that stands in no registry.
    pub const fn new(info: &'static Info, plugin: T) -> Entry<T> {
        Entry { info, plugin, context: None }
    }
}

impl<T: Clone> Entry<T> {
    /// The plug-in with these parameters, and with what it was registered with.
    pub fn with(&self, params: Params) -> Chosen<T> {
        Chosen { info: self.info, plugin: self.plugin.clone(), params: params.in_context(self.context) }
    }

    /// The plug-in with its default parameters.
    pub fn chosen(&self) -> Chosen<T> {
        self.with(Params::defaults(self.info.params))
    }
}

/// A plug-in and its parameters, as a scenario chooses it.
#[derive(Debug, Clone)]
pub struct Chosen<T> {
    /// Its declaration.
    pub info: &'static Info,
    /// The means by which its layer makes one.
    pub plugin: T,
    /// All its parameters.
    pub params: Params,
}

/// Two choices are equal if they name the same plug-in with the same parameters.
impl<T> PartialEq for Chosen<T> {
    fn eq(&self, other: &Chosen<T>) -> bool {
        self.info.id == other.info.id && self.params == other.params
    }
}

/// The plug-ins of one kind, sorted by id; no id is there twice.
#[derive(Debug, Clone)]
pub struct Registry<T> {
    noun: &'static str,
    entries: Vec<Entry<T>>,
}

impl<T> Registry<T> {
    /// An empty registry. `noun` is what messages call one of its plug-ins: "congestion control".
    pub const fn new(noun: &'static str) -> Registry<T> {
        Registry { noun, entries: Vec::new() }
    }

    /// Adds a plug-in.
    ///
    /// # Errors
    /// The id is taken. A parameter is declared twice, is called `name` or `at`, or has a default that it may not have.
    pub fn add(&mut self, info: &'static Info, plugin: T) -> Result<(), Refused> {
        self.put(Entry::new(info, plugin))
    }

    fn put(&mut self, new: Entry<T>) -> Result<(), Refused> {
        let info = new.info;
        let refused = |why: &str| Refused(format!("{} \"{}\": {why}", self.noun, info.id));
        info.check().map_err(|why| refused(&why))?;
        match self.entries.binary_search_by(|entry| entry.info.id.cmp(info.id)) {
            Ok(_) => Err(refused("there is one of that name already")),
            Err(place) => {
                self.entries.insert(place, new);
                Ok(())
            }
        }
    }

    /// The registry with one plug-in more.
    ///
    /// # Errors
    /// See [`Registry::add`].
    pub fn with(mut self, info: &'static Info, plugin: T) -> Result<Registry<T>, Refused> {
        self.add(info, plugin)?;
        Ok(self)
    }

    /// The registry with one plug-in more, which finds `context` in its parameters ([`Params::context`]): for a function that
    /// makes plug-ins of many kinds, as a bridge to another language does.
    ///
    /// # Errors
    /// See [`Registry::add`].
    pub fn with_context(mut self, info: &'static Info, plugin: T, context: Context) -> Result<Registry<T>, Refused> {
        self.put(Entry { info, plugin, context: Some(context) })?;
        Ok(self)
    }

    /// A registry of these plug-ins.
    ///
    /// # Errors
    /// See [`Registry::add`].
    pub fn of(
        noun: &'static str,
        plugins: impl IntoIterator<Item = (&'static Info, T)>,
    ) -> Result<Registry<T>, Refused> {
        plugins.into_iter().try_fold(Registry::new(noun), |registry, (info, plugin)| registry.with(info, plugin))
    }

    /// The noun of messages for one of its plug-ins.
    pub fn noun(&self) -> &'static str {
        self.noun
    }

    /// The plug-in of that id.
    pub fn find(&self, id: &str) -> Option<&Entry<T>> {
        let place = self.entries.binary_search_by(|entry| entry.info.id.cmp(id));
        place.ok().map(|place| &self.entries[place])
    }

    /// All plug-ins, by id.
    pub fn iter(&self) -> core::slice::Iter<'_, Entry<T>> {
        self.entries.iter()
    }

    /// All ids, sorted.
    pub fn ids(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.info.id).collect()
    }

    /// True if there is no plug-in.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The declarations alone: all that a reader of scenarios needs.
    pub fn declarations(&self) -> Registry<()> {
        let entries = self.entries.iter().map(|entry| Entry::new(entry.info, ())).collect();
        Registry { noun: self.noun, entries }
    }
}

impl<'r, T> IntoIterator for &'r Registry<T> {
    type Item = &'r Entry<T>;
    type IntoIter = core::slice::Iter<'r, Entry<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The plug-ins of a layer, one line each: the id and the module that holds its `INFO` and `make`, or what else the function
/// is called.
///
/// ```text
/// plugin::registry! { "congestion control", Make:
///     "reno" => reno,
///     "veno" => veno,
/// }
/// ```
#[macro_export]
macro_rules! registry {
    ($noun:literal, $plugin:ty: $($id:literal => $module:ident),* $(,)?) => {
        $crate::registry! { $noun, $plugin as make: $($id => $module),* }
    };
    ($noun:literal, $plugin:ty as $make:ident: $($id:literal => $module:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// The ids of [`registry`], sorted.
        pub const NAMES: &[&str] = &[$($id),*];

        /// The plug-ins of this module. A program may add its own.
        pub fn registry() -> $crate::Registry<$plugin> {
            $crate::Registry::of($noun, [$((&$module::INFO, $module::$make as $plugin)),*])
                .expect("every plug-in has an id of its own and sound defaults; the tests make the registry")
        }

        /// The plug-in of that id in [`registry`], with its default parameters.
        pub fn find(id: &str) -> Option<$crate::Chosen<$plugin>> {
            registry().find(id).map($crate::Entry::chosen)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use units::Dur;

    const WAIT: Param = Param {
        key: "wait",
        kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1) },
        default: Value::Time(Dur::from_ms(20)),
        doc: "A time.",
    };

    const fn info(id: &'static str, params: &'static [Param]) -> Info {
        Info { id, summary: "", source: "", params }
    }

    static SLOW: Info = info("slow", &[WAIT]);
    static FAST: Info = info("fast", &[]);

    #[test]
    fn entries_are_sorted_whatever_the_order_they_come_in() {
        let registry = Registry::of("pace", [(&SLOW, 1), (&FAST, 2)]).unwrap();
        assert_eq!((registry.ids(), registry.noun()), (vec!["fast", "slow"], "pace"));
        assert_eq!(registry.find("slow").map(|entry| entry.plugin), Some(1));
        assert!(registry.find("slower").is_none());
        assert_eq!(registry.declarations().ids(), ["fast", "slow"]);
    }

    #[test]
    fn one_id_twice_is_an_error() {
        let registry = Registry::of("pace", [(&SLOW, 1)]).unwrap();
        let error = registry.with(&SLOW, 2).unwrap_err();
        assert_eq!(error.to_string(), "pace \"slow\": there is one of that name already");
    }

    #[test]
    fn a_plug_in_finds_what_it_was_registered_with_and_no_other_type() {
        let registry = Registry::of("pace", [(&SLOW, ())]).unwrap().with_context(&FAST, (), &7_u32).unwrap();
        let of = |id| registry.find(id).unwrap().chosen().params;
        assert_eq!((of("fast").context::<u32>(), of("fast").context::<i64>()), (Some(&7), None));
        assert_eq!(of("slow").context::<u32>(), None);
        assert!(registry.with_context(&FAST, (), &8_u32).is_err());
    }

    #[test]
    fn a_declaration_that_contradicts_itself_is_an_error() {
        static TWICE: Info = info("a", &[WAIT, WAIT]);
        static NAME: Info = info("a", &[Param { key: "name", ..WAIT }]);
        static SHORT: Info = info("a", &[Param { default: Value::Time(Dur::from_us(1)), ..WAIT }]);
        for (info, why) in [
            (&TWICE, "parameter \"wait\" is there already"),
            (&NAME, "parameter \"name\" is there already"),
            (&SHORT, "parameter \"wait\": the default is not what it may be"),
        ] {
            let error = Registry::of("pace", [(info, ())]).unwrap_err();
            assert_eq!(error.to_string(), format!("pace \"a\": {why}"));
        }
    }

    #[test]
    fn a_choice_has_the_defaults_until_something_else_is_set() {
        let registry = Registry::of("pace", [(&SLOW, ())]).unwrap();
        let entry = registry.find("slow").unwrap();
        let mut params = Params::defaults(entry.info.params);
        assert_eq!(entry.with(params.clone()), entry.chosen());
        params.set("wait", Value::Time(Dur::from_ms(30)));
        assert_ne!(entry.with(params.clone()), entry.chosen());
        assert_eq!(params.time("wait"), Dur::from_ms(30));
    }
}
