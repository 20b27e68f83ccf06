//! A discipline under arrivals and services that another simulator wrote down, for `validation/queue`:
//!
//! ```sh
//! cargo run --release -p interlayer-queue --example replay -- fq-codel 1000 10 < trace
//! ```
//!
//! The arguments are the discipline, the limit in packets, and the second from which on packets count. A line of the trace is `E ns bytes flow` for
//! a packet that comes, or `D ns` for one that the other simulator took out; flow 0 is the sparse one. Prints one JSON object: waits in
//! ms of all that left and of the sparse flow, and how many packets left, were dropped, and were not there when one was asked for.

use queue::{Arrival, FlowKey, Limit, Queue, Spec};
use std::io::BufRead as _;
use units::{Bytes, SimTime};

/// A packet: when it came, and whether it is of the sparse flow.
type Packet = (SimTime, bool);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [discipline, limit, warmup] = &arguments[..] else {
        eprintln!("usage: replay DISCIPLINE PACKETS WARMUP-SECONDS < TRACE");
        std::process::exit(2);
    };
    let mut chosen = queue::find(discipline).expect("the name of a discipline");
    // As many queues as can be, so that no two flows share one by chance; no ECN, as in the peer.
    for (key, value) in [("flows", plugin::Value::Int(65_536)), ("ecn", plugin::Value::Bool(false))] {
        if chosen.info.params.iter().any(|param| param.key == key) {
            chosen.params.set(key, value);
        }
    }
    let limit = Limit::Packets(limit.parse().expect("a number of packets"));
    let from = SimTime::from_ns(warmup.parse::<u64>().expect("seconds") * 1_000_000_000);
    let draws = engine::Streams::new(1).get(engine::Purpose::Queue, 0);
    let mut queue: Queue<Packet> = Queue::new(&Spec::new(limit, chosen), Bytes(1500), draws);
    let (mut all, mut sparse) = (Vec::new(), Vec::new());
    let (mut dropped, mut missing) = (0_u64, 0_u64);
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text");
        let mut words = line.split_ascii_whitespace();
        let is_arrival = words.next() == Some("E");
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a line of a trace");
        let now = SimTime::from_ns(number());
        if is_arrival {
            let (size, flow) = (Bytes(number()), number());
            let arrival = Arrival { size, is_ect: false, flow: FlowKey::from_bits(u128::from(flow)) };
            dropped += u64::from(queue.push(now, (now, flow == 0), arrival).is_err());
        } else if let Some(((came, is_sparse), _)) = queue.pop(now) {
            if now >= from {
                let wait = now.since(came).as_secs_f64() * 1e3;
                all.push(wait);
                sparse.extend(is_sparse.then_some(wait));
            }
        } else {
            missing += 1;
        }
        dropped += core::iter::from_fn(|| queue.dropped()).count() as u64;
    }
    sparse.sort_by(f64::total_cmp);
    let mean = |waits: &[f64]| waits.iter().sum::<f64>() / waits.len() as f64;
    let p95 = sparse.get((sparse.len() * 95 / 100).min(sparse.len().saturating_sub(1))).copied().unwrap_or(f64::NAN);
    println!(
        "{{\"wait_ms\": {}, \"sparse_ms\": {}, \"sparse_p95_ms\": {p95}, \"left\": {}, \"dropped\": {dropped}, \"missing\": {missing}}}",
        mean(&all),
        mean(&sparse),
        all.len()
    );
}
