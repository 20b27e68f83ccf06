//! Counts what becomes of each MPDU of an A-MPDU, at radios that send A-MPDUs and acknowledge them by Block Ack.
//!
//! - **Source** none; IEEE Std 802.11-2020, 10.25 for the Block Ack.
//! - **Departs** the recipient hands up what it gets in the order in which it comes: it reorders nothing.
//! - **Checked** `tests/outside/four/tests/scheme.rs`.

use mac::{
    AckPolicy, Bitmap, Body, Config, Delivery, Fate, Frame, Kind as Sort, MpduSet, Msdu, Outcome, RaTid, Recipient,
    Response, SoFar, Solicited, TxReport,
};
use phy::Mode;
use schemes::{Agent, Cx, Info, Kind, Param, Params, PeerEvent, Refusal, Site, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{NodeId, SimTime};
use wire::{Packet, Packets};

/// Sequence numbers that there are.
const NUMBERS: u16 = 4096;
/// MPDUs that a Block Ack speaks of.
const WINDOW: u16 = 64;

/// Declaration of the scheme.
pub const INFO: Info = Info {
    id: "mpdu-fates",
    summary: "counts the fates of the MPDUs of A-MPDUs, which it makes",
    source: "none",
    params: &[Param {
        key: "mpdus",
        kind: Kind::Int { min: 2, max: 64 },
        default: Value::Int(8),
        doc: "MPDUs of an A-MPDU at most",
    }],
};

/// At all radios.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let has = Rc::new(RefCell::new(vec![false; site.node.nodes]));
    let most = usize::try_from(params.int("mpdus")).expect("within its bounds");
    site.announce(0);
    site.acknowledge(Policy { most, has: has.clone() });
    site.receive(Arrivals { here: site.node.id, heard: BTreeMap::new() });
    site.agent(Fates { has, ..Fates::default() }).reports().attempts();
    Ok(())
}

/// The MPDUs that share a PSDU, and what acknowledges them.
#[derive(Debug)]
struct Policy {
    most: usize,
    has: Rc<RefCell<Vec<bool>>>,
}

impl AckPolicy for Policy {
    fn admits(&mut self, so_far: &SoFar, next: &Msdu, _: Mode) -> bool {
        let is_in_window = match (so_far.first_seq, next.seq) {
            (Some(first), Some(seq)) => seq.wrapping_sub(first) % NUMBERS < WINDOW,
            _ => true,
        };
        so_far.mpdus < self.most && is_in_window && self.has.borrow()[next.to.index()]
    }

    fn solicits(&self, _: RaTid, n: usize) -> Solicited {
        let kind = if n > 1 { Sort::BlockAck } else { Sort::Ack };
        Solicited { kind, len: kind.control_len() }
    }

    fn judge(&mut self, _: RaTid, seqs: &[u16], response: &Frame, acknowledged: &mut MpduSet) -> Option<Outcome> {
        match (response.kind, &response.psdu.mpdus()[0].body) {
            (Sort::Ack, _) if seqs.len() == 1 => acknowledged.insert(0),
            (Sort::BlockAck, Body::Bitmap(bitmap)) => acknowledged.extend(bitmap.places(seqs)),
            _ => return None,
        }
        (!acknowledged.is_empty()).then_some(Outcome::Success)
    }
}

/// The recipient: a Block Ack for several MPDUs, and a duplicate filter by sender and user priority.
#[derive(Debug)]
struct Arrivals {
    here: NodeId,
    heard: BTreeMap<(NodeId, Option<u8>), VecDeque<u16>>,
}

impl Recipient for Arrivals {
    fn respond(&mut self, config: &Config, frame: &Frame, got: &MpduSet, proposed: Response) -> Option<Response> {
        let mpdus = frame.psdu.mpdus();
        if mpdus.len() == 1 {
            return Some(proposed);
        }
        let heard = || got.iter().filter_map(|place| mpdus[place].data());
        let mut bitmap = Bitmap::new(heard().next()?.seq, usize::from(WINDOW));
        heard().for_each(|data| bitmap.insert(data.seq));
        Some(Response::to(config, frame.tx.mode, frame.duration, Sort::BlockAck, Body::Bitmap(bitmap)))
    }

    fn receive(&mut self, _: SimTime, frame: &Frame, got: &MpduSet, all: &mut Packets, up: &mut dyn FnMut(Delivery)) {
        let mpdus = frame.psdu.mpdus();
        for data in got.iter().filter_map(|place| mpdus[place].data()) {
            let priority = data.qos.map(|qos| qos.user_priority);
            let heard = self.heard.entry((frame.from, priority)).or_default();
            let is_new = !heard.contains(&data.seq);
            if frame.to == self.here && is_new {
                heard.push_back(data.seq);
                heard.drain(..heard.len().saturating_sub(usize::from(4 * WINDOW)));
            }
            if is_new || frame.to != self.here {
                for carried in data.msdus.each() {
                    up(Delivery {
                        pkt: all.copy_shared(&carried.packet),
                        from: frame.from,
                        options: carried.options,
                    });
                }
            }
        }
    }
}

/// The PPDU whose MPDUs are being told of.
#[derive(Debug)]
struct Open {
    number: u32,
    mpdus: u16,
    delivered: u16,
    failed: u16,
}

/// Counts the fates of MPDUs that did not go alone.
#[derive(Debug, Default)]
struct Fates {
    has: Rc<RefCell<Vec<bool>>>,
    open: Option<Open>,
    delivered: u64,
    failed: u64,
    given_up: u64,
    ppdus: u64,
    told_whole: u64,
    delivered_in_part: u64,
}

impl Agent for Fates {
    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.has.borrow_mut()[node.index()] = event.announced(INFO.id).is_some();
    }

    fn report(&mut self, _: &Packet, report: &TxReport, _: &mut Cx) {
        // The last failed attempt is told twice: as an attempt, then as the end of the MSDU.
        self.given_up += u64::from(report.fate == Fate::GivenUp);
        let Some(ppdu) = report.ppdu.filter(|ppdu| ppdu.mpdus > 1) else { return };
        let is_delivered = match report.fate {
            Fate::Delivered => true,
            Fate::Attempt => false,
            _ => return,
        };
        if self.open.as_ref().is_none_or(|open| open.number != ppdu.number) {
            self.ppdus += 1;
            self.open = Some(Open { number: ppdu.number, mpdus: ppdu.mpdus, delivered: 0, failed: 0 });
        }
        let Some(open) = &mut self.open else { return };
        open.delivered += u16::from(is_delivered);
        open.failed += u16::from(!is_delivered);
        self.delivered += u64::from(is_delivered);
        self.failed += u64::from(!is_delivered);
        if open.delivered + open.failed == open.mpdus {
            self.told_whole += 1;
            self.delivered_in_part += u64::from(open.delivered > 0 && open.failed > 0);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("mpdus_delivered", self.delivered);
        out("mpdus_failed", self.failed);
        out("msdus_given_up", self.given_up);
        out("ppdus", self.ppdus);
        out("ppdus_told_whole", self.told_whole);
        out("ppdus_delivered_in_part", self.delivered_in_part);
    }
}
