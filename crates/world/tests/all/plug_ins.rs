//! A program outside the workspace adds plug-ins of its own to the registries. This file is such a program: it uses what
//! the crates show to everybody.

#[path = "../../../node/tests/all/flood.rs"]
mod flood;

use flood::Flood;
use mac::rate::Given;
use mac::{Chain, Head, PsduReport, RateControl, Stage};
use phy::Mode;
use plugin::{Info, Kind, Param, Registry, Value};
use queue::{Discipline, List, Mark, Queued, Slot, Unsound};
use schemes::{Agent, Cx, Params, Place, Refusal, Site};
use std::sync::atomic::AtomicBool;
use tcp::ack::{AckPolicy, AckTiming, Arrival};
use tcp::cc::{Congestion, CongestionControl, Window, reno};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::Pkt;
use world::{Blueprint, Record, Registries, Run};

/// A congestion control: as Reno, but with a window that is never more than so many segments.
#[derive(Debug)]
struct Capped(u64);

static CAPPED: Info = Info {
    id: "capped",
    summary: "Reno with a cap",
    source: "none",
    params: &[Param {
        key: "segments",
        kind: Kind::Int { min: 1, max: 1000 },
        default: Value::Int(1000),
        doc: "The most segments of its window.",
    }],
};

impl CongestionControl for Capped {
    fn on_ack(&mut self, ack: &tcp::Ack, win: &mut Window) {
        reno::grow(ack, win);
        win.cwnd = win.cwnd.min(win.mss() * self.0);
    }

    fn on_congestion(&mut self, _: Congestion, win: &mut Window) {
        win.cut_flight_to(0.5);
    }
}

/// A receiver policy: one ACK for so many segments, or after the delayed ACK's time.
#[derive(Debug)]
struct Sparse {
    every: i64,
    timeout: Dur,
    waiting: i64,
}

static SPARSE: Info = Info {
    id: "sparse",
    summary: "one ACK for n segments",
    source: "none",
    params: &[Param { key: "every", kind: Kind::Int { min: 1, max: 9 }, default: Value::Int(1), doc: "n." }],
};

impl AckPolicy for Sparse {
    fn on_data(&mut self, _: &Arrival) -> AckTiming {
        self.waiting += 1;
        if self.waiting >= self.every { AckTiming::Now } else { AckTiming::Within(self.timeout) }
    }

    fn on_ack_sent(&mut self, _: SimTime) {
        self.waiting = 0;
    }
}

/// A scheme: counts the packets that leave a host.
#[derive(Debug, Default)]
struct Counts(u64);

static COUNTS: Info = Info { id: "counts", summary: "counts packets", source: "none", params: &[] };

fn count(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if site.node.starts_flows {
        site.agent(Counts::default()).listen([Place::FromHost]);
    }
    Ok(())
}

impl Agent for Counts {
    fn packet(&mut self, _: Place, pkt: Pkt, _: &mut Cx) -> Option<Pkt> {
        self.0 += 1;
        Some(pkt)
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("packets", self.0);
    }
}

/// A rate control: the slowest mode for everybody until so many frames were acknowledged, the fastest then.
#[derive(Debug)]
struct Coarse {
    modes: Vec<Mode>,
    after: i64,
    acknowledged: i64,
}

static COARSE: Info = Info {
    id: "coarse",
    summary: "slowest, then fastest",
    source: "none",
    params: &[Param {
        key: "after",
        kind: Kind::Int { min: 0, max: 1_000_000 },
        default: Value::Int(0),
        doc: "Frames acknowledged before the fastest.",
    }],
};

impl Coarse {
    fn new(params: &Params, given: Given<'_>) -> Coarse {
        Coarse { modes: given.config.modes.clone(), after: params.int("after"), acknowledged: 0 }
    }
}

impl RateControl for Coarse {
    fn chain(&mut self, _: SimTime, head: &Head, chain: &mut Chain) {
        chain.set([Stage::of(self.expected(head.link.to)).tries(1)]);
    }

    fn expected(&self, _: NodeId) -> Mode {
        let fast = self.acknowledged >= self.after;
        if fast { self.modes[self.modes.len() - 1] } else { self.modes[0] }
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        self.acknowledged += (0..report.mpdus).filter(|place| report.acknowledged.contains(*place)).count() as i64;
    }
}

/// A queue discipline: last in, first out, up to so many packets.
#[derive(Debug)]
struct LastFirst {
    list: List,
    most: u32,
}

static LAST_FIRST: Info = Info {
    id: "last-first",
    summary: "last in, first out",
    source: "none",
    params: &[Param {
        key: "most",
        kind: Kind::Int { min: 0, max: 1000 },
        default: Value::Int(5),
        doc: "Packets it takes.",
    }],
};

impl LastFirst {
    fn made(params: &Params) -> Result<Box<dyn Discipline>, Unsound> {
        match params.int("most") as u32 {
            0 => Err(Unsound::new("most", "nothing would pass")),
            most => Ok(Box::new(LastFirst { list: List::default(), most })),
        }
    }
}

impl Discipline for LastFirst {
    fn arrival(&mut self, _: SimTime, _: &queue::Arrival, _: &Queued) -> queue::Admission {
        if self.list.len() < self.most { queue::Admission::Pass } else { queue::Admission::Drop }
    }

    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        queued.push_back(&mut self.list, slot);
    }

    fn pop(&mut self, _: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        let last = self.list.last()?;
        queued.unlink(&mut self.list, last);
        Some((last, Mark::None))
    }

    fn remove(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        queued.unlink(&mut self.list, slot);
    }

    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        queued.iter(&self.list).find(|slot| is_it(*slot))
    }
}

/// A router: the one of thirty lines that the node's own tests use.
static FLOOD: Info = Info { id: "flood", summary: "asks by flooding", source: "none", params: &[] };

fn registries() -> Registries {
    let Registries {
        schemes,
        congestion,
        receivers,
        recoveries,
        rate_controls,
        queues,
        traffic,
        routers,
        route_metrics,
    } = Registries::builtin();
    Registries {
        schemes: schemes.with(&COUNTS, count).unwrap(),
        rate_controls: rate_controls.with(&COARSE, |params, given| Ok(Box::new(Coarse::new(params, given)))).unwrap(),
        congestion: congestion.with(&CAPPED, |params| Box::new(Capped(params.int("segments") as u64))).unwrap(),
        receivers: receivers
            .with(&SPARSE, |params, delay| {
                Box::new(Sparse { every: params.int("every"), timeout: delay.timeout, waiting: 0 })
            })
            .unwrap(),
        recoveries,
        traffic,
        queues: queues.with(&LAST_FIRST, |params, _| LastFirst::made(params)).unwrap(),
        route_metrics,
        routers: routers.with(&FLOOD, |facts, _| Box::new(Flood::new(facts))).unwrap(),
    }
}

fn text(congestion: &str, receiver: &str) -> String {
    format!(
        "scenario = {{ duration = \"1 s\" }}\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"tcp\", preset = \"rfc\", congestion = {congestion}, receiver = {receiver} }}\n\
         [[scheme]]\nname = \"counts\"\n"
    )
}

fn run(blueprint: &Blueprint) -> Run {
    world::run(blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap()
}

fn segments(run: &Run) -> f64 {
    run.flow(0, "segments_sent").unwrap()
}

#[test]
fn plug_ins_of_a_program_run_with_the_parameters_of_the_scenario() {
    let with = |congestion: &str, receiver: &str| {
        let blueprint = world::parse_with(&text(congestion, receiver), &[], registries()).unwrap();
        run(&blueprint)
    };
    // 20 ms there and back, a segment takes 1.2 ms: windows of 1 and 4 segments give some 47 and 190 a second.
    let [one, four] =
        ["1", "4"].map(|n| segments(&with(&format!("{{ name = \"capped\", segments = {n} }}"), "\"every\"")));
    assert!((45.0..50.0).contains(&one) && (180.0..200.0).contains(&four), "{one} {four}");
    // The default is no cap to speak of.
    let free = with("\"capped\"", "\"every\"");
    assert_eq!(segments(&free), segments(&with("\"reno\"", "\"every\"")));
    assert!(segments(&free) > 500.0);
    // One ACK for three segments.
    let acks = |run: &Run| run.flow(0, "acks_sent").unwrap();
    let sparse = with("\"capped\"", "{ name = \"sparse\", every = 3 }");
    assert!((2.5..3.5).contains(&(segments(&sparse) / acks(&sparse))), "{} {}", segments(&sparse), acks(&sparse));
    // The scheme saw every segment of its host, the SYN included.
    assert!(free.scheme("counts", "packets") > segments(&free), "{}", segments(&free));
}

#[test]
fn a_rate_control_is_chosen_for_all_radios_or_for_one_node() {
    let of = |radio: &str, node: &str| {
        let text = format!(
            "scenario = {{ duration = \"2 s\" }}\nradio = {{ standard = \"802.11b\"{radio} }}\n[[node]]\nname = \"a\"\n{node}\n\
             [[node]]\nname = \"b\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
             traffic = {{ model = \"saturated\" }}\n"
        );
        let blueprint = world::parse_with(&text, &[], registries()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        run(&blueprint).flow(0, "delivered_packets").unwrap()
    };
    let fixed = of("", "");
    assert_eq!(of(", rate_control = \"fixed\"", ""), fixed);
    assert_eq!(
        of(", rate_control = \"coarse\"", ""),
        fixed,
        "the fastest at once is what the standard's highest rate is"
    );
    // 1500 B at 1 Mb/s take 12.9 ms, at 11 Mb/s 2.1 ms.
    let slow = of("", "rate_control = { name = \"coarse\", after = 1000000 }");
    assert!(slow < 0.2 * fixed && slow > 100.0, "{slow} {fixed}");
    let between = of(
        ", rate_control = { name = \"coarse\", after = 1000000 }",
        "rate_control = { name = \"coarse\", after = 77 }",
    );
    assert!(between > 1.5 * slow && between < 0.7 * fixed, "{slow} {between} {fixed}");
}

#[test]
fn registries_are_the_programs_own_and_change_nobody_elses() {
    let error = world::parse(&text("\"capped\"", "\"every\""), &[]).unwrap_err().to_string();
    let names: Vec<String> = tcp::cc::NAMES.iter().map(|name| format!("\"{name}\"")).collect();
    let (last, others) = names.split_last().unwrap();
    let known = format!("there are {} and {last}", others.join(", "));
    assert_eq!(error, format!("flow[0].transport.congestion: no congestion control \"capped\"; {known}"));
    let error = world::parse_with(&text("\"caped\"", "\"every\""), &[], registries()).unwrap_err().to_string();
    assert_eq!(error, "flow[0].transport.congestion: no congestion control \"caped\"; did you mean \"capped\"?");
}

#[test]
fn a_plug_in_that_is_there_already_is_refused() {
    static RENO: Info = Info { id: "reno", summary: "", source: "", params: &[] };
    let error = tcp::cc::registry().with(&RENO, reno::make).unwrap_err();
    assert_eq!(error.to_string(), "congestion control \"reno\": there is one of that name already");
}

#[test]
fn a_blueprint_is_shared_by_runs_and_clones() {
    let blueprint = world::parse_with(&text("\"capped\"", "\"sparse\""), &[], registries()).unwrap();
    let clone = blueprint.clone();
    assert!(std::ptr::eq(blueprint.scenario(), clone.scenario()), "a clone copies nothing");
    let tasks = [(&blueprint, 1), (&clone, 1)];
    let record = Record { fingerprint: true, ..Record::default() };
    let runs = world::run_batch(&tasks, 2, &record);
    let [one, other] = [0, 1].map(|i| runs[i].as_ref().unwrap().fingerprint.unwrap());
    assert_eq!(one, other);
}

/// A value beyond an upper bound, as a file spells it.
fn beyond(kind: Kind) -> Option<(String, String)> {
    Some(match kind {
        Kind::Int { max, .. } => ((max + 1).to_string(), max.to_string()),
        Kind::Float { max, .. } => ((max * 2.0 + 1.0).to_string(), max.to_string()),
        Kind::Time { max, .. } => (format!("\"{} ns\"", max.ns() + 1), max.to_string()),
        Kind::Size { max, .. } => (format!("\"{}\"", Bytes(max.0 + 1)), max.to_string()),
        Kind::Power { max, .. } => (format!("\"{} dBm\"", max.0 + 1.0), max.to_string()),
        Kind::Bool | Kind::Choice(_) => return None,
    })
}

/// Every parameter of a registry: its plug-in, and itself.
fn parameters<T>(registry: &Registry<T>) -> impl Iterator<Item = (&'static str, &'static Param)> {
    registry.iter().flat_map(|entry| entry.info.params.iter().map(|param| (entry.info.id, param)))
}

#[test]
fn a_parameter_beyond_its_bounds_is_an_input_error_that_names_key_and_range() {
    let registries = registries();
    let mut tried = 0;
    let mut refused = |text: &str, path: &str, most: &str| {
        let error = world::parse_with(text, &[], registries.clone()).expect_err(path);
        assert_eq!(error.path, path);
        let (expected, _) = error.message.split_once(", got ").expect("what is there");
        assert!(expected.starts_with("expected ") && expected.contains(&format!(" to {most}")), "{error}");
        tried += 1;
    };
    for (id, param) in parameters(&registries.schemes) {
        let Some((value, most)) = beyond(param.kind) else { continue };
        let scheme = format!("name = \"{id}\"\n{} = {value}\n", param.key);
        let text = text("\"reno\"", "\"every\"").replace("name = \"counts\"\n", &scheme);
        refused(&text, &format!("scheme[0].{}", param.key), &most);
    }
    for (id, param) in parameters(&registries.congestion) {
        let Some((value, most)) = beyond(param.kind) else { continue };
        let congestion = format!("{{ name = \"{id}\", {} = {value} }}", param.key);
        refused(&text(&congestion, "\"every\""), &format!("flow[0].transport.congestion.{}", param.key), &most);
    }
    assert!(tried > 15, "{tried}");
}

/// The further MSDUs that each interface of three stations in a row offers its MAC under flooding instead of static routes; hop
/// by hop, 100 bytes each 10 ms.
fn asked_by_flooding(stations: &str) -> Vec<f64> {
    let text = format!(
        "routing = \"ROUTER\"\nscenario = {{ duration = \"2 s\" }}\n[radio]\nstandard = \"802.11b\"\n{stations}\
         [[flow]]\nfrom = \"a\"\nto = \"c\"\ntransport = {{ protocol = \"udp\", datagram = \"128 B\" }}\n\
         traffic = {{ model = \"cbr\", rate = \"80 kb/s\" }}\n"
    );
    let delivered = |router: &str| {
        let blueprint = world::parse_with(&text.replace("ROUTER", router), &[], registries()).unwrap();
        let run = run(&blueprint);
        assert!(run.books.balance(), "{:?}", run.books);
        let sent = run.nodes.iter().filter_map(|row| Run::number(row, "msdus_offered")).collect::<Vec<_>>();
        (run.flow(0, "delivered_packets").unwrap(), sent)
    };
    let (fixed, by_fixed) = delivered("static");
    let (flood, by_flood) = delivered("flood");
    assert!((flood - fixed).abs() <= 1.0, "the first packet waits and the others follow: {flood} of {fixed}");
    by_flood.iter().zip(&by_fixed).map(|(a, b)| a - b).collect()
}

#[test]
fn a_router_of_a_program_finds_the_way_over_a_relay_by_frames_on_the_air() {
    // The outer two do not hear each other: a question at a and b, an answer at c and b; data as before.
    let row = "[channel]\nrange = \"150 m\"\n[layout]\nmodel = \"line\"\nspacing = \"100 m\"\n\
               [[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[node]]\nname = \"c\"\n";
    assert_eq!(asked_by_flooding(row), [1.0, 2.0, 1.0]);
    // The relay asks on both of its channels, and answers on the first.
    let channels = "[[channel.further]]\nname = \"back\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
                    channels = [\"main\", \"back\"]\n[[node]]\nname = \"c\"\nchannels = [\"back\"]\n";
    assert_eq!(asked_by_flooding(channels), [1.0, 2.0, 1.0, 1.0]);
}

#[test]
fn a_queue_discipline_is_chosen_by_its_word_and_refuses_parameters_that_make_no_sense() {
    let with = |most: u32| {
        let queue = format!("{{ discipline = \"last-first\", packets = 100, most = {most} }}");
        let settings = [("link.0.queue".to_owned(), queue)];
        world::parse_with(&text("\"reno\"", "\"every\""), &settings, registries())
    };
    let run = run(&with(1).unwrap());
    let number = |key| Run::number(&run.queues[0], key).unwrap();
    assert!(number("dropped_packets") > 0.0 && number("dropped_packets") == number("dropped_early_packets"));
    assert_eq!(number("max_packets_total"), 1.0);
    assert_eq!(with(0).unwrap_err().to_string(), "link[0].queue.most: nothing would pass");
    assert_eq!(
        with(1001).unwrap_err().to_string(),
        "link[0].queue.most: expected a whole number from 0 to 1000, got integer 1001"
    );
}
