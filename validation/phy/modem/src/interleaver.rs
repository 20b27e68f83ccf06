//! The BCC interleaver of one stream. 17.3.5.7, 19.3.11.8, 21.3.10.8; 802.11ax-2021 27.3.12.8

/// Where bit k of a symbol goes, for N_SD data subcarriers of so many bits each: two permutations. The third, a rotation, is of several
/// streams.
pub fn places(n_sd: usize, bits: usize) -> Vec<usize> {
    let (columns, row_factor) = match n_sd {
        48 => (16, 3),
        52 => (13, 4),
        108 => (18, 6),
        234 => (26, 9),
        _ => panic!("no BCC interleaver of {n_sd} subcarriers here"),
    };
    let (n, rows, s) = (n_sd * bits, row_factor * bits, (bits / 2).max(1));
    let place = |k: usize| {
        let i = rows * (k % columns) + k / columns;
        s * (i / s) + (i + n - columns * i / n) % s
    };
    (0..n).map(place).collect()
}
