//! The loop. A packet enters the model when it is read; the world is advanced to *now* and never beyond; what it delivers is written when the
//! wall clock is there.

use crate::gate::{Conversation, Fate, Gate};
use crate::histogram::Histogram;
use crate::record::Recorder;
use crate::set::Command;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use units::{Dur, NodeId, SimTime};
use world::{Blueprint, Drive, Look, Record, Run, RunError};

/// A host: its node, and a device that gives and takes single IP packets, without blocking.
#[derive(Debug)]
pub struct Host {
    /// Its node.
    pub node: NodeId,
    /// Its name, for a recording.
    pub name: String,
    /// A TUN device without packet information and offloads, opened without blocking.
    pub device: OwnedFd,
}

/// The parts of a live run that are not the scenario's.
#[derive(Debug, Clone)]
pub struct Options {
    /// Keep time and bytes of every packet in this file.
    pub record: Option<PathBuf>,
    /// Captures, as of a simulated run.
    pub captures: Option<PathBuf>,
    /// The longest time that the loop looks at the clock instead of sleeping before something is due.
    pub spin: Dur,
}

/// Bytes of a packet that is read at most: an IP packet has no more.
const LONGEST: usize = 65_535;

/// Packets that are read from one device before the world goes on: what waits longer is late by their reading, some 2 us each.
const AT_ONCE: usize = 16;

/// The share of time that the loop may spend looking at the clock: the kernel takes 50 ms of each second from a FIFO task that never sleeps
/// (sched(7), `sched_rt_runtime_us`).
const SPINNING: f64 = 0.5;

/// The time after which the [`Gauge`] is written anew.
const SHOWN_EVERY: Dur = Dur::from_ms(100);

/// Lateness above which a packet counts as late, and the share of them that makes a run overloaded. Our choice.
pub const LATE: Dur = Dur::from_ms(5);
const MOST_LATE: f64 = 0.01;

/// The state of a running loop, as others see it: some 100 ms old.
#[derive(Debug, Clone, Default)]
pub struct Gauge {
    /// Model time.
    pub at: SimTime,
    /// Packets and bytes that hosts have sent, in their order.
    pub sent: Vec<(u64, u64)>,
    /// Those that they were given.
    pub got: Vec<(u64, u64)>,
    /// Interfaces.
    pub looks: Vec<Look>,
    /// Lateness since the gauge was last written: of 99 %, and the longest.
    pub late: [Dur; 2],
}

/// The way to a loop from other threads.
#[derive(Debug, Clone)]
pub struct Handle {
    stop: Arc<AtomicBool>,
    wake: Arc<OwnedFd>,
    commands: Sender<Command>,
    gauge: Arc<Mutex<Gauge>>,
}

/// The loop's end of a [`Handle`].
#[derive(Debug)]
pub struct Ended {
    stop: Arc<AtomicBool>,
    wake: Arc<OwnedFd>,
    commands: Receiver<Command>,
    gauge: Arc<Mutex<Gauge>>,
}

impl Handle {
    /// Both ends.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<(Handle, Ended)> {
        let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let (stop, gauge): (Arc<AtomicBool>, Arc<Mutex<Gauge>>) = Default::default();
        let (commands, received) = channel();
        let ended =
            Ended { stop: Arc::clone(&stop), wake: Arc::clone(&wake), commands: received, gauge: Arc::clone(&gauge) };
        Ok((Handle { stop, wake, commands, gauge }, ended))
    }

    /// The loop ends as soon as it sees this.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.ring();
    }

    /// The loop changes the network at the next instant. Returns false if it has ended.
    pub fn change(&self, command: Command) -> bool {
        let sent = self.commands.send(command).is_ok();
        self.ring();
        sent
    }

    /// The state of the loop.
    pub fn gauge(&self) -> Gauge {
        self.gauge.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ring(&self) {
        // Full after 2^64 - 1 calls; the loop is awake then.
        _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
    }
}

/// The reason why a live run has no result.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The world.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A device, or the clock.
    #[error("{what}: {error}")]
    Device {
        /// The name of the host, or what else it is.
        what: String,
        /// The words of the system.
        error: io::Error,
    },
    /// The recording.
    #[error("recording: {0}")]
    Record(io::Error),
}

/// A live run that is over.
#[derive(Debug)]
pub struct Outcome {
    /// The results of the world.
    pub run: Run,
    /// Wall clock minus model time of every packet written.
    pub late: Histogram,
    /// The same of the first packet of each burst: those behind it are due at the same instant, and wait for each other's writing.
    pub first: Histogram,
    /// Time from a packet's arrival in the model to the reading of what its host sends next: the cost of the loop and of the host's stack.
    pub answers: Histogram,
    /// Lateness of the loop itself: of its look at the clock behind the time of the next event.
    pub behind: Histogram,
    /// The packets that hosts have sent, by what became of them.
    pub fates: Vec<(Fate, u64)>,
    /// The conversations of hosts.
    pub conversations: Vec<Conversation>,
    /// Packets that a device would not take: its program is slow, or it has gone.
    pub refused: u64,
    /// The time for which the loop was not asleep.
    pub busy: Dur,
}

impl Outcome {
    /// True if more than 1 % of the packets were written more than [`LATE`] behind their time: no verdict may rest on it.
    pub fn is_overloaded(&self) -> bool {
        self.late.above(LATE) as f64 > MOST_LATE * self.late.count() as f64
    }
}

/// The time since the loop has begun.
#[derive(Debug)]
struct Clock {
    begun: u64,
}

fn monotonic() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

impl Clock {
    fn now(&self) -> SimTime {
        SimTime::from_ns(monotonic() - self.begun)
    }
}

/// Joins hosts by the network of `blueprint`, until the scenario ends or somebody says so. The scenario begins when the loop does.
///
/// The caller gives the thread its priority: under SCHED_FIFO the loop is late by some 10 us, under others by what they do. It sleeps in
/// between, looks at the clock for [`Options::spin`] at most, and for half of the time at most.
///
/// # Errors
/// [`LiveError`].
pub fn run(
    blueprint: &Blueprint,
    seed: u64,
    hosts: &[Host],
    options: &Options,
    ended: Ended,
) -> Result<Outcome, LiveError> {
    let record = Record { pcap_dir: options.captures.clone(), ..Record::default() };
    let drive = Drive::new(blueprint, seed, &record)?;
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let recorder = options.record.as_deref().map(|path| Recorder::create(path, seed, &names));
    let recorder = recorder.transpose().map_err(LiveError::Record)?;
    let nodes = blueprint.scenario().nodes.len();
    let mut live = Loop {
        gate: Gate::new(drive, nodes),
        hosts,
        ended,
        recorder,
        clock: Clock { begun: monotonic() },
        late: Histogram::default(),
        first: Histogram::default(),
        answers: Histogram::default(),
        arrived: vec![None; hosts.len()],
        behind: Histogram::default(),
        recent: Histogram::default(),
        shown: SimTime::ZERO,
        sent: vec![(0, 0); hosts.len()],
        got: vec![(0, 0); hosts.len()],
        refused: 0,
        spun: Dur::ZERO,
        slept: Dur::ZERO,
        buffer: vec![0; LONGEST],
    };
    live.go(options.spin)?;
    let Loop { mut gate, recorder, late, first, answers, behind, refused, slept, clock, .. } = live;
    let end = gate.drive().now();
    recorder.map_or(Ok(()), |recorder| recorder.finish(end)).map_err(LiveError::Record)?;
    let busy = clock.now().since(SimTime::ZERO).saturating_sub(slept);
    let (fates, conversations) = (gate.fates().collect(), gate.conversations().cloned().collect());
    let run = gate.into_drive().stop()?;
    Ok(Outcome { run, late, first, answers, behind, fates, conversations, refused, busy })
}

struct Loop<'a> {
    gate: Gate,
    hosts: &'a [Host],
    ended: Ended,
    recorder: Option<Recorder>,
    clock: Clock,
    late: Histogram,
    first: Histogram,
    answers: Histogram,
    /// The model time of the last packet that a host was given, until it sends one.
    arrived: Vec<Option<SimTime>>,
    behind: Histogram,
    /// Lateness since the gauge was written.
    recent: Histogram,
    /// The time when the gauge was written.
    shown: SimTime,
    sent: Vec<(u64, u64)>,
    got: Vec<(u64, u64)>,
    refused: u64,
    /// The time for which the clock was looked at.
    spun: Dur,
    slept: Dur,
    buffer: Vec<u8>,
}

impl Loop<'_> {
    fn go(&mut self, spin: Dur) -> Result<(), LiveError> {
        let devices: Vec<BorrowedFd<'_>> =
            self.hosts.iter().map(|host| rustix::fd::AsFd::as_fd(&host.device)).collect();
        let wake = Arc::clone(&self.ended.wake);
        let mut fds: Vec<PollFd<'_>> =
            devices.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        fds.push(PollFd::new(&*wake, PollFlags::IN));
        let end = self.gate.drive().end();
        while !self.ended.stop.load(Ordering::Relaxed) {
            let now = self.clock.now().min(end);
            self.advance(now)?;
            if now == end {
                break;
            }
            self.obey(now)?;
            self.show(now);
            let due = self.gate.drive().next_at().min(self.shown + SHOWN_EVERY);
            let left = due.since(self.clock.now());
            let ready = self.wait(&mut fds, left, spin)?;
            let seen = self.clock.now();
            if ready == 0 && seen >= due {
                self.behind.add(seen.since(due));
            }
            for (at, fd) in fds.iter().enumerate().take(self.hosts.len()) {
                let events = fd.revents();
                if events.contains(PollFlags::IN) {
                    self.read(at)?;
                } else if events.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                    return Err(self.gone(at, io::Error::other("the device has gone")));
                }
            }
            if ready > 0 && fds[self.hosts.len()].revents().contains(PollFlags::IN) {
                _ = rustix::io::read(&*wake, &mut [0; 8]);
            }
        }
        Ok(())
    }

    /// Waits for a packet, or for as long as is left; a sleep ends `spin` earlier, since a thread that sleeps wakes some 50 us late. Returns
    /// how many devices have something.
    fn wait(&mut self, fds: &mut [PollFd<'_>], left: Dur, spin: Dur) -> Result<usize, LiveError> {
        let before = self.clock.now();
        let may_spin = self.spun.as_secs_f64() < SPINNING * before.as_secs_f64();
        let is_near = may_spin && left <= spin;
        let sleep = match (is_near, may_spin) {
            (true, _) => Dur::ZERO,
            (false, true) => left.saturating_sub(spin),
            (false, false) => left,
        };
        let timeout =
            Timespec { tv_sec: (sleep.ns() / 1_000_000_000) as i64, tv_nsec: (sleep.ns() % 1_000_000_000) as i64 };
        loop {
            let ready = match poll(fds, Some(&timeout)) {
                Ok(ready) => ready,
                Err(Errno::INTR) => 0,
                Err(error) => return Err(LiveError::Device { what: "poll".to_owned(), error: error.into() }),
            };
            let waited = self.clock.now().since(before);
            if is_near && ready == 0 && waited < left {
                continue;
            }
            *(if is_near { &mut self.spun } else { &mut self.slept }) += waited;
            return Ok(ready);
        }
    }

    /// Everything happens up to `now`; what has arrived is written.
    fn advance(&mut self, now: SimTime) -> Result<(), LiveError> {
        let Loop { gate, hosts, recorder, clock, late, first, recent, arrived, got, refused, .. } = self;
        // Time does not run back.
        _ = gate.drive().advance(now);
        let mut failed = Ok(());
        for (((place, host), got), arrived) in hosts.iter().enumerate().zip(got).zip(arrived) {
            let mut burst = None;
            gate.leave(host.node, |at, bytes| {
                // Before the call: the kernel receives and answers in it.
                let behind = clock.now().since(at);
                match rustix::io::write(&host.device, bytes) {
                    Ok(_) => {
                        late.add(behind);
                        if burst.replace(at) != Some(at) {
                            first.add(behind);
                        }
                        *arrived = Some(at);
                        recent.add(behind);
                        (got.0, got.1) = (got.0 + 1, got.1 + bytes.len() as u64);
                    }
                    // EINVAL: what arrives is no packet to the kernel, as a cut one; EIO: the device is down.
                    Err(_) => *refused += 1,
                }
                if let Some(recorder) = recorder {
                    failed = std::mem::replace(&mut failed, Ok(())).and_then(|()| recorder.got(place, at, bytes));
                }
            });
        }
        failed.map_err(LiveError::Record)
    }

    /// Reads some of what a host has sent.
    fn read(&mut self, place: usize) -> Result<(), LiveError> {
        let host = &self.hosts[place];
        for _ in 0..AT_ONCE {
            let len = match rustix::io::read(&host.device, &mut self.buffer) {
                Ok(0) | Err(Errno::AGAIN | Errno::INTR) => break,
                Ok(len) => len,
                Err(error) => return Err(self.gone(place, error.into())),
            };
            // Never at an instant that the world has left: a recorded run could not tell what came first.
            let at = self.clock.now().max(self.gate.drive().now() + Dur::from_ns(1));
            if let Some(arrived) = self.arrived[place].take() {
                self.answers.add(at.since(arrived));
            }
            let bytes = &self.buffer[..len];
            self.gate.enter(host.node, bytes, at);
            let sent = &mut self.sent[place];
            (sent.0, sent.1) = (sent.0 + 1, sent.1 + len as u64);
            if let Some(recorder) = &mut self.recorder {
                recorder.sent(place, at, bytes).map_err(LiveError::Record)?;
            }
        }
        Ok(())
    }

    /// Changes the network as others have asked.
    fn obey(&mut self, now: SimTime) -> Result<(), LiveError> {
        while let Ok(Command { what, text }) = self.ended.commands.try_recv() {
            if self.gate.drive().change(&what).is_ok() {
                self.recorder
                    .as_mut()
                    .map_or(Ok(()), |recorder| recorder.line(now, &text))
                    .map_err(LiveError::Record)?;
            }
        }
        Ok(())
    }

    /// Shows others what goes on, if it is time to.
    fn show(&mut self, now: SimTime) {
        if now.since(self.shown) < SHOWN_EVERY {
            return;
        }
        self.shown = now;
        // Whoever looks is gone in a microsecond, or the gauge stays as it is.
        if let Ok(mut gauge) = self.ended.gauge.try_lock() {
            gauge.at = now;
            gauge.sent.clone_from(&self.sent);
            gauge.got.clone_from(&self.got);
            gauge.looks.clear();
            gauge.looks.extend(self.gate.drive().looks());
            gauge.late = [self.recent.quantile(0.99), self.recent.longest()];
            self.recent = Histogram::default();
        }
    }

    fn gone(&self, place: usize, error: io::Error) -> LiveError {
        LiveError::Device { what: self.hosts[place].name.clone(), error }
    }
}
