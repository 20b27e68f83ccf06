//! Scenarios that together write every key, and the names they use.

pub use crate::queues::*;
use plugin::{Info, Kind, Param, Registry, Value};
use scenario::{Disciplines, InputError, Names, Plug, Scenario};

static LLE: &[Param] = &[
    Param {
        key: "advertise",
        kind: Kind::Choice(&["free-buffer", "receiver"]),
        default: Value::Choice("receiver"),
        doc: "The window to tell.",
    },
    Param {
        key: "guard",
        kind: Kind::Time { min: units::Dur::ZERO, max: units::Dur::from_secs(9) },
        default: Value::Time(units::Dur::from_ms(5)),
        doc: "A time.",
    },
    Param {
        key: "reserve",
        kind: Kind::Size { min: units::Bytes(0), max: units::Bytes(9_000) },
        default: Value::Size(units::Bytes(0)),
        doc: "A size.",
    },
    Param { key: "duplicates", kind: Kind::Int { min: 1, max: 9 }, default: Value::Int(3), doc: "A count." },
    Param { key: "weight", kind: Kind::Float { min: 0.0, max: 2.0 }, default: Value::Float(0.5), doc: "A factor." },
    Param { key: "strip_sack", kind: Kind::Bool, default: Value::Bool(false), doc: "A switch." },
];

/// The declaration of a plug-in.
pub const fn info(id: &'static str, params: &'static [Param]) -> Info {
    Info { id, summary: "", source: "", params }
}

static CONGESTION: [Info; 5] =
    [info("newreno", &[]), info("reno", &[]), info("tahoe", &[]), info("vegas", &[]), info("veno", &[])];
static RECEIVERS: [Info; 3] = [info("delayed-ack", &[]), info("dynamic-delayed-ack", &[]), info("every", &[])];
static RECOVERIES: [Info; 4] = [info("newreno", &[]), info("reno", &[]), info("sack", &[]), info("tahoe", &[])];
static ROUTERS: [Info; 1] = [info("static", &[])];
static ROUTE_METRICS: [Info; 1] = [info("hop-count", &[])];
static RATE_CONTROLS: [Info; 2] = [info("coarse", &[]), info("fixed", &[])];
static USERS: [Info; 1] = [info("letters", LETTERS)];
const LETTERS: &[Param] = &[Param {
    key: "length",
    kind: Kind::Size { min: units::Bytes(1), max: units::Bytes(1_000_000) },
    default: Value::Size(units::Bytes(2000)),
    doc: "Of a letter.",
}];
static SCHEMES: [Info; 2] = [info("ftca", &[]), info("lle-tcp", LLE)];

fn registry(noun: &'static str, infos: &'static [Info]) -> Registry<()> {
    Registry::of(noun, infos.iter().map(|info| (info, ()))).unwrap()
}

pub fn names() -> Names {
    Names {
        congestion: registry("congestion control", &CONGESTION),
        receivers: registry("receiver", &RECEIVERS),
        recoveries: registry("recovery", &RECOVERIES),
        routers: registry("router", &ROUTERS),
        route_metrics: registry("route metric", &ROUTE_METRICS),
        rate_controls: registry("rate control", &RATE_CONTROLS),
        queues: queue::registry(),
        traffic: registry("traffic model", &USERS),
        schemes: registry("scheme", &SCHEMES),
    }
}

/// 802.11b with TCP of every description.
pub const TCP: &str = r#"
routing = "static"
route_metric = "hop-count"

[scenario]
name = "full"
duration = "60 s"
warmup = "5 s"
seed = 7
series_every = "10 ms"

[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
rate_control = "fixed"
basic_rate = "1 Mb/s"
control_rate = "basic"
preamble = "short"
rts_threshold = "500 B"
fragmentation_threshold = "1000 B"
rts_for = "data"
max_attempts = 5
max_attempts_long = 3
after_timeout = "eifs"
cw_min = 15
cw_max = 511
queue = { packets = 100 }

[channel]
range = "22.5 m"
sense_range = "50 m"
sense_eifs = false
errors = { model = "packet", per = 0.01, control_per = 0.001, at = "msdu" }

[[channel.pair]]
between = ["a", "b"]
reach = false
errors = { model = "bit", ber = 1e-5, control = false, at = "attempt" }

[[channel.pair]]
from = "a"
to = "c"
errors = { model = "two-state", good = { ber = 1e-6 }, bad = { per = 0.5 }, mean_good = "1 s", mean_bad = "100 ms", unit = "time", shared = "direction", control = false, at = "msdu" }

[[node]]
name = "a"
position = [0, 0]
role = "ap"
data_rate = "5.5 Mb/s"
data_rate_to = { b = "2 Mb/s", c = "11 Mb/s" }
rate_control = "coarse"
host_delay = "1 ms"

[[node]]
name = "b"
position = [-3.5, 10]

[[node]]
name = "c"

[[flow]]
name = "download"
from = "a"
to = "b"
dscp = 0
start = "1 s"
stagger = "10 ms"
stop = "50 s"
traffic = { model = "bulk", bytes = "2 MB" }
reverse = { model = "chunks", size = "100 B", every = "10 ms" }
reader = { model = "on-off", on = "1 s", off = "2 s" }
ack_gaps = true

[flow.transport]
protocol = "tcp"
datagram = "1000 B"
preset = "linux"
congestion = "veno"
recovery = "sack"
prr = true
rack = true
tlp = true
undo = "all"
hystart = true
pacing = true
receiver = "delayed-ack"
delayed_ack_timeout = "200 ms"
delayed_ack_count = 2
quickack = true
initial_window = 2
initial_ssthresh = "64 kB"
max_window = 20
send_buffer = "64 kB"
receive_buffer = "65535 B"
min_rto = "1 s"
initial_rto = "3 s"
max_rto = "60 s"
granularity = "10 ms"
nagle = true
timestamps = true
sack = true
window_scale = 7
ecn = true
limited_transmit = true
handshake_rtt = false
timestamp_tick = "10 ms"
byte_counting = 2
count_delivered = true
local_congestion = true
small_queue = 10
dup_ack_threshold = 4
idle_restart = false
validate_cwnd = false
time_wait = "120 s"
syn_retries = 3
max_retries = 8
user_timeout = "100 s"
initial_sequence = 4294967000

[[flow]]
from = "b"
to = "c"
transport = { protocol = "tcp", initial_ssthresh = "unlimited", window_scale = "auto" }
traffic = { model = "poisson", rate = "1 Mb/s" }
reverse = { model = "cbr", rate = "2 Mb/s" }
reader = { model = "rate", rate = "3 Mb/s" }

[[flow]]
from = "c"
to = "a"
traffic = { model = "none" }
reverse = { model = "bulk" }
reader = { model = "instant" }

[[flow]]
from = "c"
to = "a"
traffic = { model = "on-off", rate = "1 Mb/s", on = "1 s", off = "2 s" }

[[scheme]]
name = "ftca"

[[scheme]]
name = "lle-tcp"
at = ["a", "b"]
advertise = "free-buffer"
guard = "20 ms"
reserve = "3 kB"
duplicates = 4
weight = 1
strip_sack = true

[[event]]
at = "3 s"
kill = "c"

[[event]]
at = "4 s"
break = ["a", "b"]

[[event]]
at = "5 s"
heal = ["b", "a"]

[[event]]
at = "6 s"
move = "b"
to = [7, -8.5]

[[event]]
at = "7 s"
restart = "c"

[[window]]
name = "middle"
from = "10 s"
to = "20 s"
every = "500 ms"
"#;

/// Wires with everything a link can say, and a cell at the end of them.
pub const WIRED: &str = r#"
scenario = { duration = "10 s" }
radio = { standard = "802.11b", queue = { discipline = "red", packets = 60, min_th = 10, max_th = 30, max_p = 0.05, weight = 0.01, gentle = false, ecn = true } }
[[node]]
name = "server"
[[node]]
name = "mirror"
[[node]]
name = "router"
radio = false
position = [0, 0]
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "laptop"
[[link]]
name = "backbone"
between = ["server", "router"]
rate = "100 Mb/s"
delay = "2 ms"
loss = 0.001
queue = { discipline = "red", bytes = "150 kB", min_th = 15000, max_th = 45000 }
[[link]]
from = "router"
to = "ap"
rate = "8 Mb/s"
errors = { model = "none" }
[[link]]
between = ["server", "mirror"]
rate = "1 Gb/s"
errors = { model = "two-state", good = { ber = 1e-8 }, bad = { per = 0.001 }, mean_good = 10, mean_bad = 6.667, unit = "frame", step = "all" }
queue = { discipline = "red", packets = 9, min_th = 3, max_th = 5, max_p = 0.5, weight = 0.5, gentle = false, ecn = true }
[[link]]
between = ["router", "mirror"]
rate = "1 Gb/s"
errors = { model = "packet", per = 0.01 }
queue = { discipline = "drop-tail", bytes = "15 kB" }
[[link]]
from = "ap"
to = "router"
rate = "1 Mb/s"
errors = { model = "bit", ber = 1e-6 }
queue = { discipline = "drop-tail", packets = 20 }
[[event]]
at = "1 s"
break = "backbone"
[[flow]]
from = "server"
to = "laptop"
count = 2
"#;

/// Powers, categories, groups of nodes, a layout.
pub const AIR: &str = r#"
scenario = { duration = "5 s" }
[radio]
standard = "802.11a"
tx_power = "18 dBm"
cca_ed = "-65 dBm"
cca_preamble_latency = "16 us"
preamble_sinr = "3 dB"
interference = "noise"
capture = true
capture_clear = "8 dB"
capture_garbled = "20 dB"
access = "edca"
access_in_gap = "always-draw"
txop_protection = "multiple-cf-end"
countdown = "dcf"
edca = { bk = { aifsn = 9, cw_min = 3, cw_max = 7, txop_limit = "1504 us" }, be = { aifsn = 3, cw_min = 3, cw_max = 7, txop_limit = "1504 us" }, vi = { aifsn = 2, cw_min = 3, cw_max = 7, txop_limit = "1504 us" }, vo = { aifsn = 2, cw_min = 3, cw_max = 7, txop_limit = "1504 us" } }
[channel]
propagation = { model = "log-distance", exponent = 3.5, reference_distance = "2 m", reference_loss = "50 dB" }
shadowing = "4 dB"
shadowing_decorrelation = "20 m"
fading = { model = "rayleigh", coherence = "10 ms" }
noise_figure = "6 dB"
[layout]
model = "disc"
radius = "25 m"
connected = true
tries = 5
[[node]]
name = "ap"
role = "ap"
tx_power = "20 dBm"
edca = { bk = { aifsn = 8, cw_min = 3, cw_max = 7, txop_limit = "1504 us" }, be = { aifsn = 4, cw_min = 3, cw_max = 7, txop_limit = "1504 us" }, vi = { aifsn = 3, cw_min = 3, cw_max = 7, txop_limit = "1504 us" }, vo = { aifsn = 1 } }
[[node]]
name = "sta"
count = 3
[[node]]
name = "old"
access = "dcf"
edca = { vo = { cw_min = 1, cw_max = 3, txop_limit = "0 s" } }
[[flow]]
name = "up"
from = "sta"
to = "ap"
dscp = 46
"#;

/// Gains by hand.
pub const MATRIX: &str = r#"
scenario = { duration = "5 s" }
radio = { standard = "802.11b" }
layout = { model = "rectangle", width = "10 m", height = "20 m", connected = false, tries = 7 }
channel = { propagation = { model = "matrix" }, noise = "-95 dBm", fading = { model = "none" }, pair = [{ between = ["a", "b"], gain = "-70 dB" }] }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"#;

/// Nodes that move.
pub const MOBILE: &str = r#"
scenario = { duration = "5 s" }
radio = { standard = "802.11b", move_step = "0.5 m", handoff_hysteresis = "6 dB", handoff_time = "20 ms", handoff_queue = "forward" }
channel = { propagation = { model = "free-space" } }
[[node]]
name = "walker"
mobility = { model = "walk", width = "100 m", height = "50 m", centre = [50, 25], min_speed = "1 m/s", max_speed = "7.2 km/h", time = "10 s" }
[[node]]
name = "strider"
mobility = { model = "walk", width = "100 m", height = "50 m", min_speed = "1 m/s", max_speed = "2 m/s", distance = "10 m" }
[[node]]
name = "sta"
count = 2
mobility = { model = "waypoint", width = "100 m", height = "50 m", centre = [50, 25], min_speed = "1 m/s", max_speed = "5 m/s", pause = "1 s", pause_max = "10 s", start = "uniform" }
[[node]]
name = "leaver"
position = [1, 2]
mobility = { model = "line", velocity = [1.5, 0], after = "1 s" }
[[node]]
name = "tourist"
mobility = { model = "line", through = [[0, 0], [50, 10]], speed = "1.5 m/s" }
[[node]]
name = "follower"
mobility = { model = "trace", file = "scene.ns_movements" }
[[flow]]
from = "walker"
to = "leaver"
"#;

/// Two channels that hear nothing of each other, and a node on both.
pub const CHANNELS: &str = r#"
scenario = { duration = "5 s" }
radio = { standard = "802.11b" }
[channel]
name = "front"
range = "30 m"
[[channel.further]]
name = "back"
errors = { model = "packet", per = 0.1 }
pair = [{ between = ["relay", "b"], reach = true }]
[[node]]
name = "a"
[[node]]
name = "relay"
channels = ["front", "back"]
prefixes = ["192.0.2.0/24", "0.0.0.0/0"]
[[node]]
name = "b"
channels = ["back"]
[[flow]]
from = "a"
to = "b"
"#;

/// 802.11ax beside 802.11ac: modes, aggregation.
pub const MODERN: &str = r#"
scenario = { duration = "1 s" }
[radio]
standard = "802.11ax"
mcs = "best"
streams = 2
width = "80 MHz"
guard_interval = "1.6 us"
coding = "ldpc"
preamble = "ns3"
dscp_map = "precedence"
[radio.aggregation]
mpdus = 128
bytes = "1 MB"
time = "4 ms"
amsdu = "3839 B"
largest_mpdu = "7991 B"
window = 128
spacing = "4 us"
block_ack = ["be", "vi"]
attempts = 30
after_silence = "request"
tells_gaps = false
patience = "50 ms"
[[node]]
name = "ap"
role = "ap"
mcs = 7
mcs_to = { old = 3 }
streams = 1
width = "40 MHz"
guard_interval = "0.8 us"
coding = "ldpc"
[[node]]
name = "old"
standard = "802.11ac"
aggregation = { lifetime = "1 s", window = 64 }
[[flow]]
from = "ap"
to = "old"
"#;

/// The other models.
pub const GROUND: &str = r#"
scenario = { duration = "5 s" }
radio = { standard = "802.11b" }
layout = { model = "grid", spacing = "10 m" }
channel = { propagation = { model = "two-ray-ground", frequency = "2.4 GHz", height = "1 m" }, fading = { model = "jakes", doppler = "10 Hz" } }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"#;

pub const FREE: &str = r#"
scenario = { duration = "5 s" }
radio = { standard = "802.11b" }
layout = { model = "star", radius = "10 m" }
channel = { propagation = { model = "free-space", frequency = "2.4 GHz" }, fading = { model = "jakes", speed = "3.6 km/h" } }
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
count = 2
[[flow]]
from = ["a", "c"]
to = "c"
hops = [1, 3]
"#;

/// 802.11g with UDP.
pub const UDP: &str = r#"
scenario = { duration = "1 min" }
radio = { standard = "802.11g", slot = "long", control_rate = "6 Mb/s", basic_rate_set = ["1 Mb/s", "6 Mb/s"], rts_rate = "1 Mb/s", queue = { discipline = "drop-tail", bytes = "64 kB" } }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
transport = { protocol = "udp", datagram = "500 B" }
traffic = { model = "saturated" }
[channel]
errors = { model = "two-state", good = { per = 0.0 }, bad = { ber = 0.001 }, mean_good = 100, mean_bad = 10.5, unit = "frame", step = "data" }
[[channel.pair]]
between = ["b", "a"]
errors = { model = "none" }
"#;

/// The least that runs.
pub const LEAST: &str = r#"
[scenario]
duration = "10 s"
[radio]
standard = "802.11b"
[[node]]
name = "sender"
[[node]]
name = "receiver"
[[flow]]
from = "sender"
to = "receiver"
"#;

/// A user, who opens connections.
pub const USER: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11b" }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
traffic = { model = "letters", length = "3 kB" }
"#;

pub const EXAMPLES: [&str; 20] = [
    TCP,
    MOBILE,
    CHANNELS,
    UDP,
    WIRED,
    RED,
    DRR,
    DRR_BYTES,
    WARNING,
    CONTROLLED_DELAY,
    CONTROLLED_DELAY_BYTES,
    USER,
    FLOW_QUEUES,
    FLOW_QUEUES_BYTES,
    AIR,
    MATRIX,
    GROUND,
    MODERN,
    FREE,
    LEAST,
];

/// A scenario for each registered queue discipline, with all its parameters, in packets and in bytes, on the air, at one node and, if it
/// is for wires, there.
fn of_disciplines() -> Vec<String> {
    let mut all = Vec::new();
    for entry in &queue::registry() {
        let params = plugin::Params::sample(entry.info.params);
        let set: String = params.iter().map(|(key, value)| format!(", {key} = {value}")).collect();
        let queue = |limit: &str| format!("{{ discipline = \"{}\", {limit}{set} }}", entry.info.id);
        let (packets, bytes) = (queue("packets = 90"), queue("bytes = \"90 kB\""));
        // One that schedules receivers has none on a wire.
        let spec = queue::Spec::new(queue::Limit::Packets(90), entry.with(plugin::Params::sample(entry.info.params)));
        let is_for_wires = spec.check(false).is_ok();
        for (air, there, back) in [(&packets, &packets, &bytes), (&bytes, &bytes, &packets)] {
            let [air, own] = [air, back].map(|queue| queue.replacen('{', "{ per = \"receiver\",", 1));
            let wire = |from: &str, to: &str, queue: &str| {
                let queue = if is_for_wires { queue } else { "{ packets = 90 }" };
                format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Mb/s\"\nqueue = {queue}\n")
            };
            all.push(format!(
                "scenario = {{ duration = \"1 s\" }}\nradio = {{ standard = \"802.11a\", queue = {air} }}\n[[node]]\nname = \"a\"\nposition = [0, 0]\nqueue = {own}\n\
                 [[node]]\nname = \"b\"\n{}{}[[flow]]\nfrom = \"a\"\nto = \"b\"\n",
                wire("a", "b", there),
                wire("b", "a", back),
            ));
        }
    }
    all
}

/// The examples above, and those that the registry of queue disciplines makes.
pub fn examples() -> Vec<String> {
    EXAMPLES.iter().map(|text| (*text).to_owned()).chain(of_disciplines()).collect()
}

pub fn read(text: &str) -> Result<Scenario, InputError> {
    scenario::parse(text, &[], &names())
}

pub fn read_with(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, InputError> {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    scenario::parse(text, &overrides, &names())
}

/// The example with `new` in place of `old`, which it must contain.
pub fn changed(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[track_caller]
pub fn refused(text: &str, line: &str) {
    let error = read(text).expect_err(line).to_string();
    assert_eq!(error, line);
}

/// Mistakes made by replacing a piece of an example.
#[track_caller]
pub fn all_refused(text: &str, cases: &[(&str, &str, &str)]) {
    for (old, new, line) in cases {
        refused(&changed(text, old, new), line);
    }
}

/// A discipline with these parameters.
pub fn discipline(id: &str, set: &[(&str, plugin::Value)]) -> Plug<Disciplines> {
    let mut chosen = queue::find(id).expect("it is in the list");
    set.iter().for_each(|(key, value)| chosen.params.set(key, *value));
    Plug::new(chosen.info, chosen.params)
}
