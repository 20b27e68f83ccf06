//! ACK suppression as Wi-Fi drivers ship it: of the pure ACKs that a host writes, the radio gets a few.
//!
//! - **Source** drivers as published. `broadcom-hold`, `broadcom-replace`: Broadcom's DHD (@DHD15), dhd_ip.c (`dhd_tcpack_hold`, `dhd_tcpack_send`,
//!   `dhd_tcpack_suppress`; `TCPACK_SUPP_RATIO` 3, `TCPACK_DELAY_TIME` 10 ms, `TCPACK_INFO_MAXNUM` 4). `unisoc`: sc2332 (@UNI22),
//!   tcp_ack.c (`tcp_ack_handle`; `SPRD_TCP_ACK_DROP_CNT` 12, `SPRD_TCP_ACK_DROP_TIME` 10 ms, `SPRD_TCP_ACK_NUM` 32, `SPRD_ACK_OLD_TIME`
//!   4 s). `wilc1000`: Linux (@WIL18), wlan.c (`wilc_wlan_txq_filter_dup_tcp_ack`).
//! - **Realism** no oracle, nobody else takes part; a look at TCP headers, so nothing for encrypted traffic. Phones and boards run these.
//! - **Departs** (a) A flow beyond those that a table has room for passes; one version of `dhd_tcpack_hold` leaks its packet. (b) The queue of
//!   a rule that works in one is the transmit queue here, one for each category; in these chips it lies above that of the firmware. (c) `wilc1000` is
//!   always on; the driver has it on above 54 Mb/s. It knows a connection by flow and sequence number; the driver by the
//!   sequence number alone, and by one order of 32 bits without wrap. FIN, SYN and RST are no ACKs here, which they are there. (d) `unisoc`
//!   with `options = "timestamps"` takes the test of options of the later sc2355, and nothing else of that.
//! - **Bound** no rule makes an ACK: one that is dropped stood behind a later one of its flow, which was sent, held or queued. If
//!   that is lost on the air, its sender waits for the next, or for its timeout. What SACK, ECN or a duplicate ACK says, rules other than
//!   `unisoc` lose.
//! - **Checked** `tests/all/ack_suppress.rs` (each rule by hand; random losses); `every_scheme`; `world/tests/all/ack_relatives.rs`.

mod hold;
mod queued;

use crate::{Agent, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use hold::{Holder, Rule};
use mac::Around;
use queued::{Newest, Replace};
use std::cell::RefCell;
use std::rc::Rc;
use units::Dur;
use wire::{Flags, Packet, Tcp};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ack-suppress",
    summary: "drivers keep superseded TCP ACKs off the air, by the rules of Broadcom, Unisoc or wilc1000",
    source: "DHD15, UNI22, WIL18",
    params: &[
        Param {
            key: "rule",
            kind: Kind::Choice(&["broadcom-hold", "broadcom-replace", "unisoc", "wilc1000"]),
            default: Value::Choice("broadcom-hold"),
            doc: "the driver whose rule it is",
        },
        Param {
            key: "ratio",
            kind: Kind::Int { min: 2, max: 64 },
            default: Value::Int(3),
            doc: "broadcom-hold: ACKs of which one goes out",
        },
        Param {
            key: "drops",
            kind: Kind::Int { min: 1, max: 13 },
            default: Value::Int(12),
            doc: "unisoc: ACKs dropped in a row at most",
        },
        Param {
            key: "delay",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1) },
            default: Value::Time(Dur::from_ms(10)),
            doc: "broadcom-hold, unisoc: the longest that an ACK is held",
        },
        Param {
            key: "options",
            kind: Kind::Choice(&["none", "timestamps"]),
            default: Value::Choice("none"),
            doc: "unisoc: ACKs of 40 bytes are held (sc2332), or those with timestamps too (as sc2355)",
        },
    ],
};

/// At every node with a radio whose packets are TCP's: hosts, and what forwards for them.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !site.node.carries_tcp {
        return Ok(());
    }
    site.reads_tcp();
    let delay = params.time("delay");
    let rule = match params.choice("rule") {
        "broadcom-hold" => Rule::Broadcom { ratio: params.int("ratio") as u32 },
        "unisoc" => {
            Rule::Unisoc { most: params.int("drops") as u32, timestamps: params.choice("options") == "timestamps" }
        }
        queued => {
            let books = Rc::new(RefCell::new(Books::default()));
            site.agent(Teller(Rc::clone(&books)));
            let replaces = queued == "broadcom-replace";
            site.wrap_queue(move |inner| {
                let books = Rc::clone(&books);
                if replaces {
                    Box::new(Around::new(inner, Replace::new(books)))
                } else {
                    Box::new(Around::new(inner, Newest::new(books)))
                }
            });
            return Ok(());
        }
    };
    site.agent(Holder::new(rule, delay)).listen([Place::ToAir, Place::FromAir]).makes_packets();
    Ok(())
}

/// The header, if no flag but ACK is set and nothing follows it: all that DHD touches.
fn plain_ack(packet: &Packet) -> Option<&Tcp> {
    packet.tcp().filter(|tcp| tcp.flags == Flags::ACK && packet.payload.len == 0)
}

/// Counts of a rule.
#[derive(Debug, Default)]
struct Books {
    suppressed: u64,
    passed: u64,
}

impl Books {
    fn tell(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("acks_suppressed", self.suppressed);
        out("acks_passed", self.passed);
    }
}

/// Tells the counts of the queues of a node.
#[derive(Debug)]
struct Teller(Rc<RefCell<Books>>);

impl Agent for Teller {
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.0.borrow().tell(out);
    }
}
