//! FTCA on whole networks with random traffic: no data frame ever enters the top category, no control packet leaves it.
//!
//! The frames on the air decide: the captures of a run, read back frame by frame. The TID in QoS Control tells the category (6
//! and 7 are voice, @80211-2020 table 10-1), the TCP header inside the content of the frame.

use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use units::FlowId;
use wire::dot11::{Body, Frame, FrameFlags, MacAddr};
use wire::pcapng::Capture;
use wire::radiotap::Radiotap;
use wire::{Flags, Packet};
use world::Record;

/// A data frame on the air.
struct Sent {
    tid: u8,
    is_retry: bool,
    packet: Packet,
}

/// Every data frame of a run, once: each from the capture of its transmitter.
fn data_frames(dir: &Path, nodes: &[&str], seed: u64) -> Vec<Sent> {
    let mut sent = Vec::new();
    for (i, name) in nodes.iter().enumerate() {
        let bytes = std::fs::read(dir.join(format!("{name}-{seed}.pcapng"))).unwrap();
        for captured in Capture::read(&bytes).unwrap().packets {
            let (_, bytes) = Radiotap::parse(captured.bytes).unwrap();
            let Frame::Data(data) = Frame::parse(bytes).unwrap() else { continue };
            if data.header.addr2 != MacAddr::of_node(units::NodeId(i as u32)) {
                continue;
            }
            let Body::Ip(ip) = data.body else { panic!("no IP packet in {data:?}") };
            sent.push(Sent {
                tid: data.header.qos.expect("all stations have categories").tid(),
                is_retry: data.header.flags.has(FrameFlags::RETRY),
                packet: Packet::parse(ip, FlowId(0)).unwrap(),
            });
        }
    }
    sent
}

/// A folder of its own, gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let own = format!("interlayer-ftca-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Folder(std::env::temp_dir().join(own))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0); // what cannot be removed stays
    }
}

const NODES: [&str; 4] = ["ap", "a", "b", "c"];

#[derive(Debug, Clone)]
struct Flow {
    /// True if it goes from the station to the access point.
    is_upload: bool,
    station: usize,
    kind: Kind,
    dscp: u8,
    kilobytes: u32,
    receiver: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tcp,
    /// Both ends write: ACKs piggyback.
    BothWays,
    Udp,
}

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    standard: &'static str,
    rts: &'static str,
    per: f64,
    txop_limit: &'static str,
    flows: Vec<Flow>,
}

fn case() -> impl Strategy<Value = Case> {
    let kind = prop_oneof![3 => Just(Kind::Tcp), 2 => Just(Kind::BothWays), 1 => Just(Kind::Udp)];
    let receiver = prop::sample::select(vec!["every", "delayed-ack", "dynamic-delayed-ack"]);
    // Class selector 6 and EF ask for voice themselves.
    let dscp = prop::sample::select(vec![0u8, 0, 8, 34, 46, 48]);
    let flow = (any::<bool>(), 1usize..4, kind, dscp, 1u32..150, receiver).prop_map(
        |(is_upload, station, kind, dscp, kilobytes, receiver)| Flow {
            is_upload,
            station,
            kind,
            dscp,
            kilobytes,
            receiver,
        },
    );
    let radio = (
        prop::sample::select(vec!["802.11a", "802.11b", "802.11g"]),
        prop::sample::select(vec!["off", "0 B", "500 B"]),
        prop::sample::select(vec![0.0, 0.1, 0.3]),
        prop::sample::select(vec!["0 s", "3 ms"]),
    );
    (any::<u32>(), radio, prop::collection::vec(flow, 1..7)).prop_map(
        |(seed, (standard, rts, per, txop_limit), flows)| Case {
            seed: u64::from(seed),
            standard,
            rts,
            per,
            txop_limit,
            flows,
        },
    )
}

impl Case {
    fn text(&self, scheme: &str) -> String {
        let Case { standard, rts, per, txop_limit, .. } = self;
        let limit = format!("{{ txop_limit = \"{txop_limit}\" }}");
        let mut text = format!(
            "scenario = {{ duration = \"3 s\" }}\nradio = {{ standard = \"{standard}\", access = \"edca\", rts_threshold = \"{rts}\", \
             edca = {{ be = {limit}, vo = {limit} }} }}\nchannel = {{ errors = {{ model = \"packet\", per = {per} }} }}\n{scheme}"
        );
        for node in NODES {
            let role = if node == "ap" { "ap" } else { "station" };
            _ = writeln!(text, "[[node]]\nname = \"{node}\"\nrole = \"{role}\"");
        }
        for Flow { is_upload, station, kind, dscp, kilobytes, receiver } in &self.flows {
            let mut ends = [NODES[*station], "ap"];
            if !is_upload {
                ends.reverse();
            }
            _ = writeln!(text, "[[flow]]\nfrom = \"{}\"\nto = \"{}\"\ndscp = {dscp}", ends[0], ends[1]);
            let bulk = format!("{{ model = \"bulk\", bytes = \"{kilobytes} kB\" }}");
            let back = if *kind == Kind::BothWays { format!("reverse = {bulk}\n") } else { String::new() };
            text += &match kind {
                Kind::Udp => {
                    "transport = { protocol = \"udp\" }\ntraffic = { model = \"poisson\", rate = \"500 kb/s\" }\n"
                        .to_owned()
                }
                _ => format!(
                    "transport = {{ protocol = \"tcp\", preset = \"rfc\", receiver = \"{receiver}\", min_rto = \"200 ms\" }}\ntraffic = {bulk}\n{back}"
                ),
            };
        }
        text
    }

    fn sent(&self, scheme: &str) -> Vec<Sent> {
        let folder = Folder::new();
        let text = self.text(scheme);
        let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
        world::run(&scenario, self.seed, &record, &AtomicBool::new(false)).unwrap();
        data_frames(&folder.0, &NODES, self.seed)
    }
}

const FTCA: &str = "[[scheme]]\nname = \"ftca\"\n";

fn is_control(packet: &Packet) -> bool {
    packet.tcp().is_some() && packet.payload.len == 0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_data_frame_enters_the_top_category_and_no_control_packet_leaves_it(case in case()) {
        for Sent { tid, packet, .. } in case.sent(FTCA) {
            prop_assert_eq!(tid >= 6, is_control(&packet), "TID {} of {:?}", tid, packet);
        }
    }
}

/// A property over frames that never occur would hold of anything: these are the kinds that the runs above are made of, and
/// without the scheme each of the mixtures it forbids is there.
#[test]
fn the_runs_hold_every_kind_of_frame_and_without_ftca_they_mix() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let cases = proptest::strategy::Strategy::boxed(case());
    let (mut seen, mut mixed) = ([0u64; 8], [0u64; 2]);
    for _ in 0..12 {
        let case = proptest::strategy::ValueTree::current(&cases.new_tree(&mut runner).unwrap());
        for Sent { is_retry, packet, .. } in case.sent(FTCA) {
            let tcp = packet.tcp();
            let has = |flags| tcp.is_some_and(|tcp| tcp.flags.has(flags));
            let is_data = tcp.is_some() && packet.payload.len > 0;
            let kinds = [
                has(Flags::SYN) && !has(Flags::ACK),
                has(Flags::SYN | Flags::ACK),
                packet.pure_ack().is_some(),
                has(Flags::FIN) && !is_data,
                is_data,
                tcp.is_none(),
                is_retry && is_data,
                is_retry && is_control(&packet),
            ];
            kinds.iter().zip(&mut seen).for_each(|(is, n)| *n += u64::from(*is));
        }
        for Sent { tid, packet, .. } in case.sent("") {
            mixed[0] += u64::from(tid >= 6 && !is_control(&packet));
            mixed[1] += u64::from(tid < 6 && is_control(&packet));
        }
    }
    println!("SYN, SYN-ACK, ACK, FIN, data, UDP, data again, control again: {seen:?}; mixed without it {mixed:?}");
    assert!(seen.iter().chain(&mixed).all(|n| *n > 0), "{seen:?} {mixed:?}");
}
