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
//!   (e) The rate in T_tr is the radio's set rate, whatever a rate control chooses.
//!   (f) Of a packet that came over a hop without options only the hops behind it are measured.
//!   (g) Section 4.4.5 says that flows of one node share what was measured, not how: by equal parts (`flows = "shared"`).
//! - **Checked** tests below; `world/tests/all/c3tcp.rs`.

use crate::window::{Scale, Show, Shown};
use crate::{Agent, Cx, Field, Info, Kind, Param, Params, Place, Refusal, Site, Value, What};
use mac::{MacOptions, TxReport};
use phy::Mode;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Dur, FlowId, SimTime};
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
            key: "bandwidth",
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
            key: "flows",
            kind: Kind::Choice(&["each", "shared"]),
            default: Value::Choice("each"),
            doc: "a flow takes all of what was measured, or an equal part of it beside the node's other flows (section 4.4.5)",
        },
        Param {
            key: "probe_every",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1_000_000) },
            default: Value::Time(Dur::from_secs(10)),
            doc: "how often a neighbour that answers no frames with options is tried again (section 4.4.3)",
        },
    ],
};

/// See [`crate::Install`].
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let mac = site.mac();
    let mode = mac.data_rate;
    let control = mac.control_modes.response_to(mode);
    let ack = if params.choice("ack_rate") == "control" {
        phy::airtime(control, ACK_FRAME)
    } else {
        phy::airtime(control, Bytes::ZERO) + ACK_FRAME / mode.bit_rate()
    };
    let difs = if params.bool("difs") { mac.timing.difs() } else { Dur::ZERO };
    let after_data = mac.timing.sifs + ack + difs;
    site.radio().mac.options_probe_every = params.time("probe_every");
    site.reads_tcp();
    // Whoever keeps receivers' ACKs off the air leaves nothing to echo on.
    site.exclusive(What::ACKS);
    let c3tcp = C3Tcp {
        mode,
        after_data,
        takes_queue: params.choice("bandwidth") == "queued",
        stamps_first: params.choice("t_out") == "first",
        shares: params.choice("flows") == "shared",
        held: VecDeque::new(),
        echoes: BTreeMap::new(),
        paths: BTreeMap::new(),
        counted: Counted::default(),
    };
    let seat = site.agent(c3tcp).listen([Place::FromHost, Place::ToHost]);
    seat.reports().facts().reads_options().writes_options().rewrites(Field::Window).makes_packets();
    Ok(())
}

/// A whole Ack frame. @80211-2020 9.3.1.4
const ACK_FRAME: Bytes = Bytes(14);
/// What a data frame with options has beside the IP packet: header, QoS Control, Header Length, the option, LLC and SNAP, FCS.
const AROUND: Bytes = Bytes(24 + 2 + 1 + 14 + 8 + 4);
/// Another flow of the node counts among those that share as long as this.
const IS_ACTIVE: Dur = Dur::from_secs(1);
/// Packets remembered at once: beyond it what was noted first is forgotten.
const MOST_HELD: usize = 4096;
/// Data packets whose measurements wait for an ACK, of each flow.
const MOST_WAITING: usize = 1024;

/// What a path has shown: least bandwidth, sum of delays. On ACKs the delay back is added on the way.
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

    /// `None` of anything but three words: an option that is not ours, or cut short.
    fn read(options: &MacOptions) -> Option<Path> {
        let ([bandwidth, there, back], []) = options.get(KIND)?.as_chunks() else { return None };
        let [bytes_per_s, there_us, back_us] = [bandwidth, there, back].map(|word| u32::from_be_bytes(*word));
        Some(Path { bytes_per_s, there_us, back_us })
    }

    fn write(self, options: &mut MacOptions) {
        let words = [self.bytes_per_s, self.there_us, self.back_us].map(u32::to_be_bytes);
        options.set(KIND, words.as_flattened());
    }

    /// Bytes that fit into it: B (D_f + D_b).
    fn fits(self) -> u32 {
        let delay_us = u64::from(self.there_us) + u64::from(self.back_us);
        u32::try_from(u64::from(self.bytes_per_s) * delay_us / 1_000_000).unwrap_or(u32::MAX)
    }
}

/// What is known of a packet that is in this node: what it came with, and what its first attempt measured here.
#[derive(Debug, Clone, Copy)]
struct Held {
    serial: u64,
    path: Path,
    first: Option<(u32, u32)>,
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
    shown: Shown,
    /// What the last ACK with a measurement came with.
    path: Option<Path>,
    heard: SimTime,
}

#[derive(Debug, Default)]
struct Counted {
    samples: u64,
    bandwidth_bytes_per_s: u64,
    forward_delay_us: u64,
    backward_delay_us: u64,
    windows_lowered: u64,
}

#[derive(Debug)]
struct C3Tcp {
    mode: Mode,
    /// T_tr behind the data frame: SIFS, the MAC ACK, DIFS. Eq. 4.3, 4.5
    after_data: Dur,
    takes_queue: bool,
    stamps_first: bool,
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
        let own = Held { serial, path, first: None };
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

    fn forget(&mut self, serial: u64) -> Option<Path> {
        let at = self.held.binary_search_by_key(&serial, |held| held.serial).ok()?;
        self.held.remove(at).map(|held| held.path)
    }

    /// What came with the last data packet that this ACK acknowledges.
    fn echo(&mut self, packet: &Packet) -> Option<Path> {
        let (ack, echo) = (packet.pure_ack()?, self.echoes.get_mut(&packet.flow.reverse())?);
        while let Some((end, path)) = echo.arrived.front().copied().filter(|(end, _)| end.le(ack.ack)) {
            echo.echoed = Some(path);
            echo.arrived.pop_front();
            debug_assert!(end.le(ack.ack));
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

    /// An ACK for a flow that starts here has come with `path` or without: the window to show.
    fn show(&mut self, now: SimTime, packet: &Packet, path: Option<Path>, mss: u32) -> Option<Show> {
        let flow = packet.flow.reverse();
        let sharing = self.paths.iter().filter(|(_, it)| it.path.is_some() && now.since(it.heard) < IS_ACTIVE).count();
        let steered = self.paths.entry(flow).or_default();
        if let Some(path) = path {
            self.counted.samples += 1;
            self.counted.bandwidth_bytes_per_s += u64::from(path.bytes_per_s);
            self.counted.forward_delay_us += u64::from(path.there_us);
            self.counted.backward_delay_us += u64::from(path.back_us);
            (steered.path, steered.heard) = (Some(path), now);
        }
        let most = steered.path?.fits() / if self.shares { sharing.max(1) as u32 } else { 1 };
        Some(steered.shown.show(packet, most, mss, &steered.scale))
    }

    /// SYNs tell the scale; true for them.
    fn saw_syn(&mut self, packet: &Packet) -> bool {
        let Some(syn) = packet.tcp().filter(|tcp| tcp.flags.has(Flags::SYN)) else { return false };
        self.paths.entry(packet.flow).or_default().scale.saw_senders_syn(syn);
        self.paths.entry(packet.flow.reverse()).or_default().scale.saw_receivers_syn(syn);
        true
    }

    /// A connection is over: nothing of it is kept.
    fn saw_end(&mut self, packet: &Packet) {
        if packet.tcp().is_some_and(|tcp| tcp.flags.has(Flags::RST)) {
            for flow in [packet.flow, packet.flow.reverse()] {
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
            let own = if packet.tcp_data().is_some() { Some(Path::START) } else { self.echo(packet) };
            if let Some(path) = own {
                self.hold(serial, path);
            }
            return Some(pkt);
        }
        let path = self.forget(serial);
        if let (Some(_), Some(range)) = (packet.tcp_data(), packet.tcp_range()) {
            if let Some(path) = path {
                self.note(packet.flow, range.end, path);
            }
            return Some(pkt);
        }
        if packet.pure_ack().is_none() {
            return Some(pkt);
        }
        let mss = cx.facts(packet.flow).map_or(0, |facts| facts.mss.0 as u32);
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

    fn report(&mut self, _: &Packet, report: &TxReport, _: &mut Cx) {
        self.forget(report.serial);
    }

    fn mac_room(&self, packet: &Packet, _: units::NodeId) -> u8 {
        if packet.tcp().is_some_and(|tcp| !tcp.flags.has(Flags::SYN)) { MacOptions::OVERHEAD + LEN } else { 0 }
    }

    /// At T_out: B = D / T and the delay with T = T_out - T_in + T_tr. Eq. 4.1, 4.2
    fn write_options(&mut self, packet: &Packet, attempt: &TxReport, options: &mut MacOptions, _: &mut Cx) {
        let t_tr = phy::airtime(self.mode, AROUND + packet.ip_len()) + self.after_data;
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

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let Counted { samples, bandwidth_bytes_per_s, forward_delay_us, backward_delay_us, windows_lowered } = self.counted;
        out("samples", samples);
        out("bandwidth_sum_bytes_per_s", bandwidth_bytes_per_s);
        out("forward_delay_sum_us", forward_delay_us);
        out("backward_delay_sum_us", backward_delay_us);
        out("windows_lowered", windows_lowered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chosen;
    use crate::testing::{Bench, Ground, OUT, ack, data, dcf, node, segment, with};
    use crate::{Install, NodeFacts};
    use mac::Fate;
    use proptest::prelude::*;
    use units::NodeId;

    const BACK: FlowId = OUT.reverse();
    const SENDER: NodeId = NodeId(10);
    const RELAY: NodeId = NodeId(11);
    const RECEIVER: NodeId = NodeId(12);
    /// What a relay's arena calls the packet it forwards.
    const FORWARDED: u64 = 77;

    /// A node, and how many packets its bench has been shown: a packet's serial is its number among them.
    struct Hop {
        bench: Bench,
        shown: u64,
    }

    impl Hop {
        fn pass(&mut self, at: Place, packet: &Packet) -> Packet {
            self.shown += 1;
            self.bench.pass(at, packet.clone()).unwrap()
        }

        /// Comes from its transport and goes out after so long in the queue and in contention.
        fn send(&mut self, packet: &Packet, (queued_us, access_us): (u64, u64)) -> MacOptions {
            let passed = self.pass(Place::FromHost, packet);
            self.bench.options_out(&passed, &attempt(self.shown, RELAY, queued_us, access_us))
        }

        fn receive(&mut self, packet: &Packet, options: &MacOptions) -> Packet {
            self.bench.options_in(packet, self.shown + 1, options);
            self.pass(Place::ToHost, packet)
        }

        fn forward(&mut self, packet: &Packet, to: NodeId, options: &MacOptions, waits: (u64, u64)) -> MacOptions {
            self.bench.options_in(packet, FORWARDED, options);
            self.bench.options_out(packet, &attempt(FORWARDED, to, waits.0, waits.1))
        }
    }

    /// A data frame goes out: its packet was queued at zero.
    fn attempt(serial: u64, to: NodeId, queued_us: u64, access_us: u64) -> TxReport {
        let head = SimTime::ZERO + Dur::from_us(queued_us);
        let done = head + Dur::from_us(access_us);
        let (fate, airtime) = (Fate::Attempt, Dur::ZERO);
        TxReport {
            fate,
            serial,
            to,
            category: 0,
            attempts: 1,
            enqueued: SimTime::ZERO,
            head,
            first: done,
            done,
            airtime,
        }
    }

    fn c3tcp(set: &[(&str, Value)]) -> Chosen<Install> {
        with(&INFO, install, set)
    }

    fn bench(set: &[(&str, Value)]) -> Bench {
        let station = NodeFacts { standard: phy::Standard::Dsss, ..node(SENDER, 13) };
        let mut ground = Ground::new(station).with_mac(dcf(phy::Standard::Dsss));
        assert!(ground.install(&c3tcp(set)).unwrap());
        Bench::new(ground.stack)
    }

    /// Sender, relay, receiver at 2 Mb/s with control frames at 2 Mb/s. There T_tr of 1500 B is 192 + 8 * 1553 / 2 + 10 + 192 + 8 * 14 / 2 +
    /// 50 = 6712 us, and of 40 B 872 us.
    fn chain_with(set: &[(&str, Value)]) -> [Hop; 3] {
        [(), (), ()].map(|()| Hop { bench: bench(set), shown: 0 })
    }

    fn chain() -> [Hop; 3] {
        chain_with(&[])
    }

    /// Data goes down the chain, its ACK comes back: the ACK as the sender's TCP sees it.
    fn round_trip([s, r, d]: &mut [Hop; 3], data: &Packet, ack: &Packet) -> Packet {
        let first = s.send(data, (3_000, 288)); // 1500 B in 10 ms, 7 ms without the queue
        assert_eq!(Path::read(&first), Some(Path { bytes_per_s: 150_000, there_us: 7_000, back_us: 0 }));
        let second = r.forward(data, RECEIVER, &first, (5_000, 3_288)); // in 15 ms, 10 ms without
        assert_eq!(Path::read(&second), Some(Path { bytes_per_s: 100_000, there_us: 17_000, back_us: 0 }));
        d.receive(data, &second);
        let third = d.send(ack, (100, 28)); // 1 ms with the queue
        let fourth = r.forward(ack, SENDER, &third, (1_000, 128)); // 2 ms with the queue
        assert_eq!(Path::read(&fourth), Some(Path { bytes_per_s: 100_000, there_us: 17_000, back_us: 3_000 }));
        assert_eq!(fourth.bytes().len(), 14);
        s.receive(ack, &fourth)
    }

    fn window(packet: &Packet) -> u16 {
        packet.tcp().unwrap().window
    }

    #[test]
    fn the_window_is_the_least_bandwidth_times_the_sum_of_delays() {
        // min(150, 100) kB/s x (7 + 10 + 1 + 2) ms = 2000 B, at the very first packet
        let mut chain = chain();
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
        assert_eq!(window(&seen), 2_000);
        // A duplicate keeps the window it repeats, though it came with none: else it would be none.
        let duplicate = chain[0].pass(Place::ToHost, &ack(BACK, 1461, 65_535));
        assert_eq!(window(&duplicate), 2_000);
        let counted = |name| chain[0].bench.counter(name);
        let sums = ["samples", "bandwidth_sum_bytes_per_s", "forward_delay_sum_us", "backward_delay_sum_us"];
        assert_eq!(sums.map(counted), [1, 100_000, 17_000, 3_000]);
    }

    #[test]
    fn the_slips_of_the_print_are_parameters() {
        // T_tr without DIFS: 6662; from the head of the queue: the 3 ms before it do not count.
        let packet = data(OUT, 1..1461);
        let of = |set: &[(&str, Value)], attempts: &[(u64, u64)]| {
            let mut sender = Hop { bench: bench(set), shown: 0 };
            let sent = sender.pass(Place::FromHost, &packet);
            let mut last = None;
            for (queued, access) in attempts {
                last = Path::read(&sender.bench.options_out(&sent, &attempt(1, RELAY, *queued, *access)));
            }
            last.map(|path| (path.bytes_per_s, path.there_us)).unwrap()
        };
        assert_eq!(of(&[("difs", Value::Bool(false))], &[(3_000, 338)]), (150_000, 7_000));
        assert_eq!(of(&[("bandwidth", Value::Choice("head"))], &[(5_000, 788)]), (200_000, 7_500));
        let twice = [(3_000, 288), (3_000, 5_288)];
        assert_eq!(of(&[], &twice), (100_000, 12_000));
        assert_eq!(of(&[("t_out", Value::Choice("first"))], &twice), (150_000, 7_000));
        // Control frames at 1 Mb/s beside data at 2: 8 * 14 = 112 us instead of 56.
        let mut ground = Ground::new(NodeFacts { standard: phy::Standard::Dsss, ..node(SENDER, 13) });
        let mut mac = dcf(phy::Standard::Dsss);
        mac.control_modes = mac::ControlModes::of(&[mac.lowest_rate]);
        ground = ground.with_mac(mac);
        ground.install(&c3tcp(&[("ack_rate", Value::Choice("control"))])).unwrap();
        let mut sender = Hop { bench: Bench::new(ground.stack), shown: 0 };
        let path = Path::read(&sender.send(&packet, (3_000, 232))).unwrap();
        assert_eq!((path.bytes_per_s, path.there_us), (150_000, 7_000));
    }

    #[test]
    fn every_attempt_and_every_repetition_by_tcp_carries_its_own_measurement() {
        let [mut sender, ..] = chain();
        let packet = data(OUT, 1..1461);
        let of = |options| Path::read(&options).map(|path| (path.bytes_per_s, path.there_us));
        assert_eq!(of(sender.send(&packet, (3_000, 288))), Some((150_000, 7_000)));
        let again = attempt(1, RELAY, 3_000, 5_288); // the MAC's retry, 5 ms later: 15 ms, 12 without the queue
        assert_eq!(of(sender.bench.options_out(&packet, &again)), Some((100_000, 12_000)));
        assert_eq!(of(sender.send(&packet, (0, 788))), Some((200_000, 7_500))); // TCP's
        sender.bench.report_with(&packet, &TxReport { fate: Fate::GivenUp, ..again });
        assert_eq!(of(sender.bench.options_out(&packet, &again)), None, "nothing is kept of what has left");
        assert!(of(sender.bench.options_out(&packet, &attempt(2, RELAY, 0, 788))).is_some());
    }

    #[test]
    fn it_is_never_above_the_receivers_nor_below_one_segment() {
        let mut chain = chain();
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 1_900));
        assert_eq!(window(&seen), 1_900);
        let closed = round_trip(&mut chain, &data(OUT, 1461..2921), &ack(BACK, 2921, 0));
        assert_eq!(window(&closed), 0);
        chain[0].bench.set_facts(BACK, facts(Bytes(4_000)));
        let floor = round_trip(&mut chain, &data(OUT, 2921..4381), &ack(BACK, 4381, 65_535));
        assert_eq!(window(&floor), 4_000);
    }

    #[test]
    fn the_field_is_shifted_by_the_scale_of_the_receivers_syn() {
        // 2000 B in units of 4 B; not scaled; MSS 4000 B in units of 128 B, rounded up: 31.25
        for (scale, mss, field) in [(Some(2), 1460, 500), (None, 1460, 2_000), (Some(7), 4_000, 32)] {
            let mut chain = chain();
            chain[0].bench.set_facts(BACK, facts(Bytes(mss)));
            let mut syn = segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535);
            syn.tcp_mut().unwrap().options.push_window_scale(5);
            chain[0].pass(Place::FromHost, &syn);
            let mut syn_ack = segment(BACK, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 65_535);
            scale.map(|shift| syn_ack.tcp_mut().unwrap().options.push_window_scale(shift));
            assert_eq!(chain[0].pass(Place::ToHost, &syn_ack), syn_ack);
            let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
            assert_eq!(window(&seen), field);
        }
    }

    #[test]
    fn flows_of_one_node_share_if_they_are_told_to() {
        let mut chain = chain_with(&[("flows", Value::Choice("shared"))]);
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
        assert_eq!(window(&seen), 2_000, "alone");
        let other = FlowId(2);
        round_trip(&mut chain, &data(other, 1..1461), &ack(other.reverse(), 1461, 65_535));
        let seen = round_trip(&mut chain, &data(OUT, 1461..2921), &ack(BACK, 2921, 65_535));
        assert_eq!(window(&seen), 1_000, "half of 2000 B");
    }

    #[test]
    fn an_ack_echoes_the_last_data_that_it_acknowledges() {
        let [mut s, mut r, mut d] = chain();
        let mut arrive = |range: std::ops::Range<u32>, access| {
            let packet = data(OUT, range);
            let options = s.send(&packet, (0, access));
            let options = r.forward(&packet, RECEIVER, &options, (0, 0));
            d.receive(&packet, &options);
        };
        arrive(1..1461, 288); // 7 ms over the first hop
        arrive(1461..2921, 3_288); // 10 ms
        arrive(2921..4381, 8_288); // 15 ms
        let echoed = |d: &mut Hop, number| Path::read(&d.send(&ack(BACK, number, 65_535), (0, 0))).unwrap().there_us;
        assert_eq!(echoed(&mut d, 2921), 10_000 + 6_712, "not of the first, nor of what it does not acknowledge");
        assert_eq!(echoed(&mut d, 2921), 10_000 + 6_712, "a duplicate the same");
        assert_eq!(echoed(&mut d, 4381), 15_000 + 6_712);
    }

    #[test]
    fn it_is_refused_beside_whoever_makes_acks_in_a_receivers_name() {
        let mut ground = Ground::new(NodeFacts { receiver: Some("every"), ..node(SENDER, 13) });
        ground.install(&crate::testing::scheme("lle-tcp", &[])).unwrap();
        let refusal = ground.install(&c3tcp(&[])).unwrap_err();
        assert!(refusal.contains("lle-tcp"), "{refusal}");
    }

    proptest! {
        /// Options of any content: nothing panics, and the window stays between one segment and the receiver's.
        #[test]
        fn malformed_and_stale_options_are_harmless(
            entries in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..4),
            advertised in any::<u16>(),
            number in any::<u32>(),
        ) {
            let mut options = MacOptions::within(31);
            for (kind, content) in &entries {
                options.set(if kind % 2 == 0 { KIND } else { *kind }, content);
            }
            let [mut sender, mut relay, mut receiver] = chain();
            sender.bench.set_facts(BACK, facts(Bytes(1460)));
            let back = ack(BACK, number, advertised);
            let seen = sender.receive(&back, &options);
            prop_assert!(window(&seen) <= advertised);
            prop_assert!(window(&seen) >= advertised.min(1460));
            receiver.receive(&data(OUT, 1..1461), &options);
            receiver.send(&back, (1, 1));
            relay.forward(&back, SENDER, &options, (u64::from(u32::MAX) * 2, 0));
        }
    }

    /// Facts of a flow of which only the MSS matters.
    fn facts(mss: Bytes) -> tcp::FlowFacts {
        tcp::FlowFacts {
            snd_una: Seq(1),
            snd_nxt: Seq(1),
            snd_max: Seq(1),
            rcv_nxt: Seq(1),
            cwnd: mss,
            ssthresh: mss,
            flight_size: Bytes::ZERO,
            inflation: Bytes::ZERO,
            mss,
            snd_wnd: mss,
            rcv_wnd: mss,
            srtt: None,
            rttvar: Dur::ZERO,
            rto: Dur::from_secs(1),
            dup_acks: 0,
            in_recovery: false,
            frozen: false,
            unsent: Bytes::ZERO,
        }
    }
}
