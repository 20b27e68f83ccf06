//! HACK: a receiver's TCP ACKs ride, compressed, in the Block Acks that answer its data, and contend for nothing.
//!
//! - **Source** @SZHJK14. Only the abstract was at hand; the design is from memory where "Departs" says so.
//! - **Realism** no oracle. Both ends of a link have it, as drivers and firmware. It looks at TCP headers: nothing for encrypted traffic. Others
//!   see Block Acks with bytes behind the bitmap, and in data frames a More Data bit and the upper byte of QoS Control, which a receiver with
//!   power save would take for its access point's buffers.
//! - **Departs** *From memory:* ACKs are held back while the last data frame said More Data, and go as ordinary frames when it did not; what
//!   was loaded is kept until it is known to have arrived; a compressed ACK takes about 4 B (`compressed_ack`); a flow's first ACK goes alone, and
//!   gives the other end its context. *Ours:*
//!   (a) The paper infers from sequence numbers and a bit whether a Block Ack arrived. Here each ACK has a number, modulo 256, and data frames
//!   bring back that of the last ACK that has arrived. An inference fails where an A-MPDU comes in parts.
//!   (b) The Duration of the data is the grant: a load ends within it, so that NAVs and the limit of an opportunity cover it. The originator
//!   announces what it expects, by the bytes that the segments before took; what has no room waits for the next. At most `most` bytes.
//!   (c) ACKs that wait longer than `patience` go alone, whatever was promised: an access point may have died. So do those that together
//!   would exceed `most`, and those before other segments of their flow.
//!   (d) What goes alone after it was loaded, and arrives twice, is known by its IP identification.
//!   (e) Loads ride in Block Acks alone: an Ack after a single MPDU carries none, where the paper's carry ACKs too.
//!   (f) Nothing is compressed. A load takes the bytes that it would: 3 for all (number of the first, count, what is left), `compressed_ack` for each
//!   ACK, and its SACK blocks as ROHC-TCP has them (@RFC6846, `sack_var_length_enc`).
//!   (g) It works both ways: an access point loads the ACKs of uploads.
//! - **Bound** no ACK is lost that an ordinary frame would not have lost, none arrives twice or out of its order, unless its station goes over to
//!   another access point while a load of its own is in doubt: then that arrives again.
//! - **Checked** `tests/all/hack.rs`, `every_scheme`, `mac/tests/all/loaded.rs` (to the microsecond), `world/tests/all/hack.rs`.

mod link;

use crate::{Agent, Cx, Info, Key, Kind, Param, Params, PeerEvent, Place, Refusal, Site, Toward, Value, What};
use link::{Counted, Held, Link, Loads, Rule, Shared};
use mac::{Fate, TxReport};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Dur, FlowId, NodeId};
use wire::{DropWhy, Packet, Pkt};

/// Its declaration.
pub const INFO: Info = Info {
    id: "hack",
    summary: "a receiver's TCP ACKs ride in the Block Acks that answer its data",
    source: "SZHJK14",
    params: &[
        Param {
            key: "compressed_ack",
            kind: Kind::Size { min: Bytes(2), max: Bytes(64) },
            default: Value::Size(Bytes(4)),
            doc: "length of a compressed ACK beside its SACK blocks",
        },
        Param {
            key: "most",
            kind: Kind::Size { min: Bytes(16), max: Bytes(2048) },
            default: Value::Size(Bytes(1024)),
            doc: "bytes by which a Block Ack grows at most",
        },
        Param {
            key: "patience",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1) },
            default: Value::Time(Dur::from_ms(50)),
            doc: "the longest that an ACK waits for a Block Ack",
        },
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let rule = Rule { compressed_ack: params.size("compressed_ack").0 as usize, most: params.size("most").0 as usize };
    let shared = Rc::new(RefCell::new(Shared::new(rule, site.node.nodes)));
    site.reads_tcp();
    site.announce(0);
    // A scheme that makes or drops a receiver's ACKs would find them gone.
    site.exclusive(What::ACKS);
    site.load_block_acks(Loads(Rc::clone(&shared)));
    let agent = Hack { shared, patience: params.time("patience") };
    site.agent(agent).listen([Place::ToAir, Place::FromAir]).reports().makes_packets();
    Ok(())
}

#[derive(Debug)]
struct Hack {
    shared: Rc<RefCell<Shared>>,
    patience: Dur,
}

impl Hack {
    /// An ACK or another segment on its way to a partner.
    fn leaves(&self, link: &mut Link, to: NodeId, pkt: Pkt, (rule, counted): (Rule, &mut Counted), cx: &mut Cx) -> Option<Pkt> {
        let (packet, serial) = (cx.get(&pkt), cx.serial(&pkt));
        let (flow, is_ack) = (packet.flow, packet.pure_ack().is_some());
        if !is_ack && !link.has_acks(flow) {
            return Some(pkt);
        }
        if is_ack {
            let size = rule.size(packet);
            if rule.fits(size) && link.may_hold(flow, cx.now) {
                if link.held.is_empty() {
                    cx.timer(Key(u64::from(to.0)), cx.now + self.patience);
                }
                link.held.push_back(Held { pkt, flow, size, since: cx.now });
                return None;
            }
            counted.sent_alone += 1;
        }
        let is_due = is_ack && !link.more_data && !link.held.is_empty();
        let goes_behind = is_due || link.held.iter().any(|held| held.flow == flow);
        if goes_behind {
            send_alone(link, to, counted, cx);
        }
        link.goes_alone(serial, flow, cx.now);
        if goes_behind {
            cx.inject(pkt, Toward::Onward(Place::ToAir, Some(to)));
            return None;
        }
        Some(pkt)
    }
}

/// All that is held goes out as ordinary frames, in order: in doubt or not.
fn send_alone(link: &mut Link, to: NodeId, counted: &mut Counted, cx: &mut Cx) {
    for Held { pkt, flow, .. } in link.let_go() {
        counted.sent_alone += 1;
        link.goes_alone(cx.serial(&pkt), flow, cx.now);
        cx.inject(pkt, Toward::Onward(Place::ToAir, Some(to)));
    }
}

impl Agent for Hack {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let shared = &mut *self.shared.borrow_mut();
        let Some(peer) = cx.peer.filter(|peer| shared.is_partner(*peer)) else { return Some(pkt) };
        if cx.get(&pkt).tcp().is_none() {
            return Some(pkt);
        }
        let link = shared.links.entry(peer).or_default();
        link.arrived.drain(..).for_each(|pkt| cx.drop(pkt, DropWhy::CopyDone));
        if at == Place::ToAir {
            return self.leaves(link, peer, pkt, (shared.rule, &mut shared.counted), cx);
        }
        if !link.more_data && !link.held.is_empty() {
            send_alone(link, peer, &mut shared.counted, cx);
        }
        let packet = cx.get(&pkt);
        if packet.pure_ack().is_some() && !link.is_news(packet.flow, packet.ip.id, cx.now) {
            cx.drop(pkt, DropWhy::CopyDone);
            return None;
        }
        Some(pkt)
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        let shared = &mut *self.shared.borrow_mut();
        if !shared.is_partner(report.to) || packet.tcp().is_none() {
            return;
        }
        let link = shared.links.entry(report.to).or_default();
        let is_delivered = report.fate == Fate::Delivered;
        link.has_left(report.serial, is_delivered && packet.pure_ack().is_some());
        if is_delivered && packet.tcp_data().is_some() {
            link.delivered += 1;
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let shared = &mut *self.shared.borrow_mut();
        let to = NodeId(key.0 as u32);
        let Some(link) = shared.links.get_mut(&to) else { return };
        link.arrived.drain(..).for_each(|pkt| cx.drop(pkt, DropWhy::CopyDone));
        let Some(due) = link.held.front().map(|held| held.since + self.patience) else { return };
        if due > cx.now {
            cx.timer(key, due);
            return;
        }
        // What was promised has not come: until more is, ACKs go alone.
        link.more_data = false;
        send_alone(link, to, &mut shared.counted, cx);
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, cx: &mut Cx) {
        let shared = &mut *self.shared.borrow_mut();
        let is_partner = event.announced(INFO.id).is_some();
        if let Some(partner) = shared.partners.get_mut(node.index()) {
            *partner = is_partner;
        }
        let Some(link) = shared.links.get_mut(&node).filter(|_| !is_partner) else { return };
        link.more_data = false;
        link.forget_flows();
        link.arrived.drain(..).for_each(|pkt| cx.drop(pkt, DropWhy::CopyDone));
        for Held { pkt, .. } in link.let_go() {
            shared.counted.sent_alone += 1;
            cx.inject(pkt, Toward::Route);
        }
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        self.shared.borrow_mut().links.values_mut().for_each(|link| link.closed(flow));
    }

    fn release(&mut self, cx: &mut Cx) {
        for link in self.shared.borrow_mut().links.values_mut() {
            link.forget_flows();
            link.more_data = false;
            link.arrived.drain(..).for_each(|pkt| cx.drop(pkt, DropWhy::NodeDown));
            link.let_go().for_each(|held| cx.drop(held.pkt, DropWhy::NodeDown));
        }
    }

    fn held(&self) -> u64 {
        self.shared.borrow().links.values().map(|link| (link.held.len() + link.arrived.len()) as u64).sum()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let Counted { carried, bytes, again, sent_alone, handed_up } = self.shared.borrow().counted;
        out("acks_carried", carried);
        out("bytes_carried", bytes);
        out("carried_again", again);
        out("acks_sent_alone", sent_alone);
        out("acks_handed_up", handed_up);
    }
}
