//! Every measurement of C³TCP against a trace of the same packet: when it came to a node, when it became the head of its queue and when its data
//! frame began, as the nodes' captures tell. The equations are worked out here from the text, with none of the scheme's code.
//!
//! Whole microseconds are written, a DIFS is 50 of them: bandwidths agree to a thousandth, delays to 3 µs.
//!
//! A string of four stations, 802.11b at 11 Mb/s behind RTS/CTS, control frames at 1 Mb/s. Nobody gives a frame up.

use crate::network::seen::Folder;
use phy::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use units::{Bytes, FlowId, SimTime};
use wire::Packet;
use wire::dot11::{Body, Data, Frame, MacAddr};
use wire::pcapng::Capture;
use world::Record;

fn string(window: &str, params: &str) -> String {
    format!(
        r#"
[scenario]
duration = "4 s"
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
basic_rate = "1 Mb/s"
control_rate = "1 Mb/s"
rts_threshold = "0 B"
max_attempts = 255
max_attempts_long = 255
[channel]
range = "22.5 m"
[layout]
model = "line"
spacing = "20 m"
[[node]]
name = "n"
count = 4
[[flow]]
name = "tcp"
from = "n1"
to = "n4"
transport = {{ protocol = "tcp", preset = "rfc", congestion = "reno", receiver = "every", datagram = "1000 B", {window} }}
[[scheme]]
name = "c3tcp"
{params}
"#
    )
}

/// The content of an option, in B/s and microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Said {
    bandwidth: f64,
    there: f64,
    back: f64,
}

fn said(options: &[u8]) -> Said {
    assert_eq!((options[0], options[1], options.len()), (0xc3, 12, 14));
    let word = |i: usize| f64::from(u32::from_be_bytes(options[2 + 4 * i..6 + 4 * i].try_into().unwrap()));
    Said { bandwidth: word(0), there: word(1), back: word(2) }
}

/// A data frame, or an acknowledgment, as a node's capture has it.
#[derive(Debug)]
enum Heard {
    Data {
        from: MacAddr,
        to: MacAddr,
        began: SimTime,
        ended: SimTime,
        length: Bytes,
        said: Option<Said>,
        packet: Packet,
    },
    Ack {
        to: MacAddr,
        ended: SimTime,
    },
}

/// Each node's capture, in order of time.
fn captures(text: &str) -> Vec<Vec<Heard>> {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let folder = Folder::new();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    let run = world::run(&scenario, 1, &record, &AtomicBool::new(false)).unwrap();
    for node in &run.nodes {
        assert_eq!(world::Run::number(node, "msdus_given_up"), Some(0.0));
    }
    let read = |name: &str| {
        let bytes = std::fs::read(folder.0.join(format!("{name}-1.pcapng"))).unwrap();
        let heard = Capture::read(&bytes).unwrap().packets.into_iter().filter_map(|captured| {
            let (_, bytes) = wire::radiotap::Radiotap::parse(captured.bytes).unwrap();
            match Frame::parse(bytes).unwrap() {
                Frame::Ack(ack) => Some(Heard::Ack { to: ack.ra, ended: captured.at }),
                Frame::Data(Data { header, options, body: Body::Ip(ip) }) => {
                    let length = Bytes(bytes.len() as u64);
                    Some(Heard::Data {
                        from: header.addr2,
                        to: header.addr1,
                        began: captured.at - phy::airtime(Mode::dsss(3), length),
                        ended: captured.at,
                        length,
                        said: options.map(said),
                        packet: Packet::parse(ip, FlowId(0)).unwrap(),
                    })
                }
                _ => None,
            }
        });
        heard.collect::<Vec<_>>()
    };
    scenario.scenario().nodes.iter().map(|node| read(&node.name)).collect()
}

/// The name of a packet on its whole way.
fn name(packet: &Packet) -> (std::net::Ipv4Addr, u16) {
    (packet.ip.src, packet.ip.id)
}

/// One reading of the printed slips.
#[derive(Debug, Clone, Copy)]
struct Reading {
    ack_at_control: bool,
    difs: bool,
    head: bool,
    first: bool,
}

impl Reading {
    fn params(self) -> String {
        let choice =
            |key: &str, is: bool, yes: &str, no: &str| format!("{key} = \"{}\"\n", if is { yes } else { no });
        choice("ack_rate", self.ack_at_control, "control", "data")
            + &format!("difs = {}\n", self.difs)
            + &choice("t_in", self.head, "head", "queued")
            + &choice("t_out", self.first, "first", "sent")
    }

    /// Equation 4.3 in microseconds: the data frame, SIFS, an ACK of 14 B behind its preamble, DIFS.
    fn t_tr(self, length: Bytes) -> f64 {
        let data = 192.0 + 8.0 * length.0 as f64 / 11.0;
        let ack = 192.0 + 8.0 * 14.0 / if self.ack_at_control { 1.0 } else { 11.0 };
        data + 10.0 + ack + if self.difs { 50.0 } else { 0.0 }
    }
}

/// The stay of a packet at a node.
#[derive(Debug, Clone, Copy)]
struct Stay {
    arrived: SimTime,
    head: Option<SimTime>,
    first: Option<SimTime>,
    came: Option<Said>,
}

/// Compares all that `node` wrote into its frames with its capture. `arrivals` has what came from its own host. Returns how many options
/// were compared, on data and on ACKs.
fn compare(
    heard: &[Heard],
    node: MacAddr,
    reading: Reading,
    own: &BTreeMap<(std::net::Ipv4Addr, u16), SimTime>,
) -> (u32, u32) {
    let mut stays: BTreeMap<_, Stay> = BTreeMap::new();
    let stay = |arrived, came| Stay { arrived, head: None, first: None, came };
    let mut idle_since = SimTime::ZERO;
    let (mut data, mut acks) = (0, 0);
    for it in heard {
        match it {
            Heard::Ack { to, ended } if *to == node => idle_since = *ended,
            Heard::Data { from, to, ended, said, packet, .. } if *to == node && *from != node => {
                stays.entry(name(packet)).or_insert_with(|| stay(*ended, *said));
            }
            Heard::Data { from, began, length, said: Some(said), packet, .. } if *from == node => {
                let arrived = own.get(&name(packet)).copied();
                let start = Said { bandwidth: f64::INFINITY, there: 0.0, back: 0.0 };
                let is_echo = packet.payload.len == 0 && arrived.is_some();
                if let Some(arrived) = arrived {
                    stays.entry(name(packet)).or_insert_with(|| stay(arrived, (!is_echo).then_some(start)));
                }
                let Some(stay) = stays.get_mut(&name(packet)) else { continue };
                // It is the head of the queue since it came, or since the one before it was acknowledged.
                let head = *stay.head.get_or_insert(stay.arrived.max(idle_since));
                let first = *stay.first.get_or_insert(*began);
                let Some(came) = stay.came else { continue };
                let out = if reading.first { first } else { *began };
                let us = |since: SimTime| out.since(since).as_secs_f64() * 1e6 + reading.t_tr(*length);
                let close = |is: f64, ought: f64, within: f64| {
                    assert!((is - ought).abs() <= within, "{is}, not {ought}: {packet:?} {reading:?}")
                };
                if packet.payload.len > 0 {
                    let taken = us(if reading.head { head } else { stay.arrived });
                    let ought = came.bandwidth.min(packet.ip_len().0 as f64 / taken * 1e6);
                    close(said.bandwidth, ought, 1e-3 * ought);
                    close(said.there, came.there + us(head), 3.0);
                    data += 1;
                } else {
                    assert_eq!(
                        (said.bandwidth, said.there),
                        (came.bandwidth, came.there),
                        "an ACK carries what it echoes"
                    );
                    close(said.back, came.back + us(stay.arrived), 3.0);
                    acks += 1;
                }
            }
            _ => {}
        }
    }
    (data, acks)
}

fn address(node: usize) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, node as u8])
}

#[test]
fn relays_write_what_their_captures_show_in_each_reading() {
    for bits in 0..16 {
        let bit = |i: u32| bits >> i & 1 == 1;
        let reading = Reading { ack_at_control: bit(0), difs: bit(1), head: bit(2), first: bit(3) };
        let captures = captures(&string("", &reading.params()));
        for relay in [1, 2] {
            let (data, acks) = compare(&captures[relay], address(relay), reading, &BTreeMap::new());
            assert!(data > 200 && acks > 200, "node {relay}: {data}, {acks}");
        }
    }
}

#[test]
fn the_ends_write_what_their_captures_show() {
    // With a window of one segment a packet comes from the host when the one that it answers arrives.
    let reading = Reading { ack_at_control: false, difs: true, head: false, first: false };
    let captures = captures(&string("receive_buffer = \"960 B\"", &reading.params()));
    for end in [0, 3] {
        let mut own = BTreeMap::new();
        let mut since = SimTime::ZERO;
        for it in &captures[end] {
            match it {
                Heard::Data { to, ended, .. } if *to == address(end) => since = *ended,
                Heard::Data { packet, .. } => _ = own.entry(name(packet)).or_insert(since),
                Heard::Ack { .. } => {}
            }
        }
        let (data, acks) = compare(&captures[end], address(end), reading, &own);
        // The echo of the far end is checked one hop on: its own capture does not show what it holds.
        assert!(end == 3 || data > 100, "node {end}: {data}");
        assert_eq!(acks, 0);
    }
}

#[test]
fn an_ack_leaves_with_what_came_with_the_last_data_it_acknowledges() {
    let reading = Reading { ack_at_control: false, difs: true, head: false, first: false };
    let captures = captures(&string("", &reading.params()));
    // A frame that the MAC repeats because its acknowledgment was lost is discarded, with its option.
    let (mut by_end, mut seen, mut compared) = (BTreeMap::new(), BTreeSet::new(), 0);
    for it in &captures[3] {
        let Heard::Data { from, to, began, length, said: Some(said), packet, .. } = it else { continue };
        if *to == address(3) {
            if !seen.insert(name(packet)) {
                continue;
            }
            by_end.insert(packet.tcp_range().unwrap().end.0, *said);
        } else if *from == address(3)
            && let Some(tcp) = packet.pure_ack()
            && let Some(echoed) = by_end.get(&tcp.ack.0)
        {
            assert_eq!((said.bandwidth, said.there), (echoed.bandwidth, echoed.there));
            assert!(said.back >= reading.t_tr(*length) - 1.0, "{began:?}");
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared}");
}
