//! Two ends of `preset = "linux"` over a line like that of `validation/linux/line.c`: rate, delay, a drop-tail buffer, losses of data by
//! their ordinal. Ordinals are read from standard input; what arrived in each second is printed, then data segments sent,
//! segments dropped by ordinal and by the buffer, and retransmissions.
//!
//! `line CONTROL RATE_BPS DELAY_US BUFFER_BYTES SECONDS SEED`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for a validation")]

use std::collections::VecDeque;
use std::io::Read;
use tcp::{Connection, Input, Output, Preset, Seq, cc};
use units::{BitRate, Bytes, Dur, SimTime};
use wire::{Payload, Tcp};

/// One direction: a transmitter, a buffer, a delay.
struct Way {
    rate: BitRate,
    delay: Dur,
    buffer: u64,
    free_at: SimTime,
    flying: VecDeque<(SimTime, Tcp, Payload)>,
    refused: u64,
}

impl Way {
    fn offer(&mut self, now: SimTime, tcp: Tcp, payload: Payload) {
        let len = 20 + tcp.header_len() as u64 + u64::from(payload.len);
        let begins = self.free_at.max(now);
        let backlog = begins.since(now).ns() as u128 * u128::from(self.rate.bps()) / 8_000_000_000;
        if backlog as u64 + len > self.buffer {
            self.refused += 1;
            return;
        }
        self.free_at = begins + Bytes(len) / self.rate;
        self.flying.push_back((self.free_at + self.delay, tcp, payload));
    }

    fn next(&self) -> SimTime {
        self.flying.front().map_or(SimTime::NEVER, |(at, ..)| *at)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments[i].parse::<u64>().unwrap();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let ordinals: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let mut config = Preset::Linux.config(1460);
    if arguments[0] != "cubic" {
        config.congestion = cc::find(&arguments[0]).unwrap();
    }
    let seconds = number(4);
    let isn = |end: u64| Seq((number(5) as u32).wrapping_mul(2_654_435_761).wrapping_add(end as u32 * 40_503));
    let mut ends = [
        Connection::open(tcp::Config { initial_sequence: isn(0), ..config.clone() }, 1, 2),
        Connection::listen(tcp::Config { initial_sequence: isn(1), ..config }, 2, 1),
    ];
    let way = || Way {
        rate: BitRate::from_bps(number(1)),
        delay: Dur::from_us(number(2)),
        buffer: number(3),
        free_at: SimTime::ZERO,
        flying: VecDeque::new(),
        refused: 0,
    };
    let mut ways = [way(), way()];
    let mut now = SimTime::ZERO;
    let mut by_second = vec![0; seconds as usize];
    let (mut data, mut next_ordinal) = (0, 0);
    let end = SimTime::ZERO + Dur::from_secs(seconds);
    ends[0].handle(now, Input::Write(u64::MAX / 2));
    loop {
        for i in 0..2 {
            while let Some(output) = ends[i].poll(now) {
                match output {
                    Output::Segment { tcp, payload, .. } => {
                        if i == 0 && payload.len > 0 {
                            data += 1;
                            if ordinals.get(next_ordinal) == Some(&data) {
                                next_ordinal += 1;
                                continue;
                            }
                        }
                        ways[i].offer(now, tcp, payload);
                    }
                    Output::Readable { len, .. } => {
                        by_second[(now.since(SimTime::ZERO) / Dur::from_secs(1)) as usize] += u64::from(len);
                        ends[i].handle(now, Input::Read(u64::from(len)));
                    }
                    _ => {}
                }
            }
        }
        let wakes = ends.iter().map(Connection::next_wakeup).min().unwrap();
        let arrives = ways.iter().map(Way::next).min().unwrap();
        now = wakes.min(arrives).max(now);
        if now >= end {
            break;
        }
        if arrives <= wakes {
            let i = usize::from(ways[1].next() < ways[0].next());
            let (_, tcp, payload) = ways[i].flying.pop_front().unwrap();
            ends[1 - i].handle(now, Input::Segment { tcp: &tcp, payload: &payload, ce: false });
        } else {
            let i = usize::from(ends[1].next_wakeup() < ends[0].next_wakeup());
            ends[i].handle(now, Input::Timer);
        }
    }
    let counters = ends[0].counters();
    println!("{}", by_second.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
    println!("{data} {next_ordinal} {} {} {}", ways[0].refused, counters.retransmissions, counters.timeouts);
}
