//! Saturated DCF on one ideal collision domain, in whole nanoseconds, from the standard's text alone.
//!
//! **Models** n stations that always have a frame for one sink that never contends; everybody hears everybody at once
//! (no propagation, no sensing latency, no noise, no capture). Basic access or RTS/CTS, finite retry.
//! **Leaves out** everything else. Edition: IEEE Std 802.11-2016 (clauses cited on the lines); aRxPHYStartDelay of
//! OFDM: see `Timing::new`. Shares no code with the simulator that it judges.
//!
//! Slots belong to stations, not to the channel: after a collision its transmitters count from their timeout and the
//! listeners from the end of EIFS, which is on another grid. So the only state of a station is where its countdown
//! starts (`anchor`) and how many whole idle slots it still needs (`backoff`).

/// The PHY, with its data and control rates (validation/dcf/README.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// HR/DSSS, long preamble: data 11 Mb/s, control 1 Mb/s.
    B,
    /// OFDM, 20 MHz: data 54 Mb/s, control 24 Mb/s.
    A,
}

impl Standard {
    /// The letter of the amendment.
    pub fn name(self) -> &'static str {
        match self {
            Self::B => "b",
            Self::A => "a",
        }
    }
}

/// When a station whose ACK (or CTS) failed to come starts to count slots again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutIfs {
    /// 10.3.4.3 to the letter: slots follow a DIFS of idle medium; one that passed before the timeout counts.
    Letter,
    /// A whole DIFS after the timeout, as ns-3 does.
    Fresh,
    /// With the listeners, at the end of EIFS. No standard and no product: what Bianchi's model supposes, to tell the
    /// part of a deviation that comes from unaligned slots from the rest.
    Aligned,
}

impl TimeoutIfs {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Letter => "letter",
            Self::Fresh => "fresh",
            Self::Aligned => "aligned",
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Config {
    /// PHY and rates.
    pub standard: Standard,
    /// Contending stations; the sink is not among them.
    pub stations: usize,
    /// Measured seconds, after the warm-up.
    pub seconds: u64,
    /// Seconds run before measuring.
    pub warmup: u64,
    /// Octets of the IP datagram; throughput counts these.
    pub payload: u64,
    /// RTS/CTS before every data frame.
    pub rts: bool,
    /// The reading of the timeout.
    pub timeout_ifs: TimeoutIfs,
    /// aRxPHYStartDelay other than the default.
    pub rx_start_us: Option<u64>,
    /// Seed of all stations' generators.
    pub seed: u64,
}

impl Config {
    /// 100 s of basic access with 1500 octets, seed 1.
    pub fn new(standard: Standard, stations: usize) -> Self {
        let timeout_ifs = TimeoutIfs::Letter;
        Self {
            standard,
            stations,
            seconds: 100,
            warmup: 1,
            payload: 1500,
            rts: false,
            timeout_ifs,
            rx_start_us: None,
            seed: 1,
        }
    }
}

/// Transmissions of one MSDU (or of its RTS): dot11ShortRetryLimit 7, Annex C.
pub const MAX_ATTEMPTS: u32 = 7;

const US: u64 = 1000;

/// Airtime of an HR/DSSS PPDU with the long preamble, in ns (16.3.4); the rate in units of 0.5 Mb/s.
fn dsss_long(octets: u64, half_mbps: u64) -> u64 {
    (144 + 48 + (8 * octets * 2).div_ceil(half_mbps)) * US
}

/// Airtime of an OFDM PPDU at 20 MHz, in ns (17.4.3; N_DBPS of Table 17-4).
fn ofdm(octets: u64, n_dbps: u64) -> u64 {
    (16 + 4 + 4 * (16 + 8 * octets + 6).div_ceil(n_dbps)) * US
}

/// Everything with a duration (ns), and the contention window's ends.
#[derive(Clone, Debug)]
struct Timing {
    slot: u64,
    sifs: u64,
    difs: u64,
    eifs: u64,
    timeout: u64,
    data: u64,
    ack: u64,
    rts: u64,
    cts: u64,
    cw_min: u32,
    cw_max: u32,
}

impl Timing {
    fn new(cfg: &Config) -> Self {
        let mpdu = 24 + 8 + cfg.payload + 4; // 9.3.2.1 header, LLC/SNAP, FCS
        let (slot, sifs, rx_start, cw_min, lowest_ack, data, ack, rts) = match cfg.standard {
            // 16.3.3 (HR/DSSS characteristics). Lowest mandatory rate 1 Mb/s, 14-octet ACK (9.3.1.4), RTS 20.
            Standard::B => {
                (20, 10, 192, 31, dsss_long(14, 2), dsss_long(mpdu, 22), dsss_long(14, 2), dsss_long(20, 2))
            }
            // Clause 17.4.4 (OFDM characteristics), 20 MHz. aRxPHYStartDelay is 25 us in
            // older editions, 20 us in 802.11-2020: `rx_start_us`. N_DBPS 24, 96, 216: 6, 24, 54 Mb/s.
            Standard::A => (9, 16, 25, 15, ofdm(14, 24), ofdm(mpdu, 216), ofdm(14, 96), ofdm(20, 96)),
        };
        let (slot, sifs) = (slot * US, sifs * US);
        let difs = sifs + 2 * slot; // 10.3.2.3.5
        Self {
            slot,
            sifs,
            difs,
            eifs: sifs + lowest_ack + difs, // 10.3.2.3.7
            timeout: sifs + slot + cfg.rx_start_us.unwrap_or(rx_start) * US, // 10.3.2.9 (ACK), 10.3.2.7 (CTS)
            data,
            ack,
            rts,
            cts: ack, // 14 octets as well, 9.3.1.3, at the same rate
            cw_min,
            cw_max: 1023,
        }
    }

    /// 10.3.3: CW after so many failed attempts of the frame at hand.
    fn cw(&self, failed: u32) -> u32 {
        (((self.cw_min + 1) << failed) - 1).min(self.cw_max)
    }
}

/// xoshiro256** 1.0 (Blackman & Vigna 2018), seeded by splitmix64 as its authors advise.
#[derive(Clone, Debug)]
struct Rng([u64; 4]);

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// An own stream per station, so that the order in which stations draw does not matter.
    fn new(seed: u64, station: usize) -> Self {
        let mut state = seed;
        let mut state = splitmix64(&mut state) ^ (station as u64);
        Self(std::array::from_fn(|_| splitmix64(&mut state)))
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform over 0..=cw (10.3.3); cw + 1 is a power of two, so high bits serve without bias.
    fn draw(&mut self, cw: u32) -> u64 {
        debug_assert!((cw + 1).is_power_of_two());
        self.next() >> (64 - (cw + 1).trailing_zeros())
    }
}

#[derive(Clone, Debug)]
struct Station {
    rng: Rng,
    /// Failed attempts of the frame at hand.
    failed: u32,
    /// Whole idle slots still needed.
    backoff: u64,
    /// When the countdown starts, if the medium stays idle (ns).
    anchor: u64,
}

impl Station {
    fn draw(&mut self, t: &Timing) {
        self.backoff = self.rng.draw(t.cw(self.failed));
    }
}

/// Counts over the measured time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Frames that opened an exchange (data, or RTS).
    pub attempts: u64,
    /// Of these, the ones that overlapped another.
    pub collisions: u64,
    /// Of these, the ones that were not the first of their MSDU.
    pub retries: u64,
    /// MSDUs acknowledged.
    pub successes: u64,
    /// MSDUs given up.
    pub drops: u64,
}

impl Report {
    /// Delivered datagram bits per second, all stations together.
    pub fn throughput_bps(&self, cfg: &Config) -> f64 {
        (self.successes * cfg.payload * 8) as f64 / cfg.seconds as f64
    }

    /// Collided attempts over attempts.
    pub fn collision_p(&self) -> f64 {
        self.collisions as f64 / self.attempts.max(1) as f64
    }

    /// Repeated attempts over attempts.
    pub fn retry_rate(&self) -> f64 {
        self.retries as f64 / self.attempts.max(1) as f64
    }
}

/// Runs one configuration; `tap` sees (instant in ns, stations that start then) of every access, warm-up included.
///
/// Accesses that start in the measured time are counted whole.
pub fn run(cfg: &Config, mut tap: impl FnMut(u64, &[usize])) -> Report {
    let t = Timing::new(cfg);
    let (from, until) = (cfg.warmup * 1_000_000 * US, (cfg.warmup + cfg.seconds) * 1_000_000 * US);
    let mut stations: Vec<Station> = (0..cfg.stations)
        .map(|i| Station { rng: Rng::new(cfg.seed, i), failed: 0, backoff: 0, anchor: t.difs })
        .collect();
    stations.iter_mut().for_each(|s| s.draw(&t));
    let (first, answer) = if cfg.rts { (t.rts, t.cts) } else { (t.data, t.ack) };
    let after_cts = if cfg.rts { t.sifs + t.data + t.sifs + t.ack } else { 0 };
    let mut starters = Vec::new();
    let mut r = Report::default();

    loop {
        // 10.3.4.3: a station whose counter has run out starts; equal instants start together.
        let now = stations.iter().map(|s| s.anchor + s.backoff * t.slot).min().expect("at least one station");
        if now >= until {
            return r;
        }
        starters.clear();
        for (i, s) in stations.iter_mut().enumerate() {
            if s.anchor + s.backoff * t.slot == now {
                starters.push(i);
            } else if now > s.anchor {
                s.backoff -= (now - s.anchor) / t.slot; // whole idle slots only; the part of one is lost
            }
        }
        tap(now, &starters);
        let collided = starters.len() > 1;
        if now >= from {
            let n = starters.len() as u64;
            r.attempts += n;
            r.retries += starters.iter().filter(|&&i| stations[i].failed > 0).count() as u64;
            if collided { r.collisions += n } else { r.successes += 1 }
        }

        // All openers are equally long, so a collision ends for everybody at once.
        let first_end = now + first;
        if collided {
            // 10.3.2.3.7: nobody could decode anything. The next access falls before or after the end of EIFS.
            stations.iter_mut().for_each(|s| s.anchor = first_end + t.eifs);
            for &i in &starters {
                let s = &mut stations[i];
                s.failed += 1;
                if s.failed == MAX_ATTEMPTS {
                    s.failed = 0; // 10.3.4.4: discarded, CW back to CWmin (10.3.3), and the next MSDU waits already
                    r.drops += u64::from(now >= from);
                }
                s.draw(&t);
                // 10.3.4.3. A transmitter heard nothing, so EIFS is not for it.
                s.anchor = match cfg.timeout_ifs {
                    TimeoutIfs::Letter => first_end + t.timeout.max(t.difs),
                    TimeoutIfs::Fresh => first_end + t.timeout + t.difs,
                    TimeoutIfs::Aligned => first_end + t.eifs,
                };
            }
        } else {
            // SIFS-spaced to the end, NAV and carrier sense alike until then (10.3.2.4); a correct frame ends EIFS.
            let end = first_end + t.sifs + answer + after_cts;
            stations.iter_mut().for_each(|s| s.anchor = end + t.difs);
            let s = &mut stations[starters[0]];
            s.failed = 0;
            s.draw(&t); // post-backoff, 10.3.4.3
        }
    }
}

#[cfg(test)]
mod tests;
