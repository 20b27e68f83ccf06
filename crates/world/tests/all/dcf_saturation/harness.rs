//! Rows of the reference as scenarios, and what replications of them give.

use world::Blueprint;
use world::{Record, Run};

const REFERENCE: &str = include_str!("../../../../../validation/dcf/reference.csv");

/// One row of the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub standard: &'static str,
    pub rts: bool,
    pub timeout_ifs: &'static str,
    pub stations: u32,
    pub payload: u32,
    pub model_throughput_bps: f64,
    pub model_p: f64,
    pub throughput_bps: f64,
    pub p: f64,
}

pub fn reference() -> Vec<Row> {
    let mut lines = REFERENCE.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place = |name: &str| header.iter().position(|h| *h == name).expect("a column of the reference");
    let read = |line: &'static str| {
        let cells: Vec<&'static str> = line.split(',').collect();
        let text = |name| cells[place(name)];
        let real = |name| text(name).parse::<f64>().expect("a number");
        Row {
            standard: text("standard"),
            rts: text("rts") == "on",
            timeout_ifs: text("timeout_ifs"),
            stations: text("stations").parse().expect("a number"),
            payload: text("payload").parse().expect("a number"),
            model_throughput_bps: real("model_throughput_bps"),
            model_p: real("model_p"),
            throughput_bps: real("slotsim_throughput_bps"),
            p: real("slotsim_p"),
        }
    };
    let rows: Vec<Row> = lines.map(read).collect();
    assert_eq!(rows.len(), 144);
    rows
}

pub fn rows(standard: &str, rts: bool, timeout_ifs: &str) -> Vec<Row> {
    let is_it = |r: &Row| {
        (r.standard, r.rts, r.timeout_ifs, r.payload) == (standard, rts, timeout_ifs, 1500) && r.stations > 1
    };
    let rows: Vec<Row> = reference().into_iter().filter(is_it).collect();
    assert_eq!(rows.iter().map(|r| r.stations).collect::<Vec<_>>(), [2, 5, 10, 20, 50]);
    rows
}

/// Stations that always have a frame for one sink, on an ideal channel, as in the reference: 802.11b at 11 Mb/s with the
/// single basic rate of 1 Mb/s; 802.11a at 54 Mb/s with the standard's basic rates: ACK at 24 Mb/s, EIFS by one at 6.
fn scenario(row: &Row, seconds: f64) -> Blueprint {
    let radio = match row.standard {
        "b" => "standard = '802.11b'\ndata_rate = '11 Mb/s'\nbasic_rate = '1 Mb/s'",
        _ => "standard = '802.11a'\ndata_rate = '54 Mb/s'",
    };
    let after_timeout = match row.timeout_ifs {
        "letter" => "letter",
        "fresh" => "fresh-ifs",
        _ => "eifs",
    };
    let rts = if row.rts { "0 B" } else { "off" };
    let mut text = format!(
        "[scenario]\nname = 'saturation'\nduration = '{} ms'\nwarmup = '1 s'\n\
         [radio]\n{radio}\nrts_threshold = '{rts}'\nafter_timeout = '{after_timeout}'\n[[node]]\nname = 'sink'\n",
        (seconds * 1e3) as u64 + 1000
    );
    for i in 0..row.stations {
        text += &format!(
            "[[node]]\nname = 's{i}'\n[[flow]]\nfrom = 's{i}'\nto = 'sink'\n\
             transport = {{ protocol = 'udp', datagram = '{} B' }}\ntraffic = {{ model = 'saturated' }}\n",
            row.payload
        );
    }
    world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The replications of a row: means, and relative standard errors of these.
#[derive(Debug)]
pub struct Measured {
    pub throughput_bps: f64,
    pub throughput_error: f64,
    pub p: f64,
    pub p_error: f64,
}

pub const REPLICATIONS: u64 = 8;

/// Runs each row for its time, split into replications.
pub fn measure(rows: &[(Row, f64)]) -> Vec<Measured> {
    let scenarios: Vec<Blueprint> = rows.iter().map(|(row, seconds)| scenario(row, *seconds)).collect();
    let tasks: Vec<(&Blueprint, u64)> =
        scenarios.iter().flat_map(|s| (1..=REPLICATIONS).map(move |seed| (s, seed))).collect();
    let runs: Vec<Run> = world::run_batch(&tasks, 0, &Record::default())
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("every run ends with its books in balance");
    let summarise = |runs: &[Run]| {
        let of = |name| runs.iter().map(|run| Run::number(&run.summary, name).expect("a column")).collect::<Vec<_>>();
        let (throughput_bps, throughput_error) = mean(&of("datagram_throughput_bps"));
        let (p, p_error) = mean(&of("collision_probability"));
        Measured { throughput_bps, throughput_error, p, p_error }
    };
    runs.chunks(REPLICATIONS as usize).map(summarise).collect()
}

/// Mean, and its relative standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, libm::sqrt(variance / n) / mean.max(f64::MIN_POSITIVE))
}

/// In a run that is to know p to a third of a percent.
pub const COLLISIONS: f64 = 110_000.0;

/// Simulated seconds of each replication, for so many collisions in all.
pub fn seconds_for(row: &Row, collisions: f64) -> f64 {
    // Delivered datagrams a second, and the openers they took: p of all are in vain.
    let openers_per_s = row.throughput_bps / f64::from(row.payload) / 8.0 / (1.0 - row.p);
    2.0 * collisions / (row.p * openers_per_s) / REPLICATIONS as f64
}

pub fn sized(rows: &[Row], collisions: f64) -> Vec<(Row, f64)> {
    rows.iter().map(|row| (row.clone(), seconds_for(row, collisions))).collect()
}

/// Relative deviation.
pub fn off(measured: f64, truth: f64) -> f64 {
    measured / truth - 1.0
}
