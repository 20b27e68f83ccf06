//! Captures: what each node sends and receives, as pcapng.

use mac::{Body, Data, Frame, Got, Kind, MacOptions, Mpdu, Msdus, Reception, Receptions, frame};
use phy::Preamble;
use phy::mode::{Coding, Mode, Row};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use units::{Bytes, ChannelId, LinkId, NodeId, SimTime};
use wire::dot11::{
    self, AckPolicy, DataHeader, DurationField, FrameFlags, HtControl, MacAddr, QosControl, SequenceControl,
};
use wire::pcapng::{Description, Interface, LinkType, Named, Writer};
use wire::radiotap::{self, AmpduStatus, Modulation, Radiotap, RadiotapFlags};
use wire::{EmitError, Packet, Packets};

/// The facts about a network that captures need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attachments {
    /// Name of each node, and the channels that it has a radio on.
    pub nodes: Vec<(String, Vec<ChannelId>)>,
    /// Names of the channels.
    pub channels: Vec<String>,
    /// Ends and name of each wire.
    pub wires: Vec<([NodeId; 2], String)>,
    /// The access point each station belongs to, by channel.
    pub access_point: Vec<Vec<Option<NodeId>>>,
}

impl Attachments {
    /// The links of a node, each once. Both directions of a link are one interface at each end.
    fn links_of(&self, node: NodeId) -> Vec<(&str, NodeId)> {
        let mut links: Vec<(&str, NodeId)> = Vec::new();
        for (ends, name) in &self.wires {
            let Some(peer) = ends.iter().position(|end| *end == node).map(|own| ends[1 - own]) else { continue };
            if !links.iter().any(|(known, _)| known == name) {
                links.push((name, peer));
            }
        }
        links
    }
}

/// Captures of every interface of every node: the frames it sent and those it received for itself, as a monitor interface
/// would show them, or the packets on a wire. A file holds one interface: the analysis of TCP takes a segment that it
/// meets on two for one that was sent again.
/// Files that are not finished, because writing failed or the run was interrupted, are removed.
#[derive(Debug)]
pub(crate) struct Captures {
    files: Vec<(Writer<BufWriter<File>>, Interface)>,
    /// The file of each node's interface, by channel.
    radios: Vec<Vec<Option<usize>>>,
    /// The files of each wire, at its ends.
    wires: Vec<[(NodeId, usize); 2]>,
    access_point: Vec<Vec<Option<NodeId>>>,
    /// The paths of the files, until they are finished.
    unfinished: Vec<PathBuf>,
    channel: radiotap::Channel,
    /// A-MPDUs so far, modulo 2³²: their reference numbers.
    a_mpdus: u32,
    bytes: Vec<u8>,
    failed: Option<io::Error>,
}

impl Captures {
    /// One file an interface in `dir`. It is called `<node>-<seed>.pcapng`; if the node has several interfaces,
    /// `<node>.air-<seed>.pcapng`, `<node>.wire-<seed>.pcapng`, and with several radios or wires `<node>.air.<channel>-<seed>.pcapng`,
    /// `<node>.wire.<link>-<seed>.pcapng`. No name of a node, channel or link holds a dot, so no two files have one name.
    pub fn create(dir: &Path, network: Attachments, seed: u64, channel: radiotap::Channel) -> io::Result<Captures> {
        std::fs::create_dir_all(dir).map_err(|error| at_path(dir, &error))?;
        let mut captures = Captures {
            files: Vec::with_capacity(network.nodes.len()),
            unfinished: Vec::with_capacity(network.nodes.len()),
            radios: vec![vec![None; network.nodes.len()]; network.channels.len()],
            wires: Vec::with_capacity(network.wires.len()),
            access_point: Vec::new(),
            channel,
            a_mpdus: 0,
            bytes: Vec::new(),
            failed: None,
        };
        let name_of = |node: NodeId| network.nodes[node.index()].0.as_str();
        let ids = (0..network.nodes.len() as u32).map(NodeId);
        // On a channel a node is known by its address there, elsewhere by its first.
        let hosts = |on: Option<ChannelId>| -> Vec<Named<'_>> {
            let mac = |id: NodeId, channels: &[ChannelId]| {
                let own = on.filter(|on| channels.contains(on)).or(channels.first().copied());
                own.map(|channel| MacAddr::of_interface(id, channel))
            };
            let named = |id: NodeId| Named {
                name: name_of(id),
                ipv4: net::address(id),
                mac: mac(id, &network.nodes[id.index()].1),
            };
            ids.clone().map(named).collect()
        };
        let mut at: Vec<(NodeId, &str, usize)> = Vec::new();
        for id in ids.clone() {
            let (name, channels, links) = (name_of(id), &network.nodes[id.index()].1, network.links_of(id));
            let is_one = links.len() + channels.len() == 1;
            let mut open = |kind: &str, on: Option<ChannelId>, interface: Description<'_>| {
                let dot = if is_one { String::new() } else { format!(".{kind}") };
                let path = dir.join(format!("{name}{dot}-{seed}.pcapng"));
                let comment = format!("node {name}, seed {seed}: {}", interface.text);
                captures.open(path, &comment, interface, &hosts(on))
            };
            let ipv4 = Some(net::address(id));
            let mut radios = Vec::new();
            for channel in channels {
                let on = network.channels[channel.index()].as_str();
                let (text, kind) = if channels.len() == 1 {
                    (format!("the radio of {name}"), "air".to_owned())
                } else {
                    (format!("the radio of {name} on {on}"), format!("air.{on}"))
                };
                let mac = Some(MacAddr::of_interface(id, *channel));
                let interface = Description { name, text: &text, link_type: LinkType::RADIOTAP, ipv4, mac };
                radios.push((*channel, open(&kind, Some(*channel), interface)?));
            }
            for (link, peer) in &links {
                let kind = if links.len() == 1 { "wire".to_owned() } else { format!("wire.{link}") };
                let text = format!("the end of {link} at {name}; the other is at {}", name_of(*peer));
                let interface = Description { name: link, text: &text, link_type: LinkType::RAW_IP, ipv4, mac: None };
                at.push((id, link, open(&kind, None, interface)?));
            }
            for (channel, file) in radios {
                captures.radios[channel.index()][id.index()] = Some(file);
            }
        }
        for (ends, link) in &network.wires {
            let file = |node: NodeId| {
                let is_it = |(n, l, _): &&(NodeId, &str, usize)| *n == node && *l == link;
                at.iter().find(is_it).map_or((node, usize::MAX), |(_, _, file)| (node, *file))
            };
            captures.wires.push(ends.map(file));
        }
        captures.access_point = network.access_point;
        Ok(captures)
    }

    /// Opens the file of an interface; gives its index.
    fn open(
        &mut self,
        path: PathBuf,
        comment: &str,
        interface: Description<'_>,
        hosts: &[Named<'_>],
    ) -> io::Result<usize> {
        let file = File::create(&path).map_err(|error| at_path(&path, &error))?;
        self.unfinished.push(path);
        let mut writer = Writer::new(BufWriter::new(file), Some(comment))?;
        let interface = writer.interface(interface)?;
        writer.names(hosts)?;
        self.files.push((writer, interface));
        Ok(self.files.len() - 1)
    }

    /// Writes a frame that has left the air of a channel; these machines are told of it.
    pub(super) fn frame(&mut self, now: SimTime, on: ChannelId, frame: &Frame, to: &Receptions, packets: &Packets) {
        // A negative ACK is in no standard: it has no bytes.
        if frame.kind == Kind::Nack {
            return;
        }
        self.a_mpdus = self.a_mpdus.wrapping_add(frame.psdu.is_a_mpdu().into());
        for (place, mpdu) in frame.psdu.mpdus().iter().enumerate() {
            if self.failed.is_some() {
                return;
            }
            self.mpdu(now, on, frame, (place, mpdu), to, packets);
        }
    }

    /// The header of the MPDU at a place of a frame. All of a PPDU have its begin for their time.
    fn radiotap(&self, now: SimTime, frame: &Frame, place: usize) -> Radiotap {
        let mode = frame.tx.mode;
        let is_short = mode.preamble == Preamble::Short;
        let preamble = if is_short { RadiotapFlags::SHORT_PREAMBLE } else { RadiotapFlags(0) };
        let is_last = Some(place + 1 == frame.psdu.mpdus().len());
        let radio = Radiotap {
            flags: Some(RadiotapFlags::FCS_AT_END | preamble),
            channel: Some(self.channel),
            a_mpdu: frame.psdu.is_a_mpdu().then_some(AmpduStatus { reference: self.a_mpdus, is_last }),
            modulation: modulation(mode),
            ..Radiotap::default()
        };
        let radio = if radio.modulation.is_none() { radio.with_rate(mode.bit_rate()) } else { radio };
        radio.with_time(now - frame.airtime)
    }

    /// One MPDU of a frame, at its transmitter and at its addressee, if that has received it.
    fn mpdu(
        &mut self,
        now: SimTime,
        on: ChannelId,
        frame: &Frame,
        (place, mpdu): (usize, &Mpdu),
        to: &Receptions,
        packets: &Packets,
    ) {
        self.bytes.clear();
        self.radiotap(now, frame, place).emit(&mut self.bytes);
        let cell = Cell { channel: on, access_point: &self.access_point[on.index()] };
        let behind = self.bytes.len();
        let written = write_mpdu(frame, mpdu, packets, cell, &mut self.bytes);
        debug_assert!(
            written.is_err() || (self.bytes.len() - behind) as u64 == mpdu.len.0,
            "the MAC reckons with another length"
        );
        let got_it = |reception: &Reception<'_>| matches!(reception.got, Got::Mpdus(got) if got.contains(place));
        let heard = to.iter().filter(got_it).map(|reception| reception.node);
        for node in [frame.from].into_iter().chain(heard) {
            let Some(file) = self.radios[on.index()][node.index()] else { continue };
            let result = match &written {
                Ok(()) => self.write(now, file),
                Err(error) => Err(io::Error::other(error.to_string())),
            };
            if let Err(error) = result {
                self.failed = Some(at_path(&self.unfinished[file], &error));
                return;
            }
        }
    }

    pub(super) fn wired(&mut self, now: SimTime, link: LinkId, node: NodeId, packet: &Packet) {
        if self.failed.is_some() {
            return;
        }
        let Some((_, file)) = self.wires[link.index()].iter().find(|(end, _)| *end == node).copied() else { return };
        self.bytes.clear();
        let written = packet.emit(&mut self.bytes).map_err(|error| io::Error::other(error.to_string()));
        if let Err(error) = written.and_then(|()| self.write(now, file)) {
            self.failed = Some(at_path(&self.unfinished[file], &error));
        }
    }

    fn write(&mut self, now: SimTime, file: usize) -> io::Result<()> {
        let (writer, interface) = &mut self.files[file];
        writer.packet(*interface, now, &self.bytes, None)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for ((writer, _), path) in std::mem::take(&mut self.files).into_iter().zip(&self.unfinished) {
            writer.finish().map_err(|error| at_path(path, &error))?;
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
fn at_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A channel as the addresses of its frames know it.
#[derive(Clone, Copy)]
struct Cell<'a> {
    channel: ChannelId,
    /// The access point each station belongs to.
    access_point: &'a [Option<NodeId>],
}

impl Cell<'_> {
    fn address(self, node: NodeId) -> MacAddr {
        MacAddr::of_interface(node, self.channel)
    }
}

/// The modulation of a mode whose format has a field of radiotap for it; `None`: its rate says all.
fn modulation(mode: Mode) -> Option<Modulation> {
    let format = match mode.format.name {
        "HT" => radiotap::Format::Ht,
        "VHT" => radiotap::Format::Vht,
        "HE" => radiotap::Format::He,
        _ => return None,
    };
    let Row { mcs, streams, bandwidth, guard_interval, coding, .. } = *mode;
    let coding = coding.map(|coding| match coding {
        Coding::Bcc => radiotap::Coding::Bcc,
        Coding::Ldpc => radiotap::Coding::Ldpc,
    });
    Some(Modulation { format, mcs, streams, bandwidth_mhz: (bandwidth.0 / 1e6) as u16, guard_interval, coding })
}

/// The bytes of an MPDU, FCS included.
fn write_mpdu(
    frame: &Frame,
    mpdu: &Mpdu,
    packets: &Packets,
    cell: Cell<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let (ra, ta) = (cell.address(frame.to), cell.address(frame.from));
    let duration = DurationField::covering(frame.duration);
    let flags = FrameFlags::NONE;
    match (frame.kind, &mpdu.body) {
        (Kind::Data, Body::Data(data)) => write_data(frame, (mpdu.len, data), packets, (ra, ta), cell, out),
        (Kind::Rts, _) => dot11::Frame::Rts(dot11::Rts { flags, duration, ra, ta }).emit(out),
        (Kind::Cts, _) => dot11::Frame::Cts(dot11::Cts { flags, duration, ra }).emit(out),
        (Kind::Ack, _) => dot11::Frame::Ack(dot11::Ack { flags, duration, ra }).emit(out),
        (Kind::BlockAck, Body::Bitmap(_) | Body::Loaded(_)) => {
            let Some(bitmap) = mpdu.bitmap() else {
                return Err(EmitError::Unsupported("a Block Ack without a bitmap"));
            };
            let behind = mpdu.load().map_or(&[][..], |load| &load.bytes);
            let (tid, start, mut octets) = (bitmap.tid(), bitmap.start(), [0; 128]);
            bitmap.numbers().iter().for_each(|number| octets[number / 8] |= 1 << (number % 8));
            // Control frames go in formats without an HT Control of their own: the HT variant.
            let ht_control = bitmap.is_before_a_ppdu().then_some(HtControl::ht(false, true));
            let bitmap = &octets[..bitmap.width() / 8];
            let block_ack = dot11::BlockAck { flags, duration, ht_control, ra, ta, tid, start, bitmap, behind };
            dot11::Frame::BlockAck(block_ack).emit(out)
        }
        (Kind::BlockAckReq, Body::Request(mac::Request { tid, start })) => {
            let (tid, start) = (*tid, *start);
            dot11::Frame::BlockAckReq(dot11::BlockAckReq { flags, duration, ra, ta, tid, start }).emit(out)
        }
        (Kind::CfEnd, _) => {
            let access_point = cell.access_point.get(frame.from.index()).copied().flatten();
            let bssid = cell.address(access_point.unwrap_or(frame.from));
            dot11::Frame::CfEnd(dot11::CfEnd { flags, duration, ra, bssid }).emit(out)
        }
        _ => Err(EmitError::Unsupported("a frame with a body of another kind")),
    }
}

/// The bytes of a data MPDU of `len` bytes.
fn write_data(
    frame: &Frame,
    (len, data): (Bytes, &Data),
    packets: &Packets,
    (ra, ta): (MacAddr, MacAddr),
    cell: Cell<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let Data { seq, fragment, more_fragments, is_retry, qos, cue, msdus, .. } = data;
    let retry = if *is_retry { FrameFlags::RETRY } else { FrameFlags::NONE };
    let more_data = if cue.is_some_and(|cue| cue.more_data) { FrameFlags::MORE_DATA } else { FrameFlags::NONE };
    let upper = cue.map_or(0, |cue| cue.number);
    let ht_control = qos.and_then(|qos| qos.ht_control).map(|of| ht_control(frame.tx.mode, of.more_ppdu));
    let htc = if ht_control.is_some() { FrameFlags::HTC } else { FrameFlags::NONE };
    let header_for = |packet: &Packet| {
        let header = data_header(frame, packet, (ra, ta), cell);
        DataHeader {
            flags: header.flags | retry | more_data | htc,
            duration: DurationField::covering(frame.duration),
            qos: qos.map(|qos| QosControl::new(qos.user_priority, AckPolicy::Normal).with_upper(upper)),
            sequence: SequenceControl::new(*seq, *fragment),
            ht_control,
            ..header
        }
    };
    let Some(carried) = msdus.each().first() else { return Err(EmitError::Unsupported("data without an MSDU")) };
    let packet = packets.read(&carried.packet);
    if let Msdus::Many(msdus) = msdus {
        let subframes = msdus.iter().map(|carried| {
            let packet = packets.read(&carried.packet);
            let own = header_for(packet);
            (own.da(), own.sa(), packet)
        });
        let header = header_for(packet);
        // Destinations and sources stand in the subframes. @80211-2020 9.3.2.1, table 9-30
        return DataHeader { addr3: header.bssid(), ..header }.emit_amsdu(subframes, out);
    }
    if *fragment > 0 || *more_fragments {
        return fragment_of(header_for(packet), packet, len, *more_fragments, out);
    }
    let (mut options, room) = ([0; MacOptions::MAX], usize::from(carried.options.room()));
    let written = carried.options.bytes();
    options[..written.len()].copy_from_slice(written);
    header_for(packet).emit_extended(frame.is_extended().then_some(&options[..room]), packet, out)
}

/// The HT Control field of data in this mode: the variant of its format.
fn ht_control(mode: Mode, more_ppdu: bool) -> HtControl {
    match mode.format.name {
        "HE" => HtControl::he(more_ppdu),
        name => HtControl::ht(name == "VHT", more_ppdu),
    }
}

/// The frame of `len` bytes that carries the fragment whose number stands in `header`.
fn fragment_of(
    mut header: DataHeader,
    packet: &Packet,
    len: Bytes,
    has_further: bool,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
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
fn data_header(frame: &Frame, packet: &Packet, (ra, ta): (MacAddr, MacAddr), cell: Cell<'_>) -> DataHeader {
    let belongs_to = |station: NodeId, ap: NodeId| cell.access_point.get(station.index()) == Some(&Some(ap));
    // The stations that sent it first and get it last, as far as they are in this subnet: their nodes' addresses.
    let of_ip = |ip| net::node_of(ip, cell.access_point.len()).map(|node| cell.address(node));
    if belongs_to(frame.from, frame.to) {
        DataHeader::to_ap(ra, ta, of_ip(packet.ip.dst).unwrap_or(ra))
    } else if belongs_to(frame.to, frame.from) {
        DataHeader::from_ap(ra, ta, of_ip(packet.ip.src).unwrap_or(ta))
    } else {
        DataHeader::ibss(ra, ta, MacAddr::ibss(0))
    }
}
