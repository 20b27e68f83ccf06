//! The constants of a protocol as a scenario sets them, with a preset for what it does not say.

use plugin::{Kind, Param, Params, Value};
use units::Dur;

pub(super) const SOME_TIME: Kind = Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(3600) };

pub(super) const fn param(key: &'static str, kind: Kind, default: Value, doc: &'static str) -> Param {
    Param { key, kind, default, doc }
}

pub(super) const fn ms(ms: u64) -> Value {
    Value::Time(Dur::from_ms(ms))
}

/// These parameters; those that were not set have the values of `preset`, if it is the one that they name.
pub(super) fn with_preset(params: &Params, preset: &str, values: &[(&str, Value)]) -> Params {
    let mut unsaid = params.clone();
    if params.choice("preset") == preset {
        values.iter().for_each(|(key, value)| unsaid.set(key, *value));
    }
    params.over(&unsaid)
}
