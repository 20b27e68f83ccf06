//! A scenario as JSON, in the spelling of the file.

use super::schema::param_value;
use super::types::*;
use serde_json::{Map, Value, json};
use std::fmt::Display;
use units::{Db, Dbm, Hertz, NodeId};

impl Scenario {
    /// The scenario with its defaults filled in, as the file would spell them, in the order of the documentation. What is
    /// left to other crates' defaults (`None`) is not there. Written as TOML it reads as the same scenario.
    pub fn to_json(&self) -> Value {
        let mut run = Object::new();
        if !self.name.is_empty() {
            run.put("name", &self.name);
        }
        run.text("duration", self.duration).text("warmup", self.warmup).put("seed", self.seed);
        let mut all = Object::new();
        all.put("scenario", run.0).put("radio", self.radio()).put("channel", self.channel());
        let has_powers = self.channel.propagation.is_some();
        all.put("node", self.nodes.iter().map(|it| node(it, has_powers)).collect::<Value>());
        all.put("link", self.links.iter().map(|link| self.link(link)).collect::<Value>());
        all.put("flow", self.flows.iter().map(|flow| self.flow(flow)).collect::<Value>());
        all.put("scheme", self.schemes.iter().map(|scheme| self.scheme(scheme)).collect::<Value>());
        if let Some(layout) = &self.layout {
            all.put("layout", self::layout(layout));
        }
        all.put("event", self.events.iter().map(|event| self.event(event)).collect::<Value>());
        Value::Object(all.0)
    }

    fn radio(&self) -> Value {
        let mut table = radio(&self.radio);
        if self.channel.propagation.is_some() {
            levels(&self.radio.levels, &mut table);
        }
        table.value()
    }

    fn name_of(&self, node: NodeId) -> &str {
        self.nodes.get(node.index()).map_or("", |node| &node.name)
    }

    fn channel(&self) -> Value {
        let mut table = Object::new();
        table.maybe("range", self.channel.range_m.map(|metres| format!("{metres} m")));
        if let Some(it) = &self.channel.propagation {
            propagation(it, &mut table);
        }
        table.put("errors", errors(&self.channel.errors));
        table.put("pair", self.channel.pairs.iter().map(|pair| self.pair(pair)).collect::<Value>());
        table.value()
    }

    /// As two nodes are written that an entry is about.
    fn ends(&self, table: &mut Object, from: NodeId, to: NodeId, both_ways: bool) {
        let (from, to) = (self.name_of(from), self.name_of(to));
        if both_ways {
            table.put("between", [from, to]);
        } else {
            table.put("from", from).put("to", to);
        }
    }

    fn link(&self, link: &Link) -> Value {
        let mut table = Object::new();
        table.put("name", &link.name);
        self.ends(&mut table, link.from, link.to, link.both_ways);
        table
            .text("rate", link.rate)
            .text("delay", link.delay)
            .put("loss", link.loss)
            .put("queue", queue(&link.queue));
        table.value()
    }

    fn pair(&self, pair: &Pair) -> Value {
        let mut table = Object::new();
        self.ends(&mut table, pair.from, pair.to, pair.both_ways);
        table.maybe("reach", pair.reach).maybe("gain", pair.gain.map(decibel));
        table.maybe("errors", pair.errors.as_ref().map(errors));
        table.value()
    }

    fn flow(&self, flow: &Flow) -> Value {
        let mut table = Object::new();
        table.put("name", &flow.name).put("from", self.name_of(flow.from)).put("to", self.name_of(flow.to));
        table.put("dscp", flow.dscp).text("start", flow.start).text("stop", flow.stop);
        table.put("transport", transport(&flow.transport)).put("traffic", traffic(&flow.traffic));
        if matches!(flow.transport, Transport::Tcp(_)) {
            table.put("reverse", traffic(&flow.reverse)).put("reader", reader(&flow.reader));
            table.put("ack_gaps", flow.ack_gaps);
        }
        table.value()
    }

    fn scheme(&self, scheme: &SchemeUse) -> Value {
        let mut table = Object::new();
        table.put("name", scheme.name);
        table.maybe("at", scheme.at.as_ref().map(|nodes| nodes.iter().map(|n| self.name_of(*n)).collect::<Value>()));
        for (key, value) in scheme.params.iter() {
            table.put(key, param_value(value));
        }
        table.value()
    }

    fn event(&self, event: &TimedEvent) -> Value {
        let mut table = Object::new();
        table.text("at", event.at);
        match event.what {
            EventKind::Kill(node) => table.put("kill", self.name_of(node)),
        };
        table.value()
    }
}

/// A table under construction.
struct Object(Map<String, Value>);

impl Object {
    fn new() -> Object {
        Object(Map::new())
    }

    fn put(&mut self, key: &str, value: impl serde::Serialize) -> &mut Object {
        self.0.insert(key.to_owned(), json!(value));
        self
    }

    /// A quantity in its own spelling.
    fn text(&mut self, key: &str, quantity: impl Display) -> &mut Object {
        self.put(key, quantity.to_string())
    }

    fn maybe(&mut self, key: &str, value: Option<impl serde::Serialize>) -> &mut Object {
        if let Some(value) = value {
            self.put(key, value);
        }
        self
    }

    fn maybe_text(&mut self, key: &str, quantity: Option<impl Display>) -> &mut Object {
        self.maybe(key, quantity.map(|quantity| quantity.to_string()))
    }

    fn value(self) -> Value {
        Value::Object(self.0)
    }
}

fn decibel(gain: Db) -> String {
    format!("{} dB", gain.0)
}

fn level(level: Dbm) -> String {
    format!("{} dBm", level.0)
}

fn metres(length: f64) -> String {
    format!("{length} m")
}

fn hertz(frequency: Hertz) -> String {
    format!("{} Hz", frequency.0)
}

fn layout(layout: &Layout) -> Value {
    match layout {
        Layout::Star(radius) => json!({ "model": "star", "radius": metres(*radius) }),
        Layout::Grid(spacing) => json!({ "model": "grid", "spacing": metres(*spacing) }),
        Layout::Disc(radius) => json!({ "model": "disc", "radius": metres(*radius) }),
        Layout::Line(spacing) => json!({ "model": "line", "spacing": metres(*spacing) }),
    }
}

fn propagation(it: &Propagation, table: &mut Object) {
    table.put(
        "propagation",
        match it.loss {
            PathLoss::FreeSpace { frequency } => json!({ "model": "free-space", "frequency": hertz(frequency) }),
            PathLoss::LogDistance { exponent, reference_m, reference_loss } => json!({
                "model": "log-distance", "exponent": exponent, "reference_distance": metres(reference_m),
                "reference_loss": decibel(reference_loss),
            }),
            PathLoss::TwoRayGround { frequency, height_m } => {
                json!({ "model": "two-ray-ground", "frequency": hertz(frequency), "height": metres(height_m) })
            }
            PathLoss::Matrix => json!({ "model": "matrix" }),
        },
    );
    table.put("shadowing", decibel(it.shadowing));
    table.put(
        "fading",
        match it.coherence {
            None => json!({ "model": "none" }),
            Some(coherence) => json!({ "model": "rayleigh", "coherence": coherence.to_string() }),
        },
    );
    match it.noise {
        Noise::Figure(figure) => table.put("noise_figure", decibel(figure)),
        Noise::Level(noise) => table.put("noise", level(noise)),
    };
}

fn levels(levels: &Levels, table: &mut Object) {
    table.put("cca_ed", level(levels.cca_ed)).text("cca_preamble_latency", levels.cca_preamble_latency);
    table.put("preamble_sinr", decibel(levels.preamble_sinr)).put("capture", levels.capture.is_some());
    table.maybe("capture_clear", levels.capture.map(|(clear, _)| decibel(clear)));
    table.maybe("capture_garbled", levels.capture.map(|(_, garbled)| decibel(garbled)));
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Dcf => "dcf",
        Access::Edca => "edca",
    }
}

fn categories(categories: &[Category; 4]) -> Value {
    let mut table = Object::new();
    for (key, it) in ["bk", "be", "vi", "vo"].into_iter().zip(categories) {
        let mut category = Object::new();
        category.maybe("aifsn", it.aifsn).maybe("cw_min", it.cw_min).maybe("cw_max", it.cw_max);
        category.maybe_text("txop_limit", it.txop_limit);
        table.put(key, category.value());
    }
    table.value()
}

fn radio(radio: &Radio) -> Object {
    let mut table = Object::new();
    table.put("standard", radio.standard.word());
    table.text("data_rate", radio.data_rate).maybe_text("basic_rate", radio.basic_rate);
    match radio.control_rate {
        ControlRate::Basic => table.put("control_rate", "basic"),
        ControlRate::Fixed(rate) => table.text("control_rate", rate),
    };
    table.maybe(
        "preamble",
        radio.preamble.map(|preamble| match preamble {
            Preamble::Long => "long",
            Preamble::Short => "short",
        }),
    );
    match radio.rts_threshold {
        None => table.put("rts_threshold", "off"),
        Some(bytes) => table.text("rts_threshold", bytes),
    };
    table.put(
        "rts_for",
        match radio.rts_for {
            RtsFor::All => "all",
            RtsFor::Data => "data",
        },
    );
    table.put("max_attempts", radio.max_attempts).put("max_attempts_long", radio.max_attempts_long);
    table.put(
        "after_timeout",
        match radio.after_timeout {
            AfterTimeout::Letter => "letter",
            AfterTimeout::FreshIfs => "fresh-ifs",
            AfterTimeout::Eifs => "eifs",
        },
    );
    table.maybe("cw_min", radio.cw_min).maybe("cw_max", radio.cw_max);
    table.maybe(
        "slot",
        radio.slot.map(|slot| match slot {
            Slot::Short => "short",
            Slot::Long => "long",
        }),
    );
    table.put("queue", queue(&radio.queue));
    table.maybe("countdown", radio.countdown.map(access));
    table.maybe(
        "access_in_gap",
        radio.access_in_gap.map(|reading| match reading {
            AccessInGap::DcfLetter => "dcf-letter",
            AccessInGap::EdcaLetter => "edca-letter",
            AccessInGap::AlwaysDraw => "always-draw",
        }),
    );
    table
}

fn queue(queue: &Queue) -> Value {
    let mut table = Object::new();
    table.put("discipline", if queue.discipline == Discipline::DropTail { "drop-tail" } else { "red" });
    match queue.limit {
        QueueLimit::Packets(packets) => table.put("packets", packets),
        QueueLimit::Bytes(bytes) => table.text("bytes", bytes),
    };
    if let Discipline::Red { min_th, max_th, max_p, weight, gentle, ecn } = queue.discipline {
        table.put("min_th", min_th).put("max_th", max_th).put("max_p", max_p).put("weight", weight);
        table.put("gentle", gentle).put("ecn", ecn);
    }
    table.value()
}

fn node(node: &Node, has_powers: bool) -> Value {
    let mut table = Object::new();
    table.put("name", &node.name).maybe("position", node.position_m).put("radio", node.has_radio);
    table.put("role", if node.role == Role::Ap { "ap" } else { "station" });
    table.text("data_rate", node.data_rate).maybe("tx_power", has_powers.then(|| level(node.tx_power)));
    table.put("access", access(node.access)).put("edca", categories(&node.categories));
    table.text("host_delay", node.host_delay);
    table.value()
}

fn errors(errors: &ErrorSpec) -> Value {
    let place = |at: &ErrorAt| match at {
        ErrorAt::Attempt => "attempt",
        ErrorAt::Msdu => "msdu",
    };
    let state = |error: &StateError| match error {
        StateError::Per(per) => json!({ "per": per }),
        StateError::Ber(ber) => json!({ "ber": ber }),
    };
    match errors {
        ErrorSpec::None => json!({ "model": "none" }),
        ErrorSpec::Packet { per, control_per, at } => {
            json!({ "model": "packet", "per": per, "control_per": control_per, "at": place(at) })
        }
        ErrorSpec::Bit { ber, control, at } => {
            json!({ "model": "bit", "ber": ber, "control": control, "at": place(at) })
        }
        ErrorSpec::TwoState { good, bad, sojourn, shared, control, at } => {
            let (mean_good, mean_bad, unit) = match sojourn {
                Sojourn::Time { mean_good, mean_bad } => {
                    (json!(mean_good.to_string()), json!(mean_bad.to_string()), "time")
                }
                Sojourn::Frames { mean_good, mean_bad } => (json!(mean_good), json!(mean_bad), "frame"),
            };
            let shared = match shared {
                Shared::Link => "link",
                Shared::Direction => "direction",
            };
            json!({
                "model": "two-state", "good": state(good), "bad": state(bad), "mean_good": mean_good,
                "mean_bad": mean_bad, "unit": unit, "shared": shared, "control": control, "at": place(at),
            })
        }
    }
}

fn transport(transport: &Transport) -> Value {
    let mut table = Object::new();
    match transport {
        Transport::Udp(udp) => {
            table.put("protocol", "udp").text("datagram", udp.datagram);
        }
        Transport::Tcp(tcp) => {
            table.put("protocol", "tcp").text("datagram", tcp.datagram);
            table.maybe("congestion", tcp.congestion.as_ref()).maybe("receiver", tcp.receiver.as_ref());
            table.maybe_text("delayed_ack_timeout", tcp.delayed_ack_timeout);
            table.maybe("delayed_ack_count", tcp.delayed_ack_count).maybe("initial_window", tcp.initial_window);
            table.maybe(
                "initial_ssthresh",
                tcp.initial_ssthresh.map(|ssthresh| match ssthresh {
                    Ssthresh::Unlimited => "unlimited".to_owned(),
                    Ssthresh::Bytes(bytes) => bytes.to_string(),
                }),
            );
            table.maybe("max_window", tcp.max_window);
            table.maybe_text("send_buffer", tcp.send_buffer).maybe_text("receive_buffer", tcp.receive_buffer);
            table.maybe_text("min_rto", tcp.min_rto).maybe_text("initial_rto", tcp.initial_rto);
            table.maybe_text("max_rto", tcp.max_rto).maybe_text("granularity", tcp.granularity);
            table.maybe("nagle", tcp.nagle).maybe("timestamps", tcp.timestamps).maybe("sack", tcp.sack);
            table.maybe(
                "window_scale",
                tcp.window_scale.map(|scale| match scale {
                    WindowScale::Off => json!("off"),
                    WindowScale::Auto => json!("auto"),
                    WindowScale::Shift(shift) => json!(shift),
                }),
            );
            table.maybe("ecn", tcp.ecn).maybe("handshake_rtt", tcp.handshake_rtt);
            table.maybe("limited_transmit", tcp.limited_transmit).maybe("initial_sequence", tcp.initial_sequence);
        }
    }
    table.value()
}

fn traffic(traffic: &Traffic) -> Value {
    match traffic {
        Traffic::None => json!({ "model": "none" }),
        Traffic::Bulk { bytes: None } => json!({ "model": "bulk" }),
        Traffic::Bulk { bytes: Some(bytes) } => json!({ "model": "bulk", "bytes": bytes.to_string() }),
        Traffic::Cbr { rate } => json!({ "model": "cbr", "rate": rate.to_string() }),
        Traffic::Poisson { rate } => json!({ "model": "poisson", "rate": rate.to_string() }),
        Traffic::Saturated => json!({ "model": "saturated" }),
        Traffic::Chunks { size, every } => {
            json!({ "model": "chunks", "size": size.to_string(), "every": every.to_string() })
        }
    }
}

fn reader(reader: &Reader) -> Value {
    match reader {
        Reader::Instant => json!({ "model": "instant" }),
        Reader::Rate(rate) => json!({ "model": "rate", "rate": rate.to_string() }),
        Reader::OnOff { on, off } => json!({ "model": "on-off", "on": on.to_string(), "off": off.to_string() }),
    }
}
