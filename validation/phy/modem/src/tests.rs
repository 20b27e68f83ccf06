//! Against IEEE's worked example, the structure of the codes, closed forms and bounds.

use crate::bcc::{self, TAIL, Viterbi, traceback};
use crate::interference::{self, Interferer};
use crate::ldpc::{CERTAIN, Code, ITERATIONS};
use crate::noise::Random;
use crate::ppdu::{Format, HE20, HT20, Kind, VHT20, Words, layout};
use crate::qam::Qam;
use crate::run::{Decoder, Modem, Point};
use crate::{Coding, MCS, Rate, interleaver};

const RATES: [Rate; 4] = [Rate::HALF, Rate::TWO_THIRDS, Rate::THREE_QUARTERS, Rate::FIVE_SIXTHS];
const LENGTHS: [usize; 3] = [648, 1296, 1944];

/// Gaussian tail: Q(x) = ½ erfc(x/√2), the integral of the density by Simpson's rule.
fn q(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - q(-x);
    }
    const STEPS: u32 = 4000;
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = 12.0 / f64::from(STEPS);
    let weight = |i: u32| if i == 0 || i == STEPS { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
    (0..=STEPS).map(|i| weight(i) * density(x + step * f64::from(i))).sum::<f64>() * step / 3.0
}

fn bits_of(hex: &str) -> Vec<u8> {
    let digits = hex.chars().filter_map(|c| c.to_digit(16));
    digits.flat_map(|digit| (0..4).rev().map(move |i| (digit >> i & 1) as u8)).collect()
}

fn random_bits(n: usize, random: &mut Random) -> Vec<u8> {
    let mut bits = vec![0; n];
    random.bits(&mut bits);
    bits
}

#[test]
fn ldpc_example_1_of_annex_g_comes_out_bit_for_bit() {
    // IEEE Std 802.11n-2009 Annex G: 16-QAM 3/4, 100 octets: 816 bits after scrambling, 642 shortened, 486 parity bits.
    let sent = "6c19898f6821f4a5614fd7ae240cf33ae4bc5398c01e35b3e3f82560d6253533fef0412b8f531c8341be3928664466cd\
                f6a3d80dd4813b2fdfc358f7c652eb708f9e6a9081fd7ca9d155120474d9e93bcd938d7b7c70022099a17d8a27173915\
                a0ec95169110";
    let parity = "98f6a671035eca1b8efd0e9764341b5983d07cc4304dd83e7f6a7ea5d1677227cb8b61a2858c76969a0346255f72cd74\
                  cdc372cbd8e4f48e6cd8f85444";
    let code = Code::new(1944, Rate::THREE_QUARTERS, ITERATIONS);
    let mut word = bits_of(sent);
    assert_eq!(word.len(), 816);
    word.resize(816 + 642, 0);
    code.encode(&mut word);
    assert_eq!(word[1458..], bits_of(parity)[..486]);
}

#[test]
fn every_codeword_passes_every_check() {
    let mut random = Random::new(1);
    for (len, rate) in LENGTHS.iter().flat_map(|&len| RATES.map(|rate| (len, rate))) {
        let code = Code::new(len, rate, ITERATIONS);
        assert_eq!(code.data_len(), rate.of(len));
        for _ in 0..50 {
            let data = random_bits(code.data_len(), &mut random);
            let mut word = data.clone();
            code.encode(&mut word);
            assert!(word.len() == len && word[..data.len()] == data && code.is_codeword(&word));
            let place = random.uniform() * len as f32;
            word[place as usize] ^= 1;
            assert!(!code.is_codeword(&word), "a single error shows");
        }
    }
}

#[test]
fn min_sum_mends_what_it_should() {
    // Signs of four bits in a thousand wrong, and the last parity bits erased.
    let mut random = Random::new(2);
    for (len, rate) in LENGTHS.iter().flat_map(|&len| RATES.map(|rate| (len, rate))) {
        let mut code = Code::new(len, rate, ITERATIONS);
        let mut word = random_bits(code.data_len(), &mut random);
        code.encode(&mut word);
        let mut llrs: Vec<f32> = word.iter().map(|&bit| 1.0 - 2.0 * f32::from(bit)).collect();
        for llr in &mut llrs {
            if random.uniform() < 0.004 {
                *llr = -*llr;
            }
        }
        llrs[len - 10..].fill(0.0);
        llrs[..10].iter_mut().for_each(|llr| *llr = CERTAIN.copysign(*llr));
        llrs[..10].iter_mut().zip(&word).for_each(|(llr, &bit)| *llr = llr.abs() * (1.0 - 2.0 * f32::from(bit)));
        let mut decoded = vec![0; len];
        assert!(code.decode(&llrs, &mut decoded), "{len} {rate:?}");
        assert_eq!(decoded, word);
    }
}

#[test]
fn ppdus_are_laid_out_as_worked_elsewhere() {
    // Values of two public implementations that agree (HT, HE), one (VHT): octets, N_pld, N_CW, L, N_shrt, N_punc, N_rep, N_avbits,
    // N_SYM, a_init. The first is IEEE's example.
    const HT40: Format = Format { kind: Kind::Ht, n_sd: 108 };
    const HE80: Format = Format { kind: Kind::He { n_sd_short: 240 }, n_sd: 980 };
    let rows: [(Format, usize, [usize; 10]); 14] = [
        (HT20, 4, [100, 816, 1, 1944, 642, 54, 0, 1248, 6, 0]),
        (HT20, 2, [1458, 11680, 9, 1944, 1442, 350, 0, 15704, 151, 0]),
        (HT20, 5, [1458, 11680, 10, 1944, 1280, 376, 0, 17784, 57, 0]),
        (HT20, 7, [32, 272, 1, 1296, 808, 0, 136, 624, 2, 0]),
        (HT40, 7, [1458, 11680, 8, 1944, 1280, 16, 0, 14256, 22, 0]),
        (VHT20, 0, [101, 832, 1, 1944, 140, 88, 0, 1716, 33, 0]),
        (VHT20, 8, [1458, 11856, 9, 1944, 1266, 422, 0, 15808, 38, 0]),
        (HE20, 0, [1458, 11700, 13, 1944, 936, 936, 0, 23400, 100, 4]),
        (HE20, 8, [500, 4212, 3, 1944, 162, 54, 0, 5616, 3, 4]),
        (HE20, 9, [1458, 11720, 8, 1944, 1240, 248, 0, 14064, 8, 2]),
        (HE20, 11, [1458, 11700, 8, 1944, 1260, 252, 0, 14040, 6, 4]),
        (HE80, 0, [1458, 11760, 13, 1944, 876, 876, 0, 23520, 24, 4]),
        (HE80, 9, [1458, 13066, 9, 1944, 1514, 0, 1618, 17600, 3, 4]),
        (HE80, 11, [1458, 12166, 8, 1944, 794, 158, 0, 14600, 2, 2]),
    ];
    for (format, mcs, row) in rows {
        let got = layout(format, Coding::Ldpc, MCS[mcs], row[0]);
        let Words { count, len, shortened, punctured, repeated } = got.words.expect("LDPC");
        let got =
            [row[0], got.n_pld, count, len, shortened, punctured, repeated, got.n_avbits, got.n_sym, got.a_init];
        assert_eq!(got, row, "{format:?}, MCS {mcs}");
    }
    // BCC by hand. HT MCS 7, 1458 octets: ⌈(16 + 11664 + 6) / 260⌉ = 45 symbols. HE MCS 0, 32 octets: 278 bits are two symbols of 117 and
    // 44 more, ⌈44 / 30⌉ = 2 quarters of a third.
    let ht = layout(HT20, Coding::Bcc, MCS[7], 1458);
    assert_eq!((ht.n_sym, ht.n_pld, ht.n_avbits), (45, 11700, 14040));
    let he = layout(HE20, Coding::Bcc, MCS[0], 32);
    assert_eq!((he.n_sym, he.n_pld, he.n_avbits, he.a_init), (3, 294, 588, 2));
}

#[test]
fn the_first_coded_bits_are_the_generators() {
    // A single 1: 133 = 1011011 and 171 = 1111001, A before B.
    let mut coded = Vec::new();
    bcc::encode(Rate::HALF, &[1, 0, 0, 0, 0, 0, 0], &mut coded);
    assert_eq!(coded, [1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1]);
    // 19.3.11.6: of five pairs at 5/6 are sent A0 B0 A1 B2 A3 B4.
    bcc::encode(Rate::FIVE_SIXTHS, &[1, 0, 0, 0, 0], &mut coded);
    assert_eq!(coded, [1, 1, 0, 1, 1, 0]);
    assert_eq!(RATES.map(traceback), [30, 45, 60, 90]);
}

#[test]
fn viterbi_mends_single_errors_and_finds_the_end() {
    let mut random = Random::new(3);
    for rate in RATES {
        for len in [1, 20, 31, 300] {
            let mut data = random_bits(len * rate.data, &mut random);
            let tail = data.len().saturating_sub(TAIL);
            data[tail..].fill(0);
            let mut coded = Vec::new();
            bcc::encode(rate, &data, &mut coded);
            assert_eq!(coded.len(), len * rate.coded);
            let mut llrs: Vec<f32> = coded.iter().map(|&bit| 1.0 - 2.0 * f32::from(bit)).collect();
            // The weakest code has distance 4, so one error a constraint length or ten is mended.
            llrs.iter_mut().skip(30).step_by(97).for_each(|llr| *llr = -*llr);
            let mut decoded = vec![9; data.len()];
            Viterbi::new(rate, traceback(rate)).decode(&llrs, &mut decoded);
            assert_eq!(decoded, data, "{rate:?}, {len}");
        }
    }
}

#[test]
fn the_interleaver_permutes_and_spreads() {
    for n_sd in [48, 52, 108, 234] {
        for bits in [1, 2, 4, 6, 8, 10] {
            let places = interleaver::places(n_sd, bits);
            let mut sorted = places.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n_sd * bits), "{n_sd} {bits}");
            // Neighbours are three subcarriers apart at least: n_row = row_factor · bits.
            assert!(places.windows(2).all(|pair| (pair[0] / bits).abs_diff(pair[1] / bits) >= 3));
        }
    }
    // By hand, 16-QAM in 52 subcarriers: s = 2; k = 1: i = 16, j = 16 + (16 + 208 − 1) mod 2; k = 17: i = 16 · 4 + 1 = 65,
    // j = 64 + (65 + 208 − ⌊13 · 65 / 208⌋) mod 2.
    let places = interleaver::places(52, 4);
    assert_eq!((places[0], places[1], places[17]), (0, 17, 65));
}

#[test]
fn constellations_are_those_of_the_standard() {
    // 17.3.5.8: b0 b1 of 16-QAM: 00 −3, 01 −1, 11 1, 10 3. BPSK: 0 is −1.
    let levels = |bits: usize, word: &[u8]| {
        let mut levels = Vec::new();
        Qam::new(bits).map(word, &mut levels);
        levels
    };
    assert_eq!(levels(1, &[0, 1]), [-1.0, 1.0]);
    assert_eq!(levels(4, &[0, 0, 0, 1]), [-3.0, -1.0]);
    assert_eq!(levels(4, &[1, 1, 1, 0]), [1.0, 3.0]);
    assert_eq!(levels(6, &[1, 1, 0, 0, 1, 0]), [1.0, -1.0]);
    // K_MOD: E_s is 1, 2, 10, 42, 170, 682 in units of half a level's distance; E_s / 2 of noise an axis at 0 dB.
    for (bits, energy) in [(1, 1.0), (2, 2.0), (4, 10.0), (6, 42.0), (8, 170.0), (10, 682.0)] {
        assert!((Qam::new(bits).deviation(1.0).powi(2) - energy / 2.0).abs() < 1e-3);
    }
}

#[test]
fn llrs_are_the_difference_of_squared_distances() {
    let mut random = Random::new(4);
    for bits in [1, 2, 4, 6, 8, 10] {
        let qam = Qam::new(bits);
        let half = bits.div_ceil(2);
        let level = |word: usize| {
            let mut level = Vec::new();
            qam.map(&(0..half).map(|i| (word >> (half - 1 - i) & 1) as u8).collect::<Vec<_>>(), &mut level);
            level[0]
        };
        let mut llrs = Vec::new();
        for _ in 0..500 {
            let y = (random.uniform() - 0.5) * 2.6 * (1 << half) as f32;
            qam.demap(&[y], &mut llrs);
            for (bit, llr) in llrs.iter().enumerate() {
                let nearest = |value: u8| {
                    let words = (0..1_usize << half).filter(|word| (word >> (half - 1 - bit) & 1) as u8 == value);
                    words.map(|word| (y - level(word)).powi(2)).fold(f32::MAX, f32::min)
                };
                assert!((nearest(1) - nearest(0) - llr).abs() < 1e-2, "{bits} bits, {y}, bit {bit}");
            }
        }
    }
}

#[test]
fn uncoded_bits_are_lost_as_the_closed_form_says() {
    // Gray QAM, exactly: the probability that noise carries a level of an axis into the region of another one, and the bits that differ.
    let mut random = Random::new(5);
    for (bits, snr_db) in [(1, 4.0), (2, 7.0), (4, 13.0), (6, 18.0), (8, 24.0), (10, 29.0)] {
        let (qam, snr) = (Qam::new(bits), 10_f64.powf(snr_db / 10.0));
        let deviation = f64::from(qam.deviation(snr));
        let half = bits.div_ceil(2);
        let size = 1_i32 << half;
        let gray = |place: i32| place ^ place >> 1;
        let below = |edge: f64| 1.0 - q(edge);
        let mut wanted = 0.0;
        for (from, to) in (0..size).flat_map(|from| (0..size).map(move |to| (from, to))) {
            let edge = |place: i32| f64::from(2 * (place - from) - 1) / deviation;
            let upper = if to == size - 1 { 1.0 } else { below(edge(to + 1)) };
            let lower = if to == 0 { 0.0 } else { below(edge(to)) };
            wanted += f64::from((gray(from) ^ gray(to)).count_ones()) * (upper - lower);
        }
        wanted /= f64::from(size) * half as f64;
        let data = random_bits(600_000 / bits * bits, &mut random);
        let (mut levels, mut llrs) = (Vec::new(), Vec::new());
        qam.map(&data, &mut levels);
        random.add(deviation as f32, &mut levels);
        qam.demap(&levels, &mut llrs);
        let errors = data.iter().zip(&llrs).filter(|(bit, llr)| u8::from(**llr < 0.0) != **bit).count();
        let got = errors as f64 / data.len() as f64;
        assert!((got / wanted - 1.0).abs() < 0.04, "{bits} bits: {got} for {wanted}");
    }
}

#[test]
fn without_noise_every_ppdu_arrives() {
    let mut random = Random::new(6);
    for format in [HT20, VHT20, HE20] {
        for coding in [Coding::Bcc, Coding::Ldpc] {
            for mcs in 0..coding.mcs_count() {
                for octets in [1, 32, 100, 1458] {
                    let mut modem = Modem::new(format, coding, mcs, octets, Decoder::Plain);
                    assert!(modem.packet(1e6, None, &mut random), "{format:?} {coding} {mcs} {octets}");
                }
            }
        }
    }
}

#[test]
fn coded_bpsk_meets_the_union_bound_where_it_is_tight() {
    // Soft decisions of the ideal decoder: an error event of weight d begins at a step with probability at most Q(√(2 d E_s/N0)); events at
    // d = 10, 12, 14, 16, 18: 11, 38, 193, 1331, 7275 (Conan, IEEE Trans. Comm. 32(9), 1984).
    let events = [(10, 11.0), (12, 38.0), (14, 193.0), (16, 1331.0), (18, 7275.0)];
    let snr = 10_f64.powf(0.11);
    let rate: f64 = events.map(|(d, count)| count * q((2.0 * f64::from(d) * snr).sqrt())).iter().sum();
    let bound = rate * f64::from(8 * 1458);
    let point = Point { decoder: Decoder::Patient, ..at(Coding::Bcc, 0, 1458, 110) };
    // 4000 packets lose 140: 8 %.
    let per = point.run(4000, 4000).per();
    assert!((0.75..1.2).contains(&(per / bound)), "{per}, bound {bound}");
}

#[test]
fn patience_pays() {
    for (coding, mcs, millibel) in [(Coding::Bcc, 0, 50), (Coding::Ldpc, 0, -80)] {
        let plain = at(coding, mcs, 1458, millibel);
        let patient = Point { decoder: Decoder::Patient, ..plain };
        assert!(patient.run(300, 300).errors < plain.run(300, 300).errors, "{coding}");
    }
}

fn at(coding: Coding, mcs: usize, octets: usize, millibel: i32) -> Point {
    Point { format: HE20, coding, mcs, octets, decoder: Decoder::Plain, millibel, interferer: None, seed: 7 }
}

#[test]
fn a_point_is_its_seed_s() {
    let point = at(Coding::Bcc, 2, 32, 500);
    assert_eq!(point.run(50, 1000), point.run(50, 1000));
    assert_ne!(point.run(1000, 1000), Point { seed: 2, ..point }.run(1000, 1000));
}

#[test]
fn an_interferer_has_the_power_that_is_asked_for() {
    // Nothing but the interferer: its mean square on an axis is the deviation's, whatever its kind; BPSK's too, whose phase is random.
    let mut random = Random::new(8);
    for bits in [1, 2, 6] {
        for kind in [Interferer::Gaussian, Interferer::Aligned { bits }, Interferer::Loose { bits }] {
            let (mut sum, mut count) = (0.0, 0);
            for _ in 0..200 {
                let mut levels = vec![0.0; 2 * 52 * 4];
                interference::add(kind, 0.5, 2, &mut levels, &mut random);
                sum += levels.iter().map(|level| level * level).sum::<f32>();
                count += levels.len();
            }
            let mean = sum / count as f32;
            assert!((mean / 0.25 - 1.0).abs() < 0.03, "{kind:?}: {mean}");
        }
    }
}

#[test]
fn an_aligned_interferer_shows_its_constellation() {
    // QPSK that begins with the receiver's symbols: each subcarrier meets one point, of constant modulus. A loose one has none.
    let mut random = Random::new(9);
    let spread = |kind, random: &mut Random| {
        let mut levels = vec![0.0; 2 * 52 * 20];
        interference::add(kind, 1.0, 2, &mut levels, random);
        let powers: Vec<f32> = levels.chunks(2).map(|axes| axes[0] * axes[0] + axes[1] * axes[1]).collect();
        let mean = powers.iter().sum::<f32>() / powers.len() as f32;
        powers.iter().map(|power| (power / mean - 1.0).powi(2)).sum::<f32>() / powers.len() as f32
    };
    assert!(spread(Interferer::Aligned { bits: 2 }, &mut random) < 1e-6);
    // Exponential powers have variance 1.
    assert!(spread(Interferer::Gaussian, &mut random) > 0.7);
}
