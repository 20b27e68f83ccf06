//! Queues of radios as mac80211 has them, in cells: shares of airtime, and the delay of a sparse flow beside a download.

use crate::cells::run;
use std::fmt::Write as _;
use world::Run;

const FIFO: &str = "{ packets = 1000 }";
const FAIR: &str = "{ packets = 8192, discipline = 'mac80211' }";

/// An access point of 802.11n that sends to stations in these modes, with this queue.
fn cell(queue: &str, mcs: &[u8], flows: &str) -> String {
    let mut text = format!(
        "[scenario]\nduration = '4 s'\nwarmup = '1 s'\n[radio]\nstandard = '802.11n'\nqueue = {queue}\n[[node]]\nname = 'ap'\nrole = 'ap'\n"
    );
    let to: Vec<String> = mcs.iter().enumerate().map(|(i, mcs)| format!("s{i} = {mcs}")).collect();
    let _ = writeln!(text, "mcs_to = {{ {} }}", to.join(", "));
    for (i, mcs) in mcs.iter().enumerate() {
        let _ = writeln!(text, "[[node]]\nname = 's{i}'\nmcs = {mcs}");
    }
    text + flows
}

/// UDP to each station, more than the channel carries.
fn offered(stations: usize) -> String {
    let flow = |i: usize| {
        format!(
            "[[flow]]\nfrom = 'ap'\nto = 's{i}'\ntraffic = {{ model = 'cbr', rate = '60 Mb/s' }}\ntransport = {{ protocol = 'udp' }}\n"
        )
    };
    (0..stations).map(flow).collect()
}

/// Mb/s of each flow.
fn goodputs(text: &str) -> Vec<f64> {
    let run = run(text, 1);
    run.flows.iter().map(|flow| Run::number(flow, "goodput_bps").expect("a column") / 1e6).collect()
}

fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
    sum * sum / (shares.len() as f64 * squares)
}

#[test]
fn airtime_is_shared_equally_where_a_fifo_shares_packets() {
    let mcs = [7, 7, 0];
    let alone: Vec<f64> = mcs.iter().map(|mcs| goodputs(&cell(FIFO, &[*mcs], &offered(1)))[0]).collect();
    let shares = |queue: &str| -> Vec<f64> {
        goodputs(&cell(queue, &mcs, &offered(3))).iter().zip(&alone).map(|(got, all)| got / all).collect()
    };
    for queue in [FAIR, "{ packets = 8192, discipline = 'mac80211', aql = 'none' }"] {
        let fair = shares(queue);
        assert!(jain(&fair) > 0.99, "{queue}: {fair:?}");
        // The parts of three add up to a channel: nothing is lost by fairness. The tenth is our choice.
        assert!((0.9..1.05).contains(&fair.iter().sum::<f64>()), "{queue}: {fair:?}");
    }
    // One queue for all: the slow one has most of the airtime.
    let fifo = shares(FIFO);
    assert!(jain(&fifo) < 0.7 && fifo[2] > 0.6, "{fifo:?}");
}

#[test]
fn a_sparse_flow_beside_a_download_waits_a_fifth_of_its_time_in_a_fifo_or_less() {
    // Four downloads, so that no receiver's window bounds the queue.
    let download = "[[flow]]\nfrom = 'ap'\nto = 's0'\ntraffic = { model = 'bulk' }\n\
                    transport = { protocol = 'tcp', preset = 'linux', small_queue = 'off', congestion = 'cubic' }\n";
    let sparse = "[[flow]]\nfrom = 'ap'\nto = 's1'\ntraffic = { model = 'cbr', rate = '80 kb/s' }\n\
                  transport = { protocol = 'udp', datagram = '128 B' }\n";
    let flows = download.repeat(4) + sparse;
    let delay = |queue: &str| {
        let run = run(&cell(queue, &[7, 7], &flows), 1);
        Run::number(&run.flows[4], "latency_p50_s").expect("a column")
    };
    let (fifo, fair) = (delay(FIFO), delay(FAIR));
    assert!(fair < fifo / 5.0, "{fair} s, {fifo} s in one queue");
}

#[test]
fn behind_gro_64_kb_of_a_ppdu_have_one_ack() {
    let cell = |receiver: &str| {
        format!(
            "[scenario]\nduration = '3 s'\nwarmup = '1 s'\n[radio]\nstandard = '802.11ax'\nwidth = '80 MHz'\nmcs = 9\n\
             [[node]]\nname = 'ap'\nrole = 'ap'\n[[node]]\nname = 'sta'\n[[flow]]\nfrom = 'ap'\nto = 'sta'\n\
             transport = {{ protocol = 'tcp', preset = 'linux', congestion = 'cubic', receiver = '{receiver}' }}\n"
        )
    };
    let acks_of = |receiver: &str| {
        let run = run(&cell(receiver), 1);
        let number = |row, name| Run::number(row, name).expect("a column");
        let link = run.links.iter().find(|link| number(link, "data_ppdus") > 0.0).expect("data");
        let ppdus = number(link, "data_ppdus");
        (number(&run.flows[0], "acks_sent") / ppdus, number(link, "mean_mpdus"), number(&run.flows[0], "goodput_bps"))
    };
    let ((gro, mpdus, fast), (delayed, _, slower)) = (acks_of("gro"), acks_of("delayed-ack"));
    // 45 segments of 1448 B are 64 kB, and what is left of a PPDU has one ACK more.
    assert!((mpdus / 45.0..mpdus / 45.0 + 1.0).contains(&gro), "{gro} ACKs for {mpdus} MPDUs");
    assert!(delayed > 10.0 * gro && fast > slower, "{delayed} ACKs, {fast} and {slower} b/s");
}
