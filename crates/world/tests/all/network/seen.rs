//! A run with captures, and the IP packets in them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use testkit::tshark::captures_of;
use units::{FlowId, SimTime};
use wire::Packet;
use wire::dot11::{Body, Data, DataHeader, Frame};
use wire::pcapng::{Capture, LinkType};
use world::Record;

/// A packet in the capture of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The time at which it was put on a wire or arrived there; by radio, at which its frame ended.
    pub at: SimTime,
    /// The header of its frame; `None` on a wire.
    pub air: Option<DataHeader>,
    pub packet: Packet,
}

/// A folder of its own, removed when done.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("interlayer-network-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The IP packets that each node saw in a run.
pub fn watched(text: &str) -> BTreeMap<String, Vec<Seen>> {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let folder = Folder::new();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    world::run(&scenario, 1, &record, &AtomicBool::new(false)).unwrap();
    let read = |name: &str| {
        let files = captures_of(&folder.0, name, 1);
        let mut seen: Vec<Seen> = files.iter().flat_map(|file| packets(&std::fs::read(file).unwrap())).collect();
        seen.sort_by_key(|seen| seen.at); // what came by radio is first where it goes on at once
        seen
    };
    scenario.scenario().nodes.iter().map(|node| (node.name.clone(), read(&node.name))).collect()
}

/// The IP packets of a capture.
fn packets(bytes: &[u8]) -> Vec<Seen> {
    let capture = Capture::read(bytes).unwrap();
    let seen = capture.packets.iter().filter_map(|captured| {
        let (air, ip) = if capture.interfaces[captured.interface].link_type == LinkType::RAW_IP {
            (None, captured.bytes)
        } else {
            let (_, frame) = wire::radiotap::Radiotap::parse(captured.bytes).unwrap();
            let Frame::Data(Data { header, body: Body::Ip(ip), .. }) = Frame::parse(frame).unwrap() else {
                return None;
            };
            (Some(header), ip)
        };
        let packet = Packet::parse(ip, FlowId(0)).unwrap();
        Some(Seen { at: captured.at, air, packet })
    });
    seen.collect()
}
