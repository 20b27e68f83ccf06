//! `slotsim --standard b|a --stations N --seconds S --payload BYTES --rts on|off --seed K`: one line of JSON.
//!
//! Further: `--timeout-ifs letter|fresh|aligned` (lib.rs), `--warmup S` (default 1), `--rx-start-us N` (aRxPHYStartDelay).

use slotsim::{Config, Standard, TimeoutIfs, run};
use std::process::ExitCode;

const USAGE: &str = "slotsim --standard b|a --stations N [--seconds S] [--payload BYTES] [--rts on|off] [--seed K] \
                     [--timeout-ifs letter|fresh|aligned] [--warmup S] [--rx-start-us N]";

fn number<T: std::str::FromStr>(flag: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{flag}: not a number: {value}"))
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Config, String> {
    let mut cfg = Config::new(Standard::B, 1);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag}: a value is missing"))?;
        match (flag.as_str(), value.as_str()) {
            ("--standard", "b") => cfg.standard = Standard::B,
            ("--standard", "a") => cfg.standard = Standard::A,
            ("--rts", "on") => cfg.rts = true,
            ("--rts", "off") => cfg.rts = false,
            ("--timeout-ifs", "letter") => cfg.timeout_ifs = TimeoutIfs::Letter,
            ("--timeout-ifs", "fresh") => cfg.timeout_ifs = TimeoutIfs::Fresh,
            ("--timeout-ifs", "aligned") => cfg.timeout_ifs = TimeoutIfs::Aligned,
            ("--stations", v) => cfg.stations = number(&flag, v)?,
            ("--seconds", v) => cfg.seconds = number(&flag, v)?,
            ("--warmup", v) => cfg.warmup = number(&flag, v)?,
            ("--payload", v) => cfg.payload = number(&flag, v)?,
            ("--seed", v) => cfg.seed = number(&flag, v)?,
            ("--rx-start-us", v) => cfg.rx_start_us = Some(number(&flag, v)?),
            _ => return Err(format!("{flag} {value}: not understood")),
        }
    }
    if cfg.stations == 0 || cfg.seconds == 0 {
        return Err("--stations and --seconds must be at least 1".into());
    }
    Ok(cfg)
}

fn main() -> ExitCode {
    let cfg = match parse(std::env::args().skip(1)) {
        Ok(cfg) => cfg,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let r = run(&cfg, |_, _| ());
    println!(
        "{{\"standard\":\"{}\",\"rts\":\"{}\",\"timeout_ifs\":\"{}\",\"stations\":{},\"payload\":{},\"seconds\":{},\
         \"seed\":{},\"throughput_bps\":{:.1},\"collision_p\":{:.6},\"retry_rate\":{:.6},\"drops\":{},\"attempts\":{},\
         \"collisions\":{},\"successes\":{}}}",
        cfg.standard.name(),
        if cfg.rts { "on" } else { "off" },
        cfg.timeout_ifs.name(),
        cfg.stations,
        cfg.payload,
        cfg.seconds,
        cfg.seed,
        r.throughput_bps(&cfg),
        r.collision_p(),
        r.retry_rate(),
        r.drops,
        r.attempts,
        r.collisions,
        r.successes,
    );
    ExitCode::SUCCESS
}
