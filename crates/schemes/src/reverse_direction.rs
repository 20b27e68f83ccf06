//! Reverse direction: what is left of a transmit opportunity is granted to the station that has just received an A-MPDU, whose TCP ACKs return in it.
//!
//! - **Source** @80211-2020 10.29, the reverse direction protocol of 802.11n; TCP's ACKs in it as in @SA16.
//! - **Realism** no oracle. An optional part of the standard. It looks at no packet, so encrypted traffic is no different. Both ends of a link must
//!   have it.
//! - **Departs** *From the standard* a burst has one PPDU, behind a Block Ack of its own: no A-MPDU of Block Ack and data, no RIFS. An Ack neither grants nor takes
//!   a grant. A responder's category draws a new backoff after its burst, as after any transmission. *Left open there:*
//!   (a) The grant is the time that the Duration of the data has beyond the Block Ack (10.29.3): what is left of the opportunity, at most `grant`. An
//!   initiator keeps free behind its A-MPDU what the receiver's last burst took and an eighth more; an eighth less for each grant that was
//!   not used. It does not know what the receiver has to say; of one that left two in a row unused one A-MPDU in eight asks again.
//!   (b) What is not used is given back: the opportunity goes on if an A-MPDU and what it keeps free may follow, or a CF-End ends it.
//!   (c) A responder returns what stands first in a category, the highest that has something for the initiator. A queue is not searched: an access point
//!   with many uploads seldom has the ACKs of the station that it hears.
//!   (d) HT Control is in all QoS data between two stations that have it, granted or not: 4 B each.
//!   (e) Without a limit there is nothing left to grant (10.23.2.9), so categories that aggregate and have none get `txop_limit`:
//!   the 2.528 ms that AC_BK and AC_BE have since 802.11-2016 ([`mac::TxopLimits::Dot11`]).
//! - **Checked** `mac/tests/all/reverse.rs` (to the microsecond), `mac/tests/all/block_ack_histories.rs`, `world/tests/all/reverse_direction.rs`.

use crate::{Agent, Cx, Info, Kind as Type, Param, Params, PeerEvent, Refusal, Site, Value, What};
use mac::exchange::{self, Exchange, Job, Response};
use mac::{Config, Frame, Kind, Plan};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Dur, NodeId};

/// Its declaration.
pub const INFO: Info = Info {
    id: "reverse-direction",
    summary: "a receiver's ACKs return in the transmit opportunity of their data",
    source: "IEEE 802.11-2020 10.29",
    params: &[
        Param {
            key: "grant",
            kind: Type::Time { min: LEAST, max: Dur::from_ms(4) },
            default: Value::Time(Dur::from_ms(2)),
            doc: "the longest grant behind an A-MPDU and its Block Ack",
        },
        Param {
            key: "txop_limit",
            kind: Type::Time { min: Dur::from_us(500), max: Dur::from_ms(10) },
            default: Value::Time(Dur::from_us(2528)),
            doc: "the limit of opportunities in categories that aggregate and have none",
        },
    ],
};

/// The shortest grant: two gaps of 16 us, a preamble of HT of 36, an Ack of 28 at 24 Mb/s.
const LEAST: Dur = Dur::from_us(100);

/// The expectation of a burst before the first: one of 32 TCP ACKs takes 148 us with 802.11ac, and an eighth more is kept.
const FIRST: Dur = Dur::from_us(200);

/// A neighbour that has left so many grants in a row unused gets one with one A-MPDU in eight. Four in a row were tried too: docs/design/reverse-direction.md.
const UNUSED: u8 = 2;
/// See [`UNUSED`].
const ONE_IN: u8 = 8;

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let limit = params.time("txop_limit");
    let aggregation = site.mac().aggregation.filter(|own| own.starts());
    let (Some(own), Some(edca)) = (aggregation, site.radio().mac.edca.as_mut()) else {
        let write = "write standard = \"802.11n\" or later in [radio], and no block_ack = [] in [radio.aggregation]";
        return Err(Refusal::new(format!("it grants time behind A-MPDUs, and this radio makes none; {write}")));
    };
    for i in 0..edca.categories.len() as u8 {
        let aggregates = own.starts_for(edca.user_priority(i, 0));
        let category = &mut edca.categories[usize::from(i)];
        if aggregates && category.txop_limit == Dur::ZERO {
            category.txop_limit = limit;
        }
    }
    // The bytes behind a bitmap and a Control Wrapper around it are one too many.
    site.exclusive(What::LOADS);
    let shared = Rc::new(RefCell::new(Shared { partners: vec![false; site.node.nodes], ..Shared::default() }));
    site.announce(0);
    site.agent(ReverseDirection(Rc::clone(&shared)));
    let grant = params.time("grant");
    let expected = Burst { takes: FIRST.min(grant), is_used: true, unused: 0, skipped: 0 };
    let bursts = vec![expected; site.node.nodes];
    site.wrap_plan(|inner| Box::new(Reversing { inner, grant, bursts, granted: None, shared }));
    Ok(())
}

/// The state that an agent and its plan share.
#[derive(Debug, Default)]
struct Shared {
    /// The neighbours that have the scheme too.
    partners: Vec<bool>,
    /// A-MPDUs that granted time, and bursts in grants of others.
    grants: u64,
    bursts: u64,
    /// Bytes of the PSDUs in these bursts.
    returned: u64,
}

impl Shared {
    fn is_partner(&self, node: NodeId) -> bool {
        self.partners.get(node.index()).copied().unwrap_or(false)
    }
}

#[derive(Debug)]
struct ReverseDirection(Rc<RefCell<Shared>>);

impl Agent for ReverseDirection {
    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        if let Some(partner) = self.0.borrow_mut().partners.get_mut(node.index()) {
            *partner = event.announced(INFO.id).is_some();
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let shared = self.0.borrow();
        out("grants", shared.grants);
        out("bursts", shared.bursts);
        out("bytes_returned", shared.returned);
    }
}

/// The burst that an initiator expects of a neighbour.
#[derive(Debug, Clone, Copy)]
struct Burst {
    /// From the end of a plain Block Ack to that of the response to the data.
    takes: Dur,
    /// The last grant was used.
    is_used: bool,
    /// Grants since the last that was used.
    unused: u8,
    /// A-MPDUs that granted nothing since the last grant.
    skipped: u8,
}

impl Burst {
    /// True if the next A-MPDU grants.
    fn is_due(&self) -> bool {
        self.unused < UNUSED || self.skipped + 1 >= ONE_IN
    }

    /// An A-MPDU goes out. Returns whether it grants.
    fn grants(&mut self) -> bool {
        if !self.is_due() {
            self.skipped += 1;
            return false;
        }
        if !self.is_used {
            self.takes = (self.takes - self.takes / 8).max(LEAST);
            self.unused = self.unused.saturating_add(1);
        }
        (self.is_used, self.skipped) = (false, 0);
        true
    }

    /// The last grant was used by so much.
    fn took(&mut self, time: Dur, most: Dur) {
        *self = Burst { takes: (time + time / 8).clamp(LEAST, most), is_used: true, unused: 0, skipped: 0 };
    }
}

/// The inner frame sequences, grants, and the bursts that take them.
#[derive(Debug)]
struct Reversing {
    inner: Box<dyn Plan>,
    grant: Dur,
    /// By neighbour.
    bursts: Vec<Burst>,
    /// The neighbour that has the last grant.
    granted: Option<NodeId>,
    shared: Rc<RefCell<Shared>>,
}

impl Plan for Reversing {
    fn exchange(&mut self, config: &Config, job: &Job) -> Exchange {
        self.inner.exchange(config, job)
    }

    fn respond(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response> {
        let response = self.inner.respond(config, frame, nav_is_idle);
        if let (Kind::Data, Some(response)) = (frame.kind, &response)
            && self.granted.take_if(|neighbour| *neighbour == frame.from).is_some()
            && let Some(burst) = self.bursts.get_mut(frame.from.index())
        {
            burst.took(config.timing.sifs * 2 + frame.airtime + response.airtime, self.grant);
        }
        response
    }

    fn replies(&self) -> bool {
        self.inner.replies()
    }

    fn reply(&mut self, config: &Config, response: &Frame, job: &Job) -> Option<Exchange> {
        self.inner.reply(config, response, job)
    }

    fn reverses(&self) -> bool {
        true
    }

    fn reverses_with(&self, to: NodeId) -> bool {
        self.shared.borrow().is_partner(to)
    }

    fn keeps_free(&self, to: NodeId) -> Dur {
        let burst = self.bursts.get(to.index()).filter(|_| self.reverses_with(to));
        burst.filter(|burst| burst.is_due()).map_or(Dur::ZERO, |burst| burst.takes)
    }

    fn grant(&mut self, to: NodeId, left: Dur) -> Dur {
        let mut shared = self.shared.borrow_mut();
        let burst = self.bursts.get_mut(to.index()).filter(|_| left >= LEAST && shared.is_partner(to));
        if !burst.is_some_and(Burst::grants) {
            return Dur::ZERO;
        }
        self.granted = Some(to);
        shared.grants += 1;
        left.min(self.grant)
    }

    fn burst(&mut self, config: &Config, block_ack: &Frame, job: &Job) -> Option<Exchange> {
        let mut shared = self.shared.borrow_mut();
        let burst = exchange::burst(config, block_ack, job).filter(|_| shared.is_partner(block_ack.to))?;
        shared.bursts += 1;
        shared.returned += job.psdu.0;
        Some(burst)
    }
}
