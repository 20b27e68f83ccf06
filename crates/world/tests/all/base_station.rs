//! LLE-TCP at a base station, on whole networks: a server, a fast wire, an access point with a queue of 50 packets, 802.11b.

use crate::cells::run;
use std::fmt::Write;
use world::Run;

/// Downloads of `flows` stations, each with these words on its flow.
fn scenario(duration: &str, flows: usize, flow: &str, more: &str) -> String {
    let mut text = format!(
        r#"
scenario = {{ duration = "{duration}" }}
radio = {{ standard = "802.11b", basic_rate = "1 Mb/s", queue = {{ packets = 50 }} }}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "2 ms"
queue = {{ packets = 1000 }}
{more}
"#
    );
    for i in 1..=flows {
        // Windows that the queue cannot hold: 1 MB are 700 segments.
        let tcp = "congestion = \"reno\", receive_buffer = \"1 MB\", send_buffer = \"2 MB\", window_scale = \"auto\"";
        _ = writeln!(
            text,
            "[[node]]\nname = \"s{i}\"\nposition = [5, {i}]\n[[flow]]\nfrom = \"server\"\nto = \"s{i}\"\n\
             transport = {{ protocol = \"tcp\", preset = \"rfc\", {tcp} }}\n{flow}"
        );
    }
    text
}

fn lle(advertise: &str) -> String {
    format!("[[scheme]]\nname = \"lle-tcp\"\nadvertise = \"{advertise}\"\n")
}

fn queue(run: &Run, id: &str, name: &str) -> f64 {
    let row = run.queues.iter().find(|row| row[0].1 == world::Cell::Text(id.to_owned())).unwrap();
    Run::number(row, name).unwrap()
}

fn drops(text: &str, seed: u64) -> f64 {
    queue(&run(text, seed), "ap.air", "dropped_packets")
}

#[test]
fn a_window_from_the_free_buffer_never_overflows_it_for_one_flow_and_for_ten_if_they_share() {
    for seed in 1..=5 {
        assert_eq!(drops(&scenario("20 s", 1, "", &lle("free-buffer")), seed), 0.0, "one, as printed");
        assert_eq!(drops(&scenario("20 s", 10, "", &lle("free-buffer-share")), seed), 0.0, "ten, free/n");
        // What the two lines above are worth: the same without control, and ten flows told the whole room each.
        assert!(drops(&scenario("20 s", 1, "", &lle("receiver")), seed) > 0.0, "one, no control");
        assert!(drops(&scenario("20 s", 10, "", &lle("receiver")), seed) > 0.0, "ten, no control");
        assert!(drops(&scenario("20 s", 10, "", &lle("free-buffer")), seed) > 0.0, "ten, as printed");
    }
}

#[test]
fn small_datagrams_do_not_overflow_a_buffer_limited_in_packets() {
    // A window counts payload: of a datagram of 41 B one byte. 50 datagrams are 2050 B and must not let 2050 of them come.
    for datagram in [41, 60] {
        let small = format!("window_scale = \"auto\", datagram = \"{datagram} B\"");
        let text = scenario("5 s", 1, "", &lle("free-buffer")).replace("window_scale = \"auto\"", &small);
        assert_eq!(drops(&text, 1), 0.0, "{datagram} B");
    }
}

#[test]
fn a_bounded_window_costs_no_goodput() {
    let goodput = |advertise: &str| run(&scenario("20 s", 1, "", &lle(advertise)), 1).flow(0, "goodput_bps").unwrap();
    // The queue never runs empty: 50 packets are 80 ms of this radio, and the wire's round trip takes 4.
    assert!(goodput("free-buffer") > 0.99 * goodput("receiver"));
}

#[test]
fn stations_with_and_without_it_behind_one_access_point_all_get_every_byte() {
    let half = "[[scheme]]\nname = \"lle-tcp\"\nat = [\"ap\", \"s1\", \"s2\", \"s3\"]\n";
    for errors in ["", "[channel]\nerrors = { model = \"packet\", per = 0.02, at = \"msdu\" }\n"] {
        let bytes = "traffic = { model = \"bulk\", bytes = \"500 kB\" }\n";
        let run =
            run(&scenario("200 s", 6, bytes, &format!("{half}{errors}").replacen("[[scheme]]", "[[scheme]]", 1)), 3);
        for flow in 0..6 {
            assert_eq!(run.flow(flow, "delivered_bytes_total"), Some(500_000.0), "flow {flow}");
            assert_eq!(run.flow(flow, "acked_undelivered_bytes"), Some(0.0), "flow {flow}");
            assert!(run.flow(flow, "finish_time_s").unwrap() < 200.0);
        }
        // ACKs are made for three, and for three only.
        let made = run.scheme("lle-tcp", "segments_acknowledged");
        assert!((3.0 * 343.0..3.0 * 360.0).contains(&made), "{made}: 500 kB are 343 segments");
    }
}
