//! EWA: a router lowers the window that receivers advertise to what its queue has room for.
//!
//! - **Source** @KVR02: Kalampoukas, Varma & Ramakrishnan, "Explicit Window Adaptation: A Method to Enhance TCP Performance",
//!   IEEE/ACM ToN 10(3), 2002 (IEEE INFOCOM 1998; @KLI06 sec. 4). The paper was not at hand: the window's formula is as
//!   the project's notes on the field quote it.
//! - **Realism** no oracle: headers that pass, the room in its own transmit queue. Fails if TCP headers are encrypted.
//! - **Departs**
//!   (a) α is a parameter. The paper moves it by comparing the average queue with a threshold; `adapt = true` does so, and
//!   its steps, threshold and interval are assumptions of this file (one α a queue, raised by a constant, lowered by a factor),
//!   not the paper's. α is not raised while it binds nobody, or an idle hour would take as long to undo.
//!   (b) B − Q counts datagrams of the flow's own MSS, whatever unit the queue's limit is in.
//!   (c) Only data that waits in the radio's queue is steered; a wire's queue has no port yet.
//!   (d) A duplicate ACK repeats the window written last, and a window update that would look like one is withheld
//!   (`window::Shown`). The initial window of a SYN passes.
//! - **Checked** tests in `tests/all/ewa.rs`; `every_scheme`; `world/tests/all/ewa.rs`.

use crate::window::{Scale, Show, Shown};
use crate::{Agent, Cx, Field, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use std::collections::BTreeMap;
use units::{Bytes, Dur, FlowId, SimTime};
use wire::{DropWhy, Flags, Pkt, Tcp};

/// The bytes of IP and TCP headers without options. @RFC9293 sec. 3.7.1
const HEADERS: u32 = 40;
/// The MSS of a SYN without the option. @RFC9293 sec. 3.7.1
const DEFAULT_MSS: u16 = 536;

/// Its declaration.
pub const INFO: Info = Info {
    id: "ewa",
    summary: "a router writes the room of its queue into the windows that pass towards senders",
    source: "KVR02",
    params: &[
        Param {
            key: "alpha",
            kind: Kind::Float { min: 0.01, max: 1000.0 },
            default: Value::Float(1.0),
            doc: "factor of the logarithm of the free buffer; what it starts from if it adapts",
        },
        Param {
            key: "adapt",
            kind: Kind::Bool,
            default: Value::Bool(false),
            doc: "whether alpha follows the average queue",
        },
        Param {
            key: "threshold",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: Value::Float(0.2),
            doc: "average queue, as a share of the buffer, above which an adapting alpha falls (an assumption)",
        },
        Param {
            key: "interval",
            kind: Kind::Time { min: Dur::from_us(1), max: Dur::from_secs(1000) },
            default: Value::Time(Dur::from_ms(10)),
            doc: "time over which the queue is averaged and after which an adapting alpha moves (an assumption)",
        },
        Param {
            key: "up",
            kind: Kind::Float { min: 0.0, max: 100.0 },
            default: Value::Float(0.125),
            doc: "what an adapting alpha rises by (an assumption)",
        },
        Param {
            key: "down",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: Value::Float(0.96875),
            doc: "what an adapting alpha is multiplied by to fall (an assumption)",
        },
    ],
};

/// An agent at a router with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.forwards && site.node.has_air {
        site.reads_tcp();
        let seat = site.agent(Ewa::new(params)).listen([Place::ToAir, Place::FromAir]);
        seat.room().rewrites(Field::Window).makes_packets();
    }
    Ok(())
}

/// One direction of data that goes to the air, known from both SYNs.
#[derive(Debug, Default)]
struct Flow {
    scale: Scale,
    /// The MSS option of either side's SYN, sender first.
    mss: [Option<u16>; 2],
    shown: Shown,
}

impl Flow {
    /// The sender's segments, or `None` if a SYN passed unseen: the connection is left alone.
    fn mss(&self) -> Option<u32> {
        let [sender, receiver] = self.mss;
        Some(u32::from(sender?.min(receiver?)))
    }
}

/// The factor α, and the queue as it has been since it last moved.
#[derive(Debug)]
struct Alpha {
    now: f64,
    adapts: bool,
    threshold: f64,
    interval: Dur,
    up: f64,
    down: f64,
    /// Samples of the queue's share of the buffer since `since`.
    sum: f64,
    samples: u32,
    since: SimTime,
    /// True once it has held anybody back since.
    is_felt: bool,
}

impl Alpha {
    /// The queue as it is now.
    fn sees(&mut self, now: SimTime, used: Bytes, free: Bytes) {
        let buffer = used + free;
        if !self.adapts || buffer == Bytes::ZERO {
            return;
        }
        self.sum += used.0 as f64 / buffer.0 as f64;
        self.samples += 1;
        if now.since(self.since) < self.interval {
            return;
        }
        let average = self.sum / f64::from(self.samples);
        if average > self.threshold {
            self.now *= self.down;
        } else if self.is_felt {
            self.now += self.up;
        }
        (self.sum, self.samples, self.since, self.is_felt) = (0.0, 0, now, false);
    }
}

/// The agent of one router.
#[derive(Debug)]
pub struct Ewa {
    alpha: Alpha,
    flows: BTreeMap<FlowId, Flow>,
    lowered: u64,
    repeated: u64,
    withheld: u64,
}

/// `max(MSS, α · log2(B − Q) · MSS)`, in bytes, for a queue with room for `free` bytes. @KVR02
fn window(alpha: f64, free: Bytes, mss: u32) -> u32 {
    let datagrams = free.0 as f64 / f64::from(mss + HEADERS);
    let segments = alpha * libm::log2(datagrams.max(1.0));
    (segments.max(1.0) * f64::from(mss)) as u32
}

impl Ewa {
    fn new(params: &Params) -> Ewa {
        let alpha = Alpha {
            now: params.float("alpha"),
            adapts: params.bool("adapt"),
            threshold: params.float("threshold"),
            interval: params.time("interval"),
            up: params.float("up"),
            down: params.float("down"),
            sum: 0.0,
            samples: 0,
            since: SimTime::ZERO,
            is_felt: false,
        };
        Ewa { alpha, flows: BTreeMap::new(), lowered: 0, repeated: 0, withheld: 0 }
    }

    /// A SYN of the data's sender (0) or receiver (1).
    fn syn(&mut self, flow: FlowId, side: usize, tcp: &Tcp) {
        let flow = self.flows.entry(flow).or_default();
        // The first SYN begins a connection, perhaps under an old one's name.
        if !tcp.flags.has(Flags::ACK) {
            *flow = Flow::default();
        }
        flow.mss[side] = Some(tcp.options.mss().unwrap_or(DEFAULT_MSS).max(1));
        if side == 0 {
            flow.scale.saw_senders_syn(tcp);
        } else {
            flow.scale.saw_receivers_syn(tcp);
        }
    }

    /// An ACK on its way back to the sender of `flow`.
    fn ack(&mut self, flow: FlowId, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let Some(flow) = self.flows.get_mut(&flow) else { return Some(pkt) };
        let Some(mss) = flow.mss() else { return Some(pkt) };
        let room = cx.room();
        self.alpha.sees(cx.now, room.used, room.free);
        let most = window(self.alpha.now, room.free, mss);
        let packet = cx.get(&pkt);
        let advertised = packet.tcp().map_or(0, |tcp| tcp.window);
        let written = match flow.shown.show(packet, most, mss, &flow.scale) {
            Show::Window(field) => field,
            Show::Again(field) => {
                self.repeated += 1;
                field
            }
            Show::Nothing => {
                self.withheld += 1;
                cx.drop(pkt, DropWhy::Suppressed);
                return None;
            }
        };
        if written < advertised {
            self.alpha.is_felt = true;
            self.lowered += 1;
            if let Some(tcp) = cx.get_mut(&pkt).tcp_mut() {
                tcp.window = written;
            }
        }
        Some(pkt)
    }
}

impl Agent for Ewa {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(&tcp) = packet.tcp() else { return Some(pkt) };
        let (flow, side) = if at == Place::ToAir { (packet.flow, 0) } else { (packet.flow.reverse(), 1) };
        if tcp.flags.has(Flags::RST) {
            self.flows.remove(&flow);
        } else if tcp.flags.has(Flags::SYN) {
            self.syn(flow, side, &tcp);
        } else if at == Place::FromAir && tcp.flags.has(Flags::ACK) {
            return self.ack(flow, pkt, cx);
        } else if at == Place::ToAir {
            let room = cx.room();
            self.alpha.sees(cx.now, room.used, room.free);
        }
        Some(pkt)
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        for way in [flow, flow.reverse()] {
            self.flows.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("windows_lowered", self.lowered);
        out("duplicates_repeated", self.repeated);
        out("updates_withheld", self.withheld);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_logarithm_of_the_room_in_segments() {
        // Room for 64 datagrams of 1500 bytes: log2 64 = 6 segments; half as much again with α = 1.5.
        let free = Bytes(64 * 1500);
        assert_eq!((window(1.0, free, 1460), window(1.5, free, 1460)), (6 * 1460, 9 * 1460));
        // A full queue, and one with room for two: never below one segment.
        assert_eq!([0, 1500, 3000].map(|free| window(1.0, Bytes(free), 1460)), [1460; 3]);
    }

    #[test]
    fn alpha_moves_by_the_average_queue_once_an_interval() {
        let params = |adapt| {
            let mut params = Params::defaults(INFO.params);
            params.set("adapt", Value::Bool(adapt));
            params
        };
        let after = |adapt, queues: [u64; 4], is_felt| {
            let mut alpha = Ewa::new(&params(adapt)).alpha;
            alpha.is_felt = is_felt;
            for (i, used) in queues.into_iter().enumerate() {
                let now = SimTime::ZERO + Dur::from_ms(i as u64 * 10 / 3 + u64::from(i == 3));
                alpha.sees(now, Bytes(used), Bytes(1000 - used));
            }
            alpha.now
        };
        // Samples at 0, 3, 6 and 11 ms: averages of 190/1000, under the threshold of 0.2, and 210/1000, above it.
        assert_eq!(after(true, [160, 160, 160, 280], true), 1.125);
        assert_eq!(after(true, [160, 160, 160, 280], false), 1.0);
        assert_eq!(after(true, [400, 400, 0, 40], true), 0.96875);
        assert_eq!(after(false, [400, 400, 0, 40], true), 1.0);
    }
}
