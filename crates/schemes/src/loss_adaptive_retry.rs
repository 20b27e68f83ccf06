//! Loss-adaptive retries: the more TCP loses, the more often the radio of its sender repeats its segments.
//!
//! - **Source** @VDTB03: Vacirca, De Vendictis, Todini & Baiocchi, "On the Effects of ARQ Mechanisms on TCP Performance in Wireless
//!   Environments", IEEE GLOBECOM 2003, as @MFHA07 section I tells it: "optimize the number of link-layer retransmissions dependent
//!   on the end-to-end packet loss rate perceived by TCP". The paper itself was not at hand.
//! - **Realism** no oracle: a sender and the MAC of its own node.
//! - **Departs** the rule is ours. (a) Each loss that TCP finds, whatever its cause, doubles the limit of that flow's segments, up to
//!   `most`, once a smoothed RTT; `patience` without a loss takes one from it, down to `least`. (b) It counts transmissions in all and
//!   begins at the MAC's `max_attempts`. (c) Packets of other flows, ACKs of TCP among them, keep the MAC's limits.
//! - **Bound** Uploads only: a base station does not see what TCP has lost. Losses by congestion raise the limit too; `cross-lda`
//!   tells them apart.
//! - **Checked** `tests/all/loss_adaptive_retry.rs`; `every_scheme`; `world/tests/all/retry.rs`; figures in
//!   docs/schemes/loss-adaptive-retry.md.

use crate::retry_limit::{Limit, Limited};
use crate::{Agent, Cx, Info, Kind, Param, Params, Refusal, Site, Value};
use mac::Around;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tcp::{Ack, FlowFacts, Loss, SenderHook};
use units::{Dur, FlowId, SimTime};
use wire::{Packet, SeqRange};

/// Its declaration.
pub const INFO: Info = Info {
    id: "loss-adaptive-retry",
    summary: "the more segments TCP loses, the more often its own radio repeats them",
    source: "VDTB03, in MFHA07 section I",
    params: &[
        Param {
            key: "least",
            kind: Kind::Int { min: 1, max: 255 },
            default: Value::Int(4),
            doc: "transmissions in all of a segment while TCP loses nothing for long",
        },
        Param {
            key: "most",
            kind: Kind::Int { min: 1, max: 255 },
            default: Value::Int(255),
            doc: "the same, however much it loses; no less than least",
        },
        Param {
            key: "patience",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(1000) },
            default: Value::Time(Dur::from_secs(1)),
            doc: "time without a loss that takes one from the limit",
        },
    ],
};

/// At a node with a radio and an end of flows.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !(site.node.starts_flows || site.node.ends_flows) {
        return Ok(());
    }
    let (least, most, patience) = (params.int("least") as u8, params.int("most") as u8, params.time("patience"));
    if most < least {
        return Err(format!("most = {most} is less than least = {least}; write most = {least} or more").into());
    }
    let first = site.mac().max_attempts.clamp(least, most);
    let limits = Limits(Rc::default());
    let (of_queue, of_hooks) = (limits.clone(), limits.clone());
    site.reads_tcp();
    site.agent(limits);
    site.wrap_queue(move |inner| Box::new(Around::new(inner, Limited(of_queue.clone()))));
    site.hook_sender(move |flow| {
        let limits = of_hooks.clone();
        limits.0.borrow_mut().of.insert(flow, first);
        let began = SimTime::ZERO;
        Some(Box::new(Adapt { flow, bounds: [least, most], patience, now: began, raised: None, since: None, limits }))
    });
    Ok(())
}

/// The state that agent, queue and hooks share.
#[derive(Debug, Default)]
struct Shared {
    /// Transmissions in all, by flow.
    of: BTreeMap<FlowId, u8>,
    raises: u64,
    lowers: u64,
}

#[derive(Debug, Clone)]
struct Limits(Rc<RefCell<Shared>>);

impl Limit for Limits {
    fn transmissions(&self, packet: &Packet) -> Option<u8> {
        packet.tcp_data().and_then(|_| self.0.borrow().of.get(&packet.flow).copied())
    }
}

impl Agent for Limits {
    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        let of = &mut self.0.borrow_mut().of;
        for way in [flow, flow.reverse()] {
            of.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let shared = self.0.borrow();
        out("raises", shared.raises);
        out("lowers", shared.lowers);
    }
}

/// A sender's hook: sets its limit.
#[derive(Debug)]
struct Adapt {
    flow: FlowId,
    /// `least` and `most`.
    bounds: [u8; 2],
    patience: Dur,
    /// The time of the latest ACK, which stands for the time of a loss.
    now: SimTime,
    /// The last time the limit was raised; the next raise is at least a smoothed RTT later.
    raised: Option<SimTime>,
    /// The start of the time without a loss.
    since: Option<SimTime>,
    limits: Limits,
}

impl SenderHook for Adapt {
    fn on_ack(&mut self, ack: &Ack, _: &FlowFacts) {
        self.now = ack.now;
        let since = *self.since.get_or_insert(ack.now);
        let shared = &mut *self.limits.0.borrow_mut();
        let Some(limit) = shared.of.get_mut(&self.flow).filter(|_| since + self.patience <= ack.now) else { return };
        self.since = Some(ack.now);
        if *limit > self.bounds[0] {
            *limit -= 1;
            shared.lowers += 1;
        }
    }

    fn loss(&mut self, verdict: Loss, _: SeqRange, facts: &FlowFacts) -> Loss {
        self.since = Some(self.now);
        let rtt = facts.srtt.unwrap_or(Dur::ZERO);
        if self.raised.is_none_or(|raised| raised + rtt <= self.now) {
            let shared = &mut *self.limits.0.borrow_mut();
            if let Some(limit) = shared.of.get_mut(&self.flow).filter(|limit| **limit < self.bounds[1]) {
                *limit = limit.saturating_mul(2).min(self.bounds[1]);
                self.raised = Some(self.now);
                shared.raises += 1;
            }
        }
        verdict
    }
}
