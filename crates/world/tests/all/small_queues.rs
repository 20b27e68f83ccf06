//! TCP small queues: a sender's data waits above the queue of its own host, not in it.

use crate::cells::{fingerprinted, run};
use world::Run;

/// An upload of CUBIC over 802.11a, by a host whose queue holds so many packets.
fn upload(packets: u32, small_queue: &str) -> String {
    format!(
        "scenario = {{ duration = '6 s', warmup = '2 s' }}\n\
         radio = {{ standard = '802.11a', queue = {{ packets = {packets} }} }}\n\
         [[node]]\nname = 'sta'\n[[node]]\nname = 'ap'\n[[flow]]\nfrom = 'sta'\nto = 'ap'\n\
         transport = {{ protocol = 'tcp', preset = 'linux', small_queue = {small_queue} }}\n"
    )
}

/// Goodput in Mb/s and mean latency in ms of the first flow.
fn measured(text: &str) -> (f64, f64) {
    let run = run(text, 1);
    let column = |name| Run::number(&run.flows[0], name).expect("a column");
    (column("goodput_bps") / 1e6, column("latency_mean_s") * 1e3)
}

#[test]
fn an_uploads_delay_does_not_follow_the_length_of_its_hosts_queue() {
    let (full, delay) = measured(&upload(1000, "'off'"));
    let (short, less) = measured(&upload(100, "'off'"));
    assert!(delay > 150.0 && less < delay / 4.0, "{delay} ms, {less} ms in a tenth of the queue");
    assert!(short > 0.95 * full, "{short} Mb/s, {full}");
    let [long, fifth] = [1000, 200].map(|packets| fingerprinted(&upload(packets, "'linux'"), 1));
    assert_eq!(long.fingerprint, fifth.fingerprint, "the queue is never as long");
    let (goodput, delay) = measured(&upload(1000, "'linux'"));
    // Packets have 1.2 * 24 Mb/s in 2^-7 s, 28 kB, and 64 kB halved once or twice for a least round trip of 0.5 to 1.5 ms; two of them are
    // at most 131 kB, 43 ms. With a shift of 10 they are the latter and 3.5 kB.
    assert!(delay < 50.0 && goodput > 0.99 * full, "{delay} ms, {goodput} of {full} Mb/s");
    let (goodput, shorter) = measured(&upload(1000, "10"));
    assert!(shorter < 0.8 * delay && goodput > 0.99 * full, "{shorter} ms, {goodput} of {full} Mb/s");
}

#[test]
fn on_a_wire_a_few_packets_wait() {
    let text = |small_queue: &str| {
        format!(
            "scenario = {{ duration = '6 s', warmup = '2 s' }}\n[[node]]\nname = 'a'\n[[node]]\nname = 'b'\n\
             [[link]]\nbetween = ['a', 'b']\nrate = '10 Mb/s'\ndelay = '5 ms'\nqueue = {{ packets = 1000 }}\n\
             [[flow]]\nfrom = 'a'\nto = 'b'\n\
             transport = {{ protocol = 'tcp', preset = 'linux', small_queue = {small_queue} }}\n"
        )
    };
    let longest = |small_queue| {
        let run = run(&text(small_queue), 1);
        let queue = run.queues.iter().map(|queue| Run::number(queue, "max_packets_total").expect("a column"));
        (queue.fold(0.0, f64::max), Run::number(&run.flows[0], "goodput_bps").expect("a column") / 1e6)
    };
    let (off, full) = longest("'off'");
    // 10 Mb/s in 2^-10 s are 1.2 kB, and two packets of two segments are more. The pacing rate of slow start is twice a window that is up
    // to twice what is under way at its end.
    let (linux, goodput) = longest("'linux'");
    assert!(off > 100.0 && linux <= 20.0, "{off} and {linux} packets");
    // 1448 of 1500 B.
    assert!(goodput > 9.6 && goodput > 0.999 * full, "{goodput} of {full} Mb/s");
}

#[test]
fn a_shift_of_ten_makes_small_aggregates_of_a_sender_whose_rate_is_measured() {
    let upload = |small_queue: &str| {
        format!(
            "scenario = {{ duration = '3 s', warmup = '1 s' }}\n\
             radio = {{ standard = '802.11ac', width = '80 MHz', mcs = 7, streams = 2, queue = {{ packets = 1000 }} }}\n\
             [[node]]\nname = 'sta'\n[[node]]\nname = 'ap'\nrole = 'ap'\n[[flow]]\nfrom = 'sta'\nto = 'ap'\n\
             transport = {{ protocol = 'tcp', preset = 'linux', congestion = 'bbr', small_queue = {small_queue} }}\n"
        )
    };
    let found = |small_queue| {
        let run = run(&upload(small_queue), 1);
        let mpdus = run.nodes.iter().find_map(|node| Run::number(node, "mpdus_a_ppdu")).expect("the station's");
        (mpdus, Run::number(&run.flows[0], "goodput_bps").expect("a column") / 1e6)
    };
    let [(all, most), (by_radio, radio), (by_wire, wire)] = ["'off'", "7", "10"].map(found);
    // Two packets of 2^-10 s at some 400 Mb/s are 100 to 130 kB, 70 to 90 segments, of which an aggregate of 63 is on the air.
    assert!(by_radio > 0.95 * all && by_wire < 0.8 * all, "MPDUs: {all}, {by_radio}, {by_wire}");
    assert!(radio > 0.95 * most && wire < 0.95 * most, "Mb/s: {most}, {radio}, {wire}");
}
