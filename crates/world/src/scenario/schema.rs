//! The JSON Schema of a scenario, from the descriptions in `keys.rs`.

use super::Names;
use super::key::{Key, Kind, MOST_ENTRIES, Need, Registry, Table, Tagged};
use super::keys;
use schemes::{Param, Value as ParamValue};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a scenario file, of any congestion controls, receivers and schemes.
pub fn json_schema() -> String {
    json_schema_for(&Names::default())
}

/// The same, with the registered names listed and the parameters of each scheme spelled out. Lists that are empty allow
/// anything.
pub fn json_schema_for(names: &Names) -> String {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Interlayer scenario",
        "description": "A scenario file of Interlayer, as TOML or its equivalent in JSON.",
    });
    merge(&mut schema, of_table(&keys::SCENARIO, names));
    format!("{schema:#}\n")
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

fn object(properties: Map<String, Value>, required: Vec<&str>) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn of_table(table: &Table, names: &Names) -> Value {
    if table.scheme.is_some() {
        return of_schemes(table, names);
    }
    let mut schema = of_keys(table.keys, names);
    if table.one_of {
        merge(&mut schema, json!({ "minProperties": 1, "maxProperties": 1 }));
    }
    schema
}

fn of_keys(keys: &[Key], names: &Names) -> Value {
    let properties = keys.iter().map(|key| (key.name.to_owned(), of_key(key, names))).collect();
    object(properties, required(keys))
}

fn required(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().filter(|key| matches!(key.need, Need::Required)).map(|key| key.name).collect()
}

fn of_key(key: &Key, names: &Names) -> Value {
    let mut schema = of_kind(key.kind, names);
    match key.need {
        Need::Required => merge(&mut schema, json!({ "description": key.doc })),
        Need::Default(preset) => {
            merge(&mut schema, json!({ "description": key.doc, "default": plain(&preset.value()) }));
        }
        Need::Optional(without) => {
            merge(&mut schema, json!({ "description": format!("{} Default: {without}.", key.doc) }));
        }
    }
    schema
}

/// A TOML value as JSON.
fn plain(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => json!(text),
        toml::Value::Integer(int) => json!(int),
        toml::Value::Float(num) => json!(num),
        toml::Value::Boolean(on) => json!(on),
        toml::Value::Datetime(time) => json!(time.to_string()),
        toml::Value::Array(entries) => entries.iter().map(plain).collect(),
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
    }
}

fn of_kind(kind: Kind, names: &Names) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string", "minLength": 1, "maxLength": 200 }),
        Kind::Name => {
            json!({ "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^(?![0-9]+$)[^.\\[\\]]+$" })
        }
        Kind::NodeRef => json!({ "type": "string" }),
        Kind::Word { words, .. } => json!({ "type": "string", "enum": words }),
        Kind::Registered(Registry::Congestion) => registered(names.congestion),
        Kind::Registered(Registry::Receivers) => registered(names.receivers),
        Kind::Registered(Registry::Schemes) => json!({ "type": "string" }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Int { min, max: i64::MAX } => json!({ "type": "integer", "minimum": min }),
        Kind::Int { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Num { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Time { .. } => quantity("ns|us|µs|μs|ms|s|min", "20 ms"),
        Kind::Rate => quantity("b/s|kb/s|Mb/s|Gb/s|bit/s|kbit/s|Mbit/s", "11 Mb/s"),
        Kind::Size { .. } => quantity("B|kB|KB|MB|GB", "1500 B"),
        Kind::Gain => quantity("dB", "-70 dB"),
        Kind::Level => quantity("dBm", "16 dBm"),
        Kind::Frequency => quantity("Hz|kHz|MHz|GHz", "5.18 GHz"),
        Kind::Length => quantity("m|km", "22.5 m"),
        Kind::WordOr(words, other) => {
            json!({ "anyOf": [{ "type": "string", "enum": words }, of_kind(*other, names)] })
        }
        Kind::TimeOrNum => {
            let time = of_kind(Kind::Time { min_ns: 1 }, names);
            json!({ "anyOf": [time, { "type": "number", "minimum": 1 }] })
        }
        Kind::List { of, min, max } => {
            json!({ "type": "array", "items": of_kind(*of, names), "minItems": min, "maxItems": max })
        }
        Kind::Table(table) => of_table(table, names),
        Kind::Tagged(tagged) => of_tagged(tagged, names),
        Kind::Entries { of, min } => {
            json!({ "type": "array", "items": of_table(of, names), "minItems": min, "maxItems": MOST_ENTRIES })
        }
    }
}

fn registered(names: &[&str]) -> Value {
    if names.is_empty() { json!({ "type": "string" }) } else { json!({ "type": "string", "enum": names }) }
}

fn quantity(units: &str, example: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^\\s*[-+.0-9eE_]+\\s*({units})\\s*$"), "examples": [example] })
}

/// One alternative for each word.
fn of_tagged(tagged: &Tagged, names: &Names) -> Value {
    let alternatives = tagged.variants.iter().map(|variant| {
        let word = json!({ "const": variant.word, "description": variant.doc });
        let mut properties = Map::from_iter([(tagged.tag.to_owned(), word)]);
        properties.extend(variant.keys.iter().map(|key| (key.name.to_owned(), of_key(key, names))));
        let mut needed = required(variant.keys);
        if tagged.default != Some(variant.word) {
            needed.insert(0, tagged.tag);
        }
        object(properties, needed)
    });
    json!({ "oneOf": alternatives.collect::<Vec<_>>() })
}

/// One alternative for each scheme; when none is known, any name with any keys.
fn of_schemes(table: &Table, names: &Names) -> Value {
    if names.schemes.is_empty() {
        let mut schema = of_keys(table.keys, names);
        merge(&mut schema, json!({ "additionalProperties": true }));
        return schema;
    }
    let alternatives = names.schemes.iter().map(|(name, params)| {
        let keys = table.keys.iter().map(|key| match table.scheme {
            Some(tag) if tag == key.name => (tag.to_owned(), json!({ "const": name, "description": key.doc })),
            _ => (key.name.to_owned(), of_key(key, names)),
        });
        let mut properties: Map<String, Value> = keys.collect();
        properties.extend(params.iter().map(|param| (param.key.to_owned(), of_param(param, names))));
        object(properties, required(table.keys))
    });
    json!({ "oneOf": alternatives.collect::<Vec<_>>() })
}

fn of_param(param: &Param, names: &Names) -> Value {
    let mut schema = of_kind(Kind::of_param(param), names);
    merge(&mut schema, json!({ "description": param.doc, "default": param_value(param.default) }));
    schema
}

/// A scheme's parameter as the file would spell it.
pub(super) fn param_value(value: ParamValue) -> Value {
    match value {
        ParamValue::Bool(on) => json!(on),
        ParamValue::Int(int) => json!(int),
        ParamValue::Float(num) => json!(num),
        ParamValue::Time(dur) => json!(dur.to_string()),
        ParamValue::Size(bytes) => json!(bytes.to_string()),
        ParamValue::Power(level) => json!(format!("{} dBm", level.0)),
        ParamValue::Choice(word) => json!(word),
    }
}
