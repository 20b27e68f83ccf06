//! Parts of a run that are measured on their own: buckets of equal length, and what their values say together.

use crate::flow::Flow;
use crate::interface::Interface;
use crate::record::{Cell, Columns, Metric, Record};
use crate::scenario::TimeWindow;
use crate::taps::{QueueIds, category_id};
use net::Wire;
use node::Node;
use tcp::WindowTime;
use units::{Bytes, Dur, SimTime};

/// The windows of a scenario, in its order.
#[derive(Debug, Default)]
pub(crate) struct Windows(Vec<TimedBuckets>);

/// One window.
#[derive(Debug)]
struct TimedBuckets {
    name: String,
    every: Dur,
    /// Bucket ends that have passed; the first instant opens the window and ends none.
    seen: u64,
    flows: Vec<OfFlow>,
    /// Payload of all flows together, where there are several.
    total: OfFlow,
    queues: Vec<OfQueue>,
    schemes: Vec<OfScheme>,
}

/// The counts of a flow.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    payload: u64,
    /// Of a TCP sender.
    windows: WindowTime,
    rtt_sum: Dur,
    rtt_samples: u64,
}

#[derive(Debug, Default)]
struct OfFlow {
    opened: Counted,
    last: Counted,
    goodput: Moments,
    empty: u64,
    cwnd: Moments,
    rtt: Moments,
}

#[derive(Debug, Default)]
struct OfQueue {
    opened: u128,
    last: u128,
    packets: Moments,
}

/// Counters of the agents of one scheme at one node.
#[derive(Debug)]
struct OfScheme {
    scheme: &'static str,
    node: usize,
    opened: Vec<(&'static str, u64)>,
    last: Vec<(&'static str, u64)>,
}

/// Sums over buckets.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: u64,
    sum: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Moments {
    fn put(&mut self, value: f64) {
        self.least = if self.n == 0 { value } else { self.least.min(value) };
        self.most = if self.n == 0 { value } else { self.most.max(value) };
        self.n += 1;
        self.sum += value;
        self.squares += value * value;
    }

    fn least(&self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.least }
    }

    fn most(&self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.most }
    }

    /// Standard deviation, with n - 1, over the mean; NaN of fewer than two values, or where all are zero.
    fn variation(&self) -> f64 {
        if self.n < 2 || self.sum == 0.0 {
            return f64::NAN;
        }
        let n = self.n as f64;
        let mean = self.sum / n;
        let variance = (self.squares - n * mean * mean).max(0.0) / (n - 1.0);
        variance.sqrt() / mean
    }
}

fn counted(now: SimTime, flow: &Flow) -> Counted {
    let payload = flow.stated().map_or(0, |stated| stated.delivered[1].payload);
    flow.connection(0).map_or(Counted { payload, ..Counted::default() }, |sender| {
        let counters = sender.counters();
        let (rtt_sum, rtt_samples) = (counters.rtt_sum, counters.rtt_samples);
        Counted { payload, windows: sender.window_time(now), rtt_sum, rtt_samples }
    })
}

/// Mean of the RTT samples between two instants, in seconds; NaN of none.
fn mean_rtt(now: &Counted, then: &Counted) -> f64 {
    match now.rtt_samples - then.rtt_samples {
        0 => f64::NAN,
        samples => (now.rtt_sum - then.rtt_sum).as_secs_f64() / samples as f64,
    }
}

impl OfFlow {
    fn put(&mut self, opens: bool, now: Counted, every: Dur) {
        if opens {
            (self.opened, self.last) = (now, now);
        } else {
            self.bucket(now, every);
        }
    }

    fn bucket(&mut self, now: Counted, every: Dur) {
        let payload = now.payload - self.last.payload;
        self.goodput.put((Bytes(payload) / every).bps() as f64);
        self.empty += u64::from(payload == 0);
        if let Some((cwnd, _)) = now.windows.since(&self.last.windows).means() {
            self.cwnd.put(cwnd);
        }
        let rtt = mean_rtt(&now, &self.last);
        if !rtt.is_nan() {
            self.rtt.put(rtt);
        }
        self.last = now;
    }
}

/// A window of a flow.
struct FlowRow<'a> {
    id: String,
    of: &'a OfFlow,
    length: Dur,
    /// Of a TCP sender.
    windows: Option<WindowTime>,
}

impl FlowRow<'_> {
    fn new(id: String, of: &OfFlow, length: Dur, is_tcp: bool) -> FlowRow<'_> {
        FlowRow { id, of, length, windows: is_tcp.then(|| of.last.windows.since(&of.opened.windows)) }
    }

    fn goodput_bps(&self) -> f64 {
        (Bytes(self.of.last.payload - self.of.opened.payload) / self.length).bps() as f64
    }

    /// The findings of a TCP sender's buckets.
    fn tcp(&self) -> Option<&OfFlow> {
        self.windows.as_ref().map(|_| self.of)
    }
}

columns! { impl FlowRow<'_>, |it| {
    "id" => &*it.id,
    "goodput_bps": "of a flow: payload delivered in the window" => it.goodput_bps(),
    "goodput_min_bps": "of a flow: the least goodput of a bucket" => it.of.goodput.least(),
    "goodput_max_bps": "of a flow: the greatest" => it.of.goodput.most(),
    "goodput_cv": "of a flow: standard deviation over the buckets, over their mean" => it.of.goodput.variation(),
    "goodput_zero_share": share, "of a flow: share of the buckets in which nothing was delivered" =>
        it.of.empty as f64 / it.of.goodput.n as f64,
    "cwnd_mean_bytes": "of a TCP flow: congestion window, mean over time" =>
        it.windows.as_ref()?.means().map_or(f64::NAN, |(cwnd, _)| cwnd),
    "cwnd_max_bytes": "of a TCP flow: the greatest mean of a bucket" => it.tcp()?.cwnd.most(),
    "cwnd_cv": "of a TCP flow: standard deviation over the buckets, over their mean" => it.tcp()?.cwnd.variation(),
    "rtt_mean_s": "of a TCP flow: mean of the measured round trips" =>
        it.tcp().map(|of| mean_rtt(&of.last, &of.opened))?,
    "rtt_max_s": "of a TCP flow: the greatest mean of a bucket" => it.tcp()?.rtt.most(),
    "rtt_cv": "of a TCP flow: standard deviation over the buckets, over their mean" => it.tcp()?.rtt.variation(),
    "cwnd_per_srtt_bps": "of a TCP flow: congestion window over smoothed RTT, mean over time" =>
        it.windows.as_ref()?.rate_bps().unwrap_or(f64::NAN),
} }

/// A window of a queue.
struct QueueRow<'a> {
    id: String,
    of: &'a OfQueue,
    length: Dur,
}

columns! { impl QueueRow<'_>, |it| {
    "id" => &*it.id,
    "mean_packets": whole, "of a queue: length, mean over time" =>
        (it.of.last - it.of.opened) as f64 / it.length.ns() as f64,
    "max_packets": whole, "of a queue: the greatest mean of a bucket" => it.of.packets.most(),
    "packets_cv": "of a queue: standard deviation over the buckets, over their mean" => it.of.packets.variation(),
} }

/// The metrics of windows. What a scheme counts it names itself.
pub(crate) const METRICS: &[&[Metric]] = &[FlowRow::METRICS, QueueRow::METRICS];

impl OfQueue {
    fn bucket(&mut self, entry_time: u128, every: Dur) {
        self.packets.put((entry_time - self.last) as f64 / every.ns() as f64);
        self.last = entry_time;
    }
}

impl OfScheme {
    fn record(&self, id: String) -> Record {
        let counted = self.last.iter().zip(&self.opened);
        let columns = counted.map(|((name, now), (_, then))| (*name, Cell::Count(now.saturating_sub(*then))));
        [("id", Cell::Text(id))].into_iter().chain(columns).collect()
    }
}

/// The counts of each scheme's agents at each node, in the order of the results.
fn schemes(nodes: &[Node]) -> Vec<OfScheme> {
    let mut found = Vec::new();
    for (node, own) in nodes.iter().enumerate() {
        for members in own.chain().members().chunk_by(|one, other| one.instance == other.instance) {
            let mut last = Vec::new();
            for member in members {
                member.agent.counters(&mut |name, value| last.push((name, value)));
            }
            found.push(OfScheme { scheme: members[0].claims.scheme, node, opened: last.clone(), last });
        }
    }
    found
}

/// Packets of each queue integrated over time, in the order of the results: radios, then wires.
fn entry_times<'a>(now: SimTime, interfaces: &'a [Interface], wires: &'a [Wire]) -> impl Iterator<Item = u128> + 'a {
    let of_radios = interfaces.iter().flat_map(move |Interface { station, .. }| {
        station.queues().map(move |queue| queue.stats(now).map_or(0, |stats| stats.entry_time))
    });
    of_radios.chain(wires.iter().map(move |wire| wire.queue().stats(now).entry_time))
}

impl Windows {
    /// Those of the scenario. `flows` stand in it; later ones belong to no window.
    pub fn new(windows: &[TimeWindow], flows: usize) -> Windows {
        let of = |window: &TimeWindow| TimedBuckets {
            name: window.name.clone(),
            every: window.every,
            seen: 0,
            flows: (0..flows).map(|_| OfFlow::default()).collect(),
            total: OfFlow::default(),
            queues: Vec::new(),
            schemes: Vec::new(),
        };
        Windows(windows.iter().map(of).collect())
    }

    /// A bucket of window `index` ends; the first call opens the window.
    pub fn tick(
        &mut self,
        index: u32,
        now: SimTime,
        flows: &[Flow],
        nodes: &[Node],
        interfaces: &[Interface],
        wires: &[Wire],
    ) {
        let window = &mut self.0[index as usize];
        let opens = window.seen == 0;
        window.seen += 1;
        let mut total = Counted::default();
        for (own, flow) in window.flows.iter_mut().zip(flows) {
            let counted = counted(now, flow);
            total.payload += counted.payload;
            own.put(opens, counted, window.every);
        }
        window.total.put(opens, total, window.every);
        for (i, entry_time) in entry_times(now, interfaces, wires).enumerate() {
            if opens {
                window.queues.push(OfQueue { opened: entry_time, last: entry_time, ..OfQueue::default() });
            } else {
                window.queues[i].bucket(entry_time, window.every);
            }
        }
        let counted = schemes(nodes);
        if opens {
            window.schemes = counted;
        } else {
            for (own, now) in window.schemes.iter_mut().zip(counted) {
                own.last = now.last;
            }
        }
    }

    /// A row of each window for each flow, then for all flows together, `total`, where there are several, then for each queue, then for each scheme at each node. `names` are the nodes'.
    pub fn records(&self, ids: &QueueIds, flows: &[Flow], interfaces: &[Interface], names: &[&str]) -> Vec<Record> {
        let categories = |(air, Interface { station, .. }): (&String, &Interface)| {
            (0..station.queues().count()).map(|i| category_id(air, station, i)).collect::<Vec<_>>()
        };
        let mut queues: Vec<String> = ids.air.iter().zip(interfaces).flat_map(categories).collect();
        queues.extend(ids.wires.iter().cloned());
        let mut rows = Vec::new();
        for window in self.0.iter().filter(|window| window.seen > 1) {
            let length = window.every * (window.seen - 1);
            for (own, flow) in window.flows.iter().zip(flows) {
                let Some(stated) = flow.stated() else { continue };
                let id = format!("{}.{}", window.name, stated.name);
                rows.push(FlowRow::new(id, own, length, flow.connection(0).is_some()).record());
            }
            if window.flows.len() > 1 {
                let id = format!("{}.total", window.name);
                rows.push(FlowRow::new(id, &window.total, length, false).record());
            }
            for (own, id) in window.queues.iter().zip(&queues) {
                rows.push(QueueRow { id: format!("{}.{id}", window.name), of: own, length }.record());
            }
            let scheme_row =
                |own: &OfScheme| own.record(format!("{}.{}@{}", window.name, own.scheme, names[own.node]));
            rows.extend(window.schemes.iter().map(scheme_row));
        }
        rows
    }
}
