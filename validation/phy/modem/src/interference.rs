//! Another OFDM transmission at the receiver, subcarrier by subcarrier, in HT at 20 MHz.
//!
//! The receiver is synchronised to its own frame. Of the interferer it takes windows of 64 samples that begin anywhere in symbols of 80: so
//! each window has a piece of one or two symbols, and their subcarriers leak into the receiver's. A difference of carrier frequencies
//! leaks too.

use crate::noise::Random;
use crate::qam::Qam;
use std::f64::consts::TAU;
use std::ops::Range;

/// Samples of the receiver's window, and of a symbol with its guard interval of 0.8 µs. 19.3.6
const WINDOW: usize = 64;
const SYMBOL: usize = 80;
/// Occupied subcarriers on each side of the middle; ±7 and ±21 are pilots.
const SIDE: i32 = 28;
/// The largest difference of carrier frequencies in subcarriers of 312.5 kHz: 20 ppm of 5.2 GHz.
const OFFSET: f64 = 0.33;

/// What else is at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interferer {
    /// Gaussian noise of the same power: what the simulator takes interference for.
    Gaussian,
    /// An OFDM signal whose symbols begin with the receiver's, on the same carrier frequency: each subcarrier meets one point of it.
    Aligned { bits: usize },
    /// An OFDM signal that begins anywhere, on a frequency of its own.
    Loose { bits: usize },
}

fn occupied() -> impl Iterator<Item = i32> {
    (-SIDE..=SIDE).filter(|tone| *tone != 0)
}

fn data() -> impl Iterator<Item = i32> {
    occupied().filter(|tone| ![7, 21].contains(&tone.abs()))
}

/// How one window sees the subcarriers of two consecutive symbols of the interferer: by occupied subcarrier of the earlier symbol, then of
/// the later one, what it gives each data subcarrier.
#[derive(Debug)]
struct Coupling {
    gains: Vec<[Vec<f32>; 2]>,
    /// Turn of the interferer's carrier from one window to the next.
    turn: f64,
}

impl Coupling {
    /// For a window that begins so many samples behind the guard interval's beginning, and a difference of carrier frequencies in subcarriers.
    fn new(late: usize, offset: f64) -> Self {
        // The later symbol begins at this sample of the window.
        let next = (SYMBOL - late).min(WINDOW);
        let guard = (SYMBOL - WINDOW) as f64;
        let pieces = [(0..next, guard - late as f64), (next..WINDOW, next as f64 + guard)];
        let gain = |from: i32, to: i32, (samples, origin): &(Range<usize>, f64)| {
            let turns = |n: usize| f64::from(from) * (n as f64 - origin) + (offset - f64::from(to)) * n as f64;
            let points = samples.clone().map(|n| (TAU * turns(n) / WINDOW as f64).sin_cos());
            points.fold((0.0, 0.0), |(re, im), (sin, cos)| (re + cos / WINDOW as f64, im + sin / WINDOW as f64))
        };
        let gains = pieces.iter().flat_map(|piece| occupied().map(move |from| (from, piece))).map(|(from, piece)| {
            let (re, im): (Vec<_>, Vec<_>) = data().map(|to| gain(from, to, piece)).unzip();
            [re, im].map(|part| part.into_iter().map(|gain: f64| gain as f32).collect())
        });
        Self { gains: gains.collect(), turn: TAU * offset * SYMBOL as f64 / WINDOW as f64 }
    }

    /// What the data subcarriers get of these points of two symbols, turned by `phase`.
    fn at(&self, points: impl Iterator<Item = (f32, f32)>, phase: f64) -> [Vec<f32>; 2] {
        let (sin, cos) = (phase.sin() as f32, phase.cos() as f32);
        let mut sums = [vec![0.0; data().count()], vec![0.0; data().count()]];
        for ((i, q), [re, im]) in points.zip(&self.gains) {
            let (i, q) = (i * cos - q * sin, i * sin + q * cos);
            let [sum_i, sum_q] = &mut sums;
            sum_i.iter_mut().zip(re).zip(im).for_each(|((sum, re), im)| *sum += i * re - q * im);
            sum_q.iter_mut().zip(re).zip(im).for_each(|((sum, re), im)| *sum += i * im + q * re);
        }
        sums
    }
}

/// The points of a symbol of the interferer.
fn symbol(qam: &Qam, random: &mut Random) -> Vec<(f32, f32)> {
    let (mut word, mut levels) = (vec![0; qam.bits() * occupied().count()], Vec::new());
    random.bits(&mut word);
    qam.map(&word, &mut levels);
    let point = |axes: &[f32]| (axes[0], axes.get(1).copied().unwrap_or(0.0));
    levels.chunks_exact(qam.axes()).map(point).collect()
}

/// Adds an interferer to the levels of a whole frame, of `axes` a data subcarrier. An axis gets that standard deviation.
pub fn add(interferer: Interferer, deviation: f32, axes: usize, levels: &mut [f32], random: &mut Random) {
    let (bits, late, offset) = match interferer {
        Interferer::Gaussian => return random.add(deviation, levels),
        Interferer::Aligned { bits } => (bits, SYMBOL - WINDOW, 0.0),
        Interferer::Loose { bits } => {
            let late = (random.uniform() * SYMBOL as f32) as usize;
            (bits, late, OFFSET * f64::from(2.0 * random.uniform() - 1.0))
        }
    };
    let (coupling, qam) = (Coupling::new(late, offset), Qam::new(bits));
    let unit = deviation / qam.deviation(1.0);
    let mut phase = TAU * f64::from(random.uniform());
    let mut earlier = symbol(&qam, random);
    for window in levels.chunks_exact_mut(axes * data().count()) {
        let later = symbol(&qam, random);
        let parts = coupling.at(earlier.iter().chain(&later).copied(), phase);
        for (axis, part) in (0..axes).zip(&parts) {
            window[axis..].iter_mut().step_by(axes).zip(part).for_each(|(level, part)| *level += unit * part);
        }
        phase = (phase + coupling.turn) % TAU;
        earlier = later;
    }
}
