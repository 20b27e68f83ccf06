//! Two hidden stations against `validation/hidden`: an independent Monte Carlo of DCF between two saturated stations that do not
//! hear each other. They collapse without RTS/CTS and recover with it.
//!
//! They are hidden in three ways: by `Reach`, where the pair is out of reach; by `Levels` with a matrix of gains; and by `Levels`
//! with places on a line, at 6 Mb/s, which needs so little SINR that distance alone hides a station. All three give the same bits.

use crate::cells;
use world::{Cell, Record, Run};

const REFERENCE: &str = include_str!("../../../../validation/hidden/reference.csv");
const REPLICATIONS: u64 = 8;

/// The cause for which stations do not hear each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Air {
    /// A pair out of reach.
    Reach,
    /// The access point at -44 dBm, well over `cca_ed`; the other at -114 dBm, 20 dB below the noise.
    Matrix,
    /// Log-distance, exponent 3, 46.68 dB at a metre, 16 dBm, noise -94 dBm. The access point at 51 m: -81.9 dBm, sensed by
    /// energy. The other at 102 m: -90.9 dBm, whose preamble, 3.1 dB over the noise, is not locked on (4 dB). It still
    /// interferes with the access point's answers: 12.1 dB becomes 7.3 dB, enough at 6 Mb/s. At the access point both are equal.
    Places,
}

impl Air {
    fn table(self) -> &'static str {
        match self {
            Air::Reach => "[[channel.pair]]\nbetween = ['a', 'b']\nreach = false\n",
            Air::Matrix => {
                "[channel]\npropagation = { model = 'matrix' }\n\
                 [[channel.pair]]\nbetween = ['a', 'ap']\ngain = '-60 dB'\n\
                 [[channel.pair]]\nbetween = ['b', 'ap']\ngain = '-60 dB'\n\
                 [[channel.pair]]\nbetween = ['a', 'b']\ngain = '-130 dB'\n"
            }
            Air::Places => {
                "[channel]\npropagation = { model = 'log-distance', exponent = 3, reference_loss = '46.68 dB' }\n\
                 noise = '-94 dBm'\n"
            }
        }
    }
}

/// One row of the reference.
#[derive(Debug, Clone)]
struct Row {
    cells: Vec<(&'static str, &'static str)>,
}

impl Row {
    fn text(&self, name: &str) -> &'static str {
        self.cells.iter().find(|(column, _)| *column == name).expect("a column of the reference").1
    }

    fn real(&self, name: &str) -> f64 {
        self.text(name).parse().expect("a number")
    }

    /// `a 6 1500 B CW 31-1023`, and `RTS`.
    fn name(&self) -> String {
        let [standard, rate, payload] = ["standard", "rate_mbps", "payload"].map(|name| self.text(name));
        let rts = if self.has_rts() { " RTS" } else { "" };
        format!("{standard} {rate} {payload} B CW {}-{}{rts}", self.text("cw_min"), self.text("cw_max"))
    }

    fn has_rts(&self) -> bool {
        self.text("rts") == "on"
    }

    fn scenario(&self, air: Air, seconds: u64) -> String {
        let standard = self.text("standard");
        let basic = if standard == "b" { "basic_rate = '1 Mb/s'\n" } else { "" };
        let rts = if self.has_rts() { "0 B" } else { "off" };
        let energy = if air == Air::Places { "cca_ed = '-84 dBm'\n" } else { "" };
        let (rate, cw_min, cw_max) = (self.text("rate_mbps"), self.text("cw_min"), self.text("cw_max"));
        let flow = |from: &str| {
            format!(
                "[[flow]]\nfrom = '{from}'\nto = 'ap'\ntransport = {{ protocol = 'udp', datagram = '{} B' }}\n\
                 traffic = {{ model = 'saturated' }}\n",
                self.text("payload")
            )
        };
        format!(
            "[scenario]\nname = 'hidden'\nduration = '{} s'\nwarmup = '1 s'\n\
             [radio]\nstandard = '802.11{standard}'\ndata_rate = '{rate} Mb/s'\n{basic}rts_threshold = '{rts}'\n\
             cw_min = {cw_min}\ncw_max = {cw_max}\n{energy}{}\
             [[node]]\nname = 'ap'\nposition = [0, 0]\n[[node]]\nname = 'a'\nposition = [-51, 0]\n\
             [[node]]\nname = 'b'\nposition = [51, 0]\n{}{}",
            seconds + 1,
            air.table(),
            flow("a"),
            flow("b")
        )
    }
}

fn reference() -> Vec<Row> {
    let mut lines = REFERENCE.lines();
    let header: Vec<&'static str> = lines.next().expect("a header").split(',').collect();
    let rows: Vec<Row> =
        lines.map(|line| Row { cells: header.iter().copied().zip(line.split(',')).collect() }).collect();
    assert_eq!(rows.len(), 6 * 4 * 2);
    rows
}

/// Lost over sent, of the frames of a class at their receiver.
fn loss(run: &Run, class: &str) -> f64 {
    let is_it = |record: &&Vec<(&'static str, Cell)>| {
        record.iter().any(|(n, c)| *n == "class" && *c == Cell::Text(class.to_owned()))
    };
    run.frames.iter().find(is_it).map_or(0.0, |record| {
        let of = |name| Run::number(record, name).expect("a column");
        1.0 - of("received") / of("sent")
    })
}

/// Mean, and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Throughput and the loss of data and of RTS, each as mean and standard error over replications.
fn measure(row: &Row, air: Air, seconds: u64) -> [(f64, f64); 3] {
    let scenario = world::parse(&row.scenario(air, seconds), &[]).unwrap_or_else(|error| panic!("{error}"));
    let tasks: Vec<_> = (1..=REPLICATIONS).map(|seed| (&scenario, seed)).collect();
    let runs = world::run_batch(&tasks, 0, &Record::default());
    let runs: Vec<Run> =
        runs.into_iter().collect::<Result<_, _>>().expect("every run ends with its books in balance");
    let of = |read: &dyn Fn(&Run) -> f64| mean(&runs.iter().map(read).collect::<Vec<_>>());
    let throughput = |run: &Run| Run::number(&run.summary, "datagram_throughput_bps").unwrap();
    [of(&throughput), of(&|run| loss(run, "udp")), of(&|run| loss(run, "rts"))]
}

/// Throughput within 3 %, which both know to 1.2 % (standard error). Loss ratios within 3 % or four standard errors of both,
/// whichever is more: without RTS they are known to 2 %, of RTS to 5 %, of data behind RTS, which is rarely lost and in
/// bursts, not as well. Where next to nothing is delivered (below 1 % of the rate), next to nothing is all that is asked.
fn assert_meets_the_monte_carlo(row: &Row, air: Air, seconds: u64) {
    let got = measure(row, air, seconds);
    let nearly_nothing = 0.01 * row.real("rate_mbps") * 1e6;
    for (name, (value, error)) in ["throughput_bps", "data_loss", "rts_loss"].into_iter().zip(got) {
        let truth = row.real(name);
        // Student's t of seven degrees of freedom.
        let truth_error = row.real(&format!("{name}_ci95")) / 2.365;
        let both = (error * error + truth_error * truth_error).sqrt();
        let what = format!("{} {air:?} {name}", row.name());
        println!(
            "{what}: {value:.5} of {truth:.5}, {:+.2} % (se {:.2} %)",
            100.0 * (value / truth - 1.0),
            100.0 * both / truth
        );
        if name == "rts_loss" && !row.has_rts() {
            assert_eq!(value, 0.0, "{what}");
        } else if name == "throughput_bps" && truth < nearly_nothing {
            assert!(value < nearly_nothing, "{what}: {value}");
        } else {
            let (errors, known) = match (name, row.has_rts()) {
                ("throughput_bps", _) => (0.0, 0.012),
                ("data_loss", true) => (4.0, f64::INFINITY),
                ("data_loss", false) => (4.0, 0.02),
                _ => (4.0, 0.05),
            };
            let most = (0.03 * truth).max(errors * both);
            assert!((value - truth).abs() < most, "{what}: {value} instead of {truth}");
            assert!(both < known * truth, "{what}: the runs are too short to tell: {both} of {truth}");
        }
    }
}

fn named(names: &[&str]) -> Vec<Row> {
    let all = reference();
    let find = |name: &&str| all.iter().find(|row| row.name() == *name).cloned();
    let rows: Vec<Row> = names.iter().filter_map(find).collect();
    assert_eq!(rows.len(), names.len(), "rows of the reference");
    rows
}

#[test]
fn hidden_stations_meet_the_monte_carlo_within_3_percent_with_and_without_rts() {
    let some = [
        "a 6 1500 B CW 1023-1023",
        "a 6 1500 B CW 1023-1023 RTS",
        "a 6 1500 B CW 15-1023",
        "a 6 1500 B CW 15-1023 RTS",
        "a 54 300 B CW 127-127",
        "a 54 300 B CW 127-127 RTS",
        "b 11 1500 B CW 31-1023",
        "b 11 1500 B CW 31-1023 RTS",
    ];
    for row in named(&some) {
        assert_meets_the_monte_carlo(&row, Air::Reach, 60);
    }
}

fn run(text: &str) -> Run {
    cells::fingerprinted(text, 1)
}

#[test]
fn out_of_reach_by_a_list_by_gains_or_by_distance_gives_the_same_bits() {
    // Not 802.11b: its RTS at 1 Mb/s, spread over eleven chips, may survive an equal signal that begins after its preamble.
    for row in reference().iter().filter(|row| row.text("standard") == "a") {
        let airs = if row.text("rate_mbps") == "6" { &[Air::Matrix, Air::Places][..] } else { &[Air::Matrix] };
        let reach = run(&row.scenario(Air::Reach, 1));
        assert!(reach.fingerprint.is_some() && reach.exchanges > 100, "{}", row.name());
        for air in airs {
            assert_eq!(run(&row.scenario(*air, 1)).fingerprint, reach.fingerprint, "{} {air:?}", row.name());
        }
    }
}

#[test]
fn two_hidden_stations_collapse_without_rts_and_recover_with_it() {
    // The same pair within reach: what they share when they hear each other.
    let throughput = |text: &str| Run::number(&run(text).summary, "datagram_throughput_bps").unwrap();
    let [without, with] = ["", " RTS"].map(|rts| named(&[&format!("a 6 1500 B CW 15-1023{rts}")]).remove(0));
    let heard = throughput(&without.scenario(Air::Reach, 10).replace("reach = false", "reach = true"));
    let [collapsed, recovered] = [without, with].map(|row| throughput(&row.scenario(Air::Reach, 10)));
    println!("heard {heard}, hidden {collapsed}, with RTS {recovered}");
    assert!(collapsed < 0.2 * heard, "{collapsed} of {heard}");
    assert!(recovered > 0.9 * heard, "{recovered} of {heard}");
}

#[test]
#[ignore = "make validate"]
fn every_row_meets_the_monte_carlo_within_3_percent() {
    for row in reference() {
        assert_meets_the_monte_carlo(&row, Air::Reach, 120);
    }
}
