//! `modem point …`: one point of a curve. `modem sweep FILE`: all of modem.csv, as far as it is not there yet. `modem capture`: capture.csv.

use modem::interference::Interferer;
use modem::ppdu::{Format, HE20, HT20, VHT20};
use modem::run::{Count, Decoder, Point};
use modem::{Coding, MCS};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const USAGE: &str = "modem point --coding bcc|ldpc --mcs N --bytes N --snr-db X [--format ht|vht|he]
            [--decoder plain|patient] [--packets N] [--errors N] [--seed K]
modem sweep FILE [--packets N] [--errors N] [--seed K] [--threads N] [--minutes N]
modem capture [--by MCS] [--packets N] [--errors N] [--seed K]

A point ends after so many packets or errors. A sweep takes each curve from PER 0.9 to 0.005, adds its points to FILE and goes on where
FILE ends; it starts no point after so many minutes. With --by the interferer has the constellation of that MCS, not the frame's own.";

const HEADER: &str = "coding,mcs,bytes,snr_db,packets,errors,seed";

/// The curves of modem.csv: coding, PSDU in octets, step in hundredths of a decibel.
const CURVES: [(Coding, usize, i32); 3] = [(Coding::Ldpc, 1458, 10), (Coding::Bcc, 1458, 25), (Coding::Bcc, 32, 50)];

#[derive(Debug, Clone, Copy)]
struct Options {
    format: Format,
    coding: Coding,
    mcs: usize,
    /// The interferer's, if it is not the frame's.
    by: Option<usize>,
    bytes: usize,
    decoder: Decoder,
    millibel: i32,
    packets: u32,
    errors: u32,
    seed: u64,
    threads: usize,
    minutes: u64,
}

fn number<T: std::str::FromStr>(flag: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{flag}: not a number: {value}"))
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        format: HE20,
        coding: Coding::Bcc,
        mcs: 0,
        by: None,
        bytes: 1458,
        decoder: Decoder::Plain,
        millibel: 0,
        packets: 4000,
        errors: 200,
        seed: 1,
        threads: 1,
        minutes: 60,
    };
    for pair in args.chunks(2) {
        let [flag, value] = pair else { return Err(format!("{}: a value is missing", pair[0])) };
        match (flag.as_str(), value.as_str()) {
            ("--format", "ht") => options.format = HT20,
            ("--format", "vht") => options.format = VHT20,
            ("--format", "he") => options.format = HE20,
            ("--decoder", "plain") => options.decoder = Decoder::Plain,
            ("--decoder", "patient") => options.decoder = Decoder::Patient,
            ("--coding", v) => options.coding = v.parse()?,
            ("--mcs", v) => options.mcs = number(flag, v)?,
            ("--by", v) => options.by = Some(number(flag, v)?),
            ("--bytes", v) => options.bytes = number(flag, v)?,
            ("--snr-db", v) => options.millibel = millibel(v).ok_or_else(|| format!("{flag}: not a number: {v}"))?,
            ("--packets", v) => options.packets = number(flag, v)?,
            ("--errors", v) => options.errors = number(flag, v)?,
            ("--seed", v) => options.seed = number(flag, v)?,
            ("--threads", v) => options.threads = number(flag, v)?,
            ("--minutes", v) => options.minutes = number(flag, v)?,
            _ => return Err(format!("{flag} {value}: not understood")),
        }
    }
    if options.by.is_some_and(|mcs| mcs >= MCS.len()) {
        return Err(format!("--by: there are {} MCS", MCS.len()));
    }
    if options.mcs >= options.coding.mcs_count() || options.bytes == 0 || options.packets == 0 {
        return Err(format!(
            "{} has {} MCS; bytes and packets are at least 1",
            options.coding,
            options.coding.mcs_count()
        ));
    }
    Ok(options)
}

fn millibel(db: &str) -> Option<i32> {
    db.parse::<f64>().ok().map(|db| (100.0 * db).round() as i32)
}

/// What tells rows of modem.csv apart: coding, MCS, bytes, SNR in hundredths of a decibel, seed.
type Key = (String, usize, usize, i32, u64);

fn key(point: &Point) -> Key {
    (point.coding.to_string(), point.mcs, point.octets, point.millibel, point.seed)
}

fn row((coding, mcs, bytes, millibel, seed): &Key, count: Count) -> String {
    let Count { packets, errors } = count;
    format!("{coding},{mcs},{bytes},{:.2},{packets},{errors},{seed}", f64::from(*millibel) / 100.0)
}

fn parse_row(row: &str) -> Option<(Key, Count)> {
    let mut fields = row.split(',');
    let mut next = || fields.next();
    let (coding, mcs, bytes) = (next()?.to_owned(), next()?.parse().ok()?, next()?.parse().ok()?);
    let (snr, packets, errors) = (millibel(next()?)?, next()?.parse().ok()?, next()?.parse().ok()?);
    Some(((coding, mcs, bytes, snr, next()?.parse().ok()?), Count { packets, errors }))
}

/// The rows that are there, and those that are added.
struct Table<'a> {
    file: &'a str,
    rows: Mutex<BTreeMap<Key, Count>>,
    options: Options,
    end: Instant,
}

impl<'a> Table<'a> {
    fn open(file: &'a str, options: Options) -> Result<Self, String> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let rows = text.lines().skip(1).map(|line| parse_row(line).ok_or_else(|| format!("{file}: {line}")));
        let rows = Mutex::new(rows.collect::<Result<_, _>>()?);
        Ok(Self { file, rows, options, end: Instant::now() + Duration::from_secs(60 * options.minutes) })
    }

    /// What is known of a point, which is run first if nothing is; `None` if time is up.
    fn count(&self, point: &Point) -> Option<Count> {
        let lock = || self.rows.lock().expect("no thread has panicked");
        if let Some(count) = lock().get(&key(point)) {
            return Some(*count);
        }
        if Instant::now() >= self.end {
            return None;
        }
        let count = point.run(self.options.errors, self.options.packets);
        let mut rows = lock();
        rows.insert(key(point), count);
        let mut text = format!("{HEADER}\n");
        rows.iter().for_each(|(key, count)| writeln!(text, "{}", row(key, *count)).expect("a string grows"));
        fs::write(self.file, text).expect("the file can be written");
        Some(count)
    }

    /// A curve from PER 0.9 to 0.005; `None` if time is up.
    fn curve(&self, coding: Coding, octets: usize, step: i32, mcs: usize) -> Option<()> {
        let at = |step_no: i32| {
            let Options { format, decoder, seed, .. } = self.options;
            Point { format, coding, mcs, octets, decoder, millibel: step * step_no, interferer: None, seed }
        };
        // Where the curve is: by halving, with a few packets each.
        let (mut low, mut high) = (-1000 / step, 4000 / step);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if at(middle).run(10, 20).per() >= 0.5 { low = middle } else { high = middle }
        }
        for step_no in high.. {
            if self.count(&at(step_no))?.per() < 0.005 {
                break;
            }
        }
        for step_no in (-2000..high).rev() {
            if self.count(&at(step_no))?.per() > 0.9 {
                break;
            }
        }
        Some(())
    }
}

fn sweep(file: &str, options: Options) -> Result<(), String> {
    let table = Table::open(file, options)?;
    let (table, next) = (&table, &AtomicUsize::new(0));
    let curves: Vec<_> = (0..MCS.len()).flat_map(|mcs| CURVES.map(|curve| (curve, mcs))).collect();
    let work = || {
        while let Some(&((coding, octets, step), mcs)) = curves.get(next.fetch_add(1, Ordering::Relaxed)) {
            if mcs < coding.mcs_count() && table.curve(coding, octets, step, mcs).is_none() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(work);
        }
    });
    if Instant::now() >= table.end { Err("time is up: run it again".into()) } else { Ok(()) }
}

/// Frames under an interferer, HT in 20 MHz with BCC, from PER 0.9 to 0.02 in steps of a decibel.
fn capture(options: Options) {
    println!("interferer,mcs,sir_db,packets,errors,seed");
    for (mcs, own) in MCS[..8].iter().enumerate() {
        let bits = options.by.map_or(own.bits, |by| MCS[by].bits);
        let kinds = [
            ("gaussian", Interferer::Gaussian),
            ("aligned", Interferer::Aligned { bits }),
            ("loose", Interferer::Loose { bits }),
        ];
        for (name, kind) in kinds {
            let at = |sir_db: i32| {
                let Options { decoder, bytes: octets, seed, .. } = options;
                let interferer = Some((kind, 100 * sir_db));
                Point { format: HT20, coding: Coding::Bcc, mcs, octets, decoder, millibel: QUIET, interferer, seed }
            };
            let first = (-20..).find(|&sir_db| at(sir_db).run(10, 10).errors < 10).unwrap_or(0) - 1;
            for sir_db in first.. {
                let Count { packets, errors } = at(sir_db).run(options.errors, options.packets);
                println!("{name},{mcs},{sir_db},{packets},{errors},{}", options.seed);
                if errors * 50 < packets {
                    break;
                }
            }
        }
    }
}

/// E_s/N0 under which noise costs nothing beside an interferer, in hundredths of a decibel.
const QUIET: i32 = 5000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["point", ..] => options(&args[1..]).map(|options| {
            let Options { format, coding, mcs, bytes: octets, decoder, millibel, seed, .. } = options;
            let point = Point { format, coding, mcs, octets, decoder, millibel, interferer: None, seed };
            println!("{HEADER}\n{}", row(&key(&point), point.run(options.errors, options.packets)));
        }),
        ["sweep", file, ..] => options(&args[2..]).and_then(|options| sweep(file, options)),
        ["capture", ..] => options(&args[1..]).map(capture),
        _ => Err("point, sweep or capture?".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
