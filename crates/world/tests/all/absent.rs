//! Features that are not modelled are said to be absent where a user would write them, and nothing that is modelled is.

use plugin::absent::{ABSENT, INSTEAD, message};
use serde_json::Value;
use std::collections::BTreeSet;
use world::Registries;

/// The place where a scenario names a thing of this kind: a path and a value.
fn place(noun: &str, name: &str) -> Option<(&'static str, String)> {
    Some(match noun {
        "standard" => ("radio.standard", format!("{name:?}")),
        "width" => ("radio.width", format!("{name:?}")),
        "congestion control" => ("flow.0.transport.congestion", format!("{name:?}")),
        "recovery" => ("flow.0.transport.recovery", format!("{name:?}")),
        "receiver" => ("flow.0.transport.receiver", format!("{name:?}")),
        "rate control" => ("radio.rate_control", format!("{name:?}")),
        "router" => ("routing", format!("{name:?}")),
        "queue discipline" => ("radio.queue", format!("{{ discipline = {name:?} }}")),
        "transport protocol" => ("flow.0.transport", format!("{{ protocol = {name:?} }}")),
        "traffic model" => ("flow.0.traffic", format!("{{ model = {name:?} }}")),
        "propagation model" => ("channel.propagation", format!("{{ model = {name:?} }}")),
        "fading model" => ("channel.fading", format!("{{ model = {name:?} }}")),
        "scheme" => ("scheme", format!("[{{ name = {name:?} }}]")),
        "key" => return None,
        _ => panic!("where does a scenario name a {noun}?"),
    })
}

const TEXT: &str = "[scenario]\nduration = \"1 s\"\n[radio]\nstandard = \"802.11b\"\n[channel]\npropagation = { model = \
                    \"free-space\" }\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\nposition = [1, 0]\n[[flow]]\n\
                    from = \"a\"\nto = \"b\"\ntransport = { protocol = \"tcp\" }\n";

fn refusal(path: &str, value: &str) -> String {
    world::parse(TEXT, &[(path.to_owned(), value.to_owned())]).expect_err("it is not there").to_string()
}

#[test]
fn each_absent_name_is_said_to_be_absent_where_it_is_written() {
    for absent in ABSENT {
        for name in absent.names {
            let line = match place(absent.noun, name) {
                Some((path, value)) => refusal(path, &value),
                None => refusal(&format!("radio.{name}"), "1"),
            };
            let near = match absent.near {
                "" => String::new(),
                near => format!("; the nearest that is: \"{near}\""),
            };
            let said = format!("{} \"{name}\" is not modelled yet, see docs/not-modelled.md{near}", absent.noun);
            assert!(line.ends_with(&said), "{line}");
        }
    }
    for (noun, name, instead) in INSTEAD {
        let line = match place(noun, name) {
            Some((path, value)) => refusal(path, &value),
            None => refusal(&format!("radio.{name}"), "1"),
        };
        assert!(line.ends_with(instead), "{noun} {name}: {line}");
    }
}

#[test]
fn the_nearest_of_an_absent_name_is_modelled() {
    let mut known = BTreeSet::new();
    words(&serde_json::from_str(&world::schema(&Registries::builtin())).unwrap(), &mut known);
    for absent in ABSENT.iter().filter(|absent| !absent.near.is_empty()) {
        let is_known = match place(absent.noun, absent.near) {
            // Another key may be missing beside it, but the name itself is not refused.
            Some((path, value)) => !world::parse(TEXT, &[(path.to_owned(), value)])
                .is_err_and(|error| error.all().any(|one| one.message.contains(&format!("{:?}", absent.near)))),
            None => known.contains(&(true, absent.near.to_owned())),
        };
        assert!(is_known, "{} {:?} is near {:?}", absent.noun, absent.near, absent.names);
    }
}

#[test]
fn who_is_near_an_absent_name_is_not_suggested_and_who_is_no_name_is() {
    let far = refusal("radio.standard", "\"802.11be\"");
    assert!(!far.contains("did you mean"), "{far}");
    assert!(refusal("radio.standard", "\"802.11bb\"").contains("did you mean \"802.11b\"?"));
    assert!(refusal("flow.0.transport.congestion", "\"rneo\"").contains("did you mean \"reno\"?"));
}

/// Every word and key that a scenario may have, plug-ins among them.
fn words(schema: &Value, into: &mut BTreeSet<(bool, String)>) {
    match schema {
        Value::Object(map) => {
            // Its words are no other kind's: a trace of motion is no traffic model.
            for (key, value) in map.iter().filter(|(key, _)| *key != "mobility") {
                match (key.as_str(), value) {
                    ("properties", Value::Object(keys)) => into.extend(keys.keys().map(|key| (true, key.clone()))),
                    ("const", Value::String(word)) => _ = into.insert((false, word.clone())),
                    ("enum", Value::Array(all)) => {
                        into.extend(all.iter().filter_map(Value::as_str).map(|word| (false, word.to_owned())));
                    }
                    _ => {}
                }
                words(value, into);
            }
        }
        Value::Array(all) => all.iter().for_each(|value| words(value, into)),
        _ => {}
    }
}

#[test]
fn no_name_is_both_modelled_and_absent() {
    let registries = Registries::builtin();
    let known = [
        ("scheme", registries.schemes.ids()),
        ("congestion control", registries.congestion.ids()),
        ("receiver", registries.receivers.ids()),
        ("recovery", registries.recoveries.ids()),
        ("rate control", registries.rate_controls.ids()),
        ("router", registries.routers.ids()),
    ];
    for (noun, id) in known.iter().flat_map(|(noun, ids)| ids.iter().map(move |id| (*noun, *id))) {
        let line = "delete it from crates/plugin/src/absent.rs, and its name from docs/not-modelled.md";
        assert_eq!(message(noun, id), None, "{noun} \"{id}\" is modelled now: {line}");
    }
    let mut found = BTreeSet::new();
    words(&serde_json::from_str(&world::schema(&Registries::builtin())).unwrap(), &mut found);
    assert!(found.contains(&(false, "802.11g".to_owned())) && found.contains(&(true, "rts_threshold".to_owned())));
    for absent in ABSENT.iter().filter(|absent| known.iter().all(|(noun, _)| *noun != absent.noun)) {
        for name in absent.names {
            assert!(!found.contains(&(absent.noun == "key", (*name).to_owned())), "{} {name} is there", absent.noun);
        }
    }
}
