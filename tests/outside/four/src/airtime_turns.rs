//! A transmit queue that gives its links equal shares of airtime, and less to a link that brings nothing.
//!
//! - **Source** none; the idea of mac80211's airtime fairness, as a fair queue by virtual time.
//! - **Departs** what is charged is the time of frames and responses, without backoff and gaps. An attempt of which nothing was
//!   acknowledged is charged `penalty` times.
//! - **Bound** it needs an inner queue that finds the MSDUs of one link (`radio.queue` with `per = "receiver"`, or a short one).
//! - **Checked** `tests/outside/four/tests/queue.rs`.

use mac::{Around, Msdu, PsduReport, RaTid, TxQueue, Wrap};
use schemes::{Agent, Info, Kind, Param, Params, Refusal, Site, Value};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Dur, NodeId, SimTime};
use wire::Packets;

/// Declaration of the scheme.
pub const INFO: Info = Info {
    id: "airtime-turns",
    summary: "links share airtime, those that bring nothing less of it",
    source: "none",
    params: &[Param {
        key: "penalty",
        kind: Kind::Int { min: 1, max: 100 },
        default: Value::Int(4),
        doc: "how many times an attempt is charged of which nothing was acknowledged",
    }],
};

/// At all radios.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        let counts = Rc::new(RefCell::new(Counts::default()));
        let penalty = u64::try_from(params.int("penalty")).expect("within its bounds");
        site.agent(Teller(counts.clone()));
        site.wrap_queue(move |inner| Box::new(Around::new(inner, Turns::new(penalty, counts.clone()))));
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Counts {
    attempts: u64,
    without_ack: u64,
}

/// A link and the airtime that it was charged.
#[derive(Debug)]
struct Account {
    link: RaTid,
    charged: Dur,
}

#[derive(Debug)]
struct Turns {
    penalty: u64,
    accounts: Vec<Account>,
    /// The account of the link that had the last turn: a link that comes back from idleness has as much.
    virtual_time: Dur,
    counts: Rc<RefCell<Counts>>,
}

impl Turns {
    fn new(penalty: u64, counts: Rc<RefCell<Counts>>) -> Turns {
        Turns { penalty, accounts: Vec::new(), virtual_time: Dur::ZERO, counts }
    }
}

impl Wrap for Turns {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let link = RaTid::of(&msdu);
        let is_idle = inner.peek(now, link, all).is_none();
        match self.accounts.iter_mut().find(|account| account.link == link) {
            Some(account) if is_idle => account.charged = account.charged.max(self.virtual_time),
            Some(_) => {}
            None => self.accounts.push(Account { link, charged: self.virtual_time }),
        }
        inner.push(now, msdu, all)
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        self.accounts.sort_by_key(|account| account.charged); // stable: equal ones keep their order
        for account in &self.accounts {
            if inner.peek(now, account.link, all).is_some() {
                self.virtual_time = account.charged;
                return inner.pop_for(now, account.link, all);
            }
        }
        inner.pop(now, all)
    }

    fn heeds_attempts(&self, _: &dyn TxQueue) -> bool {
        true
    }

    fn attempted(&mut self, inner: &mut dyn TxQueue, now: SimTime, report: &PsduReport<'_>) {
        let is_in_vain = report.acknowledged.is_empty() && report.link.to != NodeId::BROADCAST;
        let mut counts = self.counts.borrow_mut();
        counts.attempts += 1;
        counts.without_ack += u64::from(is_in_vain);
        if let Some(account) = self.accounts.iter_mut().find(|account| account.link == report.link) {
            let times = if is_in_vain { self.penalty } else { 1 };
            account.charged = account.charged.saturating_add(report.airtime.saturating_mul(times));
        }
        if inner.heeds_attempts() {
            inner.attempted(now, report);
        }
    }
}

/// Shows the counters.
#[derive(Debug)]
struct Teller(Rc<RefCell<Counts>>);

impl Agent for Teller {
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let counts = self.0.borrow();
        out("attempts_told", counts.attempts);
        out("attempts_in_vain", counts.without_ack);
    }
}
