//! One connection in two halves: their machines, the data that passes between them, the data that is owed.

use super::Books;
use crate::{Cx, Key, Toward};
use tcp::{Config, Connection, Input, Output, State, Why};
use units::{FlowId, SimTime};
use wire::{Content, Flags, Ipv4, L4, Packet, Payload, Tcp, ecn};

/// The half that faces the end that opened the connection.
const NEAR: usize = 0;
/// The half that opens it again, towards the other end.
const FAR: usize = 1;

/// One end of one of the two connections: it speaks to one host in the other's name.
#[derive(Debug)]
struct Half {
    conn: Connection,
    /// The header of what it sends: from the host in whose name it speaks.
    ip: Ipv4,
    /// The direction it sends on.
    flow: FlowId,
    /// The time its timer is set to.
    wake: SimTime,
    /// Its host has closed.
    has_peer_closed: bool,
    /// Bytes of its host's stream that it has acknowledged: what RCV.NXT was when the last ACK left.
    acked: u64,
}

impl Half {
    fn new(conn: Connection, ip: Ipv4, flow: FlowId) -> Half {
        Half { conn, ip, flow, wake: SimTime::NEVER, has_peer_closed: false, acked: 0 }
    }

    /// True if data of `tcp` is of the stream this half reads. A stream is virtual: its bytes are their place in it, and
    /// a payload of another place, or of real bytes, cannot be taken over.
    fn reads(&self, tcp: &Tcp, payload: &Payload) -> bool {
        let conn = &self.conn;
        let takes = [State::SynReceived, State::Established, State::FinWait1, State::FinWait2];
        if payload.len == 0 || !takes.contains(&conn.state()) {
            return true; // it takes no text now, but may have to answer
        }
        let beyond = (tcp.seq - conn.rcv_nxt()) as i32;
        let place = conn.counters().delivered_bytes.wrapping_add_signed(i64::from(beyond));
        payload.content == Content::Virtual { offset: place }
    }
}

/// A connection that was split.
#[derive(Debug)]
pub(super) struct Split {
    halves: [Half; 2],
    /// The index of the half that faces the radio.
    wireless: usize,
    /// The opener's SYN: not answered until the other end has answered ours.
    opening: Option<Tcp>,
    /// It was reset, refused or timed out.
    has_failed: bool,
    /// The part of [`Split::owed`] that the books contain.
    booked: u64,
}

impl Split {
    /// Takes over a connection from its SYN. `configs` are of the half that faces the opener and of the other.
    pub fn new(syn: &Packet, tcp: &Tcp, configs: [Config; 2], came_by_air: bool) -> Split {
        let [near, far] = configs;
        let out = Ipv4 { src: syn.ip.src, dst: syn.ip.dst, tos: syn.ip.tos & !ecn::MASK, ..Ipv4::default() };
        let back = Ipv4 { src: out.dst, dst: out.src, ..out };
        let near = Connection::listen(near, tcp.dst_port, tcp.src_port);
        let far = Connection::open(far, tcp.src_port, tcp.dst_port);
        Split {
            halves: [Half::new(near, back, syn.flow.reverse()), Half::new(far, out, syn.flow)],
            wireless: if came_by_air { NEAR } else { FAR },
            opening: Some(*tcp),
            has_failed: false,
            booked: 0,
        }
    }

    /// True once a new SYN may take its place: nothing is left to be said, or only to late segments. @RFC9293 sec. 3.6.1
    pub fn is_over(&self) -> bool {
        self.halves.iter().all(|half| matches!(half.conn.state(), State::Closed | State::TimeWait))
    }

    /// The machine that faces the radio, and the other.
    pub fn machines(&self) -> [&Connection; 2] {
        [self.wireless, 1 - self.wireless].map(|side| &self.halves[side].conn)
    }

    /// Bytes acknowledged to their sender that their receiver has not acknowledged, both directions.
    fn owed(&self) -> u64 {
        let [near, far] = &self.halves;
        near.acked.saturating_sub(far.conn.acknowledged()) + far.acked.saturating_sub(near.conn.acknowledged())
    }

    /// A segment on its way through this node. Returns whether it was one that a half could take.
    pub fn segment(&mut self, packet: &Packet, tcp: &Tcp, now: SimTime, books: &mut Books) -> bool {
        let side = if packet.flow == self.halves[FAR].flow { NEAR } else { FAR };
        if side == NEAR && tcp.flags.has(Flags::SYN) && self.opening.is_some() {
            self.opening = Some(*tcp); // repeated, or a new attempt: the last one counts
            return true;
        }
        let half = &mut self.halves[side];
        if !half.reads(tcp, &packet.payload) {
            return false;
        }
        let was = half.conn.state();
        half.conn.handle(now, Input::Segment { tcp, payload: &packet.payload, ce: packet.ip.is_ce() });
        if was == State::SynReceived && half.conn.state() == State::Listen {
            half.conn.handle(now, Input::Abort); // the opener took its SYN back
            self.fail(side, Why::Reset, now, books);
        }
        true
    }

    /// Handles the timer of the half that sends on `flow`.
    pub fn timer(&mut self, flow: FlowId, now: SimTime) {
        let half = &mut self.halves[usize::from(self.halves[FAR].flow == flow)];
        half.wake = SimTime::NEVER;
        half.conn.handle(now, Input::Timer);
    }

    /// Carries out the outputs of both machines, moves data between them, sets their timers, books the data that is owed.
    pub fn settle(&mut self, cx: &mut Cx, books: &mut Books) {
        let now = cx.now;
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for side in [NEAR, FAR] {
                while let Some(output) = self.halves[side].conn.poll(now) {
                    is_settled = false;
                    match output {
                        Output::Segment { tcp, payload, ect, .. } => {
                            let mut ip = self.halves[side].ip;
                            if ect {
                                ip.set_ect();
                            }
                            self.send(side, ip, tcp, payload, cx, books);
                        }
                        // At once, before its ACK is made: the window in it counts what was read.
                        Output::Readable { .. } => _ = self.carry(side, now, books),
                        Output::PeerClosed => self.halves[side].has_peer_closed = true,
                        Output::Connected if side == FAR => self.answer(now),
                        Output::Failed(why) => self.fail(side, why, now, books),
                        Output::Connected | Output::SendSpace | Output::Closed => {}
                    }
                }
                is_settled &= !self.carry(side, now, books);
            }
        }
        for half in &mut self.halves {
            let wake = half.conn.next_wakeup();
            if wake != half.wake {
                half.wake = wake;
                cx.timer(key(half.flow), wake);
            }
        }
        self.book(books);
    }

    fn send(&mut self, side: usize, ip: Ipv4, tcp: Tcp, payload: Payload, cx: &mut Cx, books: &mut Books) {
        let half = &mut self.halves[side];
        if tcp.flags.has(Flags::ACK) {
            half.acked = half.conn.counters().delivered_bytes;
        }
        books.segments_made += 1;
        let pkt = cx.make(Packet { ip, l4: L4::Tcp(tcp), payload, flow: half.flow });
        cx.inject(pkt, Toward::Route);
    }

    /// Moves what the host of `side` has sent into the other half's send buffer, as far as it has room, and its FIN after
    /// the last byte. What finds no room stays in the receive buffer and closes the window. Returns whether anything
    /// moved.
    fn carry(&mut self, side: usize, now: SimTime, books: &mut Books) -> bool {
        let [near, far] = &mut self.halves;
        let (from, to) = if side == NEAR { (near, far) } else { (far, near) };
        let bytes = from.conn.unread().min(to.conn.send_space()).0;
        if bytes > 0 {
            from.conn.handle(now, Input::Read(bytes));
            to.conn.handle(now, Input::Write(bytes));
            books.forwarded_bytes += bytes;
        }
        let is_last = from.has_peer_closed && from.conn.unread().0 == 0;
        if is_last {
            from.has_peer_closed = false;
            to.conn.handle(now, Input::Close);
        }
        bytes > 0 || is_last
    }

    /// The other end has taken the connection: now the opener may have its SYN-ACK.
    fn answer(&mut self, now: SimTime) {
        if let Some(syn) = self.opening.take() {
            self.halves[NEAR].conn.handle(now, Input::Segment { tcp: &syn, payload: &Payload::EMPTY, ce: false });
        }
    }

    /// One half is lost, and so is the other. A refusal is passed on as one.
    fn fail(&mut self, side: usize, why: Why, now: SimTime, books: &mut Books) {
        let other = &mut self.halves[1 - side].conn;
        other.handle(now, Input::Abort);
        if let Some(syn) = self.opening.take().filter(|_| why != Why::TimedOut) {
            other.handle(now, Input::Segment { tcp: &syn, payload: &Payload::EMPTY, ce: false }); // a closed port
        }
        self.lose(books);
    }

    /// Counts the connection as failed and the data it owes as lost.
    pub fn lose(&mut self, books: &mut Books) {
        if !core::mem::replace(&mut self.has_failed, true) {
            books.connections_failed += 1;
            books.acked_lost_bytes += self.owed();
        }
        self.book(books);
    }

    fn book(&mut self, books: &mut Books) {
        let owed = if self.has_failed { 0 } else { self.owed() };
        books.acked_not_delivered_bytes = books.acked_not_delivered_bytes - self.booked + owed;
        self.booked = owed;
        books.highest_acked_not_delivered_bytes =
            books.highest_acked_not_delivered_bytes.max(books.acked_not_delivered_bytes);
    }
}

/// The timer of the half that sends on `flow`.
fn key(flow: FlowId) -> Key {
    Key(u64::from(flow.0))
}
