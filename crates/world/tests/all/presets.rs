//! `preset`: one word sets all choices of a stack, a key beside it wins, and `effective` shows each.

use world::Blueprint;

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
    ] {
        assert_eq!(key(", preset = \"linux\"", name), value, "{name}");
    }
    let congestion =
        parse(", preset = \"linux\"").effective().to_json()["flow"][0]["transport"]["congestion"].clone();
    assert_eq!((congestion["name"].as_str(), congestion["hystart"].as_bool()), (Some("cubic"), Some(true)));
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
