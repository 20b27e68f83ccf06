//! DCF+: the MAC ACK of a station with data for the acknowledged one works as an RTS for that data.
//!
//! - **Source** @WPL02: Wu, Peng, Long, Cheng, Ma, "Performance of reliable transport protocol over IEEE 802.11 wireless LAN:
//!   analysis and enhancement", INFOCOM 2002, as @SAN14 section 4.2 and figure 4.2 tell it.
//! - **Realism** no oracle; looks at no packet, so encrypted traffic is no different. Stations that know nothing of it read the
//!   Duration of an ACK, as of any frame. Both ends of a link must have it.
//! - **Departs** what the sources leave open:
//!   (a) What is returned is the MSDU at the head of the line, if it is for the acknowledged station: a queue is not searched. At an
//!   access point with many stations that is seldom so.
//!   (b) One reply follows what was contended for; the ACK of the returned data asks for nothing, or two stations would keep
//!   the medium. Inside a transmit opportunity (EDCA) only the ACK of its last frame asks.
//!   (c) Without a CTS the request has failed as an RTS would have: short retry counter, CW doubled. Data lost behind the CTS counts on
//!   the long one. After the reply a new backoff is drawn, as after every transmission.
//!   (d) A NAV that rests on such an ACK is not reset if no CTS follows: the standard allows that after an RTS only.
//!   (e) A station with the NAV set neither asks nor grants, as with RTS and CTS.
//! - **Checked** `mac/tests/all/edca/reply.rs` (the sequence to the microsecond), `tests/all/dcf_plus.rs`, `world/tests/all/ack_return.rs`.

use crate::{Agent, Cx, Info, Params, PeerEvent, Refusal, Site};
use mac::exchange::{self, Exchange, Job, Response};
use mac::{Body, Config, Frame, Kind, Plan};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Dur, NodeId};

/// Its declaration.
pub const INFO: Info = Info {
    id: "dcf-plus",
    summary: "the MAC ACK works as an RTS for the receiver's own data",
    source: "WPL02, in SAN14 section 4.2",
    params: &[],
};

/// At every node with a radio.
pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    site.excludes_block_ack("its request is the Duration of an Ack, and an A-MPDU is answered by a Block Ack");
    let shared = Rc::new(RefCell::new(Shared { partners: vec![false; site.node.nodes], requests: 0, grants: 0 }));
    site.announce(0);
    site.agent(DcfPlus(Rc::clone(&shared)));
    site.wrap_plan(|inner| Box::new(AckAsRts { inner, returns: None, is_last: false, shared }));
    Ok(())
}

/// The state that an agent and its plan share.
#[derive(Debug)]
struct Shared {
    /// The neighbours that have the scheme too.
    partners: Vec<bool>,
    /// ACKs sent that asked for the medium, and responded to with a CTS.
    requests: u64,
    grants: u64,
}

#[derive(Debug)]
struct DcfPlus(Rc<RefCell<Shared>>);

impl Agent for DcfPlus {
    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.0.borrow_mut().partners[node.index()] = event.announced(INFO.id).is_some();
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let shared = self.0.borrow();
        out("requests", shared.requests);
        out("grants", shared.grants);
    }
}

/// The inner frame sequences, and the one that an ACK begins.
#[derive(Debug)]
struct AckAsRts {
    inner: Box<dyn Plan>,
    /// The neighbour whose data comes next, after our CTS.
    returns: Option<NodeId>,
    /// The response under way acknowledges that data: it asks for nothing.
    is_last: bool,
    shared: Rc<RefCell<Shared>>,
}

impl AckAsRts {
    fn is_partner(&self, node: NodeId) -> bool {
        self.shared.borrow().partners.get(node.index()).copied().unwrap_or(false)
    }
}

impl Plan for AckAsRts {
    fn exchange(&mut self, config: &Config, job: &Job) -> Exchange {
        self.returns = None;
        self.inner.exchange(config, job)
    }

    fn respond(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response> {
        if frame.kind != Kind::Ack {
            self.is_last = self.returns.take() == Some(frame.from) && frame.kind == Kind::Data;
            return self.inner.respond(config, frame, nav_is_idle);
        }
        if !self.is_partner(frame.from) || !nav_is_idle {
            return self.inner.respond(config, frame, nav_is_idle);
        }
        self.returns = Some(frame.from);
        self.shared.borrow_mut().grants += 1;
        Some(Response::to(config, frame.tx.mode, frame.duration, Kind::Cts, Body::Nothing))
    }

    fn replies(&self) -> bool {
        true
    }

    fn reply(&mut self, config: &Config, response: &Frame, job: &Job) -> Option<Exchange> {
        let ends_it = response.kind == Kind::Ack && response.duration == Dur::ZERO && !self.is_last;
        if !ends_it || !self.is_partner(response.to) {
            return self.inner.reply(config, response, job);
        }
        self.shared.borrow_mut().requests += 1;
        Some(exchange::reply(config, response, job))
    }
}
