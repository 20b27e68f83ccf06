//! A run with captures, and what tshark says of every frame in them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use world::{Record, Run};

pub use testkit::tshark::is_here as tshark_is_here;
use testkit::tshark::{Folder, captures_of, fields, plain};

/// The fields asked of each frame.
const FIELDS: [&str; 50] = [
    "_ws.malformed",
    "_ws.expert.severity",
    "frame.protocols",
    "ip.checksum.status",
    "tcp.checksum.status",
    "udp.checksum.status",
    "wlan.fcs.status",
    "wlan.fc.type_subtype",
    "wlan.fc.retry",
    "wlan.ra",
    "wlan.ta",
    "ip.src",
    "tcp.flags",
    "tcp.seq",
    "tcp.ack",
    "tcp.len",
    "udp.length",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.keep_alive",
    "tcp.window_size_value",
    "tcp.analysis.spurious_retransmission",
    "tcp.srcport",
    "tcp.flags.res",
    "frame.interface_name",
    "wlan.fc.ds",
    "wlan.sa",
    "wlan.da",
    "wlan.bssid",
    "ip.dst",
    "ip.ttl",
    "ip.dsfield.ecn",
    "icmp.type",
    "icmp.checksum.status",
    "wlan.seq",
    "wlan.qos.tid",
    "wlan.fixed.ssc.sequence",
    "wlan.ba.basic.tidinfo",
    "wlan.ba.bm",
    "wlan.ba.bm.missing_frame",
    "radiotap.mactime",
    "radiotap.ampdu.reference",
    "radiotap.ampdu.flags.last",
    "radiotap.ampdu.flags.lastknown",
    "wlan_radio.a_mpdu_aggregate_id",
    "wlan_radio.data_rate",
    "frame.len",
    "wlan.fc.moredata",
    "wlan.htc.rdg_more_ppdu",
    "wlan.htc.he.a_control.cci.rdg_more_ppdu",
];

/// Types and subtypes of frames, as tshark numbers them.
pub const RTS: &str = "27";
pub const ACK: &str = "29";
pub const BLOCK_ACK: &str = "25";
pub const DATA: &str = "32";
pub const QOS_DATA: &str = "40";

/// TCP's bits, as tshark prints them.
pub const TCP_SYN: u64 = 2;
pub const TCP_FIN: u64 = 1;
pub const TCP_ACK: u64 = 16;

/// One frame.
#[derive(Debug)]
pub struct Frame(BTreeMap<&'static str, String>);

impl Frame {
    pub fn text(&self, field: &str) -> &str {
        &self.0[field]
    }

    pub fn is(&self, kind: &str) -> bool {
        self.text("wlan.fc.type_subtype") == kind
    }

    pub fn number(&self, field: &str) -> Option<u64> {
        self.text(field).parse().ok()
    }

    /// Sent by node `index`, whose address shows in all frames but CTS and ACK.
    pub fn from(&self, index: usize) -> bool {
        self.text("wlan.ta") == mac_of(index)
    }

    pub fn to(&self, index: usize) -> bool {
        self.text("wlan.ra") == mac_of(index)
    }

    pub fn is_retry(&self) -> bool {
        self.text("wlan.fc.retry") == "1"
    }

    /// TCP's control bits; `None` if it is no TCP, or a repetition by the MAC.
    pub fn tcp_flags(&self) -> Option<u64> {
        self.number("tcp.flags")
    }

    /// A TCP segment without payload that carries ACK and no SYN, FIN or RST.
    pub fn is_pure_ack(&self) -> bool {
        self.tcp_flags().is_some_and(|flags| flags & 0x17 == TCP_ACK) && self.number("tcp.len") == Some(0)
    }

    /// A TCP segment that occupies numbers.
    pub fn occupies_numbers(&self) -> bool {
        self.tcp_flags().is_some_and(|flags| flags & (TCP_SYN | TCP_FIN) != 0)
            || self.number("tcp.len").is_some_and(|len| len > 0)
    }

    /// True if tshark takes it for sent by TCP before. It calls a repetition that follows within a round trip of the handshake
    /// "out of order", since it does not know that it stands at the sender.
    pub fn is_tcp_retransmission(&self) -> bool {
        !self.text("tcp.analysis.retransmission").is_empty() || !self.text("tcp.analysis.out_of_order").is_empty()
    }
}

/// The address of a node, as tshark prints it.
pub fn mac_of(index: usize) -> String {
    format!("02:00:00:00:00:{index:02x}")
}

/// A run, and each node's capture.
pub struct Captured {
    pub run: Run,
    /// One list a node; of a node with several interfaces the frames of one behind those of the other.
    pub frames: Vec<Vec<Frame>>,
}

impl Captured {
    pub fn node(&self, index: usize, name: &str) -> u64 {
        Run::number(&self.run.nodes[index], name).unwrap_or_else(|| panic!("no column {name}")) as u64
    }

    pub fn flow(&self, index: usize, name: &str) -> u64 {
        self.run.flow(index, name).unwrap_or_else(|| panic!("no column {name}")) as u64
    }

    /// A counter of lle-tcp at a node.
    pub fn lle(&self, node: usize, name: &str) -> u64 {
        Run::number(&self.run.schemes[node], name).unwrap_or_else(|| panic!("no counter {name}")) as u64
    }

    /// Frames in a node's capture.
    pub fn count(&self, node: usize, is_it: impl Fn(&Frame) -> bool) -> u64 {
        self.frames[node].iter().filter(|frame| is_it(frame)).count() as u64
    }
}

/// Runs a scenario with captures and reads them.
pub fn capture(text: &str) -> Captured {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let folder = Folder::new();
    let timeline = Some(crate::timeline::WHOLE);
    let record = Record { pcap_dir: Some(folder.0.clone()), timeline, ..Record::default() };
    let run = world::run(&scenario, 1, &record, &AtomicBool::new(false)).unwrap();
    // Each interface is looked at by itself, as TCP's analysis must.
    let of_node = |name: &str| captures_of(&folder.0, name, 1).iter().flat_map(|file| frames(file)).collect();
    let frames = scenario.scenario().nodes.iter().map(|node| of_node(&node.name)).collect();
    Captured { run, frames }
}

/// The fields of each frame as tshark reads them. It does not look into repetitions by the MAC, which no TCP sees; they are
/// checked for damage all the same, as far as their FCS goes, and hold the bytes of the frame they repeat.
fn frames(file: &Path) -> Vec<Frame> {
    let is_address = |field: &str| ["wlan.ra", "wlan.ta", "wlan.sa", "wlan.da", "wlan.bssid"].contains(&field);
    let spelt = |field: &str, value: String| if is_address(field) { value } else { plain(&value) };
    fields(file, &FIELDS, &["wlan.retransmitted:FALSE"])
        .into_iter()
        .map(|frame| Frame(frame.into_iter().map(|(field, value)| (field, spelt(field, value))).collect()))
        .collect()
}
