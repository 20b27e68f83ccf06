//! Schemes of one kind at one node: queues, classifiers, sender hooks, says, rate controls and agents stack in the order of the
//! file, and what truly excludes is told. Some of the schemes here are of this file: programs bring their own.

use mac::{Around, Chain, Head, Msdu, Next, PsduReport, RateControl, SoFar, Stage, TxQueue, Wrap};
use phy::Mode;
use plugin::Registry;
use queue::Space;
use schemes::{Agent, Cx, Info, Install, Params, Place, Refusal, Site};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use tcp::{FlowFacts, Loss, SenderHook, SeqRange};
use units::{Bytes, NodeId, SimTime};
use wire::{Packets, Pkt};
use world::{Record, Registries, Run};

const fn info(id: &'static str) -> Info {
    Info { id, summary: "of a test", source: "none", params: &[] }
}

/// The counts of a part of a scheme, told by its agent.
#[derive(Debug, Default)]
struct Counts(Vec<(&'static str, u64)>);

impl Counts {
    fn add(&mut self, name: &'static str) {
        match self.0.iter_mut().find(|(own, _)| *own == name) {
            Some((_, count)) => *count += 1,
            None => self.0.push((name, 1)),
        }
    }
}

type Shared = Rc<RefCell<Counts>>;

#[derive(Debug)]
struct Teller(Shared);

impl Agent for Teller {
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.0.borrow().0.iter().for_each(|(name, count)| out(name, *count));
    }
}

/// "failed-last": what has failed waits behind everything that has not.
mod failed_last {
    use super::*;

    pub static INFO: Info = info("failed-last");

    pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
        if site.node.has_air && site.node.forwards {
            let counts = Shared::default();
            site.agent(Teller(Rc::clone(&counts)));
            site.wrap_queue(move |inner| {
                let counts = Rc::clone(&counts);
                Box::new(Around::new(inner, FailedLast { failed: VecDeque::new(), bytes: Bytes::ZERO, counts }))
            });
        }
        Ok(())
    }

    #[derive(Debug)]
    struct FailedLast {
        failed: VecDeque<Msdu>,
        bytes: Bytes,
        counts: Shared,
    }

    impl Wrap for FailedLast {
        fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
            if self.space(inner).free < all.get(&msdu.pkt).ip_len() { Err(msdu) } else { inner.push(now, msdu, all) }
        }

        fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
            if let Some(msdu) = inner.pop(now, all) {
                return Some(msdu);
            }
            let msdu = self.failed.pop_front()?;
            self.bytes -= all.get(&msdu.pkt).ip_len();
            Some(msdu)
        }

        fn failed(
            &mut self,
            inner: &mut dyn TxQueue,
            now: SimTime,
            msdu: Msdu,
            is_last: bool,
            all: &Packets,
        ) -> Next {
            match inner.failed(now, msdu, is_last, all) {
                Next::Again(msdu) if inner.space().entries > 0 => {
                    self.counts.borrow_mut().add("overtaken");
                    self.bytes += all.get(&msdu.pkt).ip_len();
                    self.failed.push_back(msdu);
                    Next::Yield
                }
                next => next,
            }
        }

        fn space(&self, inner: &dyn TxQueue) -> Space {
            let inner = inner.space();
            Space {
                free: inner.free.saturating_sub(self.bytes),
                used: inner.used + self.bytes,
                entries: inner.entries + self.failed.len() as u32,
            }
        }

        fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
            self.bytes = Bytes::ZERO;
            let mut all: Vec<Msdu> = self.failed.drain(..).collect();
            all.extend(inner.drain(now));
            all
        }
    }
}

/// "witness": hears what the hooks before it said of losses, and takes each second one for congestion.
mod witness {
    use super::*;

    pub static INFO: Info = info("witness");

    pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
        if site.node.starts_flows {
            let counts = Shared::default();
            site.agent(Teller(Rc::clone(&counts)));
            site.hook_sender(move |_| Some(Box::new(Witness { counts: Rc::clone(&counts) })));
        }
        Ok(())
    }

    #[derive(Debug)]
    struct Witness {
        counts: Shared,
    }

    impl SenderHook for Witness {
        fn loss(&mut self, verdict: Loss, _: SeqRange, _: &FlowFacts) -> Loss {
            self.counts.borrow_mut().add(if verdict == Loss::Corruption { "corruption" } else { "congestion" });
            Loss::Congestion
        }

        fn dup_ack_threshold(&mut self, configured: u32, _: &FlowFacts) -> u32 {
            self.counts.borrow_mut().add(if configured < 3 { "fewer" } else { "three" });
            configured
        }
    }
}

/// "measures": says what its access point hears of it, in an input error.
mod measures {
    use super::*;

    pub static INFO: Info = info("measures");

    pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
        let Some(ap) = site.node.access_point else { return Ok(()) };
        let power = site.powers()?.mean(site.node.id, ap);
        Err(format!("heard at {power}").into())
    }
}

/// "slow": the lowest mode of the standard for what has failed.
mod slow {
    use super::*;

    pub static INFO: Info = info("slow");

    pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
        if site.node.has_air {
            let (counts, lowest) = (Shared::default(), site.node.standard.modes()[0]);
            site.agent(Teller(Rc::clone(&counts)));
            site.rate_control(move |inner| Box::new(Slow { inner, lowest, counts }));
        }
        Ok(())
    }

    #[derive(Debug)]
    struct Slow {
        inner: Box<dyn RateControl>,
        lowest: Mode,
        counts: Shared,
    }

    impl RateControl for Slow {
        fn chain(&mut self, now: SimTime, head: &Head, chain: &mut Chain) {
            self.inner.chain(now, head, chain);
            chain.set([chain.stages()[0].tries(1), Stage::of(self.lowest)]);
        }

        fn expected(&self, to: NodeId) -> Mode {
            self.inner.expected(to)
        }

        fn attempted(&mut self, now: SimTime, report: &PsduReport<'_>) {
            let is_lowest = report.mode == self.lowest;
            self.counts.borrow_mut().add(if is_lowest { "lowest" } else { "others" });
            self.inner.attempted(now, report);
        }
    }
}

/// "several": up to four MSDUs in a PSDU, an Ack for all of them.
mod several {
    use super::*;

    pub static INFO: Info = info("several");
    pub static OTHER: Info = info("other-several");

    pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
        if site.node.has_air {
            site.acknowledge(Several);
        }
        Ok(())
    }

    #[derive(Debug)]
    struct Several;

    impl mac::AckPolicy for Several {
        fn admits(&mut self, so_far: &SoFar, _: &Msdu, _: Mode) -> bool {
            so_far.mpdus < 4
        }
    }
}

/// "twice": two agents at one node.
mod twice {
    use super::*;

    pub static INFO: Info = info("twice");

    pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
        if site.node.starts_flows {
            site.agent(Counter("from_host", 0)).listen([Place::FromHost]);
            site.agent(Counter("to_host", 0)).listen([Place::ToHost]);
        }
        Ok(())
    }

    #[derive(Debug)]
    struct Counter(&'static str, u64);

    impl Agent for Counter {
        fn packet(&mut self, _: Place, pkt: Pkt, _: &mut Cx) -> Option<Pkt> {
            self.1 += 1;
            Some(pkt)
        }

        fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
            out(self.0, self.1);
        }
    }
}

fn registries() -> Registries {
    let Registries { schemes, .. } = Registries::builtin();
    let own: [(&'static Info, Install); 7] = [
        (&failed_last::INFO, failed_last::install),
        (&witness::INFO, witness::install),
        (&measures::INFO, measures::install),
        (&slow::INFO, slow::install),
        (&several::INFO, several::install),
        (&several::OTHER, several::install),
        (&twice::INFO, twice::install),
    ];
    let schemes =
        own.into_iter().fold(schemes, |all: Registry<Install>, (info, install)| all.with(info, install).unwrap());
    Registries { schemes, ..Registries::builtin() }
}

/// A server behind a wire, an access point, a mobile; a download of 300 kB over a radio that loses frames.
struct Cell {
    radio: &'static str,
    channel: &'static str,
    transport: &'static str,
    flow: &'static str,
}

const LOSSY: Cell = Cell {
    radio: "standard = \"802.11b\", data_rate = \"11 Mb/s\", max_attempts = 3",
    channel: "errors = { model = \"packet\", per = 0.3 }",
    transport: "",
    flow: "",
};

impl Cell {
    fn text(&self, schemes: &[&str]) -> String {
        let Cell { radio, channel, transport, flow } = self;
        let schemes: String = schemes.iter().map(|scheme| format!("[[scheme]]\nname = {scheme}\n")).collect();
        format!(
            r#"
scenario = {{ duration = "200 s" }}
radio = {{ {radio} }}
channel = {{ {channel} }}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "mobile"
position = [5, 0]
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "2 ms"
[[flow]]
from = "server"
to = "mobile"
traffic = {{ model = "bulk", bytes = "300 kB" }}
transport = {{ protocol = "tcp", preset = "rfc", min_rto = "200 ms"{transport} }}
{flow}
{schemes}
"#
        )
    }

    fn run(&self, schemes: &[&str], seed: u64) -> Run {
        let text = self.text(schemes);
        let blueprint = world::parse_with(&text, &[], registries()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // It fails if a packet is unaccounted for.
        world::run(&blueprint, seed, &Record { fingerprint: true, ..Record::default() }, &AtomicBool::new(false))
            .unwrap()
    }

    fn refusal(&self, schemes: &[&str]) -> String {
        world::parse_with(&self.text(schemes), &[], registries()).unwrap_err().to_string()
    }
}

fn is_complete(run: &Run) -> bool {
    let column = |name| run.flow(0, name).unwrap();
    column("delivered_bytes_total") == 300_000.0 && column("acked_bytes_total") == 300_000.0
}

#[test]
fn snoop_and_a_queue_that_reorders_stand_at_one_node_in_either_order() {
    for schemes in [["\"snoop\"", "\"failed-last\""], ["\"failed-last\"", "\"snoop\""]] {
        let mut sums = [0.0; 2];
        for seed in 1..=3 {
            let run = LOSSY.run(&schemes, seed);
            assert!(is_complete(&run), "{schemes:?} {seed}");
            sums[0] += run.scheme("snoop", "local_retransmissions_dup");
            sums[1] += run.scheme("failed-last", "overtaken");
        }
        assert!(sums[0] > 10.0 && sums[1] > 10.0, "{schemes:?} {sums:?}");
    }
}

/// The MSDUs that the access point offered to VO and to the category that TAP adds, and to all others, in an upload.
fn offered(schemes: &[&str]) -> [f64; 3] {
    let uplink = Cell {
        radio: "standard = \"802.11a\", access = \"edca\"",
        channel: "",
        transport: "",
        flow: "reverse = { model = \"bulk\", bytes = \"300 kB\" }",
    };
    let run = uplink.run(schemes, 1);
    let count = |id: &str| {
        let row = run.queues.iter().find(|row| matches!(&row[0].1, world::Cell::Text(own) if own == id));
        row.map_or(0.0, |row| Run::number(row, "offered_packets").unwrap())
    };
    let others: f64 = ["bk", "be", "vi"].iter().map(|id| count(&format!("ap.air.{id}"))).sum();
    [count("ap.air.vo"), count("ap.air.tcp-ack"), others]
}

#[test]
fn ftca_beside_tap_has_the_category_that_the_order_gives_it() {
    // Before TAP: the SYN has VO, the ACKs have TAP's, data has neither.
    let [vo, own, others] = offered(&["\"ftca\"", "\"tap\"\nat = [\"ap\"]"]);
    assert!((1.0..=4.0).contains(&vo) && own > 50.0 && others > 200.0, "{vo} {own} {others}");
    // Behind it: the highest is TAP's, and all control packets share it.
    let [vo_behind, own_behind, others_behind] = offered(&["\"tap\"\nat = [\"ap\"]", "\"ftca\""]);
    assert_eq!(vo_behind, 0.0);
    assert!(own_behind > 50.0 && others_behind > 200.0, "{own_behind} {others_behind}");
}

#[test]
fn two_hooks_of_one_sender_are_asked_in_turn() {
    let of = |schemes: &[&str], name: &str| -> f64 {
        (1..=3)
            .map(|seed| LOSSY.run(schemes, seed))
            .inspect(|run| assert!(is_complete(run)))
            .map(|run| run.scheme("witness", name))
            .sum()
    };
    // Behind ELN it hears its verdicts and its thresholds; before it, nobody has said anything yet.
    let (behind, before) = (["\"eln\"", "\"witness\""], ["\"witness\"", "\"eln\""]);
    assert!(of(&behind, "corruption") > 5.0 && of(&behind, "fewer") > 5.0);
    assert_eq!((of(&before, "corruption"), of(&before, "fewer")), (0.0, 0.0));
    assert!(of(&before, "congestion") > 5.0);
}

#[test]
fn lle_tcp_with_timestamps_beside_snoop_delivers_everything() {
    for transport in [", timestamps = true", ", timestamps = true, receive_buffer = \"6 kB\""] {
        for flow in ["", "reader = { model = \"rate\", rate = \"800 kb/s\" }"] {
            for schemes in [["\"lle-tcp\"", "\"snoop\""], ["\"snoop\"", "\"lle-tcp\""]] {
                for seed in 1..=20 {
                    let run = Cell { transport, flow, ..LOSSY }.run(&schemes, seed);
                    assert!(is_complete(&run), "{transport} {flow} {schemes:?} {seed}: {:?}", run.flows[0]);
                }
            }
        }
    }
}

#[test]
fn an_access_point_measures_the_powers_that_earlier_schemes_left() {
    let cell = Cell { channel: "propagation = { model = \"log-distance\" }", ..LOSSY };
    // 16 dBm are 39.8 mW, with 39.8 more 3 dB.
    let louder = "\"capture-qos\"\nmore_mw = 39.8107";
    let heard = |schemes: &[&str]| -> f64 {
        let line = cell.refusal(schemes);
        let (_, dbm) = line.split_once("heard at ").unwrap_or_else(|| panic!("{line}"));
        dbm.trim_end_matches(" dBm").parse().unwrap()
    };
    let (plain, before, behind) =
        (heard(&["\"measures\""]), heard(&["\"measures\"", louder]), heard(&[louder, "\"measures\""]));
    assert_eq!(plain, before);
    assert!((behind - plain - 3.0103).abs() < 1e-3, "{plain} {behind}");
}

#[test]
fn a_rate_control_of_a_scheme_is_asked_and_told() {
    let run = LOSSY.run(&["\"slow\""], 1);
    assert!(is_complete(&run));
    // Of some 800 frames three in ten failed and went again at 1 Mb/s.
    let [lowest, others] = ["lowest", "others"].map(|name| run.scheme("slow", name));
    assert!(lowest > 0.2 * others && lowest < 0.8 * others, "{lowest} {others}");
}

#[test]
fn an_acknowledgment_policy_of_a_scheme_puts_several_packets_into_a_frame() {
    let clean = Cell { channel: "", ..LOSSY };
    let frames = |schemes: &[&str]| {
        let run = clean.run(schemes, 1);
        assert!(is_complete(&run));
        let row = run.nodes.iter().find(|row| matches!(&row[0].1, world::Cell::Text(id) if id == "ap")).unwrap();
        ["exchanges", "msdus_delivered"].map(|name| Run::number(row, name).unwrap())
    };
    let ([one, msdus], [several, same]) = (frames(&[]), frames(&["\"several\""]));
    assert!(one >= msdus, "a frame each, and some collide");
    assert!(several < 0.6 * same, "{several} {same}");
}

#[test]
fn what_excludes_is_told_by_both_names() {
    let line = LOSSY.refusal(&["\"several\"", "\"other-several\""]);
    assert_eq!(
        line,
        "scheme[1].name: several and other-several both claim the acknowledgment of what is sent of \"ap\""
    );
    let line = LOSSY.refusal(&["\"ack-agent\"", "\"lle-tcp\""]);
    assert_eq!(line, "scheme[1].name: ack-agent and lle-tcp both claim the TCP ACKs of \"ap\"");
}

#[test]
fn a_scheme_with_two_agents_has_one_row_with_the_counters_of_both() {
    let run = LOSSY.run(&["\"twice\""], 1);
    assert_eq!(run.schemes.len(), 1, "the server's: flows start there alone");
    let row = &run.schemes[0];
    assert!(["from_host", "to_host"].iter().all(|name| Run::number(row, name).unwrap() > 50.0), "{row:?}");
}
