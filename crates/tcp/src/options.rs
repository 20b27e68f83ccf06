//! The options that the two SYNs agreed on, and timestamps. @RFC9293 sec. 3.2, @RFC7323

use crate::Config;
use units::{Dur, SimTime};
use wire::{Tcp, TcpOptions, tcp::kind};

/// The MSS of a peer that names none. @RFC9293 sec. 3.7.1
const DEFAULT_MSS: u16 = 536;
/// Timestamps with their two NOPs.
pub(crate) const TIMESTAMPS_LEN: u32 = 12;

/// Options in force. Before the peer's SYN: what this end offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Negotiated {
    /// Both ends send timestamps on every segment.
    pub timestamps: bool,
    /// Blocks may be sent.
    pub sack: bool,
    /// Congestion may be marked. Said by flags, not by an option.
    pub ecn: bool,
    /// Shift of the windows the peer sends.
    pub snd_shift: u8,
    /// Shift of the windows this end sends; `None` without scaling.
    pub rcv_shift: Option<u8>,
    /// Largest payload the peer takes, before options.
    pub peer_mss: u16,
    /// The peer's timestamp to echo: TS.Recent.
    pub ts_recent: u32,
    /// The time it came.
    ts_recent_at: SimTime,
    tick: Dur,
}

impl Negotiated {
    /// The options that this end offers.
    pub fn offer(config: &Config) -> Negotiated {
        Negotiated {
            timestamps: config.timestamps,
            sack: config.sack,
            ecn: config.ecn,
            snd_shift: 0,
            rcv_shift: config.window_scale,
            peer_mss: DEFAULT_MSS,
            ts_recent: 0,
            ts_recent_at: SimTime::ZERO,
            tick: config.timestamp_tick,
        }
    }

    /// Keeps those options of the offer that the peer's SYN offers too.
    pub fn meet(&mut self, now: SimTime, syn: &TcpOptions) {
        self.peer_mss = syn.mss().unwrap_or(DEFAULT_MSS);
        self.sack &= syn.sack_permitted();
        self.rcv_shift = self.rcv_shift.filter(|_| syn.window_scale().is_some()); // @RFC7323 sec. 2.2
        self.snd_shift = self.rcv_shift.and(syn.window_scale()).unwrap_or(0);
        let stamps = syn.timestamps();
        self.timestamps &= stamps.is_some();
        self.set_ts_recent(now, stamps.map_or(0, |(tsval, _)| tsval));
    }

    /// A younger timestamp of the peer has come.
    pub fn set_ts_recent(&mut self, now: SimTime, tsval: u32) {
        (self.ts_recent, self.ts_recent_at) = (tsval, now);
    }

    /// The options of a SYN or SYN-ACK.
    pub fn syn_options(&self, mss: u16, now: SimTime) -> TcpOptions {
        let mut options = TcpOptions::default();
        options.push_mss(mss);
        if self.sack {
            options.push_sack_permitted();
        }
        if self.timestamps {
            options.push_timestamps(self.tsval(now), self.ts_recent);
        }
        if let Some(shift) = self.rcv_shift {
            options.push_window_scale(shift);
        }
        options
    }

    /// The timestamp clock.
    pub fn tsval(&self, now: SimTime) -> u32 {
        (now.ns() / self.tick.ns()) as u32
    }

    /// The RTT an echoed timestamp tells, at least one tick; `None` if it lies in the future. @RFC7323 sec. 4.1
    pub fn rtt(&self, now: SimTime, tsecr: u32) -> Option<Dur> {
        let ticks = self.tsval(now).wrapping_sub(tsecr);
        (ticks < 1 << 31).then(|| self.tick * u64::from(ticks.max(1)))
    }

    /// True if a segment's timestamp is older than one already seen: PAWS. @RFC7323 sec. 5.3 R1
    ///
    /// TS.Recent says nothing any more before the sign of a difference turns. With a clock of 1 ms that is after 24 days,
    /// with a faster one sooner, if the peer's is as fast as this end's. @RFC7323 sec. 5.5
    pub fn is_old(&self, now: SimTime, tsval: u32) -> bool {
        const TICKS: u64 = 24 * 86_400_000;
        let days = Dur::from_ms(TICKS);
        (tsval.wrapping_sub(self.ts_recent) as i32) < 0
            && now.since(self.ts_recent_at) < self.tick.saturating_mul(TICKS).min(days)
    }
}

/// TSval and TSecr; the layout everybody sends is read without a search. @RFC7323 app. A
pub(crate) fn timestamps(tcp: &Tcp) -> Option<(u32, u32)> {
    if let [kind::NOP, kind::NOP, kind::TIMESTAMPS, 10, a, b, c, d, e, f, g, h, ..] = *tcp.options.bytes() {
        return Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])));
    }
    tcp.options.timestamps()
}
