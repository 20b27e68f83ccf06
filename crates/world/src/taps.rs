//! Who listens without being heard: fingerprints, captures, time series. No result bit changes with them.

use crate::flow::Flow;
use engine::Fingerprint;
use mac::{Frame, Kind, Reception, Station, TxReport};
use net::Wire;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use units::{BitRate, Bytes, Dur, LinkId, NodeId, SimTime};
use wire::dot11::{self, AckPolicy, DataHeader, DurationField, FrameFlags, MacAddr, QosControl, SequenceControl};
use wire::pcapng::{Interface, LinkType, Writer};
use wire::radiotap::{self, Radiotap, RadiotapFlags};
use wire::{Packet, Packets};

/// What a run is asked to record.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    prints: Option<[Fingerprint; 3]>,
    captures: Option<Captures>,
    series: Option<Series>,
    is_on: bool,
}

/// One of the three fingerprints.
#[derive(Clone, Copy)]
enum Layer {
    Phy,
    Mac,
    Tcp,
}

impl Taps {
    pub fn new(fingerprint: bool, captures: Option<Captures>, series: Option<Series>) -> Taps {
        let prints = fingerprint.then(Default::default);
        let is_on = fingerprint || captures.is_some() || series.is_some();
        Taps { prints, captures, series, is_on }
    }

    fn print(&mut self, layer: Layer, words: &[u64]) {
        if let Some(prints) = &mut self.prints {
            words.iter().for_each(|word| prints[layer as usize].add(*word));
        }
    }

    /// A frame has left the air, and these machines are told of it.
    pub fn frame(&mut self, now: SimTime, frame: &Frame, to: &[Reception], stations: &[Station], packets: &Packets) {
        if !self.is_on {
            return;
        }
        self.print(
            Layer::Phy,
            &[now.ns(), u64::from(frame.from.0), frame.kind as u64, frame.mpdu.0, u64::from(frame.seq)],
        );
        for reception in to {
            self.print(Layer::Phy, &[u64::from(reception.node.0), u64::from(reception.is_for_me)]);
        }
        if let Some(captures) = &mut self.captures {
            let packet = stations[frame.from.index()].current().map(|msdu| packets.get(&msdu.pkt));
            captures.frame(now, frame, to, packet.filter(|_| frame.kind == Kind::Data));
        }
    }

    /// A packet is put on a wire by `node`, or reaches `node` over it.
    pub fn wire(&mut self, now: SimTime, link: LinkId, node: NodeId, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            captures.wired(now, link, node, packet);
        }
    }

    /// The MAC has reported on an MSDU.
    pub fn mac(&mut self, now: SimTime, node: NodeId, report: &TxReport) {
        if self.is_on {
            let who = [u64::from(node.0), u64::from(report.to.0)];
            let what = [report.fate as u64, u64::from(report.attempts), report.airtime.ns()];
            self.print(Layer::Mac, &[now.ns(), who[0], who[1], what[0], what[1], what[2]]);
        }
    }

    /// A segment leaves (`arrives` false) or reaches a transport end.
    pub fn tcp(&mut self, now: SimTime, packet: &Packet, arrives: bool) {
        if let (true, Some(tcp)) = (self.is_on, packet.tcp()) {
            let numbers = u64::from(tcp.seq.0) << 32 | u64::from(tcp.ack.0);
            let flags = u64::from(tcp.flags.0);
            let window_and_flags = (flags & 0xf00) << 16 | u64::from(tcp.window) << 8 | flags & 0xff;
            let rest = u64::from(packet.payload.len) << 32 | window_and_flags;
            self.print(Layer::Tcp, &[now.ns(), u64::from(packet.flow.0) << 1 | u64::from(arrives), numbers, rest]);
        }
    }

    /// How often [`Taps::sample`] wants to be called.
    pub fn sampling(&self) -> Option<Dur> {
        self.series.as_ref().map(|series| series.every)
    }

    pub fn sample(&mut self, now: SimTime, flows: &[Flow], stations: &[Station], wires: &[Wire]) {
        if let Some(series) = &mut self.series {
            series.sample(now, flows, stations, wires);
        }
    }

    /// Closes the captures and gives the rest.
    pub fn finish(self) -> io::Result<Recorded> {
        if let Some(captures) = self.captures {
            captures.finish()?;
        }
        let fingerprint = self.prints.map(|prints| prints.map(Fingerprint::value));
        Ok(Recorded { fingerprint, series: self.series.map(|series| series.columns) })
    }
}

/// What was recorded in memory.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// Of PHY, MAC and TCP.
    pub fingerprint: Option<[u64; 3]>,
    pub series: Option<Vec<Column>>,
}

/// One time series.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// `flow.download.cwnd_bytes`, `queue.ap.air.packets`.
    pub name: String,
    /// Instants, in seconds.
    pub t_s: Vec<f64>,
    /// Values, in the unit of the name.
    pub value: Vec<f64>,
}

/// Values sampled at equal intervals.
#[derive(Debug)]
pub(crate) struct Series {
    every: Dur,
    columns: Vec<Column>,
    queues: QueueIds,
    delivered: Vec<u64>,
}

/// What results and series call the queues.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueueIds {
    /// Of the categories of each node's radio: `ap.air`, or `ap.air.vo` and so on; none without a radio.
    pub air: Vec<Vec<String>>,
    /// Of each wire, `server->ap`.
    pub wires: Vec<String>,
}

impl Series {
    pub fn new(every: Dur, queues: QueueIds) -> Series {
        Series { every, columns: Vec::new(), queues, delivered: Vec::new() }
    }

    fn sample(&mut self, now: SimTime, flows: &[Flow], stations: &[Station], wires: &[Wire]) {
        let mut at = 0;
        let (columns, t_s) = (&mut self.columns, now.as_secs_f64());
        // The first sample makes the columns, in the order every later one finds them.
        let mut put = |name: &dyn Fn() -> String, value: f64| {
            if at == columns.len() {
                columns.push(Column { name: name(), t_s: Vec::new(), value: Vec::new() });
            }
            columns[at].t_s.push(t_s);
            columns[at].value.push(value);
            at += 1;
        };
        self.delivered.resize(flows.len(), 0);
        for (flow, before) in flows.iter().zip(&mut self.delivered) {
            let payload = flow.delivered[1].payload;
            let goodput = Bytes(payload - *before) / self.every;
            *before = payload;
            put(&|| format!("flow.{}.goodput_bps", flow.name), goodput.bps() as f64);
            if let Some(sender) = flow.connection(0) {
                let ssthresh = sender.ssthresh().0;
                let ssthresh = if ssthresh == u64::MAX { f64::NAN } else { ssthresh as f64 };
                put(&|| format!("flow.{}.cwnd_bytes", flow.name), sender.cwnd().0 as f64);
                put(&|| format!("flow.{}.ssthresh_bytes", flow.name), ssthresh);
                put(&|| format!("flow.{}.flight_size_bytes", flow.name), sender.flight_size().0 as f64);
                put(&|| format!("flow.{}.rwnd_bytes", flow.name), sender.rwnd().0 as f64);
                put(&|| format!("flow.{}.rto_s", flow.name), sender.rto().as_secs_f64());
                put(
                    &|| format!("flow.{}.srtt_s", flow.name),
                    sender.srtt().map_or(f64::NAN, |srtt| srtt.as_secs_f64()),
                );
            }
        }
        for (ids, station) in self.queues.air.iter().zip(stations) {
            for (id, queue) in ids.iter().zip(station.queues()) {
                put(&|| format!("queue.{id}.packets"), f64::from(queue.space().entries));
            }
        }
        for (id, wire) in self.queues.wires.iter().zip(wires) {
            put(&|| format!("queue.{id}.packets"), wire.queue().len() as f64);
        }
    }
}

/// What the captures need to know of a network.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attachments {
    /// Name of each node, and whether it has a radio.
    pub nodes: Vec<(String, bool)>,
    /// Ends of each wire, and what its interface is called at both.
    pub wires: Vec<([NodeId; 2], String)>,
    /// The access point each station belongs to.
    pub access_point: Vec<Option<NodeId>>,
}

/// Captures of every node: the frames it sent and those it received for itself, as a monitor interface would show them,
/// and the packets on its wires.
/// Files that are not finished, because writing failed or the run was interrupted, are removed.
#[derive(Debug)]
pub(crate) struct Captures {
    files: Vec<(Writer<BufWriter<File>>, Option<Interface>)>,
    /// The interfaces of each wire, at its ends.
    wires: Vec<[(NodeId, Interface); 2]>,
    access_point: Vec<Option<NodeId>>,
    /// Where they are, until they are finished.
    unfinished: Vec<PathBuf>,
    channel: radiotap::Channel,
    is_short_preamble: bool,
    bytes: Vec<u8>,
    failed: Option<io::Error>,
}

impl Captures {
    /// One file a node, `<name>-<seed>.pcapng`, in `dir`.
    pub fn create(
        dir: &Path,
        network: Attachments,
        seed: u64,
        channel: radiotap::Channel,
        short: bool,
    ) -> io::Result<Captures> {
        std::fs::create_dir_all(dir).map_err(|error| of(dir, &error))?;
        let Attachments { nodes, wires, access_point } = network;
        let mut captures = Captures {
            files: Vec::with_capacity(nodes.len()),
            unfinished: Vec::with_capacity(nodes.len()),
            wires: Vec::with_capacity(wires.len()),
            access_point,
            channel,
            is_short_preamble: short,
            bytes: Vec::new(),
            failed: None,
        };
        for (name, has_radio) in &nodes {
            let path = dir.join(format!("{name}-{seed}.pcapng"));
            let file = File::create(&path).map_err(|error| of(&path, &error))?;
            captures.unfinished.push(path);
            let mut writer = Writer::new(BufWriter::new(file))?;
            let radio = has_radio.then(|| writer.interface(name, LinkType::RADIOTAP)).transpose()?;
            captures.files.push((writer, radio));
        }
        // Both directions of a link are one interface at each end.
        let mut known: Vec<(NodeId, String, Interface)> = Vec::new();
        for (ends, name) in wires {
            let mut at = |node: NodeId| -> io::Result<(NodeId, Interface)> {
                if let Some((_, _, interface)) = known.iter().find(|(n, link, _)| (*n, link) == (node, &name)) {
                    return Ok((node, *interface));
                }
                let interface = captures.files[node.index()].0.interface(&name, LinkType::RAW_IP)?;
                known.push((node, name.clone(), interface));
                Ok((node, interface))
            };
            let interfaces = [at(ends[0])?, at(ends[1])?];
            captures.wires.push(interfaces);
        }
        Ok(captures)
    }

    fn frame(&mut self, now: SimTime, frame: &Frame, to: &[Reception], packet: Option<&Packet>) {
        if self.failed.is_some() {
            return;
        }
        self.bytes.clear();
        let is_dsss = frame.rate.modulation == phy::Modulation::Dsss;
        let is_short = self.is_short_preamble && is_dsss && frame.rate.bit_rate > BitRate::from_kbps(1000);
        let preamble = if is_short { RadiotapFlags::SHORT_PREAMBLE } else { RadiotapFlags(0) };
        let radio = Radiotap {
            flags: Some(RadiotapFlags::FCS_AT_END | preamble),
            channel: Some(self.channel),
            ..Radiotap::default()
        };
        radio.with_time(now - frame.airtime).with_rate(frame.rate.bit_rate).emit(&mut self.bytes);
        let written = write_frame(frame, packet, &self.access_point, &mut self.bytes);
        let heard = to.iter().filter(|reception| reception.is_for_me).map(|reception| reception.node);
        for node in [frame.from].into_iter().chain(heard) {
            let result = match &written {
                Ok(()) => self.write(now, node, self.files[node.index()].1),
                Err(error) => Err(io::Error::other(error.to_string())),
            };
            if let Err(error) = result {
                self.failed = Some(of(&self.unfinished[node.index()], &error));
                return;
            }
        }
    }

    fn wired(&mut self, now: SimTime, link: LinkId, node: NodeId, packet: &Packet) {
        if self.failed.is_some() {
            return;
        }
        let interface =
            self.wires[link.index()].iter().find(|(end, _)| *end == node).map(|(_, interface)| *interface);
        self.bytes.clear();
        let written = packet.emit(&mut self.bytes).map_err(|error| io::Error::other(error.to_string()));
        if let Err(error) = written.and_then(|()| self.write(now, node, interface)) {
            self.failed = Some(of(&self.unfinished[node.index()], &error));
        }
    }

    fn write(&mut self, now: SimTime, node: NodeId, interface: Option<Interface>) -> io::Result<()> {
        match interface {
            Some(interface) => self.files[node.index()].0.packet(interface, now, &self.bytes, None),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for ((writer, _), path) in std::mem::take(&mut self.files).into_iter().zip(&self.unfinished) {
            writer.finish().map_err(|error| of(path, &error))?;
        }
        self.unfinished.clear();
        Ok(())
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        self.files.clear();
        for path in &self.unfinished {
            _ = std::fs::remove_file(path); // what cannot be removed stays
        }
    }
}

/// The error with the path it is about.
fn of(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The bytes of a frame, FCS included.
fn write_frame(
    frame: &Frame,
    packet: Option<&Packet>,
    access_point: &[Option<NodeId>],
    out: &mut Vec<u8>,
) -> Result<(), wire::EmitError> {
    let address = |node: NodeId| if node == NodeId::BROADCAST { MacAddr::BROADCAST } else { MacAddr::of_node(node) };
    let (ra, ta) = (address(frame.to), address(frame.from));
    let duration = DurationField::covering(frame.duration);
    let flags = if frame.is_retry { FrameFlags::RETRY } else { FrameFlags::NONE };
    match (frame.kind, packet) {
        (Kind::Data, Some(packet)) => {
            let belongs_to = |station: NodeId, ap: NodeId| access_point.get(station.index()) == Some(&Some(ap));
            // Who sent it first and who gets it last, as far as they are in this subnet: their nodes' addresses.
            let of_ip = |ip| net::node_of(ip, access_point.len()).map(MacAddr::of_node);
            let mut header = if belongs_to(frame.from, frame.to) {
                DataHeader::to_ap(ra, ta, of_ip(packet.ip.dst).unwrap_or(ra))
            } else if belongs_to(frame.to, frame.from) {
                DataHeader::from_ap(ra, ta, of_ip(packet.ip.src).unwrap_or(ta))
            } else {
                DataHeader::ibss(ra, ta, MacAddr::ibss(0))
            };
            (header.flags, header.duration) = (header.flags | flags, duration);
            header.qos = frame.qos.map(|qos| QosControl::new(qos.user_priority, AckPolicy::Normal));
            header.sequence = SequenceControl::new(frame.seq, 0);
            header.emit_packet(packet, out)
        }
        (Kind::Data, None) => Ok(()),
        (Kind::Rts, _) => dot11::Frame::Rts(dot11::Rts { flags, duration, ra, ta }).emit(out),
        (Kind::Cts, _) => dot11::Frame::Cts(dot11::Cts { flags, duration, ra }).emit(out),
        (Kind::Ack, _) => dot11::Frame::Ack(dot11::Ack { flags, duration, ra }).emit(out),
    }
}
