//! Captures: what each node sends and receives, as pcapng.

use mac::{Data, Frame, Got, Kind, MacOptions, Mpdu, Reception, frame};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use units::{Bytes, LinkId, NodeId, SimTime};
use wire::dot11::{self, AckPolicy, DataHeader, DurationField, FrameFlags, MacAddr, QosControl, SequenceControl};
use wire::pcapng::{Interface, LinkType, Writer};
use wire::radiotap::{self, Radiotap, RadiotapFlags};
use wire::{Packet, Packets};

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
    bytes: Vec<u8>,
    failed: Option<io::Error>,
}

impl Captures {
    /// One file a node, `<name>-<seed>.pcapng`, in `dir`.
    pub fn create(dir: &Path, network: Attachments, seed: u64, channel: radiotap::Channel) -> io::Result<Captures> {
        std::fs::create_dir_all(dir).map_err(|error| of(dir, &error))?;
        let Attachments { nodes, wires, access_point } = network;
        let mut captures = Captures {
            files: Vec::with_capacity(nodes.len()),
            unfinished: Vec::with_capacity(nodes.len()),
            wires: Vec::with_capacity(wires.len()),
            access_point,
            channel,
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

    pub(super) fn frame(&mut self, now: SimTime, frame: &Frame, to: &[Reception], packets: &Packets) {
        for (place, mpdu) in frame.psdu.mpdus().iter().enumerate() {
            if self.failed.is_some() {
                return;
            }
            self.mpdu(now, frame, place, mpdu, to, packets);
        }
    }

    /// One MPDU of a frame, at its transmitter and at its addressee.
    fn mpdu(&mut self, now: SimTime, frame: &Frame, place: usize, mpdu: &Mpdu, to: &[Reception], packets: &Packets) {
        self.bytes.clear();
        let is_short = frame.tx.mode.preamble == phy::Preamble::Short;
        let preamble = if is_short { RadiotapFlags::SHORT_PREAMBLE } else { RadiotapFlags(0) };
        let radio = Radiotap {
            flags: Some(RadiotapFlags::FCS_AT_END | preamble),
            channel: Some(self.channel),
            ..Radiotap::default()
        };
        radio.with_time(now - frame.airtime).with_rate(frame.tx.mode.bit_rate()).emit(&mut self.bytes);
        let written = write_mpdu(frame, mpdu, packets, &self.access_point, &mut self.bytes);
        let got_it = |reception: &&Reception| matches!(reception.got, Got::Mpdus(got) if got.contains(place));
        let heard = to.iter().filter(got_it).map(|reception| reception.node);
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

/// The bytes of an MPDU, FCS included.
fn write_mpdu(
    frame: &Frame,
    mpdu: &Mpdu,
    packets: &Packets,
    access_point: &[Option<NodeId>],
    out: &mut Vec<u8>,
) -> Result<(), wire::EmitError> {
    let address = |node: NodeId| if node == NodeId::BROADCAST { MacAddr::BROADCAST } else { MacAddr::of_node(node) };
    let (ra, ta) = (address(frame.to), address(frame.from));
    let duration = DurationField::covering(frame.duration);
    let flags = FrameFlags::NONE;
    match (frame.kind, mpdu.data()) {
        (Kind::Data, Some(data)) => {
            let Some(carried) = data.msdus.each().first() else { return Ok(()) };
            let packet = packets.read(&carried.packet);
            let mut header = data_header(frame, packet, (ra, ta), access_point);
            let Data { seq, fragment, more_fragments, is_retry, qos, .. } = data;
            let retry = if *is_retry { FrameFlags::RETRY } else { FrameFlags::NONE };
            (header.flags, header.duration) = (header.flags | retry, duration);
            header.qos = qos.map(|qos| QosControl::new(qos.user_priority, AckPolicy::Normal));
            header.sequence = SequenceControl::new(*seq, *fragment);
            let (mut options, room) = ([0; MacOptions::MAX], usize::from(carried.options.room()));
            let written = carried.options.bytes();
            options[..written.len()].copy_from_slice(written);
            if *fragment > 0 || *more_fragments {
                return fragment_of(header, packet, mpdu.len, *more_fragments, out);
            }
            header.emit_extended(frame.is_extended().then_some(&options[..room]), packet, out)
        }
        (Kind::Rts, _) => dot11::Frame::Rts(dot11::Rts { flags, duration, ra, ta }).emit(out),
        (Kind::Cts, _) => dot11::Frame::Cts(dot11::Cts { flags, duration, ra }).emit(out),
        (Kind::Ack, _) => dot11::Frame::Ack(dot11::Ack { flags, duration, ra }).emit(out),
        // Their bytes come with the schemes that send them.
        (Kind::BlockAck | Kind::Nack, _) | (Kind::Data, None) => Ok(()),
    }
}

/// The frame of `len` bytes that carries the fragment whose number stands in `header`.
fn fragment_of(
    mut header: DataHeader,
    packet: &Packet,
    len: Bytes,
    has_further: bool,
    out: &mut Vec<u8>,
) -> Result<(), wire::EmitError> {
    let mut body = dot11::LLC_SNAP_IPV4.to_vec();
    packet.emit(&mut body)?;
    let around =
        frame::DATA_HEADER + frame::FCS + if header.qos.is_some() { frame::QOS_CONTROL } else { Bytes::ZERO };
    let own = (len - around).0 as usize;
    // All fragments but the last have one length.
    let start = if has_further { own * usize::from(header.sequence.fragment()) } else { body.len() - own };
    if has_further {
        header.flags = header.flags | FrameFlags::MORE_FRAGMENTS;
    }
    dot11::Frame::Data(dot11::Data { header, options: None, body: dot11::Body::Raw(&body[start..start + own]) })
        .emit(out)
}

/// The header of a data frame: to, from or without an access point.
fn data_header(
    frame: &Frame,
    packet: &Packet,
    (ra, ta): (MacAddr, MacAddr),
    access_point: &[Option<NodeId>],
) -> DataHeader {
    let belongs_to = |station: NodeId, ap: NodeId| access_point.get(station.index()) == Some(&Some(ap));
    // The stations that sent it first and get it last, as far as they are in this subnet: their nodes' addresses.
    let of_ip = |ip| net::node_of(ip, access_point.len()).map(MacAddr::of_node);
    if belongs_to(frame.from, frame.to) {
        DataHeader::to_ap(ra, ta, of_ip(packet.ip.dst).unwrap_or(ra))
    } else if belongs_to(frame.to, frame.from) {
        DataHeader::from_ap(ra, ta, of_ip(packet.ip.src).unwrap_or(ta))
    } else {
        DataHeader::ibss(ra, ta, MacAddr::ibss(0))
    }
}
