//! Captures: what each node sends and receives, as pcapng.

use mac::{Frame, Kind, Reception};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use units::{BitRate, LinkId, NodeId, SimTime};
use wire::Packet;
use wire::dot11::{self, AckPolicy, DataHeader, DurationField, FrameFlags, MacAddr, QosControl, SequenceControl};
use wire::pcapng::{Interface, LinkType, Writer};
use wire::radiotap::{self, Radiotap, RadiotapFlags};

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

    pub(super) fn frame(&mut self, now: SimTime, frame: &Frame, to: &[Reception], packet: Option<&Packet>) {
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

    pub(super) fn wired(&mut self, now: SimTime, link: LinkId, node: NodeId, packet: &Packet) {
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

    pub(super) fn finish(mut self) -> io::Result<()> {
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
