//! Several MPDUs of a PSDU, one Block Ack, and a reorder buffer that gives up holes.
//!
//! **Source** @80211-2020 sec. 10.25 (Block Ack), without its set-up.
//! **Realism** both ends must have it; each announces it.
//! **Departs** no ADDBA: the first number that is heard of a sender opens its window. What comes behind the window for the first time
//! is handed up late, not discarded: it was acknowledged.
//! **Bound** `mpdus` and the MAC's attempts together keep a PSDU's numbers within the 64 of a bitmap. What a sender gives up is a
//! hole here, which is given up after `patience`. EDCA only: frames without QoS Control have one counter for all receivers, so that
//! each MSDU to another station would be a hole.
//! **Checked** by the tests below.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use mac::{
    AckPolicy, Bitmap, Body, Config, Data, Delivery, Frame, Kind as Sort, MpduSet, Msdu, Outcome, RaTid, Recipient,
    Response, SoFar, Solicited,
};
use phy::Mode;
use schemes::{Agent, Cx, Info, Kind, Param, Params, PeerEvent, Refusal, Site, Value};
use units::{Dur, NodeId, SimTime};
use wire::{Packets, Pkt};

/// Sequence numbers in all, and as many as a bitmap has.
const NUMBERS: u16 = 4096;
const WINDOW: u16 = 64;

/// Its declaration.
pub const INFO: Info = Info {
    id: "block-ack-receiver",
    summary: "a Block Ack for the MPDUs of a PSDU, and a reorder buffer that gives up holes",
    source: "@80211-2020",
    params: &[
        Param {
            key: "mpdus",
            kind: Kind::Int { min: 2, max: 64 },
            default: Value::Int(8),
            doc: "MPDUs that may share a PSDU",
        },
        Param {
            key: "patience",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(10) },
            default: Value::Time(Dur::from_ms(50)),
            doc: "how long what was received waits for a hole before it",
        },
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let mac = site.mac();
    if mac.edca.is_none() {
        return Err(
            "Block Ack needs the sequence numbers of QoS data; give the radios access categories (EDCA)".into()
        );
    }
    let mpdus = params.int("mpdus") as usize;
    let attempts = usize::from(mac.max_attempts.max(mac.max_attempts_long));
    if (mpdus - 1) * attempts >= usize::from(WINDOW) {
        let most = (usize::from(WINDOW) - 1) / attempts + 1;
        return Err(
            format!("with {attempts} attempts a PSDU's numbers exceed a bitmap; mpdus = {most} is the most").into()
        );
    }
    let shared = Rc::new(RefCell::new(Shared { has: vec![false; site.node.nodes], ..Shared::default() }));
    site.announce(0);
    site.agent(Neighbours(Rc::clone(&shared)));
    site.acknowledge(Policy { mpdus, shared: Rc::clone(&shared) });
    site.receive(Reorder { here: site.node.id, patience: params.time("patience"), lines: BTreeMap::new(), shared });
    Ok(())
}

/// The state that the parts at one node share.
#[derive(Debug, Default)]
struct Shared {
    /// The nodes that announced the scheme.
    has: Vec<bool>,
    block_acks: u64,
    reordered: u64,
    holes_given_up: u64,
    late: u64,
    duplicates: u64,
}

/// Hears who has the scheme, and tells the counters.
#[derive(Debug)]
struct Neighbours(Rc<RefCell<Shared>>);

impl Agent for Neighbours {
    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.0.borrow_mut().has[node.index()] = event.announced(INFO.id).is_some();
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let shared = self.0.borrow();
        out("block_acks", shared.block_acks);
        out("mpdus_reordered", shared.reordered);
        out("holes_given_up", shared.holes_given_up);
        out("mpdus_late", shared.late);
        out("duplicates", shared.duplicates);
    }
}

/// The sender's side.
#[derive(Debug)]
struct Policy {
    mpdus: usize,
    shared: Rc<RefCell<Shared>>,
}

impl AckPolicy for Policy {
    fn admits(&mut self, so_far: &SoFar, next: &Msdu, _: Mode) -> bool {
        let is_in_window = match (so_far.first_seq, next.seq) {
            (Some(first), Some(seq)) => seq.wrapping_sub(first) % NUMBERS < WINDOW,
            _ => true, // a new one, whose distance `install` has bounded
        };
        so_far.mpdus < self.mpdus && is_in_window && self.shared.borrow().has[next.to.index()]
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

/// The receiver's side.
#[derive(Debug)]
struct Reorder {
    here: NodeId,
    patience: Dur,
    /// By sender and TID: by counter of sequence numbers.
    lines: BTreeMap<(NodeId, Option<u8>), Line>,
    shared: Rc<RefCell<Shared>>,
}

/// The numbers received from one sender.
#[derive(Debug)]
struct Line {
    /// All before it were handed up or given up.
    next: u16,
    /// Those of the 64 before `next` that were handed up; bit 0 is `next - 1`.
    past: u64,
    held: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    seq: u16,
    since: SimTime,
    deliveries: Vec<Delivery>,
}

/// The place of a number beside the window.
#[derive(Debug, PartialEq)]
enum Standing {
    /// So many behind `next`, and not yet handed up.
    Late(u16),
    /// Received before.
    Known,
    /// Not repeated, and yet known or far behind: its sender has begun anew.
    Anew,
    Next,
    /// So many after `next`.
    Ahead(u16),
}

impl Line {
    fn standing(&self, seq: u16, is_retry: bool) -> Standing {
        let ahead = seq.wrapping_sub(self.next) % NUMBERS;
        let behind = NUMBERS - ahead;
        let repeated = if is_retry { Standing::Known } else { Standing::Anew };
        match ahead {
            0 => Standing::Next,
            _ if behind <= WINDOW && self.past >> (behind - 1) & 1 == 0 => Standing::Late(behind),
            _ if ahead >= NUMBERS / 2 || self.held.iter().any(|h| h.seq == seq) => repeated,
            _ => Standing::Ahead(ahead),
        }
    }

    fn step(&mut self, handed_up: bool) {
        self.past = self.past << 1 | u64::from(handed_up);
        self.next = (self.next + 1) % NUMBERS;
    }

    /// Hands up what is held from `next` on, up to the next hole.
    fn run(&mut self, up: &mut dyn FnMut(Delivery)) {
        while let Some(i) = self.held.iter().position(|h| h.seq == self.next) {
            self.held.swap_remove(i).deliveries.into_iter().for_each(&mut *up);
            self.step(true);
        }
    }

    /// Moves on to `seq`, gives up the holes before it, and hands up what is due. Returns the number of holes.
    fn move_to(&mut self, seq: u16, up: &mut dyn FnMut(Delivery)) -> u64 {
        let mut holes = 0;
        self.run(up);
        while (1..NUMBERS / 2).contains(&(seq.wrapping_sub(self.next) % NUMBERS)) {
            self.step(false);
            holes += 1;
            self.run(up);
        }
        holes
    }

    /// The first number that is held.
    fn first_held(&self) -> Option<u16> {
        self.held.iter().map(|h| h.seq).min_by_key(|seq| seq.wrapping_sub(self.next) % NUMBERS)
    }

    /// The time at which the hole at `next` is given up: it was known when the first after it came.
    fn deadline(&self, patience: Dur) -> SimTime {
        self.held.iter().map(|h| h.since).min().map_or(SimTime::NEVER, |since| since + patience)
    }
}

impl Reorder {
    fn take(&mut self, now: SimTime, from: NodeId, data: &Data, all: &mut Packets, up: &mut dyn FnMut(Delivery)) {
        let seq = data.seq;
        let tid = data.qos.map(|qos| qos.user_priority);
        let shared = &mut *self.shared.borrow_mut();
        let line = self.lines.entry((from, tid)).or_insert(Line { next: seq, past: 0, held: Vec::new() });
        let deliveries = |all: &mut Packets| -> Vec<Delivery> {
            let each = data.msdus.each().iter();
            each.map(|c| Delivery { pkt: all.copy_shared(&c.packet), from, options: c.options }).collect()
        };
        match line.standing(seq, data.is_retry) {
            Standing::Known => shared.duplicates += 1,
            Standing::Late(behind) => {
                line.past |= 1 << (behind - 1);
                shared.late += 1;
                deliveries(all).into_iter().for_each(up);
            }
            Standing::Next => {
                deliveries(all).into_iter().for_each(&mut *up);
                line.step(true);
                line.run(up);
            }
            Standing::Anew => {
                while let Some(first) = line.first_held() {
                    line.move_to(first, up);
                }
                *line = Line { next: (seq + 1) % NUMBERS, past: 1, held: Vec::new() };
                deliveries(all).into_iter().for_each(up);
            }
            Standing::Ahead(ahead) => {
                line.held.push(Held { seq, since: now, deliveries: deliveries(all) });
                shared.reordered += 1;
                if ahead >= WINDOW {
                    let start = seq.wrapping_sub(WINDOW - 1) % NUMBERS;
                    shared.holes_given_up += line.move_to(start, up);
                }
            }
        }
    }
}

impl Recipient for Reorder {
    fn respond(&mut self, config: &Config, frame: &Frame, got: &MpduSet, proposed: Response) -> Option<Response> {
        let mpdus = frame.psdu.mpdus();
        if mpdus.len() <= 1 {
            return Some(proposed);
        }
        let heard = || mpdus.iter().enumerate().filter(|(i, _)| got.contains(*i)).filter_map(|(_, m)| m.data());
        let start = heard().next()?.seq;
        let mut bitmap = Bitmap::new(start, usize::from(WINDOW));
        heard().for_each(|data| bitmap.insert(data.seq));
        self.shared.borrow_mut().block_acks += 1;
        Some(Response::to(config, frame.tx.mode, frame.duration, Sort::BlockAck, Body::Bitmap(bitmap)))
    }

    fn receive(
        &mut self,
        now: SimTime,
        frame: &Frame,
        got: &MpduSet,
        all: &mut Packets,
        up: &mut dyn FnMut(Delivery),
    ) {
        for (i, mpdu) in frame.psdu.mpdus().iter().enumerate() {
            let Some(data) = mpdu.data().filter(|_| got.contains(i)) else { continue };
            if frame.to == self.here {
                self.take(now, frame.from, data, all, up);
                continue;
            }
            // To a group: neither numbered for this station nor repeated.
            for carried in data.msdus.each() {
                up(Delivery { pkt: all.copy_shared(&carried.packet), from: frame.from, options: carried.options });
            }
        }
    }

    fn next_wakeup(&self) -> SimTime {
        self.lines.values().map(|line| line.deadline(self.patience)).min().unwrap_or(SimTime::NEVER)
    }

    fn timer(&mut self, now: SimTime, up: &mut dyn FnMut(Delivery)) {
        for line in self.lines.values_mut() {
            while line.deadline(self.patience) <= now
                && let Some(first) = line.first_held()
            {
                self.shared.borrow_mut().holes_given_up += line.move_to(first, up);
            }
        }
    }

    fn held(&self) -> u64 {
        let held = self.lines.values().flat_map(|line| &line.held);
        held.map(|h| h.deliveries.len() as u64).sum()
    }

    fn drain(&mut self) -> Vec<Pkt> {
        let held = self.lines.values_mut().flat_map(|line| line.held.drain(..));
        held.flat_map(|h| h.deliveries).map(|delivery| delivery.pkt).collect()
    }
}

#[cfg(test)]
mod tests {
    use schemes::testing::{
        Ground, HERE, OUT, THERE, bench_of, data as segment, dcf, edca, mpdu, node, psdu, response, with,
    };
    use units::Bytes;
    use wire::DropWhy;

    use super::*;

    /// A receiver at `HERE`, the arena of its packets, and what it handed up: where each segment starts.
    struct Bed {
        recipient: Box<dyn Recipient>,
        all: Packets,
        config: Config,
        got: Vec<u32>,
        sent: Vec<(NodeId, u16)>,
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(ms)
    }

    impl Bed {
        fn new() -> Bed {
            let facts = node(HERE, 3);
            let config = edca(facts.standard);
            let mut ground = Ground::new(facts).with_mac(config.clone());
            assert!(ground.install(&with(&INFO, install, &[])).unwrap());
            let recipient = ground.stack.recipient().unwrap();
            Bed { recipient, all: Packets::with_capacity(64), config, got: Vec::new(), sent: Vec::new() }
        }

        /// A PSDU from `from` of MPDUs with these sequence numbers; the segment in each starts at its number. Numbers that `from` has
        /// sent before are retries.
        fn psdu(&mut self, from: NodeId, seqs: &[u16]) -> Frame {
            let mut mpdus = Vec::new();
            for &seq in seqs {
                let is_retry = self.sent.contains(&(from, seq));
                self.sent.push((from, seq));
                let packet = segment(OUT, u32::from(seq)..u32::from(seq) + 1);
                mpdus.push(mpdu(&mut self.all, packet, seq, is_retry));
            }
            psdu((from, HERE), node(HERE, 3).standard.modes()[0], Dur::from_us(300), mpdus)
        }

        fn receive(&mut self, ms: u64, from: NodeId, seqs: &[u16], lost: &[u16]) {
            let frame = self.psdu(from, seqs);
            let got = &heard(seqs, lost);
            let mut up = Vec::new();
            self.recipient.receive(at(ms), &frame, got, &mut self.all, &mut |delivery| up.push(delivery));
            frame.release(&mut self.all);
            self.note(up);
        }

        fn timer(&mut self, ms: u64) {
            let mut up = Vec::new();
            self.recipient.timer(at(ms), &mut |delivery| up.push(delivery));
            self.note(up);
        }

        fn note(&mut self, up: Vec<Delivery>) {
            for delivery in up {
                self.got.push(self.all.get(&delivery.pkt).tcp_range().unwrap().start.0);
                self.all.free(delivery.pkt, DropWhy::Consumed);
            }
        }

        fn taken(&mut self) -> Vec<u32> {
            std::mem::take(&mut self.got)
        }
    }

    /// All of `seqs` but those lost.
    fn heard(seqs: &[u16], lost: &[u16]) -> MpduSet {
        let kept = seqs.iter().enumerate().filter(|(_, seq)| !lost.contains(seq));
        kept.map(|(i, _)| i).collect()
    }

    /// The page shows this very file.
    #[test]
    fn the_page_has_this_code() {
        let page = include_str!("../../../../../docs/design/contract.md");
        let own = include_str!("block_ack_receiver.rs");
        let parts = [
            ("impl AckPolicy for Policy", "/// The receiver's side."),
            ("    fn respond(", "    fn receive("),
            ("    fn receive(", "    fn next_wakeup("),
        ];
        for (from, to) in parts {
            let (_, code) = own.split_once(from).unwrap();
            let (code, _) = code.split_once(to).unwrap();
            assert!(page.contains(code.trim()), "{from}");
        }
    }

    #[test]
    fn what_follows_a_hole_waits_until_it_is_filled() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[10, 11, 12, 13], &[11]);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![10], 2));
        assert_eq!(bed.recipient.next_wakeup(), at(50));
        bed.receive(5, THERE, &[11, 14], &[]);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![11, 12, 13, 14], 0));
        assert_eq!(bed.recipient.next_wakeup(), SimTime::NEVER);
    }

    #[test]
    fn a_hole_is_given_up_after_fifty_milliseconds() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[1, 2, 3], &[2]);
        bed.receive(30, THERE, &[4, 5, 6], &[4, 5]);
        bed.timer(49);
        assert_eq!(bed.taken(), [1]);
        bed.timer(50);
        // The hole before 6 was seen at 30 ms: it has a patience of its own.
        assert_eq!((bed.taken(), bed.recipient.held(), bed.recipient.next_wakeup()), (vec![3], 1, at(80)));
        bed.timer(80);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![6], 0));
        bed.receive(90, THERE, &[2, 7], &[]);
        assert_eq!(bed.taken(), [2, 7], "what was acknowledged goes up, though late");
    }

    #[test]
    fn duplicates_are_filtered_wherever_they_stand() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[1, 2, 3], &[2]);
        bed.receive(1, THERE, &[1, 3], &[]);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![1], 1));
        bed.receive(2, THERE, &[2], &[]);
        bed.receive(3, THERE, &[2, 3], &[]);
        assert_eq!(bed.taken(), [2, 3]);
    }

    #[test]
    fn numbers_wrap_and_the_window_moves() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[4094, 4095, 0, 1], &[4095]);
        bed.receive(1, THERE, &[4095], &[]);
        assert_eq!(bed.taken(), [4094, 4095, 0, 1]);
        bed.receive(2, THERE, &[3, 66], &[]);
        // 2 … 65 would be 64 numbers; 66 pushes 2 out of the window.
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![3], 1));
    }

    #[test]
    fn senders_do_not_wait_for_each_other() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[1, 2, 3], &[2]);
        bed.receive(1, NodeId(2), &[2, 3], &[]);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![1, 2, 3], 1));
    }

    #[test]
    fn numbers_are_counted_by_tid_and_not_by_category() {
        let mut bed = Bed::new();
        for (seq, category, user_priority) in [(5, 1, 0), (5, 3, 6), (5, 1, 3), (7, 1, 0), (6, 1, 0)] {
            let mut frame = bed.psdu(THERE, &[seq]);
            if let Body::Data(data) = &mut frame.psdu.mpdus_mut()[0].body {
                (data.is_retry, data.qos) = (false, Some(mac::Qos { category, user_priority, ht_control: None }));
            }
            let mut up = Vec::new();
            bed.recipient.receive(at(0), &frame, &MpduSet::ONE, &mut bed.all, &mut |delivery| up.push(delivery));
            bed.note(up);
        }
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![5, 5, 5, 6, 7], 0));
    }

    #[test]
    fn a_node_that_dies_gives_up_what_it_holds() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[1, 2, 3, 4], &[2]);
        let drained = bed.recipient.drain();
        assert_eq!((drained.len(), bed.recipient.held(), bed.recipient.next_wakeup()), (2, 0, SimTime::NEVER));
    }

    #[test]
    fn the_block_ack_tells_the_policy_what_was_heard() {
        let mut bed = Bed::new();
        let seqs = [4095, 0, 1, 5];
        let psdu = bed.psdu(THERE, &seqs);
        let proposed =
            || Response::to(&edca(node(HERE, 3).standard), psdu.tx.mode, psdu.duration, Sort::Ack, Body::Nothing);
        let made = bed.recipient.respond(&bed.config, &psdu, &heard(&seqs, &[0]), proposed()).unwrap();
        let answer = response(made, (HERE, THERE));
        assert_eq!(answer.kind, Sort::BlockAck);
        let mut policy = Policy { mpdus: 8, shared: Rc::default() };
        const TO: RaTid = RaTid { to: THERE, tid: Some(0) };
        assert_eq!(policy.solicits(TO, 4).kind, Sort::BlockAck);
        assert_eq!(policy.solicits(TO, 4).len, answer.psdu.len());
        let mut acknowledged = MpduSet::NONE;
        assert_eq!(policy.judge(TO, &seqs, &answer, &mut acknowledged), Some(Outcome::Success));
        assert_eq!(acknowledged, heard(&seqs, &[0]));
        acknowledged.clear();
        assert!(policy.judge(TO, &[100, 101], &answer, &mut acknowledged).is_none());
        assert!(bed.recipient.respond(&bed.config, &psdu, &MpduSet::NONE, proposed()).is_none());
    }

    #[test]
    fn the_first_that_is_heard_opens_the_window() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[7, 8], &[7]);
        bed.receive(1, THERE, &[7, 9], &[]);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![8, 7, 9], 0));
    }

    #[test]
    fn a_sender_that_begins_anew_is_no_duplicate() {
        let mut bed = Bed::new();
        bed.receive(0, THERE, &[0, 1, 2, 3, 4, 6], &[]);
        bed.sent.clear();
        bed.receive(1, THERE, &[0, 1, 2], &[]);
        assert_eq!((bed.taken(), bed.recipient.held()), (vec![0, 1, 2, 3, 4, 6, 0, 1, 2], 0));
    }

    #[test]
    fn only_those_who_announced_it_get_several() {
        let chosen = with(&INFO, install, &[("mpdus", Value::Int(3))]);
        let mut bench = bench_of(&chosen, node(HERE, 3)).unwrap();
        let mut policy = bench.stack.ack_policy().unwrap();
        let mut all = Packets::with_capacity(4);
        let mode = node(HERE, 3).standard.modes()[0];
        let mut admits = |to, mpdus, first_seq, seq| {
            let pkt = all.put(segment(OUT, 0..1));
            let mut msdu = Msdu::new(SimTime::ZERO, pkt, &all, to, 0);
            msdu.seq = seq;
            policy.admits(&SoFar { mpdus, len: Bytes(100), first_seq }, &msdu, mode)
        };
        assert!(!admits(THERE, 1, None, None));
        bench.pair();
        assert!(admits(THERE, 2, None, None) && !admits(THERE, 3, None, None) && !admits(NodeId(2), 1, None, None));
        assert!(admits(THERE, 1, Some(4090), Some(57)) && !admits(THERE, 1, Some(4090), Some(58)));
        bench.peer(THERE, PeerEvent::Down);
        assert!(!admits(THERE, 1, None, None));
    }

    #[test]
    fn it_refuses_what_it_cannot_number() {
        let facts = node(HERE, 3);
        let install_with = |config: Config, mpdus| {
            let chosen = with(&INFO, install, &[("mpdus", Value::Int(mpdus))]);
            Ground::new(facts).with_mac(config).install(&chosen)
        };
        assert!(install_with(dcf(facts.standard), 8).unwrap_err().contains("EDCA"));
        assert_eq!(install_with(edca(facts.standard), 10), Ok(true));
        assert!(install_with(edca(facts.standard), 11).unwrap_err().contains("mpdus = 10"));
    }

    #[test]
    fn it_counts() {
        let mut bench = bench_of(&with(&INFO, install, &[]), node(HERE, 3)).unwrap();
        let mut bed = Bed { recipient: bench.stack.recipient().unwrap(), ..Bed::new() };
        bed.receive(0, THERE, &[1, 2, 3, 4], &[2]);
        bed.timer(50);
        bed.receive(51, THERE, &[2, 3], &[]);
        let told = ["mpdus_reordered", "holes_given_up", "mpdus_late", "duplicates"].map(|name| bench.counter(name));
        assert_eq!(told, [2, 1, 1, 1]);
    }
}
