//! Cross-layer loss differentiation: a segment that its sender's own MAC has given up on was corrupted; the sender repeats it without a
//! cut. Any other loss is congestion.
//!
//! - **Source** @LDP07: Lohier, Ghamri-Doudane & Pujolle, "Cross-layer loss differentiation algorithms to improve TCP performance in
//!   WLANs", Telecommunication Systems 36, 2007, as @DSDK14 cites it ([3]). The paper itself was not at hand.
//! - **Realism** no oracle: a sender and the reports of its own node's MAC.
//! - **Departs** (a) the paper also asks for the signal's strength, to tell errors from collisions; here what the MAC gave up on is
//!   corruption, collided or not: TCP's window has no say in either. (b) A packet that the transmit queue refused is congestion.
//!   (c) A repetition that the MAC delivers is lost to somebody else from then on. (d) `timeouts`: whether a timeout may be the radio's.
//! - **Bound** Uploads only: the MAC's reports are local. A loss at a later hop by radio is congestion to the sender. A segment
//!   that came through and whose MAC ACKs were lost is given up, and never lost: nobody asks about it.
//! - **Checked** `tests/all/cross_lda.rs`; `every_scheme`; `world/tests/all/cross_lda.rs`; figures in docs/schemes/cross-lda.md.

use crate::{Agent, Cx, Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Fate, TxReport};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;
use tcp::{Ack, FlowFacts, Loss, SenderHook};
use units::FlowId;
use wire::{Packet, SeqRange, SeqSet};

/// Its declaration.
pub const INFO: Info = Info {
    id: "cross-lda",
    summary: "a loss of what the sender's own MAC gave up on is answered without a window cut",
    source: "LDP07, in DSDK14",
    params: &[Param {
        key: "timeouts",
        kind: Kind::Choice(&["judged", "congestion"]),
        default: Value::Choice("judged"),
        doc: "a timeout: judged like any loss, or always congestion",
    }],
};

/// At a node with a radio and an end of flows.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !(site.node.starts_flows || site.node.ends_flows) {
        return Ok(());
    }
    let shared = Rc::new(RefCell::new(Shared::default()));
    let (address, judges_timeouts) = (site.node.address, params.choice("timeouts") == "judged");
    site.reads_tcp();
    site.agent(Listen { address, shared: Rc::clone(&shared) }).reports();
    site.hook_sender(move |flow| {
        let shared = Rc::clone(&shared);
        Some(Box::new(Judge { flow, judges_timeouts, timed_out: false, shared }))
    });
    Ok(())
}

/// The state that agent and hooks share.
#[derive(Debug, Default)]
struct Shared {
    /// The numbers of each flow on which the MAC gave up when they were sent last.
    given_up: BTreeMap<FlowId, SeqSet>,
    corruptions: u64,
    congestions: u64,
}

/// Listens to the MAC.
#[derive(Debug)]
struct Listen {
    address: Ipv4Addr,
    shared: Rc<RefCell<Shared>>,
}

impl Agent for Listen {
    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        let (Some(_), Some(range), true) = (packet.tcp_data(), packet.tcp_range(), packet.ip.src == self.address)
        else {
            return;
        };
        let given_up = &mut self.shared.borrow_mut().given_up;
        if report.fate == Fate::GivenUp {
            given_up.entry(packet.flow).or_default().insert(range);
        } else if let Some(given_up) = given_up.get_mut(&packet.flow) {
            // It has left this radio, or its own queue has dropped it: what is missing now is missing for that.
            given_up.remove(range);
        }
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        let given_up = &mut self.shared.borrow_mut().given_up;
        for way in [flow, flow.reverse()] {
            given_up.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let shared = self.shared.borrow();
        out("corruptions", shared.corruptions);
        out("congestions", shared.congestions);
    }
}

/// In a sender: judges its losses.
#[derive(Debug)]
struct Judge {
    flow: FlowId,
    judges_timeouts: bool,
    /// The loss that is asked about next was found by the timer.
    timed_out: bool,
    shared: Rc<RefCell<Shared>>,
}

impl SenderHook for Judge {
    fn on_ack(&mut self, ack: &Ack, facts: &FlowFacts) {
        if let (Some(given_up), true) =
            (self.shared.borrow_mut().given_up.get_mut(&self.flow), ack.number.le(facts.snd_max))
        {
            given_up.forget_before(ack.number);
        }
    }

    fn on_timeout(&mut self, _: &FlowFacts) {
        self.timed_out = true;
    }

    fn loss(&mut self, verdict: Loss, range: SeqRange, _: &FlowFacts) -> Loss {
        let is_judged = !std::mem::take(&mut self.timed_out) || self.judges_timeouts;
        let shared = &mut *self.shared.borrow_mut();
        let is_ours = shared.given_up.get(&self.flow).is_some_and(|given_up| given_up.contains(range.start));
        if is_ours && is_judged {
            shared.corruptions += 1;
            Loss::Corruption
        } else {
            shared.congestions += 1;
            verdict
        }
    }
}
