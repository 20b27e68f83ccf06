//! Worked numbers, and a second simulation that walks every microsecond with carrier sense, NAV and timers spelled out.

use super::*;

#[test]
fn durations_are_those_of_the_hand_worked_table() {
    // validation/airtime/README.md: 1310, 304, 248, 28, 44 us.
    let b = Timing::new(&Config::new(Standard::B, 1));
    assert_eq!((b.data, b.ack, b.rts), (1310 * US, 304 * US, 352 * US)); // RTS: 192 + 160
    assert_eq!((b.difs, b.eifs, b.timeout), (50 * US, 364 * US, 222 * US)); // 10 + 304 + 50; 10 + 20 + 192
    let a = Timing::new(&Config::new(Standard::A, 1));
    assert_eq!((a.data, a.ack, a.rts), (248 * US, 28 * US, 28 * US)); // RTS: 182 bits, 2 symbols of 96
    assert_eq!((a.difs, a.eifs, a.timeout), (34 * US, 94 * US, 50 * US)); // 16 + 44 + 34; 16 + 9 + 25
}

#[test]
fn cw_doubles_to_its_cap() {
    let b = Timing::new(&Config::new(Standard::B, 1));
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|k| b.cw(k)), [31, 63, 127, 255, 511, 1023, 1023]);
    let a = Timing::new(&Config::new(Standard::A, 1));
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|k| a.cw(k)), [15, 31, 63, 127, 255, 511, 1023]);
}

#[test]
fn xoshiro_gives_its_published_first_outputs() {
    // State {1, 2, 3, 4}: 2·5 = 10, rotl 7 = 1280, ·9 = 11520; then s1 = 0 gives 0; the third from rand_xoshiro's tests.
    let mut rng = Rng([1, 2, 3, 4]);
    assert_eq!([rng.next(), rng.next(), rng.next()], [11520, 0, 1_509_978_240]);
}

#[test]
fn draws_are_uniform_over_zero_to_cw() {
    let mut rng = Rng::new(1, 0);
    let mut hist = [0u32; 32];
    (0..320_000).for_each(|_| hist[rng.draw(31) as usize] += 1);
    // Chi-square with 31 degrees of freedom: 99.9 % below 61.1.
    let chi2: f64 = hist.iter().map(|&h| f64::from(h) - 1e4).map(|d| d * d / 1e4).sum();
    assert!(chi2 < 61.1, "{chi2}");
}

#[test]
fn one_station_meets_the_closed_form() {
    // Cycle = DIFS + CWmin/2 slots + DATA + SIFS + ACK. b: 50 + 310 + 1310 + 10 + 304 = 1984 us; a: 34 + 67.5 + 248 + 16 + 28
    // = 393.5. With RTS also RTS + CTS + 2 SIFS: b + 352 + 304 + 20 = 2660; a + 28 + 28 + 32 = 481.5.
    for (standard, rts, cycle_us) in [
        (Standard::B, false, 1984.0),
        (Standard::A, false, 393.5),
        (Standard::B, true, 2660.0),
        (Standard::A, true, 481.5),
    ] {
        let cfg = Config { rts, seconds: 400, ..Config::new(standard, 1) };
        let (r, expect) = (run(&cfg, |_, _| ()), 12000.0 / cycle_us * 1e6);
        // Standard error: sd of the backoff (b 185 us, a 41 us) over the cycle, over sqrt(cycles >= 150 000): < 0.03 %.
        assert!((r.throughput_bps(&cfg) / expect - 1.0).abs() < 1e-3);
        assert_eq!((r.collisions, r.retries, r.drops), (0, 0, 0));
    }
}

#[test]
fn counts_agree_with_each_other() {
    let cfg = Config { seconds: 20, ..Config::new(Standard::A, 20) };
    let r = run(&cfg, |_, _| ());
    assert_eq!(r.attempts, r.successes + r.collisions);
    // Each retry follows a collision that was no drop; at the window's ends each station may be one off.
    assert!(r.retries.abs_diff(r.collisions - r.drops) <= 20);
    assert!(r.drops > 0);
}

#[test]
fn a_microsecond_walk_sees_the_same_accesses() {
    for standard in [Standard::B, Standard::A] {
        for timeout_ifs in [TimeoutIfs::Letter, TimeoutIfs::Fresh, TimeoutIfs::Aligned] {
            for rts in [false, true] {
                for stations in [1, 2, 5, 20] {
                    let cfg = Config { rts, timeout_ifs, seconds: 3, warmup: 0, ..Config::new(standard, stations) };
                    let mut seen = Vec::new();
                    run(&cfg, |at, who| seen.push((at / US, who.to_vec())));
                    let walked = walk(&cfg);
                    assert!(walked.len() > 500 && walked.iter().any(|(_, w)| w.len() > 1) == (stations > 1));
                    assert_eq!(seen, walked, "{cfg:?}");
                }
            }
        }
    }
}

/// What is on the air. The sink's address is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

#[derive(Clone, Copy)]
struct OnAir {
    from: Option<usize>,
    to: Option<usize>,
    kind: Kind,
    end: u64,
    spoilt: bool,
}

/// A station as a timer-driven machine, in us.
struct Machine {
    st: Station,
    /// Waiting for an answer; the timer once the own frame is out.
    waiting: bool,
    deadline: Option<u64>,
    /// Data to send at this instant, after a CTS.
    send_data_at: Option<u64>,
    eifs: bool,
    nav: u64,
    /// Consecutive idle microseconds heard (carrier sense, NAV; own frames are busy).
    idle: u64,
    /// Idle part of the present slot.
    part: u64,
}

/// The same protocol with a clock that ticks each microsecond: (instant, starters) of all accesses before the end.
fn walk(cfg: &Config) -> Vec<(u64, Vec<usize>)> {
    let t = Timing::new(cfg);
    let (slot, sifs, difs, eifs) = (t.slot / US, t.sifs / US, t.difs / US, t.eifs / US);
    let len = |k: Kind| match k {
        Kind::Rts => t.rts / US,
        Kind::Cts => t.cts / US,
        Kind::Data => t.data / US,
        Kind::Ack => t.ack / US,
    };
    // 9.2.4.2 Duration: what remains after this frame.
    let duration = |k: Kind| match k {
        Kind::Rts => 3 * sifs + len(Kind::Cts) + len(Kind::Data) + len(Kind::Ack),
        Kind::Cts => 2 * sifs + len(Kind::Data) + len(Kind::Ack),
        Kind::Data => sifs + len(Kind::Ack),
        Kind::Ack => 0,
    };
    let mut m: Vec<Machine> = (0..cfg.stations)
        .map(|i| {
            let mut st = Station { rng: Rng::new(cfg.seed, i), failed: 0, backoff: 0, anchor: 0 };
            st.draw(&t);
            Machine { st, waiting: false, deadline: None, send_data_at: None, eifs: false, nav: 0, idle: 0, part: 0 }
        })
        .collect();
    let mut air: Vec<OnAir> = Vec::new();
    let mut sink: Option<(u64, Kind, usize)> = None;
    let mut out = Vec::new();

    for now in 0..cfg.seconds * 1_000_000 {
        // The microsecond that ends now.
        let busy = !air.is_empty();
        for s in &mut m {
            if busy || now <= s.nav {
                (s.idle, s.part) = (0, 0);
            } else {
                s.idle += 1;
            }
            if now == 0 {
                s.idle = 0;
            }
            let ifs = if s.eifs { eifs } else { difs };
            if s.idle > ifs && !s.waiting && s.st.backoff > 0 {
                s.part += 1;
                if s.part == slot {
                    (s.st.backoff, s.part) = (s.st.backoff - 1, 0);
                }
            }
        }
        // Frames that end now.
        let (ended, still): (Vec<_>, Vec<_>) = air.drain(..).partition(|f| f.end == now);
        assert!(ended.is_empty() || still.is_empty());
        air = still;
        for f in &ended {
            let overlapped_by = |i: usize| ended.iter().any(|g| g.from == Some(i));
            for (i, s) in m.iter_mut().enumerate().filter(|&(i, _)| !overlapped_by(i)) {
                s.eifs = f.spoilt;
                if !f.spoilt && f.to != Some(i) {
                    s.nav = s.nav.max(now + duration(f.kind));
                }
            }
            if let Some(i) = f.from {
                m[i].deadline = Some(now + t.timeout / US);
                if !f.spoilt {
                    sink = Some((now + sifs, if f.kind == Kind::Rts { Kind::Cts } else { Kind::Ack }, i));
                }
            } else if let Some(i) = f.to {
                let s = &mut m[i];
                if f.kind == Kind::Cts {
                    s.send_data_at = Some(now + sifs);
                } else {
                    s.waiting = false;
                    s.st.failed = 0;
                    s.st.draw(&t);
                }
            }
        }
        // Timeouts; an answer whose preamble has begun stops the timer (below).
        for s in &mut m {
            if s.deadline == Some(now) {
                (s.deadline, s.waiting) = (None, false);
                s.st.failed = (s.st.failed + 1) % MAX_ATTEMPTS;
                s.st.draw(&t);
                match cfg.timeout_ifs {
                    TimeoutIfs::Letter => {}
                    TimeoutIfs::Fresh => s.idle = 0,
                    TimeoutIfs::Aligned => s.eifs = true,
                }
            }
        }
        // Starts.
        let mut begin = |from, to, kind| air.push(OnAir { from, to, kind, end: now + len(kind), spoilt: false });
        if let Some((_, kind, i)) = sink.take_if(|(at, ..)| *at == now) {
            begin(None, Some(i), kind);
            m[i].deadline = None;
        }
        let opener = if cfg.rts { Kind::Rts } else { Kind::Data };
        let mut starters = Vec::new();
        for (i, s) in m.iter_mut().enumerate() {
            if s.send_data_at.take_if(|at| *at == now).is_some() {
                begin(Some(i), None, Kind::Data);
            } else if !s.waiting && s.st.backoff == 0 && s.idle >= if s.eifs { eifs } else { difs } {
                begin(Some(i), None, opener);
                (s.waiting, s.eifs) = (true, false);
                starters.push(i);
            }
        }
        if !starters.is_empty() {
            out.push((now, starters));
        }
        if air.len() > 1 {
            air.iter_mut().for_each(|f| f.spoilt = true);
        }
    }
    out
}
