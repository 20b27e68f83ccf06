//! Replications, in parallel. The only file with threads and a wall clock.

use crate::assembly;
use crate::blueprint::Blueprint;
use crate::results::{self, Run};
use crate::scenario::{InputError, Scenario};
use crate::taps::{self, Captures, Series, Taps, Timeline, Window};
use crate::world::Interrupted;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use units::Dur;
use wire::radiotap;

/// What is recorded beside the results. Nothing here changes a bit of them.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Write a capture of every node into this folder.
    pub pcap_dir: Option<PathBuf>,
    /// Sample time series.
    pub series: bool,
    /// Keep the timeline of the air in this part of the run.
    pub timeline: Option<Window>,
    /// Hash what PHY, MAC and TCP did.
    pub fingerprint: bool,
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be built.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A capture could not be written.
    #[error("capture: {0}")]
    Capture(#[from] io::Error),
    /// It was told to stop.
    #[error("interrupted")]
    Interrupted,
    /// The books do not balance: a mistake of the program.
    #[error("a packet is unaccounted for: {0}")]
    Books(String),
}

impl From<Interrupted> for RunError {
    fn from(_: Interrupted) -> RunError {
        RunError::Interrupted
    }
}

/// How often time series are sampled.
const SERIES_EVERY: Dur = Dur::from_ms(50);

/// Runs a scenario once.
///
/// # Errors
/// See [`RunError`].
pub fn run(blueprint: &Blueprint, seed: u64, record: &Record, stop: &AtomicBool) -> Result<Run, RunError> {
    let scenario = blueprint.scenario();
    let captures = record.pcap_dir.as_deref().map(|dir| captures(scenario, dir, seed)).transpose()?;
    let series = record.series.then(|| Series::new(SERIES_EVERY, taps::queue_ids(scenario)));
    let taps = Taps::new(record.fingerprint, captures, series, record.timeline.map(Timeline::new));
    let mut world = assembly::world(blueprint.shared(), seed, taps)?;
    #[allow(clippy::disallowed_methods, reason = "the run's own cost, reported beside its results")]
    let started = std::time::Instant::now();
    world.run(stop)?;
    let sim_s = started.elapsed().as_secs_f64();
    let recorded = std::mem::take(&mut world.taps).finish()?;
    let run = results::collect(&world, scenario, seed, sim_s, recorded);
    if run.books.balance() { Ok(run) } else { Err(RunError::Books(format!("{:?}", run.books))) }
}

fn captures(scenario: &Scenario, dir: &Path, seed: u64) -> Result<Captures, RunError> {
    let (frequency_mhz, flags) = match scenario.radio.standard {
        phy::Standard::A => (5180, radiotap::Channel::OFDM_5GHZ),
        phy::Standard::G => (2437, radiotap::Channel::DYNAMIC_2GHZ),
        phy::Standard::Dsss | phy::Standard::B => (2437, radiotap::Channel::CCK_2GHZ),
    };
    let network = assembly::attachments(scenario, seed)?;
    Ok(Captures::create(dir, network, seed, radiotap::Channel { frequency_mhz, flags })?)
}

/// Runs every task, `jobs` at a time (0: one a core). Results stand in the order of the tasks, and none depends on
/// another or on `jobs`. A task that did not run because `stop` was set has [`RunError::Interrupted`].
///
/// `progress` is called from this thread whenever some more are done.
pub fn run_batch(
    tasks: &[(&Blueprint, u64)],
    jobs: usize,
    record: &Record,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Vec<Result<Run, RunError>> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if jobs == 0 { cores() } else { jobs }.min(tasks.len()).max(1);
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0..tasks.len()).map(|_| Err(RunError::Interrupted)).collect::<Vec<_>>());
    let finished = AtomicUsize::new(0);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some((blueprint, seed)) = tasks.get(i) else { return };
            let result = run(blueprint, *seed, record, stop);
            if let Ok(mut done) = done.lock() {
                done[i] = result;
            }
            finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let mut told = 0;
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            std::thread::sleep(std::time::Duration::from_millis(2));
            let now = finished.load(Ordering::Relaxed);
            if now != told || now < tasks.len() {
                told = now;
                progress(now);
            }
        }
    });
    progress(finished.load(Ordering::Relaxed));
    done.into_inner().unwrap_or_default()
}
