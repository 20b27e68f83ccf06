//! Runs a scenario file once and prints what it found: `cargo run --release --example run FILE.toml [PATH=VALUE]...`

use std::sync::atomic::AtomicBool;
use world::Cell;

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("a scenario file");
    let text = std::fs::read_to_string(&file).expect("a readable file");
    let pairs: Vec<(String, String)> =
        args.filter_map(|a| a.split_once('=').map(|(p, v)| (p.to_owned(), v.to_owned()))).collect();
    let scenario = match world::parse(&text, &pairs) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let record = world::Record { pcap_dir: std::env::var_os("PCAP").map(Into::into), ..Default::default() };
    let run = world::run(&scenario, scenario.scenario().seed, &record, &AtomicBool::new(false));
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    println!("{} timers, {:.4} s, {:?}", run.events, run.sim_s, run.books);
    let tables = [&run.flows, &run.nodes, &run.queues, &run.frames, &run.schemes];
    for row in tables.into_iter().flatten().chain([&run.summary]) {
        let cells = row.iter().map(|(name, cell)| match cell {
            Cell::Text(text) => format!("{name}={text}"),
            Cell::Count(n) => format!("{name}={n}"),
            Cell::Real(x) => format!("{name}={x:.6}"),
        });
        println!("{}", cells.collect::<Vec<_>>().join(" "));
    }
}
