//! Replications, in parallel. The only file with threads and a wall clock.

use crate::assembly;
use crate::blame::blame;
use crate::blueprint::Blueprint;
use crate::panics::{self, Caught};
use crate::results::{self, Run};
use crate::scenario::InputError;
use crate::shared::Shared;
use crate::taps::{self, Captures, Scene, Series, Taps, Timeline, Window};
use crate::world::{Interrupted, World};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use units::SimTime;
use wire::radiotap;

/// The recordings beside the results. Nothing here changes a bit of them.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Write a capture of every node into this folder.
    pub pcap_dir: Option<PathBuf>,
    /// Sample time series.
    pub series: bool,
    /// Keep the timeline of the air in this part of the run.
    pub timeline: Option<Window>,
    /// Keep the scene, for a picture that moves.
    pub scene: bool,
    /// Hash what PHY, MAC and TCP did.
    pub fingerprint: bool,
}

/// The reason why a run has no result.
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
    /// The books do not balance: a mistake of the program. It names scheme and node.
    #[error("a packet is unaccounted for: {0}")]
    Books(String),
    /// It panicked: a mistake of the program. What the panic said, and where.
    #[error("panicked: {0}")]
    Panicked(String),
    /// A plug-in of another program could not go on. Only a [`Runner`] tells; [`run`] unwinds.
    #[error(transparent)]
    Plugin(plugin::Failure),
}

impl From<Interrupted> for RunError {
    fn from(_: Interrupted) -> RunError {
        RunError::Interrupted
    }
}

/// Runs a scenario once.
///
/// # Errors
/// See [`RunError`].
pub fn run(blueprint: &Blueprint, seed: u64, record: &Record, stop: &AtomicBool) -> Result<Run, RunError> {
    run_watched(blueprint, seed, record, stop, &AtomicU64::new(0))
}

/// As [`run`]; the simulated time in ns that the run has reached is written to `reached` now and then.
fn run_watched(
    blueprint: &Blueprint,
    seed: u64,
    record: &Record,
    stop: &AtomicBool,
    reached: &AtomicU64,
) -> Result<Run, RunError> {
    let shared = &*assembly::drawn(blueprint.shared(), seed)?;
    if stop.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted);
    }
    let mut world = recorded_world(shared, seed, record)?;
    #[allow(clippy::disallowed_methods, reason = "the run's own cost, reported beside its results")]
    let started = std::time::Instant::now();
    world.run(stop, reached)?;
    let sim_s = started.elapsed().as_secs_f64();
    results_of(world, shared, seed, sim_s)
}

/// A world with the taps that are asked for.
///
/// # Errors
/// It cannot be built, or captures cannot be begun.
pub(crate) fn recorded_world(shared: &Shared, seed: u64, record: &Record) -> Result<World, RunError> {
    let scenario = &shared.scenario;
    let captures = record.pcap_dir.as_deref().map(|dir| captures(shared, dir, seed)).transpose()?;
    let series = record.series.then(|| Series::new(scenario.series_every, taps::queue_ids(scenario)));
    let (timeline, scene) = (record.timeline.map(Timeline::new), record.scene.then(Scene::new));
    let taps = Taps::new(record.fingerprint, captures, series, timeline, scene);
    Ok(assembly::world(shared, seed, taps)?)
}

/// The results of a world whose run is over; its event loop took `sim_s` seconds.
///
/// # Errors
/// A capture could not be written, or the books do not balance.
pub(crate) fn results_of(mut world: World, shared: &Shared, seed: u64, sim_s: f64) -> Result<Run, RunError> {
    let recorded = std::mem::take(&mut world.taps).finish()?;
    let run = results::collect(&world, shared, seed, sim_s, recorded);
    if run.books.balance() { Ok(run) } else { Err(RunError::Books(blame(&world, shared, seed, &run.books))) }
}

/// As [`run_watched`]; a panic is an error of this run alone.
fn run_caught(task: &Task, record: &Record, stop: &AtomicBool) -> Result<Run, RunError> {
    let Task { blueprint, seed, reached, .. } = task;
    panics::caught(|| run_watched(blueprint, *seed, record, stop, reached)).unwrap_or_else(|caught| match caught {
        Caught::Panic(said) => Err(RunError::Panicked(said)),
        Caught::Failure(failure) => Err(RunError::Plugin(failure)),
    })
}

fn captures(shared: &Shared, dir: &Path, seed: u64) -> Result<Captures, RunError> {
    let (frequency_mhz, flags) = match shared.scenario.radio.standard {
        phy::Standard::A | phy::Standard::N | phy::Standard::Ac | phy::Standard::Ax => {
            (5180, radiotap::Channel::OFDM_5GHZ)
        }
        phy::Standard::G | phy::Standard::N2_4 => (2437, radiotap::Channel::DYNAMIC_2GHZ),
        phy::Standard::Dsss | phy::Standard::B => (2437, radiotap::Channel::CCK_2GHZ),
    };
    let network = assembly::attachments(shared, seed)?;
    Ok(Captures::create(dir, network, seed, radiotap::Channel { frequency_mhz, flags })?)
}

/// A program's own code around a run, on its thread: it calls the function that it is given, once.
pub type Around = Arc<dyn Fn(&mut (dyn FnMut() + Send)) + Send + Sync>;

/// The task of a worker.
struct Task {
    number: u64,
    blueprint: Blueprint,
    seed: u64,
    /// The simulated time in ns that the run has reached.
    reached: Arc<AtomicU64>,
    around: Option<Around>,
}

/// A run that is over.
#[derive(Debug)]
pub struct Done {
    /// The number of the task, counted from 0 in the order in which they were submitted.
    pub task: u64,
    /// Its scenario.
    pub blueprint: Blueprint,
    /// The result of the task.
    pub result: Result<Run, RunError>,
}

/// The longest time that [`Runner::stop`] waits for threads.
const MOST_WAIT: Duration = Duration::from_millis(250);

/// Makes runs in the background, some at a time: they are submitted one by one, and come back as they finish.
///
/// Nothing is kept of a run that has not been submitted or has been taken back. The caller bounds what waits here.
/// Dropping it stops the runs under way, as [`Runner::stop`] does.
#[derive(Debug)]
pub struct Runner {
    record: Arc<Record>,
    stop: Arc<AtomicBool>,
    /// `None` once it was told to stop: workers then find the end of the queue.
    tasks: Option<Sender<Task>>,
    queue: Arc<Mutex<Receiver<Task>>>,
    into: Sender<Done>,
    done: Receiver<Done>,
    workers: Vec<JoinHandle<()>>,
    jobs: usize,
    submitted: u64,
    /// The simulated time in ns of each run that was submitted and has not come back.
    pending: BTreeMap<u64, Arc<AtomicU64>>,
}

impl Runner {
    /// One that makes `jobs` runs at a time; 0: one a core. Threads begin as runs are submitted.
    pub fn new(jobs: usize, record: Record) -> Runner {
        panics::hook();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let ((tasks, queue), (into, done)) = (channel(), channel());
        Runner {
            record: Arc::new(record),
            stop: Arc::default(),
            tasks: Some(tasks),
            queue: Arc::new(Mutex::new(queue)),
            into,
            done,
            workers: Vec::new(),
            jobs: if jobs == 0 { cores() } else { jobs },
            submitted: 0,
            pending: BTreeMap::new(),
        }
    }

    /// The number of runs made at a time.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// The number of tasks submitted and not come back.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The simulated time that each pending run has reached, by its number, a few thousand events late at most.
    pub fn reached(&self) -> impl Iterator<Item = (u64, SimTime)> {
        self.pending.iter().map(|(number, at)| (*number, SimTime::from_ns(at.load(Ordering::Relaxed))))
    }

    /// Asks for a run and gives its number. After [`Runner::stop`] it never comes.
    ///
    /// # Errors
    /// If not a single thread can be had.
    pub fn submit(&mut self, blueprint: Blueprint, seed: u64) -> io::Result<u64> {
        self.submit_with(blueprint, seed, None)
    }

    /// As [`Runner::submit`], with something around the run: what plug-ins of the program need on its thread.
    ///
    /// # Errors
    /// If not a single thread can be had.
    pub fn submit_with(&mut self, blueprint: Blueprint, seed: u64, around: Option<Around>) -> io::Result<u64> {
        if self.workers.len() < self.jobs.min(self.pending.len() + 1) {
            match self.worker() {
                Ok(worker) => self.workers.push(worker),
                Err(error) if self.workers.is_empty() => return Err(error),
                Err(_) => self.jobs = self.workers.len(),
            }
        }
        let number = self.submitted;
        if let Some(tasks) = &self.tasks {
            let reached: Arc<AtomicU64> = Arc::default();
            // The other end is in `self`: it never fails.
            if tasks.send(Task { number, blueprint, seed, around, reached: Arc::clone(&reached) }).is_ok() {
                self.pending.insert(number, reached);
            }
        }
        self.submitted += 1;
        Ok(number)
    }

    fn worker(&self) -> io::Result<JoinHandle<()>> {
        let (record, stop, queue) = (Arc::clone(&self.record), Arc::clone(&self.stop), Arc::clone(&self.queue));
        let into = self.into.clone();
        let next = move || queue.lock().ok()?.recv().ok();
        let work = move || {
            while let Some(mut task) = next() {
                let mut result = Err(RunError::Interrupted);
                let around = task.around.take();
                let mut run = || result = run_caught(&task, &record, &stop);
                match around {
                    None => run(),
                    Some(around) => around(&mut run),
                }
                let done = Done { task: task.number, blueprint: task.blueprint, result };
                if stop.load(Ordering::Relaxed) || into.send(done).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("interlayer run".to_owned()).spawn(work)
    }

    /// The next run that finishes, in whatever order they do. `None` if that takes longer than `patience`, or nothing is
    /// pending.
    pub fn next(&mut self, patience: Duration) -> Option<Done> {
        if self.pending.is_empty() {
            return None;
        }
        let done = self.done.recv_timeout(patience).ok()?;
        self.pending.remove(&done.task);
        Some(done)
    }

    /// Stops the runs under way and forgets the others; returns when all threads have ended, or after a quarter of a second.
    ///
    /// Runs look for it every few thousand events. A large one that is still being put together does so afterwards: its thread
    /// is left to end by itself.
    pub fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        (self.tasks, self.pending) = (None, BTreeMap::new());
        #[allow(clippy::disallowed_methods, reason = "how long somebody waits for threads; no run knows of it")]
        let begun = std::time::Instant::now();
        for worker in self.workers.drain(..) {
            while !worker.is_finished() && begun.elapsed() < MOST_WAIT {
                std::thread::sleep(Duration::from_millis(1));
            }
            if worker.is_finished() {
                // What a run's own panic would say has been caught; there is no other.
                _ = worker.join();
            }
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs every task, `jobs` at a time (0: one a core). Results stand in the order of the tasks, and none depends on
/// another or on `jobs`.
pub fn run_batch(tasks: &[(&Blueprint, u64)], jobs: usize, record: &Record) -> Vec<Result<Run, RunError>> {
    let mut runner = Runner::new(jobs, record.clone());
    let mut results: Vec<Result<Run, RunError>> = tasks.iter().map(|_| Err(RunError::Interrupted)).collect();
    for (blueprint, seed) in tasks {
        if runner.submit((*blueprint).clone(), *seed).is_err() {
            return results;
        }
    }
    while runner.pending() > 0 {
        if let Some(done) = runner.next(Duration::MAX) {
            results[done.task as usize] = done.result;
        }
    }
    results
}
