//! Every key of a scenario: the one source of the decoder, its suggestions and the schema.

use super::key::{Key, Kind, MOST_ENTRIES, Need, Preset, Registry, Table, Tagged, Variant};

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, need: Need::Required, doc }
}
const fn optional(name: &'static str, kind: Kind, without: &'static str, doc: &'static str) -> Key {
    Key { name, kind, need: Need::Optional(without), doc }
}
const fn preset(name: &'static str, kind: Kind, default: Preset, doc: &'static str) -> Key {
    Key { name, kind, need: Need::Default(default), doc }
}
const fn one_of(keys: &'static [Key]) -> Table {
    Table { keys, later: &[], scheme: None, one_of: true }
}
const fn table(keys: &'static [Key]) -> Table {
    Table { keys, later: &[], scheme: None, one_of: false }
}

/// The longest time of any kind: 10⁶ s.
const ANY_TIME: Kind = Kind::Time { min_ns: 0 };
const SOME_TIME: Kind = Kind::Time { min_ns: 1 };
pub(super) const ANY_BYTES: Kind = Kind::Size { min: 0, max: 1_000_000_000_000 };
const SOME_BYTES: Kind = Kind::Size { min: 1, max: 1_000_000_000_000 };
/// The largest window that sequence numbers allow is 1 GiB. @RFC7323 sec. 2.3
const BUFFER: Kind = Kind::Size { min: 1, max: 1 << 30 };
const PROBABILITY: Kind = Kind::Num { min: 0.0, max: 1.0 };
const COORDINATE: Kind = Kind::Num { min: -1e7, max: 1e7 };
const POINT: Kind = Kind::List { of: &COORDINATE, min: 2, max: 2 };
const PAIR: Kind = Kind::List { of: &Kind::NodeRef, min: 2, max: 2 };
const SOME_NODES: Kind = Kind::List { of: &Kind::NodeRef, min: 1, max: MOST_ENTRIES };
const ATTEMPTS: Kind = Kind::Int { min: 1, max: 255 };
const WINDOW: Kind = Kind::Int { min: 1, max: 1_000_000_000 };
const CONTENTION_WINDOW: Kind = Kind::Int { min: 0, max: 32_767 };
const NO_ERRORS: Preset = Preset::Toml("{ model = \"none\" }");
const TCP_DEFAULT: &str = "the simulated TCP's own default";

pub(super) static SCENARIO: Table = Table {
    keys: &[
        required("scenario", Kind::Table(&RUN), "The run: its length and its seed."),
        optional("radio", Kind::Table(&RADIO), "no node has a radio", "What all radios have in common."),
        preset("channel", Kind::Table(&CHANNEL), Preset::Toml("{}"), "Who hears whom, and how well."),
        required("node", Kind::Entries { of: &NODE, min: 1 }, "A node: a station, an access point, a wired host."),
        optional("link", Kind::Entries { of: &LINK, min: 0 }, "none", "A wired link."),
        required("flow", Kind::Entries { of: &FLOW, min: 1 }, "A connection or a stream of datagrams."),
        optional("scheme", Kind::Entries { of: &SCHEME, min: 0 }, "none", "A cross-layer system in use."),
        optional(
            "layout",
            Kind::Tagged(&LAYOUT),
            "[0, 0]",
            "Where the nodes stand that have no position of their own.",
        ),
        optional("event", Kind::Entries { of: &EVENT, min: 0 }, "none", "Something that happens at one instant."),
    ],
    later: &[],
    scheme: None,
    one_of: false,
};

static RUN: Table = table(&[
    optional("name", Kind::Text, "the name of the file", "What reports call the scenario."),
    required("duration", SOME_TIME, "Length of the whole run, warm-up included."),
    preset("warmup", ANY_TIME, Preset::Text("0 s"), "Rates and counters are taken after it."),
    preset("seed", Kind::Int { min: 0, max: i64::MAX }, Preset::Int(1), "Fixes every random draw of the first run."),
]);

static RADIO: Table = table(&[
    required(
        "standard",
        Kind::Word { noun: "standard", words: &["802.11", "802.11b", "802.11a", "802.11g"] },
        "The amendment whose rates and timing all radios follow.",
    ),
    optional("data_rate", Kind::Rate, "the standard's highest", "Rate of data frames."),
    optional(
        "basic_rate",
        Kind::Rate,
        "all mandatory rates of the standard",
        "The only basic rate: of broadcasts, RTS, CTS and ACK.",
    ),
    preset(
        "control_rate",
        Kind::WordOr(&["basic"], &Kind::Rate),
        Preset::Text("basic"),
        "Rate of ACK and CTS: the highest basic rate not above that of the frame they answer, or one rate always.",
    ),
    optional(
        "preamble",
        Kind::Word { noun: "preamble", words: &["long", "short"] },
        "long",
        "PHY preamble of DSSS and CCK rates (short: 802.11b and 802.11g only).",
    ),
    preset(
        "rts_threshold",
        Kind::WordOr(&["off"], &ANY_BYTES),
        Preset::Text("off"),
        "Size of the MPDU above which RTS/CTS is used; \"0 B\": always.",
    ),
    preset(
        "rts_for",
        Kind::Word { noun: "class of frames", words: &["all", "data"] },
        Preset::Text("all"),
        "Which MSDUs may use RTS/CTS: all, or those that carry TCP or UDP payload.",
    ),
    preset("max_attempts", ATTEMPTS, Preset::Int(7), "Transmissions in all of a frame up to the RTS threshold."),
    preset(
        "max_attempts_long",
        ATTEMPTS,
        Preset::Int(4),
        "Transmissions in all of a frame above the RTS threshold, once its RTS was answered.",
    ),
    preset(
        "after_timeout",
        Kind::Word { noun: "reading", words: &["letter", "fresh-ifs", "eifs"] },
        Preset::Text("letter"),
        "When the backoff after an unanswered frame counts down: at the timeout, a DIFS later, or an EIFS after the frame.",
    ),
    optional("tx_power", Kind::Level, "16 dBm", "Transmit power, antenna gains included; needs channel.propagation."),
    optional(
        "cca_ed",
        Kind::Level,
        "-62 dBm",
        "Energy at which the medium is busy at once; needs channel.propagation.",
    ),
    optional(
        "cca_preamble_latency",
        ANY_TIME,
        "4 us",
        "Time until a preamble below cca_ed is sensed; needs channel.propagation.",
    ),
    optional("preamble_sinr", Kind::Gain, "4 dB", "Least SINR of a preamble to lock on; needs channel.propagation."),
    optional(
        "capture",
        Kind::Bool,
        "false",
        "A much stronger frame takes a locked receiver; needs channel.propagation.",
    ),
    optional("capture_clear", Kind::Gain, "10 dB", "How much stronger than a frame that could be decoded."),
    optional("capture_garbled", Kind::Gain, "15 dB", "How much stronger than one that could not."),
    preset(
        "access",
        Kind::Word { noun: "access method", words: &["dcf", "edca"] },
        Preset::Text("dcf"),
        "Of all stations.",
    ),
    optional("edca", Kind::Table(&EDCA), "the standard's", "Parameters of the access categories."),
    optional(
        "access_in_gap",
        Kind::Word { noun: "reading", words: &["dcf-letter", "edca-letter", "always-draw"] },
        "the letter of the access method",
        "Whether a frame queued in an interframe gap draws a backoff: under DCF, under EDCA, always.",
    ),
    optional(
        "countdown",
        Kind::Word { noun: "reading", words: &["dcf", "edca"] },
        "that of the access method",
        "Whether the slot boundary that ends AIFS counts (edca), or only whole idle slots (dcf).",
    ),
    optional("cw_min", CONTENTION_WINDOW, "the standard's", "Least contention window in slots."),
    optional("cw_max", CONTENTION_WINDOW, "the standard's", "Greatest contention window in slots."),
    optional(
        "slot",
        Kind::Word { noun: "slot", words: &["short", "long"] },
        "short for 802.11g, fixed for the others",
        "Slot time of 802.11g: 9 us, or the 20 us of 802.11b.",
    ),
    preset(
        "queue",
        Kind::Tagged(&QUEUE),
        Preset::Toml("{ packets = 50 }"),
        "Interface queue of every station, limited in packets or in bytes.",
    ),
]);

static EDCA: Table = table(&[
    optional("bk", Kind::Table(&CATEGORY), "the standard's", "Background."),
    optional("be", Kind::Table(&CATEGORY), "the standard's", "Best effort."),
    optional("vi", Kind::Table(&CATEGORY), "the standard's", "Video."),
    optional("vo", Kind::Table(&CATEGORY), "the standard's", "Voice."),
]);

static CATEGORY: Table = table(&[
    optional("aifsn", Kind::Int { min: 1, max: 15 }, "the standard's", "Slots of its interframe space beyond SIFS."),
    optional("cw_min", CONTENTION_WINDOW, "the standard's", "Least contention window in slots."),
    optional("cw_max", CONTENTION_WINDOW, "the standard's", "Greatest contention window in slots."),
    optional("txop_limit", ANY_TIME, "0 s: one exchange", "How long it may keep the medium."),
]);

static LAYOUT: Tagged = Tagged {
    tag: "model",
    noun: "layout",
    default: None,
    variants: &[
        Variant {
            word: "star",
            doc: "On a circle, equally far from each other; access points in its centre.",
            keys: &[required("radius", Kind::Length, "Of the circle.")],
        },
        Variant {
            word: "grid",
            doc: "On a square grid around its centre, where access points are.",
            keys: &[required("spacing", Kind::Length, "Between neighbours.")],
        },
        Variant {
            word: "disc",
            doc: "Anywhere on a disc, uniform over its area, drawn anew for each run; access points in its centre.",
            keys: &[required("radius", Kind::Length, "Of the disc.")],
        },
        Variant {
            word: "line",
            doc: "On a line, in the order of the file.",
            keys: &[required("spacing", Kind::Length, "Between neighbours.")],
        },
    ],
};

const QUEUE_PACKETS: Key =
    optional("packets", Kind::Int { min: 1, max: 1_000_000 }, "limited in bytes", "Packets it holds.");
const QUEUE_BYTES: Key = optional("bytes", SOME_BYTES, "limited in packets", "Bytes of IP datagrams it holds.");
/// Of RED: more than any queue holds.
const THRESHOLD: Kind = Kind::Num { min: 0.0, max: 1e12 };

/// Defaults of RED: Floyd, "RED: Discussions of Setting Parameters", 1997, and gentle as she recommended in 2000.
static QUEUE: Tagged = Tagged {
    tag: "discipline",
    noun: "queue discipline",
    default: Some("drop-tail"),
    variants: &[
        Variant { word: "drop-tail", doc: "What finds it full is dropped.", keys: &[QUEUE_PACKETS, QUEUE_BYTES] },
        Variant {
            word: "red",
            doc: "Random early detection: dropped, or marked, by the average length.",
            keys: &[
                QUEUE_PACKETS,
                QUEUE_BYTES,
                preset(
                    "min_th",
                    THRESHOLD,
                    Preset::Num(5.0),
                    "Average below which nothing happens, in the limit's unit.",
                ),
                preset(
                    "max_th",
                    THRESHOLD,
                    Preset::Num(15.0),
                    "Average at which max_p is reached, in the limit's unit.",
                ),
                preset("max_p", PROBABILITY, Preset::Num(0.1), "Greatest probability between the thresholds."),
                preset("weight", PROBABILITY, Preset::Num(0.002), "Of a new length in the average."),
                preset("gentle", Kind::Bool, Preset::Bool(true), "From max_p to 1 between max_th and twice that."),
                preset(
                    "ecn",
                    Kind::Bool,
                    Preset::Bool(false),
                    "Packets of ECN-capable transports are marked, not dropped.",
                ),
            ],
        },
    ],
};

static LINK: Table = table(&[
    optional("name", Kind::Name, "link<index>", "What overrides call it."),
    optional("between", PAIR, "one direction, given by from and to", "Two nodes: the same both ways."),
    optional("from", Kind::NodeRef, "both directions, given by between", "The sender."),
    optional("to", Kind::NodeRef, "both directions, given by between", "The receiver."),
    required("rate", Kind::Rate, "Of IP bytes; no link-layer framing is added."),
    preset("delay", ANY_TIME, Preset::Text("0 s"), "From the end of a packet's transmission to its arrival."),
    preset("loss", PROBABILITY, Preset::Num(0.0), "Probability that a packet is lost on the way."),
    preset(
        "queue",
        Kind::Tagged(&QUEUE),
        Preset::Toml("{ packets = 100 }"),
        "Of each direction, beside the packet in transmission.",
    ),
]);

static CHANNEL: Table = Table {
    keys: &[
        optional("range", Kind::Length, "everyone hears everyone", "Reach of every station; not with propagation."),
        optional(
            "propagation",
            Kind::Tagged(&PROPAGATION),
            "none: a pair is in reach or not",
            "Powers decide who hears whom, and what becomes of frames that overlap.",
        ),
        optional(
            "shadowing",
            Kind::Gain,
            "0 dB",
            "Standard deviation of log-normal shadowing by pair; needs propagation.",
        ),
        optional("fading", Kind::Tagged(&FADING), "none", "How gains change with time; needs propagation."),
        optional("noise_figure", Kind::Gain, "7 dB", "Of receivers, over thermal noise; needs propagation."),
        optional("noise", Kind::Level, "thermal noise and noise_figure", "Noise at receivers; needs propagation."),
        preset("errors", Kind::Tagged(&ERRORS), NO_ERRORS, "How frames are lost to noise."),
        optional("pair", Kind::Entries { of: &EXCEPTION, min: 0 }, "none", "An exception for one pair of nodes."),
    ],
    later: &[],
    scheme: None,
    one_of: false,
};

const FREQUENCY: Key =
    optional("frequency", Kind::Frequency, "5.18 GHz for 802.11a, 2.437 GHz for the others", "Of the carrier.");

static PROPAGATION: Tagged = Tagged {
    tag: "model",
    noun: "propagation model",
    default: None,
    variants: &[
        Variant { word: "free-space", doc: "Friis: the square of the distance.", keys: &[FREQUENCY] },
        Variant {
            word: "log-distance",
            doc: "A power of the distance.",
            keys: &[
                preset("exponent", Kind::Num { min: 0.0, max: 20.0 }, Preset::Num(3.0), "Of the distance."),
                preset("reference_distance", Kind::Length, Preset::Text("1 m"), "Within it the loss is constant."),
                preset("reference_loss", Kind::Gain, Preset::Text("46.6777 dB"), "Loss at the reference distance."),
            ],
        },
        Variant {
            word: "two-ray-ground",
            doc: "As free space, beyond the cross-over distance the fourth power.",
            keys: &[
                FREQUENCY,
                preset("height", Kind::Length, Preset::Text("1.5 m"), "Of all antennas over the ground."),
            ],
        },
        Variant {
            word: "matrix",
            doc: "The gains of channel.pair; pairs that are not listed do not hear each other.",
            keys: &[],
        },
    ],
};

static FADING: Tagged = Tagged {
    tag: "model",
    noun: "fading model",
    default: None,
    variants: &[
        Variant { word: "none", doc: "Gains do not change.", keys: &[] },
        Variant {
            word: "rayleigh",
            doc: "Exponential power of mean 1, drawn anew for each pair and coherence time.",
            keys: &[required("coherence", SOME_TIME, "How long a gain lasts.")],
        },
    ],
};

static EXCEPTION: Table = table(&[
    optional("between", PAIR, "one direction, given by from and to", "Two nodes: the exception holds both ways."),
    optional("from", Kind::NodeRef, "both directions, given by between", "The transmitter."),
    optional("to", Kind::NodeRef, "both directions, given by between", "The receiver."),
    optional("reach", Kind::Bool, "as range says", "Whether the receiver hears the transmitter."),
    optional("gain", Kind::Gain, "as propagation says", "Between their antennas; needs channel.propagation."),
    optional("errors", Kind::Tagged(&ERRORS), "the channel's", "How frames between them are lost to noise."),
]);

const ERROR_AT: Key = preset(
    "at",
    Kind::Word { noun: "place to draw errors", words: &["attempt", "msdu"] },
    Preset::Text("attempt"),
    "Drawn for each transmission, or once for the MSDU, all attempts of which then fail.",
);
const ERROR_CONTROL: Key = preset("control", Kind::Bool, Preset::Bool(true), "RTS, CTS and ACK are hit too.");

static ERRORS: Tagged = Tagged {
    tag: "model",
    noun: "error model",
    default: None,
    variants: &[
        Variant { word: "none", doc: "No losses to noise.", keys: &[] },
        Variant {
            word: "packet",
            doc: "A fixed probability, whatever the frame's length.",
            keys: &[
                required("per", PROBABILITY, "Probability that a data frame is lost."),
                preset("control_per", PROBABILITY, Preset::Num(0.0), "The same for RTS, CTS and ACK."),
                ERROR_AT,
            ],
        },
        Variant {
            word: "bit",
            doc: "Independent bit errors.",
            keys: &[required("ber", PROBABILITY, "Probability that a bit is wrong."), ERROR_CONTROL, ERROR_AT],
        },
        Variant {
            word: "two-state",
            doc: "Gilbert and Elliott's good and bad state.",
            keys: &[
                preset("good", Kind::Table(&STATE), Preset::Toml("{ per = 0.0 }"), "Losses in the good state."),
                required("bad", Kind::Table(&STATE), "Losses in the bad state."),
                required("mean_good", Kind::TimeOrNum, "Mean stay in the good state."),
                required("mean_bad", Kind::TimeOrNum, "Mean stay in the bad state."),
                preset(
                    "unit",
                    Kind::Word { noun: "unit", words: &["time", "frame"] },
                    Preset::Text("time"),
                    "Whether states last for a time or for a number of frames.",
                ),
                preset(
                    "shared",
                    Kind::Word { noun: "way to share a state", words: &["link", "direction"] },
                    Preset::Text("link"),
                    "One state for both directions of a pair, or one each.",
                ),
                ERROR_CONTROL,
                ERROR_AT,
            ],
        },
    ],
};

static STATE: Table = one_of(&[
    optional("per", PROBABILITY, "given by ber", "Probability that a frame is lost."),
    optional("ber", PROBABILITY, "given by per", "Probability that a bit is wrong."),
]);

static NODE: Table = table(&[
    required("name", Kind::Name, "What flows, links, pairs, schemes and events call it."),
    optional(
        "count",
        Kind::Int { min: 0, max: 10_000 },
        "one node of that name",
        "So many nodes: name1, name2, …; 0: none, and no flow of theirs.",
    ),
    optional("tx_power", Kind::Level, "radio.tx_power", "Its transmit power."),
    optional(
        "access",
        Kind::Word { noun: "access method", words: &["dcf", "edca"] },
        "radio.access",
        "Its access method.",
    ),
    optional("edca", Kind::Table(&EDCA), "radio.edca", "Its access categories."),
    optional("position", POINT, "as [layout] says", "East and north of the origin, in metres."),
    preset(
        "role",
        Kind::Word { noun: "role", words: &["station", "ap"] },
        Preset::Text("station"),
        "With an access point in the scenario, stations exchange frames with theirs only; it sends no beacons.",
    ),
    optional(
        "radio",
        Kind::Bool,
        "true, unless it is at a link, without position, and no access point",
        "Whether it has a radio.",
    ),
    optional("data_rate", Kind::Rate, "radio.data_rate", "Rate of the data frames it sends."),
    preset("host_delay", ANY_TIME, Preset::Text("0 s"), "Time between reception and the stack's answer."),
]);

static FLOW: Table = table(&[
    optional("name", Kind::Name, "flow<index>", "What results and overrides call it."),
    required(
        "from",
        Kind::NodeRef,
        "The node that opens the connection and sends. A name with a count: a flow each.",
    ),
    required("to", Kind::NodeRef, "The other end."),
    preset(
        "dscp",
        Kind::Int { min: 0, max: 63 },
        Preset::Int(0),
        "Differentiated services; its precedence is the user priority.",
    ),
    preset("start", ANY_TIME, Preset::Text("0 s"), "When it starts."),
    preset("stagger", ANY_TIME, Preset::Text("0 s"), "How much later each further flow of a group starts."),
    optional("stop", SOME_TIME, "the end of the run", "When it stops writing; later than the end means the end."),
    preset("transport", Kind::Tagged(&TRANSPORT), Preset::Toml("{ protocol = \"tcp\" }"), "How it is carried."),
    optional("traffic", Kind::Tagged(&TRAFFIC), "bulk for TCP; UDP needs it", "What the application at from writes."),
    optional("reverse", Kind::Tagged(&TRAFFIC), "none", "TCP: what the application at to writes."),
    optional("reader", Kind::Tagged(&READER), "instant", "TCP: how the application at to reads."),
    optional(
        "ack_gaps",
        Kind::Bool,
        "false",
        "TCP: whether results say how ACKs are spaced where they leave and arrive.",
    ),
]);

const DATAGRAM: Key = preset(
    "datagram",
    SOME_BYTES,
    Preset::Text("1500 B"),
    "IP datagram of a full segment or message, all headers and TCP options included.",
);

const fn tcp(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    optional(name, kind, TCP_DEFAULT, doc)
}

static TRANSPORT: Tagged = Tagged {
    tag: "protocol",
    noun: "transport protocol",
    default: Some("tcp"),
    variants: &[
        Variant {
            word: "tcp",
            doc: "One connection.",
            keys: &[
                DATAGRAM,
                tcp("congestion", Kind::Registered(Registry::Congestion), "See `interlayer list congestion`."),
                tcp("receiver", Kind::Registered(Registry::Receivers), "See `interlayer list receivers`."),
                tcp("delayed_ack_timeout", ANY_TIME, "Longest delay of an acknowledgement."),
                tcp("delayed_ack_count", Kind::Int { min: 1, max: 255 }, "Full segments per acknowledgement."),
                tcp("initial_window", WINDOW, "In segments."),
                tcp("initial_ssthresh", Kind::WordOr(&["unlimited"], &SOME_BYTES), "Where slow start first ends."),
                optional("max_window", WINDOW, "none", "The sender's own limit in segments."),
                tcp("send_buffer", BUFFER, "Bytes the sender holds."),
                tcp("receive_buffer", BUFFER, "Bytes the receiver holds."),
                tcp("min_rto", SOME_TIME, "Least retransmission timeout."),
                tcp("initial_rto", SOME_TIME, "Retransmission timeout before the first RTT sample."),
                tcp("max_rto", SOME_TIME, "Greatest retransmission timeout."),
                tcp("handshake_rtt", Kind::Bool, "Whether the RTT of the SYN is a sample; not in ns-3 of 2011."),
                tcp("granularity", ANY_TIME, "Of the clock that measures RTT and fires timers."),
                tcp("nagle", Kind::Bool, "Small writes wait for an acknowledgement (RFC 896)."),
                tcp("timestamps", Kind::Bool, "The timestamps option (RFC 7323)."),
                tcp("sack", Kind::Bool, "Selective acknowledgements (RFC 2018)."),
                tcp(
                    "window_scale",
                    Kind::WordOr(&["auto", "off"], &Kind::Int { min: 0, max: 14 }),
                    "The window scale option (RFC 7323): a shift, the least that serves, or none.",
                ),
                tcp("ecn", Kind::Bool, "Explicit congestion notification (RFC 3168): offered, and accepted."),
                tcp("limited_transmit", Kind::Bool, "New data on the first duplicates (RFC 3042)."),
                optional(
                    "initial_sequence",
                    Kind::Int { min: 0, max: u32::MAX as i64 },
                    "drawn from the seed",
                    "Sequence number of the SYN.",
                ),
            ],
        },
        Variant { word: "udp", doc: "Datagrams.", keys: &[DATAGRAM] },
    ],
};

const TRAFFIC_RATE: Key = required("rate", Kind::Rate, "Of UDP payload or TCP bytes.");

static TRAFFIC: Tagged = Tagged {
    tag: "model",
    noun: "traffic model",
    default: None,
    variants: &[
        Variant { word: "none", doc: "Nothing.", keys: &[] },
        Variant {
            word: "bulk",
            doc: "TCP: as much as the connection takes.",
            keys: &[optional("bytes", SOME_BYTES, "without end", "After so many the connection closes.")],
        },
        Variant { word: "cbr", doc: "At equal intervals.", keys: &[TRAFFIC_RATE] },
        Variant { word: "poisson", doc: "At exponential intervals.", keys: &[TRAFFIC_RATE] },
        Variant { word: "saturated", doc: "UDP: the interface queue never runs empty.", keys: &[] },
        Variant {
            word: "chunks",
            doc: "TCP: writes of one size at equal intervals.",
            keys: &[
                required("size", SOME_BYTES, "Of one write."),
                required("every", SOME_TIME, "Interval between writes."),
            ],
        },
    ],
};

static READER: Tagged = Tagged {
    tag: "model",
    noun: "reader",
    default: None,
    variants: &[
        Variant { word: "instant", doc: "Everything at once.", keys: &[] },
        Variant {
            word: "rate",
            doc: "At a constant rate.",
            keys: &[required("rate", Kind::Rate, "Bytes read per time.")],
        },
        Variant {
            word: "on-off",
            doc: "Instantly for a while, then not at all for a while.",
            keys: &[
                required("on", SOME_TIME, "How long it reads."),
                required("off", SOME_TIME, "How long it does not."),
            ],
        },
    ],
};

static SCHEME: Table = Table {
    keys: &[
        required("name", Kind::Registered(Registry::Schemes), "See `interlayer list schemes`."),
        optional("at", SOME_NODES, "wherever the scheme sits", "The nodes that run it."),
    ],
    later: &[],
    scheme: Some("name"),
    one_of: false,
};

static EVENT: Table = table(&[
    required("at", ANY_TIME, "When it happens."),
    required("kill", Kind::NodeRef, "The node that falls silent: radio, wires, stack, timers."),
]);

/// The tables that have a key of this name, as paths without indices.
pub(super) fn places_of(key: &str) -> Vec<String> {
    let mut places = Vec::new();
    search(key, Kind::Table(&SCENARIO), "", &mut places);
    places
}

fn search(wanted: &str, kind: Kind, path: &str, places: &mut Vec<String>) {
    let keys: Vec<&Key> = match kind {
        Kind::Table(table) | Kind::Entries { of: table, .. } => table.keys.iter().collect(),
        Kind::Tagged(tagged) => tagged.variants.iter().flat_map(|variant| variant.keys).collect(),
        _ => return,
    };
    let place = match (kind, path) {
        (_, "") => "the top of the file".to_owned(),
        (Kind::Entries { .. }, _) => format!("[[{path}]]"),
        (Kind::Table(_), _) if !path.contains('.') => format!("[{path}]"),
        _ => path.to_owned(),
    };
    for key in keys {
        if key.name == wanted && !places.contains(&place) {
            places.push(place.clone());
        }
        let below = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        search(wanted, key.kind, &below, places);
    }
}
