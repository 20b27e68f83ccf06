//! The return of TCP ACKs, on whole networks: `tap`, `dcf-plus`, `ack-agent`. A server, a fast wire, an access point with a
//! queue of 50 packets, stations in reach of each other.

use crate::cells::run;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use world::{Cell, Record, Run};

/// `n` bulk flows, up or down, with these words in `[radio]` and on each flow's transport, and a scheme.
fn scenario(is_up: bool, n: usize, radio: &str, tcp: &str, more: &str) -> String {
    let mut text = format!(
        r#"
scenario = {{ duration = "8 s" }}
radio = {{ {radio}, queue = {{ packets = 50 }} }}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[link]]
between = ["server", "ap"]
rate = "1 Gb/s"
delay = "1 ms"
queue = {{ packets = 1000 }}
{more}
"#
    );
    for i in 1..=n {
        let station = format!("s{i}");
        let (from, to) = if is_up { (station.as_str(), "server") } else { ("server", station.as_str()) };
        _ = writeln!(
            text,
            "[[node]]\nname = \"{station}\"\nposition = [5, {i}]\n[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n\
             transport = {{ protocol = \"tcp\", preset = \"rfc\", congestion = \"reno\", receiver = \"{tcp}\" }}"
        );
    }
    text
}

const A_DCF: &str = "standard = \"802.11a\"";
const A_EDCA: &str = "standard = \"802.11a\", access = \"edca\"";
const B_DCF: &str = "standard = \"802.11b\"";

fn scheme(name: &str) -> String {
    format!("[[scheme]]\nname = \"{name}\"\n")
}

fn number(rows: &[world::Row], id: &str, name: &str) -> f64 {
    let row = rows.iter().find(|row| row[0].1 == Cell::Text(id.to_owned())).unwrap();
    Run::number(row, name).unwrap()
}

fn each(run: &Run, flows: usize, name: &str) -> Vec<f64> {
    (0..flows).map(|flow| run.flow(flow, name).unwrap()).collect()
}

fn sum(run: &Run, flows: usize, name: &str) -> f64 {
    each(run, flows, name).iter().sum()
}

fn goodput(run: &Run) -> f64 {
    Run::number(&run.summary, "goodput_bps").unwrap()
}

/// Least over mean: 0 if somebody starves.
fn least(run: &Run, flows: usize) -> f64 {
    let all = each(run, flows, "goodput_bps");
    all.iter().copied().fold(f64::INFINITY, f64::min) * flows as f64 / all.iter().sum::<f64>()
}

/// The access point's share of all exchanges that delivered something.
fn share(run: &Run) -> f64 {
    let (sent, heard) = (number(&run.nodes, "ap", "msdus_delivered"), number(&run.nodes, "ap", "msdus_received"));
    sent / (sent + heard)
}

#[test]
fn tap_gives_the_access_point_of_ten_uploads_its_third_and_empties_its_queue() {
    // Delayed ACKs: one for two segments, so a third of all exchanges. Ten stations that always have something leave the access
    // point 1/11 of them; its queue stands full, what it refuses are ACKs, and who loses the last of a small window waits for
    // a timeout. Ahead of everybody it sends each ACK before the next data frame ends, some 350 us: the queue holds
    // what came in one or two frames.
    let base = run(&scenario(true, 10, A_EDCA, "delayed-ack", ""), 1);
    let tap = run(&scenario(true, 10, A_EDCA, "delayed-ack", &scheme("tap")), 1);
    assert!(share(&base) < 0.28, "{}", share(&base));
    assert!((0.32..0.37).contains(&share(&tap)), "{}", share(&tap));
    assert!(number(&base.nodes, "ap", "msdus_refused") > 0.2 * sum(&base, 10, "acks_sent"));
    assert_eq!(number(&tap.nodes, "ap", "msdus_refused"), 0.0);
    assert!(number(&base.queues, "ap.air.be", "mean_packets") > 40.0);
    let queue = number(&tap.queues, "ap.air.tcp-ack", "mean_packets");
    assert!(queue < 1.0, "{queue}");
    // Symmetry: nobody starves any more.
    assert!(least(&base, 10) < 0.3, "{}", least(&base, 10));
    assert!(least(&tap, 10) > 0.7, "{}", least(&tap, 10));
}

#[test]
fn tap_costs_less_air_for_the_acks_of_a_few_uploads_and_does_nothing_for_downloads() {
    // Three uploads: two data frames (252 + 16 + 28 us) and an ACK (36 + 16 + 28), each after an AIFS of 43 and some 2.5 slots, the least
    // of four backoffs: 592 + 80 + 3 * 65 = 867 us. With the ACK after a DIFS of 34 and no backoff 31 us less: 3.6 %, and it
    // collides with nobody, since data waits a slot longer.
    for seed in 1..=3 {
        let goodput = |more: &str| goodput(&run(&scenario(true, 3, A_EDCA, "delayed-ack", more), seed));
        let gain = goodput(&scheme("tap")) / goodput("");
        assert!(gain > 1.03, "{gain}");
    }
    let down = |more: &str| goodput(&run(&scenario(false, 3, A_EDCA, "delayed-ack", more), 1));
    assert_eq!(down(&scheme("tap")), down(""), "ACKs come from the stations");
}

#[test]
fn dcf_plus_returns_the_acks_of_a_download_without_contention() {
    // A host that answers at once has its ACK at the head of the line before the MAC's ACK is due: every ACK but those of the
    // handshake goes back by a CTS, and the access point, whose data is what is contended for, never asks.
    let text = scenario(false, 1, A_DCF, "every", &scheme("dcf-plus"));
    let asked = |run: &Run| ["dcf-plus@s1", "dcf-plus@ap"].map(|id| number(&run.schemes, id, "requests"));
    let at_once = run(&text, 1);
    let ([station, access_point], acks) = (asked(&at_once), sum(&at_once, 1, "acks_sent"));
    assert!(station / acks > 0.99, "{station} of {acks}");
    assert!(access_point < 0.01 * acks, "{access_point} of {acks}");
    // A host that takes 100 us has it ready 56 us after the MAC's ACK, in the idle time before the next data (a DIFS and 7.5
    // slots of 9 us: 101 us). If the data begins first, its ACK brings the TCP ACK of the segment before; if not, the TCP
    // ACK finds the medium idle for more than a DIFS and goes at once, and *its* ACK brings the next data. Either way what is
    // contended for brings one thing back: as many replies as there are ACKs, on both sides.
    let late = run(&text.replace("name = \"s1\"", "name = \"s1\"\nhost_delay = \"100 us\""), 1);
    let ([station, access_point], acks) = (asked(&late), sum(&late, 1, "acks_sent"));
    assert!((station + access_point) / acks > 0.95, "{station} and {access_point} of {acks}");
    assert!(station.min(access_point) > 0.25 * acks, "{station} and {access_point} of {acks}");
}

#[test]
fn dcf_plus_gains_where_a_cts_is_cheap_and_not_where_it_is_dear() {
    // A segment and its ACK. 802.11a: DIFS and 7.5 slots, 248 + 16 + 28, DIFS, 32 + 16 + 28: 504 us; two that always
    // have something collide at 2/17 of their attempts, 0.13 collisions of 332 us a pair: 548. By DCF+ a CTS and a SIFS (44) replace
    // the second DIFS (34) and nobody collides: 530, a gain of 3.4 %. Least taken here: 2 %.
    // 802.11b: 50 + 15.5 * 20 + 1310 + 213, 50 + 248 + 213, and 0.06 collisions of 1600: 2490 us; a CTS of 203 and a SIFS
    // replace a DIFS of 50: 2567, a loss of 3 %.
    let gain = |radio: &str| {
        let of = |more: &str| {
            (1..=3).map(|seed| goodput(&run(&scenario(false, 1, radio, "every", more), seed))).sum::<f64>()
        };
        of(&scheme("dcf-plus")) / of("")
    };
    assert!(gain(A_DCF) > 1.02, "{}", gain(A_DCF));
    assert!((0.94..1.0).contains(&gain(B_DCF)), "{}", gain(B_DCF));
}

#[test]
fn dcf_plus_only_where_both_have_it() {
    for at in ["at = [\"ap\"]", "at = [\"s1\"]"] {
        let run = run(&scenario(false, 1, A_DCF, "every", &format!("{}{at}\n", scheme("dcf-plus"))), 1);
        assert_eq!(run.scheme("dcf-plus", "requests") + run.scheme("dcf-plus", "grants"), 0.0);
    }
}

#[test]
fn the_ack_agent_does_for_downloads_what_lle_tcp_does_and_nothing_for_uploads() {
    // 802.11b: a segment and its ACK take some 2490 us (above), without the ACK 50 + 310 + 1310 + 213 = 1883: a gain of 32 %
    // for one download. Least taken here: 25 %.
    let goodput = |is_up, n, more: &str| goodput(&run(&scenario(is_up, n, B_DCF, "every", more), 1));
    let (none, agent, lle) =
        (goodput(false, 1, ""), goodput(false, 1, &scheme("ack-agent")), goodput(false, 1, &scheme("lle-tcp")));
    assert!(agent > 1.25 * none, "{agent} {none}");
    assert!((agent / lle - 1.0).abs() < 0.02, "{agent} {lle}");
    let (none, agent) = (goodput(true, 3, ""), goodput(true, 3, &scheme("ack-agent")));
    assert!((agent / none - 1.0).abs() < 0.02, "{agent} {none}");
    // The air of a download carries no TCP ACK after the handshake's.
    let run = run(&scenario(false, 1, B_DCF, "every", &scheme("ack-agent")), 1);
    assert!(run.scheme("ack-agent", "acks_passed") <= 2.0);
    assert!(run.scheme("ack-agent", "acks_suppressed") > 0.99 * sum(&run, 1, "acks_sent"));
    assert_eq!(sum(&run, 1, "acked_undelivered_bytes"), 0.0);
}

fn error(text: &str) -> String {
    let told = world::parse(text, &[]).map_err(|error| error.to_string());
    match told {
        Err(error) => error,
        Ok(scenario) => world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false))
            .expect_err("it cannot be")
            .to_string(),
    }
}

#[test]
fn what_cannot_be_is_told() {
    for (radio, more, says) in [
        (A_DCF, scheme("tap"), "access = \"edca\""),
        (A_EDCA, format!("{}at = [\"s1\"]\n", scheme("tap")), "tap does not sit at \"s1\""),
        (A_EDCA, format!("{}acks = 65\n", scheme("tap")), "64"),
        (A_EDCA, scheme("lle-tcp") + &scheme("ack-agent"), "lle-tcp and ack-agent both claim the TCP ACKs of \"ap\""),
        (A_EDCA, format!("{}at = [\"server\"]\n", scheme("ack-agent")), "does not sit"),
        (A_EDCA, format!("{}acks = 3\n", scheme("dcf-plus")), "acks"),
    ] {
        let told = error(&scenario(true, 1, radio, "every", &more));
        assert!(told.contains(says), "{told}");
    }
}
