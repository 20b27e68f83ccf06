//! Three nodes, one of them out of reach: the smallest scenes in which reach decides.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// Two saturated senders, "a" and "c", of 802.11b and a receiver "b" between them.
fn run(channel: &str, flows: &[(&str, &str)]) -> Run {
    let mut text = format!(
        "[scenario]\nname = 'three'\nduration = '10 s'\n[radio]\nstandard = '802.11b'\nbasic_rate = '1 Mb/s'\n{channel}\n"
    );
    for name in ["a", "b", "c"] {
        text += &format!("[[node]]\nname = '{name}'\n");
    }
    for (from, to) in flows {
        text += &format!(
            "[[flow]]\nfrom = '{from}'\nto = '{to}'\n\
             transport = {{ protocol = 'udp', datagram = '1500 B' }}\ntraffic = {{ model = 'saturated' }}\n"
        );
    }
    let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance")
}

const HIDDEN: &str = "[[channel.pair]]\nbetween = ['a', 'c']\nreach = false";

fn summary(run: &Run, name: &str) -> f64 {
    Run::number(&run.summary, name).expect("a column")
}

/// Of frames of a class.
fn frames(run: &Run, class: &str, name: &str) -> f64 {
    let is_it = |row: &&world::Row| row.iter().any(|(_, cell)| *cell == world::Cell::Text(class.to_owned()));
    run.frames.iter().find(is_it).and_then(|row| Run::number(row, name)).unwrap_or(0.0)
}

#[test]
fn senders_that_do_not_hear_each_other_collide_at_the_one_between() {
    let flows = [("a", "b"), ("c", "b")];
    let (near, hidden) = (run("", &flows), run(HIDDEN, &flows));
    // In reach: Bianchi's two stations, p = 0.06. Hidden: a frame of 1310 µs survives only if the other is silent for all
    // of it and for 1310 µs before, with mean backoffs of 310 to 10,230 µs: most do not.
    assert!(summary(&near, "collision_probability") < 0.08);
    assert!(summary(&hidden, "collision_probability") > 0.4, "{}", summary(&hidden, "collision_probability"));
    assert!(summary(&hidden, "goodput_bps") < 0.75 * summary(&near, "goodput_bps"));
    // Of two frames that meet at "b" it locks on one, which is spoilt; the other it never locked on.
    let lost = |run: &Run| frames(run, "udp", "lost_to_collision") + frames(run, "udp", "lost_to_half_duplex");
    assert!(lost(&hidden) > 5.0 * lost(&near), "{} {}", lost(&hidden), lost(&near));
    assert_eq!(frames(&hidden, "udp", "lost_to_noise"), 0.0);
}

#[test]
fn rts_and_cts_help_hidden_senders() {
    // Only the RTS (352 µs of 2700) is at risk. The CTS of "b" holds the other back.
    let flows = [("a", "b"), ("c", "b")];
    let channel = |rts: &str| format!("rts_threshold = '{rts}'\n{HIDDEN}");
    let (without, with) = (run(&channel("off"), &flows), run(&channel("0 B"), &flows));
    assert!(summary(&with, "goodput_bps") > summary(&without, "goodput_bps"));
    // RTS take the collisions: data frames that follow a CTS are hardly ever lost.
    assert!(frames(&with, "udp", "lost_to_collision") < 0.02 * frames(&with, "udp", "sent"));
}

#[test]
fn a_node_in_nobodys_reach_hears_nothing_and_costs_nobody_anything() {
    let away = "[[channel.pair]]\nbetween = ['a', 'c']\nreach = false\n[[channel.pair]]\nbetween = ['b', 'c']\nreach = false";
    let alone = run(away, &[("a", "b")]);
    // As if "c" saturated its own air: "a" is not slowed by it, "c" reaches nobody.
    let both = run(away, &[("a", "b"), ("c", "b")]);
    assert_eq!(alone.flow(0, "delivered_packets"), both.flow(0, "delivered_packets"));
    assert_eq!(both.flow(1, "delivered_packets"), Some(0.0));
    assert_eq!(Run::number(&both.nodes[2], "msdus_received"), Some(0.0));
    let of_c = |name| Run::number(&both.nodes[2], name).expect("a column");
    // All in vain, the one under way at the end excepted.
    assert!(of_c("exchanges") - of_c("failures") <= 1.0 && of_c("exchanges") > 1000.0);
}

#[test]
fn an_exposed_sender_defers_to_one_in_reach_though_neither_disturbs_the_others_receiver() {
    // a → its own receiver d and b → c; only a and b hear each other: they share the air that could carry both.
    let scene = |reach: bool| {
        let mut text = String::from(
            "[scenario]\nname = 'exposed'\nduration = '10 s'\n[radio]\nstandard = '802.11b'\nbasic_rate = '1 Mb/s'\n",
        );
        let apart = [("a", "c"), ("d", "b"), ("d", "c")];
        for (x, y) in apart.iter().chain((!reach).then_some(&("a", "b"))) {
            text += &format!("[[channel.pair]]\nbetween = ['{x}', '{y}']\nreach = false\n");
        }
        for name in ["d", "a", "b", "c"] {
            text += &format!("[[node]]\nname = '{name}'\n");
        }
        for (from, to) in [("a", "d"), ("b", "c")] {
            text += &format!(
                "[[flow]]\nfrom = '{from}'\nto = '{to}'\n\
                 transport = {{ protocol = 'udp', datagram = '1500 B' }}\ntraffic = {{ model = 'saturated' }}\n"
            );
        }
        let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance")
    };
    let (exposed, apart) = (scene(true), scene(false));
    // Apart, each has a channel of its own: 6.05 Mb/s (validation/dcf, one station).
    for flow in 0..2 {
        let own = apart.flow(flow, "datagram_throughput_bps").expect("a column");
        assert!((own / 6.048e6 - 1.0).abs() < 0.02, "{own}");
    }
    assert!(summary(&exposed, "goodput_bps") < 0.6 * summary(&apart, "goodput_bps"));
}
