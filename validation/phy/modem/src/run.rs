//! Packets over noise: one point of a curve.

use crate::bcc::{self, TAIL, Viterbi};
use crate::interference::{self, Interferer};
use crate::ldpc::{CERTAIN, Code, ITERATIONS};
use crate::noise::Random;
use crate::ppdu::{Format, Layout, SERVICE, Words, layout};
use crate::qam::Qam;
use crate::{Coding, MCS, Rate, interleaver};

/// How much a receiver's decoder does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoder {
    /// The usual traceback ([`bcc::traceback`]) and number of iterations ([`ITERATIONS`]).
    Plain,
    /// What can be had: a traceback over the whole packet, and 50 iterations.
    Patient,
}

impl Decoder {
    fn traceback(self, rate: Rate) -> usize {
        if self == Self::Plain { bcc::traceback(rate) } else { usize::MAX }
    }

    fn iterations(self) -> usize {
        if self == Self::Plain { ITERATIONS } else { 50 }
    }
}

/// A transmitter and its receiver.
#[derive(Debug)]
pub struct Modem {
    layout: Layout,
    octets: usize,
    qam: Qam,
    fec: Fec,
    data: Vec<u8>,
    coded: Vec<u8>,
    sent: Vec<f32>,
    llrs: Vec<f32>,
    decoded: Vec<u8>,
}

#[derive(Debug)]
enum Fec {
    Bcc { rate: Rate, places: Vec<usize>, viterbi: Box<Viterbi>, scratch: Vec<u8>, soft: Vec<f32> },
    Ldpc { code: Code, words: Words, word: Vec<u8>, soft: Vec<f32> },
}

impl Modem {
    /// For a PSDU of so many octets at an MCS.
    pub fn new(format: Format, coding: Coding, mcs: usize, octets: usize, decoder: Decoder) -> Self {
        assert!(mcs < coding.mcs_count(), "{coding} has no MCS {mcs}");
        let mcs = MCS[mcs];
        let layout = layout(format, coding, mcs, octets);
        let fec = match layout.words {
            None => Fec::Bcc {
                rate: mcs.rate,
                places: interleaver::places(format.n_sd, mcs.bits),
                viterbi: Box::new(Viterbi::new(mcs.rate, decoder.traceback(mcs.rate))),
                scratch: Vec::new(),
                soft: Vec::new(),
            },
            Some(words) => Fec::Ldpc {
                code: Code::new(words.len, mcs.rate, decoder.iterations()),
                words,
                word: Vec::new(),
                soft: Vec::new(),
            },
        };
        let data = vec![0; layout.n_pld];
        let decoded = data.clone();
        let (coded, sent, llrs) = (Vec::new(), Vec::new(), Vec::new());
        Self { layout, octets, qam: Qam::new(mcs.bits), fec, data, coded, sent, llrs, decoded }
    }

    /// Where its bits are.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Sends a PSDU of random bits at E_s/N0 `snr` (a ratio), perhaps with an interferer at a signal-to-interference ratio, and returns
    /// whether it arrived.
    pub fn packet(&mut self, snr: f64, interferer: Option<(Interferer, f64)>, random: &mut Random) -> bool {
        random.bits(&mut self.data);
        // HT has the tail before its pads, the others behind: the trellis ends in state 0 all the same.
        if matches!(self.fec, Fec::Bcc { .. }) {
            let tail = self.data.len() - TAIL;
            self.data[tail..].fill(0);
        }
        self.encode();
        self.qam.map(&self.coded, &mut self.sent);
        random.add(self.qam.deviation(snr), &mut self.sent);
        if let Some((interferer, sir)) = interferer {
            interference::add(interferer, self.qam.deviation(sir), self.qam.axes(), &mut self.sent, random);
        }
        self.qam.demap(&self.sent, &mut self.llrs);
        self.decode();
        let psdu = SERVICE..SERVICE + 8 * self.octets;
        self.decoded[psdu.clone()] == self.data[psdu]
    }

    /// Coded bits in the order in which they become constellation points, whole symbols.
    fn encode(&mut self) {
        let whole = self.layout.n_sym * self.layout.n_cbps;
        match &mut self.fec {
            Fec::Bcc { rate, places, scratch, .. } => {
                bcc::encode(*rate, &self.data, scratch);
                scratch.resize(whole, 0);
                self.coded.resize(whole, 0);
                for (from, to) in scratch.chunks_exact(places.len()).zip(self.coded.chunks_exact_mut(places.len())) {
                    from.iter().zip(&*places).for_each(|(&bit, &place)| to[place] = bit);
                }
            }
            Fec::Ldpc { code, words, word, .. } => {
                self.coded.clear();
                let mut data = self.data.iter();
                for i in 0..words.count {
                    let own = code.data_len() - words.share(words.shortened, i);
                    word.clear();
                    word.extend(data.by_ref().take(own));
                    word.resize(code.data_len(), 0);
                    code.encode(word);
                    let parity = &word[code.data_len()..code.word_len() - words.share(words.punctured, i)];
                    let sent = || word[..own].iter().chain(parity);
                    self.coded.extend(sent());
                    self.coded.extend(sent().cycle().take(words.share(words.repeated, i)));
                }
                assert_eq!(self.coded.len(), self.layout.n_avbits);
                self.coded.resize(whole, 0);
            }
        }
    }

    fn decode(&mut self) {
        match &mut self.fec {
            Fec::Bcc { places, viterbi, soft, .. } => {
                soft.resize(self.llrs.len(), 0.0);
                for (from, to) in self.llrs.chunks_exact(places.len()).zip(soft.chunks_exact_mut(places.len())) {
                    to.iter_mut().zip(&*places).for_each(|(llr, &place)| *llr = from[place]);
                }
                viterbi.decode(&soft[..self.layout.n_avbits], &mut self.decoded);
            }
            Fec::Ldpc { code, words, word, soft } => {
                let (mut llrs, mut decoded) = (self.llrs.iter(), self.decoded.iter_mut());
                word.resize(code.word_len(), 0);
                for i in 0..words.count {
                    let own = code.data_len() - words.share(words.shortened, i);
                    let parity = code.data_len()..code.word_len() - words.share(words.punctured, i);
                    let sent = own + parity.len();
                    soft.clear();
                    soft.extend(llrs.by_ref().take(own));
                    soft.resize(code.data_len(), CERTAIN);
                    soft.extend(llrs.by_ref().take(parity.len()));
                    soft.resize(code.word_len(), 0.0);
                    for (again, llr) in llrs.by_ref().take(words.share(words.repeated, i)).enumerate() {
                        let place = again % sent;
                        soft[if place < own { place } else { place - own + code.data_len() }] += llr;
                    }
                    code.decode(soft, word);
                    decoded.by_ref().zip(&word[..own]).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

/// What a row of modem.csv or capture.csv asks for.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    pub format: Format,
    pub coding: Coding,
    pub mcs: usize,
    pub octets: usize,
    pub decoder: Decoder,
    /// E_s/N0 in hundredths of a decibel.
    pub millibel: i32,
    /// With a signal-to-interference ratio in hundredths of a decibel. HT in 20 MHz only.
    pub interferer: Option<(Interferer, i32)>,
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    pub packets: u32,
    pub errors: u32,
}

impl Count {
    pub fn per(self) -> f64 {
        f64::from(self.errors) / f64::from(self.packets)
    }
}

/// Packets between two looks at the count.
const BATCH: u32 = 100;

impl Point {
    /// Sends packets until so many are lost, or so many sent: in batches of a hundred, so that stopping hardly favours errors.
    pub fn run(&self, most_errors: u32, most_packets: u32) -> Count {
        let mut modem = Modem::new(self.format, self.coding, self.mcs, self.octets, self.decoder);
        let mut random = Random::new(self.stream());
        let ratio = |millibel: i32| 10_f64.powf(f64::from(millibel) / 1000.0);
        let (snr, interferer) = (ratio(self.millibel), self.interferer.map(|(kind, sir)| (kind, ratio(sir))));
        let mut count = Count { packets: 0, errors: 0 };
        while count.errors < most_errors && count.packets < most_packets {
            let batch = BATCH.min(most_packets - count.packets);
            count.errors += (0..batch).filter(|_| !modem.packet(snr, interferer, &mut random)).count() as u32;
            count.packets += batch;
        }
        count
    }

    /// A stream of random numbers of its own.
    fn stream(&self) -> u64 {
        let sir = self.interferer.map(|(_, sir)| sir as u64);
        let parts = [self.coding as u64, self.mcs as u64, self.octets as u64, self.millibel as u64];
        parts
            .iter()
            .chain(&sir)
            .fold(self.seed, |mixed, part| (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
    }
}
