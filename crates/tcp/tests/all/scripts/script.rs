//! A packetdrill in virtual time: one end under test, its peer is the script.
//!
//! A line is `TIME WHAT`; blank lines and `//` comments are skipped. TIME is in seconds, absolute or `+` since the line
//! before. WHAT is one of
//!
//! ```text
//! full | room                                                   the queue of the end's host refuses data from now on, or no more
//! queues radio | queues wire | left N                           segments of data wait in the host's queues from now on; so many bytes of theirs have left
//! > FLAGS FIRST:END(LEN) [ack N] [win N] [<options>] [again] [ect] [refused]   the end must send this, exactly now
//! < FLAGS FIRST:END(LEN) [ack N] [win N] [ce] [<options>]            the peer's segment arrives
//! write N | read N | close | abort                              the application acts
//! connected | readable A:B | peer-closed | send-space | closed | failed WHY      the end must report this, exactly now
//! retransmit A:B | bound N | freeze | thaw | rearm | local-ack N                 a scheme commands
//! is KEY=VALUE...                                               a value of the end, now (see `value`)
//! ```
//!
//! FLAGS are of `SFRPEW.` as in tcpdump (E is ECE, W is CWR); sequence numbers count from each side's initial number;
//! `again` marks a retransmission, `ect` what the network may mark and `ce` what it has marked. What a line leaves out of `ack` and `win` is not compared; options are: none given means none.
//! Every segment and report must be foretold: no tolerance. Bytes are read at once and unreported unless the script
//! says `slow_reader`.

#![allow(clippy::unwrap_used, reason = "a script that cannot be read fails its test")]

use std::collections::VecDeque;
use tcp::{Config, Connection, Input, Output, SenderCommand, SenderHook, Seq, SeqRange};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Payload, Tcp, TcpOptions};

/// Initial number of the scripted peer: it wraps within the first segment.
const PEER_ISS: Seq = Seq(u32::MAX - 400);

/// The letters of FLAGS, in the order they are written.
const FLAGS: [(char, Flags); 7] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('.', Flags::ACK),
];

/// A run of one end against a script.
pub struct Script {
    pub conn: Connection,
    iss: Seq,
    now: SimTime,
    produced: VecDeque<(SimTime, String)>,
    slow_reader: bool,
    is_full: bool,
    /// Segments of data wait in the host's queues, by radio or by wire.
    queues_by_radio: Option<bool>,
    last_window: String,
}

/// An end with 1000-byte segments, immediate ACKs and no Nagle: what most scripts want.
pub fn config() -> Config {
    Config { mss: 1000, ack_policy: tcp::ack::find("every").unwrap(), nagle: false, ..Config::default() }
}

/// An end that has opened at 0 and connected at 0.1 s; the peer's SYN-ACK carried `win` and `options`.
pub fn connected(config: Config, win_and_options: &str) -> Script {
    let mut script = Script::open(config);
    script.poll();
    script.produced.clear();
    script.line(&format!("0.1 < S. 0:0(0) ack 1 win {win_and_options}"));
    script.produced.clear();
    script
}

impl Script {
    pub fn open(config: Config) -> Script {
        let iss = config.initial_sequence;
        Script::with(Connection::open(config, 1, 2), iss)
    }

    pub fn listen(config: Config) -> Script {
        let iss = config.initial_sequence;
        Script::with(Connection::listen(config, 1, 2), iss)
    }

    fn with(conn: Connection, iss: Seq) -> Script {
        let (now, produced, last_window) = (SimTime::ZERO, VecDeque::new(), "win 65535".to_owned());
        Script { conn, iss, now, produced, slow_reader: false, is_full: false, queues_by_radio: None, last_window }
    }

    /// Only `read` lines read, and `readable` is reported.
    pub fn slow_reader(mut self) -> Script {
        self.slow_reader = true;
        self
    }

    pub fn hook(mut self, hook: impl SenderHook + 'static) -> Script {
        self.conn.set_hook(Box::new(hook));
        self
    }

    /// Runs the lines; panics at the first that does not hold.
    #[track_caller]
    pub fn run(&mut self, text: &str) -> &mut Script {
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or("").trim();
            if !line.is_empty() {
                self.line(line);
            }
        }
        assert!(self.produced.is_empty(), "not foretold: {:?}", self.produced);
        self
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        let (time, what) = line.split_once(' ').expect("TIME WHAT");
        let at = |text: &str| SimTime::ZERO + Dur::from_ns((text.parse::<f64>().unwrap() * 1e9).round() as u64);
        let at = match time.strip_prefix('+') {
            Some(wait) => self.now + (at(wait) - SimTime::ZERO),
            None => at(time),
        };
        assert!(at >= self.now, "{line}: time goes back");
        self.advance(at);
        let what = what.trim();
        let (word, rest) = what.split_once(' ').unwrap_or((what, ""));
        let number = || rest.trim().parse::<u64>().unwrap_or_else(|_| panic!("{line}: a number"));
        if !matches!(word, ">" | "connected" | "readable" | "peer-closed" | "send-space" | "closed" | "failed") {
            assert!(self.produced.is_empty(), "before \"{line}\", not foretold: {:?}", self.produced);
        }
        match word {
            "<" => self.arrive(rest),
            "is" => self.compare(line, rest),
            "full" => self.is_full = true,
            "room" => self.is_full = false,
            "queues" => self.queues_by_radio = Some(rest == "radio"),
            "left" => self.input(Input::Left(number() as u32)),
            "write" => self.input(Input::Write(number())),
            "read" => self.input(Input::Read(number())),
            "close" => self.input(Input::Close),
            "abort" => self.input(Input::Abort),
            "bound" => self.command(SenderCommand::Bound(Bytes(number()))),
            "freeze" => self.command(SenderCommand::Freeze),
            "thaw" => self.command(SenderCommand::Thaw),
            "rearm" => self.command(SenderCommand::RearmRto),
            "refused" => {
                let (a, b) = pair(rest);
                self.input(Input::Refused(SeqRange { start: self.iss + a, end: self.iss + b }));
            }
            "local-ack" => self.command(SenderCommand::LocalAck(self.iss + number() as u32)),
            "retransmit" => {
                let (a, b) = pair(rest);
                self.command(SenderCommand::Retransmit(SeqRange { start: self.iss + a, end: self.iss + b }));
            }
            _ => self.expect(line, at, what),
        }
    }

    /// Runs every timer due until `at`.
    fn advance(&mut self, at: SimTime) {
        while self.conn.next_wakeup() <= at {
            self.now = self.conn.next_wakeup().max(self.now);
            self.input(Input::Timer);
        }
        self.now = at;
        self.poll();
    }

    fn input(&mut self, input: Input<'_>) {
        self.conn.handle(self.now, input);
        self.poll();
    }

    fn command(&mut self, command: SenderCommand) {
        self.input(Input::Command(command));
    }

    fn poll(&mut self) {
        while let Some(output) = self.conn.poll(self.now) {
            let text = match output {
                Output::Readable { len, .. } if !self.slow_reader => {
                    self.conn.handle(self.now, Input::Read(u64::from(len)));
                    continue;
                }
                Output::Segment { tcp, payload, retransmission, ect } => {
                    let again = if retransmission { " again" } else { "" };
                    let range = SeqRange::new(tcp.seq, payload.len + u32::from(tcp.flags.has(Flags::FIN)));
                    if let (Some(by_radio), true) = (self.queues_by_radio, payload.len > 0) {
                        self.conn.handle(self.now, Input::Queued { bytes: payload.len, by_radio });
                    }
                    let refused = self.is_full && !range.is_empty();
                    if refused {
                        self.conn.handle(self.now, Input::Refused(range));
                    }
                    let ect = if ect { " ect" } else { "" };
                    self.show(&tcp, &payload) + again + ect + if refused { " refused" } else { "" }
                }
                Output::Connected => "connected".to_owned(),
                Output::Readable { offset, len } => format!("readable {offset}:{}", offset + u64::from(len)),
                Output::SendSpace => "send-space".to_owned(),
                Output::PeerClosed => "peer-closed".to_owned(),
                Output::Closed => "closed".to_owned(),
                Output::Failed(why) => format!("failed {why:?}"),
            };
            self.produced.push_back((self.now, text));
        }
    }

    /// An outgoing segment as a script spells it.
    fn show(&self, tcp: &Tcp, payload: &Payload) -> String {
        let flags: String = FLAGS.iter().filter(|(_, flag)| tcp.flags.has(*flag)).map(|(c, _)| *c).collect();
        let first = tcp.seq - self.iss;
        let mut text = format!("> {flags} {first}:{}({})", first + payload.len, payload.len);
        if tcp.flags.has(Flags::ACK) {
            text += &format!(" ack {}", tcp.ack - PEER_ISS);
        }
        text += &format!(" win {}", tcp.window);
        let mut options = Vec::new();
        options.extend(tcp.options.mss().map(|mss| format!("mss {mss}")));
        options.extend(tcp.options.sack_permitted().then(|| "sackOK".to_owned()));
        options.extend(tcp.options.timestamps().map(|(val, ecr)| format!("TS val {val} ecr {ecr}")));
        options.extend(tcp.options.window_scale().map(|shift| format!("wscale {shift}")));
        let blocks = tcp.options.sack_blocks().map(|b| format!("sack {}:{}", b.start - PEER_ISS, b.end - PEER_ISS));
        options.extend(blocks);
        if !options.is_empty() {
            text += &format!(" <{}>", options.join(", "));
        }
        text
    }

    #[track_caller]
    fn expect(&mut self, line: &str, at: SimTime, what: &str) {
        let Some((when, got)) = self.produced.pop_front() else {
            panic!("\"{line}\": nothing came; next wakeup {}", self.conn.next_wakeup());
        };
        let mut seen = got.clone();
        if what.starts_with('>') {
            for word in ["ack", "win"].into_iter().filter(|word| !what.contains(&format!(" {word} "))) {
                seen = without(&seen, word);
            }
        }
        let wanted = what.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(when == at && seen == wanted, "\"{line}\"\n wanted {at}  {wanted}\n    got {when}  {got}");
    }

    /// A segment of the peer. `win` stays what it was last if the line has none.
    fn arrive(&mut self, spec: &str) {
        let (spec, options) = match spec.split_once('<') {
            Some((spec, options)) => (spec, options.trim_end().trim_end_matches('>')),
            None => (spec, ""),
        };
        let words: Vec<&str> = spec.split_whitespace().collect();
        let after = |word: &str| words.iter().position(|w| *w == word).map(|i| words[i + 1].parse::<u32>().unwrap());
        let (first, end) = pair(words[1].split('(').next().unwrap());
        let mut flags = Flags::default();
        for c in words[0].chars() {
            flags |= FLAGS.iter().find(|(name, _)| *name == c).unwrap_or_else(|| panic!("flag {c}")).1;
        }
        if let Some(window) = after("win") {
            self.last_window = format!("win {window}");
        }
        let window = self.last_window[4..].parse().unwrap();
        let tcp = Tcp {
            src_port: 2,
            dst_port: 1,
            seq: PEER_ISS + first,
            ack: after("ack").map_or(Seq(0), |n| self.iss + n),
            flags,
            window,
            urgent: 0,
            options: self.parse_options(options),
        };
        let payload = Payload::stream(u64::from(first.saturating_sub(1)), end - first);
        self.input(Input::Segment { tcp: &tcp, payload: &payload, ce: words.contains(&"ce") });
    }

    fn parse_options(&self, text: &str) -> TcpOptions {
        let mut options = TcpOptions::default();
        let mut blocks = Vec::new();
        for option in text.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            let words: Vec<&str> = option.split_whitespace().collect();
            assert!(match words[..] {
                ["mss", n] => options.push_mss(n.parse().unwrap()),
                ["sackOK"] => options.push_sack_permitted(),
                ["wscale", n] => options.push_window_scale(n.parse().unwrap()),
                ["TS", "val", a, "ecr", b] => options.push_timestamps(a.parse().unwrap(), b.parse().unwrap()),
                ["sack", block] => {
                    let (a, b) = pair(block);
                    blocks.push(SeqRange { start: self.iss + a, end: self.iss + b });
                    true
                }
                ["nack", n] => options.push_negative_acks(&[self.iss + n.parse::<u32>().unwrap()]) == 1,
                _ => panic!("option \"{option}\""),
            });
        }
        if !blocks.is_empty() {
            options.push_sack(&blocks);
        }
        options
    }

    #[track_caller]
    fn compare(&self, line: &str, pairs: &str) {
        for pair in pairs.split_whitespace() {
            let (key, wanted) = pair.split_once('=').expect("KEY=VALUE");
            assert_eq!(self.value(key), wanted, "\"{line}\": {key}");
        }
    }

    fn value(&self, key: &str) -> String {
        let (facts, counters) = (self.conn.facts(), self.conn.counters());
        let number = match key {
            "state" => return format!("{:?}", self.conn.state()),
            "rto" => return facts.rto.to_string().replace(' ', ""),
            "srtt" => return facts.srtt.map_or("none".to_owned(), |srtt| srtt.to_string().replace(' ', "")),
            "ecn" => return self.conn.ecn().to_string(),
            "recovery" => return facts.in_recovery.to_string(),
            "cwnd" => facts.cwnd.0,
            "ssthresh" => facts.ssthresh.0,
            "inflation" => facts.inflation.0,
            "flight" => facts.flight_size.0,
            "pipe" => self.conn.pipe().0,
            "tail-probes" => counters.tail_loss_probes,
            "undone" => counters.spurious_losses,
            "mss" => facts.mss.0,
            "rwnd" => facts.snd_wnd.0,
            "unsent" => facts.unsent.0,
            "delivered" => counters.delivered_bytes,
            "out-of-order" => counters.out_of_order_segments,
            "duplicates" => counters.duplicate_segments,
            "discarded" => counters.segments_discarded,
            "probes" => counters.zero_window_probes,
            "updates" => counters.window_updates_sent,
            "dup-acks" => counters.dup_acks_received,
            "timeouts" => counters.timeouts,
            "timeout-sequences" => counters.timeout_sequences,
            "first-rtos" => return counters.first_rto_sum.to_string().replace(' ', ""),
            "fast-retransmits" => counters.fast_retransmits,
            "ecn-marks" => counters.ecn_marks_received,
            "local-cuts" => counters.local_cuts,
            "ecn-cuts" => counters.ecn_cuts,
            "retransmissions" => counters.retransmissions,
            "rtt-samples" => counters.rtt_samples,
            other => panic!("no value \"{other}\""),
        };
        number.to_string()
    }
}

/// `A:B`.
fn pair(text: &str) -> (u32, u32) {
    let (a, b) = text.trim().split_once(':').expect("A:B");
    (a.parse().unwrap(), b.parse().unwrap())
}

/// `text` without `word` and the number after it.
fn without(text: &str, word: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    if let Some(i) = words.iter().position(|w| *w == word) {
        words.drain(i..i + 2);
    }
    words.join(" ")
}

/// `n` segments of 1000 B leave at 1 s, from number 1 on; `bytes` were written.
pub fn out(config: Config, peer: &str, n: u32, bytes: u32) -> Script {
    let mut script = connected(config, peer);
    let mut text = format!("1 write {bytes}");
    for i in 0..n {
        let push = if (i + 1) * 1000 == bytes { "P" } else { "" };
        text += &format!("\n1 > {push}. {}:{}(1000) ack 1", i * 1000 + 1, (i + 1) * 1000 + 1);
    }
    script.run(&text);
    script
}
