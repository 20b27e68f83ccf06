//! Plug-ins in a file: by name, or as a table of name and parameters.

use crate::common::{TCP, all_refused, changed, info, names, read};
use plugin::{Kind, Param, Registry, Value};
use scenario::{Names, Scenario};
use units::{Bytes, Dbm, Dur};

/// One parameter of each kind that has bounds of its own.
static PARAMS: [Param; 5] = [
    Param { key: "beta", kind: Kind::Float { min: 1.0, max: 9.0 }, default: Value::Float(3.0), doc: "A factor." },
    Param {
        key: "tick",
        kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(2) },
        default: Value::Time(Dur::from_ms(20)),
        doc: "A time.",
    },
    Param {
        key: "share",
        kind: Kind::Size { min: Bytes(100), max: Bytes(2_000) },
        default: Value::Size(Bytes(1_500)),
        doc: "A size.",
    },
    Param {
        key: "level",
        kind: Kind::Power { min: Dbm(-90.0), max: Dbm(20.0) },
        default: Value::Power(Dbm(0.0)),
        doc: "A power.",
    },
    Param { key: "fast", kind: Kind::Bool, default: Value::Bool(false), doc: "A switch." },
];
static VEGAS: plugin::Info = info("vegas", &PARAMS);
static RENO: plugin::Info = info("reno", &[]);

/// The names of the other tests, but `vegas` has parameters.
fn with_parameters() -> Names {
    Names { congestion: Registry::of("congestion control", [(&VEGAS, ()), (&RENO, ())]).unwrap(), ..names() }
}

fn with_congestion(congestion: &str) -> String {
    changed(TCP, "congestion = \"veno\"", &format!("congestion = {congestion}"))
}

fn chosen(scenario: &Scenario) -> &plugin::Chosen<()> {
    &scenario.flows[0].entry.transport.tcp().unwrap().congestion.as_ref().unwrap().chosen
}

#[test]
fn a_name_and_a_table_with_that_name_alone_mean_the_same() {
    for name in ["reno", "vegas"] {
        let plain = scenario::parse(&with_congestion(&format!("\"{name}\"")), &[], &with_parameters()).unwrap();
        let table =
            scenario::parse(&with_congestion(&format!("{{ name = \"{name}\" }}")), &[], &with_parameters()).unwrap();
        assert_eq!(plain, table);
        assert_eq!(chosen(&plain).info.id, name);
    }
    // A receiver is written in the same two ways.
    let receiver = changed(TCP, "receiver = \"delayed-ack\"", "receiver = { name = \"delayed-ack\" }");
    assert_eq!(read(&receiver).unwrap(), read(TCP).unwrap());
}

#[test]
fn parameters_are_those_of_the_file_and_defaults_for_the_others() {
    let text = with_congestion("{ name = \"vegas\", beta = 4, share = \"1 kB\", level = \"-3 dBm\" }");
    let scenario = scenario::parse(&text, &[], &with_parameters()).unwrap();
    let params = &chosen(&scenario).params;
    assert_eq!((params.float("beta"), params.time("tick")), (4.0, Dur::from_ms(20)));
    assert_eq!((params.size("share"), params.power("level"), params.bool("fast")), (Bytes(1_000), Dbm(-3.0), false));
    // Those that are set are written, and read again: of a controller the preset may have the others.
    let json = scenario.to_json();
    let written = &json["flow"][0]["transport"]["congestion"];
    assert_eq!(*written, serde_json::json!({ "name": "vegas", "beta": 4.0, "share": "1000 B", "level": "-3 dBm" }));
    let again = scenario::parse(&toml::to_string(&json).unwrap(), &[], &with_parameters()).unwrap();
    assert_eq!(again, scenario);
    let other = scenario::parse(&with_congestion("{ name = \"vegas\", beta = 5 }"), &[], &with_parameters()).unwrap();
    assert_ne!(other, scenario, "parameters are part of a scenario");
}

#[test]
fn an_override_reaches_a_parameter() {
    let set = [("flow.download.transport.congestion.beta".to_owned(), "7".to_owned())];
    let scenario = scenario::parse(&with_congestion("{ name = \"vegas\" }"), &set, &with_parameters()).unwrap();
    assert_eq!(chosen(&scenario).params.float("beta"), 7.0);
}

#[test]
fn mistakes_name_the_key_and_what_would_do() {
    for (congestion, line) in [
        ("{ name = \"vega\" }", ".name: no congestion control \"vega\"; did you mean \"vegas\"?"),
        ("{ name = 3 }", ".name: expected the name of a congestion control, got integer 3"),
        ("{ nme = \"vegas\" }", ".nme: no such key; did you mean \"name\"?"),
        ("{}", ".name: missing; expected the name of a congestion control"),
        ("{ name = \"vegas\", bta = 3 }", ".bta: no such key; did you mean \"beta\"?"),
        ("{ name = \"reno\", beta = 3 }", ".beta: no such key; known are \"name\""),
        ("[\"vegas\"]", ": expected the name of a congestion control, got an array"),
        ("{ name = \"vegas\", beta = 10 }", ".beta: expected a number from 1 to 9, got integer 10"),
        ("{ name = \"vegas\", tick = 20 }", ".tick: expected a string such as \"20 ms\", got integer 20"),
        ("{ name = \"vegas\", tick = \"1 us\" }", ".tick: expected a time from 1 ms to 2 s, got string \"1 us\""),
        (
            "{ name = \"vegas\", share = \"3 kB\" }",
            ".share: expected a size from 100 B to 2000 B, got string \"3 kB\"",
        ),
        (
            "{ name = \"vegas\", level = \"30 dBm\" }",
            ".level: expected a power from -90 dBm to 20 dBm, got string \"30 dBm\"",
        ),
    ] {
        let error = scenario::parse(&with_congestion(congestion), &[], &with_parameters()).expect_err(line);
        assert_eq!(error.to_string(), format!("flow[0].transport.congestion{line}"));
    }
}

#[test]
fn a_schemes_times_and_sizes_have_bounds_that_the_message_tells() {
    all_refused(
        TCP,
        &[
            (
                "guard = \"20 ms\"",
                "guard = \"9.1 s\"",
                "scheme[1].guard: expected a time from 0 ns to 9 s, got string \"9.1 s\"",
            ),
            (
                "reserve = \"3 kB\"",
                "reserve = \"10 kB\"",
                "scheme[1].reserve: expected a size from 0 B to 9000 B, got string \"10 kB\"",
            ),
        ],
    );
}

#[test]
fn the_schema_has_both_ways_to_choose_a_controller_and_its_parameters() {
    let schema: serde_json::Value = serde_json::from_str(&scenario::json_schema_for(&with_parameters())).unwrap();
    let transport = &schema["properties"]["flow"]["items"]["properties"]["transport"];
    let congestion = &transport["oneOf"][0]["properties"]["congestion"];
    assert_eq!(congestion["anyOf"][0]["enum"], serde_json::json!(["reno", "vegas"]));
    let tables = &congestion["anyOf"][1]["oneOf"];
    assert_eq!(tables[0]["properties"]["name"]["const"], "reno");
    let tick = &tables[1]["properties"]["tick"];
    assert_eq!((&tick["default"], &tick["description"]), (&"20 ms".into(), &"A time; from 1 ms to 2 s".into()));
}
