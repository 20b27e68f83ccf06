//! Conservation and delivery on random networks: servers, wires that lose, queue, break and heal, a cell with its access point and
//! stations that leave and return, flows of every direction, every registered scheme and pairs of them.
//!
//! `world::run` itself fails if the books of packets and MSDUs do not balance (`RunError::Books`), and debug assertions
//! of the layers are on. A scheme is tested by being in the registry.

use crate::writes::{READERS, STOP_MS, Writes};
use proptest::prelude::*;
use schemes::{Info, Kind, NAMES, Params, Value};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use world::{Record, Run};

/// The losses of the channel.
const ERRORS: [&str; 6] = [
    "{ model = \"none\" }",
    "{ model = \"none\" }",
    "{ model = \"packet\", per = 0.3 }",
    "{ model = \"packet\", per = 0.1, control_per = 0.1 }",
    "{ model = \"two-state\", good = { per = 0.0 }, bad = { per = 0.9 }, mean_good = \"200 ms\", mean_bad = \"50 ms\", unit = \"time\", shared = \"link\", control = true }",
    // Of whole MSDUs.
    "{ model = \"packet\", per = 0.05, at = \"msdu\" }",
];

const RADIOS: [&str; 3] =
    ["standard = \"802.11b\"", "standard = \"802.11a\"", "standard = \"802.11g\"\nrts_threshold = \"500 B\""];

/// Disciplines, in packets and in bytes, from hardly anything to enough.
const QUEUES: [&str; 13] = [
    "{ packets = 2 }",
    "{ packets = 10 }",
    "{ packets = 100 }",
    "{ bytes = \"6 kB\" }",
    "{ discipline = \"red\", packets = 30, min_th = 1, max_th = 8, max_p = 0.5, weight = 0.2, ecn = true }",
    "{ discipline = \"red\", packets = 12, min_th = 1, max_th = 4, max_p = 0.5, weight = 0.5, gentle = false }",
    "{ discipline = \"red\", bytes = \"30 kB\", min_th = 2000, max_th = 12000, max_p = 0.3, weight = 0.1, ecn = true }",
    "{ discipline = \"drr\", packets = 8 }",
    "{ discipline = \"drr\", bytes = \"20 kB\" }",
    "{ discipline = \"codel\", packets = 100, target = \"1 ms\", interval = \"10 ms\", ecn = true, ce_threshold = \"20 ms\" }",
    "{ discipline = \"codel\", bytes = \"60 kB\" }",
    "{ discipline = \"fq-codel\", packets = 20, target = \"1 ms\", interval = \"10 ms\", ecn = false, drop_batch = 3 }",
    "{ discipline = \"fq-codel\", bytes = \"30 kB\", flows = 2, quantum = \"300 B\", memory_limit = \"20 kB\" }",
];

const RATES: [&str; 4] = ["500 kb/s", "2 Mb/s", "10 Mb/s", "100 Mb/s"];
const DELAYS: [&str; 4] = ["0 s", "333 us", "20 ms", "150 ms"];
const LOSSES: [f64; 4] = [0.0, 0.0, 0.01, 0.08];

#[derive(Debug, Clone)]
struct Flow {
    /// Among servers, access point and stations.
    from: usize,
    /// Added to `from`, less one, modulo the number of the others.
    to: usize,
    start_ms: u64,
    /// The forward and the backward direction; `None` behind: UDP.
    writes: (Writes, Option<Writes>),
    reader: &'static str,
    datagram: u32,
    receive_buffer: u32,
    tcp: String,
}

/// One direction of a link.
#[derive(Debug, Clone)]
struct Wire {
    rate: &'static str,
    delay: &'static str,
    loss: f64,
    queue: &'static str,
}

impl Wire {
    fn text(&self) -> String {
        let Wire { rate, delay, loss, queue } = self;
        format!("rate = \"{rate}\"\ndelay = \"{delay}\"\nloss = {loss:?}\nqueue = {queue}\n")
    }
}

/// A scheme in use: its place in the registry, what its parameters are drawn from (`None`: defaults), and which nodes run
/// it (`None`: wherever it sits).
#[derive(Debug, Clone)]
struct Use {
    scheme: usize,
    choices: Option<u64>,
    at: Option<u8>,
}

impl Use {
    fn scheme(&self) -> &'static Info {
        schemes::find(NAMES[self.scheme % NAMES.len()]).expect("its name is in the list").info
    }

    /// Parameters as a scenario spells them.
    fn params(&self) -> Vec<(&'static str, String)> {
        let Some(choices) = self.choices else { return Vec::new() };
        let mut rest = choices;
        let declared = self.scheme().params.iter();
        let drawn = declared.map(|param| {
            let n = rest as usize % 128;
            rest = rest.rotate_right(7);
            let pick = |all: [String; 4]| all[n % 4].clone();
            let text = match (param.kind, param.default) {
                (Kind::Choice(words), _) => format!("\"{}\"", words[n % words.len()]),
                (Kind::Bool, _) => n.is_multiple_of(2).to_string(),
                (Kind::Int { min, max }, Value::Int(given)) => pick([min, max, given, min].map(|n| n.to_string())),
                (Kind::Float { min, max }, Value::Float(given)) => {
                    pick([min, max, given, (min + given) / 2.0].map(|x| format!("{x:?}")))
                }
                (Kind::Time { .. }, Value::Time(given)) => {
                    let ns = given.ns();
                    pick([ns, ns / 10, ns * 2, ns].map(|ns| format!("\"{ns} ns\"")))
                }
                (Kind::Size { .. }, Value::Size(given)) => {
                    let size = given.0;
                    pick([size, size / 8, size * 2, size].map(|size| format!("\"{size} B\"")))
                }
                _ => Params::sample(self.scheme().params).get(param.key).to_string(),
            };
            (param.key, text)
        });
        drawn.collect()
    }

    /// True if it is set to lose data, by its own file: segments without the ACK bit that LLE-TCP's MAC acknowledged.
    fn may_lose(&self) -> bool {
        self.params().contains(&("stale_piggyback", "\"clear\"".to_owned()))
    }

    /// True if it repeats so little, or so slowly, that TCP may starve.
    fn repeats_little(&self) -> bool {
        let is_limit = |key: &str| match self.scheme().id {
            "class-retry" => true,
            // Timeouts in a row before it resets, and a minute between them.
            "lle-cc" => key == "max_timeouts",
            "loss-adaptive-retry" => key == "least" || key == "most",
            _ => false,
        };
        let waits = |(key, value): &(&str, String)| *key == "min_timeout" && value == "\"60 s\"";
        // A code of four thousand bits for one: a frame takes seconds.
        let inflates = |(key, value): &(&str, String)| *key == "k" && value.parse::<u32>().is_ok_and(|k| k < 64);
        let is_slow = match self.scheme().id {
            "lle-cc" => self.params().iter().any(waits),
            "hybrid-arq" => self.params().iter().any(inflates),
            _ => false,
        };
        is_slow
            || self
                .params()
                .iter()
                .any(|(key, value)| is_limit(key) && value.parse::<u32>().is_ok_and(|limit| limit < 5))
    }
}

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    servers: usize,
    has_router: bool,
    stations: usize,
    /// Two for each link; the second is not used if `is_alike`.
    wires: Vec<(Wire, Wire, bool)>,
    radio: &'static str,
    max_attempts: u32,
    queue: &'static str,
    errors: &'static str,
    /// The pairs of stations that do not hear each other.
    hidden: Vec<bool>,
    host_delay_us: Vec<u64>,
    flows: Vec<Flow>,
    schemes: Vec<Use>,
    kills: Vec<(usize, u64)>,
    /// The changes of links and places: kind, subject, and time in milliseconds.
    changes: Vec<(u8, usize, u64)>,
}

fn flow() -> impl Strategy<Value = Flow> {
    let udp = prop::sample::select(vec![Writes::Saturated, Writes::Poisson, Writes::Cbr]);
    let writes = || {
        prop_oneof![
            4 => (1u64..30_000).prop_map(Writes::Bulk),
            4 => (30_000u64..250_000).prop_map(Writes::Bulk),
            1 => Just(Writes::Chunks),
            1 => Just(Writes::Poisson),
            1 => Just(Writes::Cbr),
        ]
    };
    let back = prop_oneof![3 => Just(Writes::Nothing), 1 => writes()];
    let both = prop_oneof![
        1 => udp.prop_map(|forward| (forward, None)),
        5 => (writes(), back).prop_map(|(forward, back)| (forward, Some(back))),
    ];
    let options = (
        prop::sample::select(tcp::cc::NAMES.to_vec()),
        prop::sample::select(tcp::ack::NAMES.to_vec()),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        prop::sample::select(vec!["\"off\"", "0", "3"]),
        prop::sample::select(vec!["\"off\"", "\"linux\"", "13"]),
        prop::sample::select(vec![0u32, 4_294_960_000]),
    );
    let tcp = options.prop_map(|(congestion, receiver, (stamps, sack, nagle, ecn), scale, small, sequence)| {
        format!(
            "congestion = \"{congestion}\", receiver = \"{receiver}\", timestamps = {stamps}, sack = {sack}, nagle = {nagle}, ecn = {ecn}, window_scale = {scale}, small_queue = {small}, initial_sequence = {sequence}, min_rto = \"200 ms\", max_rto = \"3 s\""
        )
    });
    let sizes = (prop::sample::select(vec![600u32, 1500]), prop::sample::select(vec![2_000u32, 8_000, 65_535]));
    (0usize..7, 0usize..6, 0u64..800, both, prop::sample::select(READERS.to_vec()), sizes, tcp).prop_map(
        |(from, to, start_ms, writes, reader, (datagram, receive_buffer), tcp)| Flow {
            from,
            to,
            start_ms,
            writes,
            reader,
            datagram,
            receive_buffer,
            tcp,
        },
    )
}

fn wire() -> impl Strategy<Value = Wire> {
    let of = |all: &[&'static str]| prop::sample::select(all.to_vec());
    (of(&RATES), of(&DELAYS), prop::sample::select(LOSSES.to_vec()), of(&QUEUES))
        .prop_map(|(rate, delay, loss, queue)| Wire { rate, delay, loss, queue })
}

/// No scheme, one, or two of them; most where they sit by themselves.
fn uses() -> impl Strategy<Value = Vec<Use>> {
    let one = (0..NAMES.len(), proptest::option::of(any::<u64>()), proptest::option::weighted(0.3, any::<u8>()))
        .prop_map(|(scheme, choices, at)| Use { scheme, choices, at });
    prop_oneof![
        1 => Just(Vec::new()),
        4 => prop::collection::vec(one.clone(), 1),
        3 => prop::collection::vec(one, 2),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let net = (1usize..3, any::<bool>(), 1usize..5, prop::collection::vec((wire(), wire(), any::<bool>()), 3));
    let radio = (
        prop::sample::select(RADIOS.to_vec()),
        prop::sample::select(vec![2u32, 4, 7, 7, 7]),
        prop::sample::select(QUEUES.to_vec()),
        prop::sample::select(ERRORS.to_vec()),
        prop::collection::vec(prop::bool::weighted(0.3), 6),
    );
    let delays = prop::collection::vec(prop::sample::select(vec![0u64, 0, 0, 50, 3_000]), 8);
    let kills = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec((0usize..8, 1u64..2_000), 1..3)];
    let changes = prop::collection::vec((0u8..6, 0usize..8, 1u64..2_000), 1..8);
    let changes = prop_oneof![2 => Just(Vec::new()), 1 => changes];
    let flows = prop::collection::vec(flow(), 1..5);
    (any::<u32>(), net, radio, delays, flows, uses(), (kills, changes)).prop_map(
        |(
            seed,
            (servers, has_router, stations, wires),
            (radio, max_attempts, queue, errors, hidden),
            delays,
            flows,
            schemes,
            (kills, changes),
        )| Case {
            seed: u64::from(seed),
            servers,
            has_router,
            stations,
            wires,
            radio,
            max_attempts,
            queue,
            errors,
            hidden,
            host_delay_us: delays,
            flows,
            schemes,
            kills,
            changes,
        },
    )
}

impl Case {
    /// Servers, access point, stations; the router, if any, behind them.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = (0..self.servers).map(|i| format!("server{i}")).collect();
        names.push("ap".into());
        names.extend((0..self.stations).map(|i| format!("m{i}")));
        if self.has_router {
            names.push("router".into());
        }
        names
    }

    fn ends(&self, flow: &Flow) -> (usize, usize) {
        let hosts = self.servers + 1 + self.stations;
        let from = flow.from % hosts;
        (from, (from + 1 + flow.to % (hosts - 1)) % hosts)
    }

    fn links(&self) -> Vec<(String, String)> {
        let hub = if self.has_router { "router" } else { "ap" };
        let mut links: Vec<_> = (0..self.servers).map(|i| (format!("server{i}"), hub.to_owned())).collect();
        if self.has_router {
            links.push(("router".into(), "ap".into()));
        }
        links
    }

    fn text(&self, duration: &str, schemes: &[Use]) -> String {
        let mut text = format!(
            "[scenario]\nduration = \"{duration}\"\n[radio]\n{}\nmax_attempts = {}\nmax_attempts_long = {}\nqueue = {}\n[channel]\nrange = \"100 m\"\nerrors = {}\n",
            self.radio,
            self.max_attempts,
            self.max_attempts.min(4),
            self.queue,
            self.errors
        );
        // Seven SYNs, three seconds apart, can all meet bad spells.
        let patience = if self.is_hopeful(schemes) { ", syn_retries = 30" } else { "" };
        let pairs = (0..self.stations).flat_map(|b| (0..b).map(move |a| (a, b)));
        for ((a, b), _) in pairs.zip(&self.hidden).filter(|(_, is_hidden)| **is_hidden) {
            _ = writeln!(text, "[[channel.pair]]\nbetween = [\"m{a}\", \"m{b}\"]\nreach = false");
        }
        for (name, delay) in self.names().iter().zip(&self.host_delay_us) {
            _ = writeln!(text, "[[node]]\nname = \"{name}\"\nhost_delay = \"{delay} us\"");
            if name == "ap" {
                text += "role = \"ap\"\n";
            }
        }
        for ((a, b), (there, back, is_alike)) in self.links().iter().zip(&self.wires) {
            if *is_alike {
                _ = write!(text, "[[link]]\nbetween = [\"{a}\", \"{b}\"]\n{}", there.text());
            } else {
                _ = write!(text, "[[link]]\nfrom = \"{a}\"\nto = \"{b}\"\n{}", there.text());
                _ = write!(text, "[[link]]\nfrom = \"{b}\"\nto = \"{a}\"\n{}", back.text());
            }
        }
        let names = self.names();
        for flow in &self.flows {
            let (from, to) = self.ends(flow);
            let (mut forward, back) = flow.writes;
            // Nothing but the queue of a radio is kept full.
            if forward == Writes::Saturated && from <= self.servers {
                forward = Writes::Cbr;
            }
            let (from, to) = (&names[from], &names[to]);
            _ = writeln!(text, "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"{} ms\"", flow.start_ms);
            _ = writeln!(text, "traffic = {}", forward.text());
            if forward.is_stopped() || back.is_some_and(Writes::is_stopped) {
                _ = writeln!(text, "stop = \"{STOP_MS} ms\"");
            }
            match back {
                None => _ = writeln!(text, "transport = {{ protocol = \"udp\", datagram = \"900 B\" }}"),
                Some(back) => {
                    _ = writeln!(text, "reverse = {}\nreader = {}", back.text(), flow.reader);
                    let Flow { datagram, receive_buffer, tcp, .. } = flow;
                    _ = writeln!(
                        text,
                        "transport = {{ protocol = \"tcp\", preset = \"rfc\", datagram = \"{datagram} B\", receive_buffer = \"{receive_buffer} B\", {tcp}{patience} }}"
                    );
                }
            }
        }
        for used in schemes {
            _ = writeln!(text, "[[scheme]]\nname = \"{}\"", used.scheme().id);
            if let Some(mask) = used.at {
                let at: Vec<String> = self.chosen(mask).map(|name| format!("\"{name}\"")).collect();
                _ = writeln!(text, "at = [{}]", at.join(", "));
            }
            for (key, value) in used.params() {
                _ = writeln!(text, "{key} = {value}");
            }
        }
        for (node, at_ms) in &self.kills {
            _ = writeln!(text, "[[event]]\nat = \"{at_ms} ms\"\nkill = \"{}\"", names[node % names.len()]);
        }
        self.changes.iter().for_each(|change| text += &self.change(*change));
        text
    }

    /// A link, or what the access point and a station hear of each other, breaks or heals; a station leaves, or returns.
    fn change(&self, (what, which, at_ms): (u8, usize, u64)) -> String {
        let station = format!("m{}", which % self.stations);
        let links = self.links();
        let (a, b) = &links[which % links.len()];
        let what = match what {
            0 => format!("break = [\"{a}\", \"{b}\"]"),
            1 => format!("heal = [\"{b}\", \"{a}\"]"),
            2 => format!("break = [\"ap\", \"{station}\"]"),
            3 => format!("heal = [\"ap\", \"{station}\"]"),
            4 => format!("move = \"{station}\"\nto = [500, 0]"),
            _ => format!("move = \"{station}\"\nto = [5, 0]"),
        };
        format!("[[event]]\nat = \"{at_ms} ms\"\n{what}\n")
    }

    /// The access point and some of the stations.
    fn chosen(&self, mask: u8) -> impl Iterator<Item = String> {
        let stations = (0..self.stations).filter(move |i| mask >> i & 1 == 1).map(|i| format!("m{i}"));
        ["ap".to_owned()].into_iter().chain(stations)
    }

    /// The scenario, and the schemes in it: as many of those drawn as go together.
    fn scenario(&self, duration: &str) -> (world::Blueprint, String, Vec<Use>) {
        let mut used: Vec<Use> = Vec::new();
        let goes = |with: &Vec<Use>| match world::parse(&self.text(duration, with), &[]) {
            Ok(_) => true,
            Err(error) => {
                assert!(error.to_string().starts_with("scheme["), "{error}\n{}", self.text(duration, with));
                false
            }
        };
        for one in &self.schemes {
            // Where it was put; if it does not sit there, at the access point and where it will. Behind the other, or before.
            let places = [one.clone(), Use { at: one.at.map(|_| 0), ..one.clone() }, Use { at: None, ..one.clone() }];
            let orders: Vec<Vec<Use>> = places
                .into_iter()
                .flat_map(|one| {
                    let (mut behind, mut before) = (used.clone(), used.clone());
                    behind.push(one.clone());
                    before.insert(0, one);
                    [behind, before]
                })
                .collect();
            used = orders.into_iter().find(goes).unwrap_or(used);
        }
        let text = self.text(duration, &used);
        let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (scenario, text, used)
    }

    /// True if a TCP flow must get all of its bytes across: everybody lives, and the MAC repeats often enough that TCP does not
    /// starve.
    fn is_hopeful(&self, used: &[Use]) -> bool {
        let repeats = self.max_attempts >= 5 && !used.iter().any(Use::repeats_little);
        self.kills.is_empty() && self.changes.is_empty() && repeats
    }
}

/// A run, or a panic that shows the scenario if it takes longer than any should.
fn run(scenario: &world::Blueprint, seed: u64, text: &str) -> Run {
    let stop = AtomicBool::new(false);
    let (done, is_done) = mpsc::channel::<()>();
    let flag = &stop;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let run = world::run(scenario, seed, &Record::default(), &stop);
        drop(done);
        run.unwrap_or_else(|error| panic!("{error}\nseed {seed}\n{text}"))
    })
}

fn count(run: &Run, flow: usize, name: &str) -> u64 {
    run.flow(flow, name).unwrap_or_else(|| panic!("no column {name}")) as u64
}

/// The most bytes that may be acknowledged and not delivered, in each direction of a flow, while schemes speak for receivers.
fn bound(case: &Case, run: &Run, flow: &Flow, used: &[Use]) -> u64 {
    let datagram = u64::from(flow.datagram);
    let of = |used: &Use| match used.scheme().id {
        // The bound of the scheme's file: what the base station holds, at least two full segments.
        "i-tcp" => {
            let given = used.params().into_iter().find(|(key, _)| *key == "buffer");
            let bytes = given.and_then(|(_, text)| text.trim_matches('"').trim_end_matches(" B").parse().ok());
            bytes.unwrap_or(131_072u64).max(2 * 1500)
        }
        // The bound of the scheme's file: a window, what was carried until its ACK generator heard of the first packet held, what
        // a slow host has before it. 54 Mb/s are 6.75 B a microsecond.
        id @ ("lle-tcp" | "ack-agent") => {
            let carried = |ns: u64| datagram + ns * 6750 / 1_000_000;
            let slowest = case.host_delay_us.iter().max().copied().unwrap_or_default();
            let notice = carried(run.scheme(id, "slowest_notice_ns") as u64);
            u64::from(flow.receive_buffer) + notice + carried(slowest * 1000)
        }
        // What is on its way stays below the receiver's window; a probe may be beyond it.
        "lle-cc" => u64::from(flow.receive_buffer) + datagram,
        "c3tcp" if used.params().contains(&("control", "\"full\"".to_owned())) => {
            u64::from(flow.receive_buffer) + datagram
        }
        // What copies have, and what died with one.
        "fastack" => {
            ["acked_held_bytes", "acked_lost_bytes"].iter().map(|name| run.scheme("fastack", name) as u64).sum()
        }
        _ => 0,
    };
    used.iter().map(of).sum()
}

/// The laws that hold of one flow whatever happened.
fn check_flow(case: &Case, run: &Run, used: &[Use], index: usize, is_over: bool) -> Result<(), TestCaseError> {
    let flow = &case.flows[index];
    let delivered = count(run, index, "delivered_bytes_total");
    let Some(back) = flow.writes.1 else {
        let (sent, got) = (count(run, index, "datagrams_sent_total"), count(run, index, "delivered_packets"));
        prop_assert!(got <= sent, "flow {index}: {got} of {sent} datagrams");
        prop_assert_eq!(delivered, got * 872);
        return Ok(());
    };
    let acknowledged = count(run, index, "acked_bytes_total");
    let back_delivered = count(run, index, "reverse_delivered_bytes_total");
    for (writes, delivered) in [(flow.writes.0, delivered), (back, back_delivered)] {
        if let Writes::Bulk(written) = writes {
            prop_assert!(delivered <= written, "flow {index}: {delivered} B of {written} B");
        }
    }
    let undelivered =
        ["acked_undelivered_bytes", "reverse_acked_undelivered_bytes"].map(|name| count(run, index, name));
    if used.iter().any(Use::may_lose) {
        return Ok(());
    }
    let bound = if is_over && case.is_hopeful(used) { 0 } else { bound(case, run, flow, used) };
    prop_assert!(undelivered.iter().all(|bytes| *bytes <= bound), "flow {index}: {undelivered:?} of at most {bound}");
    if is_over && case.is_hopeful(used) {
        prop_assert_eq!(acknowledged, delivered, "flow {}", index);
        let is_stopped = flow.writes.0.is_stopped() || back.is_stopped();
        for (writes, delivered) in [(flow.writes.0, delivered), (back, back_delivered)] {
            if let Writes::Bulk(bytes) = writes {
                // A reverse direction that had not connected when its flow was stopped has written nothing.
                prop_assert!(
                    delivered == bytes || delivered == 0 && is_stopped,
                    "flow {index}: {delivered} B of {bytes}"
                );
            }
        }
    }
    Ok(())
}

fn check_nodes_and_queues(case: &Case, run: &Run) -> Result<(), TestCaseError> {
    let count = |row: &world::Row, name: &str| Run::number(row, name).unwrap() as u64;
    prop_assert!(run.books.balance(), "{:?}", run.books);
    // Wired nodes count no MSDUs.
    for row in run.nodes.iter().filter(|row| Run::number(row, "msdus_offered").is_some()) {
        let ended: u64 = ["delivered", "given_up", "expired", "refused", "queued"]
            .iter()
            .map(|end| count(row, &format!("msdus_{end}")))
            .sum();
        let offered = count(row, "msdus_offered");
        let is_dead = count(row, "is_dead") == 1;
        prop_assert!(if is_dead { ended <= offered } else { ended == offered }, "{:?}", row);
    }
    prop_assert_eq!(run.queues.len(), 1 + case.stations + 2 * case.links().len());
    for row in &run.queues {
        let ended = count(row, "departed_packets") + count(row, "dropped_packets");
        prop_assert!(ended <= count(row, "offered_packets"), "{:?}", row);
        prop_assert!(count(row, "dropped_early_packets") <= count(row, "dropped_packets"), "{:?}", row);
    }
    Ok(())
}

fn check(case: &Case, run: &Run, used: &[Use], is_over: bool) -> Result<(), TestCaseError> {
    (0..case.flows.len()).try_for_each(|flow| check_flow(case, run, used, flow, is_over))?;
    check_nodes_and_queues(case, run)?;
    if is_over && case.is_hopeful(used) && !used.iter().any(Use::may_lose) {
        // Copies that Snoop keeps until it sees an ACK stay if ACKs are made beside it.
        prop_assert_eq!(run.books.live, run.scheme("snoop", "packets_held") as u64, "all is over");
        for row in &run.queues {
            let count = |name| Run::number(row, name).unwrap();
            let ended = count("departed_packets") + count("dropped_packets");
            prop_assert_eq!(count("offered_packets"), ended, "{:?}", row);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_that_a_living_network_carries_arrives(case in case()) {
        // Bytes lost for good leave two ends whose numbers differ, and each answers the other's ACK for ever: no RFC limits that.
        let ends = !case.schemes.iter().any(Use::may_lose);
        let (scenario, text, used) = case.scenario(if ends { "30000 s" } else { "60 s" });
        let run = run(&scenario, case.seed, &text);
        check(&case, &run, &used, ends).inspect_err(|_| eprintln!("seed {}\n{text}", case.seed))?;
    }

    /// Cut off in the middle of whatever goes on.
    #[test]
    fn the_books_of_a_network_balance_at_any_instant(case in case(), at_ms in 1u64..2_500) {
        let mut case = case;
        case.flows.iter_mut().for_each(|flow| flow.start_ms = flow.start_ms.min(at_ms - 1));
        case.kills.iter_mut().for_each(|kill| kill.1 = kill.1.min(at_ms));
        case.changes.iter_mut().for_each(|change| change.2 = change.2.min(at_ms));
        let (scenario, text, used) = case.scenario(&format!("{at_ms} ms"));
        let run = run(&scenario, case.seed, &text);
        check(&case, &run, &used, false).inspect_err(|_| eprintln!("seed {}\n{text}", case.seed))?;
    }
}

/// A new line in the registry is tested by being there.
#[test]
fn the_books_of_every_queue_discipline_balance_on_the_air_and_on_a_wire() {
    for entry in &queue::registry() {
        let params = Params::sample(entry.info.params);
        let set: String = params.iter().map(|(key, value)| format!(", {key} = {value}")).collect();
        let queue = format!("{{ discipline = \"{}\", packets = 20{set} }}", entry.info.id);
        // One that schedules receivers has none on a wire.
        let is_for_wires = queue::Spec::new(queue::Limit::Packets(20), entry.with(params)).check(false).is_ok();
        let on_wire = if is_for_wires { queue.as_str() } else { "{ packets = 20 }" };
        let text = format!(
            "[scenario]\nname = \"queues\"\nduration = \"3 s\"\n[radio]\nstandard = \"802.11b\"\nqueue = {queue}\n\
             [[node]]\nname = \"server\"\n[[node]]\nname = \"ap\"\nrole = \"ap\"\n[[node]]\nname = \"mobile\"\nposition = [5, 0]\n\
             [[link]]\nbetween = [\"server\", \"ap\"]\nrate = \"20 Mb/s\"\ndelay = \"5 ms\"\nqueue = {on_wire}\n\
             [[flow]]\nfrom = \"server\"\nto = \"mobile\"\ntransport = {{ protocol = \"tcp\", preset = \"rfc\" }}\n"
        );
        let blueprint = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap();
        assert!(run.flow(0, "delivered_bytes_total") > Some(100_000.0), "{}", entry.info.id);
    }
}
