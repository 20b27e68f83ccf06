//! Plug-ins that a scenario chooses: `congestion = "veno"`, or with parameters `{ name = "veno", beta = 3 }`.

use crate::at::At;
use crate::item::{About, wrong};
use crate::shape::{Docs, Key, Keys, Need, Object, Read, Shape, Tagged, Variant};
use crate::{Names, Result, scalar};
use core::marker::PhantomData;
use plugin::{Chosen, Entry, Info, Params, Registry, Value as ParamValue, suggest};
use serde_json::{Value as Json, json};
use toml::Value;

/// The registry that a plug-in is of.
pub trait Registered: Copy + core::fmt::Debug + PartialEq + 'static {
    /// The arguments with which its layer makes one; `()` where the reader does not try the parameters.
    type Plugin: Clone + 'static;
    /// The documentation of the key that names a plug-in.
    const DOCS: Docs;
    /// The key that names a plug-in in a table.
    const TAG: &'static str = "name";
    /// The plug-in of a table that names none.
    const FIRST: Option<&'static str> = None;
    /// True if a preset has values of its own for parameters that a table does not set, so that only those it sets are written.
    const BY_PRESET: bool = false;
    /// True if a program that adds plug-ins is likely, so that messages and pages do not speak of those there are as of all.
    const IS_OPEN: bool = true;
    /// The registry.
    fn registry(names: &Names) -> &Registry<Self::Plugin>;
}

macro_rules! kind {
    ($(#[$doc:meta])* $Kind:ident, $registry:ident, $docs:literal $(, BY_PRESET = $by_preset:literal)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $Kind;

        impl Registered for $Kind {
            type Plugin = ();
            const DOCS: Docs = &[$docs];
            $(const BY_PRESET: bool = $by_preset;)?
            fn registry(names: &Names) -> &Registry<()> {
                &names.$registry
            }
        }
    };
}

kind! {
    /// Congestion controls.
    Congestion, congestion, "See `interlayer list congestion`. The preset's own one keeps the preset's parameters where none are set.",
    BY_PRESET = true
}
kind! {
    /// Acknowledgement policies of TCP receivers.
    Receivers, receivers, "See `interlayer list receivers`."
}
kind! {
    /// Loss recoveries of TCP senders.
    Recoveries, recoveries, "See `interlayer list recovery`."
}
kind! {
    /// Routers.
    Routers, routers, "See `interlayer list routing`.", BY_PRESET = true
}
kind! {
    /// Metrics of computed routes.
    RouteMetrics, route_metrics, "See `interlayer list route-metrics`."
}
kind! {
    /// Rate controls of stations.
    RateControls, rate_controls, "See `interlayer list rate-controls`."
}
kind! {
    /// Cross-layer schemes.
    Schemes, schemes, "See `interlayer list schemes`."
}

/// Queue disciplines: their keys stand beside those of the limit, and the reader tries them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disciplines;

impl Registered for Disciplines {
    type Plugin = queue::Make;
    const DOCS: Docs = &["See `interlayer list queues`."];
    const TAG: &'static str = "discipline";
    const FIRST: Option<&'static str> = Some(queue::DEFAULT);
    const IS_OPEN: bool = false;
    fn registry(names: &Names) -> &Registry<queue::Make> {
        &names.queues
    }
}

/// Traffic models of users, who open connections: words beside those of models that write on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Users;

impl Registered for Users {
    type Plugin = ();
    const DOCS: Docs = &["See `interlayer list traffic`."];
    const TAG: &'static str = "model";
    const IS_OPEN: bool = false;
    fn registry(names: &Names) -> &Registry<()> {
        &names.traffic
    }
}

/// A registered plug-in, and all its parameters: what the file sets, and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Plug<K> {
    /// The plug-in.
    pub chosen: Chosen<()>,
    kind: PhantomData<K>,
}

impl<K> Plug<K> {
    /// A plug-in with these parameters, of which it has all.
    pub fn new(info: &'static Info, params: Params) -> Plug<K> {
        Plug { chosen: Chosen { info, plugin: (), params }, kind: PhantomData }
    }

    /// The name of the plug-in.
    pub fn id(&self) -> &'static str {
        self.chosen.info.id
    }
}

/// The keys of a table that names a plug-in are its name and its parameters. The name alone may stand for the table.
impl<K: Registered> Keys for Plug<K> {
    fn describe(shape: &mut Shape, names: &Names) {
        let key = |param: &'static plugin::Param| {
            let need = if param.default == ParamValue::Unset { Need::Required } else { Need::Or("") };
            Key { name: param.key, docs: &[], need, codec: param }
        };
        let registry = K::registry(names);
        let variants = registry.iter().map(|Entry { info, .. }| {
            let keys = info.params.iter().map(key).collect();
            let docs = if K::IS_OPEN { K::DOCS } else { core::slice::from_ref(&info.summary) };
            Variant { word: info.id, docs, keys }
        });
        let (noun, variants) = (registry.noun(), variants.collect());
        let open = K::IS_OPEN.then_some(K::DOCS);
        shape.tagged = Some(Tagged { tag: K::TAG, noun, first: K::FIRST, variants, registry: open });
    }

    fn take(read: &mut Read, at: &At) -> Result<Plug<K>> {
        let entry = K::registry(at.cx.names).find(read.word).expect("the table was read by the registry");
        let mut params = Params::defaults(entry.info.params);
        for param in entry.info.params {
            if let Some(value) = read.take::<ParamValue>(param.key) {
                params.set(param.key, value);
            }
        }
        Ok(Plug::new(entry.info, params))
    }

    fn put(&self, out: &mut Object) {
        out.value(K::TAG, json!(self.id()));
        let params = &self.chosen.params;
        if K::BY_PRESET {
            params.given().for_each(|(key, value)| out.value(key, scalar::spell(value)));
        } else {
            params.iter().for_each(|(key, value)| out.value(key, scalar::spell(value)));
        }
    }

    fn read_short(value: &Value, at: &At) -> Result<Plug<K>> {
        let registry = K::registry(at.cx.names);
        let text =
            value.as_str().ok_or_else(|| at.error(wrong(format!("the name of a {}", registry.noun()), value)))?;
        let unknown = || at.error(suggest::no_such(registry.noun(), text, &registry.ids()));
        let entry = registry.find(text).ok_or_else(unknown)?;
        Ok(Plug::new(entry.info, Params::defaults(entry.info.params)))
    }

    fn write_short(&self) -> Option<Json> {
        self.chosen.info.params.is_empty().then(|| json!(self.id()))
    }

    fn about_short(about: &mut About, names: &Names) {
        let ids = K::registry(names).ids();
        let name =
            if ids.is_empty() { json!({ "type": "string" }) } else { json!({ "type": "string", "enum": ids }) };
        about.schema = json!({ "anyOf": [name, about.schema] });
    }
}
