//! A TCP connection's keys. Each names the field of [`tcp::Config`] that it sets.

use crate::plug::{Congestion, Plug, Receivers, Recoveries};
use crate::scalar::{SOME_BYTES, SOME_TIME};
use core::ops::RangeInclusive;
use units::{Bytes, Dur};

/// The largest window that sequence numbers allow is 1 GiB. @RFC7323 sec. 2.3
const BUFFER: RangeInclusive<Bytes> = RangeInclusive::new(Bytes(1), Bytes(1 << 30));
/// Of the timestamp clock: slower than any RTT, or wrapping within one. @RFC7323 sec. 5.4
const TICK: RangeInclusive<Dur> = RangeInclusive::new(Dur::from_us(1), Dur::from_secs(1));
/// The default that the documentation shows where `tcp::Config` decides.
const TCP_DEFAULT: &str = "the preset's";
/// In segments.
const WINDOW: RangeInclusive<u32> = RangeInclusive::new(1, 1_000_000_000);

words! {
    /// Slow-start threshold at the start.
    pub enum Ssthresh {
        /// Slow start until the first loss.
        "unlimited" => Unlimited,
        else
        /// Up to this window.
        Bytes(Bytes), in SOME_BYTES,
    }
}

or_none! { Option<Ssthresh>, Unlimited | Bytes(Bytes) }

words! {
    /// The window scale option.
    pub enum WindowScale {
        /// The least that can tell the whole receive buffer.
        "auto" => Auto,
        /// Not offered.
        "off" => Off,
        else
        /// This shift.
        Shift(u8), in 0..=14,
    }
}

words! { impl tcp::Preset, noun "preset" { "linux" => Linux, "ns2" => Ns2, "rfc" => Rfc } }

words! { impl tcp::Undo, noun "way to undo" { "none" => None, "eifel" => Eifel, "f-rto" => FRto, "all" => All } }

words! {
    impl tcp::SmallQueue {
        "off" => Off,
        "linux" => Linux,
        else Shift(u8), in 0..=20,
    }
}

words! {
    /// Appropriate byte counting.
    pub enum ByteCounting {
        /// One step per ACK.
        "off" => Off,
        else
        /// Bytes, up to so many segments per ACK.
        Limit(u8), in 1..=255,
    }
}

or_none! { Option<ByteCounting>, Off | Limit(u8) }

words! {
    /// The user timeout.
    pub enum UserTimeout {
        /// Retransmissions are counted, not timed.
        "off" => Off,
        else
        /// Without progress for so long the connection fails.
        After(Dur), in SOME_TIME,
    }
}

or_none! { Option<UserTimeout>, Off | After(Dur) }

table! {
    /// A TCP connection. `None`: as `tcp::Config` has it.
    pub struct Tcp sets tcp::Config, shows tcp::Config {
        /// All choices of a stack under one word; a key beside it wins. `interlayer check --effective` shows them.
        preset: Option<tcp::Preset>, or "`linux`",
        /// See `interlayer list congestion`.
        congestion: Option<Plug<Congestion>>, or TCP_DEFAULT,
        /// The repair of losses: see `interlayer list recovery`.
        recovery: Option<Plug<Recoveries>>, or "the controller's own, with SACK `sack`",
        /// Proportional rate reduction (RFC 9937), in recovery by SACK and after a mark.
        prr: Option<bool>, or TCP_DEFAULT, sets prr,
        /// Losses by time, not by count (RFC 8985), in recovery by SACK.
        rack: Option<bool>, or TCP_DEFAULT, sets rack,
        /// A probe for a loss at the tail (RFC 8985), in recovery by SACK.
        tlp: Option<bool>, or TCP_DEFAULT, sets tlp,
        /// The detection of a spurious loss, whose cut is then undone.
        undo: Option<tcp::Undo>, or TCP_DEFAULT, sets undo,
        /// The first slow start ends when the RTT rises (HyStart++, RFC 9406).
        hystart: Option<bool>, or TCP_DEFAULT, sets hystart,
        /// Segments leave at a rate, not in bursts.
        pacing: Option<bool>, or TCP_DEFAULT, sets pacing,
        /// See `interlayer list receivers`.
        receiver: Option<Plug<Receivers>>, or TCP_DEFAULT,
        /// Longest delay of an acknowledgement.
        delayed_ack_timeout: Option<Dur>, or TCP_DEFAULT, sets delayed_ack_timeout,
        /// Full segments per acknowledgement.
        delayed_ack_count: Option<u32>, in 1..=255, or TCP_DEFAULT, sets delayed_ack_count,
        /// Quick ACKs at the start and an adaptive delay from 40 ms, as Linux (receiver `delayed-ack`).
        quickack: Option<bool>, or TCP_DEFAULT, sets quickack,
        /// In segments.
        initial_window: Option<u32>, in WINDOW, or TCP_DEFAULT, sets initial_window_segments,
        /// The window at which slow start first ends.
        initial_ssthresh: Option<Ssthresh>, or TCP_DEFAULT, sets initial_ssthresh,
        /// The sender's own limit in segments.
        max_window: Option<u32>, in WINDOW, or TCP_DEFAULT, sets max_window_segments,
        /// Bytes the sender holds.
        send_buffer: Option<Bytes>, in BUFFER, or TCP_DEFAULT, sets send_buffer,
        /// Bytes the receiver holds.
        receive_buffer: Option<Bytes>, in BUFFER, or TCP_DEFAULT, sets receive_buffer,
        /// Least retransmission timeout.
        min_rto: Option<Dur>, in SOME_TIME, or TCP_DEFAULT, sets min_rto,
        /// Retransmission timeout before the first RTT sample.
        initial_rto: Option<Dur>, in SOME_TIME, or TCP_DEFAULT, sets initial_rto,
        /// Greatest retransmission timeout.
        max_rto: Option<Dur>, in SOME_TIME, or TCP_DEFAULT, sets max_rto,
        /// True if the RTT of the SYN is a sample; not in ns-3 of 2011.
        handshake_rtt: Option<bool>, or TCP_DEFAULT, sets handshake_rtt,
        /// Of the clock that measures RTT and fires timers.
        granularity: Option<Dur>, or TCP_DEFAULT, sets granularity,
        /// Small writes wait for an acknowledgement (RFC 896).
        nagle: Option<bool>, or TCP_DEFAULT, sets nagle,
        /// The timestamps option (RFC 7323).
        timestamps: Option<bool>, or TCP_DEFAULT, sets timestamps,
        /// One tick of the timestamp clock.
        timestamp_tick: Option<Dur>, in TICK, or TCP_DEFAULT, sets timestamp_tick,
        /// Selective acknowledgements (RFC 2018).
        sack: Option<bool>, or TCP_DEFAULT, sets sack,
        /// The window scale option (RFC 7323): a shift, the least that serves, or none.
        window_scale: Option<WindowScale>, or TCP_DEFAULT,
        /// Explicit congestion notification (RFC 3168): offered, and accepted.
        ecn: Option<bool>, or TCP_DEFAULT, sets ecn,
        /// New data on the first duplicates (RFC 3042).
        limited_transmit: Option<bool>, or TCP_DEFAULT, sets limited_transmit,
        /// Growth by bytes acknowledged, not by ACKs, with this limit in segments (RFC 3465).
        byte_counting: Option<ByteCounting>, or TCP_DEFAULT, sets byte_counting,
        /// Growth counts what was newly delivered, not what is acknowledged, in recovery by SACK (as Linux).
        count_delivered: Option<bool>, or TCP_DEFAULT, sets count_delivered,
        /// A segment that the own host's queue refuses was not sent, and cuts the window once, as a mark does (as Linux). Off: it is lost.
        local_congestion: Option<bool>, or TCP_DEFAULT, sets local_congestion,
        /// Data in the queues of the own host: no more leaves while it is above two of Linux's packets, each of 2^-shift s at the pacing rate, and above that alone. `linux`: shift 7 by radio, 10 by wire.
        small_queue: Option<tcp::SmallQueue>, or TCP_DEFAULT, sets small_queue,
        /// Duplicate ACKs that make a loss.
        dup_ack_threshold: Option<u32>, in 1..=1_000, or TCP_DEFAULT, sets dup_ack_threshold,
        /// After an idle RTO the window is the initial one again (RFC 5681).
        idle_restart: Option<bool>, or TCP_DEFAULT, sets idle_restart,
        /// A window that is not used does not grow.
        validate_cwnd: Option<bool>, or TCP_DEFAULT, sets validate_cwnd,
        /// The time that TIME-WAIT lasts.
        time_wait: Option<Dur>, or TCP_DEFAULT, sets time_wait,
        /// The number of times that a SYN is sent again.
        syn_retries: Option<u32>, in 0..=1_000, or TCP_DEFAULT, sets syn_retries,
        /// The number of times that a segment is sent again by timer before the connection fails.
        max_retries: Option<u32>, in 0..=1_000, or TCP_DEFAULT, sets max_retries,
        /// The time that a connection lasts without progress.
        user_timeout: Option<UserTimeout>, or TCP_DEFAULT, sets user_timeout,
        /// Sequence number of the SYN.
        initial_sequence: Option<u32>, or "drawn from the seed",
    }
}

/// The preset of a scenario that names none.
const DEFAULT: tcp::Preset = tcp::Preset::Linux;

impl Tcp {
    /// The preset that holds where no key says otherwise.
    pub fn preset(&self) -> tcp::Preset {
        self.preset.unwrap_or(DEFAULT)
    }

    /// True of Linux without its small queues, which no Linux host is: a window lies in the queue of its own host.
    pub fn fills_its_host(&self) -> bool {
        self.preset() == tcp::Preset::Linux && self.small_queue == Some(tcp::SmallQueue::Off)
    }

    /// Sets in a configuration of [`Tcp::preset`], which has its plug-ins, what the keys say.
    pub fn configure(&self, config: &mut tcp::Config) {
        self.set(config);
        if !config.repairs_by_sack() {
            // Without SACK recovery, which a key beside the preset has switched off, the preset's own of it falls away.
            config.prr &= self.prr.is_some();
            config.rack &= self.rack.is_some();
            config.tlp &= self.tlp.is_some();
        }
        config.window_scale = match self.window_scale {
            None if !self.preset().scales() => config.window_scale,
            None | Some(WindowScale::Auto) => Some(tcp::window_scale(config.receive_buffer)),
            Some(WindowScale::Off) => None,
            Some(WindowScale::Shift(shift)) => Some(shift),
        };
    }

    /// The same keys, each with the value that it has in `config`; those of plug-ins stay.
    #[must_use]
    pub fn effective(&self, config: &tcp::Config) -> Tcp {
        let mut keys = self.clone();
        keys.show(config);
        keys.preset = Some(self.preset());
        keys.window_scale = Some(config.window_scale.map_or(WindowScale::Off, WindowScale::Shift));
        keys
    }
}
