//! C³TCP: every hop measures its bandwidth and delay, frames carry the path's, the sender's window is what fits in it.
//!
//! - **Source** @KLI06 section 4.4: equations 4.1 to 4.7, figures 4.5 to 4.9.
//! - **Realism** no oracle: MAC options of 14 bytes in TCP's data frames, to neighbours that answer such frames. Reads TCP headers.
//! - **Departs**
//!   (a) D of equation 4.1 is not defined: IP bytes here. T_tr of equation 4.3 has the airtimes of the radio, which are those of
//!   equation 4.4 but for the printed 30 B of MAC header (24 here, LLC, QoS Control, Header Length and the options).
//!   (b) The subtype 1000 that the text takes for frames with options has been QoS Data since 802.11e: 1101, which is reserved. Subtypes
//!   whose top bit is set have QoS Control: two bytes more where there was none.
//!   (c) The window is never below one MSS, and duplicate ACKs repeat the window written last (`window::Shown`), or TCP
//!   would not count them.
//!   (d) The echo rides on pure ACKs, not on data that acknowledges.
//!   (e) The rate in T_tr is the rate set for the neighbour, whatever a rate control chooses.
//!   (f) Of a packet that came over a hop without options only the hops behind it are measured.
//!   (g) With `control = "full"`, one sentence at the end of section 4.4.4, TCP is acknowledged at its sender as `lle-cc` does it, and what
//!   is on its way is kept below the window that this scheme writes.
//!   (h) Section 4.4.5 says that flows of one node share what was measured, not how: by equal parts (`flows = "shared"`).
//!   (i) The text gives the window's delay twice. Section 4.4.2: the bandwidth-delay product "in the forward path, while considering the
//!   backward path as a simple delay line"; section 4.4.4, of the module at the sender: "forward path bandwidth and RTT values on the
//!   forward path". That is B D_f, `delay = "forward"`. Section 4.4.4 after the example of figure 4.6: the delay "is obtained as a sum of
//!   propagation delays of TCP data and TCP ACK packets". That is B (D_f + D_b), `delay = "both"`, the default: only there the text says
//!   how the number is had, and why ACKs collect delays on their way; it is also what was there before this was a parameter.
//!   (j) Section 4.4.6 weighs routes by what data flows measure: the node's router is handed bandwidth and delay of each data packet that a
//!   neighbour has acknowledged. What becomes of them is a route metric's to say.
//! - **Checked** `tests/all/c3tcp.rs`; `every_scheme`; `world/tests/all/c3tcp.rs`; the frames `mac/tests/all/extended.rs`.

use crate::window::{Scale, Show, Shown};
use crate::{Agent, Cx, Field, Info, Kind, Param, Params, Place, Refusal, Site, Value, What};
use mac::{Fate, MacOptions, TxReport};
use net::LinkSample;
use phy::Mode;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Packet, Pkt, Seq};

/// Its declaration.
pub const INFO: Info = Info {
    id: "c3tcp",
    summary: "window = bandwidth times delay, measured hop by hop in the MAC",
    source: "KLI06 section 4.4",
    params: &[
        Param {
            key: "ack_rate",
            kind: Kind::Choice(&["data", "control"]),
            default: Value::Choice("data"),
            doc: "rate of the MAC ACK's body in T_tr: that of data, as equation 4.5 is printed, or the one it has",
        },
        Param {
            key: "difs",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "whether T_tr ends with a DIFS (equation 4.3), although T_out - T_in begins with one",
        },
        Param {
            key: "t_in",
            kind: Kind::Choice(&["queued", "head"]),
            default: Value::Choice("queued"),
            doc: "where T_in of the bandwidth is taken: when the packet is queued (section 4.4.1), or at the head of the queue",
        },
        Param {
            key: "t_out",
            kind: Kind::Choice(&["sent", "first"]),
            default: Value::Choice("sent"),
            doc: "T_out of the attempt that carries it, or of the packet's first attempt",
        },
        Param {
            key: "delay",
            kind: Kind::Choice(&["both", "forward"]),
            default: Value::Choice("both"),
            doc: "delay in the window: of data and ACK (section 4.4.4, figure 4.6's example), or of data alone (sections 4.4.2 and 4.4.4)",
        },
        Param {
            key: "control",
            kind: Kind::Choice(&["cap", "full"]),
            default: Value::Choice("cap"),
            doc: "the window bounds TCP, or paces it with ACKs made at the sender (section 4.4.4, last sentence)",
        },
        Param {
            key: "flows",
            kind: Kind::Choice(&["each", "shared"]),
            default: Value::Choice("each"),
            doc: "a flow takes all of what was measured, or an equal part of it beside the node's other flows (section 4.4.5)",
        },
        Param {
            key: "probe_every",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1_000_000) },
            default: Value::Time(Dur::from_secs(10)),
            doc: "how often a neighbour that answers no frames with options is tried again; section 4.4.3 has no number",
        },
    ],
};

/// See [`crate::Install`].
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    site.excludes_block_ack("it takes the time of an exchange for that of one packet, and an A-MPDU has many packets");
    let mac = site.mac();
    let difs = if params.bool("difs") { mac.timing.difs() } else { Dur::ZERO };
    let takes_control_rate = params.choice("ack_rate") == "control";
    let link = |mode: Mode| {
        let control = mac.control_modes.response_to(mode);
        let ack = if takes_control_rate {
            phy::airtime(control, ACK_FRAME)
        } else {
            phy::airtime(control, Bytes::ZERO) + ACK_FRAME / mode.bit_rate()
        };
        Timed { mode, after_data: mac.timing.sifs + ack + difs }
    };
    let link_to = mac.data_rate_to.iter().map(|(to, mode)| (*to, link(*mode))).collect();
    let link = link(mac.data_rate);
    site.radio().mac.options_probe_every = params.time("probe_every");
    site.reads_tcp();
    // A scheme that keeps receivers' ACKs off the air leaves nothing to echo on.
    site.exclusive(What::ACKS);
    let c3tcp = C3Tcp {
        link,
        link_to,
        takes_queue: params.choice("t_in") == "queued",
        stamps_first: params.choice("t_out") == "first",
        counts_back: params.choice("delay") == "both",
        shares: params.choice("flows") == "shared",
        held: VecDeque::new(),
        echoes: BTreeMap::new(),
        paths: BTreeMap::new(),
        counted: Counted::default(),
    };
    if params.choice("control") == "full" && site.node.starts_flows {
        // Nearer to the host: what this scheme writes is what the other listens to.
        crate::lle_cc::take_seat(site, FULL_CONTROL);
    }
    let seat = site.agent(c3tcp).listen([Place::FromHost, Place::ToHost]);
    seat.reports().facts().reads_options().writes_options().rewrites(Field::Window).makes_packets().feeds_routes();
    Ok(())
}

/// Copies without bound but the window.
const FULL_CONTROL: crate::lle_cc::Limits = crate::lle_cc::Limits {
    buffer: usize::MAX,
    min_timeout: crate::lle_cc::MIN_TIMEOUT,
    max_timeouts: crate::lle_cc::MAX_TIMEOUTS as u32,
    spares_last_hop: false,
};

/// A whole Ack frame. @80211-2020 9.3.1.4
const ACK_FRAME: Bytes = Bytes(14);
/// The bytes of a data frame with options around the IP packet: header, QoS Control, Header Length, the option, LLC and SNAP,
/// FCS.
const AROUND: Bytes = Bytes(24 + 2 + 1 + (MacOptions::OVERHEAD + LEN) as u64 + 8 + 4);
/// Another flow of the node counts among those that share as long as this. Our choice: several round trips of the text's paths.
const IS_ACTIVE: Dur = Dur::from_secs(1);
/// Packets remembered at once: beyond it what was noted first is forgotten. Our choice: more than the queue of a relay holds.
const MOST_HELD: usize = 4096;
/// The segment size of a SYN that asks for none, over IPv4. @RFC9293 sec. 3.7.1
const DEFAULT_MSS: u16 = 536;

/// Data packets whose measurements wait for an ACK, of each flow. Our choice: more than a window of the text's paths.
const MOST_WAITING: usize = 1024;

/// The measurement of a path: least bandwidth, sum of delays. On ACKs the delay back is added on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    bytes_per_s: u32,
    there_us: u32,
    back_us: u32,
}

/// Kind of our option; nobody hands these numbers out.
const KIND: u8 = 0xc3;
const LEN: u8 = 12;

impl Path {
    const START: Path = Path { bytes_per_s: u32::MAX, there_us: 0, back_us: 0 };

    /// Reads our option. `None` of anything but three words: an option that is not ours, or cut short.
    fn read(options: &MacOptions) -> Option<Path> {
        let ([bandwidth, there, back], []) = options.get(KIND)?.as_chunks() else { return None };
        let [bytes_per_s, there_us, back_us] = [bandwidth, there, back].map(|word| u32::from_be_bytes(*word));
        Some(Path { bytes_per_s, there_us, back_us })
    }

    fn write(self, options: &mut MacOptions) {
        let words = [self.bytes_per_s, self.there_us, self.back_us].map(u32::to_be_bytes);
        options.set(KIND, words.as_flattened());
    }

    /// Bytes that fit into it: B (D_f + D_b), or without the way back B D_f.
    fn fits(self, counts_back: bool) -> u32 {
        let delay_us = u64::from(self.there_us) + if counts_back { u64::from(self.back_us) } else { 0 };
        u32::try_from(u64::from(self.bytes_per_s).saturating_mul(delay_us) / 1_000_000).unwrap_or(u32::MAX)
    }
}

/// A packet that is in this node: the measurement it came with, and that of its first attempt here.
#[derive(Debug, Clone, Copy)]
struct Held {
    serial: u64,
    path: Path,
    first: Option<(u32, u32)>,
    /// The measurement of its last attempt with options, of data.
    last: Option<LinkSample>,
}

/// The times of a frame to a neighbour.
#[derive(Debug, Clone, Copy)]
struct Timed {
    mode: Mode,
    /// T_tr behind the data frame: SIFS, the MAC ACK, DIFS. Eq. 4.3, 4.5
    after_data: Dur,
}

/// A flow of data that ends here: what came with its packets and is not echoed yet.
#[derive(Debug, Default)]
struct Echo {
    arrived: VecDeque<(Seq, Path)>,
    echoed: Option<Path>,
}

/// A flow of data that starts here.
#[derive(Debug, Default)]
struct Steered {
    scale: Scale,
    /// The segment size that the receiver's SYN asks for; 0 before.
    mss: u32,
    shown: Shown,
    /// The measurement of the last ACK that carried one.
    path: Option<Path>,
    heard: SimTime,
    /// Its FIN has been seen.
    has_ended: bool,
}

#[derive(Debug, Default)]
struct Counted {
    samples: u64,
    bandwidth_bytes_per_s: u64,
    delay_us: u64,
    there_us: u64,
    squared_us2: u64,
    windows_lowered: u64,
}

#[derive(Debug)]
struct C3Tcp {
    link: Timed,
    /// Neighbours with rates of their own.
    link_to: BTreeMap<NodeId, Timed>,
    takes_queue: bool,
    stamps_first: bool,
    /// The delay of the ACK is part of the window's.
    counts_back: bool,
    shares: bool,
    /// By rising serial.
    held: VecDeque<Held>,
    echoes: BTreeMap<FlowId, Echo>,
    paths: BTreeMap<FlowId, Steered>,
    counted: Counted,
}

impl C3Tcp {
    fn hold(&mut self, serial: u64, path: Path) {
        let at = self.held.partition_point(|held| held.serial < serial);
        let own = Held { serial, path, first: None, last: None };
        match self.held.get_mut(at) {
            Some(held) if held.serial == serial => *held = own,
            _ => self.held.insert(at, own),
        }
        if self.held.len() > MOST_HELD {
            self.held.pop_front();
        }
    }

    fn held(&mut self, serial: u64) -> Option<&mut Held> {
        let at = self.held.binary_search_by_key(&serial, |held| held.serial).ok()?;
        self.held.get_mut(at)
    }

    fn forget(&mut self, serial: u64) -> Option<Held> {
        let at = self.held.binary_search_by_key(&serial, |held| held.serial).ok()?;
        self.held.remove(at)
    }

    /// The measurement of the last data packet that this ACK acknowledges.
    fn echo(&mut self, packet: &Packet) -> Option<Path> {
        let (ack, echo) = (packet.pure_ack()?, self.echoes.get_mut(&packet.flow.reverse())?);
        while let Some((_, path)) = echo.arrived.front().copied().filter(|(end, _)| end.le(ack.ack)) {
            echo.echoed = Some(path);
            echo.arrived.pop_front();
        }
        echo.echoed
    }

    /// Data arrived with this measurement: in order of its numbers, so that ACKs take it in order.
    fn note(&mut self, flow: FlowId, end: Seq, path: Path) {
        let arrived = &mut self.echoes.entry(flow).or_default().arrived;
        let at = arrived.iter().rposition(|(other, _)| other.le(end)).map_or(0, |at| at + 1);
        arrived.insert(at, (end, path));
        if arrived.len() > MOST_WAITING {
            arrived.pop_front();
        }
    }

    /// Returns the window to show in an ACK for a flow that starts here, which has come with `path` or without.
    fn show(&mut self, now: SimTime, packet: &Packet, path: Option<Path>, mss: u32) -> Option<Show> {
        let flow = packet.flow.reverse();
        let sharing =
            self.paths.iter().filter(|(_, it)| it.path.is_some() && now.since(it.heard) < IS_ACTIVE).count();
        let steered = self.paths.get_mut(&flow)?;
        if let Some(path) = path {
            self.counted.samples += 1;
            self.counted.bandwidth_bytes_per_s += u64::from(path.bytes_per_s);
            let delay_us = u64::from(path.there_us) + u64::from(path.back_us);
            self.counted.delay_us += delay_us;
            self.counted.there_us += u64::from(path.there_us);
            self.counted.squared_us2 = self.counted.squared_us2.saturating_add(delay_us.saturating_mul(delay_us));
            (steered.path, steered.heard) = (Some(path), now);
        }
        let most = steered.path?.fits(self.counts_back) / if self.shares { sharing.max(1) as u32 } else { 1 };
        Some(steered.shown.show(packet, most, mss, &steered.scale))
    }

    /// Learns the scale from a SYN; true for one.
    fn saw_syn(&mut self, packet: &Packet) -> bool {
        let Some(syn) = packet.tcp().filter(|tcp| tcp.flags.has(Flags::SYN)) else { return false };
        for flow in [packet.flow, packet.flow.reverse()] {
            let Steered { scale, has_ended, mss, .. } = self.paths.entry(flow).or_default();
            *has_ended = false;
            if flow == packet.flow {
                scale.saw_senders_syn(syn);
            } else {
                scale.saw_receivers_syn(syn);
                *mss = u32::from(syn.options.mss().unwrap_or(DEFAULT_MSS));
            }
        }
        true
    }

    /// A connection that was reset, or closed by both sides, is over: nothing of it is kept.
    fn saw_end(&mut self, packet: &Packet) {
        let Some(tcp) = packet.tcp() else { return };
        let both = [packet.flow, packet.flow.reverse()];
        if tcp.flags.has(Flags::FIN)
            && let Some(steered) = self.paths.get_mut(&packet.flow)
        {
            steered.has_ended = true;
        }
        let have_ended = both.iter().all(|flow| self.paths.get(flow).is_some_and(|steered| steered.has_ended));
        if tcp.flags.has(Flags::RST) || have_ended {
            for flow in both {
                self.paths.remove(&flow);
                self.echoes.remove(&flow);
            }
        }
    }
}

impl Agent for C3Tcp {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let (packet, serial, now) = (cx.get(&pkt), cx.serial(&pkt), cx.now);
        if packet.tcp().is_none() || self.saw_syn(packet) {
            return Some(pkt);
        }
        self.saw_end(packet);
        if at == Place::FromHost {
            let own = if packet.tcp_data().is_some() {
                self.paths.entry(packet.flow).or_default();
                Some(Path::START)
            } else {
                self.echo(packet)
            };
            if let Some(path) = own {
                self.hold(serial, path);
            }
            return Some(pkt);
        }
        let path = self.forget(serial).map(|held| held.path);
        if let (Some(_), Some(range)) = (packet.tcp_data(), packet.tcp_range()) {
            if let Some(path) = path {
                self.note(packet.flow, range.end, path);
            }
            return Some(pkt);
        }
        if packet.pure_ack().is_none() {
            return Some(pkt);
        }
        // A sender outside tells nothing: what its peer asked for is its segment at most.
        let asked = self.paths.get(&packet.flow.reverse()).map_or(0, |steered| steered.mss);
        let mss = cx.facts(packet.flow).map_or(asked, |facts| facts.mss.0 as u32);
        let packet = cx.get(&pkt);
        match self.show(now, packet, path, mss) {
            Some(Show::Window(field) | Show::Again(field)) => {
                if let Some(tcp) = cx.get_mut(&pkt).tcp_mut() {
                    self.counted.windows_lowered += u64::from(field < tcp.window);
                    tcp.window = field;
                }
            }
            Some(Show::Nothing) => {
                cx.drop(pkt, DropWhy::Suppressed);
                return None;
            }
            None => {}
        }
        Some(pkt)
    }

    fn report(&mut self, _: &Packet, report: &TxReport, cx: &mut Cx) {
        let sample = self.forget(report.serial).and_then(|held| held.last);
        if let (Some(sample), Fate::Delivered) = (sample, report.fate) {
            cx.measured(report.to, sample);
        }
    }

    fn mac_room(&self, packet: &Packet, _: units::NodeId) -> u8 {
        if packet.tcp().is_some_and(|tcp| !tcp.flags.has(Flags::SYN)) { MacOptions::OVERHEAD + LEN } else { 0 }
    }

    /// At T_out: B = D / T and the delay with T = T_out - T_in + T_tr. Eq. 4.1, 4.2
    fn write_options(&mut self, packet: &Packet, attempt: &TxReport, options: &mut MacOptions, _: &mut Cx) {
        let link = self.link_to.get(&attempt.to).unwrap_or(&self.link);
        let t_tr = phy::airtime(link.mode, AROUND + packet.ip_len()) + link.after_data;
        let us_since = |t_in: SimTime| u32::try_from((attempt.done - t_in + t_tr).as_us_ceil()).unwrap_or(u32::MAX);
        let measured = (us_since(attempt.enqueued), us_since(attempt.head));
        let (takes_queue, stamps_first) = (self.takes_queue, self.stamps_first);
        let Some(held) = self.held(attempt.serial) else { return };
        let first = *held.first.get_or_insert(measured);
        let (queued_us, head_us) = if stamps_first { first } else { measured };
        let mut path = held.path;
        if packet.payload.len > 0 {
            let taken_us = if takes_queue { queued_us } else { head_us };
            let bytes_per_s = packet.ip_len().0 * 1_000_000 / u64::from(taken_us.max(1));
            held.last = Some(LinkSample { delay: Dur::from_us(u64::from(head_us)), bytes_per_s });
            path.bytes_per_s = path.bytes_per_s.min(u32::try_from(bytes_per_s).unwrap_or(u32::MAX)); // eq. 4.6
            path.there_us = path.there_us.saturating_add(head_us); // eq. 4.7
        } else {
            path.back_us = path.back_us.saturating_add(queued_us);
        }
        path.write(options);
    }

    fn read_options(&mut self, _: &Packet, serial: u64, options: &MacOptions, _: &mut Cx) {
        if let Some(path) = Path::read(options) {
            self.hold(serial, path);
        }
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        for way in [flow, flow.reverse()] {
            self.echoes.remove(&way);
            self.paths.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let Counted { samples, bandwidth_bytes_per_s, delay_us, there_us, squared_us2, windows_lowered } =
            self.counted;
        out("samples", samples);
        out("bandwidth_sum_bytes_per_s", bandwidth_bytes_per_s);
        out("delay_sum_us", delay_us);
        out("delay_there_sum_us", there_us);
        out("delay_square_sum_us2", squared_us2);
        out("windows_lowered", windows_lowered);
    }
}
