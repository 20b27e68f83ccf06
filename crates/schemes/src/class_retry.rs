//! A retry limit for each class of packets: TCP data, pure ACKs, what opens and ends connections, and all else.
//!
//! - **Source** @SAN14 section 5: "Increasing the MAC retransmission limit can be used to protect important packets such as TCP
//!   ACKs from loss", with the cost that it names: longer delays at the MAC and longer queues.
//! - **Realism** no oracle; a look at TCP headers at every node with a radio, so encrypted traffic is all "other". Drivers of today
//!   take a limit for each frame.
//! - **Departs** the source names no limits. (a) Those here count transmissions in all, as `max_attempts`. (b) One limit for short and
//!   long frames: an MSDU ends when either of its two counters (@80211-2020 10.3.4.4) has reached it. A CTS resets the short one, as it
//!   does without the scheme. (c) What carries data is data, whatever its flags; a RST or FIN without data belongs to "control".
//! - **Bound** Of two schemes with limits at one node the one that stands first in the file decides: its queue is the inner one.
//! - **Checked** `tests/all/class_retry.rs`; `every_scheme`; `world/tests/all/retry.rs`; figures in docs/schemes/class-retry.md.

use crate::retry_limit::{Limit, Limited};
use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::Around;
use wire::{Flags, Packet};

/// A limit: transmissions in all.
const fn limit(key: &'static str, default: i64, doc: &'static str) -> Param {
    Param { key, kind: Kind::Int { min: 1, max: 255 }, default: Value::Int(default), doc }
}

/// Its declaration.
pub const INFO: Info = Info {
    id: "class-retry",
    summary: "a retry limit for each class of packets: TCP data, pure ACKs, connection control, others",
    source: "SAN14 section 5",
    params: &[
        limit("data", 7, "transmissions in all of a segment that carries data"),
        limit("ack", 14, "of a pure ACK"),
        limit("control", 14, "of a segment without data that opens or ends a connection: SYN, FIN, RST"),
        limit("other", 7, "of everything that is not TCP"),
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        let limits = ["data", "ack", "control", "other"].map(|key| params.int(key) as u8);
        site.reads_tcp();
        site.wrap_queue(move |inner| Box::new(Around::new(inner, Limited(ByClass(limits)))));
    }
    Ok(())
}

/// Limits of data, ACKs, control and others.
#[derive(Debug, Clone, Copy)]
struct ByClass([u8; 4]);

impl Limit for ByClass {
    fn transmissions(&self, packet: &Packet) -> Option<u8> {
        let [data, ack, control, other] = self.0;
        Some(match packet.tcp() {
            None => other,
            Some(_) if packet.payload.len > 0 => data,
            Some(tcp) if tcp.flags.any(Flags::SYN | Flags::FIN | Flags::RST) => control,
            Some(_) => ack,
        })
    }
}
