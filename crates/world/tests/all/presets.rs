//! `preset`: one word sets all choices of a stack, a key beside it wins, and `effective` shows each.

use std::sync::atomic::AtomicBool;
use world::{Blueprint, Record};

fn parse(transport: &str) -> Blueprint {
    let text = format!(
        "[scenario]\nduration = \"3 s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nbetween = [\"a\", \"b\"]\n\
         rate = \"10 Mb/s\"\ndelay = \"20 ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\"{transport} }}\n"
    );
    world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A key of the flow's transport, as `check --effective` shows it.
fn key(transport: &str, key: &str) -> String {
    parse(transport).effective().to_json()["flow"][0]["transport"][key].to_string()
}

#[test]
fn linux_sets_every_choice() {
    for (name, value) in [
        ("preset", "\"linux\""),
        ("initial_window", "10"),
        ("sack", "true"),
        ("prr", "true"),
        ("rack", "true"),
        ("tlp", "true"),
        ("undo", "\"all\""),
        ("timestamps", "true"),
        ("quickack", "true"),
        ("granularity", "\"200 ms\""),
        ("min_rto", "\"200 ms\""),
        ("window_scale", "6"),
        ("pacing", "false"),
        ("count_delivered", "true"),
        ("local_congestion", "true"),
        ("small_queue", "\"linux\""),
    ] {
        assert_eq!(key(", preset = \"linux\"", name), value, "{name}");
    }
    let congestion =
        parse(", preset = \"linux\"").effective().to_json()["flow"][0]["transport"]["congestion"].clone();
    assert_eq!((congestion["name"].as_str(), congestion["hystart"].as_bool()), (Some("cubic"), Some(true)));
}

/// `hystart`, `linux` and `c` of the controller of a transport.
fn cubic(transport: &str) -> (Option<bool>, Option<bool>, Option<f64>) {
    let found = parse(transport).effective().to_json()["flow"][0]["transport"]["congestion"].clone();
    assert_eq!(found["name"], "cubic");
    (found["hystart"].as_bool(), found["linux"].as_bool(), found["c"].as_f64())
}

#[test]
fn the_presets_own_controller_by_its_name_is_the_presets() {
    let linux = |congestion: &str| cubic(&format!(", preset = \"linux\", congestion = {congestion}"));
    assert_eq!(cubic(", preset = \"linux\""), (Some(true), Some(true), Some(0.4)));
    assert_eq!(linux("\"cubic\""), (Some(true), Some(true), Some(0.4)));
    assert_eq!(linux("{ name = \"cubic\" }"), (Some(true), Some(true), Some(0.4)));
    assert_eq!(linux("{ name = \"cubic\", c = 0.5 }"), (Some(true), Some(true), Some(0.5)));
    assert_eq!(linux("{ name = \"cubic\", hystart = false }"), (Some(false), Some(true), Some(0.4)));
    assert_eq!(cubic(", preset = \"rfc\", congestion = \"cubic\""), (Some(false), Some(false), Some(0.4)));
}

#[test]
fn ns2_and_rfc_differ_where_they_do() {
    for (preset, window, rto, ssthresh, receiver) in [
        ("ns2", "20", "\"200 ms\"", "\"29200 B\"", "\"every\""),
        ("rfc", "null", "\"1 s\"", "\"unlimited\"", "\"delayed-ack\""),
    ] {
        let with = format!(", preset = \"{preset}\"");
        assert_eq!(key(&with, "max_window"), window);
        assert_eq!(key(&with, "min_rto"), rto);
        assert_eq!(key(&with, "initial_ssthresh"), ssthresh);
        assert_eq!(key(&with, "receiver"), receiver);
        assert_eq!(key(&with, "initial_window"), "2");
    }
}

#[test]
fn a_key_beside_a_preset_wins_and_the_window_scale_follows_the_buffer() {
    let with = ", preset = \"linux\", congestion = \"reno\", initial_window = 3, receive_buffer = \"64 kB\"";
    assert_eq!(key(with, "congestion"), "\"reno\"");
    assert_eq!(key(with, "initial_window"), "3");
    assert_eq!(key(with, "receive_buffer"), "\"64000 B\"");
    assert_eq!(key(with, "window_scale"), "0");
    assert_eq!(key(with, "rack"), "true");
    // Without SACK, or with a recovery that does without, what needs it falls away; asked for, it is refused.
    for with in ["sack = false", "recovery = \"newreno\"", "congestion = \"tahoe\""] {
        let with = format!(", preset = \"linux\", {with}");
        assert_eq!([key(&with, "prr"), key(&with, "rack"), key(&with, "tlp")], ["false"; 3], "{with}");
    }
    let error = world::parse(
        "[scenario]\nduration = \"1 s\"\n[radio]\nstandard = \"802.11b\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = { preset = \"linus\" }\n",
        &[],
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "flow[0].transport.preset: no preset \"linus\"; did you mean \"linux\"?"
    );
}

/// A packet that the queue of the own host refuses was not sent: an upload through a short queue, on a wire and on the air,
/// repeats nothing and waits for no timer. Without the key each refusal is a loss that the network's feedback tells of.
#[test]
fn with_preset_linux_the_own_hosts_queue_loses_nothing() {
    let wire =
        "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mb/s\"\ndelay = \"20 ms\"\nqueue = { packets = 20 }\n";
    let air = "[radio]\nstandard = \"802.11g\"\nqueue = { packets = 20 }\n";
    for medium in [wire, air] {
        let counts = |key: &str| {
            let text = format!(
                "[scenario]\nduration = \"5 s\"\n{medium}[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[flow]]\nfrom = \"a\"\n\
                 to = \"b\"\ntransport = {{ protocol = \"tcp\", preset = \"linux\", small_queue = \"off\"{key} }}\n"
            );
            let blueprint = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
            let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
            ["retransmissions", "timeouts", "goodput_bps"].map(|name| run.flow(0, name).unwrap())
        };
        let [repeated, timeouts, goodput] = counts("");
        assert_eq!((repeated, timeouts), (0.0, 0.0), "{medium}");
        let [without, _, less] = counts(", local_congestion = false");
        assert!(without > 0.0, "{medium}");
        assert!(goodput > 0.9 * less, "{medium}: {goodput} {less}");
    }
}
