//! C³TCP: every hop measures its bandwidth and delay, frames carry the path's, the sender's window is what fits in it.
//!
//! - **Source** @KLI06 section 4.4: equations 4.1 to 4.7.
//! - **Realism** no oracle; 14 bytes of MAC options per TCP frame; a neighbour that does not announce C³TCP gets none.
//! - **Departs** (a) the data rate is a parameter, since a site does not tell its own; (b) echo on pure ACKs only, not on
//!   data that acknowledges; (c) never below one MSS; duplicate ACKs repeat the window written last, or TCP would not
//!   count them.
//! - **Checked** tests below.

use mac::{MacOptions, TxReport};
use schemes::window::Scale;
use schemes::{Agent, Cx, Field, Info, Kind, Param, Params, PeerEvent, Place, Refusal, Site, Value};
use std::collections::{BTreeMap, BTreeSet};
use units::{BitRate, Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Flags, Packet, Pkt, Seq, Tcp};

pub static INFO: Info = Info {
    id: "c3tcp",
    summary: "window = bandwidth times delay, measured hop by hop in the MAC",
    source: "KLI06 section 4.4",
    params: &[
        Param {
            key: "data_rate_kbps",
            kind: Kind::Int { min: 1_000, max: 11_000 },
            default: Value::Int(11_000),
            doc: "Rate of data frames, and of ACKs in eq. 4.5; the radio's.",
        },
        Param {
            key: "plcp",
            kind: Kind::Time { min: Dur::ZERO, max: Dur::from_ms(1) },
            default: Value::Time(Dur::from_us(192)),
            doc: "PLCP preamble and header at the basic rate.",
        },
    ],
};

pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let (plcp, timing) = (params.time("plcp"), site.mac().timing);
    let rate = BitRate::from_kbps(params.int("data_rate_kbps") as u64);
    let front = plcp * 2 + timing.sifs + timing.difs() + ACK_FRAME / rate;
    site.reads_tcp();
    site.announce(0);
    let seat = site.agent(C3Tcp { front, rate, ..C3Tcp::default() }).listen([Place::FromHost, Place::ToHost]);
    seat.reports().facts().reads_options().writes_options().rewrites(Field::Window);
    Ok(())
}

/// MAC header and FCS, as figure 4.4 has them.
const MAC_FRAME: Bytes = Bytes(34);
const ACK_FRAME: Bytes = Bytes(14);

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

    fn read(options: &MacOptions) -> Option<Path> {
        let ([bandwidth, there, back], []) = options.get(KIND)?.as_chunks() else { return None };
        let [bytes_per_s, there_us, back_us] = [bandwidth, there, back].map(|word| u32::from_be_bytes(*word));
        Some(Path { bytes_per_s, there_us, back_us })
    }

    fn write(self, options: &mut MacOptions) {
        let words = [self.bytes_per_s, self.there_us, self.back_us].map(u32::to_be_bytes);
        options.set(KIND, words.as_flattened());
    }

    /// Bytes that fit into it: B D.
    fn fits(self) -> u32 {
        let bytes = u64::from(self.bytes_per_s) * (u64::from(self.there_us) + u64::from(self.back_us)) / 1_000_000;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// A flow of data that ends here: what came with its packets and is not echoed yet.
#[derive(Debug, Default)]
struct Echo {
    arrived: Vec<(Seq, Path)>,
    echoed: Option<Path>,
}

/// ACKs for a flow that starts here: number, window as received, window as written.
type Last = (Seq, u16, u16);

#[derive(Debug, Default)]
struct C3Tcp {
    /// T_tr without the data frame's body and header: both PLCP, the ACK, SIFS, DIFS. Eq. 4.3, 4.5
    front: Dur,
    rate: BitRate,
    able: BTreeSet<NodeId>,
    /// What the packets now in this node came with, by serial.
    carried: BTreeMap<u64, Path>,
    echoes: BTreeMap<FlowId, Echo>,
    scales: BTreeMap<FlowId, Scale>,
    last: BTreeMap<FlowId, Last>,
}

impl C3Tcp {
    /// What came with the last data packet that this ACK acknowledges.
    fn echo(&mut self, packet: &Packet) -> Option<Path> {
        let (ack, echo) = (packet.pure_ack()?, self.echoes.get_mut(&packet.flow.reverse())?);
        let acked = echo.arrived.extract_if(.., |(end, _)| end.le(ack.ack)).last();
        echo.echoed = acked.map(|(_, path)| path).or(echo.echoed);
        echo.echoed
    }

    /// The window field to write into an ACK that came with `path`.
    fn window(&mut self, packet: &Packet, path: Option<Path>, mss: u32) -> Option<u16> {
        let tcp = *packet.tcp()?;
        let last = self.last.get(&packet.flow);
        let repeated = last
            .filter(|(ack, received, _)| packet.pure_ack().is_some() && (*ack, *received) == (tcp.ack, tcp.window));
        let written = match (repeated, path) {
            (Some((.., written)), _) => *written,
            (None, Some(path)) => {
                let scale = self.scales.entry(packet.flow.reverse()).or_default();
                let window = scale.field(path.fits().max(mss));
                let is_short = scale.bytes(&Tcp { window, ..tcp }) < mss; // rounded down below it
                window.saturating_add(u16::from(is_short)).min(tcp.window)
            }
            (None, None) => tcp.window,
        };
        self.last.insert(packet.flow, (tcp.ack, tcp.window, written));
        (written != tcp.window).then_some(written)
    }

    /// SYNs tell the scale; true for them.
    fn saw_syn(&mut self, packet: &Packet) -> bool {
        let Some(syn) = packet.tcp().filter(|tcp| tcp.flags.has(Flags::SYN)) else { return false };
        self.scales.entry(packet.flow).or_default().saw_senders_syn(syn);
        self.scales.entry(packet.flow.reverse()).or_default().saw_receivers_syn(syn);
        true
    }
}

impl Agent for C3Tcp {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let (packet, serial) = (cx.get(&pkt), cx.serial(&pkt));
        if packet.tcp().is_none() || self.saw_syn(packet) {
            return Some(pkt);
        }
        if at == Place::FromHost {
            let own = if packet.tcp_data().is_some() { Some(Path::START) } else { self.echo(packet) };
            own.map(|path| self.carried.insert(serial, path));
            return Some(pkt);
        }
        let path = self.carried.remove(&serial);
        if let (Some(path), Some(_), Some(range)) = (path, packet.tcp_data(), packet.tcp_range()) {
            self.echoes.entry(packet.flow).or_default().arrived.push((range.end, path));
            return Some(pkt);
        }
        let mss = cx.facts(packet.flow).map_or(0, |facts| facts.mss.0 as u32);
        if let (Some(field), Some(tcp)) = (self.window(packet, path, mss), cx.get_mut(&pkt).tcp_mut()) {
            tcp.window = field;
        }
        Some(pkt)
    }

    fn report(&mut self, _: &Packet, report: &TxReport, _: &mut Cx) {
        self.carried.remove(&report.serial);
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        match event.announced(INFO.id) {
            Some(_) => _ = self.able.insert(node),
            None => _ = self.able.remove(&node),
        }
    }

    fn mac_room(&self, packet: &Packet, to: NodeId) -> u8 {
        if packet.tcp().is_some() && self.able.contains(&to) { MacOptions::OVERHEAD + LEN } else { 0 }
    }

    /// At T_out: B = D / T and the delay with T = T_out - T_in + T_tr. Eq. 4.1, 4.2
    fn write_options(&mut self, packet: &Packet, attempt: &TxReport, options: &mut MacOptions, _: &mut Cx) {
        let carried = self.carried.get(&attempt.serial).filter(|_| self.able.contains(&attempt.to));
        let Some(mut path) = carried.copied() else { return };
        let t_tr = self.front + (MAC_FRAME + packet.ip_len()) / self.rate; // eq. 4.3, 4.4
        let us_since = |t_in: SimTime| u32::try_from((attempt.done - t_in + t_tr).as_us_ceil()).unwrap_or(u32::MAX);
        let queued_us = us_since(attempt.enqueued);
        if packet.payload.len > 0 {
            let bytes_per_s = packet.ip_len().0 * 1_000_000 / u64::from(queued_us);
            path.bytes_per_s = path.bytes_per_s.min(u32::try_from(bytes_per_s).unwrap_or(u32::MAX)); // eq. 4.6
            path.there_us = path.there_us.saturating_add(us_since(attempt.head)); // eq. 4.7
        } else {
            path.back_us = path.back_us.saturating_add(queued_us);
        }
        path.write(options);
    }

    fn read_options(&mut self, _: &Packet, serial: u64, options: &MacOptions, _: &mut Cx) {
        Path::read(options).map(|path| self.carried.insert(serial, path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mac::Fate;
    use schemes::Capability;
    use schemes::testing::{Bench, OUT, ack, bench_of, data, segment, with};

    const BACK: FlowId = OUT.reverse();
    const SENDER: NodeId = NodeId(10);
    const RELAY: NodeId = NodeId(11);
    const RECEIVER: NodeId = NodeId(12);
    const CAN: &[Capability] = &[Capability { scheme: "c3tcp", detail: 0 }];
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

    /// Sender, relay, receiver at 2 Mb/s, each with C³TCP and introduced to its neighbours. There T_tr of 1500 B is
    /// 2 x 192 + 8 x 1534 / 2 + 8 x 14 / 2 + 10 + 50 = 6636 us, and of 40 B 796 us.
    fn chain() -> [Hop; 3] {
        let c3tcp = with(&INFO, install, &[("data_rate_kbps", Value::Int(2_000))]);
        let node = |neighbours: &[NodeId]| {
            let mut bench = bench_of(&c3tcp, crate::five::station()).unwrap();
            neighbours.iter().for_each(|peer| bench.peer(*peer, PeerEvent::Up(CAN)));
            Hop { bench, shown: 0 }
        };
        [node(&[RELAY]), node(&[SENDER, RECEIVER]), node(&[RELAY])]
    }

    /// Data goes down the chain, its ACK comes back: the ACK as the sender's TCP sees it.
    fn round_trip([s, r, d]: &mut [Hop; 3], data: &Packet, ack: &Packet) -> Packet {
        let first = s.send(data, (3_000, 364)); // 1500 B in 10 ms, 7 ms without the queue
        assert_eq!(Path::read(&first), Some(Path { bytes_per_s: 150_000, there_us: 7_000, back_us: 0 }));
        let second = r.forward(data, RECEIVER, &first, (5_000, 3_364)); // in 15 ms, 10 ms without
        assert_eq!(Path::read(&second), Some(Path { bytes_per_s: 100_000, there_us: 17_000, back_us: 0 }));
        d.receive(data, &second);
        let third = d.send(ack, (100, 104)); // 1 ms with the queue
        let fourth = r.forward(ack, SENDER, &third, (1_000, 204)); // 2 ms with the queue
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
    }

    #[test]
    fn every_attempt_and_every_repetition_by_tcp_carries_its_own_measurement() {
        let [mut sender, ..] = chain();
        let packet = data(OUT, 1..1461);
        let of = |options| Path::read(&options).map(|path| (path.bytes_per_s, path.there_us));
        assert_eq!(of(sender.send(&packet, (3_000, 364))), Some((150_000, 7_000)));
        let again = attempt(1, RELAY, 3_000, 5_364); // the MAC's retry, 5 ms later: 15 ms, 12 without the queue
        assert_eq!(of(sender.bench.options_out(&packet, &again)), Some((100_000, 12_000)));
        assert_eq!(of(sender.send(&packet, (0, 864))), Some((200_000, 7_500))); // TCP's
        sender.bench.report_with(&packet, &TxReport { fate: Fate::GivenUp, ..again });
        assert_eq!(of(sender.bench.options_out(&packet, &again)), None, "nothing is kept of what has left");
        assert!(of(sender.bench.options_out(&packet, &attempt(2, RELAY, 0, 864))).is_some());
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
    fn a_neighbour_without_it_gets_plain_frames() {
        let [mut sender, ..] = chain();
        let packet = data(OUT, 1..1461);
        let room = |sender: &mut Hop| sender.bench.agent_mut().mac_room(&packet, RELAY);
        assert_eq!(room(&mut sender), 14);
        sender.bench.peer(RELAY, PeerEvent::Up(&[]));
        assert_eq!(room(&mut sender), 0);
        assert!(sender.send(&packet, (3_000, 364)).bytes().is_empty());
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
