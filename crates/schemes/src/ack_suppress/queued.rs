//! Rules that work in the queue in which ACKs wait for the radio.

use super::{Books, plain_ack};
use crate::covered::Covered;
use mac::{Msdu, RaTid, Sought, TxQueue, Wrap};
use queue::Space;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, FlowId, NodeId, SimTime};
use wire::{Packets, Seq};

/// An ACK that waits, and the later one that goes in its place.
#[derive(Debug)]
struct Entry {
    flow: FlowId,
    to: NodeId,
    /// The serial of the one that the inner queue holds.
    serial: u64,
    /// The number of the latest.
    number: Seq,
    len: Bytes,
    instead: Option<Msdu>,
}

/// Broadcom: a later ACK takes the place of the one that waits. dhd_ip.c, `dhd_tcpack_suppress`, `dhd_tcpack_check_xmit`
#[derive(Debug)]
pub(super) struct Replace {
    /// At most [`FLOWS`].
    table: Vec<Entry>,
    covered: Covered,
    books: Rc<RefCell<Books>>,
}

/// Flows with an ACK in the table. TCPACK_INFO_MAXNUM
const FLOWS: usize = 4;

impl Replace {
    pub(super) fn new(books: Rc<RefCell<Books>>) -> Replace {
        Replace { table: Vec::with_capacity(FLOWS), covered: Covered::default(), books }
    }

    fn cover(&mut self, msdu: Msdu, all: &Packets) {
        self.books.borrow_mut().suppressed += 1;
        self.covered.push(msdu, all);
    }

    /// Returns the MSDU that leaves in place of this one, which the inner queue has let go of.
    fn leaves(&mut self, msdu: Msdu, all: &Packets) -> Msdu {
        let Some(i) = self.table.iter().position(|entry| entry.serial == msdu.serial) else { return msdu };
        let Some(instead) = self.table.swap_remove(i).instead else { return msdu };
        self.cover(msdu, all);
        instead
    }
}

impl Wrap for Replace {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let Some(number) = plain_ack(packet).map(|tcp| tcp.ack) else {
            return inner.push(now, msdu, all).map_err(|lost| self.leaves(lost, all));
        };
        let (flow, to, serial, len) = (packet.flow, msdu.to, msdu.serial, packet.ip_len());
        let known = self.table.iter().position(|entry| (entry.flow, entry.to) == (flow, to));
        if let Some(i) = known {
            let entry = &mut self.table[i];
            if entry.number.lt(number) && entry.len == len {
                entry.number = number;
                if let Some(older) = entry.instead.replace(msdu) {
                    self.cover(older, all);
                }
                return Ok(());
            }
        }
        let pushed = inner.push(now, msdu, all);
        let is_in = pushed.as_ref().err().is_none_or(|lost| lost.serial != serial);
        self.books.borrow_mut().passed += u64::from(is_in);
        let pushed = pushed.map_err(|lost| self.leaves(lost, all));
        if is_in && known.is_none() && self.table.len() < FLOWS {
            self.table.push(Entry { flow, to, serial, number, len, instead: None });
        }
        pushed
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        inner.pop(now, all).map(|msdu| self.leaves(msdu, all))
    }

    fn dropped(&mut self, inner: &mut dyn TxQueue, all: &Packets) -> Option<Msdu> {
        inner.dropped(all).map(|msdu| self.leaves(msdu, all))
    }

    fn peek<'q>(
        &'q mut self,
        inner: &'q mut dyn TxQueue,
        now: SimTime,
        of: RaTid,
        all: &mut Packets,
    ) -> Option<&'q Msdu> {
        let serial = inner.peek(now, of, all)?.serial;
        let entry = self.table.iter().find(|entry| entry.serial == serial);
        match entry.and_then(|entry| entry.instead.as_ref()) {
            None => inner.peek(now, of, all),
            instead => instead,
        }
    }

    fn pop_for(&mut self, inner: &mut dyn TxQueue, now: SimTime, of: RaTid, all: &mut Packets) -> Option<Msdu> {
        inner.pop_for(now, of, all).map(|msdu| self.leaves(msdu, all))
    }

    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        let Sought::Serial(serial) = sought else {
            return inner.withdraw(now, sought, all).map(|msdu| self.leaves(msdu, all));
        };
        // Known outside by the one that leaves.
        let is_it = |entry: &&Entry| entry.instead.as_ref().is_some_and(|msdu| msdu.serial == serial);
        let place = self.table.iter().find(is_it).map(|entry| entry.serial);
        let is_covered = self.table.iter().any(|entry| entry.serial == serial && entry.instead.is_some());
        if is_covered {
            return None;
        }
        let out = inner.withdraw(now, Sought::Serial(place.unwrap_or(serial)), all)?;
        Some(self.leaves(out, all))
    }

    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        self.covered.pop().or_else(|| inner.expired(now, all).map(|msdu| self.leaves(msdu, all)))
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        let space = self.covered.within(inner.space());
        let instead = self.table.iter().filter(|entry| entry.instead.is_some());
        instead.fold(space, |space, entry| Space {
            used: space.used + entry.len,
            entries: space.entries + 1,
            ..space
        })
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        let mut out: Vec<Msdu> = self.table.drain(..).filter_map(|entry| entry.instead).collect();
        out.extend(std::iter::from_fn(|| self.covered.pop()));
        out.extend(inner.drain(now));
        out
    }
}

/// A pure ACK that came since the last look.
#[derive(Debug, Clone, Copy)]
struct Pending {
    serial: u64,
    number: Seq,
    session: usize,
}

/// A connection, and the greatest number of its ACKs since the last look.
#[derive(Debug, Clone, Copy)]
struct Session {
    flow: FlowId,
    seq: Seq,
    greatest: Seq,
}

/// wilc1000: before something is sent, ACKs below the greatest number of their connection leave the queue. wlan.c,
/// `wilc_wlan_txq_filter_dup_tcp_ack`, `tcp_process`
#[derive(Debug)]
pub(super) struct Newest {
    pending: Vec<Pending>,
    sessions: Vec<Session>,
    covered: Covered,
    books: Rc<RefCell<Books>>,
}

/// MAX_PENDING_ACKS, and twice MAX_TCP_SESSION.
const PENDING: usize = 256;
const SESSIONS: usize = 50;

impl Newest {
    pub(super) fn new(books: Rc<RefCell<Books>>) -> Newest {
        let (pending, sessions) = (Vec::with_capacity(PENDING), Vec::with_capacity(SESSIONS));
        Newest { pending, sessions, covered: Covered::default(), books }
    }

    fn note(&mut self, serial: u64, flow: FlowId, seq: Seq, number: Seq) {
        let known = self.sessions.iter().position(|it| (it.flow, it.seq) == (flow, seq));
        let session = match known {
            Some(i) => {
                let session = &mut self.sessions[i];
                session.greatest = session.greatest.max(number);
                i
            }
            None if self.sessions.len() < SESSIONS => {
                self.sessions.push(Session { flow, seq, greatest: number });
                self.sessions.len() - 1
            }
            None => return,
        };
        if self.pending.len() < PENDING {
            self.pending.push(Pending { serial, number, session });
        }
    }

    fn look(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) {
        for i in 0..self.pending.len() {
            let Pending { serial, number, session } = self.pending[i];
            // One that has left the queue is not found.
            if number.lt(self.sessions[session].greatest)
                && let Some(msdu) = inner.withdraw(now, Sought::Serial(serial), all)
            {
                let mut books = self.books.borrow_mut();
                books.suppressed += 1;
                books.passed -= 1;
                self.covered.push(msdu, all);
            }
        }
        self.pending.clear();
        self.sessions.clear();
    }
}

impl Wrap for Newest {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let noted = packet.pure_ack().map(|tcp| (msdu.serial, packet.flow, tcp.seq, tcp.ack));
        let pushed = inner.push(now, msdu, all);
        if let Some((serial, flow, seq, number)) = noted
            && pushed.as_ref().err().is_none_or(|lost| lost.serial != serial)
        {
            self.books.borrow_mut().passed += 1;
            self.note(serial, flow, seq, number);
        }
        pushed
    }

    fn peek<'q>(
        &'q mut self,
        inner: &'q mut dyn TxQueue,
        now: SimTime,
        of: RaTid,
        all: &mut Packets,
    ) -> Option<&'q Msdu> {
        self.look(inner, now, all);
        inner.peek(now, of, all)
    }

    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        self.look(inner, now, all);
        self.covered.pop().or_else(|| inner.expired(now, all))
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        self.covered.within(inner.space())
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.pending.clear();
        self.sessions.clear();
        let mut out: Vec<Msdu> = std::iter::from_fn(|| self.covered.pop()).collect();
        out.extend(inner.drain(now));
        out
    }
}
